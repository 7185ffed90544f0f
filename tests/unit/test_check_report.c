/* SPDX-License-Identifier: Apache-2.0 */
/* The reports: equal runs give equal bytes, a bounded run never looks clean, and the command's exit codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper_machine.h"
#include "json/node.h"

static il_str report_json(machine_case *c) {
    il_str out = {0};
    il_json *report = NULL;
    assert_int_equal(il_harden_object(&c->h, &c->arena, &report, &c->err), IL_OK);
    assert_int_equal(il_harden_json(report, &c->arena, &out, &c->err), IL_OK);
    return out;
}

static il_str report_text(machine_case *c) {
    il_str out = {0};
    assert_int_equal(il_harden_text(&c->h, &c->arena, &out, &c->err), IL_OK);
    return out;
}

static const il_json *report_parse(machine_case *c, il_str text) {
    il_json *doc = NULL;
    assert_int_equal(il_json_parse(&c->arena, text, NULL, &doc, &c->err), IL_OK);
    il_buf b;
    il_str sorted = {0};
    il_buf_init(&b, &c->arena, (size_t)1 << 24);
    il_json_write(&b, doc, IL_JSON_SORTED);
    assert_int_equal(il_buf_done(&b, &sorted, NULL), IL_OK);
    assert_true(il_str_eq(sorted, text)); /* canonical: nothing changes when it is written again */
    return doc;
}

static int64_t report_int(const il_json *o, const char *key) {
    int64_t v = -1;
    assert_true(il_json_int(il_json_get(o, il_str_of(key)), &v));
    return v;
}

static bool report_has(il_str text, const char *word) { return il_str_find(text, il_str_of(word), 0) != SIZE_MAX; }

static void test_json(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, NULL, 0);
    const il_json *o = report_parse(&c, report_json(&c));
    const il_json *table = il_json_get(o, IL_STR("table"));
    assert_true(il_json_bool(il_json_get(o, IL_STR("fully_mediated"))));
    assert_int_equal(report_int(table, "states"), 330);
    assert_int_equal(report_int(table, "edges"), 7065);
    assert_int_equal(report_int(table, "symbols"), 63);
    assert_int_equal(report_int(o, "exit"), 0);
    assert_int_equal(il_json_count(il_json_get(o, IL_STR("never_accepted"))), 15);
    assert_true(il_json_count(il_json_get(o, IL_STR("controls"))) >= 4);
    assert_int_equal(il_json_count(il_json_get(o, IL_STR("guards"))), 28);
    assert_int_equal(il_json_text(il_json_get(table, IL_STR("sha256"))).n, 64);
    size_t traced = 0;
    for (const il_json *k = il_json_first(il_json_get(o, IL_STR("checks"))); k; k = il_json_next(k)) {
        assert_true(il_str_eq(il_json_text(il_json_get(k, IL_STR("verdict"))), IL_STR("PASS")));
        const il_json *w = il_json_get(k, IL_STR("witness"));
        traced += il_json_count(w);
        for (const il_json *s = il_json_first(w); s; s = il_json_next(s)) {
            static const char *const keys[] = {"seq",    "principal", "action", "payload", "verdict",
                                               "reason", "pre",       "post",   "changed"};
            for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
                assert_non_null(il_json_get(s, il_str_of(keys[i])));
            }
        }
    }
    assert_int_equal(traced, 3); /* the way through the approval */
    machine_free(&c);
}

static void test_equal_runs_give_equal_bytes(void **state) {
    (void)state;
    machine_case a;
    machine_case b;
    machine_harden(&a, MACHINE_TRIFECTA, NULL, 0);
    machine_harden(&b, MACHINE_TRIFECTA, NULL, 0);
    assert_true(il_str_eq(report_json(&a), report_json(&b)));
    assert_true(il_str_eq(report_text(&a), report_text(&b)));
    machine_free(&a);
    machine_free(&b);
}

static void test_text_ends_with_the_verdict(void **state) {
    (void)state;
    machine_case c;
    machine_harden(&c, MACHINE_TRIFECTA, NULL, 0);
    assert_true(il_str_ends(
        report_text(&c), IL_STR("\nFULLY MEDIATED (given: labels, vouching, ledger; unmediated: asked, lowering of granted)\n")));
    machine_free(&c);
}

/* At every bound below what the checks need, nothing is clean; no word of the report says so. */
static void test_bounded_is_never_clean(void **state) {
    (void)state;
    static const uint32_t bounds[] = {1, 2, 10, 100, 329, 330, 512};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        machine_case c;
        machine_harden(&c, MACHINE_TRIFECTA, NULL, bounds[i]);
        assert_int_equal(c.status, IL_OK);
        assert_int_equal(c.h.exit, 2);
        assert_false(c.h.fully_mediated);
        assert_int_equal(c.h.certificate.n, 0);
        il_str json = report_json(&c);
        assert_true(report_has(json, "\"fully_mediated\":false"));
        assert_false(report_has(report_text(&c), "FULLY MEDIATED"));
        for (const il_check *k = c.h.checks; k && bounds[i] < 100; k = k->next) {
            assert_int_equal(k->verdict, IL_CHECK_INCONCLUSIVE);
        }
        if (bounds[i] < 100) {
            assert_false(report_has(json, "PASS"));
            assert_false(report_has(report_text(&c), "PASS"));
        }
        machine_free(&c);
    }
}

/* A bound does not hide what was found below it. */
static void test_bounded_finding(void **state) {
    (void)state;
    machine_case c;
    const machine_edit edits[] = {{"liveout: \"next.flight || next.open\"", "liveout: \"pre.flight || pre.open\""}, {NULL, NULL}};
    machine_harden(&c, MACHINE_TRIFECTA, edits, 60);
    machine_fails(&c, "from-init", "lethal-trifecta", "a{u,s,e}");
    assert_int_equal(c.h.exit, 1);
    assert_false(report_has(report_json(&c), "\"fully_mediated\":true"));
    machine_free(&c);
}

static int command(const char *arguments, char *out, size_t cap) {
    char line[1024];
    (void)snprintf(line, sizeof line, "%s/interlock harden %s 2>&1", IL_TEST_BINARY_DIR, arguments);
    FILE *p = popen(line, "r");
    assert_non_null(p);
    size_t n = fread(out, 1, cap - 1, p);
    out[n] = '\0';
    char rest[4096];
    while (fread(rest, 1, sizeof rest, p) > 0) { /* a closed pipe would change the exit code */
    }
    int status = pclose(p);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_command(void **state) {
    (void)state;
    static char out[1 << 18];
    char bad[] = "/tmp/interlock-harden-XXXXXX";
    int fd = mkstemp(bad);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    (void)fputs("machine: x\nversion: 1\nvars: {a: []}\nactions: {}\nregions: {}\ncontract: {rules: []}\n", f);
    assert_int_equal(fclose(f), 0);
    char line[256];
    assert_int_equal(command("machines/trifecta.yaml --json", out, sizeof out), 0);
    assert_non_null(strstr(out, "\"fully_mediated\":true"));
    assert_int_equal(out[strlen(out) - 1], '\n');
    assert_int_equal(command("machines/trifecta.yaml --json --max-states 10", out, sizeof out), 2);
    assert_null(strstr(out, "PASS"));
    assert_int_equal(command("--max-states=10 machines/trifecta.yaml", out, sizeof out), 2);
    assert_null(strstr(out, "PASS"));
    (void)snprintf(line, sizeof line, "%s", bad);
    assert_int_equal(command(line, out, sizeof out), 3);
    assert_non_null(strstr(out, ":3:11: error: `a` has an empty domain"));
    assert_int_equal(command("/nonexistent/machine.yaml", out, sizeof out), 3);
    assert_int_equal(command("", out, sizeof out), 3);
    assert_int_equal(command("machines/trifecta.yaml --max-states 0", out, sizeof out), 3);
    assert_int_equal(command("machines/trifecta.yaml --jsn", out, sizeof out), 3);
    f = fopen(bad, "w");
    assert_non_null(f);
    (void)fputs("interlock: 1\nmachine: trifecta\ntools:\n  - {match: a.read, effects: [sensitive]}\n", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(command(line, out, sizeof out), 0);
    assert_non_null(strstr(out, "\nFULLY MEDIATED (given: labels, vouching, ledger; unmediated: "));
    assert_int_equal(remove(bad), 0);
}

static bool sealed_file(const char *folder, const char *name) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* The sealing tool writes nothing for a machine that is not fully mediated, and the same bytes as the checker for one that is. */
static void test_seal(void **state) {
    (void)state;
    char folder[] = "/tmp/interlock-seal-XXXXXX";
    char line[1024];
    machine_case c;
    assert_non_null(mkdtemp(folder));
    const machine_edit edits[] = {{"call.approved && call.egress != 'once'", "call.approved && call.egress == 'none'"},
                                  {NULL, NULL}};
    machine_open(&c, MACHINE_TRIFECTA, edits);
    (void)snprintf(line, sizeof line, "%s/twin.yaml", folder);
    FILE *f = fopen(line, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(c.text.p, 1, c.text.n, f), c.text.n);
    assert_int_equal(fclose(f), 0);
    machine_free(&c);
    (void)snprintf(line, sizeof line, "cd %s && %s/interlock-seal twin.yaml t.table t.cert t.c 2>/dev/null", folder,
                   IL_TEST_BINARY_DIR);
    int status = system(line);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_false(sealed_file(folder, "t.table") || sealed_file(folder, "t.cert") || sealed_file(folder, "t.c"));
    (void)snprintf(line, sizeof line, "%s/interlock-seal %s/machines/trifecta.yaml %s/t.table %s/t.cert %s/t.c",
                   IL_TEST_BINARY_DIR, IL_TEST_SOURCE_DIR, folder, folder, folder);
    assert_int_equal(system(line), 0);
    machine_harden(&c, MACHINE_TRIFECTA, NULL, 0);
    (void)snprintf(line, sizeof line, "%s/t.table", folder);
    f = fopen(line, "rb");
    assert_non_null(f);
    static char bytes[1 << 20];
    size_t n = fread(bytes, 1, sizeof bytes, f);
    assert_int_equal(fclose(f), 0);
    assert_true(il_str_eq((il_str){bytes, n}, c.h.table));
    machine_free(&c);
    (void)snprintf(line, sizeof line, "rm -r %s", folder);
    assert_int_equal(system(line), 0);
}

static void test_out_of_memory(void **state) {
    (void)state;
    size_t failed = 0;
    for (size_t n = 0; n < 200000; n = n < 64 ? n + 1 : n + n / 3) {
        machine_case c;
        machine_open(&c, MACHINE_TRIFECTA, NULL);
        c.memory.left = n;
        const il_space_bounds bounds = {0};
        c.status = il_harden_run(&c.h, &c.memory.alloc, &c.arena, c.m, &bounds, &c.err);
        c.hardened = true;
        c.memory.left = SIZE_MAX;
        bool done = c.status == IL_OK && c.h.fully_mediated;
        if (c.status != IL_OK) {
            assert_int_equal(c.status, IL_E_MEMORY);
            failed++;
        }
        machine_free(&c);
        if (done) {
            break;
        }
    }
    assert_true(failed > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_equal_runs_give_equal_bytes),
        cmocka_unit_test(test_text_ends_with_the_verdict),
        cmocka_unit_test(test_bounded_is_never_clean),
        cmocka_unit_test(test_bounded_finding),
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_seal),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
