/* SPDX-License-Identifier: Apache-2.0 */
/* A policy; behind a line `===` the arguments of a call; behind another a session, as a list: `{"say": TEXT}` types it, `{"tool": NAME, "args": {…}, "result": …}` (or `"error": TEXT`)
 * calls and settles, `{"notice": …}` is what a server says besides.
 *
 * The policy's own presets are written out (once more changes nothing), and it is refused completely, or compiled (every fourth twice, to the same fingerprint); then every tool that it
 * names is labelled and judged by the rules, with more held never giving less where no condition asks what is held; every fourth is also linted, and each of its tools explained.
 * With a session, its calls are labelled, ruled and settled by a memory, and all tools once more at its end: what is vouched has its reason there, a memory takes no
 * vouching away from the lists, one without its texts vouches for nothing more than one that has them, and nothing that servers say besides vouches. */
#include "base/utf8.h"
#include "interlock/policy.h"
#include "machine/table.h"
#include "policy/compiled.h"
#include "policy/explain.h"
#include "policy/lint.h"
#include "policy/result.h"
#include "provenance/memory.h"
#include "tree.h"
#include "yaml/yaml.h"

enum { FUZZ_STEPS = 12 };
/* Conditions that ask what the session holds or read: a negation may lose an effect by it. */
#define FUZZ_ASKS_PAST ((1u << IL_CONDITION_RUN) | (1u << IL_CONDITION_PROV) | IL_CONDITION_ASKS_SOURCES)

/* The shipped machine with one approval slot, since binding to it is most of what a short policy costs; compiled once. The
 * replayer runs from the source root. */
static const il_machine *fuzz_machine(void) {
    static il_machine *machine;
    static il_alloc alloc;
    static il_arena arena;
    static char text[1 << 16];
    if (machine == NULL) {
        il_json *doc = NULL;
        il_model *model = NULL;
        il_str table;
        FILE *f = fopen("machines/trifecta.yaml", "rb");
        FUZZ_CHECK(f != NULL);
        const size_t n = fread(text, 1, sizeof text, f);
        (void)fclose(f);
        const size_t slots = il_str_find((il_str){text, n}, IL_STR("{K: 2}"), 0);
        FUZZ_CHECK(slots != SIZE_MAX);
        text[slots + 4] = '1';
        alloc = fuzz_alloc();
        il_arena_init(&arena, &alloc, (size_t)64 << 20);
        FUZZ_CHECK(il_yaml_parse(&arena, (il_str){text, n}, NULL, &doc, NULL) == IL_OK);
        FUZZ_CHECK(il_model_load(&arena, doc, &model, NULL) == IL_OK);
        FUZZ_CHECK(il_table_build(&arena, model, 0, &table, NULL) == IL_OK);
        FUZZ_CHECK(il_table_open(&alloc, table, &machine, NULL) == IL_OK);
    }
    return machine;
}

static il_label_call fuzz_call(il_str name, const il_json *args, uint32_t held, const il_memory *memory) {
    const size_t dot = il_str_find(name, IL_STR("."), 0);
    const bool served = dot != SIZE_MAX;
    return (il_label_call){.server = served ? il_str_part(name, 0, dot) : (il_str){0},
                           .tool = served ? il_str_part(name, dot + 1, name.n) : name,
                           .args = args,
                           .held = held,
                           .memory = memory};
}

static il_label fuzz_label(const il_policy *p, const il_label_call *call, il_arena *arena, bool *ok) {
    il_label label;
    const il_status s = il_policy_label(p, call, arena, &label, NULL);
    *ok = s == IL_OK;
    FUZZ_CHECK(s == IL_OK || !label.known);
    FUZZ_CHECK((label.effects & ~label.declared) == 0);
    FUZZ_CHECK((label.sink == IL_SINK_NONE) == ((label.effects & (uint32_t)IL_EGRESS) == 0));
    FUZZ_CHECK(!label.vouched || (label.effects & (uint32_t)(IL_EGRESS | IL_COMMIT)) == 0);
    FUZZ_CHECK(il_str_utf8(il_str_of(label.why), NULL));
    for (size_t i = 0; i < label.nvalues && *ok; i++) {
        FUZZ_CHECK(!label.vouched || il_vouch_vouches(label.values[i].how));
        FUZZ_CHECK(call->memory != NULL || label.values[i].how <= IL_VOUCH_UNREAD || label.values[i].how == IL_VOUCH_LISTED ||
                   label.values[i].how == IL_VOUCH_USER);
    }
    return label;
}

/* A rule only ever tightens what the machine says; that it says why is what is left to check here. */
static void fuzz_rules(const il_policy *p, il_str name, const il_label_call *call, const il_label *label, il_arena *arena) {
    il_ruling r;
    if (il_rules_judge(p, call, name, label, il_machine_initial(fuzz_machine()), arena, &r, NULL) == IL_OK) {
        FUZZ_CHECK(r.then != IL_THEN_ALLOW || (!r.erred && (p->rules.soft || r.why[0] == '\0')));
        FUZZ_CHECK(r.then == IL_THEN_ALLOW || (r.rule != NULL && r.why[0] != '\0' && r.number > 0));
        FUZZ_CHECK(!r.erred || r.then == IL_THEN_BLOCK);
        FUZZ_CHECK(il_str_utf8(il_str_of(r.why), NULL));
    }
}

static il_status fuzz_found(void *ctx, const il_lint *finding, il_error *err) {
    (void)ctx;
    (void)err;
    FUZZ_CHECK(finding->kind[0] != '\0' && finding->message.n > 0 && finding->line > 0 && il_str_utf8(finding->message, NULL));
    return IL_OK;
}

/* Only what the machine accepts and the rules leave is said to be allowed, and all else has a layer and a reason. */
static void fuzz_explain(const il_policy *p, il_str name, const il_json *args, il_arena *arena) {
    il_explanation x;
    const il_explain_ask ask = {.tool = name, .args = args, .held = (uint32_t)(IL_UNTRUSTED | IL_SENSITIVE)};
    if (il_policy_explain(p, &ask, arena, &x, NULL) != IL_OK) {
        FUZZ_CHECK(x.action == IL_THEN_BLOCK);
        return;
    }
    FUZZ_CHECK((x.action == IL_THEN_ALLOW) == (x.layer == NULL) && (x.layer == NULL) == (x.why_layer.n == 0));
    FUZZ_CHECK(x.action != IL_THEN_ALLOW || (x.label.known && x.accepted && x.nchanges == 0));
    for (size_t i = 0; i < x.nchanges; i++) {
        FUZZ_CHECK(x.changes[i].text.n > 0 && il_str_utf8(x.changes[i].text, NULL));
    }
}

static void fuzz_tool(const il_policy *p, il_str name, const il_json *args, il_arena *arena) {
    const il_label_call calls[2] = {fuzz_call(name, args, 0, NULL), fuzz_call(name, args, IL_TAINTS, NULL)};
    bool ok[2];
    const il_label clean = fuzz_label(p, &calls[0], arena, &ok[0]), full = fuzz_label(p, &calls[1], arena, &ok[1]);
    FUZZ_CHECK(!ok[0] || !ok[1] || (p->asks & FUZZ_ASKS_PAST) != 0 ||
               (clean.known == full.known && (clean.effects & ~full.effects) == 0));
    if (ok[0] && clean.known) {
        fuzz_rules(p, name, &calls[0], &clean, arena);
    }
}

/* ---- a session ------------------------------------------------------------------------------------------------- */

/* `whole` has the texts of what was read, `bare` only what a ledger keeps. */
typedef struct fuzz_session {
    const il_policy *policy;
    il_arena *arena;
    il_memory *whole, *bare;
    uint32_t held;
    uint64_t ticket;
    bool said, read, spoilt; /* spoilt: an episode could not be made */
} fuzz_session;

static void fuzz_apply(fuzz_session *x, il_status made, il_episode **made_of) {
    il_episode *e = *made_of; /* read here: the order of arguments is nobody's */
    il_str bytes = {0};
    size_t n = 0;
    FUZZ_CHECK(made == IL_OK || made == IL_E_LIMIT || made == IL_E_MEMORY);
    if (made != IL_OK || (e != NULL && il_episode_done(e, &bytes, NULL) != IL_OK)) {
        x->spoilt = true;
        return;
    }
    if (e != NULL) {
        const il_str *texts = il_episode_texts(e, &n);
        FUZZ_CHECK(il_memory_apply(x->whole, il_memory_episodes(x->whole) + 1, bytes, texts, n, NULL) == IL_OK);
        FUZZ_CHECK(il_memory_apply(x->bare, il_memory_episodes(x->bare) + 1, bytes, NULL, 0, NULL) == IL_OK);
    }
}

static void fuzz_reasons(const fuzz_session *x, const il_label *label) {
    for (size_t i = 0; i < label->nvalues; i++) {
        const il_vouched *v = &label->values[i];
        switch (v->how) {
        case IL_VOUCH_TYPED:
            FUZZ_CHECK(x->said);
            break;
        case IL_VOUCH_FACT:
            FUZZ_CHECK(v->source > 0 && v->source <= il_memory_sources(x->whole) && il_memory_complete(x->whole));
            FUZZ_CHECK(il_memory_source(x->whole, v->source).kind == IL_SOURCE_RESULT);
            break;
        case IL_VOUCH_CLAIMED:
        case IL_VOUCH_SENT:
        case IL_VOUCH_VIA:
        case IL_VOUCH_NAMED:
        case IL_VOUCH_FORGOT:
            FUZZ_CHECK(x->read);
            break;
        case IL_VOUCH_NOTHING:
        case IL_VOUCH_UNREAD:
        case IL_VOUCH_REACH:
        case IL_VOUCH_LISTED:
        case IL_VOUCH_USER:
            break;
        }
    }
}

/* Labels with the memory as it is, and beside it without texts and without anything. */
static il_label fuzz_recalled(fuzz_session *x, il_str name, const il_json *args, bool *ok) {
    const il_label_call calls[3] = {fuzz_call(name, args, x->held, x->whole), fuzz_call(name, args, x->held, x->bare),
                                    fuzz_call(name, args, x->held, NULL)};
    bool fine[3];
    const il_label label = fuzz_label(x->policy, &calls[0], x->arena, &fine[0]),
                   bare = fuzz_label(x->policy, &calls[1], x->arena, &fine[1]),
                   none = fuzz_label(x->policy, &calls[2], x->arena, &fine[2]);
    *ok = fine[0] && label.known;
    if (*ok) {
        fuzz_reasons(x, &label);
        fuzz_rules(x->policy, name, &calls[0], &label, x->arena);
    }
    if ((x->policy->asks & FUZZ_ASKS_PAST) == 0) {
        FUZZ_CHECK(!fine[0] || !fine[1] || (label.known == bare.known && (label.effects & ~bare.effects) == 0));
        FUZZ_CHECK(!fine[1] || !fine[2] || (bare.known == none.known && (bare.effects & ~none.effects) == 0));
    }
    return label;
}

static void fuzz_settle(fuzz_session *x, il_str name, const il_json *step, const il_label *label) {
    const il_json *error = il_json_get(step, IL_STR("error")), *result = il_json_get(step, IL_STR("result"));
    const il_result_call call = {.tool = name,
                                 .args = il_json_get(step, IL_STR("args")),
                                 .result = result,
                                 .error = il_json_text(error),
                                 .done = error == NULL,
                                 .bare = il_json_get(result, IL_STR("content")) == NULL,
                                 .taints = label->effects & IL_TAINTS,
                                 .ticket = x->ticket,
                                 .agent = IL_STR("ana")};
    il_result r = {0};
    const il_status s = il_policy_read(x->policy, &call, x->arena, &r, NULL);
    FUZZ_CHECK(s != IL_OK || (r.absent & ~label->declared) == 0);
    FUZZ_CHECK(s != IL_OK || r.absent == 0 || (call.done && r.readable));
    fuzz_apply(x, s, &r.episode);
    x->read = true;
    x->held |= label->effects & IL_TAINTS & ~(s == IL_OK ? r.absent : 0);
}

static void fuzz_step(fuzz_session *x, const il_json *step) {
    const il_json *say = il_json_get(step, IL_STR("say")), *notice = il_json_get(step, IL_STR("notice"));
    const il_str tool = il_json_text(il_json_get(step, IL_STR("tool")));
    il_episode *e = NULL;
    if (il_json_kind_of(say) == IL_JSON_STRING) {
        fuzz_apply(x, il_policy_hear(x->policy, il_json_text(say), x->arena, &e, NULL, NULL), &e);
        x->said = true;
    } else if (notice != NULL) {
        const il_overheard heard = {.kind = IL_SOURCE_NOTICE, .name = IL_STR("s"), .taints = IL_UNTRUSTED, .value = notice};
        fuzz_apply(x, il_policy_overhear(x->policy, &heard, x->arena, &e, NULL), &e);
        x->held |= (uint32_t)IL_UNTRUSTED;
        x->read = true;
    } else if (tool.n > 0) {
        const il_json *args = il_json_get(step, IL_STR("args"));
        bool ok;
        const il_label label = fuzz_recalled(x, tool, args, &ok);
        if (ok) {
            const il_label_call call = fuzz_call(tool, args, x->held, x->whole);
            fuzz_apply(x, il_policy_sent(x->policy, &call, &label, ++x->ticket, x->arena, &e, NULL), &e);
            fuzz_settle(x, tool, step, &label);
        }
    }
}

/* Whether a call of this tool is vouched now, for what a notice may not change for the better. */
static uint32_t fuzz_effects(fuzz_session *x, il_str name, const il_json *args) {
    bool ok;
    const il_label label = fuzz_recalled(x, name, args, &ok);
    return ok ? label.effects : UINT32_MAX;
}

static void fuzz_session_run(const il_policy *p, const il_json *steps, const il_json *doc, const il_json *args,
                             const il_alloc *alloc, il_arena *arena) {
    const il_index_limits limits = {.size = sizeof limits, .text_bytes = 1 << 16, .index_bytes = 1 << 20};
    fuzz_session x = {.policy = p, .arena = arena};
    uint32_t n = 0;
    FUZZ_CHECK(il_memory_new(alloc, &limits, &x.whole, NULL) == IL_OK && il_memory_new(alloc, &limits, &x.bare, NULL) == IL_OK);
    for (const il_json *step = il_json_first(steps); step != NULL && n < FUZZ_STEPS && !x.spoilt;
         step = il_json_next(step), n++) {
        fuzz_step(&x, step);
    }
    const il_json *t = il_json_first(il_json_get(doc, IL_STR("tools")));
    for (n = 0; t != NULL && n < FUZZ_STEPS && !x.spoilt; t = il_json_next(t), n++) {
        const il_json *match = il_json_get(t, IL_STR("match"));
        const il_str name = il_json_text(il_json_kind_of(match) == IL_JSON_ARRAY ? il_json_first(match) : match);
        x.held |= (uint32_t)IL_UNTRUSTED;
        const uint32_t before = fuzz_effects(&x, name, args);
        const il_overheard heard = {
            .kind = IL_SOURCE_NOTICE, .name = IL_STR("s"), .taints = IL_UNTRUSTED, .value = args != NULL ? args : match};
        il_episode *e = NULL;
        fuzz_apply(&x, il_policy_overhear(p, &heard, arena, &e, NULL), &e);
        if (!x.spoilt && (p->asks & FUZZ_ASKS_PAST) == 0 && before != UINT32_MAX) {
            FUZZ_CHECK((before & ~fuzz_effects(&x, name, args)) == 0);
        }
    }
    il_memory_free(x.whole);
    il_memory_free(x.bare);
}

static void fuzz_tools(const il_policy *p, const il_json *doc, const il_json *args, bool tools, il_arena *arena) {
    const il_lint_out out = {NULL, fuzz_found};
    if (tools) {
        const il_status s = il_policy_lint(p, arena, &out, NULL);
        FUZZ_CHECK(s == IL_OK || s == IL_E_LIMIT);
    }
    for (const il_json *t = il_json_first(il_json_get(doc, IL_STR("tools"))); t != NULL; t = il_json_next(t)) {
        const il_json *match = il_json_get(t, IL_STR("match"));
        fuzz_tool(p, il_json_text(match), args, arena);
        if (tools) {
            fuzz_explain(p, il_json_text(match), il_json_kind_of(args) == IL_JSON_OBJECT ? args : NULL, arena);
        }
        for (const il_json *m = il_json_first(match); m != NULL; m = il_json_next(m)) {
            fuzz_tool(p, il_json_text(m), args, arena);
        }
    }
}

/* What is said of a document of Interbolt, beside what it was written out as. */
static void fuzz_interbolt(const il_policy *p, const il_json *doc, il_arena *arena) {
    const il_lint_out out = {NULL, fuzz_found};
    uint8_t digest[IL_DIGEST_BYTES];
    if (il_interbolt_is(doc)) {
        const il_status s = il_interbolt_lint(p, doc, arena, &out, &out, NULL);
        FUZZ_CHECK(s == IL_OK || s == IL_E_LIMIT);
        FUZZ_CHECK(il_interbolt_fingerprint(doc, arena, digest, NULL) != IL_E_INVALID);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const il_alloc alloc = fuzz_alloc();
    il_arena arena;
    il_error err = {0};
    const il_json *doc = NULL;
    il_json *args = NULL, *steps = NULL;
    il_policy *p = NULL, *again = NULL;
    const il_str all = {(const char *)data, size};
    const size_t cut = il_str_find(all, IL_STR("\n===\n"), 0);
    il_arena_init(&arena, &alloc, (size_t)64 << 20);
    il_json *read = NULL;
    if (il_yaml_parse(&arena, cut == SIZE_MAX ? all : il_str_part(all, 0, cut + 1), NULL, &read, NULL) == IL_OK) {
        const il_json *flat = NULL;
        il_status s = il_policy_expand(&arena, read, NULL, &doc, &err);
        if (s == IL_OK) {
            FUZZ_CHECK(il_policy_expand(&arena, doc, NULL, &flat, &err) == IL_OK && flat == doc);
            s = il_policy_new(&alloc, doc, fuzz_machine(), &p, &err);
        }
        FUZZ_CHECK((s == IL_OK) == (p != NULL));
        FUZZ_CHECK(s == IL_OK || s == IL_E_INVALID || s == IL_E_VERSION || s == IL_E_LIMIT || s == IL_E_SYNTAX);
        FUZZ_CHECK(s == IL_OK || (err.code == s && err.line > 0 && err.col > 0 && err.msg[0] != '\0'));
    }
    if (p != NULL) {
        if (size % 4 == 0) {
            uint8_t a[IL_DIGEST_BYTES], b[IL_DIGEST_BYTES];
            FUZZ_CHECK(il_policy_new(&alloc, doc, fuzz_machine(), &again, &err) == IL_OK);
            il_policy_fingerprint(p, a);
            il_policy_fingerprint(again, b);
            FUZZ_CHECK(memcmp(a, b, sizeof a) == 0);
        }
        const size_t second = cut == SIZE_MAX ? SIZE_MAX : il_str_find(all, IL_STR("\n===\n"), cut + 5);
        const size_t end = second == SIZE_MAX ? size : second;
        if (cut != SIZE_MAX && il_json_parse(&arena, il_str_part(all, cut + 5, end), NULL, &args, NULL) != IL_OK) {
            args = NULL;
        }
        fuzz_tools(p, doc, args, size % 4 == 0, &arena);
        if (second != SIZE_MAX && il_json_parse(&arena, il_str_part(all, second + 5, size), NULL, &steps, NULL) == IL_OK) {
            fuzz_session_run(p, steps, doc, args, &alloc, &arena);
        }
        fuzz_interbolt(p, read, &arena);
    }
    il_policy_free(p);
    il_policy_free(again);
    il_arena_free(&arena);
    return 0;
}
