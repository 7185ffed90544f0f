/* SPDX-License-Identifier: Apache-2.0 */
/* Labels, for the files that make them (interlock/provenance.h says what they are). */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "interlock/provenance.h"

typedef struct il_name_set { /* in the order of adding */
    il_str *list;
    size_t n, room;
    uint32_t *slots; /* of a table: number of the name plus one; 0: free */
    uint32_t mask;
} il_name_set;

/* A label that is being put together, in an arena: names are borrowed until il_origin_fill. */
typedef struct il_origin_draft {
    il_str source;
    il_name_set lineage, agents;
    il_endorsement *endorsements;
    size_t nendorsements;
    bool more;
} il_origin_draft;

/* Room for so many names; more than IL_ORIGIN_NAMES of a kind are not named, which the label says. */
IL_NODISCARD il_status il_origin_draft_init(il_origin_draft *d, il_arena *arena, size_t sources, size_t agents, il_error *err);
void il_origin_draft_source(il_origin_draft *d, il_str name);
void il_origin_draft_agent(il_origin_draft *d, il_str name);
/* Bytes that the label takes, and the label in so many bytes, aligned for any object. It is nobody's to free. */
size_t il_origin_room(const il_origin_draft *d);
il_origin *il_origin_fill(const il_origin_draft *d, void *room);

/* IL_E_INVALID, IL_E_LIMIT; `what`: `a source`. */
IL_NODISCARD il_status il_origin_name_check(il_str name, const char *what, il_error *err);
IL_NODISCARD il_status il_origin_endorsement_check(const il_endorsement *e, il_error *err);
