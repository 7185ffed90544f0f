/* SPDX-License-Identifier: Apache-2.0 */
/* What `interlock harden` asks beside the proof of one session: the machine's fleet, and an older version. */
#pragma once
#include "check/harden.h"

/* Runs them after the checks and joins their objects to the report (`fleet`, `against`). `against` is the argument of --against, NULL for none; *about
 * is what an error is about then. Both are other questions than full mediation: they decide the exit code, not that verdict. */
IL_NODISCARD il_status il_harden_joined(il_harden *h, const char *against, const char **about, il_error *err);
/* Of a machine that says what a monitor sees: what `interlock diagnose` answers, joined as `diagnosis`. Neither verdict nor exit code hang on it. */
IL_NODISCARD il_status il_harden_diagnosis(il_harden *h, il_error *err);
/* The joined objects for people. `against`: the same argument. */
IL_NODISCARD il_status il_harden_joined_text(const il_harden *h, const char *against, il_str *out, il_error *err);
