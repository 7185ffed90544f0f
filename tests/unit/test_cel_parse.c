/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cel/value.h"
#include "helper_cel.h"

/* The tree with every parenthesis: (+ 1 (* 2 3)). */
static void tree(il_buf *out, const il_cel_node *n) {
    const char *sign = il_cel_sign((il_cel_op)n->op);
    if (n->maybe) {
        il_buf_putc(out, '?');
    }
    if (n->kids == NULL && n->op != IL_CEL_OP_LIST && n->op != IL_CEL_OP_MAP && n->op != IL_CEL_OP_CALL) {
        if (n->op == IL_CEL_OP_LIT) {
            il_cel_write(&n->lit, out);
        } else {
            il_buf_puts(out, n->op == IL_CEL_OP_LOCAL ? "$" : "");
            il_buf_put(out, n->name);
        }
        return;
    }
    il_buf_putc(out, '(');
    il_buf_puts(out, n->op == IL_CEL_OP_LIST     ? "list"
                     : n->op == IL_CEL_OP_MAP    ? "map"
                     : n->op == IL_CEL_OP_INDEX  ? (n->optional ? "[?]" : "[]")
                     : n->op == IL_CEL_OP_LET    ? "let"
                     : n->op == IL_CEL_OP_SELECT ? (n->optional ? ".?" : ".")
                     : n->op == IL_CEL_OP_CALL   ? (n->receiver ? "method" : "call")
                                                 : sign);
    if (n->name.n > 0 && n->op != IL_CEL_OP_LET) {
        il_buf_putc(out, ' ');
        il_buf_put(out, n->name);
    }
    if (n->name2.n > 0) {
        il_buf_putc(out, ' ');
        il_buf_put(out, n->name2);
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        il_buf_putc(out, ' ');
        tree(out, k);
    }
    il_buf_putc(out, ')');
}

static const il_cel_limits parse_limits = {
    .size = sizeof parse_limits, .source_bytes = IL_CEL_SOURCE_BYTES, .depth = IL_CEL_DEPTH, .nodes = IL_CEL_NODES};

static void test_trees(void **state) {
    (void)state;
    static const struct {
        const char *text, *tree;
    } rows[] = {
        {"1 + 2 * 3", "(+ 1 (* 2 3))"},
        {"(1 + 2) * 3", "(* (+ 1 2) 3)"},
        {"1 - 2 - 3", "(- (- 1 2) 3)"},
        {"1 < 2 == true", "(== (< 1 2) true)"},
        {"1 + 2 < 3 && b || b2", "(|| (&& (< (+ 1 2) 3) b) b2)"},
        {"b || b2 || b", "(|| b b2 b)"},
        {"b || (b2 || b)", "(|| b (|| b2 b))"},
        {"b && b2 && b || b && b2", "(|| (&& b b2 b) (&& b b2))"},
        {"b ? 1 : b2 ? 2 : 3", "(?: b 1 (?: b2 2 3))"},
        {"b || b2 ? i == 1 : j == 1", "(?: (|| b b2) (== i 1) (== j 1))"},
        {"!b && !!b2", "(&& (! b) (! (! b2)))"},
        {"-i * -j", "(* (- i) (- j))"},
        {"!r.b", "(! (. b r))"},
        {"-r.i", "(- (. i r))"},
        {"-1", "-1"},
        {"--1", "(- -1)"},
        {"-(1)", "(- 1)"},
        {"4--4", "(- 4 -4)"},
        {"- 5", "-5"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"i - 9223372036854775807", "(- i 9223372036854775807)"},
        {"0x10", "16"},
        {"-0x8000000000000000", "-9223372036854775808"},
        {"i in ints == b", "(== (in i ints) b)"},
        {"ints[0][1]", "([] ([] ints 0) 1)"},
        {"r.for.in_", "(. in_ (. for r))"},
        {"r.`a-b`", "(. a-b r)"},
        {".r.b", "(. b r)"},
        {"f()", "(call f)"},
        {"a.f(1, 2)", "(method f a 1 2)"},
        {"size([1,])", "(call size (list 1))"},
        {"[]", "(list)"},
        {"[,]", "(list)"},
        {"{}", "(map)"},
        {"{1: 'a', 'b': 2,}", "(map 1 'a' 'b' 2)"},
        {"1.5 + 2u + 1e3", "(+ (+ 1.5 2u) 1000.0)"},
        {"0xFFFFFFFFFFFFFFFFu", "18446744073709551615u"},
        {"b'x\\xff'", "b'x\\xff'"},
        {"-1u", "(- 1u)"},
        {"-1.5", "(- 1.5)"},
        {"has(r.b) || has(r.b.c)", "(|| (has (. b r)) (has (. c (. b r))))"},
        {"r.?b.c", "(. c (.? b r))"},
        {"ints[?0][1]", "([] ([?] ints 0) 1)"},
        {"[?1, 2, ?r.?b]", "(list ?1 2 ?(.? b r))"},
        {"{?1: 2, 3: 4}", "(map ?1 2 3 4)"},
        {"ints.exists(i, x, i == x)", "(exists i x ints (== $i $x))"},
        {"ints.all(x, y)", "(all x ints y)"},
        {"ints.existsOne(x, true)", "(existsOne x ints true)"},
        {"ints.exists_one(x, true)", "(existsOne x ints true)"},
        {"ints.filter(x, x > 1)", "(filter x ints (> $x 1))"},
        {"ints.map(x, x + 1)", "(map x ints (+ $x 1))"},
        {"ints.map(x, x > 1, x + 1)", "(map x ints (> $x 1) (+ $x 1))"},
        {"ints.transformList(i, x, i + x)", "(map i x ints (+ $i $x))"},
        {"ints.transformList(i, x, i > 0, x)", "(map i x ints (> $i 0) $x)"},
        {"r.transformMap(k, v, v)", "(transformMap k v r $v)"},
        {"r.transformMapEntry(k, v, {v: k})", "(transformMapEntry k v r (map $v $k))"},
        {"cel.bind(x, x, x + 1)", "(cel.bind x x (+ $x 1))"},
        {"r.?b.optMap(x, x + 1)", "(optMap x (.? b r) (+ $x 1))"},
        {"r.?b.optFlatMap(x, x.?y)", "(optFlatMap x (.? b r) (.? y $x))"},
        {"type(1) == int", "(== (call type 1) int)"},
        {"net.IP", "net.IP"},
        {"google.protobuf.Timestamp", "google.protobuf.Timestamp"},
        {"google.protobuf.Nothing", "(. Nothing (. protobuf google))"},
        {"net.IPs", "(. IPs net)"},
        {"strings.quote(s)", "(call strings.quote s)"},
        {"strings.quoted(s)", "(method quoted strings s)"},
        {"names.exists(strings, strings.quote(s))", "(exists strings names (method quote $strings s))"},
        {"names.exists(int, .int == type(int))", "(exists int names (== int (call type $int)))"},
        {"ints.exists(x, x > 1)", "(exists x ints (> $x 1))"},
        {"ints.all(x, .x == x)", "(all x ints (== x $x))"},
        {"lists.all(x, x.all(x, x > 0))", "(all x lists (all x $x (> $x 0)))"},
        {"yes && sum > 1", "(&& (let b) (> (let (+ i j)) 1))"},
        {"names.exists(s, hides == s)", "(exists s names (== (let s) $s))"},
        {"names.exists(hides, hides == '')", "(exists hides names (== $hides ''))"},
        {"names.exists(hides, .hides == hides)", "(exists hides names (== (let s) $hides))"},
        {"exists", "exists"},
        {"a // comment\n && b", "(&& a b)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cel_case c;
        il_cel_node *root = NULL;
        il_buf b;
        il_str got;
        cel_case_init(&c);
        il_buf_init(&b, &c.arena, 4096);
        if (il_cel_parse(&c.arena, il_str_of(rows[i].text), 1, 1, &cel_env, &parse_limits, &root, &c.err) != IL_OK) {
            print_error("%s\n  %u:%u %s\n", rows[i].text, c.err.line, c.err.col, c.err.msg);
            fail();
        }
        tree(&b, root);
        il_buf_putc(&b, 0);
        assert_int_equal(il_buf_done(&b, &got, NULL), IL_OK);
        assert_string_equal(got.p, rows[i].tree);
        cel_case_free(&c);
    }
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        il_status status;
        uint32_t line, col;
        const char *says;
    } rows[] = {
        {"", IL_E_SYNTAX, 1, 1, "empty expression"},
        {"  // nothing", IL_E_SYNTAX, 1, 1, "empty expression"},
        {"b &&", IL_E_SYNTAX, 1, 5, "expected an expression, got the end"},
        {"b b", IL_E_SYNTAX, 1, 3, "unexpected `b`; expected an operator or the end"},
        {"b and b2", IL_E_SYNTAX, 1, 3, "unexpected `and`; did you mean `&&`?"},
        {"b or b2", IL_E_SYNTAX, 1, 3, "did you mean `||`?"},
        {"i is 1", IL_E_SYNTAX, 1, 3, "did you mean `==`?"},
        {"not b", IL_E_SYNTAX, 1, 1, "unexpected `not`; did you mean `!b`?"},
        {"s not in names", IL_E_SYNTAX, 1, 3, "unexpected `not`; `x not in y` is written `!(x in y)`"},
        {"b &&\n  (b2 ||\n   )", IL_E_SYNTAX, 3, 4, "unexpected `)`; expected an expression"},
        {"(b", IL_E_SYNTAX, 1, 3, "expected `)`"},
        {"[1 2]", IL_E_SYNTAX, 1, 4, "expected `,` or `]`"},
        {"f(1,)", IL_E_SYNTAX, 1, 5, "expected an expression"},
        {"f(,)", IL_E_SYNTAX, 1, 3, "expected an expression"},
        {"{1}", IL_E_SYNTAX, 1, 3, "expected `:`"},
        {"b ? 1", IL_E_SYNTAX, 1, 6, "expected `:`"},
        {"b ? b ? 1 : 2 : 3", IL_E_SYNTAX, 1, 7, "expected `:`"},
        {"for == 1", IL_E_SYNTAX, 1, 1, "`for` is a reserved word"},
        {"r.true", IL_E_SYNTAX, 1, 3, "expected a field name"},
        {"r.1", IL_E_SYNTAX, 1, 2, "unexpected `.1`"},
        {"!-i", IL_E_SYNTAX, 1, 2, "do not mix"},
        {"-!b", IL_E_SYNTAX, 1, 2, "do not mix"},
        {"`a`", IL_E_SYNTAX, 1, 1, "after a dot only"},
        {"ints.exists(x)", IL_E_SYNTAX, 1, 13, "takes a variable name and a condition: `exists(x, x == 1)`"},
        {"ints.all(1, b)", IL_E_SYNTAX, 1, 10, "expected a variable name"},
        {"ints.all(r.i, b)", IL_E_SYNTAX, 1, 10, "takes a variable name"},
        {"ints.all(var, b)", IL_E_SYNTAX, 1, 10, "expected a variable name"},
        {"T{a: 1}", IL_E_INVALID, 1, 2, "message literals"},
        {"a.b.T{a: 1}", IL_E_INVALID, 1, 6, "message literals"},
        {"1{", IL_E_SYNTAX, 1, 2, "unexpected `{`"},
        {"%%% no", IL_E_SYNTAX, 1, 1, "unexpected `%`"},
        {"self", IL_E_INVALID, 13, 5, "the let `self` refers to itself"},
        {"b && ping == 1", IL_E_INVALID, 15, 5, "the let `ping` refers to itself"},
        {"1 + bad", IL_E_SYNTAX, 16, 7, "got the end of the expression"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cel_case c;
        cel_case_init(&c);
        il_status s = cel_compile(&c, rows[i].text, &cel_env, IL_CEL_NULL);
        if (s != rows[i].status || c.err.code != s || c.err.line != rows[i].line || c.err.col != rows[i].col ||
            strstr(c.err.msg, rows[i].says) == NULL) {
            print_error("%s\n  %s %u:%u %s\n", rows[i].text, il_status_name(s), c.err.line, c.err.col, c.err.msg);
            fail();
        }
        cel_case_free(&c);
    }
}

/* What is underlined: all of what is wrong, and no more. */
static void test_spans(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t col, span;
        const char *says;
    } rows[] = {
        {"1 + 9223372036854775808", 5, 19, "does not fit an int"},
        {"1 + -9223372036854775809", 5, 20, "`-9223372036854775809` does not fit an int"},
        {"1 + - 9223372036854775809", 5, 21, "does not fit an int"},
        {"1u + 18446744073709551616u", 6, 21, "does not fit a uint"},
        {"1 + 1e999", 5, 5, "does not fit a double"},
        {"1 + 12ab", 5, 4, "is not a number"},
        {"'a\\qb'", 3, 2, "unknown escape"},
        {"'a\\\xC3\xA9'", 3, 2, "unknown escape"},
        {"'a\\u12'", 3, 4, "needs 4 hexadecimal digits"},
        {"'a\\ud800b'", 3, 6, "is not a Unicode character"},
        {"b'a\\u0041'", 4, 6, "not allowed in bytes"},
        {"'\\09'", 2, 2, "an octal escape"},
        {"'\\009'", 2, 3, "an octal escape"},
        {"'abc", 1, 4, "unterminated string"},
        {"'abc\nd'", 1, 4, "unterminated string"},
        {"i === 1", 3, 3, "unexpected `===`; did you mean `==`?"},
        {"i !== 1", 3, 3, "unexpected `!==`; did you mean `!=`?"},
        {"i => 1", 3, 2, "unexpected `=>`; did you mean `>=`?"},
        {"i =< 1", 3, 2, "unexpected `=<`; did you mean `<=`?"},
        {"i <> 1", 3, 2, "unexpected `<>`; did you mean `!=`?"},
        {"i ** 2", 3, 2, "unexpected `**`; there are no powers; multiply"},
        {"s ~= 'a'", 3, 2, "unexpected `~=`; did you mean `text.matches('pattern')`?"},
        {"s =~ 'a'", 3, 2, "unexpected `=~`; did you mean `text.matches('pattern')`?"},
        {"s ?? 'a'", 3, 2, "unexpected `??`; did you mean `x.?field.orValue(other)`?"},
        {"not b", 1, 3, "did you mean `!b`?"},
        {"   ", 1, 0, "an empty expression"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cel_case c;
        cel_case_init(&c);
        assert_int_equal(cel_compile(&c, rows[i].text, &cel_env, IL_CEL_NULL), IL_E_SYNTAX);
        if (c.err.col != rows[i].col || c.err.span != rows[i].span || strstr(c.err.msg, rows[i].says) == NULL) {
            print_error("%s\n  %u:%u+%u %s\n", rows[i].text, c.err.line, c.err.col, c.err.span, c.err.msg);
            fail();
        }
        cel_case_free(&c);
    }
}

/* Where the text stands in its file is where the error points. */
static void test_place(void **state) {
    (void)state;
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(il_cel_compile(&c.arena, IL_STR("b && nope"), 44, 19, &cel_env, IL_CEL_NULL, NULL, &c.program, &c.err),
                     IL_E_INVALID);
    assert_int_equal(c.err.line, 44);
    assert_int_equal(c.err.col, 24);
    assert_int_equal(c.err.offset, 5);
    assert_int_equal(il_cel_compile(&c.arena, IL_STR("b &&\n nope"), 44, 19, &cel_env, IL_CEL_NULL, NULL, &c.program, &c.err),
                     IL_E_INVALID);
    assert_int_equal(c.err.line, 45);
    assert_int_equal(c.err.col, 2);
    assert_int_equal(il_cel_compile(&c.arena, IL_STR("nope"), 44, 19, NULL, IL_CEL_NULL, NULL, &c.program, NULL), IL_E_INVALID);
    cel_case_free(&c);
}

/* `pre`, then `unit` n times, then `mid`, then `post` n times. */
static char *repeat(const char *pre, const char *unit, size_t n, const char *mid, const char *post) {
    size_t a = strlen(unit), b = strlen(post), cap = strlen(pre) + strlen(mid) + n * (a + b) + 1;
    char *p = malloc(cap), *at = p;
    assert_non_null(p);
    at += sprintf(at, "%s", pre);
    for (size_t i = 0; i < n; i++, at += a) {
        memcpy(at, unit, a);
    }
    at += sprintf(at, "%s", mid);
    for (size_t i = 0; i < n; i++, at += b) {
        memcpy(at, post, b);
    }
    *at = 0;
    return p;
}

static void test_limits(void **state) {
    (void)state;
    static const il_cel_limits wide = {.size = sizeof wide, .source_bytes = (size_t)4 << 20, .nodes = 100000},
                               deep = {.size = sizeof deep, .source_bytes = (size_t)4 << 20, .depth = 512, .nodes = 100000},
                               few = {.size = sizeof few, .nodes = 3}, tiny = {.size = sizeof tiny, .source_bytes = 8};
    static const struct {
        const char *pre, *unit;
        size_t n;
        const char *mid, *post;
        const il_cel_limits *limits;
        il_status status;
    } rows[] = {
        {"", "(", 32, "b", ")", NULL, IL_OK},
        {"", "(", 64, "b", ")", NULL, IL_OK},
        {"", "(", 65, "b", ")", NULL, IL_E_LIMIT},
        {"", "(", 500000, "b", ")", NULL, IL_E_LIMIT},
        {"", "(", 500000, "b", ")", &wide, IL_E_LIMIT},
        {"", "(", 500000, "", "", &wide, IL_E_LIMIT},
        {"", "[", 500000, "", "", &wide, IL_E_LIMIT},
        {"", "{1:", 300000, "", "", &wide, IL_E_LIMIT},
        {"", "!", 500000, "b", "", &wide, IL_E_LIMIT},
        {"", "-", 500000, "i", "", &wide, IL_E_LIMIT},
        {"", "b?1:", 300000, "1", "", &wide, IL_E_LIMIT},
        {"i", "+1", 300000, "", "", &wide, IL_E_LIMIT},
        {"r", ".b", 300000, "", "", &wide, IL_E_LIMIT},
        {"i", "[0]", 300000, "", "", &wide, IL_E_LIMIT},
        {"", "f(", 300000, "", "", &wide, IL_E_LIMIT},
        {"b", ".f()", 300000, "", "", &wide, IL_E_LIMIT},
        {"", "ints.all(x,", 100000, "b", ")", &wide, IL_E_LIMIT},
        {"", "[", 512, "b", "]", &deep, IL_E_LIMIT},
        {"", "[", 511, "b", "]", &deep, IL_OK},
        {"b", "&&b", 10000, "", "", NULL, IL_E_LIMIT},
        {"b", "&&b", 10000, "", "", &wide, IL_OK},
        {"b", "||b", 10000, "", "", &wide, IL_OK},
        {"b", "&&b", 200000, "", "", &wide, IL_E_LIMIT},
        {"b", "&&b", 4094, "", "", NULL, IL_OK},
        {"b", "&&b", 4095, "", "", NULL, IL_E_LIMIT},
        {"", " ", 16383, "b", "", NULL, IL_OK},
        {"", " ", 16384, "b", "", NULL, IL_E_LIMIT},
        {"", "", 0, "b && b2", "", &few, IL_OK},
        {"", "", 0, "b && b2 && b", "", &few, IL_E_LIMIT},
        {"", "", 0, "b && b2", "", &tiny, IL_OK},
        {"", "", 0, "b && b2  ", "", &tiny, IL_E_LIMIT},
        {"b", " || b", 31, "", "", NULL, IL_OK},
        {"i", " + 1", 31, "", "", NULL, IL_OK},
        {"", "b ? 1 : ", 32, "2", "", NULL, IL_OK},
        {"", "!", 32, "b", "", NULL, IL_OK},
        {"", "-", 32, "i", "", NULL, IL_OK},
        {"[i", ",i", 31, "]", "", NULL, IL_OK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cel_case c;
        cel_case_init(&c);
        char *text = repeat(rows[i].pre, rows[i].unit, rows[i].n, rows[i].mid, rows[i].post);
        il_status s = il_cel_compile(&c.arena, il_str_of(text), 1, 1, &cel_env, IL_CEL_NULL, rows[i].limits, &c.program, &c.err);
        if (s != rows[i].status || (s != IL_OK && c.err.line != 1)) {
            print_error("row %zu (%s x %zu): %s %u:%u %s\n", i, rows[i].unit, rows[i].n, il_status_name(s), c.err.line, c.err.col,
                        c.err.msg);
            fail();
        }
        if (s == IL_OK) {
            il_cel_value vars[CEL_NVARS];
            cel_values(vars);
            assert_int_not_equal(cel_eval(&c, vars).kind, IL_CEL_ERROR);
        }
        free(text);
        cel_case_free(&c);
    }
    static const il_cel_limits silly = {.size = sizeof silly, .depth = 100000};
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(il_cel_compile(&c.arena, IL_STR("b"), 1, 1, &cel_env, IL_CEL_NULL, &silly, &c.program, &c.err),
                     IL_E_ARGUMENT);
    cel_case_free(&c);
}

/* Lets that double at each step: bounded by the node count, not by patience. */
static void test_let_growth(void **state) {
    (void)state;
    enum { LETS = 30 };
    il_cel_let lets[LETS];
    char names[LETS][4], sources[LETS][32];
    for (int i = 0; i < LETS; i++) {
        sprintf(names[i], "l%d", i);
        sprintf(sources[i], i + 1 < LETS ? "l%d && l%d" : "true", i + 1, i + 1);
        lets[i] = (il_cel_let){il_str_of(names[i]), il_str_of(sources[i]), (uint32_t)i + 1, 1};
    }
    const il_cel_env env = {.size = sizeof env, .lets = lets, .nlets = LETS};
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(cel_compile(&c, "l0", &env, IL_CEL_BOOL), IL_E_LIMIT);
    assert_int_equal(cel_compile(&c, "l20 || false", &env, IL_CEL_BOOL), IL_OK);
    assert_true(il_cel_true(cel_eval(&c, NULL)));
    /* A long comment in a let is read again at each use. */
    char *text = repeat("", " ", 16000, "true", "");
    lets[0].source = il_str_of(text);
    char *uses = repeat("l0", "&&l0", 100, "", "");
    assert_int_equal(cel_compile(&c, uses, &env, IL_CEL_BOOL), IL_E_LIMIT);
    assert_non_null(strstr(c.err.msg, "the lets expand to more than"));
    free(text);
    free(uses);
    cel_case_free(&c);
}

/* Every allocation may be the one that fails: an error, and nothing else. */
static void test_no_memory(void **state) {
    (void)state;
    static const char text[] =
        "yes && ints.exists(x, x in [1, 2, i] && 'a\\n' == s) ? [word, 'none'] : [r.word == 'held' ? 'a' : 'b'] + ['c']";
    size_t failed = 0;
    for (size_t n = 0;; n++) {
        cel_memory memory;
        il_arena arena;
        il_cel_program *program = NULL;
        il_error err = {0};
        cel_memory_init(&memory, n);
        il_arena_init(&arena, &memory.alloc, (size_t)64 << 20);
        il_status s = il_cel_compile(&arena, IL_STR(text), 1, 1, &cel_env, IL_CEL_LIST, NULL, &program, &err);
        il_arena_free(&arena);
        if (s == IL_OK) {
            break;
        }
        assert_int_equal(s, IL_E_MEMORY);
        assert_null(program);
        failed++;
        assert_true(n < 1000);
    }
    assert_true(failed > 0);
    /* The same with a cap that grows a few bytes at a time, so that every single request is the one that hits it. */
    failed = 0;
    for (size_t cap = 0;; cap += 16) {
        cel_memory memory;
        il_arena arena;
        il_cel_program *program = NULL;
        il_error err = {0};
        cel_memory_init(&memory, SIZE_MAX);
        il_arena_init(&arena, &memory.alloc, cap);
        il_status s = il_cel_compile(&arena, IL_STR(text), 1, 1, &cel_env, IL_CEL_LIST, NULL, &program, &err);
        il_arena_free(&arena);
        if (s == IL_OK) {
            break;
        }
        assert_int_equal(s, IL_E_LIMIT);
        assert_null(program);
        failed++;
        assert_true(cap < 1000000);
    }
    assert_true(failed > 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees),     cmocka_unit_test(test_errors), cmocka_unit_test(test_spans),
        cmocka_unit_test(test_place),     cmocka_unit_test(test_limits), cmocka_unit_test(test_let_growth),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
