/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/place.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "interlock/effect.h"
#include "provenance/normal.h"

#define IL_PLACE_LAYOUT 1 /* `ILP`, the layout, own, below */

/* How many bytes name somebody's home: of `~/a` 1, of `~ana/a` 4, of `/home/ana/a` 9, of `/root/a` 5; 0: none. All homes are one place, since who runs a tool is not known
 * here, and more labels are the safe side. */
static size_t il_place_home(il_str kind, il_str value) {
    static const char *const above[] = {"/home/", "/users/", "/var/home/"};
    const size_t first = il_str_find(value, IL_STR("/"), 0);
    size_t n = value.n > 0 && value.p[0] == '~'                                              ? first < value.n ? first : value.n
               : value.n >= 5 && il_str_eq_nocase(il_str_part(value, 0, 5), IL_STR("/root")) ? 5
                                                                                             : 0;
    for (size_t i = 0; i < sizeof above / sizeof above[0]; i++) {
        const il_str front = il_str_of(above[i]);
        if (value.n > front.n && il_str_eq_nocase(il_str_part(value, 0, front.n), front)) {
            const size_t end = il_str_find(value, IL_STR("/"), front.n);
            n = end != SIZE_MAX ? end : value.n;
        }
    }
    const bool whole = n == value.n || (n > 0 && value.p[n] == '/');
    return whole && il_str_eq(kind, IL_STR("path")) ? n : 0;
}

/* One file, however its letters are written: of some file systems neither case nor the way in which an accent is composed (NFC, NFD) makes another name, and more labels are the safe side. */
static void il_place_fold(il_sha256 *h, il_str value) {
    for (size_t at = 0; at < value.n;) {
        uint8_t own[12];
        const uint8_t *p = (const uint8_t *)value.p + at, *as = own;
        const size_t length = *p < 0x80 ? 1 : il_utf8_length(p, value.n - at);
        size_t n = 1;
        bool space;
        if (length > 1) {
            as = il_normal_point(il_utf8_point(p, length), own, &n, &space);
        } else {
            own[0] = *p >= 'A' && *p <= 'Z' ? (uint8_t)(*p - 'A' + 'a') : *p;
        }
        il_sha256_add(h, as, n);
        at += length > 0 ? length : 1;
    }
}

il_status il_place_key(il_sha256_blocks blocks, il_str kind, il_str value, char key[IL_DIGEST_HEX], il_error *err) {
    uint8_t digest[IL_DIGEST_BYTES], n = (uint8_t)kind.n;
    il_sha256 h;
    IL_CHECK(kind.n <= UINT8_MAX, err);
    il_sha256_init(&h, blocks);
    il_sha256_add(&h, &n, 1);
    il_sha256_add(&h, kind.p, kind.n);
    const size_t home = il_place_home(kind, value);
    il_sha256_add(&h, "~", home > 0 ? 1 : 0);
    value = il_str_part(value, home, value.n);
    if (il_str_eq(kind, IL_STR("path"))) {
        il_place_fold(&h, value);
    } else {
        il_sha256_add(&h, value.p, value.n);
    }
    il_sha256_end(&h, digest);
    il_digest_hex(digest, key);
    return IL_OK;
}

static const char *const il_place_tops[] = {"/var/home", "/var", "/home", "/users", "/"};

bool il_place_up(il_place_walk *w) {
    il_str *value = &w->value;
    if (w->above > 0 || il_place_home(w->kind, *value) == value->n) {
        if (value->n == 0 || w->above == sizeof il_place_tops / sizeof il_place_tops[0]) {
            return false;
        }
        *value = il_str_of(il_place_tops[w->above++]);
        return true;
    }
    size_t n = value->n;
    while (n > 1 && value->p[n - 1] != '/') {
        n--;
    }
    if (value->n <= 1 || (n == 1 && value->p[0] != '/')) {
        return false;
    }
    value->n = n > 1 ? n - 1 : 1;
    return true;
}

il_status il_place_labels(il_str bytes, uint8_t *own, uint8_t *below, il_error *err) {
    const uint8_t *p = (const uint8_t *)bytes.p;
    if (bytes.n < 4 || !il_str_eq(il_str_part(bytes, 0, 3), IL_STR("ILP"))) {
        return il_error_set(err, IL_E_DAMAGED, "stored bytes are no labels of a place");
    }
    if (p[3] > IL_PLACE_LAYOUT) {
        return il_error_set(err, IL_E_VERSION, "labels of a place of layout %u; this build reads %u", (unsigned)p[3],
                            IL_PLACE_LAYOUT);
    }
    if (bytes.n != IL_PLACE_BYTES || p[3] != IL_PLACE_LAYOUT || ((p[4] | p[5]) & ~IL_TAINTS) != 0 || (p[4] | p[5]) == 0) {
        return il_error_set(err, IL_E_DAMAGED, "stored bytes are damaged labels of a place");
    }
    *own = p[4];
    *below = p[5];
    return IL_OK;
}

void il_place_write(uint8_t own, uint8_t below, char bytes[IL_PLACE_BYTES]) {
    memcpy(bytes, "ILP", 3);
    bytes[3] = IL_PLACE_LAYOUT;
    bytes[4] = (char)own;
    bytes[5] = (char)below;
}
