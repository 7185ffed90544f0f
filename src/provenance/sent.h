/* SPDX-License-Identifier: Apache-2.0 */
/* What a sent text says to whoever decodes it. */
#pragma once
#include "provenance/episode.h"

/* Sends the readings (decode.h) of a text in which something stands behind escapes; the text itself is the caller's to send. What there is too much of to be read makes all count as sent. */
IL_NODISCARD il_status il_sent_readings(il_episode *e, il_str text, il_arena *arena, il_error *err);
