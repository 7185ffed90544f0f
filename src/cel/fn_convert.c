/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions (cel-spec, langdef.md, Type Conversions): the name of a type as a function. What does not fit is an error, never
 * a wrap or a guess. */
#include "cel/fn.h"

/* The first double that no int, and no uint, holds: 2^63 and 2^64. */
#define CONVERT_INT_END 9223372036854775808.0
#define CONVERT_UINT_END 18446744073709551616.0

/* Digits only, at most `most`; a fault otherwise. */
static il_cel_fault convert_digits(il_str s, uint64_t most, uint64_t *out) {
    uint64_t v = 0;
    bool over = false;
    if (s.n == 0) {
        return IL_CEL_BAD_VALUE;
    }
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9') {
            return IL_CEL_BAD_VALUE;
        }
        const uint64_t digit = (uint64_t)(s.p[i] - '0');
        over = over || v > (most - digit) / 10;
        v = over ? 0 : v * 10 + digit;
    }
    *out = v;
    return over ? IL_CEL_OVERFLOW : IL_CEL_NO_FAULT;
}

il_cel_value il_cel_fn_int(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    const il_cel_value *v = &args[0];
    if (v->kind == IL_CEL_INT) {
        return *v;
    }
    if (v->kind == IL_CEL_TIMESTAMP) {
        return il_cel_of_int(v->u.i);
    }
    if (v->kind == IL_CEL_UINT) {
        return v->u.u <= INT64_MAX ? il_cel_of_int((int64_t)v->u.u) : il_cel_of_fault(IL_CEL_OVERFLOW);
    }
    if (v->kind == IL_CEL_DOUBLE) { /* -2^63 itself is refused too, as the conformance tests want */
        return v->u.d > -CONVERT_INT_END && v->u.d < CONVERT_INT_END ? il_cel_of_int((int64_t)v->u.d)
                                                                     : il_cel_of_fault(IL_CEL_OVERFLOW);
    }
    if (v->kind == IL_CEL_STRING) {
        if (!il_cel_charge_text(r, v->n)) {
            return il_cel_of_fault(IL_CEL_BUDGET);
        }
        const il_str s = il_cel_str(*v);
        const bool minus = s.n > 0 && s.p[0] == '-', sign = minus || (s.n > 0 && s.p[0] == '+');
        uint64_t u = 0;
        const il_cel_fault fault = convert_digits(il_str_part(s, sign, s.n), (uint64_t)INT64_MAX + minus, &u);
        if (fault != IL_CEL_NO_FAULT) {
            return il_cel_of_fault(fault);
        }
        return il_cel_of_int(!minus ? (int64_t)u : u == 0 ? 0 : -(int64_t)(u - 1) - 1);
    }
    return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

il_cel_value il_cel_fn_uint(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    const il_cel_value *v = &args[0];
    if (v->kind == IL_CEL_UINT) {
        return *v;
    }
    if (v->kind == IL_CEL_INT) {
        return v->u.i >= 0 ? il_cel_of_uint((uint64_t)v->u.i) : il_cel_of_fault(IL_CEL_OVERFLOW);
    }
    if (v->kind == IL_CEL_DOUBLE) {
        return v->u.d >= 0 && v->u.d < CONVERT_UINT_END ? il_cel_of_uint((uint64_t)v->u.d) : il_cel_of_fault(IL_CEL_OVERFLOW);
    }
    if (v->kind == IL_CEL_STRING) {
        if (!il_cel_charge_text(r, v->n)) {
            return il_cel_of_fault(IL_CEL_BUDGET);
        }
        uint64_t u = 0;
        const il_cel_fault fault = convert_digits(il_cel_str(*v), UINT64_MAX, &u);
        return fault == IL_CEL_NO_FAULT ? il_cel_of_uint(u) : il_cel_of_fault(fault);
    }
    return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

il_cel_value il_cel_fn_double(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    const il_cel_value *v = &args[0];
    if (v->kind == IL_CEL_DOUBLE) {
        return *v;
    }
    if (v->kind == IL_CEL_INT) {
        return il_cel_of_double((double)v->u.i);
    }
    if (v->kind == IL_CEL_UINT) {
        return il_cel_of_double((double)v->u.u);
    }
    if (v->kind == IL_CEL_STRING) {
        if (!il_cel_charge_text(r, v->n)) {
            return il_cel_of_fault(IL_CEL_BUDGET);
        }
        double d = 0;
        if (il_double_parse(il_cel_str(*v), &d)) {
            return il_double_infinite(d) ? il_cel_of_fault(IL_CEL_OVERFLOW) : il_cel_of_double(d);
        }
        return il_double_parse_word(il_cel_str(*v), &d) ? il_cel_of_double(d) : il_cel_of_fault(IL_CEL_BAD_VALUE);
    }
    return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

static size_t convert_word(const char *word, char *out) {
    size_t n = 0;
    while (word[n] != '\0') {
        out[n] = word[n];
        n++;
    }
    return n;
}

static size_t convert_decimal(uint64_t v, bool minus, char *out) {
    char digits[20];
    size_t n = 0, at = 0;
    do {
        digits[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v != 0);
    if (minus) {
        out[at++] = '-';
    }
    while (n > 0) {
        out[at++] = digits[--n];
    }
    return at;
}

size_t il_cel_scalar_text(const il_cel_value *v, il_double_form form, char out[IL_CEL_SCALAR_TEXT]) {
    switch ((il_cel_kind)v->kind) {
    case IL_CEL_BOOL:
        return convert_word(v->u.b ? "true" : "false", out);
    case IL_CEL_INT:
        return convert_decimal(v->u.i < 0 ? 0 - (uint64_t)v->u.i : (uint64_t)v->u.i, v->u.i < 0, out);
    case IL_CEL_UINT:
        return convert_decimal(v->u.u, false, out);
    case IL_CEL_DOUBLE:
        return il_double_text(v->u.d, form, out);
    case IL_CEL_TIMESTAMP:
        return il_time_text((il_time){v->u.i, (int32_t)v->n}, out);
    case IL_CEL_DURATION:
        return il_duration_text(v->u.i, out);
    case IL_CEL_IP:
        return il_ip_text((const il_ip *)(const void *)v->u.p, out);
    case IL_CEL_CIDR:
        return il_cidr_text((const il_cidr *)(const void *)v->u.p, out);
    case IL_CEL_ERROR:
    case IL_CEL_NULL:
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
    case IL_CEL_LIST:
    case IL_CEL_MAP:
    case IL_CEL_TYPE:
    case IL_CEL_OPTIONAL:
    case IL_CEL_RECORD:
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
        break;
    }
    return 0;
}

il_cel_value il_cel_copied(il_cel_run *r, il_str text) {
    char *p = il_cel_room(r, text.n);
    if (p == NULL) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    if (text.n > 0) {
        memcpy(p, text.p, text.n);
    }
    return il_cel_of_str((il_str){p, text.n});
}

il_cel_value il_cel_fn_string(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    const il_cel_value *v = &args[0];
    if (v->kind == IL_CEL_STRING) {
        return *v;
    }
    if (v->kind == IL_CEL_BYTES) {
        if (!il_cel_charge_text(r, v->n)) {
            return il_cel_of_fault(IL_CEL_BUDGET);
        }
        return il_str_utf8(il_cel_str(*v), NULL) ? il_cel_of_str(il_cel_str(*v)) : il_cel_of_fault(IL_CEL_BAD_VALUE);
    }
    if (v->kind == IL_CEL_TYPE) {
        return il_cel_of_str(il_cel_type_name(*v));
    }
    char text[IL_CEL_SCALAR_TEXT];
    const size_t n = il_cel_scalar_text(v, IL_DOUBLE_SHORT, text);
    return n > 0 ? il_cel_copied(r, (il_str){text, n}) : il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

il_cel_value il_cel_fn_bytes(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    if (args[0].kind == IL_CEL_BYTES || args[0].kind == IL_CEL_STRING) {
        return il_cel_of_bytes(il_cel_str(args[0]));
    }
    return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

il_cel_value il_cel_fn_bool(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    static const il_str yes[] = {{"1", 1}, {"t", 1}, {"true", 4}, {"TRUE", 4}, {"True", 4}},
                        no[] = {{"0", 1}, {"f", 1}, {"false", 5}, {"FALSE", 5}, {"False", 5}};
    (void)r;
    (void)nargs;
    if (args[0].kind == IL_CEL_BOOL) {
        return args[0];
    }
    if (args[0].kind != IL_CEL_STRING) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (il_str_eq(il_cel_str(args[0]), yes[i])) {
            return il_cel_of_bool(true);
        }
        if (il_str_eq(il_cel_str(args[0]), no[i])) {
            return il_cel_of_bool(false);
        }
    }
    return il_cel_of_fault(IL_CEL_BAD_VALUE);
}

il_cel_value il_cel_fn_type(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return il_cel_of(IL_CEL_TYPE, args[0].kind);
}

il_cel_value il_cel_fn_dyn(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)r;
    (void)nargs;
    return args[0];
}

il_cel_value il_cel_fn_timestamp(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    const il_cel_value *v = &args[0];
    if (v->kind == IL_CEL_TIMESTAMP) {
        return *v;
    }
    il_time t = {0, 0};
    if (v->kind == IL_CEL_INT) {
        if (v->u.i < IL_TIME_SECONDS_MIN || v->u.i > IL_TIME_SECONDS_MAX) {
            return il_cel_of_fault(IL_CEL_OVERFLOW);
        }
        t.seconds = v->u.i;
    } else if (v->kind == IL_CEL_STRING) {
        if (!il_cel_charge_text(r, v->n)) {
            return il_cel_of_fault(IL_CEL_BUDGET);
        }
        if (!il_time_parse(il_cel_str(*v), &t)) {
            return il_cel_of_fault(IL_CEL_BAD_VALUE);
        }
    } else {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    il_cel_value out = il_cel_of(IL_CEL_TIMESTAMP, (uint32_t)t.nanos);
    out.u.i = t.seconds;
    return out;
}

il_cel_value il_cel_fn_duration(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    if (args[0].kind == IL_CEL_DURATION) {
        return args[0];
    }
    if (args[0].kind != IL_CEL_STRING) {
        return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
    }
    if (!il_cel_charge_text(r, args[0].n)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    il_cel_value out = il_cel_of(IL_CEL_DURATION, 0);
    return il_duration_parse(il_cel_str(args[0]), &out.u.i) ? out : il_cel_of_fault(IL_CEL_BAD_VALUE);
}

/* Reading a text to its end. */
il_cel_bound il_cel_bound_parse(const uint64_t *sizes, uint32_t n) { return (il_cel_bound){1 + (n > 0 ? sizes[0] / 64 : 0), 1}; }

/* The text of a scalar, or bytes checked and kept. */
il_cel_bound il_cel_bound_string(const uint64_t *sizes, uint32_t n) {
    const uint64_t text = n > 0 && sizes[0] > IL_CEL_SCALAR_TEXT ? sizes[0] : IL_CEL_SCALAR_TEXT;
    return (il_cel_bound){1 + text / 64 + 1, text};
}

/* The argument itself. */
il_cel_bound il_cel_bound_same(const uint64_t *sizes, uint32_t n) { return (il_cel_bound){1, n > 0 ? sizes[0] : 1}; }
