/* SPDX-License-Identifier: Apache-2.0 */
/* What an event adds to what a session knows, by the policy: a result that was read, a call that was admitted, what a human typed. Which fields of a
 * result are facts, which texts an attacker may have written, what is remembered by name. What cannot be read as the entry declares is the
 * worst case: no facts, and all of it is free text. */
#pragma once
#include "policy/label.h"
#include "provenance/episode.h"

/* Which parts of a memory this policy asks about, as bits. 0: its sessions remember nothing. */
typedef enum il_remembers {
    IL_REMEMBERS_TYPED = 1 << 0, /* what humans type: il_policy_hear */
    IL_REMEMBERS_FACTS = 1 << 1, /* fields of results */
    IL_REMEMBERS_TEXTS = 1 << 2, /* free texts of results, errors, notices, ... */
    IL_REMEMBERS_SENT = 1 << 3,  /* what calls send */
    IL_REMEMBERS_NAMES = 1 << 4  /* `remember` */
} il_remembers;
uint32_t il_policy_remembers(const il_policy *p);

typedef struct il_result_call {
    il_str tool;           /* `server.tool`, as the ticket has it */
    const il_json *args;   /* as they were decided; NULL: not known any more, so what depends on them is the worst case */
    const il_json *result; /* NULL: none came */
    il_str error;          /* the text of a failure, may be empty */
    bool done;  /* false: it failed, or it is not known that it did not; everything in it is error text, and nothing vouches */
    bool bare;  /* the result is the payload itself, not what MCP wraps around it; a string that is JSON is read as JSON */
    bool blind; /* untrusted texts stay out of the index: what a paraphrase would achieve (`--blind`) */
    uint32_t taints; /* as admitted */
    uint64_t ticket;
    il_str agent;
} il_result_call;
/* Whether a result of this tool (`server.tool`) is read by what its call asked: the arguments are to be kept until then. */
bool il_policy_reads_by_args(const il_policy *p, il_str tool);
typedef struct il_result {
    il_episode *episode; /* NULL: it adds nothing */
    uint32_t
        absent; /* effects of which the result shows, by fields that no attacker can write, that they did not come; 0 when in doubt */
    bool readable;  /* as the entry's `result` declares; true without one */
    uint32_t items; /* found by `result: items`; 1 without one */
} il_result;
/* The episode lives in the arena and borrows the call's texts. IL_E_LIMIT, IL_E_MEMORY. */
IL_NODISCARD il_status il_policy_read(const il_policy *p, const il_result_call *call, il_arena *arena, il_result *out,
                                      il_error *err);

/* What an admitted call sends; *out is NULL when that is nothing. `label` is what il_policy_label said of it. */
IL_NODISCARD il_status il_policy_sent(const il_policy *p, const il_label_call *call, const il_label *label, uint64_t ticket,
                                      il_arena *arena, il_episode **out, il_error *err);

/* What a human typed in the root session over a channel that the agent cannot write; *out is NULL when nobody asks. `p` may be NULL: it is not known who will ask. */
IL_NODISCARD il_status il_policy_hear(const il_policy *p, il_str text, il_arena *arena, il_episode **out, il_error *err);

/* Any other text that reached the agent: every text and key below `value`, untrusted unless `trusted`. *out is NULL when nobody asks. */
typedef struct il_overheard {
    il_source_kind kind; /* ERROR, NOTICE, DESCRIPTION or CHILD */
    il_str name, agent;
    uint64_t ticket; /* 0: none */
    uint32_t taints;
    const il_json *value;
    bool trusted, blind;
} il_overheard;
IL_NODISCARD il_status il_policy_overhear(const il_policy *p, const il_overheard *heard, il_arena *arena, il_episode **out,
                                          il_error *err);
