/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/cost.h"

/* A type that a caller built in a circle (a record within itself) ends here, with what is assumed of anything. */
#define COST_TYPE_DEPTH 16u

static il_cel_extent cost_of_anything(const il_cel_limits *limits) {
    return (il_cel_extent){limits->text_bytes, limits->list_items, limits->text_bytes, limits->list_items};
}

static il_cel_extent cost_of_type(const il_cel_type *type, const il_cel_limits *limits, unsigned depth) {
    if (type == NULL || depth == 0) {
        return cost_of_anything(limits);
    }
    il_cel_extent e = {0, 0, 0, 0};
    switch (type->kind) {
    case IL_CEL_ERROR:
    case IL_CEL_PARAM:
        return cost_of_anything(limits);
    case IL_CEL_STRING:
    case IL_CEL_BYTES:
        e.text = type->most != 0 ? type->most : limits->text_bytes;
        return e;
    case IL_CEL_LIST:
        e.items = type->most != 0 ? type->most : limits->list_items;
        return il_cel_extent_with(e, cost_of_type(type->element, limits, depth - 1));
    case IL_CEL_MAP:
        e.items = type->most != 0 ? type->most : type->nfields != 0 ? type->nfields : limits->list_items;
        /* As with a record, a field's own type is asked when it is selected; `element` is what any of them is. */
        e = il_cel_extent_with(e, cost_of_type(type->key, limits, depth - 1));
        return il_cel_extent_with(e, cost_of_type(type->element, limits, depth - 1));
    case IL_CEL_OPTIONAL:
        return cost_of_type(type->element, limits, depth - 1);
    case IL_CEL_RECORD:
        /* A field's own type is asked when it is selected: records come from the host only. What is taken out in another way
         * (as dyn) is anything. */
        e.inner_text = limits->text_bytes;
        e.inner_items = limits->list_items;
        return e;
    case IL_CEL_NULL:
    case IL_CEL_BOOL:
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_TYPE:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_OPAQUE:
        break;
    }
    return e;
}

il_cel_extent il_cel_extent_of(const il_cel_type *type, const il_cel_limits *limits) {
    return cost_of_type(type, limits, COST_TYPE_DEPTH);
}

il_cel_extent il_cel_extent_join(il_cel_extent a, il_cel_extent b) {
    return (il_cel_extent){il_cel_cost_most(a.text, b.text), il_cel_cost_most(a.items, b.items),
                           il_cel_cost_most(a.inner_text, b.inner_text), il_cel_cost_most(a.inner_items, b.inner_items)};
}

il_cel_extent il_cel_extent_with(il_cel_extent whole, il_cel_extent part) {
    whole.inner_text = il_cel_cost_most(whole.inner_text, il_cel_cost_most(part.text, part.inner_text));
    whole.inner_items = il_cel_cost_most(whole.inner_items, il_cel_cost_most(part.items, part.inner_items));
    return whole;
}
