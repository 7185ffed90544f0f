/* SPDX-License-Identifier: Apache-2.0 */
/* ledger verify: is the file whole, and does everything in it agree? */
#include <inttypes.h>
#include <string.h>

#include "base/sha256.h"
#include "cli/head.h"
#include "cli/ledger.h"
#include "cli/options.h"
#include "cli/output.h"
#include "interlock/host.h"

#define VERIFY_ARENA_BYTES ((size_t)1 << 30)
#define VERIFY_FINDINGS_MAX 1000 /* printed; all are counted */

typedef struct verify_run {
    const char *ledger_flag;
    il_head head;
    bool head_found;
    bool json;
    char path[IL_LEDGER_PATH_BYTES];
    il_arena arena;
    il_json *list;
    bool full; /* the list has no memory left */
    uint64_t shown;
} verify_run;

static bool verify_add(il_json *o, const char *key, il_json *value) { return il_json_set(o, il_str_of(key), value); }

static il_json *verify_text(il_arena *a, il_str s) {
    il_str copy;
    return !s.n ? il_json_make(a, IL_JSON_NULL) : il_arena_copy(a, s, &copy, NULL) == IL_OK ? il_json_string(a, copy) : NULL;
}

static void verify_finding_json(verify_run *run, const il_ledger_finding *f) {
    il_arena *a = &run->arena;
    il_json *o = il_json_make(a, IL_JSON_OBJECT);
    if (!(verify_add(o, "what", verify_text(a, il_str_of(f->what))) &&
          verify_add(o, "row", f->row ? il_json_number(a, (int64_t)f->row) : il_json_make(a, IL_JSON_NULL)) &&
          verify_add(o, "session", verify_text(a, f->session)) &&
          verify_add(o, "message", verify_text(a, il_str_of(f->message))) &&
          verify_add(o, "advice", verify_text(a, il_str_of(f->advice))) && il_json_push(run->list, o))) {
        run->full = true;
    }
}

static void verify_visit(void *ctx, const il_ledger_finding *f) {
    verify_run *run = ctx;
    if (run->shown++ >= VERIFY_FINDINGS_MAX) {
        return;
    }
    if (run->json) {
        verify_finding_json(run, f);
        return;
    }
    il_put_text(stdout, il_str_of(run->path));
    if (f->row) {
        (void)printf(": row %" PRId64, (int64_t)f->row); /* as the file has it: an edited one may have any number */
    }
    if (f->session.n) {
        (void)fputs(": session ", stdout);
        il_put_text(stdout, f->session);
    }
    (void)printf(": %s: ", f->what);
    il_put_text(stdout, il_str_of(f->message));
    (void)printf("; %s\n", f->advice);
}

static bool verify_head_row(void *ctx, const il_ledger_row *row) {
    verify_run *run = ctx;
    run->head_found = il_head_is(&run->head, row);
    return !run->head_found;
}

/* What was noted outside: a row with that number and hash must be in the trail. */
static il_status verify_head(verify_run *run, il_ledger *ledger, il_ledger_report *report, il_error *err) {
    if (!run->head.flag) {
        return IL_OK;
    }
    IL_TRY(il_ledger_rows(ledger, IL_STR(""), verify_head_row, run, err));
    if (!run->head_found) {
        report->findings++;
        verify_visit(run, &(il_ledger_finding){
                              .row = run->head.seq,
                              .session = IL_STR(""),
                              .what = "head",
                              .message = "no row of that number has the hash that was given with --head",
                              .advice = "rows were cut off or the trail was written anew: keep the file, and go on from a copy "
                                        "that verifies"});
    }
    return IL_OK;
}

static il_status verify_print(verify_run *run, const il_ledger_report *r, il_error *err) {
    char head[IL_DIGEST_HEX];
    il_arena *a = &run->arena;
    il_digest_hex(r->head, head);
    if (run->json) {
        il_json *o = il_json_make(a, IL_JSON_OBJECT);
        const bool made = !run->full && verify_add(o, "ledger", verify_text(a, il_str_of(run->path))) &&
                          verify_add(o, "version", il_json_number(a, r->version)) &&
                          verify_add(o, "rows", il_json_number(a, (int64_t)r->rows)) &&
                          verify_add(o, "erased", il_json_number(a, (int64_t)r->erased)) &&
                          verify_add(o, "sessions", il_json_number(a, (int64_t)r->sessions)) &&
                          verify_add(o, "first", il_json_number(a, (int64_t)r->first)) &&
                          verify_add(o, "last", il_json_number(a, (int64_t)r->last)) &&
                          verify_add(o, "head", verify_text(a, il_str_of(head))) &&
                          verify_add(o, "whole", il_json_boolean(a, r->findings == 0)) &&
                          verify_add(o, "nfindings", il_json_number(a, (int64_t)r->findings)) &&
                          verify_add(o, "findings", run->list);
        return made ? il_put_json(stdout, o, err) : il_arena_fail(a, err);
    }
    if (run->shown > VERIFY_FINDINGS_MAX) {
        (void)printf("and %" PRIu64 " more\n", run->shown - VERIFY_FINDINGS_MAX);
    }
    if (r->findings) {
        (void)printf("%" PRIu64 " finding%s: ", r->findings, r->findings == 1 ? "" : "s");
    } else {
        (void)fputs("whole: ", stdout);
    }
    (void)printf("%" PRIu64 " row%s (%" PRIu64 " erased), %" PRIu64 " session%s, head %" PRId64 ":%s\n", r->rows,
                 r->rows == 1 ? "" : "s", r->erased, r->sessions, r->sessions == 1 ? "" : "s", (int64_t)r->last, head);
    return IL_OK;
}

static il_exit verify_ledger(verify_run *run) {
    il_error err = {0};
    il_ledger *ledger = NULL;
    il_ledger_report report = IL_LEDGER_REPORT_INIT;
    const il_ledger_options options = {
        .size = sizeof options, .must_exist = true, .read_only = true, .sha256 = il_host_system().sha256};
    il_status status = il_ledger_use(run->ledger_flag, &options, run->path, &ledger, &err);
    if (status == IL_OK) {
        status = il_ledger_verify(ledger, verify_visit, run, &report, &err);
    }
    if (status == IL_OK) {
        status = verify_head(run, ledger, &report, &err);
    }
    if (status == IL_OK) {
        status = verify_print(run, &report, &err);
    }
    il_ledger_close(ledger);
    return status != IL_OK ? il_fail(NULL, &err) : report.findings ? IL_EXIT_FINDING : IL_EXIT_FINE;
}

il_exit il_cmd_ledger(int argc, char **argv) {
    verify_run run = {0};
    const il_option options[] = {{.name = "ledger", .value = &run.ledger_flag},
                                 {.name = "head", .value = &run.head.flag},
                                 {.name = "json", .flag = &run.json}};
    il_arguments arguments;
    il_error err = {0};
    if (il_options_read(argc, argv, options, sizeof options / sizeof options[0], &arguments, &err) != IL_OK ||
        il_head_read(&run.head, &err) != IL_OK) {
        return il_fail_usage(argv[0], &err);
    }
    if (arguments.n != 1 || strcmp(arguments.v[0], "verify") != 0) {
        return il_usage(argv[0], "one word says what to do, verify; `--ledger FILE` names the ledger");
    }
    il_arena_init(&run.arena, il_host_alloc(), VERIFY_ARENA_BYTES);
    run.list = il_json_make(&run.arena, IL_JSON_ARRAY);
    const il_exit code = verify_ledger(&run);
    il_arena_free(&run.arena);
    return code;
}
