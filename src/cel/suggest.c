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
        SUGGEST("true", "true"),
        SUGGEST("false", "false"),
        SUGGEST("null", "null"),
        SUGGEST("none", "null"),
        SUGGEST("nil", "null"),
        SUGGEST("undefined", "null"),
        SUGGEST("float", "double"),
        SUGGEST("str", "string"),
        SUGGEST("array", "list"),
        SUGGEST("dict", "map"),
        SUGGEST("timestamp", "google.protobuf.Timestamp"),
        SUGGEST("duration", "google.protobuf.Duration"),
        SUGGEST("ip", "net.IP"),
        SUGGEST("cidr", "net.CIDR"),
    };
    return suggest_find(words, sizeof words / sizeof words[0], name);
}

const char *il_cel_instead(il_str function) {
    static const char clock[] = "an expression has no clock; the host gives the time as a variable",
                      pattern[] = "a pattern is a text: `x.matches('^[a-z]+$')`";
    static const suggest_word words[] = {
        SUGGEST("now", clock),     SUGGEST("today", clock),
        SUGGEST("time", clock),    SUGGEST("date", clock),
        SUGGEST("regex", pattern), SUGGEST("regexp", pattern),
        SUGGEST("re", pattern),    SUGGEST("test", pattern),
        SUGGEST("match", pattern), SUGGEST("random", "an expression has no chance; the host gives a variable"),
    };
    return suggest_find(words, sizeof words / sizeof words[0], function);
}

typedef struct suggest_complaint {
    il_str function;
    il_cel_complaint complaint;
} suggest_complaint;
#define COMPLAINT(function, of, says)                  \
    {                                                  \
        {function, sizeof(function) - 1}, { of, says } \
    }

il_cel_complaint il_cel_complaint_of(il_str function) {
    static const char text[] = "this text", no_ip[] = "is no IP address; write one such as `10.0.0.1` or `2001:db8::1`",
                      no_cidr[] = "is no range of addresses; write one such as `10.0.0.0/8` or `2001:db8::/32`",
                      index[] = "an index", outside[] = "is outside of the text", numbers[] = "the list",
                      no_extreme[] = "is empty, or has a NaN in it", shift[] = "a shift", by[] = "is by 0 bits or more";
    static const suggest_complaint rows[] = {
        COMPLAINT("timestamp", text,
                  "is no timestamp; write one such as `2024-05-01T12:00:00Z` or `2024-05-01T12:00:00.5+02:00`"),
        COMPLAINT("duration", text, "is no duration; write one such as `1h30m`, `90s` or `250ms`, of at most 292 years"),
        COMPLAINT("int", text, "is no int; write digits, as in `-12`"),
        COMPLAINT("uint", text, "is no uint; write digits, as in `12`"),
        COMPLAINT("double", text, "is no double; write one such as `1.5`, `1e3` or `Infinity`"),
        COMPLAINT("bool", text, "is no bool; write `true` or `false`"),
        COMPLAINT("string", "what is in these bytes", "is no text in UTF-8"),
        COMPLAINT("ip", text, no_ip),
        COMPLAINT("ip.isCanonical", text, no_ip),
        COMPLAINT("containsIP", text, no_ip),
        COMPLAINT("cidr", text, no_cidr),
        COMPLAINT("containsCIDR", text, no_cidr),
        COMPLAINT("base64.decode", text, "is no base64"),
        COMPLAINT("format", "the format",
                  "asks for more than the list has, or has a verb that is none; there are `%s %d %f %e %b %o %x %X`"),
        COMPLAINT("charAt", index, outside),
        COMPLAINT("indexOf", index, outside),
        COMPLAINT("lastIndexOf", index, outside),
        COMPLAINT("substring", index, "is outside of the text, or the end stands before the beginning"),
        COMPLAINT("matches", "this pattern", "is no regular expression; docs/cel.md says what one may have"),
        COMPLAINT("value", "the optional", "has no value; write `orValue(...)`, or ask `hasValue()` first"),
        COMPLAINT("math.greatest", numbers, no_extreme),
        COMPLAINT("math.least", numbers, no_extreme),
        COMPLAINT("math.bitShiftLeft", shift, by),
        COMPLAINT("math.bitShiftRight", shift, by),
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (il_str_eq(rows[i].function, function)) {
            return rows[i].complaint;
        }
    }
    if (il_str_starts(function, IL_STR("get"))) {
        return (il_cel_complaint){"this time zone", "is not known; write one such as `Europe/Vienna` or `+02:00`"};
    }
    return (il_cel_complaint){NULL, NULL};
}

const char *il_cel_range_of(il_str function) {
    static const suggest_word words[] = {
        SUGGEST("int", "; an int is from -9223372036854775808 to 9223372036854775807"),
        SUGGEST("uint", "; a uint is from 0 to 18446744073709551615"),
        SUGGEST("double", "; a double goes to 1.79e308"),
        SUGGEST("timestamp", "; a timestamp is from the year 1 to the year 9999"),
    };
    const char *range = suggest_find(words, sizeof words / sizeof words[0], function);
    return range != NULL ? range : "";
}
