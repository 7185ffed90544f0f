/* SPDX-License-Identifier: Apache-2.0 */
/* The two machines that keep no sessions: they are proven in full, and each mistake that their rules are about is found with the shortest
 * witness. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/parts.h"
#include "helper_machine.h"

#define BROKER "machines/capability-broker.yaml"
#define CUSTODY "machines/secret-custody.yaml"

static void trace_is(machine_case *c, const il_trace *t, const char *want) {
    il_arena arena;
    il_buf b;
    il_str got = {0};
    il_arena_init(&arena, &c->memory.alloc, 1 << 20);
    il_buf_init(&b, &arena, 1 << 16);
    il_trace_text(c->m, t, &b);
    assert_int_equal(il_buf_done(&b, &got, NULL), IL_OK);
    if (!il_str_eq(got, il_str_of(want))) {
        fail_msg("want %s, got %.*s", want, IL_STR_ARG(got));
    }
    il_arena_free(&arena);
}

static void prove(machine_case *c, const char *path) {
    machine_open(c, path, NULL);
    c->status = il_harden_prove(&c->h, &c->memory.alloc, &c->arena, c->m, &c->err);
    c->hardened = true;
    assert_int_equal(c->status, IL_OK);
    for (const il_check *k = c->h.checks; k; k = k->next) {
        assert_int_equal(k->verdict, IL_CHECK_PASS);
    }
    assert_true(c->h.fully_mediated);
    assert_true(c->h.certificate.n > 0);
    assert_true(c->h.recovery.ran && c->h.recovery.strength == IL_RECOVERY_STRONG && c->h.recovery.robust);
}

static void test_broker_is_proven(void **state) {
    (void)state;
    machine_case c;
    prove(&c, BROKER);
    assert_int_equal(c.h.states, 2589);
    assert_int_equal(c.m->nsymbols, 23);
    assert_string_equal(machine_check(&c, "laundering", NULL)->finding, "NOTHING_TO_LAUNDER");
    trace_is(&c, &machine_check(&c, "gates", "activated[net]")->witness, "request[net] approve[net] activate[net]");
    trace_is(&c, &machine_check(&c, "gates", "joined")->witness,
             "request[net] request[pay] approve_pair activate[net] activate[pay]");
    machine_free(&c);
}

typedef struct shipped_twin {
    const char *name, *path;
    machine_edit edits[4];
    const char *region; /* a gated one: without its gates */
    const char *witness;
} shipped_twin;

static const shipped_twin twins[] = {
    {"the pair is judged by what is active, and not by the calls that run",
     BROKER,
     {{"(c == 'net' && busy['pay']) || (c == 'pay' && busy['net'])",
       "(c == 'net' && pre.cap['pay'] == 'active') || (c == 'pay' && pre.cap['net'] == 'active')"}},
     "forbidden-pair",
     "request[net] request[pay] approve[net] approve[pay] activate[net] use[net] revoke[net] activate[pay]"},
    {"an approval outlives what was handed back",
     BROKER,
     {{"\"appr[c]\": \"false\", pair: \"paired[c] ? false : pre.pair\"", "pair: \"paired[c] ? false : pre.pair\""}},
     "approval-without-request[repo_write]",
     "request[repo_write] approve[repo_write] downgrade[repo_write]"},
    {"and is used again",
     BROKER,
     {{"\"appr[c]\": \"false\", pair: \"paired[c] ? false : pre.pair\"", "pair: \"paired[c] ? false : pre.pair\""},
      {"pre.cap[c] != 'approved' || !pre.appr[c]", "!pre.appr[c]"}},
     "downgrade-reuse[net]",
     "request[net] approve[net] downgrade[net] activate[net]"},
    {"the pair's approval outlives one of the pair",
     BROKER,
     {{"\"appr[c]\": \"false\", pair: \"paired[c] && pre.uses[c] == 0 ? false : pre.pair\"", "\"appr[c]\": \"true\""}},
     "approval-without-request[pay]",
     "revoke[pay]"},
    {"the runtime approves a pair",
     BROKER,
     {{"  # Both together:", "  auto: {principal: runtime, gate: true, next: {pair: \"true\"}, reject: [{as: no-request, if: "
                             "\"!wanted['net'] || !wanted['pay']\"}]}\n  # Both together:"}},
     "joined",
     "request[net] request[pay] approve[net] approve[pay] auto activate[net] activate[pay]"},
    {"a grant is taken back by the agent, and nobody says so",
     BROKER,
     {{"  # Both together:",
       "  forget: {principal: agent, gate: true, next: {\"appr[c]\": \"pre.appr[c] && pre.cap[c] == 'active'\"}}\n"
       "  # Both together:"}},
     "grants-monotone[net]",
     "request[net] approve[net] forget"},
    {"what was revoked is asked for again",
     BROKER,
     {{"{as: not-requestable, if: \"pre.cap[c] != 'none'\"}",
       "{as: not-requestable, if: \"pre.cap[c] != 'none' && pre.cap[c] != 'revoked'\"}"}},
     "revocation-final[pay]",
     "revoke[pay] request[pay]"},
    {"a secret is read while a way out is open",
     CUSTODY,
     {{"      - {as: unmarked-read, if: \"!next.tainted\"}\n      - {as: egress-in-flight, if: \"pre.egress > 0\"}\n",
       "      - {as: unmarked-read, if: \"!next.tainted\"}\n"}},
     "leak",
     "lease_handle ask_plain open_egress read_plain{marked}"},
    {"a host echoes the secret, and a way out is open",
     CUSTODY,
     {{"{as: egress-in-flight, if: \"call.echo && pre.egress > 0\"}",
       "{as: egress-in-flight, if: \"call.echo && pre.egress > 1\"}"}},
     "leak",
     "lease_handle open_egress use_handle{echo}"},
    {"a read that is not marked",
     CUSTODY,
     {{"{as: unmarked-read, if: \"!next.tainted\"}", "{as: unmarked-read, if: \"pre.mode == 'plaintext'\"}"}},
     "uncustodied",
     "lease_handle ask_plain read_plain"},
    {"rotation forgets what was read",
     CUSTODY,
     {{"next: {loc: \"'rotated'\", mode: \"'handle'\", asked: \"false\"}",
       "next: {loc: \"'rotated'\", mode: \"'handle'\", asked: \"false\", tainted: \"false\"}"}},
     "remember",
     "lease_handle use_handle{echo} rotate"},
    {"rotation clears the suspicion",
     CUSTODY,
     {{"next: {loc: \"'rotated'\", mode: \"'handle'\", asked: \"false\"}",
       "next: {loc: \"'rotated'\", mode: \"'handle'\", asked: \"false\", compromised: \"false\"}"}},
     "restore",
     "suspect rotate"},
    {"the handle goes to any host",
     CUSTODY,
     {{"if: \"call.host != 'allowed'\"", "if: \"call.host != 'allowed' && call.echo\""}},
     "wrong-host",
     "lease_handle use_handle{host=other}"},
};

static void twin_run(const shipped_twin *t) {
    machine_case c;
    il_subject s;
    il_space space;
    print_message("           %s\n", t->name);
    machine_open(&c, t->path, t->edits);
    assert_int_equal(il_subject_init(&s, &c.memory.alloc, &c.arena, c.m, NULL, &c.err), IL_OK);
    uint32_t bit = 0;
    while (bit < c.m->nregions && !il_str_eq(c.m->regions[bit].name, il_str_of(t->region))) {
        bit++;
    }
    assert_true(bit < c.m->nregions);
    il_view v = {.subject = &s,
                 .dropped = c.m->regions[bit].gated ? c.m->regions[bit].by : 0,
                 .regions = UINT64_C(1) << bit,
                 .stop = UINT64_C(1) << bit};
    assert_int_equal(il_view_explore(&v, &space, &c.err), IL_OK);
    if (!space.hits[bit].found) {
        fail_msg("%s: not reached", t->region);
    }
    il_harden h = {.subject = s};
    il_trace trace = {0};
    assert_int_equal(il_trace_of(&h, &v, &space, &space.hits[bit], &trace, NULL), IL_OK);
    trace_is(&c, &trace, t->witness);
    il_space_free(&space);
    il_subject_free(&s);
    machine_free(&c);
}

static void test_twins(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++) {
        twin_run(&twins[i]);
    }
}

static void test_custody_is_proven(void **state) {
    (void)state;
    machine_case c;
    prove(&c, CUSTODY);
    assert_int_equal(c.h.states, 58);
    trace_is(&c, &machine_check(&c, "gates", "plain-read")->witness, "lease_handle ask_plain read_plain{marked}");
    machine_free(&c);
}

/* What only the whole run finds: a taint that is lowered without a word, a sticky variable that is, a wrong reason. */
static void test_custody_whole_twins(void **state) {
    (void)state;
    static const struct {
        machine_edit edits[2];
        const char *id, *region, *finding, *witness;
    } rows[] = {
        {{{"next: {loc: \"'rotated'\", mode: \"'handle'\", asked: \"false\"}",
           "next: {loc: \"'rotated'\", mode: \"'handle'\", asked: \"false\", tainted: \"false\"}"}},
         "laundering",
         "leak",
         "LAUNDERED",
         "lease_handle use_handle{echo} rotate open_egress"},
        {{{"if: \"pre.tainted\"}", "if: \"pre.tainted || pre.egress == 1\"}"}},
         "from-init",
         "told",
         "WRONG_REASON",
         "open_egress open_egress"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machine_case c;
        machine_harden(&c, CUSTODY, rows[i].edits, 0);
        assert_int_equal(c.status, IL_OK);
        assert_false(c.h.fully_mediated);
        const il_check *k = machine_check(&c, rows[i].id, rows[i].region);
        assert_int_equal(k->verdict, IL_CHECK_FAIL);
        assert_string_equal(k->finding, rows[i].finding);
        trace_is(&c, &k->witness, rows[i].witness);
        machine_free(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_broker_is_proven), cmocka_unit_test(test_custody_is_proven),
                                       cmocka_unit_test(test_twins), cmocka_unit_test(test_custody_whole_twins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
