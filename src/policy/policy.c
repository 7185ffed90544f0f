/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"
#include "policy/bind.h"
#include "policy/compiled.h"
#include "policy/effect.h"
#include "policy/result.h"
#include "policy/words.h"

#define IL_POLICY_MEMORY ((size_t)64 << 20)
#define IL_POLICY_TOOLS_MAX 10000u

static const char *const il_policy_sections[] = {"interlock", "machine",  "mode",  "ours",      "destinations", "servers",
                                                 "kinds",     "tools",    "rules", "approvals", "agents",       "groups",
                                                 "sources",   "sessions", "audit", "tests",     "interbolt"};
static const char *const il_policy_expanded[] = {"presets", "hosts"}; /* expand.c */
#define IL_COUNT(a) (sizeof(a) / sizeof(a)[0])

/* Words into il_str. */
static size_t il_policy_keys(const char *const *words, size_t n, il_str *out) {
    for (size_t i = 0; i < n; i++) {
        out[i] = il_str_of(words[i]);
    }
    return n;
}

static il_status il_policy_version(const il_json *doc, il_error *err) {
    const il_json *v = il_json_get(doc, IL_STR("interlock"));
    int64_t version = 0;
    if (il_json_kind_of(doc) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(doc, err, IL_E_INVALID, "a policy is a map that begins with `interlock: 1`");
    }
    if (v == NULL) {
        return IL_JSON_FAIL(doc, err, IL_E_INVALID, "`interlock: 1` is missing: the version of the policy language");
    }
    if (!il_json_int(v, &version) || version != 1) {
        return IL_JSON_FAIL(v, err, IL_E_VERSION, "this build reads `interlock: 1` only");
    }
    return IL_OK;
}

il_status il_policy_machine_name(const il_json *doc, il_str *name, il_error *err) {
    *name = (il_str){0};
    if (il_interbolt_is(doc)) {
        *name = IL_STR(IL_INTERBOLT_MACHINE);
        return IL_OK;
    }
    IL_TRY(il_policy_version(doc, err));
    const il_json *v = il_json_get(doc, IL_STR("machine"));
    if (v == NULL) {
        return IL_JSON_FAIL(doc, err, IL_E_INVALID, "`machine` is missing: `standard`, or the path of a machine file");
    }
    if (il_json_kind_of(v) != IL_JSON_STRING || il_json_text(v).n == 0) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`machine` is a name or a path");
    }
    *name = il_json_text(v);
    return IL_OK;
}

static bool il_policy_server_name_ok(il_str name) {
    return il_glob_name_ok(name) && name.n <= 64 && il_str_find(name, IL_STR("."), 0) == SIZE_MAX;
}

static il_status il_policy_read_server(il_policy *p, const il_json *v, il_error *err) {
    static const char *const known[] = {"trust", "sampling", "roots", "elicitation", "prototype_keys", "sql", "cwd"};
    il_str keys[7];
    const il_json *use = il_json_get(v, IL_STR("use"));
    if (!il_policy_server_name_ok(il_json_key(v))) {
        return il_error_at(err, IL_E_INVALID, v->key_line, v->key_col, v->key_offset,
                           "server `%.*s`: a name has letters, digits, `_` and `-`, no dot, at most 64", IL_STR_ARG(v->key));
    }
    if (use != NULL) {
        return il_error_at(err, IL_E_INVALID, use->key_line, use->key_col, use->key_offset,
                           "`use` is to be written out first (il_policy_expand)");
    }
    IL_TRY(il_json_only(v, keys, il_policy_keys(known, IL_COUNT(known), keys), "a server", err));
    il_server *s = &p->servers[p->nservers++];
    IL_TRY(il_arena_copy(&p->arena, il_json_key(v), &s->name, err));
    IL_TRY(il_tables_load(il_json_get(v, IL_STR("sql")), &p->arena, s->tables, err));
    const il_json *trust = il_json_get(v, IL_STR("trust"));
    if (trust != NULL) {
        il_str text = il_json_kind_of(trust) == IL_JSON_STRING ? il_json_text(trust) : (il_str){0};
        s->inside = il_str_eq(text, IL_STR("inside"));
        if (!s->inside && !il_str_eq(text, IL_STR("outside"))) {
            return IL_JSON_FAIL(trust, err, IL_E_INVALID, "`trust` is `inside` or `outside`");
        }
    }
    const il_json *prototypes = il_json_get(v, IL_STR("prototype_keys"));
    if (prototypes != NULL) {
        il_str text = il_json_kind_of(prototypes) == IL_JSON_STRING ? il_json_text(prototypes) : (il_str){0};
        s->prototypes = il_str_eq(text, IL_STR("allow")) ? IL_PROTOTYPES_ALLOW : IL_PROTOTYPES_REFUSE;
        if (s->prototypes == IL_PROTOTYPES_REFUSE && !il_str_eq(text, IL_STR("refuse"))) {
            return IL_JSON_FAIL(prototypes, err, IL_E_INVALID, "`prototype_keys` is `refuse` or `allow`");
        }
    }
    const il_json *cwd = il_json_get(v, IL_STR("cwd"));
    il_error why = {0};
    if (cwd != NULL && (il_json_kind_of(cwd) != IL_JSON_STRING ||
                        il_kind_value(IL_KIND_PATH, il_json_text(cwd), &p->arena, &s->cwd, &why) != IL_OK)) {
        return IL_JSON_FAIL(cwd, err, IL_E_INVALID, "`cwd` is the folder in which the server runs, such as `~/src`: %s",
                            why.msg[0] != '\0' ? why.msg : "a text");
    }
    bool *features[] = {&s->sampling, &s->roots, &s->elicitation};
    for (size_t i = 0; i < IL_COUNT(features); i++) {
        const il_json *f = il_json_get(v, il_str_of(known[i + 1]));
        if (f != NULL && il_json_kind_of(f) != IL_JSON_BOOL) {
            return IL_JSON_FAIL(f, err, IL_E_INVALID, "`%s` is true or false; anything else is a preset's parameter (`use`)",
                                known[i + 1]);
        }
        *features[i] = il_json_bool(f);
    }
    return IL_OK;
}

static il_status il_policy_read_servers(il_policy *p, const il_json *servers, il_error *err) {
    if (servers == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(servers) != IL_JSON_OBJECT || il_json_count(servers) == 0) {
        return IL_JSON_FAIL(servers, err, IL_E_INVALID, "`servers` maps names to { trust: inside }");
    }
    p->servers = IL_NEW_ARRAY(&p->arena, il_server, il_json_count(servers));
    if (p->servers == NULL) {
        return il_arena_fail(&p->arena, err);
    }
    for (const il_json *v = il_json_first(servers); v != NULL; v = il_json_next(v)) {
        IL_TRY(il_policy_read_server(p, v, err));
    }
    return IL_OK;
}

/* Inserts an exact name in order; an unequal entry for the same name is an error. */
static il_status il_policy_add_exact(il_policy *p, uint32_t tool, il_str name, const il_json *at, il_error *err) {
    size_t lo = 0, hi = p->nexact;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (il_str_cmp(p->exact[mid].name, name) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    if (lo < p->nexact && il_str_eq(p->exact[lo].name, name)) {
        const il_tool *other = &p->tools[p->exact[lo].tool];
        if (memcmp(other->meaning, p->tools[tool].meaning, IL_DIGEST_BYTES) == 0) {
            return IL_OK;
        }
        if ((other->preset.n > 0) != (p->tools[tool].preset.n > 0)) { /* the policy's own beats a preset's */
            p->exact[lo].tool = other->preset.n > 0 ? tool : p->exact[lo].tool;
            return IL_OK;
        }
        return IL_JSON_FAIL(at, err, IL_E_INVALID, "tool `%.*s` has another entry at line %u that says otherwise",
                            IL_STR_ARG(name), other->line);
    }
    memmove(&p->exact[lo + 1], &p->exact[lo], (p->nexact - lo) * sizeof p->exact[0]);
    p->exact[lo] = (il_tool_index){name, tool};
    p->nexact++;
    return IL_OK;
}

static il_status il_policy_same_pattern(const il_policy *p, uint32_t tool, const il_glob *glob, const il_json *at,
                                        il_error *err) {
    for (uint32_t i = 0; i < tool; i++) {
        for (uint32_t g = 0; g < p->tools[i].nglobs; g++) {
            if (il_str_eq(p->tools[i].globs[g].text, glob->text) && (p->tools[i].preset.n > 0) == (p->tools[tool].preset.n > 0) &&
                memcmp(p->tools[i].meaning, p->tools[tool].meaning, IL_DIGEST_BYTES) != 0) {
                return IL_JSON_FAIL(at, err, IL_E_INVALID, "pattern `%.*s` has another entry at line %u that says otherwise",
                                    IL_STR_ARG(glob->text), p->tools[i].line);
            }
        }
    }
    return IL_OK;
}

/* What conditions may name at a rule, and, with the entry's own names, at an effect. */
static il_condition_names il_policy_names(const il_policy *p, il_condition_place place) {
    return (il_condition_names){.place = place,
                                .machine = p->machine,
                                .groups = p->agents.groups,
                                .ngroups = p->agents.ngroups,
                                .interbolt = p->interbolt.on && place == IL_CONDITION_RULE};
}

/* The fields of an item that conditions may read: those that no attacker can write, and that are no item of a list by its number. */
static il_status il_policy_item_fields(il_policy *p, const il_tool *tool, il_condition_names *names, il_error *err) {
    const il_result_form *form = tool->result;
    il_str *item = IL_NEW_ARRAY(&p->arena, il_str, form != NULL ? form->nfields : 0);
    if (item == NULL) {
        return il_arena_fail(&p->arena, err);
    }
    for (uint32_t i = 0; form != NULL && form->from != IL_FROM_TEXT && i < form->nfields; i++) {
        const il_field *f = &form->fields[i];
        bool named = f->standing == IL_STANDING_AUTHENTIC;
        for (uint32_t k = 0; k < f->path.n; k++) {
            named = named && f->path.steps[k].of != IL_STEP_INDEX;
        }
        if (named) {
            item[names->nitem++] = f->path.text;
        }
    }
    names->item = item;
    return IL_OK;
}

/* The entry's kinds, and what anything in this policy is remembered by; `own` has room for both. */
static uint32_t il_policy_own_names(const il_policy *p, const il_tool *tool, il_str *own, uint32_t cap) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < tool->nkinds && n < cap; i++) {
        own[n++] = tool->kinds[i].name;
    }
    for (uint32_t t = 0; t < p->ntools; t++) {
        for (uint32_t k = 0; k < p->tools[t].nremember; k++) {
            bool there = n == cap;
            for (uint32_t i = 0; i < n && !there; i++) {
                there = il_str_eq(own[i], p->tools[t].remember[k].name);
            }
            if (!there) {
                own[n++] = p->tools[t].remember[k].name;
            }
        }
    }
    return n;
}

static il_status il_policy_read_effects(il_policy *p, il_tool *tool, const il_json *entry, il_error *err) {
    il_condition_names names = il_policy_names(p, IL_CONDITION_EFFECT);
    const il_json *effects = il_json_get(entry, IL_STR("effects"));
    bool conditions = false;
    for (const il_json *v = il_json_first(effects); v != NULL && il_json_kind_of(effects) == IL_JSON_OBJECT;
         v = il_json_next(v)) {
        conditions = conditions || il_json_kind_of(v) == IL_JSON_STRING;
    }
    if (!conditions) {
        return IL_OK;
    }
    il_str *own = IL_NEW_ARRAY(&p->arena, il_str, IL_CONDITION_OWN_MAX);
    if (own == NULL) {
        return il_arena_fail(&p->arena, err);
    }
    names.own = own;
    names.nown = il_policy_own_names(p, tool, own, IL_CONDITION_OWN_MAX);
    names.given = il_json_get(entry, IL_STR("given"));
    IL_TRY(il_policy_item_fields(p, tool, &names, err));
    names.sql = tool->sql != NULL;
    names.shell = tool->shell != NULL;
    IL_TRY(il_effects_load(effects, &names, &p->arena, tool, err));
    p->asks |= tool->when->asks;
    return IL_OK;
}

static il_status il_policy_read_rules(il_policy *p, const il_json *rules, il_error *err) {
    il_condition_names names = il_policy_names(p, IL_CONDITION_RULE);
    names.sql = names.shell = true;
    IL_TRY(il_rules_load(&p->rules, rules, &names, &p->arena, err));
    p->rules.otherwise = p->interbolt.on ? &p->interbolt.otherwise : NULL;
    p->rules.soft = p->interbolt.soft;
    p->asks |= p->rules.asks;
    return IL_OK;
}

static il_status il_policy_read_tools(il_policy *p, const il_json *tools, const il_json *doc, il_error *err) {
    if (tools == NULL) {
        return IL_JSON_FAIL(doc, err, IL_E_INVALID, "`tools` is missing: every call would be denied");
    }
    if (il_json_kind_of(tools) != IL_JSON_ARRAY || il_json_count(tools) == 0) {
        return IL_JSON_FAIL(tools, err, IL_E_INVALID,
                            "`tools` is a list of entries such as { match: mail.read, effects: [untrusted, sensitive] }");
    }
    if (il_json_count(tools) > IL_POLICY_TOOLS_MAX) {
        return IL_JSON_FAIL(tools, err, IL_E_LIMIT, "more than %u entries of `tools`", IL_POLICY_TOOLS_MAX);
    }
    p->tools = IL_NEW_ARRAY(&p->arena, il_tool, il_json_count(tools));
    if (p->tools == NULL) {
        return il_arena_fail(&p->arena, err);
    }
    size_t names = 0;
    const il_tool_scope scope = {.arena = &p->arena, .kinds = &p->kinds, .own = il_json_get(doc, IL_STR("kinds"))};
    if (scope.own != NULL) {
        IL_TRY(il_tool_own_check(scope.own, &scope, err));
    }
    for (const il_json *v = il_json_first(tools); v != NULL; v = il_json_next(v)) {
        il_tool *tool = &p->tools[p->ntools++];
        IL_TRY(il_tool_load(v, &scope, tool, err));
        names += tool->nglobs;
        p->sourced = p->sourced || tool->source.n > 0;
    }
    uint32_t entry = 0; /* conditions may name what any entry remembers */
    for (const il_json *v = il_json_first(tools); v != NULL; v = il_json_next(v)) {
        IL_TRY(il_policy_read_effects(p, &p->tools[entry++], v, err));
    }
    p->exact = IL_NEW_ARRAY(&p->arena, il_tool_index, names + 1);
    if (p->exact == NULL) {
        return il_arena_fail(&p->arena, err);
    }
    uint32_t i = 0;
    for (const il_json *v = il_json_first(tools); v != NULL; v = il_json_next(v), i++) {
        for (uint32_t g = 0; g < p->tools[i].nglobs; g++) {
            const il_glob *glob = &p->tools[i].globs[g];
            IL_TRY(glob->exact ? il_policy_add_exact(p, i, glob->text, v, err) : il_policy_same_pattern(p, i, glob, v, err));
        }
    }
    return IL_OK;
}

static bool il_policy_remembered(const il_policy *p, il_str name, il_str *nearest) {
    unsigned best = 3;
    for (uint32_t i = 0; i < p->ntools; i++) {
        for (uint32_t k = 0; k < p->tools[i].nremember; k++) {
            const il_str other = p->tools[i].remember[k].name;
            const unsigned slips = il_str_distance(other, name);
            if (slips < best) {
                best = slips;
                *nearest = other;
            }
        }
    }
    return best == 0;
}

/* A `$name` that no result is remembered by would never be there. */
static il_status il_policy_check_remembered(const il_policy *p, il_error *err) {
    for (uint32_t i = 0; i < p->ntools; i++) {
        for (uint32_t k = 0; k < p->tools[i].nbuilt; k++) {
            const il_built *b = &p->tools[i].built[k];
            il_str nearest = {0};
            if (b->remembered.n == 0 || il_policy_remembered(p, b->remembered, &nearest)) {
                continue;
            }
            if (nearest.n > 0) {
                return il_error_at(err, IL_E_INVALID, b->line, b->col, 0,
                                   "nothing is remembered as `%.*s`; did you mean `$%.*s`?", IL_STR_ARG(b->remembered),
                                   IL_STR_ARG(nearest));
            }
            return il_error_at(
                err, IL_E_INVALID, b->line, b->col, 0,
                "nothing is remembered as `%.*s`; say in the entry of the tool whose result has it: remember: { %.*s: ... }",
                IL_STR_ARG(b->remembered), IL_STR_ARG(b->remembered));
        }
    }
    return IL_OK;
}

/* Whether a call of it may be no way out: of one that only changes something what was typed vouches, whoever reads there. */
static bool il_policy_stays(const il_tool *t) {
    bool stays = (t->effects & (uint32_t)IL_EGRESS) == 0;
    for (uint32_t i = 0; t->when != NULL && i < t->when->n; i++) {
        stays = stays || t->when->when[i].bit == (uint32_t)IL_EGRESS;
    }
    return stays;
}

/* Some tool that the entry names may be one of a server that is inside; a host's own tools are. */
static bool il_policy_may_be_inside(const il_policy *p, const il_tool *t) {
    bool inside = false;
    for (uint32_t g = 0; g < t->nglobs; g++) {
        for (uint32_t f = 0; f < t->globs[g].nforms; f++) {
            const il_str form = t->globs[g].forms[f];
            const size_t dot = il_str_find(form, IL_STR("."), 0);
            const il_str server = il_str_part(form, 0, dot == SIZE_MAX ? 0 : dot);
            inside =
                inside || server.n == 0 || il_str_find(server, IL_STR("*"), 0) != SIZE_MAX || il_policy_server_inside(p, server);
        }
    }
    return inside;
}

bool il_policy_hears_for_tools(const il_policy *p) {
    bool hears = false;
    for (uint32_t i = 0; i < p->ntools; i++) {
        const il_tool *t = &p->tools[i];
        const bool sends = (t->effects & (uint32_t)IL_EGRESS) != 0 && t->once && t->addressed && il_tool_declares(t, IL_ROLE_TO);
        const bool changes = (t->effects & (uint32_t)IL_COMMIT) != 0 && il_policy_stays(t) && il_tool_declares(t, IL_ROLE_OBJECT);
        hears = hears || ((sends || changes) && il_policy_may_be_inside(p, t));
    }
    return hears;
}

/* Which parts of a session's memory the entries ask about. */
static uint32_t il_policy_asks(const il_policy *p) {
    uint32_t asks = 0;
    for (uint32_t i = 0; i < p->ntools; i++) {
        const il_tool *t = &p->tools[i];
        const bool sink = (t->effects & (uint32_t)(IL_EGRESS | IL_COMMIT)) != 0;
        const bool reaches = il_policy_stays(t) || (t->addressed && t->once);
        asks |= sink && reaches ? (uint32_t)IL_REMEMBERS_TYPED : 0u;
        asks |= t->nremember > 0 ? (uint32_t)IL_REMEMBERS_NAMES : 0u;
        if (t->result != NULL && t->result->nfields > 0) {
            asks |= (uint32_t)(IL_REMEMBERS_TYPED | IL_REMEMBERS_FACTS | IL_REMEMBERS_TEXTS | IL_REMEMBERS_SENT);
        }
    }
    if ((p->asks & ((1u << IL_CONDITION_PROV) | IL_CONDITION_ASKS_SOURCES)) != 0) {
        asks |= (uint32_t)(IL_REMEMBERS_TYPED | IL_REMEMBERS_TEXTS);
    }
    if (p->options.laundering) {
        asks |= (uint32_t)(IL_REMEMBERS_TYPED | IL_REMEMBERS_TEXTS | IL_REMEMBERS_SENT);
    }
    return (p->asks & (IL_CONDITION_ASKS_VOUCHED | IL_CONDITION_ASKS_ENDORSED)) != 0 ? asks | (uint32_t)IL_REMEMBERS_TYPED : asks;
}

static il_status il_policy_seal(il_policy *p, const il_json *doc, il_error *err) {
    il_arena scratch;
    il_arena_init(&scratch, &p->alloc, IL_POLICY_MEMORY);
    il_buf b;
    il_str text = {0};
    il_buf_init(&b, &scratch, IL_POLICY_MEMORY);
    il_json_write(&b, doc, IL_JSON_SORTED);
    il_status s = il_buf_done(&b, &text, err);
    if (s == IL_OK) {
        uint8_t machine[IL_DIGEST_BYTES];
        il_sha256 h;
        il_machine_digest(p->machine, machine);
        il_sha256_init(&h, NULL);
        il_sha256_add(&h, text.p, text.n);
        il_sha256_add(&h, machine, sizeof machine);
        il_sha256_end(&h, p->fingerprint);
    }
    il_arena_free(&scratch);
    return s;
}

static il_status il_policy_compile(il_policy *p, const il_json *doc, il_error *err) {
    il_str keys[IL_COUNT(il_policy_sections)], machine;
    IL_TRY(il_policy_machine_name(doc, &machine, err));
    for (size_t i = 0; i < IL_COUNT(il_policy_expanded); i++) {
        const il_json *v = il_json_get(doc, il_str_of(il_policy_expanded[i]));
        if (v != NULL) {
            return il_error_at(err, IL_E_INVALID, v->key_line, v->key_col, v->key_offset,
                               "`%s` is to be written out first (il_policy_expand)", il_policy_expanded[i]);
        }
    }
    IL_TRY(il_json_only(doc, keys, il_policy_keys(il_policy_sections, IL_COUNT(il_policy_sections), keys), "the policy", err));
    if (il_interbolt_is(doc)) {
        return il_error_at(err, IL_E_INVALID, doc->line, doc->col, doc->offset,
                           "an Interbolt document is to be written out first (il_policy_expand)");
    }
    IL_TRY(il_interbolt_load(il_json_get(doc, IL_STR("interbolt")), &p->interbolt, err));
    if (p->interbolt.on &&
        !il_str_eq(machine,
                   IL_STR(IL_INTERBOLT_MACHINE))) { /* it makes servers that nobody declared inside, and errors no blocks */
        return IL_JSON_FAIL(il_json_get(doc, IL_STR("interbolt")), err, IL_E_INVALID,
                            "`interbolt` is for what was translated, on `machine: " IL_INTERBOLT_MACHINE "`; leave it out");
    }
    const il_json *mode = il_json_get(doc, IL_STR("mode"));
    if (mode != NULL) { /* zero is enforce */
        IL_TRY(il_words_mode(mode, &p->mode, err));
    }
    IL_TRY(il_names_load(&p->names, &p->kinds, il_json_get(doc, IL_STR("ours")), il_json_get(doc, IL_STR("destinations")),
                         &p->arena, err));
    IL_TRY(il_policy_read_servers(p, il_json_get(doc, IL_STR("servers")), err));
    IL_TRY(il_agents_load(&p->agents, il_json_get(doc, IL_STR("agents")), il_json_get(doc, IL_STR("groups")), &p->arena, err));
    IL_TRY(il_policy_read_tools(p, il_json_get(doc, IL_STR("tools")), doc, err));
    IL_TRY(il_policy_check_remembered(p, err));
    IL_TRY(il_policy_read_rules(p, il_json_get(doc, IL_STR("rules")), err));
    IL_TRY(il_approvals_load(il_json_get(doc, IL_STR("approvals")), &p->arena, &p->approvals, err));
    IL_TRY(il_options_load(&p->options, il_json_get(doc, IL_STR("sources")), il_json_get(doc, IL_STR("sessions")),
                           il_json_get(doc, IL_STR("audit")), &p->arena, err));
    p->remembers = il_policy_asks(p); /* what the sections above ask for */
    IL_TRY(il_trials_load(il_json_get(doc, IL_STR("tests")), &p->arena, &p->trials, err));
    il_bind bind;
    il_error why = {0};
    il_status s = il_bind_open(p->machine, &bind, &why);
    if (s != IL_OK) {
        return IL_JSON_FAIL(il_json_get(doc, IL_STR("machine")), err, s, "%s", why.msg);
    }
    return il_policy_seal(p, doc, err);
}

il_status il_policy_new(const il_alloc *alloc, const il_json *doc, const il_machine *machine, il_policy **out, il_error *err) {
    if (out == NULL || alloc == NULL || machine == NULL) {
        return il_error_set(err, IL_E_ARGUMENT, "a policy needs an allocator, a machine and a place to put it");
    }
    *out = NULL;
    il_policy *p = alloc->alloc(alloc->ctx, sizeof *p);
    if (p == NULL) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    memset(p, 0, sizeof *p);
    p->alloc = *alloc;
    p->machine = machine;
    il_arena_init(&p->arena, &p->alloc, IL_POLICY_MEMORY);
    il_status s = il_policy_compile(p, doc, err);
    if (s != IL_OK) {
        il_policy_free(p);
        return s;
    }
    *out = p;
    return IL_OK;
}

void il_policy_free(il_policy *p) {
    if (p != NULL) {
        il_alloc alloc = p->alloc;
        il_arena_free(&p->arena);
        alloc.free(alloc.ctx, p);
    }
}

const il_machine *il_policy_machine(const il_policy *p) { return p != NULL ? p->machine : NULL; }

void il_policy_fingerprint(const il_policy *p, uint8_t out[IL_DIGEST_BYTES]) {
    if (p != NULL) {
        memcpy(out, p->fingerprint, IL_DIGEST_BYTES);
    } else {
        memset(out, 0, IL_DIGEST_BYTES);
    }
}

il_mode il_policy_mode(const il_policy *p) { return p != NULL ? p->mode : IL_MODE_ENFORCE; }

il_mode il_policy_mode_of(const il_policy *p, il_str agent) {
    const il_agent *a = p != NULL ? il_policy_agent(p, agent) : NULL;
    return a != NULL && a->has_mode ? a->mode : il_policy_mode(p);
}

const il_server *il_policy_server(const il_policy *p, il_str name) {
    for (uint32_t i = 0; p != NULL && i < p->nservers; i++) {
        if (il_str_eq(p->servers[i].name, name)) {
            return &p->servers[i];
        }
    }
    return NULL;
}

bool il_policy_server_may(const il_policy *p, il_str server, il_str feature) {
    const il_server *s = il_policy_server(p, server);
    if (s == NULL) {
        return false;
    }
    return (s->sampling && il_str_eq(feature, IL_STR("sampling"))) || (s->roots && il_str_eq(feature, IL_STR("roots"))) ||
           (s->elicitation && il_str_eq(feature, IL_STR("elicitation")));
}

bool il_policy_server_inside(const il_policy *p, il_str server) {
    const il_server *s = il_policy_server(p, server);
    return s != NULL ? s->inside : p != NULL && p->interbolt.on;
}

il_prototypes il_policy_server_prototypes(const il_policy *p, il_str server) {
    const il_server *s = il_policy_server(p, server);
    return s != NULL ? s->prototypes : IL_PROTOTYPES_POLLUTE;
}

uint32_t il_policy_remembers(const il_policy *p) { return p != NULL ? p->remembers : 0; }
