/* SPDX-License-Identifier: Apache-2.0 */
/* The explorer: breadth first by layers, successors in symbol order, so that the first hit has a shortest trace and, of those, the least in
 * symbol order. Every exhaustive search of a check, an observer or a variant runs through it, so a bound means the same everywhere.
 *
 * A key is 64 bits that the definition gives a meaning: a packed state, with what an observer remembers above it.
 * Threads: one space, one thread that asks; `workers` of its own that it starts and ends. */
#pragma once
#include "check/known.h"
#include "machine/steps.h"

/* A step that leaves a key. One without a meaning (`fault`) is noted and not followed. */
typedef il_steps_edge il_space_edge;

typedef struct il_space_def {
    void *ctx;
    uint64_t initial;
    uint32_t bits; /* no key is 2^bits or more, which makes a smaller and faster set; 0: any number */
    uint32_t nsymbols;
    uint32_t
        first_write; /* symbols from here on are an adversary's writes; of equally short traces the one with fewest is taken */
    /* Writes the steps of a key in ascending order of their symbols, at most nsymbols; returns how many. The same ones whenever it is asked:
     * a trace asks again. */
    uint32_t (*expand)(void *ctx, uint64_t key, il_space_edge *out);
    /* Which of up to 64 things a state, or an accepted step, is in. May be NULL. */
    uint64_t (*state)(void *ctx, uint64_t key);
    uint64_t (*edge)(void *ctx, uint64_t key, uint32_t symbol, uint64_t next);
    /* Another context that says the same, for another thread, and giving it back; both are called by the thread that explores. NULL: there is
     * none, and one thread does it all. fork returns NULL without memory. */
    void *(*fork)(void *ctx);
    void (*join)(void *ctx, void *other);
    uint64_t stop; /* end with the layer by which all these bits were hit; 0 explores everything */
    bool any;      /* one of them is enough */
} il_space_def;

typedef struct il_space_progress {
    uint64_t states, edges, frontier; /* of the exploration in hand; `frontier`: states that were found and not yet expanded */
} il_space_progress;

#define IL_SPACE_WORKERS_MAX 64u
#define IL_SPACE_WORK (UINT64_C(1) << 33)

/* At a bound on states or bytes no more states are kept; a while longer the steps of those that are known are looked at. */
typedef struct il_space_bounds { /* zero: the default */
    uint32_t states;             /* 2^24 */
    size_t bytes;                /* of nodes and what finds them, 1 GiB */
    /* States and steps that are looked at, an adversary's writes too: IL_SPACE_WORK. Unlike time it ends the same way everywhere. `spent` counts for
     * all that share it, and one exploration takes half of what is left at most; NULL: each counts for itself. */
    uint64_t work, *spent;
    uint32_t workers; /* threads, 1; with more the allocator is called from all of them. What is found does not depend on it */
    /* Called every few thousand states, from the exploring thread; false ends the exploration as a bound that was reached (a time limit).
     * The module has no clock: who calls it has one. May be NULL. */
    bool (*progress)(void *ctx, const il_space_progress *now);
    void *progress_ctx;
} il_space_bounds;

typedef struct il_space_hit {
    bool found;
    bool edge;     /* the step itself is what hit, else the state that it leads to */
    uint32_t node; /* the state that hit, or from which the step starts */
    uint32_t symbol;
    uint64_t next;
} il_space_hit;

typedef struct il_space {
    il_known nodes;      /* in the order of discovery; 0 is the initial state */
    uint32_t n;          /* of them */
    il_space_def def;    /* what was explored */
    il_space_edge *edge; /* room for the steps of one key */
    uint64_t edges;      /* accepted steps, those that change nothing included */
    uint32_t depth;      /* of the deepest state */
    bool bound_hit;      /* there was more to explore: nothing may be concluded from what was not found */
    bool stopped;        /* ended by `stop` */
    il_space_hit hits[64];
    il_space_hit fault; /* the first step that had no meaning */
} il_space;

/* Counts so much more work; false when more was done than may be, then or before. `bounds` may be NULL. */
bool il_space_spend(const il_space_bounds *bounds, uint64_t work);
/* The bounds of one of several questions: others come after it, so of the work that is left it has half. */
il_space_bounds il_space_share(const il_space_bounds *bounds);
/* Explores. The caller frees the space in any case. IL_E_MEMORY only; a bound is no error but `bound_hit`. */
IL_NODISCARD il_status il_space_explore(il_space *s, const il_alloc *alloc, const il_space_def *def,
                                        const il_space_bounds *bounds, il_error *err);
void il_space_free(il_space *s);
/* What other files read of a node; how nodes are kept is the explorer's own affair. */
uint64_t il_space_key(const il_space *s, uint32_t node);
/* Place of a key, UINT32_MAX when it was not reached. */
uint32_t il_space_find(const il_space *s, uint64_t key);
/* The nodes from the initial state, which is left out, to this one; returns how many. `nodes` may be NULL. */
uint32_t il_space_path(const il_space *s, uint32_t node, uint32_t *nodes);
/* The node from which this one was reached, and the symbol of that step: it is asked of `def.expand` again, where `def` is what was explored; NULL
 * while that is still there to be asked. Of the initial state: 0 and UINT32_MAX. */
uint32_t il_space_parent(const il_space *s, uint32_t node);
uint32_t il_space_via(const il_space *s, const il_space_def *def, uint32_t node);
