/* SPDX-License-Identifier: Apache-2.0 */
/* As C: a step without tables, to be compared with the compiled one cell by cell. A case for each action, its guards as written. */
#include "check/export_part.h"

static void c_place(il_buf *b, const char *array, uint32_t at) {
    il_buf_puts(b, array);
    il_buf_putu(b, at);
    il_buf_putc(b, ']');
}

static void c_line(il_buf *b, const char *before, uint64_t n, const char *after) {
    il_buf_puts(b, before);
    il_buf_putu(b, n);
    il_buf_puts(b, after);
}

static void c_term(il_buf *b, const il_term *t) {
    switch ((il_term_op)t->op) {
    case IL_TERM_CONST:
        il_buf_puti(b, t->value);
        return;
    case IL_TERM_PRE:
        c_place(b, "v[", t->at);
        return;
    case IL_TERM_CALL:
        c_place(b, "c[", t->at);
        return;
    case IL_TERM_NEXT:
        c_place(b, "n[", t->at);
        return;
    case IL_TERM_NOT:
        il_buf_puts(b, "!(");
        c_term(b, t->kid[0]);
        il_buf_putc(b, ')');
        return;
    case IL_TERM_IF:
    case IL_TERM_AND:
    case IL_TERM_OR:
    case IL_TERM_EQ:
    case IL_TERM_LT:
    case IL_TERM_LE:
    case IL_TERM_ADD:
    case IL_TERM_SUB:
    case IL_TERM_MUL:
        il_buf_putc(b, '(');
        c_term(b, t->kid[0]);
        il_buf_puts(b, t->op == IL_TERM_IF ? " ? " : il_term_sign((il_term_op)t->op));
        c_term(b, t->kid[1]);
        if (t->kid[2]) {
            il_buf_puts(b, " : ");
            c_term(b, t->kid[2]);
        }
        il_buf_putc(b, ')');
        return;
    }
}

static void c_if(il_buf *b, const char *before, const il_term *t, const char *after) {
    il_buf_puts(b, before);
    c_term(b, t);
    il_buf_puts(b, after);
}

static void c_updates(il_export *x, uint32_t action, const il_export_step *s, const char *indent) {
    const il_action_def *a = &x->m->actions[action];
    for (uint32_t u = 0; u < a->nupdates; u++) {
        uint32_t v = a->updates[u].var;
        il_buf_puts(x->out, indent);
        c_place(x->out, "n[", v);
        c_if(x->out, " = ", s->next[v], ";\n");
    }
}

static il_status c_action(il_export *x, uint32_t action) {
    const il_action_def *a = &x->m->actions[action];
    il_buf *b = x->out;
    il_export_step s = {0};
    IL_TRY(il_export_step_of(x, action, il_export_call(x, action, NULL), true, &s));
    il_buf_puts(b, "    case ");
    il_buf_putu(b, action);
    il_buf_puts(b, ": /* ");
    il_buf_put(b, a->name);
    il_buf_puts(b, " */\n");
    c_updates(x, action, &s, "        ");
    c_if(b, "        if (", s.fault, ") return 3;\n");
    for (uint32_t i = 0; i < a->nclauses; i++) {
        c_if(b, "        if (", s.clauses[i], ") return *reason = ");
        il_buf_putu(b, a->clauses[i].rule);
        il_buf_puts(b, ", 0;\n");
    }
    il_buf_puts(b, "        return 1;\n");
    return IL_OK;
}

static void c_naps(il_export *x) {
    const il_model *m = x->m;
    il_buf *b = x->out;
    for (uint32_t i = 0; i < m->nnaps; i++) {
        const uint32_t symbol = m->naps[i].symbol;
        const uint32_t action = m->symbol_action[symbol];
        c_line(b, "        if (!moved && due_", i, "(v)) {\n            memcpy(n, v, sizeof n);\n");
        c_line(b, "            if (take(", action, ", v, (const int[]){0");
        for (uint32_t f = 0; f < m->actions[action].nfields; f++) {
            il_buf_puts(b, f ? ", " : " + ");
            il_buf_puti(b, il_term_code(x, &m->actions[action].field_domains[f], il_model_field_value(m, symbol, f)));
        }
        il_buf_puts(b, "}, n, &r) != 1) return 3;\n            moved = memcmp(v, n, sizeof n) != 0;\n        }\n");
    }
}

static il_status c_dues(il_export *x) {
    const il_scope scope = {.action = UINT32_MAX};
    for (uint32_t i = 0; i < x->m->nnaps; i++) {
        const il_nap *nap = &x->m->naps[i];
        const il_term *value = NULL, *error = NULL;
        IL_TRY(il_export_guard(x, nap->when, &scope, nap->line, nap->col, &value, &error));
        il_buf_puts(x->out, "static int due_");
        il_buf_putu(x->out, i);
        c_if(x->out, "(const int *v) { (void)v; return ", il_term_or(x, value, error), "; }\n");
    }
    return IL_OK;
}

static void c_codes(il_export *x, const char *name, uint32_t a, uint32_t b, const il_domain *d) {
    il_buf_puts(x->out, "static const int ");
    il_buf_puts(x->out, name);
    il_buf_putu(x->out, a);
    if (b != UINT32_MAX) {
        il_buf_putc(x->out, '_');
        il_buf_putu(x->out, b);
    }
    il_buf_puts(x->out, "[] = {");
    for (uint32_t i = 0; i < d->size; i++) {
        il_buf_puts(x->out, i ? ", " : "");
        il_buf_puti(x->out, il_term_code(x, d, i));
    }
    il_buf_puts(x->out, "};\n");
}

/* From the packed state and back, from a symbol's number to its payload. */
static void c_frame(il_export *x) {
    const il_model *m = x->m;
    il_buf *b = x->out;
    il_buf_puts(b, "int machine_step(uint64_t state, uint32_t symbol, uint64_t *next, unsigned *reason) {\n"
                   "    uint64_t rest = state, place = 0;\n    int c[16] = {0}, verdict = 0, action = 0;\n");
    c_line(b, "    int v[", m->nvars, "]");
    c_line(b, ", n[", m->nvars, "];\n    *next = state;\n    *reason = 0;\n");
    for (uint32_t v = 0; v < m->nvars; v++) {
        c_line(b, "    place = rest & ", (UINT64_C(1) << m->vars[v].bits) - 1, ";\n");
        c_line(b, "    rest >>= ", m->vars[v].bits, ";\n");
        c_line(b, "    if (place >= ", m->vars[v].domain.size, ") return *reason = 255, 0;\n");
        c_line(b, "    v[", v, "] = ");
        c_line(b, "code_", v, "[place];\n");
    }
    il_buf_puts(b, "    if (rest) return *reason = 255, 0;\n");
    for (uint32_t a = 0; a < m->nactions; a++) {
        const il_action_def *def = &m->actions[a];
        c_line(b, a ? "    } else if (symbol < " : "    if (symbol < ", (uint64_t)def->first_symbol + def->nsymbols, ") {\n");
        c_line(b, "        action = ", a, ";\n");
        for (uint32_t f = 0; f < def->nfields; f++) {
            c_line(b, "        c[", f, "] = field_");
            c_line(b, "", a, "_");
            c_line(b, "", f, "[(symbol - ");
            c_line(b, "", def->first_symbol, ") / ");
            c_line(b, "", def->strides[f], " % ");
            c_line(b, "", def->field_domains[f].size, "];\n");
        }
    }
    il_buf_puts(b, "    } else return *reason = 254, 0;\n    memcpy(n, v, sizeof n);\n"
                   "    verdict = take(action, v, c, n, reason);\n    if (verdict != 1) return verdict;\n");
    if (m->nnaps > 0) {
        il_buf_puts(
            b, "    for (unsigned i = 0, r = 0, moved = 1; moved; i++) {\n        moved = 0;\n        memcpy(v, n, sizeof n);\n");
        c_naps(x);
        c_line(b, "        if (moved && i == ", m->nap_bound, ") return 3;\n    }\n");
    }
    il_buf_puts(b, "    *next = 0;\n");
    for (uint32_t v = 0; v < m->nvars; v++) {
        c_line(b, "    for (place = 0; code_", v, "[place] != n[");
        c_line(b, "", v, "]; place++) {}\n");
        c_line(b, "    *next |= place << ", m->vars[v].shift, ";\n");
    }
    il_buf_puts(b, "    return 1;\n}\n");
}

il_status il_export_c(il_export *x) {
    const il_model *m = x->m;
    il_buf *b = x->out;
    il_buf_puts(b, "/* Machine ");
    il_buf_put(b, m->name);
    il_buf_puts(b, ", from its guards: 1 accepted, 0 rejected, 3 a fault. */\n#include <stdint.h>\n#include <string.h>\n");
    for (uint32_t v = 0; v < m->nvars; v++) {
        c_codes(x, "code_", v, UINT32_MAX, &m->vars[v].domain);
    }
    for (uint32_t a = 0; a < m->nactions; a++) {
        for (uint32_t f = 0; f < m->actions[a].nfields; f++) {
            c_codes(x, "field_", a, f, &m->actions[a].field_domains[f]);
        }
    }
    il_buf_puts(b, "static int take(int action, const int *v, const int *c, int *n, unsigned *reason) {\n    (void)v, (void)c;\n"
                   "    switch (action) {\n");
    for (uint32_t a = 0; a < m->nactions; a++) {
        IL_TRY(c_action(x, a));
    }
    il_buf_puts(b, "    }\n    return 3;\n}\n");
    IL_TRY(c_dues(x));
    c_frame(x);
    return x->no_memory ? il_arena_fail(x->arena, x->err) : IL_OK;
}
