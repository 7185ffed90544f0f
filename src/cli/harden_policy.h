/* SPDX-License-Identifier: Apache-2.0 */
/* What `interlock harden` says of a policy beside its machine: which symbols its tools can be given, which regions they cannot come near, which labels
 * are single points of failure, and what no label mediates. Advice: none of it changes the verdict. */
#pragma once
#include "check/harden.h"
#include "check/labels.h"
#include "policy/compiled.h"

/* Joins `mislabel` to the report and, of a policy, `policy`. `doc` NULL, or a machine that the monitor cannot
 * use: its symbols stand for the labels, and `policy` is null. Only of a machine that is fully mediated; of others both are
 * null. IL_E_INVALID, positioned, when the policy does not compile. After il_harden_run() and il_harden_conclude(). */
IL_NODISCARD il_status il_harden_policy(il_harden *h, const il_json *doc, il_error *err);

/* Every symbol that each tool of the policy can be given: the labels come from il_policy_label() and the symbols from il_bind_admit(), as at run
 * time. A pattern is asked with the least name that it matches, for each declared server and one that is not declared where its server is a pattern. */
IL_NODISCARD il_status il_policy_tools(const il_policy *p, il_arena *arena, il_labels *out, il_error *err);

/* The two objects as text for people; empty when there is nothing to say. */
IL_NODISCARD il_status il_harden_policy_text(const il_json *report, il_arena *arena, il_str *out, il_error *err);
