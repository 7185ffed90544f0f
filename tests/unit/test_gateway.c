/* SPDX-License-Identifier: Apache-2.0 */
/* The whole gateway in this process, in front of a shell script, while memory or the store fails at every possible point:
 * no call leaves before its decision is recorded, no result is released before its settle is, and nothing is left behind. */
#include "helper_memory.h"
#include "helper_monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "mcp/gateway.h"

/* Our ids are 1 for initialize and 2 for the call. `$1` gets a byte for each call that arrives. */
static const char gateway_script[] =
    "while read -r line; do case \"$line\" in\n"
    "*'\"initialize\"'*) echo "
    "'{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
    "\"serverInfo\":{\"name\":\"t\",\"version\":\"1\"}}}';;\n"
    "*tools/call*) printf x >>\"$1\"; echo "
    "'{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"RELEASED\"}]}}';;\n"
    "esac; done\n";

static const char gateway_input[] =
    "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
    "{},\"clientInfo\":{}}}\n"
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
    "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/"
    "call\",\"params\":{\"name\":\"u\",\"arguments\":{\"a\":1},\"_meta\":{\"progressToken\":1}}}\n";

typedef struct gateway_case {
    monitor_case m;
    char seen[64];  /* the file of the script */
    char out[8192]; /* what the client got */
    size_t called;  /* calls that reached the server */
    bool released, refused;
    int code;
} gateway_case;

static void gateway_read_out(gateway_case *c, int fd) {
    size_t n = 0;
    for (ssize_t got; (got = read(fd, c->out + n, sizeof c->out - 1 - n)) > 0;) {
        n += (size_t)got;
    }
    c->out[n] = '\0';
    c->released = strstr(c->out, "RELEASED") != NULL;
    c->refused = strstr(c->out, "\"isError\":true") != NULL;
    const il_alloc *alloc = &c->m.policy.memory.alloc;
    for (char *line = c->out; *line != '\0';) { /* whole messages, nothing else */
        char *end = strchr(line, '\n');
        il_json_doc *doc = NULL;
        assert_non_null(end);
        assert_int_equal(il_json_doc_new(alloc, (il_str){line, (size_t)(end - line)}, NULL, &doc, NULL), IL_OK);
        assert_true(il_str_eq(il_json_text(il_json_get(il_json_doc_root(doc), IL_STR("jsonrpc"))), IL_STR("2.0")));
        il_json_doc_free(doc);
        line = end + 1;
    }
}

static void gateway_go(gateway_case *c, const il_alloc *alloc) {
    int in[2], out[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(write(in[1], gateway_input, sizeof gateway_input - 1), sizeof gateway_input - 1);
    (void)close(in[1]);
    (void)unlink(c->seen);
    char sh[] = "/bin/sh", flag[] = "-c", zero[] = "sh", script[sizeof gateway_script];
    memcpy(script, gateway_script, sizeof script);
    char *command[] = {sh, flag, script, zero, c->seen, NULL};
    il_log log = {.fd = -1, .level = IL_LOG_ERROR};
    const il_gateway_config config = {
        .alloc = alloc,
        .monitor = c->m.monitor,
        .policy = c->m.policy.policy,
        .session = IL_STR("s1"),
        .name = IL_STR("in"),
        .command = command,
        .log = &log,
        .in = in[0],
        .out = out[1],
    };
    c->code = il_gateway_run(&config);
    (void)close(in[0]);
    (void)close(out[1]);
    gateway_read_out(c, out[0]);
    (void)close(out[0]);
    const int seen = open(c->seen, O_RDONLY | O_CLOEXEC);
    char bytes[8];
    c->called = 0;
    if (seen >= 0) {
        c->called = (size_t)read(seen, bytes, sizeof bytes);
        (void)close(seen);
    }
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static void gateway_invariants(gateway_case *c) {
    assert_true(c->called <= 1);
    if (c->called > 0) {
        assert_true(monitor_rows(&c->m, "decision") == 1); /* recorded before it left */
    }
    if (c->released) {
        assert_true(c->called == 1 && monitor_rows(&c->m, "settle") == 1); /* recorded before it came back */
        assert_false(c->refused);
    }
    if (c->code == 0) { /* an orderly run answers every request */
        assert_true(c->released || c->refused);
        assert_non_null(strstr(c->out, "\"id\":\"i\""));
    }
}

static int gateway_setup(void **state) {
    gateway_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    monitor_case_init(&c->m, monitor_policy);
    memcpy(c->seen, "/tmp/interlock-gateway-XXXXXX", sizeof "/tmp/interlock-gateway-XXXXXX");
    const int fd = mkstemp(c->seen);
    assert_true(fd >= 0);
    (void)close(fd);
    *state = c;
    return 0;
}

static int gateway_teardown(void **state) {
    gateway_case *c = *state;
    (void)unlink(c->seen);
    monitor_case_free(&c->m);
    free(c);
    return 0;
}

static void gateway_without_memory(void **state) {
    gateway_case *c = *state;
    test_memory memory;
    size_t stopped = 0, left = 0;
    do {
        monitor_again(&c->m);
        test_memory_init(&memory, left);
        gateway_go(c, &memory.alloc);
        gateway_invariants(c);
        assert_int_equal(memory.live, 0);
        assert_true(c->code == 0 || (c->code >= 3 && c->code <= 5));
        stopped += c->code == 5;
    } while (c->code != 0 && left++ < 200);
    assert_true(stopped > 8 && c->code == 0 && c->released);
}

static void gateway_without_store(void **state) {
    gateway_case *c = *state;
    test_memory memory;
    size_t denied = 0, withheld = 0, released = 0;
    for (size_t after = 0; after < 24; after++) {
        monitor_again(&c->m);
        c->m.store.fail_with = IL_E_IO;
        c->m.store.fail_after = after;
        test_memory_init(&memory, SIZE_MAX);
        gateway_go(c, &memory.alloc);
        gateway_invariants(c);
        assert_int_equal(c->code, 0);
        denied += c->refused && c->called == 0;
        withheld += c->refused && c->called == 1;
        released += c->released;
        c->m.store.fail_after = SIZE_MAX;
    }
    assert_true(denied > 0 && withheld > 0 && released > 0);
}

static void gateway_without_clock_or_chance(void **state) {
    gateway_case *c = *state;
    test_memory memory;
    for (int i = 0; i < 2; i++) {
        monitor_again(&c->m);
        c->m.no_clock = i == 1;
        test_memory_init(&memory, SIZE_MAX);
        gateway_go(c, &memory.alloc);
        assert_true(i == 0 ? c->released : c->refused && c->called == 0);
        c->m.no_clock = false;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gateway_without_memory, gateway_setup, gateway_teardown),
        cmocka_unit_test_setup_teardown(gateway_without_store, gateway_setup, gateway_teardown),
        cmocka_unit_test_setup_teardown(gateway_without_clock_or_chance, gateway_setup, gateway_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
