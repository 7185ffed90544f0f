/* SPDX-License-Identifier: Apache-2.0 */
/* Which edges are one mutant, and which mutants are run. */
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "check/wormhole_part.h"

/* By what is seen: of one orbit's edges. */
static int worm_by_sight(const void *pa, const void *pb) {
    const il_worm_edge *a = pa, *b = pb;
    const uint64_t left[4] = {a->symbol, a->rejected ? 1u + a->reason : 0u, a->view, a->seen};
    const uint64_t right[4] = {b->symbol, b->rejected ? 1u + b->reason : 0u, b->view, b->seen};
    for (size_t i = 0; i < 4; i++) {
        if (left[i] != right[i]) {
            return left[i] < right[i] ? -1 : 1;
        }
    }
    return 0;
}

/* The same always: what is seen, and then the edge itself. */
static int worm_by_edge(const void *pa, const void *pb) {
    const il_worm_edge *a = pa, *b = pb;
    const uint64_t left[3] = {a->from, a->to, a->effect};
    const uint64_t right[3] = {b->from, b->to, b->effect};
    int order = worm_by_sight(pa, pb);
    for (size_t i = 0; order == 0 && i < 3; i++) {
        order = (left[i] > right[i]) - (left[i] < right[i]);
    }
    return order;
}

/* Puts the edges of an orbit (or of a mutant) together, in the order of their numbers and else as they were: there are millions, so they are
 * dealt out rather than compared. */
static il_status worm_deal(il_worm_run *r, uint32_t groups, bool mutants, il_error *err) {
    size_t *at = r->alloc->alloc(r->alloc->ctx, ((size_t)groups + 1) * sizeof *at);
    il_worm_edge *out = r->alloc->alloc(r->alloc->ctx, r->nedges * sizeof *out);
    if (!at || !out) {
        r->alloc->free(r->alloc->ctx, at);
        r->alloc->free(r->alloc->ctx, out);
        return il_error_set(err, IL_E_MEMORY, "no memory for the wormholes");
    }
    memset(at, 0, ((size_t)groups + 1) * sizeof *at);
    for (size_t i = 0; i < r->nedges; i++) {
        at[(mutants ? r->edges[i].mutant : r->edges[i].orbit) + 1]++;
    }
    for (uint32_t g = 0; g < groups; g++) {
        at[g + 1] += at[g];
    }
    for (size_t i = 0; i < r->nedges; i++) {
        out[at[mutants ? r->edges[i].mutant : r->edges[i].orbit]++] = r->edges[i];
    }
    r->alloc->free(r->alloc->ctx, at);
    r->alloc->free(r->alloc->ctx, r->edges);
    r->edges = out;
    return IL_OK;
}

/* What the edges of an orbit show: kind, region and the set of their observations. */
static void worm_sight(const il_worm_run *r, const il_worm_edge *e, size_t n, uint8_t digest[IL_DIGEST_BYTES]) {
    il_sha256 h;
    il_sha256_init(&h, NULL);
    const uint64_t head[2] = {r->orbits[e->orbit].kind, r->orbits[e->orbit].region};
    il_sha256_add(&h, head, sizeof head);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || worm_by_sight(&e[i - 1], &e[i]) != 0) {
            const uint64_t seen[4] = {e[i].symbol, e[i].rejected ? 1u + e[i].reason : 0u, e[i].view, e[i].seen};
            il_sha256_add(&h, seen, sizeof seen);
        }
    }
    il_sha256_end(&h, digest);
}

/* Makes orbits that show the same one mutant, numbered in the order of discovery. */
static il_status worm_merge(il_worm_run *r, il_nodes *sights, il_error *err) {
    uint8_t *digests = r->alloc->alloc(r->alloc->ctx, (size_t)r->keys.n * IL_DIGEST_BYTES + 1);
    if (!digests) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the wormholes");
    }
    il_status status = IL_OK;
    for (size_t from = 0, to = 0; status == IL_OK && from < r->nedges; from = to) {
        uint8_t digest[IL_DIGEST_BYTES];
        uint64_t key = 0;
        for (to = from; to < r->nedges && r->edges[to].orbit == r->edges[from].orbit; to++) {
        }
        qsort(&r->edges[from], to - from, sizeof *r->edges, worm_by_edge);
        worm_sight(r, &r->edges[from], to - from, digest);
        memcpy(&key, digest, sizeof key);
        uint32_t at = 0;
        bool fresh = false;
        do {
            status = il_nodes_add(sights, key++, IL_NODES_NONE, &at, &fresh, err);
        } while (status == IL_OK && !fresh && memcmp(&digests[(size_t)at * IL_DIGEST_BYTES], digest, IL_DIGEST_BYTES) != 0);
        if (status == IL_OK && fresh) {
            memcpy(&digests[(size_t)at * IL_DIGEST_BYTES], digest, IL_DIGEST_BYTES);
        }
        for (size_t i = from; i < to; i++) {
            r->edges[i].mutant = at;
        }
    }
    r->alloc->free(r->alloc->ctx, digests);
    return status;
}

/* The edges in the order of their mutants. */
il_status il_worm_mutants(il_worm_run *r, il_error *err) {
    for (size_t i = 0; i < r->nedges; i++) {
        il_worm_edge *e = &r->edges[i];
        e->view = r->view[e->from];
        e->seen = r->view[e->to];
        if (il_eye_hides(&r->p, &r->ask->eye, e->symbol)) {
            e->symbol = IL_NO_SYMBOL;
            e->rejected = false;
        }
    }
    if (r->nedges == 0) {
        return IL_OK;
    }
    IL_TRY(worm_deal(r, r->keys.n, false, err));
    il_nodes sights;
    il_nodes_init(&sights, r->alloc, NULL);
    il_status status = worm_merge(r, &sights, err);
    r->w->distinct = sights.n;
    r->w->orbits = r->keys.n;
    il_nodes_free(&sights);
    return status == IL_OK ? worm_deal(r, r->w->distinct, true, err) : status;
}

/* splitmix64 */
static uint64_t worm_random(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static int worm_by_id(const void *pa, const void *pb) {
    const il_wormhole *a = pa, *b = pb;
    return a->kind != b->kind ? (a->kind > b->kind) - (a->kind < b->kind) : (a->number > b->number) - (a->number < b->number);
}

/* Which mutants are run: each with the same chance, in their order. Takes `most` of those that are left, one by one. */
il_status il_worm_draw(il_worm_run *r, il_error *err) {
    il_wormholes *w = r->w;
    uint64_t random = r->ask->seed;
    uint32_t want = w->distinct < r->ask->most ? w->distinct : r->ask->most;
    w->dropped = w->distinct - want;
    w->list = IL_NEW_ARRAY(r->arena, il_wormhole, want);
    if (!w->list) {
        return il_arena_fail(r->arena, err);
    }
    uint32_t kinds[IL_WORMHOLE_KINDS] = {0};
    uint32_t mutant = 0;
    for (size_t from = 0, to = 0; from < r->nedges; from = to, mutant++) {
        for (to = from; to < r->nedges && r->edges[to].mutant == mutant; to++) {
        }
        const il_worm_edge *e = &r->edges[from];
        const il_worm_orbit *o = &r->orbits[e->orbit];
        uint32_t number = ++kinds[o->kind];
        uint32_t left = w->distinct - mutant;
        if (w->n == want || worm_random(&random) % left >= want - w->n) {
            continue;
        }
        il_wormhole *h = &w->list[w->n++];
        *h = (il_wormhole){.kind = (il_wormhole_kind)o->kind,
                           .number = number,
                           .region = o->region,
                           .from = il_plant_state(&r->p, e->from),
                           .to = il_plant_state(&r->p, e->to),
                           .symbol = e->symbol,
                           .effect = e->effect,
                           .rejected = e->rejected,
                           .first = from,
                           .edges = (uint32_t)(to - from)};
        for (size_t i = from; i < to; i++) {
            h->orbits += i == from || r->edges[i].orbit != r->edges[i - 1].orbit;
        }
    }
    if (w->n > 0) {
        qsort(w->list, w->n, sizeof *w->list, worm_by_id);
    }
    return IL_OK;
}
