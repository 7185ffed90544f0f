/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions as terms. What a term surely is is found from what the environment declares and from operators whose result is
 * known, never from the checker's inference: with dyn that says what an expression may be. */
#include "base/double.h"
#include "cel/logic_part.h"
#include "cel/type.h"
#include "cel/value.h"

bool il_cel_logic_room(il_cel_logic *l, void **array, uint32_t *room, uint32_t used, size_t size) {
    if (used < *room) {
        return true;
    }
    const uint32_t more = *room == 0 ? 32 : 2 * *room;
    void *bigger = il_arena_array(l->arena, more, size);
    if (bigger == NULL) {
        l->bdd.failed = il_arena_fail(l->arena, NULL);
        return false;
    }
    if (used > 0) {
        memcpy(bigger, *array, used * size);
    }
    *array = bigger;
    *room = more;
    return true;
}

/* --- constants --------------------------------------------------- */

#define TERM_WHOLE 9007199254740992 /* 2^53: below it every whole number is a double and no other whole number is near */

bool il_cel_plain_number(const il_cel_value *v) {
    return (v->kind == IL_CEL_INT && v->u.i > -TERM_WHOLE && v->u.i < TERM_WHOLE) ||
           (v->kind == IL_CEL_UINT && v->u.u < TERM_WHOLE) ||
           (v->kind == IL_CEL_DOUBLE && v->u.d > (double)-TERM_WHOLE && v->u.d < (double)TERM_WHOLE);
}

il_cel_value il_cel_canonical(il_cel_value v) {
    if (!il_cel_plain_number(&v)) {
        return v;
    }
    if (v.kind == IL_CEL_UINT) {
        return il_cel_of_int((int64_t)v.u.u);
    }
    if (v.kind == IL_CEL_DOUBLE && il_double_trunc(v.u.d) == v.u.d) {
        return il_cel_of_int((int64_t)v.u.d);
    }
    return v;
}

bool il_cel_identical(const il_cel_value *a, const il_cel_value *b) {
    if (a->kind != b->kind || a->json != b->json || a->n != b->n) {
        return false;
    }
    switch ((il_cel_kind)a->kind) {
    case IL_CEL_NULL:
        return true;
    case IL_CEL_BOOL:
        return a->u.b == b->u.b;
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
        return il_str_eq(il_cel_str(*a), il_cel_str(*b));
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_ERROR:
    case IL_CEL_TYPE:
    case IL_CEL_OPTIONAL:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_RECORD:
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
    case IL_CEL_MAP:
        return a->u.u == b->u.u; /* the bits: numbers, or one and the same object */
    case IL_CEL_LIST:
        if (a->json || a->u.items == b->u.items) {
            return a->u.u == b->u.u;
        }
        for (uint32_t i = 0; i < a->n; i++) { /* lists within are the same only when they are one */
            if (a->u.items[i].kind == IL_CEL_LIST || !il_cel_identical(&a->u.items[i], &b->u.items[i])) {
                return false;
            }
        }
        return true;
    }
    return false;
}

il_cel_class il_cel_class_of(const il_cel_value *v) {
    switch ((il_cel_kind)v->kind) {
    case IL_CEL_BOOL:
        return IL_CEL_CLASS_BOOL;
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
        return IL_CEL_CLASS_NUMBER;
    case IL_CEL_STRING:
        return IL_CEL_CLASS_TEXT;
    case IL_CEL_BYTES:
        return IL_CEL_CLASS_BYTES;
    case IL_CEL_TIMESTAMP:
        return IL_CEL_CLASS_TIMESTAMP;
    case IL_CEL_DURATION:
        return IL_CEL_CLASS_DURATION;
    case IL_CEL_LIST:
    case IL_CEL_MAP:
        return IL_CEL_CLASS_RANGE;
    case IL_CEL_RECORD:
        return IL_CEL_CLASS_OWNER;
    case IL_CEL_ERROR:
    case IL_CEL_NULL:
    case IL_CEL_TYPE:
    case IL_CEL_OPTIONAL:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
        break;
    }
    return IL_CEL_CLASS_NONE;
}

il_cel_class il_cel_class_of_type(const il_cel_type *type) {
    if (type == NULL) {
        return IL_CEL_CLASS_NONE;
    }
    const il_cel_value v = il_cel_of(type->kind, 0);
    return il_cel_class_of(&v);
}

bool il_cel_distinct(const il_cel_value *a, const il_cel_value *b) {
    const il_cel_class ca = il_cel_class_of(a), cb = il_cel_class_of(b);
    const bool fa = (ca >= IL_CEL_CLASS_BOOL && ca <= IL_CEL_CLASS_RANGE) || a->kind == IL_CEL_NULL;
    const bool fb = (cb >= IL_CEL_CLASS_BOOL && cb <= IL_CEL_CLASS_RANGE) || b->kind == IL_CEL_NULL;
    if (!fa || !fb) {
        return false;
    }
    if (ca != cb) {
        return true;
    }
    if (ca == IL_CEL_CLASS_NUMBER) {
        return il_cel_plain_number(a) && il_cel_plain_number(b) && !il_cel_equal(*a, *b);
    }
    /* Lists may hold numbers, between which equality is not transitive at the far ends. */
    return ca != IL_CEL_CLASS_RANGE && ca != IL_CEL_CLASS_NONE && !il_cel_equal(*a, *b);
}

/* --- making ------------------------------------------------------ */

static uint64_t term_hash(const il_cel_logic *l, const il_cel_term *t) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
#define TERM_MIX(x) (h = (h ^ (uint64_t)(x)) * UINT64_C(0x100000001b3))
    TERM_MIX(t->op);
    TERM_MIX(t->role);
    TERM_MIX(t->slot);
    TERM_MIX(t->range);
    TERM_MIX(t->lit.kind);
    TERM_MIX(t->lit.n);
    for (size_t i = 0; i < t->name.n; i++) {
        TERM_MIX((unsigned char)t->name.p[i]);
    }
    if (t->lit.kind == IL_CEL_STRING || t->lit.kind == IL_CEL_BYTES) {
        for (uint32_t i = 0; i < t->lit.n; i++) {
            TERM_MIX((unsigned char)t->lit.u.p[i]);
        }
    } else if (t->lit.kind == IL_CEL_INT) {
        TERM_MIX(t->lit.u.i);
    }
    for (uint32_t i = 0; i < t->nkids; i++) {
        TERM_MIX(l->kids[t->kids + i]);
    }
#undef TERM_MIX
    return h ^ (h >> 29);
}

static bool term_same(const il_cel_logic *l, const il_cel_term *a, const il_cel_term *b) {
    if (a->op != b->op || a->role != b->role || a->slot != b->slot || a->range != b->range || a->callee != b->callee ||
        a->nkids != b->nkids || !il_str_eq(a->name, b->name) || !il_cel_identical(&a->lit, &b->lit)) {
        return false;
    }
    return a->nkids == 0 || memcmp(l->kids + a->kids, l->kids + b->kids, a->nkids * sizeof *l->kids) == 0;
}

static void term_buckets(il_cel_logic *l) {
    const uint32_t n = l->nbuckets == 0 ? 64 : 4 * l->nbuckets;
    uint32_t *buckets = IL_NEW_ARRAY(l->arena, uint32_t, n);
    if (buckets == NULL) {
        l->bdd.failed = il_arena_fail(l->arena, NULL);
        return;
    }
    l->buckets = buckets;
    l->nbuckets = n;
    for (uint32_t i = 0; i < l->nterms; i++) {
        uint32_t *at = &buckets[term_hash(l, &l->terms[i]) & (n - 1)];
        l->terms[i].next = *at;
        *at = i + 1;
    }
}

static bool term_text_like(const il_cel_type *t) {
    return t != NULL && (t->kind == IL_CEL_STRING || t->kind == IL_CEL_BYTES || t->kind == IL_CEL_LIST || t->kind == IL_CEL_MAP);
}

static const il_cel_type *term_known(const il_cel_type *t) {
    return t == NULL || t->kind == IL_CEL_DYN || t->kind == IL_CEL_PARAM ? NULL : t;
}

static const il_cel_type *term_field_type(const il_cel_type *record, il_str name) {
    for (size_t i = 0; i < record->nfields; i++) {
        if (il_str_eq(record->fields[i].name, name)) {
            return term_known(record->fields[i].type);
        }
    }
    return NULL;
}

bool il_cel_term_bool_call(const il_cel_builtin *b) {
    for (uint8_t i = 0; b != NULL && i < b->noverloads; i++) {
        if (b->overloads[i].result == NULL || b->overloads[i].result->kind != IL_CEL_BOOL) {
            return false;
        }
    }
    return b != NULL;
}

/* type, whole, strict of a term whose kids are known. */
static void term_know(const il_cel_logic *l, il_cel_term *t, const il_cel_builtin *builtin) {
    const il_cel_term *a = t->nkids > 0 ? &l->terms[l->kids[t->kids]] : NULL,
                      *b = t->nkids > 1 ? &l->terms[l->kids[t->kids + 1]] : NULL;
    const il_cel_type *ta = a != NULL ? a->type : NULL, *tb = b != NULL ? b->type : NULL;
    switch ((il_cel_op)t->op) {
    case IL_CEL_OP_LIT:
        t->type = il_cel_type_of_kind((il_cel_kind)t->lit.kind);
        t->whole = t->lit.kind != IL_CEL_ERROR;
        break;
    case IL_CEL_OP_VAR:
        t->type = t->slot < l->env->nvars ? term_known(l->env->vars[t->slot].type) : NULL;
        t->whole = !l->limits.unset;
        break;
    case IL_CEL_OP_LOCAL: {
        const il_cel_type *of = l->terms[t->range].type;
        if (t->role == IL_CEL_ROLE_INDEX) {
            t->type = &il_cel_type_int;
        } else if (of != NULL && t->role <= IL_CEL_ROLE_VALUE) {
            const il_cel_type *value = of->kind == IL_CEL_LIST || of->nfields == 0 ? of->element : NULL;
            const bool range = of->kind == IL_CEL_LIST || of->kind == IL_CEL_MAP;
            t->type = !range ? NULL : term_known(of->kind == IL_CEL_MAP && t->role == IL_CEL_ROLE_ITEM ? of->key : value);
        }
        t->whole = !l->limits.unset;
        break;
    }
    case IL_CEL_OP_SELECT:
        t->strict = true;
        if (t->role == 0 && ta != NULL && ta->kind == IL_CEL_RECORD) {
            t->type = term_field_type(ta, t->name);
            t->whole = !l->limits.unset;
        } else if (t->role == 0 && ta != NULL && ta->kind == IL_CEL_MAP && ta->nfields == 0) {
            t->type = term_known(ta->element);
        }
        break;
    case IL_CEL_OP_INDEX:
        t->strict = true;
        if (t->role == 0 && ta != NULL && (ta->kind == IL_CEL_LIST || (ta->kind == IL_CEL_MAP && ta->nfields == 0))) {
            t->type = term_known(ta->element);
        }
        break;
    case IL_CEL_OP_CALL:
        t->strict = true;
        if (builtin != NULL && t->nkids == 1 && il_str_eq(t->name, IL_STR("size"))) {
            t->type = &il_cel_type_int;
            t->whole = term_text_like(ta);
        } else if (il_cel_term_bool_call(builtin)) {
            const bool text = il_str_eq(t->name, IL_STR("startsWith")) || il_str_eq(t->name, IL_STR("endsWith")) ||
                              il_str_eq(t->name, IL_STR("contains")) ||
                              (il_str_eq(t->name, IL_STR("matches")) && t->node != NULL && t->node->regex != NULL);
            t->type = &il_cel_type_bool;
            t->whole = text && ta != NULL && tb != NULL && ta->kind == IL_CEL_STRING && tb->kind == IL_CEL_STRING;
        }
        break;
    case IL_CEL_OP_ADD:
        t->strict = true;
        if (ta != NULL && tb != NULL && ta->kind == tb->kind) {
            t->whole = ta->kind == IL_CEL_STRING || ta->kind == IL_CEL_BYTES || ta->kind == IL_CEL_LIST;
            t->type = ta->kind == IL_CEL_STRING  ? &il_cel_type_string
                      : ta->kind == IL_CEL_BYTES ? &il_cel_type_bytes
                      : ta->kind == IL_CEL_LIST  ? &il_cel_type_list
                      : ta->kind == IL_CEL_INT   ? &il_cel_type_int
                                                 : NULL;
        }
        break;
    case IL_CEL_OP_SUB:
    case IL_CEL_OP_MUL:
    case IL_CEL_OP_DIV:
    case IL_CEL_OP_MOD:
    case IL_CEL_OP_NEG:
        t->strict = true;
        if (ta != NULL && ta->kind == IL_CEL_INT && (t->nkids == 1 || (tb != NULL && tb->kind == IL_CEL_INT))) {
            t->type = &il_cel_type_int;
            t->whole = (t->op == IL_CEL_OP_DIV || t->op == IL_CEL_OP_MOD) && b != NULL && b->lit.kind == IL_CEL_INT &&
                       b->lit.u.i != 0 && b->lit.u.i != -1;
        }
        break;
    case IL_CEL_OP_LIST:
        t->strict = t->whole = true;
        t->type = &il_cel_type_list;
        break;
    case IL_CEL_OP_MAP:
        t->strict = true;
        t->type = &il_cel_type_map;
        break;
    case IL_CEL_OP_EQ:
    case IL_CEL_OP_NE:
        t->strict = true;
        t->whole = !l->program->alike; /* what is known to be alike is not asked */
        t->type = &il_cel_type_bool;
        break;
    case IL_CEL_OP_LT:
    case IL_CEL_OP_LE:
    case IL_CEL_OP_GT:
    case IL_CEL_OP_GE: {
        const il_cel_class of = il_cel_class_of_type(ta);
        t->strict = true;
        t->whole = of >= IL_CEL_CLASS_BOOL && of <= IL_CEL_CLASS_BYTES && of == il_cel_class_of_type(tb);
        t->type = &il_cel_type_bool;
        break;
    }
    case IL_CEL_OP_IN:
        t->strict = true;
        t->whole = il_cel_class_of_type(tb) == IL_CEL_CLASS_RANGE && !l->limits.unset && !l->program->alike;
        t->type = &il_cel_type_bool;
        break;
    case IL_CEL_OP_NOT:
    case IL_CEL_OP_AND:
    case IL_CEL_OP_OR:
    case IL_CEL_OP_HAS:
    case IL_CEL_OP_EXISTS:
    case IL_CEL_OP_ALL:
        t->type = &il_cel_type_bool;
        break;
    case IL_CEL_OP_EXISTS_ONE:
        t->type = &il_cel_type_bool;
        t->whole = il_cel_class_of_type(ta) == IL_CEL_CLASS_RANGE && b != NULL && b->sure && il_cel_term_is(b, IL_CEL_BOOL);
        break;
    case IL_CEL_OP_FILTER:
    case IL_CEL_OP_TRANSFORM:
        t->type = &il_cel_type_list;
        break;
    case IL_CEL_OP_TRANSFORM_MAP:
    case IL_CEL_OP_TRANSFORM_ENTRY:
        t->type = &il_cel_type_map;
        break;
    case IL_CEL_OP_TYPE:
    case IL_CEL_OP_NAME:
    case IL_CEL_OP_LET:
    case IL_CEL_OP_FIELD:
    case IL_CEL_OP_COND:
    case IL_CEL_OP_BIND:
    case IL_CEL_OP_OPT_MAP:
    case IL_CEL_OP_OPT_FLAT_MAP:
        break;
    }
    t->sure = t->whole;
    for (uint32_t i = 0; i < t->nkids; i++) {
        t->sure = t->sure && l->terms[l->kids[t->kids + i]].sure;
    }
}

static bool term_kid(il_cel_logic *l, il_cel_term *t, uint32_t kid) {
    if (!il_cel_logic_room(l, (void **)&l->kids, &l->kids_room, l->nkids, sizeof *l->kids)) {
        return false;
    }
    l->kids[l->nkids++] = kid;
    t->nkids++;
    t->locals |= l->terms[kid].locals;
    return true;
}

/* `t` with its kids at the end of l->kids: the term that it is. `alone`: no other term equals it. */
static uint32_t term_intern(il_cel_logic *l, il_cel_term *t, const il_cel_builtin *builtin, bool alone) {
    if (il_bdd_bad(&l->bdd)) {
        return 0;
    }
    if (l->nterms >= l->nbuckets) {
        term_buckets(l);
        if (il_bdd_bad(&l->bdd)) {
            return 0;
        }
    }
    const uint32_t at = (uint32_t)(term_hash(l, t) & (l->nbuckets - 1));
    for (uint32_t i = alone ? 0 : l->buckets[at]; i != 0; i = l->terms[i - 1].next) {
        if (term_same(l, &l->terms[i - 1], t)) {
            l->nkids = t->kids;
            return i - 1;
        }
    }
    if (!il_cel_logic_room(l, (void **)&l->terms, &l->terms_room, l->nterms, sizeof *l->terms)) {
        return 0;
    }
    term_know(l, t, builtin);
    if (alone) {
        t->callee = &l->terms_room; /* nothing that is looked for is called that */
        t->sure = t->whole = false;
    }
    t->next = l->buckets[at];
    l->buckets[at] = l->nterms + 1;
    l->terms[l->nterms] = *t;
    return l->nterms++;
}

static il_cel_term term_new(il_cel_logic *l, il_cel_op op, const il_cel_node *n) {
    return (il_cel_term){.op = (uint8_t)op, .name = IL_STR(""), .slot = IL_CEL_NO_SLOT, .kids = l->nkids, .node = n};
}

uint32_t il_cel_term_lit(il_cel_logic *l, const il_cel_value *v) {
    il_cel_term t = term_new(l, IL_CEL_OP_LIT, NULL);
    t.lit = *v;
    return term_intern(l, &t, NULL, false);
}

uint32_t il_cel_term_make(il_cel_logic *l, il_cel_op op, il_str name, const uint32_t *kids, uint32_t nkids) {
    il_cel_term t = term_new(l, op, NULL);
    t.name = name;
    for (uint32_t i = 0; i < nkids; i++) {
        if (!term_kid(l, &t, kids[i])) {
            return 0;
        }
    }
    return term_intern(l, &t, op == IL_CEL_OP_CALL ? il_cel_builtin_find(name, false) : NULL, false);
}

uint32_t il_cel_term_local(il_cel_logic *l, uint32_t slot, uint32_t range, uint8_t role) {
    il_cel_term t = term_new(l, IL_CEL_OP_LOCAL, NULL);
    t.slot = slot;
    t.range = range;
    t.role = role;
    t.locals = (UINT64_C(1) << slot) | l->terms[range].locals;
    return term_intern(l, &t, NULL, false);
}

uint32_t il_cel_term_slot(uint64_t locals) {
    uint32_t slot = 0;
    while (slot < 63 && locals >> slot != 0) {
        slot++;
    }
    return slot;
}

/* What the nodes depend on of macro variables around the macro whose own first one has `slot`. */
static uint64_t term_outer(const il_cel_logic *l, const il_cel_node *n, uint32_t slot) {
    uint64_t mask = 0;
    for (; n != NULL; n = n->next) {
        if (n->op == IL_CEL_OP_LOCAL && n->slot < slot) {
            mask |= l->terms[l->locals[n->slot].term].locals;
        }
        mask |= term_outer(l, n->kids, slot);
    }
    return mask;
}

/* Slots are numbered anew: the first that nothing around the macro uses which it depends on. So a macro is the same term
 * however deep it stands. */
uint64_t il_cel_term_enter(il_cel_logic *l, const il_cel_node *n, uint32_t range) {
    uint64_t mask = 0;
    const bool opt = n->op == IL_CEL_OP_OPT_MAP || n->op == IL_CEL_OP_OPT_FLAT_MAP;
    const bool two = n->slot2 != IL_CEL_NO_SLOT, list = il_cel_term_is(&l->terms[range], IL_CEL_LIST);
    const bool map = il_cel_term_is(&l->terms[range], IL_CEL_MAP);
    const uint8_t first = opt ? IL_CEL_ROLE_HELD : !two || map ? IL_CEL_ROLE_ITEM : list ? IL_CEL_ROLE_INDEX : IL_CEL_ROLE_EITHER;
    const uint8_t second = map ? IL_CEL_ROLE_VALUE : list ? IL_CEL_ROLE_ITEM : IL_CEL_ROLE_EITHER;
    const uint32_t slots[2] = {n->slot, n->slot2};
    const uint32_t own = il_cel_term_slot(l->terms[range].locals | term_outer(l, n->kids->next, n->slot));
    for (uint32_t i = 0; i < 2; i++) {
        if (slots[i] < IL_CEL_LOCALS) {
            mask |= UINT64_C(1) << (own + i);
            l->locals[slots[i]] = (il_cel_bound_local){.term = il_cel_term_local(l, own + i, range, i == 0 ? first : second)};
        }
    }
    return mask;
}

/* --- of nodes ---------------------------------------------------- */

static bool term_is_macro(const il_cel_node *n) { return n->op >= IL_CEL_OP_EXISTS; }

static uint32_t term_bind(il_cel_logic *l, const il_cel_node *n) {
    const uint32_t init = il_cel_term_of(l, n->kids);
    if (n->slot >= IL_CEL_LOCALS) {
        return 0;
    }
    l->locals[n->slot] = (il_cel_bound_local){.term = init};
    return il_cel_term_of(l, n->kids->next);
}

static uint32_t term_macro(il_cel_logic *l, const il_cel_node *n) {
    uint32_t kids[4], nkids = 0;
    kids[nkids++] = il_cel_term_of(l, n->kids);
    if (il_bdd_bad(&l->bdd)) {
        return 0;
    }
    const uint64_t mask = il_cel_term_enter(l, n, kids[0]);
    for (const il_cel_node *k = n->kids->next; k != NULL && nkids < 4; k = k->next) {
        kids[nkids++] = il_cel_term_of(l, k);
    }
    if (il_bdd_bad(&l->bdd)) {
        return 0;
    }
    il_cel_term t = term_new(l, (il_cel_op)n->op, n);
    t.slot = (uint32_t)__builtin_ctzll(mask);
    t.role = n->slot2 != IL_CEL_NO_SLOT;
    for (uint32_t i = 0; i < nkids; i++) {
        if (!term_kid(l, &t, kids[i])) {
            return 0;
        }
    }
    t.locals &= ~mask;
    return term_intern(l, &t, NULL, false);
}

static uint32_t term_any(il_cel_logic *l, const il_cel_node *n) {
    enum { FEW = 8 };
    uint32_t few[FEW], *kids = few, nkids = 0;
    bool alone = n->op == IL_CEL_OP_NAME;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        nkids++;
    }
    if (nkids > FEW) {
        kids = IL_NEW_ARRAY(l->arena, uint32_t, nkids);
        if (kids == NULL) {
            l->bdd.failed = il_arena_fail(l->arena, NULL);
            return 0;
        }
    }
    nkids = 0;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        alone = alone || k->maybe;
        kids[nkids++] = il_cel_term_of(l, k);
    }
    if (il_bdd_bad(&l->bdd)) {
        return 0;
    }
    il_cel_term t = term_new(l, (il_cel_op)n->op, n);
    t.role = n->optional;
    if (n->op == IL_CEL_OP_FIELD) {
        t.op = IL_CEL_OP_SELECT;
        t.name = n->name;
    } else if (n->op == IL_CEL_OP_SELECT || n->op == IL_CEL_OP_CALL || n->op == IL_CEL_OP_NAME) {
        t.name = n->name;
        t.callee = n->function;
    } else if (n->op == IL_CEL_OP_VAR) {
        t.slot = n->slot;
    } else if (n->op == IL_CEL_OP_INDEX && !n->optional && nkids == 2 && il_cel_term_is(&l->terms[kids[0]], IL_CEL_MAP) &&
               l->terms[kids[1]].lit.kind == IL_CEL_STRING) {
        t.op = IL_CEL_OP_SELECT; /* m['k'] is m.k */
        t.name = il_cel_str(l->terms[kids[1]].lit);
        nkids = 1;
    }
    for (uint32_t i = 0; i < nkids; i++) {
        if (!term_kid(l, &t, kids[i])) {
            return 0;
        }
    }
    if (n->op == IL_CEL_OP_CALL && n->receiver && n->function == NULL && !il_str_eq(n->name, IL_STR("size")) &&
        !il_str_eq(n->name, IL_STR("matches"))) {
        t.role = 2; /* called on its first argument; of those two it makes no difference */
    }
    return term_intern(l, &t, n->builtin, alone);
}

uint32_t il_cel_term_of(il_cel_logic *l, const il_cel_node *n) {
    if (il_bdd_bad(&l->bdd)) {
        return 0;
    }
    if (n->constant || n->op == IL_CEL_OP_LIT || n->op == IL_CEL_OP_TYPE) {
        il_cel_term t = term_new(l, IL_CEL_OP_LIT, n);
        t.lit = n->lit;
        return term_intern(l, &t, NULL, false);
    }
    if (n->op == IL_CEL_OP_LOCAL) {
        return n->slot < IL_CEL_LOCALS ? l->locals[n->slot].term : 0;
    }
    if (n->op == IL_CEL_OP_LET) {
        return il_cel_term_of(l, n->kids);
    }
    if (n->op == IL_CEL_OP_BIND) {
        return term_bind(l, n);
    }
    return term_is_macro(n) ? term_macro(l, n) : term_any(l, n);
}
