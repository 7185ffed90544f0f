/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a table. The verifier shares nothing with the builder but the layout: whatever made the bytes, these things hold afterwards. */
#include "machine/machine_impl.h"

#define IL_MACHINE_INDEX_SPARE 4u                /* slots for a state, at least */
#define IL_MACHINE_ARENA_MAX ((size_t)192 << 20) /* the index of 2^20 states is 64 MiB */

static il_status open_bad(il_error *err, const char *what) {
    return il_error_set(err, IL_E_SEAL, "the table does not verify: %s; build it again", what);
}

static bool open_valid_state(const il_machine *m, uint64_t state) {
    uint64_t seen = 0;
    /*@ loop invariant i <= m->nvars;
        loop assigns i, seen;
        loop variant m->nvars - i; */
    for (uint32_t i = 0; i < m->nvars; i++) {
        const il_machine_var *v = &m->vars[i];
        uint64_t mask = (UINT64_C(1) << v->bits) - 1;
        if (((state >> v->shift) & mask) >= v->nvalues) {
            return false;
        }
        seen |= mask << v->shift;
    }
    return (state & ~seen) == 0;
}

/* How many bits number the slots of the index. */
static uint32_t open_bits(uint32_t states) {
    uint32_t bits = 2;
    /*@ loop invariant 2 <= bits <= 22;
        loop assigns bits;
        loop variant 22 - bits; */
    while (UINT32_C(1) << bits < states * IL_MACHINE_INDEX_SPARE) {
        bits++;
    }
    return bits;
}

/* Puts a state into the first free slot from its own on. Ends: most slots are empty. */
static void open_place(const il_machine *m, uint64_t state, uint32_t row) {
    uint32_t at = il_table_slot(state, m->index_bits);
    /*@ loop invariant at <= m->index_mask;
        loop assigns at; */
    while (m->index[at].row != 0) {
        at = (at + 1) & m->index_mask;
    }
    m->index[at].state = state;
    m->index[at].row = row;
    /*@ assert frame: m->index_mask == \at(m->index_mask, Pre) && m->nstates == \at(m->nstates, Pre); */
    /*@ assert others: \forall integer k; 0 <= k <= m->index_mask && k != at ==>
          m->index[k].row == \at(m->index[k].row, Pre) && m->index[k].state == \at(m->index[k].state, Pre); */
    /*@ assert here: m->index[at].row == row && m->index[at].state == state; */
    /*@ assert rows: \forall integer k; 0 <= k <= m->index_mask ==> m->index[k].row <= m->nstates; */
    /*@ assert was: \forall integer k; 0 <= k <= m->index_mask && k != at && m->index[k].row != 0 ==>
          state_at(m, m->index[k].row - 1) == m->index[k].state; */
    /*@ assert is: state_at(m, m->index[at].row - 1) == m->index[at].state; */
}

/* Each state of the table into the empty index. */
static void open_fill(const il_machine *m) {
    /*@ loop invariant i <= m->nstates;
        loop invariant frame: m->nstates == \at(m->nstates, Pre) && m->nsymbols == \at(m->nsymbols, Pre) &&
          m->initial == \at(m->initial, Pre) &&
          m->nregions == \at(m->nregions, Pre) && m->nvars == \at(m->nvars, Pre) && m->nrules == \at(m->nrules, Pre) &&
          m->index_bits == \at(m->index_bits, Pre) &&
          m->index_mask == \at(m->index_mask, Pre);
        loop invariant slots: fine_slots(m);
        loop assigns i, heap_slots[0 .. 0xFFFFFF];
        loop variant m->nstates - i; */
    for (uint32_t i = 0; i < m->nstates; i++) {
        open_place(m, il_table_u64(m->states + (size_t)i * 8), i + 1);
    }
}

static il_status open_index(il_machine *m, il_error *err) {
    uint32_t bits = open_bits(m->nstates);
    uint32_t mask = (UINT32_C(1) << bits) - 1;
    /*@ assert size: 3 <= mask < 0x400000 && mask == (1 << bits) - 1; */
    m->index = IL_NEW_ARRAY(&m->arena, il_machine_slot, (size_t)mask + 1);
    if (!m->index) {
        return il_arena_fail(&m->arena, err);
    }
    /*@ assert frame: m->nstates == \at(m->nstates, Pre) && m->nsymbols == \at(m->nsymbols, Pre) &&
          m->initial == \at(m->initial, Pre) &&
          m->nregions == \at(m->nregions, Pre) && m->nvars == \at(m->nvars, Pre) && m->nrules == \at(m->nrules, Pre); */
    m->index_bits = bits;
    m->index_mask = mask;
    /*@ assert frame: m->nstates == \at(m->nstates, Pre) && m->nsymbols == \at(m->nsymbols, Pre) &&
          m->initial == \at(m->initial, Pre) &&
          m->nregions == \at(m->nregions, Pre) && m->nvars == \at(m->nvars, Pre) && m->nrules == \at(m->nrules, Pre) &&
          m->index_bits == bits && m->index_mask == mask; */
    /*@ assert empty: \forall integer k; 0 <= k <= mask ==> m->index[k].row == 0; */
    open_fill(m);
    /*@ assert frame: m->nstates == \at(m->nstates, Pre) && m->nsymbols == \at(m->nsymbols, Pre) &&
          m->initial == \at(m->initial, Pre) &&
          m->nregions == \at(m->nregions, Pre) && m->nvars == \at(m->nvars, Pre) && m->nrules == \at(m->nrules, Pre); */
    /*@ assert was: \forall integer k; 0 <= k < m->nvars ==> m->vars[k].nvalues == \at(m->vars[k].nvalues, Pre) &&
          m->vars[k].bits == \at(m->vars[k].bits, Pre) && m->vars[k].shift == \at(m->vars[k].shift, Pre); */
    /*@ assert pointers: m->states == \at(m->states, Pre) && m->cells == \at(m->cells, Pre) && m->vars == \at(m->vars, Pre); */
    /*@ assert regions: m->regions == \at(m->regions, Pre); */
    /*@ assert product: area(m->nstates, m->nsymbols) == \at(area(m->nstates, m->nsymbols), Pre); */ // both are: see frame
    /*@ assert shape: shaped(m); */
    /*@ assert one: \forall integer k; 0 <= k < m->nvars ==> 1 <= m->vars[k].nvalues <= 4096 &&
          m->vars[k].nvalues <= (1 << m->vars[k].bits); */
    /*@ assert two: \forall integer k; 0 <= k < m->nvars ==> m->vars[k].bits <= 12 && m->vars[k].shift < 64 &&
          m->vars[k].shift + m->vars[k].bits <= 64; */
    /*@ assert maps: \forall integer r; 0 <= r < m->nregions ==> bitmap(m->regions[r].edge, m->nstates, m->nsymbols) ==
          \at(bitmap(m->regions[r].edge, m->nstates, m->nsymbols), Pre) && m->regions[r].bits == \at(m->regions[r].bits, Pre); */
    /*@ assert bitmaps: has_regions(m); */
    return IL_OK;
}

static il_status open_states(const il_machine *m, il_error *err) {
    /*@ loop invariant i <= m->nstates;
        loop invariant \forall integer k; 0 < k < i ==> state_at(m, k - 1) < state_at(m, k);
        loop assigns i;
        loop variant m->nstates - i; */
    for (uint32_t i = 0; i < m->nstates; i++) {
        uint64_t state = il_table_u64(m->states + (size_t)i * 8);
        if (!open_valid_state(m, state) || (i > 0 && il_table_u64(m->states + (size_t)(i - 1) * 8) >= state)) {
            return open_bad(err, "a state is outside its domains or out of order");
        }
    }
    return IL_OK;
}

/* An accepted step stays in the table, every other stays where it is and has a reason. */
static bool open_cell(const il_machine *m, uint32_t row, uint32_t symbol) {
    /*@ assert last: 0 <= row * m->nsymbols && (row + 1) * m->nsymbols <= area(m->nstates, m->nsymbols); */
    size_t place = (size_t)row * m->nsymbols + symbol;
    /*@ assert place: place == row * m->nsymbols + symbol; */
    uint32_t cell = il_table_u32(m->cells + place * 4);
    /*@ assert cell == cell_at(m, row, symbol); */
    uint32_t post = IL_CELL_POST(cell);
    uint8_t reason = IL_CELL_REASON(cell);
    if (IL_CELL_VERDICT(cell) == IL_ACCEPT) {
        return reason == 0 && post < m->nstates;
    }
    return IL_CELL_VERDICT(cell) == IL_REJECT && reason > 0 && reason <= m->nrules && post == row;
}

static bool open_row(const il_machine *m, uint32_t row) {
    /*@ loop invariant s <= m->nsymbols;
        loop invariant \forall integer k; 0 <= k < s ==> fine_cell(m, row, k);
        loop assigns s;
        loop variant m->nsymbols - s; */
    for (uint32_t s = 0; s < m->nsymbols; s++) {
        if (!open_cell(m, row, s)) {
            return false;
        }
    }
    return true;
}

static il_status open_cells(const il_machine *m, il_error *err) {
    /*@ loop invariant i <= m->nstates;
        loop invariant \forall integer r; 0 <= r < i ==> fine_row(m, r);
        loop assigns i;
        loop variant m->nstates - i; */
    for (uint32_t i = 0; i < m->nstates; i++) {
        if (!open_row(m, i)) {
            return open_bad(err, "a cell");
        }
    }
    return IL_OK;
}

/* Numbers in their bounds, and how long the description is. */
static il_status open_header(il_machine *m, const uint8_t *p, uint32_t *meta, il_error *err) {
    uint32_t format = il_table_u32(p + 8);
    m->nstates = il_table_u32(p + 12);
    m->nsymbols = il_table_u32(p + 16);
    m->initial = il_table_u32(p + 20);
    m->nregions = il_table_u32(p + 24);
    *meta = il_table_u32(p + 28);
    if (format != 1) {
        return il_error_set(err, IL_E_VERSION, "table format %u is not known; this build reads 1", (unsigned)format);
    }
    if (il_table_u64(p + 32) != 0 || m->nstates == 0 || m->nstates > IL_TABLE_STATES_MAX || m->nsymbols == 0 ||
        m->nsymbols > IL_MODEL_SYMBOLS_MAX || m->initial >= m->nstates || m->nregions > IL_MODEL_REGIONS_MAX) {
        return open_bad(err, "its header");
    }
    return IL_OK;
}

/* `t` is what follows the header. */
static il_status open_description(il_machine *m, il_str t, size_t meta, il_error *err) {
    size_t end = il_table_pad(meta);
    if (end > t.n) {
        return open_bad(err, "its length");
    }
    /*@ loop invariant meta <= i <= end;
        loop assigns i;
        loop variant end - i; */
    for (size_t i = meta; i < end; i++) {
        if (t.p[i] != '\0') {
            return open_bad(err, "its padding");
        }
    }
    return il_table_read_meta(m, (il_str){t.p, meta}, err);
}

/* States, bitmaps, cells: the n bytes at p and no more. */
static il_status open_arrays(il_machine *m, const uint8_t *p, uint64_t n, il_error *err) {
    uint64_t at = (uint64_t)m->nstates * 8;
    if (at > n) {
        return open_bad(err, "its length");
    }
    m->states = p;
    /*@ loop invariant r <= m->nregions && at <= n;
        loop invariant m->regions == &heap_regions[0] && m->vars == &heap_vars[0] && m->states == p;
        loop invariant fine_regions(m, r);
        loop assigns r, at, heap_regions[0 .. 0xFFFFFF];
        loop variant m->nregions - r; */
    for (uint32_t r = 0; r < m->nregions; r++) {
        uint64_t bytes = il_table_bitmap(m->regions[r].edge, m->nstates, m->nsymbols);
        if (bytes > n - at) {
            return open_bad(err, "its length");
        }
        m->regions[r].bits = p + at;
        at += bytes;
    }
    m->cells = p + at;
    return il_table_cells(m->nstates, m->nsymbols) * 4 == n - at ? IL_OK : open_bad(err, "its length");
}

static const uint8_t *open_bytes(il_str t) { return (const uint8_t *)t.p; }

static il_status open_read(il_machine *m, il_str t, il_error *err) {
    if (t.n < IL_TABLE_HEADER + IL_DIGEST_BYTES || !il_str_eq((il_str){t.p, 8}, IL_STR(IL_TABLE_MAGIC))) {
        return open_bad(err, "not a table");
    }
    const uint8_t *p = open_bytes(t);
    size_t body = t.n - IL_DIGEST_BYTES;
    il_sha256_of((il_str){t.p, body}, m->digest);
    if (!il_digest_eq(m->digest, p + body)) {
        return open_bad(err, "its seal does not fit its bytes");
    }
    uint32_t meta = 0;
    IL_TRY(open_header(m, p, &meta, err));
    IL_TRY(open_description(m, (il_str){t.p + IL_TABLE_HEADER, body - IL_TABLE_HEADER}, meta, err));
    size_t at = IL_TABLE_HEADER + il_table_pad(meta);
    IL_TRY(open_arrays(m, p + at, body - at, err));
    IL_TRY(open_index(m, err));
    IL_TRY(open_states(m, err));
    return open_cells(m, err);
}

static il_machine *open_new(const il_alloc *alloc) {
    il_machine *m = alloc->alloc(alloc->ctx, sizeof *m);
    if (m) {
        memset(m, 0, sizeof *m);
        m->own = *alloc;
        m->alloc = &m->own;
        il_arena_init(&m->arena, m->alloc, IL_MACHINE_ARENA_MAX);
    }
    return m;
}

il_status il_table_open(const il_alloc *alloc, il_str table, il_machine **out, il_error *err) {
    *out = NULL;
    il_machine *m = open_new(alloc);
    if (!m) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the machine");
    }
    il_status s = open_read(m, table, err);
    if (s != IL_OK) {
        il_machine_free(m);
        return s;
    }
    *out = m;
    return IL_OK;
}

/* No forbidden state or step among the table's: the bitmaps of `never` regions are empty. */
static il_status open_regions(const il_machine *m, il_error *err) {
    /*@ loop invariant r <= m->nregions;
        loop assigns r;
        loop variant m->nregions - r; */
    for (uint32_t r = 0; r < m->nregions; r++) {
        size_t n = il_table_bitmap(m->regions[r].edge, m->nstates, m->nsymbols);
        /*@ loop invariant i <= n;
            loop assigns i;
            loop variant n - i; */
        for (size_t i = 0; !m->regions[r].gated && i < n; i++) {
            if (m->regions[r].bits[i] != 0) {
                return open_bad(err, "it enters a forbidden region");
            }
        }
    }
    return IL_OK;
}

static uint64_t open_edges(const il_machine *m) {
    uint64_t edges = 0;
    uint64_t n = il_table_cells(m->nstates, m->nsymbols);
    /*@ assert all: n == area(m->nstates, m->nsymbols); */
    /*@ loop invariant i <= n && edges <= i;
        loop assigns i, edges;
        loop variant n - i; */
    for (size_t i = 0; i < n; i++) {
        edges += IL_CELL_VERDICT(il_table_u32(m->cells + i * 4)) == IL_ACCEPT;
    }
    return edges;
}

il_status il_machine_open(const il_alloc *alloc, il_str table, il_str certificate, il_machine **out, il_error *err) {
    *out = NULL;
    il_claims c = {0};
    IL_TRY(il_certificate_read(certificate, &c, err));
    if (!c.from_init || !c.mediation || !c.havoc || !c.gates || !c.laundering) {
        return il_error_set(err, IL_E_SEAL, "the certificate does not claim full mediation; harden the machine first");
    }
    il_machine *m = NULL;
    il_status s = il_table_open(alloc, table, &m, err);
    if (s != IL_OK || !m) {
        return s;
    }
    s = open_regions(m, err);
    if (s == IL_OK &&
        (!il_digest_eq(c.table, m->digest) || c.states != m->nstates || c.symbols != m->nsymbols || c.edges != open_edges(m))) {
        s = il_error_set(err, IL_E_SEAL, "the certificate is for another table; use the one that was sealed with it");
    }
    if (s != IL_OK) {
        il_machine_free(m);
        return s;
    }
    *out = m;
    return IL_OK;
}

void il_machine_free(il_machine *m) {
    if (m) {
        il_alloc alloc = m->own;
        il_arena_free(&m->arena);
        alloc.free(alloc.ctx, m);
    }
}
