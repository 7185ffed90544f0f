/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of a step's arguments (`labels` of a session file): what a program that marks its values would say of them. */
#pragma once
#include "interlock/provenance.h"
#include "json/node.h"

typedef struct il_recording_label {
    il_str path;                                /* JSON Pointer into `args` */
    const il_json *value;                       /* what stands there */
    const il_json *sources, *agents, *endorsed; /* a text or a list of texts; NULL: none */
} il_recording_label;

/* Reads `labels`, a map from paths to a source, or to `{sources, agents, endorsed}`. IL_E_INVALID with position. */
IL_NODISCARD il_status il_recording_labels(il_arena *arena, const il_json *labels, const il_json *args, il_recording_label **out,
                                           uint32_t *n, il_error *err);
/* The label, freed by the caller (il_origin_free). `agent`: who took it in, where `agents` says nothing. */
IL_NODISCARD il_status il_recording_origin(const il_alloc *alloc, const il_recording_label *label, il_str agent, il_origin **out,
                                           il_error *err);
