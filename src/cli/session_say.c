/* SPDX-License-Identifier: Apache-2.0 */
/* `session say`: what a human typed, by whoever may write the ledger. Hosts and hooks of clients call it; nothing that an agent can call may (docs/gateway.md). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "cli/session.h"
#include "policy/label.h"

/* So much is typed as words, whatever it is made of (IL_EPISODE_WORDS_MAX of them): what is longer would count in part. */
#define SAY_BYTES_MAX ((size_t)128 << 10)

/* All of standard input into the arena. */
static il_status say_read(il_arena *arena, il_str *out, il_error *err) {
    char *text = il_arena_bytes(arena, SAY_BYTES_MAX + 1);
    if (!text) {
        return il_arena_fail(arena, err);
    }
    *out = (il_str){text, fread(text, 1, SAY_BYTES_MAX + 1, stdin)};
    return ferror(stdin) ? il_error_set(err, IL_E_IO, "cannot read standard input") : IL_OK;
}

static il_status say_check(il_str text, il_error *err) {
    size_t bad = 0;
    if (text.n > SAY_BYTES_MAX) {
        return il_error_set(err, IL_E_LIMIT, "more than %zu bytes, which nobody types; leave out what was pasted", SAY_BYTES_MAX);
    }
    if (!il_str_utf8(text, &bad)) {
        return il_error_set(err, IL_E_INVALID, "what was typed is no UTF-8 (byte %zu)", bad + 1);
    }
    return IL_OK;
}

typedef struct say_search {
    il_arena arena; /* of one row */
    char digest[IL_DIGEST_HEX];
    bool found;
} say_search;

static bool say_row(void *ctx, const il_ledger_row *row) {
    say_search *s = ctx;
    il_json *body = NULL;
    il_arena_reset(&s->arena);
    if (il_str_eq(row->kind, IL_STR("say")) && !row->erased && il_json_parse(&s->arena, row->body, NULL, &body, NULL) == IL_OK) {
        s->found = il_str_eq(il_json_text(il_json_get(body, IL_STR("digest"))), il_str_of(s->digest));
    }
    return !s->found;
}

/* A hook that runs twice, or a text that is sent again, adds nothing: neither to what counts as typed nor to the ledger. */
static il_status say_known(il_ledger *ledger, il_str id, const char *digest, bool *known, il_error *err) {
    say_search s = {.found = false};
    memcpy(s.digest, digest, sizeof s.digest);
    il_arena_init(&s.arena, il_host_alloc(), 2 * SAY_BYTES_MAX);
    const il_status status = il_ledger_rows(ledger, id, say_row, &s, err);
    il_arena_free(&s.arena);
    *known = s.found;
    return status;
}

static il_status say_note(il_ledger *ledger, const il_view *v, il_str text, il_error *err) {
    const il_monitor_config config = {
        .size = sizeof config, .machine = v->machine, .store = il_ledger_store(ledger), .host = il_host_system()};
    il_monitor *monitor = NULL;
    IL_TRY(il_monitor_new(il_host_alloc(), &config, &monitor, err));
    const il_status status = il_monitor_say(monitor, v->id, text, err);
    il_monitor_free(monitor);
    return status;
}

/* What was typed may vouch for nothing, and then no call says why: so it is said here, on stderr, since clients show a model what a hook prints. */
static void say_what_for(const il_view *v) {
    uint8_t fingerprint[IL_DIGEST_BYTES];
    if (!v->bundle) {
        (void)fputs(
            "note: it vouches for calls of entries with `to`, `sink: once` and `audience: addressed` whose server is inside; "
            "`--policy POLICY` tells whether the session's policy has one\n",
            stderr);
        return;
    }
    il_policy_fingerprint(il_bundle_policy(v->bundle), fingerprint);
    if (!il_digest_eq(fingerprint, v->session.policy)) {
        (void)fputs("note: `--policy` is not the policy that this session is bound to, so what was typed may vouch for other "
                    "calls than there\n",
                    stderr);
    } else if (!il_policy_hears_for_tools(il_bundle_policy(v->bundle))) {
        (void)fputs(
            "note: no tool of this session's policy is vouched by what is typed: that takes an entry with `to`, `sink: once` and "
            "`audience: addressed`, or one of a commit with `object`, and a server inside\n",
            stderr);
    }
}

il_status il_session_say(il_ledger *ledger, il_view *v, const char *typed, il_error *err) {
    uint8_t digest[IL_DIGEST_BYTES];
    char hex[IL_DIGEST_HEX];
    il_str text = il_str_of(typed);
    bool known = false;
    if (!typed) {
        IL_TRY(say_read(&v->arena, &text, err));
    }
    IL_TRY(say_check(text, err));
    if (il_str_eq(il_view_value(v, "phase"),
                  IL_STR("ended"))) { /* before what was noted is looked for: its answer would read as a yes */
        return il_error_set(err, IL_E_STATE, "the session has ended");
    }
    if (text.n == 0) { /* a prompt of nothing but a picture */
        (void)puts("nothing was said");
        return IL_OK;
    }
    il_sha256_of(text, digest);
    il_digest_hex(digest, hex);
    IL_TRY(say_known(ledger, v->id, hex, &known, err));
    if (!known) {
        IL_TRY(say_note(ledger, v, text, err));
    }
    (void)printf("%s %s (%zu byte%s)\n", known ? "was noted before:" : "noted", hex, text.n, text.n == 1 ? "" : "s");
    say_what_for(v);
    return IL_OK;
}
