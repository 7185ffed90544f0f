/* SPDX-License-Identifier: Apache-2.0 */
/* For the files of comparisons only. */
#pragma once
#include "cel/ast.h"
#include "policy/against.h"
#include "policy/compiled.h"
#include "policy/effect.h"
#include "policy/judged.h"

#define IL_AGAINST_KINDS ((uint32_t)IL_KIND_CUSTOM + 1) /* those of a policy's own are one */

typedef struct il_against {
    const il_against_ask *ask;
    const il_policy *p[2]; /* the policy, the other */
    il_bind bind[2];
    il_arena *arena;  /* of the whole comparison */
    il_arena scratch; /* of one class */
    il_arena turn;    /* of one decision */
    il_against_sum *sum;
    /* what both have in common beyond the entries */
    bool machine;                 /* is one, or two that no session can tell apart */
    bool machine_digest;          /* is one */
    bool names[IL_AGAINST_KINDS]; /* lists of a kind, with all that is public */
    bool agents;                  /* and their groups; modes are settings */
    bool sources;
    bool monitors; /* some session of one of them is not enforced: a fault is not a block there */
    bool approvals;
    bool language; /* both are documents of Interbolt, or neither is: what conditions name is the same */
    uint8_t passes
        [2][2]
        [1u
         << IL_EFFECTS]; /* of these effects, standing and once: 1 some state lets a call pass, or a human could; 2 none does; 0 not asked yet */
    const il_str *alike; /* of the class that is looked at */
    uint32_t nalike;
} il_against;

/* A name for each class of tools that some pattern tells apart, sorted. */
typedef struct il_against_class {
    il_str name;
    bool exact; /* it is the class's only name */
} il_against_class;
typedef struct il_against_classes {
    il_against_class *list;
    uint32_t n;
    bool complete; /* false: there are more classes than could be looked at */
} il_against_classes;
IL_NODISCARD il_status il_against_names(const il_policy *const p[2], il_arena *arena, il_against_classes *out, il_error *err);

/* Entries of a tool. */
#define IL_AGAINST_ENTRIES 32u
typedef struct il_against_tool {
    il_str name, server, tool;
    const il_tool *entries[2][IL_AGAINST_ENTRIES];
    uint32_t n[2];
    bool many;  /* more entries than are kept */
    bool exact; /* the name is the class's only one */
    bool outside[2], known[2];
    bool lists[2]; /* a method of a server outside that is no way out when it carries nothing */
    uint32_t nrules[2];
    const il_policy_rule **rules[2]; /* about this name, in order */
} il_against_tool;
IL_NODISCARD il_status il_against_tool_of(il_against *a, il_str name, il_against_tool *out, il_error *err);

/* Whether it is proven that every call of the class is decided alike, whatever the session, as far as the machines are one. *why (in scratch): what stood against it. *results: what its
 * results say is read otherwise, which no single call shows. */
IL_NODISCARD il_status il_against_proof(il_against *a, const il_against_tool *t, bool *same, bool *results, il_str *why,
                                        il_error *err);
/* No call of the class is ever vouched: its server is outside, or nothing that would vouch is declared. */
bool il_against_unvouched(const il_against_tool *t, int side);
/* The machine rejects every call of the class in every state, whatever its conditions and arguments are, and no human can release it: under both. */
bool il_against_rejected(il_against *a, const il_against_tool *t);
/* What both have in common. */
IL_NODISCARD il_status il_against_common(il_against *a, il_error *err);
IL_NODISCARD il_status il_against_settings(il_against *a, il_error *err);
/* Whether no session can tell the two machines apart. */
IL_NODISCARD il_status il_against_machines(il_against *a, bool *same, il_error *err);

/* Argument values worth trying. */
#define IL_AGAINST_PATHS 24u
#define IL_AGAINST_VALUES 24u
typedef struct il_against_path {
    il_arg_path path;
    bool range; /* a macro or `in` runs over it */
    uint32_t n;
    const il_json *values[IL_AGAINST_VALUES]; /* beside absent */
} il_against_path;
typedef struct il_against_values {
    uint32_t n;
    il_against_path paths[IL_AGAINST_PATHS];
    uint32_t nagents, nsources, ntexts;
    il_str agents[IL_AGAINST_VALUES], sources[IL_AGAINST_VALUES];
    il_str typed; /* all texts that are tried, as a human would type them; empty: no policy asks */
    bool stores;  /* a condition asks for the labels of a place */
    bool cut;     /* there is more than fits */
} il_against_values;
IL_NODISCARD il_status il_against_values_of(il_against *a, const il_against_tool *t, il_against_values *out, il_error *err);

/* Looks for calls that show a difference, and reports them. *found: one was. *refuted: one came out otherwise when it was confirmed. */
IL_NODISCARD il_status il_against_search(il_against *a, const il_against_tool *t, bool *found, bool *refuted, il_error *err);
IL_NODISCARD il_status il_against_say(il_against *a, const il_against_finding *f, il_error *err);
