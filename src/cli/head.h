/* SPDX-License-Identifier: Apache-2.0 */
/* `--head ROW:HASH`: what an earlier `ledger verify` printed and somebody kept elsewhere. A trail that was cut off at the end, or written anew, has no
 * such row. */
#pragma once
#include "base/sha256.h"
#include "interlock/ledger.h"

typedef struct il_head {
    const char *flag; /* as given; NULL: none */
    uint64_t seq;
    char hash[IL_DIGEST_HEX];
} il_head;

/* IL_E_INVALID for a flag that is none of that form. */
IL_NODISCARD il_status il_head_read(il_head *h, il_error *err);
/* Whether this is the row. The head of a chain that an upgrade replaced stands in the upgrade's row. */
bool il_head_is(const il_head *h, const il_ledger_row *row);
