/* SPDX-License-Identifier: Apache-2.0 */
/* Bringing what a session knows up to what it counts. */
#include "monitor/job.h"

/* A recall is of use when its past is this session's past. */
static bool il_recall_fits(const il_recall *r, const il_session *s) {
    const uint64_t n = il_memory_episodes(r->memory);
    return n < s->episodes || (n == s->episodes && il_digest_eq(r->end, s->recalled));
}

/* Folds in what is missing. Nobody has those texts here: they were read by another process, or before this one began. */
static il_status il_recall_catch_up(const il_monitor *m, il_str session, const il_session *s, il_monitor_job *job,
                                    il_error *err) {
    il_recall *r = job->recall;
    il_status status = IL_OK;
    il_arena arena; /* of one episode */
    if (il_memory_episodes(r->memory) >= s->episodes) {
        return IL_OK; /* without the digest that the keys begin with */
    }
    const il_recall_key prefix = il_recall_prefix(session);
    il_arena_init(&arena, &m->alloc, 2 * IL_RECALL_EPISODE_MAX);
    for (uint64_t i = il_memory_episodes(r->memory) + 1; i <= s->episodes && status == IL_OK; i++) {
        const il_recall_key key = il_recall_key_of(&prefix, i);
        il_str bytes;
        uint64_t version;
        il_arena_reset(&arena);
        status = il_monitor_object(m, &arena, IL_STR(IL_SPACE_MEMORY), (il_str){key.text, key.n}, &bytes, &version, err);
        if (status == IL_OK) {
            status = il_recall_add(r, bytes, NULL, 0, m->core.sha256, err);
        }
    }
    il_arena_free(&arena);
    if (status == IL_E_NOT_FOUND) {
        job->recalling = IL_FAULT_EPISODE_MISSING;
        return il_error_set(err, IL_E_DAMAGED, "something that this session read is missing in the ledger");
    }
    job->recalling = status == IL_E_DAMAGED || status == IL_E_VERSION ? IL_FAULT_EPISODE_DAMAGED : job->recalling;
    return status;
}

static void il_recall_drop(il_monitor_job *job) {
    il_recall_free(job->recall);
    job->recall = NULL;
}

il_status il_monitor_recall(const il_monitor *m, il_str session, const il_session *s, il_monitor_job *job, il_error *err) {
    job->recalling = IL_FAULT_INTERNAL;
    if (job->recall == NULL && m->cache.take != NULL) {
        job->recall = m->cache.take(m->cache.ctx, session);
    }
    for (int made = 0; made < 2; made++) {
        if (job->recall != NULL && !il_recall_fits(job->recall, s)) {
            il_recall_drop(job);
        }
        const bool old = job->recall != NULL;
        if (!old) {
            IL_TRY(il_recall_new(&m->alloc, &job->recall, err));
        }
        const il_status status = il_recall_catch_up(m, session, s, job, err);
        if (status != IL_OK) {
            il_recall_drop(job);
        } else if (il_recall_fits(job->recall, s)) {
            job->recalling = IL_FAULT_INTERNAL;
            return IL_OK;
        }
        if (!old) { /* the store's own is not what the session holds the end of */
            IL_TRY(status);
            break;
        }
    }
    il_recall_drop(job);
    job->recalling = IL_FAULT_EPISODE_DAMAGED;
    return il_error_set(err, IL_E_DAMAGED, "what this session read is not in the ledger as it was written");
}

void il_monitor_recalled(const il_monitor *m, il_monitor_job *job) {
    const il_plan *p = job->plan;
    if (job->recall != NULL && p->episode.n > 0 &&
        il_recall_add(job->recall, p->episode, p->texts, p->ntexts, m->core.sha256, NULL) != IL_OK) {
        il_recall_drop(job);
    }
}

void il_monitor_recall_end(const il_monitor *m, il_str session, il_monitor_job *job) {
    if (job->recall != NULL && m->cache.give != NULL) {
        m->cache.give(m->cache.ctx, session, job->recall);
        job->recall = NULL;
    } else {
        il_recall_drop(job);
    }
}
