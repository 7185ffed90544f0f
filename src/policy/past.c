/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/past.h"

#include "policy/kind.h"

il_status il_past_sources(const struct il_memory *memory, il_arena *scratch, il_cel_value out[3], il_error *err) {
    (void)memory;
    (void)scratch;
    (void)err;
    out[0] = out[1] = out[2] = il_cel_of_items(IL_CEL_LIST, NULL, 0);
    return IL_OK;
}

il_status il_past_argument(const il_label_call *call, const il_json *argument, il_arena *scratch, il_cel_value out[2],
                           il_error *err) {
    (void)argument;
    (void)scratch;
    (void)err;
    out[0] = il_cel_of_items(IL_CEL_LIST, NULL, 0);
    out[1] = il_cel_of_str((call->held & (uint32_t)IL_UNTRUSTED) != 0 ? IL_STR("untrusted") : IL_STR("trusted"));
    return IL_OK;
}

const char *il_past_vouched(const il_label *label, il_str argument, il_cel_value *out) {
    (void)argument;
    *out = il_cel_of_bool(label->vouched);
    return label->why;
}

/* Only of a call that is vouched as a whole: then each of its destinations and objects is. A kind's own spelling is one of them. */
bool il_past_value_vouched(const il_label *label, il_str value) {
    for (size_t i = 0; i < label->ndestinations && label->vouched; i++) {
        if (il_str_eq_nocase(label->destinations[i], value)) {
            return true;
        }
    }
    return false;
}
