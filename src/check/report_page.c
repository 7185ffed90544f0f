/* SPDX-License-Identifier: Apache-2.0 */
#include "check/report_page_part.h"

enum {
    PAGE_ITEMS = 40,
    PAGE_DEPTH = 5,
    PAGE_COLUMNS = 8
}; /* of a list that no part of this file knows; how deep it is followed */

static void page_key_text(il_page *p, il_str key) {
    for (size_t i = 0; i < key.n; i++) {
        il_page_text(p, key.p[i] == '_' ? IL_STR(" ") : (il_str){key.p + i, 1});
    }
}

static void page_scalar(il_page *p, const il_json *v) {
    switch ((il_json_kind)v->kind) {
    case IL_JSON_NULL:
        il_page_word(p, "none");
        return;
    case IL_JSON_BOOL:
        il_page_word(p, il_json_bool(v) ? "yes" : "no");
        return;
    case IL_JSON_NUMBER:
    case IL_JSON_STRING:
        il_page_text(p, il_json_text(v));
        return;
    case IL_JSON_ARRAY:
    case IL_JSON_OBJECT:
        return;
    }
}

static bool page_flat(const il_json *v) { return v->kind != IL_JSON_ARRAY && v->kind != IL_JSON_OBJECT; }
static bool page_all_flat(const il_json *v) {
    for (const il_json *c = il_json_first(v); c; c = il_json_next(c)) {
        if (!page_flat(c)) {
            return false;
        }
    }
    return true;
}

/* `flight=true, untrusted=held`, in the order of their names. */
void il_page_values(il_page *p, const il_json *o) {
    const char *between = "";
    for (const il_json *c = il_json_first(o); c; c = il_json_next(c)) {
        il_page_word(p, between);
        il_page_text(p, c->key);
        if (!il_str_eq(il_json_text(c), IL_STR("true"))) {
            il_page_word(p, "=");
            il_page_text(p, il_json_text(c));
        }
        between = ", ";
    }
    if (!il_json_first(o)) {
        il_page_word(p, "nothing");
    }
}

static bool page_is_trace(const il_json *v) {
    const il_json *first = v && v->kind == IL_JSON_ARRAY ? il_json_first(v) : NULL;
    return first && first->kind == IL_JSON_OBJECT && page_get(first, "seq") && page_get(first, "held");
}

/* The cells of one object, in a row that has begun. */
static void page_cells(il_page *p, const il_json *o, const il_page_column *columns, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const il_json *v = page_get(o, columns[i].key);
        il_page_cell(p);
        if (columns[i].write) {
            columns[i].write(p, o, v);
        } else if (page_there(v)) {
            il_page_any(p, v, 1);
        }
        il_page_cell_end(p);
    }
}

void il_page_cells(il_page *p, const il_json *o, const il_page_column *columns, size_t n) {
    il_page_row(p);
    page_cells(p, o, columns, n);
    il_page_row_end(p);
}

void il_page_judged(il_page *p, const il_json *o, const il_json *v) {
    (void)o;
    if (page_there(v)) {
        il_page_verdict(p, il_json_text(v));
    }
}

static void page_held(il_page *p, const il_json *o, const il_json *v) {
    (void)o;
    il_page_values(p, v);
}

/* A step, or what an adversary writes. */
static void page_step(il_page *p, const il_json *o, const il_json *v) {
    (void)v;
    il_page_code(p, page_str(o, page_get(o, "write") ? "write" : "step"));
    if (page_get(o, "write")) {
        il_page_word(p, " is written: ");
        il_page_text(p, page_str(o, "value"));
    }
}

static void page_said(il_page *p, const il_json *o, const il_json *v) {
    (void)v;
    il_page_text(p, page_str(o, "verdict"));
    if (page_str(o, "reason").n > 0) {
        il_page_word(p, ": ");
        il_page_text(p, page_str(o, "reason"));
    }
}

/* A witness step by step: who does what, what the machine as it is says of it, what is gained, what is held before and after. */
static void page_trace(il_page *p, const il_json *trace) {
    static const char *const heads[] = {"step", "who", "what", "the machine says", "before", "changes", "after"};
    static const il_page_column first[] = {{.key = "seq"}, {.key = "principal"}, {"step", page_step}, {"verdict", page_said}};
    static const il_page_column last[] = {{"gained", page_held}, {"held", page_held}};
    const il_json *before = NULL;
    il_page_table(p, heads, sizeof heads / sizeof heads[0]);
    for (const il_json *s = il_json_first(trace); s; s = il_json_next(s)) {
        il_page_row(p);
        page_cells(p, s, first, sizeof first / sizeof first[0]);
        il_page_cell(p);
        if (before || page_get(s, "before")) {
            il_page_values(p, before ? before : page_get(s, "before"));
        } else {
            il_page_word(p, "nothing");
        }
        il_page_cell_end(p);
        page_cells(p, s, last, sizeof last / sizeof last[0]);
        il_page_row_end(p);
        before = page_get(s, "held");
    }
    il_page_table_end(p);
}

/* Anything: what is flat in one line, lists of flat things in one line, the rest as nested lists. */
void il_page_any(il_page *p, const il_json *v, uint32_t depth) {
    if (page_flat(v)) {
        page_scalar(p, v);
        return;
    }
    if (depth == 0) {
        il_page_word(p, "(in the JSON report)");
        return;
    }
    if (v->kind == IL_JSON_ARRAY && page_all_flat(v)) {
        uint32_t n = 0;
        for (const il_json *c = il_json_first(v); c && n < PAGE_ITEMS; c = il_json_next(c), n++) {
            il_page_word(p, n ? ", " : "");
            page_scalar(p, c);
        }
        if (n < il_json_count(v)) {
            il_page_word(p, ", and more");
        } else if (n == 0) {
            il_page_word(p, "none");
        }
        return;
    }
    if (page_is_trace(v)) {
        uint32_t n = 0;
        for (const il_json *s = il_json_first(v); s; s = il_json_next(s), n++) {
            il_page_word(p, n ? "; " : "");
            il_page_code(p, page_str(s, page_get(s, "write") ? "write" : "step"));
        }
        return;
    }
    uint32_t n = 0;
    il_page_list(p, v->kind == IL_JSON_ARRAY);
    for (const il_json *c = il_json_first(v); c && n < PAGE_ITEMS; c = il_json_next(c), n++) {
        il_page_item(p);
        if (v->kind == IL_JSON_OBJECT) {
            page_key_text(p, c->key);
            il_page_word(p, ": ");
        }
        il_page_any(p, c, depth - 1);
        il_page_item_end(p);
    }
    if (n < il_json_count(v)) {
        il_page_item(p);
        il_page_word(p, "and more, in the JSON report");
        il_page_item_end(p);
    }
    il_page_list_end(p);
}

/* What fits in one cell. */
static bool page_inline(const il_json *v) {
    return page_flat(v) || (v->kind == IL_JSON_ARRAY && (page_all_flat(v) || page_is_trace(v)));
}

/* Objects of the same keys, each of whose values fits in a cell. */
static bool page_uniform(const il_json *v) {
    const il_json *first = v->kind == IL_JSON_ARRAY ? il_json_first(v) : NULL;
    if (!first || first->kind != IL_JSON_OBJECT || page_is_trace(v) || il_json_count(first) > PAGE_COLUMNS) {
        return false;
    }
    for (const il_json *c = first; c; c = il_json_next(c)) {
        bool same = c->kind == IL_JSON_OBJECT && il_json_count(c) == il_json_count(first);
        for (const il_json *k = il_json_first(first); same && k; k = il_json_next(k)) {
            const il_json *value = il_json_get(c, k->key);
            same = value && page_inline(value);
        }
        if (!same) {
            return false;
        }
    }
    return true;
}

static void page_rows(il_page *p, const il_json *v, il_arena *arena) {
    const char *heads[PAGE_COLUMNS] = {NULL};
    size_t n = 0;
    for (const il_json *k = il_json_first(il_json_first(v)); k; k = il_json_next(k)) {
        char *head = il_arena_get(arena, k->key.n + 1);
        for (size_t i = 0; head && i < k->key.n; i++) {
            head[i] = k->key.p[i] == '_' ? ' ' : k->key.p[i];
        }
        if (!head) {
            il_buf_fail(p->b, IL_E_MEMORY);
        }
        heads[n++] = head ? head : "";
    }
    il_page_table(p, heads, n);
    for (const il_json *c = il_json_first(v); c; c = il_json_next(c)) {
        il_page_row(p);
        for (const il_json *k = il_json_first(il_json_first(v)); k; k = il_json_next(k)) {
            il_page_cell(p);
            il_page_any(p, il_json_get(c, k->key), 1);
            il_page_cell_end(p);
        }
        il_page_row_end(p);
    }
    il_page_table_end(p);
}

static void page_top(il_page *p, const il_json *o) {
    const il_json *table = page_get(o, "table");
    il_page_open(p);
    il_page_verdict(p, page_str(o, "verdict"));
    il_page_word(p, ": ");
    il_page_text(p, page_str(table, "states"));
    il_page_word(p, " states, ");
    il_page_text(p, page_str(table, "edges"));
    il_page_word(p, " accepted steps, ");
    il_page_text(p, page_str(table, "symbols"));
    il_page_word(p, " symbols. Exit code ");
    il_page_text(p, page_str(o, "exit"));
    il_page_word(p, ".");
    il_page_close(p);
    il_page_open(p);
    il_page_word(p, "Interlock ");
    il_page_text(p, page_str(o, "version"));
    il_page_word(p, ". Machine ");
    il_page_code(p, page_str(page_get(o, "inputs"), "machine"));
    il_page_word(p, ", table ");
    il_page_code(p, page_str(table, "sha256").n ? page_str(table, "sha256") : IL_STR("none"));
    il_page_word(p, ", certificate ");
    const il_json *certificate = page_get(o, "certificate");
    il_page_code(p, page_there(certificate) ? page_str(certificate, "sha256") : IL_STR("none"));
    il_page_word(p, ".");
    il_page_close(p);
}

/* What a verdict is about. */
static void page_asked(il_page *p, const il_json *object, il_arena *arena) {
    static const char *const parts[] = {"regions", "variables"};
    il_page_heading(p, 2, IL_STR("What was asked"));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const il_json *list = page_get(object, parts[i]);
        if (list && page_uniform(list)) {
            page_rows(p, list, arena);
        }
    }
}

static void page_checks(il_page *p, const il_json *checks) {
    static const char *const heads[] = {"verdict", "check", "region", "states", "edges", "finding", "about"};
    static const il_page_column keys[] = {
        {"verdict", il_page_judged}, {.key = "id"},    {.key = "region"}, {.key = "states"}, {.key = "edges"},
        {.key = "finding"},          {.key = "detail"}};
    il_page_heading(p, 2, IL_STR("Checks"));
    il_page_table(p, heads, sizeof heads / sizeof heads[0]);
    for (const il_json *c = il_json_first(checks); c; c = il_json_next(c)) {
        il_page_cells(p, c, keys, sizeof keys / sizeof keys[0]);
    }
    il_page_table_end(p);
    bool any = false;
    for (const il_json *c = il_json_first(checks); c; c = il_json_next(c)) {
        const il_json *witness = page_get(c, "witness");
        if (!page_there(witness)) {
            continue;
        }
        if (!any) {
            il_page_heading(p, 2, IL_STR("Witnesses"));
        }
        any = true;
        il_page_heading(p, 3, page_str(c, "id"));
        il_page_open(p);
        bool fails = il_str_eq(page_str(c, "verdict"), IL_STR("FAIL"));
        il_page_word(p, fails ? "The shortest way to what must not be" : "A shortest way, as it must be");
        if (page_str(c, "region").n > 0) {
            il_page_word(p, ", region ");
            il_page_code(p, page_str(c, "region"));
        }
        il_page_word(p, il_json_count(witness) == 0 ? ": the initial state itself." : ":");
        il_page_close(p);
        if (il_json_count(witness) > 0) {
            page_trace(p, witness);
        }
    }
}

static void page_opens(il_page *p, const il_json *guard, const il_json *opens) {
    const char *between = "";
    (void)guard;
    for (const il_json *o = il_json_first(opens); o; o = il_json_next(o)) {
        il_page_word(p, between);
        il_page_text(p, page_str(o, "what"));
        if (page_str(o, "region").n > 0) {
            il_page_word(p, " of ");
            il_page_text(p, page_str(o, "region"));
        }
        il_page_word(p, ": ");
        il_page_any(p, page_get(o, "witness"), 1);
        between = ". ";
    }
}

static void page_guards(il_page *p, const il_json *guards) {
    static const char *const heads[] = {"action", "clause", "rule", "what its absence opens"};
    static const il_page_column keys[] = {{.key = "action"}, {.key = "clause"}, {.key = "rule"}, {"opens", page_opens}};
    il_page_heading(p, 2, IL_STR("Each reject clause left out"));
    il_page_table(p, heads, sizeof heads / sizeof heads[0]);
    for (const il_json *g = il_json_first(guards); g; g = il_json_next(g)) {
        il_page_cells(p, g, keys, sizeof keys / sizeof keys[0]);
    }
    il_page_table_end(p);
}

static void page_controls(il_page *p, const il_json *controls) {
    static const char *const heads[] = {"planted fault", "outcome"};
    static const il_page_column keys[] = {{.key = "what"}, {.key = "state"}};
    il_page_heading(p, 2, IL_STR("Negative controls"));
    il_page_table(p, heads, 2);
    for (const il_json *c = il_json_first(controls); c; c = il_json_next(c)) {
        il_page_cells(p, c, keys, 2);
    }
    il_page_table_end(p);
}

static void page_mutation(il_page *p, const il_json *m) {
    static const char *const heads[] = {"operator", "there are", "looked at", "distinct", "killed", "survived"};
    static const il_page_column keys[] = {{.key = "operator"}, {.key = "population"}, {.key = "judged"},
                                          {.key = "distinct"}, {.key = "killed"},     {.key = "survived"}};
    il_page_heading(p, 2, IL_STR("Mutation adequacy"));
    il_page_open(p);
    il_page_text(p, page_str(m, "killed"));
    il_page_word(p, " of ");
    il_page_text(p, page_str(m, "distinct"));
    il_page_word(p, " machines with one mistake are told from this one");
    if (il_str_eq(page_str(m, "score"), IL_STR("sampled"))) {
        il_page_word(p, "; a sample, ");
        il_page_text(p, page_str(m, "dropped"));
        il_page_word(p, " more were not looked at");
    }
    il_page_word(p, ".");
    il_page_close(p);
    il_page_table(p, heads, sizeof heads / sizeof heads[0]);
    for (const il_json *o = il_json_first(page_get(m, "operators")); o; o = il_json_next(o)) {
        il_page_cells(p, o, keys, sizeof keys / sizeof keys[0]);
    }
    il_page_table_end(p);
    il_page_heading(p, 3, IL_STR("Survivors"));
    il_page_list(p, false);
    for (const il_json *c = il_json_first(page_get(m, "survivors")); c; c = il_json_next(c)) {
        il_page_item(p);
        il_page_text(p, page_str(c, "survived"));
        il_page_word(p, ", ");
        il_page_strong(p, page_str(c, "class"));
        il_page_word(p, ": ");
        il_page_text(p, page_str(c, "why"));
        il_page_list(p, false);
        for (const il_json *e = il_json_first(page_get(c, "examples")); e; e = il_json_next(e)) {
            const il_json *was = page_get(e, "machine_says"), *is = page_get(e, "mutant_says");
            il_page_item(p);
            il_page_text(p, page_str(e, "operator"));
            il_page_word(p, ", ");
            il_page_code(p, page_str(e, "step"));
            il_page_word(p, " holding ");
            il_page_values(p, page_get(e, "state"));
            il_page_word(p, ": the machine says ");
            il_page_text(p, page_str(was, "verdict"));
            il_page_word(p, page_str(was, "reason").n ? " " : "");
            il_page_text(p, page_str(was, "reason"));
            il_page_word(p, " (then ");
            il_page_values(p, page_get(was, "held"));
            il_page_word(p, "), the mutant ");
            il_page_text(p, page_str(is, "verdict"));
            il_page_word(p, page_str(is, "reason").n ? " " : "");
            il_page_text(p, page_str(is, "reason"));
            il_page_word(p, " (then ");
            il_page_values(p, page_get(is, "held"));
            il_page_word(p, ")");
            il_page_item_end(p);
        }
        il_page_list_end(p);
        il_page_item_end(p);
    }
    il_page_list_end(p);
}

static void page_drawing(il_page *p, const il_json *drawing) {
    if (p->form != IL_PAGE_HTML || !page_there(drawing)) {
        return;
    }
    il_page_heading(p, 2, IL_STR("The machine"));
    il_buf_puts(p->b, "<figure>\n");
    il_drawing_svg(drawing, p->b);
    il_buf_puts(p->b, "<figcaption>");
    il_page_word(p, "From left to right by how much is held. ");
    il_page_text(p, page_str(drawing, "states"));
    il_page_word(p,
                 il_json_bool(page_get(drawing, "grouped")) ? " states, taken together by what they hold of: " : " states, by: ");
    il_page_any(p, page_get(drawing, "variables"), 1);
    il_page_word(p,
                 ". A heavy frame is the start; a dashed one is inside a forbidden region. An arrow's title names its actions.");
    il_buf_puts(p->b, "</figcaption>\n</figure>\n");
}

/* Those that have sentences of their own. */
static void page_sections(il_page *p, const il_json *object) {
    static const struct {
        const char *key;
        void (*say)(il_page *p, const il_json *section);
    } rows[] = {{"recovery", il_page_recovery},   {"sticky", il_page_sticky},        {"survey", il_page_survey},
                {"bounds", il_page_bounds},       {"sessions", il_page_sessions},    {"mislabel", il_page_mislabel},
                {"diagnosis", il_page_diagnosis}, {"confirmers", il_page_confirmers}};
    il_page_lists(p, object);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (page_there(page_get(object, rows[i].key))) {
            rows[i].say(p, page_get(object, rows[i].key));
        }
    }
}

/* What has a place of its own above, or is in the opening lines. */
static bool page_known(il_str key) {
    static const char *const known[] = {
        "schema",     "tool",      "version",    "machine",   "inputs",   "table",       "verdict",         "exit",
        "checks",     "guards",    "controls",   "mutation",  "drawing",  "certificate", "not_established", "fully_mediated",
        "regions",    "variables", "confirmers", "diagnosis", "bounds",   "frozen",      "never_fired",     "idle_gates",
        "unmediated", "recovery",  "sticky",     "survey",    "sessions", "mislabel"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (il_str_eq(key, il_str_of(known[i]))) {
            return true;
        }
    }
    return false;
}

static il_json *const *page_sorted(const il_json *object, il_arena *arena, size_t *n) {
    *n = 0;
    il_json **keys = IL_NEW_ARRAY(arena, il_json *, il_json_count(object) + 1);
    for (il_json *c = object->first; keys && c; c = c->next) {
        size_t at = (*n)++;
        for (; at > 0 && il_str_cmp(c->key, keys[at - 1]->key) < 0; at--) {
            keys[at] = keys[at - 1];
        }
        keys[at] = c;
    }
    return keys;
}

il_status il_report_page(const il_json *object, il_page_form form, il_arena *arena, il_str *out, il_error *err) {
    il_buf b;
    il_page p;
    size_t n = 0;
    il_json *const *keys = page_sorted(object, arena, &n);
    if (!keys) {
        return il_arena_fail(arena, err);
    }
    il_buf_init(&b, arena, (size_t)64 << 20);
    il_buf title;
    il_str name = {0};
    il_buf_init(&title, arena, 4096);
    il_buf_puts(&title, "Security report: ");
    il_buf_put(&title, page_str(object, "machine"));
    IL_TRY(il_buf_done(&title, &name, err));
    il_page_begin(&p, &b, form, name);
    page_top(&p, object);
    page_drawing(&p, page_get(object, "drawing"));
    page_asked(&p, object, arena);
    page_checks(&p, page_get(object, "checks"));
    page_guards(&p, page_get(object, "guards"));
    for (size_t i = 0; i < n; i++) {
        if (!page_known(keys[i]->key) && keys[i]->kind != IL_JSON_NULL && (page_flat(keys[i]) || il_json_count(keys[i]) > 0)) {
            char first[2] = {
                (char)(keys[i]->key.p[0] >= 'a' && keys[i]->key.p[0] <= 'z' ? keys[i]->key.p[0] - 32 : keys[i]->key.p[0]), 0};
            il_buf head;
            il_str text = {0};
            il_buf_init(&head, arena, 4096);
            il_buf_puts(&head, first);
            for (size_t k = 1; k < keys[i]->key.n; k++) {
                il_buf_putc(&head, keys[i]->key.p[k] == '_' ? ' ' : keys[i]->key.p[k]);
            }
            IL_TRY(il_buf_done(&head, &text, err));
            il_page_heading(&p, 2, text);
            bool block = !page_flat(keys[i]) && !(keys[i]->kind == IL_JSON_ARRAY && page_all_flat(keys[i]));
            if (page_uniform(keys[i])) {
                page_rows(&p, keys[i], arena);
                continue;
            }
            if (!block) {
                il_page_open(&p);
            }
            il_page_any(&p, keys[i], PAGE_DEPTH);
            if (!block) {
                il_page_close(&p);
            }
        }
    }
    page_sections(&p, object);
    if (page_there(page_get(object, "mutation"))) {
        page_mutation(&p, page_get(object, "mutation"));
    }
    page_controls(&p, page_get(object, "controls"));
    il_page_heading(&p, 2, IL_STR("Not established"));
    il_page_list(&p, false);
    for (const il_json *c = il_json_first(page_get(object, "not_established")); c; c = il_json_next(c)) {
        il_page_item(&p);
        page_scalar(&p, c);
        il_page_item_end(&p);
    }
    il_page_list_end(&p);
    il_page_end(&p);
    return il_buf_done(&b, out, err);
}
