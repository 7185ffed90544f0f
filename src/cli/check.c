/* SPDX-License-Identifier: Apache-2.0 */
/* check and replay: one runner. Decides recorded sessions under a policy, or shows which steps a second policy decides otherwise. */
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/judge.h"
#include "cli/options.h"
#include "cli/output.h"

/* One line of a session file, its tree and its decisions. */
#define CHECK_ARENA_BYTES ((size_t)2 << 30)

typedef struct check_run {
    const char *command, *policy_path, *against_path;
    bool json, explain, blind;
    il_bundle *policy, *against;
    il_arena arena; /* reset for each session */
    uint64_t sessions, steps, actions[3], flips, to_allow, from_allow;
    time_t begun, shown;
} check_run;

static bool check_add(il_json *object, const char *key, il_json *value) { return il_json_set(object, il_str_of(key), value); }

static il_json *check_number(check_run *run, uint64_t v) { return il_json_number(&run->arena, (int64_t)v); }

/* null when empty */
static il_json *check_text(check_run *run, const char *z) {
    return z && *z ? il_json_string(&run->arena, il_str_of(z)) : il_json_make(&run->arena, IL_JSON_NULL);
}

/* effects, action, layer and reason at the end of `object`, and with --explain `why`. */
static bool check_judgement(check_run *run, il_json *object, const il_judgement *j) {
    return check_add(object, "effects", il_json_effects(&run->arena, j->effects)) &&
           check_add(object, "action", check_text(run, il_action_name(j->action))) &&
           check_add(object, "layer", check_text(run, il_layer_name(j->layer))) &&
           check_add(object, "reason", check_text(run, j->reason)) &&
           (!run->explain || check_add(object, "why", check_text(run, j->why)));
}

static il_json *check_step_json(check_run *run, const il_recording *r, uint32_t i, const il_judgement *p, const il_judgement *q) {
    il_json *step = il_json_make(&run->arena, IL_JSON_OBJECT);
    if (!check_add(step, "step", check_number(run, i + 1)) ||
        !check_add(step, "tool", il_json_string(&run->arena, r->steps[i].tool))) {
        return NULL;
    }
    if (!q) {
        return check_judgement(run, step, p) ? step : NULL;
    }
    il_json *from = il_json_make(&run->arena, IL_JSON_OBJECT), *to = il_json_make(&run->arena, IL_JSON_OBJECT);
    return check_judgement(run, from, p) && check_judgement(run, to, q) && check_add(step, "policy", from) &&
                   check_add(step, "against", to)
               ? step
               : NULL;
}

static il_status check_put_json(check_run *run, const il_recording *r, const il_judgement *p, const il_judgement *q,
                                il_error *err) {
    il_json *object = il_json_make(&run->arena, IL_JSON_OBJECT), *list = il_json_make(&run->arena, IL_JSON_ARRAY);
    bool made =
        check_add(object, "id", il_json_shallow(&run->arena, r->id_node)) && check_add(object, q ? "flips" : "decisions", list);
    for (uint32_t i = 0; i < r->nsteps && made; i++) {
        if (!q || p[i].action != q[i].action) {
            made = il_json_push(list, check_step_json(run, r, i, &p[i], q ? &q[i] : NULL));
        }
    }
    return made ? il_put_json(stdout, object, err) : il_arena_fail(&run->arena, err);
}

static void check_put_judgement(const il_judgement *j) {
    (void)fputs(il_action_name(j->action), stdout);
    if (j->reason[0]) {
        const char *layer = il_layer_name(j->layer);
        (void)fputs(" (", stdout);
        if (layer) {
            (void)printf("%s: ", layer);
        }
        il_put_text(stdout, il_str_of(j->reason));
        (void)fputc(')', stdout);
    }
}

#define CHECK_INDENT "          "

/* Why a step is not allowed, for a person: where the effects came from, why nothing was vouched, and whether a human could release it. */
static void check_put_why(const il_judgement *j) {
    for (uint32_t i = 0; i < j->nwitnesses; i++) {
        (void)fputs(i ? ", " : CHECK_INDENT "the session has ", stdout);
        il_put_effects(stdout, j->witnesses[i].effect);
        (void)fputs(" from ", stdout);
        il_put_text(stdout, il_str_of(j->witnesses[i].tool));
        (void)printf(" (call %" PRIu64 ")", j->witnesses[i].ticket);
    }
    (void)fputs(j->nwitnesses ? "\n" : "", stdout);
    if (j->layer == IL_LAYER_LABELLER) {
        (void)puts(CHECK_INDENT "the policy has no entry for this tool");
    }
    if (j->why[0]) {
        const bool ruled = j->layer == IL_LAYER_RULE || j->layer == IL_LAYER_FAULT;
        (void)fputs(ruled ? CHECK_INDENT "the policy: " : CHECK_INDENT "not vouched: ", stdout);
        il_put_text(stdout, il_str_of(j->why));
        (void)fputc('\n', stdout);
    }
    if (j->action == IL_ACTION_REQUIRE_APPROVAL) {
        (void)puts(CHECK_INDENT "a human could release it once");
    } else if (j->layer == IL_LAYER_MACHINE && j->standing) {
        (void)puts(CHECK_INDENT "its way out is standing, so no human can release it");
    }
}

static void check_put_text(const il_recording *r, const il_judgement *p, const il_judgement *q) {
    uint32_t shown = 0;
    for (uint32_t i = 0; i < r->nsteps; i++) {
        shown += q ? p[i].action != q[i].action : p[i].action != IL_ACTION_ALLOW;
    }
    il_put_text(stdout, r->id);
    (void)printf(": %" PRIu32 " step%s, ", r->nsteps, r->nsteps == 1 ? "" : "s");
    if (shown == 0) {
        (void)puts(q ? "no flip" : "all allowed");
        return;
    }
    (void)printf("%" PRIu32 " %s\n", shown, q ? (shown == 1 ? "flip" : "flips") : "not allowed");
    for (uint32_t i = 0; i < r->nsteps; i++) {
        if (q ? p[i].action == q[i].action : p[i].action == IL_ACTION_ALLOW) {
            continue;
        }
        (void)printf("  step %" PRIu32 "  ", i + 1);
        il_put_cell(stdout, r->steps[i].tool, 28);
        (void)fputs("  [", stdout);
        il_put_effects(stdout, p[i].effects);
        (void)fputs("]  ", stdout);
        check_put_judgement(&p[i]);
        if (q) {
            (void)fputs(" -> ", stdout);
            check_put_judgement(&q[i]);
        }
        (void)fputc('\n', stdout);
        check_put_why(q && q[i].action != IL_ACTION_ALLOW ? &q[i] : &p[i]);
    }
}

static void check_count(check_run *run, const il_recording *r, const il_judgement *p, const il_judgement *q) {
    run->sessions++;
    run->steps += r->nsteps;
    for (uint32_t i = 0; i < r->nsteps; i++) {
        run->actions[p[i].action]++;
        if (q && p[i].action != q[i].action) {
            run->flips++;
            run->to_allow += q[i].action == IL_ACTION_ALLOW;
            run->from_allow += p[i].action == IL_ACTION_ALLOW;
        }
    }
}

static void check_progress(check_run *run) {
    const time_t now = time(NULL);
    if (now - run->begun > 1 && now != run->shown && isatty(STDERR_FILENO)) {
        run->shown = now;
        (void)fprintf(stderr, "interlock %s: %" PRIu64 " sessions\n", run->command, run->sessions);
    }
}

static il_status check_session(check_run *run, il_judge *p, il_judge *q, const il_recording *r, il_error *err) {
    il_judgement *first = IL_NEW_ARRAY(&run->arena, il_judgement, r->nsteps), *second = NULL;
    if (!first || (q && !(second = IL_NEW_ARRAY(&run->arena, il_judgement, r->nsteps)))) {
        return il_arena_fail(&run->arena, err);
    }
    IL_TRY(il_judge_recording(p, r, first, err));
    if (q) {
        IL_TRY(il_judge_recording(q, r, second, err));
    }
    check_count(run, r, first, second);
    if (run->json) {
        IL_TRY(check_put_json(run, r, first, second, err));
    } else {
        check_put_text(r, first, second);
    }
    check_progress(run);
    /* What was decided stays valid whatever the next line is. */
    return fflush(stdout) == 0 ? IL_OK : il_error_set(err, IL_E_IO, "cannot write the output");
}

/* Members that are not known are ignored, by design; these are what other tools call `args` and `tool`, and ignoring them decides another call. */
static void check_strange(il_recordings *from, const char *path, const il_recording *r) {
    for (uint32_t i = 0; i < r->nsteps && !from->warned; i++) {
        const char *strange = r->steps[i].strange;
        if (strange) {
            from->warned = true;
            il_put_text(stderr, il_str_of(path));
            (void)fprintf(
                stderr, ":%" PRIu32 ":%" PRIu32 ": warning: `%s` is ignored: %s\n", r->line, r->steps[i].strange_col, strange,
                strcmp(strange, "tool_name") == 0 ? "a tool's name stands in `tool`" : "a call's arguments stand in `args`");
        }
    }
}

static il_status check_sessions(check_run *run, const char *path, il_recordings *from, il_judge *p, il_judge *q, il_error *err) {
    for (;;) {
        il_recording recording;
        bool more = false;
        il_arena_reset(&run->arena);
        IL_TRY(il_recordings_next(from, &run->arena, &recording, &more, err));
        if (!more) {
            return IL_OK;
        }
        check_strange(from, path, &recording);
        *err = (il_error){0};
        IL_TRY(check_session(run, p, q, &recording, err));
        if (il_judge_cut(p)) {
            il_put_text(stderr, il_str_of(path));
            (void)fprintf(stderr,
                          ":%" PRIu32 ": warning: the prompt is longer than is heard (65,536 words, 1,024 addresses): what its "
                          "end names vouches for nothing\n",
                          recording.line);
        }
    }
}

/* Each file is a world of its own: ids, parents and stores do not reach into another. */
static il_exit check_file(check_run *run, const char *path) {
    il_error err = {0};
    il_recordings from = {0};
    il_judge *p = NULL, *q = NULL;
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    il_status status = il_judge_new(il_bundle_policy(run->policy), run->blind, &p, &err);
    if (status == IL_OK && run->against) {
        status = il_judge_new(il_bundle_policy(run->against), run->blind, &q, &err);
    }
    if (status == IL_OK) {
        status = il_recordings_open(path, &from, &err);
        const uint64_t before = run->sessions;
        if (status == IL_OK) {
            status = check_sessions(run, name, &from, p, q, &err);
        }
        if (status == IL_OK &&
            run->sessions == before) { /* most likely the wrong file, or a program before this one that failed */
            status = il_error_set(&err, IL_E_INVALID, "no session in it; a session file has one a line");
        }
        il_recordings_close(&from);
    }
    il_judge_free(p);
    il_judge_free(q);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return IL_EXIT_INTERNAL; /* main says so */
    }
    return status == IL_OK ? IL_EXIT_FINE : il_fail(name, &err);
}

static il_status check_summary(check_run *run, il_error *err) {
    if (!run->json) {
        (void)printf("%" PRIu64 " session%s, %" PRIu64 " step%s: ", run->sessions, run->sessions == 1 ? "" : "s", run->steps,
                     run->steps == 1 ? "" : "s");
        if (run->against) {
            (void)printf("%" PRIu64 " flip%s, %" PRIu64 " to allow, %" PRIu64 " from allow\n", run->flips,
                         run->flips == 1 ? "" : "s", run->to_allow, run->from_allow);
        } else {
            (void)printf("%" PRIu64 " allowed, %" PRIu64 " blocked, %" PRIu64 " would wait for approval\n",
                         run->actions[IL_ACTION_ALLOW], run->actions[IL_ACTION_BLOCK], run->actions[IL_ACTION_REQUIRE_APPROVAL]);
        }
        return IL_OK;
    }
    il_arena_reset(&run->arena);
    il_json *line = il_json_make(&run->arena, IL_JSON_OBJECT), *summary = il_json_make(&run->arena, IL_JSON_OBJECT);
    bool made = check_add(line, "summary", summary) && check_add(summary, "sessions", check_number(run, run->sessions)) &&
                check_add(summary, "steps", check_number(run, run->steps));
    for (uint32_t a = 0; a < 3 && made; a++) {
        made = check_add(summary, il_action_name((il_action)a), check_number(run, run->actions[a]));
    }
    if (made && run->against) {
        made = check_add(summary, "flips", check_number(run, run->flips)) &&
               check_add(summary, "to_allow", check_number(run, run->to_allow)) &&
               check_add(summary, "from_allow", check_number(run, run->from_allow));
    }
    return made ? il_put_json(stdout, line, err) : il_arena_fail(&run->arena, err);
}

static il_exit check_files(check_run *run, const il_arguments *files) {
    il_error err = {0};
    if (il_bundle_load(il_host_alloc(), run->policy_path, &run->policy, &err) != IL_OK) {
        return il_fail(run->policy_path, &err);
    }
    if (run->against_path && il_bundle_load(il_host_alloc(), run->against_path, &run->against, &err) != IL_OK) {
        return il_fail(run->against_path, &err);
    }
    for (int i = 0; i < (files->n ? files->n : 1); i++) {
        const il_exit code = check_file(run, files->n ? files->v[i] : "-");
        if (code != IL_EXIT_FINE) {
            return code;
        }
    }
    if (check_summary(run, &err) != IL_OK) {
        return il_fail(NULL, &err);
    }
    const bool found = run->against ? run->flips > 0 : run->actions[IL_ACTION_ALLOW] != run->steps;
    return found ? IL_EXIT_FINDING : IL_EXIT_FINE;
}

il_exit il_cmd_check(int argc, char **argv) {
    check_run run = {.command = argv[0], .begun = time(NULL)};
    const il_option options[] = {{.name = "policy", .value = &run.policy_path},
                                 {.name = "against", .value = &run.against_path},
                                 {.name = "json", .flag = &run.json},
                                 {.name = "explain", .flag = &run.explain},
                                 {.name = "blind", .flag = &run.blind}};
    il_arguments files;
    il_error err = {0};
    if (il_options_read(argc, argv, options, sizeof options / sizeof options[0], &files, &err) != IL_OK) {
        return il_fail_usage(run.command, &err);
    }
    if (!run.policy_path) {
        return il_usage(run.command, "which policy? name it with --policy");
    }
    il_arena_init(&run.arena, il_host_alloc(), CHECK_ARENA_BYTES);
    const il_exit code = check_files(&run, &files);
    il_arena_free(&run.arena);
    il_bundle_free(run.policy);
    il_bundle_free(run.against);
    return code;
}
