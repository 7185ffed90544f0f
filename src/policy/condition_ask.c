/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of conditions. Each answers from the call that the evaluation is about; what cannot be told is the answer that keeps the effect. */
#include "policy/carried.h"
#include "policy/compiled.h"
#include "policy/condition.h"
#include "policy/past.h"
#include "policy/paths.h"
#include "policy/place.h"
#include "policy/shell.h"
#include "policy/sql.h"

#define IL_ASK_COST 50u /* steps: a list of names is walked */

static bool il_ask_class(il_str word, uint32_t *bit) {
    for (uint32_t i = 0; i < 3; i++) {
        if (il_str_eq(word, il_effect_name(1u << i))) {
            *bit = 1u << i;
            return true;
        }
    }
    return false;
}

static il_cel_value il_ask_unread(il_status s) { return il_cel_of_fault(s == IL_E_INVALID ? IL_CEL_BAD_VALUE : IL_CEL_BUDGET); }

/* ---- names that the policy lists ---------------------------------------------------------------------- */

/* A text that is no value of the kind is nobody's. */
/* `server`: relative paths are from where it runs; empty: they are none that are known. */
static il_cel_value il_ask_listed(const il_condition_call *c, il_str kind_word, il_str text, bool is_public, il_str server) {
    il_kind kind;
    il_str canonical = {0};
    if (!il_kind_find(kind_word, &kind)) {
        return il_cel_of_fault(IL_CEL_BAD_VALUE);
    }
    const il_status s = kind == IL_KIND_PATH ? il_place_path(c->policy, server, text, c->scratch, &canonical)
                                             : il_kind_value(kind, text, c->scratch, &canonical, NULL);
    if (s != IL_OK) {
        return s == IL_E_INVALID ? il_cel_of_bool(false) : il_ask_unread(s);
    }
    return il_cel_of_bool(is_public ? il_names_public(&c->policy->names, kind, canonical)
                                    : il_names_ours(&c->policy->names, kind, canonical));
}

static il_cel_value il_ask_ours(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)nargs;
    const il_condition_call *c = ctx;
    return il_ask_listed(c, il_cel_str(args[0]), il_cel_str(args[1]), false, c->call->server);
}

static il_cel_value il_ask_public(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)nargs;
    return il_ask_listed(ctx, IL_STR("repo"), il_cel_str(args[0]), true, (il_str){0});
}

/* ---- the call and its session ------------------------------------------------------------------------- */

/* Each value of a list is; so is none of an empty one. */
static il_cel_value il_ask_all_vouched(const il_label *label, const il_json *v, unsigned depth, il_arena *scratch) {
    il_str text;
    if (il_json_kind_of(v) != IL_JSON_ARRAY) {
        return il_arg_text(v, &text) ? il_past_value_vouched(label, text, scratch) : il_cel_of_bool(false);
    }
    il_cel_value all = il_cel_of_bool(il_json_first(v) != NULL && depth > 0);
    for (const il_json *item = il_json_first(v); item != NULL && depth > 0; item = il_json_next(item)) {
        const il_cel_value one = il_ask_all_vouched(label, item, depth - 1, scratch);
        if (!il_cel_true(one)) { /* false whatever else is an error, in any order */
            all = one;
            if (one.kind == IL_CEL_BOOL) {
                break;
            }
        }
    }
    return all;
}

static il_cel_value il_ask_vouched(void *ctx, const il_cel_value *args, size_t nargs) {
    const il_condition_call *c = ctx;
    (void)nargs;
    if (c->label == NULL) {
        return il_cel_of_fault(IL_CEL_UNSET);
    }
    if (args[0].kind == IL_CEL_INT) {
        char text[24];
        const il_str value = {text, il_format(text, sizeof text, "%lld", (long long)args[0].u.i)};
        return il_past_value_vouched(c->label, value, c->scratch);
    }
    if (args[0].kind == IL_CEL_LIST && args[0].json) {
        return il_ask_all_vouched(c->label, args[0].u.node, 2, c->scratch);
    }
    return args[0].kind == IL_CEL_STRING ? il_past_value_vouched(c->label, il_cel_str(args[0]), c->scratch)
                                         : il_cel_of_bool(false);
}

/* A human endorsed exactly this value: in this session, or with a label that the value came with. */
static il_cel_value il_ask_endorsed(void *ctx, const il_cel_value *args, size_t nargs) {
    const il_condition_call *c = ctx;
    char number[24];
    il_json made = {.kind = IL_JSON_STRING};
    const il_json *value = &made;
    uint8_t digest[IL_DIGEST_BYTES];
    (void)nargs;
    if (args[0].kind == IL_CEL_STRING) {
        made.text = il_cel_str(args[0]);
    } else if (args[0].kind == IL_CEL_INT) {
        made.kind = IL_JSON_NUMBER;
        made.text = (il_str){number, il_format(number, sizeof number, "%lld", (long long)args[0].u.i)};
    } else if ((args[0].kind == IL_CEL_LIST || args[0].kind == IL_CEL_MAP) && args[0].json) {
        value = args[0].u.node;
    } else {
        return il_cel_of_bool(false);
    }
    if (il_value_digest(value, digest, NULL) != IL_OK) {
        return il_cel_of_fault(IL_CEL_BUDGET);
    }
    return il_cel_of_bool(il_carried_endorsed(c->call, il_cel_str(args[1]), digest));
}

/* The call sends, vouched or not, and what is sent may be of that class: the session holds it, or the call reads it itself. */
static il_cel_value il_ask_carries(void *ctx, const il_cel_value *args, size_t nargs) {
    const il_condition_call *c = ctx;
    uint32_t bit;
    (void)nargs;
    if (!il_ask_class(il_cel_str(args[0]), &bit)) {
        return il_cel_of_fault(IL_CEL_BAD_VALUE);
    }
    return il_cel_of_bool((c->declared & (uint32_t)IL_EGRESS) != 0 && ((c->call->held | c->declared) & bit) != 0);
}

/* ---- stores and paths ------------------------------------------------------------------------------------ */

/* A place without labels that can be asked has all; so has one that cannot be told. What a command names from where it runs has what any place has. */
static bool il_ask_place(il_condition_call *c, il_str path, bool command, uint32_t bit) {
    il_place place = {.kind = IL_STR("path")};
    uint32_t taints = 0;
    const il_str server = command ? (il_str){0} : c->call->server; /* a `cd` of an earlier command may still hold */
    const il_status s = il_place_path(c->policy, server, path, c->scratch, &place.value);
    if ((s != IL_OK && !(command && s == IL_E_INVALID && il_place_relative(path))) || c->call->stores == NULL) {
        return true;
    }
    place.value = s == IL_OK ? place.value : (il_str){0};
    const il_status asked = c->call->stores->labels(c->call->stores->ctx, &place, &taints, &c->why);
    if (asked != IL_OK) {
        c->failed = asked;
        return true;
    }
    return (taints & bit) != 0;
}

static il_cel_value il_ask_labelled(void *ctx, const il_cel_value *args, size_t nargs) {
    uint32_t bit;
    (void)nargs;
    if (!il_ask_class(il_cel_str(args[1]), &bit)) {
        return il_cel_of_fault(IL_CEL_BAD_VALUE);
    }
    return il_cel_of_bool(il_ask_place(ctx, il_cel_str(args[0]), false, bit));
}

static il_cel_value il_ask_secret_path(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)ctx;
    (void)nargs;
    return il_cel_of_bool(il_path_secret(il_cel_str(args[0])));
}

static il_cel_value il_ask_runs_later(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)ctx;
    (void)nargs;
    return il_cel_of_bool(il_path_runs_later(il_cel_str(args[0])));
}

/* ---- statements --------------------------------------------------------------------------------------------- */

/* The argument that the entry names, when it is a text. */
static bool il_ask_statement(const il_condition_call *c, const il_arg_path *path, il_str *out) {
    const il_json *v = c->call->args;
    for (uint32_t i = 0; path != NULL && i < path->n; i++) {
        v = path->steps[i].p != NULL ? il_json_get(v, path->steps[i]) : NULL;
    }
    *out = il_json_kind_of(v) == IL_JSON_STRING ? il_json_text(v) : (il_str){0};
    return path != NULL && il_json_kind_of(v) == IL_JSON_STRING;
}

/* NULL: there is none, or no memory for it; an error either way. */
static const il_sql *il_ask_sql(il_condition_call *c) {
    il_str text;
    if (c->sql == NULL && c->tool != NULL && il_ask_statement(c, c->tool->sql, &text)) {
        il_sql *sql = IL_NEW(c->scratch, il_sql);
        c->sql = sql != NULL && il_sql_read(text, c->scratch, sql, NULL) == IL_OK ? sql : NULL;
    }
    return c->sql;
}

static const il_shell *il_ask_shell(il_condition_call *c) {
    il_str text;
    if (c->shell == NULL && c->tool != NULL && il_ask_statement(c, c->tool->shell, &text)) {
        il_shell *shell = IL_NEW(c->scratch, il_shell);
        c->shell = shell != NULL && il_shell_read(text, c->scratch, shell, NULL) == IL_OK ? shell : NULL;
    }
    return c->shell;
}

/* A server that does not say which of its tables are of a class may have any of them in it. */
static bool il_ask_table(const il_server *server, const il_sql_table *table, il_tables_class class) {
    const il_tables *tables = server != NULL ? &server->tables[class] : NULL;
    if (class == IL_TABLES_SECRET && il_sql_catalogue(table)) {
        return true;
    }
    for (uint32_t i = 0; tables != NULL && tables->said && i < tables->n; i++) {
        if (il_sql_meant(table, tables->patterns[i])) {
            return true;
        }
    }
    return tables == NULL || !tables->said;
}

static il_cel_value il_ask_tables(il_condition_call *c, il_str word, bool written) {
    const il_sql *sql = il_ask_sql(c);
    const il_server *server = il_policy_server(c->policy, c->call->server);
    const bool any = il_str_eq(word, IL_STR("any"));
    il_tables_class class = IL_TABLES_SECRET;
    if (sql == NULL || (!any && !il_tables_class_find(word, &class))) {
        return il_cel_of_fault(sql == NULL ? IL_CEL_UNSET : IL_CEL_BAD_VALUE);
    }
    bool found = !sql->understood;
    for (size_t i = 0; i < sql->ntables && !found; i++) {
        const il_sql_table *table = &sql->tables[i];
        found = (written ? table->written : table->read) && (any || il_ask_table(server, table, class));
    }
    return il_cel_of_bool(found);
}

static il_cel_value il_ask_sql_reads(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)nargs;
    return il_ask_tables(ctx, il_cel_str(args[0]), false);
}

static il_cel_value il_ask_sql_writes(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)nargs;
    return il_ask_tables(ctx, il_cel_str(args[0]), true);
}

/* A file that is not ours, or that something untrusted was written to, is untrusted. */
static bool il_ask_untrusted_path(il_condition_call *c, il_str path) {
    const il_cel_value ours = il_ask_listed(c, IL_STR("path"), path, false, (il_str){0});
    return !il_cel_true(ours) || il_ask_place(c, path, true, (uint32_t)IL_UNTRUSTED);
}

/* What a command reads is of a class: by the file's name, or by what was written there. Commands name files from where they run, which nobody here knows. */
static bool il_ask_file(il_condition_call *c, il_str path, uint32_t bit) {
    if (bit == (uint32_t)IL_UNTRUSTED) {
        return il_ask_untrusted_path(c, path);
    }
    return (bit == (uint32_t)IL_SECRET && il_path_secret(path)) || il_ask_place(c, path, true, bit);
}

static il_cel_value il_ask_shell_reads(void *ctx, const il_cel_value *args, size_t nargs) {
    il_condition_call *c = ctx;
    const il_shell *shell = il_ask_shell(c);
    const il_str word = il_cel_str(args[0]);
    const bool any = il_str_eq(word, IL_STR("any"));
    uint32_t bit = 0;
    (void)nargs;
    if (shell == NULL || (!any && !il_ask_class(word, &bit))) {
        return il_cel_of_fault(shell == NULL ? IL_CEL_UNSET : IL_CEL_BAD_VALUE);
    }
    bool found = !shell->understood;
    for (size_t i = 0; i < shell->nreads && !found; i++) {
        found = any || il_ask_file(c, shell->reads[i], bit);
    }
    return il_cel_of_bool(found);
}

static il_cel_value il_ask_shell_hosts(void *ctx, const il_cel_value *args, size_t nargs) {
    const il_shell *shell = il_ask_shell(ctx);
    (void)args;
    (void)nargs;
    return shell == NULL ? il_cel_of_fault(IL_CEL_UNSET) : il_cel_of_bool(!shell->understood || shell->hosts);
}

static il_cel_value il_ask_shell_runs(void *ctx, const il_cel_value *args, size_t nargs) {
    const il_shell *shell = il_ask_shell(ctx);
    (void)args;
    (void)nargs;
    return shell == NULL ? il_cel_of_fault(IL_CEL_UNSET) : il_cel_of_bool(!shell->understood || shell->runs);
}

static il_cel_value il_ask_shell_unclear(void *ctx, const il_cel_value *args, size_t nargs) {
    const il_shell *shell = il_ask_shell(ctx);
    (void)args;
    (void)nargs;
    return shell == NULL ? il_cel_of_fault(IL_CEL_UNSET) : il_cel_of_bool(!shell->understood);
}

static const il_cel_type *const il_ask_text[] = {&il_cel_type_string};
static const il_cel_type *const il_ask_texts[] = {&il_cel_type_string, &il_cel_type_string};
static const il_cel_type *const il_ask_any[] = {&il_cel_type_dyn};
static const il_cel_type *const il_ask_any_text[] = {&il_cel_type_dyn, &il_cel_type_string};

#define IL_ASK(word, takes, n, does)                                                                                           \
    {                                                                                                                          \
        .name = {word, sizeof(word) - 1}, .params = (takes), .nparams = (n), .result = &il_cel_type_bool, .cost = IL_ASK_COST, \
        .call = (does), .per_call = true                                                                                       \
    }
const il_cel_function il_condition_functions[] = {
    IL_ASK("ours", il_ask_texts, 2, il_ask_ours),
    IL_ASK("public", il_ask_text, 1, il_ask_public),
    IL_ASK("vouched", il_ask_any, 1, il_ask_vouched),
    IL_ASK("endorsed", il_ask_any_text, 2, il_ask_endorsed),
    IL_ASK("carries", il_ask_text, 1, il_ask_carries),
    IL_ASK("labelled", il_ask_texts, 2, il_ask_labelled),
    IL_ASK("secret_path", il_ask_text, 1, il_ask_secret_path),
    IL_ASK("runs_later", il_ask_text, 1, il_ask_runs_later),
    IL_ASK("sql.reads", il_ask_text, 1, il_ask_sql_reads),
    IL_ASK("sql.writes", il_ask_text, 1, il_ask_sql_writes),
    IL_ASK("shell.reads", il_ask_text, 1, il_ask_shell_reads),
    IL_ASK("shell.hosts", NULL, 0, il_ask_shell_hosts),
    IL_ASK("shell.runs", NULL, 0, il_ask_shell_runs),
    IL_ASK("shell.unclear", NULL, 0, il_ask_shell_unclear),
};
const size_t il_condition_nfunctions = sizeof il_condition_functions / sizeof il_condition_functions[0];

const il_str *il_condition_words(il_str function, uint32_t *argument) {
    static const il_str kinds[] = {
        {"email", sizeof("email") - 1},     {"host", sizeof("host") - 1},       {"url", sizeof("url") - 1},
        {"repo", sizeof("repo") - 1},       {"channel", sizeof("channel") - 1}, {"path", sizeof("path") - 1},
        {"account", sizeof("account") - 1}, {"name", sizeof("name") - 1},       {NULL, 0}};
    static const il_str classes[] = {{"untrusted", sizeof("untrusted") - 1},
                                     {"sensitive", sizeof("sensitive") - 1},
                                     {"secret", sizeof("secret") - 1},
                                     {NULL, 0}};
    static const il_str files[] = {{"any", 3}, {"secret", 6}, {"sensitive", 9}, {"untrusted", 9}, {NULL, 0}};
    static const il_str tables[] = {{"any", sizeof("any") - 1},
                                    {"secret", sizeof("secret") - 1},
                                    {"untrusted", sizeof("untrusted") - 1},
                                    {"public", sizeof("public") - 1},
                                    {NULL, 0}};
    *argument = 0;
    if (il_str_eq(function, IL_STR("ours"))) {
        return kinds;
    }
    if (il_str_eq(function, IL_STR("carries"))) {
        return classes;
    }
    if (il_str_eq(function, IL_STR("labelled"))) {
        *argument = 1;
        return classes;
    }
    if (il_str_eq(function, IL_STR("shell.reads"))) {
        return files;
    }
    return il_str_starts(function, IL_STR("sql.")) ? tables : NULL;
}
