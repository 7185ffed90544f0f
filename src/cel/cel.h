/* SPDX-License-Identifier: Apache-2.0 */
/* The Common Expression Language: parse, check, evaluate. This part covers bool, int, string, lists of these, records,
 * `in`, `exists`, `all`, comparison, arithmetic and `?:`; everything else is a positioned load error.
 *
 * Compile once, evaluate often, from any thread: a program is immutable; evaluation uses only the caller's stack and scratch arena. */
#pragma once
#include "json/node.h"

typedef enum il_cel_kind {
    IL_CEL_ERROR = 0, /* zero-initialised is an error: it never passes for true */
    IL_CEL_NULL,
    IL_CEL_BOOL,
    IL_CEL_INT,
    IL_CEL_STRING,
    IL_CEL_LIST,
    IL_CEL_RECORD
} il_cel_kind;

typedef enum il_cel_fault {
    IL_CEL_NO_FAULT = 0,
    IL_CEL_TYPE,     /* no such overload, or a condition that is not a bool */
    IL_CEL_OVERFLOW, /* int arithmetic */
    IL_CEL_DIVIDE,   /* by zero */
    IL_CEL_MISSING,  /* no such key or index */
    IL_CEL_UNSET,    /* a variable or field that has no value yet */
    IL_CEL_BUDGET    /* steps or memory ran out; nothing absorbs it */
} il_cel_fault;

typedef struct il_cel_value il_cel_value;
struct il_cel_value {
    uint8_t kind;  /* il_cel_kind */
    uint8_t fault; /* il_cel_fault when kind is IL_CEL_ERROR */
    uint32_t n;    /* items of a list, fields of a record */
    union {
        bool b;
        int64_t i;
        il_str s;
        const il_cel_value *items; /* list items, or record fields in declared order; an unset field is {0} */
    } u;
};

typedef struct il_cel_type il_cel_type;
typedef struct il_cel_field {
    il_str name;
    const il_cel_type *type;
} il_cel_field;
struct il_cel_type {
    il_cel_kind kind;           /* IL_CEL_ERROR as a type: anything, known at run time only */
    const il_cel_type *element; /* LIST; NULL: of anything */
    const il_str *domain;       /* STRING with a finite domain: comparing it with another literal is a load error; else NULL */
    size_t ndomain;
    const il_cel_field *fields; /* RECORD: closed, an unknown field is a load error with a suggestion */
    size_t nfields;
    il_str name; /* for messages (`pre`, `call`) */
};

/* What an expression may name. Variables are numbered by their place here. `lets` are names that stand for
 * another expression in parentheses; they are expanded at parse time, each expansion bounded by the node limit. A let sees
 * variables and lets, not the macro variables around its use; it hides a variable of its name.
 *
 * Ownership: programs borrow the types (their names, fields and domains) and the variables' names for as long as they live;
 * the env itself and the lets may go once il_cel_compile has returned. */
typedef struct il_cel_let {
    il_str name;
    il_str source;
    uint32_t line, col; /* of the first character of source in its file */
} il_cel_let;
typedef struct il_cel_env {
    const il_cel_field *vars;
    size_t nvars;
    const il_cel_let *lets;
    size_t nlets;
} il_cel_env;

typedef struct il_cel_limits { /* zero: the default */
    size_t source_bytes;       /* 16 KiB */
    uint32_t depth;            /* 64 */
    uint32_t nodes;            /* 4,096 */
} il_cel_limits;

typedef struct il_cel_program il_cel_program;

/* Compiles `source` (copied) whose first character stands at line/col of its file, so that errors point there. `want` is the kind that the
 * result must have (IL_CEL_NULL: any). IL_E_SYNTAX, IL_E_INVALID (type, unknown name, never-equal; with a suggestion), IL_E_LIMIT. */
IL_NODISCARD il_status il_cel_compile(il_arena *arena, il_str source, uint32_t line, uint32_t col, const il_cel_env *env,
                                      il_cel_kind want, const il_cel_limits *limits, il_cel_program **out, il_error *err);

/* Evaluates with vars[i] for env->vars[i]. Errors are values; `&&`, `||`, `?:`, `exists` and `all` absorb them as CEL says.
 * Allocates nothing unless the expression builds a list or joins strings; `scratch` may be NULL where it does not (else IL_CEL_BUDGET). */
il_cel_value il_cel_eval(const il_cel_program *program, const il_cel_value *vars, il_arena *scratch);

/* True only when the value is the bool true. */
static inline bool il_cel_true(il_cel_value v) { return v.kind == IL_CEL_BOOL && v.u.b; }

static inline il_cel_value il_cel_of_bool(bool b) {
    il_cel_value v = {0};
    v.kind = IL_CEL_BOOL;
    v.u.b = b;
    return v;
}
static inline il_cel_value il_cel_of_int(int64_t i) {
    il_cel_value v = {0};
    v.kind = IL_CEL_INT;
    v.u.i = i;
    return v;
}
static inline il_cel_value il_cel_of_str(il_str s) {
    il_cel_value v = {0};
    v.kind = IL_CEL_STRING;
    v.u.s = s;
    return v;
}
bool il_cel_equal(il_cel_value a, il_cel_value b);

/* Which variables and fields a program reads: calls visit(ctx, var, field) for each `var.field` (field SIZE_MAX for the whole variable).
 * The checker uses it (which variables does a region depend on). */
void il_cel_reads(const il_cel_program *program, void (*visit)(void *ctx, size_t var, size_t field), void *ctx);

/* The expression written back as text, lets expanded, minimal parentheses (exports, reports, round-trip tests). */
void il_cel_print(const il_cel_program *program, il_buf *out);
