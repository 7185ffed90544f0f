/* SPDX-License-Identifier: Apache-2.0 */
/* The questions that mutants are asked. One cell differs in most of them, so little is explored: what such a mutant can reach beyond the machine begins
 * behind that cell, and each view (view.h) of the machine was explored once, in full, before. */
#include "base/error.h"
#include "check/mutation_part.h"

int il_mutating_line(const il_mutating *r, const char *id, uint32_t region) {
    for (uint32_t i = 0; i < r->x->nlines; i++) {
        if (r->x->lines[i].region == region && il_str_eq(il_str_of(r->x->lines[i].id), il_str_of(id))) {
            return (int)i;
        }
    }
    return -1;
}

static void mutation_ask(il_mutating *r, il_view v, bool adversary, const char *id) {
    il_mutating_view *w = &r->views[r->nviews];
    *w = (il_mutating_view){.v = v, .adversary = adversary};
    for (uint32_t k = 0; k < 64; k++) {
        bool approvals = v.observer == IL_OBSERVE_APPROVALS;
        int line = !approvals && !(v.regions >> k & 1) ? -1 : il_mutating_line(r, id, approvals ? UINT32_MAX : k);
        if (line >= 0 && (!approvals || k == 63)) {
            w->bits |= UINT64_C(1) << k;
            w->line[k] = (uint8_t)line;
        }
    }
    w->v.regions &= w->bits;
    r->nviews += w->bits != 0;
}

void il_mutating_questions(il_mutating *r) {
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
void il_mutating_lines(il_mutating *r) {
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
    r->coverage = il_mutating_line(r, "coverage", UINT32_MAX);
    r->mediation = il_mutating_line(r, "mediation", UINT32_MAX);
    r->recovery = il_mutating_line(r, "recovery", UINT32_MAX);
    r->sticky = il_mutating_line(r, "sticky", UINT32_MAX);
}

/* Nodes of a view by the state that they are of. */
static il_status mutation_index(il_mutating *r, il_mutating_view *w, il_error *err) {
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

il_status il_mutating_explore(il_mutating *r, const il_view *from, bool mutant, uint64_t stop, il_space *out, il_error *err) {
    il_view v = *from;
    v.rows = mutant ? il_mutating_rows : NULL;
    v.rows_ctx = r;
    v.stop = stop;
    il_status status = il_view_explore(&v, out, err);
    r->fault = r->fault || out->fault.found;
    r->bounded = r->bounded || out->bound_hit;
    r->saturated = r->saturated || v.saturated;
    return status;
}

il_status il_mutating_views(il_mutating *r, il_error *err) {
    uint32_t most = 1024;
    for (uint32_t i = 0; i < r->nviews; i++) {
        IL_TRY(il_mutating_explore(r, &r->views[i].v, false, 0, &r->views[i].base, err));
        IL_TRY(mutation_index(r, &r->views[i], err));
        most = r->views[i].base.n > most ? r->views[i].base.n : most;
    }
    most = most > 1u << 20 ? 1u << 20 : most; /* what a mutant of a cell adds; beyond, it is explored in full */
    return il_behind_room_new(&r->room, &r->arena, most, (size_t)r->s->m->nsymbols + r->s->nwrites, err);
}

/* The mutant in hand, seen through `v` (which stays where it is), beside what the machine reaches. */
il_behind il_mutating_behind(il_mutating *r, il_view *v, const il_space *base, uint64_t bits) {
    il_behind b = {.base = base, .room = &r->room, .only = &r->only, .bits = bits};
    v->rows = il_mutating_rows;
    v->rows_ctx = r;
    il_view_define(v, &b.def);
    il_behind_begin(&b);
    return b;
}

/* What lies behind the changed cell and was not there before. `first`: from the node by which its state was found first; no shortest trace to that
 * node leads through the cell, so what is found is certain. */
static uint64_t mutation_behind(il_mutating *r, const il_mutating_view *view, uint32_t place, uint32_t places, bool first,
                                bool *full) {
    il_view v = view->v;
    il_behind b = il_mutating_behind(r, &v, &view->base, view->bits);
    for (uint32_t k = place; k < place + places && !b.full; k++) {
        uint32_t from = view->from[k], to = view->from[k + 1];
        bool same = !r->u->cell && r->changed_at[k] == r->changed_at[k + 1];
        for (uint32_t i = from; !same && i < (first && from < to ? from + 1 : to) && !b.full; i++) {
            il_behind_follow(&b, il_space_key(&view->base, view->order[i]), true);
        }
    }
    if (!v.saturated) {
        il_behind_finish(&b);
    }
    r->fault = r->fault || b.fault;
    *full = *full || b.full;
    return (v.saturated ? b.bits : b.hits) & b.bits;
}

static uint64_t mutation_killed(const il_mutating_view *w, uint64_t hits) {
    uint64_t lines = 0;
    for (; hits != 0; hits &= hits - 1) {
        lines |= UINT64_C(1) << w->line[__builtin_ctzll(hits)];
    }
    return lines;
}

/* `perhaps`: nothing else can be hit, so the search ends when these are. */
static il_status mutation_whole(il_mutating *r, const il_mutating_view *w, uint64_t perhaps, uint64_t *hits, il_error *err) {
    il_space space = {0};
    r->saturated = false;
    il_status status = il_mutating_explore(r, &w->v, true, perhaps, &space, err);
    *hits |= r->saturated ? w->bits : 0;
    for (uint32_t k = 0; k < 64; k++) {
        *hits |= space.hits[k].found ? UINT64_C(1) << k & w->bits : 0;
    }
    il_space_free(&space);
    return status;
}

il_status il_mutating_ask_cell(il_mutating *r, const il_mutating_view *w, uint32_t place, bool removes, uint64_t *kills,
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
il_status il_mutating_ask_class(il_mutating *r, const il_mutating_view *w, uint64_t *kills, il_error *err) {
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

/* A mutant with unmediated writes that the machine has not: the questions that ask about them are asked anew. */
il_status il_mutating_ask_adversary(il_mutating *r, uint64_t raise, uint64_t lower, uint64_t *kills, il_error *err) {
    const il_subject *s = r->s;
    for (uint32_t i = 0; i < r->nviews && (r->sets || *kills == 0); i++) {
        if (r->views[i].adversary) {
            il_mutating_view w = r->views[i];
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
            il_mutating_view w = {.v = {.subject = r->s,
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
