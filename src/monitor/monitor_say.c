/* SPDX-License-Identifier: Apache-2.0 */
/* What a session hears without having asked: its human, servers that speak up, what describes their tools. */
#include "monitor/job.h"
#include "provenance/origin.h"

typedef struct il_monitor_say_job {
    const il_notice *notice; /* NULL: typed */
    il_str text;
    uint8_t digest[IL_DIGEST_BYTES];
} il_monitor_say_job;

static il_status il_monitor_say_work(il_plan *p, void *ctx, il_error *err) {
    const il_monitor_say_job *j = ctx;
    return j->notice != NULL ? il_plan_notice(p, j->notice, j->digest, err) : il_plan_say(p, j->text, j->digest, err);
}

/* For a policy that asks nothing of the past nothing is noted, but that the session is there. Without a policy it is not known what it asks: what was typed is noted. */
static il_status il_monitor_say_run(const il_monitor *m, il_str session, il_monitor_say_job *j, il_error *err) {
    il_monitor_job job = {.work = il_monitor_say_work, .ctx = j, .sweeps = true, .recalls = true};
    il_sha256 h;
    if (m == NULL || !(m->core.remembers || (m->core.policy == NULL && j->notice == NULL))) {
        return il_monitor_check(m, session, err);
    }
    if (j->notice != NULL && j->notice->value != NULL) {
        IL_TRY(il_json_digest(j->notice->value, m->host.sha256, j->digest, err));
    } else {
        il_sha256_init(&h, m->host.sha256);
        il_sha256_add(&h, j->text.p, j->text.n);
        il_sha256_end(&h, j->digest);
    }
    return il_monitor_do(m, session, &job, err);
}

il_status il_monitor_say(il_monitor *m, il_str session, il_str text, il_error *err) {
    il_monitor_say_job j = {.text = text};
    return il_monitor_say_run(m, session, &j, err);
}

il_status il_monitor_notice(il_monitor *m, il_str session, const il_notice *notice, il_error *err) {
    if (notice == NULL || notice->size < sizeof *notice) {
        return il_error_set(err, IL_E_ARGUMENT, "a notice without its size");
    }
    il_monitor_say_job j = {.notice = notice, .text = notice->text};
    return il_monitor_say_run(m, session, &j, err);
}

/* ---- endorsements -------------------------------------------------------------------------------------- */

typedef struct il_monitor_endorse_job {
    const il_endorsement *endorsement;
    il_str note;
} il_monitor_endorse_job;

static il_status il_monitor_endorse_work(il_plan *p, void *ctx, il_error *err) {
    const il_monitor_endorse_job *j = ctx;
    return il_plan_endorse(p, j->endorsement, j->note, err);
}

/* Leaves its row whatever the policy remembers. */
il_status il_monitor_endorse(il_monitor *m, il_str session, const il_endorsement *e, il_str note, il_error *err) {
    il_monitor_endorse_job j = {.endorsement = e, .note = note};
    il_monitor_job job = {.work = il_monitor_endorse_work, .ctx = &j, .sweeps = true, .recalls = true};
    IL_TRY(il_monitor_check(m, session, err));
    IL_TRY(il_origin_endorsement_check(e, err));
    return il_monitor_do(m, session, &job, err);
}
