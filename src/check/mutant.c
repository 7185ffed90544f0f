/* SPDX-License-Identifier: Apache-2.0 */
#include "check/mutant.h"

const char *il_mutant_op_name(il_mutant_op op) {
    static const char *const names[IL_MUTANT_OPS] = {"drop",
                                                     "accept",
                                                     "retarget",
                                                     "widen",
                                                     "silence",
                                                     "reason-swap",
                                                     "drop-action",
                                                     "drop-clause",
                                                     "freeze",
                                                     "schema-weaken",
                                                     "effect-drop",
                                                     "effect-order-swap",
                                                     "approval-not-consumed",
                                                     "stale-approval-kept",
                                                     "settle-below-worst",
                                                     "commit-at-return",
                                                     "saturate-wrap"};
    return (uint32_t)op < IL_MUTANT_OPS ? names[op] : "unknown";
}

static il_step mutant_reject(uint64_t state, uint8_t reason) {
    return (il_step){.next = state, .verdict = IL_REJECT, .reason = reason};
}
static il_step mutant_accept(uint64_t next) { return (il_step){.next = next, .verdict = IL_ACCEPT}; }

/* A rule of the action: its last, which is its own and not that of a session that is over. */
static uint8_t mutant_last_rule(const il_model *m, uint32_t symbol) {
    const il_action_def *a = &m->actions[m->symbol_action[symbol]];
    return a->nclauses > 0 ? a->clauses[a->nclauses - 1].rule : 1;
}

static il_step mutant_base(const il_mutants *p, uint64_t state, uint32_t symbol) {
    return il_steps_one(p->s->steps, NULL, state, symbol);
}

/* The step without its clauses. */
static il_step mutant_forced(const il_mutants *p, uint64_t state, uint32_t symbol) {
    const il_model *m = p->s->m;
    il_step step = mutant_base(p, state, symbol);
    if (step.verdict == IL_ACCEPT) {
        return step;
    }
    il_eval e = il_model_eval(m, NULL, state, symbol);
    il_look look = il_model_look(m, state, symbol);
    if (e.step.verdict == IL_FAULT || (look.escaped | look.failed) != 0) {
        return (il_step){.next = state, .verdict = IL_FAULT};
    }
    return mutant_accept(e.next);
}

/* The symbol with another value of one field. */
static uint32_t mutant_sibling(const il_model *m, uint32_t symbol, uint32_t field, uint32_t value) {
    const il_action_def *a = &m->actions[m->symbol_action[symbol]];
    return symbol + value * a->strides[field] - il_model_field_value(m, symbol, field) * a->strides[field];
}

static uint32_t mutant_keep(const il_model *m, uint64_t *next, uint64_t state, uint32_t var) {
    uint32_t value = il_model_get(m, state, var);
    *next = il_model_set(m, *next, var, value);
    return value;
}

/* Settles of the mutant raise what the admission did not. */
static il_step mutant_at_return(const il_mutants *p, uint64_t state, uint32_t symbol) {
    const il_subject *s = p->s;
    il_step step = mutant_base(p, state, symbol);
    bool admit = s->admits >> s->m->symbol_action[symbol] & 1;
    if (step.verdict == IL_REJECT && !admit) {
        bool names = false;
        for (uint32_t t = 0; t < s->ntaints; t++) {
            names = names || il_words_taint(&s->words[symbol], s->taint_words[t]);
        }
        step = names ? mutant_forced(p, state, symbol) : step;
    }
    for (uint32_t t = 0; step.verdict == IL_ACCEPT && t < s->ntaints; t++) {
        if (admit) {
            (void)mutant_keep(s->m, &step.next, state, s->taints[t]);
        } else if (il_words_taint(&s->words[symbol], s->taint_words[t])) {
            step.next = il_model_set(s->m, step.next, s->taints[t], s->m->vars[s->taints[t]].domain.size - 1);
        }
    }
    return step;
}

/* Approvals are lowered by their use and by nothing else. */
static void mutant_stale(const il_subject *s, uint64_t state, uint32_t symbol, uint64_t *next) {
    uint32_t asked = il_model_var(s->m, IL_STR("asked"));
    uint32_t granted = il_model_var(s->m, IL_STR("granted"));
    if (asked != UINT32_MAX) {
        (void)mutant_keep(s->m, next, state, asked);
    }
    if (granted != UINT32_MAX) {
        uint32_t had = mutant_keep(s->m, next, state, granted);
        *next = il_model_set(s->m, *next, granted, had - (had > 0 && s->words[symbol].approved));
    }
}

static il_step mutant_wrap(const il_mutants *p, const il_mutant *u, uint64_t state, uint32_t symbol, il_step step) {
    const il_model *m = p->s->m;
    const il_action_def *a = &m->actions[m->symbol_action[symbol]];
    uint32_t value = il_model_get(m, state, u->arg);
    if (step.verdict != IL_REJECT || !(p->counts[symbol] >> u->arg & 1) ||
        (value > 0 && value < m->vars[u->arg].domain.size - 1)) {
        return step; /* it does not count, or is nowhere near an end */
    }
    il_look look = il_model_look(m, state, symbol);
    for (uint64_t left = look.escaped; look.failed == 0 && left != 0; left &= left - 1) {
        const il_update *w = &a->updates[__builtin_ctzll(left)];
        if (w->var == u->arg) {
            uint32_t last = m->vars[w->var].domain.size - 1;
            return mutant_accept(il_model_set(m, look.next, w->var, value == 0 ? last : 0));
        }
    }
    return step;
}

/* Judged before: by the same event that brings nothing. */
static il_step mutant_early(const il_mutants *p, uint64_t state, uint32_t symbol) {
    const il_model *m = p->s->m;
    il_step plain = mutant_base(p, state, m->actions[m->symbol_action[symbol]].first_symbol);
    return plain.verdict == IL_REJECT ? plain : mutant_forced(p, state, symbol);
}

static il_step mutant_class(const il_mutants *p, const il_mutant *u, uint64_t state, uint32_t symbol, il_step step) {
    const il_subject *s = p->s;
    const il_model *m = s->m;
    bool accepted = step.verdict == IL_ACCEPT;
    switch (u->op) {
    case IL_MUTANT_DROP:
    case IL_MUTANT_ACCEPT:
    case IL_MUTANT_RETARGET:
    case IL_MUTANT_WIDEN:
    case IL_MUTANT_SILENCE:
    case IL_MUTANT_REASON:
        return step; /* of cells */
    case IL_MUTANT_DROP_ACTION:
        return accepted ? mutant_reject(state, mutant_last_rule(m, symbol)) : step;
    case IL_MUTANT_DROP_CLAUSE: {
        il_variant variant = {.skip = true, .skip_action = m->symbol_action[symbol], .skip_clause = u->arg};
        return il_steps_one(s->steps, &variant, state, symbol);
    }
    case IL_MUTANT_FREEZE:
        if (accepted) {
            (void)mutant_keep(m, &step.next, state, u->arg);
        }
        return step;
    case IL_MUTANT_SCHEMA_WEAKEN:
        return symbol == u->symbol ? mutant_base(p, state, u->arg) : step;
    case IL_MUTANT_EFFECT_DROP:
        return il_model_field_value(m, symbol, u->arg) == u->arg2 ? mutant_base(p, state, mutant_sibling(m, symbol, u->arg, 0))
                                                                  : step;
    case IL_MUTANT_EFFECT_ORDER:
        return mutant_early(p, state, symbol);
    case IL_MUTANT_APPROVAL_KEPT:
        if (accepted && s->words[symbol].approved && il_model_get(m, step.next, u->arg) < il_model_get(m, state, u->arg)) {
            (void)mutant_keep(m, &step.next, state, u->arg);
        }
        return step;
    case IL_MUTANT_STALE_APPROVAL:
        if (accepted) {
            mutant_stale(s, state, symbol, &step.next);
        }
        return step;
    case IL_MUTANT_SETTLE_BELOW:
        if (accepted && il_words_taint(&s->words[symbol], s->taint_words[u->arg2])) {
            step.next = il_model_set(m, step.next, u->arg, 0);
        }
        return step;
    case IL_MUTANT_COMMIT_AT_RETURN:
        return mutant_at_return(p, state, symbol);
    case IL_MUTANT_WRAP:
        return mutant_wrap(p, u, state, symbol, step);
    }
    return step;
}

il_step il_mutant_step(const il_mutants *p, const il_mutant *u, uint64_t state, uint32_t symbol, il_step base) {
    if (u->cell) {
        return state == u->state && symbol == u->symbol ? u->step : base;
    }
    return u->actions >> p->s->m->symbol_action[symbol] & 1 ? mutant_class(p, u, state, symbol, base) : base;
}

/* ---- which there are ---- */

typedef struct mutant_list {
    il_mutants *p;
    il_arena *arena;
    uint32_t cap;
    bool failed;
} mutant_list;

static void mutant_add(mutant_list *l, il_mutant u) {
    il_mutants *p = l->p;
    if (p->nclasses == l->cap) {
        uint32_t cap = l->cap ? l->cap * 2 : 64;
        il_mutant *more = IL_NEW_ARRAY(l->arena, il_mutant, cap);
        if (!more) {
            l->failed = true;
            return;
        }
        for (uint32_t i = 0; i < p->nclasses; i++) {
            more[i] = p->classes[i];
        }
        p->classes = more;
        l->cap = cap;
    }
    p->classes[p->nclasses++] = u;
}

static bool mutant_approvable(const il_subject *s, uint32_t action) {
    const il_action_def *a = &s->m->actions[action];
    bool any = false;
    for (uint32_t i = 0; i < a->nsymbols; i++) {
        any = any || s->words[a->first_symbol + i].approved;
    }
    return any;
}

/* Payloads that are never accepted, each as the first that is and differs in one field. */
static void mutant_add_weak(mutant_list *l, uint32_t action) {
    const il_model *m = l->p->s->m;
    const il_action_def *a = &m->actions[action];
    for (uint32_t i = 0; i < a->nsymbols; i++) {
        uint32_t symbol = a->first_symbol + i;
        for (uint32_t f = 0; l->p->donor[symbol] == UINT32_MAX && f < a->nfields; f++) {
            uint32_t value = 0;
            while (value < a->field_domains[f].size && l->p->donor[mutant_sibling(m, symbol, f, value)] == UINT32_MAX) {
                value++;
            }
            if (value < a->field_domains[f].size) {
                mutant_add(l, (il_mutant){.op = IL_MUTANT_SCHEMA_WEAKEN,
                                          .actions = UINT64_C(1) << action,
                                          .symbol = symbol,
                                          .arg = mutant_sibling(m, symbol, f, value)});
            }
        }
    }
}

static void mutant_add_action(mutant_list *l, il_mutant_op op, uint32_t action) {
    const il_subject *s = l->p->s;
    const il_action_def *a = &s->m->actions[action];
    const il_mutant u = {.op = op, .actions = UINT64_C(1) << action};
    il_mutant v = u;
    switch (op) {
    case IL_MUTANT_DROP:
    case IL_MUTANT_ACCEPT:
    case IL_MUTANT_RETARGET:
    case IL_MUTANT_WIDEN:
    case IL_MUTANT_SILENCE:
    case IL_MUTANT_REASON:
    case IL_MUTANT_WRAP: /* by variable */
        return;
    case IL_MUTANT_DROP_ACTION:
        mutant_add(l, u);
        return;
    case IL_MUTANT_DROP_CLAUSE:
        for (v.arg = 0; v.arg < a->nclauses; v.arg++) {
            mutant_add(l, v);
        }
        return;
    case IL_MUTANT_FREEZE:
        for (uint32_t i = 0; i < a->nupdates; i++) {
            v.arg = a->updates[i].var;
            mutant_add(l, v);
        }
        return;
    case IL_MUTANT_SCHEMA_WEAKEN:
        mutant_add_weak(l, action);
        return;
    case IL_MUTANT_EFFECT_DROP:
        for (v.arg = 0; v.arg < a->nfields; v.arg++) {
            for (v.arg2 = 1; v.arg2 < a->field_domains[v.arg].size; v.arg2++) {
                mutant_add(l, v);
            }
        }
        return;
    case IL_MUTANT_EFFECT_ORDER:
        if (a->nfields > 0) {
            mutant_add(l, u);
        }
        return;
    case IL_MUTANT_APPROVAL_KEPT:
        v.arg = il_model_var(s->m, IL_STR("granted"));
        if (v.arg != UINT32_MAX && mutant_approvable(s, action)) {
            mutant_add(l, v);
        }
        return;
    case IL_MUTANT_STALE_APPROVAL:
        if (((s->admits | s->joins) >> action & 1) && s->approve != UINT32_MAX) {
            mutant_add(l, u);
        }
        return;
    case IL_MUTANT_SETTLE_BELOW:
        for (uint32_t t = 0; (s->settles >> action & 1) && t < s->ntaints; t++) {
            v.arg = s->taints[t];
            v.arg2 = t;
            mutant_add(l, v);
        }
        return;
    case IL_MUTANT_COMMIT_AT_RETURN:
        if ((s->admits >> action & 1) && s->settles != 0 && s->ntaints > 0) {
            v.actions |= s->settles;
            mutant_add(l, v);
        }
        return;
    }
}

static void mutant_add_wraps(mutant_list *l) {
    const il_model *m = l->p->s->m;
    for (uint32_t v = 0; v < m->nvars; v++) {
        il_mutant u = {.op = IL_MUTANT_WRAP, .arg = v};
        for (uint32_t a = 0; m->vars[v].domain.kind == IL_DOMAIN_INT && a < m->nactions; a++) {
            for (uint32_t k = 0; k < m->actions[a].nupdates; k++) {
                u.actions |= m->actions[a].updates[k].var == v ? UINT64_C(1) << a : 0;
            }
        }
        if (u.actions) {
            mutant_add(l, u);
        }
    }
}

static void mutant_cells(il_mutants *p) {
    const il_model *m = p->s->m;
    uint32_t n = p->nstates * m->nsymbols;
    for (uint32_t i = 0; i < n; i++) {
        if (p->cells[i].verdict == IL_ACCEPT) {
            p->accepted[p->naccepted++] = i;
            for (uint32_t v = 0; p->cells[i].next != p->states[i / m->nsymbols] && v < m->nvars; v++) {
                uint32_t before = il_model_get(m, p->states[i / m->nsymbols], v), after = il_model_get(m, p->cells[i].next, v);
                bool one = after == before + 1 || (before == after + 1 && (after > 0 || m->vars[v].domain.size == 2));
                p->counts[i % m->nsymbols] |= one ? UINT64_C(1) << v : 0;
            }
            p->donor[i % m->nsymbols] = p->donor[i % m->nsymbols] == UINT32_MAX ? i : p->donor[i % m->nsymbols];
        } else if (p->cells[i].verdict == IL_REJECT) {
            p->rejected[p->nrejected++] = i;
        }
    }
    for (uint32_t i = 0; i < p->nrejected; i++) {
        if (p->donor[p->rejected[i] % m->nsymbols] != UINT32_MAX) {
            p->widened[p->nwidened++] = p->rejected[i];
        }
    }
    for (uint32_t v = 0; v < m->nvars; v++) {
        p->deviations += m->vars[v].domain.size - 1;
    }
}

il_status il_mutants_init(il_mutants *p, il_arena *arena, il_subject *s, const uint64_t *states, uint32_t nstates,
                          const il_step *cells, il_error *err) {
    *p = (il_mutants){.s = s, .states = states, .nstates = nstates, .cells = cells};
    size_t n = (size_t)nstates * s->m->nsymbols;
    p->accepted = IL_NEW_ARRAY(arena, uint32_t, n);
    p->rejected = IL_NEW_ARRAY(arena, uint32_t, n);
    p->widened = IL_NEW_ARRAY(arena, uint32_t, n);
    p->donor = IL_NEW_ARRAY(arena, uint32_t, s->m->nsymbols);
    p->counts = IL_NEW_ARRAY(arena, uint64_t, s->m->nsymbols);
    if (!p->counts || !p->accepted || !p->rejected || !p->widened || !p->donor) {
        return il_arena_fail(arena, err);
    }
    for (uint32_t i = 0; i < s->m->nsymbols; i++) {
        p->donor[i] = UINT32_MAX;
    }
    mutant_cells(p);
    mutant_list l = {.p = p, .arena = arena};
    for (uint32_t op = 0; op < IL_MUTANT_OPS; op++) {
        p->class_at[op] = p->nclasses;
        for (uint32_t a = 0; a < s->m->nactions; a++) {
            mutant_add_action(&l, (il_mutant_op)op, a);
        }
        if (op == IL_MUTANT_WRAP) {
            mutant_add_wraps(&l);
        }
    }
    p->class_at[IL_MUTANT_OPS] = p->nclasses;
    return l.failed ? il_arena_fail(arena, err) : IL_OK;
}

uint64_t il_mutants_count(const il_mutants *p, il_mutant_op op) {
    switch (op) {
    case IL_MUTANT_DROP:
        return p->naccepted;
    case IL_MUTANT_ACCEPT:
    case IL_MUTANT_SILENCE:
    case IL_MUTANT_REASON:
        return p->nrejected;
    case IL_MUTANT_RETARGET:
        return (uint64_t)p->naccepted * p->deviations;
    case IL_MUTANT_WIDEN:
        return p->nwidened;
    case IL_MUTANT_DROP_ACTION:
    case IL_MUTANT_DROP_CLAUSE:
    case IL_MUTANT_FREEZE:
    case IL_MUTANT_SCHEMA_WEAKEN:
    case IL_MUTANT_EFFECT_DROP:
    case IL_MUTANT_EFFECT_ORDER:
    case IL_MUTANT_APPROVAL_KEPT:
    case IL_MUTANT_STALE_APPROVAL:
    case IL_MUTANT_SETTLE_BELOW:
    case IL_MUTANT_COMMIT_AT_RETURN:
    case IL_MUTANT_WRAP:
        break;
    }
    return p->class_at[op + 1] - p->class_at[op];
}

/* The d-th state that differs from `state` in one variable. */
static uint64_t mutant_deviate(const il_model *m, uint64_t state, uint32_t d) {
    uint32_t v = 0;
    while (d >= m->vars[v].domain.size - 1) {
        d -= m->vars[v++].domain.size - 1;
    }
    uint32_t value = (il_model_get(m, state, v) + 1 + d) % m->vars[v].domain.size;
    return il_model_set(m, state, v, value);
}

/* Another rule of the same action, else another of the contract. */
static uint8_t mutant_other_rule(const il_model *m, uint32_t symbol, uint8_t rule) {
    const il_action_def *a = &m->actions[m->symbol_action[symbol]];
    for (uint32_t c = 0; c < a->nclauses; c++) {
        if (a->clauses[c].rule != rule) {
            return a->clauses[c].rule;
        }
    }
    return (uint8_t)(rule % m->nrules + 1);
}

il_mutant il_mutants_at(const il_mutants *p, il_mutant_op op, uint64_t i) {
    const il_model *m = p->s->m;
    uint32_t cell = 0;
    il_step step = {0};
    switch (op) {
    case IL_MUTANT_DROP:
        cell = p->accepted[i];
        step = mutant_reject(p->states[cell / m->nsymbols], mutant_last_rule(m, cell % m->nsymbols));
        break;
    case IL_MUTANT_ACCEPT:
        cell = p->rejected[i];
        step = mutant_forced(p, p->states[cell / m->nsymbols], cell % m->nsymbols);
        break;
    case IL_MUTANT_RETARGET:
        cell = p->accepted[i / p->deviations];
        step = mutant_accept(mutant_deviate(m, p->cells[cell].next, (uint32_t)(i % p->deviations)));
        break;
    case IL_MUTANT_WIDEN:
        cell = p->widened[i];
        step = p->cells[p->donor[cell % m->nsymbols]];
        break;
    case IL_MUTANT_SILENCE:
        cell = p->rejected[i];
        step = mutant_accept(p->states[cell / m->nsymbols]);
        break;
    case IL_MUTANT_REASON:
        cell = p->rejected[i];
        step = mutant_reject(p->states[cell / m->nsymbols], mutant_other_rule(m, cell % m->nsymbols, p->cells[cell].reason));
        break;
    case IL_MUTANT_DROP_ACTION:
    case IL_MUTANT_DROP_CLAUSE:
    case IL_MUTANT_FREEZE:
    case IL_MUTANT_SCHEMA_WEAKEN:
    case IL_MUTANT_EFFECT_DROP:
    case IL_MUTANT_EFFECT_ORDER:
    case IL_MUTANT_APPROVAL_KEPT:
    case IL_MUTANT_STALE_APPROVAL:
    case IL_MUTANT_SETTLE_BELOW:
    case IL_MUTANT_COMMIT_AT_RETURN:
    case IL_MUTANT_WRAP:
        return p->classes[p->class_at[op] + i];
    }
    return (il_mutant){.op = op,
                       .cell = true,
                       .state = p->states[cell / m->nsymbols],
                       .symbol = cell % m->nsymbols,
                       .step = step,
                       .actions = UINT64_C(1) << m->symbol_action[cell % m->nsymbols]};
}

void il_mutant_text(const il_mutants *p, const il_mutant *u, il_buf *out) {
    const il_model *m = p->s->m;
    if (u->cell) {
        il_model_symbol_brief(m, u->symbol, out);
        return;
    }
    if (u->op == IL_MUTANT_SCHEMA_WEAKEN) {
        il_model_symbol_brief(m, u->symbol, out);
        il_buf_puts(out, " taken for ");
        il_model_symbol_brief(m, u->arg, out);
        return;
    }
    const char *between = "";
    for (uint32_t a = 0; a < m->nactions; a++) {
        if (u->actions >> a & 1) {
            il_buf_puts(out, between);
            il_buf_put(out, m->actions[a].name);
            between = ", ";
        }
    }
    const il_action_def *a = &m->actions[__builtin_ctzll(u->actions)];
    if (u->op == IL_MUTANT_DROP_CLAUSE) {
        il_buf_puts(out, " without ");
        il_buf_put(out, m->rules[a->clauses[u->arg].rule - 1].name);
    } else if (u->op == IL_MUTANT_EFFECT_DROP) {
        il_buf_puts(out, " deaf to ");
        il_buf_put(out, a->fields[u->arg]);
        il_buf_putc(out, '=');
        il_buf_put(out, a->field_domains[u->arg].names[u->arg2]);
    } else if (u->op == IL_MUTANT_FREEZE || u->op == IL_MUTANT_SETTLE_BELOW || u->op == IL_MUTANT_WRAP) {
        il_buf_puts(out, " at ");
        il_buf_put(out, m->vars[u->arg].name);
    }
}
