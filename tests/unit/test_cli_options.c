/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options.h"
#include "cli/output.h"

typedef struct seen {
    const char *policy;
    bool json;
    const char *tools[2];
    size_t ntools;
} seen;

/* Splits `line` at blanks (it is changed) and reads it. */
static il_status run(char *line, seen *s, il_arguments *out, il_error *err) {
    static char *argv[16];
    int argc = 0;
    *s = (seen){0};
    for (char *p = line; *p && argc < 16;) {
        argv[argc++] = p;
        p += strcspn(p, " ");
        if (*p) {
            *p++ = '\0';
        }
    }
    const il_option options[] = {{.name = "policy", .value = &s->policy},
                                 {.name = "json", .flag = &s->json},
                                 {.name = "tools", .list = s->tools, .most = 2, .count = &s->ntools}};
    return il_options_read(argc, argv, options, 3, out, err);
}

/* An expression that begins with a minus sign is no option; a name behind it is. */
static void test_minus(void **state) {
    (void)state;
    seen s;
    il_arguments a;
    il_error err = {0};
    char plain[] = "cmd -1 -(x) -.5 -";
    assert_int_equal(run(plain, &s, &a, &err), IL_OK);
    assert_int_equal(a.n, 4);
    char named[] = "cmd -limit";
    assert_int_equal(run(named, &s, &a, &err), IL_E_INVALID);
    assert_non_null(strstr(err.msg, "what is none stands behind `--`"));
}

static void test_read(void **state) {
    (void)state;
    seen s;
    il_arguments a;
    il_error err = {0};
    char mixed[] = "cmd a --policy p b --json - --tools=x --tools y";
    assert_int_equal(run(mixed, &s, &a, &err), IL_OK);
    assert_true(a.n == 3 && !a.ended && a.after == 3);
    assert_string_equal(a.v[0], "a");
    assert_string_equal(a.v[1], "b");
    assert_string_equal(a.v[2], "-");
    assert_string_equal(s.policy, "p");
    assert_true(s.json && s.ntools == 2);
    assert_string_equal(s.tools[0], "x");
    assert_string_equal(s.tools[1], "y");
    char ended[] = "cmd --policy=a=b one -- --json --policy -x";
    assert_int_equal(run(ended, &s, &a, &err), IL_OK);
    assert_string_equal(s.policy, "a=b");
    assert_true(a.n == 4 && a.ended && a.after == 1 && !s.json);
    assert_string_equal(a.v[1], "--json");
    assert_string_equal(a.v[3], "-x");
    char none[] = "cmd";
    assert_int_equal(run(none, &s, &a, &err), IL_OK);
    assert_int_equal(a.n, 0);
}

static void refused(const char *text, const char *word) {
    char line[128];
    seen s;
    il_arguments a;
    il_error err = {0};
    assert_true(il_format(line, sizeof line, "%s", text) < sizeof line - 1);
    assert_int_not_equal(run(line, &s, &a, &err), IL_OK);
    if (!strstr(err.msg, word)) {
        fail_msg("`%s` does not say `%s`", err.msg, word);
    }
}

static void test_refused(void **state) {
    (void)state;
    refused("cmd --polcy p", "did you mean `--policy`");
    refused("cmd --nothing", "unknown option `--nothing`");
    refused("cmd --policy", "needs a value");
    refused("cmd --policy=", "empty value");
    refused("cmd --json=1", "takes no value");
    refused("cmd --json --json", "twice");
    refused("cmd --policy a --policy b", "twice");
    refused("cmd --tools a --tools b --tools c", "more than 2");
    refused("cmd -j", "in full");
}

static void test_number(void **state) {
    (void)state;
    uint64_t v = 0;
    static const char *const bad[] = {"", "0", "-1", "11", "1x", "1.0", "99999999999999999999", " 1"};
    assert_int_equal(il_options_number("n", "10", 10, &v, NULL), IL_OK);
    assert_int_equal(v, 10);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(il_options_number("n", bad[i], 10, &v, NULL), IL_E_INVALID);
    }
}

/* What a function wrote to a file. */
static void wrote(FILE *f, const char *want) {
    char got[256] = "";
    rewind(f);
    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    assert_string_equal(got, want);
    assert_int_equal(fclose(f), 0);
}

static void test_output(void **state) {
    (void)state;
    FILE *f = tmpfile();
    il_put_text(f, IL_STR("a\x1b[1m\n\t\x7f \xc2\x9b \xe2\x80\xae \xff\xc3 \xc3\xa9 \xef\xbb\xbf \xf3\xa0\x81\x81"));
    wrote(f, "a\\u{1b}[1m\\u{a}\\u{9}\\u{7f} \\u{9b} \\u{202e} \\xff\\xc3 \xc3\xa9 \\u{feff} \\u{e0041}");
    f = tmpfile();
    il_put_cell(f, IL_STR("\xc3\xa9"), 3);
    il_put_cell(f, IL_STR("long"), 2);
    il_put_cell(f, IL_STR("\x01"), 7);
    wrote(f, "\xc3\xa9  long\\u{1}  ");
    f = tmpfile();
    il_put_time(f, UINT64_C(1769860800007));
    wrote(f, "2026-01-31T12:00:00.007Z");
    f = tmpfile();
    il_put_effects(f, 0x1f);
    fputc('|', f);
    il_put_effects(f, 0);
    wrote(f, "untrusted sensitive secret egress commit|-");
}

static void test_exit_codes(void **state) {
    (void)state;
    assert_int_equal(il_exit_of(IL_OK), IL_EXIT_FINE);
    assert_int_equal(il_exit_of(IL_E_SYNTAX), IL_EXIT_USAGE);
    assert_int_equal(il_exit_of(IL_E_DAMAGED), IL_EXIT_USAGE);
    assert_int_equal(il_exit_of(IL_E_MEMORY), IL_EXIT_INTERNAL);
    assert_int_equal(il_exit_of((il_status)99), IL_EXIT_INTERNAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read),    cmocka_unit_test(test_minus),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_number),
                                       cmocka_unit_test(test_output),  cmocka_unit_test(test_exit_codes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
