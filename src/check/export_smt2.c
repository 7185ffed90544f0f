/* SPDX-License-Identifier: Apache-2.0 */
/* For Z3: the transition relation over bit vectors. Each question is announced by a line of its own (`lethal-trifecta admit`), then answered.
 *
 * Without steps, from any state of the full product: `accept ACTION` must be sat (else what follows says nothing); `fault ACTION` and
 * `REGION ACTION` unsat: no step of that action fails, or leads from outside the region into it, or is rejected for a wrong reason. With the line
 * `; (assert |outside|)` made an assertion, all regions are kept together: none of them is left as a place to begin in. With steps, from the initial state: `depth N` is
 * sat when a run of N steps ends in a region or a fault, and the action of its last step follows. */
#include "check/export_part.h"

typedef struct smt_names { /* where a term stands */
    uint32_t action, step;
    uint32_t nap; /* 0: before the updates; else variables are those after so many rounds of naps, plus 1 */
} smt_names;

static uint32_t smt_width(const il_export *x) {
    uint32_t width = 2;
    while (width < 62 && (x->least < -(INT64_C(1) << (width - 1)) || x->most >= INT64_C(1) << (width - 1))) {
        width++;
    }
    return width;
}

static void smt_number(const il_export *x, int64_t value) {
    uint32_t width = smt_width(x);
    il_buf_puts(x->out, "(_ bv");
    il_buf_putu(x->out, (uint64_t)value & ((UINT64_C(1) << width) - 1));
    il_buf_putc(x->out, ' ');
    il_buf_putu(x->out, width);
    il_buf_putc(x->out, ')');
}

static void smt_const(const il_export *x, il_term_kind kind, int64_t value) {
    if (kind == IL_TERM_TRUTH) {
        il_buf_puts(x->out, value ? "true" : "false");
    } else {
        smt_number(x, value);
    }
}

static void smt_state(const il_export *x, uint32_t v, uint32_t step) {
    il_buf_putc(x->out, '|');
    il_buf_put(x->out, x->m->vars[v].name);
    il_buf_putc(x->out, '@');
    il_buf_putu(x->out, step);
    il_buf_putc(x->out, '|');
}

static void smt_part(const il_export *x, const smt_names *n, const char *mark, il_str name, uint32_t round) {
    il_buf_putc(x->out, '|');
    il_buf_put(x->out, x->m->actions[n->action].name);
    il_buf_puts(x->out, mark);
    il_buf_put(x->out, name);
    if (round > 0) {
        il_buf_putc(x->out, '#');
        il_buf_putu(x->out, round);
    }
    il_buf_putc(x->out, '@');
    il_buf_putu(x->out, n->step);
    il_buf_putc(x->out, '|');
}

static const char *smt_sign(il_term_op op) {
    switch (op) {
    case IL_TERM_NOT:
        return "(not ";
    case IL_TERM_AND:
        return "(and ";
    case IL_TERM_OR:
        return "(or ";
    case IL_TERM_EQ:
        return "(= ";
    case IL_TERM_LT:
        return "(bvslt ";
    case IL_TERM_LE:
        return "(bvsle ";
    case IL_TERM_ADD:
        return "(bvadd ";
    case IL_TERM_SUB:
        return "(bvsub ";
    case IL_TERM_MUL:
        return "(bvmul ";
    case IL_TERM_IF:
        return "(ite ";
    case IL_TERM_CONST:
    case IL_TERM_PRE:
    case IL_TERM_CALL:
    case IL_TERM_NEXT:
        break;
    }
    return "(";
}

static void smt_term(const il_export *x, const il_term *t, const smt_names *n) {
    switch ((il_term_op)t->op) {
    case IL_TERM_CONST:
        smt_const(x, (il_term_kind)t->kind, t->value);
        return;
    case IL_TERM_PRE:
        if (n->nap > 0) {
            smt_part(x, n, "'", x->m->vars[t->at].name, n->nap - 1);
        } else {
            smt_state(x, t->at, n->step);
        }
        return;
    case IL_TERM_NEXT:
        smt_part(x, n, "'", x->m->vars[t->at].name, 0);
        return;
    case IL_TERM_CALL:
        smt_part(x, n, ".", x->m->actions[n->action].fields[t->at], 0);
        return;
    case IL_TERM_NOT:
    case IL_TERM_AND:
    case IL_TERM_OR:
    case IL_TERM_EQ:
    case IL_TERM_LT:
    case IL_TERM_LE:
    case IL_TERM_ADD:
    case IL_TERM_SUB:
    case IL_TERM_MUL:
    case IL_TERM_IF:
        il_buf_puts(x->out, smt_sign((il_term_op)t->op));
        for (int i = 0; i < 3 && t->kid[i]; i++) {
            il_buf_puts(x->out, i ? " " : "");
            smt_term(x, t->kid[i], n);
        }
        il_buf_putc(x->out, ')');
        return;
    }
}

static void smt_sort(const il_export *x, const il_domain *d) {
    if (d->kind == IL_DOMAIN_BOOL) {
        il_buf_puts(x->out, "Bool");
        return;
    }
    il_buf_puts(x->out, "(_ BitVec ");
    il_buf_putu(x->out, smt_width(x));
    il_buf_putc(x->out, ')');
}

/* A constant of a domain; `n` NULL: variable `at` after `step` steps, else field `at` of an action. */
static void smt_declare(const il_export *x, const il_domain *d, const smt_names *n, uint32_t at, uint32_t step) {
    il_buf *b = x->out;
    for (int pass = 0; pass < (d->kind == IL_DOMAIN_BOOL ? 1 : 2); pass++) {
        il_buf_puts(b, pass ? "(assert (or" : "(declare-const ");
        for (uint32_t i = 0; i < (pass ? d->size : 1); i++) {
            il_buf_puts(b, pass ? " (= " : "");
            if (n) {
                smt_part(x, n, ".", x->m->actions[n->action].fields[at], 0);
            } else {
                smt_state(x, at, step);
            }
            il_buf_putc(b, ' ');
            if (pass) {
                smt_number(x, il_term_code(x, d, i));
                il_buf_putc(b, ')');
            }
        }
        if (!pass) {
            smt_sort(x, d);
        }
        il_buf_puts(b, pass ? "))\n" : ")\n");
    }
}

static void smt_define(const il_export *x, const smt_names *n, const char *mark, il_str name, uint32_t round,
                       const il_domain *d) {
    il_buf_puts(x->out, "(define-fun ");
    smt_part(x, n, mark, name, round);
    il_buf_puts(x->out, " () ");
    if (d) {
        smt_sort(x, d);
    } else {
        il_buf_puts(x->out, "Bool");
    }
    il_buf_putc(x->out, ' ');
}

static void smt_define_truth(const il_export *x, const smt_names *n, const char *what, const il_term *t) {
    smt_define(x, n, "!", il_str_of(what), 0, NULL);
    smt_term(x, t, n);
    il_buf_puts(x->out, ")\n");
}

/* One round: the first nap that is due takes its step; none due, or nothing changes, is the end. `!late`: a step refused. */
static il_status smt_round(il_export *x, const smt_names *n, uint32_t round) {
    const il_model *m = x->m;
    const il_scope scope = {.action = UINT32_MAX};
    const smt_names at = {n->action, n->step, round + 1};
    const il_term *refused = il_term_truth(x, false);
    const il_term **after = il_export_leaves(x, IL_TERM_PRE);
    for (uint32_t i = m->nnaps; after && i-- > 0;) {
        uint32_t action = m->symbol_action[m->naps[i].symbol];
        const il_term *value = NULL, *error = NULL;
        il_export_step s = {0};
        IL_TRY(il_export_guard(x, m->naps[i].when, &scope, m->naps[i].line, m->naps[i].col, &value, &error));
        IL_TRY(il_export_step_of(x, action, il_export_call(x, action, &m->naps[i].symbol), false, &s));
        value = il_export_due(x, il_term_or(x, value, error), &s);
        refused = il_term_if(x, value, il_term_not(x, s.accept), refused);
        for (uint32_t v = 0; v < m->nvars; v++) {
            after[v] = il_term_if(x, value, s.next[v], after[v]);
        }
    }
    smt_define(x, n, "!", IL_STR("refused"), round + 1, NULL);
    smt_term(x, refused, &at);
    il_buf_puts(x->out, ")\n");
    for (uint32_t v = 0; after && v < m->nvars; v++) {
        smt_define(x, n, "'", m->vars[v].name, round + 1, &m->vars[v].domain);
        smt_term(x, after[v], &at);
        il_buf_puts(x->out, ")\n");
    }
    return x->no_memory ? il_arena_fail(x->arena, x->err) : IL_OK;
}

static void smt_wrong(const il_export *x, const smt_names *n, uint32_t region) {
    smt_part(x, n, "!wrong:", x->m->regions[region].name, 0);
}

/* Updates, verdict, the state afterwards and reasons that break a region of rejected steps, of one action, as definitions. */
static il_status smt_action(il_export *x, const smt_names *n, const il_term **call) {
    const il_model *m = x->m;
    const il_action_def *a = &m->actions[n->action];
    il_export_step s = {0};
    for (uint32_t f = 0; f < a->nfields; f++) {
        smt_declare(x, &a->field_domains[f], n, f, 0);
    }
    IL_TRY(il_export_step_of(x, n->action, call, true, &s));
    for (uint32_t v = 0; v < m->nvars; v++) { /* unchanged ones first, updates in their order */
        if (s.next[v]->op == IL_TERM_PRE && s.next[v]->at == v) {
            smt_define(x, n, "'", m->vars[v].name, 0, &m->vars[v].domain);
            smt_term(x, s.next[v], n);
            il_buf_puts(x->out, ")\n");
        }
    }
    for (uint32_t u = 0; u < a->nupdates; u++) {
        uint32_t v = a->updates[u].var;
        if (s.next[v]->op != IL_TERM_PRE || s.next[v]->at != v) {
            smt_define(x, n, "'", m->vars[v].name, 0, &m->vars[v].domain);
            smt_term(x, s.next[v], n);
            il_buf_puts(x->out, ")\n");
        }
    }
    smt_define_truth(x, n, "accept", s.accept);
    for (uint32_t r = 0; r < m->nregions; r++) {
        const il_term *refused = NULL;
        if (m->regions[r].rejection) {
            IL_TRY(il_export_refused(x, r, n->action, call, &s, &refused));
            smt_define(x, n, "!wrong:", m->regions[r].name, 0, NULL);
            smt_term(x, refused, n);
            il_buf_puts(x->out, ")\n");
        }
    }
    uint32_t rounds = m->nnaps > 0 ? m->nap_bound + 1 : 0;
    for (uint32_t i = 0; i < rounds; i++) {
        IL_TRY(smt_round(x, n, i));
    }
    smt_define(x, n, "!", IL_STR("fault"), 0, NULL);
    il_buf_puts(x->out, "(or ");
    smt_term(x, s.fault, n);
    if (rounds > 0) {
        il_buf_puts(x->out, " (and ");
        smt_part(x, n, "!", IL_STR("accept"), 0);
        il_buf_puts(x->out, " (or");
        for (uint32_t i = 0; i < rounds; i++) {
            il_buf_putc(x->out, ' ');
            smt_part(x, n, "!", IL_STR("refused"), i + 1);
        }
        for (uint32_t v = 0; v < m->nvars; v++) { /* still moving at the bound */
            il_buf_puts(x->out, " (not (= ");
            smt_part(x, n, "'", m->vars[v].name, rounds - 1);
            il_buf_putc(x->out, ' ');
            smt_part(x, n, "'", m->vars[v].name, rounds);
            il_buf_puts(x->out, "))");
        }
        il_buf_puts(x->out, "))");
    }
    il_buf_puts(x->out, "))\n");
    smt_define(x, n, "!", IL_STR("step"), 0, NULL); /* accepted, and the state afterwards is the next one */
    il_buf_puts(x->out, "(and ");
    smt_part(x, n, "!", IL_STR("accept"), 0);
    il_buf_puts(x->out, " (not ");
    smt_part(x, n, "!", IL_STR("fault"), 0);
    il_buf_putc(x->out, ')');
    for (uint32_t v = 0; v < m->nvars; v++) {
        il_buf_puts(x->out, " (= ");
        smt_state(x, v, n->step + 1);
        il_buf_putc(x->out, ' ');
        smt_part(x, n, "'", m->vars[v].name, rounds > 0 ? rounds - 1 : 0);
        il_buf_putc(x->out, ')');
    }
    il_buf_puts(x->out, "))\n");
    return IL_OK;
}

/* A region of steps reads the state before and the one after the naps. */
static il_status smt_edge(il_export *x, const smt_names *n, uint32_t region, const il_term **call) {
    const il_term *in = NULL;
    const il_term **names = il_export_leaves(x, IL_TERM_NEXT);
    if (!names) {
        return il_arena_fail(x->arena, x->err);
    }
    IL_TRY(il_export_region(x, region, n->action, call, names, &in));
    if (x->m->nnaps == 0) {
        smt_term(x, in, n);
        return IL_OK;
    }
    il_buf_puts(x->out, "(let (");
    for (uint32_t v = 0; v < x->m->nvars; v++) {
        il_buf_putc(x->out, '(');
        smt_part(x, n, "'", x->m->vars[v].name, 0);
        il_buf_putc(x->out, ' ');
        smt_state(x, v, n->step + 1);
        il_buf_putc(x->out, ')');
    }
    il_buf_puts(x->out, ") ");
    smt_term(x, in, n);
    il_buf_putc(x->out, ')');
    return IL_OK;
}

static void smt_ask(const il_export *x, il_str what, il_str action) {
    il_buf_puts(x->out, "(echo \"");
    il_buf_put(x->out, what);
    il_buf_putc(x->out, ' ');
    il_buf_put(x->out, action);
    il_buf_puts(x->out, "\")\n(check-sat)\n(pop)\n");
}

static bool smt_never(const il_region *r) { return !r->gated && !r->rejection; }

/* A region of states at a step. */
static il_status smt_inside(il_export *x, uint32_t region, uint32_t step) {
    const smt_names at = {.step = step};
    const il_term *in = NULL;
    IL_TRY(il_export_region(x, region, UINT32_MAX, NULL, NULL, &in));
    smt_term(x, in, &at);
    return IL_OK;
}

static il_status smt_questions(il_export *x, uint32_t action) {
    const il_model *m = x->m;
    const smt_names n = {.action = action};
    il_buf *b = x->out;
    il_str name = m->actions[action].name;
    const il_term **call = il_export_call(x, action, NULL);
    il_buf_puts(b, "(push)\n");
    IL_TRY(smt_action(x, &n, call));
    il_buf_puts(b, "(push)\n(assert ");
    smt_part(x, &n, "!", IL_STR("fault"), 0);
    il_buf_puts(b, ")\n");
    smt_ask(x, IL_STR("fault"), name);
    for (uint32_t r = 0; r < m->nregions; r++) {
        if (m->regions[r].rejection && m->regions[r].on[action]) {
            il_buf_puts(b, "(push)\n(assert ");
            smt_wrong(x, &n, r);
            il_buf_puts(b, ")\n");
            smt_ask(x, m->regions[r].name, name);
        }
    }
    il_buf_puts(b, "(assert ");
    smt_part(x, &n, "!", IL_STR("step"), 0);
    il_buf_puts(b, ")\n(push)\n");
    smt_ask(x, IL_STR("accept"), name);
    for (uint32_t r = 0; r < m->nregions; r++) {
        if (!smt_never(&m->regions[r]) || (m->regions[r].edge && !il_export_judges(m, r, action))) {
            continue;
        }
        il_buf_puts(b, "(push)\n(assert ");
        if (m->regions[r].edge) {
            IL_TRY(smt_edge(x, &n, r, call));
        } else {
            il_buf_puts(b, "(and (not ");
            IL_TRY(smt_inside(x, r, 0));
            il_buf_puts(b, ") ");
            IL_TRY(smt_inside(x, r, 1));
            il_buf_putc(b, ')');
        }
        il_buf_puts(b, ")\n");
        smt_ask(x, m->regions[r].name, name);
    }
    il_buf_puts(b, "(pop)\n");
    return IL_OK;
}

static void smt_states(il_export *x, uint32_t step) {
    for (uint32_t v = 0; v < x->m->nvars; v++) {
        smt_declare(x, &x->m->vars[v].domain, NULL, v, step);
    }
}

static void smt_initial(il_export *x) {
    for (uint32_t v = 0; v < x->m->nvars; v++) {
        const il_domain *d = &x->m->vars[v].domain;
        il_buf_puts(x->out, "(assert (= ");
        smt_state(x, v, 0);
        il_buf_putc(x->out, ' ');
        smt_const(x, il_term_kind_of(d), il_term_code(x, d, il_model_get(x->m, x->m->initial, v)));
        il_buf_puts(x->out, "))\n");
    }
}

static il_status smt_induction(il_export *x) {
    il_buf *b = x->out;
    smt_states(x, 0);
    smt_states(x, 1);
    il_buf_puts(b, "(define-fun |outside| () Bool (not (or false");
    for (uint32_t r = 0; r < x->m->nregions; r++) {
        if (smt_never(&x->m->regions[r]) && !x->m->regions[r].edge) {
            il_buf_putc(b, ' ');
            IL_TRY(smt_inside(x, r, 0));
        }
    }
    il_buf_puts(b, ")))\n(push)\n");
    smt_initial(x);
    il_buf_puts(b, "(assert (not |outside|))\n");
    smt_ask(x, IL_STR("begins"), IL_STR("inside"));
    il_buf_puts(b, "; (assert |outside|)\n");
    for (uint32_t a = 0; a < x->m->nactions; a++) {
        IL_TRY(smt_questions(x, a));
    }
    return IL_OK;
}

/* The name of the action that a step took: a number, and a word for people at the end. */
static void smt_act(const il_export *x, uint32_t step) {
    il_buf_puts(x->out, "|@");
    il_buf_putu(x->out, step);
    il_buf_puts(x->out, "|");
}

static il_status smt_step(il_export *x, uint32_t step) {
    const il_model *m = x->m;
    il_buf *b = x->out;
    il_buf_puts(b, "(declare-const ");
    smt_act(x, step);
    il_buf_puts(b, " (_ BitVec 8))\n");
    smt_states(x, step + 1);
    for (uint32_t a = 0; a < m->nactions; a++) {
        const smt_names n = {.action = a, .step = step};
        const il_term **call = il_export_call(x, a, NULL);
        IL_TRY(smt_action(x, &n, call));
        smt_define(x, &n, "!", IL_STR("bad"), 0, NULL);
        il_buf_puts(b, "(or false");
        for (uint32_t r = 0; r < m->nregions; r++) {
            if (m->regions[r].rejection) {
                il_buf_putc(b, ' ');
                smt_wrong(x, &n, r);
            }
        }
        il_buf_puts(b, " (and ");
        smt_part(x, &n, "!", IL_STR("step"), 0);
        il_buf_puts(b, " (or false");
        for (uint32_t r = 0; r < m->nregions; r++) {
            if (smt_never(&m->regions[r]) && il_export_judges(m, r, a)) {
                il_buf_putc(b, ' ');
                IL_TRY(smt_edge(x, &n, r, call));
            } else if (smt_never(&m->regions[r]) && !m->regions[r].edge) {
                il_buf_putc(b, ' ');
                IL_TRY(smt_inside(x, r, step + 1));
            }
        }
        il_buf_puts(b, "))))\n");
    }
    il_buf_puts(b, "(push)\n(assert (or");
    for (uint32_t a = 0; a < m->nactions; a++) {
        const smt_names n = {.action = a, .step = step};
        il_buf_puts(b, " (and (= ");
        smt_act(x, step);
        il_buf_puts(b, " (_ bv");
        il_buf_putu(b, a);
        il_buf_puts(b, " 8)) (or ");
        smt_part(x, &n, "!", IL_STR("bad"), 0);
        il_buf_putc(b, ' ');
        smt_part(x, &n, "!", IL_STR("fault"), 0);
        il_buf_puts(b, "))");
    }
    il_buf_puts(b, "))\n(echo \"depth ");
    il_buf_putu(b, step + 1);
    il_buf_puts(b, "\")\n(check-sat)\n(eval (bv2int ");
    smt_act(x, step);
    il_buf_puts(b, "))\n(pop)\n(assert (or");
    for (uint32_t a = 0; a < m->nactions; a++) {
        const smt_names n = {.action = a, .step = step};
        il_buf_putc(b, ' ');
        smt_part(x, &n, "!", IL_STR("step"), 0);
    }
    il_buf_puts(b, "))\n");
    return IL_OK;
}

static il_status smt_runs(il_export *x, uint32_t steps) {
    for (uint32_t a = 0; a < x->m->nactions; a++) {
        il_buf_puts(x->out, "; action ");
        il_buf_putu(x->out, a);
        il_buf_putc(x->out, ' ');
        il_buf_put(x->out, x->m->actions[a].name);
        il_buf_putc(x->out, '\n');
    }
    smt_states(x, 0);
    smt_initial(x);
    for (uint32_t i = 0; i < steps; i++) {
        IL_TRY(smt_step(x, i));
    }
    return IL_OK;
}

il_status il_export_smt2(il_export *x, uint32_t steps) {
    const il_buf empty = *x->out;
    for (int pass = 0; pass < 2; pass++) { /* the first finds how wide numbers are */
        *x->out = empty;
        il_buf_puts(x->out, "; Machine ");
        il_buf_put(x->out, x->m->name);
        il_buf_puts(x->out, ", from its guards.\n");
        IL_TRY(steps > 0 ? smt_runs(x, steps) : smt_induction(x));
    }
    return IL_OK;
}
