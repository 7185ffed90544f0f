/* SPDX-License-Identifier: Apache-2.0 */
/* The labeller: (tool entry, arguments) to a set of effects. Total: what cannot be judged is the worst case, and a tool that no entry
 * matches is denied. Effects are declared worst case; only vouching removes one (docs/policy.md). */
#pragma once
#include "interlock/policy.h"
#include "machine/vocabulary.h"
#include "json/node.h"

/* A place of a store: a file, a key, a row. `value` is canonical; empty: the whole store of that kind. */
typedef struct il_place {
    il_str kind, value;
} il_place;

typedef struct il_label {
    bool known;        /* false: no entry matches, `unlabelled-tool` */
    uint32_t declared; /* effects of the entry and its server, before vouching; secret implies sensitive */
    uint32_t effects;  /* after vouching */
    il_sink_word sink; /* IL_SINK_NONE only when effects has no egress; unknown is standing */
    bool outside;      /* the server is outside the trust domain, or not declared: each call has at least untrusted and egress */
    bool vouched;      /* egress/commit were dropped: every destination is vouched */
    char why[160];     /* for people: which destination is not vouched, or why vouching does not apply; empty when it did */
    const il_str *destinations; /* canonical, for the human who is asked; in scratch */
    size_t ndestinations;
    const il_place *places; /* what the entry says that this call writes (`stores`); in scratch */
    size_t nplaces;
} il_label;

/* What `labelled(path, class)` asks: which taints were written at this place, below it (a listing) or at what it stands below. The answer is part of what is
 * committed with the decision: when somebody writes there in between, the call is judged again. A failure is a fault of the call, never an empty answer. */
typedef struct il_label_stores {
    void *ctx;
    il_status (*labels)(void *ctx, const il_place *place, uint32_t *taints, il_error *err);
} il_label_stores;

/* What is judged. */
typedef struct il_label_call {
    il_str server, tool; /* server: empty for a host's own tool */
    const il_json *args; /* NULL: none */
    uint32_t held;       /* taint bits that the session counts now */
    il_str agent;        /* the session's principal; empty: nobody in particular */
    const struct il_memory *memory; /* what the session knows; NULL: nothing, so only the lists vouch */
    const il_label_stores *stores;  /* NULL: none, so every place counts as labelled with everything */
} il_label_call;
/* Errors (limits, memory) fill err and leave a label that is not known. */
IL_NODISCARD il_status il_policy_label(const il_policy *p, const il_label_call *call, il_arena *scratch, il_label *out, il_error *err);

/* Whether a human may release rejections that concern these effects (`approvals: for:`), and for how long a grant lasts. */
bool il_policy_may_release(const il_policy *p, uint32_t effects);
uint64_t il_policy_approval_ms(const il_policy *p);
