/* SPDX-License-Identifier: Apache-2.0 */
/* The labeller: (tool entry, arguments) to a set of effects. Total: what cannot be judged is the worst case, and a tool that no entry
 * matches is denied. Effects are declared worst case; only vouching removes one (docs/policy.md). */
#pragma once
#include "interlock/policy.h"
#include "machine/vocabulary.h"
#include "json/node.h"

/* How a value of a sink call stands. */
typedef enum il_vouch {
    IL_VOUCH_NOTHING = 0, /* nothing speaks for it */
    IL_VOUCH_UNREAD,      /* it is no value of its kind, or could not be built or found */
    /* near: it is not vouched, and a human may say that it is right */
    IL_VOUCH_CLAIMED, /* a field of a result has it, one that its sender could have written */
    IL_VOUCH_SENT,    /* an authentic field has it, but the agent had sent it before */
    IL_VOUCH_VIA,     /* an authentic field has it, but what it was found by is not vouched */
    IL_VOUCH_NAMED,   /* an authentic field has it, and so has a text that an attacker may have written */
    IL_VOUCH_FORGOT,  /* an authentic field has it, but not all that the session read is kept any more */
    IL_VOUCH_REACH, /* an authentic field or a human has it, but this sink's readers are not the addressee alone, or it is standing */
    /* vouched */
    IL_VOUCH_LISTED, /* the policy lists it for all that the session holds */
    IL_VOUCH_TYPED,  /* a human typed it */
    IL_VOUCH_FACT,   /* an authentic field has it */
    IL_VOUCH_USER    /* the addressee is the session's own user */
} il_vouch;
static inline bool il_vouch_vouches(il_vouch v) { return v >= IL_VOUCH_LISTED; }
static inline bool il_vouch_near(il_vouch v) { return v >= IL_VOUCH_CLAIMED && v < IL_VOUCH_LISTED; }
/* For people: `an authentic field of a result has it`, ... Never NULL. */
const char *il_vouch_text(il_vouch v);

typedef struct il_vouched {
    il_str argument; /* as the entry declares it: a path, a template or `$name`; borrowed from the policy */
    il_str kind;     /* borrowed from the policy or static */
    il_str value;    /* canonical; as it stands in the call when it is no value of its kind */
    il_vouch how;
    uint32_t source; /* of the memory, which a field's value came from; 0: none */
} il_vouched;

#define IL_LABEL_VALUES_MAX 64u

/* A place of a store: a file, a key, a row. `value` is canonical; empty: the whole store of that kind. */
typedef struct il_place {
    il_str kind, value;
} il_place;

typedef struct il_label {
    bool known;        /* false: no entry matches, `unlabelled-tool` */
    uint32_t declared; /* effects of the entry and its server, before vouching; secret implies sensitive */
    uint32_t effects;  /* after vouching */
    il_sink_word sink; /* IL_SINK_NONE only when effects has no egress; unknown is standing */
    bool child;        /* what it calls is another agent, whose session joins this one with its answer */
    bool outside;      /* the server is outside the trust domain, or not declared: each call has at least untrusted and egress */
    bool vouched;      /* egress/commit were dropped: every destination is vouched */
    char why[256];     /* for people: which destination is not vouched, or why vouching does not apply; empty when it did */
    const il_str *destinations; /* canonical, for the human who is asked; in scratch */
    size_t ndestinations;
    const il_place *places; /* what the entry says that this call writes (`stores`); in scratch */
    size_t nplaces;
    bool
        near; /* not vouched, but every value that is not is one that a human may say is right. For people: no decision rests on it */
    const il_vouched *values; /* what was looked at, in that order, in scratch: at most IL_LABEL_VALUES_MAX */
    size_t nvalues;
    bool more; /* there are values beyond these */
} il_label;

/* What `labelled(path, class)` asks: which taints were written at this place, below it (a listing) or at what it stands below. The answer is part of what is
 * committed with the decision: when somebody writes there in between, the call is judged again. A failure is a fault of the call, never an empty answer. */
typedef struct il_label_stores {
    void *ctx;
    il_status (*labels)(void *ctx, const il_place *place, uint32_t *taints, il_error *err);
} il_label_stores;

/* The methods that list what a server has: they bring its texts. So of a server outside they are known without an entry, and are no way out when they carry nothing. */
bool il_label_lists(il_str tool);

/* What is judged. */
typedef struct il_label_call {
    il_str server, tool;            /* server: empty for a host's own tool */
    const il_json *args;            /* NULL: none */
    uint32_t held;                  /* taint bits that the session counts now */
    il_str agent;                   /* the session's principal; empty: nobody in particular */
    const struct il_memory *memory; /* what the session knows; NULL: nothing, so only the lists vouch */
    bool
        elsewhere; /* what made the session untrusted is not in its memory (a parent read it, or nobody knows): no field of a result vouches */
    const il_label_stores *stores; /* NULL: none, so every place counts as labelled with everything */
    const il_origin_at *labels;    /* of the arguments, as the host's carriers have them (carried.h) */
    size_t nlabels;
    bool carries;  /* one of them is untrusted (il_carried_untrusted) */
    bool unjoined; /* nobody joins the child that an entry with `child: true` calls */
    bool sends;    /* the session has a way out: a standing sink was used, or a call that sends is not settled */
} il_label_call;
/* A list that carries nothing. A cursor does: whoever knows that the server gave it (the gateway does) has the list judged without it. */
bool il_label_bare(il_str tool, const il_json *args);
/* Errors (limits, memory) fill err and leave a label that is not known. */
/* Whether what a human typed can vouch for a call of some tool: its entry says where a call goes, `sink: once` and `audience: addressed`, or is a commit
 * and says what is changed, and its server is inside. What conditions ask of a session's memory is another matter. */
bool il_policy_hears_for_tools(const il_policy *p);
/* Of a tool that no entry names: the name of one that has an entry and is spelt almost so; empty: none. Borrowed from the policy. */
il_str il_policy_near(const il_policy *p, il_str name);
IL_NODISCARD il_status il_policy_label(const il_policy *p, const il_label_call *call, il_arena *scratch, il_label *out,
                                       il_error *err);
