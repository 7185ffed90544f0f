/* SPDX-License-Identifier: Apache-2.0 */
/* The words of payloads: reading a symbol and choosing one agree, and a word that cannot be said makes the choice fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_machine.h"

static void vocabulary_open(machine_case *c, const char *path, il_machine **m) {
    il_str table = {0};
    machine_open(c, path, NULL);
    assert_int_equal(il_table_build(&c->arena, c->m, 0, &table, &c->err), IL_OK);
    assert_int_equal(il_table_open(&c->memory.alloc, table, m, &c->err), IL_OK);
}

static void test_round_trip(void **state) {
    (void)state;
    static const char *const paths[] = {MACHINE_TRIFECTA, MACHINE_STANDARD};
    for (size_t i = 0; i < 2; i++) {
        machine_case c;
        il_machine *m = NULL;
        vocabulary_open(&c, paths[i], &m);
        uint32_t exact = 0;
        for (uint32_t s = 0; s < c.m->nsymbols; s++) {
            il_symbol_words w = il_model_words(c.m, s);
            uint32_t back = il_machine_words_symbol(m, c.m->actions[c.m->symbol_action[s]].name, &w);
            assert_int_not_equal(back, IL_NO_SYMBOL);
            exact += back == s;
            il_symbol_words again = il_model_words(c.m, back);
            assert_true(
                machine_words_eq(&w, &again)); /* another symbol only where it says the same: a secret alone says sensitive too */
        }
        /* standard: settle and refine with secret but not sensitive, 2 x 3 and 2 */
        assert_int_equal(exact, i == 0 ? 63 : 213 - 8);
        il_machine_free(m);
        machine_free(&c);
    }
}

typedef struct chosen_row {
    const char *action;
    il_symbol_words words;
    const char *trifecta, *standard; /* the symbol's short word, NULL: none */
} chosen_row;

static void test_chosen_symbols(void **state) {
    (void)state;
    static const chosen_row rows[] = {
        {"admit", {.untrusted = true}, "a{u}", "a{u}"},
        {"admit", {.secret = true}, "a{s}", "a{k}"},
        {"admit", {.commit = true, .egress = IL_SINK_ONCE}, "a{e}", "a{e,c}"},
        {"admit", {.egress = IL_SINK_ONCE, .bound = true}, "a{e}", "a{eb}"},
        {"admit", {.egress = IL_SINK_STANDING, .bound = true, .approved = true}, "a{E,+}", "a{Eb,+}"},
        {"admit", {.last = 1}, NULL, NULL},
        {"admit", {.open = 1}, NULL, NULL},
        {"settle", {.untrusted = true, .sensitive = true, .last = 2}, "se{u,s,last=crossing}", "se{u,s,last=crossing}"},
        {"settle", {.egress = IL_SINK_ONCE}, NULL, NULL},
        {"settle", {.approved = true}, NULL, NULL},
        {"settle", {.commit = true}, "se", "se"},
        {"refine", {.untrusted = true}, "rf{u}", "rf{u}"},
        {"join", {.sensitive = true, .open = 1}, "j{s,o}", "j{s,ob}"},
        {"join", {.secret = true, .flight = 2}, "j{s,f}", "j{k,f}"},
        {"join", {.egress = IL_SINK_STANDING}, NULL, NULL},
        {"request", {0}, "rq", "rq"},
        {"request", {.untrusted = true}, NULL, NULL},
        {"lapse", {.slot = 1}, "lapse{slot=granted}", "lapse{slot=granted}"},
        {"end", {.slot = 1}, NULL, NULL},
        {"unknown", {0}, NULL, NULL},
        {"admit", {.egress = (il_sink_word)9}, NULL, NULL},
        {"join", {.open = 3}, NULL, NULL},
    };
    static const char *const paths[] = {MACHINE_TRIFECTA, MACHINE_STANDARD};
    for (size_t i = 0; i < 2; i++) {
        machine_case c;
        il_machine *m = NULL;
        vocabulary_open(&c, paths[i], &m);
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            const char *want = i == 0 ? rows[k].trifecta : rows[k].standard;
            uint32_t have = il_machine_words_symbol(m, il_str_of(rows[k].action), &rows[k].words);
            if (have != (want ? machine_symbol(c.m, want, strlen(want)) : IL_NO_SYMBOL)) {
                fail_msg("row %zu of %s", k, paths[i]);
            }
        }
        assert_int_equal(il_machine_words_symbol(NULL, IL_STR("admit"), &rows[0].words), IL_NO_SYMBOL);
        il_machine_free(m);
        machine_free(&c);
    }
}

/* A field of a word that the vocabulary does not know: the monitor must not use the action. */
static void test_unknown_field(void **state) {
    (void)state;
    machine_case c;
    il_machine *m = NULL;
    il_str table = {0};
    const machine_edit edits[] = {
        {"call: {untrusted: bool, sensitive: bool, egress: [none, once, standing], approved: bool}",
         "call: {untrusted: bool, sensitive: bool, egress: [none, once, standing], approved: bool, colour: [red, green]}"},
        {NULL, NULL}};
    machine_open(&c, MACHINE_TRIFECTA, edits);
    assert_int_equal(il_table_build(&c.arena, c.m, 0, &table, &c.err), IL_OK);
    assert_int_equal(il_table_open(&c.memory.alloc, table, &m, &c.err), IL_OK);
    const il_symbol_words w = {.untrusted = true};
    assert_int_equal(il_machine_words_symbol(m, IL_STR("admit"), &w), IL_NO_SYMBOL);
    assert_int_not_equal(il_machine_words_symbol(m, IL_STR("settle"), &w), IL_NO_SYMBOL);
    il_machine_free(m);
    machine_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_chosen_symbols),
                                       cmocka_unit_test(test_unknown_field)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
