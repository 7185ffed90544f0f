/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator over malloc that counts and can be told to fail. */
#pragma once
#include "interlock/base.h"

typedef struct test_memory {
    il_alloc alloc;
    size_t calls;   /* allocations asked for */
    size_t left;    /* good allocations before every further one fails; SIZE_MAX: never */
    bool once;      /* one fails, and the further ones are good again */
    bool failed;    /* one did */
    size_t live;    /* allocations not yet freed */
    size_t largest; /* request, in bytes */
} test_memory;

/* Points alloc.ctx at *m: do not copy it. */
void test_memory_init(test_memory *m, size_t left);
