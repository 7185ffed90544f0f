/* SPDX-License-Identifier: Apache-2.0 */
/* Several sessions together: each verdict on at least two machines, witnesses with instance numbers, bounds, want of memory at every allocation, and
 * the product up to order against the plain product of ordered instances on random machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/fleet.h"
#include "helper_machine.h"

/* One lock for all: who takes it has a call in flight. */
#define LOCK(fleet)                                                                                           \
    "machine: lock\nversion: 1\n"                                                                             \
    "vars: {taken: bool, flight: bool, never: bool, over: bool}\n"                                            \
    "actions:\n"                                                                                              \
    "  take: {principal: agent, gate: true, next: {taken: \"true\", flight: \"true\"},\n"                     \
    "    reject: [{as: busy, if: \"pre.taken || pre.over\"}]}\n"                                              \
    "  give: {principal: runtime, gate: true, next: {taken: \"false\", flight: \"false\", over: \"true\"},\n" \
    "    reject: [{as: idle, if: \"!pre.flight\"}]}\n"                                                        \
    "regions: {both: {never: \"pre.flight && !pre.taken\"}}\n"                                                \
    "contract: {rules: [busy, idle]}\n"                                                                       \
    "fleet: " fleet "\n"

/* Names are claimed from a registry that all see, and given back by nobody. */
#define NAMES(guard, fleet)                                                                                                 \
    "machine: names\nversion: 1\n"                                                                                          \
    "vars: {id: [none, a, b, c], has_a: bool, has_b: bool, has_c: bool, gone: bool, none: bool}\n"                          \
    "actions:\n"                                                                                                            \
    "  claim: {principal: agent, gate: true, call: {id: [a, b, c]},\n"                                                      \
    "    next: {id: \"call.id\", has_a: \"pre.has_a || call.id == 'a'\", has_b: \"pre.has_b || call.id == 'b'\",\n"         \
    "      has_c: \"pre.has_c || call.id == 'c'\"},\n"                                                                      \
    "    reject: [{as: taken, if: \"" guard "\"}]}\n"                                                                       \
    "  leave: {principal: runtime, gate: true, next: {gone: \"true\"}, reject: [{as: nobody, if: \"pre.id == 'none'\"}]}\n" \
    "regions: {void: {never: \"pre.id == 'a' && !pre.has_a\"}}\n"                                                           \
    "contract: {rules: [taken, nobody]}\n"                                                                                  \
    "fleet: " fleet "\n"
#define NAMES_GUARD \
    "pre.id != 'none' || (call.id == 'a' && pre.has_a) || (call.id == 'b' && pre.has_b) || (call.id == 'c' && pre.has_c)"

typedef struct fleet_case {
    machine_case c;
    il_fleet_check check;
} fleet_case;

static void fleet_run(fleet_case *f, const char *text, uint32_t states) {
    machine_load_text(&f->c, text);
    if (f->c.status != IL_OK) {
        fail_msg("%u:%u: %s", (unsigned)f->c.err.line, (unsigned)f->c.err.col, f->c.err.msg);
    }
    const il_space_bounds bounds = {.states = states};
    assert_int_equal(il_fleet_run(&f->check, &f->c.memory.alloc, &f->c.arena, f->c.m, &bounds, &f->c.err), IL_OK);
}

/* The steps of a line: `1:take 2:take`, `+2{join…}` a start, `2>1` an answer, `2!` a renewal. */
static void fleet_witness_text(const fleet_case *f, const il_fleet_line *l, char *out, size_t cap) {
    size_t at = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < l->nsteps; i++) {
        static const char *const marks[] = {":", "!", "+", ">"};
        il_buf b;
        il_str s = {0};
        il_buf_init(&b, f->c.m->arena, 4096);
        if (l->steps[i].symbol != IL_NO_SYMBOL) {
            il_model_symbol_brief(f->c.m, l->steps[i].symbol, &b);
        }
        assert_int_equal(il_buf_done(&b, &s, NULL), IL_OK);
        at += (size_t)snprintf(out + at, cap - at, "%s%u%s%.*s", i ? " " : "", (unsigned)l->steps[i].instance,
                               marks[l->steps[i].move], (int)s.n, s.p);
    }
}

static void fleet_is(const fleet_case *f, const char *id, const char *name, il_check_verdict want, const char *finding,
                     const char *witness) {
    char text[1024] = "";
    for (uint32_t i = 0; i < f->check.nlines; i++) {
        const il_fleet_line *l = &f->check.lines[i];
        if (strcmp(l->id, id) != 0 || !il_str_eq(l->name, il_str_of(name))) {
            continue;
        }
        fleet_witness_text(f, l, text, sizeof text);
        if (l->verdict != want || strcmp(l->finding ? l->finding : "", finding) != 0 || strcmp(text, witness) != 0) {
            fail_msg("%s %s: %s %s `%s`", id, name, il_check_verdict_name(l->verdict), l->finding ? l->finding : "-", text);
        }
        return;
    }
    fail_msg("no line %s %s", id, name);
}

static void fleet_end(fleet_case *f, int exit) {
    assert_int_not_equal(f->check.controls[0].state, IL_CONTROL_BROKEN);
    assert_true(f->check.bound || f->check.controls[0].state == IL_CONTROL_FAILED_AS_IT_MUST);
    assert_int_equal(f->check.controls[1].state,
                     f->c.m->fleet->family && f->check.exit < 2 ? IL_CONTROL_FAILED_AS_IT_MUST : IL_CONTROL_NOT_NEEDED);
    assert_int_equal(f->check.exit, exit);
    machine_free(&f->c);
}

static void verdicts(void **state) {
    (void)state;
    fleet_case f;
    fleet_run(&f, LOCK("{instances: 3, shared: [taken], invariants: {one: {count: \"pre.flight\", most: 1}}}"), 0);
    fleet_is(&f, "fleet", "one", IL_CHECK_PASS, "", "");
    assert_int_equal(f.check.lines[0].peak, 1);
    assert_int_equal(f.check.local, 3); /* idle, in flight, over */
    fleet_end(&f, 0);

    fleet_run(&f,
              LOCK("{instances: 3, invariants: {one: {count: \"pre.flight\", most: 1}, two: {count: \"pre.flight\", most: 2}}}"),
              0);
    fleet_is(&f, "fleet", "one", IL_CHECK_FAIL, "FLEET_EXCEEDED", "1:take 2:take");
    fleet_is(&f, "fleet", "two", IL_CHECK_FAIL, "FLEET_EXCEEDED", "1:take 2:take 3:take");
    assert_int_equal(f.check.lines[1].ninstances, 3);
    fleet_end(&f, 1);

    fleet_run(&f,
              NAMES(NAMES_GUARD, "{instances: 3, shared: [has_a, has_b, has_c], invariants: {own: {unique: id, where: "
                                 "\"pre.id != 'none'\"}, few: {distinct: id, where: \"pre.id != 'none'\", most: 2}}}"),
              0);
    fleet_is(&f, "fleet", "own", IL_CHECK_PASS, "", "");
    fleet_is(&f, "fleet", "few", IL_CHECK_FAIL, "FLEET_EXCEEDED", "1:claim 2:claim{id=b} 3:claim{id=c}");
    fleet_end(&f, 1);

    fleet_run(&f,
              NAMES("pre.id != 'none'", "{instances: 2, shared: [has_a, has_b, has_c], invariants: {own: {unique: id, where: "
                                        "\"pre.id != 'none'\"}}}"),
              0);
    fleet_is(&f, "fleet", "own", IL_CHECK_FAIL, "FLEET_EXCEEDED", "1:claim 2:claim");
    fleet_end(&f, 1);

    fleet_run(&f,
              NAMES(NAMES_GUARD, "{instances: 4, shared: [has_a, has_b, has_c], invariants: {few: {distinct: id, most: 3, where: "
                                 "\"pre.id != 'none'\"}}}"),
              0);
    fleet_is(&f, "fleet", "few", IL_CHECK_PASS, "", "");
    fleet_end(&f, 0);
}

static void vacuous(void **state) {
    (void)state;
    fleet_case f;
    fleet_run(&f, LOCK("{instances: 2, invariants: {none: {count: \"pre.never\", most: 1}}}"), 0);
    fleet_is(&f, "fleet", "none", IL_CHECK_VACUOUS, "NEVER_COUNTED", "");
    fleet_end(&f, 2);
    /* one at a time: no two ever have a name to compare */
    fleet_run(&f,
              NAMES("pre.id != 'none' || pre.has_a || pre.has_b || pre.has_c",
                    "{instances: 2, shared: [has_a, has_b, has_c], invariants: {own: {unique: id, where: "
                    "\"pre.id != 'none'\"}}}"),
              0);
    fleet_is(&f, "fleet", "own", IL_CHECK_VACUOUS, "NEVER_COUNTED", "");
    assert_int_equal(f.check.lines[0].peak, 1);
    fleet_end(&f, 2);
}

/* A session that is over makes room: what is shared outlives it. */
static void renewal(void **state) {
    (void)state;
    fleet_case f;
    fleet_run(&f,
              NAMES(NAMES_GUARD, "{instances: 2, shared: [has_a, has_b, has_c], renew: \"pre.gone\", invariants: {c: {count: "
                                 "\"pre.id == 'c' && pre.has_a && pre.has_b && !pre.gone\", most: 1}}}"),
              0);
    fleet_is(&f, "fleet", "c", IL_CHECK_PASS, "", "");
    assert_int_equal(f.check.lines[0].peak, 1); /* the third name is reached by two instances only with a renewal */
    fleet_end(&f, 0);
    fleet_run(&f,
              NAMES(NAMES_GUARD, "{instances: 2, shared: [has_a, has_b, has_c], invariants: {c: {count: "
                                 "\"pre.id == 'c' && pre.has_a && pre.has_b && !pre.gone\", most: 1}}}"),
              0);
    fleet_is(&f, "fleet", "c", IL_CHECK_VACUOUS, "NEVER_COUNTED", "");
    fleet_end(&f, 2);
    fleet_run(&f,
              NAMES("pre.id != 'none'",
                    "{instances: 2, renew: \"pre.gone\", shared: [has_a], invariants: {two: {count: \"pre.has_a "
                    "&& pre.id == 'b' && !pre.gone\", most: 1}}}"),
              0);
    fleet_is(&f, "fleet", "two", IL_CHECK_FAIL, "FLEET_EXCEEDED", "1:claim 2:claim{id=b} 1:leave 1! 1:claim{id=b}");
    fleet_end(&f, 1);
}

static void bounds(void **state) {
    (void)state;
    fleet_case f;
    fleet_run(&f, LOCK("{instances: 3, shared: [taken], invariants: {one: {count: \"pre.flight\", most: 1}}}"), 3);
    fleet_is(&f, "fleet", "one", IL_CHECK_INCONCLUSIVE, "", "");
    assert_string_equal(f.check.bound, "limit");
    fleet_end(&f, 2);
    /* a finding is one however little was explored */
    fleet_run(&f, LOCK("{instances: 3, invariants: {one: {count: \"pre.flight\", most: 1}}}"), 4);
    fleet_is(&f, "fleet", "one", IL_CHECK_FAIL, "FLEET_EXCEEDED", "1:take 2:take");
    fleet_end(&f, 1);
    /* eight instances leave eight bits for each */
    fleet_run(&f,
              "machine: wide\nversion: 1\nvars: {at: {int: 0..300, overflow: reject}, b: bool}\n"
              "actions:\n  go: {principal: agent, gate: true, call: {to: {int: 0..300}}, next: {at: \"call.to\"},\n"
              "    reject: [{as: here, if: \"pre.at != 0\"}]}\n"
              "regions: {b: {never: \"pre.b\"}}\ncontract: {rules: [here]}\n"
              "fleet: {instances: 8, invariants: {far: {count: \"pre.at > 7\", most: 7}}}\n",
              500);
    fleet_is(&f, "fleet", "far", IL_CHECK_INCONCLUSIVE, "", "");
    assert_string_equal(f.check.bound, "width");
    fleet_end(&f, 2);
}

/* The shipped machine as a family: what a child gets and gives. */
static void fleet_trifecta(fleet_case *f, const machine_edit *edits, const char *fleet) {
    char text[1 << 14];
    machine_case from;
    machine_load(&from, MACHINE_TRIFECTA, edits);
    (void)snprintf(text, sizeof text, "%.*s\nfleet: %s\n", (int)from.text.n, from.text.p, fleet);
    machine_free(&from);
    fleet_run(f, text, 0);
}

static void families(void **state) {
    (void)state;
    fleet_case f;
    fleet_trifecta(&f, NULL, "{instances: 2, family: {together: [lethal-trifecta]}}");
    fleet_is(&f, "family-start", "", IL_CHECK_PASS, "", "");
    fleet_is(&f, "family-answer", "", IL_CHECK_PASS, "", "");
    /* a child that began clean and its parent hold together what neither may hold: only the join keeps them apart */
    fleet_is(&f, "family-together", "lethal-trifecta", IL_CHECK_FAIL, "REACHED",
             "2+ 1:admit{egress=once} 2:admit{untrusted,sensitive}");
    fleet_end(&f, 1);

    const machine_edit forgets[] = {
        {"      sensitive: \"call.sensitive ? 'held' : pre.sensitive\"\n      flight: \"pre.flight || call.flight\"\n",
         "      flight: \"pre.flight || call.flight\"\n"},
        {0}};
    fleet_trifecta(&f, forgets, "{instances: 2, family: {}}");
    fleet_is(&f, "family-start", "", IL_CHECK_FAIL, "EFFECT_LOST", "1:admit{sensitive} 2+join{sensitive}");
    fleet_is(&f, "family-answer", "", IL_CHECK_FAIL, "EFFECT_LOST", "2+ 2:admit{sensitive} 2>join{sensitive}");
    assert_true(il_str_eq(f.check.lines[0].detail, IL_STR("sensitive")));
    fleet_end(&f, 1);

    const machine_edit closed[] = {{"      open: \"pre.open || call.open\"\n", ""}, {0}};
    fleet_trifecta(&f, closed, "{instances: 2, family: {}}");
    fleet_is(&f, "family-start", "", IL_CHECK_FAIL, "EFFECT_LOST", "1:admit{egress=standing} 2+join{open}");
    fleet_end(&f, 1);

    fleet_run(&f,
              "machine: still\nversion: 1\nvars: {seen: bool, more: bool}\n"
              "actions:\n  join: {principal: runtime, gate: true, call: {seen: bool}, next: {seen: \"pre.seen\"},\n"
              "    reject: [{as: not-now, if: \"pre.more\"}]}\n"
              "  go: {principal: agent, gate: true, next: {more: \"true\"}, reject: [{as: not-now, if: \"pre.more\"}]}\n"
              "regions: {b: {never: \"pre.seen && pre.more\"}}\ncontract: {rules: [not-now]}\n"
              "fleet: {instances: 3, family: {}}\n",
              0);
    fleet_is(&f, "family-start", "", IL_CHECK_VACUOUS, "NOTHING_CARRIED", "");
    fleet_is(&f, "family-answer", "", IL_CHECK_VACUOUS, "NOTHING_CARRIED", "");
    fleet_end(&f, 2);
}

/* Three in a family of a machine that says what it holds: the parent's children are alike. */
static void siblings(void **state) {
    (void)state;
    fleet_case f;
    fleet_run(&f,
              "machine: talk\nversion: 1\nvars: {seen: bool, out: bool}\n"
              "actions:\n  see: {principal: agent, gate: true, next: {seen: \"true\"}, reject: [{as: leak, if: \"pre.out\"}]}\n"
              "  send: {principal: agent, gate: true, next: {out: \"true\"}, reject: [{as: leak, if: \"pre.seen\"}]}\n"
              "  join: {principal: runtime, gate: true, call: {seen: bool, out: bool},\n"
              "    next: {seen: \"pre.seen || call.seen\", out: \"pre.out || call.out\"}, reject: [{as: leak, if: \"next.seen && "
              "next.out\"}]}\n"
              "regions: {leak: {never: \"pre.seen && pre.out\"}}\ncontract: {rules: [leak]}\n"
              "fleet: {instances: 3, family: {together: [leak]}, invariants: {out: {count: \"pre.out\", most: 2}}}\n",
              0);
    fleet_is(&f, "family-start", "", IL_CHECK_PASS, "", "");
    fleet_is(&f, "family-answer", "", IL_CHECK_PASS, "", "");
    fleet_is(&f, "family-together", "leak", IL_CHECK_FAIL, "REACHED", "2+ 1:see 2:send");
    fleet_is(&f, "fleet", "out", IL_CHECK_FAIL, "FLEET_EXCEEDED", "1:send 2+join{out} 3+join{out}");
    fleet_end(&f, 1);
}

/* What a join writes into a shared variable is there for the next one: two may carry, and no third. */
static void shared_joins(void **state) {
    (void)state;
    fleet_case f;
    fleet_run(&f,
              "machine: seats\nversion: 1\nvars: {seen: bool, kid: bool, taken: {int: 0..2, overflow: reject}}\n"
              "actions:\n"
              "  see: {principal: agent, gate: true, next: {seen: \"true\"}, reject: [{as: full, if: \"pre.seen\"}]}\n"
              "  join: {principal: runtime, gate: true, call: {seen: bool},\n"
              "    next: {seen: \"pre.seen || call.seen\", kid: \"true\", taken: \"pre.taken + 1\"},\n"
              "    reject: [{as: full, if: \"pre.taken == 2\"}]}\n"
              "regions: {r: {never: \"pre.taken == 0 && pre.kid\"}}\ncontract: {rules: [full]}\n"
              "fleet: {instances: 4, shared: [taken], family: {}, invariants: {kids: {count: \"pre.kid\", most: 2}}}\n",
              0);
    fleet_is(&f, "fleet", "kids", IL_CHECK_PASS, "", "");
    assert_int_equal(f.check.lines[0].peak, 2);
    fleet_end(&f, 0);
}

/* ---- random machines against the plain product --------------------------------------------------- */

#define BRUTE_MAX 40000
#define BRUTE_INSTANCES 3

typedef struct brute_state {
    uint64_t at[BRUTE_INSTANCES];
} brute_state;

static void random_fleet(uint32_t seed, char *out, size_t cap) {
    static const char *const shared[] = {"", "shared: [a], ", "shared: [b], ", "shared: [c], "};
    const size_t n = machine_random(&seed, out, cap);
    const uint32_t which = machine_random_next(&seed, 4);
    (void)snprintf(out + n, cap - n,
                   "fleet: {instances: 3, %s%sinvariants: {cn: {count: \"%s\", most: %u}, u: {unique: %s, where: \"pre.b\"}, "
                   "d: {distinct: %s, most: 2}}}\n",
                   shared[which], machine_random_next(&seed, 3) ? "" : "renew: \"pre.a == 2\", ",
                   machine_random_next(&seed, 2) ? "pre.b" : "pre.a == 2", machine_random_next(&seed, 2) + 1,
                   which == 1 ? "c" : "a", which == 3 ? "a" : "c");
}

static bool brute_add(brute_state *all, uint32_t *depth, uint32_t *n, const brute_state *s, uint32_t d) {
    static uint32_t index[1 << 17];
    if (!s) {
        memset(index, 0, sizeof index);
        return false;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < BRUTE_INSTANCES; i++) {
        at = (at + (uint32_t)s->at[i]) * 2654435761u;
    }
    for (at >>= 15; index[at]; at = (at + 1) & 0x1ffff) {
        if (memcmp(&all[index[at] - 1], s, sizeof *s) == 0) {
            return false;
        }
    }
    assert_true(*n < BRUTE_MAX);
    all[*n] = *s;
    depth[*n] = d;
    index[at] = ++*n;
    return true;
}

static bool brute_broken(const il_model *m, const il_fleet_invariant *v, const brute_state *s, uint32_t *peak) {
    uint32_t n = 0, pairs = 0, values = 0, seen = 0;
    for (uint32_t i = 0; i < BRUTE_INSTANCES; i++) {
        if (!il_fleet_counts(m, v, s->at[i])) {
            continue;
        }
        const uint32_t value = v->kind == IL_FLEET_COUNT ? 0 : il_model_get(m, s->at[i], v->var);
        pairs += seen >> value & 1;
        values += !(seen >> value & 1);
        seen |= 1u << value;
        n++;
    }
    *peak = n > *peak ? n : *peak;
    return v->kind == IL_FLEET_COUNT ? n > v->most : v->kind == IL_FLEET_UNIQUE ? pairs > 0 : values > v->most;
}

static bool brute_sorted(const il_model *m, const brute_state *s) {
    uint64_t shared = 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        shared |= m->fleet->shared >> v & 1 ? ((UINT64_C(1) << m->vars[v].bits) - 1) << m->vars[v].shift : 0;
    }
    return (s->at[0] & ~shared) <= (s->at[1] & ~shared) && (s->at[1] & ~shared) <= (s->at[2] & ~shared);
}

/* Every ordered state, one instance's step at a time. The reachable set is closed under exchange of instances, so the sorted ones are its orbits. */
static void brute(uint32_t seed, const fleet_case *f, size_t seen[3]) {
    static brute_state all[BRUTE_MAX];
    static uint32_t depth[BRUTE_MAX];
    const il_model *m = f->c.m;
    uint32_t n = 0, orbits = 0, first[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, peak[3] = {0};
    uint64_t mask = 0;
    for (uint32_t v = 0; v < m->nvars; v++) {
        mask |= m->fleet->shared >> v & 1 ? ((UINT64_C(1) << m->vars[v].bits) - 1) << m->vars[v].shift : 0;
    }
    (void)brute_add(all, depth, &n, NULL, 0);
    (void)brute_add(all, depth, &n, &(brute_state){{m->initial, m->initial, m->initial}}, 0);
    for (uint32_t i = 0; i < n; i++) {
        orbits += brute_sorted(m, &all[i]);
        for (uint32_t k = 0; k < 3; k++) {
            if (brute_broken(m, &m->fleet->invariants[k], &all[i], &peak[k]) && first[k] == UINT32_MAX) {
                first[k] = depth[i];
            }
        }
        for (uint32_t who = 0; who < BRUTE_INSTANCES; who++) {
            for (uint32_t symbol = 0; symbol <= m->nsymbols; symbol++) {
                const il_eval e = il_model_eval(m, NULL, all[i].at[who], symbol);
                const bool renews = symbol == m->nsymbols && il_fleet_renews(m, m->fleet, all[i].at[who]);
                if (e.step.verdict != IL_ACCEPT && !renews) {
                    continue;
                }
                brute_state to = all[i];
                to.at[who] = renews ? (m->initial & ~mask) | (to.at[who] & mask) : e.step.next;
                for (uint32_t other = 0; other < BRUTE_INSTANCES; other++) {
                    to.at[other] = (to.at[other] & ~mask) | (to.at[who] & mask);
                }
                (void)brute_add(all, depth, &n, &to, depth[i] + 1);
            }
        }
    }
    if (f->check.states != orbits) {
        fail_msg("seed %u: %u states, %u orbits of %u", seed, f->check.states, orbits, n);
    }
    for (uint32_t k = 0; k < 3; k++) {
        const il_fleet_line *l = &f->check.lines[k];
        const bool exercised = m->fleet->invariants[k].kind == IL_FLEET_UNIQUE ? peak[k] > 1 : peak[k] > 0;
        const il_check_verdict want = first[k] != UINT32_MAX ? IL_CHECK_FAIL : exercised ? IL_CHECK_PASS : IL_CHECK_VACUOUS;
        if (l->verdict != want || l->peak != peak[k] || (want == IL_CHECK_FAIL && l->nsteps != first[k])) {
            fail_msg("seed %u %.*s: %s after %u, peak %u; brute %s after %u, peak %u", seed, (int)l->name.n, l->name.p,
                     il_check_verdict_name(l->verdict), l->nsteps, l->peak, il_check_verdict_name(want), first[k], peak[k]);
        }
        seen[want == IL_CHECK_FAIL ? 0 : want == IL_CHECK_PASS ? 1 : 2]++;
    }
}

static void randoms(void **state) {
    (void)state;
    size_t seen[3] = {0};
    for (uint32_t seed = 1; seed <= 150; seed++) {
        char text[2048];
        fleet_case f;
        random_fleet(seed * 7919u, text, sizeof text);
        fleet_run(&f, text, 0);
        brute(seed, &f, seen);
        machine_free(&f.c);
    }
    print_message("%zu exceeded, %zu passed, %zu vacuous\n", seen[0], seen[1], seen[2]);
    assert_true(seen[0] > 20 && seen[1] > 20 && seen[2] > 5);
}

/* ---- random families ------------------------------------------------------------------------------ */

#define UNBORN UINT64_MAX

static void random_family(uint32_t seed, char *out, size_t cap) {
    static const char *const as[] = {"call.a > pre.a ? call.a : pre.a", "call.a", "pre.a"};
    static const char *const bs[] = {"pre.b || call.b", "call.b", "pre.b"};
    static const char *const atoms[] = {"false", "next.a == 2 && next.b", "pre.c == 'q'", "call.a == 1 && !pre.b"};
    char base[2048];
    (void)machine_random(&seed, base, sizeof base);
    const char *regions = strstr(base, "regions:");
    const uint32_t a = machine_random_next(&seed, 4), b = machine_random_next(&seed, 4), atom = machine_random_next(&seed, 4);
    const size_t n =
        (size_t)snprintf(out, cap,
                         "%.*s  join: {principal: runtime, call: {a: {int: 0..2}, b: bool}, next: {a: \"%s\", b: \"%s\"},\n"
                         "    reject: [{as: nope, if: \"%s\"}]}\n%s",
                         (int)(regions - base), base, as[a % 3], bs[b % 3], atoms[atom], regions);
    (void)snprintf(out + n, cap - n, "fleet: {instances: 3, %sfamily: {together: [r]}}\n",
                   machine_random_next(&seed, 3) ? "" : "renew: \"pre.c == 'r'\", ");
}

/* The parent stands first; a child that has not begun is UNBORN. */
static void brute_family(uint32_t seed, const fleet_case *f, size_t seen[2]) {
    static brute_state all[BRUTE_MAX];
    static uint32_t depth[BRUTE_MAX];
    const il_model *m = f->c.m;
    const il_family *family = m->fleet->family;
    uint32_t n = 0, orbits = 0, lost[2] = {UINT32_MAX, UINT32_MAX}, together = UINT32_MAX;
    (void)brute_add(all, depth, &n, NULL, 0);
    (void)brute_add(all, depth, &n, &(brute_state){{m->initial, UNBORN, UNBORN}}, 0);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t whole = all[i].at[0];
        orbits += all[i].at[1] <= all[i].at[2];
        for (uint32_t who = 1; who < BRUTE_INSTANCES; who++) {
            for (uint32_t v = 0; all[i].at[who] != UNBORN && v < 2; v++) { /* a and b are carried */
                const uint32_t value = il_model_get(m, all[i].at[who], v);
                whole = value > il_model_get(m, whole, v) ? il_model_set(m, whole, v, value) : whole;
            }
        }
        together = together == UINT32_MAX && il_model_in_region(m, 0, whole, 0, whole) ? depth[i] : together;
        for (uint32_t who = 0; who < BRUTE_INSTANCES; who++) {
            for (uint32_t move = 0; move < m->nsymbols + 3; move++) { /* its own symbols; renewal, start, answer */
                brute_state to = all[i];
                const bool start = move == m->nsymbols + 1, answer = move == m->nsymbols + 2;
                if ((to.at[who] == UNBORN) != start || (who == 0 && move >= m->nsymbols)) {
                    continue;
                }
                if (move < m->nsymbols) {
                    const il_step step = il_model_eval(m, NULL, to.at[who], move).step;
                    if (step.verdict != IL_ACCEPT) {
                        continue;
                    }
                    to.at[who] = step.next;
                } else if (move == m->nsymbols) {
                    if (!il_fleet_renews(m, m->fleet, to.at[who])) {
                        continue;
                    }
                    to.at[who] = UNBORN;
                } else {
                    const uint64_t giver = to.at[answer ? who : 0], taker = answer ? to.at[0] : m->initial;
                    uint64_t after = taker;
                    if (il_model_get(m, giver, 0) || il_model_get(m, giver, 1)) {
                        const uint32_t symbol =
                            m->actions[family->action].first_symbol + 2 * il_model_get(m, giver, 0) + il_model_get(m, giver, 1);
                        const il_step step = il_model_eval(m, NULL, taker, symbol).step;
                        if (step.verdict != IL_ACCEPT) {
                            continue;
                        }
                        after = step.next;
                    }
                    const bool loses = il_model_get(m, after, 0) < il_model_get(m, giver, 0) ||
                                       il_model_get(m, after, 1) < il_model_get(m, giver, 1);
                    lost[answer] = loses && lost[answer] == UINT32_MAX ? depth[i] + 1 : lost[answer];
                    to.at[answer ? 0 : who] = after;
                }
                (void)brute_add(all, depth, &n, &to, depth[i] + 1);
            }
        }
    }
    const uint32_t want[3] = {lost[0], lost[1], together};
    if (f->check.states != orbits) {
        fail_msg("seed %u: %u states, %u orbits of %u", seed, f->check.states, orbits, n);
    }
    for (uint32_t k = 0; k < 3; k++) {
        const il_fleet_line *l = &f->check.lines[k];
        if ((l->verdict == IL_CHECK_FAIL) != (want[k] != UINT32_MAX) || (l->verdict == IL_CHECK_FAIL && l->nsteps != want[k])) {
            fail_msg("seed %u %s: %s after %u, not %d", seed, l->id, il_check_verdict_name(l->verdict), l->nsteps, (int)want[k]);
        }
        seen[want[k] == UINT32_MAX]++;
    }
}

static void random_families(void **state) {
    (void)state;
    size_t seen[2] = {0};
    for (uint32_t seed = 1; seed <= 120; seed++) {
        char text[4096];
        fleet_case f;
        random_family(seed * 104729u, text, sizeof text);
        fleet_run(&f, text, 0);
        brute_family(seed, &f, seen);
        machine_free(&f.c);
    }
    print_message("%zu found, %zu not\n", seen[0], seen[1]);
    assert_true(seen[0] > 20 && seen[1] > 20);
}

/* Whatever allocation fails, the run says so and leaves nothing behind. */
static void memory(void **state) {
    (void)state;
    size_t needed = 0;
    for (size_t left = 0; left <= needed; left++) {
        machine_case c;
        il_fleet_check check;
        il_arena results;
        test_memory m;
        machine_load_text(&c, LOCK("{instances: 3, invariants: {one: {count: \"pre.flight\", most: 1}}}"));
        test_memory_init(&m, left ? left - 1 : SIZE_MAX);
        il_arena_init(&results, &m.alloc, (size_t)1 << 30);
        const il_status status = il_fleet_run(&check, &m.alloc, &results, c.m, NULL, &c.err);
        assert_int_equal(status, left ? IL_E_MEMORY : IL_OK);
        needed = left ? needed : m.calls;
        il_arena_free(&results);
        assert_int_equal(m.live, 0);
        machine_free(&c);
    }
    assert_true(needed > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),        cmocka_unit_test(vacuous),  cmocka_unit_test(renewal), cmocka_unit_test(bounds),
        cmocka_unit_test(families),        cmocka_unit_test(siblings), cmocka_unit_test(randoms), cmocka_unit_test(shared_joins),
        cmocka_unit_test(random_families), cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
