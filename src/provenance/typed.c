/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/typed.h"

size_t il_typed_space(il_str text, size_t at) {
    static const char *const wide[] = {"\xc2\xa0", "\xe2\x80\xaf", "\xe3\x80\x80", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    if (at >= text.n) {
        return 0;
    }
    const unsigned char c = (unsigned char)text.p[at];
    if (c < 0x80) {
        return c == ' ' || (c >= '\t' && c <= '\r') ? 1 : 0;
    }
    const il_str rest = il_str_part(text, at, text.n);
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        if (il_str_starts(rest, il_str_of(wide[i]))) {
            return il_str_of(wide[i]).n;
        }
    }
    /* U+2000 to U+200A */
    return rest.n >= 3 && c == 0xe2 && (unsigned char)rest.p[1] == 0x80 && (unsigned char)rest.p[2] >= 0x80 &&
                   (unsigned char)rest.p[2] <= 0x8a
               ? 3
               : 0;
}

/* Quotation marks, dashes, bullet and ellipsis of typography, which may stand on either side. */
static const char *const il_typed_marks[] = {"\xc2\xab",     "\xc2\xbb",     "\xe2\x80\x93", "\xe2\x80\x94",
                                             "\xe2\x80\x98", "\xe2\x80\x99", "\xe2\x80\x9a", "\xe2\x80\x9c",
                                             "\xe2\x80\x9d", "\xe2\x80\x9e", "\xe2\x80\xa2", "\xe2\x80\xa6"};

/* Outside ASCII, or past the end of the word. */
static bool il_typed_wide(il_str w, size_t at) { return at >= w.n || ((unsigned char)w.p[at] & 0x80u) != 0; }

static bool il_typed_sign(char c, const char *signs) {
    for (; *signs != '\0'; signs++) {
        if (c == *signs) {
            return true;
        }
    }
    return false;
}

il_str il_typed_front(il_str w) {
    for (bool more = true; more && w.n > 0;) {
        more = il_typed_sign(w.p[0], "\"'`([{<*_#@,;:!?-");
        if (more) {
            w = il_str_part(w, 1, w.n);
        }
        for (size_t i = 0; !more && il_typed_wide(w, 0) && i < sizeof il_typed_marks / sizeof il_typed_marks[0]; i++) {
            if (il_str_starts(w, il_str_of(il_typed_marks[i]))) {
                w = il_str_part(w, il_str_of(il_typed_marks[i]).n, w.n);
                more = true;
            }
        }
    }
    return w;
}

il_str il_typed_back(il_str w) {
    for (bool more = true; more && w.n > 0;) {
        more = il_typed_sign(w.p[w.n - 1], "\"'`)]}>*_,.;:!?-");
        if (more) {
            w.n--;
        }
        for (size_t i = 0; !more && il_typed_wide(w, w.n - 1) && i < sizeof il_typed_marks / sizeof il_typed_marks[0]; i++) {
            if (il_str_ends(w, il_str_of(il_typed_marks[i]))) {
                w.n -= il_str_of(il_typed_marks[i]).n;
                more = true;
            }
        }
    }
    return w;
}

static void il_typed_add(il_typed_word *out, il_str text, uint8_t without) {
    bool there = text.n == 0;
    for (uint32_t i = 0; i < out->n; i++) {
        there = there || (il_str_eq(out->forms[i].text, text) && out->forms[i].without == without);
    }
    if (!there) {
        out->forms[out->n++] = (il_typed_form){text, without};
    }
}

/* The word with its back as it stands, without signs, and without the possessive too. */
static void il_typed_backs(il_typed_word *out, il_str w, uint8_t without) {
    const il_str bare = il_typed_back(w);
    const il_str ends[] = {IL_STR("'s"), IL_STR("\xe2\x80\x99s")};
    il_typed_add(out, w, without);
    if (bare.n < w.n) {
        il_typed_add(out, bare, (uint8_t)(without | IL_TYPED_BACK));
    }
    for (size_t i = 0; i < 2 && bare.n > 0 && bare.p[bare.n - 1] == 's'; i++) {
        if (il_str_ends(bare, ends[i])) {
            il_typed_add(out, il_str_part(bare, 0, bare.n - ends[i].n), (uint8_t)(without | IL_TYPED_BACK));
        }
    }
}

bool il_typed_next(il_str text, size_t *at, il_typed_word *out) {
    out->n = 0;
    size_t space = 0;
    while (*at < text.n && (space = il_typed_space(text, *at)) > 0) {
        *at += space;
    }
    const size_t from = *at;
    while (*at < text.n && il_typed_space(text, *at) == 0) {
        (*at)++;
    }
    if (*at == from) {
        return false;
    }
    const il_str w = il_str_part(text, from, *at), front = il_typed_front(w);
    il_typed_backs(out, w, 0);
    if (front.n < w.n) {
        il_typed_backs(out, front, IL_TYPED_FRONT);
    }
    return true;
}
