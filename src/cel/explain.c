/* SPDX-License-Identifier: Apache-2.0 */
/* What an error value means, for people: the word that it came from knows its node, and the node its place in the source. */
#include "cel/code.h"
#include "cel/suggest.h"

static bool explain_in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Where the name or the sign that begins there ends. */
static size_t explain_token_end(const il_cel_source *src, size_t from) {
    size_t to = from;
    while (to < src->text.n && explain_in_word(src->text.p[to])) {
        to++;
    }
    if (to > from || from >= src->text.n) {
        return to;
    }
    char next = from + 1 < src->text.n ? src->text.p[from + 1] : 0;
    return from + (next == '=' || next == '&' || next == '|' ? 2 : 1);
}

static il_status explain_at(const il_cel_node *n, size_t offset, il_error *err, il_status code, const char *before, il_str word,
                            const char *after) {
    size_t end = offset == n->start ? n->end : explain_token_end(n->src, offset);
    return IL_CEL_FAIL_SPAN(n->src, offset, end, err, code, "%s%.*s%s", before, IL_STR_ARG(word), after);
}

/* The node of an operand that had no word of its own. */
static const il_cel_node *explain_node(const il_cel_code *code, const il_cel_value *e) {
    if (e->n == 0 || e->n > code->nwords) {
        return NULL;
    }
    const il_cel_node *n = code->nodes[e->n - 1];
    const il_cel_node *kid = e->spare == 1 || e->spare == 2 ? n->kids : NULL;
    if (kid != NULL && e->spare == 2) {
        kid = kid->next;
    }
    return kid != NULL && (kid->op == IL_CEL_OP_VAR || kid->op == IL_CEL_OP_LET) ? kid : n;
}

static bool explain_is_condition(const il_cel_node *n) {
    return n->op == IL_CEL_OP_AND || n->op == IL_CEL_OP_OR || n->op == IL_CEL_OP_COND || n->op == IL_CEL_OP_NOT ||
           (n->op >= IL_CEL_OP_EXISTS && n->op <= IL_CEL_OP_TRANSFORM_ENTRY);
}

static il_str explain_name(const il_cel_node *n) {
    if (n->op == IL_CEL_OP_HAS) {
        return n->kids->name;
    }
    const char *sign = il_cel_sign((il_cel_op)n->op);
    return sign[0] != 0 ? il_str_of(sign) : n->name;
}

/* What is said of a call is said of its name; of one that is called on nothing, of all of it. */
static size_t explain_call(const il_cel_node *n) { return n->op == IL_CEL_OP_CALL && !n->receiver ? n->start : n->at; }

static void explain_overload(const il_cel_node *n, il_error *err) {
    if (n->op == IL_CEL_OP_SELECT || n->op == IL_CEL_OP_FIELD) {
        (void)explain_at(n, n->at, err, IL_E_INVALID, "`.", n->name, "` of a value that has no fields");
    } else if (n->op == IL_CEL_OP_INDEX) {
        (void)explain_at(n, n->at, err, IL_E_INVALID, "this kind of value cannot be indexed like this", IL_STR(""), "");
    } else if (n->op == IL_CEL_OP_LIST || n->maybe) {
        (void)explain_at(n, n->start, err, IL_E_INVALID, "what is written with `?` must be an optional", IL_STR(""), "");
    } else if (n->op == IL_CEL_OP_OPT_MAP || n->op == IL_CEL_OP_OPT_FLAT_MAP) {
        (void)explain_at(n, n->at, err, IL_E_INVALID, "`", explain_name(n), "` needs an optional");
    } else if (n->op == IL_CEL_OP_VAR || n->op == IL_CEL_OP_LOCAL) {
        (void)explain_at(n, n->at, err, IL_E_INVALID, "`", n->name, "` is of another kind than is needed here");
    } else if (n->op == IL_CEL_OP_EQ || n->op == IL_CEL_OP_NE) {
        (void)explain_at(n, n->at, err, IL_E_INVALID, "`", explain_name(n), "` got values of two kinds");
    } else if (explain_is_condition(n)) {
        (void)explain_at(n, n->at, err, IL_E_INVALID, "`", explain_name(n), "` got a value of another kind than it takes");
    } else {
        (void)explain_at(n, explain_call(n), err, IL_E_INVALID, "no overload of `", explain_name(n),
                         "` for these kinds of values");
    }
}

/* An index of a list that has fewer items: value.c packs both. */
static bool explain_outside(const il_cel_node *n, const il_cel_value *e, il_error *err) {
    const uint32_t size = (uint32_t)e->u.u;
    const int32_t index = (int32_t)(uint32_t)(e->u.u >> 32); /* the ends stand for all beyond them */
    if (n->op != IL_CEL_OP_INDEX || size == 0) {
        return false;
    }
    (void)IL_CEL_FAIL_SPAN(n->src, n->at, explain_token_end(n->src, n->at), err, IL_E_INVALID, "no index %s%d in a list of %u%s",
                           index == INT32_MAX   ? "above "
                           : index == INT32_MIN ? "below "
                                                : "",
                           (int)index, (unsigned)(size - 1), size == 1 ? "" : "; the first is 0");
    return true;
}

static void explain_missing(const il_cel_node *n, const il_cel_value *e, il_error *err) {
    if (explain_outside(n, e, err)) {
        return;
    }
    if (n->op == IL_CEL_OP_SELECT || n->op == IL_CEL_OP_FIELD) {
        (void)explain_at(n, n->at, err, IL_E_INVALID, "no such key `", n->name, "`");
        return;
    }
    const il_cel_node *index = n->op == IL_CEL_OP_INDEX ? n->kids->next : NULL;
    if (index != NULL && index->constant && index->lit.kind == IL_CEL_STRING) {
        (void)explain_at(n, index->start, err, IL_E_INVALID, "no such key `", il_cel_str(index->lit), "`");
    } else {
        (void)explain_at(n, n->at, err, IL_E_INVALID, "no such key or index", IL_STR(""), "");
    }
}

static void explain_bad_value(const il_cel_node *n, il_error *err) {
    if (n->op == IL_CEL_OP_CALL) {
        const il_cel_complaint complaint = n->builtin != NULL ? il_cel_complaint_of(n->name) : (il_cel_complaint){NULL, NULL};
        if (complaint.says == NULL) {
            (void)explain_at(n, explain_call(n), err, IL_E_INVALID, "`", n->name, "` cannot take this value");
            return;
        }
        const size_t from = explain_call(n);
        (void)IL_CEL_FAIL_SPAN(n->src, from, from == n->start ? n->end : explain_token_end(n->src, from), err, IL_E_INVALID,
                               "`%.*s`: %s %s", IL_STR_ARG(n->name), complaint.of, complaint.says);
    } else if (n->op == IL_CEL_OP_INDEX) {
        (void)explain_at(n, n->at, err, IL_E_INVALID, "an index must be a whole number", IL_STR(""), "");
    } else if (n->op == IL_CEL_OP_MAP || n->op == IL_CEL_OP_TRANSFORM_MAP || n->op == IL_CEL_OP_TRANSFORM_ENTRY) {
        (void)explain_at(n, n->at, err, IL_E_INVALID, "a key is repeated", IL_STR(""), "");
    } else {
        (void)explain_at(n, n->at, err, IL_E_INVALID, "a value that cannot be taken", IL_STR(""), "");
    }
}

static void explain_node_fault(const il_cel_node *n, const il_cel_value *e, il_error *err) {
    switch ((il_cel_fault)e->fault) {
    case IL_CEL_NO_OVERLOAD:
        explain_overload(n, err);
        return;
    case IL_CEL_OVERFLOW:
        (void)IL_CEL_FAIL_SPAN(n->src, explain_call(n), explain_call(n) == n->start ? n->end : explain_token_end(n->src, n->at),
                               err, IL_E_INVALID, "the result of `%.*s` is out of range%s", IL_STR_ARG(explain_name(n)),
                               n->op == IL_CEL_OP_CALL && n->builtin != NULL ? il_cel_range_of(n->name) : "");
        return;
    case IL_CEL_DIVIDE:
        (void)explain_at(n, n->at, err, IL_E_INVALID, "division by zero", IL_STR(""), "");
        return;
    case IL_CEL_MISSING:
        explain_missing(n, e, err);
        return;
    case IL_CEL_NO_FAULT:
    case IL_CEL_UNSET:
        if (n->name.n > 0) {
            (void)explain_at(n, n->at, err, IL_E_INVALID, "`", n->name, "` has no value yet");
        } else {
            (void)explain_at(n, n->at, err, IL_E_INVALID, "a value that is not set yet", IL_STR(""), "");
        }
        return;
    case IL_CEL_BAD_VALUE:
        explain_bad_value(n, err);
        return;
    case IL_CEL_UNKNOWN:
        (void)explain_at(n, explain_call(n), err, IL_E_INVALID,
                         n->op == IL_CEL_OP_CALL ? "unknown function `" : "undeclared name `", n->name, "`");
        return;
    case IL_CEL_BUDGET:
        (void)explain_at(n, n->at, err, IL_E_LIMIT, "the evaluation took more steps or memory than it may", IL_STR(""), "");
        return;
    }
    (void)explain_at(n, n->at, err, IL_E_INVALID, "an error of no known kind", IL_STR(""), "");
}

static const char *explain_fault(il_cel_fault fault) {
    switch (fault) {
    case IL_CEL_NO_OVERLOAD:
        return "no overload for these kinds of values";
    case IL_CEL_OVERFLOW:
        return "a result that is out of range";
    case IL_CEL_DIVIDE:
        return "division by zero";
    case IL_CEL_MISSING:
        return "no such key or index";
    case IL_CEL_NO_FAULT:
    case IL_CEL_UNSET:
        return "a value that is not set yet";
    case IL_CEL_BAD_VALUE:
        return "a value that cannot be taken";
    case IL_CEL_UNKNOWN:
        return "an undeclared name";
    case IL_CEL_BUDGET:
        return "the evaluation took more steps or memory than it may";
    }
    return "an error of no known kind";
}

/* Of the parts of a map literal, whose nodes are any expressions, only the word says what was wrong. */
static bool explain_entry(const il_cel_code *code, const il_cel_value *e, const il_cel_node *n, il_error *err) {
    const uint8_t op = code->words[e->n - 1].op;
    if (e->fault != IL_CEL_NO_OVERLOAD || e->spare != 0 || (op != IL_CEL_C_KEY && op != IL_CEL_C_VALUE)) {
        return false;
    }
    const char *what = op == IL_CEL_C_KEY ? "a key of a map is an int, uint, bool or string"
                                          : "the value of a key that is written with `?` must be an optional";
    (void)explain_at(n, n->start, err, IL_E_INVALID, what, IL_STR(""), "");
    return true;
}

void il_cel_explain(const il_cel_program *program, il_cel_value error, il_error *err) {
    if (error.kind != IL_CEL_ERROR) {
        (void)il_error_set(err, IL_E_ARGUMENT, "the value is no error");
        return;
    }
    const il_cel_node *n = explain_node(program->code, &error);
    if (n != NULL && explain_entry(program->code, &error, n, err)) {
        return;
    }
    if (n != NULL) {
        explain_node_fault(n, &error, err);
    } else {
        (void)il_error_set(err, error.fault == IL_CEL_BUDGET ? IL_E_LIMIT : IL_E_INVALID, "%s",
                           explain_fault((il_cel_fault)error.fault));
    }
}
