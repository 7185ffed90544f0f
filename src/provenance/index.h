/* SPDX-License-Identifier: Apache-2.0 */
/* The content index: which sources does this text share content with?
 *
 * A source is a number that the caller gives. Guarantee, for texts that are kept: every run of IL_INDEX_RUN or more normalised characters that a query
 * shares with a text, and every identifier-like token of IL_INDEX_TOKEN or more, is found, also where either side is written in JSON escapes, percent
 * escapes, base64 or base64url, hex, HTML entities, another letter case, or with zero-width or compatibility characters (docs/provenance.md). A match adds
 * provenance; that nothing matches proves nothing. What is no longer kept is still found by its fingerprints, without being compared.
 *
 * Normalised: what is left of a text when compatibility forms, case and white space no longer differ and invisible characters are gone.
 *
 * Memory is bounded by the limits. Threads: one writer and no reader, or any number of readers. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#define IL_INDEX_RUN 12u  /* normalised characters */
#define IL_INDEX_TOKEN 3u /* characters of a token */

typedef struct il_index_limits { /* zero: the default, but for `size` */
    size_t size;                 /* sizeof(il_index_limits) */
    size_t text_bytes;           /* 16 MiB: texts kept for comparing; the oldest go first */
    size_t index_bytes;          /* 64 MiB: fingerprints and tokens */
} il_index_limits;

typedef struct il_index il_index;

IL_NODISCARD il_status il_index_new(const il_alloc *alloc, const il_index_limits *limits, il_index **out, il_error *err);
void il_index_free(il_index *x);

/* What a text adds, as bytes that do not hold the text: fingerprints and hashes of tokens, of all its readings. Pure: these bytes are what a ledger keeps.
 * `kept` (or NULL) gets what il_index_add keeps of the text for comparing, in the buffer's arena; nothing where that has no room for it. */
IL_NODISCARD il_status il_index_digest(il_str text, il_buf *out, il_str *kept, il_error *err);
/* Adds a text of a source by its digest. `kept`: what il_index_digest gave with it; empty where nobody has it any more, as after a restart. Sources come in growing
 * order, any number of texts each; a run never spans two texts. `group`: a small number, which other sources may have as well; it is what il_index_groups answers. IL_E_DAMAGED for bytes that are no digest; IL_E_MEMORY leaves the index as it was.
 * What does not fit is not there, and il_index_complete says so from then on. */
IL_NODISCARD il_status il_index_add(il_index *x, uint32_t source, uint32_t group, il_str digest, il_str kept, il_error *err);
/* Neither full nor evicting, and no text had more than is read. A text that is only known by its digest is no gap: what it shares with a query is found by hashes, so that more
 * may be found than it says, never less. */
bool il_index_complete(const il_index *x);

typedef struct il_index_hit {
    uint32_t source;
    uint32_t at, n; /* which bytes of the query it is about; of the encoded form, where it was read through one */
    bool token;     /* a whole token; else a run */
    bool compared;  /* with the text itself; else by fingerprints alone */
} il_index_hit;
typedef struct il_index_hits {
    il_index_hit *list; /* by source, then by place; in the caller's arena. None within another of its source */
    size_t n;
    bool more; /* the query was longer or had more readings than is looked at: treat it as of every source */
} il_index_hits;
IL_NODISCARD il_status il_index_find(const il_index *x, il_str query, il_arena *scratch, il_index_hits *out, il_error *err);
/* As il_index_find when only the groups of these sources are wanted: bit g of `groups` (nbits) is set; groups that have no bit are left out. Of a group that is
 * found nothing more is asked, which makes it many times cheaper. Of `scratch` only the allocator is used. */
IL_NODISCARD il_status il_index_groups(const il_index *x, il_str query, il_arena *scratch, uint64_t *groups, size_t nbits,
                                       bool *more, il_error *err);
/* Whether a text of a source for which `counts` is true has exactly this value as a whole token (or a run of whole words), whatever its length. True on a failure, and
 * for a value without a letter or number, of which it cannot be told. */
IL_NODISCARD il_status il_index_names(const il_index *x, il_str value, bool (*counts)(void *ctx, uint32_t source), void *ctx,
                                      bool *out, il_error *err);

typedef struct il_index_size {
    size_t texts, text_bytes, index_bytes; /* kept texts, their bytes, bytes of fingerprints and tokens */
} il_index_size;
il_index_size il_index_measure(const il_index *x);
