/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of builtin.c's table, and what their files share. Each looks at the kinds of its arguments itself
 * (IL_CEL_NO_OVERLOAD for what it does not take), charges before it works, and takes memory from the run only. A static bound
 * (the il_cel_bound functions) counts one step for the call itself and is never below what the call charges for arguments of
 * those sizes. */
#pragma once
#include "base/double.h"
#include "base/ip.h"
#include "base/time.h"
#include "base/utf8.h"
#include "cel/cost.h"
#include "cel/value.h"

typedef il_cel_value il_cel_fn(il_cel_run *r, const il_cel_value *args, uint32_t nargs);
typedef il_cel_bound il_cel_fn_bound(const uint64_t *sizes, uint32_t n);

/* fn_size.c */
il_cel_fn il_cel_fn_size;
il_cel_fn_bound il_cel_bound_size;

/* fn_convert.c */
il_cel_fn il_cel_fn_int, il_cel_fn_uint, il_cel_fn_double, il_cel_fn_string, il_cel_fn_bytes, il_cel_fn_bool, il_cel_fn_type,
    il_cel_fn_dyn, il_cel_fn_timestamp, il_cel_fn_duration;
il_cel_fn_bound il_cel_bound_parse, il_cel_bound_string, il_cel_bound_same;

/* fn_text.c: looking at texts, and parts of them */
il_cel_fn il_cel_fn_contains, il_cel_fn_starts_with, il_cel_fn_ends_with, il_cel_fn_char_at, il_cel_fn_index_of,
    il_cel_fn_last_index_of, il_cel_fn_substring, il_cel_fn_trim;
il_cel_fn_bound il_cel_bound_scan, il_cel_bound_affix, il_cel_bound_part, il_cel_bound_char;

/* fn_edit.c: new texts from others */
il_cel_fn il_cel_fn_lower_ascii, il_cel_fn_upper_ascii, il_cel_fn_reverse, il_cel_fn_quote, il_cel_fn_replace, il_cel_fn_split,
    il_cel_fn_join;
il_cel_fn_bound il_cel_bound_copy, il_cel_bound_quote, il_cel_bound_replace, il_cel_bound_split, il_cel_bound_join;

/* fn_match.c: patterns that are not constant; the others are compiled with the program */
il_cel_fn il_cel_fn_matches;
il_cel_fn_bound il_cel_bound_matches;

/* fn_format.c */
il_cel_fn il_cel_fn_format;
il_cel_fn_bound il_cel_bound_format;

/* fn_time.c */
il_cel_fn il_cel_fn_get_full_year, il_cel_fn_get_month, il_cel_fn_get_day_of_year, il_cel_fn_get_day_of_month, il_cel_fn_get_date,
    il_cel_fn_get_day_of_week, il_cel_fn_get_hours, il_cel_fn_get_minutes, il_cel_fn_get_seconds, il_cel_fn_get_milliseconds;
il_cel_fn_bound il_cel_bound_time;

/* fn_optional.c */
il_cel_fn il_cel_fn_optional_of, il_cel_fn_optional_none, il_cel_fn_optional_of_non_zero, il_cel_fn_has_value, il_cel_fn_value,
    il_cel_fn_or, il_cel_fn_or_value, il_cel_fn_unwrap;
il_cel_fn_bound il_cel_bound_optional, il_cel_bound_unwrap;

/* fn_network.c */
il_cel_fn il_cel_fn_ip, il_cel_fn_is_ip, il_cel_fn_is_canonical, il_cel_fn_cidr, il_cel_fn_is_cidr, il_cel_fn_family,
    il_cel_fn_is_unspecified, il_cel_fn_is_loopback, il_cel_fn_is_global_unicast, il_cel_fn_is_link_local_multicast,
    il_cel_fn_is_link_local_unicast, il_cel_fn_contains_ip, il_cel_fn_contains_cidr, il_cel_fn_cidr_ip, il_cel_fn_masked,
    il_cel_fn_prefix_length;
il_cel_fn_bound il_cel_bound_address;

/* fn_math.c */
il_cel_fn il_cel_fn_greatest, il_cel_fn_least, il_cel_fn_ceil, il_cel_fn_floor, il_cel_fn_round, il_cel_fn_trunc, il_cel_fn_abs,
    il_cel_fn_sign, il_cel_fn_is_nan, il_cel_fn_is_inf, il_cel_fn_is_finite, il_cel_fn_bit_and, il_cel_fn_bit_or,
    il_cel_fn_bit_xor, il_cel_fn_bit_not, il_cel_fn_bit_shift_left, il_cel_fn_bit_shift_right;
il_cel_fn_bound il_cel_bound_most;

/* fn_encode.c */
il_cel_fn il_cel_fn_base64_encode, il_cel_fn_base64_decode;
il_cel_fn_bound il_cel_bound_encode, il_cel_bound_decode;

/* fn_convert.c: the text of a BOOL, INT, UINT, DOUBLE (in that form), TIMESTAMP, DURATION, IP or CIDR. Returns its bytes; 0 for
 * other kinds and for a moment that has no text. */
enum { IL_CEL_SCALAR_TEXT = IL_DOUBLE_TEXT };
size_t il_cel_scalar_text(const il_cel_value *v, il_double_form form, char out[IL_CEL_SCALAR_TEXT]);

/* Charges for looking at so many bytes of text, which what is below 64 costs nothing of. */
static inline bool il_cel_charge_text(il_cel_run *r, uint64_t bytes) { return il_cel_charge(r, bytes / 64); }
/* A copy of a short text as a value of the run. */
il_cel_value il_cel_copied(il_cel_run *r, il_str text);

/* What the static bounds assume of texts inside a list, of which only the count is known, in all: no more than a message holds.
 * */
#define IL_CEL_ITEMS_TEXT (UINT64_C(4) << 20)
