/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to a session beside its calls: sweep, recover, approve, refuse, quarantine, end, list. */
#include "monitor/job.h"
#include "policy/kind_part.h"
#include "policy/rule.h"

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

typedef struct il_monitor_recover_job {
    const il_host *host;
    uint32_t settled;
} il_monitor_recover_job;

static il_status il_monitor_recover_work(il_plan *p, void *ctx, il_error *err) {
    static const uint8_t nobody[IL_OWNER_BYTES];
    il_monitor_recover_job *j = ctx;
    uint32_t tickets = 0;
    j->settled = 0;
    for (uint32_t i = 0; i < p->s->ntickets; i++) {
        const uint8_t *owner = p->s->tickets[i].owner;
        if (j->host->gone != NULL && memcmp(owner, nobody, sizeof nobody) != 0 && j->host->gone(j->host->ctx, owner)) {
            tickets |= 1u << i;
            j->settled++;
        }
    }
    return il_plan_recover(p, tickets, err);
}

il_status il_monitor_recover(il_monitor *m, il_str session, uint32_t *settled, il_error *err) {
    il_monitor_recover_job j = {.host = m != NULL ? &m->host : NULL};
    il_monitor_job job = {.work = il_monitor_recover_work, .ctx = &j, .sweeps = true};
    il_status s = il_monitor_do(m, session, &job, err);
    if (settled != NULL) {
        *settled = s == IL_OK ? j.settled : 0;
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
        const il_str rule = il_policy_rule_name(p->core->policy, slot->rule);
        if (slot->rule != 0 && rule.n == 0) { /* without its policy only the rule's place is known */
            (void)il_format(reason, sizeof reason, "rule-%u", (unsigned)slot->rule);
        } else {
            const il_str word = slot->rule != 0 ? rule : il_machine_reason(p->core->bind.machine, slot->reason);
            (void)il_format(reason, sizeof reason, "%.*s", IL_STR_ARG(word));
        }
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
