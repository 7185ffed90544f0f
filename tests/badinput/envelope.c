/* SPDX-License-Identifier: Apache-2.0 */
/* Envelopes that were forged, replayed or kept, and what becomes of a call with their value, for tests/badinput/run.py: `NAME: ok` or `NAME: what is wrong` a line. A
 * host that could not open one has a value of which it knows nothing (il_origin_unknown), and in.note of policy.yaml wants to know.
 *
 *     badinput-envelope POLICY */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interlock/host.h"
#include "interlock/json.h"
#include "interlock/provenance.h"

#define BAD_NOW UINT64_C(1700000000000)
#define BAD_SECRET "0123456789abcdef0123456789abcdef"
#define BAD_TEXT "\"the offer as agreed\""

typedef struct bad {
    il_monitor *monitor;
    const char *secret;
    uint8_t used[64][IL_ENVELOPE_NONCE_BYTES];
    size_t nused;
    uint8_t nonce;
    int session;
} bad;

static void bad_must(il_status s, const char *what, const il_error *err) {
    if (s != IL_OK) {
        (void)fprintf(stderr, "badinput-envelope: %s: %s\n", what, err->msg);
        exit(1);
    }
}

static il_json_doc *bad_json(const char *text) {
    il_json_doc *doc = NULL;
    il_error err = {0};
    bad_must(il_json_doc_new(il_host_alloc(), (il_str){text, strlen(text)}, NULL, &doc, &err), text, &err);
    return doc;
}

static bool bad_key(void *ctx, il_str id, il_str *secret) {
    const bad *b = ctx;
    *secret = (il_str){b->secret, strlen(b->secret)};
    return id.n == 2 && memcmp(id.p, "k1", 2) == 0;
}

static bool bad_fresh(void *ctx, il_str audience, const uint8_t nonce[IL_ENVELOPE_NONCE_BYTES], uint64_t expires_ms) {
    bad *b = ctx;
    (void)audience;
    (void)expires_ms;
    for (size_t i = 0; i < b->nused; i++) {
        if (memcmp(b->used[i], nonce, IL_ENVELOPE_NONCE_BYTES) == 0) {
            return false;
        }
    }
    memcpy(b->used[b->nused++ % 64], nonce, IL_ENVELOPE_NONCE_BYTES);
    return true;
}

/* A text from `source`, sealed for the session `s`. The caller frees it. */
static char *bad_packed(bad *b, const char *source, bool sealed) {
    const il_envelope_key key = {IL_STR("k1"), IL_STR(BAD_SECRET)};
    const il_envelope_pack how = {.size = sizeof how,
                                  .key = sealed ? &key : NULL,
                                  .audience = IL_STR("s"),
                                  .now_ms = BAD_NOW,
                                  .lasts_ms = 60000,
                                  .nonce = {++b->nonce, 1}};
    il_origin *origin = NULL;
    il_error err = {0};
    char *text = NULL;
    size_t n = 0;
    il_json_doc *value = bad_json(BAD_TEXT);
    bad_must(il_origin_new(il_host_alloc(), (il_str){source, strlen(source)}, IL_STR("ana"), &origin, &err), "label", &err);
    bad_must(il_envelope_text_new(il_host_alloc(), il_json_doc_root(value), &(il_origin_at){IL_STR(""), origin}, 1, &how, &text,
                                  &n, &err),
             "pack", &err);
    il_json_doc_free(value);
    il_origin_free(origin);
    return text;
}

/* in.note with a value and its label, in a session of its own: the decision's reason, empty for an allow. */
static void bad_note(bad *b, const il_json *value, const il_origin *label, char reason[IL_REASON_BYTES]) {
    char id[32], args[256];
    il_error err = {0};
    il_decision d = IL_DECISION_INIT;
    const il_str text = il_json_text(value);
    (void)snprintf(id, sizeof id, "note-%d", b->session++);
    (void)snprintf(args, sizeof args, "{\"text\":\"%.*s\"}", (int)text.n, text.p);
    il_json_doc *doc = bad_json(args);
    const il_str session = {id, strlen(id)};
    const il_origin_at at = {IL_STR("/text"), label};
    const il_begin how = {.size = sizeof how, .principal = IL_STR("ana")};
    const il_call call = {.size = sizeof call,
                          .server = IL_STR("in"),
                          .tool = IL_STR("note"),
                          .args = il_json_doc_root(doc),
                          .labels = &at,
                          .nlabels = 1};
    bad_must(il_monitor_begin(b->monitor, session, &how, &err), "begin", &err);
    bad_must(il_monitor_decide(b->monitor, session, &call, &d, &err), "decide", &err);
    (void)snprintf(reason, IL_REASON_BYTES, "%s", d.action == IL_ACTION_ALLOW ? "" : d.reason[0] ? d.reason : "(no reason)");
    il_json_doc_free(doc);
}

typedef struct bad_row {
    const char *name;
    char *text;           /* freed */
    il_status opens;      /* what opening says */
    const char *reason;   /* of the call with its value, or with one that nothing is known of; empty: it is let through */
    const char *audience; /* NULL: s */
    int64_t later_ms;     /* when it is opened */
    bool channel_trusted;
} bad_row;

static void bad_try(bad *b, const bad_row *row) {
    char reason[IL_REASON_BYTES];
    il_error err = {0};
    il_envelope *e = NULL;
    il_origin *unknown = NULL;
    const char *audience = row->audience != NULL ? row->audience : "s";
    const il_envelope_open how = {.size = sizeof how,
                                  .audience = {audience, strlen(audience)},
                                  .now_ms = (uint64_t)((int64_t)BAD_NOW + 1 + row->later_ms),
                                  .ctx = b,
                                  .key = bad_key,
                                  .fresh = bad_fresh,
                                  .channel_trusted = row->channel_trusted};
    il_json_doc *value = bad_json(BAD_TEXT);
    const il_status s = il_envelope_new(il_host_alloc(), (il_str){row->text, strlen(row->text)}, &how, &e, &err);
    bad_must(il_origin_unknown(il_host_alloc(), &unknown, &err), "label", &err);
    bad_note(b, e != NULL ? il_envelope_value(e) : il_json_doc_root(value), e != NULL ? il_envelope_label(e, 0).origin : unknown,
             reason);
    if (s != row->opens || (s == IL_OK) != (e != NULL) || (s != IL_OK && err.msg[0] == '\0')) {
        (void)printf("%s: opening it says %s (%s)\n", row->name, il_status_name(s), err.msg);
    } else if (strcmp(reason, row->reason) != 0) {
        (void)printf("%s: the call is %s, not %s\n", row->name, reason[0] ? reason : "let through",
                     row->reason[0] ? row->reason : "let through");
    } else {
        (void)printf("%s: ok\n", row->name);
    }
    il_origin_free(unknown);
    il_envelope_free(e);
    il_json_doc_free(value);
}

/* Of the same length, so that nothing but the words changes. */
static char *bad_changed(char *text, const char *from, const char *to) {
    char *at = strstr(text, from);
    if (at == NULL || strlen(from) != strlen(to)) {
        (void)fprintf(stderr, "badinput-envelope: no `%s` in %s\n", from, text);
        exit(1);
    }
    memcpy(at, to, strlen(to));
    return text;
}

static char *bad_cut(char *text) {
    text[strlen(text) / 2] = '\0';
    return text;
}

static char *bad_copy(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    if (copy == NULL) {
        exit(1);
    }
    return strcpy(copy, text); /* as long as it was made */
}

static void bad_rows(bad *b) {
    char *once = bad_packed(b, "handbook", true);
    bad_row rows[] = {
        {"an envelope of a trusted source", bad_copy(once), IL_OK, "", NULL, 0, false},
        {"the same envelope again", bad_copy(once), IL_E_STATE, "noted", NULL, 1, false},
        {"an envelope of an untrusted source", bad_packed(b, "web", true), IL_OK, "noted", NULL, 0, false},
        {"one whose source was renamed", bad_changed(bad_packed(b, "webworld", true), "webworld", "handbook"), IL_E_SEAL, "noted",
         NULL, 0, false},
        {"one whose value was changed", bad_changed(bad_packed(b, "handbook", true), "agreed", "denied"), IL_E_SEAL, "noted",
         NULL, 0, false},
        {"one whose session was changed", bad_changed(bad_packed(b, "handbook", true), "\"s\"", "\"t\""), IL_E_SEAL, "noted", "t",
         0, false},
        {"one of another session", bad_packed(b, "handbook", true), IL_E_MISMATCH, "noted", "t", 0, false},
        {"one that has expired", bad_packed(b, "handbook", true), IL_E_STATE, "noted", NULL, 60000, false},
        {"one from the future", bad_packed(b, "handbook", true), IL_E_STATE, "noted", NULL, -3600000, false},
        {"one without a MAC", bad_packed(b, "handbook", false), IL_E_SEAL, "noted", NULL, 0, false},
        {"one without a MAC over a channel that is trusted", bad_packed(b, "handbook", false), IL_OK, "noted", NULL, 0, true},
        {"half of one", bad_cut(bad_packed(b, "handbook", true)), IL_E_SYNTAX, "noted", NULL, 0, false},
        {"none", bad_copy("{\"text\":\"the offer as agreed\"}"), IL_E_INVALID, "noted", NULL, 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bad_try(b, &rows[i]);
        free(rows[i].text);
    }
    b->secret = "0123456789abcdef0123456789abcdeF";
    bad_row other = {"one under another key", bad_packed(b, "handbook", true), IL_E_SEAL, "noted", NULL, 0, false};
    bad_try(b, &other);
    free(other.text);
    free(once);
}

int main(int argc, char **argv) {
    bad b = {.secret = BAD_SECRET};
    il_error err = {0};
    il_bundle *bundle = NULL;
    il_ledger *ledger = NULL;
    if (argc != 2) {
        (void)fprintf(stderr, "usage: badinput-envelope POLICY\n");
        return 3;
    }
    bad_must(il_bundle_load(il_host_alloc(), argv[1], &bundle, &err), "policy", &err);
    bad_must(il_ledger_open(il_host_alloc(), ":memory:", &(il_ledger_options){.size = sizeof(il_ledger_options)}, &ledger, &err),
             "ledger", &err);
    const il_monitor_config config = {
        .size = sizeof config, .policy = il_bundle_policy(bundle), .store = il_ledger_store(ledger), .host = il_host_system()};
    bad_must(il_monitor_new(il_host_alloc(), &config, &b.monitor, &err), "monitor", &err);
    bad_rows(&b);
    il_monitor_free(b.monitor);
    il_ledger_close(ledger);
    il_bundle_free(bundle);
    return 0;
}
