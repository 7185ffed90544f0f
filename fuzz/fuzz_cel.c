/* SPDX-License-Identifier: Apache-2.0 */
/* An expression, and behind the last NUL, if there is one, the circumstances: a byte of FUZZ_… flags, one of limits, one of how soon memory
 * fails, then a JSON document, which the variables `doc` and `call` show.
 *
 * Asserts: a refusal has a position inside the source and a message. What compiles is the same twice; it evaluates to the same value twice, on any
 * budget that suffices, and with less it is IL_CEL_BUDGET and nothing else; it costs no more than was bounded, is no larger, and of the type that was
 * found. What is printed reads back as the same text, type and value, a value that is written as itself. Without memory there is an error and no
 * program. */
#include "cel/code.h"
#include "cel/value_compare.h"
#include "cel_env.h"
#include "json/node.h"

enum {
    FUZZ_UNCHECKED = 1,
    FUZZ_DYNAMIC_REGEX = 2,
    FUZZ_LIST_CONTAINS = 4,
    FUZZ_CONTAINER = 8,
    FUZZ_NO_ZONES = 16,
    FUZZ_WANT_BOOL = 32,
    FUZZ_BARE = 64,   /* no functions, no lets */
    FUZZ_TIGHT = 128, /* small limits: the next byte says how small */
    FUZZ_STEPS = 300000,
    FUZZ_ARENA = 64 << 20,
    FUZZ_SCRATCH = 16 << 20,
    FUZZ_WRITTEN = 4096
};

typedef struct fuzz_case {
    il_str source;
    il_cel_env env;
    il_cel_limits limits;
    il_cel_kind want;
    uint8_t memory;
    fuzz_values values;
} fuzz_case;

/* --- memory that fails --------------------------------------------------------------------------------------------- */

static const il_alloc fuzz_memory = {fuzz_get, fuzz_put, NULL};

typedef struct fuzz_some {
    size_t left; /* good allocations */
    bool failed; /* one was not */
} fuzz_some;

static void *fuzz_get_some(void *ctx, size_t n) {
    fuzz_some *some = ctx;
    if (some->left == 0) {
        some->failed = true;
        return NULL;
    }
    some->left--;
    return malloc(n);
}

/* --- refusals ------------------------------------------------------------------------------------------------------- */

static void fuzz_position(il_str source, const il_error *err, uint32_t line, uint32_t col) {
    FUZZ_CHECK(err->offset <= source.n);
    for (size_t i = 0; i < err->offset; i++) {
        const unsigned char c = (unsigned char)source.p[i];
        if (c == '\n') {
            line++;
            col = 1;
        } else if ((c & 0xc0) != 0x80) {
            col++;
        }
    }
    FUZZ_CHECK(err->line == line && (!il_str_utf8(source, NULL) || err->col == col));
    size_t room = 0;
    for (size_t i = err->offset; i < source.n && source.p[i] != '\n'; i++) {
        room++;
    }
    FUZZ_CHECK(err->span <= room);
}

static void fuzz_message(const il_error *err) {
    const il_str msg = il_str_of(err->msg);
    FUZZ_CHECK(msg.n > 0 && il_str_utf8(msg, NULL));
    for (size_t i = 0; i < msg.n; i++) {
        FUZZ_CHECK((unsigned char)msg.p[i] >= 0x20 && msg.p[i] != 0x7f);
    }
}

static void fuzz_placed(const fuzz_case *c, const il_error *err) {
    fuzz_message(err);
    FUZZ_CHECK(err->line > 0 && err->col > 0);
    if (err->line >= FUZZ_LET_LINE) {
        const size_t let = err->line - FUZZ_LET_LINE;
        FUZZ_CHECK(let < c->env.nlets);
        fuzz_position(c->env.lets[let].source, err, c->env.lets[let].line, c->env.lets[let].col);
    } else {
        fuzz_position(c->source, err, 1, 1);
    }
}

/* Want of memory has no place in the source. */
static void fuzz_refused(const fuzz_case *c, il_status s, const il_cel_program *p, const il_error *err) {
    FUZZ_CHECK(p == NULL && err->code == s);
    FUZZ_CHECK(s == IL_E_SYNTAX || s == IL_E_INVALID || s == IL_E_LIMIT || s == IL_E_MEMORY);
    if (s == IL_E_MEMORY ||
        (s == IL_E_LIMIT && il_str_find(il_str_of(err->msg), IL_STR("bytes of memory would be needed"), 0) != SIZE_MAX)) {
        fuzz_message(err);
    } else {
        fuzz_placed(c, err);
    }
}

/* --- values --------------------------------------------------------------------------------------------------------- */

/* The same to the last bit, which `==` does not say of doubles. `*plain`: `==` says so as well. */
static bool fuzz_same(const il_cel_value *a, const il_cel_value *b, bool *plain) {
    if (a->kind != b->kind || (a->kind == IL_CEL_ERROR && a->fault != b->fault)) {
        return false;
    }
    il_cel_walk x, y;
    il_cel_value k1, v1, k2, v2;
    switch ((il_cel_kind)a->kind) {
    case IL_CEL_ERROR:
    case IL_CEL_NULL:
        return true;
    case IL_CEL_BOOL:
        return a->u.b == b->u.b;
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DURATION:
        return a->u.u == b->u.u;
    case IL_CEL_DOUBLE:
        if (a->u.d != a->u.d) {
            *plain = false;
            return b->u.d != b->u.d;
        }
        return a->u.u == b->u.u;
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
        return il_str_eq(il_cel_str(*a), il_cel_str(*b));
    case IL_CEL_TIMESTAMP:
        return a->u.i == b->u.i && a->n == b->n;
    case IL_CEL_TYPE:
        return il_str_eq(il_cel_type_name(*a), il_cel_type_name(*b));
    case IL_CEL_IP:
        return memcmp(a->u.p, b->u.p, sizeof(il_ip)) == 0;
    case IL_CEL_CIDR:
        return memcmp(a->u.p, b->u.p, sizeof(il_cidr)) == 0;
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
        return a->u.p == b->u.p;
    case IL_CEL_OPTIONAL:
        return (a->u.items == NULL) == (b->u.items == NULL) && (a->u.items == NULL || fuzz_same(a->u.items, b->u.items, plain));
    case IL_CEL_RECORD:
        *plain = false; /* a field that is not set */
        return a->u.items == b->u.items;
    case IL_CEL_LIST:
        for (x = il_cel_walk_of(a), y = il_cel_walk_of(b); il_cel_walk_item(&x, &v1) && il_cel_walk_item(&y, &v2);) {
            if (!fuzz_same(&v1, &v2, plain)) {
                return false;
            }
        }
        return a->n == b->n;
    case IL_CEL_MAP:
        for (x = il_cel_walk_of(a), y = il_cel_walk_of(b); il_cel_walk_entry(&x, &k1, &v1) && il_cel_walk_entry(&y, &k2, &v2);) {
            if (!fuzz_same(&k1, &k2, plain) || !fuzz_same(&v1, &v2, plain)) {
                return false;
            }
        }
        return a->n == b->n;
    }
    return false;
}

static void fuzz_check_same(const il_cel_value *a, const il_cel_value *b) {
    bool plain = true;
    FUZZ_CHECK(fuzz_same(a, b, &plain));
    FUZZ_CHECK(!plain || il_cel_equal(*a, *b));
}

/* Well formed, and of this type as far as it says. */
static bool fuzz_is_of(const il_cel_value *v, const il_cel_type *t) {
    const bool dyn = t == NULL || t->kind == IL_CEL_DYN || t->kind == IL_CEL_PARAM;
    if (!dyn && v->kind != t->kind &&
        !(v->kind == IL_CEL_NULL &&
          (t->kind == IL_CEL_OPTIONAL || t->kind == IL_CEL_TIMESTAMP || t->kind == IL_CEL_DURATION || t->kind == IL_CEL_IP ||
           t->kind == IL_CEL_CIDR || t->kind == IL_CEL_RECORD || t->kind == IL_CEL_OPAQUE))) {
        return false;
    }
    il_cel_walk w;
    il_cel_value key, value;
    if (v->kind == IL_CEL_STRING) {
        return il_str_utf8(il_cel_str(*v), NULL);
    }
    if (v->kind == IL_CEL_OPTIONAL && v->u.items != NULL) {
        return fuzz_is_of(v->u.items, dyn ? NULL : t->element);
    }
    if (v->kind == IL_CEL_LIST) {
        for (w = il_cel_walk_of(v); il_cel_walk_item(&w, &value);) {
            if (value.kind == IL_CEL_ERROR || !fuzz_is_of(&value, dyn ? NULL : t->element)) {
                return false;
            }
        }
    }
    if (v->kind == IL_CEL_MAP) {
        for (w = il_cel_walk_of(v); il_cel_walk_entry(&w, &key, &value);) {
            if (value.kind == IL_CEL_ERROR || !fuzz_is_of(&key, dyn ? NULL : t->key) ||
                !fuzz_is_of(&value, dyn ? NULL : t->element)) {
                return false;
            }
        }
    }
    return true;
}

static bool fuzz_holds_dyn(const il_cel_type *t) {
    if (t == NULL || t->kind == IL_CEL_DYN || t->kind == IL_CEL_PARAM) {
        return true;
    }
    for (size_t i = 0; t->kind == IL_CEL_OPAQUE && i < t->nfields; i++) {
        if (fuzz_holds_dyn(t->fields[i].type)) {
            return true;
        }
    }
    return ((t->kind == IL_CEL_LIST || t->kind == IL_CEL_OPTIONAL || t->kind == IL_CEL_MAP) && fuzz_holds_dyn(t->element)) ||
           (t->kind == IL_CEL_MAP && fuzz_holds_dyn(t->key));
}

/* Of dyn the bound of the cost assumes something, and a run may end for want of an overload. */
static bool fuzz_tree_has_dyn(const il_cel_node *n) {
    bool dyn = fuzz_holds_dyn(n->type);
    for (const il_cel_node *k = n->kids; k != NULL && !dyn; k = k->next) {
        dyn = fuzz_tree_has_dyn(k);
    }
    return dyn;
}

/* --- one program ---------------------------------------------------------------------------------------------------- */

/* With so many steps and bytes, each time in an arena of its own that the caller frees. */
static il_cel_value fuzz_run(const fuzz_case *c, const il_cel_program *p, int64_t *steps, il_arena *scratch,
                             const il_alloc *alloc, size_t bytes) {
    il_arena_init(scratch, alloc, bytes);
    il_cel_run run = {.program = p, .scratch = scratch, .steps = *steps};
    const il_cel_value v = il_cel_run_code(&run, p->code, c->values.of);
    FUZZ_CHECK(run.steps >= 0 || (v.kind == IL_CEL_ERROR && v.fault == IL_CEL_BUDGET));
    FUZZ_CHECK(v.kind != IL_CEL_ERROR || v.fault != IL_CEL_NO_FAULT);
    *steps = run.steps;
    return v;
}

static bool fuzz_spent(const il_cel_value *v) { return v->kind == IL_CEL_ERROR && v->fault == IL_CEL_BUDGET; }

/* Less memory, or none at all: the same value or no value. */
static void fuzz_less_memory(const fuzz_case *c, const il_cel_program *p, const il_cel_value *whole, size_t used) {
    fuzz_some left = {c->memory % 4, false};
    const il_alloc some = {fuzz_get_some, fuzz_put, &left};
    const size_t bytes[] = {used * c->memory / 256, FUZZ_SCRATCH};
    for (unsigned i = 0; i < 2; i++) {
        il_arena scratch;
        int64_t steps = FUZZ_STEPS;
        const il_cel_value v = fuzz_run(c, p, &steps, &scratch, i == 0 ? &fuzz_memory : &some, bytes[i]);
        FUZZ_CHECK(!left.failed || fuzz_spent(&v)); /* nothing absorbs it */
        if (!fuzz_spent(&v)) {
            fuzz_check_same(whole, &v);
        }
        il_arena_free(&scratch);
    }
    const il_cel_value v = il_cel_eval(p, c->values.of, NULL);
    if (!fuzz_spent(&v)) {
        fuzz_check_same(whole, &v);
    }
}

/* Evaluates; the value lives in `scratch`. */
static il_cel_value fuzz_evaluate(const fuzz_case *c, const il_cel_program *p, il_arena *scratch) {
    int64_t left = FUZZ_STEPS;
    const il_cel_value v = fuzz_run(c, p, &left, scratch, &fuzz_memory, FUZZ_SCRATCH);
    if (v.kind == IL_CEL_ERROR) {
        il_error err = {0};
        il_cel_explain(p, v, &err);
        fuzz_placed(c, &err);
    }
    if (left < 0) {
        return v;
    }
    const int64_t spent = FUZZ_STEPS - left;
    il_arena other;
    int64_t exact = spent, less = spent - 1;
    const il_cel_value again = fuzz_run(c, p, &exact, &other, &fuzz_memory, FUZZ_SCRATCH);
    fuzz_check_same(&v, &again);
    FUZZ_CHECK(exact == 0);
    il_arena_free(&other);
    if (spent > 0) {
        const il_cel_value none = fuzz_run(c, p, &less, &other, &fuzz_memory, FUZZ_SCRATCH);
        FUZZ_CHECK(fuzz_spent(&none));
        il_arena_free(&other);
    }
    if (!fuzz_spent(&v)) { /* the arena's cap was reached: nothing to compare with */
        fuzz_less_memory(c, p, &v, scratch->used);
    }
    const il_cel_type *type = il_cel_result_type(p);
    FUZZ_CHECK(v.kind == IL_CEL_ERROR || fuzz_is_of(&v, type));
    if (!c->limits.unchecked && !fuzz_tree_has_dyn(p->root)) {
        FUZZ_CHECK((uint64_t)spent <= p->root->cost);
        FUZZ_CHECK(v.kind != IL_CEL_ERROR || (v.fault != IL_CEL_NO_OVERLOAD && v.fault != IL_CEL_UNKNOWN));
        const bool sized = v.kind == IL_CEL_STRING || v.kind == IL_CEL_BYTES || v.kind == IL_CEL_LIST || v.kind == IL_CEL_MAP;
        FUZZ_CHECK(!sized || v.n <= p->root->size);
    }
    return v;
}

static il_str fuzz_print(const il_cel_program *p, il_arena *arena) {
    il_buf b;
    il_str text = {NULL, 0};
    il_buf_init(&b, arena, (size_t)8 << 20);
    il_cel_print(p, &b);
    FUZZ_CHECK(il_buf_done(&b, &text, NULL) == IL_OK);
    return text;
}

static void fuzz_same_type(const il_cel_type *a, const il_cel_type *b) {
    char x[200], y[200];
    const size_t n = il_cel_type_text(a, x, sizeof x);
    FUZZ_CHECK(n < sizeof x && n == il_cel_type_text(b, y, sizeof y) && memcmp(x, y, n) == 0);
}

/* The printed text says the same without lets. */
static void fuzz_printed(const fuzz_case *c, const il_cel_program *first, const il_cel_value *v, il_arena *arena) {
    fuzz_case again = *c;
    il_cel_program *second = NULL;
    il_error err = {0};
    il_arena scratch;
    again.source = fuzz_print(first, arena);
    again.env.nlets = 0;
    again.limits.source_bytes = (size_t)8 << 20;
    const il_status s = il_cel_compile(arena, again.source, 1, 1, &again.env, c->want, &again.limits, &second, &err);
    if (s != IL_OK) {
        fprintf(stderr, "%.*s\n%u:%u: %s\n", IL_STR_ARG(again.source), err.line, err.col, err.msg);
    }
    FUZZ_CHECK(s == IL_OK);
    const il_str text = fuzz_print(second, arena);
    if (!il_str_eq(again.source, text)) {
        fprintf(stderr, "%.*s\n%.*s\n", IL_STR_ARG(again.source), IL_STR_ARG(text));
    }
    FUZZ_CHECK(il_str_eq(again.source, text));
    fuzz_same_type(il_cel_result_type(first), il_cel_result_type(second));
    int64_t steps = FUZZ_STEPS;
    const il_cel_value w = fuzz_run(&again, second, &steps, &scratch, &fuzz_memory, FUZZ_SCRATCH);
    fuzz_check_same(v, &w);
    il_arena_free(&scratch);
}

/* A value that holds nothing of the host's is written as an expression for it. */
static bool fuzz_writable(const il_cel_value *v) {
    il_cel_walk w;
    il_cel_value key, value;
    if (v->kind == IL_CEL_OPTIONAL && v->u.items != NULL) {
        return fuzz_writable(v->u.items);
    }
    if (v->kind == IL_CEL_LIST) {
        for (w = il_cel_walk_of(v); il_cel_walk_item(&w, &value);) {
            if (!fuzz_writable(&value)) {
                return false;
            }
        }
    }
    if (v->kind == IL_CEL_MAP) {
        for (w = il_cel_walk_of(v); il_cel_walk_entry(&w, &key, &value);) {
            if (!fuzz_writable(&value)) {
                return false;
            }
        }
    }
    return v->kind != IL_CEL_ERROR && v->kind != IL_CEL_RECORD && v->kind != IL_CEL_OPAQUE && v->kind != IL_CEL_TYPE;
}

static void fuzz_written(const il_cel_value *v, il_arena *arena) {
    if (!fuzz_writable(v)) {
        return;
    }
    static const il_cel_limits limits = {.size = sizeof limits, .unchecked = true, .depth = 512};
    fuzz_case c = {.limits = limits};
    il_buf b;
    il_buf_init(&b, arena, FUZZ_WRITTEN);
    il_cel_write(v, &b);
    if (il_buf_done(&b, &c.source, NULL) != IL_OK) {
        return; /* too long to read here */
    }
    il_cel_program *p = NULL;
    il_error err = {0};
    il_arena scratch;
    const il_status s = il_cel_compile(arena, c.source, 1, 1, NULL, IL_CEL_NULL, &c.limits, &p, &err);
    if (s == IL_E_LIMIT) {
        return;
    }
    if (s != IL_OK) {
        fprintf(stderr, "%.*s\n%u:%u: %s\n", IL_STR_ARG(c.source), err.line, err.col, err.msg);
    }
    FUZZ_CHECK(s == IL_OK);
    int64_t steps = FUZZ_STEPS;
    const il_cel_value w = fuzz_run(&c, p, &steps, &scratch, &fuzz_memory, FUZZ_SCRATCH);
    fuzz_check_same(v, &w);
    il_arena_free(&scratch);
}

/* Compiles again where memory ends early. */
static void fuzz_compile_short(const fuzz_case *c, size_t used) {
    fuzz_some left = {c->memory % 8, false};
    const il_alloc some = {fuzz_get_some, fuzz_put, &left};
    for (unsigned i = 0; i < 2; i++) {
        il_arena arena;
        il_cel_program *p = NULL;
        il_error err = {0};
        il_arena_init(&arena, i == 0 ? &fuzz_memory : &some, i == 0 ? used * c->memory / 256 : FUZZ_ARENA);
        const il_status s = il_cel_compile(&arena, c->source, 1, 1, &c->env, c->want, &c->limits, &p, &err);
        if (s != IL_OK) {
            fuzz_refused(c, s, p, &err);
        }
        il_arena_free(&arena);
    }
}

static void fuzz_read(void *ctx, size_t var, size_t field) {
    (void)ctx;
    FUZZ_CHECK(var < FUZZ_VARS && (field == SIZE_MAX || field < 4));
}

static void fuzz_circumstances(fuzz_case *c, il_str rest, il_json_doc **doc) {
    fuzz_input in = {(const uint8_t *)rest.p, rest.n};
    const uint8_t flags = fuzz_u8(&in), how = fuzz_u8(&in);
    c->memory = fuzz_u8(&in);
    const il_str text = fuzz_bytes(&in, FUZZ_DOC);
    if (il_json_doc_new(&fuzz_memory, text, NULL, doc, NULL) != IL_OK) {
        *doc = NULL; /* null, then */
    }
    const bool bare = (flags & FUZZ_BARE) != 0;
    c->env = (il_cel_env){.size = sizeof c->env,
                          .vars = fuzz_vars,
                          .nvars = FUZZ_VARS,
                          .lets = fuzz_lets,
                          .nlets = bare ? 0 : sizeof fuzz_lets / sizeof fuzz_lets[0],
                          .functions = fuzz_functions,
                          .nfunctions = bare ? 0 : sizeof fuzz_functions / sizeof fuzz_functions[0],
                          .container = flags & FUZZ_CONTAINER ? IL_STR("q.x") : (il_str){NULL, 0},
                          .zone = flags & FUZZ_NO_ZONES ? NULL : fuzz_zone};
    c->want = flags & FUZZ_WANT_BOOL ? IL_CEL_BOOL : IL_CEL_NULL;
    c->limits = (il_cel_limits){.size = sizeof c->limits,
                                .steps = FUZZ_STEPS,
                                .text_bytes = FUZZ_TEXT,
                                .list_items = FUZZ_ITEMS,
                                .dynamic_regex = (flags & FUZZ_DYNAMIC_REGEX) != 0,
                                .list_contains = (flags & FUZZ_LIST_CONTAINS) != 0,
                                .unchecked = (flags & FUZZ_UNCHECKED) != 0};
    if ((flags & FUZZ_TIGHT) != 0) {
        c->limits.depth = how & 1 ? 512 : 1 + (how >> 4);
        c->limits.nodes = how & 2 ? 0 : 1 + (how >> 3);
        c->limits.cost = how & 4 ? UINT64_MAX : 100;
        c->limits.source_bytes = how & 8 ? 0 : how;
    }
    fuzz_values_init(&c->values, *doc != NULL ? il_json_doc_root(*doc) : NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static fuzz_case c;
    il_json_doc *doc = NULL;
    il_arena arena, scratch;
    il_error err = {0};
    il_cel_program *program = NULL;
    size_t end = size;
    while (end > 0 && data[end - 1] != 0) {
        end--;
    }
    c.source = (il_str){(const char *)data, end > 0 ? end - 1 : size};
    fuzz_circumstances(&c, (il_str){(const char *)data + (end > 0 ? end : size), end > 0 ? size - end : 0}, &doc);
    il_arena_init(&arena, &fuzz_memory, FUZZ_ARENA);
    const il_status s = il_cel_compile(&arena, c.source, 1, 1, &c.env, c.want, &c.limits, &program, &err);
    const size_t used = arena.used;
    if (s != IL_OK) {
        fuzz_refused(&c, s, program, &err);
    } else {
        il_cel_reads(program, fuzz_read, NULL);
        const il_cel_value v = fuzz_evaluate(&c, program, &scratch);
        fuzz_printed(&c, program, &v, &arena);
        fuzz_written(&v, &arena);
        il_arena_free(&scratch);
    }
    fuzz_compile_short(&c, used);
    il_arena_free(&arena);
    il_json_doc_free(doc);
    return 0;
}
