/* SPDX-License-Identifier: Apache-2.0 */
/* Turns: threads that work on the same object go one after the other from load to commit. Objects share a few locks by the hash of their names, so
 * two of them may now and then wait for each other without need. A thread holds at most one turn. */
#pragma once
#include <pthread.h>

#include "base/str.h"

#define IL_TURNS 64

typedef struct il_turns {
    pthread_mutex_t locks[IL_TURNS];
} il_turns;

bool il_turns_init(il_turns *t); /* false: no locks to be had, and nothing to free */
void il_turns_free(il_turns *t);
void il_turns_take(il_turns *t, il_str space, il_str key);
void il_turns_end(il_turns *t, il_str space, il_str key);
