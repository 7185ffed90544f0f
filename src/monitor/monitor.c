/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor: load, plan, commit, and again when somebody else was faster. */
#include "base/sha256.h"
#include "monitor/plan.h"
#include "policy/kind_part.h"

#define IL_MONITOR_TRIES 1000
#define IL_MONITOR_MEMORY ((size_t)256 << 20) /* of one request; the reader of the arguments has its own, lower limits */

struct il_monitor {
    il_alloc alloc;
    il_core core;
    il_store store;
    il_host host;
};

il_status il_monitor_new(const il_alloc *alloc, const il_monitor_config *config, il_monitor **out, il_error *err) {
    if (alloc == NULL || config == NULL || out == NULL || config->size < sizeof *config ||
        config->store.size < sizeof(il_store) || config->host.size < sizeof(il_host)) {
        return il_error_set(err, IL_E_ARGUMENT, "a monitor's configuration without its size");
    }
    *out = NULL;
    if (config->store.load == NULL || config->store.commit == NULL || config->host.now_ms == NULL ||
        config->host.random == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "a monitor needs a store, a clock and randomness");
    }
    il_monitor *m = alloc->alloc(alloc->ctx, sizeof *m);
    if (m == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    *m = (il_monitor){.alloc = *alloc, .store = config->store, .host = config->host};
    il_status s = il_core_open(&m->core, config->policy, config->machine, config->call_deadline_ms, config->enforce, err);
    if (s == IL_OK && m->core.deadline_ms > (uint64_t)1 << 40) {
        s = il_error_set(err, IL_E_ARGUMENT, "a deadline of more than thirty years");
    }
    if (s != IL_OK) {
        alloc->free(alloc->ctx, m);
        return s;
    }
    *out = m;
    return IL_OK;
}

void il_monitor_free(il_monitor *m) {
    if (m != NULL) {
        il_alloc alloc = m->alloc;
        alloc.free(alloc.ctx, m);
    }
}

static bool il_monitor_id_ok(il_str id) {
    for (size_t i = 0; i < id.n; i++) {
        char c = id.p[i];
        if (!il_ascii_alnum(c) && c != '.' && c != '_' && c != ':' && c != '-') {
            return false;
        }
    }
    return id.n > 0 && id.n < IL_SESSION_ID_BYTES;
}

/* Principals come from the host: any visible ASCII. */
static bool il_monitor_principal_ok(il_str name) {
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] <= 0x20 || name.p[i] >= 0x7f) {
            return false;
        }
    }
    return name.n < IL_SESSION_ID_BYTES;
}

static il_status il_monitor_check(const il_monitor *m, il_str session, il_error *err) {
    if (m == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "no monitor");
    }
    if (!il_monitor_id_ok(session)) {
        return il_error_set(err, IL_E_ARGUMENT, "a session's id is 1 to %u of letters, digits and `.` `_` `:` `-`",
                            IL_SESSION_ID_BYTES - 1);
    }
    return IL_OK;
}

/* A store is outside: whatever it returns beside what its interface says is an error of the ledger. */
static il_status il_monitor_store_status(il_status s) {
    switch (s) {
    case IL_OK:
    case IL_E_MEMORY:
    case IL_E_NOT_FOUND:
    case IL_E_CONFLICT:
    case IL_E_BUSY:
    case IL_E_IO:
    case IL_E_DAMAGED:
    case IL_E_PERMISSION:
    case IL_E_VERSION:
        return s;
    case IL_E_LIMIT:
        return IL_E_DAMAGED; /* larger than any session */
    case IL_E_ARGUMENT:
    case IL_E_SYNTAX:
    case IL_E_INVALID:
    case IL_E_EXISTS:
    case IL_E_SEAL:
    case IL_E_MISMATCH:
    case IL_E_STATE:
    case IL_E_INTERNAL:
        return IL_E_IO;
    }
    return IL_E_IO;
}

static il_status il_monitor_load(const il_monitor *m, il_arena *arena, il_str session, il_str *bytes, uint64_t *version,
                                 il_error *err) {
    size_t n = 0;
    uint8_t *buf = il_arena_get(arena, IL_SESSION_STATE_MAX);
    if (buf == NULL) {
        return il_arena_fail(arena, err);
    }
    il_status s = m->store.load(m->store.ctx, IL_STR(IL_SPACE_SESSION), session, buf, IL_SESSION_STATE_MAX, &n, version, err);
    if (s == IL_OK && (n > IL_SESSION_STATE_MAX || *version == 0)) {
        return il_error_set(err, IL_E_DAMAGED, "the store answered nonsense");
    }
    *bytes = (il_str){(const char *)buf, s == IL_OK ? n : 0};
    return il_monitor_store_status(s);
}

static il_status il_monitor_clock(const il_monitor *m, uint64_t *now, il_error *err) {
    *now = 0;
    /* far enough below the end that no deadline overflows, and that a JSON number holds it */
    if (!m->host.now_ms(m->host.ctx, now) || *now == 0 || *now > (uint64_t)1 << 52) {
        return il_error_set(err, IL_E_STATE, "no clock");
    }
    return IL_OK;
}

static il_status il_monitor_commit(const il_monitor *m, il_plan *p, il_error *err) {
    il_store_change change;
    IL_TRY(il_plan_done(p, &change, err));
    if (!change.moves && change.nrows == 0) {
        return IL_OK;
    }
    return il_monitor_store_status(m->store.commit(m->store.ctx, &change, 1, p->now_ms, err));
}

/* One thing to do to a loaded session. The work fills the plan; what it returns ends the call without a commit, unless it is IL_OK. */
typedef struct il_monitor_job {
    il_status (*work)(il_plan *p, void *ctx, il_error *err);
    void *ctx;
    bool sweeps;  /* overdue calls and expired approvals first, in a transaction of their own */
    bool entropy; /* may ask for an approval */
    /* Where it ended, for the table of faults. */
    bool no_clock, opening;
    il_plan *plan;
} il_monitor_job;

/* One attempt; IL_E_CONFLICT: again. */
static il_status il_monitor_try(const il_monitor *m, il_str session, il_monitor_job *job, il_arena *arena, il_error *err) {
    uint8_t entropy[IL_PLAN_ENTROPY];
    il_plan_input in = {.session = session};
    job->plan = NULL;
    job->no_clock = il_monitor_clock(m, &in.now_ms, err) != IL_OK;
    if (job->no_clock) {
        return IL_E_STATE;
    }
    IL_TRY(il_monitor_load(m, arena, session, &in.bytes, &in.version, err));
    if (job->entropy && m->host.random(m->host.ctx, entropy, sizeof entropy)) {
        in.entropy = entropy;
    }
    il_plan *p = IL_NEW(arena, il_plan);
    if (p == NULL) {
        return il_arena_fail(arena, err);
    }
    job->plan = p;
    job->opening = true;
    IL_TRY(il_plan_open(p, &m->core, arena, &in, err));
    job->opening = false;
    if (job->sweeps) {
        IL_TRY(il_plan_sweep(p, NULL, err));
        if (p->moves) {
            IL_TRY(il_monitor_commit(m, p, err));
            return IL_E_CONFLICT; /* it moved: by us */
        }
    }
    IL_TRY(job->work(p, job->ctx, err));
    return il_monitor_commit(m, p, err);
}

/* Runs a job to its end; the arena holds what was planned last. */
static il_status il_monitor_run(const il_monitor *m, il_str session, il_monitor_job *job, il_arena *arena, il_error *err) {
    for (int i = 0; i < IL_MONITOR_TRIES; i++) {
        il_arena_reset(arena);
        il_status s = il_monitor_try(m, session, job, arena, err);
        if (s != IL_E_CONFLICT) {
            return s;
        }
    }
    return il_error_set(err, IL_E_BUSY, "the session kept being moved by others");
}

static il_status il_monitor_do(const il_monitor *m, il_str session, il_monitor_job *job, il_error *err) {
    il_arena arena;
    IL_TRY(il_monitor_check(m, session, err));
    il_arena_init(&arena, &m->alloc, IL_MONITOR_MEMORY);
    il_status s = il_monitor_run(m, session, job, &arena, err);
    il_arena_free(&arena);
    return s;
}

/* ---- decide --------------------------------------------------------------------------------------- */

typedef struct il_monitor_decide_job {
    const il_call *call;
    uint8_t digest[IL_DIGEST_BYTES];
    il_decision d;
    il_status fault; /* of a decision whose row is to be committed all the same */
    il_error fault_err;
} il_monitor_decide_job;

static void il_monitor_blank(il_monitor_decide_job *j) {
    j->d = (il_decision){.size = sizeof j->d, .symbol = IL_NO_SYMBOL};
    memcpy(j->d.args_digest, j->digest, sizeof j->digest);
    il_fault_block(&j->d, IL_FAULT_INTERNAL);
    /* il_plan_decide and its callers tell a named fault by its reason */
    j->d.reason[0] = j->d.message[0] = '\0';
}

static il_status il_monitor_decide_work(il_plan *p, void *ctx, il_error *err) {
    il_monitor_decide_job *j = ctx;
    il_monitor_blank(j);
    j->fault = il_plan_decide(p, j->call, &j->d, &j->fault_err);
    (void)err;
    return IL_OK;
}

static il_status il_monitor_args_digest(const il_call *call, il_arena *arena, uint8_t out[IL_DIGEST_BYTES], il_error *err) {
    const il_json *args = call->args;
    if (args == NULL) {
        args = il_json_make(arena, IL_JSON_OBJECT);
        if (args == NULL) {
            return il_arena_fail(arena, err);
        }
    }
    return il_json_digest(args, arena, out, err);
}

/* The row of a decision that ended before planning: best effort, the call is blocked either way. */
static void il_monitor_fault_row(const il_monitor *m, il_monitor_job *job, il_monitor_decide_job *j) {
    il_error ignored;
    if (job->plan == NULL || !job->opening) {
        return;
    }
    il_plan *p = job->plan;
    p->moves = false;
    p->nrows = 0;
    if (il_plan_decision_row(p, j->call->tool, NULL, &j->d, &ignored) == IL_OK) {
        (void)!il_monitor_commit(m, p, &ignored);
    }
}

static il_status il_monitor_decide_run(const il_monitor *m, il_str session, il_monitor_decide_job *j, il_arena *arena,
                                       il_error *err) {
    il_monitor_job job = {.work = il_monitor_decide_work, .ctx = j, .sweeps = true, .entropy = true};
    if (!il_monitor_id_ok(session)) {
        il_fault_block(&j->d, IL_FAULT_BAD_SESSION);
        return il_monitor_check(m, session, err);
    }
    il_status s = il_monitor_args_digest(j->call, arena, j->digest, err);
    if (s != IL_OK) {
        il_fault_block(&j->d, il_fault_of(s));
        return s;
    }
    memcpy(j->d.args_digest, j->digest, sizeof j->digest);
    s = il_monitor_run(m, session, &job, arena, err);
    if (s == IL_OK && j->fault != IL_OK) {
        if (err != NULL) {
            *err = j->fault_err;
        }
        return j->fault;
    }
    if (s != IL_OK) {
        /* whatever was decided has not been committed */
        uint8_t digest[IL_DIGEST_BYTES];
        memcpy(digest, j->digest, sizeof digest);
        il_monitor_blank(j);
        il_fault_block(&j->d, job.no_clock ? IL_FAULT_CLOCK : il_fault_of(s));
        il_monitor_fault_row(m, &job, j);
    }
    return s;
}

il_status il_monitor_decide(il_monitor *m, il_str session, const il_call *call, il_decision *out, il_error *err) {
    il_error local = {0};
    il_error *e = err != NULL ? err : &local;
    if (out == NULL || out->size < sizeof *out) {
        return il_error_set(e, IL_E_ARGUMENT, "a decision without its size");
    }
    size_t size = out->size;
    *out = (il_decision){.size = size, .symbol = IL_NO_SYMBOL};
    il_fault_block(out, IL_FAULT_INTERNAL);
    if (m == NULL || call == NULL || call->size < sizeof *call) {
        return il_error_set(e, IL_E_ARGUMENT, "a call without its size");
    }
    il_monitor_decide_job j = {.call = call};
    il_monitor_blank(&j);
    il_arena arena;
    il_arena_init(&arena, &m->alloc, IL_MONITOR_MEMORY);
    il_status s = il_monitor_decide_run(m, session, &j, &arena, e);
    il_arena_free(&arena);
    *out = j.d;
    out->size = size;
    return s;
}

/* ---- settle --------------------------------------------------------------------------------------- */

typedef struct il_monitor_settle_job {
    uint64_t ticket;
    const il_outcome *outcome;
    il_settlement out;
} il_monitor_settle_job;

static il_status il_monitor_settle_work(il_plan *p, void *ctx, il_error *err) {
    il_monitor_settle_job *j = ctx;
    j->out = (il_settlement){.size = sizeof j->out};
    return il_plan_settle(p, j->ticket, j->outcome, &j->out, err);
}

il_status il_monitor_settle(il_monitor *m, il_str session, uint64_t ticket, const il_outcome *outcome, il_settlement *out,
                            il_error *err) {
    if (out == NULL || out->size < sizeof *out) {
        return il_error_set(err, IL_E_ARGUMENT, "a settlement without its size");
    }
    size_t size = out->size;
    *out = (il_settlement){.size = size};
    (void)il_format(out->reason, sizeof out->reason, "%s", il_fault_reason(IL_FAULT_INTERNAL));
    if (m == NULL || outcome == NULL || outcome->size < sizeof *outcome || m->core.policy == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "an outcome without its size, or a monitor without a policy");
    }
    il_monitor_settle_job j = {.ticket = ticket, .outcome = outcome};
    il_monitor_job job = {.work = il_monitor_settle_work, .ctx = &j, .sweeps = true};
    il_status s = il_monitor_do(m, session, &job, err);
    if (s != IL_OK) {
        il_fault f = job.no_clock ? IL_FAULT_CLOCK : !il_monitor_id_ok(session) ? IL_FAULT_BAD_SESSION : il_fault_of(s);
        (void)il_format(out->reason, sizeof out->reason, "%s", il_fault_reason(f));
        return s;
    }
    *out = j.out;
    out->size = size;
    if (!out->release && il_str_eq(il_str_of(out->reason), il_str_of(il_fault_reason(IL_FAULT_NOT_OPEN)))) {
        return il_error_set(err, IL_E_STATE, "call %llu is settled, late or unknown", (unsigned long long)ticket);
    }
    return IL_OK;
}

/* ---- sweep, answers, quarantine, end --------------------------------------------------------------- */

static il_status il_monitor_sweep_work(il_plan *p, void *ctx, il_error *err) { return il_plan_sweep(p, ctx, err); }

il_status il_monitor_sweep(il_monitor *m, il_str session, uint64_t *next_due_ms, il_error *err) {
    uint64_t due = UINT64_MAX;
    il_monitor_job job = {.work = il_monitor_sweep_work, .ctx = &due};
    il_status s = il_monitor_do(m, session, &job, err);
    if (next_due_ms != NULL) {
        *next_due_ms = s == IL_OK ? due : UINT64_MAX;
    }
    return s;
}

typedef struct il_monitor_answer_job {
    il_str approval, by;
    bool grant;
} il_monitor_answer_job;

static il_status il_monitor_answer_work(il_plan *p, void *ctx, il_error *err) {
    const il_monitor_answer_job *j = ctx;
    return il_plan_answer(p, j->approval, j->grant, j->by, err);
}

static il_status il_monitor_answer(il_monitor *m, il_str session, il_str approval, il_str by, bool grant, il_error *err) {
    il_monitor_answer_job j = {.approval = approval, .by = by, .grant = grant};
    il_monitor_job job = {.work = il_monitor_answer_work, .ctx = &j, .sweeps = true};
    if (by.n >= IL_SESSION_ID_BYTES || !il_text_visible(by)) {
        return il_error_set(err, IL_E_ARGUMENT, "who answers is a name of at most %u visible bytes", IL_SESSION_ID_BYTES - 1);
    }
    return il_monitor_do(m, session, &job, err);
}

il_status il_monitor_approve(il_monitor *m, il_str session, il_str approval, il_str by, il_error *err) {
    return il_monitor_answer(m, session, approval, by, true, err);
}

il_status il_monitor_refuse(il_monitor *m, il_str session, il_str approval, il_str by, il_error *err) {
    return il_monitor_answer(m, session, approval, by, false, err);
}

static il_status il_monitor_quarantine_work(il_plan *p, void *ctx, il_error *err) {
    const il_str *why = ctx;
    return il_plan_quarantine(p, *why, err);
}

il_status il_monitor_quarantine(il_monitor *m, il_str session, il_str why, il_error *err) {
    il_monitor_job job = {.work = il_monitor_quarantine_work, .ctx = &why};
    if (!il_monitor_id_ok(why)) {
        return il_error_set(err, IL_E_ARGUMENT, "why is one word");
    }
    return il_monitor_do(m, session, &job, err);
}

static il_status il_monitor_end_work(il_plan *p, void *ctx, il_error *err) {
    const bool *abandon = ctx;
    return il_plan_end(p, *abandon, err);
}

il_status il_monitor_end(il_monitor *m, il_str session, bool abandon, il_error *err) {
    il_monitor_job job = {.work = il_monitor_end_work, .ctx = &abandon, .sweeps = true};
    return il_monitor_do(m, session, &job, err);
}

/* ---- list ------------------------------------------------------------------------------------------ */

typedef struct il_monitor_list_job {
    bool (*visit)(void *ctx, const il_approval *a);
    void *ctx;
} il_monitor_list_job;

static il_status il_monitor_list_work(il_plan *p, void *ctx, il_error *err) {
    const il_monitor_list_job *j = ctx;
    (void)err;
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        const il_slot *slot = &p->s->slots[i];
        char reason[IL_REASON_BYTES];
        if (slot->state == IL_SLOT_FREE || slot->expires_ms <= p->now_ms) {
            continue;
        }
        (void)il_format(reason, sizeof reason, "%.*s", IL_STR_ARG(il_machine_reason(p->core->bind.machine, slot->reason)));
        il_approval a = {.id = slot->id,
                         .tool = slot->tool,
                         .granted = slot->state == IL_SLOT_GRANTED,
                         .expires_ms = slot->expires_ms,
                         .effects = slot->effects,
                         .reason = reason};
        if (!j->visit(j->ctx, &a)) {
            break;
        }
    }
    return IL_OK;
}

il_status il_monitor_approvals(il_monitor *m, il_str session, bool (*visit)(void *ctx, const il_approval *a), void *ctx,
                               il_error *err) {
    il_monitor_list_job j = {.visit = visit, .ctx = ctx};
    il_monitor_job job = {.work = il_monitor_list_work, .ctx = &j};
    if (visit == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "nobody to tell");
    }
    return il_monitor_do(m, session, &job, err);
}

/* ---- begin ----------------------------------------------------------------------------------------- */

static il_status il_monitor_parent(const il_monitor *m, il_arena *arena, il_str id, il_session **out, uint64_t *version,
                                   il_error *err) {
    il_str bytes = {0};
    IL_TRY(il_monitor_load(m, arena, id, &bytes, version, err));
    *out = IL_NEW(arena, il_session);
    if (*out == NULL) {
        return il_arena_fail(arena, err);
    }
    IL_TRY(il_session_decode((const uint8_t *)bytes.p, bytes.n, *out, err));
    bool same = il_digest_eq((*out)->machine, m->core.seal);
    bool ended = same && il_bind_phase(&m->core.bind, (*out)->state, "ended");
    if (same && !il_plan_agrees(&m->core, *out)) {
        return il_error_set(err, IL_E_DAMAGED, "the parent's summary is not what its machine's state says");
    }
    if ((*out)->quarantined || ended) {
        return il_error_set(err, IL_E_STATE, "the parent is %s", ended ? "ended" : "quarantined");
    }
    return IL_OK;
}

/* The session is not there: one attempt to make it, in one transaction with a check that its parent did not move. */
static il_status il_monitor_create(const il_monitor *m, il_str session, const il_begin *how, uint64_t now, il_arena *arena,
                                   il_error *err) {
    il_plan p;
    il_session *parent = NULL;
    il_store_change changes[2];
    uint64_t version = 0;
    il_plan_input in = {.session = session, .now_ms = now};
    if (how->parent.n > 0) {
        IL_TRY(il_monitor_parent(m, arena, how->parent, &parent, &version, err));
        in.now_ms = parent->seen_ms > now ? parent->seen_ms : now;
    }
    IL_TRY(il_plan_begin(&p, &m->core, arena, &in, how->principal, how->parent, parent, err));
    IL_TRY(il_plan_done(&p, &changes[0], err));
    changes[1] = (il_store_change){.space = IL_STR(IL_SPACE_SESSION), .key = how->parent, .expect = version};
    return il_monitor_store_status(m->store.commit(m->store.ctx, changes, parent != NULL ? 2 : 1, p.now_ms, err));
}

static il_status il_monitor_continue(const il_monitor *m, const il_plan_input *in, const il_begin *how, il_arena *arena,
                                     il_error *err) {
    il_plan p;
    if (!how->resume) {
        return il_error_set(err, IL_E_EXISTS, "the session is there already");
    }
    if (how->parent.n > 0) {
        return il_error_set(err, IL_E_ARGUMENT, "a session that is there already gets no parent");
    }
    IL_TRY(il_plan_open(&p, &m->core, arena, in, err));
    IL_TRY(il_plan_resume(&p, how->principal, err));
    return il_monitor_commit(m, &p, err);
}

static il_status il_monitor_begin_try(const il_monitor *m, il_str session, const il_begin *how, il_arena *arena, il_error *err) {
    il_plan_input in = {.session = session};
    IL_TRY(il_monitor_clock(m, &in.now_ms, err));
    il_status s = il_monitor_load(m, arena, session, &in.bytes, &in.version, err);
    if (s == IL_E_NOT_FOUND) {
        return il_monitor_create(m, session, how, in.now_ms, arena, err);
    }
    return s == IL_OK ? il_monitor_continue(m, &in, how, arena, err) : s;
}

il_status il_monitor_begin(il_monitor *m, il_str session, const il_begin *how, il_error *err) {
    IL_TRY(il_monitor_check(m, session, err));
    if (how == NULL || how->size < sizeof *how || m->core.policy == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "a beginning without its size, or a monitor without a policy");
    }
    if (!il_monitor_principal_ok(how->principal) || (how->parent.n > 0 && !il_monitor_id_ok(how->parent))) {
        return il_error_set(err, IL_E_ARGUMENT, "a principal is visible ASCII, a parent a session's id, of at most %u bytes",
                            IL_SESSION_ID_BYTES - 1);
    }
    if (how->parent.n > 0 && il_str_eq(how->parent, session)) {
        return il_error_set(err, IL_E_ARGUMENT, "a session is not its own parent");
    }
    il_arena arena;
    il_arena_init(&arena, &m->alloc, IL_MONITOR_MEMORY);
    il_status s = IL_E_CONFLICT;
    for (int i = 0; i < IL_MONITOR_TRIES && s == IL_E_CONFLICT; i++) {
        il_arena_reset(&arena);
        s = il_monitor_begin_try(m, session, how, &arena, err);
    }
    il_arena_free(&arena);
    return s == IL_E_CONFLICT ? il_error_set(err, IL_E_BUSY, "the session kept being moved by others") : s;
}
