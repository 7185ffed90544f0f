/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on il_str. All are pure; none allocates. */
#pragma once
#include "base/mem.h"

static inline bool il_str_eq(il_str a, il_str b) { return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0); }
/* Byte order, which for valid UTF-8 is code point order: <0, 0 or >0. */
int il_str_cmp(il_str a, il_str b);
/* From a NUL-terminated string (borrowed). */
il_str il_str_of(const char *z);
bool il_str_starts(il_str s, il_str prefix);
bool il_str_ends(il_str s, il_str suffix);
/* Offset of the first `needle` at or after `from`, or SIZE_MAX. Linear in both lengths, as the next. */
size_t il_str_find(il_str s, il_str needle, size_t from);
/* Offset of the last `needle`, or SIZE_MAX. */
size_t il_str_find_last(il_str s, il_str needle);
/* The part [from, to); clamped to the string. */
il_str il_str_part(il_str s, size_t from, size_t to);
/* ASCII letters only; other bytes are compared as they are. */
bool il_str_eq_nocase(il_str a, il_str b);
/* Damerau-Levenshtein distance of two short names, for "did you mean"; UINT_MAX above 32 bytes. */
unsigned il_str_distance(il_str a, il_str b);
/* Decimal int64; false on overflow, sign only, or any other character. */
bool il_str_int(il_str s, int64_t *out);
