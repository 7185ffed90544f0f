/* SPDX-License-Identifier: Apache-2.0 */
#include "check/view.h"

#include "base/error.h"

enum { VIEW_COUNT_BITS = 4, VIEW_COUNT_MAX = 15 };

uint32_t il_view_bits(const il_view *v) {
    switch (v->observer) {
    case IL_OBSERVE_NOTHING:
        return 0;
    case IL_OBSERVE_GHOSTS:
        return v->subject->ntaints + 2 * IL_WAYS_OUT;
    case IL_OBSERVE_CONFIRMED:
        return v->subject->ntaints;
    case IL_OBSERVE_APPROVALS:
        return 2 * VIEW_COUNT_BITS;
    }
    return 64;
}

uint64_t il_view_state(const il_view *v, uint64_t key) {
    uint32_t bits = v->subject->m->bits;
    return bits < 64 ? key & ((UINT64_C(1) << bits) - 1) : key;
}

static uint64_t view_extra(const il_view *v, uint64_t key) {
    uint32_t bits = v->subject->m->bits;
    return bits < 64 ? key >> bits : 0;
}

static uint64_t view_key(const il_view *v, uint64_t state, uint64_t extra) {
    uint32_t bits = v->subject->m->bits;
    return bits < 64 ? state | extra << bits : state;
}

/* A way out that was taken, bound or not, at two bits for each variable that counts one. */
static uint64_t view_out(const il_subject *s, uint64_t extra, il_way_out way, bool foreign) {
    return extra | (UINT64_C(1) | (uint64_t)foreign << 1) << (s->ntaints + 2 * (uint32_t)way);
}

/* Ways out by payload: a standing one for good; a call in flight until the settle that the monitor calls the last of its kind. An approved
 * call counts as crossing where the machine says so or the approval was needed for it; elsewhere as in flight. */
static uint64_t view_bring_out(const il_subject *s, uint32_t symbol, uint64_t next, uint64_t extra) {
    const il_symbol_words *w = &s->words[symbol];
    uint64_t action = UINT64_C(1) << s->m->symbol_action[symbol];
    if ((s->settles & action) != 0 && w->last != 0) {
        il_way_out way = w->last == 1 ? IL_OUT_FLIGHT : IL_OUT_CROSSING;
        extra &= ~(UINT64_C(3) << (s->ntaints + 2 * (uint32_t)way));
    }
    if (((s->admits | s->joins) & action) == 0) {
        return extra;
    }
    uint32_t over = s->out[IL_OUT_CROSSING].var;
    bool both = true, crosses = over != UINT32_MAX && il_model_get(s->m, next, over) != 0;
    for (uint32_t t = 0; t < s->ntaints; t++) {
        bool named = s->taint_words[t] == IL_TAINT_UNTRUSTED || s->taint_words[t] == IL_TAINT_SENSITIVE;
        both = both && (!named || il_model_get(s->m, next, s->taints[t]) != 0);
    }
    if (w->egress == IL_SINK_STANDING || w->open > 0) {
        extra = view_out(s, extra, IL_OUT_OPEN, w->open == 2 || (w->egress == IL_SINK_STANDING && !w->bound));
    }
    if (w->egress == IL_SINK_ONCE) {
        extra = view_out(s, extra, w->approved && (both || crosses) ? IL_OUT_CROSSING : IL_OUT_FLIGHT, !w->bound);
    }
    return w->flight > 0 ? view_out(s, extra, IL_OUT_FLIGHT, w->flight == 2) : extra;
}

static uint64_t view_bring(const il_subject *s, uint32_t symbol, uint64_t next, uint64_t extra) {
    const il_symbol_words *w = &s->words[symbol];
    bool brings = (s->admits | s->joins) >> s->m->symbol_action[symbol] & 1;
    for (uint32_t t = 0; t < s->ntaints; t++) {
        bool wordless = s->taint_words[t] == IL_TAINT_OTHER; /* no payload speaks of it: the variable must do */
        if (wordless ? il_model_get(s->m, next, s->taints[t]) != 0 : brings && il_words_taint(w, s->taint_words[t])) {
            extra |= UINT64_C(1) << t;
        }
    }
    return view_bring_out(s, symbol, next, extra);
}

static uint64_t view_confirm(const il_subject *s, uint32_t symbol, uint64_t extra) {
    for (uint32_t t = 0; (s->settles | s->joins) >> s->m->symbol_action[symbol] & 1 && t < s->ntaints; t++) {
        if (il_words_taint(&s->words[symbol], s->taint_words[t])) {
            extra |= UINT64_C(1) << t;
        }
    }
    return extra;
}

/* How strange the live unapproved egress is: 0 none, 1 bound, 2 foreign. */
static uint32_t view_liveout(const il_subject *s, uint64_t state) {
    uint32_t worst = 0;
    const uint32_t vars[2] = {s->out[IL_OUT_FLIGHT].var, s->out[IL_OUT_OPEN].var};
    for (uint32_t i = 0; i < 2; i++) {
        if (vars[i] != UINT32_MAX) {
            uint32_t value = il_model_get(s->m, state, vars[i]);
            uint32_t level = value == 0 ? 0 : il_str_eq(s->m->vars[vars[i]].domain.names[value], IL_STR("bound")) ? 1 : 2;
            worst = level > worst ? level : worst;
        }
    }
    return worst;
}

/* What voids an approval: a taint from none, the first live unapproved egress, its rise from bound to foreign. */
static bool view_gained(const il_subject *s, uint64_t pre, uint64_t next) {
    for (uint32_t t = 0; t < s->ntaints; t++) {
        if (il_model_get(s->m, pre, s->taints[t]) == 0 && il_model_get(s->m, next, s->taints[t]) != 0) {
            return true;
        }
    }
    return view_liveout(s, next) > view_liveout(s, pre);
}

/* The observer's own count, by the sentences of the specification and not by the machine's counters. */
static uint64_t view_count(il_view *v, uint64_t pre, uint32_t symbol, uint64_t next, uint64_t extra) {
    const il_subject *s = v->subject;
    const il_symbol_words *w = &s->words[symbol];
    uint32_t action = s->m->symbol_action[symbol];
    uint64_t asked = extra & VIEW_COUNT_MAX;
    uint64_t granted = extra >> VIEW_COUNT_BITS;
    uint32_t phase = il_model_var(s->m, IL_STR("phase"));
    if (action == s->request) {
        asked++;
    } else if (action == s->approve && asked > 0) {
        asked--;
        granted++;
    } else if (action == s->refuse && asked > 0) {
        asked--;
    } else if (action == s->lapse && w->slot == 0 && asked > 0) {
        asked--;
    } else if (action == s->lapse && w->slot == 1 && granted > 0) {
        granted--;
    } else if (w->approved && granted > 0) {
        granted--;
    }
    if (view_gained(s, pre, next) || (phase != UINT32_MAX && il_model_get(s->m, next, phase) != 0)) {
        asked = granted = 0; /* the void comes after what the step itself used */
    }
    if (asked > VIEW_COUNT_MAX || granted > VIEW_COUNT_MAX) {
        v->saturated = true;
        asked = asked > VIEW_COUNT_MAX ? VIEW_COUNT_MAX : asked;
        granted = granted > VIEW_COUNT_MAX ? VIEW_COUNT_MAX : granted;
    }
    return asked | granted << VIEW_COUNT_BITS;
}

static il_space_move view_machine(il_view *v, uint64_t state, uint32_t symbol, uint64_t *next) {
    il_subject *s = v->subject;
    uint32_t action = s->m->symbol_action[symbol];
    if (v->dropped >> action & 1) {
        return IL_SPACE_STAY;
    }
    il_verdict verdict = IL_REJECT;
    if (v->table) {
        il_step step = il_machine_step(s->table, state, symbol);
        verdict = (il_verdict)step.verdict;
        *next = step.next;
    } else if (v->varied && v->variant.skip_action == action) {
        il_memo_step step = il_memo_eval(v->varied, state, symbol);
        verdict = step.verdict;
        *next = step.next;
    } else if (v->variant.skip && v->variant.skip_action == action) {
        il_step step = il_model_eval(s->m, &v->variant, state, symbol).step;
        verdict = (il_verdict)step.verdict;
        *next = step.next;
    } else {
        il_memo_step step = il_memo_eval(&s->memo, state, symbol);
        verdict = step.verdict;
        *next = step.next;
    }
    return verdict == IL_ACCEPT ? IL_SPACE_GO : verdict == IL_REJECT ? IL_SPACE_STAY : IL_SPACE_FAULT;
}

static il_space_move view_step(void *ctx, uint64_t key, uint32_t symbol, uint64_t *out) {
    il_view *v = ctx;
    const il_subject *s = v->subject;
    uint64_t state = il_view_state(v, key);
    uint64_t extra = view_extra(v, key);
    if (symbol >= s->m->nsymbols) {
        il_write w = s->writes[symbol - s->m->nsymbols];
        uint32_t now = il_model_get(s->m, state, w.var);
        bool allowed = (w.value > now && (v->raise >> w.var & 1)) || (w.value < now && (v->lower >> w.var & 1));
        *out = view_key(v, il_model_set(s->m, state, w.var, w.value), extra);
        return allowed ? IL_SPACE_GO : IL_SPACE_STAY;
    }
    uint64_t next = state;
    il_space_move move = view_machine(v, state, symbol, &next);
    if (move != IL_SPACE_GO) {
        return move;
    }
    switch (v->observer) {
    case IL_OBSERVE_NOTHING:
        break;
    case IL_OBSERVE_GHOSTS:
        extra = view_bring(s, symbol, next, extra);
        break;
    case IL_OBSERVE_CONFIRMED:
        extra = view_confirm(s, symbol, extra);
        break;
    case IL_OBSERVE_APPROVALS:
        extra = view_count(v, state, symbol, next, extra);
        break;
    }
    *out = view_key(v, next, extra);
    return IL_SPACE_GO;
}

/* The state as the observer sees it: what it remembers stands in for the variables. */
static uint64_t view_seen(const il_view *v, uint64_t key) {
    const il_subject *s = v->subject;
    uint64_t state = il_view_state(v, key);
    uint64_t extra = view_extra(v, key);
    bool ghosts = v->observer == IL_OBSERVE_GHOSTS;
    if (!ghosts && v->observer != IL_OBSERVE_CONFIRMED) {
        return state;
    }
    for (uint32_t t = 0; t < s->ntaints; t++) {
        uint32_t last = s->m->vars[s->taints[t]].domain.size - 1;
        state = il_model_set(s->m, state, s->taints[t], extra >> t & 1 ? last : 0);
    }
    for (uint32_t way = 0; ghosts && way < IL_WAYS_OUT; way++) {
        uint32_t var = s->out[way].var;
        uint64_t ghost = extra >> (s->ntaints + 2 * way) & 3;
        uint32_t least = ghost == 0 ? 0 : ghost > 1 ? s->out[way].foreign : s->out[way].bound;
        if (var != UINT32_MAX && il_model_get(s->m, state, var) < least) {
            state = il_model_set(s->m, state, var, least);
        }
    }
    return state;
}

static uint64_t view_judge_state(void *ctx, uint64_t key) {
    const il_view *v = ctx;
    const il_model *m = v->subject->m;
    uint64_t hit = 0;
    for (uint32_t r = 0; r < m->nregions; r++) {
        if ((v->regions >> r & 1) && !m->regions[r].edge && il_model_in_region(m, r, view_seen(v, key), 0, 0)) {
            hit |= UINT64_C(1) << r;
        }
    }
    return hit;
}

static uint64_t view_judge_edge(void *ctx, uint64_t key, uint32_t symbol, uint64_t next) {
    const il_view *v = ctx;
    const il_model *m = v->subject->m;
    uint64_t hit = 0;
    if (v->observer == IL_OBSERVE_APPROVALS) {
        return v->subject->words[symbol].approved && view_extra(v, key) >> VIEW_COUNT_BITS == 0 ? IL_VIEW_UNAPPROVED : 0;
    }
    for (uint32_t r = 0; r < m->nregions; r++) {
        if ((v->regions >> r & 1) && m->regions[r].edge && (m->regions[r].actions >> m->symbol_action[symbol] & 1) &&
            il_model_in_region(m, r, view_seen(v, key), symbol, view_seen(v, next))) {
            hit |= UINT64_C(1) << r;
        }
    }
    return hit;
}

il_status il_view_explore(il_view *v, il_space *out, il_error *err) {
    const il_subject *s = v->subject;
    *out = (il_space){0};
    if (s->m->bits + il_view_bits(v) > 64) {
        return il_error_set(err, IL_E_LIMIT, "the state and what a check must remember beside it are wider than 64 bits");
    }
    il_space_def def = {
        .ctx = v,
        .initial = view_key(v, s->m->initial, 0),
        .nsymbols = s->m->nsymbols + ((v->raise | v->lower) ? s->nwrites : 0),
        .first_write = s->m->nsymbols,
        .step = view_step,
        .state = view_judge_state,
        .edge = view_judge_edge,
        .stop = v->stop,
    };
    return il_space_explore(out, s->alloc, &def, &s->bounds, err);
}
