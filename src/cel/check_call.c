/* SPDX-License-Identifier: Apache-2.0 */
/* Calls. A name is first looked up among the functions of the language (one row a name and way of calling), then among the
 * host's: one of the host's is taken where none of the language's signatures fits the arguments. */
#include "base/time.h"
#include "cel/check.h"
#include "cel/regex.h"

enum { CALL_PARAMS = 8 }; /* of a host's function; a row of the language has 4 */

/* --- signatures -------------------------------------------------------------------------------------------------------- */

static size_t call_params(const il_cel_overload *o) {
    size_t n = 0;
    while (n < sizeof o->params / sizeof o->params[0] && o->params[n] != NULL) {
        n++;
    }
    return n;
}

static size_t call_kids(const il_cel_node *kids) {
    size_t n = 0;
    for (; kids != NULL; kids = kids->next) {
        n++;
    }
    return n;
}

/* The result of a signature for these arguments, NULL when they do not fit. What was inferred for it stays. */
static const il_cel_type *call_try(il_cel_checker *c, const il_cel_type *const *params, size_t nparams, bool variadic,
                                   const il_cel_type *result, const il_cel_node *kids, size_t nkids) {
    if (nkids != nparams && !(variadic && nkids > nparams && nparams > 0)) {
        return NULL;
    }
    size_t i = 0;
    for (const il_cel_node *k = kids; k != NULL; k = k->next, i++) {
        if (!il_cel_type_may_fit(il_cel_check_seen(c, k), params[i < nparams ? i : nparams - 1])) {
            return NULL;
        }
    }
    const uint32_t mark = il_cel_types_mark(&c->types);
    il_cel_signature signature;
    signature.n = 0;
    i = 0;
    for (const il_cel_node *k = kids; k != NULL; k = k->next, i++) {
        const il_cel_type *param = il_cel_type_fresh(&c->types, &signature, params[i < nparams ? i : nparams - 1]);
        if (!il_cel_type_unify(&c->types, k->type, param)) {
            il_cel_types_undo(&c->types, mark);
            return NULL;
        }
    }
    return il_cel_type_seen(&c->types, il_cel_type_fresh(&c->types, &signature, result));
}

/* Two that fit, because something is dyn, and give different types: only at run time is it known which. */
static const il_cel_type *call_either(il_cel_checker *c, const il_cel_type *before, const il_cel_type *result) {
    return before == NULL || il_cel_type_same(&c->types, before, result) ? result : &il_cel_type_dyn;
}

/* A signature for what is known at run time only. */
static bool call_takes_anything(const il_cel_overload *o) {
    const size_t n = call_params(o);
    for (size_t i = 0; i < n; i++) {
        if (o->params[i]->kind != IL_CEL_DYN) {
            return false;
        }
    }
    return true;
}

void il_cel_check_fit(il_cel_checker *c, const il_cel_overload *overloads, size_t n, bool variadic, const il_cel_node *kids,
                      const il_cel_type **result, const il_cel_overload **first) {
    const size_t nkids = call_kids(kids);
    bool known = true;
    for (const il_cel_node *k = kids; k != NULL; k = k->next) {
        const il_cel_type *type = il_cel_check_seen(c, k);
        known = known && !il_cel_type_is_dyn(type) && type->kind != IL_CEL_PARAM;
    }
    *result = NULL;
    for (size_t i = 0; i < n; i++) {
        if (known && *result != NULL && call_takes_anything(&overloads[i])) {
            continue;
        }
        const il_cel_type *type =
            call_try(c, overloads[i].params, call_params(&overloads[i]), variadic, overloads[i].result, kids, nkids);
        if (type != NULL) {
            if (*result == NULL && first != NULL) {
                *first = &overloads[i];
            }
            *result = call_either(c, *result, type);
        }
    }
}

/* --- unknown functions ------------------------------------------------------------------------------------------------- */

static bool call_takes(const il_cel_builtin *row, const il_cel_type *receiver) {
    for (size_t i = 0; i < row->noverloads; i++) {
        if (il_cel_type_may_fit(receiver, row->overloads[i].params[0])) {
            return true;
        }
    }
    return false;
}

/* The nearest function that is called this way, on such a receiver (NULL: none). */
static void call_near(il_cel_checker *c, il_cel_near *near, const il_cel_type *receiver) {
    static const il_str macros[] = {{"exists", 6}, {"all", 3},        {"exists_one", 10},    {"existsOne", 9},
                                    {"filter", 6}, {"map", 3},        {"transformList", 13}, {"transformMap", 12},
                                    {"optMap", 6}, {"optFlatMap", 10}};
    if (receiver != NULL) {
        const bool loops = receiver->kind == IL_CEL_LIST || receiver->kind == IL_CEL_MAP || receiver->kind == IL_CEL_DYN;
        const bool optional = receiver->kind == IL_CEL_OPTIONAL || receiver->kind == IL_CEL_DYN;
        for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++) {
            if (i < 8 ? loops : optional) {
                il_cel_near_try(near, macros[i]);
            }
        }
    } else {
        il_cel_near_try(near, IL_STR("has"));
        il_cel_near_try(near, IL_STR("cel.bind"));
    }
    size_t n = 0;
    const il_cel_builtin *rows = il_cel_builtins(&n);
    for (size_t i = 0; i < n; i++) {
        if (rows[i].receiver == (receiver != NULL) && (receiver == NULL || call_takes(&rows[i], receiver))) {
            il_cel_near_try(near, rows[i].name);
        }
    }
    for (size_t i = 0; i < c->env->nfunctions; i++) {
        const il_cel_function *f = &c->env->functions[i];
        if (f->receiver == (receiver != NULL) &&
            (receiver == NULL || (f->nparams > 0 && il_cel_type_may_fit(receiver, f->params[0])))) {
            il_cel_near_try(near, f->name);
        }
    }
}

static bool call_is_host(const il_cel_checker *c, il_str name, bool receiver) {
    for (size_t i = 0; i < c->env->nfunctions; i++) {
        if (c->env->functions[i].receiver == receiver && il_str_eq(c->env->functions[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* `math.gratest(1, 2)`: the name that it is called on is no value, but part of the name. IL_OK when it is nothing of the kind. */
static CHECK_APART il_status call_qualified(il_cel_checker *c, const il_cel_node *n) {
    const il_cel_node *on = n->kids;
    il_cel_words full, hint;
    il_cel_words_init(&full);
    il_cel_words_init(&hint);
    il_cel_say(&full, "%.*s.%.*s", IL_STR_ARG(on->name), IL_STR_ARG(n->name));
    il_cel_near near = il_cel_near_to((il_str){full.p, full.n});
    const il_str prefix = {full.p, on->name.n + 1};
    size_t rows = 0;
    const il_cel_builtin *row = il_cel_builtins(&rows);
    bool known = false;
    for (size_t i = 0; i < rows; i++) {
        if (!row[i].receiver && il_str_find(row[i].name, IL_STR("."), 0) != SIZE_MAX) {
            il_cel_near_try(&near, row[i].name);
            known = known || (prefix.n <= full.n && il_str_starts(row[i].name, prefix));
        }
    }
    for (size_t i = 0; i < c->env->nfunctions; i++) {
        const il_cel_function *f = &c->env->functions[i];
        if (!f->receiver && il_str_find(f->name, IL_STR("."), 0) != SIZE_MAX) {
            il_cel_near_try(&near, f->name);
            known = known || (prefix.n <= full.n && il_str_starts(f->name, prefix));
        }
    }
    if (!known && near.best.n == 0) {
        return IL_OK;
    }
    il_cel_say_near(&hint, &near);
    return CHECK_FAIL(c, n, on->start, il_cel_check_name_end(n), IL_E_INVALID, "unknown function `%s`%s", full.p, hint.p);
}

static CHECK_APART il_status call_unknown(il_cel_checker *c, const il_cel_node *n) {
    const il_cel_type *receiver = n->receiver ? il_cel_check_seen(c, n->kids) : NULL;
    const char *rewrite = n->receiver ? il_cel_rewrite_method(n->name) : il_cel_rewrite_function(n->name);
    static const il_str loops[] = {{"exists", 6}, {"all", 3}, {"exists_one", 10}, {"existsOne", 9}, {"filter", 6}, {"map", 3}};
    if (rewrite != NULL) {
        const bool macro = il_str_eq(il_str_of(rewrite), IL_STR("exists")) || il_str_eq(il_str_of(rewrite), IL_STR("all")) ||
                           il_str_eq(il_str_of(rewrite), IL_STR("filter"));
        return macro ? CHECK_FAIL_NAME(c, n, "`%.*s` is not a macro; did you mean `%s`?", IL_STR_ARG(n->name), rewrite)
                     : CHECK_FAIL_NAME(c, n, "unknown function `%.*s`; did you mean `%s`?", IL_STR_ARG(n->name), rewrite);
    }
    const char *instead = il_cel_instead(n->name);
    if (instead != NULL) {
        return CHECK_FAIL_NAME(c, n, "unknown function `%.*s`; %s", IL_STR_ARG(n->name), instead);
    }
    for (size_t i = 0; !n->receiver && i < sizeof loops / sizeof loops[0]; i++) {
        if (il_str_eq(loops[i], n->name)) {
            return CHECK_FAIL_NAME(c, n, "`%.*s` stands after a list: `list.%.*s(x, x %s 1)`", IL_STR_ARG(n->name),
                                   IL_STR_ARG(n->name), il_str_eq(n->name, IL_STR("map")) ? "+" : "==");
        }
    }
    if (il_cel_builtin_find(n->name, !n->receiver) != NULL || call_is_host(c, n->name, !n->receiver)) {
        return n->receiver ? CHECK_FAIL_NAME(c, n, "`%.*s` is not called on a value; write `%.*s(...)`", IL_STR_ARG(n->name),
                                             IL_STR_ARG(n->name))
                           : CHECK_FAIL_NAME(c, n, "`%.*s` is called on a value; write `x.%.*s(...)`", IL_STR_ARG(n->name),
                                             IL_STR_ARG(n->name));
    }
    il_cel_near near = il_cel_near_to(n->name);
    il_cel_words hint;
    il_cel_words_init(&hint);
    call_near(c, &near, receiver);
    il_cel_say_near(&hint, &near);
    return CHECK_FAIL_NAME(c, n, "unknown function `%.*s`%s", IL_STR_ARG(n->name), hint.p);
}

/* --- calls that do not fit --------------------------------------------------------------------------------------------- */

/* `string.startsWith(int)`, or with NULL for the kids the signature itself. */
static void call_say_arguments(il_cel_checker *c, il_cel_words *w, const il_cel_node *n, const il_cel_type *const *types,
                               size_t count) {
    size_t i = 0;
    if (n->receiver && count > 0) {
        il_cel_say(w, "%s.", il_cel_check_type_name(c, types[i++]).p);
    }
    il_cel_say(w, "%.*s(", IL_STR_ARG(n->name));
    for (size_t from = i; i < count; i++) {
        il_cel_say(w, i > from ? ", %s" : "%s", il_cel_check_type_name(c, types[i]).p);
    }
    il_cel_say(w, ")");
}

static void call_say_call(il_cel_checker *c, il_cel_words *w, const il_cel_node *n) {
    const il_cel_type *types[CALL_PARAMS];
    size_t count = 0;
    for (const il_cel_node *k = n->kids; k != NULL && count < CALL_PARAMS; k = k->next) {
        types[count++] = k->type;
    }
    call_say_arguments(c, w, n, types, count);
}

/* How many arguments the signatures of this name take. */
typedef struct call_arity {
    size_t least, most; /* SIZE_MAX: any number */
} call_arity;

static void call_count(call_arity *a, size_t nparams, bool variadic) {
    a->least = nparams < a->least ? nparams : a->least;
    a->most = variadic ? SIZE_MAX : nparams > a->most ? nparams : a->most;
}

static il_status call_wrong_count(il_cel_checker *c, const il_cel_node *n, call_arity a, size_t nkids) {
    const size_t on = n->receiver ? 1 : 0;
    il_cel_words takes;
    il_cel_words_init(&takes);
    if (a.most == SIZE_MAX) {
        il_cel_say(&takes, "at least %zu argument%s", a.least - on, a.least - on == 1 ? "" : "s");
    } else if (a.least == a.most) {
        il_cel_say(&takes, "%zu argument%s", a.least - on, a.least - on == 1 ? "" : "s");
    } else {
        il_cel_say(&takes, "%zu to %zu arguments", a.least - on, a.most - on);
    }
    return CHECK_FAIL_NAME(c, n, "`%.*s` takes %s, got %zu", IL_STR_ARG(n->name), takes.p, nkids - on);
}

/* `list.contains(x)`, which other engines have. */
static il_status call_list_contains(il_cel_checker *c, const il_cel_node *n) {
    const il_str list = il_cel_check_text(n->kids),
                 item = n->kids->next != NULL ? il_cel_check_text(n->kids->next) : (il_str){NULL, 0};
    return list.n > 0 && item.n > 0 ? CHECK_FAIL_NAME(c, n, "a list has no `contains`; did you mean `%.*s in %.*s`?",
                                                      IL_STR_ARG(item), IL_STR_ARG(list))
                                    : CHECK_FAIL_NAME(c, n, "a list has no `contains`; did you mean `x in list`?");
}

static CHECK_APART il_status call_no_overload(il_cel_checker *c, const il_cel_node *n, const il_cel_builtin *row) {
    enum { SHOWN = 3 };
    const size_t nkids = call_kids(n->kids);
    call_arity arity = {SIZE_MAX, 0};
    il_cel_words call, there;
    size_t shown = 0;
    il_cel_words_init(&call);
    il_cel_words_init(&there);
    for (size_t i = 0; row != NULL && i < row->noverloads; i++) {
        call_count(&arity, call_params(&row->overloads[i]), row->variadic);
        if (shown++ < SHOWN) {
            il_cel_say(&there, shown == 1 ? "`" : ", `");
            call_say_arguments(c, &there, n, row->overloads[i].params, call_params(&row->overloads[i]));
            il_cel_say(&there, "`");
        }
    }
    for (size_t i = 0; i < c->env->nfunctions; i++) {
        const il_cel_function *f = &c->env->functions[i];
        if (f->receiver == n->receiver && il_str_eq(f->name, n->name)) {
            call_count(&arity, f->nparams, false);
            if (shown++ < SHOWN) {
                il_cel_say(&there, shown == 1 ? "`" : ", `");
                call_say_arguments(c, &there, n, f->params, f->nparams);
                il_cel_say(&there, "`");
            }
        }
    }
    if (nkids < arity.least || nkids > arity.most) {
        return call_wrong_count(c, n, arity, nkids);
    }
    if (n->receiver && nkids == 2 && il_str_eq(n->name, IL_STR("contains")) &&
        il_cel_check_seen(c, n->kids)->kind == IL_CEL_LIST) {
        return call_list_contains(c, n);
    }
    if (n->receiver && nkids == 2 && il_str_eq(n->name, IL_STR("contains")) &&
        il_cel_check_seen(c, n->kids)->kind == IL_CEL_CIDR) {
        return CHECK_FAIL_NAME(c, n, "a range has no `contains`; did you mean `%s`?",
                               il_cel_check_seen(c, n->kids->next)->kind == IL_CEL_CIDR ? "containsCIDR" : "containsIP");
    }
    call_say_call(c, &call, n);
    return CHECK_FAIL_NAME(c, n, "no overload `%s`; there %s %s%s", call.p, shown == 1 ? "is" : "are", there.p,
                           shown > SHOWN ? ", ..." : "");
}

/* --- arguments that are checked while compiling ------------------------------------------------------------------------ */

/* The pattern's fault stands inside the literal, through its escapes. */
static il_status call_bad_pattern(il_cel_checker *c, const il_cel_node *pattern, const il_error *why) {
    const size_t from = il_cel_literal_at(pattern->src, pattern->start, why->offset);
    const size_t to = il_cel_literal_at(pattern->src, pattern->start, SIZE_MAX);
    il_status status = why->code == IL_E_SYNTAX ? IL_E_INVALID : why->code;
    return CHECK_FAIL(c, pattern, from, to, status, "%s", why->msg);
}

static il_status call_pattern(il_cel_checker *c, il_cel_node *n) {
    const il_cel_node *pattern = il_cel_check_second(n);
    if (pattern == NULL) {
        return IL_OK;
    }
    if (pattern->op != IL_CEL_OP_LIT || pattern->lit.kind != IL_CEL_STRING) {
        return c->limits->dynamic_regex
                   ? IL_OK
                   : CHECK_FAIL_NODE(c, pattern,
                                     "the pattern of `matches` must be a literal; one that is made at run time is not compiled");
    }
    il_regex *regex = NULL;
    il_error why = {.code = IL_OK};
    const il_status status = il_regex_compile(c->arena, pattern->name, &regex, &why);
    if (status == IL_E_MEMORY) {
        return il_cel_no_memory(c->arena, c->err);
    }
    if (status != IL_OK) {
        return call_bad_pattern(c, pattern, &why);
    }
    n->regex = regex;
    /* A step is 16 bytes of text, a weight is for 64. */
    n->cost = il_cel_cost_add(n->cost, il_cel_cost_mul(il_regex_weight(regex), n->kids->extent.text / 64 + 1));
    return IL_OK;
}

static il_status call_bad_text(il_cel_checker *c, const il_cel_node *text, il_str reader, il_cel_fault fault) {
    const il_cel_complaint complaint = il_cel_complaint_of(reader);
    const il_str shown = il_cel_check_text(text);
    il_cel_words what;
    il_cel_words_init(&what);
    if (shown.n > 0) {
        il_cel_say(&what, "`%.*s`", IL_STR_ARG(shown));
    } else {
        il_cel_say(&what, "this text");
    }
    return fault == IL_CEL_OVERFLOW
               ? CHECK_FAIL_NODE(c, text, "%s is out of range%s", what.p, il_cel_range_of(reader))
               : CHECK_FAIL_NODE(c, text, "%s %s", what.p, complaint.says != NULL ? complaint.says : "cannot be read");
}

/* The zone of `t.getHours('Europe/Vienna')`. */
static il_status call_zone(il_cel_checker *c, const il_cel_node *n) {
    const il_cel_node *zone = il_cel_check_second(n);
    int32_t east = 0;
    if (zone == NULL || zone->op != IL_CEL_OP_LIT || zone->lit.kind != IL_CEL_STRING || il_offset_parse(zone->name, &east)) {
        return IL_OK;
    }
    if (c->env->zone == NULL) {
        return CHECK_FAIL_NODE(c, zone,
                               "no time zone `%.*s`: names of zones are not available here; write an offset such as `+02:00`",
                               IL_STR_ARG(zone->name));
    }
    return c->env->zone(c->env->zone_ctx, zone->name, 0, &east)
               ? IL_OK
               : CHECK_FAIL_NODE(c, zone, "no time zone `%.*s`; write one such as `Europe/Vienna` or `+02:00`",
                                 IL_STR_ARG(zone->name));
}

/* A text that is written there and read while evaluating: what cannot be read is refused at once. */
static il_status call_read_text(il_cel_checker *c, const il_cel_node *n) {
    static const struct {
        il_str function, reader;
    } reads[] = {
        {{"timestamp", 9}, {"timestamp", 9}}, {{"duration", 8}, {"duration", 8}}, {{"ip", 2}, {"ip", 2}},
        {{"ip.isCanonical", 14}, {"ip", 2}},  {{"containsIP", 10}, {"ip", 2}},    {{"cidr", 4}, {"cidr", 4}},
        {{"containsCIDR", 12}, {"cidr", 4}},  {{"int", 3}, {"int", 3}},           {{"uint", 4}, {"uint", 4}},
        {{"double", 6}, {"double", 6}},       {{"bool", 4}, {"bool", 4}},
    };
    const il_cel_node *text = n->receiver ? il_cel_check_second(n) : n->kids;
    if (text == NULL || text->op != IL_CEL_OP_LIT || text->lit.kind != IL_CEL_STRING) {
        return IL_OK;
    }
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        const il_cel_builtin *reader = il_str_eq(reads[i].function, n->name) ? il_cel_builtin_find(reads[i].reader, false) : NULL;
        if (reader != NULL) {
            il_cel_run run = {.scratch = c->arena, .steps = INT64_MAX};
            const il_cel_value v = reader->call(&run, &text->lit, 1);
            return v.kind == IL_CEL_ERROR && (v.fault == IL_CEL_BAD_VALUE || v.fault == IL_CEL_OVERFLOW)
                       ? call_bad_text(c, text, reader->name, (il_cel_fault)v.fault)
                       : IL_OK;
        }
    }
    return IL_OK;
}

/* --- what a call costs ------------------------------------------------------------------------------------------------- */

/* What an argument counts for: as the kind that the parameter takes, when that says it; else as its own. */
static uint64_t call_size(const il_cel_checker *c, const il_cel_node *k, const il_cel_type *param) {
    il_cel_kind kind = param != NULL ? param->kind : IL_CEL_DYN;
    if (kind == IL_CEL_DYN || kind == IL_CEL_PARAM || kind == IL_CEL_OPTIONAL) {
        kind = il_cel_check_seen(c, k)->kind;
    }
    if (kind == IL_CEL_STRING || kind == IL_CEL_BYTES) {
        return k->extent.text;
    }
    if (kind == IL_CEL_LIST || kind == IL_CEL_MAP) {
        return k->extent.items;
    }
    return kind == IL_CEL_DYN || kind == IL_CEL_PARAM || kind == IL_CEL_OPTIONAL
               ? il_cel_cost_most(k->extent.text, k->extent.items)
               : 1;
}

/* How large a result of this kind is, of arguments that are `all` together. Without a bound it is no larger than the largest
 * of them, a text no longer than any number's or timestamp's. What is inside of it came out of them. */
static il_cel_extent call_extent(il_cel_kind kind, il_cel_extent all, const il_cel_bound *bound) {
    enum { SCALAR_TEXT = 64 };
    il_cel_extent e = {0, 0, 0, 0};
    if (kind == IL_CEL_STRING || kind == IL_CEL_BYTES) {
        e.text = bound != NULL ? bound->size : il_cel_cost_most(all.text, SCALAR_TEXT);
    } else if (kind == IL_CEL_LIST || kind == IL_CEL_MAP) {
        e.items = bound != NULL ? bound->size : il_cel_cost_most(all.items, all.text);
        e = il_cel_extent_with(e, all);
    } else if (kind == IL_CEL_DYN || kind == IL_CEL_PARAM || kind == IL_CEL_OPTIONAL) {
        e = all;
        if (bound != NULL && bound->size > il_cel_cost_most(all.text, all.items)) {
            e.text = e.items = bound->size;
        }
    }
    return e;
}

static il_status call_pay(il_cel_checker *c, il_cel_node *n, const il_cel_builtin *row, const il_cel_overload *o) {
    uint64_t few[CALL_PARAMS], *sizes = few;
    const size_t nkids = call_kids(n->kids), nparams = o != NULL ? call_params(o) : 0;
    if (nkids > CALL_PARAMS) {
        sizes = IL_NEW_ARRAY(c->arena, uint64_t, nkids);
        if (sizes == NULL) {
            return il_cel_no_memory(c->arena, c->err);
        }
    }
    size_t i = 0;
    il_cel_extent all = {0, 0, 0, 0};
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next, i++) {
        sizes[i] = call_size(c, k, nparams == 0 ? NULL : o->params[i < nparams ? i : nparams - 1]);
        all = il_cel_extent_join(all, k->extent);
    }
    const il_cel_kind kind = il_cel_check_seen(c, n)->kind;
    if (row->bound == NULL) {
        n->extent = call_extent(kind, all, NULL);
        return IL_OK;
    }
    const il_cel_bound bound = row->bound(sizes, (uint32_t)nkids);
    n->cost = il_cel_cost_add(n->cost, bound.cost > 0 ? bound.cost - 1 : 0); /* the visit itself is counted */
    n->extent = call_extent(kind, all, &bound);
    return IL_OK;
}

/* --- a host's functions ------------------------------------------------------------------------------------------------ */

static il_status call_ambiguous(il_cel_checker *c, const il_cel_node *n) {
    il_cel_words call;
    il_cel_words_init(&call);
    call_say_call(c, &call, n);
    return CHECK_FAIL_NAME(c, n, "`%s` fits several functions of this name; convert what is `dyn`", call.p);
}

/* One is called, and it is known now which: where dyn lets two fit the call is refused, unless they are the same function. */
static CHECK_APART il_status call_host(il_cel_checker *c, il_cel_node *n, bool *fits) {
    const size_t nkids = call_kids(n->kids);
    const il_cel_type *result = NULL;
    for (size_t i = 0; i < c->env->nfunctions; i++) {
        const il_cel_function *f = &c->env->functions[i];
        if (f->receiver != n->receiver || !il_str_eq(f->name, n->name) || f->nparams > CALL_PARAMS) {
            continue;
        }
        const il_cel_type *type = call_try(c, f->params, f->nparams, false, f->result, n->kids, nkids);
        if (type == NULL) {
            continue;
        }
        if (n->function != NULL && (n->function->call != f->call || n->function->ctx != f->ctx)) {
            n->function = NULL;
            return call_ambiguous(c, n);
        }
        n->function = n->function != NULL ? n->function : f;
        result = call_either(c, result, type);
    }
    *fits = n->function != NULL;
    if (n->function != NULL) {
        n->type = result;
        n->cost = il_cel_cost_add(n->cost, n->function->cost);
        n->extent = il_cel_extent_of(n->function->result, c->limits);
    }
    return IL_OK;
}

/* --- calls ------------------------------------------------------------------------------------------------------------- */

/* The rows that this program may use: `list.contains` only where it is let in. */
static void call_fit_row(il_cel_checker *c, il_cel_node *n, const il_cel_builtin *row, const il_cel_type **type,
                         const il_cel_overload **o) {
    const il_cel_overload *overloads = row->overloads;
    size_t count = row->noverloads;
    if (!c->limits->list_contains && row->receiver && il_str_eq(row->name, IL_STR("contains"))) {
        while (count > 0 && overloads[count - 1].params[0] != NULL && overloads[count - 1].params[0]->kind == IL_CEL_LIST) {
            count--; /* they stand last */
        }
    }
    il_cel_check_fit(c, overloads, count, row->variadic, n->kids, type, o);
}

static bool call_row_takes(const il_cel_builtin *row, size_t nkids) {
    for (size_t i = 0; i < row->noverloads; i++) {
        const size_t n = call_params(&row->overloads[i]);
        if (n == nkids || (row->variadic && nkids > n)) {
            return true;
        }
    }
    return false;
}

static CHECK_APART il_status call_builtin(il_cel_checker *c, il_cel_node *n, const il_cel_builtin *row, bool *fits) {
    const il_cel_type *type = NULL;
    const il_cel_overload *o = NULL;
    call_fit_row(c, n, row, &type, &o);
    *fits = type != NULL;
    if (type == NULL) {
        return IL_OK;
    }
    n->builtin = row;
    n->type = type;
    IL_TRY(call_pay(c, n, row, o));
    if (il_str_eq(n->name, IL_STR("matches"))) {
        return call_pattern(c, n);
    }
    IL_TRY(call_read_text(c, n));
    return n->receiver && il_str_starts(n->name, IL_STR("get")) ? call_zone(c, n) : IL_OK;
}

il_status il_cel_check_call(il_cel_checker *c, il_cel_node *n) {
    const il_cel_builtin *row = il_cel_builtin_find(n->name, n->receiver);
    const bool host = call_is_host(c, n->name, n->receiver), known = row != NULL || host;
    bool fits = false;
    if (!known && !c->limits->unchecked) {
        /* Before what is inside: the variable of a macro that is none is not an undeclared name. */
        if (n->receiver && n->kids != NULL && n->kids->op == IL_CEL_OP_NAME) {
            IL_TRY(call_qualified(c, n));
        }
        if (n->receiver && n->kids != NULL) {
            IL_TRY(il_cel_check_node(c, n->kids));
        }
        return call_unknown(c, n);
    }
    IL_TRY(il_cel_check_kids(c, n));
    if (row != NULL) {
        const il_status status = call_builtin(c, n, row, &fits);
        if (fits) {
            return status;
        }
    }
    IL_TRY(call_host(c, n, &fits));
    if (fits) {
        return IL_OK;
    }
    if (c->limits->unchecked && row != NULL && call_row_takes(row, call_kids(n->kids))) {
        n->builtin = row; /* says at run time that it does not take them */
    }
    return known ? call_no_overload(c, n, row) : IL_E_INVALID;
}
