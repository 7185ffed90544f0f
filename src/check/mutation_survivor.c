/* SPDX-License-Identifier: Apache-2.0 */
/* What a mutant changes that no check tells from the machine. */
#include "check/mutation_part.h"
#include "check/parts.h"

enum { SURVIVOR_WITHIN = 1, SURVIVOR_NOT_WITHIN };

static bool mutation_more(const il_model *m, const il_subject *s, uint64_t was, uint64_t is) {
    bool more = false, less = false;
    for (uint32_t v = 0; v < m->nvars; v++) {
        bool counts = m->vars[v].taint;
        for (uint32_t k = 0; k < IL_WAYS_OUT; k++) {
            counts = counts || s->out[k].var == v;
        }
        more = more || (counts && il_model_get(m, is, v) > il_model_get(m, was, v));
        less = less || il_model_get(m, is, v) < il_model_get(m, was, v) ||
               (!counts && il_model_get(m, is, v) != il_model_get(m, was, v));
    }
    return more && !less;
}

static bool mutation_fewer(const il_model *m, uint64_t was, uint64_t is) {
    uint32_t asked = il_model_var(m, IL_STR("asked")), granted = il_model_var(m, IL_STR("granted"));
    for (uint32_t v = 0; v < m->nvars; v++) {
        uint32_t before = il_model_get(m, was, v), after = il_model_get(m, is, v);
        if (before != after && (after > before || (v != asked && v != granted))) {
            return false;
        }
    }
    return true;
}

/* A state's place among the states that were compared so far: the machine's own, then others as they come. */
static uint32_t mutation_known(il_mutating *r, uint64_t state) {
    uint32_t place = il_space_find(&r->plain, state);
    for (uint32_t i = 0; place == UINT32_MAX && i < r->nothers; i++) {
        place = r->others[i] == state ? r->plain.n + i : UINT32_MAX;
    }
    if (place == UINT32_MAX && r->nothers < IL_MUTATING_OTHERS) {
        r->others[r->nothers] = state;
        place = r->plain.n + r->nothers++;
    }
    return place;
}

/* One pair: what the first accepts the second accepts too, and the pairs that follow are asked next. */
static bool mutation_pair(il_mutating *r, uint32_t less, uint32_t more, uint32_t *tail) {
    const uint32_t n = r->s->m->nsymbols, places = r->plain.n, all = places + IL_MUTATING_OTHERS;
    for (uint32_t k = 0; k < n; k++) {
        il_step a = less < places ? r->cells[(size_t)less * n + k] : il_steps_one(r->s->steps, NULL, r->others[less - places], k);
        if (a.verdict == IL_REJECT) {
            continue;
        }
        il_step b = more < places ? r->cells[(size_t)more * n + k] : il_steps_one(r->s->steps, NULL, r->others[more - places], k);
        if (b.verdict != IL_ACCEPT || a.verdict != IL_ACCEPT) {
            return false;
        }
        if (a.next == b.next) {
            continue;
        }
        uint32_t x = mutation_known(r, a.next), y = mutation_known(r, b.next);
        if (x == UINT32_MAX || y == UINT32_MAX) {
            return false; /* no room: nothing is claimed */
        }
        uint8_t *known = &r->within[(size_t)x * all + y];
        if (*known == SURVIVOR_NOT_WITHIN) {
            return false;
        }
        if (*known == 0) {
            *known = SURVIVOR_WITHIN;
            r->pairs[(*tail)++] = (uint64_t)x << 32 | y;
        }
    }
    return true;
}

/* Whether all that the machine lets happen from one state it lets happen from another as well (it is deterministic: a pair of states after any
 * common run shows it). What was settled before is remembered. */
static bool mutation_within(il_mutating *r, uint64_t less, uint64_t more) {
    const uint32_t all = r->plain.n + IL_MUTATING_OTHERS;
    uint32_t x = r->within ? mutation_known(r, less) : UINT32_MAX, y = r->within ? mutation_known(r, more) : UINT32_MAX;
    if (x == UINT32_MAX || y == UINT32_MAX) {
        return less == more;
    }
    uint32_t tail = 0;
    uint8_t *first = &r->within[(size_t)x * all + y];
    bool holds = *first != SURVIVOR_NOT_WITHIN;
    if (*first == 0) {
        *first = SURVIVOR_WITHIN;
        r->pairs[tail++] = (uint64_t)x << 32 | y;
    }
    for (uint32_t head = 0; holds && head < tail; head++) {
        holds = mutation_pair(r, (uint32_t)(r->pairs[head] >> 32), (uint32_t)r->pairs[head], &tail);
    }
    for (uint32_t i = 0; !holds && i < tail; i++) { /* of these only the first is known to fail */
        r->within[(size_t)(r->pairs[i] >> 32) * all + (uint32_t)r->pairs[i]] = i == 0 ? SURVIVOR_NOT_WITHIN : 0;
    }
    return holds;
}

/* No node of the view that drops the lowering steps is of that state. */
static bool mutation_behind_lowering(const il_mutating *r, uint64_t state) {
    uint32_t place = il_space_find(&r->plain, state);
    for (uint32_t i = 0; r->s->lowers && place != UINT32_MAX && i < r->nviews; i++) {
        const il_mutating_view *w = &r->views[i];
        if (w->v.observer == IL_OBSERVE_GHOSTS && !w->adversary) {
            return w->from[place] == w->from[place + 1];
        }
    }
    return false;
}

/* Variables by which some state of a session would be in a `never` region if they had another value. */
void il_mutating_reads(il_mutating *r) {
    const il_subject *s = r->s;
    for (uint64_t left = s->never & ~s->edges; left != 0; left &= left - 1) {
        for (uint32_t i = 0; i < r->plain.n; i++) {
            for (uint32_t v = 0; v < s->m->nvars; v++) {
                for (uint32_t x = 0; !(r->read >> v & 1) && x < s->m->vars[v].domain.size; x++) {
                    uint64_t other = il_model_set(s->m, r->states[i], v, x);
                    bool in = il_steps_in_region(s->steps, (uint32_t)__builtin_ctzll(left), other, 0, 0);
                    r->read |= in ? UINT64_C(1) << v : 0;
                }
            }
        }
    }
}

static bool mutation_unread(const il_mutating *r, uint64_t was, uint64_t is) {
    uint64_t differ = 0;
    for (uint32_t v = 0; v < r->s->m->nvars; v++) {
        differ |= il_model_get(r->s->m, was, v) != il_model_get(r->s->m, is, v) ? UINT64_C(1) << v : 0;
    }
    return (differ & r->read) == 0 && !(r->s->never & r->s->edges);
}

static il_survivor mutation_class(il_mutating *r, uint64_t state, uint32_t symbol, il_step was, il_step is) {
    const il_subject *s = r->s;
    if (was.verdict == IL_ACCEPT && is.verdict == IL_REJECT) {
        return IL_SURVIVOR_STRICTER;
    }
    if (is.verdict == IL_REJECT) {
        return IL_SURVIVOR_REASON;
    }
    if (is.next != was.next && mutation_within(r, is.next, was.next)) {
        return was.verdict == IL_REJECT ? IL_SURVIVOR_INERT : IL_SURVIVOR_STRICTER;
    }
    bool charged = is.next == il_model_eval(s->m, NULL, state, symbol).next;
    if (was.verdict == IL_REJECT && is.next == state) {
        return IL_SURVIVOR_SILENT;
    }
    if (mutation_behind_lowering(r, state) || (s->lowers >> s->m->symbol_action[symbol] & 1)) {
        return IL_SURVIVOR_BEHIND;
    }
    if (was.verdict == IL_REJECT && (charged || (s->corrective >> s->m->symbol_action[symbol] & 1))) {
        return charged ? IL_SURVIVOR_CHARGED : IL_SURVIVOR_CORRECTIVE;
    }
    return mutation_more(s->m, s, was.next, is.next) ? IL_SURVIVOR_HOLDS_MORE
           : mutation_fewer(s->m, was.next, is.next) ? IL_SURVIVOR_FEWER_APPROVED
           : mutation_unread(r, was.next, is.next)   ? IL_SURVIVOR_UNREAD
                                                     : IL_SURVIVOR_ELSEWHERE;
}

il_status il_mutating_survives(il_mutating *r, il_error *err) {
    const il_model *m = r->s->m;
    const il_mutant *u = r->u;
    il_survivor_example e = {.found = true, .u = *u, .state = u->state, .symbol = u->symbol};
    uint32_t place = u->cell ? il_space_find(&r->plain, u->state) : 0;
    bool differs = u->cell;
    for (uint32_t i = 0; !differs && i < r->plain.n; i++) { /* the first in the order of discovery */
        for (uint32_t k = 0; !differs && k < m->nsymbols; k++) {
            const il_step *was = &r->cells[(size_t)i * m->nsymbols + k];
            il_step is = il_mutating_step_at(r, i * m->nsymbols + k);
            differs = was->next != is.next || was->verdict != is.verdict || was->reason != is.reason;
            place = i;
            e.state = r->states[i];
            e.symbol = k;
        }
    }
    e.was = r->cells[(size_t)place * m->nsymbols + e.symbol];
    e.is = il_mutating_step_at(r, place * m->nsymbols + e.symbol);
    il_survivor c = mutation_class(r, e.state, e.symbol, e.was, e.is);
    uint64_t before = 0;
    for (uint32_t k = 0; k < IL_MUTANT_OPS; k++) {
        before += r->x->classes[c][k];
    }
    r->x->classes[c][u->op]++;
    /* one of each operator's, as far as there is room */
    if (before >= IL_MUTATION_EXAMPLES || (before > 0 && r->x->classes[c][u->op] > 1 && before < IL_MUTATION_EXAMPLES - 1)) {
        return IL_OK;
    }
    uint32_t slot = 0;
    while (slot < IL_MUTATION_EXAMPLES && r->x->examples[c][slot].found) {
        slot++;
    }
    if (slot == IL_MUTATION_EXAMPLES) {
        return IL_OK;
    }
    const il_view v = {.subject = r->s};
    const il_space_hit hit = {.found = true, .node = place};
    IL_TRY(il_trace_of(r->h, &v, &r->plain, &hit, &e.trace, err));
    r->x->examples[c][slot] = e;
    return IL_OK;
}
