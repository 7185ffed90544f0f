/* SPDX-License-Identifier: Apache-2.0 */
/* What a call writes in stores (`stores` of its entry): the places that take over the session's labels. */
#pragma once
#include "policy/compiled.h"

/* No root, no home, no drive, scheme or variable in front: what a server joins to the folder that it runs in. */
bool il_place_relative(il_str text);
/* A path as a call of this server names it, canonical; a relative one from the server's `cwd`. IL_E_INVALID: which it is cannot be told. */
IL_NODISCARD il_status il_place_path(const il_policy *p, il_str server, il_str text, il_arena *scratch, il_str *out);

/* Fills out->places. A place that cannot be read as its kind is the whole store of that kind. */
IL_NODISCARD il_status il_label_places(const il_policy *p, il_str name, const il_label_call *call, il_arena *scratch,
                                       il_label *out, il_error *err);
