/* SPDX-License-Identifier: Apache-2.0 */
/* A machine written for another tool, from its guards and never from its table: what the other tool finds confirms the table, and the
 * checker that made it. Same machine, same bytes. docs/proofs.md says what is done with each. */
#pragma once
#include "machine/model.h"

typedef enum il_export_form {
    IL_EXPORT_PROMELA, /* for SPIN: a d_step for each symbol, regions as assertions */
    IL_EXPORT_SMT2,    /* for Z3: the transition relation, and the question of each region for each action */
    IL_EXPORT_C        /* a step function without tables */
} il_export_form;

/* `steps`, SMT2 only: 0 asks whether each never region is kept by every step from any state outside it; else the runs of up to so many
 * steps from the initial state, at most IL_EXPORT_STEPS_MAX. IL_E_LIMIT at the guard that cannot be written, with what to do about it. */
#define IL_EXPORT_STEPS_MAX 64u
IL_NODISCARD il_status il_export_write(il_arena *arena, const il_model *m, il_export_form form, uint32_t steps, il_str *out,
                                       il_error *err);
