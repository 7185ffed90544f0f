/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hmac.h"

#include "base/mem.h"

#define HMAC_BLOCK 64u

void il_hmac_of(il_str key, il_str bytes, il_sha256_blocks blocks, uint8_t out[IL_DIGEST_BYTES]) {
    uint8_t inner[HMAC_BLOCK] = {0}, outer[HMAC_BLOCK];
    il_sha256 s;
    if (key.n > HMAC_BLOCK) {
        il_sha256_init(&s, blocks);
        il_sha256_add(&s, key.p, key.n);
        il_sha256_end(&s, inner);
    } else if (key.n > 0) {
        memcpy(inner, key.p, key.n);
    }
    for (size_t i = 0; i < HMAC_BLOCK; i++) {
        outer[i] = (uint8_t)(inner[i] ^ 0x5cu);
        inner[i] ^= 0x36u;
    }
    il_sha256_init(&s, blocks);
    il_sha256_add(&s, inner, sizeof inner);
    il_sha256_add(&s, bytes.p, bytes.n);
    il_sha256_end(&s, out);
    il_sha256_init(&s, blocks);
    il_sha256_add(&s, outer, sizeof outer);
    il_sha256_add(&s, out, IL_DIGEST_BYTES);
    il_sha256_end(&s, out);
}
