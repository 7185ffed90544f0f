/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of conditions. Each answers from the call that the evaluation is about; what cannot be told is the answer that keeps the effect. */
#include "policy/compiled.h"
#include "policy/condition.h"
#include "policy/past.h"

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
static il_cel_value il_ask_listed(const il_condition_call *c, il_str kind_word, il_str text, bool is_public) {
    il_kind kind;
    il_str canonical = {0};
    if (!il_kind_find(kind_word, &kind)) {
        return il_cel_of_fault(IL_CEL_BAD_VALUE);
    }
    const il_status s = il_kind_value(kind, text, c->scratch, &canonical, NULL);
    if (s != IL_OK) {
        return s == IL_E_INVALID ? il_cel_of_bool(false) : il_ask_unread(s);
    }
    return il_cel_of_bool(is_public ? il_names_public(&c->policy->names, kind, canonical)
                                    : il_names_ours(&c->policy->names, kind, canonical));
}

static il_cel_value il_ask_ours(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)nargs;
    return il_ask_listed(ctx, il_cel_str(args[0]), il_cel_str(args[1]), false);
}

static il_cel_value il_ask_public(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)nargs;
    return il_ask_listed(ctx, IL_STR("repo"), il_cel_str(args[0]), true);
}

/* ---- the call and its session ------------------------------------------------------------------------- */

/* Each value of a list is; so is none of an empty one. */
static bool il_ask_all_vouched(const il_label *label, const il_json *v, unsigned depth) {
    il_str text;
    if (il_json_kind_of(v) != IL_JSON_ARRAY) {
        return il_arg_text(v, &text) && il_past_value_vouched(label, text);
    }
    bool all = il_json_first(v) != NULL && depth > 0;
    for (const il_json *item = il_json_first(v); item != NULL && all; item = il_json_next(item)) {
        all = il_ask_all_vouched(label, item, depth - 1);
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
        return il_cel_of_bool(il_past_value_vouched(c->label, (il_str){text, il_format(text, sizeof text, "%lld", (long long)args[0].u.i)}));
    }
    if (args[0].kind == IL_CEL_LIST && args[0].json) {
        return il_cel_of_bool(il_ask_all_vouched(c->label, args[0].u.node, 2));
    }
    return il_cel_of_bool(args[0].kind == IL_CEL_STRING && il_past_value_vouched(c->label, il_cel_str(args[0])));
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

/* ---- stores, paths and statements ------------------------------------------------------------------------ */

static il_cel_value il_ask_labelled(void *ctx, const il_cel_value *args, size_t nargs) {
    uint32_t bit;
    (void)ctx;
    (void)nargs;
    return il_ask_class(il_cel_str(args[1]), &bit) ? il_cel_of_bool(true) : il_cel_of_fault(IL_CEL_BAD_VALUE);
}

/* Not read yet by this build: as what is not understood. */
static il_cel_value il_ask_worst(void *ctx, const il_cel_value *args, size_t nargs) {
    (void)ctx;
    (void)args;
    (void)nargs;
    return il_cel_of_bool(true);
}

static const il_cel_type *const il_ask_text[] = {&il_cel_type_string};
static const il_cel_type *const il_ask_texts[] = {&il_cel_type_string, &il_cel_type_string};
static const il_cel_type *const il_ask_any[] = {&il_cel_type_dyn};

#define IL_ASK(word, takes, n, does) \
    {.name = {word, sizeof(word) - 1}, .params = (takes), .nparams = (n), .result = &il_cel_type_bool, .cost = IL_ASK_COST, .call = (does), .per_call = true}
const il_cel_function il_condition_functions[] = {
    IL_ASK("ours", il_ask_texts, 2, il_ask_ours),           IL_ASK("public", il_ask_text, 1, il_ask_public),
    IL_ASK("vouched", il_ask_any, 1, il_ask_vouched),       IL_ASK("carries", il_ask_text, 1, il_ask_carries),
    IL_ASK("labelled", il_ask_texts, 2, il_ask_labelled),   IL_ASK("secret_path", il_ask_text, 1, il_ask_worst),
    IL_ASK("runs_later", il_ask_text, 1, il_ask_worst),     IL_ASK("sql.reads", il_ask_text, 1, il_ask_worst),
    IL_ASK("sql.writes", il_ask_text, 1, il_ask_worst),     IL_ASK("shell.reads", il_ask_text, 1, il_ask_worst),
    IL_ASK("shell.hosts", NULL, 0, il_ask_worst),           IL_ASK("shell.runs", NULL, 0, il_ask_worst),
};
const size_t il_condition_nfunctions = sizeof il_condition_functions / sizeof il_condition_functions[0];

const il_str *il_condition_words(il_str function, uint32_t *argument) {
    static const il_str kinds[] = {{"email", sizeof("email") - 1},   {"host", sizeof("host") - 1}, {"url", sizeof("url") - 1},     {"repo", sizeof("repo") - 1}, {"channel", sizeof("channel") - 1},
                                   {"path", sizeof("path") - 1},    {"account", sizeof("account") - 1}, {"name", sizeof("name") - 1}, {NULL, 0}};
    static const il_str classes[] = {{"untrusted", sizeof("untrusted") - 1}, {"sensitive", sizeof("sensitive") - 1}, {"secret", sizeof("secret") - 1}, {NULL, 0}};
    static const il_str tables[] = {{"any", sizeof("any") - 1}, {"secret", sizeof("secret") - 1}, {"untrusted", sizeof("untrusted") - 1}, {"public", sizeof("public") - 1}, {NULL, 0}};
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
    return il_str_starts(function, IL_STR("sql.")) || il_str_eq(function, IL_STR("shell.reads")) ? tables : NULL;
}
