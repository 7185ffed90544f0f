/* SPDX-License-Identifier: Apache-2.0 */
/* HMAC-SHA256 (RFC 2104, FIPS 198-1). */
#pragma once
#include "base/sha256.h"

/* A key of any length. `blocks`: as il_sha256_init. Compare codes with il_digest_eq(), which takes as long for any two. */
void il_hmac_of(il_str key, il_str bytes, il_sha256_blocks blocks, uint8_t out[IL_DIGEST_BYTES]);
