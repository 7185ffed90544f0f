/* SPDX-License-Identifier: Apache-2.0 */
/* The vouching table: which effects a call keeps. */
#include "helper_policy.h"

#include <string.h>

#define U (uint32_t) IL_UNTRUSTED
#define S (uint32_t) IL_SENSITIVE
#define K (uint32_t) IL_SECRET
#define E (uint32_t) IL_EGRESS
#define C (uint32_t) IL_COMMIT

static const char label_policy[] =
    "interlock: 1\n"
    "machine: trifecta\n"
    "ours:\n"
    "  email: ['@corp.example']\n"
    "  host: [.corp.example, '.port.example:*']\n"
    "  host.public: [blog.port.example]\n"
    "  url.public: ['https://docs.corp.example/public/*']\n"
    "  email.public: [all@corp.example]\n"
    "  repo: ['ana/*']\n"
    "  repo.public: [ana/petshop, ana/site]\n"
    "  account: [GB29NWBK60161331926819]\n"
    "  name: [inv-1]\n"
    "destinations:\n"
    "  - { host: [api.github.example], accepts: [untrusted] }\n"
    "  - { url: ['https://hooks.slack.example/T0/*'], accepts: [untrusted, sensitive] }\n"
    "  - { email: [vault@bank.example], accepts: [untrusted, sensitive, secret] }\n"
    "  - { email: ['@part.example'], accepts: [untrusted, sensitive] }\n"
    "  - { repo: [ana/site], accepts: [untrusted, sensitive, secret] }\n"
    "servers:\n"
    "  in: { trust: inside }\n"
    "  out: { trust: outside }\n"
    "tools:\n"
    "  - { match: in.read, effects: [sensitive] }\n"
    "  - { match: in.vault, effects: [secret] }\n"
    "  - { match: in.page, effects: [untrusted] }\n"
    "  - { match: in.none, effects: [] }\n"
    "  - { match: in.map, effects: { untrusted: true, sensitive: false, egress: true } }\n"
    "  - { match: in.mail, effects: [egress], sink: once, to: { email: [to, cc, bcc] }, reads: [body, 'parts[*].text'], plain: "
    "[subject, headers] }\n"
    "  - { match: in.standing, effects: [egress], to: { email: to } }\n"
    "  - { match: in.get, effects: [untrusted, egress], sink: once, to: { url: url }, plain: [max] }\n"
    "  - { match: in.push, effects: [egress], sink: once, to: { repo: '{owner}/{repo}' }, plain: [x] }\n"
    "  - { match: in.event, effects: [egress], sink: once, to: { email: 'attendees[*].email' }, plain: ['attendees[*].name'] }\n"
    "  - { match: in.rcpt, effects: [egress], sink: once, to: { email: 'to[*]' } }\n"
    "  - { match: in.batch, effects: [egress, commit], sink: once, to: { email: ['mails[*].to', 'mails[*].cc'] }, object: { "
    "email: "
    "['mails[*].to', 'mails[*].cc'], name: 'mails[*].id' } }\n"
    "  - { match: in.groups, effects: [egress], sink: once, to: { email: 'groups[*].people[*].email' } }\n"
    "  - { match: in.fork, effects: [egress], sink: once, to: { repo: ['{owner}/{repo}', '{to_owner}/{to_repo}'] } }\n"
    "  - { match: in.deep, effects: [egress], sink: once, to: { email: a.b.c } }\n"
    "  - { match: in.bare, effects: [egress], sink: once }\n"
    "  - { match: in.pay, effects: [egress, commit], sink: once, to: { account: to }, object: { name: invoice } }\n"
    "  - { match: in.paynow, effects: [egress, commit], sink: once, to: { account: to } }\n"
    "  - { match: in.drop, effects: [commit], object: { name: [id, ids] } }\n"
    "  - { match: 'out.*', effects: [] }\n"
    "  - { match: out.send, effects: [egress], sink: once, to: { email: to } }\n"
    "  - { match: undeclared.send, effects: [egress], sink: once, to: { email: to } }\n"
    "  - { match: 'in.over*', effects: [untrusted, egress], sink: once, to: { email: to } }\n"
    "  - { match: 'in.*lap', effects: [sensitive, egress], to: { email: to } }\n"
    "  - { match: 'in.same_*', effects: [egress], sink: once, to: { email: to } }\n"
    "  - { match: ['in.*_same', in.exact], effects: [egress], sink: once, to: { email: to } }\n"
    "  - { match: 'in.ex*', effects: [secret, commit] }\n"
    "  - { match: own, effects: [egress], sink: once, to: { email: to } }\n";

typedef struct label_row {
    const char *tool, *args;
    uint32_t held, effects;
} label_row;

static const label_row label_rows[] = {
    /* declared effects, and what secret implies */
    {"in.read", "{}", 0, S},
    {"in.vault", "{}", 0, S | K},
    {"in.page", "{\"any\":{\"thing\":[1]}}", 0, U},
    {"in.none", NULL, U | S, 0},
    {"in.map", "{}", 0, U | E},
    /* ours accepts every class */
    {"in.mail", "{\"to\":\"bo@corp.example\"}", 0, 0},
    {"in.mail", "{\"to\":\"Bo@CORP.example\",\"subject\":\"hi\",\"body\":\"hello\"}", U | S | K, 0},
    {"in.mail", "{\"to\":[\"bo@corp.example\",\"al@corp.example\"]}", U | S, 0},
    /* every destination, wherever it stands */
    {"in.mail", "{\"to\":\"bo@corp.example\",\"bcc\":\"eve@evil.example\"}", 0, E},
    {"in.mail", "{\"to\":[\"bo@corp.example\",\"eve@evil.example\"]}", 0, E},
    {"in.mail", "{\"bcc\":\"bo@corp.example\"}", 0, 0},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"cc\":null}", 0, 0},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"cc\":[]}", 0, 0},
    /* an empty text is absent too; one that only looks empty is not */
    {"in.mail", "{\"to\":\"bo@corp.example\",\"cc\":\"\",\"bcc\":\"\"}", 0, 0},
    {"in.mail", "{\"to\":\"\",\"cc\":\"bo@corp.example\"}", 0, 0},
    {"in.mail", "{\"to\":\"\",\"cc\":\"\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"cc\":\"\",\"bcc\":\"eve@evil.example\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"cc\":\" \"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"cc\":\"\\t\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"cc\":\"\\u200b\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"cc\":[\"\"]}", 0, E},
    {"in.fork", "{\"owner\":\"ana\",\"repo\":\"notes\",\"to_owner\":\"\",\"to_repo\":\"\"}", 0, 0},
    {"in.fork", "{\"owner\":\"ana\",\"repo\":\"notes\",\"to_owner\":null}", 0, 0},
    {"in.fork", "{\"owner\":\"ana\",\"repo\":\"notes\",\"to_owner\":\"ana\",\"to_repo\":\"\"}", 0, E},
    {"in.fork", "{\"owner\":\"\",\"repo\":\"\",\"to_owner\":\"\",\"to_repo\":\"\"}", 0, E},
    /* none present, or not readable */
    {"in.mail", "{}", 0, E},
    {"in.mail", NULL, 0, E},
    {"in.mail", "{\"to\":null}", 0, E},
    {"in.mail", "{\"to\":[]}", 0, E},
    {"in.mail", "{\"to\":\"\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example, al@corp.example\"}", 0, E},
    {"in.mail", "{\"to\":\"Bo <bo@corp.example>\"}", 0, E},
    {"in.mail", "{\"to\":{\"email\":\"bo@corp.example\"}}", 0, E},
    {"in.mail", "{\"to\":[[\"bo@corp.example\"]]}", 0, E},
    {"in.mail", "{\"to\":true}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"cc\":[null]}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example@evil.example\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp\\u200b.example\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\\r\\nBcc: eve@evil.example\"}", 0, E},
    /* an argument that the entry does not declare */
    {"in.mail", "{\"to\":\"bo@corp.example\",\"reply_to\":\"x\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"extra\":null}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"parts\":[{\"text\":\"hi\",\"url\":\"x\"}]}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"parts\":\"hi\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"parts\":[{\"text\":\"hi\"}]}", 0, 0},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"To\":\"bo@corp.example\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"\":1}", 0, E},
    /* plain is not looked into, whatever it holds */
    {"in.mail", "{\"to\":\"bo@corp.example\",\"subject\":\"https://evil.example\",\"headers\":{\"a\":[1]}}", 0, 0},
    /* free text */
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"ask al@corp.example, see https://wiki.corp.example/x.\"}", U | S, 0},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"see https://evil.example/?k=v\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"tell eve@evil.example\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"pay DE89370400440532013000\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"pay GB29 NWBK 6016 1331 9268 19\"}", 0, 0},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"https://wiki.corp.example/?u=https%3A%2F%2Fevil.example%2Fx\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"https://wiki.corp.example@evil.example/\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":{\"https://evil.example\":1}}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":[[[\"https://evil.example\"]]]}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"[x](evil.example/k)\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"evil.example?k=1\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"see wiki.corp.example/a, plan.txt and src/a.py\"}", U | S, 0},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"api.github.example/x\"}", U, 0},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"api.github.example/x\"}", S, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"tel:+4930123\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"data:text/html,x\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"https://api.github.example/x\"}", U, 0},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"body\":\"https://api.github.example/x\"}", S, E},
    /* destinations accept classes: held and added ones */
    {"in.get", "{\"url\":\"https://api.github.example/x\"}", 0, U},
    {"in.get", "{\"url\":\"https://api.github.example/x\"}", U, U},
    {"in.get", "{\"url\":\"https://api.github.example/x\"}", S, U | E},
    {"in.get", "{\"url\":\"https://api.github.example:444/x\"}", 0, U | E},
    {"in.get", "{\"url\":\"https://hooks.slack.example/T0/B1\"}", U | S, U},
    {"in.get", "{\"url\":\"https://hooks.slack.example/T0/B1\"}", U | S | K, U | E},
    {"in.get", "{\"url\":\"https://hooks.slack.example/T1/B1\"}", 0, U | E},
    {"in.get", "{\"url\":\"https://wiki.corp.example/a\",\"max\":3}", S | K, U},
    {"in.get", "{\"url\":\"https://wiki.corp.example/?u=https%3A%2F%2Fevil.example\"}", 0, U | E},
    {"in.get", "{\"url\":\"https://wiki.corp.example//evil.example/x\"}", 0, U | E},
    {"in.get", "{\"url\":\"https://evilcorp.example/\"}", 0, U | E},
    {"in.get", "{\"url\":\"http://2130706433/\"}", 0, U | E},
    /* what is public stays so under another spelling */
    {"in.get", "{\"url\":\"https://docs.corp.example/public/a\"}", S, U | E},
    {"in.get", "{\"url\":\"https://docs.corp.example/%70ublic/a\"}", S, U | E},
    {"in.get", "{\"url\":\"https://docs.corp.example/%2570ublic/a\"}", S, U | E},
    {"in.get", "{\"url\":\"http://docs.corp.example/public/a\"}", S, U | E},
    {"in.get", "{\"url\":\"wss://docs.corp.example/public/a\"}", S, U | E},
    {"in.get", "{\"url\":\"https://docs.corp.example//public/a\"}", S, U | E},
    {"in.get", "{\"url\":\"https://docs.corp.example/Public/a\"}", S, U | E},
    {"in.get", "{\"url\":\"https://docs.corp.example/public;v=1/a\"}", S, U | E},
    {"in.get", "{\"url\":\"https://docs.corp.example/public\"}", S, U | E},
    {"in.get", "{\"url\":\"https://docs.corp.example/public?x=1\"}", S, U | E},
    {"in.get", "{\"url\":\"https://blog.port.example/\"}", S, U | E},
    {"in.get", "{\"url\":\"https://blog.port.example:8443/\"}", S, U | E},
    {"in.get", "{\"url\":\"https://docs.corp.example/publicity\"}", S, U},
    {"in.get", "{\"url\":\"https://docs.corp.example/a/public/\"}", S, U},
    {"in.get", "{\"url\":\"https://wiki.port.example:8443/\"}", S, U},
    {"in.mail", "{\"to\":\"all@corp.example\"}", S, E},
    {"in.mail", "{\"to\":\"all+x@corp.example\"}", S, E},
    {"in.mail", "{\"to\":\"all+x@corp.example\"}", U, 0},
    /* a standing sink needs a destination that accepts every class */
    {"in.standing", "{\"to\":\"bo@corp.example\"}", 0, 0},
    {"in.standing", "{\"to\":\"vault@bank.example\"}", 0, 0},
    {"in.standing", "{\"to\":\"bo@part.example\"}", 0, E},
    {"in.mail", "{\"to\":\"bo@part.example\"}", U | S, 0},
    {"in.mail", "{\"to\":\"bo@part.example\"}", K, E},
    {"in.mail", "{\"to\":\"vault@bank.example\"}", U | S | K, 0},
    /* built from two arguments; public is for untrusted only, whatever else lists it */
    {"in.push", "{\"owner\":\"ana\",\"repo\":\"notes\"}", U | S, 0},
    {"in.push", "{\"owner\":\"Ana\",\"repo\":\"PetShop\"}", U, 0},
    {"in.push", "{\"owner\":\"Ana\",\"repo\":\"PetShop\"}", S, E},
    {"in.push", "{\"owner\":\"ana\",\"repo\":\"site\"}", S, E},
    {"in.push", "{\"owner\":\"ana\",\"repo\":\"petshop.git\"}", S, E},
    {"in.push", "{\"owner\":\"ana\"}", 0, E},
    {"in.push", "{\"repo\":\"notes\"}", 0, E},
    {"in.push", "{}", 0, E},
    {"in.push", "{\"owner\":\"ana/notes\",\"repo\":\"\"}", 0, E},
    {"in.push", "{\"owner\":\"evil\",\"repo\":\"../ana/notes\"}", 0, E},
    {"in.push", "{\"owner\":\"ana\",\"repo\":[\"notes\"]}", 0, E},
    {"in.push", "{\"owner\":\"ana\",\"repo\":\"notes\",\"x\":{}}", 0, 0},
    /* paths into arrays and objects */
    {"in.event", "{\"attendees\":[{\"email\":\"bo@corp.example\",\"name\":\"Bo\"},{\"email\":\"al@corp.example\"}]}", S, 0},
    {"in.event", "{\"attendees\":[{\"email\":\"bo@corp.example\"},{\"email\":\"eve@evil.example\"}]}", 0, E},
    {"in.event", "{\"attendees\":[{\"name\":\"Bo\"}]}", 0, E},
    {"in.event", "{\"attendees\":[\"bo@corp.example\"]}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"parts\":null}", S, 0},
    {"in.event", "{\"attendees\":null}", 0, E},
    /* an item of a list of destinations that names none: the server has its own idea of whom that means */
    {"in.event", "{\"attendees\":[{\"email\":\"bo@corp.example\"},{}]}", 0, E},
    {"in.event", "{\"attendees\":[{\"name\":\"Eve\"},{\"email\":\"bo@corp.example\"}]}", 0, E},
    {"in.event", "{\"attendees\":[{\"email\":\"bo@corp.example\"},null]}", 0, E},
    {"in.event", "{\"attendees\":[{\"email\":\"bo@corp.example\"},{\"email\":null}]}", 0, E},
    {"in.event", "{\"attendees\":[{\"email\":\"bo@corp.example\"},{\"email\":\"\"}]}", 0, E},
    {"in.event", "{\"attendees\":[{\"email\":\"bo@corp.example\"},{\"email\":[]}]}", 0, E},
    {"in.rcpt", "{\"to\":[\"bo@corp.example\"]}", 0, 0},
    {"in.rcpt", "{\"to\":[\"bo@corp.example\",null]}", 0, E},
    {"in.rcpt", "{\"to\":[\"bo@corp.example\",\"\"]}", 0, E},
    {"in.rcpt", "{\"to\":[\"bo@corp.example\",[]]}", 0, E},
    {"in.batch", "{\"mails\":[{\"to\":\"bo@corp.example\"},{\"cc\":[\"al@corp.example\"],\"to\":null}]}", 0, 0},
    {"in.batch", "{\"mails\":[{\"to\":\"bo@corp.example\"},{\"cc\":[]}]}", 0, E | C},
    {"in.batch", "{\"mails\":[{\"to\":\"bo@corp.example\"},{\"id\":\"inv-1\"}]}", 0, E | C},
    {"in.batch", "{\"mails\":[{\"to\":\"bo@corp.example\",\"id\":\"inv-1\"}]}", 0, 0},
    {"in.batch", "{\"mails\":[]}", 0, E | C},
    {"in.groups", "{\"groups\":[{\"people\":[{\"email\":\"bo@corp.example\"}]}]}", 0, 0},
    {"in.groups", "{\"groups\":[{\"people\":[{\"email\":\"bo@corp.example\"}]},{\"people\":[]}]}", 0, E},
    {"in.groups", "{\"groups\":[{\"people\":[{\"email\":\"bo@corp.example\"},{}]}]}", 0, E},
    {"in.mail", "{\"to\":\"bo@corp.example\",\"parts\":[{\"text\":\"hi\"},{}]}", 0, 0},
    {"in.event", "{\"attendees\":{\"email\":\"bo@corp.example\"}}", 0, E},
    {"in.deep", "{\"a\":{\"b\":{\"c\":\"bo@corp.example\"}}}", 0, 0},
    {"in.deep", "{\"a\":{\"b\":{\"c\":\"bo@corp.example\",\"d\":1}}}", 0, E},
    {"in.deep", "{\"a\":{\"b\":{\"c\":\"bo@corp.example\"}},\"a.b.c\":\"bo@corp.example\"}", 0, E},
    {"in.deep", "{\"a.b.c\":\"bo@corp.example\"}", 0, E},
    /* nothing declared */
    {"in.bare", "{}", 0, E},
    {"in.bare", "{\"to\":\"bo@corp.example\"}", 0, E},
    /* a commit goes with its objects, an egress with its destinations; one stranger spoils both */
    {"in.pay", "{\"to\":\"GB29 NWBK 6016 1331 9268 19\",\"invoice\":\"inv-1\"}", U | S, 0},
    {"in.pay", "{\"to\":\"GB29 NWBK 6016 1331 9268 19\",\"invoice\":\"inv-2\"}", 0, E | C},
    {"in.pay", "{\"to\":\"US00ATTACKER\",\"invoice\":\"inv-1\"}", 0, E | C},
    {"in.pay", "{\"to\":\"GB29NWBK60161331926819\"}", 0, C},
    {"in.pay", "{\"invoice\":\"inv-1\"}", 0, E | C},
    {"in.paynow", "{\"to\":\"GB29NWBK60161331926819\"}", 0, C},
    {"in.drop", "{\"id\":\"inv-1\"}", 0, 0},
    {"in.drop", "{\"ids\":[\"inv-1\",\"inv-2\"]}", 0, C},
    {"in.drop", "{}", 0, C},
    /* an outside server is a destination of its own, and never vouched */
    {"out.any", "{}", 0, U | E},
    {"out.send", "{\"to\":\"bo@corp.example\"}", 0, U | E},
    {"undeclared.send", "{\"to\":\"bo@corp.example\"}", 0, U | E},
    /* its lists bring its texts and carry nothing out, with or without an entry; with a cursor or other arguments they do */
    {"out.tools/list", "{}", 0, U},
    {"undeclared.tools/list", "{}", 0, U},
    {"undeclared.prompts/list", "{\"cursor\":\"p2\"}", 0, U | E},
    {"undeclared.resources/templates/list", "{}", S, U},
    {"out.resources/list", "{\"cursor\":\"p2\",\"note\":\"x\"}", 0, U | E},
    {"out.resources/list", "{\"note\":\"x\"}", 0, U | E},
    {"out.tools/lists", "{}", 0, U | E},
    /* a list of an outside server is content; where nothing is said, nothing leaves. No entry is needed */
    {"strange.tools/list", "{}", 0, U},
    {"strange.prompts/list", NULL, U | S, U},
    {"strange.resources/list", "{\"cursor\":\"salary 91,000\"}", U | S, U | E},
    {"strange.resources/templates/list", "{}", 0, U},
    {"out.tools/list", "{}", 0, U},
    {"out.tools/list", "{\"cursor\":\"x\",\"q\":\"y\"}", 0, U | E},
    {"out.tools/list", "{\"cursor\":{}}", 0, U | E},
    {"out.tools/call", "{}", 0, U | E},
    /* unequal patterns: the worst of both, never vouched; equal ones are one */
    {"in.overlap", "{\"to\":\"bo@corp.example\"}", 0, U | S | E},
    {"in.over", "{\"to\":\"bo@corp.example\"}", 0, U},
    {"in.same_same", "{\"to\":\"bo@corp.example\"}", 0, 0},
    /* exact beats pattern */
    {"in.exact", "{\"to\":\"bo@corp.example\"}", 0, 0},
    {"in.ex", "{}", 0, S | K | C},
    /* a host's own tool is inside */
    {"own", "{\"to\":\"bo@corp.example\"}", 0, 0},
};

static void label_vouching(void **state) {
    policy_case *c = *state;
    policy_must(c, label_policy);
    for (size_t i = 0; i < sizeof label_rows / sizeof label_rows[0]; i++) {
        const label_row *r = &label_rows[i];
        il_label l = policy_label(c, r->tool, r->args, r->held);
        if (c->status != IL_OK || !l.known || l.effects != r->effects) {
            fail_msg("%s %s with %x: %s, effects %x, not %x (%s)", r->tool, r->args, r->held, il_status_name(c->status),
                     l.effects, r->effects, l.why);
        }
        uint32_t sinks = E | C;
        assert_true((l.effects & ~l.declared) == 0);
        assert_int_equal(l.vouched, (l.declared & sinks) != 0 && (l.effects & sinks) == 0);
        assert_true(l.vouched || (l.declared & sinks) == 0 || l.why[0] != '\0');
        assert_int_equal(l.sink == IL_SINK_NONE, (l.effects & E) == 0);
    }
}

/* What a session holds only ever makes vouching harder. */
static void label_is_monotone(void **state) {
    policy_case *c = *state;
    policy_must(c, label_policy);
    for (size_t i = 0; i < sizeof label_rows / sizeof label_rows[0]; i++) {
        for (uint32_t less = 0; less <= IL_TAINTS; less++) {
            for (uint32_t more = 0; more <= IL_TAINTS; more++) {
                if ((less & ~more) == 0) {
                    il_label a = policy_label(c, label_rows[i].tool, label_rows[i].args, less);
                    il_label b = policy_label(c, label_rows[i].tool, label_rows[i].args, more);
                    assert_int_equal(a.effects & ~b.effects, 0);
                }
            }
        }
    }
}

static void label_unknown(void **state) {
    policy_case *c = *state;
    static const char *const names[] = {"in.nothing",
                                        "In.read",
                                        "in.READ",
                                        "in.read ",
                                        " in.read",
                                        "in.read\n",
                                        "read",
                                        "inn.read",
                                        "in.",
                                        "in",
                                        "in.r\xd0\xb5z",
                                        "out.any\x01",
                                        "out.any thing",
                                        "",
                                        ".read",
                                        "in.tools/list",
                                        "undeclared.tools/call",
                                        "undeclared.resources/read",
                                        "tools/list",
                                        ".tools/list"};
    policy_must(c, label_policy);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        il_label l = policy_label(c, names[i], "{}", 0);
        if (c->status != IL_OK || l.known || l.effects != 0) {
            fail_msg("`%s` is known", names[i]);
        }
    }
    /* a server's name with a dot, or a host's own tool with one, cannot pass for another's tool */
    il_label l;
    assert_int_equal(il_policy_label(c->policy, &(il_label_call){.server = IL_STR("in.read"), .tool = IL_STR("x"), .args = NULL},
                                     &c->arena, &l, NULL),
                     IL_OK);
    assert_false(l.known);
    assert_int_equal(il_policy_label(c->policy, &(il_label_call){.server = (il_str){0}, .tool = IL_STR("in.read"), .args = NULL},
                                     &c->arena, &l, NULL),
                     IL_OK);
    assert_false(l.known);
}

static void label_sinks(void **state) {
    policy_case *c = *state;
    policy_must(c, label_policy);
    assert_int_equal(policy_label(c, "in.bare", "{}", 0).sink, IL_SINK_ONCE);
    assert_int_equal(policy_label(c, "in.map", "{}", 0).sink, IL_SINK_STANDING);
    assert_int_equal(policy_label(c, "in.overlap", "{}", 0).sink, IL_SINK_STANDING);
    assert_int_equal(policy_label(c, "out.any", "{}", 0).sink, IL_SINK_STANDING);
    assert_int_equal(policy_label(c, "out.send", "{}", 0).sink, IL_SINK_ONCE);
    assert_int_equal(policy_label(c, "in.read", "{}", 0).sink, IL_SINK_NONE);
    il_label l = policy_label(c, "in.mail", "{\"to\":\"Bo@corp.example\",\"body\":\"https://evil.example\"}", 0);
    assert_int_equal(l.ndestinations, 2);
    assert_true(il_str_eq(l.destinations[0], IL_STR("bo@corp.example")));
    assert_true(il_str_eq(l.destinations[1], IL_STR("https://evil.example/")));
}

static void label_bad_arguments(void **state) {
    policy_case *c = *state;
    policy_must(c, label_policy);
    static const char *const args[] = {"[]", "\"to\"", "1", "null", "true"};
    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
        il_label l = policy_label(c, "in.mail", args[i], 0);
        assert_int_equal(c->status, IL_E_INVALID);
        assert_false(l.known);
    }
}

/* A thousand levels cannot be read, and 500 are refused by depth; both stay an egress. */
/* A call of the C API that names no tool: nothing is copied from nowhere. */
static void label_no_tool(void **state) {
    policy_case *c = *state;
    policy_must(c, label_policy);
    il_label l = {.known = true};
    assert_int_equal(il_policy_label(c->policy, &(il_label_call){.server = IL_STR("in"), .tool = (il_str){0}, .args = NULL},
                                     &c->arena, &l, NULL),
                     IL_OK);
    assert_false(l.known);
}

static void label_deep(void **state) {
    policy_case *c = *state;
    policy_must(c, label_policy);
    il_json *args = il_json_make(&c->arena, IL_JSON_OBJECT), *v = il_json_string(&c->arena, IL_STR("x"));
    for (int i = 0; i < 500; i++) {
        il_json *outer = il_json_make(&c->arena, IL_JSON_ARRAY);
        assert_true(il_json_push(outer, v));
        v = outer;
    }
    assert_true(il_json_set(args, IL_STR("to"), il_json_string(&c->arena, IL_STR("bo@corp.example"))));
    assert_true(il_json_set(args, IL_STR("body"), v));
    il_label l;
    assert_int_equal(il_policy_label(c->policy, &(il_label_call){.server = IL_STR("in"), .tool = IL_STR("mail"), .args = args},
                                     &c->arena, &l, NULL),
                     IL_OK);
    assert_int_equal(l.effects, E);
}

/* Memory that runs out never makes a call look like less. */
static void label_memory(void **state) {
    policy_case *c = *state;
    policy_must(c, label_policy);
    const il_json *args =
        policy_json(c, "{\"to\":\"bo@corp.example\",\"body\":\"see https://wiki.corp.example/?u=https%3A%2F%2Fevil.example\"}");
    size_t failed = 0;
    for (size_t cap = 0; cap < 60000; cap += cap < 4000 ? 16 : 4000) {
        il_arena scratch;
        il_label l;
        il_arena_init(&scratch, &c->memory.alloc, cap);
        il_status s = il_policy_label(c->policy, &(il_label_call){.server = IL_STR("in"), .tool = IL_STR("mail"), .args = args},
                                      &scratch, &l, NULL);
        failed += s != IL_OK ? 1u : 0u;
        assert_true(s != IL_OK ? !l.known : l.effects == E);
        il_arena_free(&scratch);
    }
    assert_true(failed > 0);
}

static int label_setup(void **state) {
    static policy_case c;
    policy_case_init(&c, "trifecta");
    *state = &c;
    return 0;
}
static int label_teardown(void **state) {
    policy_case_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(label_vouching), cmocka_unit_test(label_is_monotone), cmocka_unit_test(label_unknown),
        cmocka_unit_test(label_sinks),    cmocka_unit_test(label_deep),        cmocka_unit_test(label_bad_arguments),
        cmocka_unit_test(label_memory),   cmocka_unit_test(label_no_tool),
    };
    return cmocka_run_group_tests(tests, label_setup, label_teardown);
}
