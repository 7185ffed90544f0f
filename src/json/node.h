/* SPDX-License-Identifier: Apache-2.0 */
/* The node, for the modules that build or walk trees in their own arena. The YAML reader makes the same nodes. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "interlock/json.h"

struct il_json {
    uint8_t kind; /* il_json_kind */
    bool truth;   /* IL_JSON_BOOL */
    bool plain;   /* a YAML plain scalar or a JSON literal; false for a quoted string */
    uint32_t line, col;
    size_t offset;
    uint32_t count;         /* children */
    il_str text;            /* string: decoded; number: exact text */
    il_str key;             /* decoded key when this node is a member */
    uint32_t key_line, key_col;
    il_json *first, *last;  /* children */
    il_json *next;          /* sibling */
    struct il_json_index *index; /* members by key hash, for objects above a few members; may be NULL */
};

/* Parses into `arena`; strings that need no unescaping still are copied, so `text` may go. */
IL_NODISCARD il_status il_json_parse(il_arena *arena, il_str text, const il_json_limits *limits, il_json **out, il_error *err);

/* Builders. All allocate in `arena`, return NULL when it is out of memory; strings are borrowed, not copied. */
il_json *il_json_make(il_arena *arena, il_json_kind kind);
il_json *il_json_string(il_arena *arena, il_str s);
il_json *il_json_number(il_arena *arena, int64_t v);
il_json *il_json_boolean(il_arena *arena, bool v);
/* Appends; `child` must not have a parent yet. A NULL parent or child returns false, so a chain of builders is checked once. */
bool il_json_push(il_json *array, il_json *child);
bool il_json_set(il_json *object, il_str key, il_json *child); /* false on a key that is there */
/* A copy of the node itself that shares its children: for changing members of a parsed message without touching it. */
il_json *il_json_shallow(il_arena *arena, const il_json *v);
/* Removes a member; false when absent. */
bool il_json_remove(il_json *object, il_str key);

/* Writes canonical text (see il_json_text_new) at the end of b; errors stick in b. Depth is bounded as the reader's. */
void il_json_write(il_buf *b, const il_json *v, il_json_order order);
/* SHA-256 of the sorted canonical text. */
IL_NODISCARD il_status il_json_digest(const il_json *v, il_arena *scratch, uint8_t out[IL_DIGEST_BYTES], il_error *err);

/* Fails at the node's position. */
#define IL_JSON_FAIL(v, err, code, ...) \
    il_error_at((err), (code), (v) ? (v)->line : 0, (v) ? (v)->col : 0, (v) ? (v)->offset : 0, __VA_ARGS__)
/* IL_E_INVALID at the first member whose key is not among `keys`, with the nearest one as a suggestion. */
IL_NODISCARD il_status il_json_only(const il_json *object, const il_str *keys, size_t nkeys, const char *where, il_error *err);
