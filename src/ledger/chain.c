/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/ledger.h"

static void chain_u64(il_sha256 *s, uint64_t v) {
    uint8_t b[8];
    for (unsigned i = 0; i < 8; i++) {
        b[i] = (uint8_t)(v >> (8 * i));
    }
    il_sha256_add(s, b, sizeof b);
}

static void chain_str(il_sha256 *s, il_str v) {
    chain_u64(s, v.n);
    il_sha256_add(s, v.p, v.n);
}

void il_chain_hash(const uint8_t before[IL_DIGEST_BYTES], const il_ledger_row *row, uint8_t out[IL_DIGEST_BYTES]) {
    il_sha256 s;
    il_sha256_init(&s, NULL);
    il_sha256_add(&s, before, IL_DIGEST_BYTES);
    chain_u64(&s, row->seq);
    chain_u64(&s, row->time_ms);
    chain_str(&s, row->space);
    chain_str(&s, row->key);
    chain_str(&s, row->kind);
    chain_u64(&s, row->ticket);
    chain_str(&s, row->body);
    il_sha256_end(&s, out);
}
