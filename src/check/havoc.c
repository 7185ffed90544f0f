/* SPDX-License-Identifier: Apache-2.0 */
/* Havoc: an adversary writes variables at will. Verdict: over the writes that no gate mediates, nothing is reached. Beside it the report
 * names every smallest set of variables (up to three) whose writing reaches a region: what the host must keep out of the agent's hands. */
#include "check/parts.h"

enum { HAVOC_SET_MAX = 3 };

typedef struct havoc_target {
    uint32_t region;
    bool laundered;
    uint64_t dropped;
} havoc_target;

static il_view havoc_view(il_harden *h, const havoc_target *t, uint64_t raise, uint64_t lower) {
    return (il_view){.subject = &h->subject,
                     .dropped = t->dropped,
                     .observer = t->laundered ? IL_OBSERVE_GHOSTS : IL_OBSERVE_NOTHING,
                     .raise = raise,
                     .lower = lower};
}

static il_status havoc_try(il_harden *h, const havoc_target *t, uint64_t vars, bool *found, bool *bounded, il_error *err) {
    il_trace trace = {0};
    il_view v = havoc_view(h, t, vars, vars);
    IL_TRY(il_view_reaches(h, &v, t->region, found, bounded, &trace, err));
    if (*found) {
        il_havoc_set *set = IL_NEW(h->subject.arena, il_havoc_set);
        if (!set) {
            return il_arena_fail(h->subject.arena, err);
        }
        *set = (il_havoc_set){.region = t->region,
                              .laundered = t->laundered,
                              .gated = h->subject.m->regions[t->region].gated,
                              .vars = vars,
                              .witness = trace};
        if (h->last_havoc) {
            h->last_havoc->next = set;
        } else {
            h->havoc = set;
        }
        h->last_havoc = set;
    }
    return IL_OK;
}

/* All sets of `size` among `rest` that contain no smaller one that suffices already. */
static il_status havoc_sets(il_harden *h, const havoc_target *t, uint64_t rest, uint32_t size, bool *bounded, il_error *err) {
    uint32_t vars[IL_MODEL_VARS_MAX];
    uint32_t n = 0;
    for (uint32_t v = 0; v < h->subject.m->nvars; v++) {
        if (rest >> v & 1) {
            vars[n++] = v;
        }
    }
    uint32_t at[HAVOC_SET_MAX] = {0, 1, 2};
    while (n >= size && at[0] + size <= n) {
        uint64_t set = 0;
        for (uint32_t i = 0; i < size; i++) {
            set |= UINT64_C(1) << vars[at[i]];
        }
        bool covered = false;
        for (const il_havoc_set *s = h->havoc; s; s = s->next) {
            covered = covered || (s->region == t->region && s->laundered == t->laundered && (s->vars & ~set) == 0);
        }
        bool found = false;
        if (!covered) {
            IL_TRY(havoc_try(h, t, set, &found, bounded, err));
        }
        uint32_t i = size; /* the next combination */
        while (i > 0 && at[i - 1] == n - size + i - 1) {
            i--;
        }
        if (i == 0) {
            break;
        }
        at[i - 1]++;
        for (; i < size; i++) {
            at[i] = at[i - 1] + 1;
        }
    }
    return IL_OK;
}

static uint64_t havoc_named(const il_harden *h, const havoc_target *t) {
    uint64_t vars = 0;
    for (const il_havoc_set *s = h->havoc; s; s = s->next) {
        vars |= s->region == t->region && s->laundered == t->laundered && (s->vars & (s->vars - 1)) == 0 ? s->vars : 0;
    }
    return vars;
}

static il_status havoc_name(il_harden *h, const havoc_target *t, bool *bounded, il_error *err) {
    uint64_t all = h->subject.m->nvars < 64 ? (UINT64_C(1) << h->subject.m->nvars) - 1 : UINT64_MAX;
    bool broken = false;
    il_view nothing = havoc_view(h, t, 0, 0);
    IL_TRY(il_view_reaches(h, &nothing, t->region, &broken, bounded, NULL, err));
    if (broken) {
        return IL_OK; /* reached without an adversary: no variable is to blame */
    }
    IL_TRY(havoc_sets(h, t, all, 1, bounded, err));
    uint64_t rest = all & ~havoc_named(h, t);
    for (uint32_t size = 2; rest != 0 && size <= HAVOC_SET_MAX; size++) {
        bool found = false;
        il_view v = havoc_view(h, t, rest, rest); /* more writes reach more: when all together reach nothing, no set of them does */
        IL_TRY(il_view_reaches(h, &v, t->region, &found, bounded, NULL, err));
        if (!found) {
            break;
        }
        IL_TRY(havoc_sets(h, t, rest, size, bounded, err));
    }
    return IL_OK;
}

static il_status havoc_check(il_harden *h, const havoc_target *t, il_error *err) {
    il_check *c = il_check_add(h, t->laundered ? "havoc-laundered" : "havoc", t->region, true);
    if (!c) {
        return il_arena_fail(h->subject.arena, err);
    }
    uint64_t raise = 0;
    uint64_t lower = 0;
    il_unmediated_writes(h, &raise, &lower);
    il_view v = havoc_view(h, t, raise, lower);
    v.regions = UINT64_C(1) << t->region;
    il_space s = {0};
    il_status status = il_view_explore(&v, &s, err);
    if (status == IL_OK) {
        status = il_check_judge(h, c, &v, &s, t->region, "HAVOC_CEX", err);
    }
    il_space_free(&s);
    IL_TRY(status);
    bool bounded = false;
    IL_TRY(havoc_name(h, t, &bounded, err));
    if (bounded && c->verdict == IL_CHECK_PASS) {
        c->verdict = IL_CHECK_INCONCLUSIVE;
        c->bound_hit = true;
    }
    bool named = false;
    for (const il_havoc_set *set = h->havoc; set; set = set->next) {
        named = named || (set->region == t->region && set->laundered == t->laundered);
    }
    /* Writing everything reaches any state there is: a region of states that even this does not reach is empty. */
    if (c->verdict == IL_CHECK_PASS && !named && !h->subject.m->regions[t->region].edge) {
        bool found = false;
        uint64_t all = h->subject.m->nvars < 64 ? (UINT64_C(1) << h->subject.m->nvars) - 1 : UINT64_MAX;
        il_view everything = havoc_view(h, t, all, all);
        IL_TRY(il_view_reaches(h, &everything, t->region, &found, &bounded, NULL, err));
        if (!found) {
            c->verdict = IL_CHECK_VACUOUS;
            c->finding = "EMPTY_REGION";
        }
    }
    return IL_OK;
}

il_status il_check_havoc(il_harden *h, il_error *err) {
    const il_model *m = h->subject.m;
    for (uint32_t laundered = 0; laundered < 2; laundered++) {
        for (uint32_t r = 0; r < m->nregions; r++) {
            if (laundered && (m->regions[r].gated || h->subject.ntaints == 0)) {
                continue;
            }
            havoc_target t = {.region = r,
                              .laundered = laundered,
                              .dropped = laundered ? h->subject.lowers : m->regions[r].gated ? m->regions[r].by : 0};
            IL_TRY(havoc_check(h, &t, err));
        }
    }
    return IL_OK;
}
