/* SPDX-License-Identifier: Apache-2.0 */
/* An opened table. Not for other modules. */
#pragma once
#include "base/arena.h"
#include "base/sha256.h"
#include "machine/table.h"

typedef struct il_machine_var {
    il_str name;
    uint32_t nvalues;
    il_str *values;
    uint8_t shift, bits;
} il_machine_var;
typedef struct il_machine_field {
    il_str name;
    uint32_t nvalues, stride;
    il_str *values;
} il_machine_field;
typedef struct il_machine_action {
    il_str name;
    uint32_t first, nsymbols, nfields;
    il_machine_field *fields;
} il_machine_action;
typedef struct il_machine_region {
    il_str name;
    bool gated, edge;
    const uint8_t *bits; /* one bit a state, or one a cell */
} il_machine_region;

/* A slot of the index holds the state beside its row, so that a look-up reads one cache line; `row` is the place plus 1, 0 an empty slot. */
typedef struct il_machine_slot {
    uint64_t state;
    uint32_t row, unused;
} il_machine_slot;

struct il_machine {
    const il_alloc *alloc;
    il_alloc own; /* the copy that `alloc` points to */
    il_arena arena;
    uint8_t digest[IL_DIGEST_BYTES];
    il_str name;
    uint32_t nstates, nsymbols, initial;
    uint32_t nvars, nactions, nrules, nregions;
    const uint8_t *states;           /* u64 LE each, ascending */
    const uint8_t *cells;            /* u32 LE each */
    il_machine_slot *index;          /* open addressing, at most a quarter full: of hardly any state is a second slot read */
    uint32_t index_bits, index_mask; /* 2^bits slots */
    il_machine_var *vars;
    il_machine_action *actions;
    il_machine_region *regions;
    il_rule *rules;
};

#define IL_TABLE_MAGIC "ILTABLE1"
#define IL_TABLE_HEADER 40u /* magic, seven u32, padding to 8 */
#define IL_CELL_POST(c) ((c)&0x3FFFFFu)
#define IL_CELL_VERDICT(c) ((c) >> 22 & 3u)
#define IL_CELL_REASON(c) ((uint8_t)((c) >> 24))
#define IL_CELL_OF(post, verdict, reason) ((uint32_t)(post) | (uint32_t)(verdict) << 22 | (uint32_t)(reason) << 24)

static inline uint32_t il_table_u32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t il_table_u64(const uint8_t *p) { return (uint64_t)il_table_u32(p) | (uint64_t)il_table_u32(p + 4) << 32; }
static inline size_t il_table_pad(size_t n) { return (n + 7) / 8 * 8; }
static inline uint64_t il_table_cells(uint32_t states, uint32_t symbols) { return (uint64_t)states * symbols; }
/* Bytes of a region's bitmap: a bit for each state, or for each cell, padded to 8 bytes. */
static inline size_t il_table_bitmap(bool edge, uint32_t states, uint32_t symbols) {
    size_t bits = edge ? (size_t)states * symbols : states;
    return il_table_pad((bits + 7) / 8);
}
/* Where a state is looked for first among 2^bits slots. The upper bits of the product are the ones that every bit of the state reaches. */
static inline uint32_t il_table_slot(uint64_t state, uint32_t bits) {
    return (uint32_t)((state * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - bits));
}

/* Everything of il_machine_open but the certificate and the claims that need it. */
IL_NODISCARD il_status il_table_read_meta(il_machine *m, il_str meta, il_error *err);
