/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever monitors do, the ledger that they leave is whole: a random walk over sessions with children, approvals that are given, refused and expire,
 * calls that settle, fail, are late or abandoned, quarantines, ends and prunes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_ledger.h"
#include "helper_monitor.h"

#define WALKS 30
#define STEPS 120
#define SESSIONS 6

typedef struct walk {
    monitor_case c;
    il_ledger *l;
    il_monitor *m;
    uint64_t seed;
    uint64_t tickets[SESSIONS]; /* the highest */
    char approval[SESSIONS][IL_APPROVAL_ID_BYTES];
} walk;

/* xorshift64 */
static unsigned walk_pick(walk *w, unsigned n) {
    w->seed ^= w->seed << 13;
    w->seed ^= w->seed >> 7;
    w->seed ^= w->seed << 17;
    return (unsigned)(w->seed >> 33) % n;
}

static void walk_whole(void *ctx, const il_ledger_finding *f) {
    (void)ctx;
    print_message("%s, row %u, session %.*s: %s\n", f->what, (unsigned)f->row, IL_STR_ARG(f->session), f->message);
}

static void walk_verify(walk *w) {
    il_ledger_report report = IL_LEDGER_REPORT_INIT;
    assert_int_equal(il_ledger_verify(w->l, walk_whole, NULL, &report, NULL), IL_OK);
    assert_int_equal(report.findings, 0);
}

static void walk_decide(walk *w, unsigned s, il_str id) {
    static const char *const tools[] = {"u", "s", "us", "k", "n", "e", "E", "ue", "se", "uE", "c", "none"};
    const il_str tool = il_str_of(tools[walk_pick(w, sizeof tools / sizeof tools[0])]);
    const il_call call = {.size = sizeof call, .server = IL_STR("in"), .tool = tool};
    il_decision d = IL_DECISION_INIT;
    (void)!il_monitor_decide(w->m, id, &call, &d, NULL);
    if (d.ticket) {
        w->tickets[s] = d.ticket;
    }
    if (d.approval[0]) {
        memcpy(w->approval[s], d.approval, sizeof d.approval);
    }
}

static void walk_settle(walk *w, unsigned s, il_str id) {
    il_settlement out = IL_SETTLEMENT_INIT;
    const il_outcome how = {.size = sizeof how,
                            .how = walk_pick(w, 4) ? IL_OUTCOME_DONE : IL_OUTCOME_FAILED,
                            .absent = walk_pick(w, 3) ? 0 : walk_pick(w, 8)};
    const uint64_t back = walk_pick(w, 3);
    (void)!il_monitor_settle(w->m, id, w->tickets[s] > back ? w->tickets[s] - back : 0, &how, &out, NULL);
}

/* Of a file; also of a session that has not ended. */
static void walk_prune(walk *w, il_str id) {
    const il_store store = il_ledger_store(w->l);
    uint8_t state[IL_SESSION_STATE_MAX];
    size_t n = 0;
    uint64_t version = 0;
    if (store.load(store.ctx, IL_STR(IL_SPACE_SESSION), id, state, sizeof state, &n, &version, NULL) == IL_OK) {
        (void)!il_ledger_prune(w->l, id, version, w->c.now, NULL, NULL);
    }
}

static void walk_step(walk *w) {
    const unsigned s = walk_pick(w, SESSIONS);
    char name[8], parent[8];
    (void)snprintf(name, sizeof name, "w%u", s);
    (void)snprintf(parent, sizeof parent, "w%u", walk_pick(w, SESSIONS));
    const il_str id = il_str_of(name);
    const unsigned what = walk_pick(w, 100);
    const il_begin begin = {
        .size = sizeof begin, .resume = what % 2 == 0, .parent = what % 3 == 0 ? il_str_of(parent) : IL_STR("")};
    w->c.now += walk_pick(w, 40) == 0 ? 700000 : walk_pick(w, 2000);
    if (what < 10) {
        (void)!il_monitor_begin(w->m, id, &begin, NULL);
    } else if (what < 50) {
        walk_decide(w, s, id);
    } else if (what < 80) {
        walk_settle(w, s, id);
    } else if (what < 88) {
        (void)!il_monitor_approve(w->m, id, il_str_of(w->approval[s]), IL_STR("somebody"), NULL);
    } else if (what < 91) {
        (void)!il_monitor_refuse(w->m, id, il_str_of(w->approval[s]), IL_STR("somebody"), NULL);
    } else if (what < 94) {
        (void)!il_monitor_sweep(w->m, id, NULL, NULL);
    } else if (what < 95) {
        (void)!il_monitor_quarantine(w->m, id, IL_STR("test"), NULL);
    } else if (what < 97) {
        (void)!il_monitor_end(w->m, id, what % 2 == 0, NULL);
    } else if (what < 99) {
        (void)!il_monitor_recover(w->m, id, NULL, NULL);
    } else {
        walk_prune(w, id);
    }
}

typedef struct walk_kinds {
    size_t lapses, expired, settles, begins, prunes;
} walk_kinds;

static bool walk_kind(void *ctx, const il_ledger_row *row) {
    walk_kinds *k = ctx;
    const il_str expired = IL_STR("\"why\":\"expired\"");
    k->lapses += il_str_eq(row->kind, IL_STR("lapse"));
    k->settles += il_str_eq(row->kind, IL_STR("settle"));
    k->begins += il_str_eq(row->kind, IL_STR("begin"));
    k->prunes += il_str_eq(row->kind, IL_STR("prune"));
    k->expired += il_str_find(row->body, expired, 0) != SIZE_MAX;
    return true;
}

/* In monitor mode calls that are rejected run all the same. */
static void walk_policy(char *yaml, size_t cap, bool enforce) {
    assert_true(snprintf(yaml, cap, "%s%s", monitor_policy, enforce ? "" : "mode: monitor\n") < (int)cap);
}

static void walk_all(bool enforce, const char *path) {
    static walk w;
    static char yaml[16 << 10];
    walk_kinds kinds = {0};
    walk_policy(yaml, sizeof yaml, enforce);
    for (unsigned i = 0; i < WALKS; i++) {
        char file[LEDGER_TEST_PATH] = ":memory:";
        memset(&w, 0, sizeof w);
        w.seed = 0x9e3779b97f4a7c15u * (i + 1);
        monitor_case_init(&w.c, yaml);
        if (path) {
            ledger_test_path(file, path);
        }
        w.l = ledger_test_open(file, NULL);
        assert_int_equal(monitor_new(&w.c, w.c.policy.policy, NULL, il_ledger_store(w.l), enforce, &w.m), IL_OK);
        for (unsigned j = 0; j < STEPS; j++) {
            walk_step(&w);
        }
        walk_verify(&w);
        assert_int_equal(il_ledger_rows(w.l, IL_STR(""), walk_kind, &kinds, NULL), IL_OK);
        il_monitor_free(w.m);
        il_ledger_close(w.l);
        monitor_case_free(&w.c);
        if (path) {
            ledger_test_clean(file);
        }
    }
    /* The walk went everywhere; monitor mode asks nobody. */
    assert_true(kinds.settles > 100 && kinds.begins > WALKS);
    assert_true(!path || kinds.prunes > 10);
    assert_true(!enforce || (kinds.lapses > kinds.expired && kinds.expired > 0));
}

static void test_memory(void **state) {
    (void)state;
    walk_all(true, NULL);
}

static void test_monitor_mode(void **state) {
    (void)state;
    walk_all(false, NULL);
}

static void test_file(void **state) {
    (void)state;
    walk_all(true, "ledger.db");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory), cmocka_unit_test(test_monitor_mode),
                                       cmocka_unit_test(test_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
