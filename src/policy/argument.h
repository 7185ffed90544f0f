/* SPDX-License-Identifier: Apache-2.0 */
/* How an entry says which arguments are what: paths (`a`, `a.b`, `a[*].b`) and templates (`{owner}/{repo}`). */
#pragma once
#include "policy/kind.h"
#include "json/node.h"

#define IL_PATH_DEPTH_MAX 16u

typedef struct il_arg_path {
    il_str text;
    uint32_t n;
    il_str *steps; /* a key; p == NULL stands for `[*]` */
} il_arg_path;
IL_NODISCARD il_status il_arg_path_new(il_str text, il_arena *arena, il_arg_path *out, il_error *err);
bool il_arg_path_eq(const il_arg_path *a, const il_arg_path *b);
/* Whether a is a proper beginning of b. */
bool il_arg_path_above(const il_arg_path *a, const il_arg_path *b);

typedef struct il_template_part {
    il_str literal; /* used when `path` is NULL */
    il_arg_path *path;
} il_template_part;
typedef struct il_template {
    il_str text;
    uint32_t n;
    il_template_part *parts;
} il_template;
/* Whether the text is a template, that is, has a brace. */
bool il_template_is(il_str text);
IL_NODISCARD il_status il_template_new(il_str text, il_arena *arena, il_template *out, il_error *err);

typedef enum il_template_fill { IL_TEMPLATE_ABSENT = 0, IL_TEMPLATE_FILLED, IL_TEMPLATE_BAD } il_template_fill;
/* Builds the value from a call's arguments. ABSENT when none of the named arguments is there (null and the empty text are not); BAD when only some are, when one is not a
 * plain text or whole number, or when a value contains a sign that the template or a reader of the value could take for structure. */
IL_NODISCARD il_status il_template_build(const il_template *t, const il_json *args, il_arena *arena, il_template_fill *how,
                                         il_str *value, il_error *err);
/* Models fill optional arguments with an empty text as with null. */
bool il_arg_absent(const il_json *v);
/* Whether a value stands at the end of the path's steps from `from` on, below `node`: of a list of items the first one's. */
bool il_arg_names(const il_arg_path *path, uint32_t from, const il_json *node);
/* Text of a scalar that may name a destination: a string, or a whole number. false for anything else. */
bool il_arg_text(const il_json *v, il_str *out);
