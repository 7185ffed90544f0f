/* SPDX-License-Identifier: Apache-2.0 */
/* A server's question to the person at the client. It names who asks, since the client can only name the gateway; it has no links and nothing
 * that nobody sees; and it does not ask for what opens doors. */
#pragma once
#include "json/node.h"

/* Parameters of elicitation/create as the client gets them, built in `a`. IL_E_INVALID with the reason in err when the question is refused;
 * IL_E_MEMORY. `params` may be NULL. */
IL_NODISCARD il_status il_elicit_params(il_arena *a, const il_json *params, il_str server, il_json **out, il_error *err);
/* Whether words such as a field's name ask for a credential: `API key`, `userPassword`, `one-time code`. */
bool il_elicit_credential(il_str words);
