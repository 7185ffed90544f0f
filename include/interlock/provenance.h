/* SPDX-License-Identifier: Apache-2.0 */
/* Labels: where a value came from, for hosts that carry this beside their values; and envelopes, which take labelled values across a wire.
 *
 * An il_origin says: these sources had a part in the value (its lineage), these agents took it in, a human endorsed exactly these bytes. It never says
 * whether the value is trusted: that is asked when it matters, of the policy that is in force then (il_origin_trust). Labels only grow: a merge and a second label
 * keep every name that was there, no function takes one away, and no source at all is untrusted.
 *
 * Ownership: an il_origin and an il_envelope belong to who made them until their _free; everything they hand out is borrowed and lives as long. What goes in is
 * copied. Names are UTF-8 of 1 to IL_ORIGIN_NAME_BYTES bytes without control characters (IL_E_INVALID, IL_E_LIMIT).
 * Threads: both are immutable once made and may be read from anywhere; the allocator is asked from the thread that makes or frees.
 *
 *     il_origin *web = NULL, *kb = NULL, *both = NULL;
 *     IL_MUST(il_origin_new(&alloc, IL_STR("web"), IL_STR("ana"), &web, &err));
 *     IL_MUST(il_origin_new(&alloc, IL_STR("handbook"), IL_STR("ana"), &kb, &err));
 *     IL_MUST(il_origin_merge(&alloc, (const il_origin *[]){web, kb}, 2, &both, &err));
 *     if (il_origin_trust(both, &table) == IL_TRUST_UNTRUSTED) ...   // because `web` is
 */
#pragma once
#include "interlock/effect.h"
#include "interlock/json.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IL_ORIGIN_NAME_BYTES 256u /* of a source, an agent, a human */
#define IL_ORIGIN_KIND_BYTES 64u  /* of an endorsement's kind: letters, digits and `_ - .` */
#define IL_ORIGIN_NAMES \
    1024u /* sources of one label, and agents; more are not named, and the label is untrusted for ever (il_origin_more) */
#define IL_ORIGIN_ENDORSEMENTS 64u /* of one label */

typedef struct il_origin il_origin;
IL_API void il_origin_free(il_origin *o); /* accepts NULL */

/* ---- making ------------------------------------------------------------------------------------------ */

/* A value that was just taken in from `source` by `agent` (empty: nobody in particular). */
IL_API IL_NODISCARD il_status il_origin_new(const il_alloc *alloc, il_str source, il_str agent, il_origin **out, il_error *err);
/* A value that nothing is known of: an object that could not be looked into, a wrapper that was lost. No source, so untrusted for ever. */
IL_API IL_NODISCARD il_status il_origin_unknown(const il_alloc *alloc, il_origin **out, il_error *err);
/* A value made of others: every source and agent of each, and the endorsements that all have. Also for a second label on a value that has one: it adds, and never
 * replaces. The first one's `source` stays. None (n = 0), or a NULL among them, is IL_E_ARGUMENT. */
IL_API IL_NODISCARD il_status il_origin_merge(const il_alloc *alloc, const il_origin *const *list, size_t n, il_origin **out,
                                              il_error *err);
/* What `hop` (a model, a summariser) made of values: their sources and agents, and `agent`; no endorsement, since the bytes are new ones. Of no values, or
 * where one of them is NULL (not labelled), it is a source of its own as well: `hop` then stands in the lineage, and no policy's word makes it trusted. */
IL_API IL_NODISCARD il_status il_origin_derive(const il_alloc *alloc, il_str hop, il_str agent, const il_origin *const *from,
                                               size_t n, il_origin **out, il_error *err);

/* ---- asking ------------------------------------------------------------------------------------------ */

IL_API il_str il_origin_source(const il_origin *o); /* where it was taken in, or the last hop; for people */
IL_API size_t il_origin_sources(const il_origin *o);
IL_API il_str il_origin_lineage(const il_origin *o, size_t i); /* each once, oldest first; empty behind the last */
IL_API size_t il_origin_agents(const il_origin *o);
IL_API il_str il_origin_agent(const il_origin *o, size_t i);
/* There is more in it than it names: sources that did not fit, or that nobody knows. */
IL_API bool il_origin_more(const il_origin *o);

/* Who is to be believed, asked when it is needed: a change of the policy changes the answer for values that are there already. */
typedef struct il_trust_table {
    size_t size; /* sizeof(il_trust_table) */
    const void *ctx;
    bool (*trusts)(const void *ctx, il_str source); /* false for a name that it does not know */
} il_trust_table;
typedef enum il_trust { IL_TRUST_UNTRUSTED = 0, IL_TRUST_TRUSTED = 1 } il_trust;
/* Trusted when it has sources, names all of them, and each is trusted. NULL (of either) is untrusted. */
IL_API il_trust il_origin_trust(const il_origin *o, const il_trust_table *table);

/* ---- endorsements -------------------------------------------------------------------------------------- */

/* A human's word for exactly these bytes. It changes no lineage and no trust: only a policy that asks for it (`endorsed()`) sees it. */
typedef struct il_endorsement {
    size_t size;
    il_str kind;                     /* `legal`, `spelling`: whatever the policy asks for */
    il_str by;                       /* who; not empty */
    uint8_t digest[IL_DIGEST_BYTES]; /* of the value: il_value_digest */
} il_endorsement;
/* SHA-256 of the value's sorted canonical text: equal values, equal digests, also across languages. */
IL_API IL_NODISCARD il_status il_value_digest(const il_json *value, uint8_t out[IL_DIGEST_BYTES], il_error *err);
/* The label with one endorsement more. Call il_monitor_endorse() as well: it is what leaves a trace. */
IL_API IL_NODISCARD il_status il_origin_endorse(const il_alloc *alloc, const il_origin *o, const il_endorsement *e,
                                                il_origin **out, il_error *err);
IL_API size_t il_origin_endorsements(const il_origin *o);
IL_API il_endorsement il_origin_endorsement(const il_origin *o, size_t i);
/* Whether a value with this label and this digest has been endorsed: false for the same label on any other bytes. */
IL_API bool il_origin_endorsed(const il_origin *o, il_str kind, const uint8_t digest[IL_DIGEST_BYTES]);

/* ---- labels in a value ------------------------------------------------------------------------------------ */

/* The label of a part of a value and of everything in it. */
typedef struct il_origin_at {
    il_str
        path; /* JSON Pointer (RFC 6901): empty for the whole, `/to/0`, `~1` for `/` and `~0` for `~` in a name. Names and numbers as they stand there, no `-` */
    const il_origin *origin;
} il_origin_at;
#define IL_CALL_LABELS 1024u /* of the arguments of one call, */
#define IL_CALL_NAMES 8192u  /* and sources and agents in all of them */

/* ---- envelopes --------------------------------------------------------------------------------------------- */

#define IL_ENVELOPE_KEY_BYTES_MIN 16u /* of a key; 32 random ones are a good one */
#define IL_ENVELOPE_NONCE_BYTES 16u

typedef struct il_envelope_key {
    il_str id;     /* 1 to IL_ORIGIN_NAME_BYTES bytes */
    il_str secret; /* IL_ENVELOPE_KEY_BYTES_MIN to 4096 bytes */
} il_envelope_key;

/* Zero in a limit means its default. */
typedef struct il_envelope_limits {
    size_t size;      /* sizeof(il_envelope_limits) */
    size_t bytes;     /* of the envelope's text; default 4 MiB, at most 64 MiB */
    uint32_t depth;   /* of the payload; default 64 */
    uint32_t nodes;   /* of the payload; default 200,000 */
    uint32_t labels;  /* default 100,000 */
    uint32_t origins; /* different ones; default 10,000 */
} il_envelope_limits;

/* What a session has read and done, as far as it matters to another one that gets a value from it (il_monitor_carry, il_monitor_receive). */
typedef struct il_run_state {
    size_t size;             /* sizeof(il_run_state) */
    uint32_t effects;        /* il_effect: taints that it holds, and egress when it has a way out */
    const il_origin *origin; /* all sources that it read, and the agents that did; NULL: none */
} il_run_state;

typedef struct il_envelope_pack {
    size_t size;
    const il_envelope_key *key;             /* NULL: without a MAC */
    il_str audience;                        /* the session that may open it */
    uint64_t now_ms, lasts_ms;              /* wall clock; how long it may be opened, 1 to IL_ENVELOPE_LASTS_MAX */
    uint8_t nonce[IL_ENVELOPE_NONCE_BYTES]; /* random, never used before; zeros are refused */
    const il_envelope_limits *limits;       /* NULL: the defaults */
    const il_run_state *run;                /* of the session that the value comes from; NULL: the value goes alone */
} il_envelope_pack;
#define IL_ENVELOPE_LASTS_MAX 86400000u /* a day */

/* The value with the labels of its parts, as one JSON text: allocated with `alloc`, freed by the caller with alloc->free; a NUL follows its *n bytes. The same input
 * gives the same bytes. IL_E_INVALID for a path that leads nowhere or stands twice, for a value that is no UTF-8; IL_E_LIMIT; IL_E_ARGUMENT. */
IL_API IL_NODISCARD il_status il_envelope_text_new(const il_alloc *alloc, const il_json *value, const il_origin_at *labels,
                                                   size_t nlabels, const il_envelope_pack *how, char **text, size_t *n,
                                                   il_error *err);

typedef struct il_envelope_open {
    size_t size;
    il_str audience; /* the session in which it is opened */
    uint64_t now_ms; /* wall clock */
    void *ctx;
    /* The secret of the key with this id (borrowed until return); false: no such key. NULL: there are no keys. */
    bool (*key)(void *ctx, il_str id, il_str *secret);
    /* True exactly once for each nonce of a session, also when two threads ask at once; it need not be kept beyond expires_ms. Asked last: what is refused has used up
     * nothing. */
    bool (*fresh)(void *ctx, il_str audience, const uint8_t nonce[IL_ENVELOPE_NONCE_BYTES], uint64_t expires_ms);
    /* An envelope without a MAC is taken: the caller says that nobody else can write to the channel. Its labels can then only add taint: sources that `trust` trusts
     * and endorsements are dropped, and every label is untrusted for ever. One that has a MAC is still verified. */
    bool channel_trusted;
    const il_trust_table *trust;      /* with channel_trusted; NULL: trusts nobody */
    const il_envelope_limits *limits; /* NULL: the defaults */
} il_envelope_open;

typedef struct il_envelope il_envelope;
/* Opens one. The MAC is verified before anything else in it is believed. IL_E_SEAL: no MAC, a wrong one, or a key that is not there; IL_E_STATE: expired, from the
 * future, or opened before; IL_E_MISMATCH: for another session; IL_E_VERSION; IL_E_SYNTAX, IL_E_INVALID, IL_E_LIMIT for what is none of our envelopes. On a failure *out is
 * NULL and nothing has happened. */
IL_API IL_NODISCARD il_status il_envelope_new(const il_alloc *alloc, il_str text, const il_envelope_open *how, il_envelope **out,
                                              il_error *err);
IL_API void il_envelope_free(il_envelope *e); /* accepts NULL */
IL_API const il_json *il_envelope_value(const il_envelope *e);
IL_API size_t il_envelope_labels(const il_envelope *e);
IL_API il_origin_at il_envelope_label(const il_envelope *e, size_t i); /* in the order in which they were packed */
/* False when it carries no state of a run. out->origin is borrowed from the envelope. The host gives it to il_monitor_receive() before its agent gets the value. */
IL_API bool il_envelope_run(const il_envelope *e, il_run_state *out);
IL_API bool il_envelope_sealed(const il_envelope *e); /* it had a MAC, which is right */
IL_API uint64_t il_envelope_expires_ms(const il_envelope *e);

#ifdef __cplusplus
}
#endif
