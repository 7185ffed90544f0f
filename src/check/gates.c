/* SPDX-License-Identifier: Apache-2.0 */
/* Gate deletion. Deleting transitions from a machine whose region is unreachable can show nothing, so `never` regions are asked two other
 * questions: is it reached when all gates are gone and an adversary makes the unmediated writes; does each gate's own guard hold it shut. */
#include "check/parts.h"

static il_status gates_sets(il_harden *h, uint32_t r, il_error *err) {
    const il_region *region = &h->subject.m->regions[r];
    uint32_t gates[IL_MODEL_ACTIONS_MAX];
    uint32_t n = 0;
    for (uint32_t a = 0; a < h->subject.m->nactions; a++) {
        if (region->by >> a & 1) {
            gates[n++] = a;
        }
    }
    for (uint32_t size = 1; size <= 2; size++) {
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t k = size == 1 ? i : i + 1; k < (size == 1 ? i + 1 : n); k++) {
                uint64_t keep = UINT64_C(1) << gates[i] | UINT64_C(1) << gates[k];
                bool found = false;
                bool bounded = false;
                il_view v = {.subject = &h->subject, .table = h->subject.table != NULL, .dropped = region->by & ~keep};
                IL_TRY(il_view_reaches(h, &v, r, &found, &bounded, NULL, err));
                if (found) {
                    h->gate_sets[r] = keep;
                    return IL_OK;
                }
            }
        }
    }
    h->gate_sets[r] = region->by;
    return IL_OK;
}

static il_status gates_gated(il_harden *h, uint32_t r, il_check *c, il_error *err) {
    const il_subject *s = &h->subject;
    bool reached = false;
    il_view whole = {.subject = &h->subject, .table = s->table != NULL};
    IL_TRY(il_view_reaches(h, &whole, r, &reached, &c->bound_hit, &c->witness, err));
    il_view without = {
        .subject = &h->subject, .table = s->table != NULL, .dropped = s->m->regions[r].by, .regions = UINT64_C(1) << r};
    il_space space = {0};
    il_status status = il_view_explore(&without, &space, err);
    if (status == IL_OK && (space.hits[r].found || reached)) {
        il_trace through = c->witness;
        status = il_check_judge(h, c, &without, &space, r, "BYPASS", err);
        if (c->verdict != IL_CHECK_FAIL) {
            c->witness = through; /* the way through the gate */
        }
    }
    il_space_free(&space);
    IL_TRY(status);
    if (!reached && c->verdict != IL_CHECK_FAIL) {
        c->verdict = c->bound_hit ? IL_CHECK_INCONCLUSIVE : IL_CHECK_VACUOUS;
        c->finding = c->bound_hit ? NULL : "NOTHING_WAS_MEDIATED";
        return IL_OK;
    }
    return gates_sets(h, r, err);
}

static bool gates_opened(const il_harden *h, uint32_t r) {
    for (const il_guard_result *g = h->guards; g; g = g->next) {
        if (g->opens == IL_GUARD_OPENS_REGION && g->region == r) {
            return true;
        }
    }
    return false;
}

static bool gates_has_rule(const il_action_def *a, uint8_t rule) {
    for (uint32_t c = 0; rule != 0 && c < a->nclauses; c++) {
        if (a->clauses[c].rule == rule) {
            return true;
        }
    }
    return false;
}

/* Whether the clauses hold another region of the rule shut: of an indexed region each member has the one rule, and `start[prod]` keeps `prod`'s. */
static il_status gates_shuts_other(il_harden *h, const il_variant *skip, uint32_t r, bool *shuts, bool *bounded, il_error *err) {
    const il_model *m = h->subject.m;
    *shuts = false;
    for (uint32_t k = 0; k < m->nregions && !*shuts; k++) {
        if (k != r && m->regions[k].rule == skip->skip_rule && (h->subject.never >> k & 1)) {
            il_view without = {.subject = &h->subject, .variant = *skip};
            IL_TRY(il_view_reaches(h, &without, k, shuts, bounded, NULL, err));
        }
    }
    return IL_OK;
}

/* Behind the colon of `IDLE`: which gates. */
static il_status gates_name(il_harden *h, uint64_t gates, il_check *c, il_error *err) {
    const il_model *m = h->subject.m;
    il_buf b;
    il_buf_init(&b, h->subject.arena, 8192);
    for (uint32_t a = 0; a < m->nactions; a++) {
        if (gates >> a & 1) {
            il_buf_puts(&b, b.n > 0 ? ", " : "");
            il_buf_put(&b, m->actions[a].name);
        }
    }
    return il_buf_done(&b, &c->detail, err);
}

static il_status gates_never(il_harden *h, uint32_t r, il_check *c, il_error *err) {
    const il_subject *s = &h->subject;
    const il_region *region = &s->m->regions[r];
    il_view v = {.subject = &h->subject, .dropped = s->gates, .regions = UINT64_C(1) << r};
    IL_TRY(il_check_havoced(h, c, &v, r, "BYPASS", err));
    if (c->verdict == IL_CHECK_FAIL || region->must) {
        return IL_OK; /* an invariant of steps is kept by updates as often as by guards */
    }
    bool opened = gates_opened(h, r);
    bool bounded = false;
    uint64_t idle = 0;
    for (uint32_t a = 0; a < s->m->nactions; a++) {
        if (!s->m->actions[a].gate || !gates_has_rule(&s->m->actions[a], region->rule)) {
            continue;
        }
        bool found = false, other = false;
        const il_variant skip = {.skip = true, .skip_action = a, .skip_rule = region->rule};
        il_view without = {.subject = &h->subject, .variant = skip};
        IL_TRY(il_view_reaches(h, &without, r, &found, &bounded, NULL, err));
        opened = opened || found;
        if (!found) {
            IL_TRY(gates_shuts_other(h, &skip, r, &other, &bounded, err));
        }
        idle |= found || other ? 0 : UINT64_C(1) << a;
    }
    if (bounded || (h->bounded && !opened)) {
        c->verdict = IL_CHECK_INCONCLUSIVE;
        c->bound_hit = true;
    } else if (!opened) {
        c->verdict = IL_CHECK_VACUOUS; /* no guard holds it shut: whatever passes, passes for another reason */
        c->finding = "NO_GUARD_MATTERS";
    } else if (idle != 0 && c->verdict == IL_CHECK_PASS) {
        c->verdict = IL_CHECK_INCONCLUSIVE;
        c->finding = "IDLE";
        h->idle_gates |= idle;
        return gates_name(h, idle, c, err);
    }
    return IL_OK;
}

/* A gate none of whose clauses holds anything shut, and that no gated region needs; below a bound nobody knows. */
static void gates_idle(il_harden *h) {
    const il_model *m = h->subject.m;
    for (uint32_t a = 0; a < m->nactions; a++) {
        bool works = !m->actions[a].gate;
        for (const il_guard_result *g = h->guards; g; g = g->next) {
            works = works || g->action == a;
        }
        for (uint32_t r = 0; r < m->nregions; r++) {
            works = works || (m->regions[r].gated && (m->regions[r].by >> a & 1));
        }
        h->idle_gates |= works || h->bounded ? 0 : UINT64_C(1) << a;
        h->idle_open = h->idle_open || (!works && h->bounded);
    }
}

il_status il_check_gates(il_harden *h, il_error *err) {
    const il_model *m = h->subject.m;
    for (uint32_t r = 0; r < m->nregions; r++) {
        if (m->regions[r].rejection) {
            continue; /* what is rejected changes nothing: no gate has a part in it */
        }
        il_check *c = il_check_add(h, "gates", r, true);
        if (!c) {
            return il_arena_fail(h->subject.arena, err);
        }
        IL_TRY(m->regions[r].gated ? gates_gated(h, r, c, err) : gates_never(h, r, c, err));
    }
    gates_idle(h);
    return IL_OK;
}
