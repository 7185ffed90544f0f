/* SPDX-License-Identifier: Apache-2.0 */
/* A graph for Graphviz, and as JSON. */
#include "check/graph.h"

/* In a double-quoted string of Graphviz: `"` and `\` are escaped, a line feed is its own, other control characters are blanks. */
static void graph_quoted(il_buf *out, il_str s) {
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '"' || c == '\\') {
            il_buf_putc(out, '\\');
        }
        il_buf_putc(out, (unsigned char)c < 0x20 || c == 0x7f ? ' ' : c);
    }
}

static void graph_number(il_buf *out, uint64_t n) {
    char text[24];
    il_buf_put(out, (il_str){text, il_format(text, sizeof text, "%llu", (unsigned long long)n)});
}

/* One a line, as a centred label has it. */
static void graph_label_lines(const il_graph *g, uint64_t state, il_buf *out) {
    const il_model *m = g->m;
    bool any = false;
    for (uint32_t v = 0; v < m->nvars; v++) {
        uint32_t value = il_model_get(m, state, v);
        if ((g->keep >> v & 1) && value != 0) {
            il_buf_puts(out, any ? "\\n" : "");
            graph_quoted(out, m->vars[v].name);
            if (m->vars[v].domain.kind != IL_DOMAIN_BOOL) {
                il_buf_puts(out, " = ");
                graph_quoted(out, m->vars[v].domain.names[value]);
            }
            any = true;
        }
    }
    il_buf_puts(out, any ? "" : "start");
}

/* What is forbidden in red, what is mediated in yellow; the regions stand below the values. */
static const char *graph_colour(const il_model *m, uint64_t in, const char *red, const char *yellow, const char *none) {
    const char *colour = none;
    for (uint32_t r = 0; r < m->nregions; r++) {
        if (in >> r & 1) {
            if (!m->regions[r].gated) {
                return red;
            }
            colour = yellow;
        }
    }
    return colour;
}

static void graph_regions(const il_graph *g, uint64_t in, il_buf *out) {
    for (uint32_t r = 0; r < g->m->nregions; r++) {
        if (in >> r & 1) {
            il_buf_puts(out, "\\n(");
            graph_quoted(out, g->m->regions[r].name);
            il_buf_puts(out, ")");
        }
    }
}

static void graph_dot_node(const il_graph *g, uint32_t i, il_buf *out) {
    const il_graph_node *n = &g->nodes[i];
    il_buf_puts(out, "  n");
    graph_number(out, i);
    il_buf_puts(out, " [label=\"");
    graph_label_lines(g, n->state, out);
    if (n->states > 1) {
        il_buf_puts(out, "\\n[");
        graph_number(out, n->states);
        il_buf_puts(out, " states]");
    }
    graph_regions(g, n->in, out);
    il_buf_puts(out, "\", fillcolor=\"");
    il_buf_puts(out, graph_colour(g->m, n->in, "#f4b6b6", "#f7e2a8", "#ffffff"));
    il_buf_puts(out, i == 0 ? "\", peripheries=2];\n" : "\"];\n");
}

static void graph_dot_edge(const il_graph *g, const il_graph_edge *e, il_buf *out) {
    bool any = false;
    il_buf_puts(out, "  n");
    graph_number(out, e->from);
    il_buf_puts(out, " -> n");
    graph_number(out, e->to);
    il_buf_puts(out, " [label=\"");
    for (uint32_t a = 0; a < g->m->nactions; a++) {
        if (e->actions >> a & 1) {
            il_buf_puts(out, any ? "\\n" : "");
            graph_quoted(out, g->m->actions[a].name);
            any = true;
        }
    }
    graph_regions(g, e->in, out);
    il_buf_puts(out, "\", color=\"");
    il_buf_puts(out, graph_colour(g->m, e->in, "#c03030", "#b08000", "#606060"));
    il_buf_puts(out, "\"];\n");
}

void il_graph_dot(const il_graph *g, il_buf *out) {
    il_buf_puts(out, "digraph \"");
    graph_quoted(out, g->m->name);
    il_buf_puts(out, "\" {\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=10];\n"
                     "  edge [fontname=\"sans-serif\", fontsize=8];\n");
    for (uint32_t i = 0; i < g->nnodes; i++) {
        graph_dot_node(g, i, out);
    }
    for (uint32_t i = 0; i < g->nedges; i++) {
        graph_dot_edge(g, &g->edges[i], out);
    }
    il_buf_puts(out, "}\n");
}

static il_json *graph_names(il_arena *arena, const il_model *m, uint64_t bits, bool regions) {
    il_json *list = il_json_make(arena, IL_JSON_ARRAY);
    for (uint32_t i = 0; i < (regions ? m->nregions : m->nactions); i++) {
        if ((bits >> i & 1) && !il_json_push(list, il_json_string(arena, regions ? m->regions[i].name : m->actions[i].name))) {
            return NULL;
        }
    }
    return list;
}

static il_json *graph_node_object(const il_graph *g, il_arena *arena, const il_graph_node *n) {
    const il_model *m = g->m;
    il_json *o = il_json_make(arena, IL_JSON_OBJECT);
    il_json *state = il_json_make(arena, IL_JSON_OBJECT);
    for (uint32_t v = 0; v < m->nvars; v++) {
        if ((g->keep >> v & 1) &&
            !il_json_set(state, m->vars[v].name, il_json_string(arena, m->vars[v].domain.names[il_model_get(m, n->state, v)]))) {
            return NULL;
        }
    }
    bool done = il_json_set(o, IL_STR("state"), state) && il_json_set(o, IL_STR("states"), il_json_number(arena, n->states)) &&
                il_json_set(o, IL_STR("regions"), graph_names(arena, m, n->in, true));
    return done ? o : NULL;
}

il_json *il_graph_object(const il_graph *g, il_arena *arena) {
    il_json *o = il_json_make(arena, IL_JSON_OBJECT);
    il_json *nodes = il_json_make(arena, IL_JSON_ARRAY);
    il_json *edges = il_json_make(arena, IL_JSON_ARRAY);
    for (uint32_t i = 0; i < g->nnodes; i++) {
        if (!il_json_push(nodes, graph_node_object(g, arena, &g->nodes[i]))) {
            return NULL;
        }
    }
    for (uint32_t i = 0; i < g->nedges; i++) {
        const il_graph_edge *e = &g->edges[i];
        il_json *x = il_json_make(arena, IL_JSON_OBJECT);
        if (!il_json_set(x, IL_STR("from"), il_json_number(arena, e->from)) ||
            !il_json_set(x, IL_STR("to"), il_json_number(arena, e->to)) ||
            !il_json_set(x, IL_STR("actions"), graph_names(arena, g->m, e->actions, false)) ||
            !il_json_set(x, IL_STR("regions"), graph_names(arena, g->m, e->in, true)) || !il_json_push(edges, x)) {
            return NULL;
        }
    }
    return il_json_set(o, IL_STR("nodes"), nodes) && il_json_set(o, IL_STR("edges"), edges) ? o : NULL;
}
