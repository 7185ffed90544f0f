/* SPDX-License-Identifier: Apache-2.0 */
/* What one policy decides otherwise than another, against deciding every call of a small domain under both: 10,000 pairs of random policies (300 without IL_TEST_THOROUGH; INTERLOCK_TEST_PAIRS), each the
 * policy of a printed seed and a neighbour of it. `same` must be so for every call, a difference must be real and have its direction, and what is neither must be rare. */
#include "helper_policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/against_part.h"
#include "policy/result.h"
#include "provenance/memory.h"

#define PAIRS_SEED 20261130u
#define PAIRS_TOOLS 3u
#define PAIRS_RULES 3u

/* ---- random policies ------------------------------------------------------------------------------------------ */

static uint32_t pairs_next(uint32_t *seed, uint32_t below) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static const char *const pairs_matches[] = {"s.a", "s.b", "\"s.*\"", "t.a", "own", "\"*.a\"", "\"s.a*\""};
static const char *const pairs_conditions[] = {
    "args.k == \"v1\"", "args.n > 3", "has(args.k)", "!ours(\"email\", args.to)", "run.tainted", "agent.id == \"ana\"",
    "args.k in [\"v1\", \"v2\"]", "args.n >= 4", "!(args.n < 4)", "4 <= args.n", "args.k != \"v1\"", "args.k.startsWith(\"v\")",
    /* of rules only */
    "carries(\"sensitive\")", "vouched(args.to)", "prov.to.vouched", "agent.groups.exists(g, g == \"ops\")", "tool == \"a\"",
    "\"egress\" in run.trifecta", "true"};
#define PAIRS_OF_EFFECTS 12u
#define PAIRS_OF_RULES ((uint32_t)(sizeof pairs_conditions / sizeof pairs_conditions[0]))
static const char *const pairs_effects[] = {"untrusted", "sensitive", "secret", "egress", "commit"};

typedef struct pairs_condition {
    uint32_t a, b, how; /* how: 0 a, 1 a && b, 2 a || b, 3 !a */
} pairs_condition;
typedef struct pairs_tool {
    uint32_t match, effects, when, sink, audience, plain, to; /* effects: bits; when: a bit more than effects have, or none */
    pairs_condition condition;
} pairs_tool;
typedef struct pairs_rule {
    uint32_t match, has, then;
    pairs_condition when;
} pairs_rule;
typedef struct pairs_spec {
    uint32_t servers, ours, approvals, groups, ntools, nrules;
    pairs_tool tools[PAIRS_TOOLS];
    pairs_rule rules[PAIRS_RULES];
} pairs_spec;

static pairs_condition pairs_draw(uint32_t *seed, uint32_t of) {
    static const uint32_t how[] = {0, 0, 0, 1, 2, 3};
    return (pairs_condition){pairs_next(seed, of), pairs_next(seed, of), how[pairs_next(seed, 6)]};
}

static pairs_tool pairs_tool_new(uint32_t *seed, uint32_t match) {
    return (pairs_tool){.match = match,
                        .effects = pairs_next(seed, 32),
                        .when = pairs_next(seed, 8),
                        .sink = pairs_next(seed, 2),
                        .audience = pairs_next(seed, 2),
                        .plain = pairs_next(seed, 4),
                        .to = pairs_next(seed, 3),
                        .condition = pairs_draw(seed, PAIRS_OF_EFFECTS)};
}

static pairs_rule pairs_rule_new(uint32_t *seed) {
    return (pairs_rule){.match = pairs_next(seed, 7),
                        .has = pairs_next(seed, 4),
                        .then = pairs_next(seed, 3),
                        .when = pairs_draw(seed, PAIRS_OF_RULES)};
}

static pairs_spec pairs_spec_new(uint32_t *seed) {
    pairs_spec s = {.servers = pairs_next(seed, 4),
                    .ours = pairs_next(seed, 3),
                    .approvals = pairs_next(seed, 3),
                    .groups = pairs_next(seed, 2),
                    .ntools = 1 + pairs_next(seed, PAIRS_TOOLS),
                    .nrules = pairs_next(seed, PAIRS_RULES + 1)};
    const uint32_t first = pairs_next(seed, 7);
    for (uint32_t i = 0; i < PAIRS_TOOLS; i++) { /* different patterns: two entries of one name would be refused */
        s.tools[i] = pairs_tool_new(seed, (first + i * (1 + pairs_next(seed, 2))) % 7);
    }
    for (uint32_t i = 0; i < PAIRS_RULES; i++) {
        s.rules[i] = pairs_rule_new(seed);
    }
    return s;
}

static void pairs_change(pairs_spec *s, uint32_t *seed) {
    pairs_tool *t = &s->tools[pairs_next(seed, s->ntools)];
    pairs_rule *r = s->nrules > 0 ? &s->rules[pairs_next(seed, s->nrules)] : NULL;
    switch (pairs_next(seed, 12)) {
    case 0:
        s->servers = pairs_next(seed, 4);
        break;
    case 1:
        s->ours = pairs_next(seed, 3);
        break;
    case 2:
        s->approvals = pairs_next(seed, 3);
        break;
    case 3:
        t->effects = pairs_next(seed, 32);
        break;
    case 4:
        t->condition = pairs_draw(seed, PAIRS_OF_EFFECTS);
        break;
    case 5:
        *t = pairs_tool_new(seed, t->match);
        break;
    case 6:
        s->nrules = pairs_next(seed, PAIRS_RULES + 1);
        break;
    case 7:
    case 8:
        if (r != NULL) {
            *r = pairs_rule_new(seed);
        }
        break;
    case 9:
    case 10:
        if (r != NULL) {
            r->when = pairs_draw(seed, PAIRS_OF_RULES);
        }
        break;
    default:
        if (r != NULL && s->nrules > 1) { /* another order */
            const pairs_rule swap = s->rules[0];
            s->rules[0] = s->rules[1];
            s->rules[1] = swap;
        }
        break;
    }
}

/* ---- as text ------------------------------------------------------------------------------------------------------ */

typedef struct pairs_text {
    char p[8192];
    size_t n;
} pairs_text;

__attribute__((format(printf, 2, 3))) static void pairs_put(pairs_text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    t->n += (size_t)vsnprintf(t->p + t->n, sizeof t->p - t->n, fmt, args);
    va_end(args);
    assert_true(t->n < sizeof t->p);
}

static void pairs_when(pairs_text *t, const pairs_condition *c, bool groups) {
    const char *a = pairs_conditions[c->a], *b = pairs_conditions[c->b];
    if (!groups) { /* a group that nobody declares is refused where there are none */
        a = strstr(a, "groups") != NULL ? "run.tainted" : a;
        b = strstr(b, "groups") != NULL ? "run.tainted" : b;
    }
    if (c->how == 0) {
        pairs_put(t, "'%s'", a);
    } else if (c->how == 3) {
        pairs_put(t, "'!(%s)'", a);
    } else {
        pairs_put(t, "'%s %s %s'", a, c->how == 1 ? "&&" : "||", b);
    }
}

static void pairs_write_tool(pairs_text *t, const pairs_tool *tool, bool groups) {
    static const char *const plains[] = {"", ", plain: [k]", ", plain: [k, \"n\"]", ", plain: [\"n\"]"};
    pairs_put(t, "  - { match: %s, effects: {", pairs_matches[tool->match]);
    const char *comma = "";
    for (uint32_t i = 0; i < 5; i++) {
        if (tool->when == i && (tool->effects & (1u << i)) != 0) {
            pairs_put(t, "%s %s: ", comma, pairs_effects[i]);
            pairs_when(t, &tool->condition, groups);
        } else {
            pairs_put(t, "%s %s: %s", comma, pairs_effects[i], (tool->effects & (1u << i)) != 0 ? "true" : "false");
        }
        comma = ",";
    }
    pairs_put(t, " }%s%s%s%s }\n", tool->sink != 0 ? ", sink: once" : "", tool->audience != 0 ? ", audience: addressed" : "",
              tool->to == 1   ? ", to: { email: to }"
              : tool->to == 2 ? ", to: { email: to }, object: { email: to }"
                              : "",
              plains[tool->plain]);
}

static void pairs_write(pairs_text *t, const pairs_spec *s) {
    static const char *const ours[] = {
        "ours: { email: a@in.example }\n", "ours: { email: \"@in.example\" }\n",
        "ours: { email: a@in.example }\ndestinations: [{ email: b@out.example, accepts: [untrusted] }]\n"};
    static const char *const approvals[] = {"", "approvals: { expires: 10m }\n", "approvals: { for: [egress] }\n"};
    static const char *const thens[] = {"block", "require_approval", "allow"};
    t->n = 0;
    pairs_put(t, "interlock: 1\nmachine: standard\n%s%s", ours[s->ours], approvals[s->approvals]);
    pairs_put(t, "servers: { s: { trust: %s }, t: { trust: %s } }\n", (s->servers & 1) != 0 ? "outside" : "inside",
              (s->servers & 2) != 0 ? "outside" : "inside");
    pairs_put(t, "%s", s->groups != 0 ? "groups: { ops: [ana] }\n" : "");
    pairs_put(t, "tools:\n");
    for (uint32_t i = 0; i < s->ntools; i++) {
        pairs_write_tool(t, &s->tools[i], s->groups != 0);
    }
    pairs_put(t, "%s", s->nrules > 0 ? "rules:\n" : "");
    for (uint32_t i = 0; i < s->nrules; i++) {
        pairs_put(t, "  - { tools: %s, ", pairs_matches[s->rules[i].match]);
        if (s->rules[i].has > 0) {
            pairs_put(t, "when: ");
            pairs_when(t, &s->rules[i].when, s->groups != 0);
            pairs_put(t, ", ");
        }
        pairs_put(t, "then: %s }\n", thens[s->rules[i].then]);
    }
}

/* ---- both answers ------------------------------------------------------------------------------------------------- */

enum { PAIRS_WIDER = 1, PAIRS_NARROWER = 2, PAIRS_AFTER = 4 };

typedef struct pairs_answer { /* of one class of names */
    il_str name;
    unsigned found;
    bool unknown;
} pairs_answer;
#define PAIRS_ANSWERS 64

typedef struct pairs_case {
    policy_case policy[2];
    il_arena arena, scratch;
    il_bind bind[2];
    il_memory *memory[2][2];
    uint64_t states[1u << IL_EFFECTS]; /* of sessions that hold these effects, */
    bool held[1u << IL_EFFECTS];       /* where one can */
    pairs_text text[2];
    pairs_answer answers[PAIRS_ANSWERS];
    size_t nanswers;
    size_t last;
    size_t leaves[3]; /* the value of each argument that is left out */
    bool settings, unknown;
    uint32_t wrong;    /* examples that are none */
    uint32_t examples; /* looked at */
    uint64_t decisions;
} pairs_case;

static const uint32_t pairs_held[] = {0, 1, 2, 3, 6, 8, 9}; /* of the last three one, by the pair */
static const char *const pairs_args[][5] = {{NULL, "\"v1\"", "\"v2\"", "\"zz\""},
                                            {NULL, "3", "4", "3.5"},
                                            {NULL, "\"a@in.example\"", "\"b@out.example\"", "\"c@in.example\""}};
static const char *const pairs_names[] = {"k", "n", "to"};

static void pairs_decide(pairs_case *c, il_str name, const il_json *args, uint32_t held, il_str agent, const il_memory *memory,
                         int side, il_judged *out) {
    const size_t dot = il_str_find(name, IL_STR("."), 0);
    il_error err = {0};
    il_label_call call = {.server = dot == SIZE_MAX ? IL_STR("") : il_str_part(name, 0, dot),
                          .tool = dot == SIZE_MAX ? name : il_str_part(name, dot + 1, name.n),
                          .args = args,
                          .held = held & IL_TAINTS,
                          .agent = agent,
                          .memory = memory,
                          .unjoined = true,
                          .sends = (held & (uint32_t)IL_EGRESS) != 0};
    call.elsewhere = memory != NULL && (held & (uint32_t)IL_UNTRUSTED) != 0;
    c->decisions++;
    if (il_policy_judge(c->policy[side].policy, &c->bind[side], &call, name, c->states[held], &c->scratch, out, &err) != IL_OK) {
        fail_msg("%s", err.msg);
    }
}

static unsigned pairs_differ(const il_judged *x, const il_judged *y) {
    if (x->action != y->action) {
        return x->action > y->action ? PAIRS_WIDER : PAIRS_NARROWER;
    }
    return x->action != IL_THEN_BLOCK && (x->label.effects != y->label.effects || x->label.sink != y->label.sink) ? PAIRS_AFTER
                                                                                                                  : 0;
}

static bool pairs_says(const pairs_case *c, const char *word) {
    return strstr(c->text[0].p, word) != NULL || strstr(c->text[1].p, word) != NULL;
}

/* Every call of the domain. */
static unsigned pairs_force(pairs_case *c, il_str name) {
    static const il_str agents[] = {{"zed", 3}, {"ana", 3}};
    unsigned found = 0;
    const bool asks = pairs_says(c, "agent.");
    static const char *const words[][2] = {{"args.k", "plain: [k"}, {"args.n", "\"n\"]"}, {"args.to", "to: {"}};
    size_t n[3];
    for (size_t i = 0; i < 3; i++) { /* what neither names is undeclared under both, and one of them stands for it */
        n[i] = pairs_says(c, words[i][0]) || pairs_says(c, words[i][1]) ? 3 : 1;
    }
    const bool types = pairs_says(c, "addressed") || pairs_says(c, "vouched");
    for (size_t row = 0; row < n[0] * n[1] * n[2] && found != (PAIRS_WIDER | PAIRS_NARROWER | PAIRS_AFTER); row++) {
        size_t at[] = {row % n[0], row / n[0] % n[1], row / n[0] / n[1]};
        for (size_t i = 0; i < 3; i++) { /* absent, and two of the three values: which, by the pair */
            at[i] += at[i] > 0 && at[i] >= c->leaves[i] ? 1 : 0;
        }
        char text[256] = "{";
        il_arena_reset(&c->scratch);
        for (size_t i = 0; i < 3; i++) {
            if (pairs_args[i][at[i]] != NULL) {
                (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s\"%s\":%s", text[1] != '\0' ? "," : "",
                               pairs_names[i], pairs_args[i][at[i]]);
            }
        }
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "}");
        il_json *args = NULL;
        assert_int_equal(il_json_parse(&c->scratch, il_str_of(text), NULL, &args, NULL), IL_OK);
        for (size_t h = 0; h < 5; h++) {
            const uint32_t held = pairs_held[h < 4 ? h : 4 + c->last];
            for (size_t g = 0; g < (asks ? 2u : 1u) && c->held[held]; g++) {
                for (int typed = 0; typed < (types && at[2] > 0 ? 2 : 1); typed++) {
                    il_judged x, y;
                    pairs_decide(c, name, args, held, agents[g], c->memory[0][typed], 0, &x);
                    pairs_decide(c, name, args, held, agents[g], c->memory[1][typed], 1, &y);
                    found |= pairs_differ(&x, &y);
                    if (!x.label.known && !y.label.known) {
                        return 0; /* whatever the arguments are */
                    }
                }
            }
        }
    }
    return found;
}

static pairs_answer *pairs_answer_of(pairs_case *c, il_str name) {
    for (size_t i = 0; i < c->nanswers; i++) {
        if (il_str_eq(c->answers[i].name, name)) {
            return &c->answers[i];
        }
    }
    assert_true(c->nanswers < PAIRS_ANSWERS);
    pairs_answer *a = &c->answers[c->nanswers++];
    *a = (pairs_answer){0};
    assert_int_equal(il_arena_copy(&c->arena, name, &a->name, NULL), IL_OK);
    return a;
}

/* The memory of a session in which a human typed this; NULL where the policy asks for none. */
static il_memory *pairs_memory(pairs_case *c, int side, il_str typed) {
    il_memory *m = NULL;
    il_episode *e = NULL;
    il_str bytes;
    size_t n = 0;
    if (il_policy_remembers(c->policy[side].policy) == 0) {
        return NULL;
    }
    assert_int_equal(il_memory_new(&c->policy[side].memory.alloc, NULL, &m, NULL), IL_OK);
    if (typed.n > 0) {
        assert_int_equal(il_policy_hear(c->policy[side].policy, typed, &c->arena, &e, NULL, NULL), IL_OK);
    }
    if (e != NULL) {
        assert_int_equal(il_episode_done(e, &bytes, NULL), IL_OK);
        const il_str *texts = il_episode_texts(e, &n);
        assert_int_equal(il_memory_apply(m, 1, bytes, texts, n, NULL), IL_OK);
    }
    return m;
}

static void pairs_note(pairs_answer *a, const il_against_finding *f) {
    a->found |= f->kind == IL_AGAINST_AFTER  ? (unsigned)PAIRS_AFTER
                : f->kind == IL_AGAINST_CALL ? f->wider ? PAIRS_WIDER : PAIRS_NARROWER
                                             : 0u;
    a->unknown = a->unknown || f->kind == IL_AGAINST_UNKNOWN;
}

/* Notes what is said, and decides the example once more. */
static il_status pairs_found(void *ctx, const il_against_finding *f, il_error *err) {
    pairs_case *c = ctx;
    (void)err;
    c->settings = c->settings || f->kind == IL_AGAINST_SETTING;
    c->unknown = c->unknown || f->kind == IL_AGAINST_UNKNOWN;
    if (f->kind == IL_AGAINST_SETTING) {
        return IL_OK;
    }
    pairs_note(pairs_answer_of(c, f->about), f);
    for (uint32_t i = 0; i < f->nalike; i++) {
        pairs_note(pairs_answer_of(c, f->alike[i]), f);
    }
    if (f->kind != IL_AGAINST_UNKNOWN) {
        il_judged j[2];
        for (int side = 0; side < 2; side++) {
            il_memory *m = pairs_memory(c, side, f->call.typed);
            pairs_decide(c, f->call.name, f->call.args, f->call.held, f->call.agent, m, side, &j[side]);
            il_memory_free(m);
        }
        const unsigned is = pairs_differ(&j[0], &j[1]);
        const unsigned said = f->kind == IL_AGAINST_AFTER ? PAIRS_AFTER : f->wider ? PAIRS_WIDER : PAIRS_NARROWER;
        c->examples++;
        c->wrong += is != said || j[0].action != f->policy.action || j[1].action != f->other.action;
    }
    return IL_OK;
}

static bool pairs_compare(pairs_case *c, uint32_t tries, il_against_sum *sum) {
    const il_against_ask ask = {
        .policy = c->policy[0].policy, .other = c->policy[1].policy, .tries = tries, .ctx = c, .found = pairs_found};
    il_error err = {0};
    c->nanswers = 0;
    c->settings = c->unknown = false;
    if (il_policy_against(&ask, &c->arena, sum, &err) != IL_OK) {
        fail_msg("%s", err.msg);
    }
    return sum->wider + sum->narrower + sum->after + sum->settings + sum->unknown == 0;
}

static bool pairs_open(pairs_case *c, const pairs_spec *x, const pairs_spec *y) {
    const pairs_spec *const specs[] = {x, y};
    il_arena_reset(&c->arena);
    for (int side = 0; side < 2; side++) {
        il_arena_reset(&c->policy[side].arena);
        pairs_write(&c->text[side], specs[side]);
        if (policy_load(&c->policy[side], c->text[side].p) == NULL) { /* two entries for one name: not the point here */
            return false;
        }
    }
    for (int side = 0; side < 2; side++) {
        c->memory[side][0] = pairs_memory(c, side, (il_str){0});
        c->memory[side][1] = pairs_memory(c, side, IL_STR("use \"b@out.example\", \"c@in.example\""));
    }
    return true;
}

static void pairs_close(pairs_case *c) {
    for (int side = 0; side < 2; side++) {
        il_memory_free(c->memory[side][0]);
        il_memory_free(c->memory[side][1]);
    }
}

static void pairs_init(pairs_case *c) {
    memset(c, 0, sizeof *c);
    for (int side = 0; side < 2; side++) {
        policy_case_init(&c->policy[side], "standard");
        assert_int_equal(il_bind_open(c->policy[side].machine, &c->bind[side], NULL), IL_OK);
    }
    for (uint32_t h = 0; h < (1u << IL_EFFECTS); h++) {
        uint32_t rejected;
        c->held[h] = il_judged_state(&c->bind[0], h, &c->states[h], &rejected);
    }
    il_arena_init(&c->arena, &c->policy[0].memory.alloc, (size_t)1 << 30);
    il_arena_init(&c->scratch, &c->policy[0].memory.alloc, (size_t)1 << 30);
}

static void pairs_free(pairs_case *c) {
    il_arena_free(&c->arena);
    il_arena_free(&c->scratch);
    policy_case_free(&c->policy[0]);
    policy_case_free(&c->policy[1]);
}

typedef struct pairs_score {               /* all of one type up to `decisions` */
    uint32_t pairs, same, differ, unknown; /* by what the comparison says */
    uint32_t false_same, missed,
        wrong;          /* same, and a call says otherwise; a direction without an example; an example that is none */
    uint32_t undecided; /* unknown, and no call of the domain differs */
    uint32_t refused, examples;
    uint64_t decisions;
} pairs_score;

/* What the comparison says of a pair against every call of the domain. */
static void pairs_judge(pairs_case *c, bool same, pairs_score *score) {
    il_against_classes classes;
    bool any = false;
    const il_policy *const both[] = {c->policy[0].policy, c->policy[1].policy};
    assert_int_equal(il_against_names(both, &c->arena, &classes, NULL), IL_OK);
    assert_true(classes.complete);
    for (uint32_t i = 0; i < classes.n; i++) {
        const il_str name = classes.list[i].name;
        if (il_str_ends(name, IL_STR("/list")) && !il_str_ends(name, IL_STR("tools/list"))) {
            continue; /* of the methods that list one stands for the others */
        }
        const unsigned is = pairs_force(c, name);
        const pairs_answer *a = pairs_answer_of(c, name);
        any = any || is != 0;
        const bool silent = a->found == 0 && !a->unknown && !c->settings; /* what a setting says of all is said */
        score->false_same += is != 0 && silent;
        score->missed += (is & ~a->found) != 0 && !silent;
        score->undecided += is == 0 && a->unknown;
    }
    score->pairs++;
    score->false_same += same && any;
    score->same += same;
    score->unknown += c->unknown;
    score->differ += !same && !c->unknown;
    score->wrong += c->wrong;
    c->wrong = 0;
}

/* A policy and one that is a step or two away; now and then the same. */
static bool pairs_draw_pair(pairs_case *c, uint32_t *seed) {
    const pairs_spec x = pairs_spec_new(seed);
    pairs_spec y = x;
    c->last = pairs_next(seed, 3);
    for (size_t i = 0; i < 3; i++) {
        c->leaves[i] = 1 + pairs_next(seed, 3);
    }
    for (uint32_t k = pairs_next(seed, 3) + (pairs_next(seed, 8) != 0); k > 0; k--) {
        pairs_change(&y, seed);
    }
    return pairs_open(c, &x, &y);
}

/* `want` pairs from a seed on; what is wrong is said with the seed of its pair. */
static pairs_score pairs_part(uint32_t seed, uint32_t want) {
    pairs_case *c = calloc(1, sizeof *c);
    pairs_score score = {0};
    assert_non_null(c);
    pairs_init(c);
    for (uint32_t i = 0; score.pairs < want && i < 4 * want; i++) {
        const uint32_t began = seed;
        const pairs_score before = score;
        il_against_sum sum;
        if (!pairs_draw_pair(c, &seed)) {
            score.refused++;
            continue;
        }
        pairs_judge(c, pairs_compare(c, 0, &sum), &score);
        if (score.false_same > before.false_same || score.wrong > before.wrong || score.missed > before.missed) {
            (void)fprintf(stderr, "INTERLOCK_TEST_SEED=%u: false same %u, missed %u, wrong %u\n%s----\n%s", began,
                          score.false_same - before.false_same, score.missed - before.missed, score.wrong - before.wrong,
                          c->text[0].p, c->text[1].p);
        }
        pairs_close(c);
    }
    score.examples = c->examples;
    score.decisions = c->decisions;
    pairs_free(c);
    free(c);
    return score;
}

/* Half of them in a process of its own. */
static pairs_score pairs_parts(uint32_t seed, uint32_t want) {
    int ends[2];
    pairs_score other = {0};
    assert_int_equal(pipe(ends), 0);
    (void)fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        other = pairs_part(seed ^ 0x5bd1e995u, want / 2);
        _exit(write(ends[1], &other, sizeof other) == (ssize_t)sizeof other ? 0 : 1);
    }
    (void)close(ends[1]);
    pairs_score score = pairs_part(seed, want - want / 2);
    const ssize_t got = read(ends[0], &other, sizeof other);
    int status = 1;
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(got == (ssize_t)sizeof other && status == 0);
    uint32_t *to = &score.pairs;
    const uint32_t *more = &other.pairs;
    for (size_t i = 0; i < offsetof(pairs_score, decisions) / sizeof *to; i++) {
        to[i] += more[i];
    }
    score.decisions += other.decisions;
    return score;
}

static void test_answers_agree_with_every_call(void **state) {
    const char *said = getenv("INTERLOCK_TEST_PAIRS"),
               *from = getenv("INTERLOCK_TEST_SEED"); /* from: of one pair that a failure printed */
    const uint32_t want = from != NULL                         ? 1
                          : said != NULL                       ? (uint32_t)strtoul(said, NULL, 10)
                          : getenv("IL_TEST_THOROUGH") != NULL ? 10000
                                                               : 300;
    const uint32_t seed = from != NULL ? (uint32_t)strtoul(from, NULL, 10) : PAIRS_SEED;
    (void)state;
    const pairs_score score = from != NULL ? pairs_part(seed, 1) : pairs_parts(seed, want);
    print_message("seed %u: %u pairs (%u drawn documents refused), %u the same, %u differ, %u with something unknown; %u "
                  "examples, %llu decisions; of the kinds of tools that "
                  "are unknown %u have no call in the domain that differs\n",
                  seed, score.pairs, score.refused, score.same, score.differ, score.unknown, score.examples,
                  (unsigned long long)score.decisions, score.undecided);
    assert_int_equal(score.pairs, want);
    assert_int_equal(score.false_same, 0);
    assert_int_equal(score.wrong, 0);
    assert_int_equal(score.missed, 0);
    if (want >= 100) {
        assert_true(score.unknown * 10 <= score.pairs); /* else the answers are of no use */
        assert_true(score.same > 0 && score.differ > score.pairs / 4);
    }
}

/* The instrument sees a comparison that looks at nothing, and one that is about another policy. */
static void test_a_wrong_comparison_is_caught(void **state) {
    pairs_case *c = calloc(1, sizeof *c);
    pairs_score blind = {0}, other = {0};
    uint32_t seed = PAIRS_SEED;
    (void)state;
    assert_non_null(c);
    pairs_init(c);
    while (blind.pairs < 200) {
        il_against_sum sum;
        if (!pairs_draw_pair(c, &seed)) {
            continue;
        }
        pairs_judge(c, pairs_compare(c, 1, &sum), &blind);
        il_policy *const kept = c->policy[1].policy; /* a policy with itself: the same */
        c->policy[1].policy = c->policy[0].policy;
        const bool same = pairs_compare(c, 0, &sum);
        c->policy[1].policy = kept;
        assert_true(same);
        pairs_judge(c, same, &other);
        pairs_close(c);
    }
    assert_true(blind.missed > 50);
    assert_true(other.false_same > 50);
    assert_int_equal(blind.false_same, 0); /* what tries too little is unknown, never the same */
    pairs_free(c);
    free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers_agree_with_every_call),
                                       cmocka_unit_test(test_a_wrong_comparison_is_caught)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
