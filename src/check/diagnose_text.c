/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a diagnosis for people, made from the object: one line a region, both runs of a witness side by side, the grade, the verdict. */
#include "check/diagnose.h"

enum { TEXT_VERDICT = 14, TEXT_FINDING = 16, TEXT_NUMBER = 5, TEXT_COLUMN = 30, TEXT_COLUMN_MAX = 60 };

static const il_json *text_get(const il_json *o, const char *key) { return il_json_get(o, il_str_of(key)); }
static il_str text_of(const il_json *o, const char *key) { return il_json_text(text_get(o, key)); }
static bool text_is(const il_json *o, const char *key, const char *word) { return il_str_eq(text_of(o, key), il_str_of(word)); }
static bool text_null(const il_json *o, const char *key) { return il_json_kind_of(text_get(o, key)) == IL_JSON_NULL; }
static bool text_zero(const il_json *o, const char *key) { return text_is(o, key, "0"); }

static void text_pad(il_buf *b, size_t from, size_t width) {
    for (size_t n = b->n - from; n < width; n++) {
        il_buf_putc(b, ' ');
    }
}

static void text_list(il_buf *b, const il_json *list, const char *none) {
    const char *between = "";
    for (const il_json *v = il_json_first(list); v; v = il_json_next(v)) {
        il_buf_puts(b, between);
        il_buf_put(b, il_json_text(v));
        between = ", ";
    }
    il_buf_puts(b, il_json_count(list) == 0 ? none : "");
}

static void text_count(il_buf *b, const il_json *o, const char *key, const char *what) {
    il_buf_puts(b, "  ");
    il_buf_put(b, text_of(o, key));
    il_buf_puts(b, what);
}

static void text_head(il_buf *b, const il_json *o) {
    il_buf_puts(b, "machine ");
    il_buf_put(b, text_of(text_get(o, "machine"), "name"));
    il_buf_puts(b, il_json_bool(text_get(o, "declared")) ? "\n" : ": it has no section `diagnosis`, so all but ghosts is seen\n");
    il_buf_puts(b, "seen: ");
    text_list(b, text_get(o, "sees"), "no variable");
    il_buf_puts(b, il_json_bool(text_get(o, "verdicts")) ? "; actions and verdicts\n" : "; actions, but no verdicts\n");
    il_buf_puts(b, "unseen: ");
    text_list(b, text_get(o, "unseen"), "nothing");
    il_buf_puts(b, "\nsensors in place: ");
    text_list(b, text_get(o, "uses"), "none");
    il_buf_puts(b, "\nfaults: ");
    text_list(b, text_get(o, "faults"), "none declared; silent jumps into each region");
    il_buf_puts(b, "\n\n");
}

static void text_k(il_buf *b, const il_json *twin) {
    if (text_zero(twin, "k")) {
        il_buf_puts(b, "at once");
        return;
    }
    il_buf_puts(b, "k = ");
    il_buf_put(b, text_of(twin, "k"));
    if (!text_null(twin, "k_events") && !il_str_eq(text_of(twin, "k_events"), text_of(twin, "k"))) {
        il_buf_puts(b, " (");
        il_buf_put(b, text_of(twin, "k_events"));
        il_buf_puts(b, " that are seen)");
    }
}

static void text_region(il_buf *b, const il_json *l) {
    const il_json *twin = text_get(l, "twin");
    size_t from = b->n;
    il_buf_put(b, text_of(l, "verdict"));
    text_pad(b, from, TEXT_VERDICT);
    il_buf_put(b, text_of(l, "finding"));
    text_pad(b, from, TEXT_VERDICT + TEXT_FINDING);
    il_buf_put(b, text_of(l, "region"));
    if (text_is(twin, "word", "DIAGNOSABLE")) {
        il_buf_puts(b, "  ");
        text_k(b, twin);
    }
    if (!text_null(l, "within")) {
        text_count(b, l, "within", " steps allowed");
    }
    text_count(b, twin, "states", " states");
    text_count(b, twin, "pairs", " pairs");
    text_count(b, twin, "ambiguous", " ambiguous");
    il_buf_putc(b, '\n');
}

static size_t text_width(const il_json *list, const char *key, size_t least) {
    for (const il_json *s = il_json_first(list); s; s = il_json_next(s)) {
        size_t n = text_null(s, key) ? 1 : text_of(s, key).n;
        least = n > least ? n : least;
    }
    return least < TEXT_COLUMN_MAX ? least : TEXT_COLUMN_MAX;
}

/* The next line of the report with that id; NULL after the last. */
static const il_json *text_next(const il_json *line, const char *id) {
    while (line && !text_is(line, "id", id)) {
        line = il_json_next(line);
    }
    return line;
}

typedef struct text_columns {
    size_t seen, with;
} text_columns;

static void text_cell(il_buf *b, const il_json *s, const char *key, size_t width) {
    size_t from = b->n;
    il_buf_put(b, text_null(s, key) ? IL_STR("-") : text_of(s, key));
    text_pad(b, from, width);
    il_buf_puts(b, width ? "  " : "");
}

static void text_steps(il_buf *b, const il_json *list, const text_columns *c) {
    uint32_t number = 0;
    bool inside = false, loops = false;
    for (const il_json *s = il_json_first(list); s; s = il_json_next(s)) {
        bool loop = il_json_bool(text_get(s, "loop"));
        il_buf_puts(b, loop && !loops ? "  and from here for ever:\n" : "");
        loops = loop;
        size_t from = b->n;
        il_buf_puts(b, "  ");
        il_buf_putu(b, ++number);
        text_pad(b, from, TEXT_NUMBER);
        text_cell(b, s, "seen", c->seen);
        text_cell(b, s, "with", c->with);
        text_cell(b, s, "without", 0);
        bool entered = !inside && il_json_bool(text_get(s, "ambiguous"));
        il_buf_puts(b, entered ? "   <- in the region, and nobody can tell\n" : "\n");
        inside = inside || entered;
    }
}

static void text_pair(il_buf *b, const il_json *pair) {
    const il_json *with = text_get(pair, "with");
    const il_json *without = text_get(pair, "without");
    const char *between = "";
    for (const il_json *v = il_json_first(with); v; v = il_json_next(v)) {
        il_str other = il_json_text(il_json_get(without, il_json_key(v)));
        if (!il_str_eq(il_json_text(v), other)) {
            il_buf_puts(b, between);
            il_buf_put(b, il_json_key(v));
            il_buf_puts(b, "=");
            il_buf_put(b, il_json_text(v));
            il_buf_puts(b, " or ");
            il_buf_put(b, other);
            between = ", ";
        }
    }
    il_buf_puts(b, *between ? "" : "the same state, reached otherwise");
}

static void text_witness(il_buf *b, const il_json *l) {
    const il_json *twin = text_get(l, "twin");
    const il_json *steps = text_get(l, "witness");
    bool blind = text_is(twin, "word", "BLIND");
    if (text_null(l, "witness") || (!blind && text_is(l, "verdict", "PASS") && text_is(twin, "k", "1"))) {
        return;
    }
    text_columns c = {.seen = text_width(steps, "seen", 16), .with = text_width(steps, "with", 10)};
    bool loops = false;
    il_buf_puts(b, "\n");
    il_buf_put(b, text_of(l, "region"));
    il_buf_puts(b, blind ? ": two runs that look the same\n" : ": two runs that look the same for longest\n");
    size_t from = b->n;
    text_pad(b, from, TEXT_NUMBER);
    il_buf_puts(b, "the monitor sees");
    text_pad(b, from, TEXT_NUMBER + c.seen + 2);
    il_buf_puts(b, "with fault");
    text_pad(b, from, TEXT_NUMBER + c.seen + 2 + c.with + 2);
    il_buf_puts(b, "without\n");
    text_steps(b, steps, &c);
    for (const il_json *s = il_json_first(steps); s; s = il_json_next(s)) {
        loops = il_json_bool(text_get(s, "loop"));
    }
    il_buf_puts(b, blind && !loops ? "  and there the run with the fault stops for ever\n" : "");
    il_buf_puts(b, "  the ambiguous pair: ");
    text_pair(b, text_get(l, "pair"));
    il_buf_putc(b, '\n');
}

static void text_advice(il_buf *b, const il_json *l) {
    const il_json *advice = text_get(l, "advice");
    if (il_json_count(advice) == 0) {
        il_buf_puts(b, text_is(l, "verdict", "FAIL") ? "  no one or two more that could be seen would do\n" : "");
        return;
    }
    il_buf_puts(b, "  it would do to see also: ");
    const char *between = "";
    for (const il_json *a = il_json_first(advice); a; a = il_json_next(a)) {
        const il_json *see = text_get(a, "see");
        il_buf_puts(b, between);
        between = "; or ";
        il_buf_put(b, il_json_text(il_json_first(see)));
        if (il_json_count(see) > 1) {
            il_buf_puts(b, " with ");
            il_buf_put(b, il_json_text(il_json_next(il_json_first(see))));
        }
        il_buf_puts(b, " (");
        text_k(b, a);
        il_buf_puts(b, ")");
    }
    il_buf_puts(b, il_json_bool(text_get(l, "advice_cut")) ? "; or others\n" : "\n");
}

/* When a monitor knows that the session is in the region now: later than that it has been, or never. */
static void text_now(il_buf *b, const il_json *l) {
    const il_json *now = text_get(l, "now");
    if (il_json_kind_of(now) != IL_JSON_OBJECT || text_is(now, "word", "NOT_ENTERED") || text_is(l, "finding", "NOT_ENTERED") ||
        text_is(l, "finding", "BOUNDED")) {
        return;
    }
    il_buf_puts(b, "  ");
    il_buf_put(b, text_of(l, "region"));
    il_buf_puts(b, ": that a session is inside now is ");
    if (text_is(now, "word", "DIAGNOSABLE")) {
        il_buf_puts(b, "certain ");
        text_k(b, now);
    } else {
        il_buf_puts(b, text_is(now, "word", "BLIND") ? "never certain in some run; an alarm `raise: certain` could stay silent"
                                                     : "not settled: a bound was reached");
    }
    il_buf_putc(b, '\n');
}

static void text_sensor(il_buf *b, const il_json *s) {
    bool in_place = il_json_bool(text_get(s, "in_place"));
    if (text_null(s, "finding")) {
        return;
    }
    size_t from = b->n;
    il_buf_put(b, in_place ? text_of(s, "verdict") : IL_STR("not in place"));
    text_pad(b, from, TEXT_VERDICT);
    il_buf_put(b, text_of(s, "finding"));
    text_pad(b, from, TEXT_VERDICT + TEXT_FINDING);
    il_buf_put(b, text_of(s, "detail"));
    il_buf_puts(b, "  alarms after ");
    il_buf_put(b, text_of(s, "false_alarms"));
    il_buf_puts(b, " of ");
    il_buf_put(b, text_of(s, "benign_edges"));
    il_buf_puts(b, " benign steps");
    il_buf_puts(b, il_json_bool(text_get(s, "initially")) ? ", and before the first\n" : "\n");
}

/* `untrusted=held egress=false` */
static void text_state(il_buf *b, const il_json *state) {
    const char *between = "";
    for (const il_json *v = il_json_first(state); v; v = il_json_next(v)) {
        il_buf_puts(b, between);
        il_buf_put(b, il_json_key(v));
        il_buf_putc(b, '=');
        il_buf_put(b, il_json_text(v));
        between = " ";
    }
}

static void text_mutant(il_buf *b, const il_json *h) {
    size_t from = b->n;
    il_buf_puts(b, "  ");
    il_buf_put(b, text_of(h, "id"));
    text_pad(b, from, 10);
    il_buf_put(b, text_is(h, "result", "late")           ? IL_STR("known too late: ")
                  : text_is(h, "result", "undetectable") ? IL_STR("undetectable by construction: ")
                  : text_is(h, "result", "bounded")      ? IL_STR("not settled: ")
                                                         : IL_STR("survives: "));
    if (!text_null(h, "announced")) {
        il_buf_puts(b, "announced as ");
        il_buf_put(b, text_of(h, "announced"));
        il_buf_puts(b, ", ");
    }
    if (!text_null(h, "done") && !il_str_eq(text_of(h, "done"), text_of(h, "announced"))) {
        il_buf_puts(b, "does ");
        il_buf_put(b, text_of(h, "done"));
        il_buf_puts(b, ", ");
    }
    il_buf_put(b, text_of(h, "writes"));
    il_buf_puts(b, " (");
    il_buf_put(b, text_of(h, "region"));
    il_buf_puts(b, ")\n          from: ");
    text_state(b, text_get(h, "from"));
    il_buf_putc(b, '\n');
    if (!text_null(h, "pair")) {
        il_buf_puts(b, "          pair: ");
        text_pair(b, text_get(h, "pair"));
        if (!text_is(h, "result", "undetectable")) {
            il_buf_puts(b, text_null(h, "best") ? "; no single sensor would do" : "; best single sensor: ");
            il_buf_put(b, text_of(h, "best"));
        }
        il_buf_putc(b, '\n');
    }
}

static void text_wormholes(il_buf *b, const il_json *w) {
    if (text_zero(w, "graded")) {
        il_buf_puts(b, il_json_bool(text_get(w, "bound_hit"))
                           ? "\nwormhole grade: not settled; a bound was reached\n"
                           : "\nwormhole grade: none; the machine offers no wormhole into a `never` region of states\n");
        return;
    }
    int64_t graded = 0, undetectable = 0;
    (void)(il_json_int(text_get(w, "graded"), &graded) && il_json_int(text_get(w, "undetectable"), &undetectable));
    il_buf_puts(b, "\nwormhole grade: ");
    il_buf_put(b, text_of(w, "diagnosed"));
    il_buf_puts(b, " of ");
    il_buf_put(b, text_of(w, "graded"));
    il_buf_puts(b, " diagnosed");
    if (undetectable > 0) {
        il_buf_puts(b, "; ");
        il_buf_put(b, text_of(w, "undetectable"));
        il_buf_puts(b, " are undetectable by construction: without them ");
        il_buf_put(b, text_of(w, "diagnosed"));
        il_buf_puts(b, " of ");
        il_buf_puti(b, graded - undetectable);
    }
    il_buf_puts(b, "\n  ");
    il_buf_put(b, text_of(w, "distinct"));
    il_buf_puts(b, " distinct in what they show, of ");
    il_buf_put(b, text_of(w, "orbits"));
    if (!text_zero(w, "dropped")) {
        il_buf_puts(b, "; SAMPLED: ");
        il_buf_put(b, text_of(w, "dropped"));
        il_buf_puts(b, " were not drawn (seed ");
        il_buf_put(b, text_of(w, "seed"));
        il_buf_putc(b, ')');
    }
    il_buf_puts(b, il_json_bool(text_get(w, "bound_hit")) ? "; a bound was reached: there are more\n" : "\n");
    for (const il_json *h = il_json_first(text_get(w, "mutants")); h; h = il_json_next(h)) {
        if (!text_is(h, "result", "diagnosed")) {
            text_mutant(b, h);
        }
    }
}

static void text_controls(il_buf *b, const il_json *first) {
    static const char *const keys[2] = {"visible", "closed"};
    static const char *const what[2] = {"an entry that says so is noticed at once", "closed eyes notice nothing"};
    il_buf_puts(b, "\nnegative controls:\n");
    for (size_t i = 0; i < 2; i++) {
        for (const il_json *l = text_next(first, "diagnosis"); l; l = text_next(il_json_next(l), "diagnosis")) {
            il_buf_puts(b, "  ");
            il_buf_put(b, text_of(l, "region"));
            il_buf_puts(b, ": ");
            il_buf_puts(b, what[i]);
            il_buf_puts(b, ": ");
            il_buf_put(b, text_of(text_get(l, "controls"), keys[i]));
            il_buf_putc(b, '\n');
        }
    }
}

static void text_last(il_buf *b, const il_json *o) {
    int64_t code = 4;
    (void)il_json_int(text_get(o, "exit"), &code);
    const size_t not_asked = il_json_count(text_get(o, "not_asked"));
    il_buf_puts(b, code == 0   ? "\nDIAGNOSABLE: every region that was asked about is known in time (given: these faults)"
                   : code == 1 ? "\nNOT DIAGNOSABLE: see the failed lines"
                   : code == 2 ? "\nINCONCLUSIVE: see the lines that are not settled"
                               : "\nNO VERDICT: an instrument failed");
    if (not_asked > 0) {
        il_buf_puts(b, "; ");
        il_buf_putu(b, not_asked);
        il_buf_puts(b, not_asked == 1 ? " region not asked" : " regions not asked");
    }
    il_buf_putc(b, '\n');
}

il_status il_diagnose_text(const il_json *object, il_arena *arena, il_str *out, il_error *err) {
    il_buf b;
    il_buf_init(&b, arena, (size_t)16 << 20);
    const il_json *first = il_json_first(text_get(object, "checks"));
    text_head(&b, object);
    for (const il_json *l = text_next(first, "diagnosis"); l; l = text_next(il_json_next(l), "diagnosis")) {
        text_region(&b, l);
    }
    for (const il_json *l = text_next(first, "sensor"); l; l = text_next(il_json_next(l), "sensor")) {
        text_sensor(&b, l);
    }
    for (const il_json *s = il_json_first(text_get(object, "spare_sensors")); s; s = il_json_next(s)) {
        text_sensor(&b, s);
    }
    if (il_json_count(text_get(object, "not_asked")) > 0) {
        il_buf_puts(&b, "not asked (no silent fault takes a step that they judge, or they are gated and have no alarm): ");
        text_list(&b, text_get(object, "not_asked"), "");
        il_buf_putc(&b, '\n');
    }
    for (const il_json *l = text_next(first, "diagnosis"); l; l = text_next(il_json_next(l), "diagnosis")) {
        text_witness(&b, l);
        text_advice(&b, l);
        text_now(&b, l);
    }
    text_wormholes(&b, text_next(first, "wormholes"));
    text_controls(&b, first);
    text_last(&b, object);
    return il_buf_done(&b, out, err);
}
