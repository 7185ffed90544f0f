/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/judge.h"

#include "base/sha256.h"
#include "monitor/session.h"
#include "policy/approval.h"
#include "policy/judged.h"

struct il_judge {
    const il_policy *policy;
    il_ledger *ledger;
    il_host_recalls *recalls;
    il_monitor *monitor;
    uint64_t now_ms, drawn;
    il_store store; /* the ledger's */
    il_arena arena; /* of the row being looked at */
    char why[IL_JUDGE_WHY_BYTES];
    bool standing;
    bool marked;    /* every place of a store holds every label */
    uint32_t asked; /* sessions of single calls */
    bool cut;       /* of this recording: not all of its prompt was heard */
};

#define JUDGE_KEY_BYTES 24
#define JUDGE_ROW_BYTES ((size_t)4 << 20)

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

/* What a decision says to its caller leaves out why nothing was vouched, its row does not. */
static void judge_look(il_judge *j, il_str body) {
    il_json *row = NULL;
    il_arena_reset(&j->arena);
    if (il_json_parse(&j->arena, body, NULL, &row, NULL) == IL_OK) {
        const il_json *why = il_json_get(row, IL_STR("why")), *sink = il_json_get(row, IL_STR("sink"));
        const il_str text = il_json_kind_of(why) == IL_JSON_STRING ? il_json_text(why) : IL_STR("");
        (void)il_format(j->why, sizeof j->why, "%.*s", IL_STR_ARG(text));
        j->standing = il_str_eq(il_json_text(sink), IL_STR("standing"));
    }
}

static il_status judge_commit(void *ctx, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err) {
    il_judge *j = ctx;
    for (size_t i = 0; i < n; i++) {
        for (size_t r = 0; r < changes[i].nrows; r++) {
            if (il_str_eq(changes[i].rows[r].kind, IL_STR("decision"))) {
                judge_look(j, changes[i].rows[r].body);
            } else if (il_str_eq(changes[i].rows[r].kind, IL_STR("say"))) {
                j->cut = il_str_find(changes[i].rows[r].body, IL_STR("\"cut\":true"), 0) != SIZE_MAX;
            }
        }
    }
    while (j->marked && n > 1 && il_str_eq(changes[n - 1].space, IL_STR(IL_SPACE_STORE))) {
        n--; /* what nobody wrote stays as it is */
    }
    return j->store.commit(j->store.ctx, changes, n, now_ms, err);
}

static il_status judge_load(void *ctx, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                            il_error *err) {
    il_judge *j = ctx;
    if (j->marked && il_str_eq(space, IL_STR(IL_SPACE_STORE))) {
        static const uint8_t all[] = {'I', 'L', 'P', 1, IL_TAINTS, IL_TAINTS}; /* docs/formats.md: places */
        *n = sizeof all;
        *version = 1;
        if (cap < sizeof all) {
            return il_error_set(err, IL_E_LIMIT, "no room for the labels of a place");
        }
        memcpy(buf, all, sizeof all);
        return IL_OK;
    }
    return j->store.load(j->store.ctx, space, key, buf, cap, n, version, err);
}

il_status il_judge_new(const il_policy *policy, bool blind, il_judge **out, il_error *err) {
    const il_alloc *alloc = il_host_alloc();
    const il_ledger_options options = {.size = sizeof options};
    *out = NULL;
    il_judge *j = alloc->alloc(alloc->ctx, sizeof *j);
    if (!j) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    *j = (il_judge){.policy = policy};
    il_arena_init(&j->arena, alloc, JUDGE_ROW_BYTES);
    il_status status = il_ledger_open(alloc, ":memory:", &options, &j->ledger, err);
    if (status == IL_OK) {
        status = il_host_recalls_new(alloc, 0, &j->recalls, err);
    }
    if (status == IL_OK) {
        j->store = il_ledger_store(j->ledger);
        const il_monitor_config config = {
            .size = sizeof config,
            .policy = policy,
            .store = {.size = sizeof(il_store), .ctx = j, .load = judge_load, .commit = judge_commit},
            .host = {.size = sizeof(il_host), .ctx = j, .now_ms = judge_now, .random = judge_random},
            .enforce = true,
            .blind = blind,
            .cache = il_host_recalls_cache(j->recalls)};
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
        il_host_recalls_free(j->recalls);
        il_ledger_close(j->ledger);
        il_arena_free(&j->arena);
        alloc->free(alloc->ctx, j);
    }
}

/* Ids of a file are any text; the ledger's are not. A session's place in the file is unique and short. */
static il_str judge_key(uint32_t line, char out[JUDGE_KEY_BYTES]) {
    return (il_str){out, il_format(out, JUDGE_KEY_BYTES, "line-%u", (unsigned)line)};
}

static bool judge_broken(il_status status) { return status == IL_E_MEMORY || status == IL_E_INTERNAL; }

/* What a program that marks its values does when it takes one in: the session knows its sources from then on, whatever becomes of the call. */
static il_status judge_notice(il_judge *j, il_str session, const il_recording_label *label, const il_origin *origin,
                              il_error *err) {
    const il_trust_table table = il_policy_trust(j->policy);
    for (size_t i = 0; i < il_origin_sources(origin); i++) {
        const il_str source = il_origin_lineage(origin, i);
        const il_notice notice = {.size = sizeof notice,
                                  .kind = IL_NOTICE_MESSAGE,
                                  .from = source,
                                  .value = label->value,
                                  .untrusted = !table.trusts(table.ctx, source)};
        IL_TRY(il_monitor_notice(j->monitor, session, &notice, err));
    }
    return IL_OK;
}

typedef struct judge_labels { /* of one step's arguments */
    il_origin_at *list;
    il_origin **origins; /* the same, owned */
    uint32_t n;
} judge_labels;

static void judge_labels_free(judge_labels *labels) {
    const il_alloc *alloc = il_host_alloc();
    for (uint32_t i = 0; i < labels->n; i++) {
        il_origin_free(labels->origins[i]);
    }
    alloc->free(alloc->ctx, labels->origins);
    alloc->free(alloc->ctx, labels->list);
}

/* Frees nothing when it fails: that is the caller's in any case. */
static il_status judge_labels_make(il_judge *j, il_str session, il_str agent, const il_recording_step *step, judge_labels *labels,
                                   il_error *err) {
    const il_alloc *alloc = il_host_alloc();
    if (step->nlabels == 0) {
        return IL_OK;
    }
    labels->list = alloc->alloc(alloc->ctx, step->nlabels * sizeof(il_origin_at));
    labels->origins = alloc->alloc(alloc->ctx, step->nlabels * sizeof(il_origin *));
    if (!labels->list || !labels->origins) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; i < step->nlabels; i++) {
        il_origin *origin = NULL;
        IL_TRY(il_recording_origin(alloc, &step->labels[i], agent, &origin, err));
        labels->origins[i] = origin;
        labels->list[i] = (il_origin_at){.path = step->labels[i].path, .origin = origin};
        labels->n = i + 1;
        IL_TRY(judge_notice(j, session, &step->labels[i], origin, err));
    }
    return IL_OK;
}

static il_status judge_call(il_judge *j, il_str session, const il_recording_step *step, const judge_labels *labels,
                            il_judgement *out, il_error *err) {
    static const il_json none = {.kind = IL_JSON_OBJECT};
    const size_t dot = il_str_find(step->tool, IL_STR("."), 0);
    const il_call call = {.size = sizeof call,
                          .server = dot == SIZE_MAX ? IL_STR("") : il_str_part(step->tool, 0, dot),
                          .tool = dot == SIZE_MAX ? step->tool : il_str_part(step->tool, dot + 1, step->tool.n),
                          .args = step->args,
                          .labels = labels->list,
                          .nlabels = labels->n,
                          .unjoined = true};
    il_decision d = IL_DECISION_INIT;
    j->why[0] = '\0';
    j->standing = false;
    il_status status = il_monitor_decide(j->monitor, session, &call, &d, err);
    if (status == IL_OK && step->approved && d.action == IL_ACTION_REQUIRE_APPROVAL && d.approval[0]) {
        /* somebody who may: that one is there is what the file says */
        const il_approval_rules *rules = il_policy_approval_rules(j->policy);
        const il_str by = rules->nby > 0 ? rules->by[0] : IL_STR("session file");
        status = il_monitor_approve(j->monitor, session, il_str_of(d.approval), by, err);
        if (status == IL_OK) {
            d = (il_decision)IL_DECISION_INIT;
            status = il_monitor_decide(j->monitor, session, &call, &d, err);
        }
    }
    *out = (il_judgement){
        .effects = d.effects, .action = d.action, .layer = d.layer, .nwitnesses = d.nwitnesses, .standing = j->standing};
    memcpy(out->reason, d.reason, sizeof out->reason);
    memcpy(out->witnesses, d.witnesses, sizeof out->witnesses);
    memcpy(out->why, j->why, sizeof out->why);
    if (status == IL_OK && d.run) {
        const il_outcome outcome = {.size = sizeof outcome,
                                    .how = step->failed ? IL_OUTCOME_FAILED : IL_OUTCOME_DONE,
                                    .result = step->result,
                                    .bare = true,
                                    .error = step->error,
                                    .args = step->args ? step->args : &none};
        il_settlement settlement = IL_SETTLEMENT_INIT;
        status = il_monitor_settle(j->monitor, session, d.ticket, &outcome, &settlement, err);
    }
    if (status == IL_OK && d.action == IL_ACTION_REQUIRE_APPROVAL && d.approval[0] && !d.run) {
        /* the file says that nobody approves it: a request that stayed open would take a slot from the next one */
        status = il_monitor_refuse(j->monitor, session, il_str_of(d.approval), IL_STR("session file"), err);
    }
    /* A fault of one step is that step's decision; memory is nobody's. */
    return judge_broken(status) ? status : IL_OK;
}

static il_status judge_step(il_judge *j, il_str session, il_str agent, const il_recording_step *step, il_judgement *out,
                            il_error *err) {
    judge_labels labels = {0};
    il_status status = judge_labels_make(j, session, agent, step, &labels, err);
    if (status == IL_OK) {
        status = judge_call(j, session, step, &labels, out, err);
    } else { /* never judged as if it had none */
        *out = (il_judgement){.action = IL_ACTION_BLOCK, .layer = IL_LAYER_FAULT};
        (void)il_format(out->reason, sizeof out->reason, "%s", il_status_name(status));
        status = judge_broken(status) ? status : IL_OK;
    }
    judge_labels_free(&labels);
    return status;
}

/* What the user typed; of a child session it is what another agent told it. */
static il_status judge_prompt(il_judge *j, il_str session, const il_recording *recording, il_error *err) {
    if (recording->prompt.n == 0) {
        return IL_OK;
    }
    if (!recording->parent_line) {
        return il_monitor_say(j->monitor, session, recording->prompt, err);
    }
    const il_notice task = {.size = sizeof task, .kind = IL_NOTICE_TASK, .from = IL_STR("parent"), .text = recording->prompt};
    return il_monitor_notice(j->monitor, session, &task, err);
}

bool il_judge_cut(const il_judge *j) { return j->cut; }

il_status il_judge_recording(il_judge *j, const il_recording *recording, il_judgement *out, il_error *err) {
    char key[JUDGE_KEY_BYTES], parent[JUDGE_KEY_BYTES];
    const il_str session = judge_key(recording->line, key);
    const il_begin how = {.size = sizeof how,
                          .principal = recording->agent,
                          .parent = recording->parent_line ? judge_key(recording->parent_line, parent) : IL_STR("")};
    j->cut = false;
    il_status status = il_monitor_begin(j->monitor, session, &how, err);
    if (status == IL_OK) {
        status = judge_prompt(j, session, recording, err);
        j->cut = j->cut || status != IL_OK;
    }
    /* A session that could not begin (its parent's effects may not be joined) is absent, and each of its steps is decided as that. */
    if (judge_broken(status)) {
        return status;
    }
    for (uint32_t i = 0; i < recording->nsteps; i++) {
        IL_TRY(judge_step(j, session, recording->agent, &recording->steps[i], &out[i], err));
    }
    return IL_OK;
}

/* ---- one call ---------------------------------------------------------------------------------------------- */

/* Puts the session into the state in which it holds these, as if calls had brought them. */
static il_status judge_hold(il_judge *j, il_str key, uint32_t held, il_error *err) {
    uint8_t bytes[IL_SESSION_STATE_MAX];
    il_session s;
    il_bind bind;
    size_t n = 0;
    uint64_t version = 0;
    uint32_t rejected;
    IL_TRY(il_bind_open(il_policy_machine(j->policy), &bind, err));
    IL_TRY(j->store.load(j->store.ctx, IL_STR(IL_SPACE_SESSION), key, bytes, sizeof bytes, &n, &version, err));
    IL_TRY(il_session_decode(bytes, n, &s, err));
    if (!il_judged_state(&bind, held, &s.state, &rejected)) {
        return il_error_set(err, IL_E_STATE, "no session holds these effects together");
    }
    s.counted = (uint8_t)il_bind_counted(&bind, s.state);
    if (bind.secret == UINT32_MAX && (s.counted & (uint32_t)IL_SENSITIVE) != 0) {
        s.counted |= (uint8_t)(held & (uint32_t)IL_SECRET);
    }
    s.flight = il_bind_live(&bind, s.state, bind.flight);
    s.open = il_bind_live(&bind, s.state, bind.open);
    IL_TRY(il_session_encode(&s, bytes, sizeof bytes, &n, err));
    const il_store_change change = {
        .space = IL_STR(IL_SPACE_SESSION), .key = key, .expect = version, .moves = true, .state = {(const char *)bytes, n}};
    return j->store.commit(j->store.ctx, &change, 1, ++j->now_ms, err);
}

static il_status judge_against_in(il_judge *j, il_str key, const il_against_call *c, const il_origin *origin, il_decision *d,
                                  il_error *err) {
    const il_begin how = {.size = sizeof how, .principal = c->agent};
    const il_origin_at label = {.origin = origin};
    const il_call call = {.size = sizeof call,
                          .server = c->server,
                          .tool = c->tool,
                          .args = c->args,
                          .unjoined = true,
                          .labels = origin ? &label : NULL,
                          .nlabels = origin ? 1 : 0};
    IL_TRY(il_monitor_begin(j->monitor, key, &how, err));
    IL_TRY(c->typed.n ? il_monitor_say(j->monitor, key, c->typed, err) : IL_OK);
    IL_TRY(judge_hold(j, key, c->held, err));
    j->standing = false;
    const il_status status = il_monitor_decide(j->monitor, key, &call, d, err);
    return judge_broken(status) ? status : IL_OK; /* a fault of the call is its decision */
}

il_status il_judge_against(il_judge *j, const il_against_call *call, il_against_side *out, il_error *err) {
    char key[JUDGE_KEY_BYTES];
    const il_str session = judge_key(++j->asked, key);
    il_origin *origin = NULL;
    il_decision d = IL_DECISION_INIT;
    *out = (il_against_side){0};
    if (call->source.n) {
        IL_TRY(il_origin_new(il_host_alloc(), call->source, IL_STR(""), &origin, err));
    }
    j->marked = call->marked;
    const il_status status = judge_against_in(j, session, call, origin, &d, err);
    j->marked = false;
    il_origin_free(origin);
    out->action = (il_then)d.action;
    out->effects = d.effects;
    out->sink = (d.effects & (uint32_t)IL_EGRESS) == 0 ? IL_SINK_NONE : j->standing ? IL_SINK_STANDING : IL_SINK_ONCE;
    return status;
}
