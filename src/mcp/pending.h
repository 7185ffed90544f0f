/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that wait for their answer: our id on the one side, the asker's id, exactly as it came, on the other.
 * Our ids start at 1, only grow and are never used twice. Threads: one. */
#pragma once
#include "interlock/monitor.h"
#include "mcp/mediate.h"
#include "mcp/progress.h"
#include "net/rpc.h"

typedef struct il_pending {
    int64_t uid;     /* our id, and our progress token */
    il_rpc_id id;    /* the asker's; text owned */
    il_rpc_id token; /* the asker's progress token, or not present; text owned */
    il_message message;
    il_str method;     /* static */
    il_str what;       /* what is called, for people: a tool's name or the method; owned */
    il_str extra;      /* the resource's URI of a (un)subscribe, the cursor of a list (p NULL: none); owned */
    il_str args;       /* what was decided, as canonical text, when its result cannot be read without (p NULL: not kept); owned */
    unsigned turn;     /* in which it was decided: see il_wire_in_turn */
    bool judged;       /* the ticket has to be settled */
    size_t progress_n; /* of the last progress, as it was written; 0: none yet */
    char progress[IL_PROGRESS_BYTES];
    uint64_t ticket;
    uint64_t deadline, limit; /* milliseconds of il_loop_now_ms: next time-out, and the last possible one */
    il_action action;         /* what was decided; differs from allow only in monitor mode */
    il_layer layer;
    bool unenforced;
    char reason[IL_REASON_BYTES], decision[IL_APPROVAL_ID_BYTES]; /* the rule; the decision's id */
} il_pending;

typedef struct il_pendings {
    const il_alloc *alloc;
    il_pending **v; /* in order of uid */
    size_t n, cap, max;
    size_t kept;  /* bytes of arguments */
    int64_t next; /* the next uid */
} il_pendings;

void il_pendings_init(il_pendings *p, const il_alloc *alloc, size_t max);
void il_pendings_free(il_pendings *p);

typedef struct il_pending_spec { /* borrowed, copied by il_pendings_add */
    il_rpc_id id, token;
    il_message message;
    il_str method; /* static */
    il_str what, extra;
} il_pending_spec;
/* IL_E_EXISTS when the asker has a request with this id in flight, IL_E_LIMIT when `max` are, IL_E_MEMORY. */
IL_NODISCARD il_status il_pendings_add(il_pendings *p, const il_pending_spec *spec, il_pending **out, il_error *err);
/* Keeps what was decided until the request is removed. False: there is no room for it (IL_PENDINGS_KEPT_MAX bytes of all that wait), and it is not kept. */
#define IL_PENDINGS_KEPT_MAX ((size_t)8 << 20)
bool il_pendings_keep(il_pendings *p, il_pending *e, il_str args);
void il_pendings_remove(il_pendings *p, il_pending *e);
il_pending *il_pendings_by_uid(const il_pendings *p, int64_t uid);
il_pending *il_pendings_by_id(const il_pendings *p, const il_rpc_id *id);
/* The smallest deadline; UINT64_MAX when nothing waits. */
uint64_t il_pendings_due(const il_pendings *p);
