/* SPDX-License-Identifier: Apache-2.0 */
/* What a session held goes with a value to another session, and joins it there. */
#include "monitor/job.h"
#include "policy/label.h"
#include "policy/past.h"

/* ---- carry ---------------------------------------------------------------------------------------------- */

typedef struct il_monitor_carry_job {
    const il_alloc *alloc;
    uint32_t effects;
    il_origin *origin; /* NULL: none */
} il_monitor_carry_job;

typedef struct il_carry_names { /* to be merged to one label */
    const il_alloc *alloc;
    il_origin **list;
    size_t n;
} il_carry_names;

static void il_carry_free(il_carry_names *names) {
    for (size_t i = 0; i < names->n; i++) {
        il_origin_free(names->list[i]);
    }
    names->n = 0;
}

/* Each source once and each agent once: who read which is not kept. */
static il_status il_carry_list(il_carry_names *names, const il_cel_value *sources, const il_cel_value *agents, il_error *err) {
    const uint32_t n = sources->n > agents->n ? sources->n : agents->n;
    for (uint32_t i = 0; i < n && sources->n > 0 && names->n < IL_ORIGIN_NAMES; i++) {
        const il_str source = il_cel_str(sources->u.items[i < sources->n ? i : 0]);
        const il_str agent = agents->n > 0 ? il_cel_str(agents->u.items[i < agents->n ? i : 0]) : IL_STR("");
        IL_TRY(il_origin_new(names->alloc, source, agent, &names->list[names->n], err));
        names->n++;
    }
    return IL_OK;
}

static il_status il_carry_label(il_plan *p, il_carry_names *names, il_monitor_carry_job *j, il_error *err) {
    const il_label_call call = {.memory = p->memory, .agent = il_str_of(p->s->principal)};
    il_cel_value past[3];
    IL_TRY(il_past_sources(p->core->policy, &call, p->arena, past, err));
    names->list = IL_NEW_ARRAY(p->arena, il_origin *, (size_t)IL_ORIGIN_NAMES + 1);
    if (names->list == NULL) {
        return il_arena_fail(p->arena, err);
    }
    IL_TRY(il_carry_list(names, &past[0], &past[2], err));
    /* what was read before anything was remembered, or through another session, has no name */
    const bool tainted = (j->effects & (uint32_t)IL_UNTRUSTED) != 0;
    if (p->memory == NULL ? tainted
                          : (!il_memory_complete(p->memory) || past[0].n > IL_ORIGIN_NAMES || (tainted && past[1].n == 0))) {
        IL_TRY(il_origin_unknown(names->alloc, &names->list[names->n], err));
        names->n++;
    }
    return names->n > 0 ? il_origin_merge(names->alloc, (const il_origin *const *)names->list, names->n, &j->origin, err) : IL_OK;
}

static il_status il_monitor_carry_work(il_plan *p, void *ctx, il_error *err) {
    il_monitor_carry_job *j = ctx;
    il_carry_names names = {.alloc = j->alloc};
    const uint32_t held = ((uint32_t)p->s->counted | p->s->shadow);
    il_origin_free(j->origin); /* of a try before */
    j->origin = NULL;
    j->effects = (held & IL_TAINTS) |
                 (p->s->open != 0 || p->s->flight != 0 || (held & (uint32_t)IL_EGRESS) != 0 ? (uint32_t)IL_EGRESS : 0u);
    const il_status s = il_carry_label(p, &names, j, err);
    il_carry_free(&names);
    return s;
}

il_status il_monitor_carry(il_monitor *m, il_str session, const il_alloc *alloc, il_run_state *out, il_error *err) {
    il_monitor_carry_job j = {.alloc = alloc};
    il_monitor_job job = {.work = il_monitor_carry_work, .ctx = &j, .sweeps = true, .recalls = true};
    if (alloc == NULL || out == NULL || m == NULL || m->core.policy == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "no monitor with a policy, allocator or place for what is carried");
    }
    *out = (il_run_state){0};
    job.recalls = m->core.remembers;
    const il_status s = il_monitor_do(m, session, &job, err);
    if (s != IL_OK) {
        il_origin_free(j.origin);
        return s;
    }
    *out = (il_run_state){.size = sizeof *out, .effects = j.effects, .origin = j.origin};
    return IL_OK;
}

/* ---- receive ---------------------------------------------------------------------------------------------- */

static il_status il_monitor_receive_work(il_plan *p, void *ctx, il_error *err) {
    const il_run_state *run = ctx;
    return il_plan_receive(p, run->effects, err);
}

/* The taint first: whatever ends this between two notices, the session holds it. */
il_status il_monitor_receive(il_monitor *m, il_str session, const il_run_state *run, il_error *err) {
    il_run_state copy = run != NULL && run->size >= sizeof *run ? *run : (il_run_state){0};
    il_monitor_job job = {.work = il_monitor_receive_work, .ctx = &copy, .sweeps = true};
    if (m == NULL || m->core.policy == NULL || copy.size == 0) {
        return il_error_set(err, IL_E_ARGUMENT, "no monitor with a policy, or a run without its size");
    }
    const il_trust_table table = il_policy_trust(m->core.policy);
    const bool unknown = copy.origin != NULL && (il_origin_more(copy.origin) || il_origin_sources(copy.origin) == 0);
    copy.effects |= unknown ? (uint32_t)IL_UNTRUSTED : 0u;
    IL_TRY(il_monitor_do(m, session, &job, err));
    const size_t sources = copy.origin != NULL ? il_origin_sources(copy.origin) : 0;
    const size_t agents = sources > 0 ? il_origin_agents(copy.origin) : 0, most = sources > agents ? sources : agents;
    for (size_t i = 0; i < most + (unknown ? 1 : 0); i++) {
        const bool named = i < most;
        const il_str source = named ? il_origin_lineage(copy.origin, i < sources ? i : 0) : IL_STR("unknown");
        const il_notice notice = {.size = sizeof notice,
                                  .kind = IL_NOTICE_MESSAGE,
                                  .from = source,
                                  .untrusted = !named || !table.trusts(table.ctx, source),
                                  .agent = agents > 0 ? il_origin_agent(copy.origin, i < agents ? i : 0) : IL_STR("")};
        IL_TRY(il_monitor_notice(m, session, &notice, err));
    }
    return IL_OK;
}
