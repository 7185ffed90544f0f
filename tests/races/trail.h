/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger's rows, read whole, and the judges: the rule, the claims, the replay, the ledger's own look at itself. Each returns how many faults it found and
 * says the first ones. None of them asks the machine's table what is allowed. */
#pragma once
#include "world.h"

typedef struct trail_row {
    uint64_t seq, time_ms, ticket;
    uint32_t session; /* UINT32_MAX: not one of the world's */
    il_str kind, text;
    il_json_doc *doc;
    const il_json *body;
} trail_row;
typedef struct trail {
    trail_row *rows;
    size_t n, cap;
    uint32_t sessions; /* one above the highest number */
} trail;

void trail_read(trail *t, il_ledger *l);
void trail_free(trail *t);
il_str trail_text(const trail_row *r, const char *key);
bool trail_true(const trail_row *r, const char *key);
bool trail_is(const trail_row *r, const char *kind);

/* A model of the rule that knows nothing of the machine: what is held and reserved after each row, from the effects in the rows. */
size_t trail_check_rule(const trail *t);
/* Each allow that an agent was told of has its one row, each release its settle; no ticket was given twice. */
size_t trail_check_claims(const trail *t, const races_world *w);
/* `ledger verify`: the chain, and each session against its rows. */
size_t trail_check_whole(const trail *t, il_ledger *l);
/* The same requests, one after the other on a fresh ledger, give the same rows and the same sessions, byte for byte. */
size_t trail_check_replay(const trail *t, races_world *w, const il_policy *policy, il_ledger *recorded);
