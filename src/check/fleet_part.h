/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of a fleet: the run and its lines (fleet.c), states, keys and moves of the product (fleet_move.c), what is judged of them and the way
 * there (fleet_judge.c).
 *
 * A key of the product is the shared variables and, for each instance, the number of its own state: numbers are given as states are met, and the
 * numbers of alike instances stand in order. 0 is an instance that has not begun. */
#pragma once
#include "check/fleet.h"
#include "check/numbers.h"
#include "machine/steps.h"

enum {
    IL_FLEET_LOST_START = 32,
    IL_FLEET_LOST_ANSWER,
    IL_FLEET_ALL,
    IL_FLEET_WOULD_LOSE,
    IL_FLEET_TOGETHER
}; /* bits of a hit; the invariants stand below */

typedef struct il_fleet_edge {
    uint32_t row; /* what it leads to */
    uint32_t symbol;
    bool fault;
} il_fleet_edge;

typedef struct il_fleet_row { /* one instance in one state, the shared variables included */
    uint64_t state;
    uint32_t local;  /* as in a key */
    uint32_t counts; /* bit i: for invariant i */
    bool renews, expanded;
    uint32_t first, n; /* its edges */
} il_fleet_row;

typedef struct il_fleet_work {
    const il_alloc *alloc;
    const il_model *m;
    const il_fleet *f;
    il_steps *steps;
    uint64_t shared; /* mask of the shared variables in a packed state */
    uint32_t shared_bits, local_bits;
    il_numbers states,
        locals;         /* of one instance, the shared variables included; of its own part, whose number in a key is 1 higher */
    il_fleet_row *rows; /* by number of the state */
    il_fleet_edge *edges;
    uint32_t rows_cap, nedges, edges_cap;
    bool wide, starved, began[2], carried[2]; /* of starts and of answers */
    uint32_t peak[IL_FLEET_INVARIANTS_MAX];
} il_fleet_work;

typedef struct il_fleet_joint { /* a key, spread out */
    uint64_t shared;            /* as bits of a packed state */
    uint32_t local[IL_FLEET_INSTANCES_MAX];
} il_fleet_joint;

typedef struct il_fleet_moved {
    bool done, fault;
    uint32_t symbol, taker;
    uint64_t post;
    bool begun;     /* false: the taker is an instance that has not begun */
    uint64_t giver; /* of a start and an answer */
} il_fleet_moved;

/* The number of the state's own part in a key; 0 when it is too large for one. */
uint32_t il_fleet_local(il_fleet_work *t, uint64_t state);
/* Of one instance in a state; UINT32_MAX: too large for a key, or no memory. */
uint32_t il_fleet_row_of(il_fleet_work *t, uint64_t state);
uint64_t il_fleet_pack(const il_fleet_work *t, const il_fleet_joint *j);
il_fleet_joint il_fleet_unpack(const il_fleet_work *t, uint64_t key);
/* Puts alike instances in order, and `who` (may be NULL) with them. */
void il_fleet_sort(const il_fleet_work *t, il_fleet_joint *j, uint32_t *who);
/* The state of one instance, the shared variables included. */
uint64_t il_fleet_state(const il_fleet_work *t, const il_fleet_joint *j, uint32_t slot);
/* Puts an instance into a state; false when it does not fit a key. */
bool il_fleet_moves(il_fleet_work *t, il_fleet_joint *j, uint32_t slot, uint64_t post, bool begun);
/* What a code of a step stands for. */
il_fleet_move il_fleet_decode(const il_fleet_work *t, uint32_t code, uint32_t *slot, uint32_t *symbol);
/* Takes it. */
il_fleet_moved il_fleet_make(il_fleet_work *t, const il_fleet_joint *j, uint32_t code);
/* For il_space_def: the moves of a key, and which invariants and questions it, or a move, hits. */
uint32_t il_fleet_expand(void *ctx, uint64_t key, il_space_edge *out);
uint64_t il_fleet_judge(void *ctx, uint64_t key);
uint64_t il_fleet_judge_edge(void *ctx, uint64_t key, uint32_t code, uint64_t next);
/* The way to a hit, instance by instance. */
IL_NODISCARD il_status il_fleet_witness(il_fleet_work *t, const il_space *s, const il_space_hit *hit, il_arena *arena,
                                        il_fleet_line *out, il_error *err);
/* The variable that its last step lost. */
il_str il_fleet_lost(il_fleet_work *t, const il_space *s, const il_space_hit *hit);
