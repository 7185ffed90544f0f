/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of code points that have a name: general categories, scripts, POSIX classes. */
#include "cel/regex_part.h"

uint32_t il_regex_varint(const uint8_t *p, size_t *at) {
    uint32_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t b = p[(*at)++];
        v |= (uint32_t)(b & 0x7fu) << shift;
        if (b < 0x80) {
            return v;
        }
    }
}

/* The next run of the table of categories, from `at`: its length; its category as a number. */
static uint32_t property_category_run(size_t *at, unsigned *category) {
    const uint8_t b = il_regex_categories[(*at)++];
    *category = b & 0x1fu;
    return b >= 0x20 ? (uint32_t)(b >> 5) : il_regex_varint(il_regex_categories, at);
}

const char *il_regex_category_of(uint32_t point) {
    unsigned category = 0;
    uint32_t end = 0;
    for (size_t at = 0; at < il_regex_categories_n && end <= point;) {
        end += property_category_run(&at, &category);
    }
    return il_regex_category_names + 2 * (size_t)category;
}

/* Bits of the categories that `name` means; 0: none. */
static uint32_t property_categories(il_str name) {
    uint32_t mask = 0;
    for (size_t k = 1; il_regex_category_names[2 * k] != '\0'; k++) {
        const char *known = il_regex_category_names + 2 * k;
        if (name.n >= 1 && name.n <= 2 && name.p[0] == known[0] && (name.n == 1 || name.p[1] == known[1])) {
            mask |= 1u << k;
        }
    }
    return mask;
}

/* The script's number, from 1; 0: there is none of that name. */
static unsigned property_script(il_str name) {
    unsigned number = 1;
    for (const char *p = il_regex_script_names; *p != '\0'; number++) {
        size_t n = 0;
        while (p[n] != ' ') {
            n++;
        }
        if (il_str_eq(name, (il_str){p, n})) {
            return number;
        }
        p += n + 1;
    }
    return 0;
}

bool il_regex_property(il_arena *tmp, il_str name, il_regex_class *c, bool *memory) {
    const uint32_t categories = property_categories(name);
    const unsigned script = property_script(name);
    uint32_t from = 0;
    *memory = false;
    if (il_str_eq(name, IL_STR("Any"))) {
        *memory = !il_regex_class_add(tmp, c, 0, IL_REGEX_LAST_POINT);
        return !*memory;
    }
    if (categories == 0 && script == 0) {
        return false;
    }
    for (size_t at = 0; !*memory && at < (categories != 0 ? il_regex_categories_n : il_regex_scripts_n);) {
        unsigned value = 0;
        bool member;
        uint32_t n;
        if (categories != 0) {
            n = property_category_run(&at, &value);
            member = (categories >> value & 1u) != 0;
        } else {
            n = il_regex_varint(il_regex_scripts, &at);
            member = il_regex_scripts[at++] == script;
        }
        *memory = member && !il_regex_class_add(tmp, c, from, from + n - 1);
        from += n;
    }
    return !*memory;
}

bool il_regex_posix(il_arena *tmp, il_str name, il_regex_class *c, bool *memory) {
    static const struct {
        char name[8];
        uint8_t ranges[8]; /* pairs */
        uint8_t n;         /* of them */
    } classes[] = {
        {"alnum", {'0', '9', 'A', 'Z', 'a', 'z'}, 3},
        {"alpha", {'A', 'Z', 'a', 'z'}, 2},
        {"ascii", {0, 0x7f}, 1},
        {"blank", {'\t', '\t', ' ', ' '}, 2},
        {"cntrl", {0, 0x1f, 0x7f, 0x7f}, 2},
        {"digit", {'0', '9'}, 1},
        {"graph", {'!', '~'}, 1},
        {"lower", {'a', 'z'}, 1},
        {"print", {' ', '~'}, 1},
        {"punct", {'!', '/', ':', '@', '[', '`', '{', '~'}, 4},
        {"space", {'\t', '\r', ' ', ' '}, 2},
        {"upper", {'A', 'Z'}, 1},
        {"word", {'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}, 4},
        {"xdigit", {'0', '9', 'A', 'F', 'a', 'f'}, 3},
        /* and those that only an escape names */
        {"\\d", {'0', '9'}, 1},
        {"\\s", {'\t', '\n', '\f', '\r', ' ', ' '}, 3},
        {"\\w", {'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}, 4},
    };
    *memory = false;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (il_str_eq(name, il_str_of(classes[i].name))) {
            for (size_t k = 0; k < classes[i].n && !*memory; k++) {
                *memory = !il_regex_class_add(tmp, c, classes[i].ranges[2 * k], classes[i].ranges[2 * k + 1]);
            }
            return !*memory;
        }
    }
    return false;
}
