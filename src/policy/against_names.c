/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of tools' names. An exact name of either policy is a class of its own. All others fall into classes by which patterns match them: every pattern is read
 * letter by letter at once, and what the set of their places can become is walked breadth first, so that a class gets its shortest name and none is missed. */
#include "policy/against_part.h"

#include "base/sort.h"

#define NAMES_STATES 20000u
#define NAMES_CLASSES 2000u
#define NAMES_BYTES 127u /* of a name: il_tool's bound, with the server */
#define NAMES_NONE UINT32_MAX
#define NAMES_BUCKETS 4096u

typedef struct names_state {
    uint32_t parent, next; /* next: in its bucket */
    uint32_t lo, hi;       /* of the exact names, those that begin so */
    uint16_t depth;
    char letter;
} names_state;

typedef struct names_walk {
    il_arena *arena;
    il_str *forms; /* with stars */
    uint32_t nforms, forms_room;
    uint32_t *offset; /* of a form's first place */
    char *letters_at; /* of each place: what it waits for; 0 at a form's end */
    uint32_t places, words, form_words;
    il_str *exact; /* sorted */
    uint32_t nexact, exact_room;
    names_state *states;
    uint64_t *bits; /* a row of `words` for each state */
    uint32_t n, room, *buckets;
    uint64_t *classes; /* a row of `form_words` for each */
    uint32_t nclasses, classes_room;
    il_str *out;
    uint32_t nout;
    char letters[72];
    uint32_t nletters;
    bool complete;
} names_walk;

static bool names_has(const il_str *list, uint32_t n, il_str s) {
    for (uint32_t i = 0; i < n; i++) {
        if (il_str_eq(list[i], s)) {
            return true;
        }
    }
    return false;
}

static void names_form(names_walk *w, il_str form) {
    if (il_str_find(form, IL_STR("*"), 0) == SIZE_MAX) {
        if (form.n <= NAMES_BYTES) {
            w->exact[w->nexact++] = form;
        }
    } else if (!names_has(w->forms, w->nforms, form)) {
        w->forms[w->nforms++] = form;
    }
}

static void names_globs(names_walk *w, const il_glob *globs, uint32_t n, bool count) {
    for (uint32_t g = 0; g < n; g++) {
        for (uint32_t f = 0; f < globs[g].nforms; f++) {
            if (count) {
                w->forms_room++;
            } else {
                names_form(w, globs[g].forms[f]);
            }
        }
    }
}

/* Of a server outside these are known without an entry, and no way out when they carry nothing. */
static const char *const names_methods[] = {".tools/list", ".prompts/list", ".resources/list", ".resources/templates/list"};

static il_status names_server(names_walk *w, il_str server, const char *behind, bool count, il_error *err) {
    il_buf b;
    il_str form;
    if (count) {
        w->forms_room++;
        return IL_OK;
    }
    il_buf_init(&b, w->arena, 256);
    il_buf_put(&b, server);
    il_buf_puts(&b, behind);
    IL_TRY(il_buf_done(&b, &form, err));
    names_form(w, form);
    return IL_OK;
}

/* Names that a condition may mean: `tool == "pay"`. */
static il_status names_literal(names_walk *w, const il_policy *const p[2], il_str word, uint32_t asks, bool count,
                               il_error *err) {
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i <= p[side]->nservers; i++) {
            const bool last = i == p[side]->nservers, server = last && (asks & (1u << IL_CONDITION_SERVER)) != 0;
            il_buf b;
            il_str name;
            if (count) {
                w->forms_room += 2;
                continue;
            }
            il_buf_init(&b, w->arena, 4096);
            il_buf_put(&b, last ? (il_str){0} : p[side]->servers[i].name);
            il_buf_puts(&b, last ? "" : ".");
            il_buf_put(&b, word);
            il_buf_puts(&b, server ? ".x" : "");
            IL_TRY(il_buf_done(&b, &name, err));
            if (il_glob_name_ok(name)) {
                names_form(w, name);
            }
        }
    }
    return IL_OK;
}

/* Depth: IL_CEL_DEPTH. */
static il_status names_literals(names_walk *w, const il_policy *const p[2], const il_cel_node *n, uint32_t asks, bool count,
                                il_error *err) {
    if (n->op == IL_CEL_OP_LIT && n->lit.kind == IL_CEL_STRING && n->lit.n <= NAMES_BYTES) {
        IL_TRY(names_literal(w, p, il_cel_str(n->lit), asks, count, err));
    }
    for (const il_cel_node *k = n->kids; k != NULL; k = k->next) {
        IL_TRY(names_literals(w, p, k, asks, count, err));
    }
    return IL_OK;
}

static il_status names_condition(names_walk *w, const il_policy *const p[2], const il_condition *c, bool count, il_error *err) {
    const bool asks = c->program != NULL && (c->asks & (1u << IL_CONDITION_TOOL | 1u << IL_CONDITION_SERVER)) != 0;
    return asks ? names_literals(w, p, c->program->root, c->asks, count, err) : IL_OK;
}

/* Each form twice: counted, then kept. */
static il_status names_collect(names_walk *w, const il_policy *const both[2], int side, bool count, il_error *err) {
    const il_policy *p = both[side];
    for (uint32_t i = 0; i < p->ntools; i++) {
        names_globs(w, p->tools[i].globs, p->tools[i].nglobs, count);
        for (uint32_t k = 0; p->tools[i].when != NULL && k < p->tools[i].when->n; k++) {
            IL_TRY(names_condition(w, both, &p->tools[i].when->when[k].condition, count, err));
        }
    }
    for (uint32_t i = 0; i < p->rules.n; i++) {
        names_globs(w, p->rules.list[i].globs, p->rules.list[i].nglobs, count);
        names_globs(w, p->rules.list[i].nots, p->rules.list[i].nnot, count);
        IL_TRY(names_condition(w, both, &p->rules.list[i].when, count, err));
    }
    for (uint32_t i = 0; i < p->nservers; i++) { /* what is said of a server is said of all its tools */
        IL_TRY(names_server(w, p->servers[i].name, ".*", count, err));
        for (size_t m = 0; m < sizeof names_methods / sizeof names_methods[0]; m++) {
            IL_TRY(names_server(w, p->servers[i].name, names_methods[m], count, err));
        }
    }
    return IL_OK;
}

static bool names_before(const void *a, const void *b) { return il_str_cmp(*(const il_str *)a, *(const il_str *)b) < 0; }

static uint32_t names_unique(il_str *v, uint32_t n) {
    uint32_t out = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (out == 0 || !il_str_eq(v[out - 1], v[i])) {
            v[out++] = v[i];
        }
    }
    return out;
}

/* Letters that some pattern has, behind two that none has: all that none has are alike. */
static void names_letters(names_walk *w) {
    static const char all[] = "xqzjkvwyabcdefghilmnoprstuXQZJKVWYABCDEFGHILMNOPRSTU0123456789_-.:/@";
    uint32_t strangers = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i + 1 < sizeof all; i++) {
            bool used = false;
            for (uint32_t f = 0; f < w->nforms && !used; f++) {
                used = il_str_find(w->forms[f], (il_str){&all[i], 1}, 0) != SIZE_MAX;
            }
            if (pass == 0 ? !used && strangers < 2 : used) {
                w->letters[w->nletters++] = all[i];
                strangers += pass == 0;
            }
        }
    }
}

static bool names_bit(const uint64_t *bits, uint32_t i) { return (bits[i / 64] >> (i % 64) & 1) != 0; }

/* A star may be empty. */
static void names_set(const names_walk *w, uint64_t *bits, uint32_t i) {
    for (;; i++) {
        bits[i / 64] |= (uint64_t)1 << (i % 64);
        if (w->letters_at[i] != '*') {
            return;
        }
    }
}

static void names_step(const names_walk *w, const uint64_t *from, char letter, uint64_t *to) {
    memset(to, 0, w->words * sizeof *to);
    for (uint32_t word = 0; word < w->words; word++) {
        for (uint64_t left = from[word]; left != 0; left &= left - 1) {
            const uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (w->letters_at[i] == '*') {
                names_set(w, to, i);
            } else if (w->letters_at[i] == letter) {
                names_set(w, to, i + 1);
            }
        }
    }
}

/* Those of [lo, hi) whose letter at `depth` is this one; they share what is before. */
static void names_narrow(const names_walk *w, uint32_t depth, char letter, uint32_t *lo, uint32_t *hi) {
    uint32_t from = *lo, to = *hi;
    while (from < to && (w->exact[from].n <= depth || w->exact[from].p[depth] != letter)) {
        from++;
    }
    uint32_t end = from;
    while (end < to && w->exact[end].n > depth && w->exact[end].p[depth] == letter) {
        end++;
    }
    *lo = end > from ? from : 0;
    *hi = end > from ? end : 0;
}

static uint32_t names_hash(const uint64_t *bits, uint32_t words, uint32_t lo, uint32_t hi) {
    uint64_t h = 0x9e3779b97f4a7c15u ^ ((uint64_t)lo << 32 | hi);
    for (uint32_t i = 0; i < words; i++) {
        h = (h ^ bits[i]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return (uint32_t)(h ^ h >> 29);
}

/* An array that is full, twice as large; the old one stays in the arena. */
static il_status names_grow(names_walk *w, void **array, uint32_t n, uint32_t room, size_t size, il_error *err) {
    void *more = il_arena_array(w->arena, room, size);
    if (more == NULL) {
        return il_arena_fail(w->arena, err);
    }
    if (n > 0) {
        memcpy(more, *array, n * size);
    }
    *array = more;
    return IL_OK;
}

static il_status names_add(names_walk *w, const uint64_t *bits, names_state s, il_error *err) {
    const uint32_t bucket = names_hash(bits, w->words, s.lo, s.hi) % NAMES_BUCKETS;
    for (uint32_t i = w->buckets[bucket]; i != NAMES_NONE; i = w->states[i].next) {
        const names_state *o = &w->states[i];
        const bool same_exact = o->lo == s.lo && o->hi == s.hi && (s.lo == s.hi || o->depth == s.depth);
        if (same_exact && memcmp(w->bits + (size_t)i * w->words, bits, w->words * sizeof *bits) == 0) {
            return IL_OK;
        }
    }
    if (w->n == NAMES_STATES) {
        w->complete = false;
        return IL_OK;
    }
    if (w->n == w->room) {
        w->room = w->room == 0 ? 128 : 2 * w->room;
        IL_TRY(names_grow(w, (void **)&w->states, w->n, w->room, sizeof *w->states, err));
        IL_TRY(names_grow(w, (void **)&w->bits, w->n, w->room, w->words * sizeof *w->bits, err));
    }
    memcpy(w->bits + (size_t)w->n * w->words, bits, w->words * sizeof *bits);
    s.next = w->buckets[bucket];
    w->buckets[bucket] = w->n;
    w->states[w->n++] = s;
    return IL_OK;
}

static il_status names_spell(names_walk *w, uint32_t state, il_str *out, il_error *err) {
    const size_t n = w->states[state].depth;
    char *p = il_arena_bytes(w->arena, n);
    if (p == NULL) {
        return il_arena_fail(w->arena, err);
    }
    for (uint32_t at = state; w->states[at].depth > 0; at = w->states[at].parent) {
        p[w->states[at].depth - 1] = w->states[at].letter;
    }
    *out = (il_str){p, n};
    return IL_OK;
}

/* A name that calls can have: something on both sides of its first dot. */
static bool names_ok(il_str name) {
    const size_t dot = il_str_find(name, IL_STR("."), 0);
    return name.n > 0 && dot != 0 && dot != name.n - 1;
}

/* The state's name is one of a class that was not met yet: keeps it. */
static il_status names_accept(names_walk *w, uint32_t state, il_error *err) {
    const names_state *s = &w->states[state];
    const uint64_t *bits = w->bits + (size_t)state * w->words;
    il_str name;
    if (w->nclasses == w->classes_room) {
        w->classes_room = w->classes_room == 0 ? 64 : 2 * w->classes_room;
        IL_TRY(names_grow(w, (void **)&w->classes, w->nclasses, w->classes_room, w->form_words * sizeof *w->classes, err));
    }
    uint64_t *row = w->classes + (size_t)w->nclasses * w->form_words;
    if (s->depth == 0 || (s->lo < s->hi && w->exact[s->lo].n == s->depth)) {
        return IL_OK;
    }
    memset(row, 0, w->form_words * sizeof *row);
    for (uint32_t f = 0; f < w->nforms; f++) {
        if (names_bit(bits, w->offset[f] + (uint32_t)w->forms[f].n)) {
            row[f / 64] |= (uint64_t)1 << (f % 64);
        }
    }
    for (uint32_t i = 0; i < w->nclasses; i++) {
        if (memcmp(w->classes + (size_t)i * w->form_words, row, w->form_words * sizeof *row) == 0) {
            return IL_OK;
        }
    }
    IL_TRY(names_spell(w, state, &name, err));
    if (!names_ok(name)) {
        return IL_OK;
    }
    if (w->nclasses == NAMES_CLASSES) {
        w->complete = false;
        return IL_OK;
    }
    w->nclasses++;
    w->out[w->nout++] = name;
    return IL_OK;
}

static il_status names_explore(names_walk *w, il_error *err) {
    uint64_t *bits = IL_NEW_ARRAY(w->arena, uint64_t, w->words);
    if (bits == NULL) {
        return il_arena_fail(w->arena, err);
    }
    for (uint32_t f = 0; f < w->nforms; f++) {
        names_set(w, bits, w->offset[f]);
    }
    w->complete = true;
    IL_TRY(names_add(w, bits, (names_state){.hi = w->nexact}, err));
    for (uint32_t i = 0; i < w->n; i++) {
        const names_state s = w->states[i];
        IL_TRY(names_accept(w, i, err));
        for (uint32_t k = 0; k < w->nletters && s.depth < NAMES_BYTES; k++) {
            names_state next = {.parent = i, .lo = s.lo, .hi = s.hi, .depth = (uint16_t)(s.depth + 1), .letter = w->letters[k]};
            names_step(w, w->bits + (size_t)i * w->words, w->letters[k], bits);
            names_narrow(w, s.depth, w->letters[k], &next.lo, &next.hi);
            IL_TRY(names_add(w, bits, next, err));
        }
    }
    return IL_OK;
}

static il_status names_room(names_walk *w, il_error *err) {
    w->offset = IL_NEW_ARRAY(w->arena, uint32_t, w->nforms + 1);
    if (w->offset == NULL) {
        return il_arena_fail(w->arena, err);
    }
    for (uint32_t f = 0; f < w->nforms; f++) {
        w->offset[f] = w->places;
        w->places += (uint32_t)w->forms[f].n + 1;
    }
    w->letters_at = il_arena_get(w->arena, w->places);
    if (w->letters_at == NULL) {
        return il_arena_fail(w->arena, err);
    }
    for (uint32_t f = 0; f < w->nforms; f++) {
        memcpy(w->letters_at + w->offset[f], w->forms[f].p, w->forms[f].n);
    }
    w->words = w->places / 64 + 1;
    w->form_words = w->nforms / 64 + 1;
    w->buckets = IL_NEW_ARRAY(w->arena, uint32_t, NAMES_BUCKETS);
    w->out = IL_NEW_ARRAY(w->arena, il_str, w->nexact + NAMES_CLASSES + 1);
    if (w->buckets == NULL || w->out == NULL) {
        return il_arena_fail(w->arena, err);
    }
    memset(w->buckets, 0xff, NAMES_BUCKETS * sizeof *w->buckets);
    return IL_OK;
}

il_status il_against_names(const il_policy *const p[2], il_arena *arena, il_against_classes *out, il_error *err) {
    names_walk w = {.arena = arena};
    for (int side = 0; side < 2; side++) {
        IL_TRY(names_collect(&w, p, side, true, err));
    }
    w.forms_room += 1 + (uint32_t)(sizeof names_methods / sizeof names_methods[0]);
    w.forms = IL_NEW_ARRAY(arena, il_str, w.forms_room);
    w.exact = IL_NEW_ARRAY(arena, il_str, w.forms_room);
    if (w.forms == NULL || w.exact == NULL) {
        return il_arena_fail(arena, err);
    }
    for (int side = 0; side < 2; side++) {
        IL_TRY(names_collect(&w, p, side, false, err));
    }
    names_form(&w, IL_STR("*.*")); /* a host's own tool has no dot */
    for (size_t m = 0; m < sizeof names_methods / sizeof names_methods[0];
         m++) { /* and a server that nobody declares: they are alike */
        IL_TRY(names_server(&w, IL_STR("x"), names_methods[m], false, err));
    }
    il_sort(w.exact, w.nexact, sizeof *w.exact, names_before);
    w.nexact = names_unique(w.exact, w.nexact);
    names_letters(&w);
    IL_TRY(names_room(&w, err));
    IL_TRY(names_explore(&w, err));
    for (uint32_t i = 0; i < w.nexact; i++) {
        if (names_ok(w.exact[i])) {
            w.out[w.nout++] = w.exact[i];
        }
    }
    il_sort(w.out, w.nout, sizeof *w.out, names_before);
    *out = (il_against_classes){.list = IL_NEW_ARRAY(arena, il_against_class, w.nout + 1), .complete = w.complete};
    if (out->list == NULL) {
        return il_arena_fail(arena, err);
    }
    for (uint32_t i = 0, k = 0; i < w.nout; i++) { /* both are sorted */
        while (k < w.nexact && il_str_cmp(w.exact[k], w.out[i]) < 0) {
            k++;
        }
        out->list[out->n++] = (il_against_class){w.out[i], k < w.nexact && il_str_eq(w.exact[k], w.out[i])};
    }
    return IL_OK;
}
