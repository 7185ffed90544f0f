/* SPDX-License-Identifier: Apache-2.0 */
/* What one policy decides otherwise than another, with a call that shows it (docs/policy.md, Comparing).
 *
 * A decision is a function of the call (tool, arguments, their labels) and of the session (agent, state of the machine, what it remembers, labels of
 * stores). Names of tools fall into classes that no pattern of either policy tells apart; for each class the two functions are compared:
 *
 *   - they are proven equal: the same entries and rules, or conditions of which il_cel_logic says so for every call;
 *   - or a call is found that shows a difference, among the constants of both policies and their neighbours;
 *   - or neither, and that is said. A proof is never a guess: nothing found proves nothing.
 *
 * Decisions are compared as in enforce. Memory: findings live in the arena until the next one. Threads: any number over two policies. */
#pragma once
#include "policy/label.h"
#include "policy/rule.h"

typedef enum il_against_kind {
    IL_AGAINST_UNKNOWN = 0, /* not decided; `text` says why */
    IL_AGAINST_CALL,        /* a call gets another action */
    IL_AGAINST_AFTER,       /* the same action, which is no block, and the session is another one after it */
    IL_AGAINST_SETTING      /* what no single call shows: `text` */
} il_against_kind;
/* `unknown`, `call`, `after`, `setting` */
const char *il_against_word(il_against_kind kind);

typedef struct il_against_side {
    il_then action;
    const char *layer; /* as of a decision; NULL: allowed */
    il_str reason;
    uint32_t effects; /* after vouching */
    il_sink_word sink;
} il_against_side;

typedef struct il_against_call { /* and the session that it is in */
    il_str server, tool, name;   /* server: empty for a host's own tool; name: both */
    const il_json *args;         /* an object */
    uint32_t held;               /* effects that the session holds */
    il_str agent;                /* empty: nobody in particular */
    il_str typed;                /* what a human typed in it; empty: nothing */
    il_str source;               /* of the label of all arguments; empty: they have none */
    bool marked;                 /* every place of a store holds every label; else nothing was ever written there */
} il_against_call;

typedef struct il_against_finding {
    il_against_kind kind;
    bool wider;          /* CALL: the policy lets more through than the other */
    il_str about;        /* a tool's name that stands for its class, or a setting */
    const il_str *alike; /* names of other classes of which the same can be said: the same entries and rules are theirs */
    uint32_t nalike;
    il_str text;
    il_against_call call;          /* CALL and AFTER */
    il_against_side policy, other; /* CALL and AFTER */
} il_against_finding;

typedef struct il_against_ask {
    const il_policy *policy, *other;
    uint32_t tries; /* decisions that are tried for one class of tools; 0: 60,000 */
    void *ctx;
    /* Decides the example again, by other means than the search (a monitor): where it does not come out as found, *agrees is false and it is not reported. NULL: nobody
     * asks. */
    il_status (*confirm)(void *ctx, const il_against_finding *finding, bool *agrees, il_error *err);
    /* In the order of settings, then of tools' names. A failure ends it and is passed on. */
    il_status (*found)(void *ctx, const il_against_finding *finding, il_error *err);
} il_against_ask;

typedef struct il_against_sum {
    uint32_t classes, same; /* of tools that have the same entries and rules; proven equal */
    uint32_t wider, narrower, after, settings, unknown;
} il_against_sum;

/* IL_E_MEMORY, IL_E_LIMIT; what `found` and `confirm` return. */
IL_NODISCARD il_status il_policy_against(const il_against_ask *ask, il_arena *arena, il_against_sum *out, il_error *err);
