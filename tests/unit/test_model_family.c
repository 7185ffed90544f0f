/* SPDX-License-Identifier: Apache-2.0 */
/* Parametric families: what is made, what expressions with an index mean, and where a wrong one is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cel/cel.h"
#include "helper_machine.h"

static const char grants[] =
    "machine: grants\n"
    "version: 1\n"
    "families: {c: [read, net, pay], user: [amy, bob]}\n"
    "vars:\n"
    "  cap[c]: {enum: [none, asked, active], adversarial: {to: [none], when: \"pre.cap[c] != 'active'\"}}\n"
    "  count[c]: {int: 0..2, overflow: reject}\n"
    "  seen[user]: bool\n"
    "  frozen: bool\n"
    "let:\n"
    "  busy[c]: \"pre.cap[c] == 'active' || pre.count[c] > 0\"\n"
    "  clash[c]: \"c != 'read' && c.exists(x, x != c && x != 'read' && busy[x])\"\n"
    "actions:\n"
    "  ask[c]:\n"
    "    principal: agent\n"
    "    next: {\"cap[c]\": \"'asked'\"}\n"
    "    reject:\n"
    "      - {as: is-frozen, if: \"pre.frozen\"}\n"
    "      - {as: not-new, if: \"pre.cap[c] != 'none'\"}\n"
    "  grant[c]:\n"
    "    principal: human\n"
    "    gate: true\n"
    "    next: {\"cap[c]\": \"action == 'grant[c]' ? 'active' : 'none'\", \"count[c]\": \"pre.count[c] + 1\"}\n"
    "    reject:\n"
    "      - {as: clash, if: \"clash[c]\"}\n"
    "      - {as: not-new, if: \"pre.cap[c] != 'asked'\"}\n"
    "  see: {principal: env, call: {who: [amy, bob]}, next: {\"seen[user]\": \"pre.seen[user] || call.who == user\"}}\n"
    "  drop[c]: {principal: runtime, corrective: true, next: {\"cap[c]\": \"'none'\", \"count[c]\": \"0\"}}\n"
    "  freeze: {principal: runtime, corrective: true, next: {frozen: \"true\", \"cap[c]\": \"'none'\", \"count[net]\": \"0\"}}\n"
    "naps:\n"
    "  - {if: \"pre.frozen && pre.cap[c] == 'active'\", do: \"drop[c]\"}\n"
    "regions:\n"
    "  clash: {never: \"c.exists_one(x, pre.cap[x] == 'active') == false && c.exists(x, busy[x]) && busy['net'] && "
    "busy['pay']\"}\n"
    "  granted[c]: {gated: \"pre.cap[c] == 'active'\", by: [\"grant[c]\"]}\n"
    "  any: {gated: \"c.exists(c, pre.cap[c] == 'active')\", by: [\"grant[*]\"]}\n"
    "  read-first: {never: \"c.all(x, pre.cap[x] == 'active')\", edge: [\"grant[read]\", see]}\n"
    "contract:\n"
    "  rules: [is-frozen, not-new, clash]\n";

static uint32_t var_of(const il_model *m, const char *name) {
    uint32_t v = il_model_var(m, il_str_of(name));
    assert_true(v != UINT32_MAX);
    return v;
}
static uint32_t symbol_of(const il_model *m, const char *name) {
    uint32_t a = il_model_action(m, il_str_of(name));
    assert_true(a != UINT32_MAX);
    return m->actions[a].first_symbol;
}

static void load(machine_case *c) {
    machine_load_text(c, grants);
    if (c->status != IL_OK) {
        fail_msg("%u:%u: %s", (unsigned)c->err.line, (unsigned)c->err.col, c->err.msg);
    }
}

static void test_what_is_made(void **state) {
    (void)state;
    machine_case c;
    load(&c);
    const il_model *m = c.m;
    static const char *const vars[] = {"cap[read]",  "cap[net]",  "cap[pay]",  "count[read]", "count[net]",
                                       "count[pay]", "seen[amy]", "seen[bob]", "frozen"};
    static const char *const actions[] = {"ask[read]", "ask[net]",   "ask[pay]",  "grant[read]", "grant[net]", "grant[pay]",
                                          "see",       "drop[read]", "drop[net]", "drop[pay]",   "freeze"};
    static const char *const regions[] = {"clash", "granted[read]", "granted[net]", "granted[pay]", "any", "read-first"};
    assert_int_equal(m->nvars, sizeof vars / sizeof vars[0]);
    assert_int_equal(m->nactions, sizeof actions / sizeof actions[0]);
    assert_int_equal(m->nregions, sizeof regions / sizeof regions[0]);
    for (uint32_t i = 0; i < m->nvars; i++) {
        assert_true(il_str_eq(m->vars[i].name, il_str_of(vars[i])));
    }
    for (uint32_t i = 0; i < m->nactions; i++) {
        assert_true(il_str_eq(m->actions[i].name, il_str_of(actions[i])));
    }
    for (uint32_t i = 0; i < m->nregions; i++) {
        assert_true(il_str_eq(m->regions[i].name, il_str_of(regions[i])));
    }
    assert_int_equal(m->nnaps, 3);
    assert_int_equal(m->symbol_action[m->naps[1].symbol], il_model_action(m, IL_STR("drop[net]")));
    assert_int_equal(m->regions[2].by, UINT64_C(1) << il_model_action(m, IL_STR("grant[net]")));
    assert_int_equal(m->regions[4].by, UINT64_C(7) << 3);
    assert_int_equal(m->regions[5].actions, UINT64_C(1) << 3 | UINT64_C(1) << 6);
    assert_int_equal(m->regions[0].rule, il_model_action(m, IL_STR("ask[read]")) + 3); /* the rule `clash` */
    assert_int_equal(m->actions[10].nupdates, 5);                                      /* frozen, three caps, one count */
    machine_free(&c);
}

typedef struct reads_seen {
    uint64_t pre;
    bool whole;
} reads_seen;

static void reads_visit(void *ctx, size_t var, size_t field) {
    reads_seen *r = ctx;
    if (field == SIZE_MAX) {
        r->whole = r->whole || var != 3;
    } else if (var == 0) {
        r->pre |= UINT64_C(1) << field;
    }
}

/* Everything after the parser sees plain fields: a guard reads its members only. */
static void test_reads(void **state) {
    (void)state;
    machine_case c;
    load(&c);
    const il_model *m = c.m;
    reads_seen r = {0};
    il_cel_reads(m->actions[4].clauses[0].guard, reads_visit, &r); /* clash['net']: busy of pay, and of nothing else */
    assert_false(r.whole);
    assert_int_equal(r.pre, UINT64_C(1) << var_of(m, "cap[pay]") | UINT64_C(1) << var_of(m, "count[pay]") |
                                UINT64_C(1) << var_of(m, "cap[read]") | UINT64_C(1) << var_of(m, "count[read]") |
                                UINT64_C(1) << var_of(m, "cap[net]") | UINT64_C(1) << var_of(m, "count[net]"));
    r = (reads_seen){0};
    il_cel_reads(m->actions[1].clauses[1].guard, reads_visit, &r);
    assert_int_equal(r.pre, UINT64_C(1) << var_of(m, "cap[net]"));
    il_buf b;
    il_str text = {0};
    il_buf_init(&b, &c.arena, 4096);
    il_cel_print(m->actions[1].clauses[1].guard, &b);
    assert_int_equal(il_buf_done(&b, &text, &c.err), IL_OK);
    assert_true(il_str_eq(text, IL_STR("pre.cap['net'] != 'none'")));
    machine_free(&c);
}

static void test_what_it_means(void **state) {
    (void)state;
    machine_case c;
    load(&c);
    const il_model *m = c.m;
    uint64_t s = il_model_eval(m, NULL, 0, symbol_of(m, "ask[net]")).step.next;
    assert_int_equal(s, il_model_set(m, 0, var_of(m, "cap[net]"), 1));
    s = il_model_eval(m, NULL, s, symbol_of(m, "grant[net]")).step.next;
    assert_int_equal(il_model_get(m, s, var_of(m, "cap[net]")), 2); /* 'grant[c]' was the word of the member */
    assert_int_equal(il_model_get(m, s, var_of(m, "count[net]")), 1);
    assert_true(il_model_in_region(m, 2, s, 0, 0));
    assert_false(il_model_in_region(m, 1, s, 0, 0));
    assert_false(il_model_in_region(m, 3, s, 0, 0));
    assert_true(il_model_in_region(m, 4, s, 0, 0));
    uint64_t asked = il_model_set(m, s, var_of(m, "cap[pay]"), 1);
    const il_eval clash = il_model_eval(m, NULL, asked, symbol_of(m, "grant[pay]"));
    assert_int_equal(clash.step.verdict, IL_REJECT);
    assert_int_equal(clash.step.reason, 3);
    asked = il_model_set(m, s, var_of(m, "cap[read]"), 1);
    assert_int_equal(il_model_eval(m, NULL, asked, symbol_of(m, "grant[read]")).step.verdict, IL_ACCEPT);
    /* an index that nothing binds in `next` sets all members, each by its own value */
    uint64_t amy = il_model_eval(m, NULL, s, symbol_of(m, "see")).step.next;
    assert_int_equal(amy, il_model_set(m, s, var_of(m, "seen[amy]"), 1));
    uint64_t frozen = il_model_eval(m, NULL, s, symbol_of(m, "freeze")).step.next;
    assert_int_equal(frozen, il_model_set(m, 0, var_of(m, "frozen"), 1));
    /* exactly one; none; two */
    for (uint32_t active = 0; active < 3; active++) {
        uint64_t busy = il_model_set(m, il_model_set(m, 0, var_of(m, "count[net]"), 1), var_of(m, "count[pay]"), 1);
        busy = active > 0 ? il_model_set(m, busy, var_of(m, "cap[net]"), 2) : busy;
        busy = active > 1 ? il_model_set(m, busy, var_of(m, "cap[read]"), 2) : busy;
        assert_int_equal(il_model_in_region(m, 0, busy, 0, 0), active != 1);
    }
    machine_free(&c);
}

/* One member is a family too; so is a question in a question. */
static void test_small_and_nested(void **state) {
    (void)state;
    static const char one[] =
        "machine: one\n"
        "version: 1\n"
        "families: {c: [it], d: [a, b]}\n"
        "vars:\n"
        "  on[c]: bool\n"
        "  at[d]: bool\n"
        "actions:\n"
        "  go: {principal: env, call: {x: bool}, next: {\"on[c]\": \"call.x\", \"at[d]\": \"call.x && d == 'a'\"}}\n"
        "  stop: {principal: env, reject: [{as: 'no', if: \"c.exists_one(x, pre.on[x])\"}]}\n"
        "regions:\n"
        "  r1: {never: \"c.exists(x, pre.on[x]) != c.all(x, pre.on[x])\"}\n"
        "  r2: {never: \"c.exists(x, d.exists_one(y, pre.on[x] && pre.at[y]) && [1, 2].exists(x, x == 2))\"}\n"
        "  r3: {never: \"[1, 2].all(x, x > 0 && c.exists(x, pre.on[x]) && d.exists(y, pre.at[y] && y in ['a', 'b']))\"}\n"
        "contract:\n"
        "  rules: ['no']\n";
    machine_case c;
    machine_load_text(&c, one);
    if (c.status != IL_OK) {
        fail_msg("%u:%u: %s", (unsigned)c.err.line, (unsigned)c.err.col, c.err.msg);
    }
    uint64_t s = il_model_eval(c.m, NULL, 0, 1).step.next;
    assert_int_equal(s, 3);
    assert_int_equal(il_model_eval(c.m, NULL, s, 2).step.verdict, IL_REJECT);
    assert_int_equal(il_model_eval(c.m, NULL, 0, 2).step.verdict, IL_ACCEPT);
    assert_false(il_model_in_region(c.m, 0, s, 0, 0));
    assert_true(il_model_in_region(c.m, 1, s, 0, 0));
    assert_true(il_model_in_region(c.m, 2, s, 0, 0));
    assert_false(il_model_in_region(c.m, 1, 7, 0, 0)); /* both, so not exactly one */
    machine_free(&c);
}

static const machine_bad bad_rows[] = {
    {"families: {c: [read, net, pay], user: [amy, bob]}", "families: []", 3, 11,
     "`families` must be a map of names and lists of members"},
    {"c: [read, net, pay]", "c: read", 3, 15, "family `c` must be a list of at least one member"},
    {"c: [read, net, pay]", "c: []", 3, 15, "family `c` must be a list of at least one member"},
    {"c: [read, net, pay]", "c: [read, net, net]", 3, 27, "member `net` of `c` is listed twice"},
    {"c: [read, net, pay]", "c: [read, user, pay]", 3, 22, "`user` is a family and a member"},
    {"c: [read, net, pay]", "c: [read, 2, pay]", 3, 22, "the members of `c` must be words (letters, digits, `_`, `-`)"},
    {"user: [amy, bob]}", "next: [amy, bob]}", 3, 33,
     "`next` is no name for a family: use letters, digits and `_`, and no word of the language"},
    {"user: [amy, bob]}", "action: [amy, bob]}", 3, 33,
     "`action` has a meaning in guards and regions; choose another name for the family"},
    {"  busy[c]: ", "  user: \"true\"\n  busy[c]: ", 10, 3, "`user` is a family and a let"},
    {"  busy[c]: ", "  busy[d]: ", 10, 3, "no family `d` is declared; did you mean `c`?"},
    {"  busy[c]: ", "  clash: \"true\"\n  busy[c]: ", 12, 3, "let `clash` is declared already, with another index or none"},
    {"  seen[user]: bool", "  seen[usr]: bool", 7, 3, "no family `usr` is declared; did you mean `user`?"},
    {"  seen[user]: bool", "  seen[user][c]: bool", 7, 3, "`seen[user][c]` has two indices; a name has one at most"},
    {"  seen[user]: bool", "  seen[user,c]: bool", 7, 3, "`seen[user,c]` has two indices; a name has one at most"},
    {"  seen[user]: bool", "  seen[user: bool", 7, 3, "`seen[user` must end with its index in brackets, as in `seen[c]`"},
    {"  seen[user]: bool", "  cap: bool", 7, 3, "variable `cap` is declared already, with another index or none"},
    {"  seen[user]: bool", "  2seen[user]: bool", 7, 3,
     "`2seen` is no name for a variable: use letters, digits and `_`, and no word of the language"},
    {"if: \"clash[c]\"", "if: \"clash\"", 24, 26, "`clash` has an index: `clash[c]`"},
    {"if: \"clash[c]\"", "if: \"clash['nett']\"", 24, 32,
     "no member `nett` in the family `c`: there are `read`, `net`, `pay`; did you mean `net`?"},
    {"if: \"clash[c]\"", "if: \"clash[user]\"", 24, 32,
     "the index `user` is not bound here: ask `user.exists(x, …)`, or name a member"},
    {"if: \"clash[c]\"", "if: \"user.exists(u, clash[u])\"", 24, 47,
     "`clash` has an index of the family `c`, and this is one of `user`"},
    {"if: \"clash[c]\"", "if: \"clash[1]\"", 24, 32,
     "the index of `clash` must be `c`, a variable of a question, or a member in quotes"},
    {"if: \"clash[c]\"", "if: \"clash[c][c]\"", 24, 34, "a name has one index at most"},
    {"if: \"clash[c]\"", "if: \"clash[c, c]\"", 24, 33, "a name has one index at most"},
    {"if: \"clash[c]\"", "if: \"clash[pre.cap[c]]\"", 24, 32,
     "the index of `clash` must be `c`, a variable of a question, or a member in quotes"},
    {"if: \"clash[c]\"", "if: \"clash[c] && c == 'nett'\"", 24, 43,
     "never equal: `c` is one of `read`, `net`, `pay`; did you mean `net`?"},
    {"if: \"clash[c]\"", "if: \"clash[c] && 'amy' != c\"", 24, 38, "never equal: `c` is one of `read`, `net`, `pay`"},
    {"if: \"clash[c]\"", "if: \"clash[c] && c in ['net', 'pya']\"", 24, 51,
     "never equal: `c` is one of `read`, `net`, `pay`; did you mean `pay`?"},
    {"if: \"clash[c]\"", "if: \"clash[c] && user.exists(u, u == c)\"", 24, 58,
     "never equal: indices of the families `user` and `c`"},
    {"if: \"clash[c]\"", "if: \"clash[c] && action == 'gramt[c]'\"", 24, 48,
     "never equal: `action` is one of `ask[read]`, `ask[net]`, `ask[pay]`, `grant[read]`, `grant[net]`, `grant[pay]`, `see`, "
     "`drop[read]`, ..."},
    {"if: \"clash[c]\"", "if: \"clash[c] && c.exists(x, pre.cap)\"", 24, 54, "`cap` has an index: `pre.cap[c]`"},
    {"if: \"clash[c]\"", "if: \"clash[c] && c.exists(x, pre.cap[y] == 'none')\"", 24, 58,
     "the index of `cap` must be `c`, a variable of a question, or a member in quotes"},
    {"if: \"clash[c]\"", "if: \"clash[c] && c.exists(pre.cap)\"", 24, 50, "unexpected `.`; expected `,` and a condition"},
    {"if: \"clash[c]\"", "if: \"clash[c] && c.map(x, x) == []\"", 24, 40, "`map` needs a list or a map, got `string`"},
    {"if: \"clash[c]\"", "if: \"clash[c] && c.exists(x, pre.cap[x])\"", 24, 50,
     "bool expected by `||`, got `string`; compare it with a text"},
    {"busy[x])\"\n", "busy[c] && user == 'amy')\"\n", 11, 77,
     "the index `user` is not bound here: ask `user.exists(x, …)`, or name a member"},
    {"if: \"pre.frozen\"", "if: \"pre.frozen || pre.seen[user]\"", 17, 53,
     "the index `user` is not bound here: ask `user.exists(x, …)`, or name a member"},
    {"if: \"pre.frozen\"", "if: \"pre.frozen || pre.seen['amy'] || pre.seen[c]\"", 17, 72,
     "`seen` has an index of the family `user`, and this is one of `c`"},
    {"if: \"pre.frozen\"", "if: \"pre.frozen[c]\"", 17, 40, "no overload `bool[string]`"},
    {"frozen: \"true\",", "frozen: \"true\", cap: \"'none'\",", 28, 73, "`cap` has an index: `cap[c]`"},
    {"frozen: \"true\",", "frozen: \"true\", \"cap[*]\": \"'none'\",", 28, 73,
     "name the index, so that the value can: `cap[c]` sets all members"},
    {"\"count[net]\": \"0\"", "\"count[nett]\": \"0\"", 28, 93,
     "no variable `count[nett]` is declared; did you mean `count[net]`?"},
    {"\"count[net]\": \"0\"", "\"count[net]\": \"0\", \"cap[net]\": \"'none'\"", 28, 112, "`cap[net]` is set twice"},
    {"next: {\"cap[c]\": \"'none'\", \"count[c]\": \"0\"}", "next: {\"seen[user]\": \"false\"}", 27, 58,
     "`seen[user]` under an index of `c`: one index is all there can be; name a member"},
    {"by: [\"grant[c]\"]", "by: [\"grant[d]\"]", 33, 54, "no action `grant[d]` is declared"},
    {"by: [\"grant[c]\"]", "by: [grant]", 33, 54, "`grant` has an index: `grant[*]` are all of its members"},
    {"by: [\"grant[c]\"]", "by: [\"ask[c]\"]", 33, 54, "action `ask[read]` is no gate; say `gate: true` there or name another"},
    {"by: [\"grant[*]\"]", "by: [\"grant[c]\"]", 34, 60,
     "nothing binds the index of `grant[c]` here; say `grant[*]` for all members"},
    {"by: [\"grant[*]\"]", "by: [\"grant[*]\", \"grant[net]\"]", 34, 72, "action `grant[net]` is listed twice"},
    {"by: [\"grant[*]\"]", "by: [\"grent[*]\"]", 34, 60, "no action `grent[*]` is declared"},
    {"do: \"drop[c]\"", "do: \"drop[*]\"", 30, 54, "a nap takes one action; `revoke[c]` makes a nap for each member"},
    {"do: \"drop[c]\"", "do: drop", 30, 54, "`drop` has an index: `drop[*]` are all of its members"},
    {"do: \"drop[c]\"", "do: \"drop[net]\"", 30, 33, "the index `c` is not bound here: ask `c.exists(x, …)`, or name a member"},
    {"do: \"drop[c]\"", "do: \"dorp[c]\"", 30, 54, "no action `dorp[read]` is declared; did you mean `drop[read]`?"},
};

static void test_bad(void **state) {
    (void)state;
    machine_all_refused(grants, bad_rows, sizeof bad_rows / sizeof bad_rows[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_made), cmocka_unit_test(test_reads),
                                       cmocka_unit_test(test_what_it_means), cmocka_unit_test(test_small_and_nested),
                                       cmocka_unit_test(test_bad)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
