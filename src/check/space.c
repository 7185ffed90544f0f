/* SPDX-License-Identifier: Apache-2.0 */
#include "check/space.h"

#include "base/error.h"
#include "base/mem.h"

#define IL_SPACE_STATES (1u << 24)
#define IL_SPACE_BYTES ((size_t)1 << 30)
/* keys, parent, via, writes and two index slots */
#define IL_SPACE_NODE_BYTES (8u + 4u + 4u + 2u + 8u)

static uint32_t space_hash(uint64_t key) { return (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32); }

uint32_t il_space_find(const il_space *s, uint64_t key) {
    if (s->n == 0) {
        return UINT32_MAX;
    }
    uint32_t at = space_hash(key) & s->mask;
    while (s->slots[at]) {
        if (s->keys[s->slots[at] - 1] == key) {
            return s->slots[at] - 1;
        }
        at = (at + 1) & s->mask;
    }
    return UINT32_MAX;
}

void il_space_free(il_space *s) {
    if (s->alloc) {
        s->alloc->free(s->alloc->ctx, s->keys);
        s->alloc->free(s->alloc->ctx, s->parent);
        s->alloc->free(s->alloc->ctx, s->via);
        s->alloc->free(s->alloc->ctx, s->writes);
        s->alloc->free(s->alloc->ctx, s->slots);
    }
    *s = (il_space){0};
}

static bool space_move(il_space *s, void **p, size_t old_bytes, size_t new_bytes) {
    void *q = s->alloc->alloc(s->alloc->ctx, new_bytes);
    if (!q) {
        return false;
    }
    if (old_bytes > 0 && *p) {
        memcpy(q, *p, old_bytes);
    }
    s->alloc->free(s->alloc->ctx, *p);
    *p = q;
    return true;
}

static bool space_grow(il_space *s) {
    uint32_t cap = s->cap ? s->cap * 2 : 1024;
    void *keys = s->keys;
    void *parent = s->parent;
    void *via = s->via;
    void *writes = s->writes;
    bool done = space_move(s, &keys, (size_t)s->n * 8, (size_t)cap * 8);
    s->keys = keys;
    done = done && space_move(s, &parent, (size_t)s->n * 4, (size_t)cap * 4);
    s->parent = parent;
    done = done && space_move(s, &via, (size_t)s->n * 4, (size_t)cap * 4);
    s->via = via;
    done = done && space_move(s, &writes, (size_t)s->n * 2, (size_t)cap * 2);
    s->writes = writes;
    uint32_t *slots = done ? s->alloc->alloc(s->alloc->ctx, (size_t)cap * 2 * sizeof *slots) : NULL;
    if (!slots) {
        return false;
    }
    memset(slots, 0, (size_t)cap * 2 * sizeof *slots);
    s->alloc->free(s->alloc->ctx, s->slots);
    s->slots = slots;
    s->mask = cap * 2 - 1;
    s->cap = cap;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t at = space_hash(s->keys[i]) & s->mask;
        while (slots[at]) {
            at = (at + 1) & s->mask;
        }
        slots[at] = i + 1;
    }
    return true;
}

static il_status space_add(il_space *s, uint64_t key, uint32_t parent, uint32_t via, uint16_t writes, uint32_t layer_end,
                           il_error *err) {
    uint32_t known = il_space_find(s, key);
    if (known != UINT32_MAX) {
        if (known >= layer_end && writes < s->writes[known]) { /* as short, with fewer writes */
            s->parent[known] = parent;
            s->via[known] = via;
            s->writes[known] = writes;
        }
        return IL_OK;
    }
    if (s->n == s->cap && !space_grow(s)) {
        return il_error_set(err, IL_E_MEMORY, "no memory for more states");
    }
    s->keys[s->n] = key;
    s->parent[s->n] = parent;
    s->via[s->n] = via;
    s->writes[s->n] = writes;
    uint32_t at = space_hash(key) & s->mask;
    while (s->slots[at]) {
        at = (at + 1) & s->mask;
    }
    s->slots[at] = ++s->n;
    return IL_OK;
}

/* Takes a hit for each new bit; among hits of one layer the one with fewest writes stays. */
static void space_hit(il_space *s, uint64_t bits, const il_space_hit *hit, uint64_t settled, uint16_t best[64]) {
    for (uint32_t b = 0; bits != 0 && b < 64; b++) {
        if ((bits >> b & 1) == 0 || (settled >> b & 1)) {
            continue;
        }
        uint16_t writes = s->writes[hit->node];
        if (!s->hits[b].found || writes < best[b]) {
            s->hits[b] = *hit;
            best[b] = writes;
        }
    }
}

static uint64_t space_found(const il_space *s) {
    uint64_t bits = 0;
    for (uint32_t b = 0; b < 64; b++) {
        bits |= (uint64_t)s->hits[b].found << b;
    }
    return bits;
}

static il_status space_layer(il_space *s, const il_space_def *def, uint32_t from, uint32_t to, uint32_t max, uint64_t settled,
                             uint16_t best[64], il_error *err) {
    for (uint32_t i = from; i < to; i++) {
        for (uint32_t symbol = 0; symbol < def->nsymbols; symbol++) {
            uint64_t next = s->keys[i];
            il_space_move move = def->step(def->ctx, s->keys[i], symbol, &next);
            if (move == IL_SPACE_STAY) {
                continue;
            }
            il_space_hit hit = {.found = true, .edge = true, .node = i, .symbol = symbol, .next = next};
            if (move == IL_SPACE_FAULT) {
                if (!s->fault.found) {
                    s->fault = hit;
                }
                continue;
            }
            s->edges += symbol < def->first_write;
            if (def->edge && symbol < def->first_write) {
                space_hit(s, def->edge(def->ctx, s->keys[i], symbol, next), &hit, settled, best);
            }
            if (s->n >= max && il_space_find(s, next) == UINT32_MAX) {
                s->bound_hit = true;
                continue;
            }
            IL_TRY(space_add(s, next, i, symbol, (uint16_t)(s->writes[i] + (symbol >= def->first_write)), to, err));
        }
    }
    return IL_OK;
}

il_status il_space_explore(il_space *s, const il_alloc *alloc, const il_space_def *def, const il_space_bounds *bounds,
                           il_error *err) {
    *s = (il_space){.alloc = alloc};
    uint32_t max = bounds && bounds->states ? bounds->states : IL_SPACE_STATES;
    size_t bytes = bounds && bounds->bytes ? bounds->bytes : IL_SPACE_BYTES;
    if (max > bytes / IL_SPACE_NODE_BYTES) {
        max = (uint32_t)(bytes / IL_SPACE_NODE_BYTES);
    }
    if (max == 0) {
        s->bound_hit = true;
        return IL_OK;
    }
    IL_TRY(space_add(s, def->initial, 0, UINT32_MAX, 0, 0, err));
    uint32_t from = 0;
    for (uint32_t layer = 0; from < s->n; layer++) {
        uint16_t best[64] = {0};
        uint64_t settled = space_found(s); /* hits of earlier layers are shorter and stay */
        uint32_t to = s->n;
        s->depth = layer;
        if (layer == 0 && def->state) {
            il_space_hit start = {.found = true, .node = 0, .symbol = UINT32_MAX, .next = def->initial};
            space_hit(s, def->state(def->ctx, def->initial), &start, settled, best);
            if (def->stop && (space_found(s) & def->stop) == def->stop) {
                s->stopped = true;
                return IL_OK;
            }
            settled = space_found(s);
        }
        IL_TRY(space_layer(s, def, from, to, max, settled, best, err));
        for (uint32_t i = to; def->state && i < s->n; i++) {
            il_space_hit hit = {.found = true, .node = i, .symbol = s->via[i], .next = s->keys[i]};
            space_hit(s, def->state(def->ctx, s->keys[i]), &hit, settled, best);
        }
        if (def->stop && (space_found(s) & def->stop) == def->stop) {
            s->stopped = true;
            return IL_OK;
        }
        from = to;
    }
    return IL_OK;
}
