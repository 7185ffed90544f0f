/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet's result for the report. */
#include "check/fleet.h"
#include "check/report.h"

static il_json *fleet_text(il_report *k, il_str s) { return s.n ? il_report_str(k, s) : il_report_null(k); }
static il_json *fleet_word(il_report *k, const char *z) { return z ? il_report_word(k, z) : il_report_null(k); }

static il_json *fleet_symbol(il_report *k, uint32_t symbol) {
    il_buf b;
    if (symbol == IL_NO_SYMBOL) {
        return il_report_null(k);
    }
    il_buf_init(&b, k->arena, 8192);
    il_model_symbol_brief(k->m, symbol, &b);
    return il_report_buf(k, &b);
}

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

static il_json *fleet_witness_object(il_report *k, const il_fleet_line *l) {
    il_json *list = il_report_list(k);
    for (uint32_t i = 0; i < l->nsteps; i++) {
        const il_fleet_step *s = &l->steps[i];
        il_json *o = il_report_object(k);
        il_report_set(k, o, "seq", il_report_number(k, i + 1));
        il_report_set(k, o, "instance", il_report_number(k, s->instance));
        il_report_set(k, o, "move", fleet_word(k, fleet_move(s->move)));
        il_report_set(k, o, "step", fleet_symbol(k, s->symbol));
        il_report_set(k, o, "held", il_report_state(k, s->post));
        il_report_push(k, list, o);
    }
    return list;
}

/* How the witness leaves each instance. */
static il_json *fleet_instances_object(il_report *k, const il_fleet_line *l) {
    il_json *list = il_report_list(k);
    for (uint32_t i = 0; i < l->ninstances; i++) {
        il_json *o = il_report_object(k);
        il_report_set(k, o, "instance", il_report_number(k, i + 1));
        il_report_set(k, o, "held", il_report_state(k, l->states[i]));
        il_report_push(k, list, o);
    }
    return list;
}

static il_json *fleet_line_object(il_report *k, const il_fleet_check *c, const il_fleet_line *l) {
    const il_fleet *f = c->m->fleet;
    const char *kind = fleet_kind(f, l);
    il_json *o = il_report_object(k);
    il_report_set(k, o, "id", fleet_word(k, l->id));
    il_report_set(k, o, "name", fleet_text(k, l->name));
    il_report_set(k, o, "verdict", fleet_word(k, il_check_verdict_name(l->verdict)));
    il_report_set(k, o, "finding", fleet_word(k, l->finding));
    il_report_set(k, o, "detail", fleet_text(k, l->detail));
    if (kind) {
        il_report_set(k, o, "kind", fleet_word(k, kind));
        il_report_set(k, o, "most", il_report_number(k, l->most));
        il_report_set(k, o, "peak", il_report_number(k, l->peak));
    }
    il_report_set(k, o, "witness", l->steps ? fleet_witness_object(k, l) : il_report_null(k));
    il_report_set(k, o, "instances", l->steps ? fleet_instances_object(k, l) : il_report_null(k));
    return o;
}

static il_json *fleet_controls_object(il_report *k, const il_fleet_check *c) {
    static const char *const states[] = {"not run", "failed as it must", "BROKEN", "not needed"};
    il_json *list = il_report_list(k);
    for (size_t i = 0; i < sizeof c->controls / sizeof c->controls[0]; i++) {
        il_json *o = il_report_object(k);
        il_report_set(k, o, "id", il_report_word(k, c->controls[i].id));
        il_report_set(k, o, "what", il_report_word(k, c->controls[i].what));
        il_report_set(k, o, "state", il_report_word(k, states[c->controls[i].state]));
        il_report_push(k, list, o);
    }
    return list;
}

il_status il_fleet_object(const il_fleet_check *c, il_arena *arena, il_json **out, il_error *err) {
    il_report k = {.arena = arena, .m = c->m};
    const il_fleet *f = c->m->fleet;
    il_json *o = il_report_object(&k);
    il_json *lines = il_report_list(&k);
    for (uint32_t i = 0; i < c->nlines; i++) {
        il_report_push(&k, lines, fleet_line_object(&k, c, &c->lines[i]));
    }
    il_report_set(&k, o, "instances", il_report_number(&k, f->instances));
    il_report_set(&k, o, "shared", il_report_vars(&k, f->shared));
    il_report_set(&k, o, "family", il_report_bool(&k, f->family != NULL));
    il_report_set(&k, o, "states", il_report_number(&k, c->states));
    il_report_set(&k, o, "edges", il_report_number(&k, c->edges));
    il_report_set(&k, o, "depth", il_report_number(&k, c->depth));
    il_report_set(&k, o, "states_of_one", il_report_number(&k, c->local));
    il_report_set(&k, o, "bound_hit", fleet_word(&k, c->bound));
    il_report_set(&k, o, "checks", lines);
    il_report_set(&k, o, "controls", fleet_controls_object(&k, c));
    il_report_set(&k, o, "exit", il_report_number(&k, (uint64_t)c->exit));
    *out = o;
    return k.failed ? il_arena_fail(arena, err) : IL_OK;
}
