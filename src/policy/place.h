/* SPDX-License-Identifier: Apache-2.0 */
/* What a call writes in stores (`stores` of its entry): the places that take over the session's labels. */
#pragma once
#include "policy/compiled.h"

/* Fills out->places. A place that cannot be read as its kind is the whole store of that kind. */
IL_NODISCARD il_status il_label_places(const il_policy *p, il_str name, const il_label_call *call, il_arena *scratch,
                                       il_label *out, il_error *err);
