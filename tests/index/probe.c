/* SPDX-License-Identifier: Apache-2.0 */
/* The content index by lines, for tests/index/run.py. Bytes are hex.
 *     reset                    a new index
 *     add SOURCE HEX           ok
 *     find HEX                 more 0|1, then `SOURCE AT N token|run compared|print` of each hit, then `.`
 *     parts HEX                the same by part of the query: more 0|1, then `AT N token|run SOURCE ..` of each, then `.`
 *     names HEX                0|1
 * probe blind: indexes nothing of what it is given, which every test of what is found must notice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "provenance/index.h"

static bool probe_every(void *ctx, uint32_t source) {
    (void)ctx;
    (void)source;
    return true;
}

static void probe_add(il_index *x, uint32_t source, il_str text, bool blind) {
    il_arena arena;
    il_buf b;
    il_str digest = {NULL, 0}, kept = {NULL, 0};
    il_error err = {0};
    const il_str seen = {text.p, blind ? 0 : text.n};
    il_arena_init(&arena, &probe_alloc, SIZE_MAX / 2);
    il_buf_init(&b, &arena, SIZE_MAX / 4);
    if (il_index_digest(seen, &b, &kept, &err) != IL_OK || il_buf_done(&b, &digest, &err) != IL_OK ||
        il_index_add(x, source, source, digest, kept, &err) != IL_OK) {
        probe_stop(err.msg);
    }
    il_arena_free(&arena);
    (void)puts(il_index_complete(x) ? "ok" : "incomplete");
}

static int probe_order(const void *a, const void *b) {
    const il_index_hit *x = a, *y = b;
    const int64_t by[] = {(int64_t)x->at - y->at, (int64_t)x->n - y->n, (int64_t)x->token - y->token,
                          (int64_t)x->source - y->source};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        if (by[i] != 0) {
            return by[i] < 0 ? -1 : 1;
        }
    }
    return 0;
}

static void probe_hit(const il_index_hit *hit) {
    (void)printf("%u %u %u %s %s\n", hit->source, hit->at, hit->n, hit->token ? "token" : "run",
                 hit->compared ? "compared" : "print");
}

/* Hits by their part of the query, each with its sources. */
static void probe_parts(il_index_hits *h) {
    qsort(h->list, h->n, sizeof *h->list, probe_order);
    for (size_t i = 0; i < h->n; i++) {
        const il_index_hit *hit = &h->list[i], *before = i > 0 ? hit - 1 : NULL;
        if (before == NULL || before->at != hit->at || before->n != hit->n || before->token != hit->token) {
            (void)printf("%s%u %u %s", i > 0 ? "\n" : "", hit->at, hit->n, hit->token ? "token" : "run");
        }
        (void)printf(" %u", hit->source);
    }
    (void)fputs(h->n > 0 ? "\n" : "", stdout);
}

static void probe_find(const il_index *x, il_str query, bool parts) {
    il_arena arena;
    il_index_hits h;
    il_error err = {0};
    il_arena_init(&arena, &probe_alloc, SIZE_MAX / 2);
    if (il_index_find(x, query, &arena, &h, &err) != IL_OK) {
        probe_stop(err.msg);
    }
    (void)printf("more %d\n", h.more);
    if (parts && h.n > 0) {
        probe_parts(&h);
    }
    for (size_t i = 0; !parts && i < h.n; i++) {
        probe_hit(&h.list[i]);
    }
    (void)puts(".");
    il_arena_free(&arena);
}

static char *probe_word(char **line) {
    char *word = *line;
    *line += strcspn(*line, " \n");
    if (**line != '\0') {
        *(*line)++ = '\0';
    }
    return word;
}

int main(int argc, char **argv) {
    const bool blind = argc > 1 && strcmp(argv[1], "blind") == 0;
    const il_index_limits limits = {.size = sizeof limits, .text_bytes = (size_t)512 << 20, .index_bytes = (size_t)1 << 30};
    il_index *x = NULL;
    char *line = NULL;
    size_t cap = 0;
    while (getline(&line, &cap, stdin) > 0) {
        char *rest = line, *verb = probe_word(&rest);
        if (x == NULL || strcmp(verb, "reset") == 0) {
            il_index_free(x);
            if (il_index_new(&probe_alloc, &limits, &x, NULL) != IL_OK) {
                probe_stop("no memory");
            }
        }
        if (strcmp(verb, "add") == 0) {
            const uint32_t source = (uint32_t)strtoul(probe_word(&rest), NULL, 10);
            probe_add(x, source, probe_bytes(rest), blind);
        } else if (strcmp(verb, "find") == 0 || strcmp(verb, "parts") == 0) {
            probe_find(x, probe_bytes(rest), *verb == 'p');
        } else if (strcmp(verb, "names") == 0) {
            bool named = true;
            if (il_index_names(x, probe_bytes(rest), probe_every, NULL, &named, NULL) != IL_OK) {
                probe_stop("names failed");
            }
            (void)printf("%d\n", named);
        } else if (strcmp(verb, "reset") == 0) {
            (void)puts("ok");
        } else {
            probe_stop("what?");
        }
        (void)fflush(stdout);
    }
    il_index_free(x);
    free(line);
    return 0;
}
