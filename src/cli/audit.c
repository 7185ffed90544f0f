/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/audit.h"

#include <inttypes.h>
#include <string.h>

#include "base/sha256.h"
#include "check/audit.h"
#include "check/numbers.h"
#include "cli/ledger.h"
#include "cli/model.h"
#include "cli/output.h"
#include "host/shipped.h"
#include "interlock/host.h"
#include "ledger/row_steps.h"
#include "machine/table.h"
#include "yaml/yaml.h"

#define AUDIT_ARENA_BYTES ((size_t)2 << 30)
#define AUDIT_ROW_BYTES ((size_t)16 << 20) /* of one row, parsed */

typedef struct audit_known audit_known;
struct audit_known { /* a machine, by the seal of its table */
    audit_known *next;
    char seal[IL_DIGEST_HEX];
    il_audit_machine machine;
    il_machine *table; /* owned */
    il_bind bind;
    bool keeps; /* `bind` is open: it can be what sessions ran on */
};

typedef struct audit_session {
    il_str id;
    const audit_known *known; /* NULL: its machine is not known, or its beginning was not read */
    bool said;                /* that it is not */
    il_row_reader reader;
} audit_session;

typedef struct audit_run {
    const char *file; /* that an error is about; NULL: the ledger */
    char path[IL_LEDGER_PATH_BYTES];
    il_arena arena, row;
    audit_known *machines;
    il_numbers ids; /* of sessions, by a hash of their names */
    audit_session **sessions;
    uint32_t nsessions, cap;
    uint64_t erased;
    il_audit audit;
    il_status status;
    il_error *err;
} audit_run;

/* ---- machines ------------------------------------------------------------------------------------- */

static il_status audit_know(audit_run *run, il_model *model, il_machine *table, audit_known **out, il_error *err) {
    audit_known *k = IL_NEW(&run->arena, audit_known);
    uint8_t digest[IL_DIGEST_BYTES];
    if (!k) {
        il_machine_free(table);
        return il_arena_fail(&run->arena, err);
    }
    *k = (audit_known){.next = run->machines, .machine = {.model = model, .table = table}, .table = table};
    run->machines = k;
    if (table) {
        il_machine_digest(table, digest);
        il_digest_hex(digest, k->seal);
        k->keeps = il_bind_open(table, &k->bind, NULL) == IL_OK;
    }
    *out = k;
    return IL_OK;
}

/* A machine too large for a table keeps no sessions; rows may still be compared with it, by its guards. */
static il_status audit_named(audit_run *run, const char *path, audit_known **out, il_error *err) {
    il_model *model = NULL;
    il_machine *table = NULL;
    il_str bytes = {0};
    run->file = path;
    IL_TRY(il_cli_model(&run->arena, &run->file, &model, err));
    const il_status status = il_table_build(&run->arena, model, 0, &bytes, err);
    if (status != IL_E_LIMIT || run->arena.capped) {
        IL_TRY(status);
        IL_TRY(il_table_open(il_host_alloc(), bytes, &table, err));
    }
    run->file = NULL;
    return audit_know(run, model, table, out, err);
}

/* NULL when nobody knows it. */
static il_status audit_find(audit_run *run, il_str seal, const audit_known **out, il_error *err) {
    uint8_t digest[IL_DIGEST_BYTES];
    il_machine *table = NULL;
    il_str source = {0};
    il_json *doc = NULL;
    il_model *model = NULL;
    audit_known *k = NULL;
    *out = NULL;
    for (const audit_known *m = run->machines; m; m = m->next) {
        if (m->keeps && il_str_eq(il_str_of(m->seal), seal)) {
            *out = m;
            return IL_OK;
        }
    }
    if (!il_digest_read(seal, digest)) {
        return IL_OK;
    }
    const il_status status = il_host_machine_by_digest(il_host_alloc(), digest, &table, err);
    if (status != IL_OK || !il_shipped_source(il_machine_name(table), &source)) {
        il_machine_free(table);
        return status == IL_E_NOT_FOUND ? IL_OK : status;
    }
    IL_TRY(audit_know(run, NULL, table, &k, err));
    IL_TRY(il_yaml_parse(&run->arena, source, NULL, &doc, err));
    IL_TRY(il_model_load(&run->arena, doc, &model, err));
    k->machine.model = model;
    *out = k->keeps ? k : NULL;
    return IL_OK;
}

/* ---- sessions -------------------------------------------------------------------------------------- */

static uint64_t audit_hash(il_str id) {
    uint8_t digest[IL_DIGEST_BYTES];
    uint64_t h = 0;
    il_sha256_of(id, digest);
    memcpy(&h, digest, sizeof h);
    return h;
}

static audit_session *audit_session_find(const audit_run *run, il_str id) {
    const uint32_t n = il_numbers_find(&run->ids, audit_hash(id));
    return n != IL_NO_NUMBER && il_str_eq(run->sessions[n]->id, id) ? run->sessions[n] : NULL;
}

static il_status audit_session_of(audit_run *run, il_str id, audit_session **out) {
    *out = audit_session_find(run, id);
    if (*out) {
        return IL_OK;
    }
    if (run->nsessions == run->cap) {
        const uint32_t cap = run->cap ? 2 * run->cap : 256;
        audit_session **sessions = IL_NEW_ARRAY(&run->arena, audit_session *, cap);
        if (!sessions) {
            return il_arena_fail(&run->arena, run->err);
        }
        if (run->nsessions) {
            memcpy(sessions, run->sessions, run->nsessions * sizeof(audit_session *));
        }
        run->sessions = sessions;
        run->cap = cap;
    }
    audit_session *s = IL_NEW(&run->arena, audit_session);
    if (!s) {
        return il_arena_fail(&run->arena, run->err);
    }
    IL_TRY(il_arena_copy(&run->arena, id, &s->id, run->err));
    if (il_numbers_of(&run->ids, audit_hash(id)) != run->nsessions) {
        return il_error_set(run->err, IL_E_LIMIT, "too many sessions for one audit");
    }
    run->sessions[run->nsessions++] = s;
    *out = s;
    return IL_OK;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static il_status audit_begins(audit_run *run, audit_session *s, const il_ledger_row *row, const il_json *body) {
    char text[IL_ERROR_MSG_BYTES];
    const il_str seal = il_row_machine(body);
    const audit_known *known = NULL;
    IL_TRY(audit_find(run, seal, &known, run->err));
    if (known && !s->known) {
        il_row_reader_init(&s->reader, &known->bind);
    }
    s->known = known;
    if (known || s->said) {
        return IL_OK;
    }
    s->said = true;
    const size_t n = il_format(text, sizeof text, "no machine is known whose table has the seal %.*s; name its file",
                               IL_STR_ARG(il_str_part(seal, 0, 12)));
    return il_audit_note(&run->audit, IL_AUDIT_MACHINE_UNKNOWN, row->seq, row->key, (il_str){text, n}, run->err);
}

static il_status audit_stepped(audit_run *run, const audit_session *s, const il_ledger_row *row, const il_row *got) {
    il_audit_step steps[IL_ROW_STEPS_MAX];
    for (uint32_t i = 0; i < got->nsteps; i++) {
        const il_row_step *t = &got->steps[i];
        steps[i] = (il_audit_step){.symbol = t->symbol, .accepted = t->accepted, .told = t->told, .reason = t->reason};
    }
    const il_audit_row r = {
        .seq = row->seq, .session = row->key, .pre = got->pre, .post = got->post, .nsteps = got->nsteps, .steps = steps};
    return il_audit_row_read(&run->audit, &s->known->machine, &r, run->err);
}

static il_status audit_read(audit_run *run, audit_session *s, const il_ledger_row *row, const il_json *body) {
    il_row got;
    il_error why = {0};
    const il_json *of = il_json_get(body, IL_STR("parent"));
    const audit_session *parent = il_json_kind_of(of) == IL_JSON_STRING ? audit_session_find(run, il_json_text(of)) : NULL;
    const il_status status = il_row_read(&s->reader, parent && parent->known ? &parent->reader : NULL, row, body, &got, &why);
    if (status == IL_E_INVALID) {
        return il_audit_note(&run->audit, IL_AUDIT_NOT_READ, row->seq, row->key, il_str_of(why.msg), run->err);
    }
    if (status != IL_OK) {
        return il_error_set(run->err, status, "%s", why.msg);
    }
    switch (got.word) {
    case IL_ROW_SILENT:
        return IL_OK;
    case IL_ROW_UNKNOWN:
        return il_audit_note(&run->audit, IL_AUDIT_NOT_READ, row->seq, row->key, il_str_of(got.why), run->err);
    case IL_ROW_OFF_TABLE:
        return il_audit_note(&run->audit, IL_AUDIT_OFF_TABLE, row->seq, row->key, IL_STR("the monitor found it so"), run->err);
    case IL_ROW_DAMAGED:
        return il_audit_note(&run->audit, IL_AUDIT_OFF_TABLE, row->seq, row->key,
                             IL_STR("the monitor found the session's record to contradict itself"), run->err);
    case IL_ROW_BEGINS:
    case IL_ROW_STEPS:
        return audit_stepped(run, s, row, &got);
    }
    return il_error_set(run->err, IL_E_INTERNAL, "a row of no kind");
}

static il_status audit_row(audit_run *run, const il_ledger_row *row) {
    audit_session *s = NULL;
    il_json *body = NULL;
    if (!il_str_eq(row->space, IL_STR(IL_SPACE_SESSION))) {
        return IL_OK;
    }
    IL_TRY(audit_session_of(run, row->key, &s));
    if (row->erased) {
        run->erased++;
        s->reader.partial = true;
        return IL_OK;
    }
    il_arena_reset(&run->row);
    const il_status status = il_json_parse(&run->row, row->body, NULL, &body, NULL);
    if (status != IL_OK) {
        return il_audit_note(&run->audit, IL_AUDIT_NOT_READ, row->seq, row->key, IL_STR("its body is no JSON"), run->err);
    }
    if (il_str_eq(row->kind, IL_STR("begin"))) {
        IL_TRY(audit_begins(run, s, row, body));
    } else if (!s->known && !s->said) {
        s->said = true;
        return il_audit_note(&run->audit, IL_AUDIT_NOT_READ, row->seq, row->key, IL_STR("the session's beginning is not there"),
                             run->err);
    }
    return s->known ? audit_read(run, s, row, body) : IL_OK;
}

static bool audit_visit(void *ctx, const il_ledger_row *row) {
    audit_run *run = ctx;
    run->status = audit_row(run, row);
    return run->status == IL_OK;
}

static void audit_chain(void *ctx, const il_ledger_finding *f) {
    audit_run *run = ctx;
    char text[IL_ERROR_MSG_BYTES];
    const size_t n = il_format(text, sizeof text, "%s: %s", f->what, f->message);
    if (run->status == IL_OK) {
        run->status = il_audit_note(&run->audit, IL_AUDIT_CHAIN_BREAK, f->row, f->session, (il_str){text, n}, run->err);
    }
}

static il_status audit_ledger(audit_run *run, il_ledger *ledger, il_error *err) {
    il_ledger_report report = IL_LEDGER_REPORT_INIT;
    IL_TRY(il_ledger_rows(ledger, IL_STR(""), audit_visit, run, err));
    IL_TRY(run->status);
    IL_TRY(il_ledger_verify(ledger, audit_chain, run, &report, err));
    return run->status;
}

/* ---- what is printed -------------------------------------------------------------------------------- */

static void audit_put(const il_json *o, const char *key, const char *before) {
    const il_json *v = il_json_get(o, il_str_of(key));
    if (il_json_kind_of(v) == IL_JSON_STRING || il_json_kind_of(v) == IL_JSON_NUMBER) {
        (void)fputs(before, stdout);
        il_put_text(stdout, il_json_text(v));
    }
}

static void audit_put_finding(const il_json *f) {
    audit_put(f, "row", "row ");
    audit_put(f, "session", il_json_kind_of(il_json_get(f, IL_STR("row"))) == IL_JSON_NUMBER ? ": session " : "session ");
    audit_put(f, "of", ": ");
    audit_put(f, "finding", ": ");
    audit_put(f, "step", ": ");
    audit_put(f, "said", ": the row says ");
    audit_put(f, "now", ", the machine says ");
    audit_put(f, "detail", ": ");
    (void)fputc('\n', stdout);
}

static void audit_put_result(const il_json *o) {
    const il_json *against = il_json_get(o, IL_STR("against")), *replay = il_json_get(o, IL_STR("replay"));
    for (const il_json *f = il_json_first(il_json_get(o, IL_STR("findings"))); f; f = il_json_next(f)) {
        audit_put_finding(f);
    }
    audit_put(replay, "verdict", "replay: ");
    audit_put(replay, "rows", ": ");
    audit_put(o, "sessions", " rows of ");
    audit_put(replay, "steps", " sessions, ");
    audit_put(o, "erased", " steps; erased: ");
    (void)fputc('\n', stdout);
    if (il_json_kind_of(against) == IL_JSON_OBJECT) {
        audit_put(against, "machine", "against ");
        audit_put(against, "verdict", ": ");
        audit_put(against, "steps", ": ");
        (void)fputs(" steps; it says nothing of what is not in this ledger\n", stdout);
    }
}

static il_status audit_print(audit_run *run, bool json, il_error *err) {
    il_json *o = NULL;
    IL_TRY(il_audit_object(&run->audit, &run->arena, &o, err));
    const bool made = il_json_set(o, IL_STR("ledger"), il_json_string(&run->arena, il_str_of(run->path))) &&
                      il_json_set(o, IL_STR("sessions"), il_json_number(&run->arena, run->nsessions)) &&
                      il_json_set(o, IL_STR("erased"), il_json_number(&run->arena, (int64_t)run->erased));
    if (!made) {
        return il_arena_fail(&run->arena, err);
    }
    if (json) {
        return il_put_json(stdout, o, err);
    }
    audit_put_result(o);
    return IL_OK;
}

/* ---- the command ------------------------------------------------------------------------------------- */

static il_status audit_all(audit_run *run, const char *flag, char *const *machines, int n, bool json, il_error *err) {
    il_ledger *ledger = NULL;
    const il_ledger_options options = {
        .size = sizeof options, .must_exist = true, .read_only = true, .sha256 = il_host_system().sha256};
    const audit_known *other = NULL;
    for (int i = 0; i < n; i++) {
        audit_known *k = NULL;
        IL_TRY(audit_named(run, machines[i], &k, err));
        other = i == 0 ? k : other;
    }
    il_audit_init(&run->audit, &run->arena, other ? &other->machine : NULL);
    IL_TRY(il_ledger_use(flag, &options, run->path, &ledger, err));
    const il_status status = audit_ledger(run, ledger, err);
    il_ledger_close(ledger);
    IL_TRY(status);
    return audit_print(run, json, err);
}

il_exit il_cli_audit(const char *ledger, char *const *machines, int n, bool json) {
    il_error err = {0};
    audit_run run = {.err = &err};
    il_arena_init(&run.arena, il_host_alloc(), AUDIT_ARENA_BYTES);
    il_arena_init(&run.row, il_host_alloc(), AUDIT_ROW_BYTES);
    il_numbers_init(&run.ids, il_host_alloc());
    const il_status status = audit_all(&run, ledger, machines, n, json, &err);
    const il_exit code = status == IL_OK ? (il_exit)il_audit_exit(&run.audit) : il_fail(run.file, &err);
    for (audit_known *k = run.machines; k; k = k->next) {
        il_machine_free(k->table);
    }
    il_numbers_free(&run.ids);
    il_arena_free(&run.row);
    il_arena_free(&run.arena);
    return code;
}
