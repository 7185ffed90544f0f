/* SPDX-License-Identifier: Apache-2.0 */
/* One step of an action as terms: what eval.c computes for one state, here for all of them. */
#include "check/export_part.h"

const il_term **il_export_leaves(il_export *x, il_term_op op) {
    const il_term **leaves = IL_NEW_ARRAY(x->arena, const il_term *, x->m->nvars);
    for (uint32_t v = 0; leaves && v < x->m->nvars; v++) {
        leaves[v] = il_term_leaf(x, op, v, &x->m->vars[v].domain);
    }
    x->no_memory = x->no_memory || !leaves;
    return leaves;
}

const il_term **il_export_call(il_export *x, uint32_t action, const uint32_t *symbol) {
    const il_action_def *a = &x->m->actions[action];
    const il_term **call = IL_NEW_ARRAY(x->arena, const il_term *, a->nfields);
    for (uint32_t f = 0; call && f < a->nfields; f++) {
        const il_domain *d = &a->field_domains[f];
        call[f] = symbol ? il_term_const(x, il_term_kind_of(d), il_term_code(x, d, il_model_field_value(x->m, *symbol, f)))
                         : il_term_leaf(x, IL_TERM_CALL, f, d);
    }
    x->no_memory = x->no_memory || !call;
    return call;
}

/* A saturated counter sticks to its ceiling. */
static const il_term *step_saturate(il_export *x, uint32_t var, const il_term *t) {
    const il_domain *d = &x->m->vars[var].domain;
    const il_term *lo = il_term_const(x, IL_TERM_NUMBER, d->lo);
    const il_term *hi = il_term_const(x, IL_TERM_NUMBER, d->lo + (int64_t)d->size - 1);
    const il_term *pre = il_term_leaf(x, IL_TERM_PRE, var, d);
    const il_term *top = il_term_or(x, il_term_compare(x, IL_TERM_EQ, pre, hi), il_term_compare(x, IL_TERM_LT, hi, t));
    return il_term_if(x, top, hi, il_term_if(x, il_term_compare(x, IL_TERM_LT, t, lo), lo, t));
}

/* Stands for what an update comes to, in what follows: as wide as that is. */
static const il_term *step_name(il_export *x, uint32_t var, const il_term *t) {
    il_term *name = IL_NEW(x->arena, il_term);
    if (!name) {
        x->no_memory = true;
        return t;
    }
    *name = (il_term){.op = IL_TERM_NEXT, .kind = t->kind, .at = var, .lo = t->lo, .hi = t->hi};
    return name;
}

typedef struct step_sum {
    const il_term *escaped, *failed;
    const il_term **seen; /* what `next` is to later updates and to clauses */
} step_sum;

static il_status step_update(il_export *x, const il_update *u, const il_scope *scope, bool names, il_export_step *out,
                             step_sum *sum) {
    const il_domain *d = &x->m->vars[u->var].domain;
    const il_term *value = NULL, *error = NULL;
    IL_TRY(il_export_guard(x, u->value, scope, u->line, u->col, &value, &error));
    if (value->kind != (uint8_t)il_term_kind_of(d)) { /* a table that errs everywhere */
        value = il_term_leaf(x, IL_TERM_PRE, u->var, d);
    }
    if (d->kind == IL_DOMAIN_INT && d->overflow == IL_OVERFLOW_SATURATE) {
        value = step_saturate(x, u->var, value);
    }
    const il_term *outside = il_term_not(x, il_term_inside(x, d, value));
    if (d->kind == IL_DOMAIN_INT && d->overflow == IL_OVERFLOW_REJECT) {
        sum->escaped = il_term_or(x, sum->escaped, il_term_and(x, il_term_not(x, error), outside));
        sum->failed = il_term_or(x, sum->failed, error);
    } else {
        sum->failed = il_term_or(x, sum->failed, il_term_or(x, error, outside));
    }
    out->next[u->var] = value;
    sum->seen[u->var] = names && value->op != IL_TERM_CONST ? step_name(x, u->var, value) : value;
    return IL_OK;
}

il_status il_export_step_of(il_export *x, uint32_t action, const il_term *const *call, bool names, il_export_step *out) {
    const il_action_def *a = &x->m->actions[action];
    step_sum sum = {.escaped = il_term_truth(x, false), .failed = il_term_truth(x, false)};
    sum.seen = il_export_leaves(x, IL_TERM_PRE);
    out->next = il_export_leaves(x, IL_TERM_PRE);
    out->clauses = IL_NEW_ARRAY(x->arena, const il_term *, a->nclauses);
    if (!call || !sum.seen || !out->next || !out->clauses) {
        return il_arena_fail(x->arena, x->err);
    }
    const il_scope scope = {.action = action, .call = call, .next = sum.seen};
    for (uint32_t u = 0; u < a->nupdates; u++) {
        IL_TRY(step_update(x, &a->updates[u], &scope, names, out, &sum));
    }
    const il_term *rejects = il_term_truth(x, false);
    for (uint32_t c = 0; c < a->nclauses; c++) {
        const il_term *value = NULL, *error = NULL;
        IL_TRY(il_export_guard(x, a->clauses[c].guard, &scope, a->clauses[c].line, a->clauses[c].col, &value, &error));
        out->clauses[c] = il_term_or(x, value, error); /* an error rejects */
        rejects = il_term_or(x, rejects, out->clauses[c]);
    }
    const il_term *accepted = il_term_not(x, rejects);
    out->fault = il_term_or(x, sum.failed, il_term_and(x, accepted, sum.escaped));
    out->accept = il_term_and(x, accepted, il_term_not(x, il_term_or(x, sum.failed, sum.escaped)));
    return x->no_memory ? il_arena_fail(x->arena, x->err) : IL_OK;
}

const il_term *il_export_due(il_export *x, const il_term *holds, const il_export_step *s) {
    const il_term *moves = il_term_not(x, s->accept);
    for (uint32_t v = 0; v < x->m->nvars; v++) {
        const il_term *pre = il_term_leaf(x, IL_TERM_PRE, v, &x->m->vars[v].domain);
        if (s->next[v]->op != IL_TERM_PRE || s->next[v]->at != v) {
            moves = il_term_or(x, moves, il_term_not(x, il_term_compare(x, IL_TERM_EQ, s->next[v], pre)));
        }
    }
    return il_term_and(x, holds, moves);
}

bool il_export_judges(const il_model *m, uint32_t region, uint32_t action) {
    const il_region *r = &m->regions[region];
    return r->edge && !r->rejection && r->on && r->on[action] != NULL;
}

il_status il_export_refused(il_export *x, uint32_t region, uint32_t action, const il_term *const *call, const il_export_step *s,
                            const il_term **out) {
    const il_region *r = &x->m->regions[region];
    const il_action_def *a = &x->m->actions[action];
    const il_term *earlier = il_term_or(x, s->fault, s->accept); /* neither is a rejection */
    *out = il_term_truth(x, false);
    for (uint32_t c = 0; r->rejection && r->on[action] && c < a->nclauses;
         c++) { /* the first clause that holds gives the reason */
        const il_scope scope = {.action = action, .call = call, .reason = a->clauses[c].rule};
        const il_term *value = NULL, *error = NULL;
        IL_TRY(il_export_guard(x, r->on[action], &scope, r->line, r->col, &value, &error));
        const il_term *first = il_term_and(x, il_term_not(x, earlier), s->clauses[c]);
        *out = il_term_or(x, *out, il_term_and(x, first, il_term_or(x, il_term_not(x, value), error)));
        earlier = il_term_or(x, earlier, s->clauses[c]);
    }
    return x->no_memory ? il_arena_fail(x->arena, x->err) : IL_OK;
}

il_status il_export_region(il_export *x, uint32_t region, uint32_t action, const il_term *const *call, const il_term **next,
                           const il_term **out) {
    const il_region *r = &x->m->regions[region];
    const il_scope scope = {.action = action, .call = call, .next = next};
    const il_term *value = NULL, *error = NULL;
    IL_TRY(il_export_guard(x, r->edge ? r->on[action] : r->predicate, &scope, r->line, r->col, &value, &error));
    *out = il_term_or(x, r->must ? il_term_not(x, value) : value, error); /* an error counts as inside */
    return x->no_memory ? il_arena_fail(x->arena, x->err) : IL_OK;
}
