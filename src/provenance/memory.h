/* SPDX-License-Identifier: Apache-2.0 */
/* What a session knows: the fold over its committed episodes. Everything that vouching, `prov` and `run` ask of the past is asked here.
 *
 * Threads: one writer and no reader, or any number of readers. */
#pragma once
#include "provenance/episode.h"
#include "provenance/index.h"

typedef struct il_memory il_memory;

/* `index` may be NULL for the defaults. */
IL_NODISCARD il_status il_memory_new(const il_alloc *alloc, const il_index_limits *index, il_memory **out, il_error *err);
void il_memory_free(il_memory *m);

/* Folds in episode number `number` (from 1, without gaps: else IL_E_STATE). `texts` are the episode's own (il_episode_texts), or NULL when nobody has them any more.
 * IL_E_DAMAGED for bytes that no episode has. On a failure the memory is of no more use than to be freed. */
IL_NODISCARD il_status il_memory_apply(il_memory *m, uint64_t number, il_str episode, const il_str *texts, size_t ntexts,
                                       il_error *err);
/* How many episodes it holds. */
uint64_t il_memory_episodes(const il_memory *m);
/* Whether everything that the session has read is in it: false once the index is full or evicting. Then no field vouches. */
bool il_memory_complete(const il_memory *m);
size_t il_memory_bytes(const il_memory *m);

/* ---- sources -------------------------------------------------------------------------------------- */

typedef struct il_source {
    il_source_kind kind;
    uint64_t ticket;
    uint32_t taints;
    il_str name, agent; /* borrowed from the memory */
} il_source;
/* Sources are numbered from 1 in the order of their episodes; *out is empty for a number that is none. */
uint32_t il_memory_sources(const il_memory *m);
il_source il_memory_source(const il_memory *m, uint32_t number);

/* Sources of one kind and name that one agent read and that bring the same are a class, numbered from 0 in the order in which the session came to know them: what a policy asks of a source is the same for
 * all of a class. What is given is the first of them. */
uint32_t il_memory_classes(const il_memory *m);
il_source il_memory_class(const il_memory *m, uint32_t class);

/* ---- questions ------------------------------------------------------------------------------------- */

/* A human typed this value (canonical, of this kind). */
bool il_memory_typed(const il_memory *m, il_str kind, il_str value);
/* A human typed these words, whole and one after the other, as they stand there: for kinds that are plain words. */
bool il_memory_typed_words(const il_memory *m, il_str words);
/* The agent sent this value, not vouched then, before the episode of this source. True also when that cannot be told any more. */
bool il_memory_sent_before(const il_memory *m, il_str value, uint32_t source);

typedef struct il_seen { /* a fact, as far as it is kept */
    uint32_t source;
    il_standing standing;
    bool has_via;       /* it was found by a sibling: ask about that */
    const uint8_t *via; /* hashes of the sibling's words; none for one that cannot be vouched */
    uint32_t via_words;
    bool edge;   /* and it was typed only where signs stand around it */
    bool shared; /* another value of this kind was found by the same sibling: which of them is meant cannot be told */
    il_str kind; /* and `mark`: which fact it is, for il_memory_via_typed */
    const uint8_t *mark;
} il_seen;
/* Visits the facts of this kind and value, newest first; the visitor returns false to stop. */
void il_memory_facts(const il_memory *m, il_str kind, il_str value, bool (*visit)(void *ctx, const il_seen *fact), void *ctx);
/* Whether the sibling is this text (white space and ASCII letter case do not count). */
bool il_memory_via_is(const il_seen *fact, il_str text);
/* A human typed the sibling, and not as a part of a longer name by which another value of this kind was found. */
bool il_memory_via_typed(const il_memory *m, const il_seen *fact);

/* Untrusted free text names this value, as a whole token or as whole words. True also when that cannot be told any more. */
IL_NODISCARD il_status il_memory_named(const il_memory *m, il_str value, bool *out, il_error *err);
/* Which sources a text shares content with (index.h). */
IL_NODISCARD il_status il_memory_find(const il_memory *m, il_str text, il_arena *scratch, il_index_hits *out, il_error *err);
/* The classes of these sources, cheaper: bit c of `classes`, which has a bit for each. *more: it may be all of them. */
IL_NODISCARD il_status il_memory_find_classes(const il_memory *m, il_str text, il_arena *scratch, uint64_t *classes, bool *more,
                                              il_error *err);
/* The value that a name stands for; empty when none. Borrowed from the memory. */
il_str il_memory_remembered(const il_memory *m, il_str name);
