/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for a call that shows a difference: arguments from values worth trying, in sessions that hold little before those that hold much. Deterministic: the same two
 * policies, the same examples. */
#include "policy/against_part.h"
#include "policy/carried.h"
#include "policy/result.h"
#include "provenance/memory.h"
#include "provenance/origin.h"

#define SEARCH_TRIES 60000u
#define SEARCH_ROWS 4096u
#define SEARCH_STATES 16u

typedef struct search_state { /* a session that holds these, by each policy's machine */
    uint32_t held;
    uint64_t at[2];
} search_state;

typedef struct search {
    il_against *a;
    const il_against_tool *t;
    il_against_values values;
    search_state states[SEARCH_STATES];
    uint32_t nstates;
    il_memory *memory[2][2]; /* of each side; nothing typed, all of it typed */
    il_origin *origin;       /* of the source that is tried */
    uint32_t tries, cap;
    bool wider, narrower, after; /* found */
    uint32_t refuted;
} search;

/* ---- sessions ------------------------------------------------------------------------------------------------ */

static void search_states(search *s) {
    static const uint32_t order[] = {0, 1, 2,  8,  3,  6,
                                     7, 9, 10, 11, 14, 15}; /* untrusted, sensitive, secret (brings sensitive), egress */
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        search_state *st = &s->states[s->nstates];
        uint32_t rejected;
        st->held = order[i];
        if (il_judged_state(&s->a->bind[0], st->held, &st->at[0], &rejected) &&
            il_judged_state(&s->a->bind[1], st->held, &st->at[1], &rejected)) {
            s->nstates++;
        }
    }
}

static il_status search_memory(search *s, int side, bool typed, il_error *err) {
    const il_policy *p = s->a->p[side];
    il_episode *e = NULL;
    il_str bytes;
    size_t n = 0;
    if (il_policy_remembers(p) == 0 || (typed && s->values.typed.n == 0)) {
        return IL_OK;
    }
    IL_TRY(il_memory_new(s->a->scratch.alloc, NULL, &s->memory[side][typed], err));
    if (!typed) {
        return IL_OK;
    }
    IL_TRY(il_policy_hear(p, s->values.typed, &s->a->scratch, &e, NULL, err));
    if (e == NULL) {
        return IL_OK;
    }
    IL_TRY(il_episode_done(e, &bytes, err));
    const il_str *texts = il_episode_texts(e, &n);
    return il_memory_apply(s->memory[side][typed], 1, bytes, texts, n, err);
}

static il_status search_label_place(void *ctx, const il_place *place, uint32_t *taints, il_error *err) {
    const bool *marked = ctx;
    (void)place;
    (void)err;
    *taints = *marked ? IL_TAINTS : 0;
    return IL_OK;
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

static bool search_put(il_arena *arena, il_json *root, const il_arg_path *path, const il_json *value) {
    il_json *at = root;
    for (uint32_t i = 0; i < path->n; i++) {
        const bool last = i + 1 == path->n, item = path->steps[i].p == NULL;
        il_json *next = at->first; /* of an array there is never more than one */
        while (next != NULL && !item && !il_str_eq(next->key, path->steps[i])) {
            next = next->next;
        }
        if (il_json_kind_of(at) != (item ? IL_JSON_ARRAY : IL_JSON_OBJECT) || (last && next != NULL)) {
            return true; /* another path has made something else of it */
        }
        if (next == NULL) {
            next = last ? il_json_shallow(arena, value)
                        : il_json_make(arena, path->steps[i + 1].p == NULL ? IL_JSON_ARRAY : IL_JSON_OBJECT);
            if (next == NULL || !(item ? il_json_push(at, next) : il_json_set(at, path->steps[i], next))) {
                return false;
            }
        }
        at = next;
    }
    return true;
}

static const il_json *search_args(const search *s, const uint8_t *row, il_arena *arena) {
    il_json *root = il_json_make(arena, IL_JSON_OBJECT);
    for (uint32_t i = 0; i < s->values.n && root != NULL; i++) {
        const il_against_path *p = &s->values.paths[i];
        if (row[i] > 0 && !search_put(arena, root, &p->path, p->values[row[i] - 1])) {
            root = NULL;
        }
    }
    return root;
}

/* The next of all rows, as a number with a digit for each path; false: it was the last. */
static bool search_count(const search *s, uint8_t *row) {
    for (uint32_t i = 0; i < s->values.n; i++) {
        if (row[i] < s->values.paths[i].n) {
            row[i]++;
            return true;
        }
        row[i] = 0;
    }
    return false;
}

static uint64_t search_all(const search *s) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < s->values.n && n <= SEARCH_ROWS; i++) {
        n *= s->values.paths[i].n + 1;
    }
    return n;
}

/* ---- one try --------------------------------------------------------------------------------------------------- */

static il_status search_decide(search *s, const il_against_call *call, const search_state *st, il_judged out[2], il_error *err) {
    bool marked = call->marked;
    const il_label_stores stores = {.ctx = &marked, .labels = search_label_place};
    const il_origin_at label = {.origin = s->origin};
    for (int side = 0; side < 2; side++) {
        il_label_call judged = {.server = call->server,
                                .tool = call->tool,
                                .args = call->args,
                                .held = call->held & IL_TAINTS,
                                .agent = call->agent,
                                .memory = s->memory[side][call->typed.n > 0],
                                .stores = &stores,
                                .unjoined = true,
                                .sends = (call->held & (uint32_t)IL_EGRESS) != 0};
        judged.elsewhere = judged.memory != NULL && (judged.held & (uint32_t)IL_UNTRUSTED) != 0;
        judged.labels = call->source.n > 0 ? &label : NULL;
        judged.nlabels = call->source.n > 0 ? 1 : 0;
        judged.carries = il_carried_untrusted(s->a->p[side], &judged);
        judged.held |= judged.carries ? (uint32_t)IL_UNTRUSTED : 0u;
        IL_TRY(
            il_policy_judge(s->a->p[side], &s->a->bind[side], &judged, call->name, st->at[side], &s->a->turn, &out[side], err));
    }
    return IL_OK;
}

static il_against_side search_side(const il_judged *j) {
    return (il_against_side){
        .action = j->action, .layer = j->layer, .reason = j->reason, .effects = j->label.effects, .sink = j->label.sink};
}

static bool search_new(const search *s, const il_against_side *p, const il_against_side *q, il_against_finding *f) {
    if (p->action != q->action) {
        f->kind = IL_AGAINST_CALL;
        f->wider = p->action > q->action;
        return f->wider ? !s->wider : !s->narrower;
    }
    f->kind = IL_AGAINST_AFTER;
    return p->action != IL_THEN_BLOCK && (p->effects != q->effects || p->sink != q->sink) && !s->after;
}

/* Decides under both; *is: it shows a difference of a kind that was not reported yet. */
static il_status search_look(search *s, const il_against_call *call, const search_state *st, il_against_finding *f, bool *is,
                             il_error *err) {
    il_judged j[2];
    *f = (il_against_finding){.about = s->t->name, .alike = s->a->alike, .nalike = s->a->nalike, .call = *call};
    s->tries++;
    IL_TRY(search_decide(s, call, st, j, err));
    f->policy = search_side(&j[0]);
    f->other = search_side(&j[1]);
    *is = search_new(s, &f->policy, &f->other, f);
    return IL_OK;
}

static bool search_alike(const il_against_finding *x, const il_against_finding *y) {
    return x->kind == y->kind && x->wider == y->wider && x->policy.action == y->policy.action &&
           x->other.action == y->other.action;
}

/* Leaves out each argument without which the difference is the same. */
static il_status search_shrink(search *s, const search_state *st, const uint8_t *row, il_against_finding *f, il_error *err) {
    uint8_t less[IL_AGAINST_PATHS];
    memcpy(less, row, sizeof less);
    for (uint32_t i = s->values.n; i-- > 0;) {
        il_against_finding next = {0};
        il_against_call call = f->call;
        bool is = false;
        const uint8_t was = less[i];
        less[i] = 0;
        call.args = search_args(s, less, &s->a->turn);
        if (call.args == NULL) {
            return il_arena_fail(&s->a->turn, err);
        }
        if (was != 0) {
            IL_TRY(search_look(s, &call, st, &next, &is, err));
        }
        if (is && search_alike(f, &next)) {
            *f = next;
        } else {
            less[i] = was;
        }
    }
    return IL_OK;
}

/* Instead of everything, what a human types names the call's own texts only. Depth: that of the arguments. */
static void search_texts(const il_json *v, il_buf *b) {
    if (il_json_kind_of(v) == IL_JSON_STRING && il_json_text(v).n > 0) {
        il_buf_puts(b, b->n == 0 ? "use \"" : ", \"");
        il_buf_put(b, il_json_text(v));
        il_buf_putc(b, '"');
    }
    for (const il_json *c = il_json_first(v); c != NULL; c = il_json_next(c)) {
        search_texts(c, b);
    }
}

static il_status search_type(search *s, const search_state *st, il_against_finding *f, il_error *err) {
    il_against_finding next;
    il_against_call call = f->call;
    il_memory *kept[2] = {s->memory[0][1], s->memory[1][1]};
    const il_str all = s->values.typed;
    il_buf b;
    bool is = false;
    il_buf_init(&b, &s->a->turn, 4096);
    search_texts(call.args, &b);
    IL_TRY(il_buf_done(&b, &call.typed, err));
    if (call.typed.n == 0) {
        return IL_OK;
    }
    s->values.typed = call.typed;
    il_status status = IL_OK;
    for (int side = 0; side < 2; side++) {
        s->memory[side][1] = NULL;
        status = status == IL_OK ? search_memory(s, side, true, err) : status;
    }
    status = status == IL_OK ? search_look(s, &call, st, &next, &is, err) : status;
    for (int side = 0; side < 2; side++) {
        il_memory_free(s->memory[side][1]);
        s->memory[side][1] = kept[side];
    }
    s->values.typed = all;
    if (status == IL_OK && is && search_alike(f, &next)) {
        *f = next;
    }
    return status;
}

static il_status search_try(search *s, const il_against_call *call, const search_state *st, const uint8_t *row, il_error *err) {
    il_against_finding f;
    bool is = false;
    IL_TRY(search_look(s, call, st, &f, &is, err));
    if (!is) {
        return IL_OK;
    }
    IL_TRY(search_shrink(s, st, row, &f, err));
    if (f.call.typed.n > 0) {
        IL_TRY(search_type(s, st, &f, err));
    }
    if (s->a->ask->confirm != NULL) {
        bool agrees = true;
        IL_TRY(s->a->ask->confirm(s->a->ask->ctx, &f, &agrees, err));
        if (!agrees) {
            s->refuted++;
            return IL_OK;
        }
    }
    s->wider = s->wider || (f.kind == IL_AGAINST_CALL && f.wider);
    s->narrower = s->narrower || (f.kind == IL_AGAINST_CALL && !f.wider);
    s->after = s->after || f.kind == IL_AGAINST_AFTER;
    return il_against_say(s->a, &f, err);
}

static bool search_over(const search *s) { return s->tries >= s->cap || (s->wider && s->narrower && s->after); }

/* One row of arguments in every session. */
static il_status search_row(search *s, const uint8_t *row, il_error *err) {
    for (uint32_t k = 0; k < s->nstates && !search_over(s); k++) {
        for (uint32_t g = 0; g < s->values.nagents && !search_over(s); g++) {
            for (uint32_t variant = 0; variant < 4 && !search_over(s); variant++) {
                const bool typed = (variant & 1) != 0, marked = (variant & 2) != 0;
                if ((typed && s->values.typed.n == 0) || (marked && !s->values.stores)) {
                    continue;
                }
                il_arena_reset(&s->a->turn);
                const il_against_call call = {.server = s->t->server,
                                              .tool = s->t->tool,
                                              .name = s->t->name,
                                              .args = search_args(s, row, &s->a->turn),
                                              .held = s->states[k].held,
                                              .agent = s->values.agents[g],
                                              .typed = typed ? s->values.typed : (il_str){0},
                                              .source = s->origin != NULL ? il_origin_source(s->origin) : (il_str){0},
                                              .marked = marked};
                if (call.args == NULL) {
                    return il_arena_fail(&s->a->turn, err);
                }
                IL_TRY(search_try(s, &call, &s->states[k], row, err));
            }
        }
    }
    return IL_OK;
}

/* All rows, or where there are too many: one value at a time, then two, on a ground of nothing and on one of each path's first value, then some by chance. */
static il_status search_pairs(search *s, uint8_t *row, uint8_t ground, il_error *err) {
    const il_against_values *v = &s->values;
    for (uint32_t i = 0; i < v->n; i++) {
        for (uint32_t x = 0; x <= v->paths[i].n; x++) {
            for (uint32_t k = i; k < v->n; k++) {
                for (uint32_t y = 0; y <= (k == i ? 0 : v->paths[k].n); y++) {
                    for (uint32_t z = 0; z < v->n; z++) {
                        row[z] = v->paths[z].n > 0 ? ground : 0;
                    }
                    row[k] = (uint8_t)y; /* at most IL_AGAINST_VALUES */
                    row[i] = (uint8_t)x;
                    IL_TRY(search_row(s, row, err));
                    if (search_over(s)) {
                        return IL_OK;
                    }
                }
            }
        }
    }
    return IL_OK;
}

static il_status search_rows(search *s, il_error *err) {
    uint8_t row[IL_AGAINST_PATHS] = {0};
    uint64_t draw = 0x2545f4914f6cdd1du;
    if (search_all(s) <= SEARCH_ROWS) {
        do {
            IL_TRY(search_row(s, row, err));
        } while (!search_over(s) && search_count(s, row));
        return IL_OK;
    }
    const uint32_t cap = s->cap;
    s->cap = cap / 3;
    IL_TRY(search_pairs(s, row, 0, err));
    s->cap = cap / 3 * 2;
    IL_TRY(search_pairs(s, row, 1, err));
    s->cap = cap;
    while (!search_over(s)) {
        for (uint32_t i = 0; i < s->values.n; i++) {
            draw ^= draw << 13;
            draw ^= draw >> 7;
            draw ^= draw << 17;
            row[i] = (uint8_t)((draw >> 16) % (s->values.paths[i].n + 1));
        }
        IL_TRY(search_row(s, row, err));
    }
    return IL_OK;
}

static il_status search_sources(search *s, il_error *err) {
    const uint32_t cap = s->cap;
    s->cap = s->values.nsources > 0 ? cap / 2 : cap;
    IL_TRY(search_rows(s, err));
    for (uint32_t i = 0; i < s->values.nsources; i++) {
        s->cap = cap / 2 + (i + 1) * (cap / 2 / s->values.nsources);
        if (il_origin_new(s->a->scratch.alloc, s->values.sources[i], IL_STR(""), &s->origin, NULL) != IL_OK) {
            continue; /* a text that no source has as its name */
        }
        const il_status status = search_rows(s, err);
        il_origin_free(s->origin);
        s->origin = NULL;
        IL_TRY(status);
    }
    return IL_OK;
}

il_status il_against_search(il_against *a, const il_against_tool *t, bool *found, bool *refuted, il_error *err) {
    search s = {.a = a, .t = t, .cap = a->ask->tries > 0 ? a->ask->tries : SEARCH_TRIES};
    il_status status = il_against_values_of(a, t, &s.values, err);
    search_states(&s);
    for (int side = 0; side < 2 && status == IL_OK; side++) {
        status = search_memory(&s, side, false, err);
        status = status == IL_OK ? search_memory(&s, side, true, err) : status;
    }
    status = status == IL_OK ? search_sources(&s, err) : status;
    for (int side = 0; side < 2; side++) {
        il_memory_free(s.memory[side][0]);
        il_memory_free(s.memory[side][1]);
    }
    *found = s.wider || s.narrower || s.after;
    *refuted = s.refuted > 0;
    return status;
}
