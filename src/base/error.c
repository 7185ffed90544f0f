/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include "base/mem.h"
#include "base/utf8.h"

const char *il_status_name(il_status s) {
    switch (s) {
#define IL_STATUS_CASE(name, number, text) \
    case name:                             \
        return #name;
        IL_STATUS_MAP(IL_STATUS_CASE)
#undef IL_STATUS_CASE
    }
    return "IL_E_INTERNAL";
}

/* Where formatted text goes. Once a unit (a code point or an escape) does not fit, nothing more is written:
 * a later, shorter one must not appear as if the text had been whole. */
typedef struct error_sink {
    char *out;
    size_t cap, n;
    bool full;
} error_sink;

static void error_unit(error_sink *k, const char *p, size_t n) {
    if (k->full || k->cap == 0 || n > k->cap - 1 - k->n) {
        k->full = true;
        return;
    }
    memcpy(k->out + k->n, p, n);
    k->n += n;
}

static void error_escape(error_sink *k, unsigned char c) {
    static const char hex[] = "0123456789abcdef";
    const char unit[4] = {'\\', 'x', hex[c >> 4], hex[c & 15]};
    error_unit(k, unit, sizeof unit);
}

/* Printable ASCII at `p`, without `%` when a format is read; at most what still fits, for what does not is a unit's to judge. */
static size_t error_run(const error_sink *k, const char *p, size_t n, bool format) {
    size_t run = 0, room = k->full || k->cap == 0 ? 0 : k->cap - 1 - k->n;
    while (run < n && run < room && p[run] >= 0x20 && p[run] < 0x7f && !(format && p[run] == '%')) {
        run++;
    }
    return run;
}

/* Inserted text may be an attacker's: no control character (C0, DEL, C1) and no byte that is not UTF-8 reaches a terminal or a log. */
static void error_text(error_sink *k, const char *p, size_t n) {
    size_t i = 0;
    while (i < n && !k->full) {
        const unsigned char c = (unsigned char)p[i];
        const size_t run = error_run(k, p + i, n - i, false);
        if (run > 0) {
            error_unit(k, p + i, run);
            i += run;
            continue;
        }
        if (c < 0x80) {
            if (c < 0x20 || c == 0x7f) {
                error_escape(k, c);
            } else {
                error_unit(k, p + i, 1);
            }
            i += 1;
            continue;
        }
        const size_t len = il_utf8_length((const unsigned char *)p + i, n - i);
        if (len == 0) {
            error_escape(k, c);
            i += 1;
        } else if (c == 0xc2 && (unsigned char)p[i + 1] < 0xa0) {
            error_escape(k, c);
            error_escape(k, (unsigned char)p[i + 1]);
            i += 2;
        } else {
            error_unit(k, p + i, len);
            i += len;
        }
    }
}

static void error_number(error_sink *k, uint64_t v, bool minus, unsigned base, unsigned width) {
    char digits[24];
    const size_t least = width < sizeof digits ? width : sizeof digits - 1;
    size_t at = sizeof digits;
    do {
        digits[--at] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v != 0 || sizeof digits - at < least);
    if (minus) {
        digits[--at] = '-';
    }
    error_unit(k, digits + at, sizeof digits - at);
}

typedef struct error_spec {
    unsigned width; /* zero-padded, hex only */
    int precision;  /* -1: none */
    unsigned longs; /* 0, 1, 2; 3 for size_t */
} error_spec;

static uint64_t error_unsigned(const error_spec *spec, va_list *args) {
    if (spec->longs == 0) {
        return va_arg(*args, unsigned);
    }
    if (spec->longs == 1) {
        return va_arg(*args, unsigned long);
    }
    return spec->longs == 2 ? va_arg(*args, unsigned long long) : va_arg(*args, size_t);
}

static int64_t error_signed(const error_spec *spec, va_list *args) {
    if (spec->longs == 0) {
        return va_arg(*args, int);
    }
    if (spec->longs == 1) {
        return va_arg(*args, long);
    }
    return spec->longs == 2 ? va_arg(*args, long long) : va_arg(*args, ptrdiff_t);
}

/* Reads what stands between % and the conversion letter; returns the letter's address. */
static const char *error_spec_read(const char *f, error_spec *spec, va_list *args) {
    *spec = (error_spec){.precision = -1};
    while (*f >= '0' && *f <= '9' && spec->width < 100) {
        spec->width = spec->width * 10 + (unsigned)(*f++ - '0');
    }
    if (*f == '.' && f[1] == '*') {
        spec->precision = va_arg(*args, int);
        f += 2;
    }
    if (*f == 'z') {
        spec->longs = 3;
        f++;
    } else {
        while (*f == 'l' && spec->longs < 2) {
            spec->longs++;
            f++;
        }
    }
    return f;
}

static void error_convert(error_sink *k, char letter, const error_spec *spec, va_list *args) {
    if (letter == 's') {
        const char *z = va_arg(*args, const char *);
        if (z == NULL) {
            z = "";
        }
        error_text(k, z, spec->precision >= 0 ? (size_t)spec->precision : il_str_of(z).n);
    } else if (letter == 'c') {
        const char c = (char)va_arg(*args, int);
        error_text(k, &c, 1);
    } else if (letter == 'd') {
        const int64_t v = error_signed(spec, args);
        error_number(k, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0, 10, 0);
    } else if (letter == 'u') {
        error_number(k, error_unsigned(spec, args), false, 10, 0);
    } else if (letter == 'x') {
        error_number(k, error_unsigned(spec, args), false, 16, spec->width);
    } else if (letter == '%') {
        error_unit(k, "%", 1);
    } else {
        k->full = true; /* an unknown conversion: the arguments cannot be walked any further */
    }
}

static size_t error_format(char *out, size_t cap, const char *fmt, va_list *args) {
    error_sink k = {out, cap, 0, false};
    const char *f = fmt;
    const char *end = fmt + il_str_of(fmt).n;
    while (*f != '\0' && !k.full) {
        if (*f == '%') {
            error_spec spec;
            f = error_spec_read(f + 1, &spec, args);
            if (*f == '\0') {
                break;
            }
            error_convert(&k, *f, &spec, args);
            f++;
        } else {
            const size_t run = error_run(&k, f, (size_t)(end - f), true);
            const size_t len = run > 0 ? run : il_utf8_length((const unsigned char *)f, (size_t)(end - f));
            error_unit(&k, f, len == 0 ? 1 : len);
            f += len == 0 ? 1 : len;
        }
    }
    if (cap > 0) {
        out[k.n] = '\0';
    }
    return k.n;
}

il_status(il_error_set)(il_error *err, il_status code, const char *fmt, ...) {
    if (err != NULL) {
        va_list args;
        va_start(args, fmt);
        err->code = code;
        (void)error_format(err->msg, sizeof err->msg, fmt, &args);
        va_end(args);
    }
    return code;
}

il_status(il_error_at)(il_error *err, il_status code, uint32_t line, uint32_t col, size_t offset, const char *fmt, ...) {
    if (err != NULL) {
        va_list args;
        va_start(args, fmt);
        err->code = code;
        err->line = line;
        err->col = col;
        err->span = 0;
        err->offset = offset;
        (void)error_format(err->msg, sizeof err->msg, fmt, &args);
        va_end(args);
    }
    return code;
}

size_t il_format_list(char *out, size_t cap, const char *fmt, va_list args) {
    va_list copy; /* a parameter of array type would not have the right address */
    va_copy(copy, args);
    const size_t n = error_format(out, cap, fmt, &copy);
    va_end(copy);
    return n;
}

size_t il_format(char *out, size_t cap, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const size_t n = error_format(out, cap, fmt, &args);
    va_end(args);
    return n;
}
