/* SPDX-License-Identifier: Apache-2.0 */
/* The store as the monitor sees it during one call: the objects that JavaScript gave, with what the call's own commits changed in them. */
#include "exports.h"

typedef struct store_object store_object;
struct store_object {
    store_object *next;
    il_str space, key; /* behind the state */
    uint64_t version;  /* 0: there is no such object */
    size_t n;
    uint8_t state[];
};

static store_object *store_objects;

static store_object **store_find(il_str space, il_str key) {
    store_object **at = &store_objects;
    while (*at != NULL && !(iljs_eq((*at)->key, key) && iljs_eq((*at)->space, space))) {
        at = &(*at)->next;
    }
    return at;
}

static bool store_set(il_str space, il_str key, uint64_t version, il_str state) {
    store_object *o = malloc(sizeof *o + state.n + space.n + key.n);
    if (o == NULL) {
        return false;
    }
    char *names = (char *)o->state + state.n;
    __builtin_memcpy(names, space.p, space.n);
    __builtin_memcpy(names + space.n, key.p, key.n);
    if (state.n > 0) {
        __builtin_memcpy(o->state, state.p, state.n);
    }
    store_object **at = store_find(space, key), *old = *at;
    if (old != NULL) {
        *at = old->next;
        free(old);
    }
    *o = (store_object){
        .next = store_objects, .space = {names, space.n}, .key = {names + space.n, key.n}, .version = version, .n = state.n};
    store_objects = o;
    return true;
}

static il_status store_fail(il_error *err, il_status s) {
    if (err != NULL) {
        *err = (il_error){.code = s};
    }
    return s;
}

static il_status store_load(void *ctx, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                            il_error *err) {
    (void)ctx;
    const store_object *o = *store_find(space, key);
    if (o == NULL) {
        iljs_want(space, key);
        return store_fail(err, IL_E_BUSY);
    }
    if (o->version == 0) {
        return store_fail(err, IL_E_NOT_FOUND);
    }
    *n = o->n;
    if (o->n > cap) {
        return store_fail(err, IL_E_LIMIT);
    }
    if (o->n > 0) {
        __builtin_memcpy(buf, o->state, o->n);
    }
    *version = o->version;
    return IL_OK;
}

static void store_box(iljs_bytes *box, const il_store_change *c) {
    iljs_put_str(box, c->space);
    iljs_put_str(box, c->key);
    iljs_put_u64(box, c->expect);
    iljs_put_u32(box, c->moves);
    iljs_put_str(box, c->moves ? c->state : (il_str){0});
    iljs_put_u32(box, (uint32_t)c->nrows);
    for (size_t i = 0; i < c->nrows; i++) {
        iljs_put_str(box, c->rows[i].kind);
        iljs_put_u64(box, c->rows[i].ticket);
        iljs_put_str(box, c->rows[i].body);
    }
}

static il_status store_commit(void *ctx, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err) {
    (void)ctx;
    (void)now_ms; /* the call's own */
    iljs_bytes *box = iljs_box();
    for (size_t i = 0; i < n; i++) {
        const store_object *o = *store_find(changes[i].space, changes[i].key);
        if (o != NULL && o->version != changes[i].expect) {
            return store_fail(err, IL_E_CONFLICT);
        }
    }
    iljs_put_u32(box, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        store_box(box, &changes[i]);
        if (changes[i].moves && !store_set(changes[i].space, changes[i].key, changes[i].expect + 1, changes[i].state)) {
            box->lost = true;
        }
    }
    iljs_now()->commits++;
    return box->lost ? store_fail(err, IL_E_MEMORY) : IL_OK;
}

il_store iljs_store(void) { return (il_store){.size = sizeof(il_store), .load = store_load, .commit = store_commit}; }

void iljs_clear(void) {
    while (store_objects != NULL) {
        store_object *next = store_objects->next;
        free(store_objects);
        store_objects = next;
    }
}

il_status iljs_object(size_t n, double version) {
    iljs_open(n, 0);
    const il_str space = iljs_part(), key = iljs_part(), state = iljs_part();
    return iljs_done(store_set(space, key, (uint64_t)version, state) ? IL_OK : IL_E_MEMORY, NULL);
}
