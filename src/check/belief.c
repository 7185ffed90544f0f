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

/* Adds what hidden edges lead to: all of it, or only where `view` is what is seen. */
static void belief_close(il_estimator *p, belief_list *l, const uint64_t *view) {
    for (uint32_t i = 0; i < l->n; i++) { /* the list grows */
        for (uint64_t k = p->hidden.first[l->v[i]]; k < p->hidden.first[l->v[i] + 1]; k++) {
            const il_estimator_edge *e = &p->hidden.edge[k];
            if (!view || p->views[e->next] == *view) {
                belief_put(p, l, e->next);
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

static const il_estimator_edge *belief_edge(const il_estimator *p, uint32_t state, uint32_t symbol) {
    uint64_t from = p->visible.first[state], to = p->visible.first[state + 1];
    const uint64_t end = to;
    while (from < to) {
        const uint64_t at = from + (to - from) / 2;
        if (p->visible.edge[at].symbol < symbol) {
            from = at + 1;
        } else {
            to = at;
        }
    }
    return from < end && p->visible.edge[from].symbol == symbol ? &p->visible.edge[from] : NULL;
}

/* Where one member goes by a symbol that was seen: at most to one state for each verdict that fits. */
static void belief_step(il_estimator *p, uint32_t state, const il_observation *seen, belief_list *to) {
    const il_estimator_edge *e = belief_edge(p, state, seen->symbol);
    const bool verdict = seen->has_verdict && p->options.verdicts;
    if (e) {
        if ((!verdict || seen->accepted) && (!seen->has_after || p->views[e->next] == seen->after)) {
            belief_put(p, to, e->next);
        }
        return;
    }
    if ((verdict && seen->accepted) || (seen->has_after && p->views[state] != seen->after)) {
        return;
    }
    const il_step step = il_steps_one(p->steps, NULL, il_space_key(&p->space, state), seen->symbol);
    if (step.verdict != IL_FAULT && (!verdict || seen->rule == 0 || step.reason == seen->rule)) {
        belief_put(p, to, state);
    }
}

static void belief_hidden(il_estimator *p, uint32_t state, const il_observation *seen, belief_list *to) {
    for (uint64_t k = p->hidden.first[state]; k < p->hidden.first[state + 1]; k++) {
        const il_estimator_edge *e = &p->hidden.edge[k];
        if (!seen->has_after || p->views[e->next] == seen->after) {
            belief_put(p, to, e->next);
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
    belief_put(p, &l, 0); /* the explorer begins with the initial state */
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
    const uint32_t number = il_estimator_find(p, state);
    for (uint32_t i = 0; i < b->n && number != UINT32_MAX; i++) {
        if (b->members[i] == number) {
            return true;
        }
    }
    return false;
}

uint32_t il_belief_in(const il_estimator *p, const il_belief *b, uint32_t region) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        n += p->regions[b->members[i]] >> region & 1 ? 1u : 0u;
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
        some |= p->regions[b->members[i]];
        all &= p->regions[b->members[i]];
    }
    if (b->n == 0) {
        return (il_belief_regions){0};
    }
    return (il_belief_regions){.possible = some, .certain = all};
}

bool il_estimator_drifts(il_estimator *p, uint64_t from, uint64_t to) {
    belief_list l = {.v = p->to};
    const uint32_t start = il_estimator_find(p, from), end = il_estimator_find(p, to);
    bool found = from == to;
    if (start == UINT32_MAX || end == UINT32_MAX) {
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
