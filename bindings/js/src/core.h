/* SPDX-License-Identifier: Apache-2.0 */
/* The core as JavaScript calls it: one instance of the module is one gate. It imports nothing, so it cannot ask for anything: time, randomness and stored objects are given
 * before a call, and what a call wants beside them is said afterwards (`wanted`), to be given before the same call is made again. Nothing is stored by it: the commits of a
 * call wait in `box`, and the caller acts on the answer only when his store has taken them.
 *
 * A request is a run of parts at iljs_in(), each a u32 length and that many bytes, the last call's are overwritten; an answer is a run of u32, u64, f64 and such parts at `out`.
 * All numbers are little-endian. A function that returns an il_status other than IL_OK has left the error in `out`. One thread. */
#pragma once
#include "interlock/ledger.h"
#include "interlock/monitor.h"

/* Bytes that grow; `lost` when there was no memory, and then nothing in it counts. */
typedef struct iljs_bytes {
    uint8_t *p;
    size_t n, cap;
    bool lost;
} iljs_bytes;
void iljs_put(iljs_bytes *b, const void *p, size_t n);
void iljs_put_u32(iljs_bytes *b, uint32_t v);
void iljs_put_u64(iljs_bytes *b, uint64_t v);
void iljs_put_str(iljs_bytes *b, il_str s);
void iljs_put_text(iljs_bytes *b, const char *s); /* NUL-terminated */

#define ILJS_RANDOM 4096u
#define ILJS_WANTED 160u

/* What JavaScript reads by place (host.js): keep the order. */
typedef struct iljs_state {
    const uint8_t *out, *box;
    uint32_t nout, nbox;
    uint32_t commits;     /* in the box */
    uint32_t random_left; /* fill `random` from its beginning when this is low */
    uint32_t wanted;      /* 1: the last call lacked the object (or preset) named below, and its answer is void */
    uint32_t nspace, nkey;
    char space[16], key[ILJS_WANTED];
    uint8_t random[ILJS_RANDOM];
} iljs_state;

extern const il_alloc iljs_alloc;
il_host iljs_host(void);

/* Begins a call: `n` bytes of request, the wall clock. */
void iljs_open(size_t n, double now_ms);
il_str iljs_part(void);     /* the next part of the request; empty behind the last */
uint32_t iljs_number(void); /* the next part as a number of four bytes */
iljs_bytes *iljs_out(void);
iljs_bytes *iljs_box(void);
iljs_state *iljs_now(void);
void iljs_want(il_str space, il_str key);
/* Ends a call: the status, with the error as the answer where it failed. */
il_status iljs_done(il_status s, const il_error *err);
bool iljs_eq(il_str a, il_str b);
/* A document from a part; empty: NULL and IL_OK. */
IL_NODISCARD il_status iljs_doc(il_str text, il_json_doc **out, il_error *err);

il_store iljs_store(void);
const il_recall_cache *iljs_recalls(void);

/* The labels of a call from `[{"path","sources":[…]|null,"agents":[…],"endorsed":[{"kind","by","digest"}]}]`. Freed with iljs_labels_free, also after a failure. */
typedef struct iljs_labels {
    il_origin_at *list;
    size_t n;
} iljs_labels;
IL_NODISCARD il_status iljs_labels_new(const il_json *all, iljs_labels *out, il_error *err);
void iljs_labels_free(iljs_labels *l);

void *malloc(size_t n);
void free(void *p);
