/* SPDX-License-Identifier: Apache-2.0 */
/* A condition when only some of what it reads is known (docs/cel.md, Static questions): decided, or what is left of it.
 *
 * The rule: whatever the unknown turns out to be, evaluating what is left gives what evaluating the whole gives, errors too
 * (their fault may be another). An unknown operand is like an error to `&&`, `||`, `?:` and the macros: one that is enough
 * decides. Where only errors and unknowns are left to them the answer is unknown; to all other operators an error is enough.
 *
 * What is unknown stands among the variables as il_cel_unknown(): a variable, a field of a record, the value of a map's key
 * (the key itself is known to be there), an item of a list. il_cel_open(map): there may be more keys than those it has.
 *
 * Functions of the host are called when their arguments are known; what is per call is unknown. Memory: all of the residue lives in `arena`, or is borrowed
 * from program and variables. Threads: as il_cel_eval. */
#pragma once
#include "cel/ast.h"

#define IL_CEL_OPEN 1u /* il_cel_value.spare of a MAP */
static inline il_cel_value il_cel_unknown(void) { return il_cel_of_fault(IL_CEL_UNKNOWN); }
static inline il_cel_value il_cel_open(il_cel_value map) {
    map.spare = IL_CEL_OPEN;
    return map;
}

typedef struct il_cel_residue {
    bool decided;
    il_cel_value value;      /* decided: the value; an error has no place in the program */
    const il_cel_node *node; /* else: what is left; prints as `text`. It is not to be compiled, its text is */
    il_str text; /* with the parentheses that it needs; it reads known variables only where their value has no short literal */
    uint64_t
        rests; /* decided: bit v: the answer rests on variable v (bit 63: on one from 63 up). Not the fewest that are possible */
} il_cel_residue;

/* IL_E_MEMORY; IL_E_LIMIT: the arena's cap, or a text above 64 KiB. */
IL_NODISCARD il_status il_cel_partial(il_arena *arena, const il_cel_program *program, const il_cel_value *vars,
                                      il_cel_residue *out, il_error *err);
