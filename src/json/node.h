/* SPDX-License-Identifier: Apache-2.0 */
/* The node, for the modules that build or walk trees in their own arena. The YAML reader makes the same nodes. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "interlock/json.h"

/* Deepest nesting that any limit may allow: readers and writers keep their path in an array of this size. */
#define IL_JSON_DEPTH_MAX 512

/* Positions: line and col count from 1 (col in code points), offsets in bytes from 0; all 0 in a node that was built, not read. */
struct il_json {
    uint8_t kind;   /* il_json_kind */
    bool truth;     /* IL_JSON_BOOL */
    bool plain;     /* a YAML plain scalar or a JSON literal; false for a quoted string */
    uint8_t height; /* of the index below this member */
    uint32_t line, col;
    uint32_t count; /* children */
    uint32_t offset, key_offset;
    il_str text; /* string: decoded; number: exact text */
    il_str key;  /* decoded key when this node is a member */
    uint32_t key_line, key_col;
    il_json *first, *last; /* children */
    il_json *next;         /* sibling */
    /* Members by key, for objects above a few members: a balanced tree threaded through the members themselves (see member.h). */
    il_json *index;       /* the root; NULL while the object is small */
    il_json *less, *more; /* of a member */
};

/* `limits` with its defaults filled in; IL_E_ARGUMENT without `size` or when the depth is above IL_JSON_DEPTH_MAX. `limits` may be NULL. */
IL_NODISCARD il_status il_json_limits_fill(const il_json_limits *limits, il_json_limits *out, il_error *err);

/* Parses into `arena`; everything that is kept is copied, so `text` may go. On failure *out is NULL and what was allocated
 * stays in the arena until its reset. limits->memory bounds what this call takes, beside the arena's own cap. */
IL_NODISCARD il_status il_json_parse(il_arena *arena, il_str text, const il_json_limits *limits, il_json **out, il_error *err);

/* Builders. All allocate in `arena`, return NULL when it is out of memory; strings are borrowed, not copied. */
il_json *il_json_make(il_arena *arena, il_json_kind kind);
il_json *il_json_string(il_arena *arena, il_str s);
il_json *il_json_number(il_arena *arena, int64_t v);
il_json *il_json_boolean(il_arena *arena, bool v);
/* Append; `child` must not have a parent yet. A NULL parent or child (or a parent of another kind) returns false, so a chain of
 * builders is checked once. */
bool il_json_push(il_json *array, il_json *child);
bool il_json_set(il_json *object, il_str key, il_json *child); /* false on a key that is there; the key is borrowed */
/* As il_json_set, of a document that is made of another one: the member's key stands where `at` has its key, or itself. */
bool il_json_set_at(il_json *object, il_str key, il_json *child, const il_json *at);
/* A copy of the node and of its children's heads that shares everything below them: members of the copy may be set and removed
 * without touching the parsed message. To change something deeper, copy each level on the way. The copy has no key and no parent. */
il_json *il_json_shallow(il_arena *arena, const il_json *v);
/* Removes a member; false when absent. Linear in the number of members. */
bool il_json_remove(il_json *object, il_str key);

/* Whether the text is one number of RFC 8259 and nothing else. */
bool il_json_is_number(il_str s);

/* Writes canonical text (see il_json_text_new) at the end of b; errors stick in b: IL_E_LIMIT deeper than IL_JSON_DEPTH_MAX,
 * IL_E_INVALID for a built node whose string is not UTF-8 or whose number is none. */
void il_json_write(il_buf *b, const il_json *v, il_json_order order);
/* One string with its quotes, as il_json_write writes it. */
void il_json_write_string(il_buf *b, il_str s);
/* SHA-256 of the sorted canonical text. `blocks`: as il_sha256_init. */
IL_NODISCARD il_status il_json_digest(const il_json *v, il_sha256_blocks blocks, uint8_t out[IL_DIGEST_BYTES], il_error *err);

/* Fails at the node's position. */
#define IL_JSON_FAIL(v, err, code, ...) \
    il_error_at((err), (code), (v) ? (v)->line : 0, (v) ? (v)->col : 0, (v) ? (v)->offset : 0, __VA_ARGS__)
/* IL_E_INVALID when `object` is none, or at the first member whose key is not among `keys`, with the nearest one as a suggestion. */
IL_NODISCARD il_status il_json_only(const il_json *object, const il_str *keys, size_t nkeys, const char *where, il_error *err);
