/* SPDX-License-Identifier: Apache-2.0 */
#include "json/member.h"

enum {
    MEMBER_SMALL = 8,     /* members that are searched one by one */
    MEMBER_PATH_MAX = 64, /* an AVL tree of 2^32 members is at most 46 high */
};

static unsigned member_height(const il_json *v) { return v == NULL ? 0 : v->height; }

static void member_measure(il_json *v) {
    const unsigned l = member_height(v->less);
    const unsigned m = member_height(v->more);
    v->height = (uint8_t)((l > m ? l : m) + 1);
}

static void member_turn_right(il_json **link) {
    il_json *v = *link;
    il_json *up = v->less;
    v->less = up->more;
    up->more = v;
    member_measure(v);
    member_measure(up);
    *link = up;
}

static void member_turn_left(il_json **link) {
    il_json *v = *link;
    il_json *up = v->more;
    v->more = up->less;
    up->less = v;
    member_measure(v);
    member_measure(up);
    *link = up;
}

static void member_balance(il_json **link) {
    il_json *v = *link;
    const unsigned l = member_height(v->less);
    const unsigned m = member_height(v->more);
    if (l > m + 1) {
        if (member_height(v->less->less) < member_height(v->less->more)) {
            member_turn_left(&v->less);
        }
        member_turn_right(link);
    } else if (m > l + 1) {
        if (member_height(v->more->more) < member_height(v->more->less)) {
            member_turn_right(&v->more);
        }
        member_turn_left(link);
    } else {
        member_measure(v);
    }
}

/* Puts the member into the tree; returns the one that has its key already, or NULL. */
static il_json *member_insert(il_json **root, il_json *member) {
    il_json **path[MEMBER_PATH_MAX];
    size_t n = 0;
    il_json **link = root;
    while (*link != NULL && n < MEMBER_PATH_MAX) {
        path[n++] = link;
        const int c = il_str_cmp(member->key, (*link)->key);
        if (c == 0) {
            return *link;
        }
        link = c < 0 ? &(*link)->less : &(*link)->more;
    }
    member->less = NULL;
    member->more = NULL;
    member->height = 1;
    *link = member;
    while (n > 0) {
        il_json **at = path[--n];
        const il_json *top = *at;
        const unsigned before = member_height(top);
        member_balance(at);
        if (*at == top && member_height(*at) == before) {
            break;
        }
    }
    return NULL;
}

il_json *il_json_member_find(const il_json *object, il_str key) {
    if (object->index != NULL) {
        il_json *v = object->index;
        while (v != NULL) {
            const int c = il_str_cmp(key, v->key);
            if (c == 0) {
                return v;
            }
            v = c < 0 ? v->less : v->more;
        }
        return NULL;
    }
    for (il_json *v = object->first; v != NULL; v = v->next) {
        if (il_str_eq(v->key, key)) {
            return v;
        }
    }
    return NULL;
}

void il_json_member_index(il_json *object) {
    object->index = NULL;
    if (object->count <= MEMBER_SMALL) {
        return;
    }
    for (il_json *v = object->first; v != NULL; v = v->next) {
        (void)member_insert(&object->index, v);
    }
}

il_json *il_json_member_add(il_json *object, il_json *member) {
    if (object->count == MEMBER_SMALL && object->index == NULL) {
        for (il_json *v = object->first; v != NULL; v = v->next) {
            (void)member_insert(&object->index, v);
        }
    }
    il_json *same = object->index != NULL ? member_insert(&object->index, member) : il_json_member_find(object, member->key);
    if (same != NULL) {
        return same;
    }
    member->next = NULL;
    if (object->last == NULL) {
        object->first = member;
    } else {
        object->last->next = member;
    }
    object->last = member;
    object->count++;
    return NULL;
}

const il_json *il_json_member_above(const il_json *object, const il_json *after) {
    const il_json *best = NULL;
    if (object->index != NULL) {
        const il_json *v = object->index;
        while (v != NULL) {
            if (after == NULL || il_str_cmp(v->key, after->key) > 0) {
                best = v;
                v = v->less;
            } else {
                v = v->more;
            }
        }
        return best;
    }
    for (const il_json *v = object->first; v != NULL; v = v->next) {
        if ((after == NULL || il_str_cmp(v->key, after->key) > 0) && (best == NULL || il_str_cmp(v->key, best->key) < 0)) {
            best = v;
        }
    }
    return best;
}
