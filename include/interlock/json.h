/* SPDX-License-Identifier: Apache-2.0 */
/* Strict JSON (RFC 8259) and its canonical writer.
 *
 * Refused, with a position: duplicate keys (compared after unescaping), invalid UTF-8, lone surrogates, a byte order mark, NaN and
 * other non-JSON, numbers that round to infinity (`1e400`: peers disagree on what they are), text after the value, and anything above
 * the limits. Number text survives exactly, also where no double holds it; who computes with a number refuses what he cannot represent.
 *
 * Threads: a document is immutable once parsed and may be read from any thread.
 *
 *     il_json_doc *doc = NULL;
 *     if (il_json_doc_new(&alloc, text, NULL, &doc, &err) != IL_OK) return refuse(&err);
 *     const il_json *name = il_json_get(il_json_doc_root(doc), IL_STR("name"));
 *     il_json_doc_free(doc);
 */
#pragma once
#include "interlock/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct il_json il_json;         /* one node; borrowed from its document */
typedef struct il_json_doc il_json_doc; /* owns its nodes */

typedef enum il_json_kind {
    IL_JSON_NULL = 0,
    IL_JSON_BOOL,
    IL_JSON_NUMBER,
    IL_JSON_STRING,
    IL_JSON_ARRAY,
    IL_JSON_OBJECT
} il_json_kind;

/* Zero in a field means the default, but for `size`. */
typedef struct il_json_limits {
    size_t size;        /* sizeof(il_json_limits); less is IL_E_ARGUMENT */
    size_t bytes;       /* of the text; default 4 MiB, at most 1 GiB */
    uint32_t depth;     /* nested arrays and objects; default 64, at most 512 */
    uint32_t nodes;     /* default 200,000 */
    uint32_t key_bytes; /* of one decoded key; default 1,024 */
    size_t memory;      /* bytes of the tree; default 64 MiB */
} il_json_limits;

/* Parses `text` (borrowed until return only: the document copies what it keeps). `limits` may be NULL.
 * IL_E_SYNTAX, IL_E_LIMIT, IL_E_MEMORY with position; on failure *out is NULL. */
IL_API IL_NODISCARD il_status il_json_doc_new(const il_alloc *alloc, il_str text, const il_json_limits *limits, il_json_doc **out,
                                              il_error *err);
IL_API void il_json_doc_free(il_json_doc *doc);
IL_API const il_json *il_json_doc_root(const il_json_doc *doc);

/* All of these accept NULL and answer as for `null` (kind NULL, empty string, no member). */
IL_API il_json_kind il_json_kind_of(const il_json *v);
IL_API bool il_json_bool(const il_json *v);              /* true only for the literal true */
IL_API il_str il_json_text(const il_json *v);            /* decoded string, or a number's exact text; else empty */
IL_API bool il_json_int(const il_json *v, int64_t *out); /* a number without fraction or exponent that fits */
IL_API size_t il_json_count(const il_json *v);           /* items or members */
IL_API const il_json *il_json_get(const il_json *v, il_str key);
IL_API const il_json *il_json_first(const il_json *v); /* first item or member, in text order */
IL_API const il_json *il_json_next(const il_json *v);  /* its next sibling */
IL_API il_str il_json_key(const il_json *v);           /* of a member; else empty */
IL_API uint32_t il_json_line(const il_json *v);
IL_API uint32_t il_json_col(const il_json *v);

/* Canonical text: no white space, the shortest escapes (else \u with lower-case hex), C0, DEL, U+2028 and U+2029 escaped, `/` not,
 * number text as it came.
 * IL_JSON_SORTED orders members by their keys' bytes (digests); without it text order is kept (forwarding).
 * *text is allocated with `alloc` and freed by the caller with alloc->free; a NUL follows its *n bytes. */
typedef enum il_json_order { IL_JSON_AS_READ = 0, IL_JSON_SORTED = 1 } il_json_order;
IL_API IL_NODISCARD il_status il_json_text_new(const il_alloc *alloc, const il_json *v, il_json_order order, char **text,
                                               size_t *n, il_error *err);

#ifdef __cplusplus
}
#endif
