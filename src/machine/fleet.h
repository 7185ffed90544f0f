/* SPDX-License-Identifier: Apache-2.0 */
/* The `fleet` section of a machine: what must hold over several sessions together.
 *
 *     fleet:
 *       instances: 3                   # sessions that are explored together, 2 to 8
 *       shared: [budget]               # variables that all instances have in common
 *       invariants:
 *         few-egress: {count: "pre.flight", most: 1}          # at most 1 instance is in such a state
 *         distinct-hosts: {distinct: host, where: "pre.flight", most: 2}   # at most 2 values of `host` among them
 *         own-identity: {unique: identity, where: "pre.phase == 'live'"}  # no two instances have the same value
 *       join: {when: "pre.phase == 'ended'", into: absorb}    # families: an instance that is over hands its state to a parent
 *
 * Checked over the exact product (identical instances up to their order); watched at run time over the sessions of a ledger. */
#pragma once
#include "machine/model.h"

#define IL_FLEET_INSTANCES_MAX 8
#define IL_FLEET_INVARIANTS_MAX 32

typedef enum il_fleet_kind { IL_FLEET_COUNT, IL_FLEET_DISTINCT, IL_FLEET_UNIQUE } il_fleet_kind;

typedef struct il_fleet_invariant {
    il_str name;
    il_fleet_kind kind;
    il_cel_program *where; /* over pre; for COUNT what is counted; NULL: every instance. An error counts as true */
    uint32_t var;          /* DISTINCT, UNIQUE */
    uint32_t most;         /* COUNT, DISTINCT */
    uint32_t line, col;
} il_fleet_invariant;

typedef struct il_fleet {
    uint32_t instances;
    uint64_t shared; /* bit v */
    uint32_t ninvariants;
    il_fleet_invariant *invariants;
    uint32_t line, col;
} il_fleet;
