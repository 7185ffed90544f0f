/* SPDX-License-Identifier: Apache-2.0 */
/* Corrective steps alone. */
#include "check/recovery_part.h"

#include "base/error.h"

#define RECOVERY_LASSO_WORK (UINT64_C(1) << 24) /* steps looked at for a shortest lasso; beyond, the shortest so far is taken */

/* Longest way to the goal; what cannot be ordered has IL_RECOVER_CYCLE: it lies on a cycle or leads to one. */
static il_status recovery_order(il_recovery_run *r, il_recover_graph *g, bool *cyclic, il_error *err) {
    const il_alloc *alloc = r->h->subject.alloc;
    uint32_t *left = alloc->alloc(alloc->ctx, (size_t)g->n * 2 * sizeof *left + 1);
    if (!left) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the order of corrective steps");
    }
    uint32_t *length = left + g->n;
    uint32_t n = 0;
    *cyclic = false;
    for (uint32_t i = 0; i < g->n; i++) {
        length[i] = 0;
        left[i] = g->mark[i] & IL_RECOVER_GOAL ? 0 : il_recovery_degree(&g->next[0], i);
        g->mark[i] |= IL_RECOVER_CYCLE;
        if (left[i] == 0) {
            g->scratch[n++] = i;
        }
    }
    for (uint32_t at = 0; at < n; at++) {
        uint32_t node = g->scratch[at];
        g->mark[node] &= (uint8_t)~IL_RECOVER_CYCLE;
        il_recovery *out = il_recovery_out(r);
        out->longest = length[node] > out->longest ? length[node] : out->longest;
        for (uint32_t e = g->back[0].first[node]; e < g->back[0].first[node + 1]; e++) {
            uint32_t from = g->back[0].to[e];
            if (g->mark[from] & IL_RECOVER_GOAL) {
                continue;
            }
            length[from] = length[node] + 1 > length[from] ? length[node] + 1 : length[from];
            if (--left[from] == 0) {
                g->scratch[n++] = from;
            }
        }
    }
    for (uint32_t i = 0; i < g->n; i++) {
        *cyclic = *cyclic || (g->mark[i] & IL_RECOVER_CYCLE);
    }
    alloc->free(alloc->ctx, left);
    return IL_OK;
}

/* The shortest stem and loop over nodes marked as cyclic and, when `lost`, without a way to the goal. */
static bool recovery_lasso(il_recover_graph *g, bool lost, il_recover_way *way, uint32_t *stem) {
    uint64_t budget = RECOVERY_LASSO_WORK;
    uint32_t best = UINT32_MAX;
    uint32_t best_length = UINT32_MAX;
    for (uint32_t node = 0; node < g->n && (budget > 0 || best == UINT32_MAX); node++) {
        if (!(g->mark[node] & IL_RECOVER_CYCLE) || (lost && (g->mark[node] & IL_RECOVER_BACK))) {
            continue;
        }
        il_recover_stem(g, node, way);
        uint32_t before = way->n;
        if (before + 1 >= best_length) { /* a loop has two steps at least, and later nodes lie no nearer */
            break;
        }
        uint64_t enough = UINT64_MAX;
        g->mark[node] |= IL_RECOVER_WON; /* the target, for this search alone */
        bool loops = il_recover_lead(g, way, IL_RECOVER_BY_CORRECTIVE, IL_RECOVER_WON, IL_RECOVER_CYCLE, true,
                                     best == UINT32_MAX ? &enough : &budget);
        g->mark[node] &= (uint8_t)~IL_RECOVER_WON;
        if (loops && way->n < best_length) {
            best = node;
            best_length = way->n;
        }
    }
    if (best == UINT32_MAX) {
        return false;
    }
    uint64_t enough = UINT64_MAX;
    il_recover_stem(g, best, way);
    *stem = way->n - 1;
    g->mark[best] |= IL_RECOVER_WON;
    bool loops = il_recover_lead(g, way, IL_RECOVER_BY_CORRECTIVE, IL_RECOVER_WON, IL_RECOVER_CYCLE, true, &enough);
    g->mark[best] &= (uint8_t)~IL_RECOVER_WON;
    return loops;
}

il_status il_recovery_converge(il_recovery_run *r, il_recover_graph *g, il_recover_way *way, il_error *err) {
    il_recovery *out = il_recovery_out(r);
    bool cyclic = false;
    uint32_t stem = 0;
    IL_TRY(recovery_order(r, g, &cyclic, err));
    il_recover_back(g, IL_RECOVER_BY_CORRECTIVE, IL_RECOVER_GOAL, 0);
    for (uint32_t node = 0; node < g->n; node++) {
        if (!(g->mark[node] & IL_RECOVER_GOAL) && il_recovery_degree(&g->next[0], node) == 0) {
            il_recover_stem(g, node, way);
            IL_TRY(il_recovery_find(r, g, "STUCK", way, err));
            break;
        }
    }
    bool lost = il_recovery_first(g, 0, IL_RECOVER_BACK) != UINT32_MAX;
    bool lost_cycle = cyclic && il_recovery_first(g, IL_RECOVER_CYCLE, IL_RECOVER_BACK) != UINT32_MAX;
    if (lost_cycle && recovery_lasso(g, true, way, &stem)) { /* what is lost may as well only lead to a stuck state */
        IL_TRY(il_recovery_find(r, g, "DIVERGES", way, err));
    }
    out->strength = lost ? IL_RECOVERY_NONE : cyclic ? IL_RECOVERY_WEAK : IL_RECOVERY_STRONG;
    out->longest = out->strength == IL_RECOVERY_STRONG ? out->longest : 0;
    if (out->strength == IL_RECOVERY_WEAK && recovery_lasso(g, false, way, &stem)) {
        out->lasso_from = il_recover_state(g, way->node[0]);
        out->lasso_stem = stem;
        IL_TRY(il_recover_trace(g, way, &out->lasso, err));
    }
    return IL_OK;
}

static bool recovery_lowers(const il_recovery_run *r, uint64_t pre, uint64_t next) {
    const il_model *m = r->h->subject.m;
    for (uint32_t v = 0; v < m->nvars; v++) {
        if ((m->vars[v].taint || m->vars[v].sticky) && il_model_get(m, next, v) < il_model_get(m, pre, v)) {
            return true;
        }
    }
    return false;
}

/* Every corrective step of X, one by one. */
il_status il_recovery_judge_steps(il_recovery_run *r, il_recover_graph *g, il_recover_way *way, il_error *err) {
    const il_subject *s = &r->h->subject;
    il_recovery *out = il_recovery_out(r);
    uint32_t unsafe_node = UINT32_MAX, restores_node = UINT32_MAX;
    il_steps_edge unsafe_step = {0}, restores_step = {0};
    il_recovery_hold(r, g);
    for (uint32_t i = 0; i < g->n && (unsafe_node == UINT32_MAX || restores_node == UINT32_MAX); i++) {
        if (!il_recovery_goes_on(r, g, i)) {
            return IL_OK;
        }
        uint64_t state = il_recover_state(g, i);
        uint64_t held = il_recovery_held_of(r, g, state);
        uint32_t n = il_recovery_row(r, state, true);
        for (uint32_t k = 0; k < n; k++) {
            il_steps_edge e = r->row[k];
            if (unsafe_node == UINT32_MAX && il_recovery_enters(r, g, state, held, &e)) {
                unsafe_node = i;
                unsafe_step = e;
            }
            if (recovery_lowers(r, state, e.next) && restores_node == UINT32_MAX) {
                restores_node = i;
                restores_step = e;
            }
        }
    }
    if (unsafe_node != UINT32_MAX) {
        IL_TRY(il_recovery_find_step(r, g, "RECOVERY_UNSAFE", unsafe_node, unsafe_step.symbol, unsafe_step.next, way, err));
    }
    if (restores_node != UINT32_MAX) {
        IL_TRY(il_recovery_find_step(r, g, "RESTORES_COMPROMISE", restores_node, restores_step.symbol, restores_step.next, way,
                                     err));
    }
    for (uint32_t i = 0; i < g->n; i++) {
        uint64_t state = il_recover_state(g, i);
        bool goal = (g->mark[i] & IL_RECOVER_GOAL) != 0;
        out->restoration = out->restoration || (goal && state == s->m->initial);
        out->inside = out->inside || (goal && !out->inside && il_recovery_held_of(r, g, state) != 0);
    }
    return IL_OK;
}

il_status il_recovery_alone(il_recovery_run *r, il_recover_graph *g, il_error *err) {
    il_recovery *out = il_recovery_out(r);
    il_recover_way way = {0};
    il_status status = il_recover_way_new(g, &way, err);
    if (status == IL_OK && !g->full) {
        out->states = g->n;
        if (g->fault.found) {
            const il_space_hit *hit = &g->fault;
            status = il_recovery_find_step(r, g, "FAULT", hit->node, hit->symbol, hit->next, &way, err);
        }
        if (status == IL_OK) {
            status = il_recovery_converge(r, g, &way, err);
        }
        if (status == IL_OK) {
            status = il_recovery_judge_steps(r, g, &way, err);
        }
    }
    il_recover_way_free(g, &way);
    return status;
}
