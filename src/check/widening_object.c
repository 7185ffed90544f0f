/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison of versions for the report. */
#include "check/report.h"
#include "check/widening.h"

static il_json *widening_text(il_report *k, il_str s) { return s.n ? il_report_str(k, s) : il_report_null(k); }
static il_json *widening_word(il_report *k, const char *z) { return z ? il_report_word(k, z) : il_report_null(k); }

/* What one version says of the step. */
static il_json *widening_side(il_report *k, const il_model *m, il_step step) {
    il_json *o = il_report_object(k);
    k->m = m;
    il_report_step(k, o, step.next, step);
    if (step.verdict == IL_REJECT && step.reason == IL_REASON_NO_SYMBOL) {
        (void)il_json_remove(o, IL_STR("reason"));
        il_report_set(k, o, "reason", il_report_word(k, "no-symbol"));
    }
    return o;
}

static il_json *widening_steps(il_report *k, const il_widening *w, const il_widening_line *l) {
    il_json *list = il_report_list(k);
    for (uint32_t i = 0; i < l->nsteps; i++) {
        const il_widening_step *s = &l->steps[i];
        const bool known = s->new_symbol != IL_NO_SYMBOL;
        il_buf b;
        il_json *o = il_report_object(k);
        il_buf_init(&b, k->arena, 8192);
        il_model_symbol_brief(known ? w->new_model : w->old_model, known ? s->new_symbol : s->old_symbol, &b);
        il_report_set(k, o, "seq", il_report_number(k, i + 1));
        il_report_set(k, o, "step", il_report_buf(k, &b));
        il_report_set(k, o, "old", widening_side(k, w->old_model, s->old_step));
        il_report_set(k, o, "new", widening_side(k, w->new_model, s->new_step));
        il_report_push(k, list, o);
    }
    return list;
}

static il_json *widening_names(il_report *k, const il_widening_name *n) {
    il_json *list = il_report_list(k);
    for (; n; n = n->next) {
        il_json *o = il_report_object(k);
        il_report_set(k, o, "kind", widening_word(k, n->kind));
        il_report_set(k, o, "name", widening_text(k, n->text));
        il_report_push(k, list, o);
    }
    return list;
}

il_status il_widening_object(const il_widening *w, il_arena *arena, il_json **out, il_error *err) {
    il_report k = {.arena = arena, .m = w->new_model};
    il_json *o = il_report_object(&k);
    il_json *lines = il_report_list(&k);
    for (uint32_t i = 0; i < w->nlines; i++) {
        const il_widening_line *l = &w->lines[i];
        il_json *c = il_report_object(&k);
        il_report_set(&k, c, "id", widening_word(&k, l->id));
        il_report_set(&k, c, "verdict", widening_word(&k, il_check_verdict_name(l->verdict)));
        il_report_set(&k, c, "finding", widening_word(&k, l->finding));
        il_report_set(&k, c, "action", widening_text(&k, l->action));
        il_report_set(&k, c, "rule", widening_text(&k, l->rule));
        il_report_set(&k, c, "detail", widening_text(&k, l->detail));
        il_report_set(&k, c, "witness", l->steps ? widening_steps(&k, w, l) : il_report_null(&k));
        il_report_push(&k, lines, c);
    }
    il_report_set(&k, o, "old", widening_text(&k, w->old_model->name));
    il_report_set(&k, o, "old_sha256", il_report_digest(&k, w->old_model->digest));
    il_report_set(&k, o, "matched_symbols", il_report_number(&k, w->matched));
    il_report_set(&k, o, "states", il_report_number(&k, w->states));
    il_report_set(&k, o, "edges", il_report_number(&k, w->edges));
    il_report_set(&k, o, "depth", il_report_number(&k, w->depth));
    il_report_set(&k, o, "bound_hit", il_report_bool(&k, w->bound_hit));
    static const char *const states[] = {"not run", "failed as it must", "BROKEN", "not needed"};
    il_json *control = il_report_object(&k);
    il_report_set(&k, control, "id", il_report_word(&k, w->control.id));
    il_report_set(&k, control, "what", il_report_word(&k, w->control.what));
    il_report_set(&k, control, "state", il_report_word(&k, states[w->control.state]));
    il_report_set(&k, o, "control", control);
    il_report_set(&k, o, "beyond", il_report_bool(&k, w->beyond));
    il_report_set(&k, o, "checks", lines);
    il_report_set(&k, o, "only_old", widening_names(&k, w->only_old));
    il_report_set(&k, o, "only_new", widening_names(&k, w->only_new));
    il_report_set(&k, o, "exit", il_report_number(&k, (uint64_t)w->exit));
    *out = o;
    return k.failed ? il_arena_fail(arena, err) : IL_OK;
}
