/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as results are, for the benches: prose and JSON of 20,000 words with the frequencies of a language; the same each time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { BENCH_WORDS = 20000 };

typedef struct bench_words {
    uint64_t random;
    char words[BENCH_WORDS][16];
} bench_words;

static uint32_t bench_below(bench_words *b, uint32_t n) {
    b->random = b->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((b->random >> 33) * n >> 31);
}

/* Words of two to five syllables; the frequent ones are short. */
static void bench_vocabulary(bench_words *b) {
    static const char *const syllables[] = {"ta",  "re",  "in",  "on",  "the", "an",   "er", "is", "or", "ment", "con",
                                            "de",  "al",  "pro", "st",  "ing", "li",   "no", "ve", "um", "ca",   "se",
                                            "qui", "ble", "for", "per", "mi",  "tion", "ra", "ex", "ly", "po"};
    for (size_t i = 0; i < BENCH_WORDS; i++) {
        size_t n = 0;
        const uint32_t parts = i < 32 ? 1 : i < 600 ? 2 : 2 + bench_below(b, 3);
        for (uint32_t k = 0; k < parts; k++) {
            const char *s = syllables[i < 32 ? i : bench_below(b, 32)];
            n += (size_t)snprintf(b->words[i] + n, sizeof b->words[i] - n, "%s", s);
            n = n < sizeof b->words[i] ? n : sizeof b->words[i] - 1;
        }
    }
}

/* Zipf's law, nearly: the rank is what is left of a random number after random halvings. */
static const char *bench_word(bench_words *b) {
    uint32_t range = BENCH_WORDS;
    while (range > 16 && bench_below(b, 100) < 62) {
        range /= 3;
    }
    return b->words[bench_below(b, range)];
}

static size_t bench_text(bench_words *b, char *p, size_t n, bool json) {
    size_t at = 0;
    for (unsigned i = 0; at + 128 < n; i++) {
        if (json) {
            at += (size_t)snprintf(
                p + at, n - at, "{\"id\": %u, \"title\": \"%s %s\", \"from\": \"%s@%s.example\", \"unread\": %s, \"body\": \"%s",
                bench_below(b, 1u << 30), bench_word(b), bench_word(b), bench_word(b), bench_word(b), i % 2 ? "true" : "false",
                bench_word(b));
            for (unsigned k = bench_below(b, 30); k > 0 && at + 64 < n; k--) {
                at += (size_t)snprintf(p + at, n - at, " %s", bench_word(b));
            }
            at += (size_t)snprintf(p + at, n - at, "\"},\n");
        } else {
            at += (size_t)snprintf(p + at, n - at, i % 13 == 12 ? "%s.\n" : i % 7 == 6 ? "%s, " : "%s ", bench_word(b));
        }
    }
    return at;
}
