/* SPDX-License-Identifier: Apache-2.0 */
/* Values that may tell two policies apart: what their conditions compare arguments with and what is next to it, what they list of the kind that an argument has and
 * what nobody lists. A bounded search: that nothing among them shows a difference proves nothing. */
#include "cel/value.h"
#include "policy/against_part.h"

#define VALUES_TEXT 64u /* bytes of a text that is made longer or shorter */

typedef struct values {
    il_against *a;
    const il_against_tool *t;
    il_against_values *out;
    int side;
    bool rule;
    bool asks_typed;
    il_buf typed;
} values;

static il_arena *values_arena(values *v) { return &v->a->scratch; }

/* ---- paths ------------------------------------------------------------------------------------------------- */

static il_against_path *values_path(values *v, const il_arg_path *path) {
    for (uint32_t i = 0; i < v->out->n; i++) {
        if (il_arg_path_eq(&v->out->paths[i].path, path)) {
            return &v->out->paths[i];
        }
    }
    if (v->out->n == IL_AGAINST_PATHS || path->n == 0) {
        v->out->cut = v->out->cut || path->n != 0;
        return NULL;
    }
    il_against_path *p = &v->out->paths[v->out->n++];
    *p = (il_against_path){.path = *path};
    return p;
}

static bool values_same(const il_json *x, const il_json *y) {
    bool same = il_json_kind_of(x) == il_json_kind_of(y) && il_str_eq(il_json_text(x), il_json_text(y)) &&
                il_json_bool(x) == il_json_bool(y) && il_json_count(x) == il_json_count(y);
    return same && (il_json_first(x) == NULL || values_same(il_json_first(x), il_json_first(y)));
}

static void values_add(values *v, il_against_path *p, const il_json *value) {
    if (p == NULL || value == NULL) {
        return;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        if (values_same(p->values[i], value)) {
            return;
        }
    }
    if (p->n < IL_AGAINST_VALUES) {
        p->values[p->n++] = value;
    } else {
        v->out->cut = true;
    }
}

static void values_name(il_str *list, uint32_t *n, il_str name, bool *cut) {
    for (uint32_t i = 0; i < *n; i++) {
        if (il_str_eq(list[i], name)) {
            return;
        }
    }
    if (*n < IL_AGAINST_VALUES) {
        list[(*n)++] = name;
    } else {
        *cut = true;
    }
}

static void values_text(values *v, il_against_path *p, il_str s) { values_add(v, p, il_json_string(values_arena(v), s)); }

/* A text with something in front of it and behind it; empty when it is too long or memory is. */
static il_str values_made(values *v, const char *before, il_str s, const char *behind) {
    il_buf b;
    il_str out = {0};
    il_buf_init(&b, values_arena(v), 1024);
    il_buf_puts(&b, before);
    il_buf_put(&b, s);
    il_buf_puts(&b, behind);
    return il_buf_done(&b, &out, NULL) == IL_OK ? out : (il_str){0};
}

/* ---- kinds ------------------------------------------------------------------------------------------------- */

/* A value that the pattern matches, as a call would write it. */
static void values_listed(values *v, il_against_path *p, const il_kind_pattern *pattern, il_kind as) {
    static const char *const tries[][2] = {{"", ""},   {"x@", ""}, {"x.", ""},         {"", ":8080"},
                                           {"", "/x"}, {"", "x"},  {"https://", "/x"}, {"https://x.", "/x"}};
    const il_str text = pattern->text;
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        il_str canonical;
        const bool host = as == IL_KIND_URL && pattern->kind == IL_KIND_HOST;
        il_str cut = text;
        while (cut.n > 0 && (cut.p[0] == '.' || cut.p[0] == '@')) {
            cut = il_str_part(cut, 1, cut.n);
        }
        if (cut.n > 0 && cut.p[cut.n - 1] == '*') {
            cut.n--;
        }
        const il_str value = values_made(v, tries[i][0], i == 0 ? text : cut, tries[i][1]);
        if (il_kind_value(as, value, values_arena(v), &canonical, NULL) != IL_OK) {
            continue;
        }
        const bool matches = host ? il_kind_matches(pattern, il_kind_host(as, canonical)) : il_kind_matches(pattern, canonical);
        if (matches) {
            values_text(v, p, value);
            return;
        }
    }
}

static il_str values_unlisted(il_kind kind) {
    static const il_str words[] = {{"x@unlisted.example", 18},
                                   {"unlisted.example", 16},
                                   {"https://unlisted.example/x", 26},
                                   {"unlisted/x", 10},
                                   {"unlisted", 8},
                                   {"/unlisted/x", 11},
                                   {"DE89370400440532013000", 22},
                                   {"unlisted", 8}};
    return words[kind < IL_KIND_CUSTOM ? kind : IL_KIND_NAME];
}

static void values_kind(values *v, il_against_path *p, il_kind kind) {
    const il_str word = il_kinds_word(&v->a->p[v->side]->kinds, kind);
    for (int side = 0; side < 2; side++) {
        const il_policy *from = v->a->p[side];
        for (uint32_t i = 0; i < from->names.n && i < 200; i++) {
            const il_kind_pattern *pattern = &from->names.list[i].pattern;
            const bool of = il_str_eq(il_kinds_word(&from->kinds, pattern->kind), word);
            if (of || (kind == IL_KIND_URL && pattern->kind == IL_KIND_HOST)) {
                values_listed(v, p, pattern, of ? pattern->kind : kind);
            }
        }
    }
    values_text(v, p, values_unlisted(kind));
    values_text(v, p, IL_STR(""));
}

/* ---- conditions ---------------------------------------------------------------------------------------------- */

#define VALUES_SCOPE IL_CEL_LOCALS
typedef struct values_look { /* one condition */
    values *v;
    il_arg_path locals[VALUES_SCOPE]; /* what a macro's variable stands for; n 0: nothing of the arguments */
    il_against_path *paths[IL_AGAINST_PATHS];
    uint32_t npaths;
    const il_json *constants[IL_AGAINST_VALUES];
    uint32_t nconstants;
    bool agent, sources, parts; /* parts: what a text begins or ends with, or how it is ordered, matters */
} values_look;

static bool values_under(values_look *l, const il_arg_path *path, il_str step, il_arg_path *out) {
    if (path->n >= IL_PATH_DEPTH_MAX) {
        return false;
    }
    *out = (il_arg_path){.n = path->n + 1, .steps = IL_NEW_ARRAY(values_arena(l->v), il_str, path->n + 1)};
    if (out->steps == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < path->n; i++) {
        out->steps[i] = path->steps[i];
    }
    out->steps[path->n] = step;
    return true;
}

/* The argument that an expression names. Depth: IL_CEL_DEPTH. */
static bool values_prov(const il_cel_node *n) {
    return n->op == IL_CEL_OP_SELECT && n->kids->op == IL_CEL_OP_VAR && n->kids->slot == IL_CONDITION_PROV;
}

static bool values_argument(values_look *l, const il_cel_node *n, il_arg_path *out) {
    static const il_arg_path below0 = {0};
    il_arg_path below;
    *out = (il_arg_path){0};
    if (n->op == IL_CEL_OP_LOCAL && n->slot < VALUES_SCOPE) {
        *out = l->locals[n->slot];
        return out->n > 0;
    }
    if (n->op == IL_CEL_OP_SELECT) {
        if (values_prov(n)) { /* `prov.to` errs where there is no such argument */
            return values_under(l, &below0, n->name, out);
        }
        return !values_prov(n->kids) && values_argument(l, n->kids, &below) && values_under(l, &below, n->name, out);
    }
    if (n->op == IL_CEL_OP_INDEX) {
        const il_cel_value key = n->kids->next->lit;
        return values_argument(l, n->kids, &below) && values_under(l, &below, il_cel_str(key), out);
    }
    return n->op == IL_CEL_OP_VAR && n->slot == IL_CONDITION_ARGS;
}

static void values_constant(values_look *l, const il_json *value) {
    if (value != NULL && l->nconstants < IL_AGAINST_VALUES) {
        l->constants[l->nconstants++] = value;
    }
}

static void values_number(values_look *l, const il_cel_value *c) {
    il_buf b;
    il_str text;
    il_buf_init(&b, values_arena(l->v), 64);
    il_cel_write(c, &b);
    if (il_buf_done(&b, &text, NULL) == IL_OK && il_json_is_number(text)) {
        il_json *number = il_json_make(values_arena(l->v), IL_JSON_NUMBER);
        if (number != NULL) {
            number->text = text;
        }
        values_constant(l, number);
    }
}

static void values_literal(values_look *l, il_cel_value c) {
    il_arena *arena = values_arena(l->v);
    if (c.kind == IL_CEL_INT) {
        for (int64_t d = 0; d < 3; d++) {
            static const int64_t near[] = {0, 1, -1};
            if (c.u.i < INT64_MAX && c.u.i > INT64_MIN) {
                values_constant(l, il_json_number(arena, c.u.i + near[d]));
            }
        }
        for (int d = -1; d < 2; d += 2) { /* a number need not be whole */
            const il_cel_value half = il_cel_of_double((double)c.u.i + 0.5 * d);
            if (l->parts && half.u.d < 1e9 && half.u.d > -1e9) {
                values_number(l, &half);
            }
        }
    } else if (c.kind == IL_CEL_DOUBLE) {
        static const double near[] = {0, 1, -1};
        for (int i = 0; i < 3; i++) {
            il_cel_value next = c;
            next.u.d += near[i];
            values_number(l, &next);
        }
    } else if (c.kind == IL_CEL_STRING) {
        const il_str s = il_cel_str(c);
        values_constant(l, il_json_string(arena, s));
        if (l->parts && s.n <= VALUES_TEXT) { /* what begins so, and what ends so */
            values_constant(l, il_json_string(arena, values_made(l->v, "", s, "x")));
            values_constant(l, il_json_string(arena, values_made(l->v, "x", s, "")));
        }
        values_name(l->v->out->agents, &l->v->out->nagents, l->agent ? s : (il_str){0}, &l->v->out->cut);
        if (l->sources) {
            values_name(l->v->out->sources, &l->v->out->nsources, s, &l->v->out->cut);
        }
    }
}

/* size(x) > 3: texts of three and four letters. */
static void values_sizes(values_look *l) {
    const uint32_t n = l->nconstants;
    for (uint32_t i = 0; i < n; i++) {
        static const char letters[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
        int64_t size = 0;
        if (il_json_int(l->constants[i], &size) && size >= 0 && size < (int64_t)sizeof letters) {
            values_constant(l, il_json_string(values_arena(l->v), (il_str){letters, (size_t)size}));
        }
    }
}

static void values_range(values_look *l, const il_cel_node *range, uint32_t slot, uint32_t slot2) {
    il_arg_path path, item;
    if (!values_argument(l, range, &path) || path.n == 0 || !values_under(l, &path, (il_str){0}, &item)) {
        return;
    }
    il_against_path *p = values_path(l->v, &path);
    if (p != NULL) {
        p->range = true;
    }
    if (slot < VALUES_SCOPE) {
        l->locals[slot] = item;
    }
    if (slot2 < VALUES_SCOPE) {
        l->locals[slot2] = item;
    }
    il_against_path *under = values_path(l->v, &item);
    if (under != NULL && l->npaths < IL_AGAINST_PATHS) {
        l->paths[l->npaths++] = under;
    }
}

static void values_calls(values_look *l, const il_cel_node *n, bool *sizes) {
    const il_str f = n->function != NULL ? n->function->name : n->name;
    *sizes = *sizes || il_str_eq(f, IL_STR("size"));
    l->parts = l->parts || n->function == NULL;
    l->v->out->stores = l->v->out->stores || il_str_eq(f, IL_STR("labelled")) || il_str_eq(f, IL_STR("shell.reads"));
    l->v->asks_typed = l->v->asks_typed || il_str_eq(f, IL_STR("vouched"));
    const il_cel_node *second = n->kids != NULL ? n->kids->next : NULL;
    il_arg_path path;
    il_kind kind;
    if (il_str_eq(f, IL_STR("ours")) && second != NULL && n->kids->op == IL_CEL_OP_LIT &&
        il_kind_find(il_cel_str(n->kids->lit), &kind) && values_argument(l, second, &path)) {
        values_kind(l->v, values_path(l->v, &path), kind);
    }
    if (il_str_eq(f, IL_STR("public")) && n->kids != NULL && values_argument(l, n->kids, &path)) {
        values_kind(l->v, values_path(l->v, &path), IL_KIND_REPO);
    }
    if ((il_str_eq(f, IL_STR("secret_path")) || il_str_eq(f, IL_STR("runs_later")) || il_str_eq(f, IL_STR("labelled"))) &&
        n->kids != NULL && values_argument(l, n->kids, &path)) {
        il_against_path *p = values_path(l->v, &path);
        values_text(l->v, p, IL_STR("~/.ssh/id_rsa"));
        values_text(l->v, p, IL_STR("~/.bashrc"));
        values_text(l->v, p, IL_STR("~/notes.txt"));
    }
}

/* Depth: IL_CEL_DEPTH. A macro's range comes before its body. */
static void values_walk(values_look *l, const il_cel_node *n, bool *sizes) {
    il_arg_path path;
    if (n->op == IL_CEL_OP_VAR) {
        l->agent = l->agent || n->slot == IL_CONDITION_AGENT;
        l->sources = l->sources || n->slot == IL_CONDITION_PROV || n->slot == IL_CONDITION_RUN;
        l->v->asks_typed = l->v->asks_typed || n->slot == IL_CONDITION_PROV;
    }
    if (n->op >= IL_CEL_OP_EXISTS && n->op <= IL_CEL_OP_TRANSFORM_ENTRY) {
        values_range(l, n->kids, n->slot, n->slot2);
    } else if (n->op == IL_CEL_OP_IN) {
        values_range(l, n->kids->next, UINT32_MAX, UINT32_MAX);
    } else if (n->op == IL_CEL_OP_CALL) {
        values_calls(l, n, sizes);
    } else if (n->op >= IL_CEL_OP_LT && n->op <= IL_CEL_OP_GE) {
        l->parts = true;
    } else if ((n->op == IL_CEL_OP_SELECT || n->op == IL_CEL_OP_INDEX || n->op == IL_CEL_OP_LOCAL) &&
               values_argument(l, n, &path) && path.n > 0 && l->npaths < IL_AGAINST_PATHS) {
        il_against_path *p = values_path(l->v, &path);
        if (p != NULL) {
            l->paths[l->npaths++] = p;
        }
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        values_walk(l, k, sizes);
    }
}

static void values_literals(values_look *l, const il_cel_node *n) {
    if (n->op == IL_CEL_OP_LIT) {
        values_literal(l, n->lit);
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        values_literals(l, k);
    }
}

/* What one comparison reads and what it compares it with. */
static void values_atom(values *v, const il_cel_node *n) {
    values_look l = {.v = v};
    bool sizes = false;
    const bool bare = n->op == IL_CEL_OP_SELECT || n->op == IL_CEL_OP_INDEX;
    values_walk(&l, n, &sizes);
    values_literals(&l, n);
    if (sizes) {
        values_sizes(&l);
    }
    for (uint32_t i = 0; i < l.npaths; i++) {
        for (uint32_t k = 0; k < l.nconstants; k++) {
            values_add(v, l.paths[i], l.constants[k]);
        }
        values_text(v, l.paths[i], IL_STR("x"));
        values_add(v, l.paths[i], il_json_boolean(values_arena(v), true));
        values_add(v, l.paths[i], bare ? il_json_boolean(values_arena(v), false) : NULL);
    }
}

/* Depth: IL_CEL_DEPTH. */
static void values_split(values *v, const il_cel_node *n) {
    if (n->op != IL_CEL_OP_AND && n->op != IL_CEL_OP_OR && n->op != IL_CEL_OP_NOT && n->op != IL_CEL_OP_COND) {
        values_atom(v, n);
        return;
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        values_split(v, k);
    }
}

static void values_condition(values *v, const il_condition *c) {
    if (c->program != NULL) {
        values_split(v, c->program->root);
    }
}

/* ---- entries ------------------------------------------------------------------------------------------------- */

static void values_statement(values *v, const il_arg_path *path, bool shell) {
    static const char *const commands[] = {
        "ls", "cat ~/.ssh/id_rsa", "cat ~/notes.txt", "curl https://unlisted.example/x", "make", "echo x > ~/x.txt", "$(x"};
    static const char *const statements[] = {"select * from ", "delete from ", "select from ("};
    il_against_path *p = path != NULL ? values_path(v, path) : NULL;
    for (size_t i = 0; p != NULL && shell && i < sizeof commands / sizeof commands[0]; i++) {
        values_text(v, p, il_str_of(commands[i]));
    }
    for (size_t i = 0; p != NULL && !shell && i < sizeof statements / sizeof statements[0]; i++) {
        const il_server *s = il_policy_server(v->a->p[v->side], v->t->server);
        values_text(v, p, values_made(v, statements[i], IL_STR("anything"), ""));
        for (uint32_t c = 0; s != NULL && c < IL_TABLES_CLASSES; c++) {
            for (uint32_t k = 0; k < s->tables[c].n; k++) {
                il_str table = s->tables[c].patterns[k];
                char made[128];
                size_t n = 0;
                for (size_t at = 0; at < table.n && n < sizeof made; at++) {
                    made[n++] = table.p[at] == '*' ? 'x' : table.p[at];
                }
                values_text(v, p, values_made(v, statements[i], (il_str){made, n}, ""));
            }
        }
    }
}

/* The parts of a template for each listed value, cut at what stands between them. */
static void values_template(values *v, const il_template *form, il_kind kind) {
    il_against_path whole = {0};
    values_kind(v, &whole, kind);
    for (uint32_t i = 0; i < whole.n; i++) {
        il_str rest = il_json_text(whole.values[i]);
        for (uint32_t k = 0; k < form->n; k++) {
            const il_template_part *part = &form->parts[k];
            if (part->path == NULL) {
                rest = il_str_starts(rest, part->literal) ? il_str_part(rest, part->literal.n, rest.n) : (il_str){0};
                continue;
            }
            const bool last = k + 1 == form->n || form->parts[k + 1].path != NULL;
            const size_t end = last ? rest.n : il_str_find(rest, form->parts[k + 1].literal, 0);
            if (end == SIZE_MAX) {
                break;
            }
            values_text(v, values_path(v, part->path), il_str_part(rest, 0, end));
            rest = il_str_part(rest, end, rest.n);
        }
    }
}

static void values_entry(values *v, const il_tool *t) {
    for (uint32_t i = 0; i < t->narguments; i++) {
        const il_argument *arg = &t->arguments[i];
        il_against_path *p = values_path(v, &arg->path);
        switch (arg->role) {
        case IL_ROLE_TO:
        case IL_ROLE_OBJECT:
        case IL_ROLE_STORE:
            values_kind(v, p, arg->kind);
            break;
        case IL_ROLE_READS:
        case IL_ROLE_LINE:
            values_text(v, p, IL_STR("x"));
            values_text(v, p, IL_STR("see https://unlisted.example/x"));
            values_kind(v, p, IL_KIND_EMAIL);
            values_kind(v, p, IL_KIND_URL);
            if (arg->role == IL_ROLE_LINE) {
                values_text(v, p, IL_STR("x\ny"));
            }
            break;
        case IL_ROLE_WITHIN:
            values_text(v, p, IL_STR("x"));
            values_text(v, p, IL_STR("../x"));
            break;
        case IL_ROLE_PLAIN:
        case IL_ROLE_PART:
            values_text(v, p, IL_STR("x"));
            break;
        }
    }
    for (uint32_t i = 0; i < t->nbuilt; i++) {
        values_template(v, &t->built[i].form, t->built[i].kind);
    }
    for (uint32_t i = 0; i < t->nkinds; i++) {
        values_template(v, &t->kinds[i].form, t->kinds[i].kind);
    }
    values_statement(v, t->sql, false);
    values_statement(v, t->shell, true);
    v->asks_typed =
        v->asks_typed || (t->effects & (uint32_t)IL_COMMIT) != 0 || (t->addressed && (t->effects & (uint32_t)IL_EGRESS) != 0);
    for (uint32_t i = 0; t->when != NULL && i < t->when->n; i++) {
        values_condition(v, &t->when->when[i].condition);
    }
}

/* All texts that are tried, between blanks. */
static void values_say(values *v) {
    for (uint32_t i = 0; i < v->out->n; i++) {
        for (uint32_t k = 0; k < v->out->paths[i].n; k++) {
            const il_json *value = v->out->paths[i].values[k];
            if (il_json_kind_of(value) == IL_JSON_STRING && il_json_text(value).n > 2 && il_json_text(value).n < 128) {
                il_buf_puts(&v->typed, v->out->ntexts++ == 0 ? "use " : " , ");
                il_buf_putc(&v->typed, '"');
                il_buf_put(&v->typed, il_json_text(value));
                il_buf_putc(&v->typed, '"');
            }
        }
    }
}

il_status il_against_values_of(il_against *a, const il_against_tool *t, il_against_values *out, il_error *err) {
    values v = {.a = a, .t = t, .out = out};
    *out = (il_against_values){0};
    il_buf_init(&v.typed, &a->scratch, (size_t)1 << 16);
    values_name(out->agents, &out->nagents, (il_str){0}, &out->cut);
    for (v.side = 0; v.side < 2; v.side++) {
        for (uint32_t i = 0; i < a->p[v.side]->agents.n; i++) {
            values_name(out->agents, &out->nagents, a->p[v.side]->agents.list[i].id, &out->cut);
        }
        for (uint32_t i = 0; i < t->n[v.side]; i++) {
            values_entry(&v, t->entries[v.side][i]);
        }
        for (uint32_t i = 0; i < t->nrules[v.side]; i++) {
            values_condition(&v, &t->rules[v.side][i]->when);
        }
    }
    /* what nobody declares ends vouching, and what carries nothing carries something */
    const il_str other = IL_STR("undeclared");
    il_str *step = IL_NEW(&a->scratch, il_str);
    if (step == NULL) {
        return il_arena_fail(&a->scratch, err);
    }
    *step = other;
    values_text(&v, values_path(&v, &(il_arg_path){.text = other, .n = 1, .steps = step}), IL_STR("x"));
    for (uint32_t i = 0; i < out->n; i++) { /* a list: none, and by its items one */
        if (out->paths[i].range) {
            values_add(&v, &out->paths[i], il_json_make(&a->scratch, IL_JSON_ARRAY));
        }
    }
    if (v.asks_typed) {
        values_say(&v);
    }
    if (a->scratch.capped) {
        return il_arena_fail(&a->scratch, err);
    }
    return il_buf_done(&v.typed, &out->typed, err);
}
