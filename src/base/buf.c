/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"

enum { BUF_FIRST = 256 };

void il_buf_init(il_buf *b, il_arena *arena, size_t max_bytes) { *b = (il_buf){.arena = arena, .max = max_bytes}; }

void il_buf_drain(il_buf *b, char *p, size_t cap, void (*drain)(void *ctx, const char *p, size_t n), void *ctx) {
    *b = (il_buf){.p = p, .cap = cap, .max = SIZE_MAX, .drain = drain, .ctx = ctx};
}

static void buf_flush(il_buf *b) {
    if (b->n > 0) {
        b->drain(b->ctx, b->p, b->n);
        b->n = 0;
    }
}

void il_buf_fail(il_buf *b, il_status why) {
    if (!b->failed) {
        b->failed = true;
        b->why = why;
    }
}

/* A larger area that holds `need` bytes: in place when the arena's end is ours, else a copy. */
static bool buf_move(il_buf *b, size_t size) {
    if (il_arena_extend(b->arena, b->p, b->cap, size)) {
        b->cap = size;
        return true;
    }
    char *p = il_arena_bytes(b->arena, size);
    if (p == NULL) {
        return false;
    }
    if (b->n > 0) {
        memcpy(p, b->p, b->n);
    }
    b->p = p;
    b->cap = size;
    return true;
}

char *il_buf_room_more(il_buf *b, size_t more) {
    size_t need;
    if (b->failed) {
        return NULL;
    }
    if (b->drain != NULL && more > b->cap - b->n) {
        buf_flush(b);
        if (more > b->cap) {
            il_buf_fail(b, IL_E_LIMIT);
            return NULL;
        }
    }
    if (__builtin_add_overflow(b->n, more, &need) || need > b->max) {
        il_buf_fail(b, IL_E_LIMIT);
        return NULL;
    }
    if (need > b->cap) {
        size_t size = b->cap == 0 ? BUF_FIRST : b->cap > SIZE_MAX / 2 ? SIZE_MAX : b->cap * 2;
        if (size > b->max) {
            size = b->max;
        }
        if (size < need) {
            size = need;
        }
        /* Doubling may pass the arena's cap where the exact size still fits. */
        if (!buf_move(b, size) && (size == need || !buf_move(b, need))) {
            il_buf_fail(b, il_arena_fail(b->arena, NULL));
            return NULL;
        }
    }
    return b->p + b->n;
}

void il_buf_put_more(il_buf *b, il_str s) {
    if (s.n == 0) {
        return;
    }
    if (b->drain != NULL && !b->failed && s.n > b->cap) {
        buf_flush(b);
        b->drain(b->ctx, s.p, s.n);
        return;
    }
    char *to = il_buf_room(b, s.n);
    if (to != NULL) {
        memcpy(to, s.p, s.n);
        b->n += s.n;
    }
}

void il_buf_puts(il_buf *b, const char *z) { il_buf_put(b, il_str_of(z)); }

void il_buf_putu(il_buf *b, uint64_t v) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v != 0);
    il_buf_put(b, (il_str){digits + at, sizeof digits - at});
}

void il_buf_puti(il_buf *b, int64_t v) {
    if (v < 0) {
        il_buf_putc(b, '-');
    }
    il_buf_putu(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void il_buf_hex(il_buf *b, const void *p, size_t n) {
    const unsigned char *from = p;
    char *to = n > 0 && n <= SIZE_MAX / 2 ? il_buf_room(b, 2 * n) : NULL;
    if (to == NULL) {
        if (n > 0) {
            il_buf_fail(b, IL_E_LIMIT);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        to[2 * i] = "0123456789abcdef"[from[i] >> 4];
        to[2 * i + 1] = "0123456789abcdef"[from[i] & 15];
    }
    b->n += 2 * n;
}

static void buf_little(il_buf *b, uint64_t v, size_t bytes) {
    char *to = il_buf_room(b, bytes);
    if (to == NULL) {
        return;
    }
    for (size_t i = 0; i < bytes; i++) {
        to[i] = (char)(unsigned char)(v >> (8 * i));
    }
    b->n += bytes;
}

void il_buf_u8(il_buf *b, uint8_t v) { buf_little(b, v, 1); }

void il_buf_u16(il_buf *b, uint16_t v) { buf_little(b, v, 2); }

void il_buf_u32(il_buf *b, uint32_t v) { buf_little(b, v, 4); }

void il_buf_u64(il_buf *b, uint64_t v) { buf_little(b, v, 8); }

il_status il_buf_done(il_buf *b, il_str *out, il_error *err) {
    if (b->failed) {
        *out = (il_str){NULL, 0};
        if (b->why == IL_E_MEMORY) {
            return il_error_set(err, IL_E_MEMORY, "out of memory");
        }
        if (b->why == IL_E_LIMIT) {
            return il_error_set(err, IL_E_LIMIT, "the text to be written passes a size or depth limit");
        }
        return il_error_set(err, b->why, "the value cannot be written");
    }
    *out = (il_str){b->p == NULL ? "" : b->p, b->n};
    return IL_OK;
}

il_status il_buf_drained(il_buf *b, il_error *err) {
    il_str rest;
    IL_TRY(il_buf_done(b, &rest, err));
    buf_flush(b);
    return IL_OK;
}

il_str il_cursor_bytes(il_cursor *c, size_t n) {
    if (c->failed || n > c->n - c->at) {
        c->failed = true;
        return (il_str){NULL, 0};
    }
    const il_str s = {(const char *)c->p + c->at, n};
    c->at += n;
    return s;
}
