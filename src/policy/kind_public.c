/* SPDX-License-Identifier: Apache-2.0 */
/* What is public under another spelling. A name of ours is private unless it is listed as public, so an alias that the server understands and
 * the list does not would carry private data to a public place: here servers are taken at their most generous. */
#include "policy/kind.h"
#include "policy/kind_part.h"

#define IL_PUBLIC_ROUNDS 4 /* of percent-decoding */

typedef struct il_public_text {
    char p[IL_KIND_BYTES_MAX + 32];
    size_t n;
} il_public_text;

/* One round of percent-decoding in place; false when there was nothing to decode. */
static bool il_public_decode(il_public_text *t) {
    size_t to = 0;
    bool changed = false;
    for (size_t i = 0; i < t->n; i++) {
        char c = t->p[i];
        if (c == '%' && t->n - i > 2 && il_ascii_hex(t->p[i + 1]) >= 0 && il_ascii_hex(t->p[i + 2]) >= 0) {
            c = (char)(il_ascii_hex(t->p[i + 1]) * 16 + il_ascii_hex(t->p[i + 2]));
            i += 2;
            changed = true;
        }
        t->p[to++] = c;
    }
    t->n = to;
    return changed;
}

/* Lower case, one slash between segments and none at the end, no `;parameters`. */
static void il_public_segments(il_public_text *t) {
    size_t to = 0;
    bool skip = false;
    for (size_t i = 0; i < t->n; i++) {
        char c = il_ascii_lower(t->p[i]);
        skip = c == ';' || (skip && c != '/');
        if (!skip && !(c == '/' && to > 0 && t->p[to - 1] == '/')) {
            t->p[to++] = c;
        }
    }
    while (to > 0 && t->p[to - 1] == '/') {
        to--;
    }
    t->n = to;
}

/* False when it is too long to be folded. */
static bool il_public_fold(il_kind kind, il_str text, il_public_text *t) {
    size_t from = 0, end = text.n;
    t->n = 0;
    if (kind == IL_KIND_URL) {
        il_str host = il_kind_host(kind, text);
        size_t port = host.p != NULL ? il_kind_port_at(host) : 0;
        from = host.p != NULL ? (size_t)(host.p - text.p) + host.n : 0;
        for (size_t i = from; i < end; i++) {
            end = text.p[i] == '?' || text.p[i] == '#' ? i : end;
        }
        if (port > sizeof t->p) {
            return false;
        }
        if (port > 0) {
            memcpy(t->p, host.p, port);
        }
        t->n = port;
    }
    if (end < from || end - from > sizeof t->p - t->n) {
        return false;
    }
    memcpy(t->p + t->n, text.p + from, end - from);
    t->n += end - from;
    for (int i = 0; kind == IL_KIND_URL && i < IL_PUBLIC_ROUNDS && il_public_decode(t); i++) {
    }
    if (kind == IL_KIND_EMAIL) {
        size_t at = il_str_find(text, IL_STR("@"), 0), tag = il_str_find(text, IL_STR("+"), 0);
        if (tag != SIZE_MAX && at != SIZE_MAX && tag < at) {
            memmove(t->p + tag, t->p + at, t->n - at);
            t->n -= at - tag;
        }
        return true;
    }
    il_public_segments(t);
    return true;
}

bool il_kind_public(const il_kind_pattern *pattern, il_kind kind, il_str canonical) {
    if (pattern->kind == IL_KIND_HOST && (kind == IL_KIND_HOST || kind == IL_KIND_URL)) {
        il_kind_pattern any = *pattern;
        any.text.n = il_kind_port_at(any.text);
        any.shape |= IL_SHAPE_ANY_PORT;
        return il_kind_matches(&any, il_kind_host(kind, canonical));
    }
    if (pattern->kind != kind) {
        return false;
    }
    bool segments = kind == IL_KIND_URL || kind == IL_KIND_PATH || kind == IL_KIND_REPO;
    if (!segments && !(kind == IL_KIND_EMAIL && pattern->shape == 0)) {
        return il_kind_matches(pattern, canonical);
    }
    il_public_text listed, value;
    if (!il_public_fold(kind, pattern->text, &listed) || !il_public_fold(kind, canonical, &value)) {
        return true;
    }
    il_str prefix = {listed.p, listed.n}, text = {value.p, value.n};
    bool below = kind == IL_KIND_REPO || (pattern->shape & IL_SHAPE_PREFIX) != 0;
    return il_str_eq(prefix, text) || (below && il_str_starts(text, prefix) && text.p[prefix.n] == '/');
}
