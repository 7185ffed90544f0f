/* SPDX-License-Identifier: Apache-2.0 */
/* Promises along random sequences of operations (printed seeds; IL_TEST_SEED for another): no rule and no mode lets a call pass that the machine rejects; what lets an address pass is
 * evidence that vouches, never a text that matches and never that none does; labels only grow. */
#include "helper_monitor.h"

#include "interlock/host.h"
#include "policy/bind.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t promises_next(uint32_t *seed, uint32_t below) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static uint32_t promises_seed(const char *what) {
    const char *given = getenv("IL_TEST_SEED");
    const uint32_t seed = given != NULL ? (uint32_t)strtoul(given, NULL, 10) : 20261130u;
    print_message("%s: seed %u\n", what, seed);
    return seed;
}

/* ---- no rule and no mode ------------------------------------------------------------------------------------------ */

static const struct {
    const char *tool;
    uint32_t effects;
    il_sink_word sink;
} promises_tools[] = {{"in.n", 0, IL_SINK_NONE},
                      {"in.u", IL_UNTRUSTED, IL_SINK_NONE},
                      {"in.s", IL_SENSITIVE, IL_SINK_NONE},
                      {"in.us", IL_UNTRUSTED | IL_SENSITIVE, IL_SINK_NONE},
                      {"in.k", IL_SENSITIVE | IL_SECRET, IL_SINK_NONE},
                      {"in.c", IL_COMMIT, IL_SINK_NONE},
                      {"in.e", IL_EGRESS, IL_SINK_ONCE},
                      {"in.ue", IL_UNTRUSTED | IL_EGRESS, IL_SINK_ONCE},
                      {"in.use", IL_UNTRUSTED | IL_SENSITIVE | IL_EGRESS, IL_SINK_ONCE},
                      {"in.E", IL_EGRESS, IL_SINK_STANDING},
                      {"in.sE", IL_SENSITIVE | IL_EGRESS, IL_SINK_STANDING}};
#define PROMISES_TOOLS ((uint32_t)(sizeof promises_tools / sizeof promises_tools[0]))

static void promises_rules(char *out, size_t cap, uint32_t *seed) {
    static const char *const tools[] = {"\"*\"", "in.e", "\"in.u*\"", "in.E", "in.c"};
    static const char *const whens[] = {"",
                                        "when: 'run.tainted', ",
                                        "when: 'args.x == 1', ",
                                        "when: '!run.tainted', ",
                                        "when: 'carries(\"sensitive\")', ",
                                        "when: '1 / size(run.trifecta) > 0', "};
    static const char *const thens[] = {"allow", "allow", "block", "require_approval"};
    const uint32_t n = promises_next(seed, 4);
    size_t at =
        (size_t)snprintf(out, cap, "%s%s%s%s", monitor_policy, promises_next(seed, 2) != 0 ? "mode: monitor\n" : "",
                         promises_next(seed, 2) != 0 ? "agents: { ana: { mode: monitor } }\n" : "", n > 0 ? "rules:\n" : "");
    for (uint32_t i = 0; i < n; i++) {
        at += (size_t)snprintf(out + at, cap - at, "  - { tools: %s, %sthen: %s }\n", tools[promises_next(seed, 5)],
                               whens[promises_next(seed, 6)], thens[promises_next(seed, 4)]);
    }
    assert_true(at < cap);
}

typedef struct promises_count {
    size_t rejected, released,
        passed; /* by the machine; of those by a human; of those without one, which must not be in enforce */
} promises_count;

static void promises_call(monitor_case *c, const il_bind *bind, uint32_t *seed, promises_count *n) {
    const uint32_t t = promises_next(seed, PROMISES_TOOLS);
    char args[32];
    (void)snprintf(args, sizeof args, "{\"x\":%u}", promises_next(seed, 2));
    if (monitor_decide_in(c, "s1", promises_tools[t].tool, args) == IL_OK && c->d.action == IL_ACTION_REQUIRE_APPROVAL &&
        c->d.approval[0] != '\0' && !c->d.run && promises_next(seed, 2) != 0 &&
        il_monitor_approve(c->monitor, IL_STR("s1"), il_str_of(c->d.approval), IL_STR("bo"), &c->err) == IL_OK) {
        (void)monitor_decide_in(c, "s1", promises_tools[t].tool, args);
    }
    const uint32_t plain = il_bind_admit(bind, promises_tools[t].effects, promises_tools[t].sink, false);
    const uint32_t human = il_bind_admit(bind, promises_tools[t].effects, promises_tools[t].sink, true);
    if (c->d.effects == promises_tools[t].effects && il_machine_step(bind->machine, c->d.pre, plain).verdict != IL_ACCEPT) {
        n->rejected++;
        const bool used =
            c->d.run && c->d.approval[0] != '\0' && il_machine_step(bind->machine, c->d.pre, human).verdict == IL_ACCEPT;
        n->released += used;
        n->passed += c->d.run && !used;
        assert_true(c->d.action != IL_ACTION_ALLOW || used); /* in monitor it runs, and the decision says no */
    }
    if (c->d.run && promises_next(seed, 4) != 0) {
        assert_int_equal(monitor_settle(c, c->d.ticket, IL_OUTCOME_DONE, 0), IL_OK);
    }
}

static promises_count promises_run(monitor_case *c, uint32_t runs, bool enforce, uint32_t seed) {
    promises_count n = {0};
    for (uint32_t run = 0; run < runs; run++) {
        static char text[8192];
        il_bind bind;
        promises_rules(text, sizeof text, &seed);
        il_arena_reset(&c->policy.arena);
        il_monitor_free(c->monitor);
        policy_must(&c->policy, text);
        c->monitor = monitor_make(c, c->policy.policy, NULL, enforce);
        monitor_again(c);
        assert_int_equal(il_bind_open(c->policy.machine, &bind, NULL), IL_OK);
        for (uint32_t step = 0; step < 40; step++) {
            promises_call(c, &bind, &seed, &n);
        }
    }
    return n;
}

static void promise_no_rule_and_no_mode(void **state) {
    static monitor_case c;
    const uint32_t seed = promises_seed("rules and modes");
    (void)state;
    monitor_case_init(&c, monitor_policy);
    const promises_count held = promises_run(&c, 400, true, seed);
    const promises_count loose = promises_run(&c, 100, false, seed);
    print_message("%zu rejections by the machine: %zu released by a human, %zu passed; without enforce %zu of %zu ran\n",
                  held.rejected, held.released, held.passed, loose.passed, loose.rejected);
    assert_int_equal(held.passed, 0);
    assert_true(held.rejected > 1000 && held.released > 20);
    assert_true(loose.passed > 100); /* the instrument sees one that runs */
    monitor_case_free(&c);
}

/* ---- what releases ------------------------------------------------------------------------------------------------- */

static const char *const promises_people[] = {"zoe@corp.example", "ana.berg@one.example", "bo.holm@two.example",
                                              "cy.lund@three.example", "dee.falk@four.example"};
#define PROMISES_PEOPLE 5u

typedef struct promises_evidence { /* of one session, as the test knows it */
    bool typed[PROMISES_PEOPLE], authentic[PROMISES_PEOPLE], named[PROMISES_PEOPLE];
} promises_evidence;
typedef struct promises_released {
    size_t sends, listed, typed, authentic, denied_named;
} promises_released;

static void promises_read(monitor_case *c, const char *tool, uint32_t from, const char *body) {
    char result[512];
    if (monitor_decide_in(c, "s1", tool, "{}") != IL_OK || !c->d.run) {
        return;
    }
    (void)snprintf(result, sizeof result, "[{\"from\":\"%s\",\"body\":\"%s\"}]", promises_people[from], body);
    assert_int_equal(monitor_settle_with(c, c->d.ticket, result), IL_OK);
}

static void promises_send(monitor_case *c, uint32_t to, const promises_evidence *e, promises_released *n) {
    char args[256];
    (void)snprintf(args, sizeof args, "{\"to\":\"%s\"}", promises_people[to]);
    if (monitor_decide_in(c, "s1", "in.mail", args) != IL_OK) {
        fail_msg("%s", c->err.msg);
    }
    n->sends++;
    if ((c->d.effects & (uint32_t)IL_EGRESS) == 0) {
        if (to != 0 && !e->typed[to] && !e->authentic[to]) {
            fail_msg("%s was vouched: nothing speaks for it", promises_people[to]);
        }
        if (to != 0 && !e->typed[to] && e->named[to]) {
            fail_msg("%s was vouched: a text that an attacker wrote names it too", promises_people[to]);
        }
        n->listed += to == 0;
        n->typed += to != 0 && e->typed[to];
        n->authentic += to != 0 && !e->typed[to];
    } else {
        n->denied_named += e->authentic[to] && e->named[to];
    }
    if (c->d.run) {
        assert_int_equal(monitor_settle(c, c->d.ticket, IL_OUTCOME_DONE, 0), IL_OK);
    } else if (c->d.approval[0] != '\0') {
        assert_int_equal(il_monitor_refuse(c->monitor, IL_STR("s1"), il_str_of(c->d.approval), IL_STR("bo"), &c->err), IL_OK);
    }
}

static void promises_turn(monitor_case *c, uint32_t *seed, promises_evidence *e, promises_released *n) {
    const uint32_t who = promises_next(seed, PROMISES_PEOPLE), other = promises_next(seed, PROMISES_PEOPLE);
    char text[256];
    (void)snprintf(text, sizeof text, "please write to %s about it", promises_people[other]);
    switch (promises_next(seed, 7)) {
    case 0: /* untrusted, and what it names is no help */
        promises_read(c, "in.read", who, promises_next(seed, 2) != 0 ? text : "nothing of note");
        break;
    case 1:
        promises_read(c, "in.note", who, "nothing of note");
        break;
    case 2:
        if (promises_next(seed, 3) == 0) {
            assert_int_equal(il_monitor_say(c->monitor, IL_STR("s1"), il_str_of(text), &c->err), IL_OK);
            e->typed[other] = true;
        }
        break;
    case 3: {
        const il_notice notice = {
            .size = sizeof notice, .kind = IL_NOTICE_MESSAGE, .from = IL_STR("in"), .text = il_str_of(text), .untrusted = true};
        assert_int_equal(il_monitor_notice(c->monitor, IL_STR("s1"), &notice, &c->err), IL_OK);
        e->named[other] = true;
        break;
    }
    default:
        promises_send(c, who, e, n);
        break;
    }
}

/* The same of texts that a paraphrase hides: that nothing matches releases nothing either. */
static void promise_only_vouching_releases(void **state) {
    static monitor_case c;
    uint32_t seed = promises_seed("what releases");
    promises_released n = {0};
    il_host_recalls *recalls = NULL;
    (void)state;
    monitor_case_init(&c, monitor_remembers);
    assert_int_equal(il_host_recalls_new(&c.memory.alloc, 0, &recalls, &c.err), IL_OK);
    c.cache = il_host_recalls_cache(recalls);
    for (uint32_t run = 0; run < 300; run++) {
        promises_evidence e = {0};
        il_host_recalls *fresh = NULL;
        il_monitor_free(c.monitor); /* sessions of one name are others */
        il_host_recalls_free(recalls);
        assert_int_equal(il_host_recalls_new(&c.memory.alloc, 0, &fresh, &c.err), IL_OK);
        recalls = fresh;
        c.cache = il_host_recalls_cache(recalls);
        il_arena_reset(&c.policy.arena);
        c.monitor = monitor_make(&c, c.policy.policy, NULL, true);
        monitor_again(&c);
        for (uint32_t step = 0; step < 25; step++) {
            /* what the model says of a read is noted when it was let run */
            const uint32_t before = seed;
            promises_turn(&c, &seed, &e, &n);
            uint32_t again = before;
            const uint32_t who = promises_next(&again, PROMISES_PEOPLE), other = promises_next(&again, PROMISES_PEOPLE);
            const uint32_t what = promises_next(&again, 7);
            if (what < 2) {
                e.authentic[who] = true;
                e.named[other] = e.named[other] || (what == 0 && promises_next(&again, 2) != 0);
            }
        }
    }
    print_message("%zu sends; vouched: %zu listed, %zu typed, %zu by an authentic field; %zu authentic and named by an untrusted "
                  "text, not vouched\n",
                  n.sends, n.listed, n.typed, n.authentic, n.denied_named);
    assert_true(n.listed > 100 && n.typed > 100 && n.authentic > 50 && n.denied_named > 50); /* each way was met */
    il_monitor_free(c.monitor);
    c.monitor = NULL;
    il_host_recalls_free(recalls);
    monitor_case_free(&c);
}

/* ---- labels only grow ---------------------------------------------------------------------------------------------- */

#define PROMISES_SESSIONS 6u
typedef struct promises_family {
    uint32_t n;
    char ids[PROMISES_SESSIONS][8];
    uint32_t parent[PROMISES_SESSIONS];
    uint64_t ticket[PROMISES_SESSIONS]; /* of the parent's call that this session answers; 0: it was joined */
    il_session was[PROMISES_SESSIONS];
    bool seen[PROMISES_SESSIONS];
    struct {
        char space[16], key[IL_SESSION_ID_BYTES];
        uint8_t own, below;
        size_t n;
    } beside[STORE_BESIDE];
    size_t nbeside, grew, joined, placed;
} promises_family;

/* Nothing that was held is gone, nothing that was known, and where a taint came from first stays said. */
static bool promises_keeps(const il_session *was, const il_session *now) {
    bool keeps = (was->counted & ~now->counted) == 0 && now->episodes >= was->episodes && (was->open == 0 || now->open != 0);
    for (size_t w = 0; w < 3; w++) {
        keeps = keeps && (was->witnesses[w].ticket == 0 || was->witnesses[w].ticket == now->witnesses[w].ticket);
    }
    return keeps;
}

static void promises_session_grows(promises_family *f, uint32_t i, const il_session *now) {
    const il_session *was = &f->was[i];
    if (f->seen[i]) {
        if (!promises_keeps(was, now)) {
            fail_msg("session %s: held %x, and now %x; %u episodes, now %u", f->ids[i], was->counted, now->counted,
                     (unsigned)was->episodes, (unsigned)now->episodes);
        }
        f->grew += now->counted != was->counted;
    }
    f->was[i] = *now;
    f->seen[i] = true;
}

/* Places keep what was written there; what a session knows is never written again. */
static void promises_beside_grows(monitor_case *c, promises_family *f) {
    assert_true(c->store.nbeside >= f->nbeside);
    for (size_t i = 0; i < c->store.nbeside; i++) {
        const store_beside *b = &c->store.beside[i];
        const bool place = strcmp(b->space, IL_SPACE_STORE) == 0;
        if (i < f->nbeside) {
            assert_string_equal(b->key, f->beside[i].key);
            assert_true(!place || ((f->beside[i].own & ~b->state[4]) == 0 && (f->beside[i].below & ~b->state[5]) == 0));
            assert_true(place || (b->version == 1 && b->n == f->beside[i].n));
        }
        memcpy(f->beside[i].key, b->key, sizeof f->beside[i].key);
        f->beside[i].own = place ? b->state[4] : 0;
        f->beside[i].below = place ? b->state[5] : 0;
        f->beside[i].n = b->n;
        f->placed += place && i >= f->nbeside;
    }
    f->nbeside = c->store.nbeside;
}

static void promises_grow(monitor_case *c, promises_family *f) {
    for (uint32_t i = 0; i < f->n; i++) {
        const il_session now = monitor_session(c, f->ids[i]);
        promises_session_grows(f, i, &now);
    }
    promises_beside_grows(c, f);
}

static void promises_child(monitor_case *c, promises_family *f, uint32_t parent) {
    if (f->n == PROMISES_SESSIONS || monitor_decide_in(c, f->ids[parent], "in.task", "{}") != IL_OK || !c->d.run) {
        return;
    }
    const uint32_t i = f->n;
    const uint64_t ticket = c->d.ticket;
    const uint8_t held = monitor_session(c, f->ids[parent]).counted;
    (void)snprintf(f->ids[i], sizeof f->ids[i], "c%u", (unsigned)i);
    const il_begin how = {.size = sizeof how, .principal = IL_STR("ana"), .parent = il_str_of(f->ids[parent])};
    if (il_monitor_begin(c->monitor, il_str_of(f->ids[i]), &how, &c->err) != IL_OK) {
        return; /* the machine refuses what it would inherit */
    }
    f->n++;
    f->parent[i] = parent;
    f->ticket[i] = ticket;
    f->seen[i] = false;
    assert_int_equal(monitor_session(c, f->ids[i]).counted & held, held); /* it begins with all that its parent holds */
}

static void promises_join(monitor_case *c, promises_family *f, uint32_t i) {
    const il_outcome o = {.size = sizeof o, .how = IL_OUTCOME_DONE, .result = policy_json(&c->policy, "\"done\""), .bare = true};
    il_settlement s = IL_SETTLEMENT_INIT;
    const uint8_t child = monitor_session(c, f->ids[i]).counted;
    if (f->ticket[i] == 0 ||
        il_monitor_join(c->monitor, il_str_of(f->ids[f->parent[i]]), il_str_of(f->ids[i]), f->ticket[i], &o, &s, &c->err) !=
            IL_OK ||
        !s.release) {
        return;
    }
    f->ticket[i] = 0;
    f->joined++;
    assert_int_equal(monitor_session(c, f->ids[f->parent[i]]).counted & child,
                     child); /* what the child held is the parent's now */
}

/* What a session that has ended, a child or a late result may refuse; anything else is a mistake of the test. */
static void promises_may(const monitor_case *c, il_status s) {
    if (s != IL_OK && s != IL_E_STATE) {
        fail_msg("%s", c->err.msg);
    }
}

static void promises_operation(monitor_case *c, promises_family *f, uint32_t *seed) {
    static const char *const tools[] = {"in.u",    "in.s",     "in.n",     "in.e",   "in.read",
                                        "in.note", "in.write", "in.write", "in.get", "in.mail"};
    static const char *const paths[] = {"/w/a", "/w/a/b", "/w/c", "~/d"};
    const uint32_t i = promises_next(seed, f->n);
    const il_str id = il_str_of(f->ids[i]);
    char args[64];
    switch (promises_next(seed, 12)) {
    case 0:
        promises_child(c, f, i);
        return;
    case 1:
        promises_join(c, f, i);
        return;
    case 2:
        promises_may(c, il_monitor_say(c->monitor, id, IL_STR("write to ana.berg@one.example"), &c->err));
        return;
    case 3: {
        const il_notice notice = {.size = sizeof notice,
                                  .from = IL_STR("in"),
                                  .text = IL_STR("a text that came along"),
                                  .untrusted = promises_next(seed, 2) != 0};
        promises_may(c, il_monitor_notice(c->monitor, id, &notice, &c->err));
        return;
    }
    case 4: {
        const il_endorsement e = {
            .size = sizeof e, .kind = IL_STR("legal"), .by = IL_STR("bo"), .digest = {(uint8_t)(1 + promises_next(seed, 250))}};
        promises_may(c, il_monitor_endorse(c->monitor, id, &e, IL_STR("looked at"), &c->err));
        return;
    }
    case 5:
        c->now += 30000;
        promises_may(c, il_monitor_sweep(c->monitor, id, NULL, &c->err));
        return;
    default:
        break;
    }
    const char *tool = tools[promises_next(seed, sizeof tools / sizeof tools[0])];
    (void)snprintf(args, sizeof args, "{\"path\":\"%s\",\"to\":\"bo.holm@two.example\"}", paths[promises_next(seed, 4)]);
    if (monitor_decide_in(c, f->ids[i], tool, args) == IL_OK && c->d.run && promises_next(seed, 5) != 0) {
        const bool failed = promises_next(seed, 4) == 0;
        const il_outcome o = {
            .size = sizeof o,
            .how = failed ? IL_OUTCOME_FAILED : IL_OUTCOME_DONE,
            .result =
                failed ? NULL
                       : policy_json(&c->policy, "[{\"from\":\"cy.lund@three.example\",\"body\":\"a letter of some length\"}]"),
            .bare = true,
            .error = failed ? IL_STR("it went wrong") : IL_STR("")};
        il_settlement s = IL_SETTLEMENT_INIT;
        promises_may(c, il_monitor_settle(c->monitor, il_str_of(f->ids[i]), c->d.ticket, &o, &s, &c->err));
    }
}

static void promise_labels_only_grow(void **state) {
    static monitor_case c;
    static promises_family f;
    uint32_t seed = promises_seed("labels only grow");
    size_t grew = 0, joined = 0, placed = 0, children = 0;
    (void)state;
    monitor_case_init(&c, monitor_remembers);
    for (uint32_t run = 0; run < 120; run++) {
        il_arena_reset(&c.policy.arena);
        monitor_again(&c);
        memset(&f, 0, sizeof f);
        f.n = 1;
        (void)snprintf(f.ids[0], sizeof f.ids[0], "s1");
        for (uint32_t step = 0; step < 60; step++) {
            promises_operation(&c, &f, &seed);
            promises_grow(&c, &f);
        }
        grew += f.grew;
        joined += f.joined;
        placed += f.placed;
        children += f.n - 1;
    }
    print_message("sessions grew %zu times, %zu children, %zu joined, %zu places labelled\n", grew, children, joined, placed);
    assert_true(grew > 100 && children > 100 && joined > 50 && placed > 100);
    /* the instrument sees a session that forgets */
    il_session some = monitor_session(&c, "s1"), less = some;
    some.counted |= (uint8_t)IL_UNTRUSTED;
    less.counted = 0;
    assert_true(promises_keeps(&some, &some));
    assert_false(promises_keeps(&some, &less));
    less = some;
    less.episodes--;
    assert_false(promises_keeps(&some, &less));
    monitor_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(promise_no_rule_and_no_mode),
                                       cmocka_unit_test(promise_only_vouching_releases),
                                       cmocka_unit_test(promise_labels_only_grow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
