/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of tool names: `*` (any run of characters, also none) and `(a|b)` are the only signs. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#define IL_GLOB_FORMS_MAX 256u /* alternatives multiplied out */

typedef struct il_glob {
    bool exact;    /* no sign: one name */
    il_str text;   /* as written */
    il_str *forms; /* without alternatives, stars only */
    uint32_t nforms;
} il_glob;

/* IL_E_INVALID for an empty pattern, a nested or unclosed group, an empty alternative, or any other character than letters, digits and
 * `. _ - / : @`; IL_E_LIMIT for more than IL_GLOB_FORMS_MAX forms. */
IL_NODISCARD il_status il_glob_new(il_str text, il_arena *arena, il_glob *out, il_error *err);
bool il_glob_matches(const il_glob *g, il_str name);
/* One form, where `*` stands for any run of characters, also none. `nocase`: letters of ASCII in either case. */
bool il_stars_match(il_str form, il_str name, bool nocase);
/* Whether two forms match some name in common. */
bool il_stars_meet(il_str a, il_str b);
/* Whether every name that `inner` matches is matched by `outer`. */
bool il_stars_within(il_str inner, il_str outer);
/* Whether a name has only characters that a pattern can name. */
bool il_glob_name_ok(il_str name);
