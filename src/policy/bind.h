/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine's variables and symbols mean to the monitor, found once by name. */
#pragma once
#include "base/error.h"
#include "interlock/policy.h"
#include "machine/vocabulary.h"

#define IL_BIND_SLOTS_MAX 8u /* approval slots; a machine that can count more is refused */

typedef struct il_bind {
    const il_machine *machine;
    /* variables; UINT32_MAX where the machine has none */
    uint32_t untrusted, sensitive, secret, flight, open, crossing, asked, granted, phase;
    bool refines, joins, approves; /* the machine has these actions, with every payload that the monitor may need */
    uint32_t slots;                /* K */
    /* the symbols that every call needs, by effects, sink and approval, and by taints and what is the last; IL_NO_SYMBOL: the machine cannot say it */
    uint32_t admits[1u << IL_EFFECTS][3][2], settles[IL_TAINTS + 1][3];
} il_bind;

/* IL_E_INVALID when the machine lacks a variable or a symbol without which no session could be kept: `untrusted`, `sensitive`, `flight`, `open`,
 * and the symbols of `admit`, `settle`, `quarantine` and `end`. A group that is there in part (refine; join; the approvals) is refused as well, one that is
 * left out wholly is not. The message names the first symbol that is missing. */
IL_NODISCARD il_status il_bind_open(const il_machine *machine, il_bind *out, il_error *err);

/* Symbols. IL_NO_SYMBOL when the machine cannot say it. */
uint32_t il_bind_admit(const il_bind *b, uint32_t effects, il_sink_word sink, bool approved);
uint32_t il_bind_settle(const il_bind *b, uint32_t taints, uint8_t last);
uint32_t il_bind_refine(const il_bind *b, uint32_t taints);
uint32_t il_bind_join(const il_bind *b, uint32_t taints, uint8_t flight, uint8_t open);
uint32_t il_bind_lapse(const il_bind *b, bool granted);
uint32_t il_bind_plain(const il_bind *b, const char *action); /* an action without payload */

/* Taint bits that the state counts. */
uint32_t il_bind_counted(const il_bind *b, uint64_t state);
/* Those of them that are `fresh`. */
uint32_t il_bind_fresh(const il_bind *b, uint64_t state);
/* 0 no, 1 bound, 2 foreign, of `flight`, `open` or `crossing`. */
uint8_t il_bind_live(const il_bind *b, uint64_t state, uint32_t var);
uint32_t il_bind_count(const il_bind *b, uint64_t state, uint32_t var); /* of `asked` and `granted`; 0 without such a variable */
bool il_bind_phase(const il_bind *b, uint64_t state, const char *phase);
