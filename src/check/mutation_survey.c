/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of what the steps of a mutant do: its own, or the machine's with what it changes. */
#include "base/mem.h"
#include "check/mutation_part.h"

static void mutation_count_state(il_mutating *r, il_mutating_survey *y, uint64_t state, uint64_t sign) {
    const il_subject *s = r->s;
    for (uint64_t left = s->gated & ~s->edges; left != 0; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(left);
        y->inside[k] += il_steps_in_region(s->steps, k, state, 0, 0) ? sign : 0;
    }
}

static void mutation_count_step(il_mutating *r, il_mutating_survey *y, uint64_t state, uint32_t symbol, il_step step,
                                uint64_t sign) {
    const il_subject *s = r->s;
    const il_model *m = s->m;
    uint32_t a = m->symbol_action[symbol];
    if (step.verdict == IL_REJECT && step.reason > 0 && step.reason <= m->nrules) {
        y->fired[step.reason - 1] += sign;
    }
    if (step.verdict != IL_ACCEPT) {
        return;
    }
    y->accepted[a] += sign;
    for (uint32_t v = 0; step.next != state && v < m->nvars; v++) {
        uint32_t before = il_model_get(m, state, v);
        uint32_t after = il_model_get(m, step.next, v);
        y->raised[v][a] += after > before ? sign : 0;
        y->lowered[v][a] += after < before ? sign : 0;
        y->unnamed += after < before && (s->unnamed[symbol] >> v & 1) ? sign : 0;
        y->moved[v] += after != before ? sign : 0;
    }
    for (uint64_t left = s->gated & s->edges; left != 0; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(left);
        y->inside[k] += il_steps_in_region(s->steps, k, state, symbol, step.next) ? sign : 0;
    }
}

void il_mutating_count_row(il_mutating *r, il_mutating_survey *y, uint32_t place, uint64_t sign) {
    const uint32_t n = r->s->m->nsymbols;
    mutation_count_state(r, y, r->states[place], sign);
    for (uint32_t i = 0; i < n; i++) {
        mutation_count_step(r, y, r->states[place], i, r->cells[(size_t)place * n + i], sign);
    }
}

void il_mutating_writes(const il_mutating *r, const il_mutating_survey *y, uint64_t *raise, uint64_t *lower) {
    const il_model *m = r->s->m;
    uint64_t mediators = r->s->gates | r->s->corrective;
    *raise = *lower = 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        for (uint32_t a = 0; a < m->nactions; a++) {
            bool free = !(mediators >> a & 1);
            *raise |= free && y->raised[v][a] ? UINT64_C(1) << v : 0;
            *lower |= free && y->lowered[v][a] ? UINT64_C(1) << v : 0;
        }
    }
}

/* A refusal that an invariant forbids. */
static void mutation_refusals(il_mutating *r, uint64_t state, uint32_t symbol, il_step step) {
    const il_model *m = r->s->m;
    for (uint32_t k = 0; step.verdict == IL_REJECT && k < m->nregions; k++) {
        if (m->regions[k].rejection && il_model_refused_wrongly(m, k, state, symbol, step.reason)) {
            r->now.refused[k]++;
        }
    }
}

/* States of the mutant that the machine does not know, in full. */
static void mutation_count_local(il_mutating *r) {
    for (uint32_t i = 0; i < r->room.n; i++) {
        uint64_t state = r->room.keys[i];
        mutation_count_state(r, &r->now, state, 1);
        for (uint32_t k = 0; k < r->s->m->nsymbols; k++) {
            il_step step = il_mutating_step(r, state, k);
            mutation_count_step(r, &r->now, state, k, step, 1);
            mutation_refusals(r, state, k, step);
        }
    }
}

static uint64_t mutation_mix(uint64_t mark, uint64_t x) {
    mark = (mark ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return mark ^ mark >> 29;
}

/* Explores the mutant itself and counts it. *signature tells it from others. */
il_status il_mutating_survey_whole(il_mutating *r, uint64_t *signature, il_error *err) {
    const il_model *m = r->s->m;
    il_space space = {0};
    const il_view v = {.subject = r->s};
    il_status status = il_mutating_explore(r, &v, true, 0, &space, err);
    uint64_t mark = 0;
    r->now = r->base;
    memset(r->reached, 0, r->plain.n * sizeof *r->reached);
    for (uint32_t i = 0; status == IL_OK && i < space.n; i++) {
        uint64_t state = il_space_key(&space, i);
        uint32_t place = il_space_find(&r->plain, state);
        if (place != UINT32_MAX) {
            r->reached[place] = true;
            continue;
        }
        mutation_count_state(r, &r->now, state, 1);
        for (uint32_t k = 0; k < m->nsymbols; k++) {
            il_step step = il_mutating_step(r, state, k);
            mutation_count_step(r, &r->now, state, k, step, 1);
            mutation_refusals(r, state, k, step);
            mark = mutation_mix(mutation_mix(mark, state),
                                step.next + ((uint64_t)k << 48) + step.verdict + UINT64_C(4) * step.reason);
        }
    }
    il_space_free(&space);
    for (uint32_t i = 0; m->nsymbols > 0 && i < r->ndiffers; i++) {
        uint32_t place = r->differs[i] / m->nsymbols, k = r->differs[i] % m->nsymbols;
        if (r->reached[place]) {
            il_step step = il_mutating_step_at(r, r->differs[i]);
            mutation_count_step(r, &r->now, r->states[place], k, r->cells[r->differs[i]], UINT64_MAX);
            mutation_count_step(r, &r->now, r->states[place], k, step, 1);
            mutation_refusals(r, r->states[place], k, step);
            mark = mutation_mix(mutation_mix(mark, r->differs[i]), step.next + step.verdict + UINT64_C(4) * step.reason);
        }
    }
    for (uint32_t i = 0; i < r->plain.n; i++) {
        if (!r->reached[i]) {
            mark = mutation_mix(mark, i);
            il_mutating_count_row(r, &r->now, i, UINT64_MAX);
        }
    }
    if (signature) {
        *signature = mark;
    }
    return status;
}

/* How many states are still reached when the cell leads to `target` (UINT32_MAX: nowhere that the machine knows). */
static uint32_t mutation_still(il_mutating *r, uint32_t cell, uint32_t target) {
    const uint32_t n = r->s->m->nsymbols;
    uint32_t head = 0, tail = 1, to = r->to[cell];
    if (cell / n >= to || r->ways[to] > 1) {
        return r->plain.n; /* it was found another way, before it */
    }
    memset(r->reached, 0, r->plain.n * sizeof *r->reached);
    r->queue[0] = 0;
    r->reached[0] = true;
    while (head < tail) {
        uint32_t from = r->queue[head++];
        for (uint32_t k = from * n; k < (from + 1) * n; k++) {
            to = k == cell ? target : r->to[k];
            if (to != UINT32_MAX && !r->reached[to]) {
                r->reached[to] = true;
                r->queue[tail++] = to;
            }
        }
    }
    return tail;
}

static il_status mutation_survey_changed(il_mutating *r, il_error *err) {
    il_mutating_compare(r);
    return il_mutating_survey_whole(r, NULL, err);
}

il_status il_mutating_survey_cell(il_mutating *r, uint32_t place, il_error *err) {
    const il_model *m = r->s->m;
    const il_mutant *u = r->u;
    uint32_t cell = place * m->nsymbols + u->symbol;
    bool accepts = u->step.verdict == IL_ACCEPT, removes = r->to[cell] != UINT32_MAX;
    uint32_t target = accepts ? il_space_find(&r->plain, u->step.next) : UINT32_MAX;
    uint32_t still = removes ? mutation_still(r, cell, target) : r->plain.n;
    if (still < r->plain.n && accepts && target == UINT32_MAX) {
        return mutation_survey_changed(r, err);
    }
    r->now = r->base;
    mutation_count_step(r, &r->now, u->state, u->symbol, r->cells[cell], UINT64_MAX);
    mutation_count_step(r, &r->now, u->state, u->symbol, u->step, 1);
    mutation_refusals(r, u->state, u->symbol, u->step);
    for (uint32_t i = 0; still < r->plain.n && i < r->plain.n; i++) {
        if (!r->reached[i]) {
            il_mutating_count_row(r, &r->now, i, UINT64_MAX);
        }
    }
    if (accepts && target == UINT32_MAX) {
        il_view v = {.subject = r->s};
        il_behind b = il_mutating_behind(r, &v, &r->plain, 1); /* nothing is judged, so nothing ends it early */
        il_behind_follow(&b, u->state, true);
        il_behind_finish(&b);
        r->fault = r->fault || b.fault;
        if (b.full) {
            return mutation_survey_changed(r, err);
        }
        mutation_count_local(r);
    }
    return IL_OK;
}

static bool mutation_wrong_lowering(const il_mutating *r) {
    const il_model *m = r->s->m;
    if (r->now.unnamed != 0) {
        return true;
    }
    for (uint32_t v = 0; v < m->nvars; v++) {
        for (uint32_t a = 0; m->vars[v].taint && a < m->nactions; a++) {
            const il_action_def *d = &m->actions[a];
            bool declared = d->lowers && d->gate && (d->principal == IL_HUMAN || d->principal == IL_RUNTIME);
            if (!declared && r->now.lowered[v][a]) {
                return true;
            }
        }
    }
    return false;
}

static bool mutation_unexercised(const il_mutating *r) {
    const il_model *m = r->s->m;
    bool missing = false;
    for (uint32_t v = 0; v < m->nvars; v++) {
        missing = missing || r->now.moved[v] == 0;
    }
    for (uint32_t i = 0; i < m->nrules; i++) {
        missing = missing || r->now.fired[i] == 0;
    }
    for (uint32_t a = 0; a < m->nactions; a++) {
        missing = missing || r->now.accepted[a] == 0;
    }
    return missing;
}

/* On what sessions reach: a sticky variable that a step lowers, or that nothing raises any more. */
static bool mutation_unstuck(const il_mutating *r) {
    const il_model *m = r->s->m;
    for (uint32_t v = 0; v < m->nvars; v++) {
        bool raised = !m->vars[v].sticky;
        for (uint32_t a = 0; m->vars[v].sticky && a < m->nactions; a++) {
            raised = raised || r->now.raised[v][a];
            if (r->now.lowered[v][a]) {
                return true;
            }
        }
        if (!raised) {
            return true;
        }
    }
    return false;
}

il_status il_mutating_judge_survey(il_mutating *r, uint64_t *kills, il_error *err) {
    const il_subject *s = r->s;
    if (r->coverage >= 0 && mutation_unexercised(r)) {
        *kills |= UINT64_C(1) << r->coverage;
    }
    if (r->mediation >= 0 && mutation_wrong_lowering(r)) {
        *kills |= UINT64_C(1) << r->mediation;
    }
    if (r->sticky >= 0 && mutation_unstuck(r)) {
        *kills |= UINT64_C(1) << r->sticky;
    }
    for (uint32_t k = 0; k < s->m->nregions; k++) {
        int gates = s->gated >> k & 1 ? il_mutating_line(r, "gates", k) : -1;
        *kills |= gates >= 0 && r->now.inside[k] == 0 ? UINT64_C(1) << gates : 0;
        int kept = s->m->regions[k].rejection ? il_mutating_line(r, "from-init", k) : -1;
        *kills |= kept >= 0 && r->now.refused[k] != 0 ? UINT64_C(1) << kept : 0;
    }
    uint64_t raise = 0, lower = 0;
    il_mutating_writes(r, &r->now, &raise, &lower);
    return ((raise & ~r->raise) | (lower & ~r->lower)) != 0 ? il_mutating_ask_adversary(r, raise, lower, kills, err) : IL_OK;
}
