/* SPDX-License-Identifier: Apache-2.0 */
/* What is reachable from the initial state: no forbidden region. The same walk notes who writes what, which rules fire, what is accepted. */
#include "check/parts.h"

#include "base/error.h"
#include "check/report.h"

enum { FROM_INIT_LARGE = 1 << 20 };

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

/* What each symbol does to saturating counters, bit v for variable v: raises it in some state; is accepted where it is at its ceiling. */
typedef struct from_init_counts {
    uint64_t *raises, *at_ceiling;
    uint64_t saturating;
} from_init_counts;

static bool from_init_over(const il_model *m, uint64_t state) {
    uint32_t phase = il_model_var(m, IL_STR("phase"));
    return (phase != UINT32_MAX && il_str_eq(m->vars[phase].domain.names[il_model_get(m, state, phase)], IL_STR("ended"))) ||
           il_recovery_goal(m, state);
}

static void from_init_step(il_harden *h, from_init_counts *counts, uint64_t state, uint32_t symbol, uint64_t next,
                           uint64_t *moved) {
    const il_model *m = h->subject.m;
    uint64_t action = UINT64_C(1) << m->symbol_action[symbol];
    h->symbol_accepted[symbol] = true;
    for (uint32_t v = 0; (next != state || counts->saturating != 0) && v < m->nvars; v++) {
        uint32_t before = il_model_get(m, state, v);
        uint32_t after = il_model_get(m, next, v);
        uint64_t bit = UINT64_C(1) << v;
        h->writers[v].raised_by |= after > before ? action : 0;
        h->writers[v].lowered_by |= after < before ? action : 0;
        h->writers[v].unnamed_by |= after < before && (h->subject.unnamed[symbol] & bit) ? action : 0;
        *moved |= after != before ? bit : 0;
        counts->raises[symbol] |= after > before ? bit : 0;
        counts->at_ceiling[symbol] |= before == m->vars[v].domain.size - 1 ? bit & counts->saturating : 0;
    }
}

static il_status from_init_survey(il_harden *h, const il_view *view, il_space *s, il_error *err) {
    il_subject *sub = &h->subject;
    const il_model *m = sub->m;
    uint64_t moved = 0;
    uint32_t deadlock = UINT32_MAX;
    from_init_counts counts = {.raises = IL_NEW_ARRAY(sub->arena, uint64_t, m->nsymbols),
                               .at_ceiling = IL_NEW_ARRAY(sub->arena, uint64_t, m->nsymbols)};
    if (!counts.raises || !counts.at_ceiling) {
        return il_arena_fail(sub->arena, err);
    }
    for (uint32_t v = 0; v < m->nvars; v++) {
        const il_domain *d = &m->vars[v].domain;
        counts.saturating |= d->kind == IL_DOMAIN_INT && d->overflow == IL_OVERFLOW_SATURATE ? UINT64_C(1) << v : 0;
    }
    /* of a machine that is too large nothing can pass: the nearest states say who writes what as well as any */
    uint32_t most = sub->large && s->n > FROM_INIT_LARGE ? FROM_INIT_LARGE : s->n;
    for (uint32_t i = 0; i < most; i++) {
        if (!il_subject_goes_on(sub, i, s->edges)) {
            sub->large = s->bound_hit = h->bounded = true;
            break;
        }
        uint64_t state = il_space_key(s, i);
        bool rests = true;
        for (uint32_t symbol = 0; symbol < m->nsymbols; symbol++) {
            il_step step =
                sub->table ? il_machine_step(sub->table, state, symbol) : il_steps_one(sub->steps, NULL, state, symbol);
            if (step.verdict == IL_REJECT && step.reason > 0 && step.reason <= m->nrules) {
                h->rule_fired[step.reason - 1] = true;
                from_init_rejected(h, s, i, symbol, step.reason);
            }
            if (step.verdict == IL_ACCEPT) {
                from_init_step(h, &counts, state, symbol, step.next, &moved);
            }
            rests = rests && (step.verdict != IL_ACCEPT || step.next == state);
        }
        bool over = rests && from_init_over(m, state);
        h->survey.terminal += over;
        h->survey.deadlocks += rests && !over;
        deadlock = rests && !over && deadlock == UINT32_MAX ? i : deadlock;
    }
    for (uint32_t v = 0; v < m->nvars; v++) {
        h->frozen |= moved >> v & 1 ? 0 : UINT64_C(1) << v;
    }
    for (uint32_t r = 0; r < m->nrules; r++) {
        h->never_fired += !h->rule_fired[r];
    }
    for (uint32_t i = 0; i < m->nsymbols; i++) {
        h->never_accepted += !h->symbol_accepted[i];
        h->survey.saturated |= counts.raises[i] & counts.at_ceiling[i];
    }
    il_space_hit hit = {.found = true, .node = deadlock, .symbol = UINT32_MAX};
    return deadlock == UINT32_MAX ? IL_OK : il_trace_of(h, view, s, &hit, &h->survey.deadlock, err);
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
        IL_TRY(il_check_judge(h, c, v, s, r, m->regions[r].rejection ? "WRONG_REASON" : "REACHED", err));
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
        status = from_init_survey(h, &v, &s, err);
    }
    if (status == IL_OK) {
        status = from_init_lines(h, &v, &s, err);
    }
    if (status == IL_OK && sub->table && !s.bound_hit && s.n != il_machine_states(sub->table)) {
        status = il_error_set(err, IL_E_INTERNAL, "the table holds states that its own steps do not reach");
    }
    il_space_free(&s);
    return status;
}

il_json *il_survey_object(const il_model *m, const il_survey *s, il_arena *arena) {
    il_report b = {.arena = arena, .m = m};
    il_json *o = il_report_object(&b);
    il_report_set(&b, o, "terminal", il_report_number(&b, s->terminal));
    il_report_set(&b, o, "deadlocks", il_report_number(&b, s->deadlocks));
    il_report_set(&b, o, "deadlock", il_report_trace(&b, &s->deadlock));
    il_report_set(&b, o, "saturated", il_report_vars(&b, s->saturated));
    return b.failed ? NULL : o;
}
