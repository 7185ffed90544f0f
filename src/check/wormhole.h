/* SPDX-License-Identifier: Apache-2.0 */
/* The wormhole grade: edges from benign states into a region, of the kinds that a flaw below the machine could make, are added one at a
 * time, and the share that a monitor notices is counted. A grade measures a projection and its sensors; it proves nothing about edges of
 * other kinds.
 *
 *     W1 silent jump   the least change of variables that is in the region; nothing is announced
 *     W2 piggy-back    an accepted step also makes that change
 *     W3 gate skip     a rejected step is done, and announced as rejected
 *     W4 two hops      one variable is written silently, and an accepted step then enters
 *     W5 mislabel      an accepted step does what another, rejected there, would do
 *     W6 lost update   of two steps that are accepted from one state both are done, the second judged as if the first had not been
 *
 * Edges of one kind, action and change from all states together are one mutant; mutants that a monitor cannot tell from each other by the
 * edge itself are one too. */
#pragma once
#include "check/twin.h"

typedef enum il_wormhole_kind {
    IL_W1_JUMP,
    IL_W2_PIGGY_BACK,
    IL_W3_GATE_SKIP,
    IL_W4_TWO_HOPS,
    IL_W5_MISLABEL,
    IL_W6_LOST_UPDATE
} il_wormhole_kind;
#define IL_WORMHOLE_KINDS 6
const char *il_wormhole_id(il_wormhole_kind kind); /* `W1` */

typedef struct il_candidate { /* something more that could be seen */
    bool sensor;
    uint32_t index; /* of the variable, or the sensor */
} il_candidate;
/* What the eye does not see yet: sensors first (bit i of `liars`: not that one), then variables that are no ghosts. At most
 * IL_CANDIDATES_MAX. */
#define IL_CANDIDATES_MAX (IL_MODEL_VARS_MAX + IL_SENSORS_MAX)
uint32_t il_eye_candidates(const il_model *m, const il_eye *eye, uint32_t liars, il_candidate *out);
il_eye il_eye_with(const il_eye *eye, il_candidate c);

typedef struct il_wormhole {
    il_wormhole_kind kind;
    uint32_t number; /* among those of its kind, from 1, in the order in which they were found: `W1.3` */
    uint32_t region;
    uint32_t orbits; /* that show the same, counted once */
    uint32_t edges;
    size_t first;            /* the run's own */
    uint64_t from, to;       /* one of its edges */
    uint32_t symbol, effect; /* what is announced, and what is done; IL_NO_SYMBOL for nothing */
    bool rejected;           /* announced as rejected */
    bool diagnosed, bounded;
    bool late;         /* it would be known, but after more steps than the limit */
    bool undetectable; /* no run ever shows a difference */
    uint32_t k;        /* when diagnosed or late */
    uint64_t x, y;     /* the ambiguous pair otherwise */
    bool advised;      /* `best` alone makes it diagnosed, after best_k steps */
    il_candidate best;
    uint32_t best_k;
} il_wormhole;

typedef struct il_wormholes {
    bool ran;
    bool bound_hit;    /* the catalogue is incomplete */
    uint32_t orbits;   /* before those of the same observation became one */
    uint32_t distinct; /* mutants; `n` of them were run */
    uint32_t dropped;  /* not drawn: the grade is SAMPLED */
    uint64_t seed;
    uint32_t n;
    il_wormhole *list;
    uint32_t diagnosed, undetectable, bounded;
} il_wormholes;

typedef struct il_wormhole_ask {
    il_eye eye;
    uint32_t liars;                        /* bit i: a sensor that reads true without a fault is nobody's advice */
    uint64_t regions;                      /* bit r: never regions of states */
    uint32_t within[IL_MODEL_REGIONS_MAX]; /* 0: no limit */
    uint32_t most;                         /* mutants to run; above, they are drawn by `seed` */
    uint64_t seed;
    uint32_t orbits_max; /* of the catalogue; 0: 65536 */
} il_wormhole_ask;

/* Results live in `arena`. IL_E_MEMORY only. */
IL_NODISCARD il_status il_wormholes_run(il_wormholes *w, const il_alloc *alloc, il_arena *arena, const il_model *m,
                                        const il_wormhole_ask *ask, const il_space_bounds *bounds, il_error *err);
