/* SPDX-License-Identifier: Apache-2.0 */
/* The values of what conditions name, made when a condition reads them. */
#include "policy/compiled.h"
#include "policy/condition.h"
#include "policy/interbolt.h"
#include "policy/past.h"
#include "json/node.h"

static il_cel_value *il_condition_room(il_condition_call *c, size_t n) {
    return il_arena_array(c->scratch, n > 0 ? n : 1, sizeof(il_cel_value));
}

static il_status il_condition_strings(il_condition_call *c, const il_str *list, uint32_t n, il_cel_value *out, il_error *err) {
    il_cel_value *items = il_condition_room(c, n);
    if (items == NULL) {
        return il_arena_fail(c->scratch, err);
    }
    for (uint32_t i = 0; i < n; i++) {
        items[i] = il_cel_of_str(list[i]);
    }
    *out = il_cel_of_items(IL_CEL_LIST, items, n);
    return IL_OK;
}

static il_status il_condition_agent_value(il_condition_call *c, il_cel_value *out, il_error *err) {
    const il_agent *agent = il_policy_agent(c->policy, c->call->agent);
    il_cel_value *fields = il_condition_room(c, 2);
    if (fields == NULL) {
        return il_arena_fail(c->scratch, err);
    }
    fields[0] = il_cel_of_str(c->call->agent);
    IL_TRY(il_condition_strings(c, agent != NULL ? agent->groups : NULL, agent != NULL ? agent->ngroups : 0, &fields[1], err));
    *out = il_cel_of_items(IL_CEL_RECORD, fields, 2);
    return IL_OK;
}

/* What the session holds and what this call adds. */
static uint32_t il_condition_held(const il_condition_call *c) {
    return c->call->held | c->declared | (c->call->sends ? (uint32_t)IL_EGRESS : 0u);
}

static il_status il_condition_run_value(il_condition_call *c, uint32_t asks, il_cel_value *out, il_error *err) {
    static const uint32_t legs[] = {(uint32_t)IL_UNTRUSTED, (uint32_t)IL_SENSITIVE, (uint32_t)IL_EGRESS};
    il_cel_value *fields = il_condition_room(c, 5);
    il_str words[3];
    uint32_t n = 0;
    if (fields == NULL) {
        return il_arena_fail(c->scratch, err);
    }
    for (size_t i = 0; i < 3; i++) {
        if ((il_condition_held(c) & legs[i]) != 0) {
            words[n++] = il_effect_name(legs[i]);
        }
    }
    fields[0] = il_cel_of_bool((c->call->held & (uint32_t)IL_UNTRUSTED) != 0);
    fields[1] = fields[2] = fields[3] = il_cel_of_fault(IL_CEL_UNSET);
    if ((asks & IL_CONDITION_ASKS_SOURCES) != 0) {
        IL_TRY(il_past_sources(c->policy, c->call, c->scratch, &fields[1], err));
    }
    IL_TRY(il_condition_strings(c, words, n, &fields[4], err));
    *out = il_cel_of_items(IL_CEL_RECORD, fields, 5);
    return IL_OK;
}

static il_status il_condition_prov_value(il_condition_call *c, il_cel_value *out, il_error *err) {
    const uint32_t n = (uint32_t)il_json_count(c->call->args);
    il_cel_value *entries = il_condition_room(c, 2 * (size_t)n);
    if (entries == NULL) {
        return il_arena_fail(c->scratch, err);
    }
    uint32_t i = 0;
    for (const il_json *a = il_json_first(c->call->args); a != NULL; a = il_json_next(a), i++) {
        il_cel_value *fields = il_condition_room(c, 4);
        if (fields == NULL) {
            return il_arena_fail(c->scratch, err);
        }
        IL_TRY(il_past_argument(c->policy, c->call, a, c->scratch, fields, err));
        if (c->label != NULL) {
            const char *why = il_past_vouched(c->label, il_json_key(a), &fields[2]);
            fields[3] = il_cel_of_str(il_str_of(why));
        }
        entries[2 * (size_t)i] = il_cel_of_str(il_json_key(a));
        entries[2 * (size_t)i + 1] = il_cel_of_items(IL_CEL_RECORD, fields, c->label != NULL ? 4 : 2);
    }
    *out = il_cel_of_items(IL_CEL_MAP, entries, n);
    return il_cel_sort_entries(entries, n) ? IL_OK : il_error_set(err, IL_E_INTERNAL, "an argument stands twice");
}

static il_status il_condition_state_value(il_condition_call *c, il_cel_value *out, il_error *err) {
    const il_machine *m = il_policy_machine(c->policy);
    const uint32_t n = il_machine_vars(m);
    il_cel_value *fields = il_condition_room(c, n);
    if (fields == NULL) {
        return il_arena_fail(c->scratch, err);
    }
    for (uint32_t i = 0; i < n; i++) {
        const il_str word = il_machine_value_name(m, i, il_machine_value(m, c->state, i));
        int64_t number;
        if (il_str_eq(il_machine_value_name(m, i, 0), IL_STR("false"))) {
            fields[i] = il_cel_of_bool(il_str_eq(word, IL_STR("true")));
        } else {
            fields[i] = il_str_int(word, &number) ? il_cel_of_int(number) : il_cel_of_str(word);
        }
    }
    *out = il_cel_of_items(IL_CEL_RECORD, fields, n);
    return IL_OK;
}

static il_status il_condition_value(il_condition_call *c, uint32_t name, uint32_t asks, il_error *err) {
    static const il_json none = {.kind = IL_JSON_OBJECT};
    il_cel_value *out = &c->values[name];
    switch ((il_condition_name)name) {
    case IL_CONDITION_ARGS:
        *out = il_cel_of_json(c->call->args != NULL ? c->call->args : &none);
        return IL_OK;
    case IL_CONDITION_TOOL:
        if (c->policy->interbolt.on) {
            return il_interbolt_tool_value(c, out, err);
        }
        *out = il_cel_of_str(c->call->tool);
        return IL_OK;
    case IL_CONDITION_SERVER:
        *out = il_cel_of_str(c->call->server);
        return IL_OK;
    case IL_CONDITION_AGENT:
        return il_condition_agent_value(c, out, err);
    case IL_CONDITION_RUN:
        return c->policy->interbolt.on ? il_interbolt_run_value(c, out, err) : il_condition_run_value(c, asks, out, err);
    case IL_CONDITION_PROV:
        return il_condition_prov_value(c, out, err);
    case IL_CONDITION_STATE:
        return il_condition_state_value(c, out, err);
    case IL_CONDITION_ITEM: /* il_condition_item's */
    case IL_CONDITION_NAMES:
        return IL_OK;
    }
    return IL_OK;
}

il_status il_condition_values(il_condition_call *c, uint32_t asks, il_error *err) {
    const uint32_t sources = IL_CONDITION_ASKS_SOURCES;
    if ((asks & sources & ~c->made) != 0) {
        c->made &= ~(1u << IL_CONDITION_RUN); /* once more, with them */
        c->made |= sources;
    }
    for (uint32_t i = 0; i < IL_CONDITION_NAMES; i++) {
        if ((asks & ~c->made & (1u << i)) != 0) {
            IL_TRY(il_condition_value(c, i, c->made & sources, err));
            c->made |= 1u << i;
        }
    }
    for (uint32_t i = 0; i < IL_INTERBOLT_NAMES && c->policy->interbolt.on; i++) {
        const uint32_t bit = 1u << (IL_CONDITION_NAMES + i);
        if ((asks & ~c->made & bit) != 0) {
            IL_TRY(il_interbolt_value(c, (il_interbolt_name)i, &c->values[IL_CONDITION_NAMES + i], err));
            c->made |= bit;
        }
    }
    for (uint32_t i = 0; i < c->nown; i++) {
        c->values[IL_CONDITION_NAMES + i] = c->own[i].p != NULL ? il_cel_of_str(c->own[i]) : il_cel_of_fault(IL_CEL_UNSET);
    }
    return IL_OK;
}

il_cel_value il_condition_eval(const il_condition *condition, il_condition_call *c) {
    if (il_condition_values(c, condition->asks, NULL) != IL_OK) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    return il_cel_eval_in(condition->program, c->values, c->scratch, c);
}

il_status il_condition_done(const il_condition_call *c, il_error *err) {
    if (c->failed != IL_OK && err != NULL) {
        *err = c->why;
    }
    return c->failed;
}

/* ---- items --------------------------------------------------------------------------------------------- */

/* What the paths that are `in` lead to from here, `at` steps behind them. A map holds no more than these, whatever the item has. */
static il_status il_condition_item_part(il_condition_call *c, const il_arg_path *paths, uint32_t npaths, const bool *in,
                                        uint32_t at, const il_json *node, il_cel_value *out, il_error *err) {
    il_cel_value *entries = il_condition_room(c, 2 * (size_t)npaths);
    bool *under = IL_NEW_ARRAY(c->scratch, bool, npaths + 1), *done = IL_NEW_ARRAY(c->scratch, bool, npaths + 1);
    uint32_t n = 0;
    if (entries == NULL || under == NULL || done == NULL) {
        return il_arena_fail(c->scratch, err);
    }
    for (uint32_t i = 0; i < npaths; i++) {
        if (!in[i] || done[i]) {
            continue;
        }
        bool below = false;
        for (uint32_t k = 0; k < npaths; k++) {
            const bool same = in[k] && il_str_eq(paths[k].steps[at], paths[i].steps[at]);
            done[k] = done[k] || same;
            under[k] = same && paths[k].n > at + 1;
            below = below || under[k];
        }
        const il_json *child = il_json_get(node, paths[i].steps[at]);
        if (child == NULL) {
            continue;
        }
        entries[2 * (size_t)n] = il_cel_of_str(paths[i].steps[at]);
        il_cel_value *value = &entries[2 * (size_t)n + 1];
        n++;
        if (below && il_json_kind_of(child) == IL_JSON_OBJECT) {
            IL_TRY(il_condition_item_part(c, paths, npaths, under, at + 1, child, value, err));
        } else {
            *value = below ? il_cel_of_fault(IL_CEL_NO_OVERLOAD) : il_cel_of_json(child);
        }
    }
    *out = il_cel_of_items(IL_CEL_MAP, entries, n);
    return il_cel_sort_entries(entries, n) ? IL_OK : il_error_set(err, IL_E_INTERNAL, "a field of an item stands twice");
}

il_status il_condition_item(il_condition_call *c, const il_arg_path *paths, uint32_t npaths, const il_json *item, il_error *err) {
    bool *in = IL_NEW_ARRAY(c->scratch, bool, npaths + 1);
    if (in == NULL) {
        return il_arena_fail(c->scratch, err);
    }
    for (uint32_t i = 0; i < npaths; i++) {
        in[i] = true;
        for (uint32_t k = 0; k < paths[i].n; k++) {
            in[i] = in[i] && paths[i].steps[k].p != NULL;
        }
    }
    c->values[IL_CONDITION_ITEM] = il_cel_of_fault(IL_CEL_UNSET);
    return il_json_kind_of(item) == IL_JSON_OBJECT
               ? il_condition_item_part(c, paths, npaths, in, 0, item, &c->values[IL_CONDITION_ITEM], err)
               : IL_OK;
}
