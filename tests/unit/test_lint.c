/* SPDX-License-Identifier: Apache-2.0 */
/* What the lint asks of patterns, against all short names; and that it fails cleanly. What it finds is tested by tests/cli/test_lint.py. */
#include "helper_policy.h"

#include "policy/glob.h"
#include "policy/lint.h"

#include <string.h>

enum { LETTERS = 3, LONGEST = 4 }; /* names: all of up to four of `abc`; forms: all of up to four of `ab*` */

static size_t text_of(unsigned number, const char *letters, char *out) {
    size_t n = 0;
    for (; number > 0; number = (number - 1) / LETTERS) {
        out[n++] = letters[(number - 1) % LETTERS];
    }
    return n;
}

static unsigned texts(void) {
    unsigned all = 0, power = 1;
    for (unsigned i = 0; i <= LONGEST; i++, power *= LETTERS) {
        all += power;
    }
    return all;
}

static void test_stars_against_all_names(void **state) {
    unsigned meets = 0, within = 0;
    (void)state;
    for (unsigned a = 1; a < texts(); a++) {
        for (unsigned b = 1; b < texts(); b++) {
            char x[LONGEST], y[LONGEST], z[LONGEST];
            const il_str f = {x, text_of(a, "ab*", x)}, g = {y, text_of(b, "ab*", y)};
            bool meet = false, inside = true;
            for (unsigned n = 0; n < texts() && (!meet || inside); n++) {
                const il_str name = {z, text_of(n, "abc", z)};
                const bool in_f = il_stars_match(f, name, false), in_g = il_stars_match(g, name, false);
                meet = meet || (in_f && in_g);
                inside = inside && (!in_f || in_g);
            }
            /* within is exact; two forms may meet in a longer name only */
            assert_true(!meet || il_stars_meet(f, g));
            assert_int_equal(il_stars_within(f, g), inside);
            assert_int_equal(il_stars_meet(f, g), il_stars_meet(g, f));
            meets += il_stars_meet(f, g) ? 1 : 0;
            within += inside ? 1 : 0;
        }
    }
    assert_true(meets > 0 && meets < texts() * texts() && within > 0 && within < meets);
}

static void test_stars_meet_not_where_they_cannot(void **state) {
    (void)state;
    assert_true(il_stars_meet(IL_STR("a*c"), IL_STR("*b*")));
    assert_true(il_stars_meet(IL_STR("a*b*c"), IL_STR("a*d*c")));
    assert_false(il_stars_meet(IL_STR("a*c"), IL_STR("b*")));
    assert_false(il_stars_meet(IL_STR("*x"), IL_STR("*y")));
    assert_false(il_stars_meet(IL_STR("aa"), IL_STR("a*a*a")));
}

static il_status count(void *ctx, const il_lint *finding, il_error *err) {
    (void)err;
    assert_true(finding->message.n > 0 && finding->line > 0);
    (*(unsigned *)ctx)++;
    return IL_OK;
}

static const char policy[] = "interlock: 1\n"
                             "machine: standard\n"
                             "servers: { s: { trust: inside } }\n"
                             "tools:\n"
                             "  - { match: s.a, effects: { commit: '1 / 0 == 1' } }\n"
                             "  - { match: 's.b*', effects: [] }\n"
                             "rules:\n"
                             "  - { tools: 's.*', when: args.n > 1, then: block }\n"
                             "  - { tools: s.a, when: args.n > 2, then: block }\n"
                             "  - { tools: s.c, then: block }\n";

static il_status lint_all(policy_case *c, il_arena *arena, unsigned *n) {
    const il_lint_out out = {n, count};
    const il_str servers[] = {IL_STR("s")};
    const il_lint_tool tools[] = {
        {servers[0], IL_STR("s.a"), policy_json(c, "{\"type\":\"object\",\"properties\":{\"m\":{\"type\":\"integer\"}}}")},
        {servers[0], IL_STR("s.b"), policy_json(c, "{\"type\":\"object\",\"properties\":{}}")}};
    const il_lint_tools all = {servers, 1, tools, 2};
    IL_TRY(il_policy_lint(c->policy, arena, &out, &c->err));
    return il_policy_lint_arguments(c->policy, &all, arena, &out, &c->err);
}

static void test_lint_fails_cleanly_without_memory(void **state) {
    policy_case c;
    policy_memory memory;
    unsigned n = 0, all;
    il_status s = IL_E_MEMORY;
    (void)state;
    policy_case_init(&c, "standard");
    policy_must(&c, policy);
    policy_memory_init(&memory);
    il_arena arena;
    il_arena_init(&arena, &memory.alloc, (size_t)1 << 30);
    assert_int_equal(lint_all(&c, &arena, &n), IL_OK);
    assert_int_equal(n, 5); /* the effect, the second and the third rule; `n` is no argument of either */
    il_arena_free(&arena);
    all = (unsigned)memory.calls;
    for (unsigned left = 0; left <= all && s != IL_OK; left++) {
        policy_memory_init(&memory);
        memory.left = left;
        il_arena_init(&arena, &memory.alloc, (size_t)1 << 30);
        s = lint_all(&c, &arena, &n);
        assert_true(s == IL_OK || s == IL_E_MEMORY);
        il_arena_free(&arena);
    }
    assert_int_equal(s, IL_OK);
    policy_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stars_against_all_names),
                                       cmocka_unit_test(test_stars_meet_not_where_they_cannot),
                                       cmocka_unit_test(test_lint_fails_cleanly_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
