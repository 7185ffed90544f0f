/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/budget.h"

#define BUDGET_SAY_MS 10000

bool il_budget_take(il_budget *b, uint64_t now_ms) {
    const uint64_t passed = now_ms > b->at ? now_ms - b->at : 0;
    /* An hour cannot overflow, and fills any store. */
    const uint64_t back = passed < 3600000u ? passed * b->per_second : b->used;
    b->used -= back < b->used ? back : b->used;
    b->at = now_ms;
    if (b->used + 1000u > (uint64_t)b->burst * 1000u) {
        b->refused++;
        return false;
    }
    b->used += 1000u;
    return true;
}

uint64_t il_budget_report(il_budget *b, uint64_t now_ms) {
    const uint64_t n = b->refused - b->since;
    if (n == 0 || (b->since > 0 && now_ms - b->said < BUDGET_SAY_MS)) {
        return 0;
    }
    b->since = b->refused;
    b->said = now_ms;
    return n;
}
