/* SPDX-License-Identifier: Apache-2.0 */
/* Two observers that count for themselves: taints that were confirmed (refinement kept), and approvals. */
#include "check/parts.h"

static il_status observers_confirmed(il_harden *h, il_error *err) {
    il_subject *s = &h->subject;
    il_view v = {.subject = s, .observer = IL_OBSERVE_CONFIRMED, .regions = s->never};
    il_space space = {0};
    il_status status = il_view_explore(&v, &space, err);
    for (uint32_t r = 0; status == IL_OK && r < s->m->nregions; r++) {
        if (s->never >> r & 1) {
            il_check *c = il_check_add(h, "confirmed", r, false);
            status = c ? il_check_judge(h, c, &v, &space, r, "CONFIRMED_LOWERED", err) : il_arena_fail(s->arena, err);
        }
    }
    il_space_free(&space);
    return status;
}

static il_status observers_approvals(il_harden *h, il_error *err) {
    il_subject *s = &h->subject;
    il_view v = {.subject = s, .observer = IL_OBSERVE_APPROVALS};
    il_space space = {0};
    il_status status = il_view_explore(&v, &space, err);
    il_check *c = status == IL_OK ? il_check_add(h, "approvals", UINT32_MAX, false) : NULL;
    if (status == IL_OK) {
        status = c ? il_check_judge(h, c, &v, &space, 63, "UNAPPROVED_ADMISSION", err) : il_arena_fail(s->arena, err);
    }
    il_space_free(&space);
    return status;
}

il_status il_check_observers(il_harden *h, il_error *err) {
    const il_subject *s = &h->subject;
    bool approvals = false;
    for (uint32_t i = 0; i < s->m->nsymbols; i++) {
        approvals = approvals || s->words[i].approved;
    }
    if (s->ntaints > 0 && s->lowers && !(s->settles | s->joins)) {
        il_check *c = il_check_add(h, "confirmed", UINT32_MAX, false);
        if (!c) {
            return il_arena_fail(s->arena, err);
        }
        c->verdict = IL_CHECK_VACUOUS; /* taints are lowered, and nothing ever confirms one */
        c->finding = "NOTHING_CONFIRMS";
    } else if (s->ntaints > 0 && (s->settles | s->joins)) {
        IL_TRY(observers_confirmed(h, err));
    }
    if (approvals && s->approve == UINT32_MAX) {
        il_check *c = il_check_add(h, "approvals", UINT32_MAX, false);
        if (!c) {
            return il_arena_fail(s->arena, err);
        }
        c->verdict = IL_CHECK_VACUOUS; /* calls are approved, and no action says by whom */
        c->finding = "NO_APPROVE";
        return IL_OK;
    }
    return approvals ? observers_approvals(h, err) : IL_OK;
}
