/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/suggest.h"

#include "base/error.h"

void il_cel_say(il_cel_words *w, const char *fmt, ...) {
    if (w->n < sizeof w->p - 1) {
        va_list args;
        va_start(args, fmt);
        w->n += il_format_list(w->p + w->n, sizeof w->p - w->n, fmt, args);
        va_end(args);
    }
}

void il_cel_say_names(il_cel_words *w, const il_str *names, size_t n) {
    for (size_t i = 0; i < n && i < 8; i++) {
        il_cel_say(w, i > 0 ? ", `%.*s`" : "`%.*s`", IL_STR_ARG(names[i]));
    }
    if (n > 8) {
        il_cel_say(w, ", ...");
    }
}

il_cel_near il_cel_near_to(il_str want) { return (il_cel_near){want, {NULL, 0}, want.n < 2 ? 1 : want.n < 5 ? 2 : 3}; }

void il_cel_near_try(il_cel_near *near, il_str name) {
    const unsigned d = il_str_distance(near->want, name);
    if (d < near->distance) {
        near->distance = d;
        near->best = name;
    }
}

void il_cel_say_near(il_cel_words *w, const il_cel_near *near) {
    if (near->best.n > 0) {
        il_cel_say(w, "; did you mean `%.*s`?", IL_STR_ARG(near->best));
    }
}

typedef struct suggest_word {
    il_str word;
    const char *here;
} suggest_word;
#define SUGGEST(word, here) \
    { {word, sizeof(word) - 1}, here }

static const char *suggest_find(const suggest_word *words, size_t n, il_str word) {
    for (size_t i = 0; i < n; i++) {
        if (il_str_eq_nocase(words[i].word, word)) {
            return words[i].here;
        }
    }
    return NULL;
}

const char *il_cel_rewrite_method(il_str name) {
    static const suggest_word words[] = {
        SUGGEST("any", "exists"),
        SUGGEST("some", "exists"),
        SUGGEST("every", "all"),
        SUGGEST("forall", "all"),
        SUGGEST("includes", "contains"),
        SUGGEST("length", "size"),
        SUGGEST("len", "size"),
        SUGGEST("count", "size"),
        SUGGEST("lower", "lowerAscii"),
        SUGGEST("tolower", "lowerAscii"),
        SUGGEST("tolowercase", "lowerAscii"),
        SUGGEST("upper", "upperAscii"),
        SUGGEST("toupper", "upperAscii"),
        SUGGEST("touppercase", "upperAscii"),
        SUGGEST("where", "filter"),
        SUGGEST("strip", "trim"),
        SUGGEST("substr", "substring"),
        SUGGEST("hasprefix", "startsWith"),
        SUGGEST("hassuffix", "endsWith"),
        SUGGEST("regex", "matches"),
    };
    return suggest_find(words, sizeof words / sizeof words[0], name);
}

const char *il_cel_rewrite_function(il_str name) {
    static const suggest_word words[] = {
        SUGGEST("not", "!"),      SUGGEST("len", "size"),     SUGGEST("length", "size"),
        SUGGEST("str", "string"), SUGGEST("float", "double"), SUGGEST("typeof", "type"),
    };
    return suggest_find(words, sizeof words / sizeof words[0], name);
}

const char *il_cel_rewrite_name(il_str name) {
    static const suggest_word words[] = {
        SUGGEST("true", "true"),  SUGGEST("false", "false"),    SUGGEST("null", "null"),    SUGGEST("none", "null"),
        SUGGEST("nil", "null"),   SUGGEST("undefined", "null"), SUGGEST("float", "double"), SUGGEST("str", "string"),
        SUGGEST("array", "list"), SUGGEST("dict", "map"),
    };
    return suggest_find(words, sizeof words / sizeof words[0], name);
}
