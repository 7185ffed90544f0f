/* SPDX-License-Identifier: Apache-2.0 */
/* Negative controls: things that must fail, run every time. One that does not fail means that an instrument is broken. */
#include "check/parts.h"

#include "base/error.h"
#include "base/mem.h"

/* A guard left out: the witness that the guards check found is replayed step by step, accepted without the clause and refused with it. */
static il_control_state control_witness(const il_harden *h) {
    const il_subject *s = &h->subject;
    const il_guard_result *g = h->guards;
    while (g && g->opens != IL_GUARD_OPENS_REGION) {
        g = g->next;
    }
    if (!g) {
        return IL_CONTROL_NOT_RUN; /* nothing opens: the gates check says so */
    }
    il_variant variant = {.skip = true, .skip_action = g->action, .skip_clause = g->clause};
    uint64_t state = s->m->initial;
    uint64_t real = state;
    bool refused = false;
    bool inside = false;
    for (uint32_t i = 0; i < g->witness.n; i++) {
        uint32_t symbol = g->witness.steps[i].symbol;
        il_step step = il_model_eval(s->m, &variant, state, symbol).step;
        il_step kept = s->table ? il_machine_step(s->table, real, symbol) : il_model_eval(s->m, NULL, real, symbol).step;
        refused = refused || kept.verdict != IL_ACCEPT;
        real = kept.next;
        if (step.verdict != IL_ACCEPT) {
            return IL_CONTROL_BROKEN;
        }
        inside = s->m->regions[g->region].edge ? il_model_in_region(s->m, g->region, state, symbol, step.next)
                                               : il_model_in_region(s->m, g->region, step.next, 0, 0);
        state = step.next;
    }
    bool open_anyway = false; /* a machine that is broken already refuses nothing on the way */
    for (const il_check *c = h->checks; c; c = c->next) {
        open_anyway = open_anyway || (c->region == g->region && c->verdict == IL_CHECK_FAIL);
    }
    return inside && (refused || open_anyway) ? IL_CONTROL_FAILED_AS_IT_MUST : IL_CONTROL_BROKEN;
}

/* A region that holds everything must be reported at once, with an empty trace. */
static il_status control_true(il_harden *h, il_control_state *out, il_error *err) {
    il_arena *arena = h->subject.arena;
    il_model *m = IL_NEW(arena, il_model);
    il_region *region = IL_NEW(arena, il_region);
    if (!m || !region) {
        return il_arena_fail(arena, err);
    }
    il_cel_env env = {.size = sizeof env};
    IL_TRY(il_cel_compile(arena, IL_STR("true"), 0, 0, &env, IL_CEL_BOOL, NULL, &region->predicate, err));
    region->name = IL_STR("everything");
    *m = *h->subject.m;
    m->regions = region;
    m->nregions = 1;
    il_subject subject = h->subject;
    subject.m = m;
    subject.edges = 0;
    IL_TRY(il_steps_new(subject.alloc, m, &subject.steps, err));
    il_view v = {.subject = &subject, .table = subject.table != NULL, .regions = 1, .stop = 1};
    il_space s = {0};
    il_status status = il_view_explore(&v, &s, err);
    if (status == IL_OK) {
        *out = s.hits[0].found && s.hits[0].node == 0 && !s.hits[0].edge ? IL_CONTROL_FAILED_AS_IT_MUST : IL_CONTROL_BROKEN;
    }
    il_space_free(&s);
    il_steps_free(subject.steps);
    return status;
}

static il_status control_certificate(il_harden *h, il_control_state *out, il_error *err) {
    il_claims claims = {.states = h->states, .edges = h->edges};
    il_str bytes = {0};
    memcpy(claims.table, h->table_digest, sizeof claims.table);
    IL_TRY(il_certificate_build(h->subject.arena, &claims, &bytes, err));
    char *copy = il_arena_get(h->subject.arena, bytes.n);
    if (!copy) {
        return il_arena_fail(h->subject.arena, err);
    }
    memcpy(copy, bytes.p, bytes.n);
    copy[bytes.n / 2] ^= 1;
    bool good = il_certificate_read(bytes, &claims, NULL) == IL_OK;
    bool flipped = il_certificate_read((il_str){copy, bytes.n}, &claims, NULL) == IL_OK;
    *out = good && !flipped ? IL_CONTROL_FAILED_AS_IT_MUST : IL_CONTROL_BROKEN;
    return IL_OK;
}

static il_status control_table(il_harden *h, il_control_state *out, il_error *err) {
    if (h->table.n == 0) {
        return IL_OK;
    }
    char *copy = il_arena_get(h->subject.arena, h->table.n);
    if (!copy) {
        return il_arena_fail(h->subject.arena, err);
    }
    memcpy(copy, h->table.p, h->table.n);
    copy[h->table.n / 2] ^= 1;
    il_machine *m = NULL;
    bool opened = il_table_open(h->subject.alloc, (il_str){copy, h->table.n}, &m, NULL) == IL_OK;
    il_machine_free(m);
    *out = opened ? IL_CONTROL_BROKEN : IL_CONTROL_FAILED_AS_IT_MUST;
    return IL_OK;
}

static il_status control_guard(il_harden *h, il_control_state *out, il_error *err) {
    (void)err;
    *out = control_witness(h);
    return IL_OK;
}

/* One row a control. Each new check brings one: a fault that it must catch, planted in the machine in hand. */
typedef struct control_row {
    const char *id, *what;
    const char *
        of; /* the check that leans on it: without a line of that id that passed, the control is not needed. NULL: always needed */
    il_status (*run)(il_harden *h, il_control_state *out,
                     il_error *err); /* leaves IL_CONTROL_NOT_RUN where there is nothing to plant it in */
} control_row;
static const control_row control_rows[] = {
    {"guard-removed", "a region guard is left out: the region must be reached", NULL, control_guard},
    {"region-true", "a region that holds every state must be reported", NULL, control_true},
    {"certificate-flipped", "a certificate with one byte changed must be refused", NULL, control_certificate},
    {"table-flipped", "a table with one byte changed must be refused", NULL, control_table},
};

static bool control_needed(const il_harden *h, const control_row *row) {
    bool needed = row->of == NULL;
    for (const il_check *c = h->checks; c; c = c->next) {
        needed = needed || (c->verdict == IL_CHECK_PASS && il_str_eq(il_str_of(c->id), il_str_of(row->of)));
    }
    return needed;
}

il_status il_check_controls(il_harden *h, il_error *err) {
    for (size_t i = 0; i < sizeof control_rows / sizeof control_rows[0]; i++) {
        const control_row *row = &control_rows[i];
        il_control *c = IL_NEW(h->subject.arena, il_control);
        if (!c) {
            return il_arena_fail(h->subject.arena, err);
        }
        *c = (il_control){.id = row->id, .what = row->what, .state = IL_CONTROL_NOT_NEEDED};
        if (control_needed(h, row)) {
            c->state = IL_CONTROL_NOT_RUN;
            IL_TRY(row->run(h, &c->state, err));
        }
        if (h->last_control) {
            h->last_control->next = c;
        } else {
            h->controls = c;
        }
        h->last_control = c;
    }
    return IL_OK;
}
