/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/bdd.h"

#include "base/mem.h"

#define BDD_LEAF UINT32_MAX /* the variable of the two constants: behind all others */

static uint32_t bdd_mix(uint32_t a, uint32_t b, uint32_t c) {
    uint64_t h = a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xc2b2ae3d27d4eb4f) + c * UINT64_C(0x165667b19e3779f9);
    return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

static bool bdd_no_memory(il_bdd *b) {
    b->failed = il_arena_fail(b->arena, NULL);
    return false;
}

static void bdd_bucket(il_bdd *b, uint32_t i) {
    il_bdd_node *n = &b->nodes[i];
    const uint32_t at = bdd_mix(n->var, n->low, n->high) & (b->nbuckets - 1);
    n->next = b->buckets[at];
    b->buckets[at] = i;
}

static void bdd_buckets(il_bdd *b) {
    memset(b->buckets, 0, b->nbuckets * sizeof *b->buckets);
    for (uint32_t i = 2; i < b->n; i++) {
        bdd_bucket(b, i);
    }
}

static bool bdd_grow(il_bdd *b) {
    const uint32_t room = b->room == 0 ? 512 : 2 * b->room;
    il_bdd_node *nodes = (il_bdd_node *)il_arena_raw(b->arena, room * sizeof *nodes);
    uint32_t *buckets = (uint32_t *)il_arena_raw(b->arena, room * sizeof *buckets);
    if (nodes == NULL || buckets == NULL) {
        return bdd_no_memory(b);
    }
    if (b->n > 0) {
        memcpy(nodes, b->nodes, b->n * sizeof *nodes);
    }
    b->nodes = nodes;
    b->buckets = buckets;
    b->room = b->nbuckets = room;
    bdd_buckets(b);
    return true;
}

il_status il_bdd_init(il_bdd *b, il_arena *arena, uint32_t limit, il_error *err) {
    *b = (il_bdd){.arena = arena, .limit = limit};
    b->memo = IL_NEW_ARRAY(arena, il_bdd_memo, IL_BDD_CACHE);
    if (b->memo == NULL || !bdd_grow(b)) {
        return il_arena_fail(arena, err);
    }
    b->nodes[IL_BDD_FALSE] = (il_bdd_node){BDD_LEAF, 0, IL_BDD_FALSE, IL_BDD_FALSE, 0};
    b->nodes[IL_BDD_TRUE] = (il_bdd_node){BDD_LEAF, 0, IL_BDD_TRUE, IL_BDD_TRUE, 0};
    b->n = 2;
    return IL_OK;
}

void il_bdd_cut(il_bdd *b, uint32_t n) {
    if (n < b->n) {
        b->n = n;
        bdd_buckets(b);
        memset(b->memo, 0, IL_BDD_CACHE * sizeof *b->memo);
    }
}

static il_bdd_ref bdd_make(il_bdd *b, uint32_t var, il_bdd_ref low, il_bdd_ref high) {
    if (low == high || il_bdd_bad(b)) {
        return low;
    }
    const uint32_t hash = bdd_mix(var, low, high);
    for (uint32_t i = b->buckets[hash & (b->nbuckets - 1)]; i != 0; i = b->nodes[i].next) {
        const il_bdd_node *n = &b->nodes[i];
        if (n->var == var && n->low == low && n->high == high) {
            return i;
        }
    }
    if (b->n >= b->limit) {
        b->spent = true;
        return IL_BDD_FALSE;
    }
    if (b->n == b->room && !bdd_grow(b)) {
        return IL_BDD_FALSE;
    }
    b->nodes[b->n] = (il_bdd_node){var, 0, low, high, 0};
    bdd_bucket(b, b->n);
    return b->n++;
}

bool il_bdd_charge(il_bdd *b, uint64_t steps) {
    b->spent = b->spent || b->steps < steps;
    b->steps -= b->steps < steps ? b->steps : steps;
    return !il_bdd_bad(b);
}

il_bdd_ref il_bdd_var(il_bdd *b, uint32_t var) { return bdd_make(b, var, IL_BDD_FALSE, IL_BDD_TRUE); }

static il_bdd_memo *bdd_memo(il_bdd *b, il_bdd_ref f, il_bdd_ref g, il_bdd_ref h) {
    return &b->memo[bdd_mix(f, g, h) & (IL_BDD_CACHE - 1)];
}

/* The recursion goes one variable down each time: as deep as there are variables, which the caller bounds. */
il_bdd_ref il_bdd_ite(il_bdd *b, il_bdd_ref f, il_bdd_ref g, il_bdd_ref h) {
    if (f == IL_BDD_TRUE || g == h) {
        return g;
    }
    if (f == IL_BDD_FALSE) {
        return h;
    }
    if (g == IL_BDD_TRUE && h == IL_BDD_FALSE) {
        return f;
    }
    if (!il_bdd_charge(b, 1)) {
        return IL_BDD_FALSE;
    }
    const il_bdd_memo *known = bdd_memo(b, f, g, h);
    if (known->f == f && known->g == g && known->h == h) {
        return known->result; /* an unused entry has f 0, which is not looked up */
    }
    const il_bdd_node nf = b->nodes[f], ng = b->nodes[g], nh = b->nodes[h];
    uint32_t var = nf.var < ng.var ? nf.var : ng.var;
    var = var < nh.var ? var : nh.var;
    const il_bdd_ref low = il_bdd_ite(b, nf.var == var ? nf.low : f, ng.var == var ? ng.low : g, nh.var == var ? nh.low : h);
    const il_bdd_ref high = il_bdd_ite(b, nf.var == var ? nf.high : f, ng.var == var ? ng.high : g, nh.var == var ? nh.high : h);
    const il_bdd_ref result = bdd_make(b, var, low, high);
    if (il_bdd_bad(b)) {
        return IL_BDD_FALSE;
    }
    *bdd_memo(b, f, g, h) = (il_bdd_memo){f, g, h, result};
    return result;
}

il_bdd_ref il_bdd_fix(il_bdd *b, il_bdd_ref f, uint32_t var, bool value) {
    const il_bdd_node n = b->nodes[f];
    if (n.var > var) {
        return f;
    }
    if (n.var == var) {
        return value ? n.high : n.low;
    }
    if (!il_bdd_charge(b, 1)) {
        return IL_BDD_FALSE;
    }
    /* In the same table as ite: no reference is this large. */
    const uint32_t g = UINT32_MAX - (value ? 1 : 0);
    const il_bdd_memo *known = bdd_memo(b, f, g, var);
    if (known->f == f && known->g == g && known->h == var) {
        return known->result;
    }
    const il_bdd_ref low = il_bdd_fix(b, n.low, var, value), high = il_bdd_fix(b, n.high, var, value);
    const il_bdd_ref result = bdd_make(b, n.var, low, high);
    if (il_bdd_bad(b)) {
        return IL_BDD_FALSE;
    }
    *bdd_memo(b, f, g, var) = (il_bdd_memo){f, g, var, result};
    return result;
}

static void bdd_walk(il_bdd *b, il_bdd_ref f, void (*visit)(void *ctx, uint32_t var), void *ctx) {
    il_bdd_node *n = &b->nodes[f];
    if (f <= IL_BDD_TRUE || n->stamp == b->stamp) {
        return;
    }
    n->stamp = b->stamp;
    visit(ctx, n->var); /* more than once when several nodes have it */
    bdd_walk(b, n->low, visit, ctx);
    bdd_walk(b, n->high, visit, ctx);
}

void il_bdd_support(il_bdd *b, il_bdd_ref f, void (*visit)(void *ctx, uint32_t var), void *ctx) {
    b->stamp++;
    bdd_walk(b, f, visit, ctx);
}
