/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 (RFC 3629): bytes and code points. All are pure. */
#pragma once
#include "base/str.h"

/* Length (1 to 4) of the well-formed sequence that `p` begins with, 0 when there is none in `n` bytes. */
size_t il_utf8_length(const unsigned char *p, size_t n);
/* The code point of a well-formed sequence of n bytes (il_utf8_length). */
uint32_t il_utf8_point(const unsigned char *p, size_t n);
/* Writes a code point up to 0x10ffff; returns how many bytes (1 to 4). */
size_t il_utf8_put(uint32_t point, char out[4]);
/* Whether the bytes are well-formed, without surrogates; *bad (when not NULL) gets the first offset that is not. */
bool il_str_utf8(il_str s, size_t *bad);

/* The next three take well-formed text; of other bytes they count those that do not continue a sequence (not 10xxxxxx). */
/* How many code points. */
size_t il_utf8_count(il_str s);
/* Offset of the byte where code point n begins (from 0); s.n when there are just n; SIZE_MAX when there are fewer. */
size_t il_utf8_offset(il_str s, size_t n);
/* The code points [from, to), which must lie within the text; false (nothing written) otherwise. */
bool il_utf8_part(il_str s, size_t from, size_t to, il_str *out);
