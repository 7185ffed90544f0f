/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing a plan, and the one place where a session's machine is stepped. */
#include "monitor/plan.h"

#include "base/sha256.h"
#include "policy/agent.h"
#include "policy/options.h"

_Static_assert(IL_BIND_SLOTS_MAX == IL_SLOTS_MAX, "as many slots as a machine may count");

il_status il_core_open(il_core *core, const il_policy *policy, const il_machine *machine, uint64_t deadline_ms, bool enforce,
                       il_error *err) {
    const il_machine *own = il_policy_machine(policy);
    if (own == NULL && machine == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "a monitor needs a policy or a machine");
    }
    if (own != NULL && machine != NULL && own != machine) {
        return il_error_set(err, IL_E_ARGUMENT, "the machine is not the policy's");
    }
    *core = (il_core){.policy = policy,
                      .deadline_ms = deadline_ms != 0                 ? deadline_ms
                                     : il_policy_call_ms(policy) != 0 ? il_policy_call_ms(policy)
                                                                      : 600000};
    core->tightened = enforce || policy == NULL;
    IL_TRY(il_bind_open(own != NULL ? own : machine, &core->bind, err));
    il_machine_digest(core->bind.machine, core->seal);
    il_policy_fingerprint(policy, core->fingerprint);
    core->remembers = policy != NULL && il_policy_remembers(policy) != 0;
    core->audits = il_policy_audits_laundering(policy);
    return IL_OK;
}

bool il_plan_enforced(const il_plan *p) {
    const il_str agent = p->s != NULL ? il_str_of(p->s->principal) : (il_str){0};
    return p->core->tightened || il_policy_mode_of(p->core->policy, agent) == IL_MODE_ENFORCE;
}

il_status il_plan_row(il_plan *p, const char *kind, uint64_t ticket, il_record *body, il_error *err) {
    il_str text;
    p->failed = true;
    if (p->nrows == IL_PLAN_ROWS_MAX) {
        return il_error_set(err, IL_E_LIMIT, "too many rows in one transaction");
    }
    IL_TRY(il_record_done(body, &text, err));
    p->failed = false;
    p->rows[p->nrows++] = (il_store_row){.kind = il_str_of(kind), .ticket = ticket, .body = text};
    return IL_OK;
}

il_step il_plan_try(const il_plan *p, uint32_t symbol) { return il_machine_step(p->core->bind.machine, p->s->state, symbol); }

/* What the summary must be. A machine without `secret` cannot tell, so the bit is kept by us while sensitive is counted. */
static void il_plan_summary(const il_core *core, const il_session *s, uint8_t *counted, uint8_t *flight, uint8_t *open) {
    const il_bind *b = &core->bind;
    uint32_t bits = il_bind_counted(b, s->state);
    if (b->secret == UINT32_MAX && (bits & (uint32_t)IL_SENSITIVE) != 0) {
        bits |= s->counted & (uint32_t)IL_SECRET;
    }
    *counted = (uint8_t)bits;
    *flight = il_bind_live(b, s->state, b->flight);
    *open = il_bind_live(b, s->state, b->open);
}

static void il_plan_forget(il_witness *w) {
    w->ticket = 0;
    memset(w->tool, 0, sizeof w->tool);
}

il_status il_plan_step(il_plan *p, uint32_t symbol, il_step *out, il_error *err) {
    if (symbol == IL_NO_SYMBOL) {
        return il_error_set(err, IL_E_INTERNAL, "the machine has no symbol for what happened");
    }
    *out = il_plan_try(p, symbol);
    if (out->verdict != IL_ACCEPT) {
        return IL_OK;
    }
    il_session *s = p->s;
    s->state = out->next;
    p->moves = true;
    il_plan_summary(p->core, s, &s->counted, &s->flight, &s->open);
    for (uint32_t i = 0; i < 3; i++) {
        if ((s->counted & (1u << i)) == 0) {
            il_plan_forget(&s->witnesses[i]);
        }
    }
    if (s->open == 0) {
        il_plan_forget(&s->witnesses[3]);
    }
    return IL_OK;
}

static void il_plan_count_slots(const il_session *s, uint32_t *asked, uint32_t *granted) {
    *asked = *granted = 0;
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        *asked += s->slots[i].state == IL_SLOT_ASKED ? 1u : 0u;
        *granted += s->slots[i].state == IL_SLOT_GRANTED ? 1u : 0u;
    }
}

static bool il_plan_slots_agree(const il_core *core, const il_session *s) {
    uint32_t asked, granted;
    il_plan_count_slots(s, &asked, &granted);
    return asked == il_bind_count(&core->bind, s->state, core->bind.asked) &&
           granted == il_bind_count(&core->bind, s->state, core->bind.granted);
}

il_status il_plan_lapse_row(il_plan *p, il_slot *slot, const char *why, const uint64_t *pre, il_error *err) {
    il_record r;
    il_record_open(&r, p->arena);
    il_record_text(&r, IL_STR("approval"), slot->id);
    if (pre != NULL) {
        il_record_state(&r, IL_STR("post"), p->s->state);
        il_record_state(&r, IL_STR("pre"), *pre);
    } else { /* moved by the row that follows */
        il_record_text(&r, IL_STR("post"), NULL);
        il_record_text(&r, IL_STR("pre"), NULL);
    }
    il_record_text(&r, IL_STR("tool"), slot->tool);
    il_record_number(&r, IL_STR("v"), 1);
    il_record_text(&r, IL_STR("why"), why);
    IL_TRY(il_plan_row(p, "lapse", 0, &r, err));
    memset(slot, 0, sizeof *slot);
    return IL_OK;
}

il_status il_plan_slots(il_plan *p, il_error *err) {
    const il_bind *b = &p->core->bind;
    if (il_bind_count(b, p->s->state, b->asked) == 0 && il_bind_count(b, p->s->state, b->granted) == 0) {
        for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
            if (p->s->slots[i].state != IL_SLOT_FREE) {
                IL_TRY(il_plan_lapse_row(p, &p->s->slots[i], "void", NULL, err));
            }
        }
    }
    if (!il_plan_slots_agree(p->core, p->s)) {
        return il_error_set(err, IL_E_DAMAGED, "the session's approvals are not those that its machine counts");
    }
    return IL_OK;
}

bool il_plan_frozen(const il_plan *p) { return p->s->quarantined || il_bind_phase(&p->core->bind, p->s->state, "quarantined"); }

/* Calls in flight and the machine's reservations, both ways; in quarantine a reservation may outlive its call. */
static bool il_plan_flights_agree(const il_plan *p) {
    bool once = false, crossing = false;
    for (uint32_t i = 0; i < p->s->ntickets; i++) {
        once = once || (p->s->tickets[i].flags & IL_TICKET_ONCE) != 0;
        crossing = crossing || (p->s->tickets[i].flags & IL_TICKET_CROSSING) != 0;
    }
    bool flight = p->s->flight != 0, over = il_bind_live(&p->core->bind, p->s->state, p->core->bind.crossing) != 0;
    return (once == flight || (flight && il_plan_frozen(p))) && (crossing == over || (over && il_plan_frozen(p)));
}

bool il_plan_agrees(const il_core *core, const il_session *s) {
    uint8_t counted, flight, open;
    il_plan_summary(core, s, &counted, &flight, &open);
    /* any symbol tells whether the state is in the table */
    return il_machine_step(core->bind.machine, s->state, 0).reason != IL_REASON_OFF_TABLE && counted == s->counted &&
           flight == s->flight && open == s->open;
}

static il_status il_plan_check(il_plan *p, il_error *err) {
    if (!il_plan_agrees(p->core, p->s)) {
        return il_error_set(err, IL_E_DAMAGED, "the session's summary is not what its machine's state says");
    }
    if (!il_plan_slots_agree(p->core, p->s) || !il_plan_flights_agree(p)) {
        return il_error_set(err, IL_E_DAMAGED, "the session's calls and approvals are not those that its machine counts");
    }
    return IL_OK;
}

static void il_plan_start(il_plan *p, const il_core *core, il_arena *arena, const il_plan_input *in) {
    memset(p, 0, offsetof(il_plan, rows));
    p->core = core;
    p->arena = arena;
    p->in = *in;
    p->now_ms = in->now_ms;
    p->stores = (il_label_stores){.ctx = p, .labels = il_plan_place_labels};
}

#define IL_PLAN_SHOWN 12 /* digits of a fingerprint in a message: what a person compares */

/* Which of the two it is, and the ways out; an id that is longer than a person's is cut. */
static il_status il_plan_bound(const il_plan *p, const il_session *s, bool policy, il_error *err) {
    char theirs[IL_DIGEST_HEX], ours[IL_DIGEST_HEX];
    il_digest_hex(policy ? s->policy : s->machine, theirs);
    il_digest_hex(policy ? p->core->fingerprint : p->core->seal, ours);
    return il_error_set(err, IL_E_MISMATCH,
                        "session `%.*s` is bound to %s %.*s and this one is %.*s; end it (`interlock session end`), use "
                        "another id, or go back to that %s",
                        IL_STR_ARG(il_str_part(p->in.session, 0, 40)), policy ? "policy" : "machine", IL_PLAN_SHOWN, theirs,
                        IL_PLAN_SHOWN, ours, policy ? "policy" : "machine");
}

il_status il_plan_open(il_plan *p, const il_core *core, il_arena *arena, const il_plan_input *in, il_error *err) {
    il_plan_start(p, core, arena, in);
    il_session *s = il_arena_raw(arena, sizeof *s); /* decoding fills it */
    if (s == NULL) {
        return il_arena_fail(arena, err);
    }
    IL_TRY(il_session_decode((const uint8_t *)in->bytes.p, in->bytes.n, s, err));
    const bool other_policy = core->policy != NULL && !il_digest_eq(s->policy, core->fingerprint);
    if (other_policy || !il_digest_eq(s->machine, core->seal)) {
        return il_plan_bound(p, s, other_policy, err);
    }
    p->s = s;
    p->now_ms = in->now_ms > s->seen_ms ? in->now_ms : s->seen_ms;
    /* any symbol tells whether the state is in the table */
    p->on_table = il_plan_try(p, 0).reason != IL_REASON_OFF_TABLE;
    return p->on_table ? il_plan_check(p, err) : IL_OK;
}

static il_status il_plan_session(il_plan *p, il_store_change *out, il_error *err) {
    *out = (il_store_change){
        .space = IL_STR(IL_SPACE_SESSION), .key = p->in.session, .expect = p->in.version, .rows = p->rows, .nrows = p->nrows};
    if (p->failed) {
        return il_error_set(err, IL_E_MEMORY, "a row of the trail could not be written");
    }
    if (!p->moves) {
        return IL_OK;
    }
    if (p->on_table) {
        IL_TRY(il_plan_check(p, err));
    }
    p->s->seen_ms = p->now_ms;
    size_t n = il_session_bound(p->s);
    char *buf = il_arena_bytes(p->arena, n);
    if (buf == NULL) {
        return il_arena_fail(p->arena, err);
    }
    IL_TRY(il_session_encode(p->s, (uint8_t *)buf, n, &n, err));
    out->moves = true;
    out->state = (il_str){buf, n};
    return IL_OK;
}

il_status il_plan_done(il_plan *p, il_store_change **out, size_t *n, il_error *err) {
    il_store_change *changes = il_arena_array(p->arena, 3 + (size_t)p->nplaces, sizeof *changes);
    if (changes == NULL) {
        return il_arena_fail(p->arena, err);
    }
    *out = changes;
    *n = 1;
    IL_TRY(il_plan_session(p, &changes[0], err));
    return il_plan_beside(p, changes, n, err);
}
