/* SPDX-License-Identifier: Apache-2.0 */
/* interlock machine show: a machine for people, as JSON, or as a picture for Graphviz. */
#include "cli/machine_show.h"

#include <stdio.h>
#include <string.h>

#include "cel/cel.h"
#include "cli/command.h"
#include "cli/model.h"
#include "cli/options.h"
#include "cli/output.h"
#include "interlock/host.h"

#define SHOW_ARENA_BYTES ((size_t)2 << 30)
#define SHOW_TEXT_NODES 64u /* up to which the states stand in the text and the JSON */
#define SHOW_DOT_NODES 200u
#define SHOW_STATES (1u << 20)
#define SHOW_WORK (UINT64_C(1) << 26) /* states and steps: some seconds */

/* The variables of `--by`; all when it is not given. */
static il_status show_keep(const il_show *run, uint64_t *keep, il_error *err) {
    *keep = run->by ? 0 : UINT64_MAX;
    il_str rest = il_str_of(run->by ? run->by : "");
    while (rest.n > 0) {
        size_t end = il_str_find(rest, IL_STR(","), 0);
        il_str name = il_str_part(rest, 0, end == SIZE_MAX ? rest.n : end);
        bool found = false;
        for (uint32_t v = 0; v < run->m->nvars; v++) { /* `cap` are all of `cap[c]` */
            il_str var = run->m->vars[v].name;
            bool base = il_str_starts(var, name) && var.n > name.n && var.p[name.n] == '[';
            if (il_str_eq(var, name) || base) {
                *keep |= UINT64_C(1) << v;
                found = true;
            }
        }
        if (!found) {
            return il_error_set(err, IL_E_INVALID, "the machine has no variable `%.*s`", IL_STR_ARG(name));
        }
        rest = end == SIZE_MAX ? (il_str){0} : il_str_part(rest, end + 1, rest.n);
    }
    return IL_OK;
}

il_str il_show_source(il_show *run, const il_cel_program *program) {
    il_buf b;
    il_str text = {0};
    il_buf_init(&b, &run->arena, 1 << 20);
    il_cel_print(program, &b);
    return il_buf_done(&b, &text, NULL) == IL_OK ? text : IL_STR("(too long)");
}

const il_cel_program *il_show_predicate(const il_model *m, const il_region *r) {
    for (uint32_t a = 0; r->edge && a < m->nactions; a++) {
        if (r->on[a]) {
            return r->on[a];
        }
    }
    return r->predicate;
}

const char *il_show_kind(const il_region *r) {
    return r->rejection ? "rejection" : r->must ? "transition" : r->gated ? "gated" : "never";
}

uint32_t il_show_never(const il_show *run, const il_action_def *a) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->nsymbols; i++) {
        n += !run->graph.accepted[a->first_symbol + i];
    }
    return n;
}

const char *il_show_overflow(il_overflow o) {
    switch (o) {
    case IL_OVERFLOW_REJECT:
        return "reject";
    case IL_OVERFLOW_ERROR:
        return "error";
    case IL_OVERFLOW_SATURATE:
        return "saturate";
    }
    return "";
}

il_str il_show_nap_symbol(il_show *run, uint32_t nap) {
    il_buf b;
    il_str text = {0};
    il_buf_init(&b, &run->arena, 8192);
    il_model_symbol_brief(run->m, run->m->naps[nap].symbol, &b);
    return il_buf_done(&b, &text, NULL) == IL_OK ? text : IL_STR("(too long)");
}

static il_str show_label(il_show *run, uint64_t state) {
    il_buf b;
    il_str text = {0};
    il_buf_init(&b, &run->arena, 1 << 16);
    il_graph_label(&run->graph, state, &b);
    return il_buf_done(&b, &text, NULL) == IL_OK ? text : IL_STR("(too long)");
}

/* --- for people --- */

static void show_names(const il_str *names, uint32_t n, const char *between) {
    for (uint32_t i = 0; i < n; i++) {
        (void)fputs(i ? between : "", stdout);
        il_put_text(stdout, names[i]);
    }
}

static void show_text_vars(const il_show *run) {
    (void)fputs("\nvariables (the first value is the initial one):\n", stdout);
    for (uint32_t v = 0; v < run->m->nvars; v++) {
        const il_var *x = &run->m->vars[v];
        (void)fputs("  ", stdout);
        il_put_cell(stdout, x->name, 18);
        (void)fputc(' ', stdout);
        if (x->domain.kind == IL_DOMAIN_INT) {
            il_put_text(stdout, x->domain.names[0]);
            (void)fputs("..", stdout);
            il_put_text(stdout, x->domain.names[x->domain.size - 1]);
            (void)printf(" (overflow: %s)", il_show_overflow(x->domain.overflow));
        } else {
            show_names(x->domain.names, x->domain.size, " | ");
        }
        (void)printf("%s%s%s%s\n", x->taint ? ", taint" : "", x->sticky ? ", sticky" : "", x->ghost ? ", ghost" : "",
                     x->adversary.writes ? ", adversarial" : "");
    }
}

static void show_text_actions(il_show *run) {
    const il_model *m = run->m;
    (void)fputs("\nactions:\n", stdout);
    for (uint32_t i = 0; i < m->nactions; i++) {
        const il_action_def *a = &m->actions[i];
        uint32_t never = il_show_never(run, a);
        (void)fputs("  ", stdout);
        il_put_cell(stdout, a->name, 18);
        (void)printf(" %-7s %u symbol%s", il_principal_name(a->principal), (unsigned)a->nsymbols, a->nsymbols == 1 ? "" : "s");
        if (never > 0) {
            (void)printf(" (%u never accepted)", (unsigned)never);
        }
        (void)printf("%s%s%s%s\n", a->gate ? ", gate" : "", a->corrective ? ", corrective" : "", a->lowers ? ", lowers" : "",
                     a->hidden ? ", not observable" : "");
        for (uint32_t f = 0; f < a->nfields; f++) {
            (void)fputs("      ", stdout);
            il_put_cell(stdout, a->fields[f], 14);
            (void)fputc(' ', stdout);
            show_names(a->field_domains[f].names, a->field_domains[f].size, " | ");
            (void)fputc('\n', stdout);
        }
        for (uint32_t u = 0; u < a->nupdates; u++) {
            (void)fputs("      ", stdout);
            il_put_text(stdout, m->vars[a->updates[u].var].name);
            (void)fputs(" := ", stdout);
            il_put_text(stdout, il_show_source(run, a->updates[u].value));
            (void)fputc('\n', stdout);
        }
        for (uint32_t c = 0; c < a->nclauses; c++) {
            (void)fputs("      rejected as ", stdout);
            il_put_text(stdout, m->rules[a->clauses[c].rule - 1].name);
            (void)fputs(" if ", stdout);
            il_put_text(stdout, il_show_source(run, a->clauses[c].guard));
            (void)fputc('\n', stdout);
        }
    }
}

static void show_text_naps(il_show *run) {
    const il_model *m = run->m;
    if (m->nnaps > 0) {
        (void)printf("\nnaps, after each accepted step, at most %u:\n", (unsigned)m->nap_bound);
    }
    for (uint32_t i = 0; i < m->nnaps; i++) {
        (void)fputs("  ", stdout);
        il_put_text(stdout, il_show_nap_symbol(run, i));
        (void)fputs(" if ", stdout);
        il_put_text(stdout, il_show_source(run, m->naps[i].when));
        (void)fputc('\n', stdout);
    }
}

static void show_actions_of(const il_model *m, const char *what, uint64_t actions) {
    (void)fputs(what, stdout);
    for (uint32_t a = 0; a < m->nactions; a++) {
        if (actions >> a & 1) {
            (void)fputc(' ', stdout);
            il_put_text(stdout, m->actions[a].name);
        }
    }
}

static void show_text_regions(il_show *run) {
    const il_model *m = run->m;
    const uint64_t all = m->nactions < IL_MODEL_ACTIONS_MAX ? ((uint64_t)1 << m->nactions) - 1 : UINT64_MAX;
    (void)fputs("\nregions:\n", stdout);
    for (uint32_t i = 0; i < m->nregions; i++) {
        const il_region *r = &m->regions[i];
        (void)fputs("  ", stdout);
        il_put_cell(stdout, r->name, 26);
        (void)printf(" %-10s ", il_show_kind(r));
        il_put_text(stdout, il_show_source(run, il_show_predicate(m, r)));
        if (r->edge && r->actions != all) {
            show_actions_of(m, ", on", r->actions);
        }
        if (r->gated) {
            show_actions_of(m, ", by", r->by);
        }
        (void)fputc('\n', stdout);
    }
    (void)fputs("\nrules:", stdout);
    for (uint32_t i = 0; i < m->nrules; i++) {
        (void)fputs(i ? ", " : " ", stdout);
        il_put_text(stdout, m->rules[i].name);
        (void)fputs(m->rules[i].releasable ? " (releasable)" : "", stdout);
    }
    (void)fputc('\n', stdout);
}

static void show_text_graph(il_show *run) {
    const il_graph *g = &run->graph;
    const il_model *m = run->m;
    if (!g->drawn) {
        return;
    }
    (void)fputs(run->by ? "\nstates, as these variables tell them apart:\n" : "\nstates:\n", stdout);
    for (uint32_t i = 0; i < g->nnodes; i++) {
        (void)printf("  %3u  ", (unsigned)i);
        il_put_text(stdout, show_label(run, g->nodes[i].state));
        for (uint32_t r = 0; r < m->nregions; r++) {
            if (g->nodes[i].in >> r & 1) {
                (void)fputs("  in ", stdout);
                il_put_text(stdout, m->regions[r].name);
            }
        }
        (void)fputc('\n', stdout);
        for (uint32_t e = 0; e < g->nedges; e++) {
            if (g->edges[e].from == i) {
                (void)printf("         -> %3u ", (unsigned)g->edges[e].to);
                show_actions_of(m, "", g->edges[e].actions);
                (void)fputc('\n', stdout);
            }
        }
    }
}

static void show_text(il_show *run) {
    const il_model *m = run->m;
    const il_graph *g = &run->graph;
    (void)fputs("machine ", stdout);
    il_put_text(stdout, m->name);
    (void)printf(": %u variables in %u bits, %u actions, %u symbols, %u regions\n", (unsigned)m->nvars, (unsigned)m->bits,
                 (unsigned)m->nactions, (unsigned)m->nsymbols, (unsigned)m->nregions);
    (void)printf("%s%llu reachable states", g->bounded ? "more than " : "", (unsigned long long)g->states);
    if (m->product != UINT64_MAX) {
        (void)printf(" of %llu", (unsigned long long)m->product);
    }
    (void)printf(", %llu accepted steps, depth %u\n", (unsigned long long)g->steps, (unsigned)g->depth);
    show_text_vars(run);
    show_text_actions(run);
    show_text_naps(run);
    show_text_regions(run);
    show_text_graph(run);
}

static il_status show_dot(il_show *run, il_error *err) {
    il_buf b;
    il_str text = {0};
    if (!run->graph.drawn) {
        return il_error_set(err, IL_E_LIMIT,
                            "%s%llu states%s are too many to draw, at most %u are; choose what to look at: --by VAR,VAR",
                            run->graph.bounded ? "more than " : "", (unsigned long long)run->graph.states,
                            run->by ? ", as these variables tell them apart," : "", SHOW_DOT_NODES);
    }
    il_buf_init(&b, &run->arena, (size_t)256 << 20);
    il_graph_dot(&run->graph, &b);
    IL_TRY(il_buf_done(&b, &text, err));
    (void)fwrite(text.p, 1, text.n, stdout); /* main looks at stdout's error */
    return IL_OK;
}

static il_status show_run_all(il_show *run, il_error *err) {
    uint64_t keep = 0;
    uint64_t spent = 0;
    const il_space_bounds bounds = {.states = SHOW_STATES, .work = 2 * SHOW_WORK, .spent = &spent}; /* one exploration has half */
    IL_TRY(il_cli_model(&run->arena, &run->path, &run->m, err));
    IL_TRY(show_keep(run, &keep, err));
    IL_TRY(il_graph_make(&run->graph, il_host_alloc(), &run->arena, run->m, keep, run->dot ? SHOW_DOT_NODES : SHOW_TEXT_NODES,
                         &bounds, err));
    if (run->dot) {
        return show_dot(run, err);
    }
    if (run->json) {
        il_json *o = NULL;
        IL_TRY(il_show_object(run, &o, err));
        return il_put_json(stdout, o, err);
    }
    show_text(run);
    return IL_OK;
}

il_exit il_cmd_machine_show(int argc, char **argv) {
    il_show run = {0};
    const il_option options[] = {
        {.name = "dot", .flag = &run.dot}, {.name = "json", .flag = &run.json}, {.name = "by", .value = &run.by}};
    il_arguments arguments;
    il_error err = {0};
    if (il_options_read(argc, argv, options, sizeof options / sizeof options[0], &arguments, &err) != IL_OK) {
        return il_fail_usage("machine", &err);
    }
    if (arguments.n != 1) {
        return il_usage("machine", arguments.n ? "one machine at a time" : "which machine or policy?");
    }
    if (run.dot && run.json) {
        return il_usage("machine", "say one of --dot and --json");
    }
    run.path = arguments.v[0];
    il_arena_init(&run.arena, il_host_alloc(), SHOW_ARENA_BYTES);
    const il_status status = show_run_all(&run, &err);
    const il_exit code = status == IL_OK ? IL_EXIT_FINE : il_fail(run.path, &err);
    il_arena_free(&run.arena);
    return code;
}
