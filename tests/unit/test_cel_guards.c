/* SPDX-License-Identifier: Apache-2.0 */
/* Every guard, update and region of the two shipped machines: each compiles, never errs, stays within its type, and means the same
 * after being printed with its lets expanded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper_cel.h"

static const il_cel_type t_bool = {.kind = IL_CEL_BOOL}, t_int = {.kind = IL_CEL_INT};
#define T_BOOL &t_bool
#define T_INT &t_int

static const il_str d_taint[] = {{"none", 4}, {"fresh", 5}, {"held", 4}};
static const il_cel_type t_taint = {.kind = IL_CEL_STRING, .domain = d_taint, .ndomain = 3};
static const il_str d_phase[] = {{"live", 4}, {"quarantined", 11}, {"ended", 5}};
static const il_cel_type t_phase = {.kind = IL_CEL_STRING, .domain = d_phase, .ndomain = 3};
static const il_str d_sink[] = {{"none", 4}, {"once", 4}, {"standing", 8}};
static const il_cel_type t_sink = {.kind = IL_CEL_STRING, .domain = d_sink, .ndomain = 3};
static const il_str d_last[] = {{"none", 4}, {"egress", 6}, {"crossing", 8}};
static const il_cel_type t_last = {.kind = IL_CEL_STRING, .domain = d_last, .ndomain = 3};
static const il_str d_slot[] = {{"asked", 5}, {"granted", 7}};
static const il_cel_type t_slot = {.kind = IL_CEL_STRING, .domain = d_slot, .ndomain = 2};
static const il_str d_reach[] = {{"none", 4}, {"bound", 5}, {"foreign", 7}};
static const il_cel_type t_reach = {.kind = IL_CEL_STRING, .domain = d_reach, .ndomain = 3};
static const il_str d_data[] = {{"none", 4}, {"sensitive", 9}, {"secret", 6}};
static const il_cel_type t_data = {.kind = IL_CEL_STRING, .domain = d_data, .ndomain = 3};
static const il_str d_sinks[] = {{"none", 4}, {"once", 4}, {"standing", 8}, {"once_bound", 10}, {"standing_bound", 14}};
static const il_cel_type t_sinks = {.kind = IL_CEL_STRING, .domain = d_sinks, .ndomain = 5};

static const il_cel_field trifecta_vars[] = {
    {{"untrusted", 9}, &t_taint}, {{"sensitive", 9}, &t_taint}, {{"flight", 6}, T_BOOL}, {{"open", 4}, T_BOOL},
    {{"crossing", 8}, T_BOOL},    {{"asked", 5}, T_INT},        {{"granted", 7}, T_INT}, {{"phase", 5}, &t_phase},
};
static const il_cel_let trifecta_lets[] = {
    {{"K", 1}, {"2", 1}, 99, 1},
    {{"both", 4}, {"next.untrusted != 'none' && next.sensitive != 'none'", 52}, 1, 1},
    {{"liveout", 7}, {"next.flight || next.open", 24}, 2, 1},
    {{"gained", 6},
     {"(next.untrusted != 'none' && pre.untrusted == 'none') || (next.sensitive != 'none' && pre.sensitive == 'none') || "
      "((next.flight || next.open) && !(pre.flight || pre.open))",
      171},
     3,
     1},
};
static const il_cel_field trifecta_admit_call[] = {
    {{"untrusted", 9}, T_BOOL},
    {{"sensitive", 9}, T_BOOL},
    {{"egress", 6}, &t_sink},
    {{"approved", 8}, T_BOOL},
};
static const il_cel_field trifecta_settle_call[] = {
    {{"untrusted", 9}, T_BOOL},
    {{"sensitive", 9}, T_BOOL},
    {{"last", 4}, &t_last},
};
static const il_cel_field trifecta_refine_call[] = {
    {{"untrusted", 9}, T_BOOL},
    {{"sensitive", 9}, T_BOOL},
};
static const il_cel_field trifecta_join_call[] = {
    {{"untrusted", 9}, T_BOOL},
    {{"sensitive", 9}, T_BOOL},
    {{"flight", 6}, T_BOOL},
    {{"open", 4}, T_BOOL},
};
static const il_cel_field trifecta_lapse_call[] = {
    {{"slot", 4}, &t_slot},
};
static const il_cel_field standard_vars[] = {
    {{"untrusted", 9}, &t_taint}, {{"sensitive", 9}, &t_taint}, {{"secret", 6}, &t_taint},
    {{"flight", 6}, &t_reach},    {{"open", 4}, &t_reach},      {{"crossing", 8}, &t_reach},
    {{"asked", 5}, T_INT},        {{"granted", 7}, T_INT},      {{"phase", 5}, &t_phase},
};
static const il_cel_let standard_lets[] = {
    {{"K", 1}, {"2", 1}, 99, 1},
    {{"both", 4}, {"next.untrusted != 'none' && next.sensitive != 'none'", 52}, 1, 1},
    {{"liveout", 7}, {"next.flight != 'none' || next.open != 'none'", 44}, 2, 1},
    {{"preout", 6}, {"pre.flight != 'none' || pre.open != 'none' || pre.crossing != 'none'", 68}, 3, 1},
    {{"strange", 7}, {"next.flight == 'foreign' || next.open == 'foreign' || next.crossing == 'foreign'", 80}, 4, 1},
    {{"gained", 6},
     {"(next.untrusted != 'none' && pre.untrusted == 'none') || (next.sensitive != 'none' && pre.sensitive == 'none') || "
      "(next.secret != 'none' && pre.secret == 'none') || ((next.flight != 'none' || next.open != 'none') && pre.flight == "
      "'none' && pre.open == 'none') || ((next.flight == 'foreign' || next.open == 'foreign') && pre.flight != 'foreign' && "
      "pre.open != 'foreign')",
      369},
     5,
     1},
    {{"isonce", 6}, {"call.egress == 'once' || call.egress == 'once_bound'", 52}, 6, 1},
    {{"isstanding", 10}, {"call.egress == 'standing' || call.egress == 'standing_bound'", 60}, 7, 1},
    {{"kind", 4}, {"(call.egress == 'once' || call.egress == 'standing') ? 'foreign' : 'bound'", 74}, 8, 1},
    {{"exempt", 6}, {"call.approved && (both) && (isonce)", 35}, 9, 1},
    {{"newonce", 7}, {"(isonce) && !(exempt) ? (kind) : 'none'", 39}, 10, 1},
    {{"newopen", 7}, {"(isstanding) ? (kind) : 'none'", 30}, 11, 1},
    {{"newcross", 8}, {"(exempt) ? (kind) : 'none'", 26}, 12, 1},
};
static const il_cel_field standard_admit_call[] = {
    {{"untrusted", 9}, T_BOOL}, {{"data", 4}, &t_data},    {{"egress", 6}, &t_sinks},
    {{"commit", 6}, T_BOOL},    {{"approved", 8}, T_BOOL},
};
static const il_cel_field standard_settle_call[] = {
    {{"untrusted", 9}, T_BOOL},
    {{"sensitive", 9}, T_BOOL},
    {{"secret", 6}, T_BOOL},
    {{"last", 4}, &t_last},
};
static const il_cel_field standard_refine_call[] = {
    {{"untrusted", 9}, T_BOOL},
    {{"sensitive", 9}, T_BOOL},
    {{"secret", 6}, T_BOOL},
};
static const il_cel_field standard_join_call[] = {
    {{"untrusted", 9}, T_BOOL},
    {{"data", 4}, &t_data},
    {{"flight", 6}, &t_reach},
    {{"open", 4}, &t_reach},
};
static const il_cel_field standard_lapse_call[] = {
    {{"slot", 4}, &t_slot},
};

typedef enum machine { M_TRIFECTA, M_STANDARD } machine;
typedef struct guard {
    machine machine;
    const il_cel_field *call;
    size_t ncall;
    il_cel_kind want;
    const char *text;
} guard;
#define CALL(fields) fields, sizeof(fields) / sizeof((fields)[0])
#define NO_CALL NULL, 0

static const guard guards[] = {
    {M_TRIFECTA, CALL(trifecta_admit_call), IL_CEL_STRING,
     "call.untrusted ? (pre.untrusted == 'none' ? 'fresh' : 'held') : pre.untrusted"},
    {M_TRIFECTA, CALL(trifecta_admit_call), IL_CEL_STRING,
     "call.sensitive ? (pre.sensitive == 'none' ? 'fresh' : 'held') : pre.sensitive"},
    {M_TRIFECTA, CALL(trifecta_admit_call), IL_CEL_BOOL, "pre.flight || (call.egress == 'once' && !call.approved)"},
    {M_TRIFECTA, CALL(trifecta_admit_call), IL_CEL_BOOL, "pre.open || (call.egress == 'standing' && !call.approved)"},
    {M_TRIFECTA, CALL(trifecta_admit_call), IL_CEL_BOOL, "pre.crossing || (call.egress == 'once' && call.approved)"},
    {M_TRIFECTA, CALL(trifecta_admit_call), IL_CEL_INT, "gained ? 0 : pre.asked"},
    {M_TRIFECTA, CALL(trifecta_admit_call), IL_CEL_INT, "gained ? 0 : call.approved ? pre.granted - 1 : pre.granted"},
    {M_TRIFECTA, CALL(trifecta_admit_call), IL_CEL_BOOL, "call.approved && call.egress != 'once'"},
    {M_TRIFECTA, CALL(trifecta_admit_call), IL_CEL_BOOL, "(both) && (liveout)"},
    {M_TRIFECTA, CALL(trifecta_admit_call), IL_CEL_BOOL, "call.approved && !(both)"},
    {M_TRIFECTA, CALL(trifecta_admit_call), IL_CEL_BOOL, "call.approved && pre.granted == 0"},
    {M_TRIFECTA, CALL(trifecta_settle_call), IL_CEL_STRING, "call.untrusted ? 'held' : pre.untrusted"},
    {M_TRIFECTA, CALL(trifecta_settle_call), IL_CEL_STRING, "call.sensitive ? 'held' : pre.sensitive"},
    {M_TRIFECTA, CALL(trifecta_settle_call), IL_CEL_BOOL, "call.last == 'egress' ? false : pre.flight"},
    {M_TRIFECTA, CALL(trifecta_settle_call), IL_CEL_BOOL, "call.last == 'crossing' ? false : pre.crossing"},
    {M_TRIFECTA, CALL(trifecta_settle_call), IL_CEL_BOOL,
     "(call.untrusted && pre.untrusted == 'none') || (call.sensitive && pre.sensitive == 'none')"},
    {M_TRIFECTA, CALL(trifecta_settle_call), IL_CEL_BOOL,
     "(call.last == 'egress' && !pre.flight) || (call.last == 'crossing' && !pre.crossing)"},
    {M_TRIFECTA, CALL(trifecta_refine_call), IL_CEL_STRING, "call.untrusted ? 'none' : pre.untrusted"},
    {M_TRIFECTA, CALL(trifecta_refine_call), IL_CEL_STRING, "call.sensitive ? 'none' : pre.sensitive"},
    {M_TRIFECTA, CALL(trifecta_refine_call), IL_CEL_BOOL, "!call.untrusted && !call.sensitive"},
    {M_TRIFECTA, CALL(trifecta_refine_call), IL_CEL_BOOL,
     "(call.untrusted && pre.untrusted != 'fresh') || (call.sensitive && pre.sensitive != 'fresh')"},
    {M_TRIFECTA, CALL(trifecta_join_call), IL_CEL_STRING, "call.untrusted ? 'held' : pre.untrusted"},
    {M_TRIFECTA, CALL(trifecta_join_call), IL_CEL_STRING, "call.sensitive ? 'held' : pre.sensitive"},
    {M_TRIFECTA, CALL(trifecta_join_call), IL_CEL_BOOL, "pre.flight || call.flight"},
    {M_TRIFECTA, CALL(trifecta_join_call), IL_CEL_BOOL, "pre.open || call.open"},
    {M_TRIFECTA, CALL(trifecta_join_call), IL_CEL_INT, "gained ? 0 : pre.asked"},
    {M_TRIFECTA, CALL(trifecta_join_call), IL_CEL_INT, "gained ? 0 : pre.granted"},
    {M_TRIFECTA, CALL(trifecta_join_call), IL_CEL_BOOL, "(both) && (liveout)"},
    {M_TRIFECTA, NO_CALL, IL_CEL_INT, "pre.asked + 1"},
    {M_TRIFECTA, NO_CALL, IL_CEL_BOOL, "pre.asked + pre.granted >= K"},
    {M_TRIFECTA, NO_CALL, IL_CEL_INT, "pre.asked - 1"},
    {M_TRIFECTA, NO_CALL, IL_CEL_INT, "pre.granted + 1"},
    {M_TRIFECTA, NO_CALL, IL_CEL_BOOL, "pre.asked == 0 || pre.granted == K"},
    {M_TRIFECTA, NO_CALL, IL_CEL_INT, "pre.asked - 1"},
    {M_TRIFECTA, NO_CALL, IL_CEL_BOOL, "pre.asked == 0"},
    {M_TRIFECTA, CALL(trifecta_lapse_call), IL_CEL_INT, "call.slot == 'asked' ? pre.asked - 1 : pre.asked"},
    {M_TRIFECTA, CALL(trifecta_lapse_call), IL_CEL_INT, "call.slot == 'granted' ? pre.granted - 1 : pre.granted"},
    {M_TRIFECTA, CALL(trifecta_lapse_call), IL_CEL_BOOL, "call.slot == 'asked' ? pre.asked == 0 : pre.granted == 0"},
    {M_TRIFECTA, NO_CALL, IL_CEL_STRING, "'quarantined'"},
    {M_TRIFECTA, NO_CALL, IL_CEL_BOOL, "false"},
    {M_TRIFECTA, NO_CALL, IL_CEL_INT, "0"},
    {M_TRIFECTA, NO_CALL, IL_CEL_INT, "0"},
    {M_TRIFECTA, NO_CALL, IL_CEL_STRING, "'ended'"},
    {M_TRIFECTA, NO_CALL, IL_CEL_INT, "0"},
    {M_TRIFECTA, NO_CALL, IL_CEL_INT, "0"},
    {M_TRIFECTA, NO_CALL, IL_CEL_BOOL, "pre.flight || pre.crossing"},
    {M_TRIFECTA, NO_CALL, IL_CEL_BOOL, "pre.untrusted != 'none' && pre.sensitive != 'none' && (pre.flight || pre.open)"},
    {M_TRIFECTA, NO_CALL, IL_CEL_BOOL, "pre.crossing"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_STRING,
     "call.untrusted ? (pre.untrusted == 'none' ? 'fresh' : 'held') : pre.untrusted"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_STRING,
     "call.data != 'none' ? (pre.sensitive == 'none' ? 'fresh' : 'held') : pre.sensitive"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_STRING,
     "call.data == 'secret' ? (pre.secret == 'none' ? 'fresh' : 'held') : pre.secret"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_STRING,
     "(pre.flight == 'foreign' || (newonce) == 'foreign') ? 'foreign' : (pre.flight == 'bound' || (newonce) == 'bound') ? "
     "'bound' : 'none'"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_STRING,
     "(pre.open == 'foreign' || (newopen) == 'foreign') ? 'foreign' : (pre.open == 'bound' || (newopen) == 'bound') ? 'bound' : "
     "'none'"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_STRING,
     "(pre.crossing == 'foreign' || (newcross) == 'foreign') ? 'foreign' : (pre.crossing == 'bound' || (newcross) == 'bound') ? "
     "'bound' : 'none'"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_INT, "gained ? 0 : pre.asked"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_INT, "gained ? 0 : call.approved ? pre.granted - 1 : pre.granted"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_BOOL, "next.secret != 'none' && (strange)"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_BOOL, "call.data == 'secret' && (preout)"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_BOOL,
     "call.approved && (((isstanding) && (both)) || (!(isonce) && !call.commit))"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_BOOL, "(both) && (liveout)"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_BOOL, "!call.approved && call.commit && next.untrusted != 'none'"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_BOOL,
     "call.approved && !((both) && (isonce)) && !(call.commit && next.untrusted != 'none')"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_BOOL, "call.approved && pre.granted == 0"},
    {M_STANDARD, CALL(standard_settle_call), IL_CEL_STRING, "call.untrusted ? 'held' : pre.untrusted"},
    {M_STANDARD, CALL(standard_settle_call), IL_CEL_STRING, "call.sensitive ? 'held' : pre.sensitive"},
    {M_STANDARD, CALL(standard_settle_call), IL_CEL_STRING, "call.secret ? 'held' : pre.secret"},
    {M_STANDARD, CALL(standard_settle_call), IL_CEL_STRING, "call.last == 'egress' ? 'none' : pre.flight"},
    {M_STANDARD, CALL(standard_settle_call), IL_CEL_STRING, "call.last == 'crossing' ? 'none' : pre.crossing"},
    {M_STANDARD, CALL(standard_settle_call), IL_CEL_BOOL,
     "(call.untrusted && pre.untrusted == 'none') || (call.sensitive && pre.sensitive == 'none') || (call.secret && pre.secret "
     "== 'none')"},
    {M_STANDARD, CALL(standard_settle_call), IL_CEL_BOOL,
     "(call.last == 'egress' && pre.flight == 'none') || (call.last == 'crossing' && pre.crossing == 'none')"},
    {M_STANDARD, CALL(standard_refine_call), IL_CEL_STRING, "call.untrusted ? 'none' : pre.untrusted"},
    {M_STANDARD, CALL(standard_refine_call), IL_CEL_STRING, "call.sensitive ? 'none' : pre.sensitive"},
    {M_STANDARD, CALL(standard_refine_call), IL_CEL_STRING, "call.secret ? 'none' : pre.secret"},
    {M_STANDARD, CALL(standard_refine_call), IL_CEL_BOOL, "!call.untrusted && !call.sensitive && !call.secret"},
    {M_STANDARD, CALL(standard_refine_call), IL_CEL_BOOL,
     "(call.untrusted && pre.untrusted != 'fresh') || (call.sensitive && pre.sensitive != 'fresh') || (call.secret && pre.secret "
     "!= 'fresh')"},
    {M_STANDARD, CALL(standard_refine_call), IL_CEL_BOOL, "next.secret != 'none' && next.sensitive == 'none'"},
    {M_STANDARD, CALL(standard_join_call), IL_CEL_STRING, "call.untrusted ? 'held' : pre.untrusted"},
    {M_STANDARD, CALL(standard_join_call), IL_CEL_STRING, "call.data != 'none' ? 'held' : pre.sensitive"},
    {M_STANDARD, CALL(standard_join_call), IL_CEL_STRING, "call.data == 'secret' ? 'held' : pre.secret"},
    {M_STANDARD, CALL(standard_join_call), IL_CEL_STRING,
     "(pre.flight == 'foreign' || call.flight == 'foreign') ? 'foreign' : (pre.flight == 'bound' || call.flight == 'bound') ? "
     "'bound' : 'none'"},
    {M_STANDARD, CALL(standard_join_call), IL_CEL_STRING,
     "(pre.open == 'foreign' || call.open == 'foreign') ? 'foreign' : (pre.open == 'bound' || call.open == 'bound') ? 'bound' : "
     "'none'"},
    {M_STANDARD, CALL(standard_join_call), IL_CEL_INT, "gained ? 0 : pre.asked"},
    {M_STANDARD, CALL(standard_join_call), IL_CEL_INT, "gained ? 0 : pre.granted"},
    {M_STANDARD, CALL(standard_join_call), IL_CEL_BOOL, "next.secret != 'none' && (strange)"},
    {M_STANDARD, CALL(standard_join_call), IL_CEL_BOOL, "call.data == 'secret' && (preout)"},
    {M_STANDARD, CALL(standard_join_call), IL_CEL_BOOL, "(both) && (liveout)"},
    {M_STANDARD, NO_CALL, IL_CEL_STRING, "'quarantined'"},
    {M_STANDARD, NO_CALL, IL_CEL_STRING, "'none'"},
    {M_STANDARD, NO_CALL, IL_CEL_INT, "0"},
    {M_STANDARD, NO_CALL, IL_CEL_INT, "0"},
    {M_STANDARD, NO_CALL, IL_CEL_STRING, "'ended'"},
    {M_STANDARD, NO_CALL, IL_CEL_INT, "0"},
    {M_STANDARD, NO_CALL, IL_CEL_INT, "0"},
    {M_STANDARD, NO_CALL, IL_CEL_BOOL, "pre.flight != 'none' || pre.crossing != 'none'"},
    {M_STANDARD, NO_CALL, IL_CEL_INT, "pre.asked + 1"},
    {M_STANDARD, NO_CALL, IL_CEL_BOOL, "pre.asked + pre.granted >= K"},
    {M_STANDARD, NO_CALL, IL_CEL_INT, "pre.asked - 1"},
    {M_STANDARD, NO_CALL, IL_CEL_INT, "pre.granted + 1"},
    {M_STANDARD, NO_CALL, IL_CEL_BOOL, "pre.asked == 0 || pre.granted == K"},
    {M_STANDARD, NO_CALL, IL_CEL_INT, "pre.asked - 1"},
    {M_STANDARD, NO_CALL, IL_CEL_BOOL, "pre.asked == 0"},
    {M_STANDARD, CALL(standard_lapse_call), IL_CEL_INT, "call.slot == 'asked' ? pre.asked - 1 : pre.asked"},
    {M_STANDARD, CALL(standard_lapse_call), IL_CEL_INT, "call.slot == 'granted' ? pre.granted - 1 : pre.granted"},
    {M_STANDARD, CALL(standard_lapse_call), IL_CEL_BOOL, "call.slot == 'asked' ? pre.asked == 0 : pre.granted == 0"},
    {M_STANDARD, NO_CALL, IL_CEL_BOOL,
     "pre.untrusted != 'none' && pre.sensitive != 'none' && (pre.flight != 'none' || pre.open != 'none')"},
    {M_STANDARD, NO_CALL, IL_CEL_BOOL,
     "pre.secret != 'none' && (pre.flight == 'foreign' || pre.open == 'foreign' || pre.crossing == 'foreign')"},
    {M_STANDARD, NO_CALL, IL_CEL_BOOL, "pre.secret != 'none' && pre.sensitive == 'none'"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_BOOL, "call.data == 'secret' && (preout)"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_BOOL, "!call.approved && call.commit && next.untrusted != 'none'"},
    {M_STANDARD, NO_CALL, IL_CEL_BOOL, "pre.crossing != 'none'"},
    {M_STANDARD, CALL(standard_admit_call), IL_CEL_BOOL, "call.approved && call.commit && next.untrusted != 'none'"},
};

/* A small generator of our own: the same states on every machine. */
static uint32_t guard_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static void guard_fill(const il_cel_field *fields, size_t n, il_cel_value *out, uint32_t *seed) {
    for (size_t i = 0; i < n; i++) {
        uint32_t x = guard_random(seed);
        const il_cel_type *t = fields[i].type;
        out[i] = t->kind == IL_CEL_BOOL  ? il_cel_of_bool(x % 2 == 1)
                 : t->kind == IL_CEL_INT ? il_cel_of_int(x % 3)
                                         : il_cel_of_str(t->domain[x % t->ndomain]);
    }
}

static il_cel_value guard_record(const il_cel_value *fields, size_t n) {
    il_cel_value v = {0};
    v.kind = IL_CEL_RECORD;
    v.n = (uint32_t)n;
    v.u.items = fields;
    return v;
}

typedef struct guard_env {
    il_cel_type state, call;
    il_cel_field vars[3];
    il_cel_env env;
} guard_env;

static void guard_env_init(guard_env *e, const guard *g) {
    bool standard = g->machine == M_STANDARD;
    memset(e, 0, sizeof *e);
    e->state = (il_cel_type){.kind = IL_CEL_RECORD,
                             .name = {"state", 5},
                             .fields = standard ? standard_vars : trifecta_vars,
                             .nfields = standard ? sizeof standard_vars / sizeof *standard_vars
                                                 : sizeof trifecta_vars / sizeof *trifecta_vars};
    e->call = (il_cel_type){.kind = IL_CEL_RECORD, .name = {"call", 4}, .fields = g->call, .nfields = g->ncall};
    e->vars[0] = (il_cel_field){{"pre", 3}, &e->state};
    e->vars[1] = (il_cel_field){{"next", 4}, &e->state};
    e->vars[2] = (il_cel_field){{"call", 4}, &e->call};
    e->env = (il_cel_env){.size = sizeof e->env};
    e->env.vars = e->vars;
    e->env.nvars = g->ncall > 0 ? 3 : 2;
    e->env.lets = standard ? standard_lets : trifecta_lets;
    e->env.nlets = standard ? sizeof standard_lets / sizeof *standard_lets : sizeof trifecta_lets / sizeof *trifecta_lets;
}

static void test_guards(void **state) {
    (void)state;
    size_t trues = 0, falses = 0;
    for (size_t i = 0; i < sizeof guards / sizeof guards[0]; i++) {
        const guard *g = &guards[i];
        guard_env e;
        guard_env_init(&e, g);
        cel_case c;
        cel_case_init(&c);
        if (cel_compile(&c, g->text, &e.env, g->want) != IL_OK) {
            print_error("%s\n  %u:%u %s\n", g->text, c.err.line, c.err.col, c.err.msg);
            fail();
        }
        il_cel_program *original = c.program;
        char *printed = strdup(cel_printed(&c));
        e.env.nlets = 0;
        assert_int_equal(cel_compile(&c, printed, &e.env, g->want), IL_OK);
        assert_string_equal(cel_printed(&c), printed);
        uint32_t seed = 1;
        for (int round = 0; round < 2000; round++) {
            il_cel_value pre[16], next[16], call[16];
            guard_fill(e.state.fields, e.state.nfields, pre, &seed);
            guard_fill(e.state.fields, e.state.nfields, next, &seed);
            guard_fill(g->call, g->ncall, call, &seed);
            il_cel_value vars[3] = {guard_record(pre, e.state.nfields), guard_record(next, e.state.nfields),
                                    guard_record(call, g->ncall)};
            il_cel_value v = il_cel_eval(original, vars, NULL);
            assert_int_equal(v.kind, g->want);
            assert_true(il_cel_equal(v, il_cel_eval(c.program, vars, NULL)));
            trues += il_cel_true(v) ? 1 : 0;
            falses += v.kind == IL_CEL_BOOL && !v.u.b ? 1 : 0;
        }
        free(printed);
        cel_case_free(&c);
    }
    assert_true(trues > 1000 && falses > 1000);
}

/* One guard worked out by hand, over the whole product that it reads. */
static void test_truth(void **state) {
    (void)state;
    const guard g = {M_TRIFECTA, CALL(trifecta_admit_call), IL_CEL_BOOL, "(both) && (liveout)"};
    guard_env e;
    guard_env_init(&e, &g);
    cel_case c;
    cel_case_init(&c);
    assert_int_equal(cel_compile(&c, g.text, &e.env, IL_CEL_BOOL), IL_OK);
    for (unsigned u = 0; u < 3; u++) {
        for (unsigned s = 0; s < 3; s++) {
            for (unsigned out = 0; out < 4; out++) {
                il_cel_value next[8] = {{0}};
                next[0] = il_cel_of_str(d_taint[u]);
                next[1] = il_cel_of_str(d_taint[s]);
                next[2] = il_cel_of_bool(out & 1);
                next[3] = il_cel_of_bool(out & 2);
                il_cel_value vars[3] = {{0}, guard_record(next, 8), {0}};
                assert_int_equal(il_cel_true(il_cel_eval(c.program, vars, NULL)), u > 0 && s > 0 && out > 0);
            }
        }
    }
    cel_case_free(&c);
}

static void guard_reads(void *ctx, size_t var, size_t field) {
    uint64_t *seen = ctx;
    assert_true(var < 3 && field < 16);
    *seen |= (uint64_t)1 << (var * 16 + field);
}

static void test_reads(void **state) {
    (void)state;
    const guard g = {M_TRIFECTA, NO_CALL, IL_CEL_BOOL, "pre.untrusted != 'none' && (liveout)"};
    guard_env e;
    guard_env_init(&e, &g);
    cel_case c;
    cel_case_init(&c);
    uint64_t seen = 0;
    assert_int_equal(cel_compile(&c, g.text, &e.env, IL_CEL_BOOL), IL_OK);
    il_cel_reads(c.program, guard_reads, &seen);
    assert_true(seen == (1ull << 0 | 1ull << (16 + 2) | 1ull << (16 + 3)));
    cel_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_guards), cmocka_unit_test(test_truth), cmocka_unit_test(test_reads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
