/* SPDX-License-Identifier: Apache-2.0 */
/* What a human may release, who, where, for how long and how often (`approvals`). */
#pragma once
#include "interlock/policy.h"
#include "json/node.h"

typedef enum il_approval_where {                                    /* how a human is asked, as bits */
                                 IL_APPROVAL_PAGE = 1 << 0,         /* `interlock approvals` and what is built on it */
                                 IL_APPROVAL_NOTIFICATION = 1 << 1, /* the client's own dialogue */
} il_approval_where;

typedef struct il_approval_rules {
    uint32_t releases;                    /* effects of `for`; 0: every rejection of the machine is final */
    uint32_t releases_line, releases_col; /* of a `for` that is written out, else 0; `approvals` itself: below */
    uint32_t line, col;
    uint64_t lasts_ms; /* how long a request waits, and a grant lasts once it is given */
    const il_str *by;  /* who may answer; nby 0: anybody who can */
    uint32_t nby;
    uint32_t where;  /* il_approval_where; all of them when nothing is said */
    uint32_t budget; /* requests of one session in an hour; 0: no bound */
    uint32_t budget_line;
} il_approval_rules;

/* `v` may be NULL: nothing that the machine rejects is released; what a rule asks for waits ten minutes. */
IL_NODISCARD il_status il_approvals_load(const il_json *v, il_arena *arena, il_approval_rules *out, il_error *err);

/* Never NULL; of a NULL policy those of none. */
const il_approval_rules *il_policy_approval_rules(const il_policy *p);
/* Whether a human may release rejections of the machine that concern these effects. */
bool il_policy_may_release(const il_policy *p, uint32_t effects);
/* Whether this name may answer. */
bool il_policy_may_answer(const il_policy *p, il_str by);
/* The same of the first 16 bytes of the name's SHA-256: who approves may not have the policy at hand, and is looked at once more when the call is. */
bool il_policy_answered(const il_policy *p, const uint8_t by[16]);
/* The words of `where` that the policy has; returns how many. */
uint32_t il_policy_asks_where(const il_policy *p, il_str out[2]);
uint64_t il_policy_approval_ms(const il_policy *p);
