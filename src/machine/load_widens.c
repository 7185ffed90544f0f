/* SPDX-License-Identifier: Apache-2.0 */
/* The `widens` list: which denials of an older version this one lifts. The rules are the older version's, so only `--against` can look them up. */
#include "machine/load.h"
#include "machine/widens.h"

static il_status widens_entry(il_loader *l, const il_json *v, il_widens *out) {
    static const il_str keys[] = {{"action", 6}, {"as", 2}, {"why", 3}};
    const il_json *action = NULL, *as = NULL, *why = NULL;
    if (il_json_kind_of(v) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "an entry of `widens` must be {action: …, as: RULE, why: …}");
    }
    IL_TRY(il_json_only(v, keys, 3, "an entry of `widens`", l->err));
    IL_TRY(il_load_need(l, v, "action", IL_JSON_STRING, "an entry of `widens`", (il_str){0}, &action));
    IL_TRY(il_load_need(l, v, "as", IL_JSON_STRING, "an entry of `widens`", (il_str){0}, &as));
    IL_TRY(il_load_need(l, v, "why", IL_JSON_STRING, "an entry of `widens`", (il_str){0}, &why));
    IL_TRY(il_load_slug(l, as, as->text, false, "rule"));
    *out = (il_widens){.action = il_model_action(l->m, action->text), .line = v->line, .col = v->col};
    if (out->action == UINT32_MAX) {
        il_str names[IL_MODEL_ACTIONS_MAX];
        for (uint32_t k = 0; k < l->m->nactions; k++) {
            names[k] = l->m->actions[k].name;
        }
        return il_load_unknown(l, action, "action", action->text, names, l->m->nactions);
    }
    IL_TRY(il_arena_copy(l->arena, as->text, &out->as, l->err));
    return il_load_sentence(l, why, "`why` must say who decided it, and why", &out->why);
}

il_status il_load_widens(il_loader *l, const il_json *list) {
    il_model *m = l->m;
    if (!list) {
        return IL_OK;
    }
    if (il_json_kind_of(list) != IL_JSON_ARRAY || il_json_count(list) == 0 || il_json_count(list) > IL_WIDENS_MAX) {
        return IL_JSON_FAIL(list, l->err, IL_E_INVALID, "`widens` must be a list of 1 to %u entries", (unsigned)IL_WIDENS_MAX);
    }
    il_widens *widens = IL_NEW_ARRAY(l->arena, il_widens, il_json_count(list));
    if (!widens) {
        return il_arena_fail(l->arena, l->err);
    }
    for (const il_json *v = il_json_first(list); v; v = il_json_next(v)) {
        il_widens w = {0};
        IL_TRY(widens_entry(l, v, &w));
        for (uint32_t i = 0; i < m->nwidens; i++) {
            if (widens[i].action == w.action && il_str_eq(widens[i].as, w.as)) {
                return IL_JSON_FAIL(v, l->err, IL_E_INVALID, "`%.*s` as `%.*s` is listed twice",
                                    IL_STR_ARG(m->actions[w.action].name), IL_STR_ARG(w.as));
            }
        }
        widens[m->nwidens++] = w;
    }
    m->widens = widens;
    return IL_OK;
}
