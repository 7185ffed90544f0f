/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_cel.h"

/* A list that must be able to go on without its lets: what is printed has none. */
static void check_again(cel_case *c, const char *printed) {
    il_cel_env env = cel_env;
    env.nlets = 0;
    if (cel_compile(c, printed, &env, IL_CEL_NULL) != IL_OK) {
        print_error("%s\n  %u:%u %s\n", printed, c->err.line, c->err.col, c->err.msg);
        fail();
    }
    assert_string_equal(cel_printed(c), printed);
}

static void test_forms(void **state) {
    (void)state;
    static const struct {
        const char *text, *printed;
    } rows[] = {
        {"((1)+(2))*3", "(1 + 2) * 3"},
        {"1+(2*3)", "1 + 2 * 3"},
        {"1-(2-3)", "1 - (2 - 3)"},
        {"(1-2)-3", "1 - 2 - 3"},
        {"1*(2*3)", "1 * (2 * 3)"},
        {"(1<2)==true", "1 < 2 == true"},
        {"true==(1<2)", "true == (1 < 2)"},
        {"b&&(b2||b)", "b && (b2 || b)"},
        {"(b&&b2)||b", "b && b2 || b"},
        {"b||(b2||b)", "b || b2 || b"},
        {"(b&&b2)&&b", "b && b2 && b"},
        {"(b?b2:b)?1:2", "(b ? b2 : b) ? 1 : 2"},
        {"b?(b2?1:2):3", "b ? (b2 ? 1 : 2) : 3"},
        {"b?1:(b2?2:3)", "b ? 1 : b2 ? 2 : 3"},
        {"(b?1:2)+3", "(b ? 1 : 2) + 3"},
        {"!(b&&b2)", "!(b && b2)"},
        {"!(!b)", "!!b"},
        {"!(i==1)", "!(i == 1)"},
        {"-(i)", "-i"},
        {"-(-i)", "--i"},
        {"-(5)", "-(5)"},
        {"-(0)", "-(0)"},
        {"--5", "--5"},
        {"1 - -5", "1 - -5"},
        {"-(i+1)", "-(i + 1)"},
        {"-r.i", "-r.i"},
        {"- [1][0]", "-[1][0]"},
        {"(-i) * 2", "-i * 2"},
        {"!(-i == 1)", "!(-i == 1)"},
        {"[1,2,]", "[1, 2]"},
        {"[i,[j]]", "[i, [j]]"},
        {"[]", "[]"},
        {"ints [ 0 ]", "ints[0]"},
        {"([1]+ints)[0]", "([1] + ints)[0]"},
        {"(b?r:r).word", "(b ? r : r).word"},
        {"ints . exists ( x , x>1 )", "ints.exists(x, x > 1)"},
        {"(ints+[1]).all(x,b?b:b2)", "(ints + [1]).all(x, b ? b : b2)"},
        {"yes&&sum>1", "b && i + j > 1"},
        {"both||b", "b && b2 || b"},
        {"!both", "!(b && b2)"},
        {"sum*2", "(i + j) * 2"},
        {"names.exists(s, hides == s)", "names.exists(s, .s == s)"},
        {"names.exists(s, .s == s)", "names.exists(s, .s == s)"},
        {".s == 'x'", "s == 'x'"},
        {"\"it's\"", "'it\\'s'"},
        {"'a\\\\b\\n\\t\\r'", "'a\\\\b\\n\\t\\r'"},
        {"'\\x00\\x1f\\x7f'", "'\\x00\\x1f\\x7f'"},
        {"'\\u00e9\\U0001F600'", "'\xC3\xA9\xF0\x9F\x98\x80'"},
        {"r'\\d'", "'\\\\d'"},
        {"0x7fffffffffffffff", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"null", "null"},
        {"b /* ", NULL},
        {"1 in [1, 2] == b", "1 in [1, 2] == b"},
        {"b == (1 in ints)", "b == (1 in ints)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cel_case c;
        cel_case_init(&c);
        il_status s = cel_compile(&c, rows[i].text, &cel_env, IL_CEL_NULL);
        if (rows[i].printed == NULL) {
            assert_int_equal(s, IL_E_SYNTAX);
        } else {
            if (s != IL_OK) {
                print_error("%s\n  %u:%u %s\n", rows[i].text, c.err.line, c.err.col, c.err.msg);
                fail();
            }
            char *printed = strdup(cel_printed(&c));
            assert_string_equal(printed, rows[i].printed);
            check_again(&c, printed);
            free(printed);
        }
        cel_case_free(&c);
    }
}

/* A field whose name is no identifier is written in back quotes. */
static void test_quoted(void **state) {
    (void)state;
    static const il_cel_type t = {.kind = IL_CEL_BOOL};
    static const il_cel_field fields[] = {{{"a-b", 3}, &t}, {{"in", 2}, &t}, {{"for", 3}, &t}, {{"1x", 2}, &t}};
    static const il_cel_type rec = {.kind = IL_CEL_RECORD, .fields = fields, .nfields = 4, .name = {"q", 1}};
    static const il_cel_field vars[] = {{{"q", 1}, &rec}};
    const il_cel_env env = {.size = sizeof env, .vars = vars, .nvars = 1};
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(cel_compile(&c, "q.`a-b` && q.`in` && q.for && q.`1x`", &env, IL_CEL_BOOL), IL_OK);
    assert_string_equal(cel_printed(&c), "q.`a-b` && q.`in` && q.for && q.`1x`");
    cel_case_free(&c);
}

/* Random expressions: what is printed reads back as the same text and gives the same value. */
typedef struct maker {
    uint32_t seed;
    il_buf out;
} maker;

static uint32_t pick(maker *m, uint32_t n) {
    m->seed = m->seed * 1664525u + 1013904223u;
    return (m->seed >> 16) % n;
}

static void make_int(maker *m, unsigned depth);
static void make_bool(maker *m, unsigned depth) {
    static const char *const leaves[] = {"b",   "b2",  "true",           "yes",        "both",
                                         "r.b", "any", "word == 'held'", "s in names", "ints[1] > 9"};
    if (depth == 0) {
        il_buf_puts(&m->out, leaves[pick(m, 10)]);
        return;
    }
    uint32_t kind = pick(m, 7);
    il_buf_putc(&m->out, '(');
    if (kind == 0) {
        il_buf_puts(&m->out, "!");
        make_bool(m, depth - 1);
    } else if (kind <= 2) {
        static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
        make_int(m, depth - 1);
        il_buf_puts(&m->out, signs[pick(m, 6)]);
        make_int(m, depth - 1);
    } else if (kind == 3) {
        make_bool(m, depth - 1);
        il_buf_puts(&m->out, "?");
        make_bool(m, depth - 1);
        il_buf_puts(&m->out, ":");
        make_bool(m, depth - 1);
    } else if (kind == 4) {
        static const char *const heads[] = {"ints.exists(i,", "ints.all(j,", "[i, j].exists(s, "};
        il_buf_puts(&m->out, heads[pick(m, 3)]);
        make_bool(m, depth > 2 ? 1 : depth - 1);
        il_buf_puts(&m->out, ")");
    } else {
        make_bool(m, depth - 1);
        il_buf_puts(&m->out, kind == 5 ? "&&" : "||");
        make_bool(m, depth - 1);
    }
    il_buf_putc(&m->out, ')');
}

static void make_int(maker *m, unsigned depth) {
    static const char *const leaves[] = {"i", "j", "1", "-5", "sum", "r.i", "ints[0]", ".i", "9223372036854775807", "0"};
    static const char *const signs[] = {"+", "-", "*", "/", "%"};
    if (depth == 0) {
        il_buf_puts(&m->out, leaves[pick(m, 10)]);
        return;
    }
    il_buf_putc(&m->out, '(');
    if (pick(m, 5) == 0) {
        il_buf_puts(&m->out, "-");
        make_int(m, depth - 1);
    } else {
        make_int(m, depth - 1);
        il_buf_puts(&m->out, signs[pick(m, 5)]);
        make_int(m, depth - 1);
    }
    il_buf_putc(&m->out, ')');
}

static void test_random(void **state) {
    (void)state;
    il_cel_value vars[CEL_NVARS];
    size_t compiled = 0, errors = 0, bools = 0;
    cel_values(vars);
    for (uint32_t round = 0; round < 3000; round++) {
        cel_case c;
        il_str text;
        maker m = {.seed = round};
        cel_case_init(&c);
        il_buf_init(&m.out, &c.arena, 1 << 16);
        make_bool(&m, 1 + round % 5);
        il_buf_putc(&m.out, 0);
        assert_int_equal(il_buf_done(&m.out, &text, NULL), IL_OK);
        if (cel_compile(&c, text.p, &cel_env, IL_CEL_BOOL) != IL_OK) {
            /* A macro variable that hides a name at another type, or too many loops. */
            assert_true(c.err.code == IL_E_INVALID || c.err.code == IL_E_LIMIT);
            cel_case_free(&c);
            continue;
        }
        compiled++;
        il_cel_value before = cel_eval(&c, vars);
        char *printed = strdup(cel_printed(&c));
        check_again(&c, printed);
        il_cel_value after = cel_eval(&c, vars);
        if (before.kind != after.kind || before.fault != after.fault || (before.kind == IL_CEL_BOOL && before.u.b != after.u.b)) {
            print_error("%s\n  printed as %s\n", text.p, printed);
            fail();
        }
        errors += before.kind == IL_CEL_ERROR ? 1 : 0;
        bools += before.kind == IL_CEL_BOOL ? 1 : 0;
        free(printed);
        cel_case_free(&c);
    }
    assert_true(compiled > 2000 && errors > 200 && bools > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_quoted),
                                       cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
