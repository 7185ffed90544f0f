/* SPDX-License-Identifier: Apache-2.0 */
/* What a call sends, as whoever receives it may read it: as it stands, decoded, and put together from parts in several arguments. */
#pragma once
#include "provenance/episode.h"

/* One call; zero but for the first two. */
typedef struct il_sending {
    il_episode *episode;
    il_arena *arena;
    bool decoded; /* what is sent now is a reading itself */
    uint32_t leaf;
    struct il_sent_order {
        il_str runs[2];     /* the latest two, the newest last */
        uint32_t leaves[2]; /* in which they stand */
    } orders[3];            /* of values, of keys, of both */
    struct il_sent_codes {
        il_buf text; /* what numbers of this base, one after the other, say as characters */
        uint32_t n;
    } codes[4];
} il_sending;

/* A text or number that the call sends, or a key of its arguments, in their order; borrowed until il_sent_done. What there is too much of to be read makes all count as sent. */
IL_NODISCARD il_status il_sent_leaf(il_sending *s, il_str text, bool key, il_error *err);
/* Items of a list, one behind the other: not a leaf of its own. */
IL_NODISCARD il_status il_sent_joined(il_sending *s, il_str text, il_error *err);
IL_NODISCARD il_status il_sent_done(il_sending *s, il_error *err);
