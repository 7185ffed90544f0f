/* SPDX-License-Identifier: Apache-2.0 */
/* Doubles as text against glibc's strtod and printf, which are exact; the seed is printed. IL_TEST_THOROUGH=1 takes ten times as
 * many. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/big.h"
#include "base/double.h"
#include "helper_json.h"
#include "helper_memory.h"

enum { TEXT = 1600 };

static size_t rounds(size_t some) { return getenv("IL_TEST_THOROUGH") != NULL ? some * 10 : some; }

static uint64_t random_bits(test_random *r) {
    uint64_t bits = 0;
    for (int i = 0; i < 4; i++) {
        bits = bits << 16 | test_random_below(r, 1u << 16);
    }
    return bits;
}

/* Any finite double: all bit patterns alike, or of those that people write, or subnormal. */
static double random_double(test_random *r) {
    for (;;) {
        uint64_t bits = random_bits(r);
        const uint32_t how = test_random_below(r, 8);
        if (how == 0) {
            bits &= ~(UINT64_C(0x7ff) << 52); /* subnormal */
        } else if (how == 1) {
            bits &= ~(UINT64_MAX >> 12 >> test_random_below(r, 52)); /* few bits set */
        } else if (how == 2) {
            return (double)(int64_t)(bits >> test_random_below(r, 64)) / pow(10, test_random_below(r, 20));
        } else if (how == 3) {
            bits = (bits & ~(UINT64_C(0x7ff) << 52)) | (uint64_t)(1023 - 70 + test_random_below(r, 140)) << 52;
        }
        if (il_double_finite(il_double_of_bits(bits))) {
            return il_double_of_bits(bits);
        }
    }
}

static bool same(double a, double b) { return il_double_bits(a) == il_double_bits(b); }

static void parse_is(const char *text, double want) {
    double got = 1;
    if (!il_double_parse(il_str_of(text), &got) || !same(got, want)) {
        fail_msg("%.60s: got %a, want %a", text, got, want);
    }
}

static bool refused(const char *text, size_t n) {
    double got = 1;
    return !il_double_parse((il_str){text, n}, &got) && same(got, 0);
}

static void parse_grammar(void **state) {
    (void)state;
    static const char *const good[] = {"0",
                                       "-0",
                                       "+0",
                                       "1",
                                       "-1",
                                       "+1",
                                       "007",
                                       "1.",
                                       ".5",
                                       "-.5",
                                       "1.e3",
                                       ".5e3",
                                       "1e5",
                                       "1E5",
                                       "1e+5",
                                       "1e-5",
                                       "0e999999",
                                       "0.0e-99",
                                       "1e05",
                                       "1e00",
                                       "00.10",
                                       "1e308",
                                       "1e-400",
                                       "-1e-400",
                                       "123456789012345678901234567890",
                                       "0.1234567890123456789012345",
                                       "1e-0"};
    static const char *const bad[] = {"",      "+",     "-",  ".",   "-.",  "e5",       ".e5",   "1e",    "1e+",      "1e-",
                                      "1.2.3", "1..2",  " 1", "1 ",  "1,5", "0x10",     "0x1p3", "1e5.0", "1e5e5",    "--1",
                                      "+-1",   "1_000", "1f", "nan", "inf", "Infinity", "1e 5",  "1- ",   "\xd9\xa1", "1e+-5"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        parse_is(good[i], strtod(good[i], NULL));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_true(refused(bad[i], strlen(bad[i])));
    }
    assert_true(refused("1\0", 2));
    assert_true(refused(NULL, 0));
    double d;
    assert_true(il_double_parse(IL_STR("-1e309"), &d) && same(d, -INFINITY));
    assert_true(il_double_parse(IL_STR("1.797693134862315807e308"), &d) && same(d, 0x1.fffffffffffffp1023));
    assert_true(il_double_parse(IL_STR("1.797693134862315808e308"), &d) && same(d, INFINITY));
    assert_true(il_double_parse(IL_STR("1e99999999999999999999999"), &d) && same(d, INFINITY));
    assert_true(il_double_parse(IL_STR("-1e-99999999999999999999999"), &d) && same(d, -0.0));
}

static void parse_words(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double want;
    } good[] = {{"inf", INFINITY},        {"+Inf", INFINITY},      {"-inf", -INFINITY}, {"Infinity", INFINITY},
                {"-INFINITY", -INFINITY}, {"+infinity", INFINITY}, {"NaN", NAN},        {"nan", NAN}};
    static const char *const bad[] = {"", "+", "-", "i", "infinit", "+nan", "-nan", "nan(1)", "--inf", "inf ", "1"};
    double d;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(il_double_parse_word(il_str_of(good[i].text), &d));
        assert_true(same(d, good[i].want) || (il_double_nan(d) && isnan(good[i].want)));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(il_double_parse_word(il_str_of(bad[i]), &d));
    }
}

/* Known to have been read wrongly by one reader or another, with the bits that are right. */
static void parse_hard(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double want;
    } cases[] = {
        {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022}, /* PHP and Java once looped for ever */
        {"2.2250738585072012e-308", 0x1p-1022},
        {"2.2250738585072014e-308", 0x1p-1022},
        {"1.00000000000000011102230246251565404236316680908203125", 0x1p0}, /* half: to even */
        {"1.00000000000000011102230246251565404236316680908203124", 0x1p0},
        {"1.00000000000000011102230246251565404236316680908203126", 0x1.0000000000001p0},
        {"1.00000000000000033306690738754696212708950042724609375", 0x1.0000000000002p0},
        {"9007199254740993", 0x1p53},
        {"9007199254740993.00000000000000000000000000000000001", 0x1.0000000000001p53},
        {"9007199254740995", 0x1.0000000000002p53},
        {"6.631236846766476e-316", 6.631236846766476e-316},
        {"3.2378839133029012895883524125015321748630094239959e-319", 3.2378839133029012895883524125015321748630094239959e-319},
        {"5e-324", 0x1p-1074},
        {"2.4703282292062327208e-324", 0},         /* just below half of the least */
        {"2.4703282292062327209e-324", 0x1p-1074}, /* just above */
        {"1e23", 0x1.52d02c7e14af6p76},
        {"8.5e22", 8.5e22},
        {"0.1", 0x1.999999999999ap-4},
        {"8.442911973260991817129021e-309", 8.442911973260991817129021e-309},
        {"1.7976931348623157e308", 0x1.fffffffffffffp1023},
        {"123456789012345678e-17", 1.23456789012345678},
        {"0.000000000000000000000000000000000000000000000000000000000000001e63", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parse_is(cases[i].text, cases[i].want);
        parse_is(cases[i].text, strtod(cases[i].text, NULL));
    }
}

/* What must not pass: the comparison below finds a reader that rounds twice. */
static bool naive_parse(il_str text, double *out) {
    char z[TEXT];
    memcpy(z, text.p, text.n);
    z[text.n] = '\0';
    char *end;
    double v = 0;
    int power = 0;
    bool point = false;
    const bool minus = z[0] == '-';
    for (end = z + minus; (*end >= '0' && *end <= '9') || *end == '.'; end++) {
        point |= *end == '.';
        if (*end != '.') {
            v = v * 10 + (*end - '0');
            power -= point;
        }
    }
    power += *end == 'e' ? (int)strtol(end + 1, NULL, 10) : 0;
    *out = (minus ? -v : v) * pow(10, power);
    return true;
}

typedef bool (*parser)(il_str text, double *out);

/* How many of the texts round a double are read in another way than strtod does; the first one goes to `example`. */
static size_t parse_differs(parser p, test_random *r, size_t n, char example[TEXT]) {
    size_t wrong = 0;
    char text[TEXT];
    for (size_t i = 0; i < n; i++) {
        const double d = random_double(r);
        const int digits = 1 + (int)test_random_below(r, test_random_below(r, 10) == 0 ? 800 : 21);
        int len = 0;
        switch (test_random_below(r, 4)) {
        case 0: /* near the double, or it */
        case 1:
            len = snprintf(text, sizeof text, "%.*e", digits - 1, d);
            break;
        case 2: /* plain digits with a point somewhere */
            for (int k = 0; k < digits; k++) {
                text[len++] = (char)('0' + test_random_below(r, 10));
            }
            text[test_random_below(r, (uint32_t)len)] = digits > 1 ? '.' : '7';
            len += snprintf(text + len, sizeof text - (size_t)len, "e%d", (int)test_random_below(r, 700) - 360);
            break;
        default: { /* half-way to the next, exactly (a long double holds it), and just beside it */
            const long double half = ((long double)d + (long double)nextafter(d, INFINITY)) / 2;
            len = snprintf(text, sizeof text, "%.*Le", 800, half);
            char *e = strchr(text, 'e');
            if (!isfinite((double)half) || e == NULL) {
                continue;
            }
            const uint32_t beside = test_random_below(r, 3);
            if (beside > 0) { /* one digit more, or one less at the end of the exact text and nines after it */
                char power[16];
                snprintf(power, sizeof power, "%s", e);
                char *last = e;
                if (beside == 2) {
                    while (last[-1] == '0' || last[-1] == '.') {
                        last--;
                    }
                    last[-1]--;
                    memset(last, '9', (size_t)(e - last));
                    char *point = strchr(text, '.');
                    if (point == NULL) {
                        text[1] = '.';
                    }
                }
                len = (int)(e - text) + snprintf(e, sizeof text - (size_t)(e - text), "%s%s", beside == 1 ? "00001" : "9", power);
            }
            break;
        }
        }
        double mine = 0;
        const double theirs = strtod(text, NULL);
        if (!p((il_str){text, (size_t)len}, &mine) || !same(mine, theirs)) {
            if (wrong++ == 0) {
                memcpy(example, text, (size_t)len + 1);
            }
        }
    }
    return wrong;
}

static void parse_agrees_with_strtod(void **state) {
    (void)state;
    test_random r = {test_random_seed("double, parse")};
    char example[TEXT] = "";
    const size_t wrong = parse_differs(il_double_parse, &r, rounds(40000), example);
    if (wrong != 0) {
        fail_msg("%zu texts, the first %s", wrong, example);
    }
    assert_true(parse_differs(naive_parse, &r, 2000, example) > 100);
}

/* Every power of ten and of two, and their neighbours. */
static void parse_powers(void **state) {
    (void)state;
    char text[TEXT];
    for (int e = -400; e <= 400; e++) {
        for (int m = 1; m < 10; m++) {
            snprintf(text, sizeof text, "%de%d", m, e);
            parse_is(text, strtod(text, NULL));
        }
        snprintf(text, sizeof text, "999999999999999999999e%d", e);
        parse_is(text, strtod(text, NULL));
    }
    for (int e = -1074; e < 1024; e++) {
        const double d = ldexp(1, e), near[] = {d, nextafter(d, 0), nextafter(d, INFINITY)};
        for (size_t i = 0; i < 3; i++) {
            snprintf(text, sizeof text, "%.17g", near[i]);
            parse_is(text, near[i]);
            snprintf(text, sizeof text, "%.1100g", near[i]);
            parse_is(text, near[i]);
        }
    }
}

/* As long as a string of the policy language may be: read wholly, every digit counts. */
static void parse_long(void **state) {
    (void)state;
    const size_t n = 65536;
    char *text = malloc(n + 1);
    assert_non_null(text);
    double d;
    memset(text, '0', n);
    assert_true(il_double_parse((il_str){text, n}, &d) && same(d, 0));
    text[0] = '1';
    assert_true(il_double_parse((il_str){text, n}, &d) && same(d, INFINITY));
    memcpy(text + n - 6, "e-6e-6", 6);
    assert_true(refused(text, n));
    memcpy(text + n - 7, "e-65528", 7); /* 1 and 65528 zeros before it */
    assert_true(il_double_parse((il_str){text, n}, &d) && same(d, 1));
    memset(text, '0', n);
    text[1] = '.';
    text[n - 7] = '1'; /* 0.000...1e65528 */
    memcpy(text + n - 6, "e65528", 6);
    assert_true(il_double_parse((il_str){text, n}, &d) && same(d, 1));
    /* a half, and a digit far behind it */
    const char half[] = "9007199254740993.";
    memset(text, '0', n);
    memcpy(text, half, sizeof half - 1);
    assert_true(il_double_parse((il_str){text, n}, &d) && same(d, 9007199254740992.0));
    text[n - 1] = '1';
    assert_true(il_double_parse((il_str){text, n}, &d) && same(d, 9007199254740994.0));
    free(text);
}

static void text_is(double d, il_double_form form, const char *want) {
    char out[IL_DOUBLE_TEXT];
    const size_t n = il_double_text(d, form, out);
    if (n != strlen(want) || memcmp(out, want, n) != 0) {
        fail_msg("%a in form %d: got %.*s, want %s", d, (int)form, (int)n, out, want);
    }
}

static void text_forms(void **state) {
    (void)state;
    static const struct {
        double d;
        const char *brief, *plain, *json;
    } cases[] = {{0, "0", "0", "0"},
                 {-0.0, "-0", "-0", "0"},
                 {1, "1", "1", "1"},
                 {-1.5, "-1.5", "-1.5", "-1.5"},
                 {123.456, "123.456", "123.456", "123.456"},
                 {-4.5e-3, "-0.0045", "-0.0045", "-0.0045"},
                 {100000, "100000", "100000", "100000"},
                 {999999, "999999", "999999", "999999"},
                 {1e6, "1e+06", "1000000", "1000000"},
                 {1234567.5, "1.2345675e+06", "1234567.5", "1234567.5"},
                 {0.0001, "0.0001", "0.0001", "0.0001"},
                 {0.00001, "1e-05", "0.00001", "0.00001"},
                 {0.000001, "1e-06", "0.000001", "0.000001"},
                 {1e-7, "1e-07", "0.0000001", "1e-7"},
                 {1.5e-10, "1.5e-10", "0.00000000015", "1.5e-10"},
                 {123e18, "1.23e+20", "123000000000000000000", "123000000000000000000"},
                 {1e21, "1e+21", "1000000000000000000000", "1e+21"},
                 {1e23, "1e+23", "100000000000000000000000", "1e+23"},
                 {9007199254740993.0, "9.007199254740992e+15", "9007199254740992", "9007199254740992"},
                 {0.1 + 0.2, "0.30000000000000004", "0.30000000000000004", "0.30000000000000004"},
                 {0x1p-44, "5.684341886080802e-14", "0.00000000000005684341886080802", "5.684341886080802e-14"},
                 {1e100, "1e+100", NULL, "1e+100"},
                 {5e-324, "5e-324", NULL, "5e-324"},
                 {-1.7976931348623157e308, "-1.7976931348623157e+308", NULL, "-1.7976931348623157e+308"},
                 {NAN, "NaN", "NaN", "NaN"},
                 {INFINITY, "+Inf", "Infinity", "Infinity"},
                 {-INFINITY, "-Inf", "-Infinity", "-Infinity"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text_is(cases[i].d, IL_DOUBLE_SHORT, cases[i].brief);
        text_is(cases[i].d, IL_DOUBLE_JSON, cases[i].json);
        if (cases[i].plain != NULL) {
            text_is(cases[i].d, IL_DOUBLE_PLAIN, cases[i].plain);
        }
    }
    /* the longest */
    char out[IL_DOUBLE_TEXT];
    assert_int_equal(il_double_text(-0x1.fffffffffffffp-1022, IL_DOUBLE_PLAIN, out), 327);
    assert_int_equal(il_double_text(-0x1.fffffffffffffp1023, IL_DOUBLE_PLAIN, out), 310);
}

/* 0.digits x 10^point as a double, by glibc. */
static double read_digits(const char *digits, size_t n, int point) {
    char text[64];
    snprintf(text, sizeof text, "0.%.*se%d", (int)n, digits, point);
    return strtod(text, NULL);
}

/* Why these are not d's shortest digits, NULL when they are: they read back, no shorter ones do, and the nearest of their length
 * are no others. */
static const char *shortest_fault(double d, const char *digits, size_t n, int point) {
    const double size = fabs(d);
    if (n == 0 || digits[0] == '0' || digits[n - 1] == '0') {
        return "shape";
    }
    if (read_digits(digits, n, point) != size) {
        return "does not read back";
    }
    char nearest[64];
    snprintf(nearest, sizeof nearest, "%.*e", (int)n - 1, size);
    char own[64];
    snprintf(own, sizeof own, "%c%s%.*se", digits[0], n > 1 ? "." : "", (int)n - 1, digits + 1);
    if (strtod(nearest, NULL) == size && strncmp(nearest, own, strlen(own)) != 0) {
        return "is not the nearest";
    }
    if (n > 1) { /* with one digit less: below and above */
        char less[IL_DOUBLE_DIGITS];
        memcpy(less, digits, n - 1);
        if (read_digits(less, n - 1, point) == size) {
            return "is not the shortest: cut";
        }
        size_t i = n - 1;
        while (i > 0 && less[i - 1] == '9') {
            less[--i] = '0';
        }
        if (i == 0) {
            less[0] = '1';
        } else {
            less[i - 1]++;
        }
        if (read_digits(less, n - 1, point + (i == 0)) == size) {
            return "is not the shortest: up";
        }
    }
    return NULL;
}

static void digits_are_shortest(double d) {
    char digits[IL_DOUBLE_DIGITS];
    int point;
    const size_t n = il_double_digits(d, digits, &point);
    const char *fault = shortest_fault(d, digits, n, point);
    if (fault != NULL) {
        fail_msg("%a: 0.%.*s x 10^%d %s", d, (int)n, digits, point, fault);
    }
}

static void digits_shortest(void **state) {
    (void)state;
    test_random r = {test_random_seed("double, digits")};
    for (size_t i = 0; i < rounds(30000); i++) {
        const double d = random_double(&r);
        if (d != 0) {
            digits_are_shortest(d);
        }
    }
    for (int e = -1074; e < 1024; e++) { /* where the way down is half the way up */
        const double d = ldexp(1, e);
        digits_are_shortest(d);
        digits_are_shortest(nextafter(d, 0) > 0 ? nextafter(d, 0) : d);
        digits_are_shortest(nextafter(d, INFINITY));
    }
    char text[16];
    for (int e = -323; e <= 308; e++) {
        snprintf(text, sizeof text, "1e%d", e);
        digits_are_shortest(strtod(text, NULL));
    }
    for (uint64_t v = 1; v < 4000; v++) { /* the least subnormals, and whole numbers */
        digits_are_shortest(il_double_of_bits(v));
        digits_are_shortest((double)v);
        digits_are_shortest((double)(v * 1000003 * 1000003));
        digits_are_shortest(9007199254740992.0 - (double)v);
    }
    /* the judge is no rubber stamp */
    assert_non_null(shortest_fault(0.1, "10000000000000001", 17, 0));
    assert_non_null(shortest_fault(0.1, "2", 1, 0));
    assert_non_null(shortest_fault(0.3, "30", 2, 0));
    assert_non_null(shortest_fault(5e-324, "4", 1, -323));
    assert_non_null(shortest_fault(9007199254740993.0, "9007199254740993", 16, 16));
    assert_null(shortest_fault(0.1, "1", 1, 0));
    char digits[IL_DOUBLE_DIGITS];
    int point = 7;
    assert_int_equal(il_double_digits(0, digits, &point), 0);
    assert_int_equal(point, 0);
    assert_int_equal(il_double_digits(NAN, digits, &point), 0);
    assert_int_equal(il_double_digits(-INFINITY, digits, &point), 0);
}

typedef struct text_case {
    test_memory memory;
    il_arena arena;
} text_case;

static il_str written(text_case *c, void (*write)(il_buf *, double, uint32_t), double d, uint32_t precision) {
    il_buf b;
    il_str out = {0};
    il_arena_reset(&c->arena);
    il_buf_init(&b, &c->arena, 100000);
    write(&b, d, precision);
    assert_int_equal(il_buf_done(&b, &out, NULL), IL_OK);
    return out;
}

static void printed_is(text_case *c, double d, uint32_t precision) {
    char want[2200];
    const char *const format[] = {"%.*f", "%.*e"};
    void (*const write[])(il_buf *, double, uint32_t) = {il_double_fixed, il_double_exponent};
    for (size_t i = 0; i < 2; i++) {
        const il_str got = written(c, write[i], d, precision);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        const int n = snprintf(want, sizeof want, format[i], (int)precision, d);
#pragma GCC diagnostic pop
        assert_true(n > 0 && (size_t)n < sizeof want);
        if (!il_str_eq(got, il_str_of(want))) {
            fail_msg("%a with precision %u: got %.*s, want %s", d, precision, (int)got.n, got.p, want);
        }
    }
}

static void fixed_and_exponent(void **state) {
    (void)state;
    text_case c;
    test_memory_init(&c.memory, SIZE_MAX);
    il_arena_init(&c.arena, &c.memory.alloc, 1 << 20);
    static const double halves[] = {0,
                                    -0.0,
                                    0.5,
                                    1.5,
                                    2.5,
                                    3.5,
                                    0.25,
                                    0.125,
                                    0.375,
                                    0.0625,
                                    1e15 + 0.5,
                                    0.05,
                                    0.95,
                                    0.995,
                                    9.5,
                                    99.5,
                                    999.5,
                                    0.49999999999999994,
                                    5e-324,
                                    1e308,
                                    1.2345,
                                    123.4999,
                                    3.4999,
                                    3.5001,
                                    1052.032911275,
                                    2.71828,
                                    -1.2,
                                    0.1,
                                    1e22,
                                    1e23,
                                    0x1.fffffffffffffp1023,
                                    0x1p-1022,
                                    0x0.fffffffffffffp-1022,
                                    9.9999999999999995e22,
                                    4503599627370495.5,
                                    4503599627370496.5};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        for (uint32_t precision = 0; precision < 40; precision++) {
            printed_is(&c, halves[i], precision);
        }
        printed_is(&c, -halves[i], 767);
        printed_is(&c, halves[i], 1100);
    }
    test_random r = {test_random_seed("double, fixed and exponent")};
    for (size_t i = 0; i < rounds(20000); i++) {
        const double d = random_double(&r);
        printed_is(&c, d, test_random_below(&r, test_random_below(&r, 20) == 0 ? 1100 : 20));
    }
    /* every half of a small power of ten */
    for (uint32_t v = 1; v < 5000; v++) {
        printed_is(&c, v / 16.0, v % 5);
    }
    assert_true(il_str_eq(written(&c, il_double_fixed, NAN, 3), IL_STR("NaN")));
    assert_true(il_str_eq(written(&c, il_double_fixed, -INFINITY, 3), IL_STR("-Infinity")));
    assert_true(il_str_eq(written(&c, il_double_exponent, INFINITY, 3), IL_STR("Infinity")));
    /* what does not fit fails, and what just fits does not */
    for (size_t max = 0; max < 12; max++) {
        il_buf b;
        il_str out;
        il_arena_reset(&c.arena);
        il_buf_init(&b, &c.arena, max);
        il_double_fixed(&b, -1234.5, 3);
        assert_int_equal(il_buf_done(&b, &out, NULL), max < 9 ? IL_E_LIMIT : IL_OK);
        il_buf_init(&b, &c.arena, max);
        il_double_exponent(&b, -1234.5, 3);
        assert_int_equal(il_buf_done(&b, &out, NULL), max < 10 ? IL_E_LIMIT : IL_OK);
        il_buf_init(&b, &c.arena, 100);
        il_double_fixed(&b, 1, UINT32_MAX);
        assert_int_equal(il_buf_done(&b, &out, NULL), IL_E_LIMIT);
    }
    il_arena_free(&c.arena);
}

static void rounding(void **state) {
    (void)state;
    static const double cases[] = {0,
                                   -0.0,
                                   0.3,
                                   -0.3,
                                   0.5,
                                   -0.5,
                                   0.49999999999999994,
                                   -0.49999999999999994,
                                   1,
                                   -1,
                                   1.5,
                                   -1.5,
                                   2.5,
                                   -2.5,
                                   -1.2,
                                   1.2,
                                   -1.6,
                                   -1.4,
                                   4503599627370495.5,
                                   -4503599627370495.5,
                                   4503599627370496,
                                   4503599627370497,
                                   9007199254740993.0,
                                   1e300,
                                   -1e300,
                                   5e-324,
                                   -5e-324,
                                   INFINITY,
                                   -INFINITY,
                                   0x1.fffffffffffffp-1,
                                   -0x1.fffffffffffffp-1};
    test_random r = {test_random_seed("double, rounding")};
    const size_t fixed = sizeof cases / sizeof *cases;
    for (size_t i = 0; i < fixed + rounds(50000); i++) {
        const double d = i < fixed ? cases[i] : random_double(&r);
        assert_true(same(il_double_floor(d), floor(d)));
        assert_true(same(il_double_ceil(d), ceil(d)));
        assert_true(same(il_double_trunc(d), trunc(d)));
        assert_true(same(il_double_round(d), round(d)));
        assert_true(il_double_negative(d) == (signbit(d) != 0));
        assert_true(il_double_finite(d) == (isfinite(d) != 0) && il_double_infinite(d) == (isinf(d) != 0) && !il_double_nan(d));
    }
    assert_true(il_double_nan(NAN) && il_double_nan(-NAN) && !il_double_finite(NAN) && !il_double_infinite(NAN));
    assert_true(il_double_nan(il_double_floor(NAN)) && il_double_nan(il_double_ceil(NAN)) &&
                il_double_nan(il_double_trunc(NAN)) && il_double_nan(il_double_round(NAN)));
}

/* Where the division's first guess is too large, by one and by two: then the divisor is added back. */
static void big_divides(void **state) {
    (void)state;
    test_random r = {test_random_seed("big, division")};
    for (size_t i = 0; i < rounds(20000); i++) {
        il_big divisor = {.n = 2}, product;
        const bool edge = test_random_below(&r, 2) == 0;
        divisor.w[1] = 0x80000000u | (edge ? 0 : (uint32_t)random_bits(&r));
        divisor.w[0] = edge ? UINT32_MAX : (uint32_t)random_bits(&r);
        const uint32_t q = edge ? UINT32_MAX - test_random_below(&r, 3) : (uint32_t)random_bits(&r);
        uint64_t rest = ((uint64_t)divisor.w[1] << 32 | divisor.w[0]) - 1;
        rest -= test_random_below(&r, 2) == 0 ? 0 : random_bits(&r) % rest;
        product = divisor;
        il_big_mul_add(&product, q, 0);
        /* product + rest */
        uint64_t carry = 0;
        for (size_t k = 0; k < 3; k++) {
            carry += (k < product.n ? product.w[k] : 0) + (uint64_t)(k == 0   ? (uint32_t)rest
                                                                     : k == 1 ? (uint32_t)(rest >> 32)
                                                                              : 0);
            product.w[k] = (uint32_t)carry;
            carry >>= 32;
        }
        product.n = product.w[2] != 0 ? 3 : product.w[1] != 0 ? 2 : 1;
        assert_int_equal(il_big_divide(&product, &divisor), q);
        const uint64_t left = (product.n > 1 ? (uint64_t)product.w[1] << 32 : 0) | (product.n > 0 ? product.w[0] : 0);
        assert_true(left == rest);
    }
    /* nothing is written past the end */
    il_big big;
    il_big_set(&big, 1);
    il_big_shift(&big, IL_BIG_WORDS * 32 - 1);
    assert_int_equal(il_big_bits(&big), IL_BIG_WORDS * 32);
    il_big_mul_add(&big, UINT32_MAX, UINT32_MAX);
    assert_true(big.n <= IL_BIG_WORDS);
    il_big_shift(&big, 31);
    assert_true(big.n <= IL_BIG_WORDS);
    il_big_shift(&big, IL_BIG_WORDS * 32);
    assert_true(big.n <= IL_BIG_WORDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_grammar), cmocka_unit_test(parse_words),     cmocka_unit_test(parse_hard),
        cmocka_unit_test(parse_powers),  cmocka_unit_test(parse_long),      cmocka_unit_test(parse_agrees_with_strtod),
        cmocka_unit_test(text_forms),    cmocka_unit_test(digits_shortest), cmocka_unit_test(fixed_and_exponent),
        cmocka_unit_test(rounding),      cmocka_unit_test(big_divides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
