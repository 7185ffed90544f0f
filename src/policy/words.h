/* SPDX-License-Identifier: Apache-2.0 */
/* Small readers that the sections of a policy share. */
#pragma once
#include "interlock/policy.h"
#include "json/node.h"

/* A list of effect words among `allowed`; each at most once. `what` is for the message. secret does not set sensitive here. */
IL_NODISCARD il_status il_words_effects(const il_json *list, uint32_t allowed, const char *what, uint32_t *out, il_error *err);
/* IL_E_INVALID at the member's key. */
IL_NODISCARD il_status il_words_unsupported(const il_json *member, il_error *err);
/* `enforce` or `monitor`. */
IL_NODISCARD il_status il_words_mode(const il_json *v, il_mode *out, il_error *err);
/* `10m`: a whole number of s, m, h or d, from one second to seven days. */
IL_NODISCARD il_status il_words_duration(const il_json *v, uint64_t *ms, il_error *err);
