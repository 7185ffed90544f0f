/* SPDX-License-Identifier: Apache-2.0 */
#include "check/quotient.h"

#include "base/error.h"
#include "base/mem.h"

enum {
    QUOTIENT_WORK = 1 << 14, /* steps between two calls of `progress` */
    QUOTIENT_SHARE = 8,      /* so much dearer is a step that is asked by itself than one of a whole row */
    QUOTIENT_EVERY = IL_MODEL_ACTIONS_MAX
};

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

/* Steps that are asked for some values of the written variables, because the others make no difference to them. */
typedef struct quotient_pick {
    uint32_t action; /* QUOTIENT_EVERY: of all actions */
    uint64_t vars;   /* whose values do */
    uint64_t reads;  /* bits outside of what is written that have a say in them, or in what judges them */
    uint64_t writes; /* such bits that they write */
    bool leaves;     /* they lead to other classes, else they matter only as long as something judges them */
} quotient_pick;

/* Where the steps of a pick lead from all classes that agree in what it reads. */
typedef struct quotient_said_key {
    uint64_t reads, pick;
} quotient_said_key;
typedef struct quotient_said {
    const uint64_t *to; /* values of `writes`; NULL: nobody asked to the end, or it could not be kept */
    uint32_t n;
} quotient_said;

typedef struct quotient_run {
    il_view *v;
    const il_alloc *alloc;
    il_quotient *out;
    il_arena arena; /* of what is kept */
    il_known classes, values;
    quotient_place *places; /* of each node of `values` */
    uint32_t nplaces;
    uint64_t vars, mask; /* what is written, and its bits */
    il_view_reads reads;
    uint64_t of_action[IL_MODEL_ACTIONS_MAX]; /* regions of steps that judge an action */
    uint64_t seen[IL_MODEL_REGIONS_MAX];      /* of a region of states: written variables that it reads */
    quotient_pick picks[IL_MODEL_ACTIONS_MAX];
    uint32_t npicks;
    quotient_list moves, states, said_keys;
    quotient_said *said; /* of each of said_keys */
    uint32_t nsaid;
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

/* Of the written variables those whose bits are among these. */
static uint64_t quotient_vars(const quotient_run *q, uint64_t bits) {
    uint64_t vars = 0;
    for (uint64_t left = q->vars; left != 0; left &= left - 1) {
        vars |= bits & il_model_bits(q->v->subject->m, (uint32_t)__builtin_ctzll(left)) ? left & -left : 0;
    }
    return vars;
}

/* What an observer looks at after a step. */
static uint64_t quotient_observed(const il_subject *s) {
    uint32_t over = s->out[IL_OUT_CROSSING].var;
    return s->taint_mask | (over != UINT32_MAX ? il_model_bits(s->m, over) : 0);
}

/* For which values of what is written the steps of which actions are asked. */
static void quotient_choose(quotient_run *q) {
    const il_view *v = q->v;
    const il_subject *s = v->subject;
    bool observed = v->observer != IL_OBSERVE_NOTHING;
    uint64_t sum = 0, product = il_quotient_values(s->m, q->vars);
    bool known = !v->rows && !v->variant.skip && v->variant.deleted == 0;
    for (uint32_t a = 0; known && a < s->m->nactions; a++) {
        uint64_t reads = 0, writes = 0, pre = 0, next = 0;
        if (v->dropped >> a & 1) {
            continue;
        }
        known = il_steps_touches(s->steps, a, &reads, &writes);
        for (uint64_t left = q->of_action[a]; left != 0; left &= left - 1) {
            il_steps_region_reads_of(s->steps, (uint32_t)__builtin_ctzll(left), a, &pre, &next);
            reads |= pre | next;
        }
        reads |= observed ? quotient_observed(s) : 0;
        quotient_pick pick = {.action = a, .vars = quotient_vars(q, reads), .leaves = observed || (writes & ~q->mask) != 0};
        pick.reads = reads & ~q->mask;
        pick.writes = writes & ~q->mask;
        if (pick.leaves || q->of_action[a]) {
            q->picks[q->npicks++] = pick;
            sum += (uint64_t)il_quotient_values(s->m, pick.vars) * s->m->actions[a].nsymbols;
        }
    }
    if (!known || sum * QUOTIENT_SHARE > product * s->m->nsymbols) {
        q->picks[0] = (quotient_pick){.action = QUOTIENT_EVERY, .vars = q->vars, .leaves = true};
        q->npicks = 1;
    }
}

static il_steps_edges quotient_steps(const quotient_run *q, const quotient_pick *pick, uint64_t state) {
    return pick->action == QUOTIENT_EVERY ? il_view_steps(q->v, state) : il_steps_of(q->v->subject->steps, pick->action, state);
}

/* What the steps of a state do. */
static bool quotient_look(quotient_run *q, const quotient_pick *pick, uint64_t state) {
    const il_subject *s = q->v->subject;
    il_steps_edges row = quotient_steps(q, pick, state);
    q->work += row.n + 1;
    for (uint32_t k = 0; k < row.n; k++) {
        const il_steps_edge *e = &row.edge[k];
        uint32_t action = s->m->symbol_action[e->symbol];
        if (e->fault || (q->v->dropped >> action & 1)) {
            continue;
        }
        quotient_move move;
        bool judged = il_view_judges(q->v, e->symbol) != 0;
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
    const bool more = il_space_spend(b, q->work);
    q->out->steps += q->work;
    q->patience = q->patience > q->work ? q->patience - q->work : 0;
    q->work = 0;
    if (!more || (b->progress && !b->progress(b->progress_ctx, &now))) {
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
    const il_model *m = q->v->subject->m;
    const uint64_t seen = quotient_vars(q, q->reads.state);
    uint64_t state = outside;
    do {
        uint64_t as = state & q->reads.state;
        if (!quotient_put(q->alloc, &q->states, &as)) {
            return false;
        }
    } while (il_model_turn(m, seen, &state));
    for (uint32_t i = 0; i < q->npicks; i++) {
        do {
            if (!quotient_look(q, &q->picks[i], state)) {
                return false;
            }
            if (q->work >= QUOTIENT_WORK && !quotient_goes_on(q, done)) {
                *ended = true;
                return false;
            }
        } while (il_model_turn(m, q->picks[i].vars, &state));
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

/* Room for what a pick says of one more choice of what it reads. */
static quotient_said *quotient_said_at(quotient_run *q, uint32_t pick, uint64_t outside) {
    const quotient_said_key key = {.reads = outside & q->picks[pick].reads, .pick = pick};
    if (!quotient_put(q->alloc, &q->said_keys, &key)) {
        return NULL;
    }
    const uint32_t at = q->said_keys.slots[quotient_slot(&q->said_keys, (const char *)&key)] - 1;
    if (at >= q->nsaid) {
        const uint32_t room = q->nsaid ? q->nsaid * 2 : 256;
        if (!quotient_grow(q->alloc, &q->said, q->nsaid * sizeof *q->said, room * sizeof *q->said)) {
            return NULL;
        }
        memset(q->said + q->nsaid, 0, (room - q->nsaid) * sizeof *q->said);
        q->nsaid = room;
    }
    return &q->said[at];
}

/* The steps of a state that nobody observes; where they lead is put on the list of states. */
static il_status quotient_state(quotient_run *q, const quotient_pick *pick, uint64_t state, il_error *err) {
    const il_subject *s = q->v->subject;
    il_steps_edges row = quotient_steps(q, pick, state);
    q->work += row.n + 1;
    for (uint32_t k = 0; k < row.n; k++) {
        const il_steps_edge *e = &row.edge[k];
        uint32_t action = s->m->symbol_action[e->symbol];
        if (e->fault || (q->v->dropped >> action & 1)) {
            continue;
        }
        const uint64_t open = il_view_judges(q->v, e->symbol) & ~q->out->reached;
        q->out->reached |= open ? il_steps_in_regions(s->steps, open, state, e->symbol, e->next) : 0;
        const uint64_t to = e->next & ~q->mask;
        if (to != (state & ~q->mask)) {
            IL_TRY(quotient_add(q, to, err));
        }
        const uint64_t written = to & pick->writes;
        if (pick->action != QUOTIENT_EVERY && !quotient_put(q->alloc, &q->states, &written)) {
            return quotient_memory(err);
        }
    }
    return IL_OK;
}

/* Keeps that list, where there is room. */
static void quotient_said_keep(quotient_run *q, quotient_said *said) {
    uint64_t *to = IL_NEW_ARRAY(&q->arena, uint64_t, q->states.n);
    if (to) {
        memcpy(to, q->states.n ? q->states.items : (char *)to, q->states.n * sizeof *to);
        *said = (quotient_said){.to = to, .n = q->states.n};
    }
}

/* The regions of states that some state of a class is in. */
static void quotient_judge(quotient_run *q, uint64_t outside) {
    const il_subject *s = q->v->subject;
    for (uint64_t of = q->v->regions & ~s->edges & ~q->out->reached; of != 0; of &= of - 1) {
        uint32_t r = (uint32_t)__builtin_ctzll(of);
        uint64_t state = outside;
        bool in = false;
        do {
            in = il_steps_in_region(s->steps, r, state, 0, 0);
            q->work++;
        } while (!in && il_model_turn(s->m, q->seen[r], &state));
        q->out->reached |= in ? UINT64_C(1) << r : 0;
    }
}

/* The steps of a pick from every state of a class. *ended: as in quotient_goes_on(). */
static il_status quotient_ask(quotient_run *q, uint32_t i, uint64_t outside, uint32_t done, bool *ended, il_error *err) {
    const quotient_pick *pick = &q->picks[i];
    const uint64_t open = pick->leaves ? q->v->regions : q->of_action[pick->action];
    quotient_said *said = pick->action == QUOTIENT_EVERY ? NULL : quotient_said_at(q, i, outside);
    for (uint32_t k = 0; said && said->to && k < said->n; k++) {
        const uint64_t to = (outside & ~pick->writes) | said->to[k];
        if (to != outside) {
            IL_TRY(quotient_add(q, to, err));
        }
    }
    q->work += said && said->to ? said->n + 1 : 0;
    uint64_t state = outside;
    bool asked = !said || !said->to;
    quotient_clear(&q->states);
    while (asked && (open & ~q->out->reached) != 0) {
        IL_TRY(quotient_state(q, pick, state, err));
        if (q->work >= QUOTIENT_WORK && !quotient_goes_on(q, done)) {
            *ended = true;
            return IL_OK;
        }
        asked = il_model_turn(q->v->subject->m, pick->vars, &state);
        if (!asked && said) {
            quotient_said_keep(q, said);
        }
    }
    return IL_OK;
}

static il_status quotient_plain(quotient_run *q, uint64_t outside, uint32_t done, bool *ended, il_error *err) {
    quotient_judge(q, outside);
    for (uint32_t i = 0; i < q->npicks && !*ended; i++) {
        IL_TRY(quotient_ask(q, i, outside, done, ended, err));
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
    q->said_keys.size = sizeof(quotient_said_key);
    for (uint32_t i = 0; i < s->m->nsymbols; i++) {
        q->of_action[s->m->symbol_action[i]] |= il_view_judges(q->v, i);
    }
    q->vars = vars;
    for (uint64_t left = vars; left != 0; left &= left - 1) {
        q->mask |= il_model_bits(s->m, (uint32_t)__builtin_ctzll(left));
    }
    for (uint64_t left = q->v->regions & ~s->edges; left != 0; left &= left - 1) {
        const uint32_t r = (uint32_t)__builtin_ctzll(left);
        uint64_t pre = 0, next = 0;
        il_steps_region_reads(s->steps, r, &pre, &next);
        q->seen[r] = quotient_vars(q, pre);
    }
    quotient_choose(q);
    il_arena_init(&q->arena, q->alloc, bytes / 8 < IL_QUOTIENT_KEPT ? bytes / 8 : IL_QUOTIENT_KEPT);
    il_known_init(&q->classes, q->alloc, s->m->bits + il_view_bits(q->v), false, most ? most : 1, bytes / 2);
    il_known_init(&q->values, q->alloc, s->m->bits, true, most ? most : 1, bytes / 8); /* with an index of places */
}

static void quotient_free(quotient_run *q) {
    void *all[] = {q->places,       q->moves.items,     q->moves.slots,     q->states.items,
                   q->states.slots, q->said_keys.items, q->said_keys.slots, q->said};
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
    il_status status = quotient_run_all(&q, err);
    (void)il_space_spend(&v->subject->bounds, q.work);
    out->reached &= v->regions;
    out->classes = q.classes.n;
    quotient_free(&q);
    return status;
}
