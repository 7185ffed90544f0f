/* SPDX-License-Identifier: Apache-2.0 */
#include "check/subject.h"

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
        s->taints[s->ntaints++] = v;
    }
    static const char *const out[IL_WAYS_OUT] = {"flight", "open", "crossing"};
    for (uint32_t i = 0; i < IL_WAYS_OUT; i++) {
        il_out_var *o = &s->out[i];
        *o = (il_out_var){.var = il_model_var(m, il_str_of(out[i]))};
        if (o->var == UINT32_MAX) {
            continue;
        }
        const il_domain *d = &m->vars[o->var].domain;
        o->bound = o->foreign = d->size - 1; /* an unknown word counts as the worst */
        for (uint32_t k = 0; k < d->size; k++) {
            if (il_str_eq(d->names[k], IL_STR("bound"))) {
                o->bound = k;
            }
        }
    }
}

il_status il_subject_init(il_subject *s, const il_alloc *alloc, il_arena *arena, const il_model *m, const il_space_bounds *bounds,
                          il_error *err) {
    *s = (il_subject){.alloc = alloc, .arena = arena, .m = m};
    if (bounds) {
        s->bounds = *bounds;
    }
    il_memo_init(&s->memo, alloc, m, NULL, IL_MEMO_BYTES);
    subject_actions(s);
    subject_vars(s);
    for (uint32_t r = 0; r < m->nregions; r++) {
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
    s->writes = IL_NEW_ARRAY(arena, il_write, writes);
    if (!s->words || !s->writes) {
        return il_arena_fail(arena, err);
    }
    for (uint32_t i = 0; i < m->nsymbols; i++) {
        s->words[i] = il_model_words(m, i);
    }
    for (uint32_t v = 0; v < m->nvars; v++) {
        for (uint32_t x = 0; x < m->vars[v].domain.size; x++) {
            s->writes[s->nwrites++] = (il_write){v, x};
        }
    }
    return IL_OK;
}

void il_subject_free(il_subject *s) { il_memo_free(&s->memo); }
