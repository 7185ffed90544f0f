/* SPDX-License-Identifier: Apache-2.0 */
/* The sealed table and the certificate as bytes. docs/formats.md describes both layouts. */
#pragma once
#include "machine/steps.h"

#define IL_TABLE_STATES_MAX (1u << 20)
#define IL_TABLE_BYTES_MAX ((size_t)1 << 28)

/* Tabulates the reachable states of a model (breadth first through il_steps) and seals it. A fault on any cell, more than max_states
 * states (0: IL_TABLE_STATES_MAX) or more than IL_TABLE_BYTES_MAX are refused: IL_E_INVALID at the update's line with the shortest trace,
 * IL_E_LIMIT. Same model, same bytes, whatever the compiler. */
IL_NODISCARD il_status il_table_build(il_arena *arena, const il_model *m, uint32_t max_states, il_str *table, il_error *err);
/* The same by steps that somebody has, or fills for later, and of the same model. */
IL_NODISCARD il_status il_table_build_by(il_steps *steps, il_arena *arena, const il_model *m, uint32_t max_states, il_str *table,
                                         il_error *err);

/* Opens a table without a certificate: only for the checker, which is about to make one. */
IL_NODISCARD il_status il_table_open(const il_alloc *alloc, il_str table, il_machine **out, il_error *err);

/* What a certificate claims; written by check/, read and verified by machine/. */
typedef struct il_claims {
    uint8_t table[IL_DIGEST_BYTES];
    uint32_t states, symbols;
    uint64_t edges;
    uint32_t depth;
    bool from_init, mediation, havoc, gates, laundering; /* each passed */
} il_claims;
IL_NODISCARD il_status il_certificate_build(il_arena *arena, const il_claims *claims, il_str *out, il_error *err);
/* Reads and checks the certificate's own seal and shape. */
IL_NODISCARD il_status il_certificate_read(il_str bytes, il_claims *out, il_error *err);
