/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of normal.c, which scripts/unicode-normal makes. */
#pragma once
#include "interlock/base.h"

enum { IL_NORMAL_BLOCK = 64, IL_NORMAL_LAST = 0x2ffff };
/* What stands in a block for a point. From IL_NORMAL_TEXT on: where in the pool its text stands, a length and that many bytes. */
enum { IL_NORMAL_OTHER = 0, IL_NORMAL_WORD, IL_NORMAL_NONE, IL_NORMAL_SPACE, IL_NORMAL_TEXT };

extern const uint8_t il_normal_bytes[];
extern const uint16_t il_normal_index[];
extern const uint16_t il_normal_blocks[];
extern const uint8_t il_normal_pool[];
