/* SPDX-License-Identifier: Apache-2.0 */
/* The math extension (cel-go's, which cel-spec's tests name) without a maths library. Bits are those of the two's complement;
 * what is shifted out is lost. */
#include "cel/fn.h"

static bool math_number(const il_cel_value *v) {
    return v->kind == IL_CEL_INT || v->kind == IL_CEL_UINT || v->kind == IL_CEL_DOUBLE;
}

/* Takes `v` for the extreme when it lies beyond it. Of equal numbers of two kinds the first one stays; NaN has no place among
 * others. */
static il_cel_fault math_take(il_cel_value *extreme, const il_cel_value *v, int sign) {
    if (!math_number(v)) {
        return IL_CEL_NO_OVERLOAD;
    }
    const int order = il_cel_order(v, extreme);
    if (order == IL_CEL_UNORDERED) {
        return IL_CEL_BAD_VALUE;
    }
    if ((sign > 0 && order > 0) || (sign < 0 && order < 0)) {
        *extreme = *v;
    }
    return IL_CEL_NO_FAULT;
}

static il_cel_value math_extreme(il_cel_run *r, const il_cel_value *args, uint32_t nargs, int sign) {
    const bool list = nargs == 1 && args[0].kind == IL_CEL_LIST;
    il_cel_value first, v;
    il_cel_walk w = {NULL, NULL, 0};
    if (!il_cel_charge(r, list ? args[0].n : nargs)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    if (list) {
        w = il_cel_walk_of(&args[0]);
        if (!il_cel_walk_item(&w, &first)) {
            return il_cel_of_fault(IL_CEL_BAD_VALUE);
        }
    } else {
        first = args[0];
    }
    il_cel_value extreme = first;
    if (!math_number(&first)) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    for (uint32_t i = 1; list || i < nargs; i++) {
        if (!list) {
            v = args[i];
        } else if (!il_cel_walk_item(&w, &v)) {
            break;
        }
        const il_cel_fault fault = math_take(&extreme, &v, sign);
        if (fault != IL_CEL_NO_FAULT) {
            return il_cel_of_fault(fault);
        }
    }
    return extreme;
}

il_cel_value il_cel_fn_greatest(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    return math_extreme(r, args, nargs, 1);
}
il_cel_value il_cel_fn_least(il_cel_run *r, const il_cel_value *args, uint32_t nargs) { return math_extreme(r, args, nargs, -1); }

static il_cel_value math_whole(const il_cel_value *v, double (*whole)(double d)) {
    return v->kind == IL_CEL_DOUBLE ? il_cel_of_double(whole(v->u.d)) : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

il_cel_value il_cel_fn_ceil(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return math_whole(&args[0], il_double_ceil);
}
il_cel_value il_cel_fn_floor(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return math_whole(&args[0], il_double_floor);
}
il_cel_value il_cel_fn_round(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return math_whole(&args[0], il_double_round);
}
il_cel_value il_cel_fn_trunc(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return math_whole(&args[0], il_double_trunc);
}

il_cel_value il_cel_fn_abs(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    const il_cel_value *v = &args[0];
    if (v->kind == IL_CEL_INT) {
        return v->u.i == INT64_MIN ? il_cel_of_fault(IL_CEL_OVERFLOW) : il_cel_of_int(v->u.i < 0 ? -v->u.i : v->u.i);
    }
    if (v->kind == IL_CEL_DOUBLE) {
        return il_cel_of_double(il_double_of_bits(il_double_bits(v->u.d) & UINT64_MAX >> 1));
    }
    return v->kind == IL_CEL_UINT ? *v : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

/* NaN stays; the sign of a zero is lost. */
il_cel_value il_cel_fn_sign(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    const il_cel_value *v = &args[0];
    if (v->kind == IL_CEL_INT) {
        return il_cel_of_int((v->u.i > 0) - (v->u.i < 0));
    }
    if (v->kind == IL_CEL_UINT) {
        return il_cel_of_uint(v->u.u != 0);
    }
    if (v->kind == IL_CEL_DOUBLE) {
        return il_double_nan(v->u.d) ? *v : il_cel_of_double((double)((v->u.d > 0) - (v->u.d < 0)));
    }
    return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

static il_cel_value math_is(const il_cel_value *v, bool (*what)(double d)) {
    return v->kind == IL_CEL_DOUBLE ? il_cel_of_bool(what(v->u.d)) : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

il_cel_value il_cel_fn_is_nan(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return math_is(&args[0], il_double_nan);
}
il_cel_value il_cel_fn_is_inf(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return math_is(&args[0], il_double_infinite);
}
il_cel_value il_cel_fn_is_finite(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return math_is(&args[0], il_double_finite);
}

/* The bits as a number of the kind that `like` has. */
static il_cel_value math_bits(const il_cel_value *like, uint64_t bits) {
    il_cel_value v = il_cel_of((il_cel_kind)like->kind, 0);
    v.u.u = bits;
    return v;
}

/* Two ints or two uints. */
static bool math_pair(const il_cel_value *args) {
    return (args[0].kind == IL_CEL_INT || args[0].kind == IL_CEL_UINT) && args[1].kind == args[0].kind;
}

il_cel_value il_cel_fn_bit_and(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return math_pair(args) ? math_bits(&args[0], args[0].u.u & args[1].u.u) : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}
il_cel_value il_cel_fn_bit_or(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return math_pair(args) ? math_bits(&args[0], args[0].u.u | args[1].u.u) : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}
il_cel_value il_cel_fn_bit_xor(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return math_pair(args) ? math_bits(&args[0], args[0].u.u ^ args[1].u.u) : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}
il_cel_value il_cel_fn_bit_not(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    const bool whole = args[0].kind == IL_CEL_INT || args[0].kind == IL_CEL_UINT;
    return whole ? math_bits(&args[0], ~args[0].u.u) : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

/* By 64 and more: 0. To the right, zeros come in also for a negative int. */
static il_cel_value math_shift(const il_cel_value *args, bool left) {
    if ((args[0].kind != IL_CEL_INT && args[0].kind != IL_CEL_UINT) || args[1].kind != IL_CEL_INT) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    const int64_t by = args[1].u.i;
    if (by < 0) {
        return il_cel_of_fault(IL_CEL_BAD_VALUE);
    }
    return math_bits(&args[0], by > 63 ? 0 : left ? args[0].u.u << by : args[0].u.u >> by);
}

il_cel_value il_cel_fn_bit_shift_left(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return math_shift(args, true);
}
il_cel_value il_cel_fn_bit_shift_right(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return math_shift(args, false);
}

/* The items of a list, or the arguments. */
il_cel_bound il_cel_bound_most(const uint64_t *sizes, uint32_t n) {
    return (il_cel_bound){il_cel_cost_add(1 + n, n == 1 ? sizes[0] : 0), 1};
}
