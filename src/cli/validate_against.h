/* SPDX-License-Identifier: Apache-2.0 */
/* `validate POLICY --against OTHER`. */
#pragma once
#include "cli/command.h"

/* 0 the same, 1 a difference, 2 none was found and something could not be decided; 3 and 5 as everywhere. */
il_exit il_validate_against(const char *policy, const char *other, bool json);
