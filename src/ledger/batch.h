/* SPDX-License-Identifier: Apache-2.0 */
/* Several commits of one thread as one transaction. To a monitor a batch is a store like the ledger's own: each load sees what the commits before
 * it left, in order, as if each were a transaction. But nothing of it is there for anybody else, or durable, before il_ledger_batch_end returns
 * IL_OK; until then nothing that was decided may leave, and when the end fails nothing of it happened. Outside of begin and end it is the ledger's store.
 *
 *     il_ledger_batch_begin(&b);
 *     ... il_monitor_decide() of a monitor made with il_ledger_batch_store(&b), as often as there are calls ...
 *     if (il_ledger_batch_end(&b, &err) != IL_OK) deny all of them;
 *
 * From its first load to its end it holds the ledger's lock, and in SQLite the lock of those who write: a batch is kept short, and its thread waits for
 * nothing and uses the ledger in no other way meanwhile. A ledger in memory has no batches: its commits are there at once, and the end never fails.
 *
 * Threads: one. */
#pragma once
#include "ledger/ledger.h"

typedef struct il_ledger_batch { /* zero but for the ledger, which is borrowed */
    il_ledger *ledger;
    bool on;        /* between begin and end */
    bool held;      /* the transaction has begun */
    il_status lost; /* what made it fail: then nothing is read or written any more */
    il_error why;
} il_ledger_batch;

/* Has no turns: who holds the lock waits for nobody. Borrows the batch. */
il_store il_ledger_batch_store(il_ledger_batch *b);
void il_ledger_batch_begin(il_ledger_batch *b);
/* Commits; IL_OK without a batch. A beginning or a commit that failed, but for a conflict, is the failure of the whole. */
IL_NODISCARD il_status il_ledger_batch_end(il_ledger_batch *b, il_error *err);
/* Gives up what was not committed. */
void il_ledger_batch_drop(il_ledger_batch *b);
