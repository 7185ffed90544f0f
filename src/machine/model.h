/* SPDX-License-Identifier: Apache-2.0 */
/* A machine document after loading: finite variables, actions with guards, regions, contract. Evaluates any step from its guards,
 * from any state of the full product; the compiler tabulates it, the checker perturbs it. */
#pragma once
#include "cel/cel.h"
#include "interlock/machine.h"

#define IL_MODEL_VARS_MAX 64
#define IL_MODEL_RULES_MAX 200
#define IL_MODEL_SYMBOLS_MAX 65536
#define IL_MODEL_ACTIONS_MAX 64
#define IL_MODEL_REGIONS_MAX 64
#define IL_MODEL_FIELDS_MAX 16
#define IL_MODEL_DOMAIN_MAX 4096

typedef enum il_principal { IL_AGENT, IL_HUMAN, IL_RUNTIME, IL_ENV } il_principal;
typedef enum il_domain_kind { IL_DOMAIN_BOOL, IL_DOMAIN_ENUM, IL_DOMAIN_INT } il_domain_kind;
typedef enum il_overflow { IL_OVERFLOW_REJECT, IL_OVERFLOW_ERROR, IL_OVERFLOW_SATURATE } il_overflow;

/* A finite domain: of a variable, or of a payload field. Value names are in domain order. */
typedef struct il_domain {
    il_domain_kind kind;
    uint32_t size;
    int64_t lo;           /* INT: value of place 0 */
    il_str *names;        /* size entries: `false true`, the enum's words, the decimal numbers */
    il_overflow overflow; /* INT */
    il_cel_type type;     /* for the checker of guards */
    il_cel_value *values; /* size entries: what a guard sees of each place */
} il_domain;

/* `adversarial`: who attacks may write the variable at any time. Typed: only to some values, or only where a condition holds. */
typedef struct il_adversary {
    bool writes;          /* false: no adversary beyond what mediation finds */
    il_cel_program *when; /* reads pre; NULL: always */
    bool *to;             /* a truth for each value of the domain; NULL: every value */
} il_adversary;

typedef struct il_var {
    il_str name;
    il_domain domain;
    bool taint;  /* `taint: source` */
    bool sticky; /* no accepted step lowers it; the order is that of its domain */
    bool ghost;  /* remembers for regions: no guard and no update of another variable reads it, no adversary writes it */
    il_adversary adversary;
    uint8_t shift, bits; /* place in the packed state */
    uint32_t line, col;
} il_var;

typedef struct il_clause { /* one `reject` entry; live actions get `quarantined` and `ended` in front */
    uint8_t rule;          /* number in the contract, from 1 */
    il_cel_program *guard;
    uint32_t fields; /* bit f: field f of the payload has a say in it, by way of what it reads as `next` too */
    uint32_t line, col;
} il_clause;
typedef struct il_update { /* var := value; in file order */
    uint32_t var;
    il_cel_program *value;
    uint32_t fields; /* as in il_clause */
    uint32_t line, col;
} il_update;

typedef struct il_action_def {
    il_str name;
    il_principal principal;
    bool gate, live, corrective, lowers;
    bool hidden; /* `observable: false`: a monitor does not see it happen */
    uint32_t nfields;
    il_str *fields;
    il_domain *field_domains;
    uint32_t *strides; /* symbols from one value of a field to its next */
    uint32_t nclauses;
    il_clause *clauses;
    uint32_t nupdates;
    il_update *updates;
    uint32_t first_symbol, nsymbols; /* symbols of an action are consecutive; payload order as in machines.md */
    uint32_t line, col;
} il_action_def;

typedef struct il_region {
    il_str name;
    bool gated;                /* else never */
    bool edge;                 /* judges steps of `actions` rather than states */
    bool must;                 /* `transition`, `rejection`: an invariant. In the region is what does not fulfil it */
    bool rejection;            /* with `edge`: judges the rejected steps, and no accepted one */
    il_cel_program *predicate; /* state regions: reads pre */
    il_cel_program **on;       /* edge regions: one for each action, NULL for those not judged; reads pre, call, next, action; of
                                  rejections pre, call, reason, action */
    uint64_t actions;          /* bit i: action i (edge regions) */
    uint64_t by;               /* bit i: action i (gated regions) */
    uint8_t rule;              /* contract rule of the same name, 0 when there is none */
    uint32_t line, col;
} il_region;

/* A next-action predicate: after an accepted step, in the same commit, the first nap whose `when` holds and whose symbol changes something
 * is taken, until there is none. A nap whose symbol is not accepted (`nap-refused`), or a cascade longer than the bound (`nap-unsettled`),
 * makes the step a fault. */
typedef struct il_nap {
    il_cel_program *when; /* reads pre */
    uint32_t symbol;
    uint32_t line, col;
} il_nap;
#define IL_MODEL_NAPS_MAX 64
#define IL_MODEL_NAP_BOUND 8 /* default of `nap_bound`, at most 64 */

typedef struct il_rule {
    il_str name;
    bool releasable;
} il_rule;

typedef struct il_model {
    il_str name;
    il_arena *arena;
    uint32_t nvars, nactions, nregions, nrules;
    il_var *vars;
    il_action_def *actions; /* at most 64 */
    il_region *regions;
    il_rule *rules; /* rule r is rules[r - 1] */
    uint32_t nnaps, nap_bound;
    il_nap *naps;
    il_cel_program *goal; /* `recovery`: where corrective steps must lead; reads pre. NULL: ended, with nothing live */
    const struct il_diagnosis
        *diagnosis;               /* what a monitor sees (machine/diagnosis.h); NULL when the document has no such section */
    const struct il_fleet *fleet; /* several instances together (machine/fleet.h); likewise */
    uint32_t nwidens;
    const struct il_widens *widens; /* what this version accepts that an older one denied (machine/widens.h) */
    uint32_t nsymbols;
    uint8_t *symbol_action; /* nsymbols entries */
    uint32_t bits;          /* of the packed state */
    uint64_t initial;
    uint64_t product;                /* states of the full product; UINT64_MAX when it does not fit */
    uint8_t digest[IL_DIGEST_BYTES]; /* SHA-256 of the sorted canonical text of il_model_document() */
} il_model;

/* Loads a document. Everything that can be known without exploring is checked here: unknown and missing keys, undeclared names, empty
 * domains, types of every guard, clauses that name no rule, rules that no clause names, more than 64 bits of state. Positioned errors.
 * The model and all it refers to live in `arena`. */
IL_NODISCARD il_status il_model_load(il_arena *arena, const il_json *doc, il_model **out, il_error *err);
/* The document as its digest is taken: without `diagnosis`, `fleet` and `widens`, which say what is watched and compared and nothing of what a
 * step does. So a table, and a ledger that names its seal, stay those of the machine when its alarms are tuned. *out shares with `doc`. */
IL_NODISCARD il_status il_model_document(il_arena *arena, const il_json *doc, const il_json **out, il_error *err);

/* What a checker may change about a step. All zero: the machine as it is. */
typedef struct il_variant {
    uint64_t deleted;                  /* bit i: action i is never accepted */
    uint32_t skip_action, skip_clause; /* with `skip`: this clause of this action is left out */
    uint8_t skip_rule;                 /* not 0: instead, all clauses of the action that reject by this rule */
    bool skip;
} il_variant;

typedef struct il_eval {
    il_step step;
    uint32_t clause;      /* clause that rejected (index in the action), UINT32_MAX for none */
    uint64_t next;        /* the state that the updates (and naps) give, also when rejected; meaningless after a fault */
    const char *fault;    /* IL_FAULT: `domain-escape`, `update-error`, `nap-refused`, `nap-unsettled`; static text */
    uint32_t fault_var;   /* whose update has no value; UINT32_MAX for the nap faults */
    uint32_t fault_nap;   /* the nap that faulted, or whose step did; UINT32_MAX when it was the step itself */
    uint8_t fault_reason; /* `nap-refused`: what the nap's action is rejected by, as the reason of a step */
} il_eval;

/* One step by the guards. `variant` may be NULL. A guard that errs rejects: the clause counts as hit. An update that leaves its domain is a
 * fault unless the variable says `overflow: reject` AND a clause rejects the step anyway. Allocates nothing. */
il_eval il_model_eval(const il_model *m, const il_variant *variant, uint64_t state, uint32_t symbol);

/* The same of all symbols of an action, without a variant: out[0] of its first one. What nothing that differs from one payload to the next has a say
 * in is asked once. */
void il_model_eval_action(const il_model *m, uint64_t state, uint32_t action, il_step *out);

#define IL_LOOK_CLAUSES 32u

/* The cascade of naps after a step that leads to `state`. */
typedef struct il_settled {
    uint64_t state;    /* after the cascade; meaningless with a fault */
    const char *fault; /* NULL, or as in il_eval */
    uint32_t fault_var, fault_nap;
    uint8_t fault_reason;
} il_settled;
/* Whether the condition of a nap holds; an error counts as true: what cannot be judged is put right. */
bool il_model_nap_holds(const il_model *m, uint32_t nap, uint64_t state);
/* A nap of an action that `variant` deletes is never taken. `state` inside its domains. */
il_settled il_model_settle(const il_model *m, const il_variant *variant, uint64_t state);

/* What a step's guards say one by one, whatever the others say: the parts from which il_steps puts a step together. Naps are not in it. */
typedef struct il_look {
    uint64_t next;            /* with the updates that have a value */
    uint64_t escaped, failed; /* bit u: update u has none; `escaped`: a fault only when the step is accepted */
    uint32_t hits;            /* bit c: clause c rejects */
} il_look;
/* `state` inside its domains, `symbol` of an action with at most IL_LOOK_CLAUSES clauses. */
il_look il_model_look(const il_model *m, uint64_t state, uint32_t symbol);
/* The same of these updates and clauses alone; what one of them reads as `next.x` is among the updates. The rest of the answer says nothing. */
il_look il_model_look_at(const il_model *m, uint64_t state, uint32_t symbol, uint64_t updates, uint32_t clauses);

/* A region's predicate on an edge (pre, symbol, next); for a state region only `pre` is read. An error counts as in the region. Of an
 * invariant (`must`) what does not fulfil it is inside. A region of rejections judges no accepted step: false. */
bool il_model_in_region(const il_model *m, uint32_t region, uint64_t pre, uint32_t symbol, uint64_t next);
/* Whether a step that was rejected for `reason` (a rule of the contract; else false) breaks a `rejection` region; false for other regions. */
bool il_model_refused_wrongly(const il_model *m, uint32_t region, uint64_t pre, uint32_t symbol, uint8_t reason);
/* The same for a reason by its name, which may be a rule of another contract. */
bool il_model_refused_as(const il_model *m, uint32_t region, uint64_t pre, uint32_t symbol, il_str reason);

/* The bits that a variable has in a packed state. */
static inline uint64_t il_model_bits(const il_model *m, uint32_t var) {
    return ((UINT64_C(1) << m->vars[var].bits) - 1) << m->vars[var].shift; /* bits <= 12, from IL_MODEL_DOMAIN_MAX */
}
static inline uint32_t il_model_get(const il_model *m, uint64_t state, uint32_t var) {
    return (uint32_t)(state >> m->vars[var].shift) & ((UINT32_C(1) << m->vars[var].bits) - 1);
}
static inline uint64_t il_model_set(const il_model *m, uint64_t state, uint32_t var, uint32_t value) {
    return (state & ~il_model_bits(m, var)) | ((uint64_t)value << m->vars[var].shift);
}
/* Gives `vars` their next combination of values; after the last one the first one, and false. */
bool il_model_turn(const il_model *m, uint64_t vars, uint64_t *state);
uint32_t il_model_var(const il_model *m, il_str name);    /* UINT32_MAX when there is none */
uint32_t il_model_action(const il_model *m, il_str name); /* likewise */
uint32_t il_model_action_of(const il_model *m, uint32_t symbol);
uint32_t il_model_field_value(const il_model *m, uint32_t symbol, uint32_t field);
uint32_t il_model_field(const il_model *m, uint32_t action, il_str name); /* UINT32_MAX when there is none */
/* Whether every variable of the packed state is inside its domain and no other bit is set. */
bool il_model_valid(const il_model *m, uint64_t state);
void il_model_symbol_text(const il_model *m, uint32_t symbol, il_buf *out);
/* For people: fields at the first value of their domain are left out, a true bool is its name alone: `admit{sensitive,egress=once}`. */
void il_model_symbol_brief(const il_model *m, uint32_t symbol, il_buf *out);
const char *il_principal_name(il_principal p);
