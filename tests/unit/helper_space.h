/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of exploration share: plain memory, and that two spaces are the same, node by node. Included behind cmocka.h. */
#pragma once
#include "check/space.h"
#include <stdlib.h>

static inline void *space_get(void *ctx, size_t n) {
    (void)ctx;
    return malloc(n);
}
static inline void space_put(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

static inline void space_same(const il_space *a, const il_space *b) {
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->edges, b->edges);
    assert_int_equal(a->depth, b->depth);
    assert_int_equal(a->bound_hit, b->bound_hit);
    assert_int_equal(a->stopped, b->stopped);
    for (uint32_t i = 0; i < a->n; i++) {
        if (il_space_key(a, i) != il_space_key(b, i) || il_space_parent(a, i) != il_space_parent(b, i)) {
            fail_msg("node %u differs", (unsigned)i);
        }
    }
    for (uint32_t i = 0; i <= 64; i++) {
        const il_space_hit *x = i < 64 ? &a->hits[i] : &a->fault;
        const il_space_hit *y = i < 64 ? &b->hits[i] : &b->fault;
        assert_true(x->found == y->found && x->edge == y->edge && x->node == y->node && x->symbol == y->symbol &&
                    x->next == y->next);
    }
}
