/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/place.h"

#include "base/buf.h"
#include "policy/shell.h"

#define IL_PLACES_MAX 256u /* of one call; more are the whole store */

typedef struct il_places {
    const il_policy *policy;
    il_str server;
    il_arena *scratch;
    il_place *list;
    size_t n;
} il_places;

static void il_places_add(il_places *p, il_kind kind, il_str value) {
    const il_str word = il_kinds_word(&p->policy->kinds, kind);
    for (size_t i = 0; i < p->n; i++) {
        const il_place *other = &p->list[i];
        if (il_str_eq(other->kind, word) && (other->value.n == 0 || il_str_eq(other->value, value))) {
            return;
        }
    }
    /* the last one is kept for the whole store */
    if (p->n + 1 >= IL_PLACES_MAX) {
        value = (il_str){0};
    }
    if (p->n < IL_PLACES_MAX) {
        p->list[p->n++] = (il_place){word, value};
    }
}

bool il_place_relative(il_str text) {
    const size_t slash = il_str_find(text, IL_STR("/"), 0);
    const il_str first = il_str_part(text, 0, slash != SIZE_MAX ? slash : text.n);
    return text.n > 0 && text.p[0] != '/' && text.p[0] != '~' && il_str_find(first, IL_STR(":"), 0) == SIZE_MAX &&
           il_str_find(text, IL_STR("$"), 0) == SIZE_MAX && il_str_find(text, IL_STR("%"), 0) == SIZE_MAX;
}

il_status il_place_path(const il_policy *p, il_str server, il_str text, il_arena *scratch, il_str *out) {
    const il_server *s = server.n > 0 ? il_policy_server(p, server) : NULL;
    il_buf b;
    const il_status status = il_kind_value(IL_KIND_PATH, text, scratch, out, NULL);
    if (status != IL_E_INVALID || s == NULL || s->cwd.n == 0 || !il_place_relative(text)) {
        return status;
    }
    il_buf_init(&b, scratch, SIZE_MAX / 2);
    il_buf_put(&b, s->cwd);
    il_buf_put(&b, IL_STR("/"));
    il_buf_put(&b, text);
    IL_TRY(il_buf_done(&b, &text, NULL));
    return il_kind_value(IL_KIND_PATH, text, scratch, out, NULL);
}

static il_status il_places_value(il_places *p, il_kind kind, const il_json *v, il_error *err) {
    il_str text = {0}, canonical = {0};
    const il_status s = !il_arg_text(v, &text) ? IL_E_INVALID
                        : kind == IL_KIND_PATH ? il_place_path(p->policy, p->server, text, p->scratch, &canonical)
                                               : il_kind_value(kind, text, p->scratch, &canonical, NULL);
    if (s != IL_OK && s != IL_E_INVALID) {
        return il_arena_fail(p->scratch, err);
    }
    il_places_add(p, kind, canonical);
    return IL_OK;
}

/* A call, or an item of it, that names no place writes where its tool writes by itself: for a path below the folder in which the server runs, if that is known, else anywhere
 * in the store. */
static il_status il_places_unnamed(il_places *p, il_kind kind, il_error *err) {
    const il_server *s = kind == IL_KIND_PATH && p->server.n > 0 ? il_policy_server(p->policy, p->server) : NULL;
    il_str place = {0};
    const il_status status = s != NULL && s->cwd.n > 0 ? il_kind_value(IL_KIND_PATH, s->cwd, p->scratch, &place, NULL) : IL_OK;
    if (status != IL_OK && status != IL_E_INVALID) {
        return il_arena_fail(p->scratch, err);
    }
    il_places_add(p, kind, place);
    return IL_OK;
}

/* The paths are one up to the step, so that they go through the same list. */
static bool il_places_beside(const il_argument *a, const il_argument *b, uint32_t step) {
    bool same = a->role == b->role && a->kind == b->kind && step < b->path.n;
    for (uint32_t i = 0; i <= step && same; i++) {
        const il_str x = a->path.steps[i], y = b->path.steps[i];
        same = x.p == NULL || y.p == NULL ? x.p == y.p : il_str_eq(x, y);
    }
    return same;
}

/* An item of the list at step `step` names a place of its kind, by whichever argument. */
static bool il_places_named(const il_tool *t, const il_argument *a, uint32_t step, const il_json *item) {
    bool named = false;
    for (uint32_t i = 0; i < t->narguments && !named; i++) {
        named = il_places_beside(a, &t->arguments[i], step) && il_arg_names(&t->arguments[i].path, step + 1, item);
    }
    return named;
}

static il_status il_places_walk(il_places *p, const il_tool *t, const il_argument *a, uint32_t step, const il_json *v,
                                il_error *err) {
    const bool every = step < a->path.n && a->path.steps[step].p == NULL;
    if (step < a->path.n && !every) {
        const il_json *child = il_json_get(v, a->path.steps[step]);
        return child != NULL ? il_places_walk(p, t, a, step + 1, child, err) : IL_OK;
    }
    if (!every && il_json_kind_of(v) != IL_JSON_ARRAY) {
        return il_arg_absent(v) ? IL_OK : il_places_value(p, a->kind, v, err);
    }
    for (const il_json *item = il_json_first(v); item != NULL; item = il_json_next(item)) { /* depth: that of the path */
        if (every && step + 1 < a->path.n && !il_places_named(t, a, step, item)) {
            IL_TRY(il_places_unnamed(p, a->kind, err));
        }
        IL_TRY(every ? il_places_walk(p, t, a, step + 1, item, err) : il_places_value(p, a->kind, item, err));
    }
    return IL_OK;
}

typedef struct il_places_of {
    il_places places;
    const il_json *args;
} il_places_of;

static il_status il_places_room(il_places *p, il_error *err) {
    if (p->list == NULL) {
        p->list = IL_NEW_ARRAY(p->scratch, il_place, IL_PLACES_MAX);
    }
    return p->list != NULL ? IL_OK : il_arena_fail(p->scratch, err);
}

/* What a command writes, as far as it is understood. A relative name without the server's `cwd`, and what a build writes, is left out: it would always be the whole
 * store. */
static il_status il_places_command(il_places *p, const il_tool *t, const il_json *v, il_error *err) {
    il_shell shell;
    for (uint32_t i = 0; i < t->shell->n; i++) {
        v = t->shell->steps[i].p != NULL ? il_json_get(v, t->shell->steps[i]) : NULL;
    }
    if (il_json_kind_of(v) != IL_JSON_STRING) {
        return IL_OK;
    }
    IL_TRY(il_shell_read(il_json_text(v), p->scratch, &shell, err));
    const il_server *server = p->server.n > 0 ? il_policy_server(p->policy, p->server) : NULL;
    const bool known = server != NULL && server->cwd.n > 0;
    for (size_t i = 0; i < shell.nwrites; i++) {
        il_str canonical = {0};
        const il_status s = il_place_path(p->policy, p->server, shell.writes[i], p->scratch, &canonical);
        if (s == IL_OK) {
            IL_TRY(il_places_room(p, err));
            il_places_add(p, IL_KIND_PATH, canonical);
        } else if (s != IL_E_INVALID) {
            return il_arena_fail(p->scratch, err);
        } else if (known || !il_place_relative(shell.writes[i])) { /* `/a/../b`, `C:/a` */
            IL_TRY(il_places_room(p, err));
            il_places_add(p, IL_KIND_PATH, (il_str){0});
        }
    }
    return IL_OK;
}

/* The entry has a place of the kind for this call. */
static bool il_places_said(const il_tool *t, il_kind kind, const il_json *args) {
    bool said = false;
    for (uint32_t i = 0; i < t->nbuilt && !said; i++) {
        said = t->built[i].role == IL_ROLE_STORE && t->built[i].kind == kind;
    }
    for (uint32_t i = 0; i < t->narguments && !said; i++) {
        const il_argument *a = &t->arguments[i];
        said = a->role == IL_ROLE_STORE && a->kind == kind && il_arg_names(&a->path, 0, args);
    }
    return said;
}

static il_status il_places_tool(void *ctx, const il_tool *t, il_error *err) {
    il_places_of *of = ctx;
    il_places *p = &of->places;
    if (t->shell != NULL) {
        IL_TRY(il_places_command(p, t, of->args, err));
    }
    for (uint32_t i = 0; i < t->nbuilt; i++) {
        if (t->built[i].role == IL_ROLE_STORE) {
            IL_TRY(il_places_room(p, err));
            il_places_add(p, t->built[i].kind, t->built[i].fixed);
        }
    }
    for (uint32_t i = 0; i < t->narguments; i++) {
        if (t->arguments[i].role != IL_ROLE_STORE) {
            continue;
        }
        IL_TRY(il_places_room(p, err));
        IL_TRY(il_places_walk(p, t, &t->arguments[i], 0, of->args, err));
        IL_TRY(il_places_said(t, t->arguments[i].kind, of->args) ? IL_OK : il_places_unnamed(p, t->arguments[i].kind, err));
    }
    return IL_OK;
}

il_status il_label_places(const il_policy *p, il_str name, const il_label_call *call, il_arena *scratch, il_label *out,
                          il_error *err) {
    il_places_of of = {{.policy = p, .server = call->server, .scratch = scratch}, call->args};
    IL_TRY(il_policy_match_each(p, name, il_places_tool, &of, err));
    out->places = of.places.list;
    out->nplaces = of.places.n;
    return IL_OK;
}
