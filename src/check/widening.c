/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of states are numbered on each side and explored; what is found is read off them afterwards, in the order of their discovery, so that the
 * first finding of a kind has a shortest trace. */
#include "base/error.h"
#include "check/widening_part.h"

#define WIDENING_CONTROL_STATES 20000u

/* ---- steps of a pair ---- */

il_widening_pair il_widening_at(const il_widening_work *w, uint64_t key) {
    return (il_widening_pair){w->was_states.keys[key >> 32], w->now_states.keys[key & UINT32_MAX]};
}

/* UINT64_MAX when there is no more room for numbers. */
static uint64_t widening_key(il_widening_work *w, il_widening_pair p) {
    const uint32_t was = il_numbers_of(&w->was_states, p.was);
    const uint32_t now = il_numbers_of(&w->now_states, p.now);
    if (was == IL_NO_NUMBER || now == IL_NO_NUMBER) {
        const bool full = w->was_states.n == IL_NUMBERS_MAX || w->now_states.n == IL_NUMBERS_MAX;
        w->wide = w->wide || full;
        w->starved = w->starved || !full;
        return UINT64_MAX;
    }
    return (uint64_t)was << 32 | now;
}

/* Codes: the old machine's symbols, then the new one's that no old symbol is the counterpart of. */
il_widening_step il_widening_step_of(il_widening_work *w, il_widening_pair p, uint32_t code) {
    const bool old = code < w->was->nsymbols;
    il_widening_step s = {.old_symbol = old ? code : IL_NO_SYMBOL,
                          .new_symbol = old ? w->forth.symbols[code] : code - w->was->nsymbols,
                          .old_step = {.next = p.was, .verdict = IL_REJECT, .reason = IL_REASON_NO_SYMBOL},
                          .new_step = {.next = p.now, .verdict = IL_REJECT, .reason = IL_REASON_NO_SYMBOL}};
    if (old) {
        s.old_step = il_steps_one(w->was_steps, NULL, p.was, s.old_symbol);
    }
    if (s.new_symbol != IL_NO_SYMBOL) {
        s.new_step = il_steps_one(w->now_steps, w->variant, p.now, s.new_symbol);
    }
    return s;
}

uint32_t il_widening_kind(const il_widening_work *w, il_step step) {
    return step.verdict == IL_FAULT ? 0 : step.reason == IL_REASON_NO_SYMBOL ? w->kinds - 1 : step.reason;
}

il_str il_widening_kind_name(const il_widening_work *w, uint32_t kind) {
    return kind == 0 ? IL_STR("fault") : kind == w->kinds - 1 ? IL_STR("no-symbol") : w->was->rules[kind - 1].name;
}

uint32_t il_widening_listed(const il_widening_work *w, uint32_t action, il_str rule) {
    for (uint32_t i = 0; i < w->now->nwidens; i++) {
        if ((action == UINT32_MAX || w->now->widens[i].action == action) && il_str_eq(w->now->widens[i].as, rule)) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* The pair after a step; false when it is not followed. After a listed widening the old machine is put where the new one is: what it denies there is
 * asked, not what follows from its having stayed behind. A state that it has no words for is not followed; `beyond`. */
bool il_widening_next(const il_widening_work *w, const il_widening_step *s, il_widening_pair *p, bool *beyond) {
    if (s->new_step.verdict != IL_ACCEPT) {
        return false;
    }
    *p = (il_widening_pair){s->old_step.next, s->new_step.next};
    if (s->old_step.verdict == IL_ACCEPT) {
        return true;
    }
    uint32_t lost = UINT32_MAX;
    const uint32_t action = w->now->symbol_action[s->new_symbol];
    if (il_widening_listed(w, action, il_widening_kind_name(w, il_widening_kind(w, s->old_step))) == UINT32_MAX) {
        return false;
    }
    p->was = il_counterpart_state(&w->back, s->new_step.next, &lost);
    *beyond = *beyond || lost != UINT32_MAX;
    return lost == UINT32_MAX;
}

static bool widening_skips(const il_widening_work *w, uint32_t code) {
    return code >= w->was->nsymbols && w->forth.reached[code - w->was->nsymbols];
}

static uint32_t widening_expand(void *ctx, uint64_t key, il_space_edge *out) {
    il_widening_work *w = ctx;
    uint32_t n = 0;
    for (uint32_t code = 0; code < w->was->nsymbols + w->now->nsymbols; code++) {
        il_widening_pair p = il_widening_at(w, key);
        if (widening_skips(w, code)) {
            continue;
        }
        const il_widening_step s = il_widening_step_of(w, p, code);
        const uint64_t next = il_widening_next(w, &s, &p, &w->out->beyond) ? widening_key(w, p) : UINT64_MAX;
        if (next != UINT64_MAX) {
            out[n++] = (il_space_edge){.next = next, .symbol = code};
        }
    }
    return n;
}

/* ---- what the pairs show ---- */

static void widening_note(il_widening_first *first, uint32_t node, uint32_t code) {
    if (first->node == UINT32_MAX) {
        *first = (il_widening_first){node, code};
    }
}

static void widening_read_step(il_widening_work *w, uint32_t node, uint32_t code, const il_widening_step *s) {
    const bool was = s->old_step.verdict == IL_ACCEPT, now = s->new_step.verdict == IL_ACCEPT;
    w->compared = w->compared || (was && now);
    if (now && !was) {
        const uint32_t action = w->now->symbol_action[s->new_symbol];
        widening_note(&w->widened[action * w->kinds + il_widening_kind(w, s->old_step)], node, code);
    }
    if (!was || now) {
        return;
    }
    const uint32_t action = w->was->symbol_action[s->old_symbol];
    if (s->new_symbol == IL_NO_SYMBOL) {
        widening_note(&w->lost[action], node, code);
        w->nlost[action] += w->symbol_lost[code] ? 0 : 1;
        w->symbol_lost[code] = true;
    } else {
        const uint32_t rule = s->new_step.verdict == IL_FAULT ? 0 : s->new_step.reason;
        widening_note(&w->narrowed[action * (w->now->nrules + 1) + rule], node, code);
    }
}

static il_status widening_firsts(il_widening_work *w, il_widening_first **out, size_t n) {
    *out = IL_NEW_ARRAY(w->arena, il_widening_first, n);
    for (size_t i = 0; *out && i < n; i++) {
        (*out)[i].node = UINT32_MAX;
    }
    return *out ? IL_OK : il_widening_no_memory(w);
}

static il_status widening_read(il_widening_work *w) {
    w->nlost = IL_NEW_ARRAY(w->arena, uint32_t, w->was->nactions);
    w->symbol_lost = IL_NEW_ARRAY(w->arena, bool, w->was->nsymbols);
    if (!w->nlost || !w->symbol_lost) {
        return il_widening_no_memory(w);
    }
    IL_TRY(widening_firsts(w, &w->widened, (size_t)w->now->nactions * w->kinds));
    IL_TRY(widening_firsts(w, &w->narrowed, (size_t)w->was->nactions * (w->now->nrules + 1)));
    IL_TRY(widening_firsts(w, &w->lost, w->was->nactions));
    for (uint32_t node = 0; node < w->space.n; node++) {
        const il_widening_pair p = il_widening_at(w, il_space_key(&w->space, node));
        for (uint32_t code = 0; code < w->was->nsymbols + w->now->nsymbols; code++) {
            if (!widening_skips(w, code)) {
                const il_widening_step s = il_widening_step_of(w, p, code);
                widening_read_step(w, node, code, &s);
            }
        }
    }
    return IL_OK;
}

static il_status widening_explore(il_widening_work *w, const il_space_bounds *bounds) {
    il_space_bounds own = bounds ? *bounds : (il_space_bounds){0};
    own.workers = 1; /* numbers are given by one thread */
    const uint64_t initial = widening_key(w, (il_widening_pair){w->was->initial, w->now->initial});
    if (initial == UINT64_MAX) {
        return il_error_set(w->err, IL_E_MEMORY, "no memory for pairs of states");
    }
    const il_space_def def = {.ctx = w,
                              .initial = initial,
                              .nsymbols = w->was->nsymbols + w->now->nsymbols,
                              .first_write = UINT32_MAX,
                              .expand = widening_expand};
    IL_TRY(il_space_explore(&w->space, w->alloc, &def, &own, w->err));
    if (w->starved) {
        return il_error_set(w->err, IL_E_MEMORY, "no memory for pairs of states");
    }
    w->out->states = w->space.n;
    w->out->edges = w->space.edges;
    w->out->depth = w->space.depth;
    w->out->bound_hit = w->space.bound_hit || w->wide;
    return IL_OK;
}

static il_status widening_pairs(il_widening_work *w, const il_space_bounds *bounds) {
    IL_TRY(il_steps_new(w->alloc, w->was, &w->was_steps, w->err));
    IL_TRY(il_steps_new(w->alloc, w->now, &w->now_steps, w->err));
    IL_TRY(il_counterpart_init(&w->forth, w->arena, w->was, w->now, w->err));
    IL_TRY(il_counterpart_init(&w->back, w->arena, w->now, w->was, w->err));
    for (uint32_t i = 0; i < w->was->nsymbols; i++) {
        w->out->matched += w->forth.symbols[i] != IL_NO_SYMBOL;
    }
    w->kinds = w->was->nrules + 2;
    IL_TRY(widening_explore(w, bounds));
    return widening_read(w);
}

/* An old version that is itself refused, because a step of it has no meaning, is no measure of anything: the error says where, as building its table
 * does. */
static il_status widening_sound(il_widening_work *w, const il_space_bounds *bounds) {
    il_subject s = {0};
    il_space space = {0};
    il_view v = {.subject = &s};
    il_str table = {0};
    il_space_bounds own = bounds ? *bounds : (il_space_bounds){0};
    own.spent = NULL; /* the pairs have all of the work */
    il_status status = il_subject_init(&s, w->alloc, w->arena, w->was, &own, w->err);
    if (status == IL_OK) {
        status = il_view_explore(&v, &space, w->err);
    }
    if (status == IL_OK && space.fault.found) {
        status = il_table_build(w->arena, w->was, space.n, &table, w->err);
    }
    il_space_free(&space);
    il_subject_free(&s);
    return status;
}

static il_status widening_all(il_widening_work *w, const il_space_bounds *bounds) {
    IL_TRY(widening_sound(w, bounds));
    IL_TRY(widening_pairs(w, bounds));
    IL_TRY(il_widening_denials(w));
    IL_TRY(il_widening_regions(w));
    IL_TRY(il_widening_narrowings(w));
    IL_TRY(il_widening_only(w));
    for (uint32_t i = 0; i < w->out->nlines; i++) {
        const il_check_verdict v = w->out->lines[i].verdict;
        w->out->exit = v == IL_CHECK_FAIL ? 1 : v != IL_CHECK_PASS && w->out->exit == 0 ? 2 : w->out->exit;
    }
    return IL_OK;
}

static void widening_begin(il_widening_work *w) {
    il_numbers_init(&w->was_states, w->alloc);
    il_numbers_init(&w->now_states, w->alloc);
}

static void widening_end(il_widening_work *w) {
    il_steps_free(w->was_steps);
    il_steps_free(w->now_steps);
    il_numbers_free(&w->was_states);
    il_numbers_free(&w->now_states);
    il_space_free(&w->space);
}

/* ---- the control ---- */

/* The first step that rejects because of one clause alone; false when there is none among the first states. */
static bool widening_plant(const il_model *m, const il_widening_work *w, il_variant *out) {
    for (uint32_t n = 0; n < w->now_states.n && n < WIDENING_CONTROL_STATES; n++) {
        for (uint32_t symbol = 0; symbol < m->nsymbols; symbol++) {
            const il_eval e = il_model_eval(m, NULL, w->now_states.keys[n], symbol);
            const uint32_t action = m->symbol_action[symbol];
            *out = (il_variant){.skip = true, .skip_action = action, .skip_clause = e.clause};
            if (e.step.verdict == IL_REJECT && e.clause < m->actions[action].nclauses &&
                il_model_eval(m, out, w->now_states.keys[n], symbol).step.verdict == IL_ACCEPT) {
                return true;
            }
        }
    }
    return false;
}

static il_status widening_control(const il_widening_work *from, const il_space_bounds *bounds, il_arena *scratch) {
    il_variant variant;
    il_widening result = {0};
    il_space_bounds own = bounds ? *bounds : (il_space_bounds){0};
    il_widening_work w = {
        .alloc = from->alloc, .arena = scratch, .err = from->err, .out = &result, .was = from->now, .now = from->now};
    il_control *c = &from->out->control;
    *c = (il_control){.id = "widened", .what = "a clause that is left out of the new version must be found as widened"};
    if (!widening_plant(from->now, from, &variant)) {
        c->state = IL_CONTROL_NOT_NEEDED; /* nothing is rejected by one clause: nothing could be widened so */
        return IL_OK;
    }
    own.states = own.states && own.states < WIDENING_CONTROL_STATES ? own.states : WIDENING_CONTROL_STATES;
    w.variant = &variant;
    widening_begin(&w);
    const il_status status = widening_pairs(&w, &own);
    for (uint32_t i = 0; status == IL_OK && i < w.now->nactions * w.kinds; i++) {
        c->state = w.widened[i].node != UINT32_MAX ? IL_CONTROL_FAILED_AS_IT_MUST : c->state;
    }
    if (status == IL_OK && c->state == IL_CONTROL_NOT_RUN && !result.bound_hit) {
        c->state = IL_CONTROL_BROKEN;
        from->out->exit = 4;
    }
    widening_end(&w);
    return status;
}

il_status il_widening_run(il_widening *out, const il_alloc *alloc, il_arena *arena, const il_model *new_model,
                          const il_model *old_model, const il_space_bounds *bounds, il_error *err) {
    *out = (il_widening){.old_model = old_model, .new_model = new_model};
    il_widening_work w = {.alloc = alloc, .arena = arena, .err = err, .out = out, .was = old_model, .now = new_model};
    il_arena scratch;
    il_arena_init(&scratch, alloc, (size_t)1 << 30);
    widening_begin(&w);
    il_status status = widening_all(&w, bounds);
    if (status == IL_OK) {
        status = widening_control(&w, bounds, &scratch);
    }
    widening_end(&w);
    il_arena_free(&scratch);
    return status;
}
