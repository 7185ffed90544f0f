/* SPDX-License-Identifier: Apache-2.0 */
/* Names of tools that a person or a model could take for one another. */
#pragma once
#include "interlock/policy.h"

#define IL_LOOKALIKE_NAME_MAX ((size_t)128)
#define IL_LOOKALIKE_BYTES (2 * IL_LOOKALIKE_NAME_MAX)

/* The skeleton of a name of at most IL_LOOKALIKE_NAME_MAX bytes of A-Z a-z 0-9 _ . -: two names with one skeleton look alike. Returns its
 * length, at most twice the name's; 0 for a name that is too long. */
size_t il_lookalike_skeleton(il_str name, char out[IL_LOOKALIKE_BYTES]);

typedef enum il_naming {
    IL_NAMING_NONE = 0, /* by patterns with a star at most */
    IL_NAMING_EXACT,    /* written out in an entry, alone or as an alternative of a group */
    IL_NAMING_LOOKALIKE /* not written out, and looks like one that is */
} il_naming;
/* How the policy names this tool of this server; `other` (may be NULL) gets the name that it looks like, borrowed from the policy. */
il_naming il_policy_naming(const il_policy *p, il_str server, il_str tool, il_str *other);
