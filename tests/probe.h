/* SPDX-License-Identifier: Apache-2.0 */
/* What programs share that answer a suite by lines, with bytes in hex. */
#pragma once
#include "base/str.h"

extern const il_alloc probe_alloc; /* malloc and free */

/* Ends the program: the suite asked for what cannot be, or there is no memory. */
_Noreturn void probe_stop(const char *what);
/* The bytes of the hex digits that `hex` begins with, written over them. */
il_str probe_bytes(char *hex);
