/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy's `machine` means: a shipped name, or a file beside the policy. */
#pragma once
#include "base/arena.h"

/* A shipped name is a bare word; what has a folder or an ending is a file. */
bool il_machine_file_is(il_str name);
/* `name` relative to the folder of the policy at `policy`, NUL-terminated in `arena`. */
IL_NODISCARD il_status il_machine_file_path(il_arena *arena, const char *policy, il_str name, const char **out, il_error *err);
