/* SPDX-License-Identifier: Apache-2.0 */
#include "check/quotient.h"

#include "base/error.h"
#include "base/mem.h"

enum { QUOTIENT_WORK = 1 << 14 }; /* steps between two calls of `progress` */

#define IL_QUOTIENT_STATES (1u << 24)
#define IL_QUOTIENT_BYTES ((size_t)1 << 30)
#define IL_QUOTIENT_KEPT ((size_t)64 << 20) /* of what classes do; beyond it is found out again each time */

/* What some step from a class does. Steps that do the same are one; those that a region of steps judges differ by what it reads as well. */
typedef struct quotient_move {
    uint64_t next; /* but for what is written */
    il_view_effect effect;
    uint64_t pre, post;
    uint32_t symbol; /* IL_NO_SYMBOL: no region asks */
} quotient_move;

/* All classes with the same values outside `vars`, whatever the observer remembers, take the same steps. */
typedef struct quotient_place {
    bool ready;
    uint32_t nmoves, nstates;
    quotient_move *moves;
    uint64_t *states; /* as far as a region of states reads them */
} quotient_place;

/* A list without doubles. */
typedef struct quotient_list {
    size_t size; /* of an entry */
    char *items;
    uint32_t n, room;
    uint32_t *slots, bits; /* place plus 1 */
} quotient_list;

typedef struct quotient_run {
    il_view *v;
    const il_alloc *alloc;
    il_quotient *out;
    il_arena arena; /* of what is kept */
    il_known classes, values;
    quotient_place *places; /* of each node of `values` */
    uint32_t nplaces;
    uint64_t mask; /* the written variables' bits */
    uint64_t *writes;
    uint32_t nwrites;
    il_view_reads reads;
    uint64_t judged;                          /* bit a: a region of steps judges action a */
    uint64_t of_action[IL_MODEL_ACTIONS_MAX]; /* regions of steps that judge an action */
    quotient_list moves, states;
    uint64_t patience;
    uint32_t work;
} quotient_run;

uint32_t il_quotient_values(const il_model *m, uint64_t vars) {
    uint64_t n = 1;
    for (uint32_t v = 0; v < m->nvars && n <= IL_QUOTIENT_VALUES; v++) {
        n *= vars >> v & 1 ? m->vars[v].domain.size : 1;
    }
    return n <= IL_QUOTIENT_VALUES ? (uint32_t)n : 0;
}

static bool quotient_grow(const il_alloc *alloc, void *p, size_t old_bytes, size_t new_bytes) {
    void **at = p;
    void *more = alloc->alloc(alloc->ctx, new_bytes);
    if (more && old_bytes > 0) {
        memcpy(more, *at, old_bytes);
    }
    if (more) {
        alloc->free(alloc->ctx, *at);
        *at = more;
    }
    return more != NULL;
}

static uint64_t quotient_hash(const char *item, size_t size) {
    uint64_t h = 0;
    for (size_t i = 0; i < size; i += sizeof h) {
        uint64_t word;
        memcpy(&word, item + i, sizeof word);
        h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    return h;
}

static uint32_t quotient_slot(const quotient_list *l, const char *item) {
    uint32_t at = (uint32_t)(quotient_hash(item, l->size) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - l->bits));
    while (l->slots[at] && memcmp(l->items + (l->slots[at] - 1) * l->size, item, l->size) != 0) {
        at = (at + 1) & ((UINT32_C(1) << l->bits) - 1);
    }
    return at;
}

static bool quotient_room(const il_alloc *alloc, quotient_list *l) {
    uint32_t room = l->room ? l->room * 2 : 256;
    char *items = l->items;
    uint32_t *slots = alloc->alloc(alloc->ctx, (size_t)room * 2 * sizeof *slots);
    if (!slots || !quotient_grow(alloc, &items, l->n * l->size, room * l->size)) {
        alloc->free(alloc->ctx, slots);
        return false;
    }
    alloc->free(alloc->ctx, l->slots);
    memset(slots, 0, (size_t)room * 2 * sizeof *slots);
    l->items = items;
    l->slots = slots;
    l->room = room;
    for (l->bits = 0; UINT32_C(1) << l->bits < room * 2; l->bits++) {
    }
    for (uint32_t i = 0; i < l->n; i++) {
        slots[quotient_slot(l, l->items + i * l->size)] = i + 1;
    }
    return true;
}

/* `item` has no byte that was not set: padding included. */
static bool quotient_put(const il_alloc *alloc, quotient_list *l, const void *item) {
    if (l->n == l->room && !quotient_room(alloc, l)) {
        return false;
    }
    uint32_t at = quotient_slot(l, item);
    if (l->slots[at] == 0) {
        memcpy(l->items + l->n * l->size, item, l->size);
        l->slots[at] = ++l->n;
    }
    return true;
}

static void quotient_clear(quotient_list *l) {
    if (l->n > 0) {
        memset(l->slots, 0, sizeof *l->slots << l->bits);
    }
    l->n = 0;
}

/* Every combination of values of `vars`, at their bits. */
static bool quotient_writes(quotient_run *q, uint64_t vars) {
    const il_model *m = q->v->subject->m;
    q->nwrites = il_quotient_values(m, vars);
    q->writes = q->nwrites ? q->alloc->alloc(q->alloc->ctx, q->nwrites * sizeof *q->writes) : NULL;
    for (uint32_t i = 0; q->writes && i < q->nwrites; i++) {
        uint32_t rest = i;
        q->writes[i] = 0;
        for (uint32_t v = 0; v < m->nvars; v++) {
            if (vars >> v & 1) {
                q->writes[i] = il_model_set(m, q->writes[i], v, rest % m->vars[v].domain.size);
                rest /= m->vars[v].domain.size;
            }
        }
    }
    for (uint32_t v = 0; v < m->nvars; v++) {
        q->mask |= vars >> v & 1 ? ((UINT64_C(1) << m->vars[v].bits) - 1) << m->vars[v].shift : 0;
    }
    return q->writes != NULL;
}

/* Everything that a state does. */
static bool quotient_look(quotient_run *q, uint64_t state) {
    const il_subject *s = q->v->subject;
    uint64_t seen = state & q->reads.state;
    if (!quotient_put(q->alloc, &q->states, &seen)) {
        return false;
    }
    il_steps_edges row = il_view_steps(q->v, state);
    q->work += row.n + 1;
    for (uint32_t k = 0; k < row.n; k++) {
        const il_steps_edge *e = &row.edge[k];
        uint32_t action = s->m->symbol_action[e->symbol];
        if (e->fault || (q->v->dropped >> action & 1)) {
            continue;
        }
        quotient_move move;
        bool judged = q->judged >> action & 1;
        memset(&move, 0, sizeof move);
        move.next = e->next & ~q->mask;
        move.effect = il_view_remember(q->v, e->symbol, e->next);
        move.pre = judged ? state & q->reads.pre : 0;
        move.post = judged ? e->next & q->reads.next : 0;
        move.symbol = judged ? e->symbol : IL_NO_SYMBOL;
        if (!quotient_put(q->alloc, &q->moves, &move)) {
            return false;
        }
    }
    return true;
}

static bool quotient_goes_on(quotient_run *q, uint32_t done) {
    const il_space_bounds *b = &q->v->subject->bounds;
    il_space_progress now = {.states = q->classes.n, .edges = q->out->steps, .frontier = q->classes.n - done};
    q->out->steps += q->work;
    q->patience = q->patience > q->work ? q->patience - q->work : 0;
    q->work = 0;
    if (b->progress && !b->progress(b->progress_ctx, &now)) {
        q->out->bound_hit = true;
        return false;
    }
    q->out->cut = q->patience == 0;
    return !q->out->cut;
}

/* What has been looked up, kept where there is room. */
static quotient_place quotient_keep(quotient_run *q, uint32_t value) {
    quotient_place p = {.nmoves = q->moves.n,
                        .nstates = q->states.n,
                        .moves = (quotient_move *)(void *)q->moves.items,
                        .states = (uint64_t *)(void *)q->states.items};
    quotient_move *moves = IL_NEW_ARRAY(&q->arena, quotient_move, p.nmoves);
    uint64_t *states = IL_NEW_ARRAY(&q->arena, uint64_t, p.nstates);
    if (moves && states && value < q->nplaces) {
        memcpy(moves, p.nmoves ? p.moves : moves, p.nmoves * sizeof *moves);
        memcpy(states, p.nstates ? p.states : states, p.nstates * sizeof *states);
        p.moves = moves;
        p.states = states;
        p.ready = true;
        q->places[value] = p;
    }
    return p;
}

/* false with *ended: stop, it is said why; false without: memory ran out. */
static bool quotient_place_of(quotient_run *q, uint64_t outside, uint32_t done, quotient_place *out, bool *ended) {
    il_known_added added = il_known_add(&q->values, outside, 0, 0, 0);
    uint32_t value = added == IL_KNOWN_FULL || added == IL_KNOWN_MEMORY ? UINT32_MAX : il_known_find(&q->values, outside);
    if (added == IL_KNOWN_NEW && value >= q->nplaces) {
        uint32_t room = q->nplaces ? q->nplaces * 2 : 256;
        if (quotient_grow(q->alloc, &q->places, q->nplaces * sizeof *q->places, room * sizeof *q->places)) {
            memset(q->places + q->nplaces, 0, (room - q->nplaces) * sizeof *q->places);
            q->nplaces = room;
        }
    }
    if (value < q->nplaces && q->places[value].ready) {
        *out = q->places[value];
        return true;
    }
    quotient_clear(&q->moves);
    quotient_clear(&q->states);
    for (uint32_t w = 0; w < q->nwrites; w++) {
        if (!quotient_look(q, outside | q->writes[w])) {
            return false;
        }
        if (q->work >= QUOTIENT_WORK && !quotient_goes_on(q, done)) {
            *ended = true;
            return false;
        }
    }
    *out = quotient_keep(q, value);
    return true;
}

static il_status quotient_memory(il_error *err) { return il_error_set(err, IL_E_MEMORY, "no memory for more states"); }

static il_status quotient_add(quotient_run *q, uint64_t key, il_error *err) {
    switch (il_known_add(&q->classes, key, 0, 0, 0)) {
    case IL_KNOWN_OLD:
    case IL_KNOWN_NEW:
        return IL_OK;
    case IL_KNOWN_FULL:
        q->out->bound_hit = true;
        return IL_OK;
    case IL_KNOWN_MEMORY:
        break;
    }
    return quotient_memory(err);
}

/* One state of a class that nobody observes: there is no other with the same values, so that nothing is kept. */
static il_status quotient_state(quotient_run *q, uint64_t state, il_error *err) {
    const il_subject *s = q->v->subject;
    uint64_t left = q->v->regions & ~q->out->reached;
    for (uint64_t of = left & ~s->edges; of != 0; of &= of - 1) {
        uint32_t r = (uint32_t)__builtin_ctzll(of);
        q->out->reached |= il_steps_in_region(s->steps, r, state, 0, 0) ? UINT64_C(1) << r : 0;
    }
    il_steps_edges row = il_view_steps(q->v, state);
    q->work += row.n + 1;
    for (uint32_t k = 0; k < row.n; k++) {
        const il_steps_edge *e = &row.edge[k];
        uint32_t action = s->m->symbol_action[e->symbol];
        if (e->fault || (q->v->dropped >> action & 1)) {
            continue;
        }
        for (uint64_t of = left & q->of_action[action]; of != 0; of &= of - 1) {
            uint32_t r = (uint32_t)__builtin_ctzll(of);
            q->out->reached |= il_steps_in_region(s->steps, r, state, e->symbol, e->next) ? UINT64_C(1) << r : 0;
        }
        if (((e->next ^ state) & ~q->mask) != 0) {
            IL_TRY(quotient_add(q, e->next & ~q->mask, err));
        }
    }
    return IL_OK;
}

static il_status quotient_plain(quotient_run *q, uint64_t outside, uint32_t done, bool *ended, il_error *err) {
    uint64_t all = q->v->regions;
    for (uint32_t w = 0; w < q->nwrites && (q->out->reached & all) != all; w++) {
        IL_TRY(quotient_state(q, outside | q->writes[w], err));
        if (q->work >= QUOTIENT_WORK && !quotient_goes_on(q, done)) {
            *ended = true;
            return IL_OK;
        }
    }
    return IL_OK;
}

static il_status quotient_class(quotient_run *q, uint64_t key, const quotient_place *p, il_error *err) {
    il_view *v = q->v;
    uint64_t of_steps = v->regions & v->subject->edges;
    uint64_t extra = il_view_extra(v, key);
    for (uint32_t i = 0; i < p->nstates && (v->regions & ~of_steps & ~q->out->reached); i++) {
        q->out->reached |= il_view_judge(v, il_view_key(v, p->states[i], extra));
    }
    q->work += p->nmoves + 1;
    for (uint32_t k = 0; k < p->nmoves; k++) {
        const quotient_move *m = &p->moves[k];
        uint64_t after = (extra & ~m->effect.clear) | m->effect.set;
        uint64_t next = il_view_key(v, m->next, after);
        if (m->symbol != IL_NO_SYMBOL && (of_steps & ~q->out->reached)) {
            q->out->reached |= il_view_judge_step(v, il_view_key(v, m->pre, extra), m->symbol, il_view_key(v, m->post, after));
        }
        if (next != key) {
            IL_TRY(quotient_add(q, next, err));
        }
    }
    return IL_OK;
}

static il_status quotient_run_all(quotient_run *q, il_error *err) {
    uint64_t all = q->v->regions;
    bool ended = false;
    IL_TRY(quotient_add(q, il_view_initial(q->v) & ~q->mask, err));
    if (!quotient_goes_on(q, 0)) {
        return IL_OK;
    }
    for (uint32_t i = 0; i < q->classes.n && (q->out->reached & all) != all; i++) {
        quotient_place p;
        uint64_t key = il_known_key(&q->classes, i);
        if (q->v->observer == IL_OBSERVE_NOTHING) {
            IL_TRY(quotient_plain(q, key, i, &ended, err));
            if (ended) {
                return IL_OK;
            }
            continue;
        }
        if (!quotient_place_of(q, il_view_state(q->v, key), i, &p, &ended)) {
            return ended ? IL_OK : quotient_memory(err);
        }
        IL_TRY(quotient_class(q, key, &p, err));
        if (q->work >= QUOTIENT_WORK && !quotient_goes_on(q, i)) {
            return IL_OK;
        }
    }
    return IL_OK;
}

static void quotient_init(quotient_run *q, uint64_t vars) {
    const il_subject *s = q->v->subject;
    const il_space_bounds bounds = il_subject_bounds(s);
    uint32_t states = bounds.states ? bounds.states : IL_QUOTIENT_STATES;
    size_t bytes = bounds.bytes ? bounds.bytes : IL_QUOTIENT_BYTES;
    uint32_t values = il_quotient_values(s->m, vars);
    uint32_t most = values ? states / values : 0; /* the bound is of states, all of a class's */
    q->alloc = s->alloc;
    q->reads = il_view_judged(q->v);
    q->moves.size = sizeof(quotient_move);
    q->states.size = sizeof(uint64_t);
    for (uint64_t left = q->v->regions & s->edges; left != 0; left &= left - 1) {
        const uint32_t r = (uint32_t)__builtin_ctzll(left);
        q->judged |= s->m->regions[r].actions;
        for (uint32_t a = 0; a < s->m->nactions; a++) {
            q->of_action[a] |= s->m->regions[r].actions >> a & 1 ? UINT64_C(1) << r : 0;
        }
    }
    il_arena_init(&q->arena, q->alloc, bytes / 8 < IL_QUOTIENT_KEPT ? bytes / 8 : IL_QUOTIENT_KEPT);
    il_known_init(&q->classes, q->alloc, s->m->bits + il_view_bits(q->v), false, most ? most : 1, bytes / 2);
    il_known_init(&q->values, q->alloc, s->m->bits, true, most ? most : 1, bytes / 8); /* `writes`: with an index of places */
}

static void quotient_free(quotient_run *q) {
    void *all[] = {q->writes, q->places, q->moves.items, q->moves.slots, q->states.items, q->states.slots};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        q->alloc->free(q->alloc->ctx, all[i]);
    }
    il_known_free(&q->classes);
    il_known_free(&q->values);
    il_arena_free(&q->arena);
}

il_status il_quotient_reach(il_view *v, uint64_t vars, uint64_t patience, il_quotient *out, il_error *err) {
    quotient_run q = {.v = v, .out = out, .patience = patience};
    *out = (il_quotient){0};
    if (v->subject->m->bits + il_view_bits(v) > 64) {
        out->bound_hit = true; /* as in il_view_explore() */
        return IL_OK;
    }
    quotient_init(&q, vars);
    il_status status = quotient_writes(&q, vars) ? quotient_run_all(&q, err) : quotient_memory(err);
    out->reached &= v->regions;
    out->classes = q.classes.n;
    quotient_free(&q);
    return status;
}
