/* SPDX-License-Identifier: Apache-2.0 */
/* Members of an object by key. Small objects are searched in line; larger ones carry an AVL tree in key order, so adding, finding and
 * sorting stay O(log n) whatever keys an attacker chooses (a hash without a secret could be made quadratic). */
#pragma once
#include "json/node.h"

/* Appends a member whose key is set. Returns NULL, or the member that has the key already (and adds nothing). */
il_json *il_json_member_add(il_json *object, il_json *member);
/* The member, or NULL. */
il_json *il_json_member_find(const il_json *object, il_str key);
/* The member with the smallest key above that of `after` (of all when NULL) in byte order, or NULL. */
const il_json *il_json_member_above(const il_json *object, const il_json *after);
/* Builds the index anew after the list of members was changed by hand. */
void il_json_member_index(il_json *object);
