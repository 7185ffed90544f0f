/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/mem.h"
#include "check/twin_part.h"
#include "check/wormhole_part.h"

#define IL_WORMHOLE_ORBITS 65536u
#define IL_WORMHOLE_LOCKED 65536u /* pairs that are compared before a mutant counts as detectable */

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

/* Pairs without faults that look the same to the eye, by x, which may have been inside where the machine lets it in; and what is seen of all
 * states. */
static il_status worm_look(il_worm_run *r, const il_eye *eye, uint32_t region, il_error *err) {
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
        r->pair_first[il_twin_x(il_nodes_key(&r->pairs, i)) + 2]++;
    }
    for (uint32_t x = 0; x < r->p.states.n; x++) {
        r->pair_first[x + 2] += r->pair_first[x + 1];
    }
    for (uint32_t i = 0; i < n; i++) { /* fills up [x + 1], which ends as the start of x + 1 */
        const uint64_t key = il_nodes_key(&r->pairs, i);
        r->pair_y[r->pair_first[il_twin_x(key) + 1]++] = il_twin_y(key);
    }
    return IL_OK;
}

static void worm_look_away(il_worm_run *r) {
    r->alloc->free(r->alloc->ctx, r->view);
    r->alloc->free(r->alloc->ctx, r->pair_first);
    r->alloc->free(r->alloc->ctx, r->pair_y);
    r->view = NULL;
    r->pair_first = r->pair_y = NULL;
    il_nodes_free(&r->pairs);
}

static il_status worm_root(il_worm_run *r, uint32_t x, uint32_t y, il_error *err) {
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
static il_status worm_follow(il_worm_run *r, const il_eye *eye, const il_worm_edge *e, uint32_t y, il_error *err) {
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

static il_status worm_twin(il_worm_run *r, const il_eye *eye, uint32_t region, const il_worm_edge *edges, size_t n, il_twin *out,
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

static bool worm_good(const il_worm_run *r, uint32_t region, const il_twin *t) {
    uint32_t within = r->ask->within[region];
    return t->word == IL_TWIN_DIAGNOSABLE && (within == 0 || t->k <= within);
}

/* The same calls to the two states, for ever: is anything ever seen to differ? */
static il_status worm_locked(il_worm_run *r, il_nodes *pairs, bool *same, il_error *err) {
    const il_eye *eye = &r->ask->eye;
    uint32_t at = 0;
    bool fresh = false;
    for (uint32_t i = 0; *same && i < pairs->n; i++) {
        uint32_t x = (uint32_t)(il_nodes_key(pairs, i) >> 32), y = (uint32_t)il_nodes_key(pairs, i);
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

static il_status worm_undetectable(il_worm_run *r, const il_worm_edge *edges, size_t n, bool *out, il_error *err) {
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

static il_status worm_judge(il_worm_run *r, il_wormhole *h, il_error *err) {
    il_twin t;
    const il_worm_edge *edges = &r->edges[h->first];
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

/* One more thing to see is looked for where it could help. */
static bool worm_wants(const il_wormhole *h) { return !h->diagnosed && !h->bounded && !h->undetectable; }

/* One region at a time: whose runs without faults are those that stay out of it. */
static il_status worm_region(il_worm_run *r, uint32_t region, const il_eye *eye, const il_candidate *more, il_error *err) {
    bool any = false;
    for (uint32_t i = 0; i < r->w->n; i++) {
        const il_wormhole *h = &r->w->list[i];
        any = any || (h->region == region && (!more || worm_wants(h)));
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
        (void)il_worm_goes_on(r);
        if (r->stopped) {
            h->bounded = h->bounded || !more;
            r->w->bounded += !more;
        } else if (!more) {
            status = worm_judge(r, h, err);
        } else if (worm_wants(h)) {
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

static il_status worm_grade(il_worm_run *r, il_error *err) {
    il_candidate all[IL_CANDIDATES_MAX];
    uint32_t n = il_eye_candidates(r->m, &r->ask->eye, r->ask->liars, all);
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

static il_status worm_run_all(il_worm_run *r, il_error *err) {
    il_diagnosis none = {0};
    il_space_bounds orbits = r->bounds ? *r->bounds : (il_space_bounds){0};
    orbits.states = r->ask->orbits_max ? r->ask->orbits_max : IL_WORMHOLE_ORBITS;
    il_nodes_init(&r->keys, r->alloc, &orbits);
    il_nodes_init(&r->hops, r->alloc, r->bounds);
    IL_TRY(il_plant_build(&r->p, r->alloc, r->m, &none, NULL, r->bounds, err));
    r->benign = r->p.states.n;
    if (!il_worm_bounded(r)) {
        IL_TRY(il_worm_catalogue(r, err));
    }
    r->w->bound_hit = r->w->bound_hit || il_worm_bounded(r);
    if (il_plant_bounded(&r->p) || r->stopped) {
        return IL_OK; /* some state's steps are missing: nothing can be asked of it */
    }
    IL_TRY(il_eye_views(&r->p, &r->ask->eye, r->alloc, &r->view, err));
    il_status status = il_worm_mutants(r, err);
    worm_look_away(r);
    IL_TRY(status);
    IL_TRY(il_worm_draw(r, err));
    IL_TRY(worm_grade(r, err));
    r->w->bound_hit = r->w->bound_hit || r->stopped;
    return IL_OK;
}

il_status il_wormholes_run(il_wormholes *w, const il_alloc *alloc, il_arena *arena, const il_model *m, const il_wormhole_ask *ask,
                           const il_space_bounds *bounds, il_error *err) {
    il_worm_run r = {.w = w, .alloc = alloc, .arena = arena, .m = m, .ask = ask, .bounds = bounds};
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
