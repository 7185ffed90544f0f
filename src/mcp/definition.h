/* SPDX-License-Identifier: Apache-2.0 */
/* What a server says of its tools, prompts and resources: which of it is left out, and how the words of a server outside are cleaned. */
#pragma once
#include "mcp/mediate.h"
#include "json/node.h"

#define IL_DEFINITION_DEPTH 32 /* of a schema */

/* Whether the items of this listing have names that are called: tools and prompts. */
bool il_definition_named(il_message message);
/* Why an item of a listing is left out, in words for the log; NULL when it is not. A name outside the rule, a schema that is too deep or refers to
 * another document (whoever resolves it fetches it), and, of a server outside, a key with characters that nobody sees. */
const char *il_definition_fault(il_message message, const il_json *item, bool inside);
/* A copy for the words of a server outside: without characters that nobody sees, without controls but line ends and tabs, and of its icons only
 * those that are not fetched. `hidden` counts what was taken out. NULL when the arena is out of memory. */
il_json *il_definition_clean(il_arena *a, const il_json *item, size_t *hidden);
/* Whether this character is taken out. */
bool il_text_unseen(uint32_t c);
/* The same for one text. False: out of memory. */
bool il_text_clean(il_arena *a, il_str text, il_str *out, size_t *hidden);
