/* SPDX-License-Identifier: Apache-2.0 */
/* Variables, values, actions, fields and rules that only one of the two versions has. */
#include "base/error.h"
#include "check/widening_part.h"

static il_status widening_name(il_widening_work *w, il_widening_name ***at, const char *kind, il_str a, const char *between,
                               il_str b) {
    il_buf text;
    il_widening_name *n = IL_NEW(w->arena, il_widening_name);
    if (!n) {
        return il_widening_no_memory(w);
    }
    il_buf_init(&text, w->arena, 1024);
    il_buf_put(&text, a);
    il_buf_puts(&text, between);
    il_buf_put(&text, b);
    *n = (il_widening_name){.kind = kind};
    **at = n;
    *at = &n->next;
    return il_buf_done(&text, &n->text, w->err);
}

static bool widening_has_value(const il_domain *d, il_str name) {
    for (uint32_t i = 0; i < d->size; i++) {
        if (il_str_eq(d->names[i], name)) {
            return true;
        }
    }
    return false;
}

static il_status widening_only_fields(il_widening_work *w, il_widening_name ***at, const il_action_def *a, const il_model *other,
                                      uint32_t action) {
    for (uint32_t f = 0; f < a->nfields; f++) {
        const uint32_t field = il_model_field(other, action, a->fields[f]);
        if (field == UINT32_MAX) {
            IL_TRY(widening_name(w, at, "field", a->name, ".", a->fields[f]));
            continue;
        }
        const il_domain *d = &a->field_domains[f];
        for (uint32_t i = 0; i < d->size; i++) {
            if (!widening_has_value(&other->actions[action].field_domains[field], d->names[i])) {
                char path[160];
                il_str copy = {0};
                const size_t n = il_format(path, sizeof path, "%.*s.%.*s", IL_STR_ARG(a->name), IL_STR_ARG(a->fields[f]));
                IL_TRY(il_arena_copy(w->arena, (il_str){path, n}, &copy, w->err));
                IL_TRY(widening_name(w, at, "value", copy, "=", d->names[i]));
            }
        }
    }
    return IL_OK;
}

static il_status widening_only_of(il_widening_work *w, const il_model *m, const il_model *other, il_widening_name **list) {
    const il_str none = IL_STR("");
    il_widening_name **at = list;
    for (uint32_t v = 0; v < m->nvars; v++) {
        const uint32_t var = il_model_var(other, m->vars[v].name);
        if (var == UINT32_MAX) {
            IL_TRY(widening_name(w, &at, "variable", m->vars[v].name, "", none));
        }
        for (uint32_t i = 0; var != UINT32_MAX && i < m->vars[v].domain.size; i++) {
            if (!widening_has_value(&other->vars[var].domain, m->vars[v].domain.names[i])) {
                IL_TRY(widening_name(w, &at, "value", m->vars[v].name, "=", m->vars[v].domain.names[i]));
            }
        }
    }
    for (uint32_t a = 0; a < m->nactions; a++) {
        const uint32_t action = il_model_action(other, m->actions[a].name);
        if (action == UINT32_MAX) {
            IL_TRY(widening_name(w, &at, "action", m->actions[a].name, "", none));
        } else {
            IL_TRY(widening_only_fields(w, &at, &m->actions[a], other, action));
        }
    }
    for (uint32_t i = 0; i < m->nrules; i++) {
        if (!il_counterpart_rule(other, m->rules[i].name)) {
            IL_TRY(widening_name(w, &at, "rule", m->rules[i].name, "", none));
        }
    }
    return IL_OK;
}

/* ---- the run ---------------------------------------------------------------------------------------- */

il_status il_widening_only(il_widening_work *w) {
    IL_TRY(widening_only_of(w, w->was, w->now, &w->out->only_old));
    return widening_only_of(w, w->now, w->was, &w->out->only_new);
}
