/* SPDX-License-Identifier: Apache-2.0 */
/* From the checked tree to words. Registers are a stack: what is below m->top is in use. A result register is never one that
 * what is computed on the way
 * writes to, so an operand may be computed right there. */
#include "cel/generate.h"

#define MAKE_NO_LAST UINT32_MAX

static il_status make_into(il_cel_maker *m, const il_cel_node *n, uint16_t dest);

/* --- growing arrays ------------------------------------------------------------------------------------------------------- */

static il_status make_grow(il_cel_maker *m, void **array, uint32_t *room, uint32_t used, size_t size) {
    if (used < *room) {
        return IL_OK;
    }
    uint32_t more = *room == 0 ? 16 : *room * 2;
    void *p = il_arena_array(m->room, more, size);
    if (p == NULL) {
        return il_cel_no_memory(m->room, m->err);
    }
    if (used > 0) {
        memcpy(p, *array, used * size);
    }
    *array = p;
    *room = more;
    return IL_OK;
}

#define MAKE_GROW(m, array, used)                                                           \
    do {                                                                                    \
        void *grown_ = (m)->array;                                                          \
        IL_TRY(make_grow((m), &grown_, &(m)->array##_room, (m)->used, sizeof *(m)->array)); \
        (m)->array = grown_;                                                                \
    } while (0)

static il_status make_too_large(const il_cel_maker *m, const il_cel_node *n, const char *what) {
    return IL_CEL_FAIL(n->src, n->start, m->err, IL_E_LIMIT, "this expression needs too many %s; split it", what);
}

/* --- words ------------------------------------------------------------------------------------------------------------------ */

static il_status make_raw(il_cel_maker *m, const il_cel_node *n, il_cel_code_op op, uint8_t mode, uint32_t a, uint32_t b,
                          uint32_t c) {
    if (m->nwords >= IL_CEL_WORDS) {
        return make_too_large(m, n, "instructions");
    }
    uint32_t nodes_room = m->words_room;
    if (m->nwords == m->words_room) {
        void *nodes = m->nodes;
        IL_TRY(make_grow(m, &nodes, &nodes_room, m->nwords, sizeof(void *)));
        m->nodes = nodes;
    }
    MAKE_GROW(m, words, nwords);
    m->nodes[m->nwords] = n;
    m->words[m->nwords++] = (il_cel_word){(uint8_t)op, mode, (uint16_t)a, (uint16_t)b, (uint16_t)c};
    return IL_OK;
}

/* An instruction's first word; make_data adds its second. */
static il_status make_word(il_cel_maker *m, const il_cel_node *n, il_cel_code_op op, uint32_t a, uint32_t b, uint32_t c) {
    IL_TRY(make_raw(m, n, op, 0, a, b, c));
    m->last = m->nwords - 1;
    return IL_OK;
}

static il_status make_data(il_cel_maker *m, const il_cel_node *n, uint8_t mode, uint32_t a, uint32_t b, uint32_t c) {
    return make_raw(m, n, IL_CEL_C_DATA, mode, a, b, c);
}

/* A jump from the word `from` comes to what is made next. */
static void make_land(il_cel_maker *m, uint32_t from) {
    m->words[from].c = (uint16_t)m->nwords;
    m->last = MAKE_NO_LAST;
}

/* The jumps of one construct to its end, kept as a list in the words themselves: each c holds 1 + the word before it, 0 ends. */
static void make_leap(il_cel_maker *m, uint32_t from, uint32_t *list) {
    m->words[from].c = (uint16_t)*list;
    *list = from + 1;
}

static void make_land_all(il_cel_maker *m, uint32_t list) {
    while (list != 0) {
        uint32_t next = m->words[list - 1].c;
        make_land(m, list - 1);
        list = next;
    }
    m->last = MAKE_NO_LAST;
}

static bool make_leaves_bool(uint8_t op) {
    switch ((il_cel_code_op)op) {
    case IL_CEL_C_NOT:
    case IL_CEL_C_LT:
    case IL_CEL_C_LE:
    case IL_CEL_C_GT:
    case IL_CEL_C_GE:
    case IL_CEL_C_EQ:
    case IL_CEL_C_NE:
    case IL_CEL_C_IN:
    case IL_CEL_C_IN_SET:
    case IL_CEL_C_FIELD_IS:
    case IL_CEL_C_EACH_IS:
    case IL_CEL_C_SIZE_ORDER:
    case IL_CEL_C_CALL:
    case IL_CEL_C_HOST:
    case IL_CEL_C_MATCHES:
    case IL_CEL_C_MEMBER:
    case IL_CEL_C_SELECT:
    case IL_CEL_C_INDEX:
        return true;
    case IL_CEL_C_RETURN:
    case IL_CEL_C_MOVE:
    case IL_CEL_C_FAULT:
    case IL_CEL_C_JUMP:
    case IL_CEL_C_DATA:
    case IL_CEL_C_LOGIC:
    case IL_CEL_C_TEST:
    case IL_CEL_C_FIELD:
    case IL_CEL_C_NEG:
    case IL_CEL_C_MUL:
    case IL_CEL_C_DIV:
    case IL_CEL_C_MOD:
    case IL_CEL_C_ADD:
    case IL_CEL_C_SUB:
    case IL_CEL_C_IN_ITEM:
    case IL_CEL_C_SIZE:
    case IL_CEL_C_LIST:
    case IL_CEL_C_ITEM:
    case IL_CEL_C_MAP:
    case IL_CEL_C_KEY:
    case IL_CEL_C_VALUE:
    case IL_CEL_C_MAP_DONE:
    case IL_CEL_C_ENTRIES:
    case IL_CEL_C_LOOP:
    case IL_CEL_C_NEXT:
    case IL_CEL_C_COUNT:
    case IL_CEL_C_ONE:
    case IL_CEL_C_OPEN:
    case IL_CEL_C_WRAP:
    case IL_CEL_C_OPTIONAL:
        break;
    }
    return false;
}

/* The LOGIC or TEST that is made next reads `operand`: the word that leaves it may do both. */
static void make_fuse(il_cel_maker *m, uint32_t operand) {
    if (m->last != MAKE_NO_LAST && m->words[m->last].a == operand && make_leaves_bool(m->words[m->last].op)) {
        m->words[m->last].mode |= IL_CEL_FUSED;
    }
}

/* --- registers and operands --- */

static il_status make_register(il_cel_maker *m, const il_cel_node *n, uint16_t *out) {
    if (m->top >= IL_CEL_REGISTERS) {
        return make_too_large(m, n, "values at once");
    }
    *out = (uint16_t)m->top++;
    m->most = m->top > m->most ? m->top : m->most;
    return IL_OK;
}

static il_status make_constant(il_cel_maker *m, const il_cel_node *n, il_cel_value v, uint16_t *out) {
    if (m->nconstants >= IL_CEL_PLACES) {
        return make_too_large(m, n, "constants");
    }
    MAKE_GROW(m, constants, nconstants);
    m->constants[m->nconstants] = v;
    *out = (uint16_t)(IL_CEL_IN_CONSTANT * IL_CEL_PLACES + m->nconstants++);
    return IL_OK;
}

/* What needs no code to be read; false: something does. */
static il_status make_place(il_cel_maker *m, const il_cel_node *n, bool *is, uint16_t *out) {
    *is = true;
    if (n->constant) {
        return make_constant(m, n, n->lit, out);
    }
    if (n->op == IL_CEL_OP_LOCAL) {
        *out = (uint16_t)n->slot;
        return IL_OK;
    }
    if (n->op == IL_CEL_OP_VAR) {
        if (n->slot >= IL_CEL_PLACES) {
            return make_too_large(m, n, "variables");
        }
        *out = (uint16_t)(IL_CEL_IN_VARIABLE * IL_CEL_PLACES + n->slot);
        return IL_OK;
    }
    if (n->op == IL_CEL_OP_LET) {
        return make_place(m, n->kids, is, out);
    }
    *is = false;
    return IL_OK;
}

/* The value as an operand: where it is, or computed into `room`. */
static il_status make_operand_in(il_cel_maker *m, const il_cel_node *n, uint16_t room, uint16_t *out) {
    bool is = false;
    IL_TRY(make_place(m, n, &is, out));
    if (!is) {
        *out = room;
        return make_into(m, n, room);
    }
    return IL_OK;
}

/* The same in a register of its own; the caller puts m->top back. */
static il_status make_operand(il_cel_maker *m, const il_cel_node *n, uint16_t *out) {
    bool is = false;
    IL_TRY(make_place(m, n, &is, out));
    if (!is) {
        IL_TRY(make_register(m, n, out));
        return make_into(m, n, *out);
    }
    return IL_OK;
}

static const il_cel_node *make_second(const il_cel_node *n) { return n->kids->next; }

/* --- operators --- */

static il_status make_binary(il_cel_maker *m, const il_cel_node *n, il_cel_code_op op, uint16_t dest) {
    uint16_t a = 0, b = 0;
    uint32_t top = m->top;
    IL_TRY(make_operand_in(m, n->kids, dest, &a));
    IL_TRY(make_operand(m, make_second(n), &b));
    m->top = top;
    return make_word(m, n, op, dest, a, b);
}

static il_status make_unary(il_cel_maker *m, const il_cel_node *n, il_cel_code_op op, uint16_t dest) {
    uint16_t a = 0;
    IL_TRY(make_operand_in(m, n->kids, dest, &a));
    return make_word(m, n, op, dest, a, 0);
}

/* A select whose field is known by number: of a record, or of an optional of one. */
static bool make_is_numbered(const il_cel_node *n, bool *optional) {
    const il_cel_type *of = n->kids->type;
    *optional = of != NULL && of->kind == IL_CEL_OPTIONAL;
    of = *optional ? of->element : of;
    return of != NULL && of->kind == IL_CEL_RECORD;
}

static il_status make_select(il_cel_maker *m, const il_cel_node *n, il_cel_how how, uint16_t dest) {
    bool optional = false;
    uint16_t of = 0, name = 0;
    bool numbered = make_is_numbered(n, &optional);
    IL_TRY(make_operand_in(m, n->kids, dest, &of));
    if (numbered && n->field > UINT16_MAX) {
        return make_too_large(m, n, "fields");
    }
    if (numbered && !optional && how == IL_CEL_PLAIN) {
        return make_word(m, n, IL_CEL_C_FIELD, dest, of, n->field);
    }
    if (numbered) {
        IL_TRY(make_word(m, n, IL_CEL_C_MEMBER, dest, of, n->field));
    } else {
        IL_TRY(make_constant(m, n, il_cel_of_str(n->name), &name));
        IL_TRY(make_word(m, n, IL_CEL_C_SELECT, dest, of, name & (IL_CEL_PLACES - 1)));
    }
    return make_data(m, n, (uint8_t)how, 0, 0, 0);
}

static il_status make_index(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    IL_TRY(make_binary(m, n, IL_CEL_C_INDEX, dest));
    return make_data(m, n, n->optional ? IL_CEL_MAYBE : IL_CEL_PLAIN, 0, 0, 0);
}

/* What the latest instruction leaves in `dest`, the other way around; false: it does not say it so. Errors stay what they are,
 * and `all x != c` is what
 * `!` makes of `exists x == c`. */
static bool make_turn(il_cel_maker *m, uint16_t dest) {
    if (m->last == MAKE_NO_LAST || m->words[m->last].a != dest) {
        return false;
    }
    il_cel_word *w = &m->words[m->last];
    if (w->op == IL_CEL_C_EQ || w->op == IL_CEL_C_NE) {
        w->op = w->op == IL_CEL_C_EQ ? IL_CEL_C_NE : IL_CEL_C_EQ;
    } else if (w->op == IL_CEL_C_FIELD_IS) {
        w[1].mode ^= 1;
    } else if (w->op == IL_CEL_C_EACH_IS) {
        w[1].mode ^= IL_CEL_EACH_NOT | IL_CEL_EACH_ALL;
    } else {
        return false;
    }
    return true;
}

static il_status make_not(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    uint16_t a = 0;
    IL_TRY(make_operand_in(m, n->kids, dest, &a));
    return a == dest && make_turn(m, dest) ? IL_OK : make_word(m, n, IL_CEL_C_NOT, dest, a, 0);
}

static bool make_is_text(const il_cel_node *n) { return n->constant && n->lit.kind == IL_CEL_STRING; }

/* `record.field == 'text'`, either way around. */
static bool make_is_field_is(const il_cel_node *n, const il_cel_node **field, const il_cel_node **text) {
    const il_cel_node *a = n->kids, *b = make_second(n);
    bool turned = make_is_text(a), optional = false;
    *field = turned ? b : a;
    *text = turned ? a : b;
    const il_cel_node *f = *field;
    return make_is_text(*text) && !f->constant && (f->op == IL_CEL_OP_FIELD || (f->op == IL_CEL_OP_SELECT && !f->optional)) &&
           make_is_numbered(f, &optional) && !optional && f->field <= UINT16_MAX;
}

static il_status make_equal(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    const il_cel_node *field = NULL, *text = NULL;
    bool negated = n->op == IL_CEL_OP_NE;
    if (!make_is_field_is(n, &field, &text)) {
        return make_binary(m, n, negated ? IL_CEL_C_NE : IL_CEL_C_EQ, dest);
    }
    uint16_t record = 0, constant = 0;
    IL_TRY(make_operand_in(m, field->kids, dest, &record));
    IL_TRY(make_constant(m, n, text->lit, &constant));
    IL_TRY(make_word(m, n, IL_CEL_C_FIELD_IS, dest, record, field->field));
    return make_data(m, n, negated ? 1 : 0, 0, 0, constant & (IL_CEL_PLACES - 1));
}

static il_status make_in_set(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    if (m->nsets > UINT16_MAX) {
        return make_too_large(m, n, "lists");
    }
    uint16_t v = 0;
    IL_TRY(make_operand_in(m, n->kids, dest, &v));
    MAKE_GROW(m, sets, nsets);
    IL_TRY(il_cel_set_make(m->arena, make_second(n)->lit, &m->sets[m->nsets], m->err));
    return make_word(m, n, IL_CEL_C_IN_SET, dest, v, m->nsets++);
}

/* `x in [a, b]` builds no list; but every item is evaluated, as an error in one is the list's. */
static il_status make_in_items(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    uint16_t v = 0, item = 0, no = 0;
    uint32_t top = m->top, ends = 0;
    IL_TRY(make_operand(m, n->kids, &v));
    IL_TRY(make_constant(m, n, il_cel_of_bool(false), &no));
    IL_TRY(make_word(m, n, IL_CEL_C_MOVE, dest, no, 0));
    for (const il_cel_node *k = make_second(n)->kids; k != NULL; k = k->next) {
        uint32_t before = m->top;
        IL_TRY(make_operand(m, k, &item));
        m->top = before;
        IL_TRY(make_word(m, n, IL_CEL_C_IN_ITEM, dest, v, item));
        IL_TRY(make_data(m, n, 0, 0, 0, 0));
        make_leap(m, m->nwords - 1, &ends);
    }
    m->top = top;
    make_land_all(m, ends);
    return IL_OK;
}

static il_status make_in(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    const il_cel_node *of = make_second(n);
    if (of->constant && il_cel_set_worth(&of->lit)) {
        return make_in_set(m, n, dest);
    }
    bool plain = of->op == IL_CEL_OP_LIST && !of->constant && of->kids != NULL;
    for (const il_cel_node *k = of->kids; k != NULL && plain; k = k->next) {
        plain = !k->maybe;
    }
    if (plain) {
        return make_in_items(m, n, dest);
    }
    IL_TRY(make_binary(m, n, IL_CEL_C_IN, dest));
    m->words[m->last].mode = n->alike;
    return IL_OK;
}

/* --- conditions --- */

static il_status make_logic(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    uint8_t decides = n->op == IL_CEL_OP_OR ? 1 : 0;
    uint32_t top = m->top, ends = 0;
    uint16_t v = dest;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        if (k == n->kids) {
            IL_TRY(make_into(m, k, dest));
        } else {
            IL_TRY(make_operand(m, k, &v));
            m->top = top;
        }
        make_fuse(m, v);
        IL_TRY(make_raw(m, k->op == IL_CEL_OP_VAR ? k : n, IL_CEL_C_LOGIC, decides, dest, v, 0));
        m->last = m->nwords - 1;
        make_leap(m, m->last, &ends);
    }
    make_land_all(m, ends);
    return IL_OK;
}

/* The condition `n`, tested: *no is the word whose c wants the place to go to when it is false; *error that for errors, which
 * go to dest. */
static il_status make_test(il_cel_maker *m, const il_cel_node *at, const il_cel_node *n, uint16_t dest, uint32_t *no,
                           uint32_t *error) {
    uint32_t top = m->top;
    uint16_t v = 0;
    IL_TRY(make_operand(m, n, &v));
    m->top = top;
    make_fuse(m, v);
    IL_TRY(make_raw(m, at, IL_CEL_C_TEST, 2, v, v, 0));
    *no = m->nwords - 1;
    IL_TRY(make_data(m, at, 0, dest, 0, 0));
    *error = m->nwords - 1;
    m->last = MAKE_NO_LAST;
    return IL_OK;
}

static il_status make_cond(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    const il_cel_node *yes = make_second(n);
    uint32_t no = 0, error = 0, ends = 0;
    IL_TRY(make_test(m, n, n->kids, dest, &no, &error));
    make_leap(m, error, &ends);
    IL_TRY(make_into(m, yes, dest));
    IL_TRY(make_word(m, n, IL_CEL_C_JUMP, 0, 0, 0));
    make_leap(m, m->nwords - 1, &ends);
    make_land(m, no);
    IL_TRY(make_into(m, yes->next, dest));
    make_land_all(m, ends);
    return IL_OK;
}

/* --- lists and maps --- */

static uint32_t make_count(const il_cel_node *k) {
    uint32_t n = 0;
    for (; k != NULL; k = k->next) {
        n++;
    }
    return n;
}

static il_status make_list(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    uint32_t ends = 0, top = m->top, count = make_count(n->kids);
    uint16_t item = 0;
    if (count > UINT16_MAX) {
        return make_too_large(m, n, "items");
    }
    IL_TRY(make_word(m, n, IL_CEL_C_LIST, dest, 0, count));
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        IL_TRY(make_operand(m, k, &item));
        m->top = top;
        IL_TRY(make_raw(m, k, IL_CEL_C_ITEM, k->maybe ? 1 : 0, dest, item, 0));
        make_leap(m, m->nwords - 1, &ends);
    }
    make_land_all(m, ends);
    return IL_OK;
}

/* Adds the entries of a map literal to the map in dest. */
static il_status make_entries(il_cel_maker *m, const il_cel_node *n, uint16_t dest, uint32_t *ends) {
    uint32_t top = m->top;
    uint16_t v = 0;
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next->next) {
        IL_TRY(make_operand(m, k, &v));
        m->top = top;
        IL_TRY(make_raw(m, k, IL_CEL_C_KEY, 0, dest, v, 0));
        make_leap(m, m->nwords - 1, ends);
        IL_TRY(make_operand(m, k->next, &v));
        m->top = top;
        IL_TRY(make_raw(m, k->next, IL_CEL_C_VALUE, k->maybe ? 1 : 0, dest, v, 0));
        make_leap(m, m->nwords - 1, ends);
    }
    return IL_OK;
}

static il_status make_map(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    uint32_t ends = 0, count = make_count(n->kids) / 2;
    if (count > UINT16_MAX) {
        return make_too_large(m, n, "entries");
    }
    IL_TRY(make_word(m, n, IL_CEL_C_MAP, dest, 0, count));
    IL_TRY(make_entries(m, n, dest, &ends));
    IL_TRY(make_word(m, n, IL_CEL_C_MAP_DONE, dest, 0, 0));
    make_land_all(m, ends);
    return IL_OK;
}

/* --- calls --- */

/* Whether some overload takes so many arguments; a table's function may count on it. */
static bool make_arity(const il_cel_builtin *b, uint32_t nargs) {
    for (uint32_t i = 0; i < b->noverloads; i++) {
        uint32_t n = 0;
        while (n < sizeof b->overloads[i].params / sizeof b->overloads[i].params[0] && b->overloads[i].params[n] != NULL) {
            n++;
        }
        if (n == nargs || (b->variadic && nargs > n)) {
            return true;
        }
    }
    return false;
}

static il_status make_site_of(il_cel_maker *m, const il_cel_node *n, il_cel_site site, uint32_t *out) {
    if (m->nsites > UINT16_MAX) {
        return make_too_large(m, n, "calls");
    }
    MAKE_GROW(m, sites, nsites);
    m->sites[m->nsites] = site;
    *out = m->nsites++;
    return IL_OK;
}

static il_status make_site(il_cel_maker *m, const il_cel_node *n, uint32_t nargs, uint32_t *out) {
    return make_site_of(m, n, (il_cel_site){n->builtin, n->function, n->regex, nargs}, out);
}

static il_status make_size(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    uint16_t v = 0, arg = 0;
    uint32_t top = m->top, site = 0;
    IL_TRY(make_operand_in(m, n->kids, dest, &v));
    IL_TRY(make_register(m, n, &arg));
    m->top = top;
    IL_TRY(make_site(m, n, 1, &site));
    IL_TRY(make_word(m, n, IL_CEL_C_SIZE, dest, v, 0));
    return make_data(m, n, 0, 0, arg, site);
}

static bool make_is_size(const il_cel_node *n) {
    return !n->constant && n->op == IL_CEL_OP_CALL && n->function == NULL && n->builtin != NULL && make_count(n->kids) == 1 &&
           il_str_eq(n->builtin->name, IL_STR("size"));
}

static il_cel_code_op make_turned(il_cel_code_op op) {
    return op == IL_CEL_C_LT ? IL_CEL_C_GT : op == IL_CEL_C_LE ? IL_CEL_C_GE : op == IL_CEL_C_GT ? IL_CEL_C_LT : IL_CEL_C_LE;
}

/* LT to GE. A text's size need not be counted when its bytes decide: a code point has 1 to 4. */
static il_status make_order(il_cel_maker *m, const il_cel_node *n, il_cel_code_op op, uint16_t dest) {
    const bool turned = n->kids->constant;
    const il_cel_node *size = turned ? make_second(n) : n->kids, *with = turned ? n->kids : make_second(n);
    if (!make_is_size(size) || !with->constant || with->lit.kind != IL_CEL_INT) {
        return make_binary(m, n, op, dest);
    }
    uint16_t v = 0, arg = 0, constant = 0;
    uint32_t top = m->top, site = 0;
    IL_TRY(make_operand_in(m, size->kids, dest, &v));
    IL_TRY(make_register(m, n, &arg));
    m->top = top;
    IL_TRY(make_site(m, size, 1, &site));
    IL_TRY(make_constant(m, n, with->lit, &constant));
    IL_TRY(make_word(m, size, IL_CEL_C_SIZE_ORDER, dest, v, constant & (IL_CEL_PLACES - 1)));
    return make_data(m, size, (uint8_t)(turned ? make_turned(op) : op), 0, arg, site);
}

static il_status make_matches(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    uint16_t v = 0;
    uint32_t site = 0;
    IL_TRY(make_operand_in(m, n->kids, dest, &v));
    IL_TRY(make_site(m, n, 2, &site));
    return make_word(m, n, IL_CEL_C_MATCHES, dest, v, site);
}

/* `o.or(p)`, `o.orValue(v)`: the right side is computed when the left has no value; else the left stands in for it. */
static il_status make_or(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    uint16_t left = 0, right = 0;
    uint32_t top = m->top, asks = 0, site = 0, skips = 0, ends = 0;
    const il_cel_builtin *has_value = il_cel_builtin_find(IL_STR("hasValue"), true);
    IL_CHECK(has_value != NULL, m->err);
    IL_TRY(make_register(m, n, &left));
    IL_TRY(make_into(m, n->kids, left));
    IL_TRY(make_register(m, n, &right));
    IL_TRY(make_site_of(m, n, (il_cel_site){.builtin = has_value, .nargs = 1}, &asks));
    IL_TRY(make_word(m, n, IL_CEL_C_CALL, right, left, asks));
    IL_TRY(make_raw(m, n, IL_CEL_C_TEST, 2, right, right, 0));
    const uint32_t empty = m->nwords - 1;
    IL_TRY(make_data(m, n, 0, dest, 0, 0));
    make_leap(m, m->nwords - 1, &ends);
    IL_TRY(make_word(m, n, IL_CEL_C_MOVE, right, left, 0));
    IL_TRY(make_word(m, n, IL_CEL_C_JUMP, 0, 0, 0));
    skips = m->nwords - 1;
    make_land(m, empty);
    IL_TRY(make_into(m, make_second(n), right));
    make_land(m, skips);
    m->top = top;
    IL_TRY(make_site(m, n, 2, &site));
    IL_TRY(make_word(m, n, IL_CEL_C_CALL, dest, left, site));
    make_land_all(m, ends);
    return IL_OK;
}

static il_status make_call(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    uint32_t nargs = make_count(n->kids), top = m->top, site = 0;
    bool host = n->function != NULL;
    if (host ? n->function->call == NULL : n->builtin == NULL || n->builtin->call == NULL) {
        return make_word(m, n, IL_CEL_C_FAULT, dest, IL_CEL_UNKNOWN, 0);
    }
    if (host ? nargs != n->function->nparams : !make_arity(n->builtin, nargs)) {
        return make_word(m, n, IL_CEL_C_FAULT, dest, IL_CEL_NO_OVERLOAD, 0);
    }
    if (!host && nargs == 1 && il_str_eq(n->builtin->name, IL_STR("dyn"))) {
        return make_into(m, n->kids, dest);
    }
    if (!host && nargs == 1 && il_str_eq(n->builtin->name, IL_STR("size"))) {
        return make_size(m, n, dest);
    }
    if (!host && n->regex != NULL && nargs == 2) {
        return make_matches(m, n, dest);
    }
    if (!host && nargs == 2 && (il_str_eq(n->builtin->name, IL_STR("or")) || il_str_eq(n->builtin->name, IL_STR("orValue")))) {
        return make_or(m, n, dest);
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        uint16_t arg = 0;
        IL_TRY(make_register(m, n, &arg));
        IL_TRY(make_into(m, k, arg));
    }
    m->top = top;
    IL_TRY(make_site(m, n, nargs, &site));
    return make_word(m, n, host ? IL_CEL_C_HOST : IL_CEL_C_CALL, dest, top, site);
}

/* --- macros --- */

static il_status make_loop_info(il_cel_maker *m, const il_cel_node *n, uint32_t weight, uint32_t *out) {
    if (m->nloops > UINT16_MAX) {
        return make_too_large(m, n, "loops");
    }
    MAKE_GROW(m, loops, nloops);
    bool two = n->slot2 != IL_CEL_NO_SLOT;
    m->loops[m->nloops] = (il_cel_loop){weight, (uint16_t)n->slot, two ? (uint16_t)n->slot2 : 0, two};
    *out = m->nloops++;
    return IL_OK;
}

/* exists(x, x == constant), or with a field of x; also `all`, and `!=`. *what: the node that is compared. */
static bool make_is_each(const il_cel_node *n, const il_cel_node **what, const il_cel_node **constant) {
    const il_cel_node *body = make_second(n);
    if ((n->op != IL_CEL_OP_EXISTS && n->op != IL_CEL_OP_ALL) || n->slot2 != IL_CEL_NO_SLOT || body->constant ||
        (body->op != IL_CEL_OP_EQ && body->op != IL_CEL_OP_NE)) {
        return false;
    }
    const il_cel_node *a = body->kids, *b = make_second(body), *local = a->constant ? b : a, *field = NULL, *text = NULL;
    *constant = a->constant ? a : b;
    *what = local;
    if (make_is_field_is(body, &field, &text)) {
        *what = field;
        local = field->kids;
    }
    return (*constant)->constant && !local->constant && local->op == IL_CEL_OP_LOCAL && local->slot == n->slot;
}

/* Steps for one visit of a tree: its nodes, of `?:` the dearer arm. What a loop inside does goes on that loop's own bill. */
static uint32_t make_visit(const il_cel_node *n) {
    uint32_t steps = 1, dearest = 0;
    if (n->constant) {
        return steps;
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        uint32_t kid = make_visit(k);
        if (n->op == IL_CEL_OP_COND && k != n->kids) {
            dearest = kid > dearest ? kid : dearest;
        } else {
            steps += kid;
        }
        if (n->op >= IL_CEL_OP_EXISTS && n->op <= IL_CEL_OP_TRANSFORM_ENTRY) {
            break;
        }
    }
    return steps + dearest;
}

static uint32_t make_weight(const il_cel_node *n) {
    uint32_t steps = 0;
    for (const il_cel_node *k = make_second(n); k != NULL; k = k->next) {
        steps += make_visit(k);
    }
    return steps;
}

static il_status make_each(il_cel_maker *m, const il_cel_node *n, const il_cel_node *what, const il_cel_node *constant,
                           uint16_t dest) {
    uint16_t range = 0, place = 0;
    uint32_t loop = 0;
    bool field = what->op != IL_CEL_OP_LOCAL;
    unsigned mode = (make_second(n)->op == IL_CEL_OP_NE ? (unsigned)IL_CEL_EACH_NOT : 0) |
                    (n->op == IL_CEL_OP_ALL ? (unsigned)IL_CEL_EACH_ALL : 0) | (field ? (unsigned)IL_CEL_EACH_FIELD : 0) |
                    ((n->alike & IL_CEL_ALIKE_LIST) != 0 ? (unsigned)IL_CEL_EACH_LIST : 0);
    IL_TRY(make_operand_in(m, n->kids, dest, &range));
    IL_TRY(make_constant(m, n, constant->lit, &place));
    IL_TRY(make_loop_info(m, n, make_weight(n), &loop));
    IL_TRY(make_word(m, n, IL_CEL_C_EACH_IS, dest, range, place & (IL_CEL_PLACES - 1)));
    return make_data(m, what, (uint8_t)mode, field ? what->field : 0, 0, loop);
}

/* The end of one time around: what the body says goes into the answer. *skip: 1 + a word that jumps to the next time. */
static il_status make_body(il_cel_maker *m, const il_cel_node *n, uint16_t dest, uint32_t *ends, uint32_t *skip) {
    const il_cel_node *body = make_second(n);
    uint32_t top = m->top, no = 0, error = 0;
    uint16_t v = 0;
    if (n->op == IL_CEL_OP_EXISTS || n->op == IL_CEL_OP_ALL) {
        IL_TRY(make_operand(m, body, &v));
        m->top = top;
        make_fuse(m, v);
        IL_TRY(make_raw(m, n, IL_CEL_C_LOGIC, n->op == IL_CEL_OP_EXISTS ? 1 : 0, dest, v, 0));
        make_leap(m, m->nwords - 1, ends);
        return IL_OK;
    }
    if (n->op == IL_CEL_OP_EXISTS_ONE) {
        IL_TRY(make_operand(m, body, &v));
        m->top = top;
        IL_TRY(make_word(m, n, IL_CEL_C_COUNT, dest, v, 0));
        make_leap(m, m->nwords - 1, ends);
        return IL_OK;
    }
    if (n->op == IL_CEL_OP_FILTER || body->next != NULL) {
        IL_TRY(make_test(m, n, body, dest, &no, &error));
        make_leap(m, error, ends);
        *skip = no + 1;
        body = body->next;
    }
    if (n->op == IL_CEL_OP_FILTER) {
        IL_TRY(make_word(m, n, IL_CEL_C_ITEM, dest, n->slot, 0));
        make_leap(m, m->nwords - 1, ends);
        return IL_OK;
    }
    if (n->op == IL_CEL_OP_TRANSFORM_MAP) {
        IL_TRY(make_word(m, n, IL_CEL_C_KEY, dest, n->slot, 0));
        make_leap(m, m->nwords - 1, ends);
    }
    IL_TRY(make_operand(m, body, &v));
    m->top = top;
    IL_TRY(make_word(m, n,
                     n->op == IL_CEL_OP_TRANSFORM       ? IL_CEL_C_ITEM
                     : n->op == IL_CEL_OP_TRANSFORM_MAP ? IL_CEL_C_VALUE
                                                        : IL_CEL_C_ENTRIES,
                     dest, v, 0));
    if (n->op == IL_CEL_OP_TRANSFORM_ENTRY) {
        m->words[m->nwords - 1].mode = (uint8_t)(m->level - 1);
    }
    make_leap(m, m->nwords - 1, ends);
    return IL_OK;
}

static il_cel_begin make_begin(il_cel_op op) {
    return op == IL_CEL_OP_EXISTS                                ? IL_CEL_BEGIN_FALSE
           : op == IL_CEL_OP_ALL                                 ? IL_CEL_BEGIN_TRUE
           : op == IL_CEL_OP_EXISTS_ONE                          ? IL_CEL_BEGIN_ZERO
           : op == IL_CEL_OP_FILTER || op == IL_CEL_OP_TRANSFORM ? IL_CEL_BEGIN_LIST
                                                                 : IL_CEL_BEGIN_MAP;
}

static il_status make_loop(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    const il_cel_node *what = NULL, *constant = NULL;
    if (make_is_each(n, &what, &constant)) {
        return make_each(m, n, what, constant, dest);
    }
    uint16_t range = 0;
    uint32_t info = 0, ends = 0, skip = 0, level = m->level;
    IL_TRY(make_operand_in(m, n->kids, dest, &range));
    IL_TRY(make_loop_info(m, n, make_weight(n), &info));
    if (level >= IL_CEL_LOCALS) {
        return make_too_large(m, n, "nested loops");
    }
    m->level++;
    m->levels = m->level > m->levels ? m->level : m->levels;
    IL_TRY(make_word(m, n, IL_CEL_C_LOOP, level, range, 0));
    uint32_t loop = m->nwords - 1;
    m->words[loop].mode = n->alike;
    const il_cel_begin begin = make_begin((il_cel_op)n->op);
    IL_TRY(make_data(m, n, (uint8_t)begin, dest, 0, 0));
    make_leap(m, m->nwords - 1, &ends);
    uint32_t around = m->nwords;
    m->last = MAKE_NO_LAST;
    IL_TRY(make_body(m, n, dest, &ends, &skip));
    make_land(m, loop);
    if (skip != 0) {
        make_land(m, skip - 1);
    }
    IL_TRY(make_raw(m, n, IL_CEL_C_NEXT, 0, level, info, around));
    m->level = level;
    if (n->op == IL_CEL_OP_EXISTS_ONE) {
        IL_TRY(make_raw(m, n, IL_CEL_C_ONE, 0, dest, 0, 0));
    }
    if (n->op == IL_CEL_OP_TRANSFORM_MAP || n->op == IL_CEL_OP_TRANSFORM_ENTRY) {
        IL_TRY(make_raw(m, n, IL_CEL_C_MAP_DONE, 0, dest, 0, 0));
    }
    make_land_all(m, ends);
    return IL_OK;
}

/* The variable is bound when its value is there: what computes it may use the same register for a variable of its own. */
static il_status make_bind(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    uint16_t v = 0;
    IL_TRY(make_operand_in(m, n->kids, dest, &v));
    IL_TRY(make_word(m, n->kids, IL_CEL_C_MOVE, n->slot, v, 0));
    return make_into(m, make_second(n), dest);
}

static il_status make_opt(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    uint16_t v = 0;
    uint32_t ends = 0;
    IL_TRY(make_operand_in(m, n->kids, dest, &v));
    IL_TRY(make_word(m, n, IL_CEL_C_OPEN, n->slot, v, 0));
    IL_TRY(make_data(m, n, 0, dest, 0, 0));
    make_leap(m, m->nwords - 1, &ends);
    if (n->op == IL_CEL_OP_OPT_MAP) {
        IL_TRY(make_operand_in(m, make_second(n), dest, &v));
        IL_TRY(make_word(m, n, IL_CEL_C_WRAP, dest, v, 0));
    } else {
        IL_TRY(make_into(m, make_second(n), dest));
        IL_TRY(make_word(m, n, IL_CEL_C_OPTIONAL, dest, 0, 0));
    }
    make_land_all(m, ends);
    return IL_OK;
}

/* --- all of them --- */

static il_status make_into(il_cel_maker *m, const il_cel_node *n, uint16_t dest) {
    bool is = false;
    uint16_t from = 0;
    IL_TRY(make_place(m, n, &is, &from));
    if (is) {
        return make_word(m, n, IL_CEL_C_MOVE, dest, from, 0);
    }
    switch ((il_cel_op)n->op) {
    case IL_CEL_OP_LIST:
        return make_list(m, n, dest);
    case IL_CEL_OP_MAP:
        return make_map(m, n, dest);
    case IL_CEL_OP_NAME:
        return make_word(m, n, IL_CEL_C_FAULT, dest, IL_CEL_UNKNOWN, 0);
    case IL_CEL_OP_SELECT:
    case IL_CEL_OP_FIELD:
        return make_select(m, n, n->optional ? IL_CEL_MAYBE : IL_CEL_PLAIN, dest);
    case IL_CEL_OP_HAS:
        return make_select(m, n->kids, IL_CEL_HAS, dest);
    case IL_CEL_OP_INDEX:
        return make_index(m, n, dest);
    case IL_CEL_OP_CALL:
        return make_call(m, n, dest);
    case IL_CEL_OP_NOT:
        return make_not(m, n, dest);
    case IL_CEL_OP_NEG:
        return make_unary(m, n, IL_CEL_C_NEG, dest);
    case IL_CEL_OP_MUL:
        return make_binary(m, n, IL_CEL_C_MUL, dest);
    case IL_CEL_OP_DIV:
        return make_binary(m, n, IL_CEL_C_DIV, dest);
    case IL_CEL_OP_MOD:
        return make_binary(m, n, IL_CEL_C_MOD, dest);
    case IL_CEL_OP_ADD:
        return make_binary(m, n, IL_CEL_C_ADD, dest);
    case IL_CEL_OP_SUB:
        return make_binary(m, n, IL_CEL_C_SUB, dest);
    case IL_CEL_OP_LT:
        return make_order(m, n, IL_CEL_C_LT, dest);
    case IL_CEL_OP_LE:
        return make_order(m, n, IL_CEL_C_LE, dest);
    case IL_CEL_OP_GT:
        return make_order(m, n, IL_CEL_C_GT, dest);
    case IL_CEL_OP_GE:
        return make_order(m, n, IL_CEL_C_GE, dest);
    case IL_CEL_OP_EQ:
    case IL_CEL_OP_NE:
        return make_equal(m, n, dest);
    case IL_CEL_OP_IN:
        return make_in(m, n, dest);
    case IL_CEL_OP_AND:
    case IL_CEL_OP_OR:
        return make_logic(m, n, dest);
    case IL_CEL_OP_COND:
        return make_cond(m, n, dest);
    case IL_CEL_OP_EXISTS:
    case IL_CEL_OP_ALL:
    case IL_CEL_OP_EXISTS_ONE:
    case IL_CEL_OP_FILTER:
    case IL_CEL_OP_TRANSFORM:
    case IL_CEL_OP_TRANSFORM_MAP:
    case IL_CEL_OP_TRANSFORM_ENTRY:
        return make_loop(m, n, dest);
    case IL_CEL_OP_BIND:
        return make_bind(m, n, dest);
    case IL_CEL_OP_OPT_MAP:
    case IL_CEL_OP_OPT_FLAT_MAP:
        return make_opt(m, n, dest);
    case IL_CEL_OP_LET:
        return make_into(m, n->kids, dest);
    case IL_CEL_OP_LIT:
    case IL_CEL_OP_TYPE:
    case IL_CEL_OP_LOCAL:
    case IL_CEL_OP_VAR:
        break; /* places, all of them */
    }
    return IL_CEL_FAIL(n->src, n->start, m->err, IL_E_INTERNAL, "a node that has no code");
}

/* Macro variables have the first registers. */
static uint32_t make_slots(const il_cel_node *n) {
    uint32_t slots = 0;
    bool binds = n->op >= IL_CEL_OP_EXISTS;
    if (n->op == IL_CEL_OP_LOCAL || binds) {
        slots = n->slot + 1;
    }
    if (binds && n->slot2 != IL_CEL_NO_SLOT && n->slot2 >= slots) {
        slots = n->slot2 + 1;
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        uint32_t more = make_slots(k);
        slots = more > slots ? more : slots;
    }
    return slots;
}

static il_status make_keep(il_cel_maker *m, const void *array, size_t count, size_t size, void **out) {
    *out = il_arena_array(m->arena, count, size);
    if (*out == NULL) {
        return il_cel_no_memory(m->arena, m->err);
    }
    if (count > 0) {
        memcpy(*out, array, count * size);
    }
    return IL_OK;
}

il_status il_cel_make(il_arena *arena, il_arena *room, const il_cel_node *root, il_cel_code *out, il_error *err) {
    il_cel_maker made = {.arena = arena, .room = room, .err = err, .last = MAKE_NO_LAST}, *m = &made;
    uint16_t v = 0, dest = 0;
    m->top = m->most = make_slots(root);
    IL_CHECK(m->top <= IL_CEL_LOCALS, err);
    IL_TRY(make_register(m, root, &dest));
    IL_TRY(make_operand_in(m, root, dest, &v));
    IL_TRY(make_raw(m, root, IL_CEL_C_RETURN, 0, 0, v, 0));
    void *words = NULL, *nodes = NULL, *constants = NULL, *loops = NULL, *sites = NULL, *sets = NULL;
    IL_TRY(make_keep(m, m->words, m->nwords, sizeof *m->words, &words));
    IL_TRY(make_keep(m, m->nodes, m->nwords, sizeof(void *), &nodes));
    IL_TRY(make_keep(m, m->constants, m->nconstants, sizeof *m->constants, &constants));
    IL_TRY(make_keep(m, m->loops, m->nloops, sizeof *m->loops, &loops));
    IL_TRY(make_keep(m, m->sites, m->nsites, sizeof *m->sites, &sites));
    IL_TRY(make_keep(m, m->sets, m->nsets, sizeof *m->sets, &sets));
    *out = (il_cel_code){words, nodes, constants, loops, sites, sets, m->nwords, m->most, m->levels};
    return IL_OK;
}

il_status il_cel_generate(il_arena *arena, il_cel_program *program, il_cel_node *root, il_error *err) {
    il_cel_code *code = IL_NEW(arena, il_cel_code);
    if (code == NULL) {
        return il_cel_no_memory(arena, err);
    }
    il_arena room;
    il_arena_init(&room, arena->alloc, arena->cap);
    il_cel_fold(arena, program, root);
    il_status status = il_cel_make(arena, &room, root, code, err);
    il_arena_free(&room);
    if (status == IL_OK) {
        program->root = root;
        program->code = code;
    }
    return status;
}
