/* SPDX-License-Identifier: Apache-2.0 */
/* Which ledger a command works on. */
#pragma once
#include "base/error.h"
#include "interlock/ledger.h"

#define IL_LEDGER_PATH_BYTES 4096

/* The path: `flag` when it is not NULL, else $INTERLOCK_LEDGER, else $XDG_STATE_HOME/interlock/ledger.db, else $HOME/.local/state/interlock/ledger.db. */
IL_NODISCARD il_status il_ledger_path(const char *flag, char out[IL_LEDGER_PATH_BYTES], il_error *err);

/* Says on stderr when an agent that runs as this user could do `what` as well, because this user owns the ledger. */
void il_ledger_note_owner(const char *path, const char *what);

/* Opens it; `path` (for messages) is filled in any case. `options` may be NULL. Folders are made only above a path that nobody named. */
IL_NODISCARD il_status il_ledger_use(const char *flag, const il_ledger_options *options, char path[IL_LEDGER_PATH_BYTES],
                                     il_ledger **out, il_error *err);
