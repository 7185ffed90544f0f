/* SPDX-License-Identifier: Apache-2.0 */
/* From the leaves up: an operator whose operands are all known is run by the machine itself (as a tree of one operator over
 * constants), so both agree. */
#include "cel/partial.h"

#include "cel/generate.h"
#include "cel/value.h"

enum {
    PARTIAL_TEXT = 65536,    /* of a residue */
    PARTIAL_LITERAL = 256,   /* bytes of a text, items of a list, that is written in the place of a variable */
    PARTIAL_UNROLL = 64,     /* items of a known list that a macro is written out for */
    PARTIAL_STEPS = 2000000, /* of all that is run; what is beyond stays as it is */
    PARTIAL_VISITS = 200000, /* nodes looked at, unrolled ones each time */
    PARTIAL_ITEMS = 4096     /* values looked at in search of an unknown one */
};

typedef enum partial_state { PARTIAL_UNKNOWN = 0, PARTIAL_VALUE, PARTIAL_ERROR } partial_state;

typedef struct partial_answer {
    partial_state state;
    il_cel_value value;      /* VALUE: the value, or one of its parts is unknown; ERROR: the error */
    const il_cel_node *node; /* gives the same, without what is known where that has a literal */
    bool part;               /* VALUE: something in it is unknown */
    bool literal;            /* node reads nothing */
    uint64_t rests;
} partial_answer;

typedef struct partial_run {
    il_arena *arena;
    const il_cel_program *program;
    const il_cel_value *vars;
    partial_answer locals[IL_CEL_LOCALS];
    int64_t steps, visits;
    il_status failed;
} partial_run;

static partial_answer partial_of(partial_run *r, const il_cel_node *n);

/* --- values ------------------------------------------------------ */

static bool partial_is_unknown(const il_cel_value *v) { return v->kind == IL_CEL_ERROR && v->fault == IL_CEL_UNKNOWN; }

/* Is something in it unknown? Too much to look at counts as such. */
static bool partial_hides(const il_cel_value *v, uint32_t *left, unsigned depth) {
    if (*left == 0 || depth == 0) {
        return true;
    }
    (*left)--;
    if (partial_is_unknown(v)) {
        return true;
    }
    if (v->kind == IL_CEL_MAP && v->spare == IL_CEL_OPEN) {
        return true;
    }
    if (v->json || (v->kind != IL_CEL_LIST && v->kind != IL_CEL_MAP && v->kind != IL_CEL_RECORD && v->kind != IL_CEL_OPTIONAL)) {
        return false;
    }
    uint32_t n = v->kind == IL_CEL_OPTIONAL ? v->u.items != NULL ? 1 : 0 : v->n;
    for (uint64_t i = 0; i < (uint64_t)n * (v->kind == IL_CEL_MAP ? 2 : 1); i++) {
        if (partial_hides(&v->u.items[i], left, depth - 1)) {
            return true;
        }
    }
    return false;
}

/* Has it a literal that is short and as good as itself? */
static bool partial_literal(const il_cel_value *v, unsigned depth) {
    switch ((il_cel_kind)v->kind) {
    case IL_CEL_NULL:
    case IL_CEL_BOOL:
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
        return true;
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
        return v->n <= PARTIAL_LITERAL;
    case IL_CEL_LIST:
        if (v->json || depth == 0 || v->n > PARTIAL_LITERAL / 16) {
            return false;
        }
        for (uint32_t i = 0; i < v->n; i++) {
            if (!partial_literal(&v->u.items[i], depth - 1)) {
                return false;
            }
        }
        return true;
    case IL_CEL_ERROR:
    case IL_CEL_MAP:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_TYPE:
    case IL_CEL_OPTIONAL:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_RECORD:
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
        break;
    }
    return false;
}

static il_cel_node *partial_node(partial_run *r, const il_cel_node *like) {
    il_cel_node *n = IL_NEW(r->arena, il_cel_node);
    if (n == NULL) {
        r->failed = il_arena_fail(r->arena, NULL);
        return NULL;
    }
    *n = *like;
    n->next = NULL;
    return n;
}

static il_cel_node *partial_lit(partial_run *r, const il_cel_node *like, const il_cel_value *v) {
    il_cel_node *n = partial_node(r, like);
    if (n != NULL) {
        n->op = IL_CEL_OP_LIT;
        n->kids = NULL;
        n->constant = true;
        n->maybe = n->optional = false;
        n->height = 1;
        n->lit = *v;
        n->name = il_cel_str(*v);
    }
    return n;
}

/* dyn(lit) */
static const il_cel_node *partial_dyn(partial_run *r, const il_cel_node *lit) {
    il_cel_node *n = partial_node(r, lit), *kid = partial_node(r, lit);
    if (n == NULL || kid == NULL) {
        return NULL;
    }
    n->op = IL_CEL_OP_CALL;
    n->constant = n->receiver = false;
    n->builtin = NULL;
    n->function = NULL;
    n->name = IL_STR("dyn");
    n->kids = kid;
    return n;
}

/* A word that a finite domain has not, where one is compared with it, would be refused: it is written so that only the
 * evaluation sees it. `n` itself when it is nothing of the kind. */
static const il_cel_node *partial_word(partial_run *r, const il_cel_node *n, const il_cel_type *other, bool literals) {
    const bool list = (n->op == IL_CEL_OP_LIT && n->lit.kind == IL_CEL_LIST) || n->op == IL_CEL_OP_LIST;
    if (list && r->program->alike && !literals) { /* nor was it a list of literals, of which one alike is enough */
        const il_cel_node *any = partial_dyn(r, n);
        return any != NULL ? any : n;
    }
    other = other != NULL && other->kind == IL_CEL_LIST ? other->element : other;
    if (other == NULL || other->domain == NULL) {
        return n;
    }
    if (n->op == IL_CEL_OP_LIT && n->lit.kind == IL_CEL_STRING) {
        for (size_t i = 0; i < other->ndomain; i++) {
            if (il_str_eq(other->domain[i], il_cel_str(n->lit))) {
                return n;
            }
        }
        const il_cel_node *any = partial_dyn(r, n);
        return any != NULL ? any : n;
    }
    if (list) {
        const il_cel_node *any = partial_dyn(r, n);
        return any != NULL ? any : n;
    }
    return n;
}

/* A call whose answer only an evaluation has: nothing to call, or a context that nobody gives here. */
static bool partial_untold(const il_cel_node *n) {
    return n->op == IL_CEL_OP_CALL && n->function != NULL && (n->function->call == NULL || n->function->per_call);
}

static partial_answer partial_unknown(const il_cel_node *n) { return (partial_answer){.state = PARTIAL_UNKNOWN, .node = n}; }

/* A value, or error, that evaluating `n` gives. */
static partial_answer partial_value(partial_run *r, const il_cel_node *n, il_cel_value v, uint64_t rests) {
    partial_answer a = {.state = PARTIAL_VALUE, .value = v, .node = n, .rests = rests};
    if (partial_is_unknown(&v) || (v.kind == IL_CEL_ERROR && v.fault == IL_CEL_BUDGET)) {
        return partial_unknown(n);
    }
    if (v.kind == IL_CEL_ERROR) {
        a.state = PARTIAL_ERROR;
        a.value = il_cel_of_fault(v.fault == IL_CEL_NO_FAULT ? IL_CEL_UNSET : (il_cel_fault)v.fault);
        return a;
    }
    uint32_t left = PARTIAL_ITEMS;
    a.part = partial_hides(&v, &left, 16);
    if (n->op == IL_CEL_OP_LIT) {
        a.literal = true;
    } else if (!a.part && partial_literal(&v, 2)) {
        const il_cel_node *lit = partial_lit(r, n, &v);
        /* What was anything must not become a type: `1 == 'a'` is refused where `args.x == 'a'` is not. */
        const bool any = n->type == NULL || n->type->kind == IL_CEL_DYN;
        lit = lit != NULL && any && !n->constant ? partial_dyn(r, lit) : lit;
        a.node = lit != NULL ? lit : n;
        a.literal = lit != NULL;
    }
    return a;
}

/* --- one operator ------------------------------------------------ */

/* `n` over these operands, all of them known: by the machine. */
static partial_answer partial_apply(partial_run *r, const il_cel_node *n, const partial_answer *kids, const il_cel_node *residue,
                                    uint64_t rests) {
    il_cel_node *one = partial_node(r, n), **to = one != NULL ? &one->kids : NULL;
    if (one == NULL) {
        return partial_unknown(n);
    }
    one->constant = false;
    one->kids = NULL;
    one->op = one->op == IL_CEL_OP_FIELD ? IL_CEL_OP_SELECT : one->op;
    one->height = 2;
    uint32_t i = 0;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next, i++) {
        il_cel_node *lit = partial_lit(r, k, &kids[i].value);
        if (lit == NULL) {
            return partial_unknown(n);
        }
        lit->maybe = k->maybe;
        *to = lit;
        to = &lit->next;
    }
    il_arena room;
    il_cel_code code;
    il_error ignored = {.code = IL_OK};
    il_cel_value v = il_cel_unknown();
    il_arena_init(&room, r->arena->alloc, r->arena->cap);
    const il_status made = il_cel_make(&room, &room, one, &code, &ignored);
    if (made == IL_OK) {
        il_cel_run run = {.program = r->program, .scratch = r->arena, .steps = r->steps};
        v = il_cel_run_code(&run, &code, NULL);
        r->steps = run.steps;
        if (run.steps < 0) {
            r->steps = 0;
            v = il_cel_unknown();
        }
    } else if (made == IL_E_MEMORY) {
        r->failed = made;
    }
    il_arena_free(&room);
    return partial_value(r, residue, v, rests);
}

/* A copy of `n` over what is left of its operands. */
static const il_cel_node *partial_rebuilt(partial_run *r, const il_cel_node *n, const partial_answer *kids) {
    bool same = true;
    uint32_t i = 0;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next, i++) {
        same = same && kids[i].node == k;
    }
    il_cel_node *copy = same ? NULL : partial_node(r, n), **to = copy != NULL ? &copy->kids : NULL;
    if (copy == NULL) {
        return n;
    }
    copy->kids = NULL;
    copy->constant = false;
    i = 0;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next, i++) {
        il_cel_node *kid = partial_node(r, kids[i].node);
        if (kid == NULL) {
            return n;
        }
        kid->maybe = k->maybe;
        *to = kid;
        to = &kid->next;
    }
    if (copy->op == IL_CEL_OP_FIELD && copy->kids != NULL && copy->kids->op != IL_CEL_OP_VAR) {
        copy->op = IL_CEL_OP_SELECT;
    }
    return copy;
}

static partial_answer *partial_kids(partial_run *r, const il_cel_node *n, uint32_t *count) {
    *count = 0;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        ++*count;
    }
    partial_answer *kids = IL_NEW_ARRAY(r->arena, partial_answer, *count);
    if (kids == NULL) {
        r->failed = il_arena_fail(r->arena, NULL);
        return NULL;
    }
    return kids;
}

/* An operator that passes errors on: an error of an operand is its own, whatever the others are. */
static partial_answer partial_strict(partial_run *r, const il_cel_node *n) {
    uint32_t count, i = 0;
    partial_answer *kids = partial_kids(r, n, &count);
    if (kids == NULL) {
        return partial_unknown(n);
    }
    bool known = true;
    const partial_answer *error = NULL;
    uint64_t rests = 0;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next, i++) {
        kids[i] = partial_of(r, k);
        known = known && kids[i].state != PARTIAL_UNKNOWN && !kids[i].part;
        error = kids[i].state == PARTIAL_ERROR && error == NULL ? &kids[i] : error;
        rests |= kids[i].rests;
    }
    if (r->failed != IL_OK) {
        return partial_unknown(n);
    }
    if ((n->op == IL_CEL_OP_EQ || n->op == IL_CEL_OP_NE || n->op == IL_CEL_OP_IN) && n->kids != NULL) {
        const il_cel_node *a = n->kids, *b = a->next;
        kids[0].node = kids[0].node != a ? partial_word(r, kids[0].node, b->type, false) : a;
        const bool literals = (n->alike & IL_CEL_ALIKE_LITERALS) != 0;
        kids[1].node = kids[1].node != b ? partial_word(r, kids[1].node, a->type, literals) : b;
    }
    const il_cel_node *residue = partial_rebuilt(r, n, kids);
    if (error != NULL) {
        return partial_value(r, residue, error->value, error->rests);
    }
    if (!known) {
        return partial_unknown(residue);
    }
    if (partial_untold(n)) {
        return partial_unknown(residue);
    }
    return partial_apply(r, n, kids, residue, rests);
}

/* --- members ----------------------------------------------------- */

/* of.name, has(of.name): a part of what is not wholly known may be known. */
static partial_answer partial_member(partial_run *r, const il_cel_node *n, const il_cel_node *select) {
    const bool has = n != select;
    const partial_answer of = partial_of(r, select->kids);
    if (r->failed != IL_OK) {
        return partial_unknown(n);
    }
    const il_cel_node *inner = partial_rebuilt(r, select, &of);
    const partial_answer as_kid = {.node = inner};
    const il_cel_node *residue = has ? partial_rebuilt(r, n, &as_kid) : inner;
    if (of.state == PARTIAL_ERROR) {
        return partial_value(r, residue, of.value, of.rests);
    }
    if (of.state == PARTIAL_UNKNOWN || select->optional) {
        return of.state == PARTIAL_VALUE && !of.part && !has ? partial_apply(r, select, &of, residue, of.rests)
                                                             : partial_unknown(residue);
    }
    const il_cel_value *v = &of.value;
    if (v->kind == IL_CEL_RECORD && select->field < v->n) {
        const il_cel_value field = v->u.items[select->field];
        if (has) {
            return partial_is_unknown(&field) ? partial_unknown(residue)
                                              : partial_value(r, residue, il_cel_of_bool(field.kind != IL_CEL_ERROR), of.rests);
        }
        return partial_value(r, residue, field, of.rests);
    }
    if (v->kind == IL_CEL_MAP) {
        il_cel_run run = {.program = r->program, .steps = PARTIAL_STEPS};
        const il_cel_value key = il_cel_of_str(select->name), found = il_cel_map_at(&run, v, &key);
        const bool absent = found.kind == IL_CEL_ERROR && found.fault == IL_CEL_MISSING;
        if (absent && v->spare == IL_CEL_OPEN) {
            return partial_unknown(residue);
        }
        return partial_value(r, residue, has ? il_cel_of_bool(!absent) : found, of.rests);
    }
    if (of.part) {
        return partial_unknown(residue);
    }
    if (has) {
        return v->kind == IL_CEL_OPTIONAL ? partial_unknown(residue)
                                          : partial_value(r, residue, il_cel_of_fault(IL_CEL_NO_OVERLOAD), of.rests);
    }
    return partial_apply(r, select, &of, residue, of.rests);
}

/* --- and, or, if ------------------------------------------------- */

static bool partial_is_bool(const partial_answer *a, bool truth) {
    return a->state == PARTIAL_VALUE && a->value.kind == IL_CEL_BOOL && a->value.u.b == truth;
}

/* Is what the node gives a bool or an error, as far as its operator or declaration says? */
static bool partial_condition(const il_cel_node *n) {
    const il_cel_op op = (il_cel_op)n->op;
    if (op == IL_CEL_OP_LIT) {
        return n->lit.kind == IL_CEL_BOOL;
    }
    if (op == IL_CEL_OP_VAR || op == IL_CEL_OP_FIELD) {
        return n->type != NULL && n->type->kind == IL_CEL_BOOL;
    }
    return il_cel_gives_truth(op);
}

/* What is left of `a && b && …` (`||`): the operands that do not say what lets the others decide. */
static partial_answer partial_chain(partial_run *r, const il_cel_node *n, il_cel_op op, const partial_answer *kids,
                                    uint32_t count) {
    const bool all = op == IL_CEL_OP_AND;
    const partial_answer *error = NULL, *unknown = NULL;
    uint64_t rests = 0;
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        const partial_answer *k = &kids[i];
        if (partial_is_bool(k, !all)) {
            return partial_value(r, n, k->value, k->rests);
        }
        rests |= k->rests;
        left += partial_is_bool(k, all) ? 0 : 1;
        unknown = k->state == PARTIAL_UNKNOWN || k->part ? k : unknown;
        error = k->state != PARTIAL_UNKNOWN && !k->part && !partial_is_bool(k, all) ? k : error;
    }
    if (unknown == NULL) {
        if (error == NULL) {
            return partial_value(r, n, il_cel_of_bool(all), rests);
        }
        const bool value = error->state == PARTIAL_VALUE; /* a value that is no bool */
        partial_answer a = partial_value(r, n, value ? il_cel_of_fault(IL_CEL_NO_OVERLOAD) : error->value, rests);
        a.node = error->node;
        if (value) {
            a.node = n;
        }
        return a;
    }
    const bool alone = left == 1 && partial_condition(unknown->node);
    if (alone) {
        return partial_unknown(unknown->node);
    }
    il_cel_node *copy = partial_node(r, n), **to = copy != NULL ? &copy->kids : NULL;
    if (copy == NULL) {
        return partial_unknown(n);
    }
    copy->op = (uint8_t)op;
    copy->constant = copy->maybe = false;
    copy->kids = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (partial_is_bool(&kids[i], all)) {
            continue;
        }
        il_cel_node *kid = partial_node(r, kids[i].node);
        if (kid == NULL) {
            return partial_unknown(n);
        }
        kid->maybe = false;
        *to = kid;
        to = &kid->next;
    }
    if (left == 1) { /* what is left may be no bool, which must be the error that it was */
        const il_cel_value neutral = il_cel_of_bool(all);
        *to = partial_lit(r, n, &neutral);
    }
    return partial_unknown(copy);
}

static partial_answer partial_logic(partial_run *r, const il_cel_node *n) {
    uint32_t count, i = 0;
    partial_answer *kids = partial_kids(r, n, &count);
    if (kids == NULL) {
        return partial_unknown(n);
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next, i++) {
        kids[i] = partial_of(r, k);
    }
    return r->failed != IL_OK ? partial_unknown(n) : partial_chain(r, n, (il_cel_op)n->op, kids, count);
}

static partial_answer partial_cond(partial_run *r, const il_cel_node *n) {
    partial_answer kids[3] = {partial_of(r, n->kids), {0}, {0}};
    const bool yes = partial_is_bool(&kids[0], true), no = partial_is_bool(&kids[0], false);
    if (yes || no) {
        partial_answer arm = partial_of(r, yes ? n->kids->next : n->kids->next->next);
        arm.rests |= kids[0].rests;
        return arm;
    }
    if (kids[0].state == PARTIAL_ERROR) {
        return partial_value(r, n, kids[0].value, kids[0].rests);
    }
    if (kids[0].state == PARTIAL_VALUE && !kids[0].part) {
        return partial_value(r, n, il_cel_of_fault(IL_CEL_NO_OVERLOAD), kids[0].rests);
    }
    const il_cel_node *arm = n->kids->next;
    for (unsigned i = 1; i < 3; i++, arm = arm->next) {
        kids[i] = partial_of(r, arm);
        if (kids[i].node != arm && kids[i].literal && kids[i].value.kind == IL_CEL_STRING && kids[i].node->op == IL_CEL_OP_LIT) {
            const il_cel_node *any = partial_dyn(r, kids[i].node); /* two words that stand there are a finite domain */
            kids[i].node = any != NULL ? any : kids[i].node;
        }
    }
    return partial_unknown(r->failed != IL_OK ? n : partial_rebuilt(r, n, kids));
}

/* --- macros ------------------------------------------------------ */

static void partial_forget_local(partial_run *r, uint32_t slot) {
    if (slot < IL_CEL_LOCALS) {
        r->locals[slot] = partial_unknown(NULL);
    }
}

/* Is the macro variable of this slot still in it? (Further in, slots are higher.) */
static bool partial_names(partial_run *r, const il_cel_node *n, uint32_t slot) {
    if (r->visits-- <= 0 || (n->op == IL_CEL_OP_LOCAL && n->slot == slot)) {
        return true;
    }
    for (const il_cel_node *k = n->op == IL_CEL_OP_LIT ? NULL : n->kids; k != NULL; k = k->next) {
        if (partial_names(r, k, slot)) {
            return true;
        }
    }
    return false;
}

/* Writes the macro out over the items of a known list, when each item has a literal or is not in what is left. */
static bool partial_unroll(partial_run *r, const il_cel_node *n, const partial_answer *range, partial_answer *out) {
    const il_cel_value list = range->value;
    if ((n->op != IL_CEL_OP_EXISTS && n->op != IL_CEL_OP_ALL) || range->state != PARTIAL_VALUE || list.kind != IL_CEL_LIST ||
        list.n > PARTIAL_UNROLL || n->slot2 != IL_CEL_NO_SLOT || n->slot >= IL_CEL_LOCALS) {
        return false;
    }
    const bool all = n->op == IL_CEL_OP_ALL;
    il_cel_node *stand_in = partial_node(r, n); /* stands for the variable: has its type */
    partial_answer *kids = IL_NEW_ARRAY(r->arena, partial_answer, list.n);
    if (stand_in == NULL) {
        return false;
    }
    stand_in->type = n->kids->type != NULL && n->kids->type->kind == IL_CEL_LIST ? n->kids->type->element : NULL;
    if (kids == NULL) {
        r->failed = il_arena_fail(r->arena, NULL);
        return false;
    }
    il_cel_walk walk = il_cel_walk_of(&list);
    il_cel_value item;
    uint32_t count = 0;
    bool whole = true, enough = false;
    while (!enough && il_cel_walk_item(&walk, &item) && r->failed == IL_OK) {
        r->locals[n->slot] = partial_value(r, stand_in, item, range->rests);
        partial_answer *kid = &kids[count++];
        *kid = partial_of(r, n->kids->next);
        kid->rests |= range->rests;
        enough = partial_is_bool(kid, !all);
        whole = whole && (partial_is_bool(kid, all) || !partial_names(r, kid->node, n->slot));
    }
    partial_forget_local(r, n->slot);
    if (r->failed != IL_OK || (!whole && !enough)) {
        return false;
    }
    *out = partial_chain(r, n, all ? IL_CEL_OP_AND : IL_CEL_OP_OR, kids, count);
    if (count == 0) {
        out->rests = range->rests;
    }
    return true;
}

static partial_answer partial_macro(partial_run *r, const il_cel_node *n) {
    uint32_t count, i = 1;
    partial_answer *kids = partial_kids(r, n, &count), done;
    if (kids == NULL) {
        return partial_unknown(n);
    }
    kids[0] = partial_of(r, n->kids);
    if (r->failed != IL_OK) {
        return partial_unknown(n);
    }
    if (kids[0].state == PARTIAL_ERROR && n->op != IL_CEL_OP_BIND) {
        return partial_value(r, partial_rebuilt(r, n, kids), kids[0].value, kids[0].rests);
    }
    if (partial_unroll(r, n, &kids[0], &done)) {
        return done;
    }
    partial_forget_local(r, n->slot);
    partial_forget_local(r, n->slot2);
    if (n->op == IL_CEL_OP_BIND && n->slot < IL_CEL_LOCALS) {
        r->locals[n->slot] = kids[0];
        const partial_answer body = partial_of(r, n->kids->next);
        partial_forget_local(r, n->slot);
        if (body.state != PARTIAL_UNKNOWN) {
            partial_answer a = body;
            a.node = body.literal ? body.node : n;
            return a;
        }
        if (!partial_names(r, body.node, n->slot)) {
            return partial_unknown(body.node);
        }
        kids[1] = body; /* where the variable had a literal that is in its place; elsewhere it stands */
        return partial_unknown(partial_rebuilt(r, n, kids));
    }
    for (const il_cel_node *k = n->kids->next; k != NULL; k = k->next, i++) {
        kids[i] = partial_of(r, k);
        if (kids[i].state == PARTIAL_ERROR) {
            kids[i].node = k;
        }
    }
    return partial_unknown(r->failed != IL_OK ? n : partial_rebuilt(r, n, kids));
}

/* Everything that the subtree reads is known: the machine can run all of it. */
static bool partial_all_known(const partial_run *r, const il_cel_node *n, uint64_t *rests, uint64_t bound) {
    if (n->constant) {
        return true;
    }
    if (n->op == IL_CEL_OP_LOCAL) {
        return n->slot < IL_CEL_LOCALS && (bound >> n->slot & 1) != 0;
    }
    if (n->op == IL_CEL_OP_VAR) {
        uint32_t left = PARTIAL_ITEMS;
        *rests |= UINT64_C(1) << (n->slot < 63 ? n->slot : 63);
        return !partial_hides(&r->vars[n->slot], &left, 16);
    }
    if (n->op == IL_CEL_OP_NAME || partial_untold(n)) {
        return false;
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        uint64_t inside = bound;
        if (n->op >= IL_CEL_OP_EXISTS && k != n->kids) {
            inside |= n->slot < IL_CEL_LOCALS ? UINT64_C(1) << n->slot : 0;
            inside |= n->slot2 < IL_CEL_LOCALS ? UINT64_C(1) << n->slot2 : 0;
        }
        if (!partial_all_known(r, k, rests, inside)) {
            return false;
        }
    }
    return true;
}

static bool partial_whole(partial_run *r, const il_cel_node *n, partial_answer *out) {
    uint64_t rests = 0;
    if (!partial_all_known(r, n, &rests, 0)) {
        return false;
    }
    il_arena room;
    il_cel_code code;
    il_error ignored = {.code = IL_OK};
    il_arena_init(&room, r->arena->alloc, r->arena->cap);
    const il_status made = il_cel_make(&room, &room, n, &code, &ignored);
    bool ran = false;
    if (made == IL_OK) {
        il_cel_run run = {.program = r->program, .scratch = r->arena, .steps = r->steps};
        const il_cel_value v = il_cel_run_code(&run, &code, r->vars);
        r->steps = run.steps > 0 ? run.steps : 0;
        ran = run.steps >= 0 && !(v.kind == IL_CEL_ERROR && v.fault == IL_CEL_BUDGET);
        if (ran) {
            /* This error can be nothing that is unknown. */
            const bool name = v.kind == IL_CEL_ERROR && v.fault == IL_CEL_UNKNOWN;
            *out = partial_value(r, n, name ? il_cel_of_fault(IL_CEL_NO_OVERLOAD) : v, rests);
        }
    } else if (made == IL_E_MEMORY) {
        r->failed = made;
    }
    il_arena_free(&room);
    return ran;
}

/* --- all --------------------------------------------------------- */

static partial_answer partial_of(partial_run *r, const il_cel_node *n) {
    if (r->failed != IL_OK || r->visits-- <= 0) {
        return partial_unknown(n);
    }
    if (n->constant) {
        return partial_value(r, n, n->lit, 0);
    }
    switch ((il_cel_op)n->op) {
    case IL_CEL_OP_LIT:
    case IL_CEL_OP_TYPE:
        return partial_value(r, n, n->lit, 0);
    case IL_CEL_OP_VAR:
        return partial_value(r, n, r->vars[n->slot], UINT64_C(1) << (n->slot < 63 ? n->slot : 63));
    case IL_CEL_OP_LOCAL: {
        if (n->slot >= IL_CEL_LOCALS) {
            return partial_unknown(n);
        }
        partial_answer a = r->locals[n->slot];
        a.node = a.literal ? a.node : n;
        return a;
    }
    case IL_CEL_OP_NAME:
        return partial_unknown(n);
    case IL_CEL_OP_LET:
        return partial_of(r, n->kids);
    case IL_CEL_OP_SELECT:
    case IL_CEL_OP_FIELD:
        return partial_member(r, n, n);
    case IL_CEL_OP_HAS:
        return partial_member(r, n, n->kids);
    case IL_CEL_OP_AND:
    case IL_CEL_OP_OR:
        return partial_logic(r, n);
    case IL_CEL_OP_COND:
        return partial_cond(r, n);
    case IL_CEL_OP_EXISTS:
    case IL_CEL_OP_ALL:
    case IL_CEL_OP_EXISTS_ONE:
    case IL_CEL_OP_FILTER:
    case IL_CEL_OP_TRANSFORM:
    case IL_CEL_OP_TRANSFORM_MAP:
    case IL_CEL_OP_TRANSFORM_ENTRY:
    case IL_CEL_OP_BIND:
    case IL_CEL_OP_OPT_MAP:
    case IL_CEL_OP_OPT_FLAT_MAP: {
        partial_answer whole;
        return partial_whole(r, n, &whole) ? whole : partial_macro(r, n);
    }
    case IL_CEL_OP_LIST:
    case IL_CEL_OP_MAP:
    case IL_CEL_OP_INDEX:
    case IL_CEL_OP_CALL:
    case IL_CEL_OP_NOT:
    case IL_CEL_OP_NEG:
    case IL_CEL_OP_MUL:
    case IL_CEL_OP_DIV:
    case IL_CEL_OP_MOD:
    case IL_CEL_OP_ADD:
    case IL_CEL_OP_SUB:
    case IL_CEL_OP_LT:
    case IL_CEL_OP_LE:
    case IL_CEL_OP_GT:
    case IL_CEL_OP_GE:
    case IL_CEL_OP_EQ:
    case IL_CEL_OP_NE:
    case IL_CEL_OP_IN:
        return partial_strict(r, n);
    }
    return partial_unknown(n);
}

il_status il_cel_partial(il_arena *arena, const il_cel_program *program, const il_cel_value *vars, il_cel_residue *out,
                         il_error *err) {
    *out = (il_cel_residue){.decided = false};
    partial_run *r = IL_NEW(arena, partial_run);
    if (r == NULL) {
        return il_arena_fail(arena, err);
    }
    r->arena = arena;
    r->program = program;
    r->vars = vars;
    r->steps = program->steps < PARTIAL_STEPS ? (int64_t)program->steps : PARTIAL_STEPS;
    r->visits = PARTIAL_VISITS;
    const partial_answer a = partial_of(r, program->root);
    if (r->failed != IL_OK) {
        return il_error_set(err, r->failed, "no memory for what is left of a condition");
    }
    out->decided = a.state == PARTIAL_ERROR || (a.state == PARTIAL_VALUE && !a.part);
    out->value = a.value;
    out->rests = a.rests;
    if (out->decided) {
        return IL_OK;
    }
    il_buf b;
    il_buf_init(&b, arena, PARTIAL_TEXT);
    il_cel_print_node(a.node, &b);
    out->node = a.node;
    return il_buf_done(&b, &out->text, err);
}
