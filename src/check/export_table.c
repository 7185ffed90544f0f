/* SPDX-License-Identifier: Apache-2.0 */
/* A guard that has no term is asked for each of its arguments: it reads few variables, of few values. */
#include "cel/cel.h"
#include "check/export_part.h"

#define TABLE_ROWS_MAX 4096u
#define TABLE_ARGUMENTS_MAX 16u

typedef struct table_argument {
    size_t record, field; /* pre, call or next; place in it */
    const il_term *term;
    uint32_t n;
    il_cel_value *values;
    int64_t *codes;
} table_argument;

typedef struct table_maker {
    il_export *x;
    const il_scope *scope;
    table_argument args[TABLE_ARGUMENTS_MAX];
    uint32_t nargs;
    bool whole; /* reads a whole record, or too many fields */
    bool large; /* comes to a number that other tools do not hold */
} table_maker;

static void table_visit(void *ctx, size_t var, size_t field) {
    table_maker *t = ctx;
    if (var == 3 || (var == 2 && t->scope->reason > 0)) {
        return; /* the action's name, the reason: one value */
    }
    for (uint32_t i = 0; i < t->nargs; i++) {
        if (t->args[i].record == var && t->args[i].field == field) {
            return;
        }
    }
    if (field == SIZE_MAX || t->nargs == TABLE_ARGUMENTS_MAX) {
        t->whole = true;
        return;
    }
    t->args[t->nargs++] = (table_argument){.record = var, .field = field};
}

/* The values that an argument can have: one, those of its domain, or all numbers that an update can come to. */
static bool table_values(table_maker *t, table_argument *a) {
    const il_model *m = t->x->m;
    const il_domain *d = a->record == 1 ? &m->actions[t->scope->action].field_domains[a->field] : &m->vars[a->field].domain;
    a->term = a->record == 0   ? il_term_leaf(t->x, IL_TERM_PRE, (uint32_t)a->field, d)
              : a->record == 1 ? t->scope->call[a->field]
                               : t->scope->next[a->field];
    bool numbers = d->kind == IL_DOMAIN_INT;
    if (numbers && a->term->hi - a->term->lo >= TABLE_ROWS_MAX) {
        return false;
    }
    uint32_t size = numbers ? (uint32_t)(a->term->hi - a->term->lo + 1) : d->size;
    a->values = IL_NEW_ARRAY(t->x->arena, il_cel_value, size);
    a->codes = IL_NEW_ARRAY(t->x->arena, int64_t, size);
    if (!a->values || !a->codes) {
        t->x->no_memory = true;
        return false;
    }
    for (uint32_t i = 0; i < size; i++) {
        int64_t code = numbers ? a->term->lo + i : il_term_code(t->x, d, i);
        if (a->term->op != IL_TERM_CONST || a->term->value == code) {
            a->values[a->n] = numbers ? il_cel_of_int(code) : d->values[i];
            a->codes[a->n++] = code;
        }
    }
    return a->n > 0;
}

static il_cel_value table_ask(const table_maker *t, const il_cel_program *p, const uint32_t *at) {
    il_cel_value fields[3][IL_MODEL_VARS_MAX > IL_MODEL_FIELDS_MAX ? IL_MODEL_VARS_MAX : IL_MODEL_FIELDS_MAX] = {0};
    const il_model *m = t->x->m;
    const uint32_t sizes[3] = {m->nvars, t->scope->call ? m->actions[t->scope->action].nfields : 0, m->nvars};
    il_cel_value vars[4];
    for (uint32_t i = 0; i < t->nargs; i++) {
        fields[t->args[i].record][t->args[i].field] = t->args[i].values[at[i]];
    }
    for (uint32_t r = 0; r < 3; r++) {
        vars[r] = il_cel_of_items(IL_CEL_RECORD, fields[r], sizes[r]);
    }
    vars[3] = t->scope->call ? il_cel_of_str(m->actions[t->scope->action].name) : il_cel_of_fault(IL_CEL_UNSET);
    if (t->scope->reason > 0) {
        vars[2] = il_cel_of_str(m->rules[t->scope->reason - 1].name);
    }
    return il_cel_eval(p, vars, NULL);
}

static const il_term *table_row(table_maker *t, const uint32_t *at) {
    const il_term *all = il_term_truth(t->x, true);
    for (uint32_t i = 0; i < t->nargs; i++) {
        const il_term *code = il_term_const(t->x, (il_term_kind)t->args[i].term->kind, t->args[i].codes[at[i]]);
        all = il_term_and(t->x, all, il_term_compare(t->x, IL_TERM_EQ, t->args[i].term, code));
    }
    return all;
}

static const il_term *table_value(table_maker *t, il_cel_value v) {
    il_export *x = t->x;
    if (v.kind == IL_CEL_BOOL) {
        return il_term_truth(x, v.u.b);
    }
    if (v.kind == IL_CEL_INT) {
        t->large = t->large || !il_export_holds(v.u.i);
        return il_term_const(x, IL_TERM_NUMBER, v.u.i);
    }
    int64_t word = v.kind == IL_CEL_STRING ? il_export_word(x, il_cel_str(v)) : -1;
    return word >= 0 ? il_term_const(x, IL_TERM_WORD, word) : NULL; /* a text that is no word is in no domain: as an error */
}

static void table_fill(table_maker *t, const il_cel_program *p, const il_term **value, const il_term **error) {
    uint32_t at[TABLE_ARGUMENTS_MAX] = {0};
    *value = NULL;
    *error = il_term_truth(t->x, false);
    for (uint32_t i = 0; i <= t->nargs && !t->x->no_memory;) {
        const il_term *one = table_value(t, table_ask(t, p, at));
        const il_term *row = table_row(t, at);
        if (!one) {
            *error = il_term_or(t->x, *error, row);
        } else {
            *value = *value ? il_term_if(t->x, row, one, *value) : one;
        }
        for (i = 0; i < t->nargs && ++at[i] == t->args[i].n; i++) {
            at[i] = 0;
        }
        if (i == t->nargs) {
            break;
        }
    }
}

il_status il_export_table(il_export *x, const il_cel_program *p, const il_scope *scope, uint32_t line, uint32_t col,
                          const il_term **value, const il_term **error) {
    table_maker t = {.x = x, .scope = scope};
    uint64_t rows = 1;
    il_cel_reads(p, table_visit, &t);
    for (uint32_t i = 0; i < t.nargs && !t.whole && rows <= TABLE_ROWS_MAX; i++) {
        rows = table_values(&t, &t.args[i]) ? rows * t.args[i].n : TABLE_ROWS_MAX + 1;
    }
    if (x->no_memory) {
        return il_arena_fail(x->arena, x->err);
    }
    if (t.whole || rows > TABLE_ROWS_MAX) {
        return il_error_at(x->err, IL_E_LIMIT, line, col, 0,
                           "this expression cannot be exported: it uses more of the language than other tools have, and reads "
                           "more than %u combinations of values; write it with `&&`, `||`, `!`, `?:`, comparisons, `in` and sums",
                           (unsigned)TABLE_ROWS_MAX);
    }
    x->tables++;
    table_fill(&t, p, value, error);
    if (t.large) {
        return il_error_at(
            x->err, IL_E_LIMIT, line, col, 0,
            "this expression cannot be exported: it can come to a number of 2^30 or more, and other tools count in 32 bits");
    }
    if (!*value) {
        *value = il_term_truth(x, false); /* it errs everywhere */
    }
    return x->no_memory ? il_arena_fail(x->arena, x->err) : IL_OK;
}
