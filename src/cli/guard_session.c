/* SPDX-License-Identifier: Apache-2.0 */
/* A session under watch: its rows become observations of what the machine's `diagnosis` lets a monitor see, and those a belief
 * set. What a row records beyond that is not used for the estimate, so that the estimate is an honest test; it is held against
 * the machine by itself. */
#include <string.h>

#include "cli/guard.h"
#include "interlock/host.h"
#include "ledger/file.h"

#define GUARD_SESSIONS_MAX (1u << 22)

/* ---- the table of sessions ------------------------------------------------------------------------ */

static uint32_t session_bucket(const guard_run *run, il_str id) {
    uint64_t h = run->salt;
    for (size_t i = 0; i < id.n; i++) {
        h = (h ^ (uint8_t)id.p[i]) * UINT64_C(0x100000001b3);
        h ^= h >> 29;
    }
    return (uint32_t)(h % run->nbuckets);
}

guard_session *guard_session_find(const guard_run *run, il_str id) {
    guard_session *s = run->nbuckets ? run->buckets[session_bucket(run, id)] : NULL;
    while (s && !il_str_eq(il_str_of(s->id), id)) {
        s = s->next;
    }
    return s;
}

static void *session_alloc(size_t n, il_error *err) {
    void *p = il_host_alloc()->alloc(il_host_alloc()->ctx, n);
    if (p) {
        memset(p, 0, n);
    } else {
        (void)il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    return p;
}

static void session_release(void *p) { il_host_alloc()->free(il_host_alloc()->ctx, p); }

static il_status session_grow(guard_run *run, il_error *err) {
    const uint32_t old = run->nbuckets;
    guard_session **before = run->buckets;
    if (run->nsessions < run->nbuckets) {
        return IL_OK;
    }
    guard_session **buckets = session_alloc((old ? 2 * (size_t)old : 1024) * sizeof(guard_session *), err);
    if (!buckets) {
        return IL_E_MEMORY;
    }
    run->buckets = buckets;
    run->nbuckets = old ? 2 * old : 1024;
    for (uint32_t i = 0; i < old; i++) {
        for (guard_session *s = before[i], *next; s; s = next) {
            const uint32_t at = session_bucket(run, il_str_of(s->id));
            next = s->next;
            s->next = buckets[at];
            buckets[at] = s;
        }
    }
    session_release(before);
    return IL_OK;
}

static bool session_id_ok(il_str id) {
    bool ok = id.n > 0 && id.n < IL_SESSION_ID_BYTES;
    for (size_t i = 0; ok && i < id.n; i++) {
        ok = id.p[i] > 0x20 && id.p[i] < 0x7f;
    }
    return ok;
}

static il_status session_add(guard_run *run, const il_ledger_row *row, guard_session **out, il_error *err) {
    const il_str id = row->key;
    if (!session_id_ok(id)) {
        return il_error_set(err, IL_E_DAMAGED,
                            "row %llu belongs to a session whose id no gateway takes; see interlock ledger verify",
                            (unsigned long long)row->seq);
    }
    if (run->nsessions >= GUARD_SESSIONS_MAX) {
        return il_error_set(err, IL_E_LIMIT, "more than %u sessions; look at one with --session", GUARD_SESSIONS_MAX);
    }
    IL_TRY(session_grow(run, err));
    guard_session *s = session_alloc(sizeof *s, err);
    if (!s) {
        return IL_E_MEMORY;
    }
    memcpy(s->id, id.p, id.n);
    const uint32_t at = session_bucket(run, id);
    s->next = run->buckets[at];
    run->buckets[at] = s;
    run->nsessions++;
    *out = s;
    return IL_OK;
}

/* What is kept of a session that goes on; of one that ended only its name. */
static void session_forget(guard_session *s) {
    if (s->live) {
        if (s->machine->estimator) {
            il_belief_free(s->machine->estimator, &s->live->belief);
        }
        session_release(s->live);
        s->live = NULL;
    }
}

void guard_sessions_free(guard_run *run) {
    for (uint32_t i = 0; i < run->nbuckets; i++) {
        for (guard_session *s = run->buckets[i], *next; s; s = next) {
            next = s->next;
            session_forget(s);
            session_release(s);
        }
    }
    session_release(run->buckets);
    run->buckets = NULL;
    run->nbuckets = run->nsessions = 0;
}

/* ---- what is said ---------------------------------------------------------------------------------- */

static bool session_reported(const guard_run *run, const guard_session *s) {
    return !run->session || strcmp(run->session, s->id) == 0;
}

static il_status session_finding(guard_run *run, const guard_session *s, uint64_t row, const char *what, const char *why,
                                 il_error *err) {
    const guard_said said = {.what = what, .session = s, .row = row, .why = why};
    return session_reported(run, s) ? guard_say(run, &said, err) : IL_OK;
}

/* The rows contradict the machine: no run of it, faults and all, looks like this. */
static il_status session_breach(guard_run *run, const guard_session *s, uint64_t row, const char *what, const char *why,
                                il_error *err) {
    const guard_said said = {.level = "model-breach", .what = what, .session = s, .row = row, .why = why};
    return session_reported(run, s) ? guard_say(run, &said, err) : IL_OK;
}

/* What the monitor itself has seen: every call of the session that follows is refused with such a row. */
static il_status session_once(guard_run *run, guard_session *s, uint64_t row, const char *what, const char *why, il_error *err) {
    const bool again = s->refused;
    s->refused = true;
    return again ? IL_OK : session_breach(run, s, row, what, why, err);
}

static il_status session_alarm(guard_run *run, guard_session *s, const guard_alarm *alarm, const char *level, uint64_t row,
                               il_error *err) {
    const il_belief *b = &s->live->belief;
    guard_said said = {.level = level, .region = s->machine->model->regions[alarm->region].name, .session = s, .row = row};
    if (!session_reported(run, s)) {
        return IL_OK;
    }
    said.in = il_belief_in(s->machine->estimator, b, alarm->region);
    IL_TRY(guard_shield(run, s, alarm, level, &said.shield, err));
    return guard_say(run, &said, err);
}

/* Alarms that have become true. One that stays true is said once; what was possible and becomes certain is said again. */
static il_status session_judge(guard_run *run, guard_session *s, uint64_t row, il_error *err) {
    guard_live *live = s->live;
    const il_belief_regions now = il_belief_judge(s->machine->estimator, &live->belief);
    const uint64_t was_possible = live->possible, was_certain = live->certain;
    live->possible = now.possible;
    live->certain = now.certain;
    for (uint32_t i = 0; i < s->machine->nalarms; i++) {
        const guard_alarm *a = &s->machine->alarms[i];
        const uint64_t bit = UINT64_C(1) << a->region;
        if (now.certain & ~was_certain & bit && !a->blind) {
            IL_TRY(session_alarm(run, s, a, "certain", row, err));
        } else if (now.possible & ~was_possible & bit && !a->certain) {
            IL_TRY(session_alarm(run, s, a, "possible", row, err));
        }
    }
    return IL_OK;
}

/* ---- observations ----------------------------------------------------------------------------------- */

static uint8_t session_rule(const il_model *m, const il_row_step *step) {
    for (uint32_t r = 0; r < m->nrules && !step->accepted && step->told; r++) {
        if (il_str_eq(m->rules[r].name, step->reason)) {
            return (uint8_t)(r + 1);
        }
    }
    return 0;
}

static il_status session_see(const guard_machine *m, guard_live *live, const il_row *row, il_error *err) {
    il_estimator *e = m->estimator;
    const uint64_t after = il_estimator_view(e, row->post);
    il_observation seen = {.gap = true, .symbol = IL_NO_SYMBOL, .has_after = true, .after = after};
    if (row->word == IL_ROW_BEGINS) {
        IL_TRY(il_belief_begin(e, &live->belief, err));
        live->believes = true;
    }
    if (!row->has_post) {
        live->believes = false; /* nothing is known until something is seen */
        live->belief.n = 0;
        return IL_OK;
    }
    if (!live->believes || row->word == IL_ROW_UNKNOWN) {
        live->believes = true;
        return il_belief_any(e, &live->belief, after, err);
    }
    if (row->nsteps == 0) {
        return il_belief_see(e, &live->belief, &seen, err);
    }
    for (uint32_t i = 0; i < row->nsteps; i++) {
        const il_row_step *step = &row->steps[i];
        const bool seen_symbol = il_estimator_sees(e, step->symbol);
        seen = (il_observation){.gap = i == 0 || !seen_symbol,
                                .has_before = i == 0,
                                .before = il_estimator_view(e, row->pre),
                                .symbol = seen_symbol ? step->symbol : IL_NO_SYMBOL,
                                .has_verdict = seen_symbol,
                                .accepted = step->accepted,
                                .rule = session_rule(m->model, step),
                                .has_after = i + 1 == row->nsteps,
                                .after = after};
        IL_TRY(il_belief_see(e, &live->belief, &seen, err));
    }
    return IL_OK;
}

/* A set without members: the session does what no run of the machine does. One goes on from what is seen. */
static il_status session_estimate(guard_run *run, guard_session *s, const il_row *row, uint64_t seq, il_error *err) {
    guard_live *live = s->live;
    il_estimator *e = s->machine->estimator;
    if (!e) {
        return IL_OK;
    }
    IL_TRY(session_see(s->machine, live, row, err));
    const bool lost = live->belief.n == 0 && row->has_post;
    if (lost && !live->lost) { /* said once, as long as it lasts */
        IL_TRY(session_breach(run, s, seq, "empty-belief", "no run of the machine, with all its faults, looks like what was seen",
                              err));
    }
    if (lost) {
        IL_TRY(il_belief_any(e, &live->belief, il_estimator_view(e, row->post), err));
        live->believes = live->belief.n > 0;
    }
    live->lost = lost && !live->believes;
    run->most = live->belief.most > run->most ? live->belief.most : run->most;
    return session_judge(run, s, seq, err);
}

/* What the row records, whoever may see it, against the machine. */
static il_status session_recorded(guard_run *run, guard_session *s, const il_row_reader *before, const il_row *row, uint64_t seq,
                                  il_error *err) {
    const guard_machine *m = s->machine;
    if (row->word == IL_ROW_OFF_TABLE) {
        return session_once(run, s, seq, "off-table", "the session's state was found to be none of its machine's", err);
    }
    if (before->knows && row->has_pre && row->word != IL_ROW_BEGINS && before->state != row->pre &&
        (!m->estimator || !il_estimator_drifts(m->estimator, before->state, row->pre))) {
        IL_TRY(session_breach(run, s, seq, "row-pre",
                              "the row begins in a state that nothing leads to from where the row before it ended", err));
    }
    if (!il_row_agrees(m->machine, row)) {
        return session_breach(run, s, seq, "row-step",
                              "the machine does not go from the row's first state to its last by what happened", err);
    }
    return IL_OK;
}

/* ---- rows --------------------------------------------------------------------------------------------- */

static il_status session_start(guard_run *run, guard_session *s, uint64_t seq, il_str seal, il_error *err) {
    guard_machine *m = NULL;
    IL_TRY(guard_machine_find(run, seal, &m, err));
    s->machine = m;
    if (!m) {
        char why[160];
        (void)il_format(why, sizeof why, "it ran on machine %.*s, which is not shipped and not that of --machine",
                        IL_STR_ARG(il_str_part(seal, 0, 12)));
        return session_finding(run, s, seq, "machine-unknown", why, err);
    }
    s->live = session_alloc(sizeof *s->live, err);
    if (!s->live) {
        return IL_E_MEMORY;
    }
    il_row_reader_init(&s->live->reader, &m->bind);
    return m->estimator ? IL_OK : session_finding(run, s, seq, "over-bound", m->why, err);
}

/* Rows that are not there any more: what they led to is not known, and what is seen from here on is. */
static il_status session_pruned(guard_run *run, guard_session *s, uint64_t seq, il_error *err) {
    if (s->live) {
        s->live->reader.partial = true;
        s->live->believes = s->live->reader.knows = false;
    }
    if (s->pruned) {
        return IL_OK;
    }
    s->pruned = true;
    return session_finding(run, s, seq, "pruned", "rows of it are gone; it is watched from the first one that is there", err);
}

/* A session whose beginning is not among the rows: its object says on which machine it runs. */
static il_status session_taken_up(guard_run *run, guard_session *s, uint64_t seq, il_error *err) {
    uint8_t bytes[IL_SESSION_STATE_MAX];
    char seal[IL_DIGEST_HEX] = "";
    il_session session;
    const il_store store = il_ledger_store(run->ledger);
    uint64_t version = 0;
    size_t n = 0;
    il_error why = {0};
    il_status status = store.load(store.ctx, IL_STR(IL_SPACE_SESSION), il_str_of(s->id), bytes, sizeof bytes, &n, &version, &why);
    status = status == IL_OK ? il_session_decode(bytes, n, &session, &why) : status;
    if (status == IL_E_MEMORY || status == IL_E_IO || status == IL_E_BUSY) {
        return il_error_set(err, status, "%s", why.msg);
    }
    if (status == IL_OK) {
        il_digest_hex(session.machine, seal);
    }
    IL_TRY(session_start(run, s, seq, il_str_of(seal), err));
    return session_pruned(run, s, seq, err);
}

static const il_row_reader *session_parent(const guard_run *run, const il_json *body) {
    const il_json *parent = il_json_get(body, IL_STR("parent"));
    const guard_session *s = il_json_kind_of(parent) == IL_JSON_STRING ? guard_session_find(run, il_json_text(parent)) : NULL;
    return s && s->live ? &s->live->reader : NULL;
}

static il_status session_unknown(guard_run *run, guard_session *s, const il_row *row, uint64_t seq, il_error *err) {
    if (row->word != IL_ROW_UNKNOWN) {
        return IL_OK;
    }
    return s->live->reader.partial ? session_pruned(run, s, seq, err) : session_finding(run, s, seq, "untold", row->why, err);
}

static il_status session_unenforced(guard_run *run, guard_session *s, const il_row *row, uint64_t seq, il_error *err) {
    if (!row->unenforced || s->unenforced) {
        return IL_OK;
    }
    s->unenforced = true;
    return session_finding(
        run, s, seq, "unenforced",
        "it ran in monitor mode: calls that the machine rejected may have run all the same, and the estimate is without them",
        err);
}

/* A row may hold any number; only what gives each variable a value is a state. */
static bool session_states(const guard_machine *m, const il_row *row) {
    return (!row->has_pre || il_model_valid(m->model, row->pre)) && (!row->has_post || il_model_valid(m->model, row->post));
}

static il_status session_read(guard_run *run, guard_session *s, const il_ledger_row *row, const il_json *body, il_error *err) {
    guard_live *live = s->live;
    il_row got;
    il_error why = {0};
    const il_row_reader before = live->reader;
    const il_status status = il_row_read(&live->reader, session_parent(run, body), row, body, &got, &why);
    if (status != IL_OK || !session_states(s->machine, &got)) {
        live->believes = live->reader.knows = false;
        return session_breach(run, s, row->seq, "row-damaged",
                              status != IL_OK ? why.msg : "it records a state in which a variable has no value", err);
    }
    if (got.word == IL_ROW_SILENT) {
        return IL_OK;
    }
    if (got.word == IL_ROW_DAMAGED) {
        return session_once(run, s, row->seq, "damaged", "the monitor found the session's record to contradict itself", err);
    }
    live->rows[live->nrows++ % GUARD_TRAIL] = row->seq;
    s->quarantined = s->quarantined || il_str_eq(row->kind, IL_STR("quarantine"));
    IL_TRY(session_unenforced(run, s, &got, row->seq, err));
    IL_TRY(session_unknown(run, s, &got, row->seq, err));
    IL_TRY(session_recorded(run, s, &before, &got, row->seq, err));
    IL_TRY(session_estimate(run, s, &got, row->seq, err));
    const bool ends = il_str_eq(row->kind, IL_STR("end"));
    if (got.has_post) {
        IL_TRY(guard_fleet_move(run, s, got.post, ends, row->seq, err));
    }
    if (ends) {
        s->ended = true;
        s->state = got.post;
        session_forget(s);
    }
    return IL_OK;
}

/* An ended session stays as it is: what is asked of it is refused. */
static il_status session_after_end(guard_run *run, const guard_session *s, const il_ledger_row *row, const il_json *body,
                                   il_error *err) {
    uint64_t post = 0;
    return il_row_state(body, IL_STR("post"), &post) && s->machine && post != s->state &&
                   !il_str_eq(row->kind, IL_STR("decision"))
               ? session_breach(run, s, row->seq, "row-pre", "the session had ended, and this row moves it", err)
               : IL_OK;
}

/* A session that was not taken on will be asked for again, with the same row. */
static void session_drop(guard_run *run, guard_session *s) {
    run->buckets[session_bucket(run, il_str_of(s->id))] = s->next; /* it was added last */
    run->nsessions--;
    session_forget(s);
    session_release(s);
}

/* The session of a row, and its machine: named by its beginning, or by its object when the beginning is gone. */
static il_status session_of(guard_run *run, const il_ledger_row *row, const il_json *body, guard_session **out, il_error *err) {
    *out = guard_session_find(run, row->key);
    if (*out) {
        return IL_OK;
    }
    IL_TRY(session_add(run, row, out, err));
    const bool begins =
        !row->erased && il_str_eq(row->kind, IL_STR("begin")) && !il_json_bool(il_json_get(body, IL_STR("resumed")));
    const il_status status =
        begins ? session_start(run, *out, row->seq, il_row_machine(body), err) : session_taken_up(run, *out, row->seq, err);
    if (status != IL_OK) {
        session_drop(run, *out);
        *out = NULL;
    }
    return status;
}

/* Numbers are consecutive behind what was pruned: a row that is not there was pruned just now, or taken out. */
static il_status row_gap(guard_run *run, const il_ledger_row *row, il_error *err) {
    char why[160];
    const guard_said said = {.what = "gap", .row = row->seq, .why = why};
    if (run->seq == 0 || row->seq == run->seq + 1 || row->seq == run->gap) {
        return IL_OK;
    }
    run->gap = row->seq; /* the row may be asked for again */
    (void)il_format(why, sizeof why, "%llu rows before it are not there: pruned while this was reading, or taken out",
                    (unsigned long long)(row->seq - run->seq - 1));
    return guard_say(run, &said, err);
}

/* About the ledger itself (ledger/sqlite_prune.c, ledger/sqlite_schema.c). */
static bool row_of_ledger(const il_ledger_row *row) {
    return il_str_eq(row->space, IL_STR(IL_SPACE_LEDGER)) && il_str_eq(row->key, IL_STR(IL_SPACE_LEDGER)) &&
           (il_str_eq(row->kind, IL_STR("prune")) || il_str_eq(row->kind, IL_STR("upgrade")));
}

/* A row that is nobody's may have been a session's: said once as long as it lasts. */
static il_status row_foreign(guard_run *run, const il_ledger_row *row, il_error *err) {
    const bool foreign = !row_of_ledger(row), again = run->foreign;
    const guard_said said = {
        .what = "gap", .row = row->seq, .why = "it is neither a session's nor the ledger's own: whose row it was is not known"};
    run->foreign = foreign;
    run->seq = row->seq;
    return foreign && !again ? guard_say(run, &said, err) : IL_OK;
}

il_status guard_row(guard_run *run, const il_ledger_row *row, il_error *err) {
    il_json *body = NULL;
    guard_session *s = NULL;
    IL_TRY(row_gap(run, row, err));
    if (!il_str_eq(row->space, IL_STR(IL_SPACE_SESSION))) {
        return row_foreign(run, row, err);
    }
    run->foreign = false;
    il_arena_reset(&run->row);
    il_status status = row->erased ? IL_OK : il_json_parse(&run->row, row->body, NULL, &body, err);
    if (status == IL_E_MEMORY) {
        return status;
    }
    IL_TRY(session_of(run, row, body, &s, err));
    run->seq = row->seq;
    run->nrows++;
    if (row->erased) {
        return session_pruned(run, s, row->seq, err);
    }
    return s->live ? session_read(run, s, row, body, err) : s->ended ? session_after_end(run, s, row, body, err) : IL_OK;
}
