/* SPDX-License-Identifier: Apache-2.0 */
/* Values as such: views of JSON, walks, items and keys, room for new ones, names of types. How they compare is in
 * value_compare.c. */
#include "cel/value.h"

#include "base/double.h"
#include "cel/value_compare.h"
#include "json/node.h"

/* --- views of JSON ---------------------------------------------------------------------------------------------------- */

/* Digits only, at most 2^64-1. */
static bool value_uint(il_str s, uint64_t *out) {
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        uint64_t digit = (uint64_t)(unsigned char)s.p[i] - '0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10) {
            return false;
        }
        v = v * 10 + digit;
    }
    *out = v;
    return s.n > 0;
}

static il_cel_value value_of_number(il_str text) {
    int64_t i = 0;
    uint64_t u = 0;
    double d = 0;
    if (il_str_int(text, &i)) {
        return il_cel_of_int(i);
    }
    if (value_uint(text, &u)) {
        return il_cel_of_uint(u);
    }
    return il_double_parse(text, &d) ? il_cel_of_double(d)
                                     : il_cel_of_fault(IL_CEL_BAD_VALUE); /* only a built node is no number */
}

il_cel_value il_cel_of_json(const il_json *v) {
    il_cel_value out = il_cel_of(IL_CEL_NULL, 0);
    if (v == NULL) {
        return out;
    }
    switch ((il_json_kind)v->kind) {
    case IL_JSON_NULL:
        break;
    case IL_JSON_BOOL:
        return il_cel_of_bool(v->truth);
    case IL_JSON_NUMBER:
        return value_of_number(v->text);
    case IL_JSON_STRING:
        return il_cel_of_str(v->text);
    case IL_JSON_ARRAY:
    case IL_JSON_OBJECT:
        out = il_cel_of(v->kind == IL_JSON_ARRAY ? IL_CEL_LIST : IL_CEL_MAP, v->count);
        out.json = true;
        out.u.node = v;
        break;
    }
    return out;
}

/* --- walks ------------------------------------------------------------------------------------------------------------ */

il_cel_walk il_cel_walk_of(const il_cel_value *v) {
    il_cel_walk w = {NULL, NULL, v->n};
    if (v->json) {
        w.node = v->u.node->first;
    } else {
        w.items = v->u.items;
    }
    return w;
}

bool il_cel_walk_item(il_cel_walk *w, il_cel_value *item) {
    if (w->left == 0) {
        return false;
    }
    w->left--;
    if (w->items != NULL) {
        *item = *w->items++;
    } else {
        *item = il_cel_of_json(w->node);
        w->node = w->node->next;
    }
    return true;
}

bool il_cel_walk_entry(il_cel_walk *w, il_cel_value *key, il_cel_value *value) {
    if (w->left == 0) {
        return false;
    }
    w->left--;
    if (w->items != NULL) {
        *key = w->items[0];
        *value = w->items[1];
        w->items += 2;
    } else {
        *key = il_cel_of_str(w->node->key);
        *value = il_cel_of_json(w->node);
        w->node = w->node->next;
    }
    return true;
}

/* --- items and keys --------------------------------------------------------------------------------------------------- */

/* A fault when `index` is none; a place that no list has for a number that is no place. */
static il_cel_fault value_place(const il_cel_value *index, uint64_t *out) {
    *out = UINT64_MAX;
    if (index->kind == IL_CEL_INT) {
        *out = index->u.i < 0 ? UINT64_MAX : (uint64_t)index->u.i;
        return IL_CEL_NO_FAULT;
    }
    if (index->kind == IL_CEL_UINT) {
        *out = index->u.u;
        return IL_CEL_NO_FAULT;
    }
    if (index->kind == IL_CEL_DOUBLE) {
        double d = index->u.d;
        if (il_double_nan(d) || il_double_trunc(d) != d) {
            return IL_CEL_BAD_VALUE;
        }
        if (d >= 0 && d < 4294967296.0) {
            *out = (uint64_t)d;
        }
        return IL_CEL_NO_FAULT;
    }
    return IL_CEL_NO_OVERLOAD;
}

/* What il_cel_explain says of it: the index in the upper half (as an int32_t; the nearest when it is none), 1 + the size in the lower. */
static il_cel_value value_outside(const il_cel_value *list, const il_cel_value *index) {
    il_cel_value v = il_cel_of_fault(IL_CEL_MISSING);
    int64_t i = index->kind == IL_CEL_INT                              ? index->u.i
                : index->kind == IL_CEL_UINT && index->u.u < INT32_MAX ? (int64_t)index->u.u
                                                                       : INT32_MAX;
    if (index->kind == IL_CEL_DOUBLE && index->u.d > INT32_MIN && index->u.d < INT32_MAX) {
        i = (int64_t)index->u.d;
    }
    i = i > INT32_MAX ? INT32_MAX : i < INT32_MIN ? INT32_MIN : i;
    v.u.u = (uint64_t)(uint32_t)i << 32 | (list->n < UINT32_MAX ? list->n + 1 : UINT32_MAX);
    return v;
}

il_cel_value il_cel_list_at(il_cel_run *r, const il_cel_value *list, const il_cel_value *index) {
    uint64_t place = 0;
    il_cel_fault fault = value_place(index, &place);
    if (fault != IL_CEL_NO_FAULT) {
        return il_cel_of_fault(fault);
    }
    if (place >= list->n) {
        return value_outside(list, index);
    }
    if (!list->json) {
        return list->u.items[place];
    }
    if (!il_cel_charge(r, place / 4)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    const il_json *node = list->u.node->first;
    for (; place > 0 && node != NULL; place--) {
        node = node->next;
    }
    return il_cel_of_json(node);
}

bool il_cel_map_find(const il_cel_value *map, const il_cel_value *key, il_cel_value *out) {
    if (map->json) {
        const il_json *member = key->kind == IL_CEL_STRING ? il_json_get(map->u.node, il_cel_str(*key)) : NULL;
        *out = il_cel_of_json(member);
        return member != NULL;
    }
    uint32_t from = 0, to = map->n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        int order = il_cel_key_order(key, &map->u.items[2 * (size_t)middle]);
        if (order == 0) {
            *out = map->u.items[2 * (size_t)middle + 1];
            return true;
        }
        if (order == IL_CEL_INCOMPARABLE) {
            return false;
        }
        if (order < 0) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    return false;
}

il_cel_value il_cel_map_at(il_cel_run *r, const il_cel_value *map, const il_cel_value *key) {
    il_cel_value v;
    if (key->kind == IL_CEL_STRING && !il_cel_charge(r, key->n / 64)) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    return il_cel_map_find(map, key, &v) ? v : il_cel_of_fault(IL_CEL_MISSING);
}

il_cel_value il_cel_map_get(il_cel_run *r, const il_cel_value *map, il_str key) {
    const il_cel_value k = il_cel_of_str(key);
    return il_cel_map_at(r, map, &k);
}

/* --- room ------------------------------------------------------------------------------------------------------------- */

char *il_cel_room(il_cel_run *r, size_t bytes) {
    char *p = il_cel_charge(r, bytes / 64) && r->scratch != NULL ? il_arena_bytes(r->scratch, bytes) : NULL;
    if (p == NULL) {
        r->steps = -1; /* whatever the caller makes of it, the evaluation is over */
    }
    return p;
}

il_cel_value *il_cel_room_values(il_cel_run *r, size_t count) {
    bool fits = count <= SIZE_MAX / sizeof(il_cel_value) && il_cel_charge(r, count * sizeof(il_cel_value) / 64);
    il_cel_value *p = fits && r->scratch != NULL ? il_arena_raw(r->scratch, count * sizeof(il_cel_value)) : NULL;
    if (p == NULL) {
        r->steps = -1;
    }
    return p;
}

/* --- names of types ----------------------------------------------------------------------------------------------------- */

il_str il_cel_kind_name(il_cel_kind kind) {
    switch (kind) {
    case IL_CEL_ERROR: /* as a type: IL_CEL_DYN */
        return IL_STR("dyn");
    case IL_CEL_NULL:
        return IL_STR("null_type");
    case IL_CEL_BOOL:
        return IL_STR("bool");
    case IL_CEL_INT:
        return IL_STR("int");
    case IL_CEL_UINT:
        return IL_STR("uint");
    case IL_CEL_DOUBLE:
        return IL_STR("double");
    case IL_CEL_STRING:
        return IL_STR("string");
    case IL_CEL_BYTES:
        return IL_STR("bytes");
    case IL_CEL_LIST:
        return IL_STR("list");
    case IL_CEL_MAP:
        return IL_STR("map");
    case IL_CEL_TIMESTAMP:
        return IL_STR("google.protobuf.Timestamp");
    case IL_CEL_DURATION:
        return IL_STR("google.protobuf.Duration");
    case IL_CEL_TYPE:
        return IL_STR("type");
    case IL_CEL_OPTIONAL:
        return IL_STR("optional_type");
    case IL_CEL_IP:
        return IL_STR("net.IP");
    case IL_CEL_CIDR:
        return IL_STR("net.CIDR");
    case IL_CEL_RECORD:
        return IL_STR("record");
    case IL_CEL_OPAQUE:
        return IL_STR("opaque");
    case IL_CEL_PARAM:
        return IL_STR("parameter");
    }
    return IL_STR("");
}

il_str il_cel_type_name(il_cel_value type) {
    if (type.kind != IL_CEL_TYPE) {
        return IL_STR("");
    }
    return type.u.type != NULL && type.u.type->name.n > 0 ? type.u.type->name : il_cel_kind_name((il_cel_kind)type.n);
}
