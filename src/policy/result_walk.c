/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/result_walk.h"

#include "policy/argument.h"
#include "policy/filler.h"

#define IL_RESULT_DEPTH 128u /* nesting that is looked at; what is deeper is not, and the memory knows that it misses something */

static il_status il_result_text(const il_result_walk *w, il_str text, bool untrusted, il_error *err) {
    if (!w->texts || (untrusted && w->blind)) {
        return IL_OK;
    }
    return il_episode_text(w->episode, text, untrusted, err);
}

il_status il_result_free(const il_result_walk *w, il_str text, il_error *err) {
    return il_result_text(w, text, w->untrusted, err);
}

static il_status il_result_below(const il_result_walk *w, const il_json *v, bool untrusted, unsigned depth, il_error *err) {
    const il_json_kind kind = il_json_kind_of(v);
    if (kind == IL_JSON_STRING || kind == IL_JSON_NUMBER) {
        return il_result_text(w, il_json_text(v), untrusted, err);
    }
    if (depth == 0) {
        il_episode_partial(w->episode);
        return IL_OK;
    }
    for (const il_json *child = il_json_first(v); child != NULL; child = il_json_next(child)) {
        IL_TRY(il_result_text(w, il_json_key(child), untrusted, err));
        IL_TRY(il_result_below(w, child, untrusted, depth - 1, err));
    }
    return IL_OK;
}

il_status il_result_free_below(const il_result_walk *w, const il_json *v, il_error *err) {
    return il_result_below(w, v, w->untrusted, IL_RESULT_DEPTH, err);
}

/* ---- items ------------------------------------------------------------------------------------------ */

typedef struct il_item_walk {
    const il_result_walk *w;
    const il_json *item;
    bool untrusted;
    il_field_every every[IL_FIELD_DEPTH_MAX]; /* which items of which lists stand on the way */
    uint32_t nevery;
} il_item_walk;

static il_status il_item_kind(const il_item_walk *i, il_kind kind, il_str text, il_str *canonical, il_error *err) {
    const il_status s = il_kind_value(kind, text, i->w->arena, canonical, NULL);
    if (s == IL_E_INVALID) {
        *canonical = (il_str){0};
        return IL_OK;
    }
    return s == IL_OK ? IL_OK : il_arena_fail(i->w->arena, err);
}

/* The field's value is a fact; *is says whether it could be read as one. */
static il_status il_item_fact(const il_item_walk *i, const il_field *f, const il_json *v, bool *is, il_error *err) {
    il_str text = {0}, canonical = {0}, via = {0};
    *is = false;
    if (!il_arg_text(v, &text)) {
        return IL_OK;
    }
    IL_TRY(il_item_kind(i, f->kind, text, &canonical, err));
    if (canonical.n == 0) {
        return IL_OK;
    }
    il_fact fact = {il_kinds_word(i->w->kinds, f->kind), canonical, f->standing, f->has_via, false, {0}};
    if (f->has_via && il_arg_text(il_field_at(i->item, &f->via, i->every, i->nevery), &via)) {
        IL_TRY(il_item_kind(i, f->kind, via, &fact.via, err));
        fact.via = fact.via.n > 0 ? fact.via : via;
        fact.via = il_filler(fact.via) ? (il_str){0} : fact.via;
        fact.edge = il_filler_edge(fact.via);
    }
    *is = true;
    return i->w->facts ? il_episode_fact(i->w->episode, &fact, err) : IL_OK;
}

/* A string or number at the end of the fields in `fields`, of which `depth` steps have led here. */
static il_status il_item_leaf(const il_item_walk *i, const il_json *v, uint64_t fields, uint32_t depth, il_error *err) {
    bool fact = false;
    for (uint32_t k = 0; k < i->w->form->nfields; k++) {
        const il_field *f = &i->w->form->fields[k];
        if ((fields >> k & 1u) != 0 && f->path.n == depth) {
            bool is = false;
            IL_TRY(il_item_fact(i, f, v, &is, err));
            fact = fact || is;
        }
    }
    return il_result_text(i->w, il_json_text(v), i->untrusted && !fact, err);
}

static il_status il_item_walk_on(il_item_walk *i, const il_json *v, uint64_t fields, uint32_t depth, il_error *err) {
    const il_json_kind kind = il_json_kind_of(v);
    const bool array = kind == IL_JSON_ARRAY;
    if (kind == IL_JSON_STRING || kind == IL_JSON_NUMBER) {
        return il_item_leaf(i, v, fields, depth, err);
    }
    if (fields == 0 || depth == IL_FIELD_DEPTH_MAX) {
        return il_result_below(i->w, v, i->untrusted, IL_RESULT_DEPTH, err);
    }
    uint32_t index = 0;
    for (const il_json *child = il_json_first(v); child != NULL; child = il_json_next(child), index++) {
        uint64_t every = 0, one = 0;
        for (uint32_t k = 0; k < i->w->form->nfields; k++) {
            const il_field *f = &i->w->form->fields[k];
            if ((fields >> k & 1u) == 0 || f->path.n <= depth) {
                continue;
            }
            const il_field_step *s = &f->path.steps[depth];
            if (array && s->of == IL_STEP_EVERY) {
                every |= UINT64_C(1) << k;
            } else if (array ? s->of == IL_STEP_INDEX && s->index == index
                             : s->of == IL_STEP_KEY && il_str_eq(s->key, il_json_key(child))) {
                one |= UINT64_C(1) << k;
            }
        }
        IL_TRY(il_result_text(i->w, il_json_key(child), i->untrusted, err));
        const uint32_t nevery = i->nevery;
        if (every != 0) {
            i->every[i->nevery++] = (il_field_every){v, child};
        }
        /* a field by number and one by `[*]` in one list: the second decides what its sibling is */
        IL_TRY(il_item_walk_on(i, child, every | one, depth + 1, err));
        i->nevery = nevery;
    }
    return IL_OK;
}

il_status il_result_item(const il_result_walk *w, const il_json *item, bool untrusted, il_error *err) {
    il_item_walk i = {.w = w, .item = item, .untrusted = untrusted};
    if (w->form == NULL || w->form->nfields == 0) {
        return il_result_below(w, item, untrusted, IL_RESULT_DEPTH, err);
    }
    const uint64_t all = w->form->nfields == 64 ? UINT64_MAX : (UINT64_C(1) << w->form->nfields) - 1;
    return il_item_walk_on(&i, item, all, 0, err);
}

/* ---- lines ------------------------------------------------------------------------------------------ */

/* The line at `*at`, without its end; *at moves behind it. */
static il_str il_head_line(il_str text, size_t *at) {
    size_t end = *at;
    while (end < text.n && text.p[end] != '\n') {
        end++;
    }
    il_str line = il_str_part(text, *at, end);
    *at = end < text.n ? end + 1 : end;
    if (line.n > 0 && line.p[line.n - 1] == '\r') {
        line.n--;
    }
    return line;
}

static il_str il_head_trim(il_str s) {
    while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t')) {
        s = il_str_part(s, 1, s.n);
    }
    while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t')) {
        s.n--;
    }
    return s;
}

/* The value of the one line of the head with this name; false when there is none, or several. */
static bool il_head_find(il_str head, il_str name, il_str *value) {
    uint32_t found = 0;
    for (size_t at = 0; at < head.n;) {
        const il_str line = il_head_line(head, &at);
        if (line.n > name.n && line.p[name.n] == ':' && il_str_eq_nocase(il_str_part(line, 0, name.n), name)) {
            *value = il_head_trim(il_str_part(line, name.n + 1, line.n));
            found++;
        }
    }
    return found == 1;
}

static il_str il_head_of(il_str text) {
    size_t at = 0, end = 0;
    while (at < text.n) {
        end = at;
        if (il_head_trim(il_head_line(text, &at)).n == 0) {
            return il_str_part(text, 0, end);
        }
    }
    return text;
}

/* `ana@x.example`, or `Ana <ana@x.example>` with nothing behind: how a mail's head names a person. */
static il_str il_head_address(il_str value) {
    const size_t open = il_str_find(value, IL_STR("<"), 0);
    const bool wrapped = open != SIZE_MAX && value.p[value.n - 1] == '>' && il_str_find(value, IL_STR("<"), open + 1) == SIZE_MAX;
    return wrapped ? il_str_part(value, open + 1, value.n - 1) : value;
}

il_status il_result_head(const il_result_walk *w, il_str text, il_error *err) {
    const il_str head = il_head_of(text);
    il_str taken[IL_FIELDS_MAX];
    uint32_t ntaken = 0;
    for (uint32_t k = 0; w->form != NULL && k < w->form->nfields; k++) {
        const il_field *f = &w->form->fields[k];
        il_str value = {0}, canonical = {0};
        if (!il_head_find(head, f->path.steps[0].key, &value) || value.n == 0) {
            continue;
        }
        const il_str raw = f->kind == IL_KIND_EMAIL ? il_head_address(value) : value;
        const il_item_walk i = {.w = w};
        IL_TRY(il_item_kind(&i, f->kind, raw, &canonical, err));
        if (canonical.n == 0) {
            continue;
        }
        il_fact fact = {il_kinds_word(w->kinds, f->kind), canonical, f->standing, f->has_via, false, {0}};
        if (f->has_via && il_head_find(head, f->via.steps[0].key, &fact.via)) {
            il_str via = {0};
            IL_TRY(il_item_kind(&i, f->kind, fact.via, &via, err));
            fact.via = via.n > 0 ? via : fact.via;
            fact.via = il_filler(fact.via) ? (il_str){0} : fact.via;
            fact.edge = il_filler_edge(fact.via);
        } else {
            fact.via = (il_str){0};
        }
        if (w->facts) {
            IL_TRY(il_episode_fact(w->episode, &fact, err));
        }
        taken[ntaken++] = raw;
        IL_TRY(il_result_text(w, raw, false, err));
    }
    /* what stands between the fields is free */
    size_t from = 0;
    for (;;) {
        const char *next = NULL;
        size_t n = 0;
        for (uint32_t k = 0; k < ntaken; k++) {
            if (taken[k].p >= text.p + from && (next == NULL || taken[k].p < next)) {
                next = taken[k].p;
                n = taken[k].n;
            }
        }
        const size_t to = next != NULL ? (size_t)(next - text.p) : text.n;
        IL_TRY(il_result_free(w, il_str_part(text, from, to), err));
        if (next == NULL) {
            return IL_OK;
        }
        from = to + n;
    }
}
