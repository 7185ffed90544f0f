/* SPDX-License-Identifier: Apache-2.0 */
/* What a decision and a settle cost, and what a session takes: one `name value unit` a line. The decision has 1 KB of arguments, raises nothing
 * new and is not vouched; the ledger is in memory. `null` hashes nothing, which leaves what a decision costs without its digests and its
 * ledger's chain.
 *
 *     bench_decide POLICY [ROUNDS]        POLICY: bench/decide.yaml
 *     bench_decide POLICY ROUNDS pairs    decides and settles ROUNDS times without a digest and prints nothing: what an instruction counter
 *                                         runs
 *     bench_decide POLICY ROUNDS labels   POLICY: bench/judged.yaml, five rules; the arguments have 20 labels, of trusted sources
 *     bench_decide POLICY ROUNDS call     prints what `labels` decides, as JSON, for the engines of bench/peers.mjs
 *     bench_decide POLICY ROUNDS index MB POLICY: bench/indexed.yaml, five rules that ask where each argument is from; the session has read so many MB of
 *                                         results of eight tools, and 80 bytes of one are in the arguments */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "bench_text.h"
#include "interlock/host.h"
#include "json/node.h"

enum { BENCH_SESSIONS = 10000, BENCH_ROUNDS = 20000, BENCH_LABELS = 20, BENCH_TEXT = 1024 };

typedef struct bench {
    il_bundle *bundle;
    il_json_doc *args;
    char text[BENCH_TEXT + 1]; /* of the arguments */
    size_t rounds;
    uint64_t *times; /* of `rounds` calls, in ns */
    size_t bytes;    /* what is allocated now, by bench_counting */
    il_origin_at labels[BENCH_LABELS];
    size_t nlabels;
} bench;

static void bench_fail(const char *what, const il_error *err) {
    (void)fprintf(stderr, "bench_decide: %s: %s\n", what, err->msg);
    exit(1);
}

static void bench_must(il_status s, const char *what, const il_error *err) {
    if (s != IL_OK) {
        bench_fail(what, err);
    }
}

static uint64_t bench_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static int bench_order(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static void bench_say(const char *name, const char *what, double value, const char *unit) {
    (void)printf("%s%s %.3f %s\n", name, what, value, unit);
}

static double bench_median(bench *b) {
    qsort(b->times, b->rounds, sizeof *b->times, bench_order);
    return (double)b->times[b->rounds / 2] / 1000.0;
}

/* ---- memory that is counted --------------------------------------------------------------------- */

static void *bench_take(void *ctx, size_t n) {
    bench *b = ctx;
    void *p = malloc(n ? n : 1);
    b->bytes += p ? malloc_usable_size(p) : 0;
    return p;
}

static void bench_give(void *ctx, void *p) {
    bench *b = ctx;
    b->bytes -= p ? malloc_usable_size(p) : 0;
    free(p);
}

/* ---- the arguments ---------------------------------------------------------------------------------- */

/* 1,024 bytes as a client writes them: not sorted, a text of some hundred bytes, a list, numbers. */
static void bench_arguments(bench *b) {
    char *text = b->text;
    il_error err = {0};
    size_t n =
        (size_t)snprintf(text, sizeof b->text,
                         "{\"path\":\"/srv/notes/2026/11/meeting.md\",\"options\":{\"follow\":false,\"limit\":200,\"encoding\":"
                         "\"utf-8\",\"ranges\":[{\"from\":1,\"to\":40},{\"from\":90,\"to\":120}]},\"tags\":[\"work\",\"notes\","
                         "\"quarterly\",\"draft\"],\"depth\":3,\"ratio\":0.75,\"body\":\"");
    while (n < BENCH_TEXT - 2) {
        text[n] = "a line of text, as people write them; "[n % 38];
        n++;
    }
    memcpy(text + n, "\"}", 2);
    bench_must(il_json_doc_new(il_host_alloc(), (il_str){text, n + 2}, NULL, &b->args, &err), "arguments", &err);
}

/* ---- decide and settle --------------------------------------------------------------------------- */

static void bench_null(uint32_t state[8], const uint8_t *blocks, size_t nblocks) {
    (void)blocks;
    state[0] += (uint32_t)nblocks;
}

typedef struct bench_gate {
    il_ledger *ledger;
    il_monitor *monitor;
    il_host_recalls *recalls;
} bench_gate;

static bench_gate bench_open(const bench *b, const il_alloc *alloc, il_sha256_blocks sha256) {
    bench_gate g = {0};
    il_error err = {0};
    /* the trail is not the session: its latest row only */
    const il_ledger_options options = {.size = sizeof options, .keep_rows = 1, .sha256 = sha256};
    bench_must(il_ledger_open(alloc, ":memory:", &options, &g.ledger, &err), "ledger", &err);
    bench_must(il_host_recalls_new(il_host_alloc(), (size_t)256 << 20, &g.recalls, &err), "recalls", &err);
    il_monitor_config config = {.size = sizeof config,
                                .cache = il_host_recalls_cache(g.recalls),
                                .policy = il_bundle_policy(b->bundle),
                                .store = il_ledger_store(g.ledger),
                                .host = il_host_system()};
    config.host.sha256 = sha256;
    bench_must(il_monitor_new(il_host_alloc(), &config, &g.monitor, &err), "monitor", &err);
    return g;
}

static void bench_close(bench_gate *g) {
    il_monitor_free(g->monitor);
    il_host_recalls_free(g->recalls);
    il_ledger_close(g->ledger);
}

static void bench_begin(const bench_gate *g, const char *id) {
    il_error err = {0};
    const il_begin how = {.size = sizeof how, .principal = IL_STR("uid:1000")};
    bench_must(il_monitor_begin(g->monitor, (il_str){id, strlen(id)}, &how, &err), "begin", &err);
}

static uint64_t bench_decide(const bench *b, const bench_gate *g, const char *id, const char *tool) {
    il_error err = {0};
    const il_call call = {.size = sizeof call,
                          .server = IL_STR("files"),
                          .tool = {tool, strlen(tool)},
                          .args = il_json_doc_root(b->args),
                          .labels = b->labels,
                          .nlabels = b->nlabels};
    il_decision d = IL_DECISION_INIT;
    bench_must(il_monitor_decide(g->monitor, (il_str){id, strlen(id)}, &call, &d, &err), "decide", &err);
    return d.ticket;
}

static void bench_settle(const bench *b, const bench_gate *g, const char *id, uint64_t ticket) {
    il_error err = {0};
    const il_outcome o = {.size = sizeof o, .how = IL_OUTCOME_DONE, .result = il_json_doc_root(b->args)};
    il_settlement s = IL_SETTLEMENT_INIT;
    bench_must(il_monitor_settle(g->monitor, (il_str){id, strlen(id)}, ticket, &o, &s, &err), "settle", &err);
}

static void bench_gate_run(bench *b, const char *name, il_sha256_blocks sha256) {
    bench_gate g = bench_open(b, il_host_alloc(), sha256);
    uint64_t *settles = calloc(b->rounds, sizeof *settles);
    if (!settles) {
        exit(1);
    }
    bench_begin(&g, "bench");
    for (size_t i = 0; i < b->rounds; i++) {
        const uint64_t from = bench_ns();
        const uint64_t ticket = bench_decide(b, &g, "bench", "read");
        const uint64_t then = bench_ns();
        bench_settle(b, &g, "bench", ticket);
        b->times[i] = then - from;
        settles[i] = bench_ns() - then;
    }
    bench_say("decide_", name, bench_median(b), "us");
    memcpy(b->times, settles, b->rounds * sizeof *settles);
    bench_say("settle_", name, bench_median(b), "us");
    for (size_t i = 0; i < b->rounds; i++) {
        const uint64_t from = bench_ns();
        if (bench_decide(b, &g, "bench", "post") != 0) {
            exit(1); /* nothing of it is denied, so nothing is measured */
        }
        b->times[i] = bench_ns() - from;
    }
    bench_say("deny_", name, bench_median(b), "us");
    free(settles);
    bench_close(&g);
}

static void bench_digest(bench *b, const char *name, il_sha256_blocks sha256) {
    il_error err = {0};
    uint8_t digest[IL_DIGEST_BYTES];
    for (size_t i = 0; i < b->rounds; i++) {
        const uint64_t from = bench_ns();
        bench_must(il_json_digest(il_json_doc_root(b->args), sha256, digest, &err), "digest", &err);
        b->times[i] = bench_ns() - from;
    }
    bench_say("digest_", name, bench_median(b), "us");
}

/* ---- what a session takes ------------------------------------------------------------------------- */

/* Three calls done, each the witness of an effect, and one open: 10,000 such sessions in one ledger. The audit trail is not the session's. */
static void bench_sessions(bench *b) {
    const il_alloc counting = {bench_take, bench_give, b};
    bench_gate g = bench_open(b, &counting, NULL);
    char id[32];
    const size_t before = b->bytes;
    for (int i = 0; i < BENCH_SESSIONS; i++) {
        (void)snprintf(id, sizeof id, "session-%016d", i);
        bench_begin(&g, id);
        bench_settle(b, &g, id, bench_decide(b, &g, id, "fetch"));
        bench_settle(b, &g, id, bench_decide(b, &g, id, "read"));
        bench_settle(b, &g, id, bench_decide(b, &g, id, "key"));
        (void)bench_decide(b, &g, id, "read");
    }
    bench_say("session", "_memory", (double)(b->bytes - before) / BENCH_SESSIONS, "B");
    bench_close(&g);
}

static void bench_pairs(const bench *b) {
    bench_gate g = bench_open(b, il_host_alloc(), bench_null);
    bench_begin(&g, "bench");
    for (size_t i = 0; i < b->rounds; i++) {
        bench_settle(b, &g, "bench", bench_decide(b, &g, "bench", "read"));
    }
    bench_close(&g);
}

/* A label's source, and where it is: each of another source, by turns of each argument. */
typedef struct bench_label {
    char source[16], path[64];
} bench_label;

static void bench_place(const bench *b, bench_label labels[BENCH_LABELS]) {
    const il_json *a = NULL;
    for (int i = 0; i < BENCH_LABELS; i++) {
        a = a != NULL && il_json_next(a) != NULL ? il_json_next(a) : il_json_first(il_json_doc_root(b->args));
        (void)snprintf(labels[i].source, sizeof labels[i].source, "source%d", i);
        (void)snprintf(labels[i].path, sizeof labels[i].path, "/%.*s", IL_STR_ARG(il_json_key(a)));
    }
}

static void bench_call(const bench *b) {
    bench_label labels[BENCH_LABELS];
    bench_place(b, labels);
    (void)printf("{\"server\":\"files\",\"tool\":\"read\",\"agent\":\"ana\",\"groups\":[],\"args\":%s,\"labels\":[", b->text);
    for (int i = 0; i < BENCH_LABELS; i++) {
        (void)printf("%s{\"at\":\"%s\",\"source\":\"%s\",\"trust\":\"trusted\"}", i > 0 ? "," : "", labels[i].path,
                     labels[i].source);
    }
    (void)printf("]}\n");
}

static void bench_judged(bench *b, const char *name, il_sha256_blocks sha256) {
    bench_gate g = bench_open(b, il_host_alloc(), sha256);
    bench_begin(&g, "bench");
    for (size_t i = 0; i < b->rounds; i++) {
        const uint64_t from = bench_ns();
        const uint64_t ticket = bench_decide(b, &g, "bench", "read");
        b->times[i] = bench_ns() - from;
        bench_settle(b, &g, "bench", ticket);
    }
    bench_say("decide_", name, bench_median(b), "us");
    bench_close(&g);
}

static void bench_labelled(bench *b) {
    bench_label labels[BENCH_LABELS];
    il_origin *origins[BENCH_LABELS];
    il_error err = {0};
    bench_place(b, labels);
    for (; b->nlabels < BENCH_LABELS; b->nlabels++) {
        const bench_label *l = &labels[b->nlabels];
        il_origin **origin = &origins[b->nlabels];
        bench_must(il_origin_new(il_host_alloc(), (il_str){l->source, strlen(l->source)}, IL_STR("ana"), origin, &err), "label",
                   &err);
        b->labels[b->nlabels] = (il_origin_at){{l->path, strlen(l->path)}, *origin};
    }
    bench_judged(b, "labelled", bench_null);
    bench_judged(b, "recorded", il_host_system().sha256);
    for (; b->nlabels > 0; b->nlabels--) {
        il_origin_free(origins[b->nlabels - 1]);
    }
}

/* Results of 10 KB and 100 KB. `excerpt`: some of the latest prose. */
static void bench_fill(const bench_gate *g, size_t bytes, char excerpt[81]) {
    bench_words *words = calloc(1, sizeof *words);
    char *text = malloc(100000);
    if (!words || !text) {
        exit(1);
    }
    words->random = 1;
    bench_vocabulary(words);
    for (size_t i = 1, done = 0; done < bytes || i % 2 == 0; i++) {
        il_arena arena;
        il_error err = {0};
        char tool[16];
        const size_t n = bench_text(words, text, i % 10 == 9 ? 100000 : 10000, i % 2 == 0);
        il_arena_init(&arena, il_host_alloc(), (size_t)1 << 22);
        il_buf json;
        il_str said = {NULL, 0};
        il_json_doc *result = NULL;
        il_buf_init(&json, &arena, (size_t)1 << 22);
        il_buf_puts(&json, "{\"content\":[{\"type\":\"text\",\"text\":\"");
        for (size_t k = 0; k < n; k++) {
            if (text[k] == '"' || text[k] == '\n') {
                il_buf_putc(&json, '\\');
            }
            il_buf_putc(&json, (char)(text[k] == '\n' ? 'n' : text[k]));
        }
        il_buf_puts(&json, "\"}]}");
        bench_must(il_buf_done(&json, &said, &err), "result", &err);
        bench_must(il_json_doc_new(il_host_alloc(), said, NULL, &result, &err), "result", &err);
        (void)snprintf(tool, sizeof tool, "get%zu", i / 2 % 8);
        const il_call call = {.size = sizeof call, .server = IL_STR("web"), .tool = {tool, strlen(tool)}};
        const il_outcome o = {.size = sizeof o, .how = IL_OUTCOME_DONE, .result = il_json_doc_root(result)};
        il_decision d = IL_DECISION_INIT;
        il_settlement s = IL_SETTLEMENT_INIT;
        bench_must(il_monitor_decide(g->monitor, IL_STR("bench"), &call, &d, &err), "decide", &err);
        if (d.ticket == 0) {
            (void)fprintf(stderr, "bench_decide: nothing is read: %s\n", d.reason);
            exit(1);
        }
        bench_must(il_monitor_settle(g->monitor, IL_STR("bench"), d.ticket, &o, &s, &err), "settle", &err);
        if (i % 2 == 1) {
            memcpy(excerpt, text + n / 2, 80);
            excerpt[80] = '\0';
        }
        done += n;
        il_json_doc_free(result);
        il_arena_free(&arena);
    }
    free(text);
    free(words);
}

static void bench_indexed(bench *b, const char *mb) {
    bench_gate g = bench_open(b, il_host_alloc(), bench_null);
    char excerpt[81], text[1200];
    il_error err = {0};
    bench_begin(&g, "bench");
    bench_fill(&g, (size_t)(strtod(mb, NULL) * 1e6), excerpt);
    for (char *p = excerpt; *p != '\0'; p++) {
        *p = *p == '\n' ? ' ' : *p;
    }
    int n =
        snprintf(text, sizeof text,
                 "{\"path\":\"/srv/notes/2026/11/meeting.md\",\"tags\":[\"work\",\"draft\"],\"depth\":3,\"body\":\"%s", excerpt);
    for (unsigned i = 0; n < 1000; i++) { /* what is in no result */
        n +=
            snprintf(text + n, sizeof text - (size_t)n, " /srv/%08x/%u-item.txt: %u", i * 2654435761u, i * 40503u, i * 97654321u);
    }
    (void)snprintf(text + 1000, sizeof text - 1000, "\"}");
    bench_must(il_json_doc_new(il_host_alloc(), (il_str){text, strlen(text)}, NULL, &b->args, &err), "arguments", &err);
    for (size_t i = 0; i < b->rounds; i++) {
        const il_outcome failed = {.size = sizeof failed, .how = IL_OUTCOME_FAILED}; /* nothing more is read */
        il_settlement s = IL_SETTLEMENT_INIT;
        const uint64_t from = bench_ns();
        const uint64_t ticket = bench_decide(b, &g, "bench", "read");
        b->times[i] = bench_ns() - from;
        bench_must(il_monitor_settle(g.monitor, IL_STR("bench"), ticket, &failed, &s, &err), "settle", &err);
    }
    bench_say("decide_index_", mb, bench_median(b), "us");
    bench_close(&g);
}

static void bench_all(bench *b) {
    const il_sha256_blocks fast = il_host_system().sha256;
    bench_gate_run(b, "null", bench_null);
    bench_gate_run(b, "portable", NULL);
    if (fast) {
        bench_gate_run(b, "sha_ni", fast);
    }
    bench_digest(b, "null", bench_null);
    bench_digest(b, "portable", NULL);
    if (fast) {
        bench_digest(b, "sha_ni", fast);
    }
    bench_sessions(b);
}

int main(int argc, char **argv) {
    bench b = {.rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : BENCH_ROUNDS};
    il_error err = {0};
    if (argc < 2 || b.rounds == 0 || !(b.times = calloc(b.rounds, sizeof *b.times))) {
        (void)fprintf(stderr, "usage: bench_decide POLICY [ROUNDS [pairs | labels | call | index MB]]\n");
        return 3;
    }
    bench_must(il_bundle_load(il_host_alloc(), argv[1], &b.bundle, &err), "policy", &err);
    if (argc == 5 && strcmp(argv[3], "index") == 0) {
        bench_indexed(&b, argv[4]);
        il_json_doc_free(b.args);
        il_bundle_free(b.bundle);
        free(b.times);
        return 0;
    }
    bench_arguments(&b);
    if (argc == 4 && strcmp(argv[3], "pairs") == 0) {
        bench_pairs(&b);
    } else if (argc == 4 && strcmp(argv[3], "labels") == 0) {
        bench_labelled(&b);
    } else if (argc == 4 && strcmp(argv[3], "call") == 0) {
        bench_call(&b);
    } else {
        bench_all(&b);
    }
    il_json_doc_free(b.args);
    il_bundle_free(b.bundle);
    free(b.times);
    return 0;
}
