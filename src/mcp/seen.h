/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded set of words that were seen, by digest: cursors that a server gave, resources that were subscribed.
 * A word that was not seen is free text of whoever sent it, and does not pass unjudged. */
#pragma once
#include "base/sha256.h"

#define IL_SEEN_MAX 256

typedef struct il_seen {
    size_t n, oldest;
    uint8_t last[IL_DIGEST_BYTES]; /* of the word that was added last, also when it was there before */
    uint8_t digests[IL_SEEN_MAX][IL_DIGEST_BYTES];
} il_seen;

/* When full, the oldest is forgotten. */
void il_seen_add(il_seen *s, il_str word);
bool il_seen_has(const il_seen *s, il_str word);
bool il_seen_last(const il_seen *s, il_str word); /* no other was added since */
bool il_seen_full(const il_seen *s);
void il_seen_forget(il_seen *s, il_str word);
