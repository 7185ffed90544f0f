/* SPDX-License-Identifier: Apache-2.0 */
/* Byte helpers of the core. With a hosted C library they are its own; for freestanding wasm32 this module defines
 * memcpy, memmove, memset and memcmp itself (src/base/mem.c), so the build has no imports. */
#pragma once
#include "interlock/base.h"

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
