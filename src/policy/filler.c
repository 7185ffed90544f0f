/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/filler.h"

#include "policy/kind_part.h"
#include "provenance/typed.h"

/* In English: articles, pronouns, prepositions, auxiliaries, and the verbs that requests are made of. */
static const char *const il_filler_words[] = {
    "a",      "about", "add",     "after",    "all",    "also",      "am",    "an",     "and",   "any",    "are",   "as",
    "ask",    "at",    "back",    "be",       "been",   "before",    "being", "both",   "but",   "by",     "call",  "can",
    "check",  "copy",  "could",   "create",   "delete", "did",       "do",    "does",   "done",  "each",   "email", "file",
    "find",   "first", "for",     "forward",  "from",   "get",       "give",  "go",     "had",   "has",    "have",  "he",
    "hello",  "help",  "her",     "here",     "hi",     "him",       "his",   "how",    "i",     "if",     "in",    "into",
    "is",     "it",    "its",     "just",     "know",   "last",      "let",   "like",   "list",  "look",   "mail",  "make",
    "may",    "me",    "message", "more",     "most",   "move",      "must",  "my",     "need",  "new",    "next",  "no",
    "not",    "now",   "of",      "off",      "ok",     "on",        "one",   "only",   "open",  "or",     "other", "our",
    "out",    "over",  "own",     "pay",      "per",    "please",    "post",  "put",    "read",  "remove", "reply", "say",
    "search", "see",   "send",    "share",    "she",    "should",    "show",  "so",     "some",  "such",   "take",  "tell",
    "than",   "thank", "thanks",  "that",     "the",    "their",     "them",  "then",   "there", "these",  "they",  "this",
    "those",  "to",    "today",   "tomorrow", "too",    "two",       "up",    "update", "us",    "use",    "very",  "via",
    "want",   "was",   "we",      "well",     "were",   "what",      "when",  "where",  "which", "while",  "who",   "why",
    "will",   "with",  "would",   "write",    "yes",    "yesterday", "yet",   "you",    "your",  NULL};

static bool il_filler_word(il_str word) {
    bool digits = word.n <= 2;
    for (size_t i = 0; i < word.n; i++) {
        digits = digits && il_ascii_digit(word.p[i]);
    }
    if (digits || word.n <= 1) {
        return true;
    }
    for (const char *const *w = il_filler_words; *w != NULL; w++) {
        if (il_str_eq_nocase(word, il_str_of(*w))) {
            return true;
        }
    }
    return false;
}

/* Which of its words are: all, and the first or the last. */
static void il_filler_ask(il_str text, bool *all, bool *edge) {
    size_t at = 0;
    il_typed_word w;
    bool last = false;
    *all = true;
    *edge = false;
    for (bool first = true; il_typed_next(text, &at, &w); first = false) {
        last = il_filler_word(il_typed_back(il_typed_front(w.forms[0].text)));
        *all = *all && last;
        *edge = *edge || (first && last);
    }
    *edge = *edge || last;
}

bool il_filler(il_str text) {
    bool all, edge;
    il_filler_ask(text, &all, &edge);
    return all;
}

bool il_filler_edge(il_str text) {
    bool all, edge;
    il_filler_ask(text, &all, &edge);
    return edge;
}
