/* SPDX-License-Identifier: Apache-2.0 */
/* How calls end: settle, sweep, quarantine, end. */
#include "base/sha256.h"
#include "monitor/plan.h"

/* The reservation that the ticket releases: only the last of its kind does (machines: the monitor's debts, 2). */
static uint8_t il_plan_last(const il_session *s, uint8_t flags) {
    uint8_t kind = flags & (IL_TICKET_ONCE | IL_TICKET_CROSSING);
    for (uint32_t i = 0; i < s->ntickets; i++) {
        if ((s->tickets[i].flags & kind) != 0) {
            return 0;
        }
    }
    return kind == IL_TICKET_ONCE ? 1 : kind == IL_TICKET_CROSSING ? 2 : 0;
}

/* Taints that may be lowered: raised by this call alone, still fresh, and proven absent. What may be secret may be sensitive. */
static uint32_t il_plan_refinable(const il_plan *p, const il_ticket *t, uint32_t absent) {
    const il_bind *b = &p->core->bind;
    if ((t->effects & (uint32_t)IL_SECRET) != 0 && (absent & (uint32_t)IL_SECRET) == 0) {
        absent &= ~(uint32_t)IL_SENSITIVE;
    }
    uint32_t bits = absent & t->raised & il_bind_fresh(b, p->s->state);
    if ((bits & (uint32_t)IL_SENSITIVE) == 0) {
        bits &= ~(uint32_t)IL_SECRET; /* in a payload, secret says sensitive as well */
    }
    return b->refines ? bits : 0;
}

il_status il_plan_close(il_plan *p, uint32_t at, uint32_t absent, il_closing *out, il_error *err) {
    il_session *s = p->s;
    il_ticket t = s->tickets[at];
    il_step step;
    *out = (il_closing){0};
    memmove(&s->tickets[at], &s->tickets[at + 1], (s->ntickets - at - 1) * sizeof s->tickets[0]);
    s->ntickets--;
    p->moves = true;
    if ((t.flags & IL_TICKET_SHADOW) != 0 || !p->on_table) {
        return IL_OK;
    }
    uint32_t refinable = il_plan_refinable(p, &t, absent);
    if (refinable != 0) {
        IL_TRY(il_plan_step(p, il_bind_refine(&p->core->bind, refinable), &step, err));
        out->refined = step.verdict == IL_ACCEPT ? refinable : 0;
        if ((out->refined & (uint32_t)IL_SENSITIVE) != 0) {
            out->refined |= t.effects & (uint32_t)IL_SECRET; /* checked above: absent as well */
        }
    }
    /* an inherited call was joined, not admitted: its taints are the join's */
    uint32_t taints = (t.flags & IL_TICKET_INHERITED) != 0 ? 0 : t.effects & IL_TAINTS & ~out->refined;
    uint8_t last = il_plan_last(s, t.flags);
    IL_TRY(il_plan_step(p, il_bind_settle(&p->core->bind, taints, last), &step, err));
    if (step.verdict != IL_ACCEPT) {
        out->breach = true;
        IL_TRY(il_plan_step(p, il_bind_settle(&p->core->bind, 0, last), &step, err));
        IL_TRY(il_plan_quarantine(p, IL_STR("label-breach"), err));
    }
    return il_plan_slots(p, err);
}

static il_status il_plan_settle_row(il_plan *p, uint64_t ticket, const char *tool, const char *how, const il_closing *closing,
                                    const uint8_t *digest, uint64_t pre, bool release, const char *reason, il_error *err) {
    il_record r;
    il_record_open(&r, p->arena);
    il_record_text(&r, IL_STR("how"), how);
    il_record_state(&r, IL_STR("post"), p->s->state);
    il_record_state(&r, IL_STR("pre"), pre);
    il_record_text(&r, IL_STR("reason"), reason);
    il_record_digest(&r, IL_STR("recalled"), il_plan_recalled(p));
    il_record_effects(&r, IL_STR("refined"), closing->refined);
    il_record_truth(&r, IL_STR("release"), release);
    il_record_digest(&r, IL_STR("result_digest"), digest);
    il_record_text(&r, IL_STR("tool"), tool);
    il_record_number(&r, IL_STR("v"), 1);
    return il_plan_row(p, "settle", ticket, &r, err);
}

static uint32_t il_plan_find(const il_session *s, uint64_t ticket) {
    for (uint32_t i = 0; i < s->ntickets; i++) {
        if (ticket != 0 && s->tickets[i].id == ticket && (s->tickets[i].flags & IL_TICKET_INHERITED) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* What the policy reads in the result. More than can be kept is not released: it is as if nothing had come. */
static il_status il_plan_result(const il_plan *p, const il_ticket *t, const il_outcome *outcome, il_resulted *r, il_error *err) {
    if (p->core->policy == NULL || r->done) {
        return r->status;
    }
    const il_result_call call = {.tool = il_str_of(t->tool),
                                 .args = outcome->args,
                                 .result = outcome->result,
                                 .error = outcome->error,
                                 .done = outcome->how == IL_OUTCOME_DONE,
                                 .bare = outcome->bare,
                                 .blind = p->core->blind,
                                 .taints = t->effects & IL_TAINTS,
                                 .ticket = t->id,
                                 .agent = il_str_of(p->s->principal)};
    r->status = il_policy_read(p->core->policy, &call, &r->arena, &r->result, err);
    r->done = r->status == IL_OK || r->status == IL_E_LIMIT;
    return r->status;
}

il_status il_plan_settle(il_plan *p, uint64_t ticket, const il_outcome *outcome, const uint8_t digest[IL_DIGEST_BYTES],
                         il_resulted *resulted, il_settlement *out, il_error *err) {
    uint32_t at = il_plan_find(p->s, ticket);
    uint64_t pre = p->s->state;
    il_closing closing = {0};
    il_fault why = IL_FAULT_NOT_OPEN;
    const char *how = outcome->how == IL_OUTCOME_DONE ? "done" : "failed";
    digest = outcome->result != NULL ? digest : NULL;
    out->release = false;
    if (at == UINT32_MAX) {
        (void)il_format(out->reason, sizeof out->reason, "%s", il_fault_reason(why));
        out->quarantined = il_plan_frozen(p);
        return il_plan_settle_row(p, ticket, NULL, how, &closing, digest, pre, false, out->reason, err);
    }
    char tool[IL_TOOL_BYTES];
    memcpy(tool, p->s->tickets[at].tool, sizeof tool);
    static const il_outcome nothing = {.size = sizeof nothing, .how = IL_OUTCOME_FAILED};
    const bool unjoined = (p->s->tickets[at].flags & IL_TICKET_CHILD) != 0 && p->other.n == 0 && outcome->result != NULL;
    outcome = unjoined ? &nothing : outcome; /* what the child holds did not come with it */
    il_status read = il_plan_result(p, &p->s->tickets[at], outcome, resulted, err);
    if (read == IL_OK && p->core->remembers) {
        read = il_plan_remember_result(p, resulted, err);
    }
    if (read != IL_OK && read != IL_E_LIMIT) {
        return read;
    }
    /* A result that came is evidence against its own absence, but for what the policy finds in it. */
    uint32_t absent = outcome->result == NULL ? outcome->absent : outcome->absent & ~(uint32_t)IL_TAINTS;
    absent |= read == IL_OK && outcome->how == IL_OUTCOME_DONE ? resulted->result.absent : 0;
    IL_TRY(il_plan_close(p, at, absent, &closing, err));
    out->quarantined = il_plan_frozen(p);
    out->release = read == IL_OK && !unjoined && !(il_plan_enforced(p) && (closing.breach || out->quarantined));
    if (closing.breach || out->quarantined || read != IL_OK || unjoined) {
        why = closing.breach     ? IL_FAULT_BREACH
              : out->quarantined ? IL_FAULT_QUARANTINED
              : unjoined         ? IL_FAULT_NOT_JOINED
                                 : IL_FAULT_EPISODE_LIMIT;
        (void)il_format(out->reason, sizeof out->reason, "%s", il_fault_reason(why));
    }
    return il_plan_settle_row(p, ticket, tool, how, &closing, digest, pre, out->release, out->reason, err);
}

/* Settles ticket number `at` as its worst, with its row. */
static il_status il_plan_worst(il_plan *p, uint32_t at, const char *how, il_error *err) {
    il_ticket t = p->s->tickets[at];
    uint64_t pre = p->s->state;
    il_closing closing;
    IL_TRY(il_plan_close(p, at, 0, &closing, err));
    return il_plan_settle_row(p, t.id, t.tool, how, &closing, NULL, pre, false, how, err);
}

il_status il_plan_recover(il_plan *p, uint32_t tickets, il_error *err) {
    _Static_assert(IL_TICKETS_MAX <= 32, "a bit for each ticket");
    uint32_t at = 0; /* closing takes a ticket off the list */
    for (uint32_t bits = tickets; bits != 0; bits >>= 1) {
        if ((bits & 1u) != 0) {
            IL_CHECK(at < p->s->ntickets, err);
            IL_TRY(il_plan_worst(p, at, "recovered", err));
        } else {
            at++;
        }
    }
    return IL_OK;
}

static il_status il_plan_lapse(il_plan *p, il_slot *slot, il_error *err) {
    const uint64_t pre = p->s->state;
    il_step step;
    IL_TRY(il_plan_step(p, il_bind_lapse(&p->core->bind, slot->state == IL_SLOT_GRANTED), &step, err));
    if (step.verdict != IL_ACCEPT) {
        return IL_OK; /* the session is not live; it has no slots any more, or il_plan_done complains */
    }
    IL_TRY(il_plan_lapse_row(p, slot, "expired", &pre, err));
    return il_plan_slots(p, err);
}

static uint64_t il_plan_next_due(const il_session *s) {
    uint64_t due = UINT64_MAX;
    for (uint32_t i = 0; i < s->ntickets; i++) {
        due = s->tickets[i].deadline_ms < due ? s->tickets[i].deadline_ms : due;
    }
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        if (s->slots[i].state != IL_SLOT_FREE && s->slots[i].expires_ms < due) {
            due = s->slots[i].expires_ms;
        }
    }
    return due;
}

il_status il_plan_sweep(il_plan *p, uint64_t *next_due_ms, il_error *err) {
    for (uint32_t i = 0; i < p->s->ntickets;) {
        if (p->s->tickets[i].deadline_ms <= p->now_ms) {
            IL_TRY(il_plan_worst(p, i, "overdue", err));
        } else {
            i++;
        }
    }
    for (uint32_t i = 0; i < IL_SLOTS_MAX && p->on_table; i++) {
        if (p->s->slots[i].state != IL_SLOT_FREE && p->s->slots[i].expires_ms <= p->now_ms) {
            IL_TRY(il_plan_lapse(p, &p->s->slots[i], err));
        }
    }
    if (next_due_ms != NULL) {
        *next_due_ms = il_plan_next_due(p->s);
    }
    return IL_OK;
}

il_status il_plan_quarantine(il_plan *p, il_str why, il_error *err) {
    uint64_t pre = p->s->state;
    il_step step = {0};
    if (p->s->quarantined) {
        return IL_OK;
    }
    p->s->quarantined = true;
    p->moves = true;
    if (p->on_table) {
        IL_TRY(il_plan_step(p, il_bind_plain(&p->core->bind, "quarantine"), &step, err));
        IL_TRY(il_plan_slots(p, err));
    }
    il_record r;
    il_record_open(&r, p->arena);
    il_record_state(&r, IL_STR("post"), p->s->state);
    il_record_state(&r, IL_STR("pre"), pre);
    il_record_number(&r, IL_STR("v"), 1);
    il_record_str(&r, IL_STR("why"), why);
    return il_plan_row(p, "quarantine", 0, &r, err);
}

il_status il_plan_end(il_plan *p, bool abandon, il_error *err) {
    il_step step;
    if (il_bind_phase(&p->core->bind, p->s->state, "ended")) {
        return IL_OK;
    }
    for (uint32_t i = 0; i < p->s->ntickets;) {
        bool inherited = (p->s->tickets[i].flags & IL_TICKET_INHERITED) != 0;
        if (!inherited && !abandon) {
            return il_error_set(err, IL_E_STATE, "busy: a call is not settled yet");
        }
        IL_TRY(il_plan_worst(p, i, inherited ? "inherited" : "abandoned", err));
    }
    const uint64_t pre = p->s->state; /* the rows above say how it came here */
    if (p->on_table) {
        IL_TRY(il_plan_step(p, il_bind_plain(&p->core->bind, "end"), &step, err));
        if (step.verdict != IL_ACCEPT) {
            il_str rule = il_machine_reason(p->core->bind.machine, step.reason);
            return il_error_set(err, IL_E_STATE, "%.*s: the machine does not let this session end", IL_STR_ARG(rule));
        }
        IL_TRY(il_plan_slots(p, err));
    } else {
        return il_error_set(err, IL_E_STATE, "off-table: the session's state is none of its machine's; it stays in quarantine");
    }
    il_record r;
    il_record_open(&r, p->arena);
    il_record_truth(&r, IL_STR("abandon"), abandon);
    il_record_state(&r, IL_STR("post"), p->s->state);
    il_record_state(&r, IL_STR("pre"), pre);
    il_record_number(&r, IL_STR("v"), 1);
    return il_plan_row(p, "end", 0, &r, err);
}
