/* SPDX-License-Identifier: Apache-2.0 */
/* One export: words are numbered, then the form's own file writes. */
#include "base/error.h"
#include "check/export_part.h"

#define EXPORT_BYTES_MAX ((size_t)256 << 20)

static bool export_domain_holds(const il_domain *d) {
    return d->kind != IL_DOMAIN_INT || (il_export_holds(d->lo) && il_export_holds(d->lo + (int64_t)d->size - 1));
}

/* The values of variables and fields stand in an export as they are. */
static il_status export_numbers(const il_model *m, il_error *err) {
    for (uint32_t v = 0; v < m->nvars; v++) {
        if (!export_domain_holds(&m->vars[v].domain)) {
            return il_error_at(err, IL_E_LIMIT, m->vars[v].line, m->vars[v].col, 0,
                               "`%.*s` cannot be exported: it has numbers of 2^30 or more, and other tools count in 32 bits",
                               (int)m->vars[v].name.n, m->vars[v].name.p);
        }
    }
    for (uint32_t a = 0; a < m->nactions; a++) {
        const il_action_def *def = &m->actions[a];
        for (uint32_t f = 0; f < def->nfields; f++) {
            if (!export_domain_holds(&def->field_domains[f])) {
                return il_error_at(err, IL_E_LIMIT, def->line, def->col, 0,
                                   "field `%.*s` of `%.*s` cannot be exported: it has numbers of 2^30 or more, and other tools "
                                   "count in 32 bits",
                                   (int)def->fields[f].n, def->fields[f].p, (int)def->name.n, def->name.p);
            }
        }
    }
    return IL_OK;
}

il_status il_export_write(il_arena *arena, const il_model *m, il_export_form form, uint32_t steps, il_str *out, il_error *err) {
    il_buf b;
    il_buf_init(&b, arena, EXPORT_BYTES_MAX);
    il_export x = {.arena = arena, .m = m, .out = &b, .err = err};
    IL_TRY(export_numbers(m, err));
    IL_TRY(il_export_words(&x));
    switch (form) {
    case IL_EXPORT_PROMELA:
        IL_TRY(il_export_promela(&x));
        break;
    case IL_EXPORT_SMT2:
        IL_TRY(il_export_smt2(&x, steps));
        break;
    case IL_EXPORT_C:
        IL_TRY(il_export_c(&x));
        break;
    }
    return il_buf_done(&b, out, err);
}
