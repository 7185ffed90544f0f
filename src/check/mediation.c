/* SPDX-License-Identifier: Apache-2.0 */
/* Mediation: every variable is protected. An action that is neither gate nor corrective may write one only where an adversary who made the
 * same writes (that variable, that direction) at any time would reach nothing; a taint is lowered only by a declared gate, and by name where the
 * gate's payload names taints. A gate that lets
 * into a gated region, an approval and a correction are never the agent's or the environment's own: what asks does not answer. */
#include "check/parts.h"

void il_unmediated_writes(const il_harden *h, uint64_t *raise, uint64_t *lower) {
    uint64_t mediators = h->subject.gates | h->subject.corrective;
    *raise = *lower = 0;
    for (uint32_t v = 0; v < h->subject.m->nvars; v++) {
        if (!h->subject.m->vars[v].ghost) { /* beyond every adversary */
            *raise |= (h->writers[v].raised_by & ~mediators) ? UINT64_C(1) << v : 0;
            *lower |= (h->writers[v].lowered_by & ~mediators) ? UINT64_C(1) << v : 0;
        }
    }
}

static il_status mediation_fail(il_harden *h, il_check *c, const char *finding, uint32_t var, uint64_t actions, il_error *err) {
    const il_model *m = h->subject.m;
    il_buf b;
    il_buf_init(&b, h->subject.arena, 8192);
    il_buf_put(&b, m->vars[var].name);
    const char *between = " by ";
    for (uint32_t a = 0; a < m->nactions; a++) {
        if (actions >> a & 1) {
            il_buf_puts(&b, between);
            il_buf_put(&b, m->actions[a].name);
            between = ", ";
        }
    }
    c->verdict = IL_CHECK_FAIL;
    c->finding = finding;
    return il_buf_done(&b, &c->detail, err);
}

/* Lowering is declared, done by a gate, and never the agent's. */
static il_status mediation_lowering(il_harden *h, il_check *c, il_error *err) {
    const il_model *m = h->subject.m;
    for (uint32_t v = 0; v < m->nvars && c->verdict != IL_CHECK_FAIL; v++) {
        uint64_t wrong = 0;
        for (uint32_t a = 0; m->vars[v].taint && a < m->nactions; a++) {
            const il_action_def *d = &m->actions[a];
            bool declared = d->lowers && d->gate && (d->principal == IL_HUMAN || d->principal == IL_RUNTIME);
            wrong |= !declared ? h->writers[v].lowered_by & (UINT64_C(1) << a) : 0;
        }
        if (wrong) {
            IL_TRY(mediation_fail(h, c, "UNDECLARED_LOWERING", v, wrong, err));
        } else if (m->vars[v].taint && h->writers[v].unnamed_by) {
            IL_TRY(mediation_fail(h, c, "UNNAMED_LOWERING", v, h->writers[v].unnamed_by, err));
        }
    }
    return IL_OK;
}

/* An action that the agent or the environment takes by itself, and that counts as somebody else's word. */
static il_status mediation_principals(il_harden *h, il_check *c, il_error *err) {
    const il_model *m = h->subject.m;
    uint64_t answers = 0;
    for (uint32_t r = 0; r < m->nregions; r++) {
        answers |= m->regions[r].gated ? m->regions[r].by : 0;
    }
    for (uint32_t a = 0; a < m->nactions && c->verdict != IL_CHECK_FAIL; a++) {
        const il_action_def *d = &m->actions[a];
        bool asks = d->principal == IL_AGENT || d->principal == IL_ENV;
        bool human = a == h->subject.approve && d->principal != IL_HUMAN;
        if (human || (asks && (d->corrective || (answers >> a & 1)))) {
            c->verdict = IL_CHECK_FAIL;
            c->finding = human ? "APPROVAL_NOT_HUMAN" : d->corrective ? "CORRECTION_BY_AGENT" : "GATE_OF_THE_AGENT";
            IL_TRY(il_arena_copy(h->subject.arena, d->name, &c->detail, err));
        }
    }
    return IL_OK;
}

static il_status mediation_writes(il_harden *h, il_check *c, il_error *err) {
    const il_subject *s = &h->subject;
    uint64_t mediators = s->gates | s->corrective;
    uint64_t raise = 0;
    uint64_t lower = 0;
    il_unmediated_writes(h, &raise, &lower);
    for (uint32_t v = 0; v < s->m->nvars; v++) {
        uint64_t bit = UINT64_C(1) << v;
        for (uint32_t r = 0; ((raise | lower) & bit) && r < s->m->nregions && c->verdict != IL_CHECK_FAIL; r++) {
            bool found = false;
            il_view view = {.subject = &h->subject,
                            .dropped = s->m->regions[r].gated ? s->m->regions[r].by : 0,
                            .raise = raise & bit,
                            .lower = lower & bit};
            IL_TRY(il_view_reaches(h, &view, r, &found, &c->bound_hit, &c->witness, err));
            if (found) {
                IL_TRY(mediation_fail(h, c, "UNMEDIATED_WRITE", v,
                                      (h->writers[v].raised_by | h->writers[v].lowered_by) & ~mediators, err));
            }
        }
    }
    return IL_OK;
}

il_status il_check_mediation(il_harden *h, il_error *err) {
    il_check *c = il_check_add(h, "mediation", UINT32_MAX, true);
    if (!c) {
        return il_arena_fail(h->subject.arena, err);
    }
    c->states = h->states;
    c->edges = h->edges;
    c->depth = h->depth;
    c->bound_hit = !h->subject.table || h->subject.large;
    IL_TRY(mediation_writes(h, c, err));
    IL_TRY(mediation_lowering(h, c, err));
    IL_TRY(mediation_principals(h, c, err));
    if (c->verdict != IL_CHECK_FAIL) {
        c->verdict = c->bound_hit ? IL_CHECK_INCONCLUSIVE : IL_CHECK_PASS;
    }
    return IL_OK;
}
