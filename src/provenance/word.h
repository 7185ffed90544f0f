/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a text: what stands between white space, with and without the signs that a sentence puts around a word. */
#pragma once
#include "base/str.h"

#define IL_WORD_FORMS_MAX 6u

/* What a form of a word is without. */
#define IL_WORD_FRONT 1u /* signs in front */
#define IL_WORD_BACK 2u  /* signs behind, or the `'s` of a possessive */

typedef struct il_word_form {
    il_str text; /* never empty */
    uint8_t without;
} il_word_form;
typedef struct il_word {
    uint32_t n;
    il_word_form forms[IL_WORD_FORMS_MAX]; /* the first is the word as it stands; all different */
} il_word;

/* The next word at or behind *at, which moves behind it; false at the end. */
bool il_word_next(il_str text, size_t *at, il_word *out);
/* The length of the white space that the text begins with at `at` (also no-break and wide spaces), one character; 0 when there is none. */
size_t il_word_space(il_str text, size_t at);
/* A word without the signs in front; without those behind. May be empty. */
il_str il_word_front(il_str word);
il_str il_word_back(il_str word);
