/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of effects: what they may name, what they take away, and that an error takes nothing away. */
#include "helper_policy.h"

#include <stdio.h>
#include <string.h>

#include "policy/compiled.h"
#include "policy/effect.h"
#include "yaml/yaml.h"

static const char condition_head[] =
    "interlock: 1\n"
    "machine: standard\n"
    "ours: { repo: ['acme/*'], repo.public: [acme/website], path: [~/src], host: [.acme.example] }\n"
    "groups: { finance: [ana], ops: [] }\n"
    "servers: { in: { trust: inside } }\n"
    "tools:\n";

static il_status condition_try(policy_case *c, const char *entry) {
    char text[4096];
    (void)snprintf(text, sizeof text, "%s  - %s\n", condition_head, entry);
    (void)policy_load(c, text);
    return c->status;
}

static void condition_must(policy_case *c, const char *entry) {
    if (condition_try(c, entry) != IL_OK) {
        fail_msg("%s: %u:%u %s", entry, c->err.line, c->err.col, c->err.msg);
    }
}

static uint32_t condition_effects(policy_case *c, const char *tool, const char *args, uint32_t held) {
    const il_label label = policy_label(c, tool, args, held);
    assert_int_equal(c->status, IL_OK);
    assert_true(label.known);
    return label.declared;
}

enum { U = IL_UNTRUSTED, S = IL_SENSITIVE, K = IL_SECRET, E = IL_EGRESS, C = IL_COMMIT };

static void test_removes(void **state) {
    (void)state;
    policy_case c;
    policy_case_init(&c, "standard");
    static const struct {
        const char *effects, *args;
        uint32_t held, is;
    } rows[] = {
        {"untrusted: args.n > 5, sensitive: true", "{\"n\":6}", 0, U | S},
        {"untrusted: args.n > 5, sensitive: true", "{\"n\":5}", 0, S},
        {"untrusted: args.n > 5", "{}", 0, U},            /* no such argument: an error */
        {"untrusted: args.n > 5", "{\"n\":\"6\"}", 0, U}, /* another type */
        {"untrusted: args.n > 5", "{\"n\":[1]}", 0, U},
        {"untrusted: 1 / args.n > 5", "{\"n\":0}", 0, U}, /* by zero */
        {"untrusted: 'false && 1 / args.n > 5'", "{\"n\":0}", 0, 0},
        {"untrusted: has(args.n)", NULL, 0, 0},
        {"secret: 'tool == \"t\"', sensitive: 'false'", "{}", 0, K | S}, /* secret brings sensitive */
        {"secret: 'tool != \"t\"', sensitive: true", "{}", 0, S},
        {"secret: 'tool != \"t\"'", "{}", 0, 0},
        {"egress: server == 'in', commit: server == 'out'", "{}", 0, E},
        {"untrusted: run.tainted", "{}", 0, 0},
        {"untrusted: run.tainted", "{}", U, U},
        {"untrusted: '\"sensitive\" in run.trifecta'", "{}", S, U},
        {"untrusted: '\"sensitive\" in run.trifecta'", "{}", U, 0},
        {"untrusted: '!ours(\"repo\", args.r)'", "{\"r\":\"acme/x\"}", 0, 0},
        {"untrusted: '!ours(\"repo\", args.r)'", "{\"r\":\"Acme/X\"}", 0, 0},
        {"untrusted: '!ours(\"repo\", args.r)'", "{\"r\":\"evil/acme\"}", 0, U},
        {"untrusted: '!ours(\"repo\", args.r)'", "{\"r\":\"acme/../evil/x\"}", 0, U},
        {"untrusted: '!ours(\"repo\", args.r)'", "{\"r\":7}", 0, U},
        {"untrusted: '!ours(\"path\", args.r)'", "{\"r\":\"~/src/a/b.c\"}", 0, 0},
        {"untrusted: '!ours(\"path\", args.r)'", "{\"r\":\"~/src\"}", 0, 0},
        {"untrusted: '!ours(\"path\", args.r)'", "{\"r\":\"~/srcs/a\"}", 0, U},
        {"untrusted: '!ours(\"path\", args.r)'", "{\"r\":\"~/src/../.ssh/id\"}", 0, U},
        {"untrusted: '!ours(\"url\", args.r)'", "{\"r\":\"https://w.acme.example/x\"}", 0, 0},
        {"sensitive: '!public(args.r)'", "{\"r\":\"acme/website\"}", 0, 0},
        {"sensitive: '!public(args.r)'", "{\"r\":\"acme/secret\"}", 0, S},
        /* an alias is not what is listed: it stays private */
        {"sensitive: '!public(args.r)'", "{\"r\":\"acme/website/\"}", 0, S},
        {"untrusted: prov.x.trust == 'untrusted'", "{\"x\":1}", 0, 0},
        {"untrusted: prov.x.trust == 'untrusted'", "{\"x\":1}", U, U},
        {"untrusted: prov.x.trust == 'untrusted'", "{\"y\":1}", 0, U},
        {"untrusted: size(prov.x.sources) > 0", "{\"x\":1}", 0, 0},
        {"untrusted: 'labelled(args.p, \"untrusted\")'", "{\"p\":\"/a\"}", 0, U},
        /* a server may take `"true"` for true, and a map for a list: to compare two kinds is an error */
        {"commit: args.live == true", "{\"live\":true}", 0, C},
        {"commit: args.live == true", "{\"live\":\"true\"}", 0, C},
        {"commit: args.live == true", "{\"live\":1}", 0, C},
        {"commit: args.live == true", "{\"live\":[true]}", 0, C},
        {"commit: args.live == true", "{\"live\":false}", 0, 0},
        {"commit: args.live == true", "{\"live\":null}", 0, 0},
        {"commit: 'args.kind in [\"send\", \"post\"]'", "{\"kind\":[\"send\"]}", 0, C},
        {"commit: 'args.kind in [\"send\", \"post\"]'", "{\"kind\":\"draft\"}", 0, 0},
        {"commit: 'args.l.exists(x, x == \"bad\")'", "{\"l\":{\"a\":\"bad\"}}", 0, C},
        {"commit: 'args.l.exists(x, x == \"bad\")'", "{\"l\":[\"good\"]}", 0, 0},
        {"commit: '\"bad\" in args.l'", "{\"l\":{\"a\":\"bad\"}}", 0, C},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char entry[512];
        (void)snprintf(entry, sizeof entry, "{ match: in.t, effects: { %s } }", rows[i].effects);
        condition_must(&c, entry);
        const uint32_t is = condition_effects(&c, "in.t", rows[i].args, rows[i].held);
        if (is != rows[i].is) {
            fail_msg("row %zu, %s of %s: %u, not %u", i, rows[i].effects, rows[i].args, is, rows[i].is);
        }
    }
    policy_case_free(&c);
}

/* Relative names are from where the server runs, when the policy says where. */
static void test_cwd(void **state) {
    (void)state;
    policy_case c;
    static const struct {
        const char *server, *path;
        uint32_t is;
    } rows[] = {{"trust: inside, cwd: ~/src", "a.txt", 0},
                {"trust: inside, cwd: ~/src", "./b/a.txt", 0},
                {"trust: inside, cwd: ~/src/", "~/src/a", 0},
                {"trust: inside, cwd: ~/src", "../a.txt", U},
                {"trust: inside, cwd: ~/src", "/a.txt", U},
                {"trust: inside, cwd: ~/src", "~/a.txt", U},
                {"trust: inside, cwd: ~/src", "C:/a.txt", U},
                {"trust: inside, cwd: ~/src", "$HOME/a.txt", U},
                {"trust: inside, cwd: ~/src", "file:///etc", U},
                {"trust: inside, cwd: ~/src", "%HOME%/a.txt", U},
                {"trust: inside, cwd: ~/src", "", U},
                {"trust: inside, cwd: /srv", "a.txt", U},
                {"trust: inside", "a.txt", U}};
    policy_case_init(&c, "standard");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512], args[64];
        (void)snprintf(text, sizeof text,
                       "interlock: 1\nmachine: standard\nours: { path: [~/src] }\nservers: { in: { %s } }\ntools:\n  - { match: "
                       "in.t, effects: { untrusted: "
                       "'!ours(\"path\", args.p)' }, stores: { path: p } }\n",
                       rows[i].server);
        (void)snprintf(args, sizeof args, "{\"p\":\"%s\"}", rows[i].path);
        (void)policy_load(&c, text);
        assert_int_equal(c.status, IL_OK);
        const il_label l = policy_label(&c, "in.t", args, 0);
        if (l.declared != rows[i].is) {
            fail_msg("row %zu, `%s`: %u", i, rows[i].path, l.declared);
        }
        assert_int_equal(l.nplaces, 1);
    }
    (void)policy_load(
        &c,
        "interlock: 1\nmachine: standard\nservers: { in: { trust: inside, cwd: src } }\ntools: [{ match: in.t, effects: [] }]\n");
    assert_int_not_equal(c.status, IL_OK);
    assert_non_null(strstr(c.err.msg, "`cwd` is the folder"));
    policy_case_free(&c);
}

/* Built from arguments; without them there is none, which is an error. */
static void test_own_kinds(void **state) {
    (void)state;
    policy_case c;
    policy_case_init(&c, "standard");
    condition_must(&c, "{ match: in.t, kinds: { repo: '{owner}/{repo}' }, effects: { sensitive: '!public(repo)', untrusted: "
                       "'!ours(\"repo\", repo)' } }");
    assert_int_equal(condition_effects(&c, "in.t", "{\"owner\":\"acme\",\"repo\":\"website\"}", 0), 0);
    assert_int_equal(condition_effects(&c, "in.t", "{\"owner\":\"acme\",\"repo\":\"x\"}", 0), S);
    assert_int_equal(condition_effects(&c, "in.t", "{\"owner\":\"evil\",\"repo\":\"x\"}", 0), S | U);
    assert_int_equal(condition_effects(&c, "in.t", "{\"owner\":\"acme/website\",\"repo\":\"x\"}", 0), S | U);
    assert_int_equal(condition_effects(&c, "in.t", "{\"owner\":\"acme\"}", 0), S | U);
    assert_int_equal(condition_effects(&c, "in.t", "{}", 0), S | U);
    policy_case_free(&c);
}

/* Several patterns give the union of what each leaves. */
static void test_several(void **state) {
    (void)state;
    policy_case c;
    policy_case_init(&c, "standard");
    condition_must(
        &c, "{ match: 'in.*', effects: { untrusted: args.n > 5 } }\n  - { match: '*.t', effects: { sensitive: args.n > 7 } }");
    assert_int_equal(condition_effects(&c, "in.t", "{\"n\":9}", 0), U | S);
    assert_int_equal(condition_effects(&c, "in.t", "{\"n\":6}", 0), U);
    assert_int_equal(condition_effects(&c, "in.t", "{\"n\":1}", 0), 0);
    policy_case_free(&c);
}

static void test_refused(void **state) {
    (void)state;
    policy_case c;
    policy_case_init(&c, "standard");
    static const struct {
        const char *condition, *says;
        uint32_t col; /* behind the text's first character; 0: not looked at */
    } rows[] = {
        {"arg.n > 5", "did you mean `args`", 1},
        {"run.taint", "did you mean `tainted`", 5},
        {"agent.name == \"x\"", "no field `name`", 0},
        {"1 + 1", "bool", 0},
        {"ours(\"repos\", args.r)", "did you mean `repo`", 6},
        {"ours(\"repo\")", "", 0},
        {"our(\"repo\", args.r)", "ours", 0},
        {"labelled(args.p, \"secrets\")", "did you mean `secret`", 0},
        {"vouched(args.p)", "rules only", 0},
        {"endorsed(args.p, \"legal\")", "rules only", 0},
        {"carries(\"secret\")", "rules only", 0},
        {"state.untrusted == \"held\"", "rules only", 0},
        {"prov.x.vouched", "no field `vouched`", 0},
        {"item.a == 1", "declare them in this entry's `result`", 0},
        {"sql.reads(\"any\")", "`sql: query`", 0},
        {"shell.runs()", "`shell: command`", 0},
        {"\"finanze\" in agent.groups", "", 0},
        {"agent.groups.exists(g, g == \"marketing\")", "", 0},
        {"\"egres\" in run.trifecta", "", 0},
        {"prov.x.trust == \"trustworthy\"", "", 0},
        {"args.x.matches(\"(\")", "", 0},
        {"", "a condition is a text", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char entry[512];
        (void)snprintf(entry, sizeof entry, "{ match: in.t, effects: { untrusted: '%s' } }", rows[i].condition);
        if (condition_try(&c, entry) == IL_OK) {
            fail_msg("%s was taken", rows[i].condition);
        }
        assert_int_equal(c.err.line, 7);
        if (strstr(c.err.msg, rows[i].says) == NULL) {
            fail_msg("%s: %s", rows[i].condition, c.err.msg);
        }
        if (rows[i].col != 0) {
            assert_int_equal(c.err.col, strlen("  - { match: in.t, effects: { untrusted: '") + rows[i].col);
        }
    }
    /* the same words where they can stand */
    condition_must(&c, "{ match: in.t, sql: q, effects: { untrusted: sql.reads(\"any\"), secret: 'sql.reads(\"secret\")' } }");
    condition_must(&c, "{ match: in.t, shell: q, effects: { untrusted: shell.hosts() } }");
    condition_must(
        &c, "{ match: in.t, effects: { untrusted: '\"finance\" in agent.groups || agent.groups.exists(g, g == \"ops\")' } }");
    assert_int_equal(condition_try(&c, "{ match: in.t, kinds: { args: '{a}' }, effects: { untrusted: has(args.a) } }"),
                     IL_E_INVALID);
    assert_non_null(strstr(c.err.msg, "another name"));
    policy_case_free(&c);
}

/* ---- items ------------------------------------------------------------------------------------------- */

/* An entry by itself: what a result's fields are is the entry's to declare, and is given here. */
static il_status condition_items(policy_case *c, const char *effects, const il_str *fields, uint32_t nfields, il_tool *tool) {
    char text[1024];
    il_json *doc = NULL;
    (void)snprintf(text, sizeof text, "{ match: in.t, effects: { %s } }", effects);
    assert_int_equal(il_yaml_parse(&c->arena, il_str_of(text), NULL, &doc, &c->err), IL_OK);
    static il_kinds kinds;
    kinds = (il_kinds){0};
    const il_tool_scope scope = {.arena = &c->arena, .kinds = &kinds};
    assert_int_equal(il_tool_load(doc, &scope, tool, &c->err), IL_OK);
    const il_condition_names names = {.place = IL_CONDITION_EFFECT, .machine = c->machine, .item = fields, .nitem = nfields};
    return il_effects_load(il_json_get(doc, IL_STR("effects")), &names, &c->arena, tool, &c->err);
}

static void test_items(void **state) {
    (void)state;
    policy_case c;
    policy_case_init(&c, "standard");
    const il_str fields[] = {IL_STR("number"), IL_STR("association"), IL_STR("created_by.type"), IL_STR("created_by.id"),
                             IL_STR("tags[*].id")};
    static const struct {
        const char *effects, *items;
        uint32_t absent, each[3];
    } rows[] = {
        {"untrusted: 'item.association != \"OWNER\"', sensitive: true",
         "[{\"association\":\"OWNER\"},{\"association\":\"OWNER\"}]",
         U,
         {S, S}},
        {"untrusted: 'item.association != \"OWNER\"', sensitive: true",
         "[{\"association\":\"OWNER\"},{\"association\":\"NONE\"}]",
         0,
         {S, S | U}},
        {"untrusted: 'item.association != \"OWNER\"'", "[{\"association\":\"OWNER\"},{}]", 0, {0, U}}, /* missing: an error */
        {"untrusted: 'item.association != \"OWNER\"'", "[]", U, {0}},
        {"untrusted: 'item.association != \"OWNER\"'", "[7]", 0, {U}},
        {"untrusted: '!(item.?association.orValue(\"\") in [\"OWNER\"])'", "[{}]", 0, {U}},
        {"untrusted: '!(item.?association.orValue(\"\") in [\"OWNER\"])'", "[{\"association\":\"OWNER\"}]", U, {0}},
        {"untrusted: 'item.created_by.type == \"guest\"'", "[{\"created_by\":{\"type\":\"user\",\"x\":1}}]", U, {0}},
        {"untrusted: 'item.created_by.type == \"guest\"'", "[{\"created_by\":\"user\"}]", 0, {U}},
        {"untrusted: 'item.created_by.type == \"guest\"'", "[{\"created_by\":{\"type\":\"guest\"}}]", 0, {U}},
        {"untrusted: 'size(item) > 1'",
         "[{\"number\":1,\"evil\":2,\"title\":3}]",
         U,
         {0}}, /* what is not declared is not there */
        {"untrusted: 'item.number > 3 && args.n > 1'", "[{\"number\":4}]", 0, {U}},
        {"untrusted: 'item.number > 3 && args.n > 2'", "[{\"number\":4}]", U, {0}},
        {"secret: 'item.number > 3'", "[{\"number\":4},{\"number\":1}]", 0, {K | S, 0}},
        {"secret: 'item.number > 3'", "[{\"number\":1}]", K | S, {0}},
        {"secret: 'item.number > 3', sensitive: true", "[{\"number\":1}]", K, {S}},
        {"secret: true, sensitive: 'item.number > 3'", "[{\"number\":1}]", 0, {K | S}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        il_tool tool;
        const il_json *items[3];
        uint32_t each[3] = {0}, absent = 0, before = 0;
        size_t n = 0;
        if (condition_items(&c, rows[i].effects, fields, 5, &tool) != IL_OK) {
            fail_msg("%s: %s", rows[i].effects, c.err.msg);
        }
        for (const il_json *v = il_json_first(policy_json(&c, rows[i].items)); v != NULL; v = il_json_next(v)) {
            items[n++] = v;
        }
        const il_label_call call = {.server = IL_STR("in"), .tool = IL_STR("t"), .args = policy_json(&c, "{\"n\":2}")};
        /* until it is read, the result has everything */
        assert_int_equal(il_effects_call(NULL, &tool, &call, &c.arena, &before, &c.err), IL_OK);
        assert_int_equal(before, tool.effects);
        assert_int_equal(il_effects_items(NULL, &tool, &call, items, n, &c.arena, each, &absent, &c.err), IL_OK);
        if (absent != rows[i].absent) {
            fail_msg("row %zu, %s: %u is absent, not %u", i, rows[i].effects, absent, rows[i].absent);
        }
        for (size_t k = 0; k < n; k++) {
            assert_int_equal(each[k], rows[i].each[k]);
        }
    }
    il_tool tool;
    assert_int_equal(condition_items(&c, "untrusted: 'item.title == \"x\"'", fields, 5, &tool), IL_E_INVALID);
    assert_int_equal(condition_items(&c, "untrusted: 'item.created_by.name == \"x\"'", fields, 5, &tool), IL_E_INVALID);
    assert_int_equal(condition_items(&c, "egress: 'item.number > 3'", fields, 5, &tool), IL_E_INVALID);
    assert_non_null(strstr(c.err.msg, "not undone"));
    policy_case_free(&c);
}

/* Nothing is taken away by an evaluation that ran out of what it may use. */
static void test_costly(void **state) {
    (void)state;
    policy_case c;
    char args[16384];
    size_t n = 0;
    policy_case_init(&c, "standard");
    condition_must(&c,
                   "{ match: in.t, effects: { untrusted: 'args.a.exists(x, x in [-1] || args.a.exists(y, y < x - 9000))' } }");
    n += (size_t)snprintf(args + n, sizeof args - n, "{\"a\":[0");
    for (unsigned i = 1; i < 2000; i++) {
        n += (size_t)snprintf(args + n, sizeof args - n, ",%u", i);
    }
    (void)snprintf(args + n, sizeof args - n, "]}");
    assert_int_equal(condition_effects(&c, "in.t", args, 0), U);
    assert_int_equal(condition_effects(&c, "in.t", "{\"a\":[1,2,3]}", 0), 0);
    policy_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_removes), cmocka_unit_test(test_own_kinds),
                                       cmocka_unit_test(test_cwd),     cmocka_unit_test(test_several),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_items),
                                       cmocka_unit_test(test_costly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
