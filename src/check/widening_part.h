/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of a comparison: the pairs of states and the run (widening.c), what they show of steps (widening_lines.c), of regions
 * (widening_regions.c), and what only one version has (widening_names.c). */
#pragma once
#include "check/numbers.h"
#include "check/widening.h"
#include "machine/steps.h"

typedef struct il_widening_first { /* where something was met first; `node` UINT32_MAX: nowhere */
    uint32_t node, code;
} il_widening_first;

typedef struct il_widening_work {
    const il_alloc *alloc;
    il_arena *arena;
    il_error *err;
    il_widening *out;
    const il_model *was, *now;
    const il_variant *variant; /* of the new machine; NULL: as it is */
    il_steps *was_steps, *now_steps;
    il_counterpart forth, back;
    il_numbers was_states, now_states;
    il_space space;
    bool starved, wide, compared;
    uint32_t kinds;                               /* reasons to deny: the old rules from 1, a fault 0, `no-symbol` last */
    il_widening_first *widened, *narrowed, *lost; /* by (new action, kind); (old action, new rule); old action */
    uint32_t *nlost;                              /* symbols of each old action */
    bool *symbol_lost;
} il_widening_work;

typedef struct il_widening_pair {
    uint64_t was, now;
} il_widening_pair;

/* The states of a pair. */
il_widening_pair il_widening_at(const il_widening_work *w, uint64_t key);
/* Codes: the old machine's symbols, then the new one's that no old symbol is the counterpart of. */
il_widening_step il_widening_step_of(il_widening_work *w, il_widening_pair p, uint32_t code);
/* The pair after a step; false when it is not followed. *beyond: the old machine has no words for that state. */
bool il_widening_next(const il_widening_work *w, const il_widening_step *s, il_widening_pair *p, bool *beyond);
/* A kind of denial, by name; the entry of the list that has it (of an action; UINT32_MAX: of any), UINT32_MAX when none has. */
uint32_t il_widening_kind(const il_widening_work *w, il_step step);
il_str il_widening_kind_name(const il_widening_work *w, uint32_t kind);
uint32_t il_widening_listed(const il_widening_work *w, uint32_t action, il_str rule);

/* A new line; NULL without memory. */
il_widening_line *il_widening_line_new(il_widening_work *w, const char *id, il_check_verdict verdict, const char *finding);
/* The steps to where something was met first. false: no memory. */
bool il_widening_trace(il_widening_work *w, const il_widening_first *at, il_widening_line *l);
IL_NODISCARD il_status il_widening_no_memory(const il_widening_work *w);

/* Lines about steps, principals, entries of the list and rules, and behind the regions the narrowings. */
IL_NODISCARD il_status il_widening_denials(il_widening_work *w);
IL_NODISCARD il_status il_widening_narrowings(il_widening_work *w);
IL_NODISCARD il_status il_widening_regions(il_widening_work *w);
/* What only one version has, for the report. */
IL_NODISCARD il_status il_widening_only(il_widening_work *w);
