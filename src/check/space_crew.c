/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/mem.h"
#include "check/known_batch.h"
#include "check/space_part.h"

enum {
    CREW_SPANS = 256,       /* between two times that all wait for one another, at most; each has a batch */
    CREW_SPANS_OF_ONE = 16, /* and so many for each thread */
    CREW_RECENT_BITS = 12
};

/* What one thread found in one span, but for the steps to states that were not known when the round began: those are in the span's batch. */
typedef struct crew_span {
    uint32_t from, to;
    uint64_t steps, edges, bits; /* bits: of hits */
    il_space_hit hits[64], fault;
    bool memory; /* ran out */
} crew_span;

typedef struct crew_member {
    void *ctx; /* of the definition; of number 0 the one that was given */
    il_space_edge *edge;
    uint64_t *recent; /* keys that it found before: from other parents they are found again soon */
} crew_member;

struct il_space_crew {
    const il_alloc *alloc;
    const il_space_def *def;
    il_team *team;
    uint32_t nmembers, nspans;
    crew_member members[IL_SPACE_WORKERS_MAX];
    crew_span *spans;
    il_known_batch *batches; /* of each span */
    uint32_t nbatches;       /* of the round in hand */
    il_space_run *run;
    _Atomic uint32_t next; /* span that nobody has taken */
};

static void crew_member_free(il_space_crew *c, crew_member *m, bool first) {
    c->alloc->free(c->alloc->ctx, m->edge);
    c->alloc->free(c->alloc->ctx, m->recent);
    if (!first) {
        c->def->join(c->def->ctx, m->ctx);
    }
}

static bool crew_member_new(il_space_crew *c, crew_member *m, bool first) {
    const il_space_def *def = c->def;
    m->ctx = first ? def->ctx : def->fork(def->ctx);
    if (!m->ctx && !first) {
        return false;
    }
    m->edge = c->alloc->alloc(c->alloc->ctx, (size_t)def->nsymbols * sizeof *m->edge + 1);
    m->recent = c->alloc->alloc(c->alloc->ctx, sizeof *m->recent << CREW_RECENT_BITS);
    if (m->edge && m->recent) {
        memset(m->recent, 0xFF, sizeof *m->recent << CREW_RECENT_BITS);
        return true;
    }
    crew_member_free(c, m, first);
    return false;
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
    c->nspans = c->nmembers * CREW_SPANS_OF_ONE < CREW_SPANS ? c->nmembers * CREW_SPANS_OF_ONE : CREW_SPANS;
    c->spans = c->team ? alloc->alloc(alloc->ctx, c->nspans * sizeof *c->spans) : NULL;
    c->batches = c->spans ? alloc->alloc(alloc->ctx, c->nspans * sizeof *c->batches) : NULL;
    if (!c->batches) {
        il_space_crew_free(c);
        return NULL;
    }
    memset(c->spans, 0, c->nspans * sizeof *c->spans);
    memset(c->batches, 0, c->nspans * sizeof *c->batches);
    return c;
}

void il_space_crew_free(il_space_crew *c) {
    if (!c) {
        return;
    }
    il_team_free(c->team);
    for (uint32_t i = 0; i < c->nmembers; i++) {
        crew_member_free(c, &c->members[i], i == 0);
    }
    for (uint32_t i = 0; c->batches && i < c->nspans; i++) {
        il_known_batch_free(&c->batches[i], c->alloc);
    }
    c->alloc->free(c->alloc->ctx, c->batches);
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

/* Nothing new, and no better way: of this layer's states one may still be found with fewer writes. */
static bool crew_old(const il_space_run *run, uint64_t key) {
    const il_known *nodes = &run->s->nodes;
    if (!nodes->writes) {
        return il_known_has(nodes, key);
    }
    const uint32_t place = nodes->slots[il_known_slot(nodes, key)];
    return place != 0 && place - 1 < run->to;
}

/* Whether this thread found the key before, in a span that comes before; then this way to it is no shorter. With writes it may be better. */
static bool crew_recent(const il_known *nodes, uint64_t *recent, uint64_t key) {
    uint64_t *at = &recent[key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - CREW_RECENT_BITS)];
    const bool had = *at == key && key != UINT64_MAX && !nodes->writes;
    *at = key;
    return had;
}

static void crew_step(il_space_crew *c, crew_span *s, const crew_member *m, uint32_t i, uint64_t key, const il_space_edge *e) {
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
        uint64_t bits = def->edge(m->ctx, key, e->symbol, e->next) & ~c->run->settled;
        if (bits != 0) {
            crew_hit(nodes, s, bits, &hit);
        }
    }
    if (e->next != key && !crew_recent(nodes, m->recent, e->next) && !crew_old(c->run, e->next)) {
        il_known_batch *b = &c->batches[s - c->spans];
        s->memory = s->memory || !il_known_batch_push(b, nodes, c->nmembers, e->next, i, write);
    }
}

static void crew_expand(il_space_crew *c, crew_span *s, const crew_member *m) {
    const il_known *nodes = &c->run->s->nodes;
    c->batches[s - c->spans].n = 0;
    c->batches[s - c->spans].wide = false;
    s->steps = s->edges = s->bits = 0;
    s->fault.found = false;
    for (uint32_t i = s->from; i < s->to; i++) {
        uint64_t key = il_known_key(nodes, i);
        uint32_t n = c->def->expand(m->ctx, key, m->edge);
        il_known_fetch(nodes, m->edge, n);
        s->steps += n + 1;
        for (uint32_t k = 0; k < n; k++) {
            crew_step(c, s, m, i, key, &m->edge[k]);
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

static void crew_claim_all(void *ctx, uint32_t i) {
    il_space_crew *c = ctx;
    il_known_batches_claim(&c->run->s->nodes, c->batches, c->nbatches, i, c->nmembers, c->run->to);
}
static void crew_write_all(void *ctx, uint32_t i) {
    il_space_crew *c = ctx;
    (void)i;
    for (uint32_t at = c->next++; at < c->nbatches; at = c->next++) {
        il_known_batch_write(&c->run->s->nodes, c->batches, at);
    }
}

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

static il_status crew_memory(il_error *err) { return il_error_set(err, IL_E_MEMORY, "no memory for more states"); }

/* What was found becomes nodes, by all threads: *fits false where a bound may be met, and then nothing was done. */
static il_status crew_add_all(il_space_crew *c, bool *fits, il_error *err) {
    il_known *nodes = &c->run->s->nodes;
    uint64_t steps = c->run->steps;
    for (uint32_t k = 0; k < c->nbatches; k++) {
        steps += c->spans[k].steps;
    }
    *fits =
        steps <= il_space_left(c->run->bounds) && !c->run->s->bound_hit && il_known_batches_fit(nodes, c->batches, c->nbatches);
    if (!*fits) {
        return IL_OK;
    }
    il_team_run(c->team, crew_claim_all, c);
    if (il_known_batches_number(nodes, c->batches, c->nbatches, c->nmembers, c->run->to) != IL_KNOWN_NEW) {
        return crew_memory(err);
    }
    c->next = 0;
    il_team_run(c->team, crew_write_all, c);
    return IL_OK;
}

/* One after the other, where a bound may be met. */
static il_status crew_add(il_space_run *run, const il_known_batch *b, il_error *err) {
    for (uint32_t k = 0; k < b->n; k++) {
        IL_TRY(il_space_add(run, b->found[k].key, b->found[k].parent, il_known_batch_writes(b, &run->s->nodes, k), err));
    }
    return IL_OK;
}

static void crew_take(il_space_run *run, const crew_span *s) {
    il_space *space = run->s;
    space->fault = space->fault.found ? space->fault : s->fault;
    crew_hits(run, s, false);
    space->edges += s->edges;
    run->steps += s->steps;
    run->work += (uint32_t)s->edges + (s->to - s->from);
}

il_status il_space_crew_layer(il_space_run *run, uint32_t from, bool *ended, il_error *err) {
    il_space_crew *c = run->crew;
    c->run = run;
    while (from < run->to) {
        bool fits = false;
        uint32_t end = crew_cut(c, from, run->to);
        il_team_run(c->team, crew_expand_all, c);
        for (c->nbatches = 0; c->nbatches < c->nspans && c->spans[c->nbatches].from < c->spans[c->nbatches].to; c->nbatches++) {
            if (c->spans[c->nbatches].memory) {
                return crew_memory(err);
            }
        }
        IL_TRY(crew_add_all(c, &fits, err));
        for (uint32_t k = 0; k < c->nbatches; k++) {
            if (!fits) {
                IL_TRY(crew_add(run, &c->batches[k], err));
            }
            crew_take(run, &c->spans[k]);
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
