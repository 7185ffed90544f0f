/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the expression language share. */
#pragma once
#include "cel/ast.h"

/* An allocator over malloc that can be told to fail: after `left` good allocations every further one fails (SIZE_MAX: never). */
typedef struct cel_memory {
    il_alloc alloc;
    size_t left, calls;
} cel_memory;
void cel_memory_init(cel_memory *m, size_t left);

/* Compiles and evaluates in an arena of its own. */
typedef struct cel_case {
    cel_memory memory;
    il_arena arena;
    il_error err;
    il_status status;
    il_cel_program *program;
    bool alike; /* of what is compiled: limits.alike */
} cel_case;
void cel_case_init(cel_case *c);
void cel_case_free(cel_case *c);
il_status cel_compile(cel_case *c, const char *text, const il_cel_env *env, il_cel_kind want);
il_cel_value cel_eval(cel_case *c, const il_cel_value *vars);
/* The expression printed back, NUL-terminated, owned by the case. */
const char *cel_printed(cel_case *c);

/* An environment with one of each type that this part knows:
 *   b, b2 bool; i, j int; s string; word string of none fresh held; words list of the same; ints list(int); names list(string);
 *   r record rec {b bool; i int; s string; word; ints}; rs list(rec); any dyn; lists list(list(int))
 *   lets: yes `b`, sum `i + j`, both `b && b2`, self `self`, ping `pong`, pong `ping`, bad `i + `, wrong `i + s`, hides `s` */
extern const il_cel_env cel_env;
enum {
    CEL_B,
    CEL_B2,
    CEL_I,
    CEL_J,
    CEL_S,
    CEL_WORD,
    CEL_WORDS,
    CEL_INTS,
    CEL_NAMES,
    CEL_R,
    CEL_RS,
    CEL_ANY,
    CEL_LISTS,
    CEL_NVARS
};
/* Values for it: b true, b2 false, i 7, j -3, s 'text', word 'fresh', words ['none','held'], ints [1,2,3], names ['a','b'],
 * r {true, 1, 'one', 'held', [4]}, rs [r, {b unset, i 2, ...}], any unset, lists [[1],[2,3]]. */
void cel_values(il_cel_value vars[CEL_NVARS]);
