/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers il_model_eval() by rows (one state, every symbol or those of one action), because every check walks the same product again. */
#pragma once
#include "machine/model.h"

#define IL_MEMO_BYTES ((size_t)256 << 20)

typedef struct il_memo {
    const il_alloc *alloc;
    const il_model *model;
    il_variant variant;
    uint32_t first, count; /* symbols that are asked for */
    uint64_t *states, **rows;
    uint32_t n, cap, mask;
    uint32_t *slots;
    uint64_t last; /* the explorer asks all symbols of one state before the next: its row is at hand */
    const uint64_t *last_row;
    size_t bytes, max_bytes; /* beyond it rows are no longer kept and steps are evaluated each time */
} il_memo;

/* What a step does; `next` is the state itself unless it is accepted. */
typedef struct il_memo_step {
    il_verdict verdict;
    uint64_t next;
} il_memo_step;

/* Keeps nothing yet. `variant` may be NULL; with one, only the symbols of its skip_action may be asked. A model of 64 bits is never remembered: two packed values serve as marks. */
void il_memo_init(il_memo *memo, const il_alloc *alloc, const il_model *m, const il_variant *variant, size_t max_bytes);
il_memo_step il_memo_eval(il_memo *memo, uint64_t state, uint32_t symbol);
void il_memo_free(il_memo *memo);
