/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/mark.h"

#include "base/sha256.h"
#include "base/sort.h"

static const char *const il_mark_domains[] = {"interlock fact 1", "interlock typed 1", "interlock word 1",
                                              "interlock fold 1", "interlock found 1", "interlock class 1"};

/* ASCII lower case, piece by piece. */
static void il_mark_add_folded(il_sha256 *h, il_str s) {
    char piece[64];
    for (size_t at = 0; at < s.n;) {
        size_t n = 0;
        for (; n < sizeof piece && at < s.n; n++, at++) {
            const char c = s.p[at];
            piece[n] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        }
        il_sha256_add(h, piece, n);
    }
}

void il_mark(il_mark_of of, il_str kind, il_str value, uint8_t out[IL_MARK_BYTES]) {
    il_sha256 h;
    uint8_t digest[IL_DIGEST_BYTES];
    const il_str domain = il_str_of(il_mark_domains[of]);
    il_sha256_init(&h, NULL);
    il_sha256_add(&h, domain.p, domain.n + 1); /* the NUL ends it, as the next */
    il_sha256_add(&h, kind.p, kind.n);
    il_sha256_add(&h, "", 1);
    if (of == IL_MARK_FOLD) {
        il_mark_add_folded(&h, value);
    } else {
        il_sha256_add(&h, value.p, value.n);
    }
    il_sha256_end(&h, digest);
    memcpy(out, digest, IL_MARK_BYTES);
}

/* FNV-1a, and then the finish of MurmurHash3, because slots are taken from some bits only. */
uint64_t il_mark_sent_add(uint64_t h, char c) {
    const uint64_t folded = c >= 'A' && c <= 'Z' ? (uint64_t)(uint8_t)c + 32u : (uint8_t)c;
    return (h ^ folded) * UINT64_C(0x100000001b3);
}

uint64_t il_mark_sent_end(uint64_t h) {
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

uint64_t il_mark_sent(il_str token) {
    uint64_t h = IL_MARK_SENT_BEGIN;
    for (size_t i = 0; i < token.n; i++) {
        h = il_mark_sent_add(h, token.p[i]);
    }
    return il_mark_sent_end(h);
}

static bool il_mark_before(const void *a, const void *b) { return memcmp(a, b, IL_MARK_BYTES) < 0; }

size_t il_marks_sort(uint8_t *p, size_t n) {
    const size_t width = IL_MARK_BYTES;
    il_sort(p, n, width, il_mark_before);
    size_t kept = n > 0 ? 1 : 0;
    for (size_t i = 1; i < n; i++) {
        if (memcmp(p + (kept - 1) * width, p + i * width, width) != 0) {
            memmove(p + kept * width, p + i * width, width);
            kept++;
        }
    }
    return kept;
}
