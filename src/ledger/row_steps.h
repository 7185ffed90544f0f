/* SPDX-License-Identifier: Apache-2.0 */
/* The trail read backwards: which symbols of the machine a row stands for. The monitor chose them from the call's effects, its
 * calls in flight and its approvals (monitor/plan*.c), and a row names only some of them; the others follow from the rows
 * before it. Who watches a session and who replays it through another machine both start here.
 *
 *     il_row_reader r;
 *     il_row_reader_init(&r, &bind);
 *     for each row of the session, in order:
 *         IL_TRY(il_row_read(&r, NULL, row, body, &got, err));
 *         if (got.word == IL_ROW_STEPS) ... got.steps lead from got.pre to got.post
 *
 * One reader for a session; it takes a few kilobytes however long the session is. Threads: one. */
#pragma once
#include "ledger/ledger.h"
#include "monitor/session.h"
#include "policy/bind.h"
#include "json/node.h"

#define IL_ROW_STEPS_MAX 5

typedef enum il_row_word {
    IL_ROW_SILENT = 0, /* says nothing of the session's state */
    IL_ROW_BEGINS,     /* a session begins: `pre` is the machine's initial state, and `steps` what its parent brought in */
    IL_ROW_STEPS,      /* `steps` lead from `pre` to `post`; none of them: nothing happened that the machine knows of */
    IL_ROW_UNKNOWN,    /* the state may have moved, and `why` says what is missing to tell how */
    IL_ROW_OFF_TABLE,  /* the monitor found the state to be none of its machine's */
    IL_ROW_DAMAGED     /* the monitor found the session's record to contradict itself: the row knows no state */
} il_row_word;

typedef struct il_row_step {
    uint32_t symbol; /* of the session's machine */
    bool accepted;
    bool told;     /* a rejection: `reason` is its rule; else the row does not say which */
    il_str reason; /* borrowed from the body */
} il_row_step;

typedef struct il_row {
    il_row_word word;
    bool has_pre, has_post; /* packed states that the row records; after IL_ROW_SILENT and IL_ROW_DAMAGED neither is there */
    uint64_t pre, post;
    uint32_t nsteps;
    il_row_step steps[IL_ROW_STEPS_MAX];
    bool unenforced; /* monitor mode: the row, or a call that ran although the machine rejected it */
    const char *why; /* IL_ROW_UNKNOWN; static text */
} il_row;

typedef struct il_row_ticket {
    uint64_t id;
    uint8_t effects, raised, flags; /* as in il_ticket */
} il_row_ticket;
typedef struct il_row_slot {
    char id[IL_APPROVAL_ID_BYTES]; /* empty: free */
    bool granted;
} il_row_slot;

typedef struct il_row_reader {
    const il_bind *bind; /* of the machine that the session runs on; borrowed */
    bool begun;          /* its beginning was read */
    bool partial;        /* rows of it are not there (pruned): calls and approvals may be unknown. Set by who finds out */
    bool breach;         /* a settle that the machine refuses: its quarantine's row stands before its own */
    bool abandons;       /* the rows before settled what an end abandons, from `abandoned_from` on */
    uint64_t abandoned_from;
    bool knows; /* `state` is what the latest row recorded */
    uint64_t state;
    bool secret;    /* a secret is held that a machine without the word counts as sensitive */
    uint8_t shadow; /* effects of calls that ran although they were rejected */
    uint32_t ntickets;
    il_row_ticket tickets[IL_TICKETS_MAX];
    il_row_slot slots[IL_SLOTS_MAX];
} il_row_reader;

void il_row_reader_init(il_row_reader *r, const il_bind *bind);

/* Reads the next row of the session. `body` is the row's, parsed; `parent` the reader of the session that a `begin` names, as
 * it is by now (NULL: not known). IL_E_INVALID for a body that the monitor would not have written. */
IL_NODISCARD il_status il_row_read(il_row_reader *r, const il_row_reader *parent, const il_ledger_row *row, const il_json *body,
                                   il_row *out, il_error *err);

/* Whether a machine goes from `pre` to `post` by these steps, with these verdicts and rules. True of rows that claim nothing. */
bool il_row_agrees(const il_machine *m, const il_row *row);

/* A packed state as rows spell it: 16 hexadecimal digits. */
bool il_row_state(const il_json *body, il_str member, uint64_t *out);
/* The seal of the machine that a `begin` names, in hexadecimal; empty when it names none. */
il_str il_row_machine(const il_json *body);
