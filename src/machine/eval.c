/* SPDX-License-Identifier: Apache-2.0 */
/* One step by the guards, from any state of the full product. The table is built from this, and compared with it afterwards. */
#include "machine/model.h"

static il_cel_value eval_record(const il_cel_value *items, uint32_t n) {
    il_cel_value v = {0};
    v.kind = IL_CEL_RECORD;
    v.n = n;
    v.u.items = items;
    return v;
}

static void eval_state(const il_model *m, uint64_t state, il_cel_value *out) {
    for (uint32_t i = 0; i < m->nvars; i++) {
        out[i] = m->vars[i].domain.values[il_model_get(m, state, i)];
    }
}

static void eval_call(const il_model *m, uint32_t symbol, il_cel_value *out) {
    const il_action_def *a = &m->actions[m->symbol_action[symbol]];
    for (uint32_t f = 0; f < a->nfields; f++) {
        out[f] = a->field_domains[f].values[il_model_field_value(m, symbol, f)];
    }
}

/* Place of a value in a domain; d->size when it has none. */
static uint32_t eval_place(const il_domain *d, il_cel_value v) {
    switch (d->kind) {
    case IL_DOMAIN_BOOL:
        return v.kind == IL_CEL_BOOL ? (v.u.b ? 1 : 0) : d->size;
    case IL_DOMAIN_INT: {
        int64_t place = 0;
        if (v.kind != IL_CEL_INT || __builtin_sub_overflow(v.u.i, d->lo, &place) || place < 0 || place >= (int64_t)d->size) {
            return d->size;
        }
        return (uint32_t)place;
    }
    case IL_DOMAIN_ENUM:
        for (uint32_t i = 0; v.kind == IL_CEL_STRING && i < d->size; i++) {
            if (il_str_eq(d->names[i], il_cel_str(v))) {
                return i;
            }
        }
        return d->size;
    }
    return d->size;
}

/* A saturated counter sticks to its ceiling: counting down from there would claim to know how often it was passed. */
static il_cel_value eval_saturate(const il_domain *d, il_cel_value before, il_cel_value v) {
    int64_t hi = d->lo + (int64_t)d->size - 1;
    if (v.kind != IL_CEL_INT) {
        return v;
    }
    if (before.u.i == hi || v.u.i > hi) {
        return il_cel_of_int(hi);
    }
    return v.u.i < d->lo ? il_cel_of_int(d->lo) : v;
}

static il_eval eval_stay(uint64_t state, il_verdict verdict, uint8_t reason) {
    il_eval e = {0};
    e.step.next = state;
    e.step.verdict = (uint8_t)verdict;
    e.step.reason = reason;
    e.clause = UINT32_MAX;
    e.next = state;
    e.fault_var = UINT32_MAX;
    e.fault_nap = UINT32_MAX;
    return e;
}

static bool eval_skips(const il_variant *v, uint32_t action, uint32_t clause, uint8_t rule) {
    return v && v->skip && v->skip_action == action && (v->skip_rule ? v->skip_rule == rule : v->skip_clause == clause);
}

/* The values that a step's guards read, and what its updates come to. */
typedef struct eval_step {
    il_cel_value pre[IL_MODEL_VARS_MAX], next[IL_MODEL_VARS_MAX], call[IL_MODEL_FIELDS_MAX];
    il_cel_value vars[4]; /* the three as records, and the action's name */
    uint64_t after;
    uint64_t escaped, failed; /* as in il_look */
} eval_step;

static void eval_call_in(const il_model *m, const il_action_def *a, uint64_t state, uint32_t symbol, eval_step *s) {
    eval_state(m, state, s->pre);
    memcpy(s->next, s->pre, m->nvars * sizeof s->pre[0]);
    eval_call(m, symbol, s->call);
    for (uint32_t u = 0; u < a->nupdates; u++) {
        s->next[a->updates[u].var] = (il_cel_value){0}; /* unset until its turn; the loader refuses to read it earlier */
    }
    s->vars[0] = eval_record(s->pre, m->nvars);
    s->vars[1] = eval_record(s->call, a->nfields);
    s->vars[2] = eval_record(s->next, m->nvars);
    s->vars[3] = il_cel_of_str(a->name);
    s->after = state;
    s->escaped = s->failed = 0;
}

static void eval_update(const il_model *m, const il_action_def *a, uint32_t u, eval_step *s) {
    const uint32_t var = a->updates[u].var;
    const il_domain *d = &m->vars[var].domain;
    il_cel_value v = il_cel_eval(a->updates[u].value, s->vars, NULL);
    if (d->kind == IL_DOMAIN_INT && d->overflow == IL_OVERFLOW_SATURATE) {
        v = eval_saturate(d, s->pre[var], v);
    }
    s->next[var] = v;
    s->escaped &= ~(UINT64_C(1) << u);
    s->failed &= ~(UINT64_C(1) << u);
    uint32_t place = eval_place(d, v);
    if (place < d->size) {
        s->next[var] = d->values[place];
        s->after = il_model_set(m, s->after, var, place);
    } else if (v.kind != IL_CEL_ERROR && d->kind == IL_DOMAIN_INT && d->overflow == IL_OVERFLOW_REJECT) {
        s->escaped |= UINT64_C(1) << u;
    } else {
        s->failed |= UINT64_C(1) << u;
    }
}

static void eval_updates(const il_model *m, const il_action_def *a, uint64_t state, uint32_t symbol, uint64_t wanted,
                         eval_step *s) {
    eval_call_in(m, a, state, symbol, s);
    for (uint32_t u = 0; u < a->nupdates; u++) {
        if (wanted >> u & 1) {
            eval_update(m, a, u, s);
        }
    }
}

/* An error rejects. */
static bool eval_clause(const il_clause *c, const eval_step *s) {
    il_cel_value v = il_cel_eval(c->guard, s->vars, NULL);
    return v.kind != IL_CEL_BOOL || v.u.b;
}

/* The update that is to blame: the first that failed, else the last that escaped. */
static void eval_blame(const il_action_def *a, const eval_step *s, il_eval *e) {
    uint32_t u = s->failed ? (uint32_t)__builtin_ctzll(s->failed) : 63u - (uint32_t)__builtin_clzll(s->escaped);
    e->fault_var = a->updates[u].var;
    e->fault = s->next[e->fault_var].kind == IL_CEL_ERROR ? "update-error" : "domain-escape";
}

il_look il_model_look_at(const il_model *m, uint64_t state, uint32_t symbol, uint64_t updates, uint32_t clauses) {
    const il_action_def *a = &m->actions[m->symbol_action[symbol]];
    eval_step s;
    eval_updates(m, a, state, symbol, updates, &s);
    il_look look = {.next = s.after, .escaped = s.escaped, .failed = s.failed};
    for (uint32_t c = 0; c < a->nclauses && c < IL_LOOK_CLAUSES; c++) {
        look.hits |= (clauses >> c & 1) && eval_clause(&a->clauses[c], &s) ? UINT32_C(1) << c : 0;
    }
    return look;
}

il_look il_model_look(const il_model *m, uint64_t state, uint32_t symbol) {
    return il_model_look_at(m, state, symbol, UINT64_MAX, UINT32_MAX);
}

/* A step without the naps after it, of which clause `hit` (UINT32_MAX: none) is the first that rejects. */
static il_eval eval_verdict(const il_action_def *a, const eval_step *s, uint64_t state, uint32_t hit) {
    il_eval e = eval_stay(state, hit == UINT32_MAX ? IL_ACCEPT : IL_REJECT, hit == UINT32_MAX ? 0 : a->clauses[hit].rule);
    e.next = s->after;
    e.clause = hit;
    if (s->failed || (s->escaped && e.step.verdict == IL_ACCEPT)) {
        e.step.verdict = IL_FAULT;
        e.step.reason = 0;
        eval_blame(a, s, &e);
    } else if (e.step.verdict == IL_ACCEPT) {
        e.step.next = e.next;
    }
    return e;
}

/* One step without the naps after it. */
static il_eval eval_one(const il_model *m, const il_variant *variant, uint64_t state, uint32_t symbol) {
    uint32_t action = m->symbol_action[symbol];
    const il_action_def *a = &m->actions[action];
    if (variant && (variant->deleted >> action & 1)) {
        return eval_stay(state, IL_REJECT, 0);
    }
    eval_step s;
    eval_updates(m, a, state, symbol, UINT64_MAX, &s);
    uint32_t hit = UINT32_MAX;
    for (uint32_t c = 0; hit == UINT32_MAX && c < a->nclauses; c++) {
        hit = !eval_skips(variant, action, c, a->clauses[c].rule) && eval_clause(&a->clauses[c], &s) ? c : UINT32_MAX;
    }
    return eval_verdict(a, &s, state, hit);
}

bool il_model_nap_holds(const il_model *m, uint32_t nap, uint64_t state) {
    il_cel_value pre[IL_MODEL_VARS_MAX];
    eval_state(m, state, pre);
    const il_cel_value vars[1] = {eval_record(pre, m->nvars)};
    il_cel_value v = il_cel_eval(m->naps[nap].when, vars, NULL);
    return v.kind != IL_CEL_BOOL || v.u.b;
}

/* Takes the first nap that changes something; false when none does, or one faults. */
static bool eval_settle_one(const il_model *m, const il_variant *variant, il_settled *s) {
    for (uint32_t i = 0; i < m->nnaps; i++) {
        const il_nap *nap = &m->naps[i];
        if ((variant && (variant->deleted >> m->symbol_action[nap->symbol] & 1)) || !il_model_nap_holds(m, i, s->state)) {
            continue;
        }
        const il_eval e = eval_one(m, variant, s->state, nap->symbol);
        if (e.step.verdict != IL_ACCEPT) {
            s->fault = e.fault ? e.fault : "nap-refused";
            s->fault_var = e.fault_var;
            s->fault_nap = i;
            s->fault_reason = e.step.reason;
            return false;
        }
        if (e.step.next != s->state) {
            s->state = e.step.next;
            s->fault_nap = i; /* the last that was taken: it is to blame when there is no end */
            return true;
        }
    }
    return false;
}

il_settled il_model_settle(const il_model *m, const il_variant *variant, uint64_t state) {
    il_settled s = {.state = state, .fault_var = UINT32_MAX, .fault_nap = UINT32_MAX};
    for (uint32_t taken = 0; eval_settle_one(m, variant, &s); taken++) {
        if (taken == m->nap_bound) {
            s.fault = "nap-unsettled";
            return s;
        }
    }
    s.fault_nap = s.fault ? s.fault_nap : UINT32_MAX;
    return s;
}

/* With the naps after it. */
static il_eval eval_settled(const il_model *m, const il_variant *variant, uint64_t state, il_eval e) {
    if (m->nnaps == 0 || e.step.verdict == IL_FAULT) {
        return e;
    }
    il_settled s = il_model_settle(m, variant, e.next);
    if (!s.fault) {
        e.next = s.state;
    }
    if (e.step.verdict == IL_ACCEPT) {
        e.step.next = s.fault ? state : s.state;
        e.step.verdict = s.fault ? IL_FAULT : IL_ACCEPT;
        e.fault = s.fault;
        e.fault_var = s.fault_var;
        e.fault_nap = s.fault_nap;
        e.fault_reason = s.fault_reason;
    }
    return e;
}

il_eval il_model_eval(const il_model *m, const il_variant *variant, uint64_t state, uint32_t symbol) {
    if (symbol >= m->nsymbols) {
        return eval_stay(state, IL_REJECT, IL_REASON_NO_SYMBOL);
    }
    if (!il_model_valid(m, state)) {
        return eval_stay(state, IL_REJECT, IL_REASON_OFF_TABLE);
    }
    return eval_settled(m, variant, state, eval_one(m, variant, state, symbol));
}

/* What is known of a step from the payload before it. */
typedef struct eval_row {
    eval_step s;
    uint64_t known, hits; /* bit c: clause c was asked, and rejects */
} eval_row;

/* Takes the next payload: what its fields have a say in is forgotten. */
static void eval_row_turn(const il_model *m, const il_action_def *a, uint64_t state, uint32_t symbol, eval_row *r) {
    uint32_t changed = 0;
    for (uint32_t f = 0; f < a->nfields; f++) {
        const uint32_t value = il_model_field_value(m, symbol, f);
        changed |= value != il_model_field_value(m, symbol - 1, f) ? UINT32_C(1) << f : 0;
        r->s.call[f] = a->field_domains[f].values[value];
    }
    for (uint32_t u = 0; u < a->nupdates; u++) {
        if (a->updates[u].fields & changed) {
            const uint64_t bits = il_model_bits(m, a->updates[u].var);
            r->s.after = (r->s.after & ~bits) | (state & bits);
            eval_update(m, a, u, &r->s);
        }
    }
    for (uint32_t c = 0; c < a->nclauses && c < 64; c++) {
        r->known &= a->clauses[c].fields & changed ? ~(UINT64_C(1) << c) : UINT64_MAX;
    }
}

static bool eval_row_hits(const il_action_def *a, uint32_t clause, eval_row *r) {
    const uint64_t bit = clause < 64 ? UINT64_C(1) << clause : 0;
    if (!(r->known & bit)) {
        const bool hit = eval_clause(&a->clauses[clause], &r->s);
        r->known |= bit;
        r->hits = hit ? r->hits | bit : r->hits & ~bit;
        return hit;
    }
    return (r->hits & bit) != 0;
}

void il_model_eval_action(const il_model *m, uint64_t state, uint32_t action, il_step *out) {
    const il_action_def *a = &m->actions[action];
    const bool valid = il_model_valid(m, state);
    eval_row r = {.known = 0};
    for (uint32_t i = 0; i < a->nsymbols; i++) {
        if (!valid) {
            out[i] = il_model_eval(m, NULL, state, a->first_symbol + i).step;
            continue;
        }
        if (i == 0) {
            eval_updates(m, a, state, a->first_symbol, UINT64_MAX, &r.s);
        } else {
            eval_row_turn(m, a, state, a->first_symbol + i, &r);
        }
        uint32_t hit = UINT32_MAX;
        for (uint32_t c = 0; hit == UINT32_MAX && c < a->nclauses; c++) {
            hit = eval_row_hits(a, c, &r) ? c : UINT32_MAX;
        }
        out[i] = eval_settled(m, NULL, state, eval_verdict(a, &r.s, state, hit)).step;
    }
}

/* What an invariant (`must`) does not fulfil is inside, like what is forbidden; an error always is. */
static bool eval_inside(const il_region *r, il_cel_value v) { return v.kind != IL_CEL_BOOL || v.u.b != r->must; }

bool il_model_refused_as(const il_model *m, uint32_t region, uint64_t pre, uint32_t symbol, il_str reason) {
    const il_region *r = &m->regions[region];
    if (!r->rejection || symbol >= m->nsymbols || !r->on[m->symbol_action[symbol]]) {
        return false;
    }
    const il_action_def *a = &m->actions[m->symbol_action[symbol]];
    il_cel_value before[IL_MODEL_VARS_MAX];
    il_cel_value call[IL_MODEL_FIELDS_MAX];
    eval_state(m, pre, before);
    eval_call(m, symbol, call);
    const il_cel_value vars[4] = {eval_record(before, m->nvars), eval_record(call, a->nfields), il_cel_of_str(reason),
                                  il_cel_of_str(a->name)};
    return eval_inside(r, il_cel_eval(r->on[m->symbol_action[symbol]], vars, NULL));
}

bool il_model_refused_wrongly(const il_model *m, uint32_t region, uint64_t pre, uint32_t symbol, uint8_t reason) {
    return reason != 0 && reason <= m->nrules && il_model_refused_as(m, region, pre, symbol, m->rules[reason - 1].name);
}

bool il_model_in_region(const il_model *m, uint32_t region, uint64_t pre, uint32_t symbol, uint64_t next) {
    const il_region *r = &m->regions[region];
    il_cel_value before[IL_MODEL_VARS_MAX];
    il_cel_value after[IL_MODEL_VARS_MAX];
    il_cel_value call[IL_MODEL_FIELDS_MAX];
    il_cel_value vars[4] = {{0}, {0}, {0}, {0}};
    const il_cel_program *program = r->predicate;
    if (r->rejection) {
        return false;
    }
    eval_state(m, pre, before);
    vars[0] = eval_record(before, m->nvars);
    if (r->edge) {
        if (symbol >= m->nsymbols || !r->on[m->symbol_action[symbol]]) {
            return false; /* an edge that the region does not judge */
        }
        program = r->on[m->symbol_action[symbol]];
        eval_call(m, symbol, call);
        eval_state(m, next, after);
        vars[1] = eval_record(call, m->actions[m->symbol_action[symbol]].nfields);
        vars[2] = eval_record(after, m->nvars);
        vars[3] = il_cel_of_str(m->actions[m->symbol_action[symbol]].name);
    }
    return eval_inside(r, il_cel_eval(program, vars, NULL));
}
