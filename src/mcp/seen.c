/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/seen.h"

#include <string.h>

static void seen_digest(il_str word, uint8_t out[IL_DIGEST_BYTES]) {
    il_sha256 hash;
    il_sha256_init(&hash, NULL);
    il_sha256_add(&hash, word.p, word.n);
    il_sha256_end(&hash, out);
}

static size_t seen_find(const il_seen *s, const uint8_t digest[IL_DIGEST_BYTES]) {
    for (size_t i = 0; i < s->n; i++) {
        if (il_digest_eq(s->digests[i], digest)) {
            return i;
        }
    }
    return IL_SEEN_MAX;
}

bool il_seen_has(const il_seen *s, il_str word) {
    uint8_t digest[IL_DIGEST_BYTES];
    seen_digest(word, digest);
    return seen_find(s, digest) != IL_SEEN_MAX;
}

bool il_seen_last(const il_seen *s, il_str word) {
    uint8_t digest[IL_DIGEST_BYTES];
    seen_digest(word, digest);
    return il_digest_eq(s->last, digest);
}

bool il_seen_full(const il_seen *s) { return s->n == IL_SEEN_MAX; }

void il_seen_add(il_seen *s, il_str word) {
    seen_digest(word, s->last);
    if (seen_find(s, s->last) != IL_SEEN_MAX) {
        return;
    }
    size_t at = s->oldest;
    if (s->n < IL_SEEN_MAX) {
        at = s->n++;
    } else {
        s->oldest = (s->oldest + 1) % IL_SEEN_MAX;
    }
    memcpy(s->digests[at], s->last, IL_DIGEST_BYTES);
}

void il_seen_forget(il_seen *s, il_str word) {
    uint8_t digest[IL_DIGEST_BYTES];
    seen_digest(word, digest);
    const size_t at = seen_find(s, digest);
    if (at != IL_SEEN_MAX) {
        s->n--;
        memmove(s->digests[at], s->digests[s->n], IL_DIGEST_BYTES);
        s->oldest = 0;
    }
}
