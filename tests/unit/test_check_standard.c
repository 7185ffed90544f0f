/* SPDX-License-Identifier: Apache-2.0 */
/* The larger machine: what the explorer and the observers give for it, and twins of what only it has (secrets and commits). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/parts.h"
#include "helper_machine.h"

typedef struct standard_row {
    il_observer observer;
    bool keep_lowers;
    machine_edit edits[8];
    const char *region;  /* NULL: the approvals observer; a gated one: without its gates */
    const char *witness; /* NULL: nothing is reached */
    uint32_t states;     /* 0: not compared */
    uint64_t edges;
} standard_row;

#define CLEAR(next) \
    { "  quarantine: {", "  clear: {principal: runtime, gate: true, live: true, next: {" next "}}\n  quarantine: {" }

#define ASKED "asked: \"gained ? 0 : pre.asked\""
#define GRANTED "granted: \"gained ? 0 : call.approved ? pre.granted - 1 : pre.granted\""
#define TWICE "{as: secret-egress, if: \"call.data == 'secret' && (preout)\"}"
#define STRANGE "{as: secret-egress, if: \"next.secret != 'none' && (strange)\"}"
#define LETHAL "{as: lethal-trifecta, if: \"(both) && (liveout)\"}"
#define BREACH                                                                                                                  \
    "(call.untrusted && pre.untrusted == 'none') || (call.sensitive && pre.sensitive == 'none') || (call.secret && pre.secret " \
    "== 'none')"
#define OVER(name)                                                                                                   \
    "(pre." name " == 'foreign' || call." name " == 'foreign') ? 'foreign' : (pre." name " == 'bound' || call." name \
    " == 'bound') ? 'bound' : 'none'"

static const standard_row standard_rows[] = {
    {IL_OBSERVE_NOTHING, true, {{NULL, NULL}}, "secret-egress", NULL, 1294, 53030},
    {IL_OBSERVE_NOTHING, true, {{NULL, NULL}}, "tainted-commit", NULL, 1294, 53030},
    {IL_OBSERVE_GHOSTS, false, {{NULL, NULL}}, "lethal-trifecta", NULL, 672, 22732},
    {IL_OBSERVE_GHOSTS, false, {{NULL, NULL}}, "secret-into-open", NULL, 672, 22732},
    {IL_OBSERVE_GHOSTS, false, {{NULL, NULL}}, "tainted-commit", NULL, 672, 22732},
    {IL_OBSERVE_GHOSTS, true, {{NULL, NULL}}, "lethal-trifecta", "a{s} rf{s} a{u,e}", 0, 0},
    {IL_OBSERVE_GHOSTS, true, {{NULL, NULL}}, "secret-egress", "a{k} rf{k} a{e}", 0, 0},
    {IL_OBSERVE_GHOSTS, true, {{NULL, NULL}}, "tainted-commit", "a{u} rf{u} a{c}", 0, 0},
    {IL_OBSERVE_APPROVALS, true, {{NULL, NULL}}, NULL, NULL, 1294, 53030},
    {IL_OBSERVE_GHOSTS, false, {CLEAR("untrusted: \"'none'\""), {NULL, NULL}}, "tainted-commit", "a{u} clear a{c}", 0, 0},
    {IL_OBSERVE_GHOSTS, false, {CLEAR("secret: \"'none'\""), {NULL, NULL}}, "secret-egress", "a{k} clear a{e}", 0, 0},
    {IL_OBSERVE_NOTHING, true, {CLEAR("untrusted: \"'none'\""), {NULL, NULL}}, "tainted-commit", NULL, 0, 0},
    {IL_OBSERVE_APPROVALS,
     true,
     {{"gained ? 0 : call.approved ? pre.granted - 1 : pre.granted", "gained ? 0 : pre.granted"}, {NULL, NULL}},
     NULL,
     "a{u} rq ok a{c,+} a{c,+}",
     0,
     0},
    {IL_OBSERVE_NOTHING,
     true,
     {{"tainted-commit, if: \"!call.approved && call.commit && next.untrusted != 'none'\"",
       "tainted-commit, if: \"!call.approved && call.commit && pre.untrusted != 'none'\""},
      {NULL, NULL}},
     "tainted-commit",
     "a{u,c}",
     0,
     0},
    {IL_OBSERVE_NOTHING,
     true,
     {{"{as: not-fresh, if: \"next.secret != 'none' && next.sensitive == 'none'\"}", "{as: not-fresh, if: \"false\"}"},
      {NULL, NULL}},
     "secret-is-sensitive",
     "a{k} rf{s}",
     0,
     0},
    {IL_OBSERVE_GHOSTS,
     false,
     {CLEAR("untrusted: \"'none'\", sensitive: \"'none'\", secret: \"'none'\""), {NULL, NULL}},
     "lethal-trifecta",
     "a{s} clear a{u,e}",
     0,
     0},
    {IL_OBSERVE_NOTHING,
     true,
     {CLEAR("untrusted: \"'none'\", sensitive: \"'none'\", secret: \"'none'\""), {NULL, NULL}},
     "lethal-trifecta",
     NULL,
     0,
     0},
#define AT_RETURN                                                                                                                \
    {                                                                                                                            \
        {"untrusted: \"call.untrusted ? (pre.untrusted == 'none' ? 'fresh' : 'held') : pre.untrusted\"",                         \
         "untrusted: \"pre.untrusted\""},                                                                                        \
            {"sensitive: \"call.data != 'none' ? (pre.sensitive == 'none' ? 'fresh' : 'held') : pre.sensitive\"",                \
             "sensitive: \"pre.sensitive\""},                                                                                    \
            {"secret: \"call.data == 'secret' ? (pre.secret == 'none' ? 'fresh' : 'held') : pre.secret\"",                       \
             "secret: \"pre.secret\""},                                                                                          \
            {BREACH, "false"},                                                                                                   \
            {LETHAL ",\n",                                                                                                       \
             "{as: lethal-trifecta, if: \"(pre.untrusted != 'none' || call.untrusted) && (pre.sensitive != 'none' || call.data " \
             "!= 'none') && (liveout)\"},\n"},                                                                                   \
        {                                                                                                                        \
            NULL, NULL                                                                                                           \
        }                                                                                                                        \
    }
    {IL_OBSERVE_NOTHING, true, AT_RETURN, "lethal-trifecta", "a{e} se{u,s}", 0, 0},
    {IL_OBSERVE_GHOSTS, false, AT_RETURN, "lethal-trifecta", "a{s} a{u,e}", 0, 0},
    {IL_OBSERVE_NOTHING,
     true,
     {{"both: \"next.untrusted != 'none' && next.sensitive != 'none'\"",
       "both: \"pre.untrusted != 'none' && pre.sensitive != 'none'\""},
      {"liveout: \"next.flight != 'none' || next.open != 'none'\"", "liveout: \"pre.flight != 'none' || pre.open != 'none'\""},
      {NULL, NULL}},
     "lethal-trifecta",
     "a{u,s,e}",
     0,
     0},
    {IL_OBSERVE_APPROVALS,
     true,
     {{ASKED ",\n      " GRANTED, "asked: \"pre.asked\",\n      granted: \"call.approved ? pre.granted - 1 : pre.granted\""},
      {NULL, NULL}},
     NULL,
     "rq a{e} ok a{u,c,+}",
     0,
     0},
    {IL_OBSERVE_APPROVALS,
     true,
     {{ASKED ",\n      " GRANTED, "asked: \"pre.asked\",\n      " GRANTED}, {NULL, NULL}},
     NULL,
     "rq a{e} ok a{u,c,+}",
     0,
     0},
    {IL_OBSERVE_APPROVALS,
     true,
     {{ASKED ",\n      granted: \"gained ? 0 : pre.granted\"", "asked: \"pre.asked\",\n      granted: \"pre.granted\""},
      {NULL, NULL}},
     NULL,
     "rq j{ob} ok a{u,c,+}",
     0,
     0},
#define AUTO                                                                                                                  \
    {                                                                                                                         \
        {"  quarantine: {", "  auto: {principal: runtime, gate: true, live: true, next: {asked: \"pre.asked - 1\", granted: " \
                            "\"pre.granted + 1\"}, reject: [{as: no-request, if: \"pre.asked == 0 || pre.granted == K\"}]}\n" \
                            "  quarantine: {"},                                                                               \
        {                                                                                                                     \
            NULL, NULL                                                                                                        \
        }                                                                                                                     \
    }
    {IL_OBSERVE_NOTHING, true, AUTO, "approved-crossing", "rq auto a{u,s,e,+}", 0, 0},
    {IL_OBSERVE_NOTHING, true, AUTO, "approved-commit", "rq auto a{u,c,+}", 0, 0},
    {IL_OBSERVE_NOTHING, true, {{NULL, NULL}}, "approved-crossing", NULL, 289, 9015},
    {IL_OBSERVE_NOTHING, true, {{NULL, NULL}}, "approved-commit", NULL, 289, 9015},
    {IL_OBSERVE_APPROVALS,
     true,
     {{"next: {asked: \"pre.asked - 1\", granted: \"pre.granted + 1\"}, reject: [{as: no-request, if: \"pre.asked == 0 || "
       "pre.granted == K\"}]",
       "next: {asked: \"pre.asked == 0 ? 0 : pre.asked - 1\", granted: \"pre.granted + 1\"}, reject: [{as: no-request, if: "
       "\"pre.granted == K\"}]"},
      {NULL, NULL}},
     NULL,
     "ok a{u,c,+}",
     0,
     0},
    {IL_OBSERVE_GHOSTS,
     false,
     {{"newonce: \"(isonce) && !(exempt)", "newonce: \"((isonce) || (isstanding)) && !(exempt)"},
      {"newopen: \"(isstanding) ? (kind) : 'none'\"", "newopen: \"'none'\""},
      {NULL, NULL}},
     "lethal-trifecta",
     "a{E} se{last=egress} a{u,s}",
     0,
     0},
    {IL_OBSERVE_GHOSTS,
     false,
     {{"exempt: \"call.approved && (both) && (isonce)\"", "exempt: \"call.approved && (both)\""},
      {"newopen: \"(isstanding) ? (kind) : 'none'\"", "newopen: \"(isstanding) && !(exempt) ? (kind) : 'none'\""},
      {"newcross: \"(exempt)", "newcross: \"(exempt) && ((isonce) || (isstanding))"},
      {"call.approved && (((isstanding) && (both)) || (!(isonce) && !call.commit))",
       "call.approved && !(isonce) && !(isstanding) && !call.commit"},
      {"!((both) && (isonce)) &&", "!((both) && ((isonce) || (isstanding))) &&"},
      {NULL, NULL}},
     "lethal-trifecta",
     "rq ok a{u,s,E,+}",
     0,
     0},
    {IL_OBSERVE_GHOSTS,
     false,
     {{"untrusted: \"call.untrusted ? 'held' : pre.untrusted\", sensitive: \"call.data",
       "untrusted: \"pre.untrusted\", sensitive: \"false && call.data"},
      {"secret: \"call.data == 'secret' ? 'held' : pre.secret\"", "secret: \"pre.secret\""},
      {OVER("flight"), "pre.flight"},
      {OVER("open"), "pre.open"},
      {NULL, NULL}},
     "lethal-trifecta",
     "j{u,s,ob}",
     0,
     0},
#define NO_JOIN_GUARDS                                                                                                       \
    {                                                                                                                        \
        {"reject: [" STRANGE ", " TWICE ", " LETHAL "]}", "reject: [{as: lethal-trifecta, if: \"false\"}]}"}, { NULL, NULL } \
    }
    {IL_OBSERVE_NOTHING, true, NO_JOIN_GUARDS, "lethal-trifecta", "j{u,s,ob}", 0, 0},
    {IL_OBSERVE_NOTHING, true, NO_JOIN_GUARDS, "secret-egress", "j{k,of}", 0, 0},
    {IL_OBSERVE_CONFIRMED,
     true,
     {{"(call.untrusted && pre.untrusted != 'fresh') || (call.sensitive && pre.sensitive != 'fresh') || (call.secret && "
       "pre.secret != 'fresh')",
       BREACH},
      {NULL, NULL}},
     "lethal-trifecta",
     "j{s} rf{s} j{u,ob}",
     0,
     0},
    {IL_OBSERVE_CONFIRMED, true, {{NULL, NULL}}, "lethal-trifecta", NULL, 2109, 81839},
    /* the definition counts what was confirmed of two taints */
    {IL_OBSERVE_CONFIRMED,
     true,
     {{"secret: {enum: [none, fresh, held], taint: source}", "secret: [none, fresh, held]"}, {NULL, NULL}},
     "lethal-trifecta",
     NULL,
     2010,
     78772},
    {IL_OBSERVE_NOTHING,
     true,
     {{STRANGE ", " TWICE ",\n",
       "{as: secret-egress, if: \"!call.approved && next.secret != 'none' && (strange)\"}, " TWICE ",\n"},
      {NULL, NULL}},
     "secret-egress",
     "rq ok a{u,k,e,+}",
     0,
     0},
    {IL_OBSERVE_NOTHING,
     true,
     {{"strange: \"next.flight == 'foreign' || next.open == 'foreign' || next.crossing == 'foreign'\"",
       "strange: \"next.flight == 'foreign' || next.open == 'foreign'\""},
      {NULL, NULL}},
     "secret-egress",
     "rq ok a{u,k,e,+}",
     0,
     0},
    {IL_OBSERVE_NOTHING,
     true,
     {{TWICE ",\n", "{as: secret-egress, if: \"false\"},\n"}, {NULL, NULL}},
     "secret-into-open",
     "a{eb} a{k}",
     0,
     0},
    {IL_OBSERVE_NOTHING,
     true,
     {{"sensitive: \"call.data != 'none' ? (pre", "sensitive: \"call.data == 'sensitive' ? (pre"}, {NULL, NULL}},
     "secret-is-sensitive",
     "a{k}",
     0,
     0},
    {IL_OBSERVE_NOTHING,
     true,
     {{"{as: no-approval, if: \"call.approved && pre.granted == 0\"}",
       "{as: no-approval, if: \"call.approved && pre.granted == 0 && !call.commit\"}"},
      {GRANTED, "granted: \"gained ? 0 : call.approved && pre.granted > 0 ? pre.granted - 1 : pre.granted\""},
      {NULL, NULL}},
     "approved-commit",
     "a{u,c,+}",
     0,
     0},
};

static void standard_run(const standard_row *row) {
    machine_case c;
    il_subject s;
    il_space space;
    machine_open(&c, MACHINE_STANDARD, row->edits);
    assert_int_equal(il_subject_init(&s, &c.memory.alloc, &c.arena, c.m, NULL, &c.err), IL_OK);
    il_view v = {.subject = &s,
                 .observer = row->observer,
                 .dropped = row->keep_lowers ? 0 : s.lowers,
                 .regions = row->region ? s.never : 0};
    uint32_t bit = 63;
    for (uint32_t r = 0; row->region && r < c.m->nregions; r++) {
        bit = il_str_eq(c.m->regions[r].name, il_str_of(row->region)) ? r : bit;
    }
    assert_true(!row->region || bit != 63);
    if (row->region && c.m->regions[bit].gated) {
        v.dropped = c.m->regions[bit].by;
        v.regions = UINT64_C(1) << bit;
    }
    if (row->witness) {
        v.stop = UINT64_C(1) << bit;
    }
    assert_int_equal(il_view_explore(&v, &space, &c.err), IL_OK);
    assert_false(space.bound_hit || space.fault.found);
    if (space.hits[bit].found != (row->witness != NULL)) {
        fail_msg("%s: %s", row->region ? row->region : "approvals", row->witness ? "not reached" : "reached");
    }
    if (row->witness) {
        il_harden h = {.subject = s};
        il_trace t = {0};
        assert_int_equal(il_trace_of(&h, &v, &space, &space.hits[bit], &t, NULL), IL_OK);
        machine_trace_is(c.m, &t, row->witness);
    }
    if (row->states) {
        assert_int_equal(space.n, row->states);
        assert_int_equal(space.edges, row->edges);
    }
    il_space_free(&space);
    il_subject_free(&s);
    machine_free(&c);
}

static void test_standard(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof standard_rows / sizeof standard_rows[0]; i++) {
        standard_run(&standard_rows[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_standard)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
