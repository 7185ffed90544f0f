/* SPDX-License-Identifier: Apache-2.0 */
/* The decision: labeller, machine step, ledger commit, in that order, the strictest wins.
 *
 * Every il_decision starts as a block; only a committed admission turns it into an allow. Any failure leaves a block of layer
 * `fault` with a reason from docs/faults.md, so a caller who looks at `run` alone is safe.
 *
 * Structs that cross this border start with `size`; the caller sets it to sizeof the struct that it was compiled with (the INIT macros
 * do). A size of 0 or one that is too small is IL_E_ARGUMENT, and a decision stays a block.
 *
 * Threads: a monitor is immutable; any thread may decide on any session. Two calls on one session are ordered by the
 * store: the loser of a race is judged again on what the winner left.
 *
 *     il_decision d = IL_DECISION_INIT;
 *     if (il_monitor_decide(monitor, session, &call, &d, &err) != IL_OK || !d.run) return deny(d.message);
 *     result = run(call);
 *     il_settlement s = IL_SETTLEMENT_INIT;
 *     il_outcome o = {.size = sizeof o, .how = result ? IL_OUTCOME_DONE : IL_OUTCOME_FAILED, .result = result};
 *     if (il_monitor_settle(monitor, session, d.ticket, &o, &s, &err) != IL_OK || !s.release) withhold(result);
 */
#pragma once
#include "interlock/policy.h"
#include "interlock/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum il_action { IL_ACTION_BLOCK = 0, IL_ACTION_REQUIRE_APPROVAL = 1, IL_ACTION_ALLOW = 2 } il_action;
typedef enum il_layer { IL_LAYER_FAULT = 0, IL_LAYER_LABELLER, IL_LAYER_MACHINE, IL_LAYER_RULE, IL_LAYER_NONE } il_layer;
IL_API const char *il_action_name(il_action a); /* `block`, `require_approval`, `allow` */
IL_API const char *il_layer_name(il_layer l);   /* `fault`, `labeller`, `machine`, `rule`; NULL for IL_LAYER_NONE */

/* Sizes of the char arrays below, each with its NUL. */
#define IL_SESSION_ID_BYTES 129 /* an id is 1 to 128 of [A-Za-z0-9._:-] */
#define IL_TOOL_BYTES 129       /* `server.tool`; longer names are denied (fault `limit`) */
#define IL_REASON_BYTES 64
#define IL_APPROVAL_ID_BYTES 24
#define IL_MESSAGE_BYTES 512
#define IL_OWNER_BYTES 16 /* no NUL: bytes of the host's own */

typedef struct il_host { /* the outside world, given by the host; thread-safe */
    size_t size;
    void *ctx;
    bool (*now_ms)(void *ctx, uint64_t *out);       /* wall clock, milliseconds since 1970; false: no clock, which is a fault */
    bool (*random)(void *ctx, void *out, size_t n); /* false: no randomness, which is a fault */
    /* Who admits: kept with each open call, so that what a dead process left open can be told from what a live one runs (il_monitor_recover). The
     * bytes are the host's own; zeros: nobody, whose calls wait for their deadline. */
    uint8_t owner[IL_OWNER_BYTES];
    bool (*gone)(void *ctx,
                 const uint8_t owner[IL_OWNER_BYTES]); /* true only when certain; never asked of zeros. NULL: nobody ever is */
    il_sha256_blocks sha256; /* for the digests of arguments, results and bindings; NULL: the portable one */
} il_host;

/* What a session knows of its past (docs/ledger.md: memory), in hand. It is in the store as well, but for the texts that were read: a monitor that has no recall of a
 * session makes one from the store, and what it cannot compare with a text any more counts as found where its hash is. */
typedef struct il_recall il_recall;
IL_API void il_recall_free(il_recall *r); /* accepts NULL */
IL_API size_t il_recall_bytes(const il_recall *r);
IL_API uint64_t il_recall_episodes(const il_recall *r); /* how many events it holds */

/* Where recalls wait between two calls. Both functions may be called from several threads at once. `take` hands the session's over, or NULL when there is none
 * (any more) or another thread has it; `give` takes it back, and frees it (il_recall_free) whenever it likes. One cache serves one store: ids mean nothing beyond it. */
typedef struct il_recall_cache {
    size_t size;
    void *ctx;
    il_recall *(*take)(void *ctx, il_str session);
    void (*give)(void *ctx, il_str session, il_recall *recall);
} il_recall_cache;

typedef struct il_monitor_config {
    size_t size;
    const il_policy *policy;   /* borrowed until il_monitor_free. NULL: a monitor that approves, refuses, hears, ends and lists */
    const il_machine *machine; /* needed when policy is NULL, else NULL or the policy's */
    il_store store;
    il_host host;
    uint64_t call_deadline_ms; /* 0: 10 minutes. An unsettled call past it counts as its worst case and its result is late */
    bool enforce;              /* enforce although the policy says monitor: a host may only tighten */
    bool
        blind; /* texts that an attacker may have written are not indexed: shows what a paraphrase would achieve; never in earnest */
    const il_recall_cache *cache; /* copied; NULL: each call makes the session's recall from the store, slow and right */
} il_monitor_config;

typedef struct il_monitor il_monitor;
IL_API IL_NODISCARD il_status il_monitor_new(const il_alloc *alloc, const il_monitor_config *config, il_monitor **out,
                                             il_error *err);
IL_API void il_monitor_free(il_monitor *m);

/* Begins a session, or resumes it when `resume` is true and it is there. `principal` (may be empty) is bound to it. A `parent` session's held
 * taints and live egress join the new one (never its approvals), in one transaction with a check that the parent did not move. IL_E_EXISTS without
 * `resume`; IL_E_MISMATCH when it is bound to another policy, machine or principal; IL_E_STATE when it has ended (a retired id is not reborn);
 * IL_E_NOT_FOUND for the parent; IL_E_ARGUMENT for a parent of a session that is there already. */
typedef struct il_begin {
    size_t size;
    bool resume;
    il_str principal, parent;
} il_begin;
IL_API IL_NODISCARD il_status il_monitor_begin(il_monitor *m, il_str session, const il_begin *how, il_error *err);

typedef struct il_call {
    size_t size;
    il_str server; /* the policy's name of the server; empty for a host's own tool */
    il_str tool;
    const il_json *args; /* the parsed arguments that will be forwarded; NULL: an empty object */
    /* What the host's carriers know of the arguments and their parts: at most IL_CALL_LABELS, of IL_CALL_NAMES names in all. A label that the policy does not trust adds
     * `untrusted` to the call's effects; a label that is NULL is of an unknown source. What has no label is judged as ever. A path that begins with no argument is a fault. */
    const il_origin_at *labels;
    size_t nlabels;
    /* Of an entry with `child: true`: nobody will tell what the other agent's session held (il_monitor_join), so the call counts as having read whatever there is, untrusted and
     * sensitive, and settles as any other. */
    bool unjoined;
    /* Nobody will settle it: if it may run, it is settled as its worst before il_monitor_decide returns (but not of an entry with `child: true`), in the same commit
     * where the call leaves nothing to remember. If that fails the call is a block. For a host that asks and does not run the tool itself. */
    bool at_once;
} il_call;

typedef struct il_witness { /* which admission first contributed an effect that counts now; never grows */
    uint32_t effect;        /* one bit */
    uint64_t ticket;
    char tool[IL_TOOL_BYTES];
} il_witness;

typedef struct il_decision {
    size_t size;
    il_action action;
    il_layer layer;                       /* IL_LAYER_NONE on an allow */
    bool run;                             /* the call may run: an allow, or anything in monitor mode but a fault */
    bool unenforced;                      /* monitor mode */
    bool child;                           /* another agent's work (`child: true`): its answer comes by il_monitor_join */
    uint32_t effects;                     /* il_effect bits after vouching */
    uint64_t ticket;                      /* to settle; not 0 whenever run */
    uint64_t pre, post;                   /* packed machine states */
    uint32_t symbol;                      /* IL_NO_SYMBOL when the machine was not asked */
    char reason[IL_REASON_BYTES];         /* rule or fault id; empty on an allow */
    char approval[IL_APPROVAL_ID_BYTES];  /* of the pending request, or of the one that an allow used up; else empty */
    char message[IL_MESSAGE_BYTES];       /* for the model: names rule and source calls, never their content */
    uint8_t args_digest[IL_DIGEST_BYTES]; /* SHA-256 of the sorted canonical arguments */
    uint32_t nwitnesses;
    il_witness witnesses[IL_EFFECTS]; /* on a machine rejection: where each effect of the region came from */
    uint32_t rule; /* which of the policy's rules matched, from 1, also one that allows; one behind the last: `sink_action` */
} il_decision;
#define IL_DECISION_INIT \
    { .size = sizeof(il_decision) }

/* Decides a call and records it, durable before it returns. Redeems an approval that a human granted for exactly this call. *out is written
 * first, as a block, and is valid whatever the status; a status other than IL_OK is a fault. */
IL_API IL_NODISCARD il_status il_monitor_decide(il_monitor *m, il_str session, const il_call *call, il_decision *out,
                                                il_error *err);

typedef enum il_outcome_kind {
    IL_OUTCOME_FAILED = 0,
    IL_OUTCOME_DONE = 1
} il_outcome_kind; /* error, time-out, cancel, crash: its worst case */
typedef struct il_outcome {
    size_t size;
    il_outcome_kind how;
    uint32_t
        absent; /* effects that provably did not come (no byte of a result, a condition of our own): refined where only this call raised them */
    const il_json *result; /* may be NULL; of it are kept its digest, and what the policy reads in it as digests of its parts */
    bool bare;             /* the result is the payload itself; else what MCP wraps around it (`content`, `structuredContent`) */
    il_str error;          /* the text of a failure, as the agent will see it; may be empty */
    const il_json *
        args; /* as they were decided. NULL: not known any more; a condition on the result that asks for them then removes nothing */
} il_outcome;
typedef struct il_settlement {
    size_t size;
    bool release; /* zero withholds */
    bool quarantined;
    char reason[IL_REASON_BYTES]; /* why it is withheld */
} il_settlement;
#define IL_SETTLEMENT_INIT \
    { .size = sizeof(il_settlement) }
/* Settles a ticket once. IL_E_STATE for a ticket that is settled, late or unknown: the result is withheld. */
IL_API IL_NODISCARD il_status il_monitor_settle(il_monitor *m, il_str session, uint64_t ticket, const il_outcome *outcome,
                                                il_settlement *out, il_error *err);

/* As il_monitor_settle, of a call that was another agent's work, done in session `child`, which began with this one as its parent: what
 * the child holds and has in flight joins this session before its answer is released, in the same transaction. Where the machine refuses that the call counts as
 * failed, the answer is withheld, and the settlement's reason is the machine's rule. IL_E_NOT_FOUND for the child, IL_E_ARGUMENT for one of another parent.
 * Of an entry with `child: true` this is the only way in which a result is released. */
IL_API IL_NODISCARD il_status il_monitor_join(il_monitor *m, il_str session, il_str child, uint64_t ticket,
                                              const il_outcome *outcome, il_settlement *out, il_error *err);

/* Notes what a human typed: each value and run of words in it can vouch from now on. Only what came over a channel that the agent cannot write may be said to be
 * typed (no task text, server prompt, file expansion or answer to a server's question). IL_E_STATE in a child session: there nobody types. With a policy that asks
 * nothing of the past this and il_monitor_notice do nothing; a monitor without a policy notes what was typed, and nothing else. */
IL_API IL_NODISCARD il_status il_monitor_say(il_monitor *m, il_str session, il_str text, il_error *err);

/* Keeps a human's word for one exact value, which the policy's rules may ask for (`endorsed(args.text, "legal")`), with a row in the ledger. `note` (may be empty; at most
 * 256 bytes of it are kept) is for people. Nothing that an agent can call may lead here. It changes no taint and no effect. IL_E_PERMISSION for who may not approve
 * (`approvals: by:`); IL_E_STATE when the session has ended. */
IL_API IL_NODISCARD il_status il_monitor_endorse(il_monitor *m, il_str session, const il_endorsement *e, il_str note,
                                                 il_error *err);

typedef enum il_notice_kind {
    IL_NOTICE_MESSAGE = 0,     /* of a server, that answers no call */
    IL_NOTICE_DESCRIPTION = 1, /* of a tool, prompt or resource, not reviewed */
    IL_NOTICE_TASK =
        2 /* what an agent was told by another agent, or by a text that nobody typed; untrusted where its session is */
} il_notice_kind;
typedef struct il_notice {
    size_t size;
    il_notice_kind kind;
    il_str from;          /* a server, tool or session, for people; at most 128 bytes of it are kept */
    il_str text;          /* what the agent gets to see, */
    const il_json *value; /* or each text and key in this; NULL: `text` */
    bool untrusted;       /* an attacker may have written it */
    il_str agent;         /* who took it in; empty: whose session it is */
} il_notice;
/* Notes a text that reaches the agent and is no result of a call. It adds provenance and no taint: what brings one is judged as a call. */
IL_API IL_NODISCARD il_status il_monitor_notice(il_monitor *m, il_str session, const il_notice *notice, il_error *err);

/* What another session has to know that gets a value from this one, for an envelope (il_envelope_pack.run): what it holds, and every source that it read. Sources
 * that nobody remembers make the label one of unknown sources. The caller frees the label: il_origin_free((il_origin *)out->origin). */
IL_API IL_NODISCARD il_status il_monitor_carry(il_monitor *m, il_str session, const il_alloc *alloc, il_run_state *out,
                                               il_error *err);
/* What came with an envelope (il_envelope_run) joins this session, before its agent gets the value: a join of the machine, with its row, and each source as a notice.
 * IL_E_STATE when the machine refuses, or the session has ended: then nothing has happened, and the value is to be withheld. */
IL_API IL_NODISCARD il_status il_monitor_receive(il_monitor *m, il_str session, const il_run_state *run, il_error *err);

/* Works off overdue calls (as their worst) and expired approvals, as a transaction of its own; decide, settle and approve do it first by themselves.
 * *next_due_ms (may be NULL): when to call again, UINT64_MAX when nothing waits. */
IL_API IL_NODISCARD il_status il_monitor_sweep(il_monitor *m, il_str session, uint64_t *next_due_ms, il_error *err);

/* Settles as its worst each open call whose owner the host says is gone (a crash, a kill, another boot), as one transaction; calls of live owners
 * stay, and so do those of nobody and a parent's, which their deadlines settle. *settled (may be NULL) counts them. A program that continues a session
 * calls it once, before its first decision. Settling such a call afterwards is refused like any late one. */
IL_API IL_NODISCARD il_status il_monitor_recover(il_monitor *m, il_str session, uint32_t *settled, il_error *err);

/* A human's answer to a request. `by` is recorded. IL_E_NOT_FOUND when no such request is open, IL_E_STATE when it was answered already,
 * IL_E_PERMISSION when the policy lets others approve (`approvals: by:`). A grant by a monitor without the policy is looked at when it is to be used. */
IL_API IL_NODISCARD il_status il_monitor_approve(il_monitor *m, il_str session, il_str approval, il_str by, il_error *err);
IL_API IL_NODISCARD il_status il_monitor_refuse(il_monitor *m, il_str session, il_str approval, il_str by, il_error *err);

typedef struct il_approval {
    const char *id, *tool; /* borrowed during the visit */
    bool granted;
    uint64_t expires_ms;
    uint32_t effects;
    const char *reason; /* the rule that a human is asked to release */
} il_approval;
/* Visits the open and granted slots of a session. The visitor returns false to stop. */
IL_API IL_NODISCARD il_status il_monitor_approvals(il_monitor *m, il_str session, bool (*visit)(void *ctx, const il_approval *a),
                                                   void *ctx, il_error *err);

/* Freezes a session: every admission is denied, results are withheld. `why` is a word for the trail. */
IL_API IL_NODISCARD il_status il_monitor_quarantine(il_monitor *m, il_str session, il_str why, il_error *err);
/* Ends a session; IL_E_STATE (`busy`) while an egress is unsettled, unless `abandon` settles open tickets as their worst first. */
IL_API IL_NODISCARD il_status il_monitor_end(il_monitor *m, il_str session, bool abandon, il_error *err);

#ifdef __cplusplus
}
#endif
