/* SPDX-License-Identifier: Apache-2.0 */
/* inspect: the rows of a ledger as a tree: who, in which sessions, called what, with which effects, and what was decided. Read from the trail alone, so that
 * a ledger is readable without the policy and machine that wrote it. */
#include <inttypes.h>
#include <string.h>

#include "base/sha256.h"
#include "check/numbers.h"
#include "cli/ledger.h"
#include "cli/options.h"
#include "cli/output.h"
#include "interlock/host.h"

#define INSPECT_ARENA_BYTES ((size_t)2 << 30)
#define INSPECT_ROW_BYTES ((size_t)16 << 20) /* of one row, parsed */
#define INSPECT_DEPTH 64u                    /* of children below children; what is deeper stands at this depth */

typedef struct inspect_approval {
    il_str id, by;
    const char *state; /* asked, granted, refused, expired, void, redeemed */
} inspect_approval;

typedef struct inspect_call inspect_call;
struct inspect_call {
    inspect_call *next;
    bool said;     /* no call: a human typed something, */
    il_str digest; /* of this digest */
    uint64_t ticket, time_ms;
    il_str tool, action, layer, reason, how, withheld;
    uint32_t effects, refined;
    inspect_approval *approval; /* NULL: none */
};

typedef struct inspect_session inspect_session;
struct inspect_session {
    inspect_session *next, *children, *last_child, *parent;
    il_str id, principal, mode, from; /* `from`: the parent that the trail names */
    uint64_t begun_ms, erased;
    uint32_t depth;
    bool begun, joined, ended, quarantined;
    inspect_call *calls, *last;
};

typedef struct inspect_run {
    char path[IL_LEDGER_PATH_BYTES];
    bool json;
    il_arena arena, row;
    il_numbers ids, tickets, asked; /* by hashes of names */
    il_numbers *const tables[3];
    void **things[3]; /* of each table, by number */
    uint32_t room[3];
    inspect_session *sessions, *last;
    uint64_t rows;
    il_status status;
    il_error *err;
} inspect_run;

enum { INSPECT_SESSIONS = 0, INSPECT_TICKETS, INSPECT_APPROVALS };

/* ---- finding things again ------------------------------------------------------------------------------ */

/* The place of what has this name; NULL without memory. */
static void **inspect_place(inspect_run *run, int table, il_str name, uint64_t more) {
    uint8_t digest[IL_DIGEST_BYTES];
    uint64_t key;
    il_sha256 h;
    il_sha256_init(&h, NULL);
    il_sha256_add(&h, &more, sizeof more);
    il_sha256_add(&h, name.p, name.n);
    il_sha256_end(&h, digest);
    memcpy(&key, digest, sizeof key);
    const uint32_t n = il_numbers_of(run->tables[table], key);
    if (n == IL_NO_NUMBER) {
        return NULL;
    }
    if (n >= run->room[table]) {
        const uint32_t room = run->room[table] ? 2 * run->room[table] : 256;
        void **things = (void **)il_arena_array(&run->arena, room, sizeof *things);
        if (!things) {
            return NULL;
        }
        if (run->room[table]) {
            memcpy((void *)things, (void *)run->things[table], run->room[table] * sizeof *things);
        }
        run->things[table] = things;
        run->room[table] = room;
    }
    return &run->things[table][n];
}

static il_status inspect_session_of(inspect_run *run, il_str id, inspect_session **out) {
    void **place = inspect_place(run, INSPECT_SESSIONS, id, 0);
    *out = place ? *place : NULL;
    if (*out) {
        return IL_OK;
    }
    inspect_session *s = place ? IL_NEW(&run->arena, inspect_session) : NULL;
    if (!s) {
        return il_error_set(run->err, IL_E_MEMORY, "no memory for so many sessions");
    }
    IL_TRY(il_arena_copy(&run->arena, id, &s->id, run->err));
    *place = s;
    *(run->last ? &run->last->next : &run->sessions) = s;
    run->last = s;
    *out = s;
    return IL_OK;
}

/* A text of the body; empty: it is none. */
static il_status inspect_text(inspect_run *run, const il_json *body, const char *key, il_str *out) {
    const il_json *v = il_json_get(body, il_str_of(key));
    *out = (il_str){0};
    return il_json_kind_of(v) == IL_JSON_STRING ? il_arena_copy(&run->arena, il_json_text(v), out, run->err) : IL_OK;
}

static uint32_t inspect_effects(const il_json *body, const char *key) {
    uint32_t effects = 0;
    for (const il_json *v = il_json_first(il_json_get(body, il_str_of(key))); v; v = il_json_next(v)) {
        for (uint32_t i = 0; i < IL_EFFECTS; i++) {
            effects |= il_str_eq(il_json_text(v), il_effect_name(1u << i)) ? 1u << i : 0;
        }
    }
    return effects;
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

static il_status inspect_begin(inspect_run *run, inspect_session *s, const il_ledger_row *row, const il_json *body) {
    if (s->begun) {
        return IL_OK; /* resumed */
    }
    s->begun = true;
    s->begun_ms = row->time_ms;
    IL_TRY(inspect_text(run, body, "principal", &s->principal));
    IL_TRY(inspect_text(run, body, "mode", &s->mode));
    return inspect_text(run, body, "parent", &s->from);
}

static il_status inspect_approval_of(inspect_run *run, const inspect_session *s, const il_json *body, inspect_approval **out) {
    il_str id;
    IL_TRY(inspect_text(run, body, "approval", &id));
    *out = NULL;
    if (!id.n) {
        return IL_OK;
    }
    void **place = inspect_place(run, INSPECT_APPROVALS, id, (uint64_t)(uintptr_t)s);
    if (place && !*place) {
        inspect_approval *a = IL_NEW(&run->arena, inspect_approval);
        if (a) {
            *a = (inspect_approval){.id = id, .state = "asked"};
        }
        *place = a;
    }
    *out = place ? *place : NULL;
    return *out ? IL_OK : il_error_set(run->err, IL_E_MEMORY, "no memory for so many approvals");
}

static il_status inspect_decision(inspect_run *run, inspect_session *s, const il_ledger_row *row, const il_json *body) {
    inspect_call *c = IL_NEW(&run->arena, inspect_call);
    if (!c) {
        return il_arena_fail(&run->arena, run->err);
    }
    *c = (inspect_call){.ticket = row->ticket, .time_ms = row->time_ms, .effects = inspect_effects(body, "effects")};
    IL_TRY(inspect_text(run, body, "tool", &c->tool));
    IL_TRY(inspect_text(run, body, "action", &c->action));
    IL_TRY(inspect_text(run, body, "layer", &c->layer));
    IL_TRY(inspect_text(run, body, "reason", &c->reason));
    IL_TRY(inspect_approval_of(run, s, body, &c->approval));
    if (c->approval && il_str_eq(c->action, IL_STR("allow"))) {
        c->approval->state = "redeemed";
    }
    *(s->last ? &s->last->next : &s->calls) = c;
    s->last = c;
    if (row->ticket) {
        void **place = inspect_place(run, INSPECT_TICKETS, s->id, row->ticket);
        if (!place) {
            return il_error_set(run->err, IL_E_MEMORY, "no memory for so many calls");
        }
        *place = c;
    }
    return IL_OK;
}

static il_status inspect_say(inspect_run *run, inspect_session *s, const il_ledger_row *row, const il_json *body) {
    inspect_call *c = IL_NEW(&run->arena, inspect_call);
    if (!c) {
        return il_arena_fail(&run->arena, run->err);
    }
    *c = (inspect_call){.said = true, .time_ms = row->time_ms};
    *(s->last ? &s->last->next : &s->calls) = c;
    s->last = c;
    return inspect_text(run, body, "digest", &c->digest);
}

static il_status inspect_settle(inspect_run *run, const inspect_session *s, const il_ledger_row *row, const il_json *body) {
    void **place = inspect_place(run, INSPECT_TICKETS, s->id, row->ticket);
    inspect_call *c = place ? *place : NULL;
    if (!c || !row->ticket) {
        return IL_OK; /* what it admitted is erased, or a parent's */
    }
    c->refined = inspect_effects(body, "refined");
    IL_TRY(inspect_text(run, body, "how", &c->how));
    return inspect_text(run, body, "reason", &c->withheld);
}

static il_status inspect_answer(inspect_run *run, const inspect_session *s, const char *state, const il_json *body) {
    inspect_approval *a;
    const il_json *why = il_json_get(body, IL_STR("why"));
    static const char *const lapses[] = {"expired", "redeemed", "void"};
    IL_TRY(inspect_approval_of(run, s, body, &a));
    if (!a) {
        return IL_OK;
    }
    for (size_t i = 0; i < 3 && !state; i++) {
        if (il_json_kind_of(why) == IL_JSON_STRING && il_str_eq(il_json_text(why), il_str_of(lapses[i]))) {
            state = lapses[i];
        }
    }
    a->state = state ? state : a->state;
    return a->by.n ? IL_OK : inspect_text(run, body, "by", &a->by);
}

static il_status inspect_join(inspect_run *run, const il_json *body) {
    il_str id;
    IL_TRY(inspect_text(run, body, "child", &id));
    void **place = inspect_place(run, INSPECT_SESSIONS, id, 0);
    inspect_session *child = place ? *place : NULL;
    if (child) {
        child->joined = child->joined || il_json_kind_of(il_json_get(body, IL_STR("reason"))) == IL_JSON_NULL;
    }
    return place ? IL_OK : il_error_set(run->err, IL_E_MEMORY, "no memory for so many sessions");
}

static il_status inspect_row(inspect_run *run, const il_ledger_row *row) {
    inspect_session *s;
    il_json *body;
    run->rows++;
    if (!il_str_eq(row->space, IL_STR(IL_SPACE_SESSION))) {
        return IL_OK;
    }
    IL_TRY(inspect_session_of(run, row->key, &s));
    if (row->erased) {
        s->erased++;
        return IL_OK;
    }
    il_arena_reset(&run->row);
    if (il_json_parse(&run->row, row->body, NULL, &body, run->err) != IL_OK) {
        return il_error_set(run->err, IL_E_DAMAGED, "row %" PRIu64 " is no JSON; see `interlock ledger verify`", row->seq);
    }
    if (il_str_eq(row->kind, IL_STR("begin"))) {
        return inspect_begin(run, s, row, body);
    }
    if (il_str_eq(row->kind, IL_STR("decision"))) {
        return inspect_decision(run, s, row, body);
    }
    if (il_str_eq(row->kind, IL_STR("settle"))) {
        return inspect_settle(run, s, row, body);
    }
    if (il_str_eq(row->kind, IL_STR("say"))) {
        return inspect_say(run, s, row, body);
    }
    if (il_str_eq(row->kind, IL_STR("join"))) {
        return inspect_join(run, body);
    }
    s->ended = s->ended || il_str_eq(row->kind, IL_STR("end"));
    s->quarantined = s->quarantined || il_str_eq(row->kind, IL_STR("quarantine"));
    return il_str_eq(row->kind, IL_STR("approve"))  ? inspect_answer(run, s, "granted", body)
           : il_str_eq(row->kind, IL_STR("refuse")) ? inspect_answer(run, s, "refused", body)
           : il_str_eq(row->kind, IL_STR("lapse"))  ? inspect_answer(run, s, NULL, body)
                                                    : IL_OK;
}

static bool inspect_visit(void *ctx, const il_ledger_row *row) {
    inspect_run *run = ctx;
    run->status = inspect_row(run, row);
    return run->status == IL_OK;
}

/* ---- the tree ---------------------------------------------------------------------------------------------- */

/* Hangs each session below its parent, which stands before it; *roots: those without one. Sessions come in the order of their first rows. */
static il_status inspect_tree(inspect_run *run, inspect_session **roots) {
    inspect_session *all = run->sessions, *last = NULL;
    *roots = NULL;
    while (all) {
        inspect_session *s = all, *parent = NULL;
        all = s->next;
        s->next = NULL;
        if (s->from.n) {
            void **place = inspect_place(run, INSPECT_SESSIONS, s->from, 0);
            if (!place) {
                return il_error_set(run->err, IL_E_MEMORY, "no memory for so many sessions");
            }
            parent = *place;
        }
        /* `depth` is set when a session was hung: one that was not stands behind its child, which no monitor writes */
        parent = parent && parent->depth ? parent : NULL;
        while (parent && parent->depth >= INSPECT_DEPTH) {
            parent = parent->parent;
        }
        s->parent = parent;
        s->depth = parent ? parent->depth + 1 : 1;
        if (parent) {
            *(parent->last_child ? &parent->last_child->next : &parent->children) = s;
            parent->last_child = s;
        } else {
            *(last ? &last->next : roots) = s;
            last = s;
        }
    }
    return IL_OK;
}

static bool inspect_add(il_json *object, const char *key, il_json *value) { return il_json_set(object, il_str_of(key), value); }

static il_json *inspect_string(inspect_run *run, il_str text) {
    return text.n ? il_json_string(&run->arena, text) : il_json_make(&run->arena, IL_JSON_NULL);
}

static il_json *inspect_call_json(inspect_run *run, const inspect_call *c) {
    il_json *o = il_json_make(&run->arena, IL_JSON_OBJECT);
    il_json *a = il_json_make(&run->arena, c->approval ? IL_JSON_OBJECT : IL_JSON_NULL);
    const bool asked = !c->approval || (inspect_add(a, "id", inspect_string(run, c->approval->id)) &&
                                        inspect_add(a, "state", inspect_string(run, il_str_of(c->approval->state))) &&
                                        inspect_add(a, "by", inspect_string(run, c->approval->by)));
    const bool made = asked && inspect_add(o, "ticket", il_json_number(&run->arena, (int64_t)c->ticket)) &&
                      inspect_add(o, "time_ms", il_json_number(&run->arena, (int64_t)c->time_ms)) &&
                      inspect_add(o, "tool", inspect_string(run, c->tool)) &&
                      inspect_add(o, "effects", il_json_effects(&run->arena, c->effects)) &&
                      inspect_add(o, "action", inspect_string(run, c->action)) &&
                      inspect_add(o, "layer", inspect_string(run, c->layer)) &&
                      inspect_add(o, "reason", inspect_string(run, c->reason)) && inspect_add(o, "approval", a) &&
                      inspect_add(o, "settled", inspect_string(run, c->how)) &&
                      inspect_add(o, "refined", il_json_effects(&run->arena, c->refined)) &&
                      inspect_add(o, "withheld", inspect_string(run, c->withheld));
    return made ? o : NULL;
}

static il_json *inspect_said_json(inspect_run *run, const inspect_call *c) {
    il_json *o = il_json_make(&run->arena, IL_JSON_OBJECT);
    return inspect_add(o, "time_ms", il_json_number(&run->arena, (int64_t)c->time_ms)) &&
                   inspect_add(o, "digest", inspect_string(run, c->digest))
               ? o
               : NULL;
}

static il_json *inspect_session_json(inspect_run *run, const inspect_session *s);

static il_json *inspect_sessions_json(inspect_run *run, const inspect_session *first) {
    il_json *list = il_json_make(&run->arena, IL_JSON_ARRAY);
    for (const inspect_session *s = first; s && list; s = s->next) {
        list = il_json_push(list, inspect_session_json(run, s)) ? list : NULL;
    }
    return list;
}

/* Depth: INSPECT_DEPTH; so the others. */
static il_json *inspect_session_json(inspect_run *run, const inspect_session *s) {
    il_json *o = il_json_make(&run->arena, IL_JSON_OBJECT), *calls = il_json_make(&run->arena, IL_JSON_ARRAY),
            *said = il_json_make(&run->arena, IL_JSON_ARRAY);
    bool made = true;
    for (const inspect_call *c = s->calls; c && made; c = c->next) {
        made = c->said ? il_json_push(said, inspect_said_json(run, c)) : il_json_push(calls, inspect_call_json(run, c));
    }
    made = made && inspect_add(o, "id", il_json_string(&run->arena, s->id)) &&
           inspect_add(o, "principal", inspect_string(run, s->principal)) &&
           inspect_add(o, "parent", inspect_string(run, s->from)) && inspect_add(o, "mode", inspect_string(run, s->mode)) &&
           inspect_add(o, "begun_ms", il_json_number(&run->arena, (int64_t)s->begun_ms)) &&
           inspect_add(o, "ended", il_json_boolean(&run->arena, s->ended)) &&
           inspect_add(o, "quarantined", il_json_boolean(&run->arena, s->quarantined)) &&
           inspect_add(o, "joined", il_json_boolean(&run->arena, s->joined)) &&
           inspect_add(o, "erased", il_json_number(&run->arena, (int64_t)s->erased)) && inspect_add(o, "said", said) &&
           inspect_add(o, "calls", calls) &&
           inspect_add(o, "children", inspect_sessions_json(run, s->children));
    return made ? o : NULL;
}

static void inspect_put_call(const inspect_call *c, int indent) {
    (void)printf("%*s", indent, "");
    if (c->said) {
        (void)fputs("a human typed something (sha256 ", stdout);
        il_put_text(stdout, il_str_part(c->digest, 0, 16));
        (void)puts("...)");
        return;
    }
    il_put_cell(stdout, c->tool, 28);
    (void)fputc(' ', stdout);
    il_put_effects_cell(stdout, c->effects, 20);
    (void)fputc(' ', stdout);
    il_put_text(stdout, c->action);
    if (c->layer.n) {
        (void)fputs(", ", stdout);
        il_put_text(stdout, c->layer);
        (void)fputs(": ", stdout);
        il_put_text(stdout, c->reason);
    }
    if (c->approval) {
        (void)fputs("; approval ", stdout);
        il_put_text(stdout, c->approval->id);
        (void)printf(" %s", c->approval->state);
        if (c->approval->by.n) {
            (void)fputs(", by ", stdout);
            il_put_text(stdout, c->approval->by);
        }
    }
    if (c->how.n) {
        (void)fputs("; ", stdout);
        il_put_text(stdout, c->how);
    }
    if (c->refined) {
        (void)fputs(", without ", stdout);
        il_put_effects(stdout, c->refined);
    }
    if (c->withheld.n) {
        (void)fputs(", withheld: ", stdout);
        il_put_text(stdout, c->withheld);
    }
    (void)fputc('\n', stdout);
}

static void inspect_put_session(const inspect_session *s) {
    const int indent = (int)(2 * s->depth);
    (void)printf("%*ssession ", indent, "");
    il_put_text(stdout, s->id);
    if (s->begun) {
        (void)fputs("  ", stdout);
        il_put_time(stdout, s->begun_ms);
        (void)fputs("  ", stdout);
        il_put_text(stdout, s->mode);
    }
    (void)fputs(s->ended ? ", ended" : "", stdout);
    (void)fputs(s->quarantined ? ", quarantined" : "", stdout);
    (void)fputs(s->joined ? ", its answer joined its parent" : "", stdout);
    if (s->from.n && !s->parent) {
        (void)fputs(", a child of ", stdout);
        il_put_text(stdout, s->from);
        (void)fputs(" (not here)", stdout);
    }
    if (s->erased) {
        (void)printf(", %" PRIu64 " rows erased", s->erased);
    }
    (void)fputc('\n', stdout);
    for (const inspect_call *c = s->calls; c; c = c->next) {
        inspect_put_call(c, indent + 2);
    }
    for (const inspect_session *k = s->children; k; k = k->next) {
        inspect_put_session(k);
    }
}

/* Sessions of one principal together, principals in the order of their first session. A root that was printed has depth 0. */
static void inspect_put_all(inspect_session *roots) {
    for (inspect_session *first = roots; first; first = first->next) {
        if (!first->depth) {
            continue;
        }
        (void)fputs(first->principal.n ? "principal " : "no principal", stdout);
        il_put_text(stdout, first->principal);
        (void)fputc('\n', stdout);
        for (inspect_session *s = first; s; s = s->next) {
            if (s->depth && il_str_eq(s->principal, first->principal)) {
                inspect_put_session(s);
                s->depth = 0;
            }
        }
    }
}

/* ---- the command -------------------------------------------------------------------------------------------- */

static il_status inspect_all(inspect_run *run, const char *file, il_error *err) {
    il_ledger *ledger = NULL;
    inspect_session *roots = NULL;
    const il_ledger_options options = {
        .size = sizeof options, .must_exist = true, .read_only = true, .sha256 = il_host_system().sha256};
    IL_TRY(il_ledger_use(file, &options, run->path, &ledger, err));
    il_status s = il_ledger_rows(ledger, IL_STR(""), inspect_visit, run, err);
    il_ledger_close(ledger);
    IL_TRY(s);
    IL_TRY(run->status);
    IL_TRY(inspect_tree(run, &roots));
    if (!run->json) {
        inspect_put_all(roots);
        return IL_OK;
    }
    il_json *o = il_json_make(&run->arena, IL_JSON_OBJECT);
    const bool made = inspect_add(o, "ledger", il_json_string(&run->arena, il_str_of(run->path))) &&
                      inspect_add(o, "rows", il_json_number(&run->arena, (int64_t)run->rows)) &&
                      inspect_add(o, "sessions", inspect_sessions_json(run, roots));
    return made ? il_put_json(stdout, o, err) : il_arena_fail(&run->arena, err);
}

il_exit il_cmd_inspect(int argc, char **argv) {
    il_error err = {0};
    inspect_run run = {.err = &err, .tables = {&run.ids, &run.tickets, &run.asked}};
    const il_option options[] = {{.name = "json", .flag = &run.json}};
    il_arguments arguments;
    if (il_options_read(argc, argv, options, sizeof options / sizeof options[0], &arguments, &err) != IL_OK) {
        return il_fail_usage(argv[0], &err);
    }
    if (arguments.n > 1) {
        return il_usage(argv[0], "one ledger, not %d", arguments.n);
    }
    il_arena_init(&run.arena, il_host_alloc(), INSPECT_ARENA_BYTES);
    il_arena_init(&run.row, il_host_alloc(), INSPECT_ROW_BYTES);
    for (size_t i = 0; i < 3; i++) {
        il_numbers_init(run.tables[i], il_host_alloc());
    }
    const il_status status = inspect_all(&run, arguments.n ? arguments.v[0] : NULL, &err);
    const il_exit code = status == IL_OK ? IL_EXIT_FINE : il_fail(run.path[0] ? run.path : NULL, &err);
    for (size_t i = 0; i < 3; i++) {
        il_numbers_free(run.tables[i]);
    }
    il_arena_free(&run.row);
    il_arena_free(&run.arena);
    return code;
}
