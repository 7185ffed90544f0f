/* SPDX-License-Identifier: Apache-2.0 */
/* Pattern to tree. No recursion: open groups are a list. Where RE2 has an opinion on odd syntax, it is RE2's. */
#include "cel/regex_part.h"

#include "base/hidden.h"
#include "base/utf8.h"

enum { PARSE_WORK = 16 }; /* of an item, beside what its classes cost */

/* An open group, or the pattern itself. */
typedef struct parse_group parse_group;
struct parse_group {
    parse_group *up;
    size_t at;            /* of its parenthesis */
    il_regex_node *items; /* the branch being read, its last item */
    il_regex_node *alternatives;
    bool fold, many_lines, dot_all; /* as they were outside */
};

typedef struct parse_name parse_name;
struct parse_name {
    parse_name *next;
    il_str text;
};

typedef struct parse_state {
    il_regex_reader in;
    parse_group *group;
    parse_name *names;
    uint32_t open;
    bool repeated, repeating; /* what was read last, and what is read now, is the operator of a repetition */
} parse_state;

uint32_t il_regex_column(il_str pattern, size_t offset) {
    uint32_t col = 1;
    for (size_t i = 0; i < offset && i < pattern.n; i++) {
        col += ((unsigned char)pattern.p[i] & 0xc0u) != 0x80;
    }
    return col;
}

uint32_t il_regex_point(il_regex_reader *in) {
    const unsigned char *p = (const unsigned char *)in->text.p + in->at;
    const size_t n = il_utf8_length(p, in->text.n - in->at);
    in->at += n;
    return il_utf8_point(p, n);
}

bool il_regex_ahead(const il_regex_reader *in, il_str s) {
    return in->text.n - in->at >= s.n && memcmp(in->text.p + in->at, s.p, s.n) == 0;
}

static il_status parse_depth(parse_state *ps, const il_regex_node *node) {
    if (node->depth > IL_REGEX_DEPTH) {
        return IL_REGEX_FAIL(&ps->in, node->offset, IL_E_LIMIT, "nested deeper than %d levels", (int)IL_REGEX_DEPTH);
    }
    return IL_OK;
}

static il_regex_node *parse_node(parse_state *ps, il_regex_kind kind, size_t offset) {
    il_regex_node *node = IL_NEW(ps->in.tmp, il_regex_node);
    if (node != NULL) {
        *node = (il_regex_node){.kind = kind, .offset = offset, .depth = 1, .product = 1};
    }
    return node;
}

static il_status parse_push(parse_state *ps, il_regex_node *node) {
    if (node == NULL) {
        return il_regex_no_memory(ps->in.tmp, ps->in.err);
    }
    node->prev = ps->group->items;
    ps->group->items = node;
    return IL_OK;
}

static il_status parse_push_class(parse_state *ps, il_regex_class *c, size_t offset) {
    il_regex_node *node = parse_node(ps, IL_REGEX_CLASS, offset);
    if (node == NULL || (node->split = IL_NEW(ps->in.tmp, il_regex_split)) == NULL ||
        !il_regex_class_split(ps->in.tmp, c, node->split)) {
        return il_regex_no_memory(ps->in.tmp, ps->in.err);
    }
    return parse_push(ps, node);
}

il_status il_regex_spend(il_regex_reader *in, uint64_t work) {
    if (work > *in->left) {
        *in->left = 0;
        return IL_REGEX_FAIL(in, in->at, IL_E_LIMIT,
                             "the pattern takes too much work; use fewer Unicode classes and smaller repeats");
    }
    *in->left -= work;
    return IL_OK;
}

il_status il_regex_fold(il_regex_reader *in, il_regex_class *c) {
    IL_TRY(il_regex_spend(in, 3 * (il_regex_folds_n + c->n)));
    return il_regex_class_fold(in->tmp, c) ? IL_OK : il_regex_no_memory(in->tmp, in->err);
}

/* A point whatever its case: *alone when there is no other. */
static il_status parse_fold_point(parse_state *ps, uint32_t point, il_regex_class *c, bool *alone) {
    const uint32_t lower = point | 0x20u;
    const bool ascii = point < 0x80, letter = ascii && lower >= 'a' && lower <= 'z';
    *alone = ascii && !letter;
    if (*alone) {
        return IL_OK;
    }
    if (!il_regex_class_add(ps->in.tmp, c, point, point) ||
        (letter && !il_regex_class_add(ps->in.tmp, c, point ^ 0x20u, point ^ 0x20u))) {
        return il_regex_no_memory(ps->in.tmp, ps->in.err);
    }
    if (!letter || lower == 'k' || lower == 's') { /* of ASCII, only these have a relative outside of it */
        IL_TRY(il_regex_fold(&ps->in, c));
    }
    *alone = c->n == 1 && c->r[0].lo == c->r[0].hi;
    return IL_OK;
}

static il_status parse_push_point(parse_state *ps, uint32_t point, size_t offset) {
    if (ps->in.fold) {
        il_regex_class c = {0};
        bool alone = false;
        IL_TRY(parse_fold_point(ps, point, &c, &alone));
        if (!alone) {
            return parse_push_class(ps, &c, offset);
        }
    }
    il_regex_node *node = parse_node(ps, IL_REGEX_POINT, offset);
    if (node != NULL) {
        node->point = point;
    }
    return parse_push(ps, node);
}

static il_status parse_push_assertion(parse_state *ps, il_regex_assertion assertion, size_t offset) {
    il_regex_node *node = parse_node(ps, IL_REGEX_ASSERT, offset);
    if (node != NULL) {
        node->assertion = assertion;
    }
    return parse_push(ps, node);
}

static il_status parse_dot(parse_state *ps, size_t offset) {
    il_regex_class c = {0};
    if ((!ps->in.dot_all && !il_regex_class_add(ps->in.tmp, &c, '\n', '\n')) || !il_regex_class_negate(ps->in.tmp, &c)) {
        return il_regex_no_memory(ps->in.tmp, ps->in.err);
    }
    return parse_push_class(ps, &c, offset);
}

/* The list that ends with `last` as one node; NULL when there is no memory. */
static il_regex_node *parse_list(parse_state *ps, il_regex_kind kind, il_regex_node *last, size_t offset) {
    if (last != NULL && last->prev == NULL) {
        return last;
    }
    il_regex_node *node = parse_node(ps, last == NULL ? IL_REGEX_EMPTY : kind, offset);
    if (node != NULL) {
        node->last = last;
        for (const il_regex_node *i = last; i != NULL; i = i->prev) {
            node->depth = i->depth + 1 > node->depth ? i->depth + 1 : node->depth;
            node->product = i->product > node->product ? i->product : node->product;
        }
    }
    return node;
}

/* At `|`, or at the end of a group: what was read since the last one is an alternative. */
static il_status parse_alternative(parse_state *ps) {
    parse_group *g = ps->group;
    il_regex_node *branch = parse_list(ps, IL_REGEX_CONCAT, g->items, g->at);
    if (branch == NULL) {
        return il_regex_no_memory(ps->in.tmp, ps->in.err);
    }
    branch->prev = g->alternatives;
    g->alternatives = branch;
    g->items = NULL;
    return parse_depth(ps, branch);
}

static il_status parse_open(parse_state *ps, size_t offset) {
    parse_group *g = IL_NEW(ps->in.tmp, parse_group);
    if (g == NULL) {
        return il_regex_no_memory(ps->in.tmp, ps->in.err);
    }
    if (ps->open++ >= IL_REGEX_DEPTH) {
        return IL_REGEX_FAIL(&ps->in, offset, IL_E_LIMIT, "more than %d groups open", (int)IL_REGEX_DEPTH);
    }
    *g = (parse_group){ps->group, offset, NULL, NULL, ps->in.fold, ps->in.many_lines, ps->in.dot_all};
    ps->group = g;
    return IL_OK;
}

static il_status parse_close(parse_state *ps, size_t offset) {
    parse_group *g = ps->group;
    if (g->up == NULL) {
        return IL_REGEX_FAIL(&ps->in, offset, IL_E_SYNTAX, "`)` without `(`; write `\\)` for a parenthesis");
    }
    IL_TRY(parse_alternative(ps));
    il_regex_node *node = parse_list(ps, IL_REGEX_ALTERNATE, g->alternatives, g->at);
    ps->in.fold = g->fold;
    ps->in.many_lines = g->many_lines;
    ps->in.dot_all = g->dot_all;
    ps->group = g->up;
    ps->open--;
    IL_TRY(parse_push(ps, node));
    return parse_depth(ps, ps->group->items);
}

static bool parse_name_point(uint32_t c) {
    static const char allowed[] = "LuLlLtLmLoNlMnMcNdPc";
    const char *category = il_regex_category_of(c);
    for (size_t i = 0; allowed[i] != '\0'; i += 2) {
        if (category[0] == allowed[i] && category[1] == allowed[i + 1]) {
            return true;
        }
    }
    return false;
}

/* The name of a group and the `>` behind it. Names say nothing to a search, but must be names and differ. */
static il_status parse_group_name(parse_state *ps, size_t offset) {
    il_regex_reader *in = &ps->in;
    const size_t from = in->at, end = il_str_find(in->text, IL_STR(">"), from);
    if (end == SIZE_MAX) {
        return IL_REGEX_FAIL(in, offset, IL_E_SYNTAX, "missing `>` behind the name of the group");
    }
    const il_str name = il_str_part(in->text, from, end);
    bool good = name.n > 0;
    while (good && in->at < end) {
        good = parse_name_point(il_regex_point(in));
    }
    if (!good) {
        return IL_REGEX_FAIL(in, from, IL_E_SYNTAX, "`%.*s` is no name of a group; letters, digits and `_` make one",
                             IL_STR_ARG(name));
    }
    for (const parse_name *i = ps->names; i != NULL; i = i->next) {
        if (il_str_eq(i->text, name)) {
            return IL_REGEX_FAIL(in, from, IL_E_SYNTAX, "there is already a group named `%.*s`", IL_STR_ARG(name));
        }
    }
    parse_name *entry = IL_NEW(in->tmp, parse_name);
    if (entry == NULL) {
        return il_regex_no_memory(in->tmp, in->err);
    }
    *entry = (parse_name){ps->names, name};
    ps->names = entry;
    in->at = end + 1;
    return IL_OK;
}

/* (?flags) and (?flags:...), from behind the question mark. */
static il_status parse_flags(parse_state *ps, size_t offset) {
    il_regex_reader *in = &ps->in;
    bool fold = in->fold, many_lines = in->many_lines, dot_all = in->dot_all, negated = false, any = false;
    for (;;) {
        if (in->at == in->text.n) {
            return IL_REGEX_FAIL(in, offset, IL_E_SYNTAX, "missing `)` for the group that begins here");
        }
        const uint32_t c = il_regex_point(in);
        if (c == 'i') {
            fold = !negated;
        } else if (c == 'm') {
            many_lines = !negated;
        } else if (c == 's') {
            dot_all = !negated;
        } else if (c == '-' && !negated) {
            negated = true;
            any = false;
            continue;
        } else if ((c == ':' || c == ')') && (!negated || any)) {
            if (c == ':') {
                IL_TRY(parse_open(ps, offset));
            }
            in->fold = fold;
            in->many_lines = many_lines;
            in->dot_all = dot_all;
            return IL_OK;
        } else if (c != 'U') { /* which match is found first is not asked */
            return IL_REGEX_FAIL(in, offset, IL_E_SYNTAX,
                                 "unknown group `(?%.*s`; there are `(?:`, `(?P<name>` and the flags `i m s U`",
                                 (int)(in->at - offset - 2), in->text.p + offset + 2);
        }
        any = true;
    }
}

/* At `(`. */
static il_status parse_group_begin(parse_state *ps) {
    il_regex_reader *in = &ps->in;
    const size_t offset = in->at++;
    static const il_str around[] = {{"?=", 2}, {"?!", 2}, {"?<=", 3}, {"?<!", 3}};
    for (size_t i = 0; i < sizeof around / sizeof around[0]; i++) {
        if (il_regex_ahead(in, around[i])) {
            return IL_REGEX_FAIL(in, offset, IL_E_INVALID, "look-around `(%s` is not supported", around[i].p);
        }
    }
    if (il_regex_ahead(in, IL_STR("?>"))) {
        return IL_REGEX_FAIL(in, offset, IL_E_INVALID, "atomic group `(?>` is not supported");
    }
    if (il_regex_ahead(in, IL_STR("?P="))) {
        return IL_REGEX_FAIL(in, offset, IL_E_INVALID, "backreference `(?P=` is not supported");
    }
    if (il_regex_ahead(in, IL_STR("?P<")) || il_regex_ahead(in, IL_STR("?<"))) {
        in->at += in->text.p[in->at + 1] == 'P' ? 3 : 2;
        IL_TRY(parse_group_name(ps, offset));
        return parse_open(ps, offset);
    }
    if (il_regex_ahead(in, IL_STR("?"))) {
        in->at++;
        return parse_flags(ps, offset);
    }
    return parse_open(ps, offset);
}

/* A decimal number without leading zeros; false when there is none. */
static bool parse_number(const il_regex_reader *in, size_t *at, int32_t *out) {
    const size_t from = *at;
    int32_t v = 0;
    while (*at < in->text.n && in->text.p[*at] >= '0' && in->text.p[*at] <= '9') {
        if (v >= 100000000) {
            return false;
        }
        v = v * 10 + (in->text.p[(*at)++] - '0');
    }
    *out = v;
    return *at > from && (*at == from + 1 || in->text.p[from] != '0');
}

/* {n}, {n,} or {n,m}, from its brace; false (nothing read): the brace stands for itself. */
static bool parse_counts(il_regex_reader *in, int32_t *min, int32_t *max) {
    size_t at = in->at + 1;
    if (!parse_number(in, &at, min)) {
        return false;
    }
    *max = *min;
    if (at < in->text.n && in->text.p[at] == ',') {
        at++;
        *max = -1;
        if (at < in->text.n && in->text.p[at] != '}' && !parse_number(in, &at, max)) {
            return false;
        }
    }
    if (at == in->text.n || in->text.p[at] != '}') {
        return false;
    }
    in->at = at + 1;
    return true;
}

static bool parse_is_repeat(il_regex_kind kind) {
    return kind == IL_REGEX_STAR || kind == IL_REGEX_PLUS || kind == IL_REGEX_QUEST;
}

/* A repetition of the last item, its operator read. */
static il_status parse_repeat(parse_state *ps, il_regex_kind kind, int32_t min, int32_t max, size_t offset) {
    il_regex_reader *in = &ps->in;
    il_regex_node *item = ps->group->items;
    ps->repeating = true;
    in->at += il_regex_ahead(in, IL_STR("?")); /* as few as possible: the same to a search */
    const int n = (int)(in->at - offset);
    const char *text = in->text.p + offset;
    if (item == NULL) {
        return IL_REGEX_FAIL(in, offset, IL_E_SYNTAX, "nothing before `%.*s` that could repeat; write `\\%c` for the character",
                             n, text, text[0]);
    }
    if (ps->repeated) {
        return IL_REGEX_FAIL(in, offset, IL_E_SYNTAX, "`%.*s` repeats a repetition; put that in `(?:...)`", n, text);
    }
    if (min > IL_REGEX_REPEAT || max > IL_REGEX_REPEAT) {
        return IL_REGEX_FAIL(in, offset, IL_E_LIMIT, "repeat `%.*s` above %d", n, text, (int)IL_REGEX_REPEAT);
    }
    if (max != -1 && max < min) {
        return IL_REGEX_FAIL(in, offset, IL_E_SYNTAX, "the counts of `%.*s` are backwards", n, text);
    }
    if (kind == IL_REGEX_COUNTED) {
        const uint32_t count = (uint32_t)(max >= 0 ? max : min);
        const uint32_t product = item->product * (count > 0 ? count : 1);
        if ((min >= 2 || max >= 2) && product > IL_REGEX_REPEAT) {
            return IL_REGEX_FAIL(in, offset, IL_E_LIMIT, "nested repeats make more than %d", (int)IL_REGEX_REPEAT);
        }
        if (min == 1 && max == 1) {
            return IL_OK;
        }
        kind = min == 0 && max == -1   ? IL_REGEX_STAR
               : min == 1 && max == -1 ? IL_REGEX_PLUS
               : min == 0 && max == 1  ? IL_REGEX_QUEST
                                       : IL_REGEX_COUNTED;
        item->product = product; /* its place in the tree is that of the repetition */
    }
    if (parse_is_repeat(kind) && parse_is_repeat(item->kind)) { /* (?:a*)* and the like: one level does */
        item->kind = kind == item->kind ? kind : IL_REGEX_STAR;
        return IL_OK;
    }
    il_regex_node *node = parse_node(ps, kind, offset);
    if (node == NULL) {
        return il_regex_no_memory(in->tmp, in->err);
    }
    node->min = min;
    node->max = max;
    node->depth = item->depth + 1;
    node->product = item->product;
    node->last = item;
    node->prev = item->prev;
    item->prev = NULL;
    ps->group->items = node;
    return parse_depth(ps, node);
}

/* \Q...\E, from behind the Q. */
static il_status parse_quoted(parse_state *ps) {
    il_regex_reader *in = &ps->in;
    while (in->at < in->text.n) {
        if (il_regex_ahead(in, IL_STR("\\E"))) {
            in->at += 2;
            break;
        }
        const size_t at = in->at;
        IL_TRY(parse_push_point(ps, il_regex_point(in), at));
    }
    return IL_OK;
}

/* At a backslash outside of brackets. */
static il_status parse_backslash(parse_state *ps) {
    il_regex_reader *in = &ps->in;
    const size_t offset = in->at;
    static const struct {
        char letter;
        il_regex_assertion assertion;
    } assertions[] = {{'A', IL_REGEX_BEGIN_TEXT}, {'z', IL_REGEX_END_TEXT}, {'b', IL_REGEX_WORD}, {'B', IL_REGEX_NOT_WORD}};
    const char letter = in->text.n - offset >= 2 ? in->text.p[offset + 1] : '\0';
    for (size_t i = 0; i < sizeof assertions / sizeof assertions[0]; i++) {
        if (letter == assertions[i].letter) {
            in->at += 2;
            return parse_push_assertion(ps, assertions[i].assertion, offset);
        }
    }
    if (letter == 'C') {
        return IL_REGEX_FAIL(in, offset, IL_E_INVALID, "`\\C`, any byte, is not supported; `(?s:.)` is any character");
    }
    if (letter == 'Q') {
        in->at += 2;
        return parse_quoted(ps);
    }
    il_regex_class c = {0};
    bool found = false;
    IL_TRY(il_regex_escape_class(in, &c, &found));
    if (found) {
        return parse_push_class(ps, &c, offset);
    }
    uint32_t point = 0;
    IL_TRY(il_regex_escape(in, &point));
    return parse_push_point(ps, point, offset);
}

static il_status parse_one(parse_state *ps) {
    il_regex_reader *in = &ps->in;
    const size_t offset = in->at;
    il_regex_class c = {0};
    int32_t min = 0, max = -1;
    switch (in->text.p[offset]) {
    case '(':
        return parse_group_begin(ps);
    case ')':
        in->at++;
        return parse_close(ps, offset);
    case '|':
        in->at++;
        return parse_alternative(ps);
    case '^':
        in->at++;
        return parse_push_assertion(ps, in->many_lines ? IL_REGEX_BEGIN_LINE : IL_REGEX_BEGIN_TEXT, offset);
    case '$':
        in->at++;
        return parse_push_assertion(ps, in->many_lines ? IL_REGEX_END_LINE : IL_REGEX_END_TEXT, offset);
    case '.':
        in->at++;
        return parse_dot(ps, offset);
    case '[':
        IL_TRY(il_regex_bracket(in, &c));
        return parse_push_class(ps, &c, offset);
    case '*':
        in->at++;
        return parse_repeat(ps, IL_REGEX_STAR, 0, -1, offset);
    case '+':
        in->at++;
        return parse_repeat(ps, IL_REGEX_PLUS, 1, -1, offset);
    case '?':
        in->at++;
        return parse_repeat(ps, IL_REGEX_QUEST, 0, 1, offset);
    case '\\':
        return parse_backslash(ps);
    case '{':
        if (parse_counts(in, &min, &max)) {
            return parse_repeat(ps, IL_REGEX_COUNTED, min, max, offset);
        }
        break;
    default:
        break;
    }
    const uint32_t point = il_regex_point(in);
    return parse_push_point(ps, point, offset);
}

il_status il_regex_parse(il_arena *tmp, il_str pattern, uint64_t *left, il_regex_node **out, il_error *err) {
    parse_state ps = {.in = {.tmp = tmp, .text = pattern, .left = left, .err = err}};
    parse_group whole = {0};
    size_t bad = 0;
    ps.group = &whole;
    if (pattern.n > IL_REGEX_PATTERN_BYTES) {
        return IL_REGEX_FAIL(&ps.in, 0, IL_E_LIMIT, "the pattern has more than %d bytes", (int)IL_REGEX_PATTERN_BYTES);
    }
    if (!il_str_utf8(pattern, &bad)) {
        return IL_REGEX_FAIL(&ps.in, bad, IL_E_SYNTAX, "the pattern is not valid UTF-8");
    }
    while (ps.in.at < pattern.n) {
        IL_TRY(il_regex_spend(&ps.in, PARSE_WORK));
        ps.repeating = false;
        IL_TRY(parse_one(&ps));
        ps.repeated = ps.repeating;
    }
    if (ps.group->up != NULL) {
        return IL_REGEX_FAIL(&ps.in, ps.group->at, IL_E_SYNTAX, "missing `)` for the group that begins here");
    }
    IL_TRY(parse_alternative(&ps));
    *out = parse_list(&ps, IL_REGEX_ALTERNATE, whole.alternatives, 0);
    return *out != NULL ? parse_depth(&ps, *out) : il_regex_no_memory(tmp, err);
}
