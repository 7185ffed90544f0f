/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml/layout.h"

#include "base/utf8.h"

enum { LAYOUT_WORD_MAX = 40 };

static bool layout_tail(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

static bool layout_blank(char c) { return c == ' ' || c == '\t'; }

static bool layout_break(char c) { return c == '\n' || c == '\r'; }

size_t il_yaml_seek(il_yaml_place *place, il_str text, size_t index) {
    while (place->index < index && place->at < text.n) {
        do {
            place->at++;
        } while (place->at < text.n && layout_tail(text.p[place->at]));
        place->index++;
    }
    while (place->index > index && place->at > 0) {
        do {
            place->at--;
        } while (place->at > 0 && layout_tail(text.p[place->at]));
        place->index--;
    }
    return place->at;
}

/* Where the line of byte `at` begins. */
static size_t layout_line(il_str text, size_t at) {
    while (at > 0 && text.p[at - 1] != '\n') {
        at--;
    }
    return at;
}

il_str il_yaml_word(il_str text, size_t at) {
    size_t n = 0;
    while (at + n < text.n && !layout_blank(text.p[at + n]) && !layout_break(text.p[at + n])) {
        const size_t len = il_utf8_length((const unsigned char *)text.p + at + n, text.n - at - n);
        const size_t step = len == 0 ? 1 : len;
        if (n + step > LAYOUT_WORD_MAX) {
            break;
        }
        n += step;
    }
    return (il_str){text.p + at, n};
}

il_status il_yaml_refuse(il_str text, size_t at, il_error *err, const char *fmt, ...) {
    if (err == NULL) {
        return IL_E_SYNTAX;
    }
    uint32_t line = 1;
    for (size_t i = 0; i < at; i++) {
        line += text.p[i] == '\n';
    }
    uint32_t col = 1;
    for (size_t i = layout_line(text, at); i < at; i++) {
        col += !layout_tail(text.p[i]);
    }
    char msg[IL_ERROR_MSG_BYTES];
    va_list args;
    va_start(args, fmt);
    (void)il_format_list(msg, sizeof msg, fmt, args);
    va_end(args);
    return il_error_at(err, IL_E_SYNTAX, line, col, at, "%s", msg);
}

/* A character that libyaml takes for a line end or refuses without saying where, or that no one can see. */
static bool layout_unprintable(uint32_t c) {
    if (c < 0x20) {
        return c != '\t' && c != '\n' && c != '\r';
    }
    return (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff;
}

static uint32_t layout_decode(const unsigned char *p, size_t n) {
    if (n == 1) {
        return p[0];
    }
    uint32_t c = p[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        c = c << 6 | (p[i] & 0x3fu);
    }
    return c;
}

static bool layout_lone(il_str text, size_t at) { return text.p[at] == '\r' && (at + 1 == text.n || text.p[at + 1] != '\n'); }

bool il_yaml_lone_return(il_str text) {
    for (size_t i = 0; i < text.n; i++) {
        if (layout_lone(text, i)) {
            return true;
        }
    }
    return false;
}

il_status il_yaml_characters(il_str text, il_error *err) {
    if (il_str_starts(text, IL_STR("\xef\xbb\xbf"))) {
        return il_yaml_refuse(text, 0, err, "byte order mark; save the file as utf-8 without one");
    }
    size_t i = 0;
    while (i < text.n) {
        const unsigned char *p = (const unsigned char *)text.p + i;
        const size_t n = il_utf8_length(p, text.n - i);
        if (n == 0) {
            return il_yaml_refuse(text, i, err, "invalid utf-8: byte \\x%02x", (unsigned)*p);
        }
        const uint32_t c = layout_decode(p, n);
        if (layout_unprintable(c)) {
            return il_yaml_refuse(text, i, err, "character U+%04x must be written as an escape in double quotes", c);
        }
        if (layout_lone(text, i)) {
            return il_yaml_refuse(text, i, err, "carriage return without a line feed");
        }
        i += n;
    }
    return IL_OK;
}

/* `#` at `at`: a comment that is set off by white space and does not look like a value. */
static il_status layout_comment(il_str text, size_t at, bool first, bool flow, il_error *err) {
    if (at > 0 && !layout_blank(text.p[at - 1]) && text.p[at - 1] != '\n') {
        return il_yaml_refuse(text, at, err, "a comment needs a space before `#`; quote this if it is text");
    }
    const bool spaced = at + 1 == text.n || layout_blank(text.p[at + 1]) || layout_break(text.p[at + 1]) || text.p[at + 1] == '#';
    if (!spaced && (!first || flow)) {
        const il_str word = il_yaml_word(text, at);
        return il_yaml_refuse(text, at, err, "`%.*s` begins a comment here; quote this, or put a space after `#`",
                              IL_STR_ARG(word));
    }
    return IL_OK;
}

/* The white space at the start of a line, and its first character. */
static il_status layout_indent(il_str text, size_t line, il_yaml_around around, size_t *first, il_error *err) {
    size_t spaces = line;
    while (spaces < text.n && text.p[spaces] == ' ') {
        spaces++;
    }
    size_t i = spaces;
    while (i < text.n && layout_blank(text.p[i])) {
        i++;
    }
    *first = i;
    if (i == text.n || layout_break(text.p[i])) {
        return IL_OK;
    }
    if (i > spaces) {
        return il_yaml_refuse(text, spaces, err, "a tab is no indentation; use spaces");
    }
    /* The outermost closing bracket may stand below its key, as everybody writes it; nothing else may. */
    const int deep = !around.inner && (text.p[i] == ']' || text.p[i] == '}') ? around.indent : around.indent + 1;
    if (around.flow && text.p[i] != '#' && (int64_t)(spaces - line) < deep) {
        return il_yaml_refuse(text, i, err, "indent this line deeper than the key or `-` that it belongs to");
    }
    return IL_OK;
}

static bool layout_end(il_str text, size_t at, size_t to) { return il_str_starts(il_str_part(text, at, to), IL_STR("...")); }

il_status il_yaml_gap(il_str text, size_t from, size_t to, il_yaml_around around, il_error *err) {
    size_t first = SIZE_MAX; /* first non-blank character of the line, when the line began in the gap */
    bool ended = false;      /* by `...` */
    size_t i = from;
    if (from == 0 || text.p[from - 1] == '\n') { /* a block scalar ends behind its last line end */
        IL_TRY(layout_indent(text, from, around, &first, err));
        ended = layout_end(text, from, to);
    }
    while (i < to) {
        const char c = text.p[i];
        if (c == '#') {
            IL_TRY(layout_comment(text, i, i == first, around.flow, err));
            while (i < to && text.p[i] != '\n') {
                i++;
            }
        } else if (c == '\n') {
            i++;
            IL_TRY(layout_indent(text, i, around, &first, err));
            if (layout_end(text, i, to)) {
                if (ended) {
                    return il_yaml_refuse(text, i, err, "a second `...`; remove it"); /* the end of an empty document, to some */
                }
                ended = true;
            }
        } else if (c == '?') {
            return il_yaml_refuse(text, i, err, "`?` begins a complex key; write `key: value`, or quote this");
        } else {
            i++;
        }
    }
    return IL_OK;
}

il_status il_yaml_folded(il_str text, size_t from, size_t to, il_yaml_around around, il_error *err) {
    for (size_t i = from; i < to; i++) {
        if (text.p[i] != '\n') {
            continue;
        }
        size_t spaces = i + 1;
        while (spaces < to && text.p[spaces] == ' ') {
            spaces++;
        }
        if (spaces < to && !layout_break(text.p[spaces]) && (int64_t)(spaces - i - 1) <= around.indent) {
            return il_yaml_refuse(text, spaces, err, "indent this line deeper than the key or `-` that it belongs to");
        }
    }
    return IL_OK;
}

il_status il_yaml_escapes(il_str text, size_t from, size_t to, il_error *err) {
    for (size_t i = from; i + 1 < to; i++) {
        if (text.p[i] != '\\') {
            continue;
        }
        if (layout_break(text.p[i + 1])) {
            return il_yaml_refuse(text, i, err, "an escaped line end; leave it out, or use a block (`>-`)");
        }
        i++; /* the escaped character is no backslash of its own */
    }
    return IL_OK;
}

il_status il_yaml_header(il_str text, size_t at, il_error *err) {
    for (size_t i = at; i < text.n && !layout_break(text.p[i]); i++) {
        if (text.p[i] == '#') {
            return layout_comment(text, i, false, false, err);
        }
    }
    return IL_OK;
}

/* A line of nothing but spaces in [from, to), and at least one. */
static bool layout_spaces(il_str text, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        const size_t line = i + 1;
        size_t end = line;
        while (text.p[i] == '\n' && end < to && text.p[end] == ' ') {
            end++;
        }
        if (end > line && (end == to || layout_break(text.p[end]))) {
            return true;
        }
    }
    return false;
}

il_status il_yaml_tail(il_str text, size_t from, size_t to, il_str value, bool cut, il_error *err) {
    size_t end = value.n;
    while (end > 0 && value.p[end - 1] == '\n') {
        end--;
    }
    size_t spaces = end;
    while (spaces > 0 && value.p[spaces - 1] == ' ') {
        spaces--;
    }
    const bool last = spaces < end && (spaces == 0 || value.p[spaces - 1] == '\n');
    if (last || (end == 0 && layout_spaces(text, from, to))) {
        return il_yaml_refuse(text, from, err,
                              "this block ends in lines of nothing but spaces; remove them, or use double quotes");
    }
    if (cut && value.n - end > 1) { /* only `+` keeps more than one */
        return il_yaml_refuse(text, from, err, "this block ends in spaces without a line end; remove them");
    }
    return IL_OK;
}

il_status il_yaml_remark(il_str text, size_t from, size_t to, int indent, il_error *err) {
    for (size_t i = from; i < to; i++) {
        if (text.p[i] != '\n') {
            continue;
        }
        size_t first = i + 1;
        while (first < to && text.p[first] == ' ') {
            first++;
        }
        if (first < to && text.p[first] == '#' && (int64_t)(first - i - 1) < indent) {
            return il_yaml_refuse(text, first, err, "indent this comment as deep as the key above it");
        }
    }
    return IL_OK;
}

il_status il_yaml_missing(il_str text, size_t at, il_yaml_around around, il_error *err) {
    size_t i = at;
    bool same_line = true;
    while (i < text.n) {
        const size_t line = i;
        while (i < text.n && layout_blank(text.p[i])) {
            i++;
        }
        if (i < text.n && text.p[i] == '#') {
            const bool inside = same_line || (int64_t)(i - line) > around.indent;
            IL_TRY(layout_comment(text, i, !inside, false, err));
            while (i < text.n && text.p[i] != '\n') {
                i++;
            }
        } else if (i < text.n && !layout_break(text.p[i])) {
            break;
        }
        while (i < text.n && layout_break(text.p[i])) {
            i++;
            same_line = false;
        }
    }
    return IL_OK;
}

bool il_yaml_colon(il_str text, size_t at) {
    while (at < text.n && layout_blank(text.p[at])) {
        at++;
    }
    return at < text.n && text.p[at] == ':';
}
