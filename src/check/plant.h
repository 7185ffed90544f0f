/* SPDX-License-Identifier: Apache-2.0 */
/* The plant of a diagnosis: what a session can do, the machine's own steps and silent faults among them, as a graph of numbered states.
 * Numbers are in the order of discovery, so the same machine gives the same plant.
 *
 * Threads: one thread for each. The model outlives it. */
#pragma once
#include "check/nodes.h"
#include "machine/diagnosis.h"
#include "machine/steps.h"

#define IL_PLANT_JUMP UINT32_MAX /* a silent fault that is no declared one: straight into a region */

typedef struct il_plant_edge {
    uint32_t to;
    uint32_t symbol; /* of an accepted step; of a fault IL_NO_SYMBOL */
    uint32_t fault;  /* of a fault: which declared one, or IL_PLANT_JUMP */
} il_plant_edge;

/* The ways into a region of states: every assignment to the variables that its predicate reads for which it holds. */
typedef struct il_jumps {
    uint64_t mask;   /* bits of those variables */
    uint64_t *value; /* ascending */
    uint32_t n;
    bool too_many; /* assignments to try: the list is empty */
} il_jumps;
/* Lives in `arena`. */
IL_NODISCARD il_status il_jumps_of(const il_model *m, uint32_t region, il_arena *arena, il_jumps *out, il_error *err);
/* Variables that differ. */
uint32_t il_jumps_changes(const il_model *m, uint64_t from, uint64_t to);
/* The least number of variables that must be written to be in the region from `state`. */
uint32_t il_jumps_least(const il_model *m, const il_jumps *j, uint64_t state);

typedef struct il_plant {
    const il_model *m;
    il_steps *steps;
    il_nodes states;      /* the key is the packed state */
    size_t *first;        /* edges of state i: first[i] to first[i + 1] */
    il_plant_edge *edges; /* steps in the order of their symbols, then faults */
    size_t nedges;        /* of these */
    uint64_t *in;         /* bit r: the state is in region r (of states) */
    uint32_t judged;      /* states whose regions are there */
    uint32_t expanded;    /* states whose edges are there */
    bool stopped;         /* progress said so */
    size_t first_cap, edges_cap, in_cap;
    const il_silent *silent; /* declared faults */
    uint32_t nsilent;
    const il_jumps *jumps; /* NULL: none */
    const il_space_bounds *bounds;
} il_plant;

/* Explores the machine with its faults: the declared ones of `d`, and jumps (may be NULL). il_plant_free() in any case. IL_E_MEMORY only;
 * with states.bound_hit or stopped there was more. */
IL_NODISCARD il_status il_plant_build(il_plant *p, const il_alloc *alloc, const il_model *m, const il_diagnosis *d,
                                      const il_jumps *jumps, const il_space_bounds *bounds, il_error *err);
/* Adds a state, and later (il_plant_expand) what the machine's own steps reach from it. */
IL_NODISCARD il_status il_plant_add(il_plant *p, uint64_t state, uint32_t *at, il_error *err);
IL_NODISCARD il_status il_plant_expand(il_plant *p, bool faults, il_error *err);
void il_plant_free(il_plant *p);
bool il_plant_bounded(const il_plant *p);
uint64_t il_plant_state(const il_plant *p, uint32_t node);
/* The accepted step of a symbol; NULL when the machine rejects it there, or gives it no meaning. */
const il_plant_edge *il_plant_step(const il_plant *p, uint32_t node, uint32_t symbol);
