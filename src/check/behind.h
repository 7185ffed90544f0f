/* SPDX-License-Identifier: Apache-2.0 */
/* What lies behind steps that a changed machine has and the machine has not, where the machine was explored in full: keys that it does not reach, and
 * what they and the steps to them are in. Where the change takes no step away, that and what the machine itself hits is all that the changed one hits.
 * It says what is hit and not how; an exploration says how.
 *
 * Threads: one for each. */
#pragma once
#include "check/space.h"

/* Room for keys, used again for one change after the other. */
typedef struct il_behind_room {
    uint64_t *keys;
    uint32_t *slots, *stamps;
    uint32_t n, bits, stamp;
    il_space_edge *edges; /* for the steps of one key */
} il_behind_room;
/* For `most` keys at least, and `nsteps` steps of one key. In `arena`. */
IL_NODISCARD il_status il_behind_room_new(il_behind_room *room, il_arena *arena, uint32_t most, size_t nsteps, il_error *err);

typedef struct il_behind {
    const il_space *base; /* the machine's */
    il_behind_room *room;
    il_space_def def; /* the changed machine; while *only, its expand gives only the steps that differ */
    bool *only;
    const il_space_bounds *bounds; /* whose time and work are asked about; may be NULL */
    uint64_t bits, hits;           /* hits that matter; those that were found */
    uint64_t steps;                /* that were looked at and not yet spent */
    bool fault;                    /* some step has no meaning */
    bool full;                     /* no more room: nothing may be concluded */
} il_behind;

/* After the fields up to `bits` were set: nothing is behind yet. */
void il_behind_begin(il_behind *b);
/* Takes the steps of a key: those that differ, of one that the machine reaches; all of them, of one that it does not. */
void il_behind_follow(il_behind *b, uint64_t key, bool only);
/* And the steps of all keys that were met so, until every bit is hit. */
void il_behind_finish(il_behind *b);
/* Whether nothing was left out and an exploration of the changed machine could not meet a bound either: then what was found is all there is. */
bool il_behind_whole(il_behind *b);
