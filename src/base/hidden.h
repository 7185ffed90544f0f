/* SPDX-License-Identifier: Apache-2.0 */
/* Characters that a reader does not see, or that reorder what he sees. */
#pragma once
#include "interlock/base.h"

/* Format characters (Cf), fillers, variation selectors, line and paragraph separators, tags: Unicode 15. Controls are not among them. */
bool il_point_hidden(uint32_t c);
/* C0, DEL and C1. */
static inline bool il_point_control(uint32_t c) { return c < 0x20 || (c >= 0x7f && c <= 0x9f); }
