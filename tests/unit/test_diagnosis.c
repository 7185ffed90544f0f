/* SPDX-License-Identifier: Apache-2.0 */
/* The section `diagnosis`: what is refused, where, and what the message says; what is seen of a state; silent edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_machine.h"
#include "machine/diagnosis.h"
#include "yaml/yaml.h"

static const char head[] = "machine: tiny\n"
                           "version: 1\n"
                           "vars:\n"
                           "  flag: bool\n"
                           "  count: {int: 0..2, overflow: reject}\n"
                           "  mode: [idle, busy, done]\n"
                           "let:\n"
                           "  full: \"pre.count == 2\"\n"
                           "actions:\n"
                           "  go:\n"
                           "    principal: agent\n"
                           "    next: {flag: \"true\", count: \"pre.count + 1\"}\n"
                           "    reject: [{as: too-many, if: \"full\"}]\n"
                           "  stop:\n"
                           "    principal: runtime\n"
                           "    corrective: true\n"
                           "    call: {hard: bool, level: [low, high]}\n"
                           "    next: {mode: \"'done'\"}\n"
                           "regions:\n"
                           "  hot: {never: \"pre.flag && pre.mode == 'busy'\"}\n"
                           "  step: {never: \"pre.flag\", edge: [go]}\n"
                           "contract: {rules: [too-many]}\n";
enum { HEAD_LINES = 22 };

typedef struct bad_row {
    const char *section; /* its first line is line 1 of the expected position */
    uint32_t line, col;
    const char *message;
} bad_row;

static const bad_row bad_rows[] = {
    {"diagnosis: []", 1, 12, "`diagnosis` must be a map"},
    {"diagnosis: {}\nfleat: 1", 2, 1, "unknown key `fleat` in a machine; did you mean `fleet`?"},
    {"diagnosis: {see: [flag]}", 1, 13, "unknown key `see` in `diagnosis`; did you mean `sees`?"},
    {"diagnosis: {sees: flag}", 1, 19, "`sees` must be a list of variables; `[]` when none is seen"},
    {"diagnosis: {sees: [falg]}", 1, 20, "no variable `falg` is declared; did you mean `flag`?"},
    {"diagnosis: {sees: [[]]}", 1, 20, "no variable `` is declared"},
    {"diagnosis: {sees: [flag, flag]}", 1, 26, "variable `flag` is listed twice"},
    {"diagnosis: {verdicts: 1}", 1, 23, "`verdicts` must be true or false"},
    {"diagnosis: {sensors: [a]}", 1, 22, "`sensors` of `diagnosis` must be a map"},
    {"diagnosis: {sensors: {A: 'true'}}", 1, 23, "`A` is no name for a sensor: use lower-case letters, digits and `-`"},
    {"diagnosis: {sensors: {flag: 'pre.flag'}}", 1, 23, "`flag` is a variable; give the sensor another name"},
    {"diagnosis: {sensors: {a: 'pre.falg'}}", 1, 31, "no field `falg` in `pre`; did you mean `flag`?"},
    {"diagnosis: {sensors: {a: 'pre.count'}}", 1, 27, "must be `bool`, is `int`; did you mean `pre.count > 0`?"},
    {"diagnosis: {sensors: {a: 'next.flag'}}", 1, 27, "undeclared name `next`; there are `pre`"},
    {"diagnosis: {sensors: {a: []}}", 1, 26, "an expression must be text"},
    {"diagnosis: {uses: [fetched]}", 1, 20, "no sensor `fetched` is declared"},
    {"diagnosis: {sensors: {seen: 'full'}, uses: [sean]}", 1, 45, "no sensor `sean` is declared; did you mean `seen`?"},
    {"diagnosis: {sensors: {seen: 'full'}, uses: [seen, seen]}", 1, 51, "sensor `seen` is listed twice"},
    {"diagnosis: {uses: seen}", 1, 19, "`uses` must be a list of sensors"},
    {"diagnosis:\n  faults:\n    bug: {when: 'pre.flag'}", 3, 10, "fault `bug` needs `next`"},
    {"diagnosis:\n  faults:\n    bug: {next: {}}", 3, 17, "fault `bug` changes nothing; name a variable in `next`"},
    {"diagnosis:\n  faults:\n    bug: {nxet: {flag: 'true'}}", 3, 11, "unknown key `nxet` in a fault; did you mean `next`?"},
    {"diagnosis:\n  faults:\n    bug: {next: {flg: 'true'}}", 3, 18, "no variable `flg` is declared; did you mean `flag`?"},
    {"diagnosis:\n  faults:\n    bug: {next: {flag: \"'x'\"}}", 3, 25, "must be `bool`, is `string`; compare it with a text"},
    {"diagnosis:\n  faults:\n    bug: {next: {flag: 'call.hard'}}", 3, 25, "undeclared name `call`; there are `pre`"},
    {"diagnosis:\n  faults:\n    bug: 1", 3, 10, "fault `bug` must be a map with `next`, and `when` unless it is everywhere"},
    {"diagnosis:\n  faults: [bug]", 2, 11, "`faults` of `diagnosis` must be a map"},
    {"diagnosis:\n  alarms: {hto: {raise: certain}}", 2, 12, "no region `hto` is declared; did you mean `hot`?"},
    {"diagnosis:\n  alarms: {step: {raise: certain}}", 2, 12, "region `step` judges steps; an alarm is for a region of states"},
    {"diagnosis: {sensors: {}}", 1, 22, "`sensors` of `diagnosis` has no entry; leave it out, or name 1 to 32"},
    {"diagnosis:\n  faults:\n    bug: {next: {'flag[*]': true}}", 3, 18, "no variable `flag[*]` is declared"},
    {"diagnosis:\n  faults:\n    bug: {next: {'flag[': true}}", 3, 18,
     "`flag[` must end with its index in brackets, as in `flag[c]`"},
    {"diagnosis:\n  alarms: {hot: certain}", 2, 17, "alarm `hot` must be a map with `raise`"},
    {"diagnosis:\n  alarms: {hot: {within: 1}}", 2, 17, "alarm `hot` needs `raise`"},
    {"diagnosis:\n  alarms: {hot: {raise: likely}}", 2, 25, "`raise` of alarm `hot` must be `possible` or `certain`"},
    {"diagnosis:\n  alarms: {hot: {raise: certain, within: 0}}", 2, 42,
     "`within` must be a whole number of steps from 1 to 1000000"},
    {"diagnosis:\n  alarms: {hot: {raise: certain, shield: go}}", 2, 42,
     "action `go` is no correction; say `corrective: true` there or name another"},
    {"diagnosis:\n  alarms: {hot: {raise: certain, shield: stpo}}", 2, 42, "no action `stpo` is declared; did you mean `stop`?"},
    {"diagnosis:\n  alarms: {hot: {raise: possible, shield: stop}}", 2, 43,
     "the shield of alarm `hot` acts on a mere possibility, which an attacker may bring about; say with `why` why that is right, "
     "or "
     "raise `certain`"},
    {"diagnosis:\n  alarms: {hot: {raise: possible, shield: stop, why: ''}}", 2, 54, "`why` of an alarm must be a sentence"},
    {"diagnosis:\n  alarms: {hot: {raise: possible, shield: stop, why: \"a\\e[2J\"}}", 2, 54,
     "a sentence is one line without control characters"},
    {"diagnosis:\n  alarms: {hot: {raise: certain, shield: [stop]}}", 2, 42,
     "`shield` must be an action, or a map of one action and its payload"},
    {"diagnosis:\n  alarms: {hot: {raise: certain, shield: {stop: 1}}}", 2, 49, "the payload of `stop` must be a map of fields"},
    {"diagnosis:\n  alarms: {hot: {raise: certain, shield: {stop: {hrad: true}}}}", 2, 50,
     "no field `hrad` is declared; did you mean `hard`?"},
    {"diagnosis:\n  alarms: {hot: {raise: certain, shield: {stop: {level: hihg}}}}", 2, 57,
     "no value `hihg` is declared; did you mean `high`?"},
};

static void test_bad(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_rows / sizeof bad_rows[0]; i++) {
        const bad_row *row = &bad_rows[i];
        char text[4096];
        (void)snprintf(text, sizeof text, "%s%s\n", head, row->section);
        machine_case c;
        machine_load_text(&c, text);
        if (c.status == IL_OK || strcmp(c.err.msg, row->message) != 0 || c.err.line != row->line + HEAD_LINES ||
            c.err.col != row->col) {
            fail_msg("`%s`: %u:%u `%s`, not %u:%u `%s`", row->section, (unsigned)c.err.line - HEAD_LINES, (unsigned)c.err.col,
                     c.err.msg, (unsigned)row->line, (unsigned)row->col, row->message);
        }
        machine_free(&c);
    }
}

static const char whole[] = "diagnosis:\n"
                            "  sees: [mode]\n"
                            "  verdicts: false\n"
                            "  sensors: {seen: 'full', odd: 'pre.count % 2 == 1', broken: '1 / pre.count > 0'}\n"
                            "  uses: [odd]\n"
                            "  faults:\n"
                            "    bug: {when: '!pre.flag', next: {flag: true, mode: \"'busy'\"}}\n"
                            "    leap: {next: {count: 'pre.count + 2'}}\n"
                            "  alarms:\n"
                            "    hot: {raise: certain, within: 3, shield: {stop: {level: high}}}\n";

static void open_whole(machine_case *c) {
    static char text[4096];
    (void)snprintf(text, sizeof text, "%s%s", head, whole);
    machine_load_text(c, text);
    if (c->status != IL_OK) {
        fail_msg("%u:%u: %s", (unsigned)c->err.line, (unsigned)c->err.col, c->err.msg);
    }
}

static uint64_t state_of(const il_model *m, uint32_t flag, uint32_t count, uint32_t mode) {
    return il_model_set(m, il_model_set(m, il_model_set(m, 0, 0, flag), 1, count), 2, mode);
}

static void test_section(void **state) {
    (void)state;
    machine_case c;
    open_whole(&c);
    const il_diagnosis *d = c.m->diagnosis;
    assert_non_null(d);
    assert_int_equal(d->sees, 4);
    assert_false(d->verdicts);
    assert_int_equal(d->nsensors, 3);
    assert_int_equal(d->uses, 2);
    assert_int_equal(d->nsilent, 2);
    assert_int_equal(d->nalarms, 1);
    assert_int_equal(d->alarms[0].region, 0);
    assert_true(d->alarms[0].certain);
    assert_int_equal(d->alarms[0].within, 3);
    assert_int_equal(d->alarms[0].shield, c.m->actions[1].first_symbol + 1);
    machine_free(&c);
}

static void test_absent(void **state) {
    (void)state;
    machine_case c;
    machine_load_text(&c, head);
    assert_int_equal(c.status, IL_OK);
    assert_null(c.m->diagnosis);
    il_diagnosis d = il_diagnosis_default(c.m);
    assert_int_equal(d.sees, 7);
    assert_true(d.verdicts);
    machine_free(&c);
}

static void test_view(void **state) {
    (void)state;
    machine_case c;
    open_whole(&c);
    const il_model *m = c.m;
    uint64_t a = state_of(m, 0, 0, 1);
    uint64_t b = state_of(m, 1, 1, 1);
    assert_int_equal(il_diagnosis_view(m, 4, 0, a), il_diagnosis_view(m, 4, 0, b));
    assert_int_not_equal(il_diagnosis_view(m, 1, 0, a), il_diagnosis_view(m, 1, 0, b));
    assert_int_not_equal(il_diagnosis_view(m, 2, 0, a), il_diagnosis_view(m, 2, 0, b));
    assert_int_equal(il_diagnosis_view(m, 0, 0, a), il_diagnosis_view(m, 0, 0, state_of(m, 1, 2, 2)));
    assert_int_not_equal(il_diagnosis_view(m, 4, 2, a), il_diagnosis_view(m, 4, 2, b)); /* odd */
    assert_int_equal(il_diagnosis_view(m, 4, 1, a), il_diagnosis_view(m, 4, 1, b));     /* neither full */
    /* an error is evidence: at count 0 the broken sensor divides by zero, at 1 it is true, at 2 it is false */
    assert_int_equal(il_diagnosis_view(m, 0, 4, a), il_diagnosis_view(m, 0, 4, b));
    assert_int_not_equal(il_diagnosis_view(m, 0, 4, a), il_diagnosis_view(m, 0, 4, state_of(m, 0, 2, 0)));
    machine_free(&c);
}

static void test_silent(void **state) {
    (void)state;
    machine_case c;
    open_whole(&c);
    const il_model *m = c.m;
    uint64_t next = 0;
    assert_true(il_silent_step(m, &m->diagnosis->silent[0], state_of(m, 0, 1, 0), &next));
    assert_int_equal(next, state_of(m, 1, 1, 1));
    assert_false(il_silent_step(m, &m->diagnosis->silent[0], state_of(m, 1, 1, 0), &next)); /* `when` */
    assert_true(il_silent_step(m, &m->diagnosis->silent[1], state_of(m, 0, 0, 0), &next));
    assert_int_equal(next, state_of(m, 0, 2, 0));
    assert_false(il_silent_step(m, &m->diagnosis->silent[1], state_of(m, 0, 1, 0), &next)); /* leaves its domain */
    machine_free(&c);
}

static const char families[] = "machine: many\n"
                               "version: 1\n"
                               "families: {c: [net, pay]}\n"
                               "vars:\n"
                               "  cap[c]: [none, active]\n"
                               "  hot: bool\n"
                               "actions:\n"
                               "  grab[c]:\n"
                               "    principal: agent\n"
                               "    next: {\"cap[c]\": \"'active'\"}\n"
                               "    reject: [{as: twice, if: \"pre.cap[c] == 'active'\"}]\n"
                               "  drop[c]:\n"
                               "    principal: runtime\n"
                               "    corrective: true\n"
                               "    next: {\"cap[c]\": \"'none'\"}\n"
                               "regions: {'bad[c]': {never: \"pre.cap[c] == 'active' && pre.hot\"}}\n"
                               "contract: {rules: [twice]}\n"
                               "diagnosis:\n"
                               "  sees: ['cap[*]']\n"
                               "  sensors: {'warm[c]': \"pre.hot && pre.cap[c] == 'active'\"}\n"
                               "  uses: ['warm[pay]']\n"
                               "  faults:\n"
                               "    'leak[c]': {when: \"pre.cap[c] == 'none'\", next: {'cap[c]': \"'active'\", hot: true}}\n"
                               "    all: {next: {'cap[c]': \"c == 'net' ? 'active' : 'none'\"}}\n"
                               "  alarms: {'bad[c]': {raise: certain, shield: 'drop[c]'}}\n";

/* A name with an index stands for each member of its family. */
static void test_families(void **state) {
    (void)state;
    machine_case c;
    machine_load_text(&c, families);
    if (c.status != IL_OK) {
        fail_msg("%u:%u: %s", (unsigned)c.err.line, (unsigned)c.err.col, c.err.msg);
    }
    const il_diagnosis *d = c.m->diagnosis;
    uint64_t next = 0;
    assert_int_equal(d->sees, 3);
    assert_int_equal(d->nsensors, 2);
    assert_int_equal(d->uses, 2);
    assert_int_equal(d->nsilent, 3);
    assert_int_equal(d->nalarms, 2);
    assert_int_equal(d->alarms[1].region, 1);
    assert_int_equal(d->alarms[0].shield, c.m->actions[2].first_symbol);
    assert_int_equal(d->alarms[1].shield, c.m->actions[3].first_symbol);
    assert_true(il_silent_step(c.m, &d->silent[1], 0, &next)); /* leak[pay] */
    assert_int_equal(next, il_model_set(c.m, il_model_set(c.m, 0, 1, 1), 2, 1));
    assert_true(il_silent_step(c.m, &d->silent[2], 0, &next)); /* all: each under its own index */
    assert_int_equal(next, il_model_set(c.m, 0, 0, 1));
    machine_free(&c);
}

/* Whichever allocation fails, loading says so and leaves nothing behind. */
static void test_allocations(void **state) {
    (void)state;
    char text[4096];
    (void)snprintf(text, sizeof text, "%s%s", head, whole);
    il_status status = IL_E_MEMORY;
    size_t n = 0;
    for (; status != IL_OK && n < 10000; n++) {
        test_memory memory;
        il_arena arena;
        il_json *doc = NULL;
        il_model *m = NULL;
        il_error err = {0};
        test_memory_init(&memory, n);
        il_arena_init(&arena, &memory.alloc, (size_t)1 << 26);
        status = il_yaml_parse(&arena, il_str_of(text), NULL, &doc, &err);
        status = status == IL_OK ? il_model_load(&arena, doc, &m, &err) : status;
        assert_true(status == IL_OK || status == IL_E_MEMORY);
        il_arena_free(&arena);
        assert_int_equal(memory.live, 0);
    }
    assert_int_equal(status, IL_OK);
    assert_true(n > 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),      cmocka_unit_test(test_section), cmocka_unit_test(test_absent),
        cmocka_unit_test(test_view),     cmocka_unit_test(test_silent),  cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
