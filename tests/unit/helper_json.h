/* SPDX-License-Identifier: Apache-2.0 */
/* Random and shuffled JSON trees, and comparing them. */
#pragma once
#include "json/node.h"

/* A small generator with a printed seed; not for anything but tests. */
typedef struct test_random {
    uint64_t state;
} test_random;
uint32_t test_random_below(test_random *r, uint32_t n);
/* The seed of this run: the environment's IL_TEST_SEED, else the time. Printed, so that a failure can be repeated. */
uint64_t test_random_seed(const char *what);

/* A tree of at most `depth` levels; strings and keys hold every kind of character that JSON can carry. */
il_json *test_json_random(il_arena *a, test_random *r, unsigned depth);
/* A deep copy with the members of every object in another order. */
il_json *test_json_shuffled(il_arena *a, test_random *r, const il_json *v);
/* Same kinds, texts, keys and order. Positions are not compared. */
bool test_json_equal(const il_json *a, const il_json *b);
/* The text in `arena`, NUL-terminated; NULL when writing failed. */
const char *test_json_text(il_arena *a, const il_json *v, il_json_order order);
