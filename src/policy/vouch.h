/* SPDX-License-Identifier: Apache-2.0 */
/* Vouching (docs/policy.md, Vouching): an egress is dropped when the entry's destinations in this call are at least one and all are vouched; a commit
 * when its objects are. Whatever else the call names counts too: every value of `to` and `object`, everything found in `reads`, and an
 * argument that the entry does not declare ends it. */
#pragma once
#include "policy/compiled.h"
#include "provenance/memory.h"

#define IL_SINKS ((uint32_t)(IL_EGRESS | IL_COMMIT))

/* What a value is judged by. */
typedef struct il_vouch_scope {
    const il_policy *policy;
    const il_memory *memory; /* NULL: nothing is known */
    bool complete;           /* and it has everything that the session read */
    uint32_t needed;         /* classes that a listed name must accept */
    bool reach;              /* what humans typed and what fields say vouches: the readers are the addressee alone, once */
} il_vouch_scope;
/* One value, canonical, of a kind. */
IL_NODISCARD il_status il_vouch_value(const il_vouch_scope *s, il_kind kind, il_str canonical, il_vouch *how, uint32_t *source,
                                      il_error *err);

/* Judges a sink call by its one entry; afterwards out->effects has lost what was vouched, and out says of each value how it stands. */
IL_NODISCARD il_status il_vouch_call(const il_policy *p, const il_tool *tool, const il_label_call *call, il_arena *scratch,
                                     il_label *out, il_error *err);
/* Nothing is looked at, for this reason. */
void il_vouch_refuse(il_label *out, const char *why);
