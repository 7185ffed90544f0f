/* SPDX-License-Identifier: Apache-2.0 */
/* What a host may bring that is wrong: a configuration without its parts, a store that answers nonsense. Nothing is made of the one, and nothing runs
 * on the other. */
#include "helper_monitor.h"

#include <string.h>

static il_status nobody_load(void *ctx, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                             il_error *err) {
    (void)ctx, (void)space, (void)key, (void)buf, (void)cap, (void)n, (void)version;
    return il_error_set(err, IL_E_NOT_FOUND, "nothing is here");
}

static il_status nobody_commit(void *ctx, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err) {
    (void)ctx, (void)changes, (void)n, (void)now_ms;
    return il_error_set(err, IL_E_IO, "nothing is kept");
}

static bool host_time(void *ctx, uint64_t *now_ms) {
    (void)ctx;
    *now_ms = 1000;
    return true;
}

static bool host_dice(void *ctx, void *out, size_t n) {
    (void)ctx;
    memset(out, 7, n);
    return true;
}

static il_monitor_config host_config(const monitor_case *c) {
    return (il_monitor_config){.size = sizeof(il_monitor_config),
                               .policy = c->policy.policy,
                               .store = {.size = sizeof(il_store), .load = nobody_load, .commit = nobody_commit},
                               .host = {.size = sizeof(il_host), .now_ms = host_time, .random = host_dice}};
}

static void host_new(monitor_case *c, const il_monitor_config *config, il_status want) {
    il_monitor *m = NULL;
    il_error err = {0};
    assert_int_equal(il_monitor_new(&c->memory.alloc, config, &m, &err), want);
    assert_true((m != NULL) == (want == IL_OK));
    assert_true(want == IL_OK || (err.code == want && err.msg[0] != '\0'));
    il_monitor_free(m);
}

static void host_configuration(void **state) {
    monitor_case *c = *state;
    il_monitor_config good = host_config(c), bad = good;
    host_new(c, &good, IL_OK); /* or nothing would be shown */
    host_new(c, NULL, IL_E_ARGUMENT);
    bad.size--;
    host_new(c, &bad, IL_E_ARGUMENT);
    bad = good;
    bad.store.size--;
    host_new(c, &bad, IL_E_ARGUMENT);
    bad = good;
    bad.host.size--;
    host_new(c, &bad, IL_E_ARGUMENT);
    bad = good;
    bad.store.load = NULL;
    host_new(c, &bad, IL_E_ARGUMENT);
    bad = good;
    bad.store.commit = NULL;
    host_new(c, &bad, IL_E_ARGUMENT);
    bad = good;
    bad.host.now_ms = NULL;
    host_new(c, &bad, IL_E_ARGUMENT);
    bad = good;
    bad.host.random = NULL;
    host_new(c, &bad, IL_E_ARGUMENT);
    bad = good;
    bad.call_deadline_ms = ((uint64_t)1 << 40) + 1;
    host_new(c, &bad, IL_E_ARGUMENT);
    bad.call_deadline_ms--;
    host_new(c, &bad, IL_OK);
    c->memory.left = 0;
    host_new(c, &good, IL_E_MEMORY);
    c->memory.left = SIZE_MAX;
}

typedef struct host_answer {
    il_status status;
    size_t n;
    uint64_t version;
} host_answer;

static il_status nonsense_load(void *ctx, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                               il_error *err) {
    const host_answer *a = ctx;
    (void)space, (void)key;
    memset(buf, 0, cap);
    *n = a->n;
    *version = a->version;
    return a->status == IL_OK ? IL_OK : il_error_set(err, a->status, "as the test says");
}

static void host_nonsense(void **state) {
    monitor_case *c = *state;
    static const struct {
        host_answer answer;
        const char *reason;
    } rows[] = {
        {{IL_OK, IL_SESSION_STATE_MAX + 1, 1}, "ledger-damaged"}, /* more than there was room for */
        {{IL_OK, 100, 0}, "ledger-damaged"},                      /* an object without a version */
        {{IL_OK, 0, 1}, "ledger-damaged"},                        /* no bytes */
        {{IL_OK, 100, 1}, "ledger-damaged"},                      /* zeros */
        {{IL_E_LIMIT, 100, 1}, "ledger-damaged"},                 /* too much for a buffer that holds any session */
        {{IL_E_SYNTAX, 0, 0}, "ledger-error"},                    /* a status that no store has */
        {{IL_E_INTERNAL, 0, 0}, "ledger-error"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        host_answer answer = rows[i].answer;
        il_monitor_config config = host_config(c);
        il_monitor *m = NULL;
        il_decision d = IL_DECISION_INIT;
        const il_call call = {.size = sizeof call, .server = IL_STR("in"), .tool = IL_STR("n")};
        config.store.ctx = &answer;
        config.store.load = nonsense_load;
        assert_int_equal(il_monitor_new(&c->memory.alloc, &config, &m, NULL), IL_OK);
        assert_int_not_equal(il_monitor_decide(m, IL_STR("s1"), &call, &d, NULL), IL_OK);
        assert_int_equal(d.action, IL_ACTION_BLOCK);
        assert_int_equal(d.layer, IL_LAYER_FAULT);
        assert_false(d.run);
        if (strcmp(d.reason, rows[i].reason) != 0) {
            fail_msg("answer %zu: `%s` instead of `%s`", i, d.reason, rows[i].reason);
        }
        il_monitor_free(m);
    }
}

static int host_setup(void **state) {
    static monitor_case c;
    monitor_case_init(&c, monitor_policy);
    *state = &c;
    return 0;
}

static int host_teardown(void **state) {
    monitor_case_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(host_configuration), cmocka_unit_test(host_nonsense)};
    return cmocka_run_group_tests(tests, host_setup, host_teardown);
}
