/* SPDX-License-Identifier: Apache-2.0 */
/* The rules by which one value is vouched: listed, typed by a human, or in a field that no attacker can write. Free text never vouches, and a value of
 * one kind never vouches for one of another. */
#include "base/utf8.h"
#include "policy/filler.h"
#include "policy/kind_part.h"
#include "policy/vouch.h"

const char *il_vouch_text(il_vouch v) {
    switch (v) {
    case IL_VOUCH_NOTHING:
        return "nothing speaks for it";
    case IL_VOUCH_UNREAD:
        return "it cannot be read as what it should be";
    case IL_VOUCH_CLAIMED:
        return "a field of a result has it, which its sender could have written";
    case IL_VOUCH_SENT:
        return "an authentic field has it, but the agent had sent it before";
    case IL_VOUCH_VIA:
        return "an authentic field has it, but what it was found by is not vouched";
    case IL_VOUCH_NAMED:
        return "an authentic field has it, and so has a text that an attacker may have written";
    case IL_VOUCH_FORGOT:
        return "an authentic field has it, but not all that was read is kept any more";
    case IL_VOUCH_REACH:
        return "it was typed or in a field, but others than the addressee may read there";
    case IL_VOUCH_LISTED:
        return "the policy lists it";
    case IL_VOUCH_TYPED:
        return "a human typed it";
    case IL_VOUCH_FACT:
        return "an authentic field of a result has it";
    case IL_VOUCH_USER:
        return "the session's own user";
    }
    return "nothing speaks for it";
}

/* How a text says that a short word is a name: in quotes, or behind a word for it. A bare `3` in a text is a number like any other. */
static const char *const il_vouch_marks[][2] = {{"'", "'"},
                                                {"\"", "\""},
                                                {"`", "`"},
                                                {"\xe2\x80\x98", "\xe2\x80\x99"},
                                                {"\xe2\x80\x9c", "\xe2\x80\x9d"},
                                                {"#", ""},
                                                {"id ", ""},
                                                {"ID ", ""},
                                                {"Id ", ""},
                                                {"id:", ""},
                                                {"id: ", ""},
                                                {"ID: ", ""},
                                                {"id=", ""},
                                                {"number ", ""},
                                                {"Number ", ""},
                                                {"no. ", ""},
                                                {"No. ", ""},
                                                {"nr. ", ""}};

/* Way number `i` of them, the last two being the kind's own word in front: `file 13`, `File 13`; false behind them. */
static bool il_vouch_marked(const il_vouch_scope *s, il_kind kind, il_str canonical, size_t i, char *out, size_t cap,
                            il_str *text) {
    const size_t n = sizeof il_vouch_marks / sizeof il_vouch_marks[0];
    const il_str word = il_kinds_word(&s->policy->kinds, kind);
    const il_str front = i < n ? il_str_of(il_vouch_marks[i][0]) : word;
    *text = (il_str){out, il_format(out, cap, "%.*s%s%.*s%s", IL_STR_ARG(front), i < n ? "" : " ", IL_STR_ARG(canonical),
                                    i < n ? il_vouch_marks[i][1] : "")};
    if (i == n + 1) {
        out[0] = il_ascii_upper(out[0]);
    }
    return i <= n + 1;
}

/* What names a short value in a text that somebody else wrote, beside that: letter case and white space do not count there. `%` stands for the kind's word. */
static const char *const il_vouch_names[][2] = {
    {"(", ")"},      {"[", "]"},    {"<", ">"},      {"%:", ""},      {"%=", ""},    {"%_id:", ""},       {"%_id=", ""},
    {"%_id\":", ""}, {"%\":", ""},  {"%id\":", ""},  {"% id:", ""},   {"%-id:", ""}, {"%_id\":\"", "\""}, {"% number", ""},
    {"% no.", ""},   {"id\":", ""}, {"number:", ""}, {"number=", ""}, {"no:", ""}};

static bool il_vouch_named_as(const il_vouch_scope *s, il_kind kind, il_str canonical, size_t i, char *out, size_t cap,
                              il_str *text) {
    if (i >= sizeof il_vouch_names / sizeof il_vouch_names[0]) {
        return false;
    }
    const il_str front = il_str_of(il_vouch_names[i][0]);
    const bool word = front.p[0] == '%';
    const il_str of = word ? il_kinds_word(&s->policy->kinds, kind) : (il_str){0};
    *text =
        (il_str){out, il_format(out, cap, "%.*s%.*s%.*s%s", IL_STR_ARG(of), IL_STR_ARG(il_str_part(front, word ? 1 : 0, front.n)),
                                IL_STR_ARG(canonical), il_vouch_names[i][1])};
    return true;
}

/* Plain words. What has fewer characters than the index knows tokens of, or only words that are in every sentence, counts where the human marks it as a
 * name: a date has a `13` in it too. */
static bool il_vouch_typed_words(const il_vouch_scope *s, il_kind kind, il_str canonical) {
    char out[64];
    il_str text;
    if (il_utf8_count(canonical) >= IL_INDEX_TOKEN && !il_filler(canonical)) {
        return il_memory_typed_words(s->memory, canonical);
    }
    for (size_t i = 0; il_vouch_marked(s, kind, canonical, i, out, sizeof out, &text); i++) {
        if (il_memory_typed_words(s->memory, text)) {
            return true;
        }
    }
    return false;
}

/* Kinds that are plain words are found in what a human typed as words; of the others the values were picked out (il_policy_hear). */
static bool il_vouch_typed(const il_vouch_scope *s, il_kind kind, il_str canonical) {
    switch (kind < IL_KIND_CUSTOM ? kind : IL_KIND_CUSTOM) {
    case IL_KIND_EMAIL:
    case IL_KIND_HOST:
    case IL_KIND_URL:
    case IL_KIND_REPO:
    case IL_KIND_PATH:
    case IL_KIND_ACCOUNT:
        return il_memory_typed(s->memory, il_kind_word(kind), canonical);
    case IL_KIND_CHANNEL:
    case IL_KIND_NAME:
    case IL_KIND_CUSTOM:
        return il_vouch_typed_words(s, kind, canonical);
    }
    return false;
}

typedef struct il_vouch_facts {
    const il_vouch_scope *s;
    il_kind kind;
    il_str value;
    bool complete, sent;
    il_vouch how; /* the best so far */
    uint32_t source;
    uint32_t
        oldest; /* source of a fact behind one that was sent before, which is asked for at the end: what was not sent before the oldest stands */
} il_vouch_facts;

/* What the value was found by is listed under this kind, or typed. */
static bool il_vouch_via(const il_vouch_scope *s, il_kind kind, const il_seen *fact) {
    const il_names *names = &s->policy->names;
    for (uint32_t i = 0; i < names->n; i++) {
        const il_listed *item = &names->list[i];
        if (item->pattern.kind == kind && item->pattern.shape == 0 && (s->needed & ~item->accepts) == 0 &&
            il_memory_via_is(fact, item->pattern.text)) {
            return true;
        }
    }
    return il_memory_via_typed(s->memory, fact);
}

static bool il_vouch_fact(void *ctx, const il_seen *fact) {
    il_vouch_facts *f = ctx;
    il_vouch how = IL_VOUCH_FACT;
    if (fact->standing != IL_STANDING_AUTHENTIC) {
        how = IL_VOUCH_CLAIMED;
    } else if (!f->complete) {
        how = IL_VOUCH_FORGOT;
    } else if (fact->has_via && (fact->shared || !il_vouch_via(f->s, f->kind, fact))) {
        how = IL_VOUCH_VIA;
    } else if (f->sent) {
        f->oldest = fact->source; /* newest first */
        return true;
    } else if (il_memory_sent_before(f->s->memory, f->value, fact->source)) {
        how = IL_VOUCH_SENT;
        f->sent = true;
    }
    if (how > f->how || f->source == 0) {
        f->how = how;
        f->source = fact->source;
    }
    return f->how != IL_VOUCH_FACT;
}

/* The same value as people write it: an account number in groups of four, a URL without its scheme and its last slash. */
static il_status il_vouch_named_so(const il_vouch_scope *s, il_kind kind, il_str canonical, bool *named, il_error *err) {
    char groups[64];
    size_t n = 0;
    if (kind == IL_KIND_URL) {
        const size_t scheme = il_str_find(canonical, IL_STR("://"), 0);
        il_str rest = scheme != SIZE_MAX ? il_str_part(canonical, scheme + 3, canonical.n) : (il_str){0};
        rest.n -= il_str_ends(rest, IL_STR("/")) ? 1u : 0u;
        return rest.n > 0 ? il_memory_named(s->memory, rest, named, err) : IL_OK;
    }
    if (kind != IL_KIND_ACCOUNT || canonical.n > 34) {
        return IL_OK;
    }
    for (size_t i = 0; i < canonical.n; i++) {
        if (i > 0 && i % 4 == 0) {
            groups[n++] = ' ';
        }
        groups[n++] = canonical.p[i];
    }
    return il_memory_named(s->memory, (il_str){groups, n}, named, err);
}

/* A text that an attacker may have written names the value. What has fewer characters than the index knows tokens of is everywhere, so it counts where a
 * text marks it as a name, or says its kind in front of it. */
static il_status il_vouch_named(const il_vouch_scope *s, il_kind kind, il_str canonical, bool *named, il_error *err) {
    char out[64];
    il_str text;
    if (il_utf8_count(canonical) >= IL_INDEX_TOKEN) {
        IL_TRY(il_memory_named(s->memory, canonical, named, err));
        return *named ? IL_OK : il_vouch_named_so(s, kind, canonical, named, err);
    }
    *named = false;
    for (size_t i = 0; !*named && il_vouch_marked(s, kind, canonical, i, out, sizeof out, &text); i++) {
        IL_TRY(il_memory_named(s->memory, text, named, err));
    }
    for (size_t i = 0; !*named && il_vouch_named_as(s, kind, canonical, i, out, sizeof out, &text); i++) {
        IL_TRY(il_memory_named(s->memory, text, named, err));
    }
    return IL_OK;
}

il_status il_vouch_value(const il_vouch_scope *s, il_kind kind, il_str canonical, il_vouch *how, uint32_t *source,
                         il_error *err) {
    *how = IL_VOUCH_NOTHING;
    *source = 0;
    if (il_names_vouch(&s->policy->names, kind, canonical, s->needed)) {
        *how = IL_VOUCH_LISTED;
        return IL_OK;
    }
    if (s->memory == NULL) {
        return IL_OK;
    }
    il_vouch_facts f = {.s = s, .kind = kind, .value = canonical, .complete = s->complete};
    il_memory_facts(s->memory, il_kinds_word(&s->policy->kinds, kind), canonical, il_vouch_fact, &f);
    if (f.oldest != 0 && f.how != IL_VOUCH_FACT && !il_memory_sent_before(s->memory, canonical, f.oldest)) {
        f.how = IL_VOUCH_FACT;
        f.source = f.oldest;
    }
    const bool typed = il_vouch_typed(s, kind, canonical);
    *source = f.source;
    if (!s->reach || il_names_maybe_public(&s->policy->names, kind, canonical)) {
        *how = typed || f.source != 0 ? IL_VOUCH_REACH : IL_VOUCH_NOTHING;
        return IL_OK;
    }
    if (typed) {
        *how = IL_VOUCH_TYPED;
        return IL_OK;
    }
    *how = f.how;
    if (f.how == IL_VOUCH_FACT) {
        bool named = true;
        IL_TRY(il_vouch_named(s, kind, canonical, &named, err));
        *how = named ? IL_VOUCH_NAMED : IL_VOUCH_FACT;
    }
    return IL_OK;
}
