/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the arguments of a sink call along what its entry declares. */
#include "policy/vouch.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "policy/kind_part.h"
#include "policy/text.h"

#define IL_VOUCH_DEPTH 64 /* of arguments, below which nothing is judged */

typedef struct il_vouching {
    il_vouch_scope scope;
    const il_tool *tool;
    il_arena *scratch;
    il_label *out;
    il_vouched *values;
    il_str *shown;
    uint32_t destinations, objects;
    bool failed; /* something is not vouched; `why` says what */
    bool far;    /* and no human's word would help */
    il_status broken;
    il_str at; /* the argument being looked at; empty: none */
} il_vouching;

static void il_vouching_why(il_vouching *v, const char *why) {
    if (v->failed) {
        return;
    }
    v->failed = true;
    if (v->at.n > 0) {
        (void)il_format(v->out->why, sizeof v->out->why, "argument `%.*s`: %s", IL_STR_ARG(v->at), why);
    } else {
        (void)il_format(v->out->why, sizeof v->out->why, "%s", why);
    }
}

static void il_vouching_fail(il_vouching *v, const char *why) {
    il_vouching_why(v, why);
    v->far = true;
}

/* What is asked of one value must not hang on what stands before it, so after a failure as many are looked at as can be said. */
static bool il_vouching_goes(const il_vouching *v) {
    return v->broken == IL_OK && (!v->far || v->out->nvalues < IL_LABEL_VALUES_MAX);
}

static void il_vouching_add(il_vouching *v, il_kind kind, il_str value, il_vouch how, uint32_t source) {
    v->out->more = v->out->nvalues == IL_LABEL_VALUES_MAX;
    if (!v->out->more) {
        const il_str word = how == IL_VOUCH_USER ? IL_STR("user") : il_kinds_word(&v->scope.policy->kinds, kind);
        v->values[v->out->nvalues++] = (il_vouched){v->at, word, value, how, source};
    }
}

static const char *il_vouching_article(il_kind kind) { return kind == IL_KIND_EMAIL || kind == IL_KIND_ACCOUNT ? "an" : "a"; }

/* What the entry would have to say for such a value to count; nothing where the value's own readers are the matter. */
static void il_vouching_missing(const il_vouching *v, il_vouch how, char *out, size_t cap) {
    out[0] = '\0';
    if (how == IL_VOUCH_REACH && !v->scope.reach) {
        (void)il_format(out, cap, " (entry `%.*s` does not say %s)", IL_STR_ARG(il_str_part(v->tool->globs[0].text, 0, 64)),
                        v->tool->once        ? "`audience: addressed`"
                        : v->tool->addressed ? "`sink: once`"
                                             : "`sink: once` and `audience: addressed`");
    }
}

/* One value of a kind; an empty token stands for something that could not be read. *read: it could. */
static void il_vouching_judge(il_vouching *v, il_kind kind, il_str token, bool *read) {
    const il_str word = il_kinds_word(&v->scope.policy->kinds, kind);
    il_str canonical = {0};
    char why[256], missing[128];
    *read = token.n > 0 && il_kind_value(kind, token, v->scratch, &canonical, NULL) == IL_OK;
    if (!*read) {
        (void)il_format(why, sizeof why, "a value cannot be read as %s %.*s", il_vouching_article(kind), IL_STR_ARG(word));
        il_vouching_add(v, kind, token, IL_VOUCH_UNREAD, 0);
        il_vouching_fail(v, why);
        return;
    }
    if (v->out->ndestinations < IL_LABEL_VALUES_MAX) {
        v->shown[v->out->ndestinations++] = canonical;
    }
    il_vouch how = IL_VOUCH_NOTHING;
    uint32_t source = 0;
    v->broken = il_vouch_value(&v->scope, kind, canonical, &how, &source, NULL);
    if (v->broken != IL_OK) {
        v->far = v->failed = true;
        return;
    }
    il_vouching_add(v, kind, canonical, how, source);
    if (il_vouch_vouches(how)) {
        return;
    }
    if (how == IL_VOUCH_NOTHING) {
        (void)il_format(why, sizeof why, "%s %.*s is not listed for what this session holds%s", il_vouching_article(kind),
                        IL_STR_ARG(word), v->scope.reach ? ", and no human typed it" : "");
        il_vouching_fail(v, why);
        return;
    }
    il_vouching_missing(v, how, missing, sizeof missing);
    (void)il_format(why, sizeof why, "%s %.*s is not vouched: %s%s", il_vouching_article(kind), IL_STR_ARG(word),
                    il_vouch_text(how), missing);
    il_vouching_why(v, why);
}

static bool il_vouching_value(void *ctx, il_kind kind, il_str token) {
    bool read;
    il_vouching_judge(ctx, kind, token, &read);
    return il_vouching_goes(ctx);
}

/* A declared destination or object, and what its URL hides. */
static il_status il_vouching_named(il_vouching *v, il_role role, il_kind kind, il_str text, il_error *err) {
    bool read;
    if (role == IL_ROLE_OBJECT) {
        v->objects++;
    } else {
        v->destinations++;
    }
    il_vouching_judge(v, kind, text, &read);
    return read && kind == IL_KIND_URL && il_vouching_goes(v) ? il_text_nested(text, v->scratch, il_vouching_value, v, err)
                                                              : IL_OK;
}

/* A list of numbers that a receiver may take for the bytes or characters of a text: that text. Lists with anything else in them have none. */
static il_status il_vouching_numbers(il_vouching *v, const il_json *list, il_error *err) {
    il_buf b;
    il_str text = {0};
    il_buf_init(&b, v->scratch, SIZE_MAX / 2);
    for (const il_json *item = il_json_first(list); item != NULL; item = il_json_next(item)) {
        int64_t c = 0;
        char point[4];
        if (!il_json_int(item, &c) || c < 9 || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
            return IL_OK;
        }
        il_buf_put(&b, (il_str){point, il_utf8_put((uint32_t)c, point)});
    }
    IL_TRY(il_buf_done(&b, &text, err));
    return il_text_destinations(text, v->scratch, il_vouching_value, v, err);
}

/* A list of single characters, which a receiver may join. */
static il_status il_vouching_letters(il_vouching *v, const il_json *list, il_error *err) {
    il_buf b;
    il_str text = {0};
    il_buf_init(&b, v->scratch, SIZE_MAX / 2);
    for (const il_json *item = il_json_first(list); item != NULL; item = il_json_next(item)) {
        if (il_json_kind_of(item) != IL_JSON_STRING || il_utf8_count(il_json_text(item)) > 1) {
            return IL_OK;
        }
        il_buf_put(&b, il_json_text(item));
    }
    IL_TRY(il_buf_done(&b, &text, err));
    return il_text_destinations(text, v->scratch, il_vouching_value, v, err);
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
    if (il_json_kind_of(node) == IL_JSON_ARRAY && il_json_kind_of(il_json_first(node)) == IL_JSON_NUMBER) {
        IL_TRY(il_vouching_numbers(v, node, err));
    }
    if (il_json_kind_of(node) == IL_JSON_ARRAY && il_json_kind_of(il_json_first(node)) == IL_JSON_STRING) {
        IL_TRY(il_vouching_letters(v, node, err));
    }
    for (const il_json *child = il_json_first(node); child != NULL && il_vouching_goes(v); child = il_json_next(child)) {
        if (il_json_key(child).n > 0) {
            IL_TRY(il_text_destinations(il_json_key(child), v->scratch, il_vouching_value, v, err));
        }
        IL_TRY(il_vouching_reads(v, child, depth - 1, err));
    }
    return IL_OK;
}

/* A `to` or `object` argument: one value or a list of values; null and the empty text are absent, but not as an item of a list. */
static il_status il_vouching_target(il_vouching *v, const il_argument *a, const il_json *node, il_error *err) {
    bool list = il_json_kind_of(node) == IL_JSON_ARRAY;
    for (const il_json *item = list ? il_json_first(node) : node; item != NULL && il_vouching_goes(v);
         item = list ? il_json_next(item) : NULL) {
        il_str text = {0};
        if (!list && il_arg_absent(item)) {
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

/* Whether a thing of this name may be somewhere else: servers put names of files, branches and threads into the paths of URLs and into lines of headers, where dot segments lead out of the
 * repository, `?` and `#` end its name, and a line break begins another header. */
static bool il_vouching_leads_out(il_str text) {
    size_t dots = 0, from = 0;
    for (size_t i = 0; i <= text.n; i++) {
        const char c = i < text.n ? text.p[i] : '/';
        if ((unsigned char)c < 0x20 || c == 0x7f || c == '\\' || c == '?' || c == '#' || c == '%') {
            return true;
        }
        if (c == '/') {
            if (dots > 0 && dots <= 2 && dots == i - from) {
                return true;
            }
            from = i + 1;
            dots = 0;
        }
        dots += c == '.' ? 1u : 0u;
    }
    return !il_text_visible(text);
}

/* A text that a server puts into a line of its own, a header as a rule: behind a break stands another header, which is not for the text to say. */
static il_status il_vouching_line(il_vouching *v, const il_json *node, unsigned depth, il_error *err) {
    const il_str text = il_json_text(node);
    for (size_t i = 0; i < text.n; i++) {
        const il_str rest = il_str_part(text, i, text.n);
        if (((unsigned char)text.p[i] < 0x20 && text.p[i] != '\t') || il_str_starts(rest, IL_STR("\xc2\x85")) ||
            il_str_starts(rest, IL_STR("\xe2\x80\xa8")) || il_str_starts(rest, IL_STR("\xe2\x80\xa9"))) {
            il_vouching_fail(v, "is of more than one line");
            return IL_OK;
        }
    }
    for (const il_json *child = depth > 0 ? il_json_first(node) : NULL; child != NULL && il_vouching_goes(v);
         child = il_json_next(child)) {
        IL_TRY(il_vouching_line(v, child, depth - 1, err));
    }
    return depth == IL_VOUCH_DEPTH ? il_vouching_reads(v, node, depth, err) : IL_OK; /* which says it when there is more below */
}

static void il_vouching_within(il_vouching *v, const il_json *node) {
    const bool list = il_json_kind_of(node) == IL_JSON_ARRAY;
    for (const il_json *item = list ? il_json_first(node) : node; item != NULL; item = list ? il_json_next(item) : NULL) {
        const il_json_kind kind = il_json_kind_of(item);
        if (kind == IL_JSON_OBJECT || kind == IL_JSON_ARRAY) {
            il_vouching_fail(v, "is not a text, a number or a list of them");
        } else if (kind == IL_JSON_STRING && il_vouching_leads_out(il_json_text(item))) {
            il_vouching_fail(
                v, "may name something outside of the destination (`..`, `?`, `#`, `%`, a backslash or a control character)");
        }
    }
}

/* What the entry says of the node whose path is `path`: each declaration with exactly this path is applied; *above tells that a declared
 * path goes on below it. Declarations never overlap otherwise (checked at load). */
static il_status il_vouching_declared(il_vouching *v, const il_arg_path *path, const il_json *node, bool *found, bool *above,
                                      il_error *err) {
    *found = *above = false;
    for (uint32_t i = 0; i < v->tool->narguments && il_vouching_goes(v); i++) {
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
            IL_TRY(il_vouching_reads(v, node, IL_VOUCH_DEPTH, err));
            break;
        case IL_ROLE_LINE:
            IL_TRY(il_vouching_line(v, node, IL_VOUCH_DEPTH, err));
            break;
        case IL_ROLE_WITHIN:
            il_vouching_within(v, node);
            break;
        case IL_ROLE_PLAIN:
        case IL_ROLE_STORE:
        case IL_ROLE_PART:
            break;
        }
    }
    return IL_OK;
}

/* `item` has the path `path`, which ends in `[*]`; items further down are looked at one by one when the walk is there. Where items name destinations (or objects), one that names none would go wherever the
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
                named = named || il_arg_names(&a->path, path->n, item);
            }
        }
        if (declared != NULL && !named) {
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
    for (const il_json *child = il_json_first(node); child != NULL && il_vouching_goes(v); child = il_json_next(child)) {
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
        } else if (!found) {
            v->at = (il_str){0};
            il_vouching_fail(v, "an argument is not declared by the entry (to, object, reads, plain)");
        }
        path->n--;
    }
    return IL_OK;
}

/* `$page`: a call of this entry goes there whatever its arguments are, so a name that stands for nothing is a destination that nobody knows. */
static il_status il_vouching_remembered(il_vouching *v, const il_built *b, il_error *err) {
    const il_str value = v->scope.memory != NULL ? il_memory_remembered(v->scope.memory, b->remembered) : (il_str){0};
    if (value.n == 0) {
        il_vouching_add(v, b->kind, value, IL_VOUCH_UNREAD, 0);
        il_vouching_fail(v, "no result said where this is now");
        return IL_OK;
    }
    return il_vouching_named(v, b->role, b->kind, value, err);
}

static il_status il_vouching_built(il_vouching *v, const il_json *args, il_error *err) {
    for (uint32_t i = 0; i < v->tool->nbuilt && il_vouching_goes(v); i++) {
        const il_built *b = &v->tool->built[i];
        il_template_fill how = IL_TEMPLATE_ABSENT;
        il_str value = {0};
        if (b->role == IL_ROLE_STORE) {
            continue;
        }
        v->at = b->form.text;
        if (b->remembered.n > 0) {
            IL_TRY(il_vouching_remembered(v, b, err));
            continue;
        }
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

/* What the call may lose, when nothing failed. */
static void il_vouching_drop(il_vouching *v) {
    const uint32_t sinks = v->out->declared & IL_SINKS;
    v->at = (il_str){0};
    if ((sinks & (uint32_t)IL_EGRESS) != 0 && v->destinations == 0) {
        il_vouching_fail(v, "the call names no destination that the entry declares");
    }
    if (v->failed) {
        return;
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
}

il_status il_vouch_call(const il_policy *p, const il_tool *tool, const il_label_call *call, il_arena *scratch, il_label *out,
                        il_error *err) {
    const uint32_t taints = (out->declared | call->held) & IL_TAINTS;
    const bool egress = (out->declared & (uint32_t)IL_EGRESS) != 0;
    il_vouching v = {.tool = tool, .scratch = scratch, .out = out};
    /* who reads at a public sink, or later at a standing one, is not known; a commit has no readers */
    v.scope = (il_vouch_scope){.policy = p,
                               .memory = call->memory,
                               .complete = call->memory != NULL && il_memory_complete(call->memory) && !call->elsewhere,
                               .needed = tool->once ? taints : IL_TAINTS,
                               .reach = !egress || (tool->once && tool->addressed)};
    il_arg_path path = {.steps = IL_NEW_ARRAY(scratch, il_str, IL_PATH_DEPTH_MAX + 1)};
    v.shown = IL_NEW_ARRAY(scratch, il_str, IL_LABEL_VALUES_MAX);
    v.values = IL_NEW_ARRAY(scratch, il_vouched, IL_LABEL_VALUES_MAX);
    if (path.steps == NULL || v.shown == NULL || v.values == NULL) {
        return il_arena_fail(scratch, err);
    }
    out->destinations = v.shown;
    out->values = v.values;
    if (tool->to_user) {
        v.at = IL_STR("to");
        v.destinations++;
        il_vouching_add(&v, IL_KIND_NAME, (il_str){0}, IL_VOUCH_USER, 0);
    }
    if (call->args != NULL) {
        IL_TRY(il_vouching_walk(&v, &path, call->args, err));
    }
    IL_TRY(il_vouching_built(&v, call->args, err));
    if (v.broken != IL_OK) {
        return il_error_set(err, v.broken, "the session's memory could not be asked");
    }
    il_vouching_drop(&v);
    out->near = v.failed && !v.far;
    return IL_OK;
}

void il_vouch_refuse(il_label *out, const char *why) { (void)il_format(out->why, sizeof out->why, "%s", why); }
