/* SPDX-License-Identifier: Apache-2.0 */
#include "check/behind.h"

#include "base/error.h"
#include "base/mem.h"

enum {
    BEHIND_BITS_LEAST = 10,
    BEHIND_KEY_BYTES = 64, /* no exploration needs more for one */
    BEHIND_WORK = 1 << 14  /* steps between two calls of `progress` */
};

il_status il_behind_room_new(il_behind_room *room, il_arena *arena, uint32_t most, size_t nsteps, il_error *err) {
    *room = (il_behind_room){.bits = BEHIND_BITS_LEAST};
    while (room->bits < 31 && UINT32_C(1) << room->bits < 2 * most) {
        room->bits++;
    }
    room->keys = IL_NEW_ARRAY(arena, uint64_t, (size_t)1 << (room->bits - 1));
    room->slots = IL_NEW_ARRAY(arena, uint32_t, (size_t)1 << room->bits);
    room->stamps = IL_NEW_ARRAY(arena, uint32_t, (size_t)1 << room->bits);
    room->edges = IL_NEW_ARRAY(arena, il_space_edge, nsteps);
    return room->keys && room->slots && room->stamps && room->edges ? IL_OK : il_arena_fail(arena, err);
}

/* 0 when there is no room, 1 when it was there, 2 when it is new. */
static int behind_add(il_behind_room *l, uint64_t key) {
    uint32_t mask = (UINT32_C(1) << l->bits) - 1;
    uint32_t at = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - l->bits));
    for (; l->stamps[at] == l->stamp; at = (at + 1) & mask) {
        if (l->keys[l->slots[at]] == key) {
            return 1;
        }
    }
    if (l->n == UINT32_C(1) << (l->bits - 1)) {
        return 0;
    }
    l->stamps[at] = l->stamp;
    l->slots[at] = l->n;
    l->keys[l->n++] = key;
    return 2;
}

void il_behind_begin(il_behind *b) {
    il_behind_room *l = b->room;
    b->hits = b->steps = 0;
    b->fault = b->full = false;
    l->n = 0;
    if (++l->stamp == 0) {
        memset(l->stamps, 0, sizeof *l->stamps << l->bits);
        l->stamp = 1;
    }
}

static bool behind_goes_on(il_behind *b) {
    const il_space_progress now = {.states = (uint64_t)b->base->n + b->room->n, .edges = b->base->edges + b->steps};
    const bool more = il_space_spend(b->bounds, b->steps);
    b->steps = 0;
    return more && (!b->bounds->progress || b->bounds->progress(b->bounds->progress_ctx, &now));
}

void il_behind_follow(il_behind *b, uint64_t key, bool only) {
    *b->only = only;
    uint32_t n = b->def.expand(b->def.ctx, key, b->room->edges);
    b->steps += n + 1;
    for (uint32_t k = 0; k < n; k++) {
        const il_space_edge *e = &b->room->edges[k];
        bool write = e->symbol >= b->def.first_write;
        if (write && only) {
            continue;
        }
        if (e->fault) {
            b->fault = true;
            continue;
        }
        if (b->def.edge && !write) {
            b->hits |= b->def.edge(b->def.ctx, key, e->symbol, e->next);
        }
        if (il_space_find(b->base, e->next) != UINT32_MAX) {
            continue;
        }
        int added = behind_add(b->room, e->next);
        b->full = b->full || added == 0;
        if (added == 2 && b->def.state) {
            b->hits |= b->def.state(b->def.ctx, e->next);
        }
    }
    *b->only = false;
    if (b->bounds && b->steps >= BEHIND_WORK) {
        b->full = b->full || !behind_goes_on(b);
    }
}

void il_behind_finish(il_behind *b) {
    for (uint32_t i = 0; i < b->room->n && (b->hits & b->bits) != b->bits && !b->full; i++) {
        il_behind_follow(b, b->room->keys[i], false);
    }
}

bool il_behind_whole(il_behind *b) {
    const uint64_t keys = (uint64_t)b->base->n + b->room->n;
    const bool work = il_space_spend(b->bounds, b->steps);
    const bool states = b->bounds->states == 0 || keys < b->bounds->states;
    b->steps = 0;
    return !b->full && work && states && (b->bounds->bytes == 0 || keys < b->bounds->bytes / BEHIND_KEY_BYTES);
}
