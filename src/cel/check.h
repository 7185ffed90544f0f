/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the checker share. It refuses what could not be meant (unknown names, operands without an overload,
 * comparisons that are never true, patterns and zones that are none, conditions that could cost too much) and leaves a tree in
 * which every name is a number.
 *
 * Where a message points, and what is underlined (docs/cel.md, Positions):
 *   an undeclared name, an unknown field or function, a call without an overload   the name
 *   an operator or index without an overload, arms of `?:` that differ             the sign (`>=`, `[`, `?`)
 *   an operand that is no bool, a literal never equal, a bad item or key           that part, without parentheses
 *   a pattern                                                                      the place inside the literal
 *   a time zone                                                                    the literal
 *   the kind of the result, a cost                                                 the expression, the part that is too much
 *   the grammar                                                                    the token
 * Columns count code points; what goes over several lines is underlined on its first. Inside a let all of it is in the let's
 * own text. */
#pragma once
#include "cel/builtin.h"
#include "cel/suggest.h"
#include "cel/type.h"

/* The check recurses: what is called once at the end of a path keeps its frame out of those that are repeated with each level. */
#define CHECK_APART __attribute__((noinline))

typedef struct il_cel_checker {
    il_arena *arena;
    const il_cel_env *env;
    const il_cel_limits *limits;
    il_error *err;
    il_cel_types types;
    uint32_t nlocals, visible; /* macro variables around here; those from `visible` on can be named */
    struct il_cel_local {
        il_str name;
        const il_cel_type *type;
        il_cel_extent extent;
    } locals[IL_CEL_LOCALS];
} il_cel_checker;

/* The bytes [from, to) of the node's source are underlined. */
#define CHECK_FAIL(c, node, from, to, code, ...) IL_CEL_FAIL_SPAN((node)->src, (from), (to), (c)->err, (code), __VA_ARGS__)
/* The node's name or sign. */
#define CHECK_FAIL_NAME(c, node, ...) \
    CHECK_FAIL((c), (node), il_cel_check_name_start(node), il_cel_check_name_end(node), IL_E_INVALID, __VA_ARGS__)
/* All of the node. */
#define CHECK_FAIL_NODE(c, node, ...) CHECK_FAIL((c), (node), (node)->start, (node)->end, IL_E_INVALID, __VA_ARGS__)
/* A refusal, which without the check is none: the type is then known at run time only. */
#define CHECK_REFUSE(c, expr)                                                                       \
    do {                                                                                            \
        il_status check_status_ = (expr);                                                           \
        if (check_status_ != IL_OK && !(check_status_ == IL_E_INVALID && (c)->limits->unchecked)) { \
            return check_status_;                                                                   \
        }                                                                                           \
    } while (0)

/* --- check.c --- */
IL_NODISCARD il_status il_cel_check_node(il_cel_checker *c, il_cel_node *n);
IL_NODISCARD il_status il_cel_check_kids(il_cel_checker *c, il_cel_node *n);
/* Where the node's name or sign begins (of `math.abs(x)` with what stands before the dot) and ends; the last word of it. */
static inline size_t il_cel_check_name_start(const il_cel_node *n) {
    return n->op == IL_CEL_OP_CALL && !n->receiver ? n->start : n->at;
}
size_t il_cel_check_name_end(const il_cel_node *n);
static inline il_str il_cel_check_name(const il_cel_node *n) {
    return il_str_part(n->src->text, n->at, il_cel_check_name_end(n));
}
/* The outermost part of what is known of a node's type. */
static inline const il_cel_type *il_cel_check_seen(const il_cel_checker *c, const il_cel_node *n) {
    return il_cel_type_seen(&c->types, n->type);
}
static inline il_cel_node *il_cel_check_second(const il_cel_node *n) { return n->kids != NULL ? n->kids->next : NULL; }
/* The node as it was written, when that is short and on one line; else empty. */
il_str il_cel_check_text(const il_cel_node *n);
/* A type in a message. */
typedef struct il_cel_type_shown {
    char p[120];
} il_cel_type_shown;
il_cel_type_shown il_cel_check_type_name(const il_cel_checker *c, const il_cel_type *t);
/* "; did you mean `size(x) > 0`?", for what is no bool. */
void il_cel_check_say_bool(const il_cel_checker *c, const il_cel_node *n, il_cel_words *w);
IL_NODISCARD il_status il_cel_check_want_bool(il_cel_checker *c, const il_cel_node *n, il_str who);

/* --- check_operator.c: literals, lists and maps, fields, indexes, operators --- */
IL_NODISCARD il_status il_cel_check_operator(il_cel_checker *c, il_cel_node *n);

/* --- check_domain.c: strings of which all values are known --- */
/* `a == b` or `a != b`: an answer that is known beforehand is a mistake. Two literals are left alone. */
IL_NODISCARD il_status il_cel_check_never_equal(il_cel_checker *c, const il_cel_node *op, il_cel_node *a, il_cel_node *b);
/* The same for a value against the items of a list. */
IL_NODISCARD il_status il_cel_check_never_in(il_cel_checker *c, il_cel_node *value, il_cel_node *list);
/* The type of `c ? a : b` whose arms go together: of strings with known values it is all of their words, a literal being one
 * word. */
IL_NODISCARD il_status il_cel_check_arms(il_cel_checker *c, il_cel_node *a, il_cel_node *b, const il_cel_type **out);

/* --- check_macro.c --- */
IL_NODISCARD il_status il_cel_check_macro(il_cel_checker *c, il_cel_node *n);

/* --- check_call.c --- */
IL_NODISCARD il_status il_cel_check_call(il_cel_checker *c, il_cel_node *n);
/* What of several signatures fits the kids: *result is NULL when none does, dyn when those that do give different types.
 * `first` may be NULL. */
void il_cel_check_fit(il_cel_checker *c, const il_cel_overload *overloads, size_t n, bool variadic, const il_cel_node *kids,
                      const il_cel_type **result, const il_cel_overload **first);
