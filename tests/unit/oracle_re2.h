/* SPDX-License-Identifier: Apache-2.0 */
/* RE2 itself, behind a face that C can call (oracle_re2.cc); only tests know it, and only where it is installed. */
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct oracle_re2 oracle_re2;

/* NULL when RE2 refuses the pattern; `why` (may be NULL) then gets its message. */
oracle_re2 *oracle_re2_new(const char *pattern, size_t n, char why[200]);
/* 1: matches somewhere in the text, 0: does not. */
int oracle_re2_search(const oracle_re2 *re, const char *text, size_t n);
void oracle_re2_free(oracle_re2 *re);

#ifdef __cplusplus
}
#endif
