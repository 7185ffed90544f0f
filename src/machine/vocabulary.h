/* SPDX-License-Identifier: Apache-2.0 */
/* The words by which a machine's payloads speak of effects. The monitor chooses a symbol with them and the checker sets its ghosts with them,
 * so both mean the same thing. A field that is none of these words makes an action unusable for the monitor.
 *
 *   untrusted, sensitive, secret: bool      brings (or, in `settle` and `refine`, names) that taint
 *   data: none | sensitive | secret         the same; secret implies sensitive
 *   egress: none | once | standing | once_bound | standing_bound
 *   flight, open: bool or none | bound | foreign      what a join carries in
 *   commit, approved: bool
 *   last: none | egress | crossing          which reservation a settle releases
 *   slot: asked | granted
 */
#pragma once
#include "machine/model.h"

typedef enum il_sink_word { IL_SINK_NONE = 0, IL_SINK_ONCE, IL_SINK_STANDING } il_sink_word;

/* What one symbol says, decoded. */
typedef struct il_symbol_words {
    bool untrusted, sensitive, secret; /* secret sets sensitive as well */
    il_sink_word egress;
    bool bound;           /* once_bound, standing_bound */
    uint8_t flight, open; /* 0 no, 1 bound, 2 foreign (bool true is 2) */
    bool commit, approved;
    uint8_t last; /* 0 none, 1 egress, 2 crossing */
    uint8_t slot; /* 0 asked, 1 granted */
} il_symbol_words;

il_symbol_words il_model_words(const il_model *m, uint32_t symbol);

/* The inverse, for an opened machine: the symbol of `action` that says exactly `words`. Three words may lack a field of their own: `commit` is
 * dropped, `bound` reads as foreign, `secret` as sensitive. Any other word that is set and has no field, and any field that no word sets,
 * gives IL_NO_SYMBOL: a call is never admitted as less than it is. */
uint32_t il_machine_words_symbol(const il_machine *m, il_str action, const il_symbol_words *words);
