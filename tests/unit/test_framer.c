/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "net/framer.h"

typedef struct framer_memory { /* fails the n-th allocation; 0: none */
    size_t count, fail;
    long live;
} framer_memory;

static void *framer_get(void *ctx, size_t n) {
    framer_memory *m = ctx;
    if (++m->count == m->fail) {
        return NULL;
    }
    m->live++;
    return malloc(n);
}

static void framer_give(void *ctx, void *p) {
    framer_memory *m = ctx;
    m->live -= p != NULL;
    free(p);
}

/* Feeds `text` in pieces of `step` bytes and writes what comes out as `[line]`, `!` for a line that is too long, `(rest)`. */
static void framer_run(const char *text, size_t n, size_t step, size_t max, char *out) {
    framer_memory memory = {0};
    const il_alloc alloc = {framer_get, framer_give, &memory};
    il_framer f;
    il_str line;
    il_framer_init(&f, &alloc, max);
    for (size_t at = 0; at < n;) {
        char *room = NULL;
        size_t cap = 0;
        const size_t more = n - at < step ? n - at : step;
        assert_int_equal(il_framer_room(&f, &room, &cap, NULL), IL_OK);
        assert_true(cap >= more);
        memcpy(room, text + at, more);
        il_framer_fed(&f, more);
        at += more;
        for (il_frame kind; (kind = il_framer_next(&f, &line)) != IL_FRAME_NONE;) {
            if (kind == IL_FRAME_TOO_LONG) {
                *out++ = '!';
                continue;
            }
            *out++ = '[';
            memcpy(out, line.p, line.n);
            out += line.n;
            *out++ = ']';
        }
    }
    if (il_framer_rest(&f, &line)) {
        *out++ = '(';
        memcpy(out, line.p, line.n);
        out += line.n;
        *out++ = ')';
    }
    *out = '\0';
    il_framer_free(&f);
    assert_int_equal(memory.live, 0);
}

static void framer_lines(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"", ""},
        {"a\n", "[a]"},
        {"a\nb\n", "[a][b]"},
        {"\n\n", "[][]"},
        {"a\r\nb\n", "[a][b]"},
        {"a\r\r\n", "[a\r]"}, /* one CR belongs to the line end, the other does not */
        {"\r\n", "[]"},
        {"a\rb\n", "[a\rb]"},
        {"a\nrest", "[a](rest)"},
        {"rest\r", "(rest)"},
        {"12345678\n", "[12345678]"},
        {"12345678\r\n", "[12345678]"}, /* the CR does not count */
        {"123456789\nb\n", "![b]"},
        {"123456789", ""},
        {"1234567890123456789012345\nb\nc", "![b](c)"},
        {"123456789\r\nb\n", "![b]"},
        {"123456789\n123456789\n", "!!"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t step = 1; step < 30; step++) {
            char out[128];
            framer_run(rows[i].in, strlen(rows[i].in), step, 8, out);
            /* a long last line without an end is reported as soon as it is seen to be one, which depends on the step */
            if (strcmp(rows[i].out, "") == 0 && rows[i].in[0] != '\0') {
                assert_true(strcmp(out, "") == 0 || strcmp(out, "!") == 0);
            } else {
                assert_string_equal(out, rows[i].out);
            }
        }
    }
}

static void framer_nul_is_a_byte(void **state) {
    (void)state;
    char out[16];
    framer_run("a\0b\n", 4, 4, 8, out);
    assert_memory_equal(out, "[a\0b]", 6);
}

static void framer_cap_holds_while_reading(void **state) {
    (void)state;
    framer_memory memory = {0};
    const il_alloc alloc = {framer_get, framer_give, &memory};
    il_framer f;
    il_str line;
    size_t too_long = 0;
    il_framer_init(&f, &alloc, 1024);
    for (size_t i = 0; i < 1000; i++) { /* 64 MB without a line end */
        char *room = NULL;
        size_t n = 0;
        assert_int_equal(il_framer_room(&f, &room, &n, NULL), IL_OK);
        memset(room, 'x', n);
        il_framer_fed(&f, n);
        too_long += il_framer_next(&f, &line) == IL_FRAME_TOO_LONG;
        assert_true(f.cap <= 512u * 1024u);
    }
    assert_int_equal(too_long, 1);
    il_framer_free(&f);
}

static void framer_without_memory(void **state) {
    (void)state;
    for (size_t fail = 1; fail < 4; fail++) {
        framer_memory memory = {.fail = fail};
        const il_alloc alloc = {framer_get, framer_give, &memory};
        il_framer f;
        il_error err = {0};
        il_status st = IL_OK;
        il_str line;
        il_framer_init(&f, &alloc, 1u << 20);
        for (size_t i = 0; i < 8 && st == IL_OK; i++) {
            char *room = NULL;
            size_t n = 0;
            st = il_framer_room(&f, &room, &n, &err);
            if (st == IL_OK) {
                memset(room, 'x', n);
                il_framer_fed(&f, n);
                assert_int_equal(il_framer_next(&f, &line), IL_FRAME_NONE);
            }
        }
        assert_int_equal(st, IL_E_MEMORY);
        assert_int_equal(err.code, IL_E_MEMORY);
        il_framer_free(&f);
        assert_int_equal(memory.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(framer_lines),
        cmocka_unit_test(framer_nul_is_a_byte),
        cmocka_unit_test(framer_cap_holds_while_reading),
        cmocka_unit_test(framer_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
