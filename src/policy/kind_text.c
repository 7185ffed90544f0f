/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/kind_part.h"

typedef struct il_text_range {
    uint32_t from, to;
} il_text_range;

/* What a reader cannot see or what reorders what he sees: format characters (Cf), fillers, variation selectors, line and paragraph
 * separators, tags, noncharacters' neighbourhood. Unicode 15. */
static const il_text_range il_text_hidden[] = {
    {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x0600, 0x0605},   {0x061c, 0x061c},   {0x06dd, 0x06dd},
    {0x070f, 0x070f},   {0x0890, 0x0891},   {0x08e2, 0x08e2},   {0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0x110bd, 0x110bd},
    {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static uint32_t il_text_point(const unsigned char *p, size_t n) {
    switch (n) {
    case 1:
        return p[0];
    case 2:
        return ((uint32_t)(p[0] & 0x1fu) << 6) | (p[1] & 0x3fu);
    case 3:
        return ((uint32_t)(p[0] & 0x0fu) << 12) | ((uint32_t)(p[1] & 0x3fu) << 6) | (p[2] & 0x3fu);
    default:
        return ((uint32_t)(p[0] & 0x07u) << 18) | ((uint32_t)(p[1] & 0x3fu) << 12) | ((uint32_t)(p[2] & 0x3fu) << 6) |
               (p[3] & 0x3fu);
    }
}

bool il_text_visible(il_str text) {
    const unsigned char *p = (const unsigned char *)text.p;
    for (size_t i = 0; i < text.n;) {
        size_t n = il_utf8_length(p + i, text.n - i);
        if (n == 0) {
            return false;
        }
        uint32_t c = il_text_point(p + i, n);
        if (c < 0x20 || (c >= 0x7f && c <= 0x9f)) {
            return false;
        }
        for (size_t r = 0; r < sizeof il_text_hidden / sizeof il_text_hidden[0]; r++) {
            if (c >= il_text_hidden[r].from && c <= il_text_hidden[r].to) {
                return false;
            }
        }
        i += n;
    }
    return true;
}
