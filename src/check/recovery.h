/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery convergence: do corrective actions alone lead from every state that a forbidden region holds to the goal?
 *
 * Danger states: every state of the full product that a `never` region of states holds (scope PRODUCT), when the product is within 2^24 and the
 * caller's bound; else (scope REACHABLE, which passes only when it was not the caller's bound) those among what the machine and its adversary reach,
 * with one write of any variable at any time. Ghosts remember what happened: a danger state has them at their first value, and nobody writes them.
 * Goal: `recovery: {goal: …}` of the document, else `phase` is `ended` and `flight`, `open` and `crossing` are at their first value.
 * X is what accepted steps of corrective actions (naps included) reach from the danger states; a step that changes nothing is none.
 *
 *  STUCK                a state of X outside the goal with no corrective step
 *  DIVERGES             corrective steps go round outside the goal, and from there the goal cannot be reached at all
 *  RECOVERY_UNSAFE      a corrective step inside X enters a `never` region of states that was not held before it (so a region that was left is not
 *                       entered again), or is itself in a `never` region of steps
 *  RESTORES_COMPROMISE  a corrective step inside X lowers a `taint: source` or a sticky variable
 *  FRAGILE              others undo it. Before each corrective step all other actions may take any number of accepted steps. Robust: wherever all
 *                       together come from a danger state before the goal, there is a corrective step that brings the goal nearer whatever the
 *                       others do next, so that a bounded number of corrective steps (`interleaved`) is enough; and none of the others' steps
 *                       on the way enters a `never` region anew. They may delay; what happens after the goal is another matter
 *  NOT_LEGAL_IN_FLIGHT  where the machine can freeze (`phase` has the word `quarantined`): a danger state with a live way out from which no single
 *                       corrective step freezes. Frozen: no other action changes anything, whatever corrective steps (settles) follow
 *
 * Strength: STRONG, no cycle outside the goal, so any order ends within `longest` steps; WEAK, cycles exist and the goal stays reachable from each
 * state. Both pass. Findings stand in the order above; the check's line has the first, its detail all. Larger than the bounds: INCONCLUSIVE. */
#pragma once
#include "check/trace.h"
#include "json/node.h"

typedef enum il_recovery_strength { IL_RECOVERY_NONE = 0, IL_RECOVERY_WEAK, IL_RECOVERY_STRONG } il_recovery_strength;
typedef enum il_recovery_scope { IL_RECOVERY_PRODUCT, IL_RECOVERY_REACHABLE } il_recovery_scope;
typedef enum il_recovery_flight { IL_RECOVERY_NOTHING_FREEZES = 0, IL_RECOVERY_LEGAL, IL_RECOVERY_NOT_LEGAL } il_recovery_flight;

typedef struct il_recovery_finding {
    const char *word; /* static text */
    uint64_t from;    /* where the witness begins: a danger state */
    il_trace witness;
} il_recovery_finding;
#define IL_RECOVERY_FINDINGS 7

typedef struct il_recovery {
    bool ran; /* the danger states are known and everything from them was explored */
    il_recovery_scope scope;
    il_recovery_strength strength;
    bool robust;
    bool restoration;   /* the goal that is reached holds the initial state; else the result is containment */
    bool inside;        /* some state of the goal that is reached is still in a region */
    uint64_t danger;    /* states */
    uint64_t in_flight; /* of them with a live way out */
    bool begins;        /* some danger state is outside the goal: `outside` is the first */
    uint64_t outside;
    uint64_t apart;   /* the first in a region that `outside` is not in; `outside` itself when there is none */
    uint32_t states;  /* X */
    uint32_t longest; /* STRONG: corrective steps to the goal, at most */
    uint32_t
        interleaved; /* robust: corrective steps to the goal whatever others do in between, at most, by the best choice of them */
    il_recovery_flight flight;
    uint64_t lasso_from; /* WEAK: the shortest way into a cycle and once round */
    uint32_t lasso_stem; /* steps before the cycle */
    il_trace lasso;
    uint32_t nfindings;
    il_recovery_finding findings[IL_RECOVERY_FINDINGS];
} il_recovery;

/* The goal, as above; false everywhere when the machine has neither. */
bool il_recovery_goal(const il_model *m, uint64_t state);
const char *il_recovery_strength_name(il_recovery_strength s); /* `STRONG` */
/* The object of the report; NULL when memory ran out. */
il_json *il_recovery_object(const il_model *m, const il_recovery *r, il_arena *arena);
