/* SPDX-License-Identifier: Apache-2.0 */
/* The labels that come with a call's arguments, from a host whose values carry them, and endorsements. They only add: an untrusted one makes the call bring `untrusted`,
 * whatever the index says of the argument. */
#pragma once
#include "policy/label.h"
#include "provenance/episode.h"

/* Each is of an argument, and there are not too many: IL_E_INVALID, IL_E_LIMIT. */
IL_NODISCARD il_status il_carried_check(const il_json *args, const il_origin_at *labels, size_t n, il_error *err);
/* One of them is untrusted by the policy's `sources` as they are now. */
bool il_carried_untrusted(const il_policy *p, const il_label_call *call);
/* The label is of this argument, of something in it, or of all arguments. */
bool il_carried_about(const il_origin_at *label, il_str argument);
/* The label is of all of its argument. */
bool il_carried_whole(const il_origin_at *label);
/* What stands at a path (JSON Pointer) of the arguments; NULL: nothing. */
const il_json *il_carried_value(const il_json *args, il_str path);
/* How many names they have, doubles counted: sources and agents. */
uint32_t il_carried_names(const il_label_call *call);

/* A human's word for a value, as the session's memory keeps it. */
IL_NODISCARD il_status il_carried_endorse(const il_endorsement *e, il_arena *arena, il_episode **out, il_error *err);
/* Whether the value with this digest was endorsed: in the session, or by a label of the call. */
bool il_carried_endorsed(const il_label_call *call, il_str kind, const uint8_t digest[IL_DIGEST_BYTES]);
