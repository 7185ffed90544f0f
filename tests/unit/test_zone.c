/* SPDX-License-Identifier: Apache-2.0 */
/* Time zones against the C library's, over the whole database's span and beyond it, where only the footer's rule speaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "interlock/host.h"

static const char *const zone_names[] = {
    "Europe/Vienna",      "US/Central",   "America/St_Johns",    "Australia/Sydney", "Asia/Kathmandu",      "America/Sao_Paulo",
    "Pacific/Apia",       "Africa/Cairo", "Australia/Lord_Howe", "Europe/Dublin",    "Africa/Casablanca",   "America/Nuuk",
    "Pacific/Kiritimati", "Asia/Tehran",  "Etc/GMT+12",          "Antarctica/Troll", "America/Scoresbysund"};

static void test_against_libc(void **state) {
    (void)state;
    size_t compared = 0;
    for (size_t z = 0; z < sizeof zone_names / sizeof zone_names[0]; z++) {
        const il_str name = {zone_names[z], __builtin_strlen(zone_names[z])};
        int32_t east = 0;
        if (!il_host_zone(NULL, name, 0, &east)) {
            print_message("skipped: no zone %s (package tzdata)\n", zone_names[z]);
            continue;
        }
        assert_int_equal(setenv("TZ", zone_names[z], 1), 0);
        tzset();
        /* every six days and some from 1850 to 2250: both sides of each change are met in some year */
        for (int64_t t = INT64_C(-3786912000); t < INT64_C(8835955200); t += 567787) {
            struct tm tm;
            const time_t at = (time_t)t;
            assert_non_null(localtime_r(&at, &tm));
            assert_true(il_host_zone(NULL, name, t, &east) || t == 0);
            if (east != (int32_t)tm.tm_gmtoff) {
                print_error("%s at %lld: %d, libc %ld\n", zone_names[z], (long long)t, east, tm.tm_gmtoff);
                fail();
            }
            compared++;
        }
    }
    if (compared == 0) {
        skip();
    }
    print_message("%zu moments compared\n", compared);
}

static void test_names(void **state) {
    (void)state;
    static const char *const bad[] = {"",       "/etc/localtime", "../zoneinfo/UTC", "Europe/../UTC",   "Europe//Vienna",
                                      "Europe", "No/Such",        "zone.tab",        "Europe/Vienna\n", "."};
    int32_t east = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(il_host_zone(NULL, (il_str){bad[i], __builtin_strlen(bad[i])}, 0, &east));
    }
    assert_false(il_host_zone(NULL, (il_str){"Europe/Vienna\0x", 15}, 0, &east));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_libc), cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
