/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves out one reject clause at a time and asks every question again: what does this clause hold shut? Left out it only adds steps, so where the machine
 * itself answers no, only what lies behind those is looked at (behind.h); an exploration is for the witness. */
#include "base/error.h"
#include "base/mem.h"
#include "check/behind.h"
#include "check/parts.h"

enum { GUARDS_STATES = 1 << 18, GUARDS_BEHIND = 1 << 12, GUARDS_STEPS = 1 << 22 };
#define GUARDS_BYTES ((size_t)16 << 20) /* of the answer to one question; a larger one is not kept */
#define GUARDS_WORK_BYTES ((size_t)1 << 29)

/* A question, and what the machine itself answers. */
typedef struct guards_question {
    il_view v;
    il_guard_opens opens;
    uint64_t bits;
    il_space base;
    bool clean;      /* it was explored, in full, and the answer is no */
    uint32_t *place; /* of each node: of its state, in the first question's answer */
} guards_question;

typedef struct guards_run {
    il_harden *h;
    il_arena arena;
    guards_question *ask; /* n of them; the first knows every state that is reached */
    uint32_t n;
    il_behind_room room;
    il_variant variant;   /* with the clause in hand left out */
    bool known;           /* what follows is there */
    il_steps_edge *added; /* steps that it adds, by state: those of place i from added_at[i] on */
    uint32_t *added_at, nadded, room_added;
    bool only; /* only they are asked for */
} guards_run;

static il_status guards_note(il_harden *h, const il_view *v, const il_space *s, const il_space_hit *hit, il_guard_opens opens,
                             uint32_t region, il_error *err) {
    il_guard_result *g = IL_NEW(h->subject.arena, il_guard_result);
    if (!g) {
        return il_arena_fail(h->subject.arena, err);
    }
    *g = (il_guard_result){.action = v->variant.skip_action, .clause = v->variant.skip_clause, .opens = opens, .region = region};
    if (h->last_guard) {
        h->last_guard->next = g;
    } else {
        h->guards = g;
    }
    h->last_guard = g;
    return il_trace_of(h, v, s, hit, &g->witness, err);
}

static il_status guards_look(il_harden *h, il_view *v, il_guard_opens opens, il_error *err) {
    il_space s = {0};
    il_status status = il_view_explore(v, &s, err);
    h->bounded = h->bounded || s.bound_hit;
    for (uint32_t r = 0; status == IL_OK && r < 64; r++) {
        if (s.hits[r].found) {
            bool region = opens != IL_GUARD_OPENS_UNAPPROVED;
            status = guards_note(h, v, &s, &s.hits[r], opens, region ? r : UINT32_MAX, err);
        }
    }
    if (status == IL_OK && s.fault.found && opens == IL_GUARD_OPENS_REGION) {
        status = guards_note(h, v, &s, &s.fault, IL_GUARD_OPENS_FAULT, UINT32_MAX, err);
    }
    il_space_free(&s);
    return status;
}

/* ---- questions ---- */

static void guards_question_add(guards_run *r, il_guard_opens opens, il_view v) {
    v.subject = &r->h->subject;
    r->ask[r->n++] =
        (guards_question){.v = v, .opens = opens, .bits = v.observer == IL_OBSERVE_APPROVALS ? IL_VIEW_UNAPPROVED : v.regions};
}

static void guards_questions(guards_run *r) {
    const il_subject *s = &r->h->subject;
    guards_question_add(r, IL_GUARD_OPENS_REGION, (il_view){.regions = s->never});
    for (uint32_t k = 0; k < s->m->nregions; k++) {
        if (s->m->regions[k].gated) {
            guards_question_add(r, IL_GUARD_OPENS_BYPASS, (il_view){.regions = UINT64_C(1) << k, .dropped = s->m->regions[k].by});
        }
    }
    if (s->ntaints > 0) {
        guards_question_add(r, IL_GUARD_OPENS_LAUNDERED,
                            (il_view){.regions = s->never, .observer = IL_OBSERVE_GHOSTS, .dropped = s->lowers});
    }
    if (s->ntaints > 0 && (s->settles | s->joins)) {
        guards_question_add(r, IL_GUARD_OPENS_CONFIRMED, (il_view){.regions = s->never, .observer = IL_OBSERVE_CONFIRMED});
    }
    guards_question_add(r, IL_GUARD_OPENS_UNAPPROVED, (il_view){.observer = IL_OBSERVE_APPROVALS});
}

static bool guards_hit(const il_space *s, uint64_t bits) {
    bool any = false;
    for (; bits != 0; bits &= bits - 1) {
        any = any || s->hits[__builtin_ctzll(bits)].found;
    }
    return any;
}

/* What the machine itself answers; that of a large one is not kept. */
static il_status guards_answer(guards_run *r, guards_question *q, il_error *err) {
    const il_space *plain = &r->ask[0].base;
    il_view v = q->v;
    IL_TRY(il_view_explore(&v, &q->base, err));
    q->clean = !q->base.bound_hit && !v.saturated && !q->base.fault.found && !guards_hit(&q->base, q->bits) &&
               q->base.n <= GUARDS_STATES && q->base.nodes.bytes <= GUARDS_BYTES;
    if (!q->clean) {
        il_space_free(&q->base);
        return IL_OK;
    }
    q->place = IL_NEW_ARRAY(&r->arena, uint32_t, q->base.n);
    for (uint32_t i = 0; q->place && i < q->base.n; i++) {
        q->place[i] = il_space_find(plain, il_view_state(&q->v, il_space_key(&q->base, i)));
    }
    return q->place ? IL_OK : il_arena_fail(&r->arena, err);
}

static il_status guards_answers(guards_run *r, il_error *err) {
    const il_subject *s = &r->h->subject;
    uint32_t most = GUARDS_BEHIND;
    for (uint32_t i = 0; i < r->n && !s->large && (i == 0 || r->ask[0].clean); i++) {
        IL_TRY(guards_answer(r, &r->ask[i], err));
        most = r->ask[i].base.n > most / 4 ? r->ask[i].base.n * 4 : most;
    }
    if (!r->ask[0].clean) {
        return IL_OK;
    }
    r->added_at = IL_NEW_ARRAY(&r->arena, uint32_t, (size_t)r->ask[0].base.n + 1);
    return r->added_at ? il_behind_room_new(&r->room, &r->arena, most, s->m->nsymbols, err) : il_arena_fail(&r->arena, err);
}

/* ---- one clause ---- */

/* false: no memory, or too many. */
static bool guards_push(guards_run *r, const il_steps_edge *e) {
    if (r->nadded == r->room_added) {
        const uint32_t room = r->room_added ? 2 * r->room_added : 1024;
        il_steps_edge *more = room > GUARDS_STEPS ? NULL : IL_NEW_ARRAY(&r->arena, il_steps_edge, room);
        if (!more) {
            return false;
        }
        for (uint32_t i = 0; i < r->nadded; i++) {
            more[i] = r->added[i];
        }
        r->added = more;
        r->room_added = room;
    }
    r->added[r->nadded++] = *e;
    return true;
}

/* Steps of a state that the machine has not. false as above, or when one of the machine's is missing or leads elsewhere (naps). */
static bool guards_compare(guards_run *r, uint64_t state, il_steps_edge *own) {
    il_steps *steps = r->h->subject.steps;
    il_steps_edges row = il_steps_row(steps, NULL, state);
    const uint32_t n = row.n;
    memcpy(own, n ? row.edge : own, n * sizeof *own); /* the next question may overwrite it */
    row = il_steps_row(steps, &r->variant, state);
    uint32_t k = 0;
    bool fine = true;
    for (uint32_t i = 0; fine && i < row.n; i++) {
        if (k < n && own[k].symbol == row.edge[i].symbol) {
            fine = own[k].next == row.edge[i].next && own[k].fault == row.edge[i].fault;
            k++;
        } else {
            fine = guards_push(r, &row.edge[i]);
        }
    }
    return fine && k == n;
}

static void guards_added(guards_run *r) {
    const il_subject *s = &r->h->subject;
    const il_space *plain = &r->ask[0].base;
    r->known = r->ask[0].clean;
    r->nadded = 0;
    for (uint32_t i = 0; r->known && i < plain->n; i++) {
        r->known = il_subject_goes_on(s, i, r->nadded) && guards_compare(r, il_space_key(plain, i), r->room.edges);
        r->added_at[i + 1] = r->nadded;
    }
}

static il_steps_edges guards_rows(void *ctx, uint64_t state) {
    const guards_run *r = ctx;
    if (!r->only) {
        return il_steps_row(r->h->subject.steps, &r->variant, state);
    }
    const uint32_t place = il_space_find(&r->ask[0].base, state);
    return (il_steps_edges){r->added + r->added_at[place], r->added_at[place + 1] - r->added_at[place]};
}

/* What may be hit without the clause. true: that is certain, *hits and whether some step has no meaning. */
static bool guards_perhaps(guards_run *r, const guards_question *q, uint64_t *hits, bool *fault) {
    const il_space_bounds bounds = il_subject_bounds(&r->h->subject);
    il_view v = q->v;
    if (!r->known || !q->clean) {
        return false;
    }
    v.rows = guards_rows;
    v.rows_ctx = r;
    il_behind b = {.base = &q->base, .room = &r->room, .only = &r->only, .bounds = &bounds, .bits = q->bits};
    il_view_define(&v, &b.def);
    il_behind_begin(&b);
    for (uint32_t i = 0; i < q->base.n && !b.full; i++) {
        if (r->added_at[q->place[i]] < r->added_at[q->place[i] + 1]) {
            il_behind_follow(&b, il_space_key(&q->base, i), true);
        }
    }
    il_behind_finish(&b);
    *hits = b.hits & b.bits;
    *fault = b.fault || *hits == b.bits; /* where everything is hit, not all was looked at */
    return !v.saturated && il_behind_whole(&b);
}

static il_status guards_clause(guards_run *r, il_error *err) {
    guards_added(r);
    for (uint32_t i = 0; i < r->n; i++) {
        const guards_question *q = &r->ask[i];
        il_view v = q->v;
        uint64_t hits = 0;
        bool fault = false;
        v.variant = r->variant;
        if (guards_perhaps(r, q, &hits, &fault)) {
            fault = fault && q->opens == IL_GUARD_OPENS_REGION;
            if (hits == 0 && !fault) {
                continue;
            }
            v.stop = fault ? 0 : hits;
        }
        IL_TRY(guards_look(r->h, &v, q->opens, err));
    }
    return IL_OK;
}

static il_status guards_all(guards_run *r, il_error *err) {
    const il_model *m = r->h->subject.m;
    r->ask = IL_NEW_ARRAY(&r->arena, guards_question, (size_t)m->nregions + 4);
    if (!r->ask) {
        return il_arena_fail(&r->arena, err);
    }
    guards_questions(r);
    IL_TRY(guards_answers(r, err));
    for (uint32_t a = 0; a < m->nactions; a++) {
        for (uint32_t c = 0; c < m->actions[a].nclauses; c++) {
            r->variant = (il_variant){.skip = true, .skip_action = a, .skip_clause = c};
            IL_TRY(guards_clause(r, err));
        }
    }
    return IL_OK;
}

il_status il_check_guards(il_harden *h, il_error *err) {
    guards_run r = {.h = h};
    il_arena_init(&r.arena, h->subject.alloc, GUARDS_WORK_BYTES);
    il_status status = guards_all(&r, err);
    for (uint32_t i = 0; i < r.n; i++) {
        il_space_free(&r.ask[i].base);
    }
    il_arena_free(&r.arena);
    return status;
}
