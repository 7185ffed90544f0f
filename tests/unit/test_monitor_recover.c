/* SPDX-License-Identifier: Apache-2.0 */
/* What a dead process left open settles as its worst, once; what a live one runs stays. Sessions of the layout before owners go on. */
#include "helper_monitor.h"

#include <stdio.h>
#include <string.h>

enum { RECOVER_OWNERS = 3 };

/* A monitor of another process on the same store. */
static il_monitor *recover_process(monitor_case *c, uint8_t owner) {
    c->owner = owner;
    il_monitor *m = monitor_make(c, c->policy.policy, NULL, false);
    c->owner = 0;
    return m;
}

static uint64_t recover_allow(monitor_case *c, il_monitor *as, const char *tool) {
    il_monitor *was = c->monitor;
    c->monitor = as;
    uint64_t ticket = monitor_allow(c, tool, "{}");
    c->monitor = was;
    return ticket;
}

static il_status recover_settle(monitor_case *c, il_monitor *as, uint64_t ticket) {
    il_monitor *was = c->monitor;
    c->monitor = as;
    il_status s = monitor_settle(c, ticket, IL_OUTCOME_DONE, 0);
    c->monitor = was;
    return s;
}

static void recover_is(monitor_case *c, il_monitor *m, uint32_t want) {
    uint32_t n = 99;
    if (il_monitor_recover(m, IL_STR("s1"), &n, &c->err) != IL_OK) {
        fail_msg("%s", c->err.msg);
    }
    assert_int_equal(n, want);
}

static void recover_setup(monitor_case *c) {
    monitor_again(c);
    memset(c->dead, 0, sizeof c->dead);
    c->asked = 0;
}

/* One process dies with two calls open, another lives with one. */
static void recover_dead_and_living(void **state) {
    monitor_case *c = *state;
    recover_setup(c);
    il_monitor *a = recover_process(c, 1), *b = recover_process(c, 2);
    uint64_t fetch = recover_allow(c, a, "in.u"), send = recover_allow(c, a, "in.e"), plain = recover_allow(c, b, "in.n");
    monitor_is(c, "flight", "true");
    recover_is(c, b, 0); /* both live */
    assert_int_equal(c->asked, 3);
    assert_int_equal(monitor_rows(c, "settle"), 0);
    c->dead[1] = true;
    size_t commits = c->store.commits;
    recover_is(c, b, 2);
    assert_int_equal(c->store.commits, commits + 1); /* one transaction */
    assert_int_equal(monitor_rows(c, "settle"), 2);
    const il_json *row = monitor_row(c, "settle");
    assert_true(il_str_eq(il_json_text(il_json_get(row, IL_STR("how"))), IL_STR("recovered")));
    assert_true(il_str_eq(il_json_text(il_json_get(row, IL_STR("reason"))), IL_STR("recovered")));
    assert_true(il_str_eq(il_json_text(il_json_get(row, IL_STR("tool"))), IL_STR("in.e")));
    assert_false(il_json_bool(il_json_get(row, IL_STR("release"))));
    monitor_is(c, "flight", "false");
    monitor_is(c, "untrusted", "held"); /* its worst: the taint stays */
    il_session s = monitor_session(c, "s1");
    assert_int_equal(s.ntickets, 1);
    assert_int_equal(s.tickets[0].id, plain);
    /* again is once */
    store_object before = *monitor_object(c, "s1");
    commits = c->store.commits;
    recover_is(c, b, 0);
    assert_int_equal(c->store.commits, commits);
    assert_memory_equal(monitor_object(c, "s1"), &before, sizeof before);
    /* the dead one was not dead: its results come too late */
    assert_int_equal(recover_settle(c, a, fetch), IL_E_STATE);
    assert_string_equal(c->s.reason, "not-open");
    assert_false(c->s.release);
    assert_int_equal(recover_settle(c, a, send), IL_E_STATE);
    assert_false(c->s.release);
    /* the living one's call is its own */
    assert_int_equal(recover_settle(c, b, plain), IL_OK);
    assert_true(c->s.release);
    il_monitor_free(a);
    il_monitor_free(b);
}

/* Nobody's calls wait for their deadline, whoever is dead; a host that cannot tell recovers nothing. */
static void recover_nobody(void **state) {
    monitor_case *c = *state;
    recover_setup(c);
    memset(c->dead, 1, sizeof c->dead);
    monitor_allow(c, "in.e", "{}");
    recover_is(c, c->monitor, 0);
    assert_int_equal(c->asked, 0);
    assert_int_equal(monitor_session(c, "s1").ntickets, 1);
    c->now += 600000; /* the deadline does it; that is no recovery */
    recover_is(c, c->monitor, 0);
    assert_int_equal(monitor_session(c, "s1").ntickets, 0);
    assert_true(il_str_eq(il_json_text(il_json_get(monitor_row(c, "settle"), IL_STR("how"))), IL_STR("overdue")));
    assert_int_equal(il_monitor_recover(c->monitor, IL_STR("s1"), NULL, &c->err), IL_OK);
    uint32_t n = 7;
    assert_int_equal(il_monitor_recover(c->monitor, IL_STR("nobody"), &n, &c->err), IL_E_NOT_FOUND);
    assert_int_equal(n, 0);
    assert_int_equal(il_monitor_recover(c->monitor, IL_STR(""), &n, &c->err), IL_E_ARGUMENT);
    assert_int_equal(il_monitor_recover(NULL, IL_STR("s1"), &n, &c->err), IL_E_ARGUMENT);
}

/* What a parent has in flight is the parent's process's to end: a child keeps it until its deadline. */
static void recover_leaves_a_parents(void **state) {
    monitor_case *c = *state;
    recover_setup(c);
    il_monitor *a = recover_process(c, 1);
    recover_allow(c, a, "in.e");
    il_begin how = {.size = sizeof how, .principal = IL_STR("ana"), .parent = IL_STR("s1")};
    assert_int_equal(il_monitor_begin(a, IL_STR("child"), &how, &c->err), IL_OK);
    c->dead[1] = true;
    uint32_t n = 9;
    assert_int_equal(il_monitor_recover(c->monitor, IL_STR("child"), &n, &c->err), IL_OK);
    assert_int_equal(n, 0);
    assert_int_equal(monitor_session(c, "child").ntickets, 1);
    recover_is(c, c->monitor, 1);
    il_monitor_free(a);
}

/* A session that its dead owner left full, by a monitor that has a machine and no policy: what `session end` does. */
static void recover_then_end(void **state) {
    monitor_case *c = *state;
    recover_setup(c);
    il_monitor *a = recover_process(c, 1), *bare = monitor_make(c, NULL, c->policy.machine, false);
    for (uint32_t i = 0; i < IL_TICKETS_MAX; i++) {
        recover_allow(c, a, i % 2 == 0 ? "in.e" : "in.u");
    }
    assert_int_equal(monitor_decide_in(c, "s1", "in.n", "{}"), IL_E_LIMIT);
    assert_int_equal(il_monitor_end(bare, IL_STR("s1"), false, &c->err), IL_E_STATE);
    c->dead[1] = true;
    recover_is(c, bare, IL_TICKETS_MAX);
    assert_int_equal(monitor_rows(c, "settle"), IL_TICKETS_MAX);
    assert_int_equal(il_monitor_end(bare, IL_STR("s1"), false, &c->err), IL_OK);
    recover_is(c, bare, 0);
    il_monitor_free(a);
    il_monitor_free(bare);
}

/* A quarantined session is recovered too; it stays in quarantine. */
static void recover_quarantined(void **state) {
    monitor_case *c = *state;
    recover_setup(c);
    il_monitor *a = recover_process(c, 1);
    recover_allow(c, a, "in.e");
    assert_int_equal(il_monitor_quarantine(a, IL_STR("s1"), IL_STR("operator"), &c->err), IL_OK);
    c->dead[1] = true;
    recover_is(c, c->monitor, 1);
    assert_true(monitor_session(c, "s1").quarantined);
    il_monitor_free(a);
}

/* A store that fails changes nothing, and says so. */
static void recover_failures(void **state) {
    monitor_case *c = *state;
    recover_setup(c);
    il_monitor *a = recover_process(c, 1);
    recover_allow(c, a, "in.e");
    c->dead[1] = true;
    uint32_t n = 5;
    store_object before = *monitor_object(c, "s1");
    for (size_t k = 0; k < 2; k++) {
        c->store.fail_after = k;
        assert_int_equal(il_monitor_recover(c->monitor, IL_STR("s1"), &n, &c->err), IL_E_IO);
        assert_int_equal(n, 0);
    }
    c->store.fail_after = SIZE_MAX;
    c->store.conflict = true;
    assert_int_equal(il_monitor_recover(c->monitor, IL_STR("s1"), &n, &c->err), IL_E_BUSY);
    assert_int_equal(n, 0);
    c->store.conflict = false;
    size_t k = 0;
    for (il_status s = IL_E_MEMORY; s != IL_OK && k < 100; k++) {
        c->memory.left = k;
        s = il_monitor_recover(c->monitor, IL_STR("s1"), &n, &c->err);
        c->memory.left = SIZE_MAX;
        assert_int_equal(n, s == IL_OK ? 1 : 0);
        if (s != IL_OK) {
            assert_int_equal(s, IL_E_MEMORY);
            assert_memory_equal(monitor_object(c, "s1"), &before, sizeof before);
        }
    }
    assert_in_range(k, 2, 99);
    il_monitor_free(a);
}

static uint64_t recover_seed = 0x2545f4914f6cdd1du;
static uint64_t recover_next(void) {
    recover_seed ^= recover_seed << 13;
    recover_seed ^= recover_seed >> 7;
    recover_seed ^= recover_seed << 17;
    return recover_seed;
}

/* Random sessions of three processes: exactly the dead ones' calls close, the others stay as they are and in order; twice is once. */
static void recover_random(void **state) {
    static const char *const tools[] = {"in.n", "in.u", "in.e", "in.ue", "in.c", "in.s"};
    monitor_case *c = *state;
    il_monitor *process[RECOVER_OWNERS + 1], *own = c->monitor;
    print_message("seed %llx\n", (unsigned long long)recover_seed);
    recover_setup(c);
    for (uint8_t i = 0; i <= RECOVER_OWNERS; i++) {
        process[i] = recover_process(c, i);
    }
    for (int round = 0; round < 400; round++) {
        recover_setup(c);
        for (int i = 0; i < 12; i++) {
            uint64_t who = recover_next() % (RECOVER_OWNERS + 1);
            c->monitor = process[who];
            assert_int_equal(monitor_decide_in(c, "s1", tools[recover_next() % 6], "{}"), IL_OK);
        }
        for (int i = 1; i <= RECOVER_OWNERS; i++) {
            c->dead[i] = recover_next() % 2 == 0;
        }
        il_session before = monitor_session(c, "s1");
        uint32_t gone = 0, left = 0;
        for (uint32_t i = 0; i < before.ntickets; i++) {
            gone += c->dead[before.tickets[i].owner[0]] ? 1u : 0u;
        }
        recover_is(c, process[recover_next() % (RECOVER_OWNERS + 1)], gone);
        il_session after = monitor_session(c, "s1");
        for (uint32_t i = 0; i < before.ntickets; i++) {
            if (!c->dead[before.tickets[i].owner[0]]) {
                assert_memory_equal(&after.tickets[left], &before.tickets[i], sizeof before.tickets[i]);
                left++;
            }
        }
        assert_int_equal(after.ntickets, left);
        assert_int_equal(after.counted, before.counted); /* no taint is lowered */
        recover_is(c, process[0], 0);
    }
    c->monitor = own;
    for (uint8_t i = 0; i <= RECOVER_OWNERS; i++) {
        il_monitor_free(process[i]);
    }
}

/* The stored session as the build before owners would have written it: the same bytes without them, and without the counts of episodes and of requests. */
static void recover_age(monitor_case *c) {
    store_object *o = monitor_object(c, "s1");
    il_session s = monitor_session(c, "s1");
    size_t at = 4 + 8 + 2 * IL_DIGEST_BYTES + 3 * 8 + 5;
    assert_true(s.episodes == 0 && s.asks == 0);
    memmove(o->state + at, o->state + at + 10, o->n - at - 10);
    o->n -= 10;
    at += 1 + strlen(s.principal) + 1 + strlen(s.parent) + 1;
    for (uint32_t i = 0; i < s.ntickets; i++) {
        at += 8 + 8 + 3;
        memmove(o->state + at, o->state + at + IL_OWNER_BYTES, o->n - at - IL_OWNER_BYTES);
        o->n -= IL_OWNER_BYTES;
        at += 1 + strlen(s.tickets[i].tool);
    }
    o->state[3] = 1;
}

/* A session of layout 1 with calls open goes on: a denial leaves its bytes, the next move writes layout 3, its calls are nobody's. */
static void recover_upgrades(void **state) {
    monitor_case *c = *state;
    recover_setup(c);
    il_monitor *a = recover_process(c, 1);
    uint64_t fetch = recover_allow(c, a, "in.u"), send = recover_allow(c, a, "in.e");
    recover_age(c);
    store_object old = *monitor_object(c, "s1");
    c->dead[1] = true;
    recover_is(c, a, 0);
    monitor_deny(c, "in.us", "{}", "lethal-trifecta");
    assert_memory_equal(monitor_object(c, "s1")->state, old.state, old.n);
    il_monitor *own = c->monitor;
    c->monitor = a;
    monitor_run(c, "in.n", "{}");
    assert_int_equal(monitor_object(c, "s1")->state[3], 3);
    assert_int_equal(monitor_session(c, "s1").ntickets, 2);
    recover_is(c, a, 0);
    assert_int_equal(recover_settle(c, a, fetch), IL_OK);
    assert_int_equal(recover_settle(c, a, send), IL_OK);
    assert_true(c->s.release);
    c->monitor = own;
    il_monitor_free(a);
}

static int recover_group(void **state) {
    static monitor_case c;
    monitor_case_init(&c, monitor_policy);
    *state = &c;
    return 0;
}

static int recover_ungroup(void **state) {
    monitor_case_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recover_dead_and_living), cmocka_unit_test(recover_nobody),   cmocka_unit_test(recover_leaves_a_parents),
        cmocka_unit_test(recover_then_end),        cmocka_unit_test(recover_failures), cmocka_unit_test(recover_random),
        cmocka_unit_test(recover_quarantined),     cmocka_unit_test(recover_upgrades),
    };
    return cmocka_run_group_tests(tests, recover_group, recover_ungroup);
}
