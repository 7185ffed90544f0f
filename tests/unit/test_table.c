/* SPDX-License-Identifier: Apache-2.0 */
/* The sealed bytes: equal for equal machines, refused when any byte differs; the step function that runs them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"
#include "helper_machine.h"

static machine_case sealed;

static int table_setup(void **state) {
    (void)state;
    machine_harden(&sealed, MACHINE_TRIFECTA, NULL, 0);
    return sealed.h.fully_mediated ? 0 : -1;
}

static int table_teardown(void **state) {
    (void)state;
    machine_free(&sealed);
    return 0;
}

static il_status table_try(il_str table, il_str certificate) {
    il_machine *m = NULL;
    il_error err = {0};
    il_status s = il_machine_open(&sealed.memory.alloc, table, certificate, &m, &err);
    assert_int_equal(m != NULL, s == IL_OK);
    assert_true(s == IL_OK || err.msg[0]);
    il_machine_free(m);
    return s;
}

static void test_opens(void **state) {
    (void)state;
    assert_int_equal(table_try(sealed.h.table, sealed.h.certificate), IL_OK);
}

static void test_two_builds_same_bytes(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, NULL, 0);
    assert_true(il_str_eq(c.h.table, sealed.h.table));
    assert_true(il_str_eq(c.h.certificate, sealed.h.certificate));
    machine_free(&c);
}

static void test_any_flipped_bit_of_the_certificate_is_refused(void **state) {
    (void)state;
    il_str c = sealed.h.certificate;
    char copy[256];
    assert_true(c.n < sizeof copy);
    memcpy(copy, c.p, c.n);
    for (size_t i = 0; i < c.n; i++) {
        for (int bit = 0; bit < 8; bit++) {
            copy[i] = (char)(c.p[i] ^ (1 << bit));
            assert_int_not_equal(table_try(sealed.h.table, (il_str){copy, c.n}), IL_OK);
        }
        copy[i] = c.p[i];
    }
}

static void test_any_truncation_is_refused(void **state) {
    (void)state;
    for (size_t n = 0; n < 600; n++) {
        assert_int_not_equal(table_try((il_str){sealed.h.table.p, n}, sealed.h.certificate), IL_OK);
    }
    assert_int_not_equal(table_try((il_str){sealed.h.table.p, sealed.h.table.n - 1}, sealed.h.certificate), IL_OK);
    for (size_t n = 0; n < sealed.h.certificate.n; n++) {
        assert_int_not_equal(table_try(sealed.h.table, (il_str){sealed.h.certificate.p, n}), IL_OK);
    }
}

/* The seal shows that bytes are whole, not that they are right: with a fresh seal over changed bytes the structure still must hold. */
static void test_resealed_nonsense_is_refused(void **state) {
    (void)state;
    il_str t = sealed.h.table;
    char *copy = malloc(t.n);
    assert_non_null(copy);
    uint32_t refused = 0;
    uint32_t tried = 0;
    for (size_t i = 0; i < t.n - IL_DIGEST_BYTES; i += i < 1024 ? 1 : 331) {
        memcpy(copy, t.p, t.n);
        copy[i] = (char)(copy[i] ^ 0x40);
        uint8_t seal[IL_DIGEST_BYTES];
        il_sha256_of((il_str){copy, t.n - IL_DIGEST_BYTES}, seal);
        memcpy(copy + t.n - IL_DIGEST_BYTES, seal, sizeof seal);
        tried++;
        refused += table_try((il_str){copy, t.n}, sealed.h.certificate) != IL_OK; /* the certificate is another table's */
        il_machine *m = NULL;
        if (il_table_open(&sealed.memory.alloc, (il_str){copy, t.n}, &m, NULL) ==
            IL_OK) { /* may pass; must then be safe to step */
            for (uint32_t k = 0; k < il_machine_states(m); k += 7) {
                for (uint32_t s = 0; s < il_machine_symbols(m); s++) {
                    il_step step = il_machine_step(m, il_machine_state(m, k), s);
                    assert_true(step.verdict == IL_ACCEPT ||
                                (step.verdict == IL_REJECT && step.reason > 0 && step.next == il_machine_state(m, k)));
                }
            }
            il_machine_free(m);
        }
    }
    assert_int_equal(refused, tried);
    free(copy);
}

static void test_certificate_must_claim_everything(void **state) {
    (void)state;
    for (int missing = -1; missing < 5; missing++) {
        il_claims c = {.states = sealed.h.states,
                       .symbols = sealed.m->nsymbols,
                       .edges = sealed.h.edges,
                       .depth = sealed.h.depth,
                       .from_init = missing != 0,
                       .mediation = missing != 1,
                       .havoc = missing != 2,
                       .gates = missing != 3,
                       .laundering = missing != 4};
        memcpy(c.table, sealed.h.table_digest, sizeof c.table);
        il_str bytes = {0};
        assert_int_equal(il_certificate_build(&sealed.arena, &c, &bytes, NULL), IL_OK);
        assert_int_equal(table_try(sealed.h.table, bytes), missing < 0 ? IL_OK : IL_E_SEAL);
        il_claims back;
        assert_int_equal(il_certificate_read(bytes, &back, NULL), IL_OK);
        assert_int_equal(back.edges, c.edges);
        assert_int_equal(back.laundering, c.laundering);
        c.edges++;
        assert_int_equal(il_certificate_build(&sealed.arena, &c, &bytes, NULL), IL_OK);
        assert_int_equal(table_try(sealed.h.table, bytes), IL_E_SEAL);
    }
}

/* A table that enters a forbidden region is refused even with a certificate that claims otherwise. */
static void test_forbidden_table_is_refused(void **state) {
    (void)state;
    machine_case c;
    const machine_edit edits[] = {{"both: \"next.untrusted != 'none' && next.sensitive != 'none'\"",
                                   "both: \"pre.untrusted != 'none' && pre.sensitive != 'none'\""},
                                  {NULL, NULL}};
    machine_harden(&c, MACHINE_TRIFECTA, edits, 0);
    assert_int_equal(c.h.certificate.n, 0);
    il_claims claims = {.states = c.h.states,
                        .symbols = c.m->nsymbols,
                        .edges = c.h.edges,
                        .depth = c.h.depth,
                        .from_init = true,
                        .mediation = true,
                        .havoc = true,
                        .gates = true,
                        .laundering = true};
    memcpy(claims.table, c.h.table_digest, sizeof claims.table);
    il_str forged = {0};
    assert_int_equal(il_certificate_build(&c.arena, &claims, &forged, NULL), IL_OK);
    il_error err = {0};
    il_machine *m = NULL;
    assert_int_equal(il_machine_open(&c.memory.alloc, c.h.table, forged, &m, &err), IL_E_SEAL);
    assert_string_equal(err.msg, "the table does not verify: it enters a forbidden region; build it again");
    machine_free(&c);
}

static void test_every_rejected_cell_keeps_the_state(void **state) {
    (void)state;
    il_machine *m = NULL;
    assert_int_equal(il_machine_open(&sealed.memory.alloc, sealed.h.table, sealed.h.certificate, &m, NULL), IL_OK);
    uint32_t rejected = 0;
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < il_machine_states(m); i++) {
        for (uint32_t s = 0; s < il_machine_symbols(m); s++) {
            il_step step = il_machine_step(m, il_machine_state(m, i), s);
            if (step.verdict == IL_ACCEPT) {
                accepted++;
                assert_int_equal(step.reason, 0);
            } else {
                rejected++;
                assert_int_equal(step.verdict, IL_REJECT);
                assert_int_equal(step.next, il_machine_state(m, i));
                assert_true(il_machine_reason(m, step.reason).n > 0);
            }
        }
    }
    assert_int_equal(accepted, 7065);
    assert_int_equal(rejected, 330 * 63 - 7065);
    il_machine_free(m);
}

static void test_off_table_and_unknown(void **state) {
    (void)state;
    il_machine *m = NULL;
    assert_int_equal(il_machine_open(&sealed.memory.alloc, sealed.h.table, sealed.h.certificate, &m, NULL), IL_OK);
    uint32_t on = 0;
    for (uint64_t x = 0; x < UINT64_C(1) << (sealed.m->bits + 1);
         x++) { /* every packed value, and as many with a bit that no variable has */
        il_step s = il_machine_step(m, x, 0);
        if (s.verdict == IL_REJECT && s.reason == IL_REASON_OFF_TABLE) {
            assert_int_equal(s.next, x);
        } else {
            on++;
        }
    }
    assert_int_equal(on, 330);
    assert_int_equal(il_machine_step(m, UINT64_MAX, 0).reason, IL_REASON_OFF_TABLE);
    const uint32_t unknown[] = {63, 64, IL_NO_SYMBOL};
    for (size_t i = 0; i < 3; i++) {
        il_step s = il_machine_step(m, il_machine_initial(m), unknown[i]);
        assert_int_equal(s.verdict, IL_REJECT);
        assert_int_equal(s.reason, IL_REASON_NO_SYMBOL);
        assert_int_equal(s.next, il_machine_initial(m));
    }
    assert_int_equal(il_machine_step(NULL, 5, 0).verdict, IL_REJECT);
    assert_int_equal(il_machine_step(NULL, 5, 0).next, 5);
    assert_true(il_str_eq(il_machine_reason(m, IL_REASON_OFF_TABLE), IL_STR("off-table")));
    assert_true(il_str_eq(il_machine_reason(m, IL_REASON_NO_SYMBOL), IL_STR("no-symbol")));
    assert_int_equal(il_machine_reason(m, 0).n, 0);
    assert_int_equal(il_machine_reason(m, 200).n, 0);
    il_machine_free(m);
}

static void test_names(void **state) {
    (void)state;
    il_machine *m = NULL;
    assert_int_equal(il_machine_open(&sealed.memory.alloc, sealed.h.table, sealed.h.certificate, &m, NULL), IL_OK);
    assert_true(il_str_eq(il_machine_name(m), IL_STR("trifecta")));
    assert_int_equal(il_machine_vars(m), 8);
    assert_true(il_str_eq(il_machine_var_name(m, 6), IL_STR("granted")));
    assert_int_equal(il_machine_var_find(m, IL_STR("phase")), 7);
    assert_int_equal(il_machine_var_find(m, IL_STR("phases")), UINT32_MAX);
    assert_true(il_str_eq(il_machine_value_name(m, 0, 1), IL_STR("fresh")));
    assert_true(il_str_eq(il_machine_value_name(m, 5, 2), IL_STR("2")));
    assert_int_equal(il_machine_value_name(m, 5, 3).n, 0);
    assert_int_equal(il_machine_var_name(m, 8).n, 0);
    const il_payload p[] = {{IL_STR("untrusted"), IL_STR("true")},
                            {IL_STR("sensitive"), IL_STR("false")},
                            {IL_STR("egress"), IL_STR("once")},
                            {IL_STR("approved"), IL_STR("false")}};
    uint32_t s = il_machine_action_symbol(m, IL_STR("admit"), p, 4);
    char text[128];
    assert_int_equal(il_machine_symbol_text(m, s, text, sizeof text),
                     strlen("admit{untrusted=true,sensitive=false,egress=once,approved=false}"));
    assert_string_equal(text, "admit{untrusted=true,sensitive=false,egress=once,approved=false}");
    assert_int_equal(il_machine_symbol_text(m, s, text, 6), 5);
    assert_string_equal(text, "admit");
    assert_int_equal(il_machine_symbol_text(m, IL_NO_SYMBOL, text, sizeof text), 0);
    il_step step = il_machine_step(m, il_machine_initial(m), s);
    assert_int_equal(il_machine_value(m, step.next, 0), 1);
    assert_int_equal(il_machine_value(m, step.next, 2), 1);
    assert_int_equal(il_machine_action_symbol(m, IL_STR("admit"), p, 3), IL_NO_SYMBOL);
    assert_int_equal(il_machine_action_symbol(m, IL_STR("admits"), p, 4), IL_NO_SYMBOL);
    const il_payload twice[] = {p[0], p[0], p[1], p[2]};
    assert_int_equal(il_machine_action_symbol(m, IL_STR("admit"), twice, 4), IL_NO_SYMBOL);
    const il_payload odd[] = {p[0], p[1], {IL_STR("egress"), IL_STR("twice")}, p[3]};
    assert_int_equal(il_machine_action_symbol(m, IL_STR("admit"), odd, 4), IL_NO_SYMBOL);
    assert_int_not_equal(il_machine_action_symbol(m, IL_STR("request"), NULL, 0), IL_NO_SYMBOL);
    for (uint8_t r = 1; r <= 12; r++) {
        assert_int_equal(il_machine_releasable(m, r), il_str_eq(il_machine_reason(m, r), IL_STR("lethal-trifecta")));
    }
    uint8_t digest[IL_DIGEST_BYTES];
    il_machine_digest(m, digest);
    assert_memory_equal(digest, sealed.h.table.p + sealed.h.table.n - IL_DIGEST_BYTES, IL_DIGEST_BYTES);
    il_machine_free(m);
    il_machine_free(NULL);
}

static void test_out_of_memory(void **state) {
    (void)state;
    size_t n = 0;
    for (;; n++) {
        test_memory memory;
        test_memory_init(&memory, n);
        il_machine *m = NULL;
        il_error err = {0};
        il_status s = il_machine_open(&memory.alloc, sealed.h.table, sealed.h.certificate, &m, &err);
        if (s == IL_OK) {
            il_machine_free(m);
            assert_int_equal(memory.live, 0);
            break;
        }
        assert_int_equal(s, IL_E_MEMORY);
        assert_int_equal(err.code, IL_E_MEMORY);
        assert_null(m);
        assert_int_equal(memory.live, 0);
        assert_true(n < 1000);
    }
    assert_true(n >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opens),
        cmocka_unit_test(test_two_builds_same_bytes),
        cmocka_unit_test(test_any_flipped_bit_of_the_certificate_is_refused),
        cmocka_unit_test(test_any_truncation_is_refused),
        cmocka_unit_test(test_resealed_nonsense_is_refused),
        cmocka_unit_test(test_certificate_must_claim_everything),
        cmocka_unit_test(test_forbidden_table_is_refused),
        cmocka_unit_test(test_every_rejected_cell_keeps_the_state),
        cmocka_unit_test(test_off_table_and_unknown),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, table_setup, table_teardown);
}
