/* SPDX-License-Identifier: Apache-2.0 */
/* A growing byte buffer inside an arena, for writers. A failed write sticks: later writes do nothing and il_buf_done reports it,
 * so a writer is checked once, at its end, and half a text is never used. */
#pragma once
#include "base/arena.h"
#include "base/mem.h"

typedef struct il_buf {
    il_arena *arena;
    char *p;
    size_t n, cap, max; /* bytes used, allocated, and the most that may be used */
    bool failed;
    il_status why; /* of the first failure */
    void (*drain)(void *ctx, const char *p, size_t n);
    void *ctx;
} il_buf;

void il_buf_init(il_buf *b, il_arena *arena, size_t max_bytes);
/* A buffer that keeps nothing: whenever the `cap` bytes at `p` are full, and at il_buf_drained, what they hold goes to `drain`. Room for more than
 * `cap` bytes at once is IL_E_LIMIT; il_buf_put takes any. */
void il_buf_drain(il_buf *b, char *p, size_t cap, void (*drain)(void *ctx, const char *p, size_t n), void *ctx);
/* The rest goes to `drain`; the first failure, as il_buf_done. */
IL_NODISCARD il_status il_buf_drained(il_buf *b, il_error *err);
/* Room for `more` bytes at the end (the caller writes them and adds to n), or NULL once failed. */
char *il_buf_room_more(il_buf *b, size_t more); /* il_buf_room where there is none yet */
static inline char *il_buf_room(il_buf *b, size_t more) {
    return b->failed || more > b->cap - b->n ? il_buf_room_more(b, more) : b->p + b->n;
}
/* Makes the buffer fail from outside: what is being written cannot be. The first reason stays. */
void il_buf_fail(il_buf *b, il_status why);
void il_buf_put_more(il_buf *b, il_str s); /* il_buf_put where there is no room yet */
static inline void il_buf_put(il_buf *b, il_str s) {
    if (b->failed || s.n > b->cap - b->n) {
        il_buf_put_more(b, s);
    } else if (s.n > 0) {
        memcpy(b->p + b->n, s.p, s.n);
        b->n += s.n;
    }
}
static inline void il_buf_putc(il_buf *b, char c) { il_buf_put(b, (il_str){&c, 1}); }
void il_buf_puts(il_buf *b, const char *z);
void il_buf_putu(il_buf *b, uint64_t v);             /* decimal */
void il_buf_puti(il_buf *b, int64_t v);              /* decimal */
void il_buf_hex(il_buf *b, const void *p, size_t n); /* lower case */
void il_buf_u8(il_buf *b, uint8_t v);
void il_buf_u16(il_buf *b, uint16_t v); /* little-endian */
void il_buf_u32(il_buf *b, uint32_t v);
void il_buf_u64(il_buf *b, uint64_t v);
/* The bytes written (borrowed from the arena), or the first failure: IL_E_LIMIT, IL_E_MEMORY, or what il_buf_fail was told. */
IL_NODISCARD il_status il_buf_done(il_buf *b, il_str *out, il_error *err);

/* The reader for what the little-endian writers wrote. A read past the end sets `failed` and returns 0. */
typedef struct il_cursor {
    const uint8_t *p;
    size_t n, at;
    bool failed;
} il_cursor;
static inline uint64_t il_cursor_little(il_cursor *c, size_t bytes) {
    if (c->failed || bytes > c->n - c->at) {
        c->failed = true;
        return 0;
    }
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; i++) {
        v |= (uint64_t)c->p[c->at + i] << (8 * i);
    }
    c->at += bytes;
    return v;
}
static inline uint8_t il_cursor_u8(il_cursor *c) {
    if (c->failed || c->at == c->n) {
        c->failed = true;
        return 0;
    }
    return c->p[c->at++];
}
static inline uint16_t il_cursor_u16(il_cursor *c) { return (uint16_t)il_cursor_little(c, 2); }
static inline uint32_t il_cursor_u32(il_cursor *c) { return (uint32_t)il_cursor_little(c, 4); }
static inline uint64_t il_cursor_u64(il_cursor *c) { return il_cursor_little(c, 8); }

il_str il_cursor_bytes(il_cursor *c, size_t n);
