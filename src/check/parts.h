/* SPDX-License-Identifier: Apache-2.0 */
/* The checks, one a file, in the order in which they run. Not for other modules. */
#pragma once
#include "check/harden.h"

/* Adds a line to the report. NULL when memory ran out. */
il_check *il_check_add(il_harden *h, const char *id, uint32_t region, bool required);
/* Fills verdict, size and witness from an exploration: a hit of `bit` fails, a bound is inconclusive, else it passes. */
IL_NODISCARD il_status il_check_judge(il_harden *h, il_check *c, const il_view *v, const il_space *s, uint32_t bit,
                                      const char *finding, il_error *err);
/* The trace to a hit, in the report's arena. */
IL_NODISCARD il_status il_trace_of(il_harden *h, const il_view *v, const il_space *s, const il_space_hit *hit, il_trace *out,
                                   il_error *err);
/* Explores with `regions` as given and stops at the first of `stop`; takes the trace of that bit. *found says whether; bounds are noted in h. */
IL_NODISCARD il_status il_view_reaches(il_harden *h, il_view *v, uint32_t bit, bool *found, bool *bounded, il_trace *out,
                                       il_error *err);

IL_NODISCARD il_status il_check_translation(il_harden *h, il_error *err);
IL_NODISCARD il_status il_check_from_init(il_harden *h, il_error *err);
IL_NODISCARD il_status il_check_havoc(il_harden *h, il_error *err);
IL_NODISCARD il_status il_name_havoc(il_harden *h, il_error *err); /* the smallest sets: advice */
IL_NODISCARD il_status il_check_mediation(il_harden *h, il_error *err);
IL_NODISCARD il_status il_check_guards(il_harden *h, il_error *err);
IL_NODISCARD il_status il_check_gates(il_harden *h, il_error *err);
IL_NODISCARD il_status il_check_laundering(il_harden *h, il_error *err);
IL_NODISCARD il_status il_check_observers(il_harden *h, il_error *err);
IL_NODISCARD il_status il_check_recovery(il_harden *h, il_error *err);
IL_NODISCARD il_status il_check_sticky(il_harden *h, il_error *err);
IL_NODISCARD il_status il_check_coverage(il_harden *h, il_error *err);
IL_NODISCARD il_status il_check_controls(il_harden *h, il_error *err);

/* Negative controls that need the inside of their check: a planted mistake of recovery, a planted lowering. *out stays as it is where a bound was reached. */
typedef enum il_recovery_mistake {
    IL_RECOVERY_DEAD_END,   /* no corrective step enters the goal */
    IL_RECOVERY_LEADS_BACK, /* a corrective step leads into a region anew */
    IL_RECOVERY_FORGETS,    /* corrective steps lower the taints and what is sticky */
    IL_RECOVERY_UNDONE      /* others lead back into a region before the goal */
} il_recovery_mistake;
IL_NODISCARD il_status il_recovery_control(const il_harden *h, il_recovery_mistake mistake, il_control_state *out, il_error *err);
IL_NODISCARD il_status il_sticky_control(il_harden *h, il_control_state *out, il_error *err);

/* il_check_judge() of `bit` over the unmediated writes and the adversary that the machine declares, in a view that names neither. Who writes only
 * typed may still be stopped where one who writes at will is not: that is `PASS_TYPED`, and no PASS. */
IL_NODISCARD il_status il_check_havoced(il_harden *h, il_check *c, const il_view *v, uint32_t bit, const char *finding,
                                        il_error *err);
/* What actions that are neither gate nor corrective do to variables on the accepted steps that were explored: the adversary of the checks. */
void il_unmediated_writes(const il_harden *h, uint64_t *raise, uint64_t *lower);
