/* SPDX-License-Identifier: Apache-2.0 */
/* validate TABLE CERTIFICATE DOCUMENT.json: a sealed machine, checked by a program that shares no code with what made it and that searches for
 * nothing; SHA-256 is OpenSSL's. docs/formats.md has the layouts, docs/proofs.md what this shows. `VALID …` and exit 0, else `REFUSED WORD: …` and exit 1. */
#include <ctype.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define want(holds, word, ...) ((void)((holds) || (printf("REFUSED " word ": " __VA_ARGS__), puts(""), exit(1), 0)))

/* --- JSON: a node is where it begins, in canonical text ---------------------------------------------------------------- */
typedef struct text {
    const char *p;
    size_t n;
} text;
static const text none;
static text lets, consts, families, judged, rules;
static text after(text t, size_t n) { return (text){t.p + n, t.n - n}; }
static text of(const char *z) { return (text){z, strlen(z)}; }
static int same(text a, text b) { return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0); }
static int is(text a, const char *z) { return same(a, of(z)); }
static size_t node_end(text t) {
    size_t i = 0;
    for (int depth = 0, quoted = 0; i == 0 || depth || quoted || (i < t.n && !memchr(",:]}", t.p[i], 4));) {
        want(i < t.n, "truncated", "JSON ends early");
        char c = t.p[i++];
        i += quoted && c == '\\';
        quoted ^= c == '"';
        depth += quoted ? 0 : (c == '[' || c == '{') - (c == ']' || c == '}');
    }
    return i;
}
static text first(text list) {
    return list.n > 2 && memchr("[{", list.p[0], 2) && !memchr("]}", list.p[1], 2) ? after(list, 1) : none;
}
static text next(text node) { /* what follows in a list; of a key its value, of a value the next key */
    text t = after(node, node_end(node));
    return t.n && (t.p[0] == ',' || t.p[0] == ':') ? after(t, 1) : none;
}
static text word(text node) { /* its text, without quotes */
    size_t n = node.n ? node_end(node) : 0;
    return n && node.p[0] == '"' ? (text){node.p + 1, n - 2} : (text){node.p, n};
}
static text seek(text k, text key, int pairs) {
    return k.n && !same(word(k), key) ? seek(next(pairs ? next(k) : k), key, pairs) : k;
}
static text behind(text key) { return key.n ? next(key) : none; }
static text member(text object, text key) { return behind(seek(first(object), key, 1)); }
static text get(text object, const char *key) { return member(object, of(key)); }
static text named(text object) { return word(get(object, "name")); }
static text skip(text node, uint32_t i) { return i && node.n ? skip(next(node), i - 1) : node; }
static text item(text list, uint32_t i) { return skip(first(list), i); }
static uint32_t length(text node) { return node.n ? 1 + length(next(node)) : 0; }
static uint32_t count(text list) { return length(first(list)); }
/* --- the table ---------------------------------------------------------------------------------------------------------- */
#define MANY 64u
typedef struct domain {
    text name, values;
    uint32_t n, shift, bits;
} domain;
typedef struct action {
    text name;
    uint32_t first, n, nfields;
    domain fields[16];
} action;
static uint32_t N, S, R, initial, nvars, nactions, nrules;
static domain vars[MANY];
static action actions[MANY];
static const uint8_t *states, *cells, *bitmaps[MANY];
static uint32_t u32(const void *at) {
    const uint8_t *p = at;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static uint64_t u64(const void *at) { return u32(at) | (uint64_t)u32((const uint8_t *)at + 4) << 32; }
static uint64_t state(uint32_t row) { return u64(states + (size_t)row * 8); }
static uint32_t cell(uint32_t row, uint32_t symbol) { return u32(cells + ((size_t)row * S + symbol) * 4); }
static uint64_t value_of(uint64_t s, const domain *v) { return s >> v->shift & ((1ull << v->bits) - 1); }
static domain read_domain(text o) { return (domain){named(o), get(o, "values"), count(get(o, "values")), 0, 0}; }
static void read_names(text d) {
    uint32_t bits = 0, symbols = 0;
    for (text t = first(get(d, "vars")); t.n && nvars < MANY; t = next(t)) {
        domain *v = &vars[nvars++];
        *v = read_domain(t);
        for (v->shift = bits; 1u << v->bits < v->n; v->bits++) {
        }
        v->shift = v->bits ? bits : 0;
        bits += v->bits;
    }
    for (text t = first(get(d, "actions")); t.n && nactions < MANY; t = next(t)) {
        action *a = &actions[nactions++];
        *a = (action){.name = named(t), .n = 1, .first = symbols};
        for (text f = first(get(t, "fields")); f.n && a->nfields < 16; f = next(f)) {
            a->fields[a->nfields] = read_domain(f);
            a->n *= a->fields[a->nfields++].n;
        }
        symbols += a->n;
    }
    rules = get(d, "rules");
    nrules = count(rules);
    want(bits <= 64 && symbols == S && count(get(d, "regions")) == R, "header", "its names and its numbers differ");
}
static text read_table(text t) {
    const uint8_t *p = (const uint8_t *)t.p;
    size_t at = 40 + ((size_t)u32(p + 28) + 7) / 8 * 8, body = t.n - 32;
    text d = {t.p + 40, u32(p + 28)};
    N = u32(p + 12), S = u32(p + 16), initial = u32(p + 20), R = u32(p + 24);
    want(u32(p + 8) == 1 && !u64(p + 32) && N && N <= 1 << 20 && S && S <= 1 << 16 && initial < N && R <= MANY && at <= body,
         "header", "its numbers are not possible");
    read_names(d);
    states = p + at;
    at += (size_t)N * 8;
    for (uint32_t r = 0; r < R; r++) {
        bitmaps[r] = p + at;
        at += ((is(word(get(item(get(d, "regions"), r), "edge")), "true") ? (size_t)N * S : N) + 63) / 64 * 8;
    }
    cells = p + at;
    want(at + (size_t)N * S * 4 == body, "truncated", "its length");
    return d;
}
/* States inside their domains and in order, the initial one among them; every accepted step stays in R, no other moves. */
static uint64_t check_cells(void) {
    uint64_t edges = 0;
    for (uint32_t i = 0; i < N; i++) {
        uint64_t seen = 0;
        for (uint32_t v = 0; v < nvars; v++) {
            seen |= value_of(state(i), &vars[v]) < vars[v].n ? value_of(state(i), &vars[v]) << vars[v].shift : ~state(i);
        }
        want(seen == state(i) && (i ? state(i - 1) < state(i) : state(initial) == 0), "state", "row %u", i);
        for (uint32_t s = 0; s < S; s++) {
            uint32_t c = cell(i, s), post = c & 0x3FFFFF, verdict = c >> 22 & 3, reason = c >> 24;
            int fine = verdict ? post < N && !reason : post == i && reason && reason <= nrules;
            want(verdict < 2 && fine, "cell", "row %u, symbol %u", i, s);
            edges += verdict;
        }
    }
    return edges;
}
/* --- region expressions, straight from the document's text --------------------------------------------------------------- */
typedef struct value {
    enum { TRUTH, NUMBER, WORD } kind;
    long long i;
    text w;
} value;
typedef struct place { /* where an expression is judged */
    uint64_t pre, next;
    const action *a; /* NULL: a state, no step */
    uint32_t symbol;
    text reason;
} place;
static text src;          /* what is left of the expression */
static text bound[16][2]; /* indexes of families, and the member that each stands for */
static uint32_t nbound, depth;
static value choice(place *at);
static value truth(int b) { return (value){TRUTH, b, none}; }
static void know(int holds, const char *what) { want(holds, "expression", "%s at `%.*s`", what, (int)src.n, src.p); }
static int take(const char *sign) {
    for (; src.n && src.p[0] == ' '; src = after(src, 1)) {
    }
    size_t n = strlen(sign);
    int there = src.n >= n && memcmp(src.p, sign, n) == 0;
    src = after(src, there ? n : 0);
    return there;
}
static void need(const char *sign) { know(take(sign), sign); }
static text until(const char *end) {
    const char *e = memchr(src.p, *end, src.n);
    text t = {src.p, e ? (size_t)(e - src.p) : src.n};
    src = after(src, t.n);
    need(end);
    return t;
}
static text member_of(text index) {
    uint32_t i = nbound;
    for (; i > 0 && !same(bound[i - 1][0], index); i--) {
    }
    return i ? bound[i - 1][1] : index;
}
static text of_member(text base, text index) { /* `cap[c]` with `c` bound: `cap[net]` */
    static char kept[1 << 12][160];
    static uint32_t at;
    text m = member_of(index), t = {kept[at++ % (1 << 12)], 0};
    t.n = (size_t)snprintf(kept[(at - 1) % (1 << 12)], 160, "%.*s[%.*s]", (int)base.n, base.p, (int)m.n, m.p);
    know(t.n < 160, "a long name");
    return t;
}
static text index_of(text w) {
    const char *b = w.n && w.p[w.n - 1] == ']' ? memchr(w.p, '[', w.n) : NULL;
    return b ? (text){b + 1, w.n - (size_t)(b - w.p) - 2} : none;
}
static text whole(text w) { /* a word; an action's name with an index, of its member */
    return index_of(w).n ? of_member((text){w.p, w.n - index_of(w).n - 2}, index_of(w)) : w;
}
static text name(void) { /* or a number */
    (void)take("");
    text t = src;
    for (; src.n && (isalnum((unsigned char)src.p[0]) || src.p[0] == '_'); src = after(src, 1)) {
    }
    t.n -= src.n;
    text i = t.n && take("[") ? until("]") : none;
    return i.n > 2 && i.p[0] == '\'' ? of_member(t, (text){i.p + 1, i.n - 2}) : i.n ? of_member(t, i) : t;
}
static text under(text list, text w) { /* what stands there by that name, or by its family's: then its index is bound */
    text k = first(list), key = word(k);
    for (; k.n && !same(key, w); k = next(next(k)), key = word(k)) {
        text i = index_of(key);
        size_t n = key.n - i.n - 1;
        if (i.n && nbound < 16 && w.n > n && memcmp(key.p, w.p, n) == 0) {
            text m = {w.p + n, w.n - n - 1};
            know(seek(first(member(families, i)), m, 0).n > 0, "no member of its family, before");
            bound[nbound][0] = i, bound[nbound++][1] = m;
            break;
        }
    }
    return behind(k);
}
static value read_value(text w) {
    char *end = NULL, digits[24] = {0};
    memcpy(digits, w.p, w.n < 23 ? w.n : 23);
    long long i = strtoll(digits, &end, 10);
    return is(w, "true") || is(w, "false") ? truth(w.p[0] == 't') : w.n && !*end ? (value){NUMBER, i, none} : (value){WORD, 0, w};
}
static value field(place *at, text record, text f) {
    int call = is(record, "call"), pre = is(record, "pre");
    uint32_t n = call ? at->a ? at->a->nfields : 0 : at->a || pre ? nvars : 0, i = 0, stride = at->a ? at->a->n : 0;
    const domain *d = call && at->a ? at->a->fields : vars;
    for (; i < n && !same(d[i].name, f); stride /= d[i++].n) {
    }
    know(i < n, "a name that is none");
    return read_value(word(item(d[i].values, call ? (at->symbol - at->a->first) / (stride / d[i].n) % d[i].n
                                                  : (uint32_t)value_of(pre ? at->pre : at->next, &d[i]))));
}
static value run(place *at, text expression) {
    text outer = src;
    know(depth++ < 60, "too deep");
    src = expression;
    value v = choice(at);
    know(take("") && src.n == 0, "not understood");
    src = outer;
    depth--;
    return v;
}
static value members(place *at, text family) { /* `c.exists(x, …)`, `.all`, `.exists_one` */
    text how = name(), x = (need("("), name()), body = (need(","), src);
    uint32_t n = 0, all = count(family);
    for (text m = first(family); m.n; m = next(m)) {
        know(nbound < 16, "too deep");
        bound[nbound][0] = x, bound[nbound++][1] = word(m), src = body;
        n += choice(at).i != 0;
        need(")");
        nbound--;
    }
    know(is(how, "exists") || is(how, "all") || is(how, "exists_one"), "not understood, before");
    return truth(is(how, "all") ? n == all : is(how, "exists") ? n > 0 : n == 1);
}
static value atom(place *at) {
    int negates = take("!");
    if (negates || take("-")) {
        value v = atom(at);
        return negates ? truth(!v.i) : (value){NUMBER, -v.i, none};
    }
    if (take("(")) {
        value v = choice(at);
        need(")");
        return v;
    }
    if (take("'")) {
        return (value){WORD, 0, whole(until("'"))};
    }
    text w = name(), family = member(families, w);
    know(w.n > 0, "not understood");
    int record = is(w, "pre") || is(w, "call") || is(w, "next");
    if ((record || family.n) && take(".")) {
        return record ? field(at, w, name()) : members(at, family);
    }
    if (is(w, "action") || is(w, "reason")) {
        return (value){WORD, 0, is(w, "reason") ? at->reason : at->a ? at->a->name : none};
    }
    uint32_t outer = nbound;
    text let = under(lets, w), m = member_of(w);
    let = let.n ? let : member(consts, w);
    value v = let.n ? run(at, word(let)) : same(m, w) ? read_value(w) : (value){WORD, 0, m};
    nbound = outer;
    return v;
}
static value binary(place *at, int level) { /* `||`, `&&`, comparisons, sums: each binds more than the one before */
    static const char *const signs[] = {"||", "&&", "==", "!=", "<=", ">=", "<", ">", "in ", "+", "-"};
    static const int levels[] = {0, 1, 2, 2, 2, 2, 2, 2, 2, 3, 3};
    value a = level == 4 ? atom(at) : binary(at, level + 1);
    for (int i = 0; level < 4 && i < 11; i++) {
        if (levels[i] != level || !take(signs[i])) {
            continue;
        }
        int found = 0;
        for (int more = i == 8 && take("["); more; more = take(",")) {
            value b = binary(at, 3);
            found |= a.kind == b.kind && a.i == b.i && same(a.w, b.w);
        }
        value b = i == 8 ? (need("]"), a) : binary(at, level + 1);
        know(a.kind == b.kind && (i > 1 || a.kind == TRUTH) && (i < 4 || i == 8 || a.kind == NUMBER),
             "two that do not go together, before");
        int equal = a.i == b.i && same(a.w, b.w);
        const long long says[] = {a.i || b.i, a.i && b.i,        equal, !equal,    a.i <= b.i,
                                  a.i >= b.i, a.i<b.i, a.i> b.i, found, a.i + b.i, a.i - b.i};
        a = (value){i > 8 ? NUMBER : TRUTH, says[i], none};
        i = -1; /* once more, from the left */
    }
    return a;
}
static value choice(place *at) {
    value c = binary(at, 0);
    int asks = take("?");
    value a = asks ? choice(at) : c, b = asks ? (need(":"), choice(at)) : c;
    return c.i ? a : b;
}
static int listed(text e, text action) { /* `use`, `use[c]` of the bound member, `use[*]` of each */
    text w = whole(word(e));
    size_t n = is(index_of(w), "*") ? w.n - 2 : 0;
    return e.n && (same(w, action) || (n && action.n > n && memcmp(w.p, action.p, n) == 0) || listed(next(e), action));
}
static uint32_t regions(text k) { /* how many the document has */
    text i = index_of(word(k));
    return k.n ? (i.n ? count(member(families, i)) : 1) + regions(next(next(k))) : 0;
}
/* A region over each state or step, from its expression: the bitmap says the same, and nothing is in what must never be. */
static void check_region(uint32_t r, text described) {
    static const char *const kinds[] = {"never", "gated", "transition", "rejection"};
    nbound = 0;
    text o = under(judged, named(described)), edge = get(o, "edge"), e = none;
    const int gated = is(word(get(described, "gated")), "true");
    uint32_t kind = 0, inside = 0;
    for (; kind < 4 && !(e = get(o, kinds[kind])).n; kind++) {
    }
    const int steps = kind > 1 || edge.n;
    want(kind < 4 && gated == (kind == 1) && is(word(get(described, "edge")), "true") == steps, "region",
         "region %u is not the document's", r);
    for (const uint8_t *b = bitmaps[r]; !gated && b < (r + 1 < R ? bitmaps[r + 1] : cells); b++) {
        want(!*b, "region", "region %u is entered", r);
    }
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t s = 0, a = 0; s < (steps ? S : 1); s++) {
            a += s >= actions[a].first + actions[a].n;
            const uint32_t c = cell(i, s), accepted = c >> 22 & 3;
            const text why = kind == 3 && !accepted ? named(item(rules, (c >> 24) - 1)) : none;
            const size_t bit = steps ? (size_t)i * S + s : i;
            place at = {state(i), state(c & 0x3FFFFF), steps ? &actions[a] : NULL, s, why};
            uint32_t in = 0;
            if (!steps || ((!edge.n || listed(first(edge), actions[a].name)) && accepted == (kind < 3))) {
                in = (run(&at, word(e)).i != 0) != (kind > 1); /* an invariant's region is where it does not hold */
            }
            want(in == (bitmaps[r][bit / 8] >> bit % 8 & 1u), "bitmap", "region %u differs in row %u, symbol %u", r, i, s);
            inside |= in;
        }
    }
    want(kind != 1 || inside, "gate", "region %u is never entered: its gates guard nothing", r);
}
static text load(const char *path, const char *magic, size_t least) { /* with `magic`: and its seal */
    FILE *f = fopen(path, "rb");
    static char *kept[3], **at = kept; /* reachable to the end */
    char *p = *at++ = malloc((size_t)1 << 29);
    uint8_t seal[32];
    text t = {p, f && p ? fread(p, 1, (size_t)1 << 29, f) : 0};
    want(t.n >= least && (!magic || memcmp(t.p, magic, 8) == 0), "truncated", "no %s in `%s`", magic ? magic : "document", path);
    if (magic) {
        SHA256((const uint8_t *)t.p, t.n - 32, seal);
        want(memcmp(seal, t.p + t.n - 32, 32) == 0, "seal", "%s and its seal differ", magic);
    }
    return t;
}

int main(int argc, char **argv) {
    uint8_t sum[32];
    char hex[65] = "";
    want(argc == 4, "usage", "validate TABLE CERTIFICATE DOCUMENT.json");
    text t = load(argv[1], "ILTABLE1", 72), c = load(argv[2], "ILCERT01", 104), document = load(argv[3], NULL, 1),
         d = read_table(t);
    SHA256((const uint8_t *)document.p, document.n, sum);
    for (int i = 0; i < 32; i++) {
        snprintf(hex + i * 2, 3, "%02x", sum[i]);
    }
    want(is(word(get(d, "source")), hex), "foreign-document", "the table was made from another document");
    uint64_t edges = check_cells();
    want(c.n == 104 && u32(c.p + 8) == 1 && u32(c.p + 12) == 31 && !u32(c.p + 68), "claims", "it does not claim full mediation");
    want(memcmp(c.p + 16, t.p + t.n - 32, 32) == 0 && u32(c.p + 48) == N && u32(c.p + 52) == S && u64(c.p + 56) == edges,
         "foreign-certificate", "it is about another table");
    lets = get(document, "let"), consts = get(document, "const"), judged = get(document, "regions");
    families = get(document, "families");
    for (uint32_t r = 0; r < R; r++) {
        text t = get(d, "regions"), one = item(t, r);
        for (uint32_t i = 0; i < r; i++) {
            want(!same(named(item(t, i)), named(one)), "region", "region %u stands twice", r);
        }
        check_region(r, one);
    }
    want(regions(first(judged)) == R, "region", "the document has others");
    text m = word(get(d, "machine"));
    printf("VALID %.*s: %u states, %u symbols, %llu accepted steps, all %u regions judged anew\n", (int)m.n, m.p, N, S,
           (unsigned long long)edges, R);
}
