/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "mcp/pending.h"
#include "mcp/seen.h"

typedef struct pending_memory {
    size_t count, fail;
    long live;
} pending_memory;

static void *pending_get(void *ctx, size_t n) {
    pending_memory *m = ctx;
    if (++m->count == m->fail) {
        return NULL;
    }
    m->live++;
    return malloc(n);
}

static void pending_give(void *ctx, void *p) {
    pending_memory *m = ctx;
    m->live -= p != NULL;
    free(p);
}

static il_pending_spec pending_spec(const char *id, bool string) {
    return (il_pending_spec){.id = {.present = true, .string = string, .text = il_str_of(id)},
                             .token = {.present = true, .string = true, .text = IL_STR("tok")},
                             .message = IL_MSG_TOOLS_CALL,
                             .method = IL_STR("tools/call"),
                             .what = IL_STR("send"),
                             .extra = IL_STR("x:")};
}

static void pending_maps_both_ways(void **state) {
    (void)state;
    pending_memory memory = {0};
    const il_alloc alloc = {pending_get, pending_give, &memory};
    il_pendings p;
    il_pending *a = NULL, *b = NULL, *c = NULL;
    char id[] = "1";
    il_pendings_init(&p, &alloc, 100);
    il_pending_spec spec = pending_spec(id, false);
    assert_int_equal(il_pendings_add(&p, &spec, &a, NULL), IL_OK);
    id[0] = '9'; /* the table keeps its own copy */
    assert_true(il_str_eq(a->id.text, IL_STR("1")) && il_str_eq(a->token.text, IL_STR("tok")) &&
                il_str_eq(a->what, IL_STR("send")) && il_str_eq(a->extra, IL_STR("x:")));
    spec = pending_spec("1", true);
    assert_int_equal(il_pendings_add(&p, &spec, &b, NULL), IL_OK); /* "1" is not 1 */
    spec = pending_spec("1", false);
    assert_int_equal(il_pendings_add(&p, &spec, &c, NULL), IL_E_EXISTS);
    assert_null(c);
    assert_ptr_equal(il_pendings_by_uid(&p, a->uid), a);
    assert_ptr_equal(il_pendings_by_uid(&p, b->uid), b);
    assert_ptr_equal(il_pendings_by_id(&p, &(il_rpc_id){.present = true, .string = true, .text = IL_STR("1")}), b);
    assert_null(il_pendings_by_uid(&p, 0));
    const int64_t first = a->uid;
    il_pendings_remove(&p, a);
    assert_null(il_pendings_by_uid(&p, first));
    spec = pending_spec("1", false);
    assert_int_equal(il_pendings_add(&p, &spec, &c, NULL), IL_OK); /* answered: the id may be used again */
    assert_true(c->uid > b->uid && b->uid > first);                /* ours never is */
    il_pendings_free(&p);
    assert_int_equal(memory.live, 0);
}

static void pending_is_bounded(void **state) {
    (void)state;
    pending_memory memory = {0};
    const il_alloc alloc = {pending_get, pending_give, &memory};
    il_pendings p;
    il_error err = {0};
    il_pendings_init(&p, &alloc, 40);
    for (int i = 0; i < 41; i++) {
        char id[16];
        il_pending *e = NULL;
        (void)il_format(id, sizeof id, "%d", i);
        const il_pending_spec spec = pending_spec(id, false);
        assert_int_equal(il_pendings_add(&p, &spec, &e, &err), i < 40 ? IL_OK : IL_E_LIMIT);
        if (e != NULL) {
            e->deadline = (uint64_t)(100 - i);
        }
    }
    assert_int_equal(il_pendings_due(&p), 61);
    while (p.n > 0) {
        il_pendings_remove(&p, p.v[p.n / 2]);
    }
    assert_true(il_pendings_due(&p) == UINT64_MAX);
    il_pendings_free(&p);
    assert_int_equal(memory.live, 0);
}

static void pending_without_memory(void **state) {
    (void)state;
    size_t fail = 1;
    for (bool done = false; !done; fail++) {
        pending_memory memory = {.fail = fail};
        const il_alloc alloc = {pending_get, pending_give, &memory};
        il_pendings p;
        size_t added = 0;
        il_pendings_init(&p, &alloc, 100);
        done = true;
        for (int i = 0; i < 20; i++) {
            char id[16];
            il_pending *e = NULL;
            (void)il_format(id, sizeof id, "%d", i);
            const il_pending_spec spec = pending_spec(id, true);
            const il_status st = il_pendings_add(&p, &spec, &e, NULL);
            assert_true(st == IL_OK ? e != NULL : st == IL_E_MEMORY && e == NULL);
            done = done && st == IL_OK;
            added += st == IL_OK;
        }
        assert_int_equal(p.n, added);
        il_pendings_free(&p);
        assert_int_equal(memory.live, 0);
    }
    assert_true(fail > 22);
}

static void seen_words(void **state) {
    (void)state;
    il_seen *s = calloc(1, sizeof *s);
    assert_non_null(s);
    char word[16];
    il_seen_add(s, IL_STR(""));
    assert_true(il_seen_has(s, IL_STR("")));
    il_seen_add(s, IL_STR(""));
    assert_int_equal(s->n, 1);
    for (int i = 0; i < IL_SEEN_MAX; i++) {
        (void)il_format(word, sizeof word, "w%d", i);
        il_seen_add(s, il_str_of(word));
    }
    assert_true(il_seen_full(s) && il_seen_last(s, IL_STR("w255")));
    il_seen_add(s, IL_STR("w9")); /* again: it is the last, and makes no room */
    assert_true(il_seen_last(s, IL_STR("w9")) && !il_seen_last(s, IL_STR("w255")));
    assert_false(il_seen_has(s, IL_STR(""))); /* the oldest made room */
    assert_true(il_seen_has(s, IL_STR("w0")) && il_seen_has(s, IL_STR("w255")));
    il_seen_forget(s, IL_STR("w7"));
    assert_false(il_seen_has(s, IL_STR("w7")));
    assert_true(il_seen_has(s, IL_STR("w8")) && il_seen_has(s, IL_STR("w255")));
    free(s);
}

/* Arguments are kept as long as their request, and no more of them than there is room for. */
static void pending_keeps_arguments(void **state) {
    (void)state;
    pending_memory memory = {0};
    const il_alloc alloc = {pending_get, pending_give, &memory};
    il_pendings p;
    il_pending *a = NULL, *b = NULL, *c = NULL;
    char *large = malloc(IL_PENDINGS_KEPT_MAX + 1), text[] = "{}";
    il_pending_spec spec = pending_spec("1", false);
    assert_non_null(large);
    memset(large, ' ', IL_PENDINGS_KEPT_MAX + 1);
    il_pendings_init(&p, &alloc, 100);
    assert_int_equal(il_pendings_add(&p, &spec, &a, NULL), IL_OK);
    spec = pending_spec("2", false);
    assert_int_equal(il_pendings_add(&p, &spec, &b, NULL), IL_OK);
    spec = pending_spec("3", false);
    assert_int_equal(il_pendings_add(&p, &spec, &c, NULL), IL_OK);
    assert_null(a->args.p);
    assert_true(il_pendings_keep(&p, a, IL_STR("{}")) && il_str_eq(a->args, IL_STR("{}")));
    assert_false(il_pendings_keep(&p, a, IL_STR("[]"))); /* once */
    assert_false(il_pendings_keep(&p, b, (il_str){large, IL_PENDINGS_KEPT_MAX - 1}));
    assert_null(b->args.p);
    assert_true(il_pendings_keep(&p, b, (il_str){large, IL_PENDINGS_KEPT_MAX - 2}));
    assert_false(il_pendings_keep(&p, c, IL_STR("0")));
    il_pendings_remove(&p, b);
    memory.fail = memory.count + 1;
    assert_false(il_pendings_keep(&p, c, IL_STR("0")));
    memory.fail = 0;
    assert_true(il_pendings_keep(&p, c, (il_str){text, 2}));
    text[0] = '['; /* a copy of its own */
    assert_true(il_str_eq(c->args, IL_STR("{}")));
    il_pendings_remove(&p, a);
    assert_int_equal(p.kept, 2);
    il_pendings_free(&p);
    assert_int_equal(memory.live, 0);
    free(large);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pending_maps_both_ways),
        cmocka_unit_test(pending_is_bounded),
        cmocka_unit_test(pending_without_memory),
        cmocka_unit_test(pending_keeps_arguments), cmocka_unit_test(seen_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
