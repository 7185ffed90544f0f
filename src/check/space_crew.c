/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/mem.h"
#include "check/space_part.h"

enum {
    CREW_SPANS = 256,       /* between two times that all wait for one another, at most */
    CREW_SPANS_OF_ONE = 16, /* and so many for each thread */
    CREW_SEEN_BITS = 16,
    CREW_FOUND_ROOM = 1 << 14
};

/* 64 keys that lie side by side, and which of them a thread has seen. */
typedef struct crew_seen {
    uint64_t keys, bits;
} crew_seen;

/* Each in memory of its own: what one thread writes all the time shares no line of the cache with another's. */
typedef struct crew_member {
    void *ctx;             /* of the definition; of number 0 the one that was given */
    il_known_found *found; /* in this round */
    uint32_t nfound, room;
    bool memory; /* ran out */
    il_space_edge *edge;
    uint64_t *ends;
    crew_seen seen[1 << CREW_SEEN_BITS];
} crew_member;

/* What one thread found in one span. */
typedef struct crew_span {
    uint32_t from, to;
    const crew_member *by;
    uint32_t first, end;         /* of what was found */
    uint64_t steps, edges, bits; /* bits: of hits */
    il_space_hit hits[64], fault;
} crew_span;

struct il_space_crew {
    const il_alloc *alloc;
    const il_space_def *def;
    il_team *team;
    uint32_t nmembers, nspans;
    crew_member *members[IL_SPACE_WORKERS_MAX];
    crew_span *spans;
    il_space_run *run;
    _Atomic uint32_t next; /* span that nobody has taken */
};

static void crew_member_free(il_space_crew *c, crew_member *m, bool first) {
    if (!first) {
        c->def->join(c->def->ctx, m->ctx);
    }
    c->alloc->free(c->alloc->ctx, m->found);
    c->alloc->free(c->alloc->ctx, m);
}

static crew_member *crew_member_new(const il_space_crew *c, bool first) {
    const il_space_def *def = c->def;
    crew_member *m = c->alloc->alloc(c->alloc->ctx, sizeof *m + def->nsymbols * (sizeof *m->edge + sizeof *m->ends));
    if (!m) {
        return NULL;
    }
    m->ctx = first ? def->ctx : def->fork(def->ctx);
    if (!m->ctx && !first) {
        c->alloc->free(c->alloc->ctx, m);
        return NULL;
    }
    m->edge = (il_space_edge *)(m + 1);
    m->ends = (uint64_t *)(m->edge + def->nsymbols);
    m->found = NULL;
    m->nfound = m->room = 0;
    m->memory = false;
    memset(m->seen, 0xFF, sizeof m->seen); /* no keys lie there */
    return m;
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
    while (c->nmembers < workers && (c->members[c->nmembers] = crew_member_new(c, c->nmembers == 0))) {
        c->nmembers++;
    }
    c->team = c->nmembers > 1 ? il_team_new(alloc, c->nmembers - 1) : NULL;
    c->nspans = c->nmembers * CREW_SPANS_OF_ONE < CREW_SPANS ? c->nmembers * CREW_SPANS_OF_ONE : CREW_SPANS;
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
        crew_member_free(c, c->members[i], i == 0);
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

static crew_seen *crew_seen_at(crew_member *m, uint64_t key) { /* 256 neighbours in a line of the cache */
    const uint64_t line = (key >> 8) * UINT64_C(0x9E3779B97F4A7C15) >> (66 - CREW_SEEN_BITS);
    return &m->seen[line << 2 | (key >> 6 & 3)];
}

/* Whether this thread saw the key before, and from now on it did. */
static bool crew_saw(crew_member *m, uint64_t key) {
    crew_seen *at = crew_seen_at(m, key);
    const uint64_t bits = at->keys == key >> 6 ? at->bits : 0, bit = UINT64_C(1) << (key & 63);
    *at = (crew_seen){.keys = key >> 6, .bits = bits | bit};
    return bits & bit;
}

/* Room for `n` more. */
static bool crew_room(const il_alloc *alloc, crew_member *m, uint32_t n) {
    if (m->nfound + n <= m->room) {
        return true;
    }
    const uint32_t room = m->room * 2 + CREW_FOUND_ROOM + n;
    il_known_found *found = alloc->alloc(alloc->ctx, room * sizeof *found);
    if (!found) {
        m->memory = true;
        return false;
    }
    if (m->nfound > 0) {
        memcpy(found, m->found, m->nfound * sizeof *found);
    }
    alloc->free(alloc->ctx, m->found);
    m->found = found;
    m->room = room;
    return true;
}

/* What one step is in, or that it has no meaning. */
static void crew_look(const il_space_crew *c, crew_span *s, const crew_member *m, uint32_t i, const il_space_edge *e) {
    const il_space_def *def = c->def;
    const il_known *nodes = &c->run->s->nodes;
    const il_space_hit hit = {.found = true, .edge = true, .node = i, .symbol = e->symbol, .next = e->next};
    if (e->fault) {
        s->fault = s->fault.found ? s->fault : hit;
    } else if (def->edge && e->symbol < def->first_write) {
        uint64_t bits = def->edge(m->ctx, il_known_key(nodes, i), e->symbol, e->next) & ~c->run->settled;
        if (bits != 0) {
            crew_hit(nodes, s, bits, &hit);
        }
    }
}

/* Notes the steps to states that this thread had not seen: what it saw is known, or noted with a way that is no longer. Few of many are left, but
 * which ones nobody could foretell: they are picked without a branch. */
static void crew_note(crew_member *m, uint32_t i, uint32_t n) {
    uint32_t left = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t key = m->edge[k].next;
        const crew_seen *at = crew_seen_at(m, key);
        m->ends[left] = key;
        const bool unseen = (at->keys != key >> 6) | (~at->bits >> (key & 63) & 1);
        left += unseen & (m->edge[k].fault ^ 1u);
    }
    for (uint32_t k = 0; k < left; k++) {
        if (!crew_saw(m, m->ends[k])) {
            m->found[m->nfound++] = (il_known_found){m->ends[k], i, false};
        }
    }
}

/* The same where a later way may be the better one, as it has fewer writes: of a state that was found in this layer or is new. */
static void crew_note_ways(const il_space_crew *c, crew_member *m, uint32_t i, uint32_t n) {
    const il_known *nodes = &c->run->s->nodes;
    il_known_fetch(nodes, m->edge, n);
    for (uint32_t k = 0; k < n; k++) {
        const il_space_edge *e = &m->edge[k];
        const uint32_t place = il_known_at(nodes, il_known_slot(nodes, e->next));
        if (!e->fault && (place == 0 || place - 1 >= c->run->to)) {
            m->found[m->nfound++] = (il_known_found){e->next, i, e->symbol >= c->def->first_write};
        }
    }
}

static void crew_expand(il_space_crew *c, crew_span *s, crew_member *m) {
    const il_space_def *def = c->def;
    const il_known *nodes = &c->run->s->nodes;
    uint64_t steps = 0, edges = 0; /* the spans of several threads lie side by side */
    s->by = m;
    s->first = m->nfound;
    s->bits = 0;
    s->fault.found = false;
    for (uint32_t i = s->from; i < s->to; i++) {
        const uint32_t n = def->expand(m->ctx, il_known_key(nodes, i), m->edge);
        if (!crew_room(c->alloc, m, n)) {
            break;
        }
        steps += n + 1;
        for (uint32_t k = 0; k < n; k++) {
            const il_space_edge *e = &m->edge[k];
            edges += !e->fault && e->symbol < def->first_write;
            if (e->fault || def->edge) {
                crew_look(c, s, m, i, e);
            }
        }
        if (nodes->writes) {
            crew_note_ways(c, m, i, n);
        } else {
            crew_note(m, i, n);
        }
    }
    s->end = m->nfound;
    s->steps = steps;
    s->edges = edges;
}

static void crew_judge(il_space_crew *c, crew_span *s, crew_member *m) {
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

typedef void crew_work(il_space_crew *c, crew_span *s, crew_member *m);

static void crew_spans(il_space_crew *c, uint32_t i, crew_work *work) {
    for (uint32_t at = c->next++; at < c->nspans && c->spans[at].from < c->spans[at].to; at = c->next++) {
        for (uint64_t left = c->spans[at].bits; left != 0; left &= left - 1) {
            c->spans[at].hits[__builtin_ctzll(left)].found = false;
        }
        work(c, &c->spans[at], c->members[i]);
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

/* What was found in a span becomes nodes. One thread does it: it is little beside finding it. */
static il_status crew_add(il_space_run *run, const crew_span *s, il_error *err) {
    il_known *nodes = &run->s->nodes;
    for (uint32_t k = s->first; k < s->end;) {
        const il_known_found *f = &s->by->found[k];
        const uint32_t took = il_known_take(nodes, f, s->end - k);
        if (took == 0) {
            il_known_fetch_found(nodes, f, s->end - k);
            IL_TRY(il_space_add(run, f->key, f->parent, (uint16_t)(il_known_writes(nodes, f->parent) + f->write), err));
        }
        k += took ? took : 1;
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
        from = crew_cut(c, from, run->to);
        il_team_run(c->team, crew_expand_all, c);
        for (uint32_t i = 0; i < c->nmembers; i++) {
            if (c->members[i]->memory) {
                return il_error_set(err, IL_E_MEMORY, "no memory for more states");
            }
            c->members[i]->nfound = 0;
        }
        for (uint32_t k = 0; k < c->nspans && c->spans[k].from < c->spans[k].to; k++) {
            IL_TRY(crew_add(run, &c->spans[k], err));
            crew_take(run, &c->spans[k]);
            if (c->spans[k].to % IL_SPACE_SPAN == 0 && il_space_spanned(run)) {
                *ended = true;
                return IL_OK;
            }
        }
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
