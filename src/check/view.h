/* SPDX-License-Identifier: Apache-2.0 */
/* One way to look at a machine: where its steps come from, what is taken away, what an adversary may write, what an observer remembers.
 * A view makes the definition that the explorer runs. */
#pragma once
#include "check/subject.h"

typedef enum il_observer {
    IL_OBSERVE_NOTHING,
    IL_OBSERVE_GHOSTS,    /* effects ever brought, by the payloads that brought them; nothing clears them */
    IL_OBSERVE_CONFIRMED, /* taints that a settle or a join confirmed; refinement cannot reach these */
    IL_OBSERVE_APPROVALS  /* its own count of requests and grants */
} il_observer;

/* The adversary that the machine declares (`adversarial`). */
typedef enum il_declared {
    IL_DECLARED_NONE = 0,
    IL_DECLARED_TYPED,  /* writes what it may, where it may */
    IL_DECLARED_AT_WILL /* the same variables, any value at any time */
} il_declared;

typedef struct il_view {
    il_subject *subject;
    bool table;            /* steps come from the sealed table through il_machine_step(), else from the guards */
    il_variant variant;    /* with guards only */
    uint64_t dropped;      /* bit i: action i is never taken */
    uint64_t raise, lower; /* bit v: the adversary may set variable v above, below its value */
    il_declared declared;  /* beside these */
    il_observer observer;
    uint64_t regions; /* bit r: region r is judged */
    uint64_t stop;    /* as in il_space_def */
    bool any;         /* likewise */
    /* Steps in the place of the guards', as il_steps_row() gives them: those of a mutant. NULL: the guards. */
    il_steps_edges (*rows)(void *ctx, uint64_t state);
    void *rows_ctx;
    bool saturated; /* the observer's count reached its ceiling: inconclusive */
} il_view;

/* The bit of the finding that the approvals observer makes. */
#define IL_VIEW_UNAPPROVED (UINT64_C(1) << 63)

/* Bits that the observer needs above the packed state. */
uint32_t il_view_bits(const il_view *v);
/* Explores the view. IL_E_LIMIT when state and observer do not fit 64 bits together. */
IL_NODISCARD il_status il_view_explore(il_view *v, il_space *out, il_error *err);
/* What il_view_explore() runs, for a search that begins elsewhere than in the initial state. */
void il_view_define(il_view *v, il_space_def *out);
/* The steps of a machine's state, whoever observes them and but for the adversary's writes; borrowed until the next call. */
il_steps_edges il_view_steps(il_view *v, uint64_t state);
/* Of the view's regions those that a step by the symbol may be in. */
static inline uint64_t il_view_judges(const il_view *v, uint32_t symbol) {
    return v->regions & (v->rows ? v->subject->judged : v->subject->judged_own)[symbol];
}
/* The regions that a state, or a step between two, is in. */
uint64_t il_view_judge(const il_view *v, uint64_t key);
uint64_t il_view_judge_step(const il_view *v, uint64_t key, uint32_t symbol, uint64_t next);
uint64_t il_view_initial(const il_view *v);
/* What an observer that only sets and clears bits remembers after an accepted step: (bits & ~clear) | set. Not of IL_OBSERVE_APPROVALS. */
typedef struct il_view_effect {
    uint64_t clear, set;
} il_view_effect;
il_view_effect il_view_remember(const il_view *v, uint32_t symbol, uint64_t next);
/* Bits of the packed state that il_view_judge() reads (`state`), and il_view_judge_step() of the states before and after. */
typedef struct il_view_reads {
    uint64_t state, pre, next;
} il_view_reads;
il_view_reads il_view_judged(const il_view *v);
uint64_t il_view_extra(const il_view *v, uint64_t key);
uint64_t il_view_key(const il_view *v, uint64_t state, uint64_t extra);
/* The machine's own part of a key. */
uint64_t il_view_state(const il_view *v, uint64_t key);
