/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery convergence; check/recovery.h says what is asked. Two graphs: the corrective steps alone (X), and those with what all others may do
 * after each of them. */
#include "check/recovery_part.h"

#include "base/error.h"
#include "base/mem.h"

#define RECOVERY_PRODUCT_MAX (UINT64_C(1) << 24)
#define RECOVERY_ASKED 4096u /* nodes between two calls of `progress` */
#define RECOVERY_LOOKED (1u << 18)
#define RECOVERY_WRITTEN (UINT64_C(1) << 63) /* a state that one write of any variable made; nothing is followed from it */

il_recovery *il_recovery_out(const il_recovery_run *r) { return &r->h->recovery; }

uint64_t il_recovery_held(const il_recovery_run *r, uint64_t state) {
    uint64_t in = 0;
    for (uint64_t left = r->regions; left != 0; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(left);
        in |= il_steps_in_region(r->h->subject.steps, k, state, 0, 0) ? UINT64_C(1) << k : 0;
    }
    return in;
}

void il_recovery_hold(const il_recovery_run *r, il_recover_graph *g) {
    const il_alloc *alloc = r->h->subject.alloc;
    g->held = g->held ? g->held : alloc->alloc(alloc->ctx, (size_t)g->n * sizeof *g->held + 1);
    for (uint32_t i = 0; g->held && i < g->n; i++) { /* danger states are its first nodes */
        g->held[i] = r->danger_held && i < r->ndanger ? r->danger_held[i]
                     : r->all                         ? 0
                                                      : il_recovery_held(r, il_recover_state(g, i));
    }
}

uint64_t il_recovery_held_of(const il_recovery_run *r, const il_recover_graph *g, uint64_t state) {
    const uint32_t node = g->held ? il_recover_node(g, state) : UINT32_MAX;
    return node == UINT32_MAX ? il_recovery_held(r, state) : g->held[node];
}

bool il_recovery_goes_on(const il_recovery_run *r, il_recover_graph *g, uint32_t done) {
    const il_space_bounds *b = &r->h->subject.bounds;
    const il_space_progress now = {.states = g->n, .edges = g->steps, .frontier = g->n - (done < g->n ? done : g->n)};
    g->full = g->full || (done % RECOVERY_ASKED == 0 && b->progress && !b->progress(b->progress_ctx, &now));
    return !g->full;
}

static bool recovery_edge_in(const il_recovery_run *r, uint64_t pre, uint32_t symbol, uint64_t next) {
    const il_subject *s = &r->h->subject;
    const uint64_t regions = r->edges & (s->rows ? s->judged : s->judged_own)[symbol];
    return regions != 0 && il_steps_in_regions(s->steps, regions, pre, symbol, next) != 0;
}

/* The accepted steps of corrective actions, or of all others, in r->row. */
uint32_t il_recovery_row(const il_recovery_run *r, uint64_t state, bool corrective) {
    const il_subject *s = &r->h->subject;
    il_steps_edges row = il_subject_row(s, state);
    uint32_t n = 0;
    for (uint32_t k = 0; k < row.n; k++) {
        bool repairs = (s->corrective >> s->m->symbol_action[row.edge[k].symbol] & 1) != 0;
        if (!row.edge[k].fault && repairs == corrective) {
            r->row[n++] = row.edge[k];
        }
    }
    return n;
}

/* Whether a step is in a never region of steps, or enters one of states that was not held before. One that changes nothing is none. */
bool il_recovery_enters(const il_recovery_run *r, const il_recover_graph *g, uint64_t state, uint64_t held,
                        const il_steps_edge *e) {
    return e->next != state &&
           (recovery_edge_in(r, state, e->symbol, e->next) || (il_recovery_held_of(r, g, e->next) & ~held) != 0);
}

/* ---- danger states ---- */

static bool recovery_grow(const il_recovery_run *r, uint32_t cap, uint64_t **list) {
    const il_alloc *alloc = r->h->subject.alloc;
    uint64_t *bigger = alloc->alloc(alloc->ctx, (size_t)cap * sizeof *bigger);
    if (!bigger) {
        return false;
    }
    if (r->ndanger > 0) {
        memcpy(bigger, *list, (size_t)r->ndanger * sizeof *bigger);
    }
    alloc->free(alloc->ctx, *list);
    *list = bigger;
    return true;
}

static il_status recovery_note(il_recovery_run *r, uint64_t state, uint64_t held, il_error *err) {
    if (r->ndanger == r->cap) {
        uint32_t cap = r->cap ? r->cap * 2 : 1024;
        if (!recovery_grow(r, cap, &r->danger) || !recovery_grow(r, cap, &r->danger_held)) {
            return il_error_set(err, IL_E_MEMORY, "no memory for the danger states");
        }
        r->cap = cap;
    }
    r->danger_held[r->ndanger] = held;
    r->danger[r->ndanger++] = state;
    return IL_OK;
}

static il_status recovery_product(il_recovery_run *r, il_error *err) {
    const il_model *m = r->h->subject.m;
    const uint64_t all = m->nvars < 64 ? (UINT64_C(1) << m->nvars) - 1 : UINT64_MAX;
    const il_space_bounds *b = &r->h->subject.bounds;
    const il_space_progress now = {0};
    uint32_t looked = 0;
    uint64_t state = 0, memory = 0; /* a ghost is beyond every adversary: it remembers nothing that did not happen */
    for (uint32_t v = 0; v < m->nvars; v++) {
        memory |= m->vars[v].ghost ? UINT64_C(1) << v : 0;
    }
    do {
        const uint64_t held = il_recovery_held(r, state);
        if (held != 0) {
            IL_TRY(recovery_note(r, state, held, err));
        }
        if (++looked % RECOVERY_LOOKED == 0 && b->progress && !b->progress(b->progress_ctx, &now)) {
            r->full = true;
            return IL_OK;
        }
    } while (il_model_turn(m, all & ~memory, &state));
    r->all = memory == 0;
    return IL_OK;
}

static uint32_t recovery_expand(void *ctx, uint64_t key, il_space_edge *out) {
    const il_recovery_run *r = ctx;
    const il_subject *s = &r->h->subject;
    if (key & RECOVERY_WRITTEN) {
        return 0;
    }
    il_steps_edges row = il_subject_row(s, key);
    uint32_t n = 0;
    for (uint32_t k = 0; k < row.n; k++) {
        out[n++] = (il_space_edge){row.edge[k].next, row.edge[k].symbol, row.edge[k].fault};
    }
    for (uint32_t i = 0; i < s->nwrites; i++) {
        il_write w = s->writes[i];
        uint32_t now = il_model_get(s->m, key, w.var);
        if (w.value != now && !s->m->vars[w.var].ghost) {
            bool adversary = ((w.value > now ? r->raise : r->lower) >> w.var & 1) != 0;
            uint64_t next = il_model_set(s->m, key, w.var, w.value) | (adversary ? 0 : RECOVERY_WRITTEN);
            out[n++] = (il_space_edge){.next = next, .symbol = s->m->nsymbols + i};
        }
    }
    return n;
}

static il_status recovery_reachable(il_recovery_run *r, il_error *err) {
    const il_subject *s = &r->h->subject;
    if (s->m->bits > 62) {
        r->full = true;
        return IL_OK;
    }
    il_unmediated_writes(r->h, &r->raise, &r->lower);
    for (uint32_t v = 0; v < s->m->nvars;
         v++) { /* a typed adversary is taken for one that writes at will: more danger, not less */
        r->raise |= s->m->vars[v].adversary.writes ? UINT64_C(1) << v : 0;
        r->lower |= s->m->vars[v].adversary.writes ? UINT64_C(1) << v : 0;
    }
    il_space space = {0};
    il_space_def def = {.ctx = r, .initial = s->m->initial, .nsymbols = s->m->nsymbols + s->nwrites, .expand = recovery_expand};
    def.first_write = s->m->nsymbols;
    il_space_bounds bounds = s->bounds;
    bounds.states =
        bounds.states > UINT32_MAX / 2 ? UINT32_MAX : bounds.states * 2; /* a state may be there again as a written one */
    bounds.workers = 1;
    il_status status = il_space_explore(&space, s->alloc, &def, &bounds, err);
    r->full = status == IL_OK && space.bound_hit;
    for (uint32_t i = 0; status == IL_OK && !r->full && i < space.n; i++) {
        uint64_t key = il_space_key(&space, i);
        uint64_t state = key & ~RECOVERY_WRITTEN;
        bool twice = key != state && il_space_find(&space, state) != UINT32_MAX;
        const uint64_t held = twice ? 0 : il_recovery_held(r, state);
        if (held != 0) {
            status = recovery_note(r, state, held, err);
        }
    }
    il_space_free(&space);
    return status;
}

/* ---- the run ---- */

static il_status recovery_conclude(il_recovery_run *r, il_error *err) {
    il_check *c = r->check;
    const il_recovery *out = il_recovery_out(r);
    il_buf b;
    c->states = out->states;
    const bool open = r->full || r->cut;
    c->verdict = out->nfindings > 0 ? IL_CHECK_FAIL : open ? IL_CHECK_INCONCLUSIVE : IL_CHECK_PASS;
    c->bound_hit = open;
    r->h->bounded = r->h->bounded || open;
    if (out->nfindings == 0) {
        c->finding = !open && out->strength == IL_RECOVERY_WEAK ? "WEAK" : NULL;
        return IL_OK;
    }
    c->finding = out->findings[0].word;
    c->witness = out->findings[0].witness;
    il_buf_init(&b, r->h->subject.arena, 1 << 16);
    il_buf_puts(&b, "from ");
    il_state_text(r->h->subject.m, out->findings[0].from, &b);
    for (uint32_t i = 1; i < out->nfindings; i++) {
        il_buf_puts(&b, i == 1 ? "; also " : ", ");
        il_buf_puts(&b, out->findings[i].word);
    }
    return il_buf_done(&b, &c->detail, err);
}

static il_status recovery_graphs(il_recovery_run *r, il_error *err) {
    il_recover_graph alone = {.h = r->h, .danger = r->danger, .ndanger = r->ndanger};
    il_recover_graph together = alone;
    together.others = true;
    il_status status = il_recover_graph_make(&alone, err);
    if (status == IL_OK && !alone.full) {
        r->check->edges = alone.steps;
        r->check->depth = alone.depth;
        status = il_recovery_alone(r, &alone, err);
    }
    if (status == IL_OK && !alone.full) {
        il_recovery_out(r)->ran = true;
        status = il_recover_graph_make(&together, err);
    }
    if (status == IL_OK && !alone.full && !together.full) {
        status = il_recovery_together(r, &together, &alone, err);
    }
    r->full = alone.full || together.full;
    il_recover_graph_free(&together);
    il_recover_graph_free(&alone);
    return status;
}

static void recovery_begins(il_recovery_run *r) {
    il_recovery *out = il_recovery_out(r);
    for (uint32_t i = 0; i < r->ndanger && !out->begins; i++) {
        out->begins = !il_recovery_goal(r->h->subject.m, r->danger[i]);
        out->outside = out->apart = r->danger[i];
    }
    const uint64_t held = out->begins ? il_recovery_held(r, out->outside) : r->regions;
    for (uint32_t i = 0; i < r->ndanger && (r->regions & ~held) != 0; i++) {
        if ((il_recovery_held(r, r->danger[i]) & ~held) != 0) {
            out->apart = r->danger[i];
            return;
        }
    }
}

static il_status recovery_run(il_recovery_run *r, il_error *err) {
    const il_subject *s = &r->h->subject;
    il_recovery *out = il_recovery_out(r);
    uint64_t limit = s->bounds.states && s->bounds.states < RECOVERY_PRODUCT_MAX ? s->bounds.states : RECOVERY_PRODUCT_MAX;
    out->scope = s->m->bits < 64 && s->m->product <= limit ? IL_RECOVERY_PRODUCT : IL_RECOVERY_REACHABLE;
    r->cut = out->scope == IL_RECOVERY_REACHABLE && s->m->bits < 64 && s->m->product <= RECOVERY_PRODUCT_MAX;
    IL_TRY(out->scope == IL_RECOVERY_PRODUCT ? recovery_product(r, err) : recovery_reachable(r, err));
    out->danger = r->ndanger;
    recovery_begins(r);
    if (r->ndanger == 0 && !r->full && !r->cut) {
        out->ran = true;
        r->check->verdict = IL_CHECK_VACUOUS;
        r->check->finding = "NO_DANGER_STATE";
        return IL_OK;
    }
    if (!r->full) {
        IL_TRY(recovery_graphs(r, err));
    }
    return recovery_conclude(r, err);
}

bool il_recovery_begin(il_recovery_run *r, il_harden *h) {
    const il_subject *s = &h->subject;
    uint32_t phase = il_model_var(s->m, IL_STR("phase"));
    bool ends = false;
    *r = (il_recovery_run){.h = h, .quarantined = UINT32_MAX};
    for (uint32_t i = 0; phase != UINT32_MAX && i < s->m->vars[phase].domain.size; i++) {
        il_str name = s->m->vars[phase].domain.names[i];
        ends = ends || il_str_eq(name, IL_STR("ended"));
        r->quarantined = il_str_eq(name, IL_STR("quarantined")) ? i : r->quarantined;
    }
    for (uint32_t k = 0; k < s->m->nregions; k++) {
        const il_region *region = &s->m->regions[k];
        uint64_t bit = !region->gated && !region->rejection ? UINT64_C(1) << k : 0;
        r->edges |= region->edge ? bit : 0;
        r->regions |= region->edge ? 0 : bit;
    }
    return s->m->goal || (ends && s->corrective != 0 && r->regions != 0);
}

il_status il_check_recovery(il_harden *h, il_error *err) {
    const il_subject *s = &h->subject;
    il_recovery_run r;
    if (!il_recovery_begin(&r, h)) {
        return IL_OK;
    }
    r.row = IL_NEW_ARRAY(s->arena, il_steps_edge, s->m->nsymbols);
    r.check = il_check_add(h, "recovery", UINT32_MAX, false);
    il_status status = r.row && r.check ? recovery_run(&r, err) : il_arena_fail(s->arena, err);
    s->alloc->free(s->alloc->ctx, r.danger);
    s->alloc->free(s->alloc->ctx, r.danger_held);
    return status;
}
