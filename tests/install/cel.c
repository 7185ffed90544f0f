/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions from C, as an installed copy is used: a condition is compiled once and evaluated for each call. Prints one line a call, then
 * what is said of a condition that could not be meant.
 *
 *     cc cel.c $(pkg-config --cflags --libs interlock) && ./a.out
 */
#include <interlock/cel.h>
#include <interlock/host.h>
#include <stdio.h>

/* The variables: a text that can only be one of two, and the arguments of the call, which may be any JSON object. */
static const il_str trusts[] = {{"trusted", 7}, {"untrusted", 9}};
static const il_cel_type trust = {.kind = IL_CEL_STRING, .domain = trusts, .ndomain = 2};
static const il_cel_field vars[] = {{{"trust", 5}, &trust}, {{"args", 4}, &il_cel_type_json}};
static const il_cel_env env = {.size = sizeof env, .vars = vars, .nvars = 2, .zone = il_host_zone};

static il_status judge(const il_cel_program *program, il_arena *scratch, il_str text, il_error *err) {
    il_json_doc *doc = NULL;
    il_status s = il_json_doc_new(il_host_alloc(), text, NULL, &doc, err);
    if (s != IL_OK)
        return s;
    const il_cel_value values[] = {il_cel_of_str(IL_STR("untrusted")), il_cel_of_json(il_json_doc_root(doc))};
    il_cel_value v = il_cel_eval(program, values, scratch); /* v may borrow from doc and scratch */
    if (v.kind == IL_CEL_ERROR) {
        il_cel_explain(program, v, err);
        printf("blocked: %u:%u: %s\n", err->line, err->col, err->msg);
    } else {
        printf("%s\n", il_cel_true(v) ? "matches" : "does not match");
    }
    il_arena_reset(scratch); /* forget what this evaluation made */
    il_json_doc_free(doc);
    return IL_OK;
}

int main(void) {
    il_arena *arena = il_arena_new(il_host_alloc(), 1 << 20), *scratch = il_arena_new(il_host_alloc(), 1 << 20);
    il_cel_program *program = NULL, *none = NULL;
    il_error err = {0};
    int code = 1;
    if (arena != NULL && scratch != NULL &&
        il_cel_compile(arena, IL_STR("trust == 'untrusted' && !args.to.lowerAscii().endsWith('@corp.example')"), 1, 1, &env,
                       IL_CEL_BOOL, NULL, &program, &err) == IL_OK &&
        judge(program, scratch, IL_STR("{\"to\": \"eve@evil.example\"}"), &err) == IL_OK &&
        judge(program, scratch, IL_STR("{\"to\": \"Bob@Corp.Example\"}"), &err) == IL_OK &&
        judge(program, scratch, IL_STR("{\"cc\": \"eve@evil.example\"}"), &err) == IL_OK) {
        code = 0;
    } else {
        fprintf(stderr, "%u:%u: %s (%s)\n", err.line, err.col, err.msg, il_status_name(err.code));
    }
    if (code == 0 && il_cel_compile(arena, IL_STR("trust == 'trustd'"), 1, 1, &env, IL_CEL_BOOL, NULL, &none, &err) != IL_OK)
        printf("refused: %u:%u: %s\n", err.line, err.col, err.msg);
    il_arena_delete(scratch);
    il_arena_delete(arena); /* the programs with it */
    return code;
}
