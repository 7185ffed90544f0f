/* SPDX-License-Identifier: Apache-2.0 */
#include "check/plant.h"

#include "base/error.h"
#include "base/mem.h"

#define IL_JUMPS_TRIED_MAX 65536u
enum { PLANT_PROGRESS = 4096 };

typedef struct jumps_reads {
    const il_model *m;
    uint64_t vars; /* bit v */
} jumps_reads;

static void jumps_visit(void *ctx, size_t var, size_t field) {
    jumps_reads *r = ctx;
    (void)var; /* a region of states has only `pre` */
    if (field == SIZE_MAX) {
        r->vars |= r->m->nvars < 64 ? (UINT64_C(1) << r->m->nvars) - 1 : UINT64_MAX;
    } else {
        r->vars |= UINT64_C(1) << field;
    }
}

/* The next assignment to the variables; false after the last. */
static bool jumps_next(const il_model *m, uint64_t vars, uint64_t *state) {
    for (uint32_t v = 0; v < m->nvars; v++) {
        if ((vars >> v & 1) == 0) {
            continue;
        }
        uint32_t value = il_model_get(m, *state, v) + 1;
        if (value < m->vars[v].domain.size) {
            *state = il_model_set(m, *state, v, value);
            return true;
        }
        *state = il_model_set(m, *state, v, 0);
    }
    return false;
}

il_status il_jumps_of(const il_model *m, uint32_t region, il_arena *arena, il_jumps *out, il_error *err) {
    jumps_reads r = {.m = m};
    uint64_t tried = 1;
    *out = (il_jumps){0};
    if (m->regions[region].edge || !m->regions[region].predicate) {
        return IL_OK; /* steps cannot be jumped into */
    }
    il_cel_reads(m->regions[region].predicate, jumps_visit, &r);
    uint64_t start = m->initial;
    for (uint32_t v = 0; v < m->nvars; v++) {
        if (r.vars >> v & 1) {
            tried *= tried <= IL_JUMPS_TRIED_MAX ? m->vars[v].domain.size : 1;
            out->mask |= ((UINT64_C(1) << m->vars[v].bits) - 1) << m->vars[v].shift;
            start = il_model_set(m, start, v, 0);
        }
    }
    if (tried > IL_JUMPS_TRIED_MAX) {
        out->too_many = true;
        return IL_OK;
    }
    out->value = IL_NEW_ARRAY(arena, uint64_t, tried);
    if (!out->value) {
        return il_arena_fail(arena, err);
    }
    uint64_t state = start;
    do {
        if (il_model_in_region(m, region, state, 0, 0)) {
            out->value[out->n++] = state & out->mask;
        }
    } while (jumps_next(m, r.vars, &state));
    return IL_OK;
}

uint32_t il_jumps_changes(const il_model *m, uint64_t from, uint64_t to) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        n += il_model_get(m, from, v) != il_model_get(m, to, v);
    }
    return n;
}

uint32_t il_jumps_least(const il_model *m, const il_jumps *j, uint64_t state) {
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < j->n; i++) {
        uint32_t n = il_jumps_changes(m, state, (state & ~j->mask) | j->value[i]);
        least = n < least ? n : least;
    }
    return least;
}

bool il_plant_bounded(const il_plant *p) { return p->states.bound_hit || p->stopped; }
uint64_t il_plant_state(const il_plant *p, uint32_t node) { return il_nodes_key(&p->states, node); }

const il_plant_edge *il_plant_step(const il_plant *p, uint32_t node, uint32_t symbol) {
    size_t lo = p->first[node];
    size_t hi = p->first[node + 1]; /* faults stand last, with the greatest symbol there is */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (p->edges[mid].symbol < symbol) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo < p->first[node + 1] && p->edges[lo].symbol == symbol ? &p->edges[lo] : NULL;
}

static uint64_t plant_regions(il_plant *p, uint64_t state) {
    uint64_t in = 0;
    for (uint32_t r = 0; r < p->m->nregions; r++) {
        const il_region *region = &p->m->regions[r];
        bool states = !region->edge && !region->rejection;
        in |= states && il_steps_in_region(p->steps, r, state, 0, 0) ? UINT64_C(1) << r : 0;
    }
    return in;
}

static il_status plant_add(il_plant *p, uint64_t state, uint32_t parent, uint32_t *at, il_error *err) {
    bool fresh = false;
    return il_nodes_add(&p->states, state, parent, at, &fresh, err);
}

/* Apart from the finding: a row of steps is borrowed until the next question. */
static il_status plant_judge(il_plant *p, il_error *err) {
    while (p->judged < p->states.n) {
        bool within = false;
        void *in = p->in;
        IL_TRY(il_nodes_room(&p->states, &in, p->judged, &p->in_cap, sizeof *p->in, &within, err));
        p->in = in;
        if (!within) {
            return IL_OK;
        }
        p->in[p->judged] = plant_regions(p, il_plant_state(p, p->judged));
        p->judged++;
    }
    return IL_OK;
}

il_status il_plant_add(il_plant *p, uint64_t state, uint32_t *at, il_error *err) {
    IL_TRY(plant_add(p, state, IL_NODES_NONE, at, err));
    return plant_judge(p, err);
}

static il_status plant_edge(il_plant *p, uint32_t from, uint64_t next, uint32_t symbol, uint32_t fault, il_error *err) {
    uint32_t to = IL_NODES_NONE;
    bool within = false;
    void *edges = p->edges;
    IL_TRY(plant_add(p, next, from, &to, err));
    if (to == IL_NODES_NONE) {
        return IL_OK;
    }
    IL_TRY(il_nodes_room(&p->states, &edges, p->nedges, &p->edges_cap, sizeof *p->edges, &within, err));
    p->edges = edges;
    if (within) {
        p->edges[p->nedges++] = (il_plant_edge){to, symbol, fault};
    }
    return IL_OK;
}

static il_status plant_faults(il_plant *p, uint32_t i, uint64_t state, il_error *err) {
    for (uint32_t k = 0; k < p->nsilent; k++) {
        uint64_t next = state;
        if (il_silent_step(p->m, &p->silent[k], state, &next)) {
            IL_TRY(plant_edge(p, i, next, IL_NO_SYMBOL, k, err));
        }
    }
    uint32_t least = p->jumps ? il_jumps_least(p->m, p->jumps, state) : 0;
    for (uint32_t k = 0; least > 0 && k < p->jumps->n; k++) {
        uint64_t next = (state & ~p->jumps->mask) | p->jumps->value[k];
        if (il_jumps_changes(p->m, state, next) == least) {
            IL_TRY(plant_edge(p, i, next, IL_NO_SYMBOL, IL_PLANT_JUMP, err));
        }
    }
    return IL_OK;
}

static il_status plant_first(il_plant *p, uint32_t i, il_error *err) {
    void *first = p->first;
    bool within = false;
    IL_TRY(il_nodes_room(&p->states, &first, i, &p->first_cap, sizeof *p->first, &within, err));
    p->first = first;
    if (within) {
        p->first[i] = p->nedges;
    }
    return IL_OK;
}

il_status il_plant_expand(il_plant *p, bool faults, il_error *err) {
    while (p->expanded < p->states.n && !il_plant_bounded(p)) {
        uint32_t i = p->expanded;
        uint64_t state = il_plant_state(p, i);
        const size_t had = p->nedges;
        il_steps_edges row = il_steps_row(p->steps, NULL, state);
        for (uint32_t k = 0; k < row.n; k++) {
            if (!row.edge[k].fault) {
                IL_TRY(plant_edge(p, i, row.edge[k].next, row.edge[k].symbol, 0, err));
            }
        }
        if (faults) {
            IL_TRY(plant_faults(p, i, state, err));
        }
        IL_TRY(plant_judge(p, err));
        IL_TRY(plant_first(p, i + 1, err));
        p->expanded++;
        p->stopped = !il_space_spend(p->bounds, p->nedges - had + 1);
        if (!p->stopped && p->expanded % PLANT_PROGRESS == 0 && p->bounds && p->bounds->progress) {
            il_space_progress now = {.states = p->states.n, .edges = p->nedges, .frontier = p->states.n - p->expanded};
            p->stopped = !p->bounds->progress(p->bounds->progress_ctx, &now);
        }
    }
    return IL_OK;
}

il_status il_plant_build(il_plant *p, const il_alloc *alloc, const il_model *m, const il_diagnosis *d, const il_jumps *jumps,
                         const il_space_bounds *bounds, il_error *err) {
    uint32_t root = 0;
    *p = (il_plant){.m = m, .jumps = jumps, .bounds = bounds};
    p->silent = d->silent;
    p->nsilent = d->nsilent;
    il_nodes_init(&p->states, alloc, bounds);
    IL_TRY(il_steps_new(alloc, m, &p->steps, err));
    IL_TRY(plant_first(p, 0, err));
    IL_TRY(il_plant_add(p, m->initial, &root, err));
    return il_plant_expand(p, true, err);
}

void il_plant_free(il_plant *p) {
    il_nodes_release(&p->states, p->first, 0, 0);
    il_nodes_release(&p->states, p->edges, 0, 0);
    il_nodes_release(&p->states, p->in, 0, 0);
    il_nodes_free(&p->states);
    il_steps_free(p->steps);
    *p = (il_plant){0};
}
