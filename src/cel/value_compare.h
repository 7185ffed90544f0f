/* SPDX-License-Identifier: Apache-2.0 */
/* Maps by key, below what value.h says: no budget. */
#pragma once
#include "cel/value.h"
#include "json/node.h"

/* The one order that entries of a MAP are sorted in: bools, then numbers as one line, then strings. A double is between two
 * integers or exactly one.
 * IL_CEL_INCOMPARABLE when either can be no key of a map. */
int il_cel_key_order(const il_cel_value *a, const il_cel_value *b);
/* Whether the key is there; *out is its value. */
bool il_cel_map_find(const il_cel_value *map, const il_cel_value *key, il_cel_value *out);

static inline uint64_t il_cel_load8(const char *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint32_t il_cel_load4(const char *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
/* The same bytes? Words are short: up to 16 bytes are compared in place, from both ends. */
static inline bool il_cel_same_bytes(const char *a, const char *b, size_t n) {
    if (a == b || n == 0) {
        return true;
    }
    if (n > 16) {
        return memcmp(a, b, n) == 0;
    }
    if (n >= 8) {
        return il_cel_load8(a) == il_cel_load8(b) && il_cel_load8(a + n - 8) == il_cel_load8(b + n - 8);
    }
    if (n >= 4) {
        return il_cel_load4(a) == il_cel_load4(b) && il_cel_load4(a + n - 4) == il_cel_load4(b + n - 4);
    }
    return a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1];
}
/* As il_json_get, for a name that the program knows: the objects of a call are small. */
static inline const il_json *il_cel_json_member(const il_json *object, const il_cel_value *name) {
    if (object->index != NULL) {
        return il_json_get(object, il_cel_str(*name));
    }
    const il_json *v = object->first;
    while (v != NULL && (v->key.n != name->n || !il_cel_same_bytes(v->key.p, name->u.p, name->n))) {
        v = v->next;
    }
    return v;
}
/* As il_cel_of_json, in line for what is most common. */
static inline il_cel_value il_cel_json_value(const il_json *v) {
    if (v->kind == IL_JSON_STRING && v->text.n <= UINT32_MAX) {
        il_cel_value out = il_cel_of(IL_CEL_STRING, (uint32_t)v->text.n);
        out.u.p = v->text.p;
        return out;
    }
    if (v->kind == IL_JSON_ARRAY || v->kind == IL_JSON_OBJECT) {
        il_cel_value out = il_cel_of(v->kind == IL_JSON_ARRAY ? IL_CEL_LIST : IL_CEL_MAP, v->count);
        out.json = true;
        out.u.node = v;
        return out;
    }
    return il_cel_of_json(v);
}
/* Of two STRINGs or two BYTES, for nothing: ask only where the texts are short, or one is constant. */
static inline bool il_cel_same_text(const il_cel_value *a, const il_cel_value *b) {
    return a->n == b->n && il_cel_same_bytes(a->u.p, b->u.p, a->n);
}
