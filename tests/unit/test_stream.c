/* SPDX-License-Identifier: Apache-2.0 */
/* Reader, writer, upstream and log on real descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/utf8.h"
#include "mcp/upstream.h"
#include "net/log.h"
#include "net/reader.h"
#include "net/writer.h"

typedef struct stream_memory { /* fails the n-th allocation; 0: none */
    size_t count, fail;
    long live;
} stream_memory;

static void *stream_get(void *ctx, size_t n) {
    stream_memory *m = ctx;
    if (++m->count == m->fail) {
        return NULL;
    }
    m->live++;
    return malloc(n);
}

static void stream_give(void *ctx, void *p) {
    stream_memory *m = ctx;
    m->live -= p != NULL;
    free(p);
}

typedef struct stream_test {
    stream_memory memory;
    il_alloc alloc;
    il_loop *loop;
    il_reader *reader;
    il_writer *writer;
    int ends[2];
    size_t lines, bytes, pause_every, fulls, lows, failures;
    bool ended;
    int error;
    char last[64];
} stream_test;

static void stream_open(stream_test *t) {
    *t = (stream_test){0};
    t->alloc = (il_alloc){stream_get, stream_give, &t->memory};
    assert_int_equal(pipe2(t->ends, O_CLOEXEC), 0);
    assert_int_equal(il_loop_new(&t->alloc, false, &t->loop, NULL), IL_OK);
}

static void stream_close(stream_test *t) {
    il_reader_free(t->reader);
    il_writer_free(t->writer);
    il_loop_free(t->loop);
    (void)close(t->ends[0]);
    (void)close(t->ends[1]);
    assert_int_equal(t->memory.live, 0);
}

static void stream_on_line(void *ctx, il_str line) {
    stream_test *t = ctx;
    t->lines++;
    t->bytes += line.n;
    (void)il_log_escape(t->last, sizeof t->last, line);
    if (t->pause_every > 0 && t->lines % t->pause_every == 0) {
        il_reader_pause(t->reader);
        il_loop_stop(t->loop);
    }
}

static void stream_on_too_long(void *ctx) { (void)ctx; }

static void stream_on_end(void *ctx, int error) {
    stream_test *t = ctx;
    assert_false(t->ended);
    t->ended = true;
    t->error = error;
    il_loop_stop(t->loop);
}

static void stream_on_full(void *ctx, bool full) {
    stream_test *t = ctx;
    t->fulls += full;
    t->lows += !full;
}

static void stream_on_failed(void *ctx, int error) {
    stream_test *t = ctx;
    t->failures++;
    t->error = error;
    il_loop_stop(t->loop);
}

static const il_reader_calls stream_reads = {stream_on_line, stream_on_too_long, stream_on_end};
static const il_writer_calls stream_writes = {stream_on_full, stream_on_failed};

static void stream_reader_pauses_and_ends(void **state) {
    (void)state;
    stream_test t;
    stream_open(&t);
    assert_int_equal(write(t.ends[1], "a\nbb\nccc\ndddd", 13), 13);
    (void)close(t.ends[1]);
    assert_int_equal(il_reader_new(&t.alloc, t.loop, t.ends[0], 100, true, &stream_reads, &t, &t.reader, NULL), IL_OK);
    t.pause_every = 1;
    for (size_t i = 1; i <= 4; i++) { /* one line each time, although all came in one read */
        il_reader_resume(t.reader);
        assert_int_equal(il_loop_run(t.loop, NULL), IL_OK);
        assert_int_equal(t.lines, i);
        assert_false(t.ended);
    }
    assert_string_equal(t.last, "dddd");
    il_reader_resume(t.reader);
    assert_int_equal(il_loop_run(t.loop, NULL), IL_OK);
    assert_true(t.ended && t.error == 0 && t.lines == 4 && il_reader_ended(t.reader));
    stream_close(&t);
}

static void stream_reader_leaves_out_a_cut_line(void **state) {
    (void)state;
    stream_test t;
    stream_open(&t);
    assert_int_equal(write(t.ends[1], "a\ncut", 5), 5);
    (void)close(t.ends[1]);
    assert_int_equal(il_reader_new(&t.alloc, t.loop, t.ends[0], 100, false, &stream_reads, &t, &t.reader, NULL), IL_OK);
    il_reader_resume(t.reader);
    assert_int_equal(il_loop_run(t.loop, NULL), IL_OK);
    assert_true(t.ended && t.lines == 1);
    stream_close(&t);
}

static void stream_writer_queues_in_order(void **state) {
    (void)state;
    stream_test t;
    stream_open(&t);
    const int before = fcntl(t.ends[1], F_GETFL);
    assert_int_equal(il_writer_new(&t.alloc, t.loop, t.ends[1], 100000, 2000000, &stream_writes, &t, &t.writer, NULL), IL_OK);
    static char line[50000];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    size_t sent = 0;
    il_error err = {0};
    while (il_writer_put(t.writer, (il_str){line, sizeof line}, &err) == IL_OK) {
        sent++;
    }
    assert_int_equal(err.code, IL_E_LIMIT); /* bounded */
    assert_true(sent >= 40 && il_writer_waiting(t.writer) <= 2000000 && t.fulls == 1 && t.lows == 0);
    assert_int_equal(il_reader_new(&t.alloc, t.loop, t.ends[0], sizeof line, false, &stream_reads, &t, &t.reader, NULL), IL_OK);
    il_reader_resume(t.reader);
    t.pause_every = sent;
    assert_int_equal(il_loop_run(t.loop, NULL), IL_OK);
    assert_int_equal(t.lines, sent);
    assert_int_equal(t.bytes, sent * (sizeof line - 1));
    assert_true(il_writer_waiting(t.writer) == 0 && t.fulls == 1 && t.lows == 1);
    il_writer_free(t.writer);
    t.writer = NULL;
    assert_int_equal(fcntl(t.ends[1], F_GETFL), before);
    stream_close(&t);
}

static void stream_writer_without_reader(void **state) {
    (void)state;
    stream_test t;
    stream_open(&t);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)close(t.ends[0]);
    assert_int_equal(il_writer_new(&t.alloc, t.loop, t.ends[1], 100, 1000, &stream_writes, &t, &t.writer, NULL), IL_OK);
    assert_int_equal(il_writer_put(t.writer, IL_STR("a\n"), NULL), IL_E_IO);
    assert_int_equal(t.failures, 0); /* told from the loop only */
    assert_int_equal(il_writer_put(t.writer, IL_STR("b\n"), NULL), IL_E_IO);
    assert_int_equal(il_loop_run(t.loop, NULL), IL_OK);
    assert_true(t.failures == 1 && t.error == EPIPE);
    stream_close(&t);
}

static void stream_without_memory(void **state) {
    (void)state;
    size_t refused = 0;
    for (size_t fail = 2; fail < 7; fail++) { /* the first is the loop's */
        stream_test t;
        stream_open(&t);
        t.memory.fail = fail;
        static char line[200000];
        memset(line, 'x', sizeof line);
        line[sizeof line - 1] = '\n';
        const il_status reader =
            il_reader_new(&t.alloc, t.loop, t.ends[0], sizeof line, true, &stream_reads, &t, &t.reader, NULL);
        const il_status writer = il_writer_new(&t.alloc, t.loop, t.ends[1], 100000, 2000000, &stream_writes, &t, &t.writer, NULL);
        assert_true((reader == IL_OK) == (t.reader != NULL) && (writer == IL_OK) == (t.writer != NULL));
        refused += reader == IL_E_MEMORY;
        refused += writer == IL_E_MEMORY;
        if (reader == IL_OK && writer == IL_OK) {
            const il_status put = il_writer_put(t.writer, (il_str){line, sizeof line}, NULL);
            refused += put == IL_E_MEMORY;
            t.pause_every = 1;
            il_reader_resume(t.reader);
            if (put == IL_OK) {
                assert_int_equal(il_loop_run(t.loop, NULL), IL_OK);
                assert_true(t.lines == 1 || (t.ended && t.error == ENOMEM));
                refused += t.ended;
            }
        }
        stream_close(&t);
    }
    assert_true(refused >= 4);
}

static void stream_loop_takes_files(void **state) {
    (void)state;
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC), file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    stream_test t;
    stream_open(&t);
    assert_true(il_loop_odd_fd(null) && il_loop_odd_fd(file) && !il_loop_odd_fd(t.ends[0]));
    il_loop_free(t.loop);
    assert_int_equal(il_loop_new(&t.alloc, true, &t.loop, NULL), IL_OK);
    assert_int_equal(il_reader_new(&t.alloc, t.loop, null, 100, true, &stream_reads, &t, &t.reader, NULL), IL_OK);
    il_reader_resume(t.reader);
    assert_int_equal(il_loop_run(t.loop, NULL), IL_OK);
    assert_true(t.ended && t.error == 0);
    stream_close(&t);
    (void)close(null);
    (void)close(file);
}

/* --- upstream --- */

static void upstream_on_line(void *ctx, il_str line) { stream_on_line(ctx, line); }

static void upstream_on_full(void *ctx, bool full) {
    (void)ctx;
    (void)full;
}

static void upstream_on_gone(void *ctx, const char *why) {
    stream_test *t = ctx;
    (void)il_log_escape(t->last, sizeof t->last, il_str_of(why));
    il_loop_stop(t->loop);
}

static void upstream_on_stopped(void *ctx) {
    stream_test *t = ctx;
    t->ended = true;
    il_loop_stop(t->loop);
}

static const il_upstream_calls upstream_calls = {upstream_on_line, stream_on_too_long, upstream_on_full, upstream_on_gone,
                                                 upstream_on_stopped};

static size_t stream_descriptors(void) {
    size_t n = 0;
    for (int fd = 0; fd < 256; fd++) {
        n += fcntl(fd, F_GETFD) != -1;
    }
    return n;
}

static void upstream_starts_or_leaves_nothing(void **state) {
    (void)state;
    const char *const commands[][4] = {{"/bin/cat", NULL}, {"/nonexistent/server", NULL}, {"/etc/passwd", NULL}};
    for (size_t c = 0; c < 3; c++) {
        for (size_t fail = 0; fail < 10; fail++) {
            stream_test t;
            const size_t before = stream_descriptors();
            stream_open(&t);
            t.memory.fail = fail == 0 ? 0 : fail + 1;
            char word[32];
            (void)il_format(word, sizeof word, "%s", commands[c][0]);
            char *command[] = {word, NULL};
            il_log log = {.fd = 2, .level = IL_LOG_ERROR};
            const il_upstream_config config = {
                .name = IL_STR("t"), .command = command, .max_line = 100, .high = 100, .max_waiting = 1000, .log = &log};
            il_upstream *u = NULL;
            il_error err = {0};
            const il_status st = il_upstream_start(&t.alloc, t.loop, &config, &upstream_calls, &t, &u, &err);
            assert_true((st == IL_OK) == (u != NULL));
            if (fail == 0) {
                assert_int_equal(st, c == 0 ? IL_OK : c == 1 ? IL_E_NOT_FOUND : IL_E_IO);
                assert_true(c == 0 || il_str_find(il_str_of(err.msg), il_str_of(word), 0) != SIZE_MAX);
            }
            il_upstream_free(u);
            assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD); /* reaped */
            stream_close(&t);
            assert_int_equal(stream_descriptors(), before);
        }
    }
}

static void stream_on_time(void *ctx) {
    const stream_test *t = ctx;
    il_loop_stop(t->loop);
}

static void upstream_speaks_and_stops(void **state) {
    (void)state;
    stream_test t;
    stream_open(&t);
    char word[] = "/bin/cat";
    char *command[] = {word, NULL};
    il_log log = {.fd = 2, .level = IL_LOG_ERROR};
    const il_upstream_config config = {
        .name = IL_STR("t"), .command = command, .max_line = 100, .high = 100, .max_waiting = 1000, .log = &log};
    il_upstream *u = NULL;
    assert_int_equal(il_upstream_start(&t.alloc, t.loop, &config, &upstream_calls, &t, &u, NULL), IL_OK);
    assert_int_equal(il_upstream_put(u, IL_STR("hello\n"), NULL), IL_OK);
    il_upstream_resume(u);
    t.reader = NULL;
    while (t.lines == 0) {
        il_timer *timer = NULL;
        assert_int_equal(il_timer_new(t.loop, stream_on_time, &t, &timer, NULL), IL_OK);
        il_timer_set(timer, 10);
        assert_int_equal(il_loop_run(t.loop, NULL), IL_OK);
        il_timer_free(timer);
    }
    assert_string_equal(t.last, "hello");
    il_upstream_stop(u);
    assert_int_equal(il_upstream_put(u, IL_STR("x\n"), NULL), IL_E_IO);
    while (!t.ended) {
        assert_int_equal(il_loop_run(t.loop, NULL), IL_OK);
    }
    assert_string_equal(t.last, "hello"); /* what was asked for is not reported as a death */
    il_upstream_free(u);
    stream_close(&t);
}

static void upstream_death_has_a_reason(void **state) {
    (void)state;
    static const struct {
        const char *script, *why;
    } rows[] = {
        {"echo last; exit 3", "exited with status 3"},
        {"kill -KILL $$", "was ended by signal 9"},
        {"exec >&-; sleep 5", "closed its output"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        stream_test t;
        stream_open(&t);
        char sh[] = "/bin/sh", flag[] = "-c", script[64];
        (void)il_format(script, sizeof script, "%s", rows[i].script);
        char *command[] = {sh, flag, script, NULL};
        il_log log = {.fd = 2, .level = IL_LOG_ERROR};
        const il_upstream_config config = {
            .name = IL_STR("t"), .command = command, .max_line = 100, .high = 100, .max_waiting = 1000, .log = &log};
        il_upstream *u = NULL;
        assert_int_equal(il_upstream_start(&t.alloc, t.loop, &config, &upstream_calls, &t, &u, NULL), IL_OK);
        il_upstream_resume(u);
        assert_int_equal(il_loop_run(t.loop, NULL), IL_OK);
        assert_string_equal(t.last, rows[i].why);
        assert_int_equal(t.lines, i == 0); /* its last line came before the news of its death */
        il_upstream_free(u);
        stream_close(&t);
    }
}

/* --- log --- */

static void log_escapes(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"plain \"x\" \\", "plain \"x\" \\"},
        {"\x1b[31m\r\n\t\x7f", "\\x1b[31m\\x0d\\x0a\\x09\\x7f"},
        {"\xff\xc0\x80\xed\xa0\x80", "\\xff\\xc0\\x80\\xed\\xa0\\x80"},
        {"\xc2\x9b"
         "31m",
         "\\u009b31m"},
        {"\xe2\x80\xae"
         "abc\xe2\x80\x8b\xef\xbb\xbf",
         "\\u202eabc\\u200b\\ufeff"},
        {"\xf3\xa0\x81\xa1", "\\ue0061"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x8d\x85", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x8d\x85"},
    };
    char out[128];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(il_log_escape(out, sizeof out, il_str_of(rows[i].in)), strlen(rows[i].out));
        assert_string_equal(out, rows[i].out);
    }
    for (size_t cap = 1; cap < 20; cap++) { /* cut at a character, never longer than the room */
        char small[32];
        memset(small, '#', sizeof small);
        const size_t n = il_log_escape(small, cap, IL_STR("\xc3\xa9\xc3\xa9\x01\xc3\xa9\xc3\xa9"));
        size_t bad = 0;
        assert_true(n < cap && small[n] == '\0' && small[cap] == '#');
        assert_true(il_str_utf8((il_str){small, n}, &bad));
    }
}

static void log_lines(void **state) {
    (void)state;
    int ends[2];
    char out[4 * IL_LOG_LINE];
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    il_log log = {.fd = ends[1], .level = IL_LOG_WARN};
    il_log_write(&log, IL_LOG_INFO, "not this");
    il_log_write(&log, IL_LOG_WARN, "a %s", "b\nc");
    ssize_t n = read(ends[0], out, sizeof out);
    assert_int_equal(n, 26);
    assert_memory_equal(out, "interlock: warn: a b\\x0ac\n", 26);
    log.json = true;
    il_log_write(&log, IL_LOG_ERROR, "%s", "\"\\");
    n = read(ends[0], out, sizeof out);
    assert_memory_equal(out, "{\"program\":\"interlock\",\"level\":\"error\",\"text\":\"\\\"\\\\\"}\n", (size_t)n);
    char big[3 * IL_LOG_LINE];
    for (int json = 0; json < 2; json++) {
        log.json = json;
        memset(big, json ? '"' : 'x', sizeof big - 1);
        big[sizeof big - 1] = '\0';
        il_log_write(&log, IL_LOG_ERROR, "%s", big);
        n = read(ends[0], out, sizeof out);
        assert_true(n > 500 && n <= IL_LOG_LINE && out[n - 1] == '\n');
        assert_memory_equal(out + n - (json ? 6 : 4), json ? "...\"}\n" : "...\n", json ? 6 : 4);
    }
    for (int i = 0; i < 200; i++) { /* nobody reads: lines are lost, nothing waits */
        il_log_write(&log, IL_LOG_ERROR, "%s", big);
    }
    assert_true(log.dropped > 0);
    char said[96];
    (void)snprintf(said, sizeof said, "interlock: warn: stderr was not read: lines left out: %lu\ninterlock: warn: next\n",
                   log.dropped);
    while (read(ends[0], out, sizeof out) > 0) {
    }
    log.json = false;
    il_log_write(&log, IL_LOG_WARN, "next");
    n = read(ends[0], out, sizeof out);
    assert_int_equal(n, strlen(said));
    assert_memory_equal(out, said, (size_t)n);
    assert_int_equal(log.dropped, 0);
    il_log_write(&log, IL_LOG_WARN, "once");
    assert_int_equal(read(ends[0], out, sizeof out), 22);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_reader_pauses_and_ends),
        cmocka_unit_test(stream_reader_leaves_out_a_cut_line),
        cmocka_unit_test(stream_writer_queues_in_order),
        cmocka_unit_test(stream_writer_without_reader),
        cmocka_unit_test(stream_without_memory),
        cmocka_unit_test(stream_loop_takes_files),
        cmocka_unit_test(upstream_starts_or_leaves_nothing),
        cmocka_unit_test(upstream_speaks_and_stops),
        cmocka_unit_test(upstream_death_has_a_reason),
        cmocka_unit_test(log_escapes),
        cmocka_unit_test(log_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
