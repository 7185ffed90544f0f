/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "helper_cel.h"

static void test_kinds(void **state) {
    (void)state;
    static const struct {
        const char *text;
        il_cel_token_kind kind;
    } rows[] = {
        {"a", IL_CEL_T_NAME},
        {"_9z", IL_CEL_T_NAME},
        {"rb", IL_CEL_T_NAME},
        {"b", IL_CEL_T_NAME},
        {"inn", IL_CEL_T_NAME},
        {"nulls", IL_CEL_T_NAME},
        {"true", IL_CEL_T_TRUE},
        {"false", IL_CEL_T_FALSE},
        {"null", IL_CEL_T_NULL},
        {"in", IL_CEL_T_IN},
        {"as", IL_CEL_T_RESERVED},
        {"break", IL_CEL_T_RESERVED},
        {"const", IL_CEL_T_RESERVED},
        {"continue", IL_CEL_T_RESERVED},
        {"else", IL_CEL_T_RESERVED},
        {"for", IL_CEL_T_RESERVED},
        {"function", IL_CEL_T_RESERVED},
        {"if", IL_CEL_T_RESERVED},
        {"import", IL_CEL_T_RESERVED},
        {"let", IL_CEL_T_RESERVED},
        {"loop", IL_CEL_T_RESERVED},
        {"package", IL_CEL_T_RESERVED},
        {"namespace", IL_CEL_T_RESERVED},
        {"return", IL_CEL_T_RESERVED},
        {"var", IL_CEL_T_RESERVED},
        {"void", IL_CEL_T_RESERVED},
        {"while", IL_CEL_T_RESERVED},
        {"0", IL_CEL_T_INT},
        {"007", IL_CEL_T_INT},
        {"0xAf", IL_CEL_T_INT},
        {"12u", IL_CEL_T_UINT},
        {"0XfU", IL_CEL_T_UINT},
        {"1.5", IL_CEL_T_DOUBLE},
        {".5", IL_CEL_T_DOUBLE},
        {"1e3", IL_CEL_T_DOUBLE},
        {"1.5E-3", IL_CEL_T_DOUBLE},
        {"''", IL_CEL_T_STRING},
        {"\"\"", IL_CEL_T_STRING},
        {"'''a'b'''", IL_CEL_T_STRING},
        {"\"\"\"a\n\"b\"\"\"", IL_CEL_T_STRING},
        {"r'\\'", IL_CEL_T_STRING},
        {"R\"\\d\"", IL_CEL_T_STRING},
        {"b'x'", IL_CEL_T_BYTES},
        {"rb'x'", IL_CEL_T_BYTES},
        {"Br'x'", IL_CEL_T_BYTES},
        {"'\\''", IL_CEL_T_STRING},
        {"`a.b-c/d e`", IL_CEL_T_QUOTED},
        {"(", IL_CEL_T_LPAREN},
        {")", IL_CEL_T_RPAREN},
        {"[", IL_CEL_T_LBRACKET},
        {"]", IL_CEL_T_RBRACKET},
        {"{", IL_CEL_T_LBRACE},
        {"}", IL_CEL_T_RBRACE},
        {".", IL_CEL_T_DOT},
        {",", IL_CEL_T_COMMA},
        {":", IL_CEL_T_COLON},
        {"?", IL_CEL_T_QUESTION},
        {"||", IL_CEL_T_OR},
        {"&&", IL_CEL_T_AND},
        {"!", IL_CEL_T_NOT},
        {"<", IL_CEL_T_LT},
        {"<=", IL_CEL_T_LE},
        {">", IL_CEL_T_GT},
        {">=", IL_CEL_T_GE},
        {"==", IL_CEL_T_EQ},
        {"!=", IL_CEL_T_NE},
        {"+", IL_CEL_T_PLUS},
        {"-", IL_CEL_T_MINUS},
        {"*", IL_CEL_T_STAR},
        {"/", IL_CEL_T_SLASH},
        {"%", IL_CEL_T_PERCENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const il_cel_source src = {il_str_of(rows[i].text), 1, 1};
        il_cel_lexer lex = {&src, 0};
        il_cel_token t;
        assert_int_equal(il_cel_lex(&lex, &t, NULL), IL_OK);
        if (t.kind != rows[i].kind || t.offset != 0 || t.n != src.text.n) {
            print_error("%s: kind %d, %zu bytes\n", rows[i].text, (int)t.kind, t.n);
            fail();
        }
        for (int again = 0; again < 2; again++) {
            assert_int_equal(il_cel_lex(&lex, &t, NULL), IL_OK);
            assert_int_equal(t.kind, IL_CEL_T_END);
        }
    }
}

static void test_sequence(void **state) {
    (void)state;
    static const struct {
        il_cel_token_kind kind;
        size_t offset;
        uint32_t line, col;
    } want[] = {
        {IL_CEL_T_NAME, 0, 4, 9},    {IL_CEL_T_DOT, 1, 4, 10},  {IL_CEL_T_NAME, 2, 4, 11},  {IL_CEL_T_EQ, 4, 4, 13},
        {IL_CEL_T_STRING, 7, 4, 16}, {IL_CEL_T_AND, 12, 4, 20}, {IL_CEL_T_INT, 28, 5, 3},   {IL_CEL_T_DOT, 29, 5, 4},
        {IL_CEL_T_NAME, 30, 5, 5},   {IL_CEL_T_LT, 32, 6, 1},   {IL_CEL_T_MINUS, 34, 6, 3}, {IL_CEL_T_DOUBLE, 35, 6, 4},
        {IL_CEL_T_END, 38, 6, 7},
    };
    const il_cel_source src = {IL_STR("a.b == '\xC3\xA9' && // comment\n\t 1.e\n<\f-1.5"), 4, 9};
    il_cel_lexer lex = {&src, 0};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        il_cel_token t;
        assert_int_equal(il_cel_lex(&lex, &t, NULL), IL_OK);
        assert_int_equal(t.kind, want[i].kind);
        assert_int_equal(t.offset, want[i].offset);
        assert_int_equal(il_cel_line(&src, t.offset), want[i].line);
        assert_int_equal(il_cel_col(&src, t.offset), want[i].col);
    }
}

#define VALUE(text, value)                                     \
    {                                                          \
        {text, sizeof(text) - 1}, { value, sizeof(value) - 1 } \
    }
static void test_strings(void **state) {
    (void)state;
    static const struct {
        il_str text, value;
    } rows[] = {
        VALUE("''", ""),
        VALUE("'a\"b'", "a\"b"),
        VALUE("\"a'b\"", "a'b"),
        VALUE("'''a\n''b'''", "a\n''b"),
        VALUE("\"\"\"\"\"\"", ""),
        VALUE("'\\a\\b\\f\\n\\r\\t\\v\\\\\\?\\\"\\'\\`'", "\a\b\f\n\r\t\v\\?\"'`"),
        VALUE("'\\x41\\X42'", "AB"),
        VALUE("'\\xFF'", "\xC3\xBF"),
        VALUE("'\\303\\277'", "\xC3\x83\xC2\xBF"),
        VALUE("'\\000'", "\0"),
        VALUE("'\\377'", "\xC3\xBF"),
        VALUE("'\\u00e9'", "\xC3\xA9"),
        VALUE("'\\uFFFD'", "\xEF\xBF\xBD"),
        VALUE("'\\U0001F600'", "\xF0\x9F\x98\x80"),
        VALUE("'\\U0010FFFF'", "\xF4\x8F\xBF\xBF"),
        VALUE("r'\\n'", "\\n"),
        VALUE("R'''\\'''", "\\"),
        VALUE("'a\0b'", "a\0b"),
        VALUE("b'\\xff\\377\\n'", "\xFF\xFF\n"),
        VALUE("rb'\\x'", "\\x"),
        VALUE("b'\xC3\xA9'", "\xC3\xA9"),
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cel_case c;
        const il_cel_source src = {rows[i].text, 1, 1};
        il_cel_lexer lex = {&src, 0};
        il_cel_token t;
        il_str got;
        cel_case_init(&c);
        assert_int_equal(il_cel_lex(&lex, &t, &c.err), IL_OK);
        assert_int_equal(t.n, rows[i].text.n);
        assert_int_equal(il_cel_unescape(&src, &t, &c.arena, &got, &c.err), IL_OK);
        assert_int_equal(got.n, rows[i].value.n);
        assert_memory_equal(got.p, rows[i].value.p, got.n);
        cel_case_free(&c);
    }
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t line, col;
        const char *says;
    } rows[] = {
        {"  'abc", 1, 3, "unterminated string; close it with `'`"},
        {"'abc\n'", 1, 1, "unterminated string"},
        {"'''abc''", 1, 1, "`'''`"},
        {"\"\"\"a", 1, 1, "`\"\"\"`"},
        {"'a\\", 1, 1, "unterminated string"},
        {"'a\\'", 1, 1, "unterminated string"},
        {"1 +\n  'a\\qb'", 2, 5, "unknown escape"},
        {"'\\u12'", 1, 2, "`\\u` needs 4 hexadecimal digits"},
        {"'\\x1'", 1, 2, "needs 2 hexadecimal"},
        {"'\xC3\xA9\\ud800'", 1, 3, "`\\ud800` is not a Unicode character"},
        {"'\\U00110000'", 1, 2, "is not a Unicode character"},
        {"'\\400'", 1, 2, "unknown escape"},
        {"'\\08'", 1, 2, "octal"},
        {"b'\\u0041'", 1, 3, "not allowed in bytes"},
        {"9223372036854775808", 1, 1, "`9223372036854775808` does not fit an int"},
        {"-9223372036854775809", 1, 1, "`-9223372036854775809` does not fit"},
        {"0x8000000000000000", 1, 1, "does not fit an int"},
        {"99999999999999999999999999", 1, 1, "does not fit an int"},
        {"1abc", 1, 1, "`1abc` is not a number"},
        {"0xg", 1, 1, "`0xg` is not a number"},
        {"1.5e", 1, 1, "`1.5e` is not a number"},
        {"i = 1", 1, 3, "unexpected `=`; did you mean `==`?"},
        {"b & b", 1, 3, "did you mean `&&`?"},
        {"b | b", 1, 3, "did you mean `||`?"},
        {"b # b", 1, 3, "unexpected `#`"},
        {"b \xE2\x82\xAC", 1, 3, "unexpected `\xE2\x82\xAC`"},
        {"a.``", 1, 3, "empty field name"},
        {"r.`a$`", 1, 3, "back-quoted"},
        {"r.`a", 1, 3, "back-quoted"},
        {"'\xFF'", 1, 2, "not valid UTF-8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cel_case c;
        cel_case_init(&c);
        assert_int_equal(cel_compile(&c, rows[i].text, &cel_env, IL_CEL_NULL), IL_E_SYNTAX);
        if (c.err.line != rows[i].line || c.err.col != rows[i].col || strstr(c.err.msg, rows[i].says) == NULL) {
            print_error("%s\n  %u:%u %s\n", rows[i].text, c.err.line, c.err.col, c.err.msg);
            fail();
        }
        assert_null(c.program);
        cel_case_free(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_sequence),
                                       cmocka_unit_test(test_strings), cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
