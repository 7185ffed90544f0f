/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/bind.h"

#include "base/str.h"

static il_symbol_words il_bind_words(uint32_t taints) {
    return (il_symbol_words){
        .untrusted = (taints & (uint32_t)IL_UNTRUSTED) != 0,
        .sensitive = (taints & (uint32_t)(IL_SENSITIVE | IL_SECRET)) != 0,
        .secret = (taints & (uint32_t)IL_SECRET) != 0,
    };
}

static uint32_t il_bind_find_admit(const il_bind *b, uint32_t effects, il_sink_word sink, bool approved) {
    il_symbol_words w = il_bind_words(effects);
    w.egress = sink;
    w.commit = (effects & (uint32_t)IL_COMMIT) != 0;
    w.approved = approved;
    return il_machine_words_symbol(b->machine, IL_STR("admit"), &w);
}

static uint32_t il_bind_find_settle(const il_bind *b, uint32_t taints, uint8_t last) {
    il_symbol_words w = il_bind_words(taints);
    w.last = last;
    return il_machine_words_symbol(b->machine, IL_STR("settle"), &w);
}

static void il_bind_symbols(il_bind *b) {
    for (uint32_t effects = 0; effects < (1u << IL_EFFECTS); effects++) {
        for (uint32_t k = 0; k < 6; k++) {
            b->admits[effects][k / 2][k % 2] = il_bind_find_admit(b, effects, (il_sink_word)(k / 2), k % 2 == 1);
        }
    }
    for (uint32_t taints = 0; taints <= IL_TAINTS; taints++) {
        for (uint8_t last = 0; last < 3; last++) {
            b->settles[taints][last] = il_bind_find_settle(b, taints, last);
        }
    }
}

uint32_t il_bind_admit(const il_bind *b, uint32_t effects, il_sink_word sink, bool approved) {
    return effects < (1u << IL_EFFECTS) && sink <= IL_SINK_STANDING ? b->admits[effects][sink][approved ? 1 : 0] : IL_NO_SYMBOL;
}

uint32_t il_bind_settle(const il_bind *b, uint32_t taints, uint8_t last) {
    return taints <= IL_TAINTS && last < 3 ? b->settles[taints][last] : IL_NO_SYMBOL;
}

uint32_t il_bind_refine(const il_bind *b, uint32_t taints) {
    /* here each taint is named by itself: a secret may be refined and what is sensitive beside it may not */
    il_symbol_words w = {
        .untrusted = (taints & (uint32_t)IL_UNTRUSTED) != 0,
        .sensitive = (taints & (uint32_t)IL_SENSITIVE) != 0,
        .secret = (taints & (uint32_t)IL_SECRET) != 0,
    };
    return il_machine_words_symbol(b->machine, IL_STR("refine"), &w);
}

uint32_t il_bind_join(const il_bind *b, uint32_t taints, uint8_t flight, uint8_t open) {
    il_symbol_words w = il_bind_words(taints);
    w.flight = flight;
    w.open = open;
    return il_machine_words_symbol(b->machine, IL_STR("join"), &w);
}

uint32_t il_bind_lapse(const il_bind *b, bool granted) {
    il_symbol_words w = {.slot = granted ? 1 : 0};
    return il_machine_words_symbol(b->machine, IL_STR("lapse"), &w);
}

uint32_t il_bind_plain(const il_bind *b, const char *action) {
    il_symbol_words w = {0};
    return il_machine_words_symbol(b->machine, il_str_of(action), &w);
}

/* What of a group is not there: how much, and the first of it for the message. */
typedef struct il_bind_gap {
    uint32_t missing, all;
    char first[120];
} il_bind_gap;

/* Counts one symbol that the monitor may need; true when it is the first that is missing, which the caller then names. */
static bool il_bind_lacks(il_bind_gap *g, uint32_t symbol) {
    g->all++;
    g->missing += symbol == IL_NO_SYMBOL ? 1u : 0u;
    return symbol == IL_NO_SYMBOL && g->missing == 1;
}

/* `admit{untrusted,egress=once}`: what is set, as the reports of `harden` write it. */
static void il_bind_name(il_bind_gap *g, const char *action, uint32_t taints, const char *more) {
    size_t n = il_format(g->first, sizeof g->first, "%s{", action);
    const char *comma = "";
    for (uint32_t i = 0; i < IL_EFFECTS; i++) {
        if ((taints & (1u << i)) != 0) {
            n += il_format(g->first + n, sizeof g->first - n, "%s%.*s", comma, IL_STR_ARG(il_effect_name(1u << i)));
            comma = ",";
        }
    }
    (void)il_format(g->first + n, sizeof g->first - n, "%s%s}", more[0] ? comma : "", more);
}

static void il_bind_gap_admit(const il_bind *b, bool approved, il_bind_gap *g) {
    static const char *const sinks[2][3] = {{"", "egress=once", "egress=standing"},
                                            {"approved", "egress=once,approved", "egress=standing,approved"}};
    for (uint32_t effects = 0; effects < (1u << IL_EFFECTS); effects++) {
        for (int sink = IL_SINK_NONE; sink <= IL_SINK_STANDING; sink++) {
            if (il_bind_lacks(g, il_bind_admit(b, effects, (il_sink_word)sink, approved))) {
                il_bind_name(g, "admit", effects & ~(uint32_t)IL_EGRESS, sinks[approved ? 1 : 0][sink]);
            }
        }
    }
}

static void il_bind_gap_settle(const il_bind *b, il_bind_gap *g) {
    static const char *const lasts[] = {"last=none", "last=egress", "last=crossing"};
    for (uint32_t taints = 0; taints <= IL_TAINTS; taints++) {
        for (uint8_t last = 0; last <= 2; last++) {
            if (il_bind_lacks(g, il_bind_settle(b, taints, last))) {
                il_bind_name(g, "settle", taints, lasts[last]);
            }
        }
    }
}

static void il_bind_gap_refine(const il_bind *b, il_bind_gap *g) {
    for (uint32_t bit = 1; bit <= (uint32_t)IL_SECRET; bit <<= 1) {
        if (il_bind_lacks(g, il_bind_refine(b, bit))) {
            il_bind_name(g, "refine", bit, "");
        }
    }
}

static void il_bind_gap_join(const il_bind *b, il_bind_gap *g) {
    static const char *const flights[] = {"", "flight=bound", "flight"}, *const opens[] = {"", "open=bound", "open"};
    for (uint32_t taints = 0; taints <= IL_TAINTS; taints++) {
        for (uint8_t k = 0; k < 9; k++) {
            if (il_bind_lacks(g, il_bind_join(b, taints, k % 3, k / 3))) {
                char more[32];
                (void)il_format(more, sizeof more, "%s%s%s", flights[k % 3], k % 3 != 0 && k / 3 != 0 ? "," : "", opens[k / 3]);
                il_bind_name(g, "join", taints, more);
            }
        }
    }
}

static void il_bind_gap_plain(il_bind_gap *g, uint32_t symbol, const char *text) {
    if (il_bind_lacks(g, symbol)) {
        (void)il_format(g->first, sizeof g->first, "%s", text);
    }
}

static void il_bind_gap_approvals(const il_bind *b, il_bind_gap *g) {
    static const char *const plain[] = {"request", "approve", "refuse"};
    il_bind_gap_admit(b, true, g);
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        il_bind_gap_plain(g, il_bind_plain(b, plain[i]), plain[i]);
    }
    il_bind_gap_plain(g, il_bind_lapse(b, false), "lapse{slot=asked}");
    il_bind_gap_plain(g, il_bind_lapse(b, true), "lapse{slot=granted}");
}

/* Without these no session could be kept. */
static il_status il_bind_needed(const il_bind *b, il_error *err) {
    il_bind_gap g = {0};
    il_bind_gap_admit(b, false, &g);
    il_bind_gap_settle(b, &g);
    il_bind_gap_plain(&g, il_bind_plain(b, "quarantine"), "quarantine");
    il_bind_gap_plain(&g, il_bind_plain(b, "end"), "end");
    return g.missing == 0 ? IL_OK
                          : il_error_set(err, IL_E_INVALID,
                                         "this machine cannot say `%s`, which a session may need (%u such symbols are missing)",
                                         g.first, g.missing);
}

/* A group may be there or not; there in part it would fail in the middle of a session. */
static il_status il_bind_group(const il_bind_gap *g, const char *what, bool *has, il_error *err) {
    *has = g->missing == 0;
    if (g->missing != 0 && g->missing != g->all) {
        return il_error_set(err, IL_E_INVALID, "this machine cannot say `%s`; %s", g->first, what);
    }
    return IL_OK;
}

static il_status il_bind_variables(il_bind *b, il_error *err) {
    static const char *const names[] = {"untrusted", "sensitive", "flight", "open",   "phase",
                                        "secret",    "crossing",  "asked",  "granted"};
    uint32_t *places[] = {&b->untrusted, &b->sensitive, &b->flight, &b->open,   &b->phase,
                          &b->secret,    &b->crossing,  &b->asked,  &b->granted};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        *places[i] = il_machine_var_find(b->machine, il_str_of(names[i]));
        if (i < 5 && *places[i] == UINT32_MAX) {
            return il_error_set(err, IL_E_INVALID, "this machine has no variable `%s`, so no session can be kept with it",
                                names[i]);
        }
    }
    return IL_OK;
}

static uint32_t il_bind_values(const il_bind *b, uint32_t var) {
    uint32_t n = 0;
    while (var != UINT32_MAX && n <= IL_BIND_SLOTS_MAX + 1 && il_machine_value_name(b->machine, var, n).n > 0) {
        n++;
    }
    return n;
}

/* The word is one of the phase's, and a session in that phase admits nothing: whatever the machine's regions say, an ended session stays ended. */
static il_status il_bind_phase_check(const il_bind *b, const char *word, il_error *err) {
    bool known = false;
    for (uint32_t v = 0; il_machine_value_name(b->machine, b->phase, v).n > 0; v++) {
        known = known || il_str_eq(il_machine_value_name(b->machine, b->phase, v), il_str_of(word));
    }
    if (!known) {
        return il_error_set(err, IL_E_INVALID, "this machine's `phase` has no word `%s`, so no session can be kept with it",
                            word);
    }
    uint32_t symbols[(1u << IL_EFFECTS) * 6];
    for (uint32_t k = 0; k < sizeof symbols / sizeof symbols[0]; k++) {
        symbols[k] = il_bind_admit(b, k / 6, (il_sink_word)(k % 3), k % 6 >= 3);
    }
    for (uint32_t i = 0; i < il_machine_states(b->machine); i++) {
        uint64_t state = il_machine_state(b->machine, i);
        bool phase = il_bind_phase(b, state, word);
        for (uint32_t k = 0; phase && k < sizeof symbols / sizeof symbols[0]; k++) {
            if (il_machine_step(b->machine, state, symbols[k]).verdict == IL_ACCEPT) {
                return il_error_set(err, IL_E_INVALID,
                                    "this machine admits a call in a session that is %s; mark `admit` as `live: true`", word);
            }
        }
    }
    return IL_OK;
}

il_status il_bind_open(const il_machine *machine, il_bind *out, il_error *err) {
    *out = (il_bind){.machine = machine};
    il_bind_symbols(out);
    IL_TRY(il_bind_variables(out, err));
    IL_TRY(il_bind_needed(out, err));
    IL_TRY(il_bind_phase_check(out, "quarantined", err));
    IL_TRY(il_bind_phase_check(out, "ended", err));
    il_bind_gap refines = {0}, joins = {0}, approvals = {0};
    il_bind_gap_refine(out, &refines);
    IL_TRY(il_bind_group(&refines, "declare every `refine`, or none", &out->refines, err));
    il_bind_gap_join(out, &joins);
    IL_TRY(il_bind_group(&joins, "declare every `join`, or none", &out->joins, err));
    il_bind_gap_approvals(out, &approvals);
    IL_TRY(
        il_bind_group(&approvals,
                      "declare approvals in full (`approved` of `admit`, `request`, `approve`, `refuse`, `lapse`) or leave them "
                      "all out",
                      &out->approves, err));
    uint32_t asked = il_bind_values(out, out->asked), granted = il_bind_values(out, out->granted);
    if (asked > IL_BIND_SLOTS_MAX + 1 || granted > IL_BIND_SLOTS_MAX + 1) {
        return il_error_set(err, IL_E_INVALID, "this machine counts more than %u approvals", IL_BIND_SLOTS_MAX);
    }
    if (out->approves && (asked < 2 || granted < 2 || out->crossing == UINT32_MAX)) {
        return il_error_set(err, IL_E_INVALID,
                            "this machine has approvals but no `asked`, `granted` and `crossing` to count them in");
    }
    out->slots = out->approves ? (asked > granted ? asked : granted) - 1 : 0;
    return IL_OK;
}

static il_str il_bind_value(const il_bind *b, uint64_t state, uint32_t var) {
    return il_machine_value_name(b->machine, var, il_machine_value(b->machine, state, var));
}

static uint32_t il_bind_taints(const il_bind *b, uint64_t state, bool fresh) {
    const uint32_t vars[] = {b->untrusted, b->sensitive, b->secret};
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 3; i++) {
        if (vars[i] != UINT32_MAX && il_machine_value(b->machine, state, vars[i]) != 0 &&
            (!fresh || il_str_eq(il_bind_value(b, state, vars[i]), IL_STR("fresh")))) {
            bits |= 1u << i;
        }
    }
    return bits;
}

uint32_t il_bind_counted(const il_bind *b, uint64_t state) { return il_bind_taints(b, state, false); }
uint32_t il_bind_fresh(const il_bind *b, uint64_t state) { return il_bind_taints(b, state, true); }

uint8_t il_bind_live(const il_bind *b, uint64_t state, uint32_t var) {
    if (var == UINT32_MAX || il_machine_value(b->machine, state, var) == 0) {
        return 0;
    }
    return il_str_eq(il_bind_value(b, state, var), IL_STR("bound")) ? 1 : 2;
}

uint32_t il_bind_count(const il_bind *b, uint64_t state, uint32_t var) {
    return var == UINT32_MAX ? 0 : il_machine_value(b->machine, state, var);
}

bool il_bind_phase(const il_bind *b, uint64_t state, const char *phase) {
    return b->phase != UINT32_MAX && il_str_eq(il_bind_value(b, state, b->phase), il_str_of(phase));
}
