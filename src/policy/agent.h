/* SPDX-License-Identifier: Apache-2.0 */
/* Who may act: agents by id, the groups that they are in, and a mode of their own. */
#pragma once
#include "interlock/policy.h"
#include "json/node.h"

typedef struct il_agent {
    il_str id;
    il_str *groups; /* sorted */
    uint32_t ngroups;
    bool has_mode;
    il_mode mode; /* of its sessions */
    uint32_t line, col;
} il_agent;
typedef struct il_agents {
    uint32_t n, ngroups;
    il_agent *list;
    il_str *groups; /* all that there are, sorted */
} il_agents;

/* Reads `agents` and `groups` (either may be NULL). A group that an agent is said to be in and that `groups` does not have is an error. */
IL_NODISCARD il_status il_agents_load(il_agents *agents, const il_json *list, const il_json *groups, il_arena *arena,
                                      il_error *err);
/* NULL when the policy does not name it: it is in no group, and has the policy's mode. */
const il_agent *il_agents_find(const il_agents *agents, il_str id);
/* The mode of an agent's sessions: its own, else the policy's. */
il_mode il_policy_mode_of(const il_policy *p, il_str agent);
