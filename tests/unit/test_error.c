/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/str.h"

static void error_formats_every_conversion(void **state) {
    (void)state;
    char out[200];
    const size_t n = il_format(out, sizeof out, "%s|%.*s|%c|%d|%d|%u|%zu|%ld|%lu|%lld|%llu|%x|%llx|%04x|%%", "text", 3, "abcdef",
                               'c', -7, INT_MIN, 7u, (size_t)8, -9L, 10UL, (long long)INT64_MIN, (unsigned long long)UINT64_MAX,
                               0xabcu, 0xdeadbeefcafeULL, 0x2fu);
    const char *want = "text|abc|c|-7|-2147483648|7|8|-9|10|-9223372036854775808|18446744073709551615|abc|deadbeefcafe|002f|%";
    assert_string_equal(out, want);
    assert_int_equal(n, strlen(want));
}

static void error_agrees_with_printf(void **state) {
    (void)state;
    const long long values[] = {0, 1, -1, 9, 10, 99, 100, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char mine[100];
        char theirs[100];
        il_format(mine, sizeof mine, "%d %u %lld %llu %llx", (int)values[i], (unsigned)values[i], values[i],
                  (unsigned long long)values[i], (unsigned long long)values[i]);
        snprintf(theirs, sizeof theirs, "%d %u %lld %llu %llx", (int)values[i], (unsigned)values[i], values[i],
                 (unsigned long long)values[i], (unsigned long long)values[i]);
        assert_string_equal(mine, theirs);
    }
}

static void error_escapes_what_could_move_a_terminal(void **state) {
    (void)state;
    char out[100];
    il_format(out, sizeof out, "%s",
              "a\x1b[2J\n\x7f\xc2\x9b"
              "b\xc2\xa0\xc3\xa9");
    assert_string_equal(out, "a\\x1b[2J\\x0a\\x7f\\xc2\\x9b"
                             "b\xc2\xa0\xc3\xa9");
    il_format(out, sizeof out, "%c", '\r');
    assert_string_equal(out, "\\x0d");
}

static void error_is_always_valid_utf8(void **state) {
    (void)state;
    char out[100];
    il_format(out, sizeof out, "%.*s", 5, "\xff\xc0\x80\xe2\x82");
    assert_string_equal(out, "\\xff\\xc0\\x80\\xe2\\x82");
    il_format(out, sizeof out, "%.*s", 3, "a\0b");
    assert_string_equal(out, "a\\x00b");
}

static void error_cuts_at_a_code_point(void **state) {
    (void)state;
    char out[8];
    memset(out, 'x', sizeof out);
    assert_int_equal(il_format(out, 6, "%s",
                               "abc\xe2\x82\xac"
                               "d"),
                     3);
    assert_string_equal(out, "abc");
    assert_int_equal(out[6], 'x');
    assert_int_equal(il_format(out, 7, "%s",
                               "abc\xe2\x82\xac"
                               "d"),
                     6);
    assert_string_equal(out, "abc\xe2\x82\xac");
    assert_int_equal(il_format(out, 4, "ab\xe2\x82\xac"), 2);
    assert_int_equal(il_format(out, 1, "ab"), 0);
    assert_int_equal(out[0], '\0');
    out[0] = 'y';
    assert_int_equal(il_format(out, 0, "ab"), 0);
    assert_int_equal(out[0], 'y');
}

static void error_long_text_fits_the_message(void **state) {
    (void)state;
    il_error err = {0};
    char big[2000];
    memset(big, '\n', sizeof big);
    assert_int_equal(il_error_set(&err, IL_E_LIMIT, "%.*s", (int)sizeof big, big), IL_E_LIMIT);
    assert_int_equal(strlen(err.msg), (IL_ERROR_MSG_BYTES - 1) / 4 * 4);
}

static void error_set_keeps_the_position_and_at_sets_it(void **state) {
    (void)state;
    il_error err = {.line = 3, .col = 4, .offset = 5};
    assert_int_equal(il_error_set(&err, IL_E_SYNTAX, "bad"), IL_E_SYNTAX);
    assert_int_equal(err.code, IL_E_SYNTAX);
    assert_int_equal(err.line, 3);
    assert_int_equal(il_error_at(&err, IL_E_LIMIT, 7, 8, 9, "%s", "worse"), IL_E_LIMIT);
    assert_int_equal(err.code, IL_E_LIMIT);
    assert_int_equal(err.line, 7);
    assert_int_equal(err.col, 8);
    assert_int_equal(err.offset, 9);
    assert_string_equal(err.msg, "worse");
    assert_int_equal(il_error_set(NULL, IL_E_IO, "x"), IL_E_IO);
    assert_int_equal(il_error_at(NULL, IL_E_IO, 1, 1, 1, "x"), IL_E_IO);
}

static void error_unknown_conversion_ends_the_text(void **state) {
    (void)state;
    char out[50];
    char fmt[] = "a %Q b";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    il_format(out, sizeof out, fmt);
    assert_string_equal(out, "a ");
    fmt[3] = '\0'; /* a percent sign at the end */
    il_format(out, sizeof out, fmt);
#pragma GCC diagnostic pop
    assert_string_equal(out, "a ");
    const char *volatile none = NULL;
    il_format(out, sizeof out, "a%sb", none);
    assert_string_equal(out, "ab");
}

static void error_every_status_has_its_name(void **state) {
    (void)state;
#define CHECK_NAME(name, number, text)                \
    assert_int_equal(name, number);                   \
    assert_string_equal(il_status_name(name), #name); \
    assert_true(sizeof text > 1);
    IL_STATUS_MAP(CHECK_NAME)
#undef CHECK_NAME
    assert_string_equal(il_status_name((il_status)999), "IL_E_INTERNAL");
}

static il_status error_check(bool holds, il_error *err) {
    IL_CHECK(holds, err);
    return IL_OK;
}

static il_status error_try(il_status inner, bool *went_on) {
    IL_TRY(inner);
    *went_on = true;
    return IL_OK;
}

static void error_macros_pass_failures_on(void **state) {
    (void)state;
    il_error err = {0};
    bool went_on = false;
    assert_int_equal(error_check(true, &err), IL_OK);
    assert_int_equal(error_check(false, &err), IL_E_INTERNAL);
    assert_string_equal(err.msg, "broken invariant: holds");
    assert_int_equal(error_try(IL_E_BUSY, &went_on), IL_E_BUSY);
    assert_false(went_on);
    assert_int_equal(error_try(IL_OK, &went_on), IL_OK);
    assert_true(went_on);
}

/* The build's version and the one that the library says are the same. */
static void error_version_is_the_builds(void **state) {
    (void)state;
    char path[500];
    char text[4000] = {0};
    char want[100];
    snprintf(path, sizeof path, "%s/CMakeLists.txt", IL_TEST_SOURCE_DIR);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    snprintf(want, sizeof want, "project(interlock VERSION %s ", il_version());
    assert_non_null(strstr(text, want));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_formats_every_conversion),
        cmocka_unit_test(error_agrees_with_printf),
        cmocka_unit_test(error_escapes_what_could_move_a_terminal),
        cmocka_unit_test(error_is_always_valid_utf8),
        cmocka_unit_test(error_cuts_at_a_code_point),
        cmocka_unit_test(error_long_text_fits_the_message),
        cmocka_unit_test(error_set_keeps_the_position_and_at_sets_it),
        cmocka_unit_test(error_unknown_conversion_ends_the_text),
        cmocka_unit_test(error_every_status_has_its_name),
        cmocka_unit_test(error_macros_pass_failures_on),
        cmocka_unit_test(error_version_is_the_builds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
