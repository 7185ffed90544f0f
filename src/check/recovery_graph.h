/* SPDX-License-Identifier: Apache-2.0 */
/* The graph that recovery is judged on: nodes breadth first from the danger states, with lists of successors. Not for other checks. */
#pragma once
#include "check/parts.h"

/* Kinds of steps. */
enum { IL_RECOVER_BY_CORRECTIVE = 1, IL_RECOVER_BY_OTHERS = 2 };
/* Marks of nodes. */
enum {
    IL_RECOVER_GOAL = 1,
    IL_RECOVER_BACK = 8, /* scratch of backward reach */
    IL_RECOVER_CYCLE = 16,
    IL_RECOVER_WON = 32
};

typedef struct il_recover_list { /* successors or predecessors by node */
    uint32_t *first, *to;
    uint32_t n, cap;
} il_recover_list;

typedef struct il_recover_graph {
    il_harden *h;
    const uint64_t *danger;
    uint32_t ndanger;
    bool others; /* what other actions do is in it, and nothing goes on from the goal */
    bool cut;    /* a planted dead end: corrective steps into the goal are left out, but for a danger state that is in it */
    size_t bytes, limit;
    bool full;      /* a bound was reached: the graph is not whole */
    il_known nodes; /* in the order of their distance from the danger states, which are their own parents */
    uint32_t n, cap;
    uint64_t steps;     /* that change the state, counted by symbol */
    il_space_hit fault; /* the first corrective step that has no meaning, in the graph of these alone */
    uint32_t depth;     /* steps from the nearest danger state, at most */
    uint8_t *mark;
    il_recover_list from[2], next[2], back[2]; /* 0: corrective, 1: others. `from`: where the successors of each node begin */
    uint32_t *scratch, *came;
    uint64_t *held; /* of each node, the regions of states that hold it; NULL until that is asked for (recovery.c) */
} il_recover_graph;

/* Explores and links. `g` has its first fields set (up to `cut`); freed by the caller in any case. IL_E_MEMORY; a bound sets `full`. */
IL_NODISCARD il_status il_recover_graph_make(il_recover_graph *g, il_error *err);
void il_recover_graph_free(il_recover_graph *g);

uint64_t il_recover_state(const il_recover_graph *g, uint32_t node);
/* UINT32_MAX when there is none. */
uint32_t il_recover_node(const il_recover_graph *g, uint64_t state);
/* Marks IL_RECOVER_BACK on every node from which steps of `kinds` lead to a node that has one of `marks`, itself included; clears it elsewhere.
 * Nodes with a mark of `through` are ends: nothing is followed back from them unless they have one of `marks`. */
void il_recover_back(il_recover_graph *g, unsigned kinds, unsigned marks, unsigned through);

/* A way through the graph: nodes, each with the kinds of step that may lead to it in the bits above. */
typedef struct il_recover_way {
    uint32_t *node;
    uint8_t *kinds;
    uint32_t n;
} il_recover_way;
IL_NODISCARD il_status il_recover_way_new(il_recover_graph *g, il_recover_way *way, il_error *err);
void il_recover_way_free(il_recover_graph *g, il_recover_way *way);
/* From the danger state that is nearest to `node`, to it. */
void il_recover_stem(const il_recover_graph *g, uint32_t node, il_recover_way *way);
/* Appends the shortest way by steps of `kinds` from the last node (n > 0) to a node with a mark of `marks`, over nodes that have all of `over`
 * (0: any); at least one step when `step`. `budget` is lessened by the steps looked at. false: there is none, or the budget is used up. */
bool il_recover_lead(il_recover_graph *g, il_recover_way *way, unsigned kinds, unsigned marks, unsigned over, bool step,
                     uint64_t *budget);
/* The steps of a way, least symbols first. */
IL_NODISCARD il_status il_recover_trace(il_recover_graph *g, const il_recover_way *way, il_trace *out, il_error *err);
