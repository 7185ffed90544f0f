/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <yaml.h>

#include "helper_json.h"
#include "helper_memory.h"
#include "yaml/scalar.h"
#include "yaml/yaml.h"

/* libyaml takes its memory through these; defined here they replace its own, so that each of its allocations can fail. */
static size_t yaml_calls, yaml_left = SIZE_MAX, yaml_live;

static bool yaml_granted(void) {
    yaml_calls++;
    if (yaml_left == 0) {
        return false;
    }
    yaml_left -= yaml_left != SIZE_MAX;
    return true;
}

IL_API void *yaml_malloc(size_t n);
IL_API void *yaml_realloc(void *p, size_t n);
IL_API void yaml_free(void *p);
IL_API yaml_char_t *yaml_strdup(const yaml_char_t *s);

void *yaml_malloc(size_t n) {
    void *p = yaml_granted() ? malloc(n == 0 ? 1 : n) : NULL;
    yaml_live += p != NULL;
    return p;
}

void *yaml_realloc(void *p, size_t n) {
    if (p == NULL) {
        return yaml_malloc(n);
    }
    return yaml_granted() ? realloc(p, n == 0 ? 1 : n) : NULL;
}

void yaml_free(void *p) {
    yaml_live -= p != NULL;
    free(p);
}

yaml_char_t *yaml_strdup(const yaml_char_t *s) {
    if (s == NULL) {
        return NULL;
    }
    const size_t n = strlen((const char *)s) + 1;
    yaml_char_t *p = yaml_malloc(n);
    return p == NULL ? NULL : memcpy(p, s, n);
}

static test_memory memory;
static il_arena arena;

static int yaml_setup(void **state) {
    (void)state;
    test_memory_init(&memory, SIZE_MAX);
    il_arena_init(&arena, &memory.alloc, (size_t)256 << 20);
    return 0;
}

static int yaml_teardown(void **state) {
    (void)state;
    il_arena_free(&arena);
    return memory.live == 0 && yaml_live == 0 ? 0 : -1;
}

static il_json *read_yaml(const char *text) {
    il_json *v = NULL;
    il_error err = {0};
    if (il_yaml_parse(&arena, il_str_of(text), NULL, &v, &err) != IL_OK) {
        fail_msg("%s\n%u:%u %s", text, err.line, err.col, err.msg);
    }
    return v;
}

static void reads(const char *text, const char *json) {
    const char *got = test_json_text(&arena, read_yaml(text), IL_JSON_AS_READ);
    if (got == NULL || strcmp(got, json) != 0) {
        fail_msg("%s\nreads as %s\n  instead of %s", text, got, json);
    }
}

static void refuses_n(const char *text, size_t n, il_status code, uint32_t line, uint32_t col, const char *says) {
    il_json *v = NULL;
    il_error err = {0};
    const il_status s = il_yaml_parse(&arena, (il_str){text, n}, NULL, &v, &err);
    if (s != code || err.code != code || err.line != line || err.col != col || strstr(err.msg, says) == NULL || v != NULL) {
        fail_msg("%.*s\n%s %u:%u %s", (int)n, text, il_status_name(s), err.line, err.col, err.msg);
    }
    assert_int_equal(il_yaml_parse(&arena, (il_str){text, n}, NULL, &v, NULL), code);
}

static void refuses(const char *text, uint32_t line, uint32_t col, const char *says) {
    refuses_n(text, strlen(text), IL_E_SYNTAX, line, col, says);
}

static void core_schema_values(void **state) {
    (void)state;
    reads("[null, ~, true, false]", "[null,null,true,false]");
    reads("a:\nb: ~\nc: null\n", "{\"a\":null,\"b\":null,\"c\":null}");
    reads("[0, -0, 1, -17, 1.5, -2.25e-3, 1E+2, 1e300, 9007199254740993, 18446744073709551615]",
          "[0,-0,1,-17,1.5,-2.25e-3,1E+2,1e300,9007199254740993,18446744073709551615]");
    reads("[a, a b, 1.2.3, 10.0.0.1, 3 new issues, v1, -x, a-b, x@y, 6/hour, 10m, .example, ~/src, ../a, a#b, '#eng', nullify, "
          "trueish, http://x.y/z?q=1&r=2]",
          "[\"a\",\"a b\",\"1.2.3\",\"10.0.0.1\",\"3 new "
          "issues\",\"v1\",\"-x\",\"a-b\",\"x@y\",\"6/hour\",\"10m\",\".example\",\"~/src\",\"../a\",\"a#b\",\"#eng\","
          "\"nullify\",\"trueish\",\"http://x.y/z?q=1&r=2\"]");
    reads("a: args.amount > 5000 || !vouched(args.customer)\nb: gmail-x@1\nc: a:b\nd: files.(read|write)\n",
          "{\"a\":\"args.amount > 5000 || "
          "!vouched(args.customer)\",\"b\":\"gmail-x@1\",\"c\":\"a:b\",\"d\":\"files.(read|write)\"}");
}

static void quoted_is_always_text(void **state) {
    (void)state;
    reads("['yes', \"no\", '012', \"1:30\", '2026-07-28', \"null\", 'true', '1', '', \"\", '~', '{a,b}', '*x', '&x', '!x', '@x', "
          "'%x', '`x`', 'a: b', '# c']",
          "[\"yes\",\"no\",\"012\",\"1:30\",\"2026-07-28\",\"null\",\"true\",\"1\",\"\",\"\",\"~\",\"{a,b}\",\"*x\",\"&x\",\"!"
          "x\",\"@x\",\"%x\",\"`x`\",\"a: b\","
          "\"# c\"]");
    reads("\"1\": a\n'true': b\n\"\": c\n'<<': d\n", "{\"1\":\"a\",\"true\":\"b\",\"\":\"c\",\"<<\":\"d\"}");
    reads("a: \"\\x41\\u00e9\\U0001F600\\n\\t\\\\\\\"\\/\\0\"\nb: 'it''s \\n'\n",
          "{\"a\":\"A\xc3\xa9\xf0\x9f\x98\x80\\n\\t\\\\\\\"/\\u0000\",\"b\":\"it's \\\\n\"}");
    reads("a: \"\\N\\L\\P\\_\"\n", "{\"a\":\"\xc2\x85\\u2028\\u2029\xc2\xa0\"}");
    reads("a: \"one\n  two\n\n  three\"\nb: 'x\n  y'\nc: p\n  q\n", "{\"a\":\"one two\\nthree\",\"b\":\"x y\",\"c\":\"p q\"}");
    reads("a: \"x\ty\"\n", "{\"a\":\"x\\ty\"}");
}

static void block_scalars(void **state) {
    (void)state;
    reads("a: |\n  x\n   y\n\n  z\n", "{\"a\":\"x\\n y\\n\\nz\\n\"}");
    reads("a: |-\n  x\n  y\n\n\nb: 1\n", "{\"a\":\"x\\ny\",\"b\":1}");
    reads("a: |+\n  x\n\nb: 1\n", "{\"a\":\"x\\n\\n\",\"b\":1}");
    reads("a: >-\n  one\n  two\n\n    three\n  four\n", "{\"a\":\"one two\\n\\n  three\\nfour\"}");
    reads("- >-\n  pre.a == 'x' &&\n  !call.b # no comment\n- |2\n    x\n",
          "[\"pre.a == 'x' && !call.b # no comment\",\"  x\\n\"]");
    reads("a: |\n  x", "{\"a\":\"x\\n\"}"); /* a missing last line end is the same as one */
    reads("a: | # header\n  x\n", "{\"a\":\"x\\n\"}");
    reads("a: |\n  yes {b} *c\n", "{\"a\":\"yes {b} *c\\n\"}");
}

static void flow_style_and_comments(void **state) {
    (void)state;
    reads("# first\na: {b: [1, \"two\"], \"c\":3, d: {}, e: []} # after\n\n# last\n",
          "{\"a\":{\"b\":[1,\"two\"],\"c\":3,\"d\":{},\"e\":[]}}");
    reads("a: [\n  1, # one\n  2,\n]\n", "{\"a\":[1,2]}");
    reads("a: {\n  b: 1,\n}\n", "{\"a\":{\"b\":1}}");
    reads("#!shebang-like\n#commented out\na: 1\n", "{\"a\":1}");
    reads("a: # nothing here\nb: 1 ## two\n", "{\"a\":null,\"b\":1}");
    reads("a:\n#old\n- 1\n#- 2\n- 3\n", "{\"a\":[1,3]}");
    reads("- { match: \"files.(read|list)\", effects: [sensitive] }\n- {match: web.fetch, effects: []}\n",
          "[{\"match\":\"files.(read|list)\",\"effects\":[\"sensitive\"]},{\"match\":\"web.fetch\",\"effects\":[]}]");
    reads("- - a\n  - b\n-   c: 1\n    d: 2\n", "[[\"a\",\"b\"],{\"c\":1,\"d\":2}]");
    reads("a:\n- 1\n- 2\nb:\n  - 3\n", "{\"a\":[1,2],\"b\":[3]}");
    reads("---\na: 1\n...\n", "{\"a\":1}");
    reads("--- a\n", "\"a\"");
    reads("a: 1\r\nb: |\r\n  x\r\n  y\r\n", "{\"a\":1,\"b\":\"x\\ny\\n\"}");
}

/* Every spelling that a reader of YAML 1.1 or 1.2 may take for something else than a string, as value and as key. */
static void doubtful_plain_scalars_are_refused(void **state) {
    (void)state;
    static const char *const plain[] = {
        "1e400",
        "-1e400",
        "yes",
        "Yes",
        "YES",
        "no",
        "No",
        "NO",
        "on",
        "On",
        "ON",
        "off",
        "Off",
        "OFF",
        "y",
        "Y",
        "n",
        "N",
        "True",
        "TRUE",
        "False",
        "FALSE",
        "Null",
        "NULL",
        "tRUE",
        "012",
        "00",
        "-01",
        "+1",
        "+0",
        "1_000",
        "1_0.5",
        "_1",
        "0o7",
        "0O7",
        "0x1f",
        "0X1F",
        "0b11",
        "-0x1",
        "+0o7",
        "0x_1",
        ".5",
        "-.5",
        "+.5",
        "5.",
        "+1.5",
        "1.e5",
        "01e5",
        "+1e5",
        "01.5",
        ".inf",
        ".Inf",
        "-.INF",
        "+.inf",
        ".nan",
        ".NaN",
        "1:30",
        "1:2:3",
        "-1:30",
        "190:20:30.15",
        "12:30:45",
        "8080:80",
        "1_0:30",
        "2026-07-28",
        "2026-7-8",
        "2026-07-28T10:00:00Z",
        "2026-07-28 10:00:00",
        "2026-07-28t1",
        "=",
        "<<",
    };
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        char text[100];
        assert_int_equal(il_yaml_sense_of(il_str_of(plain[i])), IL_YAML_DOUBTFUL);
        snprintf(text, sizeof text, "a:\n  - %s\n", plain[i]);
        refuses(text, 2, 5, "quote this");
        snprintf(text, sizeof text, "[ x, %s ]", plain[i]);
        refuses(text, 1, 6, "quote this");
        snprintf(text, sizeof text, "%s: 1\n", plain[i]);
        refuses(text, 1, 1, strcmp(plain[i], "<<") == 0 ? "merge keys" : "quote this");
        snprintf(text, sizeof text, "a: '%s'\n", plain[i]);
        assert_int_equal(il_json_kind_of(il_json_first(read_yaml(text))), IL_JSON_STRING);
    }
}

/* Alone it stands for text in `[ ]` and `{ }` only, and not to every reader. */
static void a_lone_dash_is_refused(void **state) {
    (void)state;
    refuses("[x, -]", 1, 5, "quote this");
    refuses("{a: -}", 1, 5, "quote this");
    refuses("{-: a}", 1, 2, "quote this");
    reads("['-', -a]", "[\"-\",\"-a\"]");
}

static void plain_scalars_that_readers_agree_on(void **state) {
    (void)state;
    static const char *const plain[] = {
        "yess", "non",          "onn",   "1.2.3",   "1.2.3.4",      "0x",          "0xg",         "0b2", "0o8", "1:b", "a:30",
        "1::2", "127.0.0.1:80", "12 30", "2026-07", "2026-07-28-x", "2026-07-288", "20260-07-28", "e5",  "1e",  "1e+", ".",
        "..",   "-a",           "+",     "_",       "--1",          "1-2",         ".info",       "1x",  "0b",  "=="};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (il_yaml_sense_of(il_str_of(plain[i])) != IL_YAML_STRING) {
            fail_msg("%s is no string", plain[i]);
        }
    }
    assert_int_equal(il_yaml_sense_of(IL_STR("")), IL_YAML_NULL);
    assert_int_equal(il_yaml_sense_of(IL_STR("~")), IL_YAML_NULL);
    assert_int_equal(il_yaml_sense_of(IL_STR("1e3")), IL_YAML_NUMBER);
    assert_int_equal(il_yaml_sense_of(IL_STR("-0")), IL_YAML_NUMBER);
}

static void signs_that_begin_something_else(void **state) {
    (void)state;
    refuses("a: !x\n", 1, 4, "`!x` is a tag; quote this");
    refuses("a: !x y\n", 1, 4, "`!x` is a tag; quote this");
    refuses("a: ! y\n", 1, 4, "`!` is a tag; quote this");
    refuses("a: !\n", 1, 4, "`!` is a tag; quote this");
    refuses("a: !!str 1\n", 1, 4, "`!!str` is a tag");
    refuses("a: !<tag:x> 1\n", 1, 4, "is a tag");
    refuses("a: ! [1]\n", 1, 4, "is a tag");
    refuses("a: !t {b: 1}\n", 1, 4, "is a tag");
    refuses("a: !t\n  b: 1\n", 1, 4, "is a tag");
    refuses("! a: 1\n", 1, 1, "is a tag");
    refuses("a: !u!x 1\n", 1, 4, "quote this");
    refuses("- !(a|b)\n", 1, 3, "quote this");
    refuses("a: *x\n", 1, 4, "`*x` is an alias; quote this");
    refuses("a: *\n", 1, 4, "quote this");
    refuses("a: *.js\n", 1, 4, "quote this");
    refuses("a: [*, b]\n", 1, 5, "quote this");
    refuses("*x : 1\n", 1, 1, "quote this");
    refuses("a: &x 1\n", 1, 4, "`&x` is an anchor; quote this");
    refuses("a: &x\n", 1, 4, "anchor");
    refuses("a: &x [1]\n", 1, 4, "anchor");
    refuses("a: &x\n  b: 1\n", 1, 4, "anchor");
    refuses("&x a: 1\n", 1, 1, "anchor");
    refuses("a: @x\n", 1, 4, "quote this");
    refuses("email: [@corp.example]\n", 1, 9, "`@corp.example]` does; quote this");
    refuses("a: `x`\n", 1, 4, "quote this");
    refuses("a: %x\n", 1, 4, "quote this");
    refuses("a: b: c\n", 1, 5, "quote this");
    refuses("a: - b\n", 1, 4, "");
    refuses("a: 'b' c\n", 1, 8, "");
    refuses("a: \"b\"c\n", 1, 7, "");
}

static void braces_in_plain_text(void **state) {
    (void)state;
    refuses("match: files.{a,b}\n", 1, 8, "`{` in plain text; quote this");
    refuses("match: files.a}\n", 1, 8, "`}` in plain text; quote this");
    refuses("x{y}: 1\n", 1, 1, "`{` in plain text; quote this");
    refuses("match: [files.{a,b}]\n", 1, 15, "quote");
    refuses("match: {a,b}\n", 1, 9, "`a` in braces has no value");
    refuses("match: {a: 1, b}\n", 1, 15, "`b` in braces has no value");
    refuses("repo: {owner}/{repo}\n", 1, 8, "`owner` in braces has no value");
    refuses("{a:1}\n", 1, 2, "`a:1` in braces has no value");
    reads("{a : 1, b \t: , c: # none\n , \"d\" :2}\n", "{\"a\":1,\"b\":null,\"c\":null,\"d\":2}");
    reads("{a: , b: 1}\n", "{\"a\":null,\"b\":1}");
}

static void comments_that_swallow_a_value(void **state) {
    (void)state;
    refuses("channel: #eng\n", 1, 10, "`#eng` begins a comment here; quote this");
    refuses("channel: [#eng, b]\n", 1, 11, "space before `#`");
    refuses("channel: [ #eng, b\n  ]\n", 1, 12, "`#eng,` begins a comment here");
    refuses("channel: [\n  #eng,\n  b ]\n", 2, 3, "`#eng,` begins a comment here");
    refuses("- #eng\n- b\n", 1, 3, "`#eng` begins a comment");
    refuses("channel:\n  #eng\nb: 1\n", 2, 3, "`#eng` begins a comment");
    refuses("a: b #eng\n", 1, 6, "`#eng` begins a comment");
    refuses("a: 'b'#eng\n", 1, 7, "space before `#`");
    refuses("a: |#eng\n  x\n", 1, 5, "space before `#`");
    refuses("a: | #eng\n  x\n", 1, 6, "`#eng` begins a comment");
    reads("a: b#eng\n", "{\"a\":\"b#eng\"}");
    reads("a:\n#eng\nb: 1\n", "{\"a\":null,\"b\":1}");
}

static void keys(void **state) {
    (void)state;
    refuses("a: 1\nb: 2\na: 3\n", 3, 1, "duplicate key `a`, first at line 1 column 1");
    refuses("a: 1\n'a': 2\n", 2, 1, "duplicate key `a`");
    refuses("{a: 1, \"\\x61\": 2}\n", 1, 8, "duplicate key `a`");
    refuses("x:\n  - {b: 1, c: 2, b: 3}\n", 2, 18, "duplicate key `b`, first at line 2 column 6");
    refuses("1: a\n", 1, 1, "the key `1` is no string; quote this");
    refuses("1.5: a\n", 1, 1, "quote this");
    refuses("true: a\n", 1, 1, "the key `true` is no string; quote this");
    refuses("null: a\n", 1, 1, "quote this");
    refuses("~: a\n", 1, 1, "quote this");
    refuses("? a\n", 1, 1, "complex key");
    refuses("? a\n: b\n", 1, 1, "complex key");
    refuses("? [a]\n: b\n", 1, 1, "complex key");
    refuses("{? a: b}\n", 1, 2, "complex key");
    refuses("[a, b]: c\n", 1, 1, "a key must be text");
    refuses("{a: 1}: c\n", 1, 1, "a key must be text");
    refuses("{: 1}\n", 1, 2, "");
    refuses("<<: {a: 1}\n", 1, 1, "merge keys are not supported");
    refuses("[a: 1]\n", 1, 2, "a `key: value` pair in `[ ]`");
    refuses("[\"a\":1]\n", 1, 2, "a `key: value` pair in `[ ]`");
    refuses("[:a]\n", 1, 2, "quote");
}

static void documents_and_directives(void **state) {
    (void)state;
    refuses("", 1, 1, "empty");
    refuses(" \n\n", 1, 1, "empty");
    refuses("# only a comment\n", 1, 1, "empty");
    refuses("---\n", 2, 1, "empty");
    refuses("a: 1\n---\nb: 2\n", 2, 1, "second document");
    refuses("--- a\n--- b\n", 2, 1, "second document");
    refuses("a: 1\n...\nb: 2\n", 3, 1, "");
    refuses("%YAML 1.1\n---\na: 1\n", 1, 1, "directives are not supported");
    refuses("%YAML 1.2\n---\na: 1\n", 1, 1, "directives are not supported");
    refuses("%TAG ! tag:x\n---\na: 1\n", 1, 1, "directives are not supported");
    refuses("%FOO bar\n---\na: 1\n", 1, 1, "");
    refuses("|\n x\n", 1, 1, "needs a key");
}

static void indentation(void **state) {
    (void)state;
    refuses("a:\n\tb: 1\n", 2, 1, "");
    refuses("a:\n  b: 1\n\tc: 2\n", 3, 1, "");
    refuses("a: [1,\n\t2]\n", 2, 1, "a tab is no indentation");
    refuses("a: [1,\n  \t2]\n", 2, 3, "a tab is no indentation");
    refuses("a: [1,\n2]\n", 2, 1, "indent this line deeper");
    refuses("a:\n  b: {c: 1,\n  d: 2}\n", 3, 3, "indent this line deeper");
    refuses("a: \"x\ny\"\n", 2, 1, "indent this line deeper");
    refuses("a: 'x\n\ny'\n", 3, 1, "indent this line deeper");
    refuses("a: [x\ny]\n", 2, 1, "indent this line deeper");
    refuses("a:\n|\n x\n", 2, 1, "indent this deeper");
    refuses("a: \"x \\\n  y\"\n", 1, 7, "escaped line end");
    reads("a: \"x \\\\\n  y\"\n", "{\"a\":\"x \\\\ y\"}"); /* an escaped backslash is none */
    reads("a: [1,\n 2\n]\n", "{\"a\":[1,2]}");
    reads("[1,\n2\n]\n", "[1,2]");
    reads("a:\t1\n", "{\"a\":1}"); /* a tab that is no indentation */
}

static void characters(void **state) {
    (void)state;
    refuses("\xef\xbb\xbf"
            "a: 1\n",
            1, 1, "byte order mark");
    refuses("a: \xef\xbb\xbf"
            "b\n",
            1, 4, "U+feff");
    refuses("a: \xc3\xa9\xff\n", 1, 5, "invalid utf-8: byte \\xff");
    refuses("a: \xc0\x80\n", 1, 4, "invalid utf-8");
    refuses("a: \xed\xa0\x80\n", 1, 4, "invalid utf-8");
    refuses("a: x\xc2\x85y\n", 1, 5, "U+0085");
    refuses("a: \"x\xe2\x80\xa8y\"\n", 1, 6, "U+2028");
    refuses("a: x\n# \xe2\x80\xa9 y: 1\n", 2, 3, "U+2029");
    refuses("a: \x7f\n", 1, 4, "U+007f");
    refuses("a: \x1b[2J\n", 1, 4, "U+001b");
    refuses("a: \xc2\x9b"
            "2J\n",
            1, 4, "U+009b");
    refuses("a: \xef\xbf\xbf\n", 1, 4, "U+ffff");
    refuses("a: 1\rb: 2\n", 1, 5, "carriage return without a line feed");
    refuses("a: 1\r", 1, 5, "carriage return");
    refuses_n("a: \0\n", 5, IL_E_SYNTAX, 1, 4, "U+0000");
    refuses_n("\xff\xfe"
              "a\0:\0",
              6, IL_E_SYNTAX, 1, 1, "invalid utf-8");
    refuses_n("\x7f"
              "ELF\x02\x01\x01\0",
              8, IL_E_SYNTAX, 1, 1, "U+007f");
    reads("a: \xc2\xa0\xe3\x80\x80\xf0\x9f\x98\x80\n", "{\"a\":\"\xc2\xa0\xe3\x80\x80\xf0\x9f\x98\x80\"}");
}

static void broken_text_is_positioned(void **state) {
    (void)state;
    refuses("a: [1, 2\n", 2, 1, "");
    refuses("a: \"x\n", 2, 1, "");
    refuses("a: 1\n b: 2\n", 2, 3, "quote this");
    refuses("a:\n  - 1\n - 2\n", 3, 2, "");
    refuses("a: [1,,2]\n", 1, 7, "");
    refuses("a: }\n", 1, 4, "");
    refuses("a: \"\\ud83d\"\n", 1, 7, "");
    refuses("a: \"\\q\"\n", 1, 5, "");
}

static void limits(void **state) {
    (void)state;
    il_json *v = NULL;
    il_error err = {0};
    /* Refused by its length alone: the text is not 100 MB long, and reading it would crash. */
    assert_int_equal(il_yaml_parse(&arena, (il_str){"a", (size_t)100 << 20}, NULL, &v, &err), IL_E_LIMIT);
    assert_int_equal(err.line, 1);
    assert_int_equal(memory.calls, 0);
    char text[3000] = "";
    for (int i = 0; i < 65; i++) {
        strcat(text, "- ");
    }
    refuses_n(text, strlen(text), IL_E_LIMIT, 1, 129, "nested deeper than 64 levels");
    memset(text, '[', 2000);
    refuses_n(text, 2000, IL_E_LIMIT, 1, 65, "nested deeper than 64 levels");
    memset(text, 'k', 1025);
    strcpy(text + 1025, ": 1\n");
    refuses_n(text, 1029, IL_E_SYNTAX, 1, 1026, ""); /* libyaml's own limit for a key without quotes and `?` */
    memset(text, '{', 1);
    memset(text + 1, 'k', 800);
    strcpy(text + 801, ": 1}\n");
    assert_int_equal(
        il_yaml_parse(&arena, il_str_of(text), &(il_json_limits){.size = sizeof(il_json_limits), .key_bytes = 799}, &v, &err),
        IL_E_LIMIT);
    assert_int_equal(err.col, 2);
    assert_int_equal(
        il_yaml_parse(&arena, IL_STR("[a, {b: c}]"), &(il_json_limits){.size = sizeof(il_json_limits), .nodes = 4}, &v, &err),
        IL_OK);
    assert_int_equal(
        il_yaml_parse(&arena, IL_STR("[a, {b: c}, d]"), &(il_json_limits){.size = sizeof(il_json_limits), .nodes = 4}, &v, &err),
        IL_E_LIMIT);
    assert_int_equal(err.col, 13);
    assert_int_equal(
        il_yaml_parse(&arena, IL_STR("[a]"), &(il_json_limits){.size = sizeof(il_json_limits), .bytes = 2}, &v, &err),
        IL_E_LIMIT);
    assert_int_equal(il_yaml_parse(&arena, IL_STR("[a]"),
                                   &(il_json_limits){.size = sizeof(il_json_limits), .depth = IL_JSON_DEPTH_MAX + 1}, &v, &err),
                     IL_E_ARGUMENT);
    assert_int_equal(
        il_yaml_parse(&arena, IL_STR("[a, b, c]"), &(il_json_limits){.size = sizeof(il_json_limits), .memory = 200}, &v, &err),
        IL_E_LIMIT);
    assert_null(v);
    assert_int_equal(arena.cap, (size_t)256 << 20);
}

static void nodes_know_where_they_stood(void **state) {
    (void)state;
    const il_json *v = read_yaml(
        "# \xc3\xa9\n\xc3\xa9\xe2\x82\xac: [ \"\xf0\x9f\x98\x80\", two ]\r\nb:\r\n  - c: |\r\n      x\r\n  - yes-man\r\n");
    const il_json *first = il_json_first(v);
    assert_int_equal(il_json_line(v), 2);
    assert_int_equal(first->key_line, 2);
    assert_int_equal(first->key_col, 1);
    assert_int_equal(first->key_offset, 5);
    assert_int_equal(il_json_col(first), 5);
    assert_int_equal(first->offset, 12);
    const il_json *two = il_json_next(il_json_first(first));
    assert_int_equal(il_json_col(two), 12);
    assert_int_equal(two->offset, 22);
    assert_true(two->plain);
    assert_false(il_json_first(first)->plain);
    const il_json *b = il_json_next(first);
    assert_int_equal(b->key_line, 3);
    const il_json *c = il_json_first(il_json_first(b));
    assert_int_equal(c->key_line, 4);
    assert_int_equal(c->key_col, 5);
    assert_int_equal(il_json_line(il_json_next(il_json_first(b))), 6);
    assert_int_equal(il_json_col(il_json_next(il_json_first(b))), 5);
}

/* Accepted JSON vectors that are arrays or objects read as the same tree; of scalars, that or a refusal. */
static void json_text_is_yaml_too(void **state) {
    (void)state;
    char path[500];
    snprintf(path, sizeof path, "%s/tests/vectors/json/parse.jsonl", IL_TEST_SOURCE_DIR);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    json_t *j = NULL;
    size_t same = 0;
    while ((j = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL)) != NULL) {
        const json_t *text = json_object_get(j, "text");
        if (text != NULL && json_object_get(j, "error") == NULL) {
            const il_str s = {json_string_value(text), json_string_length(text)};
            il_json *json = NULL;
            il_json *yaml = NULL;
            assert_int_equal(il_json_parse(&arena, s, NULL, &json, NULL), IL_OK);
            const il_status status = il_yaml_parse(&arena, s, NULL, &yaml, NULL);
            if (json->kind == IL_JSON_ARRAY || json->kind == IL_JSON_OBJECT || status == IL_OK) {
                if (status != IL_OK || !test_json_equal(json, yaml)) {
                    fail_msg("%s", json_string_value(json_object_get(j, "name")));
                }
                same++;
            }
        }
        json_decref(j);
    }
    fclose(f);
    assert_true(same > 40);
    reads("\n { \"a\": \"\\ud83d\\ude00\",\n\t\"b\": [1e300, \"\xe2\x80\xa8\"] }",
          "{\"a\":\"\xf0\x9f\x98\x80\",\"b\":[1e300,\"\\u2028\"]}");
}

/* Random trees, written as JSON and indented by hand into block style, come back equal. */
static void put_block(il_buf *b, const il_json *v, int indent) {
    if (il_json_first(v) == NULL) {
        il_json_write(b, v, IL_JSON_AS_READ);
        il_buf_putc(b, '\n');
        return;
    }
    il_buf_putc(b, '\n');
    for (const il_json *c = il_json_first(v); c != NULL; c = il_json_next(c)) {
        for (int i = 0; i < indent; i++) {
            il_buf_putc(b, ' ');
        }
        if (v->kind == IL_JSON_ARRAY) {
            il_buf_puts(b, "- ");
        } else {
            il_json key = {.kind = IL_JSON_STRING, .text = c->key};
            il_json_write(b, &key, IL_JSON_AS_READ);
            il_buf_puts(b, ": ");
        }
        put_block(b, c, indent + 2);
    }
}

static void random_trees_in_block_style_come_back(void **state) {
    (void)state;
    test_random r = {test_random_seed("yaml trees")};
    size_t read = 0;
    for (int i = 0; i < 1500; i++) {
        const il_json *v = test_json_random(&arena, &r, 3);
        il_buf b;
        il_str text;
        il_json *back = NULL;
        il_error err = {0};
        il_buf_init(&b, &arena, SIZE_MAX);
        put_block(&b, v, 0);
        assert_int_equal(il_buf_done(&b, &text, NULL), IL_OK);
        const il_status s = il_yaml_parse(&arena, text, NULL, &back, &err);
        if (s == IL_OK) {
            read++;
            if (!test_json_equal(v, back)) {
                fail_msg("%.*s", IL_STR_ARG(text));
            }
        } else if (strstr(err.msg, "must be written as an escape") == NULL) { /* C1 characters stand raw in JSON */
            fail_msg("%.*s\n%u:%u %s", IL_STR_ARG(text), err.line, err.col, err.msg);
        }
        il_arena_reset(&arena);
    }
    assert_true(read > 500);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    char text[9000] = "a: {b: [1, 'two', \"three\"]}\nlist:\n";
    size_t n = strlen(text);
    for (int i = 0; i < 200; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "- {key%d: value, q: \"%d\"}\n", i, i);
    }
    size_t failures[2] = {0, 0};
    for (int side = 0; side < 2; side++) { /* libyaml's allocations, then ours */
        for (size_t left = 0;; left++) {
            test_memory m;
            il_arena a;
            il_json *v = NULL;
            il_error err = {0};
            test_memory_init(&m, side == 0 ? SIZE_MAX : left);
            yaml_left = side == 0 ? left : SIZE_MAX;
            il_arena_init(&a, &m.alloc, (size_t)16 << 20);
            const il_status s = il_yaml_parse(&a, (il_str){text, n}, NULL, &v, &err);
            yaml_left = SIZE_MAX;
            il_arena_free(&a);
            assert_int_equal(m.live, 0);
            assert_int_equal(yaml_live, 0);
            if (s == IL_OK) {
                break;
            }
            failures[side]++;
            assert_int_equal(s, IL_E_MEMORY);
            assert_int_equal(err.code, IL_E_MEMORY);
            assert_true(err.line >= 1 && err.col >= 1);
            assert_null(v);
        }
    }
    assert_true(failures[0] > 100); /* the replacement is in use */
    assert_true(failures[1] >= 4);
}

static void shipped_documents_are_read(void **state) {
    (void)state;
    char path[600];
    static const char *const files[] = {"tests/scenarios/A1/policy.yaml", "tests/scenarios/B3/policy.yaml",
                                        "tests/scenarios/B8/policy.yaml"};
    static char text[1 << 16];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", IL_TEST_SOURCE_DIR, files[i]);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        const size_t n = fread(text, 1, sizeof text, f);
        fclose(f);
        il_json *v = NULL;
        il_error err = {0};
        if (il_yaml_parse(&arena, (il_str){text, n}, NULL, &v, &err) != IL_OK) {
            fail_msg("%s:%u:%u: %s", files[i], err.line, err.col, err.msg);
        }
        assert_true(il_str_eq(il_json_text(il_json_get(v, IL_STR("interlock"))), IL_STR("1")));
    }
}

int main(void) {
#define YAML_TEST(name) cmocka_unit_test_setup_teardown(name, yaml_setup, yaml_teardown)
    const struct CMUnitTest tests[] = {
        YAML_TEST(core_schema_values),
        YAML_TEST(quoted_is_always_text),
        YAML_TEST(block_scalars),
        YAML_TEST(flow_style_and_comments),
        YAML_TEST(doubtful_plain_scalars_are_refused),
        YAML_TEST(a_lone_dash_is_refused),
        YAML_TEST(plain_scalars_that_readers_agree_on),
        YAML_TEST(signs_that_begin_something_else),
        YAML_TEST(braces_in_plain_text),
        YAML_TEST(comments_that_swallow_a_value),
        YAML_TEST(keys),
        YAML_TEST(documents_and_directives),
        YAML_TEST(indentation),
        YAML_TEST(characters),
        YAML_TEST(broken_text_is_positioned),
        YAML_TEST(limits),
        YAML_TEST(nodes_know_where_they_stood),
        YAML_TEST(json_text_is_yaml_too),
        YAML_TEST(random_trees_in_block_style_come_back),
        YAML_TEST(every_failing_allocation_is_survived),
        YAML_TEST(shipped_documents_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
