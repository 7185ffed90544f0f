/* SPDX-License-Identifier: Apache-2.0 */
#include "check/subject.h"

enum { SUBJECT_WORK = 1 << 14 /* cells between two calls of `progress` */, SUBJECT_TRIES = 4096 };

bool il_words_taint(const il_symbol_words *w, il_taint_word word) {
    switch (word) {
    case IL_TAINT_UNTRUSTED:
        return w->untrusted;
    case IL_TAINT_SENSITIVE:
        return w->sensitive;
    case IL_TAINT_SECRET:
        return w->secret;
    case IL_TAINT_OTHER:
        return false; /* no word for it: its ghost follows the variable alone */
    }
    return false;
}

static uint64_t subject_named(const il_subject *s, uint32_t symbol) {
    uint64_t named = 0;
    for (uint32_t t = 0; t < s->ntaints; t++) {
        named |= il_words_taint(&s->words[symbol], s->taint_words[t]) ? UINT64_C(1) << s->taints[t] : 0;
    }
    return named;
}

/* What each symbol is silent about, of actions whose payload has words for taints. */
static void subject_unnamed(il_subject *s) {
    uint64_t worded = 0;
    for (uint32_t t = 0; t < s->ntaints; t++) {
        worded |= s->taint_words[t] != IL_TAINT_OTHER ? UINT64_C(1) << s->taints[t] : 0;
    }
    for (uint32_t a = 0; a < s->m->nactions; a++) {
        const uint32_t first = s->m->actions[a].first_symbol, n = s->m->actions[a].nsymbols;
        uint64_t names = 0;
        for (uint32_t i = first; i < first + n; i++) {
            names |= subject_named(s, i);
        }
        for (uint32_t i = first; i < first + n; i++) {
            s->unnamed[i] = names ? worded & ~subject_named(s, i) : 0;
        }
    }
}

static void subject_actions(il_subject *s) {
    const il_model *m = s->m;
    for (uint32_t a = 0; a < m->nactions; a++) {
        uint64_t bit = UINT64_C(1) << a;
        s->admits |= il_model_field(m, a, IL_STR("egress")) != UINT32_MAX ? bit : 0;
        s->joins |=
            il_model_field(m, a, IL_STR("flight")) != UINT32_MAX || il_model_field(m, a, IL_STR("open")) != UINT32_MAX ? bit : 0;
        s->settles |= il_model_field(m, a, IL_STR("last")) != UINT32_MAX ? bit : 0;
        s->gates |= m->actions[a].gate ? bit : 0;
        s->lowers |= m->actions[a].lowers ? bit : 0;
        s->corrective |= m->actions[a].corrective ? bit : 0;
    }
    s->phase = il_model_var(m, IL_STR("phase"));
    s->request = il_model_action(m, IL_STR("request"));
    s->approve = il_model_action(m, IL_STR("approve"));
    s->refuse = il_model_action(m, IL_STR("refuse"));
    s->lapse = il_model_action(m, IL_STR("lapse"));
}

static void subject_vars(il_subject *s) {
    static const il_str names[] = {{"untrusted", 9}, {"sensitive", 9}, {"secret", 6}};
    const il_model *m = s->m;
    for (uint32_t v = 0; v < m->nvars; v++) {
        if (!m->vars[v].taint) {
            continue;
        }
        il_taint_word word = IL_TAINT_OTHER;
        for (uint32_t k = 0; k < 3; k++) {
            if (il_str_eq(m->vars[v].name, names[k])) {
                word = (il_taint_word)k;
            }
        }
        s->taint_words[s->ntaints] = word;
        s->taint_last[s->ntaints] = il_model_set(m, 0, v, m->vars[v].domain.size - 1);
        s->taint_mask |= ((UINT64_C(1) << m->vars[v].bits) - 1) << m->vars[v].shift;
        s->wordless = s->wordless || word == IL_TAINT_OTHER;
        s->taints[s->ntaints++] = v;
    }
    static const char *const out[IL_WAYS_OUT] = {"flight", "open", "crossing"};
    for (uint32_t i = 0; i < IL_WAYS_OUT; i++) {
        il_out_var *o = &s->out[i];
        *o = (il_out_var){.var = il_model_var(m, il_str_of(out[i])), .word = UINT32_MAX};
        if (o->var == UINT32_MAX) {
            continue;
        }
        const il_domain *d = &m->vars[o->var].domain;
        o->bound = o->foreign = d->size - 1; /* an unknown word counts as the worst */
        for (uint32_t k = 0; k < d->size; k++) {
            if (il_str_eq(d->names[k], IL_STR("bound"))) {
                o->bound = o->word = k;
            }
        }
        s->gain_mask |= i == IL_OUT_CROSSING ? 0 : il_model_bits(m, o->var);
    }
    s->gain_mask |= s->taint_mask;
}

static void subject_counts(il_subject *s) {
    static const il_str names[] = {{"asked", 5}, {"granted", 7}};
    uint32_t room = s->m->bits < 63 ? (63 - s->m->bits) / 2 : 0;
    s->count_bits = 4;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t v = il_model_var(s->m, names[i]);
        if (v != UINT32_MAX && s->m->vars[v].domain.kind == IL_DOMAIN_INT && s->m->vars[v].domain.lo >= 0) {
            int64_t most = s->m->vars[v].domain.lo + (int64_t)s->m->vars[v].domain.size; /* one more than it ever holds */
            while (s->count_bits < 20 && most >> s->count_bits != 0) {
                s->count_bits++;
            }
        }
    }
    s->count_bits = s->count_bits > room && room >= 4 ? room : s->count_bits;
}

static void subject_adversary(il_subject *s) {
    for (uint32_t v = 0; v < s->m->nvars; v++) {
        const il_adversary *a = &s->m->vars[v].adversary;
        s->typed |= a->writes && (a->to || a->when) ? UINT64_C(1) << v : 0;
        s->at_will |= a->writes && !a->to && !a->when ? UINT64_C(1) << v : 0;
    }
}

/* A way out that was taken, bound or not, at two bits for each variable that counts one, above the taints. */
uint64_t il_ghost_out(const il_subject *s, il_way_out way, bool foreign) {
    return (UINT64_C(1) | (uint64_t)foreign << 1) << (s->ntaints + 2 * (uint32_t)way);
}

/* Ways out by payload: a standing one for good; a call in flight until the settle that the monitor calls the last of its kind. */
static il_symbol_ghosts subject_ghosts(const il_subject *s, uint32_t symbol) {
    const il_symbol_words *w = &s->words[symbol];
    uint64_t action = UINT64_C(1) << s->m->symbol_action[symbol];
    il_symbol_ghosts g = {0};
    for (uint32_t t = 0; ((s->settles | s->joins) & action) != 0 && t < s->ntaints; t++) {
        g.confirms |= il_words_taint(w, s->taint_words[t]) ? UINT64_C(1) << t : 0;
    }
    if (s->ntaints + 2 * IL_WAYS_OUT > 64) {
        return g; /* wider than a key: no view with ghosts is ever made */
    }
    if ((s->settles & action) != 0 && w->last != 0) {
        il_way_out way = w->last == 1 ? IL_OUT_FLIGHT : IL_OUT_CROSSING;
        g.clear = UINT64_C(3) << (s->ntaints + 2 * (uint32_t)way);
    }
    if (((s->admits | s->joins) & action) == 0) {
        return g;
    }
    for (uint32_t t = 0; t < s->ntaints; t++) {
        g.set |= il_words_taint(w, s->taint_words[t]) ? UINT64_C(1) << t : 0;
    }
    if (w->egress == IL_SINK_STANDING || w->open > 0) {
        g.set |= il_ghost_out(s, IL_OUT_OPEN, w->open == 2 || (w->egress == IL_SINK_STANDING && !w->bound));
    }
    if (w->egress == IL_SINK_ONCE && !w->approved) {
        g.set |= il_ghost_out(s, IL_OUT_FLIGHT, !w->bound);
    }
    g.approved_once = w->egress == IL_SINK_ONCE && w->approved;
    g.set |= w->flight > 0 ? il_ghost_out(s, IL_OUT_FLIGHT, w->flight == 2) : 0;
    return g;
}

/* The variables with a bit among these, and how many combinations of values they have; 0 when they are too many to be tried. */
static uint64_t subject_vars_of(const il_model *m, uint64_t bits, uint64_t *combinations) {
    uint64_t vars = 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        if (bits & il_model_bits(m, v)) {
            vars |= UINT64_C(1) << v;
            *combinations *= m->vars[v].domain.size;
            *combinations = *combinations > SUBJECT_TRIES ? 0 : *combinations;
        }
    }
    return vars;
}

/* Whether some step by the symbol is in the region; with `kept`, some step that leaves those bits as they are. */
static bool subject_may(const il_subject *s, uint32_t r, uint32_t symbol, uint64_t reads, uint64_t writes, uint64_t kept) {
    uint64_t pre = 0;
    do {
        uint64_t next = pre & kept;
        do {
            if (il_steps_in_region(s->steps, r, pre, symbol, next)) {
                return true;
            }
        } while (il_model_turn(s->m, writes, &next));
    } while (il_model_turn(s->m, reads, &pre));
    return false;
}

/* By all values of what the regions read, where these are few. What an observer remembers stands in for taints and ways out: those may differ after a
 * step that writes none of them. */
static void subject_judged(il_subject *s) {
    const il_model *m = s->m;
    uint64_t seen = s->taint_mask;
    for (uint32_t i = 0; i < IL_WAYS_OUT; i++) {
        seen |= s->out[i].var == UINT32_MAX ? 0 : il_model_bits(m, s->out[i].var);
    }
    for (uint32_t symbol = 0; symbol < m->nsymbols; symbol++) {
        const uint32_t a = m->symbol_action[symbol];
        uint64_t reads = 0, writes = 0;
        const bool known = il_steps_touches(s->steps, a, &reads, &writes);
        const uint64_t kept = known ? ~(writes | seen) : 0;
        for (uint32_t r = 0; r < m->nregions; r++) {
            uint64_t pre = 0, next = 0, tries = 1;
            if (!m->regions[r].edge || m->regions[r].rejection || !m->regions[r].on[a]) {
                continue;
            }
            il_steps_region_reads_of(s->steps, r, a, &pre, &next);
            const uint64_t before = subject_vars_of(m, pre | (next & kept), &tries);
            const uint64_t after = subject_vars_of(m, next, &tries), free = subject_vars_of(m, next & ~kept, &tries);
            s->judged[symbol] |= tries == 0 || subject_may(s, r, symbol, before, after, 0) ? UINT64_C(1) << r : 0;
            s->judged_own[symbol] |= tries == 0 || subject_may(s, r, symbol, before, free, kept) ? UINT64_C(1) << r : 0;
        }
    }
}

il_status il_subject_init(il_subject *s, const il_alloc *alloc, il_arena *arena, const il_model *m, const il_space_bounds *bounds,
                          il_error *err) {
    *s = (il_subject){.alloc = alloc, .arena = arena, .m = m};
    if (bounds) {
        s->bounds = *bounds;
    }
    s->bounds.spent = s->bounds.spent ? s->bounds.spent : IL_NEW(arena, uint64_t);
    if (!s->bounds.spent) {
        return il_arena_fail(arena, err);
    }
    IL_TRY(il_steps_new(alloc, m, &s->steps, err));
    subject_actions(s);
    subject_vars(s);
    subject_counts(s);
    subject_adversary(s);
    for (uint32_t r = 0; r < m->nregions; r++) {
        s->edges |= m->regions[r].edge ? UINT64_C(1) << r : 0;
        if (m->regions[r].rejection) {
            continue; /* from_init.c judges what is rejected; no other check does */
        }
        if (m->regions[r].gated) {
            s->gated |= UINT64_C(1) << r;
        } else {
            s->never |= UINT64_C(1) << r;
        }
    }
    size_t writes = 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        writes += m->vars[v].domain.size;
    }
    s->words = IL_NEW_ARRAY(arena, il_symbol_words, m->nsymbols);
    s->ghosts = IL_NEW_ARRAY(arena, il_symbol_ghosts, m->nsymbols);
    s->unnamed = IL_NEW_ARRAY(arena, uint64_t, m->nsymbols);
    s->judged = IL_NEW_ARRAY(arena, uint64_t, m->nsymbols);
    s->judged_own = IL_NEW_ARRAY(arena, uint64_t, m->nsymbols);
    s->writes = IL_NEW_ARRAY(arena, il_write, writes);
    if (!s->words || !s->ghosts || !s->unnamed || !s->judged || !s->judged_own || !s->writes) {
        return il_arena_fail(arena, err);
    }
    for (uint32_t i = 0; i < m->nsymbols; i++) {
        s->words[i] = il_model_words(m, i);
        s->ghosts[i] = subject_ghosts(s, i);
    }
    subject_unnamed(s);
    subject_judged(s);
    for (uint32_t v = 0; v < m->nvars; v++) {
        for (uint32_t x = 0; x < m->vars[v].domain.size; x++) {
            s->writes[s->nwrites++] = (il_write){v, x};
        }
    }
    return IL_OK;
}

il_steps_edges il_subject_row(const il_subject *s, uint64_t state) {
    return s->rows ? s->rows(s->rows_ctx, state) : il_steps_row(s->steps, NULL, state);
}

void il_subject_free(il_subject *s) { il_steps_free(s->steps); }

bool il_subject_goes_on(const il_subject *s, uint32_t states, uint64_t edges) {
    il_space_progress now = {.states = states, .edges = edges};
    return il_space_spend(&s->bounds, s->m->nsymbols) &&
           (states % (SUBJECT_WORK / s->m->nsymbols + 1) != 0 || !s->bounds.progress ||
            s->bounds.progress(s->bounds.progress_ctx, &now));
}

il_space_bounds il_subject_bounds(const il_subject *s) {
    il_space_bounds b = s->bounds;
    if (s->large && (b.states == 0 || b.states > IL_SUBJECT_LARGE_STATES)) {
        b.states = IL_SUBJECT_LARGE_STATES;
    }
    return b;
}
