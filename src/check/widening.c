/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of states are numbered on each side and explored; what is found is read off them afterwards, in the order of their discovery, so that the
 * first finding of a kind has a shortest trace. */
#include "check/widening.h"

#include "base/error.h"
#include "base/mem.h"
#include "check/numbers.h"
#include "machine/steps.h"

#define WIDENING_CONTROL_STATES 20000u

typedef struct widening_first { /* where something was met first; `node` UINT32_MAX: nowhere */
    uint32_t node, code;
} widening_first;

typedef struct widening {
    const il_alloc *alloc;
    il_arena *arena;
    il_error *err;
    il_widening *out;
    const il_model *was, *now;
    const il_variant *variant; /* of the new machine; NULL: as it is */
    il_steps *was_steps, *now_steps;
    il_counterpart forth, back;
    il_numbers was_states, now_states;
    il_space space;
    bool starved, wide, compared;
    uint32_t kinds;                            /* reasons to deny: the old rules from 1, a fault 0, `no-symbol` last */
    widening_first *widened, *narrowed, *lost; /* by (new action, kind); (old action, new rule); old action */
    uint32_t *nlost;                           /* symbols of each old action */
    bool *symbol_lost;
} widening;

/* ---- steps of a pair ------------------------------------------------------------------------------ */

typedef struct widening_pair {
    uint64_t was, now;
} widening_pair;

static widening_pair widening_at(const widening *w, uint64_t key) {
    return (widening_pair){w->was_states.keys[key >> 32], w->now_states.keys[key & UINT32_MAX]};
}

/* UINT64_MAX when there is no more room for numbers. */
static uint64_t widening_key(widening *w, widening_pair p) {
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
static il_widening_step widening_step(widening *w, widening_pair p, uint32_t code) {
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

static uint32_t widening_kind(const widening *w, il_step step) {
    return step.verdict == IL_FAULT ? 0 : step.reason == IL_REASON_NO_SYMBOL ? w->kinds - 1 : step.reason;
}

static il_str widening_kind_name(const widening *w, uint32_t kind) {
    return kind == 0 ? IL_STR("fault") : kind == w->kinds - 1 ? IL_STR("no-symbol") : w->was->rules[kind - 1].name;
}

static uint32_t widening_listed(const widening *w, uint32_t action, il_str rule) {
    for (uint32_t i = 0; i < w->now->nwidens; i++) {
        if ((action == UINT32_MAX || w->now->widens[i].action == action) && il_str_eq(w->now->widens[i].as, rule)) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* The pair after a step; false when it is not followed. After a listed widening the old machine is put where the new one is: what it denies there is
 * asked, not what follows from its having stayed behind. A state that it has no words for is not followed; `beyond`. */
static bool widening_next(const widening *w, const il_widening_step *s, widening_pair *p, bool *beyond) {
    if (s->new_step.verdict != IL_ACCEPT) {
        return false;
    }
    *p = (widening_pair){s->old_step.next, s->new_step.next};
    if (s->old_step.verdict == IL_ACCEPT) {
        return true;
    }
    uint32_t lost = UINT32_MAX;
    const uint32_t action = w->now->symbol_action[s->new_symbol];
    if (widening_listed(w, action, widening_kind_name(w, widening_kind(w, s->old_step))) == UINT32_MAX) {
        return false;
    }
    p->was = il_counterpart_state(&w->back, s->new_step.next, &lost);
    *beyond = *beyond || lost != UINT32_MAX;
    return lost == UINT32_MAX;
}

static bool widening_skips(const widening *w, uint32_t code) {
    return code >= w->was->nsymbols && w->forth.reached[code - w->was->nsymbols];
}

static uint32_t widening_expand(void *ctx, uint64_t key, il_space_edge *out) {
    widening *w = ctx;
    uint32_t n = 0;
    for (uint32_t code = 0; code < w->was->nsymbols + w->now->nsymbols; code++) {
        widening_pair p = widening_at(w, key);
        if (widening_skips(w, code)) {
            continue;
        }
        const il_widening_step s = widening_step(w, p, code);
        const uint64_t next = widening_next(w, &s, &p, &w->out->beyond) ? widening_key(w, p) : UINT64_MAX;
        if (next != UINT64_MAX) {
            out[n++] = (il_space_edge){.next = next, .symbol = code};
        }
    }
    return n;
}

/* ---- lines ---------------------------------------------------------------------------------------- */

static il_widening_line *widening_line(widening *w, const char *id, il_check_verdict verdict, const char *finding) {
    il_widening *o = w->out;
    if (o->nlines == o->lines_cap) {
        const uint32_t cap = o->lines_cap ? 2 * o->lines_cap : 32;
        il_widening_line *lines = IL_NEW_ARRAY(w->arena, il_widening_line, cap);
        if (!lines) {
            return NULL;
        }
        if (o->nlines) {
            memcpy(lines, o->lines, o->nlines * sizeof *lines);
        }
        o->lines = lines;
        o->lines_cap = cap;
    }
    il_widening_line *l = &o->lines[o->nlines++];
    *l = (il_widening_line){.id = id, .verdict = verdict, .finding = finding};
    return l;
}

static uint32_t widening_path(const il_space *s, uint32_t node, uint32_t *nodes) {
    uint32_t n = 0;
    for (uint32_t i = node; i != 0; i = il_space_parent(s, i)) {
        n++;
    }
    uint32_t at = n;
    for (uint32_t i = node; nodes && i != 0; i = il_space_parent(s, i)) {
        nodes[--at] = i;
    }
    return n;
}

static bool widening_trace(widening *w, const widening_first *at, il_widening_line *l) {
    const uint32_t n = widening_path(&w->space, at->node, NULL);
    const uint32_t all = n + (at->code == UINT32_MAX ? 0 : 1);
    uint32_t *nodes = IL_NEW_ARRAY(w->arena, uint32_t, n + 1);
    l->steps = IL_NEW_ARRAY(w->arena, il_widening_step, all + 1);
    if (!nodes || !l->steps) {
        return false;
    }
    (void)widening_path(&w->space, at->node, nodes);
    widening_pair p = {w->was->initial, w->now->initial};
    bool beyond = false;
    for (uint32_t i = 0; i < all; i++) {
        l->steps[i] = widening_step(w, p, i < n ? il_space_via(&w->space, NULL, nodes[i]) : at->code);
        (void)widening_next(w, &l->steps[i], &p, &beyond);
    }
    l->nsteps = all;
    return true;
}

static il_status widening_no_memory(const widening *w) { return il_arena_fail(w->arena, w->err); }

/* ---- what the pairs show --------------------------------------------------------------------------- */

static void widening_note(widening_first *first, uint32_t node, uint32_t code) {
    if (first->node == UINT32_MAX) {
        *first = (widening_first){node, code};
    }
}

static void widening_read_step(widening *w, uint32_t node, uint32_t code, const il_widening_step *s) {
    const bool was = s->old_step.verdict == IL_ACCEPT, now = s->new_step.verdict == IL_ACCEPT;
    w->compared = w->compared || (was && now);
    if (now && !was) {
        const uint32_t action = w->now->symbol_action[s->new_symbol];
        widening_note(&w->widened[action * w->kinds + widening_kind(w, s->old_step)], node, code);
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

static il_status widening_firsts(widening *w, widening_first **out, size_t n) {
    *out = IL_NEW_ARRAY(w->arena, widening_first, n);
    for (size_t i = 0; *out && i < n; i++) {
        (*out)[i].node = UINT32_MAX;
    }
    return *out ? IL_OK : widening_no_memory(w);
}

static il_status widening_read(widening *w) {
    w->nlost = IL_NEW_ARRAY(w->arena, uint32_t, w->was->nactions);
    w->symbol_lost = IL_NEW_ARRAY(w->arena, bool, w->was->nsymbols);
    if (!w->nlost || !w->symbol_lost) {
        return widening_no_memory(w);
    }
    IL_TRY(widening_firsts(w, &w->widened, (size_t)w->now->nactions * w->kinds));
    IL_TRY(widening_firsts(w, &w->narrowed, (size_t)w->was->nactions * (w->now->nrules + 1)));
    IL_TRY(widening_firsts(w, &w->lost, w->was->nactions));
    for (uint32_t node = 0; node < w->space.n; node++) {
        const widening_pair p = widening_at(w, il_space_key(&w->space, node));
        for (uint32_t code = 0; code < w->was->nsymbols + w->now->nsymbols; code++) {
            if (!widening_skips(w, code)) {
                const il_widening_step s = widening_step(w, p, code);
                widening_read_step(w, node, code, &s);
            }
        }
    }
    return IL_OK;
}

static il_status widening_widened(widening *w) {
    bool any = false;
    for (uint32_t a = 0; a < w->now->nactions; a++) {
        for (uint32_t kind = 0; kind < w->kinds; kind++) {
            const widening_first *first = &w->widened[a * w->kinds + kind];
            const il_str rule = widening_kind_name(w, kind);
            if (first->node == UINT32_MAX || widening_listed(w, a, rule) != UINT32_MAX) {
                continue;
            }
            il_widening_line *l = widening_line(w, "widening", IL_CHECK_FAIL, "WIDENED");
            if (!l || !widening_trace(w, first, l)) {
                return widening_no_memory(w);
            }
            l->action = w->now->actions[a].name;
            l->rule = rule;
            any = true;
        }
    }
    if (any) {
        return IL_OK;
    }
    const bool bound = w->out->bound_hit;
    il_widening_line *l = widening_line(w, "widening",
                                        bound         ? IL_CHECK_INCONCLUSIVE
                                        : w->compared ? IL_CHECK_PASS
                                                      : IL_CHECK_VACUOUS,
                                        NULL);
    if (!l) {
        return widening_no_memory(w);
    }
    l->finding = l->verdict == IL_CHECK_VACUOUS ? "NOTHING_COMPARED" : NULL;
    return IL_OK;
}

/* What a human or the runtime had to do, and somebody less trusted may do now: no step is new, and who takes it is. NULL: nothing of the kind. */
static const il_action_def *widening_given(const widening *w, uint32_t action) {
    const il_action_def *now = &w->now->actions[action];
    const uint32_t old = il_model_action(w->was, now->name);
    const il_action_def *was = old == UINT32_MAX ? NULL : &w->was->actions[old];
    const bool lost = was && ((was->principal == IL_HUMAN && now->principal != IL_HUMAN) ||
                              (was->principal == IL_RUNTIME && (now->principal == IL_AGENT || now->principal == IL_ENV)));
    return lost ? was : NULL;
}

static il_status widening_principals(widening *w) {
    for (uint32_t a = 0; a < w->now->nactions; a++) {
        const il_action_def *was = widening_given(w, a);
        if (!was || widening_listed(w, a, IL_STR("principal")) != UINT32_MAX) {
            continue;
        }
        il_widening_line *l = widening_line(w, "principal", IL_CHECK_FAIL, "GIVEN_AWAY");
        char text[64];
        const size_t n = il_format(text, sizeof text, "%s, was %s", il_principal_name(w->now->actions[a].principal),
                                   il_principal_name(was->principal));
        if (!l) {
            return widening_no_memory(w);
        }
        l->action = was->name;
        IL_TRY(il_arena_copy(w->arena, (il_str){text, n}, &l->detail, w->err));
    }
    return IL_OK;
}

/* Entries of the list: each must happen, or it says more than is so. */
static il_status widening_entries(widening *w) {
    for (uint32_t i = 0; i < w->now->nwidens; i++) {
        const il_widens *e = &w->now->widens[i];
        const widening_first *first = NULL;
        for (uint32_t kind = 0; kind < w->kinds; kind++) {
            const widening_first *f = &w->widened[e->action * w->kinds + kind];
            first = il_str_eq(widening_kind_name(w, kind), e->as) && f->node != UINT32_MAX ? f : first;
        }
        const uint32_t was = il_counterpart_rule(w->was, e->as), now = il_counterpart_rule(w->now, e->as);
        const bool contract = was && now && w->now->rules[now - 1].releasable && !w->was->rules[was - 1].releasable;
        const bool given = il_str_eq(e->as, IL_STR("principal")) && widening_given(w, e->action);
        const bool happens = first || contract || given;
        il_widening_line *l = widening_line(w, "widens",
                                            happens             ? IL_CHECK_PASS
                                            : w->out->bound_hit ? IL_CHECK_INCONCLUSIVE
                                                                : IL_CHECK_VACUOUS,
                                            happens             ? "LISTED"
                                            : w->out->bound_hit ? NULL
                                                                : "NEVER_HAPPENS");
        if (!l || (first && !widening_trace(w, first, l))) {
            return widening_no_memory(w);
        }
        l->action = w->now->actions[e->action].name;
        l->rule = e->as;
        l->detail = e->why;
    }
    return IL_OK;
}

static il_status widening_narrowed(widening *w) {
    for (uint32_t a = 0; a < w->was->nactions; a++) {
        for (uint32_t rule = 0; rule <= w->now->nrules; rule++) {
            const widening_first *first = &w->narrowed[a * (w->now->nrules + 1) + rule];
            if (first->node == UINT32_MAX) {
                continue;
            }
            il_widening_line *l = widening_line(w, "narrowing", IL_CHECK_PASS, "NARROWED");
            if (!l || !widening_trace(w, first, l)) {
                return widening_no_memory(w);
            }
            l->action = w->was->actions[a].name;
            l->rule = rule ? w->now->rules[rule - 1].name : IL_STR("fault");
        }
    }
    return IL_OK;
}

static il_status widening_lost_symbols(widening *w) {
    for (uint32_t a = 0; a < w->was->nactions; a++) {
        if (w->lost[a].node == UINT32_MAX) {
            continue;
        }
        char text[64];
        const size_t n = il_format(text, sizeof text, "%u symbol%s", w->nlost[a], w->nlost[a] == 1 ? "" : "s");
        il_widening_line *l = widening_line(w, "symbol", IL_CHECK_FAIL, "LOST_SYMBOL");
        if (!l || !widening_trace(w, &w->lost[a], l)) {
            return widening_no_memory(w);
        }
        l->action = w->was->actions[a].name;
        IL_TRY(il_arena_copy(w->arena, (il_str){text, n}, &l->detail, w->err));
    }
    return IL_OK;
}

/* ---- the contract ---------------------------------------------------------------------------------- */

/* Denials, approvals and other documents name rules: one that is gone breaks who reads them. One that a human may release now is wider. */
static il_status widening_rules(widening *w) {
    for (uint32_t i = 0; i < w->was->nrules; i++) {
        const uint32_t now = il_counterpart_rule(w->now, w->was->rules[i].name);
        const char *finding = !now                                                                ? "BREAKING_RULE"
                              : w->now->rules[now - 1].releasable && !w->was->rules[i].releasable ? "RELEASABLE"
                                                                                                  : NULL;
        if (!finding || (now && widening_listed(w, UINT32_MAX, w->was->rules[i].name) != UINT32_MAX)) {
            continue;
        }
        il_widening_line *l = widening_line(w, now ? "releasable" : "rule", IL_CHECK_FAIL, finding);
        if (!l) {
            return widening_no_memory(w);
        }
        l->rule = w->was->rules[i].name;
    }
    return IL_OK;
}

/* ---- regions --------------------------------------------------------------------------------------- */

/* ctx: the old machine's variables that are read, as bits. */
static void widening_visit(void *ctx, size_t var, size_t field) {
    uint64_t *vars = ctx;
    if (var == 1) {
        return; /* the payload: symbols are matched already */
    }
    *vars |= field < 64 ? UINT64_C(1) << field : UINT64_MAX;
}

/* The old variables that a region reads and the new machine lacks, or has with a value that the old one does not know. */
static uint32_t widening_unread(const widening *w, const il_region *r) {
    uint64_t reads = 0;
    if (r->predicate) {
        il_cel_reads(r->predicate, widening_visit, &reads);
    }
    for (uint32_t a = 0; r->on && a < w->was->nactions; a++) {
        if (r->on[a]) {
            il_cel_reads(r->on[a], widening_visit, &reads);
        }
    }
    for (uint32_t v = 0; v < w->was->nvars; v++) {
        const uint32_t now = w->forth.vars[v];
        bool lost = now == UINT32_MAX;
        for (uint32_t i = 0; !lost && i < w->now->vars[now].domain.size; i++) {
            lost = w->back.values[now][i] == UINT32_MAX;
        }
        if (lost && (reads >> v & 1)) {
            return v;
        }
    }
    return UINT32_MAX;
}

/* Where the new machine is, or goes, into what the old one calls the region and the new one does not. */
static widening_first widening_weak(widening *w, uint32_t was, uint32_t now) {
    const bool edge = w->was->regions[was].edge;
    for (uint32_t node = 0; node < w->space.n; node++) {
        const widening_pair p = widening_at(w, il_space_key(&w->space, node));
        const uint64_t pre = il_counterpart_state(&w->back, p.now, NULL);
        if (!edge) {
            if (il_steps_in_region(w->was_steps, was, pre, IL_NO_SYMBOL, pre) &&
                !il_steps_in_region(w->now_steps, now, p.now, IL_NO_SYMBOL, p.now)) {
                return (widening_first){node, UINT32_MAX};
            }
            continue;
        }
        for (uint32_t code = 0; code < w->was->nsymbols; code++) {
            const il_widening_step s = widening_step(w, p, code);
            const uint64_t post = il_counterpart_state(&w->back, s.new_step.next, NULL);
            if (s.new_step.verdict == IL_ACCEPT && il_steps_in_region(w->was_steps, was, pre, s.old_symbol, post) &&
                !il_steps_in_region(w->now_steps, now, p.now, s.new_symbol, s.new_step.next)) {
                return (widening_first){node, code};
            }
        }
    }
    return (widening_first){UINT32_MAX, UINT32_MAX};
}

/* An action that may lead into the gated region now and might not before; `never` to `gated` is any of them. */
static il_str widening_new_gate(const widening *w, const il_region *was, const il_region *now) {
    for (uint32_t a = 0; now->gated && a < w->now->nactions; a++) {
        const uint32_t old = il_model_action(w->was, w->now->actions[a].name);
        if ((now->by >> a & 1) && (!was->gated || old == UINT32_MAX || !(was->by >> old & 1))) {
            return w->now->actions[a].name;
        }
    }
    return (il_str){0};
}

static il_status widening_region(widening *w, uint32_t was, uint32_t now) {
    const il_region *a = &w->was->regions[was];
    const il_region *b = &w->now->regions[now];
    const uint32_t unread = widening_unread(w, a);
    const il_str gate = widening_new_gate(w, a, b);
    const bool alike = a->edge == b->edge && a->rejection == b->rejection;
    widening_first first = {UINT32_MAX, UINT32_MAX};
    if (alike && !a->rejection && unread == UINT32_MAX) {
        first = widening_weak(w, was, now);
    }
    const bool weak = first.node != UINT32_MAX || gate.n > 0;
    const bool judged = alike && !a->rejection && unread == UINT32_MAX && !w->out->bound_hit;
    il_widening_line *l = widening_line(w, "region",
                                        weak     ? IL_CHECK_FAIL
                                        : judged ? IL_CHECK_PASS
                                                 : IL_CHECK_INCONCLUSIVE,
                                        weak                          ? "REGION_WEAKENED"
                                        : judged || w->out->bound_hit ? NULL
                                                                      : "NOT_COMPARED");
    if (!l || (first.node != UINT32_MAX && !widening_trace(w, &first, l))) {
        return widening_no_memory(w);
    }
    l->rule = a->name;
    l->detail = weak ? gate : unread != UINT32_MAX ? w->was->vars[unread].name : (il_str){0};
    return IL_OK;
}

static il_status widening_regions(widening *w) {
    for (uint32_t r = 0; r < w->was->nregions; r++) {
        uint32_t now = 0;
        while (now < w->now->nregions && !il_str_eq(w->now->regions[now].name, w->was->regions[r].name)) {
            now++;
        }
        if (now < w->now->nregions) {
            IL_TRY(widening_region(w, r, now));
            continue;
        }
        il_widening_line *l = widening_line(w, "region", IL_CHECK_FAIL, "LOST_REGION");
        if (!l) {
            return widening_no_memory(w);
        }
        l->rule = w->was->regions[r].name;
    }
    return IL_OK;
}

/* ---- what only one has ------------------------------------------------------------------------------ */

static il_status widening_name(widening *w, il_widening_name ***at, const char *kind, il_str a, const char *between, il_str b) {
    il_buf text;
    il_widening_name *n = IL_NEW(w->arena, il_widening_name);
    if (!n) {
        return widening_no_memory(w);
    }
    il_buf_init(&text, w->arena, 1024);
    il_buf_put(&text, a);
    il_buf_puts(&text, between);
    il_buf_put(&text, b);
    *n = (il_widening_name){.kind = kind};
    **at = n;
    *at = &n->next;
    return il_buf_done(&text, &n->text, w->err);
}

static bool widening_has_value(const il_domain *d, il_str name) {
    for (uint32_t i = 0; i < d->size; i++) {
        if (il_str_eq(d->names[i], name)) {
            return true;
        }
    }
    return false;
}

static il_status widening_only_fields(widening *w, il_widening_name ***at, const il_action_def *a, const il_model *other,
                                      uint32_t action) {
    for (uint32_t f = 0; f < a->nfields; f++) {
        const uint32_t field = il_model_field(other, action, a->fields[f]);
        if (field == UINT32_MAX) {
            IL_TRY(widening_name(w, at, "field", a->name, ".", a->fields[f]));
            continue;
        }
        const il_domain *d = &a->field_domains[f];
        for (uint32_t i = 0; i < d->size; i++) {
            if (!widening_has_value(&other->actions[action].field_domains[field], d->names[i])) {
                char path[160];
                il_str copy = {0};
                const size_t n = il_format(path, sizeof path, "%.*s.%.*s", IL_STR_ARG(a->name), IL_STR_ARG(a->fields[f]));
                IL_TRY(il_arena_copy(w->arena, (il_str){path, n}, &copy, w->err));
                IL_TRY(widening_name(w, at, "value", copy, "=", d->names[i]));
            }
        }
    }
    return IL_OK;
}

static il_status widening_only(widening *w, const il_model *m, const il_model *other, il_widening_name **list) {
    static const il_str none = {0};
    il_widening_name **at = list;
    for (uint32_t v = 0; v < m->nvars; v++) {
        const uint32_t var = il_model_var(other, m->vars[v].name);
        if (var == UINT32_MAX) {
            IL_TRY(widening_name(w, &at, "variable", m->vars[v].name, "", none));
        }
        for (uint32_t i = 0; var != UINT32_MAX && i < m->vars[v].domain.size; i++) {
            if (!widening_has_value(&other->vars[var].domain, m->vars[v].domain.names[i])) {
                IL_TRY(widening_name(w, &at, "value", m->vars[v].name, "=", m->vars[v].domain.names[i]));
            }
        }
    }
    for (uint32_t a = 0; a < m->nactions; a++) {
        const uint32_t action = il_model_action(other, m->actions[a].name);
        if (action == UINT32_MAX) {
            IL_TRY(widening_name(w, &at, "action", m->actions[a].name, "", none));
        } else {
            IL_TRY(widening_only_fields(w, &at, &m->actions[a], other, action));
        }
    }
    for (uint32_t i = 0; i < m->nrules; i++) {
        if (!il_counterpart_rule(other, m->rules[i].name)) {
            IL_TRY(widening_name(w, &at, "rule", m->rules[i].name, "", none));
        }
    }
    return IL_OK;
}

/* ---- the run ---------------------------------------------------------------------------------------- */

static il_status widening_explore(widening *w, const il_space_bounds *bounds) {
    il_space_bounds own = bounds ? *bounds : (il_space_bounds){0};
    own.workers = 1; /* numbers are given by one thread */
    const uint64_t initial = widening_key(w, (widening_pair){w->was->initial, w->now->initial});
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

static il_status widening_pairs(widening *w, const il_space_bounds *bounds) {
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

static il_status widening_all(widening *w, const il_space_bounds *bounds) {
    IL_TRY(widening_pairs(w, bounds));
    IL_TRY(widening_widened(w));
    IL_TRY(widening_principals(w));
    IL_TRY(widening_entries(w));
    IL_TRY(widening_lost_symbols(w));
    IL_TRY(widening_rules(w));
    IL_TRY(widening_regions(w));
    IL_TRY(widening_narrowed(w));
    IL_TRY(widening_only(w, w->was, w->now, &w->out->only_old));
    IL_TRY(widening_only(w, w->now, w->was, &w->out->only_new));
    for (uint32_t i = 0; i < w->out->nlines; i++) {
        const il_check_verdict v = w->out->lines[i].verdict;
        w->out->exit = v == IL_CHECK_FAIL ? 1 : v != IL_CHECK_PASS && w->out->exit == 0 ? 2 : w->out->exit;
    }
    return IL_OK;
}

static void widening_begin(widening *w) {
    il_numbers_init(&w->was_states, w->alloc);
    il_numbers_init(&w->now_states, w->alloc);
}

static void widening_end(widening *w) {
    il_steps_free(w->was_steps);
    il_steps_free(w->now_steps);
    il_numbers_free(&w->was_states);
    il_numbers_free(&w->now_states);
    il_space_free(&w->space);
}

/* ---- the control ------------------------------------------------------------------------------------- */

/* The first step that rejects because of one clause alone; false when there is none among the first states. */
static bool widening_plant(const il_model *m, const widening *w, il_variant *out) {
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

static il_status widening_control(const widening *from, const il_space_bounds *bounds, il_arena *scratch) {
    il_variant variant;
    il_widening result = {0};
    il_space_bounds own = bounds ? *bounds : (il_space_bounds){0};
    widening w = {.alloc = from->alloc, .arena = scratch, .err = from->err, .out = &result, .was = from->now, .now = from->now};
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
    widening w = {.alloc = alloc, .arena = arena, .err = err, .out = out, .was = old_model, .now = new_model};
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
