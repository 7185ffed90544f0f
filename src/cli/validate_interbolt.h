/* SPDX-License-Identifier: Apache-2.0 */
/* What `validate` says of a document that was written for Interbolt, beside what it says of every policy. */
#pragma once
#include "interlock/policy.h"
#include "policy/lint.h"

/* *fingerprint: Interbolt's own, `sha256:` and 64 digits, in the arena; empty for another document. The file is read once more. */
IL_NODISCARD il_status il_validate_interbolt(const il_policy *policy, const char *path, il_arena *arena, const il_lint_out *warn,
                                             const il_lint_out *found, il_str *fingerprint, il_error *err);
