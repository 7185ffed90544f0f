/* SPDX-License-Identifier: Apache-2.0 */
/* The set itself. An observation maps a list of states to a list of states; a bitmap keeps each state in once, and is cleared
 * by the list. */
#include "check/belief.h"

#include "base/error.h"
#include "base/mem.h"
#include "check/belief_part.h"

typedef struct belief_list { /* p->from or p->to, with their marks in p->mark */
    uint32_t *v, n;
} belief_list;

static void belief_put(il_estimator *p, belief_list *l, uint32_t state) {
    uint64_t *word = &p->mark[state / 64];
    const uint64_t bit = UINT64_C(1) << (state % 64);
    if ((*word & bit) == 0) {
        *word |= bit;
        l->v[l->n++] = state;
    }
}

static void belief_unmark(il_estimator *p, const belief_list *l) {
    for (uint32_t i = 0; i < l->n; i++) {
        p->mark[l->v[i] / 64] &= ~(UINT64_C(1) << (l->v[i] % 64));
    }
}

/* Whether an edge happens unseen. What changes nothing did not happen. */
static bool belief_hides(const il_estimator *p, uint32_t from, const il_plant_edge *e) {
    return (e->symbol == IL_NO_SYMBOL || !il_estimator_sees(p, e->symbol)) && e->to != from;
}

/* Adds what hidden edges lead to: all of it, or only where `view` is what is seen. */
static void belief_close(il_estimator *p, belief_list *l, const uint64_t *view) {
    for (uint32_t i = 0; i < l->n && p->hides; i++) { /* the list grows */
        for (size_t k = p->plant.first[l->v[i]]; k < p->plant.first[l->v[i] + 1]; k++) {
            const il_plant_edge *e = &p->plant.edges[k];
            if (belief_hides(p, l->v[i], e) && (!view || p->views[e->to] == *view)) {
                belief_put(p, l, e->to);
            }
        }
    }
}

static void belief_filter(il_estimator *p, belief_list *l, uint64_t view) {
    uint32_t n = 0;
    belief_unmark(p, l);
    for (uint32_t i = 0; i < l->n; i++) {
        if (p->views[l->v[i]] == view) {
            l->v[n++] = l->v[i];
        }
    }
    l->n = n;
    for (uint32_t i = 0; i < n; i++) {
        p->mark[l->v[i] / 64] |= UINT64_C(1) << (l->v[i] % 64);
    }
}

/* Where one member goes by a symbol that was seen: at most to one state for each verdict that fits. */
static void belief_step(il_estimator *p, uint32_t state, const il_observation *seen, belief_list *to) {
    const il_plant_edge *e = il_plant_step(&p->plant, state, seen->symbol);
    const bool verdict = seen->has_verdict && p->options.verdicts;
    if (e) {
        if ((!verdict || seen->accepted) && (!seen->has_after || p->views[e->to] == seen->after)) {
            belief_put(p, to, e->to);
        }
        return;
    }
    if ((verdict && seen->accepted) || (seen->has_after && p->views[state] != seen->after)) {
        return;
    }
    const il_step step = il_steps_one(p->plant.steps, NULL, il_plant_state(&p->plant, state), seen->symbol);
    if (step.verdict != IL_FAULT && (!verdict || seen->rule == 0 || step.reason == seen->rule)) {
        belief_put(p, to, state);
    }
}

static void belief_hidden(il_estimator *p, uint32_t state, const il_observation *seen, belief_list *to) {
    for (size_t k = p->plant.first[state]; k < p->plant.first[state + 1]; k++) {
        const il_plant_edge *e = &p->plant.edges[k];
        if (belief_hides(p, state, e) && (!seen->has_after || p->views[e->to] == seen->after)) {
            belief_put(p, to, e->to);
        }
    }
}

/* The list becomes the set; the order of its members says nothing. */
static il_status belief_keep(il_estimator *p, il_belief *b, belief_list *l, il_error *err) {
    belief_unmark(p, l);
    b->n = 0;
    if (l->n > b->cap) {
        const uint32_t cap = l->n + l->n / 2;
        uint32_t *members = p->alloc->alloc(p->alloc->ctx, (size_t)cap * sizeof *members);
        if (!members) {
            return il_error_set(err, IL_E_MEMORY, "no memory for the states that a session may be in");
        }
        p->alloc->free(p->alloc->ctx, b->members);
        b->members = members;
        b->cap = cap;
    }
    if (l->n) {
        memcpy(b->members, l->v, (size_t)l->n * sizeof *b->members);
    }
    b->n = l->n;
    b->most = l->n > b->most ? l->n : b->most;
    return IL_OK;
}

il_status il_belief_begin(il_estimator *p, il_belief *b, il_error *err) {
    belief_list l = {.v = p->to};
    belief_put(p, &l, 0); /* the plant begins with the initial state */
    belief_close(p, &l, &p->views[0]);
    return belief_keep(p, b, &l, err);
}

il_status il_belief_any(il_estimator *p, il_belief *b, uint64_t view, il_error *err) {
    belief_list l = {.v = p->to};
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->views[i] == view) {
            belief_put(p, &l, i);
        }
    }
    return belief_keep(p, b, &l, err);
}

il_status il_belief_see(il_estimator *p, il_belief *b, const il_observation *seen, il_error *err) {
    belief_list from = {.v = p->from}, to = {.v = p->to};
    for (uint32_t i = 0; i < b->n; i++) {
        belief_put(p, &from, b->members[i]);
    }
    if (seen->gap) {
        belief_close(p, &from, NULL);
    }
    if (seen->has_before) {
        belief_filter(p, &from, seen->before);
    }
    if (seen->symbol == IL_NO_SYMBOL && seen->gap) {
        if (seen->has_after) {
            belief_filter(p, &from, seen->after);
        }
        to = from;
    } else {
        belief_unmark(p, &from);
        for (uint32_t i = 0; i < from.n; i++) {
            if (seen->symbol == IL_NO_SYMBOL) {
                belief_hidden(p, from.v[i], seen, &to);
            } else {
                belief_step(p, from.v[i], seen, &to);
            }
        }
    }
    belief_close(p, &to, seen->has_after ? &seen->after : NULL);
    return belief_keep(p, b, &to, err);
}

bool il_belief_has(const il_estimator *p, const il_belief *b, uint64_t state) {
    const uint32_t number = il_nodes_find(&p->plant.states, state);
    for (uint32_t i = 0; i < b->n && number != IL_NODES_NONE; i++) {
        if (b->members[i] == number) {
            return true;
        }
    }
    return false;
}

uint32_t il_belief_in(const il_estimator *p, const il_belief *b, uint32_t region) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        n += p->plant.in[b->members[i]] >> region & 1 ? 1u : 0u;
    }
    return n;
}

void il_belief_free(const il_estimator *p, il_belief *b) {
    p->alloc->free(p->alloc->ctx, b->members);
    *b = (il_belief){0};
}

il_belief_regions il_belief_judge(const il_estimator *p, const il_belief *b) {
    uint64_t some = 0, all = UINT64_MAX;
    for (uint32_t i = 0; i < b->n; i++) {
        some |= p->plant.in[b->members[i]];
        all &= p->plant.in[b->members[i]];
    }
    if (b->n == 0) {
        return (il_belief_regions){0};
    }
    return (il_belief_regions){.possible = some, .certain = all};
}

bool il_estimator_drifts(il_estimator *p, uint64_t from, uint64_t to) {
    belief_list l = {.v = p->to};
    const uint32_t start = il_nodes_find(&p->plant.states, from), end = il_nodes_find(&p->plant.states, to);
    bool found = from == to;
    if (start == IL_NODES_NONE || end == IL_NODES_NONE) {
        return found;
    }
    belief_put(p, &l, start);
    belief_close(p, &l, NULL);
    for (uint32_t i = 0; i < l.n; i++) {
        found = found || l.v[i] == end;
    }
    belief_unmark(p, &l);
    return found;
}
