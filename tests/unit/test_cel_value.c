/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/ip.h"
#include "cel/code.h"
#include "cel/value_compare.h"
#include "helper_cel.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

typedef struct room {
    cel_memory memory;
    il_arena arena;
    il_cel_run run;
} room;

static void room_init(room *m) {
    cel_memory_init(&m->memory, SIZE_MAX);
    il_arena_init(&m->arena, &m->memory.alloc, (size_t)64 << 20);
    m->run = (il_cel_run){.scratch = &m->arena, .steps = 1000000};
}

static il_cel_value json(room *m, const char *text) {
    il_json *doc = NULL;
    assert_int_equal(il_json_parse(&m->arena, il_str_of(text), NULL, &doc, NULL), IL_OK);
    return il_cel_of_json(doc);
}

static il_cel_value text(const char *z) { return il_cel_of_str(il_str_of(z)); }
static il_cel_value list(const il_cel_value *items, uint32_t n) { return il_cel_of_items(IL_CEL_LIST, items, n); }
static il_cel_value map(const il_cel_value *entries, uint32_t n) { return il_cel_of_items(IL_CEL_MAP, entries, n); }
static il_cel_value stamp(int64_t seconds, uint32_t nanos) {
    il_cel_value v = il_cel_of(IL_CEL_TIMESTAMP, nanos);
    v.u.i = seconds;
    return v;
}
static il_cel_value span(int64_t nanos) {
    il_cel_value v = il_cel_of(IL_CEL_DURATION, 0);
    v.u.i = nanos;
    return v;
}
static double nan_of(void) {
    volatile double zero = 0;
    return zero / zero;
}

/* --- JSON ------------------------------------------------------------------------------------------------------------------ */

static void test_json_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        il_cel_kind kind;
        int64_t i;
        uint64_t u;
        double d;
    } rows[] = {
        {"0", IL_CEL_INT, 0, 0, 0},
        {"-0", IL_CEL_INT, 0, 0, 0},
        {"9223372036854775807", IL_CEL_INT, INT64_MAX, 0, 0},
        {"-9223372036854775808", IL_CEL_INT, INT64_MIN, 0, 0},
        {"9223372036854775808", IL_CEL_UINT, 0, UINT64_C(9223372036854775808), 0},
        {"18446744073709551615", IL_CEL_UINT, 0, UINT64_MAX, 0},
        {"18446744073709551616", IL_CEL_DOUBLE, 0, 0, 18446744073709551616.0},
        {"-9223372036854775809", IL_CEL_DOUBLE, 0, 0, -9223372036854775808.0},
        {"1.0", IL_CEL_DOUBLE, 0, 0, 1.0},
        {"1e3", IL_CEL_DOUBLE, 0, 0, 1000.0},
        {"-2.5E-1", IL_CEL_DOUBLE, 0, 0, -0.25},
        {"123456789012345678901234567890", IL_CEL_DOUBLE, 0, 0, 123456789012345678901234567890.0},
    };
    room m;
    room_init(&m);
    for (size_t i = 0; i < COUNT(rows); i++) {
        il_cel_value v = json(&m, rows[i].text);
        assert_int_equal(v.kind, rows[i].kind);
        assert_true(v.kind != IL_CEL_INT || v.u.i == rows[i].i);
        assert_true(v.kind != IL_CEL_UINT || v.u.u == rows[i].u);
        assert_true(v.kind != IL_CEL_DOUBLE || v.u.d == rows[i].d);
    }
    assert_int_equal(il_cel_of_json(NULL).kind, IL_CEL_NULL);
    assert_int_equal(json(&m, "null").kind, IL_CEL_NULL);
    assert_true(il_cel_true(json(&m, "true")));
    assert_int_equal(json(&m, "{\"a\":1}").n, 1);
    il_json built = {.kind = IL_JSON_NUMBER, .text = IL_STR("one")};
    assert_int_equal(il_cel_of_json(&built).kind, IL_CEL_ERROR);
    il_arena_free(&m.arena);
}

static void test_walks(void **state) {
    (void)state;
    room m;
    room_init(&m);
    const il_cel_value items[] = {il_cel_of_int(1), text("b")},
                       entries[] = {text("k"), il_cel_of_int(1), text("l"), il_cel_of_bool(true)};
    il_cel_value lists[] = {list(items, 2), json(&m, "[1,\"b\"]")}, maps[] = {map(entries, 2), json(&m, "{\"k\":1,\"l\":true}")};
    for (unsigned form = 0; form < 2; form++) {
        il_cel_walk w = il_cel_walk_of(&lists[form]);
        il_cel_value a, b;
        assert_true(il_cel_walk_item(&w, &a) && il_cel_equal(a, items[0]));
        assert_true(il_cel_walk_item(&w, &a) && il_cel_equal(a, items[1]));
        assert_false(il_cel_walk_item(&w, &a));
        w = il_cel_walk_of(&maps[form]);
        assert_true(il_cel_walk_entry(&w, &a, &b) && il_cel_equal(a, entries[0]) && il_cel_equal(b, entries[1]));
        assert_true(il_cel_walk_entry(&w, &a, &b) && il_cel_equal(a, entries[2]) && il_cel_equal(b, entries[3]));
        assert_false(il_cel_walk_entry(&w, &a, &b));
    }
    il_arena_free(&m.arena);
}

/* --- items and keys
 * ----------------------------------------------------------------------------------------------------------- */

static void test_list_at(void **state) {
    (void)state;
    room m;
    room_init(&m);
    const il_cel_value items[] = {il_cel_of_int(10), il_cel_of_int(11), il_cel_of_int(12)};
    const struct {
        il_cel_value index;
        il_cel_fault fault;
        int64_t got;
    } rows[] = {
        {il_cel_of_int(0), IL_CEL_NO_FAULT, 10},
        {il_cel_of_int(2), IL_CEL_NO_FAULT, 12},
        {il_cel_of_int(3), IL_CEL_MISSING, 0},
        {il_cel_of_int(-1), IL_CEL_MISSING, 0},
        {il_cel_of_int(INT64_MIN), IL_CEL_MISSING, 0},
        {il_cel_of_uint(1), IL_CEL_NO_FAULT, 11},
        {il_cel_of_uint(UINT64_MAX), IL_CEL_MISSING, 0},
        {il_cel_of_double(2.0), IL_CEL_NO_FAULT, 12},
        {il_cel_of_double(-0.0), IL_CEL_NO_FAULT, 10},
        {il_cel_of_double(1.5), IL_CEL_BAD_VALUE, 0},
        {il_cel_of_double(-0.5), IL_CEL_BAD_VALUE, 0},
        {il_cel_of_double(nan_of()), IL_CEL_BAD_VALUE, 0},
        {il_cel_of_double(1e300), IL_CEL_MISSING, 0},
        {il_cel_of_double(4294967296.0), IL_CEL_MISSING, 0},
        {text("0"), IL_CEL_NO_OVERLOAD, 0},
        {il_cel_of_bool(true), IL_CEL_NO_OVERLOAD, 0},
        {il_cel_of(IL_CEL_NULL, 0), IL_CEL_NO_OVERLOAD, 0},
    };
    il_cel_value lists[] = {list(items, 3), json(&m, "[10,11,12]")};
    for (unsigned form = 0; form < 2; form++) {
        for (size_t i = 0; i < COUNT(rows); i++) {
            il_cel_value v = il_cel_list_at(&m.run, &lists[form], &rows[i].index);
            assert_int_equal(v.kind == IL_CEL_ERROR ? v.fault : IL_CEL_NO_FAULT, rows[i].fault);
            assert_true(rows[i].fault != IL_CEL_NO_FAULT || v.u.i == rows[i].got);
        }
    }
    /* Walking to a far item of JSON costs, and is not for nothing when nothing is left. */
    m.run.steps = 0;
    const il_cel_value five = il_cel_of_int(5);
    il_cel_value far = json(&m, "[0,1,2,3,4,5]");
    assert_int_equal(il_cel_list_at(&m.run, &far, &five).fault, IL_CEL_BUDGET);
    il_arena_free(&m.arena);
}

static void test_map_at(void **state) {
    (void)state;
    room m;
    room_init(&m);
    il_cel_value entries[] = {
        text("b"),        il_cel_of_int(1),     il_cel_of_int(-3), il_cel_of_int(2),  il_cel_of_uint(UINT64_MAX),
        il_cel_of_int(3), il_cel_of_bool(true), il_cel_of_int(4),  il_cel_of_uint(7), il_cel_of_int(5),
        text(""),         il_cel_of_int(6),     il_cel_of_int(1),  il_cel_of_int(7),  il_cel_of_int(INT64_C(9007199254740993)),
        il_cel_of_int(8)};
    assert_true(il_cel_sort_entries(entries, 8));
    const il_cel_value native = map(entries, 8);
    const struct {
        il_cel_value key;
        int64_t got; /* 0: missing */
    } rows[] = {
        {text("b"), 1},
        {text(""), 6},
        {text("a"), 0},
        {text("c"), 0},
        {il_cel_of_int(-3), 2},
        {il_cel_of_double(-3), 2},
        {il_cel_of_double(-3.5), 0},
        {il_cel_of_uint(UINT64_MAX), 3},
        {il_cel_of_double(18446744073709551616.0), 0},
        {il_cel_of_int(-1), 0},
        {il_cel_of_bool(true), 4},
        {il_cel_of_bool(false), 0},
        {il_cel_of_int(7), 5},
        {il_cel_of_uint(7), 5},
        {il_cel_of_double(7), 5},
        {il_cel_of_int(1), 7},
        {il_cel_of_uint(1), 7},
        {il_cel_of_double(1), 7},
        {il_cel_of_double(nan_of()), 0},
        {il_cel_of_double(9007199254740992.0), 0},
        {il_cel_of(IL_CEL_NULL, 0), 0},
        {il_cel_of_bytes(IL_STR("b")), 0},
        {native, 0},
        {stamp(1, 0), 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        il_cel_value v = il_cel_map_at(&m.run, &native, &rows[i].key);
        if (rows[i].got == 0) {
            assert_true(v.kind == IL_CEL_ERROR && v.fault == IL_CEL_MISSING);
        } else {
            assert_true(v.kind == IL_CEL_INT && v.u.i == rows[i].got);
        }
    }
    const il_cel_value view = json(&m, "{\"b\":1,\"1\":2,\"true\":3}"), one = il_cel_of_int(1), yes = il_cel_of_bool(true);
    assert_int_equal(il_cel_map_get(&m.run, &view, IL_STR("b")).u.i, 1);
    assert_int_equal(il_cel_map_get(&m.run, &view, IL_STR("1")).u.i, 2);
    assert_int_equal(il_cel_map_at(&m.run, &view, &one).fault, IL_CEL_MISSING);
    assert_int_equal(il_cel_map_at(&m.run, &view, &yes).fault, IL_CEL_MISSING);
    il_arena_free(&m.arena);
}

static void test_sort(void **state) {
    (void)state;
    enum { MANY = 997 };
    il_cel_value entries[2 * MANY];
    for (unsigned i = 0; i < MANY; i++) {
        int64_t key = (int64_t)((uint64_t)i * 7919 % MANY);
        entries[2 * i] = key % 2 == 0 ? il_cel_of_int(key) : il_cel_of_uint((uint64_t)key);
        entries[2 * i + 1] = il_cel_of_int(key);
    }
    assert_true(il_cel_sort_entries(entries, MANY));
    for (unsigned i = 0; i < MANY; i++) {
        assert_true(entries[2 * i].u.i == (int64_t)i && entries[2 * i + 1].u.i == (int64_t)i);
    }
    entries[2 * 500] = il_cel_of_uint(3);
    assert_false(il_cel_sort_entries(entries, MANY));
    il_cel_value mixed[] = {text("a"),        il_cel_of_int(1),      il_cel_of_int(5),
                            il_cel_of_int(2), il_cel_of_bool(false), il_cel_of_int(3)};
    assert_true(il_cel_sort_entries(mixed, 3));
    assert_true(mixed[0].kind == IL_CEL_BOOL && mixed[2].kind == IL_CEL_INT && mixed[4].kind == IL_CEL_STRING);
    const il_cel_value wrong[] = {il_cel_of_double(1), il_cel_of(IL_CEL_NULL, 0), il_cel_of_bytes(IL_STR("a")), stamp(0, 0),
                                  il_cel_of_fault(IL_CEL_MISSING)};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        il_cel_value entry[] = {wrong[i], il_cel_of_int(1)};
        assert_false(il_cel_sort_entries(entry, 1));
    }
    il_cel_value twice[] = {il_cel_of_int(1), il_cel_of_int(1), il_cel_of_uint(1), il_cel_of_int(2)};
    assert_false(il_cel_sort_entries(twice, 2));
    assert_true(il_cel_sort_entries(twice, 0));
}

/* --- equality and order
 * ---------------------------------------------------------------------------------------------------------- */

static void test_same(void **state) {
    (void)state;
    room m;
    room_init(&m);
    const il_ip ip4 = {.family = 4, .bytes = {1, 2, 3, 4}}, ip6 = {.family = 6, .bytes = {1, 2, 3, 4}};
    const il_cidr net24 = {.ip = ip4, .prefix = 24}, net25 = {.ip = ip4, .prefix = 25};
    static const int here = 0, there = 0;
    const il_cel_value one_two[] = {il_cel_of_int(1), il_cel_of_double(2)}, two_one[] = {il_cel_of_int(2), il_cel_of_int(1)};
    const il_cel_value ab[] = {text("a"), il_cel_of_int(1), text("b"), list(one_two, 2)};
    const il_cel_value ac[] = {text("a"), il_cel_of_int(1), text("c"), list(one_two, 2)};
    const il_cel_value record[] = {il_cel_of_int(1), {0}}, other[] = {il_cel_of_int(1), il_cel_of_fault(IL_CEL_DIVIDE)};
    const il_cel_value one = il_cel_of_int(1), null = il_cel_of(IL_CEL_NULL, 0);
    il_cel_value ips[4] = {il_cel_of(IL_CEL_IP, 0), il_cel_of(IL_CEL_IP, 0), il_cel_of(IL_CEL_CIDR, 0),
                           il_cel_of(IL_CEL_CIDR, 0)};
    ips[0].u.p = (const char *)&ip4;
    ips[1].u.p = (const char *)&ip6;
    ips[2].u.p = (const char *)&net24;
    ips[3].u.p = (const char *)&net25;
    il_cel_value opaque[2] = {il_cel_of(IL_CEL_OPAQUE, 0), il_cel_of(IL_CEL_OPAQUE, 0)};
    opaque[0].u.p = (const char *)&here;
    opaque[1].u.p = (const char *)&there;
    /* Values of one group are equal, those of two are not. */
    const struct {
        il_cel_value v;
        int group;
    } rows[] = {
        {null, 0},
        {json(&m, "null"), 0},
        {il_cel_of_bool(true), 1},
        {il_cel_of_bool(false), 2},
        {one, 3},
        {il_cel_of_uint(1), 3},
        {il_cel_of_double(1), 3},
        {json(&m, "1"), 3},
        {json(&m, "1.0"), 3},
        {il_cel_of_int(0), 4},
        {il_cel_of_double(-0.0), 4},
        {il_cel_of_int(-1), 5},
        {il_cel_of_uint(UINT64_MAX), 6},
        {json(&m, "18446744073709551615"), 6},
        {il_cel_of_double(18446744073709551616.0), 6},
        {text(""), 7},
        {text("1"), 8},
        {json(&m, "\"1\""), 8},
        {il_cel_of_bytes(IL_STR("1")), 9},
        {il_cel_of_bytes(IL_STR("")), 10},
        {list(NULL, 0), 11},
        {json(&m, "[]"), 11},
        {list(one_two, 2), 12},
        {json(&m, "[1.0,2]"), 12},
        {list(two_one, 2), 13},
        {list(one_two, 1), 14},
        {map(NULL, 0), 15},
        {json(&m, "{}"), 15},
        {map(ab, 2), 16},
        {json(&m, "{\"b\":[1,2],\"a\":1}"), 16},
        {map(ac, 2), 17},
        {map(ab, 1), 18},
        {stamp(1, 5), 19},
        {stamp(1, 6), 20},
        {span(1), 21},
        {span(2), 22},
        {il_cel_of(IL_CEL_TYPE, IL_CEL_INT), 23},
        {il_cel_of(IL_CEL_TYPE, IL_CEL_UINT), 24},
        {il_cel_of_items(IL_CEL_OPTIONAL, NULL, 0), 25},
        {il_cel_of_items(IL_CEL_OPTIONAL, &one, 0), 26},
        {il_cel_of_items(IL_CEL_OPTIONAL, one_two, 0), 26},
        {il_cel_of_items(IL_CEL_OPTIONAL, &null, 0), 27},
        {ips[0], 28},
        {ips[1], 29},
        {ips[2], 30},
        {ips[3], 31},
        {il_cel_of_items(IL_CEL_RECORD, record, 2), 32},
        {il_cel_of_items(IL_CEL_RECORD, other, 2), 33},
        {opaque[0], 34},
        {opaque[1], 35},
        {text("a text that is longer than sixteen bytes"), 36},
        {text("a text that is longer than sixteen bytez"), 37},
        {text("a text of 16 byt"), 38},
        {text("a text of 16 byu"), 39},
        {text("abcdefgh"), 40},
        {text("abcdefgi"), 41},
        {text("bbcdefgh"), 42},
        {text("abc"), 43},
        {text("abd"), 44},
        {text("adc"), 45},
        {text("ab"), 46},
        {text("abcde"), 47},
        {text("abcdf"), 48},
        {text("bbcde"), 49},
        {il_cel_of_items(IL_CEL_RECORD, one_two, 1), 50},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t j = 0; j < COUNT(rows); j++) {
            if (il_cel_equal(rows[i].v, rows[j].v) != (rows[i].group == rows[j].group)) {
                fail_msg("rows %zu and %zu", i, j);
            }
        }
    }
    const il_cel_value nan = il_cel_of_double(nan_of());
    assert_false(il_cel_equal(nan, nan));
    assert_false(il_cel_equal(nan, one));
    assert_false(il_cel_equal(list(&nan, 1), list(&nan, 1)));
    assert_true(il_cel_equal(il_cel_of_fault(IL_CEL_MISSING), il_cel_of_fault(IL_CEL_MISSING)));
    assert_false(il_cel_equal(il_cel_of_fault(IL_CEL_MISSING), il_cel_of_fault(IL_CEL_UNSET)));
    il_arena_free(&m.arena);
}

static void test_same_costs(void **state) {
    (void)state;
    static char a[64 * 100], b[64 * 100];
    il_cel_run r = {.steps = 1000};
    memset(a, 'x', sizeof a);
    memset(b, 'x', sizeof b);
    const il_cel_value va = il_cel_of_str((il_str){a, sizeof a}), vb = il_cel_of_str((il_str){b, sizeof b});
    assert_true(il_cel_same(&r, &va, &vb));
    assert_int_equal(r.steps, 900);
    r.steps = 99;
    assert_false(il_cel_same(&r, &va, &vb));
    assert_int_equal(r.steps, -1);
    /* A tree without an end is the end of the budget, not of the stack. */
    il_cel_value loop[1];
    loop[0] = list(loop, 1);
    il_cel_value twin[1];
    twin[0] = list(twin, 1);
    r.steps = 1000000;
    assert_false(il_cel_same(&r, &loop[0], &twin[0]));
    assert_int_equal(r.steps, -1);
    assert_false(il_cel_equal(loop[0], twin[0]));
}

static void test_order(void **state) {
    (void)state;
    const il_cel_value nan = il_cel_of_double(nan_of());
    const struct {
        il_cel_value a, b;
        int order;
    } rows[] = {
        {il_cel_of_int(1), il_cel_of_int(2), -1},
        {il_cel_of_int(-1), il_cel_of_uint(0), -1},
        {il_cel_of_int(1), il_cel_of_uint(1), 0},
        {il_cel_of_uint(UINT64_MAX), il_cel_of_int(INT64_MAX), 1},
        {il_cel_of_int(1), il_cel_of_double(1.5), -1},
        {il_cel_of_int(INT64_MAX), il_cel_of_double(9223372036854775808.0), 0}, /* compared as doubles: the language's tests */
        {il_cel_of_int(INT64_MAX), il_cel_of_double(9223372036854777856.0), -1},
        {il_cel_of_int(INT64_MIN), il_cel_of_double(-9223372036854775808.0), 0},
        {il_cel_of_int(INT64_MIN), il_cel_of_double(-9223372036854777856.0), 1},
        {il_cel_of_uint(UINT64_MAX), il_cel_of_double(18446744073709551616.0), 0},
        {il_cel_of_uint(UINT64_MAX), il_cel_of_double(18446744073709555712.0), -1},
        {il_cel_of_uint(0), il_cel_of_double(-0.5), 1},
        {il_cel_of_double(-0.0), il_cel_of_double(0.0), 0},
        {nan, il_cel_of_int(1), IL_CEL_UNORDERED},
        {nan, il_cel_of_uint(1), IL_CEL_UNORDERED},
        {nan, nan, IL_CEL_UNORDERED},
        {text("a"), text("b"), -1},
        {text("a"), text("aa"), -1},
        {text("\xef\xbf\xbd"), text("\xf0\x9f\x98\x80"), -1},
        {il_cel_of_bytes(IL_STR("\xff")), il_cel_of_bytes(IL_STR("\x01")), 1},
        {il_cel_of_bool(false), il_cel_of_bool(true), -1},
        {stamp(1, 5), stamp(1, 6), -1},
        {stamp(-1, 5), stamp(1, 0), -1},
        {stamp(7, 5), stamp(7, 5), 0},
        {span(-1), span(1), -1},
        {text("a"), il_cel_of_int(1), IL_CEL_INCOMPARABLE},
        {il_cel_of_bool(true), il_cel_of_int(1), IL_CEL_INCOMPARABLE},
        {il_cel_of(IL_CEL_NULL, 0), il_cel_of(IL_CEL_NULL, 0), IL_CEL_INCOMPARABLE},
        {list(NULL, 0), list(NULL, 0), IL_CEL_INCOMPARABLE},
        {stamp(1, 0), span(1), IL_CEL_INCOMPARABLE},
        {text("a"), il_cel_of_bytes(IL_STR("a")), IL_CEL_INCOMPARABLE},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(il_cel_order(&rows[i].a, &rows[i].b), rows[i].order);
        int turned = rows[i].order == IL_CEL_UNORDERED || rows[i].order == IL_CEL_INCOMPARABLE ? rows[i].order : -rows[i].order;
        assert_int_equal(il_cel_order(&rows[i].b, &rows[i].a), turned);
    }
}

/* --- sets, room, names
 * --------------------------------------------------------------------------------------------------------------- */

static void test_sets(void **state) {
    (void)state;
    enum { MANY = 300 };
    room m;
    room_init(&m);
    char texts[2 * MANY][48];
    il_cel_value items[MANY], ints[MANY];
    for (unsigned i = 0; i < 2 * MANY; i++) { /* half of them in the list; of every length, many alike */
        (void)snprintf(texts[i], sizeof texts[i], "%.*s%u", (int)(i % 40), "the same beginning for all of these texts", i);
    }
    for (unsigned i = 0; i < MANY; i++) {
        items[i] = text(texts[2 * i]);
        ints[i] = il_cel_of_int((int64_t)(i * 37 % MANY) * 3 - 100);
    }
    il_cel_set words, numbers;
    const il_cel_value word_list = list(items, MANY), number_list = list(ints, MANY);
    assert_true(il_cel_set_worth(&word_list) && il_cel_set_worth(&number_list));
    assert_int_equal(il_cel_set_make(&m.arena, word_list, &words, NULL), IL_OK);
    assert_int_equal(il_cel_set_make(&m.arena, number_list, &numbers, NULL), IL_OK);
    for (unsigned i = 0; i < 2 * MANY; i++) {
        il_cel_value v = text(texts[i]);
        assert_int_equal(il_cel_set_has(&m.run, &words, &v), i % 2 == 0);
    }
    for (int64_t i = -200; i < 1000; i++) {
        bool in = i >= -100 && i < -100 + 3 * MANY && (i + 100) % 3 == 0;
        const il_cel_value forms[] = {il_cel_of_int(i), il_cel_of_double((double)i), il_cel_of_uint((uint64_t)i)};
        for (unsigned form = 0; form < (i < 0 ? 2u : 3u); form++) {
            assert_int_equal(il_cel_set_has(&m.run, &numbers, &forms[form]), in);
        }
    }
    const il_cel_value odd[] = {il_cel_of_bool(true), il_cel_of(IL_CEL_NULL, 0), il_cel_of_bytes(IL_STR("0")),
                                il_cel_of_double(0.5)};
    for (size_t i = 0; i < COUNT(odd); i++) {
        assert_false(il_cel_set_has(&m.run, &words, &odd[i]));
        assert_false(il_cel_set_has(&m.run, &numbers, &odd[i]));
    }
    const il_cel_value few = list(items, 2), mixed_items[] = {items[0], ints[0], items[1]}, mixed = list(mixed_items, 3);
    assert_false(il_cel_set_worth(&few));
    assert_false(il_cel_set_worth(&mixed));
    il_arena_free(&m.arena);
}

static void test_room(void **state) {
    (void)state;
    room m;
    room_init(&m);
    m.run.steps = 10;
    assert_non_null(il_cel_room(&m.run, 64 * 4));
    assert_int_equal(m.run.steps, 6);
    assert_non_null(il_cel_room_values(&m.run, 8));
    assert_int_equal(m.run.steps, 4);
    assert_null(il_cel_room_values(&m.run, 100));
    assert_int_equal(m.run.steps, -1);
    assert_null(il_cel_room(&m.run, 1)); /* what is over stays over */
    m.run.steps = INT64_MAX;
    assert_null(il_cel_room_values(&m.run, SIZE_MAX / 2));
    m.run.steps = INT64_MAX;
    assert_null(il_cel_room(&m.run, (size_t)65 << 20));
    m.run = (il_cel_run){.steps = 10};
    assert_null(il_cel_room(&m.run, 1));
    assert_int_equal(m.run.steps, -1);
    il_arena_free(&m.arena);
}

static void test_names(void **state) {
    (void)state;
    assert_true(il_str_eq(il_cel_kind_name(IL_CEL_TIMESTAMP), IL_STR("google.protobuf.Timestamp")));
    for (unsigned k = 0; k <= IL_CEL_PARAM; k++) {
        assert_true(il_cel_kind_name((il_cel_kind)k).n > 0);
        for (unsigned other = 0; other < k; other++) {
            assert_false(il_str_eq(il_cel_kind_name((il_cel_kind)k), il_cel_kind_name((il_cel_kind)other)));
        }
    }
    static const il_cel_type hosts = {.kind = IL_CEL_OPAQUE, .name = {"host.Thing", 10}};
    il_cel_value v = il_cel_of(IL_CEL_TYPE, IL_CEL_OPAQUE);
    assert_true(il_str_eq(il_cel_type_name(v), IL_STR("opaque")));
    v.u.type = &hosts;
    assert_true(il_str_eq(il_cel_type_name(v), IL_STR("host.Thing")));
    assert_true(il_str_eq(il_cel_type_name(il_cel_of(IL_CEL_TYPE, IL_CEL_OPTIONAL)), IL_STR("optional_type")));
    assert_int_equal(il_cel_type_name(il_cel_of_int(1)).n, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_numbers), cmocka_unit_test(test_walks), cmocka_unit_test(test_list_at),
        cmocka_unit_test(test_map_at),       cmocka_unit_test(test_sort),  cmocka_unit_test(test_same),
        cmocka_unit_test(test_same_costs),   cmocka_unit_test(test_order), cmocka_unit_test(test_sets),
        cmocka_unit_test(test_room),         cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
