/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/batch.h"

static il_status batch_lost(const il_ledger_batch *b, il_error *err) {
    if (err) {
        *err = b->why;
    }
    return b->lost;
}

static il_status batch_fail(il_ledger_batch *b, il_status status, const il_error *why) {
    b->lost = status;
    b->why = *why;
    return status;
}

/* The lock and the transaction, when they are needed first. Who waited for the lock in vain waited for all of the batch. */
static il_status batch_hold(il_ledger_batch *b, il_error *err) {
    il_error why = {0};
    if (b->lost != IL_OK) {
        return batch_lost(b, err);
    }
    if (!b->held) {
        const il_status status = b->ledger->kind->batch_begin(b->ledger, &why);
        if (status != IL_OK) {
            (void)batch_fail(b, status, &why);
            return batch_lost(b, err);
        }
        b->held = true;
    }
    return IL_OK;
}

static bool batch_gathers(const il_ledger_batch *b) { return b->on && b->ledger->kind->batch_begin; }

static il_status batch_load(void *ctx, il_str space, il_str key, uint8_t *buf, size_t cap, size_t *n, uint64_t *version,
                            il_error *err) {
    il_ledger_batch *b = ctx;
    const il_ledger_kind *kind = b->ledger->kind;
    if (!batch_gathers(b)) {
        return kind->load(b->ledger, space, key, buf, cap, n, version, err);
    }
    IL_TRY(batch_hold(b, err));
    return kind->batch_load(b->ledger, space, key, buf, cap, n, version, err);
}

/* A commit that failed half way took the transaction with it: what was decided before it is lost as well. A conflict wrote nothing. */
static il_status batch_commit(void *ctx, const il_store_change *changes, size_t n, uint64_t now_ms, il_error *err) {
    il_ledger_batch *b = ctx;
    const il_ledger_kind *kind = b->ledger->kind;
    il_error why = {0};
    IL_TRY(il_ledger_changes_ok(changes, n, err));
    if (!batch_gathers(b)) {
        return kind->commit(b->ledger, changes, n, now_ms, err);
    }
    IL_TRY(batch_hold(b, err));
    const il_status status = kind->batch_commit(b->ledger, changes, n, now_ms, &why);
    if (status != IL_OK && err) {
        *err = why;
    }
    return status == IL_OK || status == IL_E_CONFLICT ? status : batch_fail(b, status, &why);
}

il_store il_ledger_batch_store(il_ledger_batch *b) {
    return (il_store){.size = sizeof(il_store), .ctx = b, .load = batch_load, .commit = batch_commit};
}

void il_ledger_batch_begin(il_ledger_batch *b) { b->on = true; }

il_status il_ledger_batch_end(il_ledger_batch *b, il_error *err) {
    il_status status = b->lost;
    il_error why = b->why;
    if (b->held) {
        status = b->ledger->kind->batch_end(b->ledger, b->lost, &why);
    }
    *b = (il_ledger_batch){.ledger = b->ledger};
    if (status != IL_OK && err) {
        *err = why;
    }
    return status;
}

void il_ledger_batch_drop(il_ledger_batch *b) {
    if (b->held) {
        b->lost = b->lost != IL_OK ? b->lost : IL_E_STATE;
        (void)!b->ledger->kind->batch_end(b->ledger, b->lost, &b->why);
    }
    *b = (il_ledger_batch){.ledger = b->ledger};
}
