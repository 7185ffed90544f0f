/* SPDX-License-Identifier: Apache-2.0 */
/* Laundering: what was once brought stays brought, whatever the variables say afterwards. Every `never` region is asked with ghosts in
 * place of the taints, the standing sink and the calls in flight; only declared lowerings are taken out, and what they concede is reported. */
#include "check/parts.h"

/* The action on the witness that lowered a taint or closed a standing sink. */
static il_str laundering_by(const il_harden *h, const il_trace *t) {
    const il_subject *s = &h->subject;
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t open = s->out[IL_OUT_OPEN].var;
        bool lowered =
            open != UINT32_MAX && il_model_get(s->m, t->steps[i].post, open) < il_model_get(s->m, t->steps[i].pre, open);
        for (uint32_t k = 0; k < s->ntaints; k++) {
            lowered =
                lowered || il_model_get(s->m, t->steps[i].post, s->taints[k]) < il_model_get(s->m, t->steps[i].pre, s->taints[k]);
        }
        if (lowered && t->steps[i].symbol != IL_NO_SYMBOL) {
            return s->m->actions[s->m->symbol_action[t->steps[i].symbol]].name;
        }
    }
    return (il_str){0};
}

static il_status laundering_concessions(il_harden *h, il_error *err) {
    il_subject *s = &h->subject;
    il_view v = {.subject = s, .observer = IL_OBSERVE_GHOSTS, .regions = s->never};
    il_space space = {0};
    il_status status = il_view_explore(&v, &space, err);
    for (uint32_t r = 0; status == IL_OK && r < s->m->nregions; r++) {
        if (space.hits[r].found) {
            status = il_trace_of(h, &v, &space, &space.hits[r], &h->concessions[r], err);
        }
    }
    il_space_free(&space);
    return status;
}

/* Whether some payload says a word of the vocabulary: then the machine keeps sessions, and taints are its business. */
static bool laundering_speaks(const il_subject *s) {
    bool speaks = false;
    for (uint32_t i = 0; i < s->m->nsymbols; i++) {
        const il_symbol_words *w = &s->words[i];
        speaks = speaks || w->untrusted || w->sensitive || w->secret || w->egress != IL_SINK_NONE || w->flight || w->open ||
                 w->commit || w->approved || w->last;
    }
    return speaks;
}

/* Whether something sets a ghost, a payload with a word for a way out or a step that raises a taint of which no payload speaks, and no taint is only brought by payloads
 * without such a word: of those nothing would be watched. */
static bool laundering_watches(const il_harden *h) {
    const il_subject *s = &h->subject;
    bool watches = (s->admits | s->joins) != 0;
    uint64_t said = 0, set = 0;
    for (uint32_t i = 0; i < s->m->nsymbols; i++) {
        const bool settles =
            (s->settles >> s->m->symbol_action[i] & 1) != 0; /* what an answer brings was said when it was asked for */
        for (uint32_t t = 0; t < s->ntaints; t++) {
            said |= !settles && il_words_taint(&s->words[i], s->taint_words[t]) ? UINT64_C(1) << t : 0;
        }
        set |= s->ghosts[i].set;
    }
    for (uint32_t t = 0; t < s->ntaints; t++) {
        watches = watches || (s->taint_words[t] == IL_TAINT_OTHER && h->writers[s->taints[t]].raised_by);
    }
    return watches && (said & ~set) == 0;
}

/* Where there is nothing to watch: a machine that declares no taint, and says no word of the vocabulary, has no such question. It is said. */
static il_status laundering_nothing(il_harden *h, il_error *err) {
    const il_subject *s = &h->subject;
    il_check *c = il_check_add(h, "laundering", UINT32_MAX, true);
    if (!c) {
        return il_arena_fail(s->arena, err);
    }
    bool none = s->ntaints == 0 && (s->admits | s->joins) == 0 && !laundering_speaks(s);
    c->states = none ? h->states : 0;
    c->edges = none ? h->edges : 0;
    c->depth = none ? h->depth : 0;
    c->bound_hit =
        (none || s->wordless) && (!s->table || s->large); /* a step that raises such a taint may lie behind the bound */
    c->verdict = c->bound_hit ? IL_CHECK_INCONCLUSIVE : none ? IL_CHECK_PASS : IL_CHECK_VACUOUS;
    c->finding = none ? "NOTHING_TO_LAUNDER" : s->ntaints == 0 ? "NO_TAINT_SOURCE" : c->bound_hit ? NULL : "NOTHING_BROUGHT";
    return IL_OK;
}

il_status il_check_laundering(il_harden *h, il_error *err) {
    il_subject *s = &h->subject;
    if (s->ntaints == 0 || !laundering_watches(h)) {
        return laundering_nothing(h, err);
    }
    il_view v = {.subject = s, .observer = IL_OBSERVE_GHOSTS, .regions = s->never, .dropped = s->lowers};
    il_space space = {0};
    il_status status = il_view_explore(&v, &space, err);
    for (uint32_t r = 0; status == IL_OK && r < s->m->nregions; r++) {
        if (!(s->never >> r & 1)) {
            continue;
        }
        il_check *c = il_check_add(h, "laundering", r, true);
        if (!c) {
            status = il_arena_fail(s->arena, err);
            break;
        }
        status = il_check_judge(h, c, &v, &space, r, "LAUNDERED", err);
        if (status == IL_OK && c->verdict == IL_CHECK_FAIL) {
            c->detail = laundering_by(h, &c->witness);
        }
    }
    il_space_free(&space);
    IL_TRY(status);
    return s->lowers ? laundering_concessions(h, err) : IL_OK;
}
