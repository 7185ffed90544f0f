/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of an Interbolt document; sinks are in interbolt_sink.c. */
#include "policy/interbolt.h"

#include "policy/interbolt_part.h"

bool il_interbolt_is(const il_json *doc) {
    return il_json_kind_of(doc) == IL_JSON_OBJECT && il_json_get(doc, IL_STR("interlock")) == NULL &&
           il_json_get(doc, IL_STR("machine")) == NULL &&
           (il_json_kind_of(il_json_get(doc, IL_STR("version"))) == IL_JSON_STRING || il_json_get(doc, IL_STR("sinks")) != NULL);
}

/* ---- nodes ------------------------------------------------------------------------------------------------ */

il_json *il_interbolt_at(il_json *made, const il_json *at) {
    if (made != NULL && at != NULL) {
        made->line = at->line;
        made->col = at->col;
        made->offset = at->offset;
    }
    return made;
}

il_json *il_interbolt_text(il_interbolt_doc *x, il_str text, const il_json *at) {
    il_json *made = il_interbolt_at(il_json_string(x->arena, text), at);
    if (made != NULL) {
        made->plain = at != NULL && at->plain; /* where its first letter stands */
    }
    return made;
}

il_status il_interbolt_set(il_interbolt_doc *x, il_json *object, il_str key, il_json *value, const il_json *at) {
    return il_json_set_at(object, key, value, at) ? IL_OK : il_arena_fail(x->arena, x->err);
}

il_status il_interbolt_push(il_interbolt_doc *x, il_json *array, il_json *value) {
    return il_json_push(array, value) ? IL_OK : il_arena_fail(x->arena, x->err);
}

static bool il_interbolt_null(const il_json *v) { return il_json_kind_of(v) == IL_JSON_NULL; }

/* The word's place in a list that ends with an empty one. */
il_status il_interbolt_word(il_interbolt_doc *x, const il_json *v, const char *what, const char *const *words, uint32_t *out) {
    const il_str said = il_json_kind_of(v) == IL_JSON_STRING ? il_json_text(v) : (il_str){0};
    char list[96];
    const char *nearest = NULL;
    unsigned best = 3;
    size_t n = 0;
    for (uint32_t i = 0; words[i] != NULL; i++) {
        const il_str word = il_str_of(words[i]);
        const unsigned slips = said.p != NULL ? il_str_distance(word, said) : 3;
        if (slips == 0) {
            *out = i;
            return IL_OK;
        }
        nearest = slips < best ? words[i] : nearest;
        best = slips < best ? slips : best;
        n += il_format(list + n, sizeof list - n, "%s`%s`", i == 0 ? "" : words[i + 1] != NULL ? ", " : " or ", words[i]);
    }
    if (nearest != NULL) {
        return IL_JSON_FAIL(v, x->err, IL_E_INVALID, "%s is %s; did you mean `%s`?", what, list, nearest);
    }
    return IL_JSON_FAIL(v, x->err, IL_E_INVALID, "%s is %s", what, list);
}

/* Letters, digits and `_ - .`, whole: Interbolt lets one line break stand behind. */
bool il_interbolt_name_ok(il_str name) {
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '_' && c != '-' && c != '.') {
            return false;
        }
    }
    return name.n > 0;
}

/* ---- version and defaults ------------------------------------------------------------------------------------ */

static il_status il_interbolt_old(il_interbolt_doc *x, const il_json *at) {
    return IL_JSON_FAIL(
        at, x->err, IL_E_VERSION,
        "this is of the form before 2.0 (`version: \"1.0\"`, a list of rules below a sink); since 2.0 a sink is a map "
        "with `capabilities:` and `rules:`");
}

static il_status il_interbolt_version(il_interbolt_doc *x, il_json *section) {
    const il_json *v = il_json_get(x->doc, IL_STR("version"));
    const il_str said = il_json_text(v);
    if (v == NULL) {
        return IL_JSON_FAIL(x->doc, x->err, IL_E_INVALID, "`version: \"2.0\"` is missing");
    }
    if (il_json_kind_of(v) != IL_JSON_STRING) {
        return IL_JSON_FAIL(v, x->err, IL_E_INVALID, "`version` is a text; quote it: version: \"2.0\"");
    }
    if (il_str_eq(said, IL_STR("1.0"))) {
        return il_interbolt_old(x, v);
    }
    bool known = il_str_starts(said, IL_STR("2.")) && said.n > 2;
    for (size_t i = 2; i < said.n && known; i++) {
        known = said.p[i] >= '0' && said.p[i] <= '9';
    }
    if (!known) {
        return IL_JSON_FAIL(
            v, x->err, IL_E_VERSION,
            "this build reads documents of Interbolt 2, such as `version: \"2.0\"`, and of its own, `interlock: 1`");
    }
    return il_interbolt_set(x, section, IL_STR("version"), il_interbolt_text(x, said, v), v);
}

static il_status il_interbolt_defaults(il_interbolt_doc *x, il_json *section, const char **mode) {
    static const il_str keys[] = {{"sink_action", 11}, {"fail_mode", 9}};
    static const char *const actions[] = {"block", "require_approval", "allow", NULL}; /* as il_then */
    static const char *const modes[] = {"enforce", "monitor", "dry_run", NULL};
    const il_json *v = il_json_get(x->doc, IL_STR("defaults"));
    uint32_t action = 1, how = 0;
    if (v == NULL) {
        return IL_JSON_FAIL(x->doc, x->err, IL_E_INVALID,
                            "`defaults` is missing; `defaults: {sink_action: require_approval}` says it");
    }
    IL_TRY(il_json_only(v, keys, 2, "`defaults`", x->err));
    const il_json *said = il_json_get(v, keys[0]), *fail = il_json_get(v, keys[1]);
    if (said != NULL) {
        IL_TRY(il_interbolt_word(x, said, "`sink_action`", actions, &action));
    }
    if (!il_interbolt_null(fail)) {
        IL_TRY(il_interbolt_word(x, fail, "`fail_mode`", modes, &how));
    }
    const il_json *at = said != NULL ? said : v;
    IL_TRY(il_interbolt_set(x, section, keys[0], il_interbolt_text(x, il_str_of(actions[action]), at), at));
    if (how == 1) {
        IL_TRY(il_interbolt_set(x, section, keys[1], il_interbolt_text(x, IL_STR("monitor"), fail), fail));
    }
    *mode = how == 2 ? "monitor" : "enforce"; /* what Interbolt calls dry_run is our monitor */
    return IL_OK;
}

/* ---- sources and agents ---------------------------------------------------------------------------------------- */

static il_status il_interbolt_source(il_interbolt_doc *x, const il_json *v, il_json *out) {
    static const il_str keys[] = {{"name", 4}, {"trust", 5}};
    static const char *const trusts[] = {"untrusted", "trusted", NULL};
    uint32_t trust = 0;
    il_error why = {0};
    IL_TRY(il_json_only(v, keys, 2, "a source", x->err));
    const il_json *name = il_json_get(v, keys[0]), *word = il_json_get(v, keys[1]);
    if (name == NULL || word == NULL) {
        return IL_JSON_FAIL(v, x->err, IL_E_INVALID, "a source needs `%s`", name == NULL ? "name" : "trust");
    }
    if (il_json_kind_of(name) != IL_JSON_STRING) {
        return IL_JSON_FAIL(name, x->err, IL_E_INVALID, "the `name` of a source is a text");
    }
    const il_status s = il_origin_name_check(il_json_text(name), "a source", &why);
    if (s != IL_OK) {
        return IL_JSON_FAIL(name, x->err, s, "%s", why.msg);
    }
    IL_TRY(il_interbolt_word(x, word, "the `trust` of a source", trusts, &trust));
    const il_json *other = il_json_get(out, il_json_text(name));
    if (other != NULL) {
        return IL_JSON_FAIL(name, x->err, IL_E_INVALID, "source `%.*s` is there already, at line %u", IL_STR_ARG(name->text),
                            (unsigned)other->line);
    }
    return il_interbolt_set(x, out, il_json_text(name), il_interbolt_text(x, il_str_of(trusts[trust]), word), name);
}

static il_status il_interbolt_sources(il_interbolt_doc *x, il_json *flat) {
    const il_json *list = il_json_get(x->doc, IL_STR("sources"));
    il_json *out = il_interbolt_at(il_json_make(x->arena, IL_JSON_OBJECT), list);
    if (list != NULL && il_json_kind_of(list) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(list, x->err, IL_E_INVALID, "`sources` is a list such as [{name: web, trust: untrusted}]");
    }
    if (out == NULL) {
        return il_arena_fail(x->arena, x->err);
    }
    for (const il_json *v = il_json_first(list); v != NULL; v = il_json_next(v)) {
        IL_TRY(il_interbolt_source(x, v, out));
    }
    x->sources = out;
    return il_json_count(out) > 0 ? il_interbolt_set(x, flat, IL_STR("sources"), out, list) : IL_OK;
}

static il_status il_interbolt_agent_read(il_interbolt_doc *x, const il_json *v, il_json *agents, il_json *groups) {
    static const il_str keys[] = {{"groups", 6}};
    const il_json *list = il_json_get(v, keys[0]);
    il_json *agent = il_interbolt_at(il_json_make(x->arena, IL_JSON_OBJECT), v);
    il_json *in = il_interbolt_at(il_json_make(x->arena, IL_JSON_ARRAY), list);
    if (!il_interbolt_name_ok(il_json_key(v))) {
        return il_error_at(x->err, IL_E_INVALID, v->key_line, v->key_col, v->key_offset,
                           "agent_id `%.*s`: letters, digits and `_ - .` only", IL_STR_ARG(v->key));
    }
    IL_TRY(il_json_only(v, keys, 1, "an agent", x->err));
    if (list != NULL && il_json_kind_of(list) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(list, x->err, IL_E_INVALID, "`groups` of an agent is a list of names");
    }
    for (const il_json *g = il_json_first(list); g != NULL; g = il_json_next(g)) {
        if (il_json_kind_of(g) != IL_JSON_STRING || !il_interbolt_name_ok(il_json_text(g))) {
            return IL_JSON_FAIL(g, x->err, IL_E_INVALID, "a group name has letters, digits and `_ - .` only");
        }
        bool twice = false;
        for (const il_json *other = il_json_first(in); other != NULL && !twice; other = il_json_next(other)) {
            twice = il_str_eq(il_json_text(other), il_json_text(g));
        }
        if (!twice) {
            IL_TRY(il_interbolt_push(x, in, il_interbolt_text(x, il_json_text(g), g)));
        }
        if (il_json_get(groups, il_json_text(g)) == NULL) {
            IL_TRY(il_interbolt_set(x, groups, il_json_text(g), il_interbolt_at(il_json_make(x->arena, IL_JSON_ARRAY), g), g));
        }
    }
    IL_TRY(il_interbolt_set(x, agent, keys[0], in, list != NULL ? list : v));
    return il_interbolt_set(x, agents, il_json_key(v), agent, v);
}

static il_status il_interbolt_agents(il_interbolt_doc *x, il_json *flat) {
    const il_json *list = il_json_get(x->doc, IL_STR("agents"));
    il_json *agents = il_interbolt_at(il_json_make(x->arena, IL_JSON_OBJECT), list);
    il_json *groups = il_interbolt_at(il_json_make(x->arena, IL_JSON_OBJECT), list);
    if (list == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(list) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(list, x->err, IL_E_INVALID,
                            "`agents` maps an agent to its groups, such as {ana: {groups: [finance]}}");
    }
    for (const il_json *v = il_json_first(list); v != NULL; v = il_json_next(v)) {
        IL_TRY(il_interbolt_agent_read(x, v, agents, groups));
    }
    if (il_json_count(groups) > 0) {
        IL_TRY(il_interbolt_set(x, flat, IL_STR("groups"), groups, list));
    }
    return il_json_count(agents) > 0 ? il_interbolt_set(x, flat, IL_STR("agents"), agents, list) : IL_OK;
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static il_status il_interbolt_sections(il_interbolt_doc *x, il_json *flat) {
    il_json *section = il_interbolt_at(il_json_make(x->arena, IL_JSON_OBJECT), x->doc);
    const char *mode = NULL;
    if (section == NULL) {
        return il_arena_fail(x->arena, x->err);
    }
    IL_TRY(il_interbolt_version(x, section));
    IL_TRY(il_interbolt_defaults(x, section, &mode));
    IL_TRY(il_interbolt_set(x, flat, IL_STR("interlock"), il_json_number(x->arena, 1), x->doc));
    IL_TRY(il_interbolt_set(x, flat, IL_STR("machine"), il_interbolt_text(x, IL_STR(IL_INTERBOLT_MACHINE), x->doc), x->doc));
    IL_TRY(il_interbolt_set(x, flat, IL_STR("mode"), il_interbolt_text(x, il_str_of(mode), x->doc), x->doc));
    IL_TRY(il_interbolt_set(x, flat, IL_STR("interbolt"), section, x->doc));
    IL_TRY(il_interbolt_sources(x, flat));
    IL_TRY(il_interbolt_agents(x, flat));
    return il_interbolt_sinks(x, flat);
}

/* A key of `defaults` at the top. */
static il_status il_interbolt_top(const il_json *doc, il_error *err) {
    static const il_str below[] = {{"sink_action", 11}, {"fail_mode", 9}};
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
        const il_json *v = il_json_get(doc, below[i]);
        if (v != NULL) {
            return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s` belongs into `defaults`: write `defaults: {%.*s: ...}`",
                                IL_STR_ARG(below[i]), IL_STR_ARG(below[i]));
        }
    }
    return IL_OK;
}

il_status il_interbolt_expand(il_arena *arena, const il_json *doc, const il_json **out, il_error *err) {
    static const il_str keys[] = {{"version", 7}, {"defaults", 8}, {"sources", 7}, {"agents", 6}, {"sinks", 5}};
    il_interbolt_doc x = {.doc = doc, .arena = arena, .err = err};
    il_json *flat = il_interbolt_at(il_json_make(arena, IL_JSON_OBJECT), doc);
    const il_json *sinks = il_json_get(doc, keys[4]);
    *out = NULL;
    if (flat == NULL) {
        return il_arena_fail(arena, err);
    }
    for (const il_json *v = il_json_first(sinks); v != NULL; v = il_json_next(v)) { /* before anything that this form has not */
        if (il_json_kind_of(sinks) == IL_JSON_OBJECT && il_json_kind_of(v) == IL_JSON_ARRAY) {
            return il_interbolt_old(&x, v);
        }
    }
    IL_TRY(il_interbolt_top(doc, err));
    IL_TRY(il_json_only(doc, keys, 5, "an Interbolt document", err));
    IL_TRY(il_interbolt_sections(&x, flat));
    *out = flat;
    return IL_OK;
}

/* ---- the section of the translated document ------------------------------------------------------------------------ */

il_status il_interbolt_load(const il_json *v, il_interbolt *out, il_error *err) {
    static const il_str keys[] = {{"version", 7}, {"sink_action", 11}, {"fail_mode", 9}};
    *out = (il_interbolt){0};
    if (v == NULL) {
        return IL_OK;
    }
    IL_TRY(il_json_only(v, keys, 3, "`interbolt`", err));
    const il_json *version = il_json_get(v, keys[0]), *action = il_json_get(v, keys[1]), *fail = il_json_get(v, keys[2]);
    if (il_json_kind_of(version) != IL_JSON_STRING || !il_str_starts(il_json_text(version), IL_STR("2.")) || action == NULL) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID,
                            "`interbolt` is what a translated document has: { version: \"2.0\", sink_action: require_approval }");
    }
    if (fail != NULL && !il_str_eq(il_json_text(fail), IL_STR("monitor"))) {
        return IL_JSON_FAIL(fail, err, IL_E_INVALID, "`fail_mode` is `monitor` here: a rule whose condition errs is passed over");
    }
    out->on = true;
    out->soft = fail != NULL;
    out->otherwise = (il_policy_rule){.line = il_json_line(action), .col = il_json_col(action), .name = IL_STR("sink_action")};
    return il_then_read(action, "`sink_action`", &out->otherwise.then, err);
}
