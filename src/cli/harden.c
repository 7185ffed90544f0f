/* SPDX-License-Identifier: Apache-2.0 */
/* interlock harden: proves a machine file, a shipped machine, or the machine that a policy names. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/sha256.h"
#include "check/harden.h"
#include "check/mutation.h"
#include "check/report_page.h"
#include "cli/bounds.h"
#include "cli/harden_confirmed.h"
#include "cli/harden_joined.h"
#include "cli/harden_policy.h"
#include "cli/model.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/report_folder.h"
#include "interlock/host.h"
#include "policy/bind.h"

#define HARDEN_ARENA_BYTES ((size_t)2 << 30)
#define HARDEN_MUTANTS_MAX UINT64_C(1000000000)

typedef struct harden_run {
    const char *path;      /* what messages are about: the machine's file, once it is known */
    const char *against;   /* an older version */
    const char *confirmed; /* what other tools said, as `make proofs` wrote it down */
    const il_json *policy; /* the document, when one was named, its file and its digest */
    const char *policy_path;
    uint8_t policy_digest[IL_DIGEST_BYTES];
    const char *report; /* a folder for the files of the report */
    bool json, allow_bounded;
    uint64_t began;   /* ms of a clock that only goes forward */
    uint64_t mutants; /* 0: none are made */
    il_bounds bounds;
    il_arena arena;
    bool usable; /* the monitor can keep sessions with it */
    char why[IL_ERROR_MSG_BYTES];
} harden_run;

/* Proven is one thing, being of use to the monitor another: it needs certain variables and symbols (policy/bind.h). */
static il_status harden_sessions(harden_run *run, const il_harden *h, il_error *err) {
    il_machine *machine = NULL;
    il_error why = {0};
    il_bind bind;
    if (!h->fully_mediated) {
        (void)il_format(run->why, sizeof run->why, "a machine that is not fully mediated is refused");
        return IL_OK;
    }
    IL_TRY(il_machine_open(il_host_alloc(), h->table, h->certificate, &machine, err));
    run->usable = il_bind_open(machine, &bind, &why) == IL_OK;
    memcpy(run->why, why.msg, sizeof run->why);
    il_machine_free(machine);
    return IL_OK;
}

static uint64_t harden_now(void) {
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The digest of the policy's canonical text, beside that of its machine. */
static bool harden_put_policy(harden_run *run, il_json *object) {
    char text[IL_DIGEST_HEX];
    il_str copy = {0};
    il_json *inputs = object->first;
    while (inputs && !il_str_eq(inputs->key, IL_STR("inputs"))) {
        inputs = inputs->next;
    }
    il_digest_hex(run->policy_digest, text);
    return il_arena_copy(&run->arena, (il_str){text, IL_DIGEST_HEX - 1}, &copy, NULL) == IL_OK &&
           il_json_set(inputs, IL_STR("policy"),
                       run->policy ? il_json_string(&run->arena, copy) : il_json_make(&run->arena, IL_JSON_NULL));
}

static il_status harden_object(harden_run *run, const il_harden *h, il_json **out, il_str *text, il_error *err) {
    il_json *o = NULL, *sessions = il_json_make(&run->arena, IL_JSON_OBJECT);
    IL_TRY(il_harden_object(h, &run->arena, &o, err));
    const bool made =
        il_json_set(sessions, IL_STR("usable"), il_json_boolean(&run->arena, run->usable)) &&
        il_json_set(sessions, IL_STR("why"),
                    run->usable ? il_json_make(&run->arena, IL_JSON_NULL) : il_json_string(&run->arena, il_str_of(run->why))) &&
        il_json_set(o, IL_STR("sessions"), sessions) && harden_put_policy(run, o);
    if (!made) {
        return il_arena_fail(&run->arena, err);
    }
    *out = o;
    return il_harden_json(o, &run->arena, text, err);
}

/* What changes from run to run stands in a file of its own. */
static il_status harden_perf(harden_run *run, const il_harden *h, il_str *out, il_error *err) {
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_SELF, &usage);
    const uint64_t wall = harden_now() - run->began;
    const uint64_t cpu = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
                         (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
    il_arena *a = &run->arena;
    il_json *o = il_json_make(a, IL_JSON_OBJECT);
    const bool made = il_json_set(o, IL_STR("schema"), il_json_number(a, 1)) &&
                      il_json_set(o, IL_STR("machine"), il_json_string(a, h->subject.m->name)) &&
                      il_json_set(o, IL_STR("wall_ms"), il_json_number(a, (int64_t)wall)) &&
                      il_json_set(o, IL_STR("cpu_ms"), il_json_number(a, (int64_t)cpu)) &&
                      il_json_set(o, IL_STR("max_rss_kib"), il_json_number(a, usage.ru_maxrss)) &&
                      il_json_set(o, IL_STR("states"), il_json_number(a, h->states)) &&
                      il_json_set(o, IL_STR("edges"), il_json_number(a, (int64_t)h->edges));
    return made ? il_harden_json(o, a, out, err) : il_arena_fail(a, err);
}

static il_status harden_line(harden_run *run, il_str *text, il_error *err) {
    il_buf b;
    il_buf_init(&b, &run->arena, (size_t)65 << 20);
    il_buf_put(&b, *text);
    il_buf_putc(&b, '\n');
    return il_buf_done(&b, text, err);
}

static il_status harden_report(harden_run *run, const il_harden *h, il_error *err) {
    il_json *o = NULL;
    il_report_file files[] = {
        {"security-report.json", {0}}, {"security-report.md", {0}}, {"security-report.html", {0}}, {"security-perf.json", {0}}};
    IL_TRY(harden_object(run, h, &o, &files[0].text, err));
    IL_TRY(harden_line(run, &files[0].text, err));
    IL_TRY(il_report_page(o, IL_PAGE_MARKDOWN, &run->arena, &files[1].text, err));
    IL_TRY(il_report_page(o, IL_PAGE_HTML, &run->arena, &files[2].text, err));
    IL_TRY(harden_perf(run, h, &files[3].text, err));
    IL_TRY(harden_line(run, &files[3].text, err));
    return il_report_folder_write(run->report, files, sizeof files / sizeof files[0], err);
}

static il_status harden_print_json(harden_run *run, const il_harden *h, il_error *err) {
    il_json *o = NULL;
    il_str text = {0};
    IL_TRY(harden_object(run, h, &o, &text, err));
    (void)fwrite(text.p, 1, text.n, stdout); /* main looks at stdout's error */
    (void)fputc('\n', stdout);
    return IL_OK;
}

static il_status harden_print_policy(harden_run *run, const il_harden *h, il_error *err) {
    il_json *report = NULL;
    il_str text = {0};
    IL_TRY(il_harden_object(h, &run->arena, &report, err));
    IL_TRY(il_harden_policy_text(report, &run->arena, &text, err));
    (void)fwrite(text.p, 1, text.n, stdout); /* main looks at stdout's error */
    return IL_OK;
}

static il_status harden_print(harden_run *run, const il_harden *h, il_error *err) {
    il_str text = {0};
    if (run->json) {
        return harden_print_json(run, h, err);
    }
    IL_TRY(il_harden_text(h, &run->arena, &text, err));
    (void)fwrite(text.p, 1, text.n, stdout); /* main looks at stdout's error */
    IL_TRY(il_harden_joined_text(h, run->against, &text, err));
    (void)fwrite(text.p, 1, text.n, stdout);
    (void)fputs(run->usable ? "sessions: the monitor can keep sessions with this machine"
                            : "sessions: NOT USABLE by the monitor: ",
                stdout);
    il_put_text(stdout, il_str_of(run->why));
    (void)fputc('\n', stdout);
    return harden_print_policy(run, h, err);
}

/* Instruments that are no part of the proof: how good it is, not whether it holds. */
static il_status harden_extras(harden_run *run, il_harden *h, il_error *err) {
    il_mutation *mutation = NULL;
    il_json *object = NULL;
    const char *machine = run->path;
    run->path = run->policy ? run->policy_path : run->path; /* messages are about the policy now */
    IL_TRY(il_harden_policy(h, run->policy, err));
    run->path = machine;
    if (run->mutants > 0) {
        IL_TRY(il_mutation_run(h, run->mutants, &mutation, err));
        IL_TRY(il_mutation_object(mutation, &object, err));
        IL_TRY(il_harden_join(h, "mutation", object, err));
    }
    if (run->json || run->report) {
        IL_TRY(il_drawing_object(h, &object, err));
        IL_TRY(il_harden_join(h, "drawing", object, err));
        IL_TRY(il_harden_diagnosis(h, err));
    }
    if (run->json || run->report || run->confirmed) {
        run->path = run->confirmed ? run->confirmed : machine;
        IL_TRY(il_harden_confirmed(h, run->confirmed, err));
        run->path = machine;
    }
    h->allow_bounded = run->allow_bounded;
    IL_TRY(il_harden_conclude(h, err));
    return il_harden_joined(h, run->against, &run->path, err);
}

static il_exit harden_machine(harden_run *run) {
    il_error err = {0};
    il_harden h = {0};
    il_named_machine named = {.path = run->path};
    il_status status = il_named_machine_load(&run->arena, &named, IL_FILE_DATA, &err);
    if (named.policy) {
        run->policy = named.policy;
        run->policy_path = run->path;
    }
    run->path = named.path;
    if (status == IL_OK && run->policy) {
        status = il_json_digest(run->policy, NULL, run->policy_digest, &err);
    }
    if (status != IL_OK) {
        return il_fail(run->path, &err);
    }
    status = il_harden_run(&h, il_host_alloc(), &run->arena, named.model, &run->bounds.space, &err);
    if (status == IL_OK) {
        status = harden_extras(run, &h, &err);
    }
    if (status == IL_OK) {
        status = harden_sessions(run, &h, &err);
    }
    il_bounds_done(&run->bounds);
    if (status == IL_OK && run->report) {
        status = harden_report(run, &h, &err);
    }
    if (status == IL_OK) {
        status = harden_print(run, &h, &err);
    }
    const il_exit code = status == IL_OK ? (il_exit)il_harden_exit(&h) : il_fail(run->path, &err);
    il_harden_free(&h);
    return code;
}

/* `all`, or how many at most. */
static il_status harden_mutants(const char *text, uint64_t *out, il_error *err) {
    if (strcmp(text, "all") == 0) {
        *out = IL_MUTATION_ALL;
        return IL_OK;
    }
    return il_options_number("mutants", text, HARDEN_MUTANTS_MAX, out, err);
}

il_exit il_cmd_harden(int argc, char **argv) {
    harden_run run = {.mutants = IL_MUTATION_DEFAULT, .began = harden_now()};
    const char *mutants = NULL;
    const il_option options[] = {{.name = "json", .flag = &run.json},
                                 {.name = "mutants", .value = &mutants},
                                 {.name = "against", .value = &run.against},
                                 {.name = "report", .value = &run.report},
                                 {.name = "confirmed", .value = &run.confirmed},
                                 {.name = "allow-bounded", .flag = &run.allow_bounded},
                                 IL_BOUNDS_OPTIONS(&run.bounds)};
    il_arguments arguments;
    il_error err = {0};
    if (il_options_read(argc, argv, options, sizeof options / sizeof options[0], &arguments, &err) != IL_OK ||
        il_bounds_read(&run.bounds, "harden", &err) != IL_OK ||
        (mutants && harden_mutants(mutants, &run.mutants, &err) != IL_OK)) {
        return il_fail_usage(argv[0], &err);
    }
    if (arguments.n != 1) {
        return arguments.n ? il_usage(argv[0], "one machine or policy, not %d", arguments.n)
                           : il_usage(argv[0], "which machine or policy?");
    }
    run.path = arguments.v[0];
    il_arena_init(&run.arena, il_host_alloc(), HARDEN_ARENA_BYTES);
    const il_exit code = harden_machine(&run);
    il_arena_free(&run.arena);
    return code;
}
