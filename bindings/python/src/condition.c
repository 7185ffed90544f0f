/* SPDX-License-Identifier: Apache-2.0 */
/* What a condition asks of who calls, for explanations: its `&&`, `||` and `!`, and the three forms in which Interbolt asks for an agent. Everything else is text. */
#include "cel/ast.h"
#include "core.h"

#define CONDITION_SCRATCH ((size_t)16 << 20)

static bool condition_is(const il_cel_node *n, const char *name) {
    const il_cel_node *kid = n->kids;
    if (n->op == IL_CEL_OP_NAME) {
        return il_str_eq(n->name, il_str_of(name));
    }
    const size_t dot = strcspn(name, ".");
    return n->op == IL_CEL_OP_SELECT && !n->optional && kid->op == IL_CEL_OP_NAME && name[dot] == '.' &&
           il_str_eq(kid->name, (il_str){name, dot}) && il_str_eq(n->name, il_str_of(name + dot + 1));
}

static bool condition_text(const il_cel_node *n, il_str *out) {
    const bool text = n != NULL && n->op == IL_CEL_OP_LIT && n->lit.kind == IL_CEL_STRING;
    *out = text ? (il_str){n->lit.u.p, n->lit.n} : (il_str){0};
    return text;
}

static PyObject *condition_source(const il_cel_node *n, il_str source) {
    return ilpy_of_str((il_str){source.p + n->start, n->end - n->start});
}

/* `agent.groups.exists(g, g == "x")` */
static bool condition_group(const il_cel_node *n, il_str *group) {
    if (n->op != IL_CEL_OP_EXISTS || n->slot2 != IL_CEL_NO_SLOT || !condition_is(n->kids, "agent.groups")) {
        return false;
    }
    const il_cel_node *body = n->kids->next;
    return body->op == IL_CEL_OP_EQ && body->kids->op == IL_CEL_OP_LOCAL && body->kids->slot == n->slot &&
           condition_text(body->kids->next, group);
}

static PyObject *condition_node(const il_cel_node *n, il_str source);

static PyObject *condition_kids(const char *word, const il_cel_node *n, il_str source) {
    PyObject *all = PyList_New(0);
    for (const il_cel_node *kid = n->kids; all != NULL && kid != NULL; kid = kid->next) {
        PyObject *one = condition_node(kid, source); /* depth: IL_CEL_DEPTH */
        if (one == NULL || PyList_Append(all, one) < 0) {
            Py_CLEAR(all);
        }
        Py_XDECREF(one);
    }
    PyObject *text = all != NULL ? condition_source(n, source) : NULL;
    return text != NULL ? Py_BuildValue("sNN", word, text, all) : (Py_XDECREF(all), NULL);
}

static PyObject *condition_leaf(const char *word, const il_cel_node *n, il_str source, il_str value) {
    PyObject *text = condition_source(n, source), *said = text != NULL ? ilpy_of_str(value) : NULL;
    return said != NULL ? Py_BuildValue("sNN", word, text, said) : (Py_XDECREF(text), NULL);
}

static PyObject *condition_node(const il_cel_node *n, il_str source) {
    il_str value;
    if (n->op == IL_CEL_OP_AND || n->op == IL_CEL_OP_OR || n->op == IL_CEL_OP_NOT) {
        return condition_kids(n->op == IL_CEL_OP_AND ? "and" : n->op == IL_CEL_OP_OR ? "or" : "not", n, source);
    }
    if ((n->op == IL_CEL_OP_EQ || n->op == IL_CEL_OP_NE) && condition_is(n->kids, "agent.id") &&
        condition_text(n->kids->next, &value)) {
        return condition_leaf(n->op == IL_CEL_OP_EQ ? "is" : "is not", n, source, value);
    }
    return condition_group(n, &value) ? condition_leaf("in", n, source, value) : condition_leaf("other", n, source, (il_str){0});
}

PyObject *ilpy_condition(PyObject *module, PyObject *text) {
    const ilpy_state *s = ilpy_state_of(module);
    static const il_cel_limits limits = {.size = sizeof limits,
                                         .source_bytes = IL_CEL_SOURCE_BYTES,
                                         .depth = IL_CEL_DEPTH,
                                         .nodes = IL_CEL_NODES,
                                         .list_contains = true,
                                         .unchecked = true};
    il_str source;
    il_cel_node *root = NULL;
    il_error err = {0};
    il_arena arena;
    if (!ilpy_str(text, "a condition", false, &source)) {
        return NULL;
    }
    il_arena_init(&arena, il_host_alloc(), CONDITION_SCRATCH);
    const il_cel_env env = {.size = sizeof env};
    const il_status status = il_cel_parse(&arena, source, 1, 1, &env, &limits, &root, &err);
    PyObject *out = status == IL_OK ? condition_node(root, source) : ilpy_fail(s, status, &err);
    il_arena_free(&arena);
    return out;
}
