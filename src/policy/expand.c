/* SPDX-License-Identifier: Apache-2.0 */
/* Presets: `servers.X.use` and `hosts.X.use` become entries of `tools`, so that what is compiled, fingerprinted and shown is one flat document. */
#include "base/sha256.h"
#include "interlock/policy.h"
#include "policy/glob.h"
#include "policy/interbolt.h"
#include "json/node.h"

#define IL_EXPAND_ENTRIES_MAX 10000u
#define IL_EXPAND_SHOWN 12u /* fewest digits of a pin */

typedef struct il_expanding {
    const il_presets *presets;
    const il_json *doc, *inlined; /* the document and its `presets` */
    il_arena *arena;
    il_error *err;
    il_json *tools; /* the entries to come */
    il_json *seen;  /* presets that remember something, by name: the server that uses each */
    uint32_t entries;
} il_expanding;

static bool il_expand_is_text(const il_json *v) { return il_json_kind_of(v) == IL_JSON_STRING && il_json_text(v).n > 0; }

/* A copy of a node's top that keeps where it stood. */
static il_json *il_expand_copy(il_expanding *x, const il_json *v) {
    il_json *copy = il_json_shallow(x->arena, v);
    if (copy != NULL) {
        copy->line = v->line;
        copy->col = v->col;
        copy->offset = v->offset;
    }
    return copy;
}

static il_status il_expand_set(il_expanding *x, il_json *object, il_str key, il_json *value, const il_json *at) {
    return il_json_set_at(object, key, value, at) ? IL_OK : il_arena_fail(x->arena, x->err);
}

/* ---- finding ------------------------------------------------------------------------------------------- */

static il_status il_expand_find(il_expanding *x, const il_json *use, const il_json **out) {
    const il_str name = il_json_text(use);
    il_error why = {0};
    if (!il_expand_is_text(use) || il_str_find(name, IL_STR("@"), 0) == SIZE_MAX) {
        return IL_JSON_FAIL(use, x->err, IL_E_INVALID, "`use` is a preset with its version, such as github@2");
    }
    *out = il_json_get(x->inlined, name);
    if (*out != NULL) {
        return IL_OK;
    }
    if (x->presets == NULL || x->presets->find == NULL) {
        return IL_JSON_FAIL(use, x->err, IL_E_INVALID, "there are no presets here but the document's own (`presets`)");
    }
    const il_status s = x->presets->find(x->presets->ctx, name, out, &why);
    if (s != IL_OK) {
        return IL_JSON_FAIL(use, x->err, s == IL_E_NOT_FOUND ? IL_E_INVALID : s, "%s", why.msg);
    }
    return IL_OK;
}

static il_status il_expand_pin(il_expanding *x, const il_json *pin, const il_json *preset) {
    uint8_t digest[IL_DIGEST_BYTES];
    char hex[IL_DIGEST_HEX];
    if (pin == NULL) {
        return IL_OK;
    }
    IL_TRY(il_json_digest(preset, NULL, digest, x->err));
    il_digest_hex(digest, hex);
    const il_str said = il_expand_is_text(pin) ? il_json_text(pin) : (il_str){0};
    if (said.n < IL_EXPAND_SHOWN || !il_str_starts(il_str_of(hex), said)) {
        return IL_JSON_FAIL(pin, x->err, IL_E_INVALID, "the preset is not the one that is pinned: its digest is %s", hex);
    }
    return IL_OK;
}

/* ---- parameters ------------------------------------------------------------------------------------------ */

static bool il_expand_same(const il_json *given, const il_json *fallback) {
    if (il_json_kind_of(given) != il_json_kind_of(fallback)) {
        return false;
    }
    for (const il_json *v = il_json_first(given); v != NULL; v = il_json_next(v)) {
        if (il_json_kind_of(v) != IL_JSON_STRING) {
            return false;
        }
    }
    return il_json_kind_of(given) != IL_JSON_OBJECT && il_json_kind_of(given) != IL_JSON_NULL;
}

/* What the use of a preset gives its conditions: its parameters, each with what is said here or what the preset takes otherwise. `known`: members that are
 * none of its parameters. */
static il_status il_expand_given(il_expanding *x, const il_json *user, const il_json *preset, const il_str *known, size_t nknown,
                                 il_json **out) {
    const il_json *parameters = il_json_get(preset, IL_STR("parameters"));
    il_str keys[64];
    size_t n = 0;
    *out = NULL;
    for (size_t i = 0; i < nknown; i++) {
        keys[n++] = known[i];
    }
    for (const il_json *p = il_json_first(parameters); p != NULL && n < 64; p = il_json_next(p)) {
        keys[n++] = il_json_key(p);
    }
    IL_TRY(il_json_only(user, keys, n, "the use of this preset", x->err));
    if (il_json_count(parameters) == 0) {
        return IL_OK;
    }
    *out = il_json_make(x->arena, IL_JSON_OBJECT);
    for (const il_json *p = il_json_first(parameters); p != NULL; p = il_json_next(p)) {
        const il_json *said = il_json_get(user, il_json_key(p));
        if (said != NULL && !il_expand_same(said, p)) {
            return IL_JSON_FAIL(said, x->err, IL_E_INVALID, "`%.*s` is %s here", IL_STR_ARG(il_json_key(p)),
                                il_json_kind_of(p) == IL_JSON_ARRAY    ? "a list of texts"
                                : il_json_kind_of(p) == IL_JSON_BOOL   ? "true or false"
                                : il_json_kind_of(p) == IL_JSON_NUMBER ? "a number"
                                                                       : "a text");
        }
        IL_TRY(il_expand_set(x, *out, il_json_key(p), il_expand_copy(x, said != NULL ? said : p), said != NULL ? said : p));
    }
    return IL_OK;
}

/* ---- entries ---------------------------------------------------------------------------------------------- */

/* Names and patterns become those of a server. A group of names without a star is each name by itself: an exact name beats a pattern. */
static il_status il_expand_pattern(il_expanding *x, il_str server, const il_json *v, il_json *match) {
    il_glob glob;
    il_error why = {0};
    if (il_json_kind_of(v) != IL_JSON_STRING) {
        return IL_JSON_FAIL(v, x->err, IL_E_INVALID, "`match` is a tool's name or pattern, or a list of them");
    }
    const il_status s = il_glob_new(il_json_text(v), x->arena, &glob, &why);
    if (s != IL_OK) {
        return IL_JSON_FAIL(v, x->err, s, "%s", why.msg);
    }
    for (uint32_t i = 0; i < glob.nforms; i++) {
        il_buf b;
        il_str full;
        il_buf_init(&b, x->arena, (size_t)1 << 16);
        if (server.n > 0) {
            il_buf_put(&b, server);
            il_buf_putc(&b, '.');
        }
        il_buf_put(&b, glob.forms[i]);
        IL_TRY(il_buf_done(&b, &full, x->err));
        il_json *text = il_json_string(x->arena, full);
        if (!il_json_push(match, text)) {
            return il_arena_fail(x->arena, x->err);
        }
        text->line = v->line;
        text->col = v->col;
    }
    return IL_OK;
}

/* What a preset says once for all of its entries. */
static il_status il_expand_shared(il_expanding *x, il_json *entry, const il_json *preset, il_str key) {
    const il_json *all = il_json_get(preset, key);
    const bool has = il_json_get(entry, key) != NULL;
    return all == NULL || has ? IL_OK : il_expand_set(x, entry, key, il_expand_copy(x, all), all);
}

static il_status il_expand_entry(il_expanding *x, il_str server, const il_json *v, const il_json *preset, const il_json *use,
                                 const il_json *given) {
    const il_json *match = il_json_get(v, IL_STR("match"));
    if (il_json_kind_of(v) != IL_JSON_OBJECT || match == NULL) {
        return IL_JSON_FAIL(v, x->err, IL_E_INVALID, "an entry of `tools` needs `match`");
    }
    if (x->entries++ == IL_EXPAND_ENTRIES_MAX) {
        return IL_JSON_FAIL(use, x->err, IL_E_LIMIT, "more than %u entries of `tools`", IL_EXPAND_ENTRIES_MAX);
    }
    il_json *entry = il_expand_copy(x, v), *names = il_json_make(x->arena, IL_JSON_ARRAY);
    if (entry == NULL || names == NULL || !il_json_remove(entry, IL_STR("match"))) {
        return il_arena_fail(x->arena, x->err);
    }
    names->line = match->line;
    names->col = match->col;
    const bool list = il_json_kind_of(match) == IL_JSON_ARRAY;
    for (const il_json *m = list ? il_json_first(match) : match; m != NULL; m = list ? il_json_next(m) : NULL) {
        IL_TRY(il_expand_pattern(x, server, m, names));
    }
    IL_TRY(il_expand_set(x, entry, IL_STR("match"), names, match));
    if (il_json_get(entry, IL_STR("preset")) != NULL || il_json_get(entry, IL_STR("given")) != NULL) {
        return IL_JSON_FAIL(v, x->err, IL_E_INVALID,
                            "an entry of a preset has no `preset` and no `given`: they say how it is used");
    }
    IL_TRY(il_expand_set(x, entry, IL_STR("preset"), il_json_string(x->arena, il_json_text(use)), use));
    if (given != NULL) {
        IL_TRY(il_expand_set(x, entry, IL_STR("given"), il_expand_copy(x, given), use));
    }
    IL_TRY(il_expand_shared(x, entry, preset, IL_STR("kinds")));
    IL_TRY(il_expand_shared(x, entry, preset, IL_STR("remember")));
    return il_json_push(x->tools, entry) ? IL_OK : il_arena_fail(x->arena, x->err);
}

/* What a browser's page is called belongs to one browser. */
static il_status il_expand_once(il_expanding *x, const il_json *use, const il_json *user, const il_json *preset) {
    bool remembers = il_json_get(preset, IL_STR("remember")) != NULL;
    const il_json *tools = il_json_get(preset, IL_STR("tools"));
    for (const il_json *t = il_json_first(tools); t != NULL; t = il_json_next(t)) {
        remembers = remembers || il_json_get(t, IL_STR("remember")) != NULL;
    }
    const il_json *other = remembers ? il_json_get(x->seen, il_json_text(use)) : NULL;
    if (other != NULL) {
        return IL_JSON_FAIL(
            use, x->err, IL_E_INVALID,
            "`%.*s` remembers by name what `%.*s` uses as well; copy it to `presets` under another name, with other names in it",
            IL_STR_ARG(il_json_text(use)), IL_STR_ARG(il_json_text(other)));
    }
    il_json *by = remembers ? il_json_string(x->arena, il_json_key(user)) : NULL;
    return !remembers || il_json_set(x->seen, il_json_text(use), by) ? IL_OK : il_arena_fail(x->arena, x->err);
}

/* `known`: members of the user that are not the preset's parameters. */
/* What a preset may say, also one that nobody uses. */
static il_status il_expand_form(il_expanding *x, const il_json *preset) {
    static const il_str keys[] = {{"preset", 6}, {"for", 3}, {"parameters", 10}, {"kinds", 5}, {"remember", 8}, {"tools", 5}};
    IL_TRY(il_json_only(preset, keys, 6, "a preset", x->err));
    if (il_json_kind_of(il_json_get(preset, IL_STR("tools"))) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(preset, x->err, IL_E_INVALID, "a preset needs `tools`, a list of entries");
    }
    return IL_OK;
}

static il_status il_expand_use(il_expanding *x, il_str server, const il_json *user, const il_str *known, size_t nknown) {
    const il_json *use = il_json_get(user, IL_STR("use")), *preset = NULL;
    il_json *given = NULL;
    IL_TRY(il_expand_find(x, use, &preset));
    IL_TRY(il_expand_form(x, preset));
    IL_TRY(il_expand_pin(x, il_json_get(user, IL_STR("pin")), preset));
    const il_json *own = il_json_get(preset, IL_STR("preset"));
    if (own != NULL && !il_str_eq(il_json_text(own), il_json_text(use))) {
        return IL_JSON_FAIL(use, x->err, IL_E_INVALID, "`%.*s` is found under this name, and calls itself `%.*s`",
                            IL_STR_ARG(il_json_text(use)), IL_STR_ARG(il_json_text(own)));
    }
    IL_TRY(il_expand_given(x, user, preset, known, nknown, &given));
    const il_json *tools = il_json_get(preset, IL_STR("tools"));
    IL_TRY(il_expand_once(x, use, user, preset));
    for (const il_json *t = il_json_first(tools); t != NULL; t = il_json_next(t)) {
        IL_TRY(il_expand_entry(x, server, t, preset, use, given));
    }
    return IL_OK;
}

/* ---- sections ---------------------------------------------------------------------------------------------- */

/* A server with a preset is inside unless it says otherwise: the preset says what each of its tools brings and where it sends. */
static il_status il_expand_server(il_expanding *x, const il_json *v, il_json *servers) {
    static const il_str known[] = {{"use", 3},   {"pin", 3},          {"trust", 5},           {"sampling", 8},
                                   {"roots", 5}, {"elicitation", 11}, {"prototype_keys", 14}, {"sql", 3},
                                   {"cwd", 3}};
    static const il_str kept[] = {{"trust", 5},           {"sampling", 8}, {"elicitation", 11},
                                  {"prototype_keys", 14}, {"sql", 3},      {"cwd", 3}};
    if (il_json_get(v, IL_STR("use")) == NULL) {
        return il_expand_set(x, servers, il_json_key(v), il_expand_copy(x, v), v);
    }
    const il_json *preset = NULL;
    IL_TRY(il_expand_find(x, il_json_get(v, IL_STR("use")), &preset));
    const bool parameter = il_json_get(il_json_get(preset, IL_STR("parameters")), IL_STR("roots")) != NULL;
    IL_TRY(il_expand_use(x, il_json_key(v), v, known, sizeof known / sizeof known[0]));
    il_json *server = il_json_make(x->arena, IL_JSON_OBJECT);
    if (server == NULL) {
        return il_arena_fail(x->arena, x->err);
    }
    server->line = v->line;
    server->col = v->col;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        const il_json *said = il_json_get(v, kept[i]);
        if (said != NULL) {
            IL_TRY(il_expand_set(x, server, kept[i], il_expand_copy(x, said), said));
        }
    }
    const il_json *roots = il_json_get(v, IL_STR("roots")); /* the client's feature, where it is no parameter of the preset */
    if (roots != NULL && !parameter) {
        if (il_json_kind_of(roots) != IL_JSON_BOOL) {
            return IL_JSON_FAIL(roots, x->err, IL_E_INVALID,
                                "this preset has no parameter `roots`; of a server it is true or false");
        }
        IL_TRY(il_expand_set(x, server, IL_STR("roots"), il_expand_copy(x, roots), roots));
    }
    if (il_json_get(server, IL_STR("trust")) == NULL) {
        IL_TRY(il_expand_set(x, server, IL_STR("trust"), il_json_string(x->arena, IL_STR("inside")), v));
    }
    return il_expand_set(x, servers, il_json_key(v), server, v);
}

static il_status il_expand_servers(il_expanding *x, const il_json *servers, il_json *out) {
    if (il_json_kind_of(servers) != IL_JSON_OBJECT || il_json_count(servers) == 0) {
        return IL_JSON_FAIL(servers, x->err, IL_E_INVALID, "`servers` maps names to { use: PRESET } or { trust: inside }");
    }
    il_json *all = il_json_make(x->arena, IL_JSON_OBJECT);
    for (const il_json *v = il_json_first(servers); v != NULL; v = il_json_next(v)) {
        IL_TRY(il_expand_server(x, v, all));
    }
    return all != NULL ? il_expand_set(x, out, IL_STR("servers"), all, servers) : il_arena_fail(x->arena, x->err);
}

static il_status il_expand_hosts(il_expanding *x, const il_json *hosts) {
    static const il_str known[] = {{"use", 3}, {"pin", 3}};
    if (il_json_kind_of(hosts) != IL_JSON_OBJECT || il_json_count(hosts) == 0) {
        return IL_JSON_FAIL(hosts, x->err, IL_E_INVALID, "`hosts` maps coding agents to { use: PRESET }");
    }
    for (const il_json *v = il_json_first(hosts); v != NULL; v = il_json_next(v)) {
        if (il_json_get(v, IL_STR("use")) == NULL) {
            return IL_JSON_FAIL(v, x->err, IL_E_INVALID, "a host needs `use`, such as { use: claude-code@1 }");
        }
        IL_TRY(il_expand_use(x, IL_STR(""), v, known, 2));
    }
    return IL_OK;
}

static il_status il_expand_inlined(il_expanding *x) {
    if (x->inlined == NULL) {
        return IL_OK;
    }
    if (il_json_kind_of(x->inlined) != IL_JSON_OBJECT || il_json_count(x->inlined) == 0) {
        return IL_JSON_FAIL(x->inlined, x->err, IL_E_INVALID,
                            "`presets` maps a name with its version to a preset, such as { mail@1: { tools: [...] } }");
    }
    for (const il_json *v = il_json_first(x->inlined); v != NULL; v = il_json_next(v)) {
        if (il_str_find(il_json_key(v), IL_STR("@"), 0) == SIZE_MAX) {
            return il_error_at(x->err, IL_E_INVALID, v->key_line, v->key_col, v->key_offset,
                               "preset `%.*s` has no version; write `%.*s@1`", IL_STR_ARG(v->key), IL_STR_ARG(v->key));
        }
        IL_TRY(il_expand_form(x, v));
    }
    return IL_OK;
}

static bool il_expand_needed(const il_json *doc) {
    bool uses = il_json_get(doc, IL_STR("presets")) != NULL || il_json_get(doc, IL_STR("hosts")) != NULL;
    for (const il_json *v = il_json_first(il_json_get(doc, IL_STR("servers"))); v != NULL; v = il_json_next(v)) {
        uses = uses || il_json_get(v, IL_STR("use")) != NULL;
    }
    return uses;
}

il_status il_policy_expand(il_arena *arena, const il_json *doc, const il_presets *presets, const il_json **out, il_error *err) {
    *out = doc;
    if (il_interbolt_is(doc)) {
        return il_interbolt_expand(arena, doc, out, err);
    }
    if (il_json_kind_of(doc) != IL_JSON_OBJECT || !il_expand_needed(doc)) {
        return IL_OK;
    }
    il_expanding x = {.presets = presets, .doc = doc, .inlined = il_json_get(doc, IL_STR("presets")), .arena = arena, .err = err};
    const il_json *own = il_json_get(doc, IL_STR("tools")), *hosts = il_json_get(doc, IL_STR("hosts"));
    const il_json *servers = il_json_get(doc, IL_STR("servers"));
    il_json *flat = il_json_make(arena, IL_JSON_OBJECT);
    x.tools = il_json_make(arena, IL_JSON_ARRAY);
    x.seen = il_json_make(arena, IL_JSON_OBJECT);
    if (flat == NULL || x.tools == NULL || x.seen == NULL) {
        return il_arena_fail(arena, err);
    }
    flat->line = doc->line;
    flat->col = doc->col;
    x.tools->line = own != NULL ? own->line : doc->line;
    x.tools->col = own != NULL ? own->col : doc->col;
    IL_TRY(il_expand_inlined(&x));
    if (own != NULL && il_json_kind_of(own) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(own, err, IL_E_INVALID,
                            "`tools` is a list of entries such as { match: mail.read, effects: [untrusted, sensitive] }");
    }
    for (const il_json *t = il_json_first(own); t != NULL; t = il_json_next(t)) {
        x.entries++;
        if (!il_json_push(x.tools, il_expand_copy(&x, t))) {
            return il_arena_fail(arena, err);
        }
    }
    for (const il_json *v = il_json_first(doc); v != NULL; v = il_json_next(v)) {
        const il_str key = il_json_key(v);
        if (!il_str_eq(key, IL_STR("presets")) && !il_str_eq(key, IL_STR("hosts")) && !il_str_eq(key, IL_STR("servers")) &&
            !il_str_eq(key, IL_STR("tools"))) {
            IL_TRY(il_expand_set(&x, flat, key, il_expand_copy(&x, v), v));
        }
    }
    IL_TRY(servers != NULL ? il_expand_servers(&x, servers, flat) : IL_OK);
    IL_TRY(hosts != NULL ? il_expand_hosts(&x, hosts) : IL_OK);
    if (il_json_first(x.tools) != NULL) {
        IL_TRY(il_expand_set(&x, flat, IL_STR("tools"), x.tools, own != NULL ? own : doc));
    }
    *out = flat;
    return IL_OK;
}
