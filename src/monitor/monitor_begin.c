/* SPDX-License-Identifier: Apache-2.0 */
/* How sessions begin: made, alone or with a parent, or resumed. */
#include "base/sha256.h"
#include "monitor/job.h"

/* Principals come from the host: any visible ASCII. */
static bool il_monitor_principal_ok(il_str name) {
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] <= 0x20 || name.p[i] >= 0x7f) {
            return false;
        }
    }
    return name.n < IL_SESSION_ID_BYTES;
}

static il_status il_monitor_parent(const il_monitor *m, il_arena *arena, il_str id, il_session **out, uint64_t *version,
                                   il_error *err) {
    il_str bytes = {0};
    IL_TRY(il_monitor_load(m, arena, id, &bytes, version, err));
    *out = IL_NEW(arena, il_session);
    if (*out == NULL) {
        return il_arena_fail(arena, err);
    }
    IL_TRY(il_session_decode((const uint8_t *)bytes.p, bytes.n, *out, err));
    bool same = il_digest_eq((*out)->machine, m->core.seal);
    bool ended = same && il_bind_phase(&m->core.bind, (*out)->state, "ended");
    if (same && !il_plan_agrees(&m->core, *out)) {
        return il_error_set(err, IL_E_DAMAGED, "the parent's summary is not what its machine's state says");
    }
    if ((*out)->quarantined || ended) {
        return il_error_set(err, IL_E_STATE, "the parent is %s", ended ? "ended" : "quarantined");
    }
    return IL_OK;
}

/* The session is not there: one attempt to make it, in one transaction with a check that its parent did not move. */
static il_status il_monitor_create(const il_monitor *m, il_str session, const il_begin *how, uint64_t now, il_arena *arena,
                                   il_error *err) {
    il_plan p;
    il_session *parent = NULL;
    il_store_change changes[2], *planned;
    size_t n;
    uint64_t version = 0;
    il_plan_input in = {.session = session, .now_ms = now};
    if (how->parent.n > 0) {
        IL_TRY(il_monitor_parent(m, arena, how->parent, &parent, &version, err));
        in.now_ms = parent->seen_ms > now ? parent->seen_ms : now;
    }
    IL_TRY(il_plan_begin(&p, &m->core, arena, &in, how->principal, how->parent, parent, err));
    IL_TRY(il_plan_done(&p, &planned, &n, err));
    changes[0] = planned[0];
    changes[1] = (il_store_change){.space = IL_STR(IL_SPACE_SESSION), .key = how->parent, .expect = version};
    return il_monitor_store_status(m->store.commit(m->store.ctx, changes, parent != NULL ? 2 : 1, p.now_ms, err));
}

static il_status il_monitor_continue(const il_monitor *m, const il_plan_input *in, const il_begin *how, il_arena *arena,
                                     il_error *err) {
    il_plan p;
    if (!how->resume) {
        return il_error_set(err, IL_E_EXISTS, "the session is there already");
    }
    if (how->parent.n > 0) {
        return il_error_set(err, IL_E_ARGUMENT, "a session that is there already gets no parent");
    }
    IL_TRY(il_plan_open(&p, &m->core, arena, in, err));
    IL_TRY(il_plan_resume(&p, how->principal, err));
    return il_monitor_commit(m, &p, err);
}

static il_status il_monitor_begin_try(const il_monitor *m, il_str session, const il_begin *how, il_arena *arena, il_error *err) {
    il_plan_input in = {.session = session};
    IL_TRY(il_monitor_clock(m, &in.now_ms, err));
    il_status s = il_monitor_load(m, arena, session, &in.bytes, &in.version, err);
    if (s == IL_E_NOT_FOUND) {
        return il_monitor_create(m, session, how, in.now_ms, arena, err);
    }
    return s == IL_OK ? il_monitor_continue(m, &in, how, arena, err) : s;
}

il_status il_monitor_begin(il_monitor *m, il_str session, const il_begin *how, il_error *err) {
    IL_TRY(il_monitor_check(m, session, err));
    if (how == NULL || how->size < sizeof *how || m->core.policy == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "a beginning without its size, or a monitor without a policy");
    }
    if (!il_monitor_principal_ok(how->principal) || (how->parent.n > 0 && !il_monitor_id_ok(how->parent))) {
        return il_error_set(err, IL_E_ARGUMENT, "a principal is visible ASCII, a parent a session's id, of at most %u bytes",
                            IL_SESSION_ID_BYTES - 1);
    }
    if (how->parent.n > 0 && il_str_eq(how->parent, session)) {
        return il_error_set(err, IL_E_ARGUMENT, "a session is not its own parent");
    }
    il_arena arena;
    il_arena_init(&arena, &m->alloc, IL_MONITOR_MEMORY);
    il_status s = IL_E_CONFLICT;
    for (int i = 0; i < IL_MONITOR_TRIES && s == IL_E_CONFLICT; i++) {
        il_arena_reset(&arena);
        s = il_monitor_begin_try(m, session, how, &arena, err);
    }
    il_arena_free(&arena);
    return s == IL_E_CONFLICT ? il_error_set(err, IL_E_BUSY, "the session kept being moved by others") : s;
}
