/* SPDX-License-Identifier: Apache-2.0 */
/* Explanations fail cleanly, and never with an allow. What they say is compared with `check` by tests/cli/test_explain.py. */
#include "helper_policy.h"

#include "policy/explain.h"

static const char policy[] = "interlock: 1\n"
                             "machine: standard\n"
                             "servers: { s: { trust: inside } }\n"
                             "tools:\n"
                             "  - { match: s.send, effects: { egress: args.far }, sink: once, to: { email: to }, plain: [far] }\n"
                             "rules:\n"
                             "  - { tools: s.send, when: args.n > 1, then: block }\n"
                             "  - { tools: s.send, when: run.tainted, then: allow }\n";

static il_status explain(policy_case *c, il_arena *arena, const char *args, uint32_t held, il_explanation *out) {
    const il_explain_ask ask = {
        .server = IL_STR("s"), .tool = IL_STR("send"), .args = args != NULL ? policy_json(c, args) : NULL, .held = held};
    return il_policy_explain(c->policy, &ask, arena, out, &c->err);
}

static void test_explain_fails_cleanly_without_memory(void **state) {
    static const char *const args[] = {NULL, "{ \"to\": \"x@evil.example\", \"far\": true, \"n\": 1, \"more\": 1 }"};
    policy_case c;
    policy_memory memory;
    (void)state;
    policy_case_init(&c, "standard");
    policy_must(&c, policy);
    for (size_t i = 0; i < 2; i++) {
        il_status s = IL_E_MEMORY;
        for (unsigned left = 0; s != IL_OK; left++) {
            il_explanation x;
            il_arena arena;
            assert_true(left < 1000);
            policy_memory_init(&memory);
            memory.left = left;
            il_arena_init(&arena, &memory.alloc, (size_t)1 << 30);
            s = explain(&c, &arena, args[i], (uint32_t)(IL_UNTRUSTED | IL_SENSITIVE), &x);
            assert_true(s == IL_OK || s == IL_E_MEMORY);
            assert_int_equal(x.action, IL_THEN_BLOCK);
            assert_true(s != IL_OK || x.nchanges > 0);
            il_arena_free(&arena);
        }
    }
    policy_case_free(&c);
}

static void test_explain_reaches_states_in_any_order(void **state) {
    policy_case c;
    il_explanation x;
    (void)state;
    policy_case_init(&c, "standard");
    policy_must(&c, policy);
    /* a commit after untrusted content is rejected: it comes first */
    assert_int_equal(explain(&c, &c.arena, "{}", (uint32_t)(IL_UNTRUSTED | IL_COMMIT), &x), IL_OK);
    assert_int_equal(explain(&c, &c.arena, "{}", (uint32_t)(IL_UNTRUSTED | IL_SENSITIVE | IL_EGRESS), &x), IL_E_STATE);
    policy_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_explain_fails_cleanly_without_memory),
                                       cmocka_unit_test(test_explain_reaches_states_in_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
