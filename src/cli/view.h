/* SPDX-License-Identifier: Apache-2.0 */
/* A session as the ledger has it: its state, decoded through its machine, and its rows. */
#pragma once
#include "interlock/host.h"
#include "monitor/session.h"
#include "json/node.h"

typedef struct il_view_row {
    uint64_t seq, time_ms, ticket;
    il_str kind;
    const il_json *body; /* NULL when it is not JSON: damaged */
} il_view_row;

typedef struct il_view {
    il_arena arena;
    il_str id;
    uint64_t version;
    il_session session;
    il_machine *shipped;       /* owned */
    il_bundle *bundle;         /* owned: of --policy */
    const il_machine *machine; /* the one that the state belongs to */
    size_t nrows, rows_cap;
    size_t erased; /* rows that were pruned; they are not among `rows` */
    il_view_row *rows;
    uint32_t everywhere;                   /* taints that a place which could not be told has given to every path */
    const char *ledger_flag, *policy_flag; /* borrowed, may be NULL: for commands that a person is told to run */
} il_view;

/* Loads the session's state; `policy` (may be NULL) names the policy of a machine that is not shipped. Close it in any case. IL_E_NOT_FOUND,
 * IL_E_DAMAGED, IL_E_VERSION; IL_E_MISMATCH when the policy's machine is another one. */
IL_NODISCARD il_status il_view_open(il_view *v, il_ledger *ledger, il_str id, const char *policy, il_error *err);
/* Reads its rows as well. */
IL_NODISCARD il_status il_view_rows(il_view *v, il_ledger *ledger, il_error *err);
void il_view_close(il_view *v);

/* The row of `kind` with that ticket, the first one; NULL when there is none. */
const il_view_row *il_view_find(const il_view *v, il_str kind, uint64_t ticket);
/* How the call of a decision's row was settled (docs/schemas, `how`); empty: it is open, or was never admitted. */
il_str il_view_settled(const il_view *v, const il_view_row *decision);
/* What that says when no answer came in time: ` (its process died: ...)`; else empty. */
const char *il_view_unanswered(il_str settled);
/* What became of a request for approval. */
typedef struct il_view_answer {
    const char *state;   /* `waits`, `granted`, `used`, `denied`, `expired`, `void`; empty: no such request is recorded */
    il_str by;           /* who answered; empty: nobody */
    uint64_t expires_ms; /* of the request, or of the grant */
} il_view_answer;
il_view_answer il_view_answered(const il_view *v, il_str approval);

/* What holds the call of a slot: the machine's rule, or the policy's by its name; empty when the machine is not known. */
il_str il_view_held(const il_view *v, const il_slot *slot);

/* A member of the body as text; empty when it is absent. */
il_str il_view_text(const il_view_row *row, const char *member);
/* A list of effect words as bits. */
uint32_t il_view_effects(const il_json *list);
/* The value of a machine variable in the session's state by name; empty without such a variable. */
il_str il_view_value(const il_view *v, const char *var);
/* What a rule keeps from happening, as a sentence; empty for a rule of somebody's own machine. */
il_str il_view_sentence(il_str rule);

/* Ids of all sessions, the most recently changed first. */
typedef struct il_view_ids {
    size_t n, cap;
    il_str *ids;
    uint64_t *changed_ms;
} il_view_ids;
IL_NODISCARD il_status il_view_sessions(il_ledger *ledger, il_arena *arena, il_view_ids *out, il_error *err);
