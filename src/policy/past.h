/* SPDX-License-Identifier: Apache-2.0 */
/* What conditions ask of the session's past, and of what the labeller said of an argument. Without a memory the answer is the worst that the held
 * classes allow: no source is known, and what is known of none is as trusted as the session is. */
#pragma once
#include "cel/cel.h"
#include "policy/label.h"

/* out[0..2]: `sources`, `untrusted_sources`, `ingested_by`, each name once, oldest first; last those that only the call's own labels have. */
IL_NODISCARD il_status il_past_sources(const il_policy *p, const il_label_call *call, il_arena *scratch, il_cel_value out[3],
                                       il_error *err);
/* out[0..1]: `sources` and `trust` of one argument: by what the session read, and by its labels. Where untrusted is held it is trusted only when it is known
 * where all of it is from: a human typed it, or a label of the whole says so. That it matches nothing proves nothing. */
IL_NODISCARD il_status il_past_argument(const il_policy *p, const il_label_call *call, const il_json *argument, il_arena *scratch,
                                        il_cel_value out[2], il_error *err);
/* Whether what this argument names is vouched, and why or why not. An error where that hangs on values which the label has no room for. */
const char *il_past_vouched(const il_label *label, il_str argument, il_cel_value *out);
/* Whether this value is one of the call's destinations or objects and vouched; an error as above. */
il_cel_value il_past_value_vouched(const il_label *label, il_str value, il_arena *scratch);
