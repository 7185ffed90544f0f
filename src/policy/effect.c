/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/effect.h"

#include "policy/compiled.h"
#include "policy/words.h"
#include "provenance/memory.h"

static const uint32_t il_effect_sinks = (uint32_t)(IL_EGRESS | IL_COMMIT);

static il_status il_effects_bit(const il_json *v, il_effects *e, const il_condition_scope *scope, il_arena *arena,
                                il_error *err) {
    il_effect_when *w = &e->when[e->n];
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        if (il_str_eq(il_json_key(v), il_effect_name(1u << i))) {
            w->bit = 1u << i;
        }
    }
    IL_TRY(il_condition_new(v, scope, arena, &w->condition, err));
    if (il_condition_on_item(&w->condition)) {
        if ((w->bit & il_effect_sinks) != 0) {
            return IL_JSON_FAIL(v, err, IL_E_INVALID,
                                "`%.*s` cannot depend on `item`: what the call did is not undone by what came back",
                                IL_STR_ARG(il_json_key(v)));
        }
        e->on_item |= w->bit;
    }
    e->asks |= w->condition.asks;
    e->n++;
    return IL_OK;
}

il_status il_effects_load(const il_json *effects, const il_condition_names *names, il_arena *arena, il_tool *tool,
                          il_error *err) {
    il_effects *e = IL_NEW(arena, il_effects);
    il_condition_scope scope;
    if (e == NULL) {
        return il_arena_fail(arena, err);
    }
    IL_TRY(il_condition_scope_new(names, effects, arena, &scope, err));
    e->nremembered = names->nown - tool->nkinds;
    e->remembered = names->own + tool->nkinds;
    e->item = IL_NEW_ARRAY(arena, il_arg_path, names->nitem + 1);
    if (e->item == NULL) {
        return il_arena_fail(arena, err);
    }
    for (uint32_t i = 0; i < names->nitem; i++) {
        IL_TRY(il_arg_path_new(names->item[i], arena, &e->item[e->nitem++], err));
    }
    for (const il_json *v = il_json_first(effects); v != NULL; v = il_json_next(v)) {
        if (il_json_kind_of(v) == IL_JSON_STRING) {
            IL_TRY(il_effects_bit(v, e, &scope, arena, err));
        }
    }
    tool->when = e;
    return IL_OK;
}

/* A credential that is read is private as well, whatever the condition of `sensitive` says. */
static uint32_t il_effects_whole(uint32_t bits) {
    return (bits & (uint32_t)IL_SECRET) != 0 ? bits | (uint32_t)IL_SENSITIVE : bits;
}

il_status il_effects_own(const il_tool *tool, const il_label_call *call, il_arena *scratch, il_str *own, il_error *err) {
    for (uint32_t i = 0; i < tool->nkinds; i++) {
        il_template_fill how = IL_TEMPLATE_ABSENT;
        own[i] = (il_str){0};
        IL_TRY(il_template_build(&tool->kinds[i].form, call->args, scratch, &how, &own[i], err));
        own[i] = how == IL_TEMPLATE_FILLED ? own[i] : (il_str){0};
    }
    for (uint32_t i = 0; i < tool->when->nremembered; i++) {
        const il_str value = call->memory != NULL ? il_memory_remembered(call->memory, tool->when->remembered[i]) : (il_str){0};
        own[tool->nkinds + i] = value.n > 0 ? value : (il_str){0};
    }
    return IL_OK;
}

static bool il_effects_gone(const il_effect_when *w, il_condition_call *c) {
    const il_cel_value v = il_condition_eval(&w->condition, c);
    return v.kind == IL_CEL_BOOL && !v.u.b;
}

/* *said: the bits that are written out (with conditions true), before secret brings sensitive. */
static il_status il_effects_before(il_condition_call *c, const il_tool *tool, il_str *own, uint32_t *said, il_error *err) {
    const il_effects *e = tool->when;
    IL_TRY(il_effects_own(tool, c->call, c->scratch, own, err));
    c->own = own;
    c->nown = tool->nkinds + e->nremembered;
    *said = tool->said;
    for (uint32_t i = 0; i < e->n; i++) {
        if (!il_condition_on_item(&e->when[i].condition) && il_effects_gone(&e->when[i], c)) {
            *said &= ~e->when[i].bit;
        }
    }
    return IL_OK;
}

il_status il_effects_call(const il_policy *p, const il_tool *tool, const il_label_call *call, il_arena *scratch, uint32_t *out,
                          il_error *err) {
    il_str own[IL_CONDITION_OWN_MAX];
    *out = tool->effects;
    if (tool->when == NULL) {
        return IL_OK;
    }
    il_condition_call c = {.policy = p, .call = call, .tool = tool, .scratch = scratch};
    uint32_t said;
    IL_TRY(il_effects_before(&c, tool, own, &said, err));
    *out = il_effects_whole(said);
    return il_condition_done(&c, err);
}

il_status il_effects_items(const il_policy *p, const il_tool *tool, const il_label_call *call, const il_json *const *items,
                           size_t n, il_arena *scratch, uint32_t *each, uint32_t *absent, il_error *err) {
    il_str own[IL_CONDITION_OWN_MAX];
    const il_effects *e = tool->when;
    il_condition_call c = {.policy = p, .call = call, .tool = tool, .scratch = scratch};
    uint32_t said = tool->said, any = 0;
    *absent = 0;
    if (e != NULL) {
        IL_TRY(il_effects_before(&c, tool, own, &said, err));
    }
    const uint32_t waits = e != NULL ? said & e->on_item : 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t has = said;
        if (waits != 0) {
            IL_TRY(il_condition_item(&c, e->item, e->nitem, items[i], err));
        }
        for (uint32_t k = 0; waits != 0 && k < e->n; k++) {
            if ((e->when[k].bit & waits) != 0 && il_effects_gone(&e->when[k], &c)) {
                has &= ~e->when[k].bit;
            }
        }
        any |= has;
        if (each != NULL) {
            each[i] = il_effects_whole(has);
        }
    }
    const il_status s = il_condition_done(&c, err);
    *absent = s == IL_OK ? il_effects_whole(said) & ~il_effects_whole((said & ~waits) | any) : 0;
    return s;
}
