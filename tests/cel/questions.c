/* SPDX-License-Identifier: Apache-2.0 */
/* Answers static questions for z3.py. A line: conditions separated by tabs, of the variables below. Printed: what is answered
 * (0 unknown, 1 no, 2 yes) to, for each condition, "always one of" for the sets 1 to 6 of true (1), false (2), error (4); then
 * for each pair of neighbours implies, implied by, disjoint, equivalent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cel/logic.h"

static const il_str words[] = {{"none", 4}, {"fresh", 5}, {"held", 4}}, trust[] = {{"trusted", 7}, {"untrusted", 9}};
static const il_cel_type type_word = {.kind = IL_CEL_STRING, .domain = words, .ndomain = 3};
static const il_cel_type type_trust = {.kind = IL_CEL_STRING, .domain = trust, .ndomain = 2};
static const il_cel_type type_bool = {.kind = IL_CEL_BOOL}, type_int = {.kind = IL_CEL_INT}, type_text = {.kind = IL_CEL_STRING},
                         type_any = {.kind = IL_CEL_DYN};
static const il_cel_type type_json = {.kind = IL_CEL_MAP, .key = &type_text, .element = &type_any};
static const il_cel_field item[] = {{{"t", 1}, &type_trust}, {{"n", 1}, &type_int}, {{"f", 1}, &type_bool}};
static const il_cel_type type_item = {.kind = IL_CEL_RECORD, .fields = item, .nfields = 3, .name = {"item", 4}};
static const il_cel_type type_items = {.kind = IL_CEL_LIST, .element = &type_item};
static const il_cel_field vars[] = {{{"b", 1}, &type_bool},  {{"c", 1}, &type_bool}, {{"i", 1}, &type_int},
                                    {{"w", 1}, &type_word},  {{"s", 1}, &type_text}, {{"args", 4}, &type_json},
                                    {{"rs", 2}, &type_items}};
static const il_cel_env env = {.size = sizeof env, .vars = vars, .nvars = sizeof vars / sizeof vars[0]};

static void *get(void *ctx, size_t n) {
    (void)ctx;
    return malloc(n);
}
static void put(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

static int fail(const il_error *err, const char *text) {
    fprintf(stderr, "%s\n%u:%u %s\n", text, err->line, err->col, err->msg);
    return 1;
}

static int answer(char *line) {
    enum { MOST = 8 };
    const il_alloc alloc = {get, put, NULL};
    const il_cel_limits limits = {.size = sizeof limits, .cost = UINT64_C(1) << 62};
    il_arena *arena = il_arena_new(&alloc, (size_t)256 << 20);
    il_error err = {.code = IL_OK};
    il_cel_logic *l = NULL;
    il_cel_verdict v;
    uint32_t ids[MOST], n = 0;
    char out[128];
    size_t used = 0;
    int status = arena == NULL || il_cel_logic_new(arena, NULL, &l, &err) != IL_OK ? fail(&err, line) : 0;
    for (char *text = line; text != NULL && n < MOST && status == 0;) {
        char *tab = strchr(text, '\t');
        il_cel_program *p = NULL;
        const size_t length = tab != NULL ? (size_t)(tab - text) : strcspn(text, "\n");
        if (il_cel_compile(arena, (il_str){text, length}, 1, 1, &env, IL_CEL_BOOL, &limits, &p, &err) != IL_OK ||
            il_cel_logic_add(l, p, &ids[n++], &err) != IL_OK) {
            status = fail(&err, text);
        }
        text = tab != NULL ? tab + 1 : NULL;
    }
    for (uint32_t i = 0; i < n && status == 0; i++) {
        for (unsigned may = 1; may < IL_CEL_MAY_ANY && status == 0; may++) {
            status = il_cel_logic_always(l, ids[i], may, &v, &err) != IL_OK ? fail(&err, line) : 0;
            out[used++] = (char)('0' + v.answer);
        }
    }
    for (uint32_t i = 0; i + 1 < n && status == 0; i++) {
        const uint32_t a = ids[i], b = ids[i + 1];
        for (unsigned question = 0; question < 4 && status == 0; question++) {
            const il_status asked = question == 0   ? il_cel_logic_implies(l, a, b, &v, &err)
                                    : question == 1 ? il_cel_logic_implies(l, b, a, &v, &err)
                                    : question == 2 ? il_cel_logic_disjoint(l, a, b, &v, &err)
                                                    : il_cel_logic_equivalent(l, a, b, &v, &err);
            status = asked != IL_OK ? fail(&err, line) : 0;
            out[used++] = (char)('0' + v.answer);
        }
    }
    out[used] = 0;
    puts(out);
    il_arena_delete(arena);
    return status;
}

int main(void) {
    static char line[1 << 16];
    int status = 0;
    while (status == 0 && fgets(line, sizeof line, stdin) != NULL) {
        status = answer(line);
    }
    return status;
}
