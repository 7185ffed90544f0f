/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet's result for the report. */
#include "check/fleet.h"
#include "check/maker.h"

static const char *fleet_kind(const il_fleet *f, const il_fleet_line *l) {
    for (uint32_t i = 0; i < f->ninvariants; i++) {
        if (il_str_eq(il_str_of(l->id), IL_STR("fleet")) && il_str_eq(f->invariants[i].name, l->name)) {
            switch (f->invariants[i].kind) {
            case IL_FLEET_COUNT:
                return "count";
            case IL_FLEET_DISTINCT:
                return "distinct";
            case IL_FLEET_UNIQUE:
                return "unique";
            }
        }
    }
    return NULL;
}

static const char *fleet_move(il_fleet_move move) {
    switch (move) {
    case IL_FLEET_STEP:
        return "step";
    case IL_FLEET_RENEW:
        return "renew";
    case IL_FLEET_SPAWN:
        return "start";
    case IL_FLEET_ANSWER:
        return "answer";
    }
    return NULL;
}

static il_json *fleet_witness_object(il_maker *k, const il_model *m, const il_fleet_line *l) {
    il_json *list = il_maker_list(k);
    for (uint32_t i = 0; i < l->nsteps; i++) {
        const il_fleet_step *s = &l->steps[i];
        il_json *o = il_maker_object(k);
        il_maker_set(k, o, "seq", il_maker_number(k, i + 1));
        il_maker_set(k, o, "instance", il_maker_number(k, s->instance));
        il_maker_set(k, o, "move", il_maker_word(k, fleet_move(s->move)));
        il_maker_set(k, o, "symbol", il_maker_symbol(k, m, s->symbol));
        il_maker_set(k, o, "post", il_maker_state(k, s->post));
        il_maker_push(k, list, o);
    }
    return list;
}

/* How the witness leaves each instance. */
static il_json *fleet_instances_object(il_maker *k, const il_model *m, const il_fleet_line *l) {
    il_json *list = il_maker_list(k);
    for (uint32_t i = 0; i < l->ninstances; i++) {
        il_json *o = il_maker_object(k);
        il_maker_set(k, o, "instance", il_maker_number(k, i + 1));
        il_maker_set(k, o, "values", il_maker_values(k, m, l->states[i]));
        il_maker_push(k, list, o);
    }
    return list;
}

static il_json *fleet_line_object(il_maker *k, const il_fleet_check *c, const il_fleet_line *l) {
    const il_fleet *f = c->m->fleet;
    const char *kind = fleet_kind(f, l);
    il_json *o = il_maker_object(k);
    il_maker_set(k, o, "id", il_maker_word(k, l->id));
    il_maker_set(k, o, "name", il_maker_text(k, l->name));
    il_maker_set(k, o, "verdict", il_maker_word(k, il_check_verdict_name(l->verdict)));
    il_maker_set(k, o, "finding", il_maker_word(k, l->finding));
    il_maker_set(k, o, "detail", il_maker_text(k, l->detail));
    if (kind) {
        il_maker_set(k, o, "kind", il_maker_word(k, kind));
        il_maker_set(k, o, "most", il_maker_number(k, l->most));
        il_maker_set(k, o, "peak", il_maker_number(k, l->peak));
    }
    il_maker_set(k, o, "witness", l->steps ? fleet_witness_object(k, c->m, l) : il_maker_null(k));
    il_maker_set(k, o, "instances", l->steps ? fleet_instances_object(k, c->m, l) : il_maker_null(k));
    return o;
}

il_status il_fleet_object(const il_fleet_check *c, il_arena *arena, il_json **out, il_error *err) {
    il_maker k = {.arena = arena};
    const il_fleet *f = c->m->fleet;
    il_json *o = il_maker_object(&k);
    il_json *shared = il_maker_list(&k);
    il_json *lines = il_maker_list(&k);
    for (uint32_t v = 0; v < c->m->nvars; v++) {
        if (f->shared >> v & 1) {
            il_maker_push(&k, shared, il_maker_text(&k, c->m->vars[v].name));
        }
    }
    for (uint32_t i = 0; i < c->nlines; i++) {
        il_maker_push(&k, lines, fleet_line_object(&k, c, &c->lines[i]));
    }
    il_maker_set(&k, o, "instances", il_maker_number(&k, f->instances));
    il_maker_set(&k, o, "shared", shared);
    il_maker_set(&k, o, "family", il_maker_truth(&k, f->family != NULL));
    il_maker_set(&k, o, "states", il_maker_number(&k, c->states));
    il_maker_set(&k, o, "edges", il_maker_number(&k, c->edges));
    il_maker_set(&k, o, "depth", il_maker_number(&k, c->depth));
    il_maker_set(&k, o, "states_of_one", il_maker_number(&k, c->local));
    il_maker_set(&k, o, "bound_hit", il_maker_word(&k, c->bound));
    il_maker_set(&k, o, "checks", lines);
    il_maker_set(&k, o, "exit", il_maker_number(&k, (uint64_t)c->exit));
    *out = o;
    return il_maker_done(&k, err);
}
