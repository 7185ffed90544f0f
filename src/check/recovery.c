/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery: from every state that a forbidden region holds, reachable or not, corrective actions alone lead to `ended` with nothing live,
 * by any order they are taken in, without entering a region and without lowering a taint. The outcome is containment, not restoration. */
#include "check/parts.h"

#include "base/error.h"
#include "base/mem.h"

#define IL_RECOVERY_PRODUCT_MAX (UINT64_C(1) << 24)

typedef struct recovery {
    il_subject *s;
    uint64_t *danger;
    uint32_t ndanger;
    uint32_t phase, ended, quarantined;
    uint64_t regions; /* never regions of states */
} recovery;

/* The root of the walk: every danger state is one step from it. No packed state looks like it, for those have fewer than 64 bits. */
#define IL_RECOVERY_ROOT UINT64_MAX

static uint64_t recovery_state(const il_model *m, uint64_t index) {
    uint64_t state = 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        state = il_model_set(m, state, v, (uint32_t)(index % m->vars[v].domain.size));
        index /= m->vars[v].domain.size;
    }
    return state;
}

static uint64_t recovery_regions(const recovery *r, uint64_t state) {
    uint64_t in = 0;
    for (uint32_t k = 0; k < r->s->m->nregions; k++) {
        in |= (r->regions >> k & 1) && il_steps_in_region(r->s->steps, k, state, 0, 0) ? UINT64_C(1) << k : 0;
    }
    return in;
}

/* A corrective step that changes the state. */
static bool recovery_moves(const recovery *r, const il_steps_edge *e, uint64_t state) {
    return (r->s->corrective >> r->s->m->symbol_action[e->symbol] & 1) && (e->fault || e->next != state);
}

static uint32_t recovery_expand(void *ctx, uint64_t key, il_space_edge *out) {
    const recovery *r = ctx;
    if (key == IL_RECOVERY_ROOT) {
        for (uint32_t i = 0; i < r->ndanger; i++) {
            out[i] = (il_space_edge){.next = r->danger[i], .symbol = i};
        }
        return r->ndanger;
    }
    il_steps_edges row = il_steps_row(r->s->steps, NULL, key);
    uint32_t n = 0;
    for (uint32_t k = 0; k < row.n; k++) {
        if (recovery_moves(r, &row.edge[k], key)) {
            out[n++] = (il_space_edge){row.edge[k].next, row.edge[k].symbol, row.edge[k].fault};
        }
    }
    return n;
}

static bool recovery_goal(const recovery *r, uint64_t state) {
    static const il_str live[] = {{"flight", 6}, {"open", 4}, {"crossing", 8}};
    const il_model *m = r->s->m;
    bool goal = il_model_get(m, state, r->phase) == r->ended;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t v = il_model_var(m, live[i]);
        goal = goal && (v == UINT32_MAX || il_model_get(m, state, v) == 0);
    }
    return goal;
}

typedef struct recovery_walk {
    uint32_t *length;     /* corrective steps to the goal at most, once done */
    uint8_t *mark;        /* 0 new, 1 on the stack, 2 done */
    uint32_t *stack, *at; /* `at`: the symbol to look at next */
} recovery_walk;

/* Longest way to the goal by depth-first search on an own stack; false when a cycle avoids the goal. */
static bool recovery_longest(recovery *r, const il_space *space, recovery_walk *w, uint32_t root, il_check *c, uint32_t *stuck) {
    uint32_t top = 0;
    w->stack[0] = root;
    w->at[0] = 0;
    w->mark[root] = 1;
    while (true) {
        uint32_t node = w->stack[top];
        uint64_t state = il_space_key(space, node);
        bool goal = recovery_goal(r, state);
        bool down = false;
        il_steps_edges row = il_steps_row(r->s->steps, NULL, state);
        for (uint32_t k = 0; !goal && k < row.n; k++) {
            uint32_t symbol = row.edge[k].symbol;
            uint64_t next = row.edge[k].next;
            if (symbol < w->at[top] || row.edge[k].fault || !recovery_moves(r, &row.edge[k], state)) {
                continue;
            }
            w->at[top] = symbol + 1;
            uint32_t to = il_space_find(space, next);
            if (w->mark[to] == 1) {
                return false;
            }
            if (w->mark[to] == 0) {
                w->at[top] = symbol; /* look at this edge again once its end is done */
                top++;
                w->stack[top] = to;
                w->at[top] = 0;
                w->mark[to] = 1;
                down = true;
                break;
            }
            w->length[node] = w->length[to] + 1 > w->length[node] ? w->length[to] + 1 : w->length[node];
            if ((recovery_regions(r, next) & ~recovery_regions(r, state)) != 0) {
                c->finding = "RECOVERY_UNSAFE";
            }
            for (uint32_t t = 0; t < r->s->ntaints; t++) {
                if (il_model_get(r->s->m, next, r->s->taints[t]) < il_model_get(r->s->m, state, r->s->taints[t])) {
                    c->finding = "RESTORES_COMPROMISE";
                }
            }
        }
        if (down) {
            continue;
        }
        if (!goal && w->length[node] == 0) {
            *stuck = node;
        }
        w->mark[node] = 2;
        if (top == 0) {
            return true;
        }
        top--;
    }
}

/* While quarantined nothing but a corrective action changes the state: the others may delay recovery, not undo it. */
static bool recovery_robust(const recovery *r) {
    const il_model *m = r->s->m;
    for (uint64_t i = 0; i < m->product; i++) {
        uint64_t state = recovery_state(m, i);
        if (il_model_get(m, state, r->phase) != r->quarantined) {
            continue;
        }
        il_steps_edges row = il_steps_row(r->s->steps, NULL, state);
        for (uint32_t k = 0; k < row.n; k++) {
            const il_steps_edge *e = &row.edge[k];
            if (!e->fault && e->next != state && !(r->s->corrective >> m->symbol_action[e->symbol] & 1)) {
                return false;
            }
        }
    }
    return true;
}

static il_status recovery_walk_all(il_harden *h, recovery *r, const il_space *space, il_check *c, il_error *err) {
    il_arena *arena = h->subject.arena;
    recovery_walk w = {.length = IL_NEW_ARRAY(arena, uint32_t, space->n),
                       .mark = IL_NEW_ARRAY(arena, uint8_t, space->n),
                       .stack = IL_NEW_ARRAY(arena, uint32_t, space->n),
                       .at = IL_NEW_ARRAY(arena, uint32_t, space->n)};
    if (!w.length || !w.mark || !w.stack || !w.at) {
        return il_arena_fail(arena, err);
    }
    uint32_t stuck = 0;
    bool acyclic = true;
    for (uint32_t i = 1; i < space->n && acyclic; i++) {
        acyclic = w.mark[i] == 2 || recovery_longest(r, space, &w, i, c, &stuck);
        h->recovery.longest = w.length[i] > h->recovery.longest ? w.length[i] : h->recovery.longest;
    }
    if (!acyclic) {
        c->finding = "DIVERGES";
    } else if (stuck != 0) {
        c->finding = "STUCK";
    }
    h->recovery.strong = acyclic && stuck == 0;
    h->recovery.robust = recovery_robust(r);
    if (!c->finding && !h->recovery.robust) {
        c->finding = "FRAGILE";
    }
    c->verdict = c->finding ? IL_CHECK_FAIL : IL_CHECK_PASS;
    return IL_OK;
}

static il_status recovery_run(il_harden *h, recovery *r, il_check *c, il_error *err) {
    const il_model *m = r->s->m;
    uint64_t limit = h->subject.bounds.states ? h->subject.bounds.states : IL_RECOVERY_PRODUCT_MAX;
    if (m->bits >= 64 || m->product > limit || m->product > IL_RECOVERY_PRODUCT_MAX) {
        c->verdict = IL_CHECK_INCONCLUSIVE;
        c->bound_hit = true;
        return IL_OK;
    }
    r->danger = IL_NEW_ARRAY(h->subject.arena, uint64_t, m->product);
    if (!r->danger) {
        return il_arena_fail(h->subject.arena, err);
    }
    for (uint64_t i = 0; i < m->product; i++) {
        uint64_t state = recovery_state(m, i);
        if (recovery_regions(r, state) != 0) {
            r->danger[r->ndanger++] = state;
        }
    }
    h->recovery.ran = true;
    h->recovery.danger = r->ndanger;
    if (r->ndanger == 0) {
        c->verdict = IL_CHECK_VACUOUS;
        c->finding = "NO_DANGER_STATE";
        return IL_OK;
    }
    il_space space = {0};
    il_space_def def = {.ctx = r, .initial = IL_RECOVERY_ROOT, .expand = recovery_expand};
    def.nsymbols = def.first_write = r->ndanger > m->nsymbols ? r->ndanger : m->nsymbols;
    il_space_bounds bounds = {.bytes = h->subject.bounds.bytes}; /* the product is bounded already */
    il_status status = il_space_explore(&space, h->subject.alloc, &def, &bounds, err);
    if (status == IL_OK) {
        c->states = space.n - 1;
        c->edges = space.edges - r->ndanger;
        c->depth = space.depth;
        if (space.bound_hit || space.fault.found) {
            c->verdict = space.fault.found ? IL_CHECK_FAIL : IL_CHECK_INCONCLUSIVE;
            c->finding = space.fault.found ? "FAULT" : NULL;
        } else {
            status = recovery_walk_all(h, r, &space, c, err);
        }
    }
    il_space_free(&space);
    return status;
}

il_status il_check_recovery(il_harden *h, il_error *err) {
    il_subject *s = &h->subject;
    recovery r = {.s = s, .phase = il_model_var(s->m, IL_STR("phase")), .ended = UINT32_MAX, .quarantined = UINT32_MAX};
    for (uint32_t i = 0; r.phase != UINT32_MAX && i < s->m->vars[r.phase].domain.size; i++) {
        il_str name = s->m->vars[r.phase].domain.names[i];
        r.ended = il_str_eq(name, IL_STR("ended")) ? i : r.ended;
        r.quarantined = il_str_eq(name, IL_STR("quarantined")) ? i : r.quarantined;
    }
    for (uint32_t k = 0; k < s->m->nregions; k++) {
        r.regions |= !s->m->regions[k].gated && !s->m->regions[k].edge ? UINT64_C(1) << k : 0;
    }
    if (r.ended == UINT32_MAX || r.quarantined == UINT32_MAX || s->corrective == 0 || r.regions == 0) {
        return IL_OK; /* the machine declares no recovery */
    }
    il_check *c = il_check_add(h, "recovery", UINT32_MAX, false);
    return c ? recovery_run(h, &r, c, err) : il_arena_fail(s->arena, err);
}
