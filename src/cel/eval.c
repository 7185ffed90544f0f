/* SPDX-License-Identifier: Apache-2.0 */
/* The evaluator: a walk over the checked tree, in two functions that call each other: eval_node for any value, and eval_truth for
 * the boolean spine of a condition, whose answers fit a register.
 *
 * Errors are values. `&&` and `||` look at all their operands before they give one back, so their answer does not depend on the
 * order (a false anywhere is false); an exhausted budget is the one error that nothing absorbs. Kinds are tested although the
 * checker knows them: the caller's values may not be what it declared. */
#include "cel/ast.h"

typedef struct eval_run {
    const il_cel_value *vars;
    il_arena *scratch;
    int64_t steps; /* left */
    il_cel_value locals[IL_CEL_LOCALS];
} eval_run;

static il_cel_value eval_node(eval_run *r, const il_cel_node *n);

/* A condition's answer: 1, 0, or an error as the negative of its fault. */
static int eval_truth(eval_run *r, const il_cel_node *n);

static il_cel_value eval_fault(il_cel_fault fault) {
    il_cel_value v = {0};
    v.fault = (uint8_t)fault;
    return v;
}

/* A variable, field or item without a value is an error of its own. */
static il_cel_value eval_read(il_cel_value v) {
    if (v.kind == IL_CEL_ERROR && v.fault == IL_CEL_NO_FAULT) {
        v.fault = IL_CEL_UNSET;
    }
    return v;
}

/* 0 for a value, else the negative of its fault. */
static int eval_failure(const il_cel_value *v) {
    if (v->kind != IL_CEL_ERROR) {
        return 0;
    }
    return v->fault == IL_CEL_NO_FAULT ? -(int)IL_CEL_UNSET : -(int)v->fault;
}

static int eval_truth_of(const il_cel_value *v) {
    if (v->kind == IL_CEL_BOOL) {
        return v->u.b ? 1 : 0;
    }
    int failure = eval_failure(v);
    return failure != 0 ? failure : -(int)IL_CEL_NO_OVERLOAD;
}

static il_cel_value eval_of_truth(int truth) { return truth < 0 ? eval_fault((il_cel_fault)-truth) : il_cel_of_bool(truth == 1); }

/* Where the value of `n` lies: in place for literals, variables and fields, else computed into *room. */
static const il_cel_value *eval_ref(eval_run *r, const il_cel_node *n, il_cel_value *room) {
    if (n->constant) {
        return &n->lit;
    }
    if (n->op == IL_CEL_OP_LOCAL) {
        return &r->locals[n->slot];
    }
    if (n->op == IL_CEL_OP_VAR) {
        return &r->vars[n->slot];
    }
    if (n->op == IL_CEL_OP_FIELD) {
        const il_cel_value *record = &r->vars[n->slot];
        if (record->kind == IL_CEL_RECORD && n->field < record->n) {
            return &record->u.items[n->field];
        }
    }
    *room = eval_node(r, n);
    return room;
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
        *steps -= (int64_t)(a->n / 64);
        return eval_same_text(il_cel_str(*a), il_cel_str(*b));
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_BYTES:
    case IL_CEL_MAP:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_TYPE:
    case IL_CEL_OPTIONAL:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
        return false;
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

static int eval_equality(eval_run *r, const il_cel_node *n) {
    il_cel_value ra, rb;
    const il_cel_value *a = eval_ref(r, n->kids, &ra);
    int failure = eval_failure(a);
    if (failure != 0) {
        return failure;
    }
    const il_cel_value *b = eval_ref(r, n->kids->next, &rb);
    failure = eval_failure(b);
    if (failure != 0) {
        return failure;
    }
    bool equal = eval_equal(a, b, IL_CEL_DEPTH_MAX, &r->steps);
    if (r->steps < 0) {
        return -(int)IL_CEL_BUDGET;
    }
    return equal == (n->op == IL_CEL_OP_EQ) ? 1 : 0;
}

/* `var.field == 'word'` and `!=`: most of what guards say. */
static int eval_field_is(eval_run *r, const il_cel_node *n) {
    const il_cel_node *left = n->kids;
    const il_cel_value *record = &r->vars[left->slot];
    if (record->kind == IL_CEL_RECORD && left->field < record->n) {
        const il_cel_value *v = &record->u.items[left->field];
        if (v->kind == IL_CEL_STRING) {
            return eval_same_text(il_cel_str(*v), il_cel_str(left->next->lit)) == (n->op == IL_CEL_OP_EQ) ? 1 : 0;
        }
    }
    return eval_equality(r, n);
}

static int eval_order(eval_run *r, const il_cel_node *n) {
    il_cel_value ra, rb;
    const il_cel_value *a = eval_ref(r, n->kids, &ra);
    int failure = eval_failure(a);
    if (failure != 0) {
        return failure;
    }
    const il_cel_value *b = eval_ref(r, n->kids->next, &rb);
    failure = eval_failure(b);
    if (failure != 0) {
        return failure;
    }
    int order = 0;
    if (a->kind == IL_CEL_INT && b->kind == IL_CEL_INT) {
        order = (a->u.i > b->u.i) - (a->u.i < b->u.i);
    } else if (a->kind == IL_CEL_STRING && b->kind == IL_CEL_STRING) {
        order = il_str_cmp(il_cel_str(*a), il_cel_str(*b));
    } else if (a->kind == IL_CEL_BOOL && b->kind == IL_CEL_BOOL) {
        order = (int)a->u.b - (int)b->u.b;
    } else {
        return -(int)IL_CEL_NO_OVERLOAD;
    }
    bool yes = n->op == IL_CEL_OP_LT   ? order < 0
               : n->op == IL_CEL_OP_LE ? order <= 0
               : n->op == IL_CEL_OP_GT ? order > 0
                                       : order >= 0;
    return yes ? 1 : 0;
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
    if (v.kind != IL_CEL_ERROR) {
        memcpy(items, a.u.items, a.n * sizeof *items);
        memcpy(items + a.n, b.u.items, b.n * sizeof *items);
    }
    return v;
}

static il_cel_value eval_arithmetic(eval_run *r, const il_cel_node *n) {
    il_cel_value ra, rb;
    const il_cel_value *a = eval_ref(r, n->kids, &ra);
    if (eval_failure(a) != 0) {
        return eval_read(*a);
    }
    const il_cel_value *b = eval_ref(r, n->kids->next, &rb);
    if (eval_failure(b) != 0) {
        return eval_read(*b);
    }
    if (a->kind == IL_CEL_INT && b->kind == IL_CEL_INT) {
        return eval_int((il_cel_op)n->op, a->u.i, b->u.i);
    }
    if (n->op == IL_CEL_OP_ADD && a->kind == IL_CEL_STRING && b->kind == IL_CEL_STRING) {
        return eval_join_text(r, il_cel_str(*a), il_cel_str(*b));
    }
    if (n->op == IL_CEL_OP_ADD && a->kind == IL_CEL_LIST && b->kind == IL_CEL_LIST) {
        return eval_join_lists(r, *a, *b);
    }
    return eval_fault(IL_CEL_NO_OVERLOAD);
}

/* Takes the next operand of a chain into its answer so far; true when that settles it. `decides`: the truth that does, whatever the
 * others are (1 for `||`). Of several errors the first stays. */
static bool eval_settles(int truth, int decides, int *answer) {
    if (truth == decides || truth == -(int)IL_CEL_BUDGET) {
        *answer = truth;
        return true;
    }
    if (truth < 0 && *answer >= 0) {
        *answer = truth;
    }
    return false;
}

static int eval_logic(eval_run *r, const il_cel_node *n, int decides) {
    int answer = 1 - decides;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        if (eval_settles(eval_truth(r, k), decides, &answer)) {
            return answer;
        }
    }
    return answer;
}

static int eval_in(eval_run *r, const il_cel_node *n) {
    const il_cel_node *right = n->kids->next;
    il_cel_value ra, rb;
    const il_cel_value *a = eval_ref(r, n->kids, &ra);
    int failure = eval_failure(a);
    if (failure != 0) {
        return failure;
    }
    bool found = false;
    if (right->op == IL_CEL_OP_LIST) { /* needs no list: but every item is evaluated, as an error in one is the list's */
        for (const il_cel_node *k = right->kids; k != NULL; k = k->next) {
            const il_cel_value *item = eval_ref(r, k, &rb);
            failure = eval_failure(item);
            if (failure != 0) {
                return failure;
            }
            found = found || eval_equal(a, item, IL_CEL_DEPTH_MAX, &r->steps);
        }
    } else {
        const il_cel_value *b = eval_ref(r, right, &rb);
        failure = eval_failure(b);
        if (failure != 0) {
            return failure;
        }
        if (b->kind != IL_CEL_LIST) {
            return -(int)IL_CEL_NO_OVERLOAD;
        }
        for (uint32_t i = 0; i < b->n && !found && r->steps >= 0; i++) {
            r->steps--;
            found = eval_equal(a, &b->u.items[i], IL_CEL_DEPTH_MAX, &r->steps);
        }
    }
    return r->steps < 0 ? -(int)IL_CEL_BUDGET : found ? 1 : 0;
}

/* exists folds with `||`, all with `&&`. */
static int eval_macro(eval_run *r, const il_cel_node *n, int decides) {
    const il_cel_node *body = n->kids->next;
    il_cel_value range = eval_node(r, n->kids);
    int failure = eval_failure(&range);
    if (failure != 0) {
        return failure;
    }
    if (range.kind != IL_CEL_LIST || n->slot >= IL_CEL_LOCALS) {
        return -(int)IL_CEL_NO_OVERLOAD;
    }
    int answer = 1 - decides;
    for (uint32_t i = 0; i < range.n; i++) {
        r->steps -= body->weight;
        if (r->steps < 0) {
            return -(int)IL_CEL_BUDGET;
        }
        r->locals[n->slot] = eval_read(range.u.items[i]);
        if (eval_settles(eval_truth(r, body), decides, &answer)) {
            return answer;
        }
    }
    return answer;
}

static il_cel_value eval_field(il_cel_value record, uint32_t field) {
    if (record.kind == IL_CEL_ERROR) {
        return eval_read(record);
    }
    if (record.kind != IL_CEL_RECORD) {
        return eval_fault(IL_CEL_NO_OVERLOAD);
    }
    return field < record.n ? eval_read(record.u.items[field]) : eval_fault(IL_CEL_UNSET);
}

static il_cel_value eval_index(eval_run *r, const il_cel_node *n) {
    il_cel_value list = eval_node(r, n->kids);
    if (list.kind == IL_CEL_ERROR) {
        return list;
    }
    il_cel_value index = eval_node(r, n->kids->next);
    if (index.kind == IL_CEL_ERROR) {
        return index;
    }
    if (list.kind != IL_CEL_LIST || index.kind != IL_CEL_INT) {
        return eval_fault(IL_CEL_NO_OVERLOAD);
    }
    if (index.u.i < 0 || index.u.i >= (int64_t)list.n) {
        return eval_fault(IL_CEL_MISSING);
    }
    return eval_read(list.u.items[index.u.i]);
}

static il_cel_value eval_list(eval_run *r, const il_cel_node *n) {
    il_cel_value *items = NULL;
    il_cel_value list = eval_items(r, (uint32_t)n->size, &items);
    if (list.kind == IL_CEL_ERROR) {
        return list;
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        il_cel_value item = eval_node(r, k);
        if (item.kind == IL_CEL_ERROR) {
            return item;
        }
        *items++ = item;
    }
    return list;
}

static il_cel_value eval_cond(eval_run *r, const il_cel_node *n) {
    const il_cel_node *yes = n->kids->next;
    int c = eval_truth(r, n->kids);
    return c < 0 ? eval_fault((il_cel_fault)-c) : eval_node(r, c == 1 ? yes : yes->next);
}

static int eval_truth(eval_run *r, const il_cel_node *n) {
    il_cel_value room;
    switch ((il_cel_op)n->op) {
    case IL_CEL_OP_AND:
        return eval_logic(r, n, 0);
    case IL_CEL_OP_OR:
        return eval_logic(r, n, 1);
    case IL_CEL_OP_NOT: {
        int truth = eval_truth(r, n->kids);
        return truth < 0 ? truth : 1 - truth;
    }
    case IL_CEL_OP_EQ:
    case IL_CEL_OP_NE:
        return n->fast ? eval_field_is(r, n) : eval_equality(r, n);
    case IL_CEL_OP_LT:
    case IL_CEL_OP_LE:
    case IL_CEL_OP_GT:
    case IL_CEL_OP_GE:
        return eval_order(r, n);
    case IL_CEL_OP_IN:
        return eval_in(r, n);
    case IL_CEL_OP_EXISTS:
        return eval_macro(r, n, 1);
    case IL_CEL_OP_ALL:
        return eval_macro(r, n, 0);
    case IL_CEL_OP_LIT:
    case IL_CEL_OP_LIST:
    case IL_CEL_OP_LOCAL:
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
    case IL_CEL_OP_COND:
        return eval_truth_of(eval_ref(r, n, &room));
    case IL_CEL_OP_HAS:
    case IL_CEL_OP_EXISTS_ONE:
    case IL_CEL_OP_FILTER:
    case IL_CEL_OP_TRANSFORM:
    case IL_CEL_OP_TRANSFORM_MAP:
    case IL_CEL_OP_TRANSFORM_ENTRY:
    case IL_CEL_OP_BIND:
    case IL_CEL_OP_OPT_MAP:
    case IL_CEL_OP_OPT_FLAT_MAP:
    case IL_CEL_OP_TYPE:
    case IL_CEL_OP_MAP:
    case IL_CEL_OP_NAME:
    case IL_CEL_OP_LET:
    case IL_CEL_OP_CALL:
        break; /* the checker leaves none of them */
    }
    return -(int)IL_CEL_NO_OVERLOAD;
}

static il_cel_value eval_node(eval_run *r, const il_cel_node *n) {
    if (n->constant) {
        return n->lit;
    }
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
    case IL_CEL_OP_NEG: {
        il_cel_value v = eval_node(r, n->kids);
        if (v.kind == IL_CEL_INT) {
            return eval_int(IL_CEL_OP_SUB, 0, v.u.i);
        }
        return v.kind == IL_CEL_ERROR ? v : eval_fault(IL_CEL_NO_OVERLOAD);
    }
    case IL_CEL_OP_MUL:
    case IL_CEL_OP_DIV:
    case IL_CEL_OP_MOD:
    case IL_CEL_OP_ADD:
    case IL_CEL_OP_SUB:
        return eval_arithmetic(r, n);
    case IL_CEL_OP_COND:
        return eval_cond(r, n);
    case IL_CEL_OP_NOT:
    case IL_CEL_OP_LT:
    case IL_CEL_OP_LE:
    case IL_CEL_OP_GT:
    case IL_CEL_OP_GE:
    case IL_CEL_OP_EQ:
    case IL_CEL_OP_NE:
    case IL_CEL_OP_IN:
    case IL_CEL_OP_AND:
    case IL_CEL_OP_OR:
    case IL_CEL_OP_EXISTS:
    case IL_CEL_OP_ALL:
        return eval_of_truth(eval_truth(r, n));
    case IL_CEL_OP_HAS:
    case IL_CEL_OP_EXISTS_ONE:
    case IL_CEL_OP_FILTER:
    case IL_CEL_OP_TRANSFORM:
    case IL_CEL_OP_TRANSFORM_MAP:
    case IL_CEL_OP_TRANSFORM_ENTRY:
    case IL_CEL_OP_BIND:
    case IL_CEL_OP_OPT_MAP:
    case IL_CEL_OP_OPT_FLAT_MAP:
    case IL_CEL_OP_TYPE:
    case IL_CEL_OP_MAP:
    case IL_CEL_OP_NAME:
    case IL_CEL_OP_LET:
    case IL_CEL_OP_CALL:
        break; /* the checker leaves none of them */
    }
    return eval_fault(IL_CEL_NO_OVERLOAD);
}

il_cel_value il_cel_eval(const il_cel_program *program, const il_cel_value *vars, il_arena *scratch) {
    eval_run r;
    r.vars = vars;
    r.scratch = scratch;
    r.steps = IL_CEL_COST;
    return eval_node(&r, program->root);
}
