/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of tables with its contracts, as Frama-C reads it. */
#include "reader.h" /* the contracts come first */

#include "machine/table_open.c"

/*@ requires err == \null || \valid(err);
    assigns *err;
    ensures \result == IL_E_SEAL; */
static il_status open_bad(il_error *err, const char *what);

/*@ requires \valid_read(m) && fine_vars(m);
    assigns \nothing; */
static bool open_valid_state(const il_machine *m, uint64_t state);

/*@ requires 1 <= states <= 0x100000;
    assigns \nothing;
    ensures 2 <= \result <= 22; */
static uint32_t open_bits(uint32_t states);

/*@ requires \valid_read(m) && 2 <= m->index_bits <= 22 && m->index_mask == (1 << m->index_bits) - 1;
    requires \valid(m->index + (0 .. m->index_mask)) && \separated(m, m->index + (0 .. m->index_mask));
    requires here: 1 <= row <= m->nstates && state == state_at(m, row - 1);
    requires slots: fine_slots(m);
    assigns m->index[0 .. m->index_mask];
    ensures slots: fine_slots(m); */
static void open_place(const il_machine *m, uint64_t state, uint32_t row);

/*@ requires \valid_read(m) && numbers(m) && 2 <= m->index_bits <= 22 && m->index_mask == (1 << m->index_bits) - 1;
    requires \valid(m->index + (0 .. m->index_mask)) && \separated(m, m->index + (0 .. m->index_mask));
    requires states: \valid_read(m->states + (0 .. m->nstates * 8 - 1));
    requires slots: fine_slots(m);
    requires m->index == &heap_slots[0] && apart(m);
    assigns heap_slots[0 .. 0xFFFFFF];
    ensures frame: m->initial == \old(m->initial) && m->nstates == \old(m->nstates) && m->nsymbols == \old(m->nsymbols) &&
      m->nregions == \old(m->nregions) &&
      m->nvars == \old(m->nvars) && m->nrules == \old(m->nrules) && m->index_bits == \old(m->index_bits) &&
      m->index_mask == \old(m->index_mask);
    ensures slots: fine_slots(m); */
static void open_fill(const il_machine *m);

/*@ requires \valid(m) && apart(m) && apart_error(err) && \separated(m, err);
    requires read: read(m);
    assigns m->arena, m->index_bits, m->index_mask, m->index, heap_slots[0 .. 0xFFFFFF], *err;
    ensures slots: \result == IL_OK ==> indexed(m);
    ensures shape: \result == IL_OK ==> shaped(m);
    ensures vars: \result == IL_OK ==> fine_vars(m);
    ensures bitmaps: \result == IL_OK ==> has_regions(m) && fine_regions(m, m->nregions); */
static il_status open_index(il_machine *m, il_error *err);

/*@ requires read: read(m) && indexed(m);
    requires apart_error(err);
    assigns *err;
    ensures read: \result == IL_OK ==> read(m) && indexed(m);
    ensures order: \result == IL_OK ==> ascending(m); */
static il_status open_states(const il_machine *m, il_error *err);

/*@ requires shaped(m) && row < m->nstates && symbol < m->nsymbols;
    assigns \nothing;
    ensures \result ==> fine_cell(m, row, symbol); */
static bool open_cell(const il_machine *m, uint32_t row, uint32_t symbol);

/*@ requires shaped(m) && row < m->nstates;
    assigns \nothing;
    ensures \result ==> fine_row(m, row); */
static bool open_row(const il_machine *m, uint32_t row);

/*@ requires read: read(m) && indexed(m) && ascending(m);
    requires apart_error(err);
    assigns *err;
    ensures read: \result == IL_OK ==> read(m) && indexed(m) && ascending(m);
    ensures cells: \result == IL_OK ==> fine_cells(m); */
static il_status open_cells(const il_machine *m, il_error *err);

/*@ requires \valid(m) && apart_error(err) && \separated(m, err) && \valid(meta) && \separated(m, meta) && \separated(err, meta);
    requires bytes: \valid_read(p + (0 .. 39));
    assigns m->nstates, m->nsymbols, m->initial, m->nregions, *meta, *err;
    ensures \result == IL_OK ==> numbers(m); */
static il_status open_header(il_machine *m, const uint8_t *p, uint32_t *meta, il_error *err);

/*@ requires \valid(m) && apart(m) && apart_error(err) && \separated(m, err);
    requires bytes: \valid_read(t.p + (0 .. t.n - 1));
    requires numbers: numbers(m) && meta <= 0xFFFFFFFF;
    assigns m->arena, m->name, m->nvars, m->vars, m->nactions, m->actions, m->nrules, m->rules, m->regions;
    assigns heap_vars[0 .. 0xFFFFFF], heap_regions[0 .. 0xFFFFFF], *err;
    ensures numbers: \result == IL_OK ==> numbers(m);
    ensures described: \result == IL_OK ==> described(m);
    ensures length: \result == IL_OK ==> padded(meta) <= t.n; */
static il_status open_description(il_machine *m, il_str t, size_t meta, il_error *err);

/*@ requires \valid(m) && apart(m) && apart_error(err) && \separated(m, err);
    requires bytes: n == 0 || \valid_read(p + (0 .. n - 1));
    requires numbers: numbers(m) && described(m);
    assigns m->states, m->cells, heap_regions[0 .. 0xFFFFFF], *err;
    ensures shape: \result == IL_OK ==> shaped(m);
    ensures described: \result == IL_OK ==> described(m);
    ensures bitmaps: \result == IL_OK ==> fine_regions(m, m->nregions); */
static il_status open_arrays(il_machine *m, const uint8_t *p, uint64_t n, il_error *err);

/*@ assigns \result \from t;
    ensures \valid_read(t.p + (0 .. t.n - 1)) ==> \valid_read(\result + (0 .. t.n - 1)); */
static const uint8_t *open_bytes(il_str t);

/*@ requires \valid(m) && apart(m) && apart_error(err) && \separated(m, err);
    requires bytes: \valid_read(t.p + (0 .. t.n - 1));
    assigns m->digest[0 .. 31], m->nstates, m->nsymbols, m->initial, m->nregions, m->states, m->cells;
    assigns m->arena, m->name, m->nvars, m->vars, m->nactions, m->actions, m->nrules, m->rules, m->regions;
    assigns m->index_bits, m->index_mask, m->index;
    assigns heap_vars[0 .. 0xFFFFFF], heap_regions[0 .. 0xFFFFFF], heap_slots[0 .. 0xFFFFFF], *err;
    ensures opened: \result == IL_OK ==> opened(m);
    ensures read: \result == IL_OK ==> read(m) && ascending(m); */
static il_status open_read(il_machine *m, il_str t, il_error *err);

/*@ requires read: read(m);
    requires apart_error(err);
    assigns *err; */
static il_status open_regions(const il_machine *m, il_error *err);

/*@ requires shape: shaped(m);
    assigns \nothing;
    ensures \result <= area(m->nstates, m->nsymbols); */
static uint64_t open_edges(const il_machine *m);
