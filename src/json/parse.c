/* SPDX-License-Identifier: Apache-2.0 */
/* The strict reader. It works in one copy of the text inside the arena: strings and numbers are views into that copy, and escapes are
 * decoded in place, which is safe because no escape is shorter than what it stands for. Nesting lives in an array, not on the stack. */
#include "base/utf8.h"
#include "json/member.h"
#include "json/node.h"
#include "json/number.h"
#include "json/scan.h"

enum {
    JSON_PAD = 8, /* NUL bytes after the text: short comparisons need no check against the end */
};
#define JSON_BYTES_MAX ((size_t)1 << 30)

typedef struct json_reader {
    il_arena *arena;
    il_error *err;
    uint8_t *start, *end, *p;
    size_t line_base; /* start of the line, moved on by one for each UTF-8 continuation byte: p - line_base counts code points */
    uint32_t line;
    uint32_t nodes; /* still allowed */
    il_json_limits limits;
    uint32_t depth;
    il_json *path[IL_JSON_DEPTH_MAX]; /* open arrays and objects, outermost first */
} json_reader;

il_status il_json_limits_fill(const il_json_limits *limits, il_json_limits *out, il_error *err) {
    static const il_json_limits none = {.size = sizeof none};
    const il_json_limits *l = limits == NULL ? &none : limits;
    if (l->size < sizeof *l) {
        return il_error_set(err, IL_E_ARGUMENT, "`size` of the limits is not set");
    }
    *out = (il_json_limits){
        .size = sizeof *out,
        .bytes = l->bytes == 0 ? (size_t)4 << 20 : l->bytes,
        .depth = l->depth == 0 ? 64 : l->depth,
        .nodes = l->nodes == 0 ? 200000 : l->nodes,
        .key_bytes = l->key_bytes == 0 ? 1024 : l->key_bytes,
        .memory = l->memory == 0 ? (size_t)64 << 20 : l->memory,
    };
    if (out->bytes > JSON_BYTES_MAX) {
        out->bytes = JSON_BYTES_MAX;
    }
    if (out->depth > IL_JSON_DEPTH_MAX) {
        return il_error_set(err, IL_E_ARGUMENT, "a depth limit of %u is above %d", out->depth, IL_JSON_DEPTH_MAX);
    }
    return IL_OK;
}

static uint32_t json_offset(const json_reader *r, const uint8_t *at) { return (uint32_t)(at - r->start); }

static uint32_t json_col(const json_reader *r, const uint8_t *at) {
    return (uint32_t)((size_t)(at - r->start) - r->line_base + 1);
}

/* `at` is on the current line, not before a byte that line_base already counted. */
#define JSON_FAIL_AT(r, code, at, ...) \
    il_error_at((r)->err, (code), (r)->line, json_col((r), (at)), (size_t)((at) - (r)->start), __VA_ARGS__)

static il_status json_out_of_memory(json_reader *r) {
    if (r->err != NULL) {
        r->err->line = r->line;
        r->err->col = json_col(r, r->p);
        r->err->offset = json_offset(r, r->p);
    }
    (void)il_arena_fail(r->arena, r->err);
    return r->arena->capped ? IL_E_LIMIT : IL_E_MEMORY;
}

/* Fails at p, naming what stands there. */
static il_status json_expected(json_reader *r, const char *what) {
    if (r->p == r->end) {
        return JSON_FAIL_AT(r, IL_E_SYNTAX, r->p, "expected %s, but the text ends", what);
    }
    const size_t n = il_utf8_length(r->p, (size_t)(r->end - r->p));
    if (n == 0) {
        return JSON_FAIL_AT(r, IL_E_SYNTAX, r->p, "invalid utf-8: byte \\x%02x", (unsigned)*r->p);
    }
    return JSON_FAIL_AT(r, IL_E_SYNTAX, r->p, "expected %s, found `%.*s`", what, (int)n, (const char *)r->p);
}

static inline void json_space(json_reader *r) {
    uint8_t *p = r->p;
    for (; *p <= ' '; p++) {
        if (*p == '\n') {
            r->line++;
            r->line_base = (size_t)(p + 1 - r->start);
        } else if (*p != ' ' && *p != '\t' && *p != '\r') {
            break;
        }
    }
    r->p = p;
}

static int json_hex(uint8_t c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hex digits at p (padding makes the look ahead safe), or -1. */
static int32_t json_hex4(const uint8_t *p) {
    int32_t v = 0;
    for (size_t i = 0; i < 4; i++) {
        const int d = json_hex(p[i]);
        if (d < 0) {
            return -1;
        }
        v = v * 16 + d;
    }
    return v;
}

/* Decodes the \u escape at *from, a surrogate pair included. */
static il_status json_unicode(json_reader *r, uint8_t **from, uint8_t **to) {
    const uint8_t *p = *from;
    int32_t c = json_hex4(p + 2);
    if (c < 0) {
        return JSON_FAIL_AT(r, IL_E_SYNTAX, p, "four hex digits must follow `\\u`");
    }
    *from += 6;
    if (c >= 0xd800 && c <= 0xdfff) {
        const int32_t low = p[6] == '\\' && p[7] == 'u' ? json_hex4(p + 8) : -1;
        if (c > 0xdbff || low < 0xdc00 || low > 0xdfff) {
            return JSON_FAIL_AT(r, IL_E_SYNTAX, p, "`%.*s` is half of a surrogate pair", 6, (const char *)p);
        }
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        *from += 6;
    }
    *to += il_utf8_put((uint32_t)c, (char *)*to);
    return IL_OK;
}

static il_status json_escape(json_reader *r, uint8_t **from, uint8_t **to) {
    static const char letters[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    const uint8_t c = (*from)[1];
    if (c == 'u') {
        return json_unicode(r, from, to);
    }
    for (size_t i = 0; i < sizeof letters - 1; i++) {
        if (c == (uint8_t)letters[i]) {
            *(*to)++ = (uint8_t)values[i];
            *from += 2;
            return IL_OK;
        }
    }
    return JSON_FAIL_AT(r, IL_E_SYNTAX, *from, "unknown escape in a string; write a backslash as `\\\\`");
}

/* The string whose opening quote is at p; leaves p behind the closing one. */
static il_status json_string(json_reader *r, il_str *out) {
    uint8_t *const begin = r->p + 1;
    uint8_t *from = begin + (json_scan(begin, r->end, false) - begin);
    uint8_t *to = from;
    while (*from != '"') {
        const uint8_t c = *from;
        if (c == '\\') {
            IL_TRY(json_escape(r, &from, &to));
        } else if (c < 0x20) {
            if (from == r->end) {
                return JSON_FAIL_AT(r, IL_E_SYNTAX, from, "the text ends inside a string");
            }
            return JSON_FAIL_AT(r, IL_E_SYNTAX, from, "control character \\x%02x in a string; write it as an escape",
                                (unsigned)c);
        } else if (c >= 0x80) {
            const size_t n = il_utf8_length(from, (size_t)(r->end - from));
            if (n == 0) {
                return JSON_FAIL_AT(r, IL_E_SYNTAX, from, "invalid utf-8: byte \\x%02x", (unsigned)c);
            }
            for (size_t i = 0; i < n; i++) {
                *to++ = *from++;
            }
            r->line_base += n - 1;
        } else {
            const size_t n = (size_t)(json_scan(from, r->end, false) - from);
            if (to != from) {
                memmove(to, from, n);
            }
            from += n;
            to += n;
        }
    }
    *out = (il_str){(const char *)begin, (size_t)(to - begin)};
    r->p = from + 1;
    return IL_OK;
}

static il_status json_node(json_reader *r, il_json **out) {
    if (r->nodes == 0) {
        return JSON_FAIL_AT(r, IL_E_LIMIT, r->p, "more than %u values", r->limits.nodes);
    }
    r->nodes--;
    *out = IL_NEW(r->arena, il_json);
    return *out == NULL ? json_out_of_memory(r) : IL_OK;
}

/* `"key" :` of a new member of `object`. */
static il_status json_member(json_reader *r, il_json *object, il_json **out) {
    json_space(r);
    if (*r->p != '"') {
        return json_expected(r, "a key in double quotes");
    }
    il_json *v = NULL;
    IL_TRY(json_node(r, &v));
    IL_CHECK(v != NULL, r->err);
    const uint8_t *const at = r->p;
    v->key_line = r->line;
    v->key_col = json_col(r, at);
    v->key_offset = json_offset(r, at);
    IL_TRY(json_string(r, &v->key));
    if (v->key.n > r->limits.key_bytes) {
        return il_error_at(r->err, IL_E_LIMIT, v->key_line, v->key_col, v->key_offset, "a key of more than %u bytes",
                           r->limits.key_bytes);
    }
    const il_json *same = il_json_member_add(object, v);
    if (same != NULL) {
        /* A line of a file of lines is parsed by itself: only the caller knows its number, so it is not said where it is the same. */
        if (same->key_line == v->key_line) {
            return il_error_at(r->err, IL_E_SYNTAX, v->key_line, v->key_col, v->key_offset,
                               "duplicate key `%.*s`, first at column %u", IL_STR_ARG(v->key), same->key_col);
        }
        return il_error_at(r->err, IL_E_SYNTAX, v->key_line, v->key_col, v->key_offset,
                           "duplicate key `%.*s`, first at line %u column %u", IL_STR_ARG(v->key), same->key_line, same->key_col);
    }
    json_space(r);
    if (*r->p != ':') {
        return json_expected(r, "`:` after a key");
    }
    r->p++;
    json_space(r);
    *out = v;
    return IL_OK;
}

static il_status json_literal(json_reader *r, il_json *v, il_str word, il_json_kind kind) {
    if (memcmp(r->p, word.p, word.n) != 0) {
        return json_expected(r, "`true`, `false`, `null` or another value");
    }
    r->p += word.n;
    v->kind = (uint8_t)kind;
    v->truth = word.p[0] == 't';
    v->plain = true;
    return IL_OK;
}

static il_status json_number(json_reader *r, il_json *v) {
    const char *fault = NULL;
    const uint8_t *stop = il_json_number_scan(r->p, r->end, &fault);
    if (fault != NULL) {
        return JSON_FAIL_AT(r, IL_E_SYNTAX, stop, "%s", fault);
    }
    v->kind = IL_JSON_NUMBER;
    v->plain = true;
    v->text = (il_str){(const char *)r->p, (size_t)(stop - r->p)};
    r->p += stop - r->p;
    return IL_OK;
}

static il_status json_open(json_reader *r, il_json *v, il_json_kind kind) {
    if (r->depth == r->limits.depth) {
        return JSON_FAIL_AT(r, IL_E_LIMIT, r->p, "nested deeper than %u levels", r->limits.depth);
    }
    v->kind = (uint8_t)kind;
    r->path[r->depth++] = v;
    r->p++;
    return IL_OK;
}

/* The value at p into v; of an array or object only the opening bracket. */
static il_status json_value(json_reader *r, il_json *v) {
    v->line = r->line;
    v->col = json_col(r, r->p);
    v->offset = json_offset(r, r->p);
    switch (*r->p) {
    case '"':
        v->kind = IL_JSON_STRING;
        return json_string(r, &v->text);
    case '{':
        return json_open(r, v, IL_JSON_OBJECT);
    case '[':
        return json_open(r, v, IL_JSON_ARRAY);
    case 't':
        return json_literal(r, v, IL_STR("true"), IL_JSON_BOOL);
    case 'f':
        return json_literal(r, v, IL_STR("false"), IL_JSON_BOOL);
    case 'n':
        return json_literal(r, v, IL_STR("null"), IL_JSON_NULL);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return json_number(r, v);
    }
    return json_expected(r, "a value");
}

static il_status json_item(json_reader *r, il_json *array, il_json **out) {
    json_space(r);
    IL_TRY(json_node(r, out));
    (void)il_json_push(array, *out);
    return IL_OK;
}

/* Behind a value: closes what is complete and makes the next child; *out is NULL when the outermost value is closed. */
static il_status json_next(json_reader *r, il_json **out) {
    *out = NULL;
    while (r->depth > 0) {
        il_json *open = r->path[r->depth - 1];
        const bool object = open->kind == IL_JSON_OBJECT;
        json_space(r);
        if (*r->p == (object ? '}' : ']')) {
            r->p++;
            r->depth--;
            continue;
        }
        if (*r->p != ',') {
            return json_expected(r, object ? "`,` or `}`" : "`,` or `]`");
        }
        r->p++;
        return object ? json_member(r, open, out) : json_item(r, open, out);
    }
    return IL_OK;
}

/* Behind an opening bracket: the first child, or NULL in *out when the container is empty and closed. */
static il_status json_enter(json_reader *r, il_json *open, il_json **out) {
    const bool object = open->kind == IL_JSON_OBJECT;
    *out = NULL;
    json_space(r);
    if (*r->p == (object ? '}' : ']')) {
        r->p++;
        r->depth--;
        return IL_OK;
    }
    return object ? json_member(r, open, out) : json_item(r, open, out);
}

static il_status json_document(json_reader *r, il_json **out) {
    il_json *root = NULL;
    if (r->end - r->start >= 3 && memcmp(r->start, "\xef\xbb\xbf", 3) == 0) {
        return JSON_FAIL_AT(r, IL_E_SYNTAX, r->start, "byte order mark; save the text as utf-8 without one");
    }
    json_space(r);
    IL_TRY(json_node(r, &root));
    il_json *v = root;
    while (v != NULL) {
        const uint32_t depth = r->depth;
        IL_TRY(json_value(r, v));
        il_json *child = NULL;
        if (r->depth > depth) {
            IL_TRY(json_enter(r, v, &child));
        }
        if (child == NULL) {
            IL_TRY(json_next(r, &child));
        }
        v = child;
    }
    json_space(r);
    if (r->p != r->end) {
        return json_expected(r, "the end after the value");
    }
    *out = root;
    return IL_OK;
}

il_status il_json_parse(il_arena *arena, il_str text, const il_json_limits *limits, il_json **out, il_error *err) {
    *out = NULL;
    json_reader r;
    r.arena = arena;
    r.err = err;
    r.line = 1;
    r.line_base = 0;
    r.depth = 0;
    IL_TRY(il_json_limits_fill(limits, &r.limits, err));
    r.nodes = r.limits.nodes;
    if (text.n > r.limits.bytes) {
        return il_error_at(err, IL_E_LIMIT, 1, 1, 0, "the text has %zu bytes, above the limit of %zu", text.n, r.limits.bytes);
    }
    const size_t cap = arena->cap;
    if (r.limits.memory < cap - arena->used) {
        arena->cap = arena->used + r.limits.memory;
    }
    il_status status;
    r.start = (uint8_t *)il_arena_bytes(arena, text.n + JSON_PAD);
    if (r.start == NULL) {
        r.p = r.start;
        status = json_out_of_memory(&r);
    } else {
        if (text.n > 0) {
            memcpy(r.start, text.p, text.n);
        }
        memset(r.start + text.n, 0, JSON_PAD);
        r.end = r.start + text.n;
        r.p = r.start;
        status = json_document(&r, out);
    }
    arena->cap = cap;
    return status;
}
