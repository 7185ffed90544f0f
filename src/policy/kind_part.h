/* SPDX-License-Identifier: Apache-2.0 */
/* The parsers that kinds are made of. Each reads its text wholly or refuses it with a reason; none guesses. */
#pragma once
#include "policy/kind.h"

#define IL_KIND_BYTES_MAX 8192u /* of any value */
#define IL_HOST_BYTES_MAX 253u  /* RFC 1035 */

/* Shapes of a pattern, as bits: a host may have both. 0 is one exact value. */
#define IL_SHAPE_MAIL_DOMAIN 1u /* text: the domain */
#define IL_SHAPE_SUBDOMAINS 2u  /* text: the host, without the leading dot */
#define IL_SHAPE_ANY_PORT 4u
#define IL_SHAPE_PREFIX 8u /* text ends with the `/` before the star */

/* Whether the text is valid UTF-8 without controls (C0, DEL, C1), invisible or direction-changing characters. */
bool il_text_visible(il_str text);
static inline bool il_ascii_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool il_ascii_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static inline bool il_ascii_alnum(char c) { return il_ascii_digit(c) || il_ascii_alpha(c); }
static inline char il_ascii_lower(char c) { return (c >= 'A' && c <= 'Z') ? (char)(c - 'A' + 'a') : c; }
static inline char il_ascii_upper(char c) { return (c >= 'a' && c <= 'z') ? (char)(c - 'a' + 'A') : c; }
/* Value of a hexadecimal digit, -1 for another character. */
static inline int il_ascii_hex(char c) {
    if (il_ascii_digit(c)) {
        return c - '0';
    }
    c = il_ascii_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A host name or address literal, with an optional port. Names: letters, digits, `-` and `_`, lower-cased, one trailing dot dropped.
 * Anything whose last label a resolver could read as a number must be four plain decimal octets. `literal` says that it is an address. */
typedef struct il_host_part {
    il_str host; /* canonical, without the port; an IPv6 literal keeps its brackets */
    il_str port; /* decimal digits, empty when there is none */
    bool literal;
} il_host_part;
IL_NODISCARD il_status il_host_part_read(il_str text, il_arena *arena, il_host_part *out, il_error *err);

IL_NODISCARD il_status il_url_read(il_str text, il_arena *arena, il_str *canonical, il_error *err);
IL_NODISCARD il_status il_email_read(il_str text, il_arena *arena, il_str *canonical, il_error *err);
/* `a/b` and deeper (repo) or absolute and `~/` (path); whole segments, none of them `.`, `..` or empty. */
IL_NODISCARD il_status il_repo_read(il_str text, il_arena *arena, il_str *canonical, il_error *err);
IL_NODISCARD il_status il_path_read(il_str text, il_arena *arena, il_str *canonical, il_error *err);
IL_NODISCARD il_status il_account_read(il_str text, il_arena *arena, il_str *canonical, il_error *err);
IL_NODISCARD il_status il_channel_read(il_str text, il_arena *arena, il_str *canonical, il_error *err);
IL_NODISCARD il_status il_name_read(il_str text, il_arena *arena, il_str *canonical, il_error *err);
/* Where `:port` of a canonical host begins; its length when there is none. */
size_t il_kind_port_at(il_str host);
