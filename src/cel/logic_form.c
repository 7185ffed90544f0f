/* SPDX-License-Identifier: Apache-2.0 */
/* A condition as two diagrams, by the rules of the language for errors: `a && b` is true when both are, false when either is.
 * What cannot be taken apart is a term that is true, false or neither. */
#include "cel/logic_part.h"
#include "cel/value.h"

static il_cel_bits form_const(bool truth) {
    return truth ? (il_cel_bits){IL_BDD_TRUE, IL_BDD_FALSE} : (il_cel_bits){IL_BDD_FALSE, IL_BDD_TRUE};
}

/* `fact` where there is a value at all. */
static il_cel_bits form_where(il_cel_logic *l, il_bdd_ref ok, il_bdd_ref fact) {
    const il_bdd_ref yes = il_bdd_and(&l->bdd, ok, fact);
    return (il_cel_bits){yes, il_bdd_and(&l->bdd, ok, il_bdd_not(&l->bdd, fact))};
}

static il_cel_bits form_turned(il_cel_bits b) { return (il_cel_bits){b.no, b.yes}; }

static il_cel_bits form_both(il_cel_logic *l, il_cel_bits a, il_cel_bits b) {
    return (il_cel_bits){il_bdd_and(&l->bdd, a.yes, b.yes), il_bdd_or(&l->bdd, a.no, b.no)};
}

static il_cel_bits form_either(il_cel_logic *l, il_cel_bits a, il_cel_bits b) {
    return form_turned(form_both(l, form_turned(a), form_turned(b)));
}

/* A term that is not taken apart. */
static il_cel_bits form_term(il_cel_logic *l, uint32_t t) {
    if (il_bdd_bad(&l->bdd)) {
        return (il_cel_bits){0, 0};
    }
    const il_bdd_ref ok = il_cel_fact_ok(l, t);
    const il_bdd_ref yes = il_cel_fact_equal(l, t, il_cel_of_bool(true)), no = il_cel_fact_equal(l, t, il_cel_of_bool(false));
    return (il_cel_bits){il_bdd_and(&l->bdd, ok, yes), il_bdd_and(&l->bdd, ok, no)};
}

/* What is a bool or an error by its operator. */
static bool form_is_condition(const il_cel_logic *l, const il_cel_node *n) {
    if (n->constant || n->op == IL_CEL_OP_LIT) {
        return n->lit.kind == IL_CEL_BOOL;
    }
    const il_cel_op op = (il_cel_op)n->op;
    if (op == IL_CEL_OP_COND) {
        return form_is_condition(l, n->kids->next) && form_is_condition(l, n->kids->next->next);
    }
    if (op == IL_CEL_OP_CALL) {
        return n->function == NULL && il_cel_term_bool_call(n->builtin);
    }
    if (op == IL_CEL_OP_VAR) {
        return n->slot < l->env->nvars && l->env->vars[n->slot].type != NULL && l->env->vars[n->slot].type->kind == IL_CEL_BOOL;
    }
    if (op == IL_CEL_OP_LOCAL) {
        return n->slot < IL_CEL_LOCALS && l->locals[n->slot].condition;
    }
    return il_cel_gives_truth(op);
}

/* The same, or a value that is a bool when it is none. */
static bool form_is_bool(il_cel_logic *l, const il_cel_node *n) {
    if (form_is_condition(l, n)) {
        return true;
    }
    const uint32_t t = il_cel_term_of(l, n);
    return il_cel_term_is(&l->terms[t], IL_CEL_BOOL);
}

static bool form_lit(const il_cel_logic *l, uint32_t t) { return l->terms[t].op == IL_CEL_OP_LIT; }

/* A class that nothing else is of and null is none of. */
static bool form_plain_class(il_cel_class of) { return of >= IL_CEL_CLASS_BOOL && of <= IL_CEL_CLASS_BYTES; }

/* Where two values can be compared: everywhere, but in a program that wants operands alike. `b`: a literal, if one is. */
static il_bdd_ref form_alike(il_cel_logic *l, uint32_t a, uint32_t b) {
    const il_cel_class of_a = il_cel_class_of_type(l->terms[a].type), of = il_cel_class_of_type(l->terms[b].type);
    if (!l->program->alike || (form_lit(l, b) && l->terms[b].lit.kind == IL_CEL_NULL) || (form_plain_class(of) && of == of_a)) {
        return IL_BDD_TRUE;
    }
    if (form_plain_class(of)) {
        return il_bdd_or(&l->bdd, il_cel_fact_class(l, a, of), il_cel_fact_equal(l, a, il_cel_of(IL_CEL_NULL, 0)));
    }
    const uint32_t kids[2] = {a < b ? a : b, a < b ? b : a};
    const uint32_t t = il_cel_term_make(l, IL_CEL_OP_EQ, IL_STR(""), kids, 2);
    return il_bdd_bad(&l->bdd) ? IL_BDD_FALSE : il_cel_fact_ok(l, t);
}

static il_cel_bits form_equal_terms(il_cel_logic *l, uint32_t a, uint32_t b) {
    il_bdd *d = &l->bdd;
    if (il_bdd_bad(d)) {
        return (il_cel_bits){0, 0};
    }
    if (form_lit(l, a)) {
        const uint32_t swap = a;
        a = b;
        b = swap;
    }
    const il_bdd_ref ok = il_bdd_and(d, il_bdd_and(d, il_cel_fact_ok(l, a), il_cel_fact_ok(l, b)), form_alike(l, a, b));
    return form_where(l, ok, form_lit(l, b) ? il_cel_fact_equal(l, a, l->terms[b].lit) : il_cel_fact_same(l, a, b));
}

static il_cel_bits form_equal(il_cel_logic *l, const il_cel_node *n) {
    const il_cel_node *x = n->kids, *y = x->next;
    il_bdd *d = &l->bdd;
    if (form_is_bool(l, x) && form_is_bool(l, y)) {
        const il_cel_bits a = il_cel_bits_of(l, x), b = il_cel_bits_of(l, y);
        const il_bdd_ref same = il_bdd_or(d, il_bdd_and(d, a.yes, b.yes), il_bdd_and(d, a.no, b.no));
        return (il_cel_bits){same, il_bdd_or(d, il_bdd_and(d, a.yes, b.no), il_bdd_and(d, a.no, b.yes))};
    }
    const uint32_t a = il_cel_term_of(l, x), b = il_cel_term_of(l, y);
    return form_equal_terms(l, a, b);
}

static il_cel_op form_mirror(il_cel_op op) {
    return op == IL_CEL_OP_LT   ? IL_CEL_OP_GT
           : op == IL_CEL_OP_LE ? IL_CEL_OP_GE
           : op == IL_CEL_OP_GT ? IL_CEL_OP_LT
                                : IL_CEL_OP_LE;
}

/* Two terms: `<` and `<=` only, the others turned around; `<=` is no `>` where the order has no holes. */
static il_cel_bits form_order_terms(il_cel_logic *l, il_cel_op op, uint32_t a, uint32_t b) {
    if (op == IL_CEL_OP_GT || op == IL_CEL_OP_GE) {
        const uint32_t swap = a;
        a = b;
        b = swap;
        op = form_mirror(op);
    }
    const il_cel_type *ta = l->terms[a].type, *tb = l->terms[b].type;
    const bool full = ta != NULL && tb != NULL && ta->kind == tb->kind && ta->kind != IL_CEL_DOUBLE &&
                      il_cel_class_of_type(ta) < IL_CEL_CLASS_TIMESTAMP && il_cel_class_of_type(ta) != IL_CEL_CLASS_NONE;
    uint32_t kids[2] = {a, b};
    if (a == b && full) {
        return form_where(l, il_cel_fact_ok(l, a), op == IL_CEL_OP_LE ? IL_BDD_TRUE : IL_BDD_FALSE);
    }
    if (op == IL_CEL_OP_LE && full) {
        kids[0] = b;
        kids[1] = a;
        return form_turned(form_term(l, il_cel_term_make(l, IL_CEL_OP_LT, IL_STR(""), kids, 2)));
    }
    return form_term(l, il_cel_term_make(l, op, IL_STR(""), kids, 2));
}

static il_cel_bits form_order(il_cel_logic *l, const il_cel_node *n) {
    il_cel_op op = (il_cel_op)n->op;
    uint32_t a = il_cel_term_of(l, n->kids), b = il_cel_term_of(l, n->kids->next);
    if (il_bdd_bad(&l->bdd)) {
        return (il_cel_bits){0, 0};
    }
    if (form_lit(l, a) && !form_lit(l, b)) {
        const uint32_t swap = a;
        a = b;
        b = swap;
        op = form_mirror(op);
    }
    const il_cel_value lit = l->terms[b].lit;
    const il_cel_class of = il_cel_class_of(&lit);
    const bool ordered = of >= IL_CEL_CLASS_BOOL && of <= IL_CEL_CLASS_DURATION, number = of == IL_CEL_CLASS_NUMBER;
    const bool plain =
        !number || il_cel_plain_number(&lit) || (lit.kind == IL_CEL_INT && il_cel_term_is(&l->terms[a], IL_CEL_INT));
    if (!form_lit(l, b) || form_lit(l, a) || !ordered || !plain) {
        return form_order_terms(l, op, a, b);
    }
    const il_bdd_ref ok = il_bdd_and(&l->bdd, il_cel_fact_ok(l, a), il_cel_fact_class(l, a, of));
    return form_where(l, ok, il_cel_fact_order(l, a, op, lit));
}

/* --- items ------------------------------------------------------- */

static il_bdd_ref form_range(il_cel_logic *l, uint32_t range) {
    return il_bdd_and(&l->bdd, il_cel_fact_ok(l, range), il_cel_fact_class(l, range, IL_CEL_CLASS_RANGE));
}

/* Where x can be compared with the items of a list that stands there: of literals with one of them, of others with all. */
static il_bdd_ref form_alike_items(il_cel_logic *l, const il_cel_node *in, uint32_t x, const uint32_t *items, uint32_t n) {
    il_bdd *d = &l->bdd;
    const bool literals = (in->alike & IL_CEL_ALIKE_LITERALS) != 0;
    il_bdd_ref alike = literals ? IL_BDD_FALSE : IL_BDD_TRUE;
    uint32_t nulls = 0;
    for (uint32_t i = 0; literals && i < n && !il_bdd_bad(d); i++) {
        const bool null = l->terms[items[i]].lit.kind == IL_CEL_NULL;
        nulls += null ? 1 : 0;
        alike = null ? alike : il_bdd_or(d, alike, form_alike(l, x, items[i]));
    }
    if (literals) {
        return nulls == n ? IL_BDD_TRUE : alike;
    }
    const uint32_t t = il_cel_term_of(l, in);
    return il_bdd_bad(d) ? IL_BDD_FALSE : il_cel_fact_ok(l, t);
}

/* x in [a, b, c] is x == a || x == b || x == c, but that an error of any item is one of the whole. */
static il_cel_bits form_in_items(il_cel_logic *l, const il_cel_node *in, uint32_t x, const uint32_t *items, uint32_t n) {
    il_bdd *d = &l->bdd;
    il_bdd_ref ok = il_cel_fact_ok(l, x), any = IL_BDD_FALSE;
    for (uint32_t i = n; i-- > 0 && !il_bdd_bad(d);) {
        const il_cel_bits same = form_equal_terms(l, x, items[i]);
        ok = il_bdd_and(d, ok, il_cel_fact_ok(l, items[i]));
        any = il_bdd_or(d, any, same.yes);
    }
    if (l->program->alike && !il_bdd_bad(d)) {
        ok = il_bdd_and(d, ok, form_alike_items(l, in, x, items, n));
    }
    return form_where(l, ok, any);
}

/* Is the key of a map, or an item, of those kinds whose equality is the same both ways? */
static bool form_plain_key(const il_cel_value *v) {
    return v->kind == IL_CEL_STRING || v->kind == IL_CEL_BOOL || il_cel_plain_number(v);
}

static il_cel_bits form_in(il_cel_logic *l, const il_cel_node *n, uint32_t x, uint32_t range) {
    enum { FEW = 64 };
    il_bdd *d = &l->bdd;
    if (il_bdd_bad(d)) {
        return (il_cel_bits){0, 0};
    }
    const il_cel_term *of = &l->terms[range];
    uint32_t items[FEW], nitems = 0;
    if (of->op == IL_CEL_OP_LIT && of->lit.kind == IL_CEL_LIST && !of->lit.json && of->lit.n <= FEW) {
        const il_cel_value list = of->lit;
        for (; nitems < list.n; nitems++) {
            items[nitems] = il_cel_term_lit(l, &list.u.items[nitems]);
        }
        return form_in_items(l, n, x, items, nitems);
    }
    if (of->op == IL_CEL_OP_LIST && of->whole && of->nkids <= FEW) {
        for (; nitems < of->nkids; nitems++) {
            items[nitems] = l->kids[of->kids + nitems];
        }
        return form_in_items(l, n, x, items, nitems);
    }
    const bool list = il_cel_term_is(of, IL_CEL_LIST);
    if (l->limits.unset || !(list || (form_lit(l, x) && form_plain_key(&l->terms[x].lit)))) {
        return form_term(l, n != NULL ? il_cel_term_of(l, n) : 0);
    }
    /* exists(y, y == x), which people write too */
    const uint32_t slot = il_cel_term_slot(l->terms[range].locals | l->terms[x].locals),
                   item = il_cel_term_local(l, slot, range, IL_CEL_ROLE_ITEM);
    if (il_bdd_bad(d)) {
        return (il_cel_bits){0, 0};
    }
    il_bdd_ref ok = il_bdd_and(d, il_cel_fact_ok(l, x), form_range(l, range));
    const il_cel_type *element = list ? l->terms[range].type->element : NULL;
    const il_cel_class each = il_cel_class_of_type(element);
    if (l->program->alike && !(form_plain_class(each) && each == il_cel_class_of_type(l->terms[x].type))) {
        ok = il_bdd_and(d, ok, il_cel_fact_ok(l, il_cel_term_of(l, n)));
    }
    const il_bdd_ref same = form_lit(l, x) ? il_cel_fact_equal(l, item, l->terms[x].lit) : il_cel_fact_same(l, item, x);
    return form_where(l, ok, il_cel_fact_some(l, range, UINT64_C(1) << slot, same));
}

/* A range that stands there: its items one by one. */
static bool form_unroll(il_cel_logic *l, const il_cel_node *n, uint32_t range, il_cel_bits *out) {
    enum { FEW = 16 };
    const il_cel_value list = l->terms[range].lit;
    if (l->terms[range].op != IL_CEL_OP_LIT || list.kind != IL_CEL_LIST || list.json || list.n > FEW ||
        n->slot2 != IL_CEL_NO_SLOT || n->slot >= IL_CEL_LOCALS) {
        return false;
    }
    const bool all = n->op == IL_CEL_OP_ALL;
    *out = form_const(all);
    for (uint32_t i = 0; i < list.n && !il_bdd_bad(&l->bdd); i++) {
        l->locals[n->slot] = (il_cel_bound_local){.term = il_cel_term_lit(l, &list.u.items[i])};
        const il_cel_bits body = il_cel_bits_of(l, n->kids->next);
        *out = all ? form_both(l, *out, body) : form_either(l, *out, body);
    }
    return true;
}

static il_cel_bits form_items(il_cel_logic *l, const il_cel_node *n) {
    il_bdd *d = &l->bdd;
    const uint32_t range = il_cel_term_of(l, n->kids);
    il_cel_bits bits;
    if (il_bdd_bad(d)) {
        return (il_cel_bits){0, 0};
    }
    if (form_unroll(l, n, range, &bits)) {
        return bits;
    }
    il_bdd_ref ok = form_range(l, range);
    if ((n->alike & IL_CEL_ALIKE_LIST) != 0) {
        ok = il_bdd_and(d, ok, il_bdd_not(d, il_cel_fact_class(l, range, IL_CEL_CLASS_OWNER)));
    }
    const uint64_t slots = il_cel_term_enter(l, n, range);
    il_cel_bits body = il_cel_bits_of(l, n->kids->next);
    body = n->op == IL_CEL_OP_ALL ? form_turned(body) : body; /* all(p) is !exists(!p), with errors too */
    /* True: some item makes it true. False: no item makes it true or an error. */
    bits.yes = il_bdd_and(d, ok, il_cel_fact_some(l, range, slots, body.yes));
    bits.no = il_bdd_and(d, ok, il_bdd_not(d, il_cel_fact_some(l, range, slots, il_bdd_not(d, body.no))));
    return n->op == IL_CEL_OP_ALL ? form_turned(bits) : bits;
}

/* --- the rest ---------------------------------------------------- */

static il_cel_bits form_chain(il_cel_logic *l, const il_cel_node *n) {
    const bool all = n->op == IL_CEL_OP_AND;
    il_cel_bits bits = form_const(all);
    for (const il_cel_node *k = n->kids; k != NULL && !il_bdd_bad(&l->bdd); k = k->next) {
        const il_cel_bits kid = il_cel_bits_of(l, k);
        bits = all ? form_both(l, bits, kid) : form_either(l, bits, kid);
    }
    return bits;
}

static il_cel_bits form_cond(il_cel_logic *l, const il_cel_node *n) {
    il_bdd *d = &l->bdd;
    const il_cel_bits c = il_cel_bits_of(l, n->kids), x = il_cel_bits_of(l, n->kids->next),
                      y = il_cel_bits_of(l, n->kids->next->next);
    return (il_cel_bits){il_bdd_or(d, il_bdd_and(d, c.yes, x.yes), il_bdd_and(d, c.no, y.yes)),
                         il_bdd_or(d, il_bdd_and(d, c.yes, x.no), il_bdd_and(d, c.no, y.no))};
}

/* has(m.k): of a map that is one for sure, the key's presence is what reading it needs too. Elsewhere the key may be there for
 * `has` alone to see; then reading it works. */
static il_cel_bits form_has(il_cel_logic *l, const il_cel_node *n) {
    il_bdd *d = &l->bdd;
    const uint32_t select = il_cel_term_of(l, n->kids);
    if (il_bdd_bad(d) || l->terms[select].op != IL_CEL_OP_SELECT || l->terms[select].nkids != 1) {
        return form_term(l, il_cel_term_of(l, n));
    }
    const uint32_t of = l->kids[l->terms[select].kids];
    const bool map = il_cel_term_is(&l->terms[of], IL_CEL_MAP), record = il_cel_term_is(&l->terms[of], IL_CEL_RECORD);
    if (l->terms[select].role != 0 || (record && l->limits.unset)) {
        return form_term(l, il_cel_term_of(l, n));
    }
    il_bdd_ref ok = il_cel_fact_ok(l, of);
    if (record) { /* its fields are all there */
        return form_where(l, ok, IL_BDD_TRUE);
    }
    const il_bdd_ref present = il_cel_fact_present(l, select);
    if (map) {
        return form_where(l, ok, present);
    }
    ok = il_bdd_and(d, ok, il_cel_fact_class(l, of, IL_CEL_CLASS_OWNER));
    const il_cel_bits bits = form_where(l, ok, present);
    il_cel_atom_constrain(l, il_bdd_ite(d, bits.yes, il_cel_fact_ok(l, select), IL_BDD_TRUE));
    return bits;
}

static il_cel_bits form_bind(il_cel_logic *l, const il_cel_node *n) {
    if (n->slot >= IL_CEL_LOCALS) {
        return form_term(l, il_cel_term_of(l, n));
    }
    il_cel_bound_local local = {.condition = form_is_condition(l, n->kids)};
    if (local.condition) {
        local.bits = il_cel_bits_of(l, n->kids);
    }
    local.term = il_cel_term_of(l, n->kids);
    l->locals[n->slot] = local;
    return il_cel_bits_of(l, n->kids->next);
}

static il_cel_bits form_call(il_cel_logic *l, const il_cel_node *n) {
    const il_str name = n->name;
    const bool starts = il_str_eq(name, IL_STR("startsWith")), ends = il_str_eq(name, IL_STR("endsWith"));
    const bool contains = il_str_eq(name, IL_STR("contains")), matches = il_str_eq(name, IL_STR("matches"));
    if (n->function != NULL || n->builtin == NULL || n->kids == NULL || n->kids->next == NULL || n->kids->next->next != NULL ||
        !(starts || ends || contains || (matches && n->regex != NULL))) {
        return form_term(l, il_cel_term_of(l, n));
    }
    const uint32_t t = il_cel_term_of(l, n->kids), part = il_cel_term_of(l, n->kids->next);
    if (il_bdd_bad(&l->bdd)) {
        return (il_cel_bits){0, 0};
    }
    if (contains && il_cel_term_is(&l->terms[t], IL_CEL_LIST)) {
        return form_in(l, n, part, t);
    }
    if (!form_lit(l, part) || l->terms[part].lit.kind != IL_CEL_STRING || form_lit(l, t) ||
        (contains && l->terms[t].type == NULL)) {
        /* what nothing is known of may be a list, which contains() accepts too */
        return form_term(l, il_cel_term_of(l, n));
    }
    const il_bdd_ref ok = il_bdd_and(&l->bdd, il_cel_fact_ok(l, t), il_cel_fact_class(l, t, IL_CEL_CLASS_TEXT));
    const il_cel_atom_kind kind = starts     ? IL_CEL_A_STARTS
                                  : ends     ? IL_CEL_A_ENDS
                                  : contains ? IL_CEL_A_CONTAINS
                                             : IL_CEL_A_MATCHES;
    return form_where(l, ok, il_cel_fact_text(l, kind, t, l->terms[part].lit, n->regex));
}

il_cel_bits il_cel_bits_of(il_cel_logic *l, const il_cel_node *n) {
    if (il_bdd_bad(&l->bdd)) {
        return (il_cel_bits){0, 0};
    }
    if (n->constant || n->op == IL_CEL_OP_LIT) {
        return n->lit.kind == IL_CEL_BOOL ? form_const(n->lit.u.b) : (il_cel_bits){0, 0};
    }
    switch ((il_cel_op)n->op) {
    case IL_CEL_OP_NOT:
        return form_turned(il_cel_bits_of(l, n->kids));
    case IL_CEL_OP_AND:
    case IL_CEL_OP_OR:
        return form_chain(l, n);
    case IL_CEL_OP_COND:
        return form_cond(l, n);
    case IL_CEL_OP_EQ:
        return form_equal(l, n);
    case IL_CEL_OP_NE:
        return form_turned(form_equal(l, n));
    case IL_CEL_OP_LT:
    case IL_CEL_OP_LE:
    case IL_CEL_OP_GT:
    case IL_CEL_OP_GE:
        return form_order(l, n);
    case IL_CEL_OP_IN: {
        const uint32_t x = il_cel_term_of(l, n->kids), range = il_cel_term_of(l, n->kids->next);
        return form_in(l, n, x, range);
    }
    case IL_CEL_OP_HAS:
        return form_has(l, n);
    case IL_CEL_OP_EXISTS:
    case IL_CEL_OP_ALL:
        return form_items(l, n);
    case IL_CEL_OP_BIND:
        return form_bind(l, n);
    case IL_CEL_OP_CALL:
        return form_call(l, n);
    case IL_CEL_OP_LET:
        return il_cel_bits_of(l, n->kids);
    case IL_CEL_OP_LOCAL:
        if (n->slot < IL_CEL_LOCALS && l->locals[n->slot].condition) {
            return l->locals[n->slot].bits;
        }
        break;
    case IL_CEL_OP_LIT:
    case IL_CEL_OP_LIST:
    case IL_CEL_OP_MAP:
    case IL_CEL_OP_NAME:
    case IL_CEL_OP_TYPE:
    case IL_CEL_OP_VAR:
    case IL_CEL_OP_SELECT:
    case IL_CEL_OP_FIELD:
    case IL_CEL_OP_INDEX:
    case IL_CEL_OP_NEG:
    case IL_CEL_OP_MUL:
    case IL_CEL_OP_DIV:
    case IL_CEL_OP_MOD:
    case IL_CEL_OP_ADD:
    case IL_CEL_OP_SUB:
    case IL_CEL_OP_EXISTS_ONE:
    case IL_CEL_OP_FILTER:
    case IL_CEL_OP_TRANSFORM:
    case IL_CEL_OP_TRANSFORM_MAP:
    case IL_CEL_OP_TRANSFORM_ENTRY:
    case IL_CEL_OP_OPT_MAP:
    case IL_CEL_OP_OPT_FLAT_MAP:
        break;
    }
    return form_term(l, il_cel_term_of(l, n));
}
