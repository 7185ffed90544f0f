/* SPDX-License-Identifier: Apache-2.0 */
/* The static bound of an evaluation's cost, in steps. A step is a visit of a node, 16 bytes of text compared or copied, or an
 * item of a list or map looked at. Everything saturates: what is too much to count is too much.
 *
 * What each part may cost at most. It is never less than the part's weight, its number of nodes: that is what evaluation
 * charges for one more time around a loop, whichever way it goes inside.
 *   any node           1 + its parts
 *   ?:                 1 + condition + the dearer arm + the weight of the other one
 *   == != < <= > >=    the smaller of the two texts / 16, the fewer of the two lists' items
 *   in                 the items of the list; 1 for a map
 *   +                  the bytes of the new text / 16, or the items of the new list
 *   a list, a map      its items; 1 for a list of literals
 *   a macro            range + weight of the bodies + items x (bodies + 1; 2 into a list, 4 into a map)
 *   a function         what its row's `bound` says; without one 1
 *   a host's function  its `cost`
 *   matches            weight of the pattern x (bytes / 64 + 1)
 *
 * How large a value can be is exact for literals and grows through `+`, `map` and functions; what the host gives is as large
 * as its type's `most` or the limits say. Of a value of type dyn the limits are assumed for one text and one list of it, not
 * for lists of lists: what is beyond that is refused at run time, by the budget of steps. */
#pragma once
#include "interlock/cel.h"

/* Saturated. Written without a division by a variable: clang makes a 128-bit multiplication of an overflow test, which wasm32
 * would have to import. */
static inline uint64_t il_cel_cost_add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
static inline uint64_t il_cel_cost_mul(uint64_t a, uint64_t b) {
    if (a == 0 || b == 0) {
        return 0;
    }
    const uint64_t high = a >> 32, other = b >> 32;
    if (high != 0 && other != 0) {
        return UINT64_MAX;
    }
    /* At most one factor has an upper half. */
    const uint64_t upper = high != 0 ? high * (uint32_t)b : other * (uint32_t)a;
    if (upper >> 32 != 0) {
        return UINT64_MAX;
    }
    return il_cel_cost_add(upper << 32, (uint64_t)(uint32_t)a * (uint32_t)b);
}
static inline uint64_t il_cel_cost_most(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t il_cel_cost_least(uint64_t a, uint64_t b) { return a < b ? a : b; }
/* Steps for so many bytes of text. */
static inline uint64_t il_cel_cost_text(uint64_t bytes) { return bytes / 16; }

/* How large a value can be: as a text, as a list or map, and what is inside it at any depth. One whose type is known has only
 * one of the first two; an optional is as large as what it holds. */
typedef struct il_cel_extent {
    uint64_t text, items, inner_text, inner_items;
} il_cel_extent;

/* Of what the host gives: `limits` filled in. NULL: dyn. */
il_cel_extent il_cel_extent_of(const il_cel_type *type, const il_cel_limits *limits);
/* Of what is taken out of such a value. */
static inline il_cel_extent il_cel_extent_inside(il_cel_extent e) {
    return (il_cel_extent){e.inner_text, e.inner_items, e.inner_text, e.inner_items};
}
/* Of either of the two. */
il_cel_extent il_cel_extent_join(il_cel_extent a, il_cel_extent b);
/* `whole` when `part` is put into it. */
il_cel_extent il_cel_extent_with(il_cel_extent whole, il_cel_extent part);
