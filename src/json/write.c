/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical writer: the only source of JSON bytes that leave a process, so it checks what it writes. */
#include "base/sha256.h"
#include "json/member.h"
#include "json/node.h"
#include "json/scan.h"

static void json_put_escape(il_buf *b, uint32_t c) {
    static const char letters[] = "\"\\bfnrt";
    static const char values[] = "\"\\\b\f\n\r\t";
    il_buf_putc(b, '\\');
    for (size_t i = 0; i < sizeof values - 1; i++) {
        if (c == (uint8_t)values[i]) {
            il_buf_putc(b, letters[i]);
            return;
        }
    }
    const uint8_t bytes[2] = {(uint8_t)(c >> 8), (uint8_t)c};
    il_buf_putc(b, 'u');
    il_buf_hex(b, bytes, sizeof bytes);
}

/* U+2028 and U+2029 end lines for some readers; they are E2 80 A8 and E2 80 A9. */
static bool json_is_separator(const uint8_t *p, size_t n) {
    return n == 3 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9);
}

void il_json_write_string(il_buf *b, il_str s) {
    const uint8_t *p = (const uint8_t *)(s.n == 0 ? "" : s.p);
    const uint8_t *const end = p + s.n;
    il_buf_putc(b, '"');
    while (p < end && !b->failed) {
        const uint8_t *run = p;
        uint32_t escape = 0;
        bool stop = false;
        while (!stop) {
            p = json_scan(p, end, true);
            stop = p == end || *p < 0x80;
            if (!stop) {
                const size_t n = il_utf8_length(p, (size_t)(end - p));
                if (n == 0) {
                    il_buf_fail(b, IL_E_INVALID);
                    return;
                }
                stop = json_is_separator(p, n);
                escape = stop ? 0x2000u + (p[2] & 0x3fu) : 0;
                p += stop ? 0 : n;
            }
        }
        il_buf_put(b, (il_str){(const char *)run, (size_t)(p - run)});
        if (p < end) {
            json_put_escape(b, escape != 0 ? escape : *p);
            p += escape != 0 ? 3 : 1;
        }
    }
    il_buf_putc(b, '"');
}

static void json_put_number(il_buf *b, il_str text) {
    if (!il_json_is_number(text)) {
        il_buf_fail(b, IL_E_INVALID);
        return;
    }
    il_buf_put(b, text);
}

/* A scalar, or an empty array or object, whole; of the others the opening bracket. Returns whether children follow. */
static bool json_put_value(il_buf *b, const il_json *v) {
    switch (il_json_kind_of(v)) {
    case IL_JSON_NULL:
        il_buf_put(b, IL_STR("null"));
        return false;
    case IL_JSON_BOOL:
        il_buf_put(b, v->truth ? IL_STR("true") : IL_STR("false"));
        return false;
    case IL_JSON_NUMBER:
        json_put_number(b, v->text);
        return false;
    case IL_JSON_STRING:
        il_json_write_string(b, v->text);
        return false;
    case IL_JSON_ARRAY:
        il_buf_put(b, v->first == NULL ? IL_STR("[]") : IL_STR("["));
        return v->first != NULL;
    case IL_JSON_OBJECT:
        il_buf_put(b, v->first == NULL ? IL_STR("{}") : IL_STR("{"));
        return v->first != NULL;
    }
    il_buf_fail(b, IL_E_INVALID);
    return false;
}

/* The child of `parent` that is written after `v`, or the first one. */
static const il_json *json_follow(const il_json *parent, const il_json *v, il_json_order order) {
    if (order == IL_JSON_SORTED && parent->kind == IL_JSON_OBJECT) {
        return il_json_member_above(parent, v);
    }
    return v == NULL ? parent->first : v->next;
}

static void json_put_key(il_buf *b, const il_json *parent, const il_json *v) {
    if (parent->kind == IL_JSON_OBJECT) {
        il_json_write_string(b, v->key);
        il_buf_putc(b, ':');
    }
}

void il_json_write(il_buf *b, const il_json *v, il_json_order order) {
    const il_json *path[IL_JSON_DEPTH_MAX];
    size_t depth = 0;
    bool children = json_put_value(b, v);
    while (!b->failed) {
        const il_json *next = NULL;
        if (children) {
            if (depth == IL_JSON_DEPTH_MAX) {
                il_buf_fail(b, IL_E_LIMIT);
                return;
            }
            path[depth++] = v;
            next = json_follow(v, NULL, order);
        } else {
            if (depth == 0) {
                return;
            }
            next = json_follow(path[depth - 1], v, order);
            if (next == NULL) {
                v = path[--depth];
                il_buf_putc(b, v->kind == IL_JSON_OBJECT ? '}' : ']');
                continue;
            }
            il_buf_putc(b, ',');
        }
        json_put_key(b, path[depth - 1], next);
        children = json_put_value(b, next);
        v = next;
    }
}

il_status il_json_digest(const il_json *v, il_arena *scratch, il_sha256_blocks blocks, uint8_t out[IL_DIGEST_BYTES],
                         il_error *err) {
    il_buf b;
    il_str text;
    il_sha256 hash;
    il_buf_init(&b, scratch, SIZE_MAX);
    il_json_write(&b, v, IL_JSON_SORTED);
    IL_TRY(il_buf_done(&b, &text, err));
    il_sha256_init(&hash, blocks);
    il_sha256_add(&hash, text.p, text.n);
    il_sha256_end(&hash, out);
    return IL_OK;
}
