/* SPDX-License-Identifier: Apache-2.0 */
/* Tree to program. Written from the end to the beginning, so that what follows an instruction is known when it is written and equal
 * tails are one. */
#include "cel/regex_part.h"

enum { COMPILE_WORK = 16 }; /* of a node or an instruction */

static uint32_t compile_mix(uint32_t h, uint32_t v) {
    h = (h ^ v) * 0x9e3779b1u;
    return h ^ (h >> 15);
}

/* A SWITCH is its arcs, wherever they lie. */
static uint32_t compile_hash(const il_regex_writer *w, il_regex_instruction i) {
    uint32_t h = compile_mix((uint32_t)i.op << 16 | (uint32_t)i.lo << 8 | i.hi, i.other);
    if (i.op != IL_REGEX_OP_SWITCH) {
        return compile_mix(h, i.out);
    }
    for (uint32_t k = 0; k < i.other; k++) {
        const il_regex_arc arc = w->arcs[i.out + k];
        h = compile_mix(h, (uint32_t)arc.out << 16 | (uint32_t)arc.lo << 8 | arc.hi);
    }
    return h;
}

static bool compile_same(const il_regex_writer *w, il_regex_instruction a, il_regex_instruction b) {
    if (a.op != b.op || a.lo != b.lo || a.hi != b.hi || a.other != b.other) {
        return false;
    }
    return a.out == b.out ||
           (a.op == IL_REGEX_OP_SWITCH && memcmp(w->arcs + a.out, w->arcs + b.out, a.other * sizeof *w->arcs) == 0);
}

static uint32_t compile_slot(const il_regex_writer *w, il_regex_instruction i) {
    uint32_t slot = compile_hash(w, i) & (w->index_size - 1);
    while (w->index[slot] != 0 && !compile_same(w, w->code[w->index[slot]], i)) {
        slot = (slot + 1) & (w->index_size - 1);
    }
    return slot;
}

static uint16_t compile_fail(il_regex_writer *w, il_status why) {
    w->failed = w->failed == IL_OK ? why : w->failed;
    return IL_REGEX_FAIL_AT;
}

static bool compile_spend(il_regex_writer *w, uint64_t work) {
    if (work > *w->left) {
        *w->left = 0;
        (void)compile_fail(w, IL_E_LIMIT);
        return false;
    }
    *w->left -= work;
    return true;
}

/* Room for one more instruction, and for twice as many in the index. */
static bool compile_grow(il_regex_writer *w) {
    if (w->n >= IL_REGEX_PROGRAM) {
        (void)compile_fail(w, IL_E_LIMIT);
        return false;
    }
    if (w->n < w->cap) {
        return true;
    }
    const uint32_t cap = w->cap * 2;
    il_regex_instruction *code = il_arena_raw(w->tmp, cap * sizeof *code);
    uint16_t *index = code != NULL ? IL_NEW_ARRAY(w->tmp, uint16_t, (size_t)cap * 2) : NULL;
    if (index == NULL) {
        (void)compile_fail(w, w->tmp->capped ? IL_E_LIMIT : IL_E_MEMORY);
        return false;
    }
    memcpy(code, w->code, w->n * sizeof *code);
    w->code = code;
    w->cap = cap;
    w->index = index;
    w->index_size = cap * 2;
    for (uint32_t i = 0; i < w->n; i++) {
        if (code[i].own == 0) {
            index[compile_slot(w, code[i])] = (uint16_t)i;
        }
    }
    return true;
}

uint16_t il_regex_write(il_regex_writer *w, il_regex_op op, unsigned lo, unsigned hi, uint16_t out, uint16_t other) {
    const il_regex_instruction i = {(uint8_t)op, (uint8_t)lo, (uint8_t)hi, 0, out, other};
    if (w->failed != IL_OK || !compile_spend(w, COMPILE_WORK)) {
        return IL_REGEX_FAIL_AT;
    }
    uint32_t slot = compile_slot(w, i);
    if (w->index[slot] != 0) {
        return w->index[slot];
    }
    if (!compile_grow(w)) {
        return IL_REGEX_FAIL_AT;
    }
    slot = compile_slot(w, i);
    w->code[w->n] = i;
    w->index[slot] = (uint16_t)w->n;
    return (uint16_t)w->n++;
}

uint16_t il_regex_write_arcs(il_regex_writer *w, const il_regex_arc *arcs, uint32_t n) {
    if (n == 0) {
        return IL_REGEX_FAIL_AT;
    }
    if (n == 1) {
        return il_regex_write(w, IL_REGEX_OP_BYTE, arcs[0].lo, arcs[0].hi, arcs[0].out, 0);
    }
    if (w->narcs + n > IL_REGEX_ARCS) {
        return compile_fail(w, IL_E_LIMIT);
    }
    if (!compile_spend(w, (uint64_t)n * 4)) {
        return IL_REGEX_FAIL_AT;
    }
    if (w->narcs + n > w->arcs_cap) {
        const uint32_t cap = 2 * (w->narcs + n);
        il_regex_arc *larger = il_arena_raw(w->tmp, cap * sizeof *larger);
        if (larger == NULL) {
            return compile_fail(w, w->tmp->capped ? IL_E_LIMIT : IL_E_MEMORY);
        }
        if (w->narcs > 0) {
            memcpy(larger, w->arcs, w->narcs * sizeof *larger);
        }
        w->arcs = larger;
        w->arcs_cap = cap;
    }
    memcpy(w->arcs + w->narcs, arcs, n * sizeof *arcs);
    const uint32_t written = w->n;
    const uint16_t at = il_regex_write(w, IL_REGEX_OP_SWITCH, 0, 0, (uint16_t)w->narcs, (uint16_t)n);
    w->narcs += w->n > written ? n : 0; /* else there is such a one, and the arcs are not needed */
    return at;
}

/* An EITHER whose first way is not known yet: never shared. */
static uint16_t compile_loop(il_regex_writer *w, uint16_t other) {
    if (w->failed != IL_OK || !compile_grow(w)) {
        return IL_REGEX_FAIL_AT;
    }
    w->code[w->n] = (il_regex_instruction){IL_REGEX_OP_EITHER, 0, 0, 1, IL_REGEX_FAIL_AT, other};
    return (uint16_t)w->n++;
}

static uint16_t compile_node(il_regex_writer *w, const il_regex_node *node, uint16_t out);

static uint16_t compile_either(il_regex_writer *w, uint16_t a, uint16_t b) {
    return a == b || b == IL_REGEX_FAIL_AT ? a : a == IL_REGEX_FAIL_AT ? b : il_regex_write(w, IL_REGEX_OP_EITHER, 0, 0, a, b);
}

/* Any number of them, or with `least_one` at least one. */
static uint16_t compile_star(il_regex_writer *w, const il_regex_node *node, uint16_t out, bool least_one) {
    const uint16_t loop = compile_loop(w, out);
    const uint16_t body = compile_node(w, node, loop);
    if (w->failed == IL_OK) {
        w->code[loop].out = body;
    }
    return least_one ? body : loop;
}

static uint16_t compile_counted(il_regex_writer *w, const il_regex_node *node, uint16_t out) {
    int32_t copies = node->min;
    if (node->max == -1) {
        out = compile_star(w, node->last, out, node->min > 0);
        copies -= node->min > 0;
    } else {
        const uint16_t end = out;
        for (int32_t i = node->min; i < node->max; i++) { /* each goes on to the next, or to the end */
            const uint16_t one = compile_node(w, node->last, out);
            const uint16_t next = compile_either(w, one, end);
            if (next == out) {
                break; /* consumes nothing and asks nothing */
            }
            out = next;
        }
    }
    for (int32_t i = 0; i < copies && w->failed == IL_OK; i++) {
        const uint16_t one = compile_node(w, node->last, out);
        if (one == out) {
            break;
        }
        out = one;
    }
    return out;
}

/* What matches `node` and then goes on with `out`. Recursion: IL_REGEX_DEPTH. */
static uint16_t compile_node(il_regex_writer *w, const il_regex_node *node, uint16_t out) {
    if (w->failed != IL_OK) {
        return IL_REGEX_FAIL_AT;
    }
    if (!compile_spend(w, COMPILE_WORK)) { /* also for repeats of what writes nothing */
        return IL_REGEX_FAIL_AT;
    }
    uint16_t all = IL_REGEX_FAIL_AT;
    switch (node->kind) {
    case IL_REGEX_EMPTY:
        return out;
    case IL_REGEX_POINT:
        return il_regex_write_point(w, node->point, out);
    case IL_REGEX_CLASS:
        return il_regex_write_class(w, node->split, out);
    case IL_REGEX_CONCAT:
        for (const il_regex_node *i = node->last; i != NULL; i = i->prev) {
            out = compile_node(w, i, out);
        }
        return out;
    case IL_REGEX_ALTERNATE:
        for (const il_regex_node *i = node->last; i != NULL; i = i->prev) {
            all = compile_either(w, compile_node(w, i, out), all);
        }
        return all;
    case IL_REGEX_STAR:
        return compile_star(w, node->last, out, false);
    case IL_REGEX_PLUS:
        return compile_star(w, node->last, out, true);
    case IL_REGEX_QUEST:
        return compile_either(w, compile_node(w, node->last, out), out);
    case IL_REGEX_COUNTED:
        return compile_counted(w, node, out);
    case IL_REGEX_ASSERT:
        return il_regex_write(w, IL_REGEX_OP_ASSERT, (unsigned)node->assertion, 0, out, 0);
    }
    return compile_fail(w, IL_E_INTERNAL);
}

il_status il_regex_program_write(il_arena *tmp, const il_regex_node *tree, uint64_t *left, il_regex_program *out, il_error *err) {
    enum { FIRST = 64 };
    il_regex_writer w = {.tmp = tmp, .left = left, .cap = FIRST, .index_size = 2 * FIRST, .n = 2};
    if ((w.code = IL_NEW_ARRAY(tmp, il_regex_instruction, FIRST)) == NULL ||
        (w.index = IL_NEW_ARRAY(tmp, uint16_t, (size_t)2 * FIRST)) == NULL) {
        return il_regex_no_memory(tmp, err);
    }
    w.code[IL_REGEX_MATCH_AT] = (il_regex_instruction){.op = IL_REGEX_OP_MATCH, .own = 1};
    w.code[IL_REGEX_FAIL_AT] = (il_regex_instruction){.op = IL_REGEX_OP_FAIL, .own = 1};
    const uint16_t start = compile_node(&w, tree, IL_REGEX_MATCH_AT);
    if (w.failed == IL_E_MEMORY) {
        return il_error_set(err, IL_E_MEMORY, "out of memory");
    }
    if (w.failed != IL_OK && *left == 0) {
        return il_error_at(err, IL_E_LIMIT, 1, 1, 0,
                           "the pattern takes too much work; use fewer Unicode classes and smaller repeats");
    }
    if (w.failed != IL_OK) {
        return il_error_at(err, IL_E_LIMIT, 1, 1, 0,
                           "the pattern needs more than %d instructions; use smaller repeats or fewer Unicode classes",
                           (int)IL_REGEX_PROGRAM);
    }
    *out = (il_regex_program){.code = w.code, .arcs = w.arcs, .n = w.n, .narcs = w.narcs, .start = start};
    for (uint32_t i = 0; i < w.n; i++) {
        if (w.code[i].op == IL_REGEX_OP_ASSERT) {
            const unsigned assertion = w.code[i].lo;
            out->words |= assertion == IL_REGEX_WORD || assertion == IL_REGEX_NOT_WORD;
            out->lines |= assertion == IL_REGEX_BEGIN_LINE || assertion == IL_REGEX_END_LINE;
            out->asserts |= assertion != IL_REGEX_BEGIN_TEXT && assertion != IL_REGEX_BEGIN_LINE;
        }
    }
    return IL_OK;
}
