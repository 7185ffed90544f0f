/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves out one reject clause at a time and asks every question again: what does this clause hold shut? */
#include "check/parts.h"

static il_status guards_note(il_harden *h, const il_view *v, const il_space *s, const il_space_hit *hit, il_guard_opens opens,
                             uint32_t region, il_error *err) {
    il_guard_result *g = IL_NEW(h->subject.arena, il_guard_result);
    if (!g) {
        return il_arena_fail(h->subject.arena, err);
    }
    *g = (il_guard_result){.action = v->variant.skip_action, .clause = v->variant.skip_clause, .opens = opens, .region = region};
    if (h->last_guard) {
        h->last_guard->next = g;
    } else {
        h->guards = g;
    }
    h->last_guard = g;
    return il_trace_of(h, v, s, hit, &g->witness, err);
}

static il_status guards_look(il_harden *h, il_view *v, il_guard_opens opens, il_error *err) {
    il_space s = {0};
    il_status status = il_view_explore(v, &s, err);
    h->bounded = h->bounded || s.bound_hit;
    for (uint32_t r = 0; status == IL_OK && r < 64; r++) {
        if (s.hits[r].found) {
            bool region = opens != IL_GUARD_OPENS_UNAPPROVED;
            status = guards_note(h, v, &s, &s.hits[r], opens, region ? r : UINT32_MAX, err);
        }
    }
    if (status == IL_OK && s.fault.found && opens == IL_GUARD_OPENS_REGION) {
        status = guards_note(h, v, &s, &s.fault, IL_GUARD_OPENS_FAULT, UINT32_MAX, err);
    }
    il_space_free(&s);
    return status;
}

static il_status guards_clause(il_harden *h, const il_variant *variant, il_error *err) {
    il_subject *s = &h->subject;
    il_view v = {.subject = s, .variant = *variant, .regions = s->never};
    IL_TRY(guards_look(h, &v, IL_GUARD_OPENS_REGION, err));
    for (uint32_t r = 0; r < s->m->nregions; r++) {
        if (s->m->regions[r].gated) {
            v = (il_view){.subject = s, .variant = *variant, .regions = UINT64_C(1) << r, .dropped = s->m->regions[r].by};
            IL_TRY(guards_look(h, &v, IL_GUARD_OPENS_BYPASS, err));
        }
    }
    if (s->ntaints > 0) {
        v = (il_view){
            .subject = s, .variant = *variant, .regions = s->never, .observer = IL_OBSERVE_GHOSTS, .dropped = s->lowers};
        IL_TRY(guards_look(h, &v, IL_GUARD_OPENS_LAUNDERED, err));
    }
    if (s->ntaints > 0 && (s->settles | s->joins)) {
        v = (il_view){.subject = s, .variant = *variant, .regions = s->never, .observer = IL_OBSERVE_CONFIRMED};
        IL_TRY(guards_look(h, &v, IL_GUARD_OPENS_CONFIRMED, err));
    }
    v = (il_view){.subject = s, .variant = *variant, .observer = IL_OBSERVE_APPROVALS};
    return guards_look(h, &v, IL_GUARD_OPENS_UNAPPROVED, err);
}

il_status il_check_guards(il_harden *h, il_error *err) {
    const il_model *m = h->subject.m;
    for (uint32_t a = 0; a < m->nactions; a++) {
        for (uint32_t c = 0; c < m->actions[a].nclauses; c++) {
            il_variant variant = {.skip = true, .skip_action = a, .skip_clause = c};
            IL_TRY(guards_clause(h, &variant, err));
        }
    }
    return IL_OK;
}
