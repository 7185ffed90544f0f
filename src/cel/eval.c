/* SPDX-License-Identifier: Apache-2.0 */
/* The evaluator: a walk over the checked tree. Errors are values. `&&` and `||` look at all their operands before they give one back, so
 * their answer does not depend on the order (a false anywhere is false); an exhausted budget is the one error that nothing absorbs.
 * Kinds are tested although the checker knows them: the caller's values may not be what it declared. */
#include "cel/ast.h"

typedef struct eval_run {
    const il_cel_value *vars;
    il_arena *scratch;
    int64_t steps; /* left */
    il_cel_value locals[IL_CEL_LOCALS];
} eval_run;

static il_cel_value eval_node(eval_run *r, const il_cel_node *n);

static il_cel_value eval_fault(il_cel_fault fault) {
    il_cel_value v = {0};
    v.fault = (uint8_t)fault;
    return v;
}

static bool eval_failed(il_cel_value v) { return v.kind == IL_CEL_ERROR; }
static bool eval_is_bool(il_cel_value v) { return v.kind == IL_CEL_BOOL; }
static bool eval_exhausted(il_cel_value v) { return eval_failed(v) && v.fault == IL_CEL_BUDGET; }

/* A variable or field without a value is an error of its own. */
static il_cel_value eval_read(il_cel_value v) {
    if (v.kind == IL_CEL_ERROR && v.fault == IL_CEL_NO_FAULT) {
        v.fault = IL_CEL_UNSET;
    }
    return v;
}

static bool eval_same_text(il_str a, il_str b) { return a.n == b.n && (a.p == b.p || a.n == 0 || memcmp(a.p, b.p, a.n) == 0); }

/* Of two values that are no errors. *steps pays for items and long texts; below zero the answer is void. */
static bool eval_equal(const il_cel_value *a, const il_cel_value *b, unsigned depth, int64_t *steps) {
    if (a->kind != b->kind) {
        return false; /* bool, int and string never equal each other */
    }
    switch ((il_cel_kind)a->kind) {
    case IL_CEL_ERROR:
        return a->fault == b->fault; /* two unset fields of records */
    case IL_CEL_NULL:
        return true;
    case IL_CEL_BOOL:
        return a->u.b == b->u.b;
    case IL_CEL_INT:
        return a->u.i == b->u.i;
    case IL_CEL_STRING:
        *steps -= (int64_t)(a->u.s.n / 64);
        return eval_same_text(a->u.s, b->u.s);
    case IL_CEL_LIST:
    case IL_CEL_RECORD:
        if (depth == 0) {
            *steps = -1; /* deeper than any value that we build: the caller's tree has no end */
            return false;
        }
        if (a->n != b->n) {
            return false;
        }
        for (uint32_t i = 0; i < a->n && *steps >= 0; i++) {
            (*steps)--;
            if (!eval_equal(&a->u.items[i], &b->u.items[i], depth - 1, steps)) {
                return false;
            }
        }
        return *steps >= 0;
    }
    return false;
}

bool il_cel_equal(il_cel_value a, il_cel_value b) {
    int64_t steps = IL_CEL_COST;
    return eval_equal(&a, &b, IL_CEL_DEPTH_MAX, &steps) && steps >= 0;
}

static il_cel_value eval_equality(eval_run *r, const il_cel_node *n) {
    il_cel_value a = eval_node(r, n->kids);
    if (eval_failed(a)) {
        return a;
    }
    il_cel_value b = eval_node(r, n->kids->next);
    if (eval_failed(b)) {
        return b;
    }
    bool equal = eval_equal(&a, &b, IL_CEL_DEPTH_MAX, &r->steps);
    if (r->steps < 0) {
        return eval_fault(IL_CEL_BUDGET);
    }
    return il_cel_of_bool(equal == (n->op == IL_CEL_OP_EQ));
}

static il_cel_value eval_order(eval_run *r, const il_cel_node *n) {
    il_cel_value a = eval_node(r, n->kids);
    if (eval_failed(a)) {
        return a;
    }
    il_cel_value b = eval_node(r, n->kids->next);
    if (eval_failed(b)) {
        return b;
    }
    int order = 0;
    if (a.kind == IL_CEL_INT && b.kind == IL_CEL_INT) {
        order = (a.u.i > b.u.i) - (a.u.i < b.u.i);
    } else if (a.kind == IL_CEL_STRING && b.kind == IL_CEL_STRING) {
        order = il_str_cmp(a.u.s, b.u.s);
    } else if (a.kind == IL_CEL_BOOL && b.kind == IL_CEL_BOOL) {
        order = (int)a.u.b - (int)b.u.b;
    } else {
        return eval_fault(IL_CEL_TYPE);
    }
    bool yes = n->op == IL_CEL_OP_LT   ? order < 0
               : n->op == IL_CEL_OP_LE ? order <= 0
               : n->op == IL_CEL_OP_GT ? order > 0
                                       : order >= 0;
    return il_cel_of_bool(yes);
}

/* Without __builtin_mul_overflow, which on wasm32 calls a 128-bit helper that we would have to import. */
static bool eval_mul(int64_t a, int64_t b, int64_t *out) {
    uint64_t ua = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, ub = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    bool negative = (a < 0) != (b < 0);
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    if (ua != 0 && ub > limit / ua) {
        return false;
    }
    uint64_t product = ua * ub;
    *out = !negative ? (int64_t)product : product == (uint64_t)INT64_MAX + 1 ? INT64_MIN : -(int64_t)product;
    return true;
}

static il_cel_value eval_int(il_cel_op op, int64_t a, int64_t b) {
    int64_t v = 0;
    bool fits = true;
    if (op == IL_CEL_OP_ADD) {
        fits = !__builtin_add_overflow(a, b, &v);
    } else if (op == IL_CEL_OP_SUB) {
        fits = !__builtin_sub_overflow(a, b, &v);
    } else if (op == IL_CEL_OP_MUL) {
        fits = eval_mul(a, b, &v);
    } else if (b == 0) {
        return eval_fault(IL_CEL_DIVIDE);
    } else if (a == INT64_MIN && b == -1) {
        fits = false; /* for `%` as well, as cel-go has it; and the processor must not see it */
    } else {
        v = op == IL_CEL_OP_DIV ? a / b : a % b;
    }
    return fits ? il_cel_of_int(v) : eval_fault(IL_CEL_OVERFLOW);
}

static il_cel_value eval_join_text(eval_run *r, il_str a, il_str b) {
    if (b.n == 0 || a.n == 0) {
        return il_cel_of_str(b.n == 0 ? a : b);
    }
    char *p = r->scratch == NULL || a.n > SIZE_MAX - b.n ? NULL : il_arena_get(r->scratch, a.n + b.n);
    if (p == NULL) {
        return eval_fault(IL_CEL_BUDGET);
    }
    memcpy(p, a.p, a.n);
    memcpy(p + a.n, b.p, b.n);
    return il_cel_of_str((il_str){p, a.n + b.n});
}

static il_cel_value eval_items(eval_run *r, uint32_t n, il_cel_value **items) {
    il_cel_value v = {0};
    *items = r->scratch == NULL ? NULL : IL_NEW_ARRAY(r->scratch, il_cel_value, n);
    r->steps -= n;
    if (*items == NULL || r->steps < 0) {
        return eval_fault(IL_CEL_BUDGET);
    }
    v.kind = IL_CEL_LIST;
    v.n = n;
    v.u.items = *items;
    return v;
}

static il_cel_value eval_join_lists(eval_run *r, il_cel_value a, il_cel_value b) {
    if (b.n == 0 || a.n == 0) {
        return b.n == 0 ? a : b;
    }
    if (a.n > UINT32_MAX - b.n) {
        return eval_fault(IL_CEL_BUDGET);
    }
    il_cel_value *items = NULL;
    il_cel_value v = eval_items(r, a.n + b.n, &items);
    if (!eval_failed(v)) {
        memcpy(items, a.u.items, a.n * sizeof *items);
        memcpy(items + a.n, b.u.items, b.n * sizeof *items);
    }
    return v;
}

static il_cel_value eval_arithmetic(eval_run *r, const il_cel_node *n) {
    il_cel_value a = eval_node(r, n->kids);
    if (eval_failed(a)) {
        return a;
    }
    il_cel_value b = eval_node(r, n->kids->next);
    if (eval_failed(b)) {
        return b;
    }
    if (a.kind == IL_CEL_INT && b.kind == IL_CEL_INT) {
        return eval_int((il_cel_op)n->op, a.u.i, b.u.i);
    }
    if (n->op == IL_CEL_OP_ADD && a.kind == IL_CEL_STRING && b.kind == IL_CEL_STRING) {
        return eval_join_text(r, a.u.s, b.u.s);
    }
    if (n->op == IL_CEL_OP_ADD && a.kind == IL_CEL_LIST && b.kind == IL_CEL_LIST) {
        return eval_join_lists(r, a, b);
    }
    return eval_fault(IL_CEL_TYPE);
}

/* `decides`: the bool that settles it (true for `||`), whatever the others are. */
static il_cel_value eval_logic(eval_run *r, const il_cel_node *n, bool decides) {
    il_cel_value answer = il_cel_of_bool(!decides);
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        il_cel_value v = eval_node(r, k);
        if (eval_is_bool(v)) {
            if (v.u.b == decides) {
                return v;
            }
        } else if (eval_exhausted(v)) {
            return v;
        } else if (!eval_failed(answer)) {
            answer = eval_failed(v) ? v : eval_fault(IL_CEL_TYPE);
        }
    }
    return answer;
}

static il_cel_value eval_in(eval_run *r, const il_cel_node *n) {
    const il_cel_node *right = n->kids->next;
    il_cel_value a = eval_node(r, n->kids);
    if (eval_failed(a)) {
        return a;
    }
    bool found = false;
    if (right->op == IL_CEL_OP_LIST) { /* needs no list: but every item is evaluated, as an error in one is the list's */
        for (const il_cel_node *k = right->kids; k != NULL; k = k->next) {
            il_cel_value item = eval_node(r, k);
            if (eval_failed(item)) {
                return item;
            }
            found = found || eval_equal(&a, &item, IL_CEL_DEPTH_MAX, &r->steps);
        }
    } else {
        il_cel_value b = eval_node(r, right);
        if (eval_failed(b)) {
            return b;
        }
        if (b.kind != IL_CEL_LIST) {
            return eval_fault(IL_CEL_TYPE);
        }
        for (uint32_t i = 0; i < b.n && !found && r->steps >= 0; i++) {
            r->steps--;
            found = eval_equal(&a, &b.u.items[i], IL_CEL_DEPTH_MAX, &r->steps);
        }
    }
    return r->steps < 0 ? eval_fault(IL_CEL_BUDGET) : il_cel_of_bool(found);
}

/* exists: folds with `||`; all: with `&&`. */
static il_cel_value eval_macro(eval_run *r, const il_cel_node *n, bool decides) {
    const il_cel_node *body = n->kids->next;
    il_cel_value range = eval_node(r, n->kids);
    if (eval_failed(range)) {
        return range;
    }
    if (range.kind != IL_CEL_LIST || n->slot >= IL_CEL_LOCALS) {
        return eval_fault(IL_CEL_TYPE);
    }
    il_cel_value answer = il_cel_of_bool(!decides);
    for (uint32_t i = 0; i < range.n; i++) {
        r->steps -= body->weight;
        if (r->steps < 0) {
            return eval_fault(IL_CEL_BUDGET);
        }
        il_cel_value item = range.u.items[i];
        r->locals[n->slot] = eval_read(item);
        il_cel_value v = eval_node(r, body);
        if (eval_is_bool(v)) {
            if (v.u.b == decides) {
                return v;
            }
        } else if (eval_exhausted(v)) {
            return v;
        } else if (!eval_failed(answer)) {
            answer = eval_failed(v) ? v : eval_fault(IL_CEL_TYPE);
        }
    }
    return answer;
}

static il_cel_value eval_field(il_cel_value record, uint32_t field) {
    if (eval_failed(record)) {
        return eval_read(record);
    }
    if (record.kind != IL_CEL_RECORD) {
        return eval_fault(IL_CEL_TYPE);
    }
    return field < record.n ? eval_read(record.u.items[field]) : eval_fault(IL_CEL_UNSET);
}

static il_cel_value eval_index(eval_run *r, const il_cel_node *n) {
    il_cel_value list = eval_node(r, n->kids);
    if (eval_failed(list)) {
        return list;
    }
    il_cel_value index = eval_node(r, n->kids->next);
    if (eval_failed(index)) {
        return index;
    }
    if (list.kind != IL_CEL_LIST || index.kind != IL_CEL_INT) {
        return eval_fault(IL_CEL_TYPE);
    }
    if (index.u.i < 0 || index.u.i >= (int64_t)list.n) {
        return eval_fault(IL_CEL_MISSING);
    }
    return eval_read(list.u.items[index.u.i]);
}

static il_cel_value eval_list(eval_run *r, const il_cel_node *n) {
    il_cel_value *items = NULL;
    il_cel_value list = eval_items(r, n->items, &items);
    if (eval_failed(list)) {
        return list;
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        il_cel_value item = eval_node(r, k);
        if (eval_failed(item)) {
            return item;
        }
        *items++ = item;
    }
    return list;
}

static il_cel_value eval_cond(eval_run *r, const il_cel_node *n) {
    il_cel_value c = eval_node(r, n->kids);
    if (!eval_is_bool(c)) {
        return eval_failed(c) ? c : eval_fault(IL_CEL_TYPE);
    }
    const il_cel_node *yes = n->kids->next;
    return eval_node(r, c.u.b ? yes : yes->next);
}

static il_cel_value eval_node(eval_run *r, const il_cel_node *n) {
    switch ((il_cel_op)n->op) {
    case IL_CEL_OP_LIT:
        return n->lit;
    case IL_CEL_OP_LIST:
        return eval_list(r, n);
    case IL_CEL_OP_LOCAL:
        return r->locals[n->slot];
    case IL_CEL_OP_VAR:
        return eval_read(r->vars[n->slot]);
    case IL_CEL_OP_SELECT:
        return eval_field(eval_node(r, n->kids), n->field);
    case IL_CEL_OP_FIELD:
        return eval_field(r->vars[n->slot], n->field);
    case IL_CEL_OP_INDEX:
        return eval_index(r, n);
    case IL_CEL_OP_NOT: {
        il_cel_value v = eval_node(r, n->kids);
        if (eval_is_bool(v)) {
            v.u.b = !v.u.b;
            return v;
        }
        return eval_failed(v) ? v : eval_fault(IL_CEL_TYPE);
    }
    case IL_CEL_OP_NEG: {
        il_cel_value v = eval_node(r, n->kids);
        if (v.kind == IL_CEL_INT) {
            return eval_int(IL_CEL_OP_SUB, 0, v.u.i);
        }
        return eval_failed(v) ? v : eval_fault(IL_CEL_TYPE);
    }
    case IL_CEL_OP_MUL:
    case IL_CEL_OP_DIV:
    case IL_CEL_OP_MOD:
    case IL_CEL_OP_ADD:
    case IL_CEL_OP_SUB:
        return eval_arithmetic(r, n);
    case IL_CEL_OP_LT:
    case IL_CEL_OP_LE:
    case IL_CEL_OP_GT:
    case IL_CEL_OP_GE:
        return eval_order(r, n);
    case IL_CEL_OP_EQ:
    case IL_CEL_OP_NE:
        if (n->fast) { /* `var.field == 'word'`, most of what guards say */
            il_cel_value v = eval_field(r->vars[n->kids->slot], n->kids->field);
            if (v.kind == IL_CEL_STRING) {
                return il_cel_of_bool(eval_same_text(v.u.s, n->kids->next->lit.u.s) == (n->op == IL_CEL_OP_EQ));
            }
        }
        return eval_equality(r, n);
    case IL_CEL_OP_IN:
        return eval_in(r, n);
    case IL_CEL_OP_AND:
        return eval_logic(r, n, false);
    case IL_CEL_OP_OR:
        return eval_logic(r, n, true);
    case IL_CEL_OP_COND:
        return eval_cond(r, n);
    case IL_CEL_OP_EXISTS:
        return eval_macro(r, n, true);
    case IL_CEL_OP_ALL:
        return eval_macro(r, n, false);
    case IL_CEL_OP_UNSUPPORTED:
    case IL_CEL_OP_MAP:
    case IL_CEL_OP_NAME:
    case IL_CEL_OP_LET:
    case IL_CEL_OP_CALL:
        break; /* the checker leaves none of them */
    }
    return eval_fault(IL_CEL_TYPE);
}

il_cel_value il_cel_eval(const il_cel_program *program, const il_cel_value *vars, il_arena *scratch) {
    eval_run r;
    r.vars = vars;
    r.scratch = scratch;
    r.steps = IL_CEL_COST;
    return eval_node(&r, program->root);
}
