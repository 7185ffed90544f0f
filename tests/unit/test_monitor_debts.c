/* SPDX-License-Identifier: Apache-2.0 */
/* What the monitor owes so that what was proven of symbols holds for calls: one test for each numbered debt of the machines' page, and the
 * promises of the header beside them. */
#include "helper_monitor.h"

#include "monitor/plan.h"
#include <stdio.h>
#include <string.h>

#define ANSWER(f, c, id) f((c)->monitor, IL_STR("s1"), il_str_of(id), IL_STR("ana"), &(c)->err)

/* 1. The plain admission first; the approved one only after a releasable rejection, with a slot of exactly this binding. */
static void debt_1_symbol(void **state) {
    monitor_case *c = *state;
    char id[IL_APPROVAL_ID_BYTES], text[256];
    monitor_again(c);
    monitor_run(c, "in.us", "{}");
    memcpy(id, monitor_ask(c, "in.e", "{\"a\":1}"), sizeof id);
    assert_int_equal(ANSWER(il_monitor_approve, c, id), IL_OK);
    monitor_is(c, "granted", "1");
    /* other arguments, another tool, a benign call: the grant stays */
    monitor_ask(c, "in.e", "{\"a\":2}");
    monitor_deny(c, "in.ue", "{\"a\":1}", "lethal-trifecta"); /* no room for a third request */
    monitor_run(c, "in.n", "{\"a\":1}");
    monitor_is(c, "granted", "1");
    /* what no human may release is not tried with the grant */
    monitor_deny(c, "in.E", "{\"a\":1}", "lethal-trifecta");
    monitor_is(c, "granted", "1");
    /* the very call: approved, once */
    uint64_t ticket = monitor_allow(c, "in.e", "{\"a\":1}");
    (void)il_machine_symbol_text(c->policy.machine, c->d.symbol, text, sizeof text);
    assert_non_null(strstr(text, "approved=true"));
    assert_string_equal(c->d.approval, id);
    monitor_is(c, "granted", "0");
    monitor_is(c, "crossing", "true");
    monitor_is(c, "flight", "false");
    assert_int_equal(monitor_settle(c, ticket, IL_OUTCOME_DONE, 0), IL_OK);
    monitor_is(c, "crossing", "false");
    monitor_ask(c, "in.e", "{\"a\":1}");
    /* where the plain symbol is accepted, no grant is spent and the plain one is what is recorded */
    monitor_again(c);
    monitor_allow(c, "in.e", "{\"a\":1}");
    (void)il_machine_symbol_text(c->policy.machine, c->d.symbol, text, sizeof text);
    assert_non_null(strstr(text, "approved=false"));
}

/* Member order does not make another call; everything else does: principal, session, server, tool, arguments. */
static void debt_1_binding(void **state) {
    monitor_case *c = *state;
    char id[IL_APPROVAL_ID_BYTES];
    il_begin how = {.size = sizeof how, .principal = IL_STR("ana")};
    monitor_again(c);
    monitor_run(c, "in.us", "{}");
    memcpy(id, monitor_ask(c, "in.e", "{\"a\":1,\"b\":[2]}"), sizeof id);
    assert_string_equal(monitor_ask(c, "in.e", "{\"b\":[2],\"a\":1}"), id);
    assert_int_equal(monitor_rows(c, "request"), 1);
    assert_int_equal(ANSWER(il_monitor_approve, c, id), IL_OK);
    /* another session of the same principal */
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s2"), &how, &c->err), IL_OK);
    assert_int_equal(monitor_decide_in(c, "s2", "in.us", "{}"), IL_OK);
    assert_int_equal(monitor_decide_in(c, "s2", "in.e", "{\"a\":1,\"b\":[2]}"), IL_OK);
    assert_int_equal(c->d.action, IL_ACTION_REQUIRE_APPROVAL);
    assert_string_not_equal(c->d.approval, id);
    /* the slot moved to a session of another principal is another binding */
    il_session s = monitor_session(c, "s1");
    memcpy(s.principal, "eve", 4);
    monitor_put(c, "s1", &s);
    assert_int_equal(monitor_decide_in(c, "s1", "in.e", "{\"a\":1,\"b\":[2]}"), IL_OK);
    assert_int_equal(c->d.action, IL_ACTION_REQUIRE_APPROVAL);
    assert_false(c->d.run);
    memcpy(s.principal, "ana", 4);
    monitor_put(c, "s1", &s);
    monitor_allow(c, "in.e", "{\"a\":1,\"b\":[2]}");
}

/* 2. One ticket an admission; only the last once ticket of its kind releases its reservation; a second settle is refused. */
static void debt_2_tickets(void **state) {
    monitor_case *c = *state;
    monitor_again(c);
    uint64_t a = monitor_allow(c, "in.e", "{}"), b = monitor_allow(c, "in.e", "{}"), n = monitor_allow(c, "in.n", "{}");
    assert_int_equal(monitor_session(c, "s1").ntickets, 3);
    assert_int_equal(monitor_settle(c, a, IL_OUTCOME_DONE, 0), IL_OK);
    monitor_is(c, "flight", "true");
    assert_int_equal(monitor_settle(c, n, IL_OUTCOME_DONE, 0), IL_OK);
    monitor_is(c, "flight", "true");
    /* meanwhile nobody gets in */
    monitor_run(c, "in.u", "{}");
    monitor_deny(c, "in.s", "{}", "lethal-trifecta");
    assert_int_equal(monitor_settle(c, b, IL_OUTCOME_FAILED, 0), IL_OK);
    monitor_is(c, "flight", "false");
    monitor_run(c, "in.s", "{}");
    /* settled, never given out, zero: withheld, and the session's bytes stay */
    const store_object *o = monitor_object(c, "s1");
    uint64_t version = o->version;
    const uint64_t closed[] = {a, b, n, 999, 0, UINT64_MAX};
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
        assert_int_equal(monitor_settle(c, closed[i], IL_OUTCOME_DONE, 0), IL_E_STATE);
        assert_false(c->s.release);
        assert_string_equal(c->s.reason, "not-open");
    }
    assert_int_equal(o->version, version);
}

/* 2. Approved and unapproved egress are reserved apart. */
static void debt_2_crossings(void **state) {
    monitor_case *c = *state;
    char id[IL_APPROVAL_ID_BYTES];
    monitor_again(c);
    monitor_run(c, "in.us", "{}");
    memcpy(id, monitor_ask(c, "in.e", "{\"a\":1}"), sizeof id);
    assert_int_equal(ANSWER(il_monitor_approve, c, id), IL_OK);
    uint64_t x = monitor_allow(c, "in.e", "{\"a\":1}");
    memcpy(id, monitor_ask(c, "in.e", "{\"a\":2}"), sizeof id);
    assert_int_equal(ANSWER(il_monitor_approve, c, id), IL_OK);
    uint64_t y = monitor_allow(c, "in.e", "{\"a\":2}");
    assert_int_equal(monitor_settle(c, y, IL_OUTCOME_DONE, 0), IL_OK);
    monitor_is(c, "crossing", "true");
    assert_int_equal(monitor_settle(c, x, IL_OUTCOME_DONE, 0), IL_OK);
    monitor_is(c, "crossing", "false");
}

/* 2. A settle names every effect that was not refined; a failure names all of them. */
static void debt_2_settle_names_all(void **state) {
    monitor_case *c = *state;
    monitor_again(c);
    uint64_t t = monitor_allow(c, "in.us", "{}");
    monitor_is(c, "untrusted", "fresh");
    monitor_is(c, "sensitive", "fresh");
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_FAILED, 0), IL_OK);
    monitor_is(c, "untrusted", "held");
    monitor_is(c, "sensitive", "held");
    monitor_again(c);
    t = monitor_allow(c, "in.us", "{}");
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, IL_UNTRUSTED), IL_OK);
    monitor_is(c, "untrusted", "none");
    monitor_is(c, "sensitive", "held");
}

/* 2. A settle that the machine refuses: the result is withheld and the session quarantined. */
static void debt_2_label_breach(void **state) {
    monitor_case *c = *state;
    monitor_again(c);
    uint64_t t = monitor_allow(c, "in.e", "{}");
    il_session s = monitor_session(c, "s1");
    s.tickets[0].effects |= IL_SENSITIVE; /* a call that brought what was never admitted */
    monitor_put(c, "s1", &s);
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, 0), IL_OK);
    assert_false(c->s.release);
    assert_true(c->s.quarantined);
    assert_string_equal(c->s.reason, "label-breach");
    monitor_is(c, "phase", "quarantined");
    monitor_is(c, "flight", "false");
    monitor_deny(c, "in.n", "{}", "quarantined");
    assert_int_equal(monitor_rows(c, "quarantine"), 1);
}

/* 3. Refine: only on evidence, only by the call that raised the taint, only while it is fresh. */
static void debt_3_refine(void **state) {
    monitor_case *c = *state;
    monitor_again(c);
    uint64_t t = monitor_allow(c, "in.u", "{}");
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, IL_UNTRUSTED), IL_OK);
    monitor_is(c, "untrusted", "none");
    assert_true(c->s.release);
    /* another call with the same effect in between: held, nothing lowers it */
    uint64_t a = monitor_allow(c, "in.u", "{}"), b = monitor_allow(c, "in.u", "{}");
    monitor_is(c, "untrusted", "held");
    assert_int_equal(monitor_settle(c, a, IL_OUTCOME_DONE, IL_UNTRUSTED), IL_OK);
    monitor_is(c, "untrusted", "held");
    assert_int_equal(monitor_settle(c, b, IL_OUTCOME_DONE, IL_UNTRUSTED), IL_OK);
    monitor_is(c, "untrusted", "held");
    /* a call that did not raise the taint cannot lower it */
    monitor_again(c);
    a = monitor_allow(c, "in.u", "{}");
    b = monitor_allow(c, "in.n", "{}");
    assert_int_equal(monitor_settle(c, b, IL_OUTCOME_DONE, IL_UNTRUSTED | IL_SENSITIVE), IL_OK);
    monitor_is(c, "untrusted", "fresh");
    assert_int_equal(monitor_settle(c, a, IL_OUTCOME_DONE, 0), IL_OK);
    monitor_is(c, "untrusted", "held");
    /* of two taints only the fresh one */
    monitor_again(c);
    a = monitor_allow(c, "in.us", "{}");
    monitor_allow(c, "in.s", "{}");
    assert_int_equal(monitor_settle(c, a, IL_OUTCOME_DONE, IL_UNTRUSTED | IL_SENSITIVE), IL_OK);
    monitor_is(c, "untrusted", "none");
    monitor_is(c, "sensitive", "held");
    /* a result that came is no proof of absence */
    monitor_again(c);
    t = monitor_allow(c, "in.u", "{}");
    il_outcome o = {
        .size = sizeof o, .how = IL_OUTCOME_DONE, .absent = IL_UNTRUSTED, .result = policy_json(&c->policy, "{\"x\":1}")};
    c->s = (il_settlement)IL_SETTLEMENT_INIT;
    assert_int_equal(il_monitor_settle(c->monitor, IL_STR("s1"), t, &o, &c->s, &c->err), IL_OK);
    monitor_is(c, "untrusted", "held");
    /* what may be secret may be sensitive: one is not proven absent without the other */
    monitor_again(c);
    t = monitor_allow(c, "in.k", "{}");
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, IL_SENSITIVE), IL_OK);
    monitor_is(c, "sensitive", "held");
    monitor_again(c);
    t = monitor_allow(c, "in.k", "{}");
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, IL_SECRET), IL_OK);
    monitor_is(c, "sensitive", "held");
    monitor_again(c);
    t = monitor_allow(c, "in.k", "{}");
    assert_int_equal(monitor_session(c, "s1").counted, IL_SENSITIVE | IL_SECRET);
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, IL_SENSITIVE | IL_SECRET), IL_OK);
    monitor_is(c, "sensitive", "none");
    assert_int_equal(monitor_session(c, "s1").counted, 0);
    /* refine and settle are one transaction */
    assert_int_equal(monitor_rows(c, "settle"), 1);
}

static void debt_4_slots_are(monitor_case *c, const char *asked, const char *granted) {
    il_session s = monitor_session(c, "s1");
    unsigned a = 0, g = 0;
    for (int i = 0; i < IL_SLOTS_MAX; i++) {
        a += s.slots[i].state == IL_SLOT_ASKED;
        g += s.slots[i].state == IL_SLOT_GRANTED;
    }
    monitor_is(c, "asked", asked);
    monitor_is(c, "granted", granted);
    assert_int_equal(asked[0] - '0', a);
    assert_int_equal(granted[0] - '0', g);
}

/* 4. Slots and counters are equal in every commit; a void empties all; expiry lapses; a request only after a releasable rejection. */
static void debt_4_slots(void **state) {
    monitor_case *c = *state;
    char a[IL_APPROVAL_ID_BYTES], b[IL_APPROVAL_ID_BYTES];
    monitor_again(c);
    monitor_run(c, "in.us", "{}");
    monitor_deny(c, "in.E", "{}", "lethal-trifecta"); /* standing: final */
    debt_4_slots_are(c, "0", "0");
    memcpy(a, monitor_ask(c, "in.e", "{\"a\":1}"), sizeof a);
    memcpy(b, monitor_ask(c, "in.e", "{\"a\":2}"), sizeof b);
    debt_4_slots_are(c, "2", "0");
    monitor_deny(c, "in.e", "{\"a\":3}", "lethal-trifecta");
    debt_4_slots_are(c, "2", "0");
    assert_int_equal(ANSWER(il_monitor_approve, c, a), IL_OK);
    debt_4_slots_are(c, "1", "1");
    assert_int_equal(ANSWER(il_monitor_approve, c, a), IL_E_STATE);
    assert_int_equal(ANSWER(il_monitor_refuse, c, b), IL_OK);
    debt_4_slots_are(c, "0", "1");
    assert_int_equal(ANSWER(il_monitor_refuse, c, b), IL_E_NOT_FOUND);
    assert_int_equal(ANSWER(il_monitor_approve, c, b), IL_E_NOT_FOUND);
    assert_int_equal(ANSWER(il_monitor_approve, c, "nonsense"), IL_E_NOT_FOUND);
    /* a refusal after the grant takes it back */
    assert_int_equal(ANSWER(il_monitor_refuse, c, a), IL_OK);
    debt_4_slots_are(c, "0", "0");
    monitor_ask(c, "in.e", "{\"a\":1}");
    debt_4_slots_are(c, "1", "0");
}

/* 4. A taint or a live egress that is newly gained voids asked and granted alike. */
static void debt_4_void(void **state) {
    monitor_case *c = *state;
    char a[IL_APPROVAL_ID_BYTES];
    monitor_again(c);
    monitor_run(c, "in.u", "{}");
    uint64_t e = monitor_allow(c, "in.e", "{}");
    monitor_deny(c, "in.se", "{\"x\":1}", "lethal-trifecta"); /* another call is in flight: no approval of this one would do */
    assert_int_equal(monitor_settle(c, e, IL_OUTCOME_DONE, 0), IL_OK);
    memcpy(a, monitor_ask(c, "in.se", "{\"x\":1}"), sizeof a); /* it brings sensitive itself */
    debt_4_slots_are(c, "1", "0");
    monitor_allow(c, "in.s", "{}"); /* gains sensitive */
    debt_4_slots_are(c, "0", "0");
    assert_int_equal(ANSWER(il_monitor_approve, c, a), IL_E_NOT_FOUND);
    assert_int_equal(monitor_rows(c, "lapse"), 1);
    assert_true(il_str_eq(il_json_text(il_json_get(monitor_row(c, "lapse"), IL_STR("why"))), IL_STR("void")));
    /* granted ones too */
    monitor_again(c);
    monitor_run(c, "in.u", "{}");
    memcpy(a, monitor_ask(c, "in.se", "{\"x\":1}"), sizeof a);
    assert_int_equal(ANSWER(il_monitor_approve, c, a), IL_OK);
    debt_4_slots_are(c, "0", "1");
    monitor_allow(c, "in.e", "{}"); /* a live egress is gained */
    debt_4_slots_are(c, "0", "0");
    /* the redeeming call may bring a taint: the grant serves, and whatever else waited is void */
    monitor_again(c);
    monitor_run(c, "in.u", "{}");
    memcpy(a, monitor_ask(c, "in.se", "{\"x\":1}"), sizeof a);
    monitor_ask(c, "in.se", "{\"x\":2}");
    assert_int_equal(ANSWER(il_monitor_approve, c, a), IL_OK);
    debt_4_slots_are(c, "1", "1");
    monitor_allow(c, "in.se", "{\"x\":1}");
    debt_4_slots_are(c, "0", "0");
    monitor_is(c, "crossing", "true");
}

/* 4. Expiry: an unanswered request and an unused grant lapse; a grant lasts from the moment it is given. */
static void debt_4_expiry(void **state) {
    monitor_case *c = *state;
    char a[IL_APPROVAL_ID_BYTES];
    uint64_t due = 0;
    monitor_again(c);
    monitor_run(c, "in.us", "{}");
    memcpy(a, monitor_ask(c, "in.e", "{}"), sizeof a);
    assert_int_equal(il_monitor_sweep(c->monitor, IL_STR("s1"), &due, &c->err), IL_OK);
    assert_int_equal(due, c->now + 600000);
    c->now += 599999;
    assert_int_equal(ANSWER(il_monitor_approve, c, a), IL_OK);
    c->now += 599999;
    assert_int_equal(il_monitor_sweep(c->monitor, IL_STR("s1"), &due, &c->err), IL_OK);
    debt_4_slots_are(c, "0", "1");
    c->now += 1;
    monitor_ask(c, "in.e", "{}"); /* lapsed, and asked anew */
    debt_4_slots_are(c, "1", "0");
    assert_int_equal(monitor_rows(c, "lapse"), 1);
    c->now += 600000;
    assert_int_equal(il_monitor_sweep(c->monitor, IL_STR("s1"), &due, &c->err), IL_OK);
    debt_4_slots_are(c, "0", "0");
    assert_int_equal(due, UINT64_MAX);
    assert_int_equal(monitor_rows(c, "lapse"), 2);
}

/* 4. Stored slots that are not the machine's count are a fault, not a grant. */
static void debt_4_mismatch(void **state) {
    monitor_case *c = *state;
    monitor_again(c);
    monitor_run(c, "in.us", "{}");
    monitor_ask(c, "in.e", "{}");
    il_session s = monitor_session(c, "s1");
    s.slots[0].state = IL_SLOT_GRANTED;
    monitor_put(c, "s1", &s);
    assert_int_equal(monitor_decide_in(c, "s1", "in.e", "{}"), IL_E_DAMAGED);
    assert_string_equal(c->d.reason, "ledger-damaged");
    assert_false(c->d.run);
}

/* 5. Past its deadline a call counts as its worst, its late result is discarded; `end` waits. */
static void debt_5_deadline(void **state) {
    monitor_case *c = *state;
    uint64_t due = 0;
    monitor_again(c);
    uint64_t t = monitor_allow(c, "in.ue", "{}");
    assert_int_equal(il_monitor_sweep(c->monitor, IL_STR("s1"), &due, &c->err), IL_OK);
    assert_int_equal(due, c->now + 600000);
    c->now += 600000;
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, IL_UNTRUSTED), IL_E_STATE);
    assert_false(c->s.release);
    assert_string_equal(c->s.reason, "not-open");
    monitor_is(c, "untrusted", "held");
    monitor_is(c, "flight", "false");
    assert_int_equal(monitor_rows(c, "settle"), 2); /* the overdue one, and the late result */
    /* a decision sweeps first, in a transaction of its own */
    t = monitor_allow(c, "in.e", "{}");
    c->now += 600001;
    monitor_run(c, "in.s", "{}");
    monitor_is(c, "flight", "false");
}

static void debt_5_end(void **state) {
    monitor_case *c = *state;
    monitor_again(c);
    uint64_t t = monitor_allow(c, "in.n", "{}");
    assert_int_equal(il_monitor_end(c->monitor, IL_STR("s1"), false, &c->err), IL_E_STATE);
    assert_non_null(strstr(c->err.msg, "busy"));
    monitor_is(c, "phase", "live");
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, 0), IL_OK);
    assert_int_equal(il_monitor_end(c->monitor, IL_STR("s1"), false, &c->err), IL_OK);
    monitor_is(c, "phase", "ended");
    monitor_deny(c, "in.n", "{}", "ended");
    uint64_t version = monitor_object(c, "s1")->version;
    assert_int_equal(il_monitor_end(c->monitor, IL_STR("s1"), false, &c->err), IL_OK);
    assert_int_equal(monitor_object(c, "s1")->version, version);
    assert_int_equal(monitor_rows(c, "end"), 1);
    /* a retired id is not reborn */
    il_begin how = {.size = sizeof how, .resume = true, .principal = IL_STR("ana")};
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s1"), &how, &c->err), IL_E_STATE);
    /* abandon settles what is open as its worst */
    monitor_again(c);
    monitor_allow(c, "in.ue", "{}");
    assert_int_equal(il_monitor_end(c->monitor, IL_STR("s1"), true, &c->err), IL_OK);
    monitor_is(c, "phase", "ended");
    monitor_is(c, "untrusted", "held");
    monitor_is(c, "flight", "false");
    assert_int_equal(monitor_rows(c, "settle"), 1);
}

/* 5. Quarantine: nothing is admitted, results are withheld, the standing sink is let go of. */
static void debt_5_quarantine(void **state) {
    monitor_case *c = *state;
    monitor_again(c);
    monitor_run(c, "in.E", "{}");
    uint64_t t = monitor_allow(c, "in.u", "{}");
    monitor_is(c, "open", "true");
    assert_int_equal(il_monitor_quarantine(c->monitor, IL_STR("s1"), IL_STR("operator"), &c->err), IL_OK);
    monitor_is(c, "phase", "quarantined");
    monitor_is(c, "open", "false");
    monitor_deny(c, "in.n", "{}", "quarantined");
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, 0), IL_OK);
    assert_false(c->s.release);
    assert_true(c->s.quarantined);
    assert_string_equal(c->s.reason, "quarantined");
    uint64_t version = monitor_object(c, "s1")->version;
    assert_int_equal(il_monitor_quarantine(c->monitor, IL_STR("s1"), IL_STR("again"), &c->err), IL_OK);
    assert_int_equal(monitor_object(c, "s1")->version, version);
    assert_int_equal(monitor_rows(c, "quarantine"), 1);
    assert_int_equal(il_monitor_end(c->monitor, IL_STR("s1"), false, &c->err), IL_OK);
    monitor_is(c, "phase", "ended");
}

/* 6. A child starts with its parent's taints and live egress, never with its approvals or crossings; fresh arrives as held. */
static void debt_6_join(void **state) {
    monitor_case *c = *state;
    char id[IL_APPROVAL_ID_BYTES];
    il_begin child = {.size = sizeof child, .principal = IL_STR("ana"), .parent = IL_STR("s1")};
    monitor_again(c);
    monitor_allow(c, "in.u", "{}");
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("c1"), &child, &c->err), IL_OK);
    il_session s = monitor_session(c, "c1");
    assert_int_equal(s.counted, IL_UNTRUSTED);
    assert_string_equal(s.parent, "s1");
    assert_string_equal(s.witnesses[0].tool, "in.u");
    il_bind b;
    assert_int_equal(il_bind_open(c->policy.machine, &b, &c->err), IL_OK);
    assert_int_equal(il_bind_fresh(&b, s.state), 0);
    assert_int_equal(monitor_decide_in(c, "c1", "in.se", "{}"), IL_OK);
    assert_false(c->d.run);
    /* a standing sink of the parent is live in the child */
    monitor_again(c);
    monitor_run(c, "in.E", "{}");
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("c1"), &child, &c->err), IL_OK);
    assert_int_equal(monitor_decide_in(c, "c1", "in.us", "{}"), IL_OK);
    assert_string_equal(c->d.reason, "lethal-trifecta");
    assert_int_equal(c->d.nwitnesses, 1);
    assert_string_equal(c->d.witnesses[0].tool, "in.E");
    /* a call of the parent in flight reserves in the child until its deadline; no settle of the child's releases it */
    monitor_again(c);
    monitor_allow(c, "in.e", "{}");
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("c1"), &child, &c->err), IL_OK);
    il_outcome o = {.size = sizeof o, .how = IL_OUTCOME_DONE};
    s = monitor_session(c, "c1");
    assert_int_equal(s.ntickets, 1);
    c->s = (il_settlement)IL_SETTLEMENT_INIT;
    assert_int_equal(il_monitor_settle(c->monitor, IL_STR("c1"), s.tickets[0].id, &o, &c->s, &c->err), IL_E_STATE);
    assert_int_equal(monitor_decide_in(c, "c1", "in.e", "{}"), IL_OK);
    assert_int_equal(il_monitor_settle(c->monitor, IL_STR("c1"), c->d.ticket, &o, &c->s, &c->err), IL_OK);
    assert_int_equal(monitor_session(c, "c1").flight, 2);
    assert_int_equal(monitor_decide_in(c, "c1", "in.us", "{}"), IL_OK);
    assert_false(c->d.run);
    c->now += 600000;
    assert_int_equal(monitor_decide_in(c, "c1", "in.us", "{}"), IL_OK);
    assert_true(c->d.run);
    /* approvals stay with the parent */
    monitor_again(c);
    monitor_run(c, "in.us", "{}");
    memcpy(id, monitor_ask(c, "in.e", "{}"), sizeof id);
    assert_int_equal(ANSWER(il_monitor_approve, c, id), IL_OK);
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("c1"), &child, &c->err), IL_OK);
    assert_int_equal(monitor_decide_in(c, "c1", "in.e", "{}"), IL_OK);
    assert_int_equal(c->d.action, IL_ACTION_REQUIRE_APPROVAL);
    /* a secret is remembered although this machine counts it as sensitive */
    monitor_again(c);
    monitor_run(c, "in.k", "{}");
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("c1"), &child, &c->err), IL_OK);
    assert_int_equal(monitor_session(c, "c1").counted, IL_SENSITIVE | IL_SECRET);
    /* what cannot be a parent, and what cannot get one */
    child.parent = IL_STR("nobody");
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("c2"), &child, &c->err), IL_E_NOT_FOUND);
    child.parent = IL_STR("s1");
    il_session was = monitor_session(c, "s1"), bad = was;
    bad.counted = 0; /* a parent that says less than its state */
    monitor_put(c, "s1", &bad);
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("c2"), &child, &c->err), IL_E_DAMAGED);
    monitor_put(c, "s1", &was);
    child.resume = true;
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("c1"), &child, &c->err), IL_E_ARGUMENT);
    assert_int_equal(il_monitor_quarantine(c->monitor, IL_STR("s1"), IL_STR("x"), &c->err), IL_OK);
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("c3"), &child, &c->err), IL_E_STATE);
}

/* 7. Read, step, write and row are one transaction, in store before the caller hears of it: each version has its rows, and each row's state
 * follows from the one before it. */
static void debt_7_serial(void **state) {
    monitor_case *c = *state;
    char id[IL_APPROVAL_ID_BYTES];
    monitor_again(c);
    uint64_t t = monitor_allow(c, "in.us", "{}");
    assert_true(monitor_object(c, "s1")->version == 2 && monitor_rows(c, "decision") == 1);
    memcpy(id, monitor_ask(c, "in.e", "{}"), sizeof id);
    assert_true(monitor_object(c, "s1")->version == 3 && monitor_rows(c, "decision") == 2 && monitor_rows(c, "request") == 1);
    assert_int_equal(ANSWER(il_monitor_approve, c, id), IL_OK);
    assert_true(monitor_object(c, "s1")->version == 4 && monitor_rows(c, "approve") == 1);
    monitor_deny(c, "in.E", "{}", "lethal-trifecta");
    assert_true(monitor_object(c, "s1")->version == 4 && monitor_rows(c, "decision") == 3);
    assert_int_equal(monitor_settle(c, t, IL_OUTCOME_DONE, 0), IL_OK);
    assert_true(monitor_object(c, "s1")->version == 5 && monitor_rows(c, "settle") == 1);
    il_str at = {0};
    for (size_t i = 0; i < c->store.nrows; i++) {
        const il_json *body = policy_json(&c->policy, c->store.rows[i].body);
        il_str pre = il_json_text(il_json_get(body, IL_STR("pre"))), post = il_json_text(il_json_get(body, IL_STR("post")));
        if (post.n > 0) {
            assert_true(pre.n == 0 || at.n == 0 || il_str_eq(pre, at));
            at = post;
        }
    }
}

/* 8. A standing sink is vouched only by what accepts every class. */
static void debt_8_standing(void **state) {
    (void)state;
    static monitor_case c;
    monitor_case_init(&c, "interlock: 1\nmachine: trifecta\nours: { email: ['@corp.example'] }\n"
                          "destinations: [{ email: ['@part.example'], accepts: [untrusted, sensitive] }]\n"
                          "servers: { in: { trust: inside } }\n"
                          "tools:\n  - { match: in.share, effects: [egress], to: { email: to } }\n"
                          "  - { match: in.send, effects: [egress], sink: once, to: { email: to } }\n"
                          "  - { match: in.us, effects: [untrusted, sensitive] }\n  - { match: in.k, effects: [secret] }\n");
    monitor_run(&c, "in.share", "{\"to\":\"bo@corp.example\"}");
    monitor_is(&c, "open", "false");
    monitor_run(&c, "in.send", "{\"to\":\"bo@part.example\"}");
    assert_int_equal(c.d.effects, 0);
    monitor_run(&c, "in.us", "{}");
    monitor_run(&c, "in.send", "{\"to\":\"bo@part.example\"}");
    monitor_deny(&c, "in.share", "{\"to\":\"bo@part.example\"}", "lethal-trifecta");
    monitor_run(&c, "in.k", "{}");
    /* the machine does not tell a secret from what is sensitive; the session does */
    monitor_deny(&c, "in.send", "{\"to\":\"bo@part.example\"}", "lethal-trifecta");
    monitor_run(&c, "in.send", "{\"to\":\"bo@corp.example\"}");
    monitor_again(&c);
    monitor_run(&c, "in.share", "{\"to\":\"bo@part.example\"}");
    monitor_is(&c, "open", "true");
    monitor_case_free(&c);
}

static int debt_setup(void **state) {
    static monitor_case c;
    monitor_case_init(&c, monitor_policy);
    *state = &c;
    return 0;
}
static int debt_teardown(void **state) {
    monitor_case_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(debt_1_symbol),
        cmocka_unit_test(debt_1_binding),
        cmocka_unit_test(debt_2_tickets),
        cmocka_unit_test(debt_2_crossings),
        cmocka_unit_test(debt_2_settle_names_all),
        cmocka_unit_test(debt_2_label_breach),
        cmocka_unit_test(debt_3_refine),
        cmocka_unit_test(debt_4_slots),
        cmocka_unit_test(debt_4_void),
        cmocka_unit_test(debt_4_expiry),
        cmocka_unit_test(debt_4_mismatch),
        cmocka_unit_test(debt_5_deadline),
        cmocka_unit_test(debt_5_end),
        cmocka_unit_test(debt_5_quarantine),
        cmocka_unit_test(debt_6_join),
        cmocka_unit_test(debt_7_serial),
        cmocka_unit_test(debt_8_standing),
    };
    return cmocka_run_group_tests(tests, debt_setup, debt_teardown);
}
