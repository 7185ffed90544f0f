/* SPDX-License-Identifier: Apache-2.0 */
/* What an event adds to what a session knows, by the policy: a result that was read, a call that was admitted. */
#pragma once
#include "policy/label.h"
#include "provenance/episode.h"

/* Whether this policy asks the past for anything (a field of a result that vouches, provenance in a condition, an audit for laundering). One that does not
 * has its sessions remember nothing. */
bool il_policy_remembers(const il_policy *p);

typedef struct il_result_call {
    il_str tool;           /* `server.tool`, as the ticket has it */
    const il_json *args;   /* as they were decided; NULL: not known any more, so what depends on them is the worst case */
    const il_json *result; /* NULL: none came */
    il_str error;          /* the text of a failure, may be empty */
    bool done;             /* false: it failed; nothing in it vouches */
    bool bare;             /* the result is the payload itself, not what MCP wraps around it */
    uint32_t taints;       /* as admitted */
    uint64_t ticket;
    il_str agent;
} il_result_call;
typedef struct il_result {
    il_episode *episode; /* NULL: it adds nothing */
    uint32_t absent;     /* effects of which the result shows, by fields that no attacker can write, that they did not come */
} il_result;
/* The episode lives in the arena and borrows the call's texts. IL_E_LIMIT, IL_E_MEMORY. */
IL_NODISCARD il_status il_policy_read(const il_policy *p, const il_result_call *call, il_arena *arena, il_result *out, il_error *err);

/* What an admitted call sends; *out is NULL when that is nothing. `label` is what il_policy_label said of it. */
IL_NODISCARD il_status il_policy_sent(const il_policy *p, const il_label_call *call, const il_label *label, uint64_t ticket,
                                      il_arena *arena, il_episode **out, il_error *err);
