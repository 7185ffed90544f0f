/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/mediate.h"

#define S(lit) \
    { (lit), sizeof(lit) - 1 }
#define REQUEST true
#define NOTICE false
#define CLIENT IL_FROM_CLIENT
#define SERVER IL_FROM_SERVER

/* Tasks, elicitation completions and everything newer are absent on purpose: what cannot be judged is not forwarded. */
static const il_mediation mediate_table[] = {
    {IL_MSG_INITIALIZE, CLIENT, IL_TREAT_ANSWER, REQUEST, S("initialize"), S("")},
    {IL_MSG_INITIALIZED, CLIENT, IL_TREAT_ANSWER, NOTICE, S("notifications/initialized"), S("")},
    {IL_MSG_PING, CLIENT, IL_TREAT_ANSWER, REQUEST, S("ping"), S("")},
    {IL_MSG_CANCELLED, CLIENT, IL_TREAT_REWRITE, NOTICE, S("notifications/cancelled"), S("")},
    {IL_MSG_PROGRESS, CLIENT, IL_TREAT_DROP, NOTICE, S("notifications/progress"), S("")},
    {IL_MSG_ROOTS_CHANGED, CLIENT, IL_TREAT_REWRITE, NOTICE, S("notifications/roots/list_changed"), S("")},
    {IL_MSG_SET_LEVEL, CLIENT, IL_TREAT_PASS, REQUEST, S("logging/setLevel"), S("logging")},
    {IL_MSG_TOOLS_LIST, CLIENT, IL_TREAT_LIST, REQUEST, S("tools/list"), S("tools")},
    {IL_MSG_TOOLS_CALL, CLIENT, IL_TREAT_GATE, REQUEST, S("tools/call"), S("tools")},
    {IL_MSG_RESOURCES_LIST, CLIENT, IL_TREAT_LIST, REQUEST, S("resources/list"), S("resources")},
    {IL_MSG_TEMPLATES_LIST, CLIENT, IL_TREAT_LIST, REQUEST, S("resources/templates/list"), S("resources")},
    {IL_MSG_RESOURCES_READ, CLIENT, IL_TREAT_GATE, REQUEST, S("resources/read"), S("resources")},
    {IL_MSG_SUBSCRIBE, CLIENT, IL_TREAT_GATE, REQUEST, S("resources/subscribe"), S("resources")},
    {IL_MSG_UNSUBSCRIBE, CLIENT, IL_TREAT_PASS, REQUEST, S("resources/unsubscribe"), S("resources")},
    {IL_MSG_PROMPTS_LIST, CLIENT, IL_TREAT_LIST, REQUEST, S("prompts/list"), S("prompts")},
    {IL_MSG_PROMPTS_GET, CLIENT, IL_TREAT_GATE, REQUEST, S("prompts/get"), S("prompts")},
    {IL_MSG_COMPLETE, CLIENT, IL_TREAT_GATE, REQUEST, S("completion/complete"), S("completions")},

    {IL_MSG_PING, SERVER, IL_TREAT_ANSWER, REQUEST, S("ping"), S("")},
    {IL_MSG_SAMPLING, SERVER, IL_TREAT_ASK, REQUEST, S("sampling/createMessage"), S("")},
    {IL_MSG_ROOTS_LIST, SERVER, IL_TREAT_ASK, REQUEST, S("roots/list"), S("")},
    {IL_MSG_ELICIT, SERVER, IL_TREAT_ASK, REQUEST, S("elicitation/create"), S("")},
    {IL_MSG_CANCELLED, SERVER, IL_TREAT_REWRITE, NOTICE, S("notifications/cancelled"), S("")},
    {IL_MSG_PROGRESS, SERVER, IL_TREAT_REWRITE, NOTICE, S("notifications/progress"), S("")},
    {IL_MSG_LOG, SERVER, IL_TREAT_REWRITE, NOTICE, S("notifications/message"), S("logging")},
    {IL_MSG_TOOLS_CHANGED, SERVER, IL_TREAT_REWRITE, NOTICE, S("notifications/tools/list_changed"), S("tools")},
    {IL_MSG_RESOURCES_CHANGED, SERVER, IL_TREAT_REWRITE, NOTICE, S("notifications/resources/list_changed"), S("resources")},
    {IL_MSG_RESOURCE_UPDATED, SERVER, IL_TREAT_REWRITE, NOTICE, S("notifications/resources/updated"), S("resources")},
    {IL_MSG_PROMPTS_CHANGED, SERVER, IL_TREAT_REWRITE, NOTICE, S("notifications/prompts/list_changed"), S("prompts")},
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
