/* SPDX-License-Identifier: Apache-2.0 */
#include "check/wormhole.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sha256.h"

#define IL_WORMHOLE_ORBITS 65536u
#define IL_WORMHOLE_TICKS 64u
#define IL_WORMHOLE_LOCKED 65536u /* pairs that are compared before a mutant counts as detectable */

/* What makes an edge the same wormhole as another. */
typedef struct worm_orbit {
    uint32_t kind, region;
    uint32_t a, b;            /* actions: what is announced, what is done; UINT32_MAX for none */
    uint32_t reason;          /* that is passed over */
    uint64_t changed, values; /* bits that it writes, and what it writes there */
} worm_orbit;

typedef struct worm_edge {
    uint32_t mutant, orbit;
    uint32_t from, to; /* states of the plant */
    uint32_t meant;    /* where the announced step would have led */
    uint32_t symbol, effect;
    uint8_t reason;
    bool rejected;
    uint64_t view, seen; /* before and after */
} worm_edge;

/* A step that the machine rejects although its updates have a meaning; they lead into `regions`. */
typedef struct worm_forced {
    uint64_t next, regions;
    uint32_t symbol;
    uint8_t reason;
    bool repeats; /* another of the action, rejected for the same reason, does the same from there */
} worm_forced;

typedef struct worm_run {
    il_wormholes *w;
    const il_alloc *alloc;
    il_arena *arena;
    const il_model *m;
    const il_wormhole_ask *ask;
    const il_space_bounds *bounds;
    il_plant p;
    uint32_t ticks;
    bool stopped;
    uint32_t benign; /* states of the plant below this number are those of the machine without faults */
    il_nodes keys;   /* of the orbits */
    worm_orbit *orbits;
    size_t orbits_cap;
    worm_edge *edges; /* sorted by mutant in the end */
    size_t nedges, edges_cap;
    size_t *forced_first; /* benign + 1 entries */
    worm_forced *forced;
    size_t nforced, forced_cap;
    il_nodes hops; /* states one silent write away */
    uint64_t *hop_regions;
    size_t hops_cap;
    /* For one eye: pairs without faults, by x. */
    il_nodes pairs;
    uint32_t *pair_first, *pair_y;
    uint64_t *view;
    il_twin_root *roots;
    size_t nroots, roots_cap;
} worm_run;

const char *il_wormhole_id(il_wormhole_kind kind) {
    switch (kind) {
    case IL_W1_JUMP:
        return "W1";
    case IL_W2_PIGGY_BACK:
        return "W2";
    case IL_W3_GATE_SKIP:
        return "W3";
    case IL_W4_TWO_HOPS:
        return "W4";
    case IL_W5_MISLABEL:
        return "W5";
    case IL_W6_LOST_UPDATE:
        return "W6";
    }
    return "";
}

static uint64_t worm_mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

static bool worm_same(const worm_orbit *a, const worm_orbit *b) {
    return a->kind == b->kind && a->region == b->region && a->a == b->a && a->b == b->b && a->reason == b->reason &&
           a->changed == b->changed && a->values == b->values;
}

/* The number of an orbit, which is added when it is new; UINT32_MAX beyond a bound. */
static il_status worm_orbit_of(worm_run *r, const worm_orbit *o, uint32_t *at, il_error *err) {
    uint64_t key = worm_mix(worm_mix(worm_mix(worm_mix(worm_mix(o->kind, o->region), o->a), o->b), o->reason), o->changed);
    key = worm_mix(key, o->values);
    for (;; key++) {
        bool fresh = false;
        IL_TRY(il_nodes_add(&r->keys, key, IL_NODES_NONE, at, &fresh, err));
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

static uint32_t worm_action(const worm_run *r, uint32_t symbol) {
    return symbol == IL_NO_SYMBOL ? UINT32_MAX : r->m->symbol_action[symbol];
}

static bool worm_bounded(const worm_run *r) { return r->keys.bound_hit || r->stopped || il_plant_bounded(&r->p); }

/* A time limit ends the making of the catalogue, and the judging, too. */
static bool worm_goes_on(worm_run *r) {
    if (r->bounds && r->bounds->progress && !r->stopped && ++r->ticks % IL_WORMHOLE_TICKS == 0) {
        il_space_progress now = {.states = r->p.states.n, .edges = r->nedges};
        r->stopped = !r->bounds->progress(r->bounds->progress_ctx, &now);
    }
    return !worm_bounded(r);
}

static il_status worm_add(worm_run *r, worm_orbit o, worm_edge e, uint64_t to, il_error *err) {
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
static il_status worm_jump(worm_run *r, uint32_t region, const il_jumps *j, worm_edge e, il_error *err) {
    uint64_t base = il_plant_state(&r->p, e.meant);
    uint32_t least = il_jumps_least(r->m, j, base);
    for (uint32_t i = 0; least > 0 && i < j->n; i++) {
        uint64_t to = (base & ~j->mask) | j->value[i];
        if (il_jumps_changes(r->m, base, to) != least) {
            continue;
        }
        worm_orbit o = {.kind = e.symbol == IL_NO_SYMBOL ? IL_W1_JUMP : IL_W2_PIGGY_BACK,
                        .region = region,
                        .changed = worm_changed(r->m, base, to)};
        o.values = to & o.changed;
        IL_TRY(worm_add(r, o, e, to, err));
    }
    return IL_OK;
}

static il_status worm_jumps(worm_run *r, uint32_t region, il_error *err) {
    il_jumps j;
    IL_TRY(il_jumps_of(r->m, region, r->arena, &j, err));
    r->w->bound_hit = r->w->bound_hit || j.too_many;
    for (uint32_t b = 0; b < r->benign && worm_goes_on(r); b++) {
        if (r->p.in[b] >> region & 1) {
            continue;
        }
        worm_edge e = {.from = b, .meant = b, .symbol = IL_NO_SYMBOL, .effect = IL_NO_SYMBOL};
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

static uint64_t worm_regions(worm_run *r, uint64_t state) {
    uint64_t in = 0;
    for (uint64_t left = r->ask->regions; left != 0; left &= left - 1) {
        uint32_t region = (uint32_t)__builtin_ctzll(left);
        in |= il_steps_in_region(r->p.steps, region, state, 0, 0) ? UINT64_C(1) << region : 0;
    }
    return in;
}

/* Whether the one that is being added does what one from `first` on does. */
static bool worm_repeats(const worm_run *r, size_t first) {
    const worm_forced *f = &r->forced[r->nforced];
    for (size_t i = first; i < r->nforced; i++) {
        const worm_forced *g = &r->forced[i];
        if (g->next == f->next && g->reason == f->reason && worm_action(r, g->symbol) == worm_action(r, f->symbol)) {
            return true;
        }
    }
    return false;
}

/* What every rejected step would have done, where that is in a region. */
static il_status worm_force(worm_run *r, il_error *err) {
    size_t cap = 0;
    for (uint32_t b = 0; b < r->benign && worm_goes_on(r); b++) {
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
                r->forced[r->nforced] = (worm_forced){e.next, regions, symbol, e.step.reason, false};
                r->forced[r->nforced].repeats = worm_repeats(r, r->forced_first[b]);
                r->nforced++;
            }
        }
    }
    if (!worm_bounded(r)) {
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

static il_status worm_forced_at(worm_run *r, il_wormhole_kind kind, worm_edge e, const worm_forced *f, il_error *err) {
    e.effect = f->symbol;
    e.reason = f->reason;
    for (uint64_t left = f->regions; left != 0; left &= left - 1) {
        IL_TRY(worm_add(r, (worm_orbit){.kind = kind, .region = (uint32_t)__builtin_ctzll(left)}, e, f->next, err));
    }
    return IL_OK;
}

/* W3, W5 and W6. */
static il_status worm_rejected(worm_run *r, il_error *err) {
    IL_TRY(worm_force(r, err));
    for (uint32_t b = 0; b < r->benign && worm_goes_on(r); b++) {
        for (size_t k = r->forced_first[b]; k < r->forced_first[b + 1]; k++) {
            worm_edge e = {.from = b, .meant = b, .symbol = r->forced[k].symbol, .rejected = true};
            IL_TRY(worm_forced_at(r, IL_W3_GATE_SKIP, e, &r->forced[k], err));
            for (size_t s = r->p.first[b]; !r->forced[k].repeats && s < r->p.first[b + 1]; s++) {
                worm_edge mis = {.from = b, .meant = r->p.edges[s].to, .symbol = r->p.edges[s].symbol};
                IL_TRY(worm_forced_at(r, IL_W5_MISLABEL, mis, &r->forced[k], err));
            }
        }
        for (size_t s = r->p.first[b]; s < r->p.first[b + 1]; s++) {
            uint32_t c = r->p.edges[s].to;
            for (size_t k = r->forced_first[c]; k < r->forced_first[c + 1]; k++) {
                if (il_plant_step(&r->p, b, r->forced[k].symbol)) { /* accepted, had the first not been there */
                    worm_edge e = {.from = c, .meant = c, .symbol = r->forced[k].symbol};
                    IL_TRY(worm_forced_at(r, IL_W6_LOST_UPDATE, e, &r->forced[k], err));
                }
            }
        }
    }
    return IL_OK;
}

/* Regions that one accepted step enters from a state outside of them. */
static il_status worm_hop(worm_run *r, uint64_t state, uint64_t *regions, il_error *err) {
    uint32_t at = 0;
    bool fresh = false, within = false;
    IL_TRY(il_nodes_add(&r->hops, state, IL_NODES_NONE, &at, &fresh, err));
    *regions = 0;
    if (at == IL_NODES_NONE) {
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
static il_status worm_hops(worm_run *r, il_error *err) {
    for (uint32_t b = 0; b < r->benign && worm_goes_on(r) && !r->w->bound_hit; b++) {
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
                    worm_edge e = {.from = b, .meant = b, .symbol = IL_NO_SYMBOL, .effect = IL_NO_SYMBOL};
                    worm_orbit o = {.kind = IL_W4_TWO_HOPS,
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

/* Pairs without faults that look the same to the eye, by x; and what is seen of all states. */
static il_status worm_look(worm_run *r, const il_eye *eye, uint32_t region, il_error *err) {
    il_twin_ask ask = {.region = region, .eye = *eye};
    IL_TRY(il_eye_views(&r->p, eye, r->alloc, &r->view, err));
    IL_TRY(il_twin_pairs(&r->p, &ask, r->bounds, &r->pairs, err));
    uint32_t n = r->pairs.n;
    r->pair_first = r->alloc->alloc(r->alloc->ctx, ((size_t)r->p.states.n + 2) * sizeof *r->pair_first);
    r->pair_y = r->alloc->alloc(r->alloc->ctx, (size_t)n * sizeof *r->pair_y + 1);
    if (!r->pair_first || !r->pair_y) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the pairs without faults");
    }
    memset(r->pair_first, 0, ((size_t)r->p.states.n + 2) * sizeof *r->pair_first);
    for (uint32_t i = 0; i < n; i++) {
        r->pair_first[(r->pairs.keys[i] >> 32) + 2]++;
    }
    for (uint32_t x = 0; x < r->p.states.n; x++) {
        r->pair_first[x + 2] += r->pair_first[x + 1];
    }
    for (uint32_t i = 0; i < n; i++) { /* fills up [x + 1], which ends as the start of x + 1 */
        r->pair_y[r->pair_first[(r->pairs.keys[i] >> 32) + 1]++] = (uint32_t)r->pairs.keys[i];
    }
    return IL_OK;
}

static void worm_look_away(worm_run *r) {
    r->alloc->free(r->alloc->ctx, r->view);
    r->alloc->free(r->alloc->ctx, r->pair_first);
    r->alloc->free(r->alloc->ctx, r->pair_y);
    r->view = NULL;
    r->pair_first = r->pair_y = NULL;
    il_nodes_free(&r->pairs);
}

static il_status worm_root(worm_run *r, uint32_t x, uint32_t y, il_error *err) {
    if (r->nroots == r->roots_cap) {
        size_t cap = r->roots_cap ? r->roots_cap * 2 : 256;
        il_twin_root *roots = r->alloc->alloc(r->alloc->ctx, cap * sizeof *roots);
        if (!roots) {
            return il_error_set(err, IL_E_MEMORY, "no memory for the pairs of a wormhole");
        }
        if (r->nroots > 0) {
            memcpy(roots, r->roots, r->nroots * sizeof *roots);
        }
        r->alloc->free(r->alloc->ctx, r->roots);
        r->roots = roots;
        r->roots_cap = cap;
    }
    r->roots[r->nroots++] = (il_twin_root){x, y};
    return IL_OK;
}

/* What y can do that looks like the wormhole. */
static il_status worm_follow(worm_run *r, const il_eye *eye, const worm_edge *e, uint32_t y, il_error *err) {
    uint64_t seen = r->view[e->to];
    if (il_eye_hides(&r->p, eye, e->symbol)) {
        if (seen == r->view[y]) {
            return worm_root(r, e->to, y, err);
        }
        for (size_t k = r->p.first[y]; k < r->p.first[y + 1]; k++) {
            const il_plant_edge *g = &r->p.edges[k];
            if (il_eye_hides(&r->p, eye, g->symbol) && r->view[g->to] == seen) {
                IL_TRY(worm_root(r, e->to, g->to, err));
            }
        }
        return IL_OK;
    }
    const il_plant_edge *g = il_plant_step(&r->p, y, e->symbol);
    if (g && (!e->rejected || !eye->verdicts) && r->view[g->to] == seen) {
        IL_TRY(worm_root(r, e->to, g->to, err));
    }
    if (!g && (e->rejected || !eye->verdicts) && r->view[y] == seen) {
        bool same = !eye->verdicts || il_steps_one(r->p.steps, NULL, il_plant_state(&r->p, y), e->symbol).reason == e->reason;
        return same ? worm_root(r, e->to, y, err) : IL_OK;
    }
    return IL_OK;
}

static il_status worm_twin(worm_run *r, const il_eye *eye, uint32_t region, const worm_edge *edges, size_t n, il_twin *out,
                           il_error *err) {
    r->nroots = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t b = edges[i].from;
        for (uint32_t k = r->pair_first[b]; k < r->pair_first[b + 1]; k++) {
            IL_TRY(worm_follow(r, eye, &edges[i], r->pair_y[k], err));
        }
    }
    *out = (il_twin){.word = r->pairs.bound_hit ? IL_TWIN_BOUNDED : IL_TWIN_DIAGNOSABLE};
    if (r->nroots == 0 || r->pairs.bound_hit) {
        return IL_OK; /* seen at once */
    }
    il_twin_ask ask = {.region = region, .eye = *eye, .brief = true, .roots = r->roots, .nroots = r->nroots};
    return il_twin_run(&r->p, &ask, r->bounds, r->arena, out, err);
}

static bool worm_good(const worm_run *r, uint32_t region, const il_twin *t) {
    uint32_t within = r->ask->within[region];
    return t->word == IL_TWIN_DIAGNOSABLE && (within == 0 || t->k <= within);
}

/* The same calls to the two states, for ever: is anything ever seen to differ? */
static il_status worm_locked(worm_run *r, il_nodes *pairs, bool *same, il_error *err) {
    const il_eye *eye = &r->ask->eye;
    uint32_t at = 0;
    bool fresh = false;
    for (uint32_t i = 0; *same && i < pairs->n; i++) {
        uint32_t x = (uint32_t)(pairs->keys[i] >> 32), y = (uint32_t)pairs->keys[i];
        *same = r->view[x] == r->view[y];
        for (uint32_t symbol = 0; *same && symbol < r->m->nsymbols; symbol++) {
            const il_plant_edge *e = il_plant_step(&r->p, x, symbol);
            const il_plant_edge *g = il_plant_step(&r->p, y, symbol);
            bool told = eye->verdicts && !il_eye_hides(&r->p, eye, symbol);
            if (told && (!e != !g || (!e && il_steps_one(r->p.steps, NULL, il_plant_state(&r->p, x), symbol).reason !=
                                                il_steps_one(r->p.steps, NULL, il_plant_state(&r->p, y), symbol).reason))) {
                *same = false;
                return IL_OK;
            }
            if (e || g) {
                IL_TRY(il_nodes_add(pairs, (uint64_t)(e ? e->to : x) << 32 | (g ? g->to : y), i, &at, &fresh, err));
            }
        }
    }
    *same = *same && !pairs->bound_hit;
    return IL_OK;
}

static il_status worm_undetectable(worm_run *r, const worm_edge *edges, size_t n, bool *out, il_error *err) {
    il_space_bounds bounds = {.states = IL_WORMHOLE_LOCKED};
    il_nodes pairs;
    uint32_t at = 0;
    bool fresh = false;
    il_nodes_init(&pairs, r->alloc, &bounds);
    *out = true;
    il_status status = IL_OK;
    for (size_t i = 0; status == IL_OK && i < n; i++) {
        bool contradicts = r->orbits[edges[i].orbit].kind == IL_W6_LOST_UPDATE && r->ask->eye.verdicts;
        *out = *out && !(contradicts && !il_eye_hides(&r->p, &r->ask->eye, edges[i].symbol));
        status = il_nodes_add(&pairs, (uint64_t)edges[i].to << 32 | edges[i].meant, IL_NODES_NONE, &at, &fresh, err);
    }
    if (status == IL_OK && *out) {
        status = worm_locked(r, &pairs, out, err);
    }
    il_nodes_free(&pairs);
    return status;
}

/* By orbit and then by what is seen. */
static int worm_by_sight(const void *pa, const void *pb) {
    const worm_edge *a = pa, *b = pb;
    const uint64_t left[5] = {a->orbit, a->symbol, a->rejected ? 1u + a->reason : 0u, a->view, a->seen};
    const uint64_t right[5] = {b->orbit, b->symbol, b->rejected ? 1u + b->reason : 0u, b->view, b->seen};
    for (size_t i = 0; i < 5; i++) {
        if (left[i] != right[i]) {
            return left[i] < right[i] ? -1 : 1;
        }
    }
    return 0;
}

static int worm_by_mutant(const void *pa, const void *pb) {
    const worm_edge *a = pa, *b = pb;
    const uint64_t left[6] = {a->mutant, a->orbit, a->from, a->to, a->symbol, a->effect};
    const uint64_t right[6] = {b->mutant, b->orbit, b->from, b->to, b->symbol, b->effect};
    for (size_t i = 0; i < 6; i++) {
        if (left[i] != right[i]) {
            return left[i] < right[i] ? -1 : 1;
        }
    }
    return 0;
}

/* What the edges of an orbit show: kind, region and the set of their observations. */
static void worm_sight(const worm_run *r, const worm_edge *e, size_t n, uint8_t digest[IL_DIGEST_BYTES]) {
    il_sha256 h;
    il_sha256_init(&h, NULL);
    const uint64_t head[2] = {r->orbits[e->orbit].kind, r->orbits[e->orbit].region};
    il_sha256_add(&h, head, sizeof head);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || worm_by_sight(&e[i - 1], &e[i]) != 0) {
            const uint64_t seen[4] = {e[i].symbol, e[i].rejected ? 1u + e[i].reason : 0u, e[i].view, e[i].seen};
            il_sha256_add(&h, seen, sizeof seen);
        }
    }
    il_sha256_end(&h, digest);
}

/* Makes orbits that show the same one mutant, numbered in the order of discovery. */
static il_status worm_merge(worm_run *r, il_nodes *sights, il_error *err) {
    uint8_t *digests = r->alloc->alloc(r->alloc->ctx, (size_t)r->keys.n * IL_DIGEST_BYTES + 1);
    if (!digests) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the wormholes");
    }
    il_status status = IL_OK;
    for (size_t from = 0, to = 0; status == IL_OK && from < r->nedges; from = to) {
        uint8_t digest[IL_DIGEST_BYTES];
        uint64_t key = 0;
        for (to = from; to < r->nedges && r->edges[to].orbit == r->edges[from].orbit; to++) {
        }
        worm_sight(r, &r->edges[from], to - from, digest);
        memcpy(&key, digest, sizeof key);
        uint32_t at = 0;
        bool fresh = false;
        do {
            status = il_nodes_add(sights, key++, IL_NODES_NONE, &at, &fresh, err);
        } while (status == IL_OK && !fresh && memcmp(&digests[(size_t)at * IL_DIGEST_BYTES], digest, IL_DIGEST_BYTES) != 0);
        if (status == IL_OK && fresh) {
            memcpy(&digests[(size_t)at * IL_DIGEST_BYTES], digest, IL_DIGEST_BYTES);
        }
        for (size_t i = from; i < to; i++) {
            r->edges[i].mutant = at;
        }
    }
    r->alloc->free(r->alloc->ctx, digests);
    return status;
}

/* The edges in the order of their mutants. */
static il_status worm_mutants(worm_run *r, il_error *err) {
    for (size_t i = 0; i < r->nedges; i++) {
        worm_edge *e = &r->edges[i];
        e->view = r->view[e->from];
        e->seen = r->view[e->to];
        if (il_eye_hides(&r->p, &r->ask->eye, e->symbol)) {
            e->symbol = IL_NO_SYMBOL;
            e->rejected = false;
        }
    }
    if (r->nedges == 0) {
        return IL_OK;
    }
    qsort(r->edges, r->nedges, sizeof *r->edges, worm_by_sight);
    il_nodes sights;
    il_nodes_init(&sights, r->alloc, NULL);
    il_status status = worm_merge(r, &sights, err);
    r->w->distinct = sights.n;
    r->w->orbits = r->keys.n;
    il_nodes_free(&sights);
    qsort(r->edges, r->nedges, sizeof *r->edges, worm_by_mutant);
    return status;
}

/* splitmix64 */
static uint64_t worm_random(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static int worm_by_id(const void *pa, const void *pb) {
    const il_wormhole *a = pa, *b = pb;
    return a->kind != b->kind ? (a->kind > b->kind) - (a->kind < b->kind) : (a->number > b->number) - (a->number < b->number);
}

/* Which mutants are run: each with the same chance, in their order. Takes `most` of those that are left, one by one. */
static il_status worm_draw(worm_run *r, il_error *err) {
    il_wormholes *w = r->w;
    uint64_t random = r->ask->seed;
    uint32_t want = w->distinct < r->ask->most ? w->distinct : r->ask->most;
    w->dropped = w->distinct - want;
    w->list = IL_NEW_ARRAY(r->arena, il_wormhole, want);
    if (!w->list) {
        return il_arena_fail(r->arena, err);
    }
    uint32_t kinds[IL_WORMHOLE_KINDS] = {0};
    uint32_t mutant = 0;
    for (size_t from = 0, to = 0; from < r->nedges; from = to, mutant++) {
        for (to = from; to < r->nedges && r->edges[to].mutant == mutant; to++) {
        }
        const worm_edge *e = &r->edges[from];
        const worm_orbit *o = &r->orbits[e->orbit];
        uint32_t number = ++kinds[o->kind];
        uint32_t left = w->distinct - mutant;
        if (w->n == want || worm_random(&random) % left >= want - w->n) {
            continue;
        }
        il_wormhole *h = &w->list[w->n++];
        *h = (il_wormhole){.kind = (il_wormhole_kind)o->kind,
                           .number = number,
                           .region = o->region,
                           .from = il_plant_state(&r->p, e->from),
                           .to = il_plant_state(&r->p, e->to),
                           .symbol = e->symbol,
                           .effect = e->effect,
                           .rejected = e->rejected,
                           .first = from,
                           .edges = (uint32_t)(to - from)};
        for (size_t i = from; i < to; i++) {
            h->orbits += i == from || r->edges[i].orbit != r->edges[i - 1].orbit;
        }
    }
    if (w->n > 0) {
        qsort(w->list, w->n, sizeof *w->list, worm_by_id);
    }
    return IL_OK;
}

static il_status worm_judge(worm_run *r, il_wormhole *h, il_error *err) {
    il_twin t;
    const worm_edge *edges = &r->edges[h->first];
    IL_TRY(worm_twin(r, &r->ask->eye, h->region, edges, h->edges, &t, err));
    h->diagnosed = worm_good(r, h->region, &t);
    h->bounded = t.word == IL_TWIN_BOUNDED;
    h->late = t.word == IL_TWIN_DIAGNOSABLE && !h->diagnosed;
    h->k = t.k;
    h->x = t.x;
    h->y = t.y;
    if (t.word == IL_TWIN_BLIND) {
        IL_TRY(worm_undetectable(r, edges, h->edges, &h->undetectable, err));
    }
    r->w->diagnosed += h->diagnosed;
    r->w->bounded += h->bounded;
    r->w->undetectable += h->undetectable;
    return IL_OK;
}

/* One region at a time: whose runs without faults are those that stay out of it. */
static il_status worm_region(worm_run *r, uint32_t region, const il_eye *eye, const il_candidate *more, il_error *err) {
    bool any = false;
    for (uint32_t i = 0; i < r->w->n; i++) {
        const il_wormhole *h = &r->w->list[i];
        any = any || (h->region == region && (!more || (!h->diagnosed && !h->bounded)));
    }
    if (!any) {
        return IL_OK;
    }
    il_status status = worm_look(r, eye, region, err);
    for (uint32_t i = 0; status == IL_OK && i < r->w->n; i++) {
        il_wormhole *h = &r->w->list[i];
        if (h->region != region) {
            continue;
        }
        (void)worm_goes_on(r);
        if (r->stopped) {
            h->bounded = h->bounded || !more;
            r->w->bounded += !more;
        } else if (!more) {
            status = worm_judge(r, h, err);
        } else if (!h->diagnosed && !h->bounded) {
            il_twin t;
            status = worm_twin(r, eye, region, &r->edges[h->first], h->edges, &t, err);
            if (status == IL_OK && worm_good(r, region, &t) && (!h->advised || t.k < h->best_k)) {
                h->advised = true;
                h->best = *more;
                h->best_k = t.k;
            }
        }
    }
    worm_look_away(r);
    return status;
}

static il_status worm_grade(worm_run *r, il_error *err) {
    il_candidate all[IL_CANDIDATES_MAX];
    uint32_t n = il_eye_candidates(r->m, &r->ask->eye, all);
    for (uint64_t left = r->ask->regions; left != 0; left &= left - 1) {
        uint32_t region = (uint32_t)__builtin_ctzll(left);
        IL_TRY(worm_region(r, region, &r->ask->eye, NULL, err));
        for (uint32_t i = 0; i < n; i++) {
            il_eye eye = il_eye_with(&r->ask->eye, all[i]);
            IL_TRY(worm_region(r, region, &eye, &all[i], err));
        }
    }
    return IL_OK;
}

static il_status worm_catalogue(worm_run *r, il_error *err) {
    for (uint64_t left = r->ask->regions; left != 0; left &= left - 1) {
        IL_TRY(worm_jumps(r, (uint32_t)__builtin_ctzll(left), err));
    }
    IL_TRY(worm_rejected(r, err));
    IL_TRY(worm_hops(r, err));
    return il_plant_expand(&r->p, false, err);
}

static il_status worm_run_all(worm_run *r, il_error *err) {
    il_diagnosis none = {0};
    il_space_bounds orbits = r->bounds ? *r->bounds : (il_space_bounds){0};
    orbits.states = r->ask->orbits_max ? r->ask->orbits_max : IL_WORMHOLE_ORBITS;
    il_nodes_init(&r->keys, r->alloc, &orbits);
    il_nodes_init(&r->hops, r->alloc, r->bounds);
    IL_TRY(il_plant_build(&r->p, r->alloc, r->m, &none, NULL, r->bounds, err));
    r->benign = r->p.states.n;
    if (!worm_bounded(r)) {
        IL_TRY(worm_catalogue(r, err));
    }
    r->w->bound_hit = r->w->bound_hit || worm_bounded(r);
    if (il_plant_bounded(&r->p) || r->stopped) {
        return IL_OK; /* some state's steps are missing: nothing can be asked of it */
    }
    IL_TRY(il_eye_views(&r->p, &r->ask->eye, r->alloc, &r->view, err));
    il_status status = worm_mutants(r, err);
    worm_look_away(r);
    IL_TRY(status);
    IL_TRY(worm_draw(r, err));
    IL_TRY(worm_grade(r, err));
    r->w->bound_hit = r->w->bound_hit || r->stopped;
    return IL_OK;
}

il_status il_wormholes_run(il_wormholes *w, const il_alloc *alloc, il_arena *arena, const il_model *m, const il_wormhole_ask *ask,
                           const il_space_bounds *bounds, il_error *err) {
    worm_run r = {.w = w, .alloc = alloc, .arena = arena, .m = m, .ask = ask, .bounds = bounds};
    *w = (il_wormholes){.ran = true, .seed = ask->seed};
    il_status status = worm_run_all(&r, err);
    void *const all[] = {r.orbits, r.edges, r.forced_first, r.forced, r.hop_regions, r.roots};
    worm_look_away(&r);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        alloc->free(alloc->ctx, all[i]);
    }
    il_nodes_free(&r.keys);
    il_nodes_free(&r.hops);
    il_plant_free(&r.p);
    return status;
}
