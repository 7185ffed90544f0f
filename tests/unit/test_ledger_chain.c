/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/ledger.h"

#define CHAIN_TEXT(lit) \
    { lit, sizeof(lit) - 1 }
static const il_ledger_row chain_row = {.seq = 1,
                                        .time_ms = 2,
                                        .space = CHAIN_TEXT("session"),
                                        .key = CHAIN_TEXT("abc"),
                                        .kind = CHAIN_TEXT("begin"),
                                        .body = CHAIN_TEXT("{}"),
                                        .ticket = 3};

static void chain_of(const il_ledger_row *row, const uint8_t before[IL_DIGEST_BYTES], char out[IL_DIGEST_HEX]) {
    uint8_t hash[IL_DIGEST_BYTES];
    il_ledger_row whole = *row;
    il_chain_body(row->body, NULL, whole.body_hash);
    il_chain_hash(before, &whole, NULL, hash);
    il_digest_hex(hash, out);
}

/* The bytes under the hash are part of the format: these values were computed by Python's hashlib over the layout that docs/formats.md gives. */
static void test_known(void **state) {
    (void)state;
    const uint8_t zeros[IL_DIGEST_BYTES] = {0};
    char got[IL_DIGEST_HEX];
    uint8_t hash[IL_DIGEST_BYTES];
    chain_of(&chain_row, zeros, got);
    assert_string_equal(got, "71e2a44a256102ee51f03457073af4810b632b0ccb3e3ec9361760aaccefcf70");
    il_chain_hash_1(zeros, &chain_row, NULL, hash);
    il_digest_hex(hash, got);
    assert_string_equal(got, "b9127a0bf4cf653d6faadefbe01c326bb9c58abfef137679f713fd9a172a6092");
    il_ledger_pruned act = {
        .n = 1, .space = IL_STR("session"), .key = IL_STR("abc"), .version = 4, .through = 9, .state = 0x1002};
    memset(act.state_hash, 5, sizeof act.state_hash);
    il_chain_pruned(zeros, &act, NULL, hash);
    il_digest_hex(hash, got);
    assert_string_equal(got, "a300fb8e1d0926bc18ae202207cbbac8667583fca528b5c736a4b9e0ca870845");
}

/* Every column and the row before count, and no two rows are spelt alike. */
static void test_sensitive(void **state) {
    (void)state;
    uint8_t zeros[IL_DIGEST_BYTES] = {0}, other[IL_DIGEST_BYTES] = {1};
    char known[IL_DIGEST_HEX], got[IL_DIGEST_HEX];
    il_ledger_row rows[9];
    chain_of(&chain_row, zeros, known);
    for (size_t i = 0; i < 9; i++) {
        rows[i] = chain_row;
    }
    rows[0].seq = 2;
    rows[1].time_ms = 3;
    rows[2].space = IL_STR("sessiom");
    rows[3].key = IL_STR("abd");
    rows[4].kind = IL_STR("end");
    rows[5].body = IL_STR("{ }");
    rows[6].ticket = 4;
    rows[7].space = IL_STR("sessiona"); /* moved across a border */
    rows[7].key = IL_STR("bc");
    rows[8].kind = IL_STR("begin{");
    rows[8].body = IL_STR("}");
    for (size_t i = 0; i < 9; i++) {
        chain_of(&rows[i], zeros, got);
        assert_string_not_equal(got, known);
    }
    chain_of(&chain_row, other, got);
    assert_string_not_equal(got, known);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known), cmocka_unit_test(test_sensitive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
