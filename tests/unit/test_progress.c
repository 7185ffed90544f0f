/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mcp/progress.h"

static void progress_order(void **state) {
    (void)state;
    /* in order; `=` before a text: equal to the one before */
    static const char *const rows[] = {
        "-1e308",
        "-100000000000000000000000000000",
        "-20",
        "-2",
        "=-2.0",
        "=-20e-1",
        "-1.5",
        "-1",
        "-0.5",
        "-1e-300",
        "0",
        "=-0",
        "=0.000",
        "=0e99",
        "=-0.0E5",
        "1e-99999999999999999",
        "1e-300",
        "0.001",
        "=1e-3",
        "=0.1e-2",
        "0.01",
        "0.1",
        "=1E-1",
        "0.25",
        "0.5",
        "1",
        "=1.0",
        "=1e0",
        "=0.1e+1",
        "=10e-1",
        "1.00000000000000000000000000001",
        "1.5",
        "2",
        "9",
        "10",
        "=1e1",
        "=0.0001e5",
        "10.5",
        "99.9999",
        "100",
        "9007199254740992",
        "9007199254740993",
        "1e22",
        "1e308",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
            const il_str a = il_str_of(rows[i] + (rows[i][0] == '=')), b = il_str_of(rows[j] + (rows[j][0] == '='));
            int expected = i < j ? -1 : i > j;
            const size_t low = i < j ? i : j, high = i < j ? j : i;
            bool same = true;
            for (size_t k = low + 1; k <= high; k++) {
                same = same && rows[k][0] == '=';
            }
            expected = same ? 0 : expected;
            const int got = il_progress_cmp(a, b);
            if ((got > 0) - (got < 0) != expected) {
                fail_msg("`%.*s` and `%.*s`: %d", IL_STR_ARG(a), IL_STR_ARG(b), got);
            }
        }
    }
}

/* Against the C library, which is as good as the numbers are short. */
static void progress_random(void **state) {
    (void)state;
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        char text[2][40];
        double value[2];
        for (int k = 0; k < 2; k++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            const int n = (int)(x % 2001) - 1000, e = (int)(x >> 20) % 7 - 3;
            (void)snprintf(text[k], sizeof text[k], (x >> 40 & 1) != 0 ? "%d.5e%d" : "%de%d", n, e);
            value[k] = strtod(text[k], NULL);
        }
        const int got = il_progress_cmp(il_str_of(text[0]), il_str_of(text[1]));
        const double d = value[0] - value[1], size = (value[0] < 0 ? -value[0] : value[0]) * 1e-12;
        if (d > size || -d > size) {
            assert_int_equal((got > 0) - (got < 0), d > 0 ? 1 : -1);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(progress_order), cmocka_unit_test(progress_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
