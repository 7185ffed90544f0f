/* SPDX-License-Identifier: Apache-2.0 */
/* Two versions of a machine: what the new one accepts that the old one denied, what is lost, what is listed; and random pairs against a plain search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/widening.h"
#include "helper_machine.h"

typedef struct widening_case {
    machine_case old, now;
    il_widening w;
} widening_case;

static void widening_loaded(const machine_case *c) {
    if (c->status != IL_OK) {
        fail_msg("%u:%u: %s", (unsigned)c->err.line, (unsigned)c->err.col, c->err.msg);
    }
}

static void widening_go(widening_case *c, uint32_t states) {
    const il_space_bounds bounds = {.states = states};
    widening_loaded(&c->old);
    widening_loaded(&c->now);
    assert_int_equal(il_widening_run(&c->w, &c->now.memory.alloc, &c->now.arena, c->now.m, c->old.m, &bounds, &c->now.err),
                     IL_OK);
}

static void widening_text(widening_case *c, const char *old, const char *now) {
    machine_load_text(&c->old, old);
    machine_load_text(&c->now, now);
    widening_go(c, 0);
}

static void widening_end(widening_case *c, int exit) {
    assert_int_equal(c->w.exit, exit);
    assert_int_equal(c->w.control.state, IL_CONTROL_FAILED_AS_IT_MUST);
    machine_free(&c->now);
    machine_free(&c->old);
}

static void witness_text(const widening_case *c, const il_widening_line *l, char *out, size_t cap) {
    size_t at = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < l->nsteps; i++) {
        const il_widening_step *s = &l->steps[i];
        il_buf b;
        il_str text = {0};
        il_buf_init(&b, c->now.m->arena, 4096);
        il_model_symbol_brief(s->new_symbol == IL_NO_SYMBOL ? c->old.m : c->now.m,
                              s->new_symbol == IL_NO_SYMBOL ? s->old_symbol : s->new_symbol, &b);
        assert_int_equal(il_buf_done(&b, &text, NULL), IL_OK);
        at += (size_t)snprintf(out + at, cap - at, "%s%.*s", i ? " " : "", (int)text.n, text.p);
    }
}

/* The line with this id, action (empty: any) and rule. */
static void line_is(const widening_case *c, const char *id, const char *action, const char *rule, il_check_verdict verdict,
                    const char *finding, const char *witness) {
    char text[1024];
    for (uint32_t i = 0; i < c->w.nlines; i++) {
        const il_widening_line *l = &c->w.lines[i];
        if (strcmp(l->id, id) != 0 || !il_str_eq(l->action, il_str_of(action)) || !il_str_eq(l->rule, il_str_of(rule))) {
            continue;
        }
        witness_text(c, l, text, sizeof text);
        if (l->verdict != verdict || strcmp(l->finding ? l->finding : "", finding) != 0 || strcmp(text, witness) != 0) {
            fail_msg("%s %s %s: %s %s `%s`", id, action, rule, il_check_verdict_name(l->verdict), l->finding ? l->finding : "-",
                     text);
        }
        return;
    }
    fail_msg("no line %s %s %s", id, action, rule);
}

static size_t lines_of(const widening_case *c, const char *id) {
    size_t n = 0;
    for (uint32_t i = 0; i < c->w.nlines; i++) {
        n += strcmp(c->w.lines[i].id, id) == 0;
    }
    return n;
}

static void trifecta(widening_case *c, const machine_edit *old, const machine_edit *now, uint32_t states) {
    machine_load(&c->old, MACHINE_TRIFECTA, old);
    machine_load(&c->now, MACHINE_TRIFECTA, now);
    widening_go(c, states);
}

/* ---- a door: small enough to see everything ------------------------------------------------------- */

#define DOOR(vars, open, more, rules, regions)                                                                        \
    "machine: door\nversion: 1\nvars: {open: bool, key: bool" vars "}\n"                                              \
    "actions:\n"                                                                                                      \
    "  take: {principal: human, gate: true, next: {key: \"true\"}, reject: [{as: taken, if: \"pre.key\"}]}\n"         \
    "  open: {principal: agent, gate: true, next: {open: \"true\"}, reject: [{as: locked, if: \"" open "\"}]}\n" more \
    "regions:\n  wide: {never: \"pre.open && !pre.key\"}\n" regions "contract: {rules: [taken, locked" rules "]}\n"
#define CLOSE "  close: {principal: agent, gate: true, next: {open: \"false\"}, reject: [{as: locked, if: \"!pre.open\"}]}\n"
static const char door[] = DOOR("", "!pre.key || pre.open", CLOSE, "", "");

static void same(void **state) {
    (void)state;
    widening_case c;
    trifecta(&c, NULL, NULL, 0);
    line_is(&c, "widening", "", "", IL_CHECK_PASS, "", "");
    line_is(&c, "region", "", "lethal-trifecta", IL_CHECK_PASS, "", "");
    assert_int_equal(c.w.states, 330);
    assert_int_equal(c.w.matched, 63);
    assert_null(c.w.only_old);
    assert_null(c.w.only_new);
    assert_int_equal(lines_of(&c, "narrowing"), 0);
    widening_end(&c, 0);
    widening_text(&c, door, door);
    line_is(&c, "widening", "", "", IL_CHECK_PASS, "", "");
    widening_end(&c, 0);
}

static void widened(void **state) {
    (void)state;
    widening_case c;
    const machine_edit once[] = {{"reject:\n      - {as: too-many-approvals, if: \"pre.asked + pre.granted >= K\"}",
                                  "reject:\n      - {as: too-many-approvals, if: \"pre.asked + pre.granted >= K - 1\"}"},
                                 {0}};
    trifecta(&c, once, NULL, 0);
    line_is(&c, "widening", "request", "too-many-approvals", IL_CHECK_FAIL, "WIDENED", "request request");
    widening_end(&c, 1);
    trifecta(&c, NULL, once, 0); /* the other way round it is narrower, which is told and no finding */
    line_is(&c, "widening", "", "", IL_CHECK_PASS, "", "");
    line_is(&c, "narrowing", "request", "too-many-approvals", IL_CHECK_PASS, "NARROWED", "request request");
    widening_end(&c, 0);

    widening_text(&c, door, DOOR("", "pre.open", CLOSE, "", ""));
    line_is(&c, "widening", "open", "locked", IL_CHECK_FAIL, "WIDENED", "open");
    widening_end(&c, 1);
    widening_text(&c, door,
                  DOOR("", "!pre.key || pre.open",
                       CLOSE "  pick: {principal: agent, next: {open: \"true\"}, reject: [{as: locked, if: \"pre.open\"}]}\n", "",
                       ""));
    line_is(&c, "widening", "pick", "no-symbol", IL_CHECK_FAIL, "WIDENED", "pick");
    assert_true(il_str_eq(c.w.only_new->text, IL_STR("pick")));
    widening_end(&c, 1);
}

/* The same steps, and another takes them. */
static void principals(void **state) {
    (void)state;
    widening_case c;
    char text[1024];
    (void)snprintf(text, sizeof text, "%s", door);
    memcpy(strstr(text, "human"), "agent", 5);
    widening_text(&c, door, text);
    line_is(&c, "widening", "", "", IL_CHECK_PASS, "", "");
    line_is(&c, "principal", "take", "", IL_CHECK_FAIL, "GIVEN_AWAY", "");
    widening_end(&c, 1);
    widening_text(&c, text, door); /* taken back */
    assert_int_equal(lines_of(&c, "principal"), 0);
    widening_end(&c, 0);
    strcat(text, "widens: [{action: take, as: principal, why: x}]\n");
    widening_text(&c, door, text);
    line_is(&c, "widens", "take", "principal", IL_CHECK_PASS, "LISTED", "");
    assert_int_equal(lines_of(&c, "principal"), 0);
    widening_end(&c, 0);
    widening_text(&c, text, text); /* and not where nothing was given */
    line_is(&c, "widens", "take", "principal", IL_CHECK_VACUOUS, "NEVER_HAPPENS", "");
    widening_end(&c, 2);
}

#define PICK "  pick: {principal: agent, next: {open: \"true\"}, reject: [{as: locked, if: \"pre.open\"}]}\n"

static void listed(void **state) {
    (void)state;
    widening_case c;
    widening_text(&c, door, DOOR("", "pre.open", CLOSE, "", "") "widens: [{action: open, as: locked, why: \"it is day\"}]\n");
    line_is(&c, "widening", "", "", IL_CHECK_PASS, "", "");
    line_is(&c, "widens", "open", "locked", IL_CHECK_PASS, "LISTED", "open");
    widening_end(&c, 0);
    /* what lies behind a listed step is looked at as well: the door that was opened without a key is closed without one */
    widening_text(&c,
                  DOOR("", "!pre.key || pre.open",
                       "  close: {principal: agent, gate: true, next: {open: \"false\"}, reject: [{as: locked, if: \"!pre.open "
                       "|| !pre.key\"}]}\n",
                       "", ""),
                  DOOR("", "!pre.key || pre.open", CLOSE PICK, "", "") "widens: [{action: pick, as: no-symbol, why: x}]\n");
    line_is(&c, "widens", "pick", "no-symbol", IL_CHECK_PASS, "LISTED", "pick");
    line_is(&c, "widening", "close", "locked", IL_CHECK_FAIL, "WIDENED", "pick close");
    widening_end(&c, 1);
    widening_text(&c, door, DOOR("", "!pre.key || pre.open", CLOSE, "", "") "widens: [{action: open, as: locked, why: x}]\n");
    line_is(&c, "widens", "open", "locked", IL_CHECK_VACUOUS, "NEVER_HAPPENS", "");
    widening_end(&c, 2);
    widening_text(&c, door, DOOR("", "!pre.key || pre.open", CLOSE, "", "") "widens: [{action: take, as: lokced, why: x}]\n");
    line_is(&c, "widens", "take", "lokced", IL_CHECK_VACUOUS, "NEVER_HAPPENS", "");
    widening_end(&c, 2);
}

static void broken(void **state) {
    (void)state;
    widening_case c;
    widening_text(&c, door, DOOR("", "!pre.key || pre.open", "", "", "")); /* nobody closes it any more */
    line_is(&c, "symbol", "close", "", IL_CHECK_FAIL, "LOST_SYMBOL", "take open close");
    widening_end(&c, 1);
    widening_text(
        &c,
        DOOR("", "!pre.key", "  shut: {principal: agent, next: {open: \"false\"}, reject: [{as: jammed, if: \"!pre.open\"}]}\n",
             ", jammed", ""),
        DOOR("", "!pre.key", "  shut: {principal: agent, next: {open: \"false\"}, reject: [{as: locked, if: \"!pre.open\"}]}\n",
             "", ""));
    line_is(&c, "rule", "", "jammed", IL_CHECK_FAIL, "BREAKING_RULE", "");
    widening_end(&c, 1);
    /* an approval may release what was final */
    const machine_edit released[] = {{"releasable: [lethal-trifecta]", "releasable: [lethal-trifecta, no-approval]"}, {0}};
    trifecta(&c, NULL, released, 0);
    line_is(&c, "releasable", "", "no-approval", IL_CHECK_FAIL, "RELEASABLE", "");
    widening_end(&c, 1);
    char text[1024];
    (void)snprintf(text, sizeof text, "%s", DOOR("", "!pre.key || pre.open", CLOSE, "", ""));
    (void)snprintf(strstr(text, "contract"), 200, "contract: {rules: [taken, locked], releasable: [locked]}\n");
    widening_text(&c, door, text);
    line_is(&c, "releasable", "", "locked", IL_CHECK_FAIL, "RELEASABLE", "");
    widening_end(&c, 1);
    strcat(text, "widens: [{action: open, as: locked, why: x}]\n");
    widening_text(&c, door, text);
    line_is(&c, "widens", "open", "locked", IL_CHECK_PASS, "LISTED", "");
    widening_end(&c, 0);
}

static void regions(void **state) {
    (void)state;
    widening_case c;
    char text[1024];
    widening_text(&c, DOOR("", "!pre.key || pre.open", CLOSE, "", "  shut: {never: \"pre.open\"}\n"), door);
    line_is(&c, "region", "", "shut", IL_CHECK_FAIL, "LOST_REGION", "");
    line_is(&c, "region", "", "wide", IL_CHECK_PASS, "", "");
    widening_end(&c, 1);
    widening_text(&c, DOOR("", "!pre.key || pre.open", CLOSE, "", "  shut: {never: \"pre.open\"}\n"),
                  DOOR("", "!pre.key || pre.open", CLOSE, "", "  shut: {never: \"pre.open && !pre.key\"}\n"));
    line_is(&c, "region", "", "shut", IL_CHECK_FAIL, "REGION_WEAKENED", "take open");
    widening_end(&c, 1);
    widening_text(&c, DOOR("", "!pre.key || pre.open", CLOSE, "", "  shut: {edge: [open], never: \"next.open\"}\n"),
                  DOOR("", "!pre.key || pre.open", CLOSE, "", "  shut: {edge: [open], never: \"next.open && !pre.key\"}\n"));
    line_is(&c, "region", "", "shut", IL_CHECK_FAIL, "REGION_WEAKENED", "take open");
    widening_end(&c, 1);
    (void)snprintf(text, sizeof text, "%s", door);
    (void)snprintf(strstr(text, "  wide"), 200,
                   "  wide: {gated: \"pre.open && !pre.key\", by: [open]}\ncontract: {rules: [taken, locked]}\n");
    widening_text(&c, door, text);
    line_is(&c, "region", "", "wide", IL_CHECK_FAIL, "REGION_WEAKENED", "");
    widening_end(&c, 1);
    /* what the region turned on is gone: nothing is claimed */
    widening_text(&c, DOOR(", lamp: bool", "!pre.key || pre.open", CLOSE, "", "  dark: {never: \"pre.open && pre.lamp\"}\n"),
                  DOOR("", "!pre.key || pre.open", CLOSE, "", "  dark: {never: \"pre.open && !pre.key\"}\n"));
    line_is(&c, "region", "", "dark", IL_CHECK_INCONCLUSIVE, "NOT_COMPARED", "");
    assert_true(il_str_eq(c.w.only_old->text, IL_STR("lamp")));
    widening_end(&c, 2);
}

static void bounds(void **state) {
    (void)state;
    widening_case c;
    trifecta(&c, NULL, NULL, 20);
    assert_true(c.w.bound_hit);
    line_is(&c, "widening", "", "", IL_CHECK_INCONCLUSIVE, "", "");
    line_is(&c, "region", "", "lethal-trifecta", IL_CHECK_INCONCLUSIVE, "", "");
    widening_end(&c, 2);
    widening_text(&c, door,
                  "machine: other\nversion: 1\nvars: {x: bool}\nactions:\n"
                  "  spin: {principal: agent, next: {x: \"!pre.x\"}, reject: [{as: taken, if: \"pre.x\"}]}\n"
                  "  jump: {principal: agent, next: {x: \"pre.x\"}, reject: [{as: locked, if: \"!pre.x\"}]}\n"
                  "regions: {wide: {never: \"false\"}}\ncontract: {rules: [taken, locked]}\n"
                  "widens: [{action: spin, as: no-symbol, why: x}, {action: jump, as: no-symbol, why: x}]\n");
    line_is(&c, "widening", "", "", IL_CHECK_VACUOUS, "NOTHING_COMPARED", "");
    line_is(&c, "symbol", "take", "", IL_CHECK_FAIL, "LOST_SYMBOL", "take");
    widening_end(&c, 1);
}

/* The two shipped machines are no versions of each other, and the comparison says where. */
static void shipped(void **state) {
    (void)state;
    widening_case c;
    machine_load(&c.old, MACHINE_STANDARD, NULL);
    machine_load(&c.now, MACHINE_TRIFECTA, NULL);
    widening_go(&c, 0);
    line_is(&c, "widening", "admit", "secret-egress", IL_CHECK_FAIL, "WIDENED", "admit{sensitive,egress=once}");
    line_is(&c, "widening", "admit", "tainted-commit", IL_CHECK_FAIL, "WIDENED", "admit{untrusted}");
    line_is(&c, "rule", "", "secret-egress", IL_CHECK_FAIL, "BREAKING_RULE", "");
    line_is(&c, "region", "", "secret-egress", IL_CHECK_FAIL, "LOST_REGION", "");
    assert_int_equal(c.w.matched, 213);
    widening_end(&c, 1);
    machine_load(&c.old, MACHINE_TRIFECTA, NULL);
    machine_load(&c.now, MACHINE_STANDARD, NULL);
    widening_go(&c, 0);
    assert_int_equal(c.w.matched, 63);
    assert_int_equal(lines_of(&c, "rule"), 0);
    line_is(&c, "widening", "admit", "no-symbol", IL_CHECK_FAIL, "WIDENED", "admit{commit}");
    widening_end(&c, 1);
}

/* ---- random pairs ---------------------------------------------------------------------------------- */

static void random_pairs(void **state) {
    (void)state;
    size_t wider = 0, narrower = 0, same_count = 0;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        char old[2048], now[2048];
        widening_case c;
        uint32_t s = seed * 7919u;
        (void)machine_random(&s, old, sizeof old);
        s = seed % 3 ? s : seed * 7919u;
        (void)machine_random(&s, now, sizeof now);
        if (seed % 3 == 0 && strstr(now, "pre.a > 0")) { /* versions that differ in one guard */
            memcpy(strstr(now, "pre.a > 0"), "pre.a > 1", 9);
        }
        widening_text(&c, old, now);
        /* every pair by plain search: 18 states each */
        uint32_t depth[64][64];
        uint32_t first_wide[3], first_narrow[3];
        memset(depth, 0xff, sizeof depth);
        memset(first_wide, 0xff, sizeof first_wide);
        memset(first_narrow, 0xff, sizeof first_narrow);
        uint32_t pairs = 0;
        depth[c.old.m->initial][c.now.m->initial] = 0;
        for (uint32_t d = 0, more = 1; more; d++) {
            more = 0;
            for (uint32_t at = 0; at < 64 * 64; at++) {
                if (depth[at / 64][at % 64] != d) {
                    continue;
                }
                pairs++;
                for (uint32_t symbol = 0; symbol < 6; symbol++) {
                    const il_step a = il_model_eval(c.old.m, NULL, at / 64, symbol).step;
                    const il_step b = il_model_eval(c.now.m, NULL, at % 64, symbol).step;
                    const bool was = a.verdict == IL_ACCEPT, is = b.verdict == IL_ACCEPT;
                    if (was && is && depth[a.next][b.next] == UINT32_MAX) {
                        depth[a.next][b.next] = d + 1;
                        more = 1;
                    }
                    if (!was && is && first_wide[symbol / 2] == UINT32_MAX) {
                        first_wide[symbol / 2] = d + 1;
                    }
                    if (was && !is && first_narrow[symbol / 2] == UINT32_MAX) {
                        first_narrow[symbol / 2] = d + 1;
                    }
                }
            }
        }
        assert_int_equal(c.w.states, pairs);
        for (uint32_t i = 0; i < 3; i++) {
            char action[8];
            (void)snprintf(action, sizeof action, "act%u", i);
            uint32_t wide = UINT32_MAX, narrow = UINT32_MAX;
            for (uint32_t k = 0; k < c.w.nlines; k++) {
                const il_widening_line *l = &c.w.lines[k];
                if (il_str_eq(l->action, il_str_of(action))) {
                    wide = strcmp(l->id, "widening") == 0 ? l->nsteps : wide;
                    narrow = strcmp(l->id, "narrowing") == 0 ? l->nsteps : narrow;
                }
            }
            if (wide != first_wide[i] || narrow != first_narrow[i]) {
                fail_msg("seed %u %s: wider after %d, not %d; narrower after %d, not %d", seed, action, (int)wide,
                         (int)first_wide[i], (int)narrow, (int)first_narrow[i]);
            }
            wider += wide != UINT32_MAX;
            narrower += narrow != UINT32_MAX;
            same_count += wide == UINT32_MAX && narrow == UINT32_MAX;
        }
        machine_free(&c.now);
        machine_free(&c.old);
    }
    print_message("%zu actions wider, %zu narrower, %zu neither\n", wider, narrower, same_count);
    assert_true(wider > 30 && narrower > 30 && same_count > 30);
}

static void memory(void **state) {
    (void)state;
    size_t needed = 0;
    for (size_t left = 0; left <= needed; left++) {
        widening_case c;
        il_arena results;
        test_memory m;
        machine_load_text(&c.old, door);
        machine_load_text(&c.now, DOOR("", "pre.open", CLOSE, "", ""));
        test_memory_init(&m, left ? left - 1 : SIZE_MAX);
        il_arena_init(&results, &m.alloc, (size_t)1 << 30);
        const il_status status = il_widening_run(&c.w, &m.alloc, &results, c.now.m, c.old.m, NULL, &c.now.err);
        assert_int_equal(status, left ? IL_E_MEMORY : IL_OK);
        needed = left ? needed : m.calls;
        il_arena_free(&results);
        assert_int_equal(m.live, 0);
        machine_free(&c.now);
        machine_free(&c.old);
    }
    assert_true(needed > 5);
}

typedef struct bad_row {
    const char *widens;
    uint32_t col;
    const char *message;
} bad_row;

static void bad_lists(void **state) {
    (void)state;
    static const bad_row rows[] = {
        {"[]", 9, "`widens` must be a list of 1 to 64 entries"},
        {"[open]", 10, "an entry of `widens` must be {action: …, as: RULE, why: …}"},
        {"[{action: opne, as: locked, why: x}]", 19, "no action `opne` is declared; did you mean `open`?"},
        {"[{action: open, as: locked}]", 10, "an entry of `widens` needs `why`"},
        {"[{action: open, as: locked, why: ''}]", 42, "`why` must say who decided it, and why"},
        {"[{action: open, as: locked, why: \"a\\nFULLY MEDIATED\"}]", 42, "a sentence is one line without control characters"},
        {"[{action: open, as: locked, why: \"a\\e[2J\"}]", 42, "a sentence is one line without control characters"},
        {"[{action: open, as: locked, why: \"a\\u202Eb\"}]", 42, "a sentence is one line without control characters"},
        {"[{action: open, as: Locked, why: x}]", 29, "`Locked` is no name for a rule: use lower-case letters, digits and `-`"},
        {"[{action: open, as: a, why: x}, {action: open, as: a, why: z}]", 41, "`open` as `a` is listed twice"},
        {"[{action: open, ass: a, why: x}]", 25, "unknown key `ass` in an entry of `widens`; did you mean `as`?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[2048];
        machine_case c;
        (void)snprintf(text, sizeof text, "%swidens: %s\n", door, rows[i].widens);
        machine_load_text(&c, text);
        if (c.status == IL_OK || c.err.col != rows[i].col || strcmp(c.err.msg, rows[i].message) != 0) {
            fail_msg("%s: col %u: %s", rows[i].widens, (unsigned)c.err.col, c.status == IL_OK ? "loads" : c.err.msg);
        }
        machine_free(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same),   cmocka_unit_test(widened),  cmocka_unit_test(principals),
                                       cmocka_unit_test(listed), cmocka_unit_test(broken),   cmocka_unit_test(regions),
                                       cmocka_unit_test(bounds), cmocka_unit_test(shipped),  cmocka_unit_test(random_pairs),
                                       cmocka_unit_test(memory), cmocka_unit_test(bad_lists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
