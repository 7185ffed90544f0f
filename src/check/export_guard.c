/* SPDX-License-Identifier: Apache-2.0 */
/* Guards as terms. Only what cannot err becomes a term, so that a truth is a truth; the rest is asked for each of its few arguments. */
#include "cel/ast.h"
#include "check/export_part.h"

enum { GUARD_PRE, GUARD_CALL, GUARD_NEXT, GUARD_REASON = GUARD_NEXT, GUARD_ACTION };

typedef struct guard_reader {
    il_export *x;
    const il_scope *scope;
    const il_term *locals[IL_CEL_LOCALS];
} guard_reader;

bool il_export_holds(int64_t number) { return number > -IL_EXPORT_NUMBER_MAX && number < IL_EXPORT_NUMBER_MAX; }

int64_t il_export_word(const il_export *x, il_str word) {
    uint32_t lo = 0, hi = x->nwords;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (il_str_cmp(x->words[mid], word) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo < x->nwords && il_str_eq(x->words[lo], word) ? (int64_t)lo : -1;
}

/* --- all words of a machine --------------------------------------------------------------------------------------------- */

static void guard_word(il_export *x, il_str word) {
    if (il_export_word(x, word) >= 0 || x->no_memory) {
        return;
    }
    il_str *words = IL_NEW_ARRAY(x->arena, il_str, x->nwords + 1);
    if (!words) {
        x->no_memory = true;
        return;
    }
    uint32_t at = 0;
    while (at < x->nwords && il_str_cmp(x->words[at], word) < 0) {
        words[at] = x->words[at];
        at++;
    }
    words[at] = word;
    for (uint32_t i = at; i < x->nwords; i++) {
        words[i + 1] = x->words[i];
    }
    x->words = words;
    x->nwords++;
}

static void guard_value_words(il_export *x, const il_cel_value *v) {
    if (v->kind == IL_CEL_STRING) {
        guard_word(x, il_cel_str(*v));
    }
    for (uint32_t i = 0; v->kind == IL_CEL_LIST && !v->json && i < v->n; i++) {
        if (v->u.items[i].kind == IL_CEL_STRING) {
            guard_word(x, il_cel_str(v->u.items[i]));
        }
    }
}

static void guard_tree_words(il_export *x, const il_cel_node *n) {
    if (n->constant || n->op == IL_CEL_OP_LIT) {
        guard_value_words(x, &n->lit);
    }
    for (const il_cel_node *k = n->kids; k; k = k->next) {
        guard_tree_words(x, k);
    }
}

static void guard_program_words(il_export *x, const il_cel_program *p) {
    if (p) {
        guard_tree_words(x, p->root);
    }
}

static void guard_domain_words(il_export *x, const il_domain *d) {
    for (uint32_t i = 0; d->kind == IL_DOMAIN_ENUM && i < d->size; i++) {
        guard_word(x, d->names[i]);
    }
}

il_status il_export_words(il_export *x) {
    const il_model *m = x->m;
    for (uint32_t v = 0; v < m->nvars; v++) {
        guard_domain_words(x, &m->vars[v].domain);
    }
    for (uint32_t a = 0; a < m->nactions; a++) {
        const il_action_def *def = &m->actions[a];
        guard_word(x, def->name); /* `action` in an invariant of steps */
        for (uint32_t f = 0; f < def->nfields; f++) {
            guard_domain_words(x, &def->field_domains[f]);
        }
        for (uint32_t u = 0; u < def->nupdates; u++) {
            guard_program_words(x, def->updates[u].value);
        }
        for (uint32_t c = 0; c < def->nclauses; c++) {
            guard_program_words(x, def->clauses[c].guard);
        }
    }
    for (uint32_t r = 0; r < m->nregions; r++) {
        guard_program_words(x, m->regions[r].predicate);
        for (uint32_t i = 0; m->regions[r].rejection && i < m->nrules; i++) {
            guard_word(x, m->rules[i].name); /* `reason` */
        }
        for (uint32_t a = 0; m->regions[r].on && a < m->nactions; a++) {
            guard_program_words(x, m->regions[r].on[a]);
        }
    }
    for (uint32_t n = 0; n < m->nnaps; n++) {
        guard_program_words(x, m->naps[n].when);
    }
    return x->no_memory ? il_arena_fail(x->arena, x->err) : IL_OK;
}

/* --- expressions as terms ------------------------------------------------------------------------------------------------ */

static const il_term *guard_node(guard_reader *g, const il_cel_node *n);

static const il_term *guard_literal(il_export *x, const il_cel_value *v) {
    if (v->kind == IL_CEL_BOOL) {
        return il_term_truth(x, v->u.b);
    }
    if (v->kind == IL_CEL_INT && il_export_holds(v->u.i)) {
        return il_term_const(x, IL_TERM_NUMBER, v->u.i);
    }
    int64_t word = v->kind == IL_CEL_STRING ? il_export_word(x, il_cel_str(*v)) : -1;
    return word >= 0 ? il_term_const(x, IL_TERM_WORD, word) : NULL;
}

static const il_term *guard_field(const guard_reader *g, const il_cel_node *n) {
    const il_model *m = g->x->m;
    switch (n->slot) {
    case GUARD_PRE:
        return n->field < m->nvars ? il_term_leaf(g->x, IL_TERM_PRE, n->field, &m->vars[n->field].domain) : NULL;
    case GUARD_CALL:
        return g->scope->call && n->field < m->actions[g->scope->action].nfields ? g->scope->call[n->field] : NULL;
    case GUARD_NEXT:
        return g->scope->next && n->field < m->nvars ? g->scope->next[n->field] : NULL;
    default:
        return NULL;
    }
}

static const il_term *guard_compare(il_export *x, il_cel_op op, const il_term *a, const il_term *b) {
    if (!a || !b || a->kind != b->kind) {
        return NULL;
    }
    if (op == IL_CEL_OP_EQ || op == IL_CEL_OP_NE) {
        const il_term *same = il_term_compare(x, IL_TERM_EQ, a, b);
        return op == IL_CEL_OP_EQ ? same : il_term_not(x, same);
    }
    if (a->kind == IL_TERM_TRUTH) {
        return NULL; /* an order of truths: rare, and other tools have none */
    }
    return op == IL_CEL_OP_LT   ? il_term_compare(x, IL_TERM_LT, a, b)
           : op == IL_CEL_OP_LE ? il_term_compare(x, IL_TERM_LE, a, b)
           : op == IL_CEL_OP_GT ? il_term_compare(x, IL_TERM_LT, b, a)
                                : il_term_compare(x, IL_TERM_LE, b, a);
}

static bool guard_number(const il_term *t) {
    return t && t->kind == IL_TERM_NUMBER && il_export_holds(t->lo) && il_export_holds(t->hi);
}

static const il_term *guard_sum(il_export *x, il_cel_op op, const il_term *a, const il_term *b) {
    if (!guard_number(a) || !guard_number(b)) {
        return NULL;
    }
    const il_term *t = il_term_sum(x, op == IL_CEL_OP_ADD ? IL_TERM_ADD : op == IL_CEL_OP_SUB ? IL_TERM_SUB : IL_TERM_MUL, a, b);
    return guard_number(t) ? t : NULL;
}

static const il_term *guard_chain(guard_reader *g, const il_cel_node *n) {
    const il_term *all = NULL;
    for (const il_cel_node *k = n->kids; k; k = k->next) {
        const il_term *t = guard_node(g, k);
        if (!t || t->kind != IL_TERM_TRUTH) {
            return NULL;
        }
        all = !all ? t : n->op == IL_CEL_OP_AND ? il_term_and(g->x, all, t) : il_term_or(g->x, all, t);
    }
    return all;
}

/* Runs over the items of a list that is written out: `item` each, in order. false: not such a list. */
typedef const il_term *(*guard_each)(guard_reader *g, const il_cel_node *n, const il_term *item, const il_term *sum);
static const il_term *guard_items(guard_reader *g, const il_cel_node *n, const il_cel_node *list, const il_term *sum,
                                  guard_each each) {
    if (list->constant || list->op == IL_CEL_OP_LIT) {
        if (list->lit.kind != IL_CEL_LIST || list->lit.json) {
            return NULL;
        }
        for (uint32_t i = 0; sum && i < list->lit.n; i++) {
            const il_term *item = guard_literal(g->x, &list->lit.u.items[i]);
            sum = item ? each(g, n, item, sum) : NULL;
        }
        return sum;
    }
    if (list->op != IL_CEL_OP_LIST) {
        return NULL;
    }
    for (const il_cel_node *k = list->kids; sum && k; k = k->next) {
        const il_term *item = k->maybe ? NULL : guard_node(g, k);
        sum = item ? each(g, n, item, sum) : NULL;
    }
    return sum;
}

static const il_term *guard_each_in(guard_reader *g, const il_cel_node *n, const il_term *item, const il_term *sum) {
    const il_term *one = guard_compare(g->x, IL_CEL_OP_EQ, guard_node(g, n->kids), item);
    return one ? il_term_or(g->x, sum, one) : NULL;
}

static const il_term *guard_each_body(guard_reader *g, const il_cel_node *n, const il_term *item, const il_term *sum) {
    if (n->slot >= IL_CEL_LOCALS) {
        return NULL;
    }
    const il_term *outer = g->locals[n->slot];
    g->locals[n->slot] = item;
    const il_term *one = guard_node(g, n->kids->next);
    g->locals[n->slot] = outer;
    if (!one || one->kind != IL_TERM_TRUTH) {
        return NULL;
    }
    return n->op == IL_CEL_OP_ALL ? il_term_and(g->x, sum, one) : il_term_or(g->x, sum, one);
}

static const il_term *guard_condition(guard_reader *g, const il_cel_node *n) {
    const il_term *c = guard_node(g, n->kids);
    const il_term *a = guard_node(g, n->kids->next);
    const il_term *b = guard_node(g, n->kids->next->next);
    return c && a && b && c->kind == IL_TERM_TRUTH && a->kind == b->kind ? il_term_if(g->x, c, a, b) : NULL;
}

static const il_term *guard_bind(guard_reader *g, const il_cel_node *n) {
    const il_term *value = guard_node(g, n->kids);
    if (!value || n->slot >= IL_CEL_LOCALS) {
        return NULL;
    }
    const il_term *outer = g->locals[n->slot];
    g->locals[n->slot] = value;
    const il_term *body = guard_node(g, n->kids->next);
    g->locals[n->slot] = outer;
    return body;
}

static const il_term *guard_node(guard_reader *g, const il_cel_node *n) {
    il_export *x = g->x;
    const il_term *t = NULL;
    if (n->constant) {
        return guard_literal(x, &n->lit);
    }
    switch ((il_cel_op)n->op) {
    case IL_CEL_OP_LIT:
        return guard_literal(x, &n->lit);
    case IL_CEL_OP_LET:
        return guard_node(g, n->kids);
    case IL_CEL_OP_LOCAL:
        return n->slot < IL_CEL_LOCALS ? g->locals[n->slot] : NULL;
    case IL_CEL_OP_FIELD:
        return guard_field(g, n);
    case IL_CEL_OP_VAR:
        if (n->slot == GUARD_REASON && g->scope->reason > 0) {
            return il_term_const(x, IL_TERM_WORD, il_export_word(x, x->m->rules[g->scope->reason - 1].name));
        }
        return n->slot == GUARD_ACTION && g->scope->action < x->m->nactions
                   ? il_term_const(x, IL_TERM_WORD, il_export_word(x, x->m->actions[g->scope->action].name))
                   : NULL;
    case IL_CEL_OP_NOT:
        t = guard_node(g, n->kids);
        return t && t->kind == IL_TERM_TRUTH ? il_term_not(x, t) : NULL;
    case IL_CEL_OP_NEG:
        t = guard_node(g, n->kids);
        return guard_sum(x, IL_CEL_OP_SUB, il_term_const(x, IL_TERM_NUMBER, 0), t);
    case IL_CEL_OP_ADD:
    case IL_CEL_OP_SUB:
    case IL_CEL_OP_MUL:
        t = guard_node(g, n->kids);
        return t ? guard_sum(x, (il_cel_op)n->op, t, guard_node(g, n->kids->next)) : NULL;
    case IL_CEL_OP_LT:
    case IL_CEL_OP_LE:
    case IL_CEL_OP_GT:
    case IL_CEL_OP_GE:
    case IL_CEL_OP_EQ:
    case IL_CEL_OP_NE:
        t = guard_node(g, n->kids);
        return t ? guard_compare(x, (il_cel_op)n->op, t, guard_node(g, n->kids->next)) : NULL;
    case IL_CEL_OP_IN:
        return guard_items(g, n, n->kids->next, il_term_truth(x, false), guard_each_in);
    case IL_CEL_OP_AND:
    case IL_CEL_OP_OR:
        return guard_chain(g, n);
    case IL_CEL_OP_COND:
        return guard_condition(g, n);
    case IL_CEL_OP_EXISTS:
    case IL_CEL_OP_ALL:
        return n->slot2 != IL_CEL_NO_SLOT ? NULL
                                          : guard_items(g, n, n->kids, il_term_truth(x, n->op == IL_CEL_OP_ALL), guard_each_body);
    case IL_CEL_OP_BIND:
        return guard_bind(g, n);
    /* What may err, makes texts or lists, or is too rare to be worth a second meaning here: asked, not translated. */
    case IL_CEL_OP_DIV:
    case IL_CEL_OP_MOD:
    case IL_CEL_OP_LIST:
    case IL_CEL_OP_MAP:
    case IL_CEL_OP_NAME:
    case IL_CEL_OP_TYPE:
    case IL_CEL_OP_SELECT:
    case IL_CEL_OP_HAS:
    case IL_CEL_OP_INDEX:
    case IL_CEL_OP_CALL:
    case IL_CEL_OP_EXISTS_ONE:
    case IL_CEL_OP_FILTER:
    case IL_CEL_OP_TRANSFORM:
    case IL_CEL_OP_TRANSFORM_MAP:
    case IL_CEL_OP_TRANSFORM_ENTRY:
    case IL_CEL_OP_OPT_MAP:
    case IL_CEL_OP_OPT_FLAT_MAP:
        return NULL;
    }
    return NULL;
}

const il_term *il_export_term(il_export *x, const il_cel_program *p, const il_scope *scope) {
    guard_reader g = {.x = x, .scope = scope};
    return guard_node(&g, p->root);
}

il_status il_export_guard(il_export *x, const il_cel_program *p, const il_scope *scope, uint32_t line, uint32_t col,
                          const il_term **value, const il_term **error) {
    *value = il_export_term(x, p, scope);
    *error = il_term_truth(x, false);
    if (x->no_memory) {
        return il_arena_fail(x->arena, x->err);
    }
    return *value ? IL_OK : il_export_table(x, p, scope, line, col, value, error);
}
