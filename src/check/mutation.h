/* SPDX-License-Identifier: Apache-2.0 */
/* Mutation adequacy: how many machines with one mistake (mutant.h) the checks tell from the machine in hand, and which check does it.
 *
 *     il_harden_run(&h, ...);
 *     il_mutation *mutation = NULL;
 *     il_mutation_run(&h, IL_MUTATION_DEFAULT, &mutation, err);      adds a line to h
 *     il_mutation_object(mutation, &object, err);                    for il_harden_join()
 *     il_harden_conclude(&h, err);
 *
 * A mutant is killed when a check that passed on the machine no longer passes on the mutant. A mutant that equals the machine on everything
 * that is reachable, verdict and reason included, is none. What is not asked of mutants: `translation` and the seal (they tell every
 * changed table from its guards, and would kill everything), and what each clause holds shut (`guards`, IDLE, NO_GUARD_MATTERS). `sticky` is asked
 * of what is reached, `recovery` of mutants of an action. */
#pragma once
#include "check/harden.h"
#include "check/mutant.h"

#define IL_MUTATION_DEFAULT 60u
#define IL_MUTATION_ALL UINT64_MAX

typedef struct il_mutation_line { /* a check that passed on the machine */
    const char *id;
    uint32_t region;
    uint64_t kills, first, alone; /* mutants that it kills; kills before any other; and nobody else does */
    uint64_t differs;             /* bit i: line i does not kill the same ones */
} il_mutation_line;

typedef struct il_mutation_tally {
    uint64_t population, judged;                    /* how many there are, how many were looked at */
    uint64_t equivalent, duplicate, harness;        /* no mutant; one that was there; one whose own steps have no meaning */
    uint64_t distinct, killed, survived, unsettled; /* unsettled: a bound was reached first */
} il_mutation_tally;

typedef enum il_survivor { /* what a surviving mutant changes, at the first step where it differs */
                           IL_SURVIVOR_STRICTER =
                               0, /* it rejects what was accepted, or leads where less is allowed than the machine would allow */
                           IL_SURVIVOR_REASON, /* it rejects for another reason */
                           IL_SURVIVOR_SILENT, /* it accepts what was rejected, and nothing changes */
                           IL_SURVIVOR_INERT, /* it accepts what was rejected, and afterwards no more is allowed than if it had not */
                           IL_SURVIVOR_CORRECTIVE,     /* it accepts a correction that was rejected */
                           IL_SURVIVOR_CHARGED,        /* it accepts what was rejected, and remembers all that it brings */
                           IL_SURVIVOR_HOLDS_MORE,     /* it remembers more than was brought */
                           IL_SURVIVOR_FEWER_APPROVED, /* it forgets requests or approvals */
                           IL_SURVIVOR_BEHIND, /* a declared lowering, or a state that only sessions behind one come to: laundering asks nothing of it */
                           IL_SURVIVOR_UNREAD,    /* what differs afterwards are variables that no `never` region reads */
                           IL_SURVIVOR_ELSEWHERE, /* it leads to another state that nothing here tells apart */
                           IL_SURVIVOR_CLASSES
} il_survivor;
const char *il_survivor_name(il_survivor c);

typedef struct il_survivor_example {
    bool found;
    il_mutant u;
    uint64_t state; /* the first step where it differs, and what machine and mutant say of it */
    uint32_t symbol;
    il_step was, is;
    il_trace trace; /* how a session comes to `state` */
} il_survivor_example;
#define IL_MUTATION_EXAMPLES 3u

typedef struct il_mutation {
    const il_harden *h;
    il_mutants mutants;
    uint32_t nlines;
    il_mutation_line lines[64];
    il_mutation_tally ops[IL_MUTANT_OPS], all;
    uint64_t first[IL_MUTANT_OPS][64]; /* by operator and line: killed first by it */
    uint64_t classes[IL_SURVIVOR_CLASSES][IL_MUTANT_OPS];
    il_survivor_example examples[IL_SURVIVOR_CLASSES][IL_MUTATION_EXAMPLES];
    bool sampled, bounded;
    bool sets; /* every check was asked of every mutant; else a mutant was let go at its first killer, and kills equals first */
} il_mutation;

/* Judges at most `most` mutants, an even sample of each operator's when there are more, always the same ones. Adds the line `mutation`:
 * PASS, or INCONCLUSIVE when there was no mutant or none was killed, or when a bound was reached. Lives in the report's arena. */
IL_NODISCARD il_status il_mutation_run(il_harden *h, uint64_t most, il_mutation **out, il_error *err);
/* The object of the report. */
IL_NODISCARD il_status il_mutation_object(const il_mutation *x, il_json **out, il_error *err);
