/* SPDX-License-Identifier: Apache-2.0 */
/* What the audit trail and every face say of a decision: canonical JSON, one writer. docs/schemas/decision.schema.json describes it. Bodies hold
 * names, effects, rules and digests; never an argument's or a result's content (a request lists its destinations, for the human). */
#pragma once
#include "monitor/session.h"
#include "policy/label.h"
#include "json/node.h"

/* Builders return NULL when the arena is out of memory; il_json_set accepts that and the text below reports it. */
il_json *il_record_effects(il_arena *arena, uint32_t effects); /* ["untrusted",…] */
il_json *il_record_text(il_arena *arena, const char *z);       /* null when empty */
il_json *il_record_hex(il_arena *arena, const void *p, size_t n);
il_json *il_record_state(il_arena *arena, uint64_t state); /* 16 hexadecimal digits: no double would hold it */

/* The decision record. `label` may be NULL when the labeller was not reached. */
il_json *il_record_decision(il_arena *arena, const il_machine *machine, il_str tool, bool enforced, const il_label *label,
                            const il_decision *d);
/* The part that every face shows: adds effects, action, layer and reason to `object`, in this order. false when out of memory. */
bool il_record_judgement(il_arena *arena, il_json *object, uint32_t effects, il_action action, il_layer layer,
                         const char *reason);

/* Sorted canonical text. IL_E_MEMORY for a NULL object. */
IL_NODISCARD il_status il_record_write(il_arena *arena, const il_json *object, il_str *out, il_error *err);
