/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols that are read out of the trail are those that the monitor stepped: from each row's `pre`, the machine itself
 * goes with them to the row's `post`, whatever was called, answered, settled late, joined or frozen. */
#include "helper_monitor.h"

#include "ledger/row_steps.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_RUNS 150
#define STEPS_ACTS 80
#define STEPS_FLIGHTS 6
#define STEPS_SESSIONS 4

typedef struct steps_case {
    monitor_case monitor;
    il_bind bind;
    const char *const *tools;
    uint32_t ntools;
    uint32_t seed;
    uint32_t nflights;
    struct {
        uint32_t session;
        uint64_t ticket;
    } flights[STEPS_FLIGHTS];
    uint32_t nsessions;
    size_t seen[IL_ROW_DAMAGED + 1], joins, refines, rejects, lapses, shadows;
} steps_case;

static const char *const steps_ids[STEPS_SESSIONS] = {"s1", "s2", "s3", "s4"};

static uint32_t steps_next(steps_case *c, uint32_t below) {
    c->seed = c->seed * 1664525u + 1013904223u;
    return (c->seed >> 8) % below;
}

static void steps_settle(steps_case *c, uint32_t i) {
    const uint32_t session = c->flights[i].session;
    il_outcome o = {.size = sizeof o,
                    .how = steps_next(c, 4) ? IL_OUTCOME_DONE : IL_OUTCOME_FAILED,
                    .absent = steps_next(c, 3) ? 0 : steps_next(c, 8) | (steps_next(c, 2) ? 6u : 0u)};
    il_settlement s = IL_SETTLEMENT_INIT;
    const uint64_t ticket = c->flights[i].ticket;
    c->flights[i] = c->flights[--c->nflights];
    (void)!il_monitor_settle(c->monitor.monitor, il_str_of(steps_ids[session]), ticket, &o, &s, &c->monitor.err);
}

static void steps_call(steps_case *c, il_monitor *monitor, uint32_t session) {
    char args[32];
    (void)snprintf(args, sizeof args, "{\"a\":%u}", steps_next(c, 3));
    il_monitor *kept = c->monitor.monitor;
    c->monitor.monitor = monitor;
    const il_status status = monitor_decide_in(&c->monitor, steps_ids[session], c->tools[steps_next(c, c->ntools)], args);
    c->monitor.monitor = kept;
    if (status != IL_OK) {
        return; /* an ended session */
    }
    if (c->monitor.d.approval[0] && !c->monitor.d.run) {
        const il_str id = il_str_of(c->monitor.d.approval), s = il_str_of(steps_ids[session]);
        const uint32_t answer = steps_next(c, 8);
        if (answer < 5) {
            (void)!il_monitor_approve(kept, s, id, IL_STR("ana"), &c->monitor.err);
        }
        if (answer == 4 || answer == 5) {
            (void)!il_monitor_refuse(kept, s, id, IL_STR("ana"), &c->monitor.err);
        }
    } else if (c->monitor.d.run && c->nflights < STEPS_FLIGHTS) {
        c->flights[c->nflights].session = session;
        c->flights[c->nflights++].ticket = c->monitor.d.ticket;
    }
}

static void steps_child(steps_case *c) {
    if (c->nsessions < STEPS_SESSIONS) {
        il_begin how = {
            .size = sizeof how, .principal = IL_STR("ana"), .parent = il_str_of(steps_ids[steps_next(c, c->nsessions)])};
        if (il_monitor_begin(c->monitor.monitor, il_str_of(steps_ids[c->nsessions]), &how, &c->monitor.err) == IL_OK) {
            c->nsessions++;
        }
    }
}

static void steps_act(steps_case *c, il_monitor *monitor) {
    const uint32_t what = steps_next(c, 100), session = steps_next(c, c->nsessions);
    if (what < 45) {
        steps_call(c, monitor, session);
    } else if (what < 85 && c->nflights) {
        steps_settle(c, steps_next(c, c->nflights));
    } else if (what < 90) {
        steps_child(c);
    } else if (what < 95) {
        c->monitor.now += steps_next(c, 5) == 0 ? 900000 : 150000;
        (void)!il_monitor_sweep(c->monitor.monitor, il_str_of(steps_ids[session]), NULL, &c->monitor.err);
    } else if (what == 98) {
        (void)!il_monitor_quarantine(c->monitor.monitor, il_str_of(steps_ids[session]), IL_STR("test"), &c->monitor.err);
    } else if (what == 99) {
        (void)!il_monitor_end(c->monitor.monitor, il_str_of(steps_ids[session]), steps_next(c, 2) == 0, &c->monitor.err);
    }
}

static uint32_t steps_session(const char *key) { return (uint32_t)(key[1] - '1'); }

static void steps_count(steps_case *c, const il_row *row, const char *kind, const il_json *body) {
    char text[256];
    c->seen[row->word]++;
    c->lapses += strcmp(kind, "lapse") == 0 && row->nsteps > 0 ? 1u : 0u;
    c->shadows += row->unenforced && row->nsteps == 2 ? 1u : 0u;
    for (uint32_t i = 0; i < row->nsteps; i++) {
        (void)il_machine_symbol_text(c->bind.machine, row->steps[i].symbol, text, sizeof text);
        c->joins += strncmp(text, "join", 4) == 0 ? 1u : 0u;
        c->refines += strncmp(text, "refine", 6) == 0 ? 1u : 0u;
        c->rejects += row->steps[i].accepted ? 0u : 1u;
    }
    (void)body;
}

/* Reads every row; `from`: the first of each session that is read. */
static void steps_read(steps_case *c, uint32_t run) {
    il_row_reader readers[STEPS_SESSIONS];
    bool before[STEPS_SESSIONS] = {0};
    uint64_t state[STEPS_SESSIONS] = {0};
    for (size_t i = 0; i < STEPS_SESSIONS; i++) {
        il_row_reader_init(&readers[i], &c->bind);
    }
    for (size_t i = 0; i < c->monitor.store.nrows; i++) {
        const store_row *r = &c->monitor.store.rows[i];
        const uint32_t s = steps_session(r->key);
        const il_json *body = policy_json(&c->monitor.policy, r->body);
        const il_ledger_row row = {
            .seq = i + 1, .key = il_str_of(r->key), .kind = il_str_of(r->kind), .ticket = r->ticket, .space = IL_STR("session")};
        const il_json *of = il_json_get(body, IL_STR("parent"));
        const il_row_reader *parent =
            of && il_json_kind_of(of) == IL_JSON_STRING ? &readers[steps_session(il_json_text(of).p)] : NULL;
        il_row got;
        if (il_row_read(&readers[s], parent, &row, body, &got, &c->monitor.err) != IL_OK) {
            fail_msg("run %u row %zu: %s", run, i, c->monitor.err.msg);
        }
        if (got.word == IL_ROW_UNKNOWN || !il_row_agrees(c->bind.machine, &got)) {
            fail_msg("run %u row %zu of %s (%s): %s: %s", run, i, r->key, r->kind, got.why ? got.why : "does not step so",
                     r->body);
        }
        if (got.word != IL_ROW_SILENT) {
            if (before[s] && got.pre != state[s]) {
                fail_msg("run %u row %zu: begins elsewhere", run, i);
            }
            before[s] = true;
            state[s] = got.post;
        }
        steps_count(c, &got, r->kind, body);
        il_arena_reset(&c->monitor.policy.arena);
    }
}

static void steps_runs(steps_case *c, il_monitor *monitor) {
    const char *given = getenv("IL_TEST_SEED");
    const uint32_t seed = given ? (uint32_t)strtoul(given, NULL, 10) : 20260611u;
    print_message("seed %u (set IL_TEST_SEED for another)\n", seed);
    for (uint32_t run = 0; run < STEPS_RUNS; run++) {
        c->seed = seed + run * 7919u;
        c->nflights = 0;
        c->nsessions = 1;
        monitor_again(&c->monitor);
        for (uint32_t act = 0; act < STEPS_ACTS; act++) {
            steps_act(c, monitor);
            il_arena_reset(&c->monitor.policy.arena);
        }
        steps_read(c, run);
    }
}

static void steps_init(steps_case *c, const char *machine, const char *policy, const char *const *tools, uint32_t n) {
    memset(c, 0, sizeof *c);
    monitor_case_init_with(&c->monitor, machine, policy);
    c->tools = tools;
    c->ntools = n;
    assert_int_equal(il_bind_open(c->monitor.policy.machine, &c->bind, &c->monitor.err), IL_OK);
}

static void steps_trifecta(void **unused) {
    static const char *const tools[] = {"in.n", "in.u",  "in.s",  "in.us",  "in.k", "in.c",
                                        "in.e", "in.ue", "in.se", "in.use", "in.E", "in.zz"};
    static steps_case c;
    (void)unused;
    steps_init(&c, "trifecta", monitor_policy, tools, sizeof tools / sizeof tools[0]);
    steps_runs(&c, c.monitor.monitor);
    /* the runs met what they are for */
    assert_true(c.joins > 20 && c.refines > 20 && c.rejects > 20 && c.lapses > 20);
    monitor_case_free(&c.monitor);
}

static void steps_standard(void **unused) {
    static const char *const tools[] = {"in.u", "in.s", "in.k", "in.e", "in.c", "in.ce"};
    static const char policy[] = "interlock: 1\n"
                                 "machine: standard\n"
                                 "servers: { in: { trust: inside } }\n"
                                 "approvals: { expires: 10m }\n"
                                 "tools:\n"
                                 "  - { match: in.u, effects: [untrusted] }\n"
                                 "  - { match: in.s, effects: [sensitive] }\n"
                                 "  - { match: in.k, effects: [secret] }\n"
                                 "  - { match: in.e, effects: [egress], sink: once }\n"
                                 "  - { match: in.c, effects: [commit] }\n"
                                 "  - { match: in.ce, effects: [commit, egress], sink: once }\n";
    static steps_case c;
    (void)unused;
    steps_init(&c, "standard", policy, tools, sizeof tools / sizeof tools[0]);
    steps_runs(&c, c.monitor.monitor);
    assert_true(c.joins > 20 && c.refines > 20 && c.rejects > 20 && c.lapses > 20);
    monitor_case_free(&c.monitor);
}

/* Calls that are rejected and run all the same. */
static void steps_unenforced(void **unused) {
    static const char *const tools[] = {"in.u", "in.s", "in.e", "in.E", "in.k", "in.use", "in.zz", "in.usE"};
    static char policy[4096];
    static steps_case c;
    (void)unused;
    (void)snprintf(policy, sizeof policy, "mode: monitor\n%s", monitor_policy);
    steps_init(&c, "trifecta", policy, tools, sizeof tools / sizeof tools[0]);
    steps_runs(&c, c.monitor.monitor);
    assert_true(c.shadows > 20);
    monitor_case_free(&c.monitor);
}

/* What the reader says when it cannot know; and a row that lies is not agreed with. */
static void steps_refusals(void **unused) {
    static steps_case c;
    il_row_reader r;
    il_row got;
    (void)unused;
    steps_init(&c, "trifecta", monitor_policy, NULL, 0);
    const uint64_t t = monitor_allow(&c.monitor, "in.u", "{}");
    assert_int_equal(monitor_settle(&c.monitor, t, IL_OUTCOME_DONE, 0), IL_OK);
    const store_row *rows = c.monitor.store.rows;
    assert_int_equal(c.monitor.store.nrows, 3); /* begin, decision, settle */
    const il_ledger_row settle = {.seq = 3, .kind = IL_STR("settle"), .ticket = t};
    il_row_reader_init(&r, &c.bind);
    assert_int_equal(il_row_read(&r, NULL, &settle, policy_json(&c.monitor.policy, rows[2].body), &got, NULL), IL_OK);
    assert_int_equal(got.word, IL_ROW_UNKNOWN);
    assert_string_equal(got.why, "the row that admitted this call is not there");
    /* another verdict, another place */
    const il_ledger_row decision = {.seq = 2, .kind = IL_STR("decision"), .ticket = t};
    il_row_reader_init(&r, &c.bind);
    assert_int_equal(il_row_read(&r, NULL, &decision, policy_json(&c.monitor.policy, rows[1].body), &got, NULL), IL_OK);
    assert_true(il_row_agrees(c.bind.machine, &got));
    got.post = got.pre;
    assert_false(il_row_agrees(c.bind.machine, &got));
    got.steps[0].accepted = false;
    assert_false(il_row_agrees(c.bind.machine, &got));
    /* bodies that nobody wrote */
    assert_int_equal(il_row_read(&r, NULL, &decision, policy_json(&c.monitor.policy, "{}"), &got, NULL), IL_E_INVALID);
    assert_int_equal(il_row_read(&r, NULL, &decision, policy_json(&c.monitor.policy, "[]"), &got, NULL), IL_E_INVALID);
    const il_ledger_row other = {.seq = 2, .kind = IL_STR("novelty")};
    const char *body = "{\"pre\":\"0000000000000000\",\"post\":\"0000000000000000\"}";
    assert_int_equal(il_row_read(&r, NULL, &other, policy_json(&c.monitor.policy, body), &got, NULL), IL_OK);
    assert_int_equal(got.word, IL_ROW_UNKNOWN);
    monitor_case_free(&c.monitor);
}

/* A settle that the machine refuses: its quarantine's row stands before its own, and the settle's tells all of it. */
static void steps_breach(void **unused) {
    static steps_case c;
    il_row_reader r;
    il_row got = {0};
    (void)unused;
    steps_init(&c, "trifecta", monitor_policy, NULL, 0);
    const uint64_t t = monitor_allow(&c.monitor, "in.u", "{}");
    il_session s = monitor_session(&c.monitor, "s1");
    s.state = il_machine_initial(c.bind.machine); /* as if it had not come in */
    s.counted = 0;
    memset(s.witnesses, 0, sizeof s.witnesses);
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        s.witnesses[i].effect = 1u << i;
    }
    monitor_put(&c.monitor, "s1", &s);
    assert_int_equal(monitor_settle(&c.monitor, t, IL_OUTCOME_DONE, 0), IL_OK);
    assert_string_equal(c.monitor.s.reason, "label-breach");
    il_row_reader_init(&r, &c.bind);
    for (size_t i = 0; i < c.monitor.store.nrows; i++) {
        const store_row *row = &c.monitor.store.rows[i];
        const il_ledger_row of = {.seq = i + 1, .kind = il_str_of(row->kind), .ticket = row->ticket};
        assert_int_equal(il_row_read(&r, NULL, &of, policy_json(&c.monitor.policy, row->body), &got, NULL), IL_OK);
        assert_true(il_row_agrees(c.bind.machine, &got));
        assert_int_equal(got.word, i == 0 ? IL_ROW_BEGINS : i == 2 ? IL_ROW_SILENT : IL_ROW_STEPS);
    }
    assert_int_equal(got.nsteps, 3); /* refused, released, frozen */
    assert_false(got.steps[0].accepted);
    monitor_case_free(&c.monitor);
}

/* What older builds wrote: an end that begins before the calls that it abandons, an approval that expired into nowhere. */
static void steps_older(void **unused) {
    static steps_case c;
    (void)unused;
    steps_init(&c, "trifecta", monitor_policy, NULL, 0);
    (void)monitor_allow(&c.monitor, "in.e", "{}");
    const uint64_t flying = monitor_session(&c.monitor, "s1").state;
    assert_int_equal(il_monitor_end(c.monitor.monitor, IL_STR("s1"), true, &c.monitor.err), IL_OK);
    for (size_t k = 0; k < 2; k++) {
        il_row_reader r;
        il_row got = {0};
        char body[256];
        il_row_reader_init(&r, &c.bind);
        for (size_t i = 0; i < c.monitor.store.nrows; i++) { /* begin, decision, settle, end */
            const store_row *row = &c.monitor.store.rows[i];
            const il_ledger_row of = {.seq = i + 1, .kind = il_str_of(row->kind), .ticket = row->ticket};
            const il_json *value = policy_json(&c.monitor.policy, row->body);
            if (strcmp(row->kind, "end") == 0) {
                il_str post = il_json_text(il_json_get(value, IL_STR("post")));
                (void)snprintf(body, sizeof body, "{\"pre\":\"%016llx\",\"post\":\"%.*s\"}",
                               k == 0 ? (unsigned long long)flying : 1ull, IL_STR_ARG(post));
                value = policy_json(&c.monitor.policy, body);
            }
            assert_int_equal(il_row_read(&r, NULL, &of, value, &got, NULL), IL_OK);
        }
        assert_true((il_row_agrees(c.bind.machine, &got) && got.pre != flying) == (k == 0));
    }
    il_row_reader r;
    il_row got;
    const il_ledger_row lapse = {.seq = 9, .kind = IL_STR("lapse")};
    il_row_reader_init(&r, &c.bind);
    assert_int_equal(
        il_row_read(&r, NULL, &lapse, policy_json(&c.monitor.policy, "{\"approval\":\"a\",\"why\":\"expired\"}"), &got, NULL),
        IL_OK);
    assert_int_equal(got.word, IL_ROW_UNKNOWN);
    assert_false(got.has_post || r.knows);
    monitor_case_free(&c.monitor);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_trifecta),   cmocka_unit_test(steps_standard),
                                       cmocka_unit_test(steps_unenforced), cmocka_unit_test(steps_refusals),
                                       cmocka_unit_test(steps_breach),     cmocka_unit_test(steps_older)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
