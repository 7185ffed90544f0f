/* SPDX-License-Identifier: Apache-2.0 */
/* What the walk from the initial state notes beside the regions. Nothing here fails a machine; `saturated` keeps it from being clean.
 *
 * A state at rest is one in which no accepted step changes anything. It is terminal when it should be: `phase` is `ended`, or the goal of `recovery`
 * holds; any other is a deadlock. A saturating counter is hit when a step that raises it elsewhere is accepted at its ceiling, where the count is
 * lost: no guard refuses what cannot be counted. */
#pragma once
#include "check/trace.h"
#include "json/node.h"

typedef struct il_survey {
    uint32_t terminal, deadlocks; /* reachable states */
    il_trace deadlock;            /* the shortest way into one; not found when there is none */
    uint64_t saturated;           /* bit v: counter v was hit */
} il_survey;

/* NULL when memory ran out. */
il_json *il_survey_object(const il_model *m, const il_survey *s, il_arena *arena);
