/* SPDX-License-Identifier: Apache-2.0 */
/* States, keys and moves of several sessions together. */
#include "base/error.h"
#include "base/mem.h"
#include "check/fleet_part.h"

/* ---- states and their numbers ---- */

static bool fleet_room(il_fleet_work *t, void **p, uint32_t *cap, uint32_t n, size_t size) {
    if (n < *cap) {
        return true;
    }
    const uint32_t more = *cap ? *cap * 2 : 1024;
    void *q = t->alloc->alloc(t->alloc->ctx, more * size);
    if (!q) {
        t->starved = true;
        return false;
    }
    if (n > 0) {
        memcpy(q, *p, n * size);
    }
    t->alloc->free(t->alloc->ctx, *p);
    *p = q;
    *cap = more;
    return true;
}

/* The number of the state's own part in a key; 0 when it is too large for one. */
uint32_t il_fleet_local(il_fleet_work *t, uint64_t state) {
    const uint32_t n = il_numbers_of(&t->locals, state & ~t->shared);
    t->starved = t->starved || (n == IL_NO_NUMBER && t->locals.n < IL_NUMBERS_MAX);
    if (n == IL_NO_NUMBER || n + 1 >= UINT32_C(1) << t->local_bits) {
        t->wide = true;
        return 0;
    }
    return n + 1;
}

/* UINT32_MAX: too large for a key, or no memory. */
uint32_t il_fleet_row_of(il_fleet_work *t, uint64_t state) {
    const uint32_t known = il_numbers_find(&t->states, state);
    if (known != IL_NO_NUMBER) {
        return known;
    }
    const uint32_t local = il_fleet_local(t, state);
    void *p = t->rows;
    if (local == 0 || !fleet_room(t, &p, &t->rows_cap, t->states.n, sizeof *t->rows)) {
        return UINT32_MAX;
    }
    t->rows = p;
    const uint32_t row = il_numbers_of(&t->states, state);
    if (row == IL_NO_NUMBER) {
        t->wide = t->states.n == IL_NUMBERS_MAX;
        t->starved = !t->wide;
        return UINT32_MAX;
    }
    il_fleet_row *r = &t->rows[row];
    *r = (il_fleet_row){.state = state, .local = local, .renews = il_fleet_renews(t->m, t->f, state)};
    for (uint32_t i = 0; i < t->f->ninvariants; i++) {
        r->counts |= il_fleet_counts(t->m, &t->f->invariants[i], state) ? UINT32_C(1) << i : 0;
    }
    return row;
}

/* The steps of an instance by itself: those that change something, one for each state that they lead to. */
static void fleet_expand_row(il_fleet_work *t, uint32_t row) {
    const uint64_t state = t->rows[row].state;
    const il_steps_edges edges = il_steps_row(t->steps, NULL, state);
    const uint32_t first = t->nedges;
    for (uint32_t i = 0; i < edges.n; i++) {
        if (edges.edge[i].next == state && !edges.edge[i].fault) {
            continue;
        }
        const uint32_t to = edges.edge[i].fault ? row : il_fleet_row_of(t, edges.edge[i].next);
        bool again = to == UINT32_MAX;
        for (uint32_t k = first; !again && k < t->nedges; k++) {
            again = t->edges[k].row == to && t->edges[k].fault == edges.edge[i].fault;
        }
        void *p = t->edges;
        if (again || !fleet_room(t, &p, &t->edges_cap, t->nedges, sizeof *t->edges)) {
            continue;
        }
        t->edges = p;
        t->edges[t->nedges++] = (il_fleet_edge){.row = to, .symbol = edges.edge[i].symbol, .fault = edges.edge[i].fault};
    }
    t->rows[row].first = first;
    t->rows[row].n = t->nedges - first;
    t->rows[row].expanded = true;
}

/* ---- keys ---- */

uint64_t il_fleet_pack(const il_fleet_work *t, const il_fleet_joint *j) {
    uint64_t key = 0;
    uint32_t at = 0;
    for (uint32_t v = 0; v < t->m->nvars; v++) {
        if (t->f->shared >> v & 1) {
            key |= (uint64_t)il_model_get(t->m, j->shared, v) << at;
            at += t->m->vars[v].bits;
        }
    }
    for (uint32_t i = 0; i < t->f->instances; i++, at += t->local_bits) {
        key |= (uint64_t)j->local[i] << at;
    }
    return key;
}

il_fleet_joint il_fleet_unpack(const il_fleet_work *t, uint64_t key) {
    il_fleet_joint j = {0};
    for (uint32_t v = 0; v < t->m->nvars; v++) {
        if (t->f->shared >> v & 1) {
            j.shared = il_model_set(t->m, j.shared, v, (uint32_t)(key & ((UINT64_C(1) << t->m->vars[v].bits) - 1)));
            key >>= t->m->vars[v].bits;
        }
    }
    for (uint32_t i = 0; i < t->f->instances; i++, key >>= t->local_bits) {
        j.local[i] = (uint32_t)(key & ((UINT64_C(1) << t->local_bits) - 1));
    }
    return j;
}

/* Alike instances in the order of their numbers; `who` moves along, may be NULL. */
void il_fleet_sort(const il_fleet_work *t, il_fleet_joint *j, uint32_t *who) {
    const uint32_t from = t->f->family ? 1 : 0; /* the parent is like no other */
    for (uint32_t i = from + 1; i < t->f->instances; i++) {
        for (uint32_t k = i; k > from && j->local[k - 1] > j->local[k]; k--) {
            const uint32_t local = j->local[k];
            j->local[k] = j->local[k - 1];
            j->local[k - 1] = local;
            if (who) {
                const uint32_t w = who[k];
                who[k] = who[k - 1];
                who[k - 1] = w;
            }
        }
    }
}

uint64_t il_fleet_state(const il_fleet_work *t, const il_fleet_joint *j, uint32_t slot) {
    return t->locals.keys[j->local[slot] - 1] | j->shared;
}

/* ---- moves ---- */

/* What a move does. `taker` is whose state it changes: the instance itself, the child that begins, the parent that is answered. */

bool il_fleet_moves(il_fleet_work *t, il_fleet_joint *j, uint32_t slot, uint64_t post, bool begun) {
    const uint32_t local = begun ? il_fleet_local(t, post) : 0;
    if (begun && local == 0) {
        return false; /* wide or starved, which is noted */
    }
    j->local[slot] = local;
    j->shared = begun ? post & t->shared : j->shared;
    return true;
}

/* Numbers of steps: those of the slots by their symbols, then for each slot its renewal, its start and its answer. */
static uint32_t fleet_code(const il_fleet_work *t, il_fleet_move move, uint32_t slot, uint32_t symbol) {
    const uint32_t k = t->f->instances;
    return move == IL_FLEET_STEP ? slot * t->m->nsymbols + symbol : k * t->m->nsymbols + ((uint32_t)move - 1) * k + slot;
}

il_fleet_move il_fleet_decode(const il_fleet_work *t, uint32_t code, uint32_t *slot, uint32_t *symbol) {
    const uint32_t k = t->f->instances, steps = k * t->m->nsymbols;
    *slot = code < steps ? code / t->m->nsymbols : (code - steps) % k;
    *symbol = code < steps ? code % t->m->nsymbols : IL_NO_SYMBOL;
    return code < steps ? IL_FLEET_STEP : (il_fleet_move)((code - steps) / k + 1);
}

static il_fleet_moved fleet_join(il_fleet_work *t, uint32_t taker, uint64_t giver, uint64_t state) {
    il_fleet_moved v = {.taker = taker, .begun = true, .giver = giver, .post = state};
    v.symbol = il_family_symbol(t->m, t->f->family, giver);
    if (v.symbol == IL_NO_SYMBOL) {
        v.done = true;
        return v;
    }
    const il_step step = il_steps_one(t->steps, NULL, state, v.symbol);
    v.done = step.verdict == IL_ACCEPT;
    v.fault = step.verdict == IL_FAULT;
    v.post = step.next;
    return v;
}

/* A move that may be made in this state, as il_fleet_expand() found it. */
il_fleet_moved il_fleet_make(il_fleet_work *t, const il_fleet_joint *j, uint32_t code) {
    uint32_t slot = 0, symbol = 0;
    switch (il_fleet_decode(t, code, &slot, &symbol)) {
    case IL_FLEET_STEP: {
        const il_step step = il_steps_one(t->steps, NULL, il_fleet_state(t, j, slot), symbol);
        return (il_fleet_moved){.done = step.verdict == IL_ACCEPT,
                                .fault = step.verdict == IL_FAULT,
                                .symbol = symbol,
                                .taker = slot,
                                .begun = true,
                                .post = step.next};
    }
    case IL_FLEET_RENEW:
        return (il_fleet_moved){.done = true,
                                .symbol = IL_NO_SYMBOL,
                                .taker = slot,
                                .begun = !t->f->family,
                                .post = (t->m->initial & ~t->shared) | j->shared};
    case IL_FLEET_SPAWN:
        return fleet_join(t, slot, il_fleet_state(t, j, 0), (t->m->initial & ~t->shared) | j->shared);
    case IL_FLEET_ANSWER:
        return fleet_join(t, 0, il_fleet_state(t, j, slot), il_fleet_state(t, j, 0));
    }
    return (il_fleet_moved){0};
}

static uint32_t fleet_emit(il_fleet_work *t, const il_fleet_joint *j, uint32_t code, il_space_edge *out, uint32_t n) {
    const il_fleet_moved v = il_fleet_make(t, j, code);
    il_fleet_joint to = *j;
    if (v.fault) {
        out[n] = (il_space_edge){.next = il_fleet_pack(t, j), .symbol = code, .fault = true};
        return n + 1;
    }
    if (!v.done || !il_fleet_moves(t, &to, v.taker, v.post, v.begun)) {
        return n;
    }
    il_fleet_sort(t, &to, NULL);
    out[n] = (il_space_edge){.next = il_fleet_pack(t, &to), .symbol = code};
    return n + 1;
}

static uint32_t fleet_expand_slot(il_fleet_work *t, const il_fleet_joint *j, uint32_t slot, il_space_edge *out, uint32_t n) {
    const uint32_t row = il_fleet_row_of(t, il_fleet_state(t, j, slot));
    if (row == UINT32_MAX) {
        return n;
    }
    if (!t->rows[row].expanded) {
        fleet_expand_row(t, row);
    }
    for (uint32_t i = 0; i < t->rows[row].n; i++) {
        const il_fleet_edge *e = &t->edges[t->rows[row].first + i];
        il_fleet_joint to = *j;
        if (!e->fault) {
            to.local[slot] = t->rows[e->row].local;
            to.shared = t->rows[e->row].state & t->shared;
            il_fleet_sort(t, &to, NULL);
        }
        out[n++] = (il_space_edge){
            .next = il_fleet_pack(t, &to), .symbol = fleet_code(t, IL_FLEET_STEP, slot, e->symbol), .fault = e->fault};
    }
    return n;
}

/* Of instances in the same state only the first moves: what the others do is the same up to their order. */
static bool fleet_again(const il_fleet_work *t, const il_fleet_joint *j, uint32_t slot) {
    return slot > (t->f->family ? 1u : 0u) && j->local[slot] == j->local[slot - 1];
}

uint32_t il_fleet_expand(void *ctx, uint64_t key, il_space_edge *out) {
    il_fleet_work *t = ctx;
    const il_fleet_joint j = il_fleet_unpack(t, key);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->f->instances; i++) {
        if (j.local[i] && !fleet_again(t, &j, i)) {
            n = fleet_expand_slot(t, &j, i, out, n);
        }
    }
    for (uint32_t i = t->f->family ? 1 : 0; t->f->renew && i < t->f->instances; i++) {
        const uint32_t row = j.local[i] && !fleet_again(t, &j, i) ? il_fleet_row_of(t, il_fleet_state(t, &j, i)) : UINT32_MAX;
        if (row != UINT32_MAX && t->rows[row].renews) {
            n = fleet_emit(t, &j, fleet_code(t, IL_FLEET_RENEW, i, 0), out, n);
        }
    }
    for (uint32_t i = 1; t->f->family && i < t->f->instances; i++) {
        if (!j.local[i] && !fleet_again(t, &j, i)) {
            n = fleet_emit(t, &j, fleet_code(t, IL_FLEET_SPAWN, i, 0), out, n);
        }
    }
    for (uint32_t i = 1; t->f->family && i < t->f->instances; i++) {
        if (j.local[i] && !fleet_again(t, &j, i)) {
            n = fleet_emit(t, &j, fleet_code(t, IL_FLEET_ANSWER, i, 0), out, n);
        }
    }
    return n;
}
