/* SPDX-License-Identifier: Apache-2.0 */
/* URLs: absolute, http(s) or ws(s), without user information. What the many URL parsers in the world read differently is refused, so that
 * the host that is judged is the host that is asked. */
#include "base/buf.h"
#include "policy/kind_part.h"

static il_status il_url_refuse(il_error *err, const char *why) { return il_error_set(err, IL_E_INVALID, "not a url: %s", why); }

#define IL_URL_ROUNDS 4 /* of percent-decoding that a careless server could do */

/* Decodes %XX once, in place of a copy; false for a `%` without two digits. */
static bool il_url_unescape(char *p, size_t *n, bool *changed) {
    size_t to = 0;
    *changed = false;
    for (size_t i = 0; i < *n; i++) {
        if (p[i] == '%') {
            if (*n - i < 3 || il_ascii_hex(p[i + 1]) < 0 || il_ascii_hex(p[i + 2]) < 0) {
                return false;
            }
            p[to++] = (char)(il_ascii_hex(p[i + 1]) * 16 + il_ascii_hex(p[i + 2]));
            i += 2;
            *changed = true;
        } else {
            p[to++] = p[i];
        }
    }
    *n = to;
    return true;
}

/* `.`, `..`, and either with path parameters (`..;x`). */
static bool il_url_dots(il_str segment) {
    size_t n = 0;
    while (n < segment.n && segment.p[n] != ';') {
        n++;
    }
    return n > 0 && n <= 2 && segment.p[0] == '.' && segment.p[n - 1] == '.';
}

/* A path that some server could walk out of: dot segments, backslashes or controls, at any round of decoding. */
static il_status il_url_path_check(il_str path, il_arena *arena, il_error *err) {
    char *p = il_arena_bytes(arena, path.n);
    if (p == NULL) {
        return il_arena_fail(arena, err);
    }
    memcpy(p, path.p, path.n);
    size_t n = path.n;
    for (int round = 0; round <= IL_URL_ROUNDS; round++) {
        size_t from = 0;
        for (size_t i = 0; i <= n; i++) {
            if (i < n && ((unsigned char)p[i] < 0x20 || p[i] == 0x7f || p[i] == '\\')) {
                return il_url_refuse(err, "its path hides a control character or a backslash");
            }
            if (i == n || p[i] == '/') {
                if (il_url_dots((il_str){p + from, i - from})) {
                    return il_url_refuse(err, "its path has a `.` or `..` segment");
                }
                from = i + 1;
            }
        }
        bool changed = false;
        if (!il_url_unescape(p, &n, &changed)) {
            if (round > 0) {
                return IL_OK; /* what is left is text with a percent sign */
            }
            return il_url_refuse(err, "a `%` is not followed by two hexadecimal digits");
        }
        if (!changed) {
            return IL_OK;
        }
    }
    return il_url_refuse(err, "its path is escaped too many times");
}

static il_status il_url_scheme(il_str text, size_t *after, il_str *scheme, il_str *port, il_error *err) {
    static const struct { const char *name, *port; } known[] = {{"https", "443"}, {"http", "80"}, {"wss", "443"}, {"ws", "80"}};
    size_t colon = il_str_find(text, IL_STR("://"), 0);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (colon != SIZE_MAX && il_str_eq_nocase(il_str_part(text, 0, colon), il_str_of(known[i].name))) {
            *scheme = il_str_of(known[i].name);
            *port = il_str_of(known[i].port);
            *after = colon + 3;
            return IL_OK;
        }
    }
    return il_url_refuse(err, "it does not begin with https://, http://, wss:// or ws://");
}

il_status il_url_read(il_str text, il_arena *arena, il_str *canonical, il_error *err) {
    size_t at = 0;
    il_str scheme, port;
    if (text.n == 0 || text.n > IL_KIND_BYTES_MAX) {
        return il_url_refuse(err, text.n == 0 ? "it is empty" : "it is too long");
    }
    IL_TRY(il_url_scheme(text, &at, &scheme, &port, err));
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c <= 0x20 || c == 0x7f || c == '\\' || c == '"' || c == '<' || c == '>' || c == '`') {
            return il_url_refuse(err, "it has a character that must be escaped");
        }
    }
    if (!il_text_visible(text)) {
        return il_url_refuse(err, "it has invisible characters");
    }
    size_t end = at;
    while (end < text.n && text.p[end] != '/' && text.p[end] != '?' && text.p[end] != '#') {
        if (text.p[end] == '@') {
            return il_url_refuse(err, "user information before `@` is not accepted");
        }
        end++;
    }
    il_host_part host;
    IL_TRY(il_host_part_read(il_str_part(text, at, end), arena, &host, err));
    size_t path_end = end;
    while (path_end < text.n && text.p[path_end] != '?' && text.p[path_end] != '#') {
        path_end++;
    }
    IL_TRY(il_url_path_check(il_str_part(text, end, path_end), arena, err));

    il_buf b;
    il_buf_init(&b, arena, IL_KIND_BYTES_MAX + 16);
    il_buf_put(&b, scheme);
    il_buf_puts(&b, "://");
    il_buf_put(&b, host.host);
    if (host.port.n > 0 && !il_str_eq(host.port, port)) {
        il_buf_putc(&b, ':');
        il_buf_put(&b, host.port);
    }
    if (end == path_end) {
        il_buf_putc(&b, '/');
    }
    il_buf_put(&b, il_str_part(text, end, text.n));
    return il_buf_done(&b, canonical, err);
}
