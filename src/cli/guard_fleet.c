/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants over the sessions of a ledger that go on (machine/fleet.h): counters that follow each session's recorded state,
 * so that a row costs the same however many sessions there are. */
#include "cli/guard.h"
#include "interlock/host.h"

typedef struct fleet_counter {
    uint32_t counted;  /* sessions that count */
    uint32_t *values;  /* of them by the value of the variable; NULL for COUNT */
    uint32_t distinct; /* values that some has */
    uint32_t again;    /* sessions beyond the first of each value */
    bool broken;       /* said, and true since */
} fleet_counter;

struct guard_fleet {
    uint32_t n;
    fleet_counter counters[];
};

il_status guard_fleet_new(guard_machine *m, il_error *err) {
    const il_fleet *fleet = m->model->fleet;
    const il_alloc *a = il_host_alloc();
    if (!fleet || !fleet->ninvariants) {
        return IL_OK;
    }
    const size_t bytes = sizeof(guard_fleet) + fleet->ninvariants * sizeof(fleet_counter);
    m->fleet = a->alloc(a->ctx, bytes);
    if (!m->fleet) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    memset(m->fleet, 0, bytes);
    m->fleet->n = fleet->ninvariants;
    for (uint32_t i = 0; i < fleet->ninvariants; i++) {
        const il_fleet_invariant *v = &fleet->invariants[i];
        if (v->kind != IL_FLEET_COUNT) {
            m->fleet->counters[i].values = IL_NEW_ARRAY(&m->arena, uint32_t, m->model->vars[v->var].domain.size);
            if (!m->fleet->counters[i].values) {
                return il_arena_fail(&m->arena, err);
            }
        }
    }
    return IL_OK;
}

void guard_fleet_free(guard_fleet *f) { il_host_alloc()->free(il_host_alloc()->ctx, f); }

static void fleet_count(const il_model *m, const il_fleet_invariant *v, fleet_counter *c, uint64_t state, bool enters) {
    if (!il_fleet_counts(m, v, state)) {
        return;
    }
    c->counted += enters ? 1u : UINT32_MAX;
    if (c->values) {
        uint32_t *n = &c->values[il_model_get(m, state, v->var)];
        if (enters) {
            c->distinct += *n == 0 ? 1u : 0u;
            c->again += *n > 0 ? 1u : 0u;
            ++*n;
        } else {
            --*n;
            c->distinct -= *n == 0 ? 1u : 0u;
            c->again -= *n > 0 ? 1u : 0u;
        }
    }
}

static bool fleet_broken(const il_fleet_invariant *v, const fleet_counter *c) {
    switch (v->kind) {
    case IL_FLEET_COUNT:
        return c->counted > v->most;
    case IL_FLEET_DISTINCT:
        return c->distinct > v->most;
    case IL_FLEET_UNIQUE:
        return c->again > 0;
    }
    return true;
}

/* Whether a session is one of those that break it. */
static bool fleet_names(const guard_machine *m, const il_fleet_invariant *v, const fleet_counter *c, const guard_session *s) {
    return s->counted && s->machine == m && il_fleet_counts(m->model, v, s->state) &&
           (v->kind != IL_FLEET_UNIQUE || c->values[il_model_get(m->model, s->state, v->var)] > 1);
}

static il_status fleet_say(guard_run *run, const guard_machine *m, const il_fleet_invariant *v, const fleet_counter *c,
                           const guard_session *mover, uint64_t row, il_error *err) {
    const char *named[GUARD_NAMED];
    char why[120];
    guard_said said = {.level = "fleet", .region = v->name, .session = mover, .row = row, .why = why, .sessions = named};
    named[said.nsessions++] = mover->id;
    for (uint32_t i = 0; i < run->nbuckets; i++) {
        for (const guard_session *s = run->buckets[i]; s; s = s->next) {
            if (s == mover || !fleet_names(m, v, c, s)) {
                continue;
            }
            if (said.nsessions < GUARD_NAMED) {
                named[said.nsessions++] = s->id;
            } else {
                said.others++;
            }
        }
    }
    switch (v->kind) {
    case IL_FLEET_COUNT:
        (void)il_format(why, sizeof why, "%u sessions are in such a state, and at most %u may be", (unsigned)c->counted,
                        (unsigned)v->most);
        break;
    case IL_FLEET_DISTINCT:
        (void)il_format(why, sizeof why, "%u values are in use, and at most %u may be", (unsigned)c->distinct, (unsigned)v->most);
        break;
    case IL_FLEET_UNIQUE:
        (void)il_format(why, sizeof why, "%u sessions share a value with another", (unsigned)c->again + 1);
        break;
    }
    return run->session ? IL_OK : guard_say(run, &said, err);
}

il_status guard_fleet_move(guard_run *run, guard_session *s, uint64_t state, bool leaves, uint64_t row, il_error *err) {
    const guard_machine *m = s->machine;
    const bool was = s->counted, still = was && !leaves && s->state == state;
    const uint64_t before = s->state;
    if (!m->fleet || still || !il_model_valid(m->model, state)) {
        return IL_OK;
    }
    s->counted = !leaves;
    s->state = state;
    for (uint32_t i = 0; i < m->fleet->n; i++) {
        const il_fleet_invariant *v = &m->model->fleet->invariants[i];
        fleet_counter *c = &m->fleet->counters[i];
        if (was) {
            fleet_count(m->model, v, c, before, false);
        }
        if (!leaves) {
            fleet_count(m->model, v, c, state, true);
        }
        const bool broken = fleet_broken(v, c), news = broken && !c->broken;
        c->broken = broken;
        if (news) {
            IL_TRY(fleet_say(run, m, v, c, s, row, err));
        }
    }
    return IL_OK;
}
