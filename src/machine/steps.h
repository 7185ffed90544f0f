/* SPDX-License-Identifier: Apache-2.0 */
/* A model's steps at speed: decision tables over the few variables that guards and updates read, filled by il_model_look() and
 * il_model_in_region() when a combination of their values is met first. There is one meaning of a guard, the evaluator's; these only remember
 * it, and where a guard reads too much for a table, or memory is short, it asks the evaluator each time.
 *
 *     il_steps *p = NULL;
 *     IL_TRY(il_steps_new(&alloc, model, &p, err));
 *     il_steps_edges edges = il_steps_row(p, NULL, state);    borrowed until the next call on p
 *     il_steps_free(p);
 *
 * Threads: one thread for each. The model outlives it. */
#pragma once
#include "machine/model.h"

typedef struct il_steps il_steps;

typedef struct il_steps_edge {
    uint64_t next;
    uint32_t symbol;
    bool fault; /* the step has no meaning; `next` is the state itself */
} il_steps_edge;
typedef struct il_steps_edges {
    const il_steps_edge *edge;
    uint32_t n;
} il_steps_edges;

/* IL_E_MEMORY only. */
IL_NODISCARD il_status il_steps_new(const il_alloc *alloc, const il_model *m, il_steps **out, il_error *err);
void il_steps_free(il_steps *p);

/* il_model_eval(m, variant, state, symbol).step; `variant` may be NULL. */
il_step il_steps_one(il_steps *p, const il_variant *variant, uint64_t state, uint32_t symbol);
/* All steps of a state that are not rejected, in symbol order. With `variant->deleted` those actions are missing. */
il_steps_edges il_steps_row(il_steps *p, const il_variant *variant, uint64_t state);
/* The same of one action. */
il_steps_edges il_steps_of(il_steps *p, uint32_t action, uint64_t state);
/* Bits of the packed state on which an action's steps depend, and those that they write. false: not known, it may be all of them. */
bool il_steps_touches(const il_steps *p, uint32_t action, uint64_t *reads, uint64_t *writes);
/* il_model_in_region() */
bool il_steps_in_region(il_steps *p, uint32_t region, uint64_t pre, uint32_t symbol, uint64_t next);
/* Which of these regions a step is in; regions of states have no say. */
uint64_t il_steps_in_regions(il_steps *p, uint64_t regions, uint64_t pre, uint32_t symbol, uint64_t next);
/* Bits of the packed state before and after a step that a region's answer depends on; of a region of states those before. */
void il_steps_region_reads(const il_steps *p, uint32_t region, uint64_t *pre, uint64_t *next);
/* The same of a region of steps and one action. */
void il_steps_region_reads_of(const il_steps *p, uint32_t region, uint32_t action, uint64_t *pre, uint64_t *next);
