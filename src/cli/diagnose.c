/* SPDX-License-Identifier: Apache-2.0 */
/* interlock diagnose: would a monitor notice that a session has entered a region. */
#include "check/diagnose.h"
#include "cli/audit.h"
#include "cli/bounds.h"
#include "cli/model.h"
#include "cli/options.h"
#include "cli/output.h"
#include "interlock/host.h"

#define DIAGNOSE_ARENA_BYTES ((size_t)2 << 30)
#define DIAGNOSE_WORMHOLES_MAX UINT64_C(65536)
#define DIAGNOSE_NAMES_MAX IL_CANDIDATES_MAX

typedef struct diagnose_run {
    const char *path;
    bool json;
    const char *see[DIAGNOSE_NAMES_MAX], *unsee[DIAGNOSE_NAMES_MAX];
    size_t nsee, nunsee;
    il_diagnose_ask ask;
    il_bounds bounds;
    il_arena arena;
} diagnose_run;

static il_status diagnose_unknown(const il_model *m, const char *option, const char *name, il_error *err) {
    il_str near = {0};
    unsigned best = 3;
    const uint32_t nsensors = m->diagnosis ? m->diagnosis->nsensors : 0;
    for (uint32_t i = 0; i < m->nvars + nsensors; i++) {
        const il_candidate c = {.sensor = i >= m->nvars, .index = i < m->nvars ? i : i - m->nvars};
        const unsigned distance = il_str_distance(il_str_of(name), il_candidate_name(m, c));
        if (distance < best) {
            best = distance;
            near = il_candidate_name(m, c);
        }
    }
    if (near.n > 0) {
        return il_error_set(err, IL_E_INVALID, "--%s: no variable or sensor `%s`; did you mean `%.*s`?", option, name,
                            IL_STR_ARG(near));
    }
    return il_error_set(err, IL_E_INVALID, "--%s: no variable or sensor `%s`", option, name);
}

/* `--see NAME` and `--unsee NAME` change what the machine's section says. */
static il_status diagnose_eye(diagnose_run *run, const il_model *m, il_error *err) {
    il_eye *eye = &run->ask.eye;
    *eye = il_diagnose_eye(m);
    for (size_t i = 0; i < run->nsee + run->nunsee; i++) {
        const bool see = i < run->nsee;
        const char *name = see ? run->see[i] : run->unsee[i - run->nsee];
        il_candidate c;
        if (!il_diagnose_find(m, il_str_of(name), &c)) {
            return diagnose_unknown(m, see ? "see" : "unsee", name, err);
        }
        const il_eye with = il_eye_with(eye, c);
        const bool already = with.sees == eye->sees && with.uses == eye->uses;
        if (see) {
            *eye = with;
        } else if (!already) {
            return il_error_set(err, IL_E_INVALID, "--unsee: `%s` is not seen anyway", name);
        } else if (c.sensor) {
            eye->uses &= ~(UINT32_C(1) << c.index);
        } else {
            eye->sees &= ~(UINT64_C(1) << c.index);
        }
    }
    return IL_OK;
}

static il_status diagnose_print(diagnose_run *run, const il_diagnose *g, il_error *err) {
    il_json *o = NULL;
    il_str text = {0};
    IL_TRY(il_diagnose_object(g, &run->arena, &o, err));
    IL_TRY(run->json ? il_harden_json(o, &run->arena, &text, err) : il_diagnose_text(o, &run->arena, &text, err));
    (void)fwrite(text.p, 1, text.n, stdout); /* main looks at stdout's error */
    (void)fputs(run->json ? "\n" : "", stdout);
    return IL_OK;
}

static il_exit diagnose_machine(diagnose_run *run) {
    il_error err = {0};
    il_model *model = NULL;
    il_diagnose *g = IL_NEW(&run->arena, il_diagnose);
    il_status status = g ? IL_OK : il_arena_fail(&run->arena, &err);
    if (status == IL_OK) {
        status = il_cli_model(&run->arena, &run->path, &model, &err);
    }
    if (status == IL_OK) {
        status = diagnose_eye(run, model, &err);
    }
    if (status == IL_OK) {
        status = il_diagnose_run(g, il_host_alloc(), &run->arena, model, &run->ask, &run->bounds.space, &err);
    }
    il_bounds_done(&run->bounds);
    if (status == IL_OK) {
        status = diagnose_print(run, g, &err);
    }
    return status == IL_OK ? (il_exit)g->exit : il_fail(run->path, &err);
}

il_exit il_cmd_diagnose(int argc, char **argv) {
    diagnose_run run = {0};
    const char *within = NULL, *wormholes = NULL, *seed = NULL, *ledger = NULL;
    const il_option options[] = {
        {.name = "json", .flag = &run.json},
        {.name = "see", .list = run.see, .most = DIAGNOSE_NAMES_MAX, .count = &run.nsee},
        {.name = "unsee", .list = run.unsee, .most = DIAGNOSE_NAMES_MAX, .count = &run.nunsee},
        {.name = "within", .value = &within},
        {.name = "wormholes", .value = &wormholes},
        {.name = "seed", .value = &seed},
        {.name = "ledger", .value = &ledger},
        IL_BOUNDS_OPTIONS(&run.bounds),
    };
    il_arguments arguments;
    il_error err = {0};
    uint64_t k = 0, mutants = 0;
    if (il_options_read(argc, argv, options, sizeof options / sizeof options[0], &arguments, &err) != IL_OK ||
        il_bounds_read(&run.bounds, "diagnose", &err) != IL_OK ||
        (within && il_options_number("within", within, IL_WITHIN_MAX, &k, &err) != IL_OK) ||
        (wormholes && il_options_number("wormholes", wormholes, DIAGNOSE_WORMHOLES_MAX, &mutants, &err) != IL_OK) ||
        (seed && il_options_number("seed", seed, INT64_MAX, &run.ask.seed, &err) != IL_OK)) {
        return il_fail_usage(argv[0], &err);
    }
    if (ledger) {
        const il_bounds *b = &run.bounds;
        const bool bounded = b->states || b->seconds || b->bytes || b->workers || b->progress;
        const bool other = run.nsee || run.nunsee || within || wormholes || seed || bounded;
        return other ? il_usage(argv[0], "`--ledger` reads what happened; of the other options only `--json` goes with it")
                     : il_cli_audit(ledger, arguments.v, arguments.n, run.json);
    }
    if (arguments.n != 1) {
        return arguments.n ? il_usage(argv[0], "one machine or policy, not %d", arguments.n)
                           : il_usage(argv[0], "which machine or policy?");
    }
    run.path = arguments.v[0];
    run.ask.within = (uint32_t)k;
    run.ask.wormholes = (uint32_t)mutants;
    il_arena_init(&run.arena, il_host_alloc(), DIAGNOSE_ARENA_BYTES);
    const il_exit code = diagnose_machine(&run);
    il_arena_free(&run.arena);
    return code;
}
