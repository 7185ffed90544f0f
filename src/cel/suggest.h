/* SPDX-License-Identifier: Apache-2.0 */
/* What a message says to do next: the nearest of the names that there are, and what other languages' words are called here. */
#pragma once
#include "base/str.h"
#include "interlock/base.h"

/* A piece of a message. What does not fit is cut. */
typedef struct il_cel_words {
    size_t n;
    char p[200];
} il_cel_words;
static inline void il_cel_words_init(il_cel_words *w) {
    w->n = 0;
    w->p[0] = 0;
}
IL_PRINTF(2, 3) void il_cel_say(il_cel_words *w, const char *fmt, ...);
/* "`a`, `b`", at most eight of them. */
void il_cel_say_names(il_cel_words *w, const il_str *names, size_t n);

/* The nearest of several names: at most one edit off (Damerau-Levenshtein) below five letters, two from there on, and
 * something of the word must be left. The first of equally near ones. */
typedef struct il_cel_near {
    il_str want, best;
    unsigned distance; /* of the best, or one more than allowed */
} il_cel_near;
il_cel_near il_cel_near_to(il_str want);
void il_cel_near_try(il_cel_near *near, il_str name);
/* "; did you mean `x`?", or nothing. */
void il_cel_say_near(il_cel_words *w, const il_cel_near *near);

/* What a method, a function or a name of another language is here; NULL: not known. */
const char *il_cel_rewrite_method(il_str name);
const char *il_cel_rewrite_function(il_str name);
const char *il_cel_rewrite_name(il_str name);
/* What to do where there is no such function and no other name of it; NULL: not known. */
const char *il_cel_instead(il_str function);

/* Why a function of the language does not take a value (IL_CEL_BAD_VALUE): `of` what, and what is said of it with what is wanted.
 * `says` is NULL for a function that takes all values. */
typedef struct il_cel_complaint {
    const char *of, *says;
} il_cel_complaint;
il_cel_complaint il_cel_complaint_of(il_str function);
/* From where to where the results of a conversion are ("; an int is from … to …"); "" where nothing is known. */
const char *il_cel_range_of(il_str function);
