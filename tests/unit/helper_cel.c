/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_cel.h"

#include <stdlib.h>
#include <string.h>

static void *cel_memory_get(void *ctx, size_t n) {
    cel_memory *m = ctx;
    m->calls++;
    if (m->left == 0) {
        return NULL;
    }
    m->left -= m->left == SIZE_MAX ? 0 : 1;
    return malloc(n);
}
static void cel_memory_put(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

void cel_memory_init(cel_memory *m, size_t left) { *m = (cel_memory){{cel_memory_get, cel_memory_put, m}, left, 0}; }

void cel_case_init(cel_case *c) {
    memset(c, 0, sizeof *c);
    cel_memory_init(&c->memory, SIZE_MAX);
    il_arena_init(&c->arena, &c->memory.alloc, (size_t)64 << 20);
}

void cel_case_free(cel_case *c) { il_arena_free(&c->arena); }

il_status cel_compile(cel_case *c, const char *text, const il_cel_env *env, il_cel_kind want) {
    memset(&c->err, 0, sizeof c->err);
    c->status = il_cel_compile(&c->arena, il_str_of(text), 1, 1, env, want, NULL, &c->program, &c->err);
    return c->status;
}

il_cel_value cel_eval(cel_case *c, const il_cel_value *vars) { return il_cel_eval(c->program, vars, &c->arena); }

const char *cel_printed(cel_case *c) {
    il_buf b;
    il_str text = {NULL, 0};
    il_buf_init(&b, &c->arena, (size_t)1 << 20);
    il_cel_print(c->program, &b);
    il_buf_putc(&b, 0);
    return il_buf_done(&b, &text, NULL) == IL_OK ? text.p : "(failed)";
}

static const il_cel_type helper_bool = {.kind = IL_CEL_BOOL}, helper_int = {.kind = IL_CEL_INT},
                         helper_string = {.kind = IL_CEL_STRING};
static const il_cel_type helper_any = {.kind = IL_CEL_ERROR};
static const il_str helper_domain[] = {{"none", 4}, {"fresh", 5}, {"held", 4}};
static const il_cel_type helper_word = {.kind = IL_CEL_STRING, .domain = helper_domain, .ndomain = 3};
static const il_cel_type helper_words = {.kind = IL_CEL_LIST, .element = &helper_word};
static const il_cel_type helper_ints = {.kind = IL_CEL_LIST, .element = &helper_int};
static const il_cel_type helper_names = {.kind = IL_CEL_LIST, .element = &helper_string};
static const il_cel_type helper_lists = {.kind = IL_CEL_LIST, .element = &helper_ints};
static const il_cel_field helper_fields[] = {
    {{"b", 1}, &helper_bool},    {{"i", 1}, &helper_int},     {{"s", 1}, &helper_string},
    {{"word", 4}, &helper_word}, {{"ints", 4}, &helper_ints},
};
static const il_cel_type helper_rec = {.kind = IL_CEL_RECORD, .fields = helper_fields, .nfields = 5, .name = {"rec", 3}};
static const il_cel_type helper_recs = {.kind = IL_CEL_LIST, .element = &helper_rec};
static const il_cel_field helper_vars[CEL_NVARS] = {
    {{"b", 1}, &helper_bool},      {{"b2", 2}, &helper_bool},   {{"i", 1}, &helper_int},       {{"j", 1}, &helper_int},
    {{"s", 1}, &helper_string},    {{"word", 4}, &helper_word}, {{"words", 5}, &helper_words}, {{"ints", 4}, &helper_ints},
    {{"names", 5}, &helper_names}, {{"r", 1}, &helper_rec},     {{"rs", 2}, &helper_recs},     {{"any", 3}, &helper_any},
    {{"lists", 5}, &helper_lists},
};
#define HELPER_LET(name, source, line, col) \
    { {name, sizeof(name) - 1}, {source, sizeof(source) - 1}, line, col }
static const il_cel_let helper_lets[] = {
    HELPER_LET("yes", "b", 10, 1),     HELPER_LET("sum", "i + j", 11, 1),   HELPER_LET("both", "b && b2", 12, 1),
    HELPER_LET("self", "self", 13, 5), HELPER_LET("ping", "pong", 14, 1),   HELPER_LET("pong", "1 + ping", 15, 1),
    HELPER_LET("bad", "i + ", 16, 3),  HELPER_LET("wrong", "i + s", 17, 3), HELPER_LET("hides", "s", 18, 1),
};
const il_cel_env cel_env = {.size = sizeof cel_env,
                            .vars = helper_vars,
                            .nvars = CEL_NVARS,
                            .lets = helper_lets,
                            .nlets = sizeof helper_lets / sizeof helper_lets[0]};

static il_cel_value helper_list(const il_cel_value *items, uint32_t n) {
    il_cel_value v = {0};
    v.kind = IL_CEL_LIST;
    v.n = n;
    v.u.items = items;
    return v;
}
#define HELPER_STR(z) \
    { .kind = IL_CEL_STRING, .n = sizeof(z) - 1, .u.p = (z) }
#define HELPER_INT(x) \
    { .kind = IL_CEL_INT, .u.i = x }

void cel_values(il_cel_value vars[CEL_NVARS]) {
    static const il_cel_value words[] = {HELPER_STR("none"), HELPER_STR("held")};
    static const il_cel_value ints[] = {HELPER_INT(1), HELPER_INT(2), HELPER_INT(3)};
    static const il_cel_value names[] = {HELPER_STR("a"), HELPER_STR("b")};
    static const il_cel_value four[] = {HELPER_INT(4)};
    static const il_cel_value fields[] = {{.kind = IL_CEL_BOOL, .u.b = true},
                                          HELPER_INT(1),
                                          HELPER_STR("one"),
                                          HELPER_STR("held"),
                                          {.kind = IL_CEL_LIST, .n = 1, .u.items = four}};
    static const il_cel_value unset[] = {{0}, HELPER_INT(2), HELPER_STR("two"), HELPER_STR("none"), {.kind = IL_CEL_LIST}};
    static const il_cel_value recs[] = {{.kind = IL_CEL_RECORD, .n = 5, .u.items = fields},
                                        {.kind = IL_CEL_RECORD, .n = 5, .u.items = unset}};
    static const il_cel_value lists[] = {{.kind = IL_CEL_LIST, .n = 1, .u.items = ints},
                                         {.kind = IL_CEL_LIST, .n = 2, .u.items = ints + 1}};
    memset(vars, 0, CEL_NVARS * sizeof *vars);
    vars[CEL_B] = il_cel_of_bool(true);
    vars[CEL_B2] = il_cel_of_bool(false);
    vars[CEL_I] = il_cel_of_int(7);
    vars[CEL_J] = il_cel_of_int(-3);
    vars[CEL_S] = il_cel_of_str(IL_STR("text"));
    vars[CEL_WORD] = il_cel_of_str(IL_STR("fresh"));
    vars[CEL_WORDS] = helper_list(words, 2);
    vars[CEL_INTS] = helper_list(ints, 3);
    vars[CEL_NAMES] = helper_list(names, 2);
    vars[CEL_R] = recs[0];
    vars[CEL_RS] = helper_list(recs, 2);
    vars[CEL_LISTS] = helper_list(lists, 2);
}
