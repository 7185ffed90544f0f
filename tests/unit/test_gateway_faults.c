/* SPDX-License-Identifier: Apache-2.0 */
/* A whole session of the gateway (a list, calls, a server that dies and is started again) while one thing fails at every point where it can: an
 * allocation, the gateway's own or the event loop's; a write to the client or to the server; the store. Whatever fails: it does not crash, it
 * ends, no call reaches the server without a recorded decision, no result reaches the client without a recorded settle, and nothing is left.
 * IL_TEST_THOROUGH=1 takes every point; else every seventh. */
#include "helper_monitor.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "mcp/gateway.h"

#define FAULTS_STEP 7
#define FAULTS_WAIT_MS 300000 /* for a hang; no answer depends on a timeout */

/* Answers by the ids that it gets. `$1` gets a byte for each call that arrives: `x`, or `d` before it dies of it. */
static const char faults_script[] =
    "while read -r line; do id=${line#*'\"id\":'}; id=${id%%,*}; case \"$line\" in\n"
    "*'\"initialize\"'*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
    "{\"tools\":{\"listChanged\":true},\"logging\":{}},\"serverInfo\":{\"name\":\"t\",\"version\":\"1\"}}}';;\n"
    "*tools/list*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"tools\":[],\"nextCursor\":\"c\"}}';;\n"
    "*'\"name\":\"n\"'*) printf d >>\"$1\"; exit 9;;\n"
    "*tools/call*) printf x >>\"$1\"; echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":"
    "\"info\",\"data\":\"hello\"}}'; echo "
    "'{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"RELEASED\"}]}}';;\n"
    "esac; done\n";

typedef enum faults_face { FAULTS_NO_FACE = 0, FAULTS_CLIENT, FAULTS_SERVER } faults_face;

typedef struct faults_plan {
    size_t alloc;     /* the allocation that fails, from 1; 0: none */
    size_t write;     /* the write that fails, from 1; 0: none */
    faults_face face; /* of the write */
    int error;        /* of the write; 0: it writes one byte alone, EAGAIN once */
    size_t store;     /* good calls of the store before all fail; SIZE_MAX: never */
    bool on;          /* all later allocations or writes fail too */
} faults_plan;

typedef struct faults_report { /* of the process that is the gateway, by a pipe */
    int code;
    size_t live, allocs, writes, decisions, settles;
    bool children;
} faults_report;

typedef struct faults_case {
    monitor_case m;
    char seen[64];
    char out[1 << 18]; /* what the client got */
    size_t n;
    faults_report report;
    size_t calls, deaths, released, unanswered;
} faults_case;

/* --- what fails: state of the gateway's process ------------------------------------------------ */

static struct {
    faults_plan plan;
    size_t live, allocs, writes;
    pid_t self;
    int client; /* the gateway's end of the client's face */
} faults_state;

static bool faults_no_memory(void) {
    const size_t n = ++faults_state.allocs, at = faults_state.plan.alloc;
    return at != 0 && (n == at || (faults_state.plan.on && n > at));
}

static void *faults_malloc(size_t n) {
    void *p = faults_no_memory() ? NULL : malloc(n == 0 ? 1 : n);
    faults_state.live += p != NULL;
    return p;
}

static void faults_free(void *p) {
    faults_state.live -= p != NULL;
    free(p);
}

static void *faults_realloc(void *p, size_t n) {
    if (p == NULL || n == 0) {
        faults_free(p);
        return n == 0 && p != NULL ? NULL : faults_malloc(n);
    }
    return faults_no_memory() ? NULL : realloc(p, n);
}

static void faults_hush(int severity, const char *text) {
    (void)severity;
    (void)text;
}

static void *faults_get(void *ctx, size_t n) {
    (void)ctx;
    return faults_malloc(n);
}

static void faults_put(void *ctx, void *p) {
    (void)ctx;
    faults_free(p);
}

/* Takes the place of the C library's for this program. */
ssize_t write(int fd, const void *p, size_t n) {
    struct stat s;
    const faults_plan *plan = &faults_state.plan;
    const bool ours = faults_state.self == getpid() && plan->face != FAULTS_NO_FACE && fstat(fd, &s) == 0 &&
                      S_ISFIFO(s.st_mode) && (fd == faults_state.client) == (plan->face == FAULTS_CLIENT);
    if (ours) {
        faults_state.writes++;
        if (plan->write != 0 && (faults_state.writes == plan->write || (plan->on && faults_state.writes > plan->write))) {
            if (plan->error != 0) {
                errno = plan->error;
                return -1;
            }
            n = n > 1 ? 1 : n;
        }
    }
    return (ssize_t)syscall(SYS_write, fd, p, n);
}

/* --- the gateway's process --------------------------------------------------------------------- */

static _Noreturn void faults_gateway(faults_case *c, const faults_plan *plan, int in, int out, int report) {
    char sh[] = "/bin/sh", flag[] = "-c", zero[] = "sh", script[sizeof faults_script];
    memcpy(script, faults_script, sizeof script);
    char *command[] = {sh, flag, script, zero, c->seen, NULL};
    il_log log = {.fd = -1, .level = IL_LOG_ERROR};
    const il_alloc alloc = {faults_get, faults_put, NULL};
    event_set_mem_functions(faults_malloc, faults_realloc, faults_free);
    event_set_log_callback(faults_hush);
    faults_state.plan = *plan;
    faults_state.self = getpid();
    faults_state.client = out;
    c->m.store.fail_after = plan->store;
    const il_gateway_config config = {
        .alloc = &alloc,
        .monitor = c->m.monitor,
        .policy = c->m.policy.policy,
        .session = IL_STR("s1"),
        .name = IL_STR("in"),
        .command = command,
        .log = &log,
        .in = in,
        .out = out,
        .call_timeout_ms = 120000,
        .start_timeout_ms = 120000,
        .restarts = 2,
        .restart_ms = 1,
    };
    faults_report r = {.code = il_gateway_run(&config)};
    libevent_global_shutdown();
    r.live = faults_state.live;
    r.allocs = faults_state.allocs;
    r.writes = faults_state.writes;
    r.decisions = monitor_rows(&c->m, "decision");
    r.settles = monitor_rows(&c->m, "settle");
    r.children = !(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    faults_state.plan = (faults_plan){0};
    (void)!write(report, &r, sizeof r);
    _exit(0);
}

/* --- the client -------------------------------------------------------------------------------- */

/* Reads more; false at the end. */
static bool faults_read(faults_case *c, int fd) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, FAULTS_WAIT_MS), 1);
    const ssize_t got = read(fd, c->out + c->n, sizeof c->out - 1 - c->n);
    assert_true(got >= 0);
    c->n += (size_t)got;
    c->out[c->n] = '\0';
    return got > 0;
}

/* The line that answers `id`; NULL when there is none (yet). */
static const char *faults_answer(const faults_case *c, const char *id) {
    char start[64];
    (void)snprintf(start, sizeof start, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",", id);
    return strstr(c->out, start);
}

/* Sends and waits for the answer; NULL when the gateway has ended. */
static const char *faults_ask(faults_case *c, int to, int from, const char *id, const char *rest) {
    char line[512];
    const int n = snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",%s}\n", id, rest);
    if (write(to, line, (size_t)n) != n) {
        assert_int_equal(errno, EPIPE);
        return NULL;
    }
    const char *answer = NULL;
    while ((answer = faults_answer(c, id)) == NULL || strchr(answer, '\n') == NULL) {
        if (!faults_read(c, from)) {
            c->unanswered++;
            return NULL;
        }
    }
    return answer;
}

static bool faults_line_has(const char *line, const char *part) {
    const char *end = line == NULL ? NULL : strchr(line, '\n'), *at = line == NULL ? NULL : strstr(line, part);
    return at != NULL && at < end;
}

static void faults_talk(faults_case *c, int to, int from) {
    static const char note[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    static const char call[] =
        "\"method\":\"tools/call\",\"params\":{\"name\":\"u\",\"arguments\":{\"a\":1},\"_meta\":{\"progressToken\":1}}";
    char id[16];
    if (faults_ask(
            c, to, from, "i",
            "\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{}}") ==
            NULL ||
        write(to, note, sizeof note - 1) < 0 || faults_ask(c, to, from, "l", "\"method\":\"tools/list\"") == NULL ||
        faults_ask(c, to, from, "c0", call) == NULL ||
        faults_ask(c, to, from, "d", "\"method\":\"tools/call\",\"params\":{\"name\":\"n\"}") == NULL) {
        return;
    }
    for (int i = 1; i < 60000; i++) { /* until it is back, or gone for good */
        (void)snprintf(id, sizeof id, "c%d", i);
        const char *answer = faults_ask(c, to, from, id, call);
        if (answer == NULL || !faults_line_has(answer, "is being restarted")) {
            break;
        }
        (void)poll(NULL, 0, 5);
    }
    (void)faults_ask(c, to, from, "p", "\"method\":\"ping\"");
}

static void faults_go(faults_case *c, const faults_plan *plan) {
    int in[2], out[2], report[2], status = 0;
    monitor_again(&c->m);
    (void)unlink(c->seen);
    c->n = c->calls = c->deaths = c->released = c->unanswered = 0;
    c->out[0] = '\0';
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(report, O_CLOEXEC), 0);
    const pid_t gateway = fork();
    assert_true(gateway >= 0);
    if (gateway == 0) {
        (void)close(in[1]);
        (void)close(out[0]);
        (void)close(report[0]);
        faults_gateway(c, plan, in[0], out[1], report[1]);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    (void)close(report[1]);
    faults_talk(c, in[1], out[0]);
    (void)close(in[1]);
    while (faults_read(c, out[0])) {
    }
    (void)close(out[0]);
    const ssize_t got = read(report[0], &c->report, sizeof c->report);
    (void)close(report[0]);
    assert_int_equal(waitpid(gateway, &status, 0), gateway);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0); /* no crash */
    assert_int_equal(got, sizeof c->report);
    char bytes[512];
    const int seen = open(c->seen, O_RDONLY | O_CLOEXEC);
    const ssize_t n = seen < 0 ? 0 : read(seen, bytes, sizeof bytes);
    for (ssize_t i = 0; i < n; i++) {
        c->calls += bytes[i] == 'x';
        c->deaths += bytes[i] == 'd';
    }
    if (seen >= 0) {
        (void)close(seen);
    }
}

/* What holds whatever fails. `torn`: the client's last line may be cut. */
static void faults_hold(faults_case *c, bool torn) {
    const il_alloc *alloc = &c->m.policy.memory.alloc;
    for (char *line = c->out; *line != '\0';) {
        char *end = strchr(line, '\n');
        il_json_doc *doc = NULL;
        if (end == NULL) {
            assert_true(torn);
            break;
        }
        assert_int_equal(il_json_doc_new(alloc, (il_str){line, (size_t)(end - line)}, NULL, &doc, NULL), IL_OK);
        const il_json *id = il_json_get(il_json_doc_root(doc), IL_STR("id"));
        if (il_json_kind_of(id) == IL_JSON_STRING) { /* one answer each */
            char text[16];
            (void)snprintf(text, sizeof text, "%.*s", IL_STR_ARG(il_json_text(id)));
            const char *first = faults_answer(c, text);
            assert_ptr_equal(first, line);
        }
        il_json_doc_free(doc);
        c->released += faults_line_has(line, "RELEASED");
        line = end + 1;
    }
    const faults_report *r = &c->report;
    assert_true(c->calls + c->deaths <= r->decisions);                 /* recorded before it left */
    assert_true(c->released <= r->settles && c->released <= c->calls); /* recorded before it came back */
    assert_true(c->deaths <= 1);                                       /* never sent again */
    assert_int_equal(r->live, 0);
    assert_false(r->children);
    assert_true(r->code == 0 || (r->code >= 3 && r->code <= 5));
}

static size_t faults_step(void) { return getenv("IL_TEST_THOROUGH") != NULL ? 1 : FAULTS_STEP; }

static const faults_plan faults_none = {.store = SIZE_MAX};

/* The session without a fault: what the others are compared to. */
static faults_report faults_whole(faults_case *c, faults_face face) {
    faults_plan plan = faults_none;
    plan.face = face;
    faults_go(c, &plan);
    faults_hold(c, false);
    assert_int_equal(c->report.code, 0);
    assert_int_equal(c->released, 2);
    assert_int_equal(c->calls, 2);
    assert_int_equal(c->deaths, 1);
    assert_int_equal(c->unanswered, 0);
    assert_non_null(strstr(c->out, "MAY have run"));
    assert_non_null(strstr(c->out, "tools/list_changed"));
    return c->report;
}

static void faults_memory(void **state) {
    faults_case *c = *state;
    const size_t allocs = faults_whole(c, FAULTS_NO_FACE).allocs;
    size_t stopped = 0;
    assert_true(allocs > 60);
    for (size_t at = 1; at <= allocs + 2; at += faults_step()) {
        for (int on = 0; on < 2; on++) {
            faults_plan plan = faults_none;
            plan.alloc = at;
            plan.on = on == 1;
            faults_go(c, &plan);
            faults_hold(c, false);
            assert_true(c->report.code == 3 || c->report.code == 5 || c->unanswered == 0);
            stopped += c->report.code == 5;
        }
    }
    assert_true(stopped > 4);
}

static void faults_write(void **state) {
    faults_case *c = *state;
    static const int errors[] = {EPIPE, EIO, EAGAIN, 0};
    for (faults_face face = FAULTS_CLIENT; face <= FAULTS_SERVER; face++) {
        const size_t writes = faults_whole(c, face).writes;
        size_t hit = 0;
        assert_true(writes >= 6);
        for (size_t at = 1; at <= writes; at += faults_step() > 1 ? 3 : 1) {
            for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
                const bool passes = errors[i] == EAGAIN || errors[i] == 0; /* a full pipe: the rest comes later */
                faults_plan plan = faults_none;
                plan.face = face;
                plan.write = at;
                plan.error = errors[i];
                plan.on = !passes && at % 2 == 0;
                faults_go(c, &plan);
                faults_hold(c, face == FAULTS_CLIENT && !passes);
                if (passes) {
                    assert_int_equal(c->report.code, 0);
                    assert_int_equal(c->released, 2);
                    assert_int_equal(c->unanswered, 0);
                } else if (face == FAULTS_SERVER) { /* the server is lost, the client is not */
                    assert_true(c->unanswered == 0 || c->report.code == 3);
                    hit += c->released < 2 || c->report.code != 0;
                } else {
                    hit += c->unanswered > 0;
                }
            }
        }
        assert_true(hit > 1);
    }
}

static void faults_store(void **state) {
    faults_case *c = *state;
    size_t denied = 0, withheld = 0;
    for (size_t after = 0; after<24; after += faults_step()> 1 ? 3 : 1) {
        faults_plan plan = faults_none;
        plan.store = after;
        faults_go(c, &plan);
        faults_hold(c, false);
        assert_int_equal(c->unanswered, 0);
        denied += c->calls == 0;
        withheld += c->calls > c->released;
    }
    assert_true(denied > 0 && withheld > 0);
}

static int faults_setup(void **state) {
    faults_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    (void)signal(SIGPIPE, SIG_IGN);
    monitor_case_init(&c->m, monitor_policy);
    memcpy(c->seen, "/tmp/interlock-faults-XXXXXX", sizeof "/tmp/interlock-faults-XXXXXX");
    const int fd = mkstemp(c->seen);
    assert_true(fd >= 0);
    (void)close(fd);
    *state = c;
    return 0;
}

static int faults_teardown(void **state) {
    faults_case *c = *state;
    (void)unlink(c->seen);
    monitor_case_free(&c->m);
    free(c);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(faults_memory, faults_setup, faults_teardown),
        cmocka_unit_test_setup_teardown(faults_write, faults_setup, faults_teardown),
        cmocka_unit_test_setup_teardown(faults_store, faults_setup, faults_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
