/* SPDX-License-Identifier: Apache-2.0 */
/* What the content index costs: one `name value unit` a line. Texts are results of 10 KB and 100 KB in turn, prose and JSON by turns, of 20,000 words
 * with the frequencies of a language; a query is a text of a call, 1 KB, with 80 bytes of a result in it, and else
 * names, numbers and paths, or prose. Times are the processor's.
 *
 *     bench_index [quick] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sha256.h"
#include "bench_text.h"
#include "interlock/host.h"
#include "provenance/index.h"

enum { BENCH_QUERIES = 400, BENCH_GROUPS = 8 };

static void bench_must(il_status s, const il_error *err) {
    if (s != IL_OK) {
        (void)fprintf(stderr, "bench_index: %s\n", err->msg);
        exit(1);
    }
}

static uint64_t bench_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static int bench_order(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* ---- figures ------------------------------------------------------------------------------------- */

typedef struct bench_run {
    il_index *x;
    uint64_t ns, sha_ns; /* of indexing, and of hashing the same */
    size_t bytes, texts;
    char *last; /* the latest text, which is prose */
    size_t last_n;
} bench_run;

static void bench_fill(bench_words *b, bench_run *r, size_t bytes) {
    const il_index_limits limits = {.size = sizeof limits, .text_bytes = (size_t)64 << 20};
    il_error err = {0};
    r->last = malloc(100000);
    bench_must(il_index_new(il_host_alloc(), &limits, &r->x, &err), &err);
    for (uint32_t source = 1; r->bytes < bytes || source % 2 == 0; source++) {
        il_arena arena;
        il_buf buf;
        il_str digest, kept;
        r->last_n = bench_text(b, r->last, source % 10 == 9 ? 100000 : 10000, source % 2 == 0);
        il_arena_init(&arena, il_host_alloc(), (size_t)64 << 20);
        il_buf_init(&buf, &arena, (size_t)64 << 20);
        const uint64_t begun = bench_ns();
        bench_must(il_index_digest((il_str){r->last, r->last_n}, &buf, &kept, &err), &err);
        bench_must(il_buf_done(&buf, &digest, &err), &err);
        bench_must(il_index_add(r->x, source, source % BENCH_GROUPS, digest, kept, &err), &err);
        r->ns += bench_ns() - begun;
        uint8_t hash[IL_DIGEST_BYTES];
        const uint64_t hashed = bench_ns();
        il_sha256_of((il_str){r->last, r->last_n}, hash);
        r->sha_ns += bench_ns() - hashed;
        r->bytes += r->last_n;
        r->texts++;
        il_arena_free(&arena);
    }
}

/* 80 bytes of a result, and prose; or for the most part what is in no result: names, numbers, paths. */
static size_t bench_arguments(bench_words *b, char out[1200], const bench_run *r, bool prose) {
    const size_t from = bench_below(b, (uint32_t)(r->last_n - 100));
    size_t n = 80;
    memcpy(out, r->last + from, n);
    while (n < 1000) {
        if (prose || n > 800) {
            n += (size_t)snprintf(out + n, 1200 - n, " %s", bench_word(b));
        } else {
            n += (size_t)snprintf(out + n, 1200 - n, "\n/srv/%08x/%s-%u.txt: %u", bench_below(b, 1u << 31),
                                  b->words[bench_below(b, BENCH_WORDS)], bench_below(b, 1u << 20), bench_below(b, 1u << 30));
        }
    }
    return n;
}

static double bench_find(bench_words *b, const bench_run *r, bool prose, size_t *hits) {
    static uint64_t times[BENCH_QUERIES];
    for (size_t i = 0; i < BENCH_QUERIES; i++) {
        char query[1200];
        il_arena scratch;
        il_index_hits h;
        il_error err = {0};
        const size_t n = bench_arguments(b, query, r, prose);
        il_arena_init(&scratch, il_host_alloc(), (size_t)1 << 24);
        const uint64_t begun = bench_ns();
        bench_must(il_index_find(r->x, (il_str){query, n}, &scratch, &h, &err), &err);
        times[i] = bench_ns() - begun;
        *hits += h.n;
        il_arena_free(&scratch);
    }
    qsort(times, BENCH_QUERIES, sizeof *times, bench_order);
    return (double)times[BENCH_QUERIES / 2] / 1e3;
}

/* Which of the groups of sources, as a decision asks. */
static double bench_groups(bench_words *b, const bench_run *r, size_t *groups) {
    static uint64_t times[BENCH_QUERIES];
    for (size_t i = 0; i < BENCH_QUERIES; i++) {
        char query[1200];
        uint64_t found = 0;
        bool more = false;
        il_arena scratch;
        il_error err = {0};
        const size_t n = bench_arguments(b, query, r, false);
        il_arena_init(&scratch, il_host_alloc(), (size_t)1 << 24);
        const uint64_t begun = bench_ns();
        bench_must(il_index_groups(r->x, (il_str){query, n}, &scratch, &found, BENCH_GROUPS, &more, &err), &err);
        times[i] = bench_ns() - begun;
        *groups += (size_t)__builtin_popcountll(found);
        il_arena_free(&scratch);
    }
    qsort(times, BENCH_QUERIES, sizeof *times, bench_order);
    return (double)times[BENCH_QUERIES / 2] / 1e3;
}

static void bench_one(bench_words *b, const char *name, size_t bytes) {
    bench_run r = {0};
    size_t hits = 0;
    bench_fill(b, &r, bytes);
    const il_index_size size = il_index_measure(r.x);
    (void)printf("index_%s %.1f MB/s\n", name, (double)r.bytes * 1e3 / (double)r.ns);
    (void)printf("sha256_%s %.1f MB/s\n", name, (double)r.bytes * 1e3 / (double)r.sha_ns);
    (void)printf("memory_%s %.3f bytes\n", name, (double)size.index_bytes / (double)r.bytes);
    (void)printf("kept_%s %.3f bytes\n", name, (double)size.text_bytes / (double)r.bytes);
    for (unsigned prose = 0; prose < 2; prose++) {
        hits = 0;
        (void)printf("find%s_%s %.2f us\n", prose ? "_prose" : "", name, bench_find(b, &r, prose, &hits));
        (void)printf("hits%s_%s %.2f hits\n", prose ? "_prose" : "", name, (double)hits / BENCH_QUERIES);
    }
    hits = 0;
    (void)printf("groups_%s %.2f us\n", name, bench_groups(b, &r, &hits));
    (void)printf("found_%s %.2f groups\n", name, (double)hits / BENCH_QUERIES);
    if (!il_index_complete(r.x)) {
        (void)fprintf(stderr, "bench_index: the index is not complete\n");
        exit(1);
    }
    il_index_free(r.x);
    free(r.last);
}

int main(int argc, char **argv) {
    const bool quick = argc > 1 && strcmp(argv[1], "quick") == 0;
    bench_words *b = calloc(1, sizeof *b);
    b->random = 1;
    bench_vocabulary(b);
    bench_one(b, "1", 1000000);
    if (!quick) {
        bench_one(b, "10", 10000000);
    }
    free(b);
    return 0;
}
