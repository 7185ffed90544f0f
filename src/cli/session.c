/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/session.h"

#include <string.h>

#include "cli/ledger.h"
#include "cli/options.h"
#include "cli/output.h"

#define SESSION_ARENA_BYTES ((size_t)1 << 30)

typedef struct session_run {
    const char *ledger_flag, *policy;
    bool json, abandon;
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
    if (!run->json) {
        il_put_cell(stdout, id, 28);
        (void)fputs("  ", stdout);
        il_put_time(stdout, changed_ms);
        (void)fputs("  ", stdout);
        il_put_cell(stdout, word, 11);
        (void)fputs("  ", stdout);
        il_put_effects(stdout, readable ? v.session.counted : 0);
        (void)fputc('\n', stdout);
    } else {
        il_json *o = il_json_make(arena, IL_JSON_OBJECT);
        il_str kept = {0};
        status = il_arena_copy(arena, word, &kept, err);
        if (status == IL_OK && !(il_json_set(o, IL_STR("id"), il_json_string(arena, id)) &&
                                 il_json_set(o, IL_STR("changed_ms"), il_json_number(arena, (int64_t)changed_ms)) &&
                                 il_json_set(o, IL_STR("phase"), il_json_string(arena, kept)) &&
                                 il_json_set(o, IL_STR("counted"), il_json_effects(arena, readable ? v.session.counted : 0)) &&
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
    for (size_t i = 0; i < ids.n; i++) {
        IL_TRY(session_line(run, arena, ids.ids[i], ids.changed_ms[i], list, err));
    }
    if (run->json) {
        return il_json_set(report, IL_STR("sessions"), list) ? il_put_json(stdout, report, err) : il_arena_fail(arena, err);
    }
    if (ids.n == 0) {
        (void)puts("no sessions");
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
        status = il_view_rows(&v, run->ledger, &err);
    }
    if (status == IL_OK) {
        status = look(&v, run->json, &err);
    }
    il_view_close(&v);
    return status == IL_OK ? IL_EXIT_FINE : il_fail(NULL, &err);
}

static il_status session_end_view(session_run *run, const il_view *v, il_error *err) {
    const il_monitor_config config = {
        .size = sizeof config, .machine = v->machine, .store = il_ledger_store(run->ledger), .host = il_host_system()};
    il_monitor *monitor = NULL;
    IL_TRY(il_monitor_new(il_host_alloc(), &config, &monitor, err));
    const il_status status = il_monitor_end(monitor, v->id, run->abandon, err);
    il_monitor_free(monitor);
    return status;
}

static il_exit session_end(session_run *run, const char *id) {
    il_view v;
    il_error err = {0};
    il_status status = il_view_open(&v, run->ledger, il_str_of(id), run->policy, &err);
    if (status == IL_OK) {
        status = session_end_view(run, &v, &err);
    }
    il_view_close(&v);
    if (status != IL_OK) {
        return il_fail(NULL, &err);
    }
    (void)fputs("ended ", stdout);
    il_put_text(stdout, il_str_of(id));
    (void)fputc('\n', stdout);
    return IL_EXIT_FINE;
}

static il_exit session_verb(session_run *run, const char *verb, const char *id) {
    il_error err = {0};
    const bool ends = strcmp(verb, "end") == 0;
    const il_ledger_options options = {.size = sizeof options, .must_exist = true, .read_only = !ends};
    if (il_ledger_use(run->ledger_flag, &options, run->path, &run->ledger, &err) != IL_OK) {
        return il_fail(NULL, &err);
    }
    il_exit code;
    if (ends) {
        code = session_end(run, id);
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

il_exit il_cmd_session(int argc, char **argv) {
    session_run run = {0};
    const il_option options[] = {{.name = "ledger", .value = &run.ledger_flag},
                                 {.name = "policy", .value = &run.policy},
                                 {.name = "json", .flag = &run.json},
                                 {.name = "abandon", .flag = &run.abandon}};
    il_arguments arguments;
    il_error err = {0};
    if (il_options_read(argc, argv, options, sizeof options / sizeof options[0], &arguments, &err) != IL_OK) {
        return il_fail_usage(argv[0], &err);
    }
    const char *verb = arguments.n ? arguments.v[0] : "list";
    const bool lists = strcmp(verb, "list") == 0;
    if (!lists && strcmp(verb, "show") != 0 && strcmp(verb, "why") != 0 && strcmp(verb, "end") != 0) {
        return il_usage(argv[0], "unknown word `%s`; it is list, show, why or end", verb);
    }
    if (arguments.n != (lists ? (arguments.n ? 1 : 0) : 2)) {
        return lists ? il_usage(argv[0], "`list` takes no id") : il_usage(argv[0], "`%s` takes the id of one session", verb);
    }
    return session_verb(&run, verb, lists ? NULL : arguments.v[1]);
}
