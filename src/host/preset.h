/* SPDX-License-Identifier: Apache-2.0 */
/* The presets that come with this build: presets/NAME@VERSION.yaml, embedded. */
#pragma once
#include "base/arena.h"
#include "interlock/policy.h"

typedef struct il_preset_source {
    const char *name; /* `github@2` */
    const char *text; /* the YAML */
    size_t n;
} il_preset_source;
extern const il_preset_source il_preset_sources[]; /* sorted by name, ended by a NULL name */

/* A place that reads presets into an arena, each once. */
typedef struct il_preset_shelf {
    il_arena *arena;
    il_json *read; /* what was asked for, by name */
} il_preset_shelf;
il_presets il_host_presets(il_preset_shelf *shelf);
