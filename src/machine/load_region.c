/* SPDX-License-Identifier: Apache-2.0 */
/* Regions: on states or, with `edge`, on accepted steps of the named actions, `never` or `gated` by the named gates; invariants of accepted steps
 * (`transition`) and of rejected ones (`rejection`). */
#include "machine/load.h"

il_status il_load_action_set(il_loader *l, const il_json *list, const char *key, uint64_t *out) {
    if (il_json_kind_of(list) != IL_JSON_ARRAY || il_json_count(list) == 0) {
        return IL_JSON_FAIL(list, l->err, IL_E_INVALID, "`%s` must be a list of at least one action", key);
    }
    for (const il_json *v = il_json_first(list); v; v = il_json_next(v)) {
        uint32_t a = il_model_action(l->m, il_json_text(v));
        if (a == UINT32_MAX) {
            il_str names[IL_MODEL_ACTIONS_MAX];
            for (uint32_t k = 0; k < l->m->nactions; k++) {
                names[k] = l->m->actions[k].name;
            }
            return il_load_unknown(l, v, "action", il_json_text(v), names, l->m->nactions);
        }
        if (*out & (UINT64_C(1) << a)) {
            return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "action `%.*s` is listed twice", IL_STR_ARG(il_json_text(v)));
        }
        *out |= UINT64_C(1) << a;
    }
    return IL_OK;
}

static il_status load_predicate(il_loader *l, const il_json *v, il_region *r) {
    if (!r->edge) {
        return il_load_over_pre(l, v, &r->predicate);
    }
    r->on = IL_NEW_ARRAY(l->arena, il_cel_program *, l->m->nactions);
    if (!r->on) {
        return il_arena_fail(l->arena, l->err);
    }
    for (uint32_t a = 0; a < l->m->nactions; a++) {
        if (r->actions & (UINT64_C(1) << a)) {
            il_cel_env env = {.size = sizeof env};
            IL_TRY(il_load_env(l, &l->m->actions[a], r->rejection, &env));
            IL_TRY(il_load_program(l, v, &env, IL_CEL_BOOL, &r->on[a]));
        }
    }
    return IL_OK;
}

static il_status load_region(il_loader *l, const il_json *v, il_region *r) {
    static const il_str keys[] = {{"never", 5}, {"gated", 5}, {"transition", 10}, {"rejection", 9}, {"edge", 4}, {"by", 2}};
    enum { NEVER, GATED, TRANSITION, REJECTION, KINDS };
    uint32_t kind = 0;
    uint32_t kinds = 0;
    IL_TRY(il_load_slug(l, v, v->key, true, "region"));
    IL_TRY(il_arena_copy(l->arena, v->key, &r->name, l->err));
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
    r->rule = (uint8_t)il_load_rule(l, r->name);
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
            if (!l->m->actions[il_model_action(l->m, il_json_text(g))].gate) {
                return IL_JSON_FAIL(g, l->err, IL_E_INVALID, "action `%.*s` is no gate; say `gate: true` there or name another",
                                    IL_STR_ARG(il_json_text(g)));
            }
        }
    }
    return load_predicate(l, il_json_get(v, keys[kind]), r);
}

il_status il_load_regions(il_loader *l, const il_json *regions) {
    if (il_json_count(regions) == 0) {
        return IL_JSON_FAIL(regions, l->err, IL_E_INVALID, "a machine needs at least one region");
    }
    if (il_json_count(regions) > IL_MODEL_REGIONS_MAX) {
        return IL_JSON_FAIL(regions, l->err, IL_E_LIMIT, "more than %u regions", (unsigned)IL_MODEL_REGIONS_MAX);
    }
    l->m->regions = IL_NEW_ARRAY(l->arena, il_region, il_json_count(regions));
    if (!l->m->regions) {
        return il_arena_fail(l->arena, l->err);
    }
    for (const il_json *v = il_json_first(regions); v; v = il_json_next(v)) {
        IL_TRY(load_region(l, v, &l->m->regions[l->m->nregions]));
        l->m->nregions++;
    }
    return IL_OK;
}
