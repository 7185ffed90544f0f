/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of what sessions know: the least recently used goes first. */
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "interlock/host.h"

#define RECALLS_BYTES ((size_t)256 << 20)
#define RECALLS_MAX 256u

typedef struct recalls_entry {
    il_recall *recall;
    size_t bytes, nid;
    char id[IL_SESSION_ID_BYTES];
} recalls_entry;

struct il_host_recalls {
    il_alloc alloc;
    il_recall_cache cache;
    pthread_mutex_t lock;
    size_t bytes, max;
    uint32_t n;
    recalls_entry entries[RECALLS_MAX]; /* the latest last */
};

static uint32_t recalls_find(const il_host_recalls *r, il_str session) {
    for (uint32_t i = r->n; i > 0; i--) {
        if (il_str_eq((il_str){r->entries[i - 1].id, r->entries[i - 1].nid}, session)) {
            return i - 1;
        }
    }
    return UINT32_MAX;
}

/* Takes entry `at` out of the list. */
static il_recall *recalls_remove(il_host_recalls *r, uint32_t at) {
    il_recall *recall = r->entries[at].recall;
    r->bytes -= r->entries[at].bytes;
    r->n--;
    memmove(&r->entries[at], &r->entries[at + 1], (r->n - at) * sizeof r->entries[0]);
    return recall;
}

static il_recall *recalls_take(void *ctx, il_str session) {
    il_host_recalls *r = ctx;
    pthread_mutex_lock(&r->lock);
    const uint32_t at = recalls_find(r, session);
    il_recall *recall = at == UINT32_MAX ? NULL : recalls_remove(r, at);
    pthread_mutex_unlock(&r->lock);
    return recall;
}

/* Two threads that worked on one session bring two: the one that knows more stays, and of two that know the same the one with more texts. */
static bool recalls_better(const il_recall *a, size_t a_bytes, const recalls_entry *b) {
    const uint64_t ours = il_recall_episodes(a), theirs = il_recall_episodes(b->recall);
    return ours > theirs || (ours == theirs && a_bytes >= b->bytes);
}

static void recalls_put(il_host_recalls *r, il_str session, il_recall *recall, size_t bytes) {
    recalls_entry *e = &r->entries[r->n++];
    *e = (recalls_entry){.recall = recall, .bytes = bytes, .nid = session.n};
    memcpy(e->id, session.p, session.n);
    r->bytes += bytes;
}

static void recalls_give(void *ctx, il_str session, il_recall *recall) {
    il_host_recalls *r = ctx;
    const size_t bytes = il_recall_bytes(recall);
    il_recall *gone[RECALLS_MAX + 1];
    uint32_t ngone = 0;
    pthread_mutex_lock(&r->lock);
    const uint32_t at = recalls_find(r, session);
    if (session.n >= IL_SESSION_ID_BYTES || bytes > r->max ||
        (at != UINT32_MAX && !recalls_better(recall, bytes, &r->entries[at]))) {
        gone[ngone++] = recall;
    } else {
        if (at != UINT32_MAX) {
            gone[ngone++] = recalls_remove(r, at);
        }
        while (r->n > 0 && (r->n == RECALLS_MAX || r->max - bytes < r->bytes)) {
            gone[ngone++] = recalls_remove(r, 0);
        }
        recalls_put(r, session, recall, bytes);
    }
    pthread_mutex_unlock(&r->lock);
    while (ngone > 0) { /* large ones take a while */
        il_recall_free(gone[--ngone]);
    }
}

il_status il_host_recalls_new(const il_alloc *alloc, size_t bytes, il_host_recalls **out, il_error *err) {
    il_host_recalls *r = alloc->alloc(alloc->ctx, sizeof *r);
    *out = NULL;
    if (!r) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    memset(r, 0, sizeof *r);
    r->alloc = *alloc;
    r->max = bytes ? bytes : RECALLS_BYTES;
    r->cache = (il_recall_cache){.size = sizeof r->cache, .ctx = r, .take = recalls_take, .give = recalls_give};
    if (pthread_mutex_init(&r->lock, NULL) != 0) {
        alloc->free(alloc->ctx, r);
        return il_error_set(err, IL_E_INTERNAL, "no mutex to be had");
    }
    *out = r;
    return IL_OK;
}

void il_host_recalls_free(il_host_recalls *r) {
    if (r) {
        const il_alloc alloc = r->alloc;
        while (r->n > 0) {
            il_recall_free(recalls_remove(r, r->n - 1));
        }
        pthread_mutex_destroy(&r->lock);
        alloc.free(alloc.ctx, r);
    }
}

const il_recall_cache *il_host_recalls_cache(const il_host_recalls *r) { return r ? &r->cache : NULL; }
