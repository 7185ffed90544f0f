/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/token.h"

#include "provenance/fingerprint.h"

/* A word character that is also a byte of its own, or the first of several. */
static size_t word_step(const uint8_t *p, size_t n, size_t at) {
    size_t length = 1;
    while (at + length < n && (p[at + length] & 0xc0) == 0x80) {
        length++;
    }
    return length;
}

bool il_word_next(const uint8_t *p, size_t n, const uint8_t *gaps, size_t *at, il_word *out) {
    size_t i = *at;
    while (i < n && (il_normal_words[p[i]] == 0 || !il_normal_word_at(p, n, i))) {
        i++;
    }
    if (i == n) {
        *at = n;
        return false;
    }
    const size_t from = i;
    do {
        i += il_normal_words[p[i]] == 1 ? 1 : word_step(p, n, i);
    } while (i < n && !il_stream_gap(gaps, i) && il_normal_words[p[i]] != 0 && il_normal_word_at(p, n, i));
    *out = (il_word){.at = (uint32_t)from,
                     .n = (uint32_t)(i - from),
                     .whole = !(from > 0 && p[from - 1] == IL_NORMAL_CUT && !il_stream_gap(gaps, from)) &&
                              !(i < n && p[i] == IL_NORMAL_CUT)};
    *at = i;
    return true;
}

uint64_t il_word_hash(const uint8_t *p, size_t n) {
    uint64_t h = n * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < n; i += 8) {
        uint64_t part = il_load8(p + i);
        if (n - i < 8) {
            part &= (UINT64_C(1) << 8 * (n - i)) - 1;
        }
        h = (h ^ part) * UINT64_C(0xd6e8feb86659fd93);
        h ^= h >> 32;
    }
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h >> 16;
}

bool il_word_joined(const uint8_t *p, const uint8_t *gaps, const il_word *a, const il_word *b) {
    const uint32_t between = a->at + a->n;
    return a->n > 0 && b->at == between + 1 && !il_stream_gap(gaps, between) && !il_stream_gap(gaps, b->at) &&
           (p[between] == '.' || p[between] == '-' || p[between] == '_' || p[between] == '@');
}

bool il_word_numbered(const uint8_t *p, const il_word *w) {
    for (uint32_t i = 0; i < w->n; i++) {
        if (p[w->at + i] >= '0' && p[w->at + i] <= '9') {
            return true;
        }
    }
    return false;
}

bool il_word_bounded(const uint8_t *p, size_t n, const uint8_t *gaps, size_t at, size_t m) {
    const size_t end = at + m;
    const bool starts = il_normal_word_at(p, n, at), ends = il_normal_word_at(p, n, end - 1);
    if (at > 0 && starts && !il_stream_gap(gaps, at) && (p[at - 1] == IL_NORMAL_CUT || il_normal_word_at(p, n, at - 1))) {
        return false;
    }
    return !(end < n && ends && !il_stream_gap(gaps, end) && (p[end] == IL_NORMAL_CUT || il_normal_word_at(p, n, end)));
}
