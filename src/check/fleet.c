/* SPDX-License-Identifier: Apache-2.0 */
/* Several sessions together: the run, and the lines about what it found. */
#include "base/error.h"
#include "check/fleet_part.h"

/* ---- the report ---- */

typedef struct fleet_report {
    il_fleet_work *t;
    const il_space *s;
    il_arena *arena;
    il_fleet_check *out;
} fleet_report;

static il_status fleet_line(fleet_report *r, const char *id, il_str name, const il_space_hit *hit, const char *finding,
                            bool exercised, il_error *err) {
    il_fleet_line *l = &r->out->lines[r->out->nlines++];
    *l = (il_fleet_line){.id = id, .name = name};
    if (hit->found) {
        l->verdict = IL_CHECK_FAIL;
        l->finding = finding;
        return il_fleet_witness(r->t, r->s, hit, r->arena, l, err);
    }
    l->verdict = r->out->bound ? IL_CHECK_INCONCLUSIVE : exercised ? IL_CHECK_PASS : IL_CHECK_VACUOUS;
    return IL_OK;
}

static il_status fleet_invariant_line(fleet_report *r, uint32_t i, il_error *err) {
    const il_fleet_invariant *v = &r->t->f->invariants[i];
    const uint32_t peak = r->t->peak[i];
    const bool exercised = v->kind == IL_FLEET_UNIQUE ? peak > 1 : peak > 0;
    IL_TRY(fleet_line(r, "fleet", v->name, &r->s->hits[i], "FLEET_EXCEEDED", exercised, err));
    il_fleet_line *l = &r->out->lines[r->out->nlines - 1];
    l->most = v->most;
    l->peak = peak;
    if (l->verdict == IL_CHECK_VACUOUS) {
        l->finding = "NEVER_COUNTED";
    }
    return IL_OK;
}

static il_status fleet_family_lines(fleet_report *r, il_error *err) {
    il_fleet_work *t = r->t;
    uint32_t bit = IL_FLEET_TOGETHER;
    for (uint32_t answer = 0; answer < 2; answer++) {
        const il_space_hit *hit = &r->s->hits[answer ? IL_FLEET_LOST_ANSWER : IL_FLEET_LOST_START];
        IL_TRY(fleet_line(r, answer ? "family-answer" : "family-start", (il_str){0}, hit, "EFFECT_LOST",
                          t->began[answer] && t->carried[answer], err));
        il_fleet_line *l = &r->out->lines[r->out->nlines - 1];
        if (hit->found) {
            l->detail = il_fleet_lost(t, r->s, hit);
        } else if (l->verdict == IL_CHECK_VACUOUS) {
            l->finding = "NOTHING_CARRIED";
        }
    }
    for (uint32_t k = 0; k < t->m->nregions; k++) {
        if (t->f->family->together >> k & 1) {
            IL_TRY(fleet_line(r, "family-together", t->m->regions[k].name, &r->s->hits[bit], "REACHED", t->began[0], err));
            bit++;
        }
    }
    return IL_OK;
}

static il_control_state fleet_control(const fleet_report *r, uint32_t bit, bool needed) {
    return r->s->hits[bit].found ? IL_CONTROL_FAILED_AS_IT_MUST
           : !needed             ? IL_CONTROL_NOT_NEEDED
           : r->out->bound       ? IL_CONTROL_NOT_RUN
                                 : IL_CONTROL_BROKEN;
}

static void fleet_controls(fleet_report *r) {
    const bool family = r->t->f->family != NULL;
    r->out->controls[0] = (il_control){.id = "fleet-all",
                                       .what = "an invariant that all instances together break must be reported",
                                       .state = fleet_control(r, IL_FLEET_ALL, true)};
    r->out->controls[1] = (il_control){.id = "family-lost",
                                       .what = "a join that changes nothing must lose what it carries",
                                       .state = fleet_control(r, IL_FLEET_WOULD_LOSE, family && r->t->carried[0])};
    for (size_t i = 0; i < 2; i++) {
        r->out->exit = r->out->controls[i].state == IL_CONTROL_BROKEN ? 4 : r->out->exit;
    }
}

static il_status fleet_lines(fleet_report *r, il_error *err) {
    il_fleet_check *out = r->out;
    const il_fleet *f = r->t->f;
    out->lines = IL_NEW_ARRAY(r->arena, il_fleet_line, (size_t)f->ninvariants + 3 + IL_FLEET_TOGETHER_MAX);
    if (!out->lines) {
        return il_arena_fail(r->arena, err);
    }
    for (uint32_t i = 0; i < f->ninvariants; i++) {
        IL_TRY(fleet_invariant_line(r, i, err));
    }
    if (f->family) {
        IL_TRY(fleet_family_lines(r, err));
    }
    if (r->s->fault.found) { /* a step that has no meaning: what lies behind it was not explored */
        IL_TRY(fleet_line(r, "fleet-fault", (il_str){0}, &r->s->fault, "FAULT", true, err));
    }
    for (uint32_t i = 0; i < out->nlines; i++) {
        const il_check_verdict v = out->lines[i].verdict;
        out->exit = v == IL_CHECK_FAIL ? 1 : v != IL_CHECK_PASS && out->exit == 0 ? 2 : out->exit;
    }
    fleet_controls(r);
    return IL_OK;
}

/* ---- the run ---- */

static void fleet_widths(il_fleet_work *t) {
    for (uint32_t v = 0; v < t->m->nvars; v++) {
        if (t->f->shared >> v & 1) {
            t->shared_bits += t->m->vars[v].bits;
            t->shared |= ((UINT64_C(1) << t->m->vars[v].bits) - 1) << t->m->vars[v].shift;
        }
    }
    t->local_bits = t->shared_bits < 64 ? (64 - t->shared_bits) / t->f->instances : 0;
    t->local_bits = t->local_bits > 24 ? 24 : t->local_bits;
}

static il_status fleet_explore(il_fleet_work *t, il_arena *arena, const il_space_bounds *bounds, il_fleet_check *out,
                               il_error *err) {
    il_space s = {0};
    il_space_bounds own = bounds ? *bounds : (il_space_bounds){0};
    own.workers = 1; /* numbers are given by one thread */
    il_fleet_joint j = {.shared = t->m->initial & t->shared};
    const uint32_t local = il_fleet_local(t, t->m->initial);
    for (uint32_t i = 0; i < t->f->instances; i++) {
        j.local[i] = i == 0 || !t->f->family ? local : 0;
    }
    fleet_report r = {.t = t, .s = &s, .arena = arena, .out = out};
    const il_space_def def = {.ctx = t,
                              .initial = il_fleet_pack(t, &j),
                              .nsymbols = t->f->instances * (t->m->nsymbols + 3),
                              .first_write = UINT32_MAX,
                              .expand = il_fleet_expand,
                              .state = il_fleet_judge,
                              .edge = t->f->family ? il_fleet_judge_edge : NULL};
    il_status status = IL_OK;
    if (local == 0) {
        out->bound = "width";
    } else {
        status = il_space_explore(&s, t->alloc, &def, &own, err);
        out->bound = t->wide ? "width" : s.bound_hit ? "limit" : NULL;
    }
    if (status == IL_OK && t->starved) {
        status = il_error_set(err, IL_E_MEMORY, "no memory for the states of a fleet");
    }
    out->states = s.n;
    out->edges = s.edges;
    out->depth = s.depth;
    out->local = t->locals.n;
    if (status == IL_OK) {
        status = fleet_lines(&r, err);
    }
    il_space_free(&s);
    return status;
}

il_status il_fleet_run(il_fleet_check *out, const il_alloc *alloc, il_arena *arena, const il_model *m,
                       const il_space_bounds *bounds, il_error *err) {
    *out = (il_fleet_check){.m = m};
    if (!m->fleet) {
        return il_error_set(err, IL_E_ARGUMENT, "this machine has no `fleet`");
    }
    il_fleet_work t = {.alloc = alloc, .m = m, .f = m->fleet};
    fleet_widths(&t);
    il_numbers_init(&t.states, alloc);
    il_numbers_init(&t.locals, alloc);
    il_status status = il_steps_new(alloc, m, &t.steps, err);
    if (status == IL_OK) {
        status = fleet_explore(&t, arena, bounds, out, err);
    }
    il_steps_free(t.steps);
    alloc->free(alloc->ctx, t.rows);
    alloc->free(alloc->ctx, t.edges);
    il_numbers_free(&t.states);
    il_numbers_free(&t.locals);
    return status;
}
