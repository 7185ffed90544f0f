/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/fault.h"

#include "base/error.h"

const char *il_fault_reason(il_fault f) {
    switch (f) {
#define IL_FAULT_CASE(id, reason, layer, action, when, test) \
    case id:                                                 \
        return reason;
        IL_FAULT_MAP(IL_FAULT_CASE)
#undef IL_FAULT_CASE
    }
    return "internal";
}

il_fault il_fault_of(il_status s) {
    switch (s) {
    case IL_E_MEMORY:
        return IL_FAULT_MEMORY;
    case IL_E_LIMIT:
        return IL_FAULT_LIMIT;
    case IL_E_NOT_FOUND:
        return IL_FAULT_NO_SESSION;
    case IL_E_CONFLICT:
    case IL_E_BUSY:
        return IL_FAULT_LEDGER_BUSY;
    case IL_E_DAMAGED:
        return IL_FAULT_LEDGER_DAMAGED;
    case IL_E_VERSION:
        return IL_FAULT_LEDGER_VERSION;
    case IL_E_MISMATCH:
        return IL_FAULT_POLICY_MISMATCH;
    case IL_E_IO:
    case IL_E_PERMISSION:
        return IL_FAULT_LEDGER_ERROR;
    case IL_OK:
    case IL_E_ARGUMENT:
    case IL_E_SYNTAX:
    case IL_E_INVALID:
    case IL_E_EXISTS:
    case IL_E_SEAL:
    case IL_E_STATE:
    case IL_E_INTERNAL:
        return IL_FAULT_INTERNAL;
    }
    return IL_FAULT_INTERNAL;
}

void il_fault_block(il_decision *d, il_fault f) {
    const char *reason = il_fault_reason(f);
    d->action = IL_ACTION_BLOCK;
    d->layer = IL_LAYER_FAULT;
    d->run = false;
    d->ticket = 0;
    d->approval[0] = '\0';
    (void)il_format(d->reason, sizeof d->reason, "%s", reason);
    (void)il_format(
        d->message, sizeof d->message,
        "interlock stopped this call before it ran: %s (a fault of the gate, not of the call). do not retry it in another form; "
        "tell the user.",
        reason);
}
