/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/approval.h"

#include "base/sha256.h"
#include "policy/compiled.h"
#include "policy/words.h"

#define IL_APPROVAL_BY_MAX 1000u
#define IL_APPROVAL_BUDGET_MAX 1000u

static const uint32_t il_approval_sinks = (uint32_t)(IL_EGRESS | IL_COMMIT);

static il_status il_approval_by(const il_json *v, il_arena *arena, il_approval_rules *out, il_error *err) {
    const size_t n = il_json_count(v);
    if (il_json_kind_of(v) != IL_JSON_ARRAY || n == 0) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`by` is a list of names; leave it out for everybody who can answer");
    }
    il_str *by = n <= IL_APPROVAL_BY_MAX ? IL_NEW_ARRAY(arena, il_str, n) : NULL;
    if (n > IL_APPROVAL_BY_MAX) {
        return IL_JSON_FAIL(v, err, IL_E_LIMIT, "more than %u names", IL_APPROVAL_BY_MAX);
    }
    if (by == NULL) {
        return il_arena_fail(arena, err);
    }
    for (const il_json *name = il_json_first(v); name != NULL; name = il_json_next(name)) {
        if (il_json_kind_of(name) != IL_JSON_STRING || il_json_text(name).n == 0 || il_json_text(name).n > 128) {
            return IL_JSON_FAIL(name, err, IL_E_INVALID, "who may answer is a name of at most 128 bytes");
        }
        IL_TRY(il_arena_copy(arena, il_json_text(name), &by[out->nby++], err));
    }
    out->by = by;
    return IL_OK;
}

static const char *const il_approval_wheres[] = {"page", "notification"}; /* by bit */

static il_status il_approval_where_read(const il_json *v, uint32_t *out, il_error *err) {
    *out = 0;
    if (il_json_kind_of(v) != IL_JSON_ARRAY || il_json_count(v) == 0) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`where` is a list of `page` and `notification`");
    }
    for (const il_json *w = il_json_first(v); w != NULL; w = il_json_next(w)) {
        uint32_t bit = 0;
        for (uint32_t i = 0; i < 2; i++) {
            bit |= il_json_kind_of(w) == IL_JSON_STRING && il_str_eq(il_json_text(w), il_str_of(il_approval_wheres[i])) ? 1u << i
                                                                                                                        : 0u;
        }
        if (bit == 0) {
            return IL_JSON_FAIL(w, err, IL_E_INVALID, "`where` is a list of `page` and `notification`");
        }
        *out |= bit;
    }
    return IL_OK;
}

/* `6/hour` */
static il_status il_approval_budget(const il_json *v, il_approval_rules *out, il_error *err) {
    const il_str text = il_json_kind_of(v) == IL_JSON_STRING ? il_json_text(v) : (il_str){0};
    int64_t n = 0;
    if (!il_str_ends(text, IL_STR("/hour")) || !il_str_int(il_str_part(text, 0, text.n - 5), &n) || n < 1 ||
        n > (int64_t)IL_APPROVAL_BUDGET_MAX) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`budget` is a number of requests an hour, such as `6/hour`, at most %u",
                            IL_APPROVAL_BUDGET_MAX);
    }
    out->budget = (uint32_t)n;
    out->budget_line = il_json_line(v);
    return IL_OK;
}

il_status il_approvals_load(const il_json *v, il_arena *arena, il_approval_rules *out, il_error *err) {
    static const il_str keys[] = {{"for", 3}, {"expires", 7}, {"by", 2}, {"where", 5}, {"once", 4}, {"budget", 6}};
    *out = (il_approval_rules){.lasts_ms = 600000, .where = IL_APPROVAL_PAGE | IL_APPROVAL_NOTIFICATION};
    if (v == NULL) {
        return IL_OK;
    }
    IL_TRY(il_json_only(v, keys, 6, "`approvals`", err));
    out->releases = il_approval_sinks;
    out->line = v->key_line;
    out->col = v->key_col;
    const il_json *releases = il_json_get(v, keys[0]), *expires = il_json_get(v, keys[1]), *by = il_json_get(v, keys[2]);
    const il_json *where = il_json_get(v, keys[3]), *once = il_json_get(v, keys[4]), *budget = il_json_get(v, keys[5]);
    if (releases != NULL) {
        IL_TRY(il_words_effects(releases, il_approval_sinks, "`for`", &out->releases, err));
        out->releases_line = il_json_line(releases);
        out->releases_col = il_json_col(releases);
    }
    IL_TRY(by != NULL ? il_approval_by(by, arena, out, err) : IL_OK);
    IL_TRY(where != NULL ? il_approval_where_read(where, &out->where, err) : IL_OK);
    IL_TRY(budget != NULL ? il_approval_budget(budget, out, err) : IL_OK);
    if (once != NULL && !il_json_bool(once)) {
        return IL_JSON_FAIL(once, err, IL_E_INVALID,
                            "an approval is for one call with exactly these arguments: `once: true`, or leave it out");
    }
    return expires != NULL ? il_words_duration(expires, &out->lasts_ms, err) : IL_OK;
}

const il_approval_rules *il_policy_approval_rules(const il_policy *p) {
    static const il_approval_rules none = {0};
    return p != NULL ? &p->approvals : &none;
}

bool il_policy_may_release(const il_policy *p, uint32_t effects) {
    const uint32_t sinks = effects & il_approval_sinks;
    return p != NULL && sinks != 0 && (sinks & ~p->approvals.releases) == 0;
}

bool il_policy_may_answer(const il_policy *p, il_str by) {
    const il_approval_rules *rules = il_policy_approval_rules(p);
    for (uint32_t i = 0; i < rules->nby; i++) {
        if (il_str_eq(rules->by[i], by)) {
            return true;
        }
    }
    return rules->nby == 0;
}

bool il_policy_answered(const il_policy *p, const uint8_t by[16]) {
    const il_approval_rules *rules = il_policy_approval_rules(p);
    for (uint32_t i = 0; i < rules->nby; i++) {
        uint8_t digest[IL_DIGEST_BYTES];
        il_sha256_of(rules->by[i], digest);
        if (memcmp(digest, by, 16) == 0) {
            return true;
        }
    }
    return rules->nby == 0;
}

uint32_t il_policy_asks_where(const il_policy *p, il_str out[2]) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < 2; i++) {
        if ((il_policy_approval_rules(p)->where >> i & 1u) != 0) {
            out[n++] = il_str_of(il_approval_wheres[i]);
        }
    }
    return n;
}

uint64_t il_policy_approval_ms(const il_policy *p) { return il_policy_approval_rules(p)->lasts_ms; }
