/* SPDX-License-Identifier: Apache-2.0 */
#include "check/usage.h"

#include "check/parts.h"
#include "check/report.h"

static bool usage_has(const uint64_t *set, uint32_t symbol) { return (set[symbol / 64] >> symbol % 64 & 1) != 0; }
static void usage_add(uint64_t *set, uint32_t symbol) { set[symbol / 64] |= UINT64_C(1) << symbol % 64; }

/* Whether a join carries no more than the tools' calls bring. */
static bool usage_join(const il_symbol_words *all, const il_symbol_words *w, bool once, bool standing) {
    return (!w->untrusted || all->untrusted) && (!w->sensitive || all->sensitive) && (!w->secret || all->secret) &&
           (w->flight == 0 || once) && (w->open == 0 || standing);
}

il_status il_usage_symbols(const il_subject *s, const il_labels *labels, uint64_t **out, il_error *err) {
    const il_model *m = s->m;
    uint64_t *set = IL_NEW_ARRAY(s->arena, uint64_t, m->nsymbols / 64 + 1);
    if (!set) {
        return il_arena_fail(s->arena, err);
    }
    il_symbol_words all = {0};
    bool once = false, standing = false;
    for (uint32_t t = 0; t < labels->ntools; t++) {
        for (uint32_t i = 0; i < labels->tools[t].nsymbols; i++) {
            const il_symbol_words *w = &s->words[labels->tools[t].symbols[i]];
            usage_add(set, labels->tools[t].symbols[i]);
            all.untrusted = all.untrusted || w->untrusted;
            all.sensitive = all.sensitive || w->sensitive;
            all.secret = all.secret || w->secret;
            once = once || w->egress == IL_SINK_ONCE;
            standing = standing || w->egress == IL_SINK_STANDING;
        }
    }
    for (uint32_t i = 0; i < m->nsymbols; i++) {
        const il_action_def *a = &m->actions[m->symbol_action[i]];
        bool joins = (s->joins >> m->symbol_action[i] & 1) != 0;
        bool free = joins ? usage_join(&all, &s->words[i], once, standing) : a->principal != IL_AGENT || a->nfields == 0;
        if (free) {
            usage_add(set, i);
        }
    }
    *out = set;
    return IL_OK;
}

/* A view whose steps are those of `allowed` alone. */
typedef struct usage_walk {
    il_subject *s;
    il_variant variant;
    const uint64_t *allowed;
    il_steps_edge *row;
} usage_walk;

static il_steps_edges usage_rows(void *ctx, uint64_t state) {
    usage_walk *w = ctx;
    il_steps_edges row = il_steps_row(w->s->steps, w->variant.skip ? &w->variant : NULL, state);
    uint32_t n = 0;
    for (uint32_t k = 0; k < row.n; k++) {
        if (usage_has(w->allowed, row.edge[k].symbol)) {
            w->row[n++] = row.edge[k];
        }
    }
    return (il_steps_edges){w->row, n};
}

static il_status usage_region(il_harden *h, usage_walk *w, uint32_t region, il_usage *out, il_error *err) {
    const il_model *m = h->subject.m;
    uint8_t rule = m->regions[region].rule;
    bool bounded = false;
    for (uint32_t a = 0; a <= m->nactions; a++) { /* the last: nothing is left out */
        bool clauses = a == m->nactions;
        for (uint32_t c = 0; !clauses && c < m->actions[a].nclauses; c++) {
            clauses = rule != 0 && m->actions[a].clauses[c].rule == rule;
        }
        if (!clauses) {
            continue;
        }
        w->variant = (il_variant){.skip = a < m->nactions, .skip_action = a, .skip_rule = rule};
        il_view v = {.subject = &h->subject, .rows = usage_rows, .rows_ctx = w};
        bool found = false, was = h->bounded;
        il_trace trace = {0};
        IL_TRY(il_view_reaches(h, &v, region, &found, &bounded, &trace, err));
        h->bounded = was; /* advice does not make a proof less sure */
        if (found && (!out->near[region].found || trace.n < out->near[region].n)) {
            out->near[region] = trace;
            out->near_action[region] = a < m->nactions ? a : UINT32_MAX;
        }
    }
    uint64_t bit = UINT64_C(1) << region;
    out->asked |= bit;
    out->bounded |= bounded && !out->near[region].found ? bit : 0;
    out->dead |= !bounded && !out->near[region].found ? bit : 0;
    return IL_OK;
}

il_status il_usage_run(il_harden *h, const il_labels *labels, il_usage *out, il_error *err) {
    il_subject *s = &h->subject;
    const il_model *m = s->m;
    uint64_t *used = NULL;
    *out = (il_usage){0};
    usage_walk w = {.s = s, .row = IL_NEW_ARRAY(s->arena, il_steps_edge, m->nsymbols)};
    out->unused = IL_NEW_ARRAY(s->arena, uint32_t, m->nsymbols);
    if (!w.row || !out->unused) {
        return il_arena_fail(s->arena, err);
    }
    IL_TRY(il_usage_symbols(s, labels, &used, err));
    IL_CHECK(used != NULL, err);
    w.allowed = used;
    for (uint32_t i = 0; i < m->nsymbols; i++) {
        bool agents = m->actions[m->symbol_action[i]].principal == IL_AGENT && h->symbol_accepted[i];
        out->possible += agents;
        if (agents && !usage_has(used, i)) {
            out->unused[out->nunused++] = i;
        }
    }
    for (uint32_t r = 0; r < m->nregions; r++) {
        if (!m->regions[r].gated && !m->regions[r].rejection) {
            IL_TRY(usage_region(h, &w, r, out, err));
        }
    }
    return IL_OK;
}

il_json *il_usage_object(const il_model *m, const il_usage *u, il_arena *arena) {
    il_report b = {.arena = arena, .m = m};
    il_json *o = il_report_object(&b);
    il_json *unused = il_report_list(&b);
    il_json *regions = il_report_list(&b);
    for (uint32_t i = 0; i < u->nunused; i++) {
        il_buf text;
        il_buf_init(&text, arena, 4096);
        il_model_symbol_brief(m, u->unused[i], &text);
        il_report_push(&b, unused, il_report_buf(&b, &text));
    }
    for (uint32_t r = 0; r < m->nregions; r++) {
        if (!(u->asked >> r & 1)) {
            continue;
        }
        il_json *one = il_report_object(&b);
        bool cut = u->near[r].found && u->near_action[r] < m->nactions;
        il_report_set(&b, one, "region", il_report_region(&b, r));
        il_report_set(&b, one, "state",
                      il_report_word(&b, u->dead >> r & 1      ? "dead"
                                         : u->bounded >> r & 1 ? "not settled"
                                                               : "held shut"));
        il_report_set(&b, one, "without_clauses_of",
                      cut ? il_report_str(&b, m->actions[u->near_action[r]].name) : il_report_null(&b));
        il_report_set(&b, one, "witness", il_report_trace(&b, &u->near[r]));
        il_report_push(&b, regions, one);
    }
    il_report_set(&b, o, "possible", il_report_number(&b, u->possible));
    il_report_set(&b, o, "unused", unused);
    il_report_set(&b, o, "regions", regions);
    return b.failed ? NULL : o;
}
