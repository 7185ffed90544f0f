/* SPDX-License-Identifier: Apache-2.0 */
#include "interlock/base.h"

/* One place in C; a test compares it with the project version of the build. */
const char *il_version(void) { return "0.1.0"; }
