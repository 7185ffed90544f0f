/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts. The traps that this refuses: an address written so that a resolver reads it and a pattern does not (decimal, octal, hex, short
 * and v6-mapped forms), names outside ASCII, userinfo, percent signs, empty labels. Punycode is a name like another: it equals itself only. */
#include "base/ip.h"
#include "policy/kind_part.h"

static il_status il_host_refuse(il_error *err, const char *why) { return il_error_set(err, IL_E_INVALID, "not a host: %s", why); }

static bool il_host_label_char(char c) { return il_ascii_alnum(c) || c == '-' || c == '_'; }

/* Would inet_aton or a browser read this label as a number? */
static bool il_host_numeric_label(il_str label) {
    bool digits = label.n > 0;
    for (size_t i = 0; i < label.n; i++) {
        digits = digits && il_ascii_digit(label.p[i]);
    }
    if (digits) {
        return true;
    }
    if (label.n < 2 || label.p[0] != '0' || il_ascii_lower(label.p[1]) != 'x') {
        return false;
    }
    for (size_t i = 2; i < label.n; i++) {
        if (il_ascii_hex(label.p[i]) < 0) {
            return false;
        }
    }
    return true;
}

static il_status il_host_name(il_str text, il_arena *arena, il_host_part *out, il_error *err) {
    if (text.n > 0 && text.p[text.n - 1] == '.') {
        text.n--;
    }
    if (text.n == 0) {
        return il_host_refuse(err, "it is empty");
    }
    if (text.n > IL_HOST_BYTES_MAX) {
        return il_host_refuse(err, "it is too long");
    }
    size_t label = 0;
    for (size_t i = 0; i <= text.n; i++) {
        if (i < text.n && text.p[i] != '.') {
            if (!il_host_label_char(text.p[i])) {
                return il_host_refuse(err, "a name has letters, digits, `-`, `_` and dots only");
            }
            continue;
        }
        if (i == label || i - label > 63) {
            return il_host_refuse(err, "a label is empty or too long");
        }
        if (text.p[label] == '-' || text.p[i - 1] == '-') {
            return il_host_refuse(err, "a label begins or ends with `-`");
        }
        if (i < text.n) {
            label = i + 1;
        }
    }
    out->literal = il_host_numeric_label(il_str_part(text, label, text.n));
    uint8_t octets[4];
    if (out->literal && !il_ip4_parse(text, octets)) {
        return il_host_refuse(err, "an address has four decimal numbers without leading zeros");
    }
    char *p = il_arena_bytes(arena, text.n);
    if (p == NULL) {
        return il_arena_fail(arena, err);
    }
    for (size_t i = 0; i < text.n; i++) {
        p[i] = il_ascii_lower(text.p[i]);
    }
    out->host = (il_str){p, text.n};
    return IL_OK;
}

static il_status il_host_literal6(il_str inside, il_arena *arena, il_host_part *out, il_error *err) {
    uint16_t g[8] = {0};
    if (!il_ip6_parse(inside, g)) {
        return il_host_refuse(err, "not an IPv6 address");
    }
    bool zero5 = g[0] == 0 && g[1] == 0 && g[2] == 0 && g[3] == 0 && g[4] == 0;
    bool v4 = zero5 && (g[5] == 0xffff || (g[5] == 0 && (g[6] != 0 || g[7] > 1)));
    if (v4 || (g[0] == 0x64 && g[1] == 0xff9b)) {
        return il_host_refuse(err, "an IPv4 address inside an IPv6 one is not accepted; write the IPv4 address");
    }
    char *p = il_arena_bytes(arena, 48);
    if (p == NULL) {
        return il_arena_fail(arena, err);
    }
    /* all eight groups, so that one address has one text */
    size_t n = il_format(p, 48, "[%x:%x:%x:%x:%x:%x:%x:%x]", (unsigned)g[0], (unsigned)g[1], (unsigned)g[2], (unsigned)g[3],
                         (unsigned)g[4], (unsigned)g[5], (unsigned)g[6], (unsigned)g[7]);
    out->host = (il_str){p, n};
    out->literal = true;
    return IL_OK;
}

static il_status il_host_port(il_str port, il_arena *arena, il_host_part *out, il_error *err) {
    unsigned v = 0;
    if (port.n == 0 || port.n > 5 || port.p[0] == '0') {
        return il_host_refuse(err, "the port is not a number from 1 to 65535");
    }
    for (size_t i = 0; i < port.n; i++) {
        if (!il_ascii_digit(port.p[i])) {
            return il_host_refuse(err, "the port is not a number from 1 to 65535");
        }
        v = v * 10 + (unsigned)(port.p[i] - '0');
    }
    if (v > 65535) {
        return il_host_refuse(err, "the port is not a number from 1 to 65535");
    }
    return il_arena_copy(arena, port, &out->port, err);
}

il_status il_host_part_read(il_str text, il_arena *arena, il_host_part *out, il_error *err) {
    *out = (il_host_part){0};
    if (text.n == 0 || text.n > IL_HOST_BYTES_MAX + 8) {
        return il_host_refuse(err, text.n == 0 ? "it is empty" : "it is too long");
    }
    if (text.p[0] == '[') {
        size_t end = il_str_find(text, IL_STR("]"), 1);
        if (end == SIZE_MAX) {
            return il_host_refuse(err, "`]` is missing");
        }
        IL_TRY(il_host_literal6(il_str_part(text, 1, end), arena, out, err));
        if (end + 1 == text.n) {
            return IL_OK;
        }
        if (text.p[end + 1] != ':') {
            return il_host_refuse(err, "after `]` comes `:` and a port");
        }
        return il_host_port(il_str_part(text, end + 2, text.n), arena, out, err);
    }
    size_t colon = il_str_find(text, IL_STR(":"), 0);
    IL_TRY(il_host_name(il_str_part(text, 0, colon), arena, out, err));
    if (colon == SIZE_MAX) {
        return IL_OK;
    }
    return il_host_port(il_str_part(text, colon + 1, text.n), arena, out, err);
}
