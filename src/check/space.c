/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "check/space_part.h"

#define IL_SPACE_STATES (1u << 24)
#define IL_SPACE_BYTES ((size_t)1 << 30)

enum {
    SPACE_WORK = 1 << 14,  /* states and steps between two calls of `progress` */
    SPACE_AFTER = 1 << 20, /* steps that are still looked at after a bound, for what they are in */
    SPACE_CREW = 4096      /* states of a layer from which on more threads are worth while */
};

uint64_t il_space_key(const il_space *s, uint32_t node) { return il_known_key(&s->nodes, node); }
uint32_t il_space_find(const il_space *s, uint64_t key) { return il_known_find(&s->nodes, key); }
uint32_t il_space_parent(const il_space *s, uint32_t node) { return il_known_parent(&s->nodes, node); }

/* The first step from the parent that leads to the node: where it was found as a better way, that is the better one, because an adversary's
 * writes come last. */
uint32_t il_space_via(const il_space *s, const il_space_def *def, uint32_t node) {
    const il_space_def *from = def ? def : &s->def;
    if (node == 0) {
        return UINT32_MAX;
    }
    uint64_t key = il_known_key(&s->nodes, node);
    uint32_t n = from->expand(from->ctx, il_known_key(&s->nodes, il_known_parent(&s->nodes, node)), s->edge);
    for (uint32_t k = 0; k < n; k++) {
        if (s->edge[k].next == key && !s->edge[k].fault) {
            return s->edge[k].symbol;
        }
    }
    return UINT32_MAX;
}

uint32_t il_space_path(const il_space *s, uint32_t node, uint32_t *nodes) {
    uint32_t n = 0;
    for (uint32_t i = node; i != 0; i = il_space_parent(s, i)) {
        n++;
    }
    uint32_t at = n;
    for (uint32_t i = node; nodes && i != 0; i = il_space_parent(s, i)) {
        nodes[--at] = i;
    }
    return n;
}

void il_space_free(il_space *s) {
    if (s->nodes.alloc) {
        s->nodes.alloc->free(s->nodes.alloc->ctx, s->edge);
    }
    il_known_free(&s->nodes);
    *s = (il_space){0};
}

void il_space_hit_take(il_space_run *run, uint64_t bits, const il_space_hit *hit) {
    for (bits &= ~run->settled; bits != 0; bits &= bits - 1) {
        uint32_t b = (uint32_t)__builtin_ctzll(bits);
        uint16_t writes = il_known_writes(&run->s->nodes, hit->node);
        if (!run->s->hits[b].found || writes < run->best[b]) {
            run->s->hits[b] = *hit;
            run->best[b] = writes;
        }
    }
}

static uint64_t space_most(const il_space_bounds *bounds) { return bounds->work ? bounds->work : IL_SPACE_WORK; }

bool il_space_spend(const il_space_bounds *bounds, uint64_t work) {
    if (!bounds || !bounds->spent) {
        return true;
    }
    *bounds->spent += work;
    return *bounds->spent <= space_most(bounds);
}

uint64_t il_space_left(const il_space_bounds *bounds) {
    return *bounds->spent < space_most(bounds) ? space_most(bounds) - *bounds->spent : 0;
}

il_space_bounds il_space_share(const il_space_bounds *bounds) {
    il_space_bounds own = bounds ? *bounds : (il_space_bounds){0};
    if (own.spent && il_space_left(&own) > 0) {
        own.work = *own.spent + (il_space_left(&own) + 1) / 2;
    }
    return own;
}

static uint64_t space_found(const il_space *s) {
    uint64_t bits = 0;
    for (uint32_t b = 0; b < 64; b++) {
        bits |= (uint64_t)s->hits[b].found << b;
    }
    return bits;
}

static bool space_stops(il_space *s) {
    const uint64_t found = s->def.stop ? space_found(s) & s->def.stop : 0;
    s->stopped = found != 0 && (found == s->def.stop || s->def.any);
    return s->stopped;
}

bool il_space_goes_on(il_space_run *run, uint32_t expanded) {
    const il_space *s = run->s;
    il_space_progress now = {.states = s->nodes.n, .edges = s->edges, .frontier = s->nodes.n - expanded};
    run->work = 0;
    return !run->bounds->progress || run->bounds->progress(run->bounds->progress_ctx, &now);
}

il_status il_space_add(il_space_run *run, uint64_t key, uint32_t parent, uint16_t writes, il_error *err) {
    switch (il_known_add(&run->s->nodes, key, parent, writes, run->to)) {
    case IL_KNOWN_OLD:
    case IL_KNOWN_NEW:
        return IL_OK;
    case IL_KNOWN_FULL:
        run->full = run->s->bound_hit ? run->full : run->spanned;
        run->s->bound_hit = true;
        return IL_OK;
    case IL_KNOWN_MEMORY:
        break;
    }
    return il_error_set(err, IL_E_MEMORY, "no memory for more states");
}

static il_status space_step(il_space_run *run, uint32_t i, uint64_t key, const il_space_edge *e, il_error *err) {
    il_space *s = run->s;
    bool write = e->symbol >= s->def.first_write;
    if (e->fault) {
        if (!s->fault.found) {
            s->fault = (il_space_hit){.found = true, .edge = true, .node = i, .symbol = e->symbol, .next = e->next};
        }
        return IL_OK;
    }
    s->edges += !write;
    if (s->def.edge && !write) {
        uint64_t bits = s->def.edge(s->def.ctx, key, e->symbol, e->next);
        if (bits != 0) {
            il_space_hit hit = {.found = true, .edge = true, .node = i, .symbol = e->symbol, .next = e->next};
            il_space_hit_take(run, bits, &hit);
        }
    }
    if (e->next == key) {
        return IL_OK; /* known, and no shorter this way */
    }
    return il_space_add(run, e->next, i, (uint16_t)(il_known_writes(&s->nodes, i) + write), err);
}

bool il_space_spanned(il_space_run *run) {
    const bool more = il_space_spend(run->bounds, run->steps);
    run->steps = 0;
    run->spanned = run->s->edges;
    return !more || (run->s->bound_hit && run->s->edges - run->full >= SPACE_AFTER);
}

/* Whether the other threads are to help with so many states. */
static bool space_together(il_space_run *run, uint32_t n) {
    const uint32_t workers = run->bounds->workers;
    if (n < SPACE_CREW || workers < 2 || run->alone) {
        return false;
    }
    if (!run->crew) {
        run->crew = il_space_crew_new(run->s, workers < IL_SPACE_WORKERS_MAX ? workers : IL_SPACE_WORKERS_MAX);
        run->alone = !run->crew;
    }
    return !run->alone;
}

static il_status space_layer(il_space_run *run, uint32_t from, bool *ended, il_error *err) {
    il_space *s = run->s;
    if (space_together(run, run->to - from)) {
        return il_space_crew_layer(run, from, ended, err);
    }
    for (uint32_t i = from; i < run->to; i++) {
        uint64_t key = il_known_key(&s->nodes, i);
        uint32_t n = s->def.expand(s->def.ctx, key, s->edge);
        il_known_fetch(&s->nodes, s->edge, n);
        for (uint32_t k = 0; k < n; k++) {
            IL_TRY(space_step(run, i, key, &s->edge[k], err));
        }
        run->work += n + 1;
        run->steps += n + 1;
        *ended =
            ((i + 1) % IL_SPACE_SPAN == 0 && il_space_spanned(run)) || (run->work >= SPACE_WORK && !il_space_goes_on(run, i + 1));
        if (*ended) {
            return IL_OK;
        }
    }
    return IL_OK;
}

/* Nodes from `from` on: what are they in? */
static void space_judge(il_space_run *run, uint32_t from) {
    il_space *s = run->s;
    if (s->def.state && space_together(run, s->nodes.n - from)) {
        il_space_crew_judge(run, from);
        return;
    }
    for (uint32_t i = from; s->def.state && i < s->nodes.n; i++) {
        uint64_t bits = s->def.state(s->def.ctx, il_known_key(&s->nodes, i)) & ~run->settled;
        if (bits != 0) {
            il_space_hit hit = {.found = true, .node = i, .symbol = il_space_via(s, NULL, i), .next = il_known_key(&s->nodes, i)};
            il_space_hit_take(run, bits, &hit);
        }
    }
}

static il_status space_layers(il_space_run *run, il_error *err) {
    il_space *s = run->s;
    bool ended = false;
    space_judge(run, 0);
    if (space_stops(s)) {
        return IL_OK;
    }
    for (uint32_t from = 0; from < s->nodes.n; from = run->to) {
        run->to = s->nodes.n;
        run->settled = space_found(s);
        s->depth += from > 0;
        if (from == 0 && (!il_space_spend(run->bounds, 0) || !il_space_goes_on(run, 0))) {
            s->bound_hit = true;
            return IL_OK;
        }
        IL_TRY(space_layer(run, from, &ended, err));
        space_judge(run, run->to);
        if (ended) {
            s->bound_hit = true;
            return IL_OK;
        }
        if (space_stops(s)) {
            return IL_OK;
        }
    }
    return IL_OK;
}

il_status il_space_explore(il_space *s, const il_alloc *alloc, const il_space_def *def, const il_space_bounds *bounds,
                           il_error *err) {
    *s = (il_space){.def = *def};
    uint64_t spent = 0;
    il_space_bounds own = il_space_share(bounds);
    own.spent = own.spent ? own.spent : &spent;
    il_space_run run = {.s = s, .bounds = &own};
    uint32_t max = own.states ? own.states : IL_SPACE_STATES;
    size_t bytes = own.bytes ? own.bytes : IL_SPACE_BYTES;
    size_t room = (size_t)def->nsymbols * sizeof *s->edge + 1;
    bool writes = def->first_write < def->nsymbols;
    il_known_init(&s->nodes, alloc, def->bits ? def->bits : 64, writes, max, bytes > room ? bytes - room : 0);
    s->edge = alloc->alloc(alloc->ctx, room);
    if (!s->edge) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the steps of a state");
    }
    IL_TRY(il_space_add(&run, def->initial, 0, 0, err));
    il_status status = s->nodes.n > 0 ? space_layers(&run, err) : IL_OK;
    (void)il_space_spend(&own, run.steps);
    il_space_crew_free(run.crew);
    s->n = s->nodes.n;
    return status;
}
