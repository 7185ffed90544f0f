/* SPDX-License-Identifier: Apache-2.0 */
/* A machine of the user's own: compiled and proven at start-up by the code that seals the shipped ones. */
#pragma once
#include "base/arena.h"
#include "interlock/machine.h"

/* Reads, compiles and proves the machine file at `path`. Table and certificate live in `arena`, which outlives the machine.
 * IL_E_SEAL when it is not fully mediated; errors of the file carry their position. */
IL_NODISCARD il_status il_prove_file(const il_alloc *alloc, il_arena *arena, const char *path, il_machine **out, il_error *err);
