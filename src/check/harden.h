/* SPDX-License-Identifier: Apache-2.0 */
/* Proving a machine: every check, its verdict and its shortest witness; the sealed table and, when everything passed, its certificate. */
#pragma once
#include "check/recovery.h"
#include "check/survey.h"
#include "check/view.h"
#include "machine/table.h"

typedef enum il_check_verdict {
    IL_CHECK_ERROR = 0, /* zero: a check that did not run has not passed */
    IL_CHECK_PASS,
    IL_CHECK_FAIL,
    IL_CHECK_INCONCLUSIVE, /* a bound was reached, or nothing was exercised */
    IL_CHECK_VACUOUS       /* holds, but not because of what is checked */
} il_check_verdict;
const char *il_check_verdict_name(il_check_verdict v);

/* One line of the report. */
typedef struct il_check il_check;
struct il_check {
    il_check *next;
    const char *id;  /* `from-init`, `mediation`, `havoc`, `gates`, `laundering`, ... static text */
    uint32_t region; /* UINT32_MAX when it is about the whole machine */
    il_check_verdict verdict;
    bool required; /* full mediation needs it */
    bool bound_hit;
    uint32_t states, depth;
    uint64_t edges;
    const char *finding; /* `BYPASS`, `LAUNDERED_BY`, ... or NULL; static text */
    il_str detail;       /* what the finding is about; may be empty */
    il_trace witness;
};

/* A smallest set of variables that an adversary needs to write to reach a region. */
typedef struct il_havoc_set il_havoc_set;
struct il_havoc_set {
    il_havoc_set *next;
    uint32_t region;
    bool laundered; /* on the machine with ghosts */
    bool gated;     /* with the region's gates deleted */
    uint64_t vars;
    il_trace witness;
};

/* What leaving out one reject clause opens. */
typedef enum il_guard_opens {
    IL_GUARD_OPENS_REGION = 0, /* a never region, from the initial state */
    IL_GUARD_OPENS_BYPASS,     /* a gated region without its gates */
    IL_GUARD_OPENS_LAUNDERED,
    IL_GUARD_OPENS_CONFIRMED,
    IL_GUARD_OPENS_UNAPPROVED, /* an approved admission with nothing granted */
    IL_GUARD_OPENS_FAULT       /* a count leaves its domain */
} il_guard_opens;
typedef struct il_guard_result il_guard_result;
struct il_guard_result {
    il_guard_result *next;
    uint32_t action, clause;
    il_guard_opens opens;
    uint32_t region; /* UINT32_MAX where there is none */
    il_trace witness;
};

/* Which actions raise and lower a variable on accepted steps; bits are actions. */
typedef struct il_var_writers {
    uint64_t raised_by, lowered_by;
    uint64_t unnamed_by; /* of these: lowered by a step whose payload does not name it (`unnamed` of the subject) */
} il_var_writers;

typedef enum il_control_state {
    IL_CONTROL_NOT_RUN = 0, /* there was nothing to plant it in: the run is not clean */
    IL_CONTROL_FAILED_AS_IT_MUST,
    IL_CONTROL_BROKEN,    /* it did not fail: no verdict counts */
    IL_CONTROL_NOT_NEEDED /* the check that it is a control of did not pass, so nothing leans on it */
} il_control_state;
typedef struct il_control il_control;
struct il_control {
    il_control *next;
    const char *id, *what; /* static text */
    il_control_state state;
};

/* The result of another instrument, joined to the report under a key of its own: what its il_NAME_object() made. The printers know nothing of
 * it but the object. */
typedef struct il_section il_section;
struct il_section {
    il_section *next;
    const char *key; /* static text */
    il_json *object;
};

typedef struct il_harden {
    il_subject subject;
    il_str table; /* sealed bytes; empty when the machine could not be tabulated within the bounds */
    uint8_t table_digest[IL_DIGEST_BYTES];
    il_str certificate; /* empty unless fully mediated */
    uint32_t states, depth;
    uint64_t edges;
    il_check *checks, *last_check;
    il_havoc_set *havoc, *last_havoc;
    uint64_t unnamed
        [2]; /* regions of which not all sets were looked for, because a bound was reached; [1]: laundered. No verdict depends on it */
    il_guard_result *guards, *last_guard;
    il_var_writers writers[IL_MODEL_VARS_MAX];
    uint64_t gate_sets[IL_MODEL_REGIONS_MAX];   /* gated regions: one smallest set of its gates that suffices to reach it */
    il_trace concessions[IL_MODEL_REGIONS_MAX]; /* what refinement concedes: ghosts with the `lowers` edges kept */
    uint64_t frozen;                            /* variables that never leave their initial value */
    uint64_t idle_gates;                        /* actions */
    bool idle_open;                             /* below a bound: whether some gate is idle nobody knows */
    uint32_t never_fired;                       /* rules */
    bool *rule_fired;                           /* nrules entries */
    uint32_t never_accepted;
    bool *symbol_accepted; /* nsymbols entries */
    il_recovery recovery;
    il_survey survey;
    il_control *controls, *last_control;
    il_section *sections, *last_section;
    bool bounded;       /* some bound was reached */
    bool work_hit;      /* it was the one on work, of the checks or of what was asked after them */
    bool allow_bounded; /* set by the caller after the run: bounds alone do not make the exit code 2; the word stays BOUNDED */
    bool verdict_only;  /* advice is left out: the smallest havoc sets are not searched for */
    bool fully_mediated;
    int exit; /* of the proof: 0 all pass, 1 a finding, 2 inconclusive or vacuous, 4 an instrument failed */
    int beside; /* the worst of what was joined to the report and decides the exit code too (a fleet, a comparison); no word hangs on it */
} il_harden;

/* Runs every check. Results live in `arena`; il_harden_free() releases what the explorer holds. Fails only for a machine that cannot be
 * hardened at all (IL_E_INVALID: a domain escape, positioned) or for lack of memory; a finding is no failure. */
IL_NODISCARD il_status il_harden_run(il_harden *h, const il_alloc *alloc, il_arena *arena, const il_model *m,
                                     const il_space_bounds *bounds, il_error *err);
/* The same verdict and certificate for a program that starts with the machine, without what only a reader of the report needs; it ends where a
 * bound is reached, and the default one on work always stands. */
IL_NODISCARD il_status il_harden_prove(il_harden *h, const il_alloc *alloc, il_arena *arena, const il_model *m, il_error *err);
void il_harden_free(il_harden *h);

/* Joins a result to the report. The object lives in the report's arena; one for each key. */
IL_NODISCARD il_status il_harden_join(il_harden *h, const char *key, il_json *object, il_error *err);
/* Exit code, full mediation and certificate from the lines and controls as they stand. The run has done it; whoever adds a line after it
 * does it again. */
IL_NODISCARD il_status il_harden_conclude(il_harden *h, il_error *err);
/* The worse of two exit codes: a broken instrument, a finding, then what is inconclusive. */
int il_harden_worse(int a, int b);
/* The exit code of the whole: of the proof and of what stands beside it. */
int il_harden_exit(const il_harden *h);
/* `FULLY MEDIATED`, `NOT MEDIATED`, `BOUNDED` (nothing failed, and nothing but bounds stands in the way), `INCONCLUSIVE`, `NO VERDICT`. */
const char *il_harden_verdict(const il_harden *h);

/* The report: an object, its canonical JSON (sorted keys, no times, no paths, one line), or text for people. */
IL_NODISCARD il_status il_harden_object(const il_harden *h, il_arena *arena, il_json **out, il_error *err);
IL_NODISCARD il_status il_harden_json(const il_json *object, il_arena *arena, il_str *out, il_error *err);
IL_NODISCARD il_status il_harden_text(const il_harden *h, il_arena *arena, il_str *out, il_error *err);
