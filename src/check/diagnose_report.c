/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a diagnosis as an object. */
#include "base/error.h"
#include "check/diagnose.h"

typedef struct report {
    il_arena *arena;
    const il_diagnose *g;
    const il_model *m;
    bool failed; /* some builder had no memory; looked at once, at the end */
} report;

static void report_set(report *r, il_json *o, const char *key, il_json *v) {
    r->failed = !il_json_set(o, il_str_of(key), v) || r->failed;
}
static void report_push(report *r, il_json *list, il_json *v) { r->failed = !il_json_push(list, v) || r->failed; }
static il_json *report_object(report *r) { return il_json_make(r->arena, IL_JSON_OBJECT); }
static il_json *report_list(report *r) { return il_json_make(r->arena, IL_JSON_ARRAY); }
static il_json *report_null(report *r) { return il_json_make(r->arena, IL_JSON_NULL); }
static il_json *report_str(report *r, il_str s) { return il_json_string(r->arena, s); }
static il_json *report_word(report *r, const char *z) { return il_json_string(r->arena, il_str_of(z)); }
static il_json *report_number(report *r, uint64_t v) { return il_json_number(r->arena, (int64_t)v); }
static il_json *report_bool(report *r, bool v) { return il_json_boolean(r->arena, v); }

static il_json *report_buf(report *r, il_buf *b) {
    il_str s = {0};
    r->failed = il_buf_done(b, &s, NULL) != IL_OK || r->failed;
    return report_str(r, s);
}

static il_json *report_vars(report *r, uint64_t vars, bool without) {
    il_json *list = report_list(r);
    for (uint32_t v = 0; v < r->m->nvars; v++) {
        if ((vars >> v & 1) != without && !(without && r->m->vars[v].ghost)) {
            report_push(r, list, report_str(r, r->m->vars[v].name));
        }
    }
    return list;
}

static il_json *report_sensor_names(report *r, uint32_t sensors) {
    il_json *list = report_list(r);
    for (uint32_t i = 0; i < r->g->d.nsensors; i++) {
        if (sensors >> i & 1) {
            report_push(r, list, report_str(r, r->g->d.sensors[i].name));
        }
    }
    return list;
}

static void report_assign(il_buf *b, il_str name, il_str value) {
    il_buf_puts(b, b->n > 0 ? " " : "");
    il_buf_put(b, name);
    il_buf_puts(b, ":=");
    il_buf_put(b, value);
}

/* `egress:=true downloaded:=true`: of the variables in `vars`, those that change. */
static void report_changes(report *r, uint64_t vars, uint64_t pre, uint64_t post, il_buf *b) {
    for (uint32_t v = 0; v < r->m->nvars; v++) {
        uint32_t value = il_model_get(r->m, post, v);
        if ((vars >> v & 1) && il_model_get(r->m, pre, v) != value) {
            report_assign(b, r->m->vars[v].name, r->m->vars[v].domain.names[value]);
        }
    }
}

static void report_sensed(report *r, uint64_t pre, uint64_t post, il_buf *b) {
    for (uint32_t i = 0; i < r->g->d.nsensors; i++) {
        uint32_t one = r->g->eye.uses & UINT32_C(1) << i;
        uint64_t after = one ? il_diagnosis_view(r->m, 0, one, post) : 0;
        if (one && il_diagnosis_view(r->m, 0, one, pre) != after) {
            report_assign(b, r->g->d.sensors[i].name, after ? IL_STR("true") : IL_STR("false"));
        }
    }
}

static bool report_visible(const report *r, uint32_t symbol) {
    return symbol < r->m->nsymbols && !r->m->actions[r->m->symbol_action[symbol]].hidden;
}

/* What the monitor sees of a step; null for nothing. */
static il_json *report_seen(report *r, const il_twin_step *s) {
    il_buf b;
    if (!s->seen) {
        return report_null(r);
    }
    il_buf_init(&b, r->arena, 1 << 16);
    uint32_t symbol = report_visible(r, s->x) ? s->x : s->y;
    if (report_visible(r, symbol)) {
        il_model_symbol_brief(r->m, symbol, &b);
    }
    report_changes(r, r->g->eye.sees, s->x_pre, s->x_post, &b);
    report_sensed(r, s->x_pre, s->x_post, &b);
    return report_buf(r, &b);
}

/* What one run does: a step, a fault with what it writes, nothing (null). `other`: what the monitor sees and this run was refused. */
static il_json *report_does(report *r, uint32_t symbol, uint32_t fault, uint32_t other, uint64_t pre, uint64_t post) {
    il_buf b;
    il_buf_init(&b, r->arena, 1 << 16);
    if (symbol == IL_TWIN_WAITS) {
        if (!report_visible(r, other)) {
            return report_null(r);
        }
        il_model_symbol_brief(r->m, other, &b);
        il_buf_puts(&b, " (refused)");
    } else if (symbol == IL_NO_SYMBOL) {
        il_buf_puts(&b, fault == IL_PLANT_JUMP ? "jump" : "fault ");
        if (fault != IL_PLANT_JUMP) {
            il_buf_put(&b, r->g->d.silent[fault].name);
        }
        report_changes(r, UINT64_MAX, pre, post, &b);
    } else {
        il_model_symbol_brief(r->m, symbol, &b);
    }
    return report_buf(r, &b);
}

static il_json *report_steps(report *r, const il_twin *t, uint32_t from, uint32_t to) {
    il_json *list = report_list(r);
    for (uint32_t i = from; i < to; i++) {
        const il_twin_step *s = &t->steps[i];
        il_json *o = report_object(r);
        report_set(r, o, "seen", report_seen(r, s));
        report_set(r, o, "with", report_does(r, s->x, s->x_fault, s->seen ? s->y : IL_NO_SYMBOL, s->x_pre, s->x_post));
        report_set(r, o, "without", report_does(r, s->y, s->y_fault, s->seen ? s->x : IL_NO_SYMBOL, s->y_pre, s->y_post));
        report_set(r, o, "ambiguous", report_bool(r, s->ambiguous));
        report_push(r, list, o);
    }
    return list;
}

static il_json *report_state(report *r, uint64_t state) {
    il_json *o = report_object(r);
    for (uint32_t v = 0; v < r->m->nvars; v++) {
        const il_var *var = &r->m->vars[v];
        r->failed = !il_json_set(o, var->name, report_str(r, var->domain.names[il_model_get(r->m, state, v)])) || r->failed;
    }
    return o;
}

static il_json *report_pair(report *r, uint64_t x, uint64_t y) {
    il_json *o = report_object(r);
    report_set(r, o, "with", report_state(r, x));
    report_set(r, o, "without", report_state(r, y));
    return o;
}

static const char *report_twin_word(il_twin_word w) {
    switch (w) {
    case IL_TWIN_BOUNDED:
        return "BOUNDED";
    case IL_TWIN_UNENTERED:
        return "NOT_ENTERED";
    case IL_TWIN_DIAGNOSABLE:
        return "DIAGNOSABLE";
    case IL_TWIN_BLIND:
        return "BLIND";
    }
    return "BOUNDED";
}

static void report_lengths(report *r, il_json *o, const il_twin *t) {
    bool known = t->word == IL_TWIN_DIAGNOSABLE;
    report_set(r, o, "k", known ? report_number(r, t->k) : report_null(r));
    report_set(r, o, "k_events", known && t->events != UINT32_MAX ? report_number(r, t->events) : report_null(r));
}

static il_json *report_twin(report *r, const il_twin *t) {
    il_json *o = report_object(r);
    report_set(r, o, "states", report_number(r, t->states));
    report_set(r, o, "pairs", report_number(r, t->pairs));
    report_set(r, o, "edges", report_number(r, t->edges));
    report_set(r, o, "ambiguous", report_number(r, t->ambiguous));
    report_set(r, o, "word", report_word(r, report_twin_word(t->word)));
    report_lengths(r, o, t);
    if (t->nsteps == 0) {
        report_set(r, o, "witness", report_null(r));
        return o;
    }
    il_json *w = report_object(r);
    report_set(r, w, "steps", report_steps(r, t, 0, t->nsteps - t->loop));
    report_set(r, w, "loop", report_steps(r, t, t->nsteps - t->loop, t->nsteps));
    report_set(r, w, "pair", report_pair(r, t->x, t->y));
    report_set(r, o, "witness", w);
    return o;
}

static il_json *report_now(report *r, const il_diagnose_line *l) {
    il_json *o = report_object(r);
    report_set(r, o, "word", report_word(r, report_twin_word(l->now.word)));
    report_lengths(r, o, &l->now);
    return o;
}

static const char *report_control_word(il_control_state c) {
    switch (c) {
    case IL_CONTROL_NOT_RUN:
        return "not run";
    case IL_CONTROL_FAILED_AS_IT_MUST:
        return "as it must";
    case IL_CONTROL_BROKEN:
        return "BROKEN";
    }
    return "BROKEN";
}

static il_json *report_line(report *r, const il_diagnose_line *l) {
    il_json *o = report_object(r);
    il_json *advice = report_list(r);
    il_json *controls = report_object(r);
    for (uint32_t i = 0; i < l->nadvice; i++) {
        il_json *a = report_object(r);
        il_json *add = report_list(r);
        for (uint32_t k = 0; k < l->advice[i].n; k++) {
            report_push(r, add, report_str(r, il_candidate_name(r->m, l->advice[i].add[k])));
        }
        report_set(r, a, "see", add);
        report_set(r, a, "k", report_number(r, l->advice[i].k));
        report_push(r, advice, a);
    }
    report_set(r, controls, "visible", report_word(r, report_control_word(l->visible)));
    report_set(r, controls, "closed", report_word(r, report_control_word(l->closed)));
    report_set(r, o, "region", report_str(r, r->m->regions[l->region].name));
    report_set(r, o, "verdict", report_word(r, il_check_verdict_name(l->verdict)));
    report_set(r, o, "finding", report_word(r, l->finding));
    report_set(r, o, "within", l->within ? report_number(r, l->within) : report_null(r));
    report_set(r, o, "alarm_certain", report_bool(r, l->certain));
    report_set(r, o, "jumps", report_bool(r, l->jumps));
    report_set(r, o, "twin", report_twin(r, &l->twin));
    report_set(r, o, "now", r->m->regions[l->region].edge ? report_null(r) : report_now(r, l));
    report_set(r, o, "advice", advice);
    report_set(r, o, "advice_cut", report_bool(r, l->advice_cut));
    report_set(r, o, "controls", controls);
    return o;
}

static il_json *report_sensors(report *r) {
    il_json *list = report_list(r);
    for (uint32_t i = 0; i < r->g->d.nsensors; i++) {
        const il_sensor_line *s = &r->g->sensors[i];
        bool alarms = s->alarms > 0 || s->initially;
        il_json *o = report_object(r);
        report_set(r, o, "sensor", report_str(r, r->g->d.sensors[i].name));
        report_set(r, o, "in_place", report_bool(r, s->in_place));
        report_set(r, o, "false_alarms", report_number(r, s->alarms));
        report_set(r, o, "initially", report_bool(r, s->initially));
        report_set(r, o, "finding", alarms ? report_word(r, "FALSE_SENSOR") : report_null(r));
        report_push(r, list, o);
    }
    return list;
}

static il_json *report_wormhole(report *r, const il_wormhole *h) {
    il_json *o = report_object(r);
    il_buf b;
    il_buf_init(&b, r->arena, 1 << 16);
    il_buf_puts(&b, il_wormhole_id(h->kind));
    il_buf_putc(&b, '.');
    il_buf_putu(&b, h->number);
    report_set(r, o, "id", report_buf(r, &b));
    il_buf_init(&b, r->arena, 1 << 16);
    report_changes(r, UINT64_MAX, h->from, h->to, &b);
    report_set(r, o, "writes", report_buf(r, &b));
    il_buf_init(&b, r->arena, 1 << 16);
    if (h->symbol != IL_NO_SYMBOL) {
        il_model_symbol_brief(r->m, h->symbol, &b);
        il_buf_puts(&b, h->rejected ? " (refused)" : "");
    }
    report_set(r, o, "announced", h->symbol == IL_NO_SYMBOL ? report_null(r) : report_buf(r, &b));
    il_buf_init(&b, r->arena, 1 << 16);
    if (h->effect != IL_NO_SYMBOL) {
        il_model_symbol_brief(r->m, h->effect, &b);
    }
    report_set(r, o, "done", h->effect == IL_NO_SYMBOL ? report_null(r) : report_buf(r, &b));
    report_set(r, o, "region", report_str(r, r->m->regions[h->region].name));
    report_set(r, o, "orbits", report_number(r, h->orbits));
    report_set(r, o, "edges", report_number(r, h->edges));
    report_set(r, o, "result",
               report_word(r, h->diagnosed      ? "diagnosed"
                              : h->bounded      ? "bounded"
                              : h->undetectable ? "undetectable"
                              : h->late         ? "late"
                                                : "survives"));
    report_set(r, o, "k", h->diagnosed || h->late ? report_number(r, h->k) : report_null(r));
    report_set(r, o, "pair", h->diagnosed || h->bounded ? report_null(r) : report_pair(r, h->x, h->y));
    report_set(r, o, "best", h->advised ? report_str(r, il_candidate_name(r->m, h->best)) : report_null(r));
    report_set(r, o, "best_k", h->advised ? report_number(r, h->best_k) : report_null(r));
    return o;
}

static il_json *report_wormholes(report *r) {
    const il_wormholes *w = &r->g->wormholes;
    il_json *o = report_object(r);
    il_json *list = report_list(r);
    for (uint32_t i = 0; i < w->n; i++) {
        report_push(r, list, report_wormhole(r, &w->list[i]));
    }
    report_set(r, o, "word", report_word(r, w->n == 0 ? "NO_WORMHOLES" : w->dropped ? "SAMPLED" : "EXHAUSTIVE"));
    report_set(r, o, "diagnosed", report_number(r, w->diagnosed));
    report_set(r, o, "graded", report_number(r, w->n));
    report_set(r, o, "distinct", report_number(r, w->distinct));
    report_set(r, o, "orbits", report_number(r, w->orbits));
    report_set(r, o, "dropped", report_number(r, w->dropped));
    report_set(r, o, "seed", report_number(r, w->seed));
    report_set(r, o, "undetectable", report_number(r, w->undetectable));
    report_set(r, o, "bounded", report_number(r, w->bounded));
    report_set(r, o, "bound_hit", report_bool(r, w->bound_hit));
    report_set(r, o, "mutants", list);
    return o;
}

il_status il_diagnose_object(const il_diagnose *g, il_arena *arena, il_json **out, il_error *err) {
    report r = {.arena = arena, .g = g, .m = g->m};
    il_json *o = report_object(&r);
    il_json *regions = report_list(&r);
    il_json *faults = report_list(&r);
    il_json *machine = report_object(&r);
    char digest[IL_DIGEST_HEX];
    il_str hex = {0};
    il_digest_hex(g->m->digest, digest);
    r.failed = il_arena_copy(arena, (il_str){digest, IL_DIGEST_HEX - 1}, &hex, NULL) != IL_OK;
    report_set(&r, machine, "name", report_str(&r, g->m->name));
    report_set(&r, machine, "digest", report_str(&r, hex));
    for (uint32_t i = 0; i < g->nlines; i++) {
        report_push(&r, regions, report_line(&r, &g->lines[i]));
    }
    for (uint32_t i = 0; i < g->d.nsilent; i++) {
        report_push(&r, faults, report_str(&r, g->d.silent[i].name));
    }
    report_set(&r, o, "machine", machine);
    report_set(&r, o, "declared", report_bool(&r, g->declared));
    report_set(&r, o, "sees", report_vars(&r, g->eye.sees, false));
    report_set(&r, o, "unseen", report_vars(&r, g->eye.sees, true));
    report_set(&r, o, "verdicts", report_bool(&r, g->eye.verdicts));
    report_set(&r, o, "uses", report_sensor_names(&r, g->eye.uses));
    report_set(&r, o, "faults", faults);
    report_set(&r, o, "regions", regions);
    report_set(&r, o, "sensors", report_sensors(&r));
    report_set(&r, o, "benign_states", report_number(&r, g->benign_states));
    report_set(&r, o, "benign_edges", report_number(&r, g->benign_edges));
    report_set(&r, o, "wormholes", report_wormholes(&r));
    report_set(&r, o, "bounded", report_bool(&r, g->bounded));
    report_set(&r, o, "exit", report_number(&r, (uint64_t)g->exit));
    if (r.failed) {
        return il_arena_fail(arena, err);
    }
    *out = o;
    return IL_OK;
}
