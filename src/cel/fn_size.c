/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/fn.h"

il_cel_value il_cel_fn_size(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    (void)nargs;
    switch ((il_cel_kind)args[0].kind) {
    case IL_CEL_STRING:
        if (!il_cel_charge_text(r, args[0].n)) {
            return il_cel_of_fault(IL_CEL_BUDGET);
        }
        return il_cel_of_int((int64_t)il_utf8_count(il_cel_str(args[0])));
    case IL_CEL_BYTES:
    case IL_CEL_LIST:
    case IL_CEL_MAP:
        return il_cel_of_int(args[0].n);
    case IL_CEL_ERROR:
    case IL_CEL_NULL:
    case IL_CEL_BOOL:
    case IL_CEL_INT:
    case IL_CEL_UINT:
    case IL_CEL_DOUBLE:
    case IL_CEL_TIMESTAMP:
    case IL_CEL_DURATION:
    case IL_CEL_TYPE:
    case IL_CEL_OPTIONAL:
    case IL_CEL_IP:
    case IL_CEL_CIDR:
    case IL_CEL_RECORD:
    case IL_CEL_OPAQUE:
    case IL_CEL_PARAM:
        break;
    }
    return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

/* Of a list or map there is no text to count; the bound does not know which it is. */
il_cel_bound il_cel_bound_size(const uint64_t *sizes, uint32_t n) { return (il_cel_bound){1 + (n > 0 ? sizes[0] / 64 : 0), 1}; }
