/* SPDX-License-Identifier: Apache-2.0 */
/* Normalised text and the readings of a text, as streams. `|` stands for a mark, `~` for one where something was cut, `_` for a gap. */
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
#include "provenance/decode_part.h"
#include "provenance/posting.h"
#include "provenance/token.h"

/* The stream with its marks and gaps shown. */
static const char *shown(const il_stream *s) {
    static char out[4096];
    size_t n = 0;
    for (size_t i = 0; i < s->n && n + 4 < sizeof out; i++) {
        if (il_stream_gap(s->gaps, i)) {
            out[n++] = '_';
        }
        out[n++] = s->p[i] == IL_NORMAL_END ? '|' : s->p[i] == IL_NORMAL_CUT ? '~' : (char)s->p[i];
    }
    out[n] = '\0';
    return out;
}

static const char *normal(const char *text) {
    test_memory memory;
    il_arena arena;
    il_stream s;
    test_memory_init(&memory, SIZE_MAX);
    il_arena_init(&arena, &memory.alloc, SIZE_MAX / 2);
    assert_int_equal(il_stream_init(&s, &arena, 1, true, NULL), IL_OK);
    assert_int_equal(il_stream_put(&s, il_str_of(text), NULL, NULL), IL_OK);
    for (size_t i = 0; i < s.n; i++) {
        assert_true(s.places[i].from < s.places[i].to && s.places[i].to <= strlen(text) &&
                    (i == 0 || s.places[i - 1].from <= s.places[i].from));
    }
    const char *out = shown(&s);
    il_arena_free(&arena);
    return out;
}

static const char *readings(const char *text) {
    test_memory memory;
    il_arena arena;
    il_stream s;
    bool cut;
    test_memory_init(&memory, SIZE_MAX);
    il_arena_init(&arena, &memory.alloc, SIZE_MAX / 2);
    assert_int_equal(il_stream_init(&s, &arena, 1, true, NULL), IL_OK);
    assert_int_equal(il_read(&s, il_str_of(text), &arena, &cut, NULL), IL_OK);
    assert_false(cut);
    for (size_t i = 0; i < s.n; i++) {
        assert_true(il_normal_mark(s.p[i]) || (s.places[i].from < s.places[i].to && s.places[i].to <= strlen(text)));
    }
    const char *out = shown(&s);
    il_arena_free(&arena);
    return out;
}

typedef struct row {
    const char *text, *want;
} row;

static void rows(const row *r, size_t n, const char *(*of)(const char *text)) {
    for (size_t i = 0; i < n; i++) {
        const char *got = of(r[i].text);
        if (strcmp(got, r[i].want) != 0) {
            fail_msg("`%s` gives `%s` and not `%s`", r[i].text, got, r[i].want);
        }
    }
}

static void normalising(void **state) {
    (void)state;
    static const row table[] = {
        {"", ""},
        {"Plain TEXT, 1+2", "plain_text,_1_2"},
        {" a \t\n b", "_a_b"},
        {"Stra\u00dfe \ufb01ne \u2163 \u00c9t\u00e9 e\u0301", "strasse_fine_iv_ete_e"},
        {"\uff21\uff42\uff11\u3000\U0001d400\U0001d7d9", "ab1_a1"},
        {"a\u200bb\u00adc\u202ed\ufeffe\U000e0041f\x01g\x7fh", "abcdefgh"},
        {"\u201cq\u201d \u2018s\u2019 a\u2013b\u2212c", "\"q\"_'s'_a-b-c"},
        {"\uac00\uac01", "\u1100\u1161\u1100\u1161\u11a8"},
        {"\u0130\u0131 \u03a3\u03c2\u03c3 \u212b \u00b5", "i\u0131_\u03c3\u03c3\u03c3_a_\u03bc"},
        {"caf\xe9 \xff\xc3", "cafe_ya"},
        {"\u00a8x\u2028y", "_x_y"},
        {"\u6f22\u5b57\u3002", "\u6f22\u5b57\u3002"},
    };
    rows(table, sizeof table / sizeof *table, normal);
}

static void reading(void **state) {
    (void)state;
    static const row table[] = {
        {"plain words only", "|plain_words_only|"},
        {"a%41b", "|a%41b||aab|"},
        {"%e9%C3%A9", "|%e9%c3%a9||ee|"},
        {"x\\u0041\\n\\\"\\ud83d\\ude00", "|x\\u0041\\n\\\"\\ud83d\\ude00||xa_\"\U0001f600|"},
        {"\\u00zz \\q % %4 &no; &", "|\\u00zz_\\q_%_%4_&no;_&|"},
        {"&#65;&#x42;&#67 &amp;&eacute;", "|&#65;&#x42;&#67_&amp;&eacute;||abc_&e|"},
        {"%2541", "|%2541||%41||a|"},
        {"aGVsbG8h", "|agvsbg8h||hello!|"},
        {"x-aGVsbG8h", "|x-agvsbg8h||hello!|"},
        {"aGVsbG8gd29ybGQsIHRoaXM=", "|agvsbg8gd29ybgqsihroaxm=||hello_world,_this|"},
        {"aGVsbG8gd29ybGQs\n IHRoaXM=", "|agvsbg8gd29ybgqs_ihroaxm=||hello_world,_this|"},
        {"68656c6c6f", "|68656c6c6f||hello|"},
        {"68656c6c6", "|68656c6c6||hell~"},
        {"\uff41\uff27\uff36s\u200bbG8h", "|agvsbg8h||agvsbg8h||hello!||lo!|"},
        {"YUdWc2JHOGg=", "|yudwc2jhogg=||agvsbg8h||hello!|"},
    };
    rows(table, sizeof table / sizeof *table, readings);
    /* cut in front, so that only one alignment is text */
    assert_non_null(strstr(readings("xxVsbG8gd29ybGQsIHRoaXMgaXMgdGhlIGVuZA=="), "lo_world,_this_is_the_end"));
    assert_non_null(strstr(readings("VsbG8gd29ybGQsIHRoaXMgaXMgdGhlIGVuZA=="), "~lo_world,_this_is_the_end"));
}

static void words(void **state) {
    (void)state;
    const uint8_t stream[] = "ab1.c\xfe"
                             "de\xff\xe6\xbc\xa2 f";
    const uint8_t gaps[4] = {0};
    static const struct {
        uint32_t at, n;
        bool whole;
    } want[] = {{0, 3, true}, {4, 1, false}, {6, 2, false}, {9, 3, true}, {13, 1, true}};
    size_t at = 0, n = 0;
    il_word w;
    while (il_word_next(stream, sizeof stream - 1, gaps, &at, &w)) {
        assert_true(n < sizeof want / sizeof *want);
        assert_true(w.at == want[n].at && w.n == want[n].n && w.whole == want[n].whole);
        n++;
    }
    assert_int_equal(n, sizeof want / sizeof *want);
}

/* Postings against counts, over many splits, with and without sketches; with memory that fails now and then. */
static void postings(void **state) {
    (void)state;
    enum { KEYS = 5000, MOST = 200000, BATCH = 30000 };
    test_memory memory;
    test_memory_init(&memory, SIZE_MAX);
    il_posting *list = calloc(BATCH, sizeof *list);
    assert_non_null(list);
    for (unsigned kind = 0; kind < 2; kind++) {
        static uint32_t counts[KEYS];
        il_postings p;
        uint64_t random = 7;
        uint32_t place = 0, failed = 0;
        memset(counts, 0, sizeof counts);
        il_postings_init(&p, &memory.alloc, kind & 1 ? IL_POSTING_SKETCHED : IL_POSTING_PLAIN);
        for (unsigned round = 0; place < MOST; round++) {
            const uint32_t n = round % 7 == 0 ? BATCH : round % 3 == 0 ? 1 : 900;
            for (uint32_t i = 0; i < n; i++) {
                random = random * UINT64_C(6364136223846793005) + 1;
                const uint32_t key = (uint32_t)(random >> 40) % KEYS;
                list[i] = (il_posting){.key = key * 1540483477u & 0xffffff, .more = (uint16_t)key, .place = place + i};
            }
            memory.left = round % 5 == 4 ? round % 4 : SIZE_MAX;
            memory.once = true;
            const il_status s = il_postings_add(&p, list, n, NULL);
            memory.left = SIZE_MAX;
            if (s != IL_OK) { /* then none of them is there */
                assert_int_equal(s, IL_E_MEMORY);
                failed++;
                continue;
            }
            random = 7 + place;
            for (uint32_t i = 0; i < n; i++) {
                counts[list[i].more]++;
            }
            place += n;
        }
        assert_true(failed > 0);
        for (uint32_t key = 0; key < KEYS; key++) {
            const uint32_t hash = key * 1540483477u & 0xffffff;
            il_posting_walk w = il_postings_walk(&p, hash);
            il_posting got;
            uint32_t n = 0, last = 0;
            while (il_posting_next(&w, &got)) {
                assert_true(got.place < place && (n == 0 || got.place > last));
                last = got.place;
                n += kind & 1 ? got.more == (uint16_t)key : 1;
            }
            assert_int_equal(n, counts[key]);
            assert_true(n == 0 || il_postings_may(&p, hash));
        }
        assert_true(p.total == place && p.bytes < (size_t)place * 14);
        p.max = p.bytes + 16; /* no room for that many more: none is added */
        assert_int_equal(il_postings_add(&p, list, BATCH, NULL), IL_E_LIMIT);
        assert_int_equal(p.total, place);
        il_postings_free(&p);
        assert_int_equal(memory.live, 0);
    }
    free(list);
}

/* A text of parts that blocks of 64 bytes cut anywhere: words, white space, controls, characters that are not ASCII, bytes that are no UTF-8. */
static size_t mixed(uint64_t *random, char *out, size_t most) {
    static const char *const parts[] = {"a",     "Zebra",     "0123456789", "the quick brown fox jumps over the lazy dog",
                                        " ",     "  \t",      "+",          "\n",
                                        "\x01",  "\x7f",      "\xc3\xa9",   "\u6f22",
                                        "\xff",  "a.b-c_d@e", "\\",         "%41",
                                        "&amp;", "{[^~`|}]",  "\u3000",     "\x1f"};
    size_t n = 0;
    *random = *random * UINT64_C(6364136223846793005) + 1;
    const unsigned few = 2 + (unsigned)(*random >> 40) % (sizeof parts / sizeof *parts - 1); /* most texts have few kinds */
    for (;;) {
        *random = *random * UINT64_C(6364136223846793005) + 1;
        const char *part = parts[(*random >> 40) % few];
        if (n + strlen(part) > most || (*random >> 33) % 50 == 0) {
            return n;
        }
        memcpy(out + n, part, strlen(part));
        n += strlen(part);
    }
}

static void mixed_put(il_stream *s, il_arena *arena, bool traced, il_str text) {
    assert_int_equal(il_stream_init(s, arena, 1, traced, NULL), IL_OK);
    assert_int_equal(il_stream_mark(s, IL_NORMAL_CUT, NULL), IL_OK);
    assert_int_equal(il_stream_put(s, text, NULL, NULL), IL_OK);
    assert_int_equal(il_stream_mark(s, text.n % 2 == 0 ? IL_NORMAL_CUT : IL_NORMAL_END, NULL), IL_OK);
    assert_int_equal(il_stream_put(s, text, NULL, NULL), IL_OK);
}

/* What is done for a block at a time is what is done byte by byte: normalising without and with places, words, where escapes may be. */
static void blocks(void **state) {
    (void)state;
    uint64_t random = 5;
    size_t found = 0;
    for (unsigned round = 0; round < 3000; round++) {
        test_memory memory;
        il_arena arena;
        il_stream fast, slow;
        char text[700];
        const il_str t = {text, mixed(&random, text, sizeof text)};
        test_memory_init(&memory, SIZE_MAX);
        il_arena_init(&arena, &memory.alloc, SIZE_MAX / 2);
        mixed_put(&fast, &arena, false, t);
        mixed_put(&slow, &arena, true, t);
        assert_int_equal(fast.n, slow.n);
        assert_memory_equal(fast.p, slow.p, fast.n);
        for (size_t i = 0; i <= fast.n; i++) {
            assert_int_equal(il_stream_gap(fast.gaps, i), il_stream_gap(slow.gaps, i));
        }
        il_words w = {.s = &fast};
        il_word one;
        size_t at = 0;
        while (il_words_next(&w)) {
            assert_true(w.n > 0);
            for (uint32_t i = 0; i < w.n; i++, found++) {
                assert_true(il_word_next(fast.p, fast.n, fast.gaps, &at, &one));
                assert_true(w.starts[i] == one.at && w.ends[i] == one.at + one.n);
                assert_int_equal(il_word_whole(fast.p, fast.n, fast.gaps, w.starts[i], w.ends[i]), one.whole);
            }
        }
        assert_false(il_word_next(fast.p, fast.n, fast.gaps, &at, &one));
        for (size_t i = 0; i <= t.n; i++) {
            size_t want = i;
            while (want < t.n && (unsigned char)text[want] < 0x80 && strchr("\\%&", text[want]) == NULL) {
                want++;
            }
            assert_int_equal(il_escape_next((const uint8_t *)text, t.n, i), want);
        }
        il_arena_free(&arena);
    }
    assert_true(found > 30000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalising), cmocka_unit_test(reading),  cmocka_unit_test(words),
        cmocka_unit_test(blocks),      cmocka_unit_test(postings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
