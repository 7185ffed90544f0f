/* SPDX-License-Identifier: Apache-2.0 */
/* A slow evaluator that is meant to be obviously right: a walk over the tree, by the text of the language's definition, that
 * shares nothing with the machine but the
 * representation of values and the table of functions. Folded constants are computed anew, nothing is fused, there is no
 * budget. */
#pragma once
#include "cel/value.h"

/* Everything is allocated in `arena`. Errors carry a fault, no place. */
il_cel_value cel_oracle(const il_cel_program *program, const il_cel_value *vars, il_arena *arena);
/* The same value: the same kind and the same contents, NaN included; errors by their fault. */
bool cel_oracle_same(il_cel_value a, il_cel_value b);
