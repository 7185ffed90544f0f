/* SPDX-License-Identifier: Apache-2.0 */
/* The `widens` list of a machine: what this version accepts and the one before it denied, on purpose. `interlock harden --against` refuses any
 * other.
 *
 *     widens:
 *       - {action: admit, as: lethal-trifecta, why: "published data is sensitive no more (decision of 2026-05-04)"}
 */
#pragma once
#include "machine/model.h"

#define IL_WIDENS_MAX 64

typedef struct il_widens {
    uint32_t action; /* of this machine */
    il_str as; /* the rule by which the older version denied it; `no-symbol`: it did not know it; `principal`: another took it */
    il_str why;
    uint32_t line, col;
} il_widens;
