/* SPDX-License-Identifier: Apache-2.0 */
/* Maps by key, below what value.h says: no budget. */
#pragma once
#include "cel/value.h"

/* The one order that entries of a MAP are sorted in: bools, then numbers as one line, then strings. A double is between two integers or exactly one.
 * IL_CEL_INCOMPARABLE when either can be no key of a map. */
int il_cel_key_order(const il_cel_value *a, const il_cel_value *b);
/* Whether the key is there; *out is its value. */
bool il_cel_map_find(const il_cel_value *map, const il_cel_value *key, il_cel_value *out);
