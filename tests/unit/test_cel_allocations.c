/* SPDX-License-Identifier: Apache-2.0 */
/* An evaluation allocates only what its expression makes: conditions of the kinds that policies have ask nothing of the allocator, and give the same
 * answer without scratch. What joins texts or builds a list does ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_cel.h"
#include "json/node.h"

static const il_cel_type t_texts = {.kind = IL_CEL_LIST, .element = &il_cel_type_string};
static const il_cel_field label_fields[] = {{{"trust", 5}, &il_cel_type_string}, {{"endorsements", 12}, &t_texts}};
static const il_cel_type t_label = {.kind = IL_CEL_RECORD, .fields = label_fields, .nfields = 2, .name = {"label", 5}};
static const il_cel_type t_labels = {.kind = IL_CEL_LIST, .element = &t_label};
static const il_cel_field run_fields[] = {{{"tainted", 7}, &il_cel_type_bool}, {{"trifecta", 8}, &t_texts}};
static const il_cel_type t_run = {.kind = IL_CEL_RECORD, .fields = run_fields, .nfields = 2, .name = {"run", 3}};
static const il_cel_field agent_fields[] = {{{"id", 2}, &il_cel_type_string}, {{"groups", 6}, &t_texts}};
static const il_cel_type t_agent = {.kind = IL_CEL_RECORD, .fields = agent_fields, .nfields = 2, .name = {"agent", 5}};
enum { NVARS = 5 };
static const il_cel_field vars[NVARS] = {
    {{"args", 4}, &il_cel_type_json}, {{"taint", 5}, &t_labels},          {{"run", 3}, &t_run},
    {{"agent", 5}, &t_agent},         {{"tool", 4}, &il_cel_type_string},
};
static const il_cel_env env = {.size = sizeof env, .vars = vars, .nvars = NVARS};

static const char args_text[] =
    "{\"to\":\"collector@evil.example\",\"url\":\"https://api.eu.example.com/v1\",\"body\":\"Gr\xc3\xb6\xc3\x9f"
    "e\",\"n\":3,"
    "\"items\":[{\"name\":\"a\",\"qty\":2,\"tags\":[\"x\",\"pii\"]},{\"name\":\"b\",\"qty\":0,\"tags\":[]}]}";

static il_cel_value text(const char *z) { return il_cel_of_str((il_str){z, strlen(z)}); }

/* In `values`, from room that the caller has. */
typedef struct world {
    il_cel_value values[NVARS], groups[2], legs[3], run[2], agent[2], endorsed[2], labels[3][2], taint[3];
} world;

static void world_init(world *w, il_arena *arena) {
    il_json *args = NULL;
    assert_int_equal(il_json_parse(arena, (il_str){args_text, sizeof args_text - 1}, NULL, &args, NULL), IL_OK);
    w->groups[0] = text("staff");
    w->groups[1] = text("outbound");
    w->agent[0] = text("mailer");
    w->agent[1] = il_cel_of_items(IL_CEL_LIST, w->groups, 2);
    w->legs[0] = text("untrusted");
    w->legs[1] = text("sensitive");
    w->legs[2] = text("egress");
    w->run[0] = il_cel_of_bool(true);
    w->run[1] = il_cel_of_items(IL_CEL_LIST, w->legs, 3);
    w->endorsed[0] = text("owner");
    w->endorsed[1] = text("legal");
    for (size_t i = 0; i < 3; i++) {
        w->labels[i][0] = text(i == 0 ? "trusted" : "untrusted");
        w->labels[i][1] = il_cel_of_items(IL_CEL_LIST, w->endorsed, i == 1 ? 0 : 2);
        w->taint[i] = il_cel_of_items(IL_CEL_RECORD, w->labels[i], 2);
    }
    w->values[0] = il_cel_of_json(args);
    w->values[1] = il_cel_of_items(IL_CEL_LIST, w->taint, 3);
    w->values[2] = il_cel_of_items(IL_CEL_RECORD, w->run, 2);
    w->values[3] = il_cel_of_items(IL_CEL_RECORD, w->agent, 2);
    w->values[4] = text("send_email");
}

/* How often an evaluation asked the allocator. *bare: what it is without scratch. */
static size_t asked(const char *source, il_cel_value *with, il_cel_value *bare) {
    cel_case c;
    world w;
    cel_memory memory;
    cel_case_init(&c);
    world_init(&w, &c.arena);
    if (cel_compile(&c, source, &env, IL_CEL_NULL) != IL_OK) {
        fail_msg("%s: %s", source, c.err.msg);
    }
    cel_memory_init(&memory, SIZE_MAX);
    il_arena scratch;
    il_arena_init(&scratch, &memory.alloc, (size_t)1 << 20);
    *with = il_cel_eval(c.program, w.values, &scratch);
    size_t calls = memory.calls;
    *bare = il_cel_eval(c.program, w.values, NULL);
    assert_int_equal(memory.calls, calls);
    if (with->kind == IL_CEL_STRING || with->kind == IL_CEL_LIST) {
        with->u.p = NULL; /* goes with the scratch */
    }
    il_arena_free(&scratch);
    cel_case_free(&c);
    return calls;
}

static void test_conditions_do_not_allocate(void **state) {
    (void)state;
    static const struct {
        const char *source;
        bool answer;
    } conditions[] = {
        {"taint.exists(t, t.trust == 'untrusted') && !args.to.endsWith('@example.com')", true},
        {"run.tainted", true},
        {"size(run.trifecta) >= 3", true},
        {"size(args.body) > 4", true},
        {"size(args.body) > 5", false},
        {"args.url.matches('^https://([a-z0-9-]+[.])*example[.]com(/|$)')", true},
        {"args.url.matches('(a|b)*[0-9]$')", true},
        {"agent.id in ['research', 'billing', 'support', 'deploy', 'mailer']", true},
        {"agent.id in ['research', args.to]", false},
        {"taint.exists(t, t.trust == 'untrusted' && !t.endorsements.exists(k, k == 'legal'))", true},
        {"taint.all(t, t.trust == 'trusted' || 'owner' in t.endorsements)", false},
        {"taint.exists_one(t, t.trust == 'trusted')", true},
        {"tool == 'send_email' && run.tainted && (agent.id == 'root' || agent.id == 'mailer') && !('admin' in agent.groups) && "
         "size(taint) > 1",
         true},
        {"args.items.exists(i, i.qty > 1 && i.tags.exists(t, t == 'pii'))", true},
        {"args.items.all(i, v, v.qty < 3 && i < 2)", true},
        {"has(args.n) && args.n % 2 == 1 && args['n'] != 4 && args.items[0].name == 'a'", true},
        {"args.missing == 1 || true", true},
        {"args.to.startsWith('col') && args.to.contains('evil') && args.to < 'd'", true},
        {"args.n > 2 ? double(args.n) > 2.5 : false", true},
        {"args == args", true},
    };
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        il_cel_value with, bare;
        size_t calls = asked(conditions[i].source, &with, &bare);
        if (calls != 0 || with.kind != IL_CEL_BOOL || bare.kind != IL_CEL_BOOL || with.u.b != conditions[i].answer ||
            bare.u.b != conditions[i].answer) {
            fail_msg("%s: %zu allocations, kinds %u and %u", conditions[i].source, calls, with.kind, bare.kind);
        }
    }
}

/* The control: these make something, and the count sees it. Without scratch the budget is gone. */
static void test_what_builds_needs_scratch(void **state) {
    (void)state;
    static const char *const sources[] = {
        "args.to + tool",
        "args.to + tool == 'x' || args.to + tool == 'y'",
        "args.items.filter(i, i.qty > 1).map(i, i.name)",
        "'b' in args.items.map(i, i.name)",
        "{'to': args.to}.to",
        "tool.upperAscii() == 'SEND_EMAIL'",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        il_cel_value with, bare;
        size_t calls = asked(sources[i], &with, &bare);
        if (calls == 0 || with.kind == IL_CEL_ERROR || bare.kind != IL_CEL_ERROR || bare.fault != IL_CEL_BUDGET) {
            fail_msg("%s: %zu allocations, kinds %u and %u", sources[i], calls, with.kind, bare.kind);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions_do_not_allocate),
        cmocka_unit_test(test_what_builds_needs_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
