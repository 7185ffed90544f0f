/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/upstream.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "mcp/budget.h"
#include "mcp/keeper.h"
#include "net/reader.h"
#include "net/writer.h"

#define UPSTREAM_STDERR_LINE ((size_t)64 << 10)
#define UPSTREAM_STDERR_BUDGET ((il_budget){.per_second = 50, .burst = 500}) /* lines of it in our log */
#define UPSTREAM_EXIT_MS 500   /* between its end and the end of its output, or the other way round */
#define UPSTREAM_CLOSE_MS 1000 /* to end by itself after its stdin was closed */
#define UPSTREAM_TERM_MS 500   /* to end after SIGTERM */
#define UPSTREAM_KILL_MS 500   /* to be reaped after SIGKILL */
#define UPSTREAM_HURRY_MS 200  /* instead of each of the last three */

typedef enum upstream_stage {
    UPSTREAM_RUNS = 0,
    UPSTREAM_CLOSED,
    UPSTREAM_TERMED,
    UPSTREAM_KILLED,
    UPSTREAM_STOPPED
} upstream_stage;

struct il_upstream {
    const il_alloc *alloc;
    il_upstream_config c;
    il_upstream_calls calls;
    void *ctx;
    il_keeper keeper;
    il_watch *watch;     /* of the keeper */
    int to, from, noise; /* our ends of its stdin, stdout, stderr */
    il_writer *writer;
    il_reader *reader, *stderr_reader;
    il_timer *timer;
    upstream_stage stage;
    bool hurry;
    bool exited, ended; /* the server itself; all that it started too */
    bool eof, told;
    il_budget noise_left;
    int unread; /* errno of reading its output */
    int status; /* of waitpid */
};

/* --- its end --- */

static void upstream_why(const il_upstream *u, char *out, size_t cap) {
    if (u->unread != 0) {
        (void)snprintf(out, cap, "cannot be read any more: %s", strerror(u->unread));
    } else if (!u->exited) {
        (void)snprintf(out, cap, u->eof ? "closed its output" : "does not read its input any more");
    } else if (WIFSIGNALED(u->status)) {
        (void)snprintf(out, cap, "was ended by signal %d", WTERMSIG(u->status));
    } else {
        (void)snprintf(out, cap, "exited with status %d", WEXITSTATUS(u->status));
    }
}

static void upstream_gone(il_upstream *u) {
    if (!u->told && u->stage == UPSTREAM_RUNS) {
        char why[64];
        u->told = true;
        il_timer_clear(u->timer);
        upstream_why(u, why, sizeof why);
        u->calls.gone(u->ctx, why);
    }
}

static void upstream_stopped(il_upstream *u) {
    if (u->stage != UPSTREAM_STOPPED) {
        u->stage = UPSTREAM_STOPPED;
        il_timer_clear(u->timer);
        u->calls.stopped(u->ctx);
    }
}

static void upstream_wait(il_upstream *u, uint64_t ms) {
    il_timer_set(u->timer, u->hurry && ms > UPSTREAM_HURRY_MS ? UPSTREAM_HURRY_MS : ms);
}

void il_upstream_hurry(il_upstream *u) {
    u->hurry = true;
    if (u->stage != UPSTREAM_RUNS && u->stage != UPSTREAM_STOPPED) {
        upstream_wait(u, UPSTREAM_CLOSE_MS);
    }
}

/* The server itself has exited: the end, or a little time for what it left behind. */
static void upstream_exited(il_upstream *u) {
    if (u->stage == UPSTREAM_RUNS && u->eof) {
        upstream_gone(u);
    } else if (u->stage == UPSTREAM_RUNS) {
        il_timer_set(u->timer, UPSTREAM_EXIT_MS); /* its last lines may still be in the pipe */
    } else if (u->stage == UPSTREAM_CLOSED) {
        u->stage = UPSTREAM_TERMED;
        il_keeper_signal(&u->keeper, SIGTERM);
        upstream_wait(u, UPSTREAM_TERM_MS);
    }
}

static void upstream_on_keeper(void *ctx) {
    il_upstream *u = ctx;
    switch (il_keeper_read(&u->keeper, &u->status)) {
    case IL_KEEPER_NOTHING:
        return;
    case IL_KEEPER_EXITED:
        u->exited = true;
        upstream_exited(u);
        return;
    case IL_KEEPER_ENDED:
        il_watch_free(u->watch);
        u->watch = NULL;
        u->ended = true;
        if (!u->exited) { /* the keeper was killed, and it goes with its keeper */
            u->exited = true;
            u->status = SIGKILL;
            upstream_exited(u);
        }
        if (u->stage != UPSTREAM_RUNS) {
            upstream_stopped(u);
        }
        return;
    }
}

static void upstream_on_timer(void *ctx) {
    il_upstream *u = ctx;
    switch (u->stage) {
    case UPSTREAM_RUNS:
        upstream_gone(u);
        return;
    case UPSTREAM_CLOSED:
        u->stage = UPSTREAM_TERMED;
        il_keeper_signal(&u->keeper, SIGTERM);
        upstream_wait(u, UPSTREAM_TERM_MS);
        return;
    case UPSTREAM_TERMED:
        u->stage = UPSTREAM_KILLED;
        il_keeper_signal(&u->keeper, SIGKILL);
        upstream_wait(u, UPSTREAM_KILL_MS);
        return;
    case UPSTREAM_KILLED:
        upstream_stopped(u);
        return;
    case UPSTREAM_STOPPED:
        return;
    }
}

static void upstream_close_stdin(il_upstream *u) {
    il_writer_free(u->writer);
    u->writer = NULL;
    if (u->to >= 0) {
        (void)close(u->to);
        u->to = -1;
    }
}

void il_upstream_stop(il_upstream *u) {
    if (u->stage != UPSTREAM_RUNS) {
        return;
    }
    u->stage = UPSTREAM_CLOSED;
    u->told = true;
    upstream_close_stdin(u);
    /* `stopped` always comes from the loop. Its output is read and thrown away, so that a full pipe does not keep it alive. */
    il_reader_resume(u->reader);
    if (u->ended) {
        u->stage = UPSTREAM_KILLED;
        upstream_wait(u, 0);
    } else if (u->exited) {
        upstream_exited(u); /* what it left behind does not wait for its stdin */
    } else {
        upstream_wait(u, UPSTREAM_CLOSE_MS);
    }
}

void il_upstream_kill(il_upstream *u) { il_keeper_signal(&u->keeper, SIGKILL); }

/* --- lines --- */

static void upstream_on_line(void *ctx, il_str line) {
    il_upstream *u = ctx;
    if (u->stage == UPSTREAM_RUNS && !u->told) {
        u->calls.line(u->ctx, line);
    }
}

static void upstream_on_too_long(void *ctx) {
    il_upstream *u = ctx;
    if (u->stage == UPSTREAM_RUNS && !u->told) {
        u->calls.too_long(u->ctx);
    }
}

static void upstream_on_end(void *ctx, int error) {
    il_upstream *u = ctx;
    u->unread = error;
    u->eof = true;
    if (u->stage != UPSTREAM_RUNS) {
        return;
    }
    if (u->exited) {
        upstream_gone(u);
    } else {
        il_timer_set(u->timer, UPSTREAM_EXIT_MS); /* its exit status makes a better message */
    }
}

static void upstream_on_full(void *ctx, bool full) {
    il_upstream *u = ctx;
    u->calls.full(u->ctx, full);
}

static void upstream_on_failed(void *ctx, int error) {
    il_upstream *u = ctx;
    (void)error;
    if (u->stage == UPSTREAM_RUNS && !u->exited && !il_timer_is_set(u->timer)) {
        il_timer_set(u->timer, UPSTREAM_EXIT_MS);
    }
}

static bool upstream_may_note(il_upstream *u) {
    const uint64_t now = il_loop_now_ms();
    const bool may = il_budget_take(&u->noise_left, now);
    const uint64_t n = il_budget_report(&u->noise_left, now);
    if (n > 0) {
        il_log_write(u->c.log, IL_LOG_WARN, "%.*s: its stderr has more than %u lines a second; left out: %llu",
                     IL_STR_ARG(u->c.name), u->noise_left.per_second, (unsigned long long)n);
    }
    return may;
}

static void upstream_on_noise(void *ctx, il_str line) {
    il_upstream *u = ctx;
    if (!upstream_may_note(u)) {
        return;
    }
    il_log_write(u->c.log, IL_LOG_INFO, "%.*s: %.*s", IL_STR_ARG(u->c.name), IL_STR_ARG(il_str_part(line, 0, IL_LOG_LINE)));
}

static void upstream_on_noise_too_long(void *ctx) {
    il_upstream *u = ctx;
    if (!upstream_may_note(u)) {
        return;
    }
    il_log_write(u->c.log, IL_LOG_INFO, "%.*s: (a line of more than %zu bytes)", IL_STR_ARG(u->c.name), UPSTREAM_STDERR_LINE);
}

static void upstream_on_noise_end(void *ctx, int error) {
    (void)ctx;
    (void)error;
}

il_status il_upstream_put(il_upstream *u, il_str line, il_error *err) {
    if (u->writer == NULL) {
        return il_error_set(err, IL_E_IO, "the server was stopped");
    }
    return il_writer_put(u->writer, line, err);
}

void il_upstream_pause(il_upstream *u) { il_reader_pause(u->reader); }

void il_upstream_resume(il_upstream *u) { il_reader_resume(u->reader); }

/* --- its start --- */

static bool upstream_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) != 0) {
        ends[0] = ends[1] = -1;
        return false;
    }
    ends[0] = il_keeper_high(ends[0]);
    ends[1] = il_keeper_high(ends[1]);
    return ends[0] >= 0 && ends[1] >= 0;
}

static void upstream_close(int *fd) {
    if (*fd >= 0) {
        (void)close(*fd);
        *fd = -1;
    }
}

static il_status upstream_spawn(il_upstream *u, il_error *err) {
    int in[2] = {-1, -1}, out[2] = {-1, -1}, noise[2] = {-1, -1};
    il_status st = IL_OK;
    if (!upstream_pipe(in) || !upstream_pipe(out) || !upstream_pipe(noise)) {
        st = il_error_set(err, IL_E_IO, "cannot make pipes for the server: %s", strerror(errno));
    } else {
        st = il_keeper_start(&u->keeper, u->c.command, in[0], out[1], noise[1], err);
    }
    upstream_close(&in[0]);
    upstream_close(&out[1]);
    upstream_close(&noise[1]);
    u->to = in[1];
    u->from = out[0];
    u->noise = noise[0];
    return st;
}

static il_status upstream_open(il_upstream *u, il_loop *loop, il_error *err) {
    static const il_reader_calls lines = {upstream_on_line, upstream_on_too_long, upstream_on_end};
    static const il_reader_calls noise = {upstream_on_noise, upstream_on_noise_too_long, upstream_on_noise_end};
    static const il_writer_calls writes = {upstream_on_full, upstream_on_failed};
    IL_TRY(il_timer_new(loop, upstream_on_timer, u, &u->timer, err));
    IL_TRY(upstream_spawn(u, err));
    IL_TRY(il_watch_new(loop, u->keeper.fd, upstream_on_keeper, u, &u->watch, err));
    IL_TRY(il_writer_new(u->alloc, loop, u->to, u->c.high, u->c.max_waiting, &writes, u, &u->writer, err));
    IL_TRY(il_reader_new(u->alloc, loop, u->from, u->c.max_line, false, &lines, u, &u->reader, err));
    IL_TRY(il_reader_new(u->alloc, loop, u->noise, UPSTREAM_STDERR_LINE, true, &noise, u, &u->stderr_reader, err));
    il_reader_resume(u->stderr_reader);
    return IL_OK;
}

il_status il_upstream_start(const il_alloc *alloc, il_loop *loop, const il_upstream_config *config,
                            const il_upstream_calls *calls, void *ctx, il_upstream **out, il_error *err) {
    *out = NULL;
    il_upstream *u = alloc->alloc(alloc->ctx, sizeof *u);
    if (u == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory for the server");
    }
    *u = (il_upstream){.alloc = alloc,
                       .c = *config,
                       .calls = *calls,
                       .ctx = ctx,
                       .keeper = {.fd = -1},
                       .to = -1,
                       .from = -1,
                       .noise = -1,
                       .noise_left = UPSTREAM_STDERR_BUDGET};
    const il_status st = upstream_open(u, loop, err);
    if (st != IL_OK) {
        il_upstream_free(u);
        return st;
    }
    *out = u;
    return IL_OK;
}

void il_upstream_free(il_upstream *u) {
    if (u == NULL) {
        return;
    }
    upstream_close_stdin(u);
    il_reader_free(u->reader);
    il_reader_free(u->stderr_reader);
    il_timer_free(u->timer);
    upstream_close(&u->from);
    upstream_close(&u->noise);
    il_watch_free(u->watch);
    il_keeper_end(&u->keeper);
    u->alloc->free(u->alloc->ctx, u);
}
