/* SPDX-License-Identifier: Apache-2.0 */
/* Marks: what stands for a value where the value itself must not be kept. SHA-256 cut short, over a word that says what it is a mark of, the kind and the
 * value, so that no mark of one thing is one of another. */
#pragma once
#include "base/arena.h"
#include "base/str.h"

#define IL_MARK_BYTES 16u

typedef enum il_mark_of {
    IL_MARK_FACT,  /* a field of a result: kind, value */
    IL_MARK_TYPED, /* found in what a human typed: kind, value */
    IL_MARK_WORD,  /* a word that a human typed, as it stands */
    IL_MARK_FOLD,  /* the same without ASCII letter case */
    IL_MARK_FOUND, /* what a field was found by: its kind, the marks of the sibling's words */
    IL_MARK_CLASS  /* of sources: their kind and what they taint, their name; that mark, their agent */
} il_mark_of;
/* `kind` is empty where the table above names none. */
void il_mark(il_mark_of of, il_str kind, il_str value, uint8_t out[IL_MARK_BYTES]);

/* Of a token that the agent sent, without ASCII letter case. There are many in a call, and a hit by chance only takes trust away, so it is short and no SHA-256. */
uint64_t il_mark_sent(il_str token);
/* The same byte by byte: from IL_MARK_SENT_BEGIN on, each byte, and the end. */
#define IL_MARK_SENT_BEGIN UINT64_C(0xcbf29ce484222325)
uint64_t il_mark_sent_add(uint64_t h, char c);
uint64_t il_mark_sent_end(uint64_t h);
/* What such a mark is with (exclusive or): of what only counts as a part of a value that was put together, and of what was vouched when it was sent. */
#define IL_MARK_SENT_PART UINT64_C(0xa24baed4963ee407)
#define IL_MARK_SENT_VOUCHED UINT64_C(0x9fb21c651e98df25)

/* Sorts `n` marks in place and drops doubles; returns how many are left. O(n log n). */
size_t il_marks_sort(uint8_t *marks, size_t n);
