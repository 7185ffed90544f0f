/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/error.h"
#include "base/mem.h"

enum { ARENA_FIRST_BLOCK = 4096, ARENA_LARGEST_STEP = 1 << 20 };

struct il_arena_block {
    il_arena_block *next; /* older */
    size_t size, used;    /* of data */
    _Alignas(max_align_t) unsigned char data[];
};

void il_arena_init(il_arena *a, const il_alloc *alloc, size_t cap_bytes) {
    *a = (il_arena){.alloc = alloc, .cap = cap_bytes, .first = ARENA_FIRST_BLOCK};
}

void il_arena_expect(il_arena *a, size_t bytes) { a->first = bytes; }

/* A new block of at least `need` bytes. Blocks double, but not beyond what the cap still allows: a small cap means little memory. */
static bool arena_grow(il_arena *a, size_t need) {
    size_t size = a->head == NULL ? a->first : a->head->size * 2;
    if (size > ARENA_LARGEST_STEP) {
        size = ARENA_LARGEST_STEP;
    }
    if (size > a->cap - a->used) {
        size = a->cap - a->used;
    }
    if (size < need) {
        size = need;
    }
    size_t whole;
    if (__builtin_add_overflow(size, sizeof(il_arena_block), &whole)) {
        return false;
    }
    il_arena_block *b = a->alloc->alloc(a->alloc->ctx, whole);
    if (b == NULL) {
        return false;
    }
    b->next = a->head;
    b->size = size;
    b->used = 0;
    a->head = b;
    return true;
}

/* `align` is a power of two and at most that of max_align_t. Padding counts toward the cap: the cap is there to bound memory. */
static void *arena_take(il_arena *a, size_t n, size_t align) {
    a->capped = false;
    size_t pad = 0;
    if (a->head != NULL) {
        pad = (0 - a->head->used) & (align - 1);
    }
    if (a->head == NULL || n > a->head->size - a->head->used || pad > a->head->size - a->head->used - n) {
        pad = 0;
        if (n > a->cap - a->used) {
            a->capped = true;
            return NULL;
        }
        if (!arena_grow(a, n)) {
            return NULL;
        }
    }
    if (n > a->cap - a->used || pad > a->cap - a->used - n) {
        a->capped = true;
        return NULL;
    }
    unsigned char *p = a->head->data + a->head->used + pad;
    a->head->used += pad + n;
    a->used += pad + n;
    return p;
}

/* An empty request still costs a byte, so that any number of them ends at the cap and each has its own address. */
void *il_arena_raw(il_arena *a, size_t n) { return arena_take(a, n == 0 ? 1 : n, _Alignof(max_align_t)); }

void *il_arena_get(il_arena *a, size_t n) {
    void *p = il_arena_raw(a, n);
    if (p != NULL) {
        memset(p, 0, n);
    }
    return p;
}

void *il_arena_array(il_arena *a, size_t count, size_t size) {
    size_t n;
    if (__builtin_mul_overflow(count, size, &n)) {
        a->capped = true;
        return NULL;
    }
    return il_arena_get(a, n);
}

char *il_arena_bytes(il_arena *a, size_t n) { return arena_take(a, n == 0 ? 1 : n, 1); }

bool il_arena_extend(il_arena *a, const void *p, size_t old_n, size_t new_n) {
    il_arena_block *b = a->head;
    if (b == NULL || p == NULL || new_n < old_n || old_n > b->used || (const unsigned char *)p != b->data + (b->used - old_n)) {
        return false;
    }
    const size_t more = new_n - old_n;
    if (more > b->size - b->used || more > a->cap - a->used) {
        return false;
    }
    b->used += more;
    a->used += more;
    return true;
}

il_status il_arena_copy(il_arena *a, il_str s, il_str *out, il_error *err) {
    size_t n;
    *out = (il_str){NULL, 0};
    if (__builtin_add_overflow(s.n, (size_t)1, &n)) {
        a->capped = true;
        return il_arena_fail(a, err);
    }
    char *p = il_arena_bytes(a, n);
    if (p == NULL) {
        return il_arena_fail(a, err);
    }
    if (s.n > 0) {
        memcpy(p, s.p, s.n);
    }
    p[s.n] = '\0';
    *out = (il_str){p, s.n};
    return IL_OK;
}

il_status(il_arena_fail)(const il_arena *a, il_error *err) {
    if (a->capped) {
        return il_error_set(err, IL_E_LIMIT, "more than %zu bytes of memory would be needed", a->cap);
    }
    return il_error_set(err, IL_E_MEMORY, "out of memory");
}

/* Keeps the largest block, but none that was made for one large request: a single message must not make a program large for the rest of its life. */
void il_arena_reset(il_arena *a) {
    il_arena_block *keep = NULL;
    for (il_arena_block *b = a->head; b != NULL; b = b->next) {
        if (b->size <= ARENA_LARGEST_STEP && (keep == NULL || b->size > keep->size)) {
            keep = b;
        }
    }
    for (il_arena_block *b = a->head; b != NULL;) {
        il_arena_block *next = b->next;
        if (b != keep) {
            a->alloc->free(a->alloc->ctx, b);
        }
        b = next;
    }
    if (keep != NULL) {
        keep->next = NULL;
        keep->used = 0;
    }
    a->head = keep;
    a->used = 0;
    a->capped = false;
}

void il_arena_free(il_arena *a) {
    for (il_arena_block *b = a->head; b != NULL;) {
        il_arena_block *next = b->next;
        a->alloc->free(a->alloc->ctx, b);
        b = next;
    }
    a->head = NULL;
    a->used = 0;
    a->capped = false;
}

il_arena *il_arena_new(const il_alloc *alloc, size_t cap_bytes) {
    il_arena *a = alloc->alloc(alloc->ctx, sizeof *a);
    if (a != NULL) {
        il_arena_init(a, alloc, cap_bytes);
    }
    return a;
}

void il_arena_delete(il_arena *a) {
    if (a != NULL) {
        const il_alloc *alloc = a->alloc;
        il_arena_free(a);
        alloc->free(alloc->ctx, a);
    }
}
