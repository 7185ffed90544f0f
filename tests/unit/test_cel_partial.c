/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cel/partial.h"
#include "helper_questions.h"

static const il_cel_limits limits = {
    .size = sizeof limits, .cost = UINT64_C(1) << 62, .source_bytes = 1 << 20, .depth = 256, .nodes = 1 << 20};
static const il_cel_limits alike_limits = {
    .size = sizeof limits, .cost = UINT64_C(1) << 62, .source_bytes = 1 << 20, .depth = 256, .nodes = 1 << 20, .alike = true};

static il_cel_program *compiled(cel_case *c, il_str text, il_cel_kind want) {
    if (il_cel_compile(&c->arena, text, 1, 1, &world_env, want, c->alike ? &alike_limits : &limits, &c->program, &c->err) !=
        IL_OK) {
        print_error("%.*s\n  %u:%u %s\n", IL_STR_ARG(text), c->err.line, c->err.col, c->err.msg);
        fail();
    }
    return c->program;
}

/* b true, i 3, xs ["a", "ab"], args {x: 1} and perhaps more; m.s "ab", the rest unknown. */
static void known(il_arena *arena, il_cel_value vars[WORLD_VARS]) {
    for (unsigned v = 0; v < WORLD_VARS; v++) {
        vars[v] = il_cel_unknown();
    }
    vars[WORLD_B] = il_cel_of_bool(true);
    vars[WORLD_I] = il_cel_of_int(3);
    vars[WORLD_XS] = world_value(arena, WORLD_XS, 3);
    vars[WORLD_ARGS] = il_cel_open(world_value(arena, WORLD_ARGS, 3));
    il_cel_value *fields = IL_NEW_ARRAY(arena, il_cel_value, 2);
    fields[0] = il_cel_unknown();
    fields[1] = il_cel_of_str(IL_STR("ab"));
    vars[WORLD_M] = il_cel_of_items(IL_CEL_RECORD, fields, 2);
}

static void test_forms(void **state) {
    (void)state;
    static const struct {
        const char *text, *left; /* `=true`: decided */
    } rows[] = {
        {"b", "=true"},
        {"b && c", "c"},
        {"!b || c", "c"},
        {"b || c", "=true"},
        {"c || b", "=true"},
        {"(c || w == 'none') && s == 'a'", "(c || w == 'none') && s == 'a'"},
        {"(c || w == 'none') && b && s == 'a'", "(c || w == 'none') && s == 'a'"},
        {"(c || !b || w == 'none') && (b || s == 'a')", "c || w == 'none'"},
        {"1 / 0 == i || c", "1 / 0 == 3 || c"},
        {"1 / 0 == i || c || b", "=true"},
        {"1 / 0 == i && b", "=error"},
        {"(1 / 0 == size(s)) == c", "=error"},
        {"10 / (i - 3) == 1 && c", "10 / 0 == 1 && c"},
        {"i > 2 ? c : b", "c"},
        {"c ? i == 3 : i == 4", "c ? true : false"},
        {"has(args.x) && args.x == 1", "=true"},
        {"has(args.y)", "has(args.y)"},
        {"has(args.y) && args.x == 2", "=false"},
        {"args.z == 1 || c", "args.z == 1 || c"},
        {"m.s == 'ab' && m.k", "m.k"},
        {"m.k && m.s.startsWith('b')", "=false"},
        {"xs.exists(x, x == s)", "'a' == s || 'ab' == s"},
        {"xs.all(x, x == s) || c", "'a' == s && 'ab' == s || c"},
        {"(xs.exists(x, x == s) || b) && w != 'held'", "w != 'held'"},
        {"(xs.exists(x, x == s) || c) && w != 'held'", "('a' == s || 'ab' == s || c) && w != 'held'"},
        {"xs.exists(x, x.size() == i - 1)", "=true"},
        {"rs.exists(r, r.n > i && r.f)", "rs.exists(r, r.n > 3 && r.f)"},
        {"rs.exists(r, r.n > i && !b)", "rs.exists(r, false)"},
        {"size(rs) == 0 && i in [1, 2, 3]", "size(rs) == 0"},
        {"s in ['a', m.s]", "s in ['a', 'ab']"},
        {"cel.bind(q, i + 1, q == 4 && c)", "c"},
        {"w == s", "w == s"},
        {"m.s == w", "dyn('ab') == w"},
        {"(c ? m.s : 'none') == w", "(c ? dyn('ab') : 'none') == w"},
        {"args.z == args.x", "args.z == dyn(1)"},
        {"args.x == 1 && args.flag", "args.flag && true"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cel_case c;
        il_cel_residue left;
        il_cel_value vars[WORLD_VARS];
        char got[2000];
        cel_case_init(&c);
        known(&c.arena, vars);
        const il_cel_program *p = compiled(&c, il_str_of(rows[i].text), IL_CEL_BOOL);
        assert_int_equal(il_cel_partial(&c.arena, p, vars, &left, &c.err), IL_OK);
        snprintf(got, sizeof got, "%.*s", IL_STR_ARG(left.text));
        if (left.decided) {
            snprintf(got, sizeof got, "%s", left.value.kind == IL_CEL_ERROR ? "=error" : left.value.u.b ? "=true" : "=false");
        }
        if (strcmp(got, rows[i].left) != 0) {
            print_error("%s\n  want %s\n  got  %s\n", rows[i].text, rows[i].left, got);
            fail();
        }
        cel_case_free(&c);
    }
}

static void test_rests(void **state) {
    (void)state;
    cel_case c;
    il_cel_residue left;
    il_cel_value vars[WORLD_VARS];
    cel_case_init(&c);
    known(&c.arena, vars);
    const il_cel_program *p = compiled(&c, IL_STR("i == 3 && (b || c) && args.x == 1"), IL_CEL_BOOL);
    assert_int_equal(il_cel_partial(&c.arena, p, vars, &left, &c.err), IL_OK);
    assert_true(left.decided);
    assert_int_equal(left.rests, 1u << WORLD_B | 1u << WORLD_I | 1u << WORLD_ARGS);
    p = compiled(&c, IL_STR("c && i == 4 && b"), IL_CEL_BOOL);
    assert_int_equal(il_cel_partial(&c.arena, p, vars, &left, &c.err), IL_OK);
    assert_true(left.decided);
    assert_int_equal(left.rests, 1u << WORLD_I);
    cel_case_free(&c);
}

/* --- any split
 * ------------------------------------------------------------------------------------------------------------------ */

static unsigned truth(il_cel_value v) { return v.kind != IL_CEL_BOOL ? 2 : v.u.b ? 0 : 1; }

typedef struct tally {
    bool alike; /* compile so */
    unsigned cases, decided, could, wrong;
} tally;

/* What is hidden of one variable: nothing, all, or a part. `whole` becomes what it may be: all its values, or those that agree
 * with what shows. */
typedef struct hidden {
    il_cel_value shown;
    il_cel_value may[24];
    unsigned n;
} hidden;

static void hide(il_arena *arena, world_random *r, unsigned var, bool at_all, hidden *out) {
    const unsigned pick = world_below(r, world_count(var)), how = at_all ? 1 + world_below(r, 2) : 0;
    out->shown = world_value(arena, var, pick);
    out->may[0] = out->shown;
    out->n = 1;
    if (how == 0) {
        return;
    }
    if (how == 2 && var == WORLD_M) { /* s shows, k does not */
        il_cel_value *fields = IL_NEW_ARRAY(arena, il_cel_value, 2);
        fields[0] = il_cel_unknown();
        fields[1] = out->shown.u.items[1];
        out->may[0] = world_value(arena, var, pick & ~1u);
        out->may[1] = world_value(arena, var, pick | 1u);
        out->n = 2;
        out->shown = il_cel_of_items(IL_CEL_RECORD, fields, 2);
        return;
    }
    if (how == 2 && var == WORLD_ARGS) { /* x shows, or is known to be absent; y may be there */
        const unsigned x = pick / 3;
        if (x > 0) {
            out->shown = il_cel_open(world_value(arena, var, 3 * x));
            for (unsigned y = 0; y < 3; y++) {
                out->may[y] = world_value(arena, var, 3 * x + y);
            }
        } else { /* y is known to be there */
            il_cel_value *entries = IL_NEW_ARRAY(arena, il_cel_value, 2);
            entries[0] = il_cel_of_str(IL_STR("y"));
            entries[1] = il_cel_unknown();
            out->shown = il_cel_open(il_cel_of_items(IL_CEL_MAP, entries, 1));
            out->n = 0;
            for (unsigned k = 0; k < world_count(var); k++) {
                if (k % 3 != 0) {
                    out->may[out->n++] = world_value(arena, var, k);
                }
            }
            return;
        }
        out->n = 3;
        return;
    }
    out->shown = il_cel_unknown();
    out->n = world_count(var);
    for (unsigned k = 0; k < out->n; k++) {
        out->may[k] = world_value(arena, var, k);
    }
}

static void split_round(tally *t, world_random *r, bool broken, bool report) {
    char text[2000];
    cel_case c;
    il_cel_residue left;
    hidden h[WORLD_VARS];
    il_cel_value vars[WORLD_VARS], rest[WORLD_VARS];
    unsigned number[WORLD_VARS] = {0}, used = 0;
    cel_case_init(&c);
    c.alike = t->alike;
    for (unsigned i = 0; i < 4; i++) {
        used |= 1u << world_below(r, WORLD_VARS);
    }
    world_condition(r, used, 4, text, sizeof text);
    for (unsigned v = 0; v < WORLD_VARS; v++) {
        hide(&c.arena, r, v, (used >> v & 1) != 0 && world_below(r, 2) == 0, &h[v]);
        vars[v] = h[v].shown;
    }
    il_cel_program *p = compiled(&c, il_str_of(text), IL_CEL_BOOL);
    assert_int_equal(il_cel_partial(&c.arena, p, vars, &left, &c.err), IL_OK);
    const il_cel_program *q = left.decided ? NULL : compiled(&c, left.text, IL_CEL_NULL);
    t->cases++;
    t->decided += left.decided;
    if (left.decided) { /* the rest is not needed */
        il_cel_residue again;
        for (unsigned v = 0; v < WORLD_VARS; v++) {
            rest[v] = (left.rests >> v & 1) != 0 ? vars[v] : il_cel_unknown();
        }
        assert_int_equal(il_cel_partial(&c.arena, p, rest, &again, &c.err), IL_OK);
        if (!again.decided || truth(again.value) != truth(left.value)) {
            print_error("%s\n  does not rest on %llx alone\n", text, (unsigned long long)left.rests);
            t->wrong++;
        }
    }
    unsigned seen = 0;
    bool wrong = false;
    for (;;) {
        for (unsigned v = 0; v < WORLD_VARS; v++) {
            vars[v] = h[v].may[number[v]];
            /* What is known and has a literal is not read any more. */
            rest[v] =
                h[v].n == 1 && v != WORLD_ARGS && v != WORLD_RS && v != WORLD_M && v != WORLD_XS ? (il_cel_value){0} : vars[v];
        }
        const unsigned want = truth(il_cel_eval(p, vars, &c.arena));
        unsigned got = truth(q != NULL ? il_cel_eval(q, rest, &c.arena) : left.value);
        got = broken && q == NULL ? (got + 1) % 3 : got;
        seen |= 1u << want;
        wrong = wrong || want != got;
        unsigned v = 0;
        for (; v < WORLD_VARS; v++) {
            number[v] = (number[v] + 1) % h[v].n;
            if (number[v] != 0) {
                break;
            }
        }
        if (v == WORLD_VARS) {
            break;
        }
    }
    t->could += (seen & (seen - 1)) == 0;
    t->wrong += wrong;
    if (wrong && report) {
        print_error("%s\n  left: %.*s%s\n", text, IL_STR_ARG(left.text), left.decided ? "(decided)" : "");
    }
    cel_case_free(&c);
}

static uint64_t seed(void) {
    const char *text = getenv("IL_TEST_SEED");
    return text != NULL ? strtoull(text, NULL, 10) : 20261130;
}

static void test_any_split(void **state) {
    (void)state;
    tally t = {0};
    world_random r = {seed()};
    for (unsigned i = 0; i < (getenv("IL_TEST_THOROUGH") != NULL ? 100000u : 4000u); i++) {
        split_round(&t, &r, false, true);
    }
    print_message("seed %llu: %u cases, %u decided, %u could be, %u wrong\n", (unsigned long long)seed(), t.cases, t.decided,
                  t.could, t.wrong);
    assert_int_equal(t.wrong, 0);
    assert_true(t.decided > t.cases / 10);
    assert_true(5 * t.decided > 3 * t.could);
}

/* The same where values of two kinds are an error. */
static void test_any_split_alike(void **state) {
    (void)state;
    tally t = {.alike = true};
    world_random r = {seed()};
    for (unsigned i = 0; i < 4000; i++) {
        split_round(&t, &r, false, true);
    }
    print_message("alike: %u cases, %u decided, %u could be, %u wrong\n", t.cases, t.decided, t.could, t.wrong);
    assert_int_equal(t.wrong, 0);
}

static void test_broken(void **state) {
    (void)state;
    tally t = {0};
    world_random r = {seed()};
    for (unsigned i = 0; i < 100; i++) {
        split_round(&t, &r, true, false);
    }
    assert_true(t.wrong > 10);
}

/* --- bounds
 * ---------------------------------------------------------------------------------------------------------------------- */

static void test_memory(void **state) {
    (void)state;
    bool done = false;
    for (size_t left = 0; !done; left++) {
        cel_case c;
        cel_memory memory;
        il_arena arena;
        il_cel_residue out;
        il_cel_value vars[WORLD_VARS];
        cel_case_init(&c);
        known(&c.arena, vars);
        const il_cel_program *p =
            compiled(&c, IL_STR("xs.exists(x, x == s) && i in [1, 2, 3] && (rs.exists(r, r.n > i) || c)"), IL_CEL_BOOL);
        cel_memory_init(&memory, left);
        il_arena_init(&arena, &memory.alloc, (size_t)16 << 20);
        const il_status status = il_cel_partial(&arena, p, vars, &out, &c.err);
        done = status == IL_OK;
        if (!done) {
            assert_int_equal(status, IL_E_MEMORY);
            assert_true(c.err.msg[0] != 0);
        } else {
            assert_false(out.decided);
        }
        il_arena_free(&arena);
        cel_case_free(&c);
        assert_true(left < 2000);
    }
}

/* Nested macros over known lists would be written out to more than anything can hold. */
static void test_large(void **state) {
    (void)state;
    cel_case c;
    il_cel_residue out;
    il_cel_value vars[WORLD_VARS], *items;
    cel_case_init(&c);
    known(&c.arena, vars);
    items = IL_NEW_ARRAY(&c.arena, il_cel_value, 60);
    for (unsigned i = 0; i < 60; i++) {
        items[i] = il_cel_of_str(IL_STR("abcdefgh"));
    }
    vars[WORLD_XS] = il_cel_of_items(IL_CEL_LIST, items, 60);
    const il_cel_program *p = compiled(&c, IL_STR("xs.all(x, xs.all(y, xs.all(z, x + y + z == s)))"), IL_CEL_BOOL);
    const il_status status = il_cel_partial(&c.arena, p, vars, &out, &c.err);
    assert_true(status == IL_E_LIMIT || (status == IL_OK && !out.decided));
    cel_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),           cmocka_unit_test(test_rests),  cmocka_unit_test(test_any_split),
        cmocka_unit_test(test_any_split_alike), cmocka_unit_test(test_broken), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
