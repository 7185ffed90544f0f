/* SPDX-License-Identifier: Apache-2.0 */
#include "check/twin.h"

#include "base/error.h"
#include "check/twin_part.h"

enum { TWIN_PROGRESS = 4096, TWIN_FIRST_LOOK = 1024 };

il_status il_eye_views(const il_plant *p, const il_eye *eye, const il_alloc *alloc, uint64_t **out, il_error *err) {
    *out = alloc->alloc(alloc->ctx, (size_t)p->states.n * sizeof **out + 1);
    if (!*out) {
        return il_error_set(err, IL_E_MEMORY, "no memory for what is seen of the states");
    }
    for (uint32_t i = 0; i < p->states.n; i++) {
        (*out)[i] = eye->closed ? 0 : il_diagnosis_view(p->m, eye->sees, eye->uses, il_plant_state(p, i));
    }
    return IL_OK;
}

bool il_eye_hides(const il_plant *p, const il_eye *eye, uint32_t symbol) {
    return eye->closed || symbol == IL_NO_SYMBOL || p->m->actions[p->m->symbol_action[symbol]].hidden;
}

static uint64_t twin_key(bool latch, uint32_t x, uint32_t y) { return (uint64_t)latch << 63 | (uint64_t)x << 32 | y; }

static bool twin_enters(const il_twin_search *s, const il_plant_edge *e) {
    return s->enters ? s->enters[e - s->p->edges] : il_twin_in(s, e->to);
}

/* y is a run without faults that stays outside; asked about now, it is any run. */
static bool twin_follows(const il_twin_search *s, const il_plant_edge *e) {
    return s->ask->now || (e->symbol != IL_NO_SYMBOL && !twin_enters(s, e));
}

static bool twin_hides(const il_twin_search *s, const il_plant_edge *e) { return il_eye_hides(s->p, &s->ask->eye, e->symbol); }

/* One step of the pair i: xe and ye are the edges that are taken, NULL for a run that waits. */
static il_status twin_take(il_twin_search *s, uint32_t i, const il_plant_edge *xe, const il_plant_edge *ye, bool seen,
                           il_error *err) {
    uint64_t from = il_nodes_key(&s->pairs, i);
    uint32_t x = xe ? xe->to : il_twin_x(from);
    uint32_t y = ye ? ye->to : il_twin_y(from);
    bool latch = !s->ask->now && (from >> 63 != 0 || (xe && twin_enters(s, xe)));
    uint64_t key = twin_key(latch, x, y);
    if (s->looking) {
        if (!s->found && key == s->wanted) {
            s->found = true;
            s->step = (il_twin_step){.x = xe ? xe->symbol : IL_TWIN_WAITS,
                                     .y = ye ? ye->symbol : IL_TWIN_WAITS,
                                     .x_fault = xe ? xe->fault : 0,
                                     .y_fault = ye ? ye->fault : 0,
                                     .x_pre = il_plant_state(s->p, il_twin_x(from)),
                                     .x_post = il_plant_state(s->p, x),
                                     .y_pre = il_plant_state(s->p, il_twin_y(from)),
                                     .y_post = il_plant_state(s->p, y),
                                     .seen = seen,
                                     .ambiguous = il_twin_ambiguous(s, key)};
        }
        return IL_OK;
    }
    s->all_edges++;
    uint32_t to = 0;
    bool fresh = false;
    IL_TRY(il_nodes_add(&s->pairs, key, i, &to, &fresh, err));
    if (to == IL_NODES_NONE || !il_twin_ambiguous(s, from) || !il_twin_ambiguous(s, key)) {
        return IL_OK;
    }
    bool within = false;
    void *edges = s->edges;
    IL_TRY(il_nodes_room(&s->pairs, &edges, s->nedges, &s->edges_cap, sizeof *s->edges, &within, err));
    s->edges = edges;
    if (within) {
        s->edges[s->nedges++] = (il_twin_edge){to, (xe ? IL_TWIN_MOVES : 0u) | (seen ? IL_TWIN_SEEN : 0u)};
    }
    return IL_OK;
}

/* The steps in which x moves. */
static il_status twin_x_moves(il_twin_search *s, uint32_t i, uint32_t x, uint32_t y, il_error *err) {
    const il_plant *p = s->p;
    for (size_t k = p->first[x]; k < p->first[x + 1]; k++) {
        const il_plant_edge *e = &p->edges[k];
        uint64_t view = s->view[e->to];
        if ((e->symbol == IL_NO_SYMBOL && !s->faults) || (s->ask->eye.announced && twin_enters(s, e))) {
            continue;
        }
        if (!twin_hides(s, e)) {
            const il_plant_edge *g = il_plant_step(p, y, e->symbol);
            if (g && twin_follows(s, g) && s->view[g->to] == view) {
                IL_TRY(twin_take(s, i, e, g, true, err));
            } else if (!g && !s->ask->eye.verdicts && s->view[y] == view) {
                IL_TRY(twin_take(s, i, e, NULL, true, err));
            }
            continue;
        }
        if (view == s->view[x]) {
            IL_TRY(twin_take(s, i, e, NULL, false, err));
            continue;
        }
        for (size_t j = p->first[y]; j < p->first[y + 1]; j++) {
            const il_plant_edge *g = &p->edges[j];
            if (twin_hides(s, g) && twin_follows(s, g) && s->view[g->to] == view) {
                IL_TRY(twin_take(s, i, e, g, true, err));
            }
        }
    }
    return IL_OK;
}

/* The steps of y alone: of those nothing is seen, or (without verdicts) a call that x was refused. */
static il_status twin_y_moves(il_twin_search *s, uint32_t i, uint32_t x, uint32_t y, il_error *err) {
    const il_plant *p = s->p;
    for (size_t k = p->first[y]; k < p->first[y + 1]; k++) {
        const il_plant_edge *g = &p->edges[k];
        if (s->view[g->to] != s->view[y] || !twin_follows(s, g)) {
            continue;
        }
        bool hidden = twin_hides(s, g);
        if (hidden || (!s->ask->eye.verdicts && !il_plant_step(p, x, g->symbol))) {
            IL_TRY(twin_take(s, i, NULL, g, !hidden, err));
        }
    }
    return IL_OK;
}

il_status il_twin_expand(il_twin_search *s, uint32_t i, il_error *err) {
    uint64_t key = il_nodes_key(&s->pairs, i);
    IL_TRY(twin_x_moves(s, i, il_twin_x(key), il_twin_y(key), err));
    return twin_y_moves(s, i, il_twin_x(key), il_twin_y(key), err);
}

static il_status twin_first(il_twin_search *s, uint32_t i, il_error *err) {
    bool within = false;
    void *first = s->first;
    IL_TRY(il_nodes_room(&s->pairs, &first, i, &s->first_cap, sizeof *s->first, &within, err));
    s->first = first;
    if (within) {
        s->first[i] = s->nedges;
    }
    return IL_OK;
}

/* Expands up to `until` pairs. */
static il_status twin_explore(il_twin_search *s, uint32_t until, il_error *err) {
    while (s->expanded < s->pairs.n && s->expanded < until && !il_twin_bounded(s)) {
        const uint64_t had = s->all_edges;
        IL_TRY(il_twin_expand(s, s->expanded, err));
        IL_TRY(twin_first(s, s->expanded + 1, err));
        s->expanded += !s->pairs.bound_hit; /* edges may be missing: not expanded */
        s->stopped = !il_space_spend(s->bounds, s->all_edges - had + 1);
        if (!s->stopped && s->expanded % TWIN_PROGRESS == 0 && s->bounds && s->bounds->progress) {
            il_space_progress now = {.states = s->pairs.n, .edges = s->all_edges, .frontier = s->pairs.n - s->expanded};
            s->stopped = !s->bounds->progress(s->bounds->progress_ctx, &now);
        }
    }
    return IL_OK;
}

static il_status twin_root(il_twin_search *s, uint32_t x, uint32_t y, il_error *err) {
    uint32_t at = 0;
    bool fresh = false;
    if (!s->ask->now && il_twin_in(s, y)) {
        return IL_OK;
    }
    return il_nodes_add(&s->pairs, twin_key(!s->ask->now && il_twin_in(s, x), x, y), IL_NODES_NONE, &at, &fresh, err);
}

static il_status twin_open(il_twin_search *s, il_error *err) {
    const il_plant *p = s->p;
    const il_region *r = &p->m->regions[s->ask->region];
    il_nodes_init(&s->pairs, s->alloc, s->bounds);
    IL_TRY(il_eye_views(p, &s->ask->eye, s->alloc, &s->view, err));
    if (r->edge) {
        s->enters = s->alloc->alloc(s->alloc->ctx, p->nedges + 1);
        if (!s->enters) {
            return il_error_set(err, IL_E_MEMORY, "no memory for the steps of the region");
        }
        for (uint32_t i = 0; i < p->expanded; i++) {
            for (size_t e = p->first[i]; e < p->first[i + 1]; e++) {
                s->enters[e] = p->edges[e].symbol != IL_NO_SYMBOL &&
                               il_steps_in_region(p->steps, s->ask->region, il_plant_state(p, i), p->edges[e].symbol,
                                                  il_plant_state(p, p->edges[e].to));
            }
        }
    }
    IL_TRY(twin_first(s, 0, err));
    for (size_t k = 0; k < s->ask->nroots; k++) {
        IL_TRY(twin_root(s, s->ask->roots[k].x, s->ask->roots[k].y, err));
    }
    return s->ask->roots ? IL_OK : twin_root(s, 0, 0, err);
}

static void twin_close_all(il_twin_search *s) {
    s->alloc->free(s->alloc->ctx, s->view);
    s->alloc->free(s->alloc->ctx, s->enters);
    s->alloc->free(s->alloc->ctx, s->first);
    s->alloc->free(s->alloc->ctx, s->edges);
    il_nodes_free(&s->pairs);
}

static bool twin_entered(const il_twin_search *s) {
    const il_plant *p = s->p;
    for (uint32_t i = 0; !s->enters && i < p->states.n; i++) {
        if (il_twin_in(s, i)) {
            return true;
        }
    }
    for (size_t e = 0; s->enters && e < p->nedges; e++) {
        if (s->enters[e]) {
            return true;
        }
    }
    return false;
}

static il_status twin_run(il_twin_search *s, il_arena *arena, il_twin *out, il_error *err) {
    IL_TRY(twin_open(s, err));
    if (!twin_entered(s) || (s->pairs.n == 0 && !s->ask->roots)) {
        out->word = IL_TWIN_UNENTERED;
        return IL_OK;
    }
    uint32_t until = s->ask->brief ? TWIN_FIRST_LOOK : UINT32_MAX;
    for (;;) {
        IL_TRY(twin_explore(s, until, err));
        bool ended = il_twin_bounded(s) || s->expanded == s->pairs.n;
        out->ambiguous = 0;
        IL_TRY(il_twin_conclude(s, arena, out, err));
        out->pairs = s->pairs.n;
        out->edges = s->all_edges;
        if (ended || out->word == IL_TWIN_BLIND) {
            return IL_OK;
        }
        until = until > UINT32_MAX / 4 ? UINT32_MAX : until * 4;
    }
}

il_status il_twin_run(const il_plant *p, const il_twin_ask *ask, const il_space_bounds *bounds, il_arena *arena, il_twin *out,
                      il_error *err) {
    il_twin_search s = {.p = p, .ask = ask, .bounds = bounds, .alloc = p->states.known.alloc, .faults = true};
    *out = (il_twin){.states = p->states.n};
    il_status status = twin_run(&s, arena, out, err);
    twin_close_all(&s);
    return status;
}

il_status il_twin_pairs(const il_plant *p, const il_twin_ask *ask, const il_space_bounds *bounds, il_nodes *out, il_error *err) {
    il_twin_search s = {.p = p, .ask = ask, .bounds = bounds, .alloc = p->states.known.alloc};
    il_status status = twin_open(&s, err);
    if (status == IL_OK) {
        status = twin_explore(&s, UINT32_MAX, err);
    }
    s.pairs.bound_hit = s.pairs.bound_hit || s.stopped;
    *out = s.pairs;
    s.pairs = (il_nodes){0};
    twin_close_all(&s);
    return status;
}
