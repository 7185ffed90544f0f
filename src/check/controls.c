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
    bool inside =
        !s->m->regions[g->region].edge && il_model_in_region(s->m, g->region, state, 0, 0); /* a witness may have no step */
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
        bool seen = s.hits[0].found && s.hits[0].node == 0 && !s.hits[0].edge;
        *out = seen ? IL_CONTROL_FAILED_AS_IT_MUST : s.bound_hit ? IL_CONTROL_NOT_RUN : IL_CONTROL_BROKEN;
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

/* Mistakes that an observer must notice, planted in the steps of the machine in hand. */
typedef enum control_mistake {
    CONTROL_CLEARS_TAINTS,    /* an action forgets what was brought */
    CONTROL_COMMIT_AT_RETURN, /* a call's taints are not charged when it is admitted */
    CONTROL_SECOND_WAY_OUT,   /* a way out that is not counted */
    CONTROL_APPROVAL_KEPT,    /* an approved call does not use up its approval */
    CONTROL_CONFIRMED_LOST    /* a settle forgets the taint that it confirms */
} control_mistake;

typedef struct control_plant {
    il_subject *s;
    control_mistake mistake;
    uint64_t actions; /* whose steps are changed */
    il_steps_edge *row;
} control_plant;

static uint64_t control_put(const control_plant *p, uint64_t state, const il_steps_edge *e) {
    const il_subject *s = p->s;
    uint64_t next = e->next;
    uint32_t granted = il_model_var(s->m, IL_STR("granted"));
    for (uint32_t t = 0; t < s->ntaints; t++) {
        uint32_t now = il_model_get(s->m, state, s->taints[t]);
        bool lost = p->mistake == CONTROL_CLEARS_TAINTS ||
                    (p->mistake == CONTROL_CONFIRMED_LOST && il_words_taint(&s->words[e->symbol], s->taint_words[t]));
        next = lost                                     ? il_model_set(s->m, next, s->taints[t], 0)
               : p->mistake == CONTROL_COMMIT_AT_RETURN ? il_model_set(s->m, next, s->taints[t], now)
                                                        : next;
    }
    for (uint32_t k = 0; p->mistake == CONTROL_SECOND_WAY_OUT && k < IL_WAYS_OUT; k++) {
        uint32_t v = s->out[k].var;
        next = v == UINT32_MAX ? next : il_model_set(s->m, next, v, il_model_get(s->m, state, v));
    }
    if (p->mistake == CONTROL_APPROVAL_KEPT && granted != UINT32_MAX && s->words[e->symbol].approved) {
        next = il_model_set(s->m, next, granted, il_model_get(s->m, state, granted));
    }
    return next;
}

static il_steps_edges control_rows_of(void *ctx, uint64_t state) {
    control_plant *p = ctx;
    il_steps_edges row = il_steps_row(p->s->steps, NULL, state);
    for (uint32_t k = 0; k < row.n; k++) {
        p->row[k] = row.edge[k];
        if (!p->row[k].fault && (p->actions >> p->s->m->symbol_action[p->row[k].symbol] & 1)) {
            p->row[k].next = control_put(p, state, &row.edge[k]);
        }
    }
    return (il_steps_edges){p->row, row.n};
}

/* Whether the view, which found nothing in the machine, finds the mistake in the steps of some of these actions. */
static il_status control_caught(il_harden *h, control_mistake mistake, uint64_t actions, const il_view *view, bool *caught,
                                bool *bounded, il_error *err) {
    il_subject *s = &h->subject;
    control_plant p = {.s = s, .mistake = mistake, .row = IL_NEW_ARRAY(s->arena, il_steps_edge, s->m->nsymbols)};
    if (!p.row) {
        return il_arena_fail(s->arena, err);
    }
    for (uint64_t left = actions; left != 0 && !*caught; left &= left - 1) {
        p.actions = left & -left;
        il_view v = *view;
        il_space space = {0};
        v.rows = control_rows_of;
        v.rows_ctx = &p;
        v.stop = v.observer == IL_OBSERVE_APPROVALS ? IL_VIEW_UNAPPROVED : v.regions;
        v.any = true;
        il_status status = il_view_explore(&v, &space, err);
        for (uint32_t k = 0; k < 64; k++) {
            *caught = *caught || space.hits[k].found;
        }
        *bounded = *bounded || space.bound_hit;
        il_space_free(&space);
        IL_TRY(status);
    }
    return IL_OK;
}

/* Whether everything that can be brought, together, is in some `never` region. Without a taint nothing is brought, whatever is called `open`, and what is frozen (which
 * coverage says) is brought by no step. */
static bool control_asks(const il_harden *h) {
    const il_subject *s = &h->subject;
    uint64_t worst = s->m->initial;
    for (uint32_t t = 0; t < s->ntaints; t++) {
        const uint32_t v = s->taints[t];
        worst = h->frozen >> v & 1 ? worst : il_model_set(s->m, worst, v, s->m->vars[v].domain.size - 1);
    }
    for (uint32_t k = 0; k < IL_WAYS_OUT; k++) {
        worst = s->out[k].var == UINT32_MAX || (h->frozen >> s->out[k].var & 1) != 0
                    ? worst
                    : il_model_set(s->m, worst, s->out[k].var, s->out[k].foreign);
    }
    bool asks = false;
    for (uint64_t left = s->ntaints > 0 ? s->never & ~s->edges : 0; left != 0; left &= left - 1) {
        asks = asks || il_steps_in_region(s->steps, (uint32_t)__builtin_ctzll(left), worst, 0, 0);
    }
    return asks;
}

/* What the regions do not speak of (a machine without a rule on ways out) is missed rightly; that all three are missed is not. */
static il_status control_laundering(il_harden *h, control_mistake which, il_control_state *out, il_error *err) {
    const il_subject *s = &h->subject;
    il_view v = {.subject = &h->subject, .observer = IL_OBSERVE_GHOSTS, .regions = s->never, .dropped = s->lowers};
    bool caught[3] = {false, false, false}, bounded = false;
    if (s->ntaints == 0) {
        *out = IL_CONTROL_NOT_NEEDED; /* NOTHING_TO_LAUNDER: the check watched nothing, and said so */
        return IL_OK;
    }
    uint64_t all = s->m->nactions < 64 ? (UINT64_C(1) << s->m->nactions) - 1 : UINT64_MAX;
    const uint64_t actions[3] = {all & ~(s->admits | s->joins | s->lowers), s->admits, s->admits};
    for (uint32_t i = 0; i < 3; i++) {
        if (i == (uint32_t)which || !caught[which]) {
            IL_TRY(control_caught(h, (control_mistake)i, actions[i], &v, &caught[i], &bounded, err));
        }
    }
    bool none = !caught[0] && !caught[1] && !caught[2];
    *out = caught[which]             ? IL_CONTROL_FAILED_AS_IT_MUST
           : none && bounded         ? IL_CONTROL_NOT_RUN
           : none && control_asks(h) ? IL_CONTROL_BROKEN
                                     : IL_CONTROL_NOT_NEEDED;
    return IL_OK;
}

static il_status control_clears(il_harden *h, il_control_state *out, il_error *err) {
    return control_laundering(h, CONTROL_CLEARS_TAINTS, out, err);
}
static il_status control_return(il_harden *h, il_control_state *out, il_error *err) {
    return control_laundering(h, CONTROL_COMMIT_AT_RETURN, out, err);
}
static il_status control_second(il_harden *h, il_control_state *out, il_error *err) {
    return control_laundering(h, CONTROL_SECOND_WAY_OUT, out, err);
}

static il_status control_approval(il_harden *h, il_control_state *out, il_error *err) {
    il_view v = {.subject = &h->subject, .observer = IL_OBSERVE_APPROVALS};
    bool caught = false, bounded = false;
    if (il_model_var(h->subject.m, IL_STR("granted")) == UINT32_MAX) {
        return IL_OK;
    }
    IL_TRY(control_caught(h, CONTROL_APPROVAL_KEPT, h->subject.admits, &v, &caught, &bounded, err));
    *out = caught ? IL_CONTROL_FAILED_AS_IT_MUST : bounded ? IL_CONTROL_NOT_RUN : IL_CONTROL_BROKEN;
    return IL_OK;
}

/* Of taints that no region reads nothing is missed; where laundering notices them, this must as well. */
static il_status control_confirmed(il_harden *h, il_control_state *out, il_error *err) {
    const il_subject *s = &h->subject;
    il_view v = {.subject = &h->subject, .observer = IL_OBSERVE_CONFIRMED, .regions = s->never};
    bool caught = false, bounded = false;
    IL_TRY(control_caught(h, CONTROL_CONFIRMED_LOST, s->settles | s->joins, &v, &caught, &bounded, err));
    *out = caught ? IL_CONTROL_FAILED_AS_IT_MUST : IL_CONTROL_NOT_NEEDED;
    return IL_OK;
}

/* from-init with one region in the place of the machine's: it holds every step that is accepted, or finds every refusal wrong. */
static il_status control_steps(il_harden *h, bool rejection, il_control_state *out, il_error *err) {
    const il_model *m = h->subject.m;
    il_arena *arena = h->subject.arena;
    bool asked = false, fires = false;
    for (uint32_t r = 0; r < m->nregions; r++) {
        asked = asked || (m->regions[r].edge && m->regions[r].rejection == rejection);
    }
    for (uint32_t i = 0; i < m->nrules; i++) {
        fires = fires || h->rule_fired[i];
    }
    if (!asked || (rejection && !fires)) {
        *out = IL_CONTROL_NOT_NEEDED; /* no such region, or nothing is ever refused */
        return IL_OK;
    }
    if (!rejection && h->edges == 0) {
        return IL_OK; /* nothing is ever accepted: there is no step to find, and the run is not clean */
    }
    il_model *planted = IL_NEW(arena, il_model);
    il_region *region = IL_NEW(arena, il_region);
    il_harden alone = {.subject = h->subject};
    alone.rule_fired = IL_NEW_ARRAY(arena, bool, m->nrules);
    alone.symbol_accepted = IL_NEW_ARRAY(arena, bool, m->nsymbols);
    alone.subject.judged = alone.subject.judged_own = IL_NEW_ARRAY(arena, uint64_t, m->nsymbols);
    if (planted && region) {
        region->on = IL_NEW_ARRAY(arena, il_cel_program *, m->nactions);
    }
    if (!planted || !region || !region->on || !alone.rule_fired || !alone.symbol_accepted || !alone.subject.judged) {
        return il_arena_fail(arena, err);
    }
    for (uint32_t i = 0; i < m->nsymbols; i++) {
        alone.subject.judged[i] = rejection ? 0 : 1;
    }
    il_cel_env env = {.size = sizeof env};
    IL_TRY(il_cel_compile(arena, IL_STR("true"), 0, 0, &env, IL_CEL_BOOL, NULL, &region->predicate, err));
    for (uint32_t a = 0; a < m->nactions; a++) {
        region->on[a] = region->predicate;
        region->actions |= UINT64_C(1) << a;
    }
    region->name = IL_STR("every step");
    region->edge = true;
    region->rejection = rejection;
    *planted = *m;
    planted->regions = region;
    planted->nregions = 1;
    alone.subject.m = planted;
    alone.subject.edges = 1;
    alone.subject.gated = 0;
    alone.subject.never = rejection ? 0 : 1;
    IL_TRY(il_steps_new(alone.subject.alloc, planted, &alone.subject.steps, err));
    il_status status = il_check_from_init(&alone, err);
    if (status == IL_OK) {
        const il_check *c = alone.checks;
        *out = c->verdict == IL_CHECK_FAIL && c->witness.n > 0 ? IL_CONTROL_FAILED_AS_IT_MUST
               : c->bound_hit                                  ? IL_CONTROL_NOT_RUN
                                                               : IL_CONTROL_BROKEN;
    }
    il_steps_free(alone.subject.steps);
    return status;
}

static il_status control_step(il_harden *h, il_control_state *out, il_error *err) { return control_steps(h, false, out, err); }
static il_status control_refusal(il_harden *h, il_control_state *out, il_error *err) { return control_steps(h, true, out, err); }

static il_status control_recovery(il_harden *h, il_control_state *out, il_error *err) {
    return il_recovery_control(h, IL_RECOVERY_DEAD_END, out, err);
}
static il_status control_leads_back(il_harden *h, il_control_state *out, il_error *err) {
    return il_recovery_control(h, IL_RECOVERY_LEADS_BACK, out, err);
}
static il_status control_forgets(il_harden *h, il_control_state *out, il_error *err) {
    return il_recovery_control(h, IL_RECOVERY_FORGETS, out, err);
}
static il_status control_undone(il_harden *h, il_control_state *out, il_error *err) {
    return il_recovery_control(h, IL_RECOVERY_UNDONE, out, err);
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
    {"taint-cleared", "an action that clears the taints must be reported", "laundering", control_clears},
    {"commit-at-return", "taints that are charged at the return and not at the admission must be reported", "laundering",
     control_return},
    {"second-way-out", "a way out that is not counted must be reported", "laundering", control_second},
    {"taint-unconfirmed", "a settle that forgets the taint which it confirms must be reported", "confirmed", control_confirmed},
    {"approval-kept", "an approved call that keeps its approval must be reported", "approvals", control_approval},
    {"step-true", "a region that holds every accepted step must be reported", "from-init", control_step},
    {"refusal-wrong", "a region that finds every refusal wrong must be reported", "from-init", control_refusal},
    {"dead-end", "where no corrective step enters the goal, recovery must be stuck", "recovery", control_recovery},
    {"leads-back", "a corrective step that leads into a region anew must be reported", "recovery", control_leads_back},
    {"correction-forgets", "a corrective step that lowers a taint or what is sticky must be reported", "recovery",
     control_forgets},
    {"recovery-undone", "others that lead back into a region before the goal must be reported", "recovery", control_undone},
    {"sticky-lowered", "steps that lower what is sticky must be reported", "sticky", il_sticky_control},
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
