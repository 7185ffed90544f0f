/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/lint.h"

#include "cel/logic.h"
#include "cel/suggest.h"
#include "policy/lint_part.h"

#define IL_LINT_STEPS 100000u /* of one question */
#define IL_LINT_TOGETHER 32u  /* earlier rules that are looked at together, */
#define IL_LINT_MANY 200u     /* of no more rules than these; */
#define IL_LINT_FEW 8u        /* of more, so few: what this takes grows with the square */
#define IL_LINT_PAIRS 8000u   /* rules held against earlier ones, of the whole policy; but each against these nearest: */
#define IL_LINT_NEAREST 8u

il_status il_lint_say(il_linting *l, const char *kind, const il_lint_at *at, il_error *err, const char *fmt, ...) {
    char text[IL_ERROR_MSG_BYTES * 2];
    il_lint finding = {.kind = kind, .name = at->name, .line = at->line, .col = at->col};
    va_list args;
    va_start(args, fmt);
    const size_t n = il_format_list(text, sizeof text, fmt, args);
    va_end(args);
    IL_TRY(il_arena_copy(l->arena, (il_str){text, n}, &finding.message, err));
    return l->out->found(l->out->ctx, &finding, err);
}

static bool il_lint_always(il_cel_logic *logic, uint32_t id, unsigned may, il_status *s, il_error *err) {
    il_cel_verdict v = {0};
    *s = *s == IL_OK ? il_cel_logic_always(logic, id, may, &v, err) : *s;
    return *s == IL_OK && v.answer == IL_CEL_YES;
}

/* What a condition is, whatever the call. */
typedef enum il_lint_is { IL_LINT_OPEN = 0, IL_LINT_ERRS, IL_LINT_FALSE, IL_LINT_NEVER, IL_LINT_TRUE } il_lint_is;

static il_status il_lint_condition(il_cel_logic *logic, uint32_t id, il_lint_is *out, il_error *err) {
    il_status s = IL_OK;
    *out = IL_LINT_OPEN;
    if (il_lint_always(logic, id, IL_CEL_MAY_FALSE | IL_CEL_MAY_ERR, &s, err)) {
        *out = il_lint_always(logic, id, IL_CEL_MAY_ERR, &s, err)     ? IL_LINT_ERRS
               : il_lint_always(logic, id, IL_CEL_MAY_FALSE, &s, err) ? IL_LINT_FALSE
                                                                      : IL_LINT_NEVER;
    } else if (il_lint_always(logic, id, IL_CEL_MAY_TRUE, &s, err)) {
        *out = IL_LINT_TRUE;
    }
    return s;
}

static il_lint_at il_lint_at_condition(const il_condition *c, il_str name) {
    const il_cel_node *root = c->program->root;
    return (il_lint_at){name, il_cel_line(root->src, root->start), il_cel_col(root->src, root->start)};
}

/* ---- effects ------------------------------------------------------------------------------------------ */

static il_status il_lint_effect(il_linting *l, const il_tool *tool, const il_effect_when *w, il_cel_logic *logic, il_error *err) {
    const il_str effect = il_effect_name(w->bit);
    const il_lint_at at = il_lint_at_condition(&w->condition, tool->globs[0].text);
    uint32_t id;
    il_lint_is is;
    IL_TRY(il_cel_logic_add(logic, w->condition.program, &id, err));
    IL_TRY(il_lint_condition(logic, id, &is, err));
    switch (is) {
    case IL_LINT_OPEN:
        return IL_OK;
    case IL_LINT_ERRS:
        return il_lint_say(l, "condition-errs", &at, err,
                           "`%.*s`: the condition of `%.*s` errs whatever the call, so it never takes the effect away",
                           IL_STR_ARG(at.name), IL_STR_ARG(effect));
    case IL_LINT_TRUE:
        return il_lint_say(l, "condition-always", &at, err,
                           "`%.*s`: the condition of `%.*s` is always true: it never takes the effect away; write `true`",
                           IL_STR_ARG(at.name), IL_STR_ARG(effect));
    case IL_LINT_FALSE:
    case IL_LINT_NEVER:
        return il_lint_say(l, "condition-never", &at, err,
                           "`%.*s`: the condition of `%.*s` is never true: %s; write `false` if that is meant",
                           IL_STR_ARG(at.name), IL_STR_ARG(effect),
                           is == IL_LINT_FALSE ? "no call has the effect" : "the effect counts only where it errs");
    }
    return IL_OK;
}

/* What an entry builds or remembers may be missing in a call. */
static il_cel_logic_limits il_lint_limits(bool unset) {
    return (il_cel_logic_limits){
        .size = sizeof(il_cel_logic_limits), .nodes = 4096, .atoms = 256, .steps = IL_LINT_STEPS, .unset = unset};
}

static il_status il_lint_entry(il_linting *l, const il_tool *tool, il_error *err) {
    const il_effects *e = tool->when;
    if (e == NULL ||
        tool->preset.n > 0) { /* a preset's positions are in the preset, and its constants are what they were used with */
        return IL_OK;
    }
    const il_cel_logic_limits limits =
        il_lint_limits(tool->nkinds + e->nremembered > 0 || (e->asks & IL_CONDITION_ASKS_SOURCES) != 0 || e->on_item != 0);
    il_arena room;
    il_cel_logic *logic = NULL;
    il_arena_init(&room, l->arena->alloc, l->arena->cap);
    il_status s = il_cel_logic_new(&room, &limits, &logic, err);
    for (uint32_t i = 0; i < e->n && s == IL_OK; i++) {
        s = il_lint_effect(l, tool, &e->when[i], logic, err);
    }
    il_arena_free(&room);
    return s;
}

/* ---- rules ---------------------------------------------------------------------------------------------- */

typedef struct il_lint_rules {
    il_linting *l;
    il_lint_reach reach;
    bool reached;       /* `reach` is known */
    bool unset;         /* of the logic's limits */
    il_lint_is *is;     /* a rule without condition: open */
    uint64_t *reads;    /* by a few bits, what a condition reads */
    uint32_t allowance; /* how many earlier rules one rule is held against */
    uint32_t *behind;   /* room for them */
    bool *seen;         /* classes of forms that were looked at */
} il_lint_rules;

static il_lint_at il_lint_at_rule(const il_policy_rule *rule) { return (il_lint_at){rule->name, rule->line, rule->col}; }

/* Which forms of a rule's patterns meet no entry. */
static il_status il_lint_pattern(il_lint_rules *r, const il_policy_rule *rule, const il_glob *glob, bool excludes,
                                 il_error *err) {
    const il_lint_at at = il_lint_at_rule(rule);
    for (uint32_t f = 0; f < glob->nforms; f++) {
        il_cel_near near = il_cel_near_to(glob->forms[f]);
        il_cel_words more;
        bool meets = false;
        for (uint32_t e = 0; e < r->reach.nforms && !meets; e++) {
            meets = il_stars_meet(glob->forms[f], r->reach.forms[e]);
        }
        if (meets) {
            continue;
        }
        for (uint32_t e = 0; e < r->reach.nforms; e++) {
            il_cel_near_try(&near, r->reach.forms[e]);
        }
        il_cel_words_init(&more);
        il_cel_say_near(&more, &near);
        IL_TRY(il_lint_say(r->l, "rule-unmatched", &at, err, "rule `%.*s`: `%s%.*s` matches no entry of `tools`%s",
                           IL_STR_ARG(rule->name), excludes ? "!" : "", IL_STR_ARG(glob->forms[f]), more.p));
    }
    return IL_OK;
}

static bool il_lint_reaches(const il_lint_rules *r, uint32_t rule) {
    bool any = false;
    for (uint32_t w = 0; w < r->reach.words && !any; w++) {
        any = r->reach.may[(size_t)rule * r->reach.words + w] != 0;
    }
    return any;
}

static il_status il_lint_patterns(il_lint_rules *r, uint32_t number, bool *reaches, il_error *err) {
    const il_policy_rule *rule = &r->l->p->rules.list[number];
    const il_lint_at at = il_lint_at_rule(rule);
    *reaches = il_lint_reaches(r, number);
    for (uint32_t i = 0; i < rule->nglobs; i++) {
        IL_TRY(il_lint_pattern(r, rule, &rule->globs[i], false, err));
    }
    for (uint32_t i = 0; i < rule->nnot; i++) {
        IL_TRY(il_lint_pattern(r, rule, &rule->nots[i], true, err));
    }
    for (uint32_t e = 0; e < r->reach.nforms && !*reaches; e++) {
        for (uint32_t i = 0; i < rule->nglobs; i++) {
            if (il_glob_matches(&rule->globs[i], r->reach.forms[e])) {
                return il_lint_say(r->l, "rule-never", &at, err,
                                   "rule `%.*s` never matches: its `!` patterns exclude every entry that it names",
                                   IL_STR_ARG(rule->name));
            }
        }
    }
    return IL_OK;
}

/* The rules before `number` that hold for every tool of a form (`form` UINT32_MAX: of the rule's own patterns) and read something that it reads, the
 * nearest ones. *one: a rule that ends the list there by itself, for all that is known without asking; UINT32_MAX: none. */
static uint32_t il_lint_before(il_lint_rules *r, uint32_t number, uint32_t form, uint32_t *one) {
    const il_rules *rules = &r->l->p->rules;
    const il_policy_rule *rule = &rules->list[number];
    uint32_t n = 0;
    *one = UINT32_MAX;
    for (uint32_t j = number; j-- > 0;) {
        const il_policy_rule *other = &rules->list[j];
        const bool covers =
            form == UINT32_MAX ? il_lint_within(rule, other) : il_lint_bit(r->reach.sure, r->reach.words, j, form);
        if (!covers) {
            continue;
        }
        if (other->when.program == NULL || r->is[j] == IL_LINT_TRUE || r->is[j] == IL_LINT_ERRS ||
            (rule->when.program != NULL &&
             il_str_eq(rule->when.program->root->src->text, other->when.program->root->src->text))) {
            *one = j; /* the first of them is the one to name */
        } else if (n < r->allowance && (rule->when.program == NULL || (r->reads[j] & r->reads[number]) != 0)) {
            r->behind[n++] = j;
        }
    }
    return n;
}

/* Whether it cannot be that the conditions of all these rules are false and the rule's own is true. `ids` has one for each, and the rule's own last
 * when it has one. */
static il_status il_lint_never(il_cel_logic *logic, const uint32_t *ids, uint32_t n, const uint32_t *own, bool *never,
                               il_error *err) {
    il_cel_claim claims[IL_LINT_TOGETHER + 1];
    il_cel_verdict v = {0};
    for (uint32_t i = 0; i < n; i++) {
        claims[i] = (il_cel_claim){ids[i], IL_CEL_MAY_FALSE};
    }
    if (own != NULL) {
        claims[n++] = (il_cel_claim){*own, IL_CEL_MAY_TRUE};
    }
    IL_TRY(il_cel_logic_never(logic, claims, n, &v, err));
    *never = v.answer == IL_CEL_YES;
    return IL_OK;
}

/* The same of these earlier rules, at most IL_LINT_TOGETHER, in the room of this question alone. */
static il_status il_lint_behind(il_lint_rules *r, uint32_t number, const uint32_t *behind, uint32_t n, il_arena *room,
                                bool *shadowed, uint32_t *by, il_error *err) {
    const il_rules *rules = &r->l->p->rules;
    const il_cel_logic_limits limits = il_lint_limits(r->unset);
    uint32_t ids[IL_LINT_TOGETHER], id = 0;
    const uint32_t *own = rules->list[number].when.program != NULL ? &id : NULL;
    il_cel_logic *logic = NULL;
    IL_TRY(il_cel_logic_new(room, &limits, &logic, err));
    for (uint32_t i = 0; i < n; i++) {
        IL_TRY(il_cel_logic_add(logic, rules->list[behind[i]].when.program, &ids[i], err));
    }
    if (own != NULL) {
        IL_TRY(il_cel_logic_add(logic, rules->list[number].when.program, &id, err));
    }
    IL_TRY(il_lint_never(logic, ids, n, own, shadowed, err));
    for (uint32_t i = n; i-- > 0 && *shadowed && *by == UINT32_MAX;) {
        bool alone;
        IL_TRY(il_lint_never(logic, &ids[i], 1, own, &alone, err));
        *by = alone ? behind[i] : *by;
    }
    return IL_OK;
}

/* Whether the rule never decides on the tools of a form. *by: the one rule that decides before it; UINT32_MAX: several together. */
static il_status il_lint_form(il_lint_rules *r, uint32_t number, uint32_t form, bool *shadowed, uint32_t *by, il_error *err) {
    const uint32_t n = il_lint_before(r, number, form, by);
    const uint32_t most = r->l->p->rules.n > IL_LINT_MANY ? IL_LINT_FEW : IL_LINT_TOGETHER;
    il_status s = IL_OK;
    *shadowed = *by != UINT32_MAX;
    for (uint32_t from = 0; from < n && !*shadowed && s == IL_OK; from += most) {
        const uint32_t some = n - from < most ? n - from : most;
        il_arena room;
        il_arena_init(&room, r->l->arena->alloc, r->l->arena->cap);
        s = il_lint_behind(r, number, r->behind + from, some, &room, shadowed, by, err);
        il_arena_free(&room);
    }
    return s;
}

static il_status il_lint_shadow(il_lint_rules *r, uint32_t number, il_error *err) {
    const il_policy_rule *rule = &r->l->p->rules.list[number];
    const il_lint_at at = il_lint_at_rule(rule);
    uint32_t by = UINT32_MAX, first = UINT32_MAX;
    bool shadowed = true, any = false, same = true;
    memset(r->seen, 0, r->reach.nforms);
    for (uint32_t f = 0; f < r->reach.nforms && shadowed; f++) {
        if (!il_lint_bit(r->reach.may, r->reach.words, number, f) || r->seen[r->reach.class[f]]) {
            continue;
        }
        r->seen[r->reach.class[f]] = true;
        IL_TRY(il_lint_form(r, number, f, &shadowed, &by, err));
        first = any ? first : by;
        same = same && by == first;
        any = true;
    }
    if (!shadowed) { /* the entry may be wider than the rule */
        IL_TRY(il_lint_form(r, number, UINT32_MAX, &shadowed, &first, err));
        same = true;
    }
    if (!any || !shadowed) {
        return IL_OK;
    }
    if (same && first != UINT32_MAX) {
        const il_policy_rule *other = &r->l->p->rules.list[first];
        return il_lint_say(r->l, "rule-shadowed", &at, err,
                           "rule `%.*s` never decides: whenever it matches, rule `%.*s` (line %u) has decided before",
                           IL_STR_ARG(rule->name), IL_STR_ARG(other->name), (unsigned)other->line);
    }
    return il_lint_say(r->l, "rule-shadowed", &at, err,
                       "rule `%.*s` never decides: whenever it matches, one of the rules before it has decided",
                       IL_STR_ARG(rule->name));
}

static il_status il_lint_rule(il_lint_rules *r, uint32_t number, il_error *err) {
    const il_policy_rule *rule = &r->l->p->rules.list[number];
    bool reaches = true;
    il_lint_at at;
    if (r->reached) {
        IL_TRY(il_lint_patterns(r, number, &reaches, err));
    }
    if (rule->when.program != NULL) {
        at = il_lint_at_condition(&rule->when, rule->name);
        switch (r->is[number]) {
        case IL_LINT_OPEN:
            break;
        case IL_LINT_ERRS:
            return il_lint_say(r->l, "condition-errs", &at, err,
                               "rule `%.*s`: its condition errs whatever the call, which blocks it", IL_STR_ARG(rule->name));
        case IL_LINT_TRUE:
            IL_TRY(il_lint_say(
                r->l, "rule-always", &at, err,
                "rule `%.*s`: its condition is always true, so it is `%s` for every call of its tools; leave out `when` if "
                "that is meant",
                IL_STR_ARG(rule->name), il_then_word(rule->then)));
            break;
        case IL_LINT_FALSE:
        case IL_LINT_NEVER:
            return il_lint_say(r->l, "rule-never", &at, err, "rule `%.*s` never matches: its condition is never true%s",
                               IL_STR_ARG(rule->name),
                               r->is[number] == IL_LINT_NEVER ? ", but where it errs the call is blocked" : "");
        }
    }
    return reaches && r->reached ? il_lint_shadow(r, number, err) : IL_OK;
}

/* What is read, each `args.amount`, `run.tainted` one bit of 64. Depth: IL_CEL_DEPTH. */
static uint64_t il_lint_reads(const il_cel_node *n) {
    uint64_t bits = 0;
    if (n->kids != NULL && n->kids->op == IL_CEL_OP_VAR && n->name.n > 0) {
        uint64_t h = n->kids->slot;
        for (size_t i = 0; i < n->name.n; i++) {
            h = (h ^ (uint8_t)n->name.p[i]) * 0x100000001b3u;
        }
        return (uint64_t)1 << ((h ^ h >> 29) & 63);
    }
    if (n->op == IL_CEL_OP_VAR || n->op == IL_CEL_OP_CALL) { /* a whole variable, or a question about the call */
        bits = UINT64_MAX;
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        bits |= il_lint_reads(k);
    }
    return bits;
}

static il_status il_lint_rules_is(il_lint_rules *r, uint32_t number, il_error *err) {
    const il_cel_logic_limits limits = il_lint_limits(r->unset);
    const il_cel_program *program = r->l->p->rules.list[number].when.program;
    il_cel_logic *logic = NULL;
    il_arena room;
    uint32_t id;
    il_arena_init(&room, r->l->arena->alloc, r->l->arena->cap);
    il_status s = il_cel_logic_new(&room, &limits, &logic, err);
    s = s == IL_OK ? il_cel_logic_add(logic, program, &id, err) : s;
    s = s == IL_OK ? il_lint_condition(logic, id, &r->is[number], err) : s;
    il_arena_free(&room);
    return s;
}

static il_status il_lint_rules_take(il_lint_rules *r, il_arena *room, il_error *err) {
    const il_rules *rules = &r->l->p->rules;
    r->unset = (rules->asks & IL_CONDITION_ASKS_SOURCES) != 0; /* which have no answer where nothing is remembered */
    r->allowance = IL_LINT_PAIRS / rules->n > IL_LINT_NEAREST ? IL_LINT_PAIRS / rules->n : IL_LINT_NEAREST;
    r->is = IL_NEW_ARRAY(room, il_lint_is, rules->n);
    r->reads = IL_NEW_ARRAY(room, uint64_t, rules->n);
    r->behind = IL_NEW_ARRAY(room, uint32_t, r->allowance);
    IL_TRY(il_lint_reach_new(r->l->p, room, &r->reach, &r->reached, err));
    r->seen = IL_NEW_ARRAY(room, bool, r->reach.nforms + 1);
    if (r->is == NULL || r->reads == NULL || r->behind == NULL || r->seen == NULL) {
        return il_arena_fail(room, err);
    }
    for (uint32_t i = 0; i < rules->n; i++) {
        if (rules->list[i].when.program != NULL) {
            r->reads[i] = il_lint_reads(rules->list[i].when.program->root);
            IL_TRY(il_lint_rules_is(r, i, err));
        }
    }
    return IL_OK;
}

il_status il_policy_lint(const il_policy *p, il_arena *scratch, const il_lint_out *out, il_error *err) {
    il_linting l = {p, scratch, out};
    il_lint_rules r = {.l = &l};
    il_arena room;
    for (uint32_t i = 0; i < p->ntools; i++) {
        IL_TRY(il_lint_entry(&l, &p->tools[i], err));
    }
    if (p->rules.n == 0) {
        return IL_OK;
    }
    il_arena_init(&room, scratch->alloc, scratch->cap);
    il_status s = il_lint_rules_take(&r, &room, err);
    for (uint32_t i = 0; i < p->rules.n && s == IL_OK; i++) {
        s = il_lint_rule(&r, i, err);
    }
    il_arena_free(&room);
    return s;
}
