/* SPDX-License-Identifier: Apache-2.0 */
/* What all phases ask of values. No function here takes an error for a value unless it says so. */
#pragma once
#include "cel/builtin.h"

/* Items of a LIST, entries of a MAP, without caring whether they are JSON. A walk over a JSON array is linear; il_cel_list_at of one is
 * linear in the index and charges for it. */
typedef struct il_cel_walk {
    const il_cel_value *items;
    const il_json *node;
    uint32_t left;
} il_cel_walk;
il_cel_walk il_cel_walk_of(const il_cel_value *v);         /* LIST or MAP */
bool il_cel_walk_item(il_cel_walk *w, il_cel_value *item); /* of a LIST */
bool il_cel_walk_entry(il_cel_walk *w, il_cel_value *key,
                       il_cel_value *value); /* of a MAP, in key order but for JSON: in text order */
/* `list[i]`: IL_CEL_MISSING outside, IL_CEL_NO_OVERLOAD for an index that is no number, as the language says (2.0 is an index, 1.5 is IL_CEL_BAD_VALUE). */
il_cel_value il_cel_list_at(il_cel_run *r, const il_cel_value *list, const il_cel_value *index);
/* `map[key]`: IL_CEL_MISSING; a key of another kind is missing too. Numeric kinds are one. */
il_cel_value il_cel_map_at(il_cel_run *r, const il_cel_value *map, const il_cel_value *key);
il_cel_value il_cel_map_get(il_cel_run *r, const il_cel_value *map, il_str key); /* `map.key` */

/* `a == b`; charges for items and long texts; when the budget goes the answer is void (r->steps below zero). */
bool il_cel_same(il_cel_run *r, const il_cel_value *a, const il_cel_value *b);
/* The same as an operator answers it: IL_CEL_BUDGET, and, where the program wants operands alike, IL_CEL_NO_OVERLOAD of two kinds. */
il_cel_value il_cel_compared(il_cel_run *r, const il_cel_value *a, const il_cel_value *b);
/* Values of two kinds that are not equal: what the program wants alike and is not. */
static inline bool il_cel_unlike(const il_cel_run *r) { return r->unlike && r->program != NULL && r->program->alike; }
/* Order of two values of one ordered kind, or two numbers: <0, 0, >0; IL_CEL_UNORDERED for NaN, IL_CEL_INCOMPARABLE for kinds without an order. */
#define IL_CEL_UNORDERED 2
#define IL_CEL_INCOMPARABLE 3
int il_cel_order(const il_cel_value *a, const il_cel_value *b);

/* The name that `type(v)` shows and string(type) has: `int`, `google.protobuf.Timestamp`, `optional_type`. */
il_str il_cel_kind_name(il_cel_kind kind);
il_str il_cel_type_name(il_cel_value type); /* of a TYPE value */

/* The value as a literal or, where there is none, as an expression that gives it (`timestamp('…')`). Floating-point shortest. */
void il_cel_write(const il_cel_value *v, il_buf *out);
