/* SPDX-License-Identifier: Apache-2.0 */
/* What is being checked, with what every check asks of it decided once: the words of each symbol, which actions bring effects, which
 * variables the shipped vocabulary knows. */
#pragma once
#include "check/space.h"
#include "machine/steps.h"
#include "machine/vocabulary.h"

typedef struct il_write { /* an adversary sets var to value */
    uint32_t var, value;
} il_write;

typedef enum il_taint_word { IL_TAINT_UNTRUSTED, IL_TAINT_SENSITIVE, IL_TAINT_SECRET, IL_TAINT_OTHER } il_taint_word;

typedef enum il_way_out { IL_OUT_FLIGHT, IL_OUT_OPEN, IL_OUT_CROSSING } il_way_out;
#define IL_WAYS_OUT 3u

/* The variable that counts a way out (UINT32_MAX when the machine has none), and its values for a bound and any other service. */
typedef struct il_out_var {
    uint32_t var, bound, foreign;
    uint32_t word; /* the value that is called `bound`; UINT32_MAX when none is, and `bound` is the last */
} il_out_var;

/* What an accepted step does to the ghosts (view.c has their order); an approved once is decided by the state it leads to. */
typedef struct il_symbol_ghosts {
    uint64_t clear, set;
    uint64_t confirms; /* taints that it confirms */
    bool approved_once;
} il_symbol_ghosts;

typedef struct il_subject {
    const il_alloc *alloc;
    il_arena *arena; /* results live here */
    const il_model *m;
    const il_machine *table; /* NULL when the machine could not be tabulated within the bounds */
    il_steps *steps;         /* the guards, remembered */
    il_space_bounds bounds;  /* one count of work for all that is asked, unless the caller has one */
    bool large; /* a bound was reached from the initial state already: nothing can pass, and what is left is looked at less far */
    il_symbol_words *words;   /* one for each symbol */
    il_symbol_ghosts *ghosts; /* likewise */
    uint64_t *
        unnamed; /* likewise; bit v: taint v has a word, the action names taints in its payload, and this symbol does not name v */
    uint64_t admits, joins, settles; /* bit i: action i has a field `egress`; `flight` or `open`; `last` */
    uint64_t gates, lowers, corrective;
    uint64_t never, gated, edges; /* bit r: region r; `edges`: of steps */
    uint64_t *judged,
        *judged_own; /* likewise, of each symbol: regions of steps that some step by it may be in; some step of the machine's own */
    uint32_t ntaints, taints[IL_MODEL_VARS_MAX];
    uint64_t taint_mask,
        taint_last[IL_MODEL_VARS_MAX]; /* their bits in a packed state: all of them; each one's at its last value */
    uint64_t gain_mask; /* of these, and of what counts unapproved ways out: a step that writes none gains nothing */
    bool wordless;      /* some taint is IL_TAINT_OTHER */
    il_taint_word taint_words[IL_MODEL_VARS_MAX];
    il_out_var out[IL_WAYS_OUT];
    uint32_t count_bits;     /* of each count of the approvals observer: what the machine counts itself fits, 15 at least */
    uint64_t typed, at_will; /* bit v: the machine declares an adversary who may write variable v so */
    uint32_t phase;          /* variable; UINT32_MAX when the machine has none */
    uint32_t request, approve, refuse, lapse; /* actions; UINT32_MAX likewise */
    uint32_t nwrites;
    il_write *writes;
    /* Steps in the place of the guards' for what asks il_subject_row(): those of a mutant, or with a planted mistake. NULL: the guards. */
    il_steps_edges (*rows)(void *ctx, uint64_t state);
    void *rows_ctx;
} il_subject;

/* States of one exploration once the machine has turned out too large. */
#define IL_SUBJECT_LARGE_STATES (1u << 16)
/* Of a walk over all cells, asked before each state: whether neither the caller's time is over nor what may be spent of work. */
bool il_subject_goes_on(const il_subject *s, uint32_t states, uint64_t edges);
/* The bounds of the next exploration. */
il_space_bounds il_subject_bounds(const il_subject *s);

/* Borrows all; il_subject_free() afterwards. */
IL_NODISCARD il_status il_subject_init(il_subject *s, const il_alloc *alloc, il_arena *arena, const il_model *m,
                                       const il_space_bounds *bounds, il_error *err);
/* The steps of a state; borrowed until the next question. */
il_steps_edges il_subject_row(const il_subject *s, uint64_t state);
void il_subject_free(il_subject *s);
bool il_words_taint(const il_symbol_words *w, il_taint_word word);
/* The ghost bits of a way out that was taken. */
uint64_t il_ghost_out(const il_subject *s, il_way_out way, bool foreign);
