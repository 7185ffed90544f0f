/* SPDX-License-Identifier: Apache-2.0 */
/* `interlock diagnose --ledger`: the rows of a ledger through the machines that wrote them, and through another one. */
#pragma once
#include "cli/command.h"

/* `ledger` as of --ledger. Sessions are replayed through their own machine: a shipped one, or one of `machines` (files, names or policies), known by
 * the seal of its table. The first of `machines` (n may be 0) is also what every row is compared with. */
il_exit il_cli_audit(const char *ledger, char *const *machines, int n, bool json);
