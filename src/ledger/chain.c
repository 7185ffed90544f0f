/* SPDX-License-Identifier: Apache-2.0 */
/* What a row's hash covers; docs/formats.md has the layout. */
#include "ledger/ledger.h"

static void chain_u64(il_sha256 *s, uint64_t v) {
    uint8_t b[8];
    for (unsigned i = 0; i < 8; i++) {
        b[i] = (uint8_t)(v >> (8 * i));
    }
    il_sha256_add(s, b, sizeof b);
}

static void chain_bytes(il_sha256 *s, const void *p, size_t n) {
    chain_u64(s, n);
    il_sha256_add(s, p, n);
}

static void chain_str(il_sha256 *s, il_str v) { chain_bytes(s, v.p, v.n); }

/* Every column before the body. */
static void chain_columns(il_sha256 *s, const uint8_t before[IL_DIGEST_BYTES], const il_ledger_row *row) {
    il_sha256_add(s, before, IL_DIGEST_BYTES);
    chain_u64(s, row->seq);
    chain_u64(s, row->time_ms);
    chain_str(s, row->space);
    chain_str(s, row->key);
    chain_str(s, row->kind);
    chain_u64(s, row->ticket);
}

void il_chain_hash(const uint8_t before[IL_DIGEST_BYTES], const il_ledger_row *row, il_sha256_blocks blocks,
                   uint8_t out[IL_DIGEST_BYTES]) {
    il_sha256 s;
    il_sha256_init(&s, blocks);
    chain_columns(&s, before, row);
    chain_bytes(&s, row->body_hash, IL_DIGEST_BYTES);
    il_sha256_end(&s, out);
}

void il_chain_hash_1(const uint8_t before[IL_DIGEST_BYTES], const il_ledger_row *row, il_sha256_blocks blocks,
                     uint8_t out[IL_DIGEST_BYTES]) {
    il_sha256 s;
    il_sha256_init(&s, blocks);
    chain_columns(&s, before, row);
    chain_str(&s, row->body);
    il_sha256_end(&s, out);
}

void il_chain_body(il_str body, il_sha256_blocks blocks, uint8_t out[IL_DIGEST_BYTES]) {
    il_sha256 s;
    il_sha256_init(&s, blocks);
    il_sha256_add(&s, body.p, body.n);
    il_sha256_end(&s, out);
}

void il_chain_pruned(const uint8_t before[IL_DIGEST_BYTES], const il_ledger_pruned *p, il_sha256_blocks blocks,
                     uint8_t out[IL_DIGEST_BYTES]) {
    il_sha256 s;
    il_sha256_init(&s, blocks);
    il_sha256_add(&s, before, IL_DIGEST_BYTES);
    chain_u64(&s, p->n);
    chain_str(&s, p->space);
    chain_str(&s, p->key);
    chain_u64(&s, p->version);
    chain_u64(&s, p->through);
    chain_u64(&s, p->state);
    chain_bytes(&s, p->state_hash, IL_DIGEST_BYTES);
    il_sha256_end(&s, out);
}
