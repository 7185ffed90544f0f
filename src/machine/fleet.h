/* SPDX-License-Identifier: Apache-2.0 */
/* The `fleet` section of a machine: what must hold over several sessions together.
 *
 *     fleet:
 *       instances: 3                   # sessions that are explored together, 2 to 8
 *       shared: [budget]               # variables that all instances have in common
 *       renew: "pre.phase == 'ended'"  # an instance in such a state may be followed by a new one in its place
 *       invariants:
 *         few-egress: {count: "pre.flight", most: 1}          # at most 1 instance is in such a state
 *         distinct-hosts: {distinct: host, where: "pre.flight", most: 2}   # at most 2 values of `host` among them
 *         own-identity: {unique: identity, where: "pre.phase == 'live'"}   # no two of them have the same value
 *       family: {join: join, together: [lethal-trifecta]}
 *
 * Without `family` the instances are alike and begin independently. With it the first is a parent and the others are its children, which begin by
 * the action `join` carrying what the parent holds, and answer by the same action of the parent. `join` defaults to the action of that name.
 * A field of it carries the variable of its name: a bool says whether the variable is beyond its first value, any other field takes the value of
 * the same name, or its last one where it has none; `data` carries `sensitive` and `secret`. Regions under `together` are judged on the union of
 * what all members hold, for families whose members have channels beside the join.
 *
 * Checked over the exact product (alike instances up to their order); the invariants are watched at run time over the sessions of a ledger. */
#pragma once
#include "machine/model.h"

#define IL_FLEET_INSTANCES_MAX 8
#define IL_FLEET_INVARIANTS_MAX 32
#define IL_FLEET_TOGETHER_MAX 16

typedef enum il_fleet_kind { IL_FLEET_COUNT, IL_FLEET_DISTINCT, IL_FLEET_UNIQUE } il_fleet_kind;

typedef struct il_fleet_invariant {
    il_str name;
    il_fleet_kind kind;
    il_cel_program *where; /* over pre; for COUNT what is counted; NULL: every instance */
    uint32_t var;          /* DISTINCT, UNIQUE */
    uint32_t most;         /* COUNT, DISTINCT: from 1 to one less than all; 1 for UNIQUE: of each value */
    uint32_t line, col;
} il_fleet_invariant;

typedef struct il_family_carry { /* a variable that a join takes along */
    uint32_t var, field;
    uint32_t *place; /* of the field, for each value of the variable; of several variables in one field the highest counts */
} il_family_carry;

typedef struct il_family {
    uint32_t action; /* the join */
    uint32_t ncarries;
    il_family_carry *carries;
    uint64_t carried;  /* bit v: the variables of `carries` */
    uint64_t together; /* bit r: state regions that are judged on the union of two members */
    uint32_t line, col;
} il_family;

typedef struct il_fleet {
    uint32_t instances;
    uint64_t shared;       /* bit v */
    il_cel_program *renew; /* over pre; NULL: never */
    uint32_t ninvariants;
    il_fleet_invariant *invariants;
    const il_family *family; /* NULL: no family */
    uint32_t line, col;
} il_fleet;

/* Whether an instance in `state` counts for the invariant; an error counts as true. */
bool il_fleet_counts(const il_model *m, const il_fleet_invariant *invariant, uint64_t state);
/* Whether `n` instances that count break it; `values`: of `var`, one for each (not read for COUNT). */
bool il_fleet_breaks(const il_fleet_invariant *invariant, const uint32_t *values, uint32_t n);
/* Whether an instance in `state` may be followed by a new one; an error is no. */
bool il_fleet_renews(const il_model *m, const il_fleet *fleet, uint64_t state);

/* The symbol by which a session takes over what one in state `giver` holds; IL_NO_SYMBOL when that is nothing. */
uint32_t il_family_symbol(const il_model *m, const il_family *family, uint64_t giver);
/* The first carried variable of which `taker` has less than `giver`; UINT32_MAX when it has all of it. */
uint32_t il_family_lost(const il_model *m, const il_family *family, uint64_t giver, uint64_t taker);
/* `one` with the greater of both values for each carried variable. */
uint64_t il_family_union(const il_model *m, const il_family *family, uint64_t one, uint64_t other);
