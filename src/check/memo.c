/* SPDX-License-Identifier: Apache-2.0 */
#include "check/memo.h"

#include "base/mem.h"

#define IL_MEMO_REJECT UINT64_MAX
#define IL_MEMO_FAULT (UINT64_MAX - 1)

void il_memo_init(il_memo *memo, const il_alloc *alloc, const il_model *m, const il_variant *variant, size_t max_bytes) {
    *memo = (il_memo){.alloc = alloc, .model = m, .count = m->nsymbols, .max_bytes = m->bits < 64 ? max_bytes : 0};
    if (variant) {
        memo->variant = *variant;
        memo->first = m->actions[variant->skip_action].first_symbol;
        memo->count = m->actions[variant->skip_action].nsymbols;
    }
}

void il_memo_free(il_memo *memo) {
    for (uint32_t i = 0; i < memo->n; i++) {
        memo->alloc->free(memo->alloc->ctx, memo->rows[i]);
    }
    if (memo->alloc) {
        memo->alloc->free(memo->alloc->ctx, memo->states);
        memo->alloc->free(memo->alloc->ctx, memo->rows);
        memo->alloc->free(memo->alloc->ctx, memo->slots);
    }
    *memo = (il_memo){0};
}

static uint32_t memo_slot(const il_memo *memo, uint64_t state) {
    uint32_t at = (uint32_t)((state * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & memo->mask;
    while (memo->slots[at] && memo->states[memo->slots[at] - 1] != state) {
        at = (at + 1) & memo->mask;
    }
    return at;
}

static bool memo_grow(il_memo *memo) {
    uint32_t cap = memo->cap ? memo->cap * 2 : 512;
    uint64_t *states = memo->alloc->alloc(memo->alloc->ctx, cap * sizeof *states);
    uint64_t **rows = memo->alloc->alloc(memo->alloc->ctx, cap * sizeof *rows);
    uint32_t *slots = memo->alloc->alloc(memo->alloc->ctx, (size_t)cap * 2 * sizeof *slots);
    if (!states || !rows || !slots) {
        memo->alloc->free(memo->alloc->ctx, states);
        memo->alloc->free(memo->alloc->ctx, rows);
        memo->alloc->free(memo->alloc->ctx, slots);
        memo->max_bytes = 0; /* forgo remembering; the answer stays the same */
        return false;
    }
    memset(slots, 0, (size_t)cap * 2 * sizeof *slots);
    if (memo->n > 0) {
        memcpy(states, memo->states, memo->n * sizeof *states);
        memcpy(rows, memo->rows, memo->n * sizeof *rows);
    }
    memo->alloc->free(memo->alloc->ctx, memo->states);
    memo->alloc->free(memo->alloc->ctx, memo->rows);
    memo->alloc->free(memo->alloc->ctx, memo->slots);
    memo->states = states;
    memo->rows = rows;
    memo->slots = slots;
    memo->cap = cap;
    memo->mask = cap * 2 - 1;
    for (uint32_t i = 0; i < memo->n; i++) {
        slots[memo_slot(memo, states[i])] = i + 1;
    }
    return true;
}

static il_memo_step memo_plain(const il_memo *memo, uint64_t state, uint32_t symbol) {
    il_step s = il_model_eval(memo->model, &memo->variant, state, symbol).step;
    return (il_memo_step){(il_verdict)s.verdict, s.next};
}

static const uint64_t *memo_row(il_memo *memo, uint64_t state) {
    size_t size = memo->count * sizeof(uint64_t);
    if (memo->n > 0) {
        uint32_t place = memo->slots[memo_slot(memo, state)];
        if (place) {
            return memo->rows[place - 1];
        }
    }
    if (memo->max_bytes < size || memo->bytes > memo->max_bytes - size || (memo->n == memo->cap && !memo_grow(memo))) {
        return NULL;
    }
    uint64_t *row = memo->alloc->alloc(memo->alloc->ctx, size);
    if (!row) {
        return NULL;
    }
    for (uint32_t s = 0; s < memo->count; s++) {
        il_memo_step step = memo_plain(memo, state, memo->first + s);
        row[s] = step.verdict == IL_ACCEPT ? step.next : step.verdict == IL_FAULT ? IL_MEMO_FAULT : IL_MEMO_REJECT;
    }
    memo->bytes += size;
    memo->states[memo->n] = state;
    memo->rows[memo->n] = row;
    memo->slots[memo_slot(memo, state)] = memo->n + 1;
    memo->n++;
    return row;
}

il_memo_step il_memo_eval(il_memo *memo, uint64_t state, uint32_t symbol) {
    if (!memo->last_row || memo->last != state) {
        memo->last_row = memo_row(memo, state);
        memo->last = state;
    }
    const uint64_t *row = memo->last_row;
    if (!row) {
        return memo_plain(memo, state, symbol);
    }
    symbol -= memo->first;
    if (row[symbol] == IL_MEMO_REJECT) {
        return (il_memo_step){IL_REJECT, state};
    }
    if (row[symbol] == IL_MEMO_FAULT) {
        return (il_memo_step){IL_FAULT, state};
    }
    return (il_memo_step){IL_ACCEPT, row[symbol]};
}
