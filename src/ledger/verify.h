/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two files of il_ledger_verify: the chain, and the sessions. */
#pragma once
#include "base/arena.h"
#include "ledger/ledger.h"
#include "monitor/session.h"

#define IL_VERIFY_RESTORE "somebody edited the file, or the disk did: keep it, and go on from a copy that verifies"

typedef struct il_verify_act { /* an act of pruning, and the row that sealed it */
    uint64_t n, row;
} il_verify_act;

typedef struct il_verify {
    il_ledger *l; /* held */
    il_ledger_visit_finding visit;
    void *ctx;
    il_ledger_report *out;
    il_error
        stopped; /* code IL_OK: no. Else a visitor could not go on, for want of memory or of the disk, and nothing can be said of the rest */
    il_arena arena; /* of `acts` */
    il_verify_act *acts;
    size_t nacts, acts_cap;
    uint64_t episodes; /* of all sessions */
} il_verify;

void il_verify_found(il_verify *v, uint64_t row, il_str session, const char *what, const char *message, const char *advice);
/* Whether the status is of the machine and not of the ledger; `v` is stopped then. */
bool il_verify_stops(il_verify *v, il_status status);
il_status il_verify_stopped(const il_verify *v, il_error *err); /* IL_OK: it is not */
/* The row that sealed an act of pruning; 0: it is not there, and with it no row before it. */
uint64_t il_verify_sealed(const il_verify *v, uint64_t act);
/* What a session knows, episode by episode, against the end of the chain that it holds. `pruned`: it may be gone. *n: how many episodes are there. */
IL_NODISCARD il_status il_verify_episodes(il_verify *v, il_str id, const il_session *s, bool pruned, uint64_t *n, il_error *err);
/* Each session's rows and state; *rows: how many rows they have together. */
IL_NODISCARD il_status il_verify_sessions(il_verify *v, uint64_t *rows, il_error *err);
