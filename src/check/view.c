/* SPDX-License-Identifier: Apache-2.0 */
#include "check/view.h"

#include "base/error.h"
#include "base/mem.h"

/* The counts of the approvals observer went beyond what it can count: from there on it says nothing, neither good nor bad. */
static uint64_t view_lost(const il_view *v) { return UINT64_C(1) << (2 * v->subject->count_bits); }

uint32_t il_view_bits(const il_view *v) {
    switch (v->observer) {
    case IL_OBSERVE_NOTHING:
        return 0;
    case IL_OBSERVE_GHOSTS:
        return v->subject->ntaints + 2 * IL_WAYS_OUT;
    case IL_OBSERVE_CONFIRMED:
        return v->subject->ntaints;
    case IL_OBSERVE_APPROVALS:
        return 2 * v->subject->count_bits + 1;
    }
    return 64;
}

uint64_t il_view_state(const il_view *v, uint64_t key) {
    uint32_t bits = v->subject->m->bits;
    return bits < 64 ? key & ((UINT64_C(1) << bits) - 1) : key;
}

uint64_t il_view_extra(const il_view *v, uint64_t key) {
    uint32_t bits = v->subject->m->bits;
    return bits < 64 ? key >> bits : 0;
}

uint64_t il_view_key(const il_view *v, uint64_t state, uint64_t extra) {
    uint32_t bits = v->subject->m->bits;
    return bits < 64 ? state | extra << bits : state;
}

/* An approved call counts as crossing where the machine says so or the approval was needed for it; elsewhere as in flight. */
static uint64_t view_bring_approved(const il_subject *s, uint32_t symbol, uint64_t next) {
    uint32_t over = s->out[IL_OUT_CROSSING].var;
    bool both = true, crosses = over != UINT32_MAX && il_model_get(s->m, next, over) != 0;
    for (uint32_t t = 0; t < s->ntaints; t++) {
        bool named = s->taint_words[t] == IL_TAINT_UNTRUSTED || s->taint_words[t] == IL_TAINT_SENSITIVE;
        both = both && (!named || il_model_get(s->m, next, s->taints[t]) != 0);
    }
    return il_ghost_out(s, both || crosses ? IL_OUT_CROSSING : IL_OUT_FLIGHT, !s->words[symbol].bound);
}

static il_view_effect view_bring(const il_subject *s, uint32_t symbol, uint64_t next) {
    const il_symbol_ghosts *g = &s->ghosts[symbol];
    il_view_effect e = {g->clear, g->set};
    for (uint32_t t = 0; s->wordless && t < s->ntaints; t++) { /* no payload speaks of it: the variable must do */
        bool set = s->taint_words[t] == IL_TAINT_OTHER && il_model_get(s->m, next, s->taints[t]) != 0;
        e.set |= set ? UINT64_C(1) << t : 0;
    }
    e.set |= g->approved_once ? view_bring_approved(s, symbol, next) : 0;
    return e;
}

il_view_effect il_view_remember(const il_view *v, uint32_t symbol, uint64_t next) {
    switch (v->observer) {
    case IL_OBSERVE_NOTHING:
    case IL_OBSERVE_APPROVALS:
        return (il_view_effect){0};
    case IL_OBSERVE_GHOSTS:
        return view_bring(v->subject, symbol, next);
    case IL_OBSERVE_CONFIRMED:
        return (il_view_effect){.set = v->subject->ghosts[symbol].confirms};
    }
    return (il_view_effect){0};
}

/* How strange the live unapproved egress is: 0 none, 1 bound, 2 foreign. */
static uint32_t view_liveout(const il_subject *s, uint64_t state) {
    uint32_t worst = 0;
    for (uint32_t way = IL_OUT_FLIGHT; way <= IL_OUT_OPEN; way++) {
        const il_out_var *o = &s->out[way];
        uint32_t value = o->var == UINT32_MAX ? 0 : il_model_get(s->m, state, o->var);
        uint32_t level = value == 0 ? 0 : value == o->word ? 1 : 2;
        worst = level > worst ? level : worst;
    }
    return worst;
}

/* What voids an approval: a taint from none, the first live unapproved egress, its rise from bound to foreign. */
static bool view_gained(const il_subject *s, uint64_t pre, uint64_t next) {
    if (((pre ^ next) & s->gain_mask) == 0) {
        return false;
    }
    for (uint32_t t = 0; t < s->ntaints; t++) {
        if (il_model_get(s->m, pre, s->taints[t]) == 0 && il_model_get(s->m, next, s->taints[t]) != 0) {
            return true;
        }
    }
    return view_liveout(s, next) > view_liveout(s, pre);
}

/* The observer's own count, by the sentences of the specification and not by the machine's counters. */
static uint64_t view_count(il_view *v, uint64_t pre, uint32_t symbol, uint64_t next, uint64_t extra) {
    const il_subject *s = v->subject;
    const il_symbol_words *w = &s->words[symbol];
    uint32_t action = s->m->symbol_action[symbol];
    const uint64_t most = (UINT64_C(1) << s->count_bits) - 1;
    if (extra == view_lost(v)) {
        return extra;
    }
    uint64_t asked = extra & most;
    uint64_t granted = extra >> s->count_bits;
    if (action == s->request) {
        asked++;
    } else if (action == s->approve && asked > 0) {
        asked--;
        granted++;
    } else if (action == s->refuse && asked > 0) {
        asked--;
    } else if (action == s->lapse && w->slot == 0 && asked > 0) {
        asked--;
    } else if (action == s->lapse && w->slot == 1 && granted > 0) {
        granted--;
    } else if (w->approved && granted > 0) {
        granted--;
    }
    if (view_gained(s, pre, next) || (s->phase != UINT32_MAX && il_model_get(s->m, next, s->phase) != 0)) {
        asked = granted = 0; /* the void comes after what the step itself used */
    }
    if (asked > most || granted > most) {
        v->saturated = true;
        return view_lost(v);
    }
    return asked | granted << s->count_bits;
}

/* What the observer remembers after an accepted step. */
static uint64_t view_observe(il_view *v, uint64_t state, uint32_t symbol, uint64_t next, uint64_t extra) {
    if (v->observer == IL_OBSERVE_APPROVALS) {
        return view_count(v, state, symbol, next, extra);
    }
    il_view_effect e = il_view_remember(v, symbol, next);
    return (extra & ~e.clear) | e.set;
}

static uint32_t view_expand_table(il_view *v, uint64_t state, uint64_t extra, il_space_edge *out) {
    const il_subject *s = v->subject;
    uint32_t n = 0;
    for (uint32_t symbol = 0; symbol < s->m->nsymbols; symbol++) {
        if (v->dropped >> s->m->symbol_action[symbol] & 1) {
            continue;
        }
        il_step step = il_machine_step(s->table, state, symbol);
        if (step.verdict != IL_REJECT) {
            uint64_t after = view_observe(v, state, symbol, step.next, extra);
            out[n++] = (il_space_edge){il_view_key(v, step.next, after), symbol, step.verdict != IL_ACCEPT};
        }
    }
    return n;
}

il_steps_edges il_view_steps(il_view *v, uint64_t state) {
    return v->rows ? v->rows(v->rows_ctx, state) : il_steps_row(v->subject->steps, v->variant.skip ? &v->variant : NULL, state);
}

static uint32_t view_expand_guards(il_view *v, uint64_t state, uint64_t extra, il_space_edge *out) {
    const il_subject *s = v->subject;
    il_steps_edges row = il_view_steps(v, state);
    uint32_t n = 0;
    if (v->observer == IL_OBSERVE_NOTHING && v->dropped == 0) {
        memcpy(out, row.n ? row.edge : out, row.n * sizeof *out);
        return row.n;
    }
    for (uint32_t k = 0; k < row.n; k++) {
        const il_steps_edge *e = &row.edge[k];
        if (v->dropped >> s->m->symbol_action[e->symbol] & 1) {
            continue;
        }
        uint64_t after = e->fault ? extra : view_observe(v, state, e->symbol, e->next, extra);
        out[n++] = (il_space_edge){il_view_key(v, e->next, after), e->symbol, e->fault};
    }
    return n;
}

uint64_t il_view_initial(const il_view *v) { return il_view_key(v, v->subject->m->initial, 0); }

/* What cannot be judged counts as allowed. */
static bool view_when(const il_model *m, const il_cel_program *when, uint64_t state) {
    il_cel_value pre[IL_MODEL_VARS_MAX];
    il_cel_value vars[1] = {{0}};
    for (uint32_t i = 0; i < m->nvars; i++) {
        pre[i] = m->vars[i].domain.values[il_model_get(m, state, i)];
    }
    vars[0].kind = IL_CEL_RECORD;
    vars[0].n = m->nvars;
    vars[0].u.items = pre;
    il_cel_value held = il_cel_eval(when, vars, NULL);
    return held.kind != IL_CEL_BOOL || held.u.b;
}

static bool view_writes(const il_view *v, uint64_t state, il_write w) {
    const il_model *m = v->subject->m;
    const il_adversary *a = &m->vars[w.var].adversary;
    uint32_t now = il_model_get(m, state, w.var);
    if (w.value == now) {
        return false;
    }
    if ((w.value > now ? v->raise : v->lower) >> w.var & 1) {
        return true;
    }
    if (v->declared == IL_DECLARED_NONE || !a->writes) {
        return false;
    }
    return v->declared == IL_DECLARED_AT_WILL || ((!a->to || a->to[w.value]) && (!a->when || view_when(m, a->when, state)));
}

/* The adversary's writes come after the symbols. */
static uint32_t view_expand(void *ctx, uint64_t key, il_space_edge *out) {
    il_view *v = ctx;
    const il_subject *s = v->subject;
    uint64_t state = il_view_state(v, key);
    uint64_t extra = il_view_extra(v, key);
    uint32_t n = v->table ? view_expand_table(v, state, extra, out) : view_expand_guards(v, state, extra, out);
    bool any = (v->raise | v->lower) != 0 || v->declared != IL_DECLARED_NONE;
    for (uint32_t i = 0; any && i < s->nwrites; i++) {
        il_write w = s->writes[i];
        if (view_writes(v, state, w)) {
            uint64_t next = il_model_set(s->m, state, w.var, w.value);
            out[n++] = (il_space_edge){il_view_key(v, next, extra), s->m->nsymbols + i, false};
        }
    }
    return n;
}

/* The state as the observer sees it: what it remembers stands in for the variables. */
static uint64_t view_seen(const il_view *v, uint64_t key) {
    const il_subject *s = v->subject;
    uint64_t state = il_view_state(v, key);
    uint64_t extra = il_view_extra(v, key);
    bool ghosts = v->observer == IL_OBSERVE_GHOSTS;
    if (!ghosts && v->observer != IL_OBSERVE_CONFIRMED) {
        return state;
    }
    state &= ~s->taint_mask;
    for (uint32_t t = 0; t < s->ntaints; t++) {
        state |= extra >> t & 1 ? s->taint_last[t] : 0;
    }
    extra = ghosts ? extra >> s->ntaints : 0;
    for (uint32_t way = 0; extra != 0; way++, extra >>= 2) {
        uint32_t var = s->out[way].var;
        uint64_t ghost = extra & 3;
        uint32_t least = ghost == 0 ? 0 : ghost > 1 ? s->out[way].foreign : s->out[way].bound;
        if (ghost != 0 && var != UINT32_MAX && il_model_get(s->m, state, var) < least) {
            state = il_model_set(s->m, state, var, least);
        }
    }
    return state;
}

uint64_t il_view_judge(const il_view *v, uint64_t key) {
    const il_subject *s = v->subject;
    uint64_t seen = view_seen(v, key);
    uint64_t hit = 0;
    for (uint64_t left = v->regions & ~s->edges; left != 0; left &= left - 1) {
        uint32_t r = (uint32_t)__builtin_ctzll(left);
        hit |= il_steps_in_region(s->steps, r, seen, 0, 0) ? UINT64_C(1) << r : 0;
    }
    return hit;
}

uint64_t il_view_judge_step(const il_view *v, uint64_t key, uint32_t symbol, uint64_t next) {
    const uint64_t regions = il_view_judges(v, symbol);
    return regions ? il_steps_in_regions(v->subject->steps, regions, view_seen(v, key), symbol, view_seen(v, next)) : 0;
}

il_view_reads il_view_judged(const il_view *v) {
    const il_subject *s = v->subject;
    il_view_reads reads = {0};
    for (uint64_t left = v->regions; left != 0; left &= left - 1) {
        uint32_t r = (uint32_t)__builtin_ctzll(left);
        uint64_t pre = 0, next = 0;
        il_steps_region_reads(s->steps, r, &pre, &next);
        reads.state |= s->edges >> r & 1 ? 0 : pre;
        reads.pre |= s->edges >> r & 1 ? pre : 0;
        reads.next |= next;
    }
    if (v->observer == IL_OBSERVE_GHOSTS || v->observer == IL_OBSERVE_CONFIRMED) { /* it knows taints better */
        reads.state &= ~s->taint_mask;
        reads.pre &= ~s->taint_mask;
        reads.next &= ~s->taint_mask;
    }
    return reads;
}

static uint64_t view_judge_state(void *ctx, uint64_t key) { return il_view_judge(ctx, key); }

static uint64_t view_judge_edge(void *ctx, uint64_t key, uint32_t symbol, uint64_t next) {
    return il_view_judge_step(ctx, key, symbol, next);
}

static uint64_t view_judge_approval(void *ctx, uint64_t key, uint32_t symbol, uint64_t next) {
    const il_view *v = ctx;
    (void)next;
    return v->subject->words[symbol].approved && il_view_extra(v, key) >> v->subject->count_bits == 0 ? IL_VIEW_UNAPPROVED : 0;
}

/* A view of its own for another thread: what the guards remember is not shared. */
typedef struct view_other {
    il_view view;
    il_subject subject;
} view_other;

static void *view_fork(void *ctx) {
    const il_view *v = ctx;
    const il_alloc *alloc = v->subject->alloc;
    view_other *o = alloc->alloc(alloc->ctx, sizeof *o);
    if (!o) {
        return NULL;
    }
    o->view = *v;
    o->subject = *v->subject;
    o->view.subject = &o->subject;
    if (il_steps_new(alloc, o->subject.m, &o->subject.steps, NULL) != IL_OK) {
        alloc->free(alloc->ctx, o);
        return NULL;
    }
    return &o->view;
}

static void view_join(void *ctx, void *other) {
    il_view *v = ctx;
    view_other *o = other; /* its first member */
    v->saturated = v->saturated || o->view.saturated;
    il_steps_free(o->subject.steps);
    v->subject->alloc->free(v->subject->alloc->ctx, o);
}

void il_view_define(il_view *v, il_space_def *out) {
    const il_subject *s = v->subject;
    *out = (il_space_def){
        .ctx = v,
        .initial = il_view_initial(v),
        .bits = s->m->bits + il_view_bits(v),
        .nsymbols = s->m->nsymbols + ((v->raise | v->lower) != 0 || v->declared != IL_DECLARED_NONE ? s->nwrites : 0),
        .first_write = s->m->nsymbols,
        .expand = view_expand,
        .state = v->regions & ~s->edges ? view_judge_state : NULL,
        .edge = v->observer == IL_OBSERVE_APPROVALS ? view_judge_approval
                : v->regions & s->edges             ? view_judge_edge
                                                    : NULL,
        .fork = v->rows ? NULL : view_fork,
        .join = view_join,
        .stop = v->stop,
        .any = v->any,
    };
}

il_status il_view_explore(il_view *v, il_space *out, il_error *err) {
    const il_subject *s = v->subject;
    *out = (il_space){0};
    if (s->m->bits + il_view_bits(v) > 64) {
        out->bound_hit = true; /* wider than a key: nothing of it can be explored, and what others find still counts */
        return IL_OK;
    }
    il_space_def def;
    il_view_define(v, &def);
    const il_space_bounds bounds = il_subject_bounds(s);
    return il_space_explore(out, s->alloc, &def, &bounds, err);
}
