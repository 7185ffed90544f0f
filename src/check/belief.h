/* SPDX-License-Identifier: Apache-2.0 */
/* The belief set: in which states a session may be, by what a monitor saw of it (machine/diagnosis.h says what is seen).
 *
 * The plant is the machine with its hidden actions and its fault edges: its states are those that any of them can reach from
 * the initial one, numbered once, with the successors of each listed beforehand, so that an observation costs a look-up for
 * each state that is possible. The set is exact: it holds the states that some run of the plant with these observations ends
 * in, no other, and so always the true one (tests/unit/test_belief.c).
 *
 *     il_estimator *p = NULL;
 *     IL_TRY(il_estimator_new(alloc, model, NULL, NULL, &p, err));    IL_E_LIMIT: larger than the bounds, nothing can be said
 *     il_belief b = {0};
 *     IL_TRY(il_belief_begin(p, &b, err));
 *     for each observation: IL_TRY(il_belief_see(p, &b, &seen, err));
 *     il_belief_regions r = il_belief_judge(p, &b);    b.n == 0: no run of the plant looks like this
 *     il_belief_free(p, &b);
 *     il_estimator_free(p);
 *
 * A set is a list of its members; all sets of an estimator share its bitmap. Threads: an estimator and its sets, one thread. */
#pragma once
#include "check/plant.h"

#define IL_ESTIMATOR_STATES_MAX (1u << 20)
#define IL_ESTIMATOR_BYTES_MAX ((size_t)1 << 30)

typedef struct il_estimator_options {
    uint64_t sees; /* variables that are seen, bit v */
    uint32_t uses; /* sensors that are read, bit i */
    bool verdicts; /* accept, reject and the reason are seen */
    bool faults;   /* the document's fault edges may happen */
} il_estimator_options;

typedef struct il_estimator_bounds {
    uint32_t states; /* 0: IL_ESTIMATOR_STATES_MAX */
    size_t bytes;    /* 0: IL_ESTIMATOR_BYTES_MAX; of states and successors */
} il_estimator_bounds;

typedef struct il_estimator il_estimator;

/* What the document's `diagnosis` says; without that section all but ghosts is seen and nothing is silent. */
il_estimator_options il_estimator_options_of(const il_model *m);
/* `options` NULL: those of the document. The model outlives the plant. IL_E_LIMIT above a bound, IL_E_MEMORY. */
IL_NODISCARD il_status il_estimator_new(const il_alloc *alloc, const il_model *m, const il_estimator_options *options,
                                        const il_estimator_bounds *bounds, il_estimator **out, il_error *err);
void il_estimator_free(il_estimator *p);
/* Its states, successors and regions; borrowed. */
const il_plant *il_estimator_plant(const il_estimator *p);
uint64_t il_estimator_view(const il_estimator *p, uint64_t state);
/* Whether symbols of this action are seen. */
bool il_estimator_sees(const il_estimator *p, uint32_t symbol);
/* Whether hidden steps and faults alone, any number of them, lead from one packed state to another. Equal states: true. */
bool il_estimator_drifts(il_estimator *p, uint64_t from, uint64_t to);

typedef struct il_observation {
    bool gap;        /* any number of hidden steps and faults may have come before this one, whatever they changed that is seen */
    bool has_before; /* what was seen just before the step */
    uint64_t before;
    uint32_t symbol;  /* IL_NO_SYMBOL: none was seen. With `gap` a look at the state, else one hidden edge that shows */
    bool has_verdict; /* ignored when the plant's monitor sees none */
    bool accepted;
    uint8_t rule; /* of a rejection, 0: not seen */
    bool has_after;
    uint64_t after;
} il_observation;

typedef struct il_belief {
    uint32_t n, cap;
    uint32_t *members;
    uint32_t most; /* the largest that it ever was */
} il_belief;

/* Just begun: the initial state, and what hidden steps make of it unseen. */
IL_NODISCARD il_status il_belief_begin(il_estimator *p, il_belief *b, il_error *err);
/* Nothing is known but what is seen now. */
IL_NODISCARD il_status il_belief_any(il_estimator *p, il_belief *b, uint64_t view, il_error *err);
/* After IL_E_MEMORY the set is empty: nothing is known. */
IL_NODISCARD il_status il_belief_see(il_estimator *p, il_belief *b, const il_observation *seen, il_error *err);
bool il_belief_has(const il_estimator *p, const il_belief *b, uint64_t state);
/* How many members are in a region. */
uint32_t il_belief_in(const il_estimator *p, const il_belief *b, uint32_t region);
void il_belief_free(const il_estimator *p, il_belief *b);

/* Bit r: region r, one of states. `possible`: some member is in it; `certain`: there are members and all are. */
typedef struct il_belief_regions {
    uint64_t possible, certain;
} il_belief_regions;
il_belief_regions il_belief_judge(const il_estimator *p, const il_belief *b);
