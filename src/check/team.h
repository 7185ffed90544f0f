/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that do one thing together and wait for the next. */
#pragma once
#include "interlock/base.h"

typedef struct il_team il_team;

/* `others` threads beside the caller's. NULL: no memory, or no thread could be started. */
il_team *il_team_new(const il_alloc *alloc, uint32_t others);
/* Every thread, the caller's included, calls job(ctx, i) once, with a number i of its own from 0 (the caller) on. Returns when all have. */
void il_team_run(il_team *t, void (*job)(void *ctx, uint32_t i), void *ctx);
/* Accepts NULL. Ends the threads. */
void il_team_free(il_team *t);
