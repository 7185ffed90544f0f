/* SPDX-License-Identifier: Apache-2.0 */
/* An audit's result. */
#include "check/audit.h"
#include "check/report.h"

static il_json *audit_text(il_report *k, il_str s) { return s.n ? il_report_str(k, s) : il_report_null(k); }
static il_json *audit_word(il_report *k, const char *z) { return z ? il_report_word(k, z) : il_report_null(k); }

static il_json *audit_counts(il_report *k, const il_audit *a, bool against) {
    il_json *o = il_report_object(k);
    for (uint32_t w = 0; w < IL_AUDIT_WORDS; w++) {
        if (a->counts[against][w]) {
            il_report_set(k, o, il_audit_word_name((il_audit_word)w), il_report_number(k, a->counts[against][w]));
        }
    }
    return o;
}

static il_json *audit_finding(il_report *k, const il_audit_finding *f) {
    il_json *o = il_report_object(k);
    il_report_set(k, o, "finding", il_report_word(k, il_audit_word_name(f->word)));
    il_report_set(k, o, "of", il_report_word(k, f->against ? "against" : "replay"));
    il_report_set(k, o, "row", f->row ? il_report_number(k, f->row) : il_report_null(k));
    il_report_set(k, o, "session", audit_text(k, f->session));
    il_report_set(k, o, "step", audit_text(k, f->step));
    il_report_set(k, o, "said", audit_text(k, f->said));
    il_report_set(k, o, "now", audit_text(k, f->now));
    il_report_set(k, o, "detail", audit_text(k, f->detail));
    return o;
}

il_status il_audit_object(const il_audit *a, il_arena *arena, il_json **out, il_error *err) {
    il_report k = {.arena = arena};
    il_json *o = il_report_object(&k);
    il_json *replay = il_report_object(&k);
    il_json *findings = il_report_list(&k);
    il_report_set(&k, replay, "verdict", audit_word(&k, il_audit_replayed(a)));
    il_report_set(&k, replay, "rows", il_report_number(&k, a->rows));
    il_report_set(&k, replay, "steps", il_report_number(&k, a->steps));
    il_report_set(&k, replay, "findings", audit_counts(&k, a, false));
    il_report_set(&k, o, "replay", replay);
    il_json *against = il_report_null(&k);
    if (il_audit_against(a)) {
        against = il_report_object(&k);
        il_report_set(&k, against, "verdict", audit_word(&k, il_audit_against(a)));
        il_report_set(&k, against, "machine", il_report_str(&k, a->other->model->name));
        il_report_set(&k, against, "sha256", il_report_digest(&k, a->other->model->digest));
        il_report_set(&k, against, "steps", il_report_number(&k, a->compared));
        il_report_set(&k, against, "findings", audit_counts(&k, a, true));
    }
    il_report_set(&k, o, "against", against);
    for (const il_audit_finding *f = a->findings; f; f = f->next) {
        il_report_push(&k, findings, audit_finding(&k, f));
    }
    il_report_set(&k, o, "findings", findings);
    il_report_set(&k, o, "exit", il_report_number(&k, (uint64_t)il_audit_exit(a)));
    *out = o;
    return k.failed ? il_arena_fail(arena, err) : IL_OK;
}
