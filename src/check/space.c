/* SPDX-License-Identifier: Apache-2.0 */
#include "check/space.h"

#include "base/error.h"
#include "base/mem.h"

#define IL_SPACE_STATES (1u << 24)
#define IL_SPACE_BYTES ((size_t)1 << 30)
/* keys, parent, via, writes and two index slots */
#define IL_SPACE_NODE_BYTES (8u + 4u + 4u + 2u + 8u)

enum { SPACE_AHEAD = 16 }; /* slots ahead whose keys are fetched while the table grows */

/* Keys that differ little lie far apart by the upper bits of the product; and a table of twice the size keeps its order. */
static uint32_t space_hash(const il_space *s, uint64_t key) {
    return (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - s->bits));
}

/* The slot of a key, or the empty one where it would be. */
static uint32_t space_slot(const il_space *s, uint64_t key) {
    uint32_t at = space_hash(s, key);
    while (s->slots[at] && s->keys[s->slots[at] - 1] != key) {
        at = (at + 1) & ((UINT32_C(1) << s->bits) - 1);
    }
    return at;
}

uint32_t il_space_find(const il_space *s, uint64_t key) {
    uint32_t place = s->n == 0 ? 0 : s->slots[space_slot(s, key)];
    return place == 0 ? UINT32_MAX : place - 1;
}

uint64_t il_space_key(const il_space *s, uint32_t node) { return s->keys[node]; }

void il_space_free(il_space *s) {
    if (s->alloc) {
        s->alloc->free(s->alloc->ctx, s->keys);
        s->alloc->free(s->alloc->ctx, s->parent);
        s->alloc->free(s->alloc->ctx, s->via);
        s->alloc->free(s->alloc->ctx, s->writes);
        s->alloc->free(s->alloc->ctx, s->slots);
        s->alloc->free(s->alloc->ctx, s->edge);
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
    uint32_t *old = s->slots;
    uint32_t nold = s->cap ? s->cap * 2 : 0;
    s->slots = slots;
    s->cap = cap;
    for (s->bits = 0; UINT32_C(1) << s->bits < cap * 2; s->bits++) {
    }
    for (uint32_t i = 0; i < nold; i++) { /* by old place: the new places come in nearly the same order */
        if (i + SPACE_AHEAD < nold && old[i + SPACE_AHEAD]) {
            __builtin_prefetch(&s->keys[old[i + SPACE_AHEAD] - 1]);
        }
        if (old[i]) {
            slots[space_slot(s, s->keys[old[i] - 1])] = old[i];
        }
    }
    s->alloc->free(s->alloc->ctx, old);
    return true;
}

/* `max`: a new state beyond that many is not added but noted as a bound that was reached. */
static il_status space_add(il_space *s, uint64_t key, uint32_t parent, uint32_t via, uint16_t writes, uint32_t layer_end,
                           uint32_t max, il_error *err) {
    uint32_t at = s->cap ? space_slot(s, key) : 0;
    if (s->cap && s->slots[at]) {
        uint32_t known = s->slots[at] - 1;
        if (known >= layer_end && writes < s->writes[known]) { /* as short, with fewer writes */
            s->parent[known] = parent;
            s->via[known] = via;
            s->writes[known] = writes;
        }
        return IL_OK;
    }
    if (s->n >= max) {
        s->bound_hit = true;
        return IL_OK;
    }
    if (s->n == s->cap) {
        if (!space_grow(s)) {
            return il_error_set(err, IL_E_MEMORY, "no memory for more states");
        }
        at = space_slot(s, key);
    }
    s->keys[s->n] = key;
    s->parent[s->n] = parent;
    s->via[s->n] = via;
    s->writes[s->n] = writes;
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

static il_status space_step(il_space *s, const il_space_def *def, uint32_t i, const il_space_edge *e, uint32_t layer_end,
                            uint32_t max, uint64_t settled, uint16_t best[64], il_error *err) {
    il_space_hit hit = {.found = true, .edge = true, .node = i, .symbol = e->symbol, .next = e->next};
    if (e->fault) {
        if (!s->fault.found) {
            s->fault = hit;
        }
        return IL_OK;
    }
    bool write = e->symbol >= def->first_write;
    s->edges += !write;
    if (def->edge && !write) {
        space_hit(s, def->edge(def->ctx, s->keys[i], e->symbol, e->next), &hit, settled, best);
    }
    if (e->next == s->keys[i]) {
        return IL_OK; /* known, and no shorter this way */
    }
    return space_add(s, e->next, i, e->symbol, (uint16_t)(s->writes[i] + write), layer_end, max, err);
}

static il_status space_layer(il_space *s, const il_space_def *def, uint32_t from, uint32_t to, uint32_t max, uint64_t settled,
                             uint16_t best[64], il_error *err) {
    for (uint32_t i = from; i < to; i++) {
        uint32_t n = def->expand(def->ctx, s->keys[i], s->edge);
        for (uint32_t k = 0; k < n; k++) { /* memory answers slowly, but many at once */
            __builtin_prefetch(&s->slots[space_hash(s, s->edge[k].next)]);
        }
        for (uint32_t k = 0; k < n; k++) {
            uint32_t place = s->slots[space_hash(s, s->edge[k].next)];
            __builtin_prefetch(&s->keys[place ? place - 1 : 0]);
        }
        for (uint32_t k = 0; k < n; k++) {
            IL_TRY(space_step(s, def, i, &s->edge[k], to, max, settled, best, err));
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
    s->edge = alloc->alloc(alloc->ctx, (size_t)def->nsymbols * sizeof *s->edge + 1);
    if (!s->edge) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the steps of a state");
    }
    IL_TRY(space_add(s, def->initial, 0, UINT32_MAX, 0, 0, max, err));
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
