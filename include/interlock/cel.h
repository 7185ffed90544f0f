/* SPDX-License-Identifier: Apache-2.0 */
/* The Common Expression Language: compile once, evaluate often, from any thread.
 *
 * The whole language of cel-spec (langdef.md) but messages, with the extensions strings, bindings, comprehensions with two variables, optionals,
 * network, math and encoders. Two things differ on purpose: a JSON number without fraction or exponent is an int (or a uint when no int
 * holds it), and regular expressions and constant time zones are compiled, and refused, when the expression is compiled.
 *
 * Errors are values: `&&`, `||`, `?:` and the macros absorb them as the language says. The one that nothing absorbs is IL_CEL_BUDGET.
 *
 * Memory: a program lives in the arena that it was compiled in. A value that an evaluation makes (a joined string, a list) lives in the
 * `scratch` arena of that evaluation; all other values borrow from the program and from the caller's variables.
 * Threads: a program is immutable; evaluation uses the caller's stack and scratch arena only.
 *
 *     static const il_cel_field vars[] = {{{"n", 1}, &il_cel_type_int}};
 *     const il_cel_env env = {.size = sizeof env, .vars = vars, .nvars = 1};
 *     il_arena *arena = il_arena_new(&alloc, 1 << 20);
 *     il_cel_program *p = NULL;
 *     if (il_cel_compile(arena, IL_STR("n % 2 == 0"), 1, 1, &env, IL_CEL_BOOL, NULL, &p, &err) != IL_OK) return refuse(&err);
 *     const il_cel_value n = il_cel_of_int(4);
 *     bool even = il_cel_true(il_cel_eval(p, &n, NULL));
 */
#pragma once
#include "interlock/json.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum il_cel_kind {
    IL_CEL_ERROR = 0, /* zero-initialised is an error: it never passes for true */
    IL_CEL_NULL,
    IL_CEL_BOOL,
    IL_CEL_INT,
    IL_CEL_UINT,
    IL_CEL_DOUBLE,
    IL_CEL_STRING,
    IL_CEL_BYTES,
    IL_CEL_LIST,
    IL_CEL_MAP,
    IL_CEL_TIMESTAMP,
    IL_CEL_DURATION,
    IL_CEL_TYPE, /* a type as a value: `type(x)`, `int` */
    IL_CEL_OPTIONAL,
    IL_CEL_IP,
    IL_CEL_CIDR,
    IL_CEL_RECORD, /* a host's struct: fields in declared order */
    IL_CEL_OPAQUE, /* a host's type; values of it are passed through and compared by their pointer */
    IL_CEL_PARAM   /* in the signature of a function only: a type parameter */
} il_cel_kind;
/* As the kind of a type: anything, known at run time only. */
#define IL_CEL_DYN IL_CEL_ERROR

typedef enum il_cel_fault {
    IL_CEL_NO_FAULT = 0,
    IL_CEL_NO_OVERLOAD, /* no such overload, or a condition that is not a bool */
    IL_CEL_OVERFLOW,    /* of an int, uint, timestamp or duration; a conversion out of range */
    IL_CEL_DIVIDE,      /* by zero */
    IL_CEL_MISSING,     /* no such key or index */
    IL_CEL_UNSET,       /* a variable or field that has no value yet */
    IL_CEL_BAD_VALUE, /* a text that does not read as what it is converted to, an index out of range, a repeated key, an empty optional */
    IL_CEL_UNKNOWN, /* only without the check: an undeclared name or function */
    IL_CEL_BUDGET   /* steps or memory ran out; nothing absorbs it */
} il_cel_fault;

/* A value, 16 bytes, passed by copy. `n` and `u` by kind:
 *   ERROR fault; n: a place in the program, u: more about the fault (il_cel_explain)   BOOL b   INT i   UINT u   DOUBLE d
 *   STRING p, n bytes of valid UTF-8   BYTES p, n bytes
 *   LIST items, n   MAP items, n entries: key, value, key, value …, sorted by il_cel_sort_entries   RECORD items, n fields; an unset one is {0}
 *   LIST and MAP with json set: `node`, an array or object, n its count
 *   TIMESTAMP i: seconds since 1970, n: nanoseconds   DURATION i: nanoseconds   TYPE n: il_cel_kind; `type` where the kind does not say it all
 *   OPTIONAL items: the value, NULL when there is none   IP, CIDR p: il_ip (base/ip.h)   OPAQUE p */
typedef struct il_cel_value il_cel_value;
struct il_cel_value {
    uint8_t kind;  /* il_cel_kind */
    uint8_t fault; /* il_cel_fault when kind is IL_CEL_ERROR */
    bool json;
    uint8_t spare;
    uint32_t n;
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double d;
        const char *p;
        const il_cel_value *items;
        const il_json *node;
        const struct il_cel_type *type;
    } u;
};

typedef struct il_cel_type il_cel_type;
typedef struct il_cel_field {
    il_str name;
    const il_cel_type *type; /* NULL: dyn */
} il_cel_field;
struct il_cel_type {
    il_cel_kind kind;
    uint32_t
        most; /* bytes of a text, items of a LIST, entries of a MAP that the host lets through; 0: the limits' default. The static
                      bound of the cost stands on it: the host keeps it */
    const il_cel_type *element; /* LIST, OPTIONAL: of what; MAP: its values; TYPE: which. NULL: dyn */
    const il_cel_type *key;     /* MAP; NULL: dyn */
    const il_str *domain;       /* STRING with a finite domain: comparing it with another literal is a load error; else NULL */
    size_t ndomain;
    const il_cel_field *fields; /* RECORD, and MAP with known keys: closed, an unknown field is a load error with a suggestion.
                                   OPAQUE: its type arguments (names unused) */
    size_t nfields;
    il_str name; /* for messages (`pre`, `call`); of an OPAQUE type or a PARAM its identity */
};
extern IL_API const il_cel_type il_cel_type_dyn, il_cel_type_null, il_cel_type_bool, il_cel_type_int, il_cel_type_uint,
    il_cel_type_double, il_cel_type_string, il_cel_type_bytes, il_cel_type_timestamp, il_cel_type_duration, il_cel_type_ip,
    il_cel_type_cidr, il_cel_type_list, il_cel_type_map, il_cel_type_json; /* list(dyn), map(dyn, dyn), map(string, dyn) */

/* A host's function. Errors among the arguments never reach it, nor an argument of another kind than declared (null where the kind allows null); what a
 * list or map holds is not looked at. It returns an error value of any fault for what it cannot do. */
typedef struct il_cel_function {
    il_str name; /* may be qualified: `net.unwrap` */
    const il_cel_type *const *params;
    size_t nparams; /* at most 8 */
    const il_cel_type *result;
    il_cel_value (*call)(void *ctx, const il_cel_value *args, size_t nargs); /* NULL: can be checked, not evaluated */
    void *ctx;
    uint32_t cost; /* steps, charged before it is called */
    bool receiver; /* called as x.name(...): x is the first argument */
    bool
        per_call; /* `ctx` is not the function's but the evaluation's: what il_cel_eval_in is given. Without it (il_cel_eval) a call is
                      IL_CEL_UNSET, and what is asked of a program without evaluating it takes the answer as unknown */
} il_cel_function;

/* A name that stands for another expression in parentheses. It is expanded at parse time, each expansion bounded by the node limit.
 * A let sees variables and lets, not the macro variables around its use; it hides a variable of its name. */
typedef struct il_cel_let {
    il_str name;
    il_str source;
    uint32_t line, col; /* of the first character of source in its file */
} il_cel_let;

/* What an expression may name. Variables are numbered by their place here; a name with dots (`x.y`) is a qualified one, and the
 * longest that fits wins. `container`: names are looked up in it first (cel-spec, Name Resolution).
 *
 * Ownership: programs borrow the types (their names, fields and domains), the variables' names, the functions and `zone_ctx` for as long as they
 * live; the env itself, the container and the lets may go once il_cel_compile has returned. */
typedef struct il_cel_env {
    size_t size; /* sizeof(il_cel_env) */
    const il_cel_field *vars;
    size_t nvars;
    const il_cel_let *lets;
    size_t nlets;
    const il_cel_function *functions;
    size_t nfunctions;
    il_str container;
    /* Seconds that `zone` (`Europe/Vienna`; never UTC or a fixed offset) is east of UTC at `seconds` since 1970; false: no such zone.
     * NULL: there are none. Called while compiling (is there such a zone?) and while evaluating, from any thread. */
    bool (*zone)(void *ctx, il_str zone, int64_t seconds, int32_t *east);
    void *zone_ctx;
    const struct il_cel_families *families; /* names with an index, of machine documents; NULL: there are none. May go likewise */
} il_cel_env;

typedef struct il_cel_limits { /* zero: the default, but for `size` */
    size_t size;               /* sizeof(il_cel_limits) */
    size_t source_bytes;       /* 16 KiB */
    uint32_t depth;            /* 64, at most 512; in WebAssembly, whose stack is 256 KiB, at most 128. More is IL_E_ARGUMENT */
    uint32_t nodes;            /* 4,096 */
    uint64_t cost;             /* 10,000,000: static bound on steps; above it the expression is refused */
    uint64_t steps;            /* 10,000,000: what one evaluation may spend */
    uint32_t text_bytes;       /* 65,536: what the static bound assumes of a string it knows nothing about */
    uint32_t list_items;       /* 1,024: the same of a list or map */
    bool dynamic_regex;        /* `matches` with a pattern that is not constant: else a load error */
    bool list_contains;        /* `list.contains(x)` for `x in list`: documents of Interbolt have it. Else a load error */
    bool
        alike; /* operands of `==`, `!=` and `in` that are of two kinds are an error, where the language says that they differ; so is what runs over a
                   map, or looks in one, of which only the run shows that it is no list (docs/cel.md, Operands alike) */
    bool unchecked; /* no types and no unknown names at load: they are errors of the evaluation. For tests of conformance */
} il_cel_limits;

typedef struct il_cel_program il_cel_program;

/* Compiles `source` (copied) whose first character stands at line/col of its file, so that errors point there. `env` and `limits` may be
 * NULL. `want` is the kind that the result must have (IL_CEL_NULL: any). IL_E_SYNTAX, IL_E_INVALID (type, unknown name, never-equal,
 * pattern, zone; with a suggestion), IL_E_LIMIT, IL_E_MEMORY. */
IL_API IL_NODISCARD il_status il_cel_compile(il_arena *arena, il_str source, uint32_t line, uint32_t col, const il_cel_env *env,
                                             il_cel_kind want, const il_cel_limits *limits, il_cel_program **out, il_error *err);

/* Evaluates with vars[i] for env->vars[i]. Never fails but by an error value. Allocates nothing unless the expression makes a string, list,
 * map, optional or address; `scratch` may be NULL where it does not (else IL_CEL_BUDGET). */
IL_API il_cel_value il_cel_eval(const il_cel_program *program, const il_cel_value *vars, il_arena *scratch);
/* The same with a context of this evaluation for the functions that are `per_call`. It gives them what no expression could name: what a
 * program is evaluated about. */
IL_API il_cel_value il_cel_eval_in(const il_cel_program *program, const il_cel_value *vars, il_arena *scratch, void *host);

/* What the program's result is, as the checker found it. Borrowed from the program. */
IL_API const il_cel_type *il_cel_result_type(const il_cel_program *program);

/* What an error value of this program means and where in the source it came from, into the caller's *err (NULL: nothing is done). Of a value that is no
 * error it says so. */
IL_API void il_cel_explain(const il_cel_program *program, il_cel_value error, il_error *err);

/* True only when the value is the bool true. */
static inline bool il_cel_true(il_cel_value v) { return v.kind == IL_CEL_BOOL && v.u.b; }
/* The bytes of a STRING or BYTES; empty for other kinds. */
static inline il_str il_cel_str(il_cel_value v) {
    il_str s = {NULL, 0};
    if (v.kind == IL_CEL_STRING || v.kind == IL_CEL_BYTES) {
        s.p = v.u.p;
        s.n = v.n;
    }
    return s;
}
static inline il_cel_value il_cel_of(il_cel_kind kind, uint32_t n) {
    il_cel_value v = {0, 0, false, 0, 0, {0}};
    v.kind = (uint8_t)kind;
    v.n = n;
    v.u.u = 0;
    return v;
}
static inline il_cel_value il_cel_of_fault(il_cel_fault fault) {
    il_cel_value v = il_cel_of(IL_CEL_ERROR, 0);
    v.fault = (uint8_t)fault;
    return v;
}
static inline il_cel_value il_cel_of_bool(bool b) {
    il_cel_value v = il_cel_of(IL_CEL_BOOL, 0);
    v.u.b = b;
    return v;
}
static inline il_cel_value il_cel_of_int(int64_t i) {
    il_cel_value v = il_cel_of(IL_CEL_INT, 0);
    v.u.i = i;
    return v;
}
static inline il_cel_value il_cel_of_uint(uint64_t u) {
    il_cel_value v = il_cel_of(IL_CEL_UINT, 0);
    v.u.u = u;
    return v;
}
static inline il_cel_value il_cel_of_double(double d) {
    il_cel_value v = il_cel_of(IL_CEL_DOUBLE, 0);
    v.u.d = d;
    return v;
}
/* Valid UTF-8; a text of 4 GiB or more is IL_CEL_BUDGET. */
static inline il_cel_value il_cel_of_str(il_str s) {
    if (s.n > UINT32_MAX) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    il_cel_value v = il_cel_of(IL_CEL_STRING, (uint32_t)s.n);
    v.u.p = s.p;
    return v;
}
static inline il_cel_value il_cel_of_bytes(il_str s) {
    il_cel_value v = il_cel_of_str(s);
    v.kind = v.kind == IL_CEL_STRING ? (uint8_t)IL_CEL_BYTES : v.kind;
    return v;
}
/* `items`: n items (LIST) or fields (RECORD), or 2 n keys and values in il_cel_sort_entries' order (MAP). */
static inline il_cel_value il_cel_of_items(il_cel_kind kind, const il_cel_value *items, uint32_t n) {
    il_cel_value v = il_cel_of(kind, n);
    v.u.items = items;
    return v;
}
/* A view, no copy: the document outlives the value. NULL is null. Numbers are int, uint or double as said on top. */
IL_API il_cel_value il_cel_of_json(const il_json *v);

/* `==` of the language between two values that are no errors; two errors are equal when their faults are. */
IL_API bool il_cel_equal(il_cel_value a, il_cel_value b);
/* Orders n entries (key, value, …) as a MAP wants them. False (order unspecified) when a key is repeated or of a kind that is no key. */
IL_API bool il_cel_sort_entries(il_cel_value *entries, uint32_t n);

#ifdef __cplusplus
}
#endif
