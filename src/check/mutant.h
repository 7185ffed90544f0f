/* SPDX-License-Identifier: Apache-2.0 */
/* Machines with one mistake each. A mutant of a cell says something else in one cell of the table; a mutant of a class changes what an action
 * does everywhere, the way a person who writes a machine errs. Both answer for every state of the product, so that what a mistake makes
 * reachable is explored as well. Not for other modules. */
#pragma once
#include "check/subject.h"

typedef enum il_mutant_op {
    /* of cells */
    IL_MUTANT_DROP = 0, /* accepted -> rejected */
    IL_MUTANT_ACCEPT,   /* rejected -> accepted, with the updates that its action would make */
    IL_MUTANT_RETARGET, /* accepted -> accepted, one variable of the state that it leads to differs */
    IL_MUTANT_WIDEN,    /* rejected -> accepted, leading where the symbol leads from another state */
    IL_MUTANT_SILENCE,  /* rejected -> accepted, and nothing changes */
    IL_MUTANT_REASON,   /* rejected by another rule */
    /* of classes: an action, everywhere */
    IL_MUTANT_DROP_ACTION,      /* it is never accepted */
    IL_MUTANT_DROP_CLAUSE,      /* one of its clauses is left out */
    IL_MUTANT_FREEZE,           /* it no longer writes one of its variables */
    IL_MUTANT_SCHEMA_WEAKEN,    /* a payload that is never accepted is taken for one that is */
    IL_MUTANT_EFFECT_DROP,      /* one word of its payload is not heard */
    IL_MUTANT_EFFECT_ORDER,     /* it is judged before its effects are added */
    IL_MUTANT_APPROVAL_KEPT,    /* an approved call does not use up its approval */
    IL_MUTANT_STALE_APPROVAL,   /* approvals outlive a gain of effects */
    IL_MUTANT_SETTLE_BELOW,     /* a settle clears a taint that it should confirm */
    IL_MUTANT_COMMIT_AT_RETURN, /* taints are charged at the settle and not at the admission */
    IL_MUTANT_WRAP              /* a count that would leave its range comes in at the other end */
} il_mutant_op;
#define IL_MUTANT_OPS 17u
const char *il_mutant_op_name(il_mutant_op op);

typedef struct il_mutant {
    il_mutant_op op;
    bool cell;
    uint64_t state; /* of a cell: which one, and what it says */
    uint32_t symbol;
    il_step step;
    uint64_t actions;   /* bit a: steps of action a may differ */
    uint32_t arg, arg2; /* what is changed: a clause, a variable, a field and its value */
} il_mutant;

/* The cells of a machine, and all its mutants by number. */
typedef struct il_mutants {
    il_subject *s;
    uint32_t nstates;
    const uint64_t *states;                              /* reachable, in the order of discovery */
    const il_step *cells;                                /* nstates x nsymbols */
    uint32_t *accepted, *rejected, naccepted, nrejected; /* cells */
    uint32_t *widened, nwidened;                         /* rejected cells whose symbol is accepted elsewhere */
    uint32_t *donor;                                     /* of each symbol: a cell that accepts it, or UINT32_MAX */
    uint64_t *counts;                                    /* of each symbol: bit v: somewhere it counts v up or down by one */
    uint32_t deviations;                                 /* states that differ from one in one variable */
    il_mutant *classes;
    uint32_t nclasses, class_at[IL_MUTANT_OPS + 1]; /* by operator */
} il_mutants;

/* `states` and `cells` are borrowed; the rest lives in `arena`. */
IL_NODISCARD il_status il_mutants_init(il_mutants *p, il_arena *arena, il_subject *s, const uint64_t *states, uint32_t nstates,
                                       const il_step *cells, il_error *err);
uint64_t il_mutants_count(const il_mutants *p, il_mutant_op op);
/* The i-th mutant of an operator. */
il_mutant il_mutants_at(const il_mutants *p, il_mutant_op op, uint64_t i);
/* What a mutant says of a step of which the machine says `base`. */
il_step il_mutant_step(const il_mutants *p, const il_mutant *u, uint64_t state, uint32_t symbol, il_step base);
/* `settle without its write of flight`; a mutant of a cell is told by its step. */
void il_mutant_text(const il_mutants *p, const il_mutant *u, il_buf *out);
