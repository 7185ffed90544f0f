/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the regular expression engine share. A pattern becomes a tree (regex_parse, _escape, _bracket, _class, _property),
 * that a program over bytes (regex_compile, regex_utf8), and that a table when it would be small (regex_dfa); else a search follows
 * sets of the program's instructions (regex_set). */
#pragma once
#include "cel/regex.h"

/* As il_arena_fail; the value is the code itself, so that a compiler sees that it never is IL_OK. */
static inline il_status il_regex_no_memory(const il_arena *arena, il_error *err) {
    return il_arena_fail(arena, err) == IL_E_LIMIT ? IL_E_LIMIT : IL_E_MEMORY;
}

/* --- generated tables (regex_unicode.c; the packing is described in scripts/unicode) --- */
extern const char il_regex_category_names[]; /* two letters each; the first is "not assigned", which has no name in patterns */
extern const char il_regex_script_names[];   /* each followed by a space */
extern const uint8_t il_regex_categories[], il_regex_scripts[], il_regex_folds[];
extern const size_t il_regex_categories_n, il_regex_scripts_n, il_regex_folds_n;
/* The number at *at of such a table: seven bits a byte, the lowest first, the eighth says that more follow. */
uint32_t il_regex_varint(const uint8_t *table, size_t *at);

/* --- character classes --- */
enum { IL_REGEX_LAST_POINT = 0x10ffff };
typedef struct il_regex_range {
    uint32_t lo, hi;
} il_regex_range;

/* A set of code points while it grows; sorted and without overlap after il_regex_class_sort. */
typedef struct il_regex_class {
    il_regex_range *r;
    size_t n, cap;
} il_regex_class;

/* All of these fail only for want of memory. */
IL_NODISCARD bool il_regex_class_add(il_arena *tmp, il_regex_class *c, uint32_t lo, uint32_t hi);
IL_NODISCARD bool il_regex_class_join(il_arena *tmp, il_regex_class *c, const il_regex_class *more);
void il_regex_class_sort(il_regex_class *c);
IL_NODISCARD bool il_regex_class_negate(il_arena *tmp, il_regex_class *c);
/* Adds what differs only in case from a member (Unicode's simple folding). */
IL_NODISCARD bool il_regex_class_fold(il_arena *tmp, il_regex_class *c);

/* Code points by the length of their UTF-8 form, 1 to 4 bytes. Where a part has the first or last point of its length it is widened
 * by what such bytes could spell and valid text never has, so that it takes fewer instructions. */
typedef struct il_regex_split {
    const il_regex_range *r[4];
    size_t n[4];
} il_regex_split;
IL_NODISCARD bool il_regex_class_split(il_arena *tmp, il_regex_class *c, il_regex_split *out);

/* Named sets. `name` as in \p{name}: a category of one or two letters, a script, Any. False when there is none of that name, or no
 * memory: then *memory is true. */
bool il_regex_property(il_arena *tmp, il_str name, il_regex_class *c, bool *memory);
/* The category of a point, two letters. */
const char *il_regex_category_of(uint32_t point);
/* `alpha` of [[:alpha:]]. */
bool il_regex_posix(il_arena *tmp, il_str name, il_regex_class *c, bool *memory);

/* --- tree --- */
typedef enum il_regex_kind {
    IL_REGEX_EMPTY = 0,
    IL_REGEX_POINT, /* one code point */
    IL_REGEX_CLASS,
    IL_REGEX_CONCAT,
    IL_REGEX_ALTERNATE,
    IL_REGEX_STAR,
    IL_REGEX_PLUS,
    IL_REGEX_QUEST,
    IL_REGEX_COUNTED,
    IL_REGEX_ASSERT,
} il_regex_kind;

typedef enum il_regex_assertion {
    IL_REGEX_BEGIN_TEXT = 0,
    IL_REGEX_BEGIN_LINE,
    IL_REGEX_END_TEXT,
    IL_REGEX_END_LINE,
    IL_REGEX_WORD,     /* \b */
    IL_REGEX_NOT_WORD, /* \B */
} il_regex_assertion;

typedef struct il_regex_node il_regex_node;
struct il_regex_node {
    il_regex_kind kind;
    il_regex_assertion assertion;
    uint32_t point;
    int32_t min, max; /* COUNTED; max -1: no end */
    uint32_t depth;   /* levels of nodes from here down */
    uint32_t product; /* the largest product of nested counts from here down */
    size_t offset;    /* in the pattern */
    il_regex_split *split;
    il_regex_node *last; /* child, the last one of several */
    il_regex_node *prev; /* the sibling before */
};

/* A pattern being read. Nodes live in `tmp`. */
typedef struct il_regex_reader {
    il_arena *tmp;
    il_str text;
    size_t at;
    bool fold, many_lines, dot_all; /* (?i) (?m) (?s) as they stand at `at` */
    uint64_t *left;                 /* of the work that may be done: looks at entries of tables and the like */
    il_error *err;
} il_regex_reader;

/* Takes from *left what it costs, as the writer of the program does; IL_E_LIMIT when there is less. */
IL_NODISCARD il_status il_regex_parse(il_arena *tmp, il_str pattern, uint64_t *left, il_regex_node **out, il_error *err);
/* So much work is to be done. */
IL_NODISCARD il_status il_regex_spend(il_regex_reader *in, uint64_t work);
/* il_regex_class_fold, paid for. */
IL_NODISCARD il_status il_regex_fold(il_regex_reader *in, il_regex_class *c);
/* Fills the error at a byte offset of the pattern. */
#define IL_REGEX_FAIL(in, offset, code, ...) \
    ((void)il_error_at((in)->err, (code), 1, il_regex_column((in)->text, (offset)), (offset), __VA_ARGS__), (il_status)(code))
uint32_t il_regex_column(il_str pattern, size_t offset);
/* The code point at `at`, which must not be the end; moves behind it. */
uint32_t il_regex_point(il_regex_reader *in);
bool il_regex_ahead(const il_regex_reader *in, il_str s);
/* An escape that stands for one code point, from its backslash (regex_escape.c). */
IL_NODISCARD il_status il_regex_escape(il_regex_reader *in, uint32_t *out);
/* An escape that stands for a class (\d \pL): *found tells; nothing is read when it is none. Folded when the flag says so. */
IL_NODISCARD il_status il_regex_escape_class(il_regex_reader *in, il_regex_class *c, bool *found);
/* [...], from its bracket (regex_bracket.c). Folded and negated as it says. */
IL_NODISCARD il_status il_regex_bracket(il_regex_reader *in, il_regex_class *c);
/* Adds `named`, or all but it, with the rules of folding that hold for named classes. */
IL_NODISCARD il_status il_regex_class_named(il_regex_reader *in, il_regex_class *c, il_regex_class *named, bool negated);

/* --- program --- */
enum {
    IL_REGEX_PROGRAM = 32768, /* instructions at most */
    IL_REGEX_ARCS = 65535,
};

typedef enum il_regex_op {
    IL_REGEX_OP_MATCH = 0,
    IL_REGEX_OP_FAIL,
    IL_REGEX_OP_BYTE,   /* a byte of lo to hi, then `out` */
    IL_REGEX_OP_SWITCH, /* a byte of one of the `other` arcs from number `out` on, then as that says */
    IL_REGEX_OP_EITHER, /* `out` or `other` */
    IL_REGEX_OP_ASSERT, /* when il_regex_assertion `lo` holds here, `out` */
} il_regex_op;

typedef struct il_regex_instruction {
    uint8_t op, lo, hi;
    uint8_t own; /* is not shared with equal ones */
    uint16_t out, other;
} il_regex_instruction;

typedef struct il_regex_arc {
    uint8_t lo, hi;
    uint16_t out;
} il_regex_arc;

typedef struct il_regex_program {
    const il_regex_instruction *code; /* 0 is MATCH, 1 is FAIL */
    const il_regex_arc *arcs;         /* those of one SWITCH are sorted and apart */
    uint32_t n, narcs, start;
    bool asserts; /* there is an ASSERT that looks at the next byte */
    bool words, lines;
} il_regex_program;

/* A program being written. Equal instructions are written once, so that equal tails are shared. */
typedef struct il_regex_writer {
    il_arena *tmp;
    il_regex_instruction *code;
    uint32_t n, cap;
    il_regex_arc *arcs;
    uint32_t narcs, arcs_cap;
    uint16_t *index; /* hash table of instruction numbers, 0: free */
    uint32_t index_size;
    uint64_t *left; /* of the work that may be done */
    il_status failed;
} il_regex_writer;

/* The number of an instruction that equals this one; IL_REGEX_FAIL_AT after a failure, which sticks. */
uint16_t il_regex_write(il_regex_writer *w, il_regex_op op, unsigned lo, unsigned hi, uint16_t out, uint16_t other);
enum { IL_REGEX_MATCH_AT = 0, IL_REGEX_FAIL_AT = 1 };
/* The same for a choice by the next byte: `arcs` are sorted and apart; none is FAIL. */
uint16_t il_regex_write_arcs(il_regex_writer *w, const il_regex_arc *arcs, uint32_t n);
/* One code point of the set, then `out`. */
uint16_t il_regex_write_class(il_regex_writer *w, const il_regex_split *split, uint16_t out);
uint16_t il_regex_write_point(il_regex_writer *w, uint32_t point, uint16_t out);
/* The program's code lies in `tmp`. IL_E_LIMIT when it would be larger than IL_REGEX_PROGRAM. */
IL_NODISCARD il_status il_regex_program_write(il_arena *tmp, const il_regex_node *tree, uint64_t *left, il_regex_program *out,
                                              il_error *err);

/* --- sets of program points --- */
enum { IL_REGEX_WORDS = IL_REGEX_PROGRAM / 64 };
enum { IL_REGEX_END = 256 }; /* as the next byte: the end of the text */
/* What stands before a position. */
enum { IL_REGEX_AT_BEGIN = 1, IL_REGEX_AT_LINE = 2, IL_REGEX_AT_WORD = 4 };

typedef struct il_regex_set {
    unsigned before; /* IL_REGEX_AT_... of the position */
    bool pending;    /* has assertions that wait for the next byte */
    bool matched;
    bool empty;
    uint64_t bits[IL_REGEX_WORDS]; /* BYTE, SWITCH and waiting ASSERT instructions; only the program's words are kept */
} il_regex_set;

typedef struct il_regex_walk {
    const il_regex_program *g;
    uint32_t words;
    uint64_t visits; /* what was done so far, in looks at instructions */
    uint64_t seen[IL_REGEX_WORDS], todo[IL_REGEX_WORDS], todo_words[IL_REGEX_WORDS / 64];
} il_regex_walk;

void il_regex_walk_init(il_regex_walk *w, const il_regex_program *g);
/* The set at the start of a search, `before` it what is said. */
void il_regex_set_start(il_regex_walk *w, unsigned before, il_regex_set *out);
/* The set after `next` (a byte or IL_REGEX_END), with a further start there. `from` is not the same after it
 * when it has something pending. */
void il_regex_set_step(il_regex_walk *w, il_regex_set *from, unsigned next, il_regex_set *out);
/* Where a byte leads from an instruction; FAIL from one that reads none. */
uint32_t il_regex_next(const il_regex_program *g, const il_regex_instruction *i, unsigned byte);
/* What is before a position that follows `byte`, as far as the program asks. */
unsigned il_regex_before(const il_regex_program *g, unsigned byte);
/* The most visits of one step. */
uint32_t il_regex_set_cost(const il_regex_program *g);
enum { IL_REGEX_VISITS = 16 }; /* of one step of a budget */
/* What *steps allows, as visits; NULL: `most`. */
uint64_t il_regex_allowed(const int64_t *steps, uint64_t most);
/* Takes `visits` from *steps (may be NULL), rounded up. */
void il_regex_pay(int64_t *steps, uint64_t visits);

/* --- table --- */
typedef struct il_regex_table {
    uint8_t column[256]; /* of a byte */
    uint32_t columns;    /* without the one for the end of the text, which is behind them */
    uint32_t rows; /* row 0: no match any more, row 1: matched, row 2: nothing begun (when the pattern can begin anywhere) */
    const uint16_t *next; /* next[row start + column] is the start of another row */
    uint16_t start, idle; /* rows; idle 0: there is none */
} il_regex_table;

/* *out is NULL when the table would be too large or take too long to make: no failure. Fails for want of memory. */
IL_NODISCARD il_status il_regex_table_make(il_arena *arena, il_arena *tmp, const il_regex_program *g, il_regex_table **out,
                                           il_error *err);

/* --- the whole --- */
typedef enum il_regex_how {
    IL_REGEX_BY_SETS = 0,
    IL_REGEX_BY_TABLE,
    IL_REGEX_ALWAYS,   /* matches every text */
    IL_REGEX_EQUALS,   /* ^literal$ */
    IL_REGEX_STARTS,   /* ^literal */
    IL_REGEX_ENDS,     /* literal$ */
    IL_REGEX_CONTAINS, /* literal */
} il_regex_how;

struct il_regex {
    il_regex_how how;
    il_regex_program program;
    const il_regex_table *table;
    il_str prefix;  /* every match begins with it */
    bool anchored;  /* and only at the start of the text */
    uint16_t after; /* BY_TABLE: the row behind the prefix */
    uint32_t weight;
};

/* The answer by sets only (regex_set.c): for programs without a table, and what tests compare the other ways with. */
IL_NODISCARD int il_regex_search_sets(const il_regex *re, il_str text, int64_t *steps);
