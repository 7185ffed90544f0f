/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/sort.h"

enum { SORT_MOST = 3000 };

static size_t sort_asked; /* by the orders below */

/* Items are blocks of some width, in the order of their first 4 bytes as the number that they are. */
static uint32_t sort_number(const void *item) {
    uint32_t n;
    memcpy(&n, item, sizeof n);
    return n;
}

static bool sort_before(const void *a, const void *b) {
    sort_asked++;
    return sort_number(a) < sort_number(b);
}

static int sort_order(const void *a, const void *b) {
    const uint32_t x = sort_number(a), y = sort_number(b);
    return (x > y) - (x < y);
}

static bool sort_byte_before(const void *a, const void *b) { return *(const unsigned char *)a < *(const unsigned char *)b; }

typedef enum sort_kind { SORT_RANDOM, SORT_EQUAL, SORT_RISING, SORT_FALLING, SORT_FEW, SORT_KINDS } sort_kind;

static uint32_t sort_value(sort_kind kind, size_t i, uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    switch (kind) {
    case SORT_RANDOM:
        return *seed >> 8;
    case SORT_EQUAL:
        return 7;
    case SORT_RISING:
        return (uint32_t)i;
    case SORT_FALLING:
        return UINT32_MAX - (uint32_t)i;
    case SORT_FEW:
        return *seed >> 30;
    case SORT_KINDS:
        break;
    }
    return 0;
}

/* What follows the number is a copy of it, so that parts of two items would be seen. */
static void sort_fill(unsigned char *item, size_t width, uint32_t value) {
    for (size_t i = 0; i < width; i++) {
        item[i] = (unsigned char)(value >> 8 * (i % 4));
    }
}

static void sort_orders_as_the_library_does(void **state) {
    static const size_t widths[] = {4, 5, 16, 63, 64, 65, 200};
    static const size_t counts[] = {0, 1, 2, 3, 4, 5, 31, 32, 33, 1000, SORT_MOST};
    (void)state;
    uint32_t seed = 1;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (sort_kind kind = SORT_RANDOM; kind < SORT_KINDS; kind++) {
                const size_t n = counts[c], width = widths[w];
                unsigned char *ours = malloc((n + 1) * width), *theirs = malloc((n + 1) * width);
                assert_non_null(ours);
                assert_non_null(theirs);
                for (size_t i = 0; i <= n; i++) { /* one more than is sorted: it must stay */
                    sort_fill(ours + i * width, width, sort_value(kind, i, &seed));
                }
                memcpy(theirs, ours, (n + 1) * width);
                il_sort(ours, n, width, sort_before);
                qsort(theirs, n, width, sort_order);
                assert_memory_equal(ours, theirs, (n + 1) * width);
                free(ours);
                free(theirs);
            }
        }
    }
}

static void sort_takes_nothing(void **state) {
    (void)state;
    il_sort(NULL, 0, 8, sort_before);
}

static void sort_takes_bytes(void **state) {
    char text[] = "the quick brown fox";
    (void)state;
    il_sort(text, sizeof text - 1, 1, sort_byte_before);
    assert_string_equal(text, "   bcefhiknooqrtuwx");
}

/* Whatever the order of what comes in: 2 n log2 n. */
static void sort_is_never_slow(void **state) {
    static uint32_t items[SORT_MOST];
    (void)state;
    uint32_t seed = 1;
    for (sort_kind kind = SORT_RANDOM; kind < SORT_KINDS; kind++) {
        for (size_t i = 0; i < SORT_MOST; i++) {
            items[i] = sort_value(kind, i, &seed);
        }
        sort_asked = 0;
        il_sort(items, SORT_MOST, sizeof *items, sort_before);
        assert_in_range(sort_asked, SORT_MOST - 1, 2 * SORT_MOST * 12); /* 2^12 > SORT_MOST */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sort_orders_as_the_library_does),
        cmocka_unit_test(sort_takes_nothing),
        cmocka_unit_test(sort_takes_bytes),
        cmocka_unit_test(sort_is_never_slow),
    };
    return cmocka_run_group_tests_name("sort", tests, NULL, NULL);
}
