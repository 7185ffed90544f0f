/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

const char *const mutant_names[MUTANT_COUNT] = {"none", "lost-update", "unlocked", "not-written", "early"};

static il_status mutant_load(void *ctx, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                             il_error *err) {
    const mutant_store *m = ctx;
    return m->under.load(m->under.ctx, space, key, buf, cap, n, version, err);
}

static uint64_t mutant_version(const mutant_store *m, const il_store_change *c) {
    uint8_t buf[IL_SESSION_STATE_MAX];
    size_t n = 0;
    uint64_t version = 0;
    return m->under.load(m->under.ctx, c->space, c->key, buf, sizeof buf, &n, &version, NULL) == IL_OK ? version : 0;
}

/* One settle and nothing else. */
static bool mutant_settles(const il_store_change *changes, size_t n) {
    static const char settle[] = "settle";
    const il_store_row *row = n == 1 && changes->nrows == 1 ? changes->rows : NULL;
    return row != NULL && row->kind.n == sizeof settle - 1 && memcmp(row->kind.p, settle, row->kind.n) == 0;
}

static il_status mutant_commit(void *ctx, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err) {
    const mutant_store *m = ctx;
    il_store_change copy[4];
    if (m->kind == MUTANT_NONE) {
        const il_status s = m->under.commit(m->under.ctx, changes, n, now_ms, err);
        atomic_fetch_add(m->conflicts, s == IL_E_CONFLICT);
        return s;
    }
    if (m->kind == MUTANT_EARLY) {
        (void)sched_yield();
        const il_status s = m->under.commit(m->under.ctx, changes, n, now_ms, err);
        return mutant_settles(changes, n) ? IL_OK : s;
    }
    if (n > 4) {
        return IL_E_IO;
    }
    memcpy(copy, changes, n * sizeof *changes);
    for (size_t i = 0; i < n; i++) {
        if (m->kind == MUTANT_UNLOCKED && mutant_version(m, &copy[i]) != copy[i].expect) {
            return IL_E_CONFLICT;
        }
        (void)sched_yield(); /* what the missing lock would allow happens now */
        copy[i].expect = mutant_version(m, &copy[i]);
    }
    if (m->kind == MUTANT_NOT_WRITTEN && now_ms % 97 == 0) {
        return IL_OK;
    }
    return m->under.commit(m->under.ctx, m->kind == MUTANT_NOT_WRITTEN ? changes : copy, n, now_ms, err);
}

static void mutant_take_turn(void *ctx, il_str space, il_str key) {
    const mutant_store *m = ctx;
    m->under.take_turn(m->under.ctx, space, key);
}

static void mutant_end_turn(void *ctx, il_str space, il_str key) {
    const mutant_store *m = ctx;
    m->under.end_turn(m->under.ctx, space, key);
}

il_store mutant_store_of(mutant_store *m) {
    /* turns hide a missing comparison between threads: a wrong store has none */
    const bool turns = m->kind == MUTANT_NONE && m->under.take_turn != NULL;
    return (il_store){.size = sizeof(il_store),
                      .ctx = m,
                      .load = mutant_load,
                      .commit = mutant_commit,
                      .take_turn = turns ? mutant_take_turn : NULL,
                      .end_turn = turns ? mutant_end_turn : NULL};
}
