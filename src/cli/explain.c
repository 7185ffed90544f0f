/* SPDX-License-Identifier: Apache-2.0 */
/* explain: what a policy makes of one call in a session that holds some effects, and what would allow it. */
#include <inttypes.h>
#include <string.h>

#include "cli/options.h"
#include "cli/output.h"
#include "interlock/host.h"
#include "policy/agent.h"
#include "policy/explain.h"
#include "policy/tool.h"

#define EXPLAIN_ARENA_BYTES ((size_t)256 << 20)

typedef struct explain_run {
    const char *path;
    il_arena arena;
    il_bundle *bundle;
    const il_policy *policy;
    il_explain_ask ask;
    il_explanation found;
} explain_run;

static bool explain_add(il_json *object, const char *key, il_json *value) { return il_json_set(object, il_str_of(key), value); }

static il_json *explain_text(explain_run *run, il_str text) {
    return text.n ? il_json_string(&run->arena, text) : il_json_make(&run->arena, IL_JSON_NULL);
}

/* ---- what is asked ---------------------------------------------------------------------------------------- */

static il_status explain_held(const char *text, uint32_t *out, il_error *err) {
    const il_str all = il_str_of(text);
    for (size_t at = 0; at <= all.n;) {
        size_t end = il_str_find(all, IL_STR(","), at);
        end = end == SIZE_MAX ? all.n : end;
        const il_str word = il_str_part(all, at, end);
        uint32_t bit = 0;
        for (uint32_t i = 0; i < IL_EFFECTS; i++) {
            bit |= il_str_eq(word, il_effect_name(1u << i)) ? 1u << i : 0;
        }
        if (!bit) {
            return il_error_set(
                err, IL_E_ARGUMENT,
                "`%.*s` is no effect; `--held` takes untrusted, sensitive, secret, egress and commit, with commas",
                IL_STR_ARG(word));
        }
        *out |= bit;
        at = end + 1;
    }
    return IL_OK;
}

static il_status explain_args(explain_run *run, const char *text, il_error *err) {
    il_json *args;
    IL_TRY(il_json_parse(&run->arena, il_str_of(text), NULL, &args, err));
    if (il_json_kind_of(args) != IL_JSON_OBJECT) {
        return IL_JSON_FAIL(args, err, IL_E_INVALID, "the arguments are no object");
    }
    run->ask.args = args;
    return IL_OK;
}

static void explain_tool(explain_run *run, const char *text) {
    const il_str name = il_str_of(text);
    const size_t dot = il_str_find(name, IL_STR("."), 0);
    run->ask.tool = dot == SIZE_MAX ? name : il_str_part(name, dot + 1, name.n);
    run->ask.server = dot == SIZE_MAX ? (il_str){0} : il_str_part(name, 0, dot);
}

/* ---- for programs ------------------------------------------------------------------------------------------- */

static il_json *explain_condition_json(explain_run *run, const il_explain_condition *c) {
    il_json *o = il_json_make(&run->arena, IL_JSON_OBJECT);
    bool made = c->rule ? explain_add(o, "rule", il_json_string(&run->arena, c->rule->name)) &&
                              explain_add(o, "line", il_json_number(&run->arena, c->rule->line)) &&
                              explain_add(o, "then", il_json_string(&run->arena, il_str_of(il_then_word(c->rule->then))))
                        : explain_add(o, "effect", il_json_string(&run->arena, il_effect_name(c->effect)));
    made = made && explain_add(o, "when", explain_text(run, c->when)) &&
           explain_add(o, "matches", il_json_string(&run->arena, il_str_of(il_matches_word(c->matches)))) &&
           explain_add(o, "left", explain_text(run, c->left));
    return made ? o : NULL;
}

static il_json *explain_conditions_json(explain_run *run, const il_explain_condition *list, size_t n) {
    il_json *all = il_json_make(&run->arena, IL_JSON_ARRAY);
    for (size_t i = 0; i < n && all; i++) {
        if (!il_json_push(all, explain_condition_json(run, &list[i]))) {
            return NULL;
        }
    }
    return all;
}

static il_json *explain_entry_json(explain_run *run) {
    const il_tool *t = run->found.entry;
    il_json *o = il_json_make(&run->arena, t ? IL_JSON_OBJECT : IL_JSON_NULL);
    if (!t) {
        return o;
    }
    const bool own = t->preset.n == 0;
    const bool made =
        explain_add(o, "match", il_json_string(&run->arena, t->globs[0].text)) &&
        explain_add(o, "line", own ? il_json_number(&run->arena, t->line) : il_json_make(&run->arena, IL_JSON_NULL)) &&
        explain_add(o, "preset", explain_text(run, t->preset)) &&
        explain_add(o, "count", il_json_number(&run->arena, run->found.nentries));
    return made ? o : NULL;
}

static il_json *explain_changes_json(explain_run *run) {
    il_json *all = il_json_make(&run->arena, IL_JSON_ARRAY);
    for (size_t i = 0; i < run->found.nchanges && all; i++) {
        il_json *o = il_json_make(&run->arena, IL_JSON_OBJECT);
        const bool made = explain_add(o, "kind", il_json_string(&run->arena, il_str_of(run->found.changes[i].kind))) &&
                          explain_add(o, "text", il_json_string(&run->arena, run->found.changes[i].text)) && il_json_push(all, o);
        all = made ? all : NULL;
    }
    return all;
}

static il_json *explain_machine_json(explain_run *run) {
    const il_explanation *x = &run->found;
    il_json *o = il_json_make(&run->arena, IL_JSON_OBJECT);
    const char *verdict = !x->label.known ? "" : x->accepted ? "accept" : "reject";
    const bool made = explain_add(o, "name", il_json_string(&run->arena, il_machine_name(il_policy_machine(run->policy)))) &&
                      explain_add(o, "verdict", explain_text(run, il_str_of(verdict))) &&
                      explain_add(o, "reason", explain_text(run, x->reason));
    return made ? o : NULL;
}

static il_status explain_put_json(explain_run *run, il_error *err) {
    const il_explanation *x = &run->found;
    il_json *o = il_json_make(&run->arena, IL_JSON_OBJECT);
    const char *mode = il_policy_mode_of(run->policy, run->ask.agent) == IL_MODE_ENFORCE ? "enforce" : "monitor";
    const bool made =
        explain_add(o, "tool", il_json_string(&run->arena, x->name)) &&
        explain_add(o, "agent", explain_text(run, run->ask.agent)) &&
        explain_add(o, "mode", il_json_string(&run->arena, il_str_of(mode))) &&
        explain_add(o, "held", il_json_effects(&run->arena, run->ask.held)) && explain_add(o, "entry", explain_entry_json(run)) &&
        explain_add(o, "declared", il_json_effects(&run->arena, x->declared)) &&
        explain_add(o, "conditions", explain_conditions_json(run, x->conditions, x->nconditions)) &&
        explain_add(o, "called", il_json_effects(&run->arena, x->label.declared)) &&
        explain_add(o, "effects", il_json_effects(&run->arena, x->label.effects)) &&
        explain_add(o, "machine", explain_machine_json(run)) &&
        explain_add(o, "rules", explain_conditions_json(run, x->rules, x->nrules)) &&
        explain_add(o, "action", il_json_string(&run->arena, il_str_of(il_then_word(x->action)))) &&
        explain_add(o, "layer", explain_text(run, il_str_of(x->layer ? x->layer : ""))) &&
        explain_add(o, "reason", explain_text(run, x->why_layer)) &&
        explain_add(o, "depends", il_json_boolean(&run->arena, x->depends)) &&
        explain_add(o, "why", explain_text(run, il_str_of(x->label.why))) && explain_add(o, "changes", explain_changes_json(run));
    return made ? il_put_json(stdout, o, err) : il_arena_fail(&run->arena, err);
}

/* ---- for people ------------------------------------------------------------------------------------------------ */

static void explain_put(const char *title, il_str text) {
    (void)printf("  %-10s ", title);
    il_put_text(stdout, text);
}

static void explain_condition(const il_explain_condition *c) {
    if (c->rule) {
        (void)fputs("  rule       ", stdout);
        il_put_text(stdout, c->rule->name);
        (void)printf(" (line %" PRIu32 "): %s", c->rule->line, il_then_word(c->rule->then));
    } else {
        explain_put("", il_effect_name(c->effect));
    }
    if (c->when.n) {
        (void)fputs(" if ", stdout);
        il_put_text(stdout, c->when);
    }
    (void)printf(": %s", il_matches_word(c->matches));
    if (c->left.n && !il_str_eq(c->left, c->when)) {
        (void)fputs(c->matches == IL_MATCHES_MAYBE ? ", if " : ": ", stdout);
        il_put_text(stdout, c->left);
    }
    (void)fputc('\n', stdout);
}

static void explain_entry(const explain_run *run) {
    const il_tool *t = run->found.entry;
    if (!t) {
        (void)fputs(run->found.label.known ? "  entry      none is needed\n" : "  entry      none\n", stdout);
        return;
    }
    explain_put("entry", t->globs[0].text);
    if (t->preset.n) {
        (void)fputs(" (preset ", stdout);
        il_put_text(stdout, t->preset);
        (void)fputc(')', stdout);
    } else {
        (void)printf(" (line %" PRIu32 ")", t->line);
    }
    if (run->found.nentries > 1) {
        (void)printf(" and %" PRIu32 " more, unequal: the worst of all", run->found.nentries - 1);
    }
    (void)fputc('\n', stdout);
}

static void explain_effects(const char *title, uint32_t effects) {
    (void)printf("  %-10s ", title);
    il_put_effects(stdout, effects);
    (void)fputc('\n', stdout);
}

static void explain_put_people(const explain_run *run) {
    const il_explanation *x = &run->found;
    il_put_text(stdout, x->name);
    (void)fputs(", session holds ", stdout);
    il_put_effects(stdout, run->ask.held);
    (void)fputc('\n', stdout);
    explain_entry(run);
    if (x->label.known) {
        explain_effects("declared", x->declared);
        for (size_t i = 0; i < x->nconditions; i++) {
            explain_condition(&x->conditions[i]);
        }
        explain_effects("effects", x->label.effects);
        explain_put("machine", il_machine_name(il_policy_machine(run->policy)));
        (void)fputs(x->accepted ? ": accept\n" : ": reject, ", stdout);
        if (!x->accepted) {
            il_put_text(stdout, x->reason);
            (void)fputc('\n', stdout);
        }
        for (size_t i = 0; i < x->nrules; i++) {
            explain_condition(&x->rules[i]);
        }
    }
    (void)printf("  decision   %s", il_then_word(x->action));
    if (x->layer) {
        (void)printf(", %s: ", x->layer);
        il_put_text(stdout, x->why_layer);
    }
    (void)fputs(x->depends ? ", at worst: it depends on the arguments\n" : "\n", stdout);
    if (x->layer && x->label.why[0]) {
        explain_put("why", il_str_of(x->label.why));
        (void)fputc('\n', stdout);
    }
    for (size_t i = 0; i < x->nchanges; i++) {
        explain_put(i ? "or" : "allowed by", x->changes[i].text);
        (void)fputc('\n', stdout);
    }
    if (il_policy_mode_of(run->policy, run->ask.agent) == IL_MODE_MONITOR) {
        (void)fputs("  mode       monitor: the call runs all the same\n", stdout);
    }
}

static il_exit explain_all(explain_run *run) {
    il_error err = {0};
    if (il_bundle_load(il_host_alloc(), run->path, &run->bundle, &err) != IL_OK) {
        return il_fail(run->path, &err);
    }
    run->policy = il_bundle_policy(run->bundle);
    return il_policy_explain(run->policy, &run->ask, &run->arena, &run->found, &err) == IL_OK ? IL_EXIT_FINE
                                                                                              : il_fail(NULL, &err);
}

il_exit il_cmd_explain(int argc, char **argv) {
    explain_run run = {0};
    bool json = false;
    const char *args = NULL, *held = NULL, *agent = NULL;
    const il_option options[] = {{.name = "args", .value = &args},
                                 {.name = "held", .value = &held},
                                 {.name = "agent", .value = &agent},
                                 {.name = "json", .flag = &json}};
    il_arguments arguments;
    il_error err = {0};
    if (il_options_read(argc, argv, options, sizeof options / sizeof options[0], &arguments, &err) != IL_OK) {
        return il_fail_usage(argv[0], &err);
    }
    if (arguments.n != 2) {
        return il_usage(argv[0], "a policy and a tool, such as `policy.yaml mail.send`");
    }
    run.path = arguments.v[0];
    explain_tool(&run, arguments.v[1]);
    run.ask.agent = il_str_of(agent ? agent : "");
    il_arena_init(&run.arena, il_host_alloc(), EXPLAIN_ARENA_BYTES);
    il_exit code = IL_EXIT_FINE;
    if (held && explain_held(held, &run.ask.held, &err) != IL_OK) {
        code = il_fail_usage(argv[0], &err);
    } else if (args && explain_args(&run, args, &err) != IL_OK) {
        code = il_fail("--args", &err);
    } else if ((code = explain_all(&run)) == IL_EXIT_FINE) {
        if (json && explain_put_json(&run, &err) != IL_OK) {
            code = il_fail(NULL, &err);
        } else {
            if (!json) {
                explain_put_people(&run);
            }
            code = run.found.action == IL_THEN_ALLOW ? IL_EXIT_FINE : IL_EXIT_FINDING;
        }
    }
    il_bundle_free(run.bundle);
    il_arena_free(&run.arena);
    return code;
}
