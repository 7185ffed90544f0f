/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 with what this processor has for it. */
#pragma once
#include "interlock/base.h"

/* The block function that uses the SHA extensions of x86, or NULL where the processor has none: then the portable one is the fastest here.
 * Asks the processor each time; keep the answer. */
il_sha256_blocks il_host_sha256(void);
