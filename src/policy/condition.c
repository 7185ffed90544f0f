/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling conditions: the types of what they may name, and the refusal of what has no answer at their place. */
#include "policy/condition.h"

#include "cel/ast.h"
#include "cel/suggest.h"
#include "policy/argument.h"
#include "policy/interbolt.h"
#include "provenance/origin.h"

/* A decision waits for its conditions: far below what the language would allow by itself. */
#define IL_CONDITION_STEPS 1000000u
#define IL_CONDITION_COST UINT64_C(1000000000000) /* of Interbolt's conditions, for the longest lists that there could be */

static const char *const il_condition_own_words[] = {"args", "tool", "server", "agent", "run", "prov", "state", "item"};
_Static_assert(sizeof il_condition_own_words / sizeof il_condition_own_words[0] == IL_CONDITION_NAMES, "a word for each name");

/* ---- types ------------------------------------------------------------------------------------------ */

static const il_str il_condition_trusts[] = {{"trusted", 7}, {"untrusted", 9}};
static const il_str il_condition_legs[] = {{"untrusted", 9}, {"sensitive", 9}, {"egress", 6}};
static const il_cel_type il_condition_strings = {.kind = IL_CEL_LIST, .element = &il_cel_type_string};
static const il_cel_type il_condition_trust = {.kind = IL_CEL_STRING, .domain = il_condition_trusts, .ndomain = 2};
static const il_cel_type il_condition_leg = {.kind = IL_CEL_STRING, .domain = il_condition_legs, .ndomain = 3};
static const il_cel_type il_condition_trifecta = {.kind = IL_CEL_LIST, .element = &il_condition_leg, .most = 3};

static const il_cel_field il_condition_run_fields[] = {
    {{"tainted", sizeof("tainted") - 1}, &il_cel_type_bool},
    {{"sources", sizeof("sources") - 1}, &il_condition_strings},
    {{"untrusted_sources", sizeof("untrusted_sources") - 1}, &il_condition_strings},
    {{"ingested_by", sizeof("ingested_by") - 1}, &il_condition_strings},
    {{"trifecta", sizeof("trifecta") - 1}, &il_condition_trifecta}};
static const il_cel_type il_condition_run = {
    .kind = IL_CEL_RECORD, .fields = il_condition_run_fields, .nfields = 5, .name = {"run", sizeof("run") - 1}};

/* What is known of an argument before and after vouching. */
static const il_cel_field il_condition_prov_fields[] = {{{"sources", sizeof("sources") - 1}, &il_condition_strings},
                                                        {{"trust", sizeof("trust") - 1}, &il_condition_trust},
                                                        {{"vouched", sizeof("vouched") - 1}, &il_cel_type_bool},
                                                        {{"why", sizeof("why") - 1}, &il_cel_type_string}};
static const il_cel_type il_condition_prov_of[] = {
    {.kind = IL_CEL_RECORD,
     .fields = il_condition_prov_fields,
     .nfields = 2,
     .name = {"prov of an effect", sizeof("prov of an effect") - 1}},
    {.kind = IL_CEL_RECORD, .fields = il_condition_prov_fields, .nfields = 4, .name = {"prov", sizeof("prov") - 1}}};
static const il_cel_type il_condition_prov[] = {
    {.kind = IL_CEL_MAP, .key = &il_cel_type_string, .element = &il_condition_prov_of[IL_CONDITION_EFFECT]},
    {.kind = IL_CEL_MAP, .key = &il_cel_type_string, .element = &il_condition_prov_of[IL_CONDITION_RULE]}};

static const il_str il_condition_nobody[] = {{"", 0}};

static il_status il_condition_agent(const il_condition_names *names, il_arena *arena, const il_cel_type **out, il_error *err) {
    il_cel_type *t = IL_NEW_ARRAY(arena, il_cel_type, 3);
    il_cel_field *fields = IL_NEW_ARRAY(arena, il_cel_field, 2);
    if (t == NULL || fields == NULL) {
        return il_arena_fail(arena, err);
    }
    t[0] = (il_cel_type){.kind = IL_CEL_STRING, .domain = names->groups, .ndomain = names->ngroups};
    if (names->ngroups == 0) { /* a domain of no words would be none: nothing equals a group's name where there are no groups */
        t[0].domain = il_condition_nobody;
        t[0].ndomain = 1;
    }
    t[1] = (il_cel_type){.kind = IL_CEL_LIST, .element = &t[0]};
    fields[0] = (il_cel_field){IL_STR("id"), &il_cel_type_string};
    fields[1] = (il_cel_field){IL_STR("groups"), &t[1]};
    t[2] = (il_cel_type){.kind = IL_CEL_RECORD, .fields = fields, .nfields = 2, .name = IL_STR("agent")};
    *out = &t[2];
    return IL_OK;
}

static uint32_t il_condition_domain(const il_machine *m, uint32_t var) {
    uint32_t n = 0;
    while (il_machine_value_name(m, var, n).n > 0) {
        n++;
    }
    return n;
}

/* The machine's variables, by the words of their values: false and true, numbers, or words. */
static il_status il_condition_state(const il_machine *m, il_arena *arena, const il_cel_type **out, il_error *err) {
    const uint32_t n = m != NULL ? il_machine_vars(m) : 0;
    il_cel_type *record = IL_NEW(arena, il_cel_type), *types = IL_NEW_ARRAY(arena, il_cel_type, n + 1);
    il_cel_field *fields = IL_NEW_ARRAY(arena, il_cel_field, n + 1);
    if (record == NULL || types == NULL || fields == NULL) {
        return il_arena_fail(arena, err);
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t words = il_condition_domain(m, i);
        const il_str first = il_machine_value_name(m, i, 0);
        int64_t number;
        il_str *domain = IL_NEW_ARRAY(arena, il_str, words + 1);
        if (domain == NULL) {
            return il_arena_fail(arena, err);
        }
        for (uint32_t v = 0; v < words; v++) {
            domain[v] = il_machine_value_name(m, i, v);
        }
        types[i] = (il_cel_type){.kind = IL_CEL_STRING, .domain = domain, .ndomain = words};
        fields[i] = (il_cel_field){il_machine_var_name(m, i), il_str_eq(first, IL_STR("false")) ? &il_cel_type_bool
                                                              : il_str_int(first, &number)      ? &il_cel_type_int
                                                                                                : &types[i]};
    }
    *record = (il_cel_type){.kind = IL_CEL_RECORD, .fields = fields, .nfields = n, .name = IL_STR("state")};
    *out = record;
    return IL_OK;
}

/* A closed map of what paths lead to, `user.login` and `user.id` sharing `user`. `at`: how many steps of each path are behind. */
static il_status il_condition_item_type(const il_arg_path *paths, uint32_t npaths, const bool *in, uint32_t at, il_arena *arena,
                                        const il_cel_type **out, il_error *err) {
    il_cel_type *t = IL_NEW(arena, il_cel_type);
    il_cel_field *fields = IL_NEW_ARRAY(arena, il_cel_field, npaths + 1);
    bool *under = IL_NEW_ARRAY(arena, bool, npaths + 1), *done = IL_NEW_ARRAY(arena, bool, npaths + 1);
    size_t n = 0;
    if (t == NULL || fields == NULL || under == NULL || done == NULL) {
        return il_arena_fail(arena, err);
    }
    for (uint32_t i = 0; i < npaths; i++) {
        if (!in[i] || done[i]) {
            continue;
        }
        bool below = false;
        for (uint32_t k = 0; k < npaths; k++) {
            under[k] = in[k] && il_str_eq(paths[k].steps[at], paths[i].steps[at]);
            done[k] = done[k] || under[k];
            below = below || (under[k] && paths[k].n > at + 1);
            under[k] = under[k] && paths[k].n > at + 1;
        }
        fields[n] = (il_cel_field){.name = paths[i].steps[at]};
        if (below) {
            IL_TRY(il_condition_item_type(paths, npaths, under, at + 1, arena, &fields[n].type, err));
        }
        n++;
    }
    *t = (il_cel_type){.kind = IL_CEL_MAP, .key = &il_cel_type_string, .fields = fields, .nfields = n, .name = IL_STR("item")};
    *out = t;
    return IL_OK;
}

static il_status il_condition_items(const il_condition_names *names, const il_json *at, il_arena *arena, const il_cel_type **out,
                                    il_error *err) {
    il_arg_path *paths = IL_NEW_ARRAY(arena, il_arg_path, names->nitem + 1);
    bool *all = IL_NEW_ARRAY(arena, bool, names->nitem + 1);
    il_error why = {0};
    if (paths == NULL || all == NULL) {
        return il_arena_fail(arena, err);
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < names->nitem; i++) {
        const il_status s = il_arg_path_new(names->item[i], arena, &paths[n], &why);
        if (s != IL_OK) {
            return IL_JSON_FAIL(at, err, s, "%s", why.msg);
        }
        bool plain = true; /* what stands inside a list has no name of its own in an item */
        for (uint32_t k = 0; k < paths[n].n; k++) {
            plain = plain && paths[n].steps[k].p != NULL;
        }
        all[n] = true;
        n += plain ? 1u : 0u;
    }
    return il_condition_item_type(paths, n, all, 0, arena, out, err);
}

/* ---- scopes ------------------------------------------------------------------------------------------- */

/* A constant in the language's own words: what canonical JSON writes of a text, a number, a truth or a list of them reads the same there. */
static il_status il_condition_constant(const il_json *v, il_arena *arena, il_cel_let *out, il_error *err) {
    il_buf b;
    const il_json_kind kind = il_json_kind_of(v);
    if (kind == IL_JSON_NULL || kind == IL_JSON_OBJECT) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "`%.*s` is a text, a number, true or false, or a list of texts",
                            IL_STR_ARG(il_json_key(v)));
    }
    for (const il_json *item = il_json_first(v); item != NULL; item = il_json_next(item)) {
        if (il_json_kind_of(item) != IL_JSON_STRING) {
            return IL_JSON_FAIL(item, err, IL_E_INVALID, "`%.*s` is a list of texts", IL_STR_ARG(il_json_key(v)));
        }
    }
    *out = (il_cel_let){.line = v->line, .col = v->col};
    IL_TRY(il_arena_copy(arena, il_json_key(v), &out->name, err));
    il_buf_init(&b, arena, (size_t)1 << 16);
    il_json_write(&b, v, IL_JSON_AS_READ);
    return il_buf_done(&b, &out->source, err);
}

static il_status il_condition_given(const il_condition_names *names, il_arena *arena, il_cel_env *env, il_error *err) {
    const size_t n = il_json_count(names->given);
    il_cel_let *lets = IL_NEW_ARRAY(arena, il_cel_let, n + 1);
    if (names->given != NULL && (il_json_kind_of(names->given) != IL_JSON_OBJECT || n == 0 || n > IL_CONDITION_OWN_MAX)) {
        return IL_JSON_FAIL(names->given, err, IL_E_INVALID, "`given` maps up to %u names to constants", IL_CONDITION_OWN_MAX);
    }
    if (lets == NULL) {
        return il_arena_fail(arena, err);
    }
    env->lets = lets;
    for (const il_json *v = il_json_first(names->given); v != NULL; v = il_json_next(v)) {
        IL_TRY(il_condition_constant(v, arena, &lets[env->nlets++], err));
    }
    return IL_OK;
}

static bool il_condition_own_ok(il_str name) {
    for (size_t i = 0; i < IL_CONDITION_NAMES; i++) {
        if (il_str_eq(name, il_str_of(il_condition_own_words[i]))) {
            return false;
        }
    }
    return name.n > 0;
}

il_status il_condition_scope_new(const il_condition_names *names, const il_json *at, il_arena *arena, il_condition_scope *out,
                                 il_error *err) {
    if (names->nown > IL_CONDITION_OWN_MAX) {
        return IL_JSON_FAIL(at, err, IL_E_LIMIT, "more than %u kinds and remembered names in one entry", IL_CONDITION_OWN_MAX);
    }
    const uint32_t more = names->interbolt ? (uint32_t)IL_INTERBOLT_NAMES : names->nown;
    il_cel_field *vars = IL_NEW_ARRAY(arena, il_cel_field, IL_CONDITION_NAMES + more);
    il_cel_env *env = IL_NEW(arena, il_cel_env);
    if (vars == NULL || env == NULL) {
        return il_arena_fail(arena, err);
    }
    for (size_t i = 0; i < IL_CONDITION_NAMES; i++) {
        vars[i].name = il_str_of(il_condition_own_words[i]);
    }
    vars[IL_CONDITION_ARGS].type = &il_cel_type_json;
    vars[IL_CONDITION_TOOL].type = vars[IL_CONDITION_SERVER].type = &il_cel_type_string;
    vars[IL_CONDITION_AGENT].type = &il_interbolt_agent;
    if (!names->interbolt) {
        IL_TRY(il_condition_agent(names, arena, &vars[IL_CONDITION_AGENT].type, err));
    }
    vars[IL_CONDITION_RUN].type = names->interbolt ? &il_interbolt_run : &il_condition_run;
    vars[IL_CONDITION_PROV].type = &il_condition_prov[names->place];
    IL_TRY(il_condition_state(names->machine, arena, &vars[IL_CONDITION_STATE].type, err));
    vars[IL_CONDITION_ITEM].type = &il_cel_type_dyn; /* where it has no fields it is refused, by a message of its own */
    if (names->nitem > 0) {
        IL_TRY(il_condition_items(names, at, arena, &vars[IL_CONDITION_ITEM].type, err));
    }
    for (uint32_t i = 0; i < IL_INTERBOLT_NAMES && names->interbolt; i++) {
        vars[IL_CONDITION_NAMES + i] = il_interbolt_vars[i];
    }
    for (uint32_t i = 0; i < names->nown && !names->interbolt; i++) {
        if (!il_condition_own_ok(names->own[i])) {
            return IL_JSON_FAIL(at, err, IL_E_INVALID, "`%.*s` is what conditions call something else; give it another name",
                                IL_STR_ARG(names->own[i]));
        }
        vars[IL_CONDITION_NAMES + i] = (il_cel_field){names->own[i], &il_cel_type_string};
    }
    *env = (il_cel_env){.size = sizeof *env,
                        .vars = vars,
                        .nvars = IL_CONDITION_NAMES + more,
                        .functions = il_condition_functions,
                        .nfunctions = il_condition_nfunctions};
    IL_TRY(il_condition_given(names, arena, env, err));
    for (size_t i = 0; i < env->nlets; i++) {
        if (!il_condition_own_ok(env->lets[i].name)) {
            return IL_JSON_FAIL(names->given, err, IL_E_INVALID,
                                "`%.*s` is what conditions call something else; give it another name",
                                IL_STR_ARG(env->lets[i].name));
        }
    }
    *out = (il_condition_scope){.place = names->place,
                                .env = env,
                                .items = names->nitem > 0,
                                .sql = names->sql,
                                .shell = names->shell,
                                .interbolt = names->interbolt,
                                .nown = names->nown};
    return IL_OK;
}

/* ---- what has no answer here --------------------------------------------------------------------------- */

typedef struct il_condition_look {
    const il_condition_scope *scope;
    il_condition *condition;
    il_error *err;
} il_condition_look;

#define IL_CONDITION_FAIL(l, n, ...) IL_CEL_FAIL_SPAN((n)->src, (n)->start, (n)->end, (l)->err, IL_E_INVALID, __VA_ARGS__)

static il_status il_condition_look_var(il_condition_look *l, const il_cel_node *n) {
    const bool rule = l->scope->place == IL_CONDITION_RULE;
    if (n->slot == IL_CONDITION_STATE && !rule) {
        return IL_CONDITION_FAIL(l, n, "`state` can be asked in rules only: the machine's state is stepped by what effects say");
    }
    if (n->slot == IL_CONDITION_ITEM && rule) {
        return IL_CONDITION_FAIL(l, n, "`item` can be asked in effects only: a rule is decided before there is a result");
    }
    if (n->slot == IL_CONDITION_ITEM && !l->scope->items) {
        return IL_CONDITION_FAIL(l, n, "`item` has no fields here: declare them in this entry's `result`, under `authentic`");
    }
    const uint32_t asked = IL_CONDITION_NAMES + (l->scope->interbolt ? (uint32_t)IL_INTERBOLT_NAMES : 0u);
    l->condition->asks |= n->slot < asked ? 1u << n->slot : 0u;
    l->condition->asks |=
        l->scope->interbolt && n->slot == IL_CONDITION_RUN ? IL_CONDITION_ASKS_SOURCES : 0u; /* for `tainted` too */
    return IL_OK;
}

/* The argument that is one of fixed words. */
static il_status il_condition_look_word(il_condition_look *l, const il_cel_node *n) {
    uint32_t argument;
    const il_str *words = il_condition_words(n->function->name, &argument);
    const il_cel_node *word = n->kids;
    for (uint32_t i = 0; i < argument && word != NULL; i++) {
        word = word->next;
    }
    if (words == NULL || word == NULL || word->op != IL_CEL_OP_LIT || word->lit.kind != IL_CEL_STRING) {
        return IL_OK;
    }
    const il_str said = il_cel_str(word->lit);
    il_cel_near near = il_cel_near_to(said);
    il_cel_words text;
    il_cel_words_init(&text);
    size_t i = 0;
    for (; words[i].n > 0; i++) {
        if (il_str_eq(words[i], said)) {
            return IL_OK;
        }
        il_cel_near_try(&near, words[i]);
    }
    il_cel_say_near(&text, &near);
    if (text.n == 0) {
        il_cel_say(&text, "; there are ");
        il_cel_say_names(&text, words, i);
    }
    return IL_CONDITION_FAIL(l, word, "`%.*s` is no word for `%.*s`%s", IL_STR_ARG(said), IL_STR_ARG(n->function->name), text.p);
}

static il_status il_condition_look_call(il_condition_look *l, const il_cel_node *n) {
    const il_str name = n->function->name;
    const bool rule = l->scope->place == IL_CONDITION_RULE;
    if (il_str_eq(name, IL_STR("vouched"))) {
        if (!rule) {
            return IL_CONDITION_FAIL(l, n, "`vouched` can be asked in rules only: what is vouched depends on the effects");
        }
        l->condition->asks |= IL_CONDITION_ASKS_VOUCHED;
    }
    if (il_str_eq(name, IL_STR("endorsed"))) {
        if (!rule) {
            return IL_CONDITION_FAIL(l, n, "`endorsed` can be asked in rules only: a human's word takes no effect away");
        }
        const il_cel_node *kind = n->kids != NULL ? n->kids->next : NULL;
        const bool said = kind != NULL && kind->op == IL_CEL_OP_LIT && kind->lit.kind == IL_CEL_STRING;
        const il_endorsement word = {
            .size = sizeof word, .kind = said ? il_cel_str(kind->lit) : IL_STR("any"), .by = IL_STR("any")};
        il_error why = {0};
        if (il_origin_endorsement_check(&word, &why) != IL_OK) {
            return IL_CONDITION_FAIL(l, kind != NULL ? kind : n, "%s", why.msg);
        }
        l->condition->asks |= IL_CONDITION_ASKS_ENDORSED;
    }
    if (il_str_eq(name, IL_STR("carries")) && !rule) {
        return IL_CONDITION_FAIL(l, n, "`carries` can be asked in rules only: whether this call sends depends on the effects");
    }
    l->condition->asks |= il_str_eq(name, IL_STR("labelled")) ? IL_CONDITION_ASKS_LABELLED : 0u;
    if (il_str_starts(name, IL_STR("sql."))) {
        if (!l->scope->sql) {
            return IL_CONDITION_FAIL(l, n,
                                     "`%.*s` asks about a statement; say in this entry which argument holds one: `sql: query`",
                                     IL_STR_ARG(name));
        }
        l->condition->asks |= IL_CONDITION_ASKS_SQL;
    }
    if (il_str_starts(name, IL_STR("shell."))) {
        if (!l->scope->shell) {
            return IL_CONDITION_FAIL(l, n,
                                     "`%.*s` asks about a command; say in this entry which argument holds one: `shell: command`",
                                     IL_STR_ARG(name));
        }
        l->condition->asks |= IL_CONDITION_ASKS_SHELL;
    }
    return il_condition_look_word(l, n);
}

/* Depth: IL_CEL_DEPTH. */
static il_status il_condition_look_at(il_condition_look *l, const il_cel_node *n) {
    if (n->op == IL_CEL_OP_VAR) {
        IL_TRY(il_condition_look_var(l, n));
    }
    if (n->op == IL_CEL_OP_CALL && n->function != NULL) {
        IL_TRY(il_condition_look_call(l, n));
    }
    const bool of_run = n->kids != NULL && n->kids->op == IL_CEL_OP_VAR && n->kids->slot == IL_CONDITION_RUN;
    if (of_run && !il_str_eq(n->name, IL_STR("tainted")) && !il_str_eq(n->name, IL_STR("trifecta"))) {
        l->condition->asks |= IL_CONDITION_ASKS_SOURCES;
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        IL_TRY(il_condition_look_at(l, k));
    }
    return IL_OK;
}

il_status il_condition_new(const il_json *v, const il_condition_scope *scope, il_arena *arena, il_condition *out, il_error *err) {
    const il_cel_limits limits = {
        .size = sizeof limits,
        .steps = IL_CONDITION_STEPS,
        /* loops over labels and their lineage are usual there, and both are short: `steps` holds when they are not */
        .cost = scope->interbolt ? IL_CONDITION_COST : 0,
        .alike = true,
        .list_contains = scope->interbolt};
    *out = (il_condition){0};
    if (il_json_kind_of(v) != IL_JSON_STRING || il_json_text(v).n == 0) {
        return IL_JSON_FAIL(v, err, IL_E_INVALID, "a condition is a text that gives true or false, such as `args.amount > 5000`");
    }
    il_cel_program *program = NULL;
    IL_TRY(il_cel_compile(arena, il_json_text(v), v->line, il_condition_col(v), scope->env, IL_CEL_BOOL, &limits, &program, err));
    out->program = program;
    il_condition_look look = {scope, out, err};
    return il_condition_look_at(&look, program->root);
}
