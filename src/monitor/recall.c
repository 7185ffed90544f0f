/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/recall.h"

#include "base/error.h"

il_status il_recall_new(const il_alloc *alloc, il_recall **out, il_error *err) {
    il_recall *r = alloc->alloc(alloc->ctx, sizeof *r);
    if (r == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    *r = (il_recall){.alloc = *alloc};
    il_status s = il_memory_new(&r->alloc, NULL, &r->memory, err);
    if (s != IL_OK) {
        alloc->free(alloc->ctx, r);
        return s;
    }
    *out = r;
    return IL_OK;
}

void il_recall_free(il_recall *r) {
    if (r != NULL) {
        const il_alloc alloc = r->alloc;
        il_memory_free(r->memory);
        alloc.free(alloc.ctx, r);
    }
}

size_t il_recall_bytes(const il_recall *r) { return sizeof *r + il_memory_bytes(r->memory); }

uint64_t il_recall_episodes(const il_recall *r) { return il_memory_episodes(r->memory); }

void il_recall_next(const uint8_t before[IL_DIGEST_BYTES], il_str episode, il_sha256_blocks blocks,
                    uint8_t out[IL_DIGEST_BYTES]) {
    il_sha256 h;
    il_sha256_init(&h, blocks);
    il_sha256_add(&h, before, IL_DIGEST_BYTES);
    il_sha256_add(&h, episode.p, episode.n);
    il_sha256_end(&h, out);
}

il_status il_recall_add(il_recall *r, il_str episode, const il_str *texts, size_t ntexts, il_sha256_blocks blocks,
                        il_error *err) {
    IL_TRY(il_memory_apply(r->memory, il_memory_episodes(r->memory) + 1, episode, texts, ntexts, err));
    il_recall_next(r->end, episode, blocks, r->end);
    return IL_OK;
}

il_recall_key il_recall_prefix(il_str session) {
    il_recall_key key;
    uint8_t digest[IL_DIGEST_BYTES];
    char hex[IL_DIGEST_HEX];
    il_sha256_of(session, digest);
    il_digest_hex(digest, hex);
    key.n = il_format(key.text, sizeof key.text, "%.*s.", 32, hex);
    return key;
}

il_recall_key il_recall_key_of(const il_recall_key *prefix, uint64_t number) {
    il_recall_key key = *prefix;
    key.n += il_format(key.text + key.n, sizeof key.text - key.n, "%llu", (unsigned long long)number);
    return key;
}
