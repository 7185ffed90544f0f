/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled policy's insides, for the files of this module. Everything lives in `arena` and does not change once made. */
#pragma once
#include "policy/agent.h"
#include "policy/approval.h"
#include "policy/interbolt.h"
#include "policy/label.h"
#include "policy/names.h"
#include "policy/options.h"
#include "policy/rule.h"
#include "policy/tables.h"
#include "policy/tool.h"
#include "policy/trial.h"

typedef struct il_server {
    il_str name;
    il_tables tables[IL_TABLES_CLASSES]; /* `sql`: which of its tables hold what */
    bool inside, sampling, roots, elicitation;
    il_prototypes prototypes;
    il_str cwd; /* canonical path from which it takes relative names; empty: not said */
} il_server;

typedef struct il_tool_index { /* exact names, sorted by name */
    il_str name;
    uint32_t tool;
} il_tool_index;

struct il_policy {
    il_arena arena;
    il_alloc alloc;
    const il_machine *machine;
    uint8_t fingerprint[IL_DIGEST_BYTES];
    il_mode mode;
    il_kinds kinds;
    il_names names;
    uint32_t remembers; /* il_remembers */
    il_agents agents;
    il_rules rules;
    uint32_t asks; /* of all conditions, of effects and rules */
    bool sourced;  /* an entry says what its results are called as a source */
    uint32_t nservers, ntools, nexact;
    il_server *servers;
    il_tool *tools;
    il_tool_index *exact;
    il_approval_rules approvals;
    il_trials trials;
    il_options options;
    il_interbolt interbolt; /* of a translated document; else off */
};

/* The entries that match: an exact one alone, else all patterns. Equal entries are one. The visitor's failure ends it and is passed on.
 * `name`: `server.tool`. */
typedef il_status (*il_match_visit)(void *ctx, const il_tool *tool, il_error *err);
IL_NODISCARD il_status il_policy_match_each(const il_policy *p, il_str name, il_match_visit visit, void *ctx, il_error *err);
/* The one entry of a tool: that of its exact name, else of the patterns that match it when all say the same; NULL otherwise. */
const il_tool *il_policy_entry(const il_policy *p, il_str name);
/* As il_agents_find, of its agents. */
static inline const il_agent *il_policy_agent(const il_policy *p, il_str id) { return il_agents_find(&p->agents, id); }
/* NULL when it is not declared. */
const il_server *il_policy_server(const il_policy *p, il_str name);
