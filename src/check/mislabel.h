/* SPDX-License-Identifier: Apache-2.0 */
/* Mislabel mutants: labels whose single error reaches a region. The proof is about symbols and trusts that each call gets the one that it deserves;
 * this says for which labels that trust is all there is.
 *
 * For one tool and one error the machine is explored with the symbols of all tools (check/usage.h), where the tool's calls are charged the wrong symbol,
 * while ghosts (what laundering watches) are set, and steps are judged, by the right one. A `never` region that is reached in truth makes the label a
 * single point of failure. Steps that lower a taint by declaration are left out, as in laundering: what is conceded there is not the label's.
 * A region that is reached in truth with every label right is not asked (`laundering` fails of it). Tools with equal errors are asked once.
 *
 * Of a machine without a policy each symbol that the agent's `admit` could deserve is taken for a tool of its own, of which every word may be forgotten:
 * il_mislabel_symbols(). It is advice, never a failure. */
#pragma once
#include "check/harden.h"
#include "check/labels.h"

typedef struct il_mislabel_point { /* a single point of failure */
    uint32_t tool, error, region;
    il_trace witness; /* its steps have the symbols that were charged */
} il_mislabel_point;

typedef struct il_mislabel {
    const il_labels *labels;
    uint32_t errors;  /* of all tools: the denominator */
    uint32_t mutants; /* distinct pairs of symbols among them: explorations */
    uint32_t unseen;  /* errors that this machine cannot tell from the truth: both symbols are one */
    uint32_t bounded; /* errors of which a bound left the answer open */
    uint32_t tools;   /* tools with at least one point */
    uint32_t npoints; /* one for each tool, error and region */
    il_mislabel_point *points;
    uint64_t skipped; /* bit r: a region that is reached with every label right */
} il_mislabel;

/* Lives in the report's arena; `labels` must as well. */
IL_NODISCARD il_status il_mislabel_run(il_harden *h, const il_labels *labels, il_mislabel *out, il_error *err);
/* The labels of a bare machine. */
IL_NODISCARD il_status il_mislabel_symbols(const il_harden *h, il_labels *out, il_error *err);
/* NULL when memory ran out. */
il_json *il_mislabel_object(const il_model *m, const il_mislabel *x, il_arena *arena);
