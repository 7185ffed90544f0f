/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/harden_confirmed.h"

#include "base/error.h"
#include "base/sha256.h"
#include "host/file.h"
#include "json/node.h"

static il_status confirmed_wrong(const il_json *at, const char *what, il_error *err) {
    return il_error_at(err, IL_E_INVALID, at->line, at->col, 0, "%s; the file is what `make proofs` writes: confirmations.json",
                       what);
}

/* The text of a member that has to be there. */
static il_status confirmed_text(const il_json *o, const char *key, il_str *out, il_error *err) {
    const il_json *v = o->kind == IL_JSON_OBJECT ? il_json_get(o, il_str_of(key)) : NULL;
    if (!v || v->kind != IL_JSON_STRING) {
        return confirmed_wrong(v ? v : o, "a confirmation has `table`, `by` and `says`, each a text", err);
    }
    *out = il_json_text(v);
    return IL_OK;
}

static il_status confirmed_one(il_harden *h, const il_json *entry, il_str digest, il_json *list, il_error *err) {
    il_arena *a = h->subject.arena;
    il_str table, by, says;
    IL_TRY(confirmed_text(entry, "table", &table, err));
    IL_TRY(confirmed_text(entry, "by", &by, err));
    IL_TRY(confirmed_text(entry, "says", &says, err));
    if (h->table.n == 0 || !il_str_eq(table, digest)) {
        return IL_OK; /* of another machine */
    }
    il_json *o = il_json_make(a, IL_JSON_OBJECT);
    const bool made = il_json_set(o, IL_STR("by"), il_json_string(a, by)) &&
                      il_json_set(o, IL_STR("says"), il_json_string(a, says)) && il_json_push(list, o);
    return made ? IL_OK : il_arena_fail(a, err);
}

static il_status confirmed_read(il_harden *h, const char *path, il_json *list, il_error *err) {
    char digest[IL_DIGEST_HEX];
    il_json *doc = NULL;
    IL_TRY(il_file_document(h->subject.arena, path, IL_FILE_DATA, &doc, err));
    const il_json *all = doc->kind == IL_JSON_OBJECT ? il_json_get(doc, IL_STR("confirmations")) : NULL;
    if (!all || all->kind != IL_JSON_ARRAY) {
        return confirmed_wrong(doc, "there is no list `confirmations`", err);
    }
    il_digest_hex(h->table_digest, digest);
    for (const il_json *c = il_json_first(all); c; c = il_json_next(c)) {
        IL_TRY(confirmed_one(h, c, il_str_of(digest), list, err));
    }
    return IL_OK;
}

il_status il_harden_confirmed(il_harden *h, const char *path, il_error *err) {
    il_json *list = il_json_make(h->subject.arena, IL_JSON_ARRAY);
    if (!list) {
        return il_arena_fail(h->subject.arena, err);
    }
    if (path) {
        IL_TRY(confirmed_read(h, path, list, err));
    }
    return il_harden_join(h, "confirmers", list, err);
}
