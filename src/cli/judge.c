/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/judge.h"

#include "base/sha256.h"

struct il_judge {
    il_ledger *ledger;
    il_monitor *monitor;
    uint64_t now_ms, drawn;
};

#define JUDGE_KEY_BYTES 24

static bool judge_now(void *ctx, uint64_t *out) {
    il_judge *j = ctx;
    *out = ++j->now_ms;
    return true;
}

/* Ids must differ, not be secret: nobody but this process sees the ledger. */
static bool judge_random(void *ctx, void *out, size_t n) {
    il_judge *j = ctx;
    uint8_t *at = out;
    while (n > 0) {
        uint8_t digest[IL_DIGEST_BYTES];
        const size_t some = n < sizeof digest ? n : sizeof digest;
        j->drawn++;
        il_sha256_of((il_str){(const char *)&j->drawn, sizeof j->drawn}, digest);
        memcpy(at, digest, some);
        at += some;
        n -= some;
    }
    return true;
}

il_status il_judge_new(const il_policy *policy, il_judge **out, il_error *err) {
    const il_alloc *alloc = il_host_alloc();
    const il_ledger_options options = {.size = sizeof options};
    *out = NULL;
    il_judge *j = alloc->alloc(alloc->ctx, sizeof *j);
    if (!j) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    *j = (il_judge){0};
    il_status status = il_ledger_open(alloc, ":memory:", &options, &j->ledger, err);
    if (status == IL_OK) {
        const il_monitor_config config = {
            .size = sizeof config,
            .policy = policy,
            .store = il_ledger_store(j->ledger),
            .host = {.size = sizeof(il_host), .ctx = j, .now_ms = judge_now, .random = judge_random},
            .enforce = true};
        status = il_monitor_new(alloc, &config, &j->monitor, err);
    }
    if (status != IL_OK) {
        il_judge_free(j);
        return status;
    }
    *out = j;
    return IL_OK;
}

void il_judge_free(il_judge *j) {
    const il_alloc *alloc = il_host_alloc();
    if (j) {
        il_monitor_free(j->monitor);
        il_ledger_close(j->ledger);
        alloc->free(alloc->ctx, j);
    }
}

/* Ids of a file are any text; the ledger's are not. A session's place in the file is unique and short. */
static il_str judge_key(uint32_t line, char out[JUDGE_KEY_BYTES]) {
    return (il_str){out, il_format(out, JUDGE_KEY_BYTES, "line-%u", (unsigned)line)};
}

static bool judge_broken(il_status status) { return status == IL_E_MEMORY || status == IL_E_INTERNAL; }

static il_status judge_step(il_judge *j, il_str session, const il_recording_step *step, il_judgement *out, il_error *err) {
    const size_t dot = il_str_find(step->tool, IL_STR("."), 0);
    const il_call call = {.size = sizeof call,
                          .server = dot == SIZE_MAX ? IL_STR("") : il_str_part(step->tool, 0, dot),
                          .tool = dot == SIZE_MAX ? step->tool : il_str_part(step->tool, dot + 1, step->tool.n),
                          .args = step->args};
    il_decision d = IL_DECISION_INIT;
    il_status status = il_monitor_decide(j->monitor, session, &call, &d, err);
    if (status == IL_OK && step->approved && d.action == IL_ACTION_REQUIRE_APPROVAL && d.approval[0]) {
        status = il_monitor_approve(j->monitor, session, il_str_of(d.approval), IL_STR("session file"), err);
        if (status == IL_OK) {
            d = (il_decision)IL_DECISION_INIT;
            status = il_monitor_decide(j->monitor, session, &call, &d, err);
        }
    }
    *out = (il_judgement){.effects = d.effects, .action = d.action, .layer = d.layer};
    memcpy(out->reason, d.reason, sizeof out->reason);
    memcpy(out->message, d.message, sizeof out->message);
    if (status == IL_OK && d.run) {
        const il_outcome outcome = {
            .size = sizeof outcome, .how = step->failed ? IL_OUTCOME_FAILED : IL_OUTCOME_DONE, .result = step->result};
        il_settlement settlement = IL_SETTLEMENT_INIT;
        status = il_monitor_settle(j->monitor, session, d.ticket, &outcome, &settlement, err);
    }
    /* A fault of one step is that step's decision; memory is nobody's. */
    return judge_broken(status) ? status : IL_OK;
}

il_status il_judge_recording(il_judge *j, const il_recording *recording, il_judgement *out, il_error *err) {
    char key[JUDGE_KEY_BYTES], parent[JUDGE_KEY_BYTES];
    const il_str session = judge_key(recording->line, key);
    const il_begin how = {.size = sizeof how,
                          .parent = recording->parent_line ? judge_key(recording->parent_line, parent) : IL_STR("")};
    const il_status status = il_monitor_begin(j->monitor, session, &how, err);
    /* A session that could not begin (its parent's effects may not be joined) is absent, and each of its steps is decided as that. */
    if (judge_broken(status)) {
        return status;
    }
    for (uint32_t i = 0; i < recording->nsteps; i++) {
        IL_TRY(judge_step(j, session, &recording->steps[i], &out[i], err));
    }
    return IL_OK;
}
