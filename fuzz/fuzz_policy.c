/* SPDX-License-Identifier: Apache-2.0 */
/* A policy, and behind a line `===` the arguments of a call: its own presets are written out (once more changes nothing), and it is refused completely, or compiled
 * (every fourth twice, to the same fingerprint); then every tool that it names is labelled and judged by the rules, with more held never giving less where no condition asks what
 * is held; every fourth is also linted, and each of its tools explained. */
#include "base/utf8.h"
#include "interlock/policy.h"
#include "machine/table.h"
#include "policy/compiled.h"
#include "policy/explain.h"
#include "policy/lint.h"
#include "tree.h"
#include "yaml/yaml.h"

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

static il_label fuzz_label(const il_policy *p, il_str name, const il_json *args, uint32_t held, il_arena *arena, bool *ok) {
    il_label label;
    il_str server = {0};
    const size_t dot = il_str_find(name, IL_STR("."), 0);
    if (dot != SIZE_MAX) {
        server = il_str_part(name, 0, dot);
        name = il_str_part(name, dot + 1, name.n);
    }
    const il_status s =
        il_policy_label(p, &(il_label_call){.server = server, .tool = name, .args = args, .held = held}, arena, &label, NULL);
    *ok = s == IL_OK;
    FUZZ_CHECK(s == IL_OK || !label.known);
    FUZZ_CHECK((label.effects & ~label.declared) == 0);
    FUZZ_CHECK((label.sink == IL_SINK_NONE) == ((label.effects & (uint32_t)IL_EGRESS) == 0));
    FUZZ_CHECK(!label.vouched || (label.effects & (uint32_t)(IL_EGRESS | IL_COMMIT)) == 0);
    FUZZ_CHECK(il_str_utf8(il_str_of(label.why), NULL));
    return label;
}

/* A rule only ever tightens what the machine says; that it says why is what is left to check here. */
static void fuzz_rules(const il_policy *p, il_str name, const il_json *args, const il_label *label, il_arena *arena) {
    il_ruling r;
    const il_label_call call = {.tool = name, .args = args};
    if (il_rules_judge(p, &call, name, label, il_machine_initial(fuzz_machine()), arena, &r, NULL) == IL_OK) {
        FUZZ_CHECK(r.then != IL_THEN_ALLOW || (!r.erred && r.why[0] == '\0'));
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
    const uint32_t held = (1u << IL_CONDITION_RUN) | (1u << IL_CONDITION_PROV);
    bool ok[2];
    const il_label clean = fuzz_label(p, name, args, 0, arena, &ok[0]),
                   full = fuzz_label(p, name, args, IL_TAINTS, arena, &ok[1]);
    FUZZ_CHECK(!ok[0] || !ok[1] || (p->asks & held) != 0 || (clean.known == full.known && (clean.effects & ~full.effects) == 0));
    if (ok[0] && clean.known) {
        fuzz_rules(p, name, args, &clean, arena);
    }
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const il_alloc alloc = fuzz_alloc();
    il_arena arena;
    il_error err = {0};
    const il_json *doc = NULL;
    il_json *args = NULL;
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
        if (cut != SIZE_MAX && il_json_parse(&arena, il_str_part(all, cut + 5, size), NULL, &args, NULL) != IL_OK) {
            args = NULL;
        }
        fuzz_tools(p, doc, args, size % 4 == 0, &arena);
    }
    il_policy_free(p);
    il_policy_free(again);
    il_arena_free(&arena);
    return 0;
}
