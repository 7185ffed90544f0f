/* SPDX-License-Identifier: Apache-2.0 */
#include "check/recovery.h"

#include "check/report.h"

const char *il_recovery_strength_name(il_recovery_strength s) {
    switch (s) {
    case IL_RECOVERY_NONE:
        return "NONE";
    case IL_RECOVERY_WEAK:
        return "WEAK";
    case IL_RECOVERY_STRONG:
        return "STRONG";
    }
    return "NONE";
}

static il_json *recovery_way(il_report *r, uint64_t from, const il_trace *t) {
    if (!t->found) {
        return il_report_null(r);
    }
    il_json *o = il_report_object(r);
    il_report_set(r, o, "from", il_report_state(r, from));
    il_report_set(r, o, "steps", il_report_trace(r, t));
    return o;
}

il_json *il_recovery_object(const il_model *m, const il_recovery *r, il_arena *arena) {
    static const char *const flight[] = {"nothing freezes", "legal", "not legal"};
    if (!r->ran) {
        return il_json_make(arena, IL_JSON_NULL);
    }
    il_report b = {.arena = arena, .m = m};
    il_json *o = il_report_object(&b);
    il_json *findings = il_report_list(&b);
    for (uint32_t i = 0; i < r->nfindings; i++) {
        il_json *one = il_report_object(&b);
        il_report_set(&b, one, "finding", il_report_word(&b, r->findings[i].word));
        il_report_set(&b, one, "witness", recovery_way(&b, r->findings[i].from, &r->findings[i].witness));
        il_report_push(&b, findings, one);
    }
    il_report_set(&b, o, "scope", il_report_word(&b, r->scope == IL_RECOVERY_PRODUCT ? "product" : "reachable"));
    il_report_set(&b, o, "danger", il_report_number(&b, r->danger));
    il_report_set(&b, o, "states", il_report_number(&b, r->states));
    il_report_set(&b, o, "strength", il_report_word(&b, il_recovery_strength_name(r->strength)));
    il_report_set(&b, o, "longest", il_report_number(&b, r->longest));
    il_report_set(&b, o, "robust", il_report_bool(&b, r->robust));
    il_report_set(&b, o, "interleaved", il_report_number(&b, r->interleaved));
    il_report_set(&b, o, "result", il_report_word(&b, r->restoration ? "restoration" : "containment"));
    il_report_set(&b, o, "goal_inside_region", il_report_bool(&b, r->inside));
    il_report_set(&b, o, "in_flight", il_report_word(&b, flight[r->flight]));
    il_report_set(&b, o, "in_flight_states", il_report_number(&b, r->in_flight));
    il_report_set(&b, o, "lasso", recovery_way(&b, r->lasso_from, &r->lasso));
    il_report_set(&b, o, "lasso_stem", il_report_number(&b, r->lasso_stem));
    il_report_set(&b, o, "findings", findings);
    return b.failed ? NULL : o;
}
