/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/mem.h"
#include "check/space_part.h"

enum { CREW_SPANS = 4 }; /* for each thread, between two times that all wait for one another */

/* A step to a state that was not known when the round began. */
typedef struct crew_found {
    uint64_t key;
    uint32_t parent;
    bool write;
} crew_found;

/* What one thread found in one span. */
typedef struct crew_span {
    uint32_t from, to;
    uint64_t steps, edges, bits; /* bits: of hits */
    il_space_hit hits[64], fault;
    crew_found *found;
    uint32_t n, room;
    bool memory; /* ran out */
} crew_span;

typedef struct crew_member {
    void *ctx; /* of the definition; of number 0 the one that was given */
    il_space_edge *edge;
} crew_member;

struct il_space_crew {
    const il_alloc *alloc;
    const il_space_def *def;
    il_team *team;
    uint32_t nmembers, nspans;
    crew_member members[IL_SPACE_WORKERS_MAX];
    crew_span *spans;
    il_space_run *run;     /* of the round in hand */
    _Atomic uint32_t next; /* span that nobody has taken */
};

static bool crew_member_new(il_space_crew *c, crew_member *m, bool first) {
    const il_space_def *def = c->def;
    m->ctx = first ? def->ctx : def->fork(def->ctx);
    m->edge = m->ctx || first ? c->alloc->alloc(c->alloc->ctx, (size_t)def->nsymbols * sizeof *m->edge + 1) : NULL;
    if (!m->edge && m->ctx && !first) {
        def->join(def->ctx, m->ctx);
    }
    return m->edge != NULL;
}

il_space_crew *il_space_crew_new(const il_space *s, uint32_t workers) {
    const il_alloc *alloc = s->nodes.alloc;
    il_space_crew *c = s->def.fork ? alloc->alloc(alloc->ctx, sizeof *c) : NULL;
    if (!c) {
        return NULL;
    }
    memset(c, 0, sizeof *c);
    c->alloc = alloc;
    c->def = &s->def;
    while (c->nmembers < workers && crew_member_new(c, &c->members[c->nmembers], c->nmembers == 0)) {
        c->nmembers++;
    }
    c->team = c->nmembers > 1 ? il_team_new(alloc, c->nmembers - 1) : NULL;
    c->nspans = c->nmembers * CREW_SPANS;
    c->spans = c->team ? alloc->alloc(alloc->ctx, c->nspans * sizeof *c->spans) : NULL;
    if (!c->spans) {
        il_space_crew_free(c);
        return NULL;
    }
    memset(c->spans, 0, c->nspans * sizeof *c->spans);
    return c;
}

void il_space_crew_free(il_space_crew *c) {
    if (!c) {
        return;
    }
    il_team_free(c->team);
    for (uint32_t i = 0; i < c->nmembers; i++) {
        c->alloc->free(c->alloc->ctx, c->members[i].edge);
        if (i > 0) {
            c->def->join(c->def->ctx, c->members[i].ctx);
        }
    }
    for (uint32_t i = 0; c->spans && i < c->nspans; i++) {
        c->alloc->free(c->alloc->ctx, c->spans[i].found);
    }
    c->alloc->free(c->alloc->ctx, c->spans);
    c->alloc->free(c->alloc->ctx, c);
}

static void crew_hit(const il_known *nodes, crew_span *s, uint64_t bits, const il_space_hit *hit) {
    for (; bits != 0; bits &= bits - 1) {
        il_space_hit *had = &s->hits[__builtin_ctzll(bits)];
        if (!had->found || il_known_writes(nodes, hit->node) < il_known_writes(nodes, had->node)) {
            *had = *hit;
            s->bits |= bits & (~bits + 1);
        }
    }
}

static bool crew_push(il_space_crew *c, crew_span *s, uint64_t key, uint32_t parent, bool write) {
    if (s->n == s->room) {
        uint32_t room = s->room ? s->room * 2 : 4 * IL_SPACE_SPAN;
        crew_found *more = c->alloc->alloc(c->alloc->ctx, room * sizeof *more);
        if (!more) {
            return false;
        }
        if (s->n > 0) {
            memcpy(more, s->found, s->n * sizeof *more);
        }
        c->alloc->free(c->alloc->ctx, s->found);
        s->found = more;
        s->room = room;
    }
    s->found[s->n++] = (crew_found){key, parent, write};
    return true;
}

/* Nothing new, and no better way: of this layer's states one may still be found with fewer writes. */
static bool crew_old(const il_space_run *run, uint64_t key) {
    const il_known *nodes = &run->s->nodes;
    if (!nodes->writes) {
        return il_known_has(nodes, key);
    }
    const uint32_t place = nodes->slots[il_known_slot(nodes, key)];
    return place != 0 && place - 1 < run->to;
}

static void crew_step(il_space_crew *c, crew_span *s, void *ctx, uint32_t i, uint64_t key, const il_space_edge *e) {
    const il_space_def *def = c->def;
    const il_known *nodes = &c->run->s->nodes;
    bool write = e->symbol >= def->first_write;
    il_space_hit hit = {.found = true, .edge = true, .node = i, .symbol = e->symbol, .next = e->next};
    if (e->fault) {
        s->fault = s->fault.found ? s->fault : hit;
        return;
    }
    s->edges += !write;
    if (def->edge && !write) {
        uint64_t bits = def->edge(ctx, key, e->symbol, e->next) & ~c->run->settled;
        if (bits != 0) {
            crew_hit(nodes, s, bits, &hit);
        }
    }
    if (e->next != key && !crew_old(c->run, e->next)) {
        s->memory = s->memory || !crew_push(c, s, e->next, i, write);
    }
}

static void crew_expand(il_space_crew *c, crew_span *s, const crew_member *m) {
    const il_known *nodes = &c->run->s->nodes;
    s->steps = s->edges = s->bits = 0;
    s->n = 0;
    s->fault.found = false;
    for (uint32_t i = s->from; i < s->to; i++) {
        uint64_t key = il_known_key(nodes, i);
        uint32_t n = c->def->expand(m->ctx, key, m->edge);
        il_known_fetch(nodes, m->edge, n);
        s->steps += n + 1;
        for (uint32_t k = 0; k < n; k++) {
            crew_step(c, s, m->ctx, i, key, &m->edge[k]);
        }
    }
}

static void crew_judge(il_space_crew *c, crew_span *s, const crew_member *m) {
    const il_known *nodes = &c->run->s->nodes;
    s->bits = 0;
    for (uint32_t i = s->from; i < s->to; i++) {
        uint64_t bits = c->def->state(m->ctx, il_known_key(nodes, i)) & ~c->run->settled;
        if (bits != 0) {
            il_space_hit hit = {.found = true, .node = i, .next = il_known_key(nodes, i)};
            crew_hit(nodes, s, bits, &hit);
        }
    }
}

typedef void crew_work(il_space_crew *c, crew_span *s, const crew_member *m);

static void crew_spans(il_space_crew *c, uint32_t i, crew_work *work) {
    for (uint32_t at = c->next++; at < c->nspans && c->spans[at].from < c->spans[at].to; at = c->next++) {
        for (uint64_t left = c->spans[at].bits; left != 0; left &= left - 1) {
            c->spans[at].hits[__builtin_ctzll(left)].found = false;
        }
        work(c, &c->spans[at], &c->members[i]);
    }
}

static void crew_expand_all(void *ctx, uint32_t i) { crew_spans(ctx, i, crew_expand); }
static void crew_judge_all(void *ctx, uint32_t i) { crew_spans(ctx, i, crew_judge); }

/* Cuts what is left into spans that end at multiples of their size; returns where the last one ends. */
static uint32_t crew_cut(il_space_crew *c, uint32_t from, uint32_t to) {
    c->next = 0;
    for (uint32_t k = 0; k < c->nspans; k++) {
        uint32_t end = (from / IL_SPACE_SPAN + 1) * IL_SPACE_SPAN;
        c->spans[k].from = from;
        c->spans[k].to = from = end < to ? end : to;
    }
    return from;
}

static void crew_hits(il_space_run *run, const crew_span *s, bool states) {
    for (uint64_t left = s->bits; left != 0; left &= left - 1) {
        il_space_hit hit = s->hits[__builtin_ctzll(left)];
        hit.symbol = states ? il_space_via(run->s, NULL, hit.node) : hit.symbol;
        il_space_hit_take(run, left & (~left + 1), &hit);
    }
}

static il_status crew_take(il_space_run *run, const crew_span *s, il_error *err) {
    il_space *space = run->s;
    if (s->memory) {
        return il_error_set(err, IL_E_MEMORY, "no memory for more states");
    }
    space->fault = space->fault.found ? space->fault : s->fault;
    crew_hits(run, s, false);
    for (uint32_t k = 0; k < s->n; k++) {
        const crew_found *f = &s->found[k];
        IL_TRY(il_space_add(run, f->key, f->parent, (uint16_t)(il_known_writes(&space->nodes, f->parent) + f->write), err));
    }
    space->edges += s->edges;
    run->steps += s->steps;
    run->work += (uint32_t)s->edges + (s->to - s->from);
    return IL_OK;
}

il_status il_space_crew_layer(il_space_run *run, uint32_t from, bool *ended, il_error *err) {
    il_space_crew *c = run->crew;
    c->run = run;
    while (from < run->to) {
        uint32_t end = crew_cut(c, from, run->to);
        il_team_run(c->team, crew_expand_all, c);
        for (uint32_t k = 0; k < c->nspans && c->spans[k].from < c->spans[k].to; k++) {
            IL_TRY(crew_take(run, &c->spans[k], err));
            if (c->spans[k].to % IL_SPACE_SPAN == 0 && il_space_spanned(run)) {
                *ended = true;
                return IL_OK;
            }
        }
        from = end;
        if (!il_space_goes_on(run, from)) {
            *ended = true;
            return IL_OK;
        }
    }
    return IL_OK;
}

void il_space_crew_judge(il_space_run *run, uint32_t from) {
    il_space_crew *c = run->crew;
    c->run = run;
    while (from < run->s->nodes.n) {
        from = crew_cut(c, from, run->s->nodes.n);
        il_team_run(c->team, crew_judge_all, c);
        for (uint32_t k = 0; k < c->nspans && c->spans[k].from < c->spans[k].to; k++) {
            crew_hits(run, &c->spans[k], true);
        }
    }
}
