/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations inside text: email addresses, URLs and account numbers (IBAN), and URLs nested in another URL's path, query or fragment. */
#pragma once
#include "policy/kind.h"

#define IL_TEXT_FOUND_MAX 1024u /* of one text; more are not judged but refused */

/* Called with each find, as it stands in the text. A `token` that is empty stands for something that looks like a destination and cannot
 * be read as one. Returns false to stop. */
typedef bool (*il_text_found)(void *ctx, il_kind kind, il_str token);

/* Finds everything that this page knows; errs towards finding too much. IL_E_LIMIT above IL_TEXT_FOUND_MAX; IL_E_MEMORY. */
IL_NODISCARD il_status il_text_destinations(il_str text, il_arena *scratch, il_text_found found, void *ctx, il_error *err);
/* Only what is nested in one URL, itself not included. */
IL_NODISCARD il_status il_text_nested(il_str url, il_arena *scratch, il_text_found found, void *ctx, il_error *err);
