/* SPDX-License-Identifier: Apache-2.0 */
/* The program run on all its ways at once: a set of the instructions that a text so far may have led to. Each byte costs at most a few
 * looks at each instruction, whatever the pattern. */
#include "cel/regex_part.h"

static bool set_is_word(unsigned byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '_';
}

unsigned il_regex_before(const il_regex_program *g, unsigned byte) {
    return (g->lines && byte == '\n' ? (unsigned)IL_REGEX_AT_LINE : 0u) |
           (g->words && set_is_word(byte) ? (unsigned)IL_REGEX_AT_WORD : 0u);
}

/* Clearing and passing over so many words costs as looking at so many instructions. */
static uint32_t set_words_cost(uint32_t words) { return words / 2 + 1; }

uint32_t il_regex_set_cost(const il_regex_program *g) { return 3 * g->n + set_words_cost((g->n + 63) / 64); }

void il_regex_walk_init(il_regex_walk *w, const il_regex_program *g) {
    w->g = g;
    w->words = (g->n + 63) / 64;
    w->visits = 0;
    memset(w->todo, 0, w->words * sizeof w->todo[0]);
    memset(w->todo_words, 0, sizeof w->todo_words);
}

static void walk_forget(il_regex_walk *w) { memset(w->seen, 0, w->words * sizeof w->seen[0]); }

/* The search may go on at instruction `i`. One that reads a byte is a member of `out` at once, the others are to be followed. */
static inline void set_reach(il_regex_walk *w, uint32_t i, il_regex_set *out) {
    const uint64_t bit = (uint64_t)1 << (i & 63u);
    const uint8_t op = w->g->code[i].op;
    if (op == IL_REGEX_OP_BYTE || op == IL_REGEX_OP_SWITCH) {
        out->bits[i >> 6] |= bit;
        out->empty = false;
    } else if ((w->seen[i >> 6] & bit) == 0) {
        w->seen[i >> 6] |= bit;
        w->todo[i >> 6] |= bit;
        w->todo_words[i >> 12] |= (uint64_t)1 << (i >> 6 & 63u);
    }
}

static bool walk_pop(il_regex_walk *w, uint32_t *out) {
    for (uint32_t block = 0; block * 64 < w->words; block++) {
        if (w->todo_words[block] != 0) {
            const uint32_t word = block * 64 + (uint32_t)__builtin_ctzll(w->todo_words[block]);
            *out = word * 64 + (uint32_t)__builtin_ctzll(w->todo[word]);
            w->todo[word] &= w->todo[word] - 1;
            if (w->todo[word] == 0) {
                w->todo_words[block] &= w->todo_words[block] - 1;
            }
            return true;
        }
    }
    return false;
}

/* `next` is the byte behind the position, IL_REGEX_END, or SET_UNKNOWN: then assertions that ask for it wait. */
enum { SET_UNKNOWN = 257 };
typedef enum set_answer { SET_NO = 0, SET_YES, SET_WAITS } set_answer;

static set_answer set_holds(unsigned assertion, unsigned before, unsigned next) {
    const bool known = next != SET_UNKNOWN;
    const bool border = ((before & IL_REGEX_AT_WORD) != 0) != (known && set_is_word(next));
    switch ((il_regex_assertion)assertion) {
    case IL_REGEX_BEGIN_TEXT:
        return (before & IL_REGEX_AT_BEGIN) != 0 ? SET_YES : SET_NO;
    case IL_REGEX_BEGIN_LINE:
        return (before & (IL_REGEX_AT_BEGIN | IL_REGEX_AT_LINE)) != 0 ? SET_YES : SET_NO;
    case IL_REGEX_END_TEXT:
        return !known ? SET_WAITS : next == IL_REGEX_END ? SET_YES : SET_NO;
    case IL_REGEX_END_LINE:
        return !known ? SET_WAITS : next == IL_REGEX_END || next == '\n' ? SET_YES : SET_NO;
    case IL_REGEX_WORD:
        return !known ? SET_WAITS : border ? SET_YES : SET_NO;
    case IL_REGEX_NOT_WORD:
        return !known ? SET_WAITS : border ? SET_NO : SET_YES;
    }
    return SET_NO;
}

/* Follows what was reached without reading a byte; what waits for one becomes a member of `out`. */
static void set_close(il_regex_walk *w, unsigned before, unsigned next, il_regex_set *out) {
    uint32_t at = 0;
    while (walk_pop(w, &at)) {
        const il_regex_instruction *i = &w->g->code[at];
        set_answer answer;
        w->visits++;
        switch ((il_regex_op)i->op) {
        case IL_REGEX_OP_MATCH:
            out->matched = true;
            break;
        case IL_REGEX_OP_FAIL:
            break;
        case IL_REGEX_OP_BYTE:
        case IL_REGEX_OP_SWITCH:
            break; /* already a member */
        case IL_REGEX_OP_EITHER:
            set_reach(w, i->out, out);
            set_reach(w, i->other, out);
            break;
        case IL_REGEX_OP_ASSERT:
            answer = set_holds(i->lo, before, next);
            if (answer == SET_YES) {
                set_reach(w, i->out, out);
            } else if (answer == SET_WAITS) {
                out->bits[at >> 6] |= (uint64_t)1 << (at & 63u);
                out->pending = true;
                out->empty = false;
            }
            break;
        }
    }
}

static void set_clear(const il_regex_walk *w, unsigned before, il_regex_set *out) {
    out->before = before;
    out->pending = out->matched = false;
    out->empty = !w->g->lines; /* where a line begins there may be a start again */
    memset(out->bits, 0, w->words * sizeof out->bits[0]);
}

void il_regex_set_start(il_regex_walk *w, unsigned before, il_regex_set *out) {
    set_clear(w, before, out);
    walk_forget(w);
    set_reach(w, w->g->start, out);
    set_close(w, before, SET_UNKNOWN, out);
}

/* The assertions that waited, now that the byte behind them is known. */
static void set_resolve(il_regex_walk *w, il_regex_set *from, unsigned next) {
    walk_forget(w);
    for (uint32_t word = 0; word < w->words; word++) {
        for (uint64_t bits = from->bits[word]; bits != 0; bits &= bits - 1) {
            const il_regex_instruction *i = &w->g->code[word * 64 + (uint32_t)__builtin_ctzll(bits)];
            if (i->op == IL_REGEX_OP_ASSERT && set_holds(i->lo, from->before, next) == SET_YES) {
                set_reach(w, i->out, from);
            }
        }
    }
    set_close(w, from->before, next, from);
}

uint32_t il_regex_next(const il_regex_program *g, const il_regex_instruction *i, unsigned byte) {
    if (i->op == IL_REGEX_OP_BYTE) {
        return byte >= i->lo && byte <= i->hi ? i->out : IL_REGEX_FAIL_AT;
    }
    if (i->op == IL_REGEX_OP_SWITCH) {
        const il_regex_arc *arcs = g->arcs + i->out;
        uint32_t from = 0, to = i->other; /* the arc that has the byte is among these */
        while (to - from > 1) {
            const uint32_t middle = (from + to) / 2;
            if (byte < arcs[middle].lo) {
                to = middle;
            } else {
                from = middle;
            }
        }
        return byte >= arcs[from].lo && byte <= arcs[from].hi ? arcs[from].out : IL_REGEX_FAIL_AT;
    }
    return IL_REGEX_FAIL_AT;
}

void il_regex_set_step(il_regex_walk *w, il_regex_set *from, unsigned next, il_regex_set *out) {
    set_clear(w, next == IL_REGEX_END ? 0 : il_regex_before(w->g, next), out);
    w->visits += set_words_cost(w->words);
    if (from->pending) {
        set_resolve(w, from, next);
    }
    if (from->matched || next == IL_REGEX_END) {
        out->matched = from->matched;
        return;
    }
    walk_forget(w);
    for (uint32_t word = 0; word < w->words; word++) {
        for (uint64_t bits = from->bits[word]; bits != 0; bits &= bits - 1) {
            const uint32_t to = il_regex_next(w->g, &w->g->code[word * 64 + (uint32_t)__builtin_ctzll(bits)], next);
            w->visits++;
            if (to != IL_REGEX_FAIL_AT) {
                set_reach(w, to, out);
            }
        }
    }
    set_reach(w, w->g->start, out);
    set_close(w, out->before, SET_UNKNOWN, out);
}

uint64_t il_regex_allowed(const int64_t *steps, uint64_t most) {
    if (steps == NULL) {
        return most;
    }
    const uint64_t some = *steps > 0 ? (uint64_t)*steps : 0;
    return some > most / IL_REGEX_VISITS ? most : some * IL_REGEX_VISITS;
}

void il_regex_pay(int64_t *steps, uint64_t visits) {
    if (steps != NULL) {
        *steps -= (int64_t)((visits + IL_REGEX_VISITS - 1) / IL_REGEX_VISITS);
    }
}

int il_regex_search_sets(const il_regex *re, il_str text, int64_t *steps) {
    il_regex_walk w;
    il_regex_set a, b, *now = &a, *then = &b;
    const uint64_t allowed = il_regex_allowed(steps, UINT64_MAX);
    il_regex_walk_init(&w, &re->program);
    il_regex_set_start(&w, IL_REGEX_AT_BEGIN, now);
    for (size_t i = 0; i <= text.n && !now->matched && !now->empty && w.visits <= allowed; i++) {
        il_regex_set_step(&w, now, i < text.n ? (unsigned char)text.p[i] : (unsigned)IL_REGEX_END, then);
        il_regex_set *was = now;
        now = then;
        then = was;
    }
    if (w.visits > allowed) {
        *steps = 0;
        return IL_REGEX_SPENT;
    }
    il_regex_pay(steps, w.visits);
    return now->matched;
}
