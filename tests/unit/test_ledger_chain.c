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
    il_chain_hash(before, row, hash);
    il_digest_hex(hash, out);
}

/* The bytes under the hash are part of the format: this value was computed by Python's hashlib over the layout that docs/formats.md gives. */
static void test_known(void **state) {
    (void)state;
    const uint8_t zeros[IL_DIGEST_BYTES] = {0};
    char got[IL_DIGEST_HEX];
    chain_of(&chain_row, zeros, got);
    assert_string_equal(got, "b9127a0bf4cf653d6faadefbe01c326bb9c58abfef137679f713fd9a172a6092");
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
