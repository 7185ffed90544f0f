/* SPDX-License-Identifier: Apache-2.0 */
/* A key of the product is the shared variables and, for each instance, the number of its own state: numbers are given as states are met, and the
 * numbers of alike instances stand in order. 0 is an instance that has not begun. */
#include "check/fleet.h"

#include "base/error.h"
#include "base/mem.h"
#include "check/numbers.h"
#include "machine/steps.h"

enum {
    FLEET_LOST_START = 32,
    FLEET_LOST_ANSWER,
    FLEET_ALL,
    FLEET_WOULD_LOSE,
    FLEET_TOGETHER
}; /* bits of a hit; the invariants stand below */

typedef struct fleet_edge {
    uint32_t row; /* what it leads to */
    uint32_t symbol;
    bool fault;
} fleet_edge;

typedef struct fleet_row { /* one instance in one state, the shared variables included */
    uint64_t state;
    uint32_t local;  /* as in a key */
    uint32_t counts; /* bit i: for invariant i */
    bool renews, expanded;
    uint32_t first, n; /* its edges */
} fleet_row;

typedef struct fleet {
    const il_alloc *alloc;
    const il_model *m;
    const il_fleet *f;
    il_steps *steps;
    uint64_t shared; /* mask of the shared variables in a packed state */
    uint32_t shared_bits, local_bits;
    il_numbers states,
        locals;      /* of one instance, the shared variables included; of its own part, whose number in a key is 1 higher */
    fleet_row *rows; /* by number of the state */
    fleet_edge *edges;
    uint32_t rows_cap, nedges, edges_cap;
    bool wide, starved, began[2], carried[2]; /* of starts and of answers */
    uint32_t peak[IL_FLEET_INVARIANTS_MAX];
} fleet;

typedef struct fleet_joint { /* a key, spread out */
    uint64_t shared;         /* as bits of a packed state */
    uint32_t local[IL_FLEET_INSTANCES_MAX];
} fleet_joint;

/* ---- states and their numbers -------------------------------------------------------------------- */

static bool fleet_room(fleet *t, void **p, uint32_t *cap, uint32_t n, size_t size) {
    if (n < *cap) {
        return true;
    }
    const uint32_t more = *cap ? *cap * 2 : 1024;
    void *q = t->alloc->alloc(t->alloc->ctx, more * size);
    if (!q) {
        t->starved = true;
        return false;
    }
    if (n > 0) {
        memcpy(q, *p, n * size);
    }
    t->alloc->free(t->alloc->ctx, *p);
    *p = q;
    *cap = more;
    return true;
}

/* The number of the state's own part in a key; 0 when it is too large for one. */
static uint32_t fleet_local(fleet *t, uint64_t state) {
    const uint32_t n = il_numbers_of(&t->locals, state & ~t->shared);
    t->starved = t->starved || (n == IL_NO_NUMBER && t->locals.n < IL_NUMBERS_MAX);
    if (n == IL_NO_NUMBER || n + 1 >= UINT32_C(1) << t->local_bits) {
        t->wide = true;
        return 0;
    }
    return n + 1;
}

/* UINT32_MAX: too large for a key, or no memory. */
static uint32_t fleet_row_of(fleet *t, uint64_t state) {
    const uint32_t known = il_numbers_find(&t->states, state);
    if (known != IL_NO_NUMBER) {
        return known;
    }
    const uint32_t local = fleet_local(t, state);
    void *p = t->rows;
    if (local == 0 || !fleet_room(t, &p, &t->rows_cap, t->states.n, sizeof *t->rows)) {
        return UINT32_MAX;
    }
    t->rows = p;
    const uint32_t row = il_numbers_of(&t->states, state);
    if (row == IL_NO_NUMBER) {
        t->wide = t->states.n == IL_NUMBERS_MAX;
        t->starved = !t->wide;
        return UINT32_MAX;
    }
    fleet_row *r = &t->rows[row];
    *r = (fleet_row){.state = state, .local = local, .renews = il_fleet_renews(t->m, t->f, state)};
    for (uint32_t i = 0; i < t->f->ninvariants; i++) {
        r->counts |= il_fleet_counts(t->m, &t->f->invariants[i], state) ? UINT32_C(1) << i : 0;
    }
    return row;
}

/* The steps of an instance by itself: those that change something, one for each state that they lead to. */
static void fleet_expand_row(fleet *t, uint32_t row) {
    const uint64_t state = t->rows[row].state;
    const il_steps_edges edges = il_steps_row(t->steps, NULL, state);
    const uint32_t first = t->nedges;
    for (uint32_t i = 0; i < edges.n; i++) {
        if (edges.edge[i].next == state && !edges.edge[i].fault) {
            continue;
        }
        const uint32_t to = edges.edge[i].fault ? row : fleet_row_of(t, edges.edge[i].next);
        bool again = to == UINT32_MAX;
        for (uint32_t k = first; !again && k < t->nedges; k++) {
            again = t->edges[k].row == to && t->edges[k].fault == edges.edge[i].fault;
        }
        void *p = t->edges;
        if (again || !fleet_room(t, &p, &t->edges_cap, t->nedges, sizeof *t->edges)) {
            continue;
        }
        t->edges = p;
        t->edges[t->nedges++] = (fleet_edge){.row = to, .symbol = edges.edge[i].symbol, .fault = edges.edge[i].fault};
    }
    t->rows[row].first = first;
    t->rows[row].n = t->nedges - first;
    t->rows[row].expanded = true;
}

/* ---- keys ---------------------------------------------------------------------------------------- */

static uint64_t fleet_pack(const fleet *t, const fleet_joint *j) {
    uint64_t key = 0;
    uint32_t at = 0;
    for (uint32_t v = 0; v < t->m->nvars; v++) {
        if (t->f->shared >> v & 1) {
            key |= (uint64_t)il_model_get(t->m, j->shared, v) << at;
            at += t->m->vars[v].bits;
        }
    }
    for (uint32_t i = 0; i < t->f->instances; i++, at += t->local_bits) {
        key |= (uint64_t)j->local[i] << at;
    }
    return key;
}

static fleet_joint fleet_unpack(const fleet *t, uint64_t key) {
    fleet_joint j = {0};
    for (uint32_t v = 0; v < t->m->nvars; v++) {
        if (t->f->shared >> v & 1) {
            j.shared = il_model_set(t->m, j.shared, v, (uint32_t)(key & ((UINT64_C(1) << t->m->vars[v].bits) - 1)));
            key >>= t->m->vars[v].bits;
        }
    }
    for (uint32_t i = 0; i < t->f->instances; i++, key >>= t->local_bits) {
        j.local[i] = (uint32_t)(key & ((UINT64_C(1) << t->local_bits) - 1));
    }
    return j;
}

/* Alike instances in the order of their numbers; `who` moves along, may be NULL. */
static void fleet_sort(const fleet *t, fleet_joint *j, uint32_t *who) {
    const uint32_t from = t->f->family ? 1 : 0; /* the parent is like no other */
    for (uint32_t i = from + 1; i < t->f->instances; i++) {
        for (uint32_t k = i; k > from && j->local[k - 1] > j->local[k]; k--) {
            const uint32_t local = j->local[k];
            j->local[k] = j->local[k - 1];
            j->local[k - 1] = local;
            if (who) {
                const uint32_t w = who[k];
                who[k] = who[k - 1];
                who[k - 1] = w;
            }
        }
    }
}

static uint64_t fleet_state(const fleet *t, const fleet_joint *j, uint32_t slot) {
    return t->locals.keys[j->local[slot] - 1] | j->shared;
}

/* ---- moves --------------------------------------------------------------------------------------- */

/* What a move does. `taker` is whose state it changes: the instance itself, the child that begins, the parent that is answered. */
typedef struct fleet_moved {
    bool done, fault;
    uint32_t symbol, taker;
    uint64_t post;
    bool begun;     /* false: the taker is an instance that has not begun */
    uint64_t giver; /* of a start and an answer */
} fleet_moved;

static bool fleet_moves(fleet *t, fleet_joint *j, uint32_t slot, uint64_t post, bool begun) {
    const uint32_t local = begun ? fleet_local(t, post) : 0;
    if (begun && local == 0) {
        return false; /* wide or starved, which is noted */
    }
    j->local[slot] = local;
    j->shared = begun ? post & t->shared : j->shared;
    return true;
}

/* Numbers of steps: those of the slots by their symbols, then for each slot its renewal, its start and its answer. */
static uint32_t fleet_code(const fleet *t, il_fleet_move move, uint32_t slot, uint32_t symbol) {
    const uint32_t k = t->f->instances;
    return move == IL_FLEET_STEP ? slot * t->m->nsymbols + symbol : k * t->m->nsymbols + ((uint32_t)move - 1) * k + slot;
}

static il_fleet_move fleet_decode(const fleet *t, uint32_t code, uint32_t *slot, uint32_t *symbol) {
    const uint32_t k = t->f->instances, steps = k * t->m->nsymbols;
    *slot = code < steps ? code / t->m->nsymbols : (code - steps) % k;
    *symbol = code < steps ? code % t->m->nsymbols : IL_NO_SYMBOL;
    return code < steps ? IL_FLEET_STEP : (il_fleet_move)((code - steps) / k + 1);
}

static fleet_moved fleet_join(fleet *t, uint32_t taker, uint64_t giver, uint64_t state) {
    fleet_moved v = {.taker = taker, .begun = true, .giver = giver, .post = state};
    v.symbol = il_family_symbol(t->m, t->f->family, giver);
    if (v.symbol == IL_NO_SYMBOL) {
        v.done = true;
        return v;
    }
    const il_step step = il_steps_one(t->steps, NULL, state, v.symbol);
    v.done = step.verdict == IL_ACCEPT;
    v.fault = step.verdict == IL_FAULT;
    v.post = step.next;
    return v;
}

/* A move that may be made in this state, as fleet_expand() found it. */
static fleet_moved fleet_make(fleet *t, const fleet_joint *j, uint32_t code) {
    uint32_t slot = 0, symbol = 0;
    switch (fleet_decode(t, code, &slot, &symbol)) {
    case IL_FLEET_STEP: {
        const il_step step = il_steps_one(t->steps, NULL, fleet_state(t, j, slot), symbol);
        return (fleet_moved){.done = step.verdict == IL_ACCEPT,
                             .fault = step.verdict == IL_FAULT,
                             .symbol = symbol,
                             .taker = slot,
                             .begun = true,
                             .post = step.next};
    }
    case IL_FLEET_RENEW:
        return (fleet_moved){.done = true,
                             .symbol = IL_NO_SYMBOL,
                             .taker = slot,
                             .begun = !t->f->family,
                             .post = (t->m->initial & ~t->shared) | j->shared};
    case IL_FLEET_SPAWN:
        return fleet_join(t, slot, fleet_state(t, j, 0), (t->m->initial & ~t->shared) | j->shared);
    case IL_FLEET_ANSWER:
        return fleet_join(t, 0, fleet_state(t, j, slot), fleet_state(t, j, 0));
    }
    return (fleet_moved){0};
}

static uint32_t fleet_emit(fleet *t, const fleet_joint *j, uint32_t code, il_space_edge *out, uint32_t n) {
    const fleet_moved v = fleet_make(t, j, code);
    fleet_joint to = *j;
    if (v.fault) {
        out[n] = (il_space_edge){.next = fleet_pack(t, j), .symbol = code, .fault = true};
        return n + 1;
    }
    if (!v.done || !fleet_moves(t, &to, v.taker, v.post, v.begun)) {
        return n;
    }
    fleet_sort(t, &to, NULL);
    out[n] = (il_space_edge){.next = fleet_pack(t, &to), .symbol = code};
    return n + 1;
}

static uint32_t fleet_expand_slot(fleet *t, const fleet_joint *j, uint32_t slot, il_space_edge *out, uint32_t n) {
    const uint32_t row = fleet_row_of(t, fleet_state(t, j, slot));
    if (row == UINT32_MAX) {
        return n;
    }
    if (!t->rows[row].expanded) {
        fleet_expand_row(t, row);
    }
    for (uint32_t i = 0; i < t->rows[row].n; i++) {
        const fleet_edge *e = &t->edges[t->rows[row].first + i];
        fleet_joint to = *j;
        if (!e->fault) {
            to.local[slot] = t->rows[e->row].local;
            to.shared = t->rows[e->row].state & t->shared;
            fleet_sort(t, &to, NULL);
        }
        out[n++] = (il_space_edge){
            .next = fleet_pack(t, &to), .symbol = fleet_code(t, IL_FLEET_STEP, slot, e->symbol), .fault = e->fault};
    }
    return n;
}

/* Of instances in the same state only the first moves: what the others do is the same up to their order. */
static bool fleet_again(const fleet *t, const fleet_joint *j, uint32_t slot) {
    return slot > (t->f->family ? 1u : 0u) && j->local[slot] == j->local[slot - 1];
}

static uint32_t fleet_expand(void *ctx, uint64_t key, il_space_edge *out) {
    fleet *t = ctx;
    const fleet_joint j = fleet_unpack(t, key);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->f->instances; i++) {
        if (j.local[i] && !fleet_again(t, &j, i)) {
            n = fleet_expand_slot(t, &j, i, out, n);
        }
    }
    for (uint32_t i = t->f->family ? 1 : 0; t->f->renew && i < t->f->instances; i++) {
        const uint32_t row = j.local[i] && !fleet_again(t, &j, i) ? fleet_row_of(t, fleet_state(t, &j, i)) : UINT32_MAX;
        if (row != UINT32_MAX && t->rows[row].renews) {
            n = fleet_emit(t, &j, fleet_code(t, IL_FLEET_RENEW, i, 0), out, n);
        }
    }
    for (uint32_t i = 1; t->f->family && i < t->f->instances; i++) {
        if (!j.local[i] && !fleet_again(t, &j, i)) {
            n = fleet_emit(t, &j, fleet_code(t, IL_FLEET_SPAWN, i, 0), out, n);
        }
    }
    for (uint32_t i = 1; t->f->family && i < t->f->instances; i++) {
        if (j.local[i] && !fleet_again(t, &j, i)) {
            n = fleet_emit(t, &j, fleet_code(t, IL_FLEET_ANSWER, i, 0), out, n);
        }
    }
    return n;
}

/* ---- what is judged ------------------------------------------------------------------------------- */

static bool fleet_broken(fleet *t, const fleet_joint *j, uint32_t invariant) {
    const il_fleet_invariant *v = &t->f->invariants[invariant];
    uint32_t values[IL_FLEET_INSTANCES_MAX], n = 0;
    for (uint32_t i = 0; i < t->f->instances; i++) {
        const uint32_t row = j->local[i] ? fleet_row_of(t, fleet_state(t, j, i)) : UINT32_MAX;
        if (row != UINT32_MAX && (t->rows[row].counts >> invariant & 1)) {
            values[n++] = v->kind == IL_FLEET_COUNT ? 0 : il_model_get(t->m, t->rows[row].state, v->var);
        }
    }
    t->peak[invariant] = n > t->peak[invariant] ? n : t->peak[invariant];
    return il_fleet_breaks(v, values, n);
}

static uint64_t fleet_judge(void *ctx, uint64_t key) {
    fleet *t = ctx;
    const fleet_joint j = fleet_unpack(t, key);
    uint64_t bits = 0;
    for (uint32_t i = 0; i < t->f->ninvariants; i++) {
        bits |= fleet_broken(t, &j, i) ? UINT64_C(1) << i : 0;
    }
    bits |= j.local[t->f->family ? 1 : 0] ? UINT64_C(1) << FLEET_ALL : 0; /* those that have not begun stand in front */
    if (!t->f->family || !t->f->family->together) {
        return bits;
    }
    uint64_t all = fleet_state(t, &j, 0);
    uint32_t bit = FLEET_TOGETHER;
    for (uint32_t i = 1; i < t->f->instances; i++) {
        all = j.local[i] ? il_family_union(t->m, t->f->family, all, fleet_state(t, &j, i)) : all;
    }
    for (uint32_t r = 0; r < t->m->nregions; r++) {
        if (t->f->family->together >> r & 1) {
            bits |= il_steps_in_region(t->steps, r, all, IL_NO_SYMBOL, all) ? UINT64_C(1) << bit : 0;
            bit++;
        }
    }
    return bits;
}

/* Who takes over what another holds must hold it afterwards. */
static uint64_t fleet_judge_edge(void *ctx, uint64_t key, uint32_t code, uint64_t next) {
    fleet *t = ctx;
    uint32_t slot = 0, symbol = 0;
    const il_fleet_move move = fleet_decode(t, code, &slot, &symbol);
    (void)next;
    if (move != IL_FLEET_SPAWN && move != IL_FLEET_ANSWER) {
        return 0;
    }
    const fleet_joint j = fleet_unpack(t, key);
    const fleet_moved v = fleet_make(t, &j, code);
    const bool answer = move == IL_FLEET_ANSWER;
    t->began[answer] = true;
    t->carried[answer] = t->carried[answer] || v.symbol != IL_NO_SYMBOL;
    const uint64_t before = answer ? fleet_state(t, &j, 0) : t->m->initial;
    const bool lost = il_family_lost(t->m, t->f->family, v.giver, v.post) != UINT32_MAX;
    const bool would = il_family_lost(t->m, t->f->family, v.giver, before) != UINT32_MAX;
    return (lost ? UINT64_C(1) << (answer ? FLEET_LOST_ANSWER : FLEET_LOST_START) : 0) |
           (would ? UINT64_C(1) << FLEET_WOULD_LOSE : 0);
}

/* ---- witnesses ------------------------------------------------------------------------------------ */

static uint32_t fleet_path(const il_space *s, const il_space_hit *hit, uint32_t *nodes) {
    uint32_t n = 0;
    for (uint32_t i = hit->node; i != 0; i = il_space_parent(s, i)) {
        n++;
    }
    uint32_t at = n;
    for (uint32_t i = hit->node; nodes && i != 0; i = il_space_parent(s, i)) {
        nodes[--at] = i;
    }
    return n;
}

/* Walks the witness once more, with names: the order of the product forgets which instance is which. */
static il_status fleet_witness(fleet *t, const il_space *s, const il_space_hit *hit, il_arena *arena, il_fleet_line *out,
                               il_error *err) {
    const uint32_t n = fleet_path(s, hit, NULL);
    uint32_t *nodes = IL_NEW_ARRAY(arena, uint32_t, n + 1);
    out->steps = IL_NEW_ARRAY(arena, il_fleet_step, n + 1);
    if (!nodes || !out->steps) {
        return il_arena_fail(arena, err);
    }
    (void)fleet_path(s, hit, nodes);
    fleet_joint j = fleet_unpack(t, il_space_key(s, 0));
    uint32_t who[IL_FLEET_INSTANCES_MAX] = {0}, born = t->f->family ? 1 : t->f->instances;
    for (uint32_t i = 0; i < t->f->instances; i++) {
        who[i] = i + 1;
    }
    out->nsteps = n + (hit->edge ? 1 : 0);
    for (uint32_t i = 0; i < out->nsteps; i++) {
        uint32_t slot = 0, symbol = 0;
        const uint32_t code = i < n ? il_space_via(s, NULL, nodes[i]) : hit->symbol;
        const il_fleet_move move = fleet_decode(t, code, &slot, &symbol);
        const fleet_moved v = fleet_make(t, &j, code);
        if (move == IL_FLEET_SPAWN) {
            who[slot] = ++born;
        }
        out->steps[i] = (il_fleet_step){.move = move, .instance = who[slot], .symbol = v.symbol, .post = v.post};
        if (v.done && fleet_moves(t, &j, v.taker, v.post, v.begun)) {
            fleet_sort(t, &j, who);
        }
    }
    out->ninstances = born < IL_FLEET_INSTANCES_MAX ? born : IL_FLEET_INSTANCES_MAX;
    for (uint32_t i = 0; i < t->f->instances; i++) {
        if (j.local[i] && who[i] > 0 && who[i] <= IL_FLEET_INSTANCES_MAX) {
            out->states[who[i] - 1] = fleet_state(t, &j, i);
        }
    }
    return IL_OK;
}

/* The variable that the last step of the witness lost. */
static il_str fleet_lost(fleet *t, const il_space *s, const il_space_hit *hit) {
    const fleet_joint j = fleet_unpack(t, il_space_key(s, hit->node));
    const fleet_moved v = fleet_make(t, &j, hit->symbol);
    const uint32_t var = il_family_lost(t->m, t->f->family, v.giver, v.post);
    return var == UINT32_MAX ? (il_str){0} : t->m->vars[var].name;
}

/* ---- the report ----------------------------------------------------------------------------------- */

typedef struct fleet_report {
    fleet *t;
    const il_space *s;
    il_arena *arena;
    il_fleet_check *out;
} fleet_report;

static il_status fleet_line(fleet_report *r, const char *id, il_str name, const il_space_hit *hit, const char *finding,
                            bool exercised, il_error *err) {
    il_fleet_line *l = &r->out->lines[r->out->nlines++];
    *l = (il_fleet_line){.id = id, .name = name};
    if (hit->found) {
        l->verdict = IL_CHECK_FAIL;
        l->finding = finding;
        return fleet_witness(r->t, r->s, hit, r->arena, l, err);
    }
    l->verdict = r->out->bound ? IL_CHECK_INCONCLUSIVE : exercised ? IL_CHECK_PASS : IL_CHECK_VACUOUS;
    return IL_OK;
}

static il_status fleet_invariant_line(fleet_report *r, uint32_t i, il_error *err) {
    const il_fleet_invariant *v = &r->t->f->invariants[i];
    const uint32_t peak = r->t->peak[i];
    const bool exercised = v->kind == IL_FLEET_UNIQUE ? peak > 1 : peak > 0;
    IL_TRY(fleet_line(r, "fleet", v->name, &r->s->hits[i], "FLEET_EXCEEDED", exercised, err));
    il_fleet_line *l = &r->out->lines[r->out->nlines - 1];
    l->most = v->most;
    l->peak = peak;
    if (l->verdict == IL_CHECK_VACUOUS) {
        l->finding = "NEVER_COUNTED";
    }
    return IL_OK;
}

static il_status fleet_family_lines(fleet_report *r, il_error *err) {
    fleet *t = r->t;
    uint32_t bit = FLEET_TOGETHER;
    for (uint32_t answer = 0; answer < 2; answer++) {
        const il_space_hit *hit = &r->s->hits[answer ? FLEET_LOST_ANSWER : FLEET_LOST_START];
        IL_TRY(fleet_line(r, answer ? "family-answer" : "family-start", (il_str){0}, hit, "EFFECT_LOST",
                          t->began[answer] && t->carried[answer], err));
        il_fleet_line *l = &r->out->lines[r->out->nlines - 1];
        if (hit->found) {
            l->detail = fleet_lost(t, r->s, hit);
        } else if (l->verdict == IL_CHECK_VACUOUS) {
            l->finding = "NOTHING_CARRIED";
        }
    }
    for (uint32_t k = 0; k < t->m->nregions; k++) {
        if (t->f->family->together >> k & 1) {
            IL_TRY(fleet_line(r, "family-together", t->m->regions[k].name, &r->s->hits[bit], "REACHED", t->began[0], err));
            bit++;
        }
    }
    return IL_OK;
}

static il_control_state fleet_control(const fleet_report *r, uint32_t bit, bool needed) {
    return r->s->hits[bit].found ? IL_CONTROL_FAILED_AS_IT_MUST
           : !needed             ? IL_CONTROL_NOT_NEEDED
           : r->out->bound       ? IL_CONTROL_NOT_RUN
                                 : IL_CONTROL_BROKEN;
}

static void fleet_controls(fleet_report *r) {
    const bool family = r->t->f->family != NULL;
    r->out->controls[0] = (il_control){.id = "fleet-all",
                                       .what = "an invariant that all instances together break must be reported",
                                       .state = fleet_control(r, FLEET_ALL, true)};
    r->out->controls[1] = (il_control){.id = "family-lost",
                                       .what = "a join that changes nothing must lose what it carries",
                                       .state = fleet_control(r, FLEET_WOULD_LOSE, family && r->t->carried[0])};
    for (size_t i = 0; i < 2; i++) {
        r->out->exit = r->out->controls[i].state == IL_CONTROL_BROKEN ? 4 : r->out->exit;
    }
}

static il_status fleet_lines(fleet_report *r, il_error *err) {
    il_fleet_check *out = r->out;
    const il_fleet *f = r->t->f;
    out->lines = IL_NEW_ARRAY(r->arena, il_fleet_line, (size_t)f->ninvariants + 3 + IL_FLEET_TOGETHER_MAX);
    if (!out->lines) {
        return il_arena_fail(r->arena, err);
    }
    for (uint32_t i = 0; i < f->ninvariants; i++) {
        IL_TRY(fleet_invariant_line(r, i, err));
    }
    if (f->family) {
        IL_TRY(fleet_family_lines(r, err));
    }
    if (r->s->fault.found) { /* a step that has no meaning: what lies behind it was not explored */
        IL_TRY(fleet_line(r, "fleet-fault", (il_str){0}, &r->s->fault, "FAULT", true, err));
    }
    for (uint32_t i = 0; i < out->nlines; i++) {
        const il_check_verdict v = out->lines[i].verdict;
        out->exit = v == IL_CHECK_FAIL ? 1 : v != IL_CHECK_PASS && out->exit == 0 ? 2 : out->exit;
    }
    fleet_controls(r);
    return IL_OK;
}

/* ---- the run -------------------------------------------------------------------------------------- */

static void fleet_widths(fleet *t) {
    for (uint32_t v = 0; v < t->m->nvars; v++) {
        if (t->f->shared >> v & 1) {
            t->shared_bits += t->m->vars[v].bits;
            t->shared |= ((UINT64_C(1) << t->m->vars[v].bits) - 1) << t->m->vars[v].shift;
        }
    }
    t->local_bits = t->shared_bits < 64 ? (64 - t->shared_bits) / t->f->instances : 0;
    t->local_bits = t->local_bits > 24 ? 24 : t->local_bits;
}

static il_status fleet_explore(fleet *t, il_arena *arena, const il_space_bounds *bounds, il_fleet_check *out, il_error *err) {
    il_space s = {0};
    il_space_bounds own = bounds ? *bounds : (il_space_bounds){0};
    own.workers = 1; /* numbers are given by one thread */
    fleet_joint j = {.shared = t->m->initial & t->shared};
    const uint32_t local = fleet_local(t, t->m->initial);
    for (uint32_t i = 0; i < t->f->instances; i++) {
        j.local[i] = i == 0 || !t->f->family ? local : 0;
    }
    fleet_report r = {.t = t, .s = &s, .arena = arena, .out = out};
    const il_space_def def = {.ctx = t,
                              .initial = fleet_pack(t, &j),
                              .nsymbols = t->f->instances * (t->m->nsymbols + 3),
                              .first_write = UINT32_MAX,
                              .expand = fleet_expand,
                              .state = fleet_judge,
                              .edge = t->f->family ? fleet_judge_edge : NULL};
    il_status status = IL_OK;
    if (local == 0) {
        out->bound = "width";
    } else {
        status = il_space_explore(&s, t->alloc, &def, &own, err);
        out->bound = t->wide ? "width" : s.bound_hit ? "limit" : NULL;
    }
    if (status == IL_OK && t->starved) {
        status = il_error_set(err, IL_E_MEMORY, "no memory for the states of a fleet");
    }
    out->states = s.n;
    out->edges = s.edges;
    out->depth = s.depth;
    out->local = t->locals.n;
    if (status == IL_OK) {
        status = fleet_lines(&r, err);
    }
    il_space_free(&s);
    return status;
}

il_status il_fleet_run(il_fleet_check *out, const il_alloc *alloc, il_arena *arena, const il_model *m,
                       const il_space_bounds *bounds, il_error *err) {
    *out = (il_fleet_check){.m = m};
    if (!m->fleet) {
        return il_error_set(err, IL_E_ARGUMENT, "this machine has no `fleet`");
    }
    fleet t = {.alloc = alloc, .m = m, .f = m->fleet};
    fleet_widths(&t);
    il_numbers_init(&t.states, alloc);
    il_numbers_init(&t.locals, alloc);
    il_status status = il_steps_new(alloc, m, &t.steps, err);
    if (status == IL_OK) {
        status = fleet_explore(&t, arena, bounds, out, err);
    }
    il_steps_free(t.steps);
    alloc->free(alloc->ctx, t.rows);
    alloc->free(alloc->ctx, t.edges);
    il_numbers_free(&t.states);
    il_numbers_free(&t.locals);
    return status;
}
