/* SPDX-License-Identifier: Apache-2.0 */
/* What the model reads of a decision: fixed sentences that name the rule and the calls that brought the effects, never their content. */
#pragma once
#include "interlock/monitor.h"

/* Fills d->message from d->action, layer, reason, approval and witnesses. `tool` names the denied call; names that no policy could list are
 * left out. */
void il_message_write(il_decision *d, il_str tool);
