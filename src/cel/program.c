/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/ast.h"

il_status il_cel_compile(il_arena *arena, il_str source, uint32_t line, uint32_t col, const il_cel_env *env, il_cel_kind want,
                         const il_cel_limits *limits, il_cel_program **out, il_error *err) {
    static const il_cel_env nothing = {.size = sizeof nothing};
    *out = NULL;
    if (env == NULL) {
        env = &nothing;
    }
    if (want == IL_CEL_ERROR || want == IL_CEL_RECORD) {
        return il_error_set(err, IL_E_ARGUMENT, "an expression cannot be asked to be an error or a record");
    }
    il_cel_limits l = limits != NULL ? *limits : (il_cel_limits){.size = sizeof l};
    if (l.size < sizeof l || env->size < sizeof *env) {
        return il_error_set(err, IL_E_ARGUMENT, "`size` of the limits or of the environment is not set");
    }
    l.source_bytes = l.source_bytes != 0 ? l.source_bytes : IL_CEL_SOURCE_BYTES;
    l.depth = l.depth != 0 ? l.depth : IL_CEL_DEPTH;
    l.nodes = l.nodes != 0 ? l.nodes : IL_CEL_NODES;
    l.cost = l.cost != 0 ? l.cost : IL_CEL_COST;
    l.steps = l.steps != 0 ? l.steps : IL_CEL_COST;
    l.text_bytes = l.text_bytes != 0 ? l.text_bytes : IL_CEL_TEXT_GUESS;
    l.list_items = l.list_items != 0 ? l.list_items : IL_CEL_LIST_GUESS;
    if (l.depth > IL_CEL_DEPTH_MAX || l.source_bytes > (size_t)1 << 30) {
        return il_error_set(err, IL_E_ARGUMENT, "a limit above what the library can keep");
    }
    if (source.n > l.source_bytes) {
        return il_error_at(err, IL_E_LIMIT, line, col, 0, "an expression of %zu bytes; at most %zu are read", source.n,
                           l.source_bytes);
    }
    il_cel_program *p = IL_NEW(arena, il_cel_program);
    il_cel_node *root = NULL;
    if (p == NULL) {
        return il_cel_no_memory(arena, err);
    }
    IL_TRY(il_cel_parse(arena, source, line, col, env, &l, &root, err));
    IL_TRY(il_cel_check(arena, env, &l, want, root, err));
    il_cel_env *kept = IL_NEW(arena, il_cel_env);
    if (kept == NULL) {
        return il_cel_no_memory(arena, err);
    }
    *kept = *env;
    kept->lets = NULL;
    kept->nlets = 0;
    kept->container = (il_str){NULL, 0};
    kept->families = NULL;
    p->env = kept;
    p->alike = l.alike;
    p->steps = l.steps < INT64_MAX ? l.steps : INT64_MAX;
    IL_TRY(il_cel_generate(arena, p, root, err));
    *out = p;
    return IL_OK;
}

static void program_reads(const il_cel_node *n, void (*visit)(void *ctx, size_t var, size_t field), void *ctx) {
    if (n->op == IL_CEL_OP_FIELD) {
        visit(ctx, n->slot, n->field);
        return; /* its kid is the variable, of which only this field is read */
    }
    if (n->op == IL_CEL_OP_VAR) {
        visit(ctx, n->slot, SIZE_MAX);
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        program_reads(k, visit, ctx);
    }
}

void il_cel_reads(const il_cel_program *program, void (*visit)(void *ctx, size_t var, size_t field), void *ctx) {
    program_reads(program->root, visit, ctx);
}
