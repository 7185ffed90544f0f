/* SPDX-License-Identifier: Apache-2.0 */
/* An exploration while it runs, for the two files that run it. Not for other files. */
#pragma once
#include "check/space.h"
#include "check/team.h"

/* Several threads expand pieces of a layer; one takes what they found into the nodes, in the order in which it alone would have found it. */
typedef struct il_space_crew il_space_crew;

enum {
    IL_SPACE_SPAN =
        1024 /* states that one thread takes; a bound that was reached is looked at after as many, so that it ends the same way */
};

typedef struct il_space_run {
    il_space *s;
    const il_space_bounds *bounds;
    uint32_t to;       /* end of the layer in hand */
    uint64_t settled;  /* hits of earlier layers, which are shorter and stay */
    uint16_t best[64]; /* writes on the way to each hit of this layer */
    uint32_t work;
    uint64_t steps;      /* that were looked at and not yet spent */
    uint64_t spanned;    /* steps when the span in hand began */
    uint64_t full;       /* the same of the span in which a bound was reached first */
    il_space_crew *crew; /* NULL: one thread */
    bool alone;          /* no crew was to be had */
} il_space_run;

IL_NODISCARD il_status il_space_add(il_space_run *run, uint64_t key, uint32_t parent, uint16_t writes, il_error *err);
/* Takes a hit for each new bit; among hits of one layer the one with fewest writes stays. */
void il_space_hit_take(il_space_run *run, uint64_t bits, const il_space_hit *hit);
/* After a span that ends with state `i`: true when enough was looked at beyond a bound, or in all. */
bool il_space_spanned(il_space_run *run);
/* Work that may still be spent. */
uint64_t il_space_left(const il_space_bounds *bounds);
/* false: whoever bounds the exploration ends it. */
bool il_space_goes_on(il_space_run *run, uint32_t expanded);

/* NULL where there are no more threads or no memory for them. */
il_space_crew *il_space_crew_new(const il_space *s, uint32_t workers);
void il_space_crew_free(il_space_crew *c);
/* States `from` up to the layer's end; *ended as in the search by one thread. */
IL_NODISCARD il_status il_space_crew_layer(il_space_run *run, uint32_t from, bool *ended, il_error *err);
/* What the nodes from `from` on are in. */
void il_space_crew_judge(il_space_run *run, uint32_t from);
