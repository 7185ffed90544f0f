/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor's two calls on the way of every call: decide and settle. */
#include "base/sha256.h"
#include "monitor/job.h"

/* ---- decide --------------------------------------------------------------------------------------- */

typedef struct il_monitor_decide_job {
    const il_call *call;
    uint8_t digest[IL_DIGEST_BYTES];
    il_labelled labelled;
    il_decision d;
    bool settled; /* with it: il_call.at_once */
    il_resulted resulted;
    il_status fault; /* of a decision whose row is to be committed all the same */
    il_error fault_err;
} il_monitor_decide_job;

/* A block of layer fault, by its zeros; without a reason yet, by which il_plan_decide and its callers tell a fault that was named. */
static void il_monitor_blank(il_monitor_decide_job *j) {
    j->d = (il_decision){.size = sizeof j->d, .symbol = IL_NO_SYMBOL};
    memcpy(j->d.args_digest, j->digest, sizeof j->digest);
}

/* Whatever was decided has not been committed. */
static void il_monitor_fault(il_monitor_decide_job *j, il_fault f) {
    il_monitor_blank(j);
    il_fault_block(&j->d, f);
}

/* Which fault ended a job. */
static il_fault il_monitor_job_fault(const il_monitor_job *job, il_status s) {
    return job->no_clock ? IL_FAULT_CLOCK : job->recalling != IL_FAULT_INTERNAL ? job->recalling : il_fault_of(s);
}

static const il_outcome il_monitor_worst = {.size = sizeof il_monitor_worst, .how = IL_OUTCOME_FAILED};

/* Settles the call that was just admitted, as its worst, in the same commit. A plan holds one episode: where the call left one, its settlement is a commit of its own. */
static il_status il_monitor_decide_settle(il_plan *p, il_monitor_decide_job *j, il_error *err) {
    il_settlement out = IL_SETTLEMENT_INIT;
    if (!j->call->at_once || j->fault != IL_OK || j->d.ticket == 0 || j->d.child || p->episode.n > 0) {
        return IL_OK;
    }
    il_arena_reset(&j->resulted.arena);
    j->resulted.done = false;
    j->resulted.bytes = (il_str){0};
    IL_TRY(il_plan_settle(p, j->d.ticket, &il_monitor_worst, NULL, &j->resulted, &out, err));
    j->settled = true;
    return IL_OK;
}

static il_status il_monitor_decide_work(il_plan *p, void *ctx, il_error *err) {
    il_monitor_decide_job *j = ctx;
    il_monitor_blank(j);
    j->settled = false;
    j->fault = il_plan_decide(p, j->call, &j->labelled, &j->d, &j->fault_err);
    return il_monitor_decide_settle(p, j, err);
}

/* The row of a decision that ended before planning: best effort, the call is blocked either way. */
static void il_monitor_fault_row(const il_monitor *m, il_monitor_job *job, il_monitor_decide_job *j) {
    il_error ignored;
    if (job->plan == NULL || (!job->opening && job->recalling == IL_FAULT_INTERNAL)) {
        return;
    }
    il_plan *p = job->plan;
    p->moves = false;
    p->nrows = 0;
    il_plan_forget_all(p);
    if (il_plan_decision_row(p, j->call->tool, NULL, &j->d, &ignored) == IL_OK) {
        (void)!il_monitor_commit(m, p, &ignored);
    }
}

static il_status il_monitor_decide_run(const il_monitor *m, il_str session, il_monitor_decide_job *j, il_arena *arena,
                                       il_error *err) {
    il_monitor_job job = {.work = il_monitor_decide_work, .ctx = j, .sweeps = true, .recalls = true};
    if (!il_monitor_id_ok(session)) {
        il_monitor_fault(j, IL_FAULT_BAD_SESSION);
        return il_monitor_check(m, session, err);
    }
    static const il_json none = {.kind = IL_JSON_OBJECT};
    il_status s = il_json_digest(j->call->args != NULL ? j->call->args : &none, m->host.sha256, j->digest, err);
    if (s != IL_OK) {
        il_monitor_fault(j, il_fault_of(s));
        return s;
    }
    s = il_monitor_run(m, session, &job, arena, err);
    if (s == IL_OK && j->fault != IL_OK) {
        if (err != NULL) {
            *err = j->fault_err;
        }
        return j->fault;
    }
    if (s != IL_OK) {
        il_monitor_fault(j, il_monitor_job_fault(&job, s));
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
    if (m == NULL || call == NULL || call->size < sizeof *call) {
        il_fault_block(out, IL_FAULT_INTERNAL);
        return il_error_set(e, IL_E_ARGUMENT, "a call without its size");
    }
    il_monitor_decide_job j; /* il_monitor_decide_run fills what it reads */
    j.call = call;
    j.fault = IL_OK;
    memset(j.digest, 0, sizeof j.digest);
    j.labelled.done = j.labelled.asked = false;
    il_arena_init(&j.labelled.arena, &m->alloc, IL_MONITOR_MEMORY);
    il_arena_expect(&j.labelled.arena, IL_MONITOR_EXPECTED_LABEL);
    il_arena_init(&j.resulted.arena, &m->alloc, IL_MONITOR_RESULT);
    il_arena arena;
    il_arena_init(&arena, &m->alloc, IL_MONITOR_MEMORY);
    il_arena_expect(&arena, IL_MONITOR_EXPECTED);
    il_status s = il_monitor_decide_run(m, session, &j, &arena, e);
    il_arena_free(&arena);
    il_arena_free(&j.labelled.arena);
    il_arena_free(&j.resulted.arena);
    if (s == IL_OK && call->at_once && j.d.ticket != 0 && !j.d.child && !j.settled) {
        il_settlement settled = IL_SETTLEMENT_INIT;
        s = il_monitor_settle(m, session, j.d.ticket, &il_monitor_worst, &settled, e);
        if (s != IL_OK) { /* it stays open as its worst until its deadline, and what could not be settled does not run */
            il_monitor_fault(&j, il_fault_of(s));
        }
    }
    *out = j.d;
    out->size = size;
    return s;
}

/* ---- settle --------------------------------------------------------------------------------------- */

typedef struct il_monitor_settle_job {
    uint64_t ticket;
    const il_outcome *outcome;
    uint8_t digest[IL_DIGEST_BYTES]; /* of the result, if there is one */
    il_resulted resulted;
    il_settlement out;
    il_str child; /* whose answer it is; empty: nobody's */
    bool childless;
} il_monitor_settle_job;

/* The child as it is now; it must not move before the commit. */
static il_status il_monitor_settle_child(il_plan *p, il_monitor_settle_job *j, il_session **out, il_error *err) {
    il_str bytes;
    il_session *child = il_arena_raw(p->arena, sizeof *child);
    if (child == NULL) {
        return il_arena_fail(p->arena, err);
    }
    const il_status s = p->in.load(p->in.load_ctx, p->arena, IL_STR(IL_SPACE_SESSION), j->child, &bytes, &p->other_version, err);
    j->childless = s == IL_E_NOT_FOUND;
    IL_TRY(s);
    IL_TRY(il_session_decode((const uint8_t *)bytes.p, bytes.n, child, err));
    if (il_digest_eq(child->machine, p->core->seal) && !il_plan_agrees(p->core, child)) {
        return il_error_set(err, IL_E_DAMAGED, "the child's summary is not what its machine's state says");
    }
    if (!il_str_eq(il_str_of(child->parent), p->in.session)) {
        return il_error_set(err, IL_E_ARGUMENT, "session `%.*s` is no child of this one", IL_STR_ARG(j->child));
    }
    p->other = j->child;
    *out = child;
    return IL_OK;
}

static il_status il_monitor_settle_work(il_plan *p, void *ctx, il_error *err) {
    il_monitor_settle_job *j = ctx;
    il_session *child = NULL;
    j->out = (il_settlement){.size = sizeof j->out};
    if (j->child.n == 0) {
        return il_plan_settle(p, j->ticket, j->outcome, j->digest, &j->resulted, &j->out, err);
    }
    j->resulted.done = false; /* the child may have moved */
    j->resulted.bytes = (il_str){0};
    il_arena_reset(&j->resulted.arena);
    IL_TRY(il_monitor_settle_child(p, j, &child, err));
    return il_plan_join_child(p, j->child, child, j->ticket, j->outcome, j->digest, &j->resulted, &j->out, err);
}

static il_status il_monitor_settle_run(il_monitor *m, il_str session, il_monitor_settle_job *j, il_settlement *out,
                                       il_error *err) {
    const il_outcome *outcome = j->outcome;
    if (out == NULL || out->size < sizeof *out) {
        return il_error_set(err, IL_E_ARGUMENT, "a settlement without its size");
    }
    size_t size = out->size;
    *out = (il_settlement){.size = size};
    (void)il_format(out->reason, sizeof out->reason, "%s", il_fault_reason(IL_FAULT_INTERNAL));
    if (m == NULL || outcome == NULL || outcome->size < sizeof *outcome || m->core.policy == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "an outcome without its size, or a monitor without a policy");
    }
    il_monitor_job job = {.work = il_monitor_settle_work, .ctx = j, .sweeps = true, .recalls = true};
    il_arena_init(&j->resulted.arena, &m->alloc, IL_MONITOR_RESULT);
    il_status s = outcome->result != NULL ? il_json_digest(outcome->result, m->host.sha256, j->digest, err) : IL_OK;
    if (s == IL_OK) {
        s = il_monitor_do(m, session, &job, err);
    }
    il_arena_free(&j->resulted.arena);
    if (s != IL_OK) {
        il_fault f = !il_monitor_id_ok(session) || j->childless ? IL_FAULT_BAD_SESSION : il_monitor_job_fault(&job, s);
        (void)il_format(out->reason, sizeof out->reason, "%s", il_fault_reason(f));
        return s;
    }
    *out = j->out;
    out->size = size;
    if (!out->release && il_str_eq(il_str_of(out->reason), il_str_of(il_fault_reason(IL_FAULT_NOT_OPEN)))) {
        return il_error_set(err, IL_E_STATE, "call %llu is settled, late or unknown", (unsigned long long)j->ticket);
    }
    return IL_OK;
}

il_status il_monitor_settle(il_monitor *m, il_str session, uint64_t ticket, const il_outcome *outcome, il_settlement *out,
                            il_error *err) {
    il_monitor_settle_job j = {.ticket = ticket, .outcome = outcome};
    return il_monitor_settle_run(m, session, &j, out, err);
}

il_status il_monitor_join(il_monitor *m, il_str session, il_str child, uint64_t ticket, const il_outcome *outcome,
                          il_settlement *out, il_error *err) {
    il_monitor_settle_job j = {.child = child, .ticket = ticket, .outcome = outcome};
    if (out != NULL && out->size >= sizeof *out && !il_monitor_id_ok(child)) {
        const size_t size = out->size;
        *out = (il_settlement){.size = size};
        (void)il_format(out->reason, sizeof out->reason, "%s", il_fault_reason(IL_FAULT_BAD_SESSION));
        return il_error_set(err, IL_E_ARGUMENT, "no child's id");
    }
    return il_monitor_settle_run(m, session, &j, out, err);
}
