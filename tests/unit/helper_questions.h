/* SPDX-License-Identifier: Apache-2.0 */
/* A small world for what is asked about conditions: variables of small domains, random conditions over them, all assignments. */
#pragma once
#include "helper_cel.h"

/* b, c bool; i int; w string of none fresh held; s string; args JSON with x and y; xs list(string); rs list(record {t string
 * of trusted untrusted; n int; f bool; g list(string)}); m record {k bool; s string} */
enum { WORLD_B, WORLD_C, WORLD_I, WORLD_W, WORLD_S, WORLD_ARGS, WORLD_XS, WORLD_RS, WORLD_M, WORLD_VARS };
extern const il_cel_env world_env;
/* How many values variable `var` has, and the one with this number (made in `arena` or static). */
unsigned world_count(unsigned var);
il_cel_value world_value(il_arena *arena, unsigned var, unsigned number);

typedef struct world_random {
    uint64_t state;
} world_random;
uint32_t world_below(world_random *r, uint32_t n);
/* A condition over the variables whose bits are set, at most `depth` operators deep, NUL-terminated into out. */
void world_condition(world_random *r, unsigned vars, unsigned depth, char *out, size_t cap);
