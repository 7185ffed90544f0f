/* SPDX-License-Identifier: Apache-2.0 */
/* Two versions of a machine: nothing that the old one denies may be accepted by the new one unless its `widens` list says so. The two are run side by
 * side from their initial states, symbols matched by name and payload (counterpart.h): a pair of states is what one trace, accepted by both, leads
 * them to. After a listed widening the old one is put where the new one is, and where it has no words for that nothing more is asked (`beyond`); an
 * unlisted one is a finding and is not followed.
 *
 * A symbol that only the new version has and accepts is a denial lifted as well: the old one refuses what it does not know (`no-symbol`). */
#pragma once
#include "check/counterpart.h"
#include "check/harden.h"
#include "machine/widens.h"

typedef struct il_widening_step {
    uint32_t old_symbol, new_symbol; /* IL_NO_SYMBOL where that version has none */
    il_step old_step, new_step;
} il_widening_step;

typedef struct il_widening_line {
    const char
        *id; /* `widening`, `principal`, `widens` (an entry of the list), `narrowing`, `symbol`, `rule`, `releasable`, `region` */
    il_check_verdict verdict;
    const char *
        finding; /* `WIDENED`, `GIVEN_AWAY`, `LISTED`, `NEVER_HAPPENS`, `NARROWED`, `LOST_SYMBOL`, `BREAKING_RULE`, `RELEASABLE`, `LOST_REGION`,
                            `REGION_WEAKENED`, `NOT_COMPARED`, `NOTHING_COMPARED`; NULL; static text */
    il_str action, rule; /* of a widening the old rule, of a narrowing the new one; of a region line `rule` is the region */
    il_str detail;
    uint32_t nsteps;
    il_widening_step *steps;
} il_widening_line;

typedef struct il_widening_name il_widening_name;
struct
    il_widening_name { /* what only one version has: `action admit`, `field admit.commit`, `value admit.egress=once_bound`, `variable secret` */
    il_widening_name *next;
    const char *kind;
    il_str text;
};

typedef struct il_widening {
    const il_model *old_model, *new_model;
    uint32_t states, depth; /* pairs */
    uint64_t edges;
    bool bound_hit;
    bool
        beyond; /* some listed widening leads to a state that the old version has no words for: what follows it was not compared */
    uint32_t matched; /* symbols that both have */
    uint32_t nlines, lines_cap;
    il_widening_line *lines;
    il_widening_name *only_old, *only_new;
    il_control control; /* the new version beside itself without one of its clauses: that must be found as widened */
    int exit;           /* 0, 1, 2 or 4, as in il_harden */
} il_widening;

/* Results live in `arena`. IL_E_MEMORY or IL_E_LIMIT for want of memory; a finding is no failure. */
IL_NODISCARD il_status il_widening_run(il_widening *out, const il_alloc *alloc, il_arena *arena, const il_model *new_model,
                                       const il_model *old_model, const il_space_bounds *bounds, il_error *err);
/* The result for the report, under the key `against`. */
IL_NODISCARD il_status il_widening_object(const il_widening *w, il_arena *arena, il_json **out, il_error *err);
/* The object for people; `old_name`: the old version as the command line names it, for both versions may have one name. */
void il_widening_text(const il_json *object, const char *old_name, il_buf *out);
