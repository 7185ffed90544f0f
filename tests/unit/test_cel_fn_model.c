/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of texts against a slow and plain model: arrays of code points, every place tried. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "cel/value.h"
#include "helper_cel_fn.h"
#include "helper_json.h"

enum { POINTS = 12, ROOM = 1024, ROUNDS = 30000 };

typedef struct model_text {
    uint32_t p[ROOM];
    size_t n;
} model_text;

/* Few letters, so that needles are found; one for each length in bytes, and NUL. */
static void model_random(test_random *r, model_text *t, size_t most) {
    static const uint32_t letters[] = {'a', 'b', 0, 0xe9, 0x263a, 0x1f600};
    t->n = test_random_below(r, (uint32_t)most + 1);
    for (size_t i = 0; i < t->n; i++) {
        t->p[i] = letters[test_random_below(r, test_random_below(r, 3) == 0 ? 6 : 2)];
    }
}

static il_cel_value model_value(const model_text *t, char *out) {
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        n += il_utf8_put(t->p[i], out + n);
    }
    return il_cel_of_str((il_str){out, n});
}

static bool model_at(const model_text *t, const model_text *needle, size_t at) {
    return needle->n <= t->n - at && memcmp(t->p + at, needle->p, needle->n * sizeof *needle->p) == 0;
}

static il_cel_value model_index(const model_text *t, const model_text *needle, int64_t from, bool last) {
    if (from < 0 || from > (int64_t)t->n) {
        return il_cel_of_fault(IL_CEL_BAD_VALUE);
    }
    for (int64_t i = from; i >= 0 && i <= (int64_t)t->n; i += last ? -1 : 1) {
        if (model_at(t, needle, (size_t)i)) {
            return il_cel_of_int(i);
        }
    }
    return il_cel_of_int(-1);
}

/* The parts between `count` of the needles, from the left; an empty needle is found before each code point, and for replacing at the end. */
static size_t model_cut(const model_text *t, const model_text *needle, uint64_t most, bool at_ends, size_t from[], size_t to[]) {
    size_t parts = 0, at = 0, begin = 0;
    while (parts < most && at + needle->n <= t->n) {
        const bool edge = needle->n == 0 && !at_ends && (at == 0 || at == t->n);
        if (!edge && model_at(t, needle, at)) {
            from[parts] = begin;
            to[parts++] = at;
            begin = at + needle->n;
            at = needle->n == 0 ? at + 1 : begin;
        } else {
            at++;
        }
    }
    from[parts] = begin;
    to[parts++] = t->n;
    return parts;
}

static void model_append(model_text *to, const uint32_t *p, size_t n) {
    memcpy(to->p + to->n, p, n * sizeof *p);
    to->n += n;
}

static void model_check(fn_run *r, const char *name, const il_cel_value *args, uint32_t nargs, il_cel_value want) {
    r->run.steps = 10000;
    const il_cel_value got = fn_call(r, name, args, nargs);
    if (!fn_same(&got, &want)) {
        il_buf b;
        il_str s = IL_STR("?");
        il_buf_init(&b, &r->arena, ROOM * 16);
        for (uint32_t i = 0; i < nargs; i++) {
            il_cel_write(&args[i], &b);
            il_buf_puts(&b, " ");
        }
        il_buf_puts(&b, "is ");
        il_cel_write(&got, &b);
        il_buf_puts(&b, " not ");
        il_cel_write(&want, &b);
        const il_status status = il_buf_done(&b, &s, NULL);
        fail_msg("%s of %.*s", name, IL_STR_ARG(status == IL_OK ? s : IL_STR("?")));
    }
}

static void texts_are_as_the_model_says(void **state) {
    (void)state;
    test_random random = {test_random_seed("texts")};
    static model_text t, needle, with, out;
    static char tb[ROOM * 4], nb[ROOM * 4], wb[ROOM * 4], ob[ROOM * 4];
    fn_run r;
    fn_run_init(&r, 0, SIZE_MAX);
    for (int round = 0; round < ROUNDS; round++) {
        model_random(&random, &t, POINTS);
        model_random(&random, &needle, 3);
        model_random(&random, &with, 3);
        const il_cel_value text = model_value(&t, tb), what = model_value(&needle, nb), new = model_value(&with, wb);
        const int64_t i = (int64_t)test_random_below(&random, POINTS + 4) - 2,
                      j = (int64_t)test_random_below(&random, POINTS + 4) - 2;

        const il_cel_value index[] = {text, what, il_cel_of_int(i)};
        model_check(&r, ".indexOf", index, 2, model_index(&t, &needle, 0, false));
        model_check(&r, ".indexOf", index, 3, model_index(&t, &needle, i, false));
        model_check(&r, ".lastIndexOf", index, 2, model_index(&t, &needle, (int64_t)t.n, true));
        model_check(&r, ".lastIndexOf", index, 3, model_index(&t, &needle, i, true));
        model_check(&r, ".contains", index, 2, il_cel_of_bool(model_index(&t, &needle, 0, false).u.i >= 0));
        model_check(&r, ".startsWith", index, 2, il_cel_of_bool(model_at(&t, &needle, 0)));
        model_check(&r, ".endsWith", index, 2, il_cel_of_bool(needle.n <= t.n && model_at(&t, &needle, t.n - needle.n)));
        model_check(&r, "size", index, 1, il_cel_of_int((int64_t)t.n));

        const il_cel_value part[] = {text, il_cel_of_int(i), il_cel_of_int(j)};
        const bool fits = i >= 0 && i <= j && j <= (int64_t)t.n;
        out.n = 0;
        model_append(&out, fits ? t.p + i : t.p, fits ? (size_t)(j - i) : 0);
        model_check(&r, ".substring", part, 3, fits ? model_value(&out, ob) : il_cel_of_fault(IL_CEL_BAD_VALUE));

        out.n = 0;
        for (size_t k = t.n; k > 0; k--) {
            model_append(&out, &t.p[k - 1], 1);
        }
        model_check(&r, ".reverse", &text, 1, model_value(&out, ob));

        size_t from[ROOM], to[ROOM];
        const uint64_t most = i < 0 ? UINT64_MAX : (uint64_t)i;
        const il_cel_value replace[] = {text, what, new, il_cel_of_int(i)};
        size_t parts = model_cut(&t, &needle, most, true, from, to);
        out.n = 0;
        for (size_t k = 0; k < parts; k++) {
            model_append(&out, t.p + from[k], to[k] - from[k]);
            model_append(&out, with.p, k + 1 < parts ? with.n : 0);
        }
        model_check(&r, ".replace", replace, 4, model_value(&out, ob));

        const il_cel_value split[] = {text, what, il_cel_of_int(i)};
        il_cel_value items[ROOM];
        parts = most == 0 || (t.n == 0 && needle.n == 0) ? 0 : model_cut(&t, &needle, most - 1, false, from, to);
        size_t used = 0;
        for (size_t k = 0; k < parts; k++) {
            out.n = 0;
            model_append(&out, t.p + from[k], to[k] - from[k]);
            items[k] = model_value(&out, ob + used);
            used += items[k].n;
        }
        const il_cel_value list = il_cel_of_items(IL_CEL_LIST, items, (uint32_t)parts);
        model_check(&r, ".split", split, 3, list);
        if (i < 0 && needle.n > 0) { /* joined again it is the text */
            const il_cel_value join[] = {list, what};
            model_check(&r, ".join", join, 2, text);
        }
        if (round % 100 == 0) {
            il_arena_reset(&r.arena);
        }
    }
    fn_run_free(&r);
}

static void base64_reads_what_it_wrote(void **state) {
    (void)state;
    test_random random = {test_random_seed("base64")};
    fn_run r;
    fn_run_init(&r, 0, SIZE_MAX);
    for (int round = 0; round < 5000; round++) {
        char octets[40];
        const uint32_t n = test_random_below(&random, sizeof octets + 1);
        for (uint32_t i = 0; i < n; i++) {
            octets[i] = (char)test_random_below(&random, 256);
        }
        const il_cel_value bytes = il_cel_of_bytes((il_str){octets, n});
        r.run.steps = 1000;
        il_cel_value text = fn_call(&r, "base64.encode", &bytes, 1);
        assert_int_equal(text.n, (n + 2) / 3 * 4);
        model_check(&r, "base64.decode", &text, 1, bytes);
        while (text.n > 0 && text.u.p[text.n - 1] == '=') {
            text.n--;
        }
        model_check(&r, "base64.decode", &text, 1, bytes);
        if (round % 100 == 0) {
            il_arena_reset(&r.arena);
        }
    }
    fn_run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_as_the_model_says),
        cmocka_unit_test(base64_reads_what_it_wrote),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
