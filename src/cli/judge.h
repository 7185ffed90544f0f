/* SPDX-License-Identifier: Apache-2.0 */
/* Decides recorded sessions under one policy, on a memory ledger, with a clock and ids that only count: the same file, the same decisions. */
#pragma once
#include "cli/recording.h"
#include "interlock/host.h"
#include "policy/against.h"

#define IL_JUDGE_WHY_BYTES 256

typedef struct il_judgement {
    uint32_t effects; /* after vouching */
    il_action action;
    il_layer layer;
    char reason[IL_REASON_BYTES];
    uint32_t nwitnesses;
    il_witness witnesses[IL_EFFECTS]; /* of a rejection by the machine: where what the session counts came from */
    char why[IL_JUDGE_WHY_BYTES];     /* why nothing was vouched; empty when something was, or nothing was to be vouched */
    bool standing;                    /* a way out that stays open: nobody can release it */
} il_judgement;

typedef struct il_judge il_judge;

/* `policy` is borrowed. `blind`: untrusted texts are not indexed, which is what an attacker who paraphrases achieves. A policy in mode `monitor` is judged as in `enforce`: what does not pass does not run. */
IL_NODISCARD il_status il_judge_new(const il_policy *policy, bool blind, il_judge **out, il_error *err);
void il_judge_free(il_judge *j);
/* The prompt of the latest recording is longer than is heard: what its end names vouches for nothing. */
bool il_judge_cut(const il_judge *j);
/* Decides the steps in order; `out` has room for recording->nsteps. A failure is one of the machinery (memory), not of a step. */
IL_NODISCARD il_status il_judge_recording(il_judge *j, const il_recording *recording, il_judgement *out, il_error *err);
/* Decides one call in a session of its own that is as the call says; fills action, effects and sink. */
IL_NODISCARD il_status il_judge_against(il_judge *j, const il_against_call *call, il_against_side *out, il_error *err);
