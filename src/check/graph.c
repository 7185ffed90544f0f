/* SPDX-License-Identifier: Apache-2.0 */
#include "check/graph.h"

#include "base/error.h"
#include "check/view.h"

static uint64_t graph_mask(const il_model *m, uint64_t keep) {
    uint64_t mask = 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        mask |= keep >> v & 1 ? ((UINT64_C(1) << m->vars[v].bits) - 1) << m->vars[v].shift : 0;
    }
    return mask;
}

/* The node of a state; nnodes when it is new. There are at most IL_GRAPH_NODES_MAX: no index is worth its while. */
static uint32_t graph_find(const il_graph *g, uint64_t state) {
    uint32_t i = 0;
    while (i < g->nnodes && g->nodes[i].state != state) {
        i++;
    }
    return i;
}

/* false: more nodes than there is room for */
static bool graph_nodes(il_graph *g, const il_view *v, const il_space *s, uint64_t mask, uint32_t most) {
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t key = il_space_key(s, i);
        uint32_t at = graph_find(g, key & mask);
        if (at == g->nnodes) {
            if (g->nnodes == most) {
                return false;
            }
            g->nodes[g->nnodes++] = (il_graph_node){.state = key & mask};
        }
        g->nodes[at].states++;
        g->nodes[at].in |= il_view_judge(v, key);
    }
    return true;
}

typedef struct graph_cell {
    uint64_t actions, in;
} graph_cell;

static void graph_steps(il_graph *g, il_view *v, const il_space *s, uint64_t mask, graph_cell *cells) {
    const il_model *m = g->m;
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t key = il_space_key(s, i);
        il_steps_edges row = il_view_steps(v, key);
        uint32_t from = g->drawn ? graph_find(g, key & mask) : 0;
        for (uint32_t k = 0; k < row.n; k++) {
            const il_steps_edge *e = &row.edge[k];
            if (e->fault) {
                continue;
            }
            g->accepted[e->symbol] = true;
            if (g->drawn && ((e->next ^ key) & mask) != 0) {
                graph_cell *c = &cells[(size_t)from * g->nnodes + graph_find(g, e->next & mask)];
                c->actions |= UINT64_C(1) << m->symbol_action[e->symbol];
                c->in |= il_view_judge_step(v, key, e->symbol, e->next);
            }
        }
    }
}

static il_status graph_edges(il_graph *g, il_arena *arena, const graph_cell *cells, il_error *err) {
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < g->nnodes * g->nnodes; i++) {
            if (cells[i].actions != 0) {
                if (pass == 1) {
                    g->edges[n] = (il_graph_edge){i / g->nnodes, i % g->nnodes, cells[i].actions, cells[i].in};
                }
                n++;
            }
        }
        if (pass == 0) {
            g->edges = IL_NEW_ARRAY(arena, il_graph_edge, n);
            g->nedges = n;
            if (!g->edges) {
                return il_arena_fail(arena, err);
            }
        }
    }
    return IL_OK;
}

static il_status graph_draw(il_graph *g, il_subject *s, il_arena *arena, uint32_t most, il_error *err) {
    il_view v = {.subject = s, .regions = s->never | s->gated};
    il_space space = {0};
    graph_cell *cells = NULL;
    uint64_t mask = graph_mask(g->m, g->keep);
    il_status status = il_view_explore(&v, &space, err);
    if (status == IL_OK) {
        g->states = space.n;
        g->steps = space.edges;
        g->depth = space.depth;
        g->bounded = space.bound_hit;
        g->drawn = !space.bound_hit && graph_nodes(g, &v, &space, mask, most);
        g->nnodes = g->drawn ? g->nnodes : 0;
        cells = IL_NEW_ARRAY(arena, graph_cell, (size_t)g->nnodes * g->nnodes);
        status = cells ? IL_OK : il_arena_fail(arena, err);
    }
    if (status == IL_OK && cells) {
        graph_steps(g, &v, &space, mask, cells);
        status = graph_edges(g, arena, cells, err);
    }
    il_space_free(&space);
    return status;
}

il_status il_graph_make(il_graph *g, const il_alloc *alloc, il_arena *arena, const il_model *m, uint64_t keep, uint32_t most,
                        const il_space_bounds *bounds, il_error *err) {
    il_subject s = {0};
    most = most < IL_GRAPH_NODES_MAX ? most : IL_GRAPH_NODES_MAX;
    *g = (il_graph){.m = m, .keep = keep};
    g->accepted = IL_NEW_ARRAY(arena, bool, m->nsymbols);
    g->nodes = IL_NEW_ARRAY(arena, il_graph_node, most);
    if (!g->accepted || !g->nodes) {
        return il_arena_fail(arena, err);
    }
    il_status status = il_subject_init(&s, alloc, arena, m, bounds, err);
    if (status == IL_OK) {
        status = graph_draw(g, &s, arena, most, err);
    }
    il_subject_free(&s);
    return status;
}

void il_graph_label(const il_graph *g, uint64_t state, il_buf *out) {
    const il_model *m = g->m;
    bool any = false;
    for (uint32_t v = 0; v < m->nvars; v++) {
        uint32_t value = il_model_get(m, state, v);
        if (!(g->keep >> v & 1) || value == 0) {
            continue;
        }
        il_buf_puts(out, any ? " " : "");
        il_buf_put(out, m->vars[v].name);
        if (m->vars[v].domain.kind != IL_DOMAIN_BOOL) {
            il_buf_putc(out, '=');
            il_buf_put(out, m->vars[v].domain.names[value]);
        }
        any = true;
    }
    il_buf_puts(out, any ? "" : "start");
}
