/* SPDX-License-Identifier: Apache-2.0 */
/* The step with its contracts, as Frama-C reads it. */
#include "contracts.h"
#include "machine/machine.c"
