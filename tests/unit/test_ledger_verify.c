/* SPDX-License-Identifier: Apache-2.0 */
/* il_ledger_verify finds each edit, and nothing in a ledger that nobody touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper_ledger.h"
#include "helper_monitor.h"

#define SEEN_MAX 64
typedef struct seen {
    size_t n;
    struct {
        uint64_t row;
        char what[32], session[64];
    } found[SEEN_MAX];
} seen;

static void see(void *ctx, const il_ledger_finding *f) {
    seen *s = ctx;
    assert_true(f->message[0] && f->advice[0]);
    if (s->n < SEEN_MAX) {
        s->found[s->n].row = f->row;
        (void)snprintf(s->found[s->n].what, sizeof s->found[0].what, "%s", f->what);
        (void)snprintf(s->found[s->n].session, sizeof s->found[0].session, "%.*s", IL_STR_ARG(f->session));
    }
    s->n++;
}

static size_t verify(const char *path, seen *s) {
    const il_ledger_options look = {.size = sizeof look, .read_only = true};
    il_ledger_report report = IL_LEDGER_REPORT_INIT;
    il_error err = {0};
    il_ledger *l = ledger_test_open(path, &look);
    *s = (seen){0};
    if (il_ledger_verify(l, see, s, &report, &err) != IL_OK) {
        fail_msg("verify: %s", err.msg);
    }
    assert_int_equal(report.findings, s->n);
    il_ledger_close(l);
    return s->n;
}

/* Three real sessions: the ledger of version 1, upgraded. */
static void real_ledger(char path[LEDGER_TEST_PATH]) {
    seen s;
    ledger_test_path(path, "ledger.db");
    ledger_test_version_1(path);
    il_ledger_close(ledger_test_open(path, NULL));
    assert_int_equal(verify(path, &s), 0);
}

static bool found(const seen *s, const char *what, uint64_t row, const char *session) {
    for (size_t i = 0; i < s->n && i < SEEN_MAX; i++) {
        if (strcmp(s->found[i].what, what) == 0 && s->found[i].row == row && strcmp(s->found[i].session, session) == 0) {
            return true;
        }
    }
    return false;
}

typedef struct edit {
    const char *sql, *what;
    uint64_t row;
    const char *session;
} edit;

static const edit edits[] = {
    {"UPDATE rows SET body = replace(body, 'allow', 'block') WHERE seq = 2", "row-body", 2, "demo"},
    {"UPDATE rows SET body = 'x' WHERE seq = 2", "row-body", 2, "demo"},
    {"UPDATE rows SET body_hash = zeroblob(32) WHERE seq = 2", "row-hash", 2, "demo"},
    {"UPDATE rows SET time_ms = time_ms + 1 WHERE seq = 3", "row-hash", 3, "demo"},
    {"UPDATE rows SET ticket = 9 WHERE seq = 3", "row-hash", 3, "demo"},
    {"UPDATE rows SET kind = 'settle' WHERE seq = 3", "row-hash", 3, "demo"},
    {"UPDATE rows SET hash = zeroblob(32) WHERE seq = 3", "row-hash", 3, "demo"},
    {"UPDATE rows SET key = 'other' WHERE seq = 3", "row-hash", 3, "other"},
    {"DELETE FROM rows WHERE seq = 5", "row-missing", 6, "demo"},
    {"DELETE FROM rows WHERE seq = 1", "row-missing", 2, ""},
    {"DELETE FROM rows WHERE seq < 12", "row-missing", 12, ""},
    {"UPDATE rows SET body = NULL WHERE seq = 2", "row-erased", 2, "demo"},
    {"UPDATE rows SET body = NULL WHERE kind = 'upgrade'", "row-erased", 23, ""},
    /* two rows of one session change places */
    {"UPDATE rows SET seq = 1002 WHERE seq = 2; UPDATE rows SET seq = 2 WHERE seq = 3; UPDATE rows SET seq = 3 WHERE seq = 1002",
     "row-hash", 2, "demo"},
    /* an appended row that no hash covers */
    {"INSERT INTO rows VALUES(24, 1, 'session', 'demo', 'decision', 0, '{}', zeroblob(32), zeroblob(32))", "row-hash", 24,
     "demo"},
    {"INSERT INTO rows VALUES(24, 1, 'session', 'nobody', 'decision', 0, '{}', zeroblob(32), zeroblob(32))", "session-missing",
     24, "nobody"},
    /* the object: another packed state (`demo` is in 0a, untrusted held), no bytes of ours, gone */
    {"UPDATE objects SET state = (SELECT state FROM objects WHERE key = 'other') WHERE key = 'demo'", "object-state", 13, "demo"},
    {"UPDATE objects SET state = CAST(substr(state, 1, 20) AS BLOB) WHERE key = 'demo'", "object-damaged", 0, "demo"},
    {"UPDATE objects SET state = x'' WHERE key = 'demo'", "object-damaged", 0, "demo"},
    {"DELETE FROM objects WHERE key = 'demo'", "session-missing", 1, "demo"},
    {"DELETE FROM rows WHERE key = 'other'", "row-missing", 0, "other"},
    /* the end of the trail cut off, objects kept */
    {"DELETE FROM rows WHERE seq >= 22", "object-state", 21, "other"},
    {"DELETE FROM rows WHERE seq >= 17", "object-state", 16, "over"},
    {"DELETE FROM rows WHERE seq >= 13", "object-calls", 0, "demo"},
    /* acts of pruning that nobody did */
    {"INSERT INTO pruned VALUES(1, 'session', 'demo', 9, 13, 10, zeroblob(32), zeroblob(32))", "acts-head", 0, ""},
};

static void test_edits(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        char path[LEDGER_TEST_PATH];
        seen s;
        real_ledger(path);
        ledger_test_sql(path, edits[i].sql);
        (void)verify(path, &s);
        if (!found(&s, edits[i].what, edits[i].row, edits[i].session)) {
            for (size_t j = 0; j < s.n && j < SEEN_MAX; j++) {
                print_message("%s row %u `%s`\n", s.found[j].what, (unsigned)s.found[j].row, s.found[j].session);
            }
            fail_msg("`%s` is not found as %s of row %u in `%s`", edits[i].sql, edits[i].what, (unsigned)edits[i].row,
                     edits[i].session);
        }
        ledger_test_clean(path);
    }
}

/* One edited body is one finding: the rows behind it follow from the hash that is stored. */
static void test_once(void **state) {
    (void)state;
    char path[LEDGER_TEST_PATH];
    seen s;
    real_ledger(path);
    ledger_test_sql(path, "UPDATE rows SET body = replace(body, '10m', '11m') || ' ' WHERE seq = 4");
    assert_int_equal(verify(path, &s), 1);
    ledger_test_clean(path);
}

/* Words that the page about the ledger explains. */
static void test_words(void **state) {
    (void)state;
    static char page[64 << 10];
    FILE *f = fopen("docs/ledger.md", "r");
    assert_non_null(f);
    page[fread(page, 1, sizeof page - 1, f)] = '\0';
    assert_int_equal(fclose(f), 0);
    for (size_t i = 0; i <= sizeof edits / sizeof edits[0]; i++) {
        char word[48];
        (void)snprintf(word, sizeof word, "| `%s` |", i < sizeof edits / sizeof edits[0] ? edits[i].what : "object-bond");
        if (!strstr(page, word)) {
            fail_msg("docs/ledger.md has no row for %s", word);
        }
    }
}

/* ---- edits that somebody then works on: what is written afterwards must not hide them ---------- */

typedef struct used {
    monitor_case c;
    char path[LEDGER_TEST_PATH];
    il_ledger *l;
    il_monitor *m;
} used;

static void used_begin(used *u, const char *id, bool resume) {
    const il_begin begin = {.size = sizeof begin, .resume = resume};
    assert_int_equal(il_monitor_begin(u->m, il_str_of(id), &begin, NULL), IL_OK);
}

static void used_call(used *u, const char *id, const char *tool) {
    const il_call call = {.size = sizeof call, .server = IL_STR("in"), .tool = il_str_of(tool)};
    const il_outcome done = {.size = sizeof done, .how = IL_OUTCOME_DONE};
    il_decision d = IL_DECISION_INIT;
    il_settlement s = IL_SETTLEMENT_INIT;
    assert_int_equal(il_monitor_decide(u->m, il_str_of(id), &call, &d, NULL), IL_OK);
    assert_true(d.run);
    assert_int_equal(il_monitor_settle(u->m, il_str_of(id), d.ticket, &done, &s, NULL), IL_OK);
}

/* `s` holds untrusted and sensitive after row 3; `over` has ended with rows 4 to 7, which are pruned by row 8. */
static void used_init(used *u) {
    char text[IL_SESSION_STATE_MAX];
    memset(u, 0, sizeof *u);
    monitor_case_init(&u->c, monitor_policy);
    ledger_test_path(u->path, "ledger.db");
    u->l = ledger_test_open(u->path, NULL);
    assert_int_equal(monitor_new(&u->c, u->c.policy.policy, NULL, il_ledger_store(u->l), true, &u->m), IL_OK);
    used_begin(u, "s", false);
    used_call(u, "s", "us");
    used_begin(u, "over", false);
    used_call(u, "over", "u");
    assert_int_equal(il_monitor_end(u->m, IL_STR("over"), false, NULL), IL_OK);
    const uint64_t version = ledger_test_load(u->l, "over", text, sizeof text);
    assert_int_equal(il_ledger_prune(u->l, IL_STR("over"), version, u->c.now, NULL, NULL), IL_OK);
}

static void used_free(used *u) {
    il_monitor_free(u->m);
    il_ledger_close(u->l);
    monitor_case_free(&u->c);
    ledger_test_clean(u->path);
}

static il_session used_load(used *u, const char *id) {
    char text[IL_SESSION_STATE_MAX];
    const il_store store = il_ledger_store(u->l);
    uint64_t version = 0;
    size_t n = 0;
    il_session s;
    assert_int_equal(store.load(store.ctx, IL_STR("session"), il_str_of(id), (uint8_t *)text, sizeof text, &n, &version, NULL),
                     IL_OK);
    assert_int_equal(il_session_decode((const uint8_t *)text, n, &s, NULL), IL_OK);
    return s;
}

/* Puts it where it was, past the ledger. */
static void used_edit(used *u, const char *id, const il_session *s) {
    static char sql[2 * IL_SESSION_STATE_MAX + 128];
    uint8_t bytes[IL_SESSION_STATE_MAX];
    size_t n = 0, at;
    assert_int_equal(il_session_encode(s, bytes, sizeof bytes, &n, NULL), IL_OK);
    at = (size_t)snprintf(sql, sizeof sql, "UPDATE objects SET state = x'");
    for (size_t i = 0; i < n; i++) {
        at += (size_t)snprintf(sql + at, sizeof sql - at, "%02x", bytes[i]);
    }
    (void)snprintf(sql + at, sizeof sql - at, "' WHERE key = '%s'", id);
    ledger_test_sql(u->path, sql);
}

static il_session used_clean(const il_session *s) {
    il_session clean = *s;
    clean.state = 0; /* the initial one of this machine */
    clean.counted = clean.flight = clean.open = 0;
    memset(clean.witnesses, 0, sizeof clean.witnesses);
    return clean;
}

static void used_finds(used *u, const char *what, uint64_t row, const char *session) {
    seen s;
    (void)verify(u->path, &s);
    if (!found(&s, what, row, session)) {
        for (size_t j = 0; j < s.n && j < SEEN_MAX; j++) {
            print_message("%s row %u `%s`\n", s.found[j].what, (unsigned)s.found[j].row, s.found[j].session);
        }
        fail_msg("%s of row %u in `%s` is not found", what, (unsigned)row, session);
    }
}

static void test_used_taint_removed(void **state) {
    (void)state;
    static used u;
    seen none;
    used_init(&u);
    assert_int_equal(verify(u.path, &none), 0);
    il_session s = used_load(&u, "s");
    s = used_clean(&s);
    used_edit(&u, "s", &s);
    used_begin(&u, "s", true); /* nothing in between: its first row says nothing of before */
    used_call(&u, "s", "E");
    used_finds(&u, "state-step", 9, "s");
    used_free(&u);
}

static void test_used_object_removed(void **state) {
    (void)state;
    static used u;
    used_init(&u);
    ledger_test_sql(u.path, "DELETE FROM objects");
    used_begin(&u, "s", false);
    used_begin(&u, "over", false);
    used_finds(&u, "session-missing", 9, "s");
    used_finds(&u, "session-missing", 10, "over");
    used_free(&u);
}

/* A copy of the session from before its end is not what the pruning saw. */
static void test_used_object_older(void **state) {
    (void)state;
    static used u;
    used_init(&u);
    ledger_test_sql(u.path, "UPDATE objects SET version = 3 WHERE key = 'over'");
    used_finds(&u, "object-state", 0, "over");
    used_free(&u);
}

static void test_used_bond(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        static used u;
        used_init(&u);
        il_session s = used_load(&u, "s");
        s.policy[0] ^= i == 0;
        s.machine[0] ^= i == 1;
        s.principal[0] = i == 2 ? 'x' : s.principal[0];
        s.parent[0] = i == 3 ? 'x' : s.parent[0];
        used_edit(&u, "s", &s);
        used_finds(&u, "object-bond", 0, "s");
        used_free(&u);
    }
}

static void test_memory(void **state) {
    (void)state;
    const il_ledger_options few = {.size = sizeof few, .keep_rows = 3};
    il_ledger_report report = IL_LEDGER_REPORT_INIT;
    bool chained = false;
    il_ledger *l = ledger_test_open(":memory:", &few);
    for (uint64_t i = 0; i < 10; i++) {
        assert_int_equal(ledger_test_commit(l, "s", i, "state", "step", NULL), IL_OK);
    }
    assert_int_equal(il_ledger_dropped(l), 7);
    assert_int_equal(ledger_test_rows(l, "", &chained), 3);
    assert_false(chained); /* from zeros: it is not */
    assert_int_equal(il_ledger_verify(l, NULL, NULL, &report, NULL), IL_OK);
    assert_int_equal(report.first, 8);
    assert_int_equal(report.last, 10);
    assert_int_equal(report.findings, 1); /* the state is none of a session's; the chain follows from what was dropped */
    il_ledger_close(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_edits),
                                       cmocka_unit_test(test_once),
                                       cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_used_taint_removed),
                                       cmocka_unit_test(test_used_object_removed),
                                       cmocka_unit_test(test_used_object_older),
                                       cmocka_unit_test(test_used_bond),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
