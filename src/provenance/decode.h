/* SPDX-License-Identifier: Apache-2.0 */
/* The readings of a text: itself, and what it says where something in it is written in JSON escapes, percent escapes, HTML entities, base64, base64url or
 * hex, one inside the other up to IL_READ_LEVELS deep, anywhere, and over line ends. Whoever reads the text later may decode it, so what it says in any
 * reading counts as its content.
 *
 * Escapes are decoded where they stand, with some text around them. Base64 and hex are decoded as a whole where that gives text; else at each alignment, and
 * the parts that are text are kept from IL_READ_PART characters on, so that what was cut in the middle, or lies in a binary file, is read too. */
#pragma once
#include "provenance/normal.h"

enum { IL_READ_LEVELS = 4, IL_READ_PART = 12 };

/* Appends all readings to the stream, each between two marks. *cut: there were more, or larger ones, than are looked at. `scratch` holds what is decoded
 * on the way. Places are bytes of `text`; it has less than 4 GiB. Fails for memory only. */
IL_NODISCARD il_status il_read(il_stream *out, il_str text, il_arena *scratch, bool *cut, il_error *err);
