/* SPDX-License-Identifier: Apache-2.0 */
/* The store that dies with its process: for tests, `check`, and hosts that need no audit trail. Also the smallest example of an il_store. */
#include <pthread.h>

#include "ledger/file.h"
#include "ledger/ledger.h"

typedef struct memory_object memory_object;
struct memory_object {
    memory_object *next, *prev; /* the most recently changed first */
    memory_object *same;        /* of the same bucket */
    il_str space, key;          /* behind the state */
    uint64_t version, changed_ms;
    size_t n;
    uint8_t state[];
};

typedef struct memory_row memory_row;
struct memory_row {
    memory_row *next;
    il_ledger_row row; /* its strings live behind this struct */
};

#define MEMORY_BUCKETS 4096u /* a file of sessions makes one object a session */

typedef struct memory_ledger {
    il_ledger base;
    pthread_mutex_t lock;
    memory_object *objects;
    memory_object *buckets[MEMORY_BUCKETS];
    memory_row *first, *last;
    uint64_t nrows, keep; /* keep 0: all */
} memory_ledger;

/* What a commit is about to do: made whole first, so that running out of memory changes nothing. */
typedef struct memory_batch {
    memory_object *objects;
    memory_row *first, *last;
    uint64_t nrows;
} memory_batch;

static void *memory_get(memory_ledger *l, size_t n) { return l->base.alloc->alloc(l->base.alloc->ctx, n); }

static void memory_put(memory_ledger *l, void *p) { l->base.alloc->free(l->base.alloc->ctx, p); }

/* FNV-1a. */
static uint32_t memory_bucket(il_str key) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < key.n; i++) {
        h = (h ^ (uint8_t)key.p[i]) * 16777619u;
    }
    return h % MEMORY_BUCKETS;
}

static memory_object **memory_find(memory_ledger *l, il_str space, il_str key) {
    memory_object **at = &l->buckets[memory_bucket(key)];
    while (*at && !(il_str_eq((*at)->key, key) && il_str_eq((*at)->space, space))) {
        at = &(*at)->same;
    }
    return at;
}

static il_status memory_hold(il_ledger *base, il_error *err) {
    (void)err;
    pthread_mutex_lock(&((memory_ledger *)base)->lock);
    return IL_OK;
}

static void memory_release(il_ledger *base) { pthread_mutex_unlock(&((memory_ledger *)base)->lock); }

static il_status memory_load_locked(memory_ledger *l, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n,
                                    uint64_t *version, il_error *err) {
    const memory_object *o = *memory_find(l, space, key);
    if (!o) {
        return il_error_set(err, IL_E_NOT_FOUND, "no %.*s `%.*s`", IL_STR_ARG(space), IL_STR_ARG(key));
    }
    *n = o->n;
    if (*n > cap) {
        return il_error_set(err, IL_E_LIMIT, "%.*s `%.*s` needs %zu bytes", IL_STR_ARG(space), IL_STR_ARG(key), o->n);
    }
    memcpy(buf, o->state, o->n);
    *version = o->version;
    return IL_OK;
}

static il_status memory_load(il_ledger *base, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                             il_error *err) {
    memory_ledger *l = (memory_ledger *)base;
    pthread_mutex_lock(&l->lock);
    il_status status = memory_load_locked(l, space, key, buf, cap, n, version, err);
    pthread_mutex_unlock(&l->lock);
    return status;
}

static il_status memory_object_held(il_ledger *base, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n,
                                    uint64_t *version, il_error *err) {
    return memory_load_locked((memory_ledger *)base, space, key, buf, cap, n, version, err);
}

static il_status memory_count(il_ledger *base, il_str space, il_str prefix, uint64_t *n, il_error *err) {
    (void)err;
    *n = 0;
    for (const memory_object *o = ((memory_ledger *)base)->objects; o; o = o->next) {
        *n += il_str_eq(o->space, space) && il_str_starts(o->key, prefix) ? 1 : 0;
    }
    return IL_OK;
}

static il_str memory_append(char **at, il_str s) {
    il_str copy = {*at, s.n};
    if (s.n) {
        memcpy(*at, s.p, s.n);
    }
    *at += s.n;
    return copy;
}

static void memory_free_rows(memory_ledger *l, memory_row *r) {
    while (r) {
        memory_row *next = r->next;
        memory_put(l, r);
        r = next;
    }
}

static void memory_free_objects(memory_ledger *l, memory_object *o) {
    while (o) {
        memory_object *next = o->next;
        memory_put(l, o);
        o = next;
    }
}

static bool memory_batch_rows(memory_ledger *l, const il_store_change *change, uint64_t now_ms, memory_batch *batch) {
    for (size_t i = 0; i < change->nrows; i++) {
        const il_store_row *from = &change->rows[i];
        const memory_row *before = batch->last ? batch->last : l->last;
        memory_row *r = memory_get(l, sizeof *r + change->space.n + change->key.n + from->kind.n + from->body.n);
        if (!r) {
            return false;
        }
        char *at = (char *)(r + 1);
        *r = (memory_row){.row = {.seq = (before ? before->row.seq : l->base.dropped) + 1,
                                  .time_ms = il_ledger_number(now_ms),
                                  .ticket = il_ledger_number(from->ticket)}};
        r->row.space = memory_append(&at, change->space);
        r->row.key = memory_append(&at, change->key);
        r->row.kind = memory_append(&at, from->kind);
        r->row.body = memory_append(&at, from->body);
        il_chain_body(r->row.body, l->base.sha256, r->row.body_hash);
        il_chain_hash(before ? before->row.hash : l->base.dropped_hash, &r->row, l->base.sha256, r->row.hash);
        if (batch->last) {
            batch->last->next = r;
        } else {
            batch->first = r;
        }
        batch->last = r;
        batch->nrows++;
    }
    return true;
}

static bool memory_batch_object(memory_ledger *l, const il_store_change *change, uint64_t now_ms, memory_batch *batch) {
    memory_object *o = memory_get(l, sizeof *o + change->state.n + change->space.n + change->key.n);
    if (!o) {
        return false;
    }
    *o = (memory_object){
        .next = batch->objects, .version = change->expect + 1, .changed_ms = il_ledger_number(now_ms), .n = change->state.n};
    memcpy(o->state, change->state.p, change->state.n);
    char *at = (char *)o->state + change->state.n;
    o->space = memory_append(&at, change->space);
    o->key = memory_append(&at, change->key);
    batch->objects = o;
    return true;
}

/* Lets the oldest rows go. What the first one that stays is chained to is remembered. */
static void memory_drop(memory_ledger *l) {
    while (l->keep && l->nrows > l->keep && l->first) {
        memory_row *r = l->first;
        l->first = r->next;
        l->last = l->first ? l->last : NULL;
        l->base.dropped = r->row.seq;
        memcpy(l->base.dropped_hash, r->row.hash, IL_DIGEST_BYTES);
        memory_put(l, r);
        l->nrows--;
    }
}

static void memory_apply(memory_ledger *l, memory_batch *batch) {
    while (batch->objects) {
        memory_object *o = batch->objects, **at = memory_find(l, o->space, o->key), *old = *at;
        batch->objects = o->next;
        if (old) {
            *at = old->same;
            *(old->prev ? &old->prev->next : &l->objects) = old->next;
            if (old->next) {
                old->next->prev = old->prev;
            }
            memory_put(l, old);
        }
        memory_object **bucket = &l->buckets[memory_bucket(o->key)];
        o->same = *bucket;
        *bucket = o;
        o->prev = NULL;
        o->next = l->objects;
        if (o->next) {
            o->next->prev = o;
        }
        l->objects = o;
    }
    if (batch->first) {
        if (l->last) {
            l->last->next = batch->first;
        } else {
            l->first = batch->first;
        }
        l->last = batch->last;
        l->nrows += batch->nrows;
    }
    memory_drop(l);
}

static il_status memory_commit_locked(memory_ledger *l, const il_store_change *changes, size_t n, uint64_t now_ms,
                                      il_error *err) {
    memory_batch batch = {0};
    for (size_t i = 0; i < n; i++) {
        const memory_object *o = *memory_find(l, changes[i].space, changes[i].key);
        if ((o ? o->version : 0) != changes[i].expect) {
            return il_error_set(err, IL_E_CONFLICT, "%.*s `%.*s` was changed in between", IL_STR_ARG(changes[i].space),
                                IL_STR_ARG(changes[i].key));
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (!memory_batch_rows(l, &changes[i], now_ms, &batch) ||
            (changes[i].moves && !memory_batch_object(l, &changes[i], now_ms, &batch))) {
            memory_free_rows(l, batch.first);
            memory_free_objects(l, batch.objects);
            return il_error_set(err, IL_E_MEMORY, "out of memory");
        }
    }
    memory_apply(l, &batch);
    return IL_OK;
}

static il_status memory_commit(il_ledger *base, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err) {
    memory_ledger *l = (memory_ledger *)base;
    pthread_mutex_lock(&l->lock);
    il_status status = memory_commit_locked(l, changes, n, now_ms, err);
    pthread_mutex_unlock(&l->lock);
    return status;
}

static il_status memory_rows(il_ledger *base, il_str session, uint64_t after, il_ledger_visit visit, void *ctx, il_error *err) {
    memory_ledger *l = (memory_ledger *)base;
    (void)err;
    for (const memory_row *r = l->first; r; r = r->next) {
        if (r->row.seq > after &&
            (session.n == 0 || (il_str_eq(r->row.key, session) && il_str_eq(r->row.space, IL_STR(IL_SPACE_SESSION)))) &&
            !visit(ctx, &r->row)) {
            break;
        }
    }
    return IL_OK;
}

static il_status memory_sessions(il_ledger *base, il_ledger_visit_session visit, void *ctx, il_error *err) {
    memory_ledger *l = (memory_ledger *)base;
    (void)err;
    for (const memory_object *o = l->objects; o; o = o->next) {
        if (il_str_eq(o->space, IL_STR(IL_SPACE_SESSION)) && !visit(ctx, o->key, o->version, o->changed_ms)) {
            break;
        }
    }
    return IL_OK;
}

static il_status memory_pruned(il_ledger *base, il_str session, il_ledger_visit_pruned visit, void *ctx, il_error *err) {
    (void)base, (void)session, (void)visit, (void)ctx, (void)err;
    return IL_OK;
}

static il_status memory_prune(il_ledger *base, il_str session, uint64_t version, uint64_t now_ms, uint64_t *erased,
                              il_error *err) {
    (void)base, (void)session, (void)version, (void)now_ms, (void)erased;
    return il_error_set(err, IL_E_ARGUMENT, "a ledger in memory is not pruned; its option `keep_rows` bounds it");
}

static void memory_close(il_ledger *base) {
    memory_ledger *l = (memory_ledger *)base;
    memory_free_objects(l, l->objects);
    memory_free_rows(l, l->first);
    pthread_mutex_destroy(&l->lock);
    memory_put(l, l);
}

il_status il_ledger_memory_open(const il_alloc *alloc, const il_ledger_options *options, il_ledger **out, il_error *err) {
    static const il_ledger_kind kind = {.load = memory_load,
                                        .commit = memory_commit,
                                        .hold = memory_hold,
                                        .release = memory_release,
                                        .rows = memory_rows,
                                        .sessions = memory_sessions,
                                        .object = memory_object_held,
                                        .count = memory_count,
                                        .pruned = memory_pruned,
                                        .prune = memory_prune,
                                        .close = memory_close};
    memory_ledger *l = alloc->alloc(alloc->ctx, sizeof *l);
    if (!l) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    *l = (memory_ledger){.base = {.kind = &kind, .alloc = alloc, .sha256 = options->sha256, .version = IL_LEDGER_USER_VERSION},
                         .keep = options->keep_rows};
    if (pthread_mutex_init(&l->lock, NULL) != 0) {
        memory_put(l, l);
        return il_error_set(err, IL_E_INTERNAL, "no mutex to be had");
    }
    *out = &l->base;
    return IL_OK;
}
