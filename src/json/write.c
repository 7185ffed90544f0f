/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical writer: the only source of JSON bytes that leave a process, so it checks what it writes. */
#include "base/sha256.h"
#include "base/utf8.h"
#include "json/member.h"
#include "json/node.h"
#include "json/scan.h"

enum {
    JSON_FEW = 8,      /* members whose order is found by comparing them all */
    JSON_SHORT = 1024, /* bytes of a string that is written in one piece */
    JSON_CHUNK = 2048, /* bytes that are hashed at once; more than JSON_SHORT with its quotes */
};

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
    if (s.n <= JSON_SHORT && json_scan_all(p, s.n)) { /* nothing to escape: nearly every key, and most values */
        char *to = il_buf_room(b, s.n + 2);
        if (to != NULL) {
            to[0] = '"';
            memcpy(to + 1, p, s.n);
            to[s.n + 1] = '"';
            b->n += s.n + 2;
        }
        return;
    }
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

/* An array or object that is being written, and how its children follow each other. */
typedef struct json_level {
    const il_json *v;
    uint32_t places; /* JSON_PLACES: of up to eight members, four bits each: where the next ones stand in text order */
    uint8_t how, left;
} json_level;
enum { JSON_TEXT_ORDER, JSON_PLACES, JSON_SEARCH };

static bool json_below(const il_json *a, const il_json *b) {
    if (a->key.n > 0 && b->key.n > 0 && a->key.p[0] != b->key.p[0]) {
        return (uint8_t)a->key.p[0] < (uint8_t)b->key.p[0];
    }
    return il_str_cmp(a->key, b->key) < 0;
}

/* Members that stand in order already are written as they stand; of a few others the order is found here, of many one after the other in their
 * index. */
static void json_level_sort(json_level *l) {
    const il_json *few[JSON_FEW];
    uint8_t place[JSON_FEW];
    uint32_t n = 0;
    const il_json *m = l->v->first;
    while (m->next != NULL && json_below(m, m->next)) {
        m = m->next;
    }
    if (m->next == NULL || l->v->count > JSON_FEW) {
        l->how = m->next == NULL ? JSON_TEXT_ORDER : JSON_SEARCH;
        return;
    }
    for (m = l->v->first; m != NULL && n < JSON_FEW; m = m->next, n++) {
        uint32_t at = n;
        for (; at > 0 && json_below(m, few[at - 1]); at--) {
            few[at] = few[at - 1];
            place[at] = place[at - 1];
        }
        few[at] = m;
        place[at] = (uint8_t)n;
    }
    l->how = JSON_PLACES;
    l->left = (uint8_t)n;
    for (uint32_t i = n; i > 0; i--) {
        l->places = l->places << 4 | place[i - 1];
    }
}

/* The child that is written after `v`, or the first one after NULL; NULL: none. */
static const il_json *json_level_next(json_level *l, const il_json *v) {
    if (l->how == JSON_SEARCH) {
        return il_json_member_above(l->v, v);
    }
    if (l->how == JSON_TEXT_ORDER) {
        return v == NULL ? l->v->first : v->next;
    }
    if (l->left == 0) {
        return NULL;
    }
    const il_json *m = l->v->first;
    for (uint32_t i = l->places & 15u; i > 0; i--) {
        m = m->next;
    }
    l->places >>= 4;
    l->left--;
    return m;
}

/* `v` has children; the first of them. */
static const il_json *json_level_open(json_level *l, const il_json *v, il_json_order order) {
    *l = (json_level){.v = v, .how = JSON_TEXT_ORDER};
    if (order == IL_JSON_SORTED && v->kind == IL_JSON_OBJECT) {
        json_level_sort(l);
    }
    return json_level_next(l, NULL);
}

static void json_put_key(il_buf *b, const il_json *parent, const il_json *v) {
    if (parent->kind == IL_JSON_OBJECT) {
        il_json_write_string(b, v->key);
        il_buf_putc(b, ':');
    }
}

void il_json_write(il_buf *b, const il_json *v, il_json_order order) {
    json_level path[IL_JSON_DEPTH_MAX];
    size_t depth = 0;
    bool children = json_put_value(b, v);
    while (!b->failed) {
        const il_json *next = NULL;
        if (children) {
            if (depth == IL_JSON_DEPTH_MAX) {
                il_buf_fail(b, IL_E_LIMIT);
                return;
            }
            next = json_level_open(&path[depth++], v, order);
        } else {
            if (depth == 0) {
                return;
            }
            next = json_level_next(&path[depth - 1], v);
            if (next == NULL) {
                v = path[--depth].v;
                il_buf_putc(b, v->kind == IL_JSON_OBJECT ? '}' : ']');
                continue;
            }
            il_buf_putc(b, ',');
        }
        json_put_key(b, path[depth - 1].v, next);
        children = json_put_value(b, next);
        v = next;
    }
}

static void json_hash(void *ctx, const char *p, size_t n) { il_sha256_add(ctx, p, n); }

il_status il_json_digest(const il_json *v, il_sha256_blocks blocks, uint8_t out[IL_DIGEST_BYTES], il_error *err) {
    char chunk[JSON_CHUNK];
    il_sha256 hash;
    il_buf b;
    il_sha256_init(&hash, blocks);
    il_buf_drain(&b, chunk, sizeof chunk, json_hash, &hash);
    il_json_write(&b, v, IL_JSON_SORTED);
    IL_TRY(il_buf_drained(&b, err));
    il_sha256_end(&hash, out);
    return IL_OK;
}
