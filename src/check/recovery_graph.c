/* SPDX-License-Identifier: Apache-2.0 */
#include "check/recovery_graph.h"

#include "base/error.h"
#include "base/mem.h"

enum { RECOVER_CHUNK = 4096 }; /* danger states below one root, so that the explorer's row stays short */
#define RECOVER_BYTES ((size_t)1 << 30)

static uint32_t recover_roots(const il_recover_graph *g) { return g->ndanger / RECOVER_CHUNK + 1; }
/* Roots are the highest keys; no packed state looks like one. */
static bool recover_is_root(const il_recover_graph *g, uint64_t key) { return key > UINT64_MAX - recover_roots(g); }

static bool recover_corrective(const il_recover_graph *g, uint32_t symbol) {
    const il_subject *s = &g->h->subject;
    return (s->corrective >> s->m->symbol_action[symbol] & 1) != 0;
}

bool il_recovery_goal(const il_model *m, uint64_t state) {
    static const il_str live[] = {{"flight", 6}, {"open", 4}, {"crossing", 8}};
    if (m->goal) {
        il_cel_value values[IL_MODEL_VARS_MAX];
        il_cel_value vars[3] = {{0}, {0}, {0}};
        for (uint32_t v = 0; v < m->nvars; v++) {
            values[v] = m->vars[v].domain.values[il_model_get(m, state, v)];
        }
        vars[0].kind = IL_CEL_RECORD;
        vars[0].n = m->nvars;
        vars[0].u.items = values;
        il_cel_value holds = il_cel_eval(m->goal, vars, NULL);
        return holds.kind == IL_CEL_BOOL && holds.u.b; /* an error is no goal */
    }
    uint32_t phase = il_model_var(m, IL_STR("phase"));
    bool goal = phase != UINT32_MAX && il_str_eq(m->vars[phase].domain.names[il_model_get(m, state, phase)], IL_STR("ended"));
    for (uint32_t i = 0; goal && i < 3; i++) {
        uint32_t v = il_model_var(m, live[i]);
        goal = v == UINT32_MAX || il_model_get(m, state, v) == 0;
    }
    return goal;
}

static uint32_t recover_expand_root(const il_recover_graph *g, uint64_t key, il_space_edge *out) {
    uint32_t chunk = (uint32_t)(UINT64_MAX - key);
    uint32_t from = chunk * RECOVER_CHUNK;
    uint32_t n = 0;
    for (uint32_t i = from; i < g->ndanger && i - from < RECOVER_CHUNK; i++) {
        out[n] = (il_space_edge){.next = g->danger[i], .symbol = n};
        n++;
    }
    if (chunk + 1 < recover_roots(g)) {
        out[n] = (il_space_edge){.next = key - 1, .symbol = n};
        n++;
    }
    return n;
}

static uint32_t recover_expand(void *ctx, uint64_t key, il_space_edge *out) {
    const il_recover_graph *g = ctx;
    if (recover_is_root(g, key)) {
        return recover_expand_root(g, key, out);
    }
    if (g->others && il_recovery_goal(g->h->subject.m, key)) {
        return 0;
    }
    il_steps_edges row = il_subject_row(&g->h->subject, key);
    uint32_t n = 0;
    for (uint32_t k = 0; k < row.n; k++) {
        const il_steps_edge *e = &row.edge[k];
        bool corrective = recover_corrective(g, e->symbol);
        bool taken = corrective ? !(g->others && e->fault) : g->others && !e->fault;
        taken = taken && !(g->cut && il_recovery_goal(g->h->subject.m, e->next));
        if (taken && (e->fault || e->next != key)) {
            out[n++] = (il_space_edge){e->next, e->symbol, e->fault};
        }
    }
    return n;
}

uint64_t il_recover_state(const il_recover_graph *g, uint32_t node) { return il_space_key(&g->space, node); }

uint32_t il_recover_node(const il_recover_graph *g, uint64_t state) { return il_space_find(&g->space, state); }

/* Memory of the graph itself; NULL beyond the bound as without memory, and then `full` is set. */
static void *recover_take(il_recover_graph *g, size_t count, size_t size) {
    const il_alloc *alloc = g->h->subject.alloc;
    if (count > (g->limit - g->bytes) / size) {
        g->full = true;
        return NULL;
    }
    void *p = alloc->alloc(alloc->ctx, count * size + 1);
    if (p) {
        g->bytes += count * size;
        memset(p, 0, count * size);
    }
    return p;
}

static void recover_drop(il_recover_graph *g, void *p) {
    const il_alloc *alloc = g->h->subject.alloc;
    alloc->free(alloc->ctx, p);
}

static il_status recover_failed(const il_recover_graph *g, il_error *err) {
    return g->full ? IL_OK : il_error_set(err, IL_E_MEMORY, "no memory for the graph of corrective steps");
}

static bool recover_push(il_recover_graph *g, il_recover_list *l, uint32_t to) {
    if (l->n == l->cap) {
        uint32_t cap = l->cap ? l->cap * 2 : 1024;
        uint32_t *bigger = recover_take(g, cap, sizeof *bigger);
        if (!bigger) {
            return false;
        }
        if (l->n > 0) {
            memcpy(bigger, l->to, (size_t)l->n * sizeof *bigger);
        }
        recover_drop(g, l->to);
        g->bytes -= (size_t)l->cap * sizeof *bigger;
        l->to = bigger;
        l->cap = cap;
    }
    l->to[l->n++] = to;
    return true;
}

/* Successors, each once for each kind of step. */
static bool recover_link(il_recover_graph *g) {
    uint32_t kinds = g->others ? 2 : 1;
    uint32_t *seen[2] = {NULL, NULL};
    bool done = true;
    for (uint32_t k = 0; k < kinds; k++) {
        g->next[k].first = recover_take(g, (size_t)g->n + 1, sizeof(uint32_t));
        seen[k] = recover_take(g, g->n, sizeof(uint32_t));
        done = done && g->next[k].first && seen[k];
    }
    for (uint32_t i = 0; done && i < g->n; i++) {
        bool end = (g->mark[i] & IL_RECOVER_ROOT) || (g->others && (g->mark[i] & IL_RECOVER_GOAL));
        uint64_t state = il_recover_state(g, i);
        il_steps_edges row = end ? (il_steps_edges){0} : il_subject_row(&g->h->subject, state);
        for (uint32_t e = 0; done && e < row.n; e++) {
            uint32_t k = recover_corrective(g, row.edge[e].symbol) ? 0 : 1;
            if (row.edge[e].fault || row.edge[e].next == state || k >= kinds) {
                continue;
            }
            uint32_t to = il_recover_node(g, row.edge[e].next);
            if (to != UINT32_MAX && seen[k][to] != i + 1) {
                seen[k][to] = i + 1;
                done = recover_push(g, &g->next[k], to);
            }
        }
        for (uint32_t k = 0; k < kinds; k++) {
            g->next[k].first[i + 1] = g->next[k].n;
        }
    }
    for (uint32_t k = 0; k < kinds; k++) {
        g->bytes -= seen[k] ? (size_t)g->n * sizeof(uint32_t) : 0;
        recover_drop(g, seen[k]);
    }
    return done;
}

/* Predecessors, by counting. */
static bool recover_turn(il_recover_graph *g, const il_recover_list *next, il_recover_list *back) {
    back->first = recover_take(g, (size_t)g->n + 2, sizeof(uint32_t));
    back->to = recover_take(g, next->n, sizeof(uint32_t));
    back->n = back->cap = next->n;
    if (!back->first || !back->to) {
        return false;
    }
    for (uint32_t e = 0; e < next->n; e++) {
        back->first[next->to[e] + 2]++;
    }
    for (uint32_t i = 2; i < g->n + 2; i++) {
        back->first[i] += back->first[i - 1];
    }
    for (uint32_t i = 0; i < g->n; i++) {
        for (uint32_t e = next->first[i]; e < next->first[i + 1]; e++) {
            back->to[back->first[next->to[e] + 1]++] = i;
        }
    }
    return true;
}

static void recover_search(il_recover_graph *g) {
    memset(g->parent, 0xFF, (size_t)g->n * sizeof *g->parent);
    for (uint32_t i = 0; i < g->ndanger; i++) {
        uint32_t node = il_recover_node(g, g->danger[i]);
        if (node != UINT32_MAX && g->parent[node] == UINT32_MAX) {
            g->parent[node] = node;
            g->order[g->norder++] = node;
        }
    }
    uint32_t layer = g->norder;
    for (uint32_t at = 0; at < g->norder; at++) {
        uint32_t node = g->order[at];
        if (at == layer) {
            layer = g->norder;
            g->depth++;
        }
        for (uint32_t k = 0; k < (g->others ? 2u : 1u); k++) {
            for (uint32_t e = g->next[k].first[node]; e < g->next[k].first[node + 1]; e++) {
                uint32_t to = g->next[k].to[e];
                if (g->parent[to] == UINT32_MAX) {
                    g->parent[to] = node;
                    g->order[g->norder++] = to;
                }
            }
        }
    }
}

static bool recover_arrays(il_recover_graph *g) {
    g->mark = recover_take(g, g->n, 1);
    g->parent = recover_take(g, g->n, sizeof(uint32_t));
    g->order = recover_take(g, g->n, sizeof(uint32_t));
    g->scratch = recover_take(g, g->n, sizeof(uint32_t));
    if (!g->mark || !g->parent || !g->order || !g->scratch) {
        return false;
    }
    for (uint32_t i = 0; i < g->n; i++) {
        uint64_t key = il_space_key(&g->space, i);
        bool root = recover_is_root(g, key);
        g->mark[i] = root ? IL_RECOVER_ROOT : il_recovery_goal(g->h->subject.m, il_recover_state(g, i)) ? IL_RECOVER_GOAL : 0;
    }
    return true;
}

il_status il_recover_graph_make(il_recover_graph *g, il_error *err) {
    const il_subject *s = &g->h->subject;
    g->limit = s->bounds.bytes ? s->bounds.bytes : RECOVER_BYTES;
    if (s->m->bits > 63) {
        g->full = true;
        return IL_OK;
    }
    il_space_def def = {.ctx = g, .initial = UINT64_MAX, .expand = recover_expand};
    def.nsymbols = def.first_write = s->m->nsymbols > RECOVER_CHUNK + 1 ? s->m->nsymbols : RECOVER_CHUNK + 1;
    /* the bound is on states, and roots are none */
    uint64_t states = (uint64_t)(s->bounds.states ? s->bounds.states : UINT32_C(1) << 24) + recover_roots(g);
    il_space_bounds bounds = s->bounds;
    bounds.states = states > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)states;
    bounds.workers = 1; /* one il_steps, one thread */
    IL_TRY(il_space_explore(&g->space, s->alloc, &def, &bounds, err));
    g->n = g->space.n;
    g->steps = g->space.bound_hit ? 0 : g->space.edges - g->ndanger - (recover_roots(g) - 1);
    if (g->space.bound_hit) {
        g->full = true;
        return IL_OK;
    }
    if (!recover_arrays(g) || !recover_link(g)) {
        return recover_failed(g, err);
    }
    for (uint32_t k = 0; k < (g->others ? 2u : 1u); k++) {
        if (!recover_turn(g, &g->next[k], &g->back[k])) {
            return recover_failed(g, err);
        }
    }
    recover_search(g);
    return IL_OK;
}

void il_recover_graph_free(il_recover_graph *g) {
    void *parts[] = {g->held,          g->mark,          g->parent,        g->order,      g->scratch,
                     g->next[0].first, g->next[0].to,    g->next[1].first, g->next[1].to, g->back[0].first,
                     g->back[0].to,    g->back[1].first, g->back[1].to};
    for (size_t i = 0; g->h && i < sizeof parts / sizeof parts[0]; i++) {
        recover_drop(g, parts[i]);
    }
    il_space_free(&g->space);
}

void il_recover_back(il_recover_graph *g, unsigned kinds, unsigned marks, unsigned through) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        bool target = (g->mark[i] & marks) != 0;
        g->mark[i] = (uint8_t)(target ? g->mark[i] | IL_RECOVER_BACK : g->mark[i] & ~IL_RECOVER_BACK);
        if (target) {
            g->scratch[n++] = i;
        }
    }
    for (uint32_t at = 0; at < n; at++) {
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t node = g->scratch[at];
            for (uint32_t e = kinds >> k & 1 ? g->back[k].first[node] : 0; (kinds >> k & 1) && e < g->back[k].first[node + 1];
                 e++) {
                uint32_t from = g->back[k].to[e];
                if (!(g->mark[from] & (IL_RECOVER_BACK | through))) {
                    g->mark[from] |= IL_RECOVER_BACK;
                    g->scratch[n++] = from;
                }
            }
        }
    }
}

il_status il_recover_way_new(il_recover_graph *g, il_recover_way *way, il_error *err) {
    *way = (il_recover_way){0};
    way->node = recover_take(g, (size_t)g->n * 3 + 3, sizeof(uint32_t)); /* a stem, a step, and twice a way of its own */
    way->kinds = recover_take(g, (size_t)g->n * 3 + 3, 1);
    return way->node && way->kinds ? IL_OK : recover_failed(g, err);
}

void il_recover_way_free(il_recover_graph *g, il_recover_way *way) {
    g->bytes -= way->node ? ((size_t)g->n * 3 + 3) * sizeof(uint32_t) : 0;
    g->bytes -= way->kinds ? (size_t)g->n * 3 + 3 : 0;
    recover_drop(g, way->node);
    recover_drop(g, way->kinds);
    *way = (il_recover_way){0};
}

void il_recover_stem(const il_recover_graph *g, uint32_t node, il_recover_way *way) {
    uint32_t n = 1;
    for (uint32_t i = node; g->parent[i] != i; i = g->parent[i]) {
        n++;
    }
    way->n = n;
    for (uint32_t i = node; n > 0; i = g->parent[i]) {
        n--;
        way->node[n] = i;
        way->kinds[n] = IL_RECOVER_BY_CORRECTIVE | IL_RECOVER_BY_OTHERS;
    }
}

bool il_recover_lead(il_recover_graph *g, il_recover_way *way, unsigned kinds, unsigned marks, unsigned over, bool step,
                     uint64_t *budget) {
    uint32_t start = way->node[way->n - 1];
    if (!step && (g->mark[start] & marks)) {
        return true;
    }
    const il_alloc *alloc = g->h->subject.alloc;
    uint32_t *came = alloc->alloc(alloc->ctx, (size_t)g->n * sizeof *came + 1);
    if (!came) {
        *budget = 0;
        return false;
    }
    memset(came, 0xFF, (size_t)g->n * sizeof *came);
    uint32_t found = UINT32_MAX;
    uint32_t n = 0;
    g->scratch[n++] = start;
    for (uint32_t at = 0; at < n && found == UINT32_MAX && *budget > 0; at++) {
        uint32_t node = g->scratch[at];
        for (uint32_t k = 0; k < 2; k++) {
            for (uint32_t e = kinds >> k & 1 ? g->next[k].first[node] : 0;
                 (kinds >> k & 1) && found == UINT32_MAX && e < g->next[k].first[node + 1]; e++) {
                uint32_t to = g->next[k].to[e];
                *budget -= *budget > 0 ? 1 : 0;
                if (came[to] != UINT32_MAX || (over && (g->mark[to] & over) != over)) {
                    continue;
                }
                came[to] = node;
                found = g->mark[to] & marks ? to : UINT32_MAX;
                if (found == UINT32_MAX && to != start) {
                    g->scratch[n++] = to;
                }
            }
        }
    }
    uint32_t steps = 0;
    for (uint32_t i = found; found != UINT32_MAX; i = came[i]) {
        steps++;
        if (came[i] == start) {
            break;
        }
    }
    uint32_t i = found;
    for (uint32_t k = steps; k > 0; k--) {
        way->node[way->n + k - 1] = i;
        way->kinds[way->n + k - 1] = (uint8_t)kinds;
        i = came[i];
    }
    way->n += steps;
    alloc->free(alloc->ctx, came);
    return found != UINT32_MAX;
}

il_status il_recover_trace(il_recover_graph *g, const il_recover_way *way, il_trace *out, il_error *err) {
    *out = (il_trace){.found = true, .n = way->n - 1};
    out->steps = IL_NEW_ARRAY(g->h->subject.arena, il_trace_step, way->n);
    if (!out->steps) {
        return il_arena_fail(g->h->subject.arena, err);
    }
    for (uint32_t i = 1; i < way->n; i++) {
        uint64_t pre = il_recover_state(g, way->node[i - 1]);
        uint64_t post = il_recover_state(g, way->node[i]);
        il_steps_edges row = il_subject_row(&g->h->subject, pre);
        uint32_t symbol = IL_NO_SYMBOL;
        for (uint32_t e = 0; symbol == IL_NO_SYMBOL && e < row.n; e++) {
            unsigned kind = recover_corrective(g, row.edge[e].symbol) ? IL_RECOVER_BY_CORRECTIVE : IL_RECOVER_BY_OTHERS;
            symbol = !row.edge[e].fault && row.edge[e].next == post && (way->kinds[i] & kind) ? row.edge[e].symbol : symbol;
        }
        out->steps[i - 1] = (il_trace_step){.symbol = symbol, .pre = pre, .post = post};
    }
    return IL_OK;
}
