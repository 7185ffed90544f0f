/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#define ORIGIN_PARTS 2048u

static il_str origin_item(const il_json *list, size_t at) {
    const il_json *item = il_json_first(list);
    while (item != NULL && at-- > 0) {
        item = il_json_next(item);
    }
    return il_json_text(item);
}

static il_status origin_digest(il_str hex, uint8_t out[IL_DIGEST_BYTES]) {
    for (size_t i = 0; i < 2 * (size_t)IL_DIGEST_BYTES; i++) {
        const char c = i < hex.n ? hex.p[i] : 'x';
        const int v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (v < 0) {
            return IL_E_INVALID;
        }
        out[i / 2] = (uint8_t)(i % 2 == 0 ? v << 4 : out[i / 2] | v);
    }
    return hex.n == 2 * (size_t)IL_DIGEST_BYTES ? IL_OK : IL_E_INVALID;
}

static il_status origin_endorsed(const il_json *all, il_origin **o, il_error *err) {
    for (const il_json *v = il_json_first(all); v != NULL; v = il_json_next(v)) {
        il_endorsement e = {.size = sizeof e,
                            .kind = il_json_text(il_json_get(v, IL_STR("kind"))),
                            .by = il_json_text(il_json_get(v, IL_STR("by")))};
        il_origin *more = NULL;
        il_status s = origin_digest(il_json_text(il_json_get(v, IL_STR("digest"))), e.digest);
        s = s == IL_OK ? il_origin_endorse(&iljs_alloc, *o, &e, &more, err) : s;
        if (s != IL_OK) {
            return s;
        }
        il_origin_free(*o);
        *o = more;
    }
    return IL_OK;
}

/* One origin of every source and agent of `v`; `more`: and of sources that nobody knows. */
static il_status origin_of(const il_json *v, il_origin **out, il_error *err) {
    const il_json *sources = il_json_get(v, IL_STR("sources")), *agents = il_json_get(v, IL_STR("agents"));
    const size_t ns = il_json_count(sources), na = il_json_count(agents), n = ns > na ? ns : na;
    const bool unknown = ns == 0 || il_json_bool(il_json_get(v, IL_STR("more")));
    il_origin **parts =
        n <= ORIGIN_PARTS ? malloc((n + 1) * sizeof *parts) : NULL; /* NOLINT(bugprone-sizeof-expression): pointers */
    size_t made = 0;
    if (parts == NULL) {
        return n <= ORIGIN_PARTS ? IL_E_MEMORY : IL_E_LIMIT;
    }
    il_status s = unknown ? il_origin_unknown(&iljs_alloc, &parts[0], err) : IL_OK;
    made += unknown && s == IL_OK ? 1 : 0;
    for (size_t i = 0; i < n && ns > 0 && s == IL_OK; i++) {
        s = il_origin_new(&iljs_alloc, origin_item(sources, i < ns ? i : 0), origin_item(agents, i < na ? i : 0), &parts[made],
                          err);
        made += s == IL_OK ? 1 : 0;
    }
    s = s == IL_OK ? il_origin_merge(&iljs_alloc, (const il_origin *const *)parts, made, out, err) : s;
    while (made > 0) {
        il_origin_free(parts[--made]);
    }
    free((void *)parts);
    return s == IL_OK ? origin_endorsed(il_json_get(v, IL_STR("endorsed")), out, err) : s;
}

il_status iljs_labels_new(const il_json *all, iljs_labels *out, il_error *err) {
    const size_t n = il_json_count(all);
    *out = (iljs_labels){0};
    if (n == 0 || n > IL_CALL_LABELS) {
        return n == 0 ? IL_OK : IL_E_LIMIT;
    }
    out->list = malloc(n * sizeof *out->list);
    if (out->list == NULL) {
        return IL_E_MEMORY;
    }
    for (const il_json *v = il_json_first(all); v != NULL; v = il_json_next(v)) {
        il_origin *o = NULL;
        const il_status s = origin_of(v, &o, err);
        if (s != IL_OK) {
            il_origin_free(o);
            return s;
        }
        out->list[out->n++] = (il_origin_at){.path = il_json_text(il_json_get(v, IL_STR("path"))), .origin = o};
    }
    return IL_OK;
}

void iljs_labels_free(iljs_labels *l) {
    for (size_t i = 0; i < l->n; i++) {
        il_origin_free((il_origin *)(uintptr_t)l->list[i].origin); /* NOLINT(performance-no-int-to-ptr): ours, lent as const */
    }
    free(l->list);
    *l = (iljs_labels){0};
}
