/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of the audit trail's rows: canonical JSON objects, written straight into a buffer. docs/schemas describes them. Bodies hold names,
 * effects, rules and digests; never an argument's or a result's content (a request lists its destinations, for the human).
 *
 * A writer is asked for the members in the order of their keys' bytes, so that nothing has to be sorted; tests/unit/test_monitor.c asserts of
 * every kind of row that its bytes are canonical. Failures stick, and il_record_done reports the first. */
#pragma once
#include "base/buf.h"
#include "monitor/session.h"
#include "policy/label.h"
#include "provenance/memory.h"

typedef struct il_record {
    il_buf buf;
    bool more; /* a member stands before the next one */
} il_record;

void il_record_open(il_record *r, il_arena *arena);
void il_record_member(il_record *r, il_str key); /* its value is the caller's to write */
void il_record_str(il_record *r, il_str key, il_str s);
/* `tool`: its name as the caller gave it, cut, and escaped where it is not text. */
void il_record_tool(il_record *r, il_str tool);
void il_record_text(il_record *r, il_str key, const char *z); /* null when empty or NULL */
void il_record_number(il_record *r, il_str key, uint64_t v);
void il_record_truth(il_record *r, il_str key, bool v);
void il_record_state(il_record *r, il_str key, uint64_t state);         /* 16 hexadecimal digits: no double would hold it */
void il_record_digest(il_record *r, il_str key, const uint8_t *digest); /* in hex; NULL: null */
void il_record_effects(il_record *r, il_str key, uint32_t effects);     /* ["untrusted",…] */
void il_record_strings(il_record *r, il_str key, const il_str *list, size_t n); /* the first 256 bytes of each */
/* {"ticket","tool"} of the call whose result a source is; null when it is none. */
void il_record_from(il_record *r, il_str key, const il_source *source);
/* Where each value of a sink call came from, of at most 16: [{"argument",…}]. */
void il_record_values(il_record *r, il_str key, const il_label *label, const il_memory *memory);
/* The text, borrowed from the arena. */
IL_NODISCARD il_status il_record_done(il_record *r, il_str *out, il_error *err);

/* The whole body of a decision. `label` may be NULL when the labeller was not reached; `recalled` when nothing was added to what the session knows. */
void il_record_decision(il_record *r, const il_machine *machine, il_str tool, bool enforced, const il_label *label,
                        const uint8_t *recalled, const il_decision *d);
