/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cel/logic_part.h"
#include "helper_questions.h"

static il_cel_program *compiled(cel_case *c, const char *text) {
    const il_cel_limits limits = {.size = sizeof limits, .cost = UINT64_C(1) << 62, .alike = c->alike};
    if (il_cel_compile(&c->arena, il_str_of(text), 1, 1, &world_env, IL_CEL_BOOL, &limits, &c->program, &c->err) != IL_OK) {
        print_error("%s\n  %u:%u %s\n", text, c->err.line, c->err.col, c->err.msg);
        fail();
    }
    return c->program;
}

static uint32_t added(cel_case *c, il_cel_logic *l, const char *text) {
    uint32_t id;
    assert_int_equal(il_cel_logic_add(l, compiled(c, text), &id, &c->err), IL_OK);
    return id;
}

static const char *const names[] = {"unknown", "no", "yes"};

static void show(const char *what, const il_cel_verdict *v) {
    print_error("%s: %s\n", what, names[v->answer]);
    for (size_t i = 0; i < v->nfacts; i++) {
        print_error("    %.*s\n", IL_STR_ARG(v->facts[i]));
    }
}

/* --- one condition --------------------------------------------------------------------------------------------------------- */

enum { T = IL_CEL_MAY_TRUE, F = IL_CEL_MAY_FALSE, E = IL_CEL_MAY_ERR };

static void test_always(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned may;
        bool yes;
    } rows[] = {
        {"b || !b", T, true},
        {"b && !b", F, true},
        {"b", T, false},
        {"b", T | F, true},
        {"m.k || !m.k", T, true},
        {"args.x == 1 || args.x != 1", T, false},
        {"args.x == 1 || args.x != 1", T | E, true},
        {"has(args.x) && args.x != 1 && args.x == 1", F, true}, /* absent: false, not an error */
        {"!has(args.x) || args.x == 1 || args.x != 1", T, true},
        {"!has(args.x) && args.x == 1", T | F, false},
        {"!has(args.x) && args.x == 1", F | E, true},
        {"has(args.x) ? args.x == 1 : false", T | F, true},
        {"w == \"none\" || w == \"fresh\" || w == \"held\"", T, true},
        {"w == \"none\" || w == \"fresh\"", T, false},
        {"w == \"none\" && w == \"fresh\"", F, true},
        {"s == \"a\" && s == \"b\"", F, true},
        {"s == \"a\" && s.startsWith(\"b\")", F, true},
        {"s.startsWith(\"ab\") && !s.startsWith(\"a\")", F, true},
        {"s.endsWith(\"bb\") && !s.contains(\"b\")", F, true},
        {"s.contains(\"\")", T, true},
        {"s == \"ab\" && !s.matches(\"^a\")", F, true},
        {"i > 3 && i < 3", F, true},
        {"i > 3 && i < 5 && i != 4", F, true},
        {"i >= 3 || i <= 2", T, true},
        {"size(xs) >= 0", T, true},
        {"size(xs) >= 3 && xs == []", F, true},
        {"i in [1, 2] && i == 3", F, true},
        {"i in [1, 2] == (i == 1 || i == 2)", T, true},
        {"xs.exists(x, x == \"a\") && xs == []", F, true},
        {"xs.exists(x, x == \"a\") == (\"a\" in xs)", T, true},
        {"rs.all(r, r.f) == !rs.exists(r, !r.f)", T, true},
        {"rs.all(r, r.f) && rs.exists(r, !r.f)", F, true},
        {"rs.exists(r, r.f && r.n > 3) && !rs.exists(r, r.n > 2)", F, true},
        {"rs.exists(r, r.t == \"trusted\") || rs.exists(r, r.t == \"untrusted\") || size(rs) == 0", T, true},
        {"rs.exists(r, r.f) && rs.all(r, r.n > 1) && !rs.exists(r, r.f && r.n > 0)", F, true},
        {"rs.exists(r, b && r.f) == (b && rs.exists(r, r.f))", T, true},
        {"rs.exists(r, r.f) || rs.exists(r, !r.f)", T, false},
        {"rs.exists(r, r.t == \"trusted\" && !xs.exists(k, k == \"a\")) && \"a\" in xs", F, true},
        {"10 / i > 1", T | F, false},
        {"10 / i > 1 || true", T, true},
        {"args.x.z == 1 && false", F, true},
        {"args.x > 1 && args.x <= 1", F | E, true},
        {"args.x > 1 || args.x <= 1", T | E, false}, /* NaN */
        {"args.x > 1 && args.x == \"ab\"", F | E, true},
        {"args.x == 1 && args.x == 1.0", T, false},
        {"args.x == 1 && args.x != 1.0", F | E, true},
        {"args.x == 1 && args.x == \"1\"", F | E, true},
        {"args.x && args.x == false", F | E, true},
        {"cel.bind(q, args.x == 1, q && !q)", F | E, true},
        {"cel.bind(q, args.x, q == 1 && q == 2)", F | E, true},
        {"[\"a\", \"b\"].exists(q, q == s) == (s in [\"a\", \"b\"])", T, true},
        {"1 / 0 == 1", E, true},
        {"1 / 0 == 1 || b", T | E, true},
        {"has(args.x.z) && args.x.z == 1", T | F | E, true},
        {"s < \"b\" && s > \"c\"", F, true},
        {"s < \"b\" || s >= \"a\"", T, true},
        {"b == c && b && !c", F, true},
        {"i < i", F, true},
        {"i == i", T, true},
        {"size(s) > 1 && s.size() < 1", F, true},
        {"args.exists(k, k == \"x\") == (\"x\" in args)", T, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cel_case c;
        il_cel_logic *l;
        il_cel_verdict v;
        cel_case_init(&c);
        assert_int_equal(il_cel_logic_new(&c.arena, NULL, &l, &c.err), IL_OK);
        const uint32_t id = added(&c, l, rows[i].text);
        assert_int_equal(il_cel_logic_always(l, id, rows[i].may, &v, &c.err), IL_OK);
        if ((v.answer == IL_CEL_YES) != rows[i].yes) {
            show(rows[i].text, &v);
            fail();
        }
        cel_case_free(&c);
    }
}

static void test_lists(void **state) {
    (void)state;
    cel_case c;
    il_cel_logic *l;
    il_cel_verdict v;
    cel_case_init(&c);
    assert_int_equal(il_cel_logic_new(&c.arena, NULL, &l, &c.err), IL_OK);
    const uint32_t untrusted = added(&c, l, "rs.exists(r, r.t == \"untrusted\")"),
                   both = added(&c, l, "rs.exists(r, r.t == \"untrusted\" && r.n > 3)");
    const uint32_t risky = added(&c, l, "args.x == 1"), yes = added(&c, l, "true"), group = added(&c, l, "\"a\" in xs");
    const uint32_t part[] = {group, untrusted}, danger[] = {risky};
    assert_int_equal(il_cel_logic_implies(l, both, untrusted, &v, &c.err), IL_OK);
    assert_int_equal(v.answer, IL_CEL_YES);
    assert_int_equal(il_cel_logic_implies(l, untrusted, both, &v, &c.err), IL_OK);
    assert_int_equal(v.answer, IL_CEL_NO);
    assert_int_equal(v.nfacts, 3);
    assert_int_equal(il_cel_logic_shadowed(l, part, 2, both, &v, &c.err), IL_OK);
    assert_int_equal(v.answer, IL_CEL_YES);
    assert_int_equal(il_cel_logic_shadowed(l, part, 1, both, &v, &c.err), IL_OK);
    assert_int_equal(v.answer, IL_CEL_NO);
    /* Behind one that may err, an always-true rule decides when that one is false. */
    assert_int_equal(il_cel_logic_shadowed(l, danger, 1, yes, &v, &c.err), IL_OK);
    assert_int_equal(v.answer, IL_CEL_NO);
    assert_int_equal(il_cel_logic_shadowed(l, &yes, 1, risky, &v, &c.err), IL_OK);
    assert_int_equal(v.answer, IL_CEL_YES);
    assert_int_equal(il_cel_logic_idle(l, &yes, 1, risky, &v, &c.err), IL_OK);
    assert_int_equal(v.answer, IL_CEL_YES);
    assert_int_equal(il_cel_logic_disjoint(l, both, group, &v, &c.err), IL_OK);
    assert_int_equal(v.answer, IL_CEL_NO);
    assert_int_equal(il_cel_logic_equivalent(l, both, both, &v, &c.err), IL_OK);
    assert_int_equal(v.answer, IL_CEL_YES);
    assert_int_equal(il_cel_logic_disjoint(l, both, 99, &v, &c.err), IL_E_ARGUMENT);
    cel_case_free(&c);
}

static void test_unset(void **state) {
    (void)state;
    cel_case c;
    il_cel_logic *l;
    il_cel_verdict v;
    const il_cel_logic_limits limits = {.size = sizeof limits, .unset = true};
    cel_case_init(&c);
    assert_int_equal(il_cel_logic_new(&c.arena, &limits, &l, &c.err), IL_OK);
    const uint32_t id = added(&c, l, "m.k || !m.k"), here = added(&c, l, "has(m.k) ? m.k || !m.k : true");
    assert_int_equal(il_cel_logic_always(l, id, T, &v, &c.err), IL_OK);
    assert_int_equal(v.answer, IL_CEL_NO);
    assert_int_equal(il_cel_logic_always(l, id, T | E, &v, &c.err), IL_OK);
    assert_int_equal(v.answer, IL_CEL_YES);
    assert_int_equal(il_cel_logic_always(l, here, T, &v, &c.err), IL_OK);
    assert_int_equal(v.answer, IL_CEL_NO);
    cel_case_free(&c);
}

/* --- all assignments
 * ---------------------------------------------------------------------------------------------------------- */

enum { CONDITIONS = 3 };

typedef struct brute {
    bool alike; /* compile so */
    unsigned asked, yes, missed, unsure, wrong;
} brute;

typedef struct seen { /* over all assignments: which triples of truth there are, a bit each */
    uint32_t triples;
} seen;

static unsigned truth(il_cel_value v) { return v.kind != IL_CEL_BOOL ? 2 : v.u.b ? 0 : 1; }

static void assignments(cel_case *c, unsigned vars, il_cel_program *const p[CONDITIONS], seen *out) {
    unsigned number[WORLD_VARS] = {0};
    il_cel_value values[WORLD_VARS][24], now[WORLD_VARS] = {{0}};
    for (unsigned v = 0; v < WORLD_VARS; v++) {
        for (unsigned k = 0; k < world_count(v); k++) {
            values[v][k] = world_value(&c->arena, v, k);
        }
        now[v] = values[v][0];
    }
    out->triples = 0;
    for (;;) {
        unsigned at = 0;
        for (unsigned k = CONDITIONS; k-- > 0;) {
            at = 3 * at + truth(il_cel_eval(p[k], now, &c->arena));
        }
        out->triples |= UINT32_C(1) << at;
        unsigned v = 0;
        for (; v < WORLD_VARS; v++) {
            if ((vars >> v & 1) == 0) {
                continue;
            }
            number[v] = (number[v] + 1) % world_count(v);
            now[v] = values[v][number[v]];
            if (number[v] != 0) {
                break;
            }
        }
        if (v == WORLD_VARS) {
            return;
        }
    }
}

/* Do the claims ever hold together, among what was seen? */
static bool ever(const seen *s, const il_cel_claim *claims, size_t n) {
    static const unsigned bits[] = {T, F, E};
    for (unsigned at = 0; at < 27; at++) {
        if ((s->triples >> at & 1) == 0) {
            continue;
        }
        const unsigned truths[CONDITIONS] = {bits[at % 3], bits[at / 3 % 3], bits[at / 9]};
        bool all = true;
        for (size_t i = 0; i < n; i++) {
            all = all && (claims[i].may & truths[claims[i].id]) != 0;
        }
        if (all) {
            return true;
        }
    }
    return false;
}

static void asked(brute *b, const il_cel_verdict *v, bool happens, const char *what, char texts[CONDITIONS][2000], bool report) {
    b->asked++;
    b->yes += v->answer == IL_CEL_YES;
    b->unsure += v->answer == IL_CEL_UNSURE;
    b->missed += v->answer != IL_CEL_YES && !happens;
    if (v->answer == IL_CEL_YES && happens) {
        b->wrong++;
        if (report) {
            print_error("%s is wrong for\n  %s\n  %s\n  %s\n", what, texts[0], texts[1], texts[2]);
        }
    }
    if (getenv("IL_TEST_VERBOSE") != NULL && v->answer == IL_CEL_NO && !happens) {
        print_error("--- missed: %s\n  %s\n  %s\n  %s\n", what, texts[0], texts[1], texts[2]);
        show("", v);
    }
}

static void round_of(brute *b, world_random *r, bool broken, bool report) {
    char texts[CONDITIONS][2000];
    il_cel_program *p[CONDITIONS];
    unsigned vars = 0;
    for (unsigned i = 0; i < 3; i++) {
        vars |= 1u << world_below(r, WORLD_VARS);
    }
    cel_case c;
    il_cel_logic *l;
    il_cel_verdict v;
    seen s;
    cel_case_init(&c);
    c.alike = b->alike;
    assert_int_equal(il_cel_logic_new(&c.arena, NULL, &l, &c.err), IL_OK);
    for (unsigned i = 0; i < CONDITIONS; i++) {
        world_condition(r, vars, 4, texts[i], sizeof texts[i]);
        (void)added(&c, l, texts[i]);
        p[i] = c.program;
    }
    if (broken && l->natoms > 0) {
        il_cel_atom_constrain(l, il_bdd_not(&l->bdd, il_bdd_var(&l->bdd, world_below(r, l->natoms))));
    }
    assignments(&c, vars, p, &s);
    for (uint32_t i = 0; i < CONDITIONS; i++) {
        for (unsigned may = 1; may < IL_CEL_MAY_ANY; may++) {
            const il_cel_claim other = {i, IL_CEL_MAY_ANY & ~may};
            assert_int_equal(il_cel_logic_always(l, i, may, &v, &c.err), IL_OK);
            asked(b, &v, ever(&s, &other, 1), "always", texts, report);
        }
    }
    for (uint32_t i = 0; i < CONDITIONS; i++) {
        const uint32_t k = (i + 1) % CONDITIONS;
        const il_cel_claim implies[] = {{i, T}, {k, F | E}}, disjoint[] = {{i, T}, {k, T}};
        const il_cel_claim apart[][2] = {{{i, T}, {k, F | E}}, {{i, F}, {k, T | E}}, {{i, E}, {k, T | F}}};
        assert_int_equal(il_cel_logic_implies(l, i, k, &v, &c.err), IL_OK);
        asked(b, &v, ever(&s, implies, 2), "implies", texts, report);
        assert_int_equal(il_cel_logic_disjoint(l, i, k, &v, &c.err), IL_OK);
        asked(b, &v, ever(&s, disjoint, 2), "disjoint", texts, report);
        assert_int_equal(il_cel_logic_equivalent(l, i, k, &v, &c.err), IL_OK);
        asked(b, &v, ever(&s, apart[0], 2) || ever(&s, apart[1], 2) || ever(&s, apart[2], 2), "equivalent", texts, report);
    }
    const uint32_t earlier[] = {0, 1};
    const il_cel_claim shadowed[] = {{0, F}, {1, F}, {2, T}}, idle[] = {{0, F}, {1, F}, {2, T | E}};
    assert_int_equal(il_cel_logic_shadowed(l, earlier, 2, 2, &v, &c.err), IL_OK);
    asked(b, &v, ever(&s, shadowed, 3), "shadowed", texts, report);
    assert_int_equal(il_cel_logic_idle(l, earlier, 2, 2, &v, &c.err), IL_OK);
    asked(b, &v, ever(&s, idle, 3), "idle", texts, report);
    cel_case_free(&c);
}

static uint64_t seed(void) {
    const char *text = getenv("IL_TEST_SEED");
    return text != NULL ? strtoull(text, NULL, 10) : 20261130;
}

/* A YES has to hold in every assignment; and most of what holds in every assignment has to be found. */
static void test_all_assignments(void **state) {
    (void)state;
    const unsigned rounds = getenv("IL_TEST_THOROUGH") != NULL ? 40000 : 1500;
    brute b = {0};
    world_random r = {seed()};
    for (unsigned i = 0; i < rounds; i++) {
        round_of(&b, &r, false, true);
    }
    print_message("seed %llu: %u questions, %u yes, %u not found, %u unknown, %u wrong\n", (unsigned long long)seed(), b.asked,
                  b.yes, b.missed, b.unsure, b.wrong);
    assert_int_equal(b.wrong, 0);
    assert_true(b.unsure <= b.asked / 1000);
    assert_true(b.yes > b.asked / 10);
    assert_true(b.yes > 2 * b.missed);
}

/* The same where values of two kinds are an error. */
static void test_all_alike(void **state) {
    (void)state;
    brute b = {.alike = true};
    world_random r = {seed()};
    for (unsigned i = 0; i < 1500; i++) {
        round_of(&b, &r, false, true);
    }
    print_message("alike: %u questions, %u yes, %u not found, %u wrong\n", b.asked, b.yes, b.missed, b.wrong);
    assert_int_equal(b.wrong, 0);
    assert_true(b.yes > b.missed);
}

/* The test above finds a constraint that is not so. */
static void test_broken_constraint(void **state) {
    (void)state;
    brute b = {0};
    world_random r = {seed()};
    for (unsigned i = 0; i < 50; i++) {
        round_of(&b, &r, true, false);
    }
    assert_true(b.wrong > 20);
}

/* --- bounds
 * ----------------------------------------------------------------------------------------------------------------------- */

static void test_memory(void **state) {
    (void)state;
    static const char *const texts[] = {"rs.exists(r, r.t == \"untrusted\" && r.n > 3) && args.x == 1 && w != \"held\"",
                                        "xs.all(x, x.startsWith(\"a\")) || s == \"a\" && args.exists(k, k == \"x\")"};
    bool done = false;
    for (size_t left = 0; !done; left++) {
        cel_case c;
        cel_memory memory;
        il_arena arena;
        il_cel_logic *l;
        il_cel_verdict v;
        uint32_t id, other;
        cel_case_init(&c);
        il_cel_program *p = compiled(&c, texts[0]), *q = compiled(&c, texts[1]);
        cel_memory_init(&memory, left);
        il_arena_init(&arena, &memory.alloc, (size_t)64 << 20);
        il_status status = il_cel_logic_new(&arena, NULL, &l, &c.err);
        status = status == IL_OK ? il_cel_logic_add(l, p, &id, &c.err) : status;
        status = status == IL_OK ? il_cel_logic_add(l, q, &other, &c.err) : status;
        status = status == IL_OK ? il_cel_logic_implies(l, id, other, &v, &c.err) : status;
        done = status == IL_OK;
        if (done) {
            assert_int_equal(v.answer, IL_CEL_NO);
        } else {
            assert_int_equal(status, IL_E_MEMORY);
            assert_true(c.err.msg[0] != 0);
        }
        il_arena_free(&arena);
        cel_case_free(&c);
        assert_true(left < 2000);
    }
}

/* As many nodes as a condition may have, over 64 constants: beyond what a diagram holds, which is said, soon (the bound is on
 * steps and nodes, not on time). */
static void test_largest(void **state) {
    (void)state;
    static char text[16384];
    world_random r = {7};
    unsigned unsure = 0;
    for (unsigned round = 0; round < 4; round++) {
        size_t n = 0;
        unsigned nodes = 0;
        for (unsigned i = 0; nodes < 4000 && n < 16000; i++) {
            const unsigned a = world_below(&r, 64), b = world_below(&r, 64);
            n += (size_t)snprintf(text + n, sizeof text - n, "%s(i==%u%si>%u)",
                                  i == 0      ? ""
                                  : round % 2 ? "&&"
                                              : "||",
                                  a, round % 2 ? "||" : "&&", b);
            nodes += 8;
        }
        cel_case c;
        il_cel_logic *l;
        il_cel_verdict v;
        cel_case_init(&c);
        assert_int_equal(il_cel_logic_new(&c.arena, NULL, &l, &c.err), IL_OK);
        const uint32_t id = added(&c, l, text);
        assert_int_equal(il_cel_logic_always(l, id, T, &v, &c.err), IL_OK);
        unsure += v.answer == IL_CEL_UNSURE;
        assert_int_not_equal(v.answer, IL_CEL_YES);
        const uint32_t small = added(&c, l, "i > 3 && i < 3");
        assert_int_equal(il_cel_logic_always(l, small, F, &v, &c.err), IL_OK);
        assert_int_equal(v.answer, IL_CEL_YES); /* the session is good for more */
        cel_case_free(&c);
    }
    assert_true(unsure > 0);
}

/* Many facts, in the order that diagrams like least: an answer or UNKNOWN, soon, and the session is good for more. */
static void test_large(void **state) {
    (void)state;
    static char texts[4][16000];
    size_t n = 0;
    for (unsigned i = 0; i < 32; i++) { /* all of one kind first, then all of the other */
        n += (size_t)snprintf(texts[0] + n, sizeof texts[0] - n, "%s(args.x == %u || args.y == %u)", i > 0 ? " && " : "", i,
                              (i * 7) % 32);
    }
    n = 0;
    for (unsigned i = 0; i < 64; i++) {
        n += (size_t)snprintf(texts[1] + n, sizeof texts[1] - n, "%sargs.a%u == args.b%u", i > 0 ? (i % 2 ? " && " : " || ") : "",
                              i, (i * 37) % 64);
    }
    n = (size_t)snprintf(texts[2], sizeof texts[2], "s in [");
    for (unsigned i = 0; i < 600; i++) {
        n += (size_t)snprintf(texts[2] + n, sizeof texts[2] - n, "%s\"w%u\"", i > 0 ? ", " : "", i);
    }
    (void)snprintf(texts[2] + n, sizeof texts[2] - n, "]");
    n = 0;
    for (unsigned i = 0; i < 64; i++) {
        n += (size_t)snprintf(texts[3] + n, sizeof texts[3] - n, "%srs.exists(r, r.n > %u && r.n < %u)", i > 0 ? " || " : "", i,
                              i + 9);
    }
    cel_case c;
    il_cel_logic *l;
    il_cel_verdict v;
    cel_case_init(&c);
    assert_int_equal(il_cel_logic_new(&c.arena, NULL, &l, &c.err), IL_OK);
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t id = added(&c, l, texts[i]);
        assert_int_equal(il_cel_logic_always(l, id, T, &v, &c.err), IL_OK);
        assert_int_not_equal(v.answer, IL_CEL_YES);
    }
    const uint32_t id = added(&c, l, "b || !b");
    assert_int_equal(il_cel_logic_always(l, id, T, &v, &c.err), IL_OK);
    assert_int_equal(v.answer, IL_CEL_YES);
    cel_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_always),          cmocka_unit_test(test_lists),     cmocka_unit_test(test_unset),
        cmocka_unit_test(test_all_assignments), cmocka_unit_test(test_all_alike), cmocka_unit_test(test_broken_constraint),
        cmocka_unit_test(test_memory),          cmocka_unit_test(test_large),     cmocka_unit_test(test_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
