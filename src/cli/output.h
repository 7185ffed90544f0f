/* SPDX-License-Identifier: Apache-2.0 */
/* What commands print. Text from outside (names, ids, messages) goes through il_put_text, so that it cannot drive a terminal. */
#pragma once
#include <stdio.h>

#include "cli/command.h"
#include "json/node.h"

/* Writes text with control, bidirectional and invisible characters as \u{..} and bytes that are not UTF-8 as \xNN. Tab and line feed too. */
void il_put_text(FILE *to, il_str s);
/* As il_put_text, filled with blanks to `columns` (code points). */
void il_put_cell(FILE *to, il_str s, size_t columns);
/* `2026-01-31T12:00:00.000Z` */
void il_put_time(FILE *to, uint64_t ms);
/* One line of canonical JSON. */
IL_NODISCARD il_status il_put_json(FILE *to, const il_json *v, il_error *err);
/* `untrusted egress`: words in the fixed order; `-` when there is none. */
void il_put_effects(FILE *to, uint32_t effects);
void il_put_effects_cell(FILE *to, uint32_t effects, size_t columns);
/* The same as a JSON array; NULL without memory. */
il_json *il_json_effects(il_arena *arena, uint32_t effects);

/* The exit code that a failure stands for: 5 for memory, disk and broken invariants, else 3. */
il_exit il_exit_of(il_status status);
/* `FILE:LINE:COL: error: message`, as compilers write it (`file` may be NULL), and the exit code of the error. */
il_exit il_fail(const char *file, const il_error *err);
/* Wrong use of a command: the message, and where its help is. Always 3. */
il_exit il_fail_usage(const char *command, const il_error *err);
IL_PRINTF(2, 3) il_exit il_usage(const char *command, const char *fmt, ...);
