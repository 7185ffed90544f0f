/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ip.h"

static int ip_hex(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* A decimal number up to `most` without leading zeros at text[*at]; -1 when there is none. */
static int ip_decimal(il_str text, size_t *at, int most) {
    const size_t from = *at;
    int v = 0;
    while (*at < text.n && text.p[*at] >= '0' && text.p[*at] <= '9') {
        v = v * 10 + (text.p[*at] - '0');
        (*at)++;
        if (v > most || (*at - from > 1 && text.p[from] == '0')) {
            return -1;
        }
    }
    return *at == from ? -1 : v;
}

bool il_ip4_parse(il_str text, uint8_t octets[4]) {
    size_t at = 0;
    for (size_t i = 0; i < 4; i++) {
        if (i > 0 && (at >= text.n || text.p[at++] != '.')) {
            return false;
        }
        const int v = ip_decimal(text, &at, 255);
        if (v < 0) {
            return false;
        }
        octets[i] = (uint8_t)v;
    }
    return at == text.n;
}

/* The last group is the one that `n` counts to; with `::` those after it move to the end. */
static bool ip6_spread(uint16_t g[8], size_t n, size_t gap) {
    if (gap > 8) {
        return n == 8;
    }
    if (n == 8) {
        return false; /* `::` stands for nothing */
    }
    const size_t tail = n - gap;
    for (size_t k = 0; k < tail; k++) {
        g[7 - k] = g[n - 1 - k];
    }
    for (size_t k = gap; k < 8 - tail; k++) {
        g[k] = 0;
    }
    return true;
}

static bool ip6_read(il_str s, bool dotted, uint16_t g[8]) {
    size_t n = 0, gap = SIZE_MAX, i = 0;
    if (il_str_starts(s, IL_STR("::"))) {
        gap = 0;
        i = 2;
    }
    while (i < s.n) {
        if (n == 8) {
            return false;
        }
        const size_t from = i;
        unsigned v = 0;
        while (i < s.n && i - from < 4 && ip_hex(s.p[i]) >= 0) {
            v = v * 16 + (unsigned)ip_hex(s.p[i++]);
        }
        uint8_t octets[4];
        if (dotted && i < s.n && s.p[i] == '.' && n <= 6 && il_ip4_parse(il_str_part(s, from, s.n), octets)) {
            g[n++] = (uint16_t)(octets[0] << 8 | octets[1]);
            g[n++] = (uint16_t)(octets[2] << 8 | octets[3]);
            break;
        }
        if (i == from || (i < s.n && s.p[i] != ':')) {
            return false;
        }
        g[n++] = (uint16_t)v;
        if (i == s.n) {
            break;
        }
        i++;
        if (i == s.n) {
            return false; /* a colon at the end, alone */
        }
        if (s.p[i] == ':') {
            if (gap != SIZE_MAX) {
                return false;
            }
            gap = n;
            i++;
        }
    }
    return ip6_spread(g, n, gap);
}

bool il_ip6_parse(il_str text, uint16_t groups[8]) { return ip6_read(text, false, groups); }

/* ::ffff:0:0/96 (RFC 4291 section 2.5.5.2) */
static bool ip6_mapped(const uint16_t g[8]) { return (g[0] | g[1] | g[2] | g[3] | g[4]) == 0 && g[5] == 0xffff; }

bool il_ip_parse(il_str text, il_ip *out) {
    *out = (il_ip){.family = 4};
    if (il_ip4_parse(text, out->bytes)) {
        return true;
    }
    uint16_t g[8];
    if (!ip6_read(text, true, g)) {
        return false;
    }
    const bool mapped = ip6_mapped(g);
    if (mapped && il_str_find(text, IL_STR("."), 0) != SIZE_MAX) {
        return false;
    }
    *out = (il_ip){.family = mapped ? 4 : 6};
    for (size_t i = mapped ? 6 : 0, k = 0; i < 8; i++) {
        out->bytes[k++] = (uint8_t)(g[i] >> 8);
        out->bytes[k++] = (uint8_t)(g[i] & 0xff);
    }
    return true;
}

static char *ip_put(char *to, unsigned v, unsigned base) {
    unsigned unit = 1;
    while (v / unit >= base) {
        unit *= base;
    }
    for (; unit > 0; unit /= base) {
        *to++ = "0123456789abcdef"[v / unit % base];
    }
    return to;
}

static char *ip6_put(char *to, const uint16_t g[8]) {
    size_t gap = 8, length = 1; /* the first longest run of zeros, if it has two or more */
    for (size_t i = 0; i < 8; i++) {
        size_t n = 0;
        while (i + n < 8 && g[i + n] == 0) {
            n++;
        }
        if (n > length) {
            gap = i;
            length = n;
        }
    }
    for (size_t i = 0; i < 8; i++) {
        if (i == gap) {
            *to++ = ':';
            *to++ = ':';
            i += length - 1;
            continue;
        }
        if (i > 0 && to[-1] != ':') {
            *to++ = ':';
        }
        to = ip_put(to, g[i], 16);
    }
    return to;
}

size_t il_ip_text(const il_ip *ip, char out[IL_IP_TEXT]) {
    char *to = out;
    if (ip->family == 4) {
        for (size_t i = 0; i < 4; i++) {
            if (i > 0) {
                *to++ = '.';
            }
            to = ip_put(to, ip->bytes[i], 10);
        }
    } else {
        uint16_t g[8];
        for (size_t i = 0; i < 8; i++) {
            g[i] = (uint16_t)(ip->bytes[2 * i] << 8 | ip->bytes[2 * i + 1]);
        }
        to = ip6_put(to, g);
    }
    return (size_t)(to - out);
}

bool il_ip_canonical(il_str text) {
    il_ip ip;
    char own[IL_IP_TEXT];
    if (!il_ip_parse(text, &ip)) {
        return false;
    }
    const size_t n = il_ip_text(&ip, own);
    return il_str_eq(text, (il_str){own, n});
}

static bool ip_same(const uint8_t *a, const uint8_t *b, unsigned bits) {
    const unsigned whole = bits / 8, rest = bits % 8;
    return memcmp(a, b, whole) == 0 && (rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

bool il_ip_eq(const il_ip *a, const il_ip *b) {
    return a->family == b->family && ip_same(a->bytes, b->bytes, a->family == 4 ? 32 : 128);
}

bool il_ip_unspecified(const il_ip *ip) {
    static const uint8_t zero[16] = {0};
    return ip_same(ip->bytes, zero, ip->family == 4 ? 32 : 128);
}

bool il_ip_loopback(const il_ip *ip) {
    static const uint8_t one[16] = {[15] = 1};
    return ip->family == 4 ? ip->bytes[0] == 127 : ip_same(ip->bytes, one, 128);
}

bool il_ip_multicast(const il_ip *ip) { return ip->family == 4 ? ip->bytes[0] >> 4 == 0xe : ip->bytes[0] == 0xff; }

bool il_ip_link_local_multicast(const il_ip *ip) {
    static const uint8_t local[3] = {224, 0, 0};
    return ip->family == 4 ? ip_same(ip->bytes, local, 24) : ip->bytes[0] == 0xff && (ip->bytes[1] & 0x0f) == 2;
}

bool il_ip_link_local_unicast(const il_ip *ip) {
    static const uint8_t local4[2] = {169, 254}, local6[2] = {0xfe, 0x80};
    return ip->family == 4 ? ip_same(ip->bytes, local4, 16) : ip_same(ip->bytes, local6, 10);
}

bool il_ip_global_unicast(const il_ip *ip) {
    static const uint8_t broadcast[4] = {255, 255, 255, 255};
    return !(ip->family == 4 && ip_same(ip->bytes, broadcast, 32)) && !il_ip_unspecified(ip) && !il_ip_loopback(ip) &&
           !il_ip_multicast(ip) && !il_ip_link_local_unicast(ip);
}

bool il_cidr_parse(il_str text, il_cidr *out) {
    *out = (il_cidr){0};
    const size_t slash = il_str_find(text, IL_STR("/"), 0);
    if (slash == SIZE_MAX) {
        return false;
    }
    const il_str address = il_str_part(text, 0, slash);
    il_ip ip;
    if (!il_ip_parse(address, &ip) || (ip.family == 4 && il_str_find(address, IL_STR(":"), 0) != SIZE_MAX)) {
        return false; /* of a mapped address the prefix could count from either end */
    }
    size_t at = slash + 1;
    const int prefix = ip_decimal(text, &at, ip.family == 4 ? 32 : 128);
    if (prefix < 0 || at != text.n) {
        return false;
    }
    *out = (il_cidr){ip, (uint8_t)prefix};
    return true;
}

size_t il_cidr_text(const il_cidr *c, char out[IL_CIDR_TEXT]) {
    char *to = out + il_ip_text(&c->ip, out);
    *to++ = '/';
    return (size_t)(ip_put(to, c->prefix, 10) - out);
}

il_cidr il_cidr_masked(const il_cidr *c) {
    il_cidr masked = *c;
    for (unsigned i = 0; i < sizeof masked.ip.bytes; i++) {
        const unsigned keep = c->prefix >= 8 * (i + 1) ? 8 : c->prefix > 8 * i ? c->prefix - 8 * i : 0;
        masked.ip.bytes[i] &= (uint8_t)(0xff00u >> keep);
    }
    return masked;
}

bool il_cidr_contains(const il_cidr *c, const il_ip *ip) {
    return c->ip.family == ip->family && ip_same(c->ip.bytes, ip->bytes, c->prefix);
}

bool il_cidr_contains_cidr(const il_cidr *outer, const il_cidr *inner) {
    return outer->prefix <= inner->prefix && il_cidr_contains(outer, &inner->ip);
}
