/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/version.h"

static const il_str version_dates[] = {{"", 0}, {"2024-11-05", 10}, {"2025-06-18", 10}, {"2025-11-25", 10}};

il_revision il_revision_of(il_str date) {
    for (size_t i = IL_REVISION_2024_11_05; i <= IL_REVISION_2025_11_25; i++) {
        if (il_str_eq(date, version_dates[i])) {
            return (il_revision)i;
        }
    }
    return IL_REVISION_NONE;
}

il_str il_revision_date(il_revision r) { return version_dates[r]; }

il_revision il_revision_offer(il_str date) {
    const il_revision same = il_revision_of(date);
    return same != IL_REVISION_NONE ? same : IL_REVISION_2025_11_25;
}
