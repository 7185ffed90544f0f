/* SPDX-License-Identifier: Apache-2.0 */
/* What the checker finds out: the type of every kind of expression, signatures with parameters, patterns and zones that are
 * looked at while compiling, the mode without the check, and how it ends when memory or patience runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cel/check.h"
#include "helper_cel.h"

#define NAME(z) \
    { z, sizeof(z) - 1 }
static const il_cel_type t_strings = {.kind = IL_CEL_LIST, .element = &il_cel_type_string};
static const il_cel_type t_counts = {.kind = IL_CEL_MAP, .key = &il_cel_type_string, .element = &il_cel_type_int};
static const il_cel_type t_numbered = {.kind = IL_CEL_MAP, .key = &il_cel_type_int, .element = &il_cel_type_string};
static const il_cel_type t_maybe = {.kind = IL_CEL_OPTIONAL, .element = &il_cel_type_string};
static const il_cel_type t_maybe_list = {.kind = IL_CEL_OPTIONAL, .element = &t_strings};
static const il_cel_field f_mail[] = {
    {NAME("to"), &t_strings}, {NAME("body"), &il_cel_type_string}, {NAME("n"), &il_cel_type_int}, {NAME("extra"), NULL}};
static const il_cel_type t_mail = {
    .kind = IL_CEL_MAP, .key = &il_cel_type_string, .fields = f_mail, .nfields = 4, .name = NAME("mail")};
static const il_cel_field f_rec[] = {{NAME("inner"), &t_mail}, {NAME("when"), &il_cel_type_timestamp}};
static const il_cel_type t_rec = {.kind = IL_CEL_RECORD, .fields = f_rec, .nfields = 2, .name = NAME("rec")};
static const il_cel_type t_recs = {.kind = IL_CEL_LIST, .element = &t_rec};
static const il_cel_type t_maybe_rec = {.kind = IL_CEL_OPTIONAL, .element = &t_rec};
static const il_cel_type t_token = {.kind = IL_CEL_OPAQUE, .name = NAME("token")};
static const il_cel_type t_t = {.kind = IL_CEL_PARAM, .name = NAME("T")}, t_u = {.kind = IL_CEL_PARAM, .name = NAME("U")},
                         t_v = {.kind = IL_CEL_PARAM, .name = NAME("V")};
static const il_cel_field f_tuv[] = {{{NULL, 0}, &t_t}, {{NULL, 0}, &t_u}, {{NULL, 0}, &t_v}};
static const il_cel_type t_tuple = {.kind = IL_CEL_OPAQUE, .name = NAME("tuple"), .fields = f_tuv, .nfields = 3};
static const il_cel_field f_ttt[] = {{{NULL, 0}, &t_t}, {{NULL, 0}, &t_t}, {{NULL, 0}, &t_t}};
static const il_cel_type t_same = {.kind = IL_CEL_OPAQUE, .name = NAME("tuple"), .fields = f_ttt, .nfields = 3};
static const il_cel_field f_tt[] = {{{NULL, 0}, &t_t}, {{NULL, 0}, &t_t}};
static const il_cel_type t_pair = {.kind = IL_CEL_OPAQUE, .name = NAME("pair"), .fields = f_tt, .nfields = 2};

static const il_cel_field vars[] = {
    {NAME("i"), &il_cel_type_int},
    {NAME("u"), &il_cel_type_uint},
    {NAME("d"), &il_cel_type_double},
    {NAME("s"), &il_cel_type_string},
    {NAME("y"), &il_cel_type_bytes},
    {NAME("b"), &il_cel_type_bool},
    {NAME("t"), &il_cel_type_timestamp},
    {NAME("span"), &il_cel_type_duration},
    {NAME("host"), &il_cel_type_ip},
    {NAME("block"), &il_cel_type_cidr},
    {NAME("args"), &il_cel_type_json},
    {NAME("any"), &il_cel_type_dyn},
    {NAME("names"), &t_strings},
    {NAME("counts"), &t_counts},
    {NAME("numbered"), &t_numbered},
    {NAME("maybe"), &t_maybe},
    {NAME("maybes"), &t_maybe_list},
    {NAME("mail"), &t_mail},
    {NAME("r"), &t_rec},
    {NAME("rs"), &t_recs},
    {NAME("mr"), &t_maybe_rec},
    {NAME("tok"), &t_token},
    {NAME("untyped"), NULL},
    {NAME("a.b"), &il_cel_type_int},
};

static const il_cel_type *const p_string_int[] = {&il_cel_type_string, &il_cel_type_int};
static const il_cel_type *const p_int_int[] = {&il_cel_type_int, &il_cel_type_int};
static const il_cel_type *const p_tuv[] = {&t_t, &t_u, &t_v};
static const il_cel_type *const p_same[] = {&t_same};
static const il_cel_type *const p_token[] = {&t_token, &il_cel_type_string};
static const il_cel_type *const p_tt[] = {&t_t, &t_t};
static il_cel_value call_one(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)ctx;
    (void)nargs;
    return args[0];
}
static il_cel_value call_two(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)ctx;
    return args[nargs - 1];
}
static const il_cel_function functions[] = {
    {.name = NAME("fn"), .params = p_string_int, .nparams = 2, .result = &il_cel_type_string, .cost = 100, .call = call_one},
    {.name = NAME("fn"), .params = p_int_int, .nparams = 2, .result = &il_cel_type_int, .cost = 50, .call = call_two},
    {.name = NAME("tuple"), .params = p_tuv, .nparams = 3, .result = &t_tuple},
    {.name = NAME("sort"), .params = p_same, .nparams = 1, .result = &t_same},
    {.name = NAME("pair"), .params = p_tt, .nparams = 2, .result = &t_pair},
    {.name = NAME("is"), .receiver = true, .params = p_token, .nparams = 2, .result = &il_cel_type_bool},
    {.name = NAME("size"), .params = p_token, .nparams = 1, .result = &il_cel_type_int},
    {.name = NAME("my.fn"), .params = p_string_int, .nparams = 1, .result = &t_strings},
};
static bool zone_is(void *ctx, il_str zone, int64_t seconds, int32_t *east) {
    (void)ctx;
    (void)seconds;
    *east = 3600;
    return il_str_eq(zone, IL_STR("Europe/Vienna"));
}
static const il_cel_env env = {.size = sizeof env,
                               .vars = vars,
                               .nvars = sizeof vars / sizeof vars[0],
                               .functions = functions,
                               .nfunctions = sizeof functions / sizeof functions[0],
                               .zone = zone_is};

static il_status compile(cel_case *c, const char *text, const il_cel_limits *limits) {
    memset(&c->err, 0, sizeof c->err);
    return il_cel_compile(&c->arena, il_str_of(text), 1, 1, &env, IL_CEL_NULL, limits, &c->program, &c->err);
}

static void test_accepted(void **state) {
    (void)state;
    static const struct {
        const char *text, *type;
    } rows[] = {
        /* literals */
        {"null", "null_type"},
        {"1u", "uint"},
        {"1.5", "double"},
        {"b'x'", "bytes"},
        {"[]", "list(dyn)"},
        {"{}", "map(dyn, dyn)"},
        {"[1, 2]", "list(int)"},
        {"[1, 'a']", "list(dyn)"},
        {"[1, any]", "list(dyn)"},
        {"[[], [1]]", "list(list(int))"},
        {"[[1], []]", "list(list(int))"},
        {"[[], [[]], [[[]]], [[[[]]]]]", "list(list(list(list(list(dyn)))))"},
        {"[[[[[]]]], [], [[[]]]]", "list(list(list(list(list(dyn)))))"},
        {"{'a': 1, 'b': 2}", "map(string, int)"},
        {"{'a': 1, 2: 'b'}", "map(dyn, dyn)"},
        {"{1: [], 2: [s]}", "map(int, list(string))"},
        {"[?maybe, s]", "list(string)"},
        {"[?any]", "list(dyn)"},
        {"{?'k': maybe}", "map(string, string)"},
        {"[t, null]", "list(timestamp)"},
        {"[null, maybe]", "list(optional_type(string))"},
        {"[1, null]", "list(dyn)"},
        {"[optional.of(1), null][0]", "optional_type(int)"},
        {"[optional.none(), optional.of(1)]", "list(optional_type(int))"},
        {"[optional.of(1), optional.of(dyn(1))]", "list(optional_type(dyn))"},
        {"[optional.of(dyn(1)), optional.of(1)]", "list(optional_type(dyn))"},
        {"[mail, {'to': 's'}]", "list(map(string, dyn))"},
        /* types as values */
        {"int", "type(int)"},
        {"list", "type(list(dyn))"},
        {"net.IP", "type(net.IP)"},
        {"type(1)", "type(int)"},
        {"type(names) == list", "bool"},
        {"type(any) == string", "bool"},
        {"type(type(1)) == type", "bool"},
        {"type(tok)", "type(token)"},
        {"type(maybe) == optional_type", "bool"},
        {"type(t) == google.protobuf.Timestamp", "bool"},
        /* fields and indexes */
        {"args.to", "dyn"},
        {"args.to.cc[0].name", "dyn"},
        {"args['to']", "dyn"},
        {"args.?to", "optional_type(dyn)"},
        {"args[?'to'].orValue('x')", "dyn"},
        {"counts.x", "int"},
        {"counts['x']", "int"},
        {"counts[any]", "int"},
        {"counts[?'x']", "optional_type(int)"},
        {"numbered[1]", "string"},
        {"names[0]", "string"},
        {"names[?0]", "optional_type(string)"},
        {"maybes[0]", "optional_type(string)"},
        {"maybes[?0]", "optional_type(string)"},
        {"mail.to", "list(string)"},
        {"mail['to'][0]", "string"},
        {"mail[s]", "dyn"},
        {"mail.extra", "dyn"},
        {"mail.?body", "optional_type(string)"},
        {"r.inner.n", "int"},
        {"r.when", "timestamp"},
        {"rs[0].inner.body", "string"},
        {"mr.when", "optional_type(timestamp)"},
        {"mr.inner.to", "optional_type(list(string))"},
        {"r.?inner", "optional_type(map(string, dyn))"},
        {"r.?inner.to[0]", "optional_type(string)"},
        {"has(mail.body) && has(args.x.y) && has(r.inner) && has(mr.when)", "bool"},
        {"untyped.x", "dyn"},
        {"a.b", "int"},
        /* operators */
        {"i + 1", "int"},
        {"u * 2u", "uint"},
        {"d / 2.0", "double"},
        {"i % 2", "int"},
        {"-d", "double"},
        {"y + y", "bytes"},
        {"s + 'x'", "string"},
        {"names + []", "list(string)"},
        {"[] + names", "list(string)"},
        {"[1] + [any]", "list(dyn)"},
        {"t - t", "duration"},
        {"t + span", "timestamp"},
        {"span + t", "timestamp"},
        {"t - span", "timestamp"},
        {"span - span", "duration"},
        {"any + 1", "int"},
        {"any + any", "dyn"},
        {"any + span", "dyn"},
        {"any - t", "duration"},
        {"-any", "dyn"},
        {"any * any", "dyn"},
        {"t < t && span <= span && y > y && b >= b && u < u && d < d", "bool"},
        {"any < 1", "bool"},
        {"t == null && maybe != null && host == null && tok == null && r == null", "bool"},
        {"names == [] && counts == {}", "bool"},
        {"1 in [1, 2] && 'a' in counts && any in any && s in args && 1 in [1, 'a']", "bool"},
        {"b ? 1 : any", "dyn"},
        {"b ? [] : names", "list(string)"},
        {"b ? null : maybe", "optional_type(string)"},
        {"b ? optional.of(dyn(1)) : optional.of(1)", "optional_type(dyn)"},
        /* macros */
        {"names.map(x, size(x))", "list(int)"},
        {"names.map(x, size(x) > 1, [x])", "list(list(string))"},
        {"names.filter(x, x != '')", "list(string)"},
        {"counts.filter(k, counts[k] > 1)", "list(string)"},
        {"counts.map(k, k)", "list(string)"},
        {"counts.exists(k, v, k == 'a' && v > 1)", "bool"},
        {"names.all(i, x, i < 3 && x != '')", "bool"},
        {"names.exists_one(x, x == s) || names.existsOne(i, x, i == 1)", "bool"},
        {"names.transformList(i, x, i)", "list(int)"},
        {"counts.transformList(k, v, v > 1, k)", "list(string)"},
        {"names.transformMap(i, x, x + x)", "map(int, string)"},
        {"counts.transformMap(k, v, v > 1, [v])", "map(string, list(int))"},
        {"counts.transformMapEntry(k, v, {v: k})", "map(int, string)"},
        {"any.map(x, x)", "list(dyn)"},
        {"any.transformMap(k, v, 1)", "map(dyn, int)"},
        {"any.exists(x, x) && any.all(k, v, v)", "bool"},
        {"[].map(x, x)", "list(dyn)"},
        {"([].map(x, x))[0].foo", "dyn"},
        {"[[]].map(x, x.map(y, y))", "list(list(dyn))"},
        {"cel.bind(x, i + 1, [x, x])", "list(int)"},
        {"cel.bind(x, [], [x, [1]])", "list(list(int))"},
        {"maybe.optMap(x, size(x))", "optional_type(int)"},
        {"maybe.optFlatMap(x, names[?size(x)])", "optional_type(string)"},
        {"any.optMap(x, x)", "optional_type(dyn)"},
        /* functions */
        {"size(names) + s.size()", "int"},
        {"s.split(',')", "list(string)"},
        {"maybe.orValue('x')", "string"},
        {"maybe.or(optional.none())", "optional_type(string)"},
        {"optional.none()", "optional_type(dyn)"},
        {"optional.of(i).value()", "int"},
        {"dyn(1)", "dyn"},
        {"duration('1s').getHours() + t.getHours() + t.getHours('UTC') + t.getHours('+01:00') + t.getHours('Europe/Vienna')",
         "int"},
        {"t.getHours(s)", "int"},
        {"string(any)", "string"},
        {"s.matches('^a+$') && matches(s, r'\\d')", "bool"},
        {"ip('127.0.0.1').isLoopback() && block.containsIP(host) && block.containsIP('::1')", "bool"},
        {"math.greatest(1, 2, 3)", "int"},
        {"math.greatest(1, any)", "dyn"},
        {"math.greatest(1, 2.0)", "dyn"},
        {"math.greatest([any])", "dyn"},
        {"fn('abc', 123)", "string"},
        {"fn(1, 2)", "int"},
        {"my.fn('a')", "list(string)"},
        {"tok.is('x') && size(tok) > 1", "bool"},
        {"tuple(1, 2u, 3.0)", "tuple(int, uint, double)"},
        {"[tuple(1, 2u, 3.0), tuple(dyn(1), dyn(2u), dyn(3.0))][0]", "tuple(dyn, dyn, dyn)"},
        {"[tuple(1, dyn(2u), 3.0), tuple(dyn(1), 2u, 3.0)][0]", "tuple(dyn, dyn, double)"},
        {"sort(tuple(dyn(1), 2u, 3.0))", "tuple(dyn, dyn, dyn)"},
        {"tuple(1, 2u, 3.0) == tuple(1, dyn(2u), dyn(3.0))", "bool"},
        {"pair([], [1])", "pair(list(int), list(int))"},
        {"pair(t, null)", "pair(timestamp, timestamp)"},
    };
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cel_case c;
        cel_case_init(&c);
        char type[200] = "";
        const il_status status = compile(&c, rows[i].text, NULL);
        if (status == IL_OK) {
            il_cel_type_text(il_cel_result_type(c.program), type, sizeof type);
        }
        if (status != IL_OK || strcmp(type, rows[i].type) != 0) {
            print_error("%s\n  want %s\n  got  %s %u:%u %s\n", rows[i].text, rows[i].type, type, c.err.line, c.err.col,
                        c.err.msg);
            wrong++;
        }
        cel_case_free(&c);
    }
    assert_int_equal(wrong, 0);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t col, span;
        const char *says;
    } rows[] = {
        /* closed maps */
        {"mail.tto", 6, 3, "no field `tto` in `mail`; did you mean `to`?"},
        {"mail['bdy']", 6, 5, "no field `bdy` in `mail`; did you mean `body`?"},
        {"mail[?'recipient']", 7, 11, "no field `recipient` in `mail`; there are `to`, `body`, `n`, `extra`"},
        {"has(mail.recipient)", 10, 9, "no field `recipient` in `mail`; there are `to`, `body`, `n`, `extra`"},
        {"mail.n == 'x'", 8, 2, "no overload `int == string`"},
        {"r.inner.boody == s", 9, 5, "no field `boody` in `mail`; did you mean `body`?"},
        {"mr.whne", 4, 4, "no field `whne` in `rec`; did you mean `when`?"},
        {"numbered.x", 10, 1, "no field `x` in a `map(int, string)`"},
        {"numbered['x']", 9, 1, "no overload `map(int, string)[string]`"},
        /* what does not go together */
        {"i == null", 3, 2, "no overload `int == null_type`"},
        {"maybe == s", 7, 2, "no overload `optional_type(string) == string`"},
        {"names == counts", 7, 2, "no overload `list(string) == map(string, int)`"},
        {"tok == host", 5, 2, "no overload `token == net.IP`"},
        {"type(1) == 1", 9, 2, "no overload `type(int) == int`"},
        {"t + t", 3, 1, "no overload `timestamp + timestamp`"},
        {"span - t", 6, 1, "no overload `duration - timestamp`"},
        {"t < span", 3, 1, "no overload `timestamp < duration`"},
        {"host < host", 6, 1, "no overload `net.IP < net.IP`"},
        {"-u", 1, 1, "no overload `-uint`"},
        {"1 in counts", 3, 2, "no overload `int in map(string, int)`"},
        {"b ? t : i", 3, 1, "the arms of `?:` differ: `timestamp` and `int`"},
        {"b ? s : null", 3, 1, "the arms of `?:` differ: `string` and `null_type`"},
        {"[].map(x, [].map(y, x in y && y in x))", 33, 2, "no overload `list(dyn) in dyn`"},
        {"tuple(1, 2u, 3.0) == tuple('a', 2u, 3.0)", 19, 2,
         "no overload `tuple(int, uint, double) == tuple(string, uint, double)`"},
        /* functions of the host */
        {"fn('abc', 'x')", 1, 2, "no overload `fn(string, string)`; there are `fn(string, int)`, `fn(int, int)`"},
        {"fn(1)", 1, 2, "`fn` takes 2 arguments, got 1"},
        {"fn(any, 1)", 1, 2, "`fn(dyn, int)` fits several functions of this name; convert what is `dyn`"},
        {"sort(tuple(1, 'a', 2))", 1, 4, "no overload `sort(tuple(int, string, int))`; there is `sort(tuple(T, T, T))`"},
        {"pair(1, 'a')", 1, 4, "no overload `pair(int, string)`; there is `pair(T, T)`"},
        {"tuplle(1, 2, 3)", 1, 6, "unknown function `tuplle`; did you mean `tuple`?"},
        {"tok.si('x')", 5, 2, "unknown function `si`; did you mean `is`?"},
        {"tok.endsWith('x')", 5, 8, "no overload `token.endsWith(string)`; there is `string.endsWith(string)`"},
        {"is(tok, 'x')", 1, 2, "`is` is called on a value; write `x.is(...)`"},
        {"my.fm('a')", 1, 5, "unknown function `my.fm`; did you mean `my.fn`?"},
        /* qualified names */
        {"a.c == 1", 1, 3, "undeclared name `a.c`; did you mean `a.b`?"},
        {"a == 1", 1, 1, "undeclared name `a`; there are `i`, `u`, `d`, `s`, `y`, `b`, `t`, `span`, ..."},
        /* patterns: the place is inside the literal */
        {"s.matches('(a')", 12, 2, "missing `)` for the group that begins here"},
        {"s.matches('\\u00e4\\x41\\\\d(a')", 25, 2, "missing `)` for the group that begins here"},
        {"s.matches(r'ä(a')", 14, 2, "missing `)` for the group that begins here"},
        {"matches(s, '''x\n(a''')", 1, 2, "missing `)` for the group that begins here"},
        {"s.matches('(a)\\\\1')", 15, 3, "backreference `\\1` is not supported"},
        {"s.matches(s)", 11, 1, "the pattern of `matches` must be a literal; one that is made at run time is not compiled"},
        {"s.matches('a' + 'b')", 11, 9,
         "the pattern of `matches` must be a literal; one that is made at run time is not compiled"},
        /* zones */
        {"t.getHours('Europe/Wien') == 1", 12, 13, "no time zone `Europe/Wien`; write one such as `Europe/Vienna` or `+02:00`"},
        {"t.getFullYear('25:00') == 1", 15, 7, "no time zone `25:00`; write one such as `Europe/Vienna` or `+02:00`"},
    };
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cel_case c;
        cel_case_init(&c);
        const il_status status = compile(&c, rows[i].text, NULL);
        if (status != IL_E_INVALID || c.err.col != rows[i].col || c.err.span != rows[i].span ||
            strcmp(c.err.msg, rows[i].says) != 0) {
            print_error("%s\n  want %u+%u %s\n  got  %u+%u %s (%s)\n", rows[i].text, rows[i].col, rows[i].span, rows[i].says,
                        c.err.col, c.err.span, c.err.msg, il_status_name(status));
            wrong++;
        }
        cel_case_free(&c);
    }
    assert_int_equal(wrong, 0);
}

/* Every node has a type, and none of them is a variable of the inference. */
static void typed(const il_cel_node *n) {
    assert_non_null(n->type);
    assert_true(n->type->kind != IL_CEL_PARAM && n->op != IL_CEL_OP_LET);
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        typed(k);
    }
}

static void test_nodes(void **state) {
    (void)state;
    cel_case c;
    cel_case_init(&c);
    const il_cel_limits dynamic = {.size = sizeof dynamic, .dynamic_regex = true};
    assert_int_equal(compile(&c, "has(r.inner) && [[], [x_]].exists(x, x == [])", NULL), IL_E_INVALID);
    assert_int_equal(
        compile(&c, "has(r.inner) && r.when == t && s.matches('a') && names.exists(x, fn(x, 1) == s) && [[], [1]][0] == []",
                NULL),
        IL_OK);
    typed(c.program->root);
    const il_cel_node *has = c.program->root->kids, *eq = has->next, *call = eq->next, *exists = call->next;
    assert_true(has->op == IL_CEL_OP_HAS && has->kids->op == IL_CEL_OP_SELECT && has->kids->field == 0);
    assert_true(eq->kids->op == IL_CEL_OP_FIELD && eq->kids->field == 1 && eq->kids->slot == 18);
    assert_true(call->builtin != NULL && call->regex != NULL && call->function == NULL);
    assert_true(exists->kids->next->kids->function == &functions[0] && exists->kids->next->kids->builtin == NULL);
    assert_true(exists->cost > UINT64_C(1024) * 100); /* the function's own cost, once an item */
    assert_int_equal(compile(&c, "s.matches(s)", &dynamic), IL_OK);
    assert_null(c.program->root->regex);
    assert_int_equal(compile(&c, "s.matches('(')", &dynamic), IL_E_INVALID);
    cel_case_free(&c);
}

/* Without the check only what the grammar refuses is refused; what could be resolved is. */
static void test_unchecked(void **state) {
    (void)state;
    static const char *const fine[] = {"1 + 'a'",
                                       "nope",
                                       "nope.x.y",
                                       "nope(1)",
                                       "s.nope(nope2)",
                                       "!1",
                                       "1 && 'a'",
                                       "b ? 1 : 'a'",
                                       "1.exists(x, x)",
                                       "mail.nope",
                                       "has(r.nope)",
                                       "s.matches('(')",
                                       "s.matches(s)",
                                       "size()",
                                       "s.startsWith(1)",
                                       "{1.5: 2, [1]: 3}",
                                       "[?1]",
                                       "1.optMap(x, x)",
                                       "fn(any, 1)",
                                       "t.getHours('x/y')",
                                       "fn('a')",
                                       "s == 1",
                                       "1[2]",
                                       "names.contains(1)",
                                       "[1].map(x, x, x)",
                                       "cel.bind(x, nope, x)",
                                       "-s",
                                       "1 in 2",
                                       "sort(1)"};
    const il_cel_limits unchecked = {.size = sizeof unchecked, .unchecked = true};
    cel_case c;
    cel_case_init(&c);
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        if (compile(&c, fine[i], &unchecked) != IL_OK) {
            print_error("%s\n  %u:%u %s\n", fine[i], c.err.line, c.err.col, c.err.msg);
            fail();
        }
        typed(c.program->root);
        assert_int_equal(compile(&c, fine[i], NULL), IL_E_INVALID); /* each of them is one that the check refuses */
    }
    assert_int_equal(compile(&c, "s.startsWith(1)", &unchecked), IL_OK);
    assert_non_null(c.program->root->builtin); /* says itself that it takes no int */
    assert_int_equal(compile(&c, "size()", &unchecked), IL_OK);
    assert_null(c.program->root->builtin); /* never called with what it does not look at */
    assert_int_equal(compile(&c, "r.when == t", &unchecked), IL_OK);
    assert_int_equal(c.program->root->kids->op, IL_CEL_OP_FIELD);
    assert_int_equal(compile(&c, "1 +", &unchecked), IL_E_SYNTAX);
    cel_case_free(&c);
}

/* The n-th allocation fails, for every n: a clean error each time, and then it works. */
static void test_no_memory(void **state) {
    (void)state;
    static const char text[] =
        "cel.bind(x, [], [x, [1], names.map(n, [n, 'a'])]).exists(l, l == [] || s.matches('^(a|b)*$')) && "
        "pair(maybe, optional.none()) == pair(null, maybe) && mail.to == [] && {'a': [], 'b': [1]}.b[0] > 0 && "
        "math.greatest(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) > 1 && (b ? 'x' : 'y') == 'y'";
    for (size_t n = 0;; n++) {
        cel_memory memory;
        cel_memory_init(&memory, n);
        il_arena arena;
        il_arena_init(&arena, &memory.alloc, (size_t)1 << 22);
        il_error err = {.code = IL_OK};
        il_cel_program *p = NULL;
        const il_status status = il_cel_compile(&arena, il_str_of(text), 1, 1, &env, IL_CEL_BOOL, NULL, &p, &err);
        il_arena_free(&arena);
        if (status == IL_OK) {
            assert_true(n > 2);
            break;
        }
        assert_int_equal(status, IL_E_MEMORY);
        assert_int_equal(err.code, IL_E_MEMORY);
        assert_null(p);
    }
    /* The same with a cap of the arena, byte by byte in steps. */
    for (size_t cap = 0; cap < 60000; cap += 97) {
        cel_memory memory;
        cel_memory_init(&memory, SIZE_MAX);
        il_arena arena;
        il_arena_init(&arena, &memory.alloc, cap);
        il_error err = {.code = IL_OK};
        il_cel_program *p = NULL;
        const il_status status = il_cel_compile(&arena, il_str_of(text), 1, 1, &env, IL_CEL_BOOL, NULL, &p, &err);
        il_arena_free(&arena);
        assert_true(status == IL_OK || status == IL_E_LIMIT);
        assert_true((status == IL_OK) == (p != NULL));
    }
}

/* Types that share their parts grow with each pair and are walked in exponential time: the checker gives up, soon. */
static void test_patience(void **state) {
    (void)state;
    char text[4000] = "", part[64];
    size_t n = 0;
    for (int i = 0; i < 30; i++) {
        n += (size_t)snprintf(part, sizeof part, i == 0 ? "cel.bind(v%d, pair(1, 1), " : "cel.bind(v%d, pair(v%d, v%d), ", i,
                              i - 1, i - 1);
        strncat(text, part, sizeof text - strlen(text) - 1);
    }
    strncat(text, "cel.bind(w, [v29, v29], w[0] == v29)", sizeof text - strlen(text) - 1);
    for (int i = 0; i < 30; i++) {
        strncat(text, ")", sizeof text - strlen(text) - 1);
    }
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(compile(&c, text, NULL), IL_E_LIMIT);
    assert_string_equal(c.err.msg, "the types of this expression are too large; split it");
    cel_case_free(&c);

    /* Deep and wide is fine. */
    cel_case_init(&c);
    const il_cel_limits deep = {.size = sizeof deep, .depth = 512, .nodes = 20000, .source_bytes = 1 << 20};
    char *large = test_malloc(200000);
    n = 0;
    for (int i = 0; i < 400; i++) {
        large[n++] = '[';
    }
    for (int i = 0; i < 400; i++) {
        large[n++] = ']';
    }
    large[n] = 0;
    assert_int_equal(compile(&c, large, &deep), IL_OK);
    n = 0;
    large[n++] = '[';
    for (int i = 0; i < 4000; i++) {
        n += (size_t)sprintf(large + n, "%s[],[[%d]]", i > 0 ? "," : "", i);
    }
    large[n++] = ']';
    large[n] = 0;
    assert_int_equal(compile(&c, large, &deep), IL_OK);
    char type[64];
    il_cel_type_text(il_cel_result_type(c.program), type, sizeof type);
    assert_string_equal(type, "list(list(list(int)))");
    test_free(large);
    cel_case_free(&c);
}

/* A type that a host built in a circle, and one wider than any text. */
static void test_text(void **state) {
    (void)state;
    il_cel_type circle = {.kind = IL_CEL_LIST};
    circle.element = &circle;
    char out[16];
    assert_int_equal(il_cel_type_text(&circle, out, sizeof out), 15);
    assert_string_equal(out, "list(list(list(");
    assert_int_equal(il_cel_type_text(&il_cel_type_int, out, 0), 0);
    assert_int_equal(il_cel_type_text(&il_cel_type_int, out, 1), 0);
    assert_string_equal(out, "");
    assert_int_equal(il_cel_type_text(NULL, out, sizeof out), 3);
    assert_string_equal(out, "dyn");
    const il_cel_field circles[] = {{NAME("c"), &circle}, {NAME("e"), &circle}};
    const il_cel_env around = {.size = sizeof around, .vars = circles, .nvars = 2};
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(cel_compile(&c, "c == e && [c] == [[e]] && size(c) > 0", &around, IL_CEL_BOOL), IL_OK);
    assert_int_equal(cel_compile(&c, "c[0] == 1", &around, IL_CEL_BOOL), IL_E_INVALID); /* no promise but that it ends */
    cel_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),  cmocka_unit_test(test_refused),   cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_unchecked), cmocka_unit_test(test_no_memory), cmocka_unit_test(test_patience),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
