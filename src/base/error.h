/* SPDX-License-Identifier: Apache-2.0 */
/* Filling an il_error, and the two macros for passing failures on. */
#pragma once
#include "interlock/base.h"

/* Fills *err (when not NULL) and returns `code`. The format is a small subset of printf: %s, %.*s, %c, %%, %d, %u
 * and %x with l, ll or z (%x also zero-padded: %04x; %.*s takes exactly so many bytes, NUL included), so that the core stays free of stdio. Control characters (C0, DEL, C1) and bytes of
 * inserted text that are not UTF-8 are written as \xNN; what does not fit is cut at a code point. Position: line, col and offset are left as the caller set them. */
IL_PRINTF(3, 4) il_status il_error_set(il_error *err, il_status code, const char *fmt, ...);

/* As il_error_set, with a position (line and col from 1, offset in bytes) and no span. */
IL_PRINTF(6, 7)
il_status il_error_at(il_error *err, il_status code, uint32_t line, uint32_t col, size_t offset, const char *fmt, ...);

/* The caller sees a failure's code as what it is, not as what another file returns: so a compiler or analyzer can tell that an output of a
 * failed call is never used. `code` is evaluated twice. */
#define il_error_set(err, code, ...) ((void)(il_error_set)((err), (code), __VA_ARGS__), (il_status)(code))
#define il_error_at(err, code, line, col, offset, ...) \
    ((void)(il_error_at)((err), (code), (line), (col), (offset), __VA_ARGS__), (il_status)(code))

/* The same small formatter into a caller's buffer; returns the bytes written without the NUL. */
IL_PRINTF(3, 4) size_t il_format(char *out, size_t cap, const char *fmt, ...);
/* As il_format, for functions that pass a format on. */
IL_PRINTF(3, 0) size_t il_format_list(char *out, size_t cap, const char *fmt, va_list args);

#define IL_TRY(expr)                       \
    do {                                   \
        il_status il_try_status_ = (expr); \
        if (il_try_status_ != IL_OK) {     \
            return il_try_status_;         \
        }                                  \
    } while (0)

/* For invariants of our own: input is never judged with it. */
#define IL_CHECK(cond, err)                                                           \
    do {                                                                              \
        if (!(cond)) {                                                                \
            return il_error_set((err), IL_E_INTERNAL, "broken invariant: %s", #cond); \
        }                                                                             \
    } while (0)
