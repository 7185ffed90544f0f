/* SPDX-License-Identifier: Apache-2.0 */
/* What the checker promises of what it lets through, on random expressions that are mostly well typed: where no dyn is
 * involved evaluation never lacks an overload, the value is of the type that was found, no larger than was bounded, and costs
 * no more than was bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/ip.h"
#include "helper_cel.h"

#define NAME(z) \
    { z, sizeof(z) - 1 }
typedef enum sort {
    S_BOOL,
    S_INT,
    S_UINT,
    S_DOUBLE,
    S_STRING,
    S_BYTES,
    S_TIME,
    S_SPAN,
    S_INTS,
    S_STRINGS,
    S_COUNTS,
    S_MAYBE,
    S_IP,
    SORTS
} sort;

static const il_cel_type t_ints = {.kind = IL_CEL_LIST, .element = &il_cel_type_int, .most = 3};
static const il_cel_type t_strings = {.kind = IL_CEL_LIST, .element = &il_cel_type_string, .most = 3};
static const il_cel_type t_counts = {.kind = IL_CEL_MAP, .key = &il_cel_type_string, .element = &il_cel_type_int, .most = 2};
static const il_cel_type t_maybe = {.kind = IL_CEL_OPTIONAL, .element = &il_cel_type_string};
static const il_cel_field f_rec[] = {{NAME("n"), &il_cel_type_int}, {NAME("s"), &il_cel_type_string}, {NAME("l"), &t_strings}};
static const il_cel_type t_rec = {.kind = IL_CEL_RECORD, .fields = f_rec, .nfields = 3, .name = NAME("rec")};
static const il_cel_field vars[] = {
    {NAME("vb"), &il_cel_type_bool},
    {NAME("vi"), &il_cel_type_int},
    {NAME("vu"), &il_cel_type_uint},
    {NAME("vd"), &il_cel_type_double},
    {NAME("vs"), &il_cel_type_string},
    {NAME("vy"), &il_cel_type_bytes},
    {NAME("vt"), &il_cel_type_timestamp},
    {NAME("vp"), &il_cel_type_duration},
    {NAME("vis"), &t_ints},
    {NAME("vss"), &t_strings},
    {NAME("vc"), &t_counts},
    {NAME("vm"), &t_maybe},
    {NAME("va"), &il_cel_type_ip},
    {NAME("r"), &t_rec},
};
enum { NVARS = sizeof vars / sizeof vars[0], TEXT_BYTES = 40, LIST_ITEMS = 4 };
static const il_cel_env env = {.size = sizeof env, .vars = vars, .nvars = NVARS};

/* `%b %i %u %d %s %y %t %p %I %S %C %M %A`: an expression of that sort; `%x` a macro variable of the innermost macro, `%k` one
 * of keys. */
static const char *const forms[SORTS][40] = {
    [S_BOOL] = {"true",
                "vb",
                "!%b",
                "%b && %b",
                "%b || %b",
                "%i < %i",
                "%u >= %u",
                "%d != %d",
                "%s == %s",
                "%y < %y",
                "%t > %t",
                "%p <= %p",
                "%i in %I",
                "%s in %S",
                "%s in %C",
                "%S == %S",
                "%C == %C",
                "%s.startsWith(%s)",
                "%s.contains(%s)",
                "%s.matches('^a+b?')",
                "%I.exists(x, x > %i)",
                "%S.all(i, x, i < %i && x != %s)",
                "%C.exists_one(x, x == %s)",
                "%M.hasValue()",
                "%M == %M",
                "(%b ? %b : %b)",
                "has(%C.a)",
                "cel.bind(x, %i, x == %i)",
                "%A.isLoopback()",
                "%A == %A",
                "(vt != null)",
                "%S.existsOne(i, x, i == 1)",
                "math.isNaN(%d)",
                "type(%i) == int",
                "%C.all(k, v, v > %i && k != '')"},
    [S_INT] = {"1",
               "vi",
               "-(%i)",
               "%i + %i",
               "%i * %i",
               "%i - %i",
               "%i / %i",
               "%i % %i",
               "size(%s)",
               "%S.size()",
               "size(%C)",
               "%I[%i]",
               "%C[%s]",
               "%C.a",
               "%t.getHours('+02:00')",
               "%p.getSeconds()",
               "int(%d)",
               "int(%u)",
               "int(%s)",
               "%s.indexOf(%s)",
               "(%b ? %i : %i)",
               "r.n",
               "math.greatest(%i, %i, %i)",
               "%A.family()",
               "cel.bind(x, %i, x + x)",
               "%I.map(x, x + %i)[%i]",
               "%C[?%s].orValue(%i)",
               "math.abs(%i)"},
    [S_UINT] = {"2u", "vu", "%u + %u", "%u * %u", "%u - %u", "%u / %u", "%u % %u", "uint(%i)", "uint(%d)", "(%b ? %u : %u)",
                "math.bitOr(%u, %u)"},
    [S_DOUBLE] = {"1.5", "vd", "-%d", "%d + %d", "%d * %d", "%d / %d", "double(%i)", "double(%s)", "math.ceil(%d)",
                  "(%b ? %d : %d)"},
    [S_STRING] = {"'aab'",
                  "vs",
                  "'ä'",
                  "%s + %s",
                  "%S[%i]",
                  "string(%i)",
                  "string(%d)",
                  "string(%t)",
                  "string(%y)",
                  "%s.lowerAscii()",
                  "%s.replace('a', %s)",
                  "%S.join(%s)",
                  "%s.substring(%i)",
                  "%s.charAt(%i)",
                  "%s.trim()",
                  "%s.reverse()",
                  "%M.value()",
                  "%M.orValue(%s)",
                  "r.s",
                  "strings.quote(%s)",
                  "(%b ? %s : %s)",
                  "%S.map(x, x + %s)[0]",
                  "base64.encode(%y)",
                  "string(%A)",
                  "cel.bind(x, %s, x + x)",
                  "string(%p)"},
    [S_BYTES] = {"b'ab'", "vy", "%y + %y", "bytes(%s)", "base64.decode(%s)", "(%b ? %y : %y)"},
    [S_TIME] = {"vt", "timestamp('2024-02-29T12:00:00Z')", "%t + %p", "%t - %p", "timestamp(%s)", "timestamp(%i)",
                "(%b ? %t : %t)"},
    [S_SPAN] = {"vp", "duration('1.5s')", "%p + %p", "%p - %p", "%t - %t", "duration(%s)", "(%b ? %p : %p)"},
    [S_INTS] = {"[]", "vis", "[%i, %i]", "%I + %I", "%I.map(x, x * %i)", "%I.filter(x, x > %i)", "%S.map(x, size(x))",
                "%S.transformList(i, x, i + %i)", "(%b ? %I : %I)", "%C.transformList(k, v, v > %i, v)", "[%i, ?%C[?%s]]"},
    [S_STRINGS] = {"['a']", "vss", "[%s, %s]", "%S + %S", "%S.map(x, x + %s)", "%S.filter(x, x != %s)", "%s.split(%s)",
                   "%C.map(x, x)", "r.l", "%C.filter(x, true)", "[?%M, %s]", "%I.map(x, string(x))", "(%b ? %S : %S)"},
    [S_COUNTS] = {"{'a': 1}", "vc", "{%s: %i}", "{'a': %i, 'b': %i}", "%C.transformMap(k, v, v + %i)",
                  "%S.transformMapEntry(i, x, {x: i})", "(%b ? %C : %C)", "{?%s: %C[?%s]}"},
    [S_MAYBE] = {"vm", "optional.of(%s)", "optional.none()", "%S[?%i]", "%M.or(%M)", "%M.optMap(x, x + %s)",
                 "%M.optFlatMap(x, %S[?%i])", "(%b ? %M : %M)", "optional.ofNonZeroValue(%s)"},
    [S_IP] = {"va", "ip('127.0.0.1')", "ip(%s)", "cidr('10.0.0.0/8').ip()", "(%b ? %A : %A)"},
};
static const char letters[] = "biudsytpISCMA";

typedef struct maker {
    uint64_t seed;
    char text[4096];
    size_t n;
} maker;

static uint32_t pick(maker *m, uint32_t below) {
    m->seed = m->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(m->seed >> 33) % below;
}

static void make(maker *m, sort s, int depth) {
    if (pick(m, 40) == 0) {
        s = (sort)pick(m, SORTS); /* what the checker has to refuse */
    }
    uint32_t count = 0;
    while (forms[s][count] != NULL) {
        count++;
    }
    const char *form = forms[s][depth > 0 ? pick(m, count) : pick(m, 2)];
    const bool plain = strchr(form, '%') == NULL;
    if (!plain && m->n < sizeof m->text) {
        m->text[m->n++] = '(';
    }
    for (; *form != 0 && m->n + 200 < sizeof m->text; form++) {
        const char *which = *form == '%' && form[1] != 0 ? strchr(letters, form[1]) : NULL;
        if (which != NULL && *which != 0) {
            form++;
            make(m, (sort)(which - letters), depth - 1);
        } else {
            m->text[m->n++] = *form;
        }
    }
    if (!plain) {
        m->text[m->n++] = ')';
    }
    m->text[m->n] = 0;
}

static bool holds_dyn(const il_cel_type *t) {
    return t == NULL || t->kind == IL_CEL_DYN || (t->kind == IL_CEL_LIST && holds_dyn(t->element)) ||
           (t->kind == IL_CEL_OPTIONAL && holds_dyn(t->element)) ||
           (t->kind == IL_CEL_MAP && (holds_dyn(t->key) || holds_dyn(t->element)));
}

static bool tree_has_dyn(const il_cel_node *n) {
    if (holds_dyn(n->type)) {
        return true;
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        if (tree_has_dyn(k)) {
            return true;
        }
    }
    return false;
}

static bool is_of(const il_cel_value *v, const il_cel_type *t) {
    if (v->kind == IL_CEL_NULL) {
        return t->kind == IL_CEL_NULL || t->kind == IL_CEL_OPTIONAL || t->kind == IL_CEL_TIMESTAMP || t->kind == IL_CEL_IP;
    }
    if (v->kind != t->kind) {
        return false;
    }
    if (v->kind == IL_CEL_LIST && !v->json) {
        for (uint32_t i = 0; i < v->n; i++) {
            if (!is_of(&v->u.items[i], t->element)) {
                return false;
            }
        }
    }
    return true;
}

static void values(il_cel_value v[NVARS]) {
    static const il_cel_value ints[] = {
        {.kind = IL_CEL_INT, .u.i = 3}, {.kind = IL_CEL_INT, .u.i = -1}, {.kind = IL_CEL_INT, .u.i = INT64_MAX}};
    static const il_cel_value texts[] = {{.kind = IL_CEL_STRING, .n = 1, .u.p = "a"},
                                         {.kind = IL_CEL_STRING, .n = 0, .u.p = ""},
                                         {.kind = IL_CEL_STRING, .n = 40, .u.p = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}};
    static il_cel_value counts[] = {{.kind = IL_CEL_STRING, .n = 1, .u.p = "a"},
                                    {.kind = IL_CEL_INT, .u.i = 7},
                                    {.kind = IL_CEL_STRING, .n = 2, .u.p = "bb"},
                                    {.kind = IL_CEL_INT, .u.i = 0}};
    static il_cel_value fields[3];
    static il_ip address;
    memset(v, 0, NVARS * sizeof *v);
    assert_true(il_ip_parse(IL_STR("127.0.0.1"), &address));
    assert_true(il_cel_sort_entries(counts, 2));
    v[0] = il_cel_of_bool(true);
    v[1] = il_cel_of_int(2);
    v[2] = il_cel_of_uint(5);
    v[3] = il_cel_of_double(-0.5);
    v[4] = il_cel_of_str(IL_STR("aaaaaaaaaabbbbbbbbbbaaaaaaaaaa, ,aaaaaaab"));
    v[4].n = TEXT_BYTES;
    v[5] = il_cel_of_bytes(IL_STR("\x01\xff bytes"));
    v[6] = il_cel_of(IL_CEL_TIMESTAMP, 5);
    v[6].u.i = 1700000000;
    v[7] = il_cel_of(IL_CEL_DURATION, 0);
    v[7].u.i = 1500000000;
    v[8] = il_cel_of_items(IL_CEL_LIST, ints, 3);
    v[9] = il_cel_of_items(IL_CEL_LIST, texts, 3);
    v[10] = il_cel_of_items(IL_CEL_MAP, counts, 2);
    v[11] = il_cel_of_items(IL_CEL_OPTIONAL, texts, 0);
    v[12] = il_cel_of(IL_CEL_IP, 0);
    v[12].u.p = (const char *)&address;
    fields[0] = v[1];
    fields[1] = v[4];
    fields[2] = v[9];
    v[13] = il_cel_of_items(IL_CEL_RECORD, fields, 3);
}

typedef struct tally {
    size_t accepted, refused, judged, errors, types, dear, large;
} tally;

/* `share`: which part of the bound an evaluation may spend. */
static tally judge(uint64_t seed, unsigned rounds, bool unchecked, uint64_t share, bool say) {
    const il_cel_limits limits = {.size = sizeof limits,
                                  .text_bytes = TEXT_BYTES,
                                  .list_items = LIST_ITEMS,
                                  .cost = UINT64_MAX,
                                  .steps = UINT64_MAX / 4,
                                  .unchecked = unchecked};
    il_cel_value v[NVARS];
    values(v);
    maker m = {.seed = seed};
    tally t = {0, 0, 0, 0, 0, 0, 0};
    for (unsigned round = 0; round < rounds; round++) {
        m.n = 0;
        make(&m, (sort)pick(&m, SORTS), 1 + (int)pick(&m, 5));
        cel_case c;
        cel_case_init(&c);
        const il_status status =
            il_cel_compile(&c.arena, il_str_of(m.text), 1, 1, &env, IL_CEL_NULL, &limits, &c.program, &c.err);
        t.accepted += status == IL_OK;
        t.refused += status == IL_E_INVALID || status == IL_E_LIMIT;
        if (status == IL_OK && (unchecked || !tree_has_dyn(c.program->root))) {
            const il_cel_node *root = c.program->root;
            c.program->steps = root->cost / share;
            const il_cel_value got = cel_eval(&c, v);
            const bool error = got.kind == IL_CEL_ERROR, sized = got.kind == IL_CEL_STRING || got.kind == IL_CEL_BYTES ||
                                                                 got.kind == IL_CEL_LIST || got.kind == IL_CEL_MAP;
            const bool types =
                error ? got.fault == IL_CEL_NO_OVERLOAD || got.fault == IL_CEL_UNKNOWN : !unchecked && !is_of(&got, root->type);
            const bool dear = error && got.fault == IL_CEL_BUDGET, large = sized && got.n > root->size / share;
            t.judged++;
            t.errors += error;
            t.types += types;
            t.dear += dear;
            t.large += large;
            if (say && (types || dear || large)) {
                print_error("%s: %s\n  kind %u, fault %u, n %u; size %llu, cost %llu\n",
                            types  ? "types"
                            : dear ? "dearer than its bound"
                                   : "larger than its bound",
                            m.text, got.kind, got.fault, got.n, (unsigned long long)root->size, (unsigned long long)root->cost);
            }
        }
        cel_case_free(&c);
    }
    return t;
}

static void test_sound(void **state) {
    (void)state;
    const tally t = judge(7, 30000, false, 1, true);
    print_message("%zu refused, %zu accepted, %zu of them without dyn, %zu errors of values\n", t.refused, t.accepted, t.judged,
                  t.errors);
    assert_int_equal(t.types + t.dear + t.large, 0);
    assert_int_equal(t.refused + t.accepted, 30000); /* none is malformed */
    assert_true(t.refused > 1000 && t.judged > 10000 && t.errors > 500 && t.judged - t.errors > 5000);
}

/* The three promises are seen to be broken: without the check, and with a part of the bounds. */
static void test_controls(void **state) {
    (void)state;
    const tally unchecked = judge(7, 3000, true, 1, false), tight = judge(7, 3000, false, 16, false);
    assert_true(unchecked.types > 50);
    assert_true(tight.dear > 50 && tight.large > 50 && tight.types == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sound), cmocka_unit_test(test_controls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
