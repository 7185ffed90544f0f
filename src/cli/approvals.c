/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that wait for a human, across all sessions of a ledger. */
#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "cli/ledger.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/view.h"

#define APPROVALS_ARENA_BYTES ((size_t)1 << 30)
#define APPROVALS_VALUES_BYTES ((size_t)1 << 20)

typedef struct approvals_run {
    const char *ledger_flag, *policy, *session;
    bool json;
    char path[IL_LEDGER_PATH_BYTES];
    il_ledger *ledger;
    il_arena arena;
    uint64_t now_ms;
    il_json *list;
    size_t found;
} approvals_run;

static const il_slot *approvals_slot(const il_session *s, const char *id) {
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        if (s->slots[i].state != IL_SLOT_FREE && strcmp(s->slots[i].id, id) == 0) {
            return &s->slots[i];
        }
    }
    return NULL;
}

/* The `request` row of an approval: what the human is shown. */
static const il_view_row *approvals_request(const il_view *v, const char *id) {
    for (size_t i = v->nrows; i-- > 0;) {
        if (il_str_eq(v->rows[i].kind, IL_STR("request")) && il_str_eq(il_view_text(&v->rows[i], "approval"), il_str_of(id))) {
            return &v->rows[i];
        }
    }
    return NULL;
}

/* The row of the decision that asked: why, and since which calls. */
static const il_view_row *approvals_decision(const il_view *v, const char *id) {
    for (size_t i = v->nrows; i-- > 0;) {
        if (il_str_eq(v->rows[i].kind, IL_STR("decision")) && il_str_eq(il_view_text(&v->rows[i], "approval"), il_str_of(id)) &&
            il_str_eq(il_view_text(&v->rows[i], "action"), IL_STR("require_approval"))) {
            return &v->rows[i];
        }
    }
    return NULL;
}

/* `untrusted from web.fetch (call 1), sensitive from files.read (call 2)` */
static void approvals_since(const il_view_row *decision) {
    const il_json *list = decision ? il_json_get(decision->body, IL_STR("witnesses")) : NULL;
    for (const il_json *w = il_json_first(list); w; w = il_json_next(w)) {
        (void)fputs(w == il_json_first(list) ? "  since    " : ", ", stdout);
        il_put_text(stdout, il_json_text(il_json_get(w, IL_STR("effect"))));
        (void)fputs(" from ", stdout);
        il_put_text(stdout, il_json_text(il_json_get(w, IL_STR("tool"))));
        (void)fputs(" (call ", stdout);
        il_put_text(stdout, il_json_text(il_json_get(w, IL_STR("ticket"))));
        (void)fputc(')', stdout);
    }
    (void)fputs(il_json_count(list) ? "\n" : "", stdout);
}

/* The policy's `where` as it was when the request was made; rows of older builds do not say. */
static bool approvals_paged(const il_view *v, const char *id) {
    const il_view_row *request = approvals_request(v, id);
    const il_json *where = request ? il_json_get(request->body, IL_STR("where")) : NULL;
    bool paged = il_json_count(where) == 0;
    for (const il_json *w = il_json_first(where); w; w = il_json_next(w)) {
        paged = paged || il_str_eq(il_json_text(w), IL_STR("page"));
    }
    return paged;
}

/* Where each value came from: `bo@x.example: a human typed it`. Rows of older builds do not say. */
static void approvals_values(const il_view_row *request) {
    const il_json *values = request ? il_json_get(request->body, IL_STR("values")) : NULL;
    for (const il_json *v = il_json_first(values); v; v = il_json_next(v)) {
        const il_json *from = il_json_get(v, IL_STR("from"));
        (void)fputs(v == il_json_first(values) ? "  because  " : "           ", stdout);
        il_put_text(stdout, il_json_text(il_json_get(v, IL_STR("value"))));
        (void)fputs(" (", stdout);
        il_put_text(stdout, il_json_text(il_json_get(v, IL_STR("argument"))));
        (void)fputs("): ", stdout);
        il_put_text(stdout, il_json_text(il_json_get(v, IL_STR("why"))));
        if (il_json_kind_of(from) == IL_JSON_OBJECT) {
            (void)fputs("; ", stdout);
            il_put_text(stdout, il_json_text(il_json_get(from, IL_STR("tool"))));
            (void)fputs(", call ", stdout);
            il_put_text(stdout, il_json_text(il_json_get(from, IL_STR("ticket"))));
        }
        (void)fputc('\n', stdout);
    }
}

static void approvals_text(const il_view *v, const il_slot *slot) {
    const il_view_row *request = approvals_request(v, slot->id);
    const il_str rule = il_view_held(v, slot);
    il_put_text(stdout, il_str_of(slot->id));
    (void)printf("  %s  session ", slot->state == IL_SLOT_GRANTED ? "granted" : "waits  ");
    il_put_text(stdout, v->id);
    (void)fputs("\n  call     ", stdout);
    il_put_text(stdout, il_str_of(slot->tool));
    (void)fputs(" [", stdout);
    il_put_effects(stdout, slot->effects);
    (void)fputs("]\n", stdout);
    const il_json *to = request ? il_json_get(request->body, IL_STR("destinations")) : NULL;
    if (il_json_count(to)) {
        (void)fputs("  to      ", stdout);
        for (const il_json *d = il_json_first(to); d; d = il_json_next(d)) {
            (void)fputc(' ', stdout);
            il_put_text(stdout, il_json_text(d));
        }
        (void)fputc('\n', stdout);
    }
    approvals_values(request);
    const il_view_row *decision = approvals_decision(v, slot->id);
    const il_str why = decision ? il_view_text(decision, "why") : (il_str){0};
    if (why.n) {
        (void)fputs("  not vouched: ", stdout);
        il_put_text(stdout, why);
        (void)fputc('\n', stdout);
    }
    (void)fputs("  held by  ", stdout);
    il_put_text(stdout, rule.n ? rule : IL_STR("a machine that is not shipped (name its policy with --policy)"));
    (void)fputc('\n', stdout);
    approvals_since(decision);
    if (!approvals_paged(v, slot->id)) {
        (void)fputs("  asked    in the client's own dialogue only\n", stdout);
    }
    (void)fputs("  until    ", stdout);
    il_put_time(stdout, slot->expires_ms);
    (void)fputc('\n', stdout);
}

/* A copy that lives in the run's arena. */
static il_status approvals_copy(il_arena *arena, const il_json *v, il_json **out, il_error *err) {
    il_buf text;
    il_str bytes;
    *out = il_json_make(arena, IL_JSON_ARRAY);
    if (!v) {
        return *out ? IL_OK : il_arena_fail(arena, err);
    }
    il_buf_init(&text, arena, APPROVALS_VALUES_BYTES);
    il_json_write(&text, v, IL_JSON_AS_READ);
    IL_TRY(il_buf_done(&text, &bytes, err));
    return il_json_parse(arena, bytes, NULL, out, err);
}

static il_status approvals_json(approvals_run *run, const il_view *v, const il_slot *slot, il_error *err) {
    il_arena *arena = &run->arena;
    const il_view_row *request = approvals_request(v, slot->id);
    const il_json *to = request ? il_json_get(request->body, IL_STR("destinations")) : NULL;
    const il_str texts[] = {il_str_of(slot->id), v->id, il_str_of(slot->tool), il_view_held(v, slot)};
    il_str kept[4];
    il_json *o = il_json_make(arena, IL_JSON_OBJECT), *destinations = il_json_make(arena, IL_JSON_ARRAY);
    for (size_t i = 0; i < 4; i++) {
        IL_TRY(il_arena_copy(arena, texts[i], &kept[i], err));
    }
    bool made = true;
    il_json *values, *witnesses;
    const il_view_row *decision = approvals_decision(v, slot->id);
    IL_TRY(approvals_copy(arena, request ? il_json_get(request->body, IL_STR("values")) : NULL, &values, err));
    IL_TRY(approvals_copy(arena, decision ? il_json_get(decision->body, IL_STR("witnesses")) : NULL, &witnesses, err));
    il_str why = decision ? il_view_text(decision, "why") : (il_str){0};
    IL_TRY(il_arena_copy(arena, why, &why, err));
    for (const il_json *d = il_json_first(to); d && made; d = il_json_next(d)) {
        il_str text;
        IL_TRY(il_arena_copy(arena, il_json_text(d), &text, err));
        made = il_json_push(destinations, il_json_string(arena, text));
    }
    made = made && il_json_set(o, IL_STR("id"), il_json_string(arena, kept[0])) &&
           il_json_set(o, IL_STR("session"), il_json_string(arena, kept[1])) &&
           il_json_set(o, IL_STR("state"),
                       il_json_string(arena, slot->state == IL_SLOT_GRANTED ? IL_STR("granted") : IL_STR("asked"))) &&
           il_json_set(o, IL_STR("tool"), il_json_string(arena, kept[2])) &&
           il_json_set(o, IL_STR("effects"), il_json_effects(arena, slot->effects)) &&
           il_json_set(o, IL_STR("reason"), kept[3].n ? il_json_string(arena, kept[3]) : il_json_make(arena, IL_JSON_NULL)) &&
           il_json_set(o, IL_STR("destinations"), destinations) && il_json_set(o, IL_STR("values"), values) &&
           il_json_set(o, IL_STR("why"), why.n ? il_json_string(arena, why) : il_json_make(arena, IL_JSON_NULL)) &&
           il_json_set(o, IL_STR("witnesses"), witnesses) &&
           il_json_set(o, IL_STR("expires_ms"), il_json_number(arena, (int64_t)slot->expires_ms)) && il_json_push(run->list, o);
    return made ? IL_OK : il_arena_fail(arena, err);
}

/* Opens the view even when its machine is unknown: v->machine is NULL then. */
static il_status approvals_view(approvals_run *run, il_view *v, il_str id, il_error *err) {
    const il_status status = il_view_open(v, run->ledger, id, run->policy, err);
    if (status == IL_E_NOT_FOUND && !run->policy && v->version != 0) {
        v->machine = NULL;
        return IL_OK;
    }
    return status;
}

static il_status approvals_of(approvals_run *run, il_str id, il_error *err) {
    il_view v;
    il_status status = approvals_view(run, &v, id, err);
    if (status == IL_E_MISMATCH) { /* --policy is another session's */
        il_view_close(&v);
        return IL_OK;
    }
    bool rows = false;
    for (uint32_t i = 0; i < IL_SLOTS_MAX && status == IL_OK; i++) {
        const il_slot *slot = &v.session.slots[i];
        if (slot->state == IL_SLOT_FREE || slot->expires_ms <= run->now_ms) {
            continue;
        }
        if (!rows) {
            status = il_view_rows(&v, run->ledger, err);
            rows = true;
        }
        if (status == IL_OK && run->json) {
            status = approvals_json(run, &v, slot, err);
        } else if (status == IL_OK) {
            approvals_text(&v, slot);
        }
        run->found++;
    }
    il_view_close(&v);
    return status;
}

/* A failure of the machine and not of one session, which would be passed over. */
static bool approvals_stops(il_status status) { return status == IL_E_MEMORY || status == IL_E_IO || status == IL_E_BUSY; }

static il_status approvals_list(approvals_run *run, il_error *err) {
    il_view_ids ids;
    bool known = !run->session;
    IL_TRY(il_view_sessions(run->ledger, &run->arena, &ids, err));
    for (size_t i = 0; i < ids.n && !known; i++) {
        known = il_str_eq(ids.ids[i], il_str_of(run->session));
    }
    if (!known) {
        il_view v;
        const il_status status =
            il_view_open(&v, run->ledger, il_str_of(run->session), NULL, err); /* says it as `session show` does */
        il_view_close(&v);
        IL_TRY(status);
    }
    run->list = il_json_make(&run->arena, IL_JSON_ARRAY);
    for (size_t i = 0; i < ids.n; i++) {
        if (run->session && !il_str_eq(ids.ids[i], il_str_of(run->session))) {
            continue;
        }
        il_error why = {0};
        const il_status status = approvals_of(run, ids.ids[i], &why);
        if (approvals_stops(status)) {
            *err = why;
            return status;
        }
        if (status != IL_OK) { /* one damaged session must not hide the others */
            (void)fputs("interlock: warning: session `", stderr);
            il_put_text(stderr, ids.ids[i]);
            (void)fputs("`: ", stderr);
            il_put_text(stderr, il_str_of(why.msg));
            (void)fputc('\n', stderr);
        }
    }
    if (run->json) {
        il_json *report = il_json_make(&run->arena, IL_JSON_OBJECT);
        return il_json_set(report, IL_STR("approvals"), run->list) ? il_put_json(stdout, report, err)
                                                                   : il_arena_fail(&run->arena, err);
    }
    if (run->found == 0) {
        (void)puts("nothing waits for approval");
    }
    return IL_OK;
}

/* Who answers, for the trail: the user's name, or the number where there is no name. */
static void approvals_by(char *out, size_t cap) {
    const struct passwd *user = getpwuid(getuid());
    if (user && user->pw_name && user->pw_name[0]) {
        (void)snprintf(out, cap, "%s", user->pw_name);
    } else {
        (void)snprintf(out, cap, "uid %lu", (unsigned long)getuid());
    }
}

static il_status approvals_answer_view(approvals_run *run, const il_view *v, const char *id, bool grant, il_error *err) {
    char by[128];
    const il_monitor_config config = {
        .size = sizeof config, .machine = v->machine, .store = il_ledger_store(run->ledger), .host = il_host_system()};
    il_monitor *monitor = NULL;
    if (!v->machine) {
        return il_error_set(err, IL_E_NOT_FOUND,
                            "session `%.*s` ran on a machine that is not shipped; name its policy with --policy",
                            IL_STR_ARG(v->id));
    }
    approvals_by(by, sizeof by);
    IL_TRY(il_monitor_new(il_host_alloc(), &config, &monitor, err));
    const il_status status = grant ? il_monitor_approve(monitor, v->id, il_str_of(id), il_str_of(by), err)
                                   : il_monitor_refuse(monitor, v->id, il_str_of(id), il_str_of(by), err);
    il_monitor_free(monitor);
    return status;
}

/* The first request that is open and whose id begins so; a request is answered by its whole id, since another one may begin alike tomorrow. */
static void approvals_near(const il_session *s, const char *id, char *out, size_t cap) {
    for (uint32_t i = 0; i < IL_SLOTS_MAX && !out[0]; i++) {
        if (id[0] && s->slots[i].state != IL_SLOT_FREE && strncmp(s->slots[i].id, id, strlen(id)) == 0) {
            (void)snprintf(out, cap, "%s", s->slots[i].id);
        }
    }
}

/* Finds the session that holds the request and answers it there. */
static il_status approvals_answer(approvals_run *run, const char *id, bool grant, il_error *err) {
    il_view_ids ids;
    char near[IL_APPROVAL_ID_BYTES] = "";
    IL_TRY(il_view_sessions(run->ledger, &run->arena, &ids, err));
    for (size_t i = 0; i < ids.n; i++) {
        il_view v;
        il_error why = {0};
        il_status status = approvals_view(run, &v, ids.ids[i], &why);
        const bool readable = status == IL_OK;
        const bool here = readable && approvals_slot(&v.session, id);
        if (readable) {
            approvals_near(&v.session, id, near, sizeof near);
        }
        if (here && grant) {
            status = il_view_rows(&v, run->ledger, err);
        }
        if (here && grant && status == IL_OK && !approvals_paged(&v, id)) {
            status = il_error_set(
                err, IL_E_PERMISSION,
                "the policy has humans asked in the client's own dialogue, not here (`approvals: where:`); `deny` works");
        }
        if (here && status == IL_OK) {
            status = approvals_answer_view(run, &v, id, grant, err);
        }
        il_view_close(&v);
        if (here) {
            return status;
        }
        if (approvals_stops(status)) { /* it may be there */
            *err = why;
            return status;
        }
    }
    if (near[0]) {
        return il_error_set(err, IL_E_NOT_FOUND, "no request `%s` waits; one that begins so is `%s`: name it by its whole id", id,
                            near);
    }
    return il_error_set(err, IL_E_NOT_FOUND,
                        "no request `%s` waits: it may be answered, expired or void; `interlock approvals list` shows what does",
                        id);
}

static il_exit approvals_verb(approvals_run *run, const char *verb, const char *id) {
    il_error err = {0};
    const il_host host = il_host_system();
    const bool lists = !id, grant = strcmp(verb, "approve") == 0;
    const il_ledger_options options = {.size = sizeof options, .must_exist = true, .read_only = lists};
    if (!host.now_ms(host.ctx, &run->now_ms)) {
        (void)il_error_set(&err, IL_E_INTERNAL, "there is no clock");
        return il_fail(NULL, &err);
    }
    if (il_ledger_use(run->ledger_flag, &options, run->path, &run->ledger, &err) != IL_OK) {
        return il_fail(NULL, &err);
    }
    const il_status status = lists ? approvals_list(run, &err) : approvals_answer(run, id, grant, &err);
    if (status == IL_OK && !lists) {
        (void)printf("%s ", grant ? "approved" : "denied");
        il_put_text(stdout, il_str_of(id));
        (void)fputs(grant ? "; the agent may now repeat exactly this call, once\n" : "\n", stdout);
        if (grant) {
            il_ledger_note_owner(run->path, "approve as well"); /* an approval is worth what keeps the agent from giving it */
        }
    }
    il_ledger_close(run->ledger);
    return status == IL_OK ? IL_EXIT_FINE : il_fail(NULL, &err);
}

il_exit il_cmd_approvals(int argc, char **argv) {
    approvals_run run = {0};
    const il_option options[] = {{.name = "ledger", .value = &run.ledger_flag},
                                 {.name = "policy", .value = &run.policy},
                                 {.name = "session", .value = &run.session},
                                 {.name = "json", .flag = &run.json}};
    il_arguments arguments;
    il_error err = {0};
    if (il_options_read(argc, argv, options, sizeof options / sizeof options[0], &arguments, &err) != IL_OK) {
        return il_fail_usage(argv[0], &err);
    }
    const char *verb = arguments.n ? arguments.v[0] : "list";
    const bool lists = strcmp(verb, "list") == 0;
    if (!lists && strcmp(verb, "approve") != 0 && strcmp(verb, "deny") != 0) {
        return il_usage(argv[0], "unknown word `%s`; it is list, approve or deny", verb);
    }
    if (!lists && arguments.n != 2) {
        return il_usage(argv[0], "`%s` takes the id of one request", verb);
    }
    if (lists && arguments.n > 1) {
        return il_usage(argv[0], "`list` takes no id");
    }
    il_arena_init(&run.arena, il_host_alloc(), APPROVALS_ARENA_BYTES);
    const il_exit code = approvals_verb(&run, verb, lists ? NULL : arguments.v[1]);
    il_arena_free(&run.arena);
    return code;
}
