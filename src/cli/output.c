/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <inttypes.h>
#include <time.h>

#include "base/utf8.h"
#include "interlock/host.h"
#include "interlock/monitor.h"

static uint32_t output_code_point(const unsigned char *p, size_t n) {
    static const unsigned char lead[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = p[0] & lead[n];
    for (size_t i = 1; i < n; i++) {
        c = c << 6 | (p[i] & 0x3fu);
    }
    return c;
}

/* Characters that steer a terminal or hide, reorder or join text (Unicode: Cc, and the Cf that change how a line reads). */
static bool output_unsafe(uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || c == 0x180e || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
           (c >= 0xe0000 && c <= 0xe0fff);
}

/* Returns the columns used; writes nothing when `to` is NULL. */
static size_t output_text(FILE *to, il_str s) {
    size_t columns = 0;
    for (size_t i = 0; i < s.n;) {
        const unsigned char *p = (const unsigned char *)s.p + i;
        const size_t n = il_utf8_length(p, s.n - i);
        char escape[16];
        if (n == 0) {
            columns += il_format(escape, sizeof escape, "\\x%02x", (unsigned)*p);
            i++;
        } else if (output_unsafe(output_code_point(p, n))) {
            columns += il_format(escape, sizeof escape, "\\u{%x}", (unsigned)output_code_point(p, n));
            i += n;
        } else {
            columns++;
            i += n;
            if (to) {
                (void)fwrite(p, 1, n, to);
            }
            continue;
        }
        if (to) {
            (void)fputs(escape, to);
        }
    }
    return columns;
}

void il_put_text(FILE *to, il_str s) { (void)output_text(to, s); }

void il_put_cell(FILE *to, il_str s, size_t columns) {
    for (size_t used = output_text(to, s); used < columns; used++) {
        (void)fputc(' ', to);
    }
}

void il_put_time(FILE *to, uint64_t ms) {
    const time_t seconds = (time_t)(ms / 1000);
    struct tm t;
    char text[32];
    if (!gmtime_r(&seconds, &t) || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &t) == 0) {
        (void)fprintf(to, "%" PRIu64 "ms", ms);
        return;
    }
    (void)fprintf(to, "%s.%03uZ", text, (unsigned)(ms % 1000));
}

il_status il_put_json(FILE *to, const il_json *v, il_error *err) {
    const il_alloc *alloc = il_host_alloc();
    char *text = NULL;
    size_t n = 0;
    if (!v) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    IL_TRY(il_json_text_new(alloc, v, IL_JSON_AS_READ, &text, &n, err));
    const bool written = fwrite(text, 1, n, to) == n && fputc('\n', to) != EOF;
    alloc->free(alloc->ctx, text);
    return written ? IL_OK : il_error_set(err, IL_E_IO, "cannot write the output");
}

void il_put_effects_cell(FILE *to, uint32_t effects, size_t columns) {
    char text[64];
    size_t n = 0;
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        if (effects & UINT32_C(1) << i) {
            n += il_format(text + n, sizeof text - n, "%s%.*s", n ? " " : "", IL_STR_ARG(il_effect_name(UINT32_C(1) << i)));
        }
    }
    il_put_cell(to, n ? (il_str){text, n} : IL_STR("-"), columns);
}

void il_put_effects(FILE *to, uint32_t effects) { il_put_effects_cell(to, effects, 0); }

il_json *il_json_effects(il_arena *arena, uint32_t effects) {
    il_json *list = il_json_make(arena, IL_JSON_ARRAY);
    for (uint32_t i = 0; i < IL_EFFECTS && list; i++) {
        if ((effects & UINT32_C(1) << i) && !il_json_push(list, il_json_string(arena, il_effect_name(UINT32_C(1) << i)))) {
            return NULL;
        }
    }
    return list;
}

il_exit il_exit_of(il_status status) {
    switch (status) {
    case IL_OK:
        return IL_EXIT_FINE;
    case IL_E_MEMORY:
    case IL_E_BUSY:
    case IL_E_CONFLICT:
    case IL_E_IO:
    case IL_E_INTERNAL:
        return IL_EXIT_INTERNAL;
    case IL_E_ARGUMENT:
    case IL_E_LIMIT:
    case IL_E_SYNTAX:
    case IL_E_INVALID:
    case IL_E_NOT_FOUND:
    case IL_E_EXISTS:
    case IL_E_SEAL:
    case IL_E_MISMATCH:
    case IL_E_STATE:
    case IL_E_DAMAGED:
    case IL_E_PERMISSION:
    case IL_E_VERSION:
        return IL_EXIT_USAGE;
    }
    return IL_EXIT_INTERNAL;
}

il_exit il_fail(const char *file, const il_error *err) {
    if (file) {
        il_put_text(stderr, il_str_of(file));
        if (err->line) {
            (void)fprintf(stderr, ":%" PRIu32, err->line);
            if (err->col) {
                (void)fprintf(stderr, ":%" PRIu32, err->col);
            }
        }
    } else {
        (void)fputs("interlock", stderr);
    }
    (void)fputs(": error: ", stderr);
    il_put_text(stderr, il_str_of(err->msg));
    (void)fputc('\n', stderr);
    return il_exit_of(err->code);
}

il_exit il_fail_usage(const char *command, const il_error *err) {
    (void)fprintf(stderr, "interlock %s: ", command);
    il_put_text(stderr, il_str_of(err->msg));
    (void)fprintf(stderr, "\n(`interlock %s --help` shows how it is used)\n", command);
    return IL_EXIT_USAGE;
}

il_exit il_usage(const char *command, const char *fmt, ...) {
    il_error err = {.code = IL_E_INVALID};
    char text[IL_ERROR_MSG_BYTES];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)il_error_set(&err, IL_E_INVALID, "%s", text);
    return il_fail_usage(command, &err);
}
