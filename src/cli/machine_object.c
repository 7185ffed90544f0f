/* SPDX-License-Identifier: Apache-2.0 */
/* interlock machine show --json */
#include "cli/machine_show.h"

static il_json *show_list(il_show *run, const il_str *names, uint32_t n) {
    il_json *list = il_json_make(&run->arena, IL_JSON_ARRAY);
    for (uint32_t i = 0; i < n; i++) {
        if (!il_json_push(list, il_json_string(&run->arena, names[i]))) {
            return NULL;
        }
    }
    return list;
}

static bool show_set_text(il_show *run, il_json *o, const char *key, il_str text) {
    return il_json_set(o, il_str_of(key), il_json_string(&run->arena, text));
}
static bool show_set_flag(il_show *run, il_json *o, const char *key, bool flag) {
    return il_json_set(o, il_str_of(key), il_json_boolean(&run->arena, flag));
}
static bool show_set_number(il_show *run, il_json *o, const char *key, uint64_t n) {
    il_json *v = n <= INT64_MAX ? il_json_number(&run->arena, (int64_t)n) : il_json_make(&run->arena, IL_JSON_NULL);
    return il_json_set(o, il_str_of(key), v);
}

static il_json *show_var_object(il_show *run, const il_var *v) {
    il_json *o = il_json_make(&run->arena, IL_JSON_OBJECT);
    bool done = show_set_text(run, o, "name", v->name) &&
                il_json_set(o, IL_STR("values"), show_list(run, v->domain.names, v->domain.size)) &&
                show_set_flag(run, o, "taint", v->taint) && show_set_flag(run, o, "sticky", v->sticky) &&
                show_set_flag(run, o, "ghost", v->ghost) && show_set_flag(run, o, "adversarial", v->adversary.writes);
    if (done && v->domain.kind == IL_DOMAIN_INT) {
        done = show_set_text(run, o, "overflow", il_str_of(il_show_overflow(v->domain.overflow)));
    }
    return done ? o : NULL;
}

static il_json *show_action_object(il_show *run, const il_action_def *a) {
    il_json *o = il_json_make(&run->arena, IL_JSON_OBJECT);
    il_json *fields = il_json_make(&run->arena, IL_JSON_OBJECT);
    il_json *reject = il_json_make(&run->arena, IL_JSON_ARRAY);
    il_json *next = il_json_make(&run->arena, IL_JSON_OBJECT);
    bool done = fields && reject && next;
    for (uint32_t f = 0; done && f < a->nfields; f++) {
        done = il_json_set(fields, a->fields[f], show_list(run, a->field_domains[f].names, a->field_domains[f].size));
    }
    for (uint32_t u = 0; done && u < a->nupdates; u++) {
        il_json *v = il_json_string(&run->arena, il_show_source(run, a->updates[u].value));
        done = il_json_set(next, run->m->vars[a->updates[u].var].name, v);
    }
    for (uint32_t c = 0; done && c < a->nclauses; c++) {
        il_json *x = il_json_make(&run->arena, IL_JSON_OBJECT);
        done = show_set_text(run, x, "as", run->m->rules[a->clauses[c].rule - 1].name) &&
               show_set_text(run, x, "if", il_show_source(run, a->clauses[c].guard)) && il_json_push(reject, x);
    }
    done = done && show_set_text(run, o, "name", a->name) &&
           show_set_text(run, o, "principal", il_str_of(il_principal_name(a->principal))) &&
           show_set_flag(run, o, "gate", a->gate) && show_set_flag(run, o, "corrective", a->corrective) &&
           show_set_flag(run, o, "lowers", a->lowers) && show_set_flag(run, o, "observable", !a->hidden) &&
           il_json_set(o, IL_STR("call"), fields) && il_json_set(o, IL_STR("next"), next) &&
           il_json_set(o, IL_STR("reject"), reject) && show_set_number(run, o, "symbols", a->nsymbols) &&
           show_set_number(run, o, "never_accepted", il_show_never(run, a));
    return done ? o : NULL;
}

static il_json *show_action_names(il_show *run, uint64_t actions) {
    il_json *list = il_json_make(&run->arena, IL_JSON_ARRAY);
    for (uint32_t a = 0; a < run->m->nactions; a++) {
        if ((actions >> a & 1) && !il_json_push(list, il_json_string(&run->arena, run->m->actions[a].name))) {
            return NULL;
        }
    }
    return list;
}

static il_json *show_region_object(il_show *run, const il_region *r) {
    il_json *o = il_json_make(&run->arena, IL_JSON_OBJECT);
    bool done = show_set_text(run, o, "name", r->name) && show_set_text(run, o, "kind", il_str_of(il_show_kind(r))) &&
                show_set_text(run, o, "expression", il_show_source(run, il_show_predicate(run->m, r)));
    if (done && r->edge) {
        done = il_json_set(o, IL_STR("edge"), show_action_names(run, r->actions));
    }
    if (done && r->gated) {
        done = il_json_set(o, IL_STR("by"), show_action_names(run, r->by));
    }
    return done ? o : NULL;
}

static il_json *show_rest_object(il_show *run) {
    const il_model *m = run->m;
    il_json *o = il_json_make(&run->arena, IL_JSON_OBJECT);
    il_json *rules = il_json_make(&run->arena, IL_JSON_ARRAY);
    il_json *naps = il_json_make(&run->arena, IL_JSON_ARRAY);
    bool done = rules && naps;
    for (uint32_t i = 0; done && i < m->nrules; i++) {
        il_json *x = il_json_make(&run->arena, IL_JSON_OBJECT);
        done = show_set_text(run, x, "name", m->rules[i].name) && show_set_flag(run, x, "releasable", m->rules[i].releasable) &&
               il_json_push(rules, x);
    }
    for (uint32_t i = 0; done && i < m->nnaps; i++) {
        il_json *x = il_json_make(&run->arena, IL_JSON_OBJECT);
        done = show_set_text(run, x, "do", il_show_nap_symbol(run, i)) &&
               show_set_text(run, x, "if", il_show_source(run, m->naps[i].when)) && il_json_push(naps, x);
    }
    return done && il_json_set(o, IL_STR("rules"), rules) && il_json_set(o, IL_STR("naps"), naps) ? o : NULL;
}

il_status il_show_object(il_show *run, il_json **out, il_error *err) {
    const il_model *m = run->m;
    const il_graph *g = &run->graph;
    il_json *o = show_rest_object(run);
    il_json *vars = il_json_make(&run->arena, IL_JSON_ARRAY);
    il_json *actions = il_json_make(&run->arena, IL_JSON_ARRAY);
    il_json *regions = il_json_make(&run->arena, IL_JSON_ARRAY);
    bool done = o && vars && actions && regions;
    for (uint32_t i = 0; done && i < m->nvars; i++) {
        done = il_json_push(vars, show_var_object(run, &m->vars[i]));
    }
    for (uint32_t i = 0; done && i < m->nactions; i++) {
        done = il_json_push(actions, show_action_object(run, &m->actions[i]));
    }
    for (uint32_t i = 0; done && i < m->nregions; i++) {
        done = il_json_push(regions, show_region_object(run, &m->regions[i]));
    }
    il_json *graph = g->drawn ? il_graph_object(g, &run->arena) : il_json_make(&run->arena, IL_JSON_NULL);
    done = done && show_set_text(run, o, "machine", m->name) && il_json_set(o, IL_STR("variables"), vars) &&
           il_json_set(o, IL_STR("actions"), actions) && il_json_set(o, IL_STR("regions"), regions) &&
           show_set_number(run, o, "bits", m->bits) && show_set_number(run, o, "symbols", m->nsymbols) &&
           show_set_number(run, o, "product", m->product) && show_set_number(run, o, "states", g->states) &&
           show_set_number(run, o, "edges", g->steps) && show_set_number(run, o, "depth", g->depth) &&
           show_set_number(run, o, "nap_bound", m->nap_bound) && show_set_flag(run, o, "bounded", g->bounded) &&
           il_json_set(o, IL_STR("graph"), graph);
    *out = o;
    return done ? IL_OK : il_arena_fail(&run->arena, err);
}
