/* SPDX-License-Identifier: Apache-2.0 */
/* Whether progress moves on: two JSON numbers compared as what they are, not as what a double makes of them. */
#pragma once
#include "base/str.h"

#define IL_PROGRESS_BYTES 32 /* every double can be written with fewer; more digits are a text */

/* Below, equal or above 0 as a is to b. Both are JSON numbers of at most IL_PROGRESS_BYTES. */
int il_progress_cmp(il_str a, il_str b);
