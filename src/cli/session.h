/* SPDX-License-Identifier: Apache-2.0 */
/* What the words behind `session` do; each has its file. */
#pragma once
#include "cli/view.h"

IL_NODISCARD il_status il_session_show(il_view *v, bool json, il_error *err);
IL_NODISCARD il_status il_session_why(il_view *v, bool json, il_error *err);

/* Settles what a dead process left open (*recovered calls), then ends the session. IL_E_STATE while calls of a living one are open, unless `abandon`. */
IL_NODISCARD il_status il_session_end(il_ledger *ledger, const il_view *v, bool abandon, uint32_t *recovered, il_error *err);

/* Notes in the session what a human typed: `typed`, or standard input when it is NULL. IL_E_STATE in a child session and in one that has ended. What was noted there before
 * adds nothing. */
IL_NODISCARD il_status il_session_say(il_ledger *ledger, il_view *v, const char *typed, il_error *err);

typedef struct il_prune_options {
    const char *ledger_flag, *policy, *older_than;
    bool idle, dry_run, json;
} il_prune_options;
/* Prints what it did. A session that cannot be pruned is skipped and named. */
IL_NODISCARD il_status il_session_prune(const il_prune_options *options, il_error *err);
