/* SPDX-License-Identifier: Apache-2.0 */
/* What is judged of several sessions together, and the way to what was found. */
#include "base/error.h"
#include "check/fleet_part.h"

/* ---- what is judged ---- */

static bool fleet_broken(il_fleet_work *t, const il_fleet_joint *j, uint32_t invariant) {
    const il_fleet_invariant *v = &t->f->invariants[invariant];
    uint32_t values[IL_FLEET_INSTANCES_MAX], n = 0;
    for (uint32_t i = 0; i < t->f->instances; i++) {
        const uint32_t row = j->local[i] ? il_fleet_row_of(t, il_fleet_state(t, j, i)) : UINT32_MAX;
        if (row != UINT32_MAX && (t->rows[row].counts >> invariant & 1)) {
            values[n++] = v->kind == IL_FLEET_COUNT ? 0 : il_model_get(t->m, t->rows[row].state, v->var);
        }
    }
    t->peak[invariant] = n > t->peak[invariant] ? n : t->peak[invariant];
    return il_fleet_breaks(v, values, n);
}

uint64_t il_fleet_judge(void *ctx, uint64_t key) {
    il_fleet_work *t = ctx;
    const il_fleet_joint j = il_fleet_unpack(t, key);
    uint64_t bits = 0;
    for (uint32_t i = 0; i < t->f->ninvariants; i++) {
        bits |= fleet_broken(t, &j, i) ? UINT64_C(1) << i : 0;
    }
    bits |= j.local[t->f->family ? 1 : 0] ? UINT64_C(1) << IL_FLEET_ALL : 0; /* those that have not begun stand in front */
    if (!t->f->family || !t->f->family->together) {
        return bits;
    }
    uint64_t all = il_fleet_state(t, &j, 0);
    uint32_t bit = IL_FLEET_TOGETHER;
    for (uint32_t i = 1; i < t->f->instances; i++) {
        all = j.local[i] ? il_family_union(t->m, t->f->family, all, il_fleet_state(t, &j, i)) : all;
    }
    for (uint32_t r = 0; r < t->m->nregions; r++) {
        if (t->f->family->together >> r & 1) {
            bits |= il_steps_in_region(t->steps, r, all, IL_NO_SYMBOL, all) ? UINT64_C(1) << bit : 0;
            bit++;
        }
    }
    return bits;
}

/* Who takes over what another holds must hold it afterwards. */
uint64_t il_fleet_judge_edge(void *ctx, uint64_t key, uint32_t code, uint64_t next) {
    il_fleet_work *t = ctx;
    uint32_t slot = 0, symbol = 0;
    const il_fleet_move move = il_fleet_decode(t, code, &slot, &symbol);
    (void)next;
    if (move != IL_FLEET_SPAWN && move != IL_FLEET_ANSWER) {
        return 0;
    }
    const il_fleet_joint j = il_fleet_unpack(t, key);
    const il_fleet_moved v = il_fleet_make(t, &j, code);
    const bool answer = move == IL_FLEET_ANSWER;
    t->began[answer] = true;
    t->carried[answer] = t->carried[answer] || v.symbol != IL_NO_SYMBOL;
    const uint64_t before = answer ? il_fleet_state(t, &j, 0) : t->m->initial;
    const bool lost = il_family_lost(t->m, t->f->family, v.giver, v.post) != UINT32_MAX;
    const bool would = il_family_lost(t->m, t->f->family, v.giver, before) != UINT32_MAX;
    return (lost ? UINT64_C(1) << (answer ? IL_FLEET_LOST_ANSWER : IL_FLEET_LOST_START) : 0) |
           (would ? UINT64_C(1) << IL_FLEET_WOULD_LOSE : 0);
}

/* ---- witnesses ---- */

/* Walks the witness once more, with names: the order of the product forgets which instance is which. */
il_status il_fleet_witness(il_fleet_work *t, const il_space *s, const il_space_hit *hit, il_arena *arena, il_fleet_line *out,
                           il_error *err) {
    const uint32_t n = il_space_path(s, hit->node, NULL);
    uint32_t *nodes = IL_NEW_ARRAY(arena, uint32_t, n + 1);
    out->steps = IL_NEW_ARRAY(arena, il_fleet_step, n + 1);
    if (!nodes || !out->steps) {
        return il_arena_fail(arena, err);
    }
    (void)il_space_path(s, hit->node, nodes);
    il_fleet_joint j = il_fleet_unpack(t, il_space_key(s, 0));
    uint32_t who[IL_FLEET_INSTANCES_MAX] = {0}, born = t->f->family ? 1 : t->f->instances;
    for (uint32_t i = 0; i < t->f->instances; i++) {
        who[i] = i + 1;
    }
    out->nsteps = n + (hit->edge ? 1 : 0);
    for (uint32_t i = 0; i < out->nsteps; i++) {
        uint32_t slot = 0, symbol = 0;
        const uint32_t code = i < n ? il_space_via(s, NULL, nodes[i]) : hit->symbol;
        const il_fleet_move move = il_fleet_decode(t, code, &slot, &symbol);
        const il_fleet_moved v = il_fleet_make(t, &j, code);
        if (move == IL_FLEET_SPAWN) {
            who[slot] = ++born;
        }
        out->steps[i] = (il_fleet_step){.move = move, .instance = who[slot], .symbol = v.symbol, .post = v.post};
        if (v.done && il_fleet_moves(t, &j, v.taker, v.post, v.begun)) {
            il_fleet_sort(t, &j, who);
        }
    }
    out->ninstances = born < IL_FLEET_INSTANCES_MAX ? born : IL_FLEET_INSTANCES_MAX;
    for (uint32_t i = 0; i < t->f->instances; i++) {
        if (j.local[i] && who[i] > 0 && who[i] <= IL_FLEET_INSTANCES_MAX) {
            out->states[who[i] - 1] = il_fleet_state(t, &j, i);
        }
    }
    return IL_OK;
}

/* The variable that the last step of the witness lost. */
il_str il_fleet_lost(il_fleet_work *t, const il_space *s, const il_space_hit *hit) {
    const il_fleet_joint j = il_fleet_unpack(t, il_space_key(s, hit->node));
    const il_fleet_moved v = il_fleet_make(t, &j, hit->symbol);
    const uint32_t var = il_family_lost(t->m, t->f->family, v.giver, v.post);
    return var == UINT32_MAX ? (il_str){0} : t->m->vars[var].name;
}
