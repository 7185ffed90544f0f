/* SPDX-License-Identifier: Apache-2.0 */
/* What is right in form and cannot have been meant (docs/policy.md, Lint): rules that never decide, conditions that always say the same, patterns that
 * meet no entry, arguments that no tool has. What cannot be told for certain is not said.
 *
 * Memory: findings live in `scratch`. Threads: any number over one policy. */
#pragma once
#include "interlock/policy.h"
#include "json/node.h"

typedef struct il_lint {
    const char *kind; /* a word for programs: `rule-shadowed` */
    il_str name;      /* the rule or the entry */
    uint32_t line, col;
    il_str message;
} il_lint;
/* Where findings go, in the order of the document. A failure ends the lint and is passed on. */
typedef struct il_lint_out {
    void *ctx;
    il_status (*found)(void *ctx, const il_lint *finding, il_error *err);
} il_lint_out;

/* The policy by itself. Fails for want of memory (IL_E_MEMORY, IL_E_LIMIT). */
IL_NODISCARD il_status il_policy_lint(const il_policy *p, il_arena *scratch, const il_lint_out *out, il_error *err);

/* Conditions that ask for effects which no entry has, and `all` of what may be none in a rule that allows: as warnings. */
IL_NODISCARD il_status il_policy_lint_meant(const il_policy *p, il_arena *scratch, const il_lint_out *out, il_error *err);

/* Patterns of the policy's own that a preset's exact names beat: as warnings, since a pattern may be meant for all other tools. */
IL_NODISCARD il_status il_policy_lint_presets(const il_policy *p, il_arena *scratch, const il_lint_out *out, il_error *err);

/* A tool as its server lists it. */
typedef struct il_lint_tool {
    il_str server, name;   /* `name`: `server.tool`, as patterns match it */
    const il_json *schema; /* of its arguments, a JSON Schema; NULL: it has none, and may take anything */
} il_lint_tool;
/* Conditions against what the tools take. Said of a condition only when all tools that it may be asked about are tools of these servers. */
typedef struct il_lint_tools {
    const il_str *servers; /* whose lists are whole */
    size_t nservers;
    const il_lint_tool *list;
    size_t n;
} il_lint_tools;
IL_NODISCARD il_status il_policy_lint_arguments(const il_policy *p, const il_lint_tools *tools, il_arena *scratch,
                                                const il_lint_out *out, il_error *err);
