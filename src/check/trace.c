/* SPDX-License-Identifier: Apache-2.0 */
/* Witnesses: from a hit back to the initial state. */
#include "check/trace.h"
#include "check/parts.h"

il_status il_trace_of(il_harden *h, const il_view *v, const il_space *s, const il_space_hit *hit, il_trace *out, il_error *err) {
    const il_model *m = h->subject.m;
    uint32_t n = hit->edge ? 1 : 0;
    il_view again = *v; /* the one that was explored may be gone */
    il_space_def def;
    il_view_define(&again, &def);
    for (uint32_t i = hit->node; i != 0; i = il_space_parent(s, i)) {
        n++;
    }
    *out = (il_trace){.found = true, .n = n};
    out->steps = IL_NEW_ARRAY(h->subject.arena, il_trace_step, n);
    if (!out->steps) {
        return il_arena_fail(h->subject.arena, err);
    }
    if (hit->edge) {
        n--;
        out->steps[n] = (il_trace_step){.symbol = hit->symbol, .pre = il_space_key(s, hit->node), .post = hit->next};
    }
    for (uint32_t i = hit->node; i != 0; i = il_space_parent(s, i)) {
        n--;
        out->steps[n] = (il_trace_step){
            .symbol = il_space_via(s, &def, i), .pre = il_space_key(s, il_space_parent(s, i)), .post = il_space_key(s, i)};
    }
    for (uint32_t i = 0; i < out->n; i++) {
        il_trace_step *step = &out->steps[i];
        step->pre = il_view_state(v, step->pre);
        step->post = il_view_state(v, step->post);
        if (step->symbol >= m->nsymbols) {
            il_write w = h->subject.writes[step->symbol - m->nsymbols];
            step->symbol = IL_NO_SYMBOL;
            step->var = w.var;
            step->value = w.value;
        }
    }
    return IL_OK;
}

il_status il_view_reaches(il_harden *h, il_view *v, uint32_t bit, bool *found, bool *bounded, il_trace *out, il_error *err) {
    il_space s = {0};
    v->stop = UINT64_C(1) << bit;
    v->regions = UINT64_C(1) << bit;
    il_status status = il_view_explore(v, &s, err);
    if (status == IL_OK) {
        *found = s.hits[bit].found;
        *bounded = *bounded || (!*found && s.bound_hit);
        h->bounded = h->bounded || (!*found && s.bound_hit);
        if (*found && out) {
            status = il_trace_of(h, v, &s, &s.hits[bit], out, err);
        }
    }
    il_space_free(&s);
    return status;
}

void il_trace_text(const il_model *m, const il_trace *t, il_buf *out) {
    for (uint32_t i = 0; i < t->n; i++) {
        const il_trace_step *s = &t->steps[i];
        if (i > 0) {
            il_buf_putc(out, ' ');
        }
        if (s->symbol != IL_NO_SYMBOL) {
            il_model_symbol_brief(m, s->symbol, out);
        } else {
            il_buf_put(out, m->vars[s->var].name);
            il_buf_puts(out, ":=");
            il_buf_put(out, m->vars[s->var].domain.names[s->value]);
        }
    }
}

void il_state_text(const il_model *m, uint64_t state, il_buf *out) {
    const char *between = "";
    for (uint32_t v = 0; v < m->nvars; v++) {
        uint32_t value = il_model_get(m, state, v);
        if (value != 0) {
            il_buf_puts(out, between);
            il_buf_put(out, m->vars[v].name);
            il_buf_putc(out, '=');
            il_buf_put(out, m->vars[v].domain.names[value]);
            between = " ";
        }
    }
    il_buf_puts(out, between[0] == '\0' ? "initial" : "");
}
