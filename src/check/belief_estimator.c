/* SPDX-License-Identifier: Apache-2.0 */
/* The plant of a belief set: explored once, then tabulated. */
#include "base/error.h"
#include "base/mem.h"
#include "check/belief_part.h"

static uint32_t estimator_nsilent(const il_estimator *p) {
    return p->options.faults && p->m->diagnosis ? p->m->diagnosis->nsilent : 0;
}

il_estimator_options il_estimator_options_of(const il_model *m) {
    const il_diagnosis none = il_diagnosis_default(m), *d = m->diagnosis ? m->diagnosis : &none;
    return (il_estimator_options){.sees = d->sees, .uses = d->uses, .verdicts = d->verdicts, .faults = true};
}

bool il_estimator_sees(const il_estimator *p, uint32_t symbol) {
    return symbol < p->m->nsymbols && !p->m->actions[il_model_action_of(p->m, symbol)].hidden;
}

/* ---- exploring --------------------------------------------------------------------------------- */

static uint32_t estimator_expand(void *ctx, uint64_t key, il_space_edge *out) {
    il_estimator *p = ctx;
    const il_steps_edges row = il_steps_row(p->steps, NULL, key);
    uint32_t n = 0;
    for (uint32_t i = 0; i < row.n; i++) {
        out[n++] = (il_space_edge){.next = row.edge[i].next, .symbol = row.edge[i].symbol, .fault = row.edge[i].fault};
    }
    for (uint32_t i = 0; i < estimator_nsilent(p); i++) {
        uint64_t next = 0;
        if (il_silent_step(p->m, &p->m->diagnosis->silent[i], key, &next)) {
            out[n++] = (il_space_edge){.next = next, .symbol = p->m->nsymbols + i};
        }
    }
    return n;
}

static il_status estimator_explore(il_estimator *p, const il_estimator_bounds *bounds, il_error *err) {
    const uint32_t states = bounds->states ? bounds->states : IL_ESTIMATOR_STATES_MAX;
    const il_space_bounds limits = {.states = states, .bytes = bounds->bytes ? bounds->bytes : IL_ESTIMATOR_BYTES_MAX};
    const il_space_def def = {.ctx = p,
                              .initial = p->m->initial,
                              .bits = p->m->bits < 64 ? p->m->bits : 0,
                              .nsymbols = p->m->nsymbols + estimator_nsilent(p),
                              .first_write = p->m->nsymbols + estimator_nsilent(p),
                              .expand = estimator_expand};
    IL_TRY(il_space_explore(&p->space, p->alloc, &def, &limits, err));
    if (p->space.bound_hit) {
        return il_error_set(err, IL_E_LIMIT, "the machine and its fault edges have more than %u states; watch less of it",
                            (unsigned)p->space.n);
    }
    p->n = p->space.n;
    return IL_OK;
}

/* ---- tabulating -------------------------------------------------------------------------------- */

static il_status estimator_get(const il_estimator *p, size_t n, size_t size, void *out, il_error *err) {
    void *got = n > SIZE_MAX / size ? NULL : p->alloc->alloc(p->alloc->ctx, n * size);
    if (!got) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the states that a session may be in");
    }
    memset(got, 0, n * size);
    memcpy(out, &got, sizeof got);
    return IL_OK;
}

/* Which list an edge of the plant belongs to; one that changes nothing is none of the hidden. */
static il_estimator_lists *estimator_list(il_estimator *p, const il_space_edge *e, uint64_t key) {
    if (e->fault || (!il_estimator_sees(p, e->symbol) && e->next == key)) {
        return NULL;
    }
    return il_estimator_sees(p, e->symbol) ? &p->visible : &p->hidden;
}

/* Counts, then fills: the lists have exactly the room that they need. */
static void estimator_fill(il_estimator *p, il_space_edge *row, bool fill) {
    p->nvisible = p->nhidden = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const uint64_t key = il_space_key(&p->space, i);
        const uint32_t n = estimator_expand(p, key, row);
        p->visible.first[i] = p->nvisible;
        p->hidden.first[i] = p->nhidden;
        for (uint32_t k = 0; k < n; k++) {
            const il_estimator_lists *list = estimator_list(p, &row[k], key);
            uint64_t *count = list == &p->visible ? &p->nvisible : &p->nhidden;
            if (list && fill) {
                list->edge[*count] = (il_estimator_edge){.next = il_space_find(&p->space, row[k].next), .symbol = row[k].symbol};
            }
            *count += list ? 1 : 0;
        }
    }
    p->visible.first[p->n] = p->nvisible;
    p->hidden.first[p->n] = p->nhidden;
}

static void estimator_look(il_estimator *p) {
    for (uint32_t i = 0; i < p->n; i++) {
        const uint64_t key = il_space_key(&p->space, i);
        p->views[i] = il_estimator_view(p, key);
        for (uint32_t r = 0; r < p->m->nregions; r++) {
            if (!p->m->regions[r].edge && !p->m->regions[r].rejection && il_steps_in_region(p->steps, r, key, 0, key)) {
                p->regions[i] |= UINT64_C(1) << r;
            }
        }
    }
}

static il_status estimator_tabulate(il_estimator *p, size_t most, il_error *err) {
    const size_t n = p->n;
    il_space_edge *row = NULL;
    IL_TRY(estimator_get(p, p->m->nsymbols + estimator_nsilent(p) + 1, sizeof *row, &row, err));
    il_status status = estimator_get(p, n + 1, sizeof *p->visible.first, &p->visible.first, err);
    status = status == IL_OK ? estimator_get(p, n + 1, sizeof *p->hidden.first, &p->hidden.first, err) : status;
    if (status == IL_OK) {
        estimator_fill(p, row, false);
        if ((p->nvisible + p->nhidden) > most / sizeof(il_estimator_edge)) {
            status =
                il_error_set(err, IL_E_LIMIT, "the successors of %u states take more than %zu MiB", (unsigned)p->n, most >> 20);
        }
    }
    status = status == IL_OK ? estimator_get(p, p->nvisible + 1, sizeof(il_estimator_edge), &p->visible.edge, err) : status;
    status = status == IL_OK ? estimator_get(p, p->nhidden + 1, sizeof(il_estimator_edge), &p->hidden.edge, err) : status;
    if (status == IL_OK) {
        estimator_fill(p, row, true);
    }
    p->alloc->free(p->alloc->ctx, row);
    return status;
}

static il_status estimator_make(il_estimator *p, const il_estimator_bounds *bounds, il_error *err) {
    IL_TRY(il_steps_new(p->alloc, p->m, &p->steps, err));
    IL_TRY(estimator_explore(p, bounds, err));
    IL_TRY(estimator_tabulate(p, bounds->bytes ? bounds->bytes : IL_ESTIMATOR_BYTES_MAX, err));
    IL_TRY(estimator_get(p, p->n, sizeof *p->views, &p->views, err));
    IL_TRY(estimator_get(p, p->n, sizeof *p->regions, &p->regions, err));
    IL_TRY(estimator_get(p, p->n / 64 + 1, sizeof *p->mark, &p->mark, err));
    IL_TRY(estimator_get(p, p->n, sizeof *p->from, &p->from, err));
    IL_TRY(estimator_get(p, p->n, sizeof *p->to, &p->to, err));
    estimator_look(p);
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
    void *const all[] = {p->views, p->regions, p->visible.first, p->visible.edge, p->hidden.first, p->hidden.edge, p->mark,
                         p->from,  p->to};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        a->free(a->ctx, all[i]);
    }
    il_space_free(&p->space);
    il_steps_free(p->steps);
    a->free(a->ctx, p);
}

uint32_t il_estimator_states(const il_estimator *p) { return p->n; }
uint64_t il_estimator_edges(const il_estimator *p) { return p->nvisible + p->nhidden; }
uint64_t il_estimator_state(const il_estimator *p, uint32_t number) { return il_space_key(&p->space, number); }
uint32_t il_estimator_find(const il_estimator *p, uint64_t state) { return il_space_find(&p->space, state); }

uint64_t il_estimator_view(const il_estimator *p, uint64_t state) {
    return il_diagnosis_view(p->m, p->options.sees, p->options.uses, state);
}
