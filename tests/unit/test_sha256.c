/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"
#include "base/str.h"

static void digest_is(const uint8_t digest[IL_DIGEST_BYTES], const char *want) {
    char hex[IL_DIGEST_HEX];
    il_digest_hex(digest, hex);
    assert_string_equal(hex, want);
}

/* FIPS 180-4 examples (NIST), and the million a. */
static void sha256_published_vectors(void **state) {
    (void)state;
    uint8_t d[IL_DIGEST_BYTES];
    il_sha256_of(IL_STR(""), d);
    digest_is(d, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    il_sha256_of((il_str){NULL, 0}, d);
    digest_is(d, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    il_sha256_of(IL_STR("abc"), d);
    digest_is(d, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    il_sha256_of(IL_STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), d);
    digest_is(d, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    il_sha256 s;
    char many[1000];
    memset(many, 'a', sizeof many);
    il_sha256_init(&s, NULL);
    for (int i = 0; i < 1000; i++) {
        il_sha256_add(&s, many, sizeof many);
    }
    il_sha256_end(&s, d);
    digest_is(d, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Byte i of the text is (7 i + n) mod 256; the digests come from CPython's hashlib. Lengths around the padding's edges. */
static void sha256_every_padding_length(void **state) {
    (void)state;
    static const struct {
        size_t n;
        const char *want;
    } cases[] = {
        {0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {1, "4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"},
        {55, "81afe5b788dc2ce138ff83d9b20164db75a94d75d2b2432eea4a0ef605088c72"},
        {56, "2aba54f0ac632420a2b502431408866e40e1d5e430df4cd822642c78ab2eb9c1"},
        {57, "903284efbf9100e8ba1614ec65eacacad125e03f857cae7acbf8b73b23e0fdfe"},
        {63, "733d3d4ee79ee67145bf73da13588f6f235d37414fc64b14a2f00f1762792f5e"},
        {64, "79322907b3e9d013d7dc2c2f256674dbf733045cde01df3539271c6f5605feb8"},
        {65, "d85c007c6eb440f085afa2b84f6f2bce4658b240e9f62cb1364bf0485a57e720"},
        {111, "b41ae5233b9ec35d8576a032034d2857b667a618c7038714d727d4dae3aa2525"},
        {119, "6c87eedf096b345de205b702e5223b73b447a3207791ded3ea007ba15ed6736e"},
        {120, "42500cf6a1e3936d6b9e0bcfe296d654b63255e525487d3634d0b15fde591c4d"},
        {127, "68f6ff710276900c0ffbbc57426f67e00c2e01f0750c7edc25ac06b8ce7a8095"},
        {128, "489d55fea9a73af36b6dd0be7b4117d8e5683386d39544e8a44c99a87f368707"},
        {129, "4e1556b2e9a50a3cc9478f3254727b01065f9ac5d2c3a8b4cd538ae7240bb87d"},
        {1000, "6b0df76627243d095b0c4400cb658b7e804dd03461cc03aee8fc8fe0bcada168"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000];
        uint8_t d[IL_DIGEST_BYTES];
        for (size_t k = 0; k < cases[i].n; k++) {
            text[k] = (char)(unsigned char)((k * 7 + cases[i].n) % 256);
        }
        il_sha256_of((il_str){text, cases[i].n}, d);
        digest_is(d, cases[i].want);
    }
}

static void sha256_pieces_equal_the_whole(void **state) {
    (void)state;
    char text[300];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (char)(i * 31);
    }
    uint8_t whole[IL_DIGEST_BYTES];
    il_sha256_of((il_str){text, sizeof text}, whole);
    for (size_t step = 1; step <= sizeof text; step++) {
        il_sha256 s;
        uint8_t d[IL_DIGEST_BYTES];
        il_sha256_init(&s, NULL);
        for (size_t at = 0; at < sizeof text; at += step) {
            il_sha256_add(&s, text + at, sizeof text - at < step ? sizeof text - at : step);
            il_sha256_add(&s, NULL, 0);
        }
        il_sha256_end(&s, d);
        assert_true(il_digest_eq(d, whole));
    }
}

static size_t sha256_seen;
static void sha256_counts(uint32_t state[8], const uint8_t *blocks, size_t nblocks) {
    (void)blocks;
    sha256_seen += nblocks;
    state[7] ^= 1;
}

/* A host's block function gets every block, the padding's too, and nothing else does: it alone makes the digest. */
static void sha256_blocks_are_the_hosts(void **state) {
    (void)state;
    static const char text[300];
    static const uint8_t first[] = {0x6a, 0x09, 0xe6, 0x67};
    for (size_t n = 0; n <= sizeof text; n++) {
        il_sha256 s;
        uint8_t d[IL_DIGEST_BYTES];
        sha256_seen = 0;
        il_sha256_init(&s, sha256_counts);
        il_sha256_add(&s, text, n / 3);
        il_sha256_add(&s, text, n - n / 3);
        il_sha256_end(&s, d);
        assert_int_equal(sha256_seen, (n + 8) / 64 + 1);
        assert_memory_equal(d, first, sizeof first);
    }
}

static void sha256_eq_sees_every_bit(void **state) {
    (void)state;
    uint8_t a[IL_DIGEST_BYTES] = {0};
    uint8_t b[IL_DIGEST_BYTES] = {0};
    assert_true(il_digest_eq(a, b));
    for (size_t bit = 0; bit < 8 * IL_DIGEST_BYTES; bit++) {
        b[bit / 8] = (uint8_t)(1u << bit % 8);
        assert_false(il_digest_eq(a, b));
        b[bit / 8] = 0;
    }
}

static void sha256_hex_is_read_back(void **state) {
    uint8_t digest[IL_DIGEST_BYTES], back[IL_DIGEST_BYTES];
    char hex[IL_DIGEST_HEX + 1] = {0};
    (void)state;
    for (unsigned first = 0; first < 256; first++) {
        for (size_t i = 0; i < IL_DIGEST_BYTES; i++) {
            digest[i] = (uint8_t)(first + 37 * i);
        }
        il_digest_hex(digest, hex);
        assert_true(il_digest_read(il_str_of(hex), back));
        assert_true(il_digest_eq(digest, back));
    }
    for (size_t i = 0; i < IL_DIGEST_HEX - 1; i++) { /* no character but those */
        static const char others[] = "/:`gAF \n";
        const char was = hex[i];
        for (size_t c = 0; c < sizeof others; c++) {
            hex[i] = others[c];
            assert_false(il_digest_read((il_str){hex, IL_DIGEST_HEX - 1}, back));
        }
        hex[i] = was;
    }
    assert_false(il_digest_read((il_str){hex, IL_DIGEST_HEX - 2}, back));
    hex[IL_DIGEST_HEX - 1] = '0';
    assert_false(il_digest_read((il_str){hex, IL_DIGEST_HEX}, back));
    assert_false(il_digest_read((il_str){NULL, 0}, back));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_published_vectors),      cmocka_unit_test(sha256_every_padding_length),
        cmocka_unit_test(sha256_pieces_equal_the_whole), cmocka_unit_test(sha256_blocks_are_the_hosts),
        cmocka_unit_test(sha256_eq_sees_every_bit),      cmocka_unit_test(sha256_hex_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
