/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that runs a program's words (code.h).
 *
 * Kinds are tested although the checker knows them: the caller's values may not be what it declared. The handlers do what is
 * common by themselves and
 * leave the rest, errors above all, to the functions before them. */
#include "cel/eval.h"

#include "base/utf8.h"
#include "cel/regex.h"
#include "cel/type.h"
#include "cel/value_compare.h"
#include "json/node.h"

typedef struct eval_loop {
    il_cel_walk walk;
    int64_t index; /* of the next item */
    uint32_t room; /* entries that the map being made has room for */
    bool map;
} eval_loop;

typedef struct eval_state {
    il_cel_run *run;
    const il_cel_code *code;
    il_cel_value *registers;
    const il_cel_value *places[3];
    eval_loop *loops;
} eval_state;

/* Kept out of the machine's loop, whose registers they would take. */
#define EVAL_APART __attribute__((noinline)) static

/* --- errors ------------------------------------------------------------------------------------------------------------ */

static uint32_t eval_place(const eval_state *s, const il_cel_word *w) { return (uint32_t)(w - s->code->words) + 1; }

static il_cel_value eval_fault(const eval_state *s, const il_cel_word *w, il_cel_fault fault) {
    il_cel_value v = il_cel_of_fault(fault);
    v.n = eval_place(s, w);
    return v;
}

/* A value from outside the registers: an error gets this place, and what was never set is an error of its own. */
EVAL_APART il_cel_value eval_placed(const eval_state *s, const il_cel_word *w, il_cel_value v) {
    if (v.kind == IL_CEL_ERROR) {
        const uint64_t more = v.u.u; /* of an index, for il_cel_explain */
        v = eval_fault(s, w, v.fault == IL_CEL_NO_FAULT ? IL_CEL_UNSET : (il_cel_fault)v.fault);
        v.u.u = v.fault == IL_CEL_MISSING ? more : 0;
    }
    return v;
}

static const il_cel_value *eval_at(const eval_state *s, uint16_t operand) {
    return s->places[operand >> 14] + (operand & (IL_CEL_PLACES - 1));
}

/* An operand that is an error, as it is passed on. `which`: 1 for b, 2 for c; a variable has no word of its own to point at. */
EVAL_APART il_cel_value eval_passed(const eval_state *s, const il_cel_word *w, uint16_t operand, uint8_t which) {
    il_cel_value v = *eval_at(s, operand);
    if (operand >> 14 == IL_CEL_IN_VARIABLE) {
        v = eval_placed(s, w, v);
        v.spare = which;
    }
    return v;
}

/* For a condition that is no bool. */
EVAL_APART il_cel_value eval_no_truth(const eval_state *s, const il_cel_word *w) {
    const il_cel_value *v = eval_at(s, w->b);
    return v->kind == IL_CEL_ERROR ? eval_passed(s, w, w->b, 1) : eval_fault(s, w, IL_CEL_NO_OVERLOAD);
}

static bool eval_spent(const il_cel_value *v) { return v->kind == IL_CEL_ERROR && v->fault == IL_CEL_BUDGET; }

/* --- what the handlers leave over ---------------------------------------------------------------------------------------- */

EVAL_APART il_cel_value eval_binary(const eval_state *s, const il_cel_word *w) {
    const il_cel_value *a = eval_at(s, w->b), *b = eval_at(s, w->c);
    if (a->kind == IL_CEL_ERROR) {
        return eval_passed(s, w, w->b, 1);
    }
    if (b->kind == IL_CEL_ERROR) {
        return eval_passed(s, w, w->c, 2);
    }
    const il_cel_value v = w->op == IL_CEL_C_IN ? il_cel_in(s->run, a, b, w->mode & ~IL_CEL_FUSED)
                                                : il_cel_binary(s->run, (il_cel_code_op)w->op, a, b);
    return eval_placed(s, w, v);
}

EVAL_APART il_cel_value eval_negative(const eval_state *s, const il_cel_word *w) {
    const il_cel_value *v = eval_at(s, w->b);
    return v->kind == IL_CEL_ERROR ? eval_passed(s, w, w->b, 1) : eval_placed(s, w, il_cel_negative(v));
}

/* The plain field of a record. */
EVAL_APART il_cel_value eval_field(const eval_state *s, const il_cel_word *w) {
    const il_cel_value *record = eval_at(s, w->b);
    if (record->kind == IL_CEL_ERROR) {
        return eval_passed(s, w, w->b, 1);
    }
    return eval_placed(s, w, il_cel_member(s->run, record, NULL, w->c, IL_CEL_PLAIN));
}

/* `record.field == 'text'` where one of the two is not what it should be. */
EVAL_APART il_cel_value eval_field_is(const eval_state *s, const il_cel_word *w, const il_cel_word *data) {
    il_cel_value field = eval_field(s, w);
    if (field.kind == IL_CEL_ERROR) {
        return field;
    }
    il_cel_value same = il_cel_binary(s->run, data->mode & 1 ? IL_CEL_C_NE : IL_CEL_C_EQ, &field, &s->code->constants[data->c]);
    return eval_placed(s, w, same);
}

EVAL_APART il_cel_value eval_member(const eval_state *s, const il_cel_word *w, il_cel_how how) {
    const il_cel_value *of = eval_at(s, w->b);
    if (of->kind == IL_CEL_ERROR) {
        return eval_passed(s, w, w->b, 1);
    }
    const il_cel_value *name = w->op == IL_CEL_C_SELECT ? &s->code->constants[w->c] : NULL;
    return eval_placed(s, w, il_cel_member(s->run, of, name, w->c, how));
}

EVAL_APART il_cel_value eval_index(const eval_state *s, const il_cel_word *w, il_cel_how how) {
    const il_cel_value *of = eval_at(s, w->b), *index = eval_at(s, w->c);
    if (of->kind == IL_CEL_ERROR) {
        return eval_passed(s, w, w->b, 1);
    }
    if (index->kind == IL_CEL_ERROR) {
        return eval_passed(s, w, w->c, 2);
    }
    return eval_placed(s, w, il_cel_index(s->run, of, index, how));
}

/* Whether the value is equal to this item, too. *ends: an error of an operand; to be of another kind is none yet, since one behind may be equal. */
EVAL_APART il_cel_value eval_in_item(const eval_state *s, const il_cel_word *w, bool *ends) {
    const il_cel_value *v = eval_at(s, w->b), *item = eval_at(s, w->c), so_far = s->registers[w->a];
    *ends = v->kind == IL_CEL_ERROR || item->kind == IL_CEL_ERROR;
    if (*ends) {
        return v->kind == IL_CEL_ERROR ? eval_passed(s, w, w->b, 1) : eval_passed(s, w, w->c, 2);
    }
    if (il_cel_true(so_far)) {
        return so_far;
    }
    const il_cel_value same = eval_placed(s, w, il_cel_compared(s->run, v, item));
    *ends = eval_spent(&same);
    return *ends || il_cel_true(same) || so_far.kind == IL_CEL_BOOL ? same : so_far;
}

/* The item, or its field with that number, in place where it can be. */
static const il_cel_value *eval_item_field(const eval_state *s, const il_cel_word *data, const il_cel_value *item,
                                           il_cel_value *room) {
    if (item->kind == IL_CEL_RECORD && data->a < item->n) {
        return &item->u.items[data->a];
    }
    *room = item->kind == IL_CEL_ERROR ? *item : il_cel_member(s->run, item, NULL, data->a, IL_CEL_PLAIN);
    return room;
}

/* The same where all is as it mostly is: a list of strings, or of records with a string there, and enough steps for all of it.
 * 1 or 0 is the answer; -1: something is
 * not so, and nothing was done. */
EVAL_APART int eval_each_word(const eval_state *s, const il_cel_value *range, const il_cel_value *word, const il_cel_word *data) {
    const uint64_t weight = s->code->loops[data->c].weight, n = range->n;
    if (range->kind != IL_CEL_LIST || word->kind != IL_CEL_STRING || s->run->steps < 0 || n * weight > (uint64_t)s->run->steps) {
        return -1;
    }
    const bool stop =
        ((data->mode & IL_CEL_EACH_ALL) == 0) == ((data->mode & IL_CEL_EACH_NOT) == 0); /* the equality that ends it */
    const bool field = (data->mode & IL_CEL_EACH_FIELD) != 0;
    if (range->json) {
        uint64_t done = 0;
        for (const il_json *item = range->u.node->first; item != NULL; item = item->next) {
            if (item->kind != IL_JSON_STRING || field) {
                return -1;
            }
            done++;
            if ((item->text.n == word->n && il_cel_same_bytes(item->text.p, word->u.p, word->n)) == stop) {
                s->run->steps -= (int64_t)(done * weight);
                return (data->mode & IL_CEL_EACH_ALL) == 0;
            }
        }
        s->run->steps -= (int64_t)(n * weight);
        return (data->mode & IL_CEL_EACH_ALL) != 0;
    }
    const il_cel_value *end = range->u.items + n, *at = range->u.items;
    for (; at < end; at++) {
        const il_cel_value *item = at;
        if (field) {
            if (at->kind != IL_CEL_RECORD || data->a >= at->n) {
                return -1;
            }
            item = &at->u.items[data->a];
        }
        if (item->kind != IL_CEL_STRING) {
            return -1;
        }
        if (il_cel_same_text(item, word) == stop) {
            s->run->steps -= (int64_t)((uint64_t)(at - range->u.items + 1) * weight);
            return (data->mode & IL_CEL_EACH_ALL) == 0;
        }
    }
    s->run->steps -= (int64_t)(n * weight);
    return (data->mode & IL_CEL_EACH_ALL) != 0;
}

/* exists(x, x == constant) and its like: with `all`, with `!=`, with a field of x. What decides ends it; of the errors the
 * first is the answer when
 * nothing does. */
EVAL_APART il_cel_value eval_each_is(const eval_state *s, const il_cel_word *w, const il_cel_word *data) {
    const il_cel_value *range = eval_at(s, w->b), *constant = &s->code->constants[w->c];
    const bool equal = (data->mode & IL_CEL_EACH_NOT) == 0, decides = (data->mode & IL_CEL_EACH_ALL) == 0;
    if (range->kind != IL_CEL_LIST && (range->kind != IL_CEL_MAP || (data->mode & IL_CEL_EACH_LIST) != 0)) {
        return eval_no_truth(s, w); /* the error that it is, or no overload */
    }
    const uint32_t weight = s->code->loops[data->c].weight, step = range->kind == IL_CEL_MAP ? 2 : 1;
    const il_json *node = range->json ? range->u.node->first : NULL;
    il_cel_value answer = il_cel_of_bool(!decides), made;
    for (uint32_t i = 0; i < range->n; i++) {
        const il_cel_value *item = &made;
        if (!range->json) {
            item = &range->u.items[(size_t)i * step];
        } else {
            made = step == 2 ? il_cel_of_str(node->key) : il_cel_json_value(node);
            node = node->next;
        }
        if (!il_cel_charge(s->run, weight)) {
            return eval_fault(s, w, IL_CEL_BUDGET);
        }
        if ((data->mode & IL_CEL_EACH_FIELD) != 0) {
            item = eval_item_field(s, data, item, &made);
        }
        il_cel_value same = *item;
        if (item->kind == IL_CEL_STRING && constant->kind == IL_CEL_STRING) {
            same = il_cel_of_bool(il_cel_same_text(item, constant));
        } else if (item->kind != IL_CEL_ERROR) {
            same = il_cel_compared(s->run, item, constant);
        }
        if (same.kind == IL_CEL_ERROR) {
            il_cel_value e = eval_placed(s, data, same);
            if (eval_spent(&e)) {
                return e;
            }
            answer = answer.kind == IL_CEL_ERROR ? answer : e;
            continue;
        }
        if ((same.u.b == equal) == decides) {
            answer = il_cel_of_bool(decides);
            break;
        }
    }
    return s->run->steps < 0 ? eval_fault(s, w, IL_CEL_BUDGET) : answer;
}

/* Whether a host's function may have this value for a parameter: it relies on the kind that it declared, and with `dyn` only the run shows it. What a
 * list or map holds is not looked at. */
static bool eval_fits(const il_cel_value *v, const il_cel_type *param) {
    if (param == NULL || param->kind == IL_CEL_DYN || param->kind == IL_CEL_PARAM || v->kind == param->kind) {
        return true;
    }
    return v->kind == IL_CEL_NULL && il_cel_type_nullable(param->kind);
}

EVAL_APART il_cel_value eval_call(const eval_state *s, const il_cel_word *w, uint16_t first, uint16_t call) {
    const il_cel_site *site = &s->code->sites[call];
    const il_cel_value *args = s->registers + first;
    for (uint32_t i = 0; i < site->nargs; i++) {
        if (args[i].kind == IL_CEL_ERROR) {
            return args[i];
        }
    }
    il_cel_value v;
    if (site->function != NULL) {
        if (!il_cel_charge(s->run, site->function->cost)) {
            return eval_fault(s, w, IL_CEL_BUDGET);
        }
        for (uint32_t i = 0; i < site->nargs; i++) {
            if (i >= site->function->nparams || !eval_fits(&args[i], site->function->params[i])) {
                return eval_fault(s, w, IL_CEL_NO_OVERLOAD);
            }
        }
        void *ctx = site->function->per_call ? s->run->host : site->function->ctx;
        if (site->function->per_call && ctx == NULL) {
            return eval_fault(s, w, IL_CEL_UNSET);
        }
        v = site->function->call(ctx, args, site->nargs);
    } else {
        v = site->builtin->call(s->run, args, site->nargs);
    }
    return s->run->steps < 0 ? eval_fault(s, w, IL_CEL_BUDGET) : eval_placed(s, w, v);
}

/* `a < b`, or what `op` says. */
static inline bool eval_ordered(il_cel_code_op op, int64_t a, int64_t b) {
    return op == IL_CEL_C_LT ? a < b : op == IL_CEL_C_LE ? a <= b : op == IL_CEL_C_GT ? a > b : a >= b;
}

EVAL_APART il_cel_value eval_matches(const eval_state *s, const il_cel_word *w) {
    const il_cel_value *text = eval_at(s, w->b);
    if (text->kind != IL_CEL_STRING) {
        return eval_no_truth(s, w);
    }
    int found = il_regex_search(s->code->sites[w->c].regex, il_cel_str(*text), &s->run->steps);
    return found == IL_REGEX_SPENT ? eval_fault(s, w, IL_CEL_BUDGET) : il_cel_of_bool(found == 1);
}

/* --- lists and maps in the making --- */

/* What is in the making is ours to write: it is in scratch, and nobody else has seen it. */
static il_cel_value *eval_own(const il_cel_value *v) {
    const union {
        const il_cel_value *read;
        il_cel_value *own;
    } items = {.read = v->u.items};
    return items.own;
}

/* A list or map with room for `n`. */
EVAL_APART il_cel_value eval_begin(const eval_state *s, const il_cel_word *w, il_cel_kind kind, uint32_t n) {
    il_cel_value *room = NULL;
    if (n > 0) {
        room = il_cel_room_values(s->run, kind == IL_CEL_MAP ? 2 * (size_t)n : n);
        if (room == NULL) {
            return eval_fault(s, w, IL_CEL_BUDGET);
        }
    }
    return il_cel_of_items(kind, room, 0);
}

/* A value that is written with `?`: *v becomes what is in it; false: nothing is, and it is left out. */
static bool eval_maybe(const eval_state *s, const il_cel_word *w, il_cel_value *v) {
    if (v->kind != IL_CEL_OPTIONAL) {
        *v = eval_fault(s, w, IL_CEL_NO_OVERLOAD);
        return true;
    }
    if (v->u.items == NULL) {
        return false;
    }
    *v = eval_placed(s, w, *v->u.items);
    return true;
}

/* False when the list, or map, is now an error. */
EVAL_APART bool eval_item(const eval_state *s, const il_cel_word *w) {
    il_cel_value *list = &s->registers[w->a], v = *eval_at(s, w->b);
    if (v.kind == IL_CEL_ERROR) {
        *list = eval_passed(s, w, w->b, 1);
        return false;
    }
    if ((w->mode & 1) != 0 && !eval_maybe(s, w, &v)) {
        return true;
    }
    if (v.kind == IL_CEL_ERROR) {
        *list = v;
        return false;
    }
    eval_own(list)[list->n++] = v;
    return true;
}

EVAL_APART bool eval_key(const eval_state *s, const il_cel_word *w) {
    il_cel_value *map = &s->registers[w->a];
    const il_cel_value *key = eval_at(s, w->b);
    bool fits = key->kind == IL_CEL_STRING || key->kind == IL_CEL_INT || key->kind == IL_CEL_UINT || key->kind == IL_CEL_BOOL;
    if (!fits) {
        *map = eval_no_truth(s, w); /* the error that it is, or no overload */
        return false;
    }
    eval_own(map)[2 * (size_t)map->n] = *key;
    return true;
}

EVAL_APART bool eval_value(const eval_state *s, const il_cel_word *w) {
    il_cel_value *map = &s->registers[w->a], v = *eval_at(s, w->b);
    if (v.kind == IL_CEL_ERROR) {
        *map = eval_passed(s, w, w->b, 1);
        return false;
    }
    if ((w->mode & 1) != 0 && !eval_maybe(s, w, &v)) {
        return true;
    }
    if (v.kind == IL_CEL_ERROR) {
        *map = v;
        return false;
    }
    eval_own(map)[2 * (size_t)map->n + 1] = v;
    map->n++;
    return true;
}

EVAL_APART void eval_map_done(const eval_state *s, const il_cel_word *w) {
    il_cel_value *map = &s->registers[w->a];
    if (map->kind != IL_CEL_MAP) {
        return;
    }
    if (!il_cel_charge(s->run, map->n / 4)) {
        *map = eval_fault(s, w, IL_CEL_BUDGET);
    } else if (!il_cel_sort_entries(eval_own(map), map->n)) {
        *map = eval_fault(s, w, IL_CEL_BAD_VALUE);
    }
}

EVAL_APART bool eval_entries(const eval_state *s, const il_cel_word *w) {
    il_cel_value *map = &s->registers[w->a];
    const il_cel_value *more = eval_at(s, w->b);
    eval_loop *loop = &s->loops[w->mode];
    if (more->kind != IL_CEL_MAP) {
        *map = eval_no_truth(s, w);
        return false;
    }
    uint64_t need = (uint64_t)map->n + more->n;
    if (need > loop->room) {
        uint64_t room = need > 2 * (uint64_t)loop->room ? need : 2 * (uint64_t)loop->room;
        il_cel_value *items = room <= UINT32_MAX / 2 ? il_cel_room_values(s->run, 2 * (size_t)room) : NULL;
        if (items == NULL) {
            *map = eval_fault(s, w, IL_CEL_BUDGET);
            return false;
        }
        if (map->n > 0) {
            memcpy(items, map->u.items, 2 * (size_t)map->n * sizeof *items);
        }
        map->u.items = items;
        loop->room = (uint32_t)room;
    }
    il_cel_walk walk = il_cel_walk_of(more);
    il_cel_value *to = eval_own(map) + 2 * (size_t)map->n;
    while (il_cel_walk_entry(&walk, &to[0], &to[1])) {
        to += 2;
    }
    map->n = (uint32_t)need;
    return true;
}

/* --- loops --- */

/* False when the range is none: then the answer is in the result register. */
EVAL_APART bool eval_loop_begin(const eval_state *s, const il_cel_word *w, const il_cel_word *data) {
    il_cel_value range = *eval_at(s, w->b), *result = &s->registers[data->a];
    eval_loop *loop = &s->loops[w->a];
    if (range.kind != IL_CEL_LIST && (range.kind != IL_CEL_MAP || (w->mode & IL_CEL_ALIKE_LIST) != 0)) {
        *result = eval_no_truth(s, w);
        return false;
    }
    loop->walk = il_cel_walk_of(&range);
    loop->map = range.kind == IL_CEL_MAP;
    loop->index = 0;
    loop->room = range.n;
    switch ((il_cel_begin)data->mode) {
    case IL_CEL_BEGIN_FALSE:
    case IL_CEL_BEGIN_TRUE:
        *result = il_cel_of_bool(data->mode == IL_CEL_BEGIN_TRUE);
        return true;
    case IL_CEL_BEGIN_ZERO:
        *result = il_cel_of_int(0);
        return true;
    case IL_CEL_BEGIN_LIST:
        *result = eval_begin(s, w, IL_CEL_LIST, range.n);
        return result->kind != IL_CEL_ERROR;
    case IL_CEL_BEGIN_MAP:
        *result = eval_begin(s, w, IL_CEL_MAP, range.n);
        return result->kind != IL_CEL_ERROR;
    }
    *result = eval_fault(s, w, IL_CEL_NO_OVERLOAD);
    return false;
}

/* Puts the next item, or entry, into the loop's registers. There is one. */
EVAL_APART void eval_loop_next(const eval_state *s, const il_cel_word *w, eval_loop *loop) {
    const il_cel_loop *info = &s->code->loops[w->b];
    il_cel_value key, value;
    if (loop->map) {
        (void)il_cel_walk_entry(&loop->walk, &key, &value);
    } else {
        key = il_cel_of_int(loop->index++);
        (void)il_cel_walk_item(&loop->walk, &value);
    }
    if (info->two) {
        s->registers[info->slot2] = eval_placed(s, w, value);
    }
    s->registers[info->slot] = eval_placed(s, w, info->two || loop->map ? key : value);
}

/* --- the machine --- */

#if defined(__GNUC__) && !defined(__wasm__) && !defined(IL_CEL_PLAIN_SWITCH)
#pragma GCC diagnostic ignored "-Wpedantic" /* labels as values */
#define EVAL_LABEL(name) &&at_##name,
#define EVAL_BEGIN                                                  \
    static const void *const labels[] = {IL_CEL_CODES(EVAL_LABEL)}; \
    GO;
#define OP(name) at_##name
#define GO                   \
    do {                     \
        w = ip++;            \
        goto *labels[w->op]; \
    } while (0)
#define EVAL_END
#else
#define EVAL_BEGIN \
    next:          \
    w = ip++;      \
    switch ((il_cel_code_op)w->op) {
#define OP(name) case IL_CEL_C_##name
#define GO goto next
#define EVAL_END }
#endif

/* A bool into a, and the LOGIC or TEST that reads it with it. */
#define LEAVE_BOOL(truth)                          \
    do {                                           \
        const bool leave_ = (truth);               \
        r[w->a] = il_cel_of_bool(leave_);          \
        if ((w->mode & IL_CEL_FUSED) != 0) {       \
            if (leave_ == ((ip->mode & 1) != 0)) { \
                r[ip->a] = il_cel_of_bool(leave_); \
                ip = words + ip->c;                \
            } else {                               \
                ip += 1 + (ip->mode >> 1);         \
            }                                      \
        }                                          \
        GO;                                        \
    } while (0)
/* Any value; an exhausted budget ends the run. */
#define LEAVE(value)       \
    do {                   \
        r[w->a] = (value); \
        goto leave;        \
    } while (0)
/* After what has left its answer in a: an error there goes to `to`. */
#define OR_GO(done, to)        \
    do {                       \
        if (!(done)) {         \
            ip = words + (to); \
            goto leave;        \
        }                      \
        GO;                    \
    } while (0)
#define AT(operand) (s->places[(operand) >> 14] + ((operand) & (IL_CEL_PLACES - 1)))
#define BOTH(kind_) (AT(w->b)->kind == (kind_) && AT(w->c)->kind == (kind_))
#define ORDERED(sign)                                     \
    do {                                                  \
        if (BOTH(IL_CEL_INT)) {                           \
            LEAVE_BOOL(AT(w->b)->u.i sign AT(w->c)->u.i); \
        }                                                 \
        LEAVE(eval_binary(s, w));                         \
    } while (0)
#define EQUAL(wanted)                                                               \
    do {                                                                            \
        const il_cel_value *a_ = AT(w->b), *b_ = AT(w->c);                          \
        if (a_->kind == IL_CEL_STRING && b_->kind == IL_CEL_STRING && a_->n < 64) { \
            LEAVE_BOOL(il_cel_same_text(a_, b_) == (wanted));                       \
        }                                                                           \
        if (a_->kind == IL_CEL_INT && b_->kind == IL_CEL_INT) {                     \
            LEAVE_BOOL((a_->u.i == b_->u.i) == (wanted));                           \
        }                                                                           \
        LEAVE(eval_binary(s, w));                                                   \
    } while (0)

static il_cel_value eval_words(const eval_state *s) {
    const il_cel_word *const words = s->code->words, *ip = words, *w;
    il_cel_value *const r = s->registers;
    EVAL_BEGIN
    OP(RETURN) : {
        const il_cel_value *out = AT(w->b);
        return out->kind == IL_CEL_ERROR ? eval_passed(s, w, w->b, 0) : *out;
    }
    OP(MOVE) : {
        const il_cel_value *from = AT(w->b);
        if (from->kind == IL_CEL_ERROR) {
            LEAVE(eval_passed(s, w, w->b, 0));
        }
        r[w->a] = *from;
        GO;
    }
    OP(FAULT) : LEAVE(eval_fault(s, w, (il_cel_fault)w->b));
    OP(JUMP) : {
        ip = words + w->c;
        GO;
    }
    OP(DATA) : GO;
    OP(LOGIC) : {
        const il_cel_value *next = AT(w->b);
        if (next->kind == IL_CEL_BOOL) {
            if (next->u.b == ((w->mode & 1) != 0)) {
                r[w->a] = *next;
                ip = words + w->c;
            }
            GO;
        }
        const il_cel_value v = eval_no_truth(s, w);
        if (v.fault == IL_CEL_BUDGET) {
            return v;
        }
        if (r[w->a].kind != IL_CEL_ERROR) {
            r[w->a] = v;
        }
        GO;
    }
    OP(TEST) : {
        const il_cel_value *condition = AT(w->b);
        if (condition->kind == IL_CEL_BOOL) {
            ip = condition->u.b ? ip + 1 : words + w->c;
            GO;
        }
        const il_cel_value v = eval_no_truth(s, w);
        if (v.fault == IL_CEL_BUDGET) {
            return v;
        }
        r[ip->a] = v;
        ip = words + ip->c;
        GO;
    }
    OP(FIELD) : {
        const il_cel_value *record = AT(w->b);
        if (record->kind == IL_CEL_RECORD && w->c < record->n && record->u.items[w->c].kind != IL_CEL_ERROR) {
            r[w->a] = record->u.items[w->c];
            GO;
        }
        LEAVE(eval_field(s, w));
    }
    OP(SELECT) : {
        const il_cel_value *map = AT(w->b);
        if (map->kind == IL_CEL_MAP && map->json && ip->mode == IL_CEL_PLAIN) { /* `args.to` */
            const il_json *member = il_cel_json_member(map->u.node, &s->code->constants[w->c]);
            if (member != NULL) {
                ip++;
                r[w->a] = il_cel_json_value(member);
                if (r[w->a].kind != IL_CEL_ERROR) {
                    goto leave;
                }
                LEAVE(eval_placed(s, w, r[w->a]));
            }
        }
        il_cel_how how = (il_cel_how)ip++->mode;
        LEAVE(eval_member(s, w, how));
    }
    OP(MEMBER) : {
        il_cel_how how = (il_cel_how)ip++->mode;
        LEAVE(eval_member(s, w, how));
    }
    OP(INDEX) : {
        il_cel_how how = (il_cel_how)ip++->mode;
        LEAVE(eval_index(s, w, how));
    }
    OP(NOT) : {
        const il_cel_value *of = AT(w->b);
        if (of->kind == IL_CEL_BOOL) {
            LEAVE_BOOL(!of->u.b);
        }
        LEAVE(eval_no_truth(s, w));
    }
    OP(NEG) : LEAVE(eval_negative(s, w));
    OP(MUL) : OP(DIV) : OP(MOD) : LEAVE(eval_binary(s, w));
    OP(ADD) : {
        int64_t sum;
        if (BOTH(IL_CEL_INT) && !__builtin_add_overflow(AT(w->b)->u.i, AT(w->c)->u.i, &sum)) {
            r[w->a] = il_cel_of_int(sum);
            GO;
        }
        LEAVE(eval_binary(s, w));
    }
    OP(SUB) : {
        int64_t rest;
        if (BOTH(IL_CEL_INT) && !__builtin_sub_overflow(AT(w->b)->u.i, AT(w->c)->u.i, &rest)) {
            r[w->a] = il_cel_of_int(rest);
            GO;
        }
        LEAVE(eval_binary(s, w));
    }
    OP(LT) : ORDERED(<);
    OP(LE) : ORDERED(<=);
    OP(GT) : ORDERED(>);
    OP(GE) : ORDERED(>=);
    OP(EQ) : EQUAL(true);
    OP(NE) : EQUAL(false);
    OP(IN) : LEAVE(eval_binary(s, w));
    OP(IN_SET) : {
        const il_cel_value *value = AT(w->b);
        if (value->kind == IL_CEL_ERROR) {
            LEAVE(eval_passed(s, w, w->b, 1));
        }
        const bool in = il_cel_set_has(s->run, &s->code->sets[w->c], value);
        if (s->run->steps < 0) {
            goto spent;
        }
        if (!in && il_cel_unlike(s->run)) {
            LEAVE(eval_fault(s, w, IL_CEL_NO_OVERLOAD));
        }
        LEAVE_BOOL(in);
    }
    OP(IN_ITEM) : {
        bool ends;
        r[w->a] = eval_in_item(s, w, &ends);
        const uint16_t to = ip++->c;
        if (ends) {
            ip = words + to;
        }
        goto leave;
    }
    OP(FIELD_IS) : {
        const il_cel_value *record = AT(w->b);
        const il_cel_word *data = ip++;
        if (record->kind == IL_CEL_RECORD && w->c < record->n) {
            const il_cel_value *field = &record->u.items[w->c];
            if (field->kind == IL_CEL_STRING) {
                LEAVE_BOOL(il_cel_same_text(field, &s->code->constants[data->c]) == ((data->mode & 1) == 0));
            }
        }
        LEAVE(eval_field_is(s, w, data));
    }
    OP(EACH_IS) : {
        const il_cel_word *data = ip++;
        const int all = eval_each_word(s, AT(w->b), &s->code->constants[w->c], data);
        if (all >= 0) {
            LEAVE_BOOL(all != 0);
        }
        LEAVE(eval_each_is(s, w, data));
    }
    OP(SIZE) : {
        const il_cel_value *of = AT(w->b);
        const il_cel_word *data = ip++;
        if (of->kind == IL_CEL_LIST || of->kind == IL_CEL_MAP || of->kind == IL_CEL_BYTES) {
            r[w->a] = il_cel_of_int(of->n);
            GO;
        }
        r[data->b] = of->kind == IL_CEL_ERROR ? eval_passed(s, w, w->b, 1) : *of;
        LEAVE(eval_call(s, w, data->b, data->c));
    }
    OP(SIZE_ORDER) : {
        const il_cel_value *of = AT(w->b);
        const il_cel_word *data = ip++;
        const il_cel_code_op order = (il_cel_code_op)data->mode;
        const int64_t least = of->kind == IL_CEL_STRING ? ((int64_t)of->n + 3) / 4 : of->n, with = s->code->constants[w->c].u.i;
        if (of->kind == IL_CEL_STRING || of->kind == IL_CEL_LIST || of->kind == IL_CEL_MAP || of->kind == IL_CEL_BYTES) {
            const bool truth = eval_ordered(order, of->n, with);
            if (eval_ordered(order, least, with) == truth) {
                LEAVE_BOOL(truth);
            }
            if (!il_cel_charge(s->run, of->n / 64)) {
                goto spent;
            }
            LEAVE_BOOL(eval_ordered(order, (int64_t)il_utf8_count(il_cel_str(*of)), with));
        }
        r[data->b] = of->kind == IL_CEL_ERROR ? eval_passed(s, w, w->b, 1) : *of;
        LEAVE(eval_call(s, w, data->b, data->c));
    }
    OP(CALL) : OP(HOST) : LEAVE(eval_call(s, w, w->b, w->c));
    OP(MATCHES) : LEAVE(eval_matches(s, w));
    OP(LIST) : LEAVE(eval_begin(s, w, IL_CEL_LIST, w->c));
    OP(ITEM) : OR_GO(eval_item(s, w), w->c);
    OP(MAP) : LEAVE(eval_begin(s, w, IL_CEL_MAP, w->c));
    OP(KEY) : OR_GO(eval_key(s, w), w->c);
    OP(VALUE) : OR_GO(eval_value(s, w), w->c);
    OP(MAP_DONE) : {
        eval_map_done(s, w);
        LEAVE(r[w->a]);
    }
    OP(ENTRIES) : OR_GO(eval_entries(s, w), w->c);
    OP(LOOP) : {
        const il_cel_word *data = ip++;
        const bool begun = eval_loop_begin(s, w, data);
        if (r[data->a].kind == IL_CEL_ERROR && r[data->a].fault == IL_CEL_BUDGET) {
            return r[data->a];
        }
        ip = words + (begun ? w->c : data->c);
        GO;
    }
    OP(NEXT) : {
        eval_loop *loop = &s->loops[w->a];
        const il_cel_loop *info = &s->code->loops[w->b];
        if (loop->walk.left == 0) {
            GO;
        }
        if (!il_cel_charge(s->run, info->weight)) {
            goto spent;
        }
        ip = words + w->c;
        if (!loop->map && loop->walk.items != NULL && !info->two && loop->walk.items->kind != IL_CEL_ERROR) {
            r[info->slot] = *loop->walk.items++;
            loop->walk.left--;
        } else if (!loop->map && loop->walk.items == NULL && !info->two && loop->walk.node->kind >= IL_JSON_STRING) {
            r[info->slot] = il_cel_json_value(loop->walk.node);
            loop->walk.node = loop->walk.node->next;
            loop->walk.left--;
        } else {
            eval_loop_next(s, w, loop);
            if (eval_spent(&r[info->slot]) || (info->two && eval_spent(&r[info->slot2]))) {
                goto spent;
            }
        }
        GO;
    }
    OP(COUNT) : {
        const il_cel_value *condition = AT(w->b);
        if (condition->kind == IL_CEL_BOOL) {
            r[w->a].u.i += condition->u.b ? 1 : 0;
            GO;
        }
        ip = words + w->c;
        LEAVE(eval_no_truth(s, w));
    }
    OP(ONE) : {
        if (r[w->a].kind == IL_CEL_INT) {
            LEAVE_BOOL(r[w->a].u.i == 1);
        }
        GO;
    }
    OP(OPEN) : {
        const il_cel_value *of = AT(w->b);
        const il_cel_word *data = ip++;
        if (of->kind == IL_CEL_OPTIONAL && of->u.items != NULL) {
            LEAVE(eval_placed(s, w, *of->u.items));
        }
        const il_cel_value v = of->kind == IL_CEL_OPTIONAL ? *of : eval_no_truth(s, w);
        if (eval_spent(&v)) {
            return v;
        }
        r[data->a] = v;
        ip = words + data->c;
        GO;
    }
    OP(WRAP) : {
        const il_cel_value *of = AT(w->b);
        LEAVE(of->kind == IL_CEL_ERROR ? eval_passed(s, w, w->b, 1) : eval_placed(s, w, il_cel_some(s->run, of)));
    }
    OP(OPTIONAL) : {
        const uint8_t kind = r[w->a].kind;
        if (kind != IL_CEL_OPTIONAL && kind != IL_CEL_ERROR) {
            LEAVE(eval_fault(s, w, IL_CEL_NO_OVERLOAD));
        }
        GO;
    }
    EVAL_END
leave:
    if (r[w->a].kind == IL_CEL_BOOL) {
        LEAVE_BOOL(r[w->a].u.b);
    }
    if (eval_spent(&r[w->a])) {
        return r[w->a];
    }
    GO;
spent:
    return eval_fault(s, w, IL_CEL_BUDGET);
}

/* --- frames --- */

static il_cel_value eval_framed(il_cel_run *run, const il_cel_code *code, const il_cel_value *vars, il_cel_value *registers,
                                eval_loop *loops) {
    const eval_state s = {run, code, registers, {registers, code->constants, vars}, loops};
    return eval_words(&s);
}

static il_cel_value eval_few(il_cel_run *run, const il_cel_code *code, const il_cel_value *vars) {
    il_cel_value registers[IL_CEL_REGISTERS_FEW];
    eval_loop loops[IL_CEL_LOOPS_FEW];
    return eval_framed(run, code, vars, registers, loops);
}

static il_cel_value eval_many(il_cel_run *run, const il_cel_code *code, const il_cel_value *vars) {
    il_cel_value registers[IL_CEL_REGISTERS];
    eval_loop loops[IL_CEL_LOCALS];
    return eval_framed(run, code, vars, registers, loops);
}

il_cel_value il_cel_run_code(il_cel_run *r, const il_cel_code *code, const il_cel_value *vars) {
    if (code->nregisters <= IL_CEL_REGISTERS_FEW && code->nlevels <= IL_CEL_LOOPS_FEW) {
        return eval_few(r, code, vars);
    }
    return eval_many(r, code, vars);
}

il_cel_value il_cel_eval_in(const il_cel_program *program, const il_cel_value *vars, il_arena *scratch, void *host) {
    il_cel_run r = {.program = program, .scratch = scratch, .steps = (int64_t)program->steps, .host = host};
    return il_cel_run_code(&r, program->code, vars);
}

il_cel_value il_cel_eval(const il_cel_program *program, const il_cel_value *vars, il_arena *scratch) {
    return il_cel_eval_in(program, vars, scratch, NULL);
}
