/* SPDX-License-Identifier: Apache-2.0 */
/* What mutation found, for the report. */
#include "check/mutation.h"
#include "check/report.h"

const char *il_survivor_name(il_survivor c) {
    switch (c) {
    case IL_SURVIVOR_STRICTER:
        return "stricter";
    case IL_SURVIVOR_REASON:
        return "another reason";
    case IL_SURVIVOR_SILENT:
        return "accepted without effect";
    case IL_SURVIVOR_INERT:
        return "accepted to no avail";
    case IL_SURVIVOR_CORRECTIVE:
        return "a correction accepted";
    case IL_SURVIVOR_CHARGED:
        return "accepted and charged";
    case IL_SURVIVOR_HOLDS_MORE:
        return "holds more";
    case IL_SURVIVOR_FEWER_APPROVED:
        return "fewer approvals";
    case IL_SURVIVOR_BEHIND:
        return "behind a lowering";
    case IL_SURVIVOR_UNREAD:
        return "unread variables";
    case IL_SURVIVOR_ELSEWHERE:
        return "elsewhere";
    case IL_SURVIVOR_CLASSES:
        break;
    }
    return "unknown";
}

/* Why no check tells such a mutant from the machine. */
static const char *survivor_why(il_survivor c) {
    switch (c) {
    case IL_SURVIVOR_STRICTER:
        return "it rejects a step that the machine accepts, or leads where nothing is accepted that the machine would not accept "
               "there; "
               "whoever only takes away reaches no region";
    case IL_SURVIVOR_REASON:
        return "the same states and the same refusals under another name; add a rejection region to fix which reason a step is "
               "refused for";
    case IL_SURVIVOR_SILENT:
        return "a step that is refused is let through and changes nothing; add a rejection region, or an edge region, to say "
               "that it "
               "must be refused";
    case IL_SURVIVOR_INERT:
        return "a step that is refused is let through, and from where it leads nothing is accepted that would not be accepted "
               "without it";
    case IL_SURVIVOR_CORRECTIVE:
        return "a correction that has nothing to correct there; what it does takes away, so no region is nearer";
    case IL_SURVIVOR_CHARGED:
        return "the step is let through with all that it brings remembered, and from where it leads no region is reached; the "
               "clause "
               "keeps the books straight and not the region";
    case IL_SURVIVOR_HOLDS_MORE:
        return "the session counts as holding more than it does, and is stopped earlier";
    case IL_SURVIVOR_FEWER_APPROVED:
        return "requests or approvals are forgotten, and a human must be asked again";
    case IL_SURVIVOR_BEHIND:
        return "the step is a declared lowering, or only sessions that took one come to its state; what the lowering concedes, "
               "laundering does not ask for";
    case IL_SURVIVOR_UNREAD:
        return "it leads to a state that differs in variables which no never region reads, and no observer that counts for "
               "itself misses "
               "anything; add a transition region for what must be true of them";
    case IL_SURVIVOR_ELSEWHERE:
        return "it leads to another state than the machine's, from where no check sees more";
    case IL_SURVIVOR_CLASSES:
        break;
    }
    return "";
}

static void mutation_tally(il_report *r, il_json *o, const il_mutation_tally *t) {
    il_report_set(r, o, "population", il_report_number(r, t->population));
    il_report_set(r, o, "judged", il_report_number(r, t->judged));
    il_report_set(r, o, "dropped", il_report_number(r, t->population - t->judged));
    il_report_set(r, o, "equivalent", il_report_number(r, t->equivalent));
    il_report_set(r, o, "duplicate", il_report_number(r, t->duplicate));
    il_report_set(r, o, "harness_killed", il_report_number(r, t->harness));
    il_report_set(r, o, "distinct", il_report_number(r, t->distinct));
    il_report_set(r, o, "killed", il_report_number(r, t->killed));
    il_report_set(r, o, "survived", il_report_number(r, t->survived));
    il_report_set(r, o, "unsettled", il_report_number(r, t->unsettled));
}

static il_json *mutation_operators(il_report *r, const il_mutation *x) {
    il_json *list = il_report_list(r);
    for (uint32_t op = 0; op < IL_MUTANT_OPS; op++) {
        if (x->ops[op].population == 0) {
            continue;
        }
        il_json *o = il_report_object(r);
        il_json *by = il_report_list(r);
        il_report_set(r, o, "operator", il_report_word(r, il_mutant_op_name((il_mutant_op)op)));
        mutation_tally(r, o, &x->ops[op]);
        for (uint32_t i = 0; i < x->nlines; i++) {
            if (x->first[op][i]) {
                il_json *one = il_report_object(r);
                il_report_set(r, one, "check", il_report_word(r, x->lines[i].id));
                il_report_set(r, one, "region", il_report_region(r, x->lines[i].region));
                il_report_set(r, one, "first", il_report_number(r, x->first[op][i]));
                il_report_push(r, by, one);
            }
        }
        il_report_set(r, o, "killed_by", by);
        il_report_push(r, list, o);
    }
    return list;
}

static il_json *mutation_checks(il_report *r, const il_mutation *x) {
    il_json *list = il_report_list(r);
    for (uint32_t i = 0; i < x->nlines; i++) {
        il_json *o = il_report_object(r);
        il_report_set(r, o, "check", il_report_word(r, x->lines[i].id));
        il_report_set(r, o, "region", il_report_region(r, x->lines[i].region));
        il_report_set(r, o, "first", il_report_number(r, x->lines[i].first));
        il_report_set(r, o, "kills", x->sets ? il_report_number(r, x->lines[i].kills) : il_report_null(r));
        il_report_set(r, o, "alone", x->sets ? il_report_number(r, x->lines[i].alone) : il_report_null(r));
        il_report_push(r, list, o);
    }
    return list;
}

/* Checks that kill exactly the same mutants: here one would do. */
static il_json *mutation_clusters(il_report *r, const il_mutation *x) {
    il_json *list = il_report_list(r);
    uint64_t done = 0;
    for (uint32_t i = 0; x->sets && i < x->nlines; i++) {
        uint64_t same = ~x->lines[i].differs & (x->nlines < 64 ? (UINT64_C(1) << x->nlines) - 1 : UINT64_MAX);
        if ((done >> i & 1) || (same & (same - 1)) == 0 || x->lines[i].kills == 0) {
            continue;
        }
        il_json *o = il_report_object(r);
        il_json *members = il_report_list(r);
        for (uint32_t k = i; k < x->nlines; k++) {
            if (same >> k & 1) {
                il_json *one = il_report_object(r);
                il_report_set(r, one, "check", il_report_word(r, x->lines[k].id));
                il_report_set(r, one, "region", il_report_region(r, x->lines[k].region));
                il_report_push(r, members, one);
            }
        }
        done |= same;
        il_report_set(r, o, "checks", members);
        il_report_set(r, o, "kills", il_report_number(r, x->lines[i].kills));
        il_report_push(r, list, o);
    }
    return list;
}

static il_json *mutation_example(il_report *r, const il_mutation *x, const il_survivor_example *e) {
    il_json *o = il_report_object(r);
    il_json *was = il_report_object(r), *is = il_report_object(r);
    il_buf b;
    il_buf_init(&b, r->arena, 8192);
    il_mutant_text(&x->mutants, &e->u, &b);
    il_report_set(r, o, "operator", il_report_word(r, il_mutant_op_name(e->u.op)));
    il_report_set(r, o, "mutant", il_report_buf(r, &b));
    il_buf_init(&b, r->arena, 8192);
    il_model_symbol_brief(r->m, e->symbol, &b);
    il_report_set(r, o, "step", il_report_buf(r, &b));
    il_report_set(r, o, "state", il_report_state(r, e->state));
    il_report_step(r, was, e->state, e->was);
    il_report_step(r, is, e->state, e->is);
    il_report_set(r, o, "machine_says", was);
    il_report_set(r, o, "mutant_says", is);
    il_report_set(r, o, "witness", il_report_trace(r, &e->trace));
    return o;
}

static il_json *mutation_survivors(il_report *r, const il_mutation *x) {
    il_json *list = il_report_list(r);
    for (uint32_t c = 0; c < IL_SURVIVOR_CLASSES; c++) {
        uint64_t n = 0;
        il_json *o = il_report_object(r);
        il_json *by = il_report_list(r);
        il_json *examples = il_report_list(r);
        for (uint32_t op = 0; op < IL_MUTANT_OPS; op++) {
            n += x->classes[c][op];
            if (x->classes[c][op]) {
                il_json *one = il_report_object(r);
                il_report_set(r, one, "operator", il_report_word(r, il_mutant_op_name((il_mutant_op)op)));
                il_report_set(r, one, "survived", il_report_number(r, x->classes[c][op]));
                il_report_push(r, by, one);
            }
        }
        for (uint32_t i = 0; i < IL_MUTATION_EXAMPLES && x->examples[c][i].found; i++) {
            il_report_push(r, examples, mutation_example(r, x, &x->examples[c][i]));
        }
        il_report_set(r, o, "class", il_report_word(r, il_survivor_name((il_survivor)c)));
        il_report_set(r, o, "why", il_report_word(r, survivor_why((il_survivor)c)));
        il_report_set(r, o, "survived", il_report_number(r, n));
        il_report_set(r, o, "operators", by);
        il_report_set(r, o, "examples", examples);
        if (n > 0) {
            il_report_push(r, list, o);
        }
    }
    return list;
}

il_status il_mutation_object(const il_mutation *x, il_json **out, il_error *err) {
    il_report r = {.arena = x->h->subject.arena, .m = x->h->subject.m};
    il_json *o = il_report_object(&r);
    bool advised = false;
    for (uint32_t k = 0; k < r.m->nregions; k++) {
        advised = advised || r.m->regions[k].rejection;
    }
    mutation_tally(&r, o, &x->all);
    il_report_set(&r, o, "score", il_report_word(&r, x->bounded ? "bounded" : x->sampled ? "sampled" : "all"));
    il_report_set(&r, o, "rejections_fixed", il_report_bool(&r, advised));
    il_report_set(&r, o, "operators", mutation_operators(&r, x));
    il_report_set(&r, o, "checks", mutation_checks(&r, x));
    il_report_set(&r, o, "clusters", mutation_clusters(&r, x));
    il_report_set(&r, o, "survivors", mutation_survivors(&r, x));
    if (r.failed) {
        return il_arena_fail(r.arena, err);
    }
    *out = o;
    return IL_OK;
}
