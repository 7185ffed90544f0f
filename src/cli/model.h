/* SPDX-License-Identifier: Apache-2.0 */
/* What MACHINE-OR-POLICY means on a command line: a machine's file, a shipped machine's name, or a policy and then the machine that it names. */
#pragma once
#include "machine/model.h"

/* `*path` becomes the machine's own file, once it is known, for messages. Loads into `arena`; positioned errors. */
IL_NODISCARD il_status il_cli_model(il_arena *arena, const char **path, il_model **out, il_error *err);
