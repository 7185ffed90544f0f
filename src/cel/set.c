/* SPDX-License-Identifier: Apache-2.0 */
/* Constant lists that `in` asks. The strings that are hashed are the policy's own: what is looked up can at worst walk one run
 * of them. */
#include "base/sort.h"
#include "cel/code.h"
#include "cel/value_compare.h"

#define SET_LEAST 3u /* below, comparing with each is as fast */

static bool set_all(const il_cel_value *list, il_cel_kind kind) {
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->u.items[i].kind != kind) {
            return false;
        }
    }
    return true;
}

bool il_cel_set_worth(const il_cel_value *list) {
    return list->kind == IL_CEL_LIST && !list->json && list->n >= SET_LEAST && list->n < UINT32_MAX / 8 &&
           (set_all(list, IL_CEL_STRING) || set_all(list, IL_CEL_INT));
}

/* Of the length and of the first, middle and last eight bytes. */
static uint32_t set_hash(il_str s) {
    uint64_t h = s.n * UINT64_C(0x9e3779b97f4a7c15);
    if (s.n >= 8) {
        h ^= il_cel_load8(s.p) * UINT64_C(0xff51afd7ed558ccd);
        h = (h ^ h >> 29) + il_cel_load8(s.p + (s.n - 8) / 2) * UINT64_C(0xc2b2ae3d27d4eb4f);
        h = (h ^ h >> 31) + il_cel_load8(s.p + s.n - 8);
    } else {
        uint64_t v = 0;
        for (size_t i = 0; i < s.n; i++) {
            v = v << 8 | (unsigned char)s.p[i];
        }
        h ^= v * UINT64_C(0xff51afd7ed558ccd);
    }
    h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32);
}

static bool set_before(const void *a, const void *b) { return ((const il_cel_value *)a)->u.i < ((const il_cel_value *)b)->u.i; }

il_status il_cel_set_make(il_arena *arena, il_cel_value list, il_cel_set *out, il_error *err) {
    *out = (il_cel_set){.list = list, .n = list.n};
    if (list.u.items[0].kind == IL_CEL_INT) {
        il_cel_value *ints = IL_NEW_ARRAY(arena, il_cel_value, list.n);
        if (ints == NULL) {
            return il_cel_no_memory(arena, err);
        }
        memcpy(ints, list.u.items, list.n * sizeof *ints);
        il_sort(ints, list.n, sizeof *ints, set_before);
        out->ints = ints;
        return IL_OK;
    }
    uint32_t size = 4;
    while (size < 2 * list.n) {
        size *= 2;
    }
    uint32_t *slots = IL_NEW_ARRAY(arena, uint32_t, size);
    if (slots == NULL) {
        return il_cel_no_memory(arena, err);
    }
    out->mask = size - 1;
    for (uint32_t i = 0; i < list.n; i++) {
        il_str s = il_cel_str(list.u.items[i]);
        uint32_t at = set_hash(s) & out->mask;
        while (slots[at] != 0 && !il_str_eq(il_cel_str(list.u.items[slots[at] - 1]), s)) {
            at = (at + 1) & out->mask;
        }
        slots[at] = slots[at] != 0 ? slots[at] : i + 1;
    }
    out->slots = slots;
    return IL_OK;
}

static bool set_has_string(const il_cel_set *set, il_str s) {
    for (uint32_t at = set_hash(s) & set->mask; set->slots[at] != 0; at = (at + 1) & set->mask) {
        const il_cel_value *item = &set->list.u.items[set->slots[at] - 1];
        if (item->n == s.n && il_cel_same_bytes(item->u.p, s.p, s.n)) {
            return true;
        }
    }
    return false;
}

static bool set_has_int(const il_cel_set *set, int64_t v) {
    uint32_t from = 0, to = set->n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (set->ints[middle].u.i < v) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from < set->n && set->ints[from].u.i == v;
}

bool il_cel_set_has(il_cel_run *r, const il_cel_set *set, const il_cel_value *v) {
    r->unlike = set->slots != NULL && v->kind != IL_CEL_STRING && v->kind != IL_CEL_NULL;
    if (set->slots != NULL) {
        return v->kind == IL_CEL_STRING && set_has_string(set, il_cel_str(*v));
    }
    if (v->kind == IL_CEL_INT) {
        return set_has_int(set, v->u.i);
    }
    for (uint32_t i = 0; i < set->n && il_cel_charge(r, 1); i++) { /* a uint or a double may be one of them, too */
        if (il_cel_same(r, v, &set->list.u.items[i])) {
            return true;
        }
    }
    return false;
}
