/* SPDX-License-Identifier: Apache-2.0 */
/* An expression as text, from the tree and never from the source: lets are expanded and parentheses are those that the grammar needs. */
#include "cel/value.h"

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
    case IL_CEL_OP_EXISTS_ONE:
        return "existsOne";
    case IL_CEL_OP_FILTER:
        return "filter";
    case IL_CEL_OP_TRANSFORM:
        return "map";
    case IL_CEL_OP_TRANSFORM_MAP:
        return "transformMap";
    case IL_CEL_OP_TRANSFORM_ENTRY:
        return "transformMapEntry";
    case IL_CEL_OP_BIND:
        return "cel.bind";
    case IL_CEL_OP_OPT_MAP:
        return "optMap";
    case IL_CEL_OP_OPT_FLAT_MAP:
        return "optFlatMap";
    case IL_CEL_OP_HAS:
        return "has";
    case IL_CEL_OP_LIT:
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

static void print_item(il_buf *out, const il_cel_node *k, const print_scope *scope) {
    if (k->maybe) {
        il_buf_putc(out, '?');
    }
    print_node(out, k, PRINT_EXPR, scope);
}

static void print_kids(il_buf *out, const il_cel_node *k, const print_scope *scope) {
    for (const il_cel_node *first = k; k != NULL; k = k->next) {
        if (k != first) {
            il_buf_puts(out, ", ");
        }
        print_item(out, k, scope);
    }
}

static void print_map(il_buf *out, const il_cel_node *n, const print_scope *scope) {
    il_buf_putc(out, '{');
    for (const il_cel_node *k = n->kids; k != NULL && k->next != NULL; k = k->next->next) {
        if (k != n->kids) {
            il_buf_puts(out, ", ");
        }
        print_item(out, k, scope);
        il_buf_puts(out, ": ");
        print_node(out, k->next, PRINT_EXPR, scope);
    }
    il_buf_putc(out, '}');
}

/* A name of the root scope: with its dot where a macro variable around here has its first part. */
static void print_root_name(il_buf *out, il_str name, bool root, const print_scope *scope) {
    size_t dot = il_str_find(name, IL_STR("."), 0);
    il_str first = il_str_part(name, 0, dot == SIZE_MAX ? name.n : dot);
    for (const print_scope *s = scope; s != NULL && !root; s = s->up) {
        root = il_str_eq(s->name, first);
    }
    if (root) {
        il_buf_putc(out, '.');
    }
    il_buf_put(out, name);
}

/* `of.name`; a variable with dots in its name would swallow the field. */
static void print_select(il_buf *out, const il_cel_node *n, const print_scope *scope) {
    const il_cel_node *of = n->kids;
    bool dotted = of->op == IL_CEL_OP_VAR && il_str_find(of->name, IL_STR("."), 0) != SIZE_MAX;
    bool plain = print_plain_name(n->name);
    il_buf_puts(out, dotted ? "(" : "");
    print_node(out, of, PRINT_POSTFIX, scope);
    il_buf_puts(out, dotted ? ")" : "");
    il_buf_puts(out, n->optional ? ".?" : ".");
    size_t open = n->name.n > 0 && n->name.p[n->name.n - 1] == ']' ? il_str_find(n->name, IL_STR("["), 0) : SIZE_MAX;
    if (open != SIZE_MAX) { /* one of a family (family.h) */
        il_buf_put(out, il_str_part(n->name, 0, open));
        il_buf_puts(out, "['");
        il_buf_put(out, il_str_part(n->name, open + 1, n->name.n - 1));
        il_buf_puts(out, "']");
        return;
    }
    il_buf_puts(out, plain ? "" : "`");
    il_buf_put(out, n->name);
    il_buf_puts(out, plain ? "" : "`");
}

static void print_call(il_buf *out, const il_cel_node *n, const print_scope *scope) {
    const il_cel_node *k = n->kids;
    if (n->receiver) {
        print_node(out, k, PRINT_POSTFIX, scope);
        il_buf_putc(out, '.');
        il_buf_put(out, n->name);
        k = k->next;
    } else {
        print_root_name(out, n->name, false, scope);
    }
    il_buf_putc(out, '(');
    print_kids(out, k, scope);
    il_buf_putc(out, ')');
}

/* The kids after the range, with the macro's variables around them. */
static void print_macro(il_buf *out, const il_cel_node *n, const print_scope *scope) {
    const il_cel_node *range = n->kids;
    const print_scope one = {n->name, scope}, two = {n->name2, &one};
    bool both = n->slot2 != IL_CEL_NO_SLOT, bind = n->op == IL_CEL_OP_BIND;
    if (!bind) {
        print_node(out, range, PRINT_POSTFIX, scope);
        il_buf_putc(out, '.');
    }
    il_buf_puts(out, both && n->op == IL_CEL_OP_TRANSFORM ? "transformList" : il_cel_sign((il_cel_op)n->op));
    il_buf_putc(out, '(');
    il_buf_put(out, n->name);
    if (both) {
        il_buf_puts(out, ", ");
        il_buf_put(out, n->name2);
    }
    if (bind) {
        il_buf_puts(out, ", ");
        print_node(out, range, PRINT_EXPR, scope);
    }
    for (const il_cel_node *k = range->next; k != NULL; k = k->next) {
        il_buf_puts(out, ", ");
        print_node(out, k, PRINT_EXPR, both ? &two : &one);
    }
    il_buf_putc(out, ')');
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
        il_cel_write(&n->lit, out);
        return;
    case IL_CEL_OP_LIST:
        il_buf_putc(out, '[');
        print_kids(out, k, scope);
        il_buf_putc(out, ']');
        return;
    case IL_CEL_OP_MAP:
        print_map(out, n, scope);
        return;
    case IL_CEL_OP_LOCAL:
        il_buf_put(out, n->name);
        return;
    case IL_CEL_OP_VAR:
    case IL_CEL_OP_TYPE:
    case IL_CEL_OP_NAME:
        print_root_name(out, n->name, n->root, scope);
        return;
    case IL_CEL_OP_SELECT:
    case IL_CEL_OP_FIELD:
        print_select(out, n, scope);
        return;
    case IL_CEL_OP_INDEX:
        print_node(out, k, PRINT_POSTFIX, scope);
        il_buf_puts(out, n->optional ? "[?" : "[");
        print_node(out, k->next, PRINT_EXPR, scope);
        il_buf_putc(out, ']');
        return;
    case IL_CEL_OP_NOT:
    case IL_CEL_OP_NEG:
        il_buf_puts(out, il_cel_sign((il_cel_op)n->op));
        if (n->op == IL_CEL_OP_NEG && k->op == IL_CEL_OP_LIT && k->lit.kind == IL_CEL_INT && k->lit.u.i >= 0) {
            il_buf_putc(out, '('); /* `-5` would be read back as a literal */
            print_bare(out, k, scope);
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
    case IL_CEL_OP_HAS:
        il_buf_puts(out, "has(");
        print_node(out, k, PRINT_EXPR, scope);
        il_buf_putc(out, ')');
        return;
    case IL_CEL_OP_CALL:
        print_call(out, n, scope);
        return;
    case IL_CEL_OP_LET:
        print_bare(out, k, scope);
        return;
    case IL_CEL_OP_EXISTS:
    case IL_CEL_OP_ALL:
    case IL_CEL_OP_EXISTS_ONE:
    case IL_CEL_OP_FILTER:
    case IL_CEL_OP_TRANSFORM:
    case IL_CEL_OP_TRANSFORM_MAP:
    case IL_CEL_OP_TRANSFORM_ENTRY:
    case IL_CEL_OP_BIND:
    case IL_CEL_OP_OPT_MAP:
    case IL_CEL_OP_OPT_FLAT_MAP:
        print_macro(out, n, scope);
        return;
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
