/* SPDX-License-Identifier: Apache-2.0 */
/* What `session show` and `session why` print of a view. */
#pragma once
#include "cli/view.h"

IL_NODISCARD il_status il_session_show(il_view *v, bool json, il_error *err);
IL_NODISCARD il_status il_session_why(il_view *v, bool json, il_error *err);
