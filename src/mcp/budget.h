/* SPDX-License-Identifier: Apache-2.0 */
/* How often something may happen: a full store of `burst`, filled up again at `per_second`. Threads: one. */
#pragma once
#include "interlock/base.h"

typedef struct il_budget {
    uint32_t per_second, burst;
    uint64_t used;           /* thousandths; 0: the store is full */
    uint64_t at, said;       /* milliseconds of the last look, and of the last report */
    uint64_t refused, since; /* in all, and when it was last reported */
} il_budget;

/* False: not now. */
bool il_budget_take(il_budget *b, uint64_t now_ms);
/* How many were refused since the last report, when that is to be said: at the first refusal and every 10 seconds. Else 0.
 * Ask after each take, also one that succeeded: the rest of a flood that has ended is said with the next that is let through. */
uint64_t il_budget_report(il_budget *b, uint64_t now_ms);
