/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue of wormholes: every edge from a benign state that one of the kinds makes. */
#include "check/wormhole_part.h"

#define IL_WORMHOLE_TICKS 64u

static uint64_t worm_mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

static bool worm_same(const il_worm_orbit *a, const il_worm_orbit *b) {
    return a->kind == b->kind && a->region == b->region && a->a == b->a && a->b == b->b && a->reason == b->reason &&
           a->changed == b->changed && a->values == b->values;
}

/* The number of an orbit, which is added when it is new; UINT32_MAX beyond a bound. */
static il_status worm_orbit_of(il_worm_run *r, const il_worm_orbit *o, uint32_t *at, il_error *err) {
    uint64_t key = worm_mix(worm_mix(worm_mix(worm_mix(worm_mix(o->kind, o->region), o->a), o->b), o->reason), o->changed);
    key = worm_mix(key, o->values);
    for (;; key++) {
        bool fresh = false;
        IL_TRY(il_nodes_add(&r->keys, key, IL_NODES_NONE, at, &fresh, err));
        if (*at != IL_NODES_NONE && !fresh && *at >= r->orbits_cap) {
            *at = IL_NODES_NONE; /* its key was added, and then there was no room for it */
        }
        if (*at == IL_NODES_NONE || (!fresh && worm_same(&r->orbits[*at], o))) {
            return IL_OK;
        }
        if (fresh) {
            bool within = false;
            void *orbits = r->orbits;
            IL_TRY(il_nodes_room(&r->keys, &orbits, *at, &r->orbits_cap, sizeof *r->orbits, &within, err));
            r->orbits = orbits;
            if (!within) {
                *at = IL_NODES_NONE;
                return IL_OK;
            }
            r->orbits[*at] = *o;
            return IL_OK;
        }
    }
}

/* The bits of the variables in which two states differ. */
static uint64_t worm_changed(const il_model *m, uint64_t from, uint64_t to) {
    uint64_t mask = 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        if (il_model_get(m, from, v) != il_model_get(m, to, v)) {
            mask |= ((UINT64_C(1) << m->vars[v].bits) - 1) << m->vars[v].shift;
        }
    }
    return mask;
}

static uint32_t worm_action(const il_worm_run *r, uint32_t symbol) {
    return symbol == IL_NO_SYMBOL ? UINT32_MAX : r->m->symbol_action[symbol];
}

bool il_worm_bounded(const il_worm_run *r) { return r->keys.bound_hit || r->stopped || il_plant_bounded(&r->p); }

/* A limit of time or work ends the making of the catalogue, and the judging, too. */
bool il_worm_goes_on(il_worm_run *r) {
    r->stopped = r->stopped || !il_space_spend(r->bounds, r->m->nsymbols);
    if (r->bounds && r->bounds->progress && !r->stopped && ++r->ticks % IL_WORMHOLE_TICKS == 0) {
        il_space_progress now = {.states = r->p.states.n, .edges = r->nedges};
        r->stopped = !r->bounds->progress(r->bounds->progress_ctx, &now);
    }
    return !il_worm_bounded(r);
}

static il_status worm_add(il_worm_run *r, il_worm_orbit o, il_worm_edge e, uint64_t to, il_error *err) {
    bool within = false;
    void *edges = r->edges;
    o.a = worm_action(r, e.symbol);
    o.b = worm_action(r, e.effect);
    o.reason = e.reason;
    IL_TRY(worm_orbit_of(r, &o, &e.orbit, err));
    if (e.orbit == IL_NODES_NONE) {
        return IL_OK;
    }
    IL_TRY(il_plant_add(&r->p, to, &e.to, err));
    if (e.to == IL_NODES_NONE) {
        return IL_OK;
    }
    IL_TRY(il_nodes_room(&r->keys, &edges, r->nedges, &r->edges_cap, sizeof *r->edges, &within, err));
    r->edges = edges;
    if (within) {
        r->edges[r->nedges++] = e;
    }
    return IL_OK;
}

/* W1 and W2: the least changes from `meant` that are in the region. */
static il_status worm_jump(il_worm_run *r, uint32_t region, const il_jumps *j, il_worm_edge e, il_error *err) {
    uint64_t base = il_plant_state(&r->p, e.meant);
    uint32_t least = il_jumps_least(r->m, j, base);
    for (uint32_t i = 0; least > 0 && i < j->n; i++) {
        uint64_t to = (base & ~j->mask) | j->value[i];
        if (il_jumps_changes(r->m, base, to) != least) {
            continue;
        }
        il_worm_orbit o = {.kind = e.symbol == IL_NO_SYMBOL ? IL_W1_JUMP : IL_W2_PIGGY_BACK,
                           .region = region,
                           .changed = worm_changed(r->m, base, to)};
        o.values = to & o.changed;
        IL_TRY(worm_add(r, o, e, to, err));
    }
    return IL_OK;
}

static il_status worm_jumps(il_worm_run *r, uint32_t region, il_error *err) {
    il_jumps j;
    IL_TRY(il_jumps_of(r->m, region, r->arena, &j, err));
    r->w->bound_hit = r->w->bound_hit || j.too_many;
    for (uint32_t b = 0; b < r->benign && il_worm_goes_on(r); b++) {
        if (r->p.in[b] >> region & 1) {
            continue;
        }
        il_worm_edge e = {.from = b, .meant = b, .symbol = IL_NO_SYMBOL, .effect = IL_NO_SYMBOL};
        IL_TRY(worm_jump(r, region, &j, e, err));
        for (size_t k = r->p.first[b]; k < r->p.first[b + 1]; k++) {
            const il_plant_edge *step = &r->p.edges[k];
            if ((r->p.in[step->to] >> region & 1) == 0) {
                e.meant = step->to;
                e.symbol = e.effect = step->symbol;
                IL_TRY(worm_jump(r, region, &j, e, err));
            }
        }
    }
    return IL_OK;
}

static uint64_t worm_regions(il_worm_run *r, uint64_t state) {
    uint64_t in = 0;
    for (uint64_t left = r->ask->regions; left != 0; left &= left - 1) {
        uint32_t region = (uint32_t)__builtin_ctzll(left);
        in |= il_steps_in_region(r->p.steps, region, state, 0, 0) ? UINT64_C(1) << region : 0;
    }
    return in;
}

/* Whether the one that is being added does what one from `first` on does. */
static bool worm_repeats(const il_worm_run *r, size_t first) {
    const il_worm_forced *f = &r->forced[r->nforced];
    for (size_t i = first; i < r->nforced; i++) {
        const il_worm_forced *g = &r->forced[i];
        if (g->next == f->next && g->reason == f->reason && worm_action(r, g->symbol) == worm_action(r, f->symbol)) {
            return true;
        }
    }
    return false;
}

/* What every rejected step would have done, where that is in a region. */
static il_status worm_force(il_worm_run *r, il_error *err) {
    size_t cap = 0;
    for (uint32_t b = 0; b < r->benign && il_worm_goes_on(r); b++) {
        bool within = false;
        void *first = r->forced_first;
        IL_TRY(il_nodes_room(&r->keys, &first, b, &cap, sizeof *r->forced_first, &within, err));
        r->forced_first = first;
        if (!within) {
            return IL_OK;
        }
        r->forced_first[b] = r->nforced;
        uint64_t state = il_plant_state(&r->p, b);
        for (uint32_t symbol = 0; symbol < r->m->nsymbols && within; symbol++) {
            if (il_plant_step(&r->p, b, symbol)) {
                continue;
            }
            il_eval e = il_model_eval(r->m, NULL, state, symbol);
            uint64_t regions = e.step.verdict == IL_REJECT && e.next != state && il_model_valid(r->m, e.next)
                                   ? worm_regions(r, e.next) & ~r->p.in[b]
                                   : 0;
            if (regions == 0) {
                continue;
            }
            void *forced = r->forced;
            IL_TRY(il_nodes_room(&r->keys, &forced, r->nforced, &r->forced_cap, sizeof *r->forced, &within, err));
            r->forced = forced;
            if (within) {
                r->forced[r->nforced] = (il_worm_forced){e.next, regions, symbol, e.step.reason, false};
                r->forced[r->nforced].repeats = worm_repeats(r, r->forced_first[b]);
                r->nforced++;
            }
        }
    }
    if (!il_worm_bounded(r)) {
        bool within = false;
        void *first = r->forced_first;
        IL_TRY(il_nodes_room(&r->keys, &first, r->benign, &cap, sizeof *r->forced_first, &within, err));
        r->forced_first = first;
        if (within) {
            r->forced_first[r->benign] = r->nforced;
        }
    }
    return IL_OK;
}

static il_status worm_forced_at(il_worm_run *r, il_wormhole_kind kind, il_worm_edge e, const il_worm_forced *f, il_error *err) {
    e.effect = f->symbol;
    e.reason = f->reason;
    for (uint64_t left = f->regions; left != 0; left &= left - 1) {
        IL_TRY(worm_add(r, (il_worm_orbit){.kind = kind, .region = (uint32_t)__builtin_ctzll(left)}, e, f->next, err));
    }
    return IL_OK;
}

/* W3, W5 and W6. */
static il_status worm_rejected(il_worm_run *r, il_error *err) {
    IL_TRY(worm_force(r, err));
    for (uint32_t b = 0; b < r->benign && il_worm_goes_on(r); b++) {
        for (size_t k = r->forced_first[b]; k < r->forced_first[b + 1]; k++) {
            il_worm_edge e = {.from = b, .meant = b, .symbol = r->forced[k].symbol, .rejected = true};
            IL_TRY(worm_forced_at(r, IL_W3_GATE_SKIP, e, &r->forced[k], err));
            for (size_t s = r->p.first[b]; !r->forced[k].repeats && s < r->p.first[b + 1]; s++) {
                il_worm_edge mis = {.from = b, .meant = r->p.edges[s].to, .symbol = r->p.edges[s].symbol};
                IL_TRY(worm_forced_at(r, IL_W5_MISLABEL, mis, &r->forced[k], err));
            }
        }
        for (size_t s = r->p.first[b]; s < r->p.first[b + 1]; s++) {
            uint32_t c = r->p.edges[s].to;
            for (size_t k = r->forced_first[c]; k < r->forced_first[c + 1]; k++) {
                if (il_plant_step(&r->p, b, r->forced[k].symbol)) { /* accepted, had the first not been there */
                    il_worm_edge e = {.from = c, .meant = c, .symbol = r->forced[k].symbol};
                    IL_TRY(worm_forced_at(r, IL_W6_LOST_UPDATE, e, &r->forced[k], err));
                }
            }
        }
    }
    return IL_OK;
}

/* Regions that one accepted step enters from a state outside of them. */
static il_status worm_hop(il_worm_run *r, uint64_t state, uint64_t *regions, il_error *err) {
    uint32_t at = 0;
    bool fresh = false, within = false;
    IL_TRY(il_nodes_add(&r->hops, state, IL_NODES_NONE, &at, &fresh, err));
    *regions = 0;
    if (at == IL_NODES_NONE || (!fresh && at >= r->hops_cap)) { /* or there was no room for what is known of it */
        r->w->bound_hit = true;
        return IL_OK;
    }
    if (fresh) {
        void *all = r->hop_regions;
        IL_TRY(il_nodes_room(&r->hops, &all, at, &r->hops_cap, sizeof *r->hop_regions, &within, err));
        r->hop_regions = all;
        if (!within) {
            r->w->bound_hit = true;
            return IL_OK;
        }
        uint64_t entered = 0;
        for (uint32_t symbol = 0; symbol < r->m->nsymbols; symbol++) {
            il_step step = il_steps_one(r->p.steps, NULL, state, symbol);
            entered |= step.verdict == IL_ACCEPT && step.next != state ? worm_regions(r, step.next) : 0;
        }
        r->hop_regions[at] = entered & ~worm_regions(r, state);
    }
    *regions = r->hop_regions[at];
    return IL_OK;
}

/* W4. */
static il_status worm_hops(il_worm_run *r, il_error *err) {
    for (uint32_t b = 0; b < r->benign && il_worm_goes_on(r) && !r->w->bound_hit; b++) {
        uint64_t state = il_plant_state(&r->p, b);
        for (uint32_t v = 0; v < r->m->nvars; v++) {
            for (uint32_t x = 0; !r->m->vars[v].ghost && x < r->m->vars[v].domain.size; x++) {
                uint64_t next = il_model_set(r->m, state, v, x);
                uint64_t regions = 0;
                uint32_t known = il_nodes_find(&r->p.states, next);
                if (next == state || known < r->benign) { /* from there the machine's own guards hold */
                    continue;
                }
                IL_TRY(worm_hop(r, next, &regions, err));
                for (uint64_t left = regions & ~r->p.in[b]; left != 0; left &= left - 1) {
                    il_worm_edge e = {.from = b, .meant = b, .symbol = IL_NO_SYMBOL, .effect = IL_NO_SYMBOL};
                    il_worm_orbit o = {.kind = IL_W4_TWO_HOPS,
                                       .region = (uint32_t)__builtin_ctzll(left),
                                       .changed = worm_changed(r->m, state, next)};
                    o.values = next & o.changed;
                    IL_TRY(worm_add(r, o, e, next, err));
                }
            }
        }
    }
    return IL_OK;
}

il_status il_worm_catalogue(il_worm_run *r, il_error *err) {
    for (uint64_t left = r->ask->regions; left != 0; left &= left - 1) {
        IL_TRY(worm_jumps(r, (uint32_t)__builtin_ctzll(left), err));
    }
    IL_TRY(worm_rejected(r, err));
    IL_TRY(worm_hops(r, err));
    return il_plant_expand(&r->p, false, err);
}
