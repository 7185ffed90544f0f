/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes that recovery must notice, planted in the machine in hand. Each is looked for from one danger state outside the goal. */
#include "base/error.h"
#include "check/recovery_part.h"

typedef struct recovery_plant {
    il_recovery_run run;
    il_harden h; /* the machine with the mistake */
    il_recovery_mistake mistake;
    uint64_t danger, back, regions; /* where it starts, where the mistake leads to, and the regions that hold that */
    uint32_t corrective, other;     /* a symbol of each; UINT32_MAX where there is none */
    il_steps_edge *row;
    uint32_t planted;
} recovery_plant;

static bool plant_corrective(const recovery_plant *p, uint32_t symbol) {
    const il_subject *s = &p->h.subject;
    return s->corrective >> s->m->symbol_action[symbol] & 1;
}

/* Taints and what is sticky at their first value. */
static uint64_t plant_forget(recovery_plant *p, uint64_t state, uint64_t next) {
    const il_model *m = p->h.subject.m;
    for (uint32_t v = 0; v < m->nvars; v++) {
        if ((m->vars[v].taint || m->vars[v].sticky) && il_model_get(m, state, v) > 0) {
            next = il_model_set(m, next, v, 0);
            p->planted++;
        }
    }
    return next;
}

/* The corrective steps, and a step of others back into a region. */
static il_steps_edges plant_undone(recovery_plant *p, il_steps_edges row) {
    const il_steps_edge back = {.next = p->back, .symbol = p->other};
    uint32_t n = 0;
    bool put = false;
    for (uint32_t k = 0; k < row.n; k++) {
        if (!put && row.edge[k].symbol >= back.symbol) {
            p->row[n++] = back;
            put = true;
        }
        if (plant_corrective(p, row.edge[k].symbol)) {
            p->row[n++] = row.edge[k];
        }
    }
    if (!put) {
        p->row[n++] = back;
    }
    p->planted++;
    return (il_steps_edges){p->row, n};
}

static il_steps_edges plant_rows(void *ctx, uint64_t state) {
    recovery_plant *p = ctx;
    const il_subject *s = &p->h.subject;
    const il_steps_edges row = il_steps_row(s->steps, NULL, state);
    const bool out = (p->regions & ~il_recovery_held(&p->run, state)) != 0;
    switch (p->mistake) {
    case IL_RECOVERY_DEAD_END:
        return row; /* the graph itself leaves steps out */
    case IL_RECOVERY_LEADS_BACK:
        if (!out || p->corrective == UINT32_MAX) {
            return row;
        }
        p->row[0] = (il_steps_edge){.next = p->back, .symbol = p->corrective};
        p->planted++;
        return (il_steps_edges){p->row, 1};
    case IL_RECOVERY_FORGETS:
        for (uint32_t k = 0; k < row.n; k++) {
            p->row[k] = row.edge[k];
            if (!row.edge[k].fault && plant_corrective(p, row.edge[k].symbol)) {
                p->row[k].next = plant_forget(p, state, row.edge[k].next);
            }
        }
        return (il_steps_edges){p->row, row.n};
    case IL_RECOVERY_UNDONE:
        return out && p->other != UINT32_MAX && !il_recovery_goal(s->m, state) ? plant_undone(p, row) : row;
    }
    return row;
}

static bool plant_caught(const recovery_plant *p) {
    const il_recovery_run *r = &p->run;
    switch (p->mistake) {
    case IL_RECOVERY_DEAD_END:
        return p->h.recovery.strength == IL_RECOVERY_NONE && (il_recovery_has(r, "STUCK") || il_recovery_has(r, "DIVERGES"));
    case IL_RECOVERY_LEADS_BACK:
        return il_recovery_has(r, "RECOVERY_UNSAFE");
    case IL_RECOVERY_FORGETS:
        return il_recovery_has(r, "RESTORES_COMPROMISE");
    case IL_RECOVERY_UNDONE:
        return il_recovery_has(r, "FRAGILE");
    }
    return false;
}

static il_status plant_together(recovery_plant *p, il_recover_graph *alone, bool *full, il_error *err) {
    il_recover_graph g = {.h = &p->h, .danger = &p->danger, .ndanger = 1, .others = true};
    il_status status = il_recover_graph_make(&g, err);
    if (status == IL_OK && !g.full) {
        status = il_recovery_together(&p->run, &g, alone, err);
    }
    *full = *full || g.full;
    il_recover_graph_free(&g);
    return status;
}

static il_status plant_judge(recovery_plant *p, bool *full, il_error *err) {
    il_recover_graph g = {.h = &p->h, .danger = &p->danger, .ndanger = 1, .cut = p->mistake == IL_RECOVERY_DEAD_END};
    il_recover_way way = {0};
    il_status status = il_recover_graph_make(&g, err);
    if (status == IL_OK && !g.full) {
        status = il_recover_way_new(&g, &way, err);
    }
    *full = g.full;
    if (status == IL_OK && !*full) {
        status = p->mistake == IL_RECOVERY_LEADS_BACK || p->mistake == IL_RECOVERY_FORGETS
                     ? il_recovery_judge_steps(&p->run, &g, &way, err)
                     : il_recovery_converge(&p->run, &g, &way, err);
    }
    if (status == IL_OK && !*full && p->mistake == IL_RECOVERY_UNDONE) {
        status = plant_together(p, &g, full, err);
    }
    il_recover_way_free(&g, &way);
    il_recover_graph_free(&g);
    return status;
}

il_status il_recovery_control(const il_harden *h, il_recovery_mistake mistake, il_control_state *out, il_error *err) {
    const il_model *m = h->subject.m;
    recovery_plant *p = IL_NEW(h->subject.arena, recovery_plant);
    if (!h->recovery.begins) {
        *out = IL_CONTROL_NOT_NEEDED; /* every danger state is in the goal already */
        return IL_OK;
    }
    if (!p) {
        return il_arena_fail(h->subject.arena, err);
    }
    *p = (recovery_plant){.h = *h, .mistake = mistake, .danger = h->recovery.outside};
    p->back = h->recovery.apart;
    p->corrective = p->other = UINT32_MAX;
    p->h.recovery = (il_recovery){0};
    (void)il_recovery_begin(&p->run, &p->h);
    p->run.danger = &p->danger;
    p->run.ndanger = 1;
    p->run.row = IL_NEW_ARRAY(h->subject.arena, il_steps_edge, m->nsymbols);
    p->row = IL_NEW_ARRAY(h->subject.arena, il_steps_edge, (size_t)m->nsymbols + 1);
    if (!p->run.row || !p->row) {
        return il_arena_fail(h->subject.arena, err);
    }
    p->regions = il_recovery_held(&p->run, p->back);
    for (uint32_t symbol = m->nsymbols; symbol-- > 0;) { /* the first of each */
        *(plant_corrective(p, symbol) ? &p->corrective : &p->other) = symbol;
    }
    p->h.subject.rows = plant_rows;
    p->h.subject.rows_ctx = p;
    bool full = false;
    IL_TRY(plant_judge(p, &full, err));
    if (!full) {
        /* No state out of the region before the goal, or nothing held, and there is nothing to plant it in. Not where recovery, which passed,
         * would have had nothing to do. */
        const bool nothing =
            mistake != IL_RECOVERY_DEAD_END && p->planted == 0 && p->corrective != UINT32_MAX && !il_recovery_goal(m, p->danger);
        *out = plant_caught(p) ? IL_CONTROL_FAILED_AS_IT_MUST : nothing ? IL_CONTROL_NOT_NEEDED : IL_CONTROL_BROKEN;
    }
    return IL_OK;
}
