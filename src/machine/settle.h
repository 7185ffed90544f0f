/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine's naps make of a state, remembered: il_model_settle() is the meaning, this only asks it less often. One thread for each. */
#pragma once
#include "base/arena.h"
#include "machine/model.h"

typedef struct il_settle il_settle;

/* Whether the variant changes what naps do. */
bool il_settle_touched(const il_settle *s, const il_variant *variant);
/* In the arena; NULL when memory is short. The model outlives it. */
il_settle *il_settle_new(il_arena *arena, const il_model *m);
/* The state after the cascade from `state` (inside its domains); false for a fault. */
bool il_settle_state(il_settle *s, const il_variant *variant, uint64_t state, uint64_t *out);
