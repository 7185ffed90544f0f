/* SPDX-License-Identifier: Apache-2.0 */
/* Joins: what one session holds and has in flight becomes another's. A child begins with its parent's; its answer brings its own to the parent. */
#include "base/sha256.h"
#include "monitor/plan.h"

static uint32_t il_join_taints(const il_session *from) {
    const uint32_t taints = ((uint32_t)from->counted | from->shadow) & IL_TAINTS;
    return taints | ((taints & (uint32_t)IL_SECRET) != 0 ? (uint32_t)IL_SENSITIVE : 0u);
}

/* A call of the other session that is in flight reserves here too, until its deadline: nobody tells us of its end. */
static il_status il_join_inherit(il_plan *p, const il_session *from, il_error *err) {
    if (p->s->ntickets == IL_TICKETS_MAX) {
        return il_error_set(err, IL_E_LIMIT, "%u calls of this session are not settled", IL_TICKETS_MAX);
    }
    il_ticket *t = &p->s->tickets[p->s->ntickets++];
    memset(t, 0, sizeof *t);
    t->id = p->s->next_ticket++;
    t->effects = (uint8_t)IL_EGRESS;
    t->flags = IL_TICKET_ONCE | IL_TICKET_INHERITED;
    t->deadline_ms = p->now_ms + p->core->deadline_ms;
    for (uint32_t i = 0; i < from->ntickets; i++) {
        if ((from->tickets[i].flags & IL_TICKET_ONCE) != 0) {
            memcpy(t->tool, from->tickets[i].tool, sizeof t->tool);
            t->deadline_ms = from->tickets[i].deadline_ms > t->deadline_ms ? from->tickets[i].deadline_ms : t->deadline_ms;
        }
    }
    return IL_OK;
}

/* The machine's join. A refused one moves nothing, and *step says by which rule; what is accepted is witnessed as of `ticket` (0: the next number, which
 * it takes). */
static il_status il_plan_join(il_plan *p, const il_session *from, uint64_t ticket, il_step *step, il_error *err) {
    il_session *s = p->s;
    const uint32_t taints = il_join_taints(from);
    *step = (il_step){.verdict = IL_ACCEPT, .next = s->state};
    if (taints == 0 && from->flight == 0 && from->open == 0) {
        return IL_OK;
    }
    if (!p->core->bind.joins) {
        return il_error_set(err, IL_E_STATE,
                            "this machine has no join, so it keeps no children of a session that holds something");
    }
    const uint8_t before = s->counted;
    const bool was_open = s->open != 0, flew = s->flight != 0;
    IL_TRY(il_plan_step(p, il_bind_join(&p->core->bind, taints, from->flight, from->open), step, err));
    if (step->verdict != IL_ACCEPT) {
        return IL_OK;
    }
    if (p->core->bind.secret == UINT32_MAX) {
        s->counted |= (uint8_t)(taints & (uint32_t)IL_SECRET);
    }
    ticket = ticket != 0 ? ticket : s->next_ticket++;
    for (uint32_t i = 0; i < 4; i++) {
        const bool counts = i < 3 ? (s->counted & ~before & (1u << i)) != 0 : s->open != 0 && !was_open;
        if (counts) {
            s->witnesses[i].ticket = ticket;
            memcpy(s->witnesses[i].tool, from->witnesses[i].tool, sizeof s->witnesses[i].tool);
        }
    }
    if (from->flight != 0 || (s->flight != 0 && !flew)) {
        IL_TRY(il_join_inherit(p, from, err));
    }
    return il_plan_slots(p, err);
}

il_status il_plan_join_parent(il_plan *p, const il_session *parent, il_error *err) {
    il_step step;
    p->s->shadow = parent->shadow;
    IL_TRY(il_plan_join(p, parent, 0, &step, err));
    if (step.verdict != IL_ACCEPT) {
        const il_str rule = il_machine_reason(p->core->bind.machine, step.reason);
        return il_error_set(err, IL_E_STATE, "a child of this session is refused: %.*s", IL_STR_ARG(rule));
    }
    return IL_OK;
}

static il_status il_plan_join_row(il_plan *p, il_str id, const il_session *child, uint64_t ticket, uint64_t pre,
                                  uint64_t inherited, il_str reason, il_error *err) {
    il_record r;
    il_record_open(&r, p->arena);
    il_record_str(&r, IL_STR("child"), id);
    il_record_number(&r, IL_STR("flight"), child->flight);
    il_record_number(&r, IL_STR("inherited"), inherited);
    il_record_number(&r, IL_STR("open"), child->open);
    il_record_state(&r, IL_STR("post"), p->s->state);
    il_record_state(&r, IL_STR("pre"), pre);
    if (reason.n > 0) {
        il_record_str(&r, IL_STR("reason"), reason);
    } else {
        il_record_text(&r, IL_STR("reason"), NULL);
    }
    il_record_effects(&r, IL_STR("taints"), il_join_taints(child));
    il_record_number(&r, IL_STR("v"), 1);
    return il_plan_row(p, "join", ticket, &r, err);
}

/* The child's answer, as what a session knows: its texts, as far to be trusted as what the child read. */
static il_status il_plan_answer_heard(const il_plan *p, il_str tool, uint64_t ticket, uint32_t taints, const il_outcome *outcome,
                                      il_resulted *r, il_error *err) {
    r->done = true;
    r->status = IL_OK;
    r->result = (il_result){.readable = true, .items = 1};
    if (!p->core->remembers || outcome->result == NULL) {
        return IL_OK;
    }
    const il_overheard heard = {.kind = IL_SOURCE_CHILD,
                                .name = tool,
                                .agent = il_str_of(p->s->principal),
                                .ticket = ticket,
                                .taints = taints,
                                .value = outcome->result,
                                .trusted = (taints & (uint32_t)IL_UNTRUSTED) == 0,
                                .blind = p->core->blind};
    r->status = il_policy_overhear(p->core->policy, &heard, &r->arena, &r->result.episode, err);
    return r->status == IL_E_LIMIT ? IL_OK : r->status; /* the settle withholds it */
}

il_status il_plan_join_child(il_plan *p, il_str id, const il_session *child, uint64_t ticket, const il_outcome *outcome,
                             const uint8_t digest[IL_DIGEST_BYTES], il_resulted *resulted, il_settlement *out, il_error *err) {
    il_step step;
    il_str tool = {0};
    const uint64_t pre = p->s->state;
    for (uint32_t i = 0; i < p->s->ntickets; i++) {
        const il_ticket *t = &p->s->tickets[i];
        tool = t->id == ticket && (t->flags & IL_TICKET_INHERITED) == 0 ? il_str_of(t->tool) : tool;
    }
    if (tool.n == 0 || !p->on_table) { /* settled, late or unknown: nothing of it comes here */
        return il_plan_settle(p, ticket, outcome, digest, resulted, out, err);
    }
    const uint32_t calls = p->s->ntickets;
    IL_TRY(il_arena_copy(p->arena, tool, &tool, err));
    IL_TRY(il_plan_join(p, child, ticket, &step, err));
    const bool joined = step.verdict == IL_ACCEPT;
    const il_str rule = joined ? IL_STR("") : il_machine_reason(p->core->bind.machine, step.reason);
    p->s->shadow |= joined ? child->shadow : 0;
    p->s->unenforced = p->s->unenforced || (joined && child->unenforced);
    const uint64_t inherited = p->s->ntickets > calls ? p->s->tickets[calls].id : 0;
    IL_TRY(il_plan_join_row(p, id, child, ticket, pre, inherited, rule, err));
    if (joined) {
        IL_TRY(il_plan_answer_heard(p, tool, ticket, il_join_taints(child), outcome, resulted, err));
        return il_plan_settle(p, ticket, outcome, digest, resulted, out, err);
    }
    /* Nothing of the answer reaches this session, so it brings nothing either. */
    const il_outcome nothing = {.size = sizeof nothing, .how = IL_OUTCOME_FAILED};
    IL_TRY(il_plan_settle(p, ticket, &nothing, digest, resulted, out, err));
    out->release = false;
    (void)il_format(out->reason, sizeof out->reason, "%.*s", IL_STR_ARG(rule));
    return IL_OK;
}

il_status il_plan_receive(il_plan *p, uint32_t effects, il_error *err) {
    il_session *from = IL_NEW(p->arena, il_session);
    const uint64_t pre = p->s->state;
    il_step step;
    if (from == NULL) {
        return il_arena_fail(p->arena, err);
    }
    if (!p->on_table || il_plan_frozen(p) || il_bind_phase(&p->core->bind, p->s->state, "ended")) {
        return il_error_set(err, IL_E_STATE, "the session has ended or is quarantined");
    }
    from->counted = (uint8_t)(effects & IL_TAINTS);
    from->open = (effects & (uint32_t)IL_EGRESS) != 0 ? 2 : 0; /* whose it was is not said, so any service's */
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        (void)il_format(from->witnesses[i].tool, sizeof from->witnesses[i].tool, "envelope");
    }
    IL_TRY(il_plan_join(p, from, 0, &step, err));
    if (step.verdict != IL_ACCEPT) {
        const il_str rule = il_machine_reason(p->core->bind.machine, step.reason);
        return il_error_set(err, IL_E_STATE, "the value comes from a run that may not join this session: %.*s", IL_STR_ARG(rule));
    }
    return il_plan_join_row(p, IL_STR("envelope"), from, 0, pre, 0, (il_str){0}, err);
}
