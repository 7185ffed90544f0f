/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/index_part.h"
#include "provenance/token.h"

enum { NEEDLE_RARE = 64 }; /* a word that as many places have is common: no more are counted */

/* How many places have the key; no more than NEEDLE_RARE are counted. */
static size_t needle_count(const il_index *x, uint32_t key) {
    if (!il_postings_may(&x->words, key)) {
        return 0;
    }
    il_posting_walk walk = il_postings_walk(&x->words, key);
    il_posting found;
    size_t count = 0;
    while (count < NEEDLE_RARE && il_posting_next(&walk, &found)) {
        count++;
    }
    return count;
}

bool il_index_needle_of(const il_index *x, const il_stream *s, size_t from, size_t n, il_index_needle *out) {
    size_t at = from, least = SIZE_MAX;
    il_word w, before = {0};
    *out = (il_index_needle){.p = s->p + from, .n = n};
    for (; least > 0 && il_word_next(s->p, from + n, s->gaps, &at, &w); before = w) {
        const uint32_t begins = il_word_joined(s->p, s->gaps, &before, &w) ? before.at : w.at;
        const uint32_t key = il_word_key(il_word_hash(s->p + begins, w.at + w.n - begins));
        const size_t count = needle_count(x, key);
        if (count < least) {
            least = count;
            out->key = key;
            out->anchor = w.at - from;
            out->single = w.n == n;
        }
    }
    return least != SIZE_MAX;
}

/* Whether it stands whole in the text with its anchor at one of the bytes [from, to). */
static bool needle_stands(const il_index_text *t, const il_index_needle *needle, size_t from, size_t to, size_t *work) {
    for (size_t at = from; at < to; at++) {
        if (at < needle->anchor || needle->n > t->n - (at - needle->anchor)) {
            continue;
        }
        const uint8_t *p = t->p + (at - needle->anchor);
        if (*work == 0) {
            return true;
        }
        --*work;
        if (p[0] == needle->p[0] && memcmp(p, needle->p, needle->n) == 0 &&
            il_word_bounded(t->p, t->n, il_index_gaps(t), at - needle->anchor, needle->n)) {
            return true;
        }
    }
    return false;
}

const il_index_text *il_index_needle_next(const il_index *x, const il_index_needle *needle, il_posting_walk *w, size_t *work,
                                          bool *compared) {
    il_posting found;
    while (il_posting_next(w, &found)) {
        const il_index_text *t = il_index_text_at(x, found.place);
        *compared = t->p != NULL;
        if (t->p == NULL) {
            return t;
        }
        /* the first one in its block is known to the step; others of the same block come later */
        const size_t from = (size_t)(found.place - t->first) * IL_PRINT_STEP;
        size_t to = from + IL_PRINT_STEP + (needle->single ? 0 : IL_DIGEST_WORDS);
        if (needle_stands(t, needle, from, to < t->n ? to : t->n, work)) {
            return t;
        }
    }
    return NULL;
}
