/* SPDX-License-Identifier: Apache-2.0 */
/* Planning a decision: labeller, then the machine with the plain symbol, then, after a rejection that a human may release, the approved one. */
#include "base/sha256.h"
#include "monitor/message.h"
#include "monitor/plan.h"
#include "policy/approval.h"
#include "policy/carried.h"
#include "policy/glob.h"
#include "policy/rule.h"

typedef struct il_deciding {
    il_plan *plan;
    il_decision *d;
    il_label label;
    il_str name; /* `server.tool` */
    const il_call *call;
    il_labelled *labelled;
    il_ruling ruling; /* of the policy's rules */
    bool carries;     /* an argument has an untrusted label */
    bool bound;       /* `binding` is made: only a call that meets an approval needs it */
    il_message_more more;
    uint8_t binding[IL_DIGEST_BYTES];
} il_deciding;

/* What the labeller is asked, in the state before the call. */
/* Whether the call that made the session untrusted brought nothing that its memory has: a parent read it, its result came too late, or it was before
 * anything was remembered. Then nobody knows which texts named a value. */
static bool il_deciding_elsewhere(const il_plan *p) {
    const uint32_t held = (uint32_t)p->s->counted | p->s->shadow;
    const uint64_t ticket = p->s->witnesses[0].ticket; /* of untrusted, the first bit */
    bool seen = p->memory == NULL || (held & (uint32_t)IL_UNTRUSTED) == 0;
    for (uint32_t i = 1; !seen && i <= il_memory_sources(p->memory); i++) {
        const il_source s = il_memory_source(p->memory, i);
        seen = ticket != 0 ? s.ticket == ticket : (s.taints & (uint32_t)IL_UNTRUSTED) != 0;
    }
    return !seen;
}

static il_label_call il_deciding_judged(const il_deciding *c) {
    const il_plan *p = c->plan;
    il_label_call judged = {.server = c->call->server,
                            .tool = c->call->tool,
                            .args = c->call->args,
                            .held = ((uint32_t)p->s->counted | p->s->shadow) & IL_TAINTS,
                            .agent = il_str_of(p->s->principal),
                            .unjoined = c->call->unjoined,
                            .memory = p->memory,
                            .elsewhere = il_deciding_elsewhere(p),
                            .stores = &p->stores,
                            .labels = c->call->labels,
                            .nlabels = c->call->nlabels,
                            .carries = c->carries,
                            .sends = p->s->open != 0 || p->s->flight != 0 || (p->s->shadow & (uint32_t)IL_EGRESS) != 0};
    /* what the values bring was there before the call is judged */
    judged.held |= c->carries ? (uint32_t)IL_UNTRUSTED : 0u;
    return judged;
}

/* ---- what an approval is bound to ------------------------------------------------------------ */

static void il_binding_add(il_sha256 *h, il_str s) {
    uint8_t n[8];
    for (unsigned i = 0; i < 8; i++) {
        n[i] = (uint8_t)((uint64_t)s.n >> (8 * i));
    }
    il_sha256_add(h, n, sizeof n);
    il_sha256_add(h, s.p, s.n);
}

static const uint8_t *il_deciding_binding(il_deciding *c) {
    const il_plan *p = c->plan;
    const il_call *call = c->call;
    il_sha256 h;
    if (c->bound) {
        return c->binding;
    }
    il_sha256_init(&h, p->core->sha256);
    il_binding_add(&h, il_str_of(p->s->principal));
    il_binding_add(&h, p->in.session);
    il_binding_add(&h, call->server);
    il_binding_add(&h, call->tool);
    il_sha256_add(&h, c->d->args_digest, IL_DIGEST_BYTES);
    il_sha256_add(&h, p->core->fingerprint, IL_DIGEST_BYTES);
    il_sha256_end(&h, c->binding);
    c->bound = true;
    return c->binding;
}

/* A slot of this very call with the same effects; NULL when there is none. */
static il_slot *il_deciding_slot(il_deciding *c, il_slot_state state) {
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        il_slot *slot = &c->plan->s->slots[i];
        if (slot->state == (uint8_t)state && slot->effects == (uint8_t)c->label.effects &&
            il_digest_eq(slot->binding, il_deciding_binding(c)) &&
            (state != IL_SLOT_GRANTED || il_policy_answered(c->plan->core->policy, slot->by))) {
            return slot;
        }
    }
    return NULL;
}

/* ---- admitting --------------------------------------------------------------------------------- */

static il_status il_deciding_full(const il_deciding *c, il_error *err) {
    if (c->plan->s->ntickets < IL_TICKETS_MAX) {
        return IL_OK;
    }
    il_fault_block(c->d, IL_FAULT_TOO_MANY);
    return il_error_set(err, IL_E_LIMIT, "%u calls of this session are not settled", IL_TICKETS_MAX);
}

static il_ticket *il_deciding_ticket(il_deciding *c, uint32_t effects, uint8_t flags) {
    il_session *s = c->plan->s;
    il_ticket *t = &s->tickets[s->ntickets++];
    memset(t, 0, sizeof *t);
    t->id = s->next_ticket++;
    t->deadline_ms = c->plan->now_ms + c->plan->core->deadline_ms;
    t->effects = (uint8_t)effects;
    t->flags = flags | (c->label.child ? IL_TICKET_CHILD : 0u);
    c->d->child = c->label.child;
    memcpy(t->owner, c->plan->core->owner, sizeof t->owner);
    if (il_glob_name_ok(c->name)) {
        memcpy(t->tool, c->name.p, c->name.n);
    } else {
        t->tool[0] = '?'; /* monitor mode, and a name that no policy could list */
    }
    c->plan->moves = true;
    c->d->ticket = t->id;
    return t;
}

static void il_deciding_witness(il_witness *w, uint32_t effect, const il_ticket *t) {
    w->effect = effect;
    w->ticket = t->id;
    memcpy(w->tool, t->tool, sizeof w->tool);
}

/* An accepted step becomes a ticket: what it raised, what it reserves, what it is the first witness of. */
static il_status il_deciding_admit(il_deciding *c, uint32_t symbol, uint32_t effects, il_sink_word sink, bool approved,
                                   il_error *err) {
    il_plan *p = c->plan;
    il_session *s = p->s;
    const il_bind *b = &p->core->bind;
    uint32_t before = s->counted;
    bool was_open = s->open != 0;
    il_step step;
    IL_TRY(il_deciding_full(c, err));
    IL_TRY(il_plan_step(p, symbol, &step, err));
    IL_CHECK(step.verdict == IL_ACCEPT, err);
    if (b->secret == UINT32_MAX && (s->counted & (uint32_t)IL_SENSITIVE) != 0) {
        s->counted |= (uint8_t)(effects & (uint32_t)IL_SECRET); /* the machine does not tell a secret from what is sensitive */
    }
    uint8_t flags = 0;
    if (sink == IL_SINK_ONCE) {
        /* approved, and the approval was needed for the crossing: otherwise it was for a commit, and the egress counts as unapproved */
        bool both = (s->counted & (uint32_t)IL_UNTRUSTED) != 0 && (s->counted & (uint32_t)IL_SENSITIVE) != 0;
        flags = approved && both ? IL_TICKET_CROSSING : IL_TICKET_ONCE;
    }
    il_ticket *t = il_deciding_ticket(c, effects, flags);
    t->raised = (uint8_t)(s->counted & ~before & effects & IL_TAINTS);
    for (uint32_t i = 0; i < 3; i++) {
        if ((t->raised & (1u << i)) != 0) {
            il_deciding_witness(&s->witnesses[i], 1u << i, t);
        }
    }
    if (!was_open && s->open != 0) {
        il_deciding_witness(&s->witnesses[3], (uint32_t)IL_EGRESS, t);
    }
    return IL_OK;
}

/* What follows from a call that runs, whatever was decided of it: what it sends was sent, and where it writes lies what the session has. */
static il_status il_deciding_keep(il_deciding *c, il_error *err) {
    il_plan *p = c->plan;
    const il_label_call judged = il_deciding_judged(c);
    if (p->core->remembers) {
        il_episode *sent = NULL;
        il_status s = il_policy_sent(p->core->policy, &judged, &c->label, c->d->ticket, p->arena, &sent, err);
        if (s == IL_OK) {
            s = il_plan_remember(p, sent, err);
        }
        if (s == IL_E_LIMIT) {
            il_fault_block(c->d, IL_FAULT_EPISODE_LIMIT);
        }
        IL_TRY(s);
    }
    for (size_t i = 0; i < c->label.nplaces; i++) {
        IL_TRY(il_plan_write_place(p, &c->label.places[i], judged.held | c->label.effects, err));
    }
    return IL_OK;
}

/* ---- rejected ------------------------------------------------------------------------------------ */

/* Where each effect that counts now came from: taints and standing sinks from the witnesses, what is in flight from the tickets. */
static void il_deciding_witnesses(il_deciding *c) {
    const il_session *s = c->plan->s;
    for (uint32_t i = 0; i < 3; i++) {
        if (s->witnesses[i].ticket != 0) {
            c->d->witnesses[c->d->nwitnesses++] = s->witnesses[i];
        }
    }
    if (s->witnesses[3].ticket != 0) {
        c->d->witnesses[c->d->nwitnesses++] = s->witnesses[3];
        return;
    }
    for (uint32_t i = 0; i < s->ntickets; i++) {
        if ((s->tickets[i].flags & IL_TICKET_ONCE) != 0) {
            il_deciding_witness(&c->d->witnesses[c->d->nwitnesses++], (uint32_t)IL_EGRESS, &s->tickets[i]);
            return;
        }
    }
}

static il_status il_deciding_request_row(il_deciding *c, const il_slot *slot, uint64_t pre, il_error *err) {
    il_record r;
    il_str where[2];
    const uint32_t nwhere = il_policy_asks_where(c->plan->core->policy, where);
    il_record_open(&r, c->plan->arena);
    il_record_text(&r, IL_STR("approval"), slot->id);
    il_record_digest(&r, IL_STR("args_digest"), c->d->args_digest);
    il_record_strings(&r, IL_STR("destinations"), c->label.destinations, c->label.ndestinations);
    il_record_effects(&r, IL_STR("effects"), slot->effects);
    il_record_number(&r, IL_STR("expires_ms"), slot->expires_ms);
    il_record_state(&r, IL_STR("post"), c->plan->s->state);
    il_record_state(&r, IL_STR("pre"), pre);
    il_record_text(&r, IL_STR("reason"), c->d->reason);
    il_record_text(&r, IL_STR("tool"), slot->tool);
    il_record_number(&r, IL_STR("v"), 1);
    il_record_values(&r, IL_STR("values"), &c->label, c->plan->memory);
    il_record_strings(&r, IL_STR("where"), where, nwhere);
    return il_plan_row(c->plan, "request", 0, &r, err);
}

#define IL_DECIDING_HOUR_MS 3600000u

/* Whether the policy's budget has an approval left; the hour is the session's, and begins with its first request. */
static bool il_deciding_affords(il_deciding *c) {
    const il_approval_rules *rules = il_policy_approval_rules(c->plan->core->policy);
    il_session *s = c->plan->s;
    const bool within = s->asks > 0 && c->plan->now_ms - s->asks_ms < IL_DECIDING_HOUR_MS;
    if (rules->budget == 0 || !within || s->asks < rules->budget) {
        return true;
    }
    const size_t said = il_str_of(c->label.why).n;
    (void)il_format(c->label.why + said, sizeof c->label.why - said,
                    "%s%u approvals were asked for within an hour: the budget of line %u of the policy is used up",
                    said > 0 ? "; " : "", (unsigned)s->asks, (unsigned)rules->budget_line);
    c->more.spent = true;
    return false;
}

/* Whether the machine counts one more request; when those that are open are the reason, it says so: a denial then lasts no longer than they. */
static bool il_deciding_room(il_deciding *c, const il_slot *slot) {
    const uint32_t open = il_session_requests(c->plan->s);
    const size_t said = il_str_of(c->label.why).n;
    if (slot != NULL && il_plan_try(c->plan, il_bind_plain(&c->plan->core->bind, "request")).verdict == IL_ACCEPT) {
        return true;
    }
    if (open >= c->plan->core->bind.slots) {
        (void)il_format(c->label.why + said, sizeof c->label.why - said,
                        "%s%u request%s of this session %s for a human already: one that is answered makes room",
                        said > 0 ? "; " : "", (unsigned)open, open == 1 ? "" : "s", open == 1 ? "waits" : "wait");
        c->more.open = open;
    }
    return false;
}

static void il_deciding_spend(il_deciding *c) {
    il_session *s = c->plan->s;
    if (il_policy_approval_rules(c->plan->core->policy)->budget == 0) {
        return;
    }
    if (s->asks == 0 || c->plan->now_ms - s->asks_ms >= IL_DECIDING_HOUR_MS) {
        s->asks = 0;
        s->asks_ms = c->plan->now_ms;
    }
    s->asks++;
}

/* Asks a human: a free slot, and the machine's `request`. *asked stays false when the machine has no room or the budget is used up; that denies. */
static il_status il_deciding_request(il_deciding *c, uint8_t rule, bool *asked, il_error *err) {
    il_plan *p = c->plan;
    uint64_t pre = p->s->state, lasts = il_policy_approval_ms(p->core->policy);
    il_step step;
    il_slot *slot = NULL;
    for (uint32_t i = IL_SLOTS_MAX; i > 0; i--) {
        slot = p->s->slots[i - 1].state == IL_SLOT_FREE ? &p->s->slots[i - 1] : slot;
    }
    *asked = false;
    if (!il_deciding_room(c, slot) || !il_deciding_affords(c)) {
        return IL_OK;
    }
    if (p->in.entropy == NULL) {
        p->starved = true;
        il_fault_block(c->d, IL_FAULT_NO_RANDOM);
        return il_error_set(err, IL_E_INTERNAL, "no randomness for an approval's id");
    }
    IL_TRY(il_plan_step(p, il_bind_plain(&p->core->bind, "request"), &step, err));
    memset(slot, 0, sizeof *slot);
    slot->state = IL_SLOT_ASKED;
    slot->lasts_ms = lasts;
    slot->expires_ms = p->now_ms + lasts;
    slot->effects = (uint8_t)c->label.effects;
    slot->reason = rule;
    slot->rule = rule == 0 ? c->ruling.number : 0;
    il_deciding_spend(c);
    memcpy(slot->binding, il_deciding_binding(c), sizeof slot->binding);
    memcpy(slot->tool, c->name.p, c->name.n);
    for (size_t i = 0; i < IL_PLAN_ENTROPY; i++) {
        (void)il_format(slot->id + (size_t)2 * i, 3, "%02x", (unsigned)p->in.entropy[i]);
    }
    IL_TRY(il_plan_slots(p, err));
    memcpy(c->d->approval, slot->id, sizeof c->d->approval);
    *asked = true;
    return il_deciding_request_row(c, slot, pre, err);
}

/* Would the machine accept with its approval symbol, had a human granted it? */
static bool il_deciding_would(const il_deciding *c) {
    const il_plan *p = c->plan;
    uint32_t symbol = il_bind_admit(&p->core->bind, c->label.effects, c->label.sink, true);
    if (!p->core->bind.approves || symbol == IL_NO_SYMBOL || !il_policy_may_release(p->core->policy, c->label.effects)) {
        return false;
    }
    il_step step = il_plan_try(p, symbol);
    return step.verdict == IL_ACCEPT || il_str_eq(il_machine_reason(p->core->bind.machine, step.reason), IL_STR("no-approval"));
}

/* Monitor mode: the call runs all the same. Its taints are admitted where the machine accepts them; what is not stands in `shadow`. */
static il_status il_deciding_shadow(il_deciding *c, il_error *err) {
    il_plan *p = c->plan;
    uint32_t taints = c->label.effects & IL_TAINTS;
    uint32_t symbol = il_bind_admit(&p->core->bind, taints, IL_SINK_NONE, false);
    IL_TRY(il_deciding_full(c, err));
    if (taints != 0 && symbol != IL_NO_SYMBOL && il_plan_try(p, symbol).verdict == IL_ACCEPT) {
        IL_TRY(il_deciding_admit(c, symbol, taints, IL_SINK_NONE, false, err));
        IL_TRY(il_plan_slots(p, err));
        taints = 0;
    } else {
        (void)il_deciding_ticket(c, c->label.effects, IL_TICKET_SHADOW);
    }
    p->s->shadow |= (uint8_t)((c->label.effects & ~IL_TAINTS) | taints);
    p->s->unenforced = true;
    p->moves = true;
    IL_TRY(il_deciding_keep(c, err));
    c->d->run = true;
    return IL_OK;
}

static il_status il_deciding_row(il_deciding *c, il_error *err) {
    c->d->post = c->d->ticket != 0 ? c->plan->s->state : c->d->pre;
    il_message_write(c->d, c->name, &c->label, &c->more);
    IL_TRY(il_plan_decision_row(c->plan, c->name, &c->label, c->d, err));
    if (!c->d->run) {
        return IL_OK;
    }
    IL_TRY(il_plan_labels(c->plan, c->call, c->name, c->d->ticket, err));
    return il_plan_audit(c->plan, c->call, c->name, &c->label, c->d->ticket, err);
}

/* The decision, which waits for a human or, when nobody can be asked, does not; its row comes before the request's. A request that is open already stands. */
static il_status il_deciding_ask(il_deciding *c, uint8_t rule, il_error *err) {
    const il_slot *waiting = il_deciding_slot(c, IL_SLOT_ASKED);
    bool asked = false;
    if (waiting != NULL) {
        memcpy(c->d->approval, waiting->id, sizeof c->d->approval);
        c->d->action = IL_ACTION_REQUIRE_APPROVAL;
        return il_deciding_row(c, err);
    }
    const size_t row = c->plan->nrows++;
    IL_TRY(il_deciding_request(c, rule, &asked, err));
    const size_t after = c->plan->nrows;
    c->d->action = asked ? IL_ACTION_REQUIRE_APPROVAL : IL_ACTION_BLOCK;
    c->plan->nrows = row;
    IL_TRY(il_deciding_row(c, err));
    c->plan->nrows = after;
    return IL_OK;
}

/* A rule blocks, or asks. Monitor mode: the call runs, and is admitted as it would have been without the rule where the machine accepts it. */
static il_status il_deciding_ruled(il_deciding *c, uint32_t plain, bool accepted, il_error *err) {
    const bool human = c->ruling.then == IL_THEN_APPROVAL;
    c->d->layer = IL_LAYER_RULE;
    (void)il_format(c->d->reason, sizeof c->d->reason, "%.*s", IL_STR_ARG(c->ruling.rule->name));
    (void)il_format(c->label.why, sizeof c->label.why, "%s", c->ruling.why);
    if (!il_plan_enforced(c->plan)) {
        c->d->action = human ? IL_ACTION_REQUIRE_APPROVAL : IL_ACTION_BLOCK;
        if (!accepted) {
            IL_TRY(il_deciding_shadow(c, err));
            return il_deciding_row(c, err);
        }
        IL_TRY(il_deciding_admit(c, plain, c->label.effects, c->label.sink, false, err));
        IL_TRY(il_plan_slots(c->plan, err));
        c->plan->s->unenforced = true;
        c->d->run = true;
        return il_deciding_row(c, err);
    }
    return human && c->plan->core->bind.approves ? il_deciding_ask(c, 0, err) : il_deciding_row(c, err);
}

/* A denial, or a call that waits for a human. The session's bytes stay as they are, but for the request that may follow. */
static il_status il_deciding_reject(il_deciding *c, uint8_t rule, il_error *err) {
    const il_machine *m = c->plan->core->bind.machine;
    const bool human = il_machine_releasable(m, rule) && il_deciding_would(c);
    if (human && c->ruling.then == IL_THEN_BLOCK) { /* stricter than what waits for a human */
        return il_deciding_ruled(c, c->d->symbol, false, err);
    }
    c->d->layer = IL_LAYER_MACHINE;
    (void)il_format(c->d->reason, sizeof c->d->reason, "%.*s", IL_STR_ARG(il_machine_reason(m, rule)));
    il_deciding_witnesses(c);
    if (!il_plan_enforced(c->plan)) {
        c->d->action = human ? IL_ACTION_REQUIRE_APPROVAL : IL_ACTION_BLOCK;
        IL_TRY(il_deciding_shadow(c, err));
        return il_deciding_row(c, err);
    }
    return human ? il_deciding_ask(c, rule, err) : il_deciding_row(c, err);
}

/* ---- the decision ---------------------------------------------------------------------------------- */

static il_status il_deciding_allow(il_deciding *c, uint32_t symbol, il_slot *spent, il_error *err) {
    c->d->symbol = symbol;
    IL_TRY(il_deciding_admit(c, symbol, c->label.effects, c->label.sink, spent != NULL, err));
    if (spent != NULL) {
        memcpy(c->d->approval, spent->id, sizeof c->d->approval);
        memset(spent, 0, sizeof *spent);
    }
    IL_TRY(il_plan_slots(c->plan, err));
    IL_TRY(il_deciding_keep(c, err));
    c->d->action = IL_ACTION_ALLOW;
    c->d->layer = IL_LAYER_NONE;
    c->d->run = true;
    return il_deciding_row(c, err);
}

/* ---- what the rules say ------------------------------------------------------------------------------ */

/* A granted approval of what a rule asks for: it is used up by itself, and the call is admitted as any other, in the same commit. */
static il_status il_deciding_redeem(il_deciding *c, uint32_t plain, il_slot *granted, il_error *err) {
    il_plan *p = c->plan;
    const uint64_t pre = p->s->state;
    char id[IL_APPROVAL_ID_BYTES];
    il_step step;
    memcpy(id, granted->id, sizeof id);
    IL_TRY(il_plan_step(p, il_bind_lapse(&p->core->bind, true), &step, err));
    IL_CHECK(step.verdict == IL_ACCEPT, err);
    IL_TRY(il_plan_lapse_row(p, granted, "redeemed", &pre, err));
    /* judged again, in the state without it */
    c->d->pre = p->s->state;
    IL_CHECK(il_plan_try(p, plain).verdict == IL_ACCEPT, err);
    memcpy(c->d->approval, id, sizeof c->d->approval);
    return il_deciding_allow(c, plain, NULL, err);
}

static il_status il_deciding_rules(il_deciding *c, il_error *err) {
    const il_plan *p = c->plan;
    const il_label_call judged = il_deciding_judged(c);
    IL_TRY(il_rules_judge(p->core->policy, &judged, c->name, &c->label, p->s->state, p->arena, &c->ruling, err));
    c->d->rule = c->ruling.number;
    if (!c->ruling.erred) {
        IL_CHECK(c->ruling.then == IL_THEN_ALLOW || c->ruling.rule != NULL, err);
        if (c->ruling.then == IL_THEN_ALLOW && c->ruling.why[0] != '\0') { /* what was passed over stands in the row */
            (void)il_format(c->label.why, sizeof c->label.why, "%s", c->ruling.why);
        }
        return IL_OK;
    }
    il_fault_block(c->d, IL_FAULT_CONDITION);
    (void)il_format(c->label.why, sizeof c->label.why, "%s", c->ruling.why);
    return il_error_set(err, IL_E_INVALID, "%s", c->ruling.why);
}

static il_status il_deciding_step(il_deciding *c, il_error *err) {
    const il_plan *p = c->plan;
    const il_bind *b = &p->core->bind;
    uint32_t plain = il_bind_admit(b, c->label.effects, c->label.sink, false);
    il_step step = il_plan_try(p, plain);
    c->d->symbol = plain;
    if (plain == IL_NO_SYMBOL || (step.verdict != IL_ACCEPT && step.verdict != IL_REJECT)) {
        return il_error_set(err, IL_E_INTERNAL, "the machine does not know this call's symbol");
    }
    IL_TRY(il_deciding_rules(c, err));
    if (step.verdict == IL_ACCEPT) {
        il_slot *granted = c->ruling.then == IL_THEN_APPROVAL ? il_deciding_slot(c, IL_SLOT_GRANTED) : NULL;
        if (granted != NULL) {
            return il_deciding_redeem(c, plain, granted, err);
        }
        return c->ruling.then == IL_THEN_ALLOW ? il_deciding_allow(c, plain, NULL, err) : il_deciding_ruled(c, plain, true, err);
    }
    if (il_machine_releasable(b->machine, step.reason) && c->ruling.then != IL_THEN_BLOCK) {
        il_slot *granted = il_deciding_slot(c, IL_SLOT_GRANTED);
        uint32_t approved = b->approves ? il_bind_admit(b, c->label.effects, c->label.sink, true) : IL_NO_SYMBOL;
        /* judged again: the policy must still let a human release it, and the machine must accept */
        if (granted != NULL && approved != IL_NO_SYMBOL && il_policy_may_release(p->core->policy, c->label.effects) &&
            il_plan_try(p, approved).verdict == IL_ACCEPT) {
            return il_deciding_allow(c, approved, granted, err);
        }
    }
    return il_deciding_reject(c, step.reason, err);
}

static il_status il_deciding_unlabelled(il_deciding *c, il_error *err) {
    c->more.near = il_policy_near(c->plan->core->policy, c->name);
    c->d->layer = IL_LAYER_LABELLER;
    (void)il_format(c->d->reason, sizeof c->d->reason, "%s", il_fault_reason(IL_FAULT_UNLABELLED));
    if (!il_plan_enforced(c->plan)) {
        IL_TRY(il_deciding_shadow(c, err));
    }
    return il_deciding_row(c, err);
}

static il_status il_deciding_off_table(il_deciding *c, il_error *err) {
    il_fault_block(c->d, IL_FAULT_OFF_TABLE);
    IL_TRY(il_plan_decision_row(c->plan, c->name, NULL, c->d, err));
    IL_TRY(il_plan_quarantine(c->plan, IL_STR("off-table"), err));
    return il_error_set(err, IL_E_DAMAGED, "the session's state is none of its machine's");
}

static il_status il_deciding_name(il_deciding *c, const il_call *call, il_error *err) {
    size_t n = call->server.n + (call->server.n > 0 ? 1 : 0) + call->tool.n;
    char *p = il_arena_bytes(c->plan->arena, n);
    if (p == NULL) {
        return il_arena_fail(c->plan->arena, err);
    }
    size_t at = call->server.n;
    if (at > 0) {
        memcpy(p, call->server.p, at);
        p[at++] = '.';
    }
    if (call->tool.n > 0) {
        memcpy(p + at, call->tool.p, call->tool.n);
    }
    c->name = (il_str){p, n};
    return IL_OK;
}

static il_status il_deciding_label(il_deciding *c, il_error *err) {
    const il_plan *p = c->plan;
    il_labelled *l = c->labelled;
    const il_label_call judged = il_deciding_judged(c);
    if (!l->done || l->held != judged.held || l->episodes != p->s->episodes || l->asked) {
        l->done = false;
        il_arena_reset(&l->arena);
        IL_TRY(il_policy_label(p->core->policy, &judged, &l->arena, &l->label, err));
        l->held = judged.held;
        l->episodes = p->s->episodes;
        l->asked = p->places != NULL;
        l->done = true;
    }
    c->label = l->label;
    return IL_OK;
}

/* Everything that can fail; a failure has filled *d when it knows its fault better than its status says. */
static il_status il_deciding_run(il_deciding *c, const il_call *call, il_error *err) {
    il_plan *p = c->plan;
    IL_TRY(il_deciding_name(c, call, err));
    if (c->name.n >= IL_TOOL_BYTES) {
        return il_error_set(err, IL_E_LIMIT, "a tool's name has more than %u bytes", IL_TOOL_BYTES - 1);
    }
    if (p->core->policy == NULL) {
        il_fault_block(c->d, IL_FAULT_NO_POLICY);
        return il_error_set(err, IL_E_ARGUMENT, "this monitor has no policy to decide by");
    }
    c->d->pre = c->d->post = p->s->state;
    c->d->unenforced = !il_plan_enforced(p) || p->s->unenforced;
    if (!p->on_table) {
        return il_deciding_off_table(c, err);
    }
    if (call->args != NULL && il_json_kind_of(call->args) != IL_JSON_OBJECT) {
        il_fault_block(c->d, IL_FAULT_BAD_ARGUMENTS);
        return il_error_set(err, IL_E_INVALID, "the arguments are not an object");
    }
    const il_status carried = il_carried_check(call->args, call->labels, call->nlabels, err);
    if (carried == IL_E_INVALID) {
        il_fault_block(c->d, IL_FAULT_BAD_ARGUMENTS);
    }
    IL_TRY(carried);
    const il_label_call labelled = il_deciding_judged(c);
    c->carries = il_carried_untrusted(p->core->policy, &labelled);
    IL_TRY(il_deciding_label(c, err));
    if (!c->label.known) {
        return il_deciding_unlabelled(c, err);
    }
    c->d->effects = c->label.effects;
    return il_deciding_step(c, err);
}

il_status il_plan_decision_row(il_plan *p, il_str tool, const il_label *label, const il_decision *d, il_error *err) {
    il_record r;
    il_record_open(&r, p->arena);
    il_record_decision(&r, p->core->bind.machine, tool, il_plan_enforced(p), label, il_plan_recalled(p), d);
    return il_plan_row(p, "decision", d->ticket, &r, err);
}

il_status il_plan_decide(il_plan *p, const il_call *call, il_labelled *labelled, il_decision *d, il_error *err) {
    il_deciding c = {.plan = p, .d = d, .call = call, .labelled = labelled};
    bool off_table = !p->on_table;
    uint8_t digest[IL_DIGEST_BYTES];
    size_t size = d->size;
    memcpy(digest, d->args_digest, sizeof digest);
    il_status s = il_deciding_run(&c, call, err);
    if (s == IL_OK) {
        return IL_OK;
    }
    /* A fault: nothing of what was planned stands, but that an impossible state is quarantined. */
    il_fault known = il_fault_of(s);
    bool named = d->layer == IL_LAYER_FAULT && d->reason[0] != '\0';
    char reason[IL_REASON_BYTES], message[IL_MESSAGE_BYTES];
    memcpy(reason, d->reason, sizeof reason);
    memcpy(message, d->message, sizeof message);
    uint64_t pre = p->s->state;
    bool unenforced = d->unenforced;
    *d = (il_decision){.size = size, .symbol = IL_NO_SYMBOL, .unenforced = unenforced};
    memcpy(d->args_digest, digest, sizeof digest);
    il_fault_block(d, known);
    if (named) {
        memcpy(d->reason, reason, sizeof d->reason);
        memcpy(d->message, message, sizeof d->message);
    }
    if (off_table) {
        d->pre = d->post = pre;
        return s;
    }
    il_error ignored;
    p->nrows = 0;
    p->moves = p->failed = false;
    il_plan_forget_all(p);
    /* as it was loaded, from the same bytes */
    if (il_session_decode((const uint8_t *)p->in.bytes.p, p->in.bytes.n, p->s, &ignored) != IL_OK) {
        p->failed = true;
        return s;
    }
    d->pre = d->post = p->s->state;
    (void)!il_plan_decision_row(p, c.name, c.ruling.erred ? &c.label : NULL, d,
                                &ignored); /* a row that cannot be written changes nothing: the call is blocked */
    return s;
}
