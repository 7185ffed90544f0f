/* SPDX-License-Identifier: Apache-2.0 */
/* Envelopes: what comes out is what went in, only once, only in its session, only in time; and what was changed does not come out. */
#include "helper_json.h"
#include "helper_memory.h"

#include "base/hmac.h"
#include "base/str.h"
#include "provenance/envelope.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define KEY "0123456789abcdef0123456789abcdef"
#define NOW 1700000000000u

typedef struct envelope_case {
    test_memory memory;
    il_arena arena;
    il_origin *web, *kb;
    const char *secret;
    uint8_t used[64][IL_ENVELOPE_NONCE_BYTES];
    size_t nused, asked; /* asked: how often for a nonce */
    il_envelope_open open;
    il_envelope *e;
    il_error err;
} envelope_case;

static bool envelope_key(void *ctx, il_str id, il_str *secret) {
    const envelope_case *c = ctx;
    *secret = il_str_of(c->secret);
    return il_str_eq(id, IL_STR("k1"));
}
static bool envelope_fresh(void *ctx, il_str audience, const uint8_t nonce[IL_ENVELOPE_NONCE_BYTES], uint64_t expires_ms) {
    envelope_case *c = ctx;
    assert_true(audience.n > 0 && expires_ms > 0);
    c->asked++;
    for (size_t i = 0; i < c->nused; i++) {
        if (memcmp(c->used[i], nonce, IL_ENVELOPE_NONCE_BYTES) == 0) {
            return false;
        }
    }
    memcpy(c->used[c->nused++ % 64], nonce, IL_ENVELOPE_NONCE_BYTES);
    return true;
}

static int envelope_setup(void **state) {
    envelope_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    test_memory_init(&c->memory, SIZE_MAX);
    il_arena_init(&c->arena, &c->memory.alloc, (size_t)1 << 30);
    assert_int_equal(il_origin_new(&c->memory.alloc, IL_STR("web"), IL_STR("ana"), &c->web, NULL), IL_OK);
    assert_int_equal(il_origin_new(&c->memory.alloc, IL_STR("kb"), IL_STR("bo"), &c->kb, NULL), IL_OK);
    c->secret = KEY;
    c->open = (il_envelope_open){.size = sizeof c->open,
                                 .audience = IL_STR("s1"),
                                 .now_ms = NOW + 1,
                                 .ctx = c,
                                 .key = envelope_key,
                                 .fresh = envelope_fresh};
    *state = c;
    return 0;
}
static int envelope_teardown(void **state) {
    envelope_case *c = *state;
    il_envelope_free(c->e);
    il_origin_free(c->web);
    il_origin_free(c->kb);
    il_arena_free(&c->arena);
    const bool clean = c->memory.live == 0;
    free(c);
    return clean ? 0 : -1;
}

static const il_envelope_key envelope_k1 = {{"k1", 2}, {KEY, sizeof KEY - 1}};
static il_envelope_pack envelope_how(uint8_t nonce) {
    return (il_envelope_pack){.size = sizeof(il_envelope_pack),
                              .key = &envelope_k1,
                              .audience = IL_STR("s1"),
                              .now_ms = NOW,
                              .lasts_ms = 60000,
                              .nonce = {nonce, 7}};
}

static const il_json *envelope_json(envelope_case *c, const char *text) {
    il_json *v = NULL;
    assert_int_equal(il_json_parse(&c->arena, il_str_of(text), NULL, &v, NULL), IL_OK);
    return v;
}

/* The text, in the case's arena. */
static il_str envelope_packed(envelope_case *c, const char *value, const il_origin_at *labels, size_t n,
                              const il_envelope_pack *how) {
    char *text = NULL;
    size_t bytes = 0;
    il_str out;
    const il_status s = il_envelope_text_new(&c->memory.alloc, envelope_json(c, value), labels, n, how, &text, &bytes, &c->err);
    if (s != IL_OK) {
        fail_msg("%s: %s", value, c->err.msg);
    }
    assert_int_equal(il_arena_copy(&c->arena, (il_str){text, bytes}, &out, NULL), IL_OK);
    c->memory.alloc.free(c->memory.alloc.ctx, text);
    return out;
}
static il_status envelope_open(envelope_case *c, il_str text) {
    il_envelope_free(c->e);
    c->e = NULL;
    return il_envelope_new(&c->memory.alloc, text, &c->open, &c->e, &c->err);
}
static void envelope_refused(envelope_case *c, il_str text, il_status why) {
    const size_t asked = c->asked;
    const il_status s = envelope_open(c, text);
    if (s != why) {
        fail_msg("%.*s: %s (%s), not %s", IL_STR_ARG(text), il_status_name(s), c->err.msg, il_status_name(why));
    }
    assert_null(c->e);
    assert_true(c->err.msg[0] != '\0');
    assert_int_equal(c->asked, asked); /* what is refused uses up no nonce */
}

/* The same envelope with one text in it replaced, and, if asked, its MAC made anew: what the writer of it, or who has the key, could have sent. */
static il_str envelope_changed(envelope_case *c, il_str text, const char *from, const char *to, bool sealed) {
    const size_t at = il_str_find(text, il_str_of(from), 0);
    il_buf b;
    il_str out, canonical;
    assert_true(at != SIZE_MAX);
    il_buf_init(&b, &c->arena, 1 << 24);
    il_buf_put(&b, il_str_part(text, 0, at));
    il_buf_puts(&b, to);
    il_buf_put(&b, il_str_part(text, at + strlen(from), text.n));
    assert_int_equal(il_buf_done(&b, &out, NULL), IL_OK);
    if (sealed) {
        il_json *v = NULL;
        uint8_t mac[IL_DIGEST_BYTES];
        char *hex = il_arena_bytes(&c->arena, IL_DIGEST_HEX);
        assert_non_null(hex);
        assert_int_equal(il_json_parse(&c->arena, out, NULL, &v, NULL), IL_OK);
        assert_true(il_json_remove(v, IL_STR("mac")));
        il_buf_init(&b, &c->arena, 1 << 24);
        il_json_write(&b, v, IL_JSON_SORTED);
        assert_int_equal(il_buf_done(&b, &canonical, NULL), IL_OK);
        il_hmac_of(IL_STR(KEY), canonical, NULL, mac);
        il_digest_hex(mac, hex);
        assert_true(il_json_set(v, IL_STR("mac"), il_json_string(&c->arena, il_str_of(hex))));
        il_buf_init(&b, &c->arena, 1 << 24);
        il_json_write(&b, v, IL_JSON_SORTED);
        assert_int_equal(il_buf_done(&b, &out, NULL), IL_OK);
    }
    return out;
}

static const char envelope_value[] =
    "{\"to\":[\"bob@x\",\"eve@x\"],\"a/b~c\":{\"n\":1.50,\"deep\":[[[[[[\"t\"]]]]]]},\"plain\":true}";

static il_str envelope_plain(envelope_case *c, uint8_t nonce) {
    const il_origin_at labels[] = {{IL_STR("/to/1"), c->web}, {IL_STR("/a~1b~0c"), c->kb}, {IL_STR("/to/0"), c->web}};
    const il_envelope_pack how = envelope_how(nonce);
    return envelope_packed(c, envelope_value, labels, 3, &how);
}

/* ---- there and back -------------------------------------------------------------------------------------------- */

static void test_round(void **state) {
    envelope_case *c = *state;
    const il_str text = envelope_plain(c, 1), same = envelope_plain(c, 1);
    assert_true(il_str_eq(text, same));
    assert_int_equal(envelope_open(c, text), IL_OK);
    assert_true(il_envelope_sealed(c->e));
    assert_int_equal(il_envelope_expires_ms(c->e), NOW + 60000u);
    /* number text survives */
    assert_string_equal(test_json_text(&c->arena, il_envelope_value(c->e), IL_JSON_SORTED),
                        test_json_text(&c->arena, envelope_json(c, envelope_value), IL_JSON_SORTED));
    assert_int_equal(il_envelope_labels(c->e), 3); /* Beside the value, which is what it was: no wrapper in it */
    const il_origin_at first = il_envelope_label(c->e, 0), second = il_envelope_label(c->e, 1),
                       third = il_envelope_label(c->e, 2);
    assert_true(il_str_eq(first.path, IL_STR("/to/1")) && il_str_eq(il_origin_lineage(first.origin, 0), IL_STR("web")));
    assert_true(il_str_eq(second.path, IL_STR("/a~1b~0c")) && il_str_eq(il_origin_agent(second.origin, 0), IL_STR("bo")));
    assert_ptr_equal(first.origin, third.origin); /* each label stands once in it */
    assert_null(il_envelope_label(c->e, 3).origin);
}

/* A label at any depth is found: `messages[0].content[0].text`, and the deepest that a payload may have. */
static void test_deep(void **state) {
    envelope_case *c = *state;
    const il_origin_at chat[] = {{IL_STR("/messages/0/content/0/text"), c->web}, {IL_STR(""), c->kb}};
    il_envelope_pack how = envelope_how(1);
    assert_int_equal(envelope_open(c, envelope_packed(c, "{\"messages\":[{\"content\":[{\"text\":\"T\"}]}]}", chat, 2, &how)),
                     IL_OK);
    assert_int_equal(il_envelope_labels(c->e), 2);
    char deep[2 * 64 + 2] = {0}, path[2 * 64 + 1] = {0};
    for (size_t i = 0; i < 64; i++) {
        deep[i] = '[';
        deep[127 - i] = ']';
        path[2 * i] = '/';
        path[2 * i + 1] = '0';
    }
    path[2 * 63] = '\0'; /* the innermost list is empty */
    const il_origin_at at = {il_str_of(path), c->web};
    how = envelope_how(2);
    assert_int_equal(envelope_open(c, envelope_packed(c, deep, &at, 1, &how)), IL_OK);
    char *text = NULL;
    size_t n;
    const il_envelope_limits limits = {.size = sizeof limits, .depth = 63};
    how.limits = &limits;
    assert_int_equal(il_envelope_text_new(&c->memory.alloc, envelope_json(c, deep), &at, 1, &how, &text, &n, &c->err),
                     IL_E_LIMIT);
    assert_null(text);
}

/* A label of more sources than are named goes through, and stays what it is. */
static void test_many_sources(void **state) {
    envelope_case *c = *state;
    char name[32];
    const il_origin *list[IL_ORIGIN_NAMES + 8];
    il_origin *made[IL_ORIGIN_NAMES + 8], *all = NULL;
    const size_t n = sizeof made / sizeof made[0];
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(name, sizeof name, "source %zu", i);
        assert_int_equal(il_origin_new(&c->memory.alloc, il_str_of(name), IL_STR(""), &made[i], NULL), IL_OK);
        list[i] = made[i];
    }
    assert_int_equal(il_origin_merge(&c->memory.alloc, list, n, &all, NULL), IL_OK);
    const il_origin_at at = {IL_STR(""), all};
    const il_envelope_pack how = envelope_how(1);
    assert_int_equal(envelope_open(c, envelope_packed(c, "1", &at, 1, &how)), IL_OK);
    const il_origin *o = il_envelope_label(c->e, 0).origin;
    assert_int_equal(il_origin_sources(o), IL_ORIGIN_NAMES);
    assert_true(il_origin_more(o));
    il_origin_free(all);
    for (size_t i = 0; i < n; i++) {
        il_origin_free(made[i]);
    }
}

/* Endorsements go with the label, and count for the same bytes on the other side. */
static void test_endorsement(void **state) {
    envelope_case *c = *state;
    il_endorsement e = {.size = sizeof e, .kind = IL_STR("legal"), .by = IL_STR("grace")};
    il_origin *o = NULL;
    assert_int_equal(il_value_digest(envelope_json(c, "{\"b\":1,\"a\":[2]}"), e.digest, NULL), IL_OK);
    assert_int_equal(il_origin_endorse(&c->memory.alloc, c->web, &e, &o, NULL), IL_OK);
    const il_origin_at at = {IL_STR("/v"), o};
    const il_envelope_pack how = envelope_how(1);
    const il_str text = envelope_packed(c, "{\"v\":{\"a\":[2],\"b\":1}}", &at, 1, &how);
    il_origin_free(o);
    assert_int_equal(envelope_open(c, text), IL_OK);
    uint8_t digest[IL_DIGEST_BYTES];
    assert_int_equal(il_value_digest(il_json_get(il_envelope_value(c->e), IL_STR("v")), digest, NULL), IL_OK);
    assert_true(il_origin_endorsed(il_envelope_label(c->e, 0).origin, IL_STR("legal"), digest));
    digest[0] ^= 1;
    assert_false(il_origin_endorsed(il_envelope_label(c->e, 0).origin, IL_STR("legal"), digest));
}

static bool envelope_trusts_all(const void *ctx, il_str source) {
    (void)ctx;
    (void)source;
    return true;
}

static const il_origin *envelope_at(envelope_case *c, il_str path) {
    for (size_t i = 0; i < il_envelope_labels(c->e); i++) {
        if (il_str_eq(il_envelope_label(c->e, i).path, path)) {
            return il_envelope_label(c->e, i).origin;
        }
    }
    return NULL;
}

/* The paths of all values in random trees, each with a label of its own: all come back, at the same values. */
static void envelope_paths(il_arena *a, const il_json *v, il_str path, il_origin_at *list, size_t *n, size_t room) {
    uint32_t i = 0;
    if (*n < room) {
        list[(*n)++].path = path;
    }
    for (const il_json *child = il_json_first(v); child != NULL; child = il_json_next(child), i++) {
        il_buf b;
        il_str below;
        il_buf_init(&b, a, 1 << 20);
        il_buf_put(&b, path);
        il_buf_putc(&b, '/');
        if (il_json_kind_of(v) == IL_JSON_ARRAY) {
            il_buf_putu(&b, i);
        }
        for (size_t k = 0; il_json_kind_of(v) == IL_JSON_OBJECT && k < il_json_key(child).n; k++) {
            const char ch = il_json_key(child).p[k];
            il_buf_put(&b, ch == '~' ? IL_STR("~0") : ch == '/' ? IL_STR("~1") : (il_str){&ch, 1});
        }
        assert_int_equal(il_buf_done(&b, &below, NULL), IL_OK);
        envelope_paths(a, child, below, list, n, room);
    }
}

static void test_any_tree(void **state) {
    envelope_case *c = *state;
    test_random r = {test_random_seed("envelopes")};
    for (unsigned round = 0; round < 60; round++) {
        il_origin_at list[64];
        il_origin *made[64];
        size_t n = 0, bytes = 0;
        char *text = NULL;
        const il_json *v = test_json_random(&c->arena, &r, 5);
        envelope_paths(&c->arena, v, (il_str){0}, list, &n, 64);
        for (size_t i = 0; i < n; i++) {
            char name[16];
            (void)snprintf(name, sizeof name, "source %u", (unsigned)test_random_below(&r, 20));
            assert_int_equal(il_origin_new(&c->memory.alloc, il_str_of(name), IL_STR("ana"), &made[i], NULL), IL_OK);
            list[i].origin = made[i];
        }
        const il_envelope_pack how = envelope_how((uint8_t)(round + 1));
        assert_int_equal(il_envelope_text_new(&c->memory.alloc, v, list, n, &how, &text, &bytes, &c->err), IL_OK);
        assert_int_equal(envelope_open(c, (il_str){text, bytes}), IL_OK);
        assert_string_equal(test_json_text(&c->arena, il_envelope_value(c->e), IL_JSON_SORTED),
                            test_json_text(&c->arena, v, IL_JSON_SORTED));
        assert_int_equal(il_envelope_labels(c->e), n);
        for (size_t i = 0; i < n; i++) {
            const il_origin *o = envelope_at(c, list[i].path);
            assert_non_null(o);
            assert_true(il_str_eq(il_origin_source(o), il_origin_source(made[i])));
            il_origin_free(made[i]);
        }
        c->memory.alloc.free(c->memory.alloc.ctx, text);
    }
}

/* ---- refused ---------------------------------------------------------------------------------------------------- */

/* No bit of it may change. */
static void test_forged(void **state) {
    envelope_case *c = *state;
    const il_str text = envelope_plain(c, 1);
    char *copy = il_arena_bytes(&c->arena, text.n);
    assert_non_null(copy);
    for (size_t i = 0; i < text.n; i++) {
        for (unsigned bit = 0; bit < 7; bit += 3) {
            memcpy(copy, text.p, text.n);
            copy[i] = (char)((unsigned char)copy[i] ^ 1u << bit);
            assert_int_not_equal(envelope_open(c, (il_str){copy, text.n}), IL_OK);
            assert_null(c->e);
        }
    }
    for (size_t n = 0; n < text.n; n++) {
        assert_int_not_equal(envelope_open(c, il_str_part(text, 0, n)), IL_OK);
    }
    assert_int_equal(c->asked, 0);
    assert_int_equal(envelope_open(c, text), IL_OK);
}

static void test_keys(void **state) {
    envelope_case *c = *state;
    const il_str text = envelope_plain(c, 1);
    c->secret = "0123456789abcdef0123456789abcdeF";
    envelope_refused(c, text, IL_E_SEAL);
    c->secret = "short";
    envelope_refused(c, text, IL_E_SEAL);
    c->secret = KEY;
    envelope_refused(c, envelope_changed(c, text, "\"key\":\"k1\"", "\"key\":\"k2\"", true), IL_E_SEAL); /* looked up by its id */
    envelope_refused(c, envelope_changed(c, text, "\"mac\":\"", "\"mac\":\"0", false), IL_E_SEAL);
    c->open.key = NULL;
    envelope_refused(c, text, IL_E_SEAL);
    c->open.channel_trusted = true; /* one that has a MAC is verified all the same */
    envelope_refused(c, text, IL_E_SEAL);
}

/* Bound to a session, a time and one use. */
static void test_bound(void **state) {
    envelope_case *c = *state;
    const il_str text = envelope_plain(c, 1);
    c->open.audience = IL_STR("s2");
    envelope_refused(c, text, IL_E_MISMATCH);
    c->open.audience = IL_STR("s1");
    c->open.now_ms = NOW + 60000;
    envelope_refused(c, text, IL_E_STATE);
    c->open.now_ms = NOW - 300001;
    envelope_refused(c, text, IL_E_STATE);
    c->open.now_ms = NOW - 300000;
    assert_int_equal(envelope_open(c, text), IL_OK);
    c->open.now_ms = NOW + 59999;
    assert_int_equal(envelope_open(c, text), IL_E_STATE); /* replayed */
    assert_null(c->e);
    assert_int_equal(c->asked, 2);
    assert_int_equal(envelope_open(c, envelope_plain(c, 2)), IL_OK);
    c->open.fresh = NULL;
    assert_int_equal(envelope_open(c, envelope_plain(c, 3)), IL_E_ARGUMENT);
}

/* Without a MAC nothing in it may make a value look better, now or under a later policy. */
static void test_no_mac(void **state) {
    envelope_case *c = *state;
    il_endorsement e = {.size = sizeof e, .kind = IL_STR("legal"), .by = IL_STR("grace")};
    il_origin *o = NULL;
    assert_int_equal(il_origin_endorse(&c->memory.alloc, c->kb, &e, &o, NULL), IL_OK);
    const il_origin_at labels[] = {{IL_STR("/0"), o}, {IL_STR("/1"), c->web}};
    il_envelope_pack how = envelope_how(1);
    how.key = NULL;
    const il_str text = envelope_packed(c, "[1,2]", labels, 2, &how);
    il_origin_free(o);
    envelope_refused(c, text, IL_E_SEAL);
    const il_trust_table all = {.size = sizeof all, .trusts = envelope_trusts_all};
    c->open.channel_trusted = true;
    c->open.trust = &all;
    assert_int_equal(envelope_open(c, text), IL_OK);
    assert_false(il_envelope_sealed(c->e));
    for (size_t i = 0; i < 2; i++) {
        const il_origin *at = il_envelope_label(c->e, i).origin;
        assert_int_equal(il_origin_sources(at), 0);
        assert_int_equal(il_origin_endorsements(at), 0);
        assert_int_equal(il_origin_trust(at, &all), IL_TRUST_UNTRUSTED);
    }
    c->open.trust = NULL;
    how.nonce[0] = 2;
    assert_int_equal(envelope_open(c, envelope_packed(c, "[1,2]", labels + 1, 1, &how) /* a path of its own */), IL_OK);
    assert_int_equal(il_origin_sources(il_envelope_label(c->e, 0).origin), 1);
    assert_int_equal(il_origin_trust(il_envelope_label(c->e, 0).origin, &all), IL_TRUST_UNTRUSTED); /* whoever is trusted later */
}

/* Who has the key and is wrong is refused as well: the schema is strict. */
static void test_schema(void **state) {
    envelope_case *c = *state;
    const il_str text = envelope_plain(c, 1);
    static const struct {
        const char *from, *to;
        il_status why;
    } rows[] = {
        {"\"interlock_envelope\":1", "\"interlock_envelope\":2", IL_E_VERSION},
        {"\"interlock_envelope\":1", "\"interlock_envelope\":\"1\"", IL_E_VERSION},
        {"\"interlock_envelope\":1", "\"interlock_envelop\":1", IL_E_INVALID},
        {"\"audience\":\"s1\"", "\"audience\":\"s1\",\"extra\":1", IL_E_INVALID},
        {"\"audience\":\"s1\"", "\"audience\":1", IL_E_INVALID},
        {"\"expires_ms\":1700000060000", "\"expires_ms\":\"never\"", IL_E_INVALID},
        {"\"expires_ms\":1700000060000", "\"expires_ms\":-1", IL_E_INVALID},
        {"\"expires_ms\":1700000060000", "\"expires_ms\":1700000060000.5", IL_E_INVALID},
        {"\"expires_ms\":1700000060000", "\"expires_ms\":1700086400001", IL_E_INVALID},
        {"\"issued_ms\":1700000000000", "\"issued_ms\":1700000060000", IL_E_INVALID},
        {"\"nonce\":\"01", "\"nonce\":\"0", IL_E_INVALID},
        {"\"nonce\":\"01", "\"nonce\":\"0G", IL_E_INVALID},
        {"\"path\":\"/to/1\"", "\"path\":\"/to/2\"", IL_E_INVALID},
        {"\"path\":\"/to/1\"", "\"path\":\"/to/-1\"", IL_E_INVALID}, /* None from the end */
        {"\"path\":\"/to/1\"", "\"path\":\"/to/01\"", IL_E_INVALID},
        {"\"path\":\"/to/1\"", "\"path\":\"/to/-\"", IL_E_INVALID},
        {"\"path\":\"/to/1\"", "\"path\":\"/to/0\"", IL_E_INVALID}, /* two labels */
        {"\"path\":\"/to/1\"", "\"path\":\"/to/4294967297\"", IL_E_INVALID},
        {"\"path\":\"/to/1\"", "\"path\":\"to/1\"", IL_E_INVALID},
        {"\"path\":\"/to/1\"", "\"path\":\"/to/1/\"", IL_E_INVALID},
        {"\"path\":\"/a~1b~0c\"", "\"path\":\"/a~1b~2c\"", IL_E_INVALID},
        {"\"path\":\"/a~1b~0c\"", "\"path\":\"/a~1b~\"", IL_E_INVALID},
        {"\"path\":\"/a~1b~0c\"", "\"path\":\"/plain/x\"", IL_E_INVALID},
        {"\"path\":\"/a~1b~0c\"", "\"path\":1", IL_E_INVALID},
        {"{\"origin\":1,", "{\"origin\":2,", IL_E_INVALID},
        {"{\"origin\":1,", "{\"origin\":-1,", IL_E_INVALID},
        {"{\"origin\":1,", "{\"origin\":1,\"carrier\":\"str\",", IL_E_INVALID},
        {"\"more\":false", "\"more\":0", IL_E_INVALID},
        {"\"more\":false", "\"less\":false", IL_E_INVALID},
        {"\"more\":false,", "", IL_E_INVALID},
        {"\"lineage\":[\"web\"]", "\"lineage\":[\"web\",\"web\"]", IL_E_INVALID},
        {"\"lineage\":[\"web\"]", "\"lineage\":[\"\"]", IL_E_INVALID},
        {"\"lineage\":[\"web\"]", "\"lineage\":[1]", IL_E_INVALID},
        {"\"lineage\":[\"web\"]", "\"lineage\":\"web\"", IL_E_INVALID},
        {"\"agents\":[\"ana\"]", "\"agents\":[\"a\\nb\"]", IL_E_INVALID},
        {"\"endorsements\":[]", "\"endorsements\":[{\"by\":\"x\",\"kind\":\"legal\"}]", IL_E_INVALID},
        {"\"origins\":", "\"run\":{\"effects\":[\"commit\"]},\"origins\":", IL_E_INVALID},
        {"\"origins\":", "\"run\":{\"effects\":[\"egress\",\"egress\"]},\"origins\":", IL_E_INVALID},
        {"\"origins\":", "\"run\":{\"effects\":\"egress\"},\"origins\":", IL_E_INVALID},
        {"\"origins\":", "\"run\":{\"effects\":[],\"origin\":2},\"origins\":", IL_E_INVALID},
        {"\"origins\":", "\"run\":{\"effects\":[],\"origin\":-1},\"origins\":", IL_E_INVALID},
        {"\"origins\":", "\"run\":{\"effects\":[],\"sources\":[]},\"origins\":", IL_E_INVALID},
        {"\"origins\":", "\"run\":[],\"origins\":", IL_E_INVALID},
        {"\"payload\":\"{", "\"payload\":\" {", IL_OK},
        {"\\\"plain\\\":true", "\\\"a\\\":true", IL_E_INVALID}, /* not sorted */
        {"\\\"plain\\\":true", "\\\"plain\\\":tru", IL_E_SYNTAX},
        {"\\\"plain\\\":true", "\\\"a/b~c\\\":true", IL_E_SYNTAX}, /* twice */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const il_str changed = envelope_changed(c, text, rows[i].from, rows[i].to, true);
        if (rows[i].why != IL_OK) {
            envelope_refused(c, changed, rows[i].why);
        }
    }
    assert_int_equal(envelope_open(c, envelope_changed(c, text, "\"audience\"", "\"audience\"", true)),
                     IL_OK); /* control: this is how they are made */
    il_run_state run;
    assert_false(il_envelope_run(c->e, &run));
    const char *with = "\"run\":{\"effects\":[\"untrusted\",\"egress\"],\"origin\":1},\"origins\":";
    c->nused = 0;
    assert_int_equal(envelope_open(c, envelope_changed(c, text, "\"origins\":", with, true)), IL_OK);
    assert_true(il_envelope_run(c->e, &run) && run.effects == (uint32_t)(IL_UNTRUSTED | IL_EGRESS));
    assert_int_equal(il_origin_sources(run.origin), 1);
    envelope_refused(c, envelope_changed(c, text, "\"origins\":", with, false), IL_E_SEAL); /* nobody adds or takes away */
}

/* Read and written again by somebody else on the way: white space, order and escapes may differ, and no number is lost. */
static void test_rewritten(void **state) {
    envelope_case *c = *state;
    il_buf b;
    il_str out;
    test_random r = {3};
    const il_str text = envelope_plain(c, 1);
    il_json *v = NULL;
    assert_int_equal(il_json_parse(&c->arena, text, NULL, &v, NULL), IL_OK);
    il_buf_init(&b, &c->arena, 1 << 20);
    il_buf_puts(&b, " \n");
    il_json_write(&b, test_json_shuffled(&c->arena, &r, v), IL_JSON_AS_READ);
    assert_int_equal(il_buf_done(&b, &out, NULL), IL_OK);
    assert_false(il_str_eq(il_str_part(out, 2, out.n), text));
    assert_int_equal(envelope_open(c, envelope_changed(c, out, "web", "\\u0077eb", false)), IL_OK);
}

static void test_limits(void **state) {
    envelope_case *c = *state;
    const il_str text = envelope_plain(c, 1);
    il_envelope_limits limits = {.size = sizeof limits};
    c->open.limits = &limits;
    limits.bytes = text.n - 1;
    envelope_refused(c, text, IL_E_LIMIT);
    limits = (il_envelope_limits){.size = sizeof limits, .depth = 7};
    envelope_refused(c, text, IL_E_LIMIT);
    limits = (il_envelope_limits){.size = sizeof limits, .nodes = 10};
    envelope_refused(c, text, IL_E_LIMIT);
    limits = (il_envelope_limits){.size = sizeof limits, .labels = 2};
    envelope_refused(c, text, IL_E_LIMIT);
    limits = (il_envelope_limits){.size = sizeof limits, .origins = 1};
    envelope_refused(c, text, IL_E_LIMIT);
    limits = (il_envelope_limits){0};
    assert_int_equal(envelope_open(c, text), IL_E_ARGUMENT);
    limits = (il_envelope_limits){.size = sizeof limits, .bytes = (size_t)1 << 40};
    assert_int_equal(envelope_open(c, text), IL_E_ARGUMENT);
    limits = (il_envelope_limits){.size = sizeof limits, .bytes = text.n, .depth = 8, .labels = 3, .origins = 2};
    assert_int_equal(envelope_open(c, text), IL_OK);
}

static il_status envelope_try(envelope_case *c, const il_json *v, const il_origin_at *labels, size_t n,
                              const il_envelope_pack *how) {
    char *text = NULL;
    size_t bytes = 7;
    const il_status s = il_envelope_text_new(&c->memory.alloc, v, labels, n, how, &text, &bytes, &c->err);
    assert_true(s != IL_OK && text == NULL && bytes == 0);
    return s;
}

static void test_bad_packing(void **state) {
    envelope_case *c = *state;
    const il_json *v = envelope_json(c, "{\"a\":[1]}");
    il_envelope_pack how = envelope_how(0);
    how.nonce[1] = 0;
    assert_int_equal(envelope_try(c, v, NULL, 0, &how), IL_E_ARGUMENT); /* no nonce */
    how = envelope_how(1);
    how.lasts_ms = 0;
    assert_int_equal(envelope_try(c, v, NULL, 0, &how), IL_E_ARGUMENT);
    how.lasts_ms = IL_ENVELOPE_LASTS_MAX + 1u;
    assert_int_equal(envelope_try(c, v, NULL, 0, &how), IL_E_ARGUMENT);
    how = envelope_how(1);
    how.audience = (il_str){0};
    assert_int_equal(envelope_try(c, v, NULL, 0, &how), IL_E_INVALID);
    const il_envelope_key weak = {IL_STR("k1"), IL_STR("too short")};
    how = envelope_how(1);
    how.key = &weak;
    assert_int_equal(envelope_try(c, v, NULL, 0, &how), IL_E_ARGUMENT);
    how = envelope_how(1);
    const il_origin_at twice[] = {{IL_STR("/a"), c->web}, {IL_STR("/a"), c->kb}}, nowhere = {IL_STR("/b"), c->web},
                       none = {IL_STR("/a"), NULL};
    assert_int_equal(envelope_try(c, v, twice, 2, &how), IL_E_INVALID);
    assert_int_equal(envelope_try(c, v, &nowhere, 1, &how), IL_E_INVALID);
    assert_int_equal(envelope_try(c, v, &none, 1, &how), IL_E_ARGUMENT);
    /* A lone surrogate, or what is no text at all, is an error and no crash */
    const il_json bad = {.kind = IL_JSON_STRING, .text = {"\xed\xa0\x80", 3}};
    assert_int_equal(envelope_try(c, &bad, NULL, 0, &how), IL_E_INVALID);
    char longer[4096];
    memset(longer, 'x', sizeof longer);
    longer[0] = '/';
    const il_origin_at far = {{longer, sizeof longer}, c->web};
    assert_int_equal(envelope_try(c, v, &far, 1, &how), IL_E_INVALID);
    const il_envelope_limits limits = {.size = sizeof limits, .bytes = 300};
    how.limits = &limits;
    assert_int_equal(envelope_try(c, v, twice, 1, &how), IL_E_LIMIT);
}

/* ---- cost --------------------------------------------------------------------------------------------------------- */

/* Seconds of this process for a list of n labelled values, there and back; the best of three. */
static double envelope_seconds(envelope_case *c, size_t n, uint8_t nonce) {
    double best = 1e9;
    il_buf b;
    il_str value;
    il_buf_init(&b, &c->arena, 1 << 24);
    for (size_t i = 0; i < n; i++) {
        il_buf_puts(&b, i > 0 ? ",1" : "[1");
    }
    il_buf_putc(&b, ']');
    assert_int_equal(il_buf_done(&b, &value, NULL), IL_OK);
    const il_json_limits json = {.size = sizeof json, .nodes = 1000000};
    il_json *v = NULL;
    assert_int_equal(il_json_parse(&c->arena, value, &json, &v, NULL), IL_OK);
    il_origin_at *labels = il_arena_array(&c->arena, n, sizeof *labels);
    assert_non_null(labels);
    for (size_t i = 0; i < n; i++) {
        char *path = il_arena_bytes(&c->arena, 16);
        assert_non_null(path);
        labels[i] = (il_origin_at){{path, (size_t)snprintf(path, 16, "/%zu", i)}, i % 2 == 0 ? c->web : c->kb};
    }
    for (unsigned round = 0; round < 3; round++) {
        il_envelope_pack how = envelope_how(nonce);
        char *text = NULL;
        size_t bytes = 0;
        how.nonce[2] = (uint8_t)round;
        const clock_t from = clock();
        assert_int_equal(il_envelope_text_new(&c->memory.alloc, v, labels, n, &how, &text, &bytes, &c->err), IL_OK);
        assert_int_equal(envelope_open(c, (il_str){text, bytes}), IL_OK);
        const double took = (double)(clock() - from) / CLOCKS_PER_SEC;
        best = took < best ? took : best;
        assert_int_equal(il_envelope_labels(c->e), n);
        c->memory.alloc.free(c->memory.alloc.ctx, text);
    }
    return best;
}

/* Sixteen times the labels take about sixteen times as long, not 256 times. */
static void test_linear(void **state) {
    envelope_case *c = *state;
    const double few = envelope_seconds(c, 6000, 1), many = envelope_seconds(c, 96000, 2);
    printf("6,000 labels: %.4f s, 96,000: %.4f s\n", few, many);
    assert_true(many < 80 * few + 0.05);
}

/* Each allocation fails once. */
static void test_no_memory(void **state) {
    envelope_case *c = *state;
    const il_str text = envelope_plain(c, 1);
    const il_json *v = envelope_json(c, envelope_value);
    const il_origin_at at = {IL_STR("/plain"), c->web};
    const il_envelope_pack how = envelope_how(2);
    for (unsigned what = 0; what < 2; what++) {
        il_status s = IL_E_MEMORY;
        for (size_t left = 0; s == IL_E_MEMORY; left++) {
            char *made = NULL;
            size_t n = 0;
            const size_t live = c->memory.live;
            c->memory.left = left;
            s = what == 0 ? il_envelope_text_new(&c->memory.alloc, v, &at, 1, &how, &made, &n, NULL)
                          : il_envelope_new(&c->memory.alloc, text, &c->open, &c->e, NULL);
            c->memory.left = SIZE_MAX;
            assert_true(s == IL_OK || (s == IL_E_MEMORY && made == NULL && c->e == NULL && c->memory.live == live));
            c->memory.alloc.free(c->memory.alloc.ctx, made);
            assert_true(left < 200);
        }
        assert_int_equal(s, IL_OK);
    }
    assert_int_equal(c->asked, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define ENVELOPE_TEST(f) cmocka_unit_test_setup_teardown(f, envelope_setup, envelope_teardown)
        ENVELOPE_TEST(test_round),       ENVELOPE_TEST(test_deep),      ENVELOPE_TEST(test_many_sources),
        ENVELOPE_TEST(test_endorsement), ENVELOPE_TEST(test_any_tree),  ENVELOPE_TEST(test_forged),
        ENVELOPE_TEST(test_keys),        ENVELOPE_TEST(test_bound),     ENVELOPE_TEST(test_no_mac),
        ENVELOPE_TEST(test_schema),      ENVELOPE_TEST(test_rewritten), ENVELOPE_TEST(test_limits),
        ENVELOPE_TEST(test_bad_packing), ENVELOPE_TEST(test_linear),    ENVELOPE_TEST(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
