/* SPDX-License-Identifier: Apache-2.0 */
/* What the bytes of an episode are made of, for the writer (episode.c) and the reader (memory_read.c). All numbers little-endian:
 *
 *     u8 version, u8 source kind, u8 flags, u64 ticket, u32 taints, name, agent      (a name: u16 length, bytes)
 *     u32 facts:   mark, u8 standing and IL_FACT_HAS_VIA, with it u8 words, as many marks (the first may be il_via_edge), and the mark of kind and words together
 *     u32 typed:   marks, ascending
 *     u32 forms of the typed words, word by word: u8 flags, mark as it stands, mark without letter case
 *     u32 sent:    il_mark_sent of each, as u64; of some with IL_MARK_SENT_PART or IL_MARK_SENT_VOUCHED
 *     u16 remembered: name, value
 *     u32 trusted texts, u32 untrusted texts: u32 length, digest; the trusted ones first
 *
 * and nothing behind. Anything else is damage. */
#pragma once
#include "provenance/mark.h"
#include "provenance/typed.h"

#define IL_EPISODE_VERSION 1u

#define IL_EPISODE_PARTIAL 1u  /* something was not looked at */
#define IL_EPISODE_SENT_ALL 2u /* more was sent than is told apart: everything counts as sent */

#define IL_FACT_HAS_VIA 2u /* beside il_standing */
#define IL_FORM_FIRST 4u   /* beside IL_TYPED_FRONT and IL_TYPED_BACK: the word as it stands */

#define IL_SENT_TOKEN_MIN 3u
#define IL_VIA_WORDS_MAX 16u

/* What parts of sent values are made of: letters, digits, all that is not ASCII. */
static inline bool il_sent_char(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ((unsigned char)c & 0x80u) != 0;
}

#define IL_EPISODE_FACTS_MAX 65536u
#define IL_EPISODE_TYPED_MAX 65536u
#define IL_EPISODE_WORDS_MAX 65536u
#define IL_EPISODE_SENT_MAX 196608u /* words, and the parts that they make */
#define IL_EPISODE_TEXTS_MAX 65536u
#define IL_EPISODE_NAMES_MAX 64u
#define IL_EPISODE_VALUE_MAX ((size_t)8192) /* of a remembered value */
#define IL_EPISODE_BYTES_MAX ((size_t)256 << 20)

typedef struct il_kept_fact {
    uint8_t mark[IL_MARK_BYTES];
    uint8_t standing, nvia;
    uint8_t *via;
    uint8_t found[IL_MARK_BYTES];
} il_kept_fact;
typedef struct il_kept_form {
    uint8_t flags;
    uint8_t exact[IL_MARK_BYTES], fold[IL_MARK_BYTES];
} il_kept_form;

/* Marks of a sibling's words, without the signs around the whole; returns how many, 0 for a text that has none or too many. */
uint32_t il_via_marks(il_str via, uint8_t out[IL_VIA_WORDS_MAX * IL_MARK_BYTES]);
/* The mark in front of those of a sibling that was typed only where signs stand around it (il_fact): of no word. */
void il_via_edge(uint8_t out[IL_MARK_BYTES]);
