/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions in RE2's syntax, for the question "does it match somewhere in the text?". The time of a search is linear in
 * the text whatever the pattern. No backreference, no look-around; the pattern and the text are UTF-8, `\d \w \s \b` are ASCII, `$`
 * without `(?m)` is the end of the text only. The work is done when a pattern is compiled; a search allocates nothing and fails only
 * when its budget runs out.
 * Threads: an il_regex is immutable and may be shared by any number of them.
 *
 *     il_regex *re = NULL;
 *     IL_TRY(il_regex_compile(arena, IL_STR("^https://([a-z0-9-]+\\.)*example\\.com/"), &re, err));
 *     int64_t steps = 1000;
 *     const int found = il_regex_search(re, url, &steps);      // 1, 0, or IL_REGEX_SPENT
 */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

typedef struct il_regex il_regex;

enum {
    IL_REGEX_PATTERN_BYTES = 16384, /* the longest pattern */
    IL_REGEX_REPEAT = 1000,         /* the largest count, and the largest product of counts that are nested */
    IL_REGEX_DEPTH = 250,           /* levels of nesting */
    IL_REGEX_SPENT = -1,            /* il_regex_search: the budget ran out before there was an answer */
};

/* Compiles; *out lives in `arena`, up to a few hundred KiB. What is needed in between (32 MiB at most) comes from the arena's allocator
 * and is given back. Fails with IL_E_SYNTAX (not a regular expression), IL_E_INVALID (one that a linear-time engine has not:
 * backreference, look-around), IL_E_LIMIT (too long, too deep, repeats above 1000, too large a program, or the arena's cap) or
 * IL_E_MEMORY; then *out is NULL. A refusal of the pattern has err->line 1, err->col (code points of the pattern, from 1) and
 * err->offset (bytes of the pattern, from 0). */
IL_NODISCARD il_status il_regex_compile(il_arena *arena, il_str pattern, il_regex **out, il_error *err);

/* As il_regex_compile, for a pattern that comes with the data and is searched for once: quicker to compile, slower to search. The work is
 * taken from *steps; when it is more than there is, IL_E_LIMIT and *steps is not above 0. NULL: the bound that il_regex_compile has. */
IL_NODISCARD il_status il_regex_compile_once(il_arena *arena, il_str pattern, int64_t *steps, il_regex **out, il_error *err);

/* Whether the pattern matches anywhere in `text`, which is valid UTF-8 (with other bytes the answer means nothing): 1, 0 or
 * IL_REGEX_SPENT. What it costs is taken from *steps, at most il_regex_weight() * (text.n / 64 + 1); when less is left there is no
 * answer and *steps becomes 0. NULL: no bound. Takes some 20 KiB of stack. */
IL_NODISCARD int il_regex_search(const il_regex *re, il_str text, int64_t *steps);

/* The most steps that 64 bytes of text cost. A step is the work of looking at 16 bytes of text. */
uint32_t il_regex_weight(const il_regex *re);
