/* SPDX-License-Identifier: Apache-2.0 */
#include "json/node.h"

#include "json/member.h"

il_json_kind il_json_kind_of(const il_json *v) { return v == NULL ? IL_JSON_NULL : (il_json_kind)v->kind; }

bool il_json_bool(const il_json *v) { return v != NULL && v->kind == IL_JSON_BOOL && v->truth; }

il_str il_json_text(const il_json *v) {
    if (v == NULL || (v->kind != IL_JSON_STRING && v->kind != IL_JSON_NUMBER)) {
        return IL_STR("");
    }
    return v->text;
}

bool il_json_int(const il_json *v, int64_t *out) { return v != NULL && v->kind == IL_JSON_NUMBER && il_str_int(v->text, out); }

size_t il_json_count(const il_json *v) { return v == NULL ? 0 : v->count; }

const il_json *il_json_get(const il_json *v, il_str key) {
    return v == NULL || v->kind != IL_JSON_OBJECT ? NULL : il_json_member_find(v, key);
}

const il_json *il_json_first(const il_json *v) { return v == NULL ? NULL : v->first; }

const il_json *il_json_next(const il_json *v) { return v == NULL ? NULL : v->next; }

il_str il_json_key(const il_json *v) { return v == NULL ? IL_STR("") : v->key; }

uint32_t il_json_line(const il_json *v) { return v == NULL ? 0 : v->line; }

uint32_t il_json_col(const il_json *v) { return v == NULL ? 0 : v->col; }

il_json *il_json_make(il_arena *arena, il_json_kind kind) {
    il_json *v = IL_NEW(arena, il_json);
    if (v != NULL) {
        v->kind = (uint8_t)kind;
        v->plain = kind != IL_JSON_STRING;
    }
    return v;
}

il_json *il_json_string(il_arena *arena, il_str s) {
    il_json *v = il_json_make(arena, IL_JSON_STRING);
    if (v != NULL) {
        v->text = s;
    }
    return v;
}

il_json *il_json_number(il_arena *arena, int64_t value) {
    il_buf b;
    il_str text;
    il_buf_init(&b, arena, 20); /* INT64_MIN has 20 characters */
    il_buf_puti(&b, value);
    if (il_buf_done(&b, &text, NULL) != IL_OK) {
        return NULL;
    }
    il_json *v = il_json_make(arena, IL_JSON_NUMBER);
    if (v != NULL) {
        v->text = text;
    }
    return v;
}

il_json *il_json_boolean(il_arena *arena, bool value) {
    il_json *v = il_json_make(arena, IL_JSON_BOOL);
    if (v != NULL) {
        v->truth = value;
    }
    return v;
}

bool il_json_push(il_json *array, il_json *child) {
    if (array == NULL || child == NULL || array->kind != IL_JSON_ARRAY || array->count == UINT32_MAX) {
        return false;
    }
    child->next = NULL;
    if (array->last == NULL) {
        array->first = child;
    } else {
        array->last->next = child;
    }
    array->last = child;
    array->count++;
    return true;
}

bool il_json_set(il_json *object, il_str key, il_json *child) {
    if (object == NULL || child == NULL || object->kind != IL_JSON_OBJECT || object->count == UINT32_MAX) {
        return false;
    }
    child->key = key;
    return il_json_member_add(object, child) == NULL;
}

bool il_json_set_at(il_json *object, il_str key, il_json *child, const il_json *at) {
    if (!il_json_set(object, key, child)) {
        return false;
    }
    child->key_line = at->key_line != 0 ? at->key_line : at->line;
    child->key_col = at->key_col != 0 ? at->key_col : at->col;
    child->key_offset = at->key_offset;
    return true;
}

il_json *il_json_shallow(il_arena *arena, const il_json *v) {
    il_json *copy = v == NULL ? NULL : IL_NEW(arena, il_json);
    if (copy == NULL) {
        return NULL;
    }
    *copy = *v;
    copy->key = (il_str){NULL, 0};
    copy->next = copy->less = copy->more = NULL;
    copy->first = copy->last = copy->index = NULL;
    for (const il_json *from = v->first; from != NULL; from = from->next) {
        il_json *child = IL_NEW(arena, il_json);
        if (child == NULL) {
            return NULL;
        }
        *child = *from;
        child->next = child->less = child->more = NULL;
        if (copy->last == NULL) {
            copy->first = child;
        } else {
            copy->last->next = child;
        }
        copy->last = child;
    }
    if (copy->kind == IL_JSON_OBJECT) {
        il_json_member_index(copy);
    }
    return copy;
}

bool il_json_remove(il_json *object, il_str key) {
    if (object == NULL || object->kind != IL_JSON_OBJECT) {
        return false;
    }
    il_json *before = NULL;
    for (il_json *v = object->first; v != NULL; before = v, v = v->next) {
        if (!il_str_eq(v->key, key)) {
            continue;
        }
        if (before == NULL) {
            object->first = v->next;
        } else {
            before->next = v->next;
        }
        if (object->last == v) {
            object->last = before;
        }
        object->count--;
        v->next = NULL;
        v->key = (il_str){NULL, 0};
        il_json_member_index(object);
        return true;
    }
    return false;
}

/* The known key that is nearest to `key`, if it is near enough to be what was meant. */
static il_str node_nearest(il_str key, const il_str *keys, size_t nkeys) {
    il_str best = {NULL, 0};
    unsigned least = 3;
    for (size_t i = 0; i < nkeys; i++) {
        const unsigned d = il_str_distance(key, keys[i]);
        if (d < least && d < keys[i].n) {
            least = d;
            best = keys[i];
        }
    }
    return best;
}

il_status il_json_only(const il_json *object, const il_str *keys, size_t nkeys, const char *where, il_error *err) {
    if (il_json_kind_of(object) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(object, err, IL_E_INVALID, "%s must be a mapping", where);
    }
    for (const il_json *v = object->first; v != NULL; v = v->next) {
        bool known = false;
        for (size_t i = 0; i < nkeys && !known; i++) {
            known = il_str_eq(v->key, keys[i]);
        }
        if (known) {
            continue;
        }
        const il_str near = node_nearest(v->key, keys, nkeys);
        if (near.n > 0) {
            return il_error_at(err, IL_E_INVALID, v->key_line, v->key_col, v->key_offset,
                               "unknown key `%.*s` in %s; did you mean `%.*s`?", IL_STR_ARG(v->key), where, IL_STR_ARG(near));
        }
        return il_error_at(err, IL_E_INVALID, v->key_line, v->key_col, v->key_offset, "unknown key `%.*s` in %s",
                           IL_STR_ARG(v->key), where);
    }
    return IL_OK;
}
