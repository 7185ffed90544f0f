/* SPDX-License-Identifier: Apache-2.0 */
/* Regions: on states or, with `edge`, on accepted steps of the named actions, `never` or `gated` by the named gates; invariants of accepted steps
 * (`transition`) and of rejected ones (`rejection`). */
#include "machine/load.h"

#include <string.h>

il_status il_load_action_bits(il_loader *l, const il_json *v, uint64_t *out) {
    il_load_named named;
    il_str text = il_json_text(v);
    IL_TRY(il_load_name(l, v, text, &named));
    if (named.open) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "nothing binds the index of `%.*s` here; say `%.*s[*]` for all members",
                            IL_STR_ARG(text), IL_STR_ARG(named.base));
    }
    *out = 0;
    for (uint32_t a = 0; a < l->m->nactions; a++) {
        il_str name = l->m->actions[a].name;
        bool member = named.every && il_str_starts(name, named.base) && name.n > named.base.n && name.p[named.base.n] == '[';
        *out |= member || (!named.every && il_str_eq(name, named.name)) ? UINT64_C(1) << a : 0;
    }
    for (size_t i = 0; *out == 0 && i < l->families.nwords; i++) {
        if (il_str_eq(l->families.words[i].base, text)) {
            return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`%.*s` has an index: `%.*s[*]` are all of its members",
                                IL_STR_ARG(text), IL_STR_ARG(text));
        }
    }
    return *out != 0 ? IL_OK : il_load_unknown(l, v, "action", named.name, l->action_type.domain, l->action_type.ndomain);
}

il_status il_load_action_set(il_loader *l, const il_json *list, const char *key, uint64_t *out) {
    if (il_json_kind_of(list) != IL_JSON_ARRAY || il_json_count(list) == 0) {
        return IL_JSON_FAIL(list, l->err, IL_E_INVALID, "`%s` must be a list of at least one action", key);
    }
    for (const il_json *v = il_json_first(list); v; v = il_json_next(v)) {
        uint64_t bits = 0;
        IL_TRY(il_load_action_bits(l, v, &bits));
        if (*out & bits) {
            return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "action `%.*s` is listed twice", IL_STR_ARG(il_json_text(v)));
        }
        *out |= bits;
    }
    return IL_OK;
}

/* A region is read once for each action that it judges, so `call` has there what all of them have. */
static il_status load_not_all(il_loader *l, const il_region *r) {
    il_buf who;
    for (uint32_t b = 0; b < l->m->nactions; b++) {
        const il_action_def *has = &l->m->actions[b];
        for (uint32_t f = 0; (r->actions >> b & 1) && f < has->nfields; f++) {
            char call[IL_ERROR_MSG_BYTES];
            const size_t n = il_format(call, sizeof call, "no field `%.*s` in `call`", IL_STR_ARG(has->fields[f]));
            if (!l->err || strncmp(l->err->msg, call, n) != 0) {
                continue;
            }
            il_str names = {0};
            il_buf_init(&who, l->arena, 8192);
            for (uint32_t k = b; k < l->m->nactions; k++) {
                const il_action_def *a = &l->m->actions[k];
                bool found = false;
                for (uint32_t i = 0; (r->actions >> k & 1) && i < a->nfields; i++) {
                    found = found || il_str_eq(a->fields[i], has->fields[f]);
                }
                if (found) {
                    il_buf_puts(&who, who.n > 0 ? ", " : "");
                    il_buf_put(&who, a->name);
                }
            }
            IL_TRY(il_buf_done(&who, &names, l->err));
            const il_error at = *l->err;
            return il_error_at(l->err, IL_E_INVALID, at.line, at.col, at.offset,
                               "not all actions have `%.*s`; say `edge: [%.*s]`", IL_STR_ARG(has->fields[f]), IL_STR_ARG(names));
        }
    }
    return IL_E_INVALID;
}

static il_status load_predicate(il_loader *l, const il_json *v, il_region *r) {
    if (!r->edge) {
        return il_load_over_pre(l, v, IL_CEL_BOOL, &r->predicate);
    }
    r->on = IL_NEW_ARRAY(l->arena, il_cel_program *, l->m->nactions);
    if (!r->on) {
        return il_arena_fail(l->arena, l->err);
    }
    for (uint32_t a = 0; a < l->m->nactions; a++) {
        if (r->actions & (UINT64_C(1) << a)) {
            il_cel_env env = {.size = sizeof env};
            IL_TRY(il_load_env(l, &l->m->actions[a], r->rejection, &env));
            const il_status status = il_load_program(l, v, &env, IL_CEL_BOOL, &r->on[a]);
            if (status != IL_OK) {
                return status == IL_E_INVALID ? load_not_all(l, r) : status;
            }
        }
    }
    return IL_OK;
}

static il_status load_region(il_loader *l, const il_load_instance *from, il_region *r) {
    static const il_str keys[] = {{"never", 5}, {"gated", 5}, {"transition", 10}, {"rejection", 9}, {"edge", 4}, {"by", 2}};
    enum { NEVER, GATED, TRANSITION, REJECTION, KINDS };
    uint32_t kind = 0;
    uint32_t kinds = 0;
    const il_json *v = from->v;
    IL_TRY(il_load_slug(l, v, from->base, true, "region"));
    r->name = from->name;
    r->line = v->key_line;
    r->col = v->key_col;
    if (il_json_kind_of(v) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID,
                            "region `%.*s` must be a map with `never`, `gated`, `transition` or `rejection`",
                            IL_STR_ARG(r->name));
    }
    IL_TRY(il_json_only(v, keys, sizeof keys / sizeof keys[0], "a region", l->err));
    for (uint32_t k = 0; k < KINDS; k++) {
        if (il_json_get(v, keys[k])) {
            kind = k;
            kinds++;
        }
    }
    const il_json *edge = il_json_get(v, IL_STR("edge"));
    const il_json *by = il_json_get(v, IL_STR("by"));
    if (kinds != 1) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID,
                            "region `%.*s` needs exactly one of `never`, `gated`, `transition` and `rejection`",
                            IL_STR_ARG(r->name));
    }
    r->gated = kind == GATED;
    r->rejection = kind == REJECTION;
    r->must = r->rejection || kind == TRANSITION;
    r->edge = r->must || edge != NULL;
    r->rule = (uint8_t)il_load_rule(l, from->base);
    if (edge) {
        IL_TRY(il_load_action_set(l, edge, "edge", &r->actions));
    } else if (r->edge) {
        r->actions = UINT64_MAX >> (IL_MODEL_ACTIONS_MAX - l->m->nactions); /* all: there is at least one */
    }
    if (r->gated != (by != NULL)) {
        return IL_JSON_FAIL(by ? by : v, l->err, IL_E_INVALID,
                            r->gated ? "gated region `%.*s` needs `by`" : "`by` is for gated regions; `%.*s` is none",
                            IL_STR_ARG(r->name));
    }
    if (by) {
        IL_TRY(il_load_action_set(l, by, "by", &r->by));
        for (const il_json *g = il_json_first(by); g; g = il_json_next(g)) {
            uint64_t bits = 0;
            IL_TRY(il_load_action_bits(l, g, &bits));
            for (uint32_t a = 0; a < l->m->nactions; a++) {
                if ((bits >> a & 1) && !l->m->actions[a].gate) {
                    return IL_JSON_FAIL(g, l->err, IL_E_INVALID,
                                        "action `%.*s` is no gate; say `gate: true` there or name another",
                                        IL_STR_ARG(l->m->actions[a].name));
                }
            }
        }
    }
    return load_predicate(l, il_json_get(v, keys[kind]), r);
}

il_status il_load_regions(il_loader *l, const il_json *regions) {
    il_load_instance *all = NULL;
    uint32_t n = 0;
    IL_TRY(il_load_instances(l, regions, "region", "regions", IL_MODEL_REGIONS_MAX, &all, &n));
    l->m->regions = IL_NEW_ARRAY(l->arena, il_region, n);
    if (!l->m->regions) {
        return il_arena_fail(l->arena, l->err);
    }
    for (uint32_t i = 0; i < n; i++) {
        il_load_bind(l, all[i].family, all[i].member);
        IL_TRY(load_region(l, &all[i], &l->m->regions[i]));
        l->m->nregions++;
    }
    il_load_bind(l, l->families.n, 0);
    return IL_OK;
}
