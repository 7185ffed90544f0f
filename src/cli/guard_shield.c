/* SPDX-License-Identifier: Apache-2.0 */
/* Corrective actions, through the monitor: the same load, step and compare-and-commit as any other, with a row in the trail
 * that says why. Who may write the ledger may take them, and nobody else can: its file mode is the credential. */
#include <stdio.h>
#include <string.h>

#include "cli/guard.h"
#include "interlock/host.h"

static const char *const shield_words[] = {"quarantine", "end"};

const char *guard_shield_word(const il_model *m, uint32_t symbol) {
    if (symbol == IL_NO_SYMBOL) {
        return NULL;
    }
    const il_action_def *a = &m->actions[il_model_action_of(m, symbol)];
    for (size_t i = 0; i < sizeof shield_words / sizeof shield_words[0]; i++) {
        if (il_str_eq(a->name, il_str_of(shield_words[i]))) {
            return shield_words[i];
        }
    }
    return NULL;
}

/* The row that raised the alarm may be old: what is the session now? *over: it ended, or is frozen. */
static il_status shield_over(const guard_run *run, const guard_session *s, bool *over, il_error *err) {
    uint8_t bytes[IL_SESSION_STATE_MAX];
    il_session session;
    const il_store store = il_ledger_store(run->writes);
    uint64_t version = 0;
    size_t n = 0;
    IL_TRY(store.load(store.ctx, IL_STR(IL_SPACE_SESSION), il_str_of(s->id), bytes, sizeof bytes, &n, &version, err));
    IL_TRY(il_session_decode(bytes, n, &session, err));
    *over = session.quarantined || il_bind_phase(&s->machine->bind, session.state, "ended");
    return IL_OK;
}

/* `end` freezes first: that says why, and keeps what is in flight from being handed on. */
static il_status shield_take(const guard_run *run, const guard_session *s, const guard_alarm *alarm, const char *level,
                             bool *over, il_error *err) {
    char why[IL_SESSION_ID_BYTES];
    il_monitor *monitor = NULL;
    const il_str id = il_str_of(s->id);
    const il_monitor_config config = {
        .size = sizeof config, .machine = s->machine->machine, .store = il_ledger_store(run->writes), .host = il_host_system()};
    IL_TRY(shield_over(run, s, over, err));
    if (*over) {
        return IL_OK;
    }
    IL_TRY(il_monitor_new(il_host_alloc(), &config, &monitor, err));
    (void)il_format(why, sizeof why, "guard:%.*s:%s", IL_STR_ARG(s->machine->model->regions[alarm->region].name), level);
    il_status status = il_monitor_quarantine(monitor, id, il_str_of(why), err);
    if (status == IL_OK && strcmp(alarm->shield, "end") == 0) {
        status = il_monitor_end(monitor, id, true, err);
    }
    il_monitor_free(monitor);
    return status;
}

/* Freezing twice is freezing once; a session that cannot be frozen any more is none that goes on. */
il_status guard_shield(guard_run *run, guard_session *s, const guard_alarm *alarm, const char *level, const char **said,
                       il_error *err) {
    il_error why = {0};
    if (!alarm->shield) {
        return IL_OK;
    }
    if (!run->shield) {
        *said = "not-taken";
        return IL_OK;
    }
    if (s->ended || s->quarantined) {
        *said = "already";
        return IL_OK;
    }
    bool over = false;
    const il_status status = shield_take(run, s, alarm, level, &over, &why);
    if (status == IL_OK) {
        *said = over ? "already" : "taken";
        s->quarantined = true;
        return IL_OK;
    }
    if (status == IL_E_MEMORY) {
        return il_error_set(err, status, "%s", why.msg);
    }
    *said = "failed";
    (void)fprintf(stderr, "interlock: warning: session `%s`: the shield `%s` was not taken: %s\n", s->id, alarm->shield, why.msg);
    return IL_OK;
}
