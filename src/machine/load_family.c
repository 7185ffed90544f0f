/* SPDX-License-Identifier: Apache-2.0 */
/* Parametric families: what is declared as `cap[c]` is made once for each member of `c`, under the name `cap[net]`. Expressions are resolved
 * by cel/family.c; here are the names of the document itself. */
#include "machine/load.h"

#define IL_LOAD_FAMILIES_MAX 16

/* A copy of the member of a map that stands where its key does. */
static il_json load_key(const il_json *v) {
    il_json at = *v;
    at.line = v->key_line;
    at.col = v->key_col;
    return at;
}

static size_t load_family_find(const il_loader *l, il_str name) {
    for (size_t i = 0; i < l->families.n; i++) {
        if (il_str_eq(l->families.list[i].name, name)) {
            return i;
        }
    }
    return l->families.n;
}

void il_load_bind(il_loader *l, size_t family, size_t member) {
    l->families.bound = family;
    l->families.member = member;
}

const il_cel_families *il_load_names(const il_loader *l) { return l->families.n > 0 ? &l->families : NULL; }

static il_status load_members(il_loader *l, const il_json *v, const il_json *families, il_cel_family *f) {
    if (il_json_kind_of(v) != IL_JSON_ARRAY || il_json_count(v) == 0) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "family `%.*s` must be a list of at least one member", IL_STR_ARG(f->name));
    }
    if (il_json_count(v) > IL_CEL_FAMILY_MEMBERS) {
        return IL_JSON_FAIL(v, l->err, IL_E_LIMIT, "family `%.*s` has more than %u members", IL_STR_ARG(f->name),
                            IL_CEL_FAMILY_MEMBERS);
    }
    il_str *members = IL_NEW_ARRAY(l->arena, il_str, il_json_count(v));
    if (!members) {
        return il_arena_fail(l->arena, l->err);
    }
    f->members = members;
    for (const il_json *x = il_json_first(v); x; x = il_json_next(x)) {
        if (il_json_kind_of(x) != IL_JSON_STRING || !il_load_is_word(x->text)) {
            return IL_JSON_FAIL(x, l->err, IL_E_INVALID, "the members of `%.*s` must be words (letters, digits, `_`, `-`)",
                                IL_STR_ARG(f->name));
        }
        for (size_t i = 0; i < f->nmembers; i++) {
            if (il_str_eq(members[i], x->text)) {
                return IL_JSON_FAIL(x, l->err, IL_E_INVALID, "member `%.*s` of `%.*s` is listed twice", IL_STR_ARG(x->text),
                                    IL_STR_ARG(f->name));
            }
        }
        if (il_json_get(families, x->text)) {
            return IL_JSON_FAIL(x, l->err, IL_E_INVALID, "`%.*s` is a family and a member", IL_STR_ARG(x->text));
        }
        IL_TRY(il_arena_copy(l->arena, x->text, &members[f->nmembers++], l->err));
    }
    return IL_OK;
}

il_status il_load_families(il_loader *l, const il_json *families) {
    if (!families) {
        return IL_OK;
    }
    if (il_json_kind_of(families) != IL_JSON_OBJECT || il_json_count(families) == 0) {
        return IL_JSON_FAIL(families, l->err, IL_E_INVALID, "`families` must be a map of names and lists of members");
    }
    if (il_json_count(families) > IL_LOAD_FAMILIES_MAX) {
        return IL_JSON_FAIL(families, l->err, IL_E_LIMIT, "more than %u families", (unsigned)IL_LOAD_FAMILIES_MAX);
    }
    il_cel_family *list = IL_NEW_ARRAY(l->arena, il_cel_family, il_json_count(families));
    if (!list) {
        return il_arena_fail(l->arena, l->err);
    }
    size_t n = 0;
    for (const il_json *v = il_json_first(families); v; v = il_json_next(v), n++) {
        IL_TRY(il_load_free_name(l, v, v->key, "family"));
        IL_TRY(il_arena_copy(l->arena, v->key, &list[n].name, l->err));
        IL_TRY(load_members(l, v, families, &list[n]));
    }
    l->families.list = list;
    l->families.n = l->families.bound = n;
    return IL_OK;
}

/* `base[index]`; an empty index when there is none. */
static il_status load_split(il_loader *l, const il_json *at, il_str key, il_str *base, il_str *index) {
    size_t open = il_str_find(key, IL_STR("["), 0);
    *base = key;
    *index = (il_str){0};
    if (open == SIZE_MAX) {
        return IL_OK;
    }
    *base = il_str_part(key, 0, open);
    *index = il_str_part(key, open + 1, key.n - 1);
    if (key.p[key.n - 1] != ']' || index->n == 0) {
        return IL_JSON_FAIL(at, l->err, IL_E_INVALID, "`%.*s` must end with its index in brackets, as in `%.*s[c]`",
                            IL_STR_ARG(key), IL_STR_ARG(*base));
    }
    if (il_str_find(*index, IL_STR("["), 0) != SIZE_MAX || il_str_find(*index, IL_STR(","), 0) != SIZE_MAX) {
        return IL_JSON_FAIL(at, l->err, IL_E_INVALID, "`%.*s` has two indices; a name has one at most", IL_STR_ARG(key));
    }
    return IL_OK;
}

static il_status load_no_family(il_loader *l, const il_json *at, il_str index) {
    il_str names[IL_LOAD_FAMILIES_MAX];
    for (size_t i = 0; i < l->families.n; i++) {
        names[i] = l->families.list[i].name;
    }
    return il_load_unknown(l, at, "family", index, names, l->families.n);
}

il_status il_load_declared(il_loader *l, const il_json *v, il_str *base, size_t *family) {
    il_json at = load_key(v);
    il_str index;
    IL_TRY(load_split(l, &at, v->key, base, &index));
    *family = l->families.n;
    if (index.n > 0) {
        *family = load_family_find(l, index);
        return *family < l->families.n ? IL_OK : load_no_family(l, &at, index);
    }
    return IL_OK;
}

il_status il_load_instances(il_loader *l, const il_json *object, const char *what, const char *plural, uint32_t max,
                            il_load_instance **out, uint32_t *n) {
    uint64_t count = 0;
    il_str base;
    size_t family = 0;
    for (const il_json *v = il_json_first(object); v; v = il_json_next(v)) {
        IL_TRY(il_load_declared(l, v, &base, &family));
        count += family < l->families.n ? l->families.list[family].nmembers : 1;
    }
    if (count == 0) {
        return IL_JSON_FAIL(object, l->err, IL_E_INVALID, "a machine needs at least one %s", what);
    }
    if (count > max) {
        return IL_JSON_FAIL(object, l->err, IL_E_LIMIT, "more than %u %s", (unsigned)max, plural);
    }
    *out = IL_NEW_ARRAY(l->arena, il_load_instance, (size_t)count);
    if (!*out) {
        return il_arena_fail(l->arena, l->err);
    }
    *n = 0;
    for (const il_json *v = il_json_first(object); v; v = il_json_next(v)) {
        IL_TRY(il_load_declared(l, v, &base, &family));
        for (uint32_t i = 0; i < *n; i++) {
            if (il_str_eq((*out)[i].base, base)) {
                const il_json at = load_key(v);
                const il_json *key = &at;
                return IL_JSON_FAIL(key, l->err, IL_E_INVALID, "%s `%.*s` is declared already, with another index or none", what,
                                    IL_STR_ARG(base));
            }
        }
        bool indexed = family < l->families.n;
        uint32_t first = *n;
        for (size_t k = 0; k < (indexed ? l->families.list[family].nmembers : 1); k++) {
            il_load_instance *one = &(*out)[(*n)++];
            *one = (il_load_instance){.v = v, .family = family, .member = k};
            IL_TRY(il_arena_copy(l->arena, base, &one->base, l->err));
            if (indexed) {
                IL_TRY(il_cel_family_join(l->arena, base, l->families.list[family].members[k], &one->name, l->err));
            } else {
                one->name = one->base;
            }
        }
        for (uint32_t i = first; i < *n; i++) {
            (*out)[i].base = (*out)[first].base;
        }
    }
    return IL_OK;
}

il_status il_load_bases(il_loader *l, const il_load_instance *all, uint32_t n, const il_cel_indexed **out, size_t *nout) {
    il_cel_indexed *list = IL_NEW_ARRAY(l->arena, il_cel_indexed, n);
    if (!list) {
        return il_arena_fail(l->arena, l->err);
    }
    *nout = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (all[i].family < l->families.n && all[i].member == 0) {
            list[(*nout)++] = (il_cel_indexed){all[i].base, all[i].family};
        }
    }
    *out = list;
    return IL_OK;
}

il_status il_load_name(il_loader *l, const il_json *at, il_str text, il_load_named *out) {
    il_str base;
    il_str index;
    IL_TRY(load_split(l, at, text, &base, &index));
    *out = (il_load_named){.name = text, .base = base, .family = l->families.n};
    if (index.n == 0) {
        return IL_OK;
    }
    if (il_str_eq(index, IL_STR("*"))) {
        out->every = true;
        return IL_OK;
    }
    size_t family = load_family_find(l, index);
    if (family == l->families.n) {
        return IL_OK; /* a member by its name, or nothing: the look-up tells */
    }
    out->family = family;
    if (l->families.bound == family) {
        return il_cel_family_join(l->arena, base, l->families.list[family].members[l->families.member], &out->name, l->err);
    }
    if (l->families.bound < l->families.n) {
        return IL_JSON_FAIL(at, l->err, IL_E_INVALID,
                            "`%.*s` under an index of `%.*s`: one index is all there can be; name a member", IL_STR_ARG(text),
                            IL_STR_ARG(l->families.list[l->families.bound].name));
    }
    out->open = true;
    return IL_OK;
}
