/* SPDX-License-Identifier: Apache-2.0 */
/* The table says what the guards say: every cell, through the runtime's own step. */
#include "check/parts.h"

il_status il_check_translation(il_harden *h, il_error *err) {
    const il_subject *s = &h->subject;
    il_check *c = il_check_add(h, "translation", UINT32_MAX, true);
    il_step *said = IL_NEW_ARRAY(s->arena, il_step, s->m->nsymbols);
    if (!c || !said) {
        return il_arena_fail(s->arena, err);
    }
    if (!s->table) {
        c->verdict = IL_CHECK_INCONCLUSIVE;
        c->bound_hit = true;
        return IL_OK;
    }
    c->verdict = IL_CHECK_PASS;
    c->states = il_machine_states(s->table);
    for (uint32_t i = 0; i < il_machine_states(s->table); i++) {
        if (!il_subject_goes_on(s, i, c->edges)) {
            c->bound_hit = h->bounded = true;
            c->verdict = c->verdict == IL_CHECK_PASS ? IL_CHECK_INCONCLUSIVE : c->verdict;
            return IL_OK;
        }
        uint64_t state = il_machine_state(s->table, i);
        for (uint32_t a = 0; a < s->m->nactions; a++) {
            il_model_eval_action(s->m, state, a, said + s->m->actions[a].first_symbol);
        }
        for (uint32_t symbol = 0; symbol < s->m->nsymbols; symbol++) {
            il_step a = il_machine_step(s->table, state, symbol);
            il_step b = said[symbol];
            c->edges += a.verdict == IL_ACCEPT;
            if (a.next != b.next || a.verdict != b.verdict || a.reason != b.reason) {
                c->verdict = IL_CHECK_ERROR;
                c->finding = "TABLE_DIFFERS";
            }
        }
    }
    return IL_OK;
}
