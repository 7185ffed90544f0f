/* SPDX-License-Identifier: Apache-2.0 */
/* Judging mutants. One cell differs in most of them, so little is explored: what such a mutant can reach beyond the machine begins behind
 * that cell, and each view (view.h) of the machine was explored once, in full, before. */
#include "check/mutation.h"

#include "base/error.h"
#include "base/mem.h"
#include "check/parts.h"

#define IL_MUTATION_CELLS_MAX ((size_t)1 << 24)
#define IL_MUTATION_WORK_BYTES ((size_t)1 << 30)
enum { MUTATION_WITHIN = 1, MUTATION_NOT_WITHIN, MUTATION_PLACES_MAX = 2048, MUTATION_OTHERS = 1024 };
enum { MUTATION_KEPT_BITS = 12, MUTATION_KEPT_EDGES = 1 << 22, MUTATION_VIEWS_MAX = 8 + 2 * IL_MODEL_REGIONS_MAX };

/* Counts of what the accepted and rejected steps of the reachable states do. */
typedef struct mutation_survey {
    uint64_t accepted[IL_MODEL_ACTIONS_MAX], fired[IL_MODEL_RULES_MAX], moved[IL_MODEL_VARS_MAX];
    uint64_t raised[IL_MODEL_VARS_MAX][IL_MODEL_ACTIONS_MAX], lowered[IL_MODEL_VARS_MAX][IL_MODEL_ACTIONS_MAX];
    uint64_t unnamed;                       /* steps that lower a taint which their payload does not name */
    uint64_t inside[IL_MODEL_REGIONS_MAX];  /* gated regions: states and steps in them */
    uint64_t refused[IL_MODEL_REGIONS_MAX]; /* rejections that break an invariant */
} mutation_survey;

/* A question that is asked of each mutant, and the lines that it decides. */
typedef struct mutation_view {
    il_view v;
    uint64_t bits;    /* of the hits that matter */
    uint8_t line[64]; /* of each bit */
    bool adversary;   /* its writes are the unmediated ones: other ones when a mutant has others */
    il_space base;
    uint32_t *order, *from; /* nodes by state: order[from[i] .. from[i + 1]] are those of state i */
} mutation_view;

/* States that a mutant reaches and the machine does not. */
typedef struct mutation_local {
    uint64_t *keys;
    uint32_t *slots, *stamps;
    uint32_t n, bits, stamp;
} mutation_local;

typedef struct mutation {
    il_mutation *x;
    il_harden *h;
    il_subject *s;
    il_arena arena; /* of the run's own */
    il_space plain;
    uint64_t *states;
    il_step *cells;
    uint32_t *to; /* of each cell: the place of the state that it leads to, UINT32_MAX when it is not accepted */
    mutation_view views[MUTATION_VIEWS_MAX];
    uint32_t nviews, nearly; /* nearly: the first ones, which are asked before the survey is looked at */
    bool sets;               /* all checks that kill a mutant are asked for, not only the first */
    mutation_survey base, now;
    uint64_t read;         /* variables that `never` regions of states read */
    uint64_t raise, lower; /* the machine's unmediated writes */
    il_space_edge *edges;  /* room for the steps of one key */
    il_steps_edge *row, *copy;
    mutation_local local;
    uint32_t *queue;
    uint32_t *ways; /* into each state, from states that were found before it */
    bool *reached;
    const il_mutant *u;     /* in hand */
    il_steps_edge *changed; /* its steps that the machine has not, by state: those of place i stand from changed_at[i] */
    uint32_t *changed_at;
    il_steps_edge *kept; /* rows of the class in hand; kept_n: how many steps, UINT32_MAX for an empty place */
    uint64_t *kept_of;
    uint32_t *kept_n, kept_bits;
    uint32_t *differs, ndiffers; /* cells of which it says something else */
    bool removes;                /* it lacks an accepted step of the machine */
    bool only;                   /* only the changed steps are looked at */
    bool fault, bounded;
    bool saturated;  /* an observer lost count: its check no longer passes */
    uint8_t *within; /* by pairs of places: whether one allows no more than the other; NULL when there are too many */
    uint64_t *pairs;
    uint64_t others[MUTATION_OTHERS]; /* states beyond the machine's that were compared */
    uint32_t nothers;
    uint64_t *signatures; /* of the classes so far */
    uint32_t nsignatures;
    int coverage, mediation, recovery, sticky; /* lines, or -1 */
} mutation;

/* ---- steps of the mutant in hand ---- */

/* Anywhere; at a cell of the machine the second is cheaper. */
static il_step mutation_step(const mutation *r, uint64_t state, uint32_t symbol) {
    return il_mutant_step(&r->x->mutants, r->u, state, symbol, il_steps_one(r->s->steps, NULL, state, symbol));
}
static il_step mutation_step_at(const mutation *r, uint32_t cell) {
    uint32_t n = r->s->m->nsymbols;
    return il_mutant_step(&r->x->mutants, r->u, r->states[cell / n], cell % n, r->cells[cell]);
}

static il_steps_edge mutation_edge(uint32_t symbol, il_step step) {
    return (il_steps_edge){.next = step.next, .symbol = symbol, .fault = step.verdict == IL_FAULT};
}

static il_steps_edges mutation_cell_row(mutation *r, uint64_t state) {
    const il_mutant *u = r->u;
    il_steps_edges row = il_steps_row(r->s->steps, NULL, state);
    if (state != u->state) {
        return r->only ? (il_steps_edges){0} : row;
    }
    uint32_t n = 0, k = 0;
    for (; !r->only && k < row.n && row.edge[k].symbol < u->symbol; k++) {
        r->row[n++] = row.edge[k];
    }
    if (u->step.verdict != IL_REJECT) {
        r->row[n++] = mutation_edge(u->symbol, u->step);
    }
    for (; !r->only && k < row.n; k++) {
        if (row.edge[k].symbol != u->symbol) {
            r->row[n++] = row.edge[k];
        }
    }
    return (il_steps_edges){r->row, n};
}

/* Rows of a mutant are remembered: every question comes by the same states. A later state takes the place of an earlier one. */
static uint32_t mutation_kept_at(const mutation *r, uint64_t state) {
    return (uint32_t)((state * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - r->kept_bits));
}

static il_steps_edges mutation_keep(mutation *r, uint64_t state, il_steps_edges row) {
    uint32_t at = mutation_kept_at(r, state);
    il_steps_edge *kept = &r->kept[(size_t)at * r->s->m->nsymbols];
    for (uint32_t k = 0; k < row.n; k++) {
        kept[k] = row.edge[k];
    }
    r->kept_of[at] = state;
    r->kept_n[at] = row.n;
    return (il_steps_edges){kept, row.n};
}

static il_steps_edges mutation_class_row(mutation *r, uint64_t state) {
    const il_model *m = r->s->m;
    if (r->only) {
        uint32_t place = il_space_find(&r->plain, state);
        return (il_steps_edges){&r->changed[r->changed_at[place]], r->changed_at[place + 1] - r->changed_at[place]};
    }
    uint32_t at = mutation_kept_at(r, state);
    if (r->kept_n[at] != UINT32_MAX && r->kept_of[at] == state) {
        return (il_steps_edges){&r->kept[(size_t)at * m->nsymbols], r->kept_n[at]};
    }
    if (r->u->op == IL_MUTANT_DROP_CLAUSE) {
        il_variant variant = {.skip = true, .skip_action = (uint32_t)__builtin_ctzll(r->u->actions), .skip_clause = r->u->arg};
        return mutation_keep(r, state, il_steps_row(r->s->steps, &variant, state));
    }
    il_steps_edges row = il_steps_row(r->s->steps, NULL, state);
    for (uint32_t k = 0; k < row.n; k++) {
        r->copy[k] = row.edge[k]; /* the next question may overwrite it */
    }
    uint32_t n = 0, k = 0;
    for (uint32_t a = 0; a < m->nactions; a++) {
        uint32_t end = m->actions[a].first_symbol + m->actions[a].nsymbols;
        bool differs = r->u->actions >> a & 1;
        for (; k < row.n && r->copy[k].symbol < end; k++) {
            if (!differs) {
                r->row[n++] = r->copy[k];
            }
        }
        for (uint32_t i = m->actions[a].first_symbol; differs && i < end; i++) {
            il_step step = mutation_step(r, state, i);
            if (step.verdict != IL_REJECT) {
                r->row[n++] = mutation_edge(i, step);
            }
        }
    }
    return mutation_keep(r, state, (il_steps_edges){r->row, n});
}

static il_steps_edges mutation_rows(void *ctx, uint64_t state) {
    mutation *r = ctx;
    return r->u->cell ? mutation_cell_row(r, state) : mutation_class_row(r, state);
}

/* ---- survey ---- */

static void mutation_count_state(mutation *r, mutation_survey *y, uint64_t state, uint64_t sign) {
    const il_subject *s = r->s;
    for (uint64_t left = s->gated & ~s->edges; left != 0; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(left);
        y->inside[k] += il_steps_in_region(s->steps, k, state, 0, 0) ? sign : 0;
    }
}

static void mutation_count_step(mutation *r, mutation_survey *y, uint64_t state, uint32_t symbol, il_step step, uint64_t sign) {
    const il_subject *s = r->s;
    const il_model *m = s->m;
    uint32_t a = m->symbol_action[symbol];
    if (step.verdict == IL_REJECT && step.reason > 0 && step.reason <= m->nrules) {
        y->fired[step.reason - 1] += sign;
    }
    if (step.verdict != IL_ACCEPT) {
        return;
    }
    y->accepted[a] += sign;
    for (uint32_t v = 0; step.next != state && v < m->nvars; v++) {
        uint32_t before = il_model_get(m, state, v);
        uint32_t after = il_model_get(m, step.next, v);
        y->raised[v][a] += after > before ? sign : 0;
        y->lowered[v][a] += after < before ? sign : 0;
        y->unnamed += after < before && (s->unnamed[symbol] >> v & 1) ? sign : 0;
        y->moved[v] += after != before ? sign : 0;
    }
    for (uint64_t left = s->gated & s->edges; left != 0; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(left);
        y->inside[k] += il_steps_in_region(s->steps, k, state, symbol, step.next) ? sign : 0;
    }
}

static void mutation_count_row(mutation *r, mutation_survey *y, uint32_t place, uint64_t sign) {
    const uint32_t n = r->s->m->nsymbols;
    mutation_count_state(r, y, r->states[place], sign);
    for (uint32_t i = 0; i < n; i++) {
        mutation_count_step(r, y, r->states[place], i, r->cells[(size_t)place * n + i], sign);
    }
}

static void mutation_writes(const mutation *r, const mutation_survey *y, uint64_t *raise, uint64_t *lower) {
    const il_model *m = r->s->m;
    uint64_t mediators = r->s->gates | r->s->corrective;
    *raise = *lower = 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        for (uint32_t a = 0; a < m->nactions; a++) {
            bool free = !(mediators >> a & 1);
            *raise |= free && y->raised[v][a] ? UINT64_C(1) << v : 0;
            *lower |= free && y->lowered[v][a] ? UINT64_C(1) << v : 0;
        }
    }
}

/* ---- lines and views ---- */

static int mutation_line(const mutation *r, const char *id, uint32_t region) {
    for (uint32_t i = 0; i < r->x->nlines; i++) {
        if (r->x->lines[i].region == region && il_str_eq(il_str_of(r->x->lines[i].id), il_str_of(id))) {
            return (int)i;
        }
    }
    return -1;
}

static void mutation_ask(mutation *r, il_view v, bool adversary, const char *id) {
    mutation_view *w = &r->views[r->nviews];
    *w = (mutation_view){.v = v, .adversary = adversary};
    for (uint32_t k = 0; k < 64; k++) {
        bool approvals = v.observer == IL_OBSERVE_APPROVALS;
        int line = !approvals && !(v.regions >> k & 1) ? -1 : mutation_line(r, id, approvals ? UINT32_MAX : k);
        if (line >= 0 && (!approvals || k == 63)) {
            w->bits |= UINT64_C(1) << k;
            w->line[k] = (uint8_t)line;
        }
    }
    w->v.regions &= w->bits;
    r->nviews += w->bits != 0;
}

static void mutation_questions(mutation *r) {
    il_subject *s = r->s;
    const uint64_t raise = r->raise, lower = r->lower;
    const il_declared will = IL_DECLARED_AT_WILL; /* a line that passed did so of whoever writes the declared variables at will */
    mutation_ask(r, (il_view){.subject = s, .regions = s->never}, false, "from-init");
    r->nearly = r->nviews;
    mutation_ask(r, (il_view){.subject = s, .regions = s->never, .raise = raise, .lower = lower, .declared = will}, true,
                 "havoc");
    mutation_ask(
        r, (il_view){.subject = s, .regions = s->never, .dropped = s->gates, .raise = raise, .lower = lower, .declared = will},
        true, "gates");
    mutation_ask(r, (il_view){.subject = s, .regions = s->never, .observer = IL_OBSERVE_GHOSTS, .dropped = s->lowers}, false,
                 "laundering");
    mutation_ask(r,
                 (il_view){.subject = s,
                           .regions = s->never,
                           .observer = IL_OBSERVE_GHOSTS,
                           .dropped = s->lowers,
                           .raise = raise,
                           .lower = lower,
                           .declared = will},
                 true, "havoc-laundered");
    mutation_ask(r, (il_view){.subject = s, .regions = s->never, .observer = IL_OBSERVE_CONFIRMED}, false, "confirmed");
    mutation_ask(r, (il_view){.subject = s, .observer = IL_OBSERVE_APPROVALS}, false, "approvals");
    for (uint64_t left = s->gated; left != 0; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(left);
        il_view v = {.subject = s, .regions = UINT64_C(1) << k, .dropped = s->m->regions[k].by};
        mutation_ask(r, v, false, "gates");
        v.raise = raise;
        v.lower = lower;
        v.declared = will;
        mutation_ask(r, v, true, "havoc");
    }
}

static bool mutation_named(const il_check *c, const char *const *ids, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (il_str_eq(il_str_of(c->id), il_str_of(ids[i]))) {
            return true;
        }
    }
    return false;
}

/* In the order in which mutants are asked. */
static void mutation_lines(mutation *r) {
    static const char *const early[] = {"from-init", "mediation", "coverage"};
    static const char *const late[] = {"gates",     "havoc",     "laundering", "havoc-laundered",
                                       "confirmed", "approvals", "recovery",   "sticky"};
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (const il_check *c = r->h->checks; c && r->x->nlines < 64; c = c->next) {
            if (c->verdict == IL_CHECK_PASS && (pass == 0 ? mutation_named(c, early, sizeof early / sizeof early[0])
                                                          : mutation_named(c, late, sizeof late / sizeof late[0]))) {
                r->x->lines[r->x->nlines++] = (il_mutation_line){.id = c->id, .region = c->region};
            }
        }
    }
    r->coverage = mutation_line(r, "coverage", UINT32_MAX);
    r->mediation = mutation_line(r, "mediation", UINT32_MAX);
    r->recovery = mutation_line(r, "recovery", UINT32_MAX);
    r->sticky = mutation_line(r, "sticky", UINT32_MAX);
}

/* Nodes of a view by the state that they are of. */
static il_status mutation_index(mutation *r, mutation_view *w, il_error *err) {
    uint32_t n = w->base.n, ns = r->plain.n;
    uint32_t *place = IL_NEW_ARRAY(&r->arena, uint32_t, n);
    w->order = IL_NEW_ARRAY(&r->arena, uint32_t, n);
    w->from = IL_NEW_ARRAY(&r->arena, uint32_t, (size_t)ns + 2);
    if (!place || !w->order || !w->from) {
        return il_arena_fail(&r->arena, err);
    }
    for (uint32_t i = 0; i < n; i++) {
        place[i] = il_space_find(&r->plain, il_view_state(&w->v, il_space_key(&w->base, i)));
        if (place[i] != UINT32_MAX) { /* an adversary's writes lead to states that no session is in */
            w->from[place[i] + 2]++;
        }
    }
    for (uint32_t i = 0; i < ns; i++) {
        w->from[i + 2] += w->from[i + 1];
    }
    for (uint32_t i = 0; i < n; i++) {
        if (place[i] != UINT32_MAX) {
            w->order[w->from[place[i] + 1]++] = i;
        }
    }
    return IL_OK;
}

static il_status mutation_explore(mutation *r, const il_view *from, bool mutant, uint64_t stop, il_space *out, il_error *err) {
    il_view v = *from;
    v.rows = mutant ? mutation_rows : NULL;
    v.rows_ctx = r;
    v.stop = stop;
    il_status status = il_view_explore(&v, out, err);
    r->fault = r->fault || out->fault.found;
    r->bounded = r->bounded || out->bound_hit;
    r->saturated = r->saturated || v.saturated;
    return status;
}

static il_status mutation_views(mutation *r, il_error *err) {
    uint32_t most = 1024;
    for (uint32_t i = 0; i < r->nviews; i++) {
        IL_TRY(mutation_explore(r, &r->views[i].v, false, 0, &r->views[i].base, err));
        IL_TRY(mutation_index(r, &r->views[i], err));
        most = r->views[i].base.n > most ? r->views[i].base.n : most;
    }
    most = most > 1u << 20 ? 1u << 20 : most; /* what a mutant of a cell adds; beyond, it is explored in full */
    mutation_local *l = &r->local;
    for (l->bits = 10; UINT32_C(1) << l->bits < 2 * most; l->bits++) {
    }
    l->keys = IL_NEW_ARRAY(&r->arena, uint64_t, (size_t)1 << (l->bits - 1));
    l->slots = IL_NEW_ARRAY(&r->arena, uint32_t, (size_t)1 << l->bits);
    l->stamps = IL_NEW_ARRAY(&r->arena, uint32_t, (size_t)1 << l->bits);
    return l->keys && l->slots && l->stamps ? IL_OK : il_arena_fail(&r->arena, err);
}

static void mutation_local_begin(mutation_local *l) {
    l->n = 0;
    if (++l->stamp == 0) {
        memset(l->stamps, 0, sizeof *l->stamps << l->bits);
        l->stamp = 1;
    }
}

/* 0 when there is no room, 1 when it was there, 2 when it is new. */
static int mutation_local_add(mutation_local *l, uint64_t key) {
    uint32_t mask = (UINT32_C(1) << l->bits) - 1;
    uint32_t at = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - l->bits));
    for (; l->stamps[at] == l->stamp; at = (at + 1) & mask) {
        if (l->keys[l->slots[at]] == key) {
            return 1;
        }
    }
    if (l->n == UINT32_C(1) << (l->bits - 1)) {
        return 0;
    }
    l->stamps[at] = l->stamp;
    l->slots[at] = l->n;
    l->keys[l->n++] = key;
    return 2;
}

/* ---- one mutant of a cell ---- */

typedef struct mutation_walk {
    mutation *r;
    const il_space *base;
    il_space_def def;
    uint64_t bits, hits;
    bool full; /* no more room: explore the ordinary way */
} mutation_walk;

static void mutation_follow(mutation_walk *w, uint64_t key, bool only) {
    mutation *r = w->r;
    r->only = only;
    uint32_t n = w->def.expand(w->def.ctx, key, r->edges);
    for (uint32_t k = 0; k < n; k++) {
        const il_space_edge *e = &r->edges[k];
        bool write = e->symbol >= w->def.first_write;
        if (write && only) {
            continue;
        }
        if (e->fault) {
            r->fault = true;
            continue;
        }
        if (w->def.edge && !write) {
            w->hits |= w->def.edge(w->def.ctx, key, e->symbol, e->next);
        }
        if (il_space_find(w->base, e->next) != UINT32_MAX) {
            continue;
        }
        int added = mutation_local_add(&r->local, e->next);
        w->full = w->full || added == 0;
        if (added == 2 && w->def.state) {
            w->hits |= w->def.state(w->def.ctx, e->next);
        }
    }
    r->only = false;
}

/* What lies behind the changed cell and was not there before. `first`: from the node by which its state was found first; no shortest trace to that
 * node leads through the cell, so what is found is certain. */
static uint64_t mutation_behind(mutation *r, const mutation_view *view, uint32_t place, uint32_t places, bool first, bool *full) {
    il_view v = view->v;
    v.rows = mutation_rows;
    v.rows_ctx = r;
    mutation_walk w = {.r = r, .base = &view->base, .bits = view->bits};
    il_view_define(&v, &w.def);
    mutation_local_begin(&r->local);
    for (uint32_t k = place; k < place + places && !w.full; k++) {
        uint32_t from = view->from[k], to = view->from[k + 1];
        bool same = !r->u->cell && r->changed_at[k] == r->changed_at[k + 1];
        for (uint32_t i = from; !same && i < (first && from < to ? from + 1 : to) && !w.full; i++) {
            mutation_follow(&w, il_space_key(&view->base, view->order[i]), true);
        }
    }
    for (uint32_t i = 0; i < r->local.n && (w.hits & w.bits) != w.bits && !w.full && !v.saturated; i++) {
        mutation_follow(&w, r->local.keys[i], false);
    }
    *full = *full || w.full;
    return (v.saturated ? w.bits : w.hits) & w.bits;
}

static uint64_t mutation_killed(const mutation_view *w, uint64_t hits) {
    uint64_t lines = 0;
    for (; hits != 0; hits &= hits - 1) {
        lines |= UINT64_C(1) << w->line[__builtin_ctzll(hits)];
    }
    return lines;
}

/* `perhaps`: nothing else can be hit, so the search ends when these are. */
static il_status mutation_whole(mutation *r, const mutation_view *w, uint64_t perhaps, uint64_t *hits, il_error *err) {
    il_space space = {0};
    r->saturated = false;
    il_status status = mutation_explore(r, &w->v, true, perhaps, &space, err);
    *hits |= r->saturated ? w->bits : 0;
    for (uint32_t k = 0; k < 64; k++) {
        *hits |= space.hits[k].found ? UINT64_C(1) << k & w->bits : 0;
    }
    il_space_free(&space);
    return status;
}

static il_status mutation_view_cell(mutation *r, const mutation_view *w, uint32_t place, bool removes, uint64_t *kills,
                                    il_error *err) {
    bool full = false;
    uint64_t hits = 0;
    if (r->u->step.verdict == IL_REJECT || (w->v.dropped >> r->s->m->symbol_action[r->u->symbol] & 1)) {
        return IL_OK; /* nothing is added that was not there */
    }
    hits = mutation_behind(r, w, place, 1, removes, &full);
    uint64_t perhaps = hits;
    if (removes && hits != w->bits && !full) {
        perhaps = mutation_behind(r, w, place, 1, false, &full); /* the cell's old step may have been on the way to it */
    }
    if (full || perhaps != hits) {
        hits = 0;
        IL_TRY(mutation_whole(r, w, full ? w->bits : perhaps, &hits, err));
    }
    *kills |= mutation_killed(w, hits);
    return IL_OK;
}

/* Everything that the changed steps add. When others are missing this is too much, so a finding is looked at again. */
static il_status mutation_view_class(mutation *r, const mutation_view *w, uint64_t *kills, il_error *err) {
    bool full = false;
    uint64_t hits = 0;
    if (r->changed_at[r->plain.n] > 0) {
        hits = mutation_behind(r, w, 0, r->plain.n, false, &full);
    }
    if (full || (hits && r->removes)) {
        uint64_t perhaps = full ? w->bits : hits;
        hits = 0;
        IL_TRY(mutation_whole(r, w, perhaps, &hits, err));
    }
    *kills |= mutation_killed(w, hits);
    return IL_OK;
}

/* How many states are still reached when the cell leads to `target` (UINT32_MAX: nowhere that the machine knows). */
static uint32_t mutation_still(mutation *r, uint32_t cell, uint32_t target) {
    const uint32_t n = r->s->m->nsymbols;
    uint32_t head = 0, tail = 1, to = r->to[cell];
    if (cell / n >= to || r->ways[to] > 1) {
        return r->plain.n; /* it was found another way, before it */
    }
    memset(r->reached, 0, r->plain.n * sizeof *r->reached);
    r->queue[0] = 0;
    r->reached[0] = true;
    while (head < tail) {
        uint32_t from = r->queue[head++];
        for (uint32_t k = from * n; k < (from + 1) * n; k++) {
            to = k == cell ? target : r->to[k];
            if (to != UINT32_MAX && !r->reached[to]) {
                r->reached[to] = true;
                r->queue[tail++] = to;
            }
        }
    }
    return tail;
}

/* A refusal that an invariant forbids. */
static void mutation_refusals(mutation *r, uint64_t state, uint32_t symbol, il_step step) {
    const il_model *m = r->s->m;
    for (uint32_t k = 0; step.verdict == IL_REJECT && k < m->nregions; k++) {
        if (m->regions[k].rejection && il_model_refused_wrongly(m, k, state, symbol, step.reason)) {
            r->now.refused[k]++;
        }
    }
}

/* States of the mutant that the machine does not know, in full. */
static void mutation_count_local(mutation *r) {
    for (uint32_t i = 0; i < r->local.n; i++) {
        uint64_t state = r->local.keys[i];
        mutation_count_state(r, &r->now, state, 1);
        for (uint32_t k = 0; k < r->s->m->nsymbols; k++) {
            il_step step = mutation_step(r, state, k);
            mutation_count_step(r, &r->now, state, k, step, 1);
            mutation_refusals(r, state, k, step);
        }
    }
}

static void mutation_compare(mutation *r);
static void mutation_reads(mutation *r);
static il_status mutation_survey_whole(mutation *r, uint64_t *signature, il_error *err);

static il_status mutation_survey_changed(mutation *r, il_error *err) {
    mutation_compare(r);
    return mutation_survey_whole(r, NULL, err);
}

static il_status mutation_survey_cell(mutation *r, uint32_t place, il_error *err) {
    const il_model *m = r->s->m;
    const il_mutant *u = r->u;
    uint32_t cell = place * m->nsymbols + u->symbol;
    bool accepts = u->step.verdict == IL_ACCEPT, removes = r->to[cell] != UINT32_MAX;
    uint32_t target = accepts ? il_space_find(&r->plain, u->step.next) : UINT32_MAX;
    uint32_t still = removes ? mutation_still(r, cell, target) : r->plain.n;
    if (still < r->plain.n && accepts && target == UINT32_MAX) {
        return mutation_survey_changed(r, err);
    }
    r->now = r->base;
    mutation_count_step(r, &r->now, u->state, u->symbol, r->cells[cell], UINT64_MAX);
    mutation_count_step(r, &r->now, u->state, u->symbol, u->step, 1);
    mutation_refusals(r, u->state, u->symbol, u->step);
    for (uint32_t i = 0; still < r->plain.n && i < r->plain.n; i++) {
        if (!r->reached[i]) {
            mutation_count_row(r, &r->now, i, UINT64_MAX);
        }
    }
    if (accepts && target == UINT32_MAX) {
        il_view v = {.subject = r->s};
        mutation_view plain = {.v = v, .base = r->plain, .bits = 1};
        mutation_walk w = {.r = r, .base = &plain.base};
        v.rows = mutation_rows;
        v.rows_ctx = r;
        il_view_define(&v, &w.def);
        mutation_local_begin(&r->local);
        mutation_follow(&w, u->state, true);
        for (uint32_t i = 0; i < r->local.n && !w.full; i++) {
            mutation_follow(&w, r->local.keys[i], false);
        }
        if (w.full) {
            return mutation_survey_changed(r, err);
        }
        mutation_count_local(r);
    }
    return IL_OK;
}

/* ---- what a survey says ---- */

static bool mutation_wrong_lowering(const mutation *r) {
    const il_model *m = r->s->m;
    if (r->now.unnamed != 0) {
        return true;
    }
    for (uint32_t v = 0; v < m->nvars; v++) {
        for (uint32_t a = 0; m->vars[v].taint && a < m->nactions; a++) {
            const il_action_def *d = &m->actions[a];
            bool declared = d->lowers && d->gate && (d->principal == IL_HUMAN || d->principal == IL_RUNTIME);
            if (!declared && r->now.lowered[v][a]) {
                return true;
            }
        }
    }
    return false;
}

static bool mutation_unexercised(const mutation *r) {
    const il_model *m = r->s->m;
    bool missing = false;
    for (uint32_t v = 0; v < m->nvars; v++) {
        missing = missing || r->now.moved[v] == 0;
    }
    for (uint32_t i = 0; i < m->nrules; i++) {
        missing = missing || r->now.fired[i] == 0;
    }
    for (uint32_t a = 0; a < m->nactions; a++) {
        missing = missing || r->now.accepted[a] == 0;
    }
    return missing;
}

/* A mutant with unmediated writes that the machine has not: the questions that ask about them are asked anew. */
static il_status mutation_adversary(mutation *r, uint64_t raise, uint64_t lower, uint64_t *kills, il_error *err) {
    const il_subject *s = r->s;
    for (uint32_t i = 0; i < r->nviews && (r->sets || *kills == 0); i++) {
        if (r->views[i].adversary) {
            mutation_view w = r->views[i];
            uint64_t hits = 0;
            w.v.raise = raise;
            w.v.lower = lower;
            IL_TRY(mutation_whole(r, &w, w.bits, &hits, err));
            *kills |= mutation_killed(&w, hits);
        }
    }
    for (uint32_t v = 0; r->mediation >= 0 && v < s->m->nvars && !(*kills >> r->mediation & 1); v++) {
        uint64_t bit = UINT64_C(1) << v;
        for (uint32_t k = 0; ((raise & ~r->raise) | (lower & ~r->lower)) & bit && k < s->m->nregions; k++) {
            if (!((s->never | s->gated) >> k & 1)) {
                continue;
            }
            mutation_view w = {.v = {.subject = r->s,
                                     .dropped = s->m->regions[k].gated ? s->m->regions[k].by : 0,
                                     .raise = raise & bit,
                                     .lower = lower & bit,
                                     .regions = UINT64_C(1) << k},
                               .bits = UINT64_C(1) << k};
            uint64_t hits = 0;
            IL_TRY(mutation_whole(r, &w, w.bits, &hits, err));
            *kills |= hits ? UINT64_C(1) << r->mediation : 0;
        }
    }
    return IL_OK;
}

/* On what sessions reach: a sticky variable that a step lowers, or that nothing raises any more. */
static bool mutation_unstuck(const mutation *r) {
    const il_model *m = r->s->m;
    for (uint32_t v = 0; v < m->nvars; v++) {
        bool raised = !m->vars[v].sticky;
        for (uint32_t a = 0; m->vars[v].sticky && a < m->nactions; a++) {
            raised = raised || r->now.raised[v][a];
            if (r->now.lowered[v][a]) {
                return true;
            }
        }
        if (!raised) {
            return true;
        }
    }
    return false;
}

/* Recovery begins where no session should be, so it is asked of a mistake in an action, which is made there too, and not of a cell. */
static il_status mutation_recovers(mutation *r, uint64_t *kills, il_error *err) {
    il_arena scratch;
    if (r->recovery < 0 || r->u->cell) {
        return IL_OK;
    }
    il_arena_init(&scratch, r->s->alloc, IL_MUTATION_WORK_BYTES);
    il_harden other = *r->h;
    other.checks = other.last_check = NULL;
    other.recovery = (il_recovery){0};
    other.bounded = false;
    other.subject.arena = &scratch;
    other.subject.rows = mutation_rows;
    other.subject.rows_ctx = r;
    il_status status = il_check_recovery(&other, err);
    const il_check *c = other.checks;
    if (status == IL_OK && c) {
        r->fault = r->fault || (c->finding && il_str_eq(il_str_of(c->finding), IL_STR("FAULT")));
        r->bounded = r->bounded || c->bound_hit;
        *kills |= c->verdict == IL_CHECK_FAIL ? UINT64_C(1) << r->recovery : 0;
    }
    il_arena_free(&scratch);
    return status;
}

static il_status mutation_judge_survey(mutation *r, uint64_t *kills, il_error *err) {
    const il_subject *s = r->s;
    if (r->coverage >= 0 && mutation_unexercised(r)) {
        *kills |= UINT64_C(1) << r->coverage;
    }
    if (r->mediation >= 0 && mutation_wrong_lowering(r)) {
        *kills |= UINT64_C(1) << r->mediation;
    }
    if (r->sticky >= 0 && mutation_unstuck(r)) {
        *kills |= UINT64_C(1) << r->sticky;
    }
    for (uint32_t k = 0; k < s->m->nregions; k++) {
        int gates = s->gated >> k & 1 ? mutation_line(r, "gates", k) : -1;
        *kills |= gates >= 0 && r->now.inside[k] == 0 ? UINT64_C(1) << gates : 0;
        int kept = s->m->regions[k].rejection ? mutation_line(r, "from-init", k) : -1;
        *kills |= kept >= 0 && r->now.refused[k] != 0 ? UINT64_C(1) << kept : 0;
    }
    uint64_t raise = 0, lower = 0;
    mutation_writes(r, &r->now, &raise, &lower);
    return ((raise & ~r->raise) | (lower & ~r->lower)) != 0 ? mutation_adversary(r, raise, lower, kills, err) : IL_OK;
}

/* ---- one mutant of a class ---- */

static uint64_t mutation_mix(uint64_t mark, uint64_t x) {
    mark = (mark ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return mark ^ mark >> 29;
}

/* What a class says otherwise of the states that the machine knows. */
static void mutation_compare(mutation *r) {
    const il_model *m = r->s->m;
    r->removes = false;
    r->ndiffers = 0;
    for (uint32_t i = 0; i < r->plain.n; i++) {
        r->changed_at[i + 1] = r->changed_at[i];
        for (uint32_t k = 0; k < m->nsymbols; k++) {
            uint32_t cell = i * m->nsymbols + k;
            if (!(r->u->actions >> m->symbol_action[k] & 1)) {
                continue;
            }
            il_step step = mutation_step_at(r, cell);
            const il_step *was = &r->cells[cell];
            if (step.next == was->next && step.verdict == was->verdict && step.reason == was->reason) {
                continue;
            }
            if (step.verdict != IL_REJECT) {
                r->changed[r->changed_at[i + 1]++] = mutation_edge(k, step);
            }
            r->removes = r->removes || was->verdict == IL_ACCEPT;
            r->differs[r->ndiffers++] = cell;
        }
    }
}

/* Explores the mutant itself and counts it. *signature tells it from others. */
static il_status mutation_survey_whole(mutation *r, uint64_t *signature, il_error *err) {
    const il_model *m = r->s->m;
    il_space space = {0};
    const il_view v = {.subject = r->s};
    il_status status = mutation_explore(r, &v, true, 0, &space, err);
    uint64_t mark = 0;
    r->now = r->base;
    memset(r->reached, 0, r->plain.n * sizeof *r->reached);
    for (uint32_t i = 0; status == IL_OK && i < space.n; i++) {
        uint64_t state = il_space_key(&space, i);
        uint32_t place = il_space_find(&r->plain, state);
        if (place != UINT32_MAX) {
            r->reached[place] = true;
            continue;
        }
        mutation_count_state(r, &r->now, state, 1);
        for (uint32_t k = 0; k < m->nsymbols; k++) {
            il_step step = mutation_step(r, state, k);
            mutation_count_step(r, &r->now, state, k, step, 1);
            mutation_refusals(r, state, k, step);
            mark = mutation_mix(mutation_mix(mark, state), step.next + ((uint64_t)k << 48) + step.verdict + 4u * step.reason);
        }
    }
    il_space_free(&space);
    for (uint32_t i = 0; i < r->ndiffers; i++) {
        uint32_t place = r->differs[i] / m->nsymbols, k = r->differs[i] % m->nsymbols;
        if (r->reached[place]) {
            il_step step = mutation_step_at(r, r->differs[i]);
            mutation_count_step(r, &r->now, r->states[place], k, r->cells[r->differs[i]], UINT64_MAX);
            mutation_count_step(r, &r->now, r->states[place], k, step, 1);
            mutation_refusals(r, r->states[place], k, step);
            mark = mutation_mix(mutation_mix(mark, r->differs[i]), step.next + step.verdict + 4u * step.reason);
        }
    }
    for (uint32_t i = 0; i < r->plain.n; i++) {
        if (!r->reached[i]) {
            mark = mutation_mix(mark, i);
            mutation_count_row(r, &r->now, i, UINT64_MAX);
        }
    }
    if (signature) {
        *signature = mark;
    }
    return status;
}

/* ---- all of them ---- */

static bool mutation_more(const il_model *m, const il_subject *s, uint64_t was, uint64_t is) {
    bool more = false, less = false;
    for (uint32_t v = 0; v < m->nvars; v++) {
        bool counts = m->vars[v].taint;
        for (uint32_t k = 0; k < IL_WAYS_OUT; k++) {
            counts = counts || s->out[k].var == v;
        }
        more = more || (counts && il_model_get(m, is, v) > il_model_get(m, was, v));
        less = less || il_model_get(m, is, v) < il_model_get(m, was, v) ||
               (!counts && il_model_get(m, is, v) != il_model_get(m, was, v));
    }
    return more && !less;
}

static bool mutation_fewer(const il_model *m, uint64_t was, uint64_t is) {
    uint32_t asked = il_model_var(m, IL_STR("asked")), granted = il_model_var(m, IL_STR("granted"));
    for (uint32_t v = 0; v < m->nvars; v++) {
        uint32_t before = il_model_get(m, was, v), after = il_model_get(m, is, v);
        if (before != after && (after > before || (v != asked && v != granted))) {
            return false;
        }
    }
    return true;
}

/* A state's place among the states that were compared so far: the machine's own, then others as they come. */
static uint32_t mutation_known(mutation *r, uint64_t state) {
    uint32_t place = il_space_find(&r->plain, state);
    for (uint32_t i = 0; place == UINT32_MAX && i < r->nothers; i++) {
        place = r->others[i] == state ? r->plain.n + i : UINT32_MAX;
    }
    if (place == UINT32_MAX && r->nothers < MUTATION_OTHERS) {
        r->others[r->nothers] = state;
        place = r->plain.n + r->nothers++;
    }
    return place;
}

/* One pair: what the first accepts the second accepts too, and the pairs that follow are asked next. */
static bool mutation_pair(mutation *r, uint32_t less, uint32_t more, uint32_t *tail) {
    const uint32_t n = r->s->m->nsymbols, places = r->plain.n, all = places + MUTATION_OTHERS;
    for (uint32_t k = 0; k < n; k++) {
        il_step a = less < places ? r->cells[(size_t)less * n + k] : il_steps_one(r->s->steps, NULL, r->others[less - places], k);
        if (a.verdict == IL_REJECT) {
            continue;
        }
        il_step b = more < places ? r->cells[(size_t)more * n + k] : il_steps_one(r->s->steps, NULL, r->others[more - places], k);
        if (b.verdict != IL_ACCEPT || a.verdict != IL_ACCEPT) {
            return false;
        }
        if (a.next == b.next) {
            continue;
        }
        uint32_t x = mutation_known(r, a.next), y = mutation_known(r, b.next);
        if (x == UINT32_MAX || y == UINT32_MAX) {
            return false; /* no room: nothing is claimed */
        }
        uint8_t *known = &r->within[(size_t)x * all + y];
        if (*known == MUTATION_NOT_WITHIN) {
            return false;
        }
        if (*known == 0) {
            *known = MUTATION_WITHIN;
            r->pairs[(*tail)++] = (uint64_t)x << 32 | y;
        }
    }
    return true;
}

/* Whether all that the machine lets happen from one state it lets happen from another as well (it is deterministic: a pair of states after any
 * common run shows it). What was settled before is remembered. */
static bool mutation_within(mutation *r, uint64_t less, uint64_t more) {
    const uint32_t all = r->plain.n + MUTATION_OTHERS;
    uint32_t x = r->within ? mutation_known(r, less) : UINT32_MAX, y = r->within ? mutation_known(r, more) : UINT32_MAX;
    if (x == UINT32_MAX || y == UINT32_MAX) {
        return less == more;
    }
    uint32_t tail = 0;
    uint8_t *first = &r->within[(size_t)x * all + y];
    bool holds = *first != MUTATION_NOT_WITHIN;
    if (*first == 0) {
        *first = MUTATION_WITHIN;
        r->pairs[tail++] = (uint64_t)x << 32 | y;
    }
    for (uint32_t head = 0; holds && head < tail; head++) {
        holds = mutation_pair(r, (uint32_t)(r->pairs[head] >> 32), (uint32_t)r->pairs[head], &tail);
    }
    for (uint32_t i = 0; !holds && i < tail; i++) { /* of these only the first is known to fail */
        r->within[(size_t)(r->pairs[i] >> 32) * all + (uint32_t)r->pairs[i]] = i == 0 ? MUTATION_NOT_WITHIN : 0;
    }
    return holds;
}

/* No node of the view that drops the lowering steps is of that state. */
static bool mutation_behind_lowering(const mutation *r, uint64_t state) {
    uint32_t place = il_space_find(&r->plain, state);
    for (uint32_t i = 0; r->s->lowers && place != UINT32_MAX && i < r->nviews; i++) {
        const mutation_view *w = &r->views[i];
        if (w->v.observer == IL_OBSERVE_GHOSTS && !w->adversary) {
            return w->from[place] == w->from[place + 1];
        }
    }
    return false;
}

/* Variables by which some state of a session would be in a `never` region if they had another value. */
static void mutation_reads(mutation *r) {
    const il_subject *s = r->s;
    for (uint64_t left = s->never & ~s->edges; left != 0; left &= left - 1) {
        for (uint32_t i = 0; i < r->plain.n; i++) {
            for (uint32_t v = 0; v < s->m->nvars; v++) {
                for (uint32_t x = 0; !(r->read >> v & 1) && x < s->m->vars[v].domain.size; x++) {
                    uint64_t other = il_model_set(s->m, r->states[i], v, x);
                    bool in = il_steps_in_region(s->steps, (uint32_t)__builtin_ctzll(left), other, 0, 0);
                    r->read |= in ? UINT64_C(1) << v : 0;
                }
            }
        }
    }
}

static bool mutation_unread(const mutation *r, uint64_t was, uint64_t is) {
    uint64_t differ = 0;
    for (uint32_t v = 0; v < r->s->m->nvars; v++) {
        differ |= il_model_get(r->s->m, was, v) != il_model_get(r->s->m, is, v) ? UINT64_C(1) << v : 0;
    }
    return (differ & r->read) == 0 && !(r->s->never & r->s->edges);
}

static il_survivor mutation_class(mutation *r, uint64_t state, uint32_t symbol, il_step was, il_step is) {
    const il_subject *s = r->s;
    if (was.verdict == IL_ACCEPT && is.verdict == IL_REJECT) {
        return IL_SURVIVOR_STRICTER;
    }
    if (is.verdict == IL_REJECT) {
        return IL_SURVIVOR_REASON;
    }
    if (is.next != was.next && mutation_within(r, is.next, was.next)) {
        return was.verdict == IL_REJECT ? IL_SURVIVOR_INERT : IL_SURVIVOR_STRICTER;
    }
    bool charged = is.next == il_model_eval(s->m, NULL, state, symbol).next;
    if (was.verdict == IL_REJECT && is.next == state) {
        return IL_SURVIVOR_SILENT;
    }
    if (mutation_behind_lowering(r, state) || (s->lowers >> s->m->symbol_action[symbol] & 1)) {
        return IL_SURVIVOR_BEHIND;
    }
    if (was.verdict == IL_REJECT && (charged || (s->corrective >> s->m->symbol_action[symbol] & 1))) {
        return charged ? IL_SURVIVOR_CHARGED : IL_SURVIVOR_CORRECTIVE;
    }
    return mutation_more(s->m, s, was.next, is.next) ? IL_SURVIVOR_HOLDS_MORE
           : mutation_fewer(s->m, was.next, is.next) ? IL_SURVIVOR_FEWER_APPROVED
           : mutation_unread(r, was.next, is.next)   ? IL_SURVIVOR_UNREAD
                                                     : IL_SURVIVOR_ELSEWHERE;
}

static il_status mutation_survives(mutation *r, il_error *err) {
    const il_model *m = r->s->m;
    const il_mutant *u = r->u;
    il_survivor_example e = {.found = true, .u = *u, .state = u->state, .symbol = u->symbol};
    uint32_t place = u->cell ? il_space_find(&r->plain, u->state) : 0;
    bool differs = u->cell;
    for (uint32_t i = 0; !differs && i < r->plain.n; i++) { /* the first in the order of discovery */
        for (uint32_t k = 0; !differs && k < m->nsymbols; k++) {
            const il_step *was = &r->cells[(size_t)i * m->nsymbols + k];
            il_step is = mutation_step_at(r, i * m->nsymbols + k);
            differs = was->next != is.next || was->verdict != is.verdict || was->reason != is.reason;
            place = i;
            e.state = r->states[i];
            e.symbol = k;
        }
    }
    e.was = r->cells[(size_t)place * m->nsymbols + e.symbol];
    e.is = mutation_step_at(r, place * m->nsymbols + e.symbol);
    il_survivor c = mutation_class(r, e.state, e.symbol, e.was, e.is);
    uint64_t before = 0;
    for (uint32_t k = 0; k < IL_MUTANT_OPS; k++) {
        before += r->x->classes[c][k];
    }
    r->x->classes[c][u->op]++;
    /* one of each operator's, as far as there is room */
    if (before >= IL_MUTATION_EXAMPLES || (before > 0 && r->x->classes[c][u->op] > 1 && before < IL_MUTATION_EXAMPLES - 1)) {
        return IL_OK;
    }
    uint32_t slot = 0;
    while (slot < IL_MUTATION_EXAMPLES && r->x->examples[c][slot].found) {
        slot++;
    }
    if (slot == IL_MUTATION_EXAMPLES) {
        return IL_OK;
    }
    const il_view v = {.subject = r->s};
    const il_space_hit hit = {.found = true, .node = place};
    IL_TRY(il_trace_of(r->h, &v, &r->plain, &hit, &e.trace, err));
    r->x->examples[c][slot] = e;
    return IL_OK;
}

static void mutation_note(mutation *r, uint64_t kills) {
    il_mutation *x = r->x;
    bool one = (kills & (kills - 1)) == 0;
    uint32_t first = (uint32_t)__builtin_ctzll(kills);
    x->ops[r->u->op].killed++;
    x->first[r->u->op][first]++;
    x->lines[first].first++;
    for (uint32_t i = 0; i < x->nlines; i++) {
        bool kill = kills >> i & 1;
        x->lines[i].kills += kill;
        x->lines[i].alone += kill && one;
        x->lines[i].differs |= kill ? ~kills : kills;
    }
}

static bool mutation_seen(mutation *r, uint64_t signature) {
    for (uint32_t i = 0; i < r->nsignatures; i++) {
        if (r->signatures[i] == signature) {
            return true;
        }
    }
    r->signatures[r->nsignatures++] = signature;
    return false;
}

/* The same cell says the same under an operator that came before. */
static bool mutation_twice(const mutation *r, uint32_t cell) {
    const il_mutant *u = r->u;
    const il_step *was = &r->cells[cell];
    const il_mutants *p = &r->x->mutants;
    if (was->verdict != IL_REJECT || u->step.verdict != IL_ACCEPT || u->op == IL_MUTANT_ACCEPT) {
        return false;
    }
    il_look look = il_model_look(r->s->m, u->state, u->symbol);
    il_eval e = il_model_eval(r->s->m, NULL, u->state, u->symbol);
    bool accept = e.step.verdict == IL_REJECT && (look.escaped | look.failed) == 0 && e.next == u->step.next;
    uint32_t donor = p->donor[u->symbol];
    return accept || (u->op == IL_MUTANT_SILENCE && donor != UINT32_MAX && p->cells[donor].next == u->step.next);
}

static il_status mutation_one(mutation *r, const il_mutant *u, il_error *err) {
    il_mutation_tally *t = &r->x->ops[u->op];
    uint64_t kills = 0;
    bool same = false;
    r->u = u;
    r->fault = r->bounded = r->only = false;
    t->judged++;
    memset(r->now.refused, 0, sizeof r->now.refused);
    uint32_t place = u->cell ? il_space_find(&r->plain, u->state) : 0;
    const il_step *was = &r->cells[(size_t)place * r->s->m->nsymbols + u->symbol];
    bool twice = false;
    if (u->cell) {
        same = was->next == u->step.next && was->verdict == u->step.verdict && was->reason == u->step.reason;
        twice = !same && mutation_twice(r, (uint32_t)(was - r->cells));
        r->fault = u->step.verdict == IL_FAULT;
    } else {
        uint64_t signature = 0;
        memset(r->kept_n, 0xFF, sizeof *r->kept_n << r->kept_bits);
        mutation_compare(r);
        same = r->ndiffers == 0;
        if (r->sets && !same) { /* what a sample saves: it does not look for doubles among classes */
            IL_TRY(mutation_survey_whole(r, &signature, err));
            twice = !r->fault && mutation_seen(r, signature);
        }
    }
    if (same || twice) {
        t->equivalent += same;
        t->duplicate += !same;
        return IL_OK;
    }
    for (uint32_t i = 0; i <= r->nviews && !r->fault && (r->sets || kills == 0); i++) {
        if (i == r->nearly) {
            if (u->cell || !r->sets) {
                IL_TRY(u->cell ? mutation_survey_cell(r, place, err) : mutation_survey_whole(r, NULL, err));
            }
            IL_TRY(mutation_judge_survey(r, &kills, err));
            if (kills && !r->sets) {
                break;
            }
        }
        if (i < r->nviews && u->cell) {
            IL_TRY(mutation_view_cell(r, &r->views[i], place, was->verdict == IL_ACCEPT, &kills, err));
        } else if (i < r->nviews) {
            IL_TRY(mutation_view_class(r, &r->views[i], &kills, err));
        }
    }
    if (!r->fault && (r->sets || kills == 0)) {
        IL_TRY(mutation_recovers(r, &kills, err));
    }
    if (r->fault) {
        t->harness++;
        return IL_OK;
    }
    t->distinct++;
    if (kills) {
        mutation_note(r, kills);
    } else if (r->bounded) {
        t->unsettled++;
        r->x->bounded = true;
    } else {
        t->survived++;
        return mutation_survives(r, err);
    }
    return IL_OK;
}

static il_status mutation_prepare(mutation *r, il_error *err) {
    const il_model *m = r->s->m;
    const il_view v = {.subject = r->s};
    IL_TRY(mutation_explore(r, &v, false, 0, &r->plain, err));
    size_t n = (size_t)r->plain.n * m->nsymbols;
    if (r->bounded || n > IL_MUTATION_CELLS_MAX) {
        r->x->bounded = true;
        return IL_OK;
    }
    r->kept_bits = MUTATION_KEPT_BITS;
    while (r->kept_bits > 1 && (size_t)m->nsymbols << r->kept_bits > MUTATION_KEPT_EDGES) {
        r->kept_bits--; /* rows of a machine with many symbols are long */
    }
    r->states = IL_NEW_ARRAY(&r->arena, uint64_t, r->plain.n);
    r->cells = IL_NEW_ARRAY(&r->arena, il_step, n);
    r->to = IL_NEW_ARRAY(&r->arena, uint32_t, n);
    r->edges = IL_NEW_ARRAY(&r->arena, il_space_edge, (size_t)m->nsymbols + r->s->nwrites);
    r->row = IL_NEW_ARRAY(&r->arena, il_steps_edge, m->nsymbols);
    r->copy = IL_NEW_ARRAY(&r->arena, il_steps_edge, m->nsymbols);
    r->kept = IL_NEW_ARRAY(&r->arena, il_steps_edge, (size_t)m->nsymbols << r->kept_bits);
    r->kept_of = IL_NEW_ARRAY(&r->arena, uint64_t, (size_t)1 << r->kept_bits);
    r->kept_n = IL_NEW_ARRAY(&r->arena, uint32_t, (size_t)1 << r->kept_bits);
    r->differs = IL_NEW_ARRAY(&r->arena, uint32_t, n);
    r->changed = IL_NEW_ARRAY(&r->arena, il_steps_edge, n);
    r->changed_at = IL_NEW_ARRAY(&r->arena, uint32_t, (size_t)r->plain.n + 1);
    r->queue = IL_NEW_ARRAY(&r->arena, uint32_t, r->plain.n);
    r->ways = IL_NEW_ARRAY(&r->arena, uint32_t, r->plain.n);
    r->reached = IL_NEW_ARRAY(&r->arena, bool, r->plain.n);
    if (!r->states || !r->cells || !r->to || !r->edges || !r->row || !r->copy || !r->kept || !r->kept_of || !r->kept_n ||
        !r->differs || !r->changed || !r->changed_at || !r->queue || !r->ways || !r->reached) {
        return il_arena_fail(&r->arena, err);
    }
    for (uint32_t i = 0; i < r->plain.n; i++) {
        r->states[i] = il_space_key(&r->plain, i);
        for (uint32_t k = 0; k < m->nsymbols; k++) {
            il_step step = il_steps_one(r->s->steps, NULL, r->states[i], k);
            r->cells[(size_t)i * m->nsymbols + k] = step;
            r->to[(size_t)i * m->nsymbols + k] = step.verdict == IL_ACCEPT ? il_space_find(&r->plain, step.next) : UINT32_MAX;
        }
        mutation_count_row(r, &r->base, i, 1);
    }
    for (size_t i = 0; i < n; i++) {
        r->ways[r->to[i] == UINT32_MAX ? 0 : r->to[i]] += r->to[i] != UINT32_MAX && i / m->nsymbols < r->to[i];
    }
    mutation_writes(r, &r->base, &r->raise, &r->lower);
    mutation_reads(r);
    mutation_lines(r);
    mutation_questions(r);
    IL_TRY(mutation_views(r, err));
    r->x->bounded = r->bounded;
    IL_TRY(il_mutants_init(&r->x->mutants, r->h->subject.arena, r->s, r->states, r->plain.n, r->cells, err));
    if (r->plain.n <= MUTATION_PLACES_MAX) {
        size_t all = (size_t)r->plain.n + MUTATION_OTHERS;
        r->within = IL_NEW_ARRAY(&r->arena, uint8_t, all * all);
        r->pairs = IL_NEW_ARRAY(&r->arena, uint64_t, all * all);
        if (!r->within || !r->pairs) {
            return il_arena_fail(&r->arena, err);
        }
    }
    r->signatures = IL_NEW_ARRAY(&r->arena, uint64_t, (size_t)r->x->mutants.nclasses + 1);
    return r->signatures ? IL_OK : il_arena_fail(&r->arena, err);
}

static uint64_t mutation_gcd(uint64_t a, uint64_t b) { /* bounded by the logarithm of b */
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Of `count` things `take`, spread without a period that the table could share: place i stands at i * step modulo count. */
static il_status mutation_operator(mutation *r, il_mutant_op op, uint64_t take, il_error *err) {
    uint64_t count = il_mutants_count(&r->x->mutants, op);
    uint64_t step = take < count ? (count / 1000 * 618 + count % 1000 * 618 / 1000) | 1 : 1;
    r->x->ops[op].population = count;
    while (count > 1 && mutation_gcd(count, step) != 1) {
        step += 2;
    }
    for (uint64_t i = 0, at = 0; i < take && i < count; i++) {
        il_mutant u = il_mutants_at(&r->x->mutants, op, at);
        IL_TRY(mutation_one(r, &u, err));
        at = (at + step) % count;
    }
    return IL_OK;
}

/* Every operator gets the same share; what one does not need goes to the others. */
static uint64_t mutation_share(const mutation *r, uint64_t most) {
    uint64_t share = 0, left = most;
    for (uint32_t open = IL_MUTANT_OPS; open > 0 && left >= open;) {
        uint64_t more = left / open;
        share += more;
        left = most;
        open = 0;
        for (uint32_t op = 0; op < IL_MUTANT_OPS; op++) {
            uint64_t count = il_mutants_count(&r->x->mutants, (il_mutant_op)op);
            left -= count < share ? count : share;
            open += count > share;
        }
    }
    return share;
}

static il_status mutation_all(mutation *r, uint64_t most, il_error *err) {
    uint64_t population = 0;
    for (uint32_t op = 0; op < IL_MUTANT_OPS; op++) {
        population += il_mutants_count(&r->x->mutants, (il_mutant_op)op);
    }
    r->sets = r->x->sets = most >= population;
    uint64_t share = most == IL_MUTATION_ALL ? most : mutation_share(r, most);
    uint64_t few = share == 0 ? most : 0; /* fewer than there are operators: one of each until they are used up */
    for (uint32_t op = 0; op < IL_MUTANT_OPS; op++) {
        uint64_t one = few > 0 && il_mutants_count(&r->x->mutants, (il_mutant_op)op) > 0 ? 1 : 0;
        few -= one;
        IL_TRY(mutation_operator(r, (il_mutant_op)op, share + one, err));
        const il_mutation_tally *t = &r->x->ops[op];
        il_mutation_tally *all = &r->x->all;
        all->population += t->population;
        all->judged += t->judged;
        all->equivalent += t->equivalent;
        all->duplicate += t->duplicate;
        all->harness += t->harness;
        all->distinct += t->distinct;
        all->killed += t->killed;
        all->survived += t->survived;
        all->unsettled += t->unsettled;
    }
    r->x->sampled = r->x->all.judged < r->x->all.population;
    return IL_OK;
}

static il_status mutation_conclude(mutation *r, il_error *err) {
    const il_mutation *x = r->x;
    il_check *c = il_check_add(r->h, "mutation", UINT32_MAX, false);
    if (!c) {
        return il_arena_fail(r->h->subject.arena, err);
    }
    c->states = r->h->states;
    c->edges = r->h->edges;
    c->depth = r->h->depth;
    c->bound_hit = x->bounded;
    r->h->bounded = r->h->bounded || x->bounded;
    c->verdict = x->bounded || x->all.killed == 0 ? IL_CHECK_INCONCLUSIVE : IL_CHECK_PASS;
    if (!x->bounded && x->all.killed == 0) {
        c->finding = x->all.distinct == 0 ? "NO_MUTANT" : "NOTHING_KILLED";
        return IL_OK;
    }
    c->finding = x->sampled && !x->bounded ? "SAMPLED" : NULL;
    il_buf b;
    il_buf_init(&b, r->h->subject.arena, 256);
    il_buf_puts(&b, "killed ");
    il_buf_putu(&b, x->all.killed);
    il_buf_puts(&b, " of ");
    il_buf_putu(&b, x->all.distinct);
    return il_buf_done(&b, &c->detail, err);
}

il_status il_mutation_run(il_harden *h, uint64_t most, il_mutation **out, il_error *err) {
    il_arena work;
    il_arena_init(&work, h->subject.alloc, IL_MUTATION_WORK_BYTES);
    mutation *r = IL_NEW(&work, mutation);
    *out = IL_NEW(h->subject.arena, il_mutation);
    if (!r || !*out) {
        il_status failed = il_arena_fail(r ? h->subject.arena : &work, err);
        il_arena_free(&work);
        return failed;
    }
    il_arena_init(&r->arena, h->subject.alloc, IL_MUTATION_WORK_BYTES);
    r->x = *out;
    r->x->h = h;
    r->h = h;
    r->s = &h->subject;
    *h->subject.bounds.spent = 0; /* another question, with as much work of its own */
    il_status status = h->bounded || h->table.n == 0 ? IL_OK : mutation_prepare(r, err);
    r->x->bounded = r->x->bounded || h->bounded;
    if (status == IL_OK && !r->x->bounded) {
        status = mutation_all(r, most, err);
    }
    if (status == IL_OK) {
        status = mutation_conclude(r, err);
    }
    for (uint32_t i = 0; i < r->nviews; i++) {
        il_space_free(&r->views[i].base);
    }
    il_space_free(&r->plain);
    il_arena_free(&r->arena);
    il_arena_free(&work);
    return status;
}
