/* SPDX-License-Identifier: Apache-2.0 */
/* [a-z\d[:alpha:]] */
#include "cel/regex_part.h"

static il_status bracket_point(il_regex_reader *in, size_t begin, uint32_t *out) {
    if (in->at == in->text.n) {
        return IL_REGEX_FAIL(in, begin, IL_E_SYNTAX, "missing `]`; write `\\[` for a bracket");
    }
    if (in->text.p[in->at] == '\\') {
        return il_regex_escape(in, out);
    }
    *out = il_regex_point(in);
    return IL_OK;
}

/* [:alpha:] or [:^alpha:]. *found is false, and nothing read, when no `:]` follows. */
static il_status bracket_posix(il_regex_reader *in, il_regex_class *c, bool *found) {
    const size_t begin = in->at, end = il_str_find(in->text, IL_STR(":]"), begin + 2);
    *found = end != SIZE_MAX;
    if (!*found) {
        return IL_OK;
    }
    il_str name = il_str_part(in->text, begin + 2, end);
    const bool negated = name.n > 0 && name.p[0] == '^';
    bool memory = false;
    il_regex_class named = {0};
    name = il_str_part(name, negated, name.n);
    if (name.n == 0 || name.p[0] == '\\' || (!il_regex_posix(in->tmp, name, &named, &memory) && !memory)) {
        return IL_REGEX_FAIL(in, begin, IL_E_SYNTAX,
                             "unknown class `[:%.*s:]`; there are `alpha`, `digit`, `alnum`, `space`, `punct`, ...",
                             IL_STR_ARG(name));
    }
    in->at = end + 2;
    return memory ? il_regex_no_memory(in->tmp, in->err) : il_regex_class_named(in, c, &named, negated);
}

il_status il_regex_bracket(il_regex_reader *in, il_regex_class *c) {
    const size_t begin = in->at++;
    const bool negated = il_regex_ahead(in, IL_STR("^"));
    in->at += negated;
    for (bool first = true; first || !il_regex_ahead(in, IL_STR("]")); first = false) {
        bool found = false;
        if (il_regex_ahead(in, IL_STR("[:"))) {
            IL_TRY(bracket_posix(in, c, &found));
        }
        if (!found) {
            IL_TRY(il_regex_escape_class(in, c, &found));
        }
        if (found) {
            continue;
        }
        const size_t at = in->at;
        uint32_t lo = 0;
        IL_TRY(bracket_point(in, begin, &lo));
        uint32_t hi = lo;
        if (in->text.n - in->at >= 2 && in->text.p[in->at] == '-' && in->text.p[in->at + 1] != ']') {
            in->at++;
            IL_TRY(bracket_point(in, begin, &hi));
            if (hi < lo) {
                return IL_REGEX_FAIL(in, at, IL_E_SYNTAX, "range `%.*s` is backwards", (int)(in->at - at), in->text.p + at);
            }
        }
        if (!il_regex_class_add(in->tmp, c, lo, hi)) {
            return il_regex_no_memory(in->tmp, in->err);
        }
    }
    in->at++;
    IL_TRY(il_regex_spend(in, c->n));
    if (in->fold) {
        IL_TRY(il_regex_fold(in, c));
    }
    return !negated || il_regex_class_negate(in->tmp, c) ? IL_OK : il_regex_no_memory(in->tmp, in->err);
}
