/* SPDX-License-Identifier: Apache-2.0 */
/* A machine's reachable states as a picture has them: all of them, or what is left of them when only some variables are looked at. */
#pragma once
#include "check/subject.h"
#include "json/node.h"

#define IL_GRAPH_NODES_MAX 512u

typedef struct il_graph_node {
    uint64_t state;  /* with only the kept variables */
    uint32_t states; /* that look like this */
    uint64_t in;     /* bit r: some of them is in region r, a region of states */
} il_graph_node;

typedef struct il_graph_edge { /* from a node to another; what changes nothing that is looked at is left out */
    uint32_t from, to;
    uint64_t actions; /* bit a */
    uint64_t in;      /* bit r: some of its steps is in region r, a region of steps */
} il_graph_edge;

typedef struct il_graph {
    const il_model *m;
    uint64_t keep;          /* bit v: variable v is looked at */
    uint64_t states, steps; /* reachable states and accepted steps of the machine itself */
    uint32_t depth;
    bool bounded;   /* there is more than the bounds let be explored */
    bool *accepted; /* one for each symbol: some state accepts it */
    bool drawn;     /* else there are more nodes than asked for, and neither nodes nor edges */
    uint32_t nnodes, nedges;
    il_graph_node *nodes; /* the initial one first, then as they are found */
    il_graph_edge *edges;
} il_graph;

/* Explores and, up to `most` nodes (at most IL_GRAPH_NODES_MAX), draws. Results live in `arena`. */
IL_NODISCARD il_status il_graph_make(il_graph *g, const il_alloc *alloc, il_arena *arena, const il_model *m, uint64_t keep,
                                     uint32_t most, const il_space_bounds *bounds, il_error *err);

/* Graphviz: names are quoted, whatever they are made of. */
void il_graph_dot(const il_graph *g, il_buf *out);
/* {nodes: [{state, states, regions}], edges: [{from, to, actions}]}; NULL without memory. */
il_json *il_graph_object(const il_graph *g, il_arena *arena);
/* Values off the first of their domain: `untrusted=held open`; `start` when there are none. */
void il_graph_label(const il_graph *g, uint64_t state, il_buf *out);
