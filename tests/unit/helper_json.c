/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

uint32_t test_random_below(test_random *r, uint32_t n) {
    r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(r->state >> 33) % n;
}

uint64_t test_random_seed(const char *what) {
    const char *given = getenv("IL_TEST_SEED");
    const uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("%s: IL_TEST_SEED=%llu\n", what, (unsigned long long)seed);
    return seed;
}

static il_str random_text(il_arena *a, test_random *r) {
    static const char *const parts[] = {"a",
                                        "key",
                                        "\"",
                                        "\\",
                                        "/",
                                        "\n",
                                        "\r\n",
                                        "\t",
                                        "\x01",
                                        "\x1f",
                                        "\x7f",
                                        " ",
                                        "\xc3\xa9",
                                        "\xc2\x85",
                                        "\xe2\x80\xa8",
                                        "\xe2\x80\xa9",
                                        "\xe2\x82\xac",
                                        "\xf0\x9f\x98\x80",
                                        "\xef\xbf\xbf",
                                        "0123456789abcdef",
                                        "u0041"};
    il_buf b;
    il_str out = {NULL, 0};
    il_buf_init(&b, a, 4096);
    for (uint32_t n = test_random_below(r, 6); n > 0; n--) {
        const uint32_t i = test_random_below(r, (uint32_t)(sizeof parts / sizeof parts[0]) + 1);
        if (i == sizeof parts / sizeof parts[0]) {
            il_buf_putc(&b, '\0');
        } else {
            il_buf_puts(&b, parts[i]);
        }
    }
    (void)!il_buf_done(&b, &out, NULL);
    return out;
}

static il_json *random_number(il_arena *a, test_random *r) {
    static const char *const numbers[] = {"0",   "-0",  "1",     "-1",   "9007199254740993", "18446744073709551615",
                                          "0.1", "1.0", "1e300", "1E+2", "-2.50e-3"};
    il_json *v = il_json_make(a, IL_JSON_NUMBER);
    if (v != NULL) {
        v->text = il_str_of(numbers[test_random_below(r, (uint32_t)(sizeof numbers / sizeof numbers[0]))]);
    }
    return v;
}

il_json *test_json_random(il_arena *a, test_random *r, unsigned depth) {
    const uint32_t what = test_random_below(r, depth == 0 ? 5 : 9);
    il_json *v = NULL;
    switch (what) {
    case 0:
        return il_json_make(a, IL_JSON_NULL);
    case 1:
        return il_json_boolean(a, test_random_below(r, 2) == 0);
    case 2:
        return random_number(a, r);
    case 3:
    case 4:
        return il_json_string(a, random_text(a, r));
    case 5:
    case 6:
        v = il_json_make(a, IL_JSON_ARRAY);
        for (uint32_t n = test_random_below(r, 5); n > 0; n--) {
            (void)il_json_push(v, test_json_random(a, r, depth - 1));
        }
        return v;
    default:
        v = il_json_make(a, IL_JSON_OBJECT);
        for (uint32_t n = test_random_below(r, 16); n > 0; n--) {
            (void)il_json_set(v, random_text(a, r), test_json_random(a, r, depth - 1));
        }
        return v;
    }
}

il_json *test_json_shuffled(il_arena *a, test_random *r, const il_json *v) {
    il_json *copy = il_json_make(a, il_json_kind_of(v));
    if (copy == NULL) {
        return NULL;
    }
    copy->truth = v->truth;
    copy->text = v->text;
    const size_t n = il_json_count(v);
    const il_json **children = IL_NEW_ARRAY(a, const il_json *, n + 1);
    size_t i = 0;
    for (const il_json *c = il_json_first(v); c != NULL; c = il_json_next(c)) {
        children[i++] = c;
    }
    for (i = n; v->kind == IL_JSON_OBJECT && i > 1; i--) {
        const size_t j = test_random_below(r, (uint32_t)i);
        const il_json *swap = children[i - 1];
        children[i - 1] = children[j];
        children[j] = swap;
    }
    for (i = 0; i < n; i++) {
        il_json *child = test_json_shuffled(a, r, children[i]);
        (void)(v->kind == IL_JSON_OBJECT ? il_json_set(copy, children[i]->key, child) : il_json_push(copy, child));
    }
    return copy;
}

bool test_json_equal(const il_json *a, const il_json *b) {
    if (il_json_kind_of(a) != il_json_kind_of(b) || il_json_bool(a) != il_json_bool(b) ||
        !il_str_eq(il_json_text(a), il_json_text(b)) || il_json_count(a) != il_json_count(b)) {
        return false;
    }
    const il_json *x = il_json_first(a);
    const il_json *y = il_json_first(b);
    while (x != NULL && y != NULL) {
        if (!il_str_eq(il_json_key(x), il_json_key(y)) || !test_json_equal(x, y)) {
            return false;
        }
        x = il_json_next(x);
        y = il_json_next(y);
    }
    return x == NULL && y == NULL;
}

const char *test_json_text(il_arena *a, const il_json *v, il_json_order order) {
    il_buf b;
    il_str out;
    il_buf_init(&b, a, SIZE_MAX);
    il_json_write(&b, v, order);
    il_str copy = {NULL, 0};
    if (il_buf_done(&b, &out, NULL) != IL_OK || il_arena_copy(a, out, &copy, NULL) != IL_OK) {
        return NULL;
    }
    return copy.p;
}
