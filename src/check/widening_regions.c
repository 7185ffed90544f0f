/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of the old version, judged by what the new one does. */
#include "base/error.h"
#include "check/widening_part.h"

/* Of the old machine's variables those that are read, before the step or after it, as bits. */
typedef struct widening_reads {
    uint64_t vars;
    bool rejection; /* then the third thing to read is the reason, and no state */
} widening_reads;

/* The payload is none of them, because symbols are matched already; nor is the action's name. */
static void widening_visit(void *ctx, size_t var, size_t field) {
    widening_reads *r = ctx;
    if (var == 0 || (var == 2 && !r->rejection)) {
        r->vars |= field < 64 ? UINT64_C(1) << field : UINT64_MAX;
    }
}

/* The old variables that a region reads and the new machine lacks, or has with a value that the old one does not know. */
static uint32_t widening_unread(const il_widening_work *w, const il_region *r) {
    widening_reads reads = {.rejection = r->rejection};
    if (r->predicate) {
        il_cel_reads(r->predicate, widening_visit, &reads);
    }
    for (uint32_t a = 0; r->on && a < w->was->nactions; a++) {
        if (r->on[a]) {
            il_cel_reads(r->on[a], widening_visit, &reads);
        }
    }
    for (uint32_t v = 0; v < w->was->nvars; v++) {
        const uint32_t now = w->forth.vars[v];
        bool lost = now == UINT32_MAX;
        for (uint32_t i = 0; !lost && i < w->now->vars[now].domain.size; i++) {
            lost = w->back.values[now][i] == UINT32_MAX;
        }
        if (lost && (reads.vars >> v & 1)) {
            return v;
        }
    }
    return UINT32_MAX;
}

/* Whether the step is what the old machine calls the region, and the new one does not: one that was accepted, or of a `rejection` region one that was
 * refused. */
static bool widening_weak_step(const il_widening_work *w, uint32_t was, uint32_t now, il_widening_pair p,
                               const il_widening_step *s) {
    const uint64_t pre = il_counterpart_state(&w->back, p.now, NULL);
    const uint8_t reason = s->new_step.reason;
    if (w->was->regions[was].rejection) {
        return s->new_step.verdict == IL_REJECT && reason > 0 && reason <= w->now->nrules &&
               il_model_refused_as(w->was, was, pre, s->old_symbol, w->now->rules[reason - 1].name) &&
               !il_model_refused_wrongly(w->now, now, p.now, s->new_symbol, reason);
    }
    const uint64_t post = il_counterpart_state(&w->back, s->new_step.next, NULL);
    return s->new_step.verdict == IL_ACCEPT && il_steps_in_region(w->was_steps, was, pre, s->old_symbol, post) &&
           !il_steps_in_region(w->now_steps, now, p.now, s->new_symbol, s->new_step.next);
}

/* Where the new machine is, or goes, into what the old one calls the region and the new one does not. */
static il_widening_first widening_weak(il_widening_work *w, uint32_t was, uint32_t now) {
    const bool edge = w->was->regions[was].edge;
    for (uint32_t node = 0; node < w->space.n; node++) {
        const il_widening_pair p = il_widening_at(w, il_space_key(&w->space, node));
        const uint64_t pre = il_counterpart_state(&w->back, p.now, NULL);
        if (!edge && il_steps_in_region(w->was_steps, was, pre, IL_NO_SYMBOL, pre) &&
            !il_steps_in_region(w->now_steps, now, p.now, IL_NO_SYMBOL, p.now)) {
            return (il_widening_first){node, UINT32_MAX};
        }
        for (uint32_t code = 0; edge && code < w->was->nsymbols; code++) {
            const il_widening_step s = il_widening_step_of(w, p, code);
            if (widening_weak_step(w, was, now, p, &s)) {
                return (il_widening_first){node, code};
            }
        }
    }
    return (il_widening_first){UINT32_MAX, UINT32_MAX};
}

/* What a region is about. */
static const char *widening_about(const il_region *r) { return r->rejection ? "refusals" : r->edge ? "steps" : "states"; }

/* An action that may lead into the gated region now and might not before; `never` to `gated` is any of them. */
static il_str widening_new_gate(const il_widening_work *w, const il_region *was, const il_region *now) {
    for (uint32_t a = 0; now->gated && a < w->now->nactions; a++) {
        const uint32_t old = il_model_action(w->was, w->now->actions[a].name);
        if ((now->by >> a & 1) && (!was->gated || old == UINT32_MAX || !(was->by >> old & 1))) {
            return w->now->actions[a].name;
        }
    }
    return (il_str){0};
}

static il_status widening_region(il_widening_work *w, uint32_t was, uint32_t now) {
    const il_region *a = &w->was->regions[was];
    const il_region *b = &w->now->regions[now];
    const uint32_t unread = widening_unread(w, a);
    const il_str gate = widening_new_gate(w, a, b);
    const bool alike = a->edge == b->edge && a->rejection == b->rejection;
    il_widening_first first = {UINT32_MAX, UINT32_MAX};
    if (alike && unread == UINT32_MAX) {
        first = widening_weak(w, was, now);
    }
    const bool weak = first.node != UINT32_MAX || gate.n > 0;
    const bool judged = alike && unread == UINT32_MAX && !w->out->bound_hit;
    il_widening_line *l = il_widening_line_new(w, "region",
                                               weak     ? IL_CHECK_FAIL
                                               : judged ? IL_CHECK_PASS
                                                        : IL_CHECK_INCONCLUSIVE,
                                               weak                          ? "REGION_WEAKENED"
                                               : judged || w->out->bound_hit ? NULL
                                                                             : "NOT_COMPARED");
    char text[64];
    const size_t n = alike ? 0 : il_format(text, sizeof text, "of %s, was of %s", widening_about(b), widening_about(a));
    if (!l || (first.node != UINT32_MAX && !il_widening_trace(w, &first, l))) {
        return il_widening_no_memory(w);
    }
    l->rule = a->name;
    l->detail = weak ? gate : unread != UINT32_MAX ? w->was->vars[unread].name : (il_str){0};
    return weak || unread != UINT32_MAX || alike ? IL_OK : il_arena_copy(w->arena, (il_str){text, n}, &l->detail, w->err);
}

il_status il_widening_regions(il_widening_work *w) {
    for (uint32_t r = 0; r < w->was->nregions; r++) {
        uint32_t now = 0;
        while (now < w->now->nregions && !il_str_eq(w->now->regions[now].name, w->was->regions[r].name)) {
            now++;
        }
        if (now < w->now->nregions) {
            IL_TRY(widening_region(w, r, now));
            continue;
        }
        il_widening_line *l = il_widening_line_new(w, "region", IL_CHECK_FAIL, "LOST_REGION");
        if (!l) {
            return il_widening_no_memory(w);
        }
        l->rule = w->was->regions[r].name;
    }
    return IL_OK;
}
