/* SPDX-License-Identifier: Apache-2.0 */
/* Types as the checker works with them: variables that stand for what is not known yet, unification, signatures made fresh for
 * each call.
 *
 * The rules are those of cel-go's checker: dyn goes with everything; null with optionals, timestamps, durations, addresses,
 * records and host types; lists, maps, optionals and host types go together when what they hold does; a type parameter that
 * has met two types is the more general one. A string's finite domain and a map's known fields never decide whether types go
 * together, and are kept only where both sides have the same.
 *
 * Nothing here is global: all that is inferred lives in an il_cel_types, which lives in the arena of the compilation. */
#pragma once
#include "base/arena.h"
#include "interlock/cel.h"

/* Unification visits so many types at most in one compilation: those that a host's generic functions build can share parts and
 * be walked in exponential time. Above it the expression is refused (IL_E_LIMIT). */
#define IL_CEL_TYPE_STEPS 200000u

/* What a variable was before it was bound, to take that back. */
typedef struct il_cel_rebound {
    uint32_t variable;
    const il_cel_type *was;
} il_cel_rebound;

typedef struct il_cel_types {
    il_arena *arena;
    const il_cel_type **bound; /* by number of the variable; NULL: not known yet */
    uint32_t nbound, room;
    il_cel_rebound *trail; /* what to undo when an attempt fails */
    uint32_t ntrail, trail_room;
    uint32_t steps; /* left */
    bool no_memory, too_large;
} il_cel_types;

void il_cel_types_init(il_cel_types *types, il_arena *arena);
/* IL_OK, or why an answer of this file since il_cel_types_init may be wrong: IL_E_MEMORY, IL_E_LIMIT. Asked once, at the end. */
IL_NODISCARD il_status il_cel_types_failed(const il_cel_types *types);

/* A type that is not known yet. On failure dyn, and il_cel_types_failed says so; as everywhere here. */
const il_cel_type *il_cel_type_unknown(il_cel_types *types);
const il_cel_type *il_cel_type_list_of(il_cel_types *types, const il_cel_type *element);
const il_cel_type *il_cel_type_map_of(il_cel_types *types, const il_cel_type *key, const il_cel_type *value);
const il_cel_type *il_cel_type_optional_of(il_cel_types *types, const il_cel_type *element);
/* The type of a TYPE value: `type(int)`. */
const il_cel_type *il_cel_type_of_type(il_cel_types *types, il_cel_value type);
/* The plain type of a kind: list(dyn), map(dyn, dyn), optional_type(dyn); dyn for a kind that says nothing alone. */
const il_cel_type *il_cel_type_of_kind(il_cel_kind kind);

/* What the outermost part of a type is found to be: never NULL, and a variable only when nothing is known of it. */
const il_cel_type *il_cel_type_seen(const il_cel_types *types, const il_cel_type *t);
static inline bool il_cel_type_is_dyn(const il_cel_type *seen) { return seen->kind == IL_CEL_DYN; }
bool il_cel_type_is_variable(const il_cel_type *t);
/* Whether null is a value of it beside its own. */
bool il_cel_type_nullable(il_cel_kind kind);

/* Whether the two go together; what had to be inferred for it stays. On false nothing has changed. */
bool il_cel_type_unify(il_cel_types *types, const il_cel_type *a, const il_cel_type *b);
/* Whether the two are the same, as far as is known. */
bool il_cel_type_same(il_cel_types *types, const il_cel_type *a, const il_cel_type *b);
/* The type of what is one or the other, of two that go together. */
const il_cel_type *il_cel_type_join(il_cel_types *types, const il_cel_type *a, const il_cel_type *b);

/* A call of a signature. The parameters by name, each a variable of its own for this call. */
typedef struct il_cel_signature {
    il_str names[8];
    const il_cel_type *variables[8];
    unsigned n;
} il_cel_signature;
/* `t` with its parameters replaced; `t` itself when there are none. */
const il_cel_type *il_cel_type_fresh(il_cel_types *types, il_cel_signature *s, const il_cel_type *t);
/* Cheap and never wrong when false: can an argument be what a parameter wants, by the outermost kinds? */
bool il_cel_type_may_fit(const il_cel_type *seen_argument, const il_cel_type *parameter);

/* Begin an attempt; take back what was inferred since. */
uint32_t il_cel_types_mark(const il_cel_types *types);
void il_cel_types_undo(il_cel_types *types, uint32_t mark);

/* Without variables: what is known in their places, dyn where nothing is. */
const il_cel_type *il_cel_type_final(il_cel_types *types, const il_cel_type *t);

/* The type as people write it (il_cel_type_text, cel/cel.h), with what is inferred so far in its variables' places. */
size_t il_cel_type_write(const il_cel_types *types, const il_cel_type *t, char *out, size_t cap);
