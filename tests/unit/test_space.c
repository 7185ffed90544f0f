/* SPDX-License-Identifier: Apache-2.0 */
/* The explorer on small graphs where the answer is plain to see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_memory.h"
#include "helper_space.h"

/* 0..99; symbol 0 adds one, 1 doubles, 2 stays, 3 (a write) adds ten. */
static uint32_t space_numbers_of(const uint64_t *fault, uint32_t nsymbols, uint64_t key, il_space_edge *out) {
    uint32_t n = 0;
    for (uint32_t symbol = 0; symbol < nsymbols; symbol++) {
        il_space_edge e = {.symbol = symbol, .fault = fault && key == *fault && symbol == 1};
        e.next = symbol == 0 ? key + 1 : symbol == 1 ? key * 2 : symbol == 2 ? key : key + 10;
        if (e.fault || e.next < 100) {
            out[n++] = e;
        }
    }
    return n;
}
static uint32_t space_numbers(void *ctx, uint64_t key, il_space_edge *out) { return space_numbers_of(ctx, 3, key, out); }
static uint32_t space_numbers_write(void *ctx, uint64_t key, il_space_edge *out) { return space_numbers_of(ctx, 4, key, out); }
static uint64_t space_at_12(void *ctx, uint64_t key) {
    (void)ctx;
    return (key == 12 ? 1 : 0) | (key == 0 ? UINT64_C(1) << 5 : 0) | (key == 99 ? UINT64_C(1) << 63 : 0);
}
static uint64_t space_edge_8_to_9(void *ctx, uint64_t key, uint32_t symbol, uint64_t next) {
    (void)ctx;
    (void)symbol;
    return key == 8 && next == 9 ? 2 : 0;
}

static uint32_t space_path(const il_space *s, const il_space_hit *hit, uint32_t *symbols) {
    uint32_t n = 0;
    if (hit->edge) {
        symbols[n++] = hit->symbol;
    }
    for (uint32_t i = hit->node; i != 0; i = il_space_parent(s, i)) {
        symbols[n++] = il_space_via(s, NULL, i);
    }
    return n; /* last step first */
}

static void test_shortest(void **state) {
    (void)state;
    test_memory memory;
    test_memory_init(&memory, SIZE_MAX);
    il_space_def def = {
        .nsymbols = 3, .first_write = 3, .expand = space_numbers, .state = space_at_12, .edge = space_edge_8_to_9};
    il_space s;
    uint32_t path[64];
    assert_int_equal(il_space_explore(&s, &memory.alloc, &def, NULL, NULL), IL_OK);
    assert_int_equal(s.n, 100);
    assert_int_equal(s.edges, 99 + 50 + 100);
    assert_false(s.bound_hit || s.stopped);
    assert_int_equal(space_path(&s, &s.hits[0], path), 5); /* +1 +1 +1 x2 x2 */
    assert_int_equal(path[0], 1);
    assert_int_equal(path[1], 1);
    assert_int_equal(path[2] + path[3] + path[4], 0);
    assert_true(s.hits[1].edge);
    assert_int_equal(space_path(&s, &s.hits[1], path), 5); /* 1, 2 by +1 and not by x2, 4, 8, 9 */
    assert_int_equal(path[3], 0);
    assert_true(s.hits[5].found && s.hits[5].node == 0);
    assert_true(s.hits[63].found);
    assert_false(s.hits[2].found);
    assert_int_equal(il_space_find(&s, 100), UINT32_MAX);
    assert_int_not_equal(il_space_find(&s, 99), UINT32_MAX);
    il_space_free(&s);
    assert_int_equal(memory.live, 0);
}

/* 12 from 0 in three steps: +10 +1 +1, +1 +10 +1, ... all with one write; in two steps none. Without need of a write none is taken. */
static void test_fewest_writes(void **state) {
    (void)state;
    test_memory memory;
    test_memory_init(&memory, SIZE_MAX);
    il_space_def def = {.nsymbols = 4, .first_write = 3, .expand = space_numbers_write, .state = space_at_12, .stop = 1};
    il_space s;
    uint32_t path[64];
    assert_int_equal(il_space_explore(&s, &memory.alloc, &def, NULL, NULL), IL_OK);
    assert_true(s.stopped);
    assert_int_equal(space_path(&s, &s.hits[0], path), 3);
    assert_int_equal(il_known_writes(&s.nodes, s.hits[0].node), 1);
    il_space_free(&s);
    /* 20: x2 of 10 (one write) and +10 +10 (two) are both two steps long */
    uint32_t at = UINT32_MAX;
    def.stop = 0;
    assert_int_equal(il_space_explore(&s, &memory.alloc, &def, NULL, NULL), IL_OK);
    at = il_space_find(&s, 20);
    assert_int_equal(il_known_writes(&s.nodes, at), 1);
    il_space_free(&s);
}

static void test_bounds(void **state) {
    (void)state;
    test_memory memory;
    test_memory_init(&memory, SIZE_MAX);
    il_space_def def = {.nsymbols = 3, .first_write = 3, .expand = space_numbers, .state = space_at_12};
    for (uint32_t most = 1; most <= 101; most++) {
        il_space_bounds bounds = {.states = most};
        il_space s;
        assert_int_equal(il_space_explore(&s, &memory.alloc, &def, &bounds, NULL), IL_OK);
        assert_int_equal(s.n, most < 100 ? most : 100);
        assert_int_equal(s.bound_hit, most < 100);
        il_space_free(&s);
    }
    il_space_bounds tight = {.bytes = 10};
    il_space s;
    assert_int_equal(il_space_explore(&s, &memory.alloc, &def, &tight, NULL), IL_OK);
    assert_true(s.bound_hit && s.n == 0);
    il_space_free(&s);
}

static void test_fault_is_noted_and_not_followed(void **state) {
    (void)state;
    test_memory memory;
    test_memory_init(&memory, SIZE_MAX);
    uint64_t fault = 3;
    il_space_def def = {.ctx = &fault, .nsymbols = 3, .first_write = 3, .expand = space_numbers};
    il_space s;
    assert_int_equal(il_space_explore(&s, &memory.alloc, &def, NULL, NULL), IL_OK);
    assert_true(s.fault.found);
    assert_int_equal(il_space_key(&s, s.fault.node), 3);
    assert_int_equal(s.edges, 99 + 49 + 100);
    il_space_free(&s);
}

/* A grid of 2^20 states that many ways lead through: layers of a thousand and more. Symbols 0 and 1 go right and up, 2 mirrors, 3 is a write. */
enum { GRID = 1024 };
static uint32_t space_grid(void *ctx, uint64_t key, il_space_edge *out) {
    uint64_t x = key % GRID, y = key / GRID;
    uint32_t n = 0;
    (void)ctx;
    if (x + 1 < GRID) {
        out[n++] = (il_space_edge){.next = key + 1, .symbol = 0};
    }
    if (y + 1 < GRID) {
        out[n++] = (il_space_edge){.next = key + GRID, .symbol = 1};
    }
    out[n++] = (il_space_edge){.next = x * GRID + y, .symbol = 2, .fault = x == 700 && y == 600};
    out[n++] = (il_space_edge){.next = (key * 5 + 1) % (GRID * GRID), .symbol = 3};
    return n;
}
static uint64_t space_grid_state(void *ctx, uint64_t key) {
    (void)ctx;
    return (key % 1000 == 999 ? 1 : 0) | (key % GRID == 1000 && key / GRID > 900 ? 2 : 0);
}
static uint64_t space_grid_edge(void *ctx, uint64_t key, uint32_t symbol, uint64_t next) {
    (void)ctx;
    return symbol == 1 && (key ^ next) % 4096 == 1024 * 3 ? 4 : 0;
}
static void *space_grid_fork(void *ctx) { return ctx; }
static void space_grid_join(void *ctx, void *other) { assert_ptr_equal(ctx, other); }

/* However many look, the same is found: the nodes in their order, their parents, the hits; with writes and without, at bounds too. */
static void test_workers(void **state) {
    (void)state;
    const il_alloc alloc = {space_get, space_put, NULL};
    const uint32_t most[] = {0, 30000, 200001};
    int grid = 0;
    for (uint32_t writes = 0; writes < 2; writes++) {
        for (uint32_t k = 0; k < 3; k++) {
            il_space one;
            il_space_def def = {.ctx = &grid,
                                .bits = writes ? 0 : 20,
                                .nsymbols = 4,
                                .first_write = writes ? 3 : 4,
                                .expand = space_grid,
                                .state = space_grid_state,
                                .edge = space_grid_edge,
                                .fork = space_grid_fork,
                                .join = space_grid_join};
            il_space_bounds bounds = {.states = most[k]};
            assert_int_equal(il_space_explore(&one, &alloc, &def, &bounds, NULL), IL_OK);
            assert_int_equal(one.n, most[k] ? most[k] : GRID * GRID);
            assert_true(one.hits[0].found && one.hits[2].found);
            for (bounds.workers = 2; bounds.workers <= 3; bounds.workers++) {
                il_space many;
                assert_int_equal(il_space_explore(&many, &alloc, &def, &bounds, NULL), IL_OK);
                space_same(&one, &many);
                il_space_free(&many);
            }
            il_space_free(&one);
        }
    }
}

static bool space_patient(void *ctx, const il_space_progress *now) {
    uint64_t *calls = ctx;
    assert_true(now->frontier <= now->states);
    return ++*calls < 5;
}

/* Whoever is asked may end it, as a bound; and a limit on bytes is kept, growth included. */
static void test_progress_and_bytes(void **state) {
    (void)state;
    test_memory memory;
    test_memory_init(&memory, SIZE_MAX);
    uint64_t calls = 0;
    il_space s;
    il_space_def def = {.bits = 20, .nsymbols = 4, .first_write = 4, .expand = space_grid};
    il_space_bounds bounds = {.progress = space_patient, .progress_ctx = &calls};
    assert_int_equal(il_space_explore(&s, &memory.alloc, &def, &bounds, NULL), IL_OK);
    assert_true(s.bound_hit && s.n > 1000 && s.n < GRID * GRID);
    assert_int_equal(calls, 5);
    il_space_free(&s);
    for (size_t bytes = 1000; bytes < (size_t)64 << 20; bytes = bytes * 3 / 2) {
        for (def.bits = 0; def.bits <= 20; def.bits += 20) {
            bounds = (il_space_bounds){.bytes = bytes};
            assert_int_equal(il_space_explore(&s, &memory.alloc, &def, &bounds, NULL), IL_OK);
            assert_true(s.nodes.bytes <= bytes);
            assert_int_equal(s.bound_hit, s.n < GRID * GRID);
            for (uint32_t i = 0; i < s.n; i += 997) {
                assert_int_equal(il_space_find(&s, il_space_key(&s, i)), i);
            }
            il_space_free(&s);
        }
    }
    assert_int_equal(memory.live, 0);
}

/* Every allocation in turn: until all are granted, the only outcome is that memory ran out, and everything is given back. */
static void test_out_of_memory(void **state) {
    (void)state;
    il_space_def def = {.nsymbols = 3, .first_write = 3, .expand = space_numbers};
    il_status status = IL_E_MEMORY;
    size_t failed = 0;
    for (; status != IL_OK; failed++) {
        test_memory memory;
        test_memory_init(&memory, failed);
        il_space s;
        status = il_space_explore(&s, &memory.alloc, &def, NULL, NULL);
        assert_true(status == IL_OK || status == IL_E_MEMORY);
        il_space_free(&s);
        assert_int_equal(memory.live, 0);
    }
    assert_true(failed > 4); /* room for steps, an index, a list of chunks, a chunk */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shortest),
        cmocka_unit_test(test_fewest_writes),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_fault_is_noted_and_not_followed),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_workers),
        cmocka_unit_test(test_progress_and_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
