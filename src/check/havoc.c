/* SPDX-License-Identifier: Apache-2.0 */
/* Havoc: an adversary writes variables at will. Verdict: over the writes that no gate mediates, nothing is reached. Behind all verdicts the report
 * names every smallest set of variables (up to three) whose writing reaches a region: what the host must keep out of the agent's hands. */
#include "check/parts.h"
#include "check/quotient.h"

enum { HAVOC_SET_MAX = 3, HAVOC_PATIENCE = 1 << 17 /* steps, before a question is asked of several variables together */ };
#define HAVOC_NAMING_WORK (UINT64_C(1) << 26) /* of naming, which is advice; the shipped machines need 2^23 */
#define HAVOC_NAMING_STATES (1u << 20)        /* of each exploration */

/* Regions that are asked on the same machine: one exploration answers for all of them. */
typedef struct havoc_group {
    uint64_t regions;
    bool laundered;
    uint64_t dropped;
} havoc_group;

static il_view havoc_view(il_harden *h, const havoc_group *g, uint64_t regions, uint64_t raise, uint64_t lower) {
    return (il_view){.subject = &h->subject,
                     .dropped = g->dropped,
                     .observer = g->laundered ? IL_OBSERVE_GHOSTS : IL_OBSERVE_NOTHING,
                     .raise = raise,
                     .lower = lower,
                     .regions = regions};
}

static uint64_t havoc_all(const il_harden *h) {
    return h->subject.m->nvars < 64 ? (UINT64_C(1) << h->subject.m->nvars) - 1 : UINT64_MAX;
}

/* What an adversary can write at all. */
static uint64_t havoc_writable(const il_harden *h) {
    uint64_t vars = havoc_all(h);
    for (uint32_t v = 0; v < h->subject.m->nvars; v++) {
        vars &= h->subject.m->vars[v].ghost ? ~(UINT64_C(1) << v) : UINT64_MAX;
    }
    return vars;
}

static il_status havoc_note(il_harden *h, const havoc_group *g, uint32_t region, uint64_t vars, const il_trace *trace,
                            il_error *err) {
    il_havoc_set *set = IL_NEW(h->subject.arena, il_havoc_set);
    if (!set) {
        return il_arena_fail(h->subject.arena, err);
    }
    *set = (il_havoc_set){.region = region,
                          .laundered = g->laundered,
                          .gated = h->subject.m->regions[region].gated,
                          .vars = vars,
                          .witness = *trace};
    if (h->last_havoc) {
        h->last_havoc->next = set;
    } else {
        h->havoc = set;
    }
    h->last_havoc = set;
    return IL_OK;
}

/* With the writes as steps: each of `regions` that is reached is noted as a set when `note`, with its trace. Regions that are not reached before
 * a bound go to *bounded. */
static il_status havoc_explore(il_harden *h, const havoc_group *g, uint64_t regions, uint64_t vars, bool note, uint64_t *reached,
                               uint64_t *bounded, il_error *err) {
    il_view v = havoc_view(h, g, regions, vars, vars);
    il_space s = {0};
    v.stop = regions;
    il_status status = il_view_explore(&v, &s, err);
    for (uint32_t r = 0; status == IL_OK && r < h->subject.m->nregions; r++) {
        if ((regions >> r & 1) == 0) {
            continue;
        }
        if (!s.hits[r].found) {
            *bounded |= s.bound_hit ? UINT64_C(1) << r : 0;
            continue;
        }
        *reached |= UINT64_C(1) << r;
        il_trace trace = {0};
        if (note) {
            status = il_trace_of(h, &v, &s, &s.hits[r], &trace, err);
            status = status == IL_OK ? havoc_note(h, g, r, vars, &trace, err) : status;
        }
    }
    il_space_free(&s);
    return status;
}

/* Which of `regions` are reached when `vars` are written at will; on classes of states, where these are few. */
static il_status havoc_try(il_harden *h, const havoc_group *g, uint64_t regions, uint64_t vars, uint64_t *reached,
                           uint64_t *bounded, il_error *err) {
    *reached = 0;
    if (il_quotient_values(h->subject.m, vars) == 0) {
        return havoc_explore(h, g, regions, vars, false, reached, bounded, err);
    }
    il_quotient q;
    il_view v = havoc_view(h, g, regions, 0, 0);
    IL_TRY(il_quotient_reach(&v, vars, UINT64_MAX, &q, err));
    *reached = q.reached;
    *bounded |= q.bound_hit ? regions & ~q.reached : 0;
    return IL_OK;
}

static bool havoc_covered(const il_harden *h, const havoc_group *g, uint32_t region, uint64_t vars) {
    for (const il_havoc_set *s = h->havoc; s; s = s->next) {
        if (s->region == region && s->laundered == g->laundered && (s->vars & ~vars) == 0) {
            return true;
        }
    }
    return false;
}

/* All sets of `size` among `rest` that contain no smaller one that suffices already. */
static il_status havoc_sets(il_harden *h, const havoc_group *g, uint32_t region, uint64_t rest, uint32_t size, uint64_t *bounded,
                            il_error *err) {
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
        if (!havoc_covered(h, g, region, set)) {
            uint64_t reached = 0;
            IL_TRY(havoc_try(h, g, UINT64_C(1) << region, set, &reached, bounded, err));
            if (reached) {
                IL_TRY(havoc_explore(h, g, reached, set, true, &reached, bounded, err));
            }
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

/* What single variables reach, before any of it is noted. */
typedef struct havoc_singles {
    uint64_t reached[IL_MODEL_VARS_MAX]; /* of variable v: regions */
    uint64_t open[IL_MODEL_VARS_MAX];    /* not decided */
    uint64_t done;                       /* regions that the variables which do not reach them do not reach together either */
} havoc_singles;

static uint64_t havoc_rest(const il_harden *h, const havoc_singles *one, uint32_t region) {
    uint64_t rest = 0;
    for (uint32_t v = 0; v < h->subject.m->nvars; v++) {
        rest |= one->reached[v] >> region & 1 ? 0 : UINT64_C(1) << v;
    }
    return rest & havoc_writable(h);
}

/* What a variable reaches it mostly reaches soon. */
static il_status havoc_soon(il_harden *h, const havoc_group *g, uint64_t regions, havoc_singles *one, il_error *err) {
    for (uint32_t v = 0; v < h->subject.m->nvars; v++) {
        il_quotient q;
        il_view view = havoc_view(h, g, regions, 0, 0);
        if (h->subject.m->vars[v].ghost) {
            continue;
        }
        IL_TRY(il_quotient_reach(&view, UINT64_C(1) << v, HAVOC_PATIENCE, &q, err));
        one->reached[v] = q.reached;
        one->open[v] = q.cut || q.bound_hit ? regions & ~q.reached : 0;
    }
    return IL_OK;
}

/* More writes reach more: what all the others do not reach together, none of them reaches. Only where they do is each asked to the end. */
static il_status havoc_decide(il_harden *h, const havoc_group *g, uint64_t regions, havoc_singles *one, uint64_t *bounded,
                              il_error *err) {
    const il_model *m = h->subject.m;
    for (uint32_t r = 0; r < m->nregions; r++) {
        uint64_t reached = 0, same = 0, limit = 0, rest = havoc_rest(h, one, r);
        if ((regions >> r & 1) == 0 || (one->done >> r & 1)) {
            continue;
        }
        for (uint32_t k = r; k < m->nregions; k++) {
            same |= (regions >> k & 1) && havoc_rest(h, one, k) == rest ? UINT64_C(1) << k : 0;
        }
        if (rest != 0) {
            IL_TRY(havoc_try(h, g, same, rest, &reached, &limit, err));
        }
        one->done |= same & ~reached & ~limit;
    }
    for (uint32_t v = 0; v < m->nvars; v++) {
        uint64_t open = one->open[v] & ~one->done, reached = 0;
        if (open != 0) {
            IL_TRY(havoc_try(h, g, open, UINT64_C(1) << v, &reached, bounded, err));
            one->reached[v] |= reached;
        }
    }
    return IL_OK;
}

/* The sets of several: none of them holds a variable that suffices by itself. */
static il_status havoc_larger(il_harden *h, const havoc_group *g, uint32_t region, uint64_t *bounded, il_error *err) {
    uint64_t rest = havoc_writable(h);
    for (const il_havoc_set *s = h->havoc; s; s = s->next) {
        rest &= s->region == region && s->laundered == g->laundered ? ~s->vars : UINT64_MAX;
    }
    for (uint32_t size = 2; rest != 0 && size <= HAVOC_SET_MAX; size++) {
        uint64_t reached = 0;
        if (h->subject.large) { /* each of the many sets would end at the bound */
            *bounded |= UINT64_C(1) << region;
            break;
        }
        IL_TRY(havoc_try(h, g, UINT64_C(1) << region, rest, &reached, bounded, err));
        if (!reached) {
            break;
        }
        IL_TRY(havoc_sets(h, g, region, rest, size, bounded, err));
    }
    return IL_OK;
}

static il_status havoc_name_all(il_harden *h, const havoc_group *g, uint64_t *bounded, il_error *err) {
    uint64_t broken = 0;
    uint64_t reached = 0;
    havoc_singles one = {0};
    IL_TRY(havoc_try(h, g, g->regions, 0, &broken, bounded, err));
    uint64_t whole = g->regions & ~broken; /* what is reached without an adversary is no variable's fault */
    if (whole == 0) {
        return IL_OK;
    }
    IL_TRY(havoc_soon(h, g, whole, &one, err));
    IL_TRY(havoc_decide(h, g, whole, &one, bounded, err));
    for (uint32_t v = 0; v < h->subject.m->nvars; v++) {
        if (one.reached[v]) {
            IL_TRY(havoc_explore(h, g, one.reached[v], UINT64_C(1) << v, true, &reached, bounded, err));
        }
    }
    for (uint32_t r = 0; r < h->subject.m->nregions; r++) {
        if (whole & ~one.done & UINT64_C(1) << r) {
            IL_TRY(havoc_larger(h, g, r, bounded, err));
        }
    }
    return IL_OK;
}

static il_status havoc_name(il_harden *h, const havoc_group *g, il_error *err) {
    return havoc_name_all(h, g, &h->unnamed[g->laundered], err);
}

/* Writing everything reaches any state there is: a region of states that even this does not reach is empty. With ghosts that says nothing:
 * they are beyond the adversary, and one may imply another. */
static il_status havoc_empty(il_harden *h, const havoc_group *g, il_check *c, il_error *err) {
    uint64_t reached = 0, limit = 0;
    if (g->laundered || c->verdict != IL_CHECK_PASS || h->subject.m->regions[c->region].edge) {
        return IL_OK;
    }
    IL_TRY(havoc_try(h, g, UINT64_C(1) << c->region, havoc_all(h), &reached, &limit, err));
    if (limit) {
        c->verdict = IL_CHECK_INCONCLUSIVE;
        c->bound_hit = h->bounded = true;
    } else if (!reached) {
        c->verdict = IL_CHECK_VACUOUS;
        c->finding = "EMPTY_REGION";
    }
    return IL_OK;
}

/* Below a bound nobody knows all unmediated writes: an adversary who makes those that are known may not be the one that is asked about. */
static il_status havoc_line(il_harden *h, il_check *c, const il_view *v, const il_space *s, uint32_t bit, const char *finding,
                            il_error *err) {
    IL_TRY(il_check_judge(h, c, v, s, bit, finding, err));
    if (h->subject.large && c->verdict == IL_CHECK_PASS) {
        c->verdict = IL_CHECK_INCONCLUSIVE;
        c->bound_hit = h->bounded = true;
    }
    return IL_OK;
}

/* One exploration for all regions of a group; where an adversary is typed, and one who writes at will reaches a region, a second. */
static il_status havoc_judge(il_harden *h, il_view *v, il_check **lines, const char *finding, il_error *err) {
    const il_subject *s = &h->subject;
    il_space space = {0};
    v->declared = s->typed ? IL_DECLARED_AT_WILL : s->at_will ? IL_DECLARED_TYPED : IL_DECLARED_NONE;
    il_unmediated_writes(h, &v->raise, &v->lower);
    il_status status = il_view_explore(v, &space, err);
    uint64_t typed = 0;
    for (uint32_t r = 0; status == IL_OK && r < s->m->nregions; r++) {
        if (lines[r] && s->typed && space.hits[r].found) {
            typed |= UINT64_C(1) << r;
        } else if (lines[r]) {
            status = havoc_line(h, lines[r], v, &space, r, finding, err);
        }
    }
    il_space_free(&space);
    if (status != IL_OK || typed == 0) {
        return status;
    }
    v->declared = IL_DECLARED_TYPED;
    status = il_view_explore(v, &space, err);
    for (uint32_t r = 0; status == IL_OK && r < s->m->nregions; r++) {
        if (typed >> r & 1) {
            status = havoc_line(h, lines[r], v, &space, r, finding, err);
            if (lines[r]->verdict == IL_CHECK_PASS) {
                lines[r]->verdict = IL_CHECK_INCONCLUSIVE; /* a weaker claim than the one that is asked for */
                lines[r]->finding = "PASS_TYPED";
            }
        }
    }
    il_space_free(&space);
    return status;
}

il_status il_check_havoced(il_harden *h, il_check *c, const il_view *v, uint32_t bit, const char *finding, il_error *err) {
    il_check *lines[IL_MODEL_REGIONS_MAX] = {0};
    il_view view = *v;
    lines[bit] = c;
    return havoc_judge(h, &view, lines, finding, err);
}

static il_status havoc_lines(il_harden *h, const havoc_group *g, il_check **lines, il_error *err) {
    il_view v = havoc_view(h, g, g->regions, 0, 0);
    for (uint32_t r = 0; r < h->subject.m->nregions; r++) {
        if (g->regions >> r & 1) {
            lines[r] = il_check_add(h, g->laundered ? "havoc-laundered" : "havoc", r, true);
            if (!lines[r]) {
                return il_arena_fail(h->subject.arena, err);
            }
        }
    }
    return havoc_judge(h, &v, lines, "HAVOC_CEX", err);
}

static il_status havoc_check(il_harden *h, const havoc_group *g, il_error *err) {
    il_check *lines[IL_MODEL_REGIONS_MAX] = {0};
    IL_TRY(havoc_lines(h, g, lines, err));
    for (uint32_t r = 0; r < h->subject.m->nregions; r++) {
        if (lines[r]) {
            IL_TRY(havoc_empty(h, g, lines[r], err));
        }
    }
    return IL_OK;
}

static il_status havoc_each(il_harden *h, il_status (*run)(il_harden *h, const havoc_group *g, il_error *err), il_error *err) {
    const il_subject *s = &h->subject;
    const havoc_group never = {.regions = s->never};
    if (s->never) {
        IL_TRY(run(h, &never, err));
    }
    for (uint32_t r = 0; r < s->m->nregions; r++) {
        const havoc_group gated = {.regions = UINT64_C(1) << r, .dropped = s->m->regions[r].by};
        if (s->m->regions[r].gated) {
            IL_TRY(run(h, &gated, err));
        }
    }
    const havoc_group laundered = {.regions = s->never, .laundered = true, .dropped = s->lowers};
    return s->never && s->ntaints > 0 ? run(h, &laundered, err) : IL_OK;
}

il_status il_check_havoc(il_harden *h, il_error *err) { return havoc_each(h, havoc_check, err); }

/* With work of its own, so that no verdict depends on how much of it there was. */
il_status il_name_havoc(il_harden *h, il_error *err) {
    const il_space_bounds whole = h->subject.bounds;
    il_space_bounds *own = &h->subject.bounds;
    uint64_t spent = 0;
    own->spent = &spent;
    own->work = whole.work && whole.work < HAVOC_NAMING_WORK ? whole.work : HAVOC_NAMING_WORK;
    own->states = whole.states && whole.states < HAVOC_NAMING_STATES ? whole.states : HAVOC_NAMING_STATES;
    const il_status status = havoc_each(h, havoc_name, err);
    *own = whole;
    return status;
}
