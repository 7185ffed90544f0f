/* SPDX-License-Identifier: Apache-2.0 */
/* A batch in SQLite (batch.h): the rows are written as they come, the object that they are about is written once, at the end. */
#include <string.h>

#include "ledger/sqlite.h"

static bool batch_is(const il_sqlite_object *o, il_str space, il_str key) {
    return o->known && il_str_eq((il_str){o->key, o->nkey}, key) && il_str_eq((il_str){o->space, o->nspace}, space);
}

/* Writes the object when it moved in this transaction. */
static il_status batch_write(il_sqlite *l, il_error *err) {
    il_sqlite_object *o = &l->object;
    if (!o->known || !o->moved) {
        return IL_OK;
    }
    const il_store_change change = {.space = {o->space, o->nspace},
                                    .key = {o->key, o->nkey},
                                    .expect = o->stored,
                                    .moves = true,
                                    .state = {(const char *)o->state, o->n}};
    IL_TRY(il_sqlite_move(l, &change, o->version, o->changed_ms, err));
    o->stored = o->version;
    o->moved = false;
    return IL_OK;
}

/* What was read of the file: the object to know from now on. */
static void batch_know(il_sqlite_object *o, il_str space, il_str key, const uint8_t *state, size_t n, uint64_t version) {
    o->known = n <= sizeof o->state && space.n <= sizeof o->space && key.n <= sizeof o->key;
    if (!o->known) {
        return;
    }
    o->moved = false;
    o->stored = o->version = version;
    o->nspace = space.n;
    o->nkey = key.n;
    o->n = n;
    memcpy(o->space, space.p, space.n);
    memcpy(o->key, key.p, key.n);
    memcpy(o->state, state, n);
}

il_status il_sqlite_batch_begin(il_ledger *base, il_error *err) {
    il_sqlite *l = (il_sqlite *)base;
    pthread_mutex_lock(&l->lock);
    il_status status = il_sqlite_begin(l, err);
    if (status == IL_OK) {
        status = il_sqlite_same_version(l, err); /* also forgets the object when somebody else wrote */
        if (status == IL_OK) {
            status = il_sqlite_last(l, &l->batch, err);
        }
        if (status != IL_OK) {
            status = il_sqlite_end(l, status, err);
        }
    }
    if (status != IL_OK) {
        pthread_mutex_unlock(&l->lock);
    }
    return status;
}

il_status il_sqlite_batch_load(il_ledger *base, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                               il_error *err) {
    il_sqlite *l = (il_sqlite *)base;
    il_sqlite_object *o = &l->object;
    if (!batch_is(o, space, key)) {
        IL_TRY(batch_write(l, err));
        IL_TRY(il_sqlite_object_read(l, space, key, buf, cap, n, version, err));
        batch_know(o, space, key, buf, *n, *version);
        return IL_OK;
    }
    *n = o->n;
    if (*n > cap) {
        return il_error_set(err, IL_E_LIMIT, "%.*s `%.*s` needs %zu bytes", IL_STR_ARG(space), IL_STR_ARG(key), o->n);
    }
    memcpy(buf, o->state, o->n);
    *version = o->version;
    return IL_OK;
}

il_status il_sqlite_batch_commit(il_ledger *base, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err) {
    il_sqlite *l = (il_sqlite *)base;
    il_sqlite_object *o = &l->object;
    if (n != 1 || !batch_is(o, changes[0].space, changes[0].key) || changes[0].state.n > sizeof o->state) {
        IL_TRY(batch_write(l, err));
        o->known = false;
        return il_sqlite_changes(l, &l->batch, changes, n, now_ms, err);
    }
    if (changes[0].expect != o->version) {
        return il_error_set(err, IL_E_CONFLICT, "%.*s `%.*s` was changed in between", IL_STR_ARG(changes[0].space),
                            IL_STR_ARG(changes[0].key));
    }
    IL_TRY(il_sqlite_append(l, &l->batch, &changes[0], now_ms, err));
    if (changes[0].moves) {
        o->moved = true;
        o->version++;
        o->changed_ms = now_ms;
        o->n = changes[0].state.n;
        memcpy(o->state, changes[0].state.p, o->n);
    }
    return IL_OK;
}

il_status il_sqlite_batch_end(il_ledger *base, il_status status, il_error *err) {
    il_sqlite *l = (il_sqlite *)base;
    if (status == IL_OK) {
        status = batch_write(l, err);
    }
    const bool known = l->object.known;
    status = il_sqlite_end(l, status, err);
    if (status == IL_OK) {
        l->head = l->batch;
        l->head_known = true;
        l->object.known = known; /* as this transaction left it */
    }
    pthread_mutex_unlock(&l->lock);
    return status;
}
