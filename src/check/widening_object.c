/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison of versions for the report. */
#include "base/sha256.h"
#include "check/maker.h"
#include "check/widening.h"

static const char *widening_verdict(il_step step) {
    return step.verdict == IL_ACCEPT ? "accept" : step.verdict == IL_REJECT ? "reject" : "fault";
}

static il_json *widening_reason(il_maker *k, const il_model *m, il_step step) {
    if (step.verdict != IL_REJECT) {
        return il_maker_null(k);
    }
    return step.reason > 0 && step.reason <= m->nrules ? il_maker_text(k, m->rules[step.reason - 1].name)
                                                       : il_maker_word(k, "no-symbol");
}

static il_json *widening_steps(il_maker *k, const il_widening *w, const il_widening_line *l) {
    il_json *list = il_maker_list(k);
    for (uint32_t i = 0; i < l->nsteps; i++) {
        const il_widening_step *s = &l->steps[i];
        const bool known = s->new_symbol != IL_NO_SYMBOL;
        il_json *o = il_maker_object(k);
        il_maker_set(k, o, "seq", il_maker_number(k, i + 1));
        il_maker_set(k, o, "symbol",
                     il_maker_symbol(k, known ? w->new_model : w->old_model, known ? s->new_symbol : s->old_symbol));
        il_maker_set(k, o, "old", il_maker_word(k, widening_verdict(s->old_step)));
        il_maker_set(k, o, "old_reason", widening_reason(k, w->old_model, s->old_step));
        il_maker_set(k, o, "old_post", il_maker_state(k, s->old_step.next));
        il_maker_set(k, o, "new", il_maker_word(k, widening_verdict(s->new_step)));
        il_maker_set(k, o, "new_reason", widening_reason(k, w->new_model, s->new_step));
        il_maker_set(k, o, "new_post", il_maker_state(k, s->new_step.next));
        il_maker_push(k, list, o);
    }
    return list;
}

static il_json *widening_names(il_maker *k, const il_widening_name *n) {
    il_json *list = il_maker_list(k);
    for (; n; n = n->next) {
        il_json *o = il_maker_object(k);
        il_maker_set(k, o, "kind", il_maker_word(k, n->kind));
        il_maker_set(k, o, "name", il_maker_text(k, n->text));
        il_maker_push(k, list, o);
    }
    return list;
}

static il_json *widening_digest(il_maker *k, const il_model *m) {
    char text[IL_DIGEST_HEX];
    il_str s = {0};
    il_digest_hex(m->digest, text);
    k->failed = il_arena_copy(k->arena, il_str_of(text), &s, NULL) != IL_OK || k->failed;
    return il_maker_text(k, s);
}

il_status il_widening_object(const il_widening *w, il_arena *arena, il_json **out, il_error *err) {
    il_maker k = {.arena = arena};
    il_json *o = il_maker_object(&k);
    il_json *lines = il_maker_list(&k);
    for (uint32_t i = 0; i < w->nlines; i++) {
        const il_widening_line *l = &w->lines[i];
        il_json *c = il_maker_object(&k);
        il_maker_set(&k, c, "id", il_maker_word(&k, l->id));
        il_maker_set(&k, c, "verdict", il_maker_word(&k, il_check_verdict_name(l->verdict)));
        il_maker_set(&k, c, "finding", il_maker_word(&k, l->finding));
        il_maker_set(&k, c, "action", il_maker_text(&k, l->action));
        il_maker_set(&k, c, "rule", il_maker_text(&k, l->rule));
        il_maker_set(&k, c, "detail", il_maker_text(&k, l->detail));
        il_maker_set(&k, c, "witness", l->steps ? widening_steps(&k, w, l) : il_maker_null(&k));
        il_maker_push(&k, lines, c);
    }
    il_maker_set(&k, o, "old", il_maker_text(&k, w->old_model->name));
    il_maker_set(&k, o, "old_sha256", widening_digest(&k, w->old_model));
    il_maker_set(&k, o, "matched_symbols", il_maker_number(&k, w->matched));
    il_maker_set(&k, o, "states", il_maker_number(&k, w->states));
    il_maker_set(&k, o, "edges", il_maker_number(&k, w->edges));
    il_maker_set(&k, o, "depth", il_maker_number(&k, w->depth));
    il_maker_set(&k, o, "bound_hit", il_maker_truth(&k, w->bound_hit));
    il_maker_set(&k, o, "checks", lines);
    il_maker_set(&k, o, "only_old", widening_names(&k, w->only_old));
    il_maker_set(&k, o, "only_new", widening_names(&k, w->only_new));
    il_maker_set(&k, o, "exit", il_maker_number(&k, (uint64_t)w->exit));
    *out = o;
    return il_maker_done(&k, err);
}
