/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of one policy: the built-in ones and words of its own (`payee`, `message`), whose values compare like names. */
#pragma once
#include "policy/kind.h"
#include "json/node.h"

#define IL_KINDS_MAX 256u /* of a policy's own */

typedef struct il_kinds {
    uint32_t n;
    il_str words[IL_KINDS_MAX]; /* kind IL_KIND_CUSTOM + i */
} il_kinds;

/* The kind that this word of a document means; a new word becomes a kind. IL_E_INVALID at the member's key for what is no word ([a-z][a-z0-9_]*, at most
 * 32) or looks like a built-in kind mistyped. `word` is the member's key or a part of it. */
IL_NODISCARD il_status il_kinds_take(il_kinds *kinds, il_str word, const il_json *member, il_arena *arena, il_kind *out,
                                     il_error *err);
/* A kind that the policy has; false for an unknown word. */
bool il_kinds_find(const il_kinds *kinds, il_str word, il_kind *out);
/* Empty for a kind of another policy. */
il_str il_kinds_word(const il_kinds *kinds, il_kind kind);
