/* SPDX-License-Identifier: Apache-2.0 */
/* Small sections: sources that are named, how long a call may take, what is audited. */
#pragma once
#include "interlock/policy.h"
#include "json/node.h"

typedef struct il_options {
    uint32_t nuntrusted; /* sources that are said to be untrusted, whatever their calls brought */
    const il_str *untrusted;
    uint32_t ntrusted; /* sources whose labels are believed, sorted */
    const il_str *trusted;
    uint64_t call_ms; /* 0: nothing is said */
    bool laundering;  /* what is sent is compared with what was read */
} il_options;

/* Reads `sources`, `sessions` and `audit`; each may be NULL. */
IL_NODISCARD il_status il_options_load(il_options *out, const il_json *sources, const il_json *sessions, const il_json *audit,
                                       il_arena *arena, il_error *err);
bool il_policy_source_untrusted(const il_policy *p, il_str name);
/* Of labels (interlock/provenance.h); a name that the policy does not have is not. */
bool il_policy_source_trusted(const il_policy *p, il_str name);
/* How long a call may take before it counts as its worst case; 0: the host's default. */
uint64_t il_policy_call_ms(const il_policy *p);
bool il_policy_audits_laundering(const il_policy *p);
