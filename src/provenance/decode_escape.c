/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hidden.h"
#include "base/utf8.h"
#include "provenance/decode_part.h"

static int escape_digit(uint8_t c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* `digits` hexadecimal digits; false when there are fewer. */
static bool escape_hex(const uint8_t *p, size_t n, size_t digits, uint32_t *out) {
    if (n < digits) {
        return false;
    }
    *out = 0;
    for (size_t i = 0; i < digits; i++) {
        const int d = escape_digit(p[i]);
        if (d < 0) {
            return false;
        }
        *out = *out << 4 | (uint32_t)d;
    }
    return true;
}

static size_t escape_point(uint32_t point, uint8_t out[4], size_t *out_n, size_t took) {
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
        return 0;
    }
    *out_n = il_utf8_put(point, (char *)out);
    return took;
}

/* `\uXXXX`, of which two may be one character. */
static size_t escape_u(const uint8_t *p, size_t n, uint8_t out[4], size_t *out_n) {
    uint32_t high, low;
    if (!escape_hex(p + 2, n - 2, 4, &high)) {
        return 0;
    }
    if (high >= 0xd800 && high <= 0xdbff && n >= 12 && p[6] == '\\' && p[7] == 'u' && escape_hex(p + 8, n - 8, 4, &low) &&
        low >= 0xdc00 && low <= 0xdfff) {
        return escape_point(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00), out, out_n, 12);
    }
    return escape_point(high, out, out_n, 6);
}

/* The escapes of JSON and of the languages like it. */
static size_t escape_backslash(const uint8_t *p, size_t n, uint8_t out[4], size_t *out_n) {
    uint32_t value;
    if (n < 2) {
        return 0;
    }
    *out_n = 1;
    switch (p[1]) {
    case '"':
    case '\'':
    case '\\':
    case '/':
        out[0] = p[1];
        return 2;
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        out[0] = '\n';
        return 2;
    case 'u':
        return escape_u(p, n, out, out_n);
    case 'x':
        if (!escape_hex(p + 2, n - 2, 2, &value)) {
            return 0;
        }
        out[0] = (uint8_t)value;
        return 4;
    default:
        return 0;
    }
}

static int entity_order(const il_entity *e, const uint8_t *name, size_t n) {
    for (size_t i = 0; i < sizeof e->name; i++) {
        const int have = (unsigned char)e->name[i], want = i < n ? name[i] : 0;
        if (have != want || have == 0) {
            return have - want;
        }
    }
    return n > sizeof e->name ? -1 : 0;
}

static size_t escape_named(const uint8_t *p, size_t n, uint8_t out[4], size_t *out_n) {
    size_t end = 1, from = 0, to = il_nentities;
    while (end < n && end <= sizeof il_entities->name + 1 && p[end] != ';') {
        const uint8_t c = p[end];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) {
            return 0;
        }
        end++;
    }
    if (end >= n || p[end] != ';') {
        return 0;
    }
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        const int order = entity_order(&il_entities[middle], p + 1, end - 1);
        if (order == 0) {
            return escape_point(il_entities[middle].point, out, out_n, end + 1);
        }
        if (order < 0) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return 0;
}

/* `&name;`, `&#123;`, `&#x7b;`; a number's `;` may be missing, as browsers let it, but not where an escape goes on with the number. */
static size_t escape_entity(const uint8_t *p, size_t n, uint8_t out[4], size_t *out_n) {
    if (n < 3 || p[1] != '#') {
        return escape_named(p, n, out, out_n);
    }
    const bool hex = p[2] == 'x' || p[2] == 'X';
    size_t i = hex ? 3 : 2;
    const size_t first = i;
    uint32_t value = 0;
    while (i < n && i < first + 8) {
        const int d = escape_digit(p[i]);
        if (d < 0 || (!hex && d > 9)) {
            break;
        }
        value = value * (hex ? 16 : 10) + (uint32_t)d;
        i++;
    }
    if (i == first || (i < n && (p[i] == '\\' || p[i] == '%'))) {
        return 0;
    }
    return escape_point(value, out, out_n, i < n && p[i] == ';' ? i + 1 : i);
}

/* What nobody sees, and what looks like ASCII: as they stand inside of base64, hex and escapes. */
static size_t escape_wide(const uint8_t *p, size_t n, uint8_t out[4], size_t *out_n) {
    const size_t length = il_utf8_length(p, n);
    if (length < 2) {
        return 0;
    }
    const uint32_t point = il_utf8_point(p, length);
    if (il_point_hidden(point)) {
        *out_n = 0;
        return length;
    }
    if ((point >= 0xff01 && point <= 0xff5e) || (point >= 0x1d400 && point <= 0x1d7ff)) {
        /* its letter case counts: not as il_normal_point */
        out[0] = (uint8_t)(point - 0xff01 + 0x21);
        *out_n = 1;
        if (point >= 0x1d7ce) {
            out[0] = (uint8_t)('0' + (point - 0x1d7ce) % 10);
        } else if (point >= 0x1d6a4) { /* Greek */
            return 0;
        } else if (point >= 0x1d400) {
            const uint32_t letter = (point - 0x1d400) % 52;
            out[0] = (uint8_t)(letter < 26 ? 'A' + letter : 'a' + letter - 26);
        }
        return length;
    }
    return 0;
}

size_t il_escape_at(const uint8_t *p, size_t n, uint8_t out[4], size_t *out_n) {
    uint32_t value;
    switch (p[0]) {
    case '%':
        if (!escape_hex(p + 1, n - 1, 2, &value)) {
            return 0;
        }
        out[0] = (uint8_t)value;
        *out_n = 1;
        return 3;
    case '\\':
        return escape_backslash(p, n, out, out_n);
    case '&':
        return escape_entity(p, n, out, out_n);
    default:
        return escape_wide(p, n, out, out_n);
    }
}
