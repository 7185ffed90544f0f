/* SPDX-License-Identifier: Apache-2.0 */
/* How far a command explores: its options, its clock, and what it says on stderr while it works.
 *
 *     il_bounds bounds = {0};
 *     const il_option options[] = {IL_BOUNDS_OPTIONS(&bounds), …};
 *     IL_TRY(il_options_read(…));
 *     IL_TRY(il_bounds_read(&bounds, "harden", &err));    the clock runs from here
 *     … explore with &bounds.space …
 *     il_bounds_done(&bounds);
 */
#pragma once
#include "check/space.h"
#include "cli/options.h"

#define IL_BOUNDS_OPTIONS(b)                                                                        \
    {.name = "max-states", .value = &(b)->states}, {.name = "max-seconds", .value = &(b)->seconds}, \
        {.name = "max-bytes", .value = &(b)->bytes}, {.name = "workers", .value = &(b)->workers},   \
        {.name = "max-work", .value = &(b)->work}, {                                                \
        .name = "progress", .flag = &(b)->progress                                                  \
    }

typedef struct il_bounds {
    const char *states, *seconds, *bytes, *work, *workers; /* as given */
    bool progress; /* say it always, a line each; else on a terminal only, and only when work lasts */
    il_space_bounds space;
    const char *command;
    uint64_t begun, end, shown;   /* ns of a clock that only goes forward; `end` 0: no limit */
    uint64_t total, before, told; /* states of explorations that have ended; of the one in hand; of both when it was last said */
    bool terminal, drawn;
} il_bounds;

/* IL_E_INVALID for a value that is none. `command` is borrowed; `b` must stay where it is while `b->space` is in use. */
IL_NODISCARD il_status il_bounds_read(il_bounds *b, const char *command, il_error *err);
/* Clears what was drawn. */
void il_bounds_done(il_bounds *b);
