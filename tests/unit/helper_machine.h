/* SPDX-License-Identifier: Apache-2.0 */
/* Machines for tests: a file, edited as text, loaded and hardened; symbols and witnesses in short words.
 *
 * Short words: `a` admit, `se` settle, `j` join, `rf` refine, `rq` request, `ok` approve, `Q` quarantine; any other word is an action.
 * In braces: u untrusted, s sensitive, k secret, e once, E standing, eb/Eb bound, c commit, + approved, f flight, o open, of/ob foreign/bound,
 * last=egress, last=crossing, slot=asked, slot=granted. `untrusted:=fresh` is an adversary's write. */
#pragma once
#include "check/harden.h"
#include "helper_memory.h"

typedef struct machine_edit {
    const char *from, *to;
} machine_edit;

typedef struct machine_case {
    test_memory memory;
    il_arena arena;
    il_error err;
    il_status status;
    il_str text; /* the edited document */
    il_model *m;
    il_harden h;
    bool hardened;
} machine_case;

/* One edit of a document, and what is said of the result. */
typedef struct machine_bad {
    const char *from, *to;
    uint32_t line, col;
    const char *message;
} machine_bad;
/* `text` with the one place where `from` stands replaced; into `out`, which is returned. */
char *machine_edited(const char *text, const char *from, const char *to, char *out, size_t cap);
/* Each edit of `base` must be refused, when loaded or when compiled, at that place and with that message. */
void machine_all_refused(const char *base, const machine_bad *rows, size_t n);

/* Reads `path`, applies edits (each must replace exactly one place, else the test fails) up to one whose `from` is NULL, and loads. */
void machine_load(machine_case *c, const char *path, const machine_edit *edits);
/* As machine_load of text, without edits. */
void machine_load_text(machine_case *c, const char *text);
/* Loads and must succeed. */
void machine_open(machine_case *c, const char *path, const machine_edit *edits);
/* Opens and runs every check; c->status is that of the run. */
void machine_harden(machine_case *c, const char *path, const machine_edit *edits, uint32_t max_states);
void machine_free(machine_case *c);

#define MACHINE_TRIFECTA "machines/trifecta.yaml"
#define MACHINE_STANDARD "machines/standard.yaml"

/* One short word to a symbol; fails the test when there is none. */
uint32_t machine_symbol(const il_model *m, const char *word, size_t n);
bool machine_words_eq(const il_symbol_words *a, const il_symbol_words *b);
/* Fails unless the trace is exactly `want`. */
void machine_trace_is(const il_model *m, const il_trace *t, const char *want);
/* The verdict line of a check (region NULL: the line without one); fails when there is none. */
const il_check *machine_check(const machine_case *c, const char *id, const char *region);
void machine_verdict_is(const machine_case *c, const char *id, const char *region, il_check_verdict want);
/* The check failed and its shortest witness is this. */
void machine_fails(const machine_case *c, const char *id, const char *region, const char *witness);
/* What leaving out a clause opens: the `nth` (from 0) of the action's clauses of that rule. */
typedef struct machine_guard_row {
    const char *action, *rule;
    uint32_t nth;
    il_guard_opens opens;
    const char *region;  /* NULL: any, or none */
    const char *witness; /* NULL: it opens nothing of the kind */
} machine_guard_row;
void machine_guard_is(const machine_case *c, const machine_guard_row *row);
/* Names of actions with blanks between, as bits. */
uint64_t machine_actions(const il_model *m, const char *names);
/* Runs a sequence through the table that `c` was hardened into: the last step gives `reason` (NULL: accepted), all earlier are accepted. */
void machine_sequence(const machine_case *c, const char *words, const char *reason);

/* A small machine by the seed, which moves on: variables a (int 0..2), b (bool), c (one of p, q, r), three actions with a bool `k`, a region. Returns
 * the text's length; other sections may follow. */
size_t machine_random(uint32_t *seed, char *out, size_t cap);
uint32_t machine_random_next(uint32_t *seed, uint32_t below);
