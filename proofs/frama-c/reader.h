/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader of tables promises, and what the proof assumes of the functions of base/ and json/ that it calls (docs/proofs.md lists them).
 * Memory of an arena is an array for each type of object: an allocation gives a part of the array of its type, or NULL. So assigns clauses can name
 * what is written, and what was not allocated, the machine itself and the bytes of the table, stands apart by `apart`. */
#pragma once
#include "contracts.h"

extern il_machine_slot heap_slots[0x1000000];
extern il_machine_region heap_regions[0x1000000];
extern il_machine_var heap_vars[0x1000000];

/*@ predicate apart{L}(il_machine *m) =
      \separated(m, heap_slots + (0 .. 0xFFFFFF)) && \separated(m, heap_regions + (0 .. 0xFFFFFF)) &&
      \separated(m, heap_vars + (0 .. 0xFFFFFF));
    predicate apart_error{L}(il_error *e) =
      (e == \null || \valid(e)) &&
      \separated(e, heap_slots + (0 .. 0xFFFFFF)) && \separated(e, heap_regions + (0 .. 0xFFFFFF)) &&
      \separated(e, heap_vars + (0 .. 0xFFFFFF));

    // Each variable has its place in the state, wide enough for its values.
    predicate fine_vars{L}(il_machine *m) =
      m->nvars <= 64 && \valid_read(m->vars + (0 .. m->nvars - 1)) &&
      m->vars == &heap_vars[0] &&
      \forall integer k; 0 <= k < m->nvars ==> 1 <= m->vars[k].nvalues <= 4096 && m->vars[k].bits <= 12 &&
        m->vars[k].shift < 64 && m->vars[k].shift + m->vars[k].bits <= 64 && m->vars[k].nvalues <= (1 << m->vars[k].bits);
    predicate has_regions{L}(il_machine *m) =
      m->nregions <= 64 && \valid(m->regions + (0 .. m->nregions - 1)) && m->regions == &heap_regions[0];
    predicate described{L}(il_machine *m) = fine_vars(m) && has_regions(m) && m->nrules <= 200;

    logic integer padded(integer n) = (n + 7) / 8 * 8;
    logic integer bitmap(integer edge, integer states, integer symbols) =
      edge != 0 ? padded((states * symbols + 7) / 8) : padded((states + 7) / 8);
    predicate fine_regions{L}(il_machine *m, integer n) =
      \forall integer r; 0 <= r < n ==>
        \valid_read(m->regions[r].bits + (0 .. bitmap(m->regions[r].edge, m->nstates, m->nsymbols) - 1));

    // What an accepted table promises beyond `opened`.
    predicate read{L}(il_machine *m) = shaped(m) && described(m) && fine_regions(m, m->nregions);
    predicate ascending{L}(il_machine *m) = \forall integer k; 0 < k < m->nstates ==> state_at(m, k - 1) < state_at(m, k);

    predicate numbers{L}(il_machine *m) =
      1 <= m->nstates <= 0x100000 && 1 <= m->nsymbols <= 0x10000 && m->initial < m->nstates && m->nregions <= 64;
*/

/* Assumed. */

/*@ requires err == \null || \valid(err);
    assigns *err; */
il_status(il_error_set)(il_error *err, il_status code, const char *fmt, ...);

#undef il_arena_fail /* the function is what is assumed of, not the macro that repeats its result */
/*@ requires err == \null || \valid(err);
    assigns *err;
    ensures \result != IL_OK; */
il_status il_arena_fail(const il_arena *a, il_error *err);

/*@ requires a.n == 0 || \valid_read(a.p + (0 .. a.n - 1));
    requires b.n == 0 || \valid_read(b.p + (0 .. b.n - 1));
    assigns \nothing; */
static inline bool il_str_eq(il_str a, il_str b);

/*@ requires \valid_read(bytes.p + (0 .. bytes.n - 1));
    requires \valid(out + (0 .. 31));
    assigns out[0 .. 31]; */
void il_sha256_of(il_str bytes, uint8_t out[IL_DIGEST_BYTES]);

/*@ requires \valid_read(a + (0 .. 31));
    requires \valid_read(b + (0 .. 31));
    assigns \nothing; */
bool il_digest_eq(const uint8_t a[IL_DIGEST_BYTES], const uint8_t b[IL_DIGEST_BYTES]);

#undef IL_NEW_ARRAY
#define IL_NEW_ARRAY(arena, type, count) heap_new_##type((arena), (count))

/*@ requires \valid(a) && count <= 0x1000000;
    assigns *a, heap_slots[0 .. 0xFFFFFF], \result \from a;
    ensures \result == \null || \result == &heap_slots[0];
    ensures \forall integer k; 0 <= k < count ==> heap_slots[k].row == 0; */
il_machine_slot *heap_new_il_machine_slot(il_arena *a, size_t count);

/* Proven. */

/*@ requires n <= 0x7FFFFFFFFFFF;
    assigns \nothing;
    ensures \result == padded(n);
    ensures n <= \result <= n + 7; */
static inline size_t il_table_pad(size_t n);

/*@ requires states <= 0x100000 && symbols <= 0x10000;
    assigns \nothing;
    ensures \result == states * symbols && \result <= 0x1000000000; */
static inline uint64_t il_table_cells(uint32_t states, uint32_t symbols);

/*@ requires states <= 0x100000 && symbols <= 0x10000;
    assigns \nothing;
    ensures \result == bitmap(edge, states, symbols); */
static inline size_t il_table_bitmap(bool edge, uint32_t states, uint32_t symbols);

/*@ requires \valid(m) && apart(m) && apart_error(err) && \separated(m, err);
    requires meta.n == 0 || \valid_read(meta.p + (0 .. meta.n - 1));
    requires numbers(m);
    assigns m->arena, m->name, m->nvars, m->vars, m->nactions, m->actions, m->nrules, m->rules, m->regions;
    assigns heap_vars[0 .. 0xFFFFFF], heap_regions[0 .. 0xFFFFFF], *err;
    ensures \result == IL_OK ==> described(m) && numbers(m); */
il_status il_table_read_meta(il_machine *m, il_str meta, il_error *err);
