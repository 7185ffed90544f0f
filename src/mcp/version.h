/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol revisions that the gateway speaks, on both faces. */
#pragma once
#include "base/str.h"

typedef enum il_revision {
    IL_REVISION_NONE = 0,
    IL_REVISION_2024_11_05,
    IL_REVISION_2025_06_18,
    IL_REVISION_2025_11_25
} il_revision;

/* IL_REVISION_NONE for a date that is not spoken; 2025-03-26 is none, since it obliges a receiver to take batches. */
il_revision il_revision_of(il_str date);
il_str il_revision_date(il_revision r);
/* What a client that asks for `date` is offered: the same when it is spoken, else 2025-11-25. */
il_revision il_revision_offer(il_str date);
