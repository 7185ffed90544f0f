/* SPDX-License-Identifier: Apache-2.0 */
/* What sessions know: as many episodes as each counts, in the order in which they were chained, and none besides. */
#include "base/sha256.h"
#include "ledger/verify.h"
#include "monitor/recall.h"

#define EPISODES_ARENA_BYTES (2 * IL_RECALL_EPISODE_MAX)

IL_PRINTF(4, 5)
static void episodes_found(il_verify *v, il_str id, const char *what, const char *fmt, ...) {
    char message[IL_ERROR_MSG_BYTES];
    va_list args;
    va_start(args, fmt);
    (void)il_format_list(message, sizeof message, fmt, args);
    va_end(args);
    il_verify_found(v, 0, id, what, message, IL_VERIFY_RESTORE);
}

static il_status episodes_load(il_ledger *l, il_arena *arena, il_str key, il_str *out, il_error *err) {
    uint8_t none[1];
    size_t n = 0;
    uint64_t version = 0;
    il_status status = l->kind->object(l, IL_STR(IL_SPACE_MEMORY), key, none, 0, &n, &version, err);
    if (status != IL_E_LIMIT || n > IL_RECALL_EPISODE_MAX) {
        return status == IL_OK || status == IL_E_LIMIT ? il_error_set(err, IL_E_DAMAGED, "no episode is so long") : status;
    }
    char *bytes = il_arena_bytes(arena, n);
    if (!bytes) {
        return il_arena_fail(arena, err);
    }
    status = l->kind->object(l, IL_STR(IL_SPACE_MEMORY), key, (uint8_t *)bytes, n, &n, &version, err);
    *out = (il_str){bytes, n};
    return status;
}

/* Walks the chain; false: a finding ended it, or what stopped `v`. */
static bool episodes_chain(il_verify *v, il_str id, const il_session *s, il_arena *arena, uint8_t end[IL_DIGEST_BYTES]) {
    const il_recall_key prefix = il_recall_prefix(id);
    for (uint64_t i = 1; i <= s->episodes; i++) {
        const il_recall_key key = il_recall_key_of(&prefix, i);
        il_error why = {0};
        il_str bytes = {0};
        il_arena_reset(arena);
        const il_status status = episodes_load(v->l, arena, (il_str){key.text, key.n}, &bytes, &why);
        if (il_verify_stops(v, status)) {
            return false;
        }
        if (status != IL_OK) {
            episodes_found(v, id, status == IL_E_NOT_FOUND ? "episode-missing" : "episode-damaged",
                           "episode %lld of the %lld that session `%.*s` counts is %s", (long long)i, (long long)s->episodes,
                           IL_STR_ARG(id), status == IL_E_NOT_FOUND ? "not there" : "not readable");
            return false;
        }
        il_recall_next(end, bytes, v->l->sha256, end);
    }
    return true;
}

il_status il_verify_episodes(il_verify *v, il_str id, const il_session *s, bool pruned, uint64_t *n, il_error *err) {
    uint8_t end[IL_DIGEST_BYTES] = {0};
    const il_recall_key prefix = il_recall_prefix(id);
    il_arena arena;
    IL_TRY(v->l->kind->count(v->l, IL_STR(IL_SPACE_MEMORY), (il_str){prefix.text, prefix.n}, n, err));
    if (s->episodes == 0 || (pruned && *n < s->episodes)) {
        return IL_OK;
    }
    il_arena_init(&arena, v->l->alloc, EPISODES_ARENA_BYTES);
    if (episodes_chain(v, id, s, &arena, end) && !il_digest_eq(end, s->recalled)) {
        episodes_found(v, id, "episode-damaged", "what session `%.*s` read is not what its %lld episodes say", IL_STR_ARG(id),
                       (long long)s->episodes);
    }
    il_arena_free(&arena);
    return il_verify_stopped(v, err);
}
