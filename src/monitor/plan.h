/* SPDX-License-Identifier: Apache-2.0 */
/* Planning: what was loaded and what is asked, to a decision and the change to commit. Pure: no clock, no randomness, no store. monitor.c
 * loads, plans and commits, and plans again when somebody else was faster.
 *
 * A plan works on a copy of the session. Nothing is in force before its change has been committed. */
#pragma once
#include "monitor/fault.h"
#include "monitor/record.h"
#include "policy/bind.h"

/* What a monitor is made of; immutable. */
typedef struct il_core {
    const il_policy *policy; /* NULL: only what needs none */
    il_bind bind;
    uint8_t fingerprint[IL_DIGEST_BYTES], seal[IL_DIGEST_BYTES]; /* of policy and machine */
    uint64_t deadline_ms;
    bool enforced;
    il_sha256_blocks sha256;       /* the host's; NULL: the portable one */
    uint8_t owner[IL_OWNER_BYTES]; /* the host's */
} il_core;
IL_NODISCARD il_status il_core_open(il_core *core, const il_policy *policy, const il_machine *machine, uint64_t deadline_ms,
                                    bool enforce, il_error *err);

#define IL_PLAN_ENTROPY 10u /* bytes of an approval's id */
#define IL_PLAN_ROWS_MAX 64u
typedef struct il_plan_input {
    il_str session;
    il_str bytes; /* as loaded; empty: the session is not there */
    uint64_t version, now_ms;
    const uint8_t *entropy; /* IL_PLAN_ENTROPY bytes; NULL: the host has none */
} il_plan_input;

typedef struct il_plan {
    const il_core *core;
    il_arena *arena; /* the session, rows and everything said live here */
    il_plan_input in;
    uint64_t now_ms; /* never before what the session has seen */
    il_session *s;   /* NULL until opened */
    bool on_table;   /* the machine knows the state that was loaded */
    bool moves;      /* the session changed */
    bool starved;    /* an approval's id was wanted, and there is no entropy */
    bool failed;     /* a row could not be made: a change without its row is never committed */
    size_t nrows;
    il_store_row rows[IL_PLAN_ROWS_MAX]; /* stands last: only the first `nrows` are ever filled */
} il_plan;

/* Decodes and checks: IL_E_DAMAGED, IL_E_VERSION, IL_E_MISMATCH (another policy, when the core has one, or machine). Rows may be added
 * after a failure too. A state off the table is not a failure here: see on_table. */
IL_NODISCARD il_status il_plan_open(il_plan *p, const il_core *core, il_arena *arena, const il_plan_input *in, il_error *err);
/* A new session, joined to `parent` (NULL: none). */
IL_NODISCARD il_status il_plan_begin(il_plan *p, const il_core *core, il_arena *arena, const il_plan_input *in, il_str principal,
                                     il_str parent_id, const il_session *parent, il_error *err);
/* Notes that a session is being used again. */
IL_NODISCARD il_status il_plan_resume(il_plan *p, il_str principal, il_error *err);

/* Overdue calls settle as their worst, expired approvals lapse. *next_due_ms (may be NULL): the next moment at which something will be due. */
IL_NODISCARD il_status il_plan_sweep(il_plan *p, uint64_t *next_due_ms, il_error *err);

/* What the labeller said of a call. It depends on the call and on the classes that are held, and may take long: it is kept while others move the
 * session, or a call with large arguments would never be faster than a row of small ones. */
typedef struct il_labelled {
    il_arena arena; /* of what the label names */
    bool done;
    uint32_t held;
    il_label label;
} il_labelled;

/* Fills *d; IL_OK for every decision that is not a fault. After a fault *d says which, and the plan holds the row. */
IL_NODISCARD il_status il_plan_decide(il_plan *p, const il_call *call, il_labelled *labelled, il_decision *d, il_error *err);
/* Adds the row of a decision that ended before or during planning. */
IL_NODISCARD il_status il_plan_decision_row(il_plan *p, il_str tool, const il_label *label, const il_decision *d, il_error *err);

/* `digest` is that of the result, when there is one. A ticket that is not open leaves `not-open` in *out, and the row says so. */
IL_NODISCARD il_status il_plan_settle(il_plan *p, uint64_t ticket, const il_outcome *outcome,
                                      const uint8_t digest[IL_DIGEST_BYTES], il_settlement *out, il_error *err);
/* Settles the chosen tickets as their worst: bit i stands for number i of the list. */
IL_NODISCARD il_status il_plan_recover(il_plan *p, uint32_t tickets, il_error *err);
IL_NODISCARD il_status il_plan_answer(il_plan *p, il_str approval, bool grant, il_str by, il_error *err);
IL_NODISCARD il_status il_plan_quarantine(il_plan *p, il_str why, il_error *err);
IL_NODISCARD il_status il_plan_end(il_plan *p, bool abandon, il_error *err);

/* The change to commit. Checks once more that the session and its machine agree (IL_E_INTERNAL). */
IL_NODISCARD il_status il_plan_done(il_plan *p, il_store_change *out, il_error *err);

/* Whether a session's state is one of this machine and its summary says what the state says. */
bool il_plan_agrees(const il_core *core, const il_session *s);

/* ---- for the files of planning -------------------------------------------------------------- */

/* Steps the machine; an accepted step moves the session, its summary and witnesses. Slots are the caller's, then il_plan_slots(). */
IL_NODISCARD il_status il_plan_step(il_plan *p, uint32_t symbol, il_step *out, il_error *err);
/* What the machine says of a symbol, without moving. */
il_step il_plan_try(const il_plan *p, uint32_t symbol);
/* Empties the slots when the machine has voided them (each with its row), then insists that both count alike: IL_E_DAMAGED. */
IL_NODISCARD il_status il_plan_slots(il_plan *p, il_error *err);
/* Empties a slot, with its row; `pre`: the state before, NULL when the slots are void by what another row records. */
IL_NODISCARD il_status il_plan_lapse_row(il_plan *p, il_slot *slot, const char *why, const uint64_t *pre, il_error *err);
/* Adds a row; `body` is finished here. */
IL_NODISCARD il_status il_plan_row(il_plan *p, const char *kind, uint64_t ticket, il_record *body, il_error *err);
typedef struct il_closing { /* how a ticket closed */
    uint32_t refined;
    bool breach;
} il_closing;
/* Takes ticket number `at` off the list and settles it; `absent`: effects that provably did not come. */
IL_NODISCARD il_status il_plan_close(il_plan *p, uint32_t at, uint32_t absent, il_closing *out, il_error *err);
bool il_plan_frozen(const il_plan *p); /* quarantined, by the machine's word or ours */
