/* SPDX-License-Identifier: Apache-2.0 */
/* Planning: what was loaded and what is asked, to a decision and the changes to commit. Pure: no clock, no randomness, and of the store only the labels of the
 * places that a call names, each of which is checked again by the commit. monitor.c loads, plans and commits, and plans again when somebody else was faster.
 *
 * A plan works on a copy of the session. Nothing is in force before its change has been committed. */
#pragma once
#include "monitor/fault.h"
#include "monitor/recall.h"
#include "monitor/record.h"
#include "policy/bind.h"
#include "policy/result.h"

/* What a monitor is made of; immutable. */
typedef struct il_core {
    const il_policy *policy; /* NULL: only what needs none */
    il_bind bind;
    uint8_t fingerprint[IL_DIGEST_BYTES], seal[IL_DIGEST_BYTES]; /* of policy and machine */
    uint64_t deadline_ms;
    bool tightened;                /* the host enforces, whatever the policy says of anybody */
    bool remembers;                /* the policy asks the past */
    bool blind;                    /* untrusted texts are not indexed */
    bool audits;                   /* for laundering */
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
    /* Reads an object, into the arena; IL_E_NOT_FOUND when there is none. */
    il_status (*load)(const void *ctx, il_arena *arena, il_str space, il_str key, il_str *bytes, uint64_t *version,
                      il_error *err);
    const void *load_ctx;
} il_plan_input;

/* A place's object, as it was loaded and as it will be. */
typedef struct il_plan_place il_plan_place;
struct il_plan_place {
    il_plan_place *next;
    char key[IL_DIGEST_HEX];
    uint64_t version;   /* 0: it is not there */
    uint8_t own, below; /* taints that were written at it, and at places below it */
    bool moves;
};

typedef struct il_plan {
    const il_core *core;
    il_arena *arena; /* the session, rows and everything said live here */
    il_plan_input in;
    uint64_t now_ms;         /* never before what the session has seen */
    il_session *s;           /* NULL until opened */
    bool on_table;           /* the machine knows the state that was loaded */
    bool moves;              /* the session changed */
    bool starved;            /* an approval's id was wanted, and there is no entropy */
    bool failed;             /* a row could not be made: a change without its row is never committed */
    const il_memory *memory; /* what the session knows; NULL: nothing that anybody asks for */
    il_str episode;          /* what is added to it; empty: nothing */
    const il_str *texts;     /* of the episode */
    size_t ntexts;
    il_label_stores stores; /* asks us */
    il_plan_place *places;  /* that were asked for or are written, the latest first */
    uint32_t nplaces;
    il_str other; /* a session that must not have moved when this is committed; empty: none */
    uint64_t other_version;
    size_t nrows;
    il_store_row rows[IL_PLAN_ROWS_MAX]; /* stands last: only the first `nrows` are ever filled */
} il_plan;

/* Decodes and checks: IL_E_DAMAGED, IL_E_VERSION, IL_E_MISMATCH (another policy, when the core has one, or machine). Rows may be added
 * after a failure too. A state off the table is not a failure here: see on_table. */
IL_NODISCARD il_status il_plan_open(il_plan *p, const il_core *core, il_arena *arena, const il_plan_input *in, il_error *err);
/* A new session, joined to `parent` (NULL: none). */
IL_NODISCARD il_status il_plan_begin(il_plan *p, const il_core *core, il_arena *arena, const il_plan_input *in, il_str principal,
                                     il_str parent_id, const il_session *parent, il_error *err);
/* Whether the session is enforced: by its agent's mode. */
bool il_plan_enforced(const il_plan *p);
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
    uint64_t episodes;
    bool asked; /* for the labels of a place, which others may change: it is not kept */
    il_label label;
} il_labelled;

/* What was read in a result: kept like a label. */
typedef struct il_resulted {
    il_arena arena;
    bool done;
    il_result result;
    il_status status;
    il_str bytes; /* of the episode, once they were made */
    const il_str *texts;
    size_t ntexts;
} il_resulted;

/* Fills *d; IL_OK for every decision that is not a fault. After a fault *d says which, and the plan holds the row. */
IL_NODISCARD il_status il_plan_decide(il_plan *p, const il_call *call, il_labelled *labelled, il_decision *d, il_error *err);
/* Adds the row of a decision that ended before or during planning. */
IL_NODISCARD il_status il_plan_decision_row(il_plan *p, il_str tool, const il_label *label, const il_decision *d, il_error *err);

/* `digest` is that of the result, when there is one. A ticket that is not open leaves `not-open` in *out, and the row says so. */
IL_NODISCARD il_status il_plan_settle(il_plan *p, uint64_t ticket, const il_outcome *outcome,
                                      const uint8_t digest[IL_DIGEST_BYTES], il_resulted *resulted, il_settlement *out,
                                      il_error *err);
/* A human typed `text` (digest: of it). IL_E_STATE in a child session, or in one that has ended. */
IL_NODISCARD il_status il_plan_say(il_plan *p, il_str text, const uint8_t digest[IL_DIGEST_BYTES], il_error *err);
/* IL_E_PERMISSION, IL_E_STATE. */
IL_NODISCARD il_status il_plan_endorse(il_plan *p, const il_endorsement *e, il_str note, il_error *err);
IL_NODISCARD il_status il_plan_notice(il_plan *p, const il_notice *notice, const uint8_t digest[IL_DIGEST_BYTES], il_error *err);
/* What a session gets when it begins: all that its parent holds and has in flight. IL_E_STATE when the machine refuses. */
IL_NODISCARD il_status il_plan_join_parent(il_plan *p, const il_session *parent, il_error *err);
/* As il_plan_settle, for a call whose result is the answer of a child: what the child holds joins first. Where the machine refuses that, the answer is withheld
 * and *out names the rule. */
IL_NODISCARD il_status il_plan_join_child(il_plan *p, il_str id, const il_session *child, uint64_t ticket,
                                          const il_outcome *outcome, const uint8_t digest[IL_DIGEST_BYTES], il_resulted *resulted,
                                          il_settlement *out, il_error *err);
/* What a run held from which a value came; `open` stands for any way out. IL_E_STATE when the machine refuses. */
IL_NODISCARD il_status il_plan_receive(il_plan *p, uint32_t effects, il_error *err);
/* Settles the chosen tickets as their worst: bit i stands for number i of the list. */
IL_NODISCARD il_status il_plan_recover(il_plan *p, uint32_t tickets, il_error *err);
IL_NODISCARD il_status il_plan_answer(il_plan *p, il_str approval, bool grant, il_str by, il_error *err);
IL_NODISCARD il_status il_plan_quarantine(il_plan *p, il_str why, il_error *err);
IL_NODISCARD il_status il_plan_end(il_plan *p, bool abandon, il_error *err);

/* The changes to commit, in the plan's arena, the session's first. Checks once more that the session and its machine agree (IL_E_INTERNAL). */
IL_NODISCARD il_status il_plan_done(il_plan *p, il_store_change **out, size_t *n, il_error *err);

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
/* What the session knows from here on: an episode more. At most one a plan; NULL adds nothing. IL_E_LIMIT when it is too large to be kept. */
IL_NODISCARD il_status il_plan_remember(il_plan *p, il_episode *episode, il_error *err);
/* The same of a result, whose episode is made once and planned as often as others are faster. */
IL_NODISCARD il_status il_plan_remember_result(il_plan *p, il_resulted *resulted, il_error *err);
/* The end of the chain for the row of what added an episode; NULL when the plan adds none. */
const uint8_t *il_plan_recalled(const il_plan *p);
/* Rows of kind `laundering`, behind the decision's, for a call that runs. */
IL_NODISCARD il_status il_plan_audit(il_plan *p, const il_call *call, il_str tool, const il_label *label, uint64_t ticket,
                                     il_error *err);
/* A row of kind `labels`, behind the decision's, for a call that runs with arguments that have untrusted or endorsed labels. */
IL_NODISCARD il_status il_plan_labels(il_plan *p, const il_call *call, il_str tool, uint64_t ticket, il_error *err);
/* Writes these taints at a place, and below what it stands below. */
IL_NODISCARD il_status il_plan_write_place(il_plan *p, const il_place *place, uint32_t taints, il_error *err);
/* For il_label_stores.labels; ctx is the plan. */
IL_NODISCARD il_status il_plan_place_labels(void *ctx, const il_place *place, uint32_t *taints, il_error *err);
/* Adds the changes of episode and places behind the first *n. */
IL_NODISCARD il_status il_plan_beside(il_plan *p, il_store_change *changes, size_t *n, il_error *err);
/* Nothing of what was planned beside the session stands. */
void il_plan_forget_all(il_plan *p);
/* Adds a row; `body` is finished here. */
IL_NODISCARD il_status il_plan_row(il_plan *p, const char *kind, uint64_t ticket, il_record *body, il_error *err);
typedef struct il_closing { /* how a ticket closed */
    uint32_t refined;
    bool breach;
} il_closing;
/* Takes ticket number `at` off the list and settles it; `absent`: effects that provably did not come. */
IL_NODISCARD il_status il_plan_close(il_plan *p, uint32_t at, uint32_t absent, il_closing *out, il_error *err);
bool il_plan_frozen(const il_plan *p); /* quarantined, by the machine's word or ours */
