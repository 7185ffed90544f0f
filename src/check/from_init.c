/* SPDX-License-Identifier: Apache-2.0 */
/* What is reachable from the initial state: no forbidden region. The same walk notes who writes what, which rules fire, what is accepted. */
#include "check/parts.h"

#include "base/error.h"

/* A rejection that breaks an invariant; in the order of the walk, so the first is a shortest trace. */
static void from_init_rejected(const il_harden *h, il_space *s, uint32_t node, uint32_t symbol, uint8_t reason) {
    const il_model *m = h->subject.m;
    uint64_t state = il_space_key(s, node);
    for (uint32_t r = 0; r < m->nregions; r++) {
        if (m->regions[r].rejection && !s->hits[r].found && il_model_refused_wrongly(m, r, state, symbol, reason)) {
            s->hits[r] = (il_space_hit){.found = true, .edge = true, .node = node, .symbol = symbol, .next = state};
        }
    }
}

static void from_init_survey(il_harden *h, il_space *s) {
    il_subject *sub = &h->subject;
    const il_model *m = sub->m;
    uint64_t moved = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t key = il_space_key(s, i);
        for (uint32_t symbol = 0; symbol < m->nsymbols; symbol++) {
            il_step step =
                sub->table ? il_machine_step(sub->table, key, symbol) : il_steps_one(sub->steps, NULL, key, symbol);
            if (step.verdict == IL_REJECT && step.reason > 0 && step.reason <= m->nrules) {
                h->rule_fired[step.reason - 1] = true;
                from_init_rejected(h, s, i, symbol, step.reason);
            }
            if (step.verdict != IL_ACCEPT) {
                continue;
            }
            h->symbol_accepted[symbol] = true;
            uint64_t action = UINT64_C(1) << m->symbol_action[symbol];
            for (uint32_t v = 0; step.next != key && v < m->nvars; v++) {
                uint32_t before = il_model_get(m, key, v);
                uint32_t after = il_model_get(m, step.next, v);
                h->writers[v].raised_by |= after > before ? action : 0;
                h->writers[v].lowered_by |= after < before ? action : 0;
                moved |= after != before ? UINT64_C(1) << v : 0;
            }
        }
    }
    for (uint32_t v = 0; v < m->nvars; v++) {
        h->frozen |= moved >> v & 1 ? 0 : UINT64_C(1) << v;
    }
    for (uint32_t r = 0; r < m->nrules; r++) {
        h->never_fired += !h->rule_fired[r];
    }
    for (uint32_t i = 0; i < m->nsymbols; i++) {
        h->never_accepted += !h->symbol_accepted[i];
    }
}

static il_status from_init_lines(il_harden *h, const il_view *v, const il_space *s, il_error *err) {
    const il_model *m = h->subject.m;
    for (uint32_t r = 0; r < m->nregions; r++) {
        if (m->regions[r].gated) {
            continue;
        }
        il_check *c = il_check_add(h, "from-init", r, true);
        if (!c) {
            return il_arena_fail(h->subject.arena, err);
        }
        IL_TRY(il_check_judge(h, c, v, s, r, "REACHED", err));
    }
    if (s->fault.found) { /* only without a table: building one refuses such a machine */
        il_check *c = il_check_add(h, "from-init", UINT32_MAX, true);
        if (!c) {
            return il_arena_fail(h->subject.arena, err);
        }
        c->verdict = IL_CHECK_FAIL;
        c->finding = "FAULT";
        IL_TRY(il_trace_of(h, v, s, &s->fault, &c->witness, err));
    }
    return IL_OK;
}

il_status il_check_from_init(il_harden *h, il_error *err) {
    il_subject *sub = &h->subject;
    il_view v = {.subject = sub, .table = sub->table != NULL, .regions = sub->never};
    il_space s = {0};
    il_status status = il_view_explore(&v, &s, err);
    if (status == IL_OK) {
        h->states = s.n;
        h->edges = s.edges;
        h->depth = s.depth;
        sub->large = s.bound_hit;
        from_init_survey(h, &s);
        status = from_init_lines(h, &v, &s, err);
    }
    if (status == IL_OK && sub->table && s.n != il_machine_states(sub->table)) {
        status = il_error_set(err, IL_E_INTERNAL, "the table holds states that its own steps do not reach");
    }
    il_space_free(&s);
    return status;
}
