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
    uint64_t before = 0;
    il_word w, last = {0};
    *out = (il_index_needle){.p = s->p + from, .n = n};
    while (least > 0 && il_word_next(s->p, from + n, s->gaps, &at, &w)) {
        const bool pair = last.n > 0 && il_word_joins(s->p, s->gaps, last.at + last.n, w.at);
        const uint64_t hash = il_word_hash(s->p + w.at, w.n);
        const uint32_t key = il_word_key(pair ? il_word_pair(before, s->p[w.at - 1], hash) : hash);
        const size_t count = needle_count(x, key);
        if (count < least) {
            least = count;
            out->key = key;
            out->anchor = w.at - from;
            out->exact = w.at + w.n - (pair ? last.at : w.at) == n;
        }
        before = hash;
        last = w;
    }
    return least != SIZE_MAX;
}

/* Whether it stands whole in the text where its first byte is byte `at`. */
static inline bool needle_at(const il_index_text *t, const il_index_needle *needle, size_t at) {
    return memcmp(t->p + at, needle->p, needle->n) == 0 && il_word_bounded(t->p, t->n, il_index_gaps(t), at, needle->n);
}

/* Whether it stands whole in the text with its anchor at one of the bytes [from, to). */
static bool needle_stands(const il_index_text *t, const il_index_needle *needle, size_t from, size_t to, size_t *work) {
    from = from > needle->anchor ? from - needle->anchor : 0; /* of its first byte */
    to = to > needle->anchor ? to - needle->anchor : 0;
    if (needle->n > t->n || to < from) {
        return false;
    }
    to = to < t->n - needle->n + 1 ? to : t->n - needle->n + 1;
    const uint8_t first = needle->p[0], second = needle->p[needle->n > 1];
    while (from < to) {
        if (*work == 0) {
            return true;
        }
        if (to - from > IL_BLOCK_PART) { /* there are as many bytes, and one more */
            const uint8_t *p = t->p + from;
            uint64_t may = il_sixteen_bits(IL_SIXTEEN(il_sixteen_load(p) == first) &
                                           IL_SIXTEEN(il_sixteen_load(p + (needle->n > 1)) == second));
            for (; may != 0; may &= may - 1) {
                if (needle_at(t, needle, from + (size_t)__builtin_ctzll(may))) {
                    return true;
                }
            }
            from += IL_BLOCK_PART;
            *work -= *work < IL_BLOCK_PART ? *work : IL_BLOCK_PART;
        } else {
            if (t->p[from] == first && needle_at(t, needle, from)) {
                return true;
            }
            from++;
            --*work;
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
        size_t to = from + IL_PRINT_STEP + (needle->exact ? 0 : IL_DIGEST_WORDS);
        if (needle_stands(t, needle, from, to < t->n ? to : t->n, work)) {
            return t;
        }
    }
    return NULL;
}
