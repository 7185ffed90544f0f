/* SPDX-License-Identifier: Apache-2.0 */
/* How a refusal looks on the wire. tools/call gets a successful answer with isError, which hosts give to the model, and never
 * structuredContent (clients validate it even then). Methods without isError get an error outside the range that JSON-RPC reserves. */
#pragma once
#include "interlock/monitor.h"
#include "mcp/mediate.h"
#include "net/rpc.h"

typedef enum il_deny_code {
    IL_DENY_POLICY = 4030,   /* the decision was not an allow */
    IL_DENY_UPSTREAM = 4031, /* the server is not there (any more) */
    IL_DENY_TIMEOUT = 4032,  /* it did not answer in time */
    IL_DENY_WITHHELD = 4033, /* it answered, but the answer could not be recorded, or is not one */
    IL_DENY_BUSY = 4034      /* too much in flight */
} il_deny_code;

typedef struct il_denial { /* borrowed */
    il_deny_code code;
    il_str text;
    /* the rest is about a decision; `action` NULL: there was none */
    const char *action, *layer, *rule;
    const char *id; /* of the request for approval, else of the call: see il_deny_id */
    il_str session;
} il_denial;

/* A stable id of a decision: of its request for approval, else the first 16 hex digits of the arguments' digest; empty when neither is known. */
#define IL_DENY_ID_BYTES IL_APPROVAL_ID_BYTES
void il_deny_id(const il_decision *d, char out[IL_DENY_ID_BYTES]);

/* `interlock/decision` of a denial, or of a call that only ran because the policy is in monitor mode. NULL when out of memory. */
il_json *il_deny_decision(il_arena *a, const il_denial *d, bool unenforced);
/* The whole answer to a request of that kind. NULL when out of memory. */
il_json *il_deny_answer(il_arena *a, const il_rpc_id *id, il_message message, const il_denial *d);
/* The refusal of a server's request: what a client's user would have said. `offered`: the feature was offered to the server. */
il_json *il_deny_ask(il_arena *a, const il_rpc_id *id, il_message message, bool offered);
