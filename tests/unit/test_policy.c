/* SPDX-License-Identifier: Apache-2.0 */
/* Policy documents: what is taken, and where and why what is wrong is refused. */
#include "helper_policy.h"

#include "base/sha256.h"
#include "policy/approval.h"
#include "policy/bind.h"
#include "policy/glob.h"
#include "policy/names.h"
#include <stdio.h>
#include <string.h>

#define HEAD "interlock: 1\nmachine: trifecta\n"                                   /* lines 1 and 2 */
#define TOOLS "tools:\n  - { match: a.b, effects: [] }\n"                          /* two lines */
#define ENTRY(rest) HEAD "tools:\n  - { match: a.b, effects: [egress]" rest " }\n" /* the entry is line 4 */

static void policy_takes(void **state) {
    policy_case *c = *state;
    policy_must(c, HEAD TOOLS);
    assert_int_equal(il_policy_mode(c->policy), IL_MODE_ENFORCE);
    assert_false(il_policy_may_release(c->policy, IL_EGRESS));
    assert_ptr_equal(il_policy_machine(c->policy), c->machine);
    assert_false(il_policy_server_inside(c->policy, IL_STR("a")));

    policy_must(c, HEAD "mode: monitor\nservers: { a: { trust: inside, sampling: true, elicitation: false }, b: { "
                        "prototype_keys: allow }, c: { prototype_keys: refuse } }\n"
                        "approvals: { for: [egress], expires: 90s }\n" TOOLS);
    assert_int_equal(il_policy_mode(c->policy), IL_MODE_MONITOR);
    assert_true(il_policy_server_inside(c->policy, IL_STR("a")));
    assert_false(il_policy_server_inside(c->policy, IL_STR("b")));
    assert_false(il_policy_server_inside(c->policy, IL_STR("A")));
    assert_true(il_policy_server_may(c->policy, IL_STR("a"), IL_STR("sampling")));
    assert_false(il_policy_server_may(c->policy, IL_STR("a"), IL_STR("elicitation")));
    assert_false(il_policy_server_may(c->policy, IL_STR("a"), IL_STR("roots")));
    assert_false(il_policy_server_may(c->policy, IL_STR("a"), IL_STR("trust")));
    assert_false(il_policy_server_may(c->policy, IL_STR("b"), IL_STR("sampling")));
    assert_false(il_policy_server_may(c->policy, IL_STR("z"), IL_STR("sampling")));
    assert_int_equal(il_policy_server_prototypes(c->policy, IL_STR("b")), IL_PROTOTYPES_ALLOW);
    assert_int_equal(il_policy_server_prototypes(c->policy, IL_STR("c")), IL_PROTOTYPES_REFUSE);
    assert_int_equal(il_policy_server_prototypes(c->policy, IL_STR("a")), IL_PROTOTYPES_POLLUTE);
    assert_int_equal(il_policy_server_prototypes(c->policy, IL_STR("z")), IL_PROTOTYPES_POLLUTE);
    assert_true(il_policy_may_release(c->policy, IL_EGRESS | IL_SENSITIVE));
    assert_false(il_policy_may_release(c->policy, IL_EGRESS | IL_COMMIT));
    assert_false(il_policy_may_release(c->policy, IL_UNTRUSTED));
    assert_int_equal(il_policy_approval_ms(c->policy), 90000);

    policy_must(c, HEAD "approvals: {}\n" TOOLS);
    assert_true(il_policy_may_release(c->policy, IL_EGRESS | IL_COMMIT));
    assert_int_equal(il_policy_approval_ms(c->policy), 600000);
    policy_must(c, HEAD "approvals: { for: [] }\n" TOOLS);
    assert_false(il_policy_may_release(c->policy, IL_EGRESS));

    /* the same entry twice is one; an unequal one for a pattern that is written otherwise is for the labeller */
    policy_must(c, HEAD TOOLS "  - { match: [a.b, 'a.*'], effects: [] }\n  - { effects: [secret], match: 'a.**' }\n");
}

typedef struct policy_bad {
    const char *text;
    uint32_t line, col;
    il_status status;
    const char *says; /* a part of the message */
} policy_bad;

static const policy_bad policy_refused[] = {
    {"[]\n", 1, 1, IL_E_INVALID, "interlock: 1"},
    {"machine: trifecta\n" TOOLS, 1, 1, IL_E_INVALID, "interlock: 1"},
    {"interlock: 2\nmachine: trifecta\n" TOOLS, 1, 12, IL_E_VERSION, "interlock: 1"},
    {"interlock: '1'\nmachine: trifecta\n" TOOLS, 1, 12, IL_E_VERSION, "interlock: 1"},
    {"interlock: 1\n" TOOLS, 1, 1, IL_E_INVALID, "`machine` is missing"},
    {"interlock: 1\nmachine: [x]\n" TOOLS, 2, 10, IL_E_INVALID, "name or a path"},
    {"interlock: 1\nmachine: ''\n" TOOLS, 2, 10, IL_E_INVALID, "name or a path"},
    {HEAD, 1, 1, IL_E_INVALID, "`tools` is missing"},
    {HEAD "tools: []\n", 3, 8, IL_E_INVALID, "`tools` is a list"},
    {HEAD "tools: { a: b }\n", 3, 8, IL_E_INVALID, "`tools` is a list"},
    {HEAD "tool: []\n" TOOLS, 3, 1, IL_E_INVALID, "did you mean `tools`"},
    {HEAD "Mode: enforce\n" TOOLS, 3, 1, IL_E_INVALID, "mode"},
    {HEAD "mode: enforced\n" TOOLS, 3, 7, IL_E_INVALID, "`enforce` or `monitor`"},
    {HEAD "mode: true\n" TOOLS, 3, 7, IL_E_INVALID, "`enforce` or `monitor`"},
    /* known to the language, not to this version */
    {HEAD TOOLS "presets: {}\n", 5, 1, IL_E_INVALID, "written out first"},
    {HEAD TOOLS "hosts: {}\n", 5, 1, IL_E_INVALID, "written out first"},
    {HEAD TOOLS "sources: {}\n", 5, 10, IL_E_INVALID, "`sources` maps"},
    {HEAD TOOLS "sources: { web: maybe }\n", 5, 17, IL_E_INVALID, "`trusted` or `untrusted`"},
    {HEAD TOOLS "sessions: { call_dealine: 1m }\n", 5, 13, IL_E_INVALID, "did you mean `call_deadline`"},
    {HEAD TOOLS "sessions: { call_deadline: 1 }\n", 5, 28, IL_E_INVALID, "10m"},
    {HEAD TOOLS "audit: { laundry: true }\n", 5, 10, IL_E_INVALID, "unknown key `laundry`"},
    {HEAD TOOLS "audit: { laundering: 1 }\n", 5, 22, IL_E_INVALID, "true or false"},
    {HEAD TOOLS "tests: []\n", 5, 8, IL_E_INVALID, "`tests` is a list"},
    {HEAD TOOLS "tests:\n  - { name: x }\n", 6, 5, IL_E_INVALID, "`steps` is a list"},
    {HEAD TOOLS "tests:\n  - { steps: [{ call: a.b }] }\n", 6, 5, IL_E_INVALID, "needs a `name`"},
    {HEAD TOOLS "tests:\n  - { name: x, steps: [{ cal: a.b }] }\n", 6, 26, IL_E_INVALID, "did you mean `call`"},
    {HEAD TOOLS "tests:\n  - { name: x, steps: [{ args: {} }] }\n", 6, 24, IL_E_INVALID, "needs `call`"},
    {HEAD TOOLS "tests:\n  - { name: x, steps: [{ call: a.b, expect: deny }] }\n", 6, 45, IL_E_INVALID, "`expect` is"},
    {HEAD TOOLS "tests:\n  - { name: x, steps: [{ call: a.b, args: [1] }] }\n", 6, 43, IL_E_INVALID, "`args` is a map"},
    {HEAD "servers: { a: { use: github@2 } }\n" TOOLS, 3, 17, IL_E_INVALID, "written out first"},
    {HEAD "servers: { a: { roots: [~/src] } }\n" TOOLS, 3, 24, IL_E_INVALID, "true or false"},
    {ENTRY(", child: 1"), 4, 45, IL_E_INVALID, "`child` is true or false"},
    /* entries */
    {HEAD "tools:\n  - a.b\n", 4, 5, IL_E_INVALID, ""},
    {HEAD "tools:\n  - { effects: [] }\n", 4, 5, IL_E_INVALID, "needs `match`"},
    {HEAD "tools:\n  - { match: a.b }\n", 4, 5, IL_E_INVALID, "needs `effects`"},
    {HEAD "tools:\n  - { match: [], effects: [] }\n", 4, 14, IL_E_INVALID, "`match` is empty"},
    {HEAD "tools:\n  - { match: [[a]], effects: [] }\n", 4, 15, IL_E_INVALID, "`match` is a tool's name"},
    {HEAD "tools:\n  - { match: 'a.b c', effects: [] }\n", 4, 14, IL_E_INVALID, "only signs"},
    {HEAD "tools:\n  - { match: 'a.(b', effects: [] }\n", 4, 14, IL_E_INVALID, "`)` is missing"},
    {HEAD "tools:\n  - { match: 'a.(b|)', effects: [] }\n", 4, 14, IL_E_INVALID, "empty alternative"},
    {HEAD "tools:\n  - { match: 'a.(b|(c))', effects: [] }\n", 4, 14, IL_E_INVALID, "group inside a group"},
    {HEAD "tools:\n  - { match: 'a|b', effects: [] }\n", 4, 14, IL_E_INVALID, "outside a group"},
    {HEAD "tools:\n  - { match: 'a.?', effects: [] }\n", 4, 14, IL_E_INVALID, "only signs"},
    {HEAD "tools:\n  - { match: '!a.b', effects: [] }\n", 4, 14, IL_E_INVALID, "only signs"},
    {HEAD "tools:\n  - { match: '', effects: [] }\n", 4, 14, IL_E_INVALID, "empty"},
    {HEAD "tools:\n  - { match: a.b, effects: egress }\n", 4, 28, IL_E_INVALID, "list of words"},
    {HEAD "tools:\n  - { match: a.b, effects: [egres] }\n", 4, 29, IL_E_INVALID, "did you mean `egress`"},
    {HEAD "tools:\n  - { match: a.b, effects: [benign] }\n", 4, 29, IL_E_INVALID, "benign"},
    {HEAD "tools:\n  - { match: a.b, effects: [egress, egress] }\n", 4, 37, IL_E_INVALID, "twice"},
    {HEAD "tools:\n  - { match: a.b, effects: { egrss: true } }\n", 4, 30, IL_E_INVALID, "egress"},
    {HEAD "tools:\n  - { match: a.b, efects: [] }\n", 4, 19, IL_E_INVALID, "did you mean `effects`"},
    {ENTRY(", sink: twice"), 4, 44, IL_E_INVALID, "`standing` or `once`"},
    {ENTRY(", audience: all"), 4, 48, IL_E_INVALID, "`public` or `addressed`"},
    {ENTRY(", to: { mail: to }"), 4, 44, IL_E_INVALID, "unknown kind `mail`"},
    {ENTRY(", to: to"), 4, 42, IL_E_INVALID, "maps a kind"},
    {ENTRY(", to: {}"), 4, 42, IL_E_INVALID, "maps a kind"},
    {ENTRY(", to: { email: [] }"), 4, 51, IL_E_INVALID, "is empty"},
    {ENTRY(", to: { email: 3 }"), 4, 51, IL_E_INVALID, "named by a text"},
    {ENTRY(", to: { email: 'a..b' }"), 4, 51, IL_E_INVALID, "step is empty"},
    {ENTRY(", to: { email: 'a[0]' }"), 4, 51, IL_E_INVALID, "[*]"},
    {ENTRY(", to: { repo: '{owner}/{repo' }"), 4, 50, IL_E_INVALID, "`}` is missing"},
    {ENTRY(", to: { repo: 'owner}/x' }"), 4, 50, IL_E_INVALID, "`}` without `{`"},
    {ENTRY(", to: { repo: '{a[*]}/x' }"), 4, 50, IL_E_INVALID, "no single value"},
    {ENTRY(", reads: ['{a}/{b}']"), 4, 46, IL_E_INVALID, "template makes a destination"},
    {ENTRY(", to: { email: to }, plain: [to]"), 4, 65, IL_E_INVALID, "declared twice"},
    {ENTRY(", to: { email: a.b }, plain: [a]"), 4, 66, IL_E_INVALID, "declared twice"},
    {ENTRY(", reads: [a], plain: [a.b]"), 4, 58, IL_E_INVALID, "declared twice"},
    {ENTRY(", to: { email: to, url: to }"), 4, 60, IL_E_INVALID, "declared twice"},
    {ENTRY(", to: { repo: '{o}/{r}' }, plain: [o]"), 4, 71, IL_E_INVALID, "declared twice"},
    /* results, kinds, remembered values */
    {ENTRY(", result: 3"), 4, 46, IL_E_INVALID, "`result`"},
    {ENTRY(", result: {}"), 4, 46, IL_E_INVALID, "says nothing"},
    {ENTRY(", result: { fom: json }"), 4, 48, IL_E_INVALID, "did you mean `from`"},
    {ENTRY(", result: { from: xml }"), 4, 54, IL_E_INVALID, "`structured`, `json` or `text`"},
    {ENTRY(", result: { items: x }"), 4, 55, IL_E_INVALID, "write `$` or `$.x`"},
    {ENTRY(", result: { items: '$[x]' }"), 4, 55, IL_E_INVALID, "`*` for every item, or a number"},
    {ENTRY(", result: { items: '$x' }"), 4, 55, IL_E_INVALID, "joined by `.`"},
    {ENTRY(", result: { items: headers }"), 4, 55, IL_E_INVALID, "say `from: text` too"},
    {ENTRY(", result: { from: text, items: '$' }"), 4, 67, IL_E_INVALID, "its `headers`"},
    {ENTRY(", result: { authentic: { emial: a } }"), 4, 61, IL_E_INVALID, "did you mean `email`"},
    {ENTRY(", result: { authentic: { Payee: a } }"), 4, 61, IL_E_INVALID, "a kind of your own is a word"},
    {ENTRY(", result: { authentic: { post: a } }"), 4, 61, IL_E_INVALID, "did you mean `host`"},
    {ENTRY(", result: { authentic: email }"), 4, 59, IL_E_INVALID, "maps a kind to the fields"},
    {ENTRY(", result: { authentic: { email: [] } }"), 4, 68, IL_E_INVALID, "is empty"},
    {ENTRY(", result: { authentic: { email: $.a } }"), 4, 68, IL_E_INVALID, "leave out `$`"},
    {ENTRY(", result: { authentic: { email: '[*]' } }"), 4, 68, IL_E_INVALID, "step is empty"},
    {ENTRY(", result: { authentic: { email: 'a b' } }"), 4, 68, IL_E_INVALID, "joined by `.`"},
    {ENTRY(", result: { authentic: { email: { id: a } } }"), 4, 68, IL_E_INVALID, "{ id: PATH, via: PATH }"},
    {ENTRY(", result: { authentic: { email: { id: a, vai: b } } }"), 4, 77, IL_E_INVALID, "did you mean `via`"},
    {ENTRY(", result: { authentic: { email: { id: a, via: a } } }"), 4, 82, IL_E_INVALID, "names another field"},
    {ENTRY(", result: { claimed: { email: { id: a, via: b } } }"), 4, 80, IL_E_INVALID, "leave it out"},
    {ENTRY(", result: { claimed: { email: a, url: a } }"), 4, 74, IL_E_INVALID, "declared twice"},
    {ENTRY(", result: { claimed: { email: a }, authentic: { email: a } }"), 4, 66, IL_E_INVALID, "declared twice"},
    {ENTRY(", result: { claimed: { email: a }, free: [a] }"), 4, 78, IL_E_INVALID, "as free text"},
    {ENTRY(", result: { claimed: { email: a }, free: ['**.'] }"), 4, 78, IL_E_INVALID, "names no field"},
    {ENTRY(", result: { from: text, claimed: { email: a.b } }"), 4, 78, IL_E_INVALID, "name of a line"},
    {ENTRY(", remember: { a: b }"), 4, 53, IL_E_INVALID, "result.first_line"},
    {ENTRY(", remember: { a: 'result.first_line(\"\")' }"), 4, 53, IL_E_INVALID, "result.first_line"},
    {ENTRY(", remember: { A: $.b }"), 4, 50, IL_E_INVALID, "a remembered value has a name"},
    {ENTRY(", remember: { a: '$.b[*]' }"), 4, 53, IL_E_INVALID, "is one field of the result"},
    {ENTRY(", remember: { a: $ }"), 4, 53, IL_E_INVALID, "is one field of the result"},
    {ENTRY(", remember: [a]"), 4, 48, IL_E_INVALID, "`remember` maps"},
    {ENTRY(", to: { url: $page }"), 4, 49, IL_E_INVALID, "nothing is remembered as `page`; say in the entry"},
    {ENTRY(", remember: { page: $.u }, to: { url: $pge }"), 4, 74, IL_E_INVALID, "did you mean `$page`"},
    {ENTRY(", reads: [$page]"), 4, 46, IL_E_INVALID, "a remembered value is a destination"},
    {ENTRY(", kinds: { repo: '{o}/{r}' }, to: { name: repo }"), 4, 78, IL_E_INVALID, "of its own kind"},
    {ENTRY(", kinds: { repo: x }"), 4, 53, IL_E_INVALID, "names no argument"},
    {ENTRY(", kinds: {}"), 4, 45, IL_E_INVALID, "`kinds` maps a kind"},
    {ENTRY(", stores: { paths: a }"), 4, 48, IL_E_INVALID, "did you mean `path`"},
    {ENTRY(", stores: { path: '{a}' }"), 4, 54, IL_E_INVALID, "template makes a destination"},
    {HEAD "kinds: [a]\n" TOOLS, 3, 8, IL_E_INVALID, "`kinds` maps a kind"},
    {HEAD "kinds: { rep: '{o}/{r}' }\n" TOOLS, 3, 10, IL_E_INVALID, "did you mean `repo`"},
    /* contradictions */
    {HEAD TOOLS "  - { match: a.b, effects: [egress] }\n", 5, 5, IL_E_INVALID, "line 4"},
    {HEAD TOOLS "  - { match: [a.c, a.b], effects: [egress] }\n", 5, 5, IL_E_INVALID, "line 4"},
    {HEAD "tools:\n  - { match: 'a.*', effects: [] }\n  - { match: 'a.*', effects: [egress] }\n", 5, 5, IL_E_INVALID, "line 4"},
    /* names */
    {HEAD "ours: []\n" TOOLS, 3, 7, IL_E_INVALID, "maps kinds"},
    {HEAD "ours: {}\n" TOOLS, 3, 7, IL_E_INVALID, "maps kinds"},
    {HEAD "ours: { emails: ['@a.example'] }\n" TOOLS, 3, 9, IL_E_INVALID, "unknown kind `emails`"},
    {HEAD "ours: { email.private: ['@a.example'] }\n" TOOLS, 3, 9, IL_E_INVALID, "unknown kind"},
    {HEAD "ours: { email: [] }\n" TOOLS, 3, 16, IL_E_INVALID, "is empty"},
    {HEAD "ours: { email: [1] }\n" TOOLS, 3, 17, IL_E_INVALID, "a name is a text"},
    {HEAD "ours: { email: ['*@a.example'] }\n" TOOLS, 3, 17, IL_E_INVALID, "are `\"@a.example\"`"},
    {HEAD "ours: { host: ['*'] }\n" TOOLS, 3, 16, IL_E_INVALID, "not a host"},
    {HEAD "ours: { host: [0x7f.1] }\n" TOOLS, 3, 16, IL_E_INVALID, "four decimal numbers"},
    {HEAD "ours: { repo: ['acme*'] }\n" TOOLS, 3, 16, IL_E_INVALID, "`acme*`: not a repo"},
    {HEAD "destinations: {}\n" TOOLS, 3, 15, IL_E_INVALID, "is a list"},
    {HEAD "destinations: [x]\n" TOOLS, 3, 16, IL_E_INVALID, "a destination is a map"},
    {HEAD "destinations: [{ host: [a.example] }]\n" TOOLS, 3, 16, IL_E_INVALID, "`accepts` is missing"},
    {HEAD "destinations: [{ host: [a.example], accepts: [] }]\n" TOOLS, 3, 46, IL_E_INVALID, "`accepts` is empty"},
    {HEAD "destinations: [{ host: [a.example], accepts: [egress] }]\n" TOOLS, 3, 47, IL_E_INVALID, "egress"},
    {HEAD "destinations: [{ host: [a.example], accepts: [secret] }]\n" TOOLS, 3, 46, IL_E_INVALID, "list both"},
    {HEAD "destinations: [{ accepts: [untrusted] }]\n" TOOLS, 3, 16, IL_E_INVALID, "without a name"},
    {HEAD "destinations: [{ hosts: [a.example], accepts: [untrusted] }]\n" TOOLS, 3, 18, IL_E_INVALID, "unknown kind `hosts`"},
    {HEAD "ours: { host: [a.example] }\ndestinations:\n  - { host: [A.example.], accepts: [untrusted] }\n" TOOLS, 5, 14,
     IL_E_INVALID, "line 3"},
    /* servers and approvals */
    {HEAD "servers: []\n" TOOLS, 3, 10, IL_E_INVALID, "`servers` maps"},
    {HEAD "servers: { a.b: { trust: inside } }\n" TOOLS, 3, 12, IL_E_INVALID, "no dot"},
    {HEAD "servers: { a: { trust: yes-please } }\n" TOOLS, 3, 24, IL_E_INVALID, "`inside` or `outside`"},
    {HEAD "servers: { a: { prototype_keys: true } }\n" TOOLS, 3, 33, IL_E_INVALID, "`refuse` or `allow`"},
    {HEAD "servers: { a: { thrust: inside } }\n" TOOLS, 3, 17, IL_E_INVALID, "did you mean `trust`"},
    {HEAD "servers: { a: inside }\n" TOOLS, 3, 15, IL_E_INVALID, ""},
    {HEAD "approvals: { for: [untrusted] }\n" TOOLS, 3, 20, IL_E_INVALID, "what can are `egress` and `commit`"},
    {HEAD "approvals: { expires: 10 }\n" TOOLS, 3, 23, IL_E_INVALID, "10m"},
    {HEAD "approvals: { expires: 0m }\n" TOOLS, 3, 23, IL_E_INVALID, "10m"},
    {HEAD "approvals: { expires: 8d }\n" TOOLS, 3, 23, IL_E_INVALID, "10m"},
    {HEAD "approvals: { expires: 1.5h }\n" TOOLS, 3, 23, IL_E_INVALID, "10m"},
    {HEAD "approvals: { expires: -1m }\n" TOOLS, 3, 23, IL_E_INVALID, "10m"},
    {HEAD "approvals: { expire: 10m }\n" TOOLS, 3, 14, IL_E_INVALID, "did you mean `expires`"},
    {HEAD "approvals: { by: ana }\n" TOOLS, 3, 18, IL_E_INVALID, "list of names"},
    {HEAD "approvals: { by: [1] }\n" TOOLS, 3, 19, IL_E_INVALID, "is a name"},
    {HEAD "approvals: { where: [pager] }\n" TOOLS, 3, 22, IL_E_INVALID, "`page` and `notification`"},
    {HEAD "approvals: { once: false }\n" TOOLS, 3, 20, IL_E_INVALID, "for one call"},
    {HEAD "approvals: { budget: 6 }\n" TOOLS, 3, 22, IL_E_INVALID, "`6/hour`"},
    {HEAD "approvals: { budget: 0/hour }\n" TOOLS, 3, 22, IL_E_INVALID, "`6/hour`"},
    {HEAD "approvals: { budget: 6/day }\n" TOOLS, 3, 22, IL_E_INVALID, "`6/hour`"},
    {HEAD "servers: { a: { sql: [x] } }\n" TOOLS, 3, 22, IL_E_INVALID, "`sql` of a server"},
    {HEAD "servers: { a: { sql: { secrets: [x] } } }\n" TOOLS, 3, 24, IL_E_INVALID, "did you mean `secret`"},
    {HEAD "servers: { a: { sql: { secret: x } } }\n" TOOLS, 3, 32, IL_E_INVALID, "list of tables"},
    {HEAD "servers: { a: { sql: { secret: ['a b'] } } }\n" TOOLS, 3, 33, IL_E_INVALID, "a table is"},
    /* effects with conditions (test_condition.c has what conditions may name) */
    {HEAD "tools:\n  - { match: a.b, effects: { untrusted: 1 } }\n", 4, 41, IL_E_INVALID, "true, false or a condition"},
    {HEAD "tools:\n  - { match: a.b, effects: { untrusted: '!itm.x' } }\n", 4, 43, IL_E_INVALID, "did you mean `item`"},
    {ENTRY(", sql: [a, b], plain: [a]"), 4, 43, IL_E_INVALID, "named by a text"},
    {ENTRY(", sql: a, plain: [a]"), 4, 43, IL_E_INVALID, "declared twice"},
    /* rules */
    {HEAD TOOLS "rules: []\n", 5, 8, IL_E_INVALID, "`rules` is a list"},
    {HEAD TOOLS "rules: { tools: a.b }\n", 5, 8, IL_E_INVALID, "`rules` is a list"},
    {HEAD TOOLS "rules:\n  - a.b\n", 6, 5, IL_E_INVALID, "a rule"},
    {HEAD TOOLS "rules:\n  - { tools: a.b }\n", 6, 5, IL_E_INVALID, "needs `then`"},
    {HEAD TOOLS "rules:\n  - { then: block }\n", 6, 5, IL_E_INVALID, "needs `tools`"},
    {HEAD TOOLS "rules:\n  - { tools: a.b, then: deny }\n", 6, 25, IL_E_INVALID, "`require_approval`"},
    {HEAD TOOLS "rules:\n  - { tools: a.b, then: block, wen: x }\n", 6, 32, IL_E_INVALID, "did you mean `when`"},
    {HEAD TOOLS "rules:\n  - { tools: a.b, then: block, when: arg.x }\n", 6, 38, IL_E_INVALID, "did you mean `args`"},
    {HEAD TOOLS "rules:\n  - { tools: a.b, then: block, when: true }\n", 6, 38, IL_E_INVALID, "is a text"},
    {HEAD TOOLS "rules:\n  - { tools: a.b, then: block, when: item.x == 1 }\n", 6, 38, IL_E_INVALID, "in effects only"},
    {HEAD TOOLS "rules:\n  - { tools: a.b, then: block, when: 'agent.groups.exists(g, g == \"x\")' }\n", 6, 67, IL_E_INVALID,
     "never equal"},
    {HEAD TOOLS "rules:\n  - { tools: '!a.b', then: block }\n", 6, 14, IL_E_INVALID, "names none"},
    {HEAD TOOLS "rules:\n  - { tools: [], then: block }\n", 6, 14, IL_E_INVALID, "names none"},
    {HEAD TOOLS "rules:\n  - { tools: ['a.?'], then: block }\n", 6, 15, IL_E_INVALID, "only signs"},
    {HEAD TOOLS "rules:\n  - { tools: a.b, then: block, name: 'two words' }\n", 6, 38, IL_E_INVALID, "one word"},
    {HEAD TOOLS "rules:\n  - { tools: a.b, then: block, name: x }\n  - { tools: a.c, then: block, name: x }\n", 7, 5,
     IL_E_INVALID, "line 6"},
    /* agents and groups */
    {HEAD "agents: {}\n" TOOLS, 3, 9, IL_E_INVALID, "`agents` maps"},
    {HEAD "agents: { 'a b': {} }\n" TOOLS, 3, 11, IL_E_INVALID, "an agent has letters"},
    {HEAD "agents: { ana: { group: [x] } }\n" TOOLS, 3, 18, IL_E_INVALID, "did you mean `groups`"},
    {HEAD "agents: { ana: { mode: on-call } }\n" TOOLS, 3, 24, IL_E_INVALID, "`enforce` or `monitor`"},
    {HEAD "groups: {}\n" TOOLS, 3, 9, IL_E_INVALID, "`groups` maps"},
    {HEAD "groups: { ops: ana }\n" TOOLS, 3, 16, IL_E_INVALID, "a group is a list"},
    {HEAD "groups: { ops: [] }\nagents: { ana: { groups: [op] } }\n" TOOLS, 4, 27, IL_E_INVALID, "did you mean `ops`"},
    {HEAD "groups: { ops: [] }\nagents: { ana: { groups: [finance] } }\n" TOOLS, 4, 27, IL_E_INVALID, "no group `finance`"},
};

static void policy_refuses(void **state) {
    policy_case *c = *state;
    for (size_t i = 0; i < sizeof policy_refused / sizeof policy_refused[0]; i++) {
        const policy_bad *b = &policy_refused[i];
        if (policy_load(c, b->text) != NULL || c->status != b->status || c->err.line != b->line || c->err.col != b->col ||
            strstr(c->err.msg, b->says) == NULL) {
            fail_msg("%s\n gave %s at %u:%u: %s\n not %s at %u:%u with `%s`", b->text, il_status_name(c->status), c->err.line,
                     c->err.col, c->err.msg, il_status_name(b->status), b->line, b->col, b->says);
        }
        size_t n = strlen(c->err.msg);
        assert_true(n > 0 && c->err.msg[n - 1] != '.' && !(c->err.msg[0] >= 'A' && c->err.msg[0] <= 'Z'));
    }
}

/* The example of the reference page is a policy. */
static void policy_documented(void **state) {
    policy_case *c = *state;
    static char text[1 << 16];
    FILE *f = fopen("docs/policy.md", "rb");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    (void)fclose(f);
    char *from = strstr(text, "```yaml\n"), *to = from != NULL ? strstr(from, "\n```\n") : NULL;
    assert_non_null(to);
    to[1] = '\0';
    policy_must(c, from + 8);
    il_label l = policy_label(c, "web.send_message", "{\"to\":\"bo@corp.example\",\"subject\":\"x\",\"body\":\"y\"}", IL_TAINTS);
    assert_true(l.vouched);
}

/* Member order, layout and the form (YAML or JSON) do not matter; everything else does. */
static void policy_fingerprints(void **state) {
    policy_case *c = *state;
    uint8_t a[IL_DIGEST_BYTES], b[IL_DIGEST_BYTES], seal[IL_DIGEST_BYTES], want[IL_DIGEST_BYTES];
    policy_must(c, HEAD TOOLS);
    il_policy_fingerprint(c->policy, a);
    policy_must(c, "{\"tools\":[{\"effects\":[],\"match\":\"a.b\"}],\"machine\":\"trifecta\",\"interlock\":1}");
    il_policy_fingerprint(c->policy, b);
    assert_memory_equal(a, b, sizeof a);
    static const char canonical[] = "{\"interlock\":1,\"machine\":\"trifecta\",\"tools\":[{\"effects\":[],\"match\":\"a.b\"}]}";
    il_sha256 h;
    il_machine_digest(c->machine, seal);
    il_sha256_init(&h, NULL);
    il_sha256_add(&h, canonical, sizeof canonical - 1);
    il_sha256_add(&h, seal, sizeof seal);
    il_sha256_end(&h, want);
    assert_memory_equal(a, want, sizeof a);
    policy_must(c, HEAD "mode: enforce\n" TOOLS);
    il_policy_fingerprint(c->policy, b);
    assert_memory_not_equal(a, b, sizeof a);
}

static void policy_names_machine(void **state) {
    policy_case *c = *state;
    il_str name = {0};
    assert_int_equal(il_policy_machine_name(policy_json(c, "{\"interlock\":1,\"machine\":\"m/x.yaml\"}"), &name, NULL), IL_OK);
    assert_true(il_str_eq(name, IL_STR("m/x.yaml")));
    assert_int_equal(il_policy_machine_name(policy_json(c, "{\"interlock\":3,\"machine\":\"x\"}"), &name, NULL), IL_E_VERSION);
    assert_int_equal(il_policy_machine_name(policy_json(c, "{\"interlock\":1}"), &name, NULL), IL_E_INVALID);
    assert_int_equal(il_policy_machine_name(NULL, &name, NULL), IL_E_INVALID);
}

static void policy_arguments(void **state) {
    policy_case *c = *state;
    il_policy *p = NULL;
    const il_json *doc = policy_json(c, "{}");
    assert_int_equal(il_policy_new(NULL, doc, c->machine, &p, NULL), IL_E_ARGUMENT);
    assert_int_equal(il_policy_new(&c->memory.alloc, doc, NULL, &p, NULL), IL_E_ARGUMENT);
    assert_int_equal(il_policy_new(&c->memory.alloc, doc, c->machine, NULL, NULL), IL_E_ARGUMENT);
    assert_int_equal(il_policy_new(&c->memory.alloc, NULL, c->machine, &p, NULL), IL_E_INVALID);
    il_policy_free(NULL);
    assert_false(il_policy_may_release(NULL, IL_EGRESS));
    assert_int_equal(il_policy_mode(NULL), IL_MODE_ENFORCE);
}

/* The n-th allocation fails: an error each time, no leak (the sanitizer build says), and success in the end. */
static void policy_memory_fails(void **state) {
    policy_case *c = *state;
    const il_json *doc =
        policy_json(c, "{\"interlock\":1,\"machine\":\"trifecta\",\"ours\":{\"email\":[\"@a.example\"],\"repo.public\":\"a/b\"},"
                       "\"servers\":{\"a\":{\"trust\":\"inside\"}},\"tools\":[{\"match\":\"a.(b|c)\",\"effects\":[\"egress\"],"
                       "\"to\":{\"repo\":\"{o}/{r}\"},\"reads\":[\"body\"]}]}");
    size_t n = 0;
    for (;; n++) {
        il_policy *p = NULL;
        il_error err = {0};
        c->memory.left = n;
        il_status s = il_policy_new(&c->memory.alloc, doc, c->machine, &p, &err);
        c->memory.left = SIZE_MAX;
        if (s == IL_OK) {
            il_policy_free(p);
            break;
        }
        assert_int_equal(s, IL_E_MEMORY);
        assert_null(p);
    }
    assert_true(n >= 2);
}

static void policy_globs(void **state) {
    policy_case *c = *state;
    static const struct {
        const char *pattern, *name;
        bool matches, exact;
    } rows[] = {
        {"a.b", "a.b", true, true},
        {"a.b", "a.bc", false, true},
        {"a.*", "a.", true, false},
        {"a.*", "a.b.c", true, false},
        {"a.*", "b.a.x", false, false},
        {"*", "", true, false},
        {"*", "x", true, false},
        {"a.(b|c)_*", "a.c_x", true, false},
        {"a.(b|c)_*", "a.d_x", false, false},
        {"(a|b).(c|d)", "b.c", true, false},
        {"(a|b).(c|d)", "b.", false, false},
        {"a.(x*|y)", "a.xzz", true, false},
        {"a.*_b*c", "a.1_b2_b3c", true, false},
        {"a.*_b*c", "a.1_b2_b3", false, false},
        {"a.b", "A.b", false, true},
        {"a.(b)", "a.b", true, false},
        {"a.resources/read", "a.resources/read", true, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        il_glob g;
        assert_int_equal(il_glob_new(il_str_of(rows[i].pattern), &c->arena, &g, NULL), IL_OK);
        if (il_glob_matches(&g, il_str_of(rows[i].name)) != rows[i].matches || g.exact != rows[i].exact) {
            fail_msg("`%s` and `%s`", rows[i].pattern, rows[i].name);
        }
    }
    il_glob g;
    assert_int_equal(il_glob_new(IL_STR("(a|b|c|d)(a|b|c|d)(a|b|c|d)(a|b|c|d)(a|b)"), &c->arena, &g, NULL), IL_E_LIMIT);
    assert_int_equal(il_glob_new(IL_STR("(a|b|c|d)(a|b|c|d)(a|b|c|d)(a|b|c|d)"), &c->arena, &g, NULL), IL_OK);
    assert_int_equal(g.nforms, 256);
    /* hostile stars stay linear */
    char name[20000];
    memset(name, 'a', sizeof name);
    assert_int_equal(il_glob_new(IL_STR("*a*a*a*a*a*a*a*a*a*a*b"), &c->arena, &g, NULL), IL_OK);
    assert_false(il_glob_matches(&g, (il_str){name, sizeof name}));
}

/* Every symbol that the monitor may need is there, and the summary reads the states. */
static void policy_binds(void **state) {
    policy_case *c = *state;
    il_bind b;
    assert_int_equal(il_bind_open(c->machine, &b, &c->err), IL_OK);
    assert_true(b.refines && b.joins && b.approves);
    assert_int_equal(b.slots, 2);
    uint64_t s = il_machine_initial(c->machine);
    assert_int_equal(il_bind_counted(&b, s), 0);
    il_step step = il_machine_step(c->machine, s, il_bind_admit(&b, IL_SENSITIVE | IL_SECRET, IL_SINK_ONCE, false));
    assert_int_equal(step.verdict, IL_ACCEPT);
    assert_int_equal(il_bind_counted(&b, step.next), IL_SENSITIVE);
    assert_int_equal(il_bind_fresh(&b, step.next), IL_SENSITIVE);
    assert_int_equal(il_bind_live(&b, step.next, b.flight), 2);
    assert_int_equal(il_bind_live(&b, step.next, b.open), 0);
    assert_int_equal(il_bind_live(&b, step.next, b.secret), 0);
    assert_true(il_bind_phase(&b, s, "live"));
    step = il_machine_step(c->machine, step.next, il_bind_settle(&b, IL_SENSITIVE | IL_SECRET, 1));
    assert_int_equal(step.verdict, IL_ACCEPT);
    assert_int_equal(il_bind_fresh(&b, step.next), 0);
    assert_int_equal(il_bind_live(&b, step.next, b.flight), 0);
}

static int policy_setup(void **state) {
    static policy_case c;
    policy_case_init(&c, "trifecta");
    *state = &c;
    return 0;
}
static int policy_teardown(void **state) {
    policy_case_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policy_takes),         cmocka_unit_test(policy_refuses),   cmocka_unit_test(policy_fingerprints),
        cmocka_unit_test(policy_names_machine), cmocka_unit_test(policy_arguments), cmocka_unit_test(policy_memory_fails),
        cmocka_unit_test(policy_globs),         cmocka_unit_test(policy_binds),     cmocka_unit_test(policy_documented),
    };
    return cmocka_run_group_tests(tests, policy_setup, policy_teardown);
}
