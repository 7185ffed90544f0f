/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses against inet_pton and inet_ntop where they mean the same, and tables for what they do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "base/ip.h"
#include "helper_json.h"

static size_t rounds(size_t some) { return getenv("IL_TEST_THOROUGH") != NULL ? some * 10 : some; }

static il_ip ip_of(const char *text) {
    il_ip ip;
    if (!il_ip_parse(il_str_of(text), &ip)) {
        fail_msg("%s is refused", text);
    }
    return ip;
}

static il_cidr cidr_of(const char *text) {
    il_cidr c;
    if (!il_cidr_parse(il_str_of(text), &c)) {
        fail_msg("%s is refused", text);
    }
    return c;
}

static void text_is(const char *text, const char *want) {
    const il_ip ip = ip_of(text);
    char out[IL_IP_TEXT];
    const size_t n = il_ip_text(&ip, out);
    const il_str got = {out, n};
    if (!il_str_eq(got, il_str_of(want))) {
        fail_msg("%s: got %.*s, want %s", text, (int)got.n, got.p, want);
    }
    assert_true(il_ip_canonical(il_str_of(want)));
    assert_int_equal(il_ip_canonical(il_str_of(text)), strcmp(text, want) == 0);
}

/* The texts of RFC 5952 and the forms of RFC 4291. */
static void ip_texts(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {{"0.0.0.0", "0.0.0.0"},
                 {"255.255.255.255", "255.255.255.255"},
                 {"10.20.30.4", "10.20.30.4"},
                 {"::", "::"},
                 {"0:0:0:0:0:0:0:0", "::"},
                 {"::1", "::1"},
                 {"1::", "1::"},
                 {"2001:db8::", "2001:db8::"},
                 {"2001:DB8::68", "2001:db8::68"},
                 {"2001:0db8::0001", "2001:db8::1"},
                 {"2001:db8:0:0:0:0:2:1", "2001:db8::2:1"},
                 {"2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
                 {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
                 {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
                 {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
                 {"1:0:0:2:0:0:0:0", "1:0:0:2::"},
                 {"0:0:1:2:3:4:5:6", "::1:2:3:4:5:6"},
                 {"1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"},
                 {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
                 {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
                 {"64:ff9b::192.0.2.33", "64:ff9b::c000:221"},
                 {"::192.0.2.33", "::c000:221"},
                 {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
                 {"::ffff:c0a8:1", "192.168.0.1"},
                 {"0:0:0:0:0:FFFF:c0a8:1", "192.168.0.1"},
                 {"::fffe:c0a8:1", "::fffe:c0a8:1"},
                 {"::ffff:0:1.2.3.4", "::ffff:0:102:304"},
                 {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text_is(cases[i].text, cases[i].want);
    }
}

static void ip_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      ".",
                                      "1",
                                      "1.2.3",
                                      "1.2.3.",
                                      "1.2.3.4.",
                                      ".1.2.3.4",
                                      "1.2.3.4.5",
                                      "1..3.4",
                                      "256.1.1.1",
                                      "1.2.3.256",
                                      "1.2.3.1000",
                                      "01.2.3.4",
                                      "1.2.3.00",
                                      "1.2.3.04",
                                      "0x1.2.3.4",
                                      "1.2.3.4 ",
                                      " 1.2.3.4",
                                      "1.2.3.-4",
                                      "1.2.3.+4",
                                      "1.2.3.a",
                                      "1,2,3,4",
                                      "192.168.0.1.0",
                                      "4294967296.1.1.1",
                                      "99999999999999999999.1.1.1",
                                      "127.1",
                                      "2130706433",
                                      ":",
                                      ":::",
                                      "1:",
                                      ":1",
                                      "1::2::3",
                                      "::1::",
                                      "1:2:3:4:5:6:7",
                                      "1:2:3:4:5:6:7:8:9",
                                      "1:2:3:4:5:6:7:8::",
                                      "::1:2:3:4:5:6:7:8",
                                      "1:2:3:4::5:6:7:8",
                                      "2001:db8:::68",
                                      "12345::",
                                      "1:g::",
                                      "::00001",
                                      "fe80::1%en0",
                                      "fe80::1%",
                                      "[::1]",
                                      "::1/128",
                                      "::ffff:192.168.0.1",
                                      "0:0:0:0:0:ffff:1.2.3.4",
                                      "::FFFF:1.2.3.4",
                                      "::1.2.3",
                                      "::1.2.3.4.5",
                                      "::01.2.3.4",
                                      "1.2.3.4::",
                                      "::1.2.3.4:5",
                                      "1:2:3:4:5:6:7:1.2.3.4",
                                      "::1.2.3.256",
                                      "1:2:3:4:5:1.2.3.4",
                                      "::-1",
                                      "::+1",
                                      "::0x1",
                                      ":: ",
                                      "1.2.3.4:80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        il_ip ip;
        if (il_ip_parse(il_str_of(bad[i]), &ip)) {
            fail_msg("%s is accepted", bad[i]);
        }
        assert_false(il_ip_canonical(il_str_of(bad[i])));
    }
    il_ip ip;
    assert_false(il_ip_parse((il_str){"1.2.3.4\0", 8}, &ip));
    assert_false(il_ip_parse((il_str){NULL, 0}, &ip));
    uint16_t groups[8];
    assert_false(il_ip6_parse(IL_STR("::1.2.3.4"), groups));
    assert_false(il_ip6_parse(IL_STR("1.2.3.4"), groups));
    assert_true(il_ip6_parse(IL_STR("::ffff:102:304"), groups) && groups[5] == 0xffff && groups[6] == 0x102 &&
                groups[7] == 0x304);
}

/* A text that is an address or nearly one. */
static size_t random_text(test_random *r, char out[128]) {
    static const char *const parts[] = {":",   "::",  ".",  "0",  "1",    "ffff",    "a",     "F0",
                                        "255", "256", "00", "12", "1234", "1.2.3.4", "12345", "%1"};
    size_t n = 0;
    out[0] = '\0';
    if (test_random_below(r, 2) == 0) { /* groups in order, and then perhaps a change */
        const uint32_t groups = test_random_below(r, 3) == 0 ? 7 + test_random_below(r, 3) : 1 + test_random_below(r, 8);
        const bool gap = groups < 8 && test_random_below(r, 4) != 0;
        const uint32_t where = test_random_below(r, groups + 1);
        for (uint32_t i = 0; i <= groups; i++) {
            if (gap && i == where) {
                n += (size_t)snprintf(out + n, 128 - n, "%s", i == groups || i == 0 ? "::" : ":");
            }
            if (i == groups) {
                break;
            }
            n += (size_t)snprintf(out + n, 128 - n, test_random_below(r, 8) == 0 ? "%04x" : "%x",
                                  test_random_below(r, 3) == 0 ? 0 : test_random_below(r, 1u << 16));
            if (i + 1 < groups) {
                n += (size_t)snprintf(out + n, 128 - n, ":");
            }
        }
        if (test_random_below(r, 3) == 0 && n > 0) {
            out[test_random_below(r, (uint32_t)n)] = "0:.fg1"[test_random_below(r, 6)];
        }
        return n;
    }
    for (uint32_t k = 1 + test_random_below(r, 12); k > 0 && n < 100; k--) {
        n += (size_t)snprintf(out + n, 128 - n, "%s", parts[test_random_below(r, sizeof parts / sizeof *parts)]);
    }
    return n;
}

static bool oracle(const char *text, il_ip *out) {
    *out = (il_ip){.family = 4};
    if (inet_pton(AF_INET, text, out->bytes) == 1) {
        return true;
    }
    uint8_t bytes[16];
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (inet_pton(AF_INET6, text, bytes) != 1) {
        return false;
    }
    if (memcmp(bytes, mapped, sizeof mapped) == 0) {
        memcpy(out->bytes, bytes + 12, 4);
        return strchr(text, '.') == NULL;
    }
    out->family = 6;
    memcpy(out->bytes, bytes, sizeof bytes);
    return true;
}

static void ip_agrees_with_pton(void **state) {
    (void)state;
    test_random r = {test_random_seed("ip")};
    size_t good[2] = {0}, refused = 0, differs = 0;
    for (size_t i = 0; i < rounds(100000); i++) {
        char text[128], out[IL_IP_TEXT], theirs[64];
        const size_t n = random_text(&r, text);
        il_ip want, got;
        const bool is = oracle(text, &want), mine = il_ip_parse((il_str){text, n}, &got);
        if (is != mine || (is && !il_ip_eq(&want, &got))) {
            fail_msg("%s: inet_pton says %d, we say %d", text, is, mine);
        }
        if (!is) {
            refused++;
            continue;
        }
        good[got.family == 6]++;
        const size_t len = il_ip_text(&got, out);
        assert_non_null(inet_ntop(got.family == 4 ? AF_INET : AF_INET6, got.bytes, theirs, sizeof theirs));
        if (strchr(theirs, '.') != NULL && got.family == 6) {
            continue; /* glibc writes the last 32 bits of ::/96 dotted; RFC 5952 section 5 leaves that to knowledge of the prefix */
        }
        if (!il_str_eq((il_str){out, len}, il_str_of(theirs))) {
            fail_msg("%s: inet_ntop writes %s, we write %.*s", text, theirs, (int)len, out);
        }
    }
    /* the texts are of all three kinds, or the agreement says nothing */
    assert_true(good[1] > 1000 && refused > 1000);
    for (size_t i = 0; i < rounds(20000); i++) { /* dotted ones */
        char text[128];
        const size_t n =
            (size_t)snprintf(text, sizeof text, "%u.%u.%u.%s%u", test_random_below(&r, 300), test_random_below(&r, 300),
                             test_random_below(&r, 260), test_random_below(&r, 10) == 0 ? "0" : "", test_random_below(&r, 260));
        il_ip want, got;
        const bool is = oracle(text, &want);
        assert_true(is == il_ip_parse((il_str){text, n}, &got) && (!is || il_ip_eq(&want, &got)));
        good[0] += is;
        struct in_addr lax;
        differs += is != (inet_aton(text, &lax) != 0);
    }
    assert_true(good[0] > 1000);
    assert_true(differs > 100); /* a reader that takes leading zeros for octal would be seen */
}

/* Checked with Python's ipaddress where it knows the word, else by the rules of Go's net/netip: u unspecified, l loopback, m
 * multicast, w link-local multicast, k link-local unicast, g global unicast. */
static void ip_properties(void **state) {
    (void)state;
    static const struct {
        const char *text, *flags;
    } cases[] = {{"0.0.0.0", "u"},
                 {"0.0.0.1", "g"},
                 {"127.0.0.1", "l"},
                 {"127.255.255.254", "l"},
                 {"126.255.255.255", "g"},
                 {"128.0.0.0", "g"},
                 {"10.0.0.1", "g"},
                 {"192.168.0.1", "g"},
                 {"169.254.169.254", "k"},
                 {"169.253.0.1", "g"},
                 {"169.255.0.1", "g"},
                 {"224.0.0.1", "mw"},
                 {"224.0.0.255", "mw"},
                 {"224.0.1.1", "m"},
                 {"223.255.255.255", "g"},
                 {"239.255.255.255", "m"},
                 {"240.0.0.1", "g"},
                 {"255.255.255.255", ""},
                 {"255.255.255.254", "g"},
                 {"::", "u"},
                 {"::1", "l"},
                 {"::2", "g"},
                 {"::ffff:7f00:1", "l"},
                 {"::7f00:1", "g"},
                 {"2001:db8::abcd", "g"},
                 {"fe80::1", "k"},
                 {"febf::1", "k"},
                 {"fec0::1", "g"},
                 {"fe7f::1", "g"},
                 {"fd00::1", "g"},
                 {"fd80::1", "g"},
                 {"ff00::1", "m"},
                 {"ff02::1", "mw"},
                 {"ff12::1", "mw"},
                 {"ff05::2", "m"},
                 {"feff::1", "g"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const il_ip ip = ip_of(cases[i].text);
        char flags[8];
        size_t n = 0;
        static const struct {
            bool (*is)(const il_ip *);
            char c;
        } all[] = {{il_ip_unspecified, 'u'},          {il_ip_loopback, 'l'},           {il_ip_multicast, 'm'},
                   {il_ip_link_local_multicast, 'w'}, {il_ip_link_local_unicast, 'k'}, {il_ip_global_unicast, 'g'}};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            if (all[k].is(&ip)) {
                flags[n++] = all[k].c;
            }
        }
        flags[n] = '\0';
        if (strcmp(flags, cases[i].flags) != 0) {
            fail_msg("%s: got %s, want %s", cases[i].text, flags, cases[i].flags);
        }
    }
    const il_ip a = ip_of("0.0.0.1"), b = ip_of("::1");
    assert_false(il_ip_eq(&a, &b));
}

static void cidr_texts(void **state) {
    (void)state;
    static const struct {
        const char *text, *want, *masked;
    } good[] = {{"192.168.0.0/24", "192.168.0.0/24", "192.168.0.0/24"},
                {"192.168.0.1/24", "192.168.0.1/24", "192.168.0.0/24"},
                {"10.255.255.255/9", "10.255.255.255/9", "10.128.0.0/9"},
                {"1.2.3.4/0", "1.2.3.4/0", "0.0.0.0/0"},
                {"1.2.3.4/32", "1.2.3.4/32", "1.2.3.4/32"},
                {"2001:DB8::/32", "2001:db8::/32", "2001:db8::/32"},
                {"ffff:ffff::/17", "ffff:ffff::/17", "ffff:8000::/17"},
                {"::1/128", "::1/128", "::1/128"},
                {"::1/127", "::1/127", "::/127"}};
    static const char *const bad[] = {"",
                                      "/",
                                      "/24",
                                      "192.168.0.0/",
                                      "192.168.0.0",
                                      "1.2.3.4/33",
                                      "::/129",
                                      "1.2.3.4/024",
                                      "1.2.3.4/00",
                                      "1.2.3.4/-1",
                                      "1.2.3.4/+1",
                                      "1.2.3.4/ 1",
                                      "1.2.3.4/8 ",
                                      "1.2.3.4/8/8",
                                      "1.2.3.4/1000000000000000000000",
                                      "fe80::1%en0/24",
                                      "fe80::/10%en0",
                                      "::ffff:192.168.0.1/24",
                                      "::ffff:c0a8:1/120",
                                      "1.2.3/8",
                                      "a/8",
                                      "1.2.3.4/255.0.0.0",
                                      "1.2.3.4/0x8"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const il_cidr c = cidr_of(good[i].text), m = il_cidr_masked(&c);
        char out[IL_CIDR_TEXT];
        {
            const size_t n = il_cidr_text(&c, out);
            assert_true(il_str_eq((il_str){out, n}, il_str_of(good[i].want)));
        }
        {
            const size_t n = il_cidr_text(&m, out);
            assert_true(il_str_eq((il_str){out, n}, il_str_of(good[i].masked)));
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        il_cidr c;
        if (il_cidr_parse(il_str_of(bad[i]), &c)) {
            fail_msg("%s is accepted", bad[i]);
        }
    }
    char out[IL_CIDR_TEXT];
    const il_cidr longest = cidr_of("1111:2222:3333:4444:5555:6666:7777:8888/128");
    assert_int_equal(il_cidr_text(&longest, out), IL_CIDR_TEXT);
}

static void cidr_contains(void **state) {
    (void)state;
    static const struct {
        const char *outer, *inner;
        bool is;
    } cases[] = {{"192.168.0.0/24", "192.168.0.1/32", true},
                 {"192.168.0.0/24", "192.168.1.1/32", false},
                 {"192.168.0.0/24", "192.168.0.0/25", true},
                 {"192.168.0.0/24", "192.168.0.0/23", false},
                 {"10.0.0.0/8", "10.0.0.0/8", true},
                 {"10.1.2.3/8", "10.9.0.0/16", true},
                 {"0.0.0.0/0", "255.255.255.255/32", true},
                 {"0.0.0.0/0", "::/128", false},
                 {"::/0", "0.0.0.0/32", false},
                 {"2001:db8::/32", "2001:db8::1/128", true},
                 {"2001:db8::/32", "2001:db8::/33", true},
                 {"2001:db8::/33", "2001:db8:8000::/33", false},
                 {"192.168.1.128/25", "192.168.1.127/32", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const il_cidr outer = cidr_of(cases[i].outer), inner = cidr_of(cases[i].inner);
        if (il_cidr_contains_cidr(&outer, &inner) != cases[i].is) {
            fail_msg("%s contains %s", cases[i].outer, cases[i].inner);
        }
        if (inner.prefix == (inner.ip.family == 4 ? 32 : 128)) {
            assert_int_equal(il_cidr_contains(&outer, &inner.ip), cases[i].is);
        }
    }
    /* against arithmetic on 32 bits */
    test_random r = {test_random_seed("cidr")};
    size_t in = 0;
    for (size_t i = 0; i < rounds(20000); i++) {
        const uint32_t a = test_random_below(&r, 1u << 16) << 16 | test_random_below(&r, 1u << 16),
                       prefix = test_random_below(&r, 33);
        const uint32_t b = a ^ (test_random_below(&r, 8) == 0 ? 0 : 1u << test_random_below(&r, 32));
        const uint32_t mask = prefix == 0 ? 0 : UINT32_MAX << (32 - prefix);
        const il_cidr c = {{.family = 4, .bytes = {(uint8_t)(a >> 24), (uint8_t)(a >> 16), (uint8_t)(a >> 8), (uint8_t)a}},
                           (uint8_t)prefix};
        const il_ip ip = {.family = 4, .bytes = {(uint8_t)(b >> 24), (uint8_t)(b >> 16), (uint8_t)(b >> 8), (uint8_t)b}};
        assert_int_equal(il_cidr_contains(&c, &ip), (a & mask) == (b & mask));
        in += (a & mask) == (b & mask);
        const il_cidr m = il_cidr_masked(&c);
        const uint32_t low = a & mask;
        const uint8_t want[4] = {(uint8_t)(low >> 24), (uint8_t)(low >> 16), (uint8_t)(low >> 8), (uint8_t)low};
        assert_memory_equal(m.ip.bytes, want, 4);
    }
    assert_true(in > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ip_texts),      cmocka_unit_test(ip_refused), cmocka_unit_test(ip_agrees_with_pton),
        cmocka_unit_test(ip_properties), cmocka_unit_test(cidr_texts), cmocka_unit_test(cidr_contains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
