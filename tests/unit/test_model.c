/* SPDX-License-Identifier: Apache-2.0 */
/* Loading machine documents: what is refused, where, and what the message says; the numbers of the shipped machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_machine.h"
#include "yaml/yaml.h"

static const char tiny[] = "machine: tiny\n"
                           "version: 1\n"
                           "const: {K: 1}\n"
                           "vars:\n"
                           "  flag: bool\n"
                           "  count: {int: 0..K, overflow: reject}\n"
                           "  mode: [idle, busy]\n"
                           "let:\n"
                           "  full: \"pre.count == K\"\n"
                           "actions:\n"
                           "  go:\n"
                           "    principal: agent\n"
                           "    gate: true\n"
                           "    call: {hard: bool}\n"
                           "    next: {flag: \"call.hard || pre.flag\", count: \"pre.count + 1\"}\n"
                           "    reject:\n"
                           "      - {as: too-many, if: \"full\"}\n"
                           "  stop:\n"
                           "    principal: human\n"
                           "    next: {mode: \"'busy'\"}\n"
                           "regions:\n"
                           "  hot: {never: \"pre.flag && pre.mode == 'busy'\"}\n"
                           "contract:\n"
                           "  rules: [too-many]\n";

static const machine_bad bad_rows[] = {
    {"version: 1", "versoin: 1", 2, 1, "unknown key `versoin` in a machine; did you mean `version`?"},
    {"version: 1", "version: 2", 2, 10, "machine version `2` is not known; this build reads version 1"},
    {"version: 1", "version: '1'", 2, 10, "`version` of a machine must be a number"},
    {"machine: tiny", "machine: Tiny", 1, 10, "`Tiny` is no name for a machine: use lower-case letters, digits and `-`"},
    {"machine: tiny", "name: tiny", 1, 1, "unknown key `name` in a machine; did you mean `naps`?"},
    {"    gate: true", "    gaet: true", 13, 5, "unknown key `gaet` in an action; did you mean `gate`?"},
    {"gate: true", "gate: 'yes'", 13, 11, "`gate` must be true or false, without quotes"},
    {"gate: true", "gate: yes", 13, 11, "yaml readers disagree on a plain `yes`; write `true`, or quote this if it is text"},
    {"gate: true", "gate: maybe", 13, 11, "`gate` must be true or false"},
    {"principal: human", "principal: humen", 19, 16,
     "`principal` of action `stop` must be `agent`, `human`, `runtime` or `env`; did you mean `human`?"},
    {"principal: agent", "principal: robot", 12, 16, "`principal` of action `go` must be `agent`, `human`, `runtime` or `env`"},
    {"    principal: human\n", "", 19, 5, "action `stop` needs `principal`"},
    {"flag: bool", "flag: boolean", 5, 9, "`flag` must be `bool`, a list of words, {enum: […]} or {int: LOW..HIGH, overflow: …}"},
    {"mode: [idle, busy]", "mode: []", 7, 9, "`mode` has an empty domain: name at least one value"},
    {"mode: [idle, busy]", "mode: [idle, idle]", 7, 16, "value `idle` of `mode` is listed twice"},
    {"mode: [idle, busy]", "mode: [idle, 3]", 7, 16, "the values of `mode` must be words (letters, digits, `_`, `-`)"},
    {"0..K", "2..K", 6, 16, "`count` has an empty domain: 2..1"},
    {"0..K", "0..N", 6, 16, "the range of `count` must be LOW..HIGH, each a number or a const"},
    {"0..K", "0-K", 6, 16, "the range of `count` must be LOW..HIGH, each a number or a const"},
    {", overflow: reject", "", 6, 10, "int variable `count` needs `overflow`: `reject`, `error` or `saturate`"},
    {"overflow: reject", "overflow: wrap", 6, 32, "`overflow` of `count` must be `reject`, `error` or `saturate`"},
    {"overflow: reject", "overflow: reject, taint: sink", 6, 47, "`taint` of `count` must be `source`"},
    {"flag: bool", "call: bool", 5, 3,
     "`call` is no name for a variable: use letters, digits and `_`, and no word of the language"},
    {"flag: bool", "2flag: bool", 5, 3,
     "`2flag` is no name for a variable: use letters, digits and `_`, and no word of the language"},
    {"  stop:", "  2stop:", 18, 3, "`2stop` is no name for an action: use letters, digits and `_`, and no word of the language"},
    {"flag: bool", "flag: {enum: [a], int: 0..1}", 5, 9, "`flag` needs exactly one of `enum`, `int` and `type: bool`"},
    {"0..K", "0..5000", 6, 16, "`count` has more than 4096 values"},
    {"hard: bool", "hard: {int: 0..1, overflow: reject}", 14, 30, "unknown key `overflow` in a payload field"},
    {"pre.count + 1\"", "pre.cuont + 1\"", 15, 55, "no field `cuont` in `pre`; did you mean `count`?"},
    {"full\"}", "pre.nope == 1\"}", 17, 33, "no field `nope` in `pre`; there are `flag`, `count`, `mode`"},
    {"\"full\"}", "\"fulll\"}", 17, 29, "undeclared name `fulll`; did you mean `full`?"},
    {"\"full\"}", "\"pre.count\"}", 17, 29, "must be `bool`, is `int`; did you mean `pre.count > 0`?"},
    {"\"full\"}", "\"pre.mode == 'bussy'\"}", 17, 41, "never equal: `pre.mode` is one of `idle`, `busy`; did you mean `busy`?"},
    {"\"full\"}", "\"pre.count ==\"}", 17, 41, "expected an expression, got the end of the expression"},
    {"call.hard ||", "call.soft ||", 15, 24, "no field `soft` in `call`; there are `hard`"},
    {"flag: \"call.hard || pre.flag\", count", "flag: \"next.count == 1\", count", 15, 18,
     "the update of `flag` reads `next.count`, which is set only at or below it; list it above"},
    {"flag: \"call.hard || pre.flag\"", "flag: \"next.flag\"", 15, 18,
     "the update of `flag` reads `next.flag`, which is set only at or below it; list it above"},
    {"next: {mode: \"'busy'\"}", "next: {moed: \"'busy'\"}", 20, 12, "no variable `moed` is declared; did you mean `mode`?"},
    {"next: {mode: \"'busy'\"}", "next: {mode: \"1\"}", 20, 19, "must be `string`, is `int`"},
    {"as: too-many", "as: to-many", 17, 14, "no rule `to-many` is declared; did you mean `too-many`?"},
    {"      - {as: too-many, if: \"full\"}", "      - {as: too-many, when: \"full\"}", 17, 24,
     "unknown key `when` in a reject clause"},
    {"      - {as: too-many, if: \"full\"}", "      - {if: \"full\"}", 17, 9, "a clause of action `go` needs `as`"},
    {"rules: [too-many]", "rules: [too-many, never-named]", 24, 21,
     "no clause rejects as rule `never-named`; remove it or add the clause"},
    {"rules: [too-many]", "rules: [too-many, too-many]", 24, 21, "rule `too-many` is listed twice"},
    {"rules: [too-many]", "rules: [too-many]\n  releasable: [other]", 25, 16, "no rule `other` is declared"},
    {"rules: [too-many]", "rules: [Too Many]", 24, 11,
     "`Too Many` is no name for a rule: use lower-case letters, digits and `-`"},
    {"rules: [too-many]", "rules: [too-many, a-23456789-23456789-23456789-23456789-23456789-23456789-23456789]", 24, 21,
     "a name of a rule has at most 63 letters; shorten it"},
    {"hot: {never:", "hot: {gated:", 22, 8, "gated region `hot` needs `by`"},
    {"hot: {never: \"pre.flag", "hot: {by: [go], never: \"pre.flag", 22, 13, "`by` is for gated regions; `hot` is none"},
    {"hot: {never: \"pre.flag && pre.mode == 'busy'\"}", "hot: {gated: \"pre.flag\", by: [stop]}", 22, 33,
     "action `stop` is no gate; say `gate: true` there or name another"},
    {"hot: {never: \"pre.flag && pre.mode == 'busy'\"}", "hot: {gated: \"pre.flag\", by: [goo]}", 22, 33,
     "no action `goo` is declared; did you mean `go`?"},
    {"hot: {never: \"pre.flag", "hot: {never: \"pre.flg", 22, 21, "no field `flg` in `pre`; did you mean `flag`?"},
    {"hot: {never: \"pre.flag", "hot: {edge: [gone], never: \"pre.flag", 22, 16, "no action `gone` is declared"},
    {"hot: {never: \"pre.flag", "hot: {never: \"next.flag", 22, 17, "undeclared name `next`; there are `pre`"},
    {"hot: {never: \"pre.flag", "hot: {edge: [go, stop], never: \"call.hard && pre.flag", 22, 40,
     "not all actions have `hard`; say `edge: [go]`"},
    {"hot: {never: \"pre.flag && pre.mode == 'busy'\"}", "hot: {}", 22, 8,
     "region `hot` needs exactly one of `never`, `gated`, `transition` and `rejection`"},
    {"  full:", "  spare: \"1 == 1\"\n  full:", 9, 3, "nothing uses `spare`; remove it or correct its name"},
    {"const: {K: 1}", "const: {K: 1, N: 2}", 3, 15, "yaml readers disagree on a plain `N`; quote this"},
    {"const: {K: 1}", "const: {K: one}", 3, 12, "const `K` must be a whole number"},
    {"const: {K: 1}", "const: {K: 1, full: 2}", 3, 21, "`full` is a const and a let"},
    {"    gate: true", "    gate: true\n    live: true", 14, 11, "`live` needs a variable `phase` with the value `quarantined`"},
    {"  stop:\n", "  go:\n", 18, 3, "duplicate key `go`, first at line 11 column 3"},
    {"call: {hard: bool}", "call: {hard: bool, a: {int: 0..2000}, b: {int: 0..2000}}", 14, 46,
     "action `go` makes more than 65536 symbols"},
    {"      - {as: too-many, if: \"full\"}", "      - {as: too-many, if: \"false\"}", 9, 3,
     "nothing uses `full`; remove it or correct its name"},
    {"mode: \"'busy'\"", "mode: \"'buzy'\"", 20, 18, "`mode` leaves its domain after: stop"},
    {"mode: \"'busy'\"", "mode: \"pre.count == 0 ? 'busy' : 'buzy'\"", 20, 18, "`mode` leaves its domain after: go stop"},
    {"count: \"pre.count + 1\"", "count: \"9223372036854775807 + pre.count\"", 15, 50, "`count` leaves its domain after: go"},
    {"overflow: reject", "overflow: error", 15, 50, "`count` leaves its domain after: go go"},
};

static char *tiny_edited(const char *from, const char *to, char *out, size_t cap) {
    return machine_edited(tiny, from, to, out, cap);
}

static void test_bad_documents(void **state) {
    (void)state;
    machine_all_refused(tiny, bad_rows, sizeof bad_rows / sizeof bad_rows[0]);
}

static void test_the_base_is_good(void **state) {
    (void)state;
    machine_case c;
    machine_load_text(&c, tiny);
    assert_int_equal(c.status, IL_OK);
    assert_int_equal(c.m->nsymbols, 3);
    assert_int_equal(c.m->product, 8);
    assert_int_equal(c.m->bits, 3);
    machine_free(&c);
}

static void test_not_a_machine(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t line, col;
    } rows[] = {{"", 1, 1},
                {"- a\n", 1, 1},
                {"machine\n", 1, 1},
                {"\x01\x02", 1, 1},
                {"machine: &a x\n", 1, 10},
                {"machine: on\n", 1, 10},
                {"machine: 012\n", 1, 10},
                {"machine: x\n\tversion: 1\n", 2, 1},
                {"machine: x\nmachine: y\n", 2, 1},
                {"{}", 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machine_case c;
        machine_load_text(&c, rows[i].text);
        if (c.status == IL_OK || c.err.line != rows[i].line || c.err.col != rows[i].col) {
            fail_msg("row %zu: %u:%u: %s", i, (unsigned)c.err.line, (unsigned)c.err.col, c.err.msg);
        }
        machine_free(&c);
    }
}

static void test_too_wide_a_state(void **state) {
    (void)state;
    static char text[8192];
    machine_case c;
    machine_load_text(
        &c,
        tiny_edited(
            "  flag: bool\n",
            "  a: {int: 0..4000, overflow: error}\n  b: {int: 0..4000, overflow: error}\n  c: {int: 0..4000, overflow: error}\n"
            "  d: {int: 0..4000, overflow: error}\n  e: {int: 0..4000, overflow: error}\n  flag: {int: 0..31, overflow: error}\n",
            text, sizeof text));
    assert_int_equal(c.status, IL_E_LIMIT);
    assert_int_equal(c.err.line, 10);
    assert_int_equal(c.err.col, 3);
    machine_free(&c);
}

static void test_too_many_states(void **state) {
    (void)state;
    machine_case c;
    il_str table = {0};
    machine_open(&c, MACHINE_TRIFECTA, NULL);
    assert_int_equal(il_table_build(&c.arena, c.m, 329, &table, &c.err), IL_E_LIMIT);
    assert_null(table.p);
    assert_int_equal(il_table_build(&c.arena, c.m, 330, &table, &c.err), IL_OK);
    machine_free(&c);
}

/* Counters that stop at their ends: up to the ceiling, and from there not down again. */
static void test_saturate(void **state) {
    (void)state;
    static char text[8192];
    machine_case c;
    machine_load_text(&c, tiny_edited("overflow: reject", "overflow: saturate", text, sizeof text));
    assert_int_equal(c.status, IL_OK);
    il_variant skip = {.skip = true, .skip_action = 0, .skip_clause = 0};
    uint32_t count = il_model_var(c.m, IL_STR("count"));
    uint64_t one = il_model_eval(c.m, &skip, 0, 0).step.next;
    assert_int_equal(il_model_get(c.m, one, count), 1);
    il_eval more = il_model_eval(c.m, &skip, one, 0);
    assert_int_equal(more.step.verdict, IL_ACCEPT);
    assert_int_equal(il_model_get(c.m, more.step.next, count), 1);
    machine_free(&c);
}

static void test_numbers(void **state) {
    (void)state;
    static const struct {
        const char *path, *k;
        uint32_t symbols, product, states, edges, depth, never;
    } rows[] = {
        {MACHINE_TRIFECTA, "{K: 1}", 63, 864, 186, 3497, 7, 15},
        {MACHINE_TRIFECTA, "{K: 2}", 63, 1944, 330, 7065, 9, 15},
        {MACHINE_TRIFECTA, "{K: 4}", 63, 5400, 762, 18059, 13, 15},
        {MACHINE_STANDARD, "{K: 1}", 213, 8748, 709, 25784, 8, 82},
        {MACHINE_STANDARD, "{K: 2}", 213, 19683, 1294, 53030, 10, 82},
        {MACHINE_STANDARD, "{K: 4}", 213, 54675, 3049, 137138, 14, 82},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machine_case c;
        const machine_edit edits[] = {{"{K: 2}", rows[i].k}, {NULL, NULL}};
        machine_open(&c, rows[i].path, edits);
        assert_int_equal(c.m->nsymbols, rows[i].symbols);
        assert_int_equal(c.m->product, rows[i].product);
        il_str bytes = {0};
        il_subject s;
        il_machine *k = NULL;
        assert_int_equal(il_table_build(&c.arena, c.m, 0, &bytes, &c.err), IL_OK);
        assert_int_equal(il_table_open(&c.memory.alloc, bytes, &k, &c.err), IL_OK);
        assert_int_equal(il_machine_states(k), rows[i].states);
        assert_int_equal(il_subject_init(&s, &c.memory.alloc, &c.arena, c.m, NULL, &c.err), IL_OK);
        s.table = k;
        il_view v = {.subject = &s, .table = true, .regions = s.never};
        il_space space;
        assert_int_equal(il_view_explore(&v, &space, &c.err), IL_OK);
        assert_int_equal(space.n, rows[i].states);
        assert_int_equal(space.edges, rows[i].edges);
        assert_int_equal(space.depth, rows[i].depth);
        uint32_t never = 0;
        for (uint32_t symbol = 0; symbol < c.m->nsymbols; symbol++) {
            bool accepted = false;
            for (uint32_t n = 0; n < il_machine_states(k); n++) {
                accepted = accepted || il_machine_step(k, il_machine_state(k, n), symbol).verdict == IL_ACCEPT;
            }
            never += !accepted;
        }
        assert_int_equal(never, rows[i].never);
        il_space_free(&space);
        il_subject_free(&s);
        il_machine_free(k);
        machine_free(&c);
    }
}

/* Comments and layout are not part of a machine's digest; a changed guard is. */
static void test_digest(void **state) {
    (void)state;
    static char text[8192];
    machine_case a;
    machine_case b;
    machine_case d;
    machine_load_text(&a, tiny);
    machine_load_text(&b, tiny_edited("  flag: bool\n", "  flag:   bool # a comment\n\n", text, sizeof text));
    assert_memory_equal(a.m->digest, b.m->digest, IL_DIGEST_BYTES);
    machine_load_text(&d, tiny_edited("pre.count + 1", "pre.count + 0", text, sizeof text));
    assert_memory_not_equal(a.m->digest, d.m->digest, IL_DIGEST_BYTES);
    machine_free(&d);
    /* What is watched and compared is no part of it: alarms are tuned on a recorded ledger. */
    static const char *const beside[] = {"diagnosis: {sees: [flag]}\n", "diagnosis: {sees: []}\n",
                                         "fleet: {instances: 2, invariants: {one: {count: \"pre.flag\", most: 1}}}\n",
                                         "widens: [{action: go, as: too-many, why: \"it is day\"}]\n"};
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        (void)snprintf(text, sizeof text, "%s%s", tiny, beside[i]);
        machine_load_text(&d, text);
        assert_true((d.m->diagnosis != NULL) == (i < 2));
        assert_true((d.m->fleet != NULL) == (i == 2));
        assert_int_equal(d.m->nwidens, i == 3);
        assert_memory_equal(a.m->digest, d.m->digest, IL_DIGEST_BYTES);
        machine_free(&d);
    }
    machine_free(&a);
    machine_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_documents),    cmocka_unit_test(test_the_base_is_good), cmocka_unit_test(test_not_a_machine),
        cmocka_unit_test(test_too_wide_a_state), cmocka_unit_test(test_too_many_states),  cmocka_unit_test(test_saturate),
        cmocka_unit_test(test_numbers),          cmocka_unit_test(test_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
