/* SPDX-License-Identifier: Apache-2.0 */
/* What packing and opening have in common: limits, and finding the parts of a payload. */
#include "provenance/envelope.h"

const il_str il_envelope_members[IL_ENVELOPE_MEMBERS] = {{"audience", 8},  {"expires_ms", 10}, {"interlock_envelope", 18},
                                                         {"issued_ms", 9}, {"key", 3},         {"labels", 6},
                                                         {"mac", 3},       {"nonce", 5},       {"origins", 7},
                                                         {"payload", 7},   {"run", 3}};
const il_str il_envelope_effects[IL_ENVELOPE_EFFECTS] = {{"untrusted", 9}, {"sensitive", 9}, {"secret", 6}, {"egress", 6}};
_Static_assert((int)IL_UNTRUSTED == 1 && (int)IL_SENSITIVE == 2 && (int)IL_SECRET == 4 && (int)IL_EGRESS == 8, "words by bit");

static uint32_t envelope_limit(uint32_t asked, uint32_t otherwise) { return asked != 0 ? asked : otherwise; }

il_status il_envelope_limits_fill(const il_envelope_limits *limits, il_envelope_limits *out, il_error *err) {
    const il_envelope_limits none = {.size = sizeof none};
    const il_envelope_limits *l = limits != NULL ? limits : &none;
    if (l->size < sizeof *l || l->bytes > ((size_t)64 << 20) || l->depth > IL_JSON_DEPTH_MAX) {
        return il_error_set(err, IL_E_ARGUMENT, "limits without their size, or above what there may be");
    }
    *out = (il_envelope_limits){.size = sizeof *out,
                                .bytes = l->bytes != 0 ? l->bytes : (size_t)4 << 20,
                                .depth = envelope_limit(l->depth, 64),
                                .nodes = envelope_limit(l->nodes, 200000),
                                .labels = envelope_limit(l->labels, 100000),
                                .origins = envelope_limit(l->origins, 10000)};
    return IL_OK;
}

/* Breadth first: what is at work here stands behind itself. */
static il_status parts_spread(il_parts *parts, const il_json *root, uint32_t room, il_error *err) {
    parts->list[parts->n++].v = root;
    for (uint32_t i = 0; i < parts->n; i++) {
        const il_json *last = NULL;
        parts->list[i].first = parts->n;
        for (const il_json *c = il_json_first(parts->list[i].v); c != NULL; last = c, c = il_json_next(c)) {
            IL_CHECK(parts->n < room, err);
            if (last != NULL && il_json_kind_of(parts->list[i].v) == IL_JSON_OBJECT &&
                il_str_cmp(il_json_key(last), il_json_key(c)) >= 0) {
                return il_error_set(err, IL_E_INVALID, "the payload's members are not sorted");
            }
            parts->list[parts->n++].v = c;
        }
    }
    return IL_OK;
}

il_status il_parts_read(il_parts *parts, il_str payload, const il_envelope_limits *limits, il_arena *arena, il_error *err) {
    const il_json_limits json = {.size = sizeof json,
                                 .bytes = limits->bytes,
                                 .depth = limits->depth,
                                 .nodes = limits->nodes,
                                 .key_bytes = (uint32_t)limits->bytes,
                                 .memory = IL_ENVELOPE_MEMORY};
    il_json *root = NULL;
    IL_TRY(il_json_parse(arena, payload, &json, &root, err));
    const uint32_t room = payload.n < limits->nodes ? (uint32_t)payload.n : limits->nodes; /* no value is shorter than a byte */
    *parts = (il_parts){.list = IL_NEW_ARRAY(arena, il_part, (size_t)room + 1),
                        .name = il_arena_bytes(arena, payload.n + 1),
                        .longest = payload.n};
    if (parts->list == NULL || parts->name == NULL) {
        return il_arena_fail(arena, err);
    }
    return parts_spread(parts, root, room + 1, err);
}

/* One name of a path, with ~0 and ~1 read; false for another `~`, and for one that is longer than any. */
static bool parts_name(const il_parts *parts, il_str raw, il_str *out) {
    size_t n = 0;
    for (size_t i = 0; i < raw.n; i++) {
        char c = raw.p[i];
        if (c == '~') {
            if (++i == raw.n || (raw.p[i] != '0' && raw.p[i] != '1')) {
                return false;
            }
            c = raw.p[i] == '0' ? '~' : '/';
        }
        if (n == parts->longest) {
            return false;
        }
        parts->name[n++] = c;
    }
    *out = (il_str){parts->name, n};
    return true;
}

/* The child of this name; SIZE_MAX: there is none. */
static size_t parts_member(const il_parts *parts, const il_part *at, il_str name) {
    size_t from = at->first, to = from + il_json_count(at->v);
    while (from < to) {
        const size_t mid = from + (to - from) / 2;
        const int c = il_str_cmp(il_json_key(parts->list[mid].v), name);
        if (c == 0) {
            return mid;
        }
        from = c < 0 ? mid + 1 : from;
        to = c < 0 ? to : mid;
    }
    return SIZE_MAX;
}

static size_t parts_item(const il_part *at, il_str name) {
    size_t number = 0;
    bool good = name.n > 0 && name.n < 10 && (name.n == 1 || name.p[0] != '0');
    for (size_t i = 0; i < name.n && good; i++) {
        good = name.p[i] >= '0' && name.p[i] <= '9';
        number = 10 * number + (size_t)(name.p[i] - '0');
    }
    return good && number < il_json_count(at->v) ? at->first + number : SIZE_MAX;
}

il_status il_parts_label(il_parts *parts, il_str path, il_error *err) {
    size_t at = 0, from = 0;
    bool good = path.n == 0 || path.p[0] == '/';
    while (good && from < path.n) {
        const size_t next = il_str_find(path, IL_STR("/"), from + 1), to = next != SIZE_MAX ? next : path.n;
        const il_part *part = &parts->list[at];
        il_str name;
        good = parts_name(parts, il_str_part(path, from + 1, to), &name);
        if (good) {
            const il_json_kind kind = il_json_kind_of(part->v);
            at = kind == IL_JSON_OBJECT  ? parts_member(parts, part, name)
                 : kind == IL_JSON_ARRAY ? parts_item(part, name)
                                         : SIZE_MAX;
            good = at != SIZE_MAX;
        }
        from = to;
    }
    if (!good) {
        return il_error_set(err, IL_E_INVALID, "the label's path `%.*s` leads to nothing", IL_STR_ARG(path));
    }
    if (parts->list[at].labelled) {
        return il_error_set(err, IL_E_INVALID, "`%.*s` has two labels; merge them", IL_STR_ARG(path));
    }
    parts->list[at].labelled = true;
    return IL_OK;
}
