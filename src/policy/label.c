/* SPDX-License-Identifier: Apache-2.0 */
/* Vouching (docs/policy.md: vouching): an egress is dropped when the entry's destinations in this call are at least one and all are listed; a commit
 * when its objects are. Whatever else the call names counts too: every value of `to` and `object`, everything found in `reads`, and an
 * argument that the entry does not declare ends it. */
#include "base/error.h"
#include "policy/compiled.h"
#include "policy/effect.h"
#include "policy/text.h"

#define IL_LABEL_DEPTH 64      /* of arguments, below which nothing is judged */
#define IL_LABEL_SHOWN_MAX 64u /* destinations kept for the human */
#define IL_SINKS ((uint32_t)(IL_EGRESS | IL_COMMIT))

typedef struct il_vouching {
    const il_policy *policy;
    const il_tool *tool;
    il_arena *scratch;
    il_label *out;
    il_str *shown;
    uint32_t needed; /* classes that every destination must accept */
    uint32_t destinations, objects;
    bool failed; /* something is not vouched; `why` says what */
    il_str at;   /* the argument being looked at, for messages; empty: none */
} il_vouching;

static void il_vouching_fail(il_vouching *v, const char *why) {
    if (!v->failed) {
        v->failed = true;
        if (v->at.n > 0) {
            (void)il_format(v->out->why, sizeof v->out->why, "argument `%.*s`: %s", IL_STR_ARG(v->at), why);
        } else {
            (void)il_format(v->out->why, sizeof v->out->why, "%s", why);
        }
    }
}

static void il_vouching_show(il_vouching *v, il_str canonical) {
    if (v->out->ndestinations < IL_LABEL_SHOWN_MAX) {
        v->shown[v->out->ndestinations++] = canonical;
    }
}

/* One value of a kind. An empty token stands for something that could not be read. */
static bool il_vouching_value(void *ctx, il_kind kind, il_str token) {
    il_vouching *v = ctx;
    il_str canonical = {0};
    if (token.n == 0 || il_kind_value(kind, token, v->scratch, &canonical, NULL) != IL_OK) {
        char why[64];
        (void)il_format(why, sizeof why, "a value cannot be read as %s%.*s",
                        kind == IL_KIND_EMAIL || kind == IL_KIND_ACCOUNT ? "an " : "a ", IL_STR_ARG(il_kind_word(kind)));
        il_vouching_fail(v, why);
        return false;
    }
    il_vouching_show(v, canonical);
    if (!il_names_vouch(&v->policy->names, kind, canonical, v->needed)) {
        char why[96];
        (void)il_format(why, sizeof why, "%s %.*s is not listed for what this session holds",
                        kind == IL_KIND_EMAIL || kind == IL_KIND_ACCOUNT ? "an" : "a", IL_STR_ARG(il_kind_word(kind)));
        il_vouching_fail(v, why);
        return false;
    }
    return true;
}

/* A declared destination or object, and what its URL hides. */
static il_status il_vouching_named(il_vouching *v, il_role role, il_kind kind, il_str text, il_error *err) {
    if (role == IL_ROLE_OBJECT) {
        v->objects++;
    } else {
        v->destinations++;
    }
    if (il_vouching_value(v, kind, text) && kind == IL_KIND_URL) {
        return il_text_nested(text, v->scratch, il_vouching_value, v, err);
    }
    return IL_OK;
}

/* Every string and key below a free-text argument. */
static il_status il_vouching_reads(il_vouching *v, const il_json *node, unsigned depth, il_error *err) {
    if (depth == 0) {
        il_vouching_fail(v, "nested too deep to be read");
        return IL_OK;
    }
    if (il_json_kind_of(node) == IL_JSON_STRING) {
        return il_text_destinations(il_json_text(node), v->scratch, il_vouching_value, v, err);
    }
    for (const il_json *child = il_json_first(node); child != NULL && !v->failed; child = il_json_next(child)) {
        if (il_json_key(child).n > 0) {
            IL_TRY(il_text_destinations(il_json_key(child), v->scratch, il_vouching_value, v, err));
        }
        IL_TRY(il_vouching_reads(v, child, depth - 1, err));
    }
    return IL_OK;
}

/* Models fill optional arguments with an empty text as with null. */
static bool il_vouching_absent(const il_json *node) {
    return node == NULL || il_json_kind_of(node) == IL_JSON_NULL ||
           (il_json_kind_of(node) == IL_JSON_STRING && il_json_text(node).n == 0);
}

/* A `to` or `object` argument: one value or a list of values; null and the empty text are absent, but not as an item of a list. */
static il_status il_vouching_target(il_vouching *v, const il_argument *a, const il_json *node, il_error *err) {
    bool list = il_json_kind_of(node) == IL_JSON_ARRAY;
    for (const il_json *item = list ? il_json_first(node) : node; item != NULL && !v->failed;
         item = list ? il_json_next(item) : NULL) {
        il_str text = {0};
        if (!list && il_vouching_absent(item)) {
            return IL_OK;
        }
        if (!il_arg_text(item, &text)) {
            il_vouching_fail(v, "is not a text, a whole number or a list of them");
            return IL_OK;
        }
        IL_TRY(il_vouching_named(v, a->role, a->kind, text, err));
    }
    return IL_OK;
}

/* What the entry says of the node whose path is `path`: each declaration with exactly this path is applied; *above tells that a declared
 * path goes on below it. Declarations never overlap otherwise (checked at load). */
static il_status il_vouching_declared(il_vouching *v, const il_arg_path *path, const il_json *node, bool *found, bool *above,
                                      il_error *err) {
    *found = *above = false;
    for (uint32_t i = 0; i < v->tool->narguments && !v->failed; i++) {
        const il_argument *a = &v->tool->arguments[i];
        *above = *above || il_arg_path_above(path, &a->path);
        if (!il_arg_path_eq(path, &a->path)) {
            continue;
        }
        *found = true;
        v->at = a->path.text;
        switch (a->role) {
        case IL_ROLE_TO:
        case IL_ROLE_OBJECT:
            IL_TRY(il_vouching_target(v, a, node, err));
            break;
        case IL_ROLE_READS:
            IL_TRY(il_vouching_reads(v, node, IL_LABEL_DEPTH, err));
            break;
        case IL_ROLE_PLAIN:
        case IL_ROLE_PART:
            break;
        }
    }
    return IL_OK;
}

/* Whether a value stands at the end of the steps below `node`. Items further down are looked at one by one when the walk is there. */
static bool il_vouching_names(const il_arg_path *path, uint32_t from, const il_json *node) {
    for (uint32_t i = from; i < path->n; i++) {
        node = path->steps[i].p == NULL ? il_json_first(node) : il_json_get(node, path->steps[i]);
    }
    return !il_vouching_absent(node) && (il_json_kind_of(node) != IL_JSON_ARRAY || il_json_first(node) != NULL);
}

/* `item` has the path `path`, which ends in `[*]`. Where items name destinations (or objects), one that names none would go wherever the
 * server thinks that it goes. */
static void il_vouching_item(il_vouching *v, const il_arg_path *path, const il_json *item) {
    static const il_role roles[] = {IL_ROLE_TO, IL_ROLE_OBJECT};
    for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++) {
        const il_argument *declared = NULL;
        bool named = false;
        for (uint32_t i = 0; i < v->tool->narguments; i++) {
            const il_argument *a = &v->tool->arguments[i];
            if (a->role == roles[r] && (il_arg_path_eq(path, &a->path) || il_arg_path_above(path, &a->path))) {
                declared = declared != NULL ? declared : a;
                named = named || il_vouching_names(&a->path, path->n, item);
            }
        }
        if (declared != NULL && !named && !v->failed) {
            v->at = declared->path.text;
            il_vouching_fail(v, "an item names none");
        }
    }
}

/* Walks the arguments along the declared paths. `path` is a stack with room for one step more than any declared path has. */
static il_status il_vouching_walk(il_vouching *v, il_arg_path *path, const il_json *node, il_error *err) {
    bool array = il_json_kind_of(node) == IL_JSON_ARRAY;
    if (il_json_kind_of(node) == IL_JSON_NULL) {
        return IL_OK; /* absent, as a `to` that is null */
    }
    if (!array && il_json_kind_of(node) != IL_JSON_OBJECT) {
        v->at = (il_str){0};
        il_vouching_fail(v, "an argument has another shape than the entry declares");
        return IL_OK;
    }
    for (const il_json *child = il_json_first(node); child != NULL && !v->failed; child = il_json_next(child)) {
        bool found = false, above = false;
        /* a step without a pointer stands for an item, so an empty key must have one */
        il_str key = il_json_key(child);
        if (array) {
            key = (il_str){0};
        }
        if (!array && key.p == NULL) {
            key = IL_STR("");
        }
        path->steps[path->n++] = key;
        if (array) {
            il_vouching_item(v, path, child);
        }
        IL_TRY(il_vouching_declared(v, path, child, &found, &above, err));
        if (!found && above) {
            IL_TRY(il_vouching_walk(v, path, child, err)); /* depth: that of the declared paths, IL_PATH_DEPTH_MAX */
        } else if (!found && !v->failed) {
            v->at = (il_str){0};
            il_vouching_fail(v, "an argument is not declared by the entry (to, object, reads, plain)");
        }
        path->n--;
    }
    return IL_OK;
}

static il_status il_vouching_built(il_vouching *v, const il_json *args, il_error *err) {
    for (uint32_t i = 0; i < v->tool->nbuilt && !v->failed; i++) {
        const il_built *b = &v->tool->built[i];
        il_template_fill how = IL_TEMPLATE_ABSENT;
        il_str value = {0};
        v->at = b->form.text;
        IL_TRY(il_template_build(&b->form, args, v->scratch, &how, &value, err));
        if (how == IL_TEMPLATE_BAD) {
            il_vouching_fail(v, "cannot be built from the arguments of this call");
        } else if (how == IL_TEMPLATE_FILLED) {
            IL_TRY(il_vouching_named(v, b->role, b->kind, value, err));
        }
        v->at = (il_str){0};
    }
    return IL_OK;
}

/* Judges the arguments; afterwards out->effects has lost what was vouched. */
static il_status il_vouching_judge(il_vouching *v, const il_json *args, il_error *err) {
    il_arg_path path = {.steps = IL_NEW_ARRAY(v->scratch, il_str, IL_PATH_DEPTH_MAX + 1)};
    v->shown = IL_NEW_ARRAY(v->scratch, il_str, IL_LABEL_SHOWN_MAX);
    if (path.steps == NULL || v->shown == NULL) {
        return il_arena_fail(v->scratch, err);
    }
    v->out->destinations = v->shown;
    if (args != NULL) {
        IL_TRY(il_vouching_walk(v, &path, args, err));
    }
    IL_TRY(il_vouching_built(v, args, err));
    v->at = (il_str){0};
    uint32_t sinks = v->out->declared & IL_SINKS;
    if ((sinks & (uint32_t)IL_EGRESS) != 0 && v->destinations == 0) {
        il_vouching_fail(v, "the call names no destination that the entry declares");
    }
    if (v->failed) {
        return IL_OK;
    }
    if (v->destinations > 0) {
        v->out->effects &= ~(uint32_t)IL_EGRESS;
    }
    if (v->objects > 0) {
        v->out->effects &= ~(uint32_t)IL_COMMIT;
    }
    v->out->vouched = (v->out->effects & IL_SINKS) == 0;
    if (!v->out->vouched) {
        il_vouching_fail(v, "the call names no object that the entry declares");
    }
    return IL_OK;
}

/* The entries that match: an exact one alone, else all patterns. Equal entries are one. */
typedef struct il_matched {
    const il_tool *tool; /* the first; NULL: none */
    bool several;        /* unequal patterns: their worst case, and nothing is vouched */
    uint32_t effects;
    bool once;
    const il_policy *policy; /* what conditions are asked about */
    const il_label_call *call;
    il_arena *scratch;
} il_matched;

static il_status il_matched_add(il_matched *m, const il_tool *t, il_error *err) {
    uint32_t effects;
    if (m->tool != NULL && memcmp(m->tool->meaning, t->meaning, IL_DIGEST_BYTES) == 0) {
        return IL_OK;
    }
    IL_TRY(il_effects_call(m->policy, t, m->call, m->scratch, &effects, err));
    m->several = m->tool != NULL;
    m->once = t->once && (m->once || !m->several);
    m->tool = m->several ? m->tool : t;
    m->effects |= effects;
    return IL_OK;
}

static il_status il_label_match(il_matched *m, il_str name, il_error *err) {
    const il_policy *p = m->policy;
    size_t lo = 0, hi = p->nexact;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int order = il_str_cmp(p->exact[mid].name, name);
        if (order == 0) {
            return il_matched_add(m, &p->tools[p->exact[mid].tool], err);
        }
        if (order < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    for (uint32_t i = 0; i < p->ntools; i++) {
        for (uint32_t g = 0; g < p->tools[i].nglobs; g++) {
            if (!p->tools[i].globs[g].exact && il_glob_matches(&p->tools[i].globs[g], name)) {
                IL_TRY(il_matched_add(m, &p->tools[i], err));
                break;
            }
        }
    }
    return IL_OK;
}

static il_status il_label_name(il_str server, il_str tool, il_arena *scratch, il_str *out, il_error *err) {
    if (server.n == 0) {
        *out = tool;
        return IL_OK;
    }
    char *p = il_arena_bytes(scratch, server.n + 1 + tool.n);
    if (p == NULL) {
        return il_arena_fail(scratch, err);
    }
    memcpy(p, server.p, server.n);
    p[server.n] = '.';
    memcpy(p + server.n + 1, tool.p, tool.n);
    *out = (il_str){p, server.n + 1 + tool.n};
    return IL_OK;
}

static void il_label_sink(il_label *out, bool once) {
    out->sink = (out->effects & (uint32_t)IL_EGRESS) == 0 ? IL_SINK_NONE : once ? IL_SINK_ONCE : IL_SINK_STANDING;
}

/* The methods that list what a server has: they bring its texts. So of a server outside they are known without an entry, and are no way out
 * when they carry nothing. A cursor does: whoever knows that the server gave it (the gateway does) has the list judged without it. */
static bool il_label_lists(il_str tool, const il_json *args) {
    static const il_str methods[] = {
        {"tools/list", 10}, {"prompts/list", 12}, {"resources/list", 14}, {"resources/templates/list", 24}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (il_str_eq(tool, methods[i])) {
            const il_json *cursor = il_json_get(args, IL_STR("cursor"));
            return il_json_count(args) == (cursor != NULL ? 1u : 0u) &&
                   (cursor == NULL || il_json_kind_of(cursor) == IL_JSON_STRING);
        }
    }
    return false;
}

static il_status il_label_judge(const il_policy *p, const il_label_call *call, il_arena *scratch, il_label *out, il_error *err) {
    const il_str server = call->server, tool = call->tool;
    const il_json *args = call->args;
    il_str name = {0};
    if (tool.n == 0) {
        return IL_OK;
    }
    IL_TRY(il_label_name(server, tool, scratch, &name, err));
    /* A dot in the server's name, or a host's own tool with one, would let one tool pass for another server's. */
    if (!il_glob_name_ok(name) || il_str_find(server, IL_STR("."), 0) != SIZE_MAX ||
        (server.n == 0 && il_str_find(tool, IL_STR("."), 0) != SIZE_MAX)) {
        return IL_OK;
    }
    bool outside = server.n > 0 && !il_policy_server_inside(p, server), lists = outside && il_label_lists(tool, args);
    il_matched m = {.policy = p, .call = call, .scratch = scratch};
    IL_TRY(il_label_match(&m, name, err));
    if (m.tool == NULL && !lists) {
        return IL_OK;
    }
    out->outside = outside;
    out->declared = m.effects | (outside ? (uint32_t)IL_UNTRUSTED : 0u) |
                    (outside && !(lists && il_json_count(args) == 0) ? (uint32_t)IL_EGRESS : 0u);
    out->effects = out->declared;
    if ((out->declared & IL_SINKS) != 0) {
        uint32_t taints = (out->declared | call->held) & IL_TAINTS;
        il_vouching v = {.policy = p, .tool = m.tool, .scratch = scratch, .out = out, .needed = m.once ? taints : IL_TAINTS};
        if (outside) {
            il_vouching_fail(&v, "the server is outside the trust domain, so every call to it sends data there");
        } else if (m.several) {
            il_vouching_fail(&v, "several unequal entries match this tool; write one for its exact name");
        } else {
            IL_TRY(il_vouching_judge(&v, args, err));
        }
    }
    il_label_sink(out, m.once);
    out->known = true;
    return IL_OK;
}

il_status il_policy_label(const il_policy *p, const il_label_call *call, il_arena *scratch, il_label *out, il_error *err) {
    *out = (il_label){0};
    if (call->args != NULL && il_json_kind_of(call->args) != IL_JSON_OBJECT) {
        return il_error_set(err, IL_E_INVALID, "the arguments are not an object");
    }
    il_status s = il_label_judge(p, call, scratch, out, err);
    if (s != IL_OK) {
        *out = (il_label){0};
    }
    return s;
}
