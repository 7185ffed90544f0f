/* SPDX-License-Identifier: Apache-2.0 */
#include "check/diagnose.h"

#include "base/error.h"

il_eye il_diagnose_eye(const il_model *m) {
    il_diagnosis d = m->diagnosis ? *m->diagnosis : il_diagnosis_default(m);
    return (il_eye){.sees = d.sees, .uses = d.uses, .verdicts = d.verdicts};
}

bool il_diagnose_find(const il_model *m, il_str name, il_candidate *out) {
    uint32_t var = il_model_var(m, name);
    *out = (il_candidate){.index = var};
    if (var != UINT32_MAX) {
        return true;
    }
    for (uint32_t i = 0; m->diagnosis && i < m->diagnosis->nsensors; i++) {
        if (il_str_eq(m->diagnosis->sensors[i].name, name)) {
            *out = (il_candidate){.sensor = true, .index = i};
            return true;
        }
    }
    return false;
}

il_str il_candidate_name(const il_model *m, il_candidate c) {
    return c.sensor ? m->diagnosis->sensors[c.index].name : m->vars[c.index].name;
}

uint32_t il_eye_candidates(const il_model *m, const il_eye *eye, uint32_t liars, il_candidate *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; m->diagnosis && i < m->diagnosis->nsensors; i++) {
        if (((eye->uses | liars) >> i & 1) == 0) {
            out[n++] = (il_candidate){.sensor = true, .index = i};
        }
    }
    for (uint32_t v = 0; v < m->nvars; v++) {
        if ((eye->sees >> v & 1) == 0 && !m->vars[v].ghost && m->vars[v].bits > 0) {
            out[n++] = (il_candidate){.index = v};
        }
    }
    return n;
}

il_eye il_eye_with(const il_eye *eye, il_candidate c) {
    il_eye more = *eye;
    if (c.sensor) {
        more.uses |= UINT32_C(1) << c.index;
    } else {
        more.sees |= UINT64_C(1) << c.index;
    }
    return more;
}

typedef struct diagnose_run {
    il_diagnose *g;
    const il_alloc *alloc;
    il_arena *arena;
    const il_diagnose_ask *ask;
    const il_space_bounds *bounds;
} diagnose_run;

static const il_alarm *diagnose_alarm(const il_diagnose *g, uint32_t region) {
    for (uint32_t i = 0; i < g->d.nalarms; i++) {
        if (g->d.alarms[i].region == region) {
            return &g->d.alarms[i];
        }
    }
    return NULL;
}

static bool diagnose_good(const il_diagnose_line *l, const il_twin *t) {
    return t->word == IL_TWIN_DIAGNOSABLE && (l->within == 0 || t->k <= l->within);
}

static il_status diagnose_try(diagnose_run *r, const il_plant *p, il_diagnose_line *l, const il_eye *eye, il_advice advice,
                              bool *fixed, il_error *err) {
    il_twin t;
    il_twin_ask ask = {.region = l->region, .eye = *eye, .brief = true};
    IL_TRY(il_twin_run(p, &ask, r->bounds, r->arena, &t, err));
    *fixed = diagnose_good(l, &t);
    if (*fixed && l->certain) {
        il_twin now;
        ask.now = true;
        IL_TRY(il_twin_run(p, &ask, r->bounds, r->arena, &now, err));
        *fixed = now.word == IL_TWIN_DIAGNOSABLE || now.word == IL_TWIN_UNENTERED;
    }
    if (*fixed && l->nadvice < IL_ADVICE_MAX) {
        advice.k = t.k;
        l->advice[l->nadvice++] = advice;
    } else if (*fixed) {
        l->advice_cut = true;
    }
    return IL_OK;
}

/* Sensors that read true on runs without faults: advice to use one would be advice to cry wolf. */
static uint32_t diagnose_liars(const il_diagnose *g) {
    uint32_t liars = 0;
    for (uint32_t i = 0; i < g->d.nsensors; i++) {
        liars |= g->sensors[i].alarms > 0 || g->sensors[i].initially ? UINT32_C(1) << i : 0;
    }
    return liars;
}

/* Which single thing more would do; when none, which two. */
static il_status diagnose_advise(diagnose_run *r, const il_plant *p, il_diagnose_line *l, il_error *err) {
    il_candidate all[IL_CANDIDATES_MAX];
    uint32_t n = il_eye_candidates(r->g->m, &r->g->eye, diagnose_liars(r->g), all);
    bool fixed = false;
    for (uint32_t i = 0; i < n; i++) {
        il_eye eye = il_eye_with(&r->g->eye, all[i]);
        IL_TRY(diagnose_try(r, p, l, &eye, (il_advice){.n = 1, .add = {all[i]}}, &fixed, err));
    }
    uint32_t tried = 0;
    for (uint32_t i = 0; l->nadvice == 0 && i < n; i++) {
        for (uint32_t j = i + 1; j < n; j++) {
            il_eye one = il_eye_with(&r->g->eye, all[i]);
            il_eye eye = il_eye_with(&one, all[j]);
            if (tried++ == IL_ADVICE_PAIRS_TRIED) {
                l->advice_cut = true;
                return IL_OK;
            }
            IL_TRY(diagnose_try(r, p, l, &eye, (il_advice){.n = 2, .add = {all[i], all[j]}}, &fixed, err));
        }
    }
    return IL_OK;
}

/* Two that must come out as known: where whatever enters the region says so nobody is blind, and with closed eyes everybody is. */
static il_status diagnose_controls(diagnose_run *r, const il_plant *p, il_diagnose_line *l, il_error *err) {
    il_twin t;
    il_twin_ask ask = {.region = l->region, .eye = r->g->eye, .brief = true};
    ask.eye.announced = true;
    IL_TRY(il_twin_run(p, &ask, r->bounds, r->arena, &t, err));
    l->visible = t.word == IL_TWIN_BOUNDED                   ? IL_CONTROL_NOT_RUN
                 : t.word == IL_TWIN_DIAGNOSABLE && t.k == 0 ? IL_CONTROL_FAILED_AS_IT_MUST
                                                             : IL_CONTROL_BROKEN;
    ask.eye = (il_eye){.closed = true};
    IL_TRY(il_twin_run(p, &ask, r->bounds, r->arena, &t, err));
    l->closed = t.word == IL_TWIN_BOUNDED ? IL_CONTROL_NOT_RUN
                : t.word == IL_TWIN_BLIND ? IL_CONTROL_FAILED_AS_IT_MUST
                                          : IL_CONTROL_BROKEN;
    return IL_OK;
}

static void diagnose_judge(il_diagnose_line *l) {
    l->verdict = IL_CHECK_FAIL;
    switch (l->twin.word) {
    case IL_TWIN_BOUNDED:
        l->verdict = IL_CHECK_INCONCLUSIVE;
        l->finding = "BOUNDED";
        return;
    case IL_TWIN_UNENTERED:
        l->verdict = IL_CHECK_VACUOUS;
        l->finding = "NOT_ENTERED";
        return;
    case IL_TWIN_BLIND:
        l->finding = "BLIND";
        return;
    case IL_TWIN_DIAGNOSABLE:
        if (!diagnose_good(l, &l->twin)) {
            l->finding = "TOO_LATE";
        } else if (l->certain && l->now.word == IL_TWIN_BLIND) {
            l->finding = "NEVER_CERTAIN";
        } else if (l->certain && l->now.word == IL_TWIN_BOUNDED) {
            l->verdict = IL_CHECK_INCONCLUSIVE;
            l->finding = "BOUNDED";
        } else {
            l->verdict = IL_CHECK_PASS;
            l->finding = "DIAGNOSABLE";
        }
        return;
    }
}

static il_status diagnose_region_on(diagnose_run *r, const il_plant *p, il_diagnose_line *l, il_error *err) {
    il_twin_ask ask = {.region = l->region, .eye = r->g->eye};
    IL_TRY(il_twin_run(p, &ask, r->bounds, r->arena, &l->twin, err));
    if (!r->g->m->regions[l->region].edge && l->twin.word != IL_TWIN_UNENTERED) {
        ask.now = true;
        IL_TRY(il_twin_run(p, &ask, r->bounds, r->arena, &l->now, err));
    }
    diagnose_judge(l);
    if (l->twin.word != IL_TWIN_UNENTERED) {
        IL_TRY(diagnose_controls(r, p, l, err));
    }
    return l->verdict == IL_CHECK_FAIL ? diagnose_advise(r, p, l, err) : IL_OK;
}

static il_status diagnose_region(diagnose_run *r, uint32_t region, il_error *err) {
    il_diagnose *g = r->g;
    il_diagnose_line *l = &g->lines[g->nlines++];
    const il_alarm *alarm = diagnose_alarm(g, region);
    *l = (il_diagnose_line){.region = region, .jumps = g->d.nsilent == 0, .certain = alarm && alarm->certain};
    l->within = r->ask->within ? r->ask->within : alarm ? alarm->within : 0;
    il_jumps jumps = {0};
    l->bounded = g->bounded;
    if (l->jumps) {
        IL_TRY(il_jumps_of(g->m, region, r->arena, &jumps, err));
    }
    if (g->bounded) { /* with faults there is more to explore, not less */
        diagnose_judge(l);
        return IL_OK;
    }
    il_plant p = {0};
    il_status status = il_plant_build(&p, r->alloc, g->m, &g->d, l->jumps ? &jumps : NULL, r->bounds, err);
    if (status == IL_OK && (il_plant_bounded(&p) || jumps.too_many)) {
        l->twin.states = p.states.n;
        diagnose_judge(l); /* BOUNDED */
    } else if (status == IL_OK) {
        status = diagnose_region_on(r, &p, l, err);
    }
    l->bounded = l->twin.word == IL_TWIN_BOUNDED;
    il_plant_free(&p);
    return status;
}

/* Which sensors read true on runs without faults. */
static void diagnose_sensors(il_diagnose *g, const il_plant *p) {
    g->benign_states = p->states.n;
    g->benign_edges = p->nedges;
    for (uint32_t i = 0; i < g->d.nsensors; i++) {
        il_sensor_line *s = &g->sensors[i];
        s->in_place = g->eye.uses >> i & 1;
        s->initially = il_diagnosis_view(g->m, 0, UINT32_C(1) << i, g->m->initial) != 0;
        for (size_t e = 0; e < p->nedges; e++) {
            s->alarms += il_diagnosis_view(g->m, 0, UINT32_C(1) << i, il_plant_state(p, p->edges[e].to)) != 0;
        }
    }
}

static il_status diagnose_benign(diagnose_run *r, il_error *err) {
    il_plant p = {0};
    il_diagnosis none = {0};
    il_status status = il_plant_build(&p, r->alloc, r->g->m, &none, NULL, r->bounds, err);
    if (status == IL_OK && il_plant_bounded(&p)) {
        r->g->bounded = true;
    } else if (status == IL_OK) {
        diagnose_sensors(r->g, &p);
    }
    il_plant_free(&p);
    return status;
}

static il_status diagnose_grade(diagnose_run *r, il_error *err) {
    il_diagnose *g = r->g;
    il_wormhole_ask ask = {.eye = g->eye, .liars = diagnose_liars(g), .most = r->ask->wormholes, .seed = r->ask->seed};
    ask.most = ask.most ? ask.most : IL_WORMHOLES_DEFAULT;
    for (uint32_t i = 0; i < g->nlines; i++) {
        const il_region *region = &g->m->regions[g->lines[i].region];
        ask.within[g->lines[i].region] = g->lines[i].within;
        ask.regions |= !region->gated && !region->edge ? UINT64_C(1) << g->lines[i].region : 0;
    }
    if (g->benign_states == 0) {
        g->wormholes = (il_wormholes){.bound_hit = true, .seed = ask.seed};
        return IL_OK;
    }
    return il_wormholes_run(&g->wormholes, r->alloc, r->arena, g->m, &ask, r->bounds, err);
}

static int diagnose_exit(const il_diagnose *g) {
    bool failed = false;
    bool open = g->nlines == 0 || g->bounded || g->wormholes.n == 0 || g->wormholes.bounded > 0;
    for (uint32_t i = 0; i < g->nlines; i++) {
        const il_diagnose_line *l = &g->lines[i];
        if (l->visible == IL_CONTROL_BROKEN || l->closed == IL_CONTROL_BROKEN) {
            return 4;
        }
        failed = failed || l->verdict == IL_CHECK_FAIL;
        open = open || l->verdict != IL_CHECK_PASS || l->visible == IL_CONTROL_NOT_RUN || l->closed == IL_CONTROL_NOT_RUN;
    }
    for (uint32_t i = 0; i < g->d.nsensors; i++) {
        failed = failed || (g->sensors[i].in_place && (g->sensors[i].alarms > 0 || g->sensors[i].initially));
    }
    return failed ? 1 : open ? 2 : 0;
}

il_status il_diagnose_run(il_diagnose *g, const il_alloc *alloc, il_arena *arena, const il_model *m, const il_diagnose_ask *ask,
                          const il_space_bounds *bounds, il_error *err) {
    *g = (il_diagnose){.m = m, .eye = ask->eye, .declared = m->diagnosis != NULL};
    g->d = m->diagnosis ? *m->diagnosis : il_diagnosis_default(m);
    uint64_t spent = 0;
    il_space_bounds own = bounds ? *bounds : (il_space_bounds){0};
    own.spent = own.spent ? own.spent : &spent; /* one count for all that is asked */
    diagnose_run r = {.g = g, .alloc = alloc, .arena = arena, .ask = ask, .bounds = &own};
    IL_TRY(diagnose_benign(&r, err));
    for (uint32_t i = 0; i < m->nregions; i++) {
        const il_region *region = &m->regions[i];
        if (region->must || region->rejection || (region->edge && g->d.nsilent == 0)) {
            g->not_asked |= UINT64_C(1) << i;
        } else if (region->gated && !diagnose_alarm(g, i)) {
            g->not_asked |= UINT64_C(1) << i;
        } else {
            IL_TRY(diagnose_region(&r, i, err));
        }
    }
    IL_TRY(diagnose_grade(&r, err));
    g->bounded = g->bounded || g->wormholes.bound_hit;
    for (uint32_t i = 0; i < g->nlines; i++) {
        g->bounded = g->bounded || g->lines[i].bounded;
    }
    g->exit = diagnose_exit(g);
    return IL_OK;
}
