/* SPDX-License-Identifier: Apache-2.0 */
/* The content index with texts from anywhere, in parts that a NUL NUL divides: all but the last are texts of sources 1, 2, .., the last is asked for. What is found lies in the
 * query and is of a source that there is; the set of sources is that of the hits; a text is found by itself, by its second half, and by its base64; a
 * digest is the same bytes each time; one that is damaged is refused or is another digest; and all that with little room for texts. */
#include "fuzz.h"
#include "provenance/index.h"

enum { FUZZ_TEXTS = 6, FUZZ_CAP = 1 << 26 };

static const il_alloc fuzz_memory = {fuzz_get, fuzz_put, NULL};

static il_str fuzz_digest(il_arena *arena, il_str text, il_str *kept) {
    il_buf b;
    il_str out = {NULL, 0};
    il_buf_init(&b, arena, FUZZ_CAP);
    FUZZ_CHECK(il_index_digest(text, &b, kept, NULL) == IL_OK && il_buf_done(&b, &out, NULL) == IL_OK);
    return out;
}

static bool fuzz_every(void *ctx, uint32_t source) {
    (void)ctx;
    FUZZ_CHECK(source >= 1 && source <= FUZZ_TEXTS);
    return true;
}

/* Asks all three questions; whether `source` is found. */
static bool fuzz_ask(const il_index *x, il_str query, il_arena *arena, uint32_t source) {
    il_index_hits h;
    uint64_t set = 0, bits[1];
    bool more, named;
    FUZZ_CHECK(il_index_find(x, query, arena, &h, NULL) == IL_OK);
    for (size_t i = 0; i < h.n; i++) {
        const il_index_hit *hit = &h.list[i];
        FUZZ_CHECK(hit->source >= 1 && hit->source <= FUZZ_TEXTS && hit->n > 0 && hit->at <= query.n &&
                   hit->n <= query.n - hit->at);
        FUZZ_CHECK(i == 0 || h.list[i - 1].source <= hit->source);
        set |= UINT64_C(1) << hit->source;
    }
    FUZZ_CHECK(il_index_groups(x, query, arena, bits, 64, &more, NULL) == IL_OK);
    FUZZ_CHECK(more || h.more || bits[0] == set);
    FUZZ_CHECK(il_index_names(x, query, fuzz_every, NULL, &named, NULL) == IL_OK);
    return more || h.more || (set >> source & 1) != 0;
}

/* Twelve visible ASCII characters in one piece: whatever else is in the text, they are a run. */
static bool fuzz_run(il_str s) {
    size_t n = 0;
    for (size_t i = 0; i < s.n && n < IL_INDEX_RUN; i++) {
        n = s.p[i] > ' ' && s.p[i] < 0x7f && s.p[i] != '+' ? n + 1 : 0;
    }
    return n >= IL_INDEX_RUN;
}

static il_str fuzz_base64(il_str s, char *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    for (size_t i = 0; i + 3 <= s.n; i += 3) {
        const uint32_t v =
            (uint32_t)(unsigned char)s.p[i] << 16 | (uint32_t)(unsigned char)s.p[i + 1] << 8 | (unsigned char)s.p[i + 2];
        for (unsigned k = 0; k < 4; k++) {
            out[n++] = digits[v >> (18 - 6 * k) & 63];
        }
    }
    return (il_str){out, n};
}

static void fuzz_found(const il_index *x, il_str text, il_arena *arena, uint32_t source) {
    char encoded[512];
    const il_str half = {text.p + text.n / 2, text.n - text.n / 2};
    if (fuzz_run(text)) {
        FUZZ_CHECK(fuzz_ask(x, text, arena, source));
    }
    if (fuzz_run(half)) {
        FUZZ_CHECK(fuzz_ask(x, half, arena, source));
        const il_str blob = fuzz_base64((il_str){half.p, half.n < 300 ? half.n / 3 * 3 : 300}, encoded);
        if (fuzz_run((il_str){half.p, half.n < 300 ? half.n / 3 * 3 : 300})) {
            FUZZ_CHECK(fuzz_ask(x, blob, arena, source));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    il_arena arena;
    il_index *x = NULL, *small = NULL, *bad = NULL;
    const il_index_limits limits = {.size = sizeof limits, .text_bytes = 200, .index_bytes = 60000};
    uint32_t n = 0;
    il_arena_init(&arena, &fuzz_memory, FUZZ_CAP);
    FUZZ_CHECK(il_index_new(&fuzz_memory, NULL, &x, NULL) == IL_OK &&
               il_index_new(&fuzz_memory, &limits, &small, NULL) == IL_OK &&
               il_index_new(&fuzz_memory, NULL, &bad, NULL) == IL_OK);
    il_str rest = {(const char *)data, size};
    for (size_t end = 0; n < FUZZ_TEXTS && end + 1 < rest.n; end++) {
        if (rest.p[end] != 0 || rest.p[end + 1] != 0) {
            continue;
        }
        const il_str text = {rest.p, end};
        il_str kept;
        const il_str digest = fuzz_digest(&arena, text, &kept), again = fuzz_digest(&arena, text, NULL);
        FUZZ_CHECK(digest.n == again.n && memcmp(digest.p, again.p, digest.n) == 0);
        n++;
        FUZZ_CHECK(il_index_add(x, n, n, digest, kept, NULL) == IL_OK && il_index_add(small, n, n, digest, kept, NULL) == IL_OK);
        char *damaged = il_arena_bytes(&arena, digest.n + 1);
        FUZZ_CHECK(damaged != NULL);
        memcpy(damaged, digest.p, digest.n);
        damaged[end % digest.n] = (char)(damaged[end % digest.n] ^ (1 << end % 8));
        const il_status s = il_index_add(bad, n, n, (il_str){damaged, digest.n}, (il_str){NULL, 0}, NULL);
        FUZZ_CHECK(s == IL_OK || s == IL_E_DAMAGED);
        fuzz_found(x, text, &arena, n);
        rest = (il_str){rest.p + end + 2, rest.n - end - 2};
        end = 0;
    }
    (void)fuzz_ask(x, rest, &arena, 1);
    (void)fuzz_ask(small, rest, &arena, 1);
    (void)fuzz_ask(bad, rest, &arena, 1);
    il_index_free(x);
    il_index_free(small);
    il_index_free(bad);
    il_arena_free(&arena);
    return 0;
}
