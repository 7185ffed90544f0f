/* SPDX-License-Identifier: Apache-2.0 */
/* Places in stores as the ledger keeps them: the key of each, what it stands below, and its labels as bytes (docs/formats.md, Places). */
#pragma once
#include "base/error.h"
#include "base/sha256.h"
#include "interlock/store.h"

#define IL_PLACE_BYTES 6u

/* The key in the space IL_SPACE_STORE; `value` empty: the whole store of the kind. `blocks`: the host's hash, NULL for the portable one. */
IL_NODISCARD il_status il_place_key(il_sha256_blocks blocks, il_str kind, il_str value, char key[IL_DIGEST_HEX], il_error *err);

/* The places that a value stands below, one after the other; in the end all above any home. */
typedef struct il_place_walk {
    il_str kind, value;
    uint32_t above; /* of what is above a home that was given; begins with 0 */
} il_place_walk;
/* The next one, into w->value; false at the top. Only paths and what is written like them have something above. */
bool il_place_up(il_place_walk *w);

/* What was written at the place and below it. IL_E_DAMAGED, IL_E_VERSION. */
IL_NODISCARD il_status il_place_labels(il_str bytes, uint8_t *own, uint8_t *below, il_error *err);
void il_place_write(uint8_t own, uint8_t below, char bytes[IL_PLACE_BYTES]);
