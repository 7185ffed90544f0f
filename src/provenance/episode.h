/* SPDX-License-Identifier: Apache-2.0 */
/* An episode: what one event adds to what a session knows, as bytes. A result was read, a human typed something, a call was sent. Made before
 * the event is committed, kept in the ledger with it, and folded into the memory (memory.h) after it: what is remembered is a function of the committed bytes.
 *
 * No payload: values stand as SHA-256 cut to 16 bytes, over their kind and their canonical text; texts as the index's digests. The exceptions are the
 * names of tools and what a policy remembers by name (`remember`), which a later call has as its destination.
 *
 * The bytes are versioned and exact: the same event, the same bytes. Threads: one writer. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

typedef enum il_source_kind {
    IL_SOURCE_SENT = 0,    /* no source: only what a call sends */
    IL_SOURCE_HUMAN,       /* typed in the root session over a channel that the agent cannot write */
    IL_SOURCE_RESULT,      /* of a call that was done */
    IL_SOURCE_ERROR,       /* of a call that failed, or an error text: never vouches */
    IL_SOURCE_NOTICE,      /* a message of a server that answers no call */
    IL_SOURCE_DESCRIPTION, /* of a tool, prompt or resource, not reviewed */
    IL_SOURCE_CHILD        /* the answer of a child session */
} il_source_kind;

/* How far a field of a result may be believed (design: an attacker cannot write it; an attacker may own it). */
typedef enum il_standing { IL_STANDING_CLAIMED = 0, IL_STANDING_AUTHENTIC = 1 } il_standing;

typedef struct il_fact {
    il_str kind;  /* `email`, `channel`, ... */
    il_str value; /* canonical */
    il_standing standing;
    bool has_via; /* it was found by a sibling */
    bool edge;    /* which begins or ends with a word of every sentence, so that it was typed only where signs stand around it */
    il_str
        via; /* the sibling's text, or its canonical form where it has one; empty: it is missing, and nothing vouches for the fact */
} il_fact;

typedef struct il_episode il_episode;

/* `taints`: what the event brings (IL_UNTRUSTED...). Name and agent are cut to IL_EPISODE_NAME_MAX bytes. */
#define IL_EPISODE_NAME_MAX ((size_t)512)
IL_NODISCARD il_status il_episode_new(il_arena *arena, il_source_kind kind, uint64_t ticket, uint32_t taints, il_str name,
                                      il_str agent, il_episode **out, il_error *err);
/* Free text, to be indexed. `untrusted`: an attacker may have written it. The text is borrowed until il_episode_done. */
IL_NODISCARD il_status il_episode_text(il_episode *e, il_str text, bool untrusted, il_error *err);
/* What there is no room for is not kept, and vouches for nothing. */
IL_NODISCARD il_status il_episode_fact(il_episode *e, const il_fact *fact, il_error *err);
/* What a human typed: it is indexed, and each whole word and run of whole words in it counts as typed. */
IL_NODISCARD il_status il_episode_typed(il_episode *e, il_str text, il_error *err);
/* A value of a kind that was found in what a human typed (canonical). */
IL_NODISCARD il_status il_episode_typed_value(il_episode *e, il_str kind, il_str value, il_error *err);
/* A value (canonical) or text that the agent sends: what comes back later proves nothing. `vouched`: by a list or a human, at that time; such
 * a value is not held against itself, also where a text of this episode has it as a token. */
IL_NODISCARD il_status il_episode_sent(il_episode *e, il_str value, bool vouched, il_error *err);
IL_NODISCARD il_status il_episode_sent_text(il_episode *e, il_str text, il_error *err);
/* What counts as sent in a longer value only, with other parts of what the same call sent. */
IL_NODISCARD il_status il_episode_sent_part(il_episode *e, il_str part, il_error *err);
/* More was sent than could be looked at: all of it counts as sent. */
void il_episode_sent_all(il_episode *e);
/* A named value; empty: what the name stood for is no longer so. */
IL_NODISCARD il_status il_episode_remember(il_episode *e, il_str name, il_str value, il_error *err);
/* Something that the event brought could not be looked at: the memory is not complete from then on. */
void il_episode_partial(il_episode *e);
/* Nothing was added: the event need not be kept. */
bool il_episode_empty(const il_episode *e);

/* The bytes, in the episode's arena; once. */
IL_NODISCARD il_status il_episode_done(il_episode *e, il_str *bytes, il_error *err);
/* What the index keeps of the texts, in the order of their digests, for il_memory_apply; after il_episode_done, in its arena. */
const il_str *il_episode_texts(const il_episode *e, size_t *n);
