/* SPDX-License-Identifier: Apache-2.0 */
/* Presets: what using one means, what is refused, and that those of this build know each tool of the lists that they were written for. */
#include "helper_policy.h"

#include "host/preset.h"
#include "policy/compiled.h"
#include "yaml/yaml.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { U = IL_UNTRUSTED, S = IL_SENSITIVE, K = IL_SECRET, E = IL_EGRESS, C = IL_COMMIT };

static il_status preset_load(policy_case *c, const char *yaml) {
    il_json *doc = NULL;
    const il_json *flat = NULL;
    il_preset_shelf shelf = {.arena = &c->arena};
    const il_presets presets = il_host_presets(&shelf);
    il_policy_free(c->policy);
    c->policy = NULL;
    memset(&c->err, 0, sizeof c->err);
    c->status = il_yaml_parse(&c->arena, il_str_of(yaml), NULL, &doc, &c->err);
    if (c->status == IL_OK) {
        c->status = il_policy_expand(&c->arena, doc, &presets, &flat, &c->err);
    }
    if (c->status == IL_OK) {
        c->status = il_policy_new(&c->memory.alloc, flat, c->machine, &c->policy, &c->err);
    }
    return c->status;
}

static void preset_must(policy_case *c, const char *yaml) {
    if (preset_load(c, yaml) != IL_OK) {
        fail_msg("%u:%u %s\n%s", c->err.line, c->err.col, c->err.msg, yaml);
    }
}

static uint32_t preset_effects(policy_case *c, const char *tool, const char *args) {
    const il_label label = policy_label(c, tool, args, 0);
    if (!label.known) {
        fail_msg("%s is not known", tool);
    }
    return label.declared;
}

static char *preset_file(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    if (f != NULL) {
        assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
        (void)fclose(f);
    }
    return text;
}

/* Each loads, and each tool of a saved list has an entry. */
static void test_shipped(void **state) {
    (void)state;
    policy_case c;
    size_t presets = 0, listed = 0;
    policy_case_init(&c, "standard");
    for (const il_preset_source *s = il_preset_sources; s->name != NULL; s++, presets++) {
        char yaml[256], path[256];
        const int stem = (int)strcspn(s->name, "@");
        const bool host = strncmp(s->name, "claude-code", 11) == 0;
        (void)snprintf(yaml, sizeof yaml, "interlock: 1\nmachine: standard\n%s: { s: { use: %s } }\n", host ? "hosts" : "servers",
                       s->name);
        preset_must(&c, yaml);
        assert_true(c.policy->ntools > 0);
        (void)snprintf(path, sizeof path, "tests/data/tool-lists/%.*s.json", stem, s->name);
        char *text = preset_file(path);
        if (text[0] != '\0') {
            const il_json *list = policy_json(&c, text);
            listed++;
            assert_true(il_json_count(list) > 0);
            for (const il_json *t = il_json_first(list); t != NULL; t = il_json_next(t)) {
                il_str name = il_json_text(il_json_get(t, IL_STR("name")));
                il_label label;
                const il_label_call call = {.server = IL_STR("s"), .tool = name};
                assert_int_equal(il_policy_label(c.policy, &call, &c.arena, &label, &c.err), IL_OK);
                if (!label.known) {
                    fail_msg("%s does not know %.*s", s->name, (int)name.n, name.p);
                }
            }
        }
        free(text);
    }
    assert_true(presets >= 17);
    assert_int_equal(listed, 12);
    policy_case_free(&c);
}

static const char preset_inline[] =
    "interlock: 1\n"
    "machine: standard\n"
    "ours: { path: [~/src] }\n"
    "presets:\n"
    "  mail@1:\n"
    "    for: [npm:mail]\n"
    "    parameters: { live: true, folders: [], limit: 3 }\n"
    "    kinds: { box: '{owner}/{name}' }\n"
    "    tools:\n"
    "      - { match: 'get_(a|b)', effects: { sensitive: live } }\n"
    "      - { match: 'get_*', effects: [untrusted] }\n"
    "      - { match: folder, effects: { sensitive: '!(args.f in folders)', untrusted: args.n > limit } }\n"
    "      - { match: box, effects: { secret: 'box == \"a/b\"' } }\n";

static void test_inline(void **state) {
    (void)state;
    policy_case c;
    char yaml[4096];
    policy_case_init(&c, "standard");
    (void)snprintf(yaml, sizeof yaml,
                   "%sservers: { m: { use: mail@1 }, t: { use: mail@1, live: false, folders: [in, out], limit: 7 } }\n",
                   preset_inline);
    preset_must(&c, yaml);
    assert_int_equal(preset_effects(&c, "m.get_a", "{}"), S);
    assert_int_equal(preset_effects(&c, "t.get_b", "{}"), 0);
    assert_int_equal(preset_effects(&c, "t.get_c", "{}"), U);
    assert_int_equal(preset_effects(&c, "t.folder", "{\"f\":\"in\",\"n\":7}"), 0);
    assert_int_equal(preset_effects(&c, "m.folder", "{\"f\":\"in\",\"n\":7}"), S | U);
    assert_int_equal(preset_effects(&c, "m.box", "{\"owner\":\"a\",\"name\":\"b\"}"), K | S);
    assert_int_equal(preset_effects(&c, "m.box", "{\"owner\":\"a\",\"name\":\"c\"}"), 0);
    assert_false(policy_label(&c, "m.other", "{}", 0).known);
    assert_false(policy_label(&c, "get_a", "{}", 0).known);
    assert_true(il_policy_server_inside(c.policy, IL_STR("m")));
    /* outside when it is said, and then every call sends */
    (void)snprintf(yaml, sizeof yaml, "%sservers: { m: { use: mail@1, trust: outside } }\n", preset_inline);
    preset_must(&c, yaml);
    assert_int_equal(preset_effects(&c, "m.get_a", "{}"), S | U | E);
    /* the policy's own word beats the preset's */
    (void)snprintf(yaml, sizeof yaml, "%sservers: { m: { use: mail@1 } }\ntools: [{ match: m.get_a, effects: [secret] }]\n",
                   preset_inline);
    preset_must(&c, yaml);
    assert_int_equal(preset_effects(&c, "m.get_a", "{}"), K | S);
    assert_int_equal(preset_effects(&c, "m.get_b", "{}"), S);
    /* tools of the agent itself have no server */
    (void)snprintf(yaml, sizeof yaml, "%shosts: { h: { use: mail@1 } }\n", preset_inline);
    preset_must(&c, yaml);
    assert_int_equal(preset_effects(&c, "get_a", "{}"), S);
    policy_case_free(&c);
}

/* Written out, it is a policy like another, with the same fingerprint. */
static void test_flat(void **state) {
    (void)state;
    policy_case c;
    char yaml[4096];
    uint8_t first[IL_DIGEST_BYTES], second[IL_DIGEST_BYTES], other[IL_DIGEST_BYTES];
    il_json *doc = NULL;
    const il_json *flat = NULL, *again = NULL;
    il_buf b;
    il_str text;
    policy_case_init(&c, "standard");
    (void)snprintf(yaml, sizeof yaml, "%sservers: { m: { use: mail@1, live: false } }\n", preset_inline);
    preset_must(&c, yaml);
    il_policy_fingerprint(c.policy, first);
    assert_int_equal(il_yaml_parse(&c.arena, il_str_of(yaml), NULL, &doc, &c.err), IL_OK);
    assert_int_equal(il_policy_expand(&c.arena, doc, NULL, &flat, &c.err), IL_OK);
    assert_int_equal(il_policy_expand(&c.arena, flat, NULL, &again, &c.err), IL_OK);
    assert_ptr_equal(flat, again);
    il_buf_init(&b, &c.arena, 1 << 20);
    il_json_write(&b, flat, IL_JSON_AS_READ);
    assert_int_equal(il_buf_done(&b, &text, &c.err), IL_OK);
    char *copy = calloc(1, text.n + 1);
    memcpy(copy, text.p, text.n);
    policy_must(&c, copy);
    free(copy);
    il_policy_fingerprint(c.policy, second);
    assert_memory_equal(first, second, sizeof first);
    (void)snprintf(yaml, sizeof yaml, "%sservers: { m: { use: mail@1, live: true } }\n", preset_inline);
    preset_must(&c, yaml);
    il_policy_fingerprint(c.policy, other);
    assert_memory_not_equal(first, other, sizeof first);
    policy_case_free(&c);
}

static void test_refused(void **state) {
    (void)state;
    policy_case c;
    static const struct {
        const char *text, *says;
        uint32_t line, col; /* behind the shared head of 13 lines */
    } rows[] = {
        {"servers: { m: { use: mail } }\n", "such as github@2", 14, 22},
        {"servers: { m: { use: 3 } }\n", "such as github@2", 14, 22},
        {"servers: { m: { use: mail@2 } }\n", "there is no preset `mail@2`", 14, 22},
        {"servers: { m: { use: github@1 } }\n", "did you mean `github@2`", 14, 22},
        {"servers: { m: { use: gitbuh@2 } }\n", "did you mean `github@2`", 14, 22},
        {"servers: { m: { use: mail@1, live: 3 } }\n", "true or false", 14, 36},
        {"servers: { m: { use: mail@1, folders: in } }\n", "list of texts", 14, 39},
        {"servers: { m: { use: mail@1, folders: [1] } }\n", "list of texts", 14, 39},
        {"servers: { m: { use: mail@1, limit: x } }\n", "a number", 14, 37},
        {"servers: { m: { use: mail@1, lives: true } }\n", "did you mean `live`", 14, 30},
        {"servers: { m: { use: mail@1, trust: maybe } }\n", "`inside` or `outside`", 14, 37},
        {"servers: { m: { use: mail@1, pin: 0123456789ab } }\n", "its digest is", 14, 35},
        {"servers: { m: { use: mail@1, pin: ca55 } }\n", "its digest is", 14, 35},
        {"servers: { m: { use: mail@1, roots: [~/src] } }\n", "no parameter `roots`", 14, 37},
        {"hosts: { h: {} }\n", "needs `use`", 14, 13},
        {"hosts: []\n", "`hosts` maps", 14, 8},
        {"hosts: { h: { use: mail@1, trust: inside } }\n", "unknown key `trust`", 14, 28},
        {"servers: { p: { use: playwright@1 }, q: { use: playwright@1 } }\n", "`p` uses as well", 14, 48},
    };
    policy_case_init(&c, "standard");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char yaml[4096];
        (void)snprintf(yaml, sizeof yaml, "%s%s", preset_inline, rows[i].text);
        if (preset_load(&c, yaml) == IL_OK) {
            fail_msg("%s was taken", rows[i].text);
        }
        if (strstr(c.err.msg, rows[i].says) == NULL || c.err.line != rows[i].line || c.err.col != rows[i].col) {
            fail_msg("%s: %u:%u %s", rows[i].text, c.err.line, c.err.col, c.err.msg);
        }
    }
    assert_int_not_equal(preset_load(&c, "interlock: 1\nmachine: standard\npresets: { mail: { tools: [] } }\n"), IL_OK);
    assert_non_null(strstr(c.err.msg, "no version"));
    /* nobody uses it */
    assert_int_not_equal(
        preset_load(
            &c,
            "interlock: 1\nmachine: standard\ntools: [{ match: a, effects: [] }]\npresets: { m@1: { use: m@1, tools: [] } }\n"),
        IL_OK);
    assert_non_null(strstr(c.err.msg, "unknown key `use`"));
    assert_int_not_equal(preset_load(&c, "interlock: 1\nmachine: standard\npresets: { m@1: { tools: [{ match: a, effects: { "
                                         "untrusted: x } }] } }\nservers: { s: { use: m@1 } }\n"),
                         IL_OK);
    assert_int_equal(c.err.line, 3); /* where it stands */
    assert_non_null(strstr(c.err.msg, "undeclared"));
    policy_case_free(&c);
}

/* What presets say of a few calls that matter. */
static void test_calls(void **state) {
    (void)state;
    policy_case c;
    char *text = preset_file("examples/ten-servers/policy.yaml");
    policy_case_init(&c, "standard");
    preset_must(&c, text);
    static const struct {
        const char *tool, *args;
        uint32_t effects;
    } rows[] = {
        {"github.get_file_contents", "{\"owner\":\"acme\",\"repo\":\"website\",\"path\":\"a\"}", 0},
        {"github.get_file_contents", "{\"owner\":\"acme\",\"repo\":\"core\",\"path\":\"a\"}", S},
        {"github.get_file_contents", "{\"owner\":\"evil\",\"repo\":\"x\",\"path\":\"a\"}", U | S},
        {"github.create_or_update_file", "{\"owner\":\"acme\",\"repo\":\"core\",\"path\":\"docs/a.md\"}", E},
        {"github.create_or_update_file", "{\"owner\":\"acme\",\"repo\":\"core\",\"path\":\".github/workflows/ci.yml\"}", E | C},
        {"github.push_files", "{\"owner\":\"a\",\"repo\":\"b\",\"files\":[{\"path\":\"a.md\"},{\"path\":\"Makefile\"}]}", E | C},
        {"filesystem.read_text_file", "{\"path\":\"~/src/a/.env\"}", U | S | K}, /* without stores each place may hold anything */
        {"filesystem.write_file", "{\"path\":\"~/src/notes.txt\",\"content\":\"x\"}", 0},
        {"filesystem.write_file", "{\"path\":\"~/.bashrc\",\"content\":\"x\"}", C},
        {"supabase.execute_sql", "{\"query\":\"select id from orders\"}", S},
        {"supabase.execute_sql", "{\"query\":\"select t from support_messages\"}", S | U},
        {"supabase.execute_sql", "{\"query\":\"select t from integration_tokens\"}", S | K},
        {"supabase.execute_sql", "{\"query\":\"insert into support_messages (a) values (1)\"}", E | C},
        {"supabase.apply_migration", "{\"query\":\"insert into support_messages select t from orders\"}", E | C},
        {"supabase.apply_migration", "{\"query\":\"create index i on orders (a)\"}", E | C},
        {"supabase.apply_migration", "{\"query\":\"update orders set a = 1\"}", C},
        {"supabase.get_project", "{}", 0},
        {"postgres.query", "{\"sql\":\"select a from users\"}", U | S | K},
        {"stripe.create_refund", "{\"payment_intent\":\"pi_1\"}", 0}, /* a test key */
        {"gmail.create_filter", "{\"criteria\":{},\"action\":{\"addLabelIds\":[]}}", C},
        {"gmail.create_filter", "{\"criteria\":{},\"action\":{\"forward\":\"x@evil.example\"}}", C | E},
        {"github.get_file_contents", "{\"owner\":\"acme\",\"repo\":\"website\",\"path\":\"a\",\"branch\":\"refs/pull/7/head\"}",
         U},
        {"github.get_file_contents", "{\"owner\":\"acme\",\"repo\":\"website\",\"path\":\"a\",\"branch\":\"main\"}", 0},
        {"github.create_pull_request_review", "{\"owner\":\"a\",\"repo\":\"b\",\"event\":\"APPROVE\"}", E | C},
        {"github.create_pull_request_review", "{\"owner\":\"a\",\"repo\":\"b\",\"event\":\"COMMENT\"}", E},
        {"filesystem.move_file", "{\"source\":\"~/Downloads/a\",\"destination\":\"~/src/a\"}", U | S | K},
        {"gmail.download_attachment", "{\"savePath\":\"~/x\",\"filename\":\"a.pdf\"}", U | S},
        {"gmail.download_attachment", "{\"savePath\":\"~/x/.git/hooks\",\"filename\":\"a\"}", U | S | C},
        {"gmail.download_attachment", "{\"savePath\":\"~/x\"}", U | S | C},
        {"Bash", "{\"command\":\"ls -l\"}", 0},
        {"Bash", "{\"command\":\"curl https://x.example\"}", U | E},
        {"Bash", "{\"command\":\"cat ~/.ssh/id_rsa\"}", S | K | U},
        {"playwright.browser_navigate", "{\"url\":\"https://x.example\"}", U | E},
        {"playwright.browser_snapshot", "{}", U | S}, /* nobody knows the page */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint32_t is = preset_effects(&c, rows[i].tool, rows[i].args);
        if (is != rows[i].effects) {
            fail_msg("%s %s: %u, not %u", rows[i].tool, rows[i].args, is, rows[i].effects);
        }
    }
    /* what a command writes takes the session's labels */
    const il_label wrote = policy_label(
        &c, "Bash", "{\"command\":\"echo x > ~/src/a; mkdir ~/src; cp ~/b /srv/c > rel; cd ~/src && echo y > d\"}", 0);
    assert_int_equal(wrote.nplaces, 3);
    assert_true(il_str_eq(wrote.places[0].value, IL_STR("~/src/a")) && il_str_eq(wrote.places[1].value, IL_STR("/srv/c")));
    assert_true(il_str_eq(wrote.places[2].value, IL_STR("~/src/d")) && il_str_eq(wrote.places[2].kind, IL_STR("path")));
    assert_int_equal(policy_label(&c, "Bash", "{\"command\":\"make > ~/src/a\"}", 0).nplaces, 0);
    assert_int_equal(il_policy_trials(c.policy)->n, 2);
    assert_int_equal(c.policy->rules.n, 3);
    free(text);
    policy_case_free(&c);
}

/* A thousand rules load in less than a second. */
static void test_thousand(void **state) {
    (void)state;
    policy_case c;
    char *yaml = calloc(1, 1 << 20);
    struct timespec before, after;
    assert_non_null(yaml);
    size_t n =
        (size_t)snprintf(yaml, 1 << 20, "interlock: 1\nmachine: standard\ntools: [{ match: 'a.*', effects: [] }]\nrules:\n");
    for (unsigned i = 0; i < 1000; i++) {
        n += (size_t)snprintf(yaml + n, (1 << 20) - n,
                              "  - { tools: ['a.t%u_*', '!a.t%u_x'], when: 'run.tainted && args.amount > %u && agent.id != "
                              "\"x%u\"', then: block }\n",
                              i, i, i, i);
    }
    policy_case_init(&c, "standard");
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    preset_must(&c, yaml);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    const double s = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
    (void)printf("1,000 rules: %.3f s of this process\n", s);
    assert_true(s < 1.0);
    assert_int_equal(c.policy->rules.n, 1000);
    free(yaml);
    policy_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shipped), cmocka_unit_test(test_inline),
                                       cmocka_unit_test(test_flat),    cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_calls),   cmocka_unit_test(test_thousand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
