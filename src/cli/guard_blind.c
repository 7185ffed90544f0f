/* SPDX-License-Identifier: Apache-2.0 */
/* Certainty must be there to be had: before a session is watched, the twin plant says for each alarm on `certain` whether two
 * runs, one in the region and one not, can look alike for ever. A guard that waited for it then would be one that sees nothing
 * and says that all is well. */
#include "check/twin.h"
#include "cli/guard.h"
#include "interlock/host.h"

#define BLIND_STATES (1u << 20)
#define BLIND_BYTES ((size_t)256 << 20)
#define BLIND_ARENA_BYTES ((size_t)64 << 20)

static const il_space_bounds blind_bounds = {.states = BLIND_STATES, .bytes = BLIND_BYTES};

/* NULL: it can be told. */
static il_status blind_region(const il_plant *plant, il_eye eye, uint32_t region, il_arena *arena, const char **why,
                              il_error *err) {
    il_twin twin = {0};
    const il_twin_ask ask = {.region = region, .eye = eye, .now = true, .brief = true};
    *why = "a bound was reached before it was known whether certainty can be had; the alarm is not raised";
    IL_TRY(il_twin_run(plant, &ask, &blind_bounds, arena, &twin, err));
    switch (twin.word) {
    case IL_TWIN_BOUNDED:
        return IL_OK;
    case IL_TWIN_BLIND:
        *why = "a run in the region can look for ever like one that is not, so the alarm is not raised; interlock diagnose says "
               "what more to see";
        return IL_OK;
    case IL_TWIN_UNENTERED:
    case IL_TWIN_DIAGNOSABLE:
        *why = NULL;
        return IL_OK;
    }
    return IL_OK;
}

static il_status blind_alarms(guard_run *run, guard_machine *m, const il_plant *plant, il_arena *arena, il_error *err) {
    const il_estimator_options seen = il_estimator_options_of(m->model);
    const il_eye eye = {.sees = seen.sees, .uses = seen.uses, .verdicts = seen.verdicts};
    for (uint32_t i = 0; i < m->nalarms; i++) {
        guard_alarm *a = &m->alarms[i];
        const char *why = NULL;
        if (!a->certain) {
            continue;
        }
        IL_TRY(blind_region(plant, eye, a->region, arena, &why, err));
        a->blind = why != NULL;
        const guard_said said = {.what = "blind", .region = m->model->regions[a->region].name, .why = why};
        if (why) {
            IL_TRY(guard_say(run, &said, err));
        }
    }
    return IL_OK;
}

il_status guard_blind(guard_run *run, guard_machine *m, il_error *err) {
    il_arena arena;
    bool wanted = false;
    for (uint32_t i = 0; i < m->nalarms; i++) {
        wanted = wanted || m->alarms[i].certain;
    }
    if (!wanted || !m->estimator) {
        return IL_OK;
    }
    il_arena_init(&arena, il_host_alloc(), BLIND_ARENA_BYTES);
    const il_status status = blind_alarms(run, m, il_estimator_plant(m->estimator), &arena, err);
    il_arena_free(&arena);
    return status;
}
