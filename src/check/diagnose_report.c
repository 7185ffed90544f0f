/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a diagnosis as an object. */
#include "check/diagnose.h"
#include "check/report.h"

typedef struct report {
    il_report base;
    const il_diagnose *g;
    const il_model *m;
} report;

/* Of the variables, those that are not seen; a ghost never is. */
static il_json *report_unseen(report *r) {
    uint64_t vars = 0;
    for (uint32_t v = 0; v < r->m->nvars; v++) {
        vars |= r->g->eye.sees >> v & 1 ? 0 : UINT64_C(1) << v;
    }
    return il_report_vars(&r->base, vars);
}

static il_json *report_sensor_names(report *r, uint32_t sensors) {
    il_json *list = il_report_list(&r->base);
    for (uint32_t i = 0; i < r->g->d.nsensors; i++) {
        if (sensors >> i & 1) {
            il_report_push(&r->base, list, il_report_str(&r->base, r->g->d.sensors[i].name));
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
        return il_report_null(&r->base);
    }
    il_buf_init(&b, r->base.arena, 1 << 16);
    uint32_t symbol = report_visible(r, s->x) ? s->x : s->y;
    if (report_visible(r, symbol)) {
        il_model_symbol_brief(r->m, symbol, &b); /* what it does to the projection follows from it */
        return il_report_buf(&r->base, &b);
    }
    report_changes(r, r->g->eye.sees, s->x_pre, s->x_post, &b);
    report_sensed(r, s->x_pre, s->x_post, &b);
    return il_report_buf(&r->base, &b);
}

/* What one run does: a step, a fault with what it writes, nothing (null). `other`: what the monitor sees and this run was refused. */
static il_json *report_does(report *r, uint32_t symbol, uint32_t fault, uint32_t other, uint64_t pre, uint64_t post) {
    il_buf b;
    il_buf_init(&b, r->base.arena, 1 << 16);
    if (symbol == IL_TWIN_WAITS) {
        if (!report_visible(r, other)) {
            return il_report_null(&r->base);
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
    return il_report_buf(&r->base, &b);
}

/* `loop`: the step is one of those that repeat for ever. */
static il_json *report_witness(report *r, const il_twin *t) {
    if (t->nsteps == 0) {
        return il_report_null(&r->base);
    }
    il_json *list = il_report_list(&r->base);
    for (uint32_t i = 0; i < t->nsteps; i++) {
        const il_twin_step *s = &t->steps[i];
        il_json *o = il_report_object(&r->base);
        il_report_set(&r->base, o, "seen", report_seen(r, s));
        il_report_set(&r->base, o, "with", report_does(r, s->x, s->x_fault, s->seen ? s->y : IL_NO_SYMBOL, s->x_pre, s->x_post));
        il_report_set(&r->base, o, "without",
                      report_does(r, s->y, s->y_fault, s->seen ? s->x : IL_NO_SYMBOL, s->y_pre, s->y_post));
        il_report_set(&r->base, o, "ambiguous", il_report_bool(&r->base, s->ambiguous));
        il_report_set(&r->base, o, "loop", il_report_bool(&r->base, i >= t->nsteps - t->loop));
        il_report_push(&r->base, list, o);
    }
    return list;
}

static il_json *report_state(report *r, uint64_t state) {
    il_json *o = il_report_object(&r->base);
    for (uint32_t v = 0; v < r->m->nvars; v++) {
        const il_var *var = &r->m->vars[v];
        r->base.failed = !il_json_set(o, var->name, il_report_str(&r->base, var->domain.names[il_model_get(r->m, state, v)])) ||
                         r->base.failed;
    }
    return o;
}

static il_json *report_pair(report *r, uint64_t x, uint64_t y) {
    il_json *o = il_report_object(&r->base);
    il_report_set(&r->base, o, "with", report_state(r, x));
    il_report_set(&r->base, o, "without", report_state(r, y));
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
    il_report_set(&r->base, o, "k", known ? il_report_number(&r->base, t->k) : il_report_null(&r->base));
    il_report_set(&r->base, o, "k_events", known ? il_report_number(&r->base, t->events) : il_report_null(&r->base));
}

static il_json *report_twin(report *r, const il_twin *t) {
    il_json *o = il_report_object(&r->base);
    il_report_set(&r->base, o, "states", il_report_number(&r->base, t->states));
    il_report_set(&r->base, o, "pairs", il_report_number(&r->base, t->pairs));
    il_report_set(&r->base, o, "edges", il_report_number(&r->base, t->edges));
    il_report_set(&r->base, o, "ambiguous", il_report_number(&r->base, t->ambiguous));
    il_report_set(&r->base, o, "word", il_report_word(&r->base, report_twin_word(t->word)));
    report_lengths(r, o, t);
    return o;
}

static il_json *report_now(report *r, const il_diagnose_line *l) {
    il_json *o = il_report_object(&r->base);
    il_report_set(&r->base, o, "word", il_report_word(&r->base, report_twin_word(l->now.word)));
    report_lengths(r, o, &l->now);
    return o;
}

static const char *report_control_word(il_control_state c) {
    switch (c) {
    case IL_CONTROL_NOT_RUN:
        return "not run";
    case IL_CONTROL_NOT_NEEDED:
        return "not needed";
    case IL_CONTROL_FAILED_AS_IT_MUST:
        return "as it must";
    case IL_CONTROL_BROKEN:
        return "BROKEN";
    }
    return "BROKEN";
}

/* What every line says, whatever it is about. */
static void report_check(report *r, il_json *o, const char *id, uint32_t region, il_check_verdict verdict, const char *finding) {
    il_report_set(&r->base, o, "id", il_report_word(&r->base, id));
    il_report_set(&r->base, o, "region", il_report_region(&r->base, region));
    il_report_set(&r->base, o, "verdict", il_report_word(&r->base, il_check_verdict_name(verdict)));
    il_report_set(&r->base, o, "finding", finding ? il_report_word(&r->base, finding) : il_report_null(&r->base));
}

/* `k=3 seen=2`, or nothing. */
static il_json *report_detail(report *r, const il_diagnose_line *l) {
    char text[64];
    size_t n = 0;
    if (l->twin.word == IL_TWIN_DIAGNOSABLE) {
        n = il_format(text, sizeof text, "k=%u seen=%u", (unsigned)l->twin.k, (unsigned)l->twin.events);
    }
    return il_report_copy(&r->base, text, n);
}

static il_json *report_line(report *r, const il_diagnose_line *l) {
    il_json *o = il_report_object(&r->base);
    il_json *advice = il_report_list(&r->base);
    il_json *controls = il_report_object(&r->base);
    for (uint32_t i = 0; i < l->nadvice; i++) {
        il_json *a = il_report_object(&r->base);
        il_json *add = il_report_list(&r->base);
        for (uint32_t k = 0; k < l->advice[i].n; k++) {
            il_report_push(&r->base, add, il_report_str(&r->base, il_candidate_name(r->m, l->advice[i].add[k])));
        }
        il_report_set(&r->base, a, "see", add);
        il_report_set(&r->base, a, "k", il_report_number(&r->base, l->advice[i].k));
        il_report_push(&r->base, advice, a);
    }
    il_report_set(&r->base, controls, "visible", il_report_word(&r->base, report_control_word(l->visible)));
    il_report_set(&r->base, controls, "closed", il_report_word(&r->base, report_control_word(l->closed)));
    report_check(r, o, "diagnosis", l->region, l->verdict, l->finding);
    il_report_set(&r->base, o, "detail", report_detail(r, l));
    il_report_set(&r->base, o, "witness", report_witness(r, &l->twin));
    il_report_set(&r->base, o, "pair", l->twin.nsteps ? report_pair(r, l->twin.x, l->twin.y) : il_report_null(&r->base));
    il_report_set(&r->base, o, "within", l->within ? il_report_number(&r->base, l->within) : il_report_null(&r->base));
    il_report_set(&r->base, o, "alarm_certain", il_report_bool(&r->base, l->certain));
    il_report_set(&r->base, o, "jumps", il_report_bool(&r->base, l->jumps));
    il_report_set(&r->base, o, "twin", report_twin(r, &l->twin));
    il_report_set(&r->base, o, "now", r->m->regions[l->region].edge ? il_report_null(&r->base) : report_now(r, l));
    il_report_set(&r->base, o, "advice", advice);
    il_report_set(&r->base, o, "advice_cut", il_report_bool(&r->base, l->advice_cut));
    il_report_set(&r->base, o, "controls", controls);
    return o;
}

static il_json *report_sensor(report *r, uint32_t i) {
    const il_sensor_line *s = &r->g->sensors[i];
    bool alarms = s->alarms > 0 || s->initially;
    il_json *o = il_report_object(&r->base);
    il_check_verdict verdict = alarms ? IL_CHECK_FAIL : r->g->benign_edges == 0 ? IL_CHECK_INCONCLUSIVE : IL_CHECK_PASS;
    report_check(r, o, "sensor", UINT32_MAX, verdict, alarms ? "FALSE_SENSOR" : NULL);
    il_report_set(&r->base, o, "detail", il_report_str(&r->base, r->g->d.sensors[i].name));
    il_report_set(&r->base, o, "witness", il_report_null(&r->base));
    il_report_set(&r->base, o, "in_place", il_report_bool(&r->base, s->in_place));
    il_report_set(&r->base, o, "false_alarms", il_report_number(&r->base, s->alarms));
    il_report_set(&r->base, o, "benign_edges", il_report_number(&r->base, r->g->benign_edges));
    il_report_set(&r->base, o, "initially", il_report_bool(&r->base, s->initially));
    return o;
}

static il_json *report_wormhole(report *r, const il_wormhole *h) {
    il_json *o = il_report_object(&r->base);
    il_buf b;
    il_buf_init(&b, r->base.arena, 1 << 16);
    il_buf_puts(&b, il_wormhole_id(h->kind));
    il_buf_putc(&b, '.');
    il_buf_putu(&b, h->number);
    il_report_set(&r->base, o, "id", il_report_buf(&r->base, &b));
    il_buf_init(&b, r->base.arena, 1 << 16);
    report_changes(r, UINT64_MAX, h->from, h->to, &b);
    il_report_set(&r->base, o, "writes", il_report_buf(&r->base, &b));
    il_report_set(&r->base, o, "from", report_state(r, h->from));
    il_buf_init(&b, r->base.arena, 1 << 16);
    if (h->symbol != IL_NO_SYMBOL) {
        il_model_symbol_brief(r->m, h->symbol, &b);
        il_buf_puts(&b, h->rejected ? " (refused)" : "");
    }
    il_report_set(&r->base, o, "announced", h->symbol == IL_NO_SYMBOL ? il_report_null(&r->base) : il_report_buf(&r->base, &b));
    il_buf_init(&b, r->base.arena, 1 << 16);
    if (h->effect != IL_NO_SYMBOL) {
        il_model_symbol_brief(r->m, h->effect, &b);
    }
    il_report_set(&r->base, o, "done", h->effect == IL_NO_SYMBOL ? il_report_null(&r->base) : il_report_buf(&r->base, &b));
    il_report_set(&r->base, o, "region", il_report_region(&r->base, h->region));
    il_report_set(&r->base, o, "orbits", il_report_number(&r->base, h->orbits));
    il_report_set(&r->base, o, "edges", il_report_number(&r->base, h->edges));
    il_report_set(&r->base, o, "result",
                  il_report_word(&r->base, h->diagnosed      ? "diagnosed"
                                           : h->bounded      ? "bounded"
                                           : h->undetectable ? "undetectable"
                                           : h->late         ? "late"
                                                             : "survives"));
    il_report_set(&r->base, o, "k", h->diagnosed || h->late ? il_report_number(&r->base, h->k) : il_report_null(&r->base));
    il_report_set(&r->base, o, "pair", h->diagnosed || h->bounded ? il_report_null(&r->base) : report_pair(r, h->x, h->y));
    il_report_set(&r->base, o, "best",
                  h->advised ? il_report_str(&r->base, il_candidate_name(r->m, h->best)) : il_report_null(&r->base));
    il_report_set(&r->base, o, "best_k", h->advised ? il_report_number(&r->base, h->best_k) : il_report_null(&r->base));
    return o;
}

static il_json *report_wormholes(report *r) {
    const il_wormholes *w = &r->g->wormholes;
    il_json *o = il_report_object(&r->base);
    il_json *list = il_report_list(&r->base);
    for (uint32_t i = 0; i < w->n; i++) {
        il_report_push(&r->base, list, report_wormhole(r, &w->list[i]));
    }
    il_buf b;
    il_buf_init(&b, r->base.arena, 64);
    il_buf_putu(&b, w->diagnosed);
    il_buf_putc(&b, '/');
    il_buf_putu(&b, w->n);
    report_check(r, o, "wormholes", UINT32_MAX,
                 w->bound_hit || w->bounded ? IL_CHECK_INCONCLUSIVE
                 : w->n == 0                ? IL_CHECK_VACUOUS
                                            : IL_CHECK_PASS,
                 w->bound_hit || w->bounded ? "BOUNDED"
                 : w->n == 0                ? "NO_WORMHOLES"
                 : w->dropped               ? "SAMPLED"
                                            : "GRADED");
    il_report_set(&r->base, o, "detail", il_report_buf(&r->base, &b));
    il_report_set(&r->base, o, "witness", il_report_null(&r->base));
    il_report_set(&r->base, o, "diagnosed", il_report_number(&r->base, w->diagnosed));
    il_report_set(&r->base, o, "graded", il_report_number(&r->base, w->n));
    il_report_set(&r->base, o, "distinct", il_report_number(&r->base, w->distinct));
    il_report_set(&r->base, o, "orbits", il_report_number(&r->base, w->orbits));
    il_report_set(&r->base, o, "dropped", il_report_number(&r->base, w->dropped));
    il_report_set(&r->base, o, "seed", il_report_number(&r->base, w->seed));
    il_report_set(&r->base, o, "undetectable", il_report_number(&r->base, w->undetectable));
    il_report_set(&r->base, o, "bounded", il_report_number(&r->base, w->bounded));
    il_report_set(&r->base, o, "bound_hit", il_report_bool(&r->base, w->bound_hit));
    il_report_set(&r->base, o, "mutants", list);
    return o;
}

il_status il_diagnose_object(const il_diagnose *g, il_arena *arena, il_json **out, il_error *err) {
    report r = {.base = {.arena = arena, .m = g->m}, .g = g, .m = g->m};
    il_json *o = il_report_object(&r.base);
    il_json *checks = il_report_list(&r.base);
    il_json *spare = il_report_list(&r.base);
    il_json *faults = il_report_list(&r.base);
    il_json *not_asked = il_report_list(&r.base);
    il_json *machine = il_report_object(&r.base);
    il_report_set(&r.base, machine, "name", il_report_str(&r.base, g->m->name));
    il_report_set(&r.base, machine, "digest", il_report_digest(&r.base, g->m->digest));
    for (uint32_t i = 0; i < g->nlines; i++) {
        il_report_push(&r.base, checks, report_line(&r, &g->lines[i]));
    }
    for (uint32_t i = 0; i < g->d.nsensors; i++) {
        il_report_push(&r.base, g->sensors[i].in_place ? checks : spare, report_sensor(&r, i));
    }
    il_report_push(&r.base, checks, report_wormholes(&r));
    for (uint32_t i = 0; i < g->m->nregions; i++) {
        if (g->not_asked >> i & 1) {
            il_report_push(&r.base, not_asked, il_report_region(&r.base, i));
        }
    }
    for (uint32_t i = 0; i < g->d.nsilent; i++) {
        il_report_push(&r.base, faults, il_report_str(&r.base, g->d.silent[i].name));
    }
    il_report_set(&r.base, o, "machine", machine);
    il_report_set(&r.base, o, "declared", il_report_bool(&r.base, g->declared));
    il_report_set(&r.base, o, "sees", il_report_vars(&r.base, g->eye.sees));
    il_report_set(&r.base, o, "unseen", report_unseen(&r));
    il_report_set(&r.base, o, "verdicts", il_report_bool(&r.base, g->eye.verdicts));
    il_report_set(&r.base, o, "uses", report_sensor_names(&r, g->eye.uses));
    il_report_set(&r.base, o, "faults", faults);
    il_report_set(&r.base, o, "checks", checks);
    il_report_set(&r.base, o, "spare_sensors", spare);
    il_report_set(&r.base, o, "not_asked", not_asked);
    il_report_set(&r.base, o, "benign_states", il_report_number(&r.base, g->benign_states));
    il_report_set(&r.base, o, "benign_edges", il_report_number(&r.base, g->benign_edges));
    il_report_set(&r.base, o, "bounded", il_report_bool(&r.base, g->bounded));
    il_report_set(&r.base, o, "exit", il_report_number(&r.base, (uint64_t)g->exit));
    if (r.base.failed) {
        return il_arena_fail(arena, err);
    }
    *out = o;
    return IL_OK;
}
