/* SPDX-License-Identifier: Apache-2.0 */
/* An expression as text, from the tree and never from the source: lets are expanded and parentheses are those that the grammar needs. */
#include "cel/ast.h"

const char *il_cel_sign(il_cel_op op) {
    switch (op) {
    case IL_CEL_OP_NOT:
        return "!";
    case IL_CEL_OP_NEG:
        return "-";
    case IL_CEL_OP_MUL:
        return "*";
    case IL_CEL_OP_DIV:
        return "/";
    case IL_CEL_OP_MOD:
        return "%";
    case IL_CEL_OP_ADD:
        return "+";
    case IL_CEL_OP_SUB:
        return "-";
    case IL_CEL_OP_LT:
        return "<";
    case IL_CEL_OP_LE:
        return "<=";
    case IL_CEL_OP_GT:
        return ">";
    case IL_CEL_OP_GE:
        return ">=";
    case IL_CEL_OP_EQ:
        return "==";
    case IL_CEL_OP_NE:
        return "!=";
    case IL_CEL_OP_IN:
        return "in";
    case IL_CEL_OP_AND:
        return "&&";
    case IL_CEL_OP_OR:
        return "||";
    case IL_CEL_OP_COND:
        return "?:";
    case IL_CEL_OP_EXISTS:
        return "exists";
    case IL_CEL_OP_ALL:
        return "all";
    case IL_CEL_OP_LIT:
    case IL_CEL_OP_HAS:
    case IL_CEL_OP_EXISTS_ONE:
    case IL_CEL_OP_FILTER:
    case IL_CEL_OP_TRANSFORM:
    case IL_CEL_OP_TRANSFORM_MAP:
    case IL_CEL_OP_TRANSFORM_ENTRY:
    case IL_CEL_OP_BIND:
    case IL_CEL_OP_OPT_MAP:
    case IL_CEL_OP_OPT_FLAT_MAP:
    case IL_CEL_OP_TYPE:
    case IL_CEL_OP_LIST:
    case IL_CEL_OP_MAP:
    case IL_CEL_OP_NAME:
    case IL_CEL_OP_LET:
    case IL_CEL_OP_LOCAL:
    case IL_CEL_OP_VAR:
    case IL_CEL_OP_SELECT:
    case IL_CEL_OP_FIELD:
    case IL_CEL_OP_INDEX:
    case IL_CEL_OP_CALL:
        break;
    }
    return "";
}

enum { PRINT_EXPR = 0, PRINT_OR = 1, PRINT_AND, PRINT_REL, PRINT_SUM, PRINT_TERM, PRINT_UNARY, PRINT_POSTFIX };

static int print_strength(const il_cel_node *n) {
    switch ((il_cel_op)n->op) {
    case IL_CEL_OP_COND:
        return PRINT_EXPR;
    case IL_CEL_OP_OR:
        return PRINT_OR;
    case IL_CEL_OP_AND:
        return PRINT_AND;
    case IL_CEL_OP_LT:
    case IL_CEL_OP_LE:
    case IL_CEL_OP_GT:
    case IL_CEL_OP_GE:
    case IL_CEL_OP_EQ:
    case IL_CEL_OP_NE:
    case IL_CEL_OP_IN:
        return PRINT_REL;
    case IL_CEL_OP_ADD:
    case IL_CEL_OP_SUB:
        return PRINT_SUM;
    case IL_CEL_OP_MUL:
    case IL_CEL_OP_DIV:
    case IL_CEL_OP_MOD:
        return PRINT_TERM;
    case IL_CEL_OP_NOT:
    case IL_CEL_OP_NEG:
        return PRINT_UNARY;
    case IL_CEL_OP_LIT:
    case IL_CEL_OP_HAS:
    case IL_CEL_OP_EXISTS_ONE:
    case IL_CEL_OP_FILTER:
    case IL_CEL_OP_TRANSFORM:
    case IL_CEL_OP_TRANSFORM_MAP:
    case IL_CEL_OP_TRANSFORM_ENTRY:
    case IL_CEL_OP_BIND:
    case IL_CEL_OP_OPT_MAP:
    case IL_CEL_OP_OPT_FLAT_MAP:
    case IL_CEL_OP_TYPE:
    case IL_CEL_OP_LIST:
    case IL_CEL_OP_MAP:
    case IL_CEL_OP_NAME:
    case IL_CEL_OP_LET:
    case IL_CEL_OP_LOCAL:
    case IL_CEL_OP_VAR:
    case IL_CEL_OP_SELECT:
    case IL_CEL_OP_FIELD:
    case IL_CEL_OP_INDEX:
    case IL_CEL_OP_CALL:
    case IL_CEL_OP_EXISTS:
    case IL_CEL_OP_ALL:
        break;
    }
    return PRINT_POSTFIX;
}

typedef struct print_scope { /* macro variables around here: a root name that one of them hides is written with its dot */
    il_str name;
    const struct print_scope *up;
} print_scope;

static void print_string(il_buf *out, il_str s) {
    il_buf_putc(out, '\'');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        uint8_t byte = c;
        if (c == '\'' || c == '\\') {
            il_buf_putc(out, '\\');
            il_buf_putc(out, (char)c);
        } else if (c == '\n') {
            il_buf_puts(out, "\\n");
        } else if (c == '\r') {
            il_buf_puts(out, "\\r");
        } else if (c == '\t') {
            il_buf_puts(out, "\\t");
        } else if (c < 0x20 || c == 0x7F) {
            il_buf_puts(out, "\\x");
            il_buf_hex(out, &byte, 1);
        } else {
            il_buf_putc(out, (char)c);
        }
    }
    il_buf_putc(out, '\'');
}

static bool print_plain_name(il_str s) {
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9')) {
            return false;
        }
    }
    /* The four words that the grammar does not take even after a dot. */
    return s.n > 0 && !il_str_eq(s, IL_STR("true")) && !il_str_eq(s, IL_STR("false")) && !il_str_eq(s, IL_STR("null")) &&
           !il_str_eq(s, IL_STR("in"));
}

static void print_node(il_buf *out, const il_cel_node *n, int at_least, const print_scope *scope);

static void print_kids(il_buf *out, const il_cel_node *k, const print_scope *scope) {
    for (const il_cel_node *first = k; k != NULL; k = k->next) {
        if (k != first) {
            il_buf_puts(out, ", ");
        }
        print_node(out, k, PRINT_EXPR, scope);
    }
}

static void print_literal(il_buf *out, const il_cel_node *n, const print_scope *scope) {
    switch ((il_cel_kind)n->lit.kind) {
    case IL_CEL_NULL:
        il_buf_puts(out, "null");
        return;
    case IL_CEL_BOOL:
        il_buf_puts(out, n->lit.u.b ? "true" : "false");
        return;
    case IL_CEL_INT:
        il_buf_puti(out, n->lit.u.i);
        return;
    case IL_CEL_STRING:
        print_string(out, il_cel_str(n->lit));
        return;
    case IL_CEL_LIST:
        il_buf_putc(out, '[');
        print_kids(out, n->kids, scope);
        il_buf_putc(out, ']');
        return;
    case IL_CEL_ERROR:
    case IL_CEL_RECORD:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_BYTES:
    case IL_CEL_MAP:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_TYPE:
    case IL_CEL_OPTIONAL:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
        break; /* no literal is one */
    }
}

static void print_binary(il_buf *out, const il_cel_node *n, int own, const print_scope *scope) {
    bool chain = n->op == IL_CEL_OP_AND || n->op == IL_CEL_OP_OR; /* a chain within a chain is the same chain */
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        if (k != n->kids) {
            il_buf_putc(out, ' ');
            il_buf_puts(out, il_cel_sign((il_cel_op)n->op));
            il_buf_putc(out, ' ');
        }
        print_node(out, k, chain || k == n->kids ? own : own + 1, scope);
    }
}

static void print_bare(il_buf *out, const il_cel_node *n, const print_scope *scope) {
    const il_cel_node *k = n->kids;
    switch ((il_cel_op)n->op) {
    case IL_CEL_OP_LIT:
        print_literal(out, n, scope);
        return;
    case IL_CEL_OP_LIST:
        il_buf_putc(out, '[');
        print_kids(out, k, scope);
        il_buf_putc(out, ']');
        return;
    case IL_CEL_OP_LOCAL:
        il_buf_put(out, n->name);
        return;
    case IL_CEL_OP_VAR:
        for (const print_scope *s = scope; s != NULL; s = s->up) {
            if (il_str_eq(s->name, n->name)) {
                il_buf_putc(out, '.');
                break;
            }
        }
        il_buf_put(out, n->name);
        return;
    case IL_CEL_OP_SELECT:
    case IL_CEL_OP_FIELD:
        print_node(out, k, PRINT_POSTFIX, scope);
        il_buf_puts(out, print_plain_name(n->name) ? "." : ".`");
        il_buf_put(out, n->name);
        il_buf_puts(out, print_plain_name(n->name) ? "" : "`");
        return;
    case IL_CEL_OP_INDEX:
        print_node(out, k, PRINT_POSTFIX, scope);
        il_buf_putc(out, '[');
        print_node(out, k->next, PRINT_EXPR, scope);
        il_buf_putc(out, ']');
        return;
    case IL_CEL_OP_NOT:
    case IL_CEL_OP_NEG:
        il_buf_puts(out, il_cel_sign((il_cel_op)n->op));
        if (n->op == IL_CEL_OP_NEG && k->op == IL_CEL_OP_LIT && k->lit.kind == IL_CEL_INT && k->lit.u.i >= 0) {
            il_buf_putc(out, '('); /* `-5` would be read back as a literal */
            il_buf_puti(out, k->lit.u.i);
            il_buf_putc(out, ')');
            return;
        }
        /* The same sign may repeat; the other needs parentheses. */
        print_node(out, k, k->op == n->op ? PRINT_UNARY : PRINT_POSTFIX, scope);
        return;
    case IL_CEL_OP_MUL:
    case IL_CEL_OP_DIV:
    case IL_CEL_OP_MOD:
    case IL_CEL_OP_ADD:
    case IL_CEL_OP_SUB:
    case IL_CEL_OP_LT:
    case IL_CEL_OP_LE:
    case IL_CEL_OP_GT:
    case IL_CEL_OP_GE:
    case IL_CEL_OP_EQ:
    case IL_CEL_OP_NE:
    case IL_CEL_OP_IN:
    case IL_CEL_OP_AND:
    case IL_CEL_OP_OR:
        print_binary(out, n, print_strength(n), scope);
        return;
    case IL_CEL_OP_COND:
        print_node(out, k, PRINT_OR, scope);
        il_buf_puts(out, " ? ");
        print_node(out, k->next, PRINT_OR, scope);
        il_buf_puts(out, " : ");
        print_node(out, k->next->next, PRINT_EXPR, scope);
        return;
    case IL_CEL_OP_EXISTS:
    case IL_CEL_OP_ALL: {
        const print_scope inner = {n->name, scope};
        print_node(out, k, PRINT_POSTFIX, scope);
        il_buf_putc(out, '.');
        il_buf_puts(out, il_cel_sign((il_cel_op)n->op));
        il_buf_putc(out, '(');
        il_buf_put(out, n->name);
        il_buf_puts(out, ", ");
        print_node(out, k->next, PRINT_EXPR, &inner);
        il_buf_putc(out, ')');
        return;
    }
    case IL_CEL_OP_HAS:
    case IL_CEL_OP_EXISTS_ONE:
    case IL_CEL_OP_FILTER:
    case IL_CEL_OP_TRANSFORM:
    case IL_CEL_OP_TRANSFORM_MAP:
    case IL_CEL_OP_TRANSFORM_ENTRY:
    case IL_CEL_OP_BIND:
    case IL_CEL_OP_OPT_MAP:
    case IL_CEL_OP_OPT_FLAT_MAP:
    case IL_CEL_OP_TYPE:
    case IL_CEL_OP_MAP:
    case IL_CEL_OP_NAME:
    case IL_CEL_OP_LET:
    case IL_CEL_OP_CALL:
        break; /* not in a checked tree */
    }
}

static void print_node(il_buf *out, const il_cel_node *n, int at_least, const print_scope *scope) {
    bool parentheses = print_strength(n) < at_least;
    if (parentheses) {
        il_buf_putc(out, '(');
    }
    print_bare(out, n, scope);
    if (parentheses) {
        il_buf_putc(out, ')');
    }
}

void il_cel_print_node(const il_cel_node *node, il_buf *out) { print_node(out, node, PRINT_EXPR, NULL); }

void il_cel_print(const il_cel_program *program, il_buf *out) { il_cel_print_node(program->root, out); }
