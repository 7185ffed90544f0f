/* SPDX-License-Identifier: Apache-2.0 */
/* All operators over all pairs of kinds; what absorbs which error; the budget; memory that runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/ip.h"
#include "cel/eval.h"
#include "helper_cel.h"
#include "helper_cel_oracle.h"

static const il_cel_field free_vars[] = {{{"a", 1}, NULL}, {{"b", 1}, NULL}, {{"c", 1}, NULL}, {{"d", 1}, NULL}};
static const il_cel_env free_env = {.size = sizeof free_env, .vars = free_vars, .nvars = 4};
static const il_cel_limits free_limits = {.size = sizeof free_limits, .unchecked = true};

static void compile(cel_case *c, const char *text) {
    cel_case_init(c);
    if (il_cel_compile(&c->arena, il_str_of(text), 1, 1, &free_env, IL_CEL_NULL, &free_limits, &c->program, &c->err) != IL_OK) {
        fail_msg("%s: %s", text, c->err.msg);
    }
}

/* --- operators x kinds
 * ------------------------------------------------------------------------------------------------------- */

/* One letter a kind: n null, b bool, i int, u uint, d double, s string, y bytes, l list, m map, T timestamp, D duration, t
 * type, o optional, p ip,
 * c cidr, r record, q opaque. */
static char letter(il_cel_value v) { return "?nbiudsylmTDtopcrq"[v.kind]; }

/* What has an overload, as pairs of letters; `==` and `!=` take everything, `in` anything on its left. */
static const struct {
    const char *sign, *pairs;
} overloads[] = {
    {"+", "ii uu dd ss yy ll DD TD DT"},
    {"-", "ii uu dd DD TD TT"},
    {"*", "ii uu dd"},
    {"/", "ii uu dd"},
    {"%", "ii uu"},
    {"<", "bb ii iu id ui uu ud di du dd ss yy TT DD"},
    {"<=", "bb ii iu id ui uu ud di du dd ss yy TT DD"},
    {">", "bb ii iu id ui uu ud di du dd ss yy TT DD"},
    {">=", "bb ii iu id ui uu ud di du dd ss yy TT DD"},
    {"==", "*"},
    {"!=", "*"},
    {"in", "*l *m"},
};

static bool has_overload(const char *pairs, char a, char b) {
    if (pairs[0] == '*' && pairs[1] == 0) {
        return true;
    }
    for (const char *p = pairs; p[0] != 0; p += p[2] != 0 ? 3 : 2) {
        if ((p[0] == a || p[0] == '*') && p[1] == b) {
            return true;
        }
    }
    return false;
}

static size_t all_values(il_arena *arena, il_cel_value *out) {
    static const il_ip ip = {.family = 4, .bytes = {127, 0, 0, 1}};
    static const il_cidr cidr = {.ip = {.family = 4, .bytes = {10}}, .prefix = 8};
    static il_cel_value items[4], entries[4];
    volatile double zero = 0;
    size_t n = 0;
    items[0] = il_cel_of_int(1);
    items[1] = il_cel_of_str(IL_STR("a"));
    items[2] = il_cel_of_double(2.5);
    entries[0] = il_cel_of_int(1);
    entries[1] = il_cel_of_bool(true);
    entries[2] = il_cel_of_str(IL_STR("a"));
    entries[3] = il_cel_of_int(0);
    il_json *list = NULL, *map = NULL;
    assert_int_equal(il_json_parse(arena, IL_STR("[1,\"a\",2.5]"), NULL, &list, NULL), IL_OK);
    assert_int_equal(il_json_parse(arena, IL_STR("{\"a\":0}"), NULL, &map, NULL), IL_OK);
    out[n++] = il_cel_of(IL_CEL_NULL, 0);
    out[n++] = il_cel_of_bool(false);
    out[n++] = il_cel_of_bool(true);
    const int64_t ints[] = {0, 1, -1, 7, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < 6; i++) {
        out[n++] = il_cel_of_int(ints[i]);
    }
    const uint64_t uints[] = {0, 1, 7, (uint64_t)1 << 63, UINT64_MAX};
    for (size_t i = 0; i < 5; i++) {
        out[n++] = il_cel_of_uint(uints[i]);
    }
    const double doubles[] = {0.0, -0.0, 1, 2.5, 1 / zero, zero / zero, 9223372036854775808.0};
    for (size_t i = 0; i < 7; i++) {
        out[n++] = il_cel_of_double(doubles[i]);
    }
    out[n++] = il_cel_of_str(IL_STR(""));
    out[n++] = il_cel_of_str(IL_STR("a"));
    out[n++] = il_cel_of_str(IL_STR("b longer text than sixteen bytes"));
    out[n++] = il_cel_of_bytes(IL_STR(""));
    out[n++] = il_cel_of_bytes(IL_STR("a"));
    out[n++] = il_cel_of_items(IL_CEL_LIST, NULL, 0);
    out[n++] = il_cel_of_items(IL_CEL_LIST, items, 3);
    out[n++] = il_cel_of_json(list);
    out[n++] = il_cel_of_items(IL_CEL_MAP, NULL, 0);
    out[n++] = il_cel_of_items(IL_CEL_MAP, entries, 2);
    out[n++] = il_cel_of_json(map);
    out[n] = il_cel_of(IL_CEL_TIMESTAMP, 5);
    out[n++].u.i = 1000;
    out[n] = il_cel_of(IL_CEL_TIMESTAMP, 999999999);
    out[n++].u.i = INT64_C(253402300799);
    for (size_t i = 0; i < 4; i++) {
        out[n] = il_cel_of(IL_CEL_DURATION, 0);
        out[n++].u.i = ints[i + 2];
    }
    out[n++] = il_cel_of(IL_CEL_TYPE, IL_CEL_INT);
    out[n++] = il_cel_of(IL_CEL_TYPE, IL_CEL_LIST);
    out[n++] = il_cel_of_items(IL_CEL_OPTIONAL, NULL, 0);
    out[n++] = il_cel_of_items(IL_CEL_OPTIONAL, items, 0);
    out[n] = il_cel_of(IL_CEL_IP, 0);
    out[n++].u.p = (const char *)&ip;
    out[n] = il_cel_of(IL_CEL_CIDR, 0);
    out[n++].u.p = (const char *)&cidr;
    out[n++] = il_cel_of_items(IL_CEL_RECORD, items, 3);
    out[n] = il_cel_of(IL_CEL_OPAQUE, 0);
    out[n++].u.p = (const char *)&ip;
    return n;
}

static void test_operators(void **state) {
    (void)state;
    il_cel_value values[64];
    cel_memory memory;
    il_arena kept;
    cel_memory_init(&memory, SIZE_MAX);
    il_arena_init(&kept, &memory.alloc, (size_t)1 << 20);
    size_t n = all_values(&kept, values);
    bool kinds[IL_CEL_PARAM] = {false};
    assert_true(n <= 64);
    for (size_t i = 0; i < n; i++) {
        kinds[values[i].kind] = true;
    }
    for (unsigned k = IL_CEL_NULL; k < IL_CEL_PARAM; k++) {
        assert_true(kinds[k]);
    }
    for (size_t o = 0; o < sizeof overloads / sizeof overloads[0]; o++) {
        char text[64];
        cel_case c;
        (void)snprintf(text, sizeof text, "a %s b", overloads[o].sign);
        compile(&c, text);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                const il_cel_value vars[4] = {values[i], values[j]};
                il_cel_value got = il_cel_eval(c.program, vars, &c.arena), want = cel_oracle(c.program, vars, &c.arena);
                bool none = got.kind == IL_CEL_ERROR && got.fault == IL_CEL_NO_OVERLOAD;
                if (!cel_oracle_same(got, want) ||
                    none == has_overload(overloads[o].pairs, letter(values[i]), letter(values[j]))) {
                    fail_msg("%s of values %zu and %zu (%c, %c): kind %u, fault %u", text, i, j, letter(values[i]),
                             letter(values[j]), got.kind, got.fault);
                }
            }
            /* An error on either side is the answer, the left one first. */
            const il_cel_value left[4] = {il_cel_of_fault(IL_CEL_DIVIDE), values[i]},
                               right[4] = {values[i], il_cel_of_fault(IL_CEL_DIVIDE)};
            assert_int_equal(il_cel_eval(c.program, left, &c.arena).fault, IL_CEL_DIVIDE);
            assert_int_equal(il_cel_eval(c.program, right, &c.arena).fault, IL_CEL_DIVIDE);
        }
        const il_cel_value both[4] = {il_cel_of_fault(IL_CEL_MISSING), il_cel_of_fault(IL_CEL_DIVIDE)};
        assert_int_equal(il_cel_eval(c.program, both, &c.arena).fault, IL_CEL_MISSING);
        cel_case_free(&c);
    }
    static const struct {
        const char *text, *kinds;
    } unary[] = {{"!a", "b"},
                 {"-a", "id"},
                 {"a ? 1 : 2", "b"},
                 {"a.x", "mo"},
                 {"a[0]", "lmo"},
                 {"has(a.x)", "mo"},
                 {"a.exists(x, false)", "lm"},
                 {"a.map(x, 1)", "lm"},
                 {"a.optMap(x, 1)", "o"},
                 {"[?a]", "o"},
                 {"{a: 1}", "bius"},
                 {"size(a)", "sylm"}};
    for (size_t o = 0; o < sizeof unary / sizeof unary[0]; o++) {
        cel_case c;
        compile(&c, unary[o].text);
        for (size_t i = 0; i < n; i++) {
            const il_cel_value vars[4] = {values[i]};
            il_cel_value got = il_cel_eval(c.program, vars, &c.arena);
            bool none = got.kind == IL_CEL_ERROR && got.fault == IL_CEL_NO_OVERLOAD;
            bool taken = strchr(unary[o].kinds, letter(values[i])) != NULL;
            bool inside =
                o >= 3 && o <= 5 && letter(values[i]) == 'o' && values[i].u.items != NULL; /* a member of what is in it, an int */
            if (none == (taken && !inside)) {
                fail_msg("%s of value %zu (%c): kind %u, fault %u", unary[o].text, i, letter(values[i]), got.kind, got.fault);
            }
            assert_true(cel_oracle_same(got, cel_oracle(c.program, vars, &c.arena)));
        }
        cel_case_free(&c);
    }
    il_arena_free(&kept);
}

/* Products beside every power of two, against 128 bits. */
static void test_multiply(void **state) {
    (void)state;
    __extension__ typedef __int128 wide;
    __extension__ typedef unsigned __int128 uwide;
    uint64_t edges[64 * 3];
    size_t n = 0;
    for (unsigned bit = 0; bit < 64; bit++) {
        for (int off = -1; off <= 1; off++) {
            edges[n++] = ((uint64_t)1 << bit) + (uint64_t)(int64_t)off;
        }
    }
    il_cel_run r = {.steps = 100};
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            const il_cel_value ua = il_cel_of_uint(edges[i]), ub = il_cel_of_uint(edges[j]),
                               ia = il_cel_of_int((int64_t)edges[i]), ib = il_cel_of_int((int64_t)edges[j]);
            il_cel_value u = il_cel_binary(&r, IL_CEL_C_MUL, &ua, &ub), s = il_cel_binary(&r, IL_CEL_C_MUL, &ia, &ib);
            uwide up = (uwide)edges[i] * edges[j];
            wide sp = (wide)(int64_t)edges[i] * (int64_t)edges[j];
            assert_true(up >> 64 != 0 ? u.kind == IL_CEL_ERROR && u.fault == IL_CEL_OVERFLOW
                                      : u.kind == IL_CEL_UINT && u.u.u == (uint64_t)up);
            assert_true(sp < INT64_MIN || sp > INT64_MAX ? s.kind == IL_CEL_ERROR && s.fault == IL_CEL_OVERFLOW
                                                         : s.kind == IL_CEL_INT && s.u.i == (int64_t)sp);
        }
    }
}

/* --- absorption
 * ------------------------------------------------------------------------------------------------------------------ */

/* What an operand can be. */
enum { YES, NO, WRONG_KIND, UNSET, DIVIDED, STATES };

static il_cel_value state_value(unsigned state) {
    return state == YES          ? il_cel_of_bool(true)
           : state == NO         ? il_cel_of_bool(false)
           : state == WRONG_KIND ? il_cel_of_int(5)
           : state == UNSET      ? (il_cel_value){0}
                                 : il_cel_of_fault(IL_CEL_DIVIDE);
}

/* -1: an error. Of three values in any order. */
static int fold(const unsigned *states, unsigned n, unsigned decides) {
    bool error = false;
    for (unsigned i = 0; i < n; i++) {
        if (states[i] == decides) {
            return decides == YES;
        }
        error = error || states[i] >= WRONG_KIND;
    }
    return error ? -1 : decides == NO;
}

static int truth(il_cel_value v) { return v.kind == IL_CEL_BOOL ? v.u.b : v.kind == IL_CEL_ERROR ? -1 : 99; }

static void test_absorption(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned n, decides;
    } rows[] = {
        {"a && b", 2, NO},
        {"a || b", 2, YES},
        {"a && b && c", 3, NO},
        {"a || b || c", 3, YES},
        {"(a && b) && c", 3, NO},
        {"a || (b || c)", 3, YES},
        {"[0, 1, 2].exists(i, d[i])", 3, YES},
        {"[0, 1, 2].all(i, d[i])", 3, NO},
        {"d.exists(x, x)", 3, YES},
        {"d.all(x, x)", 3, NO},
        {"d.exists(i, x, x)", 3, YES},
        {"d.all(i, x, x)", 3, NO},
        {"!(!a || !b)", 2, NO},
        {"true && a && b", 2, NO},
        {"a && (b && true)", 2, NO},
        {"false || a || b", 2, YES},
        {"a ? b : false", 0, 0}, /* by itself below */
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        cel_case c;
        compile(&c, rows[row].text);
        for (unsigned i = 0; i < STATES * STATES * STATES; i++) {
            const unsigned states[3] = {i % STATES, i / STATES % STATES, i / STATES / STATES};
            const il_cel_value items[3] = {state_value(states[0]), state_value(states[1]), state_value(states[2])};
            const il_cel_value vars[4] = {items[0], items[1], items[2], il_cel_of_items(IL_CEL_LIST, items, 3)};
            il_cel_value got = il_cel_eval(c.program, vars, NULL);
            int want = rows[row].n > 0           ? fold(states, rows[row].n, rows[row].decides)
                       : states[0] == NO         ? 0
                       : states[0] >= WRONG_KIND ? -1
                                                 : 99;
            if (rows[row].n == 0 && states[0] == YES) {
                want = states[1] == WRONG_KIND ? 99 : states[1] > WRONG_KIND ? -1 : states[1] == YES;
            }
            if (truth(got) != want) {
                fail_msg("%s in case %u: kind %u, fault %u", rows[row].text, i, got.kind, got.fault);
            }
            assert_true(cel_oracle_same(got, cel_oracle(c.program, vars, &c.arena)));
        }
        cel_case_free(&c);
    }
}

/* The loops that are one instruction, in all their forms, over items of every state. */
static void test_each(void **state) {
    (void)state;
    static const il_cel_field members[] = {{{"e", 1}, NULL}, {{"f", 1}, &il_cel_type_string}};
    static const il_cel_type strings = {.kind = IL_CEL_LIST, .element = &il_cel_type_string},
                             rec = {.kind = IL_CEL_RECORD, .fields = members, .nfields = 2, .name = {"rec", 3}},
                             recs = {.kind = IL_CEL_LIST, .element = &rec};
    static const il_cel_field fields[] = {{{"d", 1}, &strings}, {{"rs", 2}, &recs}, {{"j", 1}, NULL}, {{"r", 1}, &rec}};
    static const il_cel_env env = {.size = sizeof env, .vars = fields, .nvars = 4};
    static const char *const ranges[] = {"d", "rs", "j"};
    cel_case kept;
    cel_case_init(&kept);
    il_json *json = NULL;
    assert_int_equal(il_json_parse(&kept.arena, IL_STR("[\"word\",\"w\",1,{\"word\":1}]"), NULL, &json, NULL), IL_OK);
    for (unsigned form = 0; form < 3 * 2 * 2 * 2 * 2; form++) {
        unsigned range = form % 3;
        bool all = form / 3 % 2 != 0, not = form / 6 % 2 != 0, turned = form / 12 % 2 != 0, swapped = form / 24 % 2 != 0;
        const char *what = range == 1 ? "x.f" : "x";
        char text[100];
        (void)snprintf(text, sizeof text, "%s%s.%s(x, %s %s %s)", turned ? "!" : "", ranges[range], all ? "all" : "exists",
                       swapped ? "'word'" : what, not ? "!=" : "==", swapped ? what : "'word'");
        cel_case c;
        cel_case_init(&c);
        assert_int_equal(il_cel_compile(&c.arena, il_str_of(text), 1, 1, &env, IL_CEL_BOOL, NULL, &c.program, &c.err), IL_OK);
        assert_int_equal(c.program->code->nwords, 3); /* it, what belongs to it, RETURN */
        for (unsigned i = 0; i < 6 * 6 * 6; i++) {
            il_cel_value items[3], records[3][2], lines[3];
            for (unsigned k = 0, rest = i; k < 3; k++, rest /= 6) {
                const il_cel_value states[6] = {
                    il_cel_of_str(IL_STR("word")),  il_cel_of_str(IL_STR("w")),           il_cel_of_int(1), {0},
                    il_cel_of_fault(IL_CEL_DIVIDE), il_cel_of_items(IL_CEL_LIST, NULL, 0)};
                items[k] = states[rest % 6];
                records[k][0] = il_cel_of_int(1);
                records[k][1] = items[k];
                lines[k] = rest % 6 == 5 ? items[k]
                                         : il_cel_of_items(IL_CEL_RECORD, records[k],
                                                           rest % 6 == 2 ? 1 : 2); /* some are no records, or short ones */
            }
            const il_cel_value entries[] = {il_cel_of_int(1), {0}, il_cel_of_str(IL_STR("word")), {0}};
            const il_cel_value others[] = {il_cel_of_json(json),
                                           il_cel_of_json(json->last),
                                           il_cel_of_items(IL_CEL_MAP, entries, i % 3),
                                           il_cel_of_int(1),
                                           {0},
                                           il_cel_of_items(IL_CEL_LIST, items, 3)};
            const il_cel_value vars[4] = {il_cel_of_items(IL_CEL_LIST, items, 3), il_cel_of_items(IL_CEL_LIST, lines, 3),
                                          others[i % 6]};
            il_cel_value got = il_cel_eval(c.program, vars, NULL), want = cel_oracle(c.program, vars, &c.arena);
            if (!cel_oracle_same(got, want)) {
                fail_msg("%s in case %u: kind %u, fault %u, truth %d", text, i, got.kind, got.fault, got.u.b);
            }
        }
        cel_case_free(&c);
    }
    cel_case_free(&kept);
}

/* --- the budget
 * --------------------------------------------------------------------------------------------------------------------- */

/* Wherever it runs out, nothing absorbs it, and with enough of it the answer is what it is. */
static void test_budget(void **state) {
    (void)state;
    static const char *const rows[] = {
        "a.exists(x, x == 'none') || true",
        "true && (a.all(x, x != 'none') || true)",
        "!a.exists(x, false && a.all(y, y == x)) || true",
        "size(a.map(x, x + x)) > 0 || true",
        "a.filter(x, true).exists(x, true) || true",
        "(a + a == a) || true",
        "(a == b) || true",
        "a.exists_one(x, x == 'k') || true",
        "a.exists(i, x, i > 100) || true",
        "a.exists(x, x == a[0] && false) || true",
        "a.transformMap(i, x, x).exists(k, k == -1) || true",
        "a.transformMapEntry(i, x, {string(i): x}).exists(k, k == '') || true",
        "[a[0]].exists(x, x in a && false) || true",
        "cel.bind(z, a.map(x, x), z == a) && false ? false : true",
        "optional.of(a).optMap(x, x + x).hasValue() || true",
    };
    il_cel_value items[12], twins[12];
    static char texts[12][200], copies[12][200];
    for (unsigned i = 0; i < 12; i++) {
        memset(texts[i], (int)('a' + i), sizeof texts[i]);
        memset(copies[i], (int)('a' + i), sizeof copies[i]);
        items[i] = il_cel_of_str((il_str){texts[i], sizeof texts[i]});
        twins[i] = il_cel_of_str((il_str){copies[i], sizeof copies[i]});
    }
    const il_cel_value vars[4] = {il_cel_of_items(IL_CEL_LIST, items, 12), il_cel_of_items(IL_CEL_LIST, twins, 12)};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        cel_case c;
        compile(&c, rows[row]);
        uint64_t enough = 0;
        bool ran_out = false;
        for (uint64_t steps = 0; enough == 0 && steps < 20000; steps++) {
            il_cel_program p = *c.program;
            p.steps = steps;
            il_cel_value v = il_cel_eval(&p, vars, &c.arena);
            if (il_cel_true(v)) {
                enough = steps;
            } else {
                assert_true(v.kind == IL_CEL_ERROR && v.fault == IL_CEL_BUDGET);
                ran_out = true;
            }
            il_arena_reset(&c.arena);
            cel_case_free(&c);
            compile(&c, rows[row]);
        }
        assert_true(ran_out && enough > 0);
        cel_case_free(&c);
    }
    /* A host's value that is this error is not absorbed either. */
    static const char *const plain[] = {"a || true",
                                        "true && a || true",
                                        "[a].exists(x, x) || true",
                                        "d.exists(x, x) || true",
                                        "d.exists(x, x == 1) || true",
                                        "d.all(x, true) ? true : true",
                                        "(a ? true : true) || true",
                                        "c.x || true",
                                        "d.exists(i, x, true) || true"};
    const il_cel_value spent = il_cel_of_fault(IL_CEL_BUDGET), entry[] = {il_cel_of_str(IL_STR("x")), spent};
    const il_cel_value gone[4] = {spent, spent, il_cel_of_items(IL_CEL_MAP, entry, 1), il_cel_of_items(IL_CEL_LIST, &spent, 1)};
    for (size_t row = 0; row < sizeof plain / sizeof plain[0]; row++) {
        cel_case c;
        compile(&c, plain[row]);
        il_cel_value v = il_cel_eval(c.program, gone, &c.arena);
        if (plain[row][0] != 't' && !(v.kind == IL_CEL_ERROR && v.fault == IL_CEL_BUDGET)) {
            fail_msg("%s: kind %u, fault %u", plain[row], v.kind, v.fault);
        }
        cel_case_free(&c);
    }
}

/* --- memory
 * ----------------------------------------------------------------------------------------------------------------------------
 * */

static void test_memory(void **state) {
    (void)state;
    static const char text[] =
        "a.map(x, {'k': [x, x + 'y'], 1: 'long enough to be hashed' in ['a', 'b', 'c', 'long enough to be hashed']})"
        ".filter(m, m.k[0] in ['a', 'b', a[0]] && size(m) == 2).exists(m, m.?k.hasValue() && m.k.all(t, t == 'q' || "
        "t.startsWith('p')))"
        " || duration('1h') > duration('1m') && 'a' + 'b' == 'ab' && [1, 2, 3].transformMap(i, v, v * v)[2] == 9 && "
        "b.matches('^x+$')";
    const il_cel_value items[] = {il_cel_of_str(IL_STR("a")), il_cel_of_str(IL_STR("b"))};
    const il_cel_value vars[4] = {il_cel_of_items(IL_CEL_LIST, items, 2), il_cel_of_str(IL_STR("xxx"))};
    size_t failed = 0;
    for (size_t left = 0;; left++) { /* compiling */
        cel_case c;
        cel_case_init(&c);
        c.memory.left = left;
        il_status status = il_cel_compile(&c.arena, IL_STR(text), 1, 1, &free_env, IL_CEL_NULL, &free_limits, &c.program, &c.err);
        assert_true(status == IL_OK || status == IL_E_MEMORY);
        failed += status != IL_OK ? 1 : 0;
        if (status == IL_OK) {
            c.memory.left = SIZE_MAX; /* less may have been folded: the answer is the same */
            assert_true(il_cel_true(il_cel_eval(c.program, vars, &c.arena)));
        }
        bool spare = c.memory.calls < left;
        cel_case_free(&c);
        if (status == IL_OK && spare) {
            break;
        }
    }
    assert_true(failed > 3);
    cel_case c;
    compile(&c, text);
    failed = 0;
    for (size_t cap = 0; cap < 4096; cap++) { /* evaluating */
        il_arena scratch;
        il_arena_init(&scratch, &c.memory.alloc, cap);
        il_cel_value v = il_cel_eval(c.program, vars, &scratch);
        il_arena_free(&scratch);
        if (il_cel_true(v)) {
            break;
        }
        assert_true(v.kind == IL_CEL_ERROR && v.fault == IL_CEL_BUDGET);
        failed++;
    }
    assert_true(failed > 100);
    cel_case_free(&c);
}

/* --- what is folded
 * ------------------------------------------------------------------------------------------------------------------------ */

static uint32_t words_of(const char *text) {
    cel_case c;
    compile(&c, text);
    uint32_t n = c.program->code->nwords;
    cel_case_free(&c);
    return n;
}

static void test_folding(void **state) {
    (void)state;
    /* A constant is one RETURN; an error is never folded away, and what only an evaluation has neither. */
    static const struct {
        const char *text;
        bool constant;
    } rows[] = {
        {"1 + 2 * 3", true},
        {"[1, 2, 3].map(x, x * x)[2] == 9", true},
        {"{'a': [1u, 2.5, b'x', null]}.a", true},
        {"duration('1h') + duration('1m')", true},
        {"'abc'.startsWith('a') ? size('abc') : 0", true},
        {"has({'a': 1}.b)", true},
        {"optional.of(1).optMap(x, x + 1).value()", true},
        {"cel.bind(x, 5, x * x)", true},
        {"type(1) == int", true},
        {"true || 1 / 0 > 0", true},
        {"1 in [1, 2, 3]", true},
        {"1 / 0", false},
        {"[1][1]", false},
        {"{'a': 1, 'a': 2}", false},
        {"a", false},
        {"a || true", false},
        {"1 / 0 > 0 || false", false},
        {"nothing", false},
        {"nofunction(1)", false},
        {"[1, 2].map(x, x + a)", false},
        {"duration('one')", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if ((words_of(rows[i].text) == 1) != (rows[i].constant || strcmp(rows[i].text, "a") == 0)) {
            fail_msg("%s: %u words", rows[i].text, words_of(rows[i].text));
        }
    }
    /* Folding has a budget: what goes beyond it is left to the evaluation, and nothing fails. */
    enum { TERMS = 200, ZEROS = 40 };
    static char text[TERMS * (2 * ZEROS + 4) + 100];
    size_t n = (size_t)snprintf(text, sizeof text, "size(");
    for (unsigned i = 0; i < TERMS; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s[0", i > 0 ? "+" : "");
        for (unsigned k = 1; k < ZEROS; k++) {
            n += (size_t)snprintf(text + n, sizeof text - n, ",0");
        }
        text[n++] = ']';
    }
    n += (size_t)snprintf(text + n, sizeof text - n, ") == %u", TERMS * ZEROS);
    const il_cel_limits wide = {
        .size = sizeof wide, .source_bytes = sizeof text, .nodes = 100000, .depth = 512, .unchecked = true};
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(il_cel_compile(&c.arena, (il_str){text, n}, 1, 1, &free_env, IL_CEL_NULL, &wide, &c.program, &c.err), IL_OK);
    assert_true(c.program->code->nwords > 1);
    assert_true(il_cel_true(il_cel_eval(c.program, NULL, &c.arena)));
    cel_case_free(&c);
}

/* --- limits of the code
 * ---------------------------------------------------------------------------------------------------------------------- */

static void test_limits(void **state) {
    (void)state;
    static const il_cel_limits wide = {.size = sizeof wide,
                                       .source_bytes = (size_t)1 << 22,
                                       .nodes = 200000,
                                       .depth = 512,
                                       .cost = UINT64_MAX,
                                       .unchecked = true};
    static char text[1 << 21];
    cel_case c;
    cel_case_init(&c);
    size_t n = 0;
    n += (size_t)snprintf(text + n, sizeof text - n, "a == 1");
    for (unsigned i = 0; i < 30000; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, " || a == %u", i % 10);
    }
    assert_int_equal(il_cel_compile(&c.arena, (il_str){text, n}, 1, 1, &free_env, IL_CEL_NULL, &wide, &c.program, &c.err),
                     IL_E_LIMIT);
    cel_case_free(&c);
    /* Registers: a call with arguments that are calls with arguments. */
    cel_case_init(&c);
    n = 0;
    for (unsigned i = 0; i < 100; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "math.greatest(a,a,a,a,a,a,a,a,a,a,a,");
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "a");
    for (unsigned i = 0; i < 100; i++) {
        text[n++] = ')';
    }
    assert_int_equal(il_cel_compile(&c.arena, (il_str){text, n}, 1, 1, &free_env, IL_CEL_NULL, &wide, &c.program, &c.err),
                     IL_E_LIMIT);
    cel_case_free(&c);
    /* The many registers and loops that there are, used. */
    cel_case_init(&c);
    n = (size_t)snprintf(text, sizeof text, "d.exists(x0, ");
    for (unsigned i = 1; i < 20; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "d.exists(x%u, ", i);
    }
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "x0 + x1 + x2 + (x3 + (x4 + (x5 + (x6 + (x7 + (x8 + (x9 + (x10 + (x11 + x19)))))))))  == 26");
    for (unsigned i = 0; i < 20; i++) {
        text[n++] = ')';
    }
    assert_int_equal(il_cel_compile(&c.arena, (il_str){text, n}, 1, 1, &free_env, IL_CEL_NULL, &wide, &c.program, &c.err), IL_OK);
    assert_true(c.program->code->nregisters > IL_CEL_REGISTERS_FEW || c.program->code->nlevels > IL_CEL_LOOPS_FEW);
    const il_cel_value two = il_cel_of_int(2), vars[4] = {{0}, {0}, {0}, il_cel_of_items(IL_CEL_LIST, &two, 1)};
    assert_true(il_cel_true(il_cel_eval(c.program, vars, NULL)));
    cel_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operators), cmocka_unit_test(test_absorption),
                                       cmocka_unit_test(test_multiply),  cmocka_unit_test(test_each),
                                       cmocka_unit_test(test_budget),    cmocka_unit_test(test_memory),
                                       cmocka_unit_test(test_folding),   cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
