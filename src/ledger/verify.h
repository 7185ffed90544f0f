/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two files of il_ledger_verify: the chain, and the sessions. */
#pragma once
#include "base/arena.h"
#include "ledger/ledger.h"

#define IL_VERIFY_RESTORE "somebody edited the file, or the disk did: keep it, and go on from a copy that verifies"

typedef struct il_verify {
    il_ledger *l; /* held */
    il_ledger_visit_finding visit;
    void *ctx;
    il_ledger_report *out;
} il_verify;

void il_verify_found(il_verify *v, uint64_t row, il_str session, const char *what, const char *message, const char *advice);
/* Each session's rows and state; *rows: how many rows they have together. */
IL_NODISCARD il_status il_verify_sessions(il_verify *v, uint64_t *rows, il_error *err);
