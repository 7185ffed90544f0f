/* SPDX-License-Identifier: Apache-2.0 */
/* What is concluded from the ambiguous pairs: can ambiguity last for ever, how long else, and the runs that show it. */
#include "base/error.h"
#include "base/mem.h"
#include "check/twin_part.h"

/* Beside a node and its first edge: number, low, component, two lengths, stack, frame, cursor. */
#define IL_TWIN_JUDGE_BYTES (sizeof(uint32_t) * 8)

/* What judging found: components of the ambiguous pairs, and how long ambiguity lasts from each. */
typedef struct twin_judged {
    uint32_t *number, *low, *comp, *moves, *events, *stack, *frame, *cursor; /* n entries each; moves and events by component */
    uint32_t ncomps;
    uint32_t bad;     /* the first pair in which ambiguity can last for ever; IL_NODES_NONE for none */
    uint32_t longest; /* the first pair from which it lasts longest */
    bool *lasting;    /* by component */
} twin_judged;

/* Judging: Tarjan's components without recursion, in an order in which those that a component leads to are judged before it. */
static void twin_close(const il_twin_search *s, twin_judged *j, uint32_t root, uint32_t *depth) {
    uint32_t c = j->ncomps++;
    uint32_t from = *depth;
    do {
        j->comp[j->stack[--from]] = c + 1;
    } while (j->stack[from] != root);
    j->moves[c] = j->events[c] = 0;
    j->lasting[c] = false;
    for (uint32_t k = from; k < *depth; k++) {
        uint32_t node = j->stack[k];
        uint32_t x = il_twin_x(il_nodes_key(&s->pairs, node));
        const size_t to = s->p->first[x]; /* calls stand first: where there is none, a fault may come, and need not */
        if ((to == s->p->first[x + 1] || s->p->edges[to].symbol == IL_NO_SYMBOL) && node < j->bad) {
            j->bad = node; /* x stops there */
        }
        for (size_t e = s->first[node]; e < s->first[node + 1]; e++) {
            if (s->edges[e].to >= s->expanded) {
                continue; /* its own steps are not known */
            }
            uint32_t d = j->comp[s->edges[e].to] - 1;
            uint32_t moves = s->edges[e].flags & IL_TWIN_MOVES;
            if (d == c) {
                j->lasting[c] = j->lasting[c] || moves;
                continue;
            }
            uint32_t events = j->events[d] + (s->edges[e].flags == (IL_TWIN_MOVES | IL_TWIN_SEEN));
            j->moves[c] = j->moves[d] + moves > j->moves[c] ? j->moves[d] + moves : j->moves[c];
            j->events[c] = events > j->events[c] ? events : j->events[c];
        }
    }
    for (uint32_t k = from; k < *depth; k++) {
        j->bad = j->lasting[c] && j->stack[k] < j->bad ? j->stack[k] : j->bad;
    }
    *depth = from;
}

static void twin_visit(const il_twin_search *s, twin_judged *j, uint32_t start) {
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

static void twin_judged_free(const il_twin_search *s, twin_judged *j) {
    uint32_t *all[8] = {j->number, j->low, j->comp, j->moves, j->events, j->stack, j->frame, j->cursor};
    for (size_t i = 0; i < 8; i++) {
        s->alloc->free(s->alloc->ctx, all[i]);
    }
    s->alloc->free(s->alloc->ctx, j->lasting);
    *j = (twin_judged){0};
}

static il_status twin_judge(il_twin_search *s, twin_judged *j, il_error *err) {
    uint32_t n = s->expanded;
    uint32_t **all[8] = {&j->number, &j->low, &j->comp, &j->moves, &j->events, &j->stack, &j->frame, &j->cursor};
    *j = (twin_judged){.bad = IL_NODES_NONE, .longest = IL_NODES_NONE};
    if ((size_t)n * IL_TWIN_JUDGE_BYTES > il_nodes_left(&s->pairs)) {
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
        if (il_twin_ambiguous(s, il_nodes_key(&s->pairs, i)) && j->number[i] == 0) {
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
static il_status twin_way(il_twin_search *s, const twin_judged *j, uint32_t from, bool loop, uint32_t **way, uint32_t *n,
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
        uint32_t node = (uint32_t)(il_nodes_key(&seen, i) >> 1);
        for (size_t e = s->first[node]; status == IL_OK && e < s->first[node + 1] && end == IL_NODES_NONE; e++) {
            uint32_t to = s->edges[e].to;
            uint32_t moves = s->edges[e].flags & IL_TWIN_MOVES;
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
            bool moved = loop && ((il_nodes_key(&seen, i) & 1) || moves);
            status = il_nodes_add(&seen, (uint64_t)to << 1 | moved, i, &at, &fresh, err);
            if (loop && to == from && moved) {
                last = i;
                end = to;
            }
        }
    }
    for (uint32_t i = last; status == IL_OK && i != IL_NODES_NONE; i = il_nodes_parent(&seen, i)) {
        (*n)++;
    }
    *way = status == IL_OK ? s->alloc->alloc(s->alloc->ctx, ((size_t)*n + 1) * sizeof **way) : NULL;
    if (status == IL_OK && !*way) {
        status = il_error_set(err, IL_E_MEMORY, "no memory for a witness");
    }
    if (status == IL_OK && end != IL_NODES_NONE) {
        (*way)[*n - 1] = end;
        uint32_t k = *n - 1;
        for (uint32_t i = last; k > 0; i = il_nodes_parent(&seen, i)) {
            (*way)[--k] = (uint32_t)(il_nodes_key(&seen, i) >> 1);
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
static il_status twin_prefix(il_twin_search *s, uint32_t node, il_arena *arena, twin_path *path, il_error *err) {
    for (uint32_t i = node; i != IL_NODES_NONE; i = il_nodes_parent(&s->pairs, i)) {
        IL_TRY(twin_push(path, arena, i, err));
    }
    for (uint32_t a = 0, b = path->n; a + 1 < b; a++, b--) {
        uint32_t node_a = path->nodes[a];
        path->nodes[a] = path->nodes[b - 1];
        path->nodes[b - 1] = node_a;
    }
    return IL_OK;
}

static il_status twin_steps(il_twin_search *s, const twin_path *path, il_arena *arena, il_twin *out, il_error *err) {
    IL_CHECK(path->n > 0, err);
    out->nsteps = path->n - 1;
    out->steps = IL_NEW_ARRAY(arena, il_twin_step, out->nsteps);
    if (!out->steps) {
        return il_arena_fail(arena, err);
    }
    s->looking = true;
    for (uint32_t k = 0; k < out->nsteps; k++) {
        s->found = false;
        s->wanted = il_nodes_key(&s->pairs, path->nodes[k + 1]);
        IL_TRY(il_twin_expand(s, path->nodes[k], err));
        IL_CHECK(s->found, err);
        out->steps[k] = s->step;
    }
    return IL_OK;
}

static il_status twin_witness(il_twin_search *s, const twin_judged *j, il_arena *arena, il_twin *out, il_error *err) {
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
    out->x = il_plant_state(s->p, il_twin_x(il_nodes_key(&s->pairs, pair)));
    out->y = il_plant_state(s->p, il_twin_y(il_nodes_key(&s->pairs, pair)));
    return twin_steps(s, &path, arena, out, err);
}

il_status il_twin_conclude(il_twin_search *s, il_arena *arena, il_twin *out, il_error *err) {
    twin_judged j;
    il_status status = twin_judge(s, &j, err);
    bool judged = status == IL_OK && j.lasting != NULL;
    if (judged && j.bad != IL_NODES_NONE) {
        out->word = IL_TWIN_BLIND;
    } else if (judged && !il_twin_bounded(s) && s->expanded == s->pairs.n) {
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
        out->ambiguous += il_twin_ambiguous(s, il_nodes_key(&s->pairs, i));
    }
    twin_judged_free(s, &j);
    return status;
}
