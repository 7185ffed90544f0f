/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/mediate.h"

#define S(lit) {(lit), sizeof(lit) - 1}
#define REQUEST true
#define NOTICE false
#define CLIENT IL_FROM_CLIENT
#define SERVER IL_FROM_SERVER

/* Tasks, elicitation completions and everything newer are absent on purpose: what cannot be judged is not forwarded. */
static const il_mediation mediate_table[] = {
    {IL_MSG_INITIALIZE, S("initialize"), CLIENT, REQUEST, IL_TREAT_ANSWER, S("")},
    {IL_MSG_INITIALIZED, S("notifications/initialized"), CLIENT, NOTICE, IL_TREAT_ANSWER, S("")},
    {IL_MSG_PING, S("ping"), CLIENT, REQUEST, IL_TREAT_ANSWER, S("")},
    {IL_MSG_CANCELLED, S("notifications/cancelled"), CLIENT, NOTICE, IL_TREAT_REWRITE, S("")},
    {IL_MSG_PROGRESS, S("notifications/progress"), CLIENT, NOTICE, IL_TREAT_DROP, S("")},
    {IL_MSG_ROOTS_CHANGED, S("notifications/roots/list_changed"), CLIENT, NOTICE, IL_TREAT_REWRITE, S("")},
    {IL_MSG_SET_LEVEL, S("logging/setLevel"), CLIENT, REQUEST, IL_TREAT_PASS, S("logging")},
    {IL_MSG_TOOLS_LIST, S("tools/list"), CLIENT, REQUEST, IL_TREAT_LIST, S("tools")},
    {IL_MSG_TOOLS_CALL, S("tools/call"), CLIENT, REQUEST, IL_TREAT_GATE, S("tools")},
    {IL_MSG_RESOURCES_LIST, S("resources/list"), CLIENT, REQUEST, IL_TREAT_LIST, S("resources")},
    {IL_MSG_TEMPLATES_LIST, S("resources/templates/list"), CLIENT, REQUEST, IL_TREAT_LIST, S("resources")},
    {IL_MSG_RESOURCES_READ, S("resources/read"), CLIENT, REQUEST, IL_TREAT_GATE, S("resources")},
    {IL_MSG_SUBSCRIBE, S("resources/subscribe"), CLIENT, REQUEST, IL_TREAT_GATE, S("resources")},
    {IL_MSG_UNSUBSCRIBE, S("resources/unsubscribe"), CLIENT, REQUEST, IL_TREAT_PASS, S("resources")},
    {IL_MSG_PROMPTS_LIST, S("prompts/list"), CLIENT, REQUEST, IL_TREAT_LIST, S("prompts")},
    {IL_MSG_PROMPTS_GET, S("prompts/get"), CLIENT, REQUEST, IL_TREAT_GATE, S("prompts")},
    {IL_MSG_COMPLETE, S("completion/complete"), CLIENT, REQUEST, IL_TREAT_GATE, S("completions")},

    {IL_MSG_PING, S("ping"), SERVER, REQUEST, IL_TREAT_ANSWER, S("")},
    {IL_MSG_SAMPLING, S("sampling/createMessage"), SERVER, REQUEST, IL_TREAT_ASK, S("")},
    {IL_MSG_ROOTS_LIST, S("roots/list"), SERVER, REQUEST, IL_TREAT_ASK, S("")},
    {IL_MSG_ELICIT, S("elicitation/create"), SERVER, REQUEST, IL_TREAT_ASK, S("")},
    {IL_MSG_CANCELLED, S("notifications/cancelled"), SERVER, NOTICE, IL_TREAT_REWRITE, S("")},
    {IL_MSG_PROGRESS, S("notifications/progress"), SERVER, NOTICE, IL_TREAT_REWRITE, S("")},
    {IL_MSG_LOG, S("notifications/message"), SERVER, NOTICE, IL_TREAT_REWRITE, S("logging")},
    {IL_MSG_TOOLS_CHANGED, S("notifications/tools/list_changed"), SERVER, NOTICE, IL_TREAT_REWRITE, S("tools")},
    {IL_MSG_RESOURCES_CHANGED, S("notifications/resources/list_changed"), SERVER, NOTICE, IL_TREAT_REWRITE, S("resources")},
    {IL_MSG_RESOURCE_UPDATED, S("notifications/resources/updated"), SERVER, NOTICE, IL_TREAT_REWRITE, S("resources")},
    {IL_MSG_PROMPTS_CHANGED, S("notifications/prompts/list_changed"), SERVER, NOTICE, IL_TREAT_REWRITE, S("prompts")},
};

const il_mediation *il_mediations(size_t *n) {
    *n = sizeof mediate_table / sizeof *mediate_table;
    return mediate_table;
}

const il_mediation *il_mediate(il_way way, bool request, il_str method) {
    for (size_t i = 0; i < sizeof mediate_table / sizeof *mediate_table; i++) {
        const il_mediation *m = &mediate_table[i];
        if (m->way == way && m->request == request && il_str_eq(m->method, method)) {
            return m;
        }
    }
    return NULL;
}
