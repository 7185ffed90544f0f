/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled policy's insides, for the files of this module. Everything lives in `arena` and does not change once made. */
#pragma once
#include "policy/label.h"
#include "policy/names.h"
#include "policy/tool.h"

typedef struct il_server {
    il_str name;
    bool inside, sampling, roots, elicitation;
    il_prototypes prototypes;
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
    uint32_t nservers, ntools, nexact;
    il_server *servers;
    il_tool *tools;
    il_tool_index *exact;
    uint32_t releases;                    /* effects of `approvals: for:`; 0: every rejection is final */
    uint32_t releases_line, releases_col; /* of a `for` that is written out, else 0; `approvals` itself: below */
    uint32_t approvals_line, approvals_col;
    uint64_t approval_ms;
};

/* The entries that match: an exact one alone, else all patterns. Equal entries are one. */
typedef struct il_matched {
    const il_tool *tool; /* the first; NULL: none */
    bool several;        /* unequal patterns: their worst case, and nothing is vouched */
    uint32_t effects;
    bool once;
} il_matched;
/* `name`: `server.tool`. */
il_matched il_policy_match(const il_policy *p, il_str name);

/* NULL when it is not declared. */
const il_server *il_policy_server(const il_policy *p, il_str name);
