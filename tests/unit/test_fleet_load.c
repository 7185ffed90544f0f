/* SPDX-License-Identifier: Apache-2.0 */
/* The `fleet` section: what is refused and where, what a family carries, what invariants say of states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_machine.h"
#include "machine/fleet.h"

static const char some[] = "machine: some\n"
                           "version: 1\n"
                           "const: {K: 1}\n"
                           "vars:\n"
                           "  host: [none, a, b]\n"
                           "  busy: bool\n"
                           "  total: {int: 0..3, overflow: reject}\n"
                           "  sensitive: [none, fresh, held]\n"
                           "actions:\n"
                           "  go:\n"
                           "    principal: agent\n"
                           "    gate: true\n"
                           "    call: {to: [a, b]}\n"
                           "    next: {host: \"call.to\", busy: \"true\", total: \"pre.total + 1\"}\n"
                           "    reject: [{as: spent, if: \"pre.total == 3\"}]\n"
                           "  join:\n"
                           "    principal: runtime\n"
                           "    gate: true\n"
                           "    call: {busy: bool, host: [none, a, other], data: [none, sensitive]}\n"
                           "    next: {busy: \"pre.busy || call.busy\"}\n"
                           "    reject: [{as: spent, if: \"pre.total == 3\"}]\n"
                           "regions:\n"
                           "  hot: {never: \"pre.busy && pre.total == 9\"}\n"
                           "  cold: {edge: [go], never: \"pre.busy\"}\n"
                           "contract:\n"
                           "  rules: [spent]\n"
                           "fleet:\n"
                           "  instances: 3\n"
                           "  shared: [total]\n"
                           "  renew: \"pre.busy\"\n"
                           "  invariants:\n"
                           "    few: {count: \"pre.busy\", most: K}\n"
                           "    hosts: {distinct: host, where: \"pre.busy\", most: 2}\n"
                           "    own: {unique: host}\n"
                           "  family: {join: join, together: [hot]}\n";

typedef struct fleet_row {
    const char *from, *to;
    uint32_t line, col;
    const char *message;
} fleet_row;

static const fleet_row rows[] = {
    {"fleet:\n  instances: 3\n", "fleet:\n", 28, 3, "a fleet needs `instances`"},
    {"  instances: 3\n", "  instances: 3\n  instnces: 2\n", 29, 3,
     "unknown key `instnces` in a fleet; did you mean `instances`?"},
    {"instances: 3", "instances: 9", 28, 14, "`instances` must be a whole number from 2 to 8, or a const"},
    {"instances: 3", "instances: K", 28, 14, "`instances` must be a whole number from 2 to 8, or a const"},
    {"shared: [total]", "shared: []", 29, 11, "`shared` must be a list of at least one variable"},
    {"shared: [total]", "shared: [totl]", 29, 12, "no variable `totl` is declared; did you mean `total`?"},
    {"shared: [total]", "shared: [total, total]", 29, 19, "variable `total` is listed twice"},
    {"renew: \"pre.busy\"", "renew: \"pre.total\"", 30, 11, "must be `bool`, is `int`; did you mean `pre.total > 0`?"},
    {"count: \"pre.busy\"", "count: \"next.busy\"", 32, 19, "undeclared name `next`; there are `pre`"},
    {"few: {count", "few: {where: \"true\", count", 32, 18, "`where` is for `distinct` and `unique`; say it in `count`"},
    {"most: K", "most: 0", 32, 36, "`most` must be a whole number from 1 to 2, or a const"},
    {"instances: 3", "instances: 2", 33, 54, "`most` must be 1, or a const of that value"},
    {"most: 2", "most: 3", 33, 54, "`most` must be a whole number from 1 to 2, or a const"},
    {", most: 2", "", 33, 12, "invariant `hosts` needs `most`"},
    {"own: {unique: host}", "own: {unique: host, most: 1}", 34, 31, "`most` is for `count` and `distinct`; `own` is neither"},
    {"own: {unique: host}", "own: {unique: hots}", 34, 19, "no variable `hots` is declared; did you mean `host`?"},
    {"own: {unique: host}", "own: {unique: total}", 34, 19,
     "`total` is shared, so all instances have the same value of it; name a variable of their own"},
    {"own: {unique: host}", "own: {}", 34, 10, "invariant `own` needs exactly one of `count`, `distinct` and `unique`"},
    {"own: {unique", "Own: {unique", 34, 5, "`Own` is no name for a fleet invariant: use lower-case letters, digits and `-`"},
    {"join: join", "join: jion", 35, 18, "no action `jion` is declared; did you mean `join`?"},
    {"join: join", "join: go", 35, 18,
     "field `to` of action `go` carries no variable; name it like the variable that it carries"},
    {"together: [hot]", "together: [hots]", 35, 35, "no region `hots` is declared; did you mean `hot`?"},
    {"together: [hot]", "together: [cold]", 35, 35, "region `cold` is not a `never` region of states"},
    {"data: [none, sensitive]", "data: [sensitive, none]", 35, 18,
     "`data` of the join must list `sensitive` behind a first value and before `secret`"},
    {"sensitive: [none, fresh, held]", "sense: bool", 35, 18,
     "`data` of the join carries no variable: there is neither `sensitive` nor `secret`"},
};

static char *edited(const char *from, const char *to) {
    static char out[4096];
    const char *at = strstr(some, from);
    assert_non_null(at);
    (void)snprintf(out, sizeof out, "%.*s%s%s", (int)(at - some), some, to, at + strlen(from));
    return out;
}

static void bad_input(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machine_case c;
        machine_load_text(&c, edited(rows[i].from, rows[i].to));
        if (c.status == IL_OK || c.err.line != rows[i].line || c.err.col != rows[i].col ||
            strcmp(c.err.msg, rows[i].message) != 0) {
            fail_msg("row %zu `%s`: %u:%u: %s", i, rows[i].to, (unsigned)c.err.line, (unsigned)c.err.col,
                     c.status == IL_OK ? "loads" : c.err.msg);
        }
        machine_free(&c);
    }
}

static uint64_t packed(const il_model *m, uint32_t host, uint32_t busy, uint32_t sensitive) {
    return il_model_set(m, il_model_set(m, il_model_set(m, m->initial, 0, host), 1, busy), 3, sensitive);
}

static bool broken(const il_model *m, const il_fleet_invariant *invariant, const uint64_t *states, uint32_t n) {
    uint32_t values[IL_FLEET_INSTANCES_MAX], counted = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (il_fleet_counts(m, invariant, states[i])) {
            values[counted++] = il_model_get(m, states[i], invariant->var);
        }
    }
    return il_fleet_breaks(invariant, values, counted);
}

static void invariants(void **state) {
    (void)state;
    machine_case c;
    machine_load_text(&c, some);
    assert_int_equal(c.status, IL_OK);
    const il_fleet *f = c.m->fleet;
    assert_int_equal(f->instances, 3);
    assert_int_equal(f->shared, 1u << 2);
    assert_int_equal(f->ninvariants, 3);
    const uint64_t idle = packed(c.m, 0, 0, 0), a = packed(c.m, 1, 1, 0), b = packed(c.m, 2, 1, 0), none = packed(c.m, 0, 1, 0);
    const uint64_t one[] = {idle, a, idle}, same[] = {a, a, idle}, all[] = {a, b, none}, idles[] = {idle, a, b};
    assert_false(broken(c.m, &f->invariants[0], one, 3));
    assert_true(broken(c.m, &f->invariants[0], same, 3));
    assert_false(broken(c.m, &f->invariants[1], same, 3));
    assert_true(broken(c.m, &f->invariants[1], all, 3));
    assert_false(broken(c.m, &f->invariants[1], idles, 3)); /* who is not busy does not count */
    assert_true(broken(c.m, &f->invariants[2], one, 3));
    assert_false(broken(c.m, &f->invariants[2], all, 3));
    assert_true(il_fleet_renews(c.m, f, a));
    assert_false(il_fleet_renews(c.m, f, idle));
    machine_free(&c);
}

static void symbol_is(const il_model *m, uint64_t giver, const char *want) {
    char text[128] = "nothing";
    const uint32_t symbol = il_family_symbol(m, m->fleet->family, giver);
    il_buf b;
    il_str s = {0};
    if (symbol != IL_NO_SYMBOL) {
        il_buf_init(&b, m->arena, 4096);
        il_model_symbol_text(m, symbol, &b);
        assert_int_equal(il_buf_done(&b, &s, NULL), IL_OK);
        (void)snprintf(text, sizeof text, "%.*s", (int)s.n, s.p);
    }
    assert_string_equal(text, want);
}

static void family(void **state) {
    (void)state;
    machine_case c;
    machine_load_text(&c, some);
    const il_family *f = c.m->fleet->family;
    assert_int_equal(f->together, 1);
    symbol_is(c.m, packed(c.m, 0, 0, 0), "nothing");
    symbol_is(c.m, packed(c.m, 1, 1, 0), "join{busy=true,host=a,data=none}");
    symbol_is(c.m, packed(c.m, 2, 0, 1), "join{busy=false,host=other,data=sensitive}"); /* no value `b`: its worst */
    assert_int_equal(il_family_lost(c.m, f, packed(c.m, 0, 1, 1), packed(c.m, 0, 1, 2)), UINT32_MAX);
    assert_int_equal(il_family_lost(c.m, f, packed(c.m, 0, 1, 1), packed(c.m, 0, 1, 0)), 3);
    assert_true(il_family_union(c.m, f, packed(c.m, 0, 1, 0), packed(c.m, 2, 0, 2)) == packed(c.m, 2, 1, 2));
    machine_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bad_input), cmocka_unit_test(invariants), cmocka_unit_test(family)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
