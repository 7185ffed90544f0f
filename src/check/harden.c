/* SPDX-License-Identifier: Apache-2.0 */
/* The run: all checks in order, then what they add up to. */
#include "check/harden.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "check/parts.h"

const char *il_check_verdict_name(il_check_verdict v) {
    switch (v) {
    case IL_CHECK_ERROR:
        return "ERROR";
    case IL_CHECK_PASS:
        return "PASS";
    case IL_CHECK_FAIL:
        return "FAIL";
    case IL_CHECK_INCONCLUSIVE:
        return "INCONCLUSIVE";
    case IL_CHECK_VACUOUS:
        return "VACUOUS";
    }
    return "ERROR";
}

il_check *il_check_add(il_harden *h, const char *id, uint32_t region, bool required) {
    il_check *c = IL_NEW(h->subject.arena, il_check);
    if (c) {
        *c = (il_check){.id = id, .region = region, .required = required};
        if (h->last_check) {
            h->last_check->next = c;
        } else {
            h->checks = c;
        }
        h->last_check = c;
    }
    return c;
}

il_status il_check_judge(il_harden *h, il_check *c, const il_view *v, const il_space *s, uint32_t bit, const char *finding,
                         il_error *err) {
    c->states = s->n;
    c->edges = s->edges;
    c->depth = s->depth;
    c->bound_hit = s->bound_hit;
    h->bounded = h->bounded || s->bound_hit;
    if (s->hits[bit].found) {
        c->verdict = IL_CHECK_FAIL;
        c->finding = finding;
        return il_trace_of(h, v, s, &s->hits[bit], &c->witness, err);
    }
    if (v->saturated) {
        c->finding = "COUNT_SATURATED";
    }
    c->verdict = s->bound_hit || v->saturated ? IL_CHECK_INCONCLUSIVE : IL_CHECK_PASS;
    return IL_OK;
}

#define HARDEN_SOON (UINT64_C(1) << 22) /* cells of a machine whose table is built without asking */

/* Whether a machine whose table may take long is within the bounds: building one asks for neither time nor work. */
static il_status harden_fits(il_harden *h, bool *out, il_error *err) {
    il_subject *s = &h->subject;
    *out = true;
    if (s->m->product <= HARDEN_SOON / s->m->nsymbols) {
        return IL_OK;
    }
    const il_space_bounds whole = s->bounds;
    const size_t cells = IL_TABLE_BYTES_MAX / 4 / s->m->nsymbols;
    il_view v = {.subject = s};
    il_space space = {0};
    uint64_t apart = 0;
    s->bounds.spent = &apart;
    s->bounds.states = whole.states && whole.states < cells ? whole.states : (uint32_t)cells + 1;
    il_status status = il_view_explore(&v, &space, err);
    s->bounds = whole;
    *out = !space.bound_hit;
    il_space_free(&space);
    return status;
}

/* A machine that is too large for the bounds is explored by its guards and can at most be found broken. */
static il_status harden_table(il_harden *h, il_machine **out, il_error *err) {
    il_subject *s = &h->subject;
    il_error why = {0};
    bool fits = true;
    IL_TRY(harden_fits(h, &fits, err));
    if (!fits) {
        h->bounded = true;
        return IL_OK;
    }
    il_status status = il_table_build_by(s->steps, s->arena, s->m, s->bounds.states, &h->table, &why);
    if (status == IL_E_LIMIT && !s->arena->capped) {
        h->table = (il_str){0};
        h->bounded = true;
        return IL_OK;
    }
    if (status != IL_OK) {
        if (err) {
            *err = why;
        }
        return status;
    }
    IL_TRY(il_table_open(s->alloc, h->table, out, err));
    il_machine_digest(*out, h->table_digest);
    s->table = *out;
    return IL_OK;
}

static bool harden_passed(const il_harden *h, const char *id) {
    bool any = false;
    for (const il_check *c = h->checks; c; c = c->next) {
        if (il_str_starts(il_str_of(c->id), il_str_of(id))) {
            any = true;
            if (c->verdict != IL_CHECK_PASS) {
                return false;
            }
        }
    }
    return any;
}

/* Nothing failed, and what is not settled is so because a bound was reached. */
static bool harden_only_bounds(const il_harden *h) {
    bool only = h->bounded;
    for (const il_check *c = h->checks; c; c = c->next) {
        only = only && (c->verdict == IL_CHECK_PASS || (c->verdict == IL_CHECK_INCONCLUSIVE && c->bound_hit));
    }
    for (const il_control *c = h->controls; c; c = c->next) {
        only = only && c->state != IL_CONTROL_BROKEN;
    }
    return only;
}

static void harden_exit(il_harden *h) {
    bool broken = false;
    bool fail = false;
    bool unclear = h->bounded;
    for (const il_check *c = h->checks; c; c = c->next) {
        broken = broken || c->verdict == IL_CHECK_ERROR;
        fail = fail || c->verdict == IL_CHECK_FAIL;
        unclear = unclear || c->verdict != IL_CHECK_PASS;
    }
    for (const il_control *c = h->controls; c; c = c->next) {
        broken = broken || c->state == IL_CONTROL_BROKEN;
        unclear = unclear || c->state == IL_CONTROL_NOT_RUN;
    }
    h->exit = broken ? 4 : fail ? 1 : !unclear || (h->allow_bounded && harden_only_bounds(h)) ? 0 : 2;
}

const char *il_harden_verdict(const il_harden *h) {
    return h->fully_mediated       ? "FULLY MEDIATED"
           : h->exit == 4          ? "NO VERDICT"
           : h->exit == 1          ? "NOT MEDIATED"
           : harden_only_bounds(h) ? "BOUNDED"
                                   : "INCONCLUSIVE";
}

int il_harden_worse(int a, int b) {
    static const int order[] = {4, 1, 2};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (a == order[i] || b == order[i]) {
            return order[i];
        }
    }
    return 0;
}

int il_harden_exit(const il_harden *h) { return il_harden_worse(h->exit, h->beside); }

il_status il_harden_join(il_harden *h, const char *key, il_json *object, il_error *err) {
    il_section *s = IL_NEW(h->subject.arena, il_section);
    if (!s || !object) {
        return il_arena_fail(h->subject.arena, err);
    }
    *s = (il_section){.key = key, .object = object};
    if (h->last_section) {
        h->last_section->next = s;
    } else {
        h->sections = s;
    }
    h->last_section = s;
    return IL_OK;
}

static il_status harden_certify(il_harden *h, il_error *err) {
    il_claims c = {.states = h->states,
                   .symbols = h->subject.m->nsymbols,
                   .edges = h->edges,
                   .depth = h->depth,
                   .from_init = harden_passed(h, "from-init"),
                   .mediation = harden_passed(h, "mediation"),
                   .havoc = harden_passed(h, "havoc"),
                   .gates = harden_passed(h, "gates"),
                   .laundering = harden_passed(h, "laundering")};
    memcpy(c.table, h->table_digest, sizeof c.table);
    h->fully_mediated = h->exit == 0 && !h->bounded && h->table.n > 0 && c.from_init && c.mediation && c.havoc && c.gates &&
                        c.laundering && harden_passed(h, "translation") && harden_passed(h, "coverage");
    h->certificate = (il_str){0};
    return h->fully_mediated ? il_certificate_build(h->subject.arena, &c, &h->certificate, err) : IL_OK;
}

il_status il_harden_conclude(il_harden *h, il_error *err) {
    h->work_hit = h->work_hit || !il_space_spend(&h->subject.bounds, 0);
    harden_exit(h);
    IL_TRY(harden_certify(h, err));
    if (h->exit == 0 && !h->fully_mediated && !h->bounded) {
        h->exit = 2; /* a kind of check had nothing to look at: no finding, and no proof either */
    }
    return IL_OK;
}

/* Every check, in the order of the report. Some read what an earlier one left in il_harden: `from-init` notes who writes what, `guards` what
 * each clause holds shut. The controls look at the verdicts; advice, on which nothing depends, is last. */
typedef struct harden_row {
    il_status (*run)(il_harden *h, il_error *err);
    bool advice; /* no part of the verdict: left out by il_harden_prove() */
} harden_row;
static const harden_row harden_rows[] = {
    {.run = il_check_translation},
    {.run = il_check_from_init},
    {.run = il_check_mediation},
    {.run = il_check_havoc},
    {.run = il_check_guards},
    {.run = il_check_gates},
    {.run = il_check_laundering},
    {.run = il_check_observers},
    {.run = il_check_recovery},
    {.run = il_check_sticky},
    {.run = il_check_coverage},
    {.run = il_check_controls},
    {.run = il_name_havoc, .advice = true},
};

static il_status harden_checks(il_harden *h, il_error *err) {
    for (size_t i = 0; i < sizeof harden_rows / sizeof harden_rows[0]; i++) {
        if (h->verdict_only && h->bounded) {
            break; /* it cannot be sealed any more */
        }
        if (!harden_rows[i].advice || !h->verdict_only) {
            IL_TRY(harden_rows[i].run(h, err));
        }
    }
    return il_harden_conclude(h, err);
}

static il_status harden_run(il_harden *h, const il_alloc *alloc, il_arena *arena, const il_model *m,
                            const il_space_bounds *bounds, bool verdict_only, il_error *err) {
    *h = (il_harden){.verdict_only = verdict_only};
    il_machine *table = NULL;
    il_status status = il_subject_init(&h->subject, alloc, arena, m, bounds, err);
    h->rule_fired = IL_NEW_ARRAY(arena, bool, m->nrules);
    h->symbol_accepted = IL_NEW_ARRAY(arena, bool, m->nsymbols);
    if (status == IL_OK && (!h->rule_fired || !h->symbol_accepted)) {
        status = il_arena_fail(arena, err);
    }
    if (status == IL_OK) {
        status = harden_table(h, &table, err);
    }
    if (status == IL_OK) {
        status = harden_checks(h, err);
    }
    il_machine_free(table);
    h->subject.table = NULL;
    return status;
}

il_status il_harden_run(il_harden *h, const il_alloc *alloc, il_arena *arena, const il_model *m, const il_space_bounds *bounds,
                        il_error *err) {
    return harden_run(h, alloc, arena, m, bounds, false, err);
}

il_status il_harden_prove(il_harden *h, const il_alloc *alloc, il_arena *arena, const il_model *m, il_error *err) {
    const il_space_bounds bounds = {0};
    return harden_run(h, alloc, arena, m, &bounds, true, err);
}

void il_harden_free(il_harden *h) { il_subject_free(&h->subject); }
