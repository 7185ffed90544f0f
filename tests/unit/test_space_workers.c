/* SPDX-License-Identifier: Apache-2.0 */
/* Exploring with several threads (check/team.c starts them by pthread_create, so ThreadSanitizer runs this too) finds what one finds, in its order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_space.h"

/* 15 switches, each turned by a symbol of its own: every state is found from as many others as it has switches on, and the layers are wide. */
enum { SWITCHES = 15 };
static uint32_t space_switches(void *ctx, uint64_t key, il_space_edge *out) {
    (void)ctx;
    for (uint32_t k = 0; k < SWITCHES; k++) {
        out[k] = (il_space_edge){.next = key ^ UINT64_C(1) << ((k * 4) % SWITCHES), .symbol = k};
    }
    return SWITCHES;
}
static uint32_t space_switches_spread(void *ctx, uint64_t key, il_space_edge *out) {
    const uint64_t back = UINT64_C(0x59071D96D81ECD35); /* its inverse */
    uint32_t n = space_switches(ctx, key * back, out);
    for (uint32_t k = 0; k < n; k++) {
        out[k].next = out[k].next * UINT64_C(0x2545F4914F6CDD1D);
    }
    return n;
}
static void *space_count_fork(void *ctx) {
    ++*(int *)ctx;
    return ctx;
}

static void space_count_join(void *ctx, void *other) { assert_ptr_equal(ctx, other); }

/* Where nearly everything is added by several threads at once: as bits, in an index, with writes, with keys that lie far apart. */
static void test_workers_together(void **state) {
    (void)state;
    const il_alloc alloc = {space_get, space_put, NULL};
    for (uint32_t how = 0; how < 4; how++) {
        int forks = 0;
        il_space one, many;
        il_space_def def = {.ctx = &forks,
                            .bits = how == 0 ? SWITCHES : 0,
                            .nsymbols = SWITCHES,
                            .first_write = how == 2 ? SWITCHES / 2 : SWITCHES,
                            .expand = how == 3 ? space_switches_spread : space_switches,
                            .fork = space_count_fork,
                            .join = space_count_join};
        il_space_bounds bounds = {0};
        assert_int_equal(il_space_explore(&one, &alloc, &def, &bounds, NULL), IL_OK);
        assert_int_equal(one.n, 1 << SWITCHES);
        assert_int_equal(forks, 0);
        for (bounds.workers = 2; bounds.workers <= 5; bounds.workers++) {
            assert_int_equal(il_space_explore(&many, &alloc, &def, &bounds, NULL), IL_OK);
            assert_int_equal(forks, (int)bounds.workers - 1);
            forks = 0;
            space_same(&one, &many);
            for (uint32_t i = 0; i < many.n; i += 101) {
                assert_int_equal(il_known_writes(&many.nodes, i), il_known_writes(&one.nodes, i));
                assert_int_equal(il_space_find(&many, il_space_key(&many, i)), i);
            }
            il_space_free(&many);
        }
        il_space_free(&one);
    }
}

/* At a bound on states, wherever in a layer it lies; as bits and in an index by turns. */
static void test_bounds_together(void **state) {
    (void)state;
    const il_alloc alloc = {space_get, space_put, NULL};
    for (uint32_t most = 12000; most < 1 << SWITCHES; most += 4999) {
        int forks = 0;
        il_space one, many;
        il_space_def def = {.ctx = &forks,
                            .bits = most % 2 ? SWITCHES : 0,
                            .nsymbols = SWITCHES,
                            .first_write = SWITCHES,
                            .expand = space_switches,
                            .fork = space_count_fork,
                            .join = space_count_join};
        il_space_bounds bounds = {.states = most};
        assert_int_equal(il_space_explore(&one, &alloc, &def, &bounds, NULL), IL_OK);
        assert_true(one.bound_hit && one.n == most);
        bounds.workers = 3;
        assert_int_equal(il_space_explore(&many, &alloc, &def, &bounds, NULL), IL_OK);
        assert_int_equal(forks, 2);
        space_same(&one, &many);
        il_space_free(&many);
        il_space_free(&one);
    }
}

/* Keys wider than was said are not kept, in an index or as bits, and the bound says so. */
static void test_wider_than_said(void **state) {
    (void)state;
    const il_alloc alloc = {space_get, space_put, NULL};
    for (uint32_t bits = 3; bits < SWITCHES; bits++) {
        int forks = 0;
        il_space one, many;
        il_space_def def = {.ctx = &forks,
                            .bits = bits,
                            .nsymbols = SWITCHES,
                            .first_write = SWITCHES,
                            .expand = space_switches,
                            .fork = space_count_fork,
                            .join = space_count_join};
        il_space_bounds bounds = {0};
        assert_int_equal(il_space_explore(&one, &alloc, &def, &bounds, NULL), IL_OK);
        assert_true(one.bound_hit && one.n == 1u << bits);
        bounds.workers = 3;
        assert_int_equal(il_space_explore(&many, &alloc, &def, &bounds, NULL), IL_OK);
        space_same(&one, &many);
        il_space_free(&many);
        il_space_free(&one);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workers_together),
        cmocka_unit_test(test_bounds_together),
        cmocka_unit_test(test_wider_than_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
