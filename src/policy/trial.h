/* SPDX-License-Identifier: Apache-2.0 */
/* `tests`: sessions with the action that each step must get, kept with the policy and run by whoever validates it. */
#pragma once
#include "interlock/policy.h"
#include "policy/rule.h"
#include "json/node.h"

typedef struct il_trial_step {
    il_str call;           /* as patterns name it */
    const il_json *args;   /* NULL: none */
    const il_json *result; /* NULL: none */
    il_str error;          /* its text when it failed; p NULL: it did not */
    bool approved;         /* a human approves it once */
    il_then expect;
    uint32_t line, col;
} il_trial_step;
typedef struct il_trial {
    il_str name, prompt, agent; /* prompt: what the user types first */
    uint32_t nsteps;
    il_trial_step *steps;
    uint32_t line, col;
} il_trial;
typedef struct il_trials {
    uint32_t n;
    il_trial *list;
} il_trials;

/* `v` may be NULL. What is kept is copied. */
IL_NODISCARD il_status il_trials_load(const il_json *v, il_arena *arena, il_trials *out, il_error *err);
const il_trials *il_policy_trials(const il_policy *p);
