/* SPDX-License-Identifier: Apache-2.0 */
/* A human's answer, and how sessions begin. */
#include "base/sha256.h"
#include "monitor/plan.h"
#include "policy/approval.h"

static il_status il_plan_answer_row(il_plan *p, const char *kind, const il_slot *slot, il_str by, uint64_t pre, il_error *err) {
    il_record r;
    il_record_open(&r, p->arena);
    il_record_text(&r, IL_STR("approval"), slot->id);
    il_record_str(&r, IL_STR("by"), by);
    il_record_number(&r, IL_STR("expires_ms"), slot->expires_ms);
    il_record_state(&r, IL_STR("post"), p->s->state);
    il_record_state(&r, IL_STR("pre"), pre);
    il_record_text(&r, IL_STR("tool"), slot->tool);
    il_record_number(&r, IL_STR("v"), 1);
    return il_plan_row(p, kind, 0, &r, err);
}

il_status il_plan_answer(il_plan *p, il_str approval, bool grant, il_str by, il_error *err) {
    il_slot *slot = NULL;
    for (uint32_t i = 0; i < IL_SLOTS_MAX; i++) {
        if (p->s->slots[i].state != IL_SLOT_FREE && il_str_eq(il_str_of(p->s->slots[i].id), approval)) {
            slot = &p->s->slots[i];
        }
    }
    if (slot == NULL || !p->on_table) {
        return il_error_set(err, IL_E_NOT_FOUND, "no such approval is open: it was used, answered, void or has expired");
    }
    if (grant && slot->state == IL_SLOT_GRANTED) {
        return il_error_set(err, IL_E_STATE, "this approval was granted already");
    }
    if (grant && p->core->policy != NULL && !il_policy_may_answer(p->core->policy, by)) {
        return il_error_set(err, IL_E_PERMISSION, "the policy does not let `%.*s` approve (`approvals: by:`)", IL_STR_ARG(by));
    }
    uint64_t pre = p->s->state;
    const il_bind *b = &p->core->bind;
    /* a refusal after the grant takes the grant back */
    uint32_t symbol = grant                            ? il_bind_plain(b, "approve")
                      : slot->state == IL_SLOT_GRANTED ? il_bind_lapse(b, true)
                                                       : il_bind_plain(b, "refuse");
    il_step step;
    IL_TRY(il_plan_step(p, symbol, &step, err));
    if (step.verdict != IL_ACCEPT) {
        il_str rule = il_machine_reason(b->machine, step.reason);
        return il_error_set(err, IL_E_STATE, "the machine refuses: %.*s", IL_STR_ARG(rule));
    }
    if (grant) {
        uint8_t digest[IL_DIGEST_BYTES];
        il_sha256_of(by, digest);
        memcpy(slot->by, digest, sizeof slot->by);
        slot->state = IL_SLOT_GRANTED;
        slot->expires_ms = p->now_ms + slot->lasts_ms;
    }
    IL_TRY(il_plan_answer_row(p, grant ? "approve" : "refuse", slot, by, pre, err));
    if (!grant) {
        memset(slot, 0, sizeof *slot);
    }
    return il_plan_slots(p, err);
}

static il_status il_plan_begin_row(il_plan *p, uint64_t ticket, bool resumed, il_error *err) {
    il_record r;
    il_record_open(&r, p->arena);
    il_record_digest(&r, IL_STR("machine"), p->s->machine);
    il_record_text(&r, IL_STR("mode"), il_plan_enforced(p) ? "enforce" : "monitor");
    il_record_text(&r, IL_STR("parent"), p->s->parent);
    il_record_digest(&r, IL_STR("policy"), p->s->policy);
    il_record_state(&r, IL_STR("post"), p->s->state);
    il_record_text(&r, IL_STR("principal"), p->s->principal);
    il_record_truth(&r, IL_STR("resumed"), resumed);
    il_record_number(&r, IL_STR("v"), 1);
    return il_plan_row(p, "begin", ticket, &r, err);
}

il_status il_plan_begin(il_plan *p, const il_core *core, il_arena *arena, const il_plan_input *in, il_str principal,
                        il_str parent_id, const il_session *parent, il_error *err) {
    *p = (il_plan){.core = core, .arena = arena, .in = *in, .now_ms = in->now_ms, .on_table = true, .moves = true};
    p->s = IL_NEW(arena, il_session);
    if (p->s == NULL) {
        return il_arena_fail(arena, err);
    }
    if (principal.n >= IL_SESSION_ID_BYTES || parent_id.n >= IL_SESSION_ID_BYTES) {
        return il_error_set(err, IL_E_ARGUMENT, "a name has more than %u bytes", IL_SESSION_ID_BYTES - 1);
    }
    il_session *s = p->s;
    s->state = il_machine_initial(core->bind.machine);
    memcpy(s->policy, core->fingerprint, sizeof s->policy);
    memcpy(s->machine, core->seal, sizeof s->machine);
    s->begun_ms = s->seen_ms = in->now_ms;
    s->next_ticket = 1;
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        s->witnesses[i].effect = 1u << i;
    }
    if (principal.n > 0) {
        memcpy(s->principal, principal.p, principal.n);
    }
    s->unenforced = !il_plan_enforced(p);
    uint64_t join = 0;
    if (parent != NULL) {
        memcpy(s->parent, parent_id.p, parent_id.n);
        s->unenforced = s->unenforced || parent->unenforced;
        IL_TRY(il_plan_join_parent(p, parent, err));
        join = s->next_ticket > 1 ? 1 : 0;
    }
    return il_plan_begin_row(p, join, false, err);
}

il_status il_plan_resume(il_plan *p, il_str principal, il_error *err) {
    if (!il_str_eq(il_str_of(p->s->principal), principal)) {
        return il_error_set(err, IL_E_MISMATCH, "the session belongs to another principal");
    }
    if (il_bind_phase(&p->core->bind, p->s->state, "ended")) {
        return il_error_set(err, IL_E_STATE, "the session has ended; its id is not used again, take another");
    }
    if (!il_plan_enforced(p) && !p->s->unenforced) {
        p->s->unenforced = true;
        p->moves = true;
    }
    return il_plan_begin_row(p, 0, true, err);
}
