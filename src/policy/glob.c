/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/glob.h"

#include "policy/kind_part.h"

static bool il_glob_letter(char c) {
    return il_ascii_alnum(c) || c == '.' || c == '_' || c == '-' || c == '/' || c == ':' || c == '@';
}

bool il_glob_name_ok(il_str name) {
    for (size_t i = 0; i < name.n; i++) {
        if (!il_glob_letter(name.p[i])) {
            return false;
        }
    }
    return name.n > 0;
}

/* Checks the shape and counts the forms. */
static il_status il_glob_check(il_str text, uint32_t *forms, il_error *err) {
    uint32_t total = 1, alternatives = 0;
    size_t part = 0;
    bool group = false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '(') {
            if (group) {
                return il_error_set(err, IL_E_INVALID, "pattern `%.*s`: a group inside a group", IL_STR_ARG(text));
            }
            group = true;
            alternatives = 1;
            part = i + 1;
        } else if (c == '|' || c == ')') {
            if (!group) {
                return il_error_set(err, IL_E_INVALID, "pattern `%.*s`: `%c` outside a group; write `(a|b)`", IL_STR_ARG(text),
                                    c);
            }
            if (i == part) {
                return il_error_set(err, IL_E_INVALID, "pattern `%.*s`: an empty alternative", IL_STR_ARG(text));
            }
            part = i + 1;
            if (c == '|') {
                alternatives++;
            } else {
                group = false;
                if (alternatives > IL_GLOB_FORMS_MAX || total > IL_GLOB_FORMS_MAX / alternatives) {
                    return il_error_set(err, IL_E_LIMIT, "pattern `%.*s`: more than %u alternatives", IL_STR_ARG(text),
                                        IL_GLOB_FORMS_MAX);
                }
                total *= alternatives;
            }
        } else if (c != '*' && !il_glob_letter(c)) {
            return il_error_set(err, IL_E_INVALID,
                                "pattern `%.*s`: `%c` is not a letter of tool names, and `*` and `(a|b)` are the only signs",
                                IL_STR_ARG(text), c);
        }
    }
    if (group) {
        return il_error_set(err, IL_E_INVALID, "pattern `%.*s`: `)` is missing", IL_STR_ARG(text));
    }
    *forms = total;
    return IL_OK;
}

/* The form number `index`: each group takes its digit of the mixed-radix number. */
static size_t il_glob_form(il_str text, uint32_t index, char *out) {
    size_t n = 0;
    for (size_t i = 0; i < text.n;) {
        if (text.p[i] != '(') {
            out[n++] = text.p[i++];
            continue;
        }
        uint32_t count = 1;
        size_t close = i;
        while (text.p[close] != ')') {
            count += text.p[close] == '|' ? 1u : 0u;
            close++;
        }
        uint32_t want = index % count, at = 0;
        index /= count;
        for (size_t k = i + 1; k < close; k++) {
            if (text.p[k] == '|') {
                at++;
            } else if (at == want) {
                out[n++] = text.p[k];
            }
        }
        i = close + 1;
    }
    return n;
}

il_status il_glob_new(il_str text, il_arena *arena, il_glob *out, il_error *err) {
    *out = (il_glob){0};
    if (text.n == 0 || text.n > 1024) {
        return il_error_set(err, text.n == 0 ? IL_E_INVALID : IL_E_LIMIT, "a pattern is %s", text.n == 0 ? "empty" : "too long");
    }
    IL_TRY(il_glob_check(text, &out->nforms, err));
    IL_TRY(il_arena_copy(arena, text, &out->text, err));
    out->exact = il_glob_name_ok(text);
    out->forms = IL_NEW_ARRAY(arena, il_str, out->nforms);
    if (out->forms == NULL) {
        return il_arena_fail(arena, err);
    }
    for (uint32_t i = 0; i < out->nforms; i++) {
        char *p = il_arena_bytes(arena, text.n);
        if (p == NULL) {
            return il_arena_fail(arena, err);
        }
        out->forms[i] = (il_str){p, il_glob_form(text, i, p)};
    }
    return IL_OK;
}

/* Linear: after the latest star, only that star is ever retried. */
bool il_stars_match(il_str form, il_str name, bool nocase) {
    size_t f = 0, i = 0, star = SIZE_MAX, mark = 0;
    while (i < name.n) {
        if (f < form.n && form.p[f] == '*') {
            star = f++;
            mark = i;
        } else if (f < form.n && (form.p[f] == name.p[i] || (nocase && il_ascii_lower(form.p[f]) == il_ascii_lower(name.p[i])))) {
            f++;
            i++;
        } else if (star != SIZE_MAX) {
            f = star + 1;
            i = ++mark;
        } else {
            return false;
        }
    }
    while (f < form.n && form.p[f] == '*') {
        f++;
    }
    return f == form.n;
}

#define IL_STARS_MAX 1024u /* bytes of a form: il_glob_new refuses longer patterns */

bool il_stars_meet(il_str a, il_str b) {
    bool now[IL_STARS_MAX + 1] = {true}; /* now[k]: what is read of `a` and the first k letters of `b` can be the same text */
    if (a.n > IL_STARS_MAX || b.n > IL_STARS_MAX) {
        return true; /* none that a policy can have */
    }
    for (size_t k = 0; k < b.n; k++) {
        now[k + 1] = now[k] && b.p[k] == '*';
    }
    for (size_t i = 0; i < a.n; i++) {
        bool corner = now[0];
        now[0] = now[0] && a.p[i] == '*';
        for (size_t k = 0; k < b.n; k++) {
            const bool above = now[k + 1];
            /* a star is empty, or takes one more letter or star of the other */
            now[k + 1] = a.p[i] == '*' || b.p[k] == '*' ? above || now[k] : corner && a.p[i] == b.p[k];
            corner = above;
        }
    }
    return now[b.n];
}

/* A star of `inner` is read as a letter that no name has: only a star of `outer` takes it, and that takes whatever stands there. */
bool il_stars_within(il_str inner, il_str outer) { return il_stars_match(outer, inner, false); }

bool il_glob_matches(const il_glob *g, il_str name) {
    for (uint32_t i = 0; i < g->nforms; i++) {
        if (il_stars_match(g->forms[i], name, false)) {
            return true;
        }
    }
    return false;
}
