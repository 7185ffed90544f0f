/* SPDX-License-Identifier: Apache-2.0 */
/* What all belief sets over a machine share: its plant, and what is seen of each state. */
#include "base/error.h"
#include "base/mem.h"
#include "check/belief_part.h"

il_estimator_options il_estimator_options_of(const il_model *m) {
    const il_diagnosis none = il_diagnosis_default(m), *d = m->diagnosis ? m->diagnosis : &none;
    return (il_estimator_options){.sees = d->sees, .uses = d->uses, .verdicts = d->verdicts, .faults = true};
}

bool il_estimator_sees(const il_estimator *p, uint32_t symbol) {
    return symbol < p->m->nsymbols && !p->m->actions[il_model_action_of(p->m, symbol)].hidden;
}

static il_status estimator_get(const il_estimator *p, size_t n, size_t size, void *out, il_error *err) {
    void *got = n > SIZE_MAX / size ? NULL : p->alloc->alloc(p->alloc->ctx, n * size);
    if (!got) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the states that a session may be in");
    }
    memset(got, 0, n * size);
    memcpy(out, &got, sizeof got);
    return IL_OK;
}

static il_status estimator_explore(il_estimator *p, const il_estimator_bounds *bounds, il_error *err) {
    const il_space_bounds limits = {.states = bounds->states ? bounds->states : IL_ESTIMATOR_STATES_MAX,
                                    .bytes = bounds->bytes ? bounds->bytes : IL_ESTIMATOR_BYTES_MAX};
    il_diagnosis d = p->m->diagnosis ? *p->m->diagnosis : il_diagnosis_default(p->m);
    d.nsilent = p->options.faults ? d.nsilent : 0;
    const il_status status = il_plant_build(&p->plant, p->alloc, p->m, &d, NULL, &limits, err);
    p->plant.bounds = NULL; /* it is not expanded any further */
    IL_TRY(status);
    if (il_plant_bounded(&p->plant)) {
        return il_error_set(err, IL_E_LIMIT,
                            "the machine and its fault edges are beyond a bound (%u states, %zu MiB); watch less of it",
                            (unsigned)limits.states, limits.bytes >> 20);
    }
    p->n = p->plant.states.n;
    p->hides = d.nsilent > 0;
    for (uint32_t a = 0; a < p->m->nactions; a++) {
        p->hides = p->hides || p->m->actions[a].hidden;
    }
    return IL_OK;
}

static il_status estimator_make(il_estimator *p, const il_estimator_bounds *bounds, il_error *err) {
    IL_TRY(estimator_explore(p, bounds, err));
    IL_TRY(estimator_get(p, p->n, sizeof *p->views, &p->views, err));
    IL_TRY(estimator_get(p, p->n / 64 + 1, sizeof *p->mark, &p->mark, err));
    IL_TRY(estimator_get(p, p->n, sizeof *p->from, &p->from, err));
    IL_TRY(estimator_get(p, p->n, sizeof *p->to, &p->to, err));
    for (uint32_t i = 0; i < p->n; i++) {
        p->views[i] = il_estimator_view(p, il_plant_state(&p->plant, i));
    }
    return IL_OK;
}

il_status il_estimator_new(const il_alloc *alloc, const il_model *m, const il_estimator_options *options,
                           const il_estimator_bounds *bounds, il_estimator **out, il_error *err) {
    static const il_estimator_bounds none = {0};
    *out = NULL;
    il_estimator *p = alloc->alloc(alloc->ctx, sizeof *p);
    if (!p) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    *p = (il_estimator){.alloc = alloc, .m = m, .options = options ? *options : il_estimator_options_of(m)};
    const il_status status = estimator_make(p, bounds ? bounds : &none, err);
    if (status != IL_OK) {
        il_estimator_free(p);
        return status;
    }
    *out = p;
    return IL_OK;
}

void il_estimator_free(il_estimator *p) {
    if (!p) {
        return;
    }
    const il_alloc *a = p->alloc;
    void *const all[] = {p->views, p->mark, p->from, p->to};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        a->free(a->ctx, all[i]);
    }
    if (p->plant.m) {
        il_plant_free(&p->plant);
    }
    a->free(a->ctx, p);
}

const il_plant *il_estimator_plant(const il_estimator *p) { return &p->plant; }

uint64_t il_estimator_view(const il_estimator *p, uint64_t state) {
    return il_diagnosis_view(p->m, p->options.sees, p->options.uses, state);
}
