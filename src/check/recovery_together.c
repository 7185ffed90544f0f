/* SPDX-License-Identifier: Apache-2.0 */
/* Corrective steps with what others do in between. */
#include "check/recovery_part.h"

/* Marks IL_RECOVER_WON from where corrective steps win: the goal, or one corrective step to the goal or to where no step of others leaves what is
 * won already. `rounds`: how often that was used, the bound on corrective steps. */
static void recovery_win(const il_recovery_run *r, il_recover_graph *g, uint32_t *rounds) {
    for (uint32_t i = 0; i < g->n; i++) {
        g->mark[i] = (uint8_t)(g->mark[i] & IL_RECOVER_GOAL ? g->mark[i] | IL_RECOVER_WON : g->mark[i] & ~IL_RECOVER_WON);
        g->mark[i] &= (uint8_t)~IL_RECOVER_CYCLE;
    }
    *rounds = 0;
    for (bool more = true; more && il_recovery_goes_on(r, g, 0);) {
        for (uint32_t i = 0; i < g->n; i++) { /* not won: what others must not reach; the mark of a cycle serves for it */
            g->mark[i] = (uint8_t)(g->mark[i] & IL_RECOVER_WON ? g->mark[i] & ~IL_RECOVER_CYCLE : g->mark[i] | IL_RECOVER_CYCLE);
        }
        il_recover_back(g, IL_RECOVER_BY_OTHERS, IL_RECOVER_CYCLE, IL_RECOVER_GOAL);
        more = false;
        for (uint32_t i = 0; i < g->n; i++) {
            bool wins = false;
            bool open = !(g->mark[i] & IL_RECOVER_WON);
            for (uint32_t e = g->next[0].first[i]; open && !wins && e < g->next[0].first[i + 1]; e++) {
                uint8_t mark = g->mark[g->next[0].to[e]];
                wins = (mark & IL_RECOVER_GOAL) || !(mark & IL_RECOVER_BACK);
            }
            g->mark[i] |= wins ? IL_RECOVER_WON : 0;
            more = more || wins;
        }
        *rounds += more ? 1 : 0;
    }
}

/* A step by which others enter a never region anew before the goal. */
static il_status recovery_reentry(il_recovery_run *r, il_recover_graph *g, il_recover_way *way, il_error *err) {
    il_recovery_hold(r, g);
    for (uint32_t node = 0; node < g->n && il_recovery_goes_on(r, g, node); node++) {
        if (g->mark[node] & IL_RECOVER_GOAL) {
            continue;
        }
        uint64_t state = il_recover_state(g, node);
        uint64_t held = il_recovery_held_of(r, g, state);
        uint32_t n = il_recovery_row(r, state, false);
        for (uint32_t k = 0; k < n; k++) {
            il_steps_edge e = r->row[k];
            if (il_recovery_enters(r, g, state, held, &e)) {
                return il_recovery_find_step(r, g, "FRAGILE", node, e.symbol, e.next, way, err);
            }
        }
    }
    return IL_OK;
}

/* From the nearest state that is not won: the corrective step towards the goal, and what others make of it. States from which corrective steps
 * do not recover even by themselves are another finding. */
static il_status recovery_undone(il_recovery_run *r, il_recover_graph *g, const il_recover_graph *alone, il_recover_way *way,
                                 il_error *err) {
    uint64_t budget = UINT64_MAX;
    uint32_t node = UINT32_MAX;
    for (uint32_t i = 0; i < g->n && node == UINT32_MAX; i++) {
        uint32_t in_x = il_recover_node(alone, il_recover_state(g, i));
        bool lost = in_x != UINT32_MAX && !(alone->mark[in_x] & IL_RECOVER_BACK);
        node = !(g->mark[i] & IL_RECOVER_WON) && !lost ? i : UINT32_MAX;
    }
    if (node == UINT32_MAX) {
        return IL_OK;
    }
    il_recover_stem(g, node, way);
    uint32_t stem = way->n;
    if (il_recover_lead(g, way, IL_RECOVER_BY_CORRECTIVE, IL_RECOVER_GOAL, 0, true, &budget)) {
        way->n = stem + 1; /* the first step of the shortest way to the goal, and from there others lead to what is not won */
        (void)il_recover_lead(g, way, IL_RECOVER_BY_OTHERS, IL_RECOVER_CYCLE, 0, false, &budget);
    }
    return il_recovery_find(r, g, "FRAGILE", way, err);
}

static bool recovery_live(const il_recovery_run *r, uint64_t state) {
    const il_subject *s = &r->h->subject;
    bool live = false;
    for (uint32_t i = 0; i < IL_WAYS_OUT; i++) {
        live = live || (s->out[i].var != UINT32_MAX && il_model_get(s->m, state, s->out[i].var) != 0);
    }
    return live;
}

/* Danger states with a live way out: some corrective step freezes, or all is frozen already. */
static il_status recovery_in_flight(il_recovery_run *r, il_recover_graph *g, il_recover_way *way, il_error *err) {
    il_recovery *out = il_recovery_out(r);
    for (uint32_t i = 0; i < g->n; i++) {
        bool moves = !(g->mark[i] & IL_RECOVER_GOAL) && il_recovery_degree(&g->next[1], i) > 0;
        g->mark[i] = (uint8_t)(moves ? g->mark[i] | IL_RECOVER_CYCLE : g->mark[i] & ~IL_RECOVER_CYCLE);
    }
    il_recover_back(g, IL_RECOVER_BY_CORRECTIVE, IL_RECOVER_CYCLE, IL_RECOVER_GOAL); /* BACK: not frozen */
    bool legal = true;
    for (uint32_t i = 0; i < r->ndanger; i++) {
        uint32_t node = il_recover_node(g, r->danger[i]);
        if (!recovery_live(r, r->danger[i])) {
            continue;
        }
        out->in_flight++;
        bool freezes = !(g->mark[node] & IL_RECOVER_BACK); /* it is frozen, or over, already */
        for (uint32_t e = g->next[0].first[node]; !freezes && e < g->next[0].first[node + 1]; e++) {
            freezes = !(g->mark[g->next[0].to[e]] & IL_RECOVER_BACK);
        }
        if (!freezes && legal) {
            legal = false;
            il_recover_stem(g, node, way);
            if (r->quarantined != UINT32_MAX) {
                IL_TRY(il_recovery_find(r, g, "NOT_LEGAL_IN_FLIGHT", way, err));
            }
        }
    }
    out->flight = r->quarantined == UINT32_MAX ? IL_RECOVERY_NOTHING_FREEZES : legal ? IL_RECOVERY_LEGAL : IL_RECOVERY_NOT_LEGAL;
    return IL_OK;
}

il_status il_recovery_together(il_recovery_run *r, il_recover_graph *g, const il_recover_graph *alone, il_error *err) {
    il_recovery *out = il_recovery_out(r);
    il_recover_way way = {0};
    il_status status = il_recover_way_new(g, &way, err);
    if (status == IL_OK && !g->full) {
        recovery_win(r, g, &out->interleaved);
    }
    if (status == IL_OK && !g->full) {
        status = recovery_undone(r, g, alone, &way, err);
        if (status == IL_OK && !il_recovery_has(r, "FRAGILE")) {
            status = recovery_reentry(r, g, &way, err);
        }
        out->robust = !il_recovery_has(r, "FRAGILE") && il_recovery_first(g, 0, IL_RECOVER_WON) == UINT32_MAX;
        out->interleaved = out->robust ? out->interleaved : 0;
    }
    if (status == IL_OK && !g->full) {
        status = recovery_in_flight(r, g, &way, err);
    }
    il_recover_way_free(g, &way);
    return status;
}
