/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the monitor share: a job is one thing to do to a loaded session. It is loaded, planned and committed, and all of it again
 * when somebody else was faster. */
#pragma once
#include "monitor/plan.h"

#define IL_MONITOR_TRIES 1000
#define IL_MONITOR_MEMORY ((size_t)256 << 20) /* of one request; the reader of the arguments has its own, lower limits */

#define IL_MONITOR_RESULT ((size_t)1 << 30) /* of what is read in a result: its digests may be a multiple of it for a while */

#define IL_MONITOR_EXPECTED ((size_t)16 << 10)  /* what most requests take in all */
#define IL_MONITOR_EXPECTED_LABEL ((size_t)512) /* and their label */

struct il_monitor {
    il_alloc alloc;
    il_core core;
    il_store store;
    il_host host;
    il_recall_cache cache; /* without functions: there is none */
};

/* One thing to do to a loaded session. The work fills the plan; what it returns ends the call without a commit, unless it is IL_OK. */
typedef struct il_monitor_job {
    il_status (*work)(il_plan *p, void *ctx, il_error *err);
    void *ctx;
    bool sweeps;  /* overdue calls and expired approvals first, in a transaction of their own */
    bool entropy; /* to be drawn: set once a plan has asked for it, which few do */
    bool recalls; /* the work asks what the session knows, or adds to it */
    /* Where it ended, for the table of faults. */
    bool no_clock, opening;
    il_fault recalling; /* IL_FAULT_INTERNAL: nothing was wrong with what the session knows */
    il_plan *plan;
    il_recall *recall; /* the session's, while the job has it */
} il_monitor_job;

/* Runs a job to its end; the arena holds what was planned last. IL_E_BUSY when others kept moving the session. */
IL_NODISCARD il_status il_monitor_run(const il_monitor *m, il_str session, il_monitor_job *job, il_arena *arena, il_error *err);
/* As il_monitor_run, with an arena of its own and the checks of il_monitor_check. */
IL_NODISCARD il_status il_monitor_do(const il_monitor *m, il_str session, il_monitor_job *job, il_error *err);

/* ---- for jobs that are not about one loaded session ------------------------------------------ */

bool il_monitor_id_ok(il_str id);
/* A monitor and a session's id, or IL_E_ARGUMENT. */
IL_NODISCARD il_status il_monitor_check(const il_monitor *m, il_str session, il_error *err);
IL_NODISCARD il_status il_monitor_clock(const il_monitor *m, uint64_t *now, il_error *err);
IL_NODISCARD il_status il_monitor_load(const il_monitor *m, il_arena *arena, il_str session, il_str *bytes, uint64_t *version,
                                       il_error *err);
IL_NODISCARD il_status il_monitor_commit(const il_monitor *m, il_plan *p, il_error *err);
/* Any object, into the arena. For il_plan_input.load; ctx is the monitor. */
IL_NODISCARD il_status il_monitor_object(const void *ctx, il_arena *arena, il_str space, il_str key, il_str *bytes,
                                         uint64_t *version, il_error *err);

/* ---- recall: what the session knows ------------------------------------------------------------ */

/* Makes job->recall what the loaded session counts: from the job, the cache and the store. A failure says in job->recalling what is wrong. */
IL_NODISCARD il_status il_monitor_recall(const il_monitor *m, il_str session, const il_session *s, il_monitor_job *job,
                                         il_error *err);
/* After the commit of a plan: what it added is known from now on. Never fails: a recall that could not take it in is given up, and made again from the store. */
void il_monitor_recalled(const il_monitor *m, il_monitor_job *job);
/* Gives the job's recall back. */
void il_monitor_recall_end(const il_monitor *m, il_str session, il_monitor_job *job);
/* What the interface of a store says of this status; anything else is an error of the ledger. */
il_status il_monitor_store_status(il_status s);
