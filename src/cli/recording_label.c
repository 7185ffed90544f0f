/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording_label.h"

#include "policy/carried.h"
#include "provenance/origin.h"

/* A text by itself is a list of one. */
static const il_json *label_first(const il_json *v) { return il_json_kind_of(v) == IL_JSON_STRING ? v : il_json_first(v); }
static const il_json *label_next(const il_json *list, const il_json *v) {
    return il_json_kind_of(list) == IL_JSON_STRING ? NULL : il_json_next(v);
}

static il_status label_name(const il_json *name, const char *what, bool kind, il_error *err) {
    const il_endorsement e = {.size = sizeof e, .kind = il_json_text(name), .by = IL_STR("session file")};
    il_error why = {0};
    const il_status status = il_json_kind_of(name) != IL_JSON_STRING ? IL_E_INVALID
                             : kind                                  ? il_origin_endorsement_check(&e, &why)
                                                                     : il_origin_name_check(il_json_text(name), "a name", &why);
    return status == IL_OK ? IL_OK
                           : IL_JSON_FAIL(name, err, status, "`%s` of a label is a name or a list of names%s%s", what,
                                          why.msg[0] ? ": " : "", why.msg);
}

static il_status label_names(const il_json *v, const char *what, bool kind, il_error *err) {
    if (!v || il_json_kind_of(v) == IL_JSON_STRING) {
        return v ? label_name(v, what, kind, err) : IL_OK;
    }
    if (il_json_kind_of(v) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%s` of a label is a name or a list of names", what);
    }
    for (const il_json *name = il_json_first(v); name; name = il_json_next(name)) {
        IL_TRY(label_name(name, what, kind, err));
    }
    return IL_OK;
}

static il_status label_read(const il_json *v, const il_json *args, il_recording_label *out, il_error *err) {
    static const il_str keys[] = {{"sources", 7}, {"agents", 6}, {"endorsed", 8}};
    *out = (il_recording_label){.path = il_json_key(v), .value = il_carried_value(args, il_json_key(v))};
    if (!out->value) {
        return il_error_at(err, IL_E_INVALID, v->key_line, v->key_col, v->key_offset,
                           "`labels`: nothing stands at `%.*s` of `args`; a path is `/to` or `/to/0`", IL_STR_ARG(v->key));
    }
    if (il_json_kind_of(v) == IL_JSON_STRING || il_json_kind_of(v) == IL_JSON_ARRAY) {
        out->sources = v;
        return label_names(v, "sources", false, err);
    }
    IL_TRY(il_json_only(v, keys, 3, "a label", err));
    out->sources = il_json_get(v, keys[0]);
    out->agents = il_json_get(v, keys[1]);
    out->endorsed = il_json_get(v, keys[2]);
    IL_TRY(label_names(out->sources, "sources", false, err));
    IL_TRY(label_names(out->agents, "agents", false, err));
    return label_names(out->endorsed, "endorsed", true, err);
}

il_status il_recording_labels(il_arena *arena, const il_json *labels, const il_json *args, il_recording_label **out, uint32_t *n,
                              il_error *err) {
    *out = NULL;
    *n = 0;
    if (il_json_kind_of(labels) == IL_JSON_NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(labels) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(labels, err, IL_E_INVALID, "`labels` maps paths in `args` to sources, such as {\"/to\": \"web\"}");
    }
    if (il_json_count(labels) > IL_CALL_LABELS) {
        return IL_JSON_FAIL(labels, err, IL_E_LIMIT, "more than %u labels", IL_CALL_LABELS);
    }
    *out = IL_NEW_ARRAY(arena, il_recording_label, il_json_count(labels));
    if (!*out) {
        return il_arena_fail(arena, err);
    }
    for (const il_json *v = il_json_first(labels); v; v = il_json_next(v)) {
        IL_TRY(label_read(v, args, &(*out)[(*n)++], err));
    }
    return IL_OK;
}

/* What was made so far and one more; the earlier one is freed. */
static il_status label_join(const il_alloc *alloc, il_origin **all, il_origin *more, il_error *err) {
    il_origin *joined = NULL;
    if (!*all) {
        *all = more;
        return IL_OK;
    }
    const il_status status = il_origin_merge(alloc, (const il_origin *[]){*all, more}, 2, &joined, err);
    il_origin_free(more);
    if (status == IL_OK) {
        il_origin_free(*all);
        *all = joined;
    }
    return status;
}

/* Each source, taken in by each agent. */
static il_status label_sources(const il_alloc *alloc, const il_recording_label *label, il_str agent, il_origin **out,
                               il_error *err) {
    for (const il_json *s = label_first(label->sources); s; s = label_next(label->sources, s)) {
        const il_json *a = label_first(label->agents);
        do {
            il_origin *one = NULL;
            IL_TRY(il_origin_new(alloc, il_json_text(s), a ? il_json_text(a) : agent, &one, err));
            IL_TRY(label_join(alloc, out, one, err));
            a = a ? label_next(label->agents, a) : NULL;
        } while (a);
    }
    return *out ? IL_OK : il_origin_unknown(alloc, out, err);
}

static il_status label_endorsed(const il_alloc *alloc, const il_recording_label *label, il_origin **out, il_error *err) {
    il_endorsement e = {.size = sizeof e, .by = IL_STR("session file")};
    if (!label_first(label->endorsed)) {
        return IL_OK;
    }
    IL_TRY(il_value_digest(label->value, e.digest, err));
    for (const il_json *kind = label_first(label->endorsed); kind; kind = label_next(label->endorsed, kind)) {
        il_origin *more = NULL;
        e.kind = il_json_text(kind);
        IL_TRY(il_origin_endorse(alloc, *out, &e, &more, err));
        il_origin_free(*out);
        *out = more;
    }
    return IL_OK;
}

il_status il_recording_origin(const il_alloc *alloc, const il_recording_label *label, il_str agent, il_origin **out,
                              il_error *err) {
    *out = NULL;
    il_status status = label_sources(alloc, label, agent, out, err);
    if (status == IL_OK) {
        status = label_endorsed(alloc, label, out, err);
    }
    if (status != IL_OK) {
        il_origin_free(*out);
        *out = NULL;
    }
    return status;
}
