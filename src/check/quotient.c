/* SPDX-License-Identifier: Apache-2.0 */
#include "check/quotient.h"

#include "base/error.h"

enum { QUOTIENT_WORK = 1 << 14 }; /* steps between two calls of `progress` */

#define IL_QUOTIENT_STATES (1u << 24)
#define IL_QUOTIENT_BYTES ((size_t)1 << 30)

typedef struct quotient_run {
    il_view *v;
    il_quotient *out;
    il_nodes nodes;
    uint64_t mask; /* the written variables' bits */
    uint64_t *writes;
    uint32_t nwrites;
    il_space_edge *edges;
    uint32_t work;
} quotient_run;

uint32_t il_quotient_values(const il_model *m, uint64_t vars) {
    uint64_t n = 1;
    for (uint32_t v = 0; v < m->nvars && n <= IL_QUOTIENT_VALUES; v++) {
        n *= vars >> v & 1 ? m->vars[v].domain.size : 1;
    }
    return n <= IL_QUOTIENT_VALUES ? (uint32_t)n : 0;
}

/* Every combination of values of `vars`, at their bits. */
static bool quotient_writes(quotient_run *q, uint64_t vars) {
    const il_subject *s = q->v->subject;
    q->nwrites = il_quotient_values(s->m, vars);
    q->writes = q->nwrites ? s->alloc->alloc(s->alloc->ctx, q->nwrites * sizeof *q->writes) : NULL;
    for (uint32_t i = 0; q->writes && i < q->nwrites; i++) {
        uint32_t rest = i;
        q->writes[i] = 0;
        for (uint32_t v = 0; v < s->m->nvars; v++) {
            if (vars >> v & 1) {
                q->writes[i] = il_model_set(s->m, q->writes[i], v, rest % s->m->vars[v].domain.size);
                rest /= s->m->vars[v].domain.size;
            }
        }
    }
    for (uint32_t v = 0; v < s->m->nvars; v++) {
        q->mask |= vars >> v & 1 ? ((UINT64_C(1) << s->m->vars[v].bits) - 1) << s->m->vars[v].shift : 0;
    }
    return q->writes != NULL;
}

static il_status quotient_add(quotient_run *q, uint64_t key, il_error *err) {
    switch (il_nodes_add(&q->nodes, key & ~q->mask, 0, 0, 0)) {
    case IL_NODES_KNOWN:
    case IL_NODES_NEW:
        return IL_OK;
    case IL_NODES_FULL:
        q->out->bound_hit = true;
        return IL_OK;
    case IL_NODES_MEMORY:
        break;
    }
    return il_error_set(err, IL_E_MEMORY, "no memory for more states");
}

/* One state of a class: what it is in, and where it leads. */
static il_status quotient_state(quotient_run *q, uint64_t key, il_error *err) {
    il_view *v = q->v;
    uint64_t edges = v->regions & v->subject->edges;
    if (v->regions & ~edges & ~q->out->reached) {
        q->out->reached |= il_view_judge(v, key);
    }
    uint32_t n = il_view_steps(v, key, q->edges);
    q->work += n + 1;
    for (uint32_t k = 0; k < n; k++) {
        if (q->edges[k].fault) {
            continue;
        }
        q->out->edges++;
        if (edges & ~q->out->reached) {
            q->out->reached |= il_view_judge_step(v, key, q->edges[k].symbol, q->edges[k].next);
        }
        if (((q->edges[k].next ^ key) & ~q->mask) != 0) {
            IL_TRY(quotient_add(q, q->edges[k].next, err));
        }
    }
    return IL_OK;
}

static bool quotient_goes_on(quotient_run *q, uint32_t done) {
    const il_space_bounds *b = &q->v->subject->bounds;
    il_space_progress now = {.states = q->nodes.n, .edges = q->out->edges, .frontier = q->nodes.n - done};
    q->work = 0;
    return !b->progress || b->progress(b->progress_ctx, &now);
}

static il_status quotient_run_all(quotient_run *q, il_error *err) {
    uint64_t all = q->v->regions;
    IL_TRY(quotient_add(q, il_view_initial(q->v), err));
    bool on = quotient_goes_on(q, 0);
    for (uint32_t i = 0; on && i < q->nodes.n && (q->out->reached & all) != all; i++) {
        uint64_t key = il_nodes_key(&q->nodes, i);
        for (uint32_t w = 0; on && w < q->nwrites && (q->out->reached & all) != all; w++) {
            IL_TRY(quotient_state(q, key | q->writes[w], err));
            on = q->work < QUOTIENT_WORK || quotient_goes_on(q, i);
        }
    }
    q->out->bound_hit = q->out->bound_hit || !on;
    q->out->classes = q->nodes.n;
    return IL_OK;
}

il_status il_quotient_reach(il_view *v, uint64_t vars, il_quotient *out, il_error *err) {
    const il_subject *s = v->subject;
    quotient_run q = {.v = v, .out = out};
    *out = (il_quotient){0};
    if (s->m->bits + il_view_bits(v) > 64) {
        return il_error_set(err, IL_E_LIMIT, "the state and what a check must remember beside it are wider than 64 bits");
    }
    q.edges = s->alloc->alloc(s->alloc->ctx, (size_t)s->m->nsymbols * sizeof *q.edges + 1);
    bool made = q.edges && quotient_writes(&q, vars);
    uint32_t states = s->bounds.states ? s->bounds.states : IL_QUOTIENT_STATES;
    uint32_t most = q.nwrites ? states / q.nwrites : 0; /* the bound is of states, all of a class's */
    il_nodes_init(&q.nodes, s->alloc, s->m->bits + il_view_bits(v), false, most ? most : 1,
                  s->bounds.bytes ? s->bounds.bytes : IL_QUOTIENT_BYTES);
    il_status status = made ? quotient_run_all(&q, err) : il_error_set(err, IL_E_MEMORY, "no memory for an adversary's writes");
    out->reached &= v->regions;
    il_nodes_free(&q.nodes);
    s->alloc->free(s->alloc->ctx, q.writes);
    s->alloc->free(s->alloc->ctx, q.edges);
    return status;
}
