/* SPDX-License-Identifier: Apache-2.0 */
/* docs/schemas/policy.schema.json knows the keys that the loader knows, at each place: each of its keys is taken there, and no other word of the loader's own sources
 * is. */
#include "helper_policy.h"

#include "host/preset.h"
#include "yaml/yaml.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA_WORDS 4096
static char schema_words[SCHEMA_WORDS][40];
static size_t schema_nwords;

static void schema_word(const char *p, size_t n) {
    if (n == 0 || n >= sizeof schema_words[0] || schema_nwords == SCHEMA_WORDS) {
        return;
    }
    for (size_t i = 0; i < schema_nwords; i++) {
        if (strlen(schema_words[i]) == n && memcmp(schema_words[i], p, n) == 0) {
            return;
        }
    }
    memcpy(schema_words[schema_nwords++], p, n);
}

static char *schema_file(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    (void)fclose(f);
    return text;
}

/* Every string of src/policy that could be a key: what the loader knows is among them. */
static void schema_collect(void) {
    DIR *d = opendir("src/policy");
    assert_non_null(d);
    for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        char path[512];
        const size_t n = strlen(e->d_name);
        if (n < 3 || strcmp(e->d_name + n - 2, ".c") != 0) {
            continue;
        }
        (void)snprintf(path, sizeof path, "src/policy/%s", e->d_name);
        char *text = schema_file(path);
        for (char *at = strchr(text, '"'); at != NULL;) {
            char *end = at + 1;
            while (*end == '_' || (*end >= 'a' && *end <= 'z')) {
                end++;
            }
            if (*end == '"') {
                schema_word(at + 1, (size_t)(end - at - 1));
            }
            at = strchr(*end == '"' ? end + 1 : end, '"');
        }
        free(text);
    }
    (void)closedir(d);
}

#define SCHEMA_HEAD "interlock: 1\nmachine: standard\n"
/* Where keys stand: the definition in the schema, and a document with %s in its place. */
static const struct {
    const char *at, *document;
} schema_places[] = {
    {"", SCHEMA_HEAD "%s: null\n"},
    {"entry", SCHEMA_HEAD "tools: [{ %s: null }]\n"},
    {"result", SCHEMA_HEAD "tools: [{ match: a, effects: [], result: { %s: null } }]\n"},
    {"rule", SCHEMA_HEAD "tools: [{ match: a, effects: [] }]\nrules: [{ %s: null }]\n"},
    {"agent", SCHEMA_HEAD "tools: [{ match: a, effects: [] }]\nagents: { x: { %s: null } }\n"},
    {"approvals", SCHEMA_HEAD "tools: [{ match: a, effects: [] }]\napprovals: { %s: null }\n"},
    {"test", SCHEMA_HEAD "tools: [{ match: a, effects: [] }]\ntests: [{ %s: null }]\n"},
    {"step", SCHEMA_HEAD "tools: [{ match: a, effects: [] }]\ntests: [{ name: x, steps: [{ %s: null }] }]\n"},
    {"preset", SCHEMA_HEAD "presets: { p@1: { %s: null } }\nservers: { s: { use: p@1 } }\n"},
    {"server", SCHEMA_HEAD "tools: [{ match: a, effects: [] }]\nservers: { s: { %s: null } }\n"},
};

static const il_json *schema_of(const il_json *schema, const char *at) {
    if (at[0] == '\0') {
        return il_json_get(schema, IL_STR("properties"));
    }
    const il_json *d = il_json_get(il_json_get(schema, IL_STR("$defs")), il_str_of(at));
    const il_json *otherwise = il_json_get(d, IL_STR("else"));
    return il_json_get(otherwise != NULL ? otherwise : d, IL_STR("properties"));
}

/* Whether the loader knows the key there: it says of no other that it is unknown. */
static bool schema_known(policy_case *c, const char *document, const char *key) {
    char yaml[1024], unknown[80];
    il_json *doc = NULL;
    const il_json *flat = NULL;
    il_preset_shelf shelf = {.arena = &c->arena};
    const il_presets presets = il_host_presets(&shelf);
    const char *place = strstr(document, "%s");
    assert_non_null(place);
    (void)snprintf(yaml, sizeof yaml, "%.*s%s%s", (int)(place - document), document, key, place + 2);
    memset(&c->err, 0, sizeof c->err);
    if (il_yaml_parse(&c->arena, il_str_of(yaml), NULL, &doc, &c->err) != IL_OK) {
        return strstr(c->err.msg, "duplicate") != NULL; /* it stands in the document already */
    }
    il_policy *p = NULL;
    il_status s = il_policy_expand(&c->arena, doc, &presets, &flat, &c->err);
    s = s == IL_OK ? il_policy_new(&c->memory.alloc, flat, c->machine, &p, &c->err) : s;
    il_policy_free(p);
    (void)snprintf(unknown, sizeof unknown, "unknown key `%s`", key);
    return s == IL_OK || strstr(c->err.msg, unknown) == NULL;
}

static void test_schema(void **state) {
    (void)state;
    policy_case c;
    policy_case_init(&c, "standard");
    char *text = schema_file("docs/schemas/policy.schema.json");
    const il_json *schema = policy_json(&c, text);
    size_t keys = 0;
    schema_collect();
    assert_true(schema_nwords > 100);
    for (size_t i = 0; i < sizeof schema_places / sizeof schema_places[0]; i++) {
        const il_json *properties = schema_of(schema, schema_places[i].at);
        assert_true(il_json_count(properties) > 1);
        for (const il_json *k = il_json_first(properties); k != NULL; k = il_json_next(k), keys++) {
            char key[64];
            (void)snprintf(key, sizeof key, "%.*s", (int)il_json_key(k).n, il_json_key(k).p);
            if (!schema_known(&c, schema_places[i].document, key)) {
                fail_msg("the schema has `%s` at `%s`, the loader not", key, schema_places[i].at);
            }
        }
        for (size_t w = 0; w < schema_nwords; w++) {
            const bool in_schema = il_json_get(properties, il_str_of(schema_words[w])) != NULL;
            /* what it only refuses with words of its own is none of its keys */
            const bool refused = strcmp(schema_places[i].at, "entry") == 0 && strcmp(schema_words[w], "child") == 0;
            const bool with_preset = strcmp(schema_places[i].at, "server") == 0 && strcmp(schema_words[w], "use") == 0;
            if (!in_schema && !refused && !with_preset && schema_known(&c, schema_places[i].document, schema_words[w])) {
                fail_msg("the loader takes `%s` at `%s`, the schema does not have it: %s", schema_words[w], schema_places[i].at,
                         c.err.msg);
            }
        }
    }
    assert_true(keys > 60);
    /* the control */
    assert_false(schema_known(&c, schema_places[1].document, "mtach"));
    free(text);
    policy_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_schema)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
