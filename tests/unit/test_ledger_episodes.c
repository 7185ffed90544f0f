/* SPDX-License-Identifier: Apache-2.0 */
/* What sessions know, in a ledger: verify finds what was changed, taken or added; prune takes it with the rows; a second process reads it. */
#include <stdio.h>
#include <string.h>

#include "helper_ledger.h"
#include "helper_monitor.h"

#define EPISODES_SEEN 16

typedef struct episodes_seen {
    size_t n;
    char what[EPISODES_SEEN][32];
} episodes_seen;
static void episodes_see(void *ctx, const il_ledger_finding *f) {
    episodes_seen *s = ctx;
    if (s->n < EPISODES_SEEN) {
        (void)snprintf(s->what[s->n], sizeof s->what[0], "%s", f->what);
    }
    s->n++;
}

typedef struct episodes_case {
    monitor_case c;
    char path[LEDGER_TEST_PATH];
    il_ledger *l;
    il_monitor *m;
} episodes_case;

static void episodes_call(episodes_case *e, const char *id, const char *tool, const char *args, const char *result) {
    const il_call call = {
        .size = sizeof call, .server = IL_STR("in"), .tool = il_str_of(tool), .args = policy_json(&e->c.policy, args)};
    const il_outcome done = {
        .size = sizeof done, .how = IL_OUTCOME_DONE, .result = result ? policy_json(&e->c.policy, result) : NULL, .bare = true};
    il_decision d = IL_DECISION_INIT;
    il_settlement s = IL_SETTLEMENT_INIT;
    assert_int_equal(il_monitor_decide(e->m, il_str_of(id), &call, &d, &e->c.err), IL_OK);
    assert_true(d.run);
    assert_int_equal(il_monitor_settle(e->m, il_str_of(id), d.ticket, &done, &s, &e->c.err), IL_OK);
    assert_true(s.release);
}

/* Two sessions with a human each, a result and a mail; `over` has ended. */
static void episodes_init(episodes_case *e) {
    static const char *const ids[] = {"s", "over"};
    memset(e, 0, sizeof *e);
    monitor_case_init(&e->c, monitor_remembers);
    ledger_test_path(e->path, "ledger.db");
    e->l = ledger_test_open(e->path, NULL);
    assert_int_equal(monitor_new(&e->c, e->c.policy.policy, NULL, il_ledger_store(e->l), true, &e->m), IL_OK);
    for (size_t i = 0; i < 2; i++) {
        const il_begin begin = {.size = sizeof begin};
        assert_int_equal(il_monitor_begin(e->m, il_str_of(ids[i]), &begin, NULL), IL_OK);
        assert_int_equal(il_monitor_say(e->m, il_str_of(ids[i]), IL_STR("mail bo@there.example"), NULL), IL_OK);
        episodes_call(e, ids[i], "read", "{}", "[{\"from\":\"al@far.example\",\"body\":\"hi\"}]");
        episodes_call(e, ids[i], "mail", "{\"to\":\"bo@there.example\",\"body\":\"hello\"}", NULL);
    }
    assert_int_equal(il_monitor_end(e->m, IL_STR("over"), false, NULL), IL_OK);
}
static void episodes_free(episodes_case *e) {
    il_monitor_free(e->m);
    il_ledger_close(e->l);
    monitor_case_free(&e->c);
    ledger_test_clean(e->path);
}

static size_t episodes_verify(episodes_case *e, episodes_seen *s) {
    il_ledger_report report = IL_LEDGER_REPORT_INIT;
    memset(s, 0, sizeof *s);
    assert_int_equal(il_ledger_verify(e->l, episodes_see, s, &report, NULL), IL_OK);
    return report.findings;
}

/* One edit past the ledger, one finding by that word. */
static void episodes_find(const char *sql, const char *what) {
    episodes_case e;
    episodes_seen s;
    episodes_init(&e);
    assert_int_equal(episodes_verify(&e, &s), 0);
    ledger_test_sql(e.path, sql);
    if (episodes_verify(&e, &s) == 0 || strcmp(s.what[0], what) != 0) {
        fail_msg("%s: %zu findings, the first %s, not %s", sql, s.n, s.what[0], what);
    }
    episodes_free(&e);
}

#define EPISODES_FIRST "id = (SELECT min(id) FROM objects WHERE space = 'memory')"

static void episodes_edits(void **state) {
    (void)state;
    episodes_find("DELETE FROM objects WHERE " EPISODES_FIRST, "episode-missing");
    episodes_find("UPDATE objects SET state = CAST(state || x'00' AS BLOB) WHERE " EPISODES_FIRST, "episode-damaged");
    episodes_find("UPDATE objects SET state = (SELECT state FROM objects WHERE space = 'memory' ORDER BY id LIMIT 1 OFFSET 1) "
                  "WHERE " EPISODES_FIRST,
                  "episode-damaged");
    episodes_find(
        "INSERT INTO objects(space, key, version, state, changed_ms) SELECT space, substr(key, 1, 33) || '99', 1, state, "
        "changed_ms FROM objects WHERE " EPISODES_FIRST,
        "episode-added");
    episodes_find("INSERT INTO objects(space, key, version, state, changed_ms) VALUES('memory', '0123.1', 1, x'00', 1)",
                  "episode-added");
}

/* A session that was put back to an older state of itself, with all of its episodes: the rows say what it knew. */
static void episodes_older(void **state) {
    (void)state;
    episodes_case e;
    episodes_seen s;
    episodes_init(&e);
    ledger_test_sql(e.path, "CREATE TABLE kept AS SELECT state FROM objects WHERE key = 's'");
    assert_int_equal(il_monitor_say(e.m, IL_STR("s"), IL_STR("no, rather nobody"), NULL), IL_OK);
    ledger_test_sql(e.path,
                    "UPDATE objects SET state = (SELECT state FROM kept) WHERE key = 's'; DELETE FROM objects WHERE space = "
                    "'memory' AND id = (SELECT max(id) FROM objects); DROP TABLE kept");
    assert_true(episodes_verify(&e, &s) > 0);
    bool found = false;
    for (size_t i = 0; i < s.n && i < EPISODES_SEEN; i++) {
        found = found || strcmp(s.what[i], "object-recalled") == 0;
    }
    assert_true(found);
    episodes_free(&e);
}

static void episodes_words(void **state) {
    (void)state;
    static const char *const words[] = {"object-recalled", "episode-missing", "episode-damaged", "episode-added"};
    static char page[64 << 10];
    FILE *f = fopen("docs/ledger.md", "r");
    assert_non_null(f);
    page[fread(page, 1, sizeof page - 1, f)] = '\0';
    assert_int_equal(fclose(f), 0);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char word[48];
        (void)snprintf(word, sizeof word, "| `%s` |", words[i]);
        assert_non_null(strstr(page, word));
    }
}

/* What a session that has ended knew goes with its rows; the other keeps its own, and the ledger is whole. */
static void episodes_prune(void **state) {
    (void)state;
    episodes_case e;
    episodes_seen s;
    char text[IL_SESSION_STATE_MAX];
    uint64_t erased = 0;
    episodes_init(&e);
    const int64_t before = ledger_test_number(e.path, "SELECT count(*) FROM objects WHERE space = 'memory'");
    const uint64_t version = ledger_test_load(e.l, "over", text, sizeof text);
    assert_int_equal(il_ledger_prune(e.l, IL_STR("over"), version, e.c.now, &erased, NULL), IL_OK);
    assert_true(erased > 0);
    assert_int_equal(ledger_test_number(e.path, "SELECT count(*) FROM objects WHERE space = 'memory'"), before / 2);
    assert_int_equal(episodes_verify(&e, &s), 0);
    assert_int_equal(il_monitor_say(e.m, IL_STR("over"), IL_STR("more"), NULL),
                     IL_E_STATE); /* and nothing is added to what is gone */
    const il_call call = {.size = sizeof call, .server = IL_STR("in"), .tool = IL_STR("n")};
    il_decision d = IL_DECISION_INIT;
    assert_int_equal(il_monitor_decide(e.m, IL_STR("over"), &call, &d, NULL), IL_OK);
    assert_string_equal(d.reason, "ended");
    episodes_call(&e, "s", "mail", "{\"to\":\"bo@there.example\",\"body\":\"again\"}", NULL);
    assert_int_equal(episodes_verify(&e, &s), 0);
    episodes_free(&e);
}

/* Another handle on the same file goes on where this one is, and this one where that one was. */
static void episodes_two_handles(void **state) {
    (void)state;
    episodes_case e;
    episodes_seen s;
    il_monitor *other = NULL, *own;
    episodes_init(&e);
    il_ledger *l = ledger_test_open(e.path, NULL);
    il_host_recalls *recalls[2] = {NULL, NULL};
    il_monitor_free(e.m);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(il_host_recalls_new(il_host_alloc(), 0, &recalls[i], NULL), IL_OK);
        e.c.cache = il_host_recalls_cache(recalls[i]);
        assert_int_equal(
            monitor_new(&e.c, e.c.policy.policy, NULL, il_ledger_store(i == 0 ? e.l : l), true, i == 0 ? &e.m : &other), IL_OK);
    }
    own = e.m;
    for (int i = 0; i < 6; i++) {
        char said[64], args[96];
        (void)snprintf(said, sizeof said, "and p%d@there.example", i);
        (void)snprintf(args, sizeof args, "{\"to\":\"p%d@there.example\",\"body\":\"x\"}", i);
        assert_int_equal(il_monitor_say(i % 2 == 0 ? own : other, IL_STR("s"), il_str_of(said), NULL), IL_OK);
        e.m = i % 2 == 0 ? other : own;
        episodes_call(&e, "s", "mail", args, NULL);
    }
    e.m = own;
    assert_int_equal(episodes_verify(&e, &s), 0);
    il_monitor_free(other);
    il_ledger_close(l);
    episodes_free(&e);
    il_host_recalls_free(recalls[0]);
    il_host_recalls_free(recalls[1]);
}

/* The cache of the host's: what is used last stays, what is too large goes, of two the one that knows more. */
static void episodes_cache(void **state) {
    (void)state;
    static monitor_case c;
    il_host_recalls *r = NULL;
    monitor_case_init(&c, monitor_remembers);
    assert_int_equal(il_host_recalls_new(il_host_alloc(), (size_t)1 << 20, &r, NULL), IL_OK);
    const il_recall_cache *cache = il_host_recalls_cache(r);
    il_monitor_free(c.monitor);
    c.cache = cache;
    c.monitor = monitor_make(&c, c.policy.policy, NULL, false);
    assert_null(cache->take(cache->ctx, IL_STR("s1")));
    assert_int_equal(il_monitor_say(c.monitor, IL_STR("s1"), IL_STR("one"), &c.err), IL_OK);
    il_recall *one = cache->take(cache->ctx, IL_STR("s1"));
    assert_non_null(one);
    assert_null(cache->take(cache->ctx, IL_STR("s1"))); /* somebody has it */
    assert_int_equal(il_monitor_say(c.monitor, IL_STR("s1"), IL_STR("two"), &c.err), IL_OK);
    cache->give(cache->ctx, IL_STR("s1"), one); /* knows less than the one that was made meanwhile */
    il_recall *two = cache->take(cache->ctx, IL_STR("s1"));
    assert_non_null(two);
    assert_int_equal(il_recall_episodes(two), 2);
    cache->give(cache->ctx, IL_STR("s1"), two);
    il_host_recalls_free(r);
    il_host_recalls_free(NULL);
    c.cache = NULL;
    monitor_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(episodes_edits),       cmocka_unit_test(episodes_older),
                                       cmocka_unit_test(episodes_words),       cmocka_unit_test(episodes_prune),
                                       cmocka_unit_test(episodes_two_handles), cmocka_unit_test(episodes_cache)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
