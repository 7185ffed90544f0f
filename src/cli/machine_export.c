/* SPDX-License-Identifier: Apache-2.0 */
/* interlock machine export: a machine for other tools (docs/proofs.md). */
#include <stdio.h>
#include <string.h>

#include "check/export.h"
#include "cli/command.h"
#include "cli/model.h"
#include "cli/options.h"
#include "cli/output.h"
#include "interlock/host.h"

#define EXPORT_ARENA_BYTES ((size_t)2 << 30)

typedef struct export_run {
    const char *path;
    bool promela, smt2, c, json, canonical;
    uint64_t steps;
} export_run;

static il_status export_text(export_run *run, il_arena *arena, il_str *out, il_error *err) {
    il_named_machine named = {.path = run->path};
    const il_status status = il_named_machine_load(arena, &named, IL_FILE_DATA, err);
    run->path = named.path;
    IL_TRY(status);
    if (run->json || run->canonical) {
        il_buf b;
        const il_json *doc = named.document;
        if (run->canonical) {
            IL_TRY(il_model_document(arena, named.document, &doc, err));
        }
        il_buf_init(&b, arena, EXPORT_ARENA_BYTES / 2);
        il_json_write(&b, doc, run->canonical ? IL_JSON_SORTED : IL_JSON_AS_READ);
        return il_buf_done(&b, out, err);
    }
    const il_export_form form = run->promela ? IL_EXPORT_PROMELA : run->smt2 ? IL_EXPORT_SMT2 : IL_EXPORT_C;
    return il_export_write(arena, named.model, form, (uint32_t)run->steps, out, err);
}

il_exit il_cmd_machine_export(int argc, char **argv) {
    export_run run = {0};
    const char *steps = NULL;
    const il_option options[] = {{.name = "promela", .flag = &run.promela},
                                 {.name = "smt2", .flag = &run.smt2},
                                 {.name = "c", .flag = &run.c},
                                 {.name = "json", .flag = &run.json},
                                 {.name = "canonical", .flag = &run.canonical},
                                 {.name = "steps", .value = &steps}};
    il_arguments arguments;
    il_error err = {0};
    il_str text = {0};
    if (il_options_read(argc, argv, options, sizeof options / sizeof options[0], &arguments, &err) != IL_OK ||
        (steps && il_options_number("steps", steps, IL_EXPORT_STEPS_MAX, &run.steps, &err) != IL_OK)) {
        return il_fail_usage("machine", &err);
    }
    if (arguments.n != 1) {
        return il_usage("machine", arguments.n ? "one machine at a time" : "which machine or policy?");
    }
    if (run.promela + run.smt2 + run.c + run.json + run.canonical != 1) {
        return il_usage("machine", "say one of --promela, --smt2, --c, --json and --canonical");
    }
    if (steps && !run.smt2) {
        return il_usage("machine", "--steps goes with --smt2");
    }
    run.path = arguments.v[0];
    il_arena arena;
    il_arena_init(&arena, il_host_alloc(), EXPORT_ARENA_BYTES);
    const il_status status = export_text(&run, &arena, &text, &err);
    if (status == IL_OK) {
        (void)fwrite(text.p, 1, text.n, stdout); /* main looks at stdout's error */
    }
    const il_exit code = status == IL_OK ? IL_EXIT_FINE : il_fail(run.path, &err);
    il_arena_free(&arena);
    return code;
}
