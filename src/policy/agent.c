/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/agent.h"

#include "policy/words.h"

#define IL_AGENTS_MAX 10000u
#define IL_AGENT_GROUPS_MAX 64u

/* As the name of a session's principal: it is compared with one. */
static bool il_agent_name_ok(il_str name) {
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '_' && c != '-' && c != '.' && c != ':' && c != '@') {
            return false;
        }
    }
    return name.n > 0 && name.n <= 128;
}

static il_status il_agent_name(const il_json *at, bool key, const char *what, il_error *err) {
    const il_str name = key ? il_json_key(at) : il_json_kind_of(at) == IL_JSON_STRING ? il_json_text(at) : (il_str){0};
    if (il_agent_name_ok(name)) {
        return IL_OK;
    }
    return il_error_at(err, IL_E_INVALID, key ? at->key_line : at->line, key ? at->key_col : at->col,
                       key ? at->key_offset : at->offset, "%s has letters, digits and `_ - . : @`, at most 128", what);
}

/* Inserts in order, once. */
static il_status il_agent_insert(il_str *list, uint32_t *n, il_str name, il_arena *arena, il_error *err) {
    uint32_t lo = 0, hi = *n;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        const int order = il_str_cmp(list[mid], name);
        if (order == 0) {
            return IL_OK;
        }
        lo = order < 0 ? mid + 1 : lo;
        hi = order < 0 ? hi : mid;
    }
    il_str copy;
    IL_TRY(il_arena_copy(arena, name, &copy, err));
    memmove(&list[lo + 1], &list[lo], (*n - lo) * sizeof list[0]);
    list[lo] = copy;
    (*n)++;
    return IL_OK;
}

static bool il_agent_has(const il_str *list, uint32_t n, il_str name) {
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        const int order = il_str_cmp(list[mid], name);
        if (order == 0) {
            return true;
        }
        lo = order < 0 ? mid + 1 : lo;
        hi = order < 0 ? hi : mid;
    }
    return false;
}

static il_agent *il_agents_of(il_agents *agents, il_str id) {
    for (uint32_t i = 0; i < agents->n; i++) {
        if (il_str_eq(agents->list[i].id, id)) {
            return &agents->list[i];
        }
    }
    return NULL;
}

static il_status il_agents_join(il_agent *agent, il_str group, const il_json *at, il_arena *arena, il_error *err) {
    if (agent->ngroups == IL_AGENT_GROUPS_MAX) {
        return IL_JSON_FAIL(at, err, IL_E_LIMIT, "agent `%.*s` is in more than %u groups", IL_STR_ARG(agent->id),
                            IL_AGENT_GROUPS_MAX);
    }
    if (agent->groups == NULL) {
        agent->groups = IL_NEW_ARRAY(arena, il_str, IL_AGENT_GROUPS_MAX);
        if (agent->groups == NULL) {
            return il_arena_fail(arena, err);
        }
    }
    return il_agent_insert(agent->groups, &agent->ngroups, group, arena, err);
}

/* `groups: { finance: [ana, bot] }`; an agent that is only named there needs no entry in `agents`. */
static il_status il_agents_members(il_agents *agents, const il_json *group, il_arena *arena, il_error *err) {
    if (il_json_kind_of(group) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(group, err, IL_E_INVALID, "a group is a list of agents, `[]` for those that `agents` puts there");
    }
    for (const il_json *v = il_json_first(group); v != NULL; v = il_json_next(v)) {
        IL_TRY(il_agent_name(v, false, "an agent", err));
        il_agent *agent = il_agents_of(agents, il_json_text(v));
        if (agent == NULL) {
            agent = &agents->list[agents->n++];
            *agent = (il_agent){.line = v->line, .col = v->col};
            IL_TRY(il_arena_copy(arena, il_json_text(v), &agent->id, err));
        }
        IL_TRY(il_agents_join(agent, il_json_key(group), v, arena, err));
    }
    return IL_OK;
}

static il_status il_agents_groups(il_agents *agents, const il_json *groups, il_arena *arena, il_error *err) {
    if (il_json_kind_of(groups) != IL_JSON_OBJECT || il_json_count(groups) == 0) {
        return IL_JSON_FAIL(groups, err, IL_E_INVALID, "`groups` maps a group to its agents, such as { finance: [ana] }");
    }
    for (const il_json *v = il_json_first(groups); v != NULL; v = il_json_next(v)) {
        IL_TRY(il_agent_name(v, true, "a group", err));
        IL_TRY(il_agent_insert(agents->groups, &agents->ngroups, il_json_key(v), arena, err));
        IL_TRY(il_agents_members(agents, v, arena, err));
    }
    return IL_OK;
}

static il_status il_agents_unknown(const il_agents *agents, const il_json *v, il_error *err) {
    const il_str said = il_json_text(v);
    il_str nearest = {0};
    unsigned best = 3;
    for (uint32_t i = 0; i < agents->ngroups; i++) {
        if (il_str_distance(agents->groups[i], said) < best) {
            best = il_str_distance(agents->groups[i], said);
            nearest = agents->groups[i];
        }
    }
    if (nearest.n > 0) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "there is no group `%.*s`; did you mean `%.*s`?", IL_STR_ARG(said),
                            IL_STR_ARG(nearest));
    }
    return IL_JSON_FAIL(v, err, IL_E_INVALID, "there is no group `%.*s`; add it to `groups`", IL_STR_ARG(said));
}

static il_status il_agents_one(il_agents *agents, const il_json *v, bool known, il_arena *arena, il_error *err) {
    static const il_str keys[] = {{"groups", 6}, {"mode", 4}};
    IL_TRY(il_agent_name(v, true, "an agent", err));
    IL_TRY(il_json_only(v, keys, 2, "an agent", err));
    il_agent *agent = il_agents_of(agents, il_json_key(v));
    if (agent == NULL) {
        agent = &agents->list[agents->n++];
        *agent = (il_agent){0};
        IL_TRY(il_arena_copy(arena, il_json_key(v), &agent->id, err));
    }
    agent->line = v->key_line;
    agent->col = v->key_col;
    const il_json *groups = il_json_get(v, keys[0]), *mode = il_json_get(v, keys[1]);
    if (groups != NULL && il_json_kind_of(groups) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(groups, err, IL_E_INVALID, "`groups` of an agent is a list of groups");
    }
    for (const il_json *g = il_json_first(groups); g != NULL; g = il_json_next(g)) {
        IL_TRY(il_agent_name(g, false, "a group", err));
        if (known && !il_agent_has(agents->groups, agents->ngroups, il_json_text(g))) {
            return il_agents_unknown(agents, g, err);
        }
        IL_TRY(il_agent_insert(agents->groups, &agents->ngroups, il_json_text(g), arena, err));
        IL_TRY(il_agents_join(agent, il_json_text(g), g, arena, err));
    }
    agent->has_mode = mode != NULL;
    return mode != NULL ? il_words_mode(mode, &agent->mode, err) : IL_OK;
}

/* How many names a section can bring. */
static size_t il_agents_count(const il_json *section, bool of_members) {
    size_t n = 0;
    for (const il_json *v = il_json_first(section); v != NULL; v = il_json_next(v)) {
        n += 1 + il_json_count(of_members ? v : il_json_get(v, IL_STR("groups")));
    }
    return n;
}

il_status il_agents_load(il_agents *agents, const il_json *list, const il_json *groups, il_arena *arena, il_error *err) {
    const size_t room = il_agents_count(groups, true) + il_agents_count(list, false);
    *agents = (il_agents){0};
    if (room > IL_AGENTS_MAX) {
        return IL_JSON_FAIL(list != NULL ? list : groups, err, IL_E_LIMIT, "more than %u agents and groups", IL_AGENTS_MAX);
    }
    agents->list = IL_NEW_ARRAY(arena, il_agent, room + 1);
    agents->groups = IL_NEW_ARRAY(arena, il_str, room + 1);
    if (agents->list == NULL || agents->groups == NULL) {
        return il_arena_fail(arena, err);
    }
    if (groups != NULL) {
        IL_TRY(il_agents_groups(agents, groups, arena, err));
    }
    if (list == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(list) != IL_JSON_OBJECT || il_json_count(list) == 0) {
        return IL_JSON_FAIL(list, err, IL_E_INVALID,
                            "`agents` maps an agent to what is said of it, such as { bot: { groups: [ops] } }");
    }
    for (const il_json *v = il_json_first(list); v != NULL; v = il_json_next(v)) {
        IL_TRY(il_agents_one(agents, v, groups != NULL, arena, err));
    }
    return IL_OK;
}

const il_agent *il_agents_find(const il_agents *agents, il_str id) {
    for (uint32_t i = 0; i < agents->n; i++) {
        if (il_str_eq(agents->list[i].id, id)) {
            return &agents->list[i];
        }
    }
    return NULL;
}
