/* SPDX-License-Identifier: Apache-2.0 */
/* Terms, and what can be seen of them without asking: a symbol's payload is constant, and most of its guards with it. */
#include "check/export_part.h"

static const il_term term_none = {0};

static il_term *term_new(il_export *x, il_term_op op, il_term_kind kind) {
    il_term *t = IL_NEW(x->arena, il_term);
    if (!t) {
        x->no_memory = true;
        return NULL;
    }
    t->op = (uint8_t)op;
    t->kind = (uint8_t)kind;
    t->hi = kind == IL_TERM_TRUTH ? 1 : 0;
    return t;
}

static const il_term *term_ranged(il_export *x, il_term *t, int64_t lo, int64_t hi) {
    if (!t) {
        return &term_none;
    }
    t->lo = lo;
    t->hi = hi;
    x->least = lo < x->least ? lo : x->least;
    x->most = hi > x->most ? hi : x->most;
    return t;
}

const il_term *il_term_const(il_export *x, il_term_kind kind, int64_t value) {
    il_term *t = term_new(x, IL_TERM_CONST, kind);
    if (t) {
        t->value = value;
    }
    return term_ranged(x, t, value, value);
}

const il_term *il_term_truth(il_export *x, bool truth) { return il_term_const(x, IL_TERM_TRUTH, truth); }

bool il_term_is(const il_term *t, bool truth) {
    return t->op == IL_TERM_CONST && t->kind == IL_TERM_TRUTH && t->value == (int64_t)truth;
}

il_term_kind il_term_kind_of(const il_domain *d) {
    switch (d->kind) {
    case IL_DOMAIN_BOOL:
        return IL_TERM_TRUTH;
    case IL_DOMAIN_ENUM:
        return IL_TERM_WORD;
    case IL_DOMAIN_INT:
        return IL_TERM_NUMBER;
    }
    return IL_TERM_NUMBER;
}

int64_t il_term_code(const il_export *x, const il_domain *d, uint32_t place) {
    switch (d->kind) {
    case IL_DOMAIN_BOOL:
        return place;
    case IL_DOMAIN_ENUM:
        return il_export_word(x, d->names[place]);
    case IL_DOMAIN_INT:
        return d->lo + place;
    }
    return 0;
}

const il_term *il_term_leaf(il_export *x, il_term_op op, uint32_t at, const il_domain *d) {
    il_term *t = term_new(x, op, il_term_kind_of(d));
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    for (uint32_t i = 0; i < d->size; i++) {
        int64_t code = il_term_code(x, d, i);
        lo = code < lo ? code : lo;
        hi = code > hi ? code : hi;
    }
    if (t) {
        t->at = at;
    }
    return term_ranged(x, t, lo, hi);
}

static il_term *term_of(il_export *x, il_term_op op, il_term_kind kind, const il_term *a, const il_term *b, const il_term *c) {
    il_term *t = term_new(x, op, kind);
    if (t) {
        t->kid[0] = a;
        t->kid[1] = b;
        t->kid[2] = c;
    }
    return t;
}

static const il_term *term_truth_of(il_export *x, il_term_op op, const il_term *a, const il_term *b) {
    return term_ranged(x, term_of(x, op, IL_TERM_TRUTH, a, b, NULL), 0, 1);
}

const il_term *il_term_not(il_export *x, const il_term *a) {
    if (a->op == IL_TERM_CONST) {
        return il_term_truth(x, a->value == 0);
    }
    return a->op == IL_TERM_NOT ? a->kid[0] : term_truth_of(x, IL_TERM_NOT, a, NULL);
}

const il_term *il_term_and(il_export *x, const il_term *a, const il_term *b) {
    if (il_term_is(a, false) || il_term_is(b, true) || a == b) {
        return a;
    }
    return il_term_is(b, false) || il_term_is(a, true) ? b : term_truth_of(x, IL_TERM_AND, a, b);
}

const il_term *il_term_or(il_export *x, const il_term *a, const il_term *b) {
    if (il_term_is(a, true) || il_term_is(b, false) || a == b) {
        return a;
    }
    return il_term_is(b, true) || il_term_is(a, false) ? b : term_truth_of(x, IL_TERM_OR, a, b);
}

static bool term_choice(const il_term *t) {
    return t->op == IL_TERM_IF && (t->kid[1]->op == IL_TERM_CONST || t->kid[2]->op == IL_TERM_CONST);
}

const il_term *il_term_compare(il_export *x, il_term_op op, const il_term *a, const il_term *b) {
    if (a->hi < b->lo || (a->hi == b->lo && op == IL_TERM_LE)) {
        return il_term_truth(x, op != IL_TERM_EQ);
    }
    if (b->hi < a->lo || (b->hi == a->lo && op == IL_TERM_LT)) {
        return il_term_truth(x, false);
    }
    if (a->op == IL_TERM_CONST && b->op == IL_TERM_CONST) {
        return il_term_truth(x, op == IL_TERM_EQ   ? a->value == b->value
                                : op == IL_TERM_LT ? a->value < b->value
                                                   : a->value <= b->value);
    }
    if (term_choice(a) && b->op == IL_TERM_CONST) {
        return il_term_if(x, a->kid[0], il_term_compare(x, op, a->kid[1], b), il_term_compare(x, op, a->kid[2], b));
    }
    if (term_choice(b) && a->op == IL_TERM_CONST) {
        return il_term_if(x, b->kid[0], il_term_compare(x, op, a, b->kid[1]), il_term_compare(x, op, a, b->kid[2]));
    }
    return term_truth_of(x, op, a, b);
}

const il_term *il_term_sum(il_export *x, il_term_op op, const il_term *a, const il_term *b) {
    int64_t ends[4] = {0};
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    for (int i = 0; i < 4; i++) {
        int64_t l = i & 1 ? a->hi : a->lo, r = i & 2 ? b->hi : b->lo; /* small: il_export_term looks */
        ends[i] = op == IL_TERM_ADD ? l + r : op == IL_TERM_SUB ? l - r : l * r;
        lo = ends[i] < lo ? ends[i] : lo;
        hi = ends[i] > hi ? ends[i] : hi;
    }
    if (a->op == IL_TERM_CONST && b->op == IL_TERM_CONST) {
        return il_term_const(x, IL_TERM_NUMBER, lo);
    }
    return term_ranged(x, term_of(x, op, IL_TERM_NUMBER, a, b, NULL), lo, hi);
}

const il_term *il_term_if(il_export *x, const il_term *c, const il_term *a, const il_term *b) {
    if (c->op == IL_TERM_CONST || a == b) {
        return a == b || c->value != 0 ? a : b;
    }
    if (a->op == IL_TERM_CONST && b->op == IL_TERM_CONST && a->value == b->value) {
        return a;
    }
    if (a->kind == IL_TERM_TRUTH) {
        if (a->op == IL_TERM_CONST) {
            return a->value ? il_term_or(x, c, b) : il_term_and(x, il_term_not(x, c), b);
        }
        if (b->op == IL_TERM_CONST) {
            return b->value ? il_term_or(x, il_term_not(x, c), a) : il_term_and(x, c, a);
        }
    }
    return term_ranged(x, term_of(x, IL_TERM_IF, (il_term_kind)a->kind, c, a, b), a->lo < b->lo ? a->lo : b->lo,
                       a->hi > b->hi ? a->hi : b->hi);
}

const il_term *il_term_inside(il_export *x, const il_domain *d, const il_term *t) {
    if (t->op == IL_TERM_IF) {
        return il_term_if(x, t->kid[0], il_term_inside(x, d, t->kid[1]), il_term_inside(x, d, t->kid[2]));
    }
    if (d->kind == IL_DOMAIN_BOOL) {
        return il_term_truth(x, true);
    }
    if (d->kind == IL_DOMAIN_INT) {
        const il_term *lo = il_term_const(x, IL_TERM_NUMBER, d->lo);
        const il_term *hi = il_term_const(x, IL_TERM_NUMBER, d->lo + (int64_t)d->size - 1);
        return il_term_and(x, il_term_compare(x, IL_TERM_LE, lo, t), il_term_compare(x, IL_TERM_LE, t, hi));
    }
    /* Words: what a variable or a field can be is known, and whether all of it is in here. */
    const il_domain *from = t->op == IL_TERM_PRE ? &x->m->vars[t->at].domain : NULL;
    bool all = from != NULL;
    for (uint32_t i = 0; all && i < from->size; i++) {
        bool found = false;
        for (uint32_t k = 0; k < d->size && !found; k++) {
            found = il_str_eq(d->names[k], from->names[i]);
        }
        all = found;
    }
    const il_term *any = il_term_truth(x, all);
    for (uint32_t i = 0; !all && i < d->size; i++) {
        any = il_term_or(x, any, il_term_compare(x, IL_TERM_EQ, t, il_term_const(x, IL_TERM_WORD, il_term_code(x, d, i))));
    }
    return any;
}

const char *il_term_sign(il_term_op op) {
    switch (op) {
    case IL_TERM_AND:
        return " && ";
    case IL_TERM_OR:
        return " || ";
    case IL_TERM_EQ:
        return " == ";
    case IL_TERM_LT:
        return " < ";
    case IL_TERM_LE:
        return " <= ";
    case IL_TERM_ADD:
        return " + ";
    case IL_TERM_SUB:
        return " - ";
    case IL_TERM_MUL:
        return " * ";
    case IL_TERM_CONST:
    case IL_TERM_PRE:
    case IL_TERM_CALL:
    case IL_TERM_NEXT:
    case IL_TERM_NOT:
    case IL_TERM_IF:
        break;
    }
    return "";
}
