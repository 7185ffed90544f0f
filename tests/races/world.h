/* SPDX-License-Identifier: Apache-2.0 */
/* Agents that work on shared sessions at once, in threads or processes, and what they say of it: their claims. Everything that decides what a
 * call is and how it settles follows from the session's number and the ticket, so that the trail alone can be replayed. */
#pragma once
#include <stdatomic.h>
#include <stdio.h>

#include "interlock/host.h"

#define RACES_TOOLS 12u
#define RACES_CALLS 16u     /* tools with their arguments */
#define RACES_WINDOW 6u     /* sessions that are alive at a time */
#define RACES_SESSION 400u  /* admissions until the window moves on by one */
#define RACES_DEADLINE 9000 /* ticks of the clock until a call counts as lost */
#define RACES_CLAIMS_MORE 4096u

typedef struct races_call {
    const char *tool, *args;
    uint8_t digest[IL_DIGEST_BYTES];
} races_call;

typedef struct races_claim { /* what an agent was told */
    uint32_t session, ticket;
    uint8_t call;
    bool released;
} races_claim;

typedef struct races_world { /* in memory that all processes share */
    _Atomic uint64_t clock;  /* a tick each time it is read */
    _Atomic uint64_t random;
    _Atomic uint64_t allows, denies, asked, answered, settles, withheld, twice, ended, faults, conflicts;
    uint64_t target; /* allows */
    uint32_t seed;
    races_call calls[RACES_CALLS];
    _Atomic uint32_t nclaims;
    uint32_t cap;
    char fault[512]; /* the first one, for people */
    races_claim claims[];
} races_world;

races_world *races_world_new(uint64_t target, uint32_t seed);
void races_world_free(races_world *w);

/* A monitor on this store, with the world's clock and randomness. */
il_monitor *races_monitor(races_world *w, const il_policy *policy, il_store store);
/* Fills in the digests of the calls' arguments. */
void races_learn(races_world *w, il_monitor *m);
/* One agent's work until the target is reached. `who`: its number. */
void races_agent(races_world *w, il_monitor *m, uint32_t who);

/* The session's id and how a ticket of it settles. */
void races_session_id(uint32_t number, char out[24]);
uint32_t races_session_number(il_str id); /* UINT32_MAX: none of ours */
typedef struct races_end {
    il_outcome outcome;
    il_json_doc *doc;
} races_end;
races_end races_end_of(uint32_t session, uint64_t ticket);
void races_end_free(races_end *e);
il_json_doc *races_json(const char *text);

#define RACES_MUST(x) ((x) ? (void)0 : races_stop(__FILE__, __LINE__, #x))
_Noreturn void races_stop(const char *file, int line, const char *what);
