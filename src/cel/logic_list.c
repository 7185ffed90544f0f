/* SPDX-License-Identifier: Apache-2.0 */
/* Two lists of conditions as functions of facts, and whether they are one function. */
#include "cel/logic_part.h"

#define LIST_OUTCOMES 8u

/* From the end: what the list gives where none of the conditions behind `at` decides is known, and each one in front of it overrides. */
static void list_functions(il_cel_logic *l, const il_cel_ruled *list, size_t n, uint8_t otherwise, il_bdd_ref *out) {
    il_bdd *d = &l->bdd;
    for (uint32_t o = 0; o < LIST_OUTCOMES; o++) {
        out[o] = o == otherwise ? IL_BDD_TRUE : IL_BDD_FALSE;
    }
    for (size_t i = n; i-- > 0 && !il_bdd_bad(d);) {
        const bool always = list[i].id == IL_CEL_ALWAYS;
        const il_cel_bits bits = always ? (il_cel_bits){IL_BDD_TRUE, IL_BDD_FALSE} : l->conditions[list[i].id].bits;
        for (uint32_t o = 0; o < LIST_OUTCOMES; o++) {
            const il_bdd_ref erred = list[i].err == o ? IL_BDD_TRUE : IL_BDD_FALSE;
            const il_bdd_ref not_true = il_bdd_ite(d, bits.no, out[o], erred);
            out[o] = il_bdd_ite(d, bits.yes, list[i].yes == o ? IL_BDD_TRUE : IL_BDD_FALSE, not_true);
        }
    }
}

static bool list_right(const il_cel_logic *l, const il_cel_ruled *list, size_t n, bool *known) {
    bool right = true;
    for (size_t i = 0; i < n; i++) {
        const bool there = list[i].id == IL_CEL_ALWAYS || list[i].id < l->nconditions;
        right = right && there && list[i].yes < LIST_OUTCOMES && list[i].err < LIST_OUTCOMES;
        *known = *known && there && (list[i].id == IL_CEL_ALWAYS || !l->conditions[list[i].id].lost);
    }
    return right;
}

il_status il_cel_logic_same(il_cel_logic *l, const il_cel_ruled *a, size_t na, const il_cel_ruled *b, size_t nb,
                            uint8_t otherwise, il_cel_verdict *out, il_error *err) {
    bool known = true;
    il_bdd_ref x[LIST_OUTCOMES], y[LIST_OUTCOMES];
    *out = (il_cel_verdict){IL_CEL_UNSURE, NULL, 0};
    if (!list_right(l, a, na, &known) || !list_right(l, b, nb, &known) || otherwise >= LIST_OUTCOMES) {
        return il_error_set(err, IL_E_ARGUMENT, "a list names a condition or an outcome that is none");
    }
    if (!known) {
        return IL_OK;
    }
    il_cel_ask_begin(l);
    il_bdd *d = &l->bdd;
    const uint32_t mark = d->n;
    il_bdd_ref differ = IL_BDD_FALSE;
    list_functions(l, a, na, otherwise, x);
    list_functions(l, b, nb, otherwise, y);
    for (uint32_t o = 0; o < LIST_OUTCOMES && !il_bdd_bad(d); o++) {
        differ = il_bdd_or(d, differ, il_bdd_ite(d, x[o], il_bdd_not(d, y[o]), y[o]));
    }
    return il_cel_ask_never(l, differ, mark, out, err);
}
