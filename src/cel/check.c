/* SPDX-License-Identifier: Apache-2.0 */
/* The static checker. It refuses what could not be meant (unknown names, operands without an overload, comparisons that are never
 * true) and leaves a tree in which every name is a number. */
#include "cel/ast.h"

typedef struct check_state {
    il_arena *arena;
    const il_cel_env *env;
    il_error *err;
    struct {
        il_str name;
        const il_cel_type *type;
    } locals[IL_CEL_LOCALS];
    uint32_t nlocals, visible; /* macro variables around here; those from `visible` on can be named */
} check_state;

/* IL_CEL_ERROR as the kind of a type: any value, known at run time only. */
static const il_cel_type check_any = {.kind = IL_CEL_ERROR};
static const il_cel_type check_null = {.kind = IL_CEL_NULL};
static const il_cel_type check_bool = {.kind = IL_CEL_BOOL};
static const il_cel_type check_int = {.kind = IL_CEL_INT};
static const il_cel_type check_string = {.kind = IL_CEL_STRING};

#define CHECK_FAIL(c, n, offset, code, ...) IL_CEL_FAIL((n)->src, (offset), (c)->err, (code), __VA_ARGS__)

/* --- messages ------------------------------------------------------------------------------------------------------------- */

typedef struct check_text { /* a piece of a message */
    char p[160];
    size_t n;
} check_text;

static check_text check_text_new(void) {
    check_text t;
    t.n = 0;
    t.p[0] = 0;
    return t;
}

static void check_put(check_text *t, il_str s) {
    if (t->n < sizeof t->p - 1) {
        t->n += il_format(t->p + t->n, sizeof t->p - t->n, "%.*s", IL_STR_ARG(s));
    }
}

/* Type as people write it; `depth` bounds what a caller's own types can do to the stack. */
static void check_put_type(check_text *t, const il_cel_type *type, unsigned depth) {
    if (type == NULL || depth == 0) {
        check_put(t, IL_STR("dyn"));
        return;
    }
    switch (type->kind) {
    case IL_CEL_ERROR:
        check_put(t, IL_STR("dyn"));
        break;
    case IL_CEL_NULL:
        check_put(t, IL_STR("null"));
        break;
    case IL_CEL_BOOL:
        check_put(t, IL_STR("bool"));
        break;
    case IL_CEL_INT:
        check_put(t, IL_STR("int"));
        break;
    case IL_CEL_STRING:
        check_put(t, IL_STR("string"));
        break;
    case IL_CEL_LIST:
        check_put(t, IL_STR("list("));
        check_put_type(t, type->element, depth - 1);
        check_put(t, IL_STR(")"));
        break;
    case IL_CEL_RECORD:
        check_put(t, type->name.n > 0 ? type->name : IL_STR("record"));
        break;
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
        check_put(t, IL_STR("value"));
        break;
    }
}

static check_text check_type_text(const il_cel_type *type) {
    check_text t = check_text_new();
    check_put_type(&t, type, 8);
    return t;
}

/* Nearest of several names: at most one edit off below five letters, two above; and something of the word must be left. */
typedef struct check_nearest {
    il_str want, best;
    unsigned distance;
} check_nearest;

static check_nearest check_nearest_to(il_str want) {
    return (check_nearest){want, {NULL, 0}, want.n < 2 ? 1 : want.n < 5 ? 2 : 3};
}

static void check_nearest_try(check_nearest *near, il_str name) {
    unsigned d = il_str_distance(near->want, name);
    if (d < near->distance) {
        near->distance = d;
        near->best = name;
    }
}

/* "`a`, `b`", at most eight of them. */
static void check_put_words(check_text *t, const il_str *words, size_t n) {
    for (size_t i = 0; i < n && i < 8; i++) {
        check_put(t, i > 0 ? IL_STR(", `") : IL_STR("`"));
        check_put(t, words[i]);
        check_put(t, IL_STR("`"));
    }
    if (n > 8) {
        check_put(t, IL_STR(", ..."));
    }
}

/* "; did you mean `x`?", or the names that there are. */
static check_text check_hint(const check_nearest *near, const il_str *names, size_t nnames) {
    check_text t = check_text_new();
    if (near->best.n > 0) {
        check_put(&t, IL_STR("; did you mean `"));
        check_put(&t, near->best);
        check_put(&t, IL_STR("`?"));
    } else if (nnames > 0) {
        check_put(&t, IL_STR("; there are "));
        check_put_words(&t, names, nnames);
    }
    return t;
}

/* --- types ---------------------------------------------------------------------------------------------------------------- */

static const il_cel_type *check_type_or_any(const il_cel_type *t) { return t != NULL ? t : &check_any; }
static bool check_is_any(const il_cel_type *t) { return t == NULL || t->kind == IL_CEL_ERROR; }
static bool check_may_be(const il_cel_type *t, il_cel_kind kind) {
    return t == NULL || t->kind == IL_CEL_ERROR || t->kind == kind;
}

static bool check_unify(const il_cel_type *a, const il_cel_type *b) {
    for (unsigned depth = 0; depth < IL_CEL_DEPTH_MAX; depth++) {
        a = check_type_or_any(a);
        b = check_type_or_any(b);
        if (check_is_any(a) || check_is_any(b) || a == b) {
            return true;
        }
        if (a->kind != b->kind) {
            return false;
        }
        if (a->kind != IL_CEL_LIST) {
            return a->kind != IL_CEL_RECORD || (a->name.n > 0 && il_str_eq(a->name, b->name) && a->nfields == b->nfields);
        }
        a = a->element;
        b = b->element;
    }
    return false;
}

/* The words that a string expression can be: one for a literal, the domain of what has one; 0 for any string. */
static size_t check_words(const il_cel_node *n, const il_str **words) {
    if (n->op == IL_CEL_OP_LIT) {
        *words = &n->name; /* parse keeps the text there too */
        return n->lit.kind == IL_CEL_STRING ? 1 : 0;
    }
    if (n->type->kind != IL_CEL_STRING || n->type->domain == NULL) {
        return 0;
    }
    *words = n->type->domain;
    return n->type->ndomain;
}

static bool check_has_word(const il_str *words, size_t n, il_str word) {
    for (size_t i = 0; i < n; i++) {
        if (il_str_eq(words[i], word)) {
            return true;
        }
    }
    return false;
}

/* Lets a literal share the bytes of the domain's word, so that comparing the two is comparing pointers. */
static void check_intern(il_cel_node *n, const il_str *words, size_t nwords) {
    if (n->op == IL_CEL_OP_LIT && n->lit.kind == IL_CEL_STRING) {
        for (size_t i = 0; i < nwords; i++) {
            if (il_str_eq(words[i], n->name)) {
                n->lit.u.p = words[i].p;
                n->name = words[i];
                return;
            }
        }
    }
}

static il_status check_list_of(check_state *c, const il_cel_type *element, const il_cel_type **out) {
    il_cel_type *type = IL_NEW(c->arena, il_cel_type);
    if (type == NULL) {
        return il_cel_no_memory(c->arena, c->err);
    }
    *type = (il_cel_type){.kind = IL_CEL_LIST, .element = element};
    *out = type;
    return IL_OK;
}

/* A type that holds the values of both; finite domains are kept only where they are the same. */
static il_status check_join_types(check_state *c, const il_cel_type *a, const il_cel_type *b, const il_cel_type **out) {
    *out = a;
    if (a == b) {
        return IL_OK;
    }
    if (check_is_any(a) || !check_unify(a, b) || check_is_any(b)) {
        *out = &check_any;
        return IL_OK;
    }
    if (a->kind == IL_CEL_STRING) {
        *out = &check_string;
    }
    if (a->kind == IL_CEL_LIST) {
        const il_cel_type *ea = check_type_or_any(a->element), *eb = check_type_or_any(b->element);
        if (ea == eb) {
            return IL_OK;
        }
        bool any = check_is_any(ea) || check_is_any(eb) || ea->kind == IL_CEL_LIST;
        return check_list_of(c, any ? &check_any : ea->kind == IL_CEL_STRING ? &check_string : ea, out);
    }
    return IL_OK;
}

/* The type of a `?:` with these arms: of strings with finite domains it is the union of the words, a literal being one word. */
static il_status check_join_arms(check_state *c, const il_cel_node *a, const il_cel_node *b, const il_cel_type **out) {
    if (a->type->kind != IL_CEL_STRING || b->type->kind != IL_CEL_STRING || (a->type == b->type && a->type->domain != NULL)) {
        return check_join_types(c, a->type, b->type, out);
    }
    const il_str *wa = NULL, *wb = NULL;
    size_t na = check_words(a, &wa), nb = check_words(b, &wb), n = 0;
    *out = &check_string;
    if (na == 0 || nb == 0 || na + nb > IL_CEL_DOMAIN_MAX) {
        return IL_OK;
    }
    il_str *words = IL_NEW_ARRAY(c->arena, il_str, na + nb);
    il_cel_type *type = IL_NEW(c->arena, il_cel_type);
    if (words == NULL || type == NULL) {
        return il_cel_no_memory(c->arena, c->err);
    }
    for (size_t i = 0; i < na; i++) {
        words[n++] = wa[i];
    }
    for (size_t i = 0; i < nb; i++) {
        if (!check_has_word(words, n, wb[i])) {
            words[n++] = wb[i];
        }
    }
    *type = (il_cel_type){.kind = IL_CEL_STRING, .domain = words, .ndomain = n};
    *out = type;
    return IL_OK;
}

/* --- finite domains ------------------------------------------------------------------------------------------------------- */

static check_text check_source_text(const il_cel_node *n) {
    check_text t = check_text_new();
    if (n->op == IL_CEL_OP_FIELD) {
        check_put(&t, IL_STR("`"));
        check_put(&t, n->kids->name);
        check_put(&t, IL_STR("."));
        check_put(&t, n->name);
        check_put(&t, IL_STR("`"));
    } else if (n->op == IL_CEL_OP_VAR || n->op == IL_CEL_OP_LOCAL) {
        check_put(&t, IL_STR("`"));
        check_put(&t, n->name);
        check_put(&t, IL_STR("`"));
    } else {
        check_put(&t, IL_STR("the other side"));
    }
    return t;
}

static il_status check_never(check_state *c, const il_cel_node *at, il_str word, const il_cel_node *side, const il_str *words,
                             size_t nwords) {
    check_nearest near = check_nearest_to(word);
    for (size_t i = 0; i < nwords; i++) {
        check_nearest_try(&near, words[i]);
    }
    check_text who = check_source_text(side), all = check_text_new(), hint = check_hint(&near, NULL, 0);
    check_put_words(&all, words, nwords);
    return CHECK_FAIL(c, at, at->start, IL_E_INVALID, "never equal: %s is one of %s%s", who.p, all.p, hint.p);
}

/* `a == b`, `a != b`, or an item of `a in [b]`: an answer that is known beforehand is a mistake. Two literals are left alone. */
static il_status check_never_equal(check_state *c, const il_cel_node *op, il_cel_node *a, il_cel_node *b) {
    const il_str *wa = NULL, *wb = NULL;
    size_t na = check_words(a, &wa), nb = check_words(b, &wb);
    bool la = a->op == IL_CEL_OP_LIT, lb = b->op == IL_CEL_OP_LIT;
    if (na == 0 || nb == 0 || (la && lb)) {
        return IL_OK;
    }
    if (la) {
        if (!check_has_word(wb, nb, wa[0])) {
            return check_never(c, a, wa[0], b, wb, nb);
        }
        check_intern(a, wb, nb);
        return IL_OK;
    }
    if (lb) {
        if (!check_has_word(wa, na, wb[0])) {
            return check_never(c, b, wb[0], a, wa, na);
        }
        check_intern(b, wa, na);
        return IL_OK;
    }
    for (size_t i = 0; i < na; i++) {
        if (check_has_word(wb, nb, wa[i])) {
            return IL_OK;
        }
    }
    check_text ta = check_source_text(a), tb = check_source_text(b);
    return CHECK_FAIL(c, op, op->at, IL_E_INVALID, "never equal: %s and %s have no word in common", ta.p, tb.p);
}

/* The same for a value against the items of a list, whose domain or literals are known. */
static il_status check_never_in(check_state *c, il_cel_node *value, il_cel_node *list) {
    if (list->constant && value->type->kind == IL_CEL_STRING && value->op != IL_CEL_OP_LIT) {
        /* The items keep their places in the text: they are still the kids. */
        for (il_cel_node *k = list->kids; k != NULL; k = k->next) {
            IL_TRY(check_never_equal(c, list, value, k));
        }
        return IL_OK;
    }
    if (list->op == IL_CEL_OP_LIST) {
        for (il_cel_node *k = list->kids; k != NULL; k = k->next) {
            IL_TRY(check_never_equal(c, list, value, k));
        }
        return IL_OK;
    }
    const il_cel_type *element = list->type->kind == IL_CEL_LIST ? list->type->element : NULL;
    if (value->op == IL_CEL_OP_LIT && value->lit.kind == IL_CEL_STRING && element != NULL && element->kind == IL_CEL_STRING &&
        element->domain != NULL) {
        if (!check_has_word(element->domain, element->ndomain, value->name)) {
            return check_never(c, value, value->name, list, element->domain, element->ndomain);
        }
        check_intern(value, element->domain, element->ndomain);
    }
    return IL_OK;
}

/* --- nodes ---------------------------------------------------------------------------------------------------------------- */

static uint64_t check_add_cost(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
/* Not as `a > MAX / b`: clang makes a 128-bit multiplication of that, which wasm32 would have to import. */
static uint64_t check_mul_cost(uint64_t a, uint64_t b) {
    if (a == 0 || b == 0) {
        return 0;
    }
    return (a >> 32) != 0 || (b >> 32) != 0 ? UINT64_MAX : a * b;
}

static il_status check_node(check_state *c, il_cel_node *n);

static il_status check_name(check_state *c, const il_cel_node *n) {
    static const char *const types[] = {"bool", "int", "uint",      "double", "string", "bytes",
                                        "list", "map", "null_type", "type",   "google"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (il_str_eq(n->name, il_str_of(types[i]))) {
            return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "the type `%s` as a value is not supported yet", types[i]);
        }
    }
    check_nearest near = check_nearest_to(n->name);
    for (uint32_t i = n->root ? c->nlocals : c->visible; i < c->nlocals; i++) {
        check_nearest_try(&near, c->locals[i].name);
    }
    for (size_t i = 0; i < c->env->nlets; i++) {
        check_nearest_try(&near, c->env->lets[i].name);
    }
    for (size_t i = 0; i < c->env->nvars; i++) {
        check_nearest_try(&near, c->env->vars[i].name);
    }
    il_str names[9];
    size_t nnames = 0;
    for (size_t i = 0; i < c->env->nvars && nnames < 9; i++) {
        names[nnames++] = c->env->vars[i].name;
    }
    check_text hint = check_hint(&near, names, nnames);
    return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "undeclared name `%.*s`%s", IL_STR_ARG(n->name), hint.p);
}

/* The functions and macros of the language and of its usual extensions: known, and not here yet. */
static const char *const check_functions[] = {
    "has",
    "exists_one",
    "existsOne",
    "map",
    "filter",
    "transformList",
    "transformMap",
    "bind",
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "bool",
    "timestamp",
    "duration",
    "type",
    "dyn",
    "getFullYear",
    "getMonth",
    "getDayOfYear",
    "getDayOfMonth",
    "getDate",
    "getDayOfWeek",
    "getHours",
    "getMinutes",
    "getSeconds",
    "getMilliseconds",
    "charAt",
    "indexOf",
    "lastIndexOf",
    "substring",
    "replace",
    "split",
    "join",
    "trim",
    "lowerAscii",
    "upperAscii",
    "reverse",
    "quote",
    "format",
    "ip",
    "cidr",
    "isIP",
    "isCIDR",
    "isCanonical",
    "family",
    "isUnspecified",
    "isLoopback",
    "isGlobalUnicast",
    "isLinkLocalMulticast",
    "isLinkLocalUnicast",
    "containsIP",
    "containsCIDR",
    "masked",
    "prefixLength",
    "of",
    "none",
    "ofNonZeroValue",
    "hasValue",
    "value",
    "or",
    "orValue",
    "optMap",
    "optFlatMap",
    "greatest",
    "least",
    "ceil",
    "floor",
    "round",
    "trunc",
    "abs",
    "sign",
    "isNaN",
    "isInf",
    "isFinite",
    "bitAnd",
    "bitOr",
    "bitXor",
    "bitNot",
    "bitShiftLeft",
    "bitShiftRight",
    "encode",
    "decode",
    "block",
    "index",
    "iterVar",
    "accuVar",
    "net",
    "unwrap",
    "unwrapOpt",
    "getExt",
    "hasExt",
};

static il_status check_call(check_state *c, const il_cel_node *n) {
    static const struct {
        const char *word, *instead;
    } rewrites[] = {{"any", "exists"}, {"some", "exists"}, {"every", "all"}, {"forall", "all"}, {"includes", "contains"}};
    for (size_t i = 0; i < sizeof rewrites / sizeof rewrites[0]; i++) {
        if (n->receiver && il_str_eq(n->name, il_str_of(rewrites[i].word))) {
            return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "`%s` is not a macro; did you mean `%s`?", rewrites[i].word,
                              rewrites[i].instead);
        }
    }
    if (!n->receiver && il_str_eq(n->name, IL_STR("not"))) {
        return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "unknown function `not`; did you mean `!`?");
    }
    if (!n->receiver && (il_str_eq(n->name, IL_STR("exists")) || il_str_eq(n->name, IL_STR("all")))) {
        return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "`%.*s` stands after a list: `list.%.*s(x, x == 1)`", IL_STR_ARG(n->name),
                          IL_STR_ARG(n->name));
    }
    check_nearest near = check_nearest_to(n->name);
    check_nearest_try(&near, IL_STR("exists"));
    check_nearest_try(&near, IL_STR("all"));
    for (size_t i = 0; i < sizeof check_functions / sizeof check_functions[0]; i++) {
        il_str name = il_str_of(check_functions[i]);
        if (il_str_eq(name, n->name)) {
            return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "the function `%.*s` is not supported yet", IL_STR_ARG(name));
        }
        check_nearest_try(&near, name);
    }
    check_text hint = check_hint(&near, NULL, 0);
    return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "unknown function `%.*s`%s", IL_STR_ARG(n->name), hint.p);
}

static il_status check_select(check_state *c, il_cel_node *n) {
    il_cel_node *of = n->kids;
    IL_CHECK(of != NULL, c->err);
    const il_cel_type *record = of->type;
    if (check_is_any(record)) {
        return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "a field of a `dyn` value is not supported yet");
    }
    if (record->kind != IL_CEL_RECORD) {
        check_text type = check_type_text(record);
        bool length = il_str_eq(n->name, IL_STR("length")) || il_str_eq(n->name, IL_STR("size"));
        return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "no field `%.*s` in a `%s`%s", IL_STR_ARG(n->name), type.p,
                          length ? "; did you mean `size()`?" : "");
    }
    for (size_t i = 0; i < record->nfields; i++) {
        if (il_str_eq(record->fields[i].name, n->name)) {
            n->field = (uint32_t)i;
            n->name = record->fields[i].name;
            n->type = check_type_or_any(record->fields[i].type);
            if (of->op == IL_CEL_OP_VAR) {
                n->op = IL_CEL_OP_FIELD;
                n->slot = of->slot;
            }
            return IL_OK;
        }
    }
    check_nearest near = check_nearest_to(n->name);
    il_str names[9];
    size_t nnames = 0;
    for (size_t i = 0; i < record->nfields; i++) {
        check_nearest_try(&near, record->fields[i].name);
        if (nnames < 9) {
            names[nnames++] = record->fields[i].name;
        }
    }
    check_text type = check_type_text(record), hint = check_hint(&near, names, nnames);
    return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "no field `%.*s` in `%s`%s", IL_STR_ARG(n->name), type.p, hint.p);
}

/* A list whose items are all literals is a literal: evaluation then builds nothing. The kids stay, for positions and printing. */
static il_status check_list(check_state *c, il_cel_node *n) {
    const il_cel_type *element = &check_any;
    uint32_t count = 0;
    bool constant = true;
    for (il_cel_node *k = n->kids; k != NULL; k = k->next) {
        if (k == n->kids) {
            element = k->type;
        } else {
            IL_TRY(check_join_types(c, element, k->type, &element)); /* a mixed list is a list of anything, as in CEL */
        }
        constant = constant && k->constant;
        count++;
    }
    IL_TRY(check_list_of(c, element, &n->type));
    n->size = count;
    if (!constant) {
        return IL_OK;
    }
    il_cel_value *items = IL_NEW_ARRAY(c->arena, il_cel_value, count);
    if (items == NULL) {
        return il_cel_no_memory(c->arena, c->err);
    }
    uint32_t i = 0;
    for (il_cel_node *k = n->kids; k != NULL; k = k->next) {
        items[i++] = k->lit;
    }
    n->constant = true;
    n->lit = il_cel_of_items(IL_CEL_LIST, items, count);
    return IL_OK;
}

static il_cel_node *check_second(const il_cel_node *n) { return n->kids != NULL ? n->kids->next : NULL; }

static il_status check_no_overload(check_state *c, const il_cel_node *n) {
    const il_cel_node *a = n->kids, *b = check_second(n);
    IL_CHECK(a != NULL, c->err);
    check_text ta = check_type_text(a->type);
    const char *sign = il_cel_sign((il_cel_op)n->op);
    if (b == NULL) {
        return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "no overload `%s%s`", sign, ta.p);
    }
    check_text tb = check_type_text(b->type);
    const char *hint = "";
    if (n->op == IL_CEL_OP_IN && a->type->kind == IL_CEL_STRING && b->type->kind == IL_CEL_STRING) {
        hint = "; `in` takes a list on its right";
    }
    return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "no overload `%s %s %s`%s", ta.p, sign, tb.p, hint);
}

static il_status check_arithmetic(check_state *c, il_cel_node *n) {
    const il_cel_node *a = n->kids, *b = check_second(n);
    IL_CHECK(a != NULL && b != NULL, c->err);
    if (n->op == IL_CEL_OP_ADD && check_unify(a->type, b->type)) {
        il_cel_kind kind = check_is_any(a->type) ? b->type->kind : a->type->kind;
        if (kind == IL_CEL_STRING) {
            n->type = &check_string;
            return IL_OK;
        }
        if (kind == IL_CEL_LIST) {
            uint64_t items = (uint64_t)a->size + b->size;
            n->size = items > UINT32_MAX ? UINT32_MAX : (uint32_t)items;
            return check_join_types(c, a->type, b->type, &n->type);
        }
        if (kind == IL_CEL_ERROR) {
            n->type = &check_any;
            n->size = IL_CEL_LIST_GUESS;
            return IL_OK;
        }
    }
    if (!check_may_be(a->type, IL_CEL_INT) || !check_may_be(b->type, IL_CEL_INT)) {
        return check_no_overload(c, n);
    }
    n->type = &check_int;
    return IL_OK;
}

static il_status check_order(check_state *c, il_cel_node *n) {
    const il_cel_node *left = n->kids, *right = check_second(n);
    IL_CHECK(left != NULL && right != NULL, c->err);
    const il_cel_type *a = left->type, *b = right->type;
    bool ordered = check_may_be(a, IL_CEL_BOOL) || check_may_be(a, IL_CEL_INT) || check_may_be(a, IL_CEL_STRING);
    if (!ordered || (!check_is_any(a) && !check_is_any(b) && a->kind != b->kind) ||
        !(check_may_be(b, IL_CEL_BOOL) || check_may_be(b, IL_CEL_INT) || check_may_be(b, IL_CEL_STRING))) {
        return check_no_overload(c, n);
    }
    n->type = &check_bool;
    return IL_OK;
}

static il_status check_equality(check_state *c, il_cel_node *n) {
    il_cel_node *a = n->kids, *b = check_second(n);
    IL_CHECK(a != NULL && b != NULL, c->err);
    if (!check_unify(a->type, b->type)) {
        return check_no_overload(c, n);
    }
    IL_TRY(check_never_equal(c, n, a, b));
    n->type = &check_bool;
    n->cost = check_add_cost(n->cost, a->size < b->size ? a->size : b->size);
    n->fast = a->op == IL_CEL_OP_FIELD && b->op == IL_CEL_OP_LIT && b->lit.kind == IL_CEL_STRING;
    return IL_OK;
}

static il_status check_in(check_state *c, il_cel_node *n) {
    il_cel_node *a = n->kids, *b = check_second(n);
    IL_CHECK(a != NULL && b != NULL, c->err);
    if (!check_may_be(b->type, IL_CEL_LIST) || (b->type->kind == IL_CEL_LIST && !check_unify(a->type, b->type->element))) {
        return check_no_overload(c, n);
    }
    IL_TRY(check_never_in(c, a, b));
    n->type = &check_bool;
    n->cost = check_add_cost(n->cost, b->size);
    return IL_OK;
}

static il_status check_want_bool(check_state *c, const il_cel_node *n, const char *who) {
    if (check_may_be(n->type, IL_CEL_BOOL)) {
        return IL_OK;
    }
    check_text type = check_type_text(n->type);
    return CHECK_FAIL(c, n, n->start, IL_E_INVALID, "bool expected by `%s`, got `%s`", who, type.p);
}

static il_status check_cond(check_state *c, il_cel_node *n) {
    il_cel_node *a = check_second(n), *b = a != NULL ? a->next : NULL;
    IL_CHECK(a != NULL && b != NULL, c->err);
    IL_TRY(check_want_bool(c, n->kids, "?:"));
    if (!check_unify(a->type, b->type)) {
        check_text ta = check_type_text(a->type), tb = check_type_text(b->type);
        return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "the arms of `?:` differ: `%s` and `%s`", ta.p, tb.p);
    }
    IL_TRY(check_join_arms(c, a, b, &n->type));
    if (n->type->kind == IL_CEL_STRING && n->type->domain != NULL) {
        check_intern(a, n->type->domain, n->type->ndomain);
        check_intern(b, n->type->domain, n->type->ndomain);
    }
    n->size = a->size > b->size ? a->size : b->size;
    return IL_OK;
}

/* range.exists(x, body): the body is checked with x bound to the items' type, and paid for once an item. */
static il_status check_macro(check_state *c, il_cel_node *n) {
    il_cel_node *range = n->kids, *body = range->next;
    IL_TRY(check_node(c, range));
    const il_cel_type *type = range->type;
    if (!check_may_be(type, IL_CEL_LIST)) {
        check_text text = check_type_text(type);
        return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "`%s` needs a list, got `%s`", il_cel_sign((il_cel_op)n->op), text.p);
    }
    if (n->slot >= IL_CEL_LOCALS) {
        return CHECK_FAIL(c, n, n->at, IL_E_INTERNAL, "a macro variable without a place");
    }
    c->locals[n->slot].name = n->name;
    c->locals[n->slot].type = check_type_or_any(type->kind == IL_CEL_LIST ? type->element : NULL);
    uint32_t before = c->nlocals;
    c->nlocals = n->slot + 1;
    IL_TRY(check_node(c, body));
    c->nlocals = before;
    IL_TRY(check_want_bool(c, body, il_cel_sign((il_cel_op)n->op)));
    n->type = &check_bool;
    n->weight = range->weight + body->weight + 1;
    n->cost = check_add_cost(check_add_cost(1, range->cost), check_mul_cost(range->size, check_add_cost(body->cost, 1)));
    if (n->cost > IL_CEL_COST) {
        return CHECK_FAIL(c, n, n->at, IL_E_LIMIT, "worst-case cost of this `%s` is over %u steps; nest fewer loops",
                          il_cel_sign((il_cel_op)n->op), (unsigned)IL_CEL_COST);
    }
    return IL_OK;
}

static il_status check_literal(il_cel_node *n) {
    switch ((il_cel_kind)n->lit.kind) {
    case IL_CEL_NULL:
        n->type = &check_null;
        return IL_OK;
    case IL_CEL_BOOL:
        n->type = &check_bool;
        return IL_OK;
    case IL_CEL_INT:
        n->type = &check_int;
        return IL_OK;
    case IL_CEL_STRING:
        n->type = &check_string;
        return IL_OK;
    case IL_CEL_ERROR:
    case IL_CEL_LIST:
    case IL_CEL_RECORD:
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
        break;
    }
    n->type = &check_any;
    return IL_OK;
}

static il_status check_let(check_state *c, il_cel_node *n) {
    uint32_t visible = c->visible;
    c->visible = c->nlocals; /* a let sees the root scope only */
    IL_TRY(check_node(c, n->kids));
    c->visible = visible;
    il_cel_node *next = n->next, *kid = n->kids;
    *n = *kid;
    n->next = next;
    return IL_OK;
}

static il_status check_index(check_state *c, il_cel_node *n) {
    const il_cel_node *list = n->kids, *index = check_second(n);
    IL_CHECK(list != NULL && index != NULL, c->err);
    if (!check_may_be(list->type, IL_CEL_LIST) || !check_may_be(index->type, IL_CEL_INT)) {
        check_text tl = check_type_text(list->type), ti = check_type_text(index->type);
        return CHECK_FAIL(c, n, n->at, IL_E_INVALID, "no overload `%s[%s]`", tl.p, ti.p);
    }
    n->size = IL_CEL_LIST_GUESS;
    n->type = check_type_or_any(check_is_any(list->type) ? NULL : list->type->element);
    return IL_OK;
}

/* What only this phase needs of a node whose kids are checked. */
static il_status check_operator(check_state *c, il_cel_node *n) {
    switch ((il_cel_op)n->op) {
    case IL_CEL_OP_LIT:
        return check_literal(n);
    case IL_CEL_OP_LIST:
        return check_list(c, n);
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
        break;
    case IL_CEL_OP_LOCAL:
        n->type = c->locals[n->slot].type;
        n->size = IL_CEL_LIST_GUESS;
        return IL_OK;
    case IL_CEL_OP_VAR:
        n->type = check_type_or_any(c->env->vars[n->slot].type);
        n->size = IL_CEL_LIST_GUESS;
        return IL_OK;
    case IL_CEL_OP_SELECT:
        n->size = IL_CEL_LIST_GUESS;
        return check_select(c, n);
    case IL_CEL_OP_FIELD:
        break;
    case IL_CEL_OP_INDEX:
        return check_index(c, n);
    case IL_CEL_OP_NOT:
        IL_CHECK(n->kids != NULL, c->err);
        n->type = &check_bool;
        return check_may_be(n->kids->type, IL_CEL_BOOL) ? IL_OK : check_no_overload(c, n);
    case IL_CEL_OP_NEG:
        IL_CHECK(n->kids != NULL, c->err);
        n->type = &check_int;
        return check_may_be(n->kids->type, IL_CEL_INT) ? IL_OK : check_no_overload(c, n);
    case IL_CEL_OP_MUL:
    case IL_CEL_OP_DIV:
    case IL_CEL_OP_MOD:
    case IL_CEL_OP_ADD:
    case IL_CEL_OP_SUB:
        return check_arithmetic(c, n);
    case IL_CEL_OP_LT:
    case IL_CEL_OP_LE:
    case IL_CEL_OP_GT:
    case IL_CEL_OP_GE:
        return check_order(c, n);
    case IL_CEL_OP_EQ:
    case IL_CEL_OP_NE:
        return check_equality(c, n);
    case IL_CEL_OP_IN:
        return check_in(c, n);
    case IL_CEL_OP_AND:
    case IL_CEL_OP_OR:
        n->type = &check_bool;
        for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
            IL_TRY(check_want_bool(c, k, il_cel_sign((il_cel_op)n->op)));
        }
        return IL_OK;
    case IL_CEL_OP_COND:
        return check_cond(c, n);
    case IL_CEL_OP_EXISTS:
    case IL_CEL_OP_ALL:
        break;
    }
    return CHECK_FAIL(c, n, n->at, IL_E_INTERNAL, "an operator that the checker does not know");
}

static il_status check_node(check_state *c, il_cel_node *n) {
    n->weight = 1;
    n->cost = 1;
    /* Refused as a whole, before what is inside: an unknown macro's variable is not an undeclared name. */
    if (n->op == IL_CEL_OP_MAP) {
        return CHECK_FAIL(c, n, n->start, IL_E_INVALID, "a map is not supported yet");
    }
    if (n->op == IL_CEL_OP_NAME) {
        return check_name(c, n);
    }
    if (n->op == IL_CEL_OP_CALL) {
        return check_call(c, n);
    }
    if (n->op == IL_CEL_OP_LET) {
        return check_let(c, n);
    }
    if (n->op == IL_CEL_OP_EXISTS || n->op == IL_CEL_OP_ALL) {
        return check_macro(c, n);
    }
    for (il_cel_node *k = n->kids; k != NULL; k = k->next) {
        IL_TRY(check_node(c, k));
        n->weight += k->weight;
        n->cost = check_add_cost(n->cost, k->cost);
    }
    return check_operator(c, n);
}

il_status il_cel_check(il_arena *arena, const il_cel_env *env, const il_cel_limits *limits, il_cel_kind want, il_cel_node *root, il_error *err) {
    (void)limits;
    check_state state = {.arena = arena, .env = env, .err = err}, *c = &state;
    IL_TRY(check_node(c, root));
    if (root->cost > IL_CEL_COST) {
        return CHECK_FAIL(c, root, root->start, IL_E_LIMIT, "worst-case cost is over %u steps; nest fewer loops",
                          (unsigned)IL_CEL_COST);
    }
    if (want == IL_CEL_NULL || check_may_be(root->type, want)) {
        return IL_OK;
    }
    const il_cel_type wanted = {.kind = want};
    check_text tw = check_type_text(&wanted), tg = check_type_text(root->type);
    if (want == IL_CEL_LIST) {
        tw = check_text_new();
        check_put(&tw, IL_STR("list"));
    }
    const char *hint = want == IL_CEL_BOOL && root->type->kind == IL_CEL_INT    ? "; compare it with something"
                       : want == IL_CEL_BOOL && root->type->kind == IL_CEL_LIST ? "; compare it with `[]`"
                                                                                : "";
    return CHECK_FAIL(c, root, root->start, IL_E_INVALID, "must be `%s`, is `%s`%s", tw.p, tg.p, hint);
}
