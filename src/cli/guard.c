/* SPDX-License-Identifier: Apache-2.0 */
/* interlock guard: watches the sessions of a ledger through their machine's `diagnosis`, once or as long as others write it. */
#include "cli/guard.h"

#include <signal.h>
#include <string.h>

#include "cli/options.h"
#include "cli/output.h"
#include "interlock/host.h"
#include "net/loop.h"

#define GUARD_ROW_BYTES ((size_t)16 << 20)   /* of one row, parsed */
#define GUARD_BATCH_BYTES ((size_t)64 << 20) /* of the rows of one look */
#define GUARD_BATCH_ROWS 256
#define GUARD_LOOK_MS 200 /* between two looks at a ledger that had nothing new */
#define GUARD_HALF 10     /* looks at a file that is no ledger, which somebody may be making */
#define GUARD_FAILURES 50 /* looks in a row that others kept us from */

/* ---- rows, a batch at a time ---------------------------------------------------------------------- */

typedef struct guard_batch { /* copies: the ledger is not used while it is being read */
    il_arena arena;
    il_ledger_row rows[GUARD_BATCH_ROWS];
    uint32_t n;
    bool none; /* some row has a number that is none of a row's: `below` is the last such */
    int64_t below;
    il_status status;
    il_error *err;
} guard_batch;

static il_status batch_keep(guard_batch *b, const il_ledger_row *row) {
    il_ledger_row *out = &b->rows[b->n];
    *out = *row;
    IL_TRY(il_arena_copy(&b->arena, row->space, &out->space, b->err));
    IL_TRY(il_arena_copy(&b->arena, row->key, &out->key, b->err));
    IL_TRY(il_arena_copy(&b->arena, row->kind, &out->kind, b->err));
    IL_TRY(il_arena_copy(&b->arena, row->body, &out->body, b->err));
    b->n++;
    return IL_OK;
}

static bool batch_visit(void *ctx, const il_ledger_row *row) {
    guard_batch *b = ctx;
    if (row->seq == 0 || row->seq > INT64_MAX) { /* one cannot go on from there */
        b->none = true;
        b->below = (int64_t)row->seq;
        return true;
    }
    b->status = batch_keep(b, row);
    return b->status == IL_OK && b->n < GUARD_BATCH_ROWS;
}

/* Rows at the beginning that are not there any more. */
static il_status batch_first(guard_run *run, const guard_batch *b, il_error *err) {
    const bool first = b->n && !run->began;
    run->began = run->began || first;
    const guard_said said = {
        .what = "pruned", .row = b->n ? b->rows[0].seq : 0, .why = "the trail begins there: rows before it are gone"};
    return first && b->rows[0].seq > 1 ? guard_say(run, &said, err) : IL_OK;
}

/* Rows that no gateway numbers so: said once. */
static il_status batch_below(guard_run *run, const guard_batch *b, il_error *err) {
    char why[120];
    const guard_said said = {.what = "gap", .why = why};
    if (!b->none || run->below) {
        return IL_OK;
    }
    run->below = true;
    (void)il_format(why, sizeof why, "a row has the number %lld, and rows count from 1: it is not judged", (long long)b->below);
    return guard_say(run, &said, err);
}

/* Reads on from where it was; *more: there may be further rows at once. */
static il_status guard_look(guard_run *run, guard_batch *b, bool *more, il_error *err) {
    il_arena_reset(&b->arena);
    b->n = 0;
    b->none = false;
    b->status = IL_OK;
    b->err = err;
    *more = false;
    IL_TRY(guard_chain_look(run, err));
    IL_TRY(il_ledger_rows_after(run->ledger, run->seq, batch_visit, b, err));
    IL_TRY(b->status);
    IL_TRY(batch_below(run, b, err));
    IL_TRY(batch_first(run, b, err));
    for (uint32_t i = 0; i < b->n; i++) {
        IL_TRY(guard_chain_row(run, &b->rows[i], err));
        IL_TRY(guard_row(run, &b->rows[i], err));
    }
    *more = b->n == GUARD_BATCH_ROWS;
    return *more ? IL_OK : guard_chain_end(run, err);
}

/* ---- the ledger, which a guard that follows may have to wait for ------------------------------------ */

static il_status guard_open(guard_run *run, il_error *err) {
    il_ledger_options options = {
        .size = sizeof options, .must_exist = true, .read_only = true, .sha256 = il_host_system().sha256};
    IL_TRY(il_ledger_use(run->ledger_flag, &options, run->path, &run->ledger, err));
    if (run->shield) { /* who may not write the ledger takes no action in it, and hears so before there is need of one */
        options.read_only = false;
        const il_status status = il_ledger_use(run->ledger_flag, &options, run->path, &run->writes, err);
        if (status != IL_OK) {
            il_ledger_close(run->ledger);
            run->ledger = NULL;
            return status;
        }
    }
    return IL_OK;
}

/* *there: it is open. A service may start before the first gateway makes the file, or while it does. */
static il_status guard_await(guard_run *run, bool *there, il_error *err) {
    il_error why = {0};
    if (run->ledger) {
        *there = true;
        return IL_OK;
    }
    const il_status status = guard_open(run, &why);
    *there = status == IL_OK;
    if (run->follow && (status == IL_E_DAMAGED || status == IL_E_VERSION) && run->half++ < GUARD_HALF) {
        return IL_OK;
    }
    if (status == IL_E_NOT_FOUND && run->follow) {
        if (!run->waits) {
            (void)fprintf(stderr, "interlock: there is no ledger `%s` yet; waiting for it\n", run->path);
        }
        run->waits = true;
        return IL_OK;
    }
    return status == IL_OK ? IL_OK : il_error_set(err, status, "%s", why.msg);
}

/* ---- once, and for as long as others write --------------------------------------------------------- */

static il_status guard_once(guard_run *run, guard_batch *b, il_error *err) {
    bool more = true;
    while (more) {
        IL_TRY(guard_look(run, b, &more, err));
    }
    return IL_OK;
}

typedef struct guard_following {
    guard_run *run;
    guard_batch *batch;
    il_loop *loop;
    il_timer *timer;
    uint32_t failures;
    bool ends; /* it was told to: when it has read what is there */
    il_status status;
    il_error *err;
} guard_following;

/* What was written before it was told to end is still judged: a service that is started anew is blind to nothing. */
static void guard_stop(void *ctx) {
    guard_following *f = ctx;
    if (f->ends) { /* a second time: now */
        il_loop_stop(f->loop);
        return;
    }
    f->ends = true;
    f->failures = GUARD_FAILURES; /* one look more that may fail: who stops it does not wait for ever */
    il_timer_set(f->timer, 0);
}

static void guard_tick(void *ctx) {
    guard_following *f = ctx;
    bool more = false, there = false;
    f->status = guard_await(f->run, &there, f->err);
    f->status = f->status == IL_OK && there ? guard_look(f->run, f->batch, &more, f->err) : f->status;
    f->failures = f->status == IL_E_BUSY ? f->failures + 1 : 0;
    const bool kept_out = f->status == IL_E_BUSY && f->failures <= GUARD_FAILURES;
    if (fflush(stdout) != 0 || (f->status != IL_OK && !kept_out) || (f->ends && f->status == IL_OK && !more)) {
        il_loop_stop(f->loop);
        return;
    }
    il_timer_set(f->timer, more ? 0 : GUARD_LOOK_MS);
}

static il_status guard_follow(guard_run *run, guard_batch *b, il_error *err) {
    guard_following f = {.run = run, .batch = b, .err = err};
    IL_TRY(il_loop_new(il_host_alloc(), false, &f.loop, err));
    il_status status = il_timer_new(f.loop, guard_tick, &f, &f.timer, err);
    status = status == IL_OK ? il_loop_signal(f.loop, SIGINT, guard_stop, &f, err) : status;
    status = status == IL_OK ? il_loop_signal(f.loop, SIGTERM, guard_stop, &f, err) : status;
    if (status == IL_OK) {
        il_timer_set(f.timer, 0);
        status = il_loop_run(f.loop, err);
    }
    il_timer_free(f.timer);
    il_loop_free(f.loop);
    return status == IL_OK ? f.status : status;
}

/* ---- the command -------------------------------------------------------------------------------------- */

static il_status guard_nothing(guard_run *run, il_error *err) {
    const guard_said said = {.what = "nothing-seen", .why = "no session has a row in this ledger"};
    if (run->session && !guard_session_find(run, il_str_of(run->session))) {
        return il_error_set(err, IL_E_NOT_FOUND, "there is no session `%s`", run->session);
    }
    return run->nrows ? IL_OK : guard_say(run, &said, err);
}

static il_exit guard_watch(guard_run *run, guard_batch *b) {
    il_error err = {0};
    bool there = false;
    il_status status = guard_await(run, &there, &err);
    if (status == IL_OK && run->machine_flag) {
        const char *named = run->machine_flag;
        status = guard_machine_named(run, named, &err);
        if (status != IL_OK) {
            return il_fail(run->machine_flag, &err);
        }
    }
    if (status == IL_OK) {
        status = run->follow ? guard_follow(run, b, &err) : guard_once(run, b, &err);
    }
    status = status == IL_OK ? guard_nothing(run, &err) : status;
    const il_exit code = run->nalarms ? IL_EXIT_FINDING : run->nfindings ? IL_EXIT_INCONCLUSIVE : IL_EXIT_FINE;
    status = status == IL_OK ? guard_say_end(run, code, &err) : status;
    return status == IL_OK ? code : il_fail(NULL, &err);
}

static il_exit guard_run_all(guard_run *run) {
    const il_alloc *a = il_host_alloc();
    const il_host host = il_host_system();
    guard_batch *b = a->alloc(a->ctx, sizeof *b);
    il_error err = {0};
    if (!b || !host.random(host.ctx, &run->salt, sizeof run->salt)) {
        a->free(a->ctx, b);
        (void)il_error_set(&err, b ? IL_E_INTERNAL : IL_E_MEMORY, b ? "there is no randomness" : "out of memory");
        return il_fail(NULL, &err);
    }
    il_arena_init(&b->arena, a, GUARD_BATCH_BYTES);
    il_arena_init(&run->row, a, GUARD_ROW_BYTES);
    il_arena_init(&run->line, a, GUARD_ROW_BYTES);
    const il_exit code = guard_watch(run, b);
    guard_sessions_free(run);
    guard_machines_free(run);
    il_ledger_close(run->writes);
    il_ledger_close(run->ledger);
    il_arena_free(&run->line);
    il_arena_free(&run->row);
    il_arena_free(&b->arena);
    a->free(a->ctx, b);
    return code;
}

il_exit il_cmd_guard(int argc, char **argv) {
    guard_run run = {0};
    const char *most = NULL;
    bool once = false;
    uint64_t states = 0;
    const il_option options[] = {{.name = "ledger", .value = &run.ledger_flag},
                                 {.name = "machine", .value = &run.machine_flag},
                                 {.name = "session", .value = &run.session},
                                 {.name = "once", .flag = &once},
                                 {.name = "follow", .flag = &run.follow},
                                 {.name = "shield", .flag = &run.shield},
                                 {.name = "json", .flag = &run.json},
                                 {.name = "max-states", .value = &most},
                                 {.name = "head", .value = &run.chain.head.flag}};
    il_arguments arguments;
    il_error err = {0};
    if (il_options_read(argc, argv, options, sizeof options / sizeof options[0], &arguments, &err) != IL_OK ||
        (most && il_options_number("max-states", most, IL_ESTIMATOR_STATES_MAX, &states, &err) != IL_OK) ||
        il_head_read(&run.chain.head, &err) != IL_OK) {
        return il_fail_usage(argv[0], &err);
    }
    if (arguments.n > 1) {
        return il_usage(argv[0], "one ledger, not %d", arguments.n);
    }
    if (once && run.follow) {
        return il_usage(argv[0], "`--once` or `--follow`, not both");
    }
    if (arguments.n && run.ledger_flag) {
        return il_usage(argv[0], "`%s` or `--ledger %s`, not both", arguments.v[0], run.ledger_flag);
    }
    run.ledger_flag = arguments.n ? arguments.v[0] : run.ledger_flag;
    run.max_states = (uint32_t)states;
    return guard_run_all(&run);
}
