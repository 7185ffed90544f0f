/* SPDX-License-Identifier: Apache-2.0 */
/* For SPIN: one process, one d_step for each symbol with its guard inside (else a program counter is counted as state), so that SPIN stores
 * our states and its transitions are our accepted steps and one. Regions of states are asserted after each step, regions of steps in it.
 *
 *   IL_COUNT       no assertions: only count
 *   IL_REACH_name  assert that a gated region is not entered: it must be, or there is nothing to guard
 *   IL_SHUT_name   leave out the gates that guard it, and assert that it is not entered */
#include "check/export_part.h"

typedef enum promela_names { PROMELA_STEP, PROMELA_AFTER, PROMELA_WHOLE } promela_names;

/* A name for the preprocessor and for SPIN; the number keeps two apart. */
static void promela_name(il_buf *b, const char *prefix, il_str name, uint32_t number) {
    bool plain = true;
    il_buf_puts(b, prefix);
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        il_buf_putc(b, word ? c : '_');
        plain = plain && word;
    }
    if (!plain) {
        il_buf_putc(b, '_');
        il_buf_putu(b, number);
    }
}

static void promela_region(il_buf *b, const char *prefix, const il_model *m, uint32_t r) {
    promela_name(b, prefix, m->regions[r].name, r);
}

static void promela_var(const il_export *x, uint32_t v, const char *prefix) {
    promela_name(x->out, prefix, x->m->vars[v].name, v);
}

/* `pre`: what variables before the step are called (`v_`, or `p_` where they were put aside). */
static void promela_term(const il_export *x, const il_term *t, const char *pre) {
    il_buf *b = x->out;
    switch ((il_term_op)t->op) {
    case IL_TERM_CONST:
        il_buf_puti(b, t->value);
        return;
    case IL_TERM_PRE:
        promela_var(x, t->at, pre);
        return;
    case IL_TERM_NEXT:
        promela_var(x, t->at, "v_");
        return;
    case IL_TERM_CALL: /* a symbol's payload is constant */
        return;
    case IL_TERM_NOT:
        il_buf_puts(b, "!(");
        promela_term(x, t->kid[0], pre);
        il_buf_putc(b, ')');
        return;
    case IL_TERM_IF:
        il_buf_putc(b, '(');
        promela_term(x, t->kid[0], pre);
        il_buf_puts(b, " -> ");
        promela_term(x, t->kid[1], pre);
        il_buf_puts(b, " : ");
        promela_term(x, t->kid[2], pre);
        il_buf_putc(b, ')');
        return;
    case IL_TERM_AND:
    case IL_TERM_OR:
    case IL_TERM_EQ:
    case IL_TERM_LT:
    case IL_TERM_LE:
    case IL_TERM_ADD:
    case IL_TERM_SUB:
    case IL_TERM_MUL:
        il_buf_putc(b, '(');
        promela_term(x, t->kid[0], pre);
        il_buf_puts(b, il_term_sign((il_term_op)t->op));
        promela_term(x, t->kid[1], pre);
        il_buf_putc(b, ')');
        return;
    }
}

static void promela_text(const il_export *x, const char *before, const il_term *t, const char *pre, const char *after) {
    il_buf_puts(x->out, before);
    promela_term(x, t, pre);
    il_buf_puts(x->out, after);
}

static void promela_declare(il_export *x) {
    const il_model *m = x->m;
    for (uint32_t v = 0; v < m->nvars; v++) {
        const il_term *leaf = il_term_leaf(x, IL_TERM_PRE, v, &m->vars[v].domain);
        const char *type = leaf->lo >= 0 && leaf->hi <= 255 ? "byte" : "int";
        il_buf_puts(x->out, type);
        promela_var(x, v, " v_");
        il_buf_puts(x->out, " = ");
        il_buf_puti(x->out, il_term_code(x, &m->vars[v].domain, il_model_get(m, m->initial, v)));
        il_buf_puts(x->out, "; hidden int");
        promela_var(x, v, " n_");
        if (m->nnaps > 0) {
            promela_var(x, v, ", p_");
        }
        il_buf_puts(x->out, "; /* ");
        il_buf_put(x->out, m->vars[v].name);
        for (uint32_t i = 0; i < m->vars[v].domain.size && i < 16; i++) {
            il_buf_puts(x->out, i ? ", " : ": ");
            il_buf_put(x->out, m->vars[v].domain.names[i]);
            il_buf_puts(x->out, " ");
            il_buf_puti(x->out, il_term_code(x, &m->vars[v].domain, i));
        }
        il_buf_puts(x->out, " */\n");
    }
    if (m->nnaps > 0) {
        il_buf_puts(x->out, "hidden int il_naps;\n");
    }
}

/* Regions of states as macros, and the assertion that every step ends with. */
static il_status promela_regions(il_export *x) {
    const il_model *m = x->m;
    il_buf *b = x->out;
    for (uint32_t r = 0; r < m->nregions; r++) {
        if (m->regions[r].rejection || m->regions[r].edge) {
            continue;
        }
        const il_term *in = NULL;
        IL_TRY(il_export_region(x, r, UINT32_MAX, NULL, NULL, &in));
        il_buf_puts(b, "#define ");
        promela_region(b, "R_", m, r);
        promela_text(x, " (", in, "v_", ")\n");
    }
    il_buf_puts(b, "inline il_after() {\n  skip;\n");
    for (uint32_t r = 0; r < m->nregions; r++) {
        if (m->regions[r].rejection || m->regions[r].edge) {
            continue;
        }
        if (m->regions[r].gated) {
            promela_region(b, "#if defined(IL_REACH_", m, r);
            promela_region(b, ") || defined(IL_SHUT_", m, r);
            il_buf_puts(b, ")\n");
        } else {
            il_buf_puts(b, "#ifndef IL_COUNT\n");
        }
        promela_region(b, "  assert(!R_", m, r);
        il_buf_puts(b, ");\n#endif\n");
    }
    il_buf_puts(b, "}\n");
    return IL_OK;
}

/* Right sides read the state before, all of them. */
static void promela_assign(const il_export *x, const il_export_step *s, const char *indent) {
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t v = 0; v < x->m->nvars; v++) {
            if (s->next[v]->op == IL_TERM_PRE && s->next[v]->at == v) {
                continue;
            }
            il_buf_puts(x->out, indent);
            promela_var(x, v, pass ? "v_" : "n_");
            if (pass) {
                promela_var(x, v, " = n_");
                il_buf_puts(x->out, ";\n");
            } else {
                promela_text(x, " = ", s->next[v], "v_", ";\n");
            }
        }
    }
}

static il_status promela_naps(il_export *x) {
    const il_model *m = x->m;
    il_buf *b = x->out;
    const il_scope scope = {.action = UINT32_MAX};
    const il_term *earlier = il_term_truth(x, false);
    il_buf_puts(b, "inline il_settle() {\n  il_naps = 0;\n  do\n");
    for (uint32_t n = 0; n < m->nnaps; n++) {
        uint32_t action = m->symbol_action[m->naps[n].symbol];
        const il_term *value = NULL, *error = NULL;
        il_export_step s = {0};
        IL_TRY(il_export_guard(x, m->naps[n].when, &scope, m->naps[n].line, m->naps[n].col, &value, &error));
        IL_TRY(il_export_step_of(x, action, il_export_call(x, action, &m->naps[n].symbol), false, &s));
        value = il_export_due(x, il_term_or(x, value, error), &s);
        promela_text(x, "  :: ", il_term_and(x, il_term_not(x, earlier), value), "v_", " ->\n");
        promela_text(x, "     if :: !(", s.accept, "v_", ") -> assert(false); break :: else fi;\n");
        il_buf_puts(b, "     if :: il_naps == ");
        il_buf_putu(b, m->nap_bound);
        il_buf_puts(b, " -> assert(false); break :: else fi;\n     il_naps++;\n");
        promela_assign(x, &s, "     ");
        earlier = il_term_or(x, earlier, value);
    }
    il_buf_puts(b, "  :: else -> break\n  od\n}\n");
    return IL_OK;
}

static il_status promela_symbol(il_export *x, uint32_t action, uint32_t symbol) {
    const il_model *m = x->m;
    il_buf *b = x->out;
    il_export_step s = {0};
    const il_term **call = il_export_call(x, action, &symbol);
    IL_TRY(il_export_step_of(x, action, call, false, &s));
    IL_CHECK(s.next != NULL, x->err);
    if (!il_term_is(s.fault, false)) {
        promela_text(x, "#ifndef IL_COUNT\n  :: d_step { ", s.fault, "v_", " -> assert(false) } /* a fault at ");
        il_model_symbol_brief(m, symbol, b);
        il_buf_puts(b, " */\n#endif\n");
    }
    for (uint32_t r = 0; r < m->nregions; r++) {
        const il_term *refused = NULL;
        IL_TRY(il_export_refused(x, r, action, call, &s, &refused));
        if (!il_term_is(refused, false)) {
            promela_text(x, "#ifndef IL_COUNT\n  :: d_step { ", refused, "v_", " -> assert(false) } /* a wrong reason at ");
            il_model_symbol_brief(m, symbol, b);
            il_buf_puts(b, " */\n#endif\n");
        }
    }
    if (il_term_is(s.accept, false)) {
        return IL_OK;
    }
    promela_text(x, "  :: d_step { ", s.accept, "v_", " -> /* ");
    il_model_symbol_brief(m, symbol, b);
    il_buf_puts(b, " */\n");
    for (uint32_t v = 0; m->nnaps > 0 && v < m->nvars; v++) {
        promela_var(x, v, "    p_");
        promela_var(x, v, " = v_");
        il_buf_puts(b, ";\n");
    }
    if (m->nnaps > 0) {
        promela_assign(x, &s, "    ");
        il_buf_puts(b, "    il_settle();\n");
    }
    const il_term **names = m->nnaps > 0 ? il_export_leaves(x, IL_TERM_NEXT) : s.next; /* after the naps, where there are any */
    for (uint32_t r = 0; names && r < m->nregions; r++) {
        if (!il_export_judges(m, r, action)) {
            continue;
        }
        const il_term *in = NULL;
        IL_TRY(il_export_region(x, r, action, call, names, &in));
        if (il_term_is(in, false)) {
            continue;
        }
        if (m->regions[r].gated) {
            promela_region(b, "#if defined(IL_REACH_", m, r);
            promela_region(b, ") || defined(IL_SHUT_", m, r);
            il_buf_puts(b, ")\n");
        } else {
            il_buf_puts(b, "#ifndef IL_COUNT\n");
        }
        promela_text(x, "    assert(!(", in, m->nnaps > 0 ? "p_" : "v_", "));\n#endif\n");
    }
    if (m->nnaps == 0) {
        promela_assign(x, &s, "    ");
    }
    il_buf_puts(b, "    il_after() }\n");
    return x->no_memory ? il_arena_fail(x->arena, x->err) : IL_OK;
}

/* An action that gates a region is left out where that region is shut. */
static void promela_shut(const il_export *x, uint32_t action, bool begin) {
    for (uint32_t r = 0; r < x->m->nregions; r++) {
        if (x->m->regions[r].gated && (x->m->regions[r].by >> action & 1)) {
            promela_region(x->out, begin ? "#ifndef IL_SHUT_" : "#endif /* ", x->m, r);
            il_buf_puts(x->out, begin ? "\n" : " */\n");
        }
    }
}

il_status il_export_promela(il_export *x) {
    const il_model *m = x->m;
    il_buf *b = x->out;
    il_buf_puts(b, "/* Machine ");
    il_buf_put(b, m->name);
    il_buf_puts(b, ", from its guards. spin -o1 -o2 -a; gcc -DSAFETY -DNOREDUCE; pan -E */\n");
    promela_declare(x);
    IL_TRY(promela_regions(x));
    if (m->nnaps > 0) {
        IL_TRY(promela_naps(x));
    }
    il_buf_puts(b, "active proctype machine() {\n  do\n");
    for (uint32_t a = 0; a < m->nactions; a++) {
        promela_shut(x, a, true);
        for (uint32_t i = 0; i < m->actions[a].nsymbols; i++) {
            IL_TRY(promela_symbol(x, a, m->actions[a].first_symbol + i));
        }
        promela_shut(x, a, false);
    }
    for (uint32_t r = 0; r < m->nregions; r++) { /* the initial state itself */
        if (!m->regions[r].edge && !m->regions[r].gated && !m->regions[r].rejection &&
            il_model_in_region(m, r, m->initial, UINT32_MAX, 0)) {
            il_buf_puts(b, "#ifndef IL_COUNT\n  :: d_step { true -> assert(false) } /* begins in a region */\n#endif\n");
        }
    }
    il_buf_puts(b, "  od\n}\n");
    return IL_OK;
}
