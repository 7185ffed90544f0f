/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include "base/str.h"

#define OPTIONS_MAX 32u

static size_t options_find(const il_option *options, size_t n, il_str name) {
    size_t i = 0;
    while (i < n && !il_str_eq(il_str_of(options[i].name), name)) {
        i++;
    }
    return i;
}

static il_status options_unknown(const il_option *options, size_t n, il_str name, il_error *err) {
    const char *nearest = NULL;
    unsigned best = 3; /* two slips are a misspelling, three another word */
    for (size_t i = 0; i < n; i++) {
        unsigned distance = il_str_distance(il_str_of(options[i].name), name);
        if (distance < best) {
            best = distance;
            nearest = options[i].name;
        }
    }
    if (nearest) {
        return il_error_set(err, IL_E_INVALID, "unknown option `--%.*s`; did you mean `--%s`?", IL_STR_ARG(name), nearest);
    }
    return il_error_set(err, IL_E_INVALID, "unknown option `--%.*s`", IL_STR_ARG(name));
}

/* Reads the option at argv[*at] and moves *at to its last word. `seen`: bit i, option i was given. */
static il_status options_one(int argc, char **argv, int *at, const il_option *options, size_t n, uint32_t *seen, il_error *err) {
    const il_str word = il_str_of(argv[*at] + 2);
    const size_t equals = il_str_find(word, IL_STR("="), 0);
    const il_str name = il_str_part(word, 0, equals);
    const size_t i = options_find(options, n, name);
    if (i == n) {
        return options_unknown(options, n, name, err);
    }
    if ((*seen & UINT32_C(1) << i) && !options[i].list) {
        return il_error_set(err, IL_E_INVALID, "`--%s` is given twice", options[i].name);
    }
    *seen |= UINT32_C(1) << i;
    if (options[i].flag) {
        if (equals != SIZE_MAX) {
            return il_error_set(err, IL_E_INVALID, "`--%s` takes no value", options[i].name);
        }
        *options[i].flag = true;
        return IL_OK;
    }
    if (equals == SIZE_MAX && *at + 1 >= argc) {
        return il_error_set(err, IL_E_INVALID, "`--%s` needs a value", options[i].name);
    }
    const char *value = equals != SIZE_MAX ? argv[*at] + 2 + equals + 1 : argv[++*at];
    if (!*value) {
        return il_error_set(err, IL_E_INVALID, "`--%s` has an empty value", options[i].name);
    }
    if (!options[i].list) {
        *options[i].value = value;
        return IL_OK;
    }
    if (*options[i].count >= options[i].most) {
        return il_error_set(err, IL_E_LIMIT, "`--%s` is given more than %zu times", options[i].name, options[i].most);
    }
    options[i].list[(*options[i].count)++] = value;
    return IL_OK;
}

/* `-1 + 2`, `- x`, `-(x)`: no option begins like that, but an expression does. */
static bool options_no_name(char c) { return (c >= '0' && c <= '9') || c == ' ' || c == '(' || c == '.'; }

il_status il_options_read(int argc, char **argv, const il_option *options, size_t n, il_arguments *out, il_error *err) {
    uint32_t seen = 0;
    *out = (il_arguments){.v = argv + 1};
    IL_CHECK(n <= OPTIONS_MAX, err);
    for (int at = 1; at < argc; at++) {
        const il_str word = il_str_of(argv[at]);
        if (out->ended || word.n < 2 || word.p[0] != '-' || options_no_name(word.p[1])) {
            out->v[out->n++] = argv[at]; /* never ahead of `at` */
        } else if (word.n == 2 && word.p[1] == '-') {
            out->ended = true;
            out->after = out->n;
        } else if (word.p[1] != '-') {
            return il_error_set(err, IL_E_INVALID,
                                "unknown option `%s`; options are spelt in full, as in `--json`; what is none stands behind `--`",
                                argv[at]);
        } else {
            IL_TRY(options_one(argc, argv, &at, options, n, &seen, err));
        }
    }
    if (!out->ended) {
        out->after = out->n;
    }
    return IL_OK;
}

il_status il_options_number(const char *option, const char *text, uint64_t max, uint64_t *out, il_error *err) {
    int64_t v;
    if (!il_str_int(il_str_of(text), &v) || v < 1 || (uint64_t)v > max) {
        return il_error_set(err, IL_E_INVALID, "`--%s` takes a whole number from 1 to %llu, not `%s`", option,
                            (unsigned long long)max, text);
    }
    *out = (uint64_t)v;
    return IL_OK;
}
