/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a policy lists: `ours` (inside the trust domain) and `destinations` (trusted for some classes of data). */
#pragma once
#include "policy/kinds.h"
#include "json/node.h"

typedef struct il_listed {
    il_kind_pattern pattern;
    uint32_t accepts; /* taint bits; all of them for `ours`, untrusted alone for what is public */
    bool is_public;
    bool ours; /* of `ours`, public or not */
    uint32_t line, col;
} il_listed;
typedef struct il_names {
    il_kinds *kinds; /* of the policy; borrowed */
    uint32_t n, cap;
    il_listed *list;
} il_names;

/* Read the two sections (either may be NULL). Positioned errors; the same name twice with unequal meaning is one. */
IL_NODISCARD il_status il_names_load(il_names *names, il_kinds *kinds, const il_json *ours, const il_json *destinations,
                                     il_arena *arena, il_error *err);

/* Whether `ours` lists the canonical value; a url also when it lists its host, a path also when it lists a folder above it. */
bool il_names_ours(const il_names *names, il_kind kind, il_str canonical);
/* Whether `ours` lists the value as public (`repo.public`). */
bool il_names_public(const il_names *names, il_kind kind, il_str canonical);
/* Whether the canonical value is listed for every class in `needed` (docs/policy.md: vouching). A url is listed if it or its host is. What is
 * listed as public accepts untrusted only, whatever else lists it. */
bool il_names_vouch(const il_names *names, il_kind kind, il_str canonical, uint32_t needed);
/* Whether it may be something that the policy lists as public: who reads there is not the addressee alone. */
bool il_names_maybe_public(const il_names *names, il_kind kind, il_str canonical);
