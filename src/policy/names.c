/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/names.h"

#include "interlock/policy.h"
#include "policy/words.h"

static il_status il_names_add(il_names *names, il_listed item, const il_json *at, il_error *err) {
    for (uint32_t i = 0; i < names->n; i++) {
        const il_listed *other = &names->list[i];
        bool same = other->pattern.kind == item.pattern.kind && other->pattern.shape == item.pattern.shape &&
                    other->is_public == item.is_public && il_str_eq(other->pattern.text, item.pattern.text);
        if (same && other->accepts != item.accepts) {
            return IL_JSON_FAIL(at, err, IL_E_INVALID, "`%.*s` is listed at line %u with other classes; list it once",
                                IL_STR_ARG(il_json_text(at)), other->line);
        }
        if (same) {
            names->list[i].ours = other->ours || item.ours;
            return IL_OK;
        }
    }
    IL_CHECK(names->n < names->cap, err);
    names->list[names->n++] = item;
    return IL_OK;
}

/* A domain where addresses are listed, or one with a star before it: says how all of a domain is written. */
static il_status il_names_domain(const il_json *v, il_kind kind, il_arena *arena, il_error *err) {
    il_str text = il_json_text(v), canonical;
    while (text.n > 0 && (text.p[0] == '*' || text.p[0] == '@' || text.p[0] == '.')) {
        text = il_str_part(text, 1, text.n);
    }
    il_error ignored = {0};
    if (il_kind_value(IL_KIND_HOST, text, arena, &canonical, &ignored) != IL_OK) {
        return IL_OK;
    }
    return IL_JSON_FAIL(v, err, IL_E_INVALID,
                        kind == IL_KIND_EMAIL ? "`%.*s` is no email; all addresses of a domain are `\"@%.*s\"`"
                                              : "`%.*s` is no host; a host with its subdomains is `.%.*s`",
                        IL_STR_ARG(il_json_text(v)), IL_STR_ARG(text));
}

/* One name or a list of them, of one kind. */
static il_status il_names_values(il_names *names, const il_json *value, il_listed item, il_arena *arena, il_error *err) {
    bool list = il_json_kind_of(value) == IL_JSON_ARRAY;
    if (list && il_json_count(value) == 0) {
        return IL_JSON_FAIL(value, err, IL_E_INVALID, "`%.*s` is empty; leave it out", IL_STR_ARG(il_json_key(value)));
    }
    for (const il_json *v = list ? il_json_first(value) : value; v != NULL; v = list ? il_json_next(v) : NULL) {
        if (il_json_kind_of(v) != IL_JSON_STRING) {
            return IL_JSON_FAIL(v, err, IL_E_INVALID, "a name is a text; quote it");
        }
        il_error why = {0};
        il_kind kind = item.pattern.kind;
        il_status s = il_kind_pattern_new(kind, il_json_text(v), arena, &item.pattern, &why);
        if (s == IL_E_INVALID && (kind == IL_KIND_EMAIL || kind == IL_KIND_HOST)) {
            IL_TRY(il_names_domain(v, kind, arena, err));
        }
        if (s == IL_E_INVALID) {
            if (il_str_find(il_str_of(why.msg), IL_STR("not a"), 0) == 0) { /* it names the kind already */
                return IL_JSON_FAIL(v, err, s, "`%.*s`: %s", IL_STR_ARG(il_json_text(v)), why.msg);
            }
            return IL_JSON_FAIL(v, err, s, "`%.*s` is no %.*s: %s", IL_STR_ARG(il_json_text(v)),
                                IL_STR_ARG(il_kinds_word(names->kinds, kind)), why.msg);
        }
        if (s != IL_OK) {
            return IL_JSON_FAIL(v, err, s, "%s", why.msg);
        }
        item.line = il_json_line(v);
        item.col = il_json_col(v);
        IL_TRY(il_names_add(names, item, v, err));
    }
    return IL_OK;
}

static il_status il_names_own(il_names *names, const il_json *ours, il_arena *arena, il_error *err) {
    if (il_json_kind_of(ours) != IL_JSON_OBJECT || il_json_count(ours) == 0) {
        return IL_JSON_FAIL(ours, err, IL_E_INVALID, "`ours` maps kinds to lists of names");
    }
    for (const il_json *v = il_json_first(ours); v != NULL; v = il_json_next(v)) {
        il_listed item = {.accepts = IL_TAINTS, .ours = true};
        il_str kind = il_json_key(v);
        if (il_str_ends(kind, IL_STR(".public"))) {
            kind.n -= 7;
            item.is_public = true;
            item.accepts = IL_UNTRUSTED;
        }
        IL_TRY(il_kinds_take(names->kinds, kind, v, arena, &item.pattern.kind, err));
        IL_TRY(il_names_values(names, v, item, arena, err));
    }
    return IL_OK;
}

static il_status il_names_destination(il_names *names, const il_json *entry, il_arena *arena, il_error *err) {
    if (il_json_kind_of(entry) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(entry, err, IL_E_INVALID, "a destination is a map of one kind to names, and `accepts`");
    }
    const il_json *accepts = il_json_get(entry, IL_STR("accepts"));
    if (accepts == NULL) {
        return IL_JSON_FAIL(entry, err, IL_E_INVALID,
                            "`accepts` is missing: which of untrusted, sensitive and secret may go there");
    }
    uint32_t classes = 0;
    IL_TRY(il_words_effects(accepts, IL_TAINTS, "`accepts`", &classes, err));
    if (classes == 0) {
        return IL_JSON_FAIL(accepts, err, IL_E_INVALID,
                            "`accepts` is empty; a destination that accepts nothing need not be listed");
    }
    if ((classes & (uint32_t)IL_SECRET) != 0 && (classes & (uint32_t)IL_SENSITIVE) == 0) {
        return IL_JSON_FAIL(accepts, err, IL_E_INVALID, "a secret is sensitive as well: list both");
    }
    if (il_json_count(entry) < 2) {
        return IL_JSON_FAIL(entry, err, IL_E_INVALID, "a destination without a name");
    }
    for (const il_json *v = il_json_first(entry); v != NULL; v = il_json_next(v)) {
        il_listed item = {.accepts = classes};
        if (il_str_eq(il_json_key(v), IL_STR("accepts"))) {
            continue;
        }
        IL_TRY(il_kinds_take(names->kinds, il_json_key(v), v, arena, &item.pattern.kind, err));
        IL_TRY(il_names_values(names, v, item, arena, err));
    }
    return IL_OK;
}

/* How many names a section can hold at most. */
static size_t il_names_count(const il_json *section) {
    size_t n = 0;
    for (const il_json *v = il_json_first(section); v != NULL; v = il_json_next(v)) {
        n += 1 + il_json_count(v);
    }
    return n;
}

il_status il_names_load(il_names *names, il_kinds *kinds, const il_json *ours, const il_json *destinations, il_arena *arena,
                        il_error *err) {
    *names = (il_names){.kinds = kinds};
    size_t cap = il_names_count(ours);
    for (const il_json *v = il_json_first(destinations); v != NULL; v = il_json_next(v)) {
        cap += il_names_count(v);
    }
    if (cap > 20000) {
        return IL_JSON_FAIL(ours, err, IL_E_LIMIT, "more than 20,000 names");
    }
    names->list = IL_NEW_ARRAY(arena, il_listed, cap);
    if (names->list == NULL) {
        return il_arena_fail(arena, err);
    }
    names->cap = (uint32_t)cap;
    if (ours != NULL) {
        IL_TRY(il_names_own(names, ours, arena, err));
    }
    if (destinations == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(destinations) != IL_JSON_ARRAY || il_json_count(destinations) == 0) {
        return IL_JSON_FAIL(destinations, err, IL_E_INVALID, "`destinations` is a list");
    }
    for (const il_json *v = il_json_first(destinations); v != NULL; v = il_json_next(v)) {
        IL_TRY(il_names_destination(names, v, arena, err));
    }
    return IL_OK;
}

static bool il_names_lists(const il_listed *item, il_kind kind, il_str canonical, il_str host) {
    if (item->pattern.kind == kind) {
        return il_kind_matches(&item->pattern, canonical);
    }
    return kind == IL_KIND_URL && item->pattern.kind == IL_KIND_HOST && il_kind_matches(&item->pattern, host);
}

bool il_names_maybe_public(const il_names *names, il_kind kind, il_str canonical) {
    for (uint32_t i = 0; i < names->n; i++) {
        if (names->list[i].is_public && il_kind_public(&names->list[i].pattern, kind, canonical)) {
            return true;
        }
    }
    return false;
}

bool il_names_vouch(const il_names *names, il_kind kind, il_str canonical, uint32_t needed) {
    bool vouched = false, is_public = false;
    il_str host = kind == IL_KIND_URL ? il_kind_host(kind, canonical) : (il_str){0};
    for (uint32_t i = 0; i < names->n; i++) {
        const il_listed *item = &names->list[i];
        is_public = is_public || (item->is_public && il_kind_public(&item->pattern, kind, canonical));
        vouched = vouched || ((needed & ~item->accepts) == 0 && il_names_lists(item, kind, canonical, host));
    }
    return vouched && !(is_public && (needed & ~(uint32_t)IL_UNTRUSTED) != 0);
}

/* A folder is listed with what is in it: a listed path is exact, so that a destination is one place. */
static bool il_names_folder(const il_listed *item, il_kind kind, il_str canonical) {
    const il_str folder = item->pattern.text;
    return kind == IL_KIND_PATH && item->pattern.kind == IL_KIND_PATH && folder.n > 0 && canonical.n > folder.n &&
           il_str_starts(canonical, folder) && (folder.p[folder.n - 1] == '/' || canonical.p[folder.n] == '/');
}

bool il_names_ours(const il_names *names, il_kind kind, il_str canonical) {
    const il_str host = kind == IL_KIND_URL ? il_kind_host(kind, canonical) : (il_str){0};
    for (uint32_t i = 0; i < names->n; i++) {
        const il_listed *item = &names->list[i];
        if (item->ours && (il_names_lists(item, kind, canonical, host) || il_names_folder(item, kind, canonical))) {
            return true;
        }
    }
    return false;
}

bool il_names_public(const il_names *names, il_kind kind, il_str canonical) {
    for (uint32_t i = 0; i < names->n; i++) {
        const il_listed *item = &names->list[i];
        if (item->is_public && item->pattern.kind == kind && il_kind_matches(&item->pattern, canonical)) {
            return true;
        }
    }
    return false;
}
