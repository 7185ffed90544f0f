/* SPDX-License-Identifier: Apache-2.0 */
/* What the step and the reader of tables promise, for Frama-C's WP (ACSL). `opened` is what il_table_open establishes and what
 * il_machine_step may rely on; docs/proofs.md says what is proven of it and what is not. */
#pragma once
#include "machine/machine_impl.h"

/*@ // Facts about bits, which WP treats as numbers, and of a product. facts.smt2 has Z3 prove each.
    axiomatic Bits {
      axiom and_below: \forall integer x, y; 0 <= x <= 0xFFFFFFFFFFFFFFFF && 0 <= y <= 0xFFFFFFFFFFFFFFFF ==> 0 <= (x & y) <= y;
      axiom shifted_below: \forall integer x, bits; 0 <= x <= 0xFFFFFFFFFFFFFFFF && 2 <= bits <= 32 ==>
        0 <= (x >> (64 - bits)) < (1 << bits);
      axiom power: \forall integer bits; 2 <= bits <= 32 ==> 4 <= (1 << bits) <= 0x100000000;
      axiom index_bits: \forall integer bits; 2 <= bits <= 32 ==>
        ((bits <= 22 <==> (1 << bits) <= 0x400000) && (bits < 22 <==> (1 << bits) < 0x400000));
      axiom field: \forall integer bits, shift; 0 <= bits <= 12 && 0 <= shift < 64 && shift + bits <= 64 ==>
        0 <= (((1 << bits) - 1) << shift) <= 0xFFFFFFFFFFFFFFFF;
      axiom rows: \forall integer r, n, k; 1 <= r <= n && 0 <= k ==> k <= r * k <= n * k;
    }

    logic integer u32_at{L}(uint8_t *p) =
      (uint32_t)(p[3] << 24) | (uint32_t)(p[2] << 16) | (uint32_t)(p[1] << 8) | p[0];
    logic integer u64_at{L}(uint8_t *p) = u32_at(p) | (uint64_t)(u32_at(p + 4) << 32);
    logic integer cell_at{L}(il_machine *m, integer row, integer symbol) = u32_at(m->cells + (row * m->nsymbols + symbol) * 4);
    logic integer state_at{L}(il_machine *m, integer row) = u64_at(m->states + row * 8);
    logic integer verdict_of(integer cell) = (cell >> 22) & 3;
    logic integer post_of(integer cell) = cell & 0x3FFFFF;

    // A product that is only looked into where it is asserted: congruence then shows that it stays while its factors do.
    axiomatic Area {
      logic integer area(integer states, integer symbols);
      axiom product: \forall integer states, symbols; area(states, symbols) == states * symbols;
    }

    // The header was read: numbers in their bounds, the arrays as long as they say.
    predicate shaped{L}(il_machine *m) =
      \valid_read(m) && 1 <= m->nstates <= 0x100000 && 1 <= m->nsymbols <= 0x10000 &&
      m->nrules <= 200 && m->initial < m->nstates && area(m->nstates, m->nsymbols) <= 0x1000000000 &&
      \valid_read(m->states + (0 .. m->nstates * 8 - 1)) &&
      \valid_read(m->cells + (0 .. area(m->nstates, m->nsymbols) * 4 - 1));
    // One cell is in order: what is accepted stays in the table, what is not stays where it is.
    predicate fine_cell{L}(il_machine *m, integer row, integer symbol) =
      (verdict_of(cell_at(m, row, symbol)) == 1 && post_of(cell_at(m, row, symbol)) < m->nstates) ||
      (verdict_of(cell_at(m, row, symbol)) == 0 && post_of(cell_at(m, row, symbol)) == row);
    predicate fine_row{L}(il_machine *m, integer row) = \forall integer symbol; 0 <= symbol < m->nsymbols ==>
      fine_cell(m, row, symbol);
    predicate fine_cells{L}(il_machine *m) = \forall integer row; 0 <= row < m->nstates ==> fine_row(m, row);
    // A slot of the index is empty or names a row that has its state. (No predicate of one slot inside: provers would not look into
    // it.)
    predicate fine_slots{L}(il_machine *m) =
      \forall integer i; 0 <= i <= m->index_mask ==>
        m->index[i].row <= m->nstates && (m->index[i].row != 0 ==> state_at(m, m->index[i].row - 1) == m->index[i].state);
    predicate indexed{L}(il_machine *m) =
      2 <= m->index_bits <= 32 && m->index_mask == (1 << m->index_bits) - 1 &&
      \valid_read(m->index + (0 .. m->index_mask)) && fine_slots(m);
    // A step that the cell of this row accepts: the row is the state's, and leads to a state of the table.
    predicate accepted{L}(il_machine *m, integer row, integer state, integer symbol, integer next) =
      0 <= row < m->nstates && 0 <= symbol < m->nsymbols && state_at(m, row) == state &&
      verdict_of(cell_at(m, row, symbol)) == 1 && post_of(cell_at(m, row, symbol)) < m->nstates &&
      next == state_at(m, post_of(cell_at(m, row, symbol)));
    predicate opened{L}(il_machine *m) = shaped(m) && fine_cells(m) && indexed(m);
*/

/*@ requires \valid_read(p + (0 .. 3));
    assigns \nothing;
    ensures \result == u32_at(p); */
static inline uint32_t il_table_u32(const uint8_t *p);

/*@ requires \valid_read(p + (0 .. 7));
    assigns \nothing;
    ensures \result == u64_at(p); */
static inline uint64_t il_table_u64(const uint8_t *p);

/*@ requires 2 <= bits <= 32;
    assigns \nothing;
    ensures \result < (1 << bits); */
static inline uint32_t il_table_slot(uint64_t state, uint32_t bits);

/*@ requires opened(m);
    assigns \nothing;
    ensures \result <= m->nstates;
    ensures \result != 0 ==> state_at(m, \result - 1) == state; */
static uint32_t machine_row(const il_machine *m, uint64_t state);

/*@ requires m == \null || opened(m);
    assigns \nothing;
    // Whatever is not accepted leaves the state as it was; so do a symbol and a machine that do not exist.
    ensures \result.verdict != IL_ACCEPT ==> \result.next == state;
    ensures m == \null ==> \result.verdict == IL_REJECT;
    ensures m != \null && symbol >= m->nsymbols ==> \result.verdict == IL_REJECT;
    // What is accepted is a cell of the state's own row, and leads to a state of the table.
    ensures \result.verdict == IL_ACCEPT ==> m != \null && \exists integer row; accepted(m, row, state, symbol, \result.next);
    ensures \result.verdict == IL_ACCEPT || \result.verdict == IL_REJECT; */
il_step il_machine_step(const il_machine *m, uint64_t state, uint32_t symbol);

/*@ requires m == \null || opened(m);
    assigns \nothing;
    ensures m != \null && i < m->nstates ==> \result == state_at(m, i); */
uint64_t il_machine_state(const il_machine *m, uint32_t i);

/*@ requires m == \null || opened(m);
    assigns \nothing;
    ensures m != \null ==> \result == state_at(m, m->initial); */
uint64_t il_machine_initial(const il_machine *m);
