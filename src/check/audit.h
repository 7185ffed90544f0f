/* SPDX-License-Identifier: Apache-2.0 */
/* Audit: the rows of a trail stepped once more. Through the machine that wrote them every row must lead where it says it led, by the same verdicts
 * and rules (`replay`). Through another machine, whose states and symbols are found by name (counterpart.h), each row is judged where it happened:
 * what would that machine have said in this state (`against`)? That says something of these rows and of nothing else, so it never passes: at best
 * the machines AGREE on them.
 *
 *     il_audit a;
 *     il_audit_init(&a, arena, &other);                        NULL: none
 *     for each row: IL_TRY(il_audit_row_read(&a, machine, &row, err));
 *     a row that cannot be stepped: il_audit_note(&a, …)
 *     il_audit_object(&a, arena, &object, err);
 *
 * The module reads no ledger: who calls it says which symbols a row stands for. */
#pragma once
#include "check/counterpart.h"
#include "check/harden.h"

#define IL_AUDIT_FINDINGS_KEPT 1000 /* all are counted */

typedef struct il_audit_machine {
    const il_model *model;
    const il_machine *table; /* its steps; NULL: those of the guards, and no state is off the table */
} il_audit_machine;

typedef struct il_audit_step {
    uint32_t symbol; /* of the machine that wrote the row */
    bool accepted;
    bool told; /* a rejection: `reason` is its rule; else the row does not say which */
    il_str reason;
} il_audit_step;

typedef struct il_audit_row {
    uint64_t seq;
    il_str session;
    uint64_t pre, post; /* packed states of the machine that wrote it */
    uint32_t nsteps;
    const il_audit_step *steps;
} il_audit_row;

typedef enum il_audit_word {
    IL_AUDIT_POST_MISMATCH, /* the steps lead elsewhere */
    IL_AUDIT_REJECT_NOW_ACCEPTS,
    IL_AUDIT_ACCEPT_NOW_REJECTS,
    IL_AUDIT_REASON_CHANGED,
    IL_AUDIT_OFF_TABLE,       /* the state is none that the machine reaches, or it has no word for it */
    IL_AUDIT_LOST_SYMBOL,     /* the other machine has no symbol for what happened */
    IL_AUDIT_MACHINE_UNKNOWN, /* nobody knows the machine that the session ran on */
    IL_AUDIT_NOT_READ,        /* rows before it are missing, so it does not say what happened */
    IL_AUDIT_CHAIN_BREAK,     /* the trail itself is not whole */
    IL_AUDIT_WORDS
} il_audit_word;
const char *il_audit_word_name(il_audit_word w); /* `POST_MISMATCH` */

typedef struct il_audit_finding il_audit_finding;
struct il_audit_finding {
    il_audit_finding *next;
    il_audit_word word;
    bool against; /* of the other machine */
    uint64_t row; /* 0: about no single row */
    il_str session;
    il_str step;      /* the symbol, in the words of the machine that is asked; may be empty */
    il_str said, now; /* what the row says and what the machine says: `accept`, a rule, values; may be empty */
    il_str detail;
};

typedef struct il_audit_pair { /* the other machine, seen from one that wrote rows */
    const il_model *from;
    il_counterpart c;
} il_audit_pair;
#define IL_AUDIT_PAIRS_MAX 32

typedef struct il_audit {
    il_arena *arena;
    const il_audit_machine *other;      /* NULL: none */
    uint64_t rows, steps;               /* that were stepped through the machine that wrote them */
    uint64_t itself;                    /* rows that the other machine wrote: the replay is all there is to ask */
    uint64_t compared;                  /* steps that the other machine was asked for */
    uint64_t counts[2][IL_AUDIT_WORDS]; /* findings: of `replay`, of `against` */
    il_audit_finding *findings, *last;
    uint32_t nkept, npairs;
    il_audit_pair pairs[IL_AUDIT_PAIRS_MAX];
} il_audit;

/* `other` is borrowed. */
void il_audit_init(il_audit *a, il_arena *arena, const il_audit_machine *other);
/* Steps a row of a session that ran on `own`. */
IL_NODISCARD il_status il_audit_row_read(il_audit *a, const il_audit_machine *own, const il_audit_row *row, il_error *err);
/* A finding of the caller's: a machine that is not known, a row that was not read, a state that the monitor found off the table, a chain that is
 * broken. */
IL_NODISCARD il_status il_audit_note(il_audit *a, il_audit_word word, uint64_t row, il_str session, il_str detail, il_error *err);
/* `PASS`, `FAIL` or `INCONCLUSIVE` (nothing was stepped, or not every row could be). */
const char *il_audit_replayed(const il_audit *a);
/* `AGREES`, `FAIL` or `INCONCLUSIVE`; NULL without another machine, or when it wrote every row itself. */
const char *il_audit_against(const il_audit *a);
/* 0, 1 or 2, the worse of both. */
int il_audit_exit(const il_audit *a);
IL_NODISCARD il_status il_audit_object(const il_audit *a, il_arena *arena, il_json **out, il_error *err);
