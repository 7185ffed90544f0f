/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/carried.h"

#include "base/sha256.h"
#include "provenance/memory.h"

/* The first name of a path, as it is written: `a~1b` of `/a~1b/0`. */
static il_str il_carried_first(il_str path) {
    const size_t end = il_str_find(path, IL_STR("/"), 1);
    return il_str_part(path, 1, end != SIZE_MAX ? end : path.n);
}

/* Whether a name of a path is this key: `~1` stands for `/`, `~0` for `~`. */
static bool il_carried_is(il_str name, il_str key) {
    size_t at = 0;
    for (size_t i = 0; i < name.n; i++, at++) {
        char c = name.p[i];
        if (c == '~' && i + 1 < name.n) {
            c = name.p[++i] == '1' ? '/' : '~';
        }
        if (at == key.n || key.p[at] != c) {
            return false;
        }
    }
    return at == key.n;
}

bool il_carried_about(const il_origin_at *label, il_str argument) {
    return label->path.n == 0 || il_carried_is(il_carried_first(label->path), argument);
}

bool il_carried_whole(const il_origin_at *label) {
    return label->path.n == 0 || il_carried_first(label->path).n + 1 == label->path.n;
}

/* The member or item of this name, as a path writes it. */
static const il_json *il_carried_step(const il_json *v, il_str name) {
    const bool list = il_json_kind_of(v) == IL_JSON_ARRAY;
    int64_t number = -1, at = 0;
    if (list && !il_str_int(name, &number)) {
        return NULL;
    }
    for (const il_json *child = il_json_first(v); child != NULL; child = il_json_next(child), at++) {
        if (list ? at == number : il_carried_is(name, il_json_key(child))) {
            return child;
        }
    }
    return NULL;
}

const il_json *il_carried_value(const il_json *args, il_str path) {
    const il_json *v = args;
    for (size_t from = 0; from < path.n && v != NULL;) {
        const size_t next = il_str_find(path, IL_STR("/"), from + 1);
        const size_t end = next != SIZE_MAX ? next : path.n;
        v = path.p[from] == '/' ? il_carried_step(v, il_str_part(path, from + 1, end)) : NULL;
        from = end;
    }
    return v;
}

il_status il_carried_check(const il_json *args, const il_origin_at *labels, size_t n, il_error *err) {
    const il_label_call call = {.labels = labels, .nlabels = n};
    if (n > IL_CALL_LABELS || (n > 0 && labels == NULL) || il_carried_names(&call) > IL_CALL_NAMES) {
        return il_error_set(err, IL_E_LIMIT, "more than %u labels, or %u names in them; merge those of an argument",
                            IL_CALL_LABELS, IL_CALL_NAMES);
    }
    for (size_t i = 0; i < n; i++) {
        const il_str path = labels[i].path;
        bool found = path.n == 0 || (path.p[0] == '/' && il_json_get(args, il_carried_first(path)) != NULL);
        for (const il_json *a = il_json_first(args); a != NULL && !found && path.p[0] == '/'; a = il_json_next(a)) {
            found = il_carried_about(&labels[i], il_json_key(a));
        }
        if (!found) {
            return il_error_set(err, IL_E_INVALID, "the label's path `%.*s` begins with no argument; an argument is `/name`",
                                IL_STR_ARG(path));
        }
    }
    return IL_OK;
}

bool il_carried_untrusted(const il_policy *p, const il_label_call *call) {
    const il_trust_table table = il_policy_trust(p);
    for (size_t i = 0; i < call->nlabels; i++) {
        if (il_origin_trust(call->labels[i].origin, &table) == IL_TRUST_UNTRUSTED) {
            return true;
        }
    }
    return false;
}

uint32_t il_carried_names(const il_label_call *call) {
    size_t n = 0;
    for (size_t i = 0; i < call->nlabels && n <= IL_CALL_NAMES; i++) {
        n += il_origin_sources(call->labels[i].origin) + il_origin_agents(call->labels[i].origin);
    }
    return (uint32_t)n;
}

/* ---- endorsements -------------------------------------------------------------------------------------- */

/* The memory keeps what a human said of a value under a kind that no value has: kinds of values have no colon. */
typedef struct il_carried_word {
    char kind[IL_ORIGIN_KIND_BYTES + 16], value[IL_DIGEST_HEX];
} il_carried_word;

static void il_carried_say(il_carried_word *w, il_str kind, const uint8_t digest[IL_DIGEST_BYTES]) {
    (void)il_format(w->kind, sizeof w->kind, "endorsed:%.*s", IL_STR_ARG(kind));
    il_digest_hex(digest, w->value);
}

il_status il_carried_endorse(const il_endorsement *e, il_arena *arena, il_episode **out, il_error *err) {
    il_carried_word w;
    il_carried_say(&w, e->kind, e->digest);
    IL_TRY(il_episode_new(arena, IL_SOURCE_HUMAN, 0, 0, (il_str){0}, (il_str){0}, out, err));
    return il_episode_typed_value(*out, il_str_of(w.kind), il_str_of(w.value), err);
}

bool il_carried_endorsed(const il_label_call *call, il_str kind, const uint8_t digest[IL_DIGEST_BYTES]) {
    il_carried_word w;
    for (size_t i = 0; i < call->nlabels; i++) {
        if (il_origin_endorsed(call->labels[i].origin, kind, digest)) {
            return true;
        }
    }
    if (kind.n == 0 || kind.n > IL_ORIGIN_KIND_BYTES || call->memory == NULL) {
        return false;
    }
    il_carried_say(&w, kind, digest);
    return il_memory_typed(call->memory, il_str_of(w.kind), il_str_of(w.value));
}
