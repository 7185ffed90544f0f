/* SPDX-License-Identifier: Apache-2.0 */
#include "check/sticky.h"

#include "base/error.h"
#include "check/parts.h"
#include "check/report.h"

#define STICKY_PRODUCT_MAX (UINT64_C(1) << 24)

static uint32_t sticky_lowered(const il_model *m, uint64_t vars, uint64_t pre, uint64_t next) {
    for (uint64_t left = next == pre ? 0 : vars; left != 0; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        if (il_model_get(m, next, v) < il_model_get(m, pre, v)) {
            return v;
        }
    }
    return UINT32_MAX;
}

typedef struct sticky_walk {
    il_view view;
    il_sticky *out;
    bool planted;    /* every step from where something sticky is raised lowers it, whatever the machine says */
    uint64_t plants; /* such steps */
} sticky_walk;

static uint64_t sticky_next(sticky_walk *w, uint64_t pre, uint64_t next) {
    const il_model *m = w->view.subject->m;
    for (uint64_t left = w->planted ? w->out->vars : 0; left != 0; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        if (il_model_get(m, pre, v) > 0) {
            next = il_model_set(m, next, v, 0);
            w->plants++;
        }
    }
    return next;
}

/* The explorer's own view of the machine judges states and steps of regions; this one judges steps by what they lower. */
static uint64_t sticky_judge(void *ctx, uint64_t key, uint32_t symbol, uint64_t next) {
    sticky_walk *w = ctx;
    const il_model *m = w->view.subject->m;
    (void)symbol;
    for (uint64_t left = w->out->vars; left != 0 && next != key; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        w->out->raised |= il_model_get(m, next, v) > il_model_get(m, key, v) ? UINT64_C(1) << v : 0;
    }
    return sticky_lowered(m, w->out->vars, key, next) != UINT32_MAX ? 1 : 0;
}

static uint32_t sticky_expand(void *ctx, uint64_t key, il_space_edge *out) {
    sticky_walk *w = ctx;
    il_subject *s = w->view.subject;
    uint32_t n = 0;
    if (s->table) {
        for (uint32_t symbol = 0; symbol < s->m->nsymbols; symbol++) {
            il_step step = il_machine_step(s->table, key, symbol);
            if (step.verdict == IL_ACCEPT) {
                out[n++] = (il_space_edge){.next = sticky_next(w, key, step.next), .symbol = symbol};
            }
        }
        return n;
    }
    il_steps_edges row = il_steps_row(s->steps, NULL, key);
    for (uint32_t k = 0; k < row.n; k++) {
        out[n++] = (il_space_edge){sticky_next(w, key, row.edge[k].next), row.edge[k].symbol, row.edge[k].fault};
    }
    return n;
}

static il_status sticky_explore(il_harden *h, sticky_walk *w, il_space *space, il_error *err) {
    il_space_def def = {.ctx = w, .initial = h->subject.m->initial, .expand = sticky_expand, .edge = sticky_judge};
    def.nsymbols = def.first_write = h->subject.m->nsymbols;
    il_space_bounds bounds = h->subject.bounds;
    bounds.workers = 1; /* what was raised is noted on the way */
    return il_space_explore(space, h->subject.alloc, &def, &bounds, err);
}

static il_status sticky_reachable(il_harden *h, il_sticky *out, il_check *c, il_error *err) {
    sticky_walk w = {.view = {.subject = &h->subject}, .out = out};
    il_space space = {0};
    il_status status = sticky_explore(h, &w, &space, err);
    if (status == IL_OK) {
        c->states = space.n;
        c->edges = space.edges;
        c->depth = space.depth;
        c->bound_hit = space.bound_hit;
        h->bounded = h->bounded || space.bound_hit;
    }
    if (status == IL_OK && space.hits[0].found) {
        out->symbol = space.hits[0].symbol;
        out->from = h->subject.m->initial;
        out->var = sticky_lowered(h->subject.m, out->vars, il_space_key(&space, space.hits[0].node), space.hits[0].next);
        status = il_trace_of(h, &w.view, &space, &space.hits[0], &out->witness, err);
    }
    il_space_free(&space);
    return status;
}

/* A correction is taken from states that no session should be in, so its steps are asked everywhere. */
typedef enum sticky_answer { STICKY_NOWHERE, STICKY_THERE, STICKY_UNKNOWN } sticky_answer;

static bool sticky_at(sticky_walk *w, uint64_t state, const il_steps_edge *e) {
    const uint64_t next = sticky_next(w, state, e->next);
    il_sticky *out = w->out;
    const uint32_t v = e->fault ? UINT32_MAX : sticky_lowered(w->view.subject->m, out->vars, state, next);
    if (v != UINT32_MAX) {
        out->var = v;
        out->symbol = e->symbol;
        out->anywhere = true;
        out->from = state;
        out->to = next;
    }
    return v != UINT32_MAX;
}

/* Whether some correction lowers some of it anywhere, in fewer questions than there are states: only what its steps read, and what is sticky
 * itself, makes a difference. */
static sticky_answer sticky_by_reads(sticky_walk *w) {
    const il_subject *s = w->view.subject;
    const il_model *m = s->m;
    sticky_answer answer = STICKY_NOWHERE;
    for (uint64_t left = s->corrective; left != 0; left &= left - 1) {
        const uint32_t a = (uint32_t)__builtin_ctzll(left);
        uint64_t reads = 0, writes = 0, vars = 0, product = 1, state = 0;
        if (!il_steps_touches(s->steps, a, &reads, &writes)) {
            answer = STICKY_UNKNOWN;
            continue;
        }
        for (uint32_t v = 0; v < m->nvars; v++) {
            const uint64_t bits = il_model_bits(m, v);
            const bool asked = (reads & bits) != 0 || ((w->out->vars >> v & 1) && (w->planted || (writes & bits)));
            vars |= asked ? UINT64_C(1) << v : 0;
            product *= asked && product <= STICKY_PRODUCT_MAX ? m->vars[v].domain.size : 1;
        }
        if (product > STICKY_PRODUCT_MAX) {
            answer = STICKY_UNKNOWN;
            continue;
        }
        do {
            il_steps_edges row = il_steps_of(s->steps, a, state);
            for (uint32_t k = 0; k < row.n; k++) {
                if (sticky_at(w, state, &row.edge[k])) {
                    return STICKY_THERE;
                }
            }
        } while (il_model_turn(m, vars, &state));
    }
    return answer;
}

/* The same, one state of the full product after the other. */
static bool sticky_by_states(sticky_walk *w) {
    il_subject *s = w->view.subject;
    const il_model *m = s->m;
    for (uint64_t i = 0; i < m->product; i++) {
        uint64_t state = 0;
        uint64_t index = i;
        for (uint32_t v = 0; v < m->nvars; v++) {
            state = il_model_set(m, state, v, (uint32_t)(index % m->vars[v].domain.size));
            index /= m->vars[v].domain.size;
        }
        il_steps_edges row = il_steps_row(s->steps, NULL, state);
        for (uint32_t k = 0; k < row.n; k++) {
            const il_steps_edge *e = &row.edge[k];
            if ((s->corrective >> m->symbol_action[e->symbol] & 1) && sticky_at(w, state, e)) {
                return true;
            }
        }
    }
    return false;
}

/* `bounded`: it was not asked everywhere. */
static il_status sticky_anywhere(il_harden *h, sticky_walk *w, bool *bounded, il_error *err) {
    il_sticky *out = w->out;
    const il_subject *s = &h->subject;
    const il_model *m = s->m;
    const uint64_t limit = s->bounds.states && s->bounds.states < STICKY_PRODUCT_MAX ? s->bounds.states : STICKY_PRODUCT_MAX;
    const bool fits = m->bits < 64 && m->product <= limit;
    const sticky_answer answer = sticky_by_reads(w);
    out->product = fits || answer != STICKY_UNKNOWN;
    *bounded = !out->product;
    if (!(fits && answer != STICKY_NOWHERE ? sticky_by_states(w) : answer == STICKY_THERE)) {
        return IL_OK;
    }
    out->witness = (il_trace){.found = true, .n = 1, .steps = IL_NEW(s->arena, il_trace_step)};
    if (!out->witness.steps) {
        return il_arena_fail(s->arena, err);
    }
    out->witness.steps[0] = (il_trace_step){.symbol = out->symbol, .pre = out->from, .post = out->to};
    return IL_OK;
}

static il_status sticky_fail(il_harden *h, const il_sticky *out, il_check *c, il_error *err) {
    const il_model *m = h->subject.m;
    il_buf b;
    il_buf_init(&b, h->subject.arena, 1 << 16);
    il_buf_put(&b, m->vars[out->var].name);
    il_buf_puts(&b, " by ");
    il_buf_put(&b, m->actions[m->symbol_action[out->symbol]].name);
    if (out->anywhere) {
        il_buf_puts(&b, ", from ");
        il_state_text(m, out->from, &b);
    }
    c->verdict = IL_CHECK_FAIL;
    c->finding = "STICKY_LOWERED";
    c->witness = out->witness;
    return il_buf_done(&b, &c->detail, err);
}

static il_sticky sticky_begin(const il_model *m) {
    il_sticky out = {.var = UINT32_MAX, .symbol = UINT32_MAX};
    for (uint32_t v = 0; v < m->nvars; v++) {
        out.vars |= m->vars[v].sticky ? UINT64_C(1) << v : 0;
    }
    return out;
}

il_status il_sticky_control(il_harden *h, il_control_state *out, il_error *err) {
    il_sticky found = sticky_begin(h->subject.m), anywhere = found;
    sticky_walk w = {.view = {.subject = &h->subject}, .out = &found, .planted = true};
    il_space space = {0};
    il_status status = sticky_explore(h, &w, &space, err);
    const bool seen = space.hits[0].found, bounded = space.bound_hit;
    bool unasked = false;
    il_space_free(&space);
    IL_TRY(status);
    sticky_walk all = {.view = w.view, .out = &anywhere, .planted = true};
    IL_TRY(sticky_anywhere(h, &all, &unasked, err));
    const bool missed = (w.plants > 0 && !seen) || (all.plants > 0 && anywhere.var == UINT32_MAX);
    *out = found.vars == 0 || (missed && !bounded) ? IL_CONTROL_BROKEN : seen ? IL_CONTROL_FAILED_AS_IT_MUST : IL_CONTROL_NOT_RUN;
    return IL_OK;
}

il_status il_sticky_run(il_harden *h, il_sticky *out, il_error *err) {
    const il_model *m = h->subject.m;
    *out = sticky_begin(m);
    if (out->vars == 0) {
        return IL_OK;
    }
    il_check *c = il_check_add(h, "sticky", UINT32_MAX, true);
    if (!c) {
        return il_arena_fail(h->subject.arena, err);
    }
    out->ran = true;
    IL_TRY(sticky_reachable(h, out, c, err));
    if (out->var == UINT32_MAX) {
        sticky_walk w = {.view = {.subject = &h->subject}, .out = out};
        bool bounded = false;
        IL_TRY(sticky_anywhere(h, &w, &bounded, err));
        c->bound_hit = c->bound_hit || bounded;
        h->bounded = h->bounded || bounded;
    }
    if (out->var != UINT32_MAX) {
        return sticky_fail(h, out, c, err);
    }
    bool unwatched = out->raised != out->vars;
    c->verdict = c->bound_hit || unwatched ? IL_CHECK_INCONCLUSIVE : IL_CHECK_PASS;
    c->finding = unwatched && !c->bound_hit ? "NEVER_RAISED" : NULL;
    for (uint32_t v = 0; c->finding && v < m->nvars && c->detail.n == 0; v++) {
        c->detail = (out->vars & ~out->raised) >> v & 1 ? m->vars[v].name : (il_str){0};
    }
    return IL_OK;
}

il_status il_check_sticky(il_harden *h, il_error *err) {
    il_sticky sticky;
    IL_TRY(il_sticky_run(h, &sticky, err));
    return il_harden_join(h, "sticky", il_sticky_object(h->subject.m, &sticky, h->subject.arena), err);
}

il_json *il_sticky_object(const il_model *m, const il_sticky *s, il_arena *arena) {
    if (!s->ran) {
        return il_json_make(arena, IL_JSON_NULL);
    }
    il_report b = {.arena = arena, .m = m};
    il_json *o = il_report_object(&b);
    il_report_set(&b, o, "variables", il_report_vars(&b, s->vars));
    il_report_set(&b, o, "raised", il_report_vars(&b, s->raised));
    il_report_set(&b, o, "scope", il_report_word(&b, s->product ? "product" : "reachable"));
    il_report_set(&b, o, "lowered", s->var == UINT32_MAX ? il_report_null(&b) : il_report_str(&b, m->vars[s->var].name));
    il_report_set(&b, o, "from", s->var == UINT32_MAX ? il_report_null(&b) : il_report_state(&b, s->from));
    il_report_set(&b, o, "witness", il_report_trace(&b, &s->witness));
    return b.failed ? NULL : o;
}
