/* SPDX-License-Identifier: Apache-2.0 */
/* A run of mutation.h while it lasts, for the files that it is written in: the machine's cells and explored views, and the mutant in hand. */
#pragma once
#include "check/behind.h"
#include "check/mutation.h"
#include "check/view.h"

#define IL_MUTATING_OTHERS 1024u
#define IL_MUTATING_VIEWS (8 + 2 * IL_MODEL_REGIONS_MAX)

/* Counts of what the accepted and rejected steps of the reachable states do. */
typedef struct il_mutating_survey {
    uint64_t accepted[IL_MODEL_ACTIONS_MAX], fired[IL_MODEL_RULES_MAX], moved[IL_MODEL_VARS_MAX];
    uint64_t raised[IL_MODEL_VARS_MAX][IL_MODEL_ACTIONS_MAX], lowered[IL_MODEL_VARS_MAX][IL_MODEL_ACTIONS_MAX];
    uint64_t unnamed;                       /* steps that lower a taint which their payload does not name */
    uint64_t inside[IL_MODEL_REGIONS_MAX];  /* gated regions: states and steps in them */
    uint64_t refused[IL_MODEL_REGIONS_MAX]; /* rejections that break an invariant */
} il_mutating_survey;

/* A question that is asked of each mutant, and the lines that it decides. */
typedef struct il_mutating_view {
    il_view v;
    uint64_t bits;    /* of the hits that matter */
    uint8_t line[64]; /* of each bit */
    bool adversary;   /* its writes are the unmediated ones: other ones when a mutant has others */
    il_space base;
    uint32_t *order, *from; /* nodes by state: order[from[i] .. from[i + 1]] are those of state i */
} il_mutating_view;

/* A run. */
typedef struct il_mutating {
    il_mutation *x;
    il_harden *h;
    il_subject *s;
    il_arena arena; /* of the run's own */
    il_space plain;
    uint64_t *states;
    il_step *cells;
    uint32_t *to; /* of each cell: the place of the state that it leads to, UINT32_MAX when it is not accepted */
    il_mutating_view views[IL_MUTATING_VIEWS];
    uint32_t nviews, nearly; /* nearly: the first ones, which are asked before the survey is looked at */
    bool sets;               /* all checks that kill a mutant are asked for, not only the first */
    il_mutating_survey base, now;
    uint64_t read;         /* variables that `never` regions of states read */
    uint64_t raise, lower; /* the machine's unmediated writes */
    il_steps_edge *row, *copy;
    il_behind_room room;
    uint32_t *queue;
    uint32_t *ways; /* into each state, from states that were found before it */
    bool *reached;
    const il_mutant *u;     /* in hand */
    il_steps_edge *changed; /* its steps that the machine has not, by state: those of place i stand from changed_at[i] */
    uint32_t *changed_at;
    il_steps_edge *kept; /* rows of the class in hand; kept_n: how many steps, UINT32_MAX for an empty place */
    uint64_t *kept_of;
    uint32_t *kept_n, kept_bits;
    uint32_t *differs, ndiffers; /* cells of which it says something else */
    bool removes;                /* it lacks an accepted step of the machine */
    bool only;                   /* only the changed steps are looked at */
    bool fault, bounded;
    bool saturated;  /* an observer lost count: its check no longer passes */
    uint8_t *within; /* by pairs of places: whether one allows no more than the other; NULL when there are too many */
    uint64_t *pairs;
    uint64_t others[IL_MUTATING_OTHERS]; /* states beyond the machine's that were compared */
    uint32_t nothers;
    uint64_t *signatures; /* of the classes so far */
    uint32_t nsignatures;
    int coverage, mediation, recovery, sticky; /* lines, or -1 */
} il_mutating;

/* ---- the mutant in hand (mutation_rows.c) ---- */

/* What it says anywhere; at a cell of the machine the second is cheaper. */
il_step il_mutating_step(const il_mutating *r, uint64_t state, uint32_t symbol);
il_step il_mutating_step_at(const il_mutating *r, uint32_t cell);
/* Its steps, for a view (`rows`); with r->only those alone that the machine has not. */
il_steps_edges il_mutating_rows(void *ctx, uint64_t state);
/* What a class says otherwise of the states that the machine knows: changed, differs, removes. */
void il_mutating_compare(il_mutating *r);

/* ---- questions (mutation_views.c) ---- */

/* The lines of the report that passed, in the order in which mutants are asked; the place of one, or -1; the views that decide them. */
void il_mutating_lines(il_mutating *r);
int il_mutating_line(const il_mutating *r, const char *id, uint32_t region);
void il_mutating_questions(il_mutating *r);
/* Explores each view of the machine. */
IL_NODISCARD il_status il_mutating_views(il_mutating *r, il_error *err);
IL_NODISCARD il_status il_mutating_explore(il_mutating *r, const il_view *from, bool mutant, uint64_t stop, il_space *out,
                                           il_error *err);
/* The mutant in hand, seen through `v` (which stays where it is), beside what the machine reaches. */
il_behind il_mutating_behind(il_mutating *r, il_view *v, const il_space *base, uint64_t bits);
/* Asks one view about it: a mutant of a cell; of a class. *kills gains the lines that it does not pass. */
IL_NODISCARD il_status il_mutating_ask_cell(il_mutating *r, const il_mutating_view *w, uint32_t place, bool removes,
                                            uint64_t *kills, il_error *err);
IL_NODISCARD il_status il_mutating_ask_class(il_mutating *r, const il_mutating_view *w, uint64_t *kills, il_error *err);
/* A mutant with unmediated writes that the machine has not: the questions that ask about them are asked anew. */
IL_NODISCARD il_status il_mutating_ask_adversary(il_mutating *r, uint64_t raise, uint64_t lower, uint64_t *kills, il_error *err);

/* ---- counts (mutation_survey.c) ---- */

/* The cells of a state of the machine, added (1) or taken away (UINT64_MAX). */
void il_mutating_count_row(il_mutating *r, il_mutating_survey *y, uint32_t place, uint64_t sign);
void il_mutating_writes(const il_mutating *r, const il_mutating_survey *y, uint64_t *raise, uint64_t *lower);
/* The mutant's survey, in r->now: of a cell by what it changes; whole by an exploration. *signature (may be NULL) tells it from others. */
IL_NODISCARD il_status il_mutating_survey_cell(il_mutating *r, uint32_t place, il_error *err);
IL_NODISCARD il_status il_mutating_survey_whole(il_mutating *r, uint64_t *signature, il_error *err);
/* The lines that are decided by it. */
IL_NODISCARD il_status il_mutating_judge_survey(il_mutating *r, uint64_t *kills, il_error *err);

/* ---- survivors (mutation_survivor.c) ---- */

/* Variables by which some state of a session would be in a `never` region if they had another value. */
void il_mutating_reads(il_mutating *r);
/* Notes the mutant in hand as one that no check tells from the machine. */
IL_NODISCARD il_status il_mutating_survives(il_mutating *r, il_error *err);
