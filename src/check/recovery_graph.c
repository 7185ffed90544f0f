/* SPDX-License-Identifier: Apache-2.0 */
#include "check/recovery_graph.h"

#include "base/error.h"
#include "base/mem.h"

#define RECOVER_BYTES ((size_t)1 << 30)
#define RECOVER_STATES (UINT32_C(1) << 24)
#define RECOVER_WORK (UINT32_C(1) << 14) /* steps between two calls of `progress` */

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

uint64_t il_recover_state(const il_recover_graph *g, uint32_t node) { return il_known_key(&g->nodes, node); }

uint32_t il_recover_node(const il_recover_graph *g, uint64_t state) { return il_known_find(&g->nodes, state); }

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

/* Room for what is kept of one more node. */
static bool recover_room(il_recover_graph *g) {
    if (g->nodes.n < g->cap) {
        return true;
    }
    const uint32_t cap = g->cap ? g->cap * 2 : 1024;
    uint8_t *mark = recover_take(g, cap, sizeof *mark);
    uint32_t *seen = mark ? recover_take(g, cap, sizeof *seen) : NULL;
    if (!mark || !seen) {
        recover_drop(g, mark);
        return false;
    }
    if (g->cap > 0) {
        memcpy(mark, g->mark, g->cap * sizeof *mark);
        memcpy(seen, g->scratch, g->cap * sizeof *seen);
    }
    recover_drop(g, g->mark);
    recover_drop(g, g->scratch);
    g->bytes -= g->cap * (sizeof *mark + sizeof *seen);
    g->mark = mark;
    g->scratch = seen;
    g->cap = cap;
    return true;
}

/* A state's node, which may be new. false: a bound, and then `full` is set, or no memory. */
static bool recover_put(il_recover_graph *g, uint64_t state, uint32_t parent, uint32_t *node) {
    if (!recover_room(g)) {
        return false;
    }
    const il_known_added added = il_known_put(&g->nodes, state, parent, node);
    if (added == IL_KNOWN_NEW) {
        g->mark[*node] = il_recovery_goal(g->h->subject.m, state) ? IL_RECOVER_GOAL : 0;
    }
    g->full = g->full || added == IL_KNOWN_FULL;
    return added == IL_KNOWN_NEW || added == IL_KNOWN_OLD;
}

/* The steps of one kind from a node. Successors are listed once each; `scratch` says for which node and kind they were listed last. */
static bool recover_link(il_recover_graph *g, uint32_t node, uint64_t state, const il_steps_edges *row, uint32_t kind) {
    for (uint32_t i = 0; i < row->n; i++) {
        const il_steps_edge *e = &row->edge[i];
        uint32_t to = 0;
        if (recover_corrective(g, e->symbol) != (kind == 0)) {
            continue;
        }
        if (e->fault && kind == 0 && !g->others && !g->fault.found) {
            g->fault = (il_space_hit){.found = true, .edge = true, .node = node, .symbol = e->symbol, .next = e->next};
        }
        const bool left_out = g->cut && il_recovery_goal(g->h->subject.m, e->next) && il_recover_node(g, e->next) == UINT32_MAX;
        if (e->fault || e->next == state || left_out) {
            continue;
        }
        g->steps++;
        if (!recover_put(g, e->next, node, &to)) {
            return false;
        }
        if (g->scratch[to] != 2 * node + kind + 1) {
            g->scratch[to] = 2 * node + kind + 1;
            if (!recover_push(g, &g->next[kind], to)) {
                return false;
            }
        }
    }
    return true;
}

static bool recover_goes_on(il_recover_graph *g, const il_space_bounds *bounds, uint32_t node, uint32_t *work) {
    const il_space_progress now = {.states = g->nodes.n, .edges = g->steps, .frontier = g->nodes.n - node};
    bool more = true;
    if (*work >= RECOVER_WORK || node + 1 == g->nodes.n) {
        more = il_space_spend(bounds, *work) && (!bounds->progress || bounds->progress(bounds->progress_ctx, &now));
        *work = 0;
    }
    g->full = g->full || !more;
    return more;
}

/* Breadth first from the danger states, corrective steps first. */
static bool recover_explore(il_recover_graph *g, const il_space_bounds *bounds) {
    const uint32_t kinds = g->others ? 2 : 1;
    uint32_t place = 0, work = 0;
    for (uint32_t k = 0; k < kinds; k++) {
        if (!recover_push(g, &g->from[k], 0)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < g->ndanger; i++) {
        if (!recover_put(g, g->danger[i], g->nodes.n, &place)) {
            return false;
        }
    }
    uint32_t layer = g->nodes.n;
    for (uint32_t node = 0; node < g->nodes.n; node++) {
        if (node == layer) {
            layer = g->nodes.n;
            g->depth++;
        }
        const uint64_t state = il_recover_state(g, node);
        const bool end = g->others && (g->mark[node] & IL_RECOVER_GOAL);
        const il_steps_edges row = end ? (il_steps_edges){0} : il_subject_row(&g->h->subject, state);
        for (uint32_t k = 0; k < kinds; k++) {
            if (!recover_link(g, node, state, &row, k) || !recover_push(g, &g->from[k], g->next[k].n)) {
                return false;
            }
        }
        work += row.n + 1;
        if (!recover_goes_on(g, bounds, node, &work)) {
            return false;
        }
    }
    return true;
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

il_status il_recover_graph_make(il_recover_graph *g, il_error *err) {
    const il_subject *s = &g->h->subject;
    const il_space_bounds bounds = il_space_share(&s->bounds);
    g->limit = s->bounds.bytes ? s->bounds.bytes : RECOVER_BYTES;
    const uint32_t states = s->bounds.states ? s->bounds.states : RECOVER_STATES;
    il_known_init(&g->nodes, s->alloc, 64, false, states < UINT32_MAX / 4 ? states : UINT32_MAX / 4, g->limit);
    if (!recover_explore(g, &bounds)) {
        return recover_failed(g, err);
    }
    g->n = g->nodes.n;
    for (uint32_t k = 0; k < (g->others ? 2u : 1u); k++) {
        g->next[k].first = g->from[k].to;
        if (!recover_turn(g, &g->next[k], &g->back[k])) {
            return recover_failed(g, err);
        }
    }
    return IL_OK;
}

void il_recover_graph_free(il_recover_graph *g) {
    void *parts[] = {g->held,       g->came,       g->mark,       g->scratch,       g->from[0].to,    g->from[1].to,
                     g->next[0].to, g->next[1].to, g->back[0].to, g->back[0].first, g->back[1].first, g->back[1].to};
    for (size_t i = 0; g->h && i < sizeof parts / sizeof parts[0]; i++) {
        recover_drop(g, parts[i]);
    }
    if (g->nodes.alloc) {
        il_known_free(&g->nodes);
    }
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

/* A danger state is its own. */
static uint32_t recover_parent(const il_recover_graph *g, uint32_t node) { return il_known_parent(&g->nodes, node); }

void il_recover_stem(const il_recover_graph *g, uint32_t node, il_recover_way *way) {
    uint32_t n = 1;
    for (uint32_t i = node; recover_parent(g, i) != i; i = recover_parent(g, i)) {
        n++;
    }
    way->n = n;
    for (uint32_t i = node; n > 0; i = recover_parent(g, i)) {
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
    if (!g->came) { /* once: it is as large as the graph, and there is a search for each node that may lie on a loop */
        g->came = recover_take(g, g->n, sizeof *g->came);
        if (!g->came) {
            *budget = 0;
            return false;
        }
        memset(g->came, 0xFF, (size_t)g->n * sizeof *g->came);
    }
    uint32_t *came = g->came;
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
    for (uint32_t at = 0; at < n; at++) {
        came[g->scratch[at]] = UINT32_MAX;
    }
    if (found != UINT32_MAX) {
        came[found] = UINT32_MAX;
    }
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
