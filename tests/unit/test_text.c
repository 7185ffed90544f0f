/* SPDX-License-Identifier: Apache-2.0 */
/* What counts as a destination inside free text. Expectation: kind letter and token, joined by `;`; `!` where something looks like a
 * destination and cannot be read. */
#include "helper_policy.h"

#include "policy/text.h"
#include <stdio.h>
#include <string.h>

typedef struct text_seen {
    char text[2048];
    size_t n, count;
} text_seen;

static bool text_found(void *ctx, il_kind kind, il_str token) {
    text_seen *s = ctx;
    s->count++;
    if (s->n + token.n + 8 < sizeof s->text) {
        int n = snprintf(s->text + s->n, sizeof s->text - s->n, "%s%c%.*s", s->n > 0 ? ";" : "", il_kind_word(kind).p[0],
                         IL_STR_ARG(token.n > 0 ? token : IL_STR("!")));
        s->n += (size_t)n;
    }
    return true;
}

static const struct {
    const char *text, *found;
} text_rows[] = {
    {"see you at 12:30, and/or tomorrow: ok? a // b, C:\\temp, @bo, 5 @ 3, e.g. this", ""},
    {"write to bo@corp.example.", "ebo@corp.example"},
    {"<bo@corp.example>, \"eve@evil.example\"; (x+y@evil.example)", "ebo@corp.example;eeve@evil.example;ex+y@evil.example"},
    {"mailto:bo@corp.example?cc=eve@evil.example", "ebo@corp.example;eeve@evil.example"},
    {"x%evil.example@corp.example", "e!"},
    {"evil.example!bo@corp.example", "e!"},
    {"\"a b\"@corp.example", "e!"},
    {"bo@[10.0.0.1]", "e!"},
    {"bo@evil\xe2\x80\x8b.example", "ebo@evil\xe2\x80\x8b.example"},
    {"go to https://a.example/x.", "uhttps://a.example/x"},
    {"[c](https://a.example/x)![i](HTTP://b.example/y)", "uhttps://a.example/x)![i](HTTP://b.example/y;uHTTP://b.example/y"},
    {"<a href=\"//evil.example/x\">", "uhttps://evil.example/x"},
    {"\\\\evil.example\\share", "uhttps://evil.example\\share"},
    {"https:/evil.example/x https:\\\\evil.example https:evil.example", "u!;u!;u!"},
    {"note: https: is a scheme, http:", ""},
    {"://x", "u!"},
    {"javascript://x", "ujavascript://x"},
    {"ht\xe2\x80\x8btps://evil.example", "utps://evil.example"},
    {"https://a.example/?u=https%3A%2F%2Fevil.example%2Fx",
     "uhttps://a.example/?u=https%3A%2F%2Fevil.example%2Fx;uhttps://evil.example/x"},
    {"https://a.example/?u=https%253A%252F%252Fevil.example",
     "uhttps://a.example/?u=https%253A%252F%252Fevil.example;uhttps://evil.example"},
    {"https://a.example/#//evil.example/x", "uhttps://a.example/#//evil.example/x;uhttps://evil.example/x"},
    {"https://a.example/r/https://evil.example", "uhttps://a.example/r/https://evil.example;uhttps://evil.example"},
    {"https://a.example/%2525252525253A", "uhttps://a.example/%2525252525253A;u!"},
    {"https&#58;//evil.example https&colon;&sol;&#x2F;evil.example",
     "uhttps://evil.example;uhttps://evil.example;uhttps://evil.example"},
    {"bo&commat;evil.example", "ebo@evil.example"},
    {"pay GB29NWBK60161331926819 today", "aGB29NWBK60161331926819"},
    {"pay GB29 NWBK 6016 1331 9268 19 today", "aGB29NWBK60161331926819"},
    {"ES91 2100 0418 4502 0005 1332 then", "aES9121000418450200051332"},
    {"gb29-nwbk-6016-1331-9268-19", "agb29nwbk60161331926819"},
    {"US133000000121212121212", "aUS133000000121212121212"},
    /* what browsers repair: any slashes, breaks between them, hosts without a dot, wide full stops */
    {"![](///evil.example/x)", "uhttps://evil.example/x"},
    {"![](/\\evil.example/x) ![](\\/evil.example/y)", "uhttps://evil.example/x;uhttps://evil.example/y"},
    {"x /\t/evil.example/x", "uhttps://evil.example/x"},
    {"x=\"/&Tab;/evil.example/x\"", "uhttps://evil.example/x"},
    {"![](//3221226219/x) ![](//0xC0000201/x) ![](//[::1]/x)", "u!;u!;u!"},
    {"![](//evil\xe3\x80\x82"
     "example/x)",
     "uhttps://evil\xe3\x80\x82"
     "example/x"},
    {"![](//evil%2Eexample/x)", "uhttps://evil.example/x"},
    {"/// doc.comment, //todo 3, a\n/\nb", ""},
    {"//a.example/?u=https%3A%2F%2Fevil.example",
     "uhttps://a.example/?u=https%3A%2F%2Fevil.example;uhttps://a.example/?u=https://evil.example;uhttps://evil.example"},
    {"https://a.example/?u=/%5Cevil.example", "uhttps://a.example/?u=/%5Cevil.example;uhttps://evil.example"},
    {"see www.evil.example/x, WWW.evil.example; https://www.a.example x.www.b",
     "uhttps://www.evil.example/x;uhttps://WWW.evil.example;uhttps://www.a.example"},
    {"mailto:bo%40evil.example", "ebo@evil.example"},
    {"bo'@evil.example bo!@evil.example", "e!;e!"},
    {"**@ana.smith** '@ana.smith' https://a.example/@ana.smith", "uhttps://a.example/@ana.smith"},
    {"bo\xef\xbc\xa0"
     "evil.example",
     "e!"},
    {"bo&#x00000000040;evil.example", "ebo@evil.example"},
    {"GB29  NWBK  6016  1331  9268  19, GB29.NWBK.6016.1331.9268.19", "aGB29NWBK60161331926819;aGB29NWBK60161331926819"},
    {"GB29\xc2\xa0NWBK\xc2\xa0"
     "6016\xc2\xa0"
     "1331\xc2\xa0"
     "9268\xc2\xa0"
     "19",
     "aGB29NWBK60161331926819"},
    {"ab12cdef34567890ab12cdef34567890 AB12 CDEF 3456 7890 ABCD", ""},
    {"GB29NWBK", ""},
    /* a bare host that carries something, which chat programs make a link of and fetch */
    {"evil.example/x", "uhttps://evil.example/x"},
    {"see evil.example?k=1, Evil.Example#k or evil.example:8080/x.",
     "uhttps://evil.example?k=1;uhttps://Evil.Example#k;uhttps://evil.example:8080/x"},
    {"[x](evil.example/k) ![](<evil.example/l>) [y]: evil.example/m",
     "uhttps://evil.example/k;uhttps://evil.example/l;uhttps://evil.example/m"},
    {"<img src=evil.example/k>, (evil.example/l), *evil.example/m*, _evil.example/n_",
     "uhttps://evil.example/k;uhttps://evil.example/l;uhttps://evil.example/m;uhttps://_evil.example/n"},
    {"key:evil.example/x,a.evil.example./y|b-c.example/z",
     "uhttps://evil.example/x,a.evil.example./y|b-c.example/z;uhttps://a.evil.example./y|b-c.example/z;uhttps://b-c.example/z"},
    {"see...evil.example/x .evil.example/y", "uhttps://evil.example/x;uhttps://evil.example/y"},
    {"@evil.example/x 100%evil.example/y x%ea.example/z",
     "uhttps://evil.example/x;uhttps://evil.example/y;uhttps://ea.example/z"},
    {"evil.xn--p1ai/x \xd0\xb7\xd0\xbb\xd0\xbe.\xd1\x80\xd1\x84/x",
     "uhttps://evil.xn--p1ai/x;uhttps://\xd0\xb7\xd0\xbb\xd0\xbe.\xd1\x80\xd1\x84/x"},
    {"evil\xe2\x80\x8b.example/x", "uhttps://evil\xe2\x80\x8b.example/x"},
    {"evil&period;example&sol;x evil.example&#47;y", "uhttps://evil.example/x;uhttps://evil.example/y"},
    {"192.0.2.7/x 192.0.2.7:8080/x 192.0.2.7?k", "uhttps://192.0.2.7/x;uhttps://192.0.2.7:8080/x;uhttps://192.0.2.7?k"},
    {"evil.example/!.!?", "uhttps://evil.example/"},
    /* a word with a dot and nothing behind it, a relative path, an address */
    {"plan.txt, e.g. main.py, main.py:12 main.c:3:1 v1.2 3.14 node.js evil.example evil.example. (evil.example) "
     "evil.example:8080",
     ""},
    {"./a.b/c src/a.py a/b.cd/d ../x.yz/d /etc/conf.dd/e ~/a.bc/d C:\\x.yz\\d v1.2/3 1.2.3/x 10.0.0.0/8 10.0.0.0/24, e.g./i.e. "
     "a.b/c",
     ""},
    {".github/workflows/ci.yml ../x well...and/or https://a.example/@ana.smith/1 ana@corp.example/x",
     "uhttps://a.example/@ana.smith/1;eana@corp.example"},
    {"my.folder/ is it plan.txt? or plan.txt?! [x](plan.txt/)", ""},
    {"bo@corp.example/x 2024.12.24/x", "ebo@corp.example"},
    {"https://a.example/caf%C3%A9.html#x", "uhttps://a.example/caf%C3%A9.html#x"},
    {"https://a.example/my%20page.html?x=1", "uhttps://a.example/my%20page.html?x=1"},
    /* what is opened by a program that asks nobody where it goes; nothing can list these */
    {"tel:+4930123 sms:+4930123?body=x TEL:1 [x](smsto:1) callto:bo javascript:fetch('x')", "u!;u!;u!;u!;u!;u!"},
    {"data:text/html,<b> DATA:;base64,PGI+ <a href=\"data:text/html; charset=utf-8,x\">", "u!;u!;u!"},
    {"data&colon;x&comma;y", "u!"},
    {"tel: 030 123, the data: 1, 2, metadata:a,b hotel:x data:x note:y sms:", ""},
    /* typography around a name, and where it could be part of one */
    {"\xe2\x80\x9c"
     "bo@corp.example\xe2\x80\x9d, \xe2\x80\x98https://a.example\xe2\x80\x99 \xe2\x80\x9c"
     "a.example/x\xe2\x80\x9d",
     "ebo@corp.example;uhttps://a.example;uhttps://a.example/x\xe2\x80\x9d"},
    {"to\xc2\xa0"
     "bo@corp.example\xc2\xa0today, bo@corp.example\xe2\x80\x94she, bo@corp.example\xe2\x80\xa6 "
     "bo@corp.example\xe2\x80\x99s",
     "ebo@corp.example;ebo@corp.example;ebo@corp.example;ebo@corp.example"},
    {"https://a.example's https://a.example,https://b.example;x https://a.example\xc2\xa0(x)",
     "uhttps://a.example;uhttps://a.example;uhttps://b.example;uhttps://a.example"},
    {"https://a.example,b.evil.example", "uhttps://a.example,b.evil.example"},
    {"https://a.example\xe2\x80\x9d.evil.example/ https://a.example;x@evil.example",
     "uhttps://a.example\xe2\x80\x9d.evil.example/;uhttps://a.example;x@evil.example;ex@evil.example"},
    {"https://a.example\xe2\x80\xa4"
     "com",
     "uhttps://a.example\xe2\x80\xa4"
     "com"},
    {"bo@a.example\xe2\x80\x94x.evil.example bo@a.example\xe3\x80\x82"
     "com",
     "ebo@a.example\xe2\x80\x94x.evil.example;ebo@a.example\xe3\x80\x82"
     "com"},
    {"see\xe2\x80\xa6"
     "evil.example/x \xe2\x80\xa2"
     "evil.example?x",
     "uhttps://evil.example/x;uhttps://evil.example?x"},
    {"links begin with https:// and not http:// or `https://)", ""},
    {"https://\nevil.example https://\"x.evil.example", "uhttps://;uhttps://"},
    /* versions, and names of files whose ending is no domain */
    {"lodash@4.17.21 react@18 checkout@v4 bo@10.0.0.1 bo@3221226219 bo@1.example", "ebo@10.0.0.1;ebo@3221226219;ebo@1.example"},
    {"Node.js/React a.csv/b.CSV page.html#top main.py#L3", "uhttps://main.py#L3"},
    /* emphasis and lists in front of `www.`; shares */
    {"_www.evil.example_ -www.evil.example a_www.b.example", "uhttps://www.evil.example;uhttps://www.evil.example"},
    {"file:\\\\evil.example\\x smb:/\\evil.example/x C:\\\\x.yz\\y path:\\\\files\\x",
     "uhttps://evil.example\\x;uhttps://evil.example/x"},
};

static void text_finds(void **state) {
    (void)state;
    policy_memory m;
    il_arena a;
    policy_memory_init(&m);
    il_arena_init(&a, &m.alloc, 1 << 22);
    for (size_t i = 0; i < sizeof text_rows / sizeof text_rows[0]; i++) {
        text_seen seen = {.n = 0};
        il_error err = {0};
        assert_int_equal(il_text_destinations(il_str_of(text_rows[i].text), &a, text_found, &seen, &err), IL_OK);
        if (strcmp(seen.text, text_rows[i].found) != 0) {
            fail_msg("`%s`\n found `%s`\n  want `%s`", text_rows[i].text, seen.text, text_rows[i].found);
        }
    }
    il_arena_free(&a);
}

static void text_nested(void **state) {
    (void)state;
    static const struct {
        const char *url, *found;
    } rows[] = {
        {"https://a.example/", ""},
        {"https://a.example/caf%C3%A9?x=1&y=a:b", ""},
        {"https://a.example/?u=https%3A%2F%2Fevil.example", "uhttps://evil.example"},
        {"https://a.example/?u=%2F%2Fevil.example", "uhttps://evil.example"},
        {"https://a.example/x?m=bo@corp.example", ""},
        {"https://a.example/?u=https%3Aevil.example", "u!"},
        /* a redirect's target without its scheme */
        {"https://a.example/r?u=evil.example/x", "uhttps://evil.example/x"},
        {"https://a.example/r?k=1&u=evil.example:8080/x&v=2", "uhttps://evil.example:8080/x&v=2"},
        {"https://a.example/r?evil.example/x", "uhttps://evil.example/x"},
        {"https://a.example/r#u=evil.example?k=1", "uhttps://evil.example?k=1"},
        {"https://a.example/r?u=evil.example%2Fx", "uhttps://evil.example/x"},
        {"https://a.example/r?u=192.0.2.7/x", "uhttps://192.0.2.7/x"},
        {"https://a.example/b.example/x", ""},
        {"https://a.example/r?q=example.com&file=README.md&sort=user.name&v=1.2/3", ""},
        {"https://a.example/r?path=src/a.py&f=Node.js/React", ""},
        {"https://a.example/?f=main.js/x&d=data:a,b&t=tel:1", ""},
    };
    policy_memory m;
    il_arena a;
    policy_memory_init(&m);
    il_arena_init(&a, &m.alloc, 1 << 22);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        text_seen seen = {.n = 0};
        il_error err = {0};
        assert_int_equal(il_text_nested(il_str_of(rows[i].url), &a, text_found, &seen, &err), IL_OK);
        assert_string_equal(seen.text, rows[i].found);
    }
    il_arena_free(&a);
}

/* Many finds end with a limit, and long hostile text takes linear time. */
static void text_limits(void **state) {
    (void)state;
    policy_memory m;
    il_arena a;
    policy_memory_init(&m);
    il_arena_init(&a, &m.alloc, (size_t)64 << 20);
    static char text[400000];
    for (size_t i = 0; i + 8 < sizeof text; i += 8) {
        memcpy(text + i, "x@y.zz, ", 8);
    }
    text_seen seen = {.n = 0};
    il_error err = {0};
    assert_int_equal(il_text_destinations((il_str){text, sizeof text - 1}, &a, text_found, &seen, &err), IL_E_LIMIT);
    assert_true(seen.count <= IL_TEXT_FOUND_MAX);
    memset(text, '%', sizeof text);
    assert_int_equal(il_text_destinations((il_str){text, sizeof text}, &a, text_found, &seen, &err), IL_OK);
    memset(text, '@', sizeof text);
    assert_int_equal(il_text_destinations((il_str){text, sizeof text}, &a, text_found, &seen, &err), IL_OK);
    memset(text, '/', sizeof text);
    assert_int_equal(il_text_destinations((il_str){text, sizeof text}, &a, text_found, &seen, &err), IL_OK);
    for (size_t i = 0; i < sizeof text; i += 2) {
        text[i] = '\n';
    }
    assert_int_equal(il_text_destinations((il_str){text, sizeof text}, &a, text_found, &seen, &err), IL_OK);
    for (size_t i = 0; i + 5 <= sizeof text; i += 5) {
        memcpy(text + i, "(a.bb", 5);
    }
    text[sizeof text - 1] = '/';
    assert_int_equal(il_text_destinations((il_str){text, sizeof text}, &a, text_found, &seen, &err), IL_OK);
    for (size_t i = 0; i + 10 <= sizeof text; i += 10) {
        memcpy(text + i, i < sizeof text / 2 ? "(1.2/(3.4?" : "data:data:", 10);
    }
    assert_int_equal(il_text_destinations((il_str){text, sizeof text}, &a, text_found, &seen, &err), IL_OK);
    memset(text, 'A', sizeof text);
    assert_int_equal(il_text_destinations((il_str){text, sizeof text}, &a, text_found, &seen, &err), IL_OK);
    il_arena_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(text_finds), cmocka_unit_test(text_nested),
                                       cmocka_unit_test(text_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
