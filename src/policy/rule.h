/* SPDX-License-Identifier: Apache-2.0 */
/* Rules: what the author adds to what the machine says. In order, the first that matches decides; they only tighten. */
#pragma once
#include "policy/condition.h"
#include "policy/glob.h"

typedef enum il_then { IL_THEN_BLOCK = 0, IL_THEN_APPROVAL = 1, IL_THEN_ALLOW = 2 } il_then;
#define IL_RULE_NAME_MAX 63u
/* `block`, `require_approval` or `allow`; `what` is for the message. */
IL_NODISCARD il_status il_then_read(const il_json *v, const char *what, il_then *out, il_error *err);
const char *il_then_word(il_then then);

typedef struct il_policy_rule {
    uint32_t nglobs, nnot;
    il_glob *globs, *nots; /* a tool that one of `nots` matches is none of this rule's */
    il_condition when;     /* program NULL: always */
    il_then then;
    il_str name; /* as written, else `rule-N`, from 1 */
    uint32_t line, col;
} il_policy_rule;
typedef struct il_rules {
    uint32_t n, asks; /* of all conditions */
    il_policy_rule *list;
    const il_policy_rule *otherwise; /* decides a call that no rule matches, as rule n + 1; NULL: it is allowed */
    bool soft;                       /* a rule whose condition errs does not match; else the call is blocked */
} il_rules;

IL_NODISCARD il_status il_rules_load(il_rules *rules, const il_json *list, const il_condition_names *names, il_arena *arena,
                                     il_error *err);
bool il_rule_names(const il_policy_rule *rule, il_str tool);

typedef struct il_ruling {
    il_then then;               /* allow when no rule matches */
    const il_policy_rule *rule; /* NULL: none matched */
    uint16_t number;            /* its place, from 1 */
    bool erred;                 /* the condition of `rule` did: a block */
    char why[192];              /* what erred, or which rule says so and where it stands; on an allow only what was passed over */
} il_ruling;
/* `name`: the tool's, as patterns match it. `label` is of this very call. Fails for want of memory only, and then *out is a block. */
IL_NODISCARD il_status il_rules_judge(const il_policy *p, const il_label_call *call, il_str name, const il_label *label,
                                      uint64_t state, il_arena *scratch, il_ruling *out, il_error *err);
/* Empty for a number that is none. */
il_str il_policy_rule_name(const il_policy *p, uint32_t number);
