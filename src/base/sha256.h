/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4). */
#pragma once
#include "interlock/base.h"

typedef struct il_sha256 {
    uint32_t h[8];
    uint64_t bytes;
    il_sha256_blocks blocks;
    uint8_t block[64];
} il_sha256;

/* The constants of its rounds (FIPS 180-4, 4.2.2), for other block functions. */
extern const uint32_t il_sha256_k[64];

/* `blocks` is a host's block function; NULL: the portable one. */
void il_sha256_init(il_sha256 *s, il_sha256_blocks blocks);
void il_sha256_add(il_sha256 *s, const void *p, size_t n);
void il_sha256_end(il_sha256 *s, uint8_t out[IL_DIGEST_BYTES]);
/* The whole in one call, by the portable function. */
void il_sha256_of(il_str bytes, uint8_t out[IL_DIGEST_BYTES]);
/* Lower-case hex, 64 characters and a NUL. */
#define IL_DIGEST_HEX (2 * IL_DIGEST_BYTES + 1)
void il_digest_hex(const uint8_t digest[IL_DIGEST_BYTES], char out[IL_DIGEST_HEX]);
/* Reads exactly what il_digest_hex() writes; false, and `out` is of no use, for anything else. */
bool il_digest_read(il_str hex, uint8_t out[IL_DIGEST_BYTES]);
/* Compares without an early exit. */
bool il_digest_eq(const uint8_t a[IL_DIGEST_BYTES], const uint8_t b[IL_DIGEST_BYTES]);
