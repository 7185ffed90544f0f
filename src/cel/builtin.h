/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the language and its extensions. One row a name and way of calling: the overloads are for the checker, the one C function
 * looks at its arguments' kinds by itself, since with `dyn` and without the check they are known at run time only. */
#pragma once
#include "cel/ast.h"

/* What an evaluation has to spend. */
typedef struct il_cel_run {
    const il_cel_program *program;
    il_arena *scratch; /* may be NULL */
    int64_t steps;     /* left; below zero the evaluation is over */
    void *host;        /* of this evaluation; NULL: functions that are per call have nothing to answer from */
    bool unlike;       /* il_cel_same met two kinds, none of them null, and no other difference before */
} il_cel_run;

/* Charges; false when the budget is gone: return il_cel_of_fault(IL_CEL_BUDGET). Charge before the work is done. Text costs a step for 64 bytes. */
static inline bool il_cel_charge(il_cel_run *r, uint64_t steps) {
    if (r->steps < 0 || steps > (uint64_t)r->steps) {
        r->steps = -1;
        return false;
    }
    r->steps -= (int64_t)steps;
    return true;
}
/* Uncleared room in scratch, NULL when there is none (IL_CEL_BUDGET). Charges a step for 64 bytes. */
char *il_cel_room(il_cel_run *r, size_t bytes);
il_cel_value *il_cel_room_values(il_cel_run *r, size_t count);

/* args: none is an error. nargs is what the row allows. */
typedef il_cel_value (*il_cel_call)(il_cel_run *r, const il_cel_value *args, uint32_t nargs);

typedef struct il_cel_overload {
    const il_cel_type *params[4]; /* NULL ends them */
    const il_cel_type *result;
} il_cel_overload;

/* Bounds for the static cost: sizes[i] is the most bytes or items of argument i (1 for other kinds). Saturated arithmetic (cel/cost.h). */
typedef struct il_cel_bound {
    uint64_t cost, size; /* of the call itself, of its result */
} il_cel_bound;

typedef struct il_cel_builtin {
    il_str name; /* with its dots: `strings.quote` */
    bool receiver;
    bool variadic; /* the last parameter may be repeated */
    uint8_t noverloads;
    const il_cel_overload *overloads;
    il_cel_call call;
    il_cel_bound (*bound)(const uint64_t *sizes, uint32_t n); /* NULL: one step, no size */
} il_cel_builtin;

/* NULL: no such name called that way. `nargs` with the receiver; a row whose arity does not fit is still found. */
const il_cel_builtin *il_cel_builtin_find(il_str name, bool receiver);
/* All rows, sorted by name: for suggestions. */
const il_cel_builtin *il_cel_builtins(size_t *n);
