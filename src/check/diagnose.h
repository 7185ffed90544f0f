/* SPDX-License-Identifier: Apache-2.0 */
/* Would a monitor notice? For each region: can a run that entered it look the same for ever as one without faults (BLIND), and else after
 * how many steps is it known (DIAGNOSABLE); what more to see; which of the sensors in place alarm on runs without faults; the wormhole grade. */
#pragma once
#include "check/wormhole.h"
#include "json/node.h"

typedef struct il_diagnose_ask {
    il_eye eye;         /* il_diagnose_eye(), with what the caller changes */
    uint32_t within;    /* 0: what the alarms say */
    uint32_t wormholes; /* most mutants; 0: IL_WORMHOLES_DEFAULT */
    uint64_t seed;
} il_diagnose_ask;
#define IL_WORMHOLES_DEFAULT 256u

typedef struct il_advice {
    uint32_t n; /* 1 or 2 */
    il_candidate add[2];
    uint32_t k;
} il_advice;
#define IL_ADVICE_MAX 16u
#define IL_ADVICE_PAIRS_TRIED 128u

typedef struct il_diagnose_line {
    uint32_t region;
    il_check_verdict verdict;
    const char *finding; /* `DIAGNOSABLE`, `BLIND`, `TOO_LATE`, `NEVER_CERTAIN`, `NOT_ENTERED`, `BOUNDED`; static text */
    uint32_t within;
    bool certain; /* its alarm is raised when it is certain */
    bool bounded; /* the question was not settled */
    bool jumps;   /* no faults are declared: silent jumps into the region */
    il_twin twin, now;
    uint32_t nadvice;
    il_advice advice[IL_ADVICE_MAX];
    bool advice_cut; /* there may be more */
    il_control_state visible, closed;
} il_diagnose_line;

typedef struct il_sensor_line {
    uint64_t alarms; /* benign steps after which it reads true */
    bool initially;
    bool in_place;
} il_sensor_line;

typedef struct il_diagnose {
    const il_model *m;
    il_diagnosis d; /* the section, or the default */
    bool declared;  /* there is a section */
    il_eye eye;
    bool bounded; /* some bound was reached */
    uint32_t benign_states;
    uint64_t benign_edges;
    uint64_t not_asked; /* regions of steps that no silent fault takes, invariants, gated regions without an alarm */
    uint32_t nlines;
    il_diagnose_line lines[IL_MODEL_REGIONS_MAX];
    il_sensor_line sensors[IL_SENSORS_MAX];
    il_wormholes wormholes;
    int exit; /* 0 all pass, 1 a finding, 2 inconclusive or vacuous, 4 an instrument failed */
} il_diagnose;

/* What the machine's section says is seen, or its default. */
il_eye il_diagnose_eye(const il_model *m);
/* A variable or a sensor by name; false when there is neither. */
bool il_diagnose_find(const il_model *m, il_str name, il_candidate *out);
il_str il_candidate_name(const il_model *m, il_candidate c);
/* Results live in `arena`. A finding is no failure: IL_E_MEMORY only. */
IL_NODISCARD il_status il_diagnose_run(il_diagnose *g, const il_alloc *alloc, il_arena *arena, const il_model *m,
                                       const il_diagnose_ask *ask, const il_space_bounds *bounds, il_error *err);
/* The report as an object (sorted when written: no times, no paths), and text for people, made from that object. */
IL_NODISCARD il_status il_diagnose_object(const il_diagnose *g, il_arena *arena, il_json **out, il_error *err);
IL_NODISCARD il_status il_diagnose_text(const il_json *object, il_arena *arena, il_str *out, il_error *err);
