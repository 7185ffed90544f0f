/* SPDX-License-Identifier: Apache-2.0 */
#include "check/twin.h"

#include "base/error.h"
#include "base/mem.h"

enum { TWIN_PROGRESS = 4096, TWIN_FIRST_LOOK = 1024 };
enum { TWIN_MOVES = 1, TWIN_SEEN = 2 }; /* of an edge: x moves; something is seen */

/* Beside a node and its first edge: what judging it takes (number, low, component, two lengths, stack, frame, cursor). */
#define IL_TWIN_JUDGE_BYTES (8u * 4u)

typedef struct twin_edge {
    uint32_t to, flags;
} twin_edge;

typedef struct twin_search {
    const il_plant *p;
    const il_twin_ask *ask;
    const il_space_bounds *bounds;
    const il_alloc *alloc;
    uint64_t *view;
    bool *enters;   /* of each edge of the plant; a region of steps only */
    bool faults;    /* x has them */
    il_nodes pairs; /* latch << 63 | x << 32 | y */
    size_t *first, first_cap;
    twin_edge *edges; /* between ambiguous pairs */
    size_t nedges, edges_cap;
    uint64_t all_edges;
    uint32_t expanded;
    bool stopped;
    bool looking; /* not exploring: looking for the step that leads to `wanted` */
    bool found;
    uint64_t wanted;
    il_twin_step step;
} twin_search;

/* What judging found: components of the ambiguous pairs, and how long ambiguity lasts from each. */
typedef struct twin_judged {
    uint32_t *number, *low, *comp, *moves, *events, *stack, *frame, *cursor; /* n entries each; moves and events by component */
    uint32_t ncomps;
    uint32_t bad;     /* the first pair in which ambiguity can last for ever; IL_NODES_NONE for none */
    uint32_t longest; /* the first pair from which it lasts longest */
    bool *lasting;    /* by component */
} twin_judged;

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
static uint32_t twin_x(uint64_t key) { return (uint32_t)(key >> 32) & 0x7FFFFFFFu; }
static uint32_t twin_y(uint64_t key) { return (uint32_t)key; }
static bool twin_in(const twin_search *s, uint32_t node) { return s->p->in[node] >> s->ask->region & 1; }

static bool twin_ambiguous(const twin_search *s, uint64_t key) {
    return s->ask->now ? twin_in(s, twin_x(key)) && !twin_in(s, twin_y(key)) : key >> 63 != 0;
}

static bool twin_enters(const twin_search *s, const il_plant_edge *e) {
    return s->enters ? s->enters[e - s->p->edges] : twin_in(s, e->to);
}

/* y is a run without faults that stays outside; asked about now, it is any run. */
static bool twin_follows(const twin_search *s, const il_plant_edge *e) {
    return s->ask->now || (e->symbol != IL_NO_SYMBOL && !twin_enters(s, e));
}

static bool twin_hides(const twin_search *s, const il_plant_edge *e) { return il_eye_hides(s->p, &s->ask->eye, e->symbol); }

/* One step of the pair i: xe and ye are the edges that are taken, NULL for a run that waits. */
static il_status twin_take(twin_search *s, uint32_t i, const il_plant_edge *xe, const il_plant_edge *ye, bool seen,
                           il_error *err) {
    uint64_t from = s->pairs.keys[i];
    uint32_t x = xe ? xe->to : twin_x(from);
    uint32_t y = ye ? ye->to : twin_y(from);
    bool latch = !s->ask->now && (from >> 63 != 0 || (xe && twin_enters(s, xe)));
    uint64_t key = twin_key(latch, x, y);
    if (s->looking) {
        if (!s->found && key == s->wanted) {
            s->found = true;
            s->step = (il_twin_step){.x = xe ? xe->symbol : IL_TWIN_WAITS,
                                     .y = ye ? ye->symbol : IL_TWIN_WAITS,
                                     .x_fault = xe ? xe->fault : 0,
                                     .y_fault = ye ? ye->fault : 0,
                                     .x_pre = il_plant_state(s->p, twin_x(from)),
                                     .x_post = il_plant_state(s->p, x),
                                     .y_pre = il_plant_state(s->p, twin_y(from)),
                                     .y_post = il_plant_state(s->p, y),
                                     .seen = seen,
                                     .ambiguous = twin_ambiguous(s, key)};
        }
        return IL_OK;
    }
    s->all_edges++;
    uint32_t to = 0;
    bool fresh = false;
    IL_TRY(il_nodes_add(&s->pairs, key, i, &to, &fresh, err));
    if (to == IL_NODES_NONE || !twin_ambiguous(s, from) || !twin_ambiguous(s, key)) {
        return IL_OK;
    }
    bool within = false;
    void *edges = s->edges;
    IL_TRY(il_nodes_room(&s->pairs, &edges, s->nedges, &s->edges_cap, sizeof *s->edges, &within, err));
    s->edges = edges;
    if (within) {
        s->edges[s->nedges++] = (twin_edge){to, (xe ? TWIN_MOVES : 0u) | (seen ? TWIN_SEEN : 0u)};
    }
    return IL_OK;
}

/* The steps in which x moves. */
static il_status twin_x_moves(twin_search *s, uint32_t i, uint32_t x, uint32_t y, il_error *err) {
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
static il_status twin_y_moves(twin_search *s, uint32_t i, uint32_t x, uint32_t y, il_error *err) {
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

static il_status twin_expand(twin_search *s, uint32_t i, il_error *err) {
    uint64_t key = s->pairs.keys[i];
    IL_TRY(twin_x_moves(s, i, twin_x(key), twin_y(key), err));
    return twin_y_moves(s, i, twin_x(key), twin_y(key), err);
}

static il_status twin_first(twin_search *s, uint32_t i, il_error *err) {
    bool within = false;
    void *first = s->first;
    IL_TRY(il_nodes_room(&s->pairs, &first, i, &s->first_cap, sizeof *s->first, &within, err));
    s->first = first;
    if (within) {
        s->first[i] = s->nedges;
    }
    return IL_OK;
}

static bool twin_bounded(const twin_search *s) { return s->pairs.bound_hit || s->stopped; }

/* Expands up to `until` pairs. */
static il_status twin_explore(twin_search *s, uint32_t until, il_error *err) {
    while (s->expanded < s->pairs.n && s->expanded < until && !twin_bounded(s)) {
        IL_TRY(twin_expand(s, s->expanded, err));
        IL_TRY(twin_first(s, s->expanded + 1, err));
        s->expanded += !s->pairs.bound_hit; /* edges may be missing: not expanded */
        if (s->expanded % TWIN_PROGRESS == 0 && s->bounds && s->bounds->progress) {
            il_space_progress now = {.states = s->pairs.n, .edges = s->all_edges, .frontier = s->pairs.n - s->expanded};
            s->stopped = !s->bounds->progress(s->bounds->progress_ctx, &now);
        }
    }
    return IL_OK;
}

/* Judging: Tarjan's components without recursion, in an order in which those that a component leads to are judged before it. */
static void twin_close(const twin_search *s, twin_judged *j, uint32_t root, uint32_t *depth) {
    uint32_t c = j->ncomps++;
    uint32_t from = *depth;
    do {
        j->comp[j->stack[--from]] = c + 1;
    } while (j->stack[from] != root);
    j->moves[c] = j->events[c] = 0;
    j->lasting[c] = false;
    for (uint32_t k = from; k < *depth; k++) {
        uint32_t node = j->stack[k];
        uint32_t x = twin_x(s->pairs.keys[node]);
        if (s->p->first[x] == s->p->first[x + 1] && node < j->bad) {
            j->bad = node; /* x stops there */
        }
        for (size_t e = s->first[node]; e < s->first[node + 1]; e++) {
            if (s->edges[e].to >= s->expanded) {
                continue; /* its own steps are not known */
            }
            uint32_t d = j->comp[s->edges[e].to] - 1;
            uint32_t moves = s->edges[e].flags & TWIN_MOVES;
            if (d == c) {
                j->lasting[c] = j->lasting[c] || moves;
                continue;
            }
            uint32_t events = j->events[d] + (s->edges[e].flags == (TWIN_MOVES | TWIN_SEEN));
            j->moves[c] = j->moves[d] + moves > j->moves[c] ? j->moves[d] + moves : j->moves[c];
            j->events[c] = events > j->events[c] ? events : j->events[c];
        }
    }
    for (uint32_t k = from; k < *depth; k++) {
        j->bad = j->lasting[c] && j->stack[k] < j->bad ? j->stack[k] : j->bad;
    }
    *depth = from;
}

static void twin_visit(const twin_search *s, twin_judged *j, uint32_t start) {
    uint32_t frames = 0, depth = 0, count = start; /* numbers need only grow */
    j->frame[frames++] = start;
    j->number[start] = j->low[start] = ++count;
    j->stack[depth++] = start;
    while (frames > 0) {
        uint32_t node = j->frame[frames - 1];
        size_t e = s->first[node] + j->cursor[node];
        if (e < s->first[node + 1]) {
            uint32_t to = s->edges[e].to;
            j->cursor[node]++;
            if (to >= s->expanded) {
                continue;
            }
            if (j->number[to] == 0) {
                j->number[to] = j->low[to] = ++count;
                j->stack[depth++] = to;
                j->frame[frames++] = to;
            } else if (j->comp[to] == 0 && j->number[to] < j->low[node]) {
                j->low[node] = j->number[to];
            }
            continue;
        }
        frames--;
        if (frames > 0 && j->low[node] < j->low[j->frame[frames - 1]]) {
            j->low[j->frame[frames - 1]] = j->low[node];
        }
        if (j->low[node] == j->number[node]) {
            twin_close(s, j, node, &depth);
        }
    }
}

static void twin_judged_free(const twin_search *s, twin_judged *j) {
    uint32_t *all[8] = {j->number, j->low, j->comp, j->moves, j->events, j->stack, j->frame, j->cursor};
    for (size_t i = 0; i < 8; i++) {
        s->alloc->free(s->alloc->ctx, all[i]);
    }
    s->alloc->free(s->alloc->ctx, j->lasting);
    *j = (twin_judged){0};
}

static il_status twin_judge(twin_search *s, twin_judged *j, il_error *err) {
    uint32_t n = s->expanded;
    uint32_t **all[8] = {&j->number, &j->low, &j->comp, &j->moves, &j->events, &j->stack, &j->frame, &j->cursor};
    *j = (twin_judged){.bad = IL_NODES_NONE, .longest = IL_NODES_NONE};
    if ((size_t)n * IL_TWIN_JUDGE_BYTES > s->pairs.max_bytes - s->pairs.bytes) {
        s->pairs.bound_hit = true;
        return IL_OK;
    }
    for (size_t i = 0; i < 8; i++) {
        *all[i] = s->alloc->alloc(s->alloc->ctx, (size_t)n * sizeof(uint32_t) + 1);
        if (!*all[i]) {
            return il_error_set(err, IL_E_MEMORY, "no memory to judge the pairs");
        }
        memset(*all[i], 0, (size_t)n * sizeof(uint32_t));
    }
    j->lasting = s->alloc->alloc(s->alloc->ctx, (size_t)n * sizeof(bool) + 1);
    if (!j->lasting) {
        return il_error_set(err, IL_E_MEMORY, "no memory to judge the pairs");
    }
    for (uint32_t i = 0; i < n; i++) {
        if (twin_ambiguous(s, s->pairs.keys[i]) && j->number[i] == 0) {
            twin_visit(s, j, i);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (j->comp[i] != 0 && (j->longest == IL_NODES_NONE || j->moves[j->comp[i] - 1] > j->moves[j->comp[j->longest] - 1])) {
            j->longest = i;
        }
    }
    return IL_OK;
}

/* The shortest way from a pair, within its component: back to itself with a step of x (`loop`), or over the edge by which ambiguity goes on
 * longest. The way is the nodes after `from`, in `way` (room for each node twice); *n of them. */
static il_status twin_way(twin_search *s, const twin_judged *j, uint32_t from, bool loop, uint32_t **way, uint32_t *n,
                          il_error *err) {
    il_nodes seen;
    il_nodes_init(&seen, s->alloc, NULL);
    il_status status = IL_OK;
    uint32_t c = j->comp[from];
    uint32_t last = IL_NODES_NONE, end = IL_NODES_NONE, at = 0;
    bool fresh = false;
    *n = 0;
    *way = NULL;
    status = il_nodes_add(&seen, (uint64_t)from << 1, IL_NODES_NONE, &at, &fresh, err);
    for (uint32_t i = 0; status == IL_OK && i < seen.n && end == IL_NODES_NONE; i++) {
        uint32_t node = (uint32_t)(seen.keys[i] >> 1);
        for (size_t e = s->first[node]; status == IL_OK && e < s->first[node + 1] && end == IL_NODES_NONE; e++) {
            uint32_t to = s->edges[e].to;
            uint32_t moves = s->edges[e].flags & TWIN_MOVES;
            if (to >= s->expanded) {
                continue;
            }
            if (j->comp[to] != c) {
                if (!loop && j->moves[j->comp[to] - 1] + moves == j->moves[c - 1]) {
                    last = i;
                    end = to;
                }
                continue;
            }
            bool moved = loop && ((seen.keys[i] & 1) || moves);
            status = il_nodes_add(&seen, (uint64_t)to << 1 | moved, i, &at, &fresh, err);
            if (loop && to == from && moved) {
                last = i;
                end = to;
            }
        }
    }
    for (uint32_t i = last; status == IL_OK && i != IL_NODES_NONE; i = seen.parent[i]) {
        (*n)++;
    }
    *way = status == IL_OK ? s->alloc->alloc(s->alloc->ctx, ((size_t)*n + 1) * sizeof **way) : NULL;
    if (status == IL_OK && !*way) {
        status = il_error_set(err, IL_E_MEMORY, "no memory for a witness");
    }
    if (status == IL_OK && end != IL_NODES_NONE) {
        (*way)[*n - 1] = end;
        uint32_t k = *n - 1;
        for (uint32_t i = last; k > 0; i = seen.parent[i]) {
            (*way)[--k] = (uint32_t)(seen.keys[i] >> 1);
        }
    }
    il_nodes_free(&seen);
    return status;
}

typedef struct twin_path {
    uint32_t *nodes; /* in the arena */
    uint32_t n, cap;
} twin_path;

static il_status twin_push(twin_path *path, il_arena *arena, uint32_t node, il_error *err) {
    if (path->n == path->cap) {
        uint32_t cap = path->cap ? path->cap * 2 : 64;
        uint32_t *nodes = IL_NEW_ARRAY(arena, uint32_t, cap);
        if (!nodes) {
            return il_arena_fail(arena, err);
        }
        if (path->n > 0) {
            memcpy(nodes, path->nodes, path->n * sizeof *nodes);
        }
        path->nodes = nodes;
        path->cap = cap;
    }
    path->nodes[path->n++] = node;
    return IL_OK;
}

/* The pairs from a root to `node`. */
static il_status twin_prefix(twin_search *s, uint32_t node, il_arena *arena, twin_path *path, il_error *err) {
    for (uint32_t i = node; i != IL_NODES_NONE; i = s->pairs.parent[i]) {
        IL_TRY(twin_push(path, arena, i, err));
    }
    for (uint32_t a = 0, b = path->n - 1; a < b; a++, b--) {
        uint32_t node_a = path->nodes[a];
        path->nodes[a] = path->nodes[b];
        path->nodes[b] = node_a;
    }
    return IL_OK;
}

static il_status twin_steps(twin_search *s, const twin_path *path, il_arena *arena, il_twin *out, il_error *err) {
    out->nsteps = path->n - 1;
    out->steps = IL_NEW_ARRAY(arena, il_twin_step, out->nsteps);
    if (!out->steps) {
        return il_arena_fail(arena, err);
    }
    s->looking = true;
    for (uint32_t k = 0; k < out->nsteps; k++) {
        s->found = false;
        s->wanted = s->pairs.keys[path->nodes[k + 1]];
        IL_TRY(twin_expand(s, path->nodes[k], err));
        IL_CHECK(s->found, err);
        out->steps[k] = s->step;
    }
    return IL_OK;
}

static il_status twin_witness(twin_search *s, const twin_judged *j, il_arena *arena, il_twin *out, il_error *err) {
    twin_path path = {0};
    uint32_t pair = out->word == IL_TWIN_BLIND ? j->bad : j->longest;
    IL_TRY(twin_prefix(s, pair, arena, &path, err));
    uint32_t *way = NULL;
    uint32_t n = 0;
    if (out->word == IL_TWIN_BLIND && j->lasting[j->comp[pair] - 1]) {
        il_status status = twin_way(s, j, pair, true, &way, &n, err);
        for (uint32_t k = 0; status == IL_OK && k < n; k++) {
            status = twin_push(&path, arena, way[k], err);
        }
        s->alloc->free(s->alloc->ctx, way);
        IL_TRY(status);
        out->loop = n;
    }
    while (out->word == IL_TWIN_DIAGNOSABLE && j->moves[j->comp[pair] - 1] > 0) {
        il_status status = twin_way(s, j, pair, false, &way, &n, err);
        for (uint32_t k = 0; status == IL_OK && k < n; k++) {
            status = twin_push(&path, arena, way[k], err);
        }
        pair = status == IL_OK && n > 0 ? way[n - 1] : pair;
        s->alloc->free(s->alloc->ctx, way);
        IL_TRY(status);
        IL_CHECK(n > 0, err);
    }
    out->x = il_plant_state(s->p, twin_x(s->pairs.keys[pair]));
    out->y = il_plant_state(s->p, twin_y(s->pairs.keys[pair]));
    return twin_steps(s, &path, arena, out, err);
}

static il_status twin_conclude(twin_search *s, il_arena *arena, il_twin *out, il_error *err) {
    twin_judged j;
    il_status status = twin_judge(s, &j, err);
    bool judged = status == IL_OK && j.lasting != NULL;
    if (judged && j.bad != IL_NODES_NONE) {
        out->word = IL_TWIN_BLIND;
    } else if (judged && !twin_bounded(s) && s->expanded == s->pairs.n) {
        out->word = IL_TWIN_DIAGNOSABLE;
        if (j.longest != IL_NODES_NONE) {
            uint32_t events = j.events[j.comp[j.longest] - 1];
            for (uint32_t c = 0; c < j.ncomps; c++) {
                events = j.events[c] > events ? j.events[c] : events;
            }
            out->k = j.moves[j.comp[j.longest] - 1] + 1;
            out->events = events + 1;
        }
    }
    if (judged && (out->word == IL_TWIN_BLIND || out->k > 0)) {
        status = twin_witness(s, &j, arena, out, err);
    }
    for (uint32_t i = 0; judged && i < s->expanded; i++) {
        out->ambiguous += twin_ambiguous(s, s->pairs.keys[i]);
    }
    twin_judged_free(s, &j);
    return status;
}

static il_status twin_root(twin_search *s, uint32_t x, uint32_t y, il_error *err) {
    uint32_t at = 0;
    bool fresh = false;
    if (!s->ask->now && twin_in(s, y)) {
        return IL_OK;
    }
    return il_nodes_add(&s->pairs, twin_key(!s->ask->now && twin_in(s, x), x, y), IL_NODES_NONE, &at, &fresh, err);
}

static il_status twin_open(twin_search *s, il_error *err) {
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

static void twin_close_all(twin_search *s) {
    s->alloc->free(s->alloc->ctx, s->view);
    s->alloc->free(s->alloc->ctx, s->enters);
    s->alloc->free(s->alloc->ctx, s->first);
    s->alloc->free(s->alloc->ctx, s->edges);
    il_nodes_free(&s->pairs);
}

static bool twin_entered(const twin_search *s) {
    const il_plant *p = s->p;
    for (uint32_t i = 0; !s->enters && i < p->states.n; i++) {
        if (twin_in(s, i)) {
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

static il_status twin_run(twin_search *s, il_arena *arena, il_twin *out, il_error *err) {
    IL_TRY(twin_open(s, err));
    if (!twin_entered(s) || (s->pairs.n == 0 && !s->ask->roots)) {
        out->word = IL_TWIN_UNENTERED;
        return IL_OK;
    }
    uint32_t until = s->ask->brief ? TWIN_FIRST_LOOK : UINT32_MAX;
    for (;;) {
        IL_TRY(twin_explore(s, until, err));
        bool ended = twin_bounded(s) || s->expanded == s->pairs.n;
        out->ambiguous = 0;
        IL_TRY(twin_conclude(s, arena, out, err));
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
    twin_search s = {.p = p, .ask = ask, .bounds = bounds, .alloc = p->states.alloc, .faults = true};
    *out = (il_twin){.states = p->states.n};
    il_status status = twin_run(&s, arena, out, err);
    twin_close_all(&s);
    return status;
}

il_status il_twin_pairs(const il_plant *p, const il_twin_ask *ask, const il_space_bounds *bounds, il_nodes *out, il_error *err) {
    twin_search s = {.p = p, .ask = ask, .bounds = bounds, .alloc = p->states.alloc};
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
