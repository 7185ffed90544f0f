/* SPDX-License-Identifier: Apache-2.0 */
/* Judging mutants: each is made, asked (mutation_views.c), counted (mutation_survey.c) and noted. */
#include "base/error.h"
#include "base/mem.h"
#include "check/mutation_part.h"
#include "check/parts.h"

#define MUTATION_CELLS_MAX ((size_t)1 << 24)
#define MUTATION_WORK_BYTES ((size_t)1 << 30)
enum { MUTATION_PLACES_MAX = 2048, MUTATION_KEPT_BITS = 12, MUTATION_KEPT_EDGES = 1 << 22 };

static void mutation_note(il_mutating *r, uint64_t kills) {
    il_mutation *x = r->x;
    bool one = (kills & (kills - 1)) == 0;
    uint32_t first = (uint32_t)__builtin_ctzll(kills);
    x->ops[r->u->op].killed++;
    x->first[r->u->op][first]++;
    x->lines[first].first++;
    for (uint32_t i = 0; i < x->nlines; i++) {
        bool kill = kills >> i & 1;
        x->lines[i].kills += kill;
        x->lines[i].alone += kill && one;
        x->lines[i].differs |= kill ? ~kills : kills;
    }
}

static bool mutation_seen(il_mutating *r, uint64_t signature) {
    for (uint32_t i = 0; i < r->nsignatures; i++) {
        if (r->signatures[i] == signature) {
            return true;
        }
    }
    r->signatures[r->nsignatures++] = signature;
    return false;
}

/* The same cell says the same under an operator that came before. */
static bool mutation_twice(const il_mutating *r, uint32_t cell) {
    const il_mutant *u = r->u;
    const il_step *was = &r->cells[cell];
    const il_mutants *p = &r->x->mutants;
    if (was->verdict != IL_REJECT || u->step.verdict != IL_ACCEPT || u->op == IL_MUTANT_ACCEPT) {
        return false;
    }
    il_look look = il_model_look(r->s->m, u->state, u->symbol);
    il_eval e = il_model_eval(r->s->m, NULL, u->state, u->symbol);
    bool accept = e.step.verdict == IL_REJECT && (look.escaped | look.failed) == 0 && e.next == u->step.next;
    uint32_t donor = p->donor[u->symbol];
    return accept || (u->op == IL_MUTANT_SILENCE && donor != UINT32_MAX && p->cells[donor].next == u->step.next);
}

/* Recovery begins where no session should be, so it is asked of a mistake in an action, which is made there too, and not of a cell. */
static il_status mutation_recovers(il_mutating *r, uint64_t *kills, il_error *err) {
    il_arena scratch;
    if (r->recovery < 0 || r->u->cell) {
        return IL_OK;
    }
    il_arena_init(&scratch, r->s->alloc, MUTATION_WORK_BYTES);
    il_harden other = *r->h;
    other.checks = other.last_check = NULL;
    other.recovery = (il_recovery){0};
    other.bounded = false;
    other.subject.arena = &scratch;
    other.subject.rows = il_mutating_rows;
    other.subject.rows_ctx = r;
    il_status status = il_check_recovery(&other, err);
    const il_check *c = other.checks;
    if (status == IL_OK && c) {
        r->fault = r->fault || (c->finding && il_str_eq(il_str_of(c->finding), IL_STR("FAULT")));
        r->bounded = r->bounded || c->bound_hit;
        *kills |= c->verdict == IL_CHECK_FAIL ? UINT64_C(1) << r->recovery : 0;
    }
    il_arena_free(&scratch);
    return status;
}

static il_status mutation_one(il_mutating *r, const il_mutant *u, il_error *err) {
    il_mutation_tally *t = &r->x->ops[u->op];
    uint64_t kills = 0;
    bool same = false;
    r->u = u;
    r->fault = r->bounded = r->only = false;
    t->judged++;
    memset(r->now.refused, 0, sizeof r->now.refused);
    uint32_t place = u->cell ? il_space_find(&r->plain, u->state) : 0;
    const il_step *was = &r->cells[(size_t)place * r->s->m->nsymbols + u->symbol];
    bool twice = false;
    if (u->cell) {
        same = was->next == u->step.next && was->verdict == u->step.verdict && was->reason == u->step.reason;
        twice = !same && mutation_twice(r, (uint32_t)(was - r->cells));
        r->fault = u->step.verdict == IL_FAULT;
    } else {
        uint64_t signature = 0;
        memset(r->kept_n, 0xFF, sizeof *r->kept_n << r->kept_bits);
        il_mutating_compare(r);
        same = r->ndiffers == 0;
        if (r->sets && !same) { /* what a sample saves: it does not look for doubles among classes */
            IL_TRY(il_mutating_survey_whole(r, &signature, err));
            twice = !r->fault && mutation_seen(r, signature);
        }
    }
    if (same || twice) {
        t->equivalent += same;
        t->duplicate += !same;
        return IL_OK;
    }
    for (uint32_t i = 0; i <= r->nviews && !r->fault && (r->sets || kills == 0); i++) {
        if (i == r->nearly) {
            if (u->cell || !r->sets) {
                IL_TRY(u->cell ? il_mutating_survey_cell(r, place, err) : il_mutating_survey_whole(r, NULL, err));
            }
            IL_TRY(il_mutating_judge_survey(r, &kills, err));
            if (kills && !r->sets) {
                break;
            }
        }
        if (i < r->nviews && u->cell) {
            IL_TRY(il_mutating_ask_cell(r, &r->views[i], place, was->verdict == IL_ACCEPT, &kills, err));
        } else if (i < r->nviews) {
            IL_TRY(il_mutating_ask_class(r, &r->views[i], &kills, err));
        }
    }
    if (!r->fault && (r->sets || kills == 0)) {
        IL_TRY(mutation_recovers(r, &kills, err));
    }
    if (r->fault) {
        t->harness++;
        return IL_OK;
    }
    t->distinct++;
    if (kills) {
        mutation_note(r, kills);
    } else if (r->bounded) {
        t->unsettled++;
        r->x->bounded = true;
    } else {
        t->survived++;
        return il_mutating_survives(r, err);
    }
    return IL_OK;
}

static il_status mutation_prepare(il_mutating *r, il_error *err) {
    const il_model *m = r->s->m;
    const il_view v = {.subject = r->s};
    IL_TRY(il_mutating_explore(r, &v, false, 0, &r->plain, err));
    size_t n = (size_t)r->plain.n * m->nsymbols;
    if (r->bounded || n > MUTATION_CELLS_MAX) {
        r->x->bounded = true;
        return IL_OK;
    }
    r->kept_bits = MUTATION_KEPT_BITS;
    while (r->kept_bits > 1 && (size_t)m->nsymbols << r->kept_bits > MUTATION_KEPT_EDGES) {
        r->kept_bits--; /* rows of a machine with many symbols are long */
    }
    r->states = IL_NEW_ARRAY(&r->arena, uint64_t, r->plain.n);
    r->cells = il_arena_raw(&r->arena, n * sizeof *r->cells); /* filled below */
    r->to = il_arena_raw(&r->arena, n * sizeof *r->to);
    r->row = IL_NEW_ARRAY(&r->arena, il_steps_edge, m->nsymbols);
    r->copy = IL_NEW_ARRAY(&r->arena, il_steps_edge, m->nsymbols);
    r->kept = il_arena_raw(&r->arena, ((size_t)m->nsymbols << r->kept_bits) * sizeof *r->kept); /* most of it is never needed */
    r->kept_of = IL_NEW_ARRAY(&r->arena, uint64_t, (size_t)1 << r->kept_bits);
    r->kept_n = IL_NEW_ARRAY(&r->arena, uint32_t, (size_t)1 << r->kept_bits);
    r->differs = IL_NEW_ARRAY(&r->arena, uint32_t, n);
    r->changed = il_arena_raw(&r->arena, n * sizeof *r->changed); /* likewise */
    r->changed_at = IL_NEW_ARRAY(&r->arena, uint32_t, (size_t)r->plain.n + 1);
    r->queue = IL_NEW_ARRAY(&r->arena, uint32_t, r->plain.n);
    r->ways = IL_NEW_ARRAY(&r->arena, uint32_t, r->plain.n);
    r->reached = IL_NEW_ARRAY(&r->arena, bool, r->plain.n);
    if (!r->states || !r->cells || !r->to || !r->row || !r->copy || !r->kept || !r->kept_of || !r->kept_n || !r->differs ||
        !r->changed || !r->changed_at || !r->queue || !r->ways || !r->reached) {
        return il_arena_fail(&r->arena, err);
    }
    for (uint32_t i = 0; i < r->plain.n; i++) {
        r->states[i] = il_space_key(&r->plain, i);
        for (uint32_t k = 0; k < m->nsymbols; k++) {
            il_step step = il_steps_one(r->s->steps, NULL, r->states[i], k);
            r->cells[(size_t)i * m->nsymbols + k] = step;
            r->to[(size_t)i * m->nsymbols + k] = step.verdict == IL_ACCEPT ? il_space_find(&r->plain, step.next) : UINT32_MAX;
        }
        for (uint32_t k = 0; k < m->nsymbols; k++) {
            const uint32_t to = r->to[(size_t)i * m->nsymbols + k];
            r->ways[to == UINT32_MAX ? 0 : to] += to != UINT32_MAX && i < to;
        }
        il_mutating_count_row(r, &r->base, i, 1);
    }
    il_mutating_writes(r, &r->base, &r->raise, &r->lower);
    il_mutating_reads(r);
    il_mutating_lines(r);
    il_mutating_questions(r);
    IL_TRY(il_mutating_views(r, err));
    r->x->bounded = r->bounded;
    IL_TRY(il_mutants_init(&r->x->mutants, r->h->subject.arena, r->s, r->states, r->plain.n, r->cells, err));
    if (r->plain.n <= MUTATION_PLACES_MAX) {
        size_t all = (size_t)r->plain.n + IL_MUTATING_OTHERS;
        r->within = IL_NEW_ARRAY(&r->arena, uint8_t, all * all);
        r->pairs = IL_NEW_ARRAY(&r->arena, uint64_t, all * all);
        if (!r->within || !r->pairs) {
            return il_arena_fail(&r->arena, err);
        }
    }
    r->signatures = IL_NEW_ARRAY(&r->arena, uint64_t, (size_t)r->x->mutants.nclasses + 1);
    return r->signatures ? IL_OK : il_arena_fail(&r->arena, err);
}

static uint64_t mutation_gcd(uint64_t a, uint64_t b) { /* bounded by the logarithm of b */
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Of `count` things `take`, spread without a period that the table could share: place i stands at i * step modulo count. */
static il_status mutation_operator(il_mutating *r, il_mutant_op op, uint64_t take, il_error *err) {
    uint64_t count = il_mutants_count(&r->x->mutants, op);
    uint64_t step = take < count ? (count / 1000 * 618 + count % 1000 * 618 / 1000) | 1 : 1;
    r->x->ops[op].population = count;
    while (count > 1 && mutation_gcd(count, step) != 1) {
        step += 2;
    }
    for (uint64_t i = 0, at = 0; i < take && i < count; i++) {
        il_mutant u = il_mutants_at(&r->x->mutants, op, at);
        IL_TRY(mutation_one(r, &u, err));
        at = (at + step) % count;
    }
    return IL_OK;
}

/* Every operator gets the same share; what one does not need goes to the others. */
static uint64_t mutation_share(const il_mutating *r, uint64_t most) {
    uint64_t share = 0, left = most;
    for (uint32_t open = IL_MUTANT_OPS; open > 0 && left >= open;) {
        uint64_t more = left / open;
        share += more;
        left = most;
        open = 0;
        for (uint32_t op = 0; op < IL_MUTANT_OPS; op++) {
            uint64_t count = il_mutants_count(&r->x->mutants, (il_mutant_op)op);
            left -= count < share ? count : share;
            open += count > share;
        }
    }
    return share;
}

static il_status mutation_all(il_mutating *r, uint64_t most, il_error *err) {
    uint64_t population = 0;
    for (uint32_t op = 0; op < IL_MUTANT_OPS; op++) {
        population += il_mutants_count(&r->x->mutants, (il_mutant_op)op);
    }
    r->sets = r->x->sets = most >= population;
    uint64_t share = most == IL_MUTATION_ALL ? most : mutation_share(r, most);
    uint64_t few = share == 0 ? most : 0; /* fewer than there are operators: one of each until they are used up */
    for (uint32_t op = 0; op < IL_MUTANT_OPS; op++) {
        uint64_t one = few > 0 && il_mutants_count(&r->x->mutants, (il_mutant_op)op) > 0 ? 1 : 0;
        few -= one;
        IL_TRY(mutation_operator(r, (il_mutant_op)op, share + one, err));
        const il_mutation_tally *t = &r->x->ops[op];
        il_mutation_tally *all = &r->x->all;
        all->population += t->population;
        all->judged += t->judged;
        all->equivalent += t->equivalent;
        all->duplicate += t->duplicate;
        all->harness += t->harness;
        all->distinct += t->distinct;
        all->killed += t->killed;
        all->survived += t->survived;
        all->unsettled += t->unsettled;
    }
    r->x->sampled = r->x->all.judged < r->x->all.population;
    return IL_OK;
}

static il_status mutation_conclude(il_mutating *r, il_error *err) {
    const il_mutation *x = r->x;
    il_check *c = il_check_add(r->h, "mutation", UINT32_MAX, false);
    if (!c) {
        return il_arena_fail(r->h->subject.arena, err);
    }
    c->states = r->h->states;
    c->edges = r->h->edges;
    c->depth = r->h->depth;
    c->bound_hit = x->bounded;
    r->h->bounded = r->h->bounded || x->bounded;
    c->verdict = x->bounded || x->all.killed == 0 ? IL_CHECK_INCONCLUSIVE : IL_CHECK_PASS;
    if (!x->bounded && x->all.killed == 0) {
        c->finding = x->all.distinct == 0 ? "NO_MUTANT" : "NOTHING_KILLED";
        return IL_OK;
    }
    c->finding = x->sampled && !x->bounded ? "SAMPLED" : NULL;
    il_buf b;
    il_buf_init(&b, r->h->subject.arena, 256);
    il_buf_puts(&b, "killed ");
    il_buf_putu(&b, x->all.killed);
    il_buf_puts(&b, " of ");
    il_buf_putu(&b, x->all.distinct);
    return il_buf_done(&b, &c->detail, err);
}

il_status il_mutation_run(il_harden *h, uint64_t most, il_mutation **out, il_error *err) {
    il_arena work;
    il_arena_init(&work, h->subject.alloc, MUTATION_WORK_BYTES);
    il_mutating *r = IL_NEW(&work, il_mutating);
    *out = IL_NEW(h->subject.arena, il_mutation);
    if (!r || !*out) {
        il_status failed = il_arena_fail(r ? h->subject.arena : &work, err);
        il_arena_free(&work);
        return failed;
    }
    il_arena_init(&r->arena, h->subject.alloc, MUTATION_WORK_BYTES);
    r->x = *out;
    r->x->h = h;
    r->h = h;
    r->s = &h->subject;
    *h->subject.bounds.spent = 0; /* another question, with as much work of its own */
    il_status status = h->bounded || h->table.n == 0 ? IL_OK : mutation_prepare(r, err);
    r->x->bounded = r->x->bounded || h->bounded;
    if (status == IL_OK && !r->x->bounded) {
        status = mutation_all(r, most, err);
    }
    if (status == IL_OK) {
        status = mutation_conclude(r, err);
    }
    for (uint32_t i = 0; i < r->nviews; i++) {
        il_space_free(&r->views[i].base);
    }
    il_space_free(&r->plain);
    il_arena_free(&r->arena);
    il_arena_free(&work);
    return status;
}
