/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what may pass: message × direction → what the gateway does with it. What is not in the table does not pass.
 * docs/gateway.md shows the same table to people. */
#pragma once
#include "base/str.h"

typedef enum il_way { IL_FROM_CLIENT = 0, IL_FROM_SERVER } il_way;

typedef enum il_treat {
    IL_TREAT_ANSWER = 0, /* the gateway answers or absorbs it itself */
    IL_TREAT_GATE,       /* judged before it leaves; the result is settled before it is released */
    IL_TREAT_LIST,       /* forwarded; judged first for a server that is not inside, since its texts are content */
    IL_TREAT_PASS,       /* forwarded when its parameters are what they can only be; of a server outside answered here */
    IL_TREAT_REWRITE,    /* forwarded with ids mapped and free text replaced */
    IL_TREAT_ASK,        /* a server's request to the client: refused unless offered; the answer is judged */
    IL_TREAT_DROP
} il_treat;

typedef enum il_message {
    IL_MSG_NONE = 0,
    IL_MSG_INITIALIZE,
    IL_MSG_INITIALIZED,
    IL_MSG_PING,
    IL_MSG_CANCELLED,
    IL_MSG_PROGRESS,
    IL_MSG_SET_LEVEL,
    IL_MSG_LOG,
    IL_MSG_TOOLS_LIST,
    IL_MSG_TOOLS_CALL,
    IL_MSG_TOOLS_CHANGED,
    IL_MSG_RESOURCES_LIST,
    IL_MSG_TEMPLATES_LIST,
    IL_MSG_RESOURCES_READ,
    IL_MSG_SUBSCRIBE,
    IL_MSG_UNSUBSCRIBE,
    IL_MSG_RESOURCE_UPDATED,
    IL_MSG_RESOURCES_CHANGED,
    IL_MSG_PROMPTS_LIST,
    IL_MSG_PROMPTS_GET,
    IL_MSG_PROMPTS_CHANGED,
    IL_MSG_COMPLETE,
    IL_MSG_SAMPLING,
    IL_MSG_ROOTS_LIST,
    IL_MSG_ROOTS_CHANGED,
    IL_MSG_ELICIT
} il_message;

typedef struct il_mediation {
    il_message message;
    il_way way;
    il_treat treat;
    bool request; /* false: a notification */
    il_str method;
    il_str needs; /* the server capability without which the method is not there; empty: none */
} il_mediation;

/* NULL: unknown here, so a request is answered -32601 and a notification is dropped. */
const il_mediation *il_mediate(il_way way, bool request, il_str method);
/* The whole table, for its test and for documents. */
const il_mediation *il_mediations(size_t *n);
