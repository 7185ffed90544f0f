/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of recovery: the run (recovery.c), what is found (recovery_find.c), the corrective steps alone (recovery_alone.c), with what others
 * do in between (recovery_together.c), and the planted mistakes (recovery_control.c). */
#pragma once
#include "check/recovery_graph.h"

typedef struct il_recovery_run {
    il_harden *h;
    il_check *check;
    uint64_t regions, edges;        /* never regions of states, of steps */
    uint32_t quarantined;           /* value of `phase`; UINT32_MAX when the machine cannot freeze */
    uint64_t *danger, *danger_held; /* and the regions that hold each */
    uint32_t ndanger, cap;
    bool all;              /* no other state is in one */
    uint64_t raise, lower; /* variables that an adversary writes */
    il_steps_edge *row;    /* room for the steps of one state */
    bool full;             /* a bound was reached */
    bool cut;              /* the caller's bound left danger states out that would have been asked about */
} il_recovery_run;

/* Fills in what is asked of the machine; false when it declares no recovery. */
bool il_recovery_begin(il_recovery_run *r, il_harden *h);
il_recovery *il_recovery_out(const il_recovery_run *r);
/* The never regions of states that hold a state. */
uint64_t il_recovery_held(const il_recovery_run *r, uint64_t state);
/* Looks that up for all nodes of a graph, as far as there is memory for it; the same, from there. */
void il_recovery_hold(const il_recovery_run *r, il_recover_graph *g);
uint64_t il_recovery_held_of(const il_recovery_run *r, const il_recover_graph *g, uint64_t state);
/* The accepted steps of corrective actions, or of all others, in r->row; how many. */
uint32_t il_recovery_row(const il_recovery_run *r, uint64_t state, bool corrective);
/* Whether a step is in a never region of steps, or enters one of states that was not held before it. One that changes nothing is none. */
bool il_recovery_enters(const il_recovery_run *r, const il_recover_graph *g, uint64_t state, uint64_t held,
                        const il_steps_edge *e);

/* Asked by each search of a graph at every node or round, `done` of them so far; false: whoever bounds it ends it, and the graph is `full`. */
bool il_recovery_goes_on(const il_recovery_run *r, il_recover_graph *g, uint32_t done);

bool il_recovery_has(const il_recovery_run *r, const char *word);
IL_NODISCARD il_status il_recovery_find(il_recovery_run *r, il_recover_graph *g, const char *word, const il_recover_way *way,
                                        il_error *err);
/* A finding that the step by `symbol` from `node` makes, the first of its word. */
IL_NODISCARD il_status il_recovery_find_step(il_recovery_run *r, il_recover_graph *g, const char *word, uint32_t node,
                                             uint32_t symbol, uint64_t next, il_recover_way *way, il_error *err);
/* The first node of the search that has all of `with` and none of `without`; UINT32_MAX when there is none. */
uint32_t il_recovery_first(const il_recover_graph *g, unsigned with, unsigned without);
uint32_t il_recovery_degree(const il_recover_list *l, uint32_t node);

/* STUCK, DIVERGES and the strength; RECOVERY_UNSAFE and RESTORES_COMPROMISE; all of these and FAULT. */
IL_NODISCARD il_status il_recovery_converge(il_recovery_run *r, il_recover_graph *g, il_recover_way *way, il_error *err);
IL_NODISCARD il_status il_recovery_judge_steps(il_recovery_run *r, il_recover_graph *g, il_recover_way *way, il_error *err);
IL_NODISCARD il_status il_recovery_alone(il_recovery_run *r, il_recover_graph *g, il_error *err);
/* FRAGILE and NOT_LEGAL_IN_FLIGHT. */
IL_NODISCARD il_status il_recovery_together(il_recovery_run *r, il_recover_graph *g, const il_recover_graph *alone,
                                            il_error *err);
