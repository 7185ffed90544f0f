/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_questions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const il_str world_words[] = {{"none", 4}, {"fresh", 5}, {"held", 4}}, world_trust[] = {{"trusted", 7}, {"untrusted", 9}};
static const il_cel_type world_word = {.kind = IL_CEL_STRING, .domain = world_words, .ndomain = 3};
static const il_cel_type world_trusted = {.kind = IL_CEL_STRING, .domain = world_trust, .ndomain = 2};
static const il_cel_type world_bool = {.kind = IL_CEL_BOOL}, world_int = {.kind = IL_CEL_INT},
                         world_text = {.kind = IL_CEL_STRING};
static const il_cel_type world_any = {.kind = IL_CEL_DYN};
static const il_cel_type world_json = {.kind = IL_CEL_MAP, .key = &world_text, .element = &world_any};
static const il_cel_type world_texts = {.kind = IL_CEL_LIST, .element = &world_text};
static const il_cel_field world_item[] = {
    {{"t", 1}, &world_trusted}, {{"n", 1}, &world_int}, {{"f", 1}, &world_bool}, {{"g", 1}, &world_texts}};
static const il_cel_type world_record = {.kind = IL_CEL_RECORD, .fields = world_item, .nfields = 4, .name = {"item", 4}};
static const il_cel_type world_records = {.kind = IL_CEL_LIST, .element = &world_record};
static const il_cel_field world_fields[] = {{{"k", 1}, &world_bool}, {{"s", 1}, &world_text}};
static const il_cel_type world_m = {.kind = IL_CEL_RECORD, .fields = world_fields, .nfields = 2, .name = {"m", 1}};
static const il_cel_field world_vars[WORLD_VARS] = {
    {{"b", 1}, &world_bool},   {{"c", 1}, &world_bool},     {{"i", 1}, &world_int},
    {{"w", 1}, &world_word},   {{"s", 1}, &world_text},     {{"args", 4}, &world_json},
    {{"xs", 2}, &world_texts}, {{"rs", 2}, &world_records}, {{"m", 1}, &world_m},
};
const il_cel_env world_env = {.size = sizeof world_env, .vars = world_vars, .nvars = WORLD_VARS};

enum { TEXTS = 6, XS = 8, KINDS = 3 };
static const char *const texts[TEXTS] = {"", "a", "ab", "ba", "b", "abb"};

unsigned world_count(unsigned var) {
    static const unsigned counts[WORLD_VARS] = {2, 2, 5, 3, TEXTS, 21, XS, 1 << KINDS, 2 * TEXTS};
    return counts[var];
}

static il_cel_value text(const char *z) { return il_cel_of_str(il_str_of(z)); }

static il_cel_value json_value(unsigned number) {
    return number == 1   ? il_cel_of_int(1)
           : number == 2 ? il_cel_of_double(1.5)
           : number == 3 ? text("ab")
           : number == 4 ? il_cel_of_bool(true)
           : number == 5 ? il_cel_of(IL_CEL_NULL, 0)
                         : il_cel_of_int(3);
}

il_cel_value world_value(il_arena *arena, unsigned var, unsigned number) {
    switch (var) {
    case WORLD_B:
    case WORLD_C:
        return il_cel_of_bool(number == 1);
    case WORLD_I:
        return il_cel_of_int((int64_t)number - 1);
    case WORLD_W:
        return il_cel_of_str(world_words[number]);
    case WORLD_S:
        return text(texts[number]);
    case WORLD_ARGS: {
        il_cel_value *entries = IL_NEW_ARRAY(arena, il_cel_value, 4);
        const unsigned x = number / 3, y = number % 3; /* x: 0 to 6, y: 0 to 2, 0 is absent */
        uint32_t n = 0;
        if (x > 0) {
            entries[2 * n] = text("x");
            entries[2 * n++ + 1] = json_value(x);
        }
        if (y > 0) {
            entries[2 * n] = text("y");
            entries[2 * n++ + 1] = y == 1 ? il_cel_of_int(1) : text("a");
        }
        return il_cel_of_items(IL_CEL_MAP, entries, n);
    }
    case WORLD_XS: {
        static const char *const words[] = {"a", "ab", "b"};
        il_cel_value *items = IL_NEW_ARRAY(arena, il_cel_value, 3);
        uint32_t n = 0;
        for (unsigned i = 0; i < 3; i++) {
            if ((number >> i & 1) != 0) {
                items[n++] = text(words[i]);
            }
        }
        return il_cel_of_items(IL_CEL_LIST, items, n);
    }
    case WORLD_RS: { /* any set of three kinds of items */
        il_cel_value *items = IL_NEW_ARRAY(arena, il_cel_value, KINDS);
        uint32_t n = 0;
        for (unsigned i = 0; i < KINDS; i++) {
            if ((number >> i & 1) != 0) {
                il_cel_value *fields = IL_NEW_ARRAY(arena, il_cel_value, 4);
                fields[0] = il_cel_of_str(world_trust[i % 2]);
                fields[1] = il_cel_of_int(i < 2 ? 0 : 2);
                fields[2] = il_cel_of_bool(i != 1);
                fields[3] = world_value(arena, WORLD_XS, i == 0 ? 0 : i == 1 ? 1 : 6); /* [], ["a"], ["ab", "b"] */
                items[n++] = il_cel_of_items(IL_CEL_RECORD, fields, 4);
            }
        }
        return il_cel_of_items(IL_CEL_LIST, items, n);
    }
    default: {
        il_cel_value *fields = IL_NEW_ARRAY(arena, il_cel_value, 2);
        fields[0] = il_cel_of_bool(number % 2 == 1);
        fields[1] = text(texts[number / 2]);
        return il_cel_of_items(IL_CEL_RECORD, fields, 2);
    }
    }
}

uint32_t world_below(world_random *r, uint32_t n) {
    r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((r->state >> 33) % n);
}

typedef struct world_writer {
    world_random *r;
    unsigned vars;
    char *out;
    size_t cap, n;
    unsigned locals; /* bits: 1: x over xs, 2: r over rs, 4: q bound to a condition */
} world_writer;

static void put(world_writer *w, const char *z) {
    const size_t n = strlen(z);
    if (w->n + n < w->cap) {
        memcpy(w->out + w->n, z, n);
        w->n += n;
    }
    w->out[w->n] = 0;
}

static const char *pick(world_writer *w, const char *const *words, unsigned n) { return words[world_below(w->r, n)]; }
#define PICK(w, words) pick((w), (words), (unsigned)(sizeof(words) / sizeof(words)[0]))

static void put_int(world_writer *w, const char *of) {
    static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="}, *const ints[] = {"-1", "0", "1", "2", "3", "i"};
    const bool turned = world_below(w->r, 4) == 0;
    const char *number = PICK(w, ints);
    number = number[0] == 'i' && (w->vars >> WORLD_I & 1) == 0 ? "2" : number;
    put(w, turned ? number : of);
    put(w, " ");
    put(w, PICK(w, signs));
    put(w, " ");
    put(w, turned ? of : number);
}

static void put_text(world_writer *w, const char *of) {
    static const char *const forms[] = {
        " == \"a\"",          " == \"ab\"",          " != \"b\"",        ".startsWith(\"a\")", ".startsWith(\"ab\")",
        ".endsWith(\"b\")",   ".endsWith(\"bb\")",   ".contains(\"b\")", ".contains(\"ab\")",  ".contains(\"\")",
        " < \"ab\"",          " >= \"ab\"",          " > \"a\"",         " <= \"b\"",          ".matches(\"^a\")",
        " in [\"a\", \"b\"]", " in [\"ab\", \"a\"]", ".size() > 1",      ".matches(\"b$\")",   " == \"\""};
    put(w, of);
    put(w, PICK(w, forms));
}

static void put_item(world_writer *w) {
    static const char *const forms[] = {"\"a\" in r.g",
                                        "r.g.exists(x, x == \"ab\")",
                                        "r.g.all(x, x != \"a\")",
                                        "size(r.g) == 0",
                                        "r.g.exists(x, x.startsWith(\"a\") && r.f)",
                                        "r.t == \"trusted\"",
                                        "r.t == \"untrusted\"",
                                        "r.t != \"trusted\"",
                                        "r.f",
                                        "!r.f",
                                        "r.t.startsWith(\"un\")",
                                        "r.t in [\"trusted\"]"};
    if (world_below(w->r, 3) == 0) {
        put_int(w, "r.n");
    } else {
        put(w, PICK(w, forms));
    }
}

static void put_condition(world_writer *w, unsigned depth);

static void put_fact(world_writer *w, unsigned depth) {
    static const char *const macros[] = {".exists(", ".all(", ".exists("};
    if (w->locals != 0 && world_below(w->r, 4) != 0) {
        const unsigned which = world_below(w->r, 3);
        if ((w->locals & 4) != 0 && which == 0) {
            put(w, "q");
        } else if ((w->locals & 2) != 0 && ((w->locals & 1) == 0 || which == 1)) {
            put_item(w);
        } else if ((w->locals & 1) != 0) {
            put_text(w, "x");
        } else {
            put(w, "q");
        }
        return;
    }
    if (depth > 0 && (w->locals & 4) == 0 && world_below(w->r, 12) == 0) {
        put(w, "cel.bind(q, ");
        put_condition(w, depth - 1);
        put(w, ", ");
        w->locals |= 4;
        put_condition(w, depth - 1);
        w->locals &= ~4u;
        put(w, ")");
        return;
    }
    unsigned var;
    do {
        var = world_below(w->r, WORLD_VARS);
    } while ((w->vars >> var & 1) == 0);
    switch (var) {
    case WORLD_B:
        put(w, world_below(w->r, 5) == 0 ? "b == true" : "b");
        return;
    case WORLD_C:
        put(w, world_below(w->r, 5) == 0 && (w->vars >> WORLD_B & 1) != 0 ? "b == c" : "c");
        return;
    case WORLD_I: {
        static const char *const forms[] = {"i in [1, 2]", "10 / i > 4", "i + 1 == 2", "i in [0, 3, i]", "i % 2 == 0"};
        if (world_below(w->r, 3) == 0) {
            put(w, PICK(w, forms));
        } else {
            put_int(w, "i");
        }
        return;
    }
    case WORLD_W: {
        static const char *const forms[] = {"w == \"none\"",       "w == \"fresh\"", "w != \"held\"", "w in [\"none\", \"held\"]",
                                            "w.startsWith(\"f\")", "w < \"h\"",      "w == \"held\"", "w.size() == 4"};
        static const char *const more[] = {"w == s", "w in [s, \"none\"]", "s in [w]"};
        if ((w->vars >> WORLD_S & 1) != 0 && world_below(w->r, 4) == 0) {
            put(w, PICK(w, more));
            return;
        }
        put(w, PICK(w, forms));
        return;
    }
    case WORLD_S:
        put_text(w, "s");
        return;
    case WORLD_M:
        if (world_below(w->r, 2) == 0) {
            put(w, "m.k");
        } else {
            put_text(w, "m.s");
        }
        return;
    case WORLD_ARGS: {
        static const char *const forms[] = {"has(args.x)",
                                            "has(args.y)",
                                            "args.x == 1",
                                            "args.x == \"ab\"",
                                            "args.x",
                                            "args.x > 1",
                                            "args.x <= 1",
                                            "args.x == 1.5",
                                            "args.x < 2",
                                            "args.x == true",
                                            "args.x == null",
                                            "args.x == args.y",
                                            "\"x\" in args",
                                            "args.x.startsWith(\"a\")",
                                            "args.y == \"a\"",
                                            "args.x in [1, 3]",
                                            "args['x'] != 3",
                                            "args.x >= 1",
                                            "has(args.x.z)",
                                            "args.x in [\"ab\", true]",
                                            "args.x == false",
                                            "args.x.contains(\"b\")",
                                            "size(args) == 0",
                                            "args.exists(k, k == \"x\")",
                                            "args.y >= \"a\"",
                                            "args.?x.orValue(1) == 1",
                                            "args[?'x'].hasValue()",
                                            "args.exists(k, v, v == 1)",
                                            "args.all(k, v, k == \"x\" && v == 1)",
                                            "cel.bind(v, args.x, v == 1 || v == 3)",
                                            "type(args.x) == int",
                                            "args.x == 1 || args.x != 1",
                                            "args.x in [args.y, 3]",
                                            "args.x != args.y",
                                            "args.y in [1, \"ab\"]",
                                            "[args.x] == [args.y]",
                                            "args.x in args.y",
                                            "args.x.exists(k, k == \"a\")",
                                            "args.y in [null, 2]"};
        put(w, PICK(w, forms));
        return;
    }
    default: {
        static const char *const xs[] = {"\"a\" in xs",
                                         "size(xs) > 0",
                                         "xs.size() >= 2",
                                         "xs == []",
                                         "xs.exists(k, k == \"ab\")",
                                         "xs.exists_one(x, x == \"a\")",
                                         "xs[0] == \"a\"",
                                         "xs.exists(n, v, v == \"a\" && n > 0)",
                                         "xs.all(n, v, n < 1 || v != \"a\")",
                                         "xs.filter(x, x == \"a\").size() == 0",
                                         "xs.map(x, x + \"b\") == [\"ab\"]"},
                                 *const rs[] = {"size(rs) > 0", "rs.size() == 0", "rs[0].f", "rs.exists(q, true)"};
        const bool texts_of = var == WORLD_XS;
        const unsigned own = texts_of ? 1 : 2, outside = w->locals;
        if (depth == 0 || (w->locals & own) != 0 || world_below(w->r, 4) == 0) {
            put(w, texts_of ? PICK(w, xs) : PICK(w, rs));
            return;
        }
        put(w, texts_of ? "xs" : "rs");
        put(w, PICK(w, macros));
        put(w, texts_of ? "x, " : "r, ");
        w->locals |= own;
        put_condition(w, depth - 1);
        w->locals = outside;
        put(w, ")");
        return;
    }
    }
}

static void put_condition(world_writer *w, unsigned depth) {
    const unsigned what = depth == 0 ? 0 : world_below(w->r, 12);
    if (what <= 3) {
        put_fact(w, depth);
        return;
    }
    if (what == 4) {
        put(w, "!(");
        put_condition(w, depth - 1);
        put(w, ")");
        return;
    }
    put(w, "(");
    put_condition(w, depth - 1);
    if (what == 5) {
        put(w, " ? ");
        put_condition(w, depth - 1);
        put(w, " : ");
    } else {
        put(w, what == 6 ? " == (" : what <= 8 ? " && " : what == 9 ? " || " : what == 10 ? " && " : " || ");
    }
    put_condition(w, depth - 1);
    put(w, what == 6 ? "))" : ")");
}

void world_condition(world_random *r, unsigned vars, unsigned depth, char *out, size_t cap) {
    world_writer w = {r, vars, out, cap, 0, 0};
    out[0] = 0;
    put_condition(&w, depth);
}
