/* SPDX-License-Identifier: Apache-2.0 */
/* Many calls in the pipe at once are one transaction. Its commit fails at every write of the disk: each call is answered once, none of those that were
 * lost reached the server, no result that was not recorded reached the client, and the ledger is whole. IL_TEST_THOROUGH=1 takes every write; else every
 * fourth. */
#include "helper_ledger.h"
#include "helper_monitor.h"
#include "helper_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "ledger/ledger.h"
#include "mcp/gateway.h"

#define TURN_CALLS 24
#define TURN_STEP 4

/* Answers by the ids that it gets. `$1` gets a byte for each call that arrives. */
static const char turn_script[] =
    "while read -r line; do id=${line#*'\"id\":'}; id=${id%%,*}; case \"$line\" in\n"
    "*'\"initialize\"'*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
    "{\"tools\":{}},\"serverInfo\":{\"name\":\"t\",\"version\":\"1\"}}}';;\n"
    "*tools/call*) printf x >>\"$1\"; echo "
    "'{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"RELEASED\"}]}}';;\n"
    "esac; done\n";

/* Answers none of the calls, and dies of the last one. `$1.dead` says so before. */
static const char turn_dies[] =
    "while read -r line; do id=${line#*'\"id\":'}; id=${id%%,*}; case \"$line\" in\n"
    "*'\"initialize\"'*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
    "{\"tools\":{}},\"serverInfo\":{\"name\":\"t\",\"version\":\"1\"}}}';;\n"
    "*'\"a\":23}'*) printf x >>\"$1\"; : >\"$1.dead\"; exit 3;;\n"
    "*tools/call*) printf x >>\"$1\";;\n"
    "esac; done\n";

typedef struct turn_case {
    monitor_case m;
    char path[LEDGER_TEST_PATH], seen[LEDGER_TEST_PATH + 8];
    il_ledger *ledger;
    il_ledger_batch batch;
    il_monitor *monitor;
    char out[1 << 16]; /* what the client got */
    size_t called, released, refused, faults, decisions, settles;
    int code;
    const char *script;
    const il_ledger_kind *kind; /* the ledger's own */
    char dead[LEDGER_TEST_PATH + 16];
    bool locks;            /* the ledger is locked from the server's death on */
    size_t begins, waited; /* transactions that began from then on, and those that waited for the lock in vain */
} turn_case;

static size_t turn_count(const char *text, const char *what) {
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) {
        n++;
    }
    return n;
}

static bool turn_row(void *ctx, const il_ledger_row *row) {
    turn_case *c = ctx;
    c->decisions +=
        il_str_eq(row->kind, IL_STR("decision")) && il_str_find(row->body, IL_STR("\"run\":true"), 0) != SIZE_MAX ? 1 : 0;
    c->settles += il_str_eq(row->kind, IL_STR("settle")) ? 1 : 0;
    return true;
}

static void turn_read(turn_case *c, int fd) {
    size_t n = 0;
    for (ssize_t got; (got = read(fd, c->out + n, sizeof c->out - 1 - n)) > 0;) {
        n += (size_t)got;
    }
    c->out[n] = '\0';
    c->released = turn_count(c->out, "RELEASED");
    c->refused = turn_count(c->out, "\"isError\":true");
    c->faults = turn_count(c->out, "ledger-error");
    for (int i = 0; i <= TURN_CALLS; i++) { /* each once */
        char id[24];
        (void)snprintf(id, sizeof id, "\"id\":\"c%d\"", i);
        assert_int_equal(turn_count(c->out, id), 1);
    }
    assert_int_equal(turn_count(c->out, "\"id\":\"ping\",\"result\""), 1); /* what needs no decision never suffers */
}

static size_t turn_input(char *text, size_t cap) {
    int n = snprintf(text, cap,
                     "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
                     "\"capabilities\":{},\"clientInfo\":{}}}\n"
                     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    for (int i = 0; i <= TURN_CALLS; i++) { /* the last one names no tool of the policy */
        n += snprintf(text + n, cap - (size_t)n,
                      "{\"jsonrpc\":\"2.0\",\"id\":\"c%d\",\"method\":\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":{"
                      "\"a\":%d}}}\n",
                      i, i == TURN_CALLS ? "unknown" : "n", i);
        if (i == TURN_CALLS / 2) {
            n += snprintf(text + n, cap - (size_t)n, "{\"jsonrpc\":\"2.0\",\"id\":\"ping\",\"method\":\"ping\"}\n");
        }
    }
    assert_true((size_t)n < cap);
    return (size_t)n;
}

/* --- a ledger that somebody locks when the server dies: each transaction waits for it in vain --- */

static turn_case *turn_locked;

static bool turn_is_locked(void) {
    turn_case *c = turn_locked;
    if (access(c->dead, F_OK) != 0) {
        return false;
    }
    c->begins++;
    c->waited += c->locks ? 1 : 0;
    return c->locks;
}

static il_status turn_begin(il_ledger *l, il_error *err) {
    return turn_is_locked() ? il_error_set(err, IL_E_BUSY, "locked") : turn_locked->kind->batch_begin(l, err);
}

static il_status turn_commit(il_ledger *l, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err) {
    return turn_is_locked() ? il_error_set(err, IL_E_BUSY, "locked") : turn_locked->kind->commit(l, changes, n, now_ms, err);
}

static void turn_open(turn_case *c) {
    static il_ledger_kind kind;
    il_error err = {0};
    ledger_test_path(c->path, "ledger.db");
    (void)snprintf(c->seen, sizeof c->seen, "%s.seen", c->path);
    (void)snprintf(c->dead, sizeof c->dead, "%s.dead", c->seen);
    c->ledger = ledger_test_open(c->path, NULL);
    c->kind = c->ledger->kind;
    kind = *c->kind;
    kind.batch_begin = turn_begin;
    kind.commit = turn_commit;
    c->ledger->kind = &kind;
    c->begins = c->waited = 0;
    turn_locked = c;
    c->batch = (il_ledger_batch){.ledger = c->ledger};
    assert_int_equal(monitor_new(&c->m, c->m.policy.policy, NULL, il_ledger_batch_store(&c->batch), false, &c->monitor), IL_OK);
    const il_begin how = {.size = sizeof how};
    assert_int_equal(il_monitor_begin(c->monitor, IL_STR("s1"), &how, &err), IL_OK);
}

static void turn_close(turn_case *c) {
    il_error err = {0};
    il_ledger_report report = IL_LEDGER_REPORT_INIT;
    c->decisions = c->settles = 0;
    assert_int_equal(il_ledger_rows(c->ledger, IL_STR("s1"), turn_row, c, &err), IL_OK);
    assert_int_equal(il_ledger_verify(c->ledger, NULL, NULL, &report, &err), IL_OK);
    assert_int_equal(report.findings, 0);
    il_monitor_free(c->monitor);
    il_ledger_close(c->ledger);
    ledger_test_clean(c->path);
}

/* A whole session of the gateway; `fails`: the write of the disk that does, 0 for none. */
static void turn_go(turn_case *c, size_t fails, bool sticky, bool *failed) {
    char input[8192];
    int in[2], out[2];
    turn_open(c);
    const size_t n = turn_input(input, sizeof input);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(write(in[1], input, n), (ssize_t)n);
    (void)close(in[1]);
    char sh[] = "/bin/sh", flag[] = "-c", zero[] = "sh", script[sizeof turn_script + sizeof turn_dies];
    (void)snprintf(script, sizeof script, "%s", c->script);
    char *command[] = {sh, flag, script, zero, c->seen, NULL};
    il_log log = {.fd = -1, .level = IL_LOG_ERROR};
    const il_gateway_config config = {
        .alloc = il_host_alloc(),
        .monitor = c->monitor,
        .batch = &c->batch,
        .policy = c->m.policy.policy,
        .session = IL_STR("s1"),
        .name = IL_STR("in"),
        .command = command,
        .log = &log,
        .in = in[0],
        .out = out[1],
    };
    vfs_arm(VFS_WRITE, fails, sticky, VFS_FULL);
    c->code = il_gateway_run(&config);
    (void)vfs_disarm(failed);
    (void)close(in[0]);
    (void)close(out[1]);
    turn_read(c, out[0]);
    (void)close(out[0]);
    char bytes[64];
    const int seen = open(c->seen, O_RDONLY | O_CLOEXEC);
    const ssize_t got = seen >= 0 ? read(seen, bytes, sizeof bytes) : 0;
    c->called = got > 0 ? (size_t)got : 0;
    if (seen >= 0) {
        (void)close(seen);
    }
    turn_close(c);
}

/* Many calls that end at once are one transaction too: while the ledger is locked the gateway waits for it once, and not once a call. */
static void turn_all_fail(turn_case *c, bool locks) {
    bool failed = false;
    c->script = turn_dies;
    c->locks = locks;
    turn_go(c, 0, false, &failed);
    assert_true(c->code == 0 || c->code == 4); /* whether the client had gone before */
    assert_int_equal(c->called, TURN_CALLS);
    assert_int_equal(c->decisions, TURN_CALLS);
    assert_int_equal(turn_count(c->out, "the call MAY have run"), TURN_CALLS);
    assert_int_equal(c->settles, locks ? 0 : TURN_CALLS); /* open until their own deadline */
    assert_in_range(c->begins, 1, 2);                     /* and the call that is denied may come after it */
    assert_int_equal(c->waited, locks ? c->begins : 0);
}

static void turn_fails_together(void **state) { turn_all_fail(*state, false); }
static void turn_waits_once(void **state) { turn_all_fail(*state, true); }

static void turn_whole(void **state) {
    turn_case *c = *state;
    bool failed = false;
    turn_go(c, 0, false, &failed);
    assert_int_equal(c->code, 0);
    assert_int_equal(c->called, TURN_CALLS);
    assert_int_equal(c->released, TURN_CALLS);
    assert_int_equal(c->refused, 1);
    assert_int_equal(turn_count(c->out, "unlabelled-tool"), 2); /* in its text and its data */
    assert_int_equal(c->decisions, TURN_CALLS);
    assert_int_equal(c->settles, TURN_CALLS);
}

static void turn_every_write(turn_case *c, bool sticky) {
    const size_t step = getenv("IL_TEST_THOROUGH") != NULL ? 1 : TURN_STEP;
    size_t together = 0, n = 1;
    bool failed = true;
    for (; failed && n < 400; n += step) {
        turn_go(c, n, sticky, &failed);
        assert_int_equal(c->code, 0);
        assert_int_equal(c->called, c->decisions); /* decided and recorded is called, and nothing else is */
        assert_int_equal(c->released, c->settles);
        assert_int_equal(c->released + c->refused, TURN_CALLS + 1);
        assert_true(c->called >= c->released);
        assert_true(!failed || c->faults > 0);
        together = c->refused > together ? c->refused : together;
    }
    assert_true(n > 3 * step); /* there was something to fail */
    assert_true(together > 4); /* and one failure was that of many */
}

static void turn_one_write_fails(void **state) { turn_every_write(*state, false); }
static void turn_writes_fail(void **state) { turn_every_write(*state, true); }

static int turn_setup(void **state) {
    static turn_case c;
    c = (turn_case){.script = turn_script};
    monitor_case_init(&c.m, monitor_policy);
    *state = &c;
    return 0;
}

static int turn_teardown(void **state) {
    turn_case *c = *state;
    monitor_case_free(&c->m);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(turn_whole, turn_setup, turn_teardown),
        cmocka_unit_test_setup_teardown(turn_fails_together, turn_setup, turn_teardown),
        cmocka_unit_test_setup_teardown(turn_waits_once, turn_setup, turn_teardown),
        cmocka_unit_test_setup_teardown(turn_one_write_fails, turn_setup, turn_teardown),
        cmocka_unit_test_setup_teardown(turn_writes_fail, turn_setup, turn_teardown),
    };
    vfs_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
