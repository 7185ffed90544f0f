/* SPDX-License-Identifier: Apache-2.0 */
/* Each kind: what is read, to what canonical form, and what is refused; then what a listed pattern matches. */
#include "helper_policy.h"

#include "policy/kind.h"
#include <string.h>

typedef struct kind_row {
    il_kind kind;
    const char *text, *canonical; /* NULL: refused */
} kind_row;

static const kind_row kind_values[] = {
    {IL_KIND_HOST, "api.github.com", "api.github.com"},
    {IL_KIND_HOST, "API.GitHub.COM", "api.github.com"},
    {IL_KIND_HOST, "api.github.com.", "api.github.com"},
    {IL_KIND_HOST, "api.github.com..", NULL},
    {IL_KIND_HOST, "api..github.com", NULL},
    {IL_KIND_HOST, ".github.com", NULL},
    {IL_KIND_HOST, "localhost:8080", "localhost:8080"},
    {IL_KIND_HOST, "localhost:", NULL},
    {IL_KIND_HOST, "localhost:0", NULL},
    {IL_KIND_HOST, "localhost:080", NULL},
    {IL_KIND_HOST, "localhost:65536", NULL},
    {IL_KIND_HOST, "localhost:8080:1", NULL},
    {IL_KIND_HOST, "10.0.0.1", "10.0.0.1"},
    {IL_KIND_HOST, "10.0.0.01", NULL},
    {IL_KIND_HOST, "10.0.0.256", NULL},
    {IL_KIND_HOST, "10.1", NULL},
    {IL_KIND_HOST, "167772161", NULL},
    {IL_KIND_HOST, "0x0a000001", NULL},
    {IL_KIND_HOST, "0xA.0.0.1", NULL},
    {IL_KIND_HOST, "0x", NULL},
    {IL_KIND_HOST, "012.0.0.1", NULL},
    {IL_KIND_HOST, "corp.example.1", NULL},
    {IL_KIND_HOST, "[::1]", "[0:0:0:0:0:0:0:1]"},
    {IL_KIND_HOST, "[::1]:80", "[0:0:0:0:0:0:0:1]:80"},
    {IL_KIND_HOST, "[2001:DB8::a:0:1]", "[2001:db8:0:0:0:a:0:1]"},
    {IL_KIND_HOST, "[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]"},
    {IL_KIND_HOST, "[1:2:3:4:5:6:7:8:9]", NULL},
    {IL_KIND_HOST, "[1:2:3:4:5:6:7:8::]", NULL},
    {IL_KIND_HOST, "[::1::2]", NULL},
    {IL_KIND_HOST, "[:1]", NULL},
    {IL_KIND_HOST, "[1:2]", NULL},
    {IL_KIND_HOST, "[::ffff:7f00:1]", NULL},
    {IL_KIND_HOST, "[::ffff:127.0.0.1]", NULL},
    {IL_KIND_HOST, "[::7f00:1]", NULL},
    {IL_KIND_HOST, "[fe80::1%eth0]", NULL},
    {IL_KIND_HOST, "[::1", NULL},
    {IL_KIND_HOST, "::1", NULL},
    {IL_KIND_HOST,
     "b\xc3\xbc"
     "cher.example",
     NULL},
    {IL_KIND_HOST, "xn--bcher-kva.example", "xn--bcher-kva.example"},
    {IL_KIND_HOST, "corp\xe2\x80\x8b.example", NULL},
    {IL_KIND_HOST,
     "corp\xef\xbc\x8e"
     "example",
     NULL},
    {IL_KIND_HOST, "user@corp.example", NULL},
    {IL_KIND_HOST, "corp.example/", NULL},
    {IL_KIND_HOST, "corp%2eexample", NULL},
    {IL_KIND_HOST, "corp.example\\", NULL},
    {IL_KIND_HOST, " corp.example", NULL},
    {IL_KIND_HOST, "-corp.example", NULL},
    {IL_KIND_HOST, "corp-.example", NULL},
    {IL_KIND_HOST, "my_db.internal", "my_db.internal"},
    {IL_KIND_HOST, "", NULL},

    {IL_KIND_URL, "https://Corp.Example", "https://corp.example/"},
    {IL_KIND_URL, "HTTPS://corp.example/A?b=c#d", "https://corp.example/A?b=c#d"},
    {IL_KIND_URL, "https://corp.example?q", "https://corp.example/?q"},
    {IL_KIND_URL, "https://corp.example:443/", "https://corp.example/"},
    {IL_KIND_URL, "http://corp.example:443/", "http://corp.example:443/"},
    {IL_KIND_URL, "https://corp.example.:8443/x", "https://corp.example:8443/x"},
    {IL_KIND_URL, "https://corp.example@evil.example/", NULL},
    {IL_KIND_URL, "https://u:p@corp.example/", NULL},
    {IL_KIND_URL, "https://corp.example/@x", "https://corp.example/@x"},
    {IL_KIND_URL, "https://corp.example\\@evil.example/", NULL},
    {IL_KIND_URL, "https://corp.example\\.evil.example/", NULL},
    {IL_KIND_URL, "https:\\\\corp.example/", NULL},
    {IL_KIND_URL, "https:/corp.example/", NULL},
    {IL_KIND_URL, "https:corp.example", NULL},
    {IL_KIND_URL, "//corp.example/", NULL},
    {IL_KIND_URL, "https:///corp.example/", NULL},
    {IL_KIND_URL, "https://", NULL},
    {IL_KIND_URL, "https://corp%2eexample/", NULL},
    {IL_KIND_URL, "https://corp.example%2f.evil.example/", NULL},
    {IL_KIND_URL, "https://2130706433/", NULL},
    {IL_KIND_URL, "https://0x7f.1/", NULL},
    {IL_KIND_URL, "https://[::ffff:127.0.0.1]/", NULL},
    {IL_KIND_URL, "https://c\xc3\xb6rp.example/", NULL},
    {IL_KIND_URL, "https://corp.example/\xc3\xb6", "https://corp.example/\xc3\xb6"},
    {IL_KIND_URL, "https://corp.example/\xe2\x80\x8b", NULL},
    {IL_KIND_URL, "https://corp.example/a b", NULL},
    {IL_KIND_URL, "https://corp.example/a\tb", NULL},
    {IL_KIND_URL, "https://corp.example/a\nb", NULL},
    {IL_KIND_URL, " https://corp.example/", NULL},
    {IL_KIND_URL, "https://corp.example/ ", NULL},
    {IL_KIND_URL, "https://corp.example/a/../b", NULL},
    {IL_KIND_URL, "https://corp.example/a/./b", NULL},
    {IL_KIND_URL, "https://corp.example/..", NULL},
    {IL_KIND_URL, "https://corp.example/a/%2e%2E/b", NULL},
    {IL_KIND_URL, "https://corp.example/a/.%252e/b", NULL},
    {IL_KIND_URL, "https://corp.example/a/..;x/b", NULL},
    {IL_KIND_URL, "https://corp.example/a%5c..%5cb", NULL},
    {IL_KIND_URL, "https://corp.example/a%00b", NULL},
    {IL_KIND_URL, "https://corp.example/a%0d%0ab", NULL},
    {IL_KIND_URL, "https://corp.example/a...b/.c", "https://corp.example/a...b/.c"},
    {IL_KIND_URL, "https://corp.example/100%25", "https://corp.example/100%25"},
    {IL_KIND_URL, "https://corp.example/100%", NULL},
    {IL_KIND_URL, "https://corp.example/%252525252541", NULL},
    {IL_KIND_URL, "ftp://corp.example/", NULL},
    {IL_KIND_URL, "file:///etc/passwd", NULL},
    {IL_KIND_URL, "javascript://corp.example/%0aalert(1)", NULL},
    {IL_KIND_URL, "data:text/html,x", NULL},

    {IL_KIND_EMAIL, "Bo@Corp.Example", "bo@corp.example"},
    {IL_KIND_EMAIL, "bo+list@corp.example", "bo+list@corp.example"},
    {IL_KIND_EMAIL, "bo@corp.example.", "bo@corp.example"},
    {IL_KIND_EMAIL, "\"bo\"@corp.example", NULL},
    {IL_KIND_EMAIL, "\"x@evil.example\"@corp.example", NULL},
    {IL_KIND_EMAIL, "bo@evil.example@corp.example", NULL},
    {IL_KIND_EMAIL, "Bo <bo@corp.example>", NULL},
    {IL_KIND_EMAIL, "bo@corp.example,eve@evil.example", NULL},
    {IL_KIND_EMAIL, "bo@corp.example eve@evil.example", NULL},
    {IL_KIND_EMAIL, "bo@corp.example\r\nBcc: eve@evil.example", NULL},
    {IL_KIND_EMAIL, "bo%evil.example@corp.example", NULL},
    {IL_KIND_EMAIL, "evil.example!bo@corp.example", NULL},
    {IL_KIND_EMAIL, "bo(evil)@corp.example", NULL},
    {IL_KIND_EMAIL, "bo@[10.0.0.1]", NULL},
    {IL_KIND_EMAIL, "bo@10.0.0.1", NULL},
    {IL_KIND_EMAIL, "bo@corp.example:25", NULL},
    {IL_KIND_EMAIL, "b\xc3\xb6@corp.example", NULL},
    {IL_KIND_EMAIL, "bo@c\xc3\xb6rp.example", NULL},
    {IL_KIND_EMAIL, "bo\xe2\x80\x8b@corp.example", NULL},
    {IL_KIND_EMAIL, ".bo@corp.example", NULL},
    {IL_KIND_EMAIL, "b..o@corp.example", NULL},
    {IL_KIND_EMAIL, "bo.@corp.example", NULL},
    {IL_KIND_EMAIL, "@corp.example", NULL},
    {IL_KIND_EMAIL, "bo@", NULL},
    {IL_KIND_EMAIL, "bo", NULL},
    {IL_KIND_EMAIL, "", NULL},

    {IL_KIND_REPO, "Ana/PetShop", "ana/petshop"},
    {IL_KIND_REPO, "group/sub/name", "group/sub/name"},
    {IL_KIND_REPO, "ana/petshop.git", NULL},
    {IL_KIND_REPO, "ana/petshop.GIT", NULL},
    {IL_KIND_REPO, "ana/petshop/", NULL},
    {IL_KIND_REPO, "ana//petshop", NULL},
    {IL_KIND_REPO, "/ana/petshop", NULL},
    {IL_KIND_REPO, "ana/..", NULL},
    {IL_KIND_REPO, "ana/../evil", NULL},
    {IL_KIND_REPO, "ana/petshop.", NULL},
    {IL_KIND_REPO, "petshop", NULL},
    {IL_KIND_REPO, "ana/pet shop", NULL},
    {IL_KIND_REPO, "ana/petshop%2e", NULL},
    {IL_KIND_REPO, "ana/petshop?x", NULL},

    {IL_KIND_CHANNEL, "#eng", "eng"},
    {IL_KIND_CHANNEL, "eng", "eng"},
    {IL_KIND_CHANNEL, "##eng", NULL},
    {IL_KIND_CHANNEL, "C024BE91L", "C024BE91L"},
    {IL_KIND_CHANNEL, "@bo", "@bo"},
    {IL_KIND_CHANNEL, "#eng,#evil", NULL},
    {IL_KIND_CHANNEL, "#", NULL},

    {IL_KIND_PATH, "~/src//a/./b/", "~/src/a/b"},
    {IL_KIND_PATH, "/", "/"},
    {IL_KIND_PATH, "~", "~"},
    {IL_KIND_PATH, "/etc/../etc/passwd", NULL},
    {IL_KIND_PATH, "~/src/..", NULL},
    {IL_KIND_PATH, "~root/.//x", "~root/x"},
    {IL_KIND_PATH, "~a.b-c_1", "~a.b-c_1"},
    {IL_KIND_PATH, "~+/x", NULL},
    {IL_KIND_PATH, "~1/x", NULL},
    {IL_KIND_PATH, "~ana@x/y", NULL},
    {IL_KIND_PATH, "src/a", NULL},
    {IL_KIND_PATH, "C:\\x", NULL},
    {IL_KIND_PATH, "/a\nb", NULL},
    {IL_KIND_PATH,
     "/a\xe2\x80\xae"
     "b",
     NULL},
    {IL_KIND_PATH, "/caf\xc3\xa9", "/caf\xc3\xa9"},
    {IL_KIND_PATH, "/a\xff", NULL},
    {IL_KIND_PATH, "", NULL},

    {IL_KIND_ACCOUNT, "GB29 NWBK 6016 1331 9268 19", "GB29NWBK60161331926819"},
    {IL_KIND_ACCOUNT, "uk12bank0001", "UK12BANK0001"},
    {IL_KIND_ACCOUNT, "GB29  NWBK", NULL},
    {IL_KIND_ACCOUNT, " GB29NWBK", NULL},
    {IL_KIND_ACCOUNT, "GB29NWBK,US00ATTACKER", NULL},
    {IL_KIND_ACCOUNT, "123", NULL},

    {IL_KIND_NAME, "Ana Lee", "Ana Lee"},
    {IL_KIND_NAME, " Ana", NULL},
    {IL_KIND_NAME, "Ana\xc2\xad", NULL},
    {IL_KIND_NAME,
     "An\x01"
     "a",
     NULL},
    {IL_KIND_NAME, "", NULL},
};

static void kind_reads(void **state) {
    (void)state;
    policy_memory m;
    il_arena a;
    policy_memory_init(&m);
    il_arena_init(&a, &m.alloc, 1 << 22);
    for (size_t i = 0; i < sizeof kind_values / sizeof kind_values[0]; i++) {
        const kind_row *r = &kind_values[i];
        il_str canonical = {0};
        il_error err = {0};
        il_status s = il_kind_value(r->kind, il_str_of(r->text), &a, &canonical, &err);
        if (r->canonical == NULL) {
            if (s != IL_E_INVALID || err.msg[0] == '\0') {
                fail_msg("`%s` was read as %.*s", r->text, IL_STR_ARG(canonical));
            }
            continue;
        }
        if (s != IL_OK || !il_str_eq(canonical, il_str_of(r->canonical))) {
            fail_msg("`%s` gave `%.*s` (%s), not `%s`", r->text, IL_STR_ARG(canonical), err.msg, r->canonical);
        }
        /* canonical forms are fixed points */
        il_str again = {0};
        assert_int_equal(il_kind_value(r->kind, canonical, &a, &again, &err), IL_OK);
        assert_true(il_str_eq(again, canonical));
    }
    il_arena_free(&a);
}

typedef struct kind_match {
    il_kind kind;
    const char *pattern, *value;
    bool matches;
} kind_match;

static const kind_match kind_matches[] = {
    {IL_KIND_EMAIL, "@corp.example", "bo@corp.example", true},
    {IL_KIND_EMAIL, "@Corp.Example", "bo+x@CORP.example", true},
    {IL_KIND_EMAIL, "@corp.example", "bo@mail.corp.example", false},
    {IL_KIND_EMAIL, "@corp.example", "bo@evilcorp.example", false},
    {IL_KIND_EMAIL, "@corp.example", "bo@corp.example.evil.example", false},
    {IL_KIND_EMAIL, ".corp.example", "bo@mail.corp.example", true},
    {IL_KIND_EMAIL, ".corp.example", "bo@corp.example", true},
    {IL_KIND_EMAIL, ".corp.example", "bo@evilcorp.example", false},
    {IL_KIND_EMAIL, "bo@corp.example", "Bo@corp.example", true},
    {IL_KIND_EMAIL, "bo@corp.example", "bo+x@corp.example", false},
    {IL_KIND_EMAIL, "bo@corp.example", "rebo@corp.example", false},
    {IL_KIND_HOST, ".corp.example", "a.b.corp.example", true},
    {IL_KIND_HOST, ".corp.example", "corp.example", true},
    {IL_KIND_HOST, ".corp.example", "evilcorp.example", false},
    {IL_KIND_HOST, ".corp.example", "corp.example:8080", false},
    {IL_KIND_HOST, ".corp.example:*", "a.corp.example:8080", true},
    {IL_KIND_HOST, "corp.example", "www.corp.example", false},
    {IL_KIND_HOST, "localhost:*", "localhost:3000", true},
    {IL_KIND_HOST, "localhost:*", "localhost", true},
    {IL_KIND_HOST, "localhost:*", "localhost.evil.example:3000", false},
    {IL_KIND_HOST, "localhost:3000", "localhost:3001", false},
    {IL_KIND_HOST, "[::1]:*", "[::1]:3000", true},
    {IL_KIND_HOST, "10.0.0.1", "10.0.0.1", true},
    {IL_KIND_URL, "https://hooks.corp.example/services/T0/*", "https://hooks.corp.example/services/T0/B1/x", true},
    {IL_KIND_URL, "https://hooks.corp.example/services/T0/*", "https://hooks.corp.example/services/T0/", false},
    {IL_KIND_URL, "https://hooks.corp.example/services/T0/*", "https://hooks.corp.example/services/T0", false},
    {IL_KIND_URL, "https://hooks.corp.example/services/T0/*", "https://hooks.corp.example/services/T0?x", false},
    {IL_KIND_URL, "https://hooks.corp.example/services/T0/*", "https://hooks.corp.example/services/T0X/B1", false},
    {IL_KIND_URL, "https://hooks.corp.example/services/T0/*", "http://hooks.corp.example/services/T0/B1", false},
    {IL_KIND_URL, "https://hooks.corp.example/services/T0/*", "https://hooks.corp.example:8443/services/T0/B1", false},
    {IL_KIND_URL, "https://corp.example/a", "https://corp.example:443/a", true},
    {IL_KIND_URL, "https://corp.example/a", "https://corp.example/a/b", false},
    {IL_KIND_REPO, "acme/*", "Acme/Website", true},
    {IL_KIND_REPO, "acme/*", "acme/sub/website", true},
    {IL_KIND_REPO, "acme/*", "acmeevil/website", false},
    {IL_KIND_REPO, "acme/website", "acme/website-fork", false},
    {IL_KIND_PATH, "~/src/*", "~/src/a/b", true},
    {IL_KIND_PATH, "~/src/*", "~/src", false},
    {IL_KIND_PATH, "~/src/*", "~/srcx/a", false},
    {IL_KIND_PATH, "~/src", "~/src/", true},
    {IL_KIND_CHANNEL, "#eng", "eng", true},
    {IL_KIND_CHANNEL, "#eng", "#eng-leads", false},
    {IL_KIND_ACCOUNT, "GB29NWBK60161331926819", "gb29 nwbk 6016 1331 9268 19", true},
};

static void kind_patterns(void **state) {
    (void)state;
    policy_memory m;
    il_arena a;
    policy_memory_init(&m);
    il_arena_init(&a, &m.alloc, 1 << 22);
    for (size_t i = 0; i < sizeof kind_matches / sizeof kind_matches[0]; i++) {
        const kind_match *r = &kind_matches[i];
        il_kind_pattern pattern;
        il_str value = {0};
        il_error err = {0};
        if (il_kind_pattern_new(r->kind, il_str_of(r->pattern), &a, &pattern, &err) != IL_OK ||
            il_kind_value(r->kind, il_str_of(r->value), &a, &value, &err) != IL_OK) {
            fail_msg("%s, %s: %s", r->pattern, r->value, err.msg);
        }
        if (il_kind_matches(&pattern, value) != r->matches) {
            fail_msg("pattern `%s` and `%s`", r->pattern, r->value);
        }
        assert_false(il_kind_matches(&pattern, (il_str){0}));
    }
    il_arena_free(&a);
}

static void kind_bad_patterns(void **state) {
    (void)state;
    static const struct {
        il_kind kind;
        const char *text;
    } bad[] = {
        {IL_KIND_HOST, "."},
        {IL_KIND_HOST, "*"},
        {IL_KIND_HOST, "*.corp.example"},
        {IL_KIND_HOST, "corp.example:80:*"},
        {IL_KIND_HOST, ".10.0.0.1"},
        {IL_KIND_HOST, ".a.example:8"},
        {IL_KIND_HOST, "https://a.example"},
        {IL_KIND_EMAIL, "*@corp.example"},
        {IL_KIND_EMAIL, "@"},
        {IL_KIND_EMAIL, "@10.0.0.1"},
        {IL_KIND_EMAIL, "@corp.example:25"},
        {IL_KIND_REPO, "*"},
        {IL_KIND_REPO, "*/website"},
        {IL_KIND_REPO, "acme/web*"},
        {IL_KIND_REPO, "acme/**"},
        {IL_KIND_PATH, "/*"},
        {IL_KIND_PATH, "*"},
        {IL_KIND_PATH, "~/s*c"},
        {IL_KIND_URL, "https://*"},
        {IL_KIND_URL, "https://*/x"},
        {IL_KIND_URL, "https://corp.example/a?x/*"},
        {IL_KIND_URL, "https://corp.example/a*"},
        {IL_KIND_NAME, "A*"},
        {IL_KIND_CHANNEL, "eng*"},
    };
    policy_memory m;
    il_arena a;
    policy_memory_init(&m);
    il_arena_init(&a, &m.alloc, 1 << 22);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        il_kind_pattern pattern;
        il_error err = {0};
        if (il_kind_pattern_new(bad[i].kind, il_str_of(bad[i].text), &a, &pattern, &err) != IL_E_INVALID || err.msg[0] == '\0') {
            fail_msg("pattern `%s` was taken", bad[i].text);
        }
    }
    il_arena_free(&a);
}

static void kind_words(void **state) {
    (void)state;
    il_kind kind = IL_KIND_NAME;
    for (int i = IL_KIND_EMAIL; i <= IL_KIND_NAME; i++) {
        assert_true(il_kind_find(il_kind_word((il_kind)i), &kind));
        assert_int_equal(kind, i);
    }
    assert_false(il_kind_find(IL_STR("Email"), &kind));
    assert_false(il_kind_find(IL_STR(""), &kind));
    assert_true(il_str_eq(il_kind_host(IL_KIND_URL, IL_STR("https://a.example:8443/x")), IL_STR("a.example:8443")));
    assert_true(il_str_eq(il_kind_host(IL_KIND_EMAIL, IL_STR("bo@a.example")), IL_STR("a.example")));
    assert_int_equal(il_kind_host(IL_KIND_NAME, IL_STR("bo")).n, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kind_reads),
        cmocka_unit_test(kind_patterns),
        cmocka_unit_test(kind_bad_patterns),
        cmocka_unit_test(kind_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
