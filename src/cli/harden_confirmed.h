/* SPDX-License-Identifier: Apache-2.0 */
/* What other tools have confirmed of the very table in hand: the lines that `make proofs` wrote down (build/proofs/confirmations.json), and never more
 * than a quotation; nothing is run, and no verdict hangs on it. */
#pragma once
#include "check/harden.h"

/* Joins `confirmers` to the report: of the file the entries with this table's digest, an empty list without a file. IL_E_INVALID, positioned, for a file that
 * is none of that kind. */
IL_NODISCARD il_status il_harden_confirmed(il_harden *h, const char *path, il_error *err);
