/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_policy.h"

#include "machine/table.h"
#include "yaml/yaml.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *policy_memory_get(void *ctx, size_t n) {
    policy_memory *m = ctx;
    m->calls++;
    size_t left = m->left;
    while (left != SIZE_MAX && left > 0 && !atomic_compare_exchange_weak(&m->left, &left, left - 1)) {
    }
    if (left == 0) {
        return NULL;
    }
    return malloc(n > 0 ? n : 1);
}
static void policy_memory_put(void *ctx, void *p) {
    (void)ctx;
    free(p);
}
void policy_memory_init(policy_memory *m) {
    m->alloc = (il_alloc){policy_memory_get, policy_memory_put, m};
    m->left = SIZE_MAX;
    m->calls = 0;
}

static char *policy_file(const char *name, size_t *n) {
    char path[512];
    (void)snprintf(path, sizeof path, "machines/%s.yaml", name);
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        (void)snprintf(path, sizeof path, "tests/machines/%s.yaml", name);
        f = fopen(path, "rb");
    }
    assert_non_null(f);
    char *text = malloc(1 << 16);
    assert_non_null(text);
    *n = fread(text, 1, 1 << 16, f);
    (void)fclose(f);
    return text;
}

void policy_case_init(policy_case *c, const char *machine) {
    memset(c, 0, sizeof *c);
    policy_memory_init(&c->memory);
    il_arena_init(&c->arena, &c->memory.alloc, (size_t)256 << 20);
    il_arena_init(&c->table, &c->memory.alloc, (size_t)256 << 20);
    size_t n = 0;
    char *text = policy_file(machine, &n);
    il_json *doc = NULL;
    il_model *model = NULL;
    il_str table = {0};
    if (il_yaml_parse(&c->table, (il_str){text, n}, NULL, &doc, &c->err) != IL_OK ||
        il_model_load(&c->table, doc, &model, &c->err) != IL_OK ||
        il_table_build(&c->table, model, 0, &table, &c->err) != IL_OK ||
        il_table_open(&c->memory.alloc, table, &c->machine, &c->err) != IL_OK) {
        fail_msg("%s: %u:%u %s", machine, c->err.line, c->err.col, c->err.msg);
    }
    free(text);
}

void policy_case_free(policy_case *c) {
    il_policy_free(c->policy);
    il_machine_free(c->machine);
    il_arena_free(&c->arena);
    il_arena_free(&c->table);
}

il_policy *policy_load(policy_case *c, const char *yaml) {
    il_json *doc = NULL;
    il_policy_free(c->policy);
    c->policy = NULL;
    memset(&c->err, 0, sizeof c->err);
    c->status = il_yaml_parse(&c->arena, il_str_of(yaml), NULL, &doc, &c->err);
    if (c->status == IL_OK) {
        c->status = il_policy_new(&c->memory.alloc, doc, c->machine, &c->policy, &c->err);
    }
    return c->policy;
}

const il_json *policy_json(policy_case *c, const char *text) {
    il_json *v = NULL;
    il_error err = {0};
    if (text == NULL) {
        return NULL;
    }
    if (il_json_parse(&c->arena, il_str_of(text), NULL, &v, &err) != IL_OK) {
        fail_msg("%s: %s", text, err.msg);
    }
    return v;
}

void policy_must(policy_case *c, const char *yaml) {
    if (policy_load(c, yaml) == NULL) {
        fail_msg("%s at %u:%u: %s", il_status_name(c->status), c->err.line, c->err.col, c->err.msg);
    }
}

il_label policy_label(policy_case *c, const char *tool, const char *args, uint32_t held) {
    il_label label;
    il_str name = il_str_of(tool), server = {0};
    size_t dot = il_str_find(name, IL_STR("."), 0);
    if (dot != SIZE_MAX) {
        server = il_str_part(name, 0, dot);
        name = il_str_part(name, dot + 1, name.n);
    }
    c->status =
        il_policy_label(c->policy, &(il_label_call){.server = server, .tool = name, .args = policy_json(c, args), .held = held},
                        &c->arena, &label, &c->err);
    return label;
}
