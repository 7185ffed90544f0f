/* SPDX-License-Identifier: Apache-2.0 */
/* The twin plant: two runs that look the same to a monitor, x with faults and y without, step by step. A pair is ambiguous when x has
 * entered the region and y has not. When ambiguity can last for ever, no monitor can tell; else it ends after at most so many steps of x.
 *
 * A step is an accepted step of the machine, or a silent fault. A rejected call changes nothing and is no step; but a monitor that sees no
 * verdicts takes it for a step of the other run. Threads: one thread for each. */
#pragma once
#include "check/harden.h"
#include "check/plant.h"

typedef struct il_eye { /* what is seen */
    uint64_t sees;
    uint32_t uses;
    bool verdicts;
    bool closed;    /* a control: nothing at all is seen */
    bool announced; /* a control: whatever enters the region says so */
} il_eye;

typedef struct il_twin_root { /* states of the plant */
    uint32_t x, y;
} il_twin_root;

typedef struct il_twin_ask {
    uint32_t region;
    il_eye eye;
    bool now;                  /* asks not whether x has entered the region, but whether it is in it now; y may have faults too */
    bool brief;                /* end as soon as it is known that ambiguity can last: no shortest witness */
    const il_twin_root *roots; /* start there rather than with two initial states */
    size_t nroots;
} il_twin_ask;

typedef struct il_twin_step {
    uint32_t x, y;             /* symbol of the step; IL_NO_SYMBOL: a fault, IL_TWIN_WAITS: none */
    uint32_t x_fault, y_fault; /* as in il_plant_edge */
    uint64_t x_pre, x_post, y_pre, y_post;
    bool seen;      /* something of it is */
    bool ambiguous; /* after it */
} il_twin_step;
#define IL_TWIN_WAITS (UINT32_MAX - 1)

typedef enum il_twin_word {
    IL_TWIN_BOUNDED = 0, /* a bound was reached */
    IL_TWIN_UNENTERED,   /* no run enters the region, or none stays outside */
    IL_TWIN_DIAGNOSABLE,
    IL_TWIN_BLIND
} il_twin_word;

typedef struct il_twin {
    il_twin_word word;
    uint32_t k;      /* DIAGNOSABLE: steps of x after it entered, by which it is known; 0: at once */
    uint32_t events; /* the same, counting only steps that are seen */
    uint32_t states; /* of the plant */
    uint32_t pairs, ambiguous;
    uint64_t edges; /* of the pairs */
    /* BLIND: the shortest run into lasting ambiguity, then `loop` steps that repeat for ever (0: x stops there).
     * DIAGNOSABLE with k > 1: a longest run of ambiguity. */
    uint32_t nsteps, loop;
    il_twin_step *steps; /* in the arena */
    uint64_t x, y;       /* the ambiguous pair: where the loop begins, or where a longest run of ambiguity ends */
} il_twin;

/* What is seen of each state of the plant. */
IL_NODISCARD il_status il_eye_views(const il_plant *p, const il_eye *eye, const il_alloc *alloc, uint64_t **out, il_error *err);
/* Whether steps of the action are seen as such. */
bool il_eye_hides(const il_plant *p, const il_eye *eye, uint32_t symbol);

/* The plant is not bounded. The result's steps live in `arena`; everything else is given back. IL_E_MEMORY only. */
IL_NODISCARD il_status il_twin_run(const il_plant *p, const il_twin_ask *ask, const il_space_bounds *bounds, il_arena *arena,
                                   il_twin *out, il_error *err);
/* All pairs of runs that look the same, both without faults, y outside the region: keys are x << 32 | y, and bit 63 when x was inside (il_twin_x()
 * of twin_part.h). il_nodes_free() in any case. */
IL_NODISCARD il_status il_twin_pairs(const il_plant *p, const il_twin_ask *ask, const il_space_bounds *bounds, il_nodes *out,
                                     il_error *err);
