/* SPDX-License-Identifier: Apache-2.0 */
#include "exports.h"

#define ILJS_BYTES ((size_t)64 << 20) /* of one document */
#define ILJS_DEPTH 66u

static struct {
    iljs_bytes in, out, box;
    size_t at, n; /* of the request */
    uint64_t now_ms;
    iljs_state state;
} host;

static void *host_alloc(void *ctx, size_t n) {
    (void)ctx;
    return malloc(n);
}

static void host_free(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

const il_alloc iljs_alloc = {host_alloc, host_free, NULL};

static bool host_now(void *ctx, uint64_t *out) {
    (void)ctx;
    *out = host.now_ms;
    return host.now_ms != 0;
}

/* Each byte is given once. */
static bool host_random(void *ctx, void *out, size_t n) {
    (void)ctx;
    if (n > host.state.random_left) {
        return false;
    }
    uint8_t *from = host.state.random + (ILJS_RANDOM - host.state.random_left);
    __builtin_memcpy(out, from, n);
    __builtin_memset(from, 0, n);
    host.state.random_left -= (uint32_t)n;
    return true;
}

il_host iljs_host(void) { return (il_host){.size = sizeof(il_host), .now_ms = host_now, .random = host_random}; }

/* ---- bytes ------------------------------------------------------------------------------------------ */

static bool host_room(iljs_bytes *b, size_t n) {
    if (n <= b->cap - b->n) {
        return true;
    }
    size_t cap = b->cap < 4096 ? 4096 : b->cap;
    while (cap - b->n < n && cap <= SIZE_MAX / 4) {
        cap *= 2;
    }
    uint8_t *p = cap - b->n >= n ? malloc(cap) : NULL;
    if (p == NULL) {
        return false;
    }
    if (b->n > 0) {
        __builtin_memcpy(p, b->p, b->n);
    }
    free(b->p);
    b->p = p;
    b->cap = cap;
    return true;
}

void iljs_put(iljs_bytes *b, const void *p, size_t n) {
    if (b->lost || !host_room(b, n)) {
        b->lost = true;
        return;
    }
    if (n > 0) {
        __builtin_memcpy(b->p + b->n, p, n);
    }
    b->n += n;
}

void iljs_put_u32(iljs_bytes *b, uint32_t v) { iljs_put(b, &v, sizeof v); }
void iljs_put_u64(iljs_bytes *b, uint64_t v) { iljs_put(b, &v, sizeof v); }

void iljs_put_str(iljs_bytes *b, il_str s) {
    iljs_put_u32(b, (uint32_t)s.n);
    iljs_put(b, s.p, s.n);
}

void iljs_put_text(iljs_bytes *b, const char *s) { iljs_put_str(b, (il_str){s, __builtin_strlen(s)}); }

bool iljs_eq(il_str a, il_str b) { return a.n == b.n && (a.n == 0 || __builtin_memcmp(a.p, b.p, a.n) == 0); }

/* ---- a call ------------------------------------------------------------------------------------------- */

uint8_t *iljs_in(size_t n) {
    host.in.n = 0;
    return host_room(&host.in, n) ? host.in.p : NULL;
}

const iljs_state *iljs_state_at(void) { return &host.state; }

void iljs_refill(void) { host.state.random_left = ILJS_RANDOM; }

void iljs_open(size_t n, double now_ms) {
    host.at = 0;
    host.n = n <= host.in.cap ? n : 0;
    host.now_ms = now_ms >= 1 && now_ms < 4503599627370496.0 ? (uint64_t)now_ms : 0;
    host.out.n = 0;
    host.out.lost = false;
    host.box.n = 0;
    host.box.lost = false;
    host.state.commits = 0;
    host.state.wanted = 0;
}

il_str iljs_part(void) {
    uint32_t n = 0;
    if (host.n - host.at < sizeof n) {
        return (il_str){0};
    }
    __builtin_memcpy(&n, host.in.p + host.at, sizeof n);
    host.at += sizeof n;
    n = n <= host.n - host.at ? n : 0;
    const il_str part = {(const char *)host.in.p + host.at, n};
    host.at += n;
    return part;
}

uint32_t iljs_number(void) {
    const il_str part = iljs_part();
    uint32_t v = 0;
    if (part.n == sizeof v) {
        __builtin_memcpy(&v, part.p, sizeof v);
    }
    return v;
}

iljs_bytes *iljs_out(void) { return &host.out; }
iljs_bytes *iljs_box(void) { return &host.box; }
iljs_state *iljs_now(void) { return &host.state; }

void iljs_want(il_str space, il_str key) {
    iljs_state *s = &host.state;
    if (s->wanted == 0 && space.n <= sizeof s->space && key.n <= sizeof s->key) {
        s->wanted = 1;
        s->nspace = (uint32_t)space.n;
        s->nkey = (uint32_t)key.n;
        __builtin_memcpy(s->space, space.p, space.n);
        __builtin_memcpy(s->key, key.p, key.n);
    }
}

il_status iljs_done(il_status s, const il_error *err) {
    if (s == IL_OK && (host.out.lost || host.box.lost)) {
        s = IL_E_MEMORY;
        err = NULL;
    }
    if (s != IL_OK) {
        host.out.n = 0;
        host.out.lost = false;
        iljs_put_u32(&host.out, (uint32_t)s);
        iljs_put_u32(&host.out, err != NULL ? err->line : 0);
        iljs_put_u32(&host.out, err != NULL ? err->col : 0);
        iljs_put_u32(&host.out, err != NULL ? err->span : 0);
        iljs_put_text(&host.out, err != NULL && err->msg[0] != '\0' ? err->msg : il_status_name(s));
    }
    host.state.out = host.out.p;
    host.state.nout = host.out.lost ? 0 : (uint32_t)host.out.n;
    host.state.box = host.box.p;
    host.state.nbox = (uint32_t)host.box.n;
    return s;
}

il_status iljs_doc(il_str text, il_json_doc **out, il_error *err) {
    static const il_json_limits limits = {.size = sizeof limits, .bytes = ILJS_BYTES, .depth = ILJS_DEPTH};
    *out = NULL;
    return text.n == 0 ? IL_OK : il_json_doc_new(&iljs_alloc, text, &limits, out, err);
}

il_status iljs_version(void) {
    iljs_open(0, 0);
    iljs_put_text(&host.out, il_version());
    return iljs_done(IL_OK, NULL);
}
