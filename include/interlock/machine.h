/* SPDX-License-Identifier: Apache-2.0 */
/* A proven session machine: a sealed table of state x symbol -> (next state, verdict, reason) and its certificate.
 *
 * The checker explores these bytes and the runtime steps them, both through il_machine_step().
 * A machine is immutable and may be stepped from any thread. Off-table states, unknown symbols and NULL reject.
 *
 *     il_machine *m = NULL;
 *     if (il_machine_open(&alloc, table, certificate, &m, &err) != IL_OK) return refuse(&err);
 *     il_step s = il_machine_step(m, il_machine_initial(m), symbol);
 *     if (s.verdict != IL_ACCEPT) deny(il_machine_reason(m, s.reason));
 */
#pragma once
#include "interlock/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct il_machine il_machine;

/* What the table says of a step; zero rejects. */
typedef enum il_verdict { IL_REJECT = 0, IL_ACCEPT = 1, IL_UNHANDLED = 2, IL_FAULT = 3 } il_verdict;

typedef struct il_step {
    uint64_t next;   /* packed state; equals the state before unless verdict is IL_ACCEPT */
    uint8_t verdict; /* il_verdict */
    uint8_t reason;  /* rule number for il_machine_reason(); 0 when accepted */
} il_step;

/* Reasons that are not the contract's: the state is not in the table; the symbol is not the machine's. */
#define IL_REASON_OFF_TABLE 255
#define IL_REASON_NO_SYMBOL 254
#define IL_NO_SYMBOL UINT32_MAX

/* Opens a table (both byte strings are borrowed until il_machine_free). Verifies both seals, that the certificate is this table's, that
 * the initial state is in it, that every accepted step stays in it and every other step stays where it is, that each refusal has a
 * reason, that no state bitmap of a forbidden region has a bit set, and that the certificate claims full mediation.
 * IL_E_SEAL otherwise; IL_E_MEMORY.
 *
 * That proves integrity and consistency, not origin: the seals are hashes, and whoever can write both strings can write a pair that opens. A host
 * that reads them from disk pins the machine: il_machine_digest() must equal a digest that the host keeps elsewhere. The fingerprint of a
 * policy (il_policy_fingerprint) contains the digest, so a session never goes on with another machine. */
IL_API IL_NODISCARD il_status il_machine_open(const il_alloc *alloc, il_str table, il_str certificate, il_machine **out,
                                              il_error *err);
IL_API void il_machine_free(il_machine *m);

IL_API il_str il_machine_name(const il_machine *m);
/* The table's seal: SHA-256 of everything before it. */
IL_API void il_machine_digest(const il_machine *m, uint8_t out[IL_DIGEST_BYTES]);

IL_API uint64_t il_machine_initial(const il_machine *m);
IL_API uint32_t il_machine_states(const il_machine *m);
IL_API uint32_t il_machine_symbols(const il_machine *m);
/* The i-th state of the table, in ascending order; 0 past the end. */
IL_API uint64_t il_machine_state(const il_machine *m, uint32_t i);
IL_API il_step il_machine_step(const il_machine *m, uint64_t state, uint32_t symbol);

/* Rule id of a reason (`lethal-trifecta`, `off-table`, ...); empty for 0 or an unknown number. */
IL_API il_str il_machine_reason(const il_machine *m, uint8_t reason);
/* Whether the contract lets a human release that rejection. */
IL_API bool il_machine_releasable(const il_machine *m, uint8_t reason);

/* Variables, in file order. A value is its place in the domain, 0 first; il_machine_value() gives it for a packed state. */
IL_API uint32_t il_machine_vars(const il_machine *m);
IL_API il_str il_machine_var_name(const il_machine *m, uint32_t var);
IL_API uint32_t il_machine_var_find(const il_machine *m, il_str name); /* UINT32_MAX when there is none */
IL_API uint32_t il_machine_value(const il_machine *m, uint64_t state, uint32_t var);
/* The value's name: `held`, `true`, `2`. */
IL_API il_str il_machine_value_name(const il_machine *m, uint32_t var, uint32_t value);

/* Symbols. il_machine_action_symbol() finds the symbol of an action with payload values given by name (`true`, `once`); every field of
 * the action must be given exactly once. IL_NO_SYMBOL otherwise. */
typedef struct il_payload {
    il_str field, value;
} il_payload;
IL_API uint32_t il_machine_action_symbol(const il_machine *m, il_str action, const il_payload *payload, size_t n);
/* Writes `action{field=value,...}` of a symbol as NUL-terminated text; returns its length, cut to cap - 1. */
IL_API size_t il_machine_symbol_text(const il_machine *m, uint32_t symbol, char *out, size_t cap);

#ifdef __cplusplus
}
#endif
