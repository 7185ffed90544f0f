/* SPDX-License-Identifier: Apache-2.0 */
/* Machines of the guard: shipped ones by the seal that a session's first row names, and the one of --machine. */
#include <string.h>

#include "base/sha256.h"
#include "cli/guard.h"
#include "cli/model.h"
#include "host/prove.h"
#include "host/shipped.h"
#include "interlock/host.h"
#include "yaml/yaml.h"

#define GUARD_ARENA_BYTES ((size_t)2 << 30)

/* ---- alarms -------------------------------------------------------------------------------------- */

/* Those of the document; without any, each forbidden region of states as soon as it is possible. */
static void machine_alarms(guard_machine *m) {
    const il_diagnosis *d = m->model->diagnosis;
    for (uint32_t i = 0; d && i < d->nalarms; i++) {
        const il_alarm *a = &d->alarms[i];
        m->alarms[m->nalarms++] =
            (guard_alarm){.region = a->region, .certain = a->certain, .shield = guard_shield_word(m->model, a->shield)};
    }
    for (uint32_t r = 0; m->nalarms == 0 && r < m->model->nregions; r++) {
        const il_region *region = &m->model->regions[r];
        if (!region->gated && !region->edge && !region->rejection) {
            m->alarms[m->nalarms++] = (guard_alarm){.region = r};
        }
    }
}

static il_status machine_shields(const guard_run *run, const guard_machine *m, il_error *err) {
    const il_diagnosis *d = m->model->diagnosis;
    for (uint32_t i = 0; run->shield && d && i < d->nalarms; i++) {
        const il_alarm *a = &d->alarms[i];
        if (a->shield != IL_NO_SYMBOL && !guard_shield_word(m->model, a->shield)) {
            const uint32_t action = il_model_action_of(m->model, a->shield);
            return il_error_at(err, IL_E_INVALID, a->line, a->col, 0,
                               "the shield `%.*s` is none that the monitor can take in a session: that is `quarantine` or `end`; "
                               "name one of them, or leave out --shield",
                               IL_STR_ARG(m->model->actions[action].name));
        }
    }
    return IL_OK;
}

/* ---- one machine --------------------------------------------------------------------------------- */

static il_status machine_complete(guard_run *run, guard_machine *m, il_error *err) {
    uint8_t digest[IL_DIGEST_BYTES];
    il_error why = {0};
    const il_estimator_bounds bounds = {.states = run->max_states};
    const il_str name = il_machine_name(m->machine);
    il_machine_digest(m->machine, digest);
    il_digest_hex(digest, m->seal);
    (void)il_format(m->name, sizeof m->name, "%.*s", IL_STR_ARG(name));
    IL_TRY(il_bind_open(m->machine, &m->bind, err));
    IL_TRY(machine_shields(run, m, err));
    machine_alarms(m);
    IL_TRY(guard_fleet_new(m, err));
    const il_status status = il_estimator_new(il_host_alloc(), m->model, NULL, &bounds, &m->estimator, &why);
    if (status == IL_E_LIMIT) {
        memcpy(m->why, why.msg, sizeof m->why);
        return IL_OK;
    }
    return status == IL_OK ? guard_blind(run, m, err) : il_error_set(err, status, "%s", why.msg);
}

static void machine_free(guard_machine *m) {
    guard_fleet_free(m->fleet);
    il_estimator_free(m->estimator);
    il_machine_free(m->machine);
    il_arena_free(&m->arena);
    il_host_alloc()->free(il_host_alloc()->ctx, m);
}

static il_status machine_add(guard_run *run, guard_machine **out, il_error *err) {
    guard_machine *m = il_host_alloc()->alloc(il_host_alloc()->ctx, sizeof *m);
    *out = m;
    if (!m) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    memset(m, 0, sizeof *m);
    il_arena_init(&m->arena, il_host_alloc(), GUARD_ARENA_BYTES);
    m->next = run->machines;
    run->machines = m; /* freed with the run, whatever becomes of it */
    return IL_OK;
}

static il_status machine_shipped(guard_run *run, il_machine *machine, guard_machine **out, il_error *err) {
    il_str source = {0};
    il_json *doc = NULL;
    const il_status status = machine_add(run, out, err);
    if (status != IL_OK) {
        il_machine_free(machine);
        return status;
    }
    (*out)->machine = machine;
    IL_CHECK(il_shipped_source(il_machine_name(machine), &source), err);
    IL_TRY(il_yaml_parse(&(*out)->arena, source, NULL, &doc, err));
    IL_TRY(il_model_load(&(*out)->arena, doc, &(*out)->model, err));
    return machine_complete(run, *out, err);
}

il_status guard_machine_find(guard_run *run, il_str seal, guard_machine **out, il_error *err) {
    uint8_t digest[IL_DIGEST_BYTES];
    il_machine *machine = NULL;
    for (*out = run->machines; *out; *out = (*out)->next) {
        if (il_str_eq(il_str_of((*out)->seal), seal)) {
            return IL_OK;
        }
    }
    if (!il_digest_read(seal, digest)) {
        return IL_OK;
    }
    const il_status status = il_host_machine_by_digest(il_host_alloc(), digest, &machine, err);
    if (status == IL_E_NOT_FOUND) {
        return IL_OK;
    }
    IL_TRY(status);
    return machine_shipped(run, machine, out, err);
}

/* ---- --machine ----------------------------------------------------------------------------------- */

il_status guard_machine_named(guard_run *run, const char *path, il_error *err) {
    guard_machine *m = NULL;
    il_named_machine named = {.path = path};
    IL_TRY(machine_add(run, &m, err));
    const il_status status = il_named_machine_load(&m->arena, &named, IL_FILE_TRUSTED, err);
    run->machine_flag = named.path;
    IL_TRY(status);
    m->model = named.model;
    /* Only what is fully mediated keeps sessions, so a ledger has no other. */
    IL_TRY(named.shipped.n ? il_host_machine(il_host_alloc(), named.shipped, &m->machine, err)
                           : il_prove_file(il_host_alloc(), &m->arena, named.path, &m->machine, err));
    return machine_complete(run, m, err);
}

void guard_machines_free(guard_run *run) {
    while (run->machines) {
        guard_machine *m = run->machines;
        run->machines = m->next;
        machine_free(m);
    }
}
