/* SPDX-License-Identifier: Apache-2.0 */
/* Facts as text, for people. */
#include "cel/logic_part.h"
#include "cel/value.h"

static void write_term(il_cel_logic *l, uint32_t t, il_buf *out) {
    const il_cel_term *term = &l->terms[t];
    if (term->op == IL_CEL_OP_LIT) {
        il_cel_write(&term->lit, out);
    } else if (term->op == IL_CEL_OP_LOCAL) {
        static const char *const words[] = {"the item", "the value", "the index", "the variable", "the content"};
        il_buf_puts(out, term->role <= IL_CEL_ROLE_HELD ? words[term->role] : words[0]);
    } else if (term->node != NULL) {
        il_cel_print_node(term->node, out);
    } else if (term->op == IL_CEL_OP_CALL) {
        il_buf_put(out, term->name);
        il_buf_putc(out, '(');
        for (uint32_t i = 0; i < term->nkids; i++) {
            il_buf_puts(out, i > 0 ? ", " : "");
            write_term(l, l->kids[term->kids + i], out);
        }
        il_buf_putc(out, ')');
    } else if (term->nkids == 2) {
        write_term(l, l->kids[term->kids], out);
        il_buf_putc(out, ' ');
        il_buf_puts(out, il_cel_sign((il_cel_op)term->op));
        il_buf_putc(out, ' ');
        write_term(l, l->kids[term->kids + 1], out);
    }
}

static const char *write_class(uint8_t of) {
    static const char *const words[] = {"a value",     "a bool",     "a number",      "a string",       "bytes",
                                        "a timestamp", "a duration", "a list or map", "a map or record"};
    return of < sizeof words / sizeof words[0] ? words[of] : words[0];
}

/* A function as some of the ways in which it can hold. */
static void write_body(il_cel_logic *l, il_bdd_ref f, il_buf *out) {
    const il_bdd *d = &l->bdd;
    bool first = true;
    while (f > IL_BDD_TRUE) {
        const il_bdd_node node = d->nodes[f];
        const bool truth =
            node.low == IL_BDD_FALSE || (node.high != IL_BDD_FALSE && node.low > IL_BDD_TRUE && node.high == IL_BDD_TRUE);
        const bool either = node.low != IL_BDD_FALSE && node.high != IL_BDD_FALSE;
        il_buf_puts(out, first ? "" : ", ");
        first = false;
        il_cel_atom_write(l, node.var, truth, out);
        il_buf_puts(out, either ? " (or otherwise)" : "");
        f = truth ? node.high : node.low;
    }
    il_buf_puts(out, first ? "anything" : "");
}

static void write_operator(il_cel_logic *l, const il_cel_atom *a, const char *sign, il_buf *out) {
    write_term(l, a->t, out);
    il_buf_puts(out, sign);
    il_cel_write(&a->lit, out);
}

static void write_called(il_cel_logic *l, const il_cel_atom *a, const char *name, il_buf *out) {
    write_operator(l, a, name, out);
    il_buf_putc(out, ')');
}

void il_cel_atom_write(il_cel_logic *l, uint32_t atom, bool truth, il_buf *out) {
    const il_cel_atom *a = &l->atoms[atom];
    il_buf_puts(out, truth ? "" : "not: ");
    switch ((il_cel_atom_kind)a->kind) {
    case IL_CEL_A_OK:
        write_term(l, a->t, out);
        il_buf_puts(out, " is no error");
        return;
    case IL_CEL_A_PRESENT:
        il_buf_puts(out, "has(");
        write_term(l, a->t, out);
        il_buf_putc(out, ')');
        return;
    case IL_CEL_A_CLASS:
        write_term(l, a->t, out);
        il_buf_puts(out, " is ");
        il_buf_puts(out, write_class(a->of));
        return;
    case IL_CEL_A_EQUAL:
        if (a->lit.kind == IL_CEL_BOOL && a->lit.u.b) {
            write_term(l, a->t, out);
            return;
        }
        write_operator(l, a, " == ", out);
        return;
    case IL_CEL_A_SAME:
        write_term(l, a->t, out);
        il_buf_puts(out, " == ");
        write_term(l, a->u, out);
        return;
    case IL_CEL_A_FROM:
        write_operator(l, a, " >= ", out);
        return;
    case IL_CEL_A_LESS:
        write_operator(l, a, " < ", out);
        return;
    case IL_CEL_A_MORE:
        write_operator(l, a, " > ", out);
        return;
    case IL_CEL_A_STARTS:
        write_called(l, a, ".startsWith(", out);
        return;
    case IL_CEL_A_ENDS:
        write_called(l, a, ".endsWith(", out);
        return;
    case IL_CEL_A_CONTAINS:
        write_called(l, a, ".contains(", out);
        return;
    case IL_CEL_A_MATCHES:
        write_called(l, a, ".matches(", out);
        return;
    case IL_CEL_A_SOME:
        il_buf_puts(out, "something in ");
        write_term(l, a->t, out);
        il_buf_puts(out, " with {");
        write_body(l, a->body, out);
        il_buf_putc(out, '}');
        return;
    }
}
