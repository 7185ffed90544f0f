/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/options.h"

#include "policy/compiled.h"
#include "policy/words.h"

#define IL_SOURCES_MAX 10000u

/* Where a name stands in a sorted list, or would. */
static uint32_t il_options_place(const il_str *sorted, uint32_t n, il_str name) {
    uint32_t from = 0;
    while (from < n) {
        const uint32_t mid = from + (n - from) / 2;
        const bool below = il_str_cmp(sorted[mid], name) < 0;
        from = below ? mid + 1 : from;
        n = below ? n : mid;
    }
    return from;
}

static il_status il_options_sources(il_options *out, const il_json *v, il_arena *arena, il_error *err) {
    const size_t n = il_json_count(v);
    if (il_json_kind_of(v) != IL_JSON_OBJECT || n == 0) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`sources` maps a name to `trusted` or `untrusted`");
    }
    if (n > IL_SOURCES_MAX) {
        return IL_JSON_FAIL(v, err, IL_E_LIMIT, "more than %u sources", IL_SOURCES_MAX);
    }
    il_str *names = IL_NEW_ARRAY(arena, il_str, n), *trusted = IL_NEW_ARRAY(arena, il_str, n);
    if (names == NULL || trusted == NULL) {
        return il_arena_fail(arena, err);
    }
    for (const il_json *s = il_json_first(v); s != NULL; s = il_json_next(s)) {
        const il_str word = il_json_kind_of(s) == IL_JSON_STRING ? il_json_text(s) : (il_str){0};
        if (il_str_eq(word, IL_STR("untrusted"))) {
            IL_TRY(il_arena_copy(arena, il_json_key(s), &names[out->nuntrusted++], err));
        } else if (il_str_eq(word, IL_STR("trusted"))) {
            il_str name;
            IL_TRY(il_arena_copy(arena, il_json_key(s), &name, err));
            const uint32_t at = il_options_place(trusted, out->ntrusted, name);
            memmove(trusted + at + 1, trusted + at, (out->ntrusted - at) * sizeof *trusted);
            trusted[at] = name;
            out->ntrusted++;
        } else {
            return IL_JSON_FAIL(s, err, IL_E_INVALID, "a source is `trusted` or `untrusted`");
        }
    }
    out->untrusted = names;
    out->trusted = trusted;
    return IL_OK;
}

static il_status il_options_truth(const il_json *v, bool *out, il_error *err) {
    if (v != NULL && il_json_kind_of(v) != IL_JSON_BOOL) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s` is true or false", IL_STR_ARG(il_json_key(v)));
    }
    *out = il_json_bool(v);
    return IL_OK;
}

il_status il_options_load(il_options *out, const il_json *sources, const il_json *sessions, const il_json *audit, il_arena *arena,
                          il_error *err) {
    const il_str call = IL_STR("call_deadline"), laundering = IL_STR("laundering");
    *out = (il_options){0};
    if (sources != NULL) {
        IL_TRY(il_options_sources(out, sources, arena, err));
    }
    if (sessions != NULL) {
        IL_TRY(il_json_only(sessions, &call, 1, "`sessions`", err));
        const il_json *ms = il_json_get(sessions, call);
        IL_TRY(ms != NULL ? il_words_duration(ms, &out->call_ms, err) : IL_OK);
    }
    if (audit != NULL) {
        IL_TRY(il_json_only(audit, &laundering, 1, "`audit`", err));
        IL_TRY(il_options_truth(il_json_get(audit, laundering), &out->laundering, err));
    }
    return IL_OK;
}

bool il_policy_source_untrusted(const il_policy *p, il_str name) {
    for (uint32_t i = 0; p != NULL && i < p->options.nuntrusted; i++) {
        if (il_str_eq(p->options.untrusted[i], name)) {
            return true;
        }
    }
    return false;
}

bool il_policy_source_trusted(const il_policy *p, il_str name) {
    const uint32_t at = p != NULL ? il_options_place(p->options.trusted, p->options.ntrusted, name) : 0;
    return p != NULL && at < p->options.ntrusted && il_str_eq(p->options.trusted[at], name);
}

static bool il_options_trusts(const void *policy, il_str source) { return il_policy_source_trusted(policy, source); }

il_trust_table il_policy_trust(const il_policy *p) {
    return (il_trust_table){.size = sizeof(il_trust_table), .ctx = p, .trusts = il_options_trusts};
}

uint64_t il_policy_call_ms(const il_policy *p) { return p != NULL ? p->options.call_ms : 0; }

bool il_policy_audits_laundering(const il_policy *p) { return p != NULL && p->options.laundering; }
