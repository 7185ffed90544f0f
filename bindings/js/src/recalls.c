/* SPDX-License-Identifier: Apache-2.0 */
/* What sessions know, between calls: those used last. Most are small; a large one pushes others out. */
#include "exports.h"

#define RECALLS_MAX 64u
#define RECALLS_BYTES ((size_t)128 << 20)

typedef struct recalls_entry {
    il_recall *recall;
    size_t bytes, nid;
    char id[IL_SESSION_ID_BYTES];
} recalls_entry;

static struct {
    uint32_t n;
    size_t bytes;
    recalls_entry list[RECALLS_MAX]; /* the latest last */
} recalls;

static il_recall *recalls_remove(uint32_t at) {
    il_recall *r = recalls.list[at].recall;
    recalls.bytes -= recalls.list[at].bytes;
    recalls.n--;
    __builtin_memmove(&recalls.list[at], &recalls.list[at + 1], (recalls.n - at) * sizeof recalls.list[0]);
    return r;
}

static il_recall *recalls_take(void *ctx, il_str session) {
    (void)ctx;
    for (uint32_t i = recalls.n; i > 0; i--) {
        if (iljs_eq((il_str){recalls.list[i - 1].id, recalls.list[i - 1].nid}, session)) {
            return recalls_remove(i - 1);
        }
    }
    return NULL;
}

static void recalls_give(void *ctx, il_str session, il_recall *r) {
    const size_t bytes = il_recall_bytes(r);
    il_recall_free(recalls_take(ctx, session));
    if (bytes > RECALLS_BYTES || session.n >= IL_SESSION_ID_BYTES) {
        il_recall_free(r);
        return;
    }
    while (recalls.n > 0 && (recalls.n == RECALLS_MAX || recalls.bytes > RECALLS_BYTES - bytes)) {
        il_recall_free(recalls_remove(0));
    }
    recalls_entry *e = &recalls.list[recalls.n++];
    *e = (recalls_entry){.recall = r, .bytes = bytes, .nid = session.n};
    __builtin_memcpy(e->id, session.p, session.n);
    recalls.bytes += bytes;
}

const il_recall_cache *iljs_recalls(void) {
    static const il_recall_cache cache = {.size = sizeof cache, .take = recalls_take, .give = recalls_give};
    return &cache;
}

void iljs_forget(void) {
    while (recalls.n > 0) {
        il_recall_free(recalls_remove(0));
    }
}
