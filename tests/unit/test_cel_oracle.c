/* SPDX-License-Identifier: Apache-2.0 */
/* The machine against a slow evaluator (helper_cel_oracle.h), over random expressions and random values of their variables.
 * IL_TEST_SEED repeats a run, IL_TEST_THOROUGH makes
 * it twenty times as long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cel/code.h"
#include "helper_cel.h"
#include "helper_cel_oracle.h"

/* --- random numbers ------------------------------------------------------------------------------------------------------ */

static uint64_t random_seed, random_state;

static uint32_t random_below(uint32_t n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 16) % n);
}

/* --- the environment ------------------------------------------------------------------------------------------------------- */

typedef enum sort {
    S_BOOL,
    S_INT,
    S_UINT,
    S_DOUBLE,
    S_STRING,
    S_INTS,
    S_STRINGS,
    S_MAP,
    S_OPT,
    S_DURATION,
    S_TIME,
    S_DYN,
    S_REC,
    S_RECS,
    S_SORTS
} sort;

#define FIELD_OF(name, type) \
    { {name, sizeof(name) - 1}, type }
static const il_cel_type type_ints = {.kind = IL_CEL_LIST, .element = &il_cel_type_int},
                         type_strings = {.kind = IL_CEL_LIST, .element = &il_cel_type_string},
                         type_map = {.kind = IL_CEL_MAP, .key = &il_cel_type_string, .element = &il_cel_type_int};
static const il_cel_field rec_fields[] = {FIELD_OF("b", &il_cel_type_bool), FIELD_OF("i", &il_cel_type_int),
                                          FIELD_OF("s", &il_cel_type_string), FIELD_OF("unset", &il_cel_type_int),
                                          FIELD_OF("li", &type_ints)};
static const il_cel_type type_rec = {.kind = IL_CEL_RECORD, .fields = rec_fields, .nfields = 5, .name = {"rec", 3}},
                         type_recs = {.kind = IL_CEL_LIST, .element = &type_rec};
enum { V_B, V_C, V_I, V_K, V_U, V_D, V_S, V_T, V_LI, V_LS, V_M, V_J, V_JL, V_R, V_RS, V_ANY, V_UNSET, V_DUR, V_TIME, NVARS };
static const il_cel_field vars_fields[NVARS] = {
    FIELD_OF("b", &il_cel_type_bool),        FIELD_OF("c", &il_cel_type_bool),   FIELD_OF("i", &il_cel_type_int),
    FIELD_OF("k", &il_cel_type_int),         FIELD_OF("u", &il_cel_type_uint),   FIELD_OF("d", &il_cel_type_double),
    FIELD_OF("s", &il_cel_type_string),      FIELD_OF("t", &il_cel_type_string), FIELD_OF("li", &type_ints),
    FIELD_OF("ls", &type_strings),           FIELD_OF("m", &type_map),           FIELD_OF("j", &il_cel_type_json),
    FIELD_OF("jl", &il_cel_type_list),       FIELD_OF("r", &type_rec),           FIELD_OF("rs", &type_recs),
    FIELD_OF("any", &il_cel_type_dyn),       FIELD_OF("none", &il_cel_type_int), FIELD_OF("dur", &il_cel_type_duration),
    FIELD_OF("time", &il_cel_type_timestamp)};
static const sort vars_sorts[NVARS] = {S_BOOL, S_BOOL, S_INT, S_INT, S_UINT, S_DOUBLE, S_STRING, S_STRING,   S_INTS, S_STRINGS,
                                       S_MAP,  S_DYN,  S_DYN, S_REC, S_RECS, S_DYN,    S_INT,    S_DURATION, S_TIME};

static const char *const words[] = {"", "a", "b", "i", "abc", "tomorrow", "a longer text that is not compared in place", "ä€😀"};
static const int64_t ints[] = {0, 1, 2, 3, -1, 7, INT64_MAX, INT64_MIN, INT64_C(9007199254740993)};
static const uint64_t uints[] = {0, 1, 2, 3, UINT64_MAX, UINT64_C(9223372036854775808)};
static const double doubles[] = {0, 1, 2.5, -1, 1e300, 9223372036854775808.0, 18446744073709551616.0, 9007199254740992.0};

static il_cel_value value_of_sort(il_arena *arena, sort want);

static il_cel_value *values_room(il_arena *arena, size_t n) {
    il_cel_value *v = IL_NEW_ARRAY(arena, il_cel_value, n);
    assert_non_null(v);
    return v;
}

static il_cel_value value_list(il_arena *arena, sort of) {
    uint32_t n = random_below(4);
    il_cel_value *items = values_room(arena, n);
    for (uint32_t i = 0; i < n; i++) {
        items[i] = random_below(12) == 0 ? (il_cel_value){0} : value_of_sort(arena, of);
    }
    return il_cel_of_items(IL_CEL_LIST, items, n);
}

static il_cel_value value_json(il_arena *arena, bool list) {
    static const char *const objects[] = {
        "{}", "{\"a\":1,\"b\":null,\"s\":\"abc\"}",
        "{\"a\":{\"a\":[1,2.5,3],\"i\":true},\"i\":18446744073709551615,\"b\":false,\"abc\":1e3}",
        "{\"s\":[\"a\",\"b\",\"abc\"],\"a\":-1,\"li\":[{\"a\":1},{\"b\":2}]}"};
    static const char *const lists[] = {"[]", "[1,2,3]", "[\"a\",1.0,null,{\"a\":1}]", "[[1],[2,3],true]"};
    il_json *doc = NULL;
    assert_int_equal(il_json_parse(arena, il_str_of((list ? lists : objects)[random_below(4)]), NULL, &doc, NULL), IL_OK);
    return il_cel_of_json(doc);
}

static il_cel_value value_map(il_arena *arena) {
    static const char *const keys[] = {"a", "b", "i", "abc"};
    uint32_t n = 0;
    il_cel_value *entries = values_room(arena, 8);
    for (uint32_t i = 0; i < 4; i++) {
        if (random_below(2) != 0) {
            entries[2 * n] = il_cel_of_str(il_str_of(keys[i]));
            entries[2 * n + 1] = value_of_sort(arena, S_INT);
            n++;
        }
    }
    assert_true(il_cel_sort_entries(entries, n));
    return il_cel_of_items(IL_CEL_MAP, entries, n);
}

static il_cel_value value_of_sort(il_arena *arena, sort want) {
    il_cel_value v = {0}, *fields;
    switch (want) {
    case S_BOOL:
        return il_cel_of_bool(random_below(2) != 0);
    case S_INT:
        return il_cel_of_int(ints[random_below(9)]);
    case S_UINT:
        return il_cel_of_uint(uints[random_below(6)]);
    case S_DOUBLE:
        return random_below(9) == 0 ? il_cel_of_double(0.0 / doubles[0]) : il_cel_of_double(doubles[random_below(8)]);
    case S_STRING:
        return il_cel_of_str(il_str_of(words[random_below(8)]));
    case S_INTS:
        return value_list(arena, S_INT);
    case S_STRINGS:
        return value_list(arena, S_STRING);
    case S_RECS:
        return value_list(arena, S_REC);
    case S_MAP:
        return value_map(arena);
    case S_REC:
        fields = values_room(arena, 5);
        fields[0] = value_of_sort(arena, S_BOOL);
        fields[1] = value_of_sort(arena, S_INT);
        fields[2] = value_of_sort(arena, S_STRING);
        fields[4] = value_of_sort(arena, S_INTS);
        return il_cel_of_items(IL_CEL_RECORD, fields, 5);
    case S_DURATION:
        v = il_cel_of(IL_CEL_DURATION, 0);
        v.u.i = ints[random_below(9)];
        return v;
    case S_TIME:
        v = il_cel_of(IL_CEL_TIMESTAMP, random_below(1000000000));
        v.u.i = INT64_C(253402300799) - (int64_t)random_below(78) * 4000000000;
        return v;
    case S_OPT:
        v = il_cel_of_items(IL_CEL_OPTIONAL, NULL, 0);
        if (random_below(2) != 0) {
            fields = values_room(arena, 1);
            *fields = value_of_sort(arena, S_INT);
            v.u.items = fields;
        }
        return v;
    case S_DYN:
    case S_SORTS:
        break;
    }
    return random_below(20) == 0  ? (il_cel_value){0}
           : random_below(3) == 0 ? value_json(arena, random_below(2) != 0)
                                  : value_of_sort(arena, (sort)random_below(S_DYN));
}

static void values_fill(il_arena *arena, il_cel_value vars[NVARS]) {
    for (unsigned i = 0; i < NVARS; i++) {
        vars[i] = i == V_J || i == V_JL ? value_json(arena, i == V_JL) : value_of_sort(arena, vars_sorts[i]);
    }
    vars[V_UNSET] = (il_cel_value){0};
}

/* --- random expressions
 * ------------------------------------------------------------------------------------------------------- */

typedef struct writer {
    char text[8192];
    size_t n;
    bool loose; /* any sort may stand anywhere: for programs that are not checked */
    bool deep;  /* compares what has values in it at more than one level: its cost is no promise (cel/cost.h) */
    struct {
        char name[8];
        sort of;
    } locals[IL_CEL_LOCALS];
    uint32_t nlocals, named;
} writer;

IL_PRINTF(2, 3) static void put(writer *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->text + w->n, sizeof w->text - w->n, format, args);
    va_end(args);
    w->n += n > 0 && (size_t)n < sizeof w->text - w->n ? (size_t)n : 0;
}

static void expr(writer *w, sort want, unsigned depth);

/* `want` for what this stands in: sometimes another sort, hidden behind dyn() where there is a check. */
static void part(writer *w, sort want, unsigned depth) {
    if (random_below(w->loose ? 12 : 24) != 0) {
        expr(w, want, depth);
        return;
    }
    sort other = (sort)random_below(S_SORTS);
    w->deep = w->deep || other >= S_DYN;
    put(w, w->loose ? "(" : "dyn(");
    expr(w, other, depth);
    put(w, ")");
}

static bool put_local(writer *w, sort want) {
    for (uint32_t i = w->nlocals; i > 0; i--) {
        if (w->locals[i - 1].of == want && random_below(3) != 0) {
            put(w, "%s", w->locals[i - 1].name);
            return true;
        }
    }
    return false;
}

static void put_word(writer *w) { put(w, "'%s'", words[random_below(8)]); }

static void leaf(writer *w, sort want) {
    if (put_local(w, want)) {
        return;
    }
    unsigned pick = random_below(3);
    if (want == S_BOOL && random_below(2) != 0) { /* what conditions are made of */
        static const char *const atoms[] = {"i == 1",
                                            "k != 2",
                                            "r.s == 'a'",
                                            "'abc' != r.s",
                                            "s == t",
                                            "ls.exists(q, q == 'a')",
                                            "ls.all(q, q != 'b')",
                                            "rs.exists(q, q.s == 'abc')",
                                            "rs.all(q, 'a' == q.s)",
                                            "i < k",
                                            "s in ['a', 'b', 'abc']",
                                            "j.s == 'abc'",
                                            "none == 1",
                                            "li.all(q, 2u != q)",
                                            "ls.exists(q, 1 == q || q == q)",
                                            "li.exists(q, 2.5 == q)"};
        put(w, "%s", atoms[random_below(16)]);
        return;
    }
    for (unsigned tries = 0; tries < 40 && pick != 0; tries++) {
        unsigned v = random_below(NVARS);
        if (vars_sorts[v] == want) {
            put(w, "%.*s", IL_STR_ARG(vars_fields[v].name));
            return;
        }
    }
    switch (want) {
    case S_BOOL:
        put(w, random_below(2) != 0 ? "true" : "false");
        return;
    case S_INT:
        put(w, "%lld", (long long)ints[random_below(7)]);
        return;
    case S_UINT:
        put(w, "%lluu", (unsigned long long)uints[random_below(6)]);
        return;
    case S_DOUBLE:
        put(w, "%.17g%s", doubles[random_below(4)], "");
        if (strpbrk(w->text + w->n - 1, ".e") == NULL && w->text[w->n - 2] != '.') {
            put(w, ".0");
        }
        return;
    case S_STRING:
        put_word(w);
        return;
    case S_INTS:
        put(w, random_below(2) != 0 ? "[1, 2, 3]" : "[7, 1, 2, 3, 5]");
        return;
    case S_STRINGS:
        put(w, random_below(2) != 0 ? "['a', 'b', 'abc', 'tomorrow']" : "['a']");
        return;
    case S_MAP:
        put(w, "{'a': 1, 'abc': 2}");
        return;
    case S_OPT:
        put(w, random_below(2) != 0 ? "m.?a" : "li[?1]");
        return;
    case S_DURATION:
        put(w, random_below(2) != 0 ? "duration('1.5s')" : "dur");
        return;
    case S_TIME:
        put(w, random_below(2) != 0 ? "timestamp(1)" : "time");
        return;
    case S_DYN:
        put(w, random_below(2) != 0 ? "any" : "null");
        return;
    case S_REC:
        put(w, "r");
        return;
    case S_RECS:
        put(w, "rs");
        return;
    case S_SORTS:
        break;
    }
}

static void between(writer *w, sort left, const char *sign, sort right, unsigned depth) {
    put(w, "(");
    part(w, left, depth);
    put(w, " %s ", sign);
    part(w, right, depth);
    put(w, ")");
}

static void local_push(writer *w, sort of) {
    snprintf(w->locals[w->nlocals].name, sizeof w->locals[0].name, "x%u", (unsigned)(w->named++ % 1000));
    w->locals[w->nlocals++].of = of;
}

static const char *local_name(const writer *w, uint32_t back) { return w->locals[w->nlocals - back].name; }

/* range.macro(x, [p,] body) over a list of `of`. */
static void loop(writer *w, const char *macro, sort range, sort of, bool filter, sort body, unsigned depth) {
    part(w, range, depth);
    local_push(w, of);
    put(w, ".%s(%s, ", macro, local_name(w, 1));
    if (filter) {
        part(w, S_BOOL, depth);
        put(w, ", ");
    }
    part(w, body, depth);
    put(w, ")");
    w->nlocals--;
}

/* The same with two variables: index or key, and item. */
static void loop_two(writer *w, const char *macro, sort range, sort key, sort of, bool filter, sort body, unsigned depth) {
    part(w, range, depth);
    local_push(w, key);
    local_push(w, of);
    put(w, ".%s(%s, %s, ", macro, local_name(w, 2), local_name(w, 1));
    if (filter) {
        part(w, S_BOOL, depth);
        put(w, ", ");
    }
    if (body == S_SORTS) { /* an entry */
        put(w, "{");
        part(w, S_STRING, depth);
        put(w, ": ");
        part(w, S_INT, depth);
        put(w, "}");
    } else {
        part(w, body, depth);
    }
    put(w, ")");
    w->nlocals -= 2;
}

static sort some_list(sort *of) {
    static const sort lists[] = {S_INTS, S_STRINGS, S_RECS, S_MAP}, items[] = {S_INT, S_STRING, S_REC, S_STRING};
    unsigned i = random_below(4);
    *of = items[i];
    return lists[i];
}

static void condition(writer *w, unsigned depth) {
    static const char *const orders[] = {"<", "<=", ">", ">=", "==", "!="};
    static const char *const macros[] = {"exists", "all", "exists_one"};
    sort of = S_INT, range;
    switch (random_below(14)) {
    case 0:
    case 1:
    case 2:
        put(w, "(");
        part(w, S_BOOL, depth);
        const char *sign = random_below(2) != 0 ? "&&" : "||";
        for (unsigned i = random_below(3) + 1; i > 0; i--) {
            put(w, " %s ", sign);
            part(w, S_BOOL, depth);
        }
        put(w, ")");
        return;
    case 3:
        put(w, "!(");
        part(w, S_BOOL, depth);
        put(w, ")");
        return;
    case 4:
    case 5:
        of = (sort)random_below(S_STRING + 1);
        between(w, of, orders[random_below(6)], of, depth);
        return;
    case 6:
        of = (sort)random_below(S_SORTS);
        w->deep = w->deep || of >= S_DYN;
        between(w, of, orders[4 + random_below(2)], of, depth);
        return;
    case 7:
        put(w, "(");
        if (random_below(2) != 0) {
            between(w, S_STRING, "in", S_STRINGS, depth);
        } else if (random_below(2) != 0) {
            between(w, S_INT, "in", S_INTS, depth);
        } else {
            between(w, S_STRING, "in", S_MAP, depth);
        }
        put(w, ")");
        return;
    case 8:
        range = some_list(&of);
        loop(w, macros[random_below(3)], range, of, false, S_BOOL, depth);
        return;
    case 9:
        put(w, "%s.exists(q, q %s ", random_below(2) != 0 ? "ls" : "j.s", random_below(4) != 0 ? "==" : "!=");
        put_word(w);
        put(w, ")");
        return;
    case 10:
        loop_two(w, random_below(2) != 0 ? "exists" : "all", random_below(2) != 0 ? S_INTS : S_STRINGS, S_INT, S_DYN, false,
                 S_BOOL, depth);
        return;
    case 11:
        put(w, random_below(2) != 0 ? "has(j.a)" : random_below(2) != 0 ? "has(r.unset)" : "has(m.a)");
        return;
    case 12:
        put(w, "(");
        if (random_below(2) != 0 && put_local(w, S_REC)) {
            put(w, ".s");
        } else {
            put(w, "r.s");
        }
        put(w, random_below(2) != 0 ? " == " : " != ");
        put_word(w);
        put(w, ")");
        return;
    default:
        put(w, "(");
        part(w, S_STRING, depth);
        put(w, ").%s(", random_below(2) != 0 ? "startsWith" : "contains");
        part(w, S_STRING, depth);
        put(w, ")");
        return;
    }
}

static void number(writer *w, sort want, unsigned depth) {
    static const char *const signs[] = {"+", "-", "*", "/", "%"};
    sort of;
    unsigned pick = random_below(want == S_INT ? 10 : 4);
    if (pick < 3) {
        between(w, want, signs[random_below(want == S_DOUBLE ? 4 : 5)], want, depth);
    } else if (pick == 3) {
        put(w, want == S_UINT ? "(" : "-(");
        part(w, want, depth);
        put(w, ")");
    } else if (pick == 4) {
        put(w, "size(");
        part(w, some_list(&of), depth);
        put(w, ")");
    } else if (pick == 5) {
        put(w, "(");
        part(w, S_INTS, depth);
        put(w, ")[");
        part(w, S_INT, depth);
        put(w, "]");
    } else if (pick == 6) {
        put(w, "(");
        part(w, S_MAP, depth);
        put(w, random_below(2) != 0 ? ").a" : ")['abc']");
    } else if (pick == 7) {
        put(w, random_below(2) != 0 ? "r.i" : "r.unset");
    } else if (pick == 8) {
        put(w, "(");
        part(w, S_OPT, depth);
        const bool other = random_below(2) != 0;
        put(w, other ? ").orValue(" : ").value()");
        if (other) { /* which may be an error, and then matters only where it is needed */
            part(w, S_INT, depth);
            put(w, ")");
        }
    } else {
        part(w, S_RECS, depth);
        put(w, "[0].i");
    }
}

static void made_list(writer *w, sort want, unsigned depth) {
    sort of = want == S_INTS ? S_INT : S_STRING, from, range = some_list(&from);
    switch (random_below(6)) {
    case 0:
        between(w, want, "+", want, depth);
        return;
    case 1:
        put(w, "[");
        for (unsigned i = random_below(4); i > 0; i--) {
            if (of == S_INT && random_below(5) == 0) {
                put(w, "?");
                part(w, S_OPT, depth);
            } else {
                part(w, of, depth);
            }
            put(w, i > 1 ? ", " : "");
        }
        put(w, "]");
        return;
    case 2:
        loop(w, "filter", want, of, false, S_BOOL, depth);
        return;
    case 3:
        loop(w, "map", range, from, false, of, depth);
        return;
    case 4:
        loop(w, "map", range, from, true, of, depth);
        return;
    default:
        loop_two(w, "transformList", S_MAP, S_STRING, S_INT, random_below(2) != 0, of, depth);
        return;
    }
}

static void made_map(writer *w, unsigned depth) {
    switch (random_below(3)) {
    case 0:
        put(w, "{");
        for (unsigned i = random_below(3); i > 0; i--) {
            bool maybe = random_below(4) == 0;
            put(w, maybe ? "?" : "");
            part(w, S_STRING, depth);
            put(w, ": ");
            part(w, maybe ? S_OPT : S_INT, depth);
            put(w, i > 1 ? ", " : "");
        }
        put(w, "}");
        return;
    case 1:
        loop_two(w, "transformMap", S_MAP, S_STRING, S_INT, random_below(2) != 0, S_INT, depth);
        return;
    default:
        loop_two(w, "transformMapEntry", S_MAP, S_STRING, S_INT, random_below(2) != 0, S_SORTS, depth);
        return;
    }
}

static void made_optional(writer *w, unsigned depth) {
    switch (random_below(5)) {
    case 0:
        put(w, "optional.of(");
        part(w, S_INT, depth);
        put(w, ")");
        return;
    case 1:
        put(w, "(");
        part(w, S_MAP, depth);
        put(w, random_below(2) != 0 ? ").?a" : ")[?'b']");
        return;
    case 2:
        put(w, "(");
        part(w, S_INTS, depth);
        put(w, ")[?");
        part(w, S_INT, depth);
        put(w, "]");
        return;
    case 3:
        loop(w, "optMap", S_OPT, S_INT, false, S_INT, depth);
        return;
    default:
        loop(w, "optFlatMap", S_OPT, S_INT, false, S_OPT, depth);
        return;
    }
}

static void made_dyn(writer *w, unsigned depth) {
    switch (random_below(6)) {
    case 0:
        put(w, "j.%s", words[1 + random_below(4)]);
        return;
    case 1:
        put(w, "j.a.a");
        return;
    case 2:
        put(w, "jl[");
        part(w, random_below(3) != 0 ? S_INT : S_DOUBLE, depth);
        put(w, "]");
        return;
    case 3:
        put(w, "any.a");
        return;
    case 4:
        put(w, "j.?a.a");
        return;
    default:
        put(w, "dyn(");
        expr(w, (sort)random_below(S_SORTS), depth);
        put(w, ")");
        return;
    }
}

static void expr(writer *w, sort want, unsigned depth) {
    if (depth == 0 || w->n > sizeof w->text / 2 || w->nlocals + 3 > IL_CEL_LOCALS) {
        leaf(w, want);
        return;
    }
    depth--;
    if (random_below(9) == 0) {
        put(w, "(");
        part(w, S_BOOL, depth);
        put(w, " ? ");
        expr(w, want, depth);
        put(w, " : ");
        expr(w, want, depth);
        put(w, ")");
        return;
    }
    if (random_below(16) == 0) {
        sort of = (sort)random_below(S_SORTS);
        put(w, "cel.bind(");
        local_push(w, of);
        const char *name = local_name(w, 1);
        char kept[8];
        memcpy(kept, name, sizeof kept);
        w->nlocals--;
        put(w, "%s, ", kept);
        expr(w, of, depth);
        put(w, ", ");
        w->nlocals++;
        memcpy(w->locals[w->nlocals - 1].name, kept, sizeof kept);
        w->locals[w->nlocals - 1].of = of;
        expr(w, want, depth);
        put(w, ")");
        w->nlocals--;
        return;
    }
    switch (want) {
    case S_BOOL:
        condition(w, depth);
        return;
    case S_INT:
    case S_UINT:
    case S_DOUBLE:
        number(w, want, depth);
        return;
    case S_STRING:
        between(w, S_STRING, "+", S_STRING, depth);
        return;
    case S_INTS:
    case S_STRINGS:
        made_list(w, want, depth);
        return;
    case S_MAP:
        made_map(w, depth);
        return;
    case S_OPT:
        made_optional(w, depth);
        return;
    case S_DURATION:
        between(w, random_below(2) != 0 ? S_DURATION : S_TIME, random_below(2) != 0 ? "+" : "-",
                random_below(2) != 0 ? S_DURATION : S_TIME, depth);
        return;
    case S_TIME:
        between(w, S_TIME, random_below(2) != 0 ? "+" : "-", S_DURATION, depth);
        return;
    case S_DYN:
        made_dyn(w, depth);
        return;
    case S_REC:
    case S_RECS:
    case S_SORTS:
        leaf(w, want);
        return;
    }
}

/* --- comparing
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct tally {
    size_t compiled, refused, values, errors, spent;
    size_t faults[IL_CEL_BUDGET + 1];
} tally;

static const il_cel_env oracle_env = {.size = sizeof oracle_env, .vars = vars_fields, .nvars = NVARS};

static void show(const char *who, il_cel_value v) {
    char text[512];
    il_alloc *alloc = NULL;
    cel_memory m;
    cel_memory_init(&m, SIZE_MAX);
    alloc = &m.alloc;
    il_arena arena;
    il_arena_init(&arena, alloc, (size_t)1 << 20);
    il_buf b;
    il_str out = {NULL, 0};
    il_buf_init(&b, &arena, (size_t)1 << 16);
    if (v.kind == IL_CEL_ERROR) {
        snprintf(text, sizeof text, "error %u", v.fault);
    } else {
        il_cel_write(&v, &b);
        bool fine = il_buf_done(&b, &out, NULL) == IL_OK;
        snprintf(text, sizeof text, "kind %u: %.*s", v.kind, fine ? (int)out.n : 1, fine ? out.p : "?");
    }
    print_error("  %s: %s\n", who, text);
    il_arena_free(&arena);
}

static void compare(const writer *w, const il_cel_program *p, const il_cel_value *vars, tally *t) {
    cel_memory memory;
    cel_memory_init(&memory, SIZE_MAX);
    il_arena mine, theirs;
    il_arena_init(&mine, &memory.alloc, (size_t)64 << 20);
    il_arena_init(&theirs, &memory.alloc, (size_t)1 << 30);
    il_cel_value want = cel_oracle(p, vars, &theirs), got = il_cel_eval(p, vars, &mine);
    if (!cel_oracle_same(want, got)) {
        print_error("seed %llu: %s\n", (unsigned long long)random_seed, w->text);
        show("machine", got);
        show("oracle", want);
        fail();
    }
    /* What the checker promised is what it takes at most. */
    il_cel_run counted = {.program = p, .scratch = &mine, .steps = INT64_MAX};
    (void)il_cel_run_code(&counted, p->code, vars);
    uint64_t took = (uint64_t)(INT64_MAX - counted.steps);
    if (!w->loose && !w->deep && took > p->root->cost) {
        print_error("seed %llu: %s\n  took %llu steps, at most %llu were promised\n", (unsigned long long)random_seed, w->text,
                    (unsigned long long)took, (unsigned long long)p->root->cost);
        fail();
    }
    if (got.kind == IL_CEL_ERROR) {
        t->errors++;
        t->faults[got.fault]++;
    } else {
        t->values++;
    }
    /* With less to spend, and with memory that runs out, the answer is the same one or that there is none. */
    for (unsigned round = 0; round < 3; round++) {
        il_cel_program poor = *p;
        poor.steps = round == 2 ? p->steps : random_below(60);
        cel_memory little;
        cel_memory_init(&little, round == 2 ? 0 : SIZE_MAX);
        il_arena scratch;
        il_arena_init(&scratch, &little.alloc, round == 1 ? random_below(256) : (size_t)64 << 20);
        il_cel_value poorly = il_cel_eval(&poor, vars, round == 2 && random_below(2) != 0 ? NULL : &scratch);
        bool spent = poorly.kind == IL_CEL_ERROR && poorly.fault == IL_CEL_BUDGET;
        if (!spent && !cel_oracle_same(want, poorly)) {
            print_error("seed %llu, poor %u: %s\n", (unsigned long long)random_seed, round, w->text);
            show("machine", poorly);
            show("oracle", want);
            fail();
        }
        t->spent += spent ? 1 : 0;
        il_arena_free(&scratch);
    }
    il_arena_free(&mine);
    il_arena_free(&theirs);
}

static void one(bool loose, tally *t) {
    static writer w;
    memset(&w, 0, sizeof w);
    w.loose = loose;
    expr(&w, (sort)random_below(S_SORTS), 1 + random_below(5));
    cel_case c;
    cel_case_init(&c);
    const il_cel_limits limits = {.size = sizeof limits,
                                  .cost = UINT64_C(1) << 62,
                                  .steps = UINT64_C(1) << 40,
                                  .text_bytes = 64,
                                  .list_items = 4,
                                  .unchecked = loose,
                                  .depth = 256};
    if (il_cel_compile(&c.arena, il_str_of(w.text), 1, 1, &oracle_env, IL_CEL_NULL, &limits, &c.program, &c.err) != IL_OK) {
        if (loose || c.err.code == IL_E_SYNTAX || c.err.code == IL_E_INTERNAL) {
            print_error("seed %llu: %u:%u %s\n  %s\n", (unsigned long long)random_seed, c.err.line, c.err.col, c.err.msg, w.text);
            fail();
        }
        t->refused++;
        cel_case_free(&c);
        return;
    }
    t->compiled++;
    for (unsigned round = 0; round < 3; round++) {
        il_cel_value vars[NVARS];
        values_fill(&c.arena, vars);
        compare(&w, c.program, vars, t);
    }
    cel_case_free(&c);
}

static void run(bool loose, tally *t) {
    const char *seed = getenv("IL_TEST_SEED");
    unsigned rounds = getenv("IL_TEST_THOROUGH") != NULL ? 400000 : 20000;
    random_seed = seed != NULL ? strtoull(seed, NULL, 10) : 20240607;
    for (unsigned i = 0; i < (seed != NULL ? 1 : rounds); i++) {
        random_state = random_seed * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(88172645463325252);
        one(loose, t);
        random_seed++;
    }
    print_message("%zu programs, %zu refused; %zu values, %zu errors (overload %zu, overflow %zu, zero %zu, missing %zu, unset "
                  "%zu, value %zu), %zu spent\n",
                  t->compiled, t->refused, t->values, t->errors, t->faults[IL_CEL_NO_OVERLOAD], t->faults[IL_CEL_OVERFLOW],
                  t->faults[IL_CEL_DIVIDE], t->faults[IL_CEL_MISSING], t->faults[IL_CEL_UNSET], t->faults[IL_CEL_BAD_VALUE],
                  t->spent);
    if (seed == NULL) { /* a test that compares nothing is none */
        assert_true(t->compiled > rounds / 2 && t->values > rounds / 2 && t->errors > rounds / 10 && t->spent > rounds / 50);
        for (unsigned f = IL_CEL_NO_OVERLOAD; f <= IL_CEL_BAD_VALUE; f++) {
            assert_true(t->faults[f] > 0);
        }
    }
}

static void test_checked(void **state) {
    (void)state;
    tally t = {0};
    run(false, &t);
}

static void test_unchecked(void **state) {
    (void)state;
    tally t = {0};
    run(true, &t);
}

/* The comparison must be able to fail: a wrong answer of any kind is seen. */
static void test_instrument(void **state) {
    (void)state;
    const il_cel_value one = il_cel_of_int(1), two = il_cel_of_int(2);
    assert_true(cel_oracle_same(one, one));
    assert_false(cel_oracle_same(one, two));
    assert_false(cel_oracle_same(one, il_cel_of_uint(1)));
    assert_false(cel_oracle_same(one, il_cel_of_double(1)));
    assert_false(cel_oracle_same(il_cel_of_fault(IL_CEL_MISSING), il_cel_of_fault(IL_CEL_UNSET)));
    assert_false(cel_oracle_same(il_cel_of_items(IL_CEL_LIST, &one, 1), il_cel_of_items(IL_CEL_LIST, &two, 1)));
    assert_false(cel_oracle_same(il_cel_of_items(IL_CEL_OPTIONAL, &one, 0), il_cel_of_items(IL_CEL_OPTIONAL, NULL, 0)));
    assert_false(cel_oracle_same(il_cel_of_double(0.0), il_cel_of_double(-0.0)));
    assert_true(cel_oracle_same(il_cel_of_double(0.0 / doubles[0]), il_cel_of_double(0.0 / doubles[0])));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_instrument), cmocka_unit_test(test_checked),
                                       cmocka_unit_test(test_unchecked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
