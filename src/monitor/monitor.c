/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor: load, plan, commit, and again when somebody else was faster. */
#include "monitor/job.h"

#include "policy/kind_part.h"

il_status il_monitor_new(const il_alloc *alloc, const il_monitor_config *config, il_monitor **out, il_error *err) {
    if (alloc == NULL || config == NULL || out == NULL || config->size < sizeof *config ||
        config->store.size < sizeof(il_store) || config->host.size < sizeof(il_host)) {
        return il_error_set(err, IL_E_ARGUMENT, "a monitor's configuration without its size");
    }
    *out = NULL;
    if (config->store.load == NULL || config->store.commit == NULL ||
        (config->store.take_turn == NULL) != (config->store.end_turn == NULL) || config->host.now_ms == NULL ||
        config->host.random == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "a monitor needs a store, a clock and randomness");
    }
    if (config->cache != NULL &&
        (config->cache->size < sizeof *config->cache || config->cache->take == NULL || config->cache->give == NULL)) {
        return il_error_set(err, IL_E_ARGUMENT, "a cache of recalls without its size or its functions");
    }
    il_monitor *m = alloc->alloc(alloc->ctx, sizeof *m);
    if (m == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    *m = (il_monitor){.alloc = *alloc, .store = config->store, .host = config->host};
    if (config->cache != NULL) {
        m->cache = *config->cache;
    }
    il_status s = il_core_open(&m->core, config->policy, config->machine, config->call_deadline_ms, config->enforce, err);
    m->core.sha256 = m->host.sha256;
    m->core.blind = config->blind;
    memcpy(m->core.owner, m->host.owner, sizeof m->core.owner);
    if (s == IL_OK && m->core.deadline_ms > (uint64_t)1 << 40) {
        s = il_error_set(err, IL_E_ARGUMENT, "a deadline of more than thirty years");
    }
    if (s != IL_OK) {
        alloc->free(alloc->ctx, m);
        return s;
    }
    *out = m;
    return IL_OK;
}

void il_monitor_free(il_monitor *m) {
    if (m != NULL) {
        il_alloc alloc = m->alloc;
        alloc.free(alloc.ctx, m);
    }
}

bool il_monitor_id_ok(il_str id) {
    for (size_t i = 0; i < id.n; i++) {
        char c = id.p[i];
        if (!il_ascii_alnum(c) && c != '.' && c != '_' && c != ':' && c != '-') {
            return false;
        }
    }
    return id.n > 0 && id.n < IL_SESSION_ID_BYTES;
}

il_status il_monitor_check(const il_monitor *m, il_str session, il_error *err) {
    if (m == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "no monitor");
    }
    if (!il_monitor_id_ok(session)) {
        return il_error_set(err, IL_E_ARGUMENT, "a session's id is 1 to %u of letters, digits and `.` `_` `:` `-`",
                            IL_SESSION_ID_BYTES - 1);
    }
    return IL_OK;
}

/* A store is outside: whatever it returns beside what its interface says is an error of the ledger. */
il_status il_monitor_store_status(il_status s) {
    switch (s) {
    case IL_OK:
    case IL_E_MEMORY:
    case IL_E_NOT_FOUND:
    case IL_E_CONFLICT:
    case IL_E_BUSY:
    case IL_E_IO:
    case IL_E_DAMAGED:
    case IL_E_PERMISSION:
    case IL_E_VERSION:
        return s;
    case IL_E_LIMIT:
        return IL_E_DAMAGED; /* larger than any session */
    case IL_E_ARGUMENT:
    case IL_E_SYNTAX:
    case IL_E_INVALID:
    case IL_E_EXISTS:
    case IL_E_SEAL:
    case IL_E_MISMATCH:
    case IL_E_STATE:
    case IL_E_INTERNAL:
        return IL_E_IO;
    }
    return IL_E_IO;
}

/* Tries with the smaller room first, which is enough for most. */
static il_status il_monitor_read(const il_monitor *m, il_arena *arena, il_str space, il_str key, size_t some, size_t most,
                                 il_str *bytes, uint64_t *version, il_error *err) {
    size_t n = 0;
    il_status s = IL_E_LIMIT;
    for (size_t cap = some; s == IL_E_LIMIT && cap <= most;) {
        char *buf = il_arena_bytes(arena, cap);
        if (buf == NULL) {
            return il_arena_fail(arena, err);
        }
        s = m->store.load(m->store.ctx, space, key, (uint8_t *)buf, cap, &n, version, err);
        if (s == IL_OK && (n > cap || *version == 0)) {
            return il_error_set(err, IL_E_DAMAGED, "the store answered nonsense");
        }
        *bytes = (il_str){buf, s == IL_OK ? n : 0};
        cap = n > cap && n <= most && cap < most ? n : most + 1;
    }
    return il_monitor_store_status(s);
}

il_status il_monitor_load(const il_monitor *m, il_arena *arena, il_str session, il_str *bytes, uint64_t *version, il_error *err) {
    return il_monitor_read(m, arena, IL_STR(IL_SPACE_SESSION), session, 2048, IL_SESSION_STATE_MAX, bytes, version, err);
}

il_status il_monitor_object(const void *ctx, il_arena *arena, il_str space, il_str key, il_str *bytes, uint64_t *version,
                            il_error *err) {
    return il_monitor_read(ctx, arena, space, key, 512, IL_RECALL_EPISODE_MAX, bytes, version, err);
}

il_status il_monitor_clock(const il_monitor *m, uint64_t *now, il_error *err) {
    *now = 0;
    /* far enough below the end that no deadline overflows, and that a JSON number holds it */
    if (!m->host.now_ms(m->host.ctx, now) || *now == 0 || *now > (uint64_t)1 << 52) {
        return il_error_set(err, IL_E_STATE, "no clock");
    }
    return IL_OK;
}

il_status il_monitor_commit(const il_monitor *m, il_plan *p, il_error *err) {
    il_store_change *changes;
    size_t n;
    IL_TRY(il_plan_done(p, &changes, &n, err));
    if (!changes[0].moves && changes[0].nrows == 0) {
        return IL_OK;
    }
    return il_monitor_store_status(m->store.commit(m->store.ctx, changes, n, p->now_ms, err));
}

/* One attempt; IL_E_CONFLICT: again. */
static il_status il_monitor_try(const il_monitor *m, il_str session, il_monitor_job *job, il_arena *arena, il_error *err) {
    uint8_t entropy[IL_PLAN_ENTROPY];
    il_plan_input in = {.session = session, .load = il_monitor_object, .load_ctx = m};
    job->plan = NULL;
    job->no_clock = il_monitor_clock(m, &in.now_ms, err) != IL_OK;
    if (job->no_clock) {
        return IL_E_STATE;
    }
    IL_TRY(il_monitor_load(m, arena, session, &in.bytes, &in.version, err));
    if (job->entropy && m->host.random(m->host.ctx, entropy, sizeof entropy)) {
        in.entropy = entropy;
    }
    il_plan *p = il_arena_raw(arena, sizeof *p); /* il_plan_open fills it */
    if (p == NULL) {
        return il_arena_fail(arena, err);
    }
    job->plan = p;
    job->opening = true;
    IL_TRY(il_plan_open(p, &m->core, arena, &in, err));
    job->opening = false;
    if (job->sweeps) {
        IL_TRY(il_plan_sweep(p, NULL, err));
        if (p->moves) {
            IL_TRY(il_monitor_commit(m, p, err));
            return IL_E_CONFLICT; /* it moved: by us */
        }
    }
    /* One that has ended learns nothing more, and what it knew may be pruned. */
    if (job->recalls && m->core.remembers && !il_bind_phase(&m->core.bind, p->s->state, "ended")) {
        IL_TRY(il_monitor_recall(m, session, p->s, job, err));
        p->memory = job->recall->memory;
    }
    IL_TRY(job->work(p, job->ctx, err));
    if (p->starved && !job->entropy) {
        job->entropy = true;
        return IL_E_CONFLICT; /* again, with what it asked for */
    }
    IL_TRY(il_monitor_commit(m, p, err));
    il_monitor_recalled(m, job);
    return IL_OK;
}

/* Runs a job to its end; the arena holds what was planned last. */
il_status il_monitor_run(const il_monitor *m, il_str session, il_monitor_job *job, il_arena *arena, il_error *err) {
    const bool turns = job->sweeps && m->store.take_turn != NULL; /* a job that only looks may call others of the same session */
    for (int i = 0; i < IL_MONITOR_TRIES; i++) {
        il_arena_reset(arena);
        if (turns) {
            m->store.take_turn(m->store.ctx, IL_STR(IL_SPACE_SESSION), session);
        }
        il_status s = il_monitor_try(m, session, job, arena, err);
        if (s != IL_E_CONFLICT) {
            il_monitor_recall_end(m, session, job); /* before anybody else has the turn */
        }
        if (turns) {
            m->store.end_turn(m->store.ctx, IL_STR(IL_SPACE_SESSION), session);
        }
        if (s != IL_E_CONFLICT) {
            return s;
        }
    }
    il_monitor_recall_end(m, session, job);
    return il_error_set(err, IL_E_BUSY, "the session kept being moved by others");
}

il_status il_monitor_do(const il_monitor *m, il_str session, il_monitor_job *job, il_error *err) {
    il_arena arena;
    IL_TRY(il_monitor_check(m, session, err));
    il_arena_init(&arena, &m->alloc, IL_MONITOR_MEMORY);
    il_arena_expect(&arena, IL_MONITOR_EXPECTED);
    il_status s = il_monitor_run(m, session, job, &arena, err);
    il_arena_free(&arena);
    return s;
}
