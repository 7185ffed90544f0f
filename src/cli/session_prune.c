/* SPDX-License-Identifier: Apache-2.0 */
/* `session prune`: what is old and over loses its rows; with --idle, what is old is over. */
#include <inttypes.h>
#include <string.h>

#include "cli/ledger.h"
#include "cli/output.h"
#include "cli/session.h"

#define PRUNE_ARENA_BYTES ((size_t)1 << 30)
#define PRUNE_AGE_MAX_MS (UINT64_C(36500) * 24 * 3600 * 1000) /* a hundred years */

typedef struct prune_run {
    const il_prune_options *options;
    char path[IL_LEDGER_PATH_BYTES];
    il_ledger *ledger;
    il_arena arena;
    uint64_t now_ms, cutoff_ms, rows;
    size_t nended, npruned, nskipped;
    il_json *ended, *pruned, *skipped;
} prune_run;

/* `30d`, `12h`, `90m`. */
static il_status prune_age(const char *text, uint64_t *out, il_error *err) {
    const il_str s = il_str_of(text);
    const char unit = s.n ? s.p[s.n - 1] : '\0';
    const uint64_t ms = unit == 'd' ? 24u * 3600u * 1000u : unit == 'h' ? 3600u * 1000u : unit == 'm' ? 60u * 1000u : 0;
    int64_t n = 0;
    if (ms == 0 || !il_str_int(il_str_part(s, 0, s.n - 1), &n) || n < 1 || (uint64_t)n > PRUNE_AGE_MAX_MS / ms) {
        return il_error_set(err, IL_E_INVALID,
                            "`--older-than` takes days, hours or minutes, at least one, as in 30d, 12h or 90m, not `%s`", text);
    }
    *out = (uint64_t)n * ms;
    return IL_OK;
}

/* Notes a session in one of the report's lists. */
static il_status prune_note(prune_run *run, il_json *list, il_str id, const char *key, il_json *value, il_error *err) {
    il_json *o = il_json_make(&run->arena, IL_JSON_OBJECT);
    return il_json_set(o, IL_STR("id"), il_json_string(&run->arena, id)) && (!key || il_json_set(o, il_str_of(key), value)) &&
                   il_json_push(list, o)
               ? IL_OK
               : il_arena_fail(&run->arena, err);
}

static il_status prune_skip(prune_run *run, il_str id, const il_error *why, il_error *err) {
    il_str text = {0};
    run->nskipped++;
    if (!run->options->json) {
        (void)fputs("skipped ", stderr);
        il_put_text(stderr, id);
        (void)fputs(": ", stderr);
        il_put_text(stderr, il_str_of(why->msg));
        (void)fputc('\n', stderr);
    }
    IL_TRY(il_arena_copy(&run->arena, il_str_of(why->msg), &text, err));
    return prune_note(run, run->skipped, id, "why", il_json_string(&run->arena, text), err);
}

static bool prune_count(void *ctx, const il_ledger_row *row) {
    uint64_t *n = ctx;
    *n += row->erased ? 0 : 1;
    return true;
}

/* A failure that concerns this session alone leaves the others to be done. */
static bool prune_own(il_status status) {
    switch (status) {
    case IL_E_NOT_FOUND: /* its machine */
    case IL_E_MISMATCH:
    case IL_E_DAMAGED:
    case IL_E_VERSION:
    case IL_E_STATE:    /* a call is open */
    case IL_E_CONFLICT: /* it is in use */
    case IL_E_SYNTAX:
    case IL_E_INVALID:
    case IL_E_ARGUMENT:
        return true;
    case IL_OK:
    case IL_E_MEMORY:
    case IL_E_LIMIT:
    case IL_E_EXISTS:
    case IL_E_SEAL:
    case IL_E_BUSY:
    case IL_E_IO:
    case IL_E_PERMISSION:
    case IL_E_INTERNAL:
        return false;
    }
    return false;
}

static bool prune_over(const il_view *v) { return il_str_eq(il_view_value(v, "phase"), IL_STR("ended")); }

/* What il_session_end would say of its open calls: those that are overdue, a parent's, and those of a host that is gone do not keep it. */
static il_status prune_busy(const prune_run *run, const il_view *v, il_error *err) {
    static const uint8_t nobody[IL_OWNER_BYTES];
    const il_host host = il_host_system();
    for (uint32_t i = 0; i < v->session.ntickets; i++) {
        const il_ticket *t = &v->session.tickets[i];
        const bool gone = memcmp(t->owner, nobody, sizeof nobody) != 0 && host.gone(host.ctx, t->owner);
        if ((t->flags & IL_TICKET_INHERITED) == 0 && t->deadline_ms > run->now_ms && !gone) {
            return il_error_set(err, IL_E_STATE, "busy: a call is not settled yet");
        }
    }
    return IL_OK;
}

/* Ends a session that is only old. */
static il_status prune_end(prune_run *run, il_view *v, il_str id, il_error *err) {
    uint32_t recovered = 0;
    IL_TRY(run->options->dry_run ? prune_busy(run, v, err) : il_session_end(run->ledger, v, false, &recovered, err));
    run->nended++;
    IL_TRY(prune_note(run, run->ended, id, NULL, NULL, err));
    if (run->options->dry_run) {
        return IL_OK;
    }
    il_view_close(v);
    return il_view_open(v, run->ledger, id, run->options->policy, err);
}

static il_status prune_view(prune_run *run, il_view *v, il_str id, uint64_t *rows, il_error *err) {
    if (!prune_over(v)) {
        if (!run->options->idle) {
            return IL_OK;
        }
        IL_TRY(prune_end(run, v, id, err));
    }
    return run->options->dry_run ? il_ledger_rows(run->ledger, id, prune_count, rows, err)
                                 : il_ledger_prune(run->ledger, id, v->version, run->now_ms, rows, err);
}

static il_status prune_session(prune_run *run, il_str id, il_error *err) {
    il_view v;
    il_error why = {0};
    uint64_t rows = 0;
    il_status status = il_view_open(&v, run->ledger, id, run->options->policy, &why);
    if (status == IL_OK) {
        status = prune_view(run, &v, id, &rows, &why);
    }
    il_view_close(&v);
    if (prune_own(status)) {
        return prune_skip(run, id, &why, err);
    }
    if (status != IL_OK) {
        return il_error_set(err, status, "%s", why.msg);
    }
    if (rows == 0) {
        return IL_OK;
    }
    run->npruned++;
    run->rows += rows;
    return prune_note(run, run->pruned, id, "rows", il_json_number(&run->arena, (int64_t)rows), err);
}

static il_status prune_report(prune_run *run, il_error *err) {
    il_arena *a = &run->arena;
    if (run->options->json) {
        il_json *o = il_json_make(a, IL_JSON_OBJECT);
        return il_json_set(o, IL_STR("dry_run"), il_json_boolean(a, run->options->dry_run)) &&
                       il_json_set(o, IL_STR("before_ms"), il_json_number(a, (int64_t)run->cutoff_ms)) &&
                       il_json_set(o, IL_STR("rows"), il_json_number(a, (int64_t)run->rows)) &&
                       il_json_set(o, IL_STR("ended"), run->ended) && il_json_set(o, IL_STR("pruned"), run->pruned) &&
                       il_json_set(o, IL_STR("skipped"), run->skipped)
                   ? il_put_json(stdout, o, err)
                   : il_arena_fail(a, err);
    }
    (void)printf("%s%" PRIu64 " row%s of %zu session%s; ended %zu, skipped %zu\n",
                 run->options->dry_run ? "would erase " : "erased ", run->rows, run->rows == 1 ? "" : "s", run->npruned,
                 run->npruned == 1 ? "" : "s", run->nended, run->nskipped);
    return IL_OK;
}

static il_status prune_all(prune_run *run, il_error *err) {
    il_view_ids ids;
    IL_TRY(il_view_sessions(run->ledger, &run->arena, &ids, err));
    for (size_t i = 0; i < ids.n; i++) {
        if (ids.changed_ms[i] <= run->cutoff_ms) {
            IL_TRY(prune_session(run, ids.ids[i], err));
        }
    }
    return prune_report(run, err);
}

static il_status prune_begin(prune_run *run, il_error *err) {
    const il_host host = il_host_system();
    uint64_t age;
    const il_ledger_options options = {
        .size = sizeof options, .must_exist = true, .read_only = run->options->dry_run, .sha256 = host.sha256};
    IL_TRY(prune_age(run->options->older_than, &age, err));
    if (!host.now_ms(host.ctx, &run->now_ms)) {
        return il_error_set(err, IL_E_IO, "no clock");
    }
    run->cutoff_ms = run->now_ms > age ? run->now_ms - age : 0;
    run->ended = il_json_make(&run->arena, IL_JSON_ARRAY);
    run->pruned = il_json_make(&run->arena, IL_JSON_ARRAY);
    run->skipped = il_json_make(&run->arena, IL_JSON_ARRAY);
    return il_ledger_use(run->options->ledger_flag, &options, run->path, &run->ledger, err);
}

il_status il_session_prune(const il_prune_options *options, il_error *err) {
    prune_run run = {.options = options};
    il_arena_init(&run.arena, il_host_alloc(), PRUNE_ARENA_BYTES);
    il_status status = prune_begin(&run, err);
    if (status == IL_OK) {
        status = prune_all(&run, err);
    }
    il_ledger_close(run.ledger);
    il_arena_free(&run.arena);
    return status;
}
