/* SPDX-License-Identifier: Apache-2.0 */
/* validate TABLE CERTIFICATE DOCUMENT.json: a sealed machine, checked by a program that shares no code with what made it and that searches for
 * nothing. docs/formats.md has the layouts, docs/proofs.md what this shows. `VALID …` and exit 0, else `REFUSED WORD: …` and exit 1. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define want(holds, word, ...) ((void)((holds) || (printf("REFUSED " word ": " __VA_ARGS__), puts(""), exit(1), 0)))

/* --- SHA-256 (FIPS 180-4) --------------------------------------------------------------------------------------------- */
static const uint32_t K[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
                               0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
                               0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
                               0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
                               0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
                               0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
                               0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
                               0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }
static void digest(const char *p, size_t n, uint8_t out[32]) {
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (size_t at = 0, end = (n + 72) / 64 * 64; at < end; at += 64) {
        uint32_t w[64] = {0}, s[8];
        for (size_t i = 0; i < 64; i++) {
            size_t b = at + i;
            uint64_t tail = b == n ? 0x80 : b + 8 >= end ? (uint64_t)n * 8 >> (end - 1 - b) * 8 & 255 : 0;
            w[i / 4] = w[i / 4] << 8 | (b < n ? (uint8_t)p[b] : (uint32_t)tail);
        }
        for (int i = 16; i < 64; i++) {
            uint32_t a = w[i - 15], b = w[i - 2];
            w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
        }
        memcpy(s, h, sizeof s);
        for (int i = 0; i < 64; i++) {
            uint32_t big = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25), few = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22);
            uint32_t t = s[7] + big + ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[i] + w[i];
            uint32_t most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
            memmove(s + 1, s, 7 * sizeof *s);
            s[4] += t;
            s[0] = t + few + most;
        }
        for (int i = 0; i < 8; i++) {
            h[i] += s[i];
        }
    }
    for (int i = 0; i < 32; i++) {
        out[i] = (uint8_t)(h[i / 4] >> (24 - i % 4 * 8));
    }
}
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
static text find(text list, text key, int pairs) {
    text k = first(list);
    for (; k.n && !same(word(k), key); k = next(pairs ? next(k) : k)) {
    }
    return k;
}
static text member(text object, text key) {
    text k = find(object, key, 1);
    return k.n ? next(k) : none;
}
static text get(text object, const char *key) { return member(object, of(key)); }
static text named(text object) { return word(get(object, "name")); }
static text item(text list, uint32_t i) {
    text t = first(list);
    for (; i > 0 && t.n; i--) {
        t = next(t);
    }
    return t;
}
static uint32_t count(text list) {
    uint32_t n = 0;
    for (text t = first(list); t.n; t = next(t), n++) {
    }
    return n;
}
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
    int depth;
    text reason;
} place;
static text src; /* what is left of the expression */

static value choice(place *at);
static value truth(int b) { return (value){TRUTH, b, none}; }
static void know(int holds, const char *what) {
    want(holds, "expression", "%s at `%.*s`", what, (int)(src.n > 40 ? 40 : src.n), src.p);
}

static int take(const char *sign) {
    for (; src.n && src.p[0] == ' '; src = after(src, 1)) {
    }
    size_t n = strlen(sign);
    int there = src.n >= n && memcmp(src.p, sign, n) == 0;
    src = after(src, there ? n : 0);
    return there;
}
static void need(const char *sign) { know(take(sign), sign); }
static text name(size_t signs) { /* or a number; with two more signs, of a family: `cap[net]` */
    (void)take("");
    text t = src;
    for (; src.n && memchr("_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ[]", src.p[0], signs);
         src = after(src, 1)) {
    }
    return (text){t.p, t.n - src.n};
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
    know(at->depth++ < 60, "too deep");
    src = expression;
    value v = choice(at);
    know(take("") && src.n == 0, "not understood");
    src = outer;
    at->depth--;
    return v;
}
static value atom(place *at) {
    if (take("!")) {
        return truth(!atom(at).i);
    }
    if (take("-")) {
        return (value){NUMBER, -atom(at).i, none};
    }
    if (take("(")) {
        value v = choice(at);
        need(")");
        return v;
    }
    if (take("'")) {
        const char *end = memchr(src.p, '\'', src.n);
        value v = {WORD, 0, {src.p, end ? (size_t)(end - src.p) : src.n}};
        src = after(src, v.w.n);
        need("'");
        return v;
    }
    text w = name(63);
    know(w.n > 0, "not understood");
    if ((is(w, "pre") || is(w, "call") || is(w, "next")) && take(".")) {
        return field(at, w, name(65));
    }
    text let = member(lets, w).n ? member(lets, w) : member(consts, w);
    if (let.n || is(w, "action") || is(w, "reason")) {
        return let.n ? run(at, word(let)) : (value){WORD, 0, is(w, "reason") ? at->reason : at->a ? at->a->name : none};
    }
    return read_value(w);
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
/* A region over each state or step, from its expression: the bitmap says the same, and nothing is in what must never be. */
static uint32_t check_region(uint32_t r, text described) {
    static const char *const kinds[] = {"never", "gated", "transition", "rejection"};
    text o = member(judged, named(described)), edge = get(o, "edge"), e = none;
    int gated = is(word(get(described, "gated")), "true");
    for (const uint8_t *b = bitmaps[r]; !gated && b < (r + 1 < R ? bitmaps[r + 1] : cells); b++) {
        want(!*b, "region", "region %u is entered", r);
    }
    if (families.n && (!o.n || memmem(o.p, node_end(o), "['", 2))) {
        return 0; /* a family's: other tools judge it, from the guards; here the bitmap is believed */
    }
    uint32_t kind = 0, inside = 0;
    for (; kind < 4 && !(e = get(o, kinds[kind])).n; kind++) {
    }
    const int steps = kind > 1 || edge.n;
    int alike = gated == (kind == 1) && is(word(get(described, "edge")), "true") == steps;
    want(kind < 4 && alike, "region", "region %u is not the document's", r);
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t s = 0, a = 0; s < (steps ? S : 1); s++) {
            a += s >= actions[a].first + actions[a].n;
            uint32_t c = cell(i, s), in = 0;
            size_t bit = steps ? (size_t)i * S + s : i;
            place at = {state(i),
                        state(c & 0x3FFFFF),
                        steps ? &actions[a] : NULL,
                        s,
                        0,
                        kind == 3 ? named(item(rules, (c >> 24) - 1)) : none};
            if (!steps || ((!edge.n || find(edge, actions[a].name, 0).n) && (c >> 22 & 3) == (kind < 3))) {
                in = (run(&at, word(e)).i != 0) != (kind > 1); /* an invariant's region is where it does not hold */
            }
            want(in == (bitmaps[r][bit / 8] >> bit % 8 & 1u), "bitmap", "region %u differs in row %u, symbol %u", r, i, s);
            inside |= in;
        }
    }
    want(kind != 1 || inside, "gate", "region %u is never entered: its gates guard nothing", r);
    return 1;
}

static text load(const char *path, const char *magic, size_t least) { /* with `magic`: and its seal */
    FILE *f = fopen(path, "rb");
    char *p = malloc((size_t)1 << 29);
    uint8_t seal[32];
    text t = {p, f && p ? fread(p, 1, (size_t)1 << 29, f) : 0};
    want(t.n >= least && (!magic || memcmp(t.p, magic, 8) == 0), "truncated", "no %s in `%s`", magic ? magic : "document", path);
    if (magic) {
        digest(t.p, t.n - 32, seal);
        want(memcmp(seal, t.p + t.n - 32, 32) == 0, "seal", "%s and its seal differ", magic);
    }
    return t;
}

int main(int argc, char **argv) {
    uint8_t sum[32];
    uint32_t anew = 0;
    char hex[65] = "";
    want(argc == 4, "usage", "validate TABLE CERTIFICATE DOCUMENT.json");
    text t = load(argv[1], "ILTABLE1", 72), c = load(argv[2], "ILCERT01", 104), document = load(argv[3], NULL, 1),
         d = read_table(t);
    digest(document.p, document.n, sum);
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
    want(families.n || count(judged) == R * 2, "region", "the document has others"); /* keys and values */
    for (uint32_t r = 0; r < R; r++) {
        anew += check_region(r, item(get(d, "regions"), r));
    }
    text m = word(get(d, "machine"));
    printf("VALID %.*s: %u states, %u symbols, %llu accepted steps, ", (int)m.n, m.p, N, S, (unsigned long long)edges);
    printf("%u of %u regions judged anew\n", anew, R);
    return 0;
}
