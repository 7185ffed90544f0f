/* SPDX-License-Identifier: Apache-2.0 */
/* Several sessions together: the exact product of a machine's `fleet` section. One step of the product is one symbol of one instance with its
 * whole cascade, or the beginning, answer or renewal of an instance. Alike instances are explored up to their order, which is sound because no
 * invariant tells them apart. There is no sampling: what a bound cuts off is inconclusive. */
#pragma once
#include "check/harden.h"
#include "machine/fleet.h"

typedef enum il_fleet_move { IL_FLEET_STEP, IL_FLEET_RENEW, IL_FLEET_SPAWN, IL_FLEET_ANSWER } il_fleet_move;

typedef struct il_fleet_step { /* of a witness */
    il_fleet_move move;
    uint32_t instance; /* number of the one that moves, from 1; of a spawn or an answer the child's */
    uint32_t
        symbol; /* what was taken; of a spawn the child's join, of an answer the parent's. IL_NO_SYMBOL: nothing had to be taken */
    uint64_t post; /* of who took it */
} il_fleet_step;

typedef struct il_fleet_line { /* of the report */
    const char *id; /* `fleet`, of an invariant; `family-start`, `family-answer`; `family-together`, of a region; `fleet-fault` */
    il_str name;    /* of the invariant or region; else empty */
    il_check_verdict verdict;
    const char *finding; /* `FLEET_EXCEEDED`, `EFFECT_LOST`, `REACHED`, `FAULT`, or NULL; static text */
    il_str detail;
    uint32_t most, peak; /* of an invariant: the limit, and how many instances counted at once at most */
    uint32_t nsteps, ninstances;
    il_fleet_step *steps;                    /* NULL without a witness */
    uint64_t states[IL_FLEET_INSTANCES_MAX]; /* in which the witness leaves the instances, by their numbers */
} il_fleet_line;

typedef struct il_fleet_check {
    const il_model *m;
    uint32_t states, depth; /* of the product, up to the order of alike instances */
    uint64_t edges;         /* likewise; steps that change nothing are left out */
    uint32_t local;         /* states that one instance is in anywhere */
    const char *
        bound; /* `limit` (a bound of the caller's), `width` (states of one instance need too many bits); NULL: none was reached */
    uint32_t nlines;
    il_fleet_line *lines;
    il_control controls
        [2];  /* what must be found in every run: that all instances are there; what a join that changes nothing would lose */
    int exit; /* 0, 1, 2 or 4, as in il_harden */
} il_fleet_check;

/* Checks `m->fleet` (IL_E_ARGUMENT without one). Results live in `arena`. IL_E_MEMORY or IL_E_LIMIT for want of memory; a finding is no failure. */
IL_NODISCARD il_status il_fleet_run(il_fleet_check *out, const il_alloc *alloc, il_arena *arena, const il_model *m,
                                    const il_space_bounds *bounds, il_error *err);
/* The result for the report, under the key `fleet`. */
IL_NODISCARD il_status il_fleet_object(const il_fleet_check *check, il_arena *arena, il_json **out, il_error *err);
/* The object for people. */
void il_fleet_text(const il_json *object, il_buf *out);
