/* SPDX-License-Identifier: Apache-2.0 */
/* Sticky variables: no accepted step lowers one (the order is that of its domain): no step of the table, and no corrective step, its naps included,
 * from any state of the full product. That is asked of all values of what such a step reads and writes, which may be more than 2^24: then of all
 * states; and where these are more than 2^24, or than the caller's bound, it is left open.
 * FAIL `STICKY_LOWERED` with the shortest way from the initial state, or, for a corrective step from where no session comes, that step alone.
 * INCONCLUSIVE when a bound was reached, or when some sticky variable is never raised (`NEVER_RAISED`): nothing was watched. */
#pragma once
#include "check/trace.h"
#include "json/node.h"

struct il_harden;

typedef struct il_sticky {
    bool ran;
    bool product;         /* corrective steps were asked of every state of the full product */
    uint64_t vars;        /* bit v: sticky variables */
    uint64_t raised;      /* of them: some accepted step of a reachable state raises it */
    uint32_t var, symbol; /* the first that is lowered, by this symbol; UINT32_MAX for none */
    bool anywhere;        /* by a corrective step from a state that is not reachable */
    uint64_t from, to;    /* where the witness begins; of a corrective step that is not reachable, where it ends */
    il_trace witness;
} il_sticky;

/* Adds the line `sticky` to the report when the machine has sticky variables, and fills *out. */
IL_NODISCARD il_status il_sticky_run(struct il_harden *h, il_sticky *out, il_error *err);
/* NULL when memory ran out; JSON null when the machine has no sticky variable. */
il_json *il_sticky_object(const il_model *m, const il_sticky *s, il_arena *arena);
