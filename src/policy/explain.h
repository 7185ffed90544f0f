/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy makes of one call in a session that holds some effects, step by step: the entries, the effects, the machine, the rules, and the smallest
 * changes that would allow it. It decides as the monitor does in a session that remembers nothing: only the policy's lists vouch, and every store
 * counts as labelled.
 *
 * Memory: all of it in the arena given, or borrowed from the policy. Threads: any number over one policy. */
#pragma once
#include "policy/label.h"
#include "policy/rule.h"

typedef struct il_explain_ask {
    il_str server, tool; /* server: empty for a host's own tool */
    const il_json *args; /* NULL: not known */
    uint32_t held;       /* effects that the session holds; secret brings sensitive */
    il_str agent;        /* empty: nobody in particular */
} il_explain_ask;

typedef enum il_matches { IL_MATCHES_NO = 0, IL_MATCHES_YES, IL_MATCHES_MAYBE, IL_MATCHES_ERRS } il_matches;
/* `no`, `yes`, `maybe`, `errs` */
const char *il_matches_word(il_matches m);

/* A condition, and what is left of it with all that is known. */
typedef struct il_explain_condition {
    uint32_t effect;            /* the bit of an effect's; 0: a rule's */
    const il_policy_rule *rule; /* of a rule, with its number from 1 */
    uint32_t number;
    il_str when; /* as written; empty: always */
    il_matches matches;
    il_str left; /* of a MAYBE; of ERRS why */
} il_explain_condition;

typedef struct il_explain_change { /* one that, alone, would allow the call */
    const char *kind;              /* a word for programs: `destination` */
    il_str text;
} il_explain_change;
#define IL_EXPLAIN_CHANGES 16u

typedef struct il_explanation {
    il_str name;                 /* `server.tool` */
    uint32_t nentries;           /* that count: several unequal patterns have their worst case */
    const struct il_tool *entry; /* the first; NULL: none */
    uint32_t declared;           /* by the entries and the server, whatever the conditions say */
    il_label label;              /* declared: after conditions; effects: after vouching */
    size_t nconditions, nrules;
    il_explain_condition *conditions; /* of effects */
    il_explain_condition *rules;      /* about this tool, up to the one that decides for certain */
    uint64_t state;
    bool accepted; /* by the machine */
    il_str reason; /* of a rejection */
    il_then action;
    const char *layer; /* `labeller`, `machine`, `rule`, `fault`; NULL: allowed */
    il_str why_layer;  /* the decision's reason; empty: allowed */
    bool depends;      /* on arguments that are not known: this is the worst of what may come */
    size_t nchanges;
    il_explain_change changes[IL_EXPLAIN_CHANGES];
} il_explanation;

/* IL_E_STATE when no session can hold these effects together (the message says which is rejected); IL_E_INVALID; IL_E_MEMORY, IL_E_LIMIT. */
IL_NODISCARD il_status il_policy_explain(const il_policy *p, const il_explain_ask *ask, il_arena *arena, il_explanation *out,
                                         il_error *err);
