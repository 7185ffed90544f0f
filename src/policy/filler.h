/* SPDX-License-Identifier: Apache-2.0 */
/* Words that stand in anybody's sentence. Who may choose a name (of a channel, a file, an item) and wants it to be one that the user typed would call it `the`, so
 * that such words were typed says nothing of a name. */
#pragma once
#include "base/str.h"

/* Each word of the text is one, a single character, or at most two digits. True of no word at all. */
bool il_filler(il_str text);
/* Its first or its last word is one: `pay bill` in "pay bill for Bo" is no name. */
bool il_filler_edge(il_str text);
