/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `interlock guard` share: machines that sessions ran on, sessions that are watched, and what is said of
 * them. */
#pragma once
#include "base/sha256.h"
#include "check/belief.h"
#include "cli/command.h"
#include "cli/head.h"
#include "cli/ledger.h"
#include "ledger/row_steps.h"
#include "machine/fleet.h"
#include "json/node.h"

#define GUARD_TRAIL 12 /* rows of a session that an alarm names as those that led there */
#define GUARD_NAMED 16 /* sessions that a fleet's alarm names */

/* ---- machines ----------------------------------------------------------------------------------- */

typedef struct guard_fleet guard_fleet; /* the counters of its invariants */

typedef struct guard_alarm { /* one that the machine's document, or the guard by default, asks for */
    uint32_t region;
    bool certain;       /* raised only when every possible state is in the region */
    bool blind;         /* certainty cannot be had for this region: nothing is raised */
    const char *shield; /* `quarantine`, `end`; NULL: none */
} guard_alarm;

typedef struct guard_machine {
    struct guard_machine *next;
    char seal[IL_DIGEST_HEX];
    char name[64];
    il_arena arena; /* model, table */
    il_model *model;
    il_machine *machine;
    il_bind bind;
    il_estimator *estimator; /* NULL: over a bound, and `why` */
    char why[IL_ERROR_MSG_BYTES];
    uint32_t nalarms;
    guard_alarm alarms[IL_MODEL_REGIONS_MAX];
    guard_fleet *fleet; /* NULL: no invariants */
} guard_machine;

/* ---- sessions ------------------------------------------------------------------------------------ */

typedef struct guard_live { /* of a session that goes on */
    il_row_reader reader;
    il_belief belief;
    bool lost;                  /* what is seen is seen of no state of the plant */
    bool believes;              /* `belief` is in force */
    uint64_t possible, certain; /* bit r: raised, and true since */
    uint64_t rows[GUARD_TRAIL];
    uint32_t nrows; /* all of them, also those that are not kept */
} guard_live;

typedef struct guard_session {
    struct guard_session *next; /* in its bucket */
    char id[IL_SESSION_ID_BYTES];
    const guard_machine *machine; /* NULL: unknown */
    guard_live *live;             /* NULL: it ended, or its machine is unknown */
    bool ended, quarantined, pruned, unenforced, refused;
    bool counted;   /* by its machine's fleet */
    uint64_t state; /* while `counted`, and when `ended` */
} guard_session;

/* ---- the run -------------------------------------------------------------------------------------- */

typedef struct guard_chain {       /* of hashes */
    il_head head;                  /* --head */
    bool found, asked;             /* that row was read; it was said that it is not there */
    bool cut;                      /* it was said that the last row is another one, or none, by now */
    uint64_t seq;                  /* of the row that was read last; 0: none yet */
    uint8_t hash[IL_DIGEST_BYTES]; /* and its hash; zeros, from which row 1 follows */
} guard_chain;

typedef struct guard_run {
    /* options */
    const char *ledger_flag, *machine_flag, *session;
    bool follow, shield, json;
    uint32_t max_states;
    /* the ledger */
    char path[IL_LEDGER_PATH_BYTES];
    il_ledger *ledger, *writes; /* `writes`: with --shield */
    uint64_t seq;               /* of the row that was read last */
    guard_chain chain;
    bool began;          /* a first row was there */
    bool waits;          /* it was said that there is no file yet */
    uint32_t half;       /* looks at a file that is no ledger yet */
    bool below, foreign; /* said: a row without a number; of a space that none has, while it lasts */
    uint64_t gap;        /* said: the row behind rows that are not there */
    /* what is known */
    guard_machine *machines;
    guard_session **buckets;
    uint32_t nbuckets, nsessions;
    uint64_t salt;
    il_arena row;  /* of the row in hand */
    il_arena line; /* of the line in hand */
    /* what was found */
    uint64_t nrows, nalarms, nfindings;
    uint32_t most; /* states that were possible at once */
} guard_run;

/* guard_machine.c: the machine of that seal; NULL with IL_OK when none is known. IL_E_MEMORY and the like otherwise. */
IL_NODISCARD il_status guard_machine_find(guard_run *run, il_str seal, guard_machine **out, il_error *err);
/* Loads what --machine names. */
IL_NODISCARD il_status guard_machine_named(guard_run *run, const char *path, il_error *err);
void guard_machines_free(guard_run *run);

/* guard_blind.c: marks the alarms on `certain` for whose region certainty cannot be had, and says so. */
IL_NODISCARD il_status guard_blind(guard_run *run, guard_machine *m, il_error *err);

/* guard_session.c */
IL_NODISCARD il_status guard_row(guard_run *run, const il_ledger_row *row, il_error *err);
guard_session *guard_session_find(const guard_run *run, il_str id);
void guard_sessions_free(guard_run *run);

/* guard_chain.c: whether the row follows from the one that was read before it; whether that one is still there, when others write; and, when all was
 * read once, whether the row of --head was there. */
IL_NODISCARD il_status guard_chain_row(guard_run *run, const il_ledger_row *row, il_error *err);
IL_NODISCARD il_status guard_chain_look(guard_run *run, il_error *err);
IL_NODISCARD il_status guard_chain_end(guard_run *run, il_error *err);

/* guard_fleet.c: counters that follow the sessions' recorded states. */
IL_NODISCARD il_status guard_fleet_new(guard_machine *m, il_error *err);
void guard_fleet_free(guard_fleet *f);
/* The session is in `state` by now; `leaves`: it ended. Alarms are raised here. */
IL_NODISCARD il_status guard_fleet_move(guard_run *run, guard_session *s, uint64_t state, bool leaves, uint64_t row,
                                        il_error *err);

/* guard_shield.c: takes the corrective action in the live session. *said is a word for the alarm's line. */
IL_NODISCARD il_status guard_shield(guard_run *run, guard_session *s, const guard_alarm *alarm, const char *level,
                                    const char **said, il_error *err);
/* The action as a word of the guard's; NULL when it is none that a guard can take. */
const char *guard_shield_word(const il_model *m, uint32_t symbol);

/* guard_say.c */
typedef struct guard_said {
    const char *level;            /* `possible`, `certain`, `model-breach`, `fleet`, `chain`; NULL: a finding */
    const char *what;             /* of a finding or a breach: a word that stays the same (docs/guard.md) */
    il_str region;                /* or a fleet's invariant; empty: none */
    const guard_session *session; /* NULL: about the whole ledger */
    uint64_t row;                 /* 0: about no single row */
    const char *why;              /* a sentence; may be NULL */
    const char *shield;           /* what became of it; NULL: there is none */
    uint32_t in;                  /* possible states that are in the region */
    uint32_t nsessions;
    const char *const *sessions; /* a fleet's */
    uint64_t others;             /* sessions that are not named */
} guard_said;
IL_NODISCARD il_status guard_say(guard_run *run, const guard_said *what, il_error *err);
IL_NODISCARD il_status guard_say_end(guard_run *run, il_exit code, il_error *err);
