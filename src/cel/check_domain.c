/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/check.h"

/* The words that a string expression can be: one for a literal, the domain of what has one; 0 for any string. */
static size_t domain_words(const il_cel_checker *c, const il_cel_node *n, const il_str **words) {
    if (n->op == IL_CEL_OP_LIT) {
        *words = &n->name; /* parse keeps the text there too */
        return n->lit.kind == IL_CEL_STRING ? 1 : 0;
    }
    const il_cel_type *type = il_cel_check_seen(c, n);
    if (type->kind != IL_CEL_STRING || type->domain == NULL) {
        return 0;
    }
    *words = type->domain;
    return type->ndomain;
}

static bool domain_has(const il_str *words, size_t n, il_str word) {
    for (size_t i = 0; i < n; i++) {
        if (il_str_eq(words[i], word)) {
            return true;
        }
    }
    return false;
}

/* Lets a literal share the bytes of the domain's word, so that comparing the two is comparing pointers. */
static void domain_intern(il_cel_node *n, const il_str *words, size_t nwords) {
    if (n->op == IL_CEL_OP_LIT && n->lit.kind == IL_CEL_STRING) {
        for (size_t i = 0; i < nwords; i++) {
            if (il_str_eq(words[i], n->name)) {
                n->lit.u.p = words[i].p;
                n->name = words[i];
                return;
            }
        }
    }
}

static void domain_say_side(il_cel_words *w, const il_cel_node *n) {
    const bool plain =
        n->op == IL_CEL_OP_VAR || n->op == IL_CEL_OP_LOCAL || n->op == IL_CEL_OP_FIELD || n->op == IL_CEL_OP_SELECT;
    const il_str text = plain ? il_cel_check_text(n) : (il_str){NULL, 0};
    if (text.n > 0) {
        il_cel_say(w, "`%.*s`", IL_STR_ARG(text));
    } else {
        il_cel_say(w, "the other side");
    }
}

static il_status domain_never(il_cel_checker *c, const il_cel_node *at, il_str word, const il_cel_node *side, const il_str *words,
                              size_t nwords) {
    il_cel_near near = il_cel_near_to(word);
    for (size_t i = 0; i < nwords; i++) {
        il_cel_near_try(&near, words[i]);
    }
    il_cel_words text;
    il_cel_words_init(&text);
    domain_say_side(&text, side);
    il_cel_say(&text, " is one of ");
    il_cel_say_names(&text, words, nwords);
    il_cel_say_near(&text, &near);
    return CHECK_FAIL_NODE(c, at, "never equal: %s", text.p);
}

static il_status domain_apart(il_cel_checker *c, const il_cel_node *op, const il_cel_node *a, const il_cel_node *b) {
    il_cel_words text;
    il_cel_words_init(&text);
    domain_say_side(&text, a);
    il_cel_say(&text, " and ");
    domain_say_side(&text, b);
    return CHECK_FAIL_NAME(c, op, "never equal: %s have no word in common", text.p);
}

il_status il_cel_check_never_equal(il_cel_checker *c, const il_cel_node *op, il_cel_node *a, il_cel_node *b) {
    const il_str *wa = NULL, *wb = NULL;
    const bool la = a->op == IL_CEL_OP_LIT, lb = b->op == IL_CEL_OP_LIT;
    if (la && lb) {
        return IL_OK;
    }
    const size_t na = domain_words(c, a, &wa), nb = domain_words(c, b, &wb);
    if (na == 0 || nb == 0) {
        return IL_OK;
    }
    if (la || lb) {
        il_cel_node *literal = la ? a : b, *side = la ? b : a;
        const il_str *words = la ? wb : wa;
        const size_t nwords = la ? nb : na;
        if (!domain_has(words, nwords, literal->name)) {
            return domain_never(c, literal, literal->name, side, words, nwords);
        }
        domain_intern(literal, words, nwords);
        return IL_OK;
    }
    for (size_t i = 0; i < na; i++) {
        if (domain_has(wb, nb, wa[i])) {
            return IL_OK;
        }
    }
    return domain_apart(c, op, a, b);
}

il_status il_cel_check_never_in(il_cel_checker *c, il_cel_node *value, il_cel_node *list) {
    if (list->op == IL_CEL_OP_LIST) {
        for (il_cel_node *k = list->kids; k != NULL; k = k->next) {
            if (!k->maybe) {
                IL_TRY(il_cel_check_never_equal(c, list, value, k));
            }
        }
        return IL_OK;
    }
    const il_cel_type *type = il_cel_check_seen(c, list);
    if (type->kind != IL_CEL_LIST || value->op != IL_CEL_OP_LIT || value->lit.kind != IL_CEL_STRING) {
        return IL_OK;
    }
    const il_cel_type *element = il_cel_type_seen(&c->types, type->element);
    if (element->kind == IL_CEL_STRING && element->domain != NULL) {
        if (!domain_has(element->domain, element->ndomain, value->name)) {
            return domain_never(c, value, value->name, list, element->domain, element->ndomain);
        }
        domain_intern(value, element->domain, element->ndomain);
    }
    return IL_OK;
}

il_status il_cel_check_arms(il_cel_checker *c, il_cel_node *a, il_cel_node *b, const il_cel_type **out) {
    const il_cel_type *ta = il_cel_check_seen(c, a), *tb = il_cel_check_seen(c, b);
    *out = il_cel_type_join(&c->types, ta, tb);
    if (ta->kind != IL_CEL_STRING || tb->kind != IL_CEL_STRING) {
        return IL_OK;
    }
    const il_str *wa = NULL, *wb = NULL;
    const size_t na = domain_words(c, a, &wa), nb = domain_words(c, b, &wb);
    size_t n = 0;
    if (na == 0 || nb == 0 || na + nb > IL_CEL_DOMAIN_MAX) {
        return IL_OK;
    }
    if ((*out)->domain == NULL) {
        il_str *words = IL_NEW_ARRAY(c->arena, il_str, na + nb);
        il_cel_type *type = IL_NEW(c->arena, il_cel_type);
        if (words == NULL || type == NULL) {
            return il_cel_no_memory(c->arena, c->err);
        }
        for (size_t i = 0; i < na; i++) {
            words[n++] = wa[i];
        }
        for (size_t i = 0; i < nb; i++) {
            if (!domain_has(words, n, wb[i])) {
                words[n++] = wb[i];
            }
        }
        *type = (il_cel_type){.kind = IL_CEL_STRING, .domain = words, .ndomain = n};
        *out = type;
    }
    domain_intern(a, (*out)->domain, (*out)->ndomain);
    domain_intern(b, (*out)->domain, (*out)->ndomain);
    return IL_OK;
}
