/* SPDX-License-Identifier: Apache-2.0 */
/* The sets that a program can reach, all worked out beforehand: a row for each, a column for each class of bytes that no instruction
 * tells apart. */
#include "cel/regex_part.h"

enum {
    TABLE_CELLS = 65536, /* of 16 bits; a cell holds where a row starts */
    TABLE_ROWS = 8192,
    TABLE_FIRST = 32,       /* rows that there is room for at first */
    TABLE_VISITS = 1 << 22, /* looks at instructions while it is made: tens of milliseconds */
    TABLE_DEAD = 0,
    TABLE_MATCHED,
    TABLE_IDLE,
    TABLE_BEFORES = 8, /* values of il_regex_before */
};

typedef struct table_row {
    uint32_t hash;
    uint32_t n;
    const uint16_t *members;
    unsigned before;
    bool pending;
} table_row;

typedef struct table_maker {
    il_arena *tmp;
    il_regex_walk walk;
    il_regex_set from, to;
    uint8_t sample[256]; /* a byte of each column */
    uint32_t columns;    /* with that of the end */
    uint32_t rows, room; /* there is room for so many */
    table_row *row;
    uint16_t *cells;   /* row by row */
    uint16_t *index;   /* hash table of rows, 0: free; four times `room` */
    uint16_t *scratch; /* members of the set that is looked up */
    bool no_memory;    /* why there is no table: not that it is too large */
} table_maker;

static void table_mark(bool *borders, unsigned lo, unsigned hi) {
    borders[lo] = true;
    borders[hi + 1] = true;
}

/* Marks where what the program asks of a byte may change. */
static void table_borders(const il_regex_program *g, bool *borders) {
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->code[i].op == IL_REGEX_OP_BYTE) {
            table_mark(borders, g->code[i].lo, g->code[i].hi);
        }
    }
    for (uint32_t i = 0; i < g->narcs; i++) {
        table_mark(borders, g->arcs[i].lo, g->arcs[i].hi);
    }
    if (g->lines) {
        table_mark(borders, '\n', '\n');
    }
    if (g->words) {
        table_mark(borders, '0', '9');
        table_mark(borders, 'A', 'Z');
        table_mark(borders, '_', '_');
        table_mark(borders, 'a', 'z');
    }
}

/* What a byte is to an instruction, or with i == g->n to what assertions look at. */
static uint32_t table_answer(const il_regex_program *g, uint32_t i, uint8_t byte) {
    return i < g->n ? il_regex_next(g, &g->code[i], byte) : il_regex_before(g, byte);
}

/* Parts the classes of `n` intervals where question i tells members of one apart. `first` is the first interval of each class. */
static uint32_t table_part(const table_maker *m, uint32_t i, uint32_t n, uint8_t *class, uint8_t *first, uint32_t classes) {
    uint32_t answer[256];
    bool parts = false;
    for (uint32_t k = 0; k < n; k++) {
        answer[k] = table_answer(m->walk.g, i, m->sample[k]);
        parts = parts || answer[k] != answer[first[class[k]]];
    }
    if (!parts) {
        return classes;
    }
    uint8_t was[256];
    memcpy(was, class, n);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t like = 0;
        while (was[like] != was[k] || answer[like] != answer[k]) {
            like++;
        }
        if (like < k) {
            class[k] = class[like];
        } else if (first[was[k]] != k) {
            first[classes] = (uint8_t)k;
            class[k] = (uint8_t)classes++;
        }
    }
    return classes;
}

/* Bytes that are the same to every instruction and assertion share a column. */
static void table_columns(table_maker *m, il_regex_table *t) {
    bool borders[257] = {false};
    uint8_t interval[256], class[256] = {0}, first[256] = {0};
    const il_regex_program *g = m->walk.g;
    uint32_t n = 0, classes = 1;
    table_borders(g, borders);
    for (unsigned b = 0; b < 256; b++) {
        n += borders[b] || b == 0;
        interval[b] = (uint8_t)(n - 1);
        if (borders[b] || b == 0) {
            m->sample[n - 1] = (uint8_t)b;
        }
    }
    for (uint32_t i = 0; i <= g->n; i++) {
        classes = table_part(m, i, n, class, first, classes);
    }
    for (unsigned b = 0; b < 256; b++) {
        t->column[b] = class[interval[b]];
    }
    for (uint32_t c = 0; c < classes; c++) {
        first[c] = m->sample[first[c]];
    }
    memcpy(m->sample, first, classes);
    t->columns = classes;
    m->columns = classes + 1;
}

static bool table_failed(table_maker *m) {
    m->no_memory = !m->tmp->capped;
    return false;
}

/* Where in the index the row of these members stands, or would. */
static uint32_t table_slot(const table_maker *m, const table_row *like) {
    uint32_t slot = like->hash & (4 * m->room - 1);
    for (; m->index[slot] != 0; slot = (slot + 1) & (4 * m->room - 1)) {
        const table_row *r = &m->row[m->index[slot]];
        if (r->hash == like->hash && r->n == like->n && r->before == like->before &&
            memcmp(r->members, like->members, r->n * sizeof *r->members) == 0) {
            break;
        }
    }
    return slot;
}

/* Twice as much room, at first a little. */
static bool table_grow(table_maker *m) {
    const table_row *row = m->row;
    const uint16_t *cells = m->cells;
    m->room = m->room == 0 ? TABLE_FIRST : m->room * 2;
    if ((m->row = il_arena_raw(m->tmp, m->room * sizeof *m->row)) == NULL ||
        (m->cells = il_arena_raw(m->tmp, (size_t)m->room * m->columns * sizeof *m->cells)) == NULL ||
        (m->index = IL_NEW_ARRAY(m->tmp, uint16_t, (size_t)4 * m->room)) == NULL) {
        return table_failed(m);
    }
    for (uint32_t i = TABLE_IDLE; i < m->rows; i++) {
        m->row[i] = row[i];
        m->index[table_slot(m, &row[i])] = (uint16_t)i;
    }
    if (m->rows > TABLE_IDLE) {
        memcpy(m->cells, cells, (size_t)m->rows * m->columns * sizeof *cells);
    }
    return true;
}

/* The row of a set, made when there is none; false when there is no room for it. */
static bool table_find(table_maker *m, const il_regex_set *set, uint16_t *out) {
    if (set->matched || set->empty) {
        *out = set->matched ? TABLE_MATCHED : TABLE_DEAD;
        return true;
    }
    table_row row = {.members = m->scratch, .before = set->pending ? set->before : 0, .pending = set->pending};
    row.hash = row.before;
    for (uint32_t word = 0; word < m->walk.words; word++) {
        for (uint64_t bits = set->bits[word]; bits != 0; bits &= bits - 1) {
            const uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(bits);
            m->scratch[row.n++] = (uint16_t)i;
            row.hash = (row.hash ^ i) * 0x9e3779b1u;
            row.hash ^= row.hash >> 15;
        }
    }
    uint32_t slot = table_slot(m, &row);
    if (m->index[slot] != 0) {
        *out = m->index[slot];
        return true;
    }
    if ((m->rows + 1) * m->columns > TABLE_CELLS || m->rows >= TABLE_ROWS) {
        return false;
    }
    if (m->rows == m->room) {
        if (!table_grow(m)) {
            return false;
        }
        slot = table_slot(m, &row);
    }
    uint16_t *members = il_arena_raw(m->tmp, row.n * sizeof *members);
    if (members == NULL) {
        return table_failed(m);
    }
    memcpy(members, m->scratch, row.n * sizeof *members);
    row.members = members;
    m->row[m->rows] = row;
    m->index[slot] = (uint16_t)m->rows;
    *out = (uint16_t)m->rows++;
    return true;
}

static void table_load(table_maker *m, const table_row *r) {
    il_regex_set *s = &m->from;
    s->before = r->before;
    s->pending = r->pending;
    s->matched = s->empty = false;
    memset(s->bits, 0, m->walk.words * sizeof s->bits[0]);
    for (uint32_t i = 0; i < r->n; i++) {
        s->bits[r->members[i] >> 6] |= (uint64_t)1 << (r->members[i] & 63u);
    }
}

/* Whether no instruction of the row takes the byte: then what follows is the same from every row, but for what assertions look at. */
static bool table_refuses(table_maker *m, const table_row *r, uint8_t byte) {
    m->walk.visits += r->n;
    for (uint32_t i = 0; i < r->n; i++) {
        if (il_regex_next(m->walk.g, &m->walk.g->code[r->members[i]], byte) != IL_REGEX_FAIL_AT) {
            return false;
        }
    }
    return true;
}

static bool table_fill(table_maker *m) {
    uint16_t refused[TABLE_BEFORES] = {
        0}; /* 1 + the row after a byte that nobody takes, by what it is to assertions; 0: not known */
    for (uint32_t row = TABLE_IDLE; row < m->rows; row++) {
        bool loaded = false;
        for (uint32_t c = 0; c < m->columns; c++) {
            const bool end = c + 1 == m->columns;
            uint16_t to = TABLE_DEAD, *known = NULL;
            if (!end && !m->row[row].pending && table_refuses(m, &m->row[row], m->sample[c])) {
                known = &refused[il_regex_before(m->walk.g, m->sample[c]) % TABLE_BEFORES];
            }
            if (m->walk.visits > TABLE_VISITS) {
                return false;
            }
            if (known != NULL && *known != 0) {
                m->cells[row * m->columns + c] = (uint16_t)(*known - 1);
                continue;
            }
            if (!loaded || m->from.pending) { /* a step changes a set only where something waits */
                table_load(m, &m->row[row]);
                loaded = true;
            }
            il_regex_set_step(&m->walk, &m->from, end ? (unsigned)IL_REGEX_END : m->sample[c], &m->to);
            if (m->walk.visits > TABLE_VISITS || !table_find(m, &m->to, &to)) {
                return false;
            }
            m->cells[row * m->columns + c] = to;
            if (known != NULL) {
                *known = (uint16_t)(to + 1);
            }
        }
    }
    return true;
}

static il_status table_keep(il_arena *arena, const table_maker *m, const il_regex_table *t, il_regex_table **out, il_error *err) {
    const uint32_t width = m->columns;
    il_regex_table *kept = IL_NEW(arena, il_regex_table);
    uint16_t *next = kept != NULL ? IL_NEW_ARRAY(arena, uint16_t, (size_t)m->rows * width) : NULL;
    if (next == NULL) {
        return il_regex_no_memory(arena, err);
    }
    for (uint32_t c = 0; c < width; c++) {
        next[TABLE_MATCHED * width + c] = (uint16_t)(TABLE_MATCHED * width);
        for (uint32_t row = TABLE_IDLE; row < m->rows; row++) {
            next[row * width + c] = (uint16_t)(m->cells[row * width + c] * width);
        }
    }
    *kept = *t;
    kept->next = next;
    kept->rows = m->rows;
    kept->start = (uint16_t)(t->start * width);
    kept->idle = (uint16_t)(t->idle * width);
    *out = kept;
    return IL_OK;
}

static il_status table_make(table_maker *m, il_regex_table *t, bool *made, il_error *err) {
    il_arena *tmp = m->tmp;
    uint16_t idle = TABLE_DEAD, start = TABLE_DEAD;
    *made = false;
    table_columns(m, t);
    m->rows = TABLE_IDLE;
    if (!table_grow(m) || (m->scratch = il_arena_raw(tmp, m->walk.g->n * sizeof *m->scratch)) == NULL) {
        return il_regex_no_memory(tmp, err);
    }
    il_regex_set_start(&m->walk, 0, &m->to);
    *made = table_find(m, &m->to, &idle);
    il_regex_set_start(&m->walk, IL_REGEX_AT_BEGIN, &m->to);
    *made = *made && table_find(m, &m->to, &start) && table_fill(m);
    if (!*made) {
        return m->no_memory ? il_regex_no_memory(tmp, err) : IL_OK;
    }
    t->start = start;
    t->idle = idle == TABLE_IDLE ? idle : TABLE_DEAD;
    return IL_OK;
}

il_status il_regex_table_make(il_arena *arena, il_arena *tmp, const il_regex_program *g, il_regex_table **out, il_error *err) {
    table_maker *m = IL_NEW(tmp, table_maker);
    il_regex_table t = {0};
    bool made = false;
    *out = NULL;
    if (m == NULL) {
        return il_regex_no_memory(tmp, err);
    }
    m->tmp = tmp;
    il_regex_walk_init(&m->walk, g);
    IL_TRY(table_make(m, &t, &made, err));
    return made ? table_keep(arena, m, &t, out, err) : IL_OK;
}
