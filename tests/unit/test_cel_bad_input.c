/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody writes who means harm: each has the right value, or an error with a place; and takes no more memory and steps than it may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cel/code.h"
#include "helper_cel.h"
#include "helper_memory.h"

enum {
    WIDE = 1, /* a source of 8 MiB, 1,000,000 nodes, any cost */
    UNCHECKED = 2,
    DEEP = 4,    /* 512 levels */
    DYNAMIC = 8, /* patterns that come with the data */
    STEPS = 1000000,
    COMPILE_BYTES = 256 << 20, /* with WIDE; else: */
    COMPILE_FEW_BYTES = 4 << 20,
    SCRATCH_BYTES = 4 << 20,
};

typedef struct row {
    const char *text; /* `@N:x@` is x, N times */
    size_t n;         /* of text, which may hold a NUL */
    unsigned how;
    il_status status;
    uint32_t col;      /* of a refusal; of an error value what il_cel_explain says */
    const char *shows; /* a part of the message, or the value; before an error value's message stands `error: ` */
} row;
#define ROW(text, how, status, col, shows) \
    { (text), sizeof(text) - 1, (how), (status), (col), (shows) }
#define REFUSED(text, how, status, col, shows) ROW(text, how, status, col, shows)
#define VALUE(text, how, shows) ROW(text, how, IL_OK, 0, shows)
#define ERROR(text, how, col, shows) ROW(text, how, IL_OK, col, "error: " shows)

static il_str grown(const row *r) {
    size_t room = r->n + 1, n = 0;
    char *out = malloc(room);
    assert_non_null(out);
    for (size_t i = 0; i < r->n; i++) {
        size_t times = 1, from = i, to = i + 1;
        if (r->text[i] == '@') {
            char *end = NULL;
            times = strtoul(r->text + i + 1, &end, 10);
            assert_int_equal(*end, ':');
            from = (size_t)(end - r->text) + 1;
            to = (size_t)(strchr(r->text + from, '@') - r->text);
            i = to;
        }
        room += times * (to - from);
        out = realloc(out, room);
        assert_non_null(out);
        for (; times > 0; times--) {
            memcpy(out + n, r->text + from, to - from);
            n += to - from;
        }
    }
    char *exact = malloc(n > 0 ? n : 1); /* so that a read past its end is seen */
    assert_non_null(exact);
    memcpy(exact, out, n);
    free(out);
    return (il_str){exact, n};
}

static void say_value(const il_cel_program *p, il_cel_value v, il_arena *arena, il_error *err,
                      char out[IL_ERROR_MSG_BYTES + 10]) {
    if (v.kind == IL_CEL_ERROR) {
        il_cel_explain(p, v, err);
        (void)snprintf(out, IL_ERROR_MSG_BYTES + 10, "error: %s", err->msg);
        return;
    }
    il_buf b;
    il_str text = {NULL, 0};
    il_buf_init(&b, arena, 1000);
    il_cel_write(&v, &b);
    assert_int_equal(il_buf_done(&b, &text, NULL), IL_OK);
    (void)snprintf(out, IL_ERROR_MSG_BYTES + 10, "%.*s", IL_STR_ARG(text));
}

static bool judge(const row *r) {
    il_cel_limits limits = {
        .size = sizeof limits, .steps = STEPS, .unchecked = (r->how & UNCHECKED) != 0, .dynamic_regex = (r->how & DYNAMIC) != 0};
    if ((r->how & WIDE) != 0) {
        limits.source_bytes = (size_t)8 << 20;
        limits.nodes = 1000000;
        limits.cost = UINT64_MAX;
    }
    limits.depth = (r->how & DEEP) != 0 ? 512 : 0;
    test_memory memory;
    il_arena arena, scratch;
    il_cel_program *p = NULL;
    il_cel_value vars[CEL_NVARS];
    il_error err = {0};
    char got[IL_ERROR_MSG_BYTES + 10] = "";
    const il_str source = grown(r);
    test_memory_init(&memory, SIZE_MAX);
    il_arena_init(&arena, &memory.alloc, (r->how & WIDE) != 0 ? COMPILE_BYTES : COMPILE_FEW_BYTES);
    il_arena_init(&scratch, &memory.alloc, SCRATCH_BYTES);
    cel_values(vars);
    const il_status status = il_cel_compile(&arena, source, 1, 1, &cel_env, IL_CEL_NULL, &limits, &p, &err);
    assert_true((status == IL_OK) == (p != NULL));
    bool right = true;
    if (status == IL_OK) {
        il_cel_run run = {.program = p, .scratch = &scratch, .steps = STEPS};
        const il_cel_value v = il_cel_run_code(&run, p->code, vars);
        say_value(p, v, &arena, &err, got);
        right = strcmp(got, r->shows) == 0 || (strncmp(r->shows, "error: ", 7) == 0 && strncmp(got, "error: ", 7) == 0 &&
                                               strstr(got + 7, r->shows + 7) != NULL);
    } else {
        (void)snprintf(got, sizeof got, "%s", err.msg);
        right = strstr(got, r->shows) != NULL;
    }
    const bool placed =
        (status == IL_OK && strncmp(got, "error", 5) != 0) || (err.line > 0 && err.col > 0 && err.offset <= source.n);
    if (status != r->status || err.col != r->col || !right || !placed) {
        print_error("%s [%u]\n  want %s %u %s\n  got  %s %u %s\n", r->text, r->how, il_status_name(r->status), r->col, r->shows,
                    il_status_name(status), err.col, got);
        right = false;
    }
    il_arena_free(&scratch);
    il_arena_free(&arena);
    assert_int_equal(memory.live, 0);
    free((void *)(uintptr_t)source.p);
    return right;
}

static void judge_all(const row *rows, size_t n) {
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        wrong += !judge(&rows[i]);
    }
    assert_int_equal(wrong, 0);
}
#define JUDGE(rows) judge_all((rows), sizeof(rows) / sizeof((rows)[0]))

static void test_bytes(void **state) {
    (void)state;
    static const row rows[] = {
        REFUSED("", 0, IL_E_SYNTAX, 1, "an empty expression"),
        REFUSED(" \n\t", 0, IL_E_SYNTAX, 1, "an empty expression"),
        REFUSED("1 + \0 1", 0, IL_E_SYNTAX, 5, "unexpected `\\x00`"),
        VALUE("size('a\0b')", 0, "3"),
        VALUE("'a\0b'", 0, "'a\\x00b'"),
        REFUSED("1 // \0\n+", 0, IL_E_SYNTAX, 2, "expected an expression, got the end of the expression"),
        REFUSED("'\xff'", 0, IL_E_SYNTAX, 2, "UTF-8"),
        REFUSED("'\xc3", 0, IL_E_SYNTAX, 2, "UTF-8"),
        REFUSED("'\xc0\x80'", 0, IL_E_SYNTAX, 2, "UTF-8"),
        REFUSED("'\xed\xa0\x80'", 0, IL_E_SYNTAX, 2, "UTF-8"),
        REFUSED("'\xf4\x90\x80\x80'", 0, IL_E_SYNTAX, 2, "UTF-8"),
        REFUSED("1 // \xff", 0, IL_E_SYNTAX, 6, "UTF-8"),
        REFUSED("b'\xff'", 0, IL_E_SYNTAX, 3, "UTF-8"),
        REFUSED("\xef\xbb\xbf"
                "1",
                0, IL_E_SYNTAX, 1, "unexpected `﻿`"),
        REFUSED("\xc3\xa4", 0, IL_E_SYNTAX, 1, "unexpected `ä`"),
        REFUSED("1 \xe2\x80\xa8+ 2", 0, IL_E_SYNTAX, 3, "unexpected ` `"),
        REFUSED("'\\ud800'", 0, IL_E_SYNTAX, 2, "`\\ud800` is not a Unicode character"),
        REFUSED("'\\U00110000'", 0, IL_E_SYNTAX, 2, "`\\U00110000` is not a Unicode character"),
        REFUSED("b'\\u0041'", 0, IL_E_SYNTAX, 3, "`\\u` is not allowed in bytes; write `\\x` escapes"),
        REFUSED("'\\400'", 0, IL_E_SYNTAX, 2, "unknown escape after `\\`; write `\\\\` for a backslash"),
        REFUSED("'\\xg0'", 0, IL_E_SYNTAX, 2, "`\\x` needs 2 hexadecimal digits"),
        REFUSED("'\\q'", 0, IL_E_SYNTAX, 2, "unknown escape after `\\`; write `\\\\` for a backslash"),
        ERROR("string(b'\\xff')", UNCHECKED, 1, "`string`: what is in these bytes is no text in UTF-8"),
    };
    JUDGE(rows);
}

static void test_unfinished(void **state) {
    (void)state;
    static const row rows[] = {
        REFUSED("'abc", 0, IL_E_SYNTAX, 1, "unterminated string; close it with `'`"),
        REFUSED("1 + \"abc", 0, IL_E_SYNTAX, 5, "unterminated string; close it with `\"`"),
        REFUSED("'''abc''", 0, IL_E_SYNTAX, 1, "unterminated string; close it with `'''`"),
        REFUSED("\"\"\"@9000:a\n@", 0, IL_E_LIMIT, 1, "an expression of 18003 bytes; at most 16384 are read"),
        REFUSED("\"\"\"@9000:\n@", 0, IL_E_SYNTAX, 1, "unterminated string; close it with `\"\"\"`"),
        VALUE("r'abc\\'", 0, "'abc\\\\'"),
        REFUSED("b'abc", 0, IL_E_SYNTAX, 1, "unterminated string; close it with `'`"),
        REFUSED("'abc\n'", 0, IL_E_SYNTAX, 1, "unterminated string; close it with `'`"),
        REFUSED("'abc\\", 0, IL_E_SYNTAX, 1, "unterminated string; close it with `'`"),
        REFUSED("r.`ab", 0, IL_E_SYNTAX, 3, "a back-quoted field name holds letters, digits, `_`, `.`, `-`, `/` and spaces only"),
        REFUSED("(1", 0, IL_E_SYNTAX, 3, "expected `)`, got the end of the expression"),
        REFUSED("[1, 2", 0, IL_E_SYNTAX, 6, "expected `,` or `]`, got the end of the expression"),
        REFUSED("{1: 2", 0, IL_E_SYNTAX, 6, "expected `,` or `}`, got the end of the expression"),
        REFUSED("size(", 0, IL_E_SYNTAX, 6, "expected an expression, got the end of the expression"),
        REFUSED("b ? 1", 0, IL_E_SYNTAX, 6, "expected `:`, got the end of the expression"),
        REFUSED("1 +", 0, IL_E_SYNTAX, 4, "expected an expression, got the end of the expression"),
        REFUSED("1 2", 0, IL_E_SYNTAX, 3, "unexpected `2`; expected an operator or the end"),
        REFUSED("1)", 0, IL_E_SYNTAX, 2, "unexpected `)`; expected an operator or the end"),
        REFUSED("0x", 0, IL_E_SYNTAX, 1, "`0x` is not a number"),
        REFUSED("1e", 0, IL_E_SYNTAX, 1, "`1e` is not a number"),
        REFUSED("9223372036854775808", 0, IL_E_SYNTAX, 1, "`9223372036854775808` does not fit an int (64 bits)"),
        REFUSED("-9223372036854775809", 0, IL_E_SYNTAX, 1, "`-9223372036854775809` does not fit an int (64 bits)"),
        REFUSED("18446744073709551616u", 0, IL_E_SYNTAX, 1, "`18446744073709551616u` does not fit a uint (64 bits)"),
        REFUSED("@5000:9@", 0, IL_E_SYNTAX, 1, "`99999999999999999999999999999"),
        REFUSED("1e999 > 1e308", 0, IL_E_SYNTAX, 1, "`1e999` does not fit a double"),
        VALUE("1e-@15000:9@", 0, "0.0"),
    };
    JUDGE(rows);
}

/* Depth and length. */
static void test_large(void **state) {
    (void)state;
    static const row rows[] = {
        REFUSED("@1000000:(@", 0, IL_E_LIMIT, 1, "an expression of 1000000 bytes; at most 16384 are read"),
        REFUSED("@1000000:(@", WIDE, IL_E_LIMIT, 65, "nested deeper than 64; split the expression"),
        REFUSED("@1000000:(@", WIDE | DEEP, IL_E_LIMIT, 513, "nested deeper than 512"),
        REFUSED("@1000000:[@", WIDE | DEEP, IL_E_LIMIT, 513, "nested deeper than 512; split the expression"),
        REFUSED("@1000000:{1:@", WIDE | DEEP, IL_E_LIMIT, 1537, "nested deeper than 512; split the expression"),
        REFUSED("@1000000:-@1", WIDE | DEEP, IL_E_LIMIT, 513, "nested deeper than 512; split the expression"),
        REFUSED("@1000000:!@b", WIDE | DEEP, IL_E_LIMIT, 513, "nested deeper than 512; split the expression"),
        REFUSED("any@300000:.a@", WIDE | DEEP, IL_E_LIMIT, 1027, "nested deeper than 512; split the expression"),
        REFUSED("any@300000:[0]@", WIDE | DEEP, IL_E_LIMIT, 1537, "nested deeper than 512; split the expression"),
        REFUSED("any@300000:.?a@", WIDE | DEEP, IL_E_LIMIT, 1539, "nested deeper than 512; split the expression"),
        REFUSED("1@300000:+1@", WIDE | DEEP, IL_E_LIMIT, 1024, "nested deeper than 512; split the expression"),
        REFUSED("@300000:b?b:@b", WIDE | DEEP, IL_E_LIMIT, 2053, "nested deeper than 512; split the expression"),
        REFUSED("@300000:size(@", WIDE | DEEP, IL_E_LIMIT, 2566, "nested deeper than 512; split the expression"),
        REFUSED("any@300000:.f(@", WIDE | DEEP | UNCHECKED, IL_E_LIMIT, 1543, "nested deeper than 512; split the expression"),
        REFUSED("@30000:[1].map(x,@1", WIDE | DEEP, IL_E_LIMIT, 329, "more than 32 macro variables in one place"),
        REFUSED("true@10000:&&true@", 0, IL_E_LIMIT, 1, "an expression of 60004 bytes; at most 16384 are read"),
        VALUE("true@10000:&&true@", WIDE, "true"),
        VALUE("true@10000:&&b@", WIDE, "true"),
        VALUE("(true@10000:&&i/(i-7)==i@)||b", WIDE, "true"),
        VALUE("false@10000:||b2@", WIDE, "false"),
        REFUSED("[1@10000:,1@].size()", 0, IL_E_LIMIT, 1, "an expression of 20010 bytes; at most 16384 are read"),
        REFUSED("[1@5000:,1@].size()", 0, IL_E_LIMIT, 8192, "more than 4096 parts, lets expanded; split the expression"),
        REFUSED("b@5000:&&b@", 0, IL_E_LIMIT, 12286, "more than 4096 parts, lets expanded; split the expression"),
        VALUE("[1@10000:,1@].size()", WIDE, "10001"),
        VALUE("[i@10000:,i@].size()", WIDE, "10001"),
        VALUE("'@1000000:a@'.size()", WIDE, "1000000"),
        REFUSED("@17000: @1", 0, IL_E_LIMIT, 1, "an expression of 17001 bytes; at most 16384 are read"),
        VALUE("@1000000: @1", WIDE, "1"),
        VALUE("//@1000000:x@\n1", WIDE, "1"),
        REFUSED("@1000000:a@", WIDE, IL_E_INVALID, 1, "undeclared name `aaaaaaaaaaaaa"),
        REFUSED("@1000000:a@()", WIDE, IL_E_INVALID, 1, "unknown function `aaaaaaaaaaaa"),
        ERROR("{@5000:'a':1,@}", WIDE, 1, "a key is repeated"),
    };
    JUDGE(rows);
}

static void test_numbers(void **state) {
    (void)state;
    static const row rows[] = {
        ERROR("(-9223372036854775807 - 1) / -1", 0, 28, "the result of `/` is out of range"),
        ERROR("-9223372036854775808 % -1", 0, 22, "the result of `%` is out of range"),
        VALUE("i % -1", 0, "0"),
        ERROR("(j - 9223372036854775805) / (j + 2)", 0, 27, "the result of `/` is out of range"),
        ERROR("-(-9223372036854775808)", 0, 1, "the result of `-` is out of range"),
        ERROR("i / (i - 7)", 0, 3, "division by zero"),
        ERROR("i % (i - 7)", 0, 3, "division by zero"),
        ERROR("0u - uint(i)", 0, 4, "the result of `-` is out of range"),
        ERROR("9223372036854775807 + i", 0, 21, "the result of `+` is out of range"),
        ERROR("math.abs(-9223372036854775808)", 0, 1, "the result of `math.abs` is out of range"),
        ERROR("int(9223372036854775808.0)", 0, 1, "the result of `int` is out of range"),
        ERROR("int(0.0 / 0.0)", 0, 1, "the result of `int` is out of range"),
        ERROR("uint(-1)", 0, 1, "the result of `uint` is out of range"),
        ERROR("uint(-0.5 - 0.5)", 0, 1, "the result of `uint` is out of range"),
        ERROR("uint(-0.5)", 0, 1, "the result of `uint` is out of range"),
        REFUSED("int('9223372036854775808')", 0, IL_E_INVALID, 5,
                "`'9223372036854775808'` is out of range; an int is from -9223372036854775808 to 9223372036854775807"),
        REFUSED("int('')", 0, IL_E_INVALID, 5, "`''` is no int; write digits, as in `-12`"),
        REFUSED("int('@9000:9@')", 0, IL_E_INVALID, 5,
                "this text is out of range; an int is from -9223372036854775808 to 9223372036854775807"),
        REFUSED("double('1e')", 0, IL_E_INVALID, 8, "`'1e'` is no double; write one such as `1.5`, `1e3` or `Infinity`"),
        ERROR("math.bitShiftLeft(1, -1)", 0, 1, "`math.bitShiftLeft`: a shift is by 0 bits or more"),
        VALUE("math.bitShiftLeft(1, 9223372036854775807)", 0, "0"),
        VALUE("0.0 / 0.0 == 0.0 / 0.0", 0, "false"),
        VALUE("0.0 / 0.0 in [0.0 / 0.0]", 0, "false"),
        REFUSED("{0.0 / 0.0: 1}", 0, IL_E_INVALID, 2, "a key of a map is an int, uint, bool or string, not `double`"),
        ERROR("{dyn(0.0 / 0.0): 1}", 0, 2, "a key of a map is an int, uint, bool or string"),
        ERROR("{dyn(1.5): 1}", 0, 2, "a key of a map is an int, uint, bool or string"),
        ERROR("{0.0 / 0.0: 1, 0.0 / 0.0: 2}", UNCHECKED, 2, "a key of a map is an int, uint, bool or string"),
        ERROR("{i: 1, i: 2}", 0, 1, "a key is repeated"),
        ERROR("{dyn(7): 1, i: 2}", 0, 1, "a key is repeated"),
        ERROR("{dyn(7u): 1, i: 2}", 0, 1, "a key is repeated"),
        ERROR("{null: 1}", UNCHECKED, 2, "a key of a map is an int, uint, bool or string"),
        ERROR("{'a': 1, i / i + 0.5: 1}", UNCHECKED, 16, "no overload of `+`"),
        ERROR("{any: 1}", 0, 2, "`any` has no value yet"),
        ERROR("{?'a': 1}", UNCHECKED, 8, "the value of a key that is written with `?` must be an optional"),
        ERROR("[?1]", UNCHECKED, 3, "what is written with `?` must be an optional"),
        ERROR("{[1]: 1}", UNCHECKED, 2, "a key of a map is an int, uint, bool or string"),
        ERROR("{1: 1, 1: 2}", 0, 1, "a key is repeated"),
        VALUE("{i: 1, j: 2}[0.0 / 0.0] == 1 || b", UNCHECKED, "true"),
    };
    JUDGE(rows);
}

/* Names and calls that there are not. */
static void test_unknown(void **state) {
    (void)state;
    static const row rows[] = {
        REFUSED("nope", 0, IL_E_INVALID, 1,
                "undeclared name `nope`; there are `b`, `b2`, `i`, `j`, `s`, `word`, `words`, `ints`, ..."),
        REFUSED("nope()", 0, IL_E_INVALID, 1, "unknown function `nope`"),
        REFUSED("s.nope()", 0, IL_E_INVALID, 3, "unknown function `nope`"),
        REFUSED("a.b.c.d(1)", 0, IL_E_INVALID, 1,
                "undeclared name `a`; there are `b`, `b2`, `i`, `j`, `s`, `word`, `words`, `ints`, ..."),
        REFUSED("size()", 0, IL_E_INVALID, 1, "`size` takes 1 argument, got 0"),
        REFUSED("size(s, s)", 0, IL_E_INVALID, 1, "`size` takes 1 argument, got 2"),
        REFUSED("s.startsWith()", 0, IL_E_INVALID, 3, "`startsWith` takes 1 argument, got 0"),
        REFUSED("startsWith(s, s)", 0, IL_E_INVALID, 1, "`startsWith` is called on a value; write `x.startsWith(...)`"),
        REFUSED("s.startsWith(s, s, s, s, s, s, s, s, s, s)", 0, IL_E_INVALID, 3, "`startsWith` takes 1 argument, got 10"),
        REFUSED("math.greatest()", 0, IL_E_INVALID, 1, "`math.greatest` takes at least 1 argument, got 0"),
        REFUSED("size(1)", 0, IL_E_INVALID, 1,
                "no overload `size(int)`; there are `size(string)`, `size(bytes)`, `size(list(dyn))`, ..."),
        REFUSED("ints.map(x)", 0, IL_E_SYNTAX, 10, "`map` takes a variable name and an expression: `map(x, x + 1)`"),
        REFUSED("ints.map(1, x)", 0, IL_E_SYNTAX, 10, "unexpected `1`; expected a variable name"),
        REFUSED("ints.all(x, y, z, w)", 0, IL_E_SYNTAX, 6, "`all` takes a variable name and a condition: `all(x, x == 1)`"),
        REFUSED("ints.all(x, x, x)", 0, IL_E_SYNTAX, 13, "`all` has the variable `x` twice"),
        REFUSED("has(s)", 0, IL_E_SYNTAX, 5, "`has` takes a field: `has(x.field)`"),
        REFUSED("has(r[0])", 0, IL_E_SYNTAX, 5, "`has` takes a field: `has(x.field)`"),
        REFUSED("cel.bind(1, 2, 3)", 0, IL_E_SYNTAX, 10, "unexpected `1`; expected a variable name"),
        REFUSED("r{b: 1}", 0, IL_E_INVALID, 2, "message literals (`T{field: value}`) are not supported"),
        REFUSED("while", 0, IL_E_SYNTAX, 1, "`while` is a reserved word"),
        REFUSED("in", 0, IL_E_SYNTAX, 1, "unexpected `in`; expected an expression"),
        REFUSED("self", 0, IL_E_INVALID, 5, "the let `self` refers to itself"),
        REFUSED("s.matches(s)", 0, IL_E_INVALID, 11,
                "the pattern of `matches` must be a literal; one that is made at run time is not compiled"),
        ERROR("nope", UNCHECKED, 1, "undeclared name `nope`"),
        ERROR("nope(1)", UNCHECKED, 1, "unknown function `nope`"),
        ERROR("s.nope(1)", UNCHECKED, 3, "unknown function `nope`"),
        ERROR("size(s, s)", UNCHECKED, 1, "unknown function `size`"),
        ERROR("size()", UNCHECKED, 1, "unknown function `size`"),
        VALUE("nope(1) || b", UNCHECKED, "true"),
        ERROR("1 && 2", UNCHECKED, 3, "`&&` got a value of another kind than it takes"),
        ERROR("1 ? 2 : 3", UNCHECKED, 3, "`?:` got a value of another kind than it takes"),
        ERROR("s.map(x, x)", UNCHECKED, 3, "`map` got a value of another kind than it takes"),
        ERROR("any", 0, 1, "`any` has no value yet"),
    };
    JUDGE(rows);
}

/* Work that grows faster than its text. */
static void test_work(void **state) {
    (void)state;
    static const row rows[] = {
        REFUSED("ints.all(a, ints.all(b, ints.all(c, ints.all(d, a + b + c + d > 0))))", 0, IL_E_LIMIT, 25,
                "worst-case cost of this `all` is "),
        VALUE("ints.all(a, ints.all(b, ints.all(c, ints.all(d, a + b + c + d > 0))))", WIDE, "true"),
        ERROR("[1@99:,1@].all(a, [1@99:,1@].all(b, [1@99:,1@].all(c, [1@99:,1@].all(d, a + b + c + d + i > 0)))) || b", WIDE, 830,
              "the evaluation took more steps or memory than it may"),
        ERROR("[1@99:,1@].all(a, [1@99:,1@].all(b, [1@99:,1@].all(c, [1@99:,1@].all(d, a + b + c + d + i > 0)))) || b",
              WIDE | UNCHECKED, 830, "the evaluation took more steps or memory than it may"),
        REFUSED("@30:cel.bind(x, x + x, @x@30:)@", 0, IL_E_INVALID, 13,
                "undeclared name `x`; there are `b`, `b2`, `i`, `j`, `s`, `word`, `words`, `ints`, ..."),
        REFUSED("cel.bind(x, s, @25:cel.bind(x, x + x, @x.size()@25:)@)", 0, IL_E_LIMIT, 237, "worst-case cost of this `+` is "),
        ERROR("cel.bind(x, s, @25:cel.bind(x, x + x, @x.size()@25:)@)", WIDE, 391,
              "the evaluation took more steps or memory than it may"),
        ERROR("cel.bind(x, s, @25:cel.bind(x, x + x, @x.size()@25:)@) > 0 || b", WIDE | UNCHECKED, 391,
              "the evaluation took more steps or memory than it may"),
        ERROR("cel.bind(x, ints, @25:cel.bind(x, x + x, @x.size()@25:)@)", WIDE, 318,
              "the evaluation took more steps or memory than it may"),
        ERROR("cel.bind(x, [1], @25:cel.bind(x, x + x, @x.size()@25:)@)", WIDE, 355,
              "the evaluation took more steps or memory than it may"),
        ERROR("cel.bind(x, [i], @29:cel.bind(x, [x, x], @x == x@29:)@)", WIDE | UNCHECKED, 600,
              "the evaluation took more steps or memory than it may"),
        ERROR("cel.bind(x, [1], @29:cel.bind(x, [x, x], @x == x@29:)@)", WIDE | UNCHECKED, 600,
              "the evaluation took more steps or memory than it may"),
        ERROR("cel.bind(x, [1], @29:cel.bind(x, [x, x], @x == x@29:)@)", WIDE, 600,
              "the evaluation took more steps or memory than it may"),
        ERROR("cel.bind(x, [1], @29:cel.bind(x, {'a': x, 'b': x}, @x == x@29:)@)", WIDE, 890,
              "the evaluation took more steps or memory than it may"),
        ERROR("cel.bind(x, [i], @29:cel.bind(x, [x, x], @'%s'.format([x])@29:)@)", WIDE, 603,
              "the evaluation took more steps or memory than it may"),
        ERROR("'%.1000000000f'.format([1.0])", 0, 17,
              "`format`: the format asks for more than the list has, or has a verb that is none; there are `%s %d %f %e %b %o %x "
              "%X`"),
        ERROR("'%s'.format([])", 0, 6,
              "`format`: the format asks for more than the list has, or has a verb that is none; there are `%s %d %f %e %b %o %x "
              "%X`"),
        ERROR("'%z'.format([1])", 0, 6,
              "`format`: the format asks for more than the list has, or has a verb that is none; there are `%s %d %f %e %b %o %x "
              "%X`"),
        ERROR("'%'.format([1])", 0, 5,
              "`format`: the format asks for more than the list has, or has a verb that is none; there are `%s %d %f %e %b %o %x "
              "%X`"),
        REFUSED("s.replace('', s).replace('', s).replace('', s).replace('', s)", 0, IL_E_LIMIT, 1,
                "worst-case cost of this `replace` is "),
        ERROR("cel.bind(x, 'aaaaaaaa', @20:cel.bind(x, x.replace('', x), @x.size()@20:)@)", WIDE, 99,
              "the evaluation took more steps or memory than it may"),
        ERROR("cel.bind(x, ['aaaaaaaa'], @20:cel.bind(x, [x.join('b') + x.join('b')], @x.size()@20:)@)", WIDE, 708,
              "the evaluation took more steps or memory than it may"),
        VALUE("'@100000:a@b'.matches('(a+)+$')", WIDE, "false"),
        VALUE("'@100000:a@'.matches('^(a+)+$')", WIDE, "true"),
        VALUE("'@100000:a@b'.matches('^(a|a)*$')", WIDE, "false"),
        VALUE("'@100000:a@b'.matches('^(a*)*(a*)*(a*)*$')", WIDE, "false"),
        VALUE("'@100000:a@b'.matches('(.*)(.*)(.*)(.*)(.*)[^ab]$')", WIDE, "false"),
        REFUSED("s.matches('((a{100}){100}){100}')", 0, IL_E_LIMIT, 21, "nested repeats make more than 1000"),
        REFUSED("s.matches('a{1001}')", 0, IL_E_LIMIT, 13, "repeat `{1001}` above 1000"),
        REFUSED("s.matches('(((a{10}){10}){10}){10}')", 0, IL_E_LIMIT, 31, "nested repeats make more than 1000"),
        REFUSED("s.matches('@300:(@a@300:)@')", 0, IL_E_LIMIT, 262, "more than 250 groups open"),
        REFUSED("s.matches('(a')", 0, IL_E_INVALID, 12, "missing `)` for the group that begins here"),
        REFUSED("s.matches('(a)\\\\1')", 0, IL_E_INVALID, 15, "backreference `\\1` is not supported"),
        REFUSED("s.matches('(?=a)')", 0, IL_E_INVALID, 12, "look-around `(?=` is not supported"),
        ERROR("s.matches('(' + s)", DYNAMIC, 3,
              "`matches`: this pattern is no regular expression; docs/cel.md says what one may have"),
        ERROR("s.matches('((' + s + '{100}){100}){100}')", DYNAMIC, 3,
              "`matches`: this pattern is no regular expression; docs/cel.md says what one may have"),
        VALUE("s.matches('(.{1000}|' + s + '){1}') || b", DYNAMIC, "true"),
        VALUE("'@1000:a@'.matches('(.{900}|' + s + '[^x]){1}$') && b", DYNAMIC, "true"),
        ERROR("s.matches('(@150:(a?[^b]{0,1000}|@' + s + '@150:)@)') || b", DYNAMIC | WIDE, 3,
              "the evaluation took more steps or memory than it may"),
    };
    JUDGE(rows);
}

static void test_values(void **state) {
    (void)state;
    static const row rows[] = {
        ERROR("ints[3]", 0, 5, "no index 3 in a list of 3; the first is 0"),
        ERROR("ints[-1]", 0, 5, "no index -1 in a list of 3; the first is 0"),
        ERROR("ints[9223372036854775807]", 0, 5, "no index above 2147483647 in a list of 3; the first is 0"),
        ERROR("dyn(ints)[1.5]", 0, 10, "an index must be a whole number"),
        ERROR("dyn(ints)['a']", 0, 10, "this kind of value cannot be indexed like this"),
        ERROR("s.charAt(5)", 0, 3, "`charAt`: an index is outside of the text"),
        VALUE("s.charAt(4)", 0, "''"),
        ERROR("s.substring(3, 2)", 0, 3, "`substring`: an index is outside of the text, or the end stands before the beginning"),
        ERROR("s.substring(-1)", 0, 3, "`substring`: an index is outside of the text, or the end stands before the beginning"),
        ERROR("s.indexOf('t', 9223372036854775807)", 0, 3, "`indexOf`: an index is outside of the text"),
        VALUE("s.split('', -9223372036854775808).size()", 0, "4"),
        ERROR("optional.none().value()", 0, 17,
              "`value`: the optional has no value; write `orValue(...)`, or ask `hasValue()` first"),
        REFUSED("timestamp('0000-01-01T00:00:00Z')", 0, IL_E_INVALID, 11,
                "`'0000-01-01T00:00:00Z'` is no timestamp; write one such as `2024-05-01T12:00:00Z` or "
                "`2024-05-01T12:00:00.5+02:00`"),
        ERROR("timestamp(253402300800)", 0, 1, "the result of `timestamp` is out of range"),
        ERROR("timestamp('9999-12-31T23:59:59Z') + duration('1s')", 0, 35, "the result of `+` is out of range"),
        ERROR("timestamp(-9223372036854775808)", 0, 1, "the result of `timestamp` is out of range"),
        REFUSED("duration('9223372036854775808ns')", 0, IL_E_INVALID, 10,
                "`'9223372036854775808ns'` is no duration; write one such as `1h30m`, `90s` or `250ms`, of at most 292 years"),
        REFUSED("duration('1')", 0, IL_E_INVALID, 10,
                "`'1'` is no duration; write one such as `1h30m`, `90s` or `250ms`, of at most 292 years"),
        REFUSED("duration('@15000:1@h')", 0, IL_E_INVALID, 10,
                "this text is no duration; write one such as `1h30m`, `90s` or `250ms`, of at most 292 years"),
        REFUSED("timestamp(0).getHours('Not/AZone')", 0, IL_E_INVALID, 23,
                "no time zone `Not/AZone`: names of zones are not available here; write an offset such as `+02:00`"),
        REFUSED("timestamp(0).getHours('+99:99')", 0, IL_E_INVALID, 23,
                "no time zone `+99:99`: names of zones are not available here; write an offset such as `+02:00`"),
        ERROR("timestamp(0).getHours(s)", 0, 14,
              "`getHours`: this time zone is not known; write one such as `Europe/Vienna` or `+02:00`"),
        REFUSED("ip('1.2.3')", 0, IL_E_INVALID, 4, "`'1.2.3'` is no IP address; write one such as `10.0.0.1` or `2001:db8::1`"),
        REFUSED("ip('::ffff:1.2.3.4')", 0, IL_E_INVALID, 4,
                "`'::ffff:1.2.3.4'` is no IP address; write one such as `10.0.0.1` or `2001:db8::1`"),
        REFUSED("cidr('1.2.3.4/33')", 0, IL_E_INVALID, 6,
                "`'1.2.3.4/33'` is no range of addresses; write one such as `10.0.0.0/8` or `2001:db8::/32`"),
        ERROR("base64.decode('=')", 0, 1, "`base64.decode`: this text is no base64"),
        ERROR("string(b'\\377')", 0, 1, "`string`: what is in these bytes is no text in UTF-8"),
        ERROR("rs[1].b", 0, 7, "`b` has no value yet"),
        VALUE("has(rs[1].b)", 0, "false"),
    };
    JUDGE(rows);
}

/* A row that is wrong is told: a wrong place, value, status. */
static void test_controls(void **state) {
    (void)state;
    static const row rows[] = {VALUE("1 + 1", 0, "3"), ERROR("i / 0", 0, 4, "division by zero"),
                               REFUSED("1 +", 0, IL_E_INVALID, 4, "the end")};
    print_message("three differences follow, as they should\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_false(judge(&rows[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),   cmocka_unit_test(test_unfinished), cmocka_unit_test(test_large),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_unknown),    cmocka_unit_test(test_work),
        cmocka_unit_test(test_values),  cmocka_unit_test(test_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
