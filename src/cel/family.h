/* SPDX-License-Identifier: Apache-2.0 */
/* Names that exist once for each member of a small list: of `c: [read, net]` and a field `cap[c]` there are the fields `cap[read]` and `cap[net]`.
 * Only machine documents have them. They are resolved while parsing, so that every position is that of the text which was written and all
 * later phases see plain names:
 *
 *     pre.cap[c]          the field of the member that `c` is bound to     pre.cap['net']     that of a member by its name
 *     held[c]             a let with an index                              'grant[c]'         in a text: the word of that member
 *     c == 'net'          the index itself is a text
 *     c.exists(x, …)      `all`, `exists_one` likewise: one copy of the body for each member
 */
#pragma once
#include "cel/parse.h"

#define IL_CEL_FAMILY_MEMBERS 32u

typedef struct il_cel_family {
    il_str name;
    const il_str *members;
    size_t nmembers;
} il_cel_family;

typedef struct il_cel_indexed {
    il_str base;
    size_t family; /* place in il_cel_families.list */
} il_cel_indexed;

typedef struct il_cel_families {
    const il_cel_family *list;
    size_t n;
    const il_cel_indexed *fields; /* fields of records that are variables */
    size_t nfields;
    const il_cel_indexed *words; /* of texts */
    size_t nwords;
    const size_t *lets;   /* one for each of il_cel_env.lets: the family of its index, n for none */
    size_t bound, member; /* the family whose index the expression stands under; n: none */
} il_cel_families;

/* --- for the parser --- */

/* The family of the index that a let has; SIZE_MAX for none. */
static inline size_t il_cel_family_of_let(const il_cel_env *env, size_t let) {
    const il_cel_families *f = env->families;
    return f != NULL && f->lets[let] < f->n ? f->lets[let] : SIZE_MAX;
}

/* A name alone, which has been read: a bound index, or a family that is asked (then with all of the question). *is tells whether it was. */
IL_NODISCARD il_status il_cel_family_name(il_cel_parser *p, il_str name, size_t start, size_t at, bool *is, il_cel_node **out);
/* At the bracket of a let with an index, or where it should stand: reads it. */
IL_NODISCARD il_status il_cel_family_index(il_cel_parser *p, il_str name, size_t family, size_t at, size_t *member);
/* A select that has been read: when its field has an index, that is read and the field is that of the member. */
IL_NODISCARD il_status il_cel_family_field(il_cel_parser *p, il_cel_node *n);
/* A text: `grant[c]` with c bound is the word of the member. */
IL_NODISCARD il_status il_cel_family_word(il_cel_parser *p, il_str *text);
/* `==`, `!=` or `in` with all its operands: an index is compared with members of its family only. */
IL_NODISCARD il_status il_cel_family_compare(il_cel_parser *p, const il_cel_node *n);
/* Binds an index; undone by giving p->nbound back its value. */
IL_NODISCARD il_status il_cel_family_bind(il_cel_parser *p, il_str name, size_t family, size_t member, size_t at);
/* `base[member]`. */
IL_NODISCARD il_status il_cel_family_join(il_arena *arena, il_str base, il_str member, il_str *out, il_error *err);
