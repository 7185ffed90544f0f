/* SPDX-License-Identifier: Apache-2.0 */
/* How results are read: what is a fact, what is free text, what is remembered, by each form that results come in. */
#include "helper_policy.h"

#include "policy/result.h"
#include "provenance/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define U (uint32_t) IL_UNTRUSTED
#define S (uint32_t) IL_SENSITIVE

static const char result_policy[] =
    "interlock: 1\n"
    "machine: standard\n"
    "servers: { s: { trust: inside } }\n"
    "tools:\n"
    "  - { match: s.any, effects: [untrusted], result: { items: '$[*]', authentic: { user: id }, claimed: { email: from } } }\n"
    "  - { match: s.structured, effects: [untrusted], result: { from: structured, items: '$.list[*]', authentic: { user: id } } "
    "}\n"
    "  - { match: s.json, effects: [untrusted], result: { from: json, items: '$.list[*]', authentic: { user: id } } }\n"
    "  - { match: s.deep, effects: [untrusted], result: { authentic: { user: { id: 'groups[*].people[*].id', via: "
    "'groups[*].name' }, page: 'pages[0].id', tag: 'tags[*]' } } }\n"
    "  - { match: s.nested, effects: [untrusted], result: { items: '$.pages[*].rows[1]', authentic: { user: id } } }\n"
    "  - { match: s.head, effects: [untrusted], result: { from: text, items: headers, authentic: { message: { id: Message-Id, "
    "via: "
    "Subject } }, claimed: { email: From } } }\n"
    "  - { match: s.path, effects: [untrusted], remember: { page: $.state.url, tab: '$.tabs[1]' } }\n"
    "  - { match: s.rated, effects: { untrusted: 'item.stars < 3', sensitive: true }, result: { items: '$[*]', authentic: { "
    "stars: "
    "stars, user: id } } }\n"
    "  - { match: s.found, effects: { untrusted: 'item.stars < 3' }, result: { items: '$.pages[*].rows[*]', authentic: { stars: "
    "stars } } }\n"
    "  - { match: s.free, effects: [untrusted] }\n"
    "  - { match: s.mine, effects: [sensitive] }\n"
    "  - { match: s.put, effects: [egress], sink: once, audience: addressed, to: { url: $page, user: $tab } }\n";

typedef struct result_case {
    policy_case p;
    il_memory *m;
} result_case;

static void result_forget(result_case *c) {
    il_memory_free(c->m);
    c->m = NULL;
    assert_int_equal(il_memory_new(&c->p.memory.alloc, NULL, &c->m, NULL), IL_OK);
}

static int result_setup(void **state) {
    result_case *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return -1;
    }
    policy_case_init(&c->p, "standard");
    policy_must(&c->p, result_policy);
    result_forget(c);
    *state = c;
    return 0;
}

static int result_teardown(void **state) {
    result_case *c = *state;
    il_memory_free(c->m);
    policy_case_free(&c->p);
    free(c);
    return 0;
}

static il_status result_fold(result_case *c, il_episode *e) {
    il_str bytes = {0};
    size_t n = 0;
    IL_TRY(il_episode_done(e, &bytes, NULL));
    const il_str *texts = il_episode_texts(e, &n);
    return il_memory_apply(c->m, il_memory_episodes(c->m) + 1, bytes, texts, n, NULL);
}

static il_result result_read(result_case *c, const char *tool, const char *json, bool bare, uint32_t taints) {
    il_result r;
    const il_result_call call = {.tool = il_str_of(tool),
                                 .args = policy_json(&c->p, "{}"),
                                 .result = policy_json(&c->p, json),
                                 .done = true,
                                 .bare = bare,
                                 .taints = taints};
    result_forget(c);
    assert_int_equal(il_policy_read(c->p.policy, &call, &c->p.arena, &r, NULL), IL_OK);
    assert_non_null(r.episode);
    assert_int_equal(result_fold(c, r.episode), IL_OK);
    return r;
}

static bool result_count(void *ctx, const il_seen *fact) {
    *(il_standing *)ctx = fact->standing;
    return false;
}

/* 0 none, 1 claimed, 2 authentic */
static int result_fact(const result_case *c, const char *kind, const char *value) {
    int standing = -1;
    il_standing got = IL_STANDING_CLAIMED;
    il_standing before = (il_standing)7;
    got = before;
    il_memory_facts(c->m, il_str_of(kind), il_str_of(value), result_count, &got);
    standing = got == before ? 0 : (int)got + 1;
    return standing;
}

static bool result_named(const result_case *c, const char *value) {
    bool named = false;
    assert_int_equal(il_memory_named(c->m, il_str_of(value), &named, NULL), IL_OK);
    return named;
}

static bool result_via(void *ctx, const il_seen *fact) {
    const char *const *want = ctx;
    assert_true(fact->has_via);
    if (**want == '\0') {
        assert_int_equal(fact->via_words, 0);
    } else {
        assert_true(il_memory_via_is(fact, il_str_of(*want)));
    }
    *(const char **)ctx = NULL;
    return false;
}

static void result_vias(const result_case *c, const char *kind, const char *value, const char *via) {
    il_memory_facts(c->m, il_str_of(kind), il_str_of(value), result_via, &via);
    assert_null(via);
}

static void result_mcp(void **state) {
    result_case *c = *state;
    /* structured content with the same as a text: one and the same */
    il_result r = result_read(
        c, "s.any",
        "{\"structuredContent\":[{\"id\":\"user-one\",\"from\":\"eve@evil.example\",\"note\":\"ask user-nine\"}],\"content\":"
        "[{\"type\":\"text\",\"text\":\"[{\\\"from\\\":\\\"eve@evil.example\\\",\\\"id\\\":\\\"user-one\\\",\\\"note\\\":\\\"ask "
        "user-nine\\\"}]\"}]}",
        false, U);
    assert_true(r.readable && r.items == 1);
    assert_int_equal(result_fact(c, "user", "user-one"), 2);
    assert_int_equal(result_fact(c, "email", "eve@evil.example"), 1);
    assert_false(result_named(c, "user-one"));
    assert_false(result_named(c, "eve@evil.example"));
    assert_true(result_named(c, "user-nine"));
    /* another text beside it is free, and so is what it says twice */
    r = result_read(c, "s.any",
                    "{\"structuredContent\":[{\"id\":\"user-one\"}],\"content\":[{\"type\":\"text\",\"text\":\"[{\\\"id\\\":"
                    "\\\"user-one\\\"},2]\"}]}",
                    false, U);
    assert_true(r.readable);
    assert_true(result_named(c, "user-one"));
    /* links, embedded resources, annotations and _meta are texts too; pictures are not */
    r = result_read(c, "s.any",
                    "{\"content\":[{\"type\":\"text\",\"text\":\"[]\",\"annotations\":{\"x\":\"note-one\"}},{\"type\":\"resource_"
                    "link\",\"uri\":"
                    "\"https://evil.example/"
                    "a\",\"name\":\"link-one\"},{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\",\"text\":\"inner-one\"}},"
                    "{\"type\":\"image\",\"data\":\"image-one\",\"mimeType\":\"image/png\"}],\"_meta\":{\"k\":[\"meta-one\"]}}",
                    false, U);
    assert_true(r.readable && r.items == 0);
    static const char *const there[] = {"note-one", "https://evil.example/a", "link-one", "inner-one", "meta-one"};
    for (size_t i = 0; i < sizeof there / sizeof there[0]; i++) {
        if (!result_named(c, there[i])) {
            fail_msg("%s", there[i]);
        }
    }
    assert_false(result_named(c, "image-one"));
    /* nothing of it is read as fields when it is no result */
    r = result_read(c, "s.any", "[{\"id\":\"user-one\"}]", false, U);
    assert_false(r.readable);
    assert_int_equal(result_fact(c, "user", "user-one"), 0);
}

static void result_forms(void **state) {
    result_case *c = *state;
    static const struct {
        const char *tool, *json;
        bool bare, readable;
    } rows[] = {
        {"s.structured", "{\"structuredContent\":{\"list\":[{\"id\":\"user-one\"}]}}", false, true},
        {"s.structured", "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"list\\\":[{\\\"id\\\":\\\"user-one\\\"}]}\"}]}", false,
         false},
        {"s.structured", "{\"list\":[{\"id\":\"user-one\"}]}", true, true},
        {"s.structured", "\"{\\\"list\\\":[{\\\"id\\\":\\\"user-one\\\"}]}\"", true, true},
        {"s.json", "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"list\\\":[{\\\"id\\\":\\\"user-one\\\"}]}\"}]}", false,
         true},
        {"s.json", "{\"structuredContent\":{\"list\":[{\"id\":\"user-one\"}]}}", false, false},
        {"s.json", "{\"list\":[{\"id\":\"user-one\"}]}", true, true},
        {"s.json", "\"{\\\"list\\\":[{\\\"id\\\":\\\"user-one\\\"}]}\"", true, true},
        /* one text that is not as declared spoils the others */
        {"s.json",
         "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"list\\\":[{\\\"id\\\":\\\"user-one\\\"}]}\"},{\"type\":\"text\","
         "\"text\":\"user-one\"}]}",
         false, false},
        {"s.json", "{\"list\":{\"id\":\"user-one\"}}", true, false},
        {"s.json", "{\"list\":null,\"x\":\"user-one\"}", true, false},
        {"s.json", "[{\"id\":\"user-one\"}]", true, false},
        {"s.json", "\"{\\\"list\\\":[{\\\"id\\\":\\\"user-one\\\"}]\"", true, false},
        {"s.nested", "{\"pages\":[{\"rows\":[{\"id\":\"a\"},{\"id\":\"user-one\"}]}]}", true, true},
        {"s.nested", "{\"pages\":[{\"rows\":[{\"id\":\"user-one\"}]}]}", true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const il_result r = result_read(c, rows[i].tool, rows[i].json, rows[i].bare, U);
        if (r.readable != rows[i].readable || (result_fact(c, "user", "user-one") == 2) != rows[i].readable ||
            result_named(c, "user-one") == rows[i].readable) {
            fail_msg("%s %s: readable %d, fact %d, named %d", rows[i].tool, rows[i].json, (int)r.readable,
                     result_fact(c, "user", "user-one"), (int)result_named(c, "user-one"));
        }
    }
}

static void result_paths(void **state) {
    result_case *c = *state;
    const il_result r = result_read(
        c, "s.deep",
        "{\"groups\":[{\"name\":\"Red\",\"people\":[{\"id\":\"user-one\"},{\"id\":\"user-two\",\"name\":\"user-six\"}]},"
        "{\"people\":[{\"id\":\"user-three\"},\"user-four\"]}],\"pages\":[{\"id\":\"page-one\"},{\"id\":\"page-two\"}],"
        "\"tags\":[\"tag-one\",{\"x\":\"tag-two\"},[\"tag-three\"]],\"groups2\":{\"id\":\"user-five\"}}",
        true, U);
    assert_true(r.readable);
    result_vias(c, "user", "user-one", "red");
    result_vias(c, "user", "user-two", "Red");
    result_vias(c, "user", "user-three", "");
    assert_int_equal(result_fact(c, "page", "page-one"), 2);
    assert_int_equal(result_fact(c, "tag", "tag-one"), 2);
    static const char *const none[][2] = {{"user", "user-four"}, {"user", "user-five"}, {"user", "user-six"},
                                          {"page", "page-two"},  {"tag", "tag-two"},    {"tag", "tag-three"}};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        if (result_fact(c, none[i][0], none[i][1]) != 0 || !result_named(c, none[i][1])) {
            fail_msg("%s", none[i][1]);
        }
    }
}

static void result_heads(void **state) {
    result_case *c = *state;
    static const struct {
        const char *text, *from, *id;
    } rows[] = {
        {"Subject: a b\\nFrom: Bo <bo@x.example>\\nMessage-Id: m-one\\n\\nFrom: eve@evil.example", "bo@x.example", "m-one"},
        {"from: bo@x.example\\r\\nMESSAGE-ID:m-one\\r\\n\\r\\nbody", "bo@x.example", "m-one"},
        {"From: bo@x.example\\nFrom: eve@evil.example\\nMessage-Id: m-one", NULL, "m-one"},
        {"From: Bo <bo@x.example>, Eve <eve@evil.example>\\nMessage-Id: m one", NULL, "m one"},
        {"\\nFrom: bo@x.example", NULL, NULL},
        {"Reply-From: bo@x.example\\n From: bo@x.example", NULL, NULL},
        {"", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char json[512];
        (void)snprintf(json, sizeof json, "\"%s\"", rows[i].text);
        (void)result_read(c, "s.head", json, true, U);
        const int from = result_fact(c, "email", "bo@x.example");
        if (from != (rows[i].from != NULL ? 1 : 0) || (rows[i].id != NULL && result_fact(c, "message", rows[i].id) != 2)) {
            fail_msg("%s: from %d", rows[i].text, from);
        }
        assert_int_equal(result_fact(c, "email", "eve@evil.example"), 0);
    }
    (void)result_read(c, "s.head", "\"Subject: Big News\\nFrom: bo@x.example\\nMessage-Id: msg-one\\n\\nread msg-two\"", true, U);
    result_vias(c, "message", "msg-one", "big news");
    assert_true(result_named(c, "msg-two"));
    assert_false(result_named(c, "msg-one"));
}

static void result_remembers(void **state) {
    result_case *c = *state;
    (void)result_read(c, "s.path", "{\"state\":{\"url\":\"https://a.example/\"},\"tabs\":[\"x\",\"y\"]}", true, U);
    assert_true(il_str_eq(il_memory_remembered(c->m, IL_STR("page")), IL_STR("https://a.example/")));
    assert_true(il_str_eq(il_memory_remembered(c->m, IL_STR("tab")), IL_STR("y")));
    (void)result_read(c, "s.path", "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"state\\\":{\\\"url\\\":\\\"u\\\"}}\"}]}",
                      false, U);
    assert_true(il_str_eq(il_memory_remembered(c->m, IL_STR("page")), IL_STR("u")));
    assert_int_equal(il_memory_remembered(c->m, IL_STR("tab")).n, 0);
    (void)result_read(c, "s.path", "{\"state\":{\"url\":[\"https://a.example/\"]}}", true, U);
    assert_int_equal(il_memory_remembered(c->m, IL_STR("page")).n, 0);
}

/* Trust is of each item, by what no attacker can write in it. */
static void result_items(void **state) {
    result_case *c = *state;
    il_result r =
        result_read(c, "s.rated",
                    "[{\"id\":\"u1\",\"stars\":5,\"text\":\"good-text\"},{\"id\":\"u2\",\"stars\":1,\"text\":\"bad-text\"},"
                    "{\"id\":\"u3\",\"text\":\"other-text\"}]",
                    true, U | S);
    assert_int_equal(r.absent, 0);
    assert_false(result_named(c, "good-text"));
    assert_true(result_named(c, "bad-text"));
    assert_true(result_named(c, "other-text")); /* a condition that errs takes nothing away */
    r = result_read(c, "s.rated", "[{\"id\":\"u1\",\"stars\":5}]", true, U | S);
    assert_int_equal(r.absent, U);
    r = result_read(c, "s.rated", "[]", true, U | S);
    assert_int_equal(r.absent, U);
    r = result_read(c, "s.rated", "{\"x\":[]}", true, U | S);
    assert_int_equal(r.absent, 0);
    /* beside the items numbers may stand, no texts */
    r = result_read(c, "s.found",
                    "{\"total\":1,\"next\":\"\",\"more\":false,\"pages\":[{\"rows\":[{\"stars\":5}]},{\"rows\":[]}]}", true, U);
    assert_int_equal(r.absent, U);
    r = result_read(c, "s.found", "{\"pages\":[{\"rows\":[{\"stars\":5}]}],\"note\":{\"x\":[\"and this\"]}}", true, U);
    assert_int_equal(r.absent, 0);
    r = result_read(c, "s.found", "{\"pages\":[{\"rows\":[],\"note\":\"and this\"}]}", true, U);
    assert_int_equal(r.absent, 0);
    r = result_read(
        c, "s.rated",
        "{\"structuredContent\":[{\"id\":\"u1\",\"stars\":5}],\"content\":[{\"type\":\"text\",\"text\":\"and this\"}]}", false,
        U | S);
    assert_int_equal(r.absent, 0);
    r = result_read(c, "s.rated",
                    "{\"structuredContent\":[{\"id\":\"u1\",\"stars\":5}],\"content\":[{\"type\":\"image\",\"data\":\"AA\"}]}",
                    false, U | S);
    assert_int_equal(r.absent, 0);
}

static void result_trust(void **state) {
    result_case *c = *state;
    (void)result_read(c, "s.free", "\"look at thing-one\"", true, U);
    assert_true(result_named(c, "thing-one"));
    (void)result_read(c, "s.mine", "{\"a\":[\"look at thing-one\"],\"thing-two\":12345}", true, S);
    assert_false(result_named(c, "thing-one"));
    (void)result_read(c, "s.free", "{\"a\":[\"look at thing-one\"],\"thing-two\":12345}", true, U);
    assert_true(result_named(c, "thing-one") && result_named(c, "thing-two") && result_named(c, "12345"));
    /* a failure: its text, and nothing of it is a fact */
    il_result r;
    const il_result_call failed = {.tool = IL_STR("s.any"), .error = IL_STR("no thing-one"), .taints = U};
    result_forget(c);
    assert_int_equal(il_policy_read(c->p.policy, &failed, &c->p.arena, &r, NULL), IL_OK);
    assert_int_equal(result_fold(c, r.episode), IL_OK);
    assert_true(result_named(c, "thing-one"));
    assert_int_equal(il_memory_source(c->m, 1).kind, IL_SOURCE_ERROR);
    /* others */
    il_episode *e = NULL;
    const il_overheard notice = {
        .kind = IL_SOURCE_NOTICE, .name = IL_STR("s"), .value = policy_json(&c->p, "{\"level\":\"thing-two\"}")};
    assert_int_equal(il_policy_overhear(c->p.policy, &notice, &c->p.arena, &e, NULL), IL_OK);
    assert_int_equal(result_fold(c, e), IL_OK);
    assert_true(result_named(c, "thing-two"));
    assert_int_equal(il_memory_source(c->m, 2).kind, IL_SOURCE_NOTICE);
}

/* A policy that asks nothing of the past keeps nothing. */
static void result_asks(void **state) {
    result_case *c = *state;
    static const struct {
        const char *entry;
        uint32_t asks;
    } rows[] = {
        {"{ match: a.b, effects: [untrusted] }", 0},
        {"{ match: a.b, effects: [egress], to: { email: to } }", 0},
        {"{ match: a.b, effects: [egress], sink: once, to: { email: to } }", 0},
        {"{ match: a.b, effects: [egress], sink: once, audience: addressed, to: { email: to } }", IL_REMEMBERS_TYPED},
        {"{ match: a.b, effects: [commit], object: { email: to } }", IL_REMEMBERS_TYPED},
        {"{ match: a.b, effects: [], remember: { page: $.x } }", IL_REMEMBERS_NAMES},
        {"{ match: a.b, effects: [], result: { free: x } }", 0},
        {"{ match: a.b, effects: [], result: { claimed: { email: x } } }",
         IL_REMEMBERS_TYPED | IL_REMEMBERS_FACTS | IL_REMEMBERS_TEXTS | IL_REMEMBERS_SENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char yaml[512];
        il_episode *e = NULL;
        (void)snprintf(yaml, sizeof yaml, "interlock: 1\nmachine: standard\ntools:\n  - %s\n", rows[i].entry);
        policy_must(&c->p, yaml);
        if (il_policy_remembers(c->p.policy) != rows[i].asks) {
            fail_msg("%s: %u", rows[i].entry, il_policy_remembers(c->p.policy));
        }
        assert_int_equal(il_policy_hear(c->p.policy, IL_STR("x"), &c->p.arena, &e, NULL, NULL), IL_OK);
        assert_true((e != NULL) == ((rows[i].asks & (uint32_t)IL_REMEMBERS_TYPED) != 0));
    }
}

static void result_allocations(void **state) {
    result_case *c = *state;
    const il_result_call call = {
        .tool = IL_STR("s.rated"),
        .args = policy_json(&c->p, "{}"),
        .result = policy_json(
            &c->p,
            "{\"content\":[{\"type\":\"text\",\"text\":\"[{\\\"id\\\":\\\"u1\\\",\\\"stars\\\":5,\\\"t\\\":\\\"x\\\"}]\"}]}"),
        .done = true,
        .taints = U | S};
    bool done = false;
    for (size_t k = 0; k < 1000 && !done; k++) {
        il_arena arena;
        il_result r;
        il_arena_init(&arena, &c->p.memory.alloc, (size_t)64 << 20);
        c->p.memory.left = k;
        const il_status s = il_policy_read(c->p.policy, &call, &arena, &r, NULL);
        c->p.memory.left = SIZE_MAX;
        assert_true(s == IL_OK || s == IL_E_MEMORY);
        assert_true(s != IL_OK || r.absent == U);
        done = s == IL_OK;
        il_arena_free(&arena);
    }
    assert_true(done);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, result_setup, result_teardown)
        T(result_mcp),   T(result_forms), T(result_paths), T(result_heads),       T(result_remembers),
        T(result_items), T(result_trust), T(result_asks),  T(result_allocations),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
