/* SPDX-License-Identifier: Apache-2.0 */
/* The words that humans typed, in their order. */
#include "provenance/memory_part.h"

static il_status il_memory_word_start(il_memory *m, il_error *err) {
    void *p = m->starts;
    IL_TRY(il_grow(&m->alloc, &p, m->nwords, &m->words_cap, sizeof *m->starts, err));
    m->starts = p;
    m->starts[m->nwords++] = m->nforms;
    return IL_OK;
}

il_status il_memory_word_form(il_memory *m, const il_kept_form *form, il_error *err) {
    if ((form->flags & IL_FORM_FIRST) != 0) {
        IL_TRY(il_memory_word_start(m, err));
    }
    void *p = m->forms;
    IL_TRY(il_grow(&m->alloc, &p, m->nforms, &m->forms_cap, sizeof *m->forms, err));
    m->forms = p;
    m->forms[m->nforms++] = *form;
    IL_TRY(il_bag_add(&m->words, form->exact, m->nwords - 1, err));
    return il_bag_add(&m->words, form->fold, m->nwords - 1, err);
}

il_status il_memory_words_end(il_memory *m, il_error *err) { return il_memory_word_start(m, err); }

/* How the marks of a run are compared with words that were typed. */
typedef enum il_run_as {
    IL_RUN_EXACT,
    IL_RUN_FOLDED, /* without letter case */
    IL_RUN_MARKED  /* and with signs in front of it and behind it */
} il_run_as;

/* Whether word `word` can be this one of a run: only its ends may lack signs. */
static bool il_memory_word_is(const il_memory *m, uint32_t word, const uint8_t *mark, il_run_as as, bool first, bool last) {
    if (word >= m->nwords) {
        return false;
    }
    const uint32_t end = word + 1 < m->nwords ? m->starts[word + 1] : m->nforms;
    for (uint32_t i = m->starts[word]; i < end; i++) {
        const il_kept_form *f = &m->forms[i];
        const bool front = (f->flags & IL_TYPED_FRONT) != 0, back = (f->flags & IL_TYPED_BACK) != 0;
        const bool allowed = as == IL_RUN_MARKED ? front == first && back == last : (first || !front) && (last || !back);
        if (allowed && memcmp(as == IL_RUN_EXACT ? f->exact : f->fold, mark, IL_MARK_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

/* Where the run stands, behind `after` (NULL: from the first); NULL: nowhere. */
static const il_bag_entry *il_memory_run(const il_memory *m, const uint8_t *marks, uint32_t n, il_run_as as,
                                         const il_bag_entry *after) {
    const il_bag_entry *e = n > 0 ? il_bag_find(&m->words, marks, after) : NULL;
    for (; e != NULL; e = il_bag_find(&m->words, marks, e)) {
        bool all = true;
        for (uint32_t i = 0; all && i < n; i++) {
            all = il_memory_word_is(m, e->value + i, marks + (size_t)i * IL_MARK_BYTES, as, i == 0, i + 1 == n);
        }
        if (all) {
            return e;
        }
    }
    return NULL;
}

bool il_memory_typed_words(const il_memory *m, il_str words) {
    uint8_t marks[IL_VIA_WORDS_MAX * IL_MARK_BYTES];
    uint32_t n = 0;
    size_t at = 0;
    il_typed_word w;
    while (il_typed_next(words, &at, &w)) {
        if (n == IL_VIA_WORDS_MAX) {
            return false;
        }
        il_mark(IL_MARK_WORD, (il_str){0}, w.forms[0].text, marks + (size_t)n * IL_MARK_BYTES);
        if (n++ == 0 && il_bag_find(&m->words, marks, NULL) == NULL) {
            return false; /* most texts begin with no word that was typed */
        }
    }
    return il_memory_run(m, marks, n, IL_RUN_EXACT, NULL) != NULL;
}

/* ---- names inside of longer names -------------------------------------------------------------------- */

#define IL_LONGER_WORDS 3u /* that stand around a name in a longer one */

static uint32_t il_memory_forms_end(const il_memory *m, uint32_t word) {
    return word + 1 < m->nwords ? m->starts[word + 1] : m->nforms;
}

/* Another value of this kind was found by the run of these marks. */
static bool il_memory_found_by(const il_memory *m, const il_seen *fact, const uint8_t *marks, uint32_t n) {
    uint8_t found[IL_MARK_BYTES];
    il_mark(IL_MARK_FOUND, fact->kind, (il_str){(const char *)marks, (size_t)n * IL_MARK_BYTES}, found);
    for (const il_bag_entry *e = il_bag_find(&m->by_found, found, NULL); e != NULL; e = il_bag_find(&m->by_found, found, e)) {
        if (memcmp(m->facts[e->value].mark, fact->mark, IL_MARK_BYTES) != 0) {
            return true;
        }
    }
    return false;
}

/* The run of words from `from` to before `to`, in each way that its ends can be written. */
static bool il_memory_run_found(const il_memory *m, const il_seen *fact, uint32_t from, uint32_t to) {
    uint8_t marks[IL_VIA_WORDS_MAX * IL_MARK_BYTES];
    const uint32_t n = to - from;
    for (uint32_t i = 0; i < n; i++) {
        if (m->starts[from + i] == il_memory_forms_end(m, from + i)) {
            return false; /* between two texts */
        }
        memcpy(marks + (size_t)i * IL_MARK_BYTES, m->forms[m->starts[from + i]].fold, IL_MARK_BYTES);
    }
    for (uint32_t a = m->starts[from]; a < il_memory_forms_end(m, from); a++) {
        if (n > 1 && (m->forms[a].flags & IL_TYPED_BACK) != 0) {
            continue;
        }
        memcpy(marks, m->forms[a].fold, IL_MARK_BYTES);
        for (uint32_t b = m->starts[to - 1]; b < il_memory_forms_end(m, to - 1); b++) {
            if (n > 1 && (m->forms[b].flags & IL_TYPED_FRONT) != 0) {
                continue;
            }
            memcpy(marks + (size_t)(n > 1 ? n - 1 : 0) * IL_MARK_BYTES, m->forms[n > 1 ? b : a].fold, IL_MARK_BYTES);
            if (il_memory_found_by(m, fact, marks, n)) {
                return true;
            }
            if (n == 1) {
                break;
            }
        }
    }
    return false;
}

/* Whoever types `Bo Smith` does not mean an item of the name `Bo` when there is one of the whole name; nor can `Bo` and `Bo's` be told apart in `Bo's bill`, nor
 * `Bo Smith` and `Smith's bill` in `Bo Smith's bill`. A name that lies inside of this one takes nothing from it. */
static bool il_memory_inside(const il_memory *m, const il_seen *fact, uint32_t at) {
    const uint32_t end = at + fact->via_words;
    for (uint32_t from = at > IL_LONGER_WORDS ? at - IL_LONGER_WORDS : 0; from < end; from++) {
        for (uint32_t to = (from > at ? end : at) + 1; to <= end + IL_LONGER_WORDS && to <= m->nwords; to++) {
            const bool within = from >= at && to <= end && to - from < fact->via_words;
            const uint32_t more = (from < at ? at - from : 0) + (to > end ? to - end : 0);
            if (!within && more <= IL_LONGER_WORDS && to - from <= IL_VIA_WORDS_MAX && il_memory_run_found(m, fact, from, to)) {
                return true;
            }
        }
    }
    return false;
}

bool il_memory_via_typed(const il_memory *m, const il_seen *fact) {
    const il_run_as as = fact->edge ? IL_RUN_MARKED : IL_RUN_FOLDED;
    const il_bag_entry *e = il_memory_run(m, fact->via, fact->via_words, as, NULL);
    for (; e != NULL; e = il_memory_run(m, fact->via, fact->via_words, as, e)) {
        if (!il_memory_inside(m, fact, e->value)) {
            return true;
        }
    }
    return false;
}

bool il_memory_via_is(const il_seen *fact, il_str text) {
    uint8_t marks[IL_VIA_WORDS_MAX * IL_MARK_BYTES];
    const uint32_t n = il_via_marks(text, marks);
    return n > 0 && n == fact->via_words && memcmp(marks, fact->via, (size_t)n * IL_MARK_BYTES) == 0;
}

bool il_memory_typed(const il_memory *m, il_str kind, il_str value) {
    uint8_t mark[IL_MARK_BYTES];
    il_mark(IL_MARK_TYPED, kind, value, mark);
    return il_bag_find(&m->typed, mark, NULL) != NULL;
}
