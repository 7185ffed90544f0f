/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a policy with its machine, and compares it with what servers say they offer. */
#include <inttypes.h>
#include <string.h>

#include "base/sha256.h"
#include "cli/judge.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/propose.h"
#include "cli/validate_against.h"
#include "cli/validate_interbolt.h"
#include "host/file.h"
#include "host/preset.h"
#include "interlock/host.h"
#include "policy/approval.h"
#include "policy/bind.h"
#include "policy/compiled.h"
#include "policy/interbolt.h"
#include "policy/lint.h"

#define VALIDATE_LISTS_MAX 32
#define VALIDATE_ARENA_BYTES ((size_t)1 << 30)
#define VALIDATE_LIST_BYTES ((size_t)64 << 20)

typedef struct validate_list { /* what a server offers */
    il_str server;
    const char *path;
    const il_json *tools;
} validate_list;

typedef struct validate_run {
    const char *path;
    bool json;
    il_bundle *bundle;
    const il_policy *policy;
    il_arena arena;
    size_t nlists;
    validate_list lists[VALIDATE_LISTS_MAX];
    il_json *findings;
    il_json *warnings; /* of a policy that is valid and may not be what was meant; they leave the exit code alone */
    uint64_t tools;    /* listed */
    uint64_t trials;   /* the policy's own tests that were run */
    il_str interbolt;  /* Interbolt's fingerprint of a document of its own; empty: of ours */
} validate_run;

static bool validate_add(il_json *object, const char *key, il_json *value) { return il_json_set(object, il_str_of(key), value); }

static il_json *validate_number(validate_run *run, uint32_t n) {
    return n ? il_json_number(&run->arena, n) : il_json_make(&run->arena, IL_JSON_NULL);
}

/* `FILE:LINE:COL: WORD: message` */
static void validate_say(const validate_run *run, uint32_t line, uint32_t col, const char *word, il_str message) {
    il_put_text(stdout, il_str_of(run->path));
    if (line) {
        (void)printf(":%" PRIu32 ":%" PRIu32, line, col);
    }
    (void)printf(": %s: ", word);
    il_put_text(stdout, message);
    (void)fputc('\n', stdout);
}

static il_status validate_warn(validate_run *run, const char *kind, il_str name, uint32_t line, uint32_t col, il_str message,
                               il_error *err) {
    il_json *w = il_json_make(&run->arena, IL_JSON_OBJECT);
    const bool made = validate_add(w, "warning", il_json_string(&run->arena, il_str_of(kind))) &&
                      validate_add(w, "name", il_json_string(&run->arena, name)) &&
                      validate_add(w, "line", validate_number(run, line)) && validate_add(w, "col", validate_number(run, col)) &&
                      validate_add(w, "message", il_json_string(&run->arena, message)) && il_json_push(run->warnings, w);
    if (!made) {
        return il_arena_fail(&run->arena, err);
    }
    if (!run->json) {
        validate_say(run, line, col, "warning", message);
    }
    return IL_OK;
}

/* A finding; the text is printed at once, or kept for --json. `propose` may be empty, `line` 0. */
static il_status validate_found(validate_run *run, const char *kind, il_str name, uint32_t line, uint32_t col, il_str message,
                                il_str propose, il_error *err) {
    il_json *f = il_json_make(&run->arena, IL_JSON_OBJECT);
    const bool made =
        validate_add(f, "finding", il_json_string(&run->arena, il_str_of(kind))) &&
        validate_add(f, "name", il_json_string(&run->arena, name)) && validate_add(f, "line", validate_number(run, line)) &&
        validate_add(f, "col", validate_number(run, col)) && validate_add(f, "message", il_json_string(&run->arena, message)) &&
        validate_add(f, "propose", propose.n ? il_json_string(&run->arena, propose) : il_json_make(&run->arena, IL_JSON_NULL)) &&
        il_json_push(run->findings, f);
    if (!made) {
        return il_arena_fail(&run->arena, err);
    }
    if (!run->json) {
        validate_say(run, line, col, "finding", message);
        if (propose.n) {
            (void)fputs("  ", stdout);
            il_put_text(stdout, propose);
            (void)fputc('\n', stdout);
        }
    }
    return IL_OK;
}

/* `SERVER=FILE`: a tools/list answer as the server sent it, its result, or the list alone. */
static il_status validate_list_read(validate_run *run, const char *text, validate_list *out, il_error *err) {
    const char *equals = strchr(text, '=');
    const il_json_limits limits = {.size = sizeof limits, .bytes = VALIDATE_LIST_BYTES};
    il_json *doc;
    il_str bytes;
    if (!equals || equals == text || !equals[1]) {
        return il_error_set(err, IL_E_ARGUMENT, "`--tools` takes SERVER=FILE, not `%s`", text);
    }
    out->server = (il_str){text, (size_t)(equals - text)};
    out->path = equals + 1;
    IL_TRY(il_file_read(&run->arena, out->path, VALIDATE_LIST_BYTES, IL_FILE_DATA, &bytes, err));
    IL_TRY(il_json_parse(&run->arena, bytes, &limits, &doc, err));
    out->tools = doc;
    if (il_json_kind_of(il_json_get(out->tools, IL_STR("result"))) == IL_JSON_OBJECT) {
        out->tools = il_json_get(out->tools, IL_STR("result"));
    }
    if (il_json_kind_of(out->tools) == IL_JSON_OBJECT) {
        out->tools = il_json_get(out->tools, IL_STR("tools"));
    }
    if (il_json_kind_of(out->tools) != IL_JSON_ARRAY) {
        return IL_JSON_FAIL(doc, err, IL_E_INVALID, "this is no tools/list answer: no list of tools");
    }
    for (const il_json *t = il_json_first(out->tools); t; t = il_json_next(t)) {
        if (il_json_kind_of(il_json_get(t, IL_STR("name"))) != IL_JSON_STRING) {
            return IL_JSON_FAIL(t, err, IL_E_INVALID, "a tool without a `name`");
        }
    }
    return IL_OK;
}

static il_status validate_full_name(validate_run *run, il_str server, il_str tool, il_str *out, il_error *err) {
    il_buf b;
    il_buf_init(&b, &run->arena, VALIDATE_LIST_BYTES);
    il_buf_put(&b, server);
    il_buf_putc(&b, '.');
    il_buf_put(&b, tool);
    return il_buf_done(&b, out, err);
}

/* A server that is not declared is outside whatever its entries say, which no guess at them mends. */
static void validate_undeclared(const validate_run *run, il_str server, il_buf *b) {
    if (il_policy_server(run->policy, server)) {
        return;
    }
    il_buf_puts(b, "first declare its server, `servers: { ");
    il_buf_put(b, server);
    il_buf_puts(b, ": { trust: inside } }` if it is yours: undeclared it is outside, and each of its calls counts as untrusted "
                   "and sending; ");
}

static il_status validate_unlabelled(validate_run *run, const validate_list *list, const il_json *tool, il_error *err) {
    const il_str name = il_json_text(il_json_get(tool, IL_STR("name")));
    il_str full, message, propose = {0};
    il_buf b;
    IL_TRY(validate_full_name(run, list->server, name, &full, err));
    il_buf_init(&b, &run->arena, VALIDATE_LIST_BYTES);
    il_buf_putc(&b, '`');
    il_buf_put(&b, full);
    if (!il_glob_name_ok(full)) {
        il_buf_puts(&b, "` has characters that no policy can name, so it is denied");
    } else {
        il_buf_puts(&b, "` has no label and is denied; ");
        validate_undeclared(run, list->server, &b);
        il_buf_puts(&b, "a guess to be checked, for `tools`:");
    }
    IL_TRY(il_buf_done(&b, &message, err));
    if (il_glob_name_ok(full)) {
        il_buf_init(&b, &run->arena, VALIDATE_LIST_BYTES);
        il_propose_entry(&b, list->server, tool);
        IL_TRY(il_buf_done(&b, &propose, err));
    }
    return validate_found(run, "unlabelled-tool", full, 0, 0, message, propose, err);
}

static il_status validate_listed(validate_run *run, const validate_list *list, il_error *err) {
    for (const il_json *t = il_json_first(list->tools); t; t = il_json_next(t)) {
        il_label label;
        run->tools++;
        const il_label_call call = {.server = list->server, .tool = il_json_text(il_json_get(t, IL_STR("name")))};
        IL_TRY(il_policy_label(run->policy, &call, &run->arena, &label, err));
        if (!label.known) {
            IL_TRY(validate_unlabelled(run, list, t, err));
        }
    }
    return IL_OK;
}

/* The list of the server that a form is about; NULL when it is about none that was given, or about a method rather than a tool. */
static const validate_list *validate_list_of(const validate_run *run, il_str form) {
    const size_t dot = il_str_find(form, IL_STR("."), 0);
    if (dot == SIZE_MAX || il_str_find(form, IL_STR("/"), 0) != SIZE_MAX) {
        return NULL;
    }
    for (size_t i = 0; i < run->nlists; i++) {
        if (il_str_eq(run->lists[i].server, il_str_part(form, 0, dot))) {
            return &run->lists[i];
        }
    }
    return NULL;
}

/* Whether the form matches a tool of the list; else the nearest name. */
static il_status validate_matches(validate_run *run, const validate_list *list, il_str form, bool *matches, il_str *nearest,
                                  il_error *err) {
    unsigned best = 4;
    il_glob glob;
    *matches = false;
    *nearest = (il_str){0};
    IL_TRY(il_glob_new(form, &run->arena, &glob, err));
    for (const il_json *t = il_json_first(list->tools); t && !*matches; t = il_json_next(t)) {
        il_str full;
        IL_TRY(validate_full_name(run, list->server, il_json_text(il_json_get(t, IL_STR("name"))), &full, err));
        *matches = il_glob_matches(&glob, full);
        const unsigned distance = il_str_distance(full, form);
        if (distance < best) {
            best = distance;
            *nearest = full;
        }
    }
    return IL_OK;
}

static il_status validate_form(validate_run *run, const il_tool *tool, il_str form, il_error *err) {
    const validate_list *list = validate_list_of(run, form);
    bool matches;
    il_str nearest, message;
    il_buf b;
    if (!list) {
        return IL_OK;
    }
    IL_TRY(validate_matches(run, list, form, &matches, &nearest, err));
    if (matches) {
        return IL_OK;
    }
    il_buf_init(&b, &run->arena, VALIDATE_LIST_BYTES);
    il_buf_putc(&b, '`');
    il_buf_put(&b, form);
    il_buf_puts(&b, "` matches no tool that the server lists");
    if (nearest.n) {
        il_buf_puts(&b, "; did you mean `");
        il_buf_put(&b, nearest);
        il_buf_puts(&b, "`?");
    }
    IL_TRY(il_buf_done(&b, &message, err));
    return validate_found(run, "unmatched-name", form, tool->line, tool->col, message, (il_str){0}, err);
}

static il_status validate_compare(validate_run *run, il_error *err) {
    for (size_t i = 0; i < run->nlists; i++) {
        IL_TRY(validate_listed(run, &run->lists[i], err));
    }
    for (uint32_t t = 0; t < run->policy->ntools; t++) {
        /* a preset serves several versions of a server: what one of them has not is no mistake */
        for (uint32_t g = 0; g < run->policy->tools[t].nglobs && run->policy->tools[t].preset.n == 0; g++) {
            const il_glob *glob = &run->policy->tools[t].globs[g];
            for (uint32_t f = 0; f < glob->nforms; f++) {
                IL_TRY(validate_form(run, &run->policy->tools[t], glob->forms[f], err));
            }
        }
    }
    return IL_OK;
}

/* Whether some entry is about a tool that the form names; where none is, the lint has said so. */
static bool validate_has_entry(const validate_run *run, il_str form) {
    for (uint32_t t = 0; t < run->policy->ntools; t++) {
        for (uint32_t g = 0; g < run->policy->tools[t].nglobs; g++) {
            const il_glob *glob = &run->policy->tools[t].globs[g];
            for (uint32_t f = 0; f < glob->nforms; f++) {
                if (il_stars_meet(form, glob->forms[f])) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* A rule about a tool that its server has not. */
static il_status validate_rules(validate_run *run, il_error *err) {
    for (uint32_t r = 0; r < run->policy->rules.n; r++) {
        const il_policy_rule *rule = &run->policy->rules.list[r];
        const il_tool at = {.line = rule->line, .col = rule->col};
        for (uint32_t g = 0; g < rule->nglobs; g++) {
            for (uint32_t f = 0; f < rule->globs[g].nforms; f++) {
                if (validate_has_entry(run, rule->globs[g].forms[f])) {
                    IL_TRY(validate_form(run, &at, rule->globs[g].forms[f], err));
                }
            }
        }
    }
    return IL_OK;
}

/* ---- a policy that is valid and may not be what was meant ------------------------------------------- */

IL_PRINTF(6, 7)
static il_status validate_warn_at(validate_run *run, const char *kind, const il_tool *tool, il_str name, il_error *err,
                                  const char *fmt, ...) {
    char text[IL_ERROR_MSG_BYTES * 2];
    il_str message;
    va_list args;
    va_start(args, fmt);
    const size_t n = il_format_list(text, sizeof text, fmt, args);
    va_end(args);
    IL_TRY(il_arena_copy(&run->arena, (il_str){text, n}, &message, err));
    const bool own = tool->preset.n == 0; /* else its position is one in the preset */
    return validate_warn(run, kind, name, own ? tool->line : 0, own ? tool->col : 0, message, err);
}

/* Effects that the machine reads as if they were not there, or were another. */
static il_status validate_modelled(validate_run *run, const il_bind *bind, const il_tool *tool, il_error *err) {
    const il_str machine = il_machine_name(run->policy->machine), name = tool->globs[0].text;
    const uint32_t secret = (uint32_t)(IL_SECRET | IL_SENSITIVE), sensitive = (uint32_t)IL_SENSITIVE;
    if ((tool->effects & (uint32_t)IL_COMMIT) &&
        il_bind_admit(bind, (uint32_t)IL_COMMIT, IL_SINK_NONE, false) == il_bind_admit(bind, 0, IL_SINK_NONE, false)) {
        IL_TRY(validate_warn_at(run, "effect-not-modelled", tool, name, err,
                                "`%.*s`: machine `%.*s` does not model `commit`: it is recorded and stops nothing",
                                IL_STR_ARG(name), IL_STR_ARG(machine)));
    }
    if ((tool->effects & (uint32_t)IL_SECRET) &&
        il_bind_admit(bind, secret, IL_SINK_NONE, false) == il_bind_admit(bind, sensitive, IL_SINK_NONE, false)) {
        IL_TRY(validate_warn_at(run, "effect-not-modelled", tool, name, err,
                                "`%.*s`: machine `%.*s` does not model `secret`: it counts as `sensitive`", IL_STR_ARG(name),
                                IL_STR_ARG(machine)));
    }
    return IL_OK;
}

/* The server that a form names; empty for a host's own tool, and where the server is a pattern. */
static il_str validate_server(il_str form) {
    const size_t dot = il_str_find(form, IL_STR("."), 0);
    const il_str server = il_str_part(form, 0, dot == SIZE_MAX ? 0 : dot);
    return il_str_find(server, IL_STR("*"), 0) == SIZE_MAX ? server : (il_str){0};
}

/* Servers that the policy does not declare, each where it is named first. *outside: some form's server is outside. */
static il_status validate_servers(validate_run *run, const il_tool *tool, il_json *seen, bool *outside, il_error *err) {
    *outside = false;
    for (uint32_t g = 0; g < tool->nglobs; g++) {
        for (uint32_t f = 0; f < tool->globs[g].nforms; f++) {
            const il_str server = validate_server(tool->globs[g].forms[f]);
            if (server.n == 0) {
                continue;
            }
            *outside = *outside || !il_policy_server_inside(run->policy, server);
            if (il_policy_server(run->policy, server) || il_json_get(seen, server)) {
                continue;
            }
            if (!il_json_set(seen, server, il_json_boolean(&run->arena, true))) {
                return il_arena_fail(&run->arena, err);
            }
            IL_TRY(validate_warn_at(
                run, "undeclared-server", tool, server, err,
                "server `%.*s` is not declared in `servers` and judged as outside: each of its tools has at least "
                "`untrusted` and `egress`",
                IL_STR_ARG(server)));
        }
    }
    return IL_OK;
}

static il_status validate_standing(validate_run *run, const il_tool *tool, bool outside, il_error *err) {
    const bool sends = outside || (tool->effects & (uint32_t)IL_EGRESS) != 0;
    if (!sends || tool->sink_said || tool->preset.n > 0 || !il_policy_may_release(run->policy, (uint32_t)IL_EGRESS)) {
        return IL_OK;
    }
    const il_str name = tool->globs[0].text;
    return validate_warn_at(
        run, "standing-sink", tool, name, err,
        "`%.*s` is a standing way out, which no approval can release; say `sink: once` if a call sends and keeps "
        "nothing open, or `sink: standing` to have said so",
        IL_STR_ARG(name));
}

static il_status validate_approvals(validate_run *run, const il_bind *bind, il_error *err) {
    const il_policy *p = run->policy;
    const il_str machine = il_machine_name(p->machine);
    if (p->approvals.line && !bind->approves) {
        const il_tool at = {.line = p->approvals.line, .col = p->approvals.col};
        return validate_warn_at(run, "approvals-not-modelled", &at, IL_STR("approvals"), err,
                                "machine `%.*s` has no approvals: nothing can be released", IL_STR_ARG(machine));
    }
    if (p->approvals.releases_line && (p->approvals.releases & (uint32_t)IL_COMMIT) &&
        il_bind_admit(bind, (uint32_t)IL_COMMIT, IL_SINK_NONE, false) == il_bind_admit(bind, 0, IL_SINK_NONE, false)) {
        const il_tool at = {.line = p->approvals.releases_line, .col = p->approvals.releases_col};
        return validate_warn_at(run, "effect-not-modelled", &at, IL_STR("approvals"), err,
                                "`approvals`: machine `%.*s` does not model `commit`: no call will wait because of it",
                                IL_STR_ARG(machine));
    }
    return IL_OK;
}

static il_status validate_warnings(validate_run *run, il_error *err) {
    il_bind bind;
    il_json *seen = il_json_make(&run->arena, IL_JSON_OBJECT);
    IL_TRY(il_bind_open(run->policy->machine, &bind, err));
    for (uint32_t t = 0; t < run->policy->ntools; t++) {
        bool outside = false;
        IL_TRY(validate_modelled(run, &bind, &run->policy->tools[t], err));
        IL_TRY(validate_servers(run, &run->policy->tools[t], seen, &outside, err));
        IL_TRY(validate_standing(run, &run->policy->tools[t], outside, err));
    }
    return validate_approvals(run, &bind, err);
}

/* ---- what cannot have been meant --------------------------------------------------------------------- */

static il_status validate_lint_found(void *ctx, const il_lint *f, il_error *err) {
    return validate_found(ctx, f->kind, f->name, f->line, f->col, f->message, (il_str){0}, err);
}

/* The tools of all lists, for conditions that read their arguments. */
static il_status validate_lint_tools(validate_run *run, il_lint_tools *out, il_error *err) {
    size_t n = 0;
    for (size_t i = 0; i < run->nlists; i++) {
        n += il_json_count(run->lists[i].tools);
    }
    il_lint_tool *list = IL_NEW_ARRAY(&run->arena, il_lint_tool, n + 1);
    il_str *servers = IL_NEW_ARRAY(&run->arena, il_str, run->nlists + 1);
    if (!list || !servers) {
        return il_arena_fail(&run->arena, err);
    }
    *out = (il_lint_tools){.servers = servers, .list = list};
    for (size_t i = 0; i < run->nlists; i++) {
        servers[out->nservers++] = run->lists[i].server;
        for (const il_json *t = il_json_first(run->lists[i].tools); t; t = il_json_next(t)) {
            il_lint_tool *tool = &list[out->n++];
            tool->server = run->lists[i].server;
            tool->schema = il_json_get(t, IL_STR("inputSchema"));
            IL_TRY(validate_full_name(run, tool->server, il_json_text(il_json_get(t, IL_STR("name"))), &tool->name, err));
        }
    }
    return IL_OK;
}

/* What was not found at this place before. */
static il_status validate_lint_fresh(void *ctx, const il_lint *f, il_error *err) {
    const validate_run *run = ctx;
    for (const il_json *other = il_json_first(run->findings); other; other = il_json_next(other)) {
        int64_t line = 0, col = 0;
        (void)il_json_int(il_json_get(other, IL_STR("line")), &line);
        (void)il_json_int(il_json_get(other, IL_STR("col")), &col);
        if (line == f->line && col == f->col &&
            il_str_eq(il_json_text(il_json_get(other, IL_STR("finding"))), il_str_of(f->kind))) {
            return IL_OK;
        }
    }
    return validate_lint_found(ctx, f, err);
}

static il_status validate_lint_warned(void *ctx, const il_lint *f, il_error *err) {
    return validate_warn(ctx, f->kind, f->name, f->line, f->col, f->message, err);
}

static il_status validate_lint(validate_run *run, il_error *err) {
    const il_lint_out out = {run, validate_lint_found}, warn = {run, validate_lint_warned};
    il_lint_tools tools;
    IL_TRY(il_policy_lint(run->policy, &run->arena, &out, err));
    IL_TRY(il_policy_lint_meant(run->policy, &run->arena, &warn, err));
    IL_TRY(il_policy_lint_presets(run->policy, &run->arena, &warn, err));
    const il_lint_out fresh = {run, validate_lint_fresh};
    IL_TRY(il_validate_interbolt(run->policy, run->path, &run->arena, &warn, &fresh, &run->interbolt, err));
    if (run->nlists == 0) {
        return IL_OK;
    }
    IL_TRY(validate_lint_tools(run, &tools, err));
    return il_policy_lint_arguments(run->policy, &tools, &run->arena, &out, err);
}

static il_status validate_report(validate_run *run, il_error *err) {
    uint8_t digest[IL_DIGEST_BYTES];
    char fingerprint[IL_DIGEST_HEX];
    const il_str machine = il_machine_name(il_policy_machine(run->policy));
    const char *mode = il_policy_mode(run->policy) == IL_MODE_ENFORCE ? "enforce" : "monitor";
    const size_t found = il_json_count(run->findings);
    il_policy_fingerprint(run->policy, digest);
    il_digest_hex(digest, fingerprint);
    if (!run->json) {
        il_put_text(stdout, il_str_of(run->path));
        const bool rules = il_str_eq(machine, IL_STR(IL_INTERBOLT_MACHINE));
        (void)printf(": valid; machine %.*s%s, mode %s, %" PRIu32 " %s for tools", IL_STR_ARG(machine),
                     rules ? " (it rejects nothing; the rules alone decide)" : "", mode, run->policy->ntools,
                     run->policy->ntools == 1 ? "entry" : "entries");
        if (il_json_count(run->warnings)) {
            (void)printf(", %zu warning%s", il_json_count(run->warnings), il_json_count(run->warnings) == 1 ? "" : "s");
        }
        if (run->trials) {
            (void)printf(", %" PRIu64 " test%s", run->trials, run->trials == 1 ? "" : "s");
        }
        if (run->nlists) {
            (void)printf("; %" PRIu64 " listed tool%s", run->tools, run->tools == 1 ? "" : "s");
        }
        if (run->nlists || run->trials || found) {
            (void)printf("%s%zu finding%s", run->nlists ? ", " : "; ", found, found == 1 ? "" : "s");
        }
        (void)printf("\nfingerprint %s\n", fingerprint);
        if (!run->nlists && (run->policy->asks & (1u << IL_CONDITION_ARGS))) {
            (void)puts("conditions that read `args` were not checked against what the tools take: --tools SERVER=FILE does that");
        }
        if (run->interbolt.n) {
            (void)printf("of Interbolt %.*s\n", IL_STR_ARG(run->interbolt));
        }
        return IL_OK;
    }
    il_json *report = il_json_make(&run->arena, IL_JSON_OBJECT);
    const bool made = validate_add(report, "valid", il_json_boolean(&run->arena, true)) &&
                      validate_add(report, "machine", il_json_string(&run->arena, machine)) &&
                      validate_add(report, "mode", il_json_string(&run->arena, il_str_of(mode))) &&
                      validate_add(report, "fingerprint", il_json_string(&run->arena, il_str_of(fingerprint))) &&
                      (!run->interbolt.n || validate_add(report, "interbolt", il_json_string(&run->arena, run->interbolt))) &&
                      validate_add(report, "entries", il_json_number(&run->arena, run->policy->ntools)) &&
                      validate_add(report, "tests", il_json_number(&run->arena, (int64_t)run->trials)) &&
                      validate_add(report, "warnings", run->warnings) && validate_add(report, "findings", run->findings);
    return made ? il_put_json(stdout, report, err) : il_arena_fail(&run->arena, err);
}

/* A document that is none: on stderr for people, and for --json on stdout too. */
static il_exit validate_refuse(validate_run *run, const char *file, const il_error *why) {
    const il_exit code = il_fail(file, why);
    if (run->json && code == IL_EXIT_USAGE) {
        il_json *report = il_json_make(&run->arena, IL_JSON_OBJECT), *e = il_json_make(&run->arena, IL_JSON_OBJECT);
        const bool made = validate_add(report, "valid", il_json_boolean(&run->arena, false)) &&
                          validate_add(report, "error", e) &&
                          validate_add(e, "file", il_json_string(&run->arena, il_str_of(file))) &&
                          validate_add(e, "line", il_json_number(&run->arena, why->line)) &&
                          validate_add(e, "col", il_json_number(&run->arena, why->col)) &&
                          validate_add(e, "code", il_json_string(&run->arena, il_str_of(il_status_name(why->code)))) &&
                          validate_add(e, "message", il_json_string(&run->arena, il_str_of(why->msg)));
        if (!made || il_put_json(stdout, report, NULL) != IL_OK) {
            return IL_EXIT_INTERNAL;
        }
    }
    return code;
}

/* ---- the policy's own tests --------------------------------------------------------------------------- */

IL_PRINTF(5, 6)
static il_status validate_trial_found(validate_run *run, const il_trial *trial, const il_trial_step *step, il_error *err,
                                      const char *fmt, ...) {
    char text[IL_ERROR_MSG_BYTES * 2];
    il_str message;
    va_list args;
    va_start(args, fmt);
    const size_t n = il_format_list(text, sizeof text, fmt, args);
    va_end(args);
    IL_TRY(il_arena_copy(&run->arena, (il_str){text, n}, &message, err));
    return validate_found(run, "test-failed", trial->name, step->line, step->col, message, (il_str){0}, err);
}

static il_status validate_trial(validate_run *run, il_judge *judge, const il_trial *trial, uint32_t number, il_error *err) {
    il_recording recording = {
        .line = number, .id = trial->name, .prompt = trial->prompt, .agent = trial->agent, .nsteps = trial->nsteps};
    il_judgement *out = IL_NEW_ARRAY(&run->arena, il_judgement, trial->nsteps);
    recording.steps = IL_NEW_ARRAY(&run->arena, il_recording_step, trial->nsteps);
    if (!out || !recording.steps) {
        return il_arena_fail(&run->arena, err);
    }
    for (uint32_t i = 0; i < trial->nsteps; i++) {
        const il_trial_step *s = &trial->steps[i];
        recording.steps[i] = (il_recording_step){.tool = s->call,
                                                 .args = s->args,
                                                 .result = s->result,
                                                 .failed = s->error.p != NULL,
                                                 .error = s->error,
                                                 .approved = s->approved};
    }
    IL_TRY(il_judge_recording(judge, &recording, out, err));
    for (uint32_t i = 0; i < trial->nsteps; i++) {
        const il_trial_step *s = &trial->steps[i];
        const char *got = il_action_name(out[i].action), *layer = il_layer_name(out[i].layer);
        if (strcmp(got, il_then_word(s->expect)) != 0) {
            IL_TRY(validate_trial_found(run, trial, s, err, "test `%.*s`, step %u, `%.*s`: %s%s%s%s%s, not %s%s%s",
                                        IL_STR_ARG(trial->name), i + 1, IL_STR_ARG(s->call), got, layer ? " by " : "",
                                        layer ? layer : "", layer ? ": " : "", layer ? out[i].reason : "",
                                        il_then_word(s->expect), out[i].why[0] ? "; " : "", out[i].why));
        }
    }
    return IL_OK;
}

static il_status validate_trials(validate_run *run, il_error *err) {
    const il_trials *trials = il_policy_trials(run->policy);
    il_judge *judge = NULL;
    il_status status = trials->n ? il_judge_new(run->policy, false, &judge, err) : IL_OK;
    for (uint32_t i = 0; i < trials->n && status == IL_OK; i++) {
        status = validate_trial(run, judge, &trials->list[i], i + 1, err);
    }
    il_judge_free(judge);
    run->trials = trials->n;
    return status;
}

static il_exit validate_run_all(validate_run *run, const char *const *lists, size_t nlists) {
    il_error err = {0};
    run->findings = il_json_make(&run->arena, IL_JSON_ARRAY);
    run->warnings = il_json_make(&run->arena, IL_JSON_ARRAY);
    if (il_bundle_load(il_host_alloc(), run->path, &run->bundle, &err) != IL_OK) {
        return validate_refuse(run, run->path, &err);
    }
    run->policy = il_bundle_policy(run->bundle);
    for (size_t i = 0; i < nlists; i++) {
        if (validate_list_read(run, lists[i], &run->lists[i], &err) != IL_OK) {
            return err.code == IL_E_ARGUMENT ? il_fail_usage("validate", &err) : validate_refuse(run, run->lists[i].path, &err);
        }
        run->nlists++;
    }
    if (validate_warnings(run, &err) != IL_OK || validate_lint(run, &err) != IL_OK || validate_compare(run, &err) != IL_OK ||
        validate_rules(run, &err) != IL_OK || validate_trials(run, &err) != IL_OK || validate_report(run, &err) != IL_OK) {
        return il_fail(NULL, &err);
    }
    return il_json_count(run->findings) ? IL_EXIT_FINDING : IL_EXIT_FINE;
}

/* ---- presets -------------------------------------------------------------------------------------------- */

/* The policy with its presets written out, as JSON, which reads as YAML. */
static il_exit validate_expanded(validate_run *run) {
    il_error err = {0};
    il_json *doc = NULL;
    const il_json *flat = NULL;
    il_preset_shelf shelf = {.arena = &run->arena};
    const il_presets presets = il_host_presets(&shelf);
    if (il_file_document(&run->arena, run->path, IL_FILE_TRUSTED, &doc, &err) != IL_OK ||
        il_policy_expand(&run->arena, doc, &presets, &flat, &err) != IL_OK) {
        return validate_refuse(run, run->path, &err);
    }
    return il_put_json(stdout, flat, &err) == IL_OK ? IL_EXIT_FINE : il_fail(NULL, &err);
}

/* The presets of this build, with the digests by which `pin` names them. */
static il_exit validate_presets(validate_run *run) {
    il_error err = {0};
    il_preset_shelf shelf = {.arena = &run->arena};
    const il_presets presets = il_host_presets(&shelf);
    il_json *all = il_json_make(&run->arena, IL_JSON_OBJECT);
    for (const il_preset_source *s = il_preset_sources; s->name; s++) {
        const il_json *doc = NULL;
        uint8_t digest[IL_DIGEST_BYTES];
        char *hex = il_arena_bytes(&run->arena, IL_DIGEST_HEX);
        if (!hex || presets.find(presets.ctx, il_str_of(s->name), &doc, &err) != IL_OK ||
            il_json_digest(doc, NULL, digest, &err) != IL_OK) {
            return il_fail(s->name, &err);
        }
        il_digest_hex(digest, hex);
        if (!run->json) {
            (void)printf("%-20s %s\n", s->name, hex);
        } else if (!validate_add(all, s->name, il_json_string(&run->arena, il_str_of(hex)))) {
            return il_fail(NULL, ((void)il_arena_fail(&run->arena, &err), &err));
        }
    }
    return !run->json || il_put_json(stdout, all, &err) == IL_OK ? IL_EXIT_FINE : il_fail(NULL, &err);
}

il_exit il_cmd_validate(int argc, char **argv) {
    validate_run run = {0};
    bool expanded = false, presets = false;
    const char *lists[VALIDATE_LISTS_MAX];
    const char *against = NULL;
    size_t nlists = 0;
    const il_option options[] = {{.name = "against", .value = &against},
                                 {.name = "tools", .list = lists, .most = VALIDATE_LISTS_MAX, .count = &nlists},
                                 {.name = "expanded", .flag = &expanded},
                                 {.name = "presets", .flag = &presets},
                                 {.name = "json", .flag = &run.json}};
    il_arguments arguments;
    il_error err = {0};
    if (il_options_read(argc, argv, options, sizeof options / sizeof options[0], &arguments, &err) != IL_OK) {
        return il_fail_usage(argv[0], &err);
    }
    if (arguments.n != (presets ? 0 : 1)) {
        return arguments.n ? il_usage(argv[0], "one policy, not %d", arguments.n) : il_usage(argv[0], "which policy?");
    }
    if (against) {
        return nlists || expanded || presets
                   ? il_usage(argv[0], "`--against` compares two policies and takes only `--json` beside it")
                   : il_validate_against(arguments.v[0], against, run.json);
    }
    run.path = presets ? NULL : arguments.v[0];
    il_arena_init(&run.arena, il_host_alloc(), VALIDATE_ARENA_BYTES);
    const il_exit code = presets    ? validate_presets(&run)
                         : expanded ? validate_expanded(&run)
                                    : validate_run_all(&run, lists, nlists);
    il_bundle_free(run.bundle);
    il_arena_free(&run.arena);
    return code;
}
