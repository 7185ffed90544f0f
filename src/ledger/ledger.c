/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/ledger.h"

static il_status ledger_store_load(void *ctx, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                                   il_error *err) {
    il_ledger *l = ctx;
    return l->kind->load(l, space, key, buf, cap, n, version, err);
}

il_status il_ledger_changes_ok(const il_store_change *changes, size_t n, il_error *err) {
    for (size_t i = 0; i < n; i++) {
        const il_store_change *c = &changes[i];
        if (c->space.n == 0 || c->space.n > IL_LEDGER_KEY_MAX || c->key.n == 0 || c->key.n > IL_LEDGER_KEY_MAX ||
            (c->moves && (c->state.n == 0 || c->state.n > INT_MAX))) {
            return il_error_set(err, IL_E_ARGUMENT, "an object without a name, with one above %d bytes, or without bytes",
                                IL_LEDGER_KEY_MAX);
        }
        for (size_t j = 0; j < i; j++) {
            if (il_str_eq(changes[j].key, c->key) && il_str_eq(changes[j].space, c->space)) {
                return il_error_set(err, IL_E_ARGUMENT, "%.*s `%.*s` stands twice in one commit", IL_STR_ARG(c->space),
                                    IL_STR_ARG(c->key));
            }
        }
    }
    return IL_OK;
}

static il_status ledger_store_commit(void *ctx, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err) {
    il_ledger *l = ctx;
    IL_TRY(il_ledger_changes_ok(changes, n, err));
    return l->kind->commit(l, changes, n, now_ms, err);
}

static void ledger_store_take_turn(void *ctx, il_str space, il_str key) {
    il_ledger *l = ctx;
    l->kind->take_turn(l, space, key);
}

static void ledger_store_end_turn(void *ctx, il_str space, il_str key) {
    il_ledger *l = ctx;
    l->kind->end_turn(l, space, key);
}

il_status il_ledger_open(const il_alloc *alloc, const char *path, const il_ledger_options *options, il_ledger **out,
                         il_error *err) {
    static const il_ledger_options defaults = {.size = sizeof(il_ledger_options)};
    *out = NULL;
    if (!options) {
        options = &defaults;
    }
    if (options->size < sizeof *options) {
        return il_error_set(err, IL_E_ARGUMENT, "`size` of the ledger's options is not set");
    }
    if (il_str_eq(il_str_of(path), IL_STR(":memory:"))) {
        return il_ledger_memory_open(alloc, options, out, err);
    }
    return il_ledger_sqlite_open(alloc, path, options, out, err);
}

void il_ledger_close(il_ledger *l) {
    if (l) {
        l->kind->close(l);
    }
}

il_store il_ledger_store(il_ledger *l) {
    const bool turns = l->kind->take_turn != NULL;
    return (il_store){.size = sizeof(il_store),
                      .ctx = l,
                      .load = ledger_store_load,
                      .commit = ledger_store_commit,
                      .take_turn = turns ? ledger_store_take_turn : NULL,
                      .end_turn = turns ? ledger_store_end_turn : NULL};
}

static il_status ledger_rows(il_ledger *l, il_str session, uint64_t after, il_ledger_visit visit, void *ctx, il_error *err) {
    IL_TRY(l->kind->hold(l, err));
    const il_status status = l->kind->rows(l, session, after, visit, ctx, err);
    l->kind->release(l);
    return status;
}

il_status il_ledger_rows(il_ledger *l, il_str session, il_ledger_visit visit, void *ctx, il_error *err) {
    return ledger_rows(l, session, 0, visit, ctx, err);
}

il_status il_ledger_rows_after(il_ledger *l, uint64_t after, il_ledger_visit visit, void *ctx, il_error *err) {
    return ledger_rows(l, IL_STR(""), after, visit, ctx, err);
}

il_status il_ledger_sessions(il_ledger *l, il_ledger_visit_session visit, void *ctx, il_error *err) {
    IL_TRY(l->kind->hold(l, err));
    const il_status status = l->kind->sessions(l, visit, ctx, err);
    l->kind->release(l);
    return status;
}

uint64_t il_ledger_dropped(il_ledger *l) {
    il_error ignored;
    if (l->kind->hold(l, &ignored) != IL_OK) {
        return 0; /* a ledger in memory always can */
    }
    const uint64_t dropped = l->dropped;
    l->kind->release(l);
    return dropped;
}

il_status il_ledger_prune(il_ledger *l, il_str session, uint64_t version, uint64_t now_ms, uint64_t *erased, il_error *err) {
    uint64_t n = 0;
    const il_status status = l->kind->prune(l, session, version, now_ms, &n, err);
    if (erased) {
        *erased = n;
    }
    return status;
}
