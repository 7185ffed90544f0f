/* SPDX-License-Identifier: Apache-2.0 */
/* What the model reads of a decision: fixed sentences that name the rule and the calls that brought the effects, never their content. */
#pragma once
#include "interlock/monitor.h"
#include "policy/label.h"

/* Fills d->message from d->action, layer, reason, approval and witnesses, and from what the label says of the call's way out. `tool` names the
 * denied call; names that no policy could list are left out. `spent`: nobody is asked because the budget of approvals is used up, as label->why says;
 * of a rule label->why says which. */
void il_message_write(il_decision *d, il_str tool, const il_label *label, bool spent);
