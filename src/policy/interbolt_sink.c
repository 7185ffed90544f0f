/* SPDX-License-Identifier: Apache-2.0 */
/* Sinks: each becomes an entry of `tools`, and its rules become rules about it. */
#include "policy/glob.h"
#include "policy/interbolt_part.h"
#include "policy/rule.h"

#define IL_SINK_NAMESPACE "default" /* of a tool that is named without one */

typedef struct il_interbolt_sink {
    il_interbolt_doc *x;
    il_json *servers, *tools, *rules;
    const il_json *v;      /* the sink */
    const il_json *names;  /* the same tool in one or two ways */
    il_json *seen;         /* names of its rules, as words */
    uint32_t number, last; /* of the rule, from 1; `last`: of the document */
} il_interbolt_sink;

/* ---- names -------------------------------------------------------------------------------------------------- */

static il_status il_sink_name(const il_json *v, size_t *dot, il_error *err) {
    const il_str key = il_json_key(v);
    *dot = il_str_find(key, IL_STR("."), 0);
    if (*dot == SIZE_MAX) {
        return il_error_at(err, IL_E_INVALID, v->key_line, v->key_col, v->key_offset,
                           "sink `%.*s` has no namespace, so no call would be looked up here; write `default.%.*s`",
                           IL_STR_ARG(key), IL_STR_ARG(key));
    }
    if (il_str_find(key, IL_STR("."), *dot + 1) != SIZE_MAX) {
        return il_error_at(err, IL_E_INVALID, v->key_line, v->key_col, v->key_offset,
                           "sink `%.*s`: a namespace has no dot, so a name has one", IL_STR_ARG(key));
    }
    if (*dot == 0 || *dot + 1 == key.n || !il_glob_name_ok(key)) {
        return il_error_at(err, IL_E_INVALID, v->key_line, v->key_col, v->key_offset,
                           "sink `%.*s`: a name is `namespace.tool`, of letters, digits and `_ - / : @`%s", IL_STR_ARG(key),
                           il_str_find(key, IL_STR("*"), 0) != SIZE_MAX ? "; there are no patterns" : "");
    }
    return IL_OK;
}

/* A tool of the namespace `default` may be called without it: one tool must not have two names of which one has no rules. */
static il_status il_sink_names(il_interbolt_sink *k, size_t dot) {
    const il_str key = il_json_key(k->v), space = il_str_part(key, 0, dot);
    il_json *names = il_interbolt_at(il_json_make(k->x->arena, IL_JSON_ARRAY), k->v);
    IL_TRY(il_interbolt_push(k->x, names, il_interbolt_text(k->x, key, k->v)));
    if (il_str_eq(space, IL_STR(IL_SINK_NAMESPACE))) {
        IL_TRY(il_interbolt_push(k->x, names, il_interbolt_text(k->x, il_str_part(key, dot + 1, key.n), k->v)));
    }
    k->names = names;
    if (il_json_get(k->servers, space) != NULL) {
        return IL_OK;
    }
    il_json *server = il_interbolt_at(il_json_make(k->x->arena, IL_JSON_OBJECT), k->v);
    IL_TRY(il_interbolt_set(k->x, server, IL_STR("trust"), il_interbolt_text(k->x, IL_STR("inside"), k->v), k->v));
    return il_interbolt_set(k->x, k->servers, space, server, k->v);
}

/* A copy of the names: a node has one parent. */
static il_json *il_sink_match(il_interbolt_sink *k) { return il_interbolt_at(il_json_shallow(k->x->arena, k->names), k->names); }

/* ---- the entry ------------------------------------------------------------------------------------------------- */

static il_status il_sink_effect(il_interbolt_sink *k, il_json *effects, il_str word, const il_json *at) {
    for (const il_json *e = il_json_first(effects); e != NULL; e = il_json_next(e)) {
        if (il_str_eq(il_json_text(e), word)) {
            return IL_OK;
        }
    }
    return il_interbolt_push(k->x, effects, il_interbolt_text(k->x, word, at));
}

static il_status il_sink_capabilities(il_interbolt_sink *k, il_json *effects) {
    static const char *const words[] = {"reads_private", "reaches_external", NULL};
    static const il_str meant[] = {{"sensitive", 9}, {"egress", 6}};
    const il_json *list = il_json_get(k->v, IL_STR("capabilities"));
    if (il_json_kind_of(list) != IL_JSON_NULL && il_json_kind_of(list) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(list, k->x->err, IL_E_INVALID, "`capabilities` is a list of `reads_private` and `reaches_external`");
    }
    for (const il_json *c = il_json_first(list); c != NULL; c = il_json_next(c)) {
        uint32_t word = 0;
        IL_TRY(il_interbolt_word(k->x, c, "a capability", words, &word));
        IL_TRY(il_sink_effect(k, effects, meant[word], c));
    }
    return IL_OK;
}

/* Not Interbolt's: what the tool's results are a source of. One that is not trusted brings what an attacker may have written. */
static il_status il_sink_produces(il_interbolt_sink *k, il_json *entry, il_json *effects) {
    const il_json *v = il_json_get(k->v, IL_STR("produces"));
    il_error why = {0};
    if (v == NULL) {
        return IL_OK;
    }
    const il_str name = il_json_kind_of(v) == IL_JSON_STRING ? il_json_text(v) : (il_str){0};
    const il_status s = il_origin_name_check(name, "a source", &why);
    if (s != IL_OK) {
        return IL_JSON_FAIL(v, k->x->err, s, "`produces` is the name of a source: %s", why.msg);
    }
    if (!il_str_eq(il_json_text(il_json_get(k->x->sources, name)), IL_STR("trusted"))) {
        IL_TRY(il_sink_effect(k, effects, IL_STR("untrusted"), v));
    }
    return il_interbolt_set(k->x, entry, IL_STR("source"), il_interbolt_text(k->x, name, v), v);
}

static il_status il_sink_entry(il_interbolt_sink *k) {
    il_json *entry = il_interbolt_at(il_json_make(k->x->arena, IL_JSON_OBJECT), k->v);
    il_json *effects = il_interbolt_at(il_json_make(k->x->arena, IL_JSON_ARRAY), k->v);
    IL_TRY(il_sink_capabilities(k, effects));
    IL_TRY(il_interbolt_set(k->x, entry, IL_STR("match"), il_sink_match(k), k->v));
    IL_TRY(il_interbolt_set(k->x, entry, IL_STR("effects"), effects, k->v));
    IL_TRY(il_sink_produces(k, entry, effects));
    return il_interbolt_push(k->x, k->tools, entry);
}

/* ---- rules -------------------------------------------------------------------------------------------------------- */

il_status il_interbolt_endorsement(il_arena *arena, il_str kind, il_str *out, il_error *err) {
    il_buf b;
    il_buf_init(&b, arena, 4096);
    il_buf_puts(&b, "taint.exists(t, t.trust == \"untrusted\" && !t.endorsements.exists(k, k == \"");
    il_buf_put(&b, kind);
    il_buf_puts(&b, "\"))");
    return il_buf_done(&b, out, err);
}

/* The reason of a decision is one word: other letters than those of words become one `-`. */
static il_status il_sink_rule_word(il_interbolt_sink *k, const il_json *name, il_str *out) {
    const il_str said = il_json_text(name);
    char *word = il_arena_bytes(k->x->arena, IL_RULE_NAME_MAX + 1);
    size_t n = 0;
    bool letters = false;
    if (word == NULL) {
        return il_arena_fail(k->x->arena, k->x->err);
    }
    for (size_t i = 0; i < said.n && n < IL_RULE_NAME_MAX; i++) {
        const bool letter = il_interbolt_name_ok(il_str_part(said, i, i + 1));
        if (letter || (n > 0 && word[n - 1] != '-')) {
            word[n++] = letter ? said.p[i] : '-';
        }
        letters = letters || letter;
    }
    n -= n > 0 && word[n - 1] == '-' && n > 1 ? 1u : 0u;
    if (!letters) {
        n = il_format(word, IL_RULE_NAME_MAX, "rule-%u", (unsigned)k->number);
    }
    *out = (il_str){word, n};
    const il_json *other = il_json_get(k->seen, *out);
    if (other != NULL) {
        return IL_JSON_FAIL(name, k->x->err, IL_E_INVALID,
                            "rule `%.*s` of this sink is there already, at line %u: a decision names the rule by `%.*s`",
                            IL_STR_ARG(said), (unsigned)other->line, IL_STR_ARG(*out));
    }
    return il_interbolt_set(k->x, k->seen, *out, il_interbolt_text(k->x, *out, name), name);
}

static il_status il_sink_when(il_interbolt_sink *k, const il_json *v, il_json *rule) {
    const il_json *when = il_json_get(v, IL_STR("when")), *kind = il_json_get(v, IL_STR("require_endorsement"));
    const bool asks = il_json_kind_of(when) != IL_JSON_NULL, needs = il_json_kind_of(kind) != IL_JSON_NULL;
    il_str text = il_json_text(when);
    if (asks && needs) {
        return IL_JSON_FAIL(kind, k->x->err, IL_E_INVALID,
                            "a rule has `when` or `require_endorsement`, not both; in `when` it is `taint.exists(t, ...)`");
    }
    if (asks && (il_json_kind_of(when) != IL_JSON_STRING || text.n == 0)) {
        return IL_JSON_FAIL(when, k->x->err, IL_E_INVALID, "`when` is a condition, such as max_trust == \"untrusted\"");
    }
    if (needs && (il_json_kind_of(kind) != IL_JSON_STRING || !il_interbolt_name_ok(il_json_text(kind)))) {
        return IL_JSON_FAIL(kind, k->x->err, IL_E_INVALID, "an endorsement kind has letters, digits and `_ - .` only");
    }
    if (needs) {
        IL_TRY(il_interbolt_endorsement(k->x->arena, il_json_text(kind), &text, k->x->err));
    }
    const il_json *at = needs ? kind : when;
    return asks || needs ? il_interbolt_set(k->x, rule, IL_STR("when"), il_interbolt_text(k->x, text, at), at) : IL_OK;
}

static il_status il_sink_rule(il_interbolt_sink *k, const il_json *v) {
    static const il_str keys[] = {{"name", 4}, {"when", 4}, {"require_endorsement", 19}, {"action", 6}};
    static const char *const actions[] = {"allow", "block", "require_approval", NULL};
    il_json *rule = il_interbolt_at(il_json_make(k->x->arena, IL_JSON_OBJECT), v);
    uint32_t action = 0;
    il_str word = {0};
    k->number++;
    IL_TRY(il_json_only(v, keys, 4, "a rule", k->x->err));
    const il_json *name = il_json_get(v, keys[0]), *then = il_json_get(v, keys[3]);
    if (name == NULL || then == NULL) {
        return IL_JSON_FAIL(v, k->x->err, IL_E_INVALID, "a rule needs `%s`", name == NULL ? "name" : "action");
    }
    if (il_json_kind_of(name) != IL_JSON_STRING) {
        return IL_JSON_FAIL(name, k->x->err, IL_E_INVALID, "the `name` of a rule is a text");
    }
    IL_TRY(il_interbolt_word(k->x, then, "`action`", actions, &action));
    IL_TRY(il_sink_rule_word(k, name, &word));
    IL_TRY(il_interbolt_set(k->x, rule, IL_STR("tools"), il_sink_match(k), v));
    IL_TRY(il_interbolt_set(k->x, rule, IL_STR("name"), il_interbolt_text(k->x, word, name), name));
    IL_TRY(il_sink_when(k, v, rule));
    IL_TRY(il_interbolt_set(k->x, rule, IL_STR("then"), il_interbolt_text(k->x, il_str_of(actions[action]), then), then));
    return il_interbolt_push(k->x, k->rules, rule);
}

/* ---- all of them ---------------------------------------------------------------------------------------------------- */

static il_status il_sink_read(il_interbolt_sink *k, const il_json *v) {
    static const il_str keys[] = {{"capabilities", 12}, {"rules", 5}, {"produces", 8}};
    size_t dot = 0;
    k->v = v;
    k->number = 0;
    k->seen = il_json_make(k->x->arena, IL_JSON_OBJECT);
    IL_TRY(il_sink_name(v, &dot, k->x->err));
    IL_TRY(il_sink_names(k, dot));
    if (il_json_kind_of(v) != IL_JSON_NULL) { /* a bare `tool:` */
        IL_TRY(il_json_only(v, keys, 3, "a sink", k->x->err));
    }
    const il_json *rules = il_json_get(v, keys[1]);
    if (rules != NULL && il_json_kind_of(rules) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(rules, k->x->err, IL_E_INVALID, "`rules` is a list such as [{name: all, action: block}]");
    }
    IL_TRY(il_sink_entry(k));
    for (const il_json *r = il_json_first(rules); r != NULL; r = il_json_next(r)) {
        IL_TRY(il_sink_rule(k, r));
    }
    return IL_OK;
}

/* A tool that no sink names does nothing that is known, and gets `sink_action`. */
static il_status il_sink_others(il_interbolt_sink *k, const il_json *at) {
    il_json *entry = il_interbolt_at(il_json_make(k->x->arena, IL_JSON_OBJECT), at);
    IL_TRY(il_interbolt_set(k->x, entry, IL_STR("match"), il_interbolt_text(k->x, IL_STR("*"), at), at));
    IL_TRY(il_interbolt_set(k->x, entry, IL_STR("effects"), il_interbolt_at(il_json_make(k->x->arena, IL_JSON_ARRAY), at), at));
    return il_interbolt_push(k->x, k->tools, entry);
}

il_status il_interbolt_sinks(il_interbolt_doc *x, il_json *flat) {
    const il_json *sinks = il_json_get(x->doc, IL_STR("sinks"));
    il_interbolt_sink k = {.x = x,
                           .servers = il_interbolt_at(il_json_make(x->arena, IL_JSON_OBJECT), sinks),
                           .tools = il_interbolt_at(il_json_make(x->arena, IL_JSON_ARRAY), sinks),
                           .rules = il_interbolt_at(il_json_make(x->arena, IL_JSON_ARRAY), sinks)};
    if (k.servers == NULL || k.tools == NULL || k.rules == NULL) {
        return il_arena_fail(x->arena, x->err);
    }
    if (il_json_kind_of(sinks) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(sinks != NULL ? sinks : x->doc, x->err, IL_E_INVALID,
                            "`sinks` maps a tool's name to its rules; `sinks: {}` when there are none");
    }
    for (const il_json *v = il_json_first(sinks); v != NULL; v = il_json_next(v)) {
        IL_TRY(il_sink_read(&k, v));
    }
    IL_TRY(il_sink_others(&k, sinks));
    if (il_json_count(k.servers) > 0) {
        IL_TRY(il_interbolt_set(x, flat, IL_STR("servers"), k.servers, sinks));
    }
    IL_TRY(il_interbolt_set(x, flat, IL_STR("tools"), k.tools, sinks));
    return il_json_count(k.rules) > 0 ? il_interbolt_set(x, flat, IL_STR("rules"), k.rules, sinks) : IL_OK;
}
