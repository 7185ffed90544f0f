/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hidden.h"

typedef struct il_hidden_range {
    uint32_t from, to;
} il_hidden_range;

static const il_hidden_range il_hidden_ranges[] = {
    {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x0600, 0x0605},   {0x061c, 0x061c},   {0x06dd, 0x06dd},
    {0x070f, 0x070f},   {0x0890, 0x0891},   {0x08e2, 0x08e2},   {0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0x110bd, 0x110bd},
    {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

uint32_t il_utf8_point(const unsigned char *p, size_t n) {
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

bool il_point_hidden(uint32_t c) {
    for (size_t i = 0; i < sizeof il_hidden_ranges / sizeof *il_hidden_ranges; i++) {
        if (c >= il_hidden_ranges[i].from && c <= il_hidden_ranges[i].to) {
            return true;
        }
    }
    return false;
}
