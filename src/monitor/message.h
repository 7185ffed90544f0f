/* SPDX-License-Identifier: Apache-2.0 */
/* What the model reads of a decision: fixed sentences that name the rule and the calls that brought the effects, never their content. */
#pragma once
#include "interlock/monitor.h"
#include "policy/label.h"

/* Fills d->message from d->action, layer, reason, approval and witnesses, and from what the label says of the call's way out. `tool` names the
 * denied call; names that no policy could list are left out. Of a rule label->why says which. */
typedef struct il_message_more {
    bool spent; /* nobody is asked because the budget of approvals is used up, as label->why says */
    uint32_t
        open; /* nobody is asked because so many requests of the session are open, as many as its machine counts: there may be room later; 0: not so */
    il_str near; /* of a tool without an entry: the name that may have been meant; empty: none */
} il_message_more;
void il_message_write(il_decision *d, il_str tool, const il_label *label, const il_message_more *more);
