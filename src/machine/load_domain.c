/* SPDX-License-Identifier: Apache-2.0 */
/* Finite domains: of variables and of payload fields. */
#include "machine/load.h"

bool il_load_is_word(il_str s) {
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool later = (c >= '0' && c <= '9') || c == '-';
        if (!letter && !(later && i > 0)) {
            return false;
        }
    }
    return s.n > 0 && s.n <= 64;
}

static il_status load_alloc_places(il_loader *l, il_domain *d, uint32_t n) {
    d->size = n;
    d->names = IL_NEW_ARRAY(l->arena, il_str, n);
    d->values = IL_NEW_ARRAY(l->arena, il_cel_value, n);
    if (!d->names || !d->values) {
        return il_arena_fail(l->arena, l->err);
    }
    return IL_OK;
}

static il_status load_bool(il_loader *l, il_domain *d) {
    d->kind = IL_DOMAIN_BOOL;
    d->type.kind = IL_CEL_BOOL;
    IL_TRY(load_alloc_places(l, d, 2));
    d->names[0] = IL_STR("false");
    d->names[1] = IL_STR("true");
    d->values[0] = il_cel_of_bool(false);
    d->values[1] = il_cel_of_bool(true);
    return IL_OK;
}

static il_status load_enum(il_loader *l, const il_json *list, il_str name, il_domain *d) {
    d->kind = IL_DOMAIN_ENUM;
    d->type.kind = IL_CEL_STRING;
    if (il_json_count(list) == 0) {
        return IL_JSON_FAIL(list, l->err, IL_E_INVALID, "`%.*s` has an empty domain: name at least one value", IL_STR_ARG(name));
    }
    if (il_json_count(list) > IL_MODEL_DOMAIN_MAX) {
        return IL_JSON_FAIL(list, l->err, IL_E_LIMIT, "`%.*s` has more than %u values", IL_STR_ARG(name),
                            (unsigned)IL_MODEL_DOMAIN_MAX);
    }
    IL_TRY(load_alloc_places(l, d, (uint32_t)il_json_count(list)));
    uint32_t n = 0;
    for (const il_json *v = il_json_first(list); v; v = il_json_next(v)) {
        if (il_json_kind_of(v) != IL_JSON_STRING || !il_load_is_word(v->text)) {
            return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "the values of `%.*s` must be words (letters, digits, `_`, `-`)",
                                IL_STR_ARG(name));
        }
        for (uint32_t i = 0; i < n; i++) {
            if (il_str_eq(d->names[i], v->text)) {
                return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "value `%.*s` of `%.*s` is listed twice", IL_STR_ARG(v->text),
                                    IL_STR_ARG(name));
            }
        }
        IL_TRY(il_arena_copy(l->arena, v->text, &d->names[n], l->err));
        d->values[n] = il_cel_of_str(d->names[n]);
        n++;
    }
    d->type.domain = d->names;
    d->type.ndomain = n;
    return IL_OK;
}

static bool load_bound(const il_loader *l, il_str s, int64_t *out) {
    if (il_str_int(s, out)) {
        return true;
    }
    for (size_t i = 0; i < l->nconsts; i++) {
        if (il_str_eq(l->consts[i].name, s)) {
            *out = l->consts[i].value;
            l->let_used[l->nlets - l->nconsts + i] = true;
            return true;
        }
    }
    return false;
}

static il_status load_int(il_loader *l, const il_json *v, il_str name, il_domain *d) {
    d->kind = IL_DOMAIN_INT;
    d->type.kind = IL_CEL_INT;
    il_str s = il_json_text(v);
    size_t dots = il_str_find(s, IL_STR(".."), 0);
    int64_t lo = 0;
    int64_t hi = 0;
    if (il_json_kind_of(v) != IL_JSON_STRING || dots == SIZE_MAX || !load_bound(l, il_str_part(s, 0, dots), &lo) ||
        !load_bound(l, il_str_part(s, dots + 2, s.n), &hi)) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "the range of `%.*s` must be LOW..HIGH, each a number or a const",
                            IL_STR_ARG(name));
    }
    if (lo > hi) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`%.*s` has an empty domain: %lld..%lld", IL_STR_ARG(name), (long long)lo,
                            (long long)hi);
    }
    int64_t span = 0;
    if (__builtin_sub_overflow(hi, lo, &span) || span >= IL_MODEL_DOMAIN_MAX) {
        return IL_JSON_FAIL(v, l->err, IL_E_LIMIT, "`%.*s` has more than %u values", IL_STR_ARG(name),
                            (unsigned)IL_MODEL_DOMAIN_MAX);
    }
    d->lo = lo;
    IL_TRY(load_alloc_places(l, d, (uint32_t)span + 1));
    for (uint32_t i = 0; i < d->size; i++) {
        char text[24];
        size_t n = il_format(text, sizeof text, "%lld", (long long)lo + (long long)i);
        IL_TRY(il_arena_copy(l->arena, (il_str){text, n}, &d->names[i], l->err));
        d->values[i] = il_cel_of_int(lo + i);
    }
    return IL_OK;
}

static il_status load_overflow(il_loader *l, const il_json *v, il_str name, il_overflow *out) {
    static const char *const words[] = {"reject", "error", "saturate"};
    static const il_overflow kinds[] = {IL_OVERFLOW_REJECT, IL_OVERFLOW_ERROR, IL_OVERFLOW_SATURATE};
    for (size_t i = 0; i < 3; i++) {
        if (il_json_kind_of(v) == IL_JSON_STRING && il_str_eq(v->text, il_str_of(words[i]))) {
            *out = kinds[i];
            return IL_OK;
        }
    }
    return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`overflow` of `%.*s` must be `reject`, `error` or `saturate`",
                        IL_STR_ARG(name));
}

/* What is said of a variable beside its domain; who may write it besides the actions is load_var.c's. */
static il_status load_flags(il_loader *l, const il_json *v, il_str name, il_var *var) {
    const il_json *source = il_json_get(v, IL_STR("taint"));
    if (source) {
        if (!il_str_eq(il_json_text(source), IL_STR("source"))) {
            return IL_JSON_FAIL(source, l->err, IL_E_INVALID, "`taint` of `%.*s` must be `source`", IL_STR_ARG(name));
        }
        var->taint = true;
    }
    IL_TRY(il_load_flag(l, v, "sticky", &var->sticky));
    IL_TRY(il_load_flag(l, v, "ghost", &var->ghost));
    const il_json *adversarial = il_json_get(v, IL_STR("adversarial"));
    if (var->ghost && (source || adversarial)) {
        return IL_JSON_FAIL(source ? source : adversarial, l->err, IL_E_INVALID,
                            "a ghost only remembers: `%.*s` cannot be `%s` as well", IL_STR_ARG(name),
                            source ? "taint" : "adversarial");
    }
    return IL_OK;
}

static il_status load_domain_map(il_loader *l, const il_json *v, il_str name, il_domain *out, il_var *var) {
    static const il_str keys[] = {{"type", 4},  {"enum", 4},   {"int", 3},   {"overflow", 8},
                                  {"taint", 5}, {"sticky", 6}, {"ghost", 5}, {"adversarial", 11}};
    IL_TRY(il_json_only(v, keys, var ? 8 : 3, var ? "a variable" : "a payload field", l->err));
    const il_json *type = il_json_get(v, IL_STR("type"));
    const il_json *words = il_json_get(v, IL_STR("enum"));
    const il_json *range = il_json_get(v, IL_STR("int"));
    const il_json *overflow = il_json_get(v, IL_STR("overflow"));
    if ((type != NULL) + (words != NULL) + (range != NULL) != 1) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`%.*s` needs exactly one of `enum`, `int` and `type: bool`",
                            IL_STR_ARG(name));
    }
    if (type) {
        if (!il_str_eq(il_json_text(type), IL_STR("bool"))) {
            return IL_JSON_FAIL(type, l->err, IL_E_INVALID, "`type` of `%.*s` must be `bool`", IL_STR_ARG(name));
        }
        IL_TRY(load_bool(l, out));
    } else if (words) {
        if (il_json_kind_of(words) != IL_JSON_ARRAY) {
            return IL_JSON_FAIL(words, l->err, IL_E_INVALID, "`enum` of `%.*s` must be a list of words", IL_STR_ARG(name));
        }
        IL_TRY(load_enum(l, words, name, out));
    } else {
        IL_TRY(load_int(l, range, name, out));
        if (var && !overflow) {
            return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "int variable `%.*s` needs `overflow`: `reject`, `error` or `saturate`",
                                IL_STR_ARG(name));
        }
    }
    if (overflow) {
        if (!range) {
            return IL_JSON_FAIL(overflow, l->err, IL_E_INVALID, "`overflow` is for int variables; `%.*s` is none",
                                IL_STR_ARG(name));
        }
        IL_TRY(load_overflow(l, overflow, name, &out->overflow));
    }
    return var ? load_flags(l, v, name, var) : IL_OK;
}

il_status il_load_value(il_loader *l, const il_json *v, const il_domain *d, uint32_t *place) {
    il_str text = il_json_text(v);
    if (il_json_kind_of(v) == IL_JSON_BOOL) {
        text = il_json_bool(v) ? IL_STR("true") : IL_STR("false");
    }
    for (uint32_t i = 0; i < d->size; i++) {
        if (il_str_eq(d->names[i], text)) {
            *place = i;
            return IL_OK;
        }
    }
    if (text.n == 0) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "a value must be true, false, a number or a word");
    }
    return il_load_unknown(l, v, "value", text, d->names, d->size);
}

il_status il_load_domain(il_loader *l, const il_json *v, il_str name, il_domain *out, il_var *var) {
    out->type.name = name;
    if (il_json_kind_of(v) == IL_JSON_STRING && il_str_eq(v->text, IL_STR("bool"))) {
        return load_bool(l, out);
    }
    if (il_json_kind_of(v) == IL_JSON_ARRAY) {
        return load_enum(l, v, name, out);
    }
    if (il_json_kind_of(v) == IL_JSON_OBJECT) {
        return load_domain_map(l, v, name, out, var);
    }
    return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`%.*s` must be `bool`, a list of words, {enum: […]} or {int: LOW..HIGH%s}",
                        IL_STR_ARG(name), var ? ", overflow: …" : "");
}
