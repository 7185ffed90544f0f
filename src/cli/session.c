/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/session.h"

#include <inttypes.h>
#include <string.h>

#include "base/sha256.h"
#include "cli/ledger.h"
#include "cli/options.h"
#include "cli/output.h"

#define SESSION_ARENA_BYTES ((size_t)1 << 30)

typedef struct session_run {
    const char *ledger_flag, *policy;
    const char *text; /* of say; NULL: standard input */
    bool json, abandon, trail;
    const char *older_than; /* of prune, with the two below */
    bool idle, dry_run;
    bool unknown; /* a session in the list ran on a machine that is not shipped */
    char path[IL_LEDGER_PATH_BYTES];
    il_ledger *ledger;
} session_run;

/* One line of the list. A session whose machine is not shipped shows what the summary tells. */
static il_status session_line(session_run *run, il_arena *arena, il_str id, uint64_t changed_ms, il_json *list, il_error *err) {
    il_view v;
    il_error why = {0};
    const il_status opened = il_view_open(&v, run->ledger, id, NULL, &why);
    const bool readable = opened == IL_OK || opened == IL_E_NOT_FOUND;
    const il_str phase = opened == IL_OK ? il_view_value(&v, "phase") : IL_STR("");
    const il_str word = !readable               ? IL_STR("damaged")
                        : v.session.quarantined ? IL_STR("quarantined")
                        : phase.n               ? phase
                                                : IL_STR("unknown");
    il_status status = IL_OK;
    run->unknown = run->unknown || opened == IL_E_NOT_FOUND;
    if (!run->json) {
        il_put_cell(stdout, id, 28);
        (void)fputs("  ", stdout);
        il_put_time(stdout, changed_ms);
        (void)fputs("  ", stdout);
        il_put_cell(stdout, word, 11);
        (void)fputs("  ", stdout);
        (void)printf("%-7s  ", !readable ? "-" : v.session.unenforced ? "monitor" : "enforce");
        il_put_effects(stdout, readable ? v.session.counted | (v.session.open ? (uint32_t)IL_EGRESS : 0) : 0);
        (void)fputc('\n', stdout);
    } else {
        il_json *o = il_json_make(arena, IL_JSON_OBJECT);
        il_str kept = {0};
        status = il_arena_copy(arena, word, &kept, err);
        if (status == IL_OK && !(il_json_set(o, IL_STR("id"), il_json_string(arena, id)) &&
                                 il_json_set(o, IL_STR("changed_ms"), il_json_number(arena, (int64_t)changed_ms)) &&
                                 il_json_set(o, IL_STR("phase"), il_json_string(arena, kept)) &&
                                 il_json_set(o, IL_STR("counted"), il_json_effects(arena, readable ? v.session.counted : 0)) &&
                                 il_json_set(o, IL_STR("open"), il_json_boolean(arena, readable && v.session.open)) &&
                                 il_json_set(o, IL_STR("unenforced"), il_json_boolean(arena, readable && v.session.unenforced)) &&
                                 il_json_push(list, o))) {
            status = il_arena_fail(arena, err);
        }
    }
    il_view_close(&v);
    return status;
}

static il_status session_list(session_run *run, il_arena *arena, il_error *err) {
    il_view_ids ids;
    IL_TRY(il_view_sessions(run->ledger, arena, &ids, err));
    il_json *list = il_json_make(arena, IL_JSON_ARRAY), *report = il_json_make(arena, IL_JSON_OBJECT);
    if (!run->json && ids.n) {
        (void)printf("%-28s  %-24s  %-11s  %-7s  %s\n", "session", "changed", "state", "mode",
                     "counts (egress: a way out stays open)");
    }
    for (size_t i = 0; i < ids.n; i++) {
        IL_TRY(session_line(run, arena, ids.ids[i], ids.changed_ms[i], list, err));
    }
    if (run->json) {
        return il_json_set(report, IL_STR("sessions"), list) ? il_put_json(stdout, report, err) : il_arena_fail(arena, err);
    }
    if (ids.n == 0) {
        (void)puts("no sessions");
    }
    if (run->unknown) {
        (void)fputs("`unknown`: its machine is not a shipped one; `interlock session show ID --policy POLICY` reads it\n",
                    stderr);
    }
    return IL_OK;
}

static il_exit session_list_all(session_run *run) {
    il_arena arena;
    il_error err = {0};
    il_arena_init(&arena, il_host_alloc(), SESSION_ARENA_BYTES);
    const il_status status = session_list(run, &arena, &err);
    il_arena_free(&arena);
    return status == IL_OK ? IL_EXIT_FINE : il_fail(NULL, &err);
}

static il_exit session_look(session_run *run, const char *id, il_status (*look)(il_view *v, bool json, il_error *err)) {
    il_view v;
    il_error err = {0};
    il_status status = il_view_open(&v, run->ledger, il_str_of(id), run->policy, &err);
    if (status == IL_OK) {
        v.ledger_flag = run->ledger_flag;
        v.policy_flag = run->policy;
        status = il_view_rows(&v, run->ledger, &err);
    }
    if (status == IL_OK) {
        status = look(&v, run->json, &err);
    }
    il_view_close(&v);
    return status == IL_OK ? IL_EXIT_FINE : il_fail(NULL, &err);
}

/* Calls that a dead process left open do not keep a session busy. */
il_status il_session_end(il_ledger *ledger, const il_view *v, bool abandon, uint32_t *recovered, il_error *err) {
    const il_monitor_config config = {
        .size = sizeof config, .machine = v->machine, .store = il_ledger_store(ledger), .host = il_host_system()};
    il_monitor *monitor = NULL;
    IL_TRY(il_monitor_new(il_host_alloc(), &config, &monitor, err));
    il_status status = il_monitor_recover(monitor, v->id, recovered, err);
    if (status == IL_OK) {
        status = il_monitor_end(monitor, v->id, abandon, err);
    }
    il_monitor_free(monitor);
    return status;
}

static il_exit session_end(session_run *run, const char *id) {
    il_view v;
    il_error err = {0};
    uint32_t recovered = 0;
    il_status status = il_view_open(&v, run->ledger, il_str_of(id), run->policy, &err);
    const bool over = status == IL_OK && il_str_eq(il_view_value(&v, "phase"), IL_STR("ended"));
    if (status == IL_OK && !over) {
        status = il_session_end(run->ledger, &v, run->abandon, &recovered, &err);
    }
    il_view_close(&v);
    if (recovered > 0) { /* also when the session could not end: this much has happened */
        (void)printf("settled %" PRIu32 " call%s that a dead process had left open, as the worst\n", recovered,
                     recovered == 1 ? "" : "s");
    }
    if (status != IL_OK) {
        return il_fail(NULL, &err);
    }
    (void)fputs(over ? "" : "ended ", stdout);
    il_put_text(stdout, il_str_of(id));
    (void)fputs(over ? " had ended already\n" : "\n", stdout);
    return IL_EXIT_FINE;
}

static il_exit session_say(session_run *run, const char *id) {
    il_view v;
    il_error err = {0};
    il_status status = il_view_open(&v, run->ledger, il_str_of(id), run->policy, &err);
    if (status == IL_OK) {
        status = il_session_say(run->ledger, &v, run->text, &err);
    }
    il_view_close(&v);
    if (status == IL_OK) {
        il_ledger_note_owner(run->path, "say so in a human's place");
    }
    return status == IL_OK ? IL_EXIT_FINE : il_fail(NULL, &err);
}

typedef struct session_trail_job {
    il_arena arena; /* of one row */
    size_t n;
    il_status status;
    il_error err;
} session_trail_job;

/* A row as the ledger holds it, in the order of its columns; a body that is no JSON any more stands there as text, one that
 * was pruned as null. */
static il_status session_trail_row(session_trail_job *job, const il_ledger_row *row) {
    char hash[IL_DIGEST_HEX];
    il_arena *a = &job->arena;
    il_json *body = NULL, *o = il_json_make(a, IL_JSON_OBJECT);
    if (row->erased) {
        body = il_json_make(a, IL_JSON_NULL);
    } else if (il_json_parse(a, row->body, NULL, &body, NULL) != IL_OK) {
        body = il_json_string(a, row->body);
    }
    il_digest_hex(row->hash, hash);
    const bool made = il_json_set(o, IL_STR("seq"), il_json_number(a, (int64_t)row->seq)) &&
                      il_json_set(o, IL_STR("time_ms"), il_json_number(a, (int64_t)row->time_ms)) &&
                      il_json_set(o, IL_STR("session"), il_json_string(a, row->key)) &&
                      il_json_set(o, IL_STR("kind"), il_json_string(a, row->kind)) &&
                      il_json_set(o, IL_STR("ticket"), il_json_number(a, (int64_t)row->ticket)) &&
                      il_json_set(o, IL_STR("body"), body) && il_json_set(o, IL_STR("hash"), il_json_string(a, il_str_of(hash)));
    return made ? il_put_json(stdout, o, &job->err) : il_arena_fail(a, &job->err);
}

static bool session_trail_visit(void *ctx, const il_ledger_row *row) {
    session_trail_job *job = ctx;
    il_arena_reset(&job->arena);
    job->n++;
    job->status = session_trail_row(job, row);
    return job->status == IL_OK;
}

/* The audit rows of a session, one JSON object a line: readable whatever machine it ran on. */
static il_exit session_trail(session_run *run, const char *id) {
    session_trail_job job = {0};
    il_arena_init(&job.arena, il_host_alloc(), SESSION_ARENA_BYTES);
    il_status status = IL_OK;
    if (*id) { /* an empty id would be every session's rows */
        status = il_ledger_rows(run->ledger, il_str_of(id), session_trail_visit, &job, &job.err);
    }
    if (status == IL_OK) {
        status = job.status;
    }
    if (status == IL_OK && job.n == 0) {
        status = il_error_set(&job.err, IL_E_NOT_FOUND, "there is no session `%s`", id);
    }
    il_arena_free(&job.arena);
    return status == IL_OK ? IL_EXIT_FINE : il_fail(NULL, &job.err);
}

static il_exit session_verb(session_run *run, const char *verb, const char *id) {
    il_error err = {0};
    const bool ends = strcmp(verb, "end") == 0, says = strcmp(verb, "say") == 0;
    const il_ledger_options options = {.size = sizeof options, .must_exist = true, .read_only = !ends && !says};
    if (il_ledger_use(run->ledger_flag, &options, run->path, &run->ledger, &err) != IL_OK) {
        return il_fail(NULL, &err);
    }
    il_exit code;
    if (ends) {
        code = session_end(run, id);
    } else if (says) {
        code = session_say(run, id);
    } else if (run->trail && id) {
        code = session_trail(run, id);
    } else if (strcmp(verb, "show") == 0) {
        code = session_look(run, id, il_session_show);
    } else if (strcmp(verb, "why") == 0) {
        code = session_look(run, id, il_session_why);
    } else {
        code = session_list_all(run);
    }
    il_ledger_close(run->ledger);
    return code;
}

/* `say ID -` or `say ID --text T`. */
static il_exit session_say_usage(session_run *run, const il_arguments *arguments) {
    const bool piped = arguments->n == 3 && strcmp(arguments->v[2], "-") == 0;
    if (run->json || run->abandon || run->trail || arguments->n < 2 || (!piped && arguments->n != 2)) {
        return il_usage("session", "`say` takes the id of one session, and `-` or `--text`");
    }
    if (piped == (run->text != NULL)) {
        return il_usage("session", "what was typed? give it on standard input, with `-`, or with --text");
    }
    return session_verb(run, "say", arguments->v[1]);
}

static il_exit session_prune(session_run *run, const il_arguments *arguments) {
    il_error err = {0};
    const il_prune_options options = {.ledger_flag = run->ledger_flag,
                                      .policy = run->policy,
                                      .older_than = run->older_than,
                                      .idle = run->idle,
                                      .dry_run = run->dry_run,
                                      .json = run->json};
    if (arguments->n != 1 || run->abandon || run->trail) {
        return il_usage("session", "`prune` takes no id, no `--abandon` and no `--trail`");
    }
    if (!run->older_than) {
        return il_usage("session", "how old? say it with --older-than, as in 30d");
    }
    return il_session_prune(&options, &err) == IL_OK ? IL_EXIT_FINE : il_fail(NULL, &err);
}

il_exit il_cmd_session(int argc, char **argv) {
    session_run run = {0};
    const il_option options[] = {{.name = "ledger", .value = &run.ledger_flag}, {.name = "policy", .value = &run.policy},
                                 {.name = "json", .flag = &run.json},           {.name = "abandon", .flag = &run.abandon},
                                 {.name = "trail", .flag = &run.trail},         {.name = "older-than", .value = &run.older_than},
                                 {.name = "idle", .flag = &run.idle},           {.name = "dry-run", .flag = &run.dry_run},
                                 {.name = "text", .value = &run.text}};
    il_arguments arguments;
    il_error err = {0};
    if (il_options_read(argc, argv, options, sizeof options / sizeof options[0], &arguments, &err) != IL_OK) {
        return il_fail_usage(argv[0], &err);
    }
    const char *verb = arguments.n ? arguments.v[0] : "list";
    const bool lists = strcmp(verb, "list") == 0;
    if (strcmp(verb, "prune") == 0) {
        return session_prune(&run, &arguments);
    }
    if (run.older_than || run.idle || run.dry_run) {
        return il_usage(argv[0], "`--older-than`, `--idle` and `--dry-run` belong to `prune`, not to `%s`", verb);
    }
    if (strcmp(verb, "say") == 0) {
        return session_say_usage(&run, &arguments);
    }
    if (run.text) {
        return il_usage(argv[0], "`--text` belongs to `say`, not to `%s`", verb);
    }
    if (!lists && strcmp(verb, "show") != 0 && strcmp(verb, "why") != 0 && strcmp(verb, "end") != 0) {
        return il_usage(argv[0], "unknown word `%s`; it is list, show, why, say, end or prune", verb);
    }
    if (run.trail && strcmp(verb, "show") != 0) {
        return il_usage(argv[0], "`--trail` belongs to `show`, not to `%s`", verb);
    }
    if (arguments.n != (lists ? (arguments.n ? 1 : 0) : 2)) {
        return lists ? il_usage(argv[0], "`list` takes no id") : il_usage(argv[0], "`%s` takes the id of one session", verb);
    }
    return session_verb(&run, verb, lists ? NULL : arguments.v[1]);
}
