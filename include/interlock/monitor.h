/* SPDX-License-Identifier: Apache-2.0 */
/* The decision: labeller, machine step, ledger commit, in that order, the strictest wins.
 *
 * Every il_decision starts as a block; only a committed admission turns it into an allow. Any failure leaves a block of layer
 * IL_LAYER_FAULT with a reason from docs/faults.md, so a caller who looks at `action` alone is safe.
 *
 * Threads: a monitor is immutable; any thread may decide on any session. Two calls on one session are ordered by the
 * store: the loser of a race is judged again on what the winner left.
 *
 *     il_decision d;
 *     il_monitor_decide(monitor, session, &call, &d, &err);       // d is valid whatever the status
 *     if (!d.run) return deny(d.message);
 *     result = run(call);
 *     il_settlement s;
 *     il_monitor_settle(monitor, session, d.ticket, &(il_outcome){.failed = !result}, &s, &err);
 *     if (!s.release) withhold(result);                            // recorded before its first byte is released
 */
#pragma once
#include "interlock/policy.h"
#include "interlock/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum il_action { IL_BLOCK = 0, IL_REQUIRE_APPROVAL = 1, IL_ALLOW = 2 } il_action;
typedef enum il_layer { IL_LAYER_FAULT = 0, IL_LAYER_LABELLER, IL_LAYER_MACHINE, IL_LAYER_RULE, IL_LAYER_NONE } il_layer;
IL_API const char *il_action_name(il_action a); /* `block`, `require_approval`, `allow` */
IL_API const char *il_layer_name(il_layer l);   /* `fault`, `labeller`, `machine`, `rule`; NULL for IL_LAYER_NONE */

#define IL_SESSION_ID_BYTES 128  /* of an id: 1 to 128 of [A-Za-z0-9._:-] */
#define IL_TOOL_BYTES 256        /* of `server.tool` */
#define IL_REASON_BYTES 64
#define IL_APPROVAL_ID_BYTES 24
#define IL_MESSAGE_BYTES 512

typedef struct il_host { /* the outside world, given by the host; thread-safe */
    void *ctx;
    uint64_t (*now_ms)(void *ctx);                       /* wall clock, milliseconds since 1970 */
    bool (*random)(void *ctx, void *out, size_t n);      /* false: no randomness, which is a fault */
} il_host;

typedef struct il_monitor_config {
    const il_policy *policy;     /* borrowed until il_monitor_free */
    il_store store;              /* borrowed likewise */
    il_host host;
    uint64_t call_deadline_ms;   /* 0: 10 minutes. An unsettled call past it counts as its worst case and its result is late */
} il_monitor_config;

typedef struct il_monitor il_monitor;
IL_API IL_NODISCARD il_status il_monitor_new(const il_alloc *alloc, const il_monitor_config *config, il_monitor **out, il_error *err);
IL_API void il_monitor_free(il_monitor *m);

/* Begins a session, or resumes it when `resume` is true and it is there. `principal` (may be empty) is recorded. A `parent` session's held
 * taints and live egress join the new one (never its approvals). IL_E_EXISTS without `resume`; IL_E_MISMATCH when it is bound to another
 * policy; IL_E_STATE when it has ended (a retired id is not reborn); IL_E_NOT_FOUND for the parent. */
typedef struct il_begin {
    bool resume;
    il_str principal, parent;
} il_begin;
IL_API IL_NODISCARD il_status il_monitor_begin(il_monitor *m, il_str session, const il_begin *how, il_error *err);

typedef struct il_call {
    il_str tool;           /* `server.tool`, or `tool` for a host's own */
    const il_json *args;   /* the parsed arguments that will be forwarded; NULL: an empty object */
} il_call;

typedef struct il_witness { /* which admission first contributed an effect that counts now */
    uint32_t effect;        /* one bit */
    uint64_t ticket;
    char tool[IL_TOOL_BYTES + 1];
} il_witness;

typedef struct il_decision {
    il_action action;
    il_layer layer;                       /* IL_LAYER_NONE on an allow */
    bool run;                             /* the call may run: an allow, or anything in monitor mode but a fault */
    bool unenforced;                      /* monitor mode */
    uint32_t effects;                     /* il_effect bits after vouching */
    uint64_t ticket;                      /* to settle; 0 when nothing was admitted */
    uint64_t pre, post;                   /* packed machine states */
    uint32_t symbol;                      /* IL_NO_SYMBOL when the machine was not asked */
    char reason[IL_REASON_BYTES];         /* rule or fault id; empty on an allow */
    char approval[IL_APPROVAL_ID_BYTES];  /* of the pending request; empty when there is none */
    char message[IL_MESSAGE_BYTES];       /* for the model: names rule and source calls, never their content */
    uint8_t args_digest[IL_DIGEST_BYTES]; /* SHA-256 of the sorted canonical arguments */
    uint32_t nwitnesses;
    il_witness witnesses[IL_EFFECTS];     /* on a machine rejection: where each effect of the region came from */
} il_decision;

/* Decides a call and records it, durable before it returns. Redeems an approval that a human granted for exactly this call. */
IL_API il_status il_monitor_decide(il_monitor *m, il_str session, const il_call *call, il_decision *out, il_error *err);

typedef struct il_outcome {
    bool failed;          /* error, time-out, cancel or crash: its worst case */
    bool nothing_came;    /* proof of our own that no byte came back: taints that only this call raised are refined */
    const il_json *result; /* may be NULL; only its digest is kept */
} il_outcome;
typedef struct il_settlement {
    bool release;          /* zero withholds */
    bool quarantined;
    char reason[IL_REASON_BYTES]; /* why it is withheld */
} il_settlement;
/* Settles a ticket once. IL_E_STATE for a ticket that is settled, late or unknown: the result is withheld. */
IL_API il_status il_monitor_settle(il_monitor *m, il_str session, uint64_t ticket, const il_outcome *outcome, il_settlement *out, il_error *err);

/* A human's answer to a request. `by` is recorded. IL_E_NOT_FOUND when no such request is open, IL_E_STATE when it has lapsed. */
IL_API IL_NODISCARD il_status il_monitor_approve(il_monitor *m, il_str session, il_str approval, il_str by, il_error *err);
IL_API IL_NODISCARD il_status il_monitor_refuse(il_monitor *m, il_str session, il_str approval, il_str by, il_error *err);

/* Ends a session; IL_E_STATE (`busy`) while an egress is unsettled, unless `abandon` settles open tickets as their worst first. */
IL_API IL_NODISCARD il_status il_monitor_end(il_monitor *m, il_str session, bool abandon, il_error *err);

#ifdef __cplusplus
}
#endif
