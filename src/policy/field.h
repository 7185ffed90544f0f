/* SPDX-License-Identifier: Apache-2.0 */
/* What an entry says of its results (`result`, `remember`): how items and their fields are found, and how far each field may be believed. */
#pragma once
#include "policy/kinds.h"
#include "provenance/episode.h"
#include "json/node.h"

#define IL_FIELD_DEPTH_MAX 16u /* steps of a path */
#define IL_FIELDS_MAX 64u      /* of one entry */

typedef enum il_step_of { IL_STEP_KEY, IL_STEP_EVERY, IL_STEP_INDEX } il_step_of;
typedef struct il_field_step {
    il_step_of of;
    il_str key;
    uint32_t index;
} il_field_step;
typedef struct il_field_path { /* `a.b`, `a[*].b`, `a[0]`; from the item, or from the root for `$...` */
    il_str text;
    uint32_t n;
    il_field_step *steps;
} il_field_path;
bool il_field_path_eq(const il_field_path *a, const il_field_path *b);

typedef struct il_field {
    il_kind kind;
    il_standing standing;
    bool has_via;
    il_field_path path, via;
} il_field;

typedef enum il_result_from {
    IL_FROM_ANY = 0,    /* structured content, else the text as JSON */
    IL_FROM_STRUCTURED, /* structured content */
    IL_FROM_JSON,       /* JSON in a text */
    IL_FROM_TEXT        /* `Name: value` lines at the head of a text */
} il_result_from;

typedef struct il_result_form {
    il_result_from from;
    il_field_path items; /* no steps: the whole is the one item */
    uint32_t nfields;
    il_field *fields;
} il_result_form;

typedef struct il_remember {
    il_str name;
    bool line; /* what stands behind `prefix` on the one line of the result's texts that begins with it */
    il_str prefix;
    il_field_path path; /* else: from the root of the result */
} il_remember;

/* `result` of an entry. Positioned errors. */
IL_NODISCARD il_status il_result_form_load(const il_json *result, il_kinds *kinds, il_arena *arena, il_result_form *out,
                                           il_error *err);
/* One member of `remember`: `result.first_line("- Page URL: ")`, or a path such as `$.page.url`. */
IL_NODISCARD il_status il_remember_load(const il_json *member, il_arena *arena, il_remember *out, il_error *err);

/* Which item of which list a `[*]` stands for. */
typedef struct il_field_every {
    const il_json *list, *item;
} il_field_every;
/* The node that the path leads to; NULL when it leads nowhere, or through a list of which `every` does not say which item is meant. */
const il_json *il_field_at(const il_json *from, const il_field_path *path, const il_field_every *every, uint32_t nevery);
