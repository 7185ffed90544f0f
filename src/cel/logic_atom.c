/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about terms. Each new one is held against those that there are about the same term: which of the four pairs of truth
 * cannot be? Only what is certain is said; to say too little makes an answer NO that could have been YES. */
#include "cel/generate.h"
#include "cel/logic_part.h"
#include "cel/regex.h"
#include "cel/value.h"

/* --- constraints ------------------------------------------------- */

uint32_t il_cel_atom_root(il_cel_logic *l, uint32_t atom) {
    while (l->atoms[atom].up != atom) {
        l->atoms[atom].up = l->atoms[l->atoms[atom].up].up;
        atom = l->atoms[atom].up;
    }
    return atom;
}

typedef struct atom_join {
    il_cel_logic *l;
    uint32_t first;
    bool any;
} atom_join;

static void atom_join_one(void *ctx, uint32_t var) {
    atom_join *j = (atom_join *)ctx;
    if (!j->any) {
        j->any = true;
        j->first = var;
        return;
    }
    const uint32_t a = il_cel_atom_root(j->l, j->first), b = il_cel_atom_root(j->l, var);
    j->l->atoms[a > b ? a : b].up = a > b ? b : a;
}

void il_cel_atom_constrain(il_cel_logic *l, il_bdd_ref f) {
    if (f == IL_BDD_TRUE || il_bdd_bad(&l->bdd) ||
        !il_cel_logic_room(l, (void **)&l->constraints, &l->constraints_room, l->nconstraints, sizeof *l->constraints)) {
        return;
    }
    atom_join join = {l, 0, false};
    il_bdd_support(&l->bdd, f, atom_join_one, &join);
    l->constraints[l->nconstraints++] = (il_cel_constraint){f, join.first};
}

static il_bdd_ref atom_implies(il_cel_logic *l, il_bdd_ref a, il_bdd_ref b) { return il_bdd_ite(&l->bdd, a, b, IL_BDD_TRUE); }

/* --- pairs ------------------------------------------------------- */

enum { ATOM_BOTH = 1, ATOM_FIRST_ONLY = 2, ATOM_SECOND_ONLY = 4, ATOM_NEITHER = 8 }; /* what cannot be */

static bool atom_is_text(uint8_t kind) { return kind >= IL_CEL_A_STARTS && kind <= IL_CEL_A_MATCHES; }

static bool atom_text_holds(const il_cel_atom *a, const il_cel_value *v, bool *known) {
    const il_str text = il_cel_str(*v), part = il_cel_str(a->lit);
    *known = true;
    switch ((il_cel_atom_kind)a->kind) {
    case IL_CEL_A_STARTS:
        return il_str_starts(text, part);
    case IL_CEL_A_ENDS:
        return il_str_ends(text, part);
    case IL_CEL_A_CONTAINS:
        return il_str_find(text, part, 0) != SIZE_MAX;
    case IL_CEL_A_MATCHES: {
        int64_t steps = 100000;
        const int found = il_regex_search(a->regex, text, &steps);
        *known = found != IL_REGEX_SPENT;
        return found == 1;
    }
    case IL_CEL_A_OK:
    case IL_CEL_A_PRESENT:
    case IL_CEL_A_CLASS:
    case IL_CEL_A_EQUAL:
    case IL_CEL_A_SAME:
    case IL_CEL_A_FROM:
    case IL_CEL_A_LESS:
    case IL_CEL_A_MORE:
    case IL_CEL_A_SOME:
        break;
    }
    *known = false;
    return false;
}

/* The class that the truth of `a` shows; NONE when it shows nothing. */
static il_cel_class atom_shows(const il_cel_atom *a) {
    if (a->kind == IL_CEL_A_CLASS) {
        return (il_cel_class)a->of;
    }
    if (atom_is_text(a->kind)) {
        return IL_CEL_CLASS_TEXT;
    }
    return a->kind == IL_CEL_A_EQUAL || a->kind == IL_CEL_A_LESS || a->kind == IL_CEL_A_MORE ? il_cel_class_of(&a->lit)
                                                                                             : IL_CEL_CLASS_NONE;
}

/* A map is a RANGE and an OWNER; all else is of one class. */
static bool atom_classes_apart(il_cel_class a, il_cel_class b) {
    return a != b && a != IL_CEL_CLASS_NONE && b != IL_CEL_CLASS_NONE && (a < IL_CEL_CLASS_RANGE || b < IL_CEL_CLASS_RANGE);
}

/* -1, 0, 1 by order; 2: no saying. */
static int atom_order(const il_cel_value *a, const il_cel_value *b) {
    const int order = il_cel_order(a, b);
    return order == IL_CEL_INCOMPARABLE || order == IL_CEL_UNORDERED ? 2 : order;
}

static unsigned atom_turn(unsigned cannot) {
    return (cannot & (ATOM_BOTH | ATOM_NEITHER)) | ((cannot & ATOM_FIRST_ONLY) != 0 ? ATOM_SECOND_ONLY : 0) |
           ((cannot & ATOM_SECOND_ONLY) != 0 ? ATOM_FIRST_ONLY : 0);
}

/* `part` within a text that has `whole` at a place: what `a`, about `whole`, says about `b`. */
static unsigned atom_texts(const il_cel_atom *a, const il_cel_atom *b) {
    const il_str x = il_cel_str(a->lit), y = il_cel_str(b->lit);
    if (a->kind == IL_CEL_A_MATCHES || b->kind == IL_CEL_A_MATCHES) {
        return 0;
    }
    if (a->kind == b->kind && a->kind != IL_CEL_A_CONTAINS) {
        const bool starts = a->kind == IL_CEL_A_STARTS;
        if (starts ? il_str_starts(x, y) : il_str_ends(x, y)) {
            return ATOM_FIRST_ONLY;
        }
        if (starts ? il_str_starts(y, x) : il_str_ends(y, x)) {
            return ATOM_SECOND_ONLY;
        }
        return ATOM_BOTH;
    }
    unsigned cannot = 0;
    if (b->kind == IL_CEL_A_CONTAINS && il_str_find(x, y, 0) != SIZE_MAX) {
        cannot |= ATOM_FIRST_ONLY;
    }
    if (a->kind == IL_CEL_A_CONTAINS && il_str_find(y, x, 0) != SIZE_MAX) {
        cannot |= ATOM_SECOND_ONLY;
    }
    return cannot;
}

/* a EQUAL; b of another kind or EQUAL too. */
static unsigned atom_equal(const il_cel_atom *a, const il_cel_atom *b) {
    const il_cel_class of = il_cel_class_of(&a->lit);
    if (b->kind == IL_CEL_A_EQUAL) {
        return il_cel_distinct(&a->lit, &b->lit) ? ATOM_BOTH : 0;
    }
    if (b->kind == IL_CEL_A_CLASS) {
        return of == b->of ? ATOM_FIRST_ONLY : atom_classes_apart(of, (il_cel_class)b->of) ? ATOM_BOTH : 0;
    }
    if (atom_is_text(b->kind)) {
        bool known = true;
        const bool holds = a->lit.kind == IL_CEL_STRING && atom_text_holds(b, &a->lit, &known);
        return of == IL_CEL_CLASS_NONE && a->lit.kind != IL_CEL_NULL ? 0 : !known ? 0 : holds ? ATOM_FIRST_ONLY : ATOM_BOTH;
    }
    if (b->kind == IL_CEL_A_LESS || b->kind == IL_CEL_A_MORE) {
        if (of == IL_CEL_CLASS_NUMBER && !il_cel_plain_number(&a->lit)) {
            return 0; /* so large a value may equal several */
        }
        const int order = atom_order(&a->lit, &b->lit);
        if (order == 2) {
            return atom_classes_apart(of, il_cel_class_of(&b->lit)) ? ATOM_BOTH : 0;
        }
        return (b->kind == IL_CEL_A_LESS ? order < 0 : order > 0) ? ATOM_FIRST_ONLY : ATOM_BOTH;
    }
    return 0;
}

static unsigned atom_ordered(const il_cel_atom *a, const il_cel_atom *b) {
    const int order = atom_order(&a->lit, &b->lit);
    if (order == 2) {
        return atom_classes_apart(il_cel_class_of(&a->lit), il_cel_class_of(&b->lit)) ? ATOM_BOTH : 0;
    }
    if (a->kind == b->kind) {
        const bool first = a->kind == IL_CEL_A_LESS ? order <= 0 : order >= 0; /* the first shows the second */
        return first ? ATOM_FIRST_ONLY : ATOM_SECOND_ONLY;
    }
    /* t < x and t > y */
    const int below = a->kind == IL_CEL_A_LESS ? order : -order;
    return below <= 0 ? ATOM_BOTH : 0;
}

static unsigned atom_pair(const il_cel_atom *a, const il_cel_atom *b) {
    const bool order_a = a->kind == IL_CEL_A_LESS || a->kind == IL_CEL_A_MORE,
               order_b = b->kind == IL_CEL_A_LESS || b->kind == IL_CEL_A_MORE;
    if (a->kind == IL_CEL_A_EQUAL) {
        return atom_equal(a, b);
    }
    if (b->kind == IL_CEL_A_EQUAL) {
        return atom_turn(atom_equal(b, a));
    }
    if (order_a && order_b) {
        return atom_ordered(a, b);
    }
    if (a->kind == IL_CEL_A_FROM && b->kind == IL_CEL_A_FROM) {
        return a->lit.u.i >= b->lit.u.i ? ATOM_FIRST_ONLY : ATOM_SECOND_ONLY;
    }
    if (atom_is_text(a->kind) && atom_is_text(b->kind)) {
        return atom_texts(a, b);
    }
    const il_cel_class shows_a = atom_shows(a), shows_b = atom_shows(b);
    if (atom_classes_apart(shows_a, shows_b)) {
        return ATOM_BOTH;
    }
    if (shows_a == shows_b && shows_a != IL_CEL_CLASS_NONE) {
        return a->kind == IL_CEL_A_CLASS && b->kind != IL_CEL_A_CLASS   ? ATOM_SECOND_ONLY
               : b->kind == IL_CEL_A_CLASS && a->kind != IL_CEL_A_CLASS ? ATOM_FIRST_ONLY
                                                                        : 0;
    }
    return 0;
}

/* Of a term whose order has no holes: below, above, or equal. */
static void atom_exhaust(il_cel_logic *l, uint32_t less, uint32_t more) {
    const il_cel_atom a = l->atoms[less], b = l->atoms[more];
    const il_cel_term *t = &l->terms[a.t];
    const il_cel_class of = il_cel_class_of(&a.lit);
    const bool nan = of == IL_CEL_CLASS_NUMBER && !il_cel_term_is(t, IL_CEL_INT) && !il_cel_term_is(t, IL_CEL_UINT);
    const int order = atom_order(&a.lit, &b.lit);
    if (nan || order == 2 || order < 0) {
        return;
    }
    il_bdd *d = &l->bdd;
    il_bdd_ref any = il_bdd_or(d, il_bdd_var(d, less), il_bdd_var(d, more));
    if (order == 0) {
        any = il_bdd_or(d, any, il_cel_fact_equal(l, a.t, a.lit));
    }
    il_cel_atom_constrain(l, atom_implies(l, il_cel_fact_class(l, a.t, of), any));
}

/* --- making ------------------------------------------------------ */

static bool atom_same(const il_cel_atom *a, const il_cel_atom *b) {
    return a->kind == b->kind && a->of == b->of && a->t == b->t && a->u == b->u && a->body == b->body && a->slots == b->slots &&
           il_cel_identical(&a->lit, &b->lit);
}

static il_bdd_ref atom_fact(il_cel_logic *l, const il_cel_atom *wanted) {
    il_bdd *d = &l->bdd;
    if (il_bdd_bad(d)) {
        return IL_BDD_FALSE;
    }
    for (uint32_t i = 0; i < l->natoms; i++) {
        if (atom_same(&l->atoms[i], wanted)) {
            return il_bdd_var(d, i);
        }
    }
    if (l->natoms >= l->limits.atoms) {
        d->spent = true;
        return IL_BDD_FALSE;
    }
    if (!il_cel_logic_room(l, (void **)&l->atoms, &l->atoms_room, l->natoms, sizeof *l->atoms)) {
        return IL_BDD_FALSE;
    }
    const uint32_t me = l->natoms++;
    l->atoms[me] = *wanted;
    l->atoms[me].up = me;
    const il_bdd_ref var = il_bdd_var(d, me);
    for (uint32_t i = 0; i < me && !il_bdd_bad(d); i++) {
        const il_cel_atom a = l->atoms[i];
        if (a.t != wanted->t || a.kind == IL_CEL_A_SOME || wanted->kind == IL_CEL_A_SOME) {
            continue;
        }
        const unsigned cannot = atom_pair(&a, wanted);
        const il_bdd_ref other = il_bdd_var(d, i);
        if ((cannot & ATOM_BOTH) != 0) {
            il_cel_atom_constrain(l, atom_implies(l, other, il_bdd_not(d, var)));
        }
        if ((cannot & ATOM_FIRST_ONLY) != 0) {
            il_cel_atom_constrain(l, atom_implies(l, other, var));
        }
        if ((cannot & ATOM_SECOND_ONLY) != 0) {
            il_cel_atom_constrain(l, atom_implies(l, var, other));
        }
        if (a.kind == IL_CEL_A_LESS && wanted->kind == IL_CEL_A_MORE) {
            atom_exhaust(l, i, me);
        } else if (a.kind == IL_CEL_A_MORE && wanted->kind == IL_CEL_A_LESS) {
            atom_exhaust(l, me, i);
        }
    }
    return var;
}

static il_cel_atom atom_about(const il_cel_logic *l, il_cel_atom_kind kind, uint32_t t) {
    return (il_cel_atom){.kind = (uint8_t)kind, .t = t, .locals = l->terms[t].locals};
}

/* --- what is asked for ------------------------------------------- */

il_bdd_ref il_cel_fact_present(il_cel_logic *l, uint32_t select) {
    const il_cel_atom a = atom_about(l, IL_CEL_A_PRESENT, select);
    return atom_fact(l, &a);
}

static il_bdd_ref atom_ok_kids(il_cel_logic *l, const il_cel_term *t) {
    il_bdd_ref all = IL_BDD_TRUE;
    for (uint32_t i = 0; i < t->nkids; i++) {
        all = il_bdd_and(&l->bdd, all, il_cel_fact_ok(l, l->kids[t->kids + i]));
    }
    return all;
}

/* Is it made of constants and an error? What is made of constants and none has been folded. */
static bool atom_constant_error(il_cel_logic *l, const il_cel_term *t) {
    bool constant = t->strict && t->callee == NULL && t->node != NULL && t->nkids > 0;
    for (uint32_t i = 0; i < t->nkids; i++) {
        constant = constant && l->terms[l->kids[t->kids + i]].op == IL_CEL_OP_LIT;
    }
    for (const il_cel_node *k = constant ? t->node->kids : NULL; k != NULL; k = k->next) {
        constant = constant && (k->constant || k->op == IL_CEL_OP_LIT || k->op == IL_CEL_OP_TYPE);
    }
    if (!constant) {
        return false;
    }
    il_arena room;
    il_cel_code code;
    il_error ignored;
    bool error = false;
    il_arena_init(&room, l->arena->alloc, 1 << 20);
    if (il_cel_make(&room, &room, t->node, &code, &ignored) == IL_OK) {
        il_cel_run run = {.program = l->program, .scratch = &room, .steps = 10000};
        const il_cel_value v = il_cel_run_code(&run, &code, NULL);
        error = run.steps >= 0 && v.kind == IL_CEL_ERROR && v.fault != IL_CEL_BUDGET;
    }
    il_arena_free(&room);
    return error;
}

il_bdd_ref il_cel_fact_ok(il_cel_logic *l, uint32_t t) {
    const il_cel_term term = l->terms[t];
    if (term.sure) {
        return IL_BDD_TRUE;
    }
    if (term.whole && term.nkids > 0) {
        return atom_ok_kids(l, &term);
    }
    if (term.op == IL_CEL_OP_SELECT && term.role == 0 && il_cel_term_is(&l->terms[l->kids[term.kids]], IL_CEL_MAP)) {
        return il_bdd_and(&l->bdd, atom_ok_kids(l, &term), il_cel_fact_present(l, t));
    }
    const il_cel_term *index = term.op == IL_CEL_OP_INDEX && term.role == 0 ? &l->terms[l->kids[term.kids + 1]] : NULL;
    if (index != NULL && !l->limits.unset && index->lit.kind == IL_CEL_INT && index->lit.u.i >= 0 && index->lit.u.i < INT64_MAX &&
        il_cel_term_is(&l->terms[l->kids[term.kids]], IL_CEL_LIST)) {
        const int64_t least = index->lit.u.i + 1;
        const uint32_t size = il_cel_term_make(l, IL_CEL_OP_CALL, IL_STR("size"), &l->kids[term.kids], 1);
        return il_bdd_and(&l->bdd, atom_ok_kids(l, &term), il_bdd_bad(&l->bdd) ? IL_BDD_FALSE : il_cel_fact_from(l, size, least));
    }
    if (atom_constant_error(l, &term)) {
        return IL_BDD_FALSE;
    }
    const il_cel_atom a = atom_about(l, IL_CEL_A_OK, t);
    const uint32_t before = l->natoms;
    const il_bdd_ref ok = atom_fact(l, &a);
    if (l->natoms > before && term.strict) {
        il_cel_atom_constrain(l, atom_implies(l, ok, atom_ok_kids(l, &term)));
    }
    return ok;
}

il_bdd_ref il_cel_fact_class(il_cel_logic *l, uint32_t t, il_cel_class of) {
    const il_cel_type *type = l->terms[t].type;
    if (type != NULL) {
        const bool owner = of == IL_CEL_CLASS_OWNER && type->kind == IL_CEL_MAP;
        /* Null may stand where a time, an address or a record is declared. */
        const bool null = type->kind == IL_CEL_TIMESTAMP || type->kind == IL_CEL_DURATION || type->kind == IL_CEL_RECORD;
        if (owner || (il_cel_class_of_type(type) == of && !null)) {
            return IL_BDD_TRUE;
        }
        if (il_cel_class_of_type(type) != of) {
            return IL_BDD_FALSE;
        }
    }
    il_cel_atom a = atom_about(l, IL_CEL_A_CLASS, t);
    a.of = (uint8_t)of;
    return atom_fact(l, &a);
}

/* Of a text with a finite domain: the words that `holds` says yes to. */
enum { ATOM_WORDS = 64 };

static bool atom_finite(const il_cel_logic *l, uint32_t t) {
    const il_cel_type *type = l->terms[t].type;
    return type != NULL && type->kind == IL_CEL_STRING && type->domain != NULL && type->ndomain <= ATOM_WORDS &&
           l->terms[t].op != IL_CEL_OP_LIT;
}

static il_bdd_ref atom_equal_fact(il_cel_logic *l, uint32_t t, il_cel_value lit) {
    il_cel_atom a = atom_about(l, IL_CEL_A_EQUAL, t);
    a.lit = lit;
    return atom_fact(l, &a);
}

/* The fact that t is this word of its domain. The first that is asked for brings all of them, and that one is so. */
static il_bdd_ref atom_word(il_cel_logic *l, uint32_t t, size_t word) {
    const il_cel_type *type = l->terms[t].type;
    const uint32_t before = l->natoms;
    const il_bdd_ref found = atom_equal_fact(l, t, il_cel_of_str(type->domain[word]));
    if (l->natoms > before) {
        il_bdd_ref any = IL_BDD_FALSE;
        for (size_t i = type->ndomain; i-- > 0;) {
            any = il_bdd_or(&l->bdd, any, atom_equal_fact(l, t, il_cel_of_str(type->domain[i])));
        }
        /* Where there is no value, the facts about it mean nothing: any truth will do. */
        il_cel_atom_constrain(l, any);
    }
    return found;
}

static il_bdd_ref atom_words(il_cel_logic *l, uint32_t t, bool (*holds)(const void *ctx, const il_cel_value *word),
                             const void *ctx) {
    const il_cel_type *type = l->terms[t].type;
    il_bdd_ref any = IL_BDD_FALSE;
    for (size_t i = type->ndomain; i-- > 0;) {
        const il_cel_value word = il_cel_of_str(type->domain[i]);
        if (holds(ctx, &word)) {
            any = il_bdd_or(&l->bdd, any, atom_word(l, t, i));
        }
    }
    return any;
}

il_bdd_ref il_cel_fact_from(il_cel_logic *l, uint32_t t, int64_t least) {
    const il_cel_term *term = &l->terms[t];
    const bool size = term->op == IL_CEL_OP_CALL && term->nkids == 1 && il_str_eq(term->name, IL_STR("size"));
    if (least == INT64_MIN || (size && least <= 0)) {
        return IL_BDD_TRUE;
    }
    il_cel_atom a = atom_about(l, IL_CEL_A_FROM, t);
    a.lit = il_cel_of_int(least);
    return atom_fact(l, &a);
}

static bool atom_word_equal(const void *ctx, const il_cel_value *word) { return il_cel_equal(*word, *(const il_cel_value *)ctx); }

il_bdd_ref il_cel_fact_equal(il_cel_logic *l, uint32_t t, il_cel_value lit) {
    const il_cel_term *term = &l->terms[t];
    lit = il_cel_canonical(lit);
    if (term->op == IL_CEL_OP_LIT) {
        return il_cel_equal(term->lit, lit) ? IL_BDD_TRUE : IL_BDD_FALSE;
    }
    if (lit.kind == IL_CEL_INT && il_cel_term_is(term, IL_CEL_INT)) {
        const il_bdd_ref above = lit.u.i == INT64_MAX ? IL_BDD_FALSE : il_cel_fact_from(l, t, lit.u.i + 1);
        return il_bdd_and(&l->bdd, il_cel_fact_from(l, t, lit.u.i), il_bdd_not(&l->bdd, above));
    }
    if (lit.kind == IL_CEL_BOOL && !lit.u.b && il_cel_term_is(term, IL_CEL_BOOL)) {
        return il_bdd_not(&l->bdd, atom_equal_fact(l, t, il_cel_of_bool(true)));
    }
    if ((lit.kind == IL_CEL_LIST || lit.kind == IL_CEL_MAP) && lit.n == 0 && il_cel_term_is(term, (il_cel_kind)lit.kind)) {
        return il_bdd_not(&l->bdd, il_cel_fact_filled(l, t));
    }
    if (atom_finite(l, t)) {
        return lit.kind == IL_CEL_STRING ? atom_words(l, t, atom_word_equal, &lit) : IL_BDD_FALSE;
    }
    return atom_equal_fact(l, t, lit);
}

il_bdd_ref il_cel_fact_same(il_cel_logic *l, uint32_t t, uint32_t u) {
    il_bdd *d = &l->bdd;
    const il_cel_type *type = l->terms[t].type;
    if (t == u && type != NULL && type->kind != IL_CEL_DOUBLE && il_cel_class_of_type(type) != IL_CEL_CLASS_NONE &&
        il_cel_class_of_type(type) < IL_CEL_CLASS_RANGE) {
        return IL_BDD_TRUE;
    }
    if (atom_finite(l, t) && atom_finite(l, u)) {
        il_bdd_ref any = IL_BDD_FALSE;
        for (size_t i = type->ndomain; i-- > 0;) {
            const il_cel_value word = il_cel_of_str(type->domain[i]);
            any = il_bdd_or(d, any, il_bdd_and(d, atom_word(l, t, i), il_cel_fact_equal(l, u, word)));
        }
        return any;
    }
    il_cel_atom a = atom_about(l, IL_CEL_A_SAME, t < u ? t : u);
    a.u = t < u ? u : t;
    a.locals |= l->terms[t].locals | l->terms[u].locals;
    return atom_fact(l, &a);
}

typedef struct atom_compare {
    il_cel_op op;
    il_cel_value lit;
} atom_compare;

static bool atom_word_order(const void *ctx, const il_cel_value *word) {
    const atom_compare *c = (const atom_compare *)ctx;
    const int order = il_cel_order(word, &c->lit);
    return c->op == IL_CEL_OP_LT   ? order < 0
           : c->op == IL_CEL_OP_LE ? order <= 0
           : c->op == IL_CEL_OP_GT ? order > 0
                                   : order >= 0;
}

il_bdd_ref il_cel_fact_order(il_cel_logic *l, uint32_t t, il_cel_op op, il_cel_value lit) {
    il_bdd *d = &l->bdd;
    const il_cel_term *term = &l->terms[t];
    lit = il_cel_canonical(lit);
    if (lit.kind == IL_CEL_INT && il_cel_term_is(term, IL_CEL_INT)) {
        const bool next = op == IL_CEL_OP_LE || op == IL_CEL_OP_GT, turn = op == IL_CEL_OP_LE || op == IL_CEL_OP_LT;
        const il_bdd_ref from = next && lit.u.i == INT64_MAX ? IL_BDD_FALSE : il_cel_fact_from(l, t, lit.u.i + (next ? 1 : 0));
        return turn ? il_bdd_not(d, from) : from;
    }
    if (atom_finite(l, t)) {
        const atom_compare c = {op, lit};
        return lit.kind == IL_CEL_STRING ? atom_words(l, t, atom_word_order, &c) : IL_BDD_FALSE;
    }
    const bool nan =
        il_cel_class_of(&lit) == IL_CEL_CLASS_NUMBER && !il_cel_term_is(term, IL_CEL_INT) && !il_cel_term_is(term, IL_CEL_UINT);
    const bool less = op == IL_CEL_OP_LT || op == IL_CEL_OP_LE, strict = op == IL_CEL_OP_LT || op == IL_CEL_OP_GT;
    il_cel_atom a = atom_about(l, (strict || nan) == less ? IL_CEL_A_LESS : IL_CEL_A_MORE, t);
    a.lit = lit;
    const il_bdd_ref f = atom_fact(l, &a);
    if (strict) {
        return f;
    }
    return nan ? il_bdd_or(d, f, il_cel_fact_equal(l, t, lit)) : il_bdd_not(d, f);
}

static bool atom_word_text(const void *ctx, const il_cel_value *word) {
    bool known;
    return atom_text_holds((const il_cel_atom *)ctx, word, &known);
}

il_bdd_ref il_cel_fact_text(il_cel_logic *l, il_cel_atom_kind kind, uint32_t t, il_cel_value lit, const il_regex *regex) {
    il_cel_atom a = atom_about(l, kind, t);
    a.lit = lit;
    a.regex = regex;
    if (kind != IL_CEL_A_MATCHES && lit.n == 0) {
        return IL_BDD_TRUE;
    }
    if (atom_finite(l, t)) {
        const il_cel_type *type = l->terms[t].type;
        bool all = true;
        for (size_t i = 0; i < type->ndomain && all; i++) {
            const il_cel_value word = il_cel_of_str(type->domain[i]);
            (void)atom_text_holds(&a, &word, &all);
        }
        if (all) {
            return atom_words(l, t, atom_word_text, &a);
        }
    }
    return atom_fact(l, &a);
}

/* --- items ------------------------------------------------------- */

uint32_t il_cel_atom_filled(const il_cel_logic *l, const il_cel_atom *a) {
    const il_cel_term *t = &l->terms[a->t];
    return a->kind == IL_CEL_A_FROM && a->lit.u.i == 1 && t->op == IL_CEL_OP_CALL && t->nkids == 1 &&
                   il_str_eq(t->name, IL_STR("size"))
               ? l->kids[t->kids]
               : 0;
}

il_bdd_ref il_cel_fact_filled(il_cel_logic *l, uint32_t range) {
    const il_cel_term *t = &l->terms[range];
    if (t->op == IL_CEL_OP_LIT) {
        return t->lit.n > 0 ? IL_BDD_TRUE : IL_BDD_FALSE;
    }
    if (il_cel_class_of_type(t->type) == IL_CEL_CLASS_RANGE) {
        return il_cel_fact_from(l, il_cel_term_make(l, IL_CEL_OP_CALL, IL_STR("size"), &range, 1), 1);
    }
    il_cel_atom a = atom_about(l, IL_CEL_A_SOME, range);
    a.body = IL_BDD_TRUE;
    return atom_fact(l, &a);
}

typedef struct atom_split {
    il_cel_logic *l;
    uint64_t slots, inside;
    uint32_t outer; /* an atom that does not depend on the variables; UINT32_MAX */
} atom_split;

static void atom_split_one(void *ctx, uint32_t var) {
    atom_split *s = (atom_split *)ctx;
    const uint64_t locals = s->l->atoms[var].locals;
    if ((locals & s->slots) == 0) {
        s->outer = var < s->outer ? var : s->outer;
    }
    s->inside |= locals;
}

il_bdd_ref il_cel_fact_some(il_cel_logic *l, uint32_t range, uint64_t slots, il_bdd_ref body) {
    il_bdd *d = &l->bdd;
    if (body == IL_BDD_FALSE || !il_bdd_charge(d, 64)) {
        return IL_BDD_FALSE;
    }
    if (body == IL_BDD_TRUE) {
        return il_cel_fact_filled(l, range);
    }
    atom_split split = {l, slots, 0, UINT32_MAX};
    il_bdd_support(d, body, atom_split_one, &split);
    if (split.outer !=
        UINT32_MAX) { /* what does not depend on the item stands outside: as many steps down as there are such atoms */
        const il_bdd_ref yes = il_cel_fact_some(l, range, slots, il_bdd_fix(d, body, split.outer, true));
        const il_bdd_ref no = il_cel_fact_some(l, range, slots, il_bdd_fix(d, body, split.outer, false));
        return il_bdd_ite(d, il_bdd_var(d, split.outer), yes, no);
    }
    il_cel_atom a = atom_about(l, IL_CEL_A_SOME, range);
    a.body = body;
    a.slots = slots;
    a.locals |= split.inside & ~slots;
    const uint32_t before = l->natoms;
    const il_bdd_ref some = atom_fact(l, &a);
    if (l->natoms > before) {
        il_cel_atom_constrain(l, atom_implies(l, some, il_cel_fact_filled(l, range)));
    }
    return some;
}
