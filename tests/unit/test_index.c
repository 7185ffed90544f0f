/* SPDX-License-Identifier: Apache-2.0 */
/* The content index: what is found and where, names, limits, damaged digests, memory that runs out. The encodings are tests/index's matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "helper_memory.h"
#include "provenance/index.h"
#include "provenance/token.h"

typedef struct place {
    test_memory memory;
    il_arena arena;
    il_index *x;
    il_error err;
} place;

static place *open_place(const il_index_limits *limits) {
    place *t = calloc(1, sizeof *t);
    test_memory_init(&t->memory, SIZE_MAX);
    il_arena_init(&t->arena, &t->memory.alloc, (size_t)64 << 20);
    assert_int_equal(il_index_new(&t->memory.alloc, limits, &t->x, &t->err), IL_OK);
    return t;
}

static void close_place(place *t) {
    il_index_free(t->x);
    il_arena_free(&t->arena);
    free(t);
}

static il_str digest_of(place *t, il_str text, il_str *kept) {
    il_buf b;
    il_str out = {NULL, 0};
    il_buf_init(&b, &t->arena, (size_t)32 << 20);
    assert_int_equal(il_index_digest(text, &b, kept, &t->err), IL_OK);
    assert_int_equal(il_buf_done(&b, &out, &t->err), IL_OK);
    return out;
}

static void add(place *t, uint32_t source, const char *text) {
    il_str kept;
    const il_str digest = digest_of(t, il_str_of(text), &kept);
    assert_int_equal(il_index_add(t->x, source, source, digest, kept, &t->err), IL_OK);
}

static il_index_hits find(place *t, const char *query) {
    il_index_hits h = {0};
    assert_int_equal(il_index_find(t->x, il_str_of(query), &t->arena, &h, &t->err), IL_OK);
    return h;
}

static bool every(void *ctx, uint32_t source) {
    (void)ctx;
    (void)source;
    return true;
}
static bool only(void *ctx, uint32_t source) { return *(const uint32_t *)ctx == source; }

static bool names(place *t, const char *value) {
    bool out = false;
    assert_int_equal(il_index_names(t->x, il_str_of(value), every, NULL, &out, &t->err), IL_OK);
    return out;
}

static void nothing_in_an_empty_index(void **state) {
    (void)state;
    place *t = open_place(NULL);
    assert_int_equal(find(t, "whatever is asked").n, 0);
    assert_false(names(t, "whatever"));
    assert_true(il_index_complete(t->x));
    add(t, 1, "");
    assert_int_equal(find(t, "").n, 0);
    assert_int_equal(find(t, "whatever is asked").n, 0);
    assert_true(il_index_complete(t->x));
    close_place(t);
}

/* A run of 12 is found and one of 11 is not, wherever it lies. */
static void a_run_of_twelve(void **state) {
    (void)state;
    const char *text = "zq0 zq1 zq2 theSecretIsHere! wq3 wq4";
    for (size_t from = 0; from + 12 <= strlen("theSecretIsHere!"); from++) {
        for (size_t n = 11; n <= 12; n++) {
            place *t = open_place(NULL);
            char query[64];
            (void)snprintf(query, sizeof query, "<%.*s>", (int)n, strstr(text, "theSecret") + from);
            add(t, 7, text);
            const il_index_hits h = find(t, query);
            assert_int_equal(h.n, n == 12);
            if (n == 12) {
                assert_int_equal(h.list[0].source, 7);
                assert_int_equal(h.list[0].at, 1);
                assert_int_equal(h.list[0].n, 12);
                assert_true(h.list[0].compared);
                assert_false(h.list[0].token);
            }
            assert_false(h.more);
            close_place(t);
        }
    }
}

static void tokens(void **state) {
    (void)state;
    place *t = open_place(NULL);
    add(t, 1, "Pay invoice A7X to acct-77120, says Bob Smith. Mail: eve@evil.example.");
    add(t, 4, "nothing but words");
    static const struct {
        const char *query;
        bool found;
    } rows[] = {
        {"a7x", true},          {"send A7X now", true},    {"A7XY", false},           {"7x", false},
        {"acct-77120", true},   {"id=77120", true},        {"7712", false},           {"acct-7712", false},
        {"acct 9 77120", true}, {"invoice", true},         {"the invoice is", false}, {"invoic", false},
        {"bob", true},          {"to eve@evil.ex", false}, {"evil.example", true},    {"vil.example", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const il_index_hits h = find(t, rows[i].query);
        if ((h.n > 0) != rows[i].found) {
            fail_msg("`%s`: %zu hits", rows[i].query, h.n);
        }
    }
    const il_index_hits h = find(t, "send A7X now");
    assert_int_equal(h.n, 1);
    assert_int_equal(h.list[0].at, 5);
    assert_int_equal(h.list[0].n, 3);
    assert_int_equal(h.list[0].source, 1);
    assert_true(h.list[0].token && h.list[0].compared);
    close_place(t);
}

static void whole_names(void **state) {
    (void)state;
    place *t = open_place(NULL);
    add(t, 1, "Ask Bob Smith about Q3, or write to ann.lee+x@corp.example (room 4).");
    static const struct {
        const char *value;
        bool named;
    } rows[] = {
        {"Bob Smith", true},
        {"bob\n smith", true},
        {"BOB", true},
        {"Bo", false},
        {"ob Smith", false},
        {"Q3", true},
        {"4", true},
        {"5", false},
        {"corp.example", true},
        {"x@corp.example", true},
        {"lee x", true},
        {"Smith Bob", false},
        {"Ask Bob Smith about Q3, or write", true},
        {"about Q3 or", false},
        {"room", true},
        {"roo", false},
        {"oom", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (names(t, rows[i].value) != rows[i].named) {
            fail_msg("`%s`", rows[i].value);
        }
    }
    uint32_t want = 2;
    bool out = true;
    assert_int_equal(il_index_names(t->x, IL_STR("bob"), only, &want, &out, NULL), IL_OK);
    assert_false(out);
    want = 1;
    assert_int_equal(il_index_names(t->x, IL_STR("bob"), only, &want, &out, NULL), IL_OK);
    assert_true(out);
    assert_true(names(t, "!?")); /* nothing that can be told */
    close_place(t);
}

/* Two runs of a text go in step with the query, and of the former many others have the like, so that the latter is looked at first: both are found. */
static void two_runs_in_step(void **state) {
    (void)state;
    enum { OTHERS = 1000 };
    place *t = open_place(NULL);
    const char *first = "alphabravocharlie", *query = "alphabravocharlie!deltaechofoxtrot";
    for (uint32_t source = 1; source <= OTHERS; source++) {
        add(t, source, first);
    }
    add(t, OTHERS + 1, "######alphabravocharlie#deltaechofoxtrot");
    const il_index_hits h = find(t, query);
    assert_false(h.more);
    assert_int_equal(h.n, OTHERS + 2);
    for (uint32_t i = 0; i < h.n; i++) {
        const bool latter = i > OTHERS;
        assert_int_equal(h.list[i].source, latter ? i : i + 1);
        assert_int_equal(h.list[i].at, latter ? strlen("alphabravocharlie!") : 0);
        assert_int_equal(h.list[i].n, latter ? strlen("deltaechofoxtrot") : strlen(first));
    }
    close_place(t);
}

/* The set of groups is that of the sources of the hits. */
static void groups(void **state) {
    (void)state;
    place *t = open_place(NULL);
    add(t, 1, "the quick brown fox jumps");
    add(t, 3, "over the lazy dog 9f3");
    add(t, 3, "the quick brown fox sits");
    add(t, 70, "the quick brown fox sleeps");
    uint64_t bits[2];
    bool more = true;
    assert_int_equal(il_index_groups(t->x, IL_STR("a quick brown fox and 9f3"), &t->arena, bits, 128, &more, &t->err), IL_OK);
    assert_int_equal(bits[0], 1 << 1 | 1 << 3);
    assert_int_equal(bits[1], 1 << 6);
    assert_false(more);
    assert_int_equal(il_index_groups(t->x, IL_STR("nothing of it"), &t->arena, bits, 128, &more, &t->err), IL_OK);
    assert_int_equal(bits[0] | bits[1], 0);
    close_place(t);
}

/* Without its text, and after it went, a text is found by its fingerprints. */
static void without_text(void **state) {
    (void)state;
    const il_index_limits limits = {.size = sizeof limits, .text_bytes = 64};
    place *t = open_place(&limits);
    const char *first = "the first secret of all 8Z8";
    add(t, 1, first);
    assert_true(il_index_complete(t->x));
    assert_true(find(t, "first secret of all").list[0].compared);
    add(t, 2, "something else that takes all the room");
    assert_false(il_index_complete(t->x));
    assert_int_equal(il_index_measure(t->x).texts, 1);
    il_index_hits h = find(t, "first secret of all");
    assert_true(h.n >= 1);
    assert_int_equal(h.list[0].source, 1);
    assert_false(h.list[0].compared);
    h = find(t, "8z8");
    assert_int_equal(h.n, 1);
    assert_true(h.list[0].token && !h.list[0].compared);
    assert_true(names(t, "secret"));
    assert_false(names(t, "secrets"));
    close_place(t);
    t = open_place(NULL);
    assert_int_equal(il_index_add(t->x, 5, 5, digest_of(t, il_str_of(first), NULL), (il_str){NULL, 0}, NULL), IL_OK);
    assert_true(il_index_complete(t->x)); /* nothing of it is found less */
    assert_true(find(t, "first secret of all").n >= 1);
    close_place(t);
    /* what has no room evicts, whether its text is there or not: the same answer before a restart and after it */
    t = open_place(&limits);
    for (uint32_t i = 1; i <= 3; i++) {
        assert_int_equal(il_index_add(t->x, i, i, digest_of(t, il_str_of(first), NULL), (il_str){NULL, 0}, NULL), IL_OK);
        assert_true(il_index_complete(t->x) == (i < 3));
    }
    close_place(t);
}

static uint64_t draw(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* A text of words of few letters, so that values and texts meet. */
static void drawn_text(uint64_t *state, char *out, size_t words) {
    static const char *const joins[] = {" ", " ", ".", "-", "@", ", ", "%20", "/"};
    size_t n = 0;
    for (size_t w = 0; w < words; w++) {
        const size_t letters = 1 + (size_t)draw(state) % 4;
        for (size_t i = 0; i < letters; i++) {
            out[n++] = "abA1"[draw(state) % 4];
        }
        for (const char *join = w + 1 < words ? joins[draw(state) % 8] : ""; *join != '\0'; join++) {
            out[n++] = *join;
        }
    }
    out[n] = '\0';
}

/* Of a text that nobody has any more is found whatever would be found of it: what is named, and which sources share something. */
static void never_less_without_its_text(void **state) {
    (void)state;
    uint64_t drawn = 7;
    size_t named = 0, more = 0, shared = 0;
    for (int round = 0; round < 60; round++) {
        place *with = open_place(NULL), *without = open_place(NULL);
        char text[512];
        for (uint32_t source = 1; source <= 5; source++) {
            drawn_text(&drawn, text, 6 + (size_t)draw(&drawn) % 20);
            add(with, source, text);
            assert_int_equal(
                il_index_add(without->x, source, source, digest_of(with, il_str_of(text), NULL), (il_str){NULL, 0}, NULL), IL_OK);
        }
        assert_true(il_index_complete(with->x) && il_index_complete(without->x));
        for (int i = 0; i < 60; i++) {
            drawn_text(&drawn, text, 1 + (size_t)draw(&drawn) % 5);
            const bool before = names(with, text), after = names(without, text);
            if (before && !after) {
                fail_msg("`%s` is not named any more", text);
            }
            named += before;
            more += after && !before;
            uint64_t a = 0, b = 0;
            bool some;
            assert_int_equal(il_index_groups(with->x, il_str_of(text), &with->arena, &a, 64, &some, NULL), IL_OK);
            assert_int_equal(il_index_groups(without->x, il_str_of(text), &with->arena, &b, 64, &some, NULL), IL_OK);
            if ((a & ~b) != 0) {
                fail_msg("`%s` is not found any more", text);
            }
            shared += a != 0;
        }
        close_place(without);
        close_place(with);
    }
    assert_true(named > 100 && shared > 100 && more > 10); /* the test met what it is about */
}

static void a_full_index(void **state) {
    (void)state;
    const il_index_limits limits = {.size = sizeof limits, .index_bytes = 60000};
    place *t = open_place(&limits);
    char text[400];
    for (uint32_t i = 1; i < 40; i++) {
        (void)snprintf(text, sizeof text, "number %u is %u of %u and so on, %u times more than before", i, i * 7, i * 77,
                       i * 777);
        add(t, i, text);
    }
    assert_false(il_index_complete(t->x));
    assert_true(il_index_measure(t->x).index_bytes <= 60000);
    assert_true(find(t, "number 1 is 7 of 77").n > 0);
    close_place(t);
}

static void bad_digests(void **state) {
    (void)state;
    place *t = open_place(NULL);
    const char *text = "some text with words, and more of them: 0123456789";
    il_str kept;
    const il_str good = digest_of(t, il_str_of(text), &kept);
    char copy[2048];
    assert_true(good.n < sizeof copy);
    assert_int_equal(il_index_add(t->x, 1, 1, good, IL_STR("another text"), NULL), IL_E_ARGUMENT);
    for (size_t n = 0; n < good.n; n++) {
        assert_int_equal(il_index_add(t->x, 1, 1, (il_str){good.p, n}, (il_str){NULL, 0}, NULL), IL_E_DAMAGED);
    }
    memcpy(copy, good.p, good.n);
    copy[good.n] = 0;
    assert_int_equal(il_index_add(t->x, 1, 1, (il_str){copy, good.n + 1}, (il_str){NULL, 0}, NULL), IL_E_DAMAGED);
    copy[0]++;
    assert_int_equal(il_index_add(t->x, 1, 1, (il_str){copy, good.n}, (il_str){NULL, 0}, NULL), IL_E_DAMAGED);
    assert_int_equal(il_index_measure(t->x).texts, 0);
    assert_int_equal(find(t, text).n, 0);
    assert_int_equal(il_index_add(t->x, 2, 2, good, kept, NULL), IL_OK);
    assert_int_equal(il_index_add(t->x, 1, 1, good, kept, NULL), IL_E_ARGUMENT); /* sources grow */
    close_place(t);
}

/* Any allocation may fail: a status, and the index answers as before. */
static void memory_runs_out(void **state) {
    (void)state;
    static const char *const text =
        "payload: aGVsbG8gd29ybGQsIHRoaXMgaXMgbWU=, 68656c6c6f20776f726c64 and %41%42 \\u0041 &amp; more words than that";
    size_t failed = 0;
    for (size_t left = 0;; left++) {
        place *t = open_place(NULL);
        add(t, 1, "an earlier text with the run abcdefghijklmnop in it");
        il_str kept, same = {NULL, 0};
        const il_str d = digest_of(t, il_str_of(text), &kept);
        const il_index_size before = il_index_measure(t->x);
        t->memory.left = left;
        il_buf b;
        il_arena own;
        il_str out = {NULL, 0};
        il_arena_init(&own, &t->memory.alloc, (size_t)1 << 24);
        il_buf_init(&b, &own, (size_t)1 << 24);
        il_status s = il_index_digest(il_str_of(text), &b, &same, NULL);
        s = s == IL_OK ? il_buf_done(&b, &out, NULL) : s;
        assert_true(s == IL_OK ? il_str_eq(out, d) && il_str_eq(same, kept) : s == IL_E_MEMORY);
        const il_status added = il_index_add(t->x, 2, 2, d, kept, NULL);
        assert_true(added == IL_OK || added == IL_E_MEMORY);
        il_index_hits h;
        uint64_t bits[1];
        bool more, named;
        const il_status found = il_index_find(t->x, IL_STR("x abcdefghijklmnop x hello world, this is me"), &own, &h, NULL);
        assert_true(found == IL_OK || found == IL_E_MEMORY);
        const il_status set =
            il_index_groups(t->x, IL_STR("x abcdefghijklmnop x hello world, this is me"), &own, bits, 64, &more, NULL);
        assert_true(set == IL_OK || set == IL_E_MEMORY);
        const il_status asked = il_index_names(t->x, IL_STR("hello world"), every, NULL, &named, NULL);
        assert_true(asked == IL_OK || (asked == IL_E_MEMORY && named));
        t->memory.left = SIZE_MAX;
        h = find(t, "x abcdefghijklmnop x hello world, this is me");
        assert_int_equal(h.n, added == IL_OK ? 2 : 1);
        assert_int_equal(il_index_measure(t->x).texts, before.texts + (added == IL_OK));
        failed += added != IL_OK;
        il_arena_free(&own);
        close_place(t);
        if (s == IL_OK && added == IL_OK && found == IL_OK && set == IL_OK && asked == IL_OK) {
            break;
        }
    }
    assert_true(failed > 3);
}

/* Groups that several sources share; of a group that is found nothing more is asked, of the others everything is. */
static void shared_groups(void **state) {
    (void)state;
    place *t = open_place(NULL);
    for (uint32_t source = 1; source <= 600; source++) {
        char text[200];
        il_str kept;
        (void)snprintf(text, sizeof text, "the common beginning of all of them, and then number %u: %u of %u", source,
                       source * 7919, source * 104729);
        const il_str digest = digest_of(t, il_str_of(text), &kept);
        assert_int_equal(il_index_add(t->x, source, source == 577 ? 9 : source % 3, digest, kept, &t->err), IL_OK);
    }
    uint64_t bits[1];
    bool more = true;
    assert_int_equal(il_index_groups(t->x, IL_STR("the common beginning"), &t->arena, bits, 64, &more, &t->err), IL_OK);
    assert_int_equal(bits[0], 1 << 9 | 7);
    assert_false(more);
    assert_int_equal(il_index_groups(t->x, IL_STR("asks for number 577: 4569263 only"), &t->arena, bits, 64, &more, &t->err),
                     IL_OK);
    assert_int_equal(bits[0] >> 9, 1);
    assert_int_equal(il_index_groups(t->x, IL_STR("the common beginning"), &t->arena, bits, 2, &more, &t->err), IL_OK);
    assert_int_equal(bits[0], 3); /* the others have no bit */
    close_place(t);
}

static char *made_of(size_t n, uint64_t seed) {
    char *p = malloc(n + 1);
    for (size_t i = 0; i < n; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        p[i] = "abcdefghijklmnopqrstuvwxyz0123456789 ,.-/\n"[(seed >> 33) % 42];
    }
    p[n] = '\0';
    return p;
}

/* A query of 10 MB is not read whole, which is said; what is in the part that is read is found. So is one that is in all texts, of which the work is bounded. */
static void a_large_query(void **state) {
    (void)state;
    place *t = open_place(NULL);
    char *query = made_of((size_t)10 << 20, 7), text[64];
    memcpy(text, query + 5000, 40);
    text[40] = '\0';
    add(t, 3, text);
    il_index_hits h = find(t, query);
    assert_true(h.more);
    assert_true(h.n >= 1);
    assert_int_equal(h.list[0].source, 3);
    memcpy(text, query + ((size_t)5 << 20), 40); /* behind what is read */
    add(t, 4, text);
    h = find(t, query);
    assert_true(h.more);
    assert_int_equal(h.list[h.n - 1].source, 3);
    uint64_t bits[1];
    bool more = false;
    assert_int_equal(il_index_groups(t->x, il_str_of(query), &t->arena, bits, 64, &more, &t->err), IL_OK);
    assert_true(more);
    assert_int_equal(bits[0], 1 << 3);
    free(query);
    close_place(t);
}

/* Texts that are all alike: postings of few keys, in blocks that grow and grow. The work for a query that is like them ends, and that it did is said. */
static void all_alike(void **state) {
    (void)state;
    place *t = open_place(NULL);
    char text[64];
    for (uint32_t source = 1; source <= 60000; source++) {
        (void)snprintf(text, sizeof text, "%c always the same few words 4711", (char)('a' + source % 26));
        add(t, source, text);
    }
    char *query = malloc(200001);
    for (size_t i = 0; i < 200000; i++) {
        query[i] = "always the same few words 4711; "[i % 32];
    }
    query[200000] = '\0';
    const il_index_hits h = find(t, query);
    assert_true(h.more);
    assert_true(h.n > 0);
    assert_true(find(t, "the same few words").n >= 59000);
    assert_int_equal(find(t, "nothing of the kind").n, 0);
    free(query);
    close_place(t);
}

/* As many texts as an object of 100,000 keys has, each asked for by itself. */
static void many_queries(void **state) {
    (void)state;
    place *t = open_place(NULL);
    char *text = made_of(200000, 11), query[32];
    size_t found = 0;
    add(t, 1, text);
    for (uint32_t i = 0; i < 100000; i++) {
        uint64_t bits[1];
        bool more = true;
        if (i % 1000 == 0) {
            (void)snprintf(query, sizeof query, "%.24s", text + i);
        } else {
            (void)snprintf(query, sizeof query, "zkey-%08x", i);
        }
        assert_int_equal(il_index_groups(t->x, il_str_of(query), &t->arena, bits, 64, &more, &t->err), IL_OK);
        assert_false(more);
        found += bits[0] != 0;
    }
    assert_true(found >= 100 && found < 1000);
    free(text);
    close_place(t);
}

static uint64_t inverse(uint64_t odd) { /* modulo 2^64 */
    uint64_t x = odd;
    for (unsigned i = 0; i < 6; i++) {
        x *= 2 - odd * x;
    }
    return x;
}

/* Who writes a text can find words with equal hashes: il_word_hash backwards. The latter is found none the less. */
static void words_of_one_hash(void **state) {
    (void)state;
    const uint64_t last = UINT64_C(0x9e3779b97f4a7c15), first = UINT64_C(0xd6e8feb86659fd93);
    place *t = open_place(NULL);
    char one[17] = "", other[17] = "", text[64];
    for (unsigned i = 0; other[0] == '\0' && i < 100000; i++) {
        (void)snprintf(one, sizeof one, "a7%06x", i);
        const uint64_t hash = il_word_hash((const uint8_t *)one, 8);
        for (uint64_t low = 0; low < 65536; low++) {
            uint64_t h = (hash << 16 | low) * inverse(last);
            h = (h ^ h >> 32) * inverse(first) ^ 8 * last;
            bool word = true;
            for (unsigned k = 0; k < 8 && word; k++) {
                const unsigned char c = (unsigned char)(h >> 8 * k);
                word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
            }
            if (word && memcmp(&h, one, 8) != 0) {
                memcpy(other, &h, 8);
                break;
            }
        }
    }
    assert_true(strlen(other) == 8 && il_word_hash((const uint8_t *)other, 8) == il_word_hash((const uint8_t *)one, 8));
    (void)snprintf(text, sizeof text, "%s and, much later, %s", one, other);
    add(t, 1, text);
    assert_int_equal(find(t, one).n, 1);
    assert_int_equal(find(t, other).n, 1);
    assert_true(names(t, other));
    close_place(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_in_an_empty_index),
        cmocka_unit_test(a_run_of_twelve),
        cmocka_unit_test(tokens),
        cmocka_unit_test(whole_names),
        cmocka_unit_test(two_runs_in_step),
        cmocka_unit_test(groups),
        cmocka_unit_test(never_less_without_its_text),
        cmocka_unit_test(without_text),
        cmocka_unit_test(a_full_index),
        cmocka_unit_test(bad_digests),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(shared_groups),
        cmocka_unit_test(a_large_query),
        cmocka_unit_test(all_alike),
        cmocka_unit_test(many_queries),
        cmocka_unit_test(words_of_one_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
