/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a text: what stands between white space, with and without the signs that a sentence puts around a word. */
#pragma once
#include "base/str.h"

#define IL_TYPED_FORMS_MAX 6u

/* What a form of a word is without. */
#define IL_TYPED_FRONT 1u /* signs in front */
#define IL_TYPED_BACK 2u  /* signs behind, or the `'s` of a possessive */

typedef struct il_typed_form {
    il_str text; /* never empty */
    uint8_t without;
} il_typed_form;
typedef struct il_typed_word {
    uint32_t n;
    il_typed_form forms[IL_TYPED_FORMS_MAX]; /* the first is the word as it stands; all different */
} il_typed_word;

/* The next word at or behind *at, which moves behind it; false at the end. */
bool il_typed_next(il_str text, size_t *at, il_typed_word *out);
/* The length of the white space that the text begins with at `at` (also no-break and wide spaces), one character; 0 when there is none. */
size_t il_typed_space(il_str text, size_t at);
/* A word without the signs in front; without those behind. May be empty. */
il_str il_typed_front(il_str word);
il_str il_typed_back(il_str word);
