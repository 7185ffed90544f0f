/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling a pattern, and the quickest way to search for it. */
#include "cel/regex.h"

#include "cel/regex_part.h"

enum {
    REGEX_TMP_BYTES = 32 << 20, /* what compiling may need in between */
    REGEX_WORK = 1 << 26,       /* the work of a pattern, table aside: about a tenth of a second */
    REGEX_WEIGHT = 4,           /* steps of 64 bytes of text by table or literal */
};

/* The bytes that every match begins with, and what is behind them. */
static uint32_t regex_literal(const il_regex_program *g, uint32_t from, char *bytes, size_t most, size_t *n) {
    for (*n = 0; *n < most && g->code[from].op == IL_REGEX_OP_BYTE && g->code[from].lo == g->code[from].hi; ++*n) {
        bytes[*n] = (char)g->code[from].lo;
        from = g->code[from].out;
    }
    return from;
}

static bool regex_asserts(const il_regex_program *g, uint32_t at, il_regex_assertion assertion) {
    return g->code[at].op == IL_REGEX_OP_ASSERT && g->code[at].lo == assertion;
}

/* Chooses how to search, as far as a look at the program's beginning tells. */
static il_status regex_shape(il_arena *arena, il_arena *tmp, il_regex *re, il_error *err) {
    const il_regex_program *g = &re->program;
    uint32_t at = g->start;
    size_t n = 0;
    char *bytes = il_arena_bytes(tmp, g->n);
    if (bytes == NULL) {
        return il_regex_no_memory(tmp, err);
    }
    re->anchored = regex_asserts(g, at, IL_REGEX_BEGIN_TEXT);
    at = re->anchored ? g->code[at].out : at;
    at = regex_literal(g, at, bytes, g->n, &n);
    if (at == IL_REGEX_MATCH_AT) {
        re->how = re->anchored ? IL_REGEX_STARTS : n == 0 ? IL_REGEX_ALWAYS : IL_REGEX_CONTAINS;
    } else if (regex_asserts(g, at, IL_REGEX_END_TEXT) && g->code[at].out == IL_REGEX_MATCH_AT) {
        re->how = re->anchored ? IL_REGEX_EQUALS : IL_REGEX_ENDS;
    }
    return il_arena_copy(arena, (il_str){bytes, n}, &re->prefix, err);
}

static uint32_t regex_row(const il_regex_table *t, uint32_t row, il_str text) {
    for (size_t i = 0; i < text.n; i++) {
        row = t->next[row + t->column[(unsigned char)text.p[i]]];
    }
    return row;
}

static il_status regex_keep_program(il_arena *arena, il_regex_program *g, il_error *err) {
    il_regex_instruction *code = il_arena_raw(arena, g->n * sizeof *code);
    il_regex_arc *arcs = code != NULL ? il_arena_raw(arena, g->narcs * sizeof *arcs) : NULL;
    if (arcs == NULL) {
        return il_regex_no_memory(arena, err);
    }
    memcpy(code, g->code, g->n * sizeof *code);
    if (g->narcs > 0) {
        memcpy(arcs, g->arcs, g->narcs * sizeof *arcs);
    }
    g->code = code;
    g->arcs = arcs;
    return IL_OK;
}

/* With `once` the table is left out: it pays when there are several searches. */
static il_status regex_build(il_arena *arena, il_arena *tmp, il_str pattern, bool once, uint64_t *left, il_regex *re,
                             il_error *err) {
    il_regex_node *tree = NULL;
    il_regex_table *table = NULL;
    IL_TRY(il_regex_parse(tmp, pattern, left, &tree, err));
    IL_TRY(il_regex_program_write(tmp, tree, left, &re->program, err));
    IL_TRY(regex_keep_program(arena, &re->program, err));
    IL_TRY(regex_shape(arena, tmp, re, err));
    re->weight = REGEX_WEIGHT;
    if (re->how == IL_REGEX_BY_SETS) {
        if (!once) {
            IL_TRY(il_regex_table_make(arena, tmp, &re->program, &table, err));
        }
        if (table != NULL) {
            re->how = IL_REGEX_BY_TABLE;
            re->table = table;
            re->after = (uint16_t)regex_row(table, table->start, re->prefix);
        } else { /* 80 and not 64: the start and the end of the text cost as a byte does */
            re->weight = (uint32_t)((uint64_t)80 * il_regex_set_cost(&re->program) / IL_REGEX_VISITS) + REGEX_WEIGHT;
        }
    }
    return IL_OK;
}

static il_status regex_compile(il_arena *arena, il_str pattern, bool once, uint64_t *left, il_regex **out, il_error *err) {
    il_arena tmp;
    il_regex *re = IL_NEW(arena, il_regex);
    *out = NULL;
    if (re == NULL) {
        return il_regex_no_memory(arena, err);
    }
    il_arena_init(&tmp, arena->alloc, REGEX_TMP_BYTES);
    il_status status = regex_build(arena, &tmp, pattern, once, left, re, err);
    if (status == IL_E_LIMIT && tmp.capped) {
        status = il_error_at(err, IL_E_LIMIT, 1, 1, 0,
                             "compiling the pattern needs more than %d bytes of memory; use fewer classes", (int)REGEX_TMP_BYTES);
    }
    il_arena_free(&tmp);
    *out = status == IL_OK ? re : NULL;
    return status;
}

il_status il_regex_compile(il_arena *arena, il_str pattern, il_regex **out, il_error *err) {
    uint64_t left = REGEX_WORK;
    return regex_compile(arena, pattern, false, &left, out, err);
}

il_status il_regex_compile_once(il_arena *arena, il_str pattern, int64_t *steps, il_regex **out, il_error *err) {
    const uint64_t allowed = il_regex_allowed(steps, REGEX_WORK);
    uint64_t left = allowed;
    const il_status status = regex_compile(arena, pattern, true, &left, out, err);
    il_regex_pay(steps, allowed - left);
    return status;
}

uint32_t il_regex_weight(const il_regex *re) { return re->weight; }

static int regex_by_table(const il_regex *re, il_str text, size_t i, uint32_t row) {
    const il_regex_table *t = re->table;
    const uint16_t *next = t->next;
    const uint32_t width = t->columns + 1, matched = width, idle = t->idle;
    const unsigned char *p = (const unsigned char *)text.p;
    const uint32_t special = idle != 0 ? idle : matched; /* rows up to it are looked at */
    for (; i < text.n; i++) {
        if (row <= special) {
            if (row <= matched) {
                return row == matched;
            }
            if (re->prefix.n > 0) { /* nothing begun: to where something can begin */
                i = il_str_find(text, re->prefix, i);
                if (i == SIZE_MAX) {
                    return 0;
                }
                i += re->prefix.n - 1;
                row = re->after;
                continue;
            }
            while (i < text.n && next[idle + t->column[p[i]]] == idle) {
                i++;
            }
            if (i == text.n) {
                break;
            }
        }
        row = next[row + t->column[p[i]]];
    }
    return next[row + t->columns] == matched;
}

static int regex_search_part(const il_regex *re, il_str text, int64_t *steps) {
    const bool starts = il_str_starts(text, re->prefix);
    switch (re->how) {
    case IL_REGEX_ALWAYS:
        return 1;
    case IL_REGEX_EQUALS:
        return il_str_eq(text, re->prefix);
    case IL_REGEX_STARTS:
        return starts;
    case IL_REGEX_ENDS:
        return il_str_ends(text, re->prefix);
    case IL_REGEX_CONTAINS:
        return il_str_find(text, re->prefix, 0) != SIZE_MAX;
    case IL_REGEX_BY_TABLE:
        if (re->anchored) {
            return starts ? regex_by_table(re, text, re->prefix.n, re->after) : 0;
        }
        return regex_by_table(re, text, 0, re->table->start);
    case IL_REGEX_BY_SETS:
        if (re->anchored ? !starts : il_str_find(text, re->prefix, 0) == SIZE_MAX) {
            return 0;
        }
        return il_regex_search_sets(re, text, steps);
    }
    return IL_REGEX_SPENT;
}

int il_regex_search(const il_regex *re, il_str text, int64_t *steps) {
    const uint64_t cost = REGEX_WEIGHT * ((uint64_t)text.n / 64 + 1);
    if (steps != NULL) { /* before the work: nothing is done that is not paid */
        if (*steps < 0 || (uint64_t)*steps < cost) {
            *steps = 0;
            return IL_REGEX_SPENT;
        }
        *steps -= (int64_t)cost;
    }
    return regex_search_part(re, text, steps);
}
