/* SPDX-License-Identifier: Apache-2.0 */
/* What a memory is made of, for memory.c (questions), memory_read.c (folding in) and memory_typed.c (words). */
#pragma once
#include "provenance/bag.h"
#include "provenance/episode_part.h"
#include "provenance/memory.h"

typedef struct il_held_fact {
    uint32_t source;
    il_standing standing;
    bool has_via;
    uint32_t via, nvia; /* marks, from which on */
    uint8_t mark[IL_MARK_BYTES], found[IL_MARK_BYTES];
} il_held_fact;

typedef struct il_held_name {
    il_str name, value; /* allocated */
} il_held_name;

/* Which marks one call sent: the bag knows each mark once, this tells (nearly) whether this call sent it too. */
typedef struct il_held_call {
    uint32_t source; /* how many sources there were */
    uint32_t nbits;  /* a power of two */
    uint64_t *bits;  /* allocated */
} il_held_call;
#define IL_HELD_CALL_BITS 3u
/* Bit `i` of these of a mark, in a filter of so many bits. */
static inline uint32_t il_held_call_bit(uint64_t sent, unsigned i, uint32_t nbits) {
    return (uint32_t)(sent >> (20 * i + 3)) & (nbits - 1);
}

struct il_memory {
    il_alloc alloc;
    il_index *index; /* source s: 2s its trusted texts, 2s + 1 its untrusted ones */
    uint64_t episodes;
    bool partial;
    uint32_t sent_all; /* sources that there were when the agent sent more than is told apart; UINT32_MAX: never */
    size_t text_bytes; /* of names */

    il_source *sources;
    uint32_t nsources, sources_cap;
    il_bag by_class;  /* of sources with one kind, name, agent and what they taint: their class */
    uint32_t *firsts; /* of a class: its first source */
    uint32_t nclasses, classes_cap;
    uint32_t class; /* of the latest source */

    il_held_fact *facts;
    uint32_t nfacts, facts_cap;
    uint8_t (*via)[IL_MARK_BYTES];
    uint32_t nvia, via_cap;
    il_bag by_fact, by_found;

    il_bag typed; /* the value says nothing */
    il_bag words; /* by IL_MARK_WORD and IL_MARK_FOLD: the number of a word */
    il_kept_form *forms;
    uint32_t nforms, forms_cap;
    uint32_t *starts; /* of a word: its first form. Between two texts stands a word without forms */
    uint32_t nwords, words_cap;

    il_bag sent;                /* how many sources there were when it was first sent */
    struct il_held_call *calls; /* that sent something */
    uint32_t ncalls, calls_cap;
    size_t call_bytes; /* of their filters */
    il_held_name *names;
    uint32_t nnames, names_cap;
};

/* What is sent stands in a bag like other marks. */
static inline void il_memory_sent_key(uint64_t sent, uint8_t mark[IL_MARK_BYTES]) {
    for (unsigned i = 0; i < IL_MARK_BYTES; i++) {
        mark[i] = (uint8_t)(i < 8 ? sent >> (8 * i) : 0);
    }
}

/* Frees a text of the memory's own. */
void il_memory_drop(il_memory *m, il_str s);

/* memory_typed.c: takes in the forms of a text, as they follow one another. */
IL_NODISCARD il_status il_memory_word_form(il_memory *m, const il_kept_form *form, il_error *err);
IL_NODISCARD il_status il_memory_words_end(il_memory *m, il_error *err);
