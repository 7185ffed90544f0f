/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcp/budget.h"

static size_t budget_taken(il_budget *b, uint64_t now, size_t tries) {
    size_t n = 0;
    for (size_t i = 0; i < tries; i++) {
        n += il_budget_take(b, now);
    }
    return n;
}

static void budget_bursts_and_fills(void **state) {
    (void)state;
    il_budget b = {.per_second = 50, .burst = 500};
    assert_int_equal(budget_taken(&b, 1000, 600), 500);
    assert_int_equal(budget_taken(&b, 1000, 10), 0);
    assert_int_equal(budget_taken(&b, 1019, 10), 0);
    assert_int_equal(budget_taken(&b, 1020, 10), 1);
    assert_int_equal(budget_taken(&b, 2020, 100), 50);
    assert_int_equal(budget_taken(&b, 1000, 10), 0); /* a clock that goes back brings nothing */
    assert_int_equal(budget_taken(&b, UINT64_MAX, 600), 500);
    il_budget none = {0};
    assert_int_equal(budget_taken(&none, 5, 3), 0);
}

static void budget_reports_now_and_then(void **state) {
    (void)state;
    il_budget b = {.per_second = 1, .burst = 1};
    assert_int_equal(il_budget_report(&b, 0), 0);
    assert_true(il_budget_take(&b, 0));
    assert_false(il_budget_take(&b, 0));
    assert_int_equal(il_budget_report(&b, 0), 1);
    assert_false(il_budget_take(&b, 1));
    assert_int_equal(il_budget_report(&b, 1), 0);
    assert_false(il_budget_take(&b, 2));
    assert_int_equal(il_budget_report(&b, 10000), 2);
    assert_int_equal(il_budget_report(&b, 30000), 0);
    assert_true(il_budget_take(&b, 30000));
    assert_false(il_budget_take(&b, 30000));
    assert_true(il_budget_take(&b, 41000)); /* the flood has ended: what is let through says the rest */
    assert_int_equal(il_budget_report(&b, 41000), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget_bursts_and_fills),
        cmocka_unit_test(budget_reports_now_and_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
