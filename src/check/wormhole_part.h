/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the wormhole grade: the catalogue, what in it is one mutant, and the judging. */
#pragma once
#include "check/wormhole.h"

/* What makes an edge the same wormhole as another. */
typedef struct il_worm_orbit {
    uint32_t kind, region;
    uint32_t a, b;            /* actions: what is announced, what is done; UINT32_MAX for none */
    uint32_t reason;          /* that is passed over */
    uint64_t changed, values; /* bits that it writes, and what it writes there */
} il_worm_orbit;

typedef struct il_worm_edge {
    uint32_t mutant, orbit;
    uint32_t from, to; /* states of the plant */
    uint32_t meant;    /* where the announced step would have led */
    uint32_t symbol, effect;
    uint8_t reason;
    bool rejected;
    uint64_t view, seen; /* before and after */
} il_worm_edge;

/* A step that the machine rejects although its updates have a meaning; they lead into `regions`. */
typedef struct il_worm_forced {
    uint64_t next, regions;
    uint32_t symbol;
    uint8_t reason;
    bool repeats; /* another of the action, rejected for the same reason, does the same from there */
} il_worm_forced;

typedef struct il_worm_run {
    il_wormholes *w;
    const il_alloc *alloc;
    il_arena *arena;
    const il_model *m;
    const il_wormhole_ask *ask;
    const il_space_bounds *bounds;
    il_plant p;
    uint32_t ticks;
    bool stopped;
    uint32_t benign; /* states of the plant below this number are those of the machine without faults */
    il_nodes keys;   /* of the orbits */
    il_worm_orbit *orbits;
    size_t orbits_cap;
    il_worm_edge *edges; /* sorted by mutant in the end */
    size_t nedges, edges_cap;
    size_t *forced_first; /* benign + 1 entries */
    il_worm_forced *forced;
    size_t nforced, forced_cap;
    il_nodes hops; /* states one silent write away */
    uint64_t *hop_regions;
    size_t hops_cap;
    /* For one eye: pairs without faults, by x. */
    il_nodes pairs;
    uint32_t *pair_first, *pair_y;
    uint64_t *view;
    il_twin_root *roots;
    size_t nroots, roots_cap;
} il_worm_run;

/* Makes the catalogue: edges, their orbits, and the states that they lead to. */
IL_NODISCARD il_status il_worm_catalogue(il_worm_run *r, il_error *err);
/* False when a bound was reached, or the time is over. */
bool il_worm_goes_on(il_worm_run *r);
bool il_worm_bounded(const il_worm_run *r);
/* Makes orbits that show the same one mutant (r->view is that of the eye in question), sorts the edges by mutant, and draws those that are run. */
IL_NODISCARD il_status il_worm_mutants(il_worm_run *r, il_error *err);
IL_NODISCARD il_status il_worm_draw(il_worm_run *r, il_error *err);
