/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools of a policy make of its machine. Advice: nothing here is a failure.
 *
 *  unused   symbols of the agent's actions that some session could get through, and that no tool of the policy can be given
 *  dead     `never` regions that the tools cannot come near: with the tools' symbols, what others than the agent do, and joins that bring what the
 *           tools bring, the region is not reached even when the clauses of its rule are left out, one action at a time and (what one action
 *           lets in another could not have) with none. Nothing a tool does is held back by it */
#pragma once
#include "check/harden.h"
#include "check/labels.h"

typedef struct il_usage {
    uint32_t possible; /* symbols of the agent's actions that are accepted in some reachable state */
    uint32_t nunused;
    uint32_t *unused;
    uint64_t asked, dead;                /* bit r: regions */
    uint64_t bounded;                    /* bit r: a bound was reached before an answer */
    il_trace near[IL_MODEL_REGIONS_MAX]; /* regions that are not dead: the shortest way into one with its clauses left out */
    uint32_t near_action[IL_MODEL_REGIONS_MAX]; /* whose clauses those are; UINT32_MAX: none had to be left out */
} il_usage;

/* After il_harden_run() of the same machine (h->symbol_accepted is read). Lives in the report's arena. */
IL_NODISCARD il_status il_usage_run(il_harden *h, const il_labels *labels, il_usage *out, il_error *err);
/* NULL when memory ran out. */
il_json *il_usage_object(const il_model *m, const il_usage *u, il_arena *arena);

/* bit i of *out[i / 64]: symbol i can happen with these tools: theirs, those of others than the agent, joins of what the tools bring, and what the
 * agent does without payload. nsymbols bits, in the arena. */
IL_NODISCARD il_status il_usage_symbols(const il_subject *s, const il_labels *labels, uint64_t **out, il_error *err);
