/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "yaml/yaml.h"

#define MACHINE_FILE_MAX ((size_t)1 << 20)

static void machine_begin(machine_case *c) {
    memset(c, 0, sizeof *c);
    test_memory_init(&c->memory, SIZE_MAX);
    il_arena_init(&c->arena, &c->memory.alloc, (size_t)1 << 30);
}

static void machine_parse(machine_case *c) {
    il_json *doc = NULL;
    c->status = il_yaml_parse(&c->arena, c->text, NULL, &doc, &c->err);
    if (c->status == IL_OK) {
        c->status = il_model_load(&c->arena, doc, &c->m, &c->err);
    }
}

static char *machine_replace(il_arena *arena, char *text, const machine_edit *edit) {
    char *at = strstr(text, edit->from);
    if (!at) {
        fail_msg("the edit does not apply: `%s`", edit->from);
        return text;
    }
    if (strstr(at + 1, edit->from)) {
        fail_msg("the edit applies twice: `%s`", edit->from);
    }
    size_t before = (size_t)(at - text);
    size_t rest = strlen(at + strlen(edit->from));
    char *out = il_arena_bytes(arena, before + strlen(edit->to) + rest + 1);
    assert_non_null(out);
    memcpy(out, text, before);
    memcpy(out + before, edit->to, strlen(edit->to));
    memcpy(out + before + strlen(edit->to), at + strlen(edit->from), rest + 1);
    return out;
}

void machine_load(machine_case *c, const char *path, const machine_edit *edits) {
    machine_begin(c);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = il_arena_bytes(&c->arena, MACHINE_FILE_MAX);
    assert_non_null(text);
    size_t n = fread(text, 1, MACHINE_FILE_MAX - 1, f);
    assert_int_equal(fclose(f), 0);
    text[n] = '\0';
    for (size_t i = 0; edits && edits[i].from; i++) {
        text = machine_replace(&c->arena, text, &edits[i]);
    }
    c->text = il_str_of(text);
    machine_parse(c);
}

void machine_load_text(machine_case *c, const char *text) {
    machine_begin(c);
    c->text = il_str_of(text);
    machine_parse(c);
}

char *machine_edited(const char *text, const char *from, const char *to, char *out, size_t cap) {
    const char *at = strstr(text, from);
    assert_non_null(at);
    assert_null(strstr(at + 1, from));
    int n = snprintf(out, cap, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_true(n > 0 && (size_t)n < cap);
    return out;
}

void machine_all_refused(const char *base, const machine_bad *rows, size_t n) {
    static char text[16384];
    uint32_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        const machine_bad *row = &rows[i];
        machine_case c;
        machine_load_text(&c, machine_edited(base, row->from, row->to, text, sizeof text));
        if (c.status == IL_OK) { /* what only exploring finds */
            il_str table = {0};
            c.status = il_table_build(&c.arena, c.m, 0, &table, &c.err);
            assert_null(table.p);
        }
        if (c.status == IL_OK || c.err.line != row->line || c.err.col != row->col || strcmp(c.err.msg, row->message) != 0) {
            print_error("`%s` -> `%s`: %u:%u: %s\n", row->from, row->to, (unsigned)c.err.line, (unsigned)c.err.col, c.err.msg);
            wrong++;
        }
        machine_free(&c);
    }
    assert_int_equal(wrong, 0);
}

void machine_open(machine_case *c, const char *path, const machine_edit *edits) {
    machine_load(c, path, edits);
    if (c->status != IL_OK) {
        fail_msg("%s:%u:%u: %s", path, (unsigned)c->err.line, (unsigned)c->err.col, c->err.msg);
    }
}

void machine_harden(machine_case *c, const char *path, const machine_edit *edits, uint32_t max_states) {
    machine_open(c, path, edits);
    const il_space_bounds bounds = {.states = max_states};
    c->status = il_harden_run(&c->h, &c->memory.alloc, &c->arena, c->m, &bounds, &c->err);
    c->hardened = true;
}

void machine_free(machine_case *c) {
    if (c->hardened) {
        il_harden_free(&c->h);
    }
    il_arena_free(&c->arena);
    assert_int_equal(c->memory.live, 0);
}

static bool machine_is(const char *p, size_t n, const char *word) { return n == strlen(word) && memcmp(p, word, n) == 0; }

static void machine_word(il_symbol_words *w, const char *p, size_t n) {
    if (machine_is(p, n, "u")) {
        w->untrusted = true;
    } else if (machine_is(p, n, "s")) {
        w->sensitive = true;
    } else if (machine_is(p, n, "k")) {
        w->secret = w->sensitive = true;
    } else if (machine_is(p, n, "e") || machine_is(p, n, "eb")) {
        w->egress = IL_SINK_ONCE;
        w->bound = n == 2;
    } else if (machine_is(p, n, "E") || machine_is(p, n, "Eb")) {
        w->egress = IL_SINK_STANDING;
        w->bound = n == 2;
    } else if (machine_is(p, n, "c")) {
        w->commit = true;
    } else if (machine_is(p, n, "+")) {
        w->approved = true;
    } else if (machine_is(p, n, "f")) {
        w->flight = 2;
    } else if (machine_is(p, n, "o") || machine_is(p, n, "of")) {
        w->open = 2;
    } else if (machine_is(p, n, "ob")) {
        w->open = 1;
    } else if (machine_is(p, n, "last=egress")) {
        w->last = 1;
    } else if (machine_is(p, n, "last=crossing")) {
        w->last = 2;
    } else if (machine_is(p, n, "slot=granted")) {
        w->slot = 1;
    } else if (!machine_is(p, n, "slot=asked")) {
        fail_msg("no such word: `%.*s`", (int)n, p);
    }
}

bool machine_words_eq(const il_symbol_words *a, const il_symbol_words *b) {
    return a->untrusted == b->untrusted && a->sensitive == b->sensitive && a->secret == b->secret && a->egress == b->egress &&
           a->bound == b->bound && a->flight == b->flight && a->open == b->open && a->commit == b->commit &&
           a->approved == b->approved && a->last == b->last && a->slot == b->slot;
}

uint32_t machine_symbol(const il_model *m, const char *p, size_t n) {
    static const char *const shorts[][2] = {{"a", "admit"},    {"se", "settle"},  {"j", "join"},      {"rf", "refine"},
                                            {"rq", "request"}, {"ok", "approve"}, {"Q", "quarantine"}};
    const char *brace = memchr(p, '{', n);
    size_t head = brace ? (size_t)(brace - p) : n;
    il_str name = {p, head};
    il_symbol_words want = {0};
    for (size_t i = 0; i < sizeof shorts / sizeof shorts[0]; i++) {
        if (machine_is(p, head, shorts[i][0])) {
            name = il_str_of(shorts[i][1]);
        }
    }
    for (const char *at = brace ? brace + 1 : p + n; at < p + n && *at != '}';) {
        size_t k = 0;
        while (at[k] != ',' && at[k] != '}') {
            k++;
        }
        machine_word(&want, at, k);
        at += k + (at[k] == ',');
    }
    uint32_t action = il_model_action(m, name);
    for (uint32_t i = 0; i < m->nsymbols; i++) {
        il_symbol_words have = il_model_words(m, i);
        if (m->symbol_action[i] == action && machine_words_eq(&have, &want)) {
            return i;
        }
    }
    fail_msg("no symbol `%.*s`", (int)n, p);
    return IL_NO_SYMBOL;
}

static bool machine_step_is(const il_model *m, const il_trace_step *s, const char *p, size_t n) {
    const char *write = memchr(p, ':', n);
    if (!write) {
        return s->symbol == machine_symbol(m, p, n);
    }
    il_str var = {p, (size_t)(write - p)};
    il_str value = {write + 2, n - var.n - 2};
    return s->symbol == IL_NO_SYMBOL && il_str_eq(m->vars[s->var].name, var) &&
           il_str_eq(m->vars[s->var].domain.names[s->value], value);
}

static size_t machine_next(const char **p) {
    while (**p == ' ') {
        (*p)++;
    }
    return strcspn(*p, " ");
}

void machine_trace_is(const il_model *m, const il_trace *t, const char *want) {
    const char *p = want;
    uint32_t i = 0;
    bool same = t->found;
    for (size_t n = machine_next(&p); same && n > 0; n = machine_next(&p)) {
        same = i < t->n && machine_step_is(m, &t->steps[i], p, n);
        p += n;
        i++;
    }
    if (!same || i != t->n) {
        il_buf b;
        il_str text = {0};
        il_buf_init(&b, m->arena, 1 << 16);
        il_trace_text(m, t, &b);
        assert_int_equal(il_buf_done(&b, &text, NULL), IL_OK);
        fail_msg("witness is `%.*s`%s, not `%s`", IL_STR_ARG(text), t->found ? "" : " (none)", want);
    }
}

const il_check *machine_check(const machine_case *c, const char *id, const char *region) {
    for (const il_check *k = c->h.checks; k; k = k->next) {
        bool here = region ? k->region < c->m->nregions && il_str_eq(c->m->regions[k->region].name, il_str_of(region))
                           : k->region == UINT32_MAX;
        if (here && strcmp(k->id, id) == 0) {
            return k;
        }
    }
    fail_msg("no check `%s` of `%s`", id, region ? region : "the machine");
    return NULL;
}

void machine_verdict_is(const machine_case *c, const char *id, const char *region, il_check_verdict want) {
    const il_check *k = machine_check(c, id, region);
    if (k->verdict != want) {
        fail_msg("`%s` of `%s` is %s, not %s", id, region ? region : "the machine", il_check_verdict_name(k->verdict),
                 il_check_verdict_name(want));
    }
}

void machine_fails(const machine_case *c, const char *id, const char *region, const char *witness) {
    machine_verdict_is(c, id, region, IL_CHECK_FAIL);
    machine_trace_is(c->m, &machine_check(c, id, region)->witness, witness);
}

static const il_guard_result *machine_guard(const machine_case *c, const machine_guard_row *row) {
    const il_model *m = c->m;
    uint32_t a = il_model_action(m, il_str_of(row->action));
    uint32_t nth = 0;
    assert_int_not_equal(a, UINT32_MAX);
    for (uint32_t k = 0; k < m->actions[a].nclauses; k++) {
        if (!il_str_eq(m->rules[m->actions[a].clauses[k].rule - 1].name, il_str_of(row->rule)) || nth++ != row->nth) {
            continue;
        }
        for (const il_guard_result *g = c->h.guards; g; g = g->next) {
            bool region =
                !row->region || (g->region < m->nregions && il_str_eq(m->regions[g->region].name, il_str_of(row->region)));
            if (g->action == a && g->clause == k && g->opens == row->opens && region) {
                return g;
            }
        }
        return NULL;
    }
    fail_msg("no clause %s of %s", row->rule, row->action);
    return NULL;
}

void machine_guard_is(const machine_case *c, const machine_guard_row *row) {
    const il_guard_result *g = machine_guard(c, row);
    if ((g != NULL) != (row->witness != NULL)) {
        fail_msg("%s of %s: %s", row->rule, row->action, g ? "opens something" : "opens nothing");
    }
    if (g) {
        machine_trace_is(c->m, &g->witness, row->witness);
    }
}

uint64_t machine_actions(const il_model *m, const char *names) {
    uint64_t set = 0;
    for (const char *p = names; *p;) {
        size_t n = strcspn(p, " ");
        uint32_t a = il_model_action(m, (il_str){p, n});
        assert_int_not_equal(a, UINT32_MAX);
        set |= UINT64_C(1) << a;
        p += n + (p[n] == ' ');
    }
    return set;
}

void machine_sequence(const machine_case *c, const char *words, const char *reason) {
    il_machine *k = NULL;
    assert_int_equal(il_machine_open(&c->memory.alloc, c->h.table, c->h.certificate, &k, NULL), IL_OK);
    uint64_t state = il_machine_initial(k);
    const char *p = words;
    for (size_t n = machine_next(&p); n > 0;) {
        il_step s = il_machine_step(k, state, machine_symbol(c->m, p, n));
        const char *at = p;
        p += n;
        size_t more = machine_next(&p);
        if (more == 0 && reason) {
            assert_int_equal(s.verdict, IL_REJECT);
            assert_int_equal(s.next, state);
            il_str got = il_machine_reason(k, s.reason);
            if (!il_str_eq(got, il_str_of(reason))) {
                fail_msg("`%s`: the last step gives %.*s, not %s", words, IL_STR_ARG(got), reason);
            }
        } else if (s.verdict != IL_ACCEPT) {
            fail_msg("`%s`: `%.*s` is rejected as %.*s", words, (int)n, at, IL_STR_ARG(il_machine_reason(k, s.reason)));
        }
        state = s.next;
        n = more;
    }
    il_machine_free(k);
}

uint32_t machine_random_next(uint32_t *seed, uint32_t below) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

size_t machine_random(uint32_t *seed, char *out, size_t cap) {
    static const char *const atoms[] = {"pre.a == 0",   "pre.a > 0",    "pre.b",  "!pre.b",
                                        "pre.c == 'q'", "pre.c != 'p'", "call.k", "pre.a == 2 && pre.b"};
    static const char *const as[] = {"pre.a", "pre.a == 2 ? 0 : pre.a + 1", "0", "2"};
    static const char *const bs[] = {"pre.b", "!pre.b", "call.k", "pre.a == 1"};
    static const char *const cs[] = {"pre.c", "'q'", "pre.b ? 'r' : 'p'", "call.k ? 'q' : pre.c"};
    size_t n = (size_t)snprintf(out, cap,
                                "machine: random\nversion: 1\nvars: {a: {int: 0..2, overflow: reject}, b: bool, c: [p, q, r]}\n"
                                "actions:\n");
    for (uint32_t i = 0; i < 3; i++) {
        const char *a = as[machine_random_next(seed, 4)], *b = bs[machine_random_next(seed, 4)],
                   *c = cs[machine_random_next(seed, 4)];
        const char *one = atoms[machine_random_next(seed, 8)], *two = atoms[machine_random_next(seed, 8)];
        n += (size_t)snprintf(out + n, cap - n,
                              "  act%u: {principal: agent, call: {k: bool}, next: {a: \"%s\", b: \"%s\", c: \"%s\"},\n"
                              "    reject: [{as: nope, if: \"%s && (%s)\"}]}\n",
                              i, a, b, c, one, two);
    }
    return n + (size_t)snprintf(out + n, cap - n, "regions: {r: {never: \"pre.a == 1 && pre.b\"}}\ncontract: {rules: [nope]}\n");
}
