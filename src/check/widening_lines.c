/* SPDX-License-Identifier: Apache-2.0 */
/* What the pairs show of steps, and what the two contracts say. */
#include "base/error.h"
#include "base/mem.h"
#include "check/widening_part.h"

/* ---- lines ---- */

il_widening_line *il_widening_line_new(il_widening_work *w, const char *id, il_check_verdict verdict, const char *finding) {
    il_widening *o = w->out;
    if (o->nlines == o->lines_cap) {
        const uint32_t cap = o->lines_cap ? 2 * o->lines_cap : 32;
        il_widening_line *lines = IL_NEW_ARRAY(w->arena, il_widening_line, cap);
        if (!lines) {
            return NULL;
        }
        if (o->nlines) {
            memcpy(lines, o->lines, o->nlines * sizeof *lines);
        }
        o->lines = lines;
        o->lines_cap = cap;
    }
    il_widening_line *l = &o->lines[o->nlines++];
    *l = (il_widening_line){.id = id, .verdict = verdict, .finding = finding};
    return l;
}

bool il_widening_trace(il_widening_work *w, const il_widening_first *at, il_widening_line *l) {
    const uint32_t n = il_space_path(&w->space, at->node, NULL);
    const uint32_t all = n + (at->code == UINT32_MAX ? 0 : 1);
    uint32_t *nodes = IL_NEW_ARRAY(w->arena, uint32_t, n + 1);
    l->steps = IL_NEW_ARRAY(w->arena, il_widening_step, all + 1);
    if (!nodes || !l->steps) {
        return false;
    }
    (void)il_space_path(&w->space, at->node, nodes);
    il_widening_pair p = {w->was->initial, w->now->initial};
    bool beyond = false;
    for (uint32_t i = 0; i < all; i++) {
        l->steps[i] = il_widening_step_of(w, p, i < n ? il_space_via(&w->space, NULL, nodes[i]) : at->code);
        (void)il_widening_next(w, &l->steps[i], &p, &beyond);
    }
    l->nsteps = all;
    return true;
}

il_status il_widening_no_memory(const il_widening_work *w) { return il_arena_fail(w->arena, w->err); }

/* ---- what was denied and is accepted, and the other way round ---- */

static il_status widening_widened(il_widening_work *w) {
    bool any = false;
    for (uint32_t a = 0; a < w->now->nactions; a++) {
        for (uint32_t kind = 0; kind < w->kinds; kind++) {
            const il_widening_first *first = &w->widened[a * w->kinds + kind];
            const il_str rule = il_widening_kind_name(w, kind);
            if (first->node == UINT32_MAX || il_widening_listed(w, a, rule) != UINT32_MAX) {
                continue;
            }
            il_widening_line *l = il_widening_line_new(w, "widening", IL_CHECK_FAIL, "WIDENED");
            if (!l || !il_widening_trace(w, first, l)) {
                return il_widening_no_memory(w);
            }
            l->action = w->now->actions[a].name;
            l->rule = rule;
            any = true;
        }
    }
    if (any) {
        return IL_OK;
    }
    const bool bound = w->out->bound_hit;
    il_widening_line *l = il_widening_line_new(w, "widening",
                                               bound         ? IL_CHECK_INCONCLUSIVE
                                               : w->compared ? IL_CHECK_PASS
                                                             : IL_CHECK_VACUOUS,
                                               NULL);
    if (!l) {
        return il_widening_no_memory(w);
    }
    l->finding = l->verdict == IL_CHECK_VACUOUS ? "NOTHING_COMPARED" : NULL;
    return IL_OK;
}

/* What a human or the runtime had to do, and somebody less trusted may do now: no step is new, and who takes it is. NULL: nothing of the kind. */
static const il_action_def *widening_given(const il_widening_work *w, uint32_t action) {
    const il_action_def *now = &w->now->actions[action];
    const uint32_t old = il_model_action(w->was, now->name);
    const il_action_def *was = old == UINT32_MAX ? NULL : &w->was->actions[old];
    const bool lost = was && ((was->principal == IL_HUMAN && now->principal != IL_HUMAN) ||
                              (was->principal == IL_RUNTIME && (now->principal == IL_AGENT || now->principal == IL_ENV)));
    return lost ? was : NULL;
}

static il_status widening_principals(il_widening_work *w) {
    for (uint32_t a = 0; a < w->now->nactions; a++) {
        const il_action_def *was = widening_given(w, a);
        if (!was || il_widening_listed(w, a, IL_STR("principal")) != UINT32_MAX) {
            continue;
        }
        il_widening_line *l = il_widening_line_new(w, "principal", IL_CHECK_FAIL, "GIVEN_AWAY");
        char text[64];
        const size_t n = il_format(text, sizeof text, "%s, was %s", il_principal_name(w->now->actions[a].principal),
                                   il_principal_name(was->principal));
        if (!l) {
            return il_widening_no_memory(w);
        }
        l->action = was->name;
        IL_TRY(il_arena_copy(w->arena, (il_str){text, n}, &l->detail, w->err));
    }
    return IL_OK;
}

/* Entries of the list: each must happen, or it says more than is so. */
static il_status widening_entries(il_widening_work *w) {
    for (uint32_t i = 0; i < w->now->nwidens; i++) {
        const il_widens *e = &w->now->widens[i];
        const il_widening_first *first = NULL;
        for (uint32_t kind = 0; kind < w->kinds; kind++) {
            const il_widening_first *f = &w->widened[e->action * w->kinds + kind];
            first = il_str_eq(il_widening_kind_name(w, kind), e->as) && f->node != UINT32_MAX ? f : first;
        }
        const uint32_t was = il_counterpart_rule(w->was, e->as), now = il_counterpart_rule(w->now, e->as);
        const bool contract = was && now && w->now->rules[now - 1].releasable && !w->was->rules[was - 1].releasable;
        const bool given = il_str_eq(e->as, IL_STR("principal")) && widening_given(w, e->action);
        const bool happens = first || contract || given;
        il_widening_line *l = il_widening_line_new(w, "widens",
                                                   happens             ? IL_CHECK_PASS
                                                   : w->out->bound_hit ? IL_CHECK_INCONCLUSIVE
                                                                       : IL_CHECK_VACUOUS,
                                                   happens             ? "LISTED"
                                                   : w->out->bound_hit ? NULL
                                                                       : "NEVER_HAPPENS");
        if (!l || (first && !il_widening_trace(w, first, l))) {
            return il_widening_no_memory(w);
        }
        l->action = w->now->actions[e->action].name;
        l->rule = e->as;
        l->detail = e->why;
    }
    return IL_OK;
}

il_status il_widening_narrowings(il_widening_work *w) {
    for (uint32_t a = 0; a < w->was->nactions; a++) {
        for (uint32_t rule = 0; rule <= w->now->nrules; rule++) {
            const il_widening_first *first = &w->narrowed[a * (w->now->nrules + 1) + rule];
            if (first->node == UINT32_MAX) {
                continue;
            }
            il_widening_line *l = il_widening_line_new(w, "narrowing", IL_CHECK_PASS, "NARROWED");
            if (!l || !il_widening_trace(w, first, l)) {
                return il_widening_no_memory(w);
            }
            l->action = w->was->actions[a].name;
            l->rule = rule ? w->now->rules[rule - 1].name : IL_STR("fault");
        }
    }
    return IL_OK;
}

static il_status widening_lost_symbols(il_widening_work *w) {
    for (uint32_t a = 0; a < w->was->nactions; a++) {
        if (w->lost[a].node == UINT32_MAX) {
            continue;
        }
        char text[64];
        const size_t n = il_format(text, sizeof text, "%u symbol%s", w->nlost[a], w->nlost[a] == 1 ? "" : "s");
        il_widening_line *l = il_widening_line_new(w, "symbol", IL_CHECK_FAIL, "LOST_SYMBOL");
        if (!l || !il_widening_trace(w, &w->lost[a], l)) {
            return il_widening_no_memory(w);
        }
        l->action = w->was->actions[a].name;
        IL_TRY(il_arena_copy(w->arena, (il_str){text, n}, &l->detail, w->err));
    }
    return IL_OK;
}

/* ---- the contract ---- */

/* Denials, approvals and other documents name rules: one that is gone breaks who reads them. One that a human may release now is wider. */
static il_status widening_rules(il_widening_work *w) {
    for (uint32_t i = 0; i < w->was->nrules; i++) {
        const uint32_t now = il_counterpart_rule(w->now, w->was->rules[i].name);
        const char *finding = !now                                                                ? "BREAKING_RULE"
                              : w->now->rules[now - 1].releasable && !w->was->rules[i].releasable ? "RELEASABLE"
                                                                                                  : NULL;
        if (!finding || (now && il_widening_listed(w, UINT32_MAX, w->was->rules[i].name) != UINT32_MAX)) {
            continue;
        }
        il_widening_line *l = il_widening_line_new(w, now ? "releasable" : "rule", IL_CHECK_FAIL, finding);
        if (!l) {
            return il_widening_no_memory(w);
        }
        l->rule = w->was->rules[i].name;
    }
    return IL_OK;
}

il_status il_widening_denials(il_widening_work *w) {
    IL_TRY(widening_widened(w));
    IL_TRY(widening_principals(w));
    IL_TRY(widening_entries(w));
    IL_TRY(widening_lost_symbols(w));
    return widening_rules(w);
}
