/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting in place, the same on every build: the core has no qsort. */
#pragma once
#include "interlock/base.h"

/* Whether item `a` stands before item `b`: a strict order. */
typedef bool il_sort_before(const void *a, const void *b);

/* Sorts `n` items of `width` bytes each. A heap sort: it takes no memory and does not recurse, and no order of what it is given makes it
 * slow (at most 2 n log2 n comparisons). Items of which neither stands before the other come in any order, but in the same one each time. */
void il_sort(void *items, size_t n, size_t width, il_sort_before *before);
