/* SPDX-License-Identifier: Apache-2.0 */
/* What was asked: the regions with their conditions, and what the document says of each variable. Without it a verdict names what nobody can see. */
#include "check/report.h"

static const char *asked_form(const il_region *g) {
    if (g->rejection) {
        return "rejection";
    }
    return g->gated ? "gated" : g->must ? "transition" : "never";
}

/* The condition as it was compiled, lets written out; of a region of steps that of its first action. */
static il_json *asked_condition(il_report *r, const il_region *g) {
    const il_cel_program *program = g->predicate;
    for (uint32_t a = 0; !program && g->on && a < r->m->nactions; a++) {
        program = g->on[a];
    }
    il_buf b;
    il_buf_init(&b, r->arena, (size_t)1 << 20);
    if (program) {
        il_cel_print(program, &b);
    }
    return il_report_buf(r, &b);
}

il_json *il_report_regions(il_report *r) {
    il_json *list = il_report_list(r);
    for (uint32_t k = 0; k < r->m->nregions; k++) {
        const il_region *g = &r->m->regions[k];
        il_json *o = il_report_object(r);
        il_report_set(r, o, "region", il_report_str(r, g->name));
        il_report_set(r, o, "form", il_report_word(r, asked_form(g)));
        il_report_set(r, o, "condition", asked_condition(r, g));
        il_report_set(r, o, "steps_of", g->edge || g->rejection ? il_report_actions(r, g->actions) : il_report_list(r));
        il_report_set(r, o, "by", il_report_actions(r, g->by));
        il_report_push(r, list, o);
    }
    return list;
}

il_json *il_report_variables(il_report *r) {
    il_json *list = il_report_list(r);
    for (uint32_t v = 0; v < r->m->nvars; v++) {
        const il_var *var = &r->m->vars[v];
        il_json *o = il_report_object(r), *values = il_report_list(r), *marks = il_report_list(r);
        for (uint32_t x = 0; x < var->domain.size && var->domain.size <= 16; x++) {
            il_report_push(r, values, il_report_str(r, var->domain.names[x]));
        }
        const struct {
            bool set;
            const char *word;
        } marked[] = {{var->taint, "taint source"},
                      {var->sticky, "sticky"},
                      {var->ghost, "ghost"},
                      {var->adversary.writes, var->adversary.when || var->adversary.to ? "adversarial, typed" : "adversarial"}};
        for (size_t i = 0; i < sizeof marked / sizeof marked[0]; i++) {
            if (marked[i].set) {
                il_report_push(r, marks, il_report_word(r, marked[i].word));
            }
        }
        il_report_set(r, o, "variable", il_report_str(r, var->name));
        il_report_set(r, o, "number_of_values", il_report_number(r, var->domain.size));
        il_report_set(r, o, "values", values);
        il_report_set(r, o, "marks", marks);
        il_report_push(r, list, o);
    }
    return list;
}
