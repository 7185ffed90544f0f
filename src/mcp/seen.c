/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/seen.h"

#include <string.h>

static void seen_digest(unsigned kind, il_str word, uint8_t out[IL_DIGEST_BYTES]) {
    const uint8_t tag = (uint8_t)kind;
    il_sha256 hash;
    il_sha256_init(&hash, NULL);
    il_sha256_add(&hash, &tag, 1);
    il_sha256_add(&hash, word.p, word.n);
    il_sha256_end(&hash, out);
}

static size_t seen_find(const il_seen *s, unsigned kind, il_str word) {
    uint8_t digest[IL_DIGEST_BYTES];
    seen_digest(kind, word, digest);
    for (size_t i = 0; i < s->n; i++) {
        if (il_digest_eq(s->digests[i], digest)) {
            return i;
        }
    }
    return IL_SEEN_MAX;
}

bool il_seen_has(const il_seen *s, unsigned kind, il_str word) { return seen_find(s, kind, word) != IL_SEEN_MAX; }

bool il_seen_full(const il_seen *s) { return s->n == IL_SEEN_MAX; }

void il_seen_add(il_seen *s, unsigned kind, il_str word) {
    if (il_seen_has(s, kind, word)) {
        return;
    }
    size_t at = s->oldest;
    if (s->n < IL_SEEN_MAX) {
        at = s->n++;
    } else {
        s->oldest = (s->oldest + 1) % IL_SEEN_MAX;
    }
    seen_digest(kind, word, s->digests[at]);
}

void il_seen_forget(il_seen *s, unsigned kind, il_str word) {
    const size_t at = seen_find(s, kind, word);
    if (at != IL_SEEN_MAX) {
        s->n--;
        memmove(s->digests[at], s->digests[s->n], IL_DIGEST_BYTES);
        s->oldest = 0;
    }
}
