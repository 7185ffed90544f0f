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

static il_status open_index(il_machine *m, il_error *err) {
    m->index_bits = 2;
    while (UINT32_C(1) << m->index_bits < m->nstates * IL_MACHINE_INDEX_SPARE) {
        m->index_bits++;
    }
    uint32_t size = UINT32_C(1) << m->index_bits;
    m->index_mask = size - 1;
    m->index = IL_NEW_ARRAY(&m->arena, il_machine_slot, size);
    if (!m->index) {
        return il_arena_fail(&m->arena, err);
    }
    for (uint32_t i = 0; i < m->nstates; i++) {
        uint64_t state = il_table_u64(m->states + (size_t)i * 8);
        if (!open_valid_state(m, state) || (i > 0 && il_table_u64(m->states + (size_t)(i - 1) * 8) >= state)) {
            return open_bad(err, "a state is outside its domains or out of order");
        }
        uint32_t at = il_table_slot(state, m->index_bits);
        while (m->index[at].row != 0) {
            at = (at + 1) & m->index_mask;
        }
        m->index[at] = (il_machine_slot){.state = state, .row = i + 1};
    }
    return IL_OK;
}

/* Every accepted step stays in the table, every other step stays where it is and has a reason. */
static il_status open_cells(const il_machine *m, il_error *err) {
    for (uint32_t i = 0; i < m->nstates; i++) {
        const uint8_t *row = m->cells + (size_t)i * m->nsymbols * 4;
        for (uint32_t s = 0; s < m->nsymbols; s++) {
            uint32_t cell = il_table_u32(row + (size_t)s * 4);
            uint32_t post = IL_CELL_POST(cell);
            uint8_t reason = IL_CELL_REASON(cell);
            bool accepted = IL_CELL_VERDICT(cell) == IL_ACCEPT && reason == 0 && post < m->nstates;
            bool rejected = IL_CELL_VERDICT(cell) == IL_REJECT && reason > 0 && reason <= m->nrules && post == i;
            if (!accepted && !rejected) {
                return open_bad(err, "a cell");
            }
        }
    }
    return IL_OK;
}

static il_status open_read(il_machine *m, il_str t, il_error *err) {
    const uint8_t *p = (const uint8_t *)t.p;
    if (t.n < IL_TABLE_HEADER + IL_DIGEST_BYTES || memcmp(p, IL_TABLE_MAGIC, 8) != 0) {
        return open_bad(err, "not a table");
    }
    size_t body = t.n - IL_DIGEST_BYTES;
    il_sha256_of((il_str){t.p, body}, m->digest);
    if (!il_digest_eq(m->digest, p + body)) {
        return open_bad(err, "its seal does not fit its bytes");
    }
    uint32_t format = il_table_u32(p + 8);
    m->nstates = il_table_u32(p + 12);
    m->nsymbols = il_table_u32(p + 16);
    m->initial = il_table_u32(p + 20);
    m->nregions = il_table_u32(p + 24);
    uint32_t meta = il_table_u32(p + 28);
    if (format != 1) {
        return il_error_set(err, IL_E_VERSION, "table format %u is not known; this build reads 1", (unsigned)format);
    }
    if (il_table_u64(p + 32) != 0 || m->nstates == 0 || m->nstates > IL_TABLE_STATES_MAX || m->nsymbols == 0 ||
        m->nsymbols > IL_MODEL_SYMBOLS_MAX || m->initial >= m->nstates || m->nregions > IL_MODEL_REGIONS_MAX || meta > body) {
        return open_bad(err, "its header");
    }
    uint64_t at = IL_TABLE_HEADER + il_table_pad(meta);
    if (at > body) {
        return open_bad(err, "its length");
    }
    for (size_t i = meta; i < il_table_pad(meta); i++) {
        if (p[IL_TABLE_HEADER + i] != 0) {
            return open_bad(err, "its padding");
        }
    }
    IL_TRY(il_table_read_meta(m, (il_str){t.p + IL_TABLE_HEADER, meta}, err));
    uint64_t need = at + (uint64_t)m->nstates * 8 + (uint64_t)m->nstates * m->nsymbols * 4;
    for (uint32_t r = 0; r < m->nregions; r++) {
        need += il_table_bitmap(m->regions[r].edge, m->nstates, m->nsymbols);
    }
    if (need != body) {
        return open_bad(err, "its length");
    }
    m->states = p + at;
    at += (uint64_t)m->nstates * 8;
    for (uint32_t r = 0; r < m->nregions; r++) {
        m->regions[r].bits = p + at;
        at += il_table_bitmap(m->regions[r].edge, m->nstates, m->nsymbols);
    }
    m->cells = p + at;
    IL_TRY(open_index(m, err));
    return open_cells(m, err);
}

il_status il_table_open(const il_alloc *alloc, il_str table, il_machine **out, il_error *err) {
    *out = NULL;
    il_machine *m = alloc->alloc(alloc->ctx, sizeof *m);
    if (!m) {
        return il_error_set(err, IL_E_MEMORY, "no memory for the machine");
    }
    memset(m, 0, sizeof *m);
    m->own = *alloc;
    m->alloc = &m->own;
    il_arena_init(&m->arena, m->alloc, IL_MACHINE_ARENA_MAX);
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
    for (uint32_t r = 0; r < m->nregions; r++) {
        size_t n = il_table_bitmap(m->regions[r].edge, m->nstates, m->nsymbols);
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
    for (size_t i = 0; i < (size_t)m->nstates * m->nsymbols; i++) {
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
