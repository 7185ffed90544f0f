/* SPDX-License-Identifier: Apache-2.0 */
/* The text between and around the scalars: what libyaml lets pass and YAML 1.2 readers do not, or where a value would silently be lost. */
#pragma once
#include "json/node.h"

/* A position in the text that can be moved to any code point index; a step costs one code point. */
typedef struct il_yaml_place {
    size_t index, at; /* in code points, in bytes */
} il_yaml_place;

/* What surrounds the text that is looked at. */
typedef struct il_yaml_around {
    bool flow;  /* inside [ ] or { } */
    bool inner; /* and those are inside others */
    int indent; /* column (from 0) of the innermost block mapping or sequence, -1 outside any */
} il_yaml_around;

/* Byte offset of code point `index`. */
size_t il_yaml_seek(il_yaml_place *place, il_str text, size_t index);

/* Refuses invalid UTF-8, a byte order mark, characters that are not printable or that end lines in YAML 1.1 only (NEL, LS, PS), and a
 * carriage return without a line feed. */
IL_NODISCARD il_status il_yaml_characters(il_str text, il_error *err);
/* Judges the white space, indicators and comments in [from, to). */
IL_NODISCARD il_status il_yaml_gap(il_str text, size_t from, size_t to, il_yaml_around around, il_error *err);
/* The lines after the first of a quoted or plain scalar must be indented deeper than what holds it. */
IL_NODISCARD il_status il_yaml_folded(il_str text, size_t from, size_t to, il_yaml_around around, il_error *err);
/* A `\` at the end of a line inside double quotes is refused: readers keep different blank lines after it. */
IL_NODISCARD il_status il_yaml_escapes(il_str text, size_t from, size_t to, il_error *err);
/* The first line of a block scalar (`|` or `>` at `at`): a comment on it is judged as elsewhere. */
IL_NODISCARD il_status il_yaml_header(il_str text, size_t at, il_error *err);
/* A block scalar of this value, from `from` to `to`: refuses lines of nothing but spaces where readers keep or drop them, or find its indentation by
 * them: those that reach into it at its end, and any when it has no other. `cut`: the text ended within such a line. */
IL_NODISCARD il_status il_yaml_tail(il_str text, size_t from, size_t to, il_str value, bool cut, il_error *err);
/* Between a key that ends at `from` and its text at `to`: a comment further left than `indent` is refused, as not every reader finds the text behind it. */
IL_NODISCARD il_status il_yaml_remark(il_str text, size_t from, size_t to, int indent, il_error *err);
/* Whether a lone carriage return stands in `text`: white space in JSON, text or nothing in YAML. */
bool il_yaml_lone_return(il_str text);
/* A value is missing at `at`: refuses when a comment without a space (`#x`) stands where it was expected. */
IL_NODISCARD il_status il_yaml_missing(il_str text, size_t at, il_yaml_around around, il_error *err);
/* Whether a `:` follows at `at`, after blanks (libyaml wants it on the key's line). */
bool il_yaml_colon(il_str text, size_t at);
/* The run of non-blank bytes at `at`, cut to what a message can show. */
il_str il_yaml_word(il_str text, size_t at);
/* IL_E_SYNTAX at a byte offset. */
IL_PRINTF(4, 5) il_status il_yaml_refuse(il_str text, size_t at, il_error *err, const char *fmt, ...);
